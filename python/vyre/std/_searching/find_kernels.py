"""Kernels that follow the automaton of ``automaton.py`` over a text: one counts matches, one writes them."""

from __future__ import annotations

from typing import Any

import vyre
from vyre import In, Out, u32, vec4u32
from vyre.std._calls.offsets import offsets_of
from vyre.std._searching.automaton import FOUND, NONE

__all__ = ["counted", "written"]

LANES = 128
_ROW = FOUND - 1


def bytes_backwards(vector: Any) -> list[Any]:
    """The 16 bytes of a vector, the last one first."""
    return [word >> shift & 255 for word in (vector.w, vector.z, vector.y, vector.x) for shift in (24, 16, 8, 0)]


def share_classes(classes: Any) -> Any:
    """The classes of bytes in workgroup memory."""
    shared = vyre.shared(u32, 256)
    for k in vyre.unroll(range(256 // LANES)):
        shared[k * LANES + vyre.lid(0)] = classes[k * LANES + vyre.lid(0)]
    vyre.barrier()
    return shared


@vyre.kernel(workgroup_size=LANES)
def count_matches(
    text: In[vec4u32], classes: In[u32], table: In[u32], counts: Out[u32], n: u32, piece: u32, lead: u32, stride: u32
) -> None:
    """Count the patterns that begin in each piece. `lead` vectors behind it are read to find the state at its end."""
    shared = share_classes(classes)
    first = vyre.gid(0) * piece
    stop = min(first + piece, len(text))
    j = min(stop + lead, len(text))
    state, total = vyre.u32(0), vyre.u32(0)
    while j > first:
        j -= 1
        found = vyre.u32(0)
        values = bytes_backwards(text[j])
        for k in vyre.unroll(range(16)):
            inside = j * 16 + (15 - k) < n
            state = table[(state & _ROW) + (shared[values[k]] if inside else stride - 3)]
            if state >= FOUND:
                found = vyre.saturating_add(found, table[(state & _ROW) + stride - 2])
        if j < stop:
            total = vyre.saturating_add(total, found)
    if vyre.gid(0) < len(counts):
        counts[vyre.gid(0)] = total


@vyre.kernel(workgroup_size=LANES)
def write_matches(
    text: In[vec4u32],
    classes: In[u32],
    table: In[u32],
    chains: In[u32],
    counts: In[u32],
    offsets: In[u32],
    matches: Out[u32],
    n: u32,
    piece: u32,
    lead: u32,
    stride: u32,
    limit: u32,
) -> None:
    """Write the patterns that begin in each piece. `chains` has the next pattern and the length of each."""
    shared = share_classes(classes)
    p = vyre.gid(0)
    first = p * piece
    stop = min(first + piece, len(text))
    j = min(stop + lead, len(text))
    state = vyre.u32(0)
    left = vyre.u32(0)
    if offsets[p] < limit:
        left = counts[p]
    while vyre.logical_and(j > first, left > 0):
        j -= 1
        values = bytes_backwards(text[j])
        for k in vyre.unroll(range(16)):
            start = j * 16 + (15 - k)
            state = table[(state & _ROW) + (shared[values[k]] if start < n else stride - 3)]
            if vyre.logical_and(state >= FOUND, j < stop):
                pattern = table[(state & _ROW) + stride - 1]
                while pattern != NONE:
                    left -= 1
                    at = vyre.saturating_add(offsets[p], left)
                    if at < limit:
                        matches[3 * at] = start
                        matches[3 * at + 1] = start + chains[2 * pattern + 1]
                        matches[3 * at + 2] = pattern
                    pattern = chains[2 * pattern]


@vyre.procedure(name="std.find.count")
def counted(
    text: In[vec4u32], classes: In[u32], table: In[u32], n: u32, piece: u32, lead: u32, stride: u32
) -> tuple[vyre.ProcedureArray, ...]:
    """How many matches begin in each piece of the text, how many before it, and all of them."""
    pieces = vyre.ceil_div(text.length, piece)
    counts = vyre.scratch(u32, pieces, name="counts")
    count_matches(text, classes, table, counts, n, piece, lead, stride, grid=pieces)
    offsets, total = offsets_of(counts)
    return counts, offsets, total


@vyre.procedure(name="std.find.write")
def written(
    text: In[vec4u32],
    classes: In[u32],
    table: In[u32],
    chains: In[u32],
    counts: In[u32],
    offsets: In[u32],
    n: u32,
    piece: u32,
    lead: u32,
    stride: u32,
    limit: u32,
) -> vyre.ProcedureArray:
    """The first `limit` matches, three words each."""
    matches = vyre.scratch(u32, limit * 3, zeros=True, name="matches")
    write_matches(
        text, classes, table, chains, counts, offsets, matches, n, piece, lead, stride, limit, grid=counts.length
    )
    return matches
