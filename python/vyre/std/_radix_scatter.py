"""The scatter of the radix sort: a workgroup sorts a tile of keys by one digit of 8 bits and writes it in runs.

A key is ranked as an item of 20 bits, its digit above its position in the tile, so that keys and values of every type
take the same steps. The items are sorted by the lower and then by the upper half of the digit. Each invocation counts
the half digits of its own consecutive items in a column of a table; the sum over the table, row after row, gives the
rank of each invocation's first item of each half digit. The sorted items then say which key, and which value, goes to
which place.

The table's memory holds the items afterwards: an NVIDIA GPU has room for about 64 KiB of workgroup memory at a time,
and the fewer bytes a tile takes, the more tiles are under way.
"""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
from typing import Any

import vyre
from vyre import u32
from vyre.std._radix import DIGITS, digit_of, sum_before

__all__ = ["EACH", "POSITION", "scatter_tile"]

EACH = 16  # consecutive keys of an invocation
POSITION = 12  # bits of the position of a key in its tile
HALF = 16  # half digits
PAD = 8  # words between the rows of the table, which then lie in other memory banks
TOGETHER = 8  # keys of an invocation that are moved together


def sort_by_half(items: list[Any], low: int, table: Any, sums: Any, threads: int, place: Any) -> None:
    """Write items to `table` in the order of four of their bits, those from `low` on; equal ones keep their order.

    `place` maps a rank to an index of `table`.
    """
    k = vyre.lid(0)
    column = k ^ k >> 4 & 7  # the banks of a group of columns differ where they are summed
    row = threads + PAD
    for d in vyre.unroll(range(HALF)):
        table[d * row + column] = 0
    cells, before = [], []
    for item in items:
        cell = (item >> low & (HALF - 1)) * row + column
        count = table[cell]
        table[cell] = count + 1
        cells.append(cell)
        before.append(count)
    vyre.barrier()
    # Each invocation sums HALF cells of one row, in the order of the columns' owners.
    groups = threads // HALF
    group = k % groups
    at = [k // groups * row + group * HALF + (group & 7 ^ j) for j in vyre.unroll(range(HALF))]
    counts = [table[i] for i in at]
    run = sum_before(sums, sum(counts, vyre.u32(0)), threads)
    for j in vyre.unroll(range(HALF)):
        table[at[j]] = run
        run += counts[j]
    vyre.barrier()
    ranks = [(table[cells[j]] + before[j]) & (threads * EACH - 1) for j in vyre.unroll(range(EACH))]
    vyre.barrier()
    for j in vyre.unroll(range(EACH)):
        table[place(ranks[j])] = items[j]
    vyre.barrier()


def turned(index: Any) -> Any:
    """Where an item stands, so that invocations read their consecutive items from different banks."""
    return index ^ index >> 5 & (EACH - 1)


def unturned(index: Any) -> Any:
    return index


def loaded_keys(keys: Any, quads: Any, first: Any, count: Any, beyond: Any) -> list[Any]:
    """This invocation's keys, from `first` on, `beyond` from `count` keys on; `quads` are the same keys by fours."""
    own = [beyond for j in vyre.unroll(range(EACH))]
    if quads is not None and count >= EACH:
        for j in vyre.unroll(range(EACH // 4)):
            four = quads[(first >> 2) + j]
            own[4 * j], own[4 * j + 1], own[4 * j + 2], own[4 * j + 3] = four.x, four.y, four.z, four.w
    else:
        for j in vyre.unroll(range(EACH)):
            if j < count:
                own[j] = keys[first + j]
    return own


def item_of(key: Any, element: Any, shift: Any, flip: Any, position: Any) -> Any:
    """A key's digit above its position."""
    if element is u32:
        return (key ^ flip).rotl(POSITION - shift) & DIGITS - 1 << POSITION | position
    return digit_of(key, shift, flip) << POSITION | position


def scatter_tile(
    threads: int, keys: Any, quads: Any, values: Any, starts: Any, out: Any, out_values: Any, shift: Any, flip: Any
) -> None:
    """Sort a tile by a digit and write it; with `out_values`, too, whose values without `values` are positions."""
    tile = threads * EACH
    table = vyre.shared(u32, max(HALF * (threads + PAD), tile))
    sums = vyre.shared(u32, max(2 * threads, DIGITS))
    k, base = vyre.lid(0), vyre.wid(0) * tile
    count = min(keys.shape[0] - base, tile)
    mine = k * EACH
    # What lies beyond the end has the last digit, and comes after all keys.
    own = loaded_keys(keys, quads, base + mine, max(count, mine) - mine, ~flip)
    items = [item_of(own[j], keys.element, shift, flip, mine + j) for j in vyre.unroll(range(EACH))]
    sort_by_half(items, POSITION, table, sums, threads, turned)
    around = mine >> 5 & (EACH - 1)
    items = [table[mine | around ^ j] for j in vyre.unroll(range(EACH))]
    vyre.barrier()
    sort_by_half(items, POSITION + 4, table, sums, threads, unturned)
    for j in vyre.unroll(range(DIGITS // threads)):
        sums[j * threads + k] = starts[vyre.wid(0) * DIGITS + j * threads + k]
    vyre.barrier()
    for b in vyre.unroll(range(0, EACH, TOGETHER)):
        at = [k + threads * (b + j) for j in vyre.unroll(range(TOGETHER))]
        items = [table[i] for i in at]
        to = [sums[item >> POSITION & DIGITS - 1] + i for item, i in zip(items, at, strict=True)]
        chosen = [base + (item & (1 << POSITION) - 1) for item in items]
        moved = [keys[i] for i in chosen]
        brought = chosen if values is None else [values[i] for i in chosen]
        for j in vyre.unroll(range(TOGETHER)):
            if at[j] < count:
                out[to[j]] = moved[j]
                if out_values is not None:
                    out_values[to[j]] = brought[j]
