"""``default_device``: where calls run that name neither a backend nor a device.

The choice is a context variable, so that a thread or a task of asyncio has its own. Without one the environment
variables VYRE_BACKEND and VYRE_DEVICE decide, which are read when vyre is imported and looked at when they are first
needed; without those, the core chooses, and ``vyre doctor`` says why.
"""

from __future__ import annotations

import os
from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple

from vyre import _core
from vyre._base.calls import explain_calls
from vyre._base.refused import must_be, must_be_one_of
from vyre._base.text import shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Any

    from vyre._devices import Device

__all__ = ["CHECKS", "check_backend", "check_place", "default_device", "place"]


class _Place(NamedTuple):
    """The backend and the device of calls that name none."""

    backend: str | None
    device: int | Device | None


_BEST = _Place(None, None)
_CHOSEN: ContextVar[_Place | None] = ContextVar("vyre.default_device", default=None)
_BACKEND = os.environ.get("VYRE_BACKEND", "")
_DEVICE = os.environ.get("VYRE_DEVICE", "")
CHECKS = os.environ.get("VYRE_CHECK", "")
_in_environment: _Place | None = None if _BACKEND or _DEVICE else _BEST


def place(backend: str | None, device: int | Device | None) -> tuple[str | None, int | Device | None]:
    """The backend and the device of a call: what it names itself, else the default.

    Raises: ArgumentError when an environment variable names what there is not.
    """
    if backend is not None or device is not None:
        return backend, device
    return _CHOSEN.get() or _in_environment or _from_environment()


def _from_environment() -> _Place:
    global _in_environment
    backend, device = _BACKEND or None, None
    if backend is not None:
        check_backend(backend, "environment variable `VYRE_BACKEND`")
    if _DEVICE:
        # The reference and the cpu backend are this processor, which vyre.devices() does not list.
        names = [row["name"] for row in _core._devices(backend)]
        device = int(_DEVICE) if _DEVICE.isascii() and _DEVICE.isdigit() and len(_DEVICE) < 5 else -1
        if not 0 <= device < len(names):
            what = "a device of vyre.devices()" if backend is None else f"a device of backend `{backend}`"
            raise must_be("environment variable `VYRE_DEVICE`", f"the index of {what}", shown(_DEVICE))
    _in_environment = _Place(backend, device)
    return _in_environment


class DefaultDevice:
    """The result of default_device: it holds from its making on, and a with-block ends it.

    Attributes:
        backend, device: what a call that names neither is given; None lets vyre choose.
    """

    __slots__ = ("_before", "_chosen", "_held")

    def __init__(self, chosen: _Place | None) -> None:
        self._chosen = chosen
        self._begin()

    def _begin(self) -> None:
        self._before = _CHOSEN.get()
        _CHOSEN.set(self._chosen)
        self._held = True

    @property
    def backend(self) -> str | None:
        return self._chosen.backend if self._chosen else None

    @property
    def device(self) -> int | Device | None:
        return self._chosen.device if self._chosen else None

    def __enter__(self) -> DefaultDevice:
        if not self._held:
            self._begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        _CHOSEN.set(self._before)
        self._held = False

    def __repr__(self) -> str:
        device = getattr(self.device, "name", self.device)
        return f"<vyre.default_device backend={self.backend} device={device}>"


def default_device(backend: str | Device | None = None, device: int | Device | None = None) -> DefaultDevice:
    """Choose where calls run, and arrays are made, that name neither ``backend=`` nor ``device=``.

    It holds at once, and to the end of the with-block if it opens one. Another thread has its own; a task of asyncio
    begins with that of its maker. Calls that name a backend or a device take no notice of it, and neither do calls with
    a vyre.Array, which run where the array is, and calls of a Program with numbers alone, which take the best backend.

    Args:
        backend: "cpu", "vulkan", "cuda", "reference", or an element of vyre.devices().
        device: an index into vyre.devices(), or one of its elements. With ``backend`` an index counts that backend's.

    Without arguments, and where nothing was chosen, the environment variables VYRE_BACKEND and VYRE_DEVICE say where,
    by the same names and indices; without them it is the first of ``vyre.backends()``.

    Returns: the choice, with ``.backend`` and ``.device``.

    Raises: ArgumentError for a backend or a device that is not here, DeviceError for one that does not work.

    >>> import vyre
    >>> with vyre.default_device("reference"):
    ...     a = vyre.empty(2)
    >>> a
    <vyre.Array of uint32 with shape (2,) on reference: [0, 0]>
    >>> vyre.empty(2, backend="cpu").backend
    'cpu'
    """
    if backend is None and device is None:
        return DefaultDevice(None)
    if backend is not None and not isinstance(backend, str):
        from vyre._devices import Device

        if isinstance(backend, Device) and device is None:
            backend, device = None, backend
    name: Any = backend  # the core refuses what is no name
    check_place(name, device, "vyre.default_device")
    return DefaultDevice(_Place(name, device))


def check_backend(backend: object, where: str, also: Sequence[str] = ()) -> None:
    """Refuse a value that names no backend. The core asks it too.

    Args:
        also: what else may stand there, for the message.

    Raises: ArgumentError.
    """
    if not isinstance(backend, str) or backend not in _core._tables["backends"]:
        raise must_be_one_of(where, [*_core._available(), *_core._unavailable(), *also], backend)


def check_place(backend: Any, device: Any, owner: str) -> None:
    """Open a device, or say what is wrong with it by the names of ``owner``'s arguments: by a call that does nothing.

    Raises: ArgumentError, DeviceError.
    """
    _core._run(_NOTHING, {}, (0, 1, 1), backend, device, None, None, None, owner)


_NOTHING = _core.Program()

_core._default_place_from(_CHOSEN, globals())
explain_calls(globals())
