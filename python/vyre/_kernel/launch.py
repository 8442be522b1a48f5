"""A call of a kernel without its arrays and numbers: what calls with arrays of the same shapes share.

Calls, plans, checks, notes and costs take a Launch. It knows the trace, the shapes, the workgroups, and
which words of PARAMS (words.py) the call writes.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vyre import _core
from vyre._base.text import as_count, shown
from vyre._base.types import word_of
from vyre._core import Array
from vyre._kernel.arguments import OPTIONS, matched, number_bits, shapes_of
from vyre._kernel.trace import PARAMS
from vyre.errors import ArgumentError, BindingError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre._kernel.kernel import Kernel
    from vyre._kernel.parameters import Parameter
    from vyre._kernel.trace import Traced

__all__ = ["DataGrid", "Launch", "default_grid", "given_and_options", "traced_for"]

_MOST = 2**32 - 1


def given_and_options(
    kernel: Kernel, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Each parameter's argument, and the options of the call."""
    options = {name: kwargs[name] for name in OPTIONS if name in kwargs}
    return matched(kernel, args, {name: kwargs[name] for name in kwargs if name not in options}), options


def traced_for(kernel: Kernel, given: Mapping[str, Any]) -> Traced:
    """The trace for the constants among the arguments."""
    return kernel._traced({each.name: given[each.name] for each in kernel._constants})


class DataGrid(NamedTuple):
    """The grid of a call with resident arrays, whose counts the device reads from an array.

    Attributes:
        counts: the array, of workgroups, or of invocations, which whole workgroups cover.
        at_most: the largest counts of workgroups.
    """

    counts: Array
    at_most: tuple[int, ...]
    counts_invocations: bool


class Launch:
    """What calls with arrays of the same shapes share that ask for the same grid.

    Attributes:
        shapes: of the arrays, by their names, without the axis of a vector's lanes.
        read, results: the names of the arrays that are given, and of those that the call returns.
        resident: the name of a resident array, if there is one.
        workgroups: the counts, as they were given or as the grid needs them, or a DataGrid.
        grid: the invocations that the call asks for; None where it has ``workgroups=``.
    """

    def __init__(self, kernel: Kernel, traced: Traced, given: dict[str, Any], options: Mapping[str, Any]) -> None:
        """``given`` gets arrays of numpy for arguments that are not arrays yet, such as bytes."""
        self.kernel, self.traced, self.label = kernel, traced, f"kernel `{kernel.__name__}`"
        self.shapes = shapes_of(kernel, given)
        self.read = [each.name for each in kernel._arrays if each.kind != "Out"]
        self.results = [each.name for each in kernel._arrays if each.kind != "In"]
        self.resident = next((name for name in self.shapes if isinstance(given.get(name), Array)), None)
        self.grid, workgroups, at_most = (options.get(name) for name in ("grid", "workgroups", "at_most"))
        if isinstance(self.grid, np.ndarray) and self.grid.ndim == 1:
            self.grid = tuple(self.grid)
        if workgroups is not None and self.grid is not None:
            raise ArgumentError(f"{self.label} is given both grid= and workgroups=. Fix: give one of them.")
        self.workgroups: Any = workgroups
        if isinstance(workgroups, Array):
            self.workgroups = self._data_grid("workgroups", workgroups, at_most)
        elif isinstance(self.grid, Array):
            self.workgroups = self._data_grid("grid", self.grid, at_most)
        elif at_most is not None:
            raise ArgumentError(
                f"argument `at_most` of {self.label} is for a grid= or workgroups= that is a vyre.Array. "
                "Fix: leave `at_most` out."
            )
        elif workgroups is None:
            if self.grid is None:
                self.grid = default_grid(kernel, self.shapes, "write grid=n, the number of invocations")
            self.workgroups = self._covering("grid", self.grid)

    def _data_grid(self, argument: str, counts: Array, at_most: Any) -> DataGrid:
        if counts.dtype.name != "uint32" or counts.shape != (3,):
            fix = "make it with vyre.array([x, y, z], dtype=vyre.u32)"
            if counts.dtype.name == "uint32" and counts.ndim == 1 and counts.size > 3:
                fix = "pass the three counts along x, y, z, such as counts[0:3]"
            raise ArgumentError(
                f"argument `{argument}` of {self.label} must be an array of uint32 with shape (3,), got one of "
                f"{counts.dtype} with shape {counts.shape}. Fix: {fix}."
            )
        if at_most is None:
            raise ArgumentError(
                f"{self.label} is given {argument}= as an array and no at_most=, the largest counts along x, y, z, "
                f"to which those in the array are clamped. Fix: write at_most=(x, y, z)."
            )
        is_grid = argument == "grid"
        return DataGrid(counts, (self._covering if is_grid else self._counts)("at_most", at_most), is_grid)

    def _counts(self, argument: str, counts: Any) -> tuple[int, ...]:
        return _core._grid(counts, self.label, argument)

    def _covering(self, argument: str, grid: Any) -> tuple[int, ...]:
        """The workgroups that cover the invocations of `grid`."""
        counts = grid if isinstance(grid, (tuple, list)) else (grid,)
        whole = [as_count(each) for each in counts]
        if not 1 <= len(counts) <= 3 or any(each is None or not 0 <= each <= 2**32 for each in whole):
            raise ArgumentError(
                f"argument `{argument}` of {self.label} must be one to three counts of invocations, got "
                f"{shown(grid)}. Fix: write {argument}=n, or {argument}=(width, height), with integers."
            )
        size = self.traced.program.workgroup_size
        return tuple(-(-extent // size[axis]) for axis, extent in enumerate(whole + [1] * (3 - len(whole))))  # type: ignore[operator]

    def asked(self) -> tuple[int, ...]:
        """The invocations that the call asks for along each axis; missing axes have one."""
        if self.grid is None:
            counts, size = self._counts("workgroups", self.workgroups), self.traced.program.workgroup_size
            return tuple(count * extent for count, extent in zip(counts, size, strict=True))
        return tuple(int(each) for each in (self.grid if isinstance(self.grid, (tuple, list)) else (self.grid,)))

    @functools.cached_property
    def whole(self) -> frozenset[str]:
        """The Out parameters that the call stores as a whole and does not read.

        They need not begin as zeros.
        """
        counts = [as_count(each) or 0 for each in self.workgroups] if isinstance(self.workgroups, tuple) else [0]
        if 0 in counts:  # the call does nothing, or is refused
            return frozenset()
        traced, found = self.traced, set()
        if traced.whole_stores is None:
            traced.whole_stores = _core._whole_stores(traced.program)
        outs = {each.name for each in self.kernel._arrays if each.kind == "Out"}
        lengths = {name: math.prod(shape) for name, shape in self.shapes.items()}
        for name, (axis, below) in traced.whole_stores.items():
            reached = [*counts, 1, 1][axis] * traced.program.workgroup_size[axis]
            bounds = [reached, *(lengths.get(each, 0) for each in below)]
            if name in outs and lengths[name] <= min(bounds):
                found.add(name)
        return frozenset(found)

    @functools.cached_property
    def layout(self) -> list[int | tuple[Parameter, int]]:
        """The words of PARAMS: a value that these calls share, or a number and which part of it."""
        return [
            self._fixed(parameter, part) if parameter is None or parameter.is_array else (parameter, part)
            for parameter, part in self.traced.layout
        ]

    def _fixed(self, parameter: Parameter | None, axis: int) -> int:
        if parameter is not None:
            length = self.shapes[parameter.name][axis]
            if length > _MOST:  # of an array without elements
                raise BindingError(
                    f"argument `{parameter.name}` of {self.label} has a length of {length} along axis {axis}, "
                    f"and a length is a u32. Fix: pass an array that is at most {_MOST} long along that axis."
                )
            return length
        name, counts = ("workgroups", self.workgroups) if self.grid is None else ("grid", self.grid)
        if any(isinstance(each, Array) for each in (counts if isinstance(counts, (tuple, list)) else (counts,))):
            raise ArgumentError(
                f"{self.label} calls vyre.grid_size, and `{name}` is resident, so its counts are unknown "
                f"when the call is made. Fix: pass `{name}` as integers, or give the kernel the size as a u32 "
                "parameter or an In array."
            )
        asked = self.asked()
        count = asked[axis] if axis < len(asked) else 1
        if count > _MOST:
            raise ArgumentError(
                f"{self.label} calls vyre.grid_size({axis}), which is a u32, and the call has {count} "
                f"invocations along that axis. Fix: make the grid at most {_MOST} along it."
            )
        return count

    def words(self, given: Mapping[str, Any]) -> list[int]:
        """The words of PARAMS for these arguments."""
        words, bits = [], 0
        for word in self.layout:
            if isinstance(word, tuple):
                parameter, part = word
                if part == 0:
                    bits = number_bits(self.label, parameter, given[parameter.name])
                word = word_of(bits, part)
            words.append(word)
        return words

    def inputs(self, given: Mapping[str, Any], words: Sequence[int]) -> dict[str, Any]:
        """What vyre.run takes, by the names of the buffers; the arrays are on the host."""
        inputs = {**self.shapes, **self.traced.tables, **{name: given[name] for name in self.read}}
        if words:
            inputs[PARAMS] = np.array(words, np.uint32)
        return inputs


def default_grid(kernel: Kernel, shapes: Mapping[str, Sequence[Any]], fix: str) -> tuple[Any, ...]:
    """The grid of a call without one: the shape of the first Out or else InOut, last axis first."""
    made = next((each for kind in ("Out", "InOut") for each in kernel._arrays if each.kind == kind), None)
    if made is None:
        raise ArgumentError(f"kernel `{kernel.__name__}` has no Out or InOut array to take a grid from. Fix: {fix}.")
    return tuple(reversed(shapes[made.name]))
