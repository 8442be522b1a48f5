"""Kernels and procedures of the product of matrices modulo 2^32, by tiles in workgroup memory and in registers.

A workgroup brings a tile of each factor into workgroup memory, of some terms of the sums at a time, and each invocation
adds the products of its rows and columns in registers. Elements beyond the factors need no branch. Rows and columns
beyond the result are computed from whatever is loaded for them and never stored, and terms beyond the last one are zero
in the tile of the first factor. Where rows are whole vectors of four elements, loads bring these, and the next ones are
on their way while the invocation computes.
"""

# No `from __future__ import annotations`: the annotations name types of the functions that make kernels.
import functools
from typing import Any, NamedTuple

import vyre
from vyre import DataType, In, InOut, u8, u32, vec4u32

__all__ = ["LARGE", "SMALL", "Tiling", "multiplier"]


class Tiling(NamedTuple):
    """How the work is divided.

    Attributes:
        rows, columns: elements of the result that a workgroup computes.
        depth: terms of each sum between two barriers.
        own_rows, own_columns: elements of the result that an invocation computes.
    """

    rows: int
    columns: int
    depth: int
    own_rows: int
    own_columns: int


LARGE = Tiling(128, 128, 8, 8, 8)
SMALL = Tiling(64, 64, 16, 4, 4)
_ENOUGH = 256  # workgroups of the large tiles that fill a large GPU
_TERMS = 1 << 18  # of a sum that one dispatch adds
_NOWHERE = 2**32 - 1  # an index beyond every array, where loads give zero


@functools.cache
def multiplier(element: DataType, large: Tiling = LARGE, small: Tiling = SMALL, terms: int = _TERMS) -> Any:
    """The procedure that multiplies matrices of u32 or u8 modulo 2^32.

    Args:
        element: the type of the factors' elements.
        large, small: how many workgroups, and few, divide the work. It does not show in the result.
        terms: how many terms of a sum one dispatch adds, a multiple of 4.

    Gives: `procedure(a, b)` -> the product, a matrix of u32.
    """
    assert terms % 4 == 0, "a vector of four terms lies in one dispatch"

    def add_products(tiling: Tiling, a: Any, b: Any, sizes: Any, part: Any, out: Any) -> None:
        (m, k, n), rows, columns = sizes, tiling.rows, tiling.columns
        tiles = vyre.ceil_div(m, rows) * vyre.ceil_div(n, columns)
        numbers = m, k, n, part * terms, vyre.size_min(k, (part + 1) * terms)
        if not _has_fours(tiling):
            _by_elements(element, tiling)(a, b, *numbers, out, workgroups=tiles)
            return
        with vyre.when((k % 4) + (n % 4) == 0):
            _by_fours(element, tiling)(_fours(a, element), _fours(b, element), *numbers, out, workgroups=tiles)
        with vyre.otherwise():
            _by_elements(element, tiling)(a, b, *numbers, out, workgroups=tiles)

    @vyre.procedure(name=f"std.matmul.{element.name.lower()}")
    def matmul(a: In[element, 2], b: In[element, 2]) -> vyre.ProcedureArray:
        (m, k), n = a.shape, b.shape[1]
        out = vyre.scratch(u32, m, n, zeros=True, name="product")
        factors, sizes, sums = (a.ravel(), b.ravel()), (m, k, n), out.ravel()
        tiles = vyre.ceil_div(m, large.rows) * vyre.ceil_div(n, large.columns)
        for part in vyre.times(vyre.ceil_div(k, terms)):
            with vyre.when(tiles >= _ENOUGH):
                add_products(large, *factors, sizes, part, sums)
            with vyre.otherwise():
                add_products(small, *factors, sizes, part, sums)
        return out

    return matmul


def _has_fours(tiling: Tiling) -> bool:
    """Whether every invocation brings as many vectors of four elements as the others, and owns whole ones."""
    rows, columns, depth, own_rows, own_columns = tiling
    size = (rows // own_rows) * (columns // own_columns)
    parts = depth % 4, rows * depth // 4 % size, columns * depth // 4 % size, own_columns % 4
    return parts == (0, 0, 0, 0)


def _fours(matrix: Any, element: DataType) -> Any:
    """The whole vectors of four elements of an array."""
    return matrix[: matrix.length // 4 * 4].view(vec4u32 if element is u32 else u32)


def _lanes(four: Any, element: DataType) -> list[Any]:
    """The elements of a vector, or of a word that holds four bytes."""
    if element is u8:
        return [four >> 8 * k & 255 for k in range(4)]
    return [four.x, four.y, four.z, four.w]


def _places(rows: int, columns: int, across: int, t: Any, n: Any) -> tuple[Any, Any, Any, Any]:
    """The first row and column of the workgroup's tile, and the row and column of invocation ``t`` in it."""
    tiles = (n + (columns - 1)) // columns
    return vyre.wid(0) // tiles * rows, vyre.wid(0) % tiles * columns, t // across, t % across


def _add_products(sums: list[Any], own_a: list[Any], own_b: list[Any]) -> None:
    for i in vyre.unroll(range(len(own_a))):
        for j in vyre.unroll(range(len(own_b))):
            sums[i * len(own_b) + j] += own_a[i] * own_b[j]


def _add_sums(out: Any, sums: list[Any], to_rows: list[Any], to_columns: list[Any], m: Any, n: Any) -> None:
    """Add the sums of an invocation to the elements of the result that exist."""
    for i in vyre.unroll(range(len(to_rows))):
        for j in vyre.unroll(range(len(to_columns))):
            if to_rows[i] < m and to_columns[j] < n:
                out[to_rows[i] * n + to_columns[j]] += sums[i * len(to_columns) + j]


@functools.cache
def _by_elements(element: DataType, tiling: Tiling) -> Any:
    """The kernel for matrices of any size."""
    rows, columns, depth, own_rows, own_columns = tiling
    down, across = rows // own_rows, columns // own_columns  # invocations along the sides of a tile
    size = down * across
    pad = rows + 32 // depth  # the words of a row of `a` go to different banks

    @vyre.kernel(workgroup_size=size)
    def multiply(
        a: In[element], b: In[element], m: u32, k: u32, n: u32, first_term: u32, last_term: u32, out: InOut[u32]
    ) -> None:
        held_a, held_b = vyre.shared(u32, depth * pad), vyre.shared(u32, depth * columns)
        t = vyre.lid(0)
        row, column, y, x = _places(rows, columns, across, t, n)
        sums = [vyre.u32(0) for _ in vyre.unroll(range(own_rows * own_columns))]
        for turn in range((last_term - first_term + (depth - 1)) // depth):
            first = first_term + turn * depth
            # An invocation takes elements that lie `size` apart in the tile.
            brought_a = []
            for j in vyre.unroll(range(rows * depth // size)):
                term = first + (t + j * size) % depth
                at = (row + (t + j * size) // depth) * k + term
                brought_a.append(a[vyre.select(term < last_term, at, u32(_NOWHERE))])
            brought_b = [
                b[(first + (t + j * size) // columns) * n + column + (t + j * size) % columns]
                for j in vyre.unroll(range(columns * depth // size))
            ]
            vyre.barrier()
            for j in vyre.unroll(range(rows * depth // size)):
                held_a[(t + j * size) % depth * pad + (t + j * size) // depth] = brought_a[j]
            for j in vyre.unroll(range(columns * depth // size)):
                held_b[t + j * size] = brought_b[j]
            vyre.barrier()
            for q in vyre.unroll(range(depth)):
                own_a = [held_a[q * pad + y + i * down] for i in vyre.unroll(range(own_rows))]
                own_b = [held_b[q * columns + x + j * across] for j in vyre.unroll(range(own_columns))]
                _add_products(sums, own_a, own_b)
        to_columns = [column + x + j * across for j in vyre.unroll(range(own_columns))]
        _add_sums(out, sums, [row + y + i * down for i in vyre.unroll(range(own_rows))], to_columns, m, n)

    return multiply


@functools.cache
def _by_fours(element: DataType, tiling: Tiling) -> Any:
    """The kernel for matrices whose rows are whole vectors of four elements."""
    rows, columns, depth, own_rows, own_columns = tiling
    down, across = rows // own_rows, columns // own_columns  # invocations along the sides of a tile
    size = down * across
    pad = rows + 4  # the words of a vector of `a` go to different banks
    deep, wide = depth // 4, columns // 4  # vectors of a row of each tile
    many_a, many_b = rows * deep // size, depth * wide // size  # vectors that an invocation brings
    four = vec4u32 if element is u32 else u32

    def bring_a(a: Any, t: Any, row: Any, first: Any, last_term: Any, k: Any) -> list[Any]:
        brought = []
        for j in vyre.unroll(range(many_a)):
            term = first + (t + j * size) % deep * 4
            at = (row + (t + j * size) // deep) * (k >> 2) + (term >> 2)
            brought.append(a[vyre.select(term < last_term, at, u32(_NOWHERE))])
        return brought

    def bring_b(b: Any, t: Any, column: Any, first: Any, n: Any) -> list[Any]:
        return [
            b[(first + (t + j * size) // wide) * (n >> 2) + (column >> 2) + (t + j * size) % wide]
            for j in vyre.unroll(range(many_b))
        ]

    @vyre.kernel(workgroup_size=size)
    def multiply(
        a: In[four], b: In[four], m: u32, k: u32, n: u32, first_term: u32, last_term: u32, out: InOut[u32]
    ) -> None:
        held_a, held_b = vyre.shared(u32, depth * pad), vyre.shared(vec4u32, depth * wide)
        t = vyre.lid(0)
        row, column, y, x = _places(rows, columns, across, t, n)
        sums = [vyre.u32(0) for _ in vyre.unroll(range(own_rows * own_columns))]
        brought_a, brought_b = bring_a(a, t, row, first_term, last_term, k), bring_b(b, t, column, first_term, n)
        for turn in range((last_term - first_term + (depth - 1)) // depth):
            vyre.barrier()
            for j in vyre.unroll(range(many_a)):
                lanes = _lanes(brought_a[j], element)
                for c in vyre.unroll(range(4)):
                    held_a[((t + j * size) % deep * 4 + c) * pad + (t + j * size) // deep] = lanes[c]
            for j in vyre.unroll(range(many_b)):
                held_b[t + j * size] = vec4u32(*_lanes(brought_b[j], element))
            vyre.barrier()
            # The next vectors are loaded while this turn's products are added.
            first = first_term + (turn + 1) * depth
            next_a, next_b = bring_a(a, t, row, first, last_term, k), bring_b(b, t, column, first, n)
            for j in vyre.unroll(range(many_a)):
                brought_a[j] = next_a[j]
            for j in vyre.unroll(range(many_b)):
                brought_b[j] = next_b[j]
            for q in vyre.unroll(range(depth)):
                own_a = [held_a[q * pad + y + i * down] for i in vyre.unroll(range(own_rows))]
                own_b = []
                for j in vyre.unroll(range(own_columns // 4)):
                    own_b += _lanes(held_b[q * wide + x + j * across], u32)
                _add_products(sums, own_a, own_b)
        to_columns = [column + (x + j // 4 * across) * 4 + j % 4 for j in vyre.unroll(range(own_columns))]
        _add_sums(out, sums, [row + y + i * down for i in vyre.unroll(range(own_rows))], to_columns, m, n)

    return multiply
