"""Kernels and procedures of scans: reduce, then scan.

Each tile is reduced, the tiles' results are scanned, and then each tile is scanned with the result of those before it.
A workgroup scans a tile in chunks: a chunk is loaded in order of the lanes into workgroup memory, where each invocation
combines neighbours, and is stored in the same way.
"""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
from typing import Any

import vyre
from vyre import In, Out, u32, vec4u32
from vyre._procedure.vouched import vouched
from vyre.std._scanning.operators import Operator, value_of
from vyre.std._scanning.reductions import LANES, ROW_TILE, by_rows, ordered, reduce_rows, strided
from vyre.std._scanning.row_scans import scan_rows
from vyre.std._scanning.vector_scans import TILE as VECTOR_TILE
from vyre.std._scanning.vector_scans import scan_rest, scan_vectors

__all__ = ["each_of", "scanner"]

_LARGE = 1 << 22  # elements from which on a tile has several chunks
_CHUNKS = 8  # of a tile of many elements


def each_of(op: Operator) -> int:
    """The neighbours that an invocation combines."""
    return 4 if op.element.min_bytes() > 4 else 8


@functools.cache
def scan_tiles(op: Operator, inclusive: bool) -> Any:
    """The kernel that scans tiles; `before` has the results of all tiles up to each one, its own included."""
    element, each = op.element, each_of(op)
    chunk = LANES * each

    @vyre.kernel(workgroup_size=LANES)
    def scan(x: In[element], before: In[element], y: Out[element], chunks: u32) -> None:
        t, tile = vyre.lid(0), vyre.wid(0)
        rows = vyre.shared(element, chunk + chunk // 32)
        sums = vyre.shared(element, 2 * LANES)
        carry = before[tile - 1]  # unused in the first tile
        has_carry = vyre.select(tile > 0, vyre.u32(1), vyre.u32(0))
        for turn in range(chunks):
            base = (tile * chunks + turn) * chunk + t
            for j in vyre.unroll(range(each)):
                at = t + LANES * j
                rows[at + at // 32] = x[base + LANES * j]
            vyre.barrier()
            own = [rows[t * each + j + (t * each + j) // 32] for j in vyre.unroll(range(each))]
            runs = [own[0]]
            for j in vyre.unroll(range(1, each)):
                runs.append(op.combine(runs[j - 1], own[j]))
            total = runs[each - 1]
            side = 0
            for step in (1, 2, 4, 8, 16, 32, 64, 128):
                sums[side + t] = total
                vyre.barrier()
                if t >= step:
                    total = op.combine(sums[side + t - step], total)
                side = LANES - side
            sums[side + t] = total
            vyre.barrier()
            last = sums[side + LANES - 1]
            prefix = carry
            has_prefix = has_carry
            if t > 0:
                prefix = sums[side + t - 1]
                if has_carry:
                    prefix = op.combine(carry, prefix)
                has_prefix = value_of(u32, 1)
            for j in vyre.unroll(range(each)):
                value = runs[j]
                if inclusive:
                    if has_prefix:
                        value = op.combine(prefix, value)
                elif j == 0:
                    value = value_of(element, op.identity)
                    if has_prefix:
                        value = prefix
                else:
                    value = runs[j - 1]
                    if has_prefix:
                        value = op.combine(prefix, value)
                rows[t * each + j + (t * each + j) // 32] = value
            if has_carry:
                last = op.combine(carry, last)
            carry = last
            has_carry = value_of(u32, 1)
            vyre.barrier()
            for j in vyre.unroll(range(each)):
                at = t + LANES * j
                y[base + LANES * j] = rows[at + at // 32]
            vyre.barrier()

    return scan


def _reduce(op: Operator, tile: int, x: Any, tiles: Any) -> Any:
    """The results of tiles of `tile` elements; that of the last tile may be wrong, and is not used."""
    partial = vyre.scratch(op.element, tiles, name="partial")
    if not op.commutes or op.identity is None:
        ordered(op, tile // LANES)(x, partial, workgroups=tiles)
        return partial
    wide = 1 if op.element.min_bytes() > 4 else 4
    words = x if wide == 1 else x.view(vyre.vec4u32)
    loads = tile // LANES // wide  # of an invocation
    unroll = max(k for k in range(1, 9) if loads % k == 0)
    strided(op, op.element, False, loads // unroll, unroll)(words, x[0:0], partial, workgroups=tiles)
    return partial


@functools.cache
def scanner(op: Operator, inclusive: bool, chunks: int | None = None, levels: int = 3) -> Any:
    """The procedure that scans an array.

    Args:
        op: the operator; an exclusive scan needs its identity.
        inclusive: whether element i of the result includes element i of the array.
        chunks: of a tile; the result does not depend on it. None takes what suits the length.
        levels: how often the tiles' results may be scanned in turn.
    """
    form = "inclusive" if inclusive else "exclusive"
    kernel = scan_tiles(op, inclusive)
    inner = scanner(op, True, chunks, levels - 1) if levels > 1 else None
    element, chunk = op.element, LANES * each_of(op)

    def in_workgroups(x: Any, y: Any) -> None:
        n = x.length
        with vyre.when(n <= (chunk if chunks else chunk * _CHUNKS)):
            kernel(x, x, y, vyre.ceil_div(n, chunk), workgroups=1)
        with vyre.otherwise():
            if chunks:
                _scanned(op, chunks, kernel, inner, x, y)
            elif by_vectors(op):
                _scanned_by_vectors(op, inclusive, inner, x, y)
            else:
                with vyre.when(n > _LARGE):
                    _scanned(op, _CHUNKS, kernel, inner, x, y)
                with vyre.otherwise():
                    _scanned(op, 1, kernel, inner, x, y)

    @vouched
    @vyre.procedure(name=f"std.scan.{form}_{op.name}_{op.element.name.lower()}")
    def scan(x: In[element]) -> vyre.ProcedureArray:
        n = x.length
        y = vyre.scratch(element, n, name="y")
        if inner is None:
            kernel(x, x, y, vyre.ceil_div(n, chunk), workgroups=1)
            return y
        if chunks or op.identity is None:
            in_workgroups(x, y)
            return y
        with vyre.when(by_rows()):
            _scanned_by_rows(op, inclusive, inner, x, y)
        with vyre.otherwise():
            in_workgroups(x, y)
        return y

    return scan


def by_vectors(op: Operator) -> bool:
    """Whether vectors of four words hold four elements, and an identity stands for what comes before the first."""
    return op.element.min_bytes() == 4 and op.identity is not None


def _scanned(op: Operator, chunks: int, kernel: Any, inner: Any, x: Any, y: Any) -> None:
    tile = LANES * each_of(op) * chunks
    tiles = vyre.ceil_div(x.length, tile)
    kernel(x, inner(_reduce(op, tile, x, tiles)), y, chunks, workgroups=tiles)


def _scanned_by_rows(op: Operator, inclusive: bool, inner: Any, x: Any, y: Any) -> None:
    tiles = vyre.ceil_div(x.length, ROW_TILE)
    others = vyre.size_max(tiles, 1) - 1  # nothing scans the last tile's result
    before = vyre.scratch(op.element, others, name="before")
    with vyre.when(others > 0):
        partial = vyre.scratch(op.element, others, name="partial")
        if op.commutes:
            reduce_rows(op, op.element, False, x[: others * ROW_TILE], partial, others)
        else:
            ordered(op, ROW_TILE // LANES)(x, partial, workgroups=others)
        inner(partial, out=before)
    _scanned_tiles(op, inclusive, scan_rows(op, inclusive), before, tiles, x, y)


def _scanned_by_vectors(op: Operator, inclusive: bool, inner: Any, x: Any, y: Any) -> None:
    tiles = vyre.ceil_div(x.length, VECTOR_TILE)
    before = inner(_reduce(op, VECTOR_TILE, x, tiles))
    _scanned_tiles(op, inclusive, scan_vectors(op, inclusive), before, tiles, x, y)


def _scanned_tiles(op: Operator, inclusive: bool, kernel: Any, before: Any, tiles: Any, x: Any, y: Any) -> None:
    n = x.length
    width = 16 // op.element.min_bytes()
    whole = n // width * width
    kernel(x[:whole].view(vec4u32), before, y[:whole].view(vec4u32), workgroups=tiles)
    with vyre.when(n > whole):
        scan_rest(op, inclusive)(x, y, workgroups=1)
