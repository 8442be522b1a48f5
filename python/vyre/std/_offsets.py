"""Where the results of each part of a computation begin: sums of counts, for writing after counting.

Sums saturate at 2^32 - 1, so that a total of 2^32 - 1 says that there are as many or more.
"""

from __future__ import annotations

from typing import Any

import vyre
from vyre import In, InOut, Out, u32

__all__ = ["MOST", "offsets_of"]

LANES, EACH = 256, 4
BLOCK = LANES * EACH
# A total that may be too small.
MOST = 2**32 - 1


@vyre.kernel(workgroup_size=LANES)
def scan_blocks(counts: In[u32], offsets: Out[u32], totals: Out[u32]):
    """Write the sum before each element of a block, and the block's total."""
    t, first = vyre.lid(0), vyre.gid(0) * EACH
    sums = vyre.shared(u32, 2 * LANES)
    own = [counts[first + k] for k in vyre.unroll(range(EACH))]
    mine = own[0]
    for k in vyre.unroll(range(1, EACH)):
        mine = vyre.saturating_add(mine, own[k])
    total, side = mine, 0
    for step in (1, 2, 4, 8, 16, 32, 64, 128):
        sums[side + t] = total
        vyre.barrier()
        if t >= step:
            total = vyre.saturating_add(sums[side + t - step], total)
        side = LANES - side
    sums[side + t] = total
    vyre.barrier()
    before = vyre.u32(0)
    if t > 0:
        before = sums[side + t - 1]
    for k in vyre.unroll(range(EACH)):
        if first + k < len(offsets):
            offsets[first + k] = before
        before = vyre.saturating_add(before, own[k])
    if t == LANES - 1:
        totals[vyre.wid(0)] = total


@vyre.kernel(workgroup_size=LANES)
def add_blocks(before: In[u32], offsets: InOut[u32]):
    """Add the sum before each block to its elements."""
    i = vyre.gid(0)
    if i < len(offsets):
        offsets[i] = vyre.saturating_add(offsets[i], before[i // BLOCK])


def _make(levels: int) -> Any:
    inner = _make(levels - 1) if levels else None

    @vyre.procedure(name=f"std.offsets{levels}")
    def offsets_of(counts: In[u32]):
        n = counts.length
        blocks = vyre.ceil_div(n, BLOCK)
        offsets = vyre.scratch(u32, n, name="offsets")
        total = vyre.scratch(u32, 1, zeros=True, name="total")
        if inner is None:
            scan_blocks(counts, offsets, total, workgroups=blocks)
            return offsets, total
        with vyre.when(blocks <= 1):
            scan_blocks(counts, offsets, total, workgroups=blocks)
        with vyre.otherwise():
            totals = vyre.scratch(u32, blocks, name="totals")
            before = vyre.scratch(u32, blocks, name="before")
            scan_blocks(counts, offsets, totals, workgroups=blocks)
            inner(totals, out=(before, total))
            add_blocks(before, offsets, grid=n)
        return offsets, total

    return offsets_of


# Three levels above the blocks: for up to 2^32 - 1 counts.
offsets_of = _make(3)
