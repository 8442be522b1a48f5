"""Kernels and procedures of the product of matrices modulo 2^32, by tiles in workgroup memory and in registers."""

# No `from __future__ import annotations`: the annotations name types of the functions that make kernels.
import functools
from typing import Any, NamedTuple

import vyre
from vyre import DataType, In, InOut, u32, u64

__all__ = ["LARGE", "SMALL", "Tiling", "multiplier", "taken"]


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
SMALL = Tiling(64, 64, 8, 8, 4)
_ENOUGH = 256  # workgroups of the large tiles that fill a large GPU
_TERMS = 1 << 18  # of a sum that one dispatch adds


@functools.cache
def multiplier(element: DataType, large: Tiling = LARGE, small: Tiling = SMALL, terms: int = _TERMS) -> Any:
    """The procedure that multiplies matrices of u32 or u8 modulo 2^32.

    Args:
        element: the type of the factors' elements.
        large, small: how many workgroups, and few, divide the work. It does not show in the result.
        terms: how many terms of a sum one dispatch adds.

    Gives: `procedure(a, b)` -> the product, a matrix of u32.
    """
    of_large, of_small = _kernel(element, large), _kernel(element, small)

    @vyre.procedure(name=f"std.matmul.{element.name.lower()}")
    def matmul(a: In[element, 2], b: In[element, 2]) -> vyre.ProcedureArray:
        (m, k), n = a.shape, b.shape[1]
        out = vyre.scratch(u32, m, n, zeros=True, name="product")
        arrays, sums = (a.ravel(), b.ravel(), m, k, n), out.ravel()
        tiles = vyre.ceil_div(m, large.rows) * vyre.ceil_div(n, large.columns)
        for part in vyre.times(vyre.ceil_div(k, terms)):
            terms_of_part = part * terms, vyre.size_min(k, (part + 1) * terms)
            with vyre.when(tiles >= _ENOUGH):
                of_large(*arrays, *terms_of_part, sums, workgroups=tiles)
            with vyre.otherwise():
                count = vyre.ceil_div(m, small.rows) * vyre.ceil_div(n, small.columns)
                of_small(*arrays, *terms_of_part, sums, workgroups=count)
        return out

    return matmul


def _kernel(element: DataType, tiling: Tiling) -> Any:
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
        tiles = (n + (columns - 1)) // columns
        row, column = vyre.wid(0) // tiles * rows, vyre.wid(0) % tiles * columns
        y, x = t // across, t % across
        sums = [vyre.u32(0) for _ in vyre.unroll(range(own_rows * own_columns))]
        for turn in range((last_term - first_term + (depth - 1)) // depth):
            first = first_term + turn * depth
            # An invocation takes elements that lie `size` apart in the tile.
            brought_a = [
                taken(a, row + (t + j * size) // depth, first + (t + j * size) % depth, m, last_term, k)
                for j in vyre.unroll(range(rows * depth // size))
            ]
            brought_b = [
                taken(b, first + (t + j * size) // columns, column + (t + j * size) % columns, last_term, n, n)
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
                for i in vyre.unroll(range(own_rows)):
                    for j in vyre.unroll(range(own_columns)):
                        sums[i * own_columns + j] += own_a[i] * own_b[j]
        for i in vyre.unroll(range(own_rows)):
            for j in vyre.unroll(range(own_columns)):
                to_row, to_column = row + y + i * down, column + x + j * across
                if to_row < m and to_column < n:
                    out[to_row * n + to_column] += sums[i * own_columns + j]

    return multiply


def taken(matrix: Any, row: Any, column: Any, rows: Any, columns: Any, width: Any) -> Any:
    """An element of a matrix of so many columns, or zero beyond the last of the rows and columns that count."""
    value = vyre.u64(0) if matrix.element is u64 else vyre.u32(0)
    if row < rows and column < columns:
        value = matrix[row * width + column]
    return value
