"""Grids from data: the counts of a call lie in a resident array, which the device reads when the call begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from vyre import _core
from vyre._core import Array
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["DataGrid", "data_grid"]


class DataGrid(NamedTuple):
    """The grid of a call with resident arrays, whose counts lie in an array.

    Attributes:
        counts: the array, of workgroups, or of invocations, which whole workgroups cover.
        at_most: the largest counts of workgroups.
    """

    counts: Array
    at_most: tuple[int, ...]
    counts_invocations: bool

    def run(self, program: _core.Program, arrays: Sequence[Any], optimize: Any) -> None:
        call = _core._call_for_invocations if self.counts_invocations else _core.Program.__call__
        call(program, *arrays, workgroups=self.counts, at_most=self.at_most, optimize=optimize)

    def plan(self, program: _core.Program, arrays: Sequence[Any], optimize: Any) -> None:
        """Check and plan the call that ``run`` makes."""
        given = {"workgroups": self.counts, "at_most": self.at_most, "optimize": optimize}
        _core._plan_call(program, self.counts_invocations, *arrays, **given)


def data_grid(
    kernel: str, argument: str, counts: Array, at_most: Any, groups: Callable[[str, Any], tuple[int, ...]]
) -> DataGrid:
    """The grid of a call whose ``argument``, grid or workgroups, is an array.

    Args:
        groups: turns the counts of an argument, named first, into workgroups.
    """
    if counts.dtype.name != "uint32" or counts.shape != (3,):
        fix = "make it with vyre.array([x, y, z], dtype=vyre.u32)"
        if counts.dtype.name == "uint32" and counts.ndim == 1 and counts.size > 3:
            fix = "pass the three counts along x, y, z, such as counts[0:3]"
        raise ArgumentError(
            f"argument `{argument}` of kernel `{kernel}` must be an array of uint32 with shape (3,), got one of "
            f"{counts.dtype} with shape {counts.shape}. Fix: {fix}."
        )
    if at_most is None:
        raise ArgumentError(
            f"kernel `{kernel}` is given {argument}= as an array and no at_most=, the largest counts along x, y, z, "
            f"to which those in the array are clamped. Fix: write at_most=(x, y, z)."
        )
    return DataGrid(counts, groups("at_most", at_most), argument == "grid")
