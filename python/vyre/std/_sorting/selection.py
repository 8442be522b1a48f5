"""Kernels and procedures that find the least keys by their digits, the highest first.

Each pass counts one digit of the keys that agree with the threshold so far, and then knows the threshold's digit. Keys
below the threshold, and the first ones that are equal to it, are collected in the order of their positions.
"""

# No `from __future__ import annotations`: the annotations name types of the functions that make kernels.
import functools
from types import SimpleNamespace
from typing import Any

import vyre
from vyre import DataType, In, InOut, Out, u32, u64
from vyre._procedure.vouched import vouched
from vyre.std._sorting.radix import BATCH, DIGITS, digit_of, loaded_in, sum_before
from vyre.std._sorting.small_sort import SMALL
from vyre.std._sorting.sorter import sorter

__all__ = ["selector"]

_EACH = 16  # keys of an invocation
_FEW = 8  # a selection of more than this part of the keys sorts all of them


@functools.cache
def selector(key: DataType, each: int = _EACH, few: int = _FEW) -> Any:
    """The procedure that gives the least keys by their exclusive or with `flip`, in order, and their positions.

    Args:
        key: the type of the keys: u8, u16, u32 or u64.
        each: how many keys an invocation looks at; it does not show in the result.
        few: a selection of more than one in `few` keys sorts all keys.

    Gives: `procedure(keys, k, flip)` -> (k keys, k positions of u32), of equal keys the first position first.
    """
    flips: Any = u64 if key is u64 else u32
    made = SimpleNamespace(**_of_threshold(key, each), **_of_chosen(key, each))
    all_keys, of_chosen = sorter(key, u32, positions=True), sorter(key, u32)

    @vouched
    @vyre.procedure(name=f"std.topk.{key.name.lower()}_few")
    def select_few(keys: In[key], k: u32, flip: flips) -> Any:
        tiles = vyre.ceil_div(keys.length, 256 * each)
        threshold, left = vyre.scratch(key, 1, name="threshold"), vyre.scratch(u32, 1, name="left")
        counts = vyre.scratch(u32, DIGITS, name="counts")
        made.begin(threshold, left, k, grid=1)
        for shift in reversed(range(0, 8 * key.min_bytes(), 8)):
            vyre.clear(counts)
            made.count(keys, threshold, counts, shift, flip, workgroups=tiles)
            made.decide(counts, threshold, left, shift, workgroups=1)
        of_tiles = vyre.scratch(u32, tiles, name="of_tiles")
        before = vyre.scratch(u32, 2 * tiles, name="before")
        made.count_chosen(keys, threshold, of_tiles, flip, workgroups=tiles)
        made.place(of_tiles, before, workgroups=1)
        chosen, positions = vyre.scratch(key, k, name="chosen"), vyre.scratch(u32, k, name="positions")
        made.collect(keys, threshold, left, of_tiles, before, chosen, positions, flip, workgroups=tiles)
        return of_chosen(chosen, positions, flip)

    @vouched
    @vyre.procedure(name=f"std.topk.{key.name.lower()}")
    def select(keys: In[key], k: u32, flip: flips) -> tuple[vyre.ProcedureArray, ...]:
        n = keys.length
        results = vyre.scratch(key, k, name="selected"), vyre.scratch(u32, k, name="positions")
        with vyre.when(k > 0):
            with vyre.when(vyre.size_select(n <= SMALL, n, k * few) >= n):
                made.first(*all_keys(keys, flip), *results, grid=k)
            with vyre.otherwise():
                select_few(keys, k, flip, out=results)
        return results

    return select


def _of_threshold(key: DataType, each: int) -> dict[str, Any]:
    """The kernels that find the key at a place of the order."""
    flips: Any = u64 if key is u64 else u32

    @vyre.kernel(workgroup_size=64)
    def first(keys: In[key], order: In[u32], out: Out[key], positions: Out[u32]) -> None:
        i = vyre.gid(0)
        if i < len(out):
            out[i] = keys[i]
            positions[i] = order[i]

    @vyre.kernel(workgroup_size=1)
    def begin(threshold: Out[key], left: Out[u32], k: u32) -> None:
        threshold[0] = 0
        left[0] = k

    @vyre.kernel(workgroup_size=DIGITS)
    def count(keys: In[key], threshold: In[key], counts: InOut[u32], shift: u32, flip: flips) -> None:
        """Count a digit of the keys whose higher digits are the threshold's."""
        mine = vyre.shared(u32, 4 * DIGITS)
        t = vyre.lid(0)
        base = vyre.wid(0) * (DIGITS * each)
        left = len(keys) - base
        higher = threshold[0] >> shift
        loaded = loaded_in(keys, base, [t + DIGITS * j for j in vyre.unroll(range(each))], left)
        for j in vyre.unroll(range(each)):
            if t + DIGITS * j < left:
                digit = digit_of(loaded[j], shift, flip)
                # The threshold's digit is zero yet.
                if ((loaded[j] ^ flip) >> shift) - own_type(digit, key) == higher:
                    mine.atomic_add(digit << 2 | t & 3, 1)
        vyre.barrier()
        total = mine[4 * t] + mine[4 * t + 1] + mine[4 * t + 2] + mine[4 * t + 3]
        if total > 0:
            counts.atomic_add(t, total)

    @vyre.kernel(workgroup_size=DIGITS)
    def decide(counts: In[u32], threshold: InOut[key], left: InOut[u32], shift: u32) -> None:
        """Find the digit of the key that stands at place `left` among the counted ones."""
        sums = vyre.shared(u32, 2 * DIGITS)
        t = vyre.lid(0)
        wanted = left[0]
        before = sum_before(sums, counts[t])
        if before < wanted and wanted - before <= counts[t]:
            threshold[0] = threshold[0] | own_type(t, key) << shift
            left[0] = wanted - before

    return {"first": first, "begin": begin, "count": count, "decide": decide}


def _of_chosen(key: DataType, each: int) -> dict[str, Any]:
    """The kernels that collect the keys up to the threshold."""
    flips: Any = u64 if key is u64 else u32

    @vyre.kernel(workgroup_size=256)
    def count_chosen(keys: In[key], threshold: In[key], of_tiles: Out[u32], flip: flips) -> None:
        """How many keys of each tile are below the threshold, and in the upper half how many are equal to it."""
        total = vyre.shared(u32, 1)
        base = vyre.wid(0) * (256 * each)
        left = len(keys) - base
        mine = vyre.u32(0)
        loaded = [keys[base + vyre.lid(0) + 256 * j] for j in vyre.unroll(range(each))]
        for j in vyre.unroll(range(each)):
            if vyre.lid(0) + 256 * j < left:
                mine += weight(loaded[j] ^ flip, threshold[0])
        if mine > 0:
            total.atomic_add(0, mine)
        vyre.barrier()
        if vyre.lid(0) == 0:
            of_tiles[vyre.wid(0)] = total[0]

    @vyre.kernel(workgroup_size=256)
    def place(of_tiles: In[u32], before: Out[u32]) -> None:
        """The keys below the threshold, and those equal to it, before each tile; by one workgroup.

        The two numbers of a tile lie side by side: the least devices give a kernel eight buffers.
        """
        sums = vyre.shared(u32, 512)
        each_has = (len(of_tiles) + 255) // 256
        own = vyre.lid(0) * each_has
        fewer, same = vyre.u32(0), vyre.u32(0)
        for turn in range((each_has + (BATCH - 1)) // BATCH):
            for j in vyre.unroll(range(BATCH)):
                counted = of_tiles[own + turn * BATCH + j] if turn * BATCH + j < each_has else 0
                fewer += counted & 0xFFFF
                same += counted >> 16
        fewer = sum_before(sums, fewer)
        vyre.barrier()
        same = sum_before(sums, same)
        for turn in range(each_has):
            if own + turn < len(of_tiles):
                before[2 * (own + turn)] = fewer
                before[2 * (own + turn) + 1] = same
                fewer += of_tiles[own + turn] & 0xFFFF
                same += of_tiles[own + turn] >> 16

    @vyre.kernel(workgroup_size=256)
    def collect(
        keys: In[key],
        threshold: In[key],
        left: In[u32],
        of_tiles: In[u32],
        before: In[u32],
        chosen: Out[key],
        positions: Out[u32],
        flip: flips,
    ) -> None:
        """Collect the keys of a tile that are below the threshold, and the first ones that are equal to it."""
        sums = vyre.shared(u32, 512)
        tile = vyre.wid(0)
        if of_tiles[tile] != 0:
            base = tile * (256 * each) + vyre.lid(0) * each
            weights = [vyre.u32(0) for _ in vyre.unroll(range(each))]
            for j in vyre.unroll(range(each)):
                if tile * (256 * each) < len(keys) and vyre.lid(0) * each + j < len(keys) - tile * (256 * each):
                    weights[j] = weight(keys[base + j] ^ flip, threshold[0])
            own = sum_before(sums, sum(weights))
            fewer, same = before[2 * tile] + (own & 0xFFFF), before[2 * tile + 1] + (own >> 16)
            first_equal = len(chosen) - left[0]
            for j in vyre.unroll(range(each)):
                if weights[j] == 1:
                    chosen[fewer] = keys[base + j]
                    positions[fewer] = base + j
                    fewer += 1
                elif weights[j] != 0:
                    if same < left[0]:
                        chosen[first_equal + same] = keys[base + j]
                        positions[first_equal + same] = base + j
                    same += 1

    return {"count_chosen": count_chosen, "place": place, "collect": collect}


def own_type(value: Any, key: DataType) -> Any:
    """A digit as a number of the type in which keys are computed."""
    return vyre.u64(value) if key is u64 else value


def weight(key: Any, threshold: Any) -> Any:
    """1 for a key below the threshold, 2^16 for one equal to it, else 0."""
    return vyre.u32(key < threshold) | vyre.u32(key == threshold) << 16
