"""`vyre.grid_size` in a call: how many invocations the call asked for along the axes that the kernel asks about.

A Program does not know its grid, so the counts are words of PARAMS, behind the scalars: one for each axis that the
kernel asks about, in the order in which it first does. Kernels that do not ask keep their words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre import _core
from vyre._core import Array
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre._kernel.kernel import Kernel
    from vyre._kernel.trace import Traced

__all__ = ["asked_sizes", "grid_words"]

_MOST = 2**32 - 1


def grid_words(
    kernel: Kernel, traced: Traced, shapes: Mapping[str, tuple[int, ...]], grid: Any, workgroups: Any, was_given: bool
) -> list[int]:
    """The words of the axes.

    ``grid`` is the argument of that name, ``workgroups`` the counts of the call, and ``was_given`` says whether they
    are the argument of that name.
    """
    if not traced.grid_axes:
        return []
    for name, value in (("grid", grid), ("workgroups", workgroups)):
        if isinstance(value, Array) or (
            isinstance(value, (tuple, list)) and any(isinstance(each, Array) for each in value)
        ):
            raise ArgumentError(
                f"kernel `{kernel.__name__}` calls vyre.grid_size, and `{name}` is resident, so its counts are unknown "
                f"when the call is made. Fix: pass `{name}` as integers, or give the kernel the size as a u32 "
                "parameter or an In array."
            )
    sizes = asked_sizes(kernel, traced, shapes, grid, workgroups, was_given)
    words = [sizes[axis] if axis < len(sizes) else 1 for axis in traced.grid_axes]
    for axis, count in zip(traced.grid_axes, words, strict=True):
        if count > _MOST:
            raise ArgumentError(
                f"kernel `{kernel.__name__}` calls vyre.grid_size({axis}), which is a u32, and the call has {count} "
                f"invocations along that axis. Fix: make the grid at most {_MOST} along it."
            )
    return words


def asked_sizes(
    kernel: Kernel, traced: Traced, shapes: Mapping[str, tuple[int, ...]], grid: Any, workgroups: Any, was_given: bool
) -> Sequence[int]:
    """The invocations that a call asks for along each axis; missing axes have one. The arguments are grid_words'."""
    if was_given:
        size = traced.program.workgroup_size
        counts = _core._grid(workgroups, f"kernel `{kernel.__name__}`")
        return [count * extent for count, extent in zip(counts, size, strict=True)]
    if grid is None:
        made = next(each for kind in ("Out", "InOut") for each in kernel._arrays if each.kind == kind)
        return tuple(reversed(shapes[made.name]))
    return tuple(int(each) for each in grid) if isinstance(grid, (tuple, list)) else (int(grid),)
