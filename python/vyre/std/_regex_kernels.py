"""From a text to the matches of a regular expression: two walks over it, of which the second counts and writes."""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
from collections.abc import Callable
from typing import Any

import vyre
from vyre import In, InOut, Out, u32, vec4u32
from vyre._procedure.vouched import vouched
from vyre.std._offsets import offsets_of
from vyre.std._operators import value_of
from vyre.std._regex_tables import BEGIN, END, STATE
from vyre.std._walks import LANES, begins_of, place, read

__all__ = ["counter", "writer"]


def with_halves(words: list[Any], k: int, value: Any) -> list[Any]:
    """Words with a value in half-word k."""
    made = list(words)
    made[k // 2] = words[k // 2] | value << k % 2 * 16
    return made


@functools.cache
def counter(backward: bool) -> Callable[..., Any]:
    """The procedure that counts matches, for tables whose first automaton walks in this direction."""
    forward = not backward

    @vyre.kernel(workgroup_size=LANES)
    def write_symbols(
        text: In[vec4u32],
        classes: In[u32],
        table: In[u32],
        written: In[u32],
        begins: In[u32],
        symbols: Out[vec4u32],
        n: u32,
        width: u32,
        piece: u32,
    ) -> None:
        """Walk over each piece of the text and write the symbols for the second automaton."""
        p = vyre.gid(0)
        state = begins[p]
        for m in range(p * piece, min((p + 1) * piece, len(text))):
            j = place(backward, len(text), m)
            words = [vyre.u32(0)] * 8
            for k, each in enumerate(read(True, backward, text, classes, n, width, j)):
                at = state * width + each
                words = with_halves(words, 15 - k if backward else k, written[at])
                state = table[at]
            symbols[2 * j] = vyre.vec4u32(words[0], words[1], words[2], words[3])
            symbols[2 * j + 1] = vyre.vec4u32(words[4], words[5], words[6], words[7])

    @vyre.kernel(workgroup_size=LANES)
    def count_matches(
        symbols: In[vec4u32], table: In[u32], begins: In[u32], counts: Out[u32], width: u32, piece: u32
    ) -> None:
        """Count the matches that begin, or end if the walk is backward, in each piece."""
        p = vyre.gid(0)
        if p < len(counts):
            state, count = begins[p], vyre.u32(0)
            vectors = len(symbols) // 2
            for m in range(p * piece, min((p + 1) * piece, vectors)):
                for each in read(False, forward, symbols, table, 0, width, place(forward, vectors, m)):
                    entry = table[state * width + each]
                    count += entry >> (31 if backward else 30) & 1
                    state = entry & STATE
            counts[p] = count

    @vouched
    @vyre.procedure(name=f"std.regex.count_{'longest' if backward else 'earliest'}")
    def count(
        text: In[vec4u32],
        classes: In[u32],
        first: In[u32],
        written: In[u32],
        second: In[u32],
        n: u32,
        first_width: u32,
        second_width: u32,
        first_states: u32,
        second_states: u32,
        piece: u32,
        group: u32,
    ) -> tuple[vyre.ProcedureArray, ...]:
        pieces = vyre.ceil_div(text.length, piece)
        symbols = vyre.scratch(vec4u32, text.length * 2, name="symbols")
        begins = begins_of(True, backward)(text, classes, first, n, first_width, first_states, piece, group)
        write_symbols(text, classes, first, written, begins, symbols, n, first_width, piece, grid=pieces)
        begins = begins_of(False, forward)(symbols, classes, second, n, second_width, second_states, piece, group)
        counts = vyre.scratch(u32, pieces, name="counts")
        count_matches(symbols, second, begins, counts, second_width, piece)
        offsets, total = offsets_of(counts)
        return symbols, begins, offsets, total

    return count


@vyre.kernel(workgroup_size=LANES)
def begin_matches(total: In[u32], matches: Out[u32], n: u32) -> None:
    """Matches that begin nowhere yet and end with the text, as many as there are."""
    i = vyre.gid(0)
    if i < len(matches) // 2:
        inside = i < total[0]
        matches[2 * i] = vyre.select(inside, 2**32 - 1, 0)
        matches[2 * i + 1] = vyre.select(inside, n, 0)


@vyre.kernel(workgroup_size=LANES)
def write_longest(
    symbols: In[vec4u32], table: In[u32], begins: In[u32], offsets: In[u32], matches: InOut[u32], width: u32, piece: u32
) -> None:
    """Write begins and ends in a walk forward. A match may end in another piece than it begins in."""
    p, vectors, most = vyre.gid(0), len(symbols) // 2, len(matches) // 2
    if p < len(begins):
        state = begins[p]
        begun = offsets[p]  # how many matches have begun; the last of them goes on if the state is not 0
        for m in range(p * piece, min((p + 1) * piece, vectors)):
            for k, each in enumerate(read(False, False, symbols, table, 0, width, m)):
                entry = table[state * width + each]
                if vyre.logical_and(entry & END != 0, begun - 1 < most):
                    matches[2 * begun - 1] = m * 16 + k
                if entry >= BEGIN:
                    if begun < most:
                        matches[2 * begun] = m * 16 + k
                    begun += 1
                state = entry & STATE


@vyre.kernel(workgroup_size=LANES)
def write_earliest(
    symbols: In[vec4u32],
    table: In[u32],
    begins: In[u32],
    offsets: In[u32],
    total: In[u32],
    matches: InOut[u32],
    width: u32,
    piece: u32,
) -> None:
    """Write ends and the least begins in a walk backward. Several pieces may know begins of one match."""
    p, vectors, most = vyre.gid(0), len(symbols) // 2, len(matches) // 2
    if p < len(begins):
        state = begins[p]
        match = total[0] - offsets[p]  # whose end came last; there are as many before it
        least = value_of(u32, 2**32 - 1)
        for m in range(p * piece, min((p + 1) * piece, vectors)):
            j = vectors - 1 - m
            for k, each in enumerate(read(False, True, symbols, table, 0, width, j)):
                entry = table[state * width + each]
                if entry & END != 0:
                    if match < most:
                        matches.atomic_min(2 * match, least)
                    match -= 1
                    least = 2**32 - 1
                    if match < most:
                        matches.atomic_min(2 * match + 1, j * 16 + 16 - k)
                if entry >= BEGIN:
                    least = j * 16 + 15 - k
                state = entry & STATE
        if match < most:
            matches.atomic_min(2 * match, least)


@functools.cache
def writer(backward: bool) -> Callable[..., Any]:
    """The procedure that writes the first matches, for tables whose first automaton walks in this direction."""

    @vyre.procedure(name=f"std.regex.write_{'longest' if backward else 'earliest'}")
    def write(
        symbols: In[vec4u32],
        second: In[u32],
        begins: In[u32],
        offsets: In[u32],
        total: In[u32],
        n: u32,
        second_width: u32,
        piece: u32,
        limit: u32,
    ) -> vyre.ProcedureArray:
        matches = vyre.scratch(u32, limit * 2, name="matches")
        begin_matches(total, matches, n, grid=limit)
        if backward:
            write_longest(symbols, second, begins, offsets, matches, second_width, piece, grid=begins.length)
        else:
            write_earliest(symbols, second, begins, offsets, total, matches, second_width, piece, grid=begins.length)
        return matches

    return write
