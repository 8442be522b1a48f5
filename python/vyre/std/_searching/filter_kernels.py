"""Kernels that let a filter choose places of a text, and follow the trie of ``automaton.py`` from these.

A place passes if the hashes of the bytes there and a little further on are those of patterns. All places are looked at
alike, and the few that pass take longer: at most as many steps as the longest pattern has bytes.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import vyre
from vyre import In, Out, u32, vec4u32
from vyre.std._calls.offsets import offsets_of
from vyre.std._searching.automaton import FILTER_SHARE, FILTER_WORDS, FOUND, HASH, NONE

__all__ = ["MOST_UNITS", "UNIT", "filtered_matches", "filtering"]

LANES = 256
# An invocation looks at units of 32 bytes, which have a bit each in one word, and takes at most
# MOST_UNITS of them.
UNIT, MOST_UNITS = 32, 8
MOST_SECOND = 4  # places behind a unit that the filter looks at
_ROW = FOUND - 1


def passing(text: Any, filter: Any, unit: Any, mask: Any, second: Any) -> Any:
    """The places of a unit that pass, as bits.

    Without a mask the hashes are those of whole words.
    """
    a, b, c = text[2 * unit], text[2 * unit + 1], text[2 * unit + 2]
    words = [a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y]
    # The bit of a place enters a word from above, in one operation: here are the places of the unit, then some more.
    here, behind = vyre.u32(0), vyre.u32(0)
    for k in vyre.unroll(range(UNIT + MOST_SECOND)):
        word, shift = words[k // 4], k % 4 * 8
        if shift:
            word = word >> shift | words[k // 4 + 1] << 32 - shift
        if mask is not None:
            word = word & mask
        bit = filter[word * HASH // FILTER_SHARE] >> (word & 31)
        if k < UNIT:
            here = here >> 1 | bit << 31
        else:
            behind = behind >> 1 | bit << 31
    behind = behind >> 32 - MOST_SECOND
    # With `second` 0 the shift by 32 is none, and lets more places through than it has to.
    return here & (here >> second | behind << 32 - second)


def following_entry(words: Any, classes: Any, table: Any, entry: Any, at: Any) -> Any:
    """The entry behind one for a byte of the text; 0 where no pattern goes on."""
    return table[(entry & _ROW) + classes[words[at >> 2] >> (at & 3) * 8 & 255]]


def count_at(words: Any, classes: Any, table: Any, stride: Any, n: Any, start: Any) -> Any:
    """How many patterns begin at a place."""
    count, at = vyre.u32(0), start
    entry = vyre.u32(0)
    going = at < n
    while going:
        entry = following_entry(words, classes, table, entry, at)
        at += 1
        if entry >= FOUND:
            count = vyre.saturating_add(count, table[(entry & _ROW) + stride - 2])
        going = vyre.logical_and(entry != 0, at < n)
    return count


@cache
def looker(whole: bool) -> Any:
    """The kernel that looks for matches; `whole` says that the filter looks at whole words, and needs no mask."""

    @vyre.kernel(workgroup_size=LANES)
    def look_for_matches(
        text: In[vec4u32],
        words: In[u32],
        filter: In[u32],
        classes: In[u32],
        table: In[u32],
        begins: Out[u32],
        counts: Out[u32],
        n: u32,
        stride: u32,
        mask: u32,
        second: u32,
        units: u32,
    ) -> None:
        """Mark the places where patterns begin, and count the patterns of each workgroup.

        Behind the marks of all units stands for each workgroup whether several patterns begin at one of its places.
        """
        shared, total = vyre.shared(u32, FILTER_WORDS), vyre.shared(u32, 3)
        all_units = (len(text) + 1) >> 1
        t, tile = vyre.lid(0), vyre.wid(0)
        for k in vyre.unroll(range(FILTER_WORDS // LANES)):
            shared[k * LANES + t] = filter[k * LANES + t]
        vyre.barrier()
        mine, most = vyre.u32(0), vyre.u32(0)
        for k in range(units):
            unit = (tile * units + k) * LANES + t
            if unit < all_units:
                found, real = passing(text, shared, unit, None if whole else mask, second), vyre.u32(0)
                while found != 0:
                    low = vyre.ctz(found)
                    found &= found - 1
                    count = count_at(words, classes, table, stride, n, unit * UNIT + low)
                    if count > 0:
                        real |= vyre.u32(1) << low
                        mine = vyre.saturating_add(mine, count)
                        most = max(most, count)
                begins[unit] = real
        # Two halves, so that the sum of a workgroup does not wrap around.
        total.atomic_add(0, mine & 0xFFFF)
        total.atomic_add(1, mine >> 16)
        if most > 1:
            total.atomic_or_(2, 1)
        vyre.barrier()
        if t == 0:
            begins[all_units + tile] = total[2]
            high = total[1] + (total[0] >> 16)
            counts[tile] = vyre.select(high >> 16 != 0, 2**32 - 1, high << 16 | total[0] & 0xFFFF)

    return look_for_matches


@vyre.kernel(workgroup_size=LANES)
def write_found(
    words: In[u32],
    classes: In[u32],
    table: In[u32],
    chains: In[u32],
    begins: In[u32],
    offsets: In[u32],
    matches: Out[u32],
    n: u32,
    stride: u32,
    units: u32,
    limit: u32,
) -> None:
    """Write the patterns that begin at the marked places of each workgroup."""
    sums = vyre.shared(u32, 2 * LANES)
    t, tile = vyre.lid(0), vyre.wid(0)
    all_units = len(begins) - len(offsets)
    first = (tile * LANES + t) * units
    last = min(first + units, all_units)
    mine = vyre.u32(0)
    if offsets[tile] < limit:
        if begins[all_units + tile] != 0:
            for unit in range(first, last):
                found = begins[unit]
                while found != 0:
                    start = unit * UNIT + vyre.ctz(found)
                    found &= found - 1
                    mine = vyre.saturating_add(mine, count_at(words, classes, table, stride, n, start))
        else:
            # The loads stand in a row, so that they wait for memory together.
            marks = [begins[first + k] for k in vyre.unroll(range(MOST_UNITS))]
            for k in vyre.unroll(range(MOST_UNITS)):
                mine += vyre.popcount(marks[k] if first + k < last else 0)
    total, side = mine, 0
    for step in (1, 2, 4, 8, 16, 32, 64, 128):
        sums[side + t] = total
        vyre.barrier()
        if t >= step:
            total = vyre.saturating_add(sums[side + t - step], total)
        side = LANES - side
    sums[side + t] = total
    vyre.barrier()
    slot = offsets[tile]
    if t > 0:
        slot = vyre.saturating_add(slot, sums[side + t - 1])
    # One loop over the places, not one for each unit: the invocations of a subgroup follow the trie at once.
    unit, found = first, vyre.u32(0)
    end = min(vyre.saturating_add(slot, mine), limit)
    while slot < end:
        while vyre.logical_and(found == 0, unit < last):
            found = begins[unit]
            unit += 1
        if found == 0:  # the text has changed since its matches were counted
            break
        place = (unit - 1) * UNIT + vyre.ctz(found)
        found &= found - 1
        at, entry = place, vyre.u32(0)
        going = at < n
        while going:
            entry = following_entry(words, classes, table, entry, at)
            at += 1
            if entry >= FOUND:
                pattern = table[(entry & _ROW) + stride - 1]
                while vyre.logical_and(pattern != NONE, slot < end):
                    matches[3 * slot] = place
                    matches[3 * slot + 1] = at
                    matches[3 * slot + 2] = pattern
                    slot += 1
                    pattern = chains[2 * pattern]
            going = vyre.logical_and(entry != 0, at < n)


@cache
def filtering(whole: bool) -> Any:
    """The procedure that looks for matches; `whole` says that the filter looks at whole words."""

    @vyre.procedure(name="std.find.filter_whole" if whole else "std.find.filter")
    def filtered(
        text: In[vec4u32],
        filter: In[u32],
        classes: In[u32],
        table: In[u32],
        n: u32,
        stride: u32,
        mask: u32,
        second: u32,
        units: u32,
    ) -> tuple[vyre.ProcedureArray, ...]:
        """Mark where patterns begin, and count the matches before each workgroup's and all of them.

        The marks have a bit for each place, and a word for each workgroup behind these.
        """
        count = vyre.ceil_div(text.length, 2)
        tiles = vyre.ceil_div(count, units * LANES)
        begins, counts = vyre.scratch(u32, count + tiles, name="begins"), vyre.scratch(u32, tiles, name="counts")
        words = text.view(u32)
        looker(whole)(
            text, words, filter, classes, table, begins, counts, n, stride, mask, second, units, workgroups=tiles
        )
        offsets, total = offsets_of(counts)
        return begins, offsets, total

    return filtered


@vyre.procedure(name="std.find.filter_write")
def filtered_matches(
    text: In[vec4u32],
    classes: In[u32],
    table: In[u32],
    chains: In[u32],
    begins: In[u32],
    offsets: In[u32],
    n: u32,
    stride: u32,
    units: u32,
    limit: u32,
) -> vyre.ProcedureArray:
    """The first `limit` matches, three words each."""
    matches = vyre.scratch(u32, limit * 3, zeros=True, name="matches")
    write_found(
        text.view(u32),
        classes,
        table,
        chains,
        begins,
        offsets,
        matches,
        n,
        stride,
        units,
        limit,
        workgroups=offsets.length,
    )
    return matches
