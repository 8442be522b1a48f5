"""Calls that were made before: with arrays of the same dtypes and shapes, everything but the words is known.

A call that is right is remembered by which parameters it gives and how, the dtypes and shapes of its numpy arrays, the
devices of resident ones, the values of its constants and its grid. The next such call goes straight to the run, which
checks the arrays as ever. Anything unusual takes the way of call.py, which has the messages.

Arguments are numbered here: those by place, then those by name, in their order, without the options of the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._arrays.dtype_names import NAME_OF
from vyre._base.types import NUMPY, RANGES, TYPES, words_of
from vyre._core import Array, DataType
from vyre._default import place
from vyre._kernel.arguments import matched, overlap, shapes_of
from vyre._kernel.call import _kept, _workgroups, run_resident
from vyre._kernel.grid_sizes import grid_words
from vyre._kernel.smaller import in_halves
from vyre._kernel.tails import with_tail
from vyre._kernel.trace import PARAMS, RECORDS
from vyre._kernel.whole_outs import whole_outs
from vyre._kernel.wider import widened
from vyre.errors import CapabilityError, DispatchTimeoutError

if TYPE_CHECKING:
    from vyre._kernel.kernel import Kernel
    from vyre._kernel.parameters import Parameter
    from vyre._kernel.trace import Traced

__all__ = ["plan_of", "signature"]

_OF_RUN = frozenset(["backend", "device", "optimize", "timeout"])
_PLACE = frozenset(["backend", "device"])
_COUNTS = ("grid", "workgroups")
_MOST_AXES = 3
_TRUTHS = (bool, np.bool_)
_INTEGERS = frozenset([int, *(np.dtype(code).type for code in "bBhHiIlLqQ")])
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
            named = _named(kernel, name)
            part = None if named is None else _part(named, value)
        if part is None:
            return None
        key += (name, part)
    if kwargs:
        key.append("backend" in kwargs)
    return tuple(key)


def _part(parameter: Parameter, value: Any) -> Any:
    """Return the part of a plan's key that an argument gives; None where there is no plan."""
    kind = type(value)
    if kind is np.ndarray:
        dtype = NAME_OF.get(id(value.dtype))
        return None if dtype is None else (dtype, value.shape)
    if parameter.kind == "scalar":
        return int if kind in (_TRUTHS if parameter.element is DataType.Bool else _INTEGERS) else None
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
        return value if len(value) <= _MOST_AXES and all(type(each) is int for each in value) else None
    return (value,) if kind is int else "none" if value is None else None


def _named(kernel: Kernel, name: str) -> Parameter | None:
    """The parameter that an argument by name is for."""
    for each in kernel._parameters:
        if each.name == name:
            return each
    outs = [each for each in kernel._parameters if each.kind == "Out"] if name == "out" else []
    return outs[0] if len(outs) == 1 else None


def _values(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments, as they are numbered."""
    if _OF_RUN.issuperset(kwargs):
        return args
    return (*args, *[value for name, value in kwargs.items() if name not in _OF_RUN])


@dataclass(frozen=True)
class _Call:
    """A call that was right."""

    traced: Traced
    shapes: dict[str, tuple[int, ...]]
    workgroups: Any
    grid: Any  # the argument of that name
    are_workgroups_given: bool
    names: tuple[str, ...]  # of the arguments by name
    places: dict[str, int]  # the number of each parameter's argument


class _Plan:
    """Everything that a call needs beside its arrays and numbers."""

    def __init__(self, kernel: Kernel, call: _Call) -> None:
        traced, shapes, workgroups = call.traced, call.shapes, call.workgroups
        self.traced = traced
        self._tried: set[Any] = set()  # the places for which there was to be a fast call
        self._kernel, self._workgroups, self._shapes = kernel, workgroups, shapes
        self._grid_given, self._are_workgroups_given = call.grid, call.are_workgroups_given
        self._names, self._places = call.names, call.places
        self._sizes = [size for each in kernel._arrays if each.axes > 1 for size in shapes[each.name]]
        self._grid = grid_words(kernel, traced, shapes, call.grid, workgroups, call.are_workgroups_given)
        # For each number: its argument, and how it becomes words. A number that is left out has its default.
        self._scalars: list[tuple[int, int, int, int] | list[int]] = []
        self._ranges: dict[int, Any] = {}
        for each in kernel._parameters:
            if each.kind != "scalar":
                continue
            assert each.element is not None
            low, high = RANGES[each.element]
            lanes = TYPES[each.element].lanes
            place = self._places.get(each.name)
            if place is None:
                self._scalars.append(words_of(int(each.default), lanes))
            else:
                self._scalars.append((place, low, high, lanes))
                self._ranges[place] = bool if each.element is DataType.Bool else (low, high)

    def is_current(self) -> bool:
        """Whether the values of Python that the kernel has captured are as they were."""
        return self.traced.captured.is_same()

    def remember_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Let the core do the next call like this one, if it can."""
        if self.traced.seen is not None or self.traced.halves is not None:
            return
        if "optimize" in kwargs or "timeout" in kwargs:
            return
        try:
            where = self._where(kwargs)
            if where in self._tried:
                return
        except TypeError:  # of a device that cannot be hashed
            return
        self._tried.add(where)
        made = self.fast_call(_values(args, kwargs), kwargs)
        if made is not None:
            captured = self.traced.captured
            _core._remember_call(self._kernel, made, self if captured.all else None, captured.bindings, self._names)

    def _where(self, kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return the rest of the key, beside the types and shapes of the arrays."""
        return ("backend" in kwargs, "device" in kwargs)

    def fast_call(self, values: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the call as one step of the core; None where the core has no such step."""
        raise NotImplementedError

    def _words_of_core(self) -> list[Any]:
        words: list[Any] = list(self._sizes)
        for each in self._scalars:
            if isinstance(each, list):
                words += each
            else:
                k, _, _, lanes = each
                words += [(k, is_high) for is_high in (False, True)[:lanes]]
        return words + self._grid

    def _arguments_of_core(self, values: tuple[Any, ...]) -> list[Any]:
        """Arrays, the ranges of numbers, and a list of each value that has to be the same in the next call."""
        made: list[Any] = []
        for k, value in enumerate(values):
            made.append(value if type(value) in (np.ndarray, Array) else self._ranges.get(k, [value]))
        return made

    def _counts(self) -> list[int]:
        return [*self._workgroups, 1, 1][:3] if isinstance(self._workgroups, tuple) else [self._workgroups, 1, 1]

    def words(self, values: tuple[Any, ...]) -> list[int] | None:
        """The words of PARAMS; None when a number is out of range, which call.py refuses."""
        words = self._sizes.copy()
        for each in self._scalars:
            if isinstance(each, list):
                words += each
                continue
            k, low, high, lanes = each
            value = int(values[k])
            if not low <= value <= high:
                return None
            words += words_of(value, lanes)
        return words + self._grid


class _HostPlan(_Plan):
    """A call with numpy arrays alone."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        arrays = self._kernel._arrays
        self._read = [(each.name, self._places[each.name]) for each in arrays if each.kind != "Out"]
        # The inputs that are the same in each call: the shapes of Out arrays, and tables.
        self._same: dict[str, Any] = {each.name: self._shapes[each.name] for each in arrays if each.kind == "Out"}
        self._same.update(self.traced.tables)
        self._results = [(each.name, self._places.get(each.name)) for each in arrays if each.kind != "In"]
        self._written = [k for _, k in self._results if k is not None]
        self._label = f"kernel `{self._kernel.__name__}`"

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The results, or NotImplemented for a call that call.py has to refuse."""
        args = _values(args, kwargs)
        words = self.words(args)
        if words is None:
            return NotImplemented
        for k in self._written:
            if not args[k].flags.carray:
                return NotImplemented
        if len(self._written) > 1 and overlap([args[k] for k in self._written]) is not None:
            return NotImplemented
        inputs = self._same.copy()
        for name, k in self._read:
            inputs[name] = args[k]
        if words:
            inputs[PARAMS] = np.array(words, np.uint32)
        option = kwargs.get
        where, label = place(option("backend"), option("device")), self._label
        try:
            rest = (*where, option("timeout"), None, option("optimize"), label)
            try:
                outputs = _core._run(self.traced.program, inputs, self._workgroups, *rest)
            except CapabilityError as error:
                program, counts = in_halves(self.traced, self._workgroups, error, label)
                outputs = _core._run(program, inputs, counts, *rest)
        except DispatchTimeoutError as error:
            if self._are_workgroups_given:
                raise
            raise with_tail(
                self._kernel, self.traced, self._shapes, self._grid_given, self._workgroups, error
            ) from None
        if self.traced.seen is not None:
            self.traced.seen(outputs[RECORDS])
        results = []
        for name, where_given in self._results:
            made = outputs[name]
            if where_given is not None:
                np.copyto(args[where_given], made, casting="safe")  # of a Bool, bool or uint32 is given
                made = args[where_given]
            results.append(made)
        return results[0] if len(results) == 1 else tuple(results) or None

    def _where(self, kwargs: dict[str, Any]) -> tuple[Any, ...]:
        return (*super()._where(kwargs), *place(kwargs.get("backend"), kwargs.get("device")))

    def fast_call(self, values: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        kernel, traced = self._kernel, self.traced
        if any(each.element is DataType.Bool for each in kernel._arrays):
            return None  # numpy has them in bytes
        whole = whole_outs(kernel, traced, self._shapes, self._workgroups)
        slots: list[Any] = []
        for each in kernel._arrays:
            dtype, lanes = NUMPY[each.element]  # type: ignore[index]
            begins = {"In": "read", "InOut": "copied", "Out": "anything" if each.name in whole else "zeros"}[each.kind]
            shape = (*self._shapes[each.name], *lanes)
            slots.append((self._places.get(each.name), shape, np.dtype(dtype), begins))
        words = self._words_of_core()
        if words:
            slots.append(None)
        slots += traced.tables.values()
        backend, device = kwargs.get("backend"), kwargs.get("device")
        return _core._host_launch(
            traced.program,
            self._arguments_of_core(values),
            slots,
            words,
            self._counts(),
            backend,
            device,
            *place(backend, device),
        )


class _ResidentPlan(_Plan):
    """A call with resident arrays alone, of one device."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self._whole = whole_outs(self._kernel, self.traced, self._shapes, self._workgroups)

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        args = _values(args, kwargs)
        words = self.words(args)
        if words is None:
            return NotImplemented
        given = {name: args[k] for name, k in self._places.items()}
        resident = next(value for value in args if type(value) is Array)
        return run_resident(
            self._kernel, self.traced, given, self._shapes, words, self._workgroups, kwargs, resident, self._whole
        )

    def fast_call(self, values: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """None where an Out that the caller gives has to be filled with zeros."""
        kernel, traced = self._kernel, self.traced
        if not _PLACE.isdisjoint(kwargs):
            return None
        slots: list[Any] = []
        for each in kernel._arrays:
            place = self._places.get(each.name)
            if place is None:
                lanes = NUMPY[each.element][1]  # type: ignore[index]
                slots.append((each.element, [*self._shapes[each.name], *lanes], each.name not in self._whole))
            elif each.kind == "Out" and each.name not in self._whole:
                return None
            else:
                slots.append(place)
        words = self._words_of_core()
        if words:
            slots.append(None)
        resident = next(value for value in values if type(value) is Array)
        where = {"backend": resident.backend, "device": resident.device}
        slots += [_kept(traced, ("table", name), table, where) for name, table in traced.tables.items()]
        results = [k for k, each in enumerate(kernel._arrays) if each.kind != "In"]
        return _core._launch(traced.program, self._arguments_of_core(values), slots, words, results, self._counts())


def plan_of(kernel: Kernel, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _HostPlan | _ResidentPlan | None:
    """The plan of a call that was right."""
    names = tuple(name for name in kwargs if name not in _OF_RUN)
    counts = {name: kwargs[name] for name in _COUNTS if name in kwargs}
    try:
        given = matched(kernel, args, {name: kwargs[name] for name in names if name not in counts})
    except ValueError:
        return None
    shapes = shapes_of(kernel, given)
    traced = kernel._traced({each.name: given[each.name] for each in kernel._constants})
    workgroups = _workgroups(kernel, traced, shapes, counts.copy())
    places = {each.name: k for k, each in enumerate(kernel._parameters) if k < len(args)}
    for k, name in enumerate(names):
        parameter = _named(kernel, name)
        if parameter is not None:
            places[parameter.name] = len(args) + k
    places = {name: k for name, k in places.items() if name in given}  # without an Out for which None is given
    grid, are_given = counts.get("grid"), counts.get("workgroups") is not None
    if not are_given:
        traced, workgroups = widened(traced, workgroups)
    made = _Call(traced, shapes, workgroups, grid, are_given, names, places)
    arrays = [type(given[each.name]) for each in kernel._arrays if each.name in given]
    if all(kind is np.ndarray for kind in arrays):
        return _HostPlan(kernel, made)
    if all(kind is Array for kind in arrays):
        return _ResidentPlan(kernel, made)
    return None
