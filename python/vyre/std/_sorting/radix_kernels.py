"""The kernels of the radix sort for every type of keys and values."""

# No `from __future__ import annotations`: the annotations name types of the functions that make the kernels.
import functools
from types import SimpleNamespace
from typing import Any

import vyre
from vyre import DataType, In, Out, u32, u64, vec4u32
from vyre.std._sorting.radix import COUNTING, count_tile
from vyre.std._sorting.radix_scatter import EACH, scatter_tile

__all__ = ["LARGE_TILE", "MEMORY_OF_LARGE", "TILE", "by_fours", "kernels"]

# The keys of a tile. An NVIDIA H200 sorts u32 keys, pairs and what is exchanged in workgroup memory faster by the large
# one, whose longer runs make up for the fewer workgroups that are under way together, and other keys by the other one.
TILE, LARGE_TILE = 128 * EACH, 256 * EACH
MEMORY_OF_LARGE = 32768  # bytes of workgroup memory for a large tile; every device has half of it


def by_fours(keys: Any, key: DataType) -> Any:
    """What the kernels take as `quads`: keys of u32 as whole vectors, and others as they are."""
    return keys[: keys.length // 4 * 4].view(vec4u32) if key is u32 else keys


@functools.cache
def kernels(key: DataType, value: DataType | None, tile: int, exchange: bool = False) -> SimpleNamespace:
    """The kernels of a pass over many keys, in tiles of `tile` keys.

    With `exchange` a tile's keys and values are loaded and go to their places by way of workgroup memory, and else each
    invocation loads those that it needs; keys of u32 are loaded by fours, and alone are in workgroup memory anyway.

    Gives: `count_digits`, and to scatter `keys_only`, with a type of values `pairs` and, for u32, `positions`.
    """
    flips: Any = u64 if key is u64 else u32
    whole = key is u32
    fours = vec4u32 if whole else key
    threads = tile // EACH

    @vyre.kernel(workgroup_size=COUNTING)
    def count_digits(keys: In[key], quads: In[fours], rows: Out[u32], shift: u32, flip: flips) -> None:
        count_tile(tile, keys, quads if whole else None, rows, shift, flip, exchange)

    @vyre.kernel(workgroup_size=threads)
    def keys_only(keys: In[key], quads: In[fours], starts: In[u32], out: Out[key], shift: u32, flip: flips) -> None:
        scatter_tile(threads, keys, quads if whole else None, None, starts, out, None, shift, flip, exchange)

    made = SimpleNamespace(count_digits=count_digits, keys_only=keys_only)
    if value is None:
        return made

    @vyre.kernel(workgroup_size=threads)
    def pairs(
        keys: In[key],
        quads: In[fours],
        values: In[value],
        starts: In[u32],
        out: Out[key],
        out_values: Out[value],
        shift: u32,
        flip: flips,
    ) -> None:
        scatter_tile(threads, keys, quads if whole else None, values, starts, out, out_values, shift, flip, exchange)

    made.pairs = pairs
    if value is u32:

        @vyre.kernel(workgroup_size=threads)
        def positions(
            keys: In[key],
            quads: In[fours],
            starts: In[u32],
            out: Out[key],
            out_values: Out[u32],
            shift: u32,
            flip: flips,
        ) -> None:
            scatter_tile(threads, keys, quads if whole else None, None, starts, out, out_values, shift, flip, exchange)

        made.positions = positions
    return made
