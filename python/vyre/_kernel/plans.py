"""Calls that were made before: with arrays of the same dtypes and shapes, everything but the words is known.

A call that is right is remembered by which parameters it gives and how, the dtypes and shapes of its numpy arrays, the
devices of resident ones, the values of its constants and its grid. The next such call goes straight to the run, which
checks numbers and memory as ever.

Arguments are numbered here: those by place, then those by name, in their order, without the options of the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._arrays.dtype_names import NAME_OF
from vyre._base.types import NUMPY
from vyre._core import Array, DataType
from vyre._default import place
from vyre._kernel.arguments import named
from vyre._kernel.call import kept, launch_of, run
from vyre._kernel.launch import given_and_options, traced_for
from vyre._kernel.parameters import MOST_AXES

if TYPE_CHECKING:
    from vyre._kernel.kernel import Kernel
    from vyre._kernel.parameters import Parameter

__all__ = ["Plan", "signature"]

_OF_RUN = frozenset(["backend", "device", "optimize", "timeout"])
_COUNTS = ("grid", "workgroups")
# What arrays begin as. An Out begins as zeros, or as anything where the call stores it as a whole.
_BEGINS = {"In": "read", "InOut": "copied"}
_NUMBERS = frozenset([bool, int, float, *(np.dtype(code).type for code in "?bBhHiIlLqQefd")])
# A constant of one of these types, or a tuple of such, is the same whenever it is equal and of the same type.
_PLAIN = frozenset([int, bool, str, type(None)])


def signature(kernel: Kernel, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
    """Return the key of a call's plan; None for calls that have no plan."""
    parameters = kernel._parameters
    if len(args) > len(parameters):
        return None
    key: list[Any] = []
    for parameter, value in zip(parameters, args):  # noqa: B905  fewer arguments than parameters
        part = _part(parameter, value)
        if part is None:
            return None
        key.append(part)
    for name, value in kwargs.items():
        if name in _OF_RUN:
            continue
        if name in _COUNTS:
            part = _counts_part(value)
        else:
            meant = named(kernel, name)
            part = None if meant is None else _part(meant, value)
        if part is None:
            return None
        key += (name, part)
    return tuple(key)


def _part(parameter: Parameter, value: Any) -> Any:
    """Return the part of a plan's key that an argument gives; None where there is no plan."""
    kind = type(value)
    if kind is np.ndarray:
        dtype = NAME_OF.get(id(value.dtype))
        return None if dtype is None else (dtype, value.shape)
    if parameter.kind == "scalar":
        return int if kind in _NUMBERS else None
    if parameter.kind == "const":
        if kind is tuple:
            items = tuple([type(each) for each in value])
            return (items, value) if _PLAIN.issuperset(items) else None
        return (kind, value) if kind in _PLAIN else None
    if kind is Array:
        return (value.dtype.num, value.shape, value.backend, value.device)
    # An empty tuple and no string, because the names of arguments are strings.
    return () if value is None and parameter.kind == "Out" else None


def _counts_part(value: Any) -> Any:
    """Return the part of a plan's key that grid= or workgroups= gives."""
    kind = type(value)
    if kind is tuple:
        return value if len(value) <= MOST_AXES and all(type(each) is int for each in value) else None
    return (value,) if kind is int else "none" if value is None else None


def _values(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments, as they are numbered."""
    if _OF_RUN.issuperset(kwargs):
        return args
    return (*args, *[value for name, value in kwargs.items() if name not in _OF_RUN])


class Plan:
    """A call: everything beside its arrays and numbers."""

    def __init__(self, kernel: Kernel, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raises what the call raises for its arguments."""
        given, options = given_and_options(kernel, args, kwargs)
        self.launch = launch_of(kernel, traced_for(kernel, given), given, options)
        self._names = tuple(name for name in kwargs if name not in _OF_RUN)  # of the arguments by name
        places = [*kernel._parameters[: len(args)], *(named(kernel, name) for name in self._names)]
        # The number of each parameter's argument, without that of an Out for which None is given.
        self._places = {each.name: k for k, each in enumerate(places) if each is not None and each.name in given}
        self._defaults = {name: value for name, value in given.items() if name not in self._places}
        self._tried: set[Any] = set()  # the backends and devices for which a fast call was tried

    def is_current(self) -> bool:
        """Whether the values of Python that the kernel has captured are as they were."""
        return self.launch.traced.captured.is_same()

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return run(self.launch, self._given(_values(args, kwargs)), kwargs, {})

    def _given(self, values: tuple[Any, ...]) -> dict[str, Any]:
        return {**self._defaults, **{name: values[k] for name, k in self._places.items()}}

    def remember_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Let the core do the next call like this one, if it can."""
        traced, values = self.launch.traced, _values(args, kwargs)
        if traced.seen is not None or traced.halves is not None or "optimize" in kwargs or "timeout" in kwargs:
            return
        resident = next((value for value in values if type(value) is Array), None)
        where: Any = kwargs.get("backend"), kwargs.get("device")
        where += place(*where) if resident is None else ()
        try:
            if where in self._tried:
                return
        except TypeError:  # of a device that cannot be hashed
            return
        self._tried.add(where)
        made = self._fast_call(values, resident, where)
        if made is not None:
            bindings = traced.captured.bindings
            _core._remember_call(self.launch.kernel, made, self if traced.captured.all else None, bindings, self._names)

    def _fast_call(self, values: tuple[Any, ...], resident: Array | None, where: tuple[Any, ...]) -> Any:
        """Return the call as one step of the core; None where the core has no such step."""
        launch, traced, places = self.launch, self.launch.traced, self._places
        parameters, arrays = launch.kernel._parameters, launch.kernel._arrays
        tables: list[Any] = [*traced.tables.values()]
        if resident is None:
            # A bool is one byte in numpy and one word on the device, so they cannot share memory.
            if any(each.element is DataType.Bool for each in arrays):
                return None
        elif any(type(value) is np.ndarray for value in values):
            return None
        else:
            on = resident.backend, resident.device
            tables = [kept(traced, ("table", name), table, on) for name, table in traced.tables.items()]
        slots: list[Any] = []
        for each in arrays:
            begins = _BEGINS.get(each.kind) or ("anything" if each.name in launch.whole else "zeros")
            k, lanes = places.get(each.name), NUMPY[each.element][1]  # type: ignore[index]
            if resident is not None and k is not None and begins == "zeros":
                return None  # run_resident fills it
            slots.append((k, each.element, (*launch.shapes[each.name], *lanes), begins))
        words: list[Any] = launch.words(self._given(values))
        for number, word in enumerate(launch.layout):
            if isinstance(word, tuple) and word[0].name in places:
                words[number] = (places[word[0].name], word[1])
        slots += [None] * bool(words) + tables
        numbers = {places.get(each.name): each.element for each in parameters if each.kind == "scalar"}
        # An argument that is neither an array nor a number has to be the same in the next call.
        arguments = [v if type(v) in (np.ndarray, Array) else numbers.get(k, [v]) for k, v in enumerate(values)]
        counts = _core._grid(launch.workgroups, launch.label)
        return _core._launch(traced.program, arguments, slots, words, counts, where if resident is None else None)
