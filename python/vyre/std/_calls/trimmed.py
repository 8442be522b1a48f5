"""Results whose bytes are no whole words."""

from __future__ import annotations

import vyre
from vyre import In, Out, u8, u32

__all__ = ["trimmed"]


@vyre.kernel
def trim(rows: In[u8], wide: u32, narrow: u32, output: Out[u8]) -> None:
    i = vyre.gid(0)
    if i < len(output):
        output[i] = u32(rows[i // narrow * wide + i % narrow])


@vyre.procedure(name="std.trimmed")
def trimmed(rows: In[u32], wide: u32, narrow: u32) -> vyre.ProcedureArray:
    """Keep the first ``narrow`` of each ``wide`` bytes of words."""
    output = vyre.scratch(u8, rows.length * 4 // wide * narrow, name="output")
    trim(rows.view(u8), wide, narrow, output)
    return output
