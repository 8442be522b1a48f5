"""Procedures of the stable sorts, for every type of keys and values."""

# No `from __future__ import annotations`: the annotations name types of the functions that make the procedures.
import functools
from collections.abc import Callable
from typing import Any

import vyre
from vyre import DataType, In, u32, u64
from vyre._procedure.vouched import vouched
from vyre.std._sorting.radix import BATCH, DIGITS, place_chunk, place_tiles, sum_chunk
from vyre.std._sorting.radix_kernels import LARGE_TILE, MEMORY_OF_LARGE, TILE, by_fours, kernels
from vyre.std._sorting.small_sort import SMALL, TINY, small_kernels, tiny_kernels

__all__ = ["sorter"]

_ALONE = 256  # tiles whose digits one workgroup places


@functools.cache
def sorter(
    key: DataType,
    value: DataType | None = None,
    positions: bool = False,
    tile: int | None = None,
    exchange: bool = False,
) -> Any:
    """The procedure that sorts keys, ascending by their exclusive or with its number `flip`.

    Keys of equal bits stay in the order in which they are given.

    Args:
        key: the type of the keys: u8, u16, u32 or u64.
        value: the type of the values that go with the keys, u32 or u64, or None.
        positions: whether the values are the keys' positions, which are not given; then `value` is u32.
        tile: keys of a tile, a power of two from 512 to 4,096; the result does not depend on it. By default one of
            4,096 for keys of u32, for keys with values and with `exchange`, where the device has the workgroup memory
            for it, and else of 2,048.
        exchange: how keys and values reach their places in a tile (see `kernels`); the result does not depend on it.

    Gives: `procedure(keys, flip)` -> sorted keys, `procedure(keys, values, flip)` -> (keys, values), or with
    `positions` `procedure(keys, flip)` -> (keys, positions).
    """
    form = "keys_only" if value is None else "positions" if positions else "pairs"
    types = key, value, positions
    name = "_".join(["std.sort", form, *(each.name.lower() for each in (key, value) if each is not None)])
    # Their arrays take no memory where another of the three runs: they are procedures of their own.
    small = _recorded(f"{name}_small", *types, functools.partial(_small, getattr(small_kernels(key, value), form)))
    small_only = value is None and key is not u32 and not exchange
    large = {
        each: _recorded(f"{name}_{each}", *types, functools.partial(_large, each, exchange))
        for each in ([tile] if tile else [TILE] if small_only else [TILE, LARGE_TILE])
    }
    tiny = getattr(tiny_kernels(key, value), form)

    def record(given: list[Any], results: list[Any], flip: Any) -> None:
        n = given[0].length
        with vyre.when(n <= TINY):
            tiny(*given, *results, flip, grid=n)
        with vyre.otherwise():
            with vyre.when(n <= SMALL):
                small(*given, flip, out=tuple(results))
            with vyre.otherwise():
                if len(large) == 1:
                    next(iter(large.values()))(*given, flip, out=tuple(results))
                else:
                    with vyre.when(vyre.limit("workgroup_memory") >= MEMORY_OF_LARGE):
                        large[LARGE_TILE](*given, flip, out=tuple(results))
                    with vyre.otherwise():
                        large[TILE](*given, flip, out=tuple(results))

    return _recorded(name, *types, record)


def _recorded(
    name: str,
    key: DataType,
    value: DataType | None,
    positions: bool,
    record: Callable[[list[Any], list[Any], Any], None],
) -> Any:
    """A procedure whose steps `record(given, results, flip)` records, for arrays of keys and of values."""
    flips: Any = u64 if key is u64 else u32

    def recorded(given: list[Any], flip: Any) -> tuple[Any, ...]:
        results = _like(given[0].length, key, value, "sorted")
        record(given, results, flip)
        return tuple(results)

    if value is None or positions:

        @vouched
        @vyre.procedure(name=name)
        def of_keys(keys: In[key], flip: flips) -> Any:
            return recorded([keys], flip)

        return of_keys

    @vouched
    @vyre.procedure(name=name)
    def of_pairs(keys: In[key], values: In[value], flip: flips) -> Any:
        return recorded([keys, values], flip)

    return of_pairs


def _like(n: Any, key: DataType, value: DataType | None, name: str) -> list[Any]:
    arrays = [vyre.scratch(key, n, name=name)]
    return arrays if value is None else [*arrays, vyre.scratch(value, n, name=f"{name}_values")]


def _small(kernel: Any, given: list[Any], results: list[Any], flip: Any) -> None:
    key, value = (*(each.dtype for each in results), None)[:2]
    kernel(*given, *_like(given[0].length, key, value, "spare"), *results, flip, workgroups=1)


def _large(tile: int, exchange: bool, given: list[Any], results: list[Any], flip: Any) -> None:
    n = given[0].length
    key, value = (*(each.dtype for each in results), None)[:2]
    made = kernels(key, value, tile, exchange)
    tiles = vyre.ceil_div(n, tile)
    rows = vyre.scratch(u32, tiles * DIGITS, name="rows")
    starts = vyre.scratch(u32, tiles * DIGITS, name="starts")
    chunks = vyre.scratch(u32, vyre.size_select(tiles <= _ALONE, 0, _chunks_of(tiles)[1] * DIGITS), name="chunks")
    passes = key.min_bytes()
    spare = _like(n, key, value, "spare") if passes > 1 else []
    source = given
    for p in range(passes):
        target = results if (passes - p) % 2 else spare
        quads = by_fours(source[0], key)
        made.count_digits(source[0], quads, rows, 8 * p, flip, workgroups=tiles)
        _place(tiles, rows, starts, chunks)
        scatter = made.keys_only if value is None else made.positions if len(source) == 1 else made.pairs
        scatter(source[0], quads, *source[1:], starts, *target, 8 * p, flip, workgroups=tiles)
        source = target


def _chunks_of(tiles: Any) -> tuple[Any, Any]:
    """The batches of rows of a chunk, and how many chunks there are."""
    turns = vyre.ceil_div(vyre.size_max(tiles, 1), _ALONE * BATCH)
    return turns, vyre.ceil_div(tiles, turns * BATCH)


def _place(tiles: Any, rows: Any, starts: Any, chunks: Any) -> None:
    """Give each tile's digits their places; many tiles are summed by chunks first."""
    with vyre.when(tiles <= _ALONE):
        place_tiles(rows, starts, workgroups=1)
    with vyre.otherwise():
        turns, count = _chunks_of(tiles)
        sum_chunk(rows, chunks, turns, workgroups=count)
        place_chunk(rows, chunks, starts, turns, workgroups=count)
