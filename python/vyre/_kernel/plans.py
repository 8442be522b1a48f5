"""Calls that were made before: with arrays of the same dtypes and shapes, everything but the words is known.

A call that is right is remembered by the dtypes and shapes of its numpy arrays, and the devices of resident ones. The
next such call goes straight to the run, which checks the arrays as ever. Anything unusual takes the way of call.py,
which has the messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._core import Array, DataType
from vyre._kernel.call import _RANGES, _given, _run_resident, _shapes, _workgroups
from vyre._kernel.trace import PARAMS

if TYPE_CHECKING:
    from vyre._kernel.kernel import Kernel
    from vyre._kernel.trace import Traced

__all__ = ["plan_of", "signature"]

_SIMPLE = frozenset(["backend", "device", "optimize", "timeout"])


def signature(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
    """What a call's plan depends on; None for calls that have no plan."""
    key: list[Any] = []
    for value in args:
        kind = type(value)
        if kind is np.ndarray:
            key.append((value.dtype, value.shape))
        elif kind is int:
            key.append(int)
        elif kind is Array:
            key.append((value.dtype, value.shape, value.backend, value.device))
        else:
            return None
    if kwargs:
        if not _SIMPLE.issuperset(kwargs):
            return None
        key.append("backend" in kwargs)
    return tuple(key)


class _HostPlan:
    """A call with numpy arrays alone."""

    def __init__(
        self, kernel: Kernel, traced: Traced, args: tuple[Any, ...], workgroups: Any, shapes: dict[str, Any]
    ) -> None:
        self.traced = traced
        self._workgroups = workgroups
        self._function = f"kernel `{kernel.__name__}`"
        places = {each.name: k for k, each in enumerate(kernel._parameters) if k < len(args)}
        self._inputs = [(each.name, places[each.name]) for each in kernel._arrays if each.kind != "Out"]
        self._outs = {each.name: shapes[each.name] for each in kernel._arrays if each.kind == "Out"}
        self._results = [(each.name, places.get(each.name)) for each in kernel._arrays if each.kind != "In"]
        self._sizes = [size for each in kernel._arrays if each.axes > 1 for size in shapes[each.name]]
        self._scalars = [
            (places[each.name], *_RANGES[each.element], each.element is DataType.U64)  # type: ignore[index]
            for each in kernel._parameters
            if each.kind == "scalar"
        ]

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The results, or NotImplemented for a call that call.py has to refuse."""
        words = self._sizes.copy()
        for k, low, high, is_wide in self._scalars:
            value = args[k]
            if not low <= value <= high:
                return NotImplemented
            words.append(value & 0xFFFFFFFF)
            if is_wide:
                words.append(value >> 32)
        for _, place in self._results:
            if place is not None and not args[place].flags.carray:
                return NotImplemented
        inputs: dict[str, Any] = {**self._outs, **self.traced.tables}
        for name, k in self._inputs:
            inputs[name] = args[k]
        if words:
            inputs[PARAMS] = np.array(words, np.uint32)
        outputs = _core._run(
            self.traced.program,
            inputs,
            self._workgroups,
            kwargs.get("backend"),
            kwargs.get("device"),
            kwargs.get("timeout"),
            None,
            kwargs.get("optimize"),
            self._function,
        )
        results = []
        for name, place in self._results:
            if place is None:
                results.append(outputs[name])
            else:
                np.copyto(args[place], outputs[name], casting="unsafe")
                results.append(args[place])
        return results[0] if len(results) == 1 else tuple(results) if results else None


class _ResidentPlan:
    """A call with resident arrays alone, of one device."""

    def __init__(
        self, kernel: Kernel, traced: Traced, args: tuple[Any, ...], workgroups: Any, shapes: dict[str, Any]
    ) -> None:
        self._kernel, self._workgroups, self._shapes = kernel, workgroups, shapes
        self.traced = traced
        parameters = kernel._parameters
        places = {each.name: k for k, each in enumerate(parameters) if k < len(args)}
        self._places = places
        self._scalars = [
            (places[each.name], *_RANGES[each.element], each.element is DataType.U64)  # type: ignore[index]
            for each in parameters
            if each.kind == "scalar"
        ]
        self._sizes = [size for each in kernel._arrays if each.axes > 1 for size in shapes[each.name]]

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        words = self._sizes.copy()
        for k, low, high, is_wide in self._scalars:
            value = args[k]
            if not low <= value <= high:
                return NotImplemented
            words.append(value & 0xFFFFFFFF)
            if is_wide:
                words.append(value >> 32)
        given = {name: args[k] for name, k in self._places.items()}
        resident = next(value for value in args if type(value) is Array)
        return _run_resident(self._kernel, self.traced, given, self._shapes, words, self._workgroups, kwargs, resident)


def plan_of(kernel: Kernel, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _HostPlan | _ResidentPlan | None:
    """The plan of a call that was right."""
    if kernel._constants or any(each.kind == "scalar" and each.element is DataType.Bool for each in kernel._parameters):
        return None
    if sum(each.kind != "Out" for each in kernel._parameters) > len(args):
        return None  # defaults
    try:
        given = _given(kernel, args, {})
    except ValueError:
        return None
    shapes = _shapes(kernel, given)
    traced = kernel._traced({})
    workgroups = _workgroups(kernel, traced, shapes, {})
    arrays = [type(given[each.name]) for each in kernel._arrays if each.name in given]
    if all(kind is np.ndarray for kind in arrays):
        return _HostPlan(kernel, traced, args, workgroups, shapes)
    if all(kind is Array for kind in arrays):
        return _ResidentPlan(kernel, traced, args, workgroups, shapes)
    return None
