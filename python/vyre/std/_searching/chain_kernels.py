"""Kernels that write matches where so many patterns begin at one place that no invocation can follow their chain.

One kernel follows the automaton as in ``find_kernels.py``, and notes for each place its first pattern and the place of
its first match among all matches. Then each match has an invocation of its own: the notes before it tell its place, and
skips along the chain lead to its pattern.
"""

from __future__ import annotations

import vyre
from vyre import In, InOut, Out, u32, vec4u32
from vyre.std._scanning.operators import operator_of
from vyre.std._scanning.scans import scanner
from vyre.std._searching.automaton import FOUND
from vyre.std._searching.find_kernels import LANES, bytes_backwards, share_classes

__all__ = ["spread"]

_ROW = FOUND - 1


@vyre.kernel(workgroup_size=LANES)
def note_places(
    text: In[vec4u32],
    classes: In[u32],
    table: In[u32],
    counts: In[u32],
    offsets: In[u32],
    notes: Out[u32],
    n: u32,
    piece: u32,
    lead: u32,
    stride: u32,
    limit: u32,
) -> None:
    """Note for each place with matches where its first match lies: the place, the first pattern, and where this is."""
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
                left -= table[(state & _ROW) + stride - 2]
                at = vyre.saturating_add(offsets[p], left)
                if at < limit:
                    notes[at] = at
                    notes[limit + at] = start
                    notes[2 * limit + at] = table[(state & _ROW) + stride - 1]


@vyre.kernel(workgroup_size=LANES)
def write_each(
    notes: In[u32], links: In[vec4u32], firsts: In[u32], total: In[u32], matches: InOut[u32], limit: u32
) -> None:
    """Write each match: `firsts` has for it the first match at the same place."""
    i = vyre.gid(0)
    if i < min(limit, total[0]):
        first = firsts[i]
        start = notes[limit + first]
        pattern = notes[2 * limit + first]
        link = links[pattern]
        wanted = i - first + 1  # how many patterns of the chain are left
        while link.z > wanted:
            skipped = links[link.w]
            if skipped.z >= wanted:
                pattern = link.w
                link = skipped
            else:
                pattern = link.x
                link = links[pattern]
        matches[3 * i] = start
        matches[3 * i + 1] = start + link.y
        matches[3 * i + 2] = pattern


@vyre.procedure(name="std.find.spread")
def spread(
    text: In[vec4u32],
    classes: In[u32],
    table: In[u32],
    links: In[vec4u32],
    counts: In[u32],
    offsets: In[u32],
    total: In[u32],
    n: u32,
    piece: u32,
    lead: u32,
    stride: u32,
    limit: u32,
) -> vyre.ProcedureArray:
    """The first `limit` matches, three words each."""
    notes = vyre.scratch(u32, limit * 3, zeros=True, name="notes")
    note_places(text, classes, table, counts, offsets, notes, n, piece, lead, stride, limit, grid=counts.length)
    firsts = scanner(operator_of("max", u32, None, "vyre.std.find"), True)(notes[:limit])
    matches = vyre.scratch(u32, limit * 3, zeros=True, name="matches")
    write_each(notes, links, firsts, total, matches, limit, grid=limit)
    return matches
