"""The meaning of `range` on expressions: the bounds of a Loop, and a value of the range from the Loop's variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre import _core
from vyre._core import Expr
from vyre._kernel.mistakes import Mistake
from vyre._kernel.values import FOREVER, is_number

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["bounds_of", "turns_of"]


def bounds_of(bounds: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    if not 1 <= len(bounds) <= 3:
        raise Mistake(
            "K005",
            f"range takes 1 to 3 arguments, got {len(bounds)}",
            "write range(n), range(first, end) or range(first, end, step)",
        )
    if len(bounds) == 1:
        return 0, bounds[0], 1
    return bounds[0], bounds[1], bounds[2] if len(bounds) == 3 else 1


def turns_of(start: Any, stop: Any, step: int) -> tuple[Any, Any, Callable[[Any], Any] | None]:
    """The bounds of the Loop, and what makes a value of range of the Loop's variable."""
    known = type(start) is not Expr and type(stop) is not Expr
    if known:
        values = range(int(start), int(stop), step)
        if step == 1 and values[0] >= 0:
            return values[0], values[-1] + 1, None
        if min(values[0], values[-1]) < 0:
            raise Mistake(
                "K004",
                f"range goes below 0: from {values[0]} to {values[-1]}",
                "count from 0, and subtract where the value is used",
            )
        return 0, len(values), (lambda k: start + k * step) if step > 0 else (lambda k: start - k * -step)
    if step == 1:
        return start, stop, None
    if step > 0:
        begins_at_zero = type(start) is not Expr and int(start) == 0
        first = _core.ne(stop, 0) if begins_at_zero else _core.lt(start, stop)
        distance = stop if begins_at_zero else stop - start
        count = _core.select(first, (distance - 1) // step + 1, 0)
        return 0, count, lambda k: k * step if begins_at_zero else start + k * step
    # Downwards: `stop` may be -1, one before zero.
    size = -step
    down = (lambda k: start - k) if size == 1 else (lambda k: start - k * size)
    if is_number(stop) and int(stop) < 0:
        if int(stop) != -1:
            raise Mistake(
                "K004",
                f"range goes down to {int(stop)}",
                "write -1 as the end that is not reached, or count upwards",
            )
        # start + 1 elements; a start of 0 - 1 has none.
        count = start + 1
        if size > 1:
            count = _core.select(_core.eq(start, FOREVER), 0, start // size + 1)
        return 0, count, down
    count = (start - stop - 1) // size + 1 if size > 1 else start - stop
    return 0, _core.select(_core.gt(start, stop), count, 0), down
