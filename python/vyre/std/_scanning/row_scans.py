"""The scan of tiles for devices that run a workgroup on one processor, for operators with an identity.

A workgroup has few invocations and goes through its tile in chunks, from the first to the last. An invocation scans
neighbours, and the first one scans what these come to: its operations are on words that all invocations share.
"""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
from typing import Any

import vyre
from vyre import In, Out, u32, vec4u32
from vyre.std._scanning.operators import Operator, of_vector, value_of
from vyre.std._scanning.reductions import ROW_TILE

__all__ = ["ROW_LANES", "ROW_VECTORS", "row_chunks", "scan_rows", "vector_of"]

ROW_LANES, ROW_VECTORS = 32, 2  # invocations, and the vectors of four words that each one scans in a turn


def row_chunks(element: Any) -> tuple[int, int]:
    """The vectors of a turn, and the turns of a tile of ROW_TILE elements."""
    chunk = ROW_LANES * ROW_VECTORS
    return chunk, ROW_TILE * element.min_bytes() // 16 // chunk


def vector_of(values: list[Any]) -> vec4u32:
    """The vector of four words that holds some elements."""
    if len(values) == 4:
        return vec4u32(*[u32(value) for value in values])
    return vec4u32(values[0].lo, values[0].hi, values[1].lo, values[1].hi)


@functools.cache
def scan_rows(op: Operator, inclusive: bool) -> Any:
    """The kernel that scans tiles of ROW_TILE; `before` has the results of all tiles up to each one."""
    element = op.element
    width = 16 // element.min_bytes()  # elements of a vector
    chunk, turns = row_chunks(element)

    @vyre.kernel(workgroup_size=ROW_LANES)
    def scan(x: In[vec4u32], before: In[element], y: Out[vec4u32]) -> None:
        t, tile = vyre.lid(0), vyre.wid(0)
        ends = vyre.shared(element, ROW_LANES + 1)
        identity = value_of(element, op.identity)
        carry = identity
        if tile > 0:
            carry = before[tile - 1]
        if t == 0:
            ends[ROW_LANES] = carry
        begin = tile * (turns * chunk)
        for turn in range(vyre.min((len(x) - begin + (chunk - 1)) // chunk, turns)):
            first = begin + turn * chunk + t * ROW_VECTORS
            loaded = [x[first + k] for k in vyre.unroll(range(ROW_VECTORS))]
            values = [value for four in loaded for value in of_vector(four, element)]
            run = values[0]
            runs = [run]
            for k in vyre.unroll(range(1, len(values))):
                run = op.combine(run, values[k])
                runs.append(run)
            ends[t] = run
            vyre.barrier()
            if t == 0:
                total = ends[ROW_LANES]
                for k in vyre.unroll(range(ROW_LANES)):
                    following = op.combine(total, ends[k])
                    ends[k] = total
                    total = following
                ends[ROW_LANES] = total
            vyre.barrier()
            start = ends[t]
            ran = [op.combine(start, run) for run in runs]
            out = ran if inclusive else [start, *ran[: len(values) - 1]]
            for k in vyre.unroll(range(ROW_VECTORS)):
                y[first + k] = vector_of(out[width * k : width * k + width])

    return scan
