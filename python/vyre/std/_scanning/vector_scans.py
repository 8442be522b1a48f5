"""The scan of tiles by vectors of four words: for operators with an identity, on elements of 32 bits.

Neighbours load neighbouring vectors, so a tile has several rows of vectors. The result of each vector goes into
workgroup memory, where an invocation scans a few in a row; a scan over the invocations gives what comes before these.
"""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
from typing import Any

import vyre
from vyre import In, InOut, Out, vec4u32
from vyre.std._scanning.operators import Operator, value_of
from vyre.std._scanning.reductions import LANES

__all__ = ["TILE", "scan_rest", "scan_vectors", "scan_workgroup"]

ROWS = 4
TILE = 4 * LANES * ROWS


def scan_workgroup(op: Operator, sums: Any, value: Any, strides: tuple[int, ...] = (1, 4, 16, 64)) -> tuple[Any, Any]:
    """What the values of the invocations before this one combine to, and those of the whole workgroup.

    Args:
        sums: two elements of the workgroup's memory for each invocation.
        strides: of the steps, powers of a number. Four steps of three neighbours have fewer barriers than eight of one,
            which combine less.
    """
    t = vyre.lid(0)
    total = value
    side = 0
    for stride in strides:
        sums[side + t] = total
        vyre.barrier()
        for j in vyre.unroll(range(1, strides[1])):
            if t >= stride * j:
                total = op.combine(sums[side + t - stride * j], total)
        side = LANES - side
    sums[side + t] = total
    vyre.barrier()
    before = value_of(op.element, op.identity)
    if t > 0:
        before = sums[side + t - 1]
    return before, sums[side + LANES - 1]


@functools.cache
def scan_vectors(op: Operator, inclusive: bool) -> Any:
    """The kernel that scans tiles; `before` has the results of all tiles up to each one, its own included."""
    element = op.element

    @vyre.kernel(workgroup_size=LANES)
    def scan(x: In[vec4u32], before: In[element], y: Out[vec4u32]) -> None:
        t, tile = vyre.lid(0), vyre.wid(0)
        ends = vyre.shared(element, LANES * ROWS)
        sums = vyre.shared(element, 2 * LANES)
        identity = value_of(element, op.identity)
        carry = identity
        if tile > 0:
            carry = before[tile - 1]
        first = tile * (ROWS * LANES) + t
        loaded = [x[first + LANES * r] for r in vyre.unroll(range(ROWS))]
        runs = []
        for r in vyre.unroll(range(ROWS)):
            four = [element(loaded[r].x), element(loaded[r].y), element(loaded[r].z), element(loaded[r].w)]
            run = [four[0]]
            for j in vyre.unroll(range(1, 4)):
                run.append(op.combine(run[j - 1], four[j]))
            runs.append(run)
            ends[r * LANES + t] = run[3]
        vyre.barrier()
        own = [ends[t * ROWS + j] for j in vyre.unroll(range(ROWS))]
        total = own[0]
        for j in vyre.unroll(range(1, ROWS)):
            total = op.combine(total, own[j])
        before_own, _ = scan_workgroup(op, sums, total)
        prefix = op.combine(carry, before_own)
        for j in vyre.unroll(range(ROWS)):
            ends[t * ROWS + j] = prefix
            prefix = op.combine(prefix, own[j])
        vyre.barrier()
        for r in vyre.unroll(range(ROWS)):
            start = ends[r * LANES + t]
            ran = [op.combine(start, runs[r][j]) for j in vyre.unroll(range(4))]
            out = ran if inclusive else [start, ran[0], ran[1], ran[2]]
            y[first + LANES * r] = vyre.vec4u32(*[vyre.u32(each) for each in out])

    return scan


@functools.cache
def scan_rest(op: Operator, inclusive: bool) -> Any:
    """The kernel that scans the last elements, which are no whole vector, after all others."""
    element = op.element

    @vyre.kernel(workgroup_size=1)
    def scan(x: In[element], y: InOut[element]) -> None:
        n = len(x)
        width = 16 // element.min_bytes()
        first = n // width * width
        run = value_of(element, op.identity)
        if first > 0:
            run = y[first - 1]
            if not inclusive:
                run = op.combine(run, x[first - 1])
        for i in range(first, n):
            following = op.combine(run, x[i])
            y[i] = following if inclusive else run
            run = following

    return scan
