"""Kernels of the stable radix sort, least significant digit first, 8 bits a pass.

Keys are unsigned and are compared after an exclusive or with `flip`, so that one kernel sorts in either direction and
signed keys too. A pass over many keys takes three steps. `count_tile` counts the digits of each tile of keys: a row
has a word for each digit, the count in the lower half and the place of the digit's first key in the sorted tile in the
upper half. `place_tiles` sums the rows, which gives the place of each tile's digits in the result. The third step sorts
a tile in workgroup memory and writes it in runs of equal digits (radix_scatter.py).
"""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
from typing import Any

import vyre
from vyre import In, Out, u32, u64

__all__ = [
    "BATCH",
    "DIGITS",
    "count_tile",
    "digit_of",
    "loaded_in",
    "place_chunk",
    "place_tiles",
    "sum_and_total",
    "sum_before",
    "sum_chunk",
]

DIGITS = 256
COUNTING = DIGITS // 2  # invocations that count the digits of a tile
BATCH = 8  # loads that are under way together


def digit_of(key: Any, shift: Any, flip: Any) -> Any:
    """The digit of 8 bits by which a pass sorts."""
    return vyre.u32((key ^ flip) >> shift) & 255


def prefix_sum(sums: Any, value: Any, threads: int) -> tuple[Any, int, int]:
    """The sum of the values of all invocations before this one; `sums` has two words for each of them.

    Each step adds three neighbours. Gives also where in `sums` the words of the last step begin, and how many
    invocations' values each of them sums.
    """
    k = vyre.lid(0)
    total = value
    side = begin = group = 0
    for stride in (1, 4, 16, 64):
        if stride < threads:
            sums[side + k] = total
            vyre.barrier()
            for j in vyre.unroll(range(1, min(4, threads // stride))):
                if k >= stride * j:
                    total += sums[side + k - stride * j]
            begin, group = side, stride
            side = threads - side
    return total - value, begin, group


def sum_before(sums: Any, value: Any, threads: int = 256) -> Any:
    """The sum of the values of all invocations before this one; `sums` has two words for each of them."""
    before, _, _ = prefix_sum(sums, value, threads)
    return before


def sum_and_total(sums: Any, value: Any, threads: int) -> tuple[Any, Any]:
    """The sum of the values of all invocations before this one, and that of all."""
    before, begin, group = prefix_sum(sums, value, threads)
    total = vyre.u32(0)
    for j in vyre.unroll(range(group - 1, threads, group)):
        total += sums[begin + j]
    return before, total


def loaded_in(array: Any, base: Any, at: list[Any], count: Any) -> list[Any]:
    """Elements `base + at` of an array, zero where `at` is `count` or more.

    All of them are loaded before one is used: an expression of a load would stand where its value is used.
    """
    values = []
    for i in at:
        value = vyre.u64(0) if array.element is u64 else vyre.u32(0)
        if i < count:
            value = array[base + i]
        values.append(value)
    return values


def keys_of_tile(tile: int, keys: Any, quads: Any, base: Any) -> list[Any]:
    """The keys of a whole tile that this invocation counts; `quads` are the same keys by fours, or None."""
    k = vyre.lid(0)
    if quads is None:
        return [keys[base + k + COUNTING * j] for j in vyre.unroll(range(tile // COUNTING))]
    fours = [quads[(base >> 2) + k + COUNTING * j] for j in vyre.unroll(range(tile // (4 * COUNTING)))]
    return [key for four in fours for key in (four.x, four.y, four.z, four.w)]


def count_tile(tile: int, keys: Any, quads: Any, rows: Any, shift: Any, flip: Any, exchange: bool) -> None:
    """Count the digits of a tile; `quads` are the same keys by fours, or None.

    With `exchange` the keys of a whole tile are loaded without a condition each, which is slower on processors.
    """
    counts = vyre.shared(u32, DIGITS)
    sums = vyre.shared(u32, 2 * COUNTING)
    k = vyre.lid(0)
    base = vyre.wid(0) * tile
    left = keys.shape[0] - base
    if (quads is not None or exchange) and left >= tile:
        for key in keys_of_tile(tile, keys, quads, base):
            counts.atomic_add(digit_of(key, shift, flip), 1)
    else:
        at = [k + COUNTING * j for j in vyre.unroll(range(tile // COUNTING))]
        loaded = loaded_in(keys, base, at, left)
        for j in vyre.unroll(range(tile // COUNTING)):
            if at[j] < left:
                counts.atomic_add(digit_of(loaded[j], shift, flip), 1)
    vyre.barrier()
    own = [counts[2 * k + j] for j in vyre.unroll(range(2))]
    before = sum_before(sums, own[0] + own[1], COUNTING)
    row = vyre.wid(0) * DIGITS + 2 * k
    rows[row] = own[0] | before << 16
    rows[row + 1] = own[1] | before + own[0] << 16


def write_starts(rows: Any, starts: Any, first: Any, turns: Any, start: Any) -> None:
    """Turn rows from `first` on into the places of their digits, less their places in the sorted tile."""
    k = vyre.lid(0)
    run = start
    for turn in range(turns):
        at = [(first + turn * BATCH + j) * DIGITS + k for j in vyre.unroll(range(BATCH))]
        loaded = loaded_in(rows, 0, at, rows.shape[0])
        for j in vyre.unroll(range(BATCH)):
            if at[j] < rows.shape[0]:
                starts[at[j]] = run - (loaded[j] >> 16)
            run += loaded[j] & 0xFFFF


def sum_of_rows(rows: Any, first: Any, turns: Any, mask: int) -> Any:
    """The sum of this invocation's column over `turns` batches of rows from `first` on."""
    total = vyre.u32(0)
    for turn in range(turns):
        loaded = [rows[(first + turn * BATCH + j) * DIGITS + vyre.lid(0)] for j in vyre.unroll(range(BATCH))]
        for j in vyre.unroll(range(BATCH)):
            total += loaded[j] & mask
    return total


@vyre.kernel(workgroup_size=DIGITS)
def place_tiles(rows: In[u32], starts: Out[u32]) -> None:
    """The places of all tiles' digits, by one workgroup: for few tiles."""
    sums = vyre.shared(u32, 2 * DIGITS)
    turns = (rows.shape[0] // DIGITS + (BATCH - 1)) // BATCH
    write_starts(rows, starts, vyre.u32(0), turns, sum_before(sums, sum_of_rows(rows, vyre.u32(0), turns, 0xFFFF)))


@vyre.kernel(workgroup_size=DIGITS)
def sum_chunk(rows: In[u32], chunks: Out[u32], turns: u32) -> None:
    """The digits' counts of each chunk of `turns` batches of rows."""
    chunks[vyre.wid(0) * DIGITS + vyre.lid(0)] = sum_of_rows(rows, vyre.wid(0) * turns * BATCH, turns, 0xFFFF)


@vyre.kernel(workgroup_size=DIGITS)
def place_chunk(rows: In[u32], chunks: In[u32], starts: Out[u32], turns: u32) -> None:
    """The places of a chunk's digits. Each workgroup sums all chunks anew, which saves a dispatch."""
    sums = vyre.shared(u32, 2 * DIGITS)
    k, chunk = vyre.lid(0), vyre.wid(0)
    before, total = vyre.u32(0), vyre.u32(0)
    for turn in range((chunks.shape[0] // DIGITS + (BATCH - 1)) // BATCH):
        loaded = [chunks[(turn * BATCH + j) * DIGITS + k] for j in vyre.unroll(range(BATCH))]
        for j in vyre.unroll(range(BATCH)):
            before += loaded[j] if turn * BATCH + j < chunk else 0
            total += loaded[j]
    write_starts(rows, starts, chunk * turns * BATCH, turns, before + sum_before(sums, total))
