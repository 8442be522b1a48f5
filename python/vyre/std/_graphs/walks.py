"""Automata that walk a text or a list of symbols in parallel, and exactly.

The text is cut into pieces, and the state at the begin of each is found first. Every state walks a few bytes of a
piece. Where all have met in one, which is usual, that one walks the rest of the piece and writes its results; elsewhere
each state walks it. This gives, for each piece, the state at its end by the state at its begin. Such tables are
composed over groups of pieces, one invocation walks over the groups, and one for each group over its pieces. At last
the state at the begin of each piece walks what has no results yet, which is usually the few bytes alone.

Source: W. D. Hillis, G. L. Steele, "Data parallel algorithms", 1986 (composing tables); T. Mytkowicz, M. Musuvathi,
W. Schulte, "Data-parallel finite-state machines", 2014 (convergence).
"""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import vyre
from vyre import In, InOut, Out, u32, vec4u32
from vyre._procedure.vouched import vouched
from vyre.std._scanning.operators import value_of
from vyre.std._searching.regex_tables import FIRST_STATE, STATE, SYMBOL_SHIFT

__all__ = ["LANES", "PIECE", "PROBE", "steps", "walked"]

LANES = 128
# Vectors of 16 bytes in a piece, at least, and how many of them every state walks.
PIECE, PROBE = 64, 8


def steps(backward: bool, symbols: Any, table: Any, state: Any, shift: Any, j: Any) -> list[Any]:
    """The entries of the second table for the 16 symbols of vector j, which have half a word each."""
    low, high = symbols[2 * j], symbols[2 * j + 1]
    words = [low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w]
    made = []
    for k in vyre.unroll(range(15, -1, -1) if backward else range(16)):
        entry = table[state | (words[k // 2] >> k % 2 * 16 & 0xFFFF) << shift]
        made.append(entry)
        state = entry & STATE
    return made


def text_steps(backward: bool, text: Any, table: Any, state: Any, n: Any, behind: Any, shift: Any, j: Any) -> list[Any]:
    """The entries of the first table for the 16 bytes of vector j. Places behind `n` lead to state 0."""
    vector = text[j]
    words = [vector.x, vector.y, vector.z, vector.w]
    inside = n - min(n, j * 16)
    made = []
    for k in vyre.unroll(range(15, -1, -1) if backward else range(16)):
        entry = table[state | (words[k // 4] >> k % 4 * 8 & 255) << shift]
        entry = vyre.select(k < inside, entry, behind << SYMBOL_SHIFT)
        made.append(entry)
        state = entry & FIRST_STATE
    return made


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


class Walk(NamedTuple):
    """What tells the four walks apart: over a text or over symbols, forward or backward."""

    text: bool
    backward: bool

    @property
    def per(self) -> int:
        """Vectors of the source that hold the 16 bytes or symbols of a vector of the walk."""
        return 1 if self.text else 2

    @property
    def mask(self) -> int:
        """The bits of an entry that are the next state."""
        return FIRST_STATE if self.text else STATE


def _entries(walk: Walk, source: Any, table: Any, state: Any, numbers: Any, m: Any) -> tuple[Any, list[Any]]:
    """The vector that is walked over as number `m`, and its entries in the order of the walk."""
    n, behind, shift = numbers
    j = len(source) // walk.per - 1 - m if walk.backward else m
    if walk.text:
        return j, text_steps(walk.backward, source, table, state, n, behind, shift, j)
    return j, steps(walk.backward, source, table, state, shift, j)


def _noted(walk: Walk, result: Any, j: Any, entries: list[Any]) -> Any:
    """Write the symbols of a text's vector, or give the number of matches of a vector of symbols."""
    if not walk.text:
        # A walk backward comes to the end of a match first.
        bit = 30 if walk.backward else 31
        return sum((each >> bit & 1 for each in entries[1:]), entries[0] >> bit & 1)
    symbols = [each >> SYMBOL_SHIFT for each in (entries[::-1] if walk.backward else entries)]
    # Writes the half first that is walked first, so that fewer symbols wait in registers.
    for half in vyre.unroll((1, 0) if walk.backward else (0, 1)):
        low, high = symbols[8 * half : 8 * half + 8 : 2], symbols[8 * half + 1 : 8 * half + 8 : 2]
        result[2 * j + half] = vyre.vec4u32(*(b << 16 | a for a, b in zip(low, high, strict=True)))
    return 0


def _state_behind(walk: Walk, source: Any, table: Any, state: Any, numbers: Any, first: Any, most: Any) -> Any:
    """The state behind at most `most` vectors from `first` on."""
    for m in range(first, min(first + most, len(source) // walk.per)):
        _, entries = _entries(walk, source, table, state, numbers, m)
        state = entries[15] & walk.mask
    return state


def _state_and_count(
    walk: Walk, source: Any, table: Any, state: Any, numbers: Any, first: Any, most: Any, result: Any
) -> tuple[Any, Any]:
    """The state behind at most `most` vectors from `first` on, and the matches in symbols; a text's are written."""
    count = vyre.u32(0)
    for m in range(first, min(first + most, len(source) // walk.per)):
        j, entries = _entries(walk, source, table, state, numbers, m)
        count += _noted(walk, result, j, entries)
        state = entries[15] & walk.mask
    return state, count


def _probes(walk: Walk) -> tuple[Any, Any]:
    """The kernels that let every state walk."""

    @vyre.kernel(workgroup_size=LANES)
    def probe_piece(
        source: In[vec4u32], table: In[u32], ends: Out[u32], n: u32, behind: u32, shift: u32, states: u32, piece: u32
    ) -> None:
        """Let each state walk the first vectors of each piece."""
        i = vyre.gid(0)
        first = i // states * piece
        state = _state_behind(walk, source, table, i % states, (n, behind, shift), first, PROBE)
        if i < len(ends):
            ends[i] = state

    @vyre.kernel(workgroup_size=LANES)
    def run_listed(
        source: In[vec4u32],
        table: In[u32],
        listed: In[u32],
        entries: In[u32],
        ends: InOut[u32],
        n: u32,
        behind: u32,
        shift: u32,
        states: u32,
        piece: u32,
    ) -> None:
        """Walk the rest of each listed piece from each of its states."""
        i = vyre.gid(0)
        if i < entries[0]:
            p = listed[i // states]
            at = p * states + i % states
            numbers = n, behind, shift
            ends[at] = _state_behind(walk, source, table, ends[at], numbers, p * piece + PROBE, piece - PROBE)

    return probe_piece, run_listed


def _runs(walk: Walk) -> tuple[Any, Any]:
    """The kernels that let one state walk and write results."""
    result_type = vec4u32 if walk.text else u32

    @vyre.kernel(workgroup_size=LANES)
    def run_piece(
        source: In[vec4u32],
        table: In[u32],
        ends: InOut[u32],
        listed: InOut[u32],
        entries: InOut[u32],
        done: InOut[u32],
        result: InOut[result_type],
        n: u32,
        behind: u32,
        shift: u32,
        states: u32,
        piece: u32,
    ) -> None:
        """Walk the rest of each piece where all states have met, with its results, and list the other pieces."""
        p = vyre.gid(0)
        if p < len(listed):
            state = ends[p * states]
            met = value_of(u32, 1)
            for k in range(1, states):
                if ends[p * states + k] != state:
                    met = 0
            if met != 0:
                first, numbers = p * piece + PROBE, (n, behind, shift)
                state, count = _state_and_count(walk, source, table, state, numbers, first, piece - PROBE, result)
                for k in range(states):
                    ends[p * states + k] = state
                done[p] = 1
                if not walk.text:
                    result[p] = count
            else:
                listed[entries.atomic_add(0, states) // states] = p

    @vyre.kernel(workgroup_size=LANES)
    def finish_piece(
        source: In[vec4u32],
        table: In[u32],
        begins: In[u32],
        done: In[u32],
        result: InOut[result_type],
        n: u32,
        behind: u32,
        shift: u32,
        piece: u32,
    ) -> None:
        """Write the results of each piece that only its begin decides."""
        p = vyre.gid(0)
        if p < len(begins):
            numbers = n, behind, shift
            most = vyre.select(done[p] != 0, PROBE, piece)
            _, count = _state_and_count(walk, source, table, begins[p], numbers, p * piece, most, result)
            if not walk.text:
                result[p] += count

    return run_piece, finish_piece


@functools.cache
def walked(text: bool, backward: bool) -> Callable[..., Any]:
    """The procedure that walks over a text or over symbols.

    It gives the state at the begin of each piece, and the symbols of the text or the number of matches in each piece.
    """
    probe_piece, run_listed = _probes(Walk(text, backward))
    run_piece, finish_piece = _runs(Walk(text, backward))
    name = f"{'text' if text else 'symbols'}_{'backward' if backward else 'forward'}"

    @vouched
    @vyre.procedure(name=f"std.walk.{name}")
    def walk(
        source: In[vec4u32],
        table: In[u32],
        n: u32,
        behind: u32,
        shift: u32,
        states: u32,
        piece: u32,
        group: u32,
    ) -> tuple[vyre.ProcedureArray, ...]:
        vectors = source.length if text else source.length // 2
        pieces = vyre.ceil_div(vectors, piece)
        begins = vyre.scratch(u32, pieces, zeros=True, name="begins")
        done = vyre.scratch(u32, pieces, zeros=True, name="done")
        if text:
            result = vyre.scratch(vec4u32, source.length * 2, name="symbols")
        else:
            result = vyre.scratch(u32, pieces, zeros=True, name="counts")
        with vyre.when(pieces > 1):
            ends = vyre.scratch(u32, pieces * states, name="ends")
            listed = vyre.scratch(u32, pieces, zeros=True, name="listed")
            entries = vyre.scratch(u32, 3, name="entries")  # states of listed pieces, 1 and 1
            numbers = n, behind, shift, states, piece
            begin_open(entries)
            probe_piece(source, table, ends, *numbers)
            run_piece(source, table, ends, listed, entries, done, result, *numbers, grid=pieces)
            run_listed(source, table, listed, entries, ends, *numbers, grid=entries, at_most=pieces * states)
            groups = vyre.ceil_div(pieces, group)
            composed = vyre.scratch(u32, groups * states, name="composed")
            before = vyre.scratch(u32, groups, name="before")
            compose_group(ends, composed, states, group)
            walk_groups(composed, before, states, workgroups=1)
            walk_group(ends, before, begins, states, group, grid=groups)
        finish_piece(source, table, begins, done, result, n, behind, shift, piece, grid=pieces)
        return begins, result

    return walk
