"""The scatter of the radix sort: a workgroup sorts a tile of keys by one digit of 8 bits and writes it in runs.

What is sorted are items, first by the lower and then by the upper half of the digit. Keys of u32 are items themselves;
other keys are ranked as items of 20 bits, the digit above the position in the tile, which say in the end which key goes
to which place. Each invocation counts the half digits of its own 16 consecutive items in 16 counters of 4 bits, which
two registers hold. It writes them to its column of a table, two counts of 16 bits a word, and the sum over the table,
row after row, gives the rank of each invocation's first item of each half digit.

With `exchange` keys, but those of u32, and what goes to its place are loaded in the order of the array, and change
owners in workgroup memory; else each invocation loads what it needs.

The table's memory holds the items afterwards: an NVIDIA GPU has room for about 64 KiB of workgroup memory at a time,
and the fewer bytes a tile takes, the more tiles are under way.
"""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
from typing import Any

import vyre
from vyre import u32, u64
from vyre.std._sorting.radix import DIGITS, digit_of, sum_and_total

__all__ = ["EACH", "POSITION", "scatter_tile"]

EACH = 16  # consecutive keys of an invocation
POSITION = 12  # bits of the position of a key in its tile
ROWS = 8  # rows of the table: row r has the counts of the half digits r and r + 8
TOGETHER = 8  # keys of an invocation that are moved together


def counted(items: list[Any], low: Any, flip: Any) -> tuple[list[Any], Any, Any]:
    """How many of this invocation's items before each have its half digit, and the counts of all but the last item.

    The half digit is of the bits from `low` on of an item's exclusive or with `flip`. A count of all 16 items would
    not fit into 4 bits.
    """
    even, odd = vyre.u32(0), vyre.u32(0)  # the counts of the even half digits, and of the odd ones
    flipped, bit = flip.rotr(low - 1) & 28, vyre.u32(1) << low
    before = []
    for j in vyre.unroll(range(EACH)):
        at = items[j].rotr(low - 1) & 28 ^ flipped
        is_odd = ((items[j] ^ flip) & bit) != 0
        before.append(vyre.select(is_odd, odd, even) >> at & 15)
        if j < EACH - 1:
            one = vyre.u32(1) << at
            one_odd = vyre.select(is_odd, one, vyre.u32(0))
            odd += one_odd
            even += one - one_odd
    return before, even, odd


def ranks_by_half(items: list[Any], low: Any, flip: Any, table: Any, sums: Any, threads: int) -> list[Any]:
    """The ranks of items by four bits of their exclusive or with `flip`, those from `low` on.

    Of equal ones the first has the lower rank.
    """
    k = vyre.lid(0)
    turn = min(threads // 32, 8) - 1
    column = k ^ k >> 5 & turn  # the banks of a group of columns differ where they are summed
    before, even, odd = counted(items, low, flip)
    for r in vyre.unroll(range(ROWS)):
        table[column + r * threads] = (odd if r % 2 else even) >> 4 * (r // 2) & 0x000F000F
    width = threads.bit_length() - 1
    rows = (ROWS - 1) * threads
    flipped = flip.rotr(low - width) & rows | column
    half = flip.rotr(low - 1) & 16
    cell = items[EACH - 1].rotr(low - width) & rows ^ flipped
    table[cell] = table[cell] + (vyre.u32(1) << (items[EACH - 1].rotr(low - 1) & 16 ^ half))
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
        pair = table[items[j].rotr(low - width) & rows ^ flipped]
        ranks.append((pair >> (items[j].rotr(low - 1) & 16 ^ half)) + before[j] & threads * EACH - 1)
    vyre.barrier()
    return ranks


def spread(index: Any) -> Any:
    """Where an item stands, so that invocations read their consecutive items from different banks."""
    return index + (index >> 5)


def consecutive(table: Any) -> list[Any]:
    """This invocation's consecutive items of those that all have written."""
    vyre.barrier()
    first = spread(vyre.lid(0) * EACH)
    got = [table[first + j] for j in vyre.unroll(range(EACH))]
    vyre.barrier()
    return got


def ordered(items: list[Any], ranks: list[Any], table: Any) -> list[Any]:
    """This invocation's consecutive items of all, in the order of their ranks."""
    for j in vyre.unroll(range(EACH)):
        table[spread(ranks[j])] = items[j]
    return consecutive(table)


def loaded_tile(array: Any, base: Any, count: Any, threads: int, turns: range) -> list[Any]:
    """An element of each turn of the tile from `base` on, zero from `count` elements on.

    In a turn all invocations load consecutive elements. Those of a whole tile are loaded without a condition each.
    """
    k = vyre.lid(0)
    at = [k + threads * turn for turn in vyre.unroll(turns)]
    own = [vyre.u64(0) if array.element is u64 else vyre.u32(0) for j in vyre.unroll(range(len(turns)))]
    if count >= threads * EACH:
        for j in vyre.unroll(range(len(turns))):
            own[j] = array[base + at[j]]
    else:
        for j in vyre.unroll(range(len(turns))):
            if at[j] < count:
                own[j] = array[base + at[j]]
    return own


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


def striped_items(keys: Any, base: Any, count: Any, shift: Any, flip: Any, table: Any, threads: int) -> list[Any]:
    """This invocation's consecutive items of the tile, whose keys are loaded in order.

    If each invocation loaded its own keys one by one, each load of 32 of them would touch up to 32 cache lines.
    """
    k = vyre.lid(0)
    for b in vyre.unroll(range(0, EACH, TOGETHER)):
        own = loaded_tile(keys, base, count, threads, range(b, b + TOGETHER))
        for j in vyre.unroll(range(TOGETHER)):
            at = k + threads * (b + j)
            digit = vyre.select(at < count, digit_of(own[j], shift, flip), vyre.u32(DIGITS - 1))
            table[spread(at)] = digit << POSITION | at
    return consecutive(table)


def exchanged(array: Any, base: Any, count: Any, items: list[Any], table: Any, threads: int) -> list[Any]:
    """The elements of the tile from `base` on at the items' positions, by way of workgroup memory, a word at a time.

    They are loaded in order: a load from a position of its own in each invocation takes a GPU's cache a cycle for each.
    """
    k = vyre.lid(0)
    own = loaded_tile(array, base, count, threads, range(EACH))
    wide = array.element is u64
    words = [[vyre.u32(each) for each in own]]
    if wide:
        words.append([vyre.u32(each >> 32) for each in own])
    got = []
    for part in words:
        vyre.barrier()
        for j in vyre.unroll(range(EACH)):
            table[k + threads * j] = part[j]
        vyre.barrier()
        got.append([table[item & threads * EACH - 1] for item in items])
    if wide:
        return [vyre.u64(low) | vyre.u64(high) << 32 for low, high in zip(*got, strict=True)]
    return got[0]


def write_runs(items: list[Any], moved: list[Any], starts_of: Any, out: Any, count: Any, threads: int) -> None:
    """Write the elements `moved` of items in their order, each digit from its place in `starts_of` on.

    A place is computed where it is used, from the item: places of all items would take registers until then.
    """
    k = vyre.lid(0)
    for b in vyre.unroll(range(0, EACH, TOGETHER)):
        at = [k + threads * (b + j) for j in vyre.unroll(range(TOGETHER))]
        to = [starts_of[items[b + j] >> POSITION & DIGITS - 1] + at[j] for j in vyre.unroll(range(TOGETHER))]
        for j in vyre.unroll(range(TOGETHER)):
            if at[j] < count:
                out[to[j]] = moved[b + j]


def write_exchanged(
    threads: int, keys: Any, values: Any, starts_of: Any, out: Any, out_values: Any, table: Any, count: Any
) -> None:
    """Write a tile whose items `table` has in order, each digit from its place in `starts_of` on."""
    k, base = vyre.lid(0), vyre.wid(0) * (threads * EACH)
    items = [table[k + threads * j] for j in vyre.unroll(range(EACH))]
    moved = exchanged(keys, base, count, items, table, threads)
    write_runs(items, moved, starts_of, out, count, threads)
    if out_values is None:
        return
    brought = [base + (item & threads * EACH - 1) for item in items] if values is None else []
    if values is not None:
        brought = exchanged(values, base, count, items, table, threads)
    write_runs(items, brought, starts_of, out_values, count, threads)


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
    whole = keys.element is u32 and out_values is None
    low, turned = (shift, flip) if whole else (POSITION, vyre.u32(0))
    if whole:
        items = loaded_keys(keys, quads, base + mine, max(count, mine) - mine, ~flip)
    elif exchange and quads is None:
        items = striped_items(keys, base, count, shift, flip, table, threads)
    else:
        own = loaded_keys(keys, quads, base + mine, max(count, mine) - mine, ~flip)
        items = [item_of(own[j], keys.element, shift, flip, mine + j) for j in vyre.unroll(range(EACH))]
    items = ordered(items, ranks_by_half(items, low, turned, table, sums, threads), table)
    ranks = ranks_by_half(items, low + 4, turned, table, sums, threads)
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
        to = [sums[(item ^ turned) >> low & DIGITS - 1] + i for item, i in zip(items, at, strict=True)]
        moved, brought = [], []
        if whole:
            moved = items
        else:
            chosen = [base + (item & (1 << POSITION) - 1) for item in items]
            moved = [keys[i] for i in chosen]
            brought = chosen if values is None else [values[i] for i in chosen]
        for j in vyre.unroll(range(TOGETHER)):
            if at[j] < count:
                out[to[j]] = moved[j]
                if out_values is not None:
                    out_values[to[j]] = brought[j]
