"""The scatter of the radix sort: a workgroup sorts a tile of keys by one digit of 8 bits and writes it in runs.

What is sorted are items, first by the lower and then by the upper half of the digit. Keys of u32 are items themselves;
other keys are ranked as items of 20 bits, the digit above the position in the tile, which say in the end which key goes
to which place. Each invocation counts the half digits of its own 16 consecutive items in 16 counters of 4 bits, which
two registers hold. It writes them to its column of a table, two counts of 16 bits a word, and the sum over the table,
row after row, gives the rank of each invocation's first item of each half digit.

The table's memory holds the items afterwards: an NVIDIA GPU has room for about 64 KiB of workgroup memory at a time,
and the fewer bytes a tile takes, the more tiles are under way.
"""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
from typing import Any

import vyre
from vyre import u32, u64
from vyre.std._radix import DIGITS, digit_of, loaded_in, sum_and_total

__all__ = ["EACH", "POSITION", "scatter_tile"]

EACH = 16  # consecutive keys of an invocation
POSITION = 12  # bits of the position of a key in its tile
ROWS = 8  # rows of the table: row r has the counts of the half digits r and r + 8
TOGETHER = 8  # keys of an invocation that are moved together


def counted(items: list[Any], low: Any) -> tuple[list[Any], Any, Any]:
    """How many of this invocation's items before each have its half digit, and the counts of all but the last item.

    The half digit is of the bits from `low` on. A count of all 16 items would not fit into 4 bits.
    """
    less, more = vyre.u32(0), vyre.u32(0)  # the counts of the half digits below 8, and of the others
    upper = vyre.u32(8) << low
    before = []
    for j in vyre.unroll(range(EACH)):
        at = items[j].rotr(low - 2) & 28
        is_upper = (items[j] & upper) != 0
        before.append(vyre.select(is_upper, more, less) >> at & 15)
        if j < EACH - 1:
            one = vyre.u32(1) << at
            one_less = vyre.select(is_upper, vyre.u32(0), one)
            less += one_less
            more += one - one_less
    return before, less, more


def ranks_by_half(items: list[Any], low: Any, table: Any, sums: Any, threads: int) -> list[Any]:
    """The ranks of items by four of their bits, those from `low` on; of equal ones the first has the lower rank."""
    k = vyre.lid(0)
    turn = min(threads // 32, 8) - 1
    column = k ^ k >> 5 & turn  # the banks of a group of columns differ where they are summed
    before, less, more = counted(items, low)
    for r in vyre.unroll(range(ROWS)):
        table[column + r * threads] = less >> 4 * r & 15 | (more >> 4 * r & 15) << 16
    width = threads.bit_length() - 1
    cell = items[EACH - 1].rotr(low - width) & (ROWS - 1) * threads | column
    table[cell] = table[cell] + (vyre.u32(1) << (items[EACH - 1].rotr(low - 1) & 16))
    vyre.barrier()
    # Each invocation sums eight cells of one row, in the order of the columns' owners.
    first = k << 3 | k >> 2 & turn
    counts = [table[first ^ j] for j in vyre.unroll(range(8))]
    run, total = sum_and_total(sums, sum(counts, vyre.u32(0)), threads)
    run += total << 16  # the half digits from 8 on come after all others
    for j in vyre.unroll(range(8)):
        table[first ^ j] = run
        run += counts[j]
    vyre.barrier()
    ranks = []
    for j in vyre.unroll(range(EACH)):
        pair = table[items[j].rotr(low - width) & (ROWS - 1) * threads | column]
        ranks.append((pair >> (items[j].rotr(low - 1) & 16)) + before[j] & threads * EACH - 1)
    vyre.barrier()
    return ranks


def spread(index: Any) -> Any:
    """Where an item stands, so that invocations read their consecutive items from different banks."""
    return index + (index >> 5)


def ordered(items: list[Any], ranks: list[Any], table: Any) -> list[Any]:
    """This invocation's consecutive items of all, in the order of their ranks."""
    for j in vyre.unroll(range(EACH)):
        table[spread(ranks[j])] = items[j]
    vyre.barrier()
    first = spread(vyre.lid(0) * EACH)
    got = [table[first + j] for j in vyre.unroll(range(EACH))]
    vyre.barrier()
    return got


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


def exchanged(array: Any, base: Any, count: Any, chosen: list[Any], table: Any, threads: int) -> list[Any]:
    """The elements of the tile from `base` on at the `chosen` positions, by way of workgroup memory, a word at a time.

    They are loaded in order: a load from a position of its own in each invocation takes a GPU's cache a cycle for each.
    """
    k = vyre.lid(0)
    at = [k + threads * j for j in vyre.unroll(range(EACH))]
    own = loaded_in(array, base, at, count)
    wide = array.element is u64
    words = [[vyre.u32(each) for each in own]]
    if wide:
        words.append([vyre.u32(each >> 32) for each in own])
    got = []
    for part in words:
        vyre.barrier()
        for j in vyre.unroll(range(EACH)):
            table[at[j]] = part[j]
        vyre.barrier()
        got.append([table[i] for i in chosen])
    if wide:
        return [vyre.u64(low) | vyre.u64(high) << 32 for low, high in zip(*got, strict=True)]
    return got[0]


def write_exchanged(
    threads: int, keys: Any, values: Any, starts_of: Any, out: Any, out_values: Any, table: Any, count: Any
) -> None:
    """Write a tile whose items `table` has in order, each digit from its place in `starts_of` on."""
    k, base = vyre.lid(0), vyre.wid(0) * (threads * EACH)
    at = [k + threads * j for j in vyre.unroll(range(EACH))]
    items = [table[i] for i in at]
    chosen = [item & threads * EACH - 1 for item in items]
    to = [starts_of[item >> POSITION & DIGITS - 1] + i for item, i in zip(items, at, strict=True)]
    moved = exchanged(keys, base, count, chosen, table, threads)
    for j in vyre.unroll(range(EACH)):
        if at[j] < count:
            out[to[j]] = moved[j]
    if out_values is not None:
        brought = [base + i for i in chosen] if values is None else []
        if values is not None:
            brought = exchanged(values, base, count, chosen, table, threads)
        for j in vyre.unroll(range(EACH)):
            if at[j] < count:
                out_values[to[j]] = brought[j]


def scatter_tile(
    threads: int,
    keys: Any,
    quads: Any,
    values: Any,
    starts: Any,
    out: Any,
    out_values: Any,
    shift: Any,
    flip: Any,
    exchange: bool,
) -> None:
    """Sort a tile by a digit and write it; with `out_values`, too, whose values without `values` are positions."""
    tile = threads * EACH
    table = vyre.shared(u32, tile + tile // 32)
    sums = vyre.shared(u32, max(2 * threads, DIGITS))
    k, base = vyre.lid(0), vyre.wid(0) * tile
    count = min(keys.shape[0] - base, tile)
    mine = k * EACH
    # They are loaded long before they are used.
    shares = range(max(1, DIGITS // threads))
    begins = [starts[vyre.wid(0) * DIGITS + (j * threads + k & DIGITS - 1)] for j in vyre.unroll(shares)]
    # What lies beyond the end has the last digit, and comes after all keys.
    own = loaded_keys(keys, quads, base + mine, max(count, mine) - mine, ~flip)
    whole = keys.element is u32 and out_values is None
    low = shift
    if whole:
        items = [key ^ flip for key in own]
    else:
        low = POSITION
        items = [item_of(own[j], keys.element, shift, flip, mine + j) for j in vyre.unroll(range(EACH))]
    items = ordered(items, ranks_by_half(items, low, table, sums, threads), table)
    ranks = ranks_by_half(items, low + 4, table, sums, threads)
    for j in vyre.unroll(range(EACH)):
        table[ranks[j]] = items[j]
    for j in vyre.unroll(shares):
        sums[j * threads + k & DIGITS - 1] = begins[j]
    vyre.barrier()
    if exchange and not whole:
        write_exchanged(threads, keys, values, sums, out, out_values, table, count)
        return
    for b in vyre.unroll(range(0, EACH, TOGETHER)):
        at = [k + threads * (b + j) for j in vyre.unroll(range(TOGETHER))]
        items = [table[i] for i in at]
        to = [sums[item >> low & DIGITS - 1] + i for item, i in zip(items, at, strict=True)]
        moved, brought = [], []
        if whole:
            moved = [item ^ flip for item in items]
        else:
            chosen = [base + (item & (1 << POSITION) - 1) for item in items]
            moved = [keys[i] for i in chosen]
            brought = chosen if values is None else [values[i] for i in chosen]
        for j in vyre.unroll(range(TOGETHER)):
            if at[j] < count:
                out[to[j]] = moved[j]
                if out_values is not None:
                    out_values[to[j]] = brought[j]
