"""What keeps a call of a kernel to its grid: what is refused, and along which axes the call needs a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre._base.text import shown
from vyre._kernel.tails import tails_of
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vyre._kernel.kernel import Kernel
    from vyre._kernel.tails import Bound, Tails
    from vyre._kernel.trace import Traced

    Difference = Callable[[Any, Any], int | None]

__all__ = ["axes_beyond", "axes_of_resident"]


def axes_beyond(
    kernel: Kernel,
    traced: Traced,
    shapes: Mapping[str, Sequence[Any]],
    asked: Sequence[Any],
    difference: Difference,
    *,
    is_given: bool,
    is_exact: bool = False,
    refuse: Callable[[ArgumentError, int], None] | None = None,
) -> tuple[int, ...]:
    """The axes along which a call would do something beyond its grid.

    Args:
        asked: the counts of the grid along x, y and z.
        difference: subtracts two counts, or two sizes of a procedure; None where that is not known.
        is_given: the call says the grid.
        is_exact: whatever it does there counts, for tools that report also what has no effect.
        refuse: takes the error for an axis along which a kernel with a barrier needs whole workgroups.

    Raises: ArgumentError for a grid that the kernel's own comparisons contradict.
    """
    size = traced.program.workgroup_size
    beyond = [axis for axis in range(3) if not _is_whole(asked[axis], size[axis])]
    if is_given and not beyond and all(count == 1 for count in asked[1:] if isinstance(count, int)):
        return ()
    tails = tails_of(traced)
    if is_given and any(isinstance(count, int) and count > 1 for count in asked[tails.axes :]):
        raise _more_axes(kernel, asked, tails.axes)
    if not is_given:
        _check_reaches(kernel, tails, shapes, asked, difference)

    def is_within(bound: Bound) -> bool:
        if bound.name is None:
            return bound.of == bound.axis
        rest = difference(shapes[bound.name][bound.of], asked[bound.axis])
        return rest is not None and rest <= 0

    if is_exact and not tails.waits:
        return tuple(beyond)
    found = tuple(axis for axis in beyond if not tails.ends_at(axis, is_within))
    if not tails.waits:
        return found
    kept = tails.derives | {bound.axis for bound in tails.compares if is_within(bound)}
    for error, axis in [(_not_whole(kernel, k, size[k], asked[k]), k) for k in found if k not in kept]:
        if refuse is None:
            raise error
        refuse(error, axis)
    return ()


def axes_of_resident(kernel: Kernel, traced: Traced) -> tuple[int, ...]:
    """The axes along which a call would do something beyond a resident grid, whose counts no call knows.

    Raises: ArgumentError for a kernel with a barrier that does not compare its index.
    """
    tails, size = tails_of(traced), traced.program.workgroup_size
    axes = tuple(axis for axis in range(3) if size[axis] > 1)
    if not tails.waits:
        return axes
    for axis in sorted(set(axes) - tails.derives - {bound.axis for bound in tails.compares}):
        raise _not_whole(kernel, axis, size[axis], "an unknown count")
    return ()


def _is_whole(count: Any, size: int) -> bool:
    return size == 1 or (isinstance(count, int) and count % size == 0)


def _check_reaches(
    kernel: Kernel, tails: Tails, shapes: Mapping[str, Sequence[Any]], asked: Sequence[Any], difference: Difference
) -> None:
    """Refuse a default grid that ends in front of all lengths with which an `if` compares its index."""
    for bounds in tails.branches:
        for axis in range(3):
            arrays = sorted(bound for bound in bounds if bound.axis == axis and bound.name is not None)
            is_empty = isinstance(asked[axis], int) and asked[axis] == 0
            rests = [difference(shapes[str(bound.name)][bound.of], asked[axis]) or 0 for bound in arrays]
            if rests and min(rests) > 0 and not is_empty:
                raise _short_grid(kernel, arrays[0], shapes, asked)


def _more_axes(kernel: Kernel, asked: Sequence[Any], axes: int) -> ArgumentError:
    """The error for a grid with more axes than the kernel asks about."""
    asks = " and ".join(f"vyre.gid({axis})" for axis in range(axes))
    counts = "one count" if axes == 1 else f"{axes} counts, x first"
    grid = shown(tuple(asked))
    return ArgumentError(
        f"argument `grid` of kernel `{kernel.__name__}` is {grid}, and the kernel asks for {asks} alone: "
        f"all along another axis would do the same. Fix: give {counts}."
    )


def _not_whole(kernel: Kernel, axis: int, size: int, count: Any) -> ArgumentError:
    """The error for a kernel with a barrier whose grid is not whole workgroups."""
    return ArgumentError(
        f"kernel `{kernel.__name__}` has a barrier, so its grid along {'xyz'[axis]} must be a multiple of its "
        f"workgroup's {size}, got {count}. Fix: compare vyre.gid({axis}) with a length before the kernel stores, or "
        "count workgroups, with workgroups= in place of grid=."
    )


def _short_grid(
    kernel: Kernel, bound: Bound, shapes: Mapping[str, Sequence[Any]], asked: Sequence[Any]
) -> ArgumentError:
    axis = bound.axis
    made = next(each.name for kind in ("Out", "InOut") for each in kernel._arrays if each.kind == kind)
    name, axes = str(bound.name), len(shapes[str(bound.name)])
    length = f"len({name})" if axes == 1 else f"{name}.shape[{bound.of}]"
    counts = [str(each) for each in asked[: max(axis + 1, len(shapes[made]))]]
    counts[axis] = length
    grid = counts[0] if len(counts) == 1 else f"({', '.join(counts)})"
    return ArgumentError(
        f"kernel `{kernel.__name__}` compares vyre.gid({axis}) with {length}, which is "
        f"{shapes[name][bound.of]}, and its grid, the shape of `{made}`, ends at {asked[axis]}. "
        f"Fix: write grid={grid}."
    )
