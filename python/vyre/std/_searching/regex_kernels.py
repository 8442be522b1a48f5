"""From a text to the matches of a regular expression: two walks over it, of which the second counts and writes."""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
from collections.abc import Callable
from typing import Any

import vyre
from vyre import In, InOut, Out, u32, vec4u32
from vyre._procedure.vouched import vouched
from vyre.std._calls.offsets import offsets_of
from vyre.std._graphs.walks import LANES, steps, walked
from vyre.std._scanning.operators import value_of
from vyre.std._searching.regex_tables import BEGIN, END, STATE

__all__ = ["counter", "writer"]


@functools.cache
def counter(backward: bool) -> Callable[..., Any]:
    """The procedure that counts matches, for tables whose first automaton walks in this direction."""
    over_text, over_symbols = walked(True, backward), walked(False, not backward)

    @vouched
    @vyre.procedure(name=f"std.regex.count_{'longest' if backward else 'earliest'}")
    def count(
        text: In[vec4u32],
        first: In[u32],
        second: In[u32],
        n: u32,
        behind: u32,
        first_shift: u32,
        second_shift: u32,
        first_states: u32,
        second_states: u32,
        piece: u32,
        group: u32,
    ) -> tuple[vyre.ProcedureArray, ...]:
        _, symbols = over_text(text, first, n, behind, first_shift, first_states, piece, group)
        begins, counts = over_symbols(symbols, second, n, behind, second_shift, second_states, piece, group)
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
    symbols: In[vec4u32], table: In[u32], begins: In[u32], offsets: In[u32], matches: InOut[u32], shift: u32, piece: u32
) -> None:
    """Write begins and ends in a walk forward. A match may end in another piece than it begins in."""
    p, vectors, most = vyre.gid(0), len(symbols) // 2, len(matches) // 2
    if p < len(begins):
        state = begins[p]
        begun = offsets[p]  # how many matches have begun; the last of them goes on if the state is not 0
        for m in range(p * piece, min((p + 1) * piece, vectors)):
            walk = steps(False, symbols, table, state, shift, m)
            for k, entry in enumerate(walk):
                if vyre.logical_and(entry & END != 0, begun - 1 < most):
                    matches[2 * begun - 1] = m * 16 + k
                if entry >= BEGIN:
                    if begun < most:
                        matches[2 * begun] = m * 16 + k
                    begun += 1
            state = walk[15] & STATE


@vyre.kernel(workgroup_size=LANES)
def write_earliest(
    symbols: In[vec4u32],
    table: In[u32],
    begins: In[u32],
    offsets: In[u32],
    total: In[u32],
    matches: InOut[u32],
    shift: u32,
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
            walk = steps(True, symbols, table, state, shift, j)
            for k, entry in enumerate(walk):
                if entry & END != 0:
                    if match < most:
                        matches.atomic_min(2 * match, least)
                    match -= 1
                    least = 2**32 - 1
                    if match < most:
                        matches.atomic_min(2 * match + 1, j * 16 + 16 - k)
                if entry >= BEGIN:
                    least = j * 16 + 15 - k
            state = walk[15] & STATE
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
        second_shift: u32,
        piece: u32,
        limit: u32,
    ) -> vyre.ProcedureArray:
        matches = vyre.scratch(u32, limit * 2, name="matches")
        begin_matches(total, matches, n, grid=limit)
        if backward:
            write_longest(symbols, second, begins, offsets, matches, second_shift, piece, grid=begins.length)
        else:
            write_earliest(symbols, second, begins, offsets, total, matches, second_shift, piece, grid=begins.length)
        return matches

    return write
