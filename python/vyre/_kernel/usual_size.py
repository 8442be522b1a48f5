"""The workgroup size of a kernel that names none.

A grid is rounded up to whole workgroups, and invocations that differ along an axis whose ids the kernel does not read
all do the same: two of them that write one element race. So a workgroup has one invocation along such an axis. The
others share its invocations, which cover an array's last axes well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from vyre._kernel.parameters import Parameter

__all__ = ["usual_size"]

# By the axes whose ids the kernel reads. Devices take 64 invocations along z, and many of them no more.
_SIZES = {
    (0,): (256, 1, 1),
    (1,): (1, 256, 1),
    (2,): (1, 1, 64),
    (0, 1): (16, 16, 1),
    (0, 2): (16, 1, 16),
    (1, 2): (1, 16, 16),
    (0, 1, 2): (8, 8, 4),
}


def usual_size(parameters: Sequence[Parameter], id_axes: Collection[int]) -> tuple[int, ...]:
    """The size for a kernel that asks ``vyre.gid`` about some axes.

    The array that the grid comes from, the first Out or else InOut, has the most axes that the workgroup may have.
    """
    made = next((each for kind in ("Out", "InOut") for each in parameters if each.kind == kind), None)
    most = made.axes if made is not None else 1
    return _SIZES[tuple(sorted(axis for axis in id_axes if axis in range(3))[:most]) or (0,)]
