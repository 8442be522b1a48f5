"""Where the results of each part of a computation begin: sums of counts, for writing after counting.

Sums saturate at 2^32 - 1, so that a total of 2^32 - 1 says that there are as many or more.
"""

from __future__ import annotations

import vyre
from vyre import In, Out, u32
from vyre.std._scanning.operators import Operator
from vyre.std._scanning.scans import scanner

__all__ = ["MOST", "offsets_of"]

# A total that may be too small.
MOST = 2**32 - 1


_SUM = Operator("saturating_add", u32, vyre.saturating_add, 0, True)


@vyre.kernel(workgroup_size=1)
def add_last(offsets: In[u32], counts: In[u32], total: Out[u32]) -> None:
    """The sum of all counts; beyond an array of none are zeros."""
    last = len(counts) - 1
    total[0] = vyre.saturating_add(offsets[last], counts[last])


@vyre.procedure(name="std.offsets")
def offsets_of(counts: In[u32]) -> tuple[vyre.ProcedureArray, ...]:
    """The sum before each element, and the sum of all."""
    offsets, total = scanner(_SUM, False)(counts), vyre.scratch(u32, 1, name="total")
    add_last(offsets, counts, total)
    return offsets, total
