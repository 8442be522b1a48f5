"""Runs the same invocations in smaller workgroups, for devices whose limits the chosen workgroup size exceeds.

A kernel that names no workgroup size has no barriers, workgroup memory or local and workgroup ids, so how its
invocations are divided into workgroups does not show in its bytes; how many invocations there are does. The smaller
workgroups are halves along one axis, and there are twice as many of them, so every invocation index stays the same. All
Vulkan devices take the 128 invocations that a half has.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from vyre import _core
from vyre._base.program_names import of_function
from vyre._core import Program

if TYPE_CHECKING:
    from vyre._kernel.trace import Traced
    from vyre.errors import CapabilityError

__all__ = ["in_halves", "reads_ids_of_workgroups"]

# Matches the ids in the text of a program that depend on the workgroup's size.
_IDS = r"\b[lw]id\.[xyz]\b"
# The names of the limits of a workgroup's size in messages: Vulkan's, and CUDA's.
_LIMITS = ("maxComputeWorkGroupInvocations", "maxComputeWorkGroupSize", "max threads per block", "max block dimension")


def in_halves(traced: Traced, workgroups: Any, error: CapabilityError, label: str) -> tuple[Program, tuple[int, ...]]:
    """The program and the workgroups to run instead. Raises ``error`` where smaller workgroups are no answer to it."""
    if not traced.is_size_chosen or not any(limit in str(error) for limit in _LIMITS):
        raise error
    if reads_ids_of_workgroups(traced.program):
        raise error
    size = list(traced.program.workgroup_size)
    axis = max(k for k in range(3) if size[k] > 1)
    size[axis] //= 2
    if traced.halves is None:
        traced.halves = of_function(Program(traced.program.buffers, size, traced.program.entry), traced.function)
    counts = list(_core._grid(workgroups, label))
    counts[axis] *= 2
    return traced.halves, tuple(counts)


def reads_ids_of_workgroups(program: Program) -> bool:
    """Whether the bytes may depend on the workgroup size although the kernel names none."""
    return re.search(_IDS, program.to_text()) is not None
