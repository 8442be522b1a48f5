"""The automata of the positions of a regular expression.

A position is a place of the pattern that takes one byte. An automaton says which positions a match may begin and end
with, and which may follow which; sets of positions are the bits of an int. There is one for each kind of a boundary:
in it, the assertions that hold there match nothing, and the others are never matched.

Source: V. M. Glushkov, "The abstract theory of automata", 1961.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vyre.std._searching.regex_boundaries import ASSERTIONS, Boundaries, boundaries_of

__all__ = ["Expression", "Positions", "bits", "expression_of"]

_FEW = 16  # bits that are found faster one by one


def bits(mask: int) -> list[int]:
    """The numbers of the bits that are set."""
    if mask.bit_count() > _FEW:
        octets = np.frombuffer(mask.to_bytes(-(-mask.bit_length() // 8), "little"), np.uint8)
        return np.flatnonzero(np.unpackbits(octets, bitorder="little")).tolist()
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


@dataclass
class Positions:
    """The automaton of a pattern's positions at one kind of a boundary.

    Attributes:
        first, last: positions that a match may begin and end with.
        follow, precede: for each position those that may come next, and those that may come before.
    """

    first: int
    last: int
    follow: list[int]

    @cached_property
    def precede(self) -> list[int]:
        return _transposed(self.follow)


@dataclass
class Expression:
    """A pattern's positions.

    Attributes:
        symbols: for each position the bytes that it takes, as bits of an int.
        boundaries: the kinds of boundaries that its assertions tell apart.
        kinds: for each of them the automaton.
    """

    symbols: list[int]
    boundaries: Boundaries
    kinds: list[Positions]


def expression_of(postfix: Sequence[int | str]) -> Expression:
    """The positions of an expression in postfix form, as ``regex_syntax.py`` gives it."""
    boundaries = boundaries_of(frozenset(each for each in postfix if isinstance(each, str) and each in ASSERTIONS))
    symbols = [each for each in postfix if not isinstance(each, str)]
    return Expression(symbols, boundaries, [_positions_of(postfix, holding) for holding in boundaries.holding])


def _positions_of(postfix: Sequence[int | str], holding: frozenset[str]) -> Positions:
    """The automaton at boundaries where these assertions hold."""
    follow: list[int] = []

    def connect(ends: int, begins: int) -> None:
        for each in bits(ends):
            follow[each] |= begins

    stack: list[tuple[bool, int, int]] = []  # whether it matches nothing, its first and its last positions
    for each in postfix:
        if not isinstance(each, str):
            stack.append((False, 1 << len(follow), 1 << len(follow)))
            follow.append(0)
        elif each == "" or each in ASSERTIONS:
            stack.append((each == "" or each in holding, 0, 0))
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
    return Positions(first, last, follow)


def _transposed(masks: list[int]) -> list[int]:
    """For each bit the numbers of the masks in which it is set, as bits."""
    count, size = len(masks), -(-len(masks) // 8)
    octets = np.frombuffer(b"".join(each.to_bytes(size, "little") for each in masks), np.uint8).reshape(count, size)
    table = np.unpackbits(octets, axis=1, count=count, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in np.packbits(table.T, axis=1, bitorder="little")]
