"""Kernels and procedures that count elements by bins.

Up to 3,072 bins a workgroup counts in its own memory, with several counters for each bin where they fit, so that fewer
invocations wait for one another. It adds what it has counted to the result once. More bins are counted in the result.
"""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
from typing import Any

import vyre
from vyre import DataType, In, InOut, u8, u16, u32, u64
from vyre.std._scanning.reductions import LANES

__all__ = ["copies_of", "histogrammer"]

SHARED = 3072  # counters of a workgroup, 12 KiB
_COPIES = 8  # counters of a bin at most
_LARGE = 1 << 22  # bytes from which on an invocation loads more
_LOADS, _MANY_LOADS = 4, 32  # of an invocation
_OF_A_LOAD: dict[DataType, int] = {u8: 16, u16: 8, u32: 4, u64: 1}  # elements


def _elements(word: Any, key: DataType) -> list[Any]:
    """The elements of a load."""
    if key is u64:
        return [word]
    words = [word.x, word.y, word.z, word.w]
    if key is u32:
        return words
    bits, mask = (8, 0xFF) if key is u8 else (16, 0xFFFF)
    return [each >> shift & mask for each in words for shift in range(0, 32, bits)]


@functools.cache
def _kernel(key: DataType, copies: int, by_shift: bool, loads: int) -> Any:
    """The kernel with `copies` counters for each bin in workgroup memory, or none."""
    load = u64 if key is u64 else vyre.vec4u32
    wide: Any = u64 if key is u64 else u32
    batches: dict[DataType, int] = {u8: 1, u16: 2, u32: 4, u64: 4 if by_shift else 1}
    batch = batches[key]  # loads that are under way together

    def count(element: Any, counts: Any, own: Any, low: Any, last: Any, width: Any) -> None:
        place = element - low
        if key is u8 or key is u16:
            place &= 0xFF if key is u8 else 0xFFFF
        if place <= last:
            which = vyre.u32(place >> vyre.u32(width) if by_shift else place // width)
            if copies:
                own.atomic_add(which * copies + (vyre.lid(0) & (copies - 1)), 1)
            else:
                counts.atomic_add(which, 1)

    @vyre.kernel(workgroup_size=LANES)
    def count_elements(x: In[load], rest: In[key], counts: InOut[u32], low: wide, last: wide, width: wide) -> None:
        """Count each element from `low` to `low + last`; `rest` has the last ones, which are no whole load."""
        own = vyre.shared(u32, SHARED if copies else 1)
        t = vyre.lid(0)
        first = vyre.wid(0) * (LANES * loads) + t
        for turn in range(loads // batch):
            at = [first + LANES * (turn * batch + j) for j in vyre.unroll(range(batch))]
            loaded = [x[i] for i in at]
            for j in vyre.unroll(range(batch)):
                if at[j] < len(x):
                    for element in _elements(loaded[j], key):
                        count(element, counts, own, low, last, width)
        if vyre.wid(0) == 0 and t < len(rest):
            count(rest[t], counts, own, low, last, width)
        if copies:
            vyre.barrier()
            for turn in range((len(counts) + (LANES - 1)) // LANES):
                which = turn * LANES + t
                if which < len(counts):
                    total = own[which * copies]
                    for k in vyre.unroll(range(1, copies)):
                        total += own[which * copies + k]
                    if total > 0:
                        counts.atomic_add(which, total)

    return count_elements


@functools.cache
def histogrammer(key: DataType, copies: int, by_shift: bool) -> Any:
    """The procedure that counts elements by bins of one width: `procedure(x, bins, low, last, width)` -> bins of u32.

    Args:
        key: the type of the elements: u8, u16, u32 or u64.
        copies: counters of a bin in workgroup memory, a power of two; 0 for more bins than fit there. The result does
            not depend on it.
        by_shift: whether a bin has 2^width numbers instead of `width`, of which 0 stands for all.

    An element is counted where it is `low` to `low + last`, modulo 2 to the bits of its type.
    """
    wide: Any = u64 if key is u64 else u32
    each = _OF_A_LOAD[key]

    @vyre.procedure(name=f"std.histogram.{key.name.lower()}_{copies}{'_shift' if by_shift else ''}")
    def count(x: In[key], bins: u32, low: wide, last: wide, width: wide) -> vyre.ProcedureArray:
        counts = vyre.scratch(u32, bins, zeros=True, name="counts")
        words = x if key is u64 else x.view(vyre.vec4u32)
        rest = x[x.length // each * each :]

        def record(loads: int) -> None:
            groups = vyre.size_max(vyre.ceil_div(words.length, LANES * loads), vyre.size_min(x.length, 1))
            _kernel(key, copies, by_shift, loads)(words, rest, counts, low, last, width, workgroups=groups)

        with vyre.when(x.length * (16 // each) > _LARGE):
            record(_MANY_LOADS)
        with vyre.otherwise():
            record(_LOADS)
        return counts

    return count


def copies_of(bins: int) -> int:
    """The counters of a bin that fit into workgroup memory."""
    copies = _COPIES
    while copies and copies * bins > SHARED:
        copies //= 2
    return copies
