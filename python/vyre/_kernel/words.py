"""The words of PARAMS: lengths of arrays with several axes, numbers, and counts of `vyre.grid_size`.

``layout`` says what each word is. The trace of a kernel loads the words by it, and keeps it for calls,
costs and dispatches of procedures, which write them. A Program does not know its grid, so the trace
adds a word for each axis whose size the kernel asks about, in the order in which it first does. Kernels
that do not ask keep their words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vyre._base.types import TYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre._kernel.parameters import Parameter

__all__ = ["MOST", "PARAMS", "Word", "layout"]

# The buffer of sizes and scalars, in the words of the layout.
PARAMS = "__params"
# The word of the largest count of a resident grid along an axis has this part, plus the axis.
MOST = 3


class Word(NamedTuple):
    """A word of PARAMS.

    Attributes:
        parameter: an array or a number; None for the invocations of a call along an axis.
        part: the axis, or which word of the number, the lowest first; an axis and MOST for the largest count along it.
    """

    parameter: Parameter | None
    part: int


def layout(parameters: Sequence[Parameter]) -> list[Word]:
    """What each word of PARAMS is, without those of the grid."""
    lengths = [Word(each, axis) for each in parameters if each.axes > 1 for axis in range(each.axes)]
    numbers = [each for each in parameters if each.kind == "scalar"]
    parts = [Word(each, part) for each in numbers for part in range(TYPES[each.element].lanes)]  # type: ignore[index]
    return lengths + parts
