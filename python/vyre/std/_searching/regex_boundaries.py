"""Boundaries: the places between two bytes of a text, of which anchors and word boundaries ask something.

An assertion looks at one byte on either side. So it is decided by the kind of what stands before the boundary and the
kind of what stands behind it. Kinds that the assertions of a pattern do not tell apart are one kind for this pattern;
without assertions there is one on either side, and the automata are those of the bytes alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cache

__all__ = ["ASSERTIONS", "LINE_FEED", "WORDS", "Boundaries", "boundaries_of"]

WORDS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
LINE_FEED = 10
# The begin and the end come first, so that both are of kind 0. "last" is a line feed that ends the text.
_BEFORE = ("begin", "line", "word", "other")
_BEHIND = ("end", "last", "line", "word", "other")
# Whether an assertion holds, by what stands before and behind; it is named by a spelling that no flag changes.
ASSERTIONS: dict[str, Callable[[str, str], bool]] = {
    "\\A": lambda before, behind: before == "begin",
    "(?m:^)": lambda before, behind: before in ("begin", "line"),
    "\\z": lambda before, behind: behind == "end",
    "(?-m:$)": lambda before, behind: behind in ("end", "last"),
    "(?m:$)": lambda before, behind: behind in ("end", "last", "line"),
    "\\b": lambda before, behind: (before == "word") != (behind == "word"),
    "\\B": lambda before, behind: (before == "word") == (behind == "word"),
}


@dataclass
class Boundaries:
    """The kinds of boundaries that a pattern tells apart.

    Attributes:
        holding: for each kind of a boundary the assertions that hold there.
        at: the kind of a boundary, by the kinds of what stands before and behind it.
        before: for each byte its kind before a boundary. The begin of the text is of kind 0.
        behind: for each byte its kind behind a boundary. The end of the text is of kind 0.
        last: the kind behind a boundary of a line feed that ends the text.
    """

    holding: list[frozenset[str]]
    at: list[list[int]]
    before: list[int]
    behind: list[int]
    last: int


@cache
def boundaries_of(names: frozenset[str]) -> Boundaries:
    """The kinds that these assertions tell apart."""
    rows = [
        tuple(frozenset(each for each in names if ASSERTIONS[each](before, behind)) for behind in _BEHIND)
        for before in _BEFORE
    ]
    columns = list(zip(*rows, strict=True))
    # A walk backward knows that a line feed is the last one by coming from the end, which then is a kind of its own.
    apart = columns[_BEHIND.index("last")] != columns[_BEHIND.index("line")]
    before, behind = _numbers(rows), _numbers([(each, apart and not k) for k, each in enumerate(columns)])
    holding = list(dict.fromkeys(each for row in rows for each in row))
    at = [
        [holding.index(rows[before.index(i)][behind.index(k)]) for k in range(max(behind) + 1)]
        for i in range(max(before) + 1)
    ]
    kinds = ["line" if byte == LINE_FEED else "word" if byte in WORDS else "other" for byte in range(256)]
    return Boundaries(
        holding,
        at,
        [before[_BEFORE.index(each)] for each in kinds],
        [behind[_BEHIND.index(each)] for each in kinds],
        behind[_BEHIND.index("last")],
    )


def _numbers(values: Sequence[Hashable]) -> list[int]:
    """Equal values get equal numbers, from 0 on in the order in which they come."""
    known = dict.fromkeys(values)
    return [list(known).index(each) for each in values]
