"""A call of a kernel without its arrays and numbers: what calls with arrays of the same shapes share.

Calls, plans, checks, notes and costs take a Launch. It knows the trace, the shapes, the workgroups, and
which words of PARAMS (words.py) the call writes.
"""

from __future__ import annotations

import functools
import math
import operator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vyre import _core
from vyre._arrays.given import bits_given
from vyre._base.refused import must_be, must_have, no_place
from vyre._base.text import as_count, shown
from vyre._base.types import word_of
from vyre._core import Array
from vyre._kernel.arguments import OPTIONS, matched, shapes_of, without_grid
from vyre._kernel.exact import axes_beyond, axes_of_resident
from vyre._kernel.tails import guarded
from vyre._kernel.words import MOST, PARAMS
from vyre.errors import ArgumentError, BindingError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre._kernel.kernel import Kernel
    from vyre._kernel.parameters import Parameter
    from vyre._kernel.trace import Traced

__all__ = [
    "DataGrid",
    "Launch",
    "default_grid",
    "given_and_options",
    "traced_for",
    "unknown_size",
    "without_at_most",
]

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
        most: the largest counts of a resident grid, of invocations, if the program reads that grid.
    """

    def __init__(
        self,
        kernel: Kernel,
        traced: Traced,
        given: dict[str, Any],
        options: Mapping[str, Any],
        *,
        is_exact: bool = False,
    ) -> None:
        """``given`` gets arrays of numpy for arguments that are not arrays yet, such as bytes.

        ``is_exact`` keeps it from doing anything beyond the grid, for tools that report also what has no effect there.
        """
        self.most: tuple[Any, ...] | None = None
        self.kernel, self.traced, self.label = kernel, traced, f"kernel `{kernel.__name__}`"
        self.shapes = shapes_of(kernel, given)
        self.read = [each.name for each in kernel._arrays if each.kind != "Out"]
        self.results = [each.name for each in kernel._arrays if each.kind != "In"]
        self.resident = next((name for name in self.shapes if isinstance(given.get(name), Array)), None)
        self.grid, workgroups, at_most = (options.get(name) for name in ("grid", "workgroups", "at_most"))
        if isinstance(self.grid, np.ndarray) and self.grid.ndim == 1:
            self.grid = tuple(self.grid)
        if workgroups is not None and self.grid is not None:
            raise no_place(f"argument `workgroups` of {self.label}", "beside grid=")
        self.workgroups: Any = workgroups
        if isinstance(workgroups, Array):
            self.workgroups = self._data_grid("workgroups", workgroups, at_most)
        elif isinstance(self.grid, Array):
            self.workgroups = self._data_grid("grid", self.grid, at_most)
            axes = () if kernel._is_of_std else axes_of_resident(kernel, traced)
            if axes:
                self.traced = guarded(traced, len(kernel._arrays), axes, is_resident=True)
                self.most = (*at_most, 1, 1)[:3] if isinstance(at_most, (tuple, list)) else (at_most, 1, 1)
        elif at_most is not None:
            raise no_place(f"argument `at_most` of {self.label}", "without counts in an array")
        elif workgroups is None:
            is_given = self.grid is not None
            if not is_given:
                self.grid = default_grid(kernel, self.shapes)
            self.workgroups = self._covering("grid", self.grid)
            if not kernel._is_of_std:  # they compare their index with numbers, which differ from call to call
                self._keep_to_grid(is_given=is_given, is_exact=is_exact)

    def _keep_to_grid(self, *, is_given: bool, is_exact: bool) -> None:
        """Refuse a grid that the kernel's own comparisons contradict, and leave out what is beyond it."""
        call = self.kernel, self.traced, self.shapes, [*self.asked(), 1, 1][:3]
        axes = axes_beyond(*call, operator.sub, is_given=is_given, is_exact=is_exact)
        if axes:
            self.traced = guarded(self.traced, len(self.kernel._arrays), axes)

    def _data_grid(self, argument: str, counts: Array, at_most: Any) -> DataGrid:
        if counts.dtype.name != "uint32" or counts.shape != (3,):
            raise must_be(
                f"argument `{argument}` of {self.label}",
                "an array of uint32 with shape (3,)",
                f"one of {counts.dtype} with shape {counts.shape}",
            )
        if at_most is None:
            raise without_at_most(self.label)
        is_grid = argument == "grid"
        return DataGrid(counts, (self._covering if is_grid else self._counts)("at_most", at_most), is_grid)

    def _counts(self, argument: str, counts: Any) -> tuple[int, ...]:
        return _core._grid(counts, self.label, argument)

    def _covering(self, argument: str, grid: Any) -> tuple[int, ...]:
        """The workgroups that cover the invocations of `grid`."""
        counts = grid if isinstance(grid, (tuple, list)) else (grid,)
        whole = [count for count in map(as_count, counts) if count is not None and count >= 0]
        where = f"argument `{argument}` of {self.label}"
        if not 1 <= len(counts) <= 3 or len(whole) < len(counts):
            raise must_be(where, "one to three counts of invocations", shown(grid))
        if max(whole) > _MOST + 1:
            raise must_have(where, f"at most {_MOST + 1} invocations an axis", shown(grid))
        size = self.traced.program.workgroup_size
        return tuple(-(-extent // size[axis]) for axis, extent in enumerate(whole + [1] * (3 - len(whole))))

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
        given = self.workgroups if isinstance(self.workgroups, (tuple, list)) else (self.workgroups,)
        counts = [as_count(each) or 0 for each in given]
        outs = {each.name for each in self.kernel._arrays if each.kind == "Out"}
        if not outs or not all(0 < count <= _MOST for count in counts):  # the call does nothing, or is refused
            return frozenset()
        words = {PARAMS: [None if isinstance(word, tuple) else word for word in self.layout]}
        return frozenset(outs & _core._whole_stores(self.traced.program, self.lengths, words, [*counts, 1, 1][:3]))

    @property
    def lengths(self) -> dict[str, int]:
        """The elements of the arrays, and of the tables that the kernel has."""
        lengths = {name: math.prod(shape) for name, shape in self.shapes.items()}
        return lengths | {name: table.size for name, table in self.traced.tables.items()}

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
                where = f"axis {axis} of argument `{parameter.name}` of {self.label}"
                raise must_have(where, f"at most {_MOST} elements", length, BindingError)
            return length
        if self.most is not None and axis >= MOST:
            return min(int(self.most[axis - MOST]), _MOST)
        counts = self.workgroups if self.grid is None else self.grid
        if any(isinstance(each, Array) for each in (counts if isinstance(counts, (tuple, list)) else (counts,))):
            raise unknown_size(self.kernel)
        asked = self.asked()
        count = asked[axis] if axis < len(asked) else 1
        if count > _MOST:
            raise must_have(f"the grid of {self.label}", f"at most {_MOST} invocations an axis", count)
        return count

    def words(self, given: Mapping[str, Any]) -> list[int]:
        """The words of PARAMS for these arguments."""
        words, bits = [], 0
        for word in self.layout:
            if isinstance(word, tuple):
                parameter, part = word
                if part == 0:
                    where = f"argument `{parameter.name}` of {self.label}"
                    bits = bits_given(where, parameter.element, given[parameter.name])
                word = word_of(bits, part)
            words.append(word)
        return words

    def inputs(self, given: Mapping[str, Any], words: Sequence[int]) -> dict[str, Any]:
        """What vyre.run takes, by the names of the buffers; the arrays are on the host."""
        inputs = {**self.shapes, **self.traced.tables, **{name: given[name] for name in self.read}}
        if words:
            inputs[PARAMS] = np.array(words, np.uint32)
        return inputs


def default_grid(kernel: Kernel, shapes: Mapping[str, Sequence[Any]]) -> tuple[Any, ...]:
    """The grid of a call without one: the shape of the first Out or else InOut, last axis first."""
    made = next((each for kind in ("Out", "InOut") for each in kernel._arrays if each.kind == kind), None)
    if made is None:
        raise without_grid(kernel)
    return tuple(reversed(shapes[made.name]))


def without_at_most(who: str) -> ArgumentError:
    """The error for counts in an array without their limits."""
    return ArgumentError(
        f"{who} needs argument `at_most`: the largest counts along x, y, z, to which it clamps those in the array. "
        "Fix: write at_most=(x, y, z)."
    )


def unknown_size(kernel: Kernel) -> ArgumentError:
    """The error for vyre.grid_size where the host does not know the size."""
    return ArgumentError(
        f"kernel `{kernel.__name__}` calls vyre.grid_size, and its grid comes from an array. "
        "Fix: give the kernel the size as a u32 parameter or an In array."
    )
