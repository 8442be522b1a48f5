"""Calls that were made before: with arrays of the same dtypes and shapes, everything but the words is known.

A call that is right is remembered by the dtypes and shapes of its numpy arrays, and the devices of resident ones. The
next such call goes straight to the run, which checks the arrays as ever. Anything unusual takes the way of call.py,
which has the messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._array import _NUMPY
from vyre._core import Array, DataType
from vyre._default import place
from vyre._dtype_names import NAME_OF
from vyre._kernel.call import _RANGES, _given, _kept, _shapes, _workgroups, overlap, run_resident
from vyre._kernel.grid_sizes import grid_words
from vyre._kernel.smaller import in_halves
from vyre._kernel.tails import with_tail
from vyre._kernel.trace import PARAMS, RECORDS
from vyre._kernel.whole_outs import whole_outs
from vyre.errors import CapabilityError, DispatchTimeoutError

if TYPE_CHECKING:
    from vyre._kernel.kernel import Kernel
    from vyre._kernel.trace import Traced

__all__ = ["plan_of", "signature"]

_SIMPLE = frozenset(["backend", "device", "optimize", "timeout"])
_PLACE = frozenset(["backend", "device"])


def signature(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
    """What a call's plan depends on; None for calls that have no plan."""
    key: list[Any] = []
    for value in args:
        kind = type(value)
        if kind is np.ndarray:
            dtype = NAME_OF.get(id(value.dtype))
            if dtype is None:
                return None
            key.append((dtype, value.shape))
        elif kind is int:
            key.append(int)
        elif kind is Array:
            key.append((value.dtype.num, value.shape, value.backend, value.device))
        else:
            return None
    if kwargs:
        if not _SIMPLE.issuperset(kwargs):
            return None
        key.append("backend" in kwargs)
    return tuple(key)


class _Plan:
    """What a call needs beside its arrays and numbers."""

    def __init__(
        self, kernel: Kernel, traced: Traced, args: tuple[Any, ...], workgroups: Any, shapes: dict[str, Any]
    ) -> None:
        self.traced = traced
        self._tried: set[Any] = set()  # the places for which there was to be a fast call
        self._kernel, self._workgroups, self._shapes = kernel, workgroups, shapes
        self._places = {each.name: k for k, each in enumerate(kernel._parameters) if k < len(args)}
        self._sizes = [size for each in kernel._arrays if each.axes > 1 for size in shapes[each.name]]
        self._grid = grid_words(kernel, traced, shapes, None, workgroups, was_given=False)
        self._scalars = [
            (self._places[each.name], *_RANGES[each.element], each.element is DataType.U64)  # type: ignore[index]
            for each in kernel._parameters
            if each.kind == "scalar"
        ]

    def is_current(self) -> bool:
        """Whether the values of Python that the kernel has captured are as they were."""
        for each in self.traced.captured:
            if not each.is_same():
                return False
        return True

    def remember_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Let the core do the next call like this one, if it can."""
        if self.traced.seen is not None or self.traced.halves is not None or not _PLACE.issuperset(kwargs):
            return
        try:
            where = self._where(kwargs)
            if where in self._tried:
                return
        except TypeError:  # of a device that cannot be hashed
            return
        self._tried.add(where)
        made = self.fast_call(args, kwargs)
        if made is not None:
            _core._remember_call(self._kernel, made, self if self.traced.captured else None)

    def _where(self, kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """What else a call depends on than the types and shapes of its arrays."""
        return tuple(kwargs.items())

    def fast_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The same call as one step of the core; None where it has none."""
        raise NotImplementedError

    def _words_of_core(self) -> list[Any]:
        words: list[Any] = list(self._sizes)
        for k, _, _, is_wide in self._scalars:
            words += [(k, False), (k, True)] if is_wide else [(k, False)]
        return words + self._grid

    def _arguments_of_core(self, args: tuple[Any, ...]) -> list[Any]:
        ranges = {k: (low, high) for k, low, high, _ in self._scalars}
        return [ranges.get(k, value) for k, value in enumerate(args)]

    def _counts(self) -> list[int]:
        return [*self._workgroups, 1, 1][:3] if isinstance(self._workgroups, tuple) else [self._workgroups, 1, 1]

    def words(self, args: tuple[Any, ...]) -> list[int] | None:
        """The words of PARAMS; None when a number is out of range, which call.py refuses."""
        words = self._sizes.copy()
        for k, low, high, is_wide in self._scalars:
            value = args[k]
            if not low <= value <= high:
                return None
            words.append(value & 0xFFFFFFFF)
            if is_wide:
                words.append(value >> 32)
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
            raise with_tail(self._kernel, self.traced, self._shapes, None, self._workgroups, error) from None
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
        return (*kwargs, *place(kwargs.get("backend"), kwargs.get("device")))

    def fast_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        kernel, traced = self._kernel, self.traced
        if any(each.element is DataType.Bool for each in kernel._arrays):
            return None  # numpy has them in bytes
        whole = whole_outs(kernel, traced, self._shapes, self._workgroups)
        slots: list[Any] = []
        for each in kernel._arrays:
            dtype, lanes = _NUMPY[each.element]  # type: ignore[index]
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
            self._arguments_of_core(args),
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
        words = self.words(args)
        if words is None:
            return NotImplemented
        given = {name: args[k] for name, k in self._places.items()}
        resident = next(value for value in args if type(value) is Array)
        return run_resident(
            self._kernel, self.traced, given, self._shapes, words, self._workgroups, kwargs, resident, self._whole
        )

    def fast_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """None where an Out that the caller gives has to be filled with zeros."""
        kernel, traced = self._kernel, self.traced
        if kwargs:
            return None
        slots: list[Any] = []
        for each in kernel._arrays:
            place = self._places.get(each.name)
            if place is None:
                lanes = _NUMPY[each.element][1]  # type: ignore[index]
                slots.append((each.element, [*self._shapes[each.name], *lanes], each.name not in self._whole))
            elif each.kind == "Out" and each.name not in self._whole:
                return None
            else:
                slots.append(place)
        words = self._words_of_core()
        if words:
            slots.append(None)
        resident = next(value for value in args if type(value) is Array)
        where = {"backend": resident.backend, "device": resident.device}
        slots += [_kept(traced, ("table", name), table, where) for name, table in traced.tables.items()]
        results = [k for k, each in enumerate(kernel._arrays) if each.kind != "In"]
        return _core._launch(traced.program, self._arguments_of_core(args), slots, words, results, self._counts())


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
