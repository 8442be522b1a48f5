"""Automata that walk a text or a list of symbols in parallel, and exactly.

The text is cut into pieces, and the state at the begin of each is found first. Every state walks a few bytes of a
piece. Where all have met in one, which is usual, that one walks the rest of the piece; elsewhere each state does. This
gives, for each piece, the state at its end by the state at its begin. Such tables are composed over groups of pieces,
one invocation walks over the groups, and one for each group over its pieces.

Source: W. D. Hillis, G. L. Steele, "Data parallel algorithms", 1986 (composing tables); T. Mytkowicz, M. Musuvathi,
W. Schulte, "Data-parallel finite-state machines", 2014 (convergence).
"""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
from collections.abc import Callable
from typing import Any

import vyre
from vyre import In, InOut, Out, u32, vec4u32
from vyre.std._operators import value_of
from vyre.std._regex_tables import STATE

__all__ = ["LANES", "PIECE", "begins_of", "place", "read"]

LANES = 128
# Vectors of 16 bytes in a piece, at least, and how many of them every state walks.
PIECE, PROBE = 64, 8


def place(backward: bool, vectors: Any, m: Any) -> Any:
    """The vector of the text that is walked over as number `m`."""
    return vectors - 1 - m if backward else m


def read(text: bool, backward: bool, source: Any, classes: Any, n: Any, width: Any, j: Any) -> list[Any]:
    """The symbols of the 16 bytes of vector j, in the order of the walk.

    The source is a text, or a list of symbols, which have half a word each. Places of the text behind `n` have the
    last of `width` symbols.
    """
    made = []
    if text:
        vector = source[j]
        words = [vector.x, vector.y, vector.z, vector.w]
        for k in vyre.unroll(range(16)):
            symbol = width - 1
            if j * 16 + k < n:
                symbol = classes[words[k // 4] >> k % 4 * 8 & 255]
            made.append(symbol)
    else:
        low, high = source[2 * j], source[2 * j + 1]
        words = [low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w]
        made = [words[k // 2] >> k % 2 * 16 & 0xFFFF for k in vyre.unroll(range(16))]
    return made[::-1] if backward else made


def walked(table: Any, width: Any, state: Any, symbols: list[Any]) -> Any:
    for each in symbols:
        state = table[state * width + each] & STATE
    return state


@vyre.kernel(workgroup_size=LANES)
def begin_open(entries: Out[u32]) -> None:
    """No piece is listed yet."""
    entries[vyre.gid(0)] = vyre.select(vyre.gid(0) == 0, 0, 1)


@vyre.kernel(workgroup_size=LANES)
def compose_group(ends: In[u32], composed: Out[u32], states: u32, group: u32) -> None:
    """The state behind each group of pieces, by the state before it."""
    i = vyre.gid(0)
    pieces = len(ends) // states
    state = i % states
    for p in range(i // states * group, min((i // states + 1) * group, pieces)):
        state = ends[p * states + state]
    if i < len(composed):
        composed[i] = state


@vyre.kernel(workgroup_size=1)
def walk_groups(composed: In[u32], begins: Out[u32], states: u32) -> None:
    """The state before each group, by one invocation."""
    state = vyre.u32(0)
    for g in range(len(begins)):
        begins[g] = state
        state = composed[g * states + state]


@vyre.kernel(workgroup_size=32)
def walk_group(ends: In[u32], before: In[u32], begins: Out[u32], states: u32, group: u32) -> None:
    """The state before each piece of a group."""
    g = vyre.gid(0)
    if g < len(before):
        state = before[g]
        for p in range(g * group, min((g + 1) * group, len(begins))):
            begins[p] = state
            state = ends[p * states + state]


def _kernels(text: bool, backward: bool, vectors_per: int) -> tuple[Any, Any, Any]:
    """The kernels that find the ends of pieces, for walks over a text or over symbols."""

    @vyre.kernel(workgroup_size=LANES)
    def probe_piece(
        source: In[vec4u32],
        classes: In[u32],
        table: In[u32],
        ends: Out[u32],
        n: u32,
        width: u32,
        states: u32,
        piece: u32,
    ) -> None:
        """Let each state walk the first vectors of each piece."""
        i = vyre.gid(0)
        vectors = len(source) // vectors_per
        first = i // states * piece
        state = i % states
        for m in range(first, min(first + PROBE, vectors)):
            symbols = read(text, backward, source, classes, n, width, place(backward, vectors, m))
            state = walked(table, width, state, symbols)
        if i < len(ends):
            ends[i] = state

    @vyre.kernel(workgroup_size=LANES)
    def run_piece(
        source: In[vec4u32],
        classes: In[u32],
        table: In[u32],
        ends: InOut[u32],
        listed: InOut[u32],
        entries: InOut[u32],
        n: u32,
        width: u32,
        states: u32,
        piece: u32,
    ) -> None:
        """Walk the rest of each piece where all states have met, and list the other pieces."""
        p = vyre.gid(0)
        vectors = len(source) // vectors_per
        if p < len(listed):
            state = ends[p * states]
            met = value_of(u32, 1)
            for k in range(1, states):
                if ends[p * states + k] != state:
                    met = 0
            if met != 0:
                for m in range(p * piece + PROBE, min((p + 1) * piece, vectors)):
                    symbols = read(text, backward, source, classes, n, width, place(backward, vectors, m))
                    state = walked(table, width, state, symbols)
                for k in range(states):
                    ends[p * states + k] = state
            else:
                listed[entries.atomic_add(0, states) // states] = p

    @vyre.kernel(workgroup_size=LANES)
    def run_listed(
        source: In[vec4u32],
        classes: In[u32],
        table: In[u32],
        listed: In[u32],
        entries: In[u32],
        ends: InOut[u32],
        n: u32,
        width: u32,
        states: u32,
        piece: u32,
    ) -> None:
        """Walk the rest of each listed piece from each of its states."""
        i = vyre.gid(0)
        vectors = len(source) // vectors_per
        if i < entries[0]:
            p = listed[i // states]
            at = p * states + i % states
            state = ends[at]
            for m in range(p * piece + PROBE, min((p + 1) * piece, vectors)):
                symbols = read(text, backward, source, classes, n, width, place(backward, vectors, m))
                state = walked(table, width, state, symbols)
            ends[at] = state

    return probe_piece, run_piece, run_listed


@functools.cache
def begins_of(text: bool, backward: bool) -> Callable[..., Any]:
    """The procedure that finds the state at the begin of each piece, for walks over a text or over symbols."""
    vectors_per = 1 if text else 2
    probe_piece, run_piece, run_listed = _kernels(text, backward, vectors_per)
    name = f"{'text' if text else 'symbols'}_{'backward' if backward else 'forward'}"

    @vyre.procedure(name=f"std.walk.begins_{name}")
    def begins(
        source: In[vec4u32],
        classes: In[u32],
        table: In[u32],
        n: u32,
        width: u32,
        states: u32,
        piece: u32,
        group: u32,
    ) -> vyre.ProcedureArray:
        pieces = vyre.ceil_div(source.length // vectors_per, piece)
        begins = vyre.scratch(u32, pieces, zeros=True, name="begins")
        with vyre.when(pieces > 1):
            ends = vyre.scratch(u32, pieces * states, name="ends")
            listed = vyre.scratch(u32, pieces, zeros=True, name="listed")
            entries = vyre.scratch(u32, 3, name="entries")  # states of listed pieces, 1 and 1
            numbers = n, width, states, piece
            begin_open(entries)
            probe_piece(source, classes, table, ends, *numbers)
            run_piece(source, classes, table, ends, listed, entries, *numbers, grid=pieces)
            run_listed(source, classes, table, listed, entries, ends, *numbers, grid=entries, at_most=pieces * states)
            groups = vyre.ceil_div(pieces, group)
            composed = vyre.scratch(u32, groups * states, name="composed")
            before = vyre.scratch(u32, groups, name="before")
            compose_group(ends, composed, states, group)
            walk_groups(composed, before, states, workgroups=1)
            walk_group(ends, before, begins, states, group, grid=groups)
        return begins

    return begins
