"""Kernels and procedures of scans that begin anew in each segment: reduce, then scan, of values with a mark.

The first element of each segment has a bit. A pair of a value and whether a segment begins combines with the pair
before it: where a segment begins, what comes before is dropped. That is associative, so that tiles are reduced to
pairs, and the pairs are scanned like elements of segments again. The first element of all begins a segment, so that
nothing needs an identity.

A device that runs a workgroup on one processor scans tiles row after row, as scan_rows does.
"""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
from typing import Any

import vyre
from vyre import In, InOut, Out, u32, vec4u32
from vyre.std._scanning.operators import Operator, of_vector, value_of
from vyre.std._scanning.reductions import LANES, ROW_TILE, by_rows
from vyre.std._scanning.row_scans import ROW_LANES, ROW_VECTORS, row_chunks, vector_of
from vyre.std._scanning.scans import each_of

__all__ = ["segmented_reducer", "segmented_scanner"]


@vyre.kernel(workgroup_size=256)
def _mark_heads(offsets: In[u32], heads: InOut[u32], n: u32) -> None:
    """Set the bits of the elements with which segments begin; the last offset is an end."""
    i = vyre.gid(0)
    if i == 0 and n > 0:
        heads.atomic_or_(0, 1)
    if i < len(offsets):
        at = offsets[i]
        if at < n:
            heads.atomic_or_(at // 32, vyre.u32(1) << at % 32)


def _loaded(op: Operator, each: int, rows: Any, x: Any, heads: Any) -> tuple[Any, Any]:
    """An invocation's neighbours, and a bit for each that begins a segment."""
    t = vyre.lid(0)
    first = vyre.wid(0) * (LANES * each)
    loaded = [x[first + t + LANES * j] for j in vyre.unroll(range(each))]
    for j in vyre.unroll(range(each)):
        at = t + LANES * j
        rows[at + at // 32] = loaded[j]
    own = first + t * each
    bits = heads[own // 32] >> own % 32 & ((1 << each) - 1)
    vyre.barrier()
    return [rows[t * each + j + (t * each + j) // 32] for j in vyre.unroll(range(each))], bits


def _runs(op: Operator, each: int, own: Any, bits: Any) -> Any:
    """The scan of an invocation's own elements."""
    runs = [own[0]]
    for j in vyre.unroll(range(1, each)):
        run = own[j]
        if bits >> j & 1 == 0:
            run = op.combine(runs[j - 1], run)
        runs.append(run)
    return runs


def _scanned_pairs(op: Operator, total: Any, marked: Any, sums: Any, marks: Any) -> Any:
    """Scan one pair of each invocation; gives which half of `sums` and `marks` has the results."""
    t = vyre.lid(0)
    side = 0
    for step in (1, 2, 4, 8, 16, 32, 64, 128):
        sums[side + t] = total
        marks[side + t] = marked
        vyre.barrier()
        if t >= step:
            if marked == 0:
                total = op.combine(sums[side + t - step], total)
            marked |= marks[side + t - step]
        side = LANES - side
    sums[side + t] = total
    marks[side + t] = marked
    vyre.barrier()
    return side


@functools.cache
def _reduce_tiles(op: Operator, each: int) -> Any:
    element = op.element

    @vyre.kernel(workgroup_size=LANES)
    def reduce_segments(x: In[element], heads: In[u32], partial: Out[element], marked: InOut[u32]) -> None:
        """The pair of each tile; those of tiles with elements beyond the end are not used."""
        rows = vyre.shared(element, LANES * each + LANES * each // 32)
        sums, marks = vyre.shared(element, 2 * LANES), vyre.shared(u32, 2 * LANES)
        own, bits = _loaded(op, each, rows, x, heads)
        last = _runs(op, each, own, bits)[each - 1]
        side = _scanned_pairs(op, last, vyre.u32(bits != 0), sums, marks)
        if vyre.lid(0) == 0:
            tile = vyre.wid(0)
            partial[tile] = sums[side + LANES - 1]
            if marks[side + LANES - 1] != 0:
                marked.atomic_or_(tile // 32, vyre.u32(1) << tile % 32)

    return reduce_segments


@functools.cache
def _scan_tiles(op: Operator, each: int) -> Any:
    element = op.element

    @vyre.kernel(workgroup_size=LANES)
    def scan_segments(x: In[element], heads: In[u32], before: In[element], y: Out[element]) -> None:
        """Scan each tile; `before` has the value that goes on behind each tile."""
        t, tile = vyre.lid(0), vyre.wid(0)
        rows = vyre.shared(element, LANES * each + LANES * each // 32)
        sums, marks = vyre.shared(element, 2 * LANES), vyre.shared(u32, 2 * LANES)
        own, bits = _loaded(op, each, rows, x, heads)
        runs = _runs(op, each, own, bits)
        side = _scanned_pairs(op, runs[each - 1], vyre.u32(bits != 0), sums, marks)
        prefix = before[tile - 1]  # unused in the first tile
        if t > 0:
            value = sums[side + t - 1]
            if marks[side + t - 1] == 0:
                value = op.combine(prefix, value)
            prefix = value
        for j in vyre.unroll(range(each)):
            value = runs[j]
            if bits & ((2 << j) - 1) == 0:
                value = op.combine(prefix, value)
            rows[t * each + j + (t * each + j) // 32] = value
        vyre.barrier()
        for j in vyre.unroll(range(each)):
            at = t + LANES * j
            y[tile * (LANES * each) + at] = rows[at + at // 32]

    return scan_segments


def _row(op: Operator, x: Any, heads: Any, first: Any, ends: Any, also: Any) -> tuple[Any, Any, Any]:
    """Scan the elements of each invocation, whose vectors are those from ``first`` on, and what these end with.

    Args:
        ends: one element of each invocation, and what goes on behind all of them.
        also: bits of elements that begin a segment beside those of `heads`.

    Gives: what goes on before the invocation's elements, their scan, and their bits of `heads`.
    """
    t, count = vyre.lid(0), ROW_VECTORS * (16 // op.element.min_bytes())
    marks = vyre.shared(u32, ROW_LANES)
    own = first * (16 // op.element.min_bytes())
    loaded = [x[first + k] for k in vyre.unroll(range(ROW_VECTORS))]
    values = [value for four in loaded for value in of_vector(four, op.element)]
    bits = heads[own // 32] >> own % 32 & ((1 << count) - 1)
    runs = _runs(op, count, values, bits | also)
    ends[t] = runs[count - 1]
    marks[t] = bits | also
    vyre.barrier()
    if t == 0:
        total = ends[ROW_LANES]
        for k in vyre.unroll(range(ROW_LANES)):
            following = vyre.select(marks[k] != 0, ends[k], op.combine(total, ends[k]))
            ends[k] = total
            total = following
        ends[ROW_LANES] = total
    vyre.barrier()
    return ends[t], runs, bits


@functools.cache
def _reduce_rows(op: Operator) -> Any:
    element = op.element
    chunk, turns = row_chunks(element)

    @vyre.kernel(workgroup_size=ROW_LANES)
    def reduce_rows(x: In[vec4u32], heads: In[u32], partial: Out[element], marked: InOut[u32]) -> None:
        """The pair of each whole tile."""
        t, tile = vyre.lid(0), vyre.wid(0)
        ends, seen = vyre.shared(element, ROW_LANES + 1), vyre.u32(0)
        for turn in range(turns):
            # Nothing comes before the first element of the tile.
            also = vyre.u32(turn == 0 and t == 0)
            first = (tile * turns + turn) * chunk + t * ROW_VECTORS
            _, _, bits = _row(op, x, heads, first, ends, also)
            seen |= bits
        if t == 0:
            partial[tile] = ends[ROW_LANES]
        if seen != 0:
            marked.atomic_or_(tile // 32, vyre.u32(1) << tile % 32)

    return reduce_rows


@functools.cache
def _scan_rows(op: Operator) -> Any:
    element = op.element
    chunk, turns = row_chunks(element)
    width = 16 // element.min_bytes()

    @vyre.kernel(workgroup_size=ROW_LANES)
    def scan_rows(x: In[vec4u32], heads: In[u32], before: In[element], y: Out[vec4u32]) -> None:
        """Scan each tile; `before` has the value that goes on behind each tile."""
        t, tile = vyre.lid(0), vyre.wid(0)
        ends = vyre.shared(element, ROW_LANES + 1)
        if t == 0 and tile > 0:
            ends[ROW_LANES] = before[tile - 1]
        begin = tile * (turns * chunk)
        for turn in range(vyre.min((len(x) - begin + (chunk - 1)) // chunk, turns)):
            first = begin + turn * chunk + t * ROW_VECTORS
            start, runs, bits = _row(op, x, heads, first, ends, vyre.u32(0))
            out = []
            for j in vyre.unroll(range(len(runs))):
                out.append(vyre.select(bits & ((2 << j) - 1) == 0, op.combine(start, runs[j]), runs[j]))
            for k in vyre.unroll(range(ROW_VECTORS)):
                y[first + k] = vector_of(out[width * k : width * k + width])

    return scan_rows


@functools.cache
def _scan_rest(op: Operator) -> Any:
    element = op.element

    @vyre.kernel(workgroup_size=1)
    def scan_rest(x: In[element], heads: In[u32], y: InOut[element]) -> None:
        """Scan the last elements, which are no whole vector, after all others."""
        width = 16 // element.min_bytes()
        first = len(x) // width * width
        for i in range(first, len(x)):
            value = x[i]
            if heads[i // 32] >> i % 32 & 1 == 0:
                value = op.combine(y[i - 1], value)
            y[i] = value

    return scan_rest


@functools.cache
def _levels(op: Operator, each: int | None, levels: int) -> Any:
    """The procedure that scans elements by the bits of those that begin a segment."""
    inner: Any = _levels(op, each, levels - 1) if levels > 1 else None
    neighbours = each or each_of(op)
    scan_tiles, reduce_tiles = _scan_tiles(op, neighbours), _reduce_tiles(op, neighbours)
    element, tile = op.element, LANES * neighbours
    width = 16 // element.min_bytes()

    def by_tiles(x: Any, heads: Any, y: Any) -> None:
        n = x.length
        with vyre.when(n <= tile):
            scan_tiles(x, heads, x, y, workgroups=vyre.size_min(n, 1))
        with vyre.otherwise():
            tiles = vyre.ceil_div(n, tile)
            partial, marked = pairs(tiles)
            reduce_tiles(x, heads, partial, marked, workgroups=tiles)
            scan_tiles(x, heads, inner(partial, marked), y, workgroups=tiles)

    def pairs(tiles: Any) -> tuple[Any, Any]:
        partial = vyre.scratch(element, tiles, name="partial")
        return partial, vyre.scratch(u32, vyre.ceil_div(tiles, 32), zeros=True, name="marked")

    def in_rows(x: Any, heads: Any, y: Any) -> None:
        whole = x.length // width * width
        tiles = vyre.ceil_div(x.length, ROW_TILE)
        others = vyre.size_max(tiles, 1) - 1  # nothing scans the last tile's pair
        vectors, before = x[:whole].view(vec4u32), vyre.scratch(element, others, name="before")
        with vyre.when(others > 0):
            partial, marked = pairs(others)
            _reduce_rows(op)(vectors, heads, partial, marked, workgroups=others)
            inner(partial, marked, out=before)
        _scan_rows(op)(vectors, heads, before, y[:whole].view(vec4u32), workgroups=tiles)
        with vyre.when(x.length > whole):
            _scan_rest(op)(x, heads, y, workgroups=1)

    @vyre.procedure(name=f"std.segmented_scan.{op.name}_{element.name.lower()}_{levels}")
    def scan(x: In[element], heads: In[u32]) -> vyre.ProcedureArray:
        y = vyre.scratch(op.element, x.length, name="y")
        if inner is None:
            scan_tiles(x, heads, x, y, workgroups=vyre.size_min(x.length, 1))
        elif each:
            by_tiles(x, heads, y)
        else:
            with vyre.when(by_rows()):
                in_rows(x, heads, y)
            with vyre.otherwise():
                by_tiles(x, heads, y)
        return y

    return scan


@functools.cache
def segmented_scanner(op: Operator, each: int | None = None) -> Any:
    """The procedure that scans each segment of an array: `procedure(x, offsets)`.

    Args:
        op: the operator; it needs no identity.
        each: elements of an invocation, a power of two up to 32; the result does not depend on it. None takes what
            suits the device.
    """
    element, levels = op.element, _levels(op, each, 3)

    @vyre.procedure(name=f"std.segmented_scan.{op.name}_{element.name.lower()}")
    def scan(x: In[element], offsets: In[u32]) -> Any:
        heads = vyre.scratch(u32, vyre.ceil_div(x.length, 32), zeros=True, name="heads")
        _mark_heads(offsets, heads, x.length, grid=vyre.size_max(offsets.length, 1))
        return levels(x, heads)

    return scan


@functools.cache
def segmented_reducer(op: Operator) -> Any:
    """The procedure that reduces each segment of an array: `procedure(x, offsets)`, one result less than offsets.

    An empty segment gives the operator's identity, or 0 where it has none.
    """
    element = op.element
    scan = segmented_scanner(op)

    @vyre.kernel(workgroup_size=LANES)
    def take_last(scanned: In[element], offsets: In[u32], y: Out[element]) -> None:
        i = vyre.gid(0)
        if i < len(y):
            end = offsets[i + 1]
            value = value_of(element, op.identity or 0)
            if end > offsets[i]:
                value = scanned[end - 1]
            y[i] = value

    @vyre.procedure(name=f"std.segmented_reduce.{op.name}_{op.element.name.lower()}")
    def reduce(x: In[element], offsets: In[u32]) -> vyre.ProcedureArray:
        y = vyre.scratch(element, offsets.length - 1, name="y")
        take_last(scan(x, offsets), offsets, y, grid=y.length)
        return y

    return reduce
