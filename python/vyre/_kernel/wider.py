"""Runs the same invocations in wider workgroups, for calls of three axes that are long along x.

A kernel that reads the ids of three axes and names no workgroup size has workgroups of (8, 8, 4),
which waste little of an array whose last axis is short, such as the colours of an image. Where that
axis is long, workgroups of (32, 8, 1) are faster on GPUs (bench/workgroups.py). Four workgroups of
(8, 8, 4) side by side and four of (32, 8, 1) behind each other are the same invocations, so a call
whose workgroups along x come in fours runs in the wide ones with the same bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre._core import Program
from vyre._kernel.smaller import reads_ids_of_workgroups

if TYPE_CHECKING:
    from vyre._kernel.trace import Traced

__all__ = ["widened"]

_USUAL, _WIDE = (8, 8, 4), (32, 8, 1)
_RATIO = 4  # how many usual workgroups a wide one replaces along x, and how many it takes the place of along z
_MOST_ALONG_Z = 65535  # workgroups, which every device takes


def widened(traced: Traced, workgroups: tuple[int, ...]) -> tuple[Traced, tuple[int, ...]]:
    """The trace and the workgroups for a call whose workgroups come from its grid: those given, or wide ones."""
    if traced.program.workgroup_size != _USUAL or not traced.is_size_chosen or traced.seen is not None:
        return traced, workgroups
    x, y, z = workgroups
    if x == 0 or x % _RATIO or z * _RATIO > _MOST_ALONG_Z:
        return traced, workgroups
    if traced.wider is None:
        program = traced.program
        if reads_ids_of_workgroups(program):
            traced.wider = traced
        else:
            traced.wider = traced.with_program(Program(program.buffers, _WIDE, program.entry))
    if traced.wider is traced:
        return traced, workgroups
    return traced.wider, (x // _RATIO, y, z * _RATIO)
