"""PageRank in fixed point: ranks are u32, in units of 2^-32, and every division rounds down.

With `d` = floor(damping * 2^32) and n vertices,

    rank[v] = floor((2^32 - 1) / n)                                                    in the beginning
    share[u] = floor(rank[u] / edges of u), lost = the sum of rank[u] over all u without edges
    rank[v] = floor((2^32 - d) / n) + floor(d * (the sum of share[u] over edges u to v + floor(lost / n)) / 2^32)

in each round; for one vertex the first term of the last line is at most 2^32 - 1 as well. The ranks never sum up to
more than 2^32 - 1, so that no sum overflows and the order of additions has no effect.

Source: L. Page, S. Brin, R. Motwani, T. Winograd, "The PageRank citation ranking: bringing order to the web", 1999.
"""

from __future__ import annotations

import vyre
from vyre import In, InOut, Out, u32
from vyre.std._graphs.csr import sources_of

__all__ = ["ranked"]

LANES = 256


@vyre.kernel(workgroup_size=LANES)
def fill_ranks(ranks: Out[u32], start: u32) -> None:
    i = vyre.gid(0)
    if i < len(ranks):
        ranks[i] = start


@vyre.kernel(workgroup_size=LANES)
def divide_ranks(offsets: In[u32], ranks: In[u32], shares: Out[u32], sums: Out[u32], lost: InOut[u32]) -> None:
    """What each edge of a vertex carries; and zeros for the sums of the next step."""
    here = vyre.shared(u32, 1)
    i = vyre.gid(0)
    if i < len(ranks):
        edges = offsets[i + 1] - offsets[i]
        shares[i] = ranks[i] // edges
        sums[i] = 0
        if edges == 0:
            here.atomic_add(0, ranks[i])
    vyre.barrier()
    if vyre.logical_and(vyre.lid(0) == 0, here[0] != 0):
        lost.atomic_add(0, here[0])


@vyre.kernel(workgroup_size=LANES)
def add_shares(sources: In[u32], targets: In[u32], shares: In[u32], sums: InOut[u32]) -> None:
    edge = vyre.gid(0)
    if edge < len(targets):
        share = shares[sources[edge]]
        if share != 0:
            sums.atomic_add(targets[edge], share)


@vyre.kernel(workgroup_size=LANES)
def damp_ranks(sums: In[u32], lost: In[u32], ranks: Out[u32], base: u32, damping: u32) -> None:
    i = vyre.gid(0)
    if i < len(ranks):
        ranks[i] = base + vyre.mulhi(damping, sums[i] + lost[0] // len(ranks))


@vyre.procedure(name="std.pagerank")
def ranked(offsets: In[u32], targets: In[u32], rounds: u32, damping: u32) -> vyre.ProcedureArray:
    n = offsets.length - 1
    ranks, shares = vyre.scratch(u32, n, name="ranks"), vyre.scratch(u32, n, name="shares")
    sums, lost = vyre.scratch(u32, n, name="sums"), vyre.scratch(u32, 1, name="lost")
    sources = vyre.scratch(u32, targets.length, name="sources")
    vertices = vyre.size_max(n, 1)
    base = vyre.size_min((2**32 - damping) // vertices, 2**32 - 1)
    sources_of(offsets, sources)
    fill_ranks(ranks, (2**32 - 1) // vertices)
    for _ in vyre.times(rounds):
        vyre.clear(lost)
        divide_ranks(offsets, ranks, shares, sums, lost, grid=n)
        add_shares(sources, targets, shares, sums, grid=targets.length)
        damp_ranks(sums, lost, ranks, base, damping)
    return ranks
