"""The automaton of the positions of a regular expression.

A position is a place of the pattern that takes one byte. The automaton says which positions a match may begin and end
with, and which may follow which; sets of positions are the bits of an int.

Source: V. M. Glushkov, "The abstract theory of automata", 1961.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Positions", "bits", "positions_of"]


def bits(mask: int) -> list[int]:
    """The numbers of the bits that are set."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


@dataclass
class Positions:
    """The automaton of a pattern's positions.

    Attributes:
        symbols: for each position the bytes that it takes, as bits of an int.
        first, last: positions that a match may begin and end with.
        follow, precede: for each position those that may come next, and those that may come before.
    """

    symbols: list[int]
    first: int
    last: int
    follow: list[int]
    precede: list[int]


def positions_of(postfix: Sequence[int | str]) -> Positions:
    """The automaton of an expression in postfix form, as ``_regex_syntax.py`` gives it."""
    symbols: list[int] = []
    follow: list[int] = []

    def connect(ends: int, begins: int) -> None:
        for each in bits(ends):
            follow[each] |= begins

    stack: list[tuple[bool, int, int]] = []  # whether it matches nothing, its first and its last positions
    for each in postfix:
        if each == "":
            stack.append((True, 0, 0))
        elif not isinstance(each, str):
            stack.append((False, 1 << len(symbols), 1 << len(symbols)))
            symbols.append(each)
            follow.append(0)
        elif each in (".", "|"):
            empty, first, last = stack.pop()
            empty_before, first_before, last_before = stack.pop()
            if each == "|":
                stack.append((empty or empty_before, first | first_before, last | last_before))
                continue
            connect(last_before, first)
            stack.append(
                (
                    empty and empty_before,
                    first_before | (first if empty_before else 0),
                    last | (last_before if empty else 0),
                )
            )
        else:
            empty, first, last = stack.pop()
            if each != "?":
                connect(last, first)
            stack.append((empty or each != "+", first, last))
    _, first, last = stack.pop()
    precede = [0] * len(symbols)
    for position, mask in enumerate(follow):
        for each in bits(mask):
            precede[each] |= 1 << position
    return Positions(symbols, first, last, follow, precede)
