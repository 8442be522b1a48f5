"""Breadth-first search, level by level.

A frontier is a list of items, each some consecutive edges of a vertex that the level has reached. A workgroup takes as
many items as it has invocations, sums their edges, and gives each invocation an edge at a time, so that vertices with
many edges and with few are no matter. The number of items is the grid of the next level: levels behind the last have
an empty grid. The order of items varies between runs, and the levels do not.

Source: D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU graph traversal", 2012 (gathering by workgroups).
"""

from __future__ import annotations

from typing import Any

import vyre
from vyre import In, InOut, Out, u32

__all__ = ["UNREACHED", "begun", "continued", "most_items"]

UNREACHED = 2**32 - 1
LANES = 256
# The most edges of an item: a workgroup has no more turns than this for its items. In each turn an
# invocation may find a vertex that has several items, and then takes a further turn for every EXTRA of them: with 2^32
# edges that is up to 2^14 + (2^18 - 2^14) / EXTRA turns more. All together stay below 60,000; llvmpipe allows 65,535.
MOST = 1 << 14
EXTRA = 10
# expand_small takes frontiers of at most SMALL edges, and at most MOST_LEVELS levels at a time.
SMALL = 1024
MOST_LEVELS = 256


def most_items(vertices: int, edges: int) -> int:
    """How many items a frontier can have: each vertex joins one frontier at most."""
    return vertices + edges // MOST


def append(offsets: Any, vertex: Any, items: Any, counts: Any, slot: Any = 0) -> None:
    """Add the edges of a vertex to a frontier, whose items counts[slot] counts."""
    edge, end = offsets[vertex], offsets[vertex + 1]
    count = (end - edge + (MOST - 1)) // MOST
    if count > 0:
        at = counts.atomic_add(slot, count)
        items[2 * at] = edge
        items[2 * at + 1] = min(end - edge, MOST)
        for turn in range((count + (EXTRA - 2)) // EXTRA):
            for k in vyre.unroll(range(EXTRA)):
                item = turn * EXTRA + (k + 1)
                if item < count:
                    items[2 * (at + item)] = edge + item * MOST
                    items[2 * (at + item) + 1] = min(end - edge - item * MOST, MOST)


@vyre.kernel(workgroup_size=LANES)
def fill_levels(levels: Out[u32], source: u32) -> None:
    i = vyre.gid(0)
    if i < len(levels):
        levels[i] = vyre.select(i == source, 0, UNREACHED)


@vyre.kernel(workgroup_size=1)
def append_source(offsets: In[u32], items: InOut[u32], counts: InOut[u32], source: u32) -> None:
    append(offsets, source, items, counts)


@vyre.kernel(workgroup_size=LANES)
def begin_states(state: In[u32], even: Out[u32], middle: Out[u32], odd: Out[u32]) -> None:
    """The states before each of a batch's levels; the first goes on where the last batch has ended."""
    i = vyre.gid(0)
    value = vyre.select(vyre.logical_or(i % 4 == 1, i % 4 == 2), 1, 0)
    if i < len(odd):
        odd[i] = value
        middle[i] = value
    if i < len(even):
        if i < 4:
            value = state[i]
        even[i] = value


@vyre.kernel(workgroup_size=4)
def keep_state(last: In[u32], state: InOut[u32]) -> None:
    state[vyre.lid(0)] = last[vyre.lid(0)]


def sum_items(items: Any, count: Any, first: Any, firsts: Any, sums: Any) -> Any:
    """Take a workgroup's items, from `first` on, and sum their edges; gives where the sums begin in `sums`."""
    t = vyre.lid(0)
    length = vyre.u32(0)
    if first + t < count:
        firsts[t] = items[2 * (first + t)]
        length = items[2 * (first + t) + 1]
    total, side = length, 0
    for step in (1, 2, 4, 8, 16, 32, 64, 128):
        sums[side + t] = total
        vyre.barrier()
        if t >= step:
            total += sums[side + t - step]
        side = LANES - side
    sums[side + t] = total
    vyre.barrier()
    return side


def expand_items(
    offsets: Any,
    targets: Any,
    firsts: Any,
    sums: Any,
    side: Any,
    levels: Any,
    following: Any,
    counts: Any,
    slot: int,
    level: Any,
) -> None:
    """Reach the targets of a workgroup's items; those that are new join the frontier that follows."""
    total = sums[side + LANES - 1]
    for turn in range((total + (LANES - 1)) // LANES):
        edge = turn * LANES + vyre.lid(0)
        # The first item whose edges end behind this one.
        at = vyre.u32(0)
        for step in (128, 64, 32, 16, 8, 4, 2, 1):
            if sums[side + at + step - 1] <= edge:
                at += step
        if edge < total:
            offset = edge
            if at > 0:
                offset = edge - sums[side + at - 1]
            vertex = targets[firsts[at] + offset]
            if levels.atomic_compare_exchange(vertex, UNREACHED, level) == UNREACHED:
                append(offsets, vertex, following, counts, slot)


@vyre.kernel(workgroup_size=LANES)
def expand(
    offsets: In[u32],
    targets: In[u32],
    items: In[u32],
    before: In[u32],
    levels: InOut[u32],
    following: InOut[u32],
    after: InOut[u32],
) -> None:
    """One level, by as many workgroups as its frontier needs."""
    firsts, sums = vyre.shared(u32, LANES), vyre.shared(u32, 2 * LANES)
    side = sum_items(items, before[0], vyre.wid(0) * LANES, firsts, sums)
    expand_items(offsets, targets, firsts, sums, side, levels, following, after, 0, before[3] + 1)
    if vyre.gid(0) == 0:
        after[3] = before[3] + 1


@vyre.kernel(workgroup_size=LANES)
def expand_small(
    offsets: In[u32],
    targets: In[u32],
    before: In[u32],
    levels: InOut[u32],
    items: InOut[u32],
    following: InOut[u32],
    after: InOut[u32],
) -> None:
    """Levels by one workgroup, as long as their frontiers are small: a long path has very many of them.

    All invocations of a workgroup have to meet at a barrier, so the number of turns depends on `before` alone.
    """
    firsts, sums = vyre.shared(u32, LANES), vyre.shared(u32, 2 * LANES)
    counts = vyre.shared(u32, 2)  # of the frontier that follows, by the parity of its level
    t = vyre.lid(0)
    count, done = before[0], vyre.u32(0)
    pairs = vyre.select(vyre.logical_and(before[0] > 0, before[0] <= LANES), MOST_LEVELS // 2, 0)
    for _ in range(pairs):
        for parity, (a, b) in enumerate(((items, following), (following, items))):
            small = vyre.logical_and(done & 1 == parity, vyre.logical_and(count > 0, count <= LANES))
            side = sum_items(a, vyre.select(small, count, 0), vyre.u32(0), firsts, sums)
            small = vyre.logical_and(small, sums[side + LANES - 1] <= SMALL)
            if small:
                expand_items(offsets, targets, firsts, sums, side, levels, b, counts, parity, before[3] + done + 1)
            vyre.barrier()
            if small:
                count = counts[parity]
                done += 1
                if t == 0:
                    counts[1 - parity] = 0
            vyre.barrier()
    if done & 1:
        for k in range(t, 2 * count, LANES):
            items[k] = following[k]
    if t == 0:
        after[3] = before[3] + done
        after[0] = count


@vyre.procedure(name="std.bfs.begin")
def begun(offsets: In[u32], source: u32, most: u32) -> tuple[vyre.ProcedureArray, ...]:
    """Levels with the source alone, its frontier, and the state: the number of its items, 1, 1, and its level."""
    levels = vyre.scratch(u32, offsets.length - 1, name="levels")
    items = vyre.scratch(u32, most * 2, zeros=True, name="items")
    state = vyre.scratch(u32, 4, zeros=True, name="state")
    fill_levels(levels, source)
    append_source(offsets, items, state, source, grid=1)
    return levels, items, state


@vyre.procedure(name="std.bfs.continue")
def continued(
    offsets: In[u32], targets: In[u32], levels: InOut[u32], items: InOut[u32], state: InOut[u32], turns: u32
) -> tuple[vyre.ProcedureArray, ...]:
    """Some turns: the small frontiers that come next, and two of any size."""
    following = vyre.scratch(u32, items.length, zeros=True, name="following")
    # States: before a turn, behind its small frontiers, and behind the first level of any size.
    even = vyre.scratch(u32, turns * 4 + 4, name="even")
    middle, odd = vyre.scratch(u32, turns * 4, name="middle"), vyre.scratch(u32, turns * 4, name="odd")
    begin_states(state, even, middle, odd, grid=even.length)
    most = items.length // 2
    for turn in vyre.times(turns):
        a, b, c, d = (
            each[k : k + 4] for each, k in ((even, turn * 4), (middle, turn * 4), (odd, turn * 4), (even, turn * 4 + 4))
        )
        expand_small(offsets, targets, a, levels, items, following, b, workgroups=1)
        # A state has the grid of the next level, which counts its items in the state that follows.
        expand(offsets, targets, items, b, levels, following, c, grid=b[0:3], at_most=most)
        expand(offsets, targets, following, c, levels, items, d, grid=c[0:3], at_most=most)
    keep_state(even[turns * 4 : turns * 4 + 4], state, grid=4)
    return levels, items, state
