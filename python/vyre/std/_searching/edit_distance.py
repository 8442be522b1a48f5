"""Kernels and procedures of the edit distance, 32 rows of the table a word.

A word holds the differences between neighbouring rows of a column, and a step of bit operations moves it to the next
column: G. Myers, "A fast bit-vector algorithm for approximate string matching based on dynamic programming", Journal
of the ACM 46 (1999), in the form of H. Hyyrö (2003) for a whole table. What passes from a word to the one below is the
difference between neighbouring columns: plus one, minus one or nothing, two bits. The characters of 32 rows are held
as the 8 planes of their bits, which gives the rows that are equal to a character without a table.
"""

# No `from __future__ import annotations`: the kernels' annotations name types.
import functools
from typing import Any

import vyre
from vyre import In, Out, u8, u32

__all__ = ["COLUMNS", "WORD", "distances_of_short", "edit_distances"]

WORD = 32  # rows
BLOCK = 16  # columns that an invocation moves over between two barriers: their differences are one word
COLUMNS = 16384  # of a tile
_PLUS_ONE = 0x55555555  # what comes from above the table, in each column


def planes_of(rows: Any, first: Any, count: Any) -> list[Any]:
    """The planes of the bits of up to 32 characters; those beyond `count` are zero."""
    planes = [vyre.u32(0) for _ in vyre.unroll(range(8))]
    for r in range(WORD):
        if r < count:
            character = vyre.u32(rows[first + r])
            for k in vyre.unroll(range(8)):
                planes[k] |= (character >> k & 1) << r
    return planes


def equal_rows(planes: list[Any], character: Any) -> Any:
    """A bit for each row whose character this one is."""
    differ = vyre.u32(0)
    for k in vyre.unroll(range(8)):
        differ |= planes[k] ^ (0 - (character >> k & 1))
    return ~differ


def next_column(equal: Any, up: Any, down: Any, incoming: Any) -> tuple[Any, Any, Any, Any]:
    """Move a word to the next column.

    `up` and `down` have a bit for each row that is one more, or one less, than the row above; `incoming` says by two
    bits whether the row above the word is one more, or one less, than in the column before. Gives both words anew, and
    the rows that are one more, or one less, than in the column before.
    """
    less = incoming >> 1
    vertical = equal | down
    equal = equal | less
    horizontal = ((equal & up) + up ^ up) | equal
    more_rows = down | ~(horizontal | up)
    less_rows = up & horizontal
    above_more, above_less = more_rows << 1 | incoming & 1, less_rows << 1 | less
    return above_less | ~(vertical | above_more), above_more & vertical, more_rows, less_rows


@functools.cache
def distances_of_short(words: int) -> Any:
    """The procedure for up to `words` * 32 rows and `COLUMNS` columns, where an invocation has a pair.

    Gives: `procedure(rows, row_offsets, columns, column_offsets)` -> the distance of each pair. A pair's rows are the
    bytes from its offset to the next one's; there are one or more.
    """

    @vyre.kernel(workgroup_size=64)
    def short_pairs(
        rows: In[u8], row_offsets: In[u32], columns: In[u8], column_offsets: In[u32], distances: Out[u32]
    ) -> None:
        pair = vyre.gid(0)
        if pair < len(distances):
            first, first_column = row_offsets[pair], column_offsets[pair]
            m = row_offsets[pair + 1] - first
            planes = [
                planes_of(rows, first + w * WORD, m - vyre.u32(w * WORD) if m > w * WORD else 0)
                for w in vyre.unroll(range(words))
            ]
            up = [vyre.u32(0xFFFFFFFF) for _ in vyre.unroll(range(words))]
            down = [vyre.u32(0) for _ in vyre.unroll(range(words))]
            distance = m
            last, bit = (m - 1) // WORD, (m - 1) % WORD
            for j in range(column_offsets[pair + 1] - first_column):
                character = vyre.u32(columns[first_column + j])
                passed = vyre.u32(1)
                for w in vyre.unroll(range(words)):
                    equal = equal_rows(planes[w], character)
                    up[w], down[w], more, less = next_column(equal, up[w], down[w], passed)
                    passed = more >> 31 | less >> 31 << 1
                    distance += (more >> bit & 1) - (less >> bit & 1) if last == w else 0
            distances[pair] = distance

    @vyre.procedure(name=f"std.edit_distance.short_{words}")
    def short(rows: In[u8], row_offsets: In[u32], columns: In[u8], column_offsets: In[u32]) -> vyre.ProcedureArray:
        count = row_offsets.length - 1
        distances = vyre.scratch(u32, count, name="distances")
        short_pairs(rows, row_offsets, columns, column_offsets, distances, grid=count)
        return distances

    return short


@functools.cache
def edit_tiles(size: int, columns_of_tile: int) -> Any:
    """The kernel for the tiles on an anti-diagonal, each by a workgroup of `size` invocations."""
    row_step = size * WORD
    blocks_of_tile = columns_of_tile // BLOCK

    @vyre.kernel(workgroup_size=size)
    def edit_diagonal(
        rows: In[u8],
        row_offsets: In[u32],
        columns: In[u8],
        column_offsets: In[u32],
        state: Out[u32],
        edges: Out[u32],
        distances: Out[u32],
        bands: u32,
        chunks: u32,
        diagonal: u32,
    ) -> None:
        passed = vyre.shared(u32, 2 * size)
        w = vyre.lid(0)
        pair, band = vyre.wid(0) // bands, vyre.wid(0) % bands
        first, first_column = row_offsets[pair], column_offsets[pair]
        m, n = row_offsets[pair + 1] - first, column_offsets[pair + 1] - first_column
        chunk = diagonal - band  # beyond all chunks where the band begins later
        if band * row_step < m and chunk < chunks and chunk * columns_of_tile < n:
            row, column = band * row_step + w * WORD, chunk * columns_of_tile
            planes = planes_of(rows, first + row, m - row if row < m else 0)
            at_state = (pair * bands * size + band * size + w) * 2
            up = state[at_state] if chunk > 0 else vyre.u32(0xFFFFFFFF)
            down = state[at_state + 1] if chunk > 0 else vyre.u32(0)
            blocks = (min(n - column, columns_of_tile) + (BLOCK - 1)) // BLOCK
            used = min((m - band * row_step + (WORD - 1)) // WORD, size)  # invocations that have rows
            change = vyre.u32(0)
            is_last, bit = (m - 1) // WORD == row // WORD, (m - 1) % WORD
            for step in range(blocks + used - 1):
                block = step - w  # large where this invocation's turn has not come
                if block < blocks and w < used:
                    at_edge = (pair * chunks + chunk) * blocks_of_tile + block
                    incoming = vyre.u32(_PLUS_ONE)
                    if w > 0:
                        incoming = passed[(step + 1 & 1) * size + w - 1]
                    elif band > 0:
                        incoming = edges[at_edge]
                    outgoing = vyre.u32(0)
                    begin = column + block * BLOCK
                    for q in range(min(n - begin, BLOCK)):
                        equal = equal_rows(planes, vyre.u32(columns[first_column + begin + q]))
                        up, down, more, less = next_column(equal, up, down, incoming >> (2 * q) & 3)
                        outgoing |= (more >> 31 | less >> 31 << 1) << (2 * q)
                        change += (more >> bit & 1) - (less >> bit & 1)
                    passed[(step & 1) * size + w] = outgoing
                    if w == size - 1:
                        edges[at_edge] = outgoing
                vyre.barrier()
            state[at_state] = up
            state[at_state + 1] = down
            if is_last:
                distances[pair] = change + (m if chunk == 0 else distances[pair])

    return edit_diagonal


@functools.cache
def edit_distances(size: int, columns_of_tile: int = COLUMNS) -> Any:
    """The procedure for pairs of any length: tiles of `size` * 32 rows, each by a workgroup of `size` invocations.

    Tiles on an anti-diagonal are computed together. The size of a tile does not show in the result.

    Gives: `procedure(rows, row_offsets, columns, column_offsets, bands, chunks)` -> the distance of each pair, for at
    most `bands` tiles down and `chunks` across.
    """
    edit_diagonal = edit_tiles(size, columns_of_tile)
    blocks_of_tile = columns_of_tile // BLOCK

    @vyre.procedure(name=f"std.edit_distance.tiles_{size}")
    def tiles(
        rows: In[u8], row_offsets: In[u32], columns: In[u8], column_offsets: In[u32], bands: u32, chunks: u32
    ) -> vyre.ProcedureArray:
        count = row_offsets.length - 1
        state = vyre.scratch(u32, vyre.size_select(chunks > 1, count * bands * (2 * size), 0), name="state")
        edges = vyre.scratch(u32, vyre.size_select(bands > 1, count * chunks * blocks_of_tile, 0), name="edges")
        distances = vyre.scratch(u32, count, name="distances")
        for diagonal in vyre.times(bands + chunks - 1):
            edit_diagonal(
                rows,
                row_offsets,
                columns,
                column_offsets,
                state,
                edges,
                distances,
                bands,
                chunks,
                diagonal,
                workgroups=count * bands,
            )
        return distances

    return tiles
