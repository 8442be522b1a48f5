"""Kernels and procedures that transpose matrices by tiles in workgroup memory."""

# No `from __future__ import annotations`: the annotations name types of the functions that make kernels.
import functools
from typing import Any

import vyre
from vyre import DataType, In, Out, u8, u16, u32, u64

__all__ = ["transposer"]

TILE = 32  # elements along each side of a tile; whole matrices of narrow elements take 64


@functools.cache
def transposer(element: DataType, tile: int = TILE) -> Any:
    """The procedure that transposes a matrix, row after row, of elements of u8, u16, u32 or u64.

    Gives: `procedure(x)` -> the matrix with rows and columns exchanged. The size of a tile, 16 or 32, does not show in
    the result.
    """

    @vyre.kernel(workgroup_size=256)
    def by_elements(x: In[element], rows: u32, columns: u32, out: Out[element]) -> None:
        pad = tile + 1  # so that the elements of a column lie in different banks
        held = vyre.shared(u64 if element is u64 else u32, tile * pad)
        across = (columns + (tile - 1)) // tile
        row, column = vyre.wid(0) // across * tile, vyre.wid(0) % across * tile
        inner, first = vyre.lid(0) % tile, vyre.lid(0) // tile
        steps = vyre.unroll(range(0, tile, 256 // tile))
        # All loads are under way before the first store. What they give beyond the matrix is not stored.
        brought = [x[(row + first + j) * columns + column + inner] for j in steps]
        for k in vyre.unroll(range(len(steps))):
            held[(first + steps[k]) * pad + inner] = brought[k]
        vyre.barrier()
        for j in vyre.unroll(range(0, tile, 256 // tile)):
            y = first + j
            if column + y < columns and row + inner < rows:
                out[(column + y) * rows + row + inner] = held[inner * pad + y]

    narrow = _by_words(element) if element in (u8, u16) else None

    @vyre.procedure(name=f"std.transpose.{element.name.lower()}")
    def transpose(x: In[element, 2]) -> vyre.ProcedureArray:
        rows, columns = x.shape
        out = vyre.scratch(element, columns, rows, name="transposed")
        given, made = x.ravel(), out.ravel()
        in_tiles = vyre.ceil_div(rows, tile) * vyre.ceil_div(columns, tile)
        if narrow is None:
            by_elements(given, rows, columns, made, workgroups=in_tiles)
            return out
        block = 4 if element is u8 else 2
        with vyre.when(rows % block + columns % block == 0):
            words = vyre.ceil_div(rows, 64) * vyre.ceil_div(columns, 64)
            narrow(given.view(u32), rows // block, columns // block, made.view(u32), workgroups=words)
        with vyre.otherwise():
            by_elements(given, rows, columns, made, workgroups=in_tiles)
        return out

    return transpose


def _by_words(element: DataType) -> Any:
    """The kernel for matrices whose sides are whole words: it moves blocks of 4 x 4 bytes, or of 2 x 2 u16."""
    block = 4 if element is u8 else 2
    side = 64 // block  # blocks along each side of a tile of 64 elements
    pad = side + 1

    @vyre.kernel(workgroup_size=256)
    def by_words(x: In[u32], rows: u32, columns: u32, out: Out[u32]) -> None:  # counted in blocks
        held = vyre.shared(u32, 64 * pad)
        across = (columns + (side - 1)) // side
        row, column = vyre.wid(0) // across * side, vyre.wid(0) % across * side
        inner = vyre.lid(0) % side
        for j in vyre.unroll(range(0, side, 256 // side)):
            y = vyre.lid(0) // side + j
            if row + y < rows and column + inner < columns:
                at = ((row + y) * block) * columns + column + inner
                turned = turned_block([x[at + k * columns] for k in vyre.unroll(range(block))])
                for k in vyre.unroll(range(block)):
                    held[(inner * block + k) * pad + y] = turned[k]
        vyre.barrier()
        for j in vyre.unroll(range(0, 64, 256 // side)):
            y = vyre.lid(0) // side + j
            if column * block + y < columns * block and row + inner < rows:
                out[(column * block + y) * rows + row + inner] = held[y * pad + inner]

    return by_words


def turned_block(words: list[Any]) -> list[Any]:
    """A block of 4 words of 4 bytes, or 2 of 2 halves, turned about its diagonal."""
    if len(words) == 2:
        a, b = words
        return [a & 0xFFFF | b << 16, a >> 16 | b & 0xFFFF0000]
    a, b, c, d = words
    low_ab, low_cd = a & 0xFF00FF | (b & 0xFF00FF) << 8, c & 0xFF00FF | (d & 0xFF00FF) << 8
    high_ab, high_cd = a >> 8 & 0xFF00FF | b & 0xFF00FF00, c >> 8 & 0xFF00FF | d & 0xFF00FF00
    return [
        low_ab & 0xFFFF | low_cd << 16,
        high_ab & 0xFFFF | high_cd << 16,
        low_ab >> 16 | low_cd & 0xFFFF0000,
        high_ab >> 16 | high_cd & 0xFFFF0000,
    ]
