"""Kernels of the stable radix sort, least significant digit first, 8 bits a pass.

Keys are unsigned and are compared after an exclusive or with `flip`, so that one kernel sorts in either direction and
signed keys too. A pass over many keys takes three steps. `count_digits` counts the digits of each tile of keys: a row
has a word for each digit, the count in the lower half and the place of the digit's first key in the sorted tile in the
upper half. `place_tiles` sums the rows, which gives the place of each tile's digits in the result. The third kernel
sorts a tile in workgroup memory and writes it in runs of equal digits.

Ranks are found without subgroups: the invocations of a workgroup set one bit each in the mask word of their digit, and
the number of bits below its own is the rank of an invocation's key. Setting bits is an atomic whose order has no
effect, so that the ranks follow the positions of the keys: the sort is stable, and its result does not depend on the
sizes of tiles.
"""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
from types import SimpleNamespace
from typing import Any

import vyre
from vyre import DataType, In, Out, u32, u64

__all__ = [
    "BATCH",
    "DIGITS",
    "digit_of",
    "kernels",
    "loaded_in",
    "place_chunk",
    "place_tiles",
    "sum_before",
    "sum_chunk",
    "tile_of",
]

DIGITS = 256
LANES = 32  # one for each bit of a mask
BATCH = 8  # loads that are under way together
TOGETHER = 4  # keys of an invocation that are ranked together
_MEMORY = 16384  # bytes of workgroup memory, which every device has


def tile_of(key: DataType, value: DataType | None) -> int:
    """The keys of a tile: as many as fit into workgroup memory beside the counters, in batches of all invocations."""
    held = sum(0 if each is None else 8 if each is u64 else 4 for each in (key, value))
    return (_MEMORY - (TOGETHER + 1) * 4 * DIGITS) // held // (LANES * BATCH) * (LANES * BATCH)


def digit_of(key: Any, shift: Any, flip: Any) -> Any:
    """The digit of 8 bits by which a pass sorts."""
    return vyre.u32((key ^ flip) >> shift) & 255


def sum_before(sums: Any, value: Any) -> Any:
    """The sum of the values of all invocations before this one, of 256; `sums` has two words for each."""
    k = vyre.lid(0)
    total = value
    side = 0
    for step in (1, 2, 4, 8, 16, 32, 64, 128):
        sums[side + k] = total
        vyre.barrier()
        if k >= step:
            total += sums[side + k - step]
        side = 256 - side
    return total - value


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


def count_tile(tile: int, keys: Any, rows: Any, shift: Any, flip: Any) -> None:
    """Count the digits of a tile, with four counters a digit, so that equal keys meet less often in one word."""
    counts = vyre.shared(u32, 4 * DIGITS)
    sums = vyre.shared(u32, 2 * DIGITS)
    k = vyre.lid(0)
    base = vyre.wid(0) * tile
    left = keys.shape[0] - base
    at = [k + 256 * j for j in vyre.unroll(range(tile // 256))]
    loaded = loaded_in(keys, base, at, left)
    for j in vyre.unroll(range(tile // 256)):
        if at[j] < left:
            counts.atomic_add(digit_of(loaded[j], shift, flip) << 2 | k & 3, 1)
    vyre.barrier()
    count = counts[4 * k] + counts[4 * k + 1] + counts[4 * k + 2] + counts[4 * k + 3]
    rows[vyre.wid(0) * DIGITS + k] = count | sum_before(sums, count) << 16


def ranks_of(masks: Any, following: Any, digits: list[Any], inside: list[Any]) -> list[Any]:
    """The ranks of several keys of this invocation; `following` has each digit's next rank, and is moved on.

    All invocations' first keys precede all second ones, and so on. `masks` is all zeros before and after.
    """
    lane = vyre.lid(0)
    for g in vyre.unroll(range(TOGETHER)):
        if inside[g]:
            masks.atomic_or_(g * DIGITS + digits[g], vyre.u32(1) << lane)
    vyre.barrier()
    ranks = [following[digit] for digit in digits]
    own = []
    for g in vyre.unroll(range(TOGETHER)):
        for h in vyre.unroll(range(g)):
            ranks[g] += vyre.popcount(masks[h * DIGITS + digits[g]])
        own.append(masks[g * DIGITS + digits[g]])
    vyre.barrier()
    for g in vyre.unroll(range(TOGETHER)):
        before = vyre.popcount(own[g] & ((vyre.u32(1) << lane) - 1))
        ranks[g] += before
        if vyre.logical_and(inside[g], before == 0):
            masks[g * DIGITS + digits[g]] = 0
            following.atomic_add(digits[g], vyre.popcount(own[g]))
    vyre.barrier()
    return ranks


def scatter_tile(
    tile: int, keys: Any, values: Any, rows: Any, starts: Any, out: Any, out_values: Any, shift: Any, flip: Any
) -> None:
    """Sort a tile by its digits and write it; with `out_values`, too, whose values without `values` are positions."""
    held = vyre.shared(u64 if keys.element is u64 else u32, tile)
    carried = None if out_values is None else vyre.shared(u64 if out_values.element is u64 else u32, tile)
    masks = vyre.shared(u32, TOGETHER * DIGITS)
    following = vyre.shared(u32, DIGITS)
    lane, row = vyre.lid(0), vyre.wid(0) * DIGITS
    base = vyre.wid(0) * tile
    count = min(keys.shape[0] - base, tile)
    turns = tile // (LANES * BATCH)
    for j in vyre.unroll(range(DIGITS // LANES)):
        following[j * LANES + lane] = rows[row + j * LANES + lane] >> 16
    first = [LANES * j + lane for j in vyre.unroll(range(BATCH))]
    ahead = loaded_in(keys, base, first, count)
    brought = None if values is None else loaded_in(values, base, first, count)
    vyre.barrier()
    for turn in range(turns):
        at = [turn * (LANES * BATCH) + i for i in first]
        loaded = list(ahead)
        # What the next turn ranks is on its way meanwhile.
        further = [i + LANES * BATCH for i in at]
        coming = loaded_in(keys, base, further, count)
        for j in vyre.unroll(range(BATCH)):
            ahead[j] = coming[j]
        if values is not None:
            moved = list(brought)
            arriving = loaded_in(values, base, further, count)
            for j in vyre.unroll(range(BATCH)):
                brought[j] = arriving[j]
        for k in vyre.unroll(range(0, BATCH, TOGETHER)):
            inside = [at[k + g] < count for g in vyre.unroll(range(TOGETHER))]
            digits = [digit_of(loaded[k + g], shift, flip) for g in vyre.unroll(range(TOGETHER))]
            ranks = ranks_of(masks, following, digits, inside)
            for g in vyre.unroll(range(TOGETHER)):
                if inside[g]:
                    held[ranks[g]] = loaded[k + g]
                    if carried is not None:
                        carried[ranks[g]] = moved[k + g] if values is not None else base + at[k + g]
    vyre.barrier()
    for j in vyre.unroll(range(DIGITS // LANES)):
        following[j * LANES + lane] = starts[row + j * LANES + lane]
    vyre.barrier()
    for turn in range(turns):
        at = [turn * (LANES * BATCH) + i for i in first]
        found = [held[i] for i in at]
        places = [following[digit_of(key, shift, flip)] for key in found]
        for j in vyre.unroll(range(BATCH)):
            if at[j] < count:
                out[places[j] + at[j]] = found[j]
                if carried is not None:
                    out_values[places[j] + at[j]] = carried[at[j]]


@functools.cache
def kernels(key: DataType, value: DataType | None, tile: int) -> SimpleNamespace:
    """The kernels of a pass over many keys, in tiles of so many.

    Gives: `count_digits`, and to scatter `keys_only`, with a type of values `pairs` and, for u32, `positions`.
    """
    flips = u64 if key is u64 else u32

    @vyre.kernel(workgroup_size=DIGITS)
    def count_digits(keys: In[key], rows: Out[u32], shift: u32, flip: flips):
        count_tile(tile, keys, rows, shift, flip)

    @vyre.kernel(workgroup_size=LANES)
    def keys_only(keys: In[key], rows: In[u32], starts: In[u32], out: Out[key], shift: u32, flip: flips):
        scatter_tile(tile, keys, None, rows, starts, out, None, shift, flip)

    made = SimpleNamespace(count_digits=count_digits, keys_only=keys_only)
    if value is None:
        return made

    @vyre.kernel(workgroup_size=LANES)
    def pairs(
        keys: In[key],
        values: In[value],
        rows: In[u32],
        starts: In[u32],
        out: Out[key],
        out_values: Out[value],
        shift: u32,
        flip: flips,
    ):
        scatter_tile(tile, keys, values, rows, starts, out, out_values, shift, flip)

    made.pairs = pairs
    if value is u32:

        @vyre.kernel(workgroup_size=LANES)
        def positions(
            keys: In[key],
            rows: In[u32],
            starts: In[u32],
            out: Out[key],
            out_values: Out[u32],
            shift: u32,
            flip: flips,
        ):
            scatter_tile(tile, keys, None, rows, starts, out, out_values, shift, flip)

        made.positions = positions
    return made


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
def place_tiles(rows: In[u32], starts: Out[u32]):
    """The places of all tiles' digits, by one workgroup: for few tiles."""
    sums = vyre.shared(u32, 2 * DIGITS)
    turns = (rows.shape[0] // DIGITS + (BATCH - 1)) // BATCH
    write_starts(rows, starts, vyre.u32(0), turns, sum_before(sums, sum_of_rows(rows, vyre.u32(0), turns, 0xFFFF)))


@vyre.kernel(workgroup_size=DIGITS)
def sum_chunk(rows: In[u32], chunks: Out[u32], turns: u32):
    """The digits' counts of each chunk of `turns` batches of rows."""
    chunks[vyre.wid(0) * DIGITS + vyre.lid(0)] = sum_of_rows(rows, vyre.wid(0) * turns * BATCH, turns, 0xFFFF)


@vyre.kernel(workgroup_size=DIGITS)
def place_chunk(rows: In[u32], chunks: In[u32], starts: Out[u32], turns: u32):
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
