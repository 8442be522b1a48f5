"""A time-out that the tail of a grid may have caused: invocations that rounding up to whole workgroups adds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from vyre._kernel.values import FOREVER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre._kernel.kernel import Kernel
    from vyre._kernel.trace import Traced
    from vyre.errors import DispatchTimeoutError

__all__ = ["with_tail"]


def with_tail(
    kernel: Kernel,
    traced: Traced,
    shapes: Mapping[str, tuple[int, ...]],
    grid: Any,
    workgroups: Sequence[int],
    error: DispatchTimeoutError,
) -> DispatchTimeoutError:
    """The error, which names the tail where the kernel has a `while` that its zeros may keep from ending.

    ``grid`` is the call's argument, and ``workgroups`` the counts that it became.
    """
    if f"..{FOREVER} {{" not in traced.program.to_text():
        return error
    if grid is None:
        made = next(each for kind in ("Out", "InOut") for each in kernel._arrays if each.kind == kind)
        grid = tuple(reversed(shapes[made.name]))
    asked = [*(grid if isinstance(grid, (tuple, list)) else (grid,)), 1, 1][:3]
    size = traced.program.workgroup_size
    run = [count * extent for count, extent in zip(workgroups, size, strict=True)]
    beyond = math.prod(run) - math.prod(int(each) for each in asked)
    axis = next((k for k in range(3) if run[k] > asked[k]), None)
    if axis is None:
        return error
    problem, _, fix = str(error).partition(". Fix: ")
    return type(error)(
        f"{problem}; {beyond} of the {math.prod(run)} invocations are beyond the grid, which is rounded up to whole "
        f"workgroups, and a `while` of kernel `{kernel.__name__}` may never end on the zeros that they load. "
        f"Fix: leave them out in the kernel with `if vyre.gid({axis}) < vyre.grid_size({axis}):`, or {fix}"
    )
