"""Kernels and procedures of the best local alignment's score.

Source: T. Smith and M. Waterman, "Identification of common molecular subsequences", Journal of Molecular Biology 147
(1981), with a gap that costs the same for each element. An invocation keeps a few rows of the table in registers and
moves over the columns; the invocation below follows it a few columns later.
"""

# No `from __future__ import annotations`: the kernels' annotations name types.
import functools
from typing import Any

import vyre
from vyre import In, InOut, Out, i32, u8, u32

__all__ = ["COLUMNS", "ROWS", "SHORT_COLUMNS", "SHORT_ROWS", "best_alignments", "best_of_short"]

ROWS = 8  # of an invocation
BLOCK = 4  # columns that an invocation moves over between two barriers
COLUMNS = 16384  # of a tile
SHORT_ROWS, SHORT_COLUMNS = 128, 2048  # of the largest pair that one invocation aligns


def below(own: list[Any], held: list[Any], across: Any, above: Any, character: Any, costs: Any, best: Any) -> Any:
    """Move the rows of an invocation to the next column.

    `above` is the value of the row above them in that column, and `across` the one in the column before.

    Gives: the last row's value and the best of all.
    """
    match, mismatch, gap = costs
    for r in vyre.unroll(range(len(own))):
        score = across + (match if own[r] == character else mismatch)
        across = held[r]
        above = max(max(score, 0), max(above, across) + gap)
        held[r] = above
        best = max(best, above)
    return above, best


@functools.cache
def best_of_short(rows_of_strip: int = 2 * ROWS) -> Any:
    """The procedure for pairs of up to 128 rows and 2,048 columns, where an invocation has a pair.

    Gives: `procedure(rows, row_offsets, columns, column_offsets, match, mismatch, gap, longest)` -> the score of each
    pair, for at most `longest` columns. The arguments are as for `best_alignments`.
    """

    @vyre.kernel(workgroup_size=64)
    def align_pairs(
        rows: In[u8],
        row_offsets: In[u32],
        columns: In[u8],
        column_offsets: In[u32],
        edges: Out[i32],
        match: i32,
        mismatch: i32,
        gap: i32,
        scores: Out[u32],
    ) -> None:
        pair, pairs = vyre.gid(0), len(scores)
        if pair < pairs:
            first, first_column = row_offsets[pair], column_offsets[pair]
            m, n = row_offsets[pair + 1] - first, column_offsets[pair + 1] - first_column
            best = vyre.i32(0)
            for strip in range((m + (rows_of_strip - 1)) // rows_of_strip):
                begin = strip * rows_of_strip
                own = [character_of(rows, first, begin + r, m) for r in vyre.unroll(range(rows_of_strip))]
                held = [vyre.i32(0) for _ in vyre.unroll(range(rows_of_strip))]
                across = vyre.i32(0)
                for j in range(n):
                    above = edges[j * pairs + pair] if strip > 0 else vyre.i32(0)
                    character = vyre.u32(columns[first_column + j])
                    last, best = below(own, held, across, above, character, (match, mismatch, gap), best)
                    across = above
                    edges[j * pairs + pair] = last
            scores[pair] = vyre.u32(best)

    @vyre.procedure(name="std.smith_waterman.short")
    def short(
        rows: In[u8],
        row_offsets: In[u32],
        columns: In[u8],
        column_offsets: In[u32],
        match: i32,
        mismatch: i32,
        gap: i32,
        longest: u32,
    ) -> vyre.ProcedureArray:
        count = row_offsets.length - 1
        edges = vyre.scratch(i32, count * longest, name="edges")
        scores = vyre.scratch(u32, count, name="scores")
        align_pairs(rows, row_offsets, columns, column_offsets, edges, match, mismatch, gap, scores, grid=count)
        return scores

    return short


@functools.cache
def align_tiles(size: int, columns_of_tile: int) -> Any:
    """The kernel for the tiles on an anti-diagonal, each by a workgroup of `size` invocations."""
    row_step = size * ROWS

    @vyre.kernel(workgroup_size=size)
    def align_diagonal(
        rows: In[u8],
        row_offsets: In[u32],
        columns: In[u8],
        column_offsets: In[u32],
        state: Out[i32],
        edges: Out[i32],
        match: i32,
        mismatch: i32,
        gap: i32,
        bands: u32,
        chunks: u32,
        diagonal: u32,
        scores: InOut[u32],
    ) -> None:
        # Behind the rows of `state` lies each band's corner: the least devices give a kernel eight buffers.
        at_corner = (len(row_offsets) - 1) * bands * row_step + vyre.wid(0)
        passed = vyre.shared(i32, 2 * size * BLOCK)
        w = vyre.lid(0)
        pair, band = vyre.wid(0) // bands, vyre.wid(0) % bands
        first, first_column = row_offsets[pair], column_offsets[pair]
        m, n = row_offsets[pair + 1] - first, column_offsets[pair + 1] - first_column
        chunk = diagonal - band  # beyond all chunks where the band begins later
        if band * row_step < m and chunk < chunks and chunk * columns_of_tile < n:
            row, column = band * row_step + w * ROWS, chunk * columns_of_tile
            own = [character_of(rows, first, row + r, m) for r in vyre.unroll(range(ROWS))]
            at_state = (pair * bands + band) * row_step + w * ROWS
            held = [state[at_state + r] if chunk > 0 else vyre.i32(0) for r in vyre.unroll(range(ROWS))]
            corner = vyre.i32(0)  # of the row above, in the column before
            if chunk > 0 and w > 0:
                corner = state[at_state - 1]
            elif chunk > 0:
                corner = state[at_corner]
            best = vyre.i32(0)
            width = min(n - column, columns_of_tile)
            blocks = (width + (BLOCK - 1)) // BLOCK
            used = min((m - band * row_step + (ROWS - 1)) // ROWS, size)  # invocations that have rows
            at_edges = (pair * chunks + chunk) * columns_of_tile
            for step in range(blocks + used - 1):
                block = step - w  # large where this invocation's turn has not come
                if block < blocks and w < used:
                    for q in vyre.unroll(range(BLOCK)):
                        j = block * BLOCK + q
                        if j < width:
                            above = vyre.i32(0)
                            if w > 0:
                                above = passed[(step + 1 & 1) * (size * BLOCK) + q * size + w - 1]
                            elif band > 0:
                                above = edges[at_edges + j]
                            character = vyre.u32(columns[first_column + column + j])
                            last, best = below(own, held, corner, above, character, (match, mismatch, gap), best)
                            corner = above
                            passed[(step & 1) * (size * BLOCK) + q * size + w] = last
                            if w == size - 1:
                                edges[at_edges + j] = last
                vyre.barrier()
            for r in vyre.unroll(range(ROWS)):
                state[at_state + r] = held[r]
            if w == 0:
                state[at_corner] = corner
            scores.atomic_max(pair, vyre.u32(best))

    return align_diagonal


@functools.cache
def best_alignments(size: int, columns_of_tile: int = COLUMNS) -> Any:
    """The procedure for pairs of any length: tiles of `size` * 8 rows, each by a workgroup of `size` invocations.

    Tiles on an anti-diagonal are computed together. The size of a tile does not show in the result.

    Gives: `procedure(rows, row_offsets, columns, column_offsets, match, mismatch, gap, bands, chunks)` -> the score of
    each pair, for at most `bands` tiles down and `chunks` across. A pair's rows are the bytes from its offset to the
    next one's; there are one or more. `match` is not below zero, and the other two are not above it.
    """
    row_step = size * ROWS
    align_diagonal = align_tiles(size, columns_of_tile)

    @vyre.procedure(name=f"std.smith_waterman.tiles_{size}")
    def tiles(
        rows: In[u8],
        row_offsets: In[u32],
        columns: In[u8],
        column_offsets: In[u32],
        match: i32,
        mismatch: i32,
        gap: i32,
        bands: u32,
        chunks: u32,
    ) -> vyre.ProcedureArray:
        count = row_offsets.length - 1
        state = vyre.scratch(i32, vyre.size_select(chunks > 1, count * bands * (row_step + 1), 0), name="state")
        edges = vyre.scratch(i32, vyre.size_select(bands > 1, count * chunks * columns_of_tile, 0), name="edges")
        scores = vyre.scratch(u32, count, zeros=True, name="scores")
        for diagonal in vyre.times(bands + chunks - 1):
            align_diagonal(
                rows,
                row_offsets,
                columns,
                column_offsets,
                state,
                edges,
                match,
                mismatch,
                gap,
                bands,
                chunks,
                diagonal,
                scores,
                workgroups=count * bands,
            )
        return scores

    return tiles


def character_of(rows: Any, first: Any, row: Any, m: Any) -> Any:
    """The character of a row, or one that no column has."""
    character = vyre.u32(256)
    if row < m:
        character = vyre.u32(rows[first + row])
    return character
