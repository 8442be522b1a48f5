"""The scan of tiles for devices that run a workgroup on one processor, for operators with an identity.

A workgroup has few invocations and goes through its tile in chunks, from the first to the last. An invocation scans
neighbours, and the first one scans what these come to: its operations are on words that all invocations share.
"""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
from typing import Any

import vyre
from vyre import In, Out, vec4u32
from vyre.std._scanning.operators import Operator, value_of
from vyre.std._scanning.reductions import ROW_TILE

__all__ = ["scan_rows"]

_LANES, _EACH = 32, 2  # invocations, and the vectors of four words that each one scans in a turn


@functools.cache
def scan_rows(op: Operator, inclusive: bool) -> Any:
    """The kernel that scans tiles of ROW_TILE; `before` has the results of all tiles up to each one."""
    element = op.element
    chunk = _LANES * _EACH  # vectors

    @vyre.kernel(workgroup_size=_LANES)
    def scan(x: In[vec4u32], before: In[element], y: Out[vec4u32]) -> None:
        t, tile = vyre.lid(0), vyre.wid(0)
        ends = vyre.shared(element, _LANES + 1)
        identity = value_of(element, op.identity)
        carry = identity
        if tile > 0:
            carry = before[tile - 1]
        if t == 0:
            ends[_LANES] = carry
        begin = tile * (ROW_TILE // 4)
        for turn in range(vyre.min((len(x) - begin + (chunk - 1)) // chunk, ROW_TILE // 4 // chunk)):
            first = begin + turn * chunk + t * _EACH
            loaded = [x[first + k] for k in vyre.unroll(range(_EACH))]
            words = [[element(each.x), element(each.y), element(each.z), element(each.w)] for each in loaded]
            run = words[0][0]
            runs = [run]
            for k in vyre.unroll(range(1, 4 * _EACH)):
                run = op.combine(run, words[k // 4][k % 4])
                runs.append(run)
            ends[t] = run
            vyre.barrier()
            if t == 0:
                total = ends[_LANES]
                for k in vyre.unroll(range(_LANES)):
                    following = op.combine(total, ends[k])
                    ends[k] = total
                    total = following
                ends[_LANES] = total
            vyre.barrier()
            start = ends[t]
            ran = [op.combine(start, each) for each in runs]
            out = ran if inclusive else [start, *ran[: 4 * _EACH - 1]]
            for k in vyre.unroll(range(_EACH)):
                y[first + k] = vec4u32(*[vyre.u32(out[4 * k + j]) for j in vyre.unroll(range(4))])

    return scan
