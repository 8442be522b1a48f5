"""Where a race of vyre.std takes its arrays from: the device, where they stay, or numpy, which results come back to.

A family's file in `std/` asks a Place for its arrays and its calls, so that each case is written once. In the mode
``resident`` arrays lie on the device before a call, and results stay there. In the mode ``numpy`` a call takes numpy's
arrays or bytes and gives them, so that the copies are part of it; CuPy's calls then copy there and back as well.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import std

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MODES", "OfCupy", "Place"]

MODES = ("resident", "numpy")
_GPUS = (None, "vulkan", "cuda")


def _cupy_on(backend: str | None) -> Any:
    """CuPy, or None where there is none or vyre runs elsewhere."""
    if backend not in _GPUS:
        return None
    try:
        import cupy
    except ImportError:
        return None
    return cupy


class Place:
    """A backend, a device and a mode.

    Attributes:
        where: what calls of vyre take to run there.
        whole: whether calls take numpy's arrays and give them.
        peer_module: CuPy on a GPU that has it, else numpy.
    """

    def __init__(self, backend: str | None = None, device: int | None = None, mode: str = MODES[0]) -> None:
        assert mode in MODES
        self.where: dict[str, Any] = {"backend": backend, "device": device}
        self.whole = mode == "numpy"
        self.peer_module: Any = _cupy_on(backend) or np

    @property
    def has_cupy(self) -> bool:
        return self.peer_module is not np

    def array(self, host: np.ndarray) -> Any:
        """Return an array as a call takes it."""
        return host if self.whole else vyre.array(host, **self.where)

    def messages(self, data: np.ndarray, offsets: np.ndarray) -> Callable[[], std.Messages]:
        """Return a function that gives a call its Messages. They are copied to the device at each call, or once."""
        if self.whole:
            return lambda: std.Messages(data, offsets, **self.where)
        made = std.Messages(vyre.array(data, **self.where), offsets)
        return lambda: made

    def packed(self, messages: list[bytes]) -> Callable[[], std.Messages]:
        """Return such a function for messages that are bytes of Python."""
        made = std.Messages.pack(messages, **self.where)
        return (lambda: std.Messages.pack(messages, **self.where)) if self.whole else lambda: made

    def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[[], Any]:
        """Return a call of vyre; an argument that ``messages`` gave is called for the Messages that it holds."""
        if any(map(callable, args)):
            bound = functools.partial(_with_messages, function, args, kwargs)
        else:
            bound = functools.partial(function, *args, **kwargs, **(self.where if self.whole else {}))
        return (lambda: _on_host(bound())) if self.whole else bound

    def peer(self, function: Callable[..., Any], *hosts: np.ndarray) -> Callable[[], Any]:
        """Return a call ``function(module, *arrays)`` of CuPy, on its own arrays or with copies, or one of numpy."""
        module = self.peer_module
        if module is np:
            return functools.partial(function, np, *hosts)
        return OfCupy(module, function, hosts, self.whole)

    def peer_of_numpy(self, function: Callable[..., Any], *hosts: np.ndarray) -> Callable[[], Any] | None:
        """Return a call of a function that only numpy has; None where CuPy is the peer."""
        return None if self.has_cupy else functools.partial(function, np, *hosts)


class OfCupy:
    """A call of CuPy."""

    def __init__(self, module: Any, function: Callable[..., Any], hosts: tuple[np.ndarray, ...], whole: bool) -> None:
        self._module, self._function, self._whole = module, function, whole
        self._arrays = hosts if whole else [module.asarray(host) for host in hosts]

    def __call__(self) -> Any:
        if not self._whole:
            return self._function(self._module, *self._arrays)
        result = self._function(self._module, *map(self._module.asarray, self._arrays))
        asnumpy = self._module.asnumpy
        return tuple(map(asnumpy, result)) if isinstance(result, tuple) else asnumpy(result)


def _with_messages(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return function(*(each() if callable(each) else each for each in args), **kwargs)


def _on_host(result: Any) -> Any:
    if isinstance(result, tuple):
        return tuple(map(_on_host, result))
    if isinstance(result, std.Messages):
        return result.words.numpy()
    return result.numpy() if isinstance(result, vyre.Array) else result
