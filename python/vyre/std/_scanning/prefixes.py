"""Prefix combinations for the codecs: what all elements before one combine to, by any associative operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import vyre
from vyre import In, InOut, Out, u32

__all__ = ["LANES", "make_scan", "scan_workgroup"]

LANES = 256  # invocations of a workgroup
_EACH = 4  # elements of an invocation
_BLOCK = LANES * _EACH
_LEVELS = 3  # blocks of blocks of blocks: 2^30 elements


def scan_workgroup(value: Any, partial: Any, combine: Callable[[Any, Any], Any]) -> tuple[u32, u32]:
    """What the values before an invocation's combine to, and those of the whole workgroup; 0 has to be the identity.

    Args:
        partial: 2 * LANES words of the workgroup, which no invocation reads any more.
    """
    t = vyre.lid(0)
    partial[t] = value
    vyre.barrier()
    base = u32(0)
    for step in (1, 2, 4, 8, 16, 32, 64, 128):
        if t >= step:
            value = combine(partial[base + t - step], value)
        base = LANES - base
        partial[base + t] = value
        vyre.barrier()
    before = u32(0)
    if t > 0:
        before = partial[base + t - 1]
    return before, partial[base + LANES - 1]


def make_scan(name: str, combine: Callable[[Any, Any], Any], levels: int = _LEVELS) -> Any:
    """A procedure that gives for n words n + 1: what the words before each position combine to; 0 is the identity."""
    inner = make_scan(name, combine, levels - 1) if levels > 1 else None

    @vyre.kernel(workgroup_size=LANES)
    def scan_blocks(x: In[u32], y: Out[u32], totals: Out[u32]) -> None:
        partial = vyre.shared(u32, 2 * LANES)
        first = vyre.wid(0) * _BLOCK + vyre.lid(0) * _EACH
        own = [x[first + k] for k in range(_EACH)]
        value = own[0]
        for k in (1, 2, 3):
            value = combine(value, own[k])
        before, total = scan_workgroup(value, partial, combine)
        for k in vyre.unroll(range(_EACH)):
            y[first + k] = before
            before = combine(before, own[k])
        if vyre.lid(0) == 0:
            totals[vyre.wid(0)] = total

    @vyre.kernel(workgroup_size=LANES)
    def add_blocks(offsets: In[u32], y: InOut[u32]) -> None:
        i = vyre.gid(0)
        if i < len(y):
            y[i] = combine(offsets[i // _BLOCK], y[i])

    @vyre.procedure(name=f"std.{name}{levels}")
    def scan(x: In[u32]) -> vyre.ProcedureArray:
        blocks = vyre.ceil_div(x.length + 1, _BLOCK)
        y = vyre.scratch(u32, x.length + 1, name="y")
        totals = vyre.scratch(u32, blocks, name="totals")
        scan_blocks(x, y, totals, workgroups=blocks)
        if inner is not None:
            with vyre.when(blocks > 1):
                add_blocks(inner(totals), y, grid=x.length + 1)
        return y

    return scan
