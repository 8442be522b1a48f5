"""Connected components by hooking and shortcutting: every vertex has a parent, in the end the least of its component.

A round takes the grandparents of all vertices, and gives both ends of each edge, and the parents of both, the smaller
grandparent. Each reads what the round before has left, so that the rounds are the same on every device. When a round
leaves the grandparents as they were, each vertex has the least of its component: no edge joins two of them, and a
parent is never larger than its child. The rounds behind that one have empty grids.

Source: Y. Zhang, A. Azad, Z. Hu, "FastSV: a distributed-memory connected component algorithm with fast convergence",
2020.
"""

from __future__ import annotations

import vyre
from vyre import In, InOut, Out, u32
from vyre._procedure.vouched import vouched
from vyre.std._graphs.csr import sources_of

__all__ = ["begun", "continued"]

LANES = 256


@vyre.kernel(workgroup_size=LANES)
def fill_parents(parents: Out[u32], grandparents: Out[u32]) -> None:
    """Every vertex is its own parent; no grandparents yet, so that the first round finds them changed."""
    i = vyre.gid(0)
    if i < len(parents):
        parents[i] = i
        grandparents[i] = 2**32 - 1


@vyre.kernel(workgroup_size=LANES)
def begin_grids(active: In[u32], even: Out[u32], odd: Out[u32]) -> None:
    """Before and behind each round: how many vertices and how many edges take part, each with 1 and 1."""
    i = vyre.gid(0)
    value = vyre.select(i % 3 == 0, 0, 1)
    if i < len(odd):
        odd[i] = value
    if i < len(even):
        if i < 6:
            value = active[i]
        even[i] = value


@vyre.kernel(workgroup_size=LANES)
def take_grandparents(
    parents: In[u32],
    before: In[u32],
    hooked: Out[u32],
    grandparents: Out[u32],
    grids: InOut[u32],
    edges: u32,
) -> None:
    """The grandparents, which the next parents begin as; and the grids of what follows if they have changed."""
    changed = vyre.shared(u32, 1)
    i, n = vyre.gid(0), len(parents)
    if i < n:
        found = parents[parents[i]]
        grandparents[i] = found
        hooked[i] = found
        if found != before[i]:
            changed.atomic_max(0, 1)
    vyre.barrier()
    if vyre.logical_and(vyre.lid(0) == 0, changed[0] != 0):
        grids.atomic_max(0, n)
        grids.atomic_max(3, edges)


@vyre.kernel(workgroup_size=LANES)
def hook(sources: In[u32], targets: In[u32], parents: In[u32], grandparents: In[u32], hooked: InOut[u32]) -> None:
    """Give the ends of an edge, and the parent of the one with the larger grandparent, the smaller grandparent."""
    edge = vyre.gid(0)
    if edge < len(targets):
        u, v = sources[edge], targets[edge]
        a, b = grandparents[u], grandparents[v]
        if a != b:
            large = vyre.select(a < b, v, u)
            hooked.atomic_min(large, min(a, b))
            hooked.atomic_min(parents[large], min(a, b))


@vyre.procedure(name="std.components.begin")
def begun(offsets: In[u32], edges: u32) -> tuple[vyre.ProcedureArray, ...]:
    """Sources of the edges, parents, grandparents, and the grids of the first round."""
    n = offsets.length - 1
    sources = vyre.scratch(u32, edges, name="sources")
    parents, grandparents = vyre.scratch(u32, n, name="parents"), vyre.scratch(u32, n, name="grandparents")
    active = vyre.scratch(u32, 6, name="active")
    sources_of(offsets, sources)
    fill_parents(parents, grandparents)
    begin_active(active, n, edges)
    return sources, parents, grandparents, active


@vyre.kernel(workgroup_size=LANES)
def begin_active(active: Out[u32], vertices: u32, edges: u32) -> None:
    i = vyre.gid(0)
    if i < 6:
        active[i] = vyre.select(i == 0, vertices, vyre.select(i == 3, edges, 1))


@vyre.kernel(workgroup_size=LANES)
def keep_active(last: In[u32], active: InOut[u32]) -> None:
    i = vyre.gid(0)
    if i < 6:
        active[i] = last[i]


@vouched
@vyre.procedure(name="std.components.continue")
def continued(
    sources: In[u32],
    targets: In[u32],
    parents: InOut[u32],
    grandparents: InOut[u32],
    active: InOut[u32],
    turns: u32,
) -> tuple[vyre.ProcedureArray, ...]:
    """Twice `turns` rounds."""
    n, edges = parents.length, targets.length
    hooked, others = vyre.scratch(u32, n, name="hooked"), vyre.scratch(u32, n, name="others")
    even, odd = vyre.scratch(u32, turns * 6 + 6, name="even"), vyre.scratch(u32, turns * 6, name="odd")
    begin_grids(active, even, odd, grid=even.length)
    for turn in vyre.times(turns):
        a, b, c = even[turn * 6 : turn * 6 + 6], odd[turn * 6 : turn * 6 + 6], even[turn * 6 + 6 : turn * 6 + 12]
        take_grandparents(parents, grandparents, hooked, others, b, edges, grid=a[0:3], at_most=n)
        hook(sources, targets, parents, others, hooked, grid=b[3:6], at_most=edges)
        take_grandparents(hooked, others, parents, grandparents, c, edges, grid=b[0:3], at_most=n)
        hook(sources, targets, hooked, grandparents, parents, grid=c[3:6], at_most=edges)
    keep_active(even[turns * 6 : turns * 6 + 6], active)
    return parents, grandparents, active
