"""Kernels that sort up to 4,096 keys in one dispatch.

Like those for many keys (radix.py) they compare unsigned keys after an exclusive or with `flip`.
"""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
from types import SimpleNamespace
from typing import Any

import vyre
from vyre import DataType, In, Out, u32, u64
from vyre.std._sorting.radix import sum_before

__all__ = ["SMALL", "TINY", "small_kernels", "tiny_kernels"]

TINY = 512  # keys up to which each finds its rank by looking at all others
SMALL = 4096  # keys that one workgroup sorts alone
_STEPS = 16  # keys of an invocation in a small sort


def source(first: Any, spare: Any, out: Any, r: Any, i: Any) -> Any:
    """Element i at the beginning of a round: the position itself where there is no first array."""
    if r & 1:
        return spare[i]
    if r == 0:
        return i if first is None else first[i]
    return out[i]


def sort_small(
    keys: Any, values: Any, spare: Any, out: Any, spare_values: Any, out_values: Any, rounds: int, flip: Any
) -> None:
    """Sort up to 4,096 keys in one workgroup, 4 bits a round, between `spare` and `out`.

    Every 32 keys of a round have mask words of their own, one for each digit, so that all keys set their bits before
    one barrier. The masks' bits are counted in the order of digit, then position.
    """
    masks = vyre.shared(u32, _STEPS * 128)  # [step][group of 32 invocations][digit]
    starts = vyre.shared(u32, _STEPS // 2 * 128)  # the same, two steps a word
    sums = vyre.shared(u32, 512)
    k = vyre.lid(0)
    n = keys.shape[0]
    group, lane = k >> 5, k & 31
    batches = (n + 1023) >> 10  # of four steps
    own = group * (batches << 7) + lane  # groups have consecutive keys
    column, half = k & 127, k >> 7  # of the masks: one digit of one group, and which steps of it
    place = (column & 15) << 4 | column >> 4 << 1 | half
    for r in range(rounds):
        shift = r << 2
        for b in range(batches):
            at = [own + (b * 4 + j) * 32 for j in vyre.unroll(range(4))]
            loaded = [source(keys, spare, out, r, i) for i in at]
            for j in vyre.unroll(range(4)):
                if at[j] < n:
                    digit = vyre.u32((loaded[j] ^ flip) >> shift) & 15
                    masks.atomic_or_((b * 4 + j) << 7 | group << 4 | digit, vyre.u32(1) << lane)
        vyre.barrier()
        counts = [vyre.popcount(masks[(half * 8 + j) << 7 | column]) for j in vyre.unroll(range(8))]
        sums[place] = sum(counts)
        vyre.barrier()
        mine = sums[k]
        vyre.barrier()
        sums[k] = sum_before(sums, mine)
        vyre.barrier()
        run = sums[place]
        for j in vyre.unroll(range(4)):
            second = run + counts[2 * j]
            starts[(half * 4 + j) << 7 | column] = run | second << 16
            run = second + counts[2 * j + 1]
        vyre.barrier()
        for b in range(batches):
            at = [own + (b * 4 + j) * 32 for j in vyre.unroll(range(4))]
            loaded = [source(keys, spare, out, r, i) for i in at]
            for j in vyre.unroll(range(4)):
                if at[j] < n:
                    step = b * 4 + j
                    entry = group << 4 | vyre.u32((loaded[j] ^ flip) >> shift) & 15
                    start = starts[step >> 1 << 7 | entry] >> ((step & 1) << 4) & 0xFFFF
                    rank = start + vyre.popcount(masks[step << 7 | entry] & ((vyre.u32(1) << lane) - 1))
                    if r & 1:
                        out[rank] = loaded[j]
                    else:
                        spare[rank] = loaded[j]
                    if out_values is not None:
                        value = source(values, spare_values, out_values, r, at[j])
                        if r & 1:
                            out_values[rank] = value
                        else:
                            spare_values[rank] = value
        vyre.barrier()
        for j in vyre.unroll(range(8)):
            masks[(half * 8 + j) << 7 | column] = 0
        vyre.barrier()


@functools.cache
def small_kernels(key: DataType, value: DataType | None) -> SimpleNamespace:
    """The kernels that sort up to 4,096 keys: `keys_only`, with a type of values `pairs` and, for u32, `positions`."""
    flips: Any = u64 if key is u64 else u32
    rounds = 2 * key.min_bytes()

    @vyre.kernel(workgroup_size=256)
    def keys_only(keys: In[key], spare: Out[key], out: Out[key], flip: flips) -> None:
        sort_small(keys, None, spare, out, None, None, rounds, flip)

    made = SimpleNamespace(keys_only=keys_only)
    if value is None:
        return made

    @vyre.kernel(workgroup_size=256)
    def pairs(
        keys: In[key],
        values: In[value],
        spare: Out[key],
        spare_values: Out[value],
        out: Out[key],
        out_values: Out[value],
        flip: flips,
    ) -> None:
        sort_small(keys, values, spare, out, spare_values, out_values, rounds, flip)

    made.pairs = pairs
    if value is u32:

        @vyre.kernel(workgroup_size=256)
        def positions(
            keys: In[key],
            spare: Out[key],
            spare_values: Out[u32],
            out: Out[key],
            out_values: Out[u32],
            flip: flips,
        ) -> None:
            sort_small(keys, None, spare, out, spare_values, out_values, rounds, flip)

        made.positions = positions
    return made


def rank_among(keys: Any, flip: Any) -> Any:
    """How many keys come before this invocation's, of all of them."""
    i = vyre.gid(0)
    mine = keys[i] ^ flip
    rank = vyre.u32(0)
    for j in range(keys.shape[0]):
        other = keys[j] ^ flip
        rank += vyre.u32(other < mine or (other == mine and j < i))
    return rank


@functools.cache
def tiny_kernels(key: DataType, value: DataType | None) -> SimpleNamespace:
    """The kernels that sort a few keys without barriers, under the names of `small_kernels`."""
    flips: Any = u64 if key is u64 else u32

    @vyre.kernel(workgroup_size=64)
    def keys_only(keys: In[key], out: Out[key], flip: flips) -> None:
        if vyre.gid(0) < keys.shape[0]:
            out[rank_among(keys, flip)] = keys[vyre.gid(0)]

    made = SimpleNamespace(keys_only=keys_only)
    if value is None:
        return made

    @vyre.kernel(workgroup_size=64)
    def pairs(keys: In[key], values: In[value], out: Out[key], out_values: Out[value], flip: flips) -> None:
        if vyre.gid(0) < keys.shape[0]:
            rank = rank_among(keys, flip)
            out[rank] = keys[vyre.gid(0)]
            out_values[rank] = values[vyre.gid(0)]

    made.pairs = pairs
    if value is u32:

        @vyre.kernel(workgroup_size=64)
        def positions(keys: In[key], out: Out[key], out_values: Out[u32], flip: flips) -> None:
            if vyre.gid(0) < keys.shape[0]:
                rank = rank_among(keys, flip)
                out[rank] = keys[vyre.gid(0)]
                out_values[rank] = vyre.gid(0)

        made.positions = positions
    return made
