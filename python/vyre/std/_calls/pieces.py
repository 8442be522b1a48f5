"""Codecs whose results have a length that the data decide: each byte gives a piece of some bytes, or none.

A workgroup takes a part of the data. The lengths of these parts' results are counted, a scan says where each begins,
and the pieces are joined in the workgroup's memory, from where whole words are written.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import vyre
from vyre import In, InOut, Out, u32
from vyre.std._calls.batches import Batch
from vyre.std._calls.chunks import Form, chunk_of
from vyre.std._calls.octets import load
from vyre.std._scanning.compaction import sum_before
from vyre.std._scanning.operators import operator_of
from vyre.std._scanning.reductions import LANES
from vyre.std._scanning.scans import scanner

# From the words of a chunk, the words before and behind it, and the number of bytes from the chunk's beginning to
# the end of the string: the piece of each byte, its length, and the first malformed byte, or NOWHERE.
Pieces = Callable[[list[Any], Any, Any, Any], tuple[list[Any], list[Any], Any]]

__all__ = ["CHUNK", "NOWHERE", "joined"]

CHUNK = 4  # words of an invocation
NOWHERE = 0xFFFFFFFF
_BYTES = 4 * CHUNK


def _chunk(words: In[u32], table: In[u32], whole: u32, i: u32, pieces: Pieces, form: Form) -> tuple[Any, ...]:
    """The string of a chunk, its position there, how many bytes are left there, and its pieces."""
    string, start, begin, left = chunk_of(table, whole, i, _BYTES, form)
    text = load(words, start + begin, CHUNK, left, form.aligned)
    before, after = u32(0), u32(0)
    if begin != 0:
        before = load(words, start + begin - 4, 1, 4, form.aligned)[0]
    if left > _BYTES:
        after = load(words, start + begin + _BYTES, 1, left - _BYTES, form.aligned)[0]
    found, sizes, wrong = pieces(text, before, after, left)
    found = [found[k] if left > k else 0 for k in range(_BYTES)]
    sizes = [sizes[k] if left > k else 0 for k in range(_BYTES)]
    return string, begin, left, found, sizes, wrong


@cache
def _measure(pieces: Pieces, form: Form) -> vyre.Kernel:
    @vyre.kernel(workgroup_size=LANES)
    def measure(words: In[u32], table: In[u32], whole: u32, chunks: u32, totals: Out[u32], found: InOut[u32]) -> None:
        """Count the bytes that each workgroup gives, and find the first malformed byte of each string."""
        i = vyre.gid(0)
        total = vyre.shared(u32, 1)
        if i < chunks:
            string, begin, _, _, sizes, wrong = _chunk(words, table, whole, i, pieces, form)
            if wrong != NOWHERE:
                found.atomic_max(2 * string, ~(begin + wrong))
            total.atomic_add(0, sum(sizes))
        vyre.barrier()
        if vyre.lid(0) == 0:
            totals[vyre.wid(0)] = total[0]

    return measure


@cache
def _write(pieces: Pieces, most: int, form: Form) -> vyre.Kernel:
    @vyre.kernel(workgroup_size=LANES)
    def write(
        words: In[u32],
        table: In[u32],
        whole: u32,
        chunks: u32,
        offsets: In[u32],
        data: InOut[u32],
        starts: InOut[u32],
        found: InOut[u32],
    ) -> None:
        """Write the pieces, and where the result of each string begins and ends."""
        i, t = vyre.gid(0), vyre.lid(0)
        staged = vyre.shared(u32, LANES * CHUNK * most + 1)
        begin, left, string = u32(0), u32(0), u32(0)
        values, sizes = [u32(0) for k in range(_BYTES)], [u32(0) for k in range(_BYTES)]
        if i < chunks:
            string, begin, left, some, lengths, _ = _chunk(words, table, whole, i, pieces, form)
            for k in vyre.unroll(range(_BYTES)):
                values[k], sizes[k] = some[k], lengths[k]
        size = sum(sizes)
        before, total = sum_before(size)
        offset = offsets[vyre.wid(0)]
        if i < chunks:
            if begin == 0:
                starts[string] = offset + before
            if left <= _BYTES:
                found[2 * string + 1] = offset + before + size
        # Bytes are staged at their place in the words of the result.
        at = offset % 4 + before
        word, bits, held = at >> 2, at % 4 * 8, u32(0)
        for k in vyre.unroll(range(_BYTES)):
            held = held | values[k] << bits
            if bits + 8 * sizes[k] >= 32:
                staged.atomic_or_(word, held)
                word += 1
                held = values[k] >> 1 >> (31 - bits)
            bits = (bits + 8 * sizes[k]) % 32
        if held != 0:
            staged.atomic_or_(word, held)
        vyre.barrier()
        first, end = offset >> 2, offset + total
        for k in range(0, (end + 3 >> 2) - first, LANES):
            at = first + k + t
            if 4 * at < end:
                # A word at either end may belong to the workgroups beside as well.
                if 4 * at < offset or end < 4 * at + 4:
                    data.atomic_or_(at, staged[k + t])
                else:
                    data[at] = staged[k + t]

    return write


@vyre.kernel(workgroup_size=256)
def _finish(found: In[u32], starts: In[u32], ends: Out[u32]) -> None:
    """Turn complements of positions, or 0, and ends into statuses and lengths."""
    i = vyre.gid(0)
    if 2 * i < len(ends):
        status = 0 - found[2 * i]
        ends[2 * i] = status
        ends[2 * i + 1] = found[2 * i + 1] - starts[i] if status == 0 else 0


@cache
def _measured(name: str, pieces: Pieces, form: Form) -> Any:
    @vyre.procedure(name=f"std.{name}_measure")
    def measured(
        words: In[u32], table: In[u32], whole: u32, chunks: u32, strings: u32
    ) -> tuple[vyre.ProcedureArray, ...]:
        parts = vyre.ceil_div(chunks, LANES)
        totals = vyre.scratch(u32, parts + 1, zeros=True, name="totals")  # the sum before the last is that of all
        found = vyre.scratch(u32, 2 * strings, zeros=True, name="found")
        _measure(pieces, form)(words, table, whole, chunks, totals, found, workgroups=parts)
        return scanner(operator_of("add", u32, None, ""), False)(totals), found

    return measured


@cache
def _written(name: str, pieces: Pieces, most: int, form: Form) -> Any:
    @vyre.procedure(name=f"std.{name}_write")
    def written(
        words: In[u32], table: In[u32], whole: u32, chunks: u32, offsets: In[u32], found: InOut[u32], room: u32
    ) -> tuple[vyre.ProcedureArray, ...]:
        data = vyre.scratch(u32, room, zeros=True, name="data")
        strings = found.length // 2
        starts = vyre.scratch(u32, strings, zeros=True, name="starts")
        ends = vyre.scratch(u32, 2 * strings, name="ends")
        parts = vyre.ceil_div(chunks, LANES)
        _write(pieces, most, form)(words, table, whole, chunks, offsets, data, starts, found, workgroups=parts)
        _finish(found, starts, ends, grid=strings)
        return data, starts, ends

    return written


def joined(name: str, pieces: Pieces, most: int, given: Batch) -> tuple[vyre.Array, vyre.Array, vyre.Array]:
    """The results of byte strings, one after the other.

    Args:
        pieces: what bytes become; ``most`` is the length of the longest piece.

    Returns: resident arrays: words; the first byte of the result of each string; of each a status and a length.
    """
    cut = given.cut(_BYTES)
    offsets, found = _measured(name, pieces, given.form)(given.words, *cut)
    # The host waits for the exact length, where it waits anyway; else there is room for the longest result.
    size = int(given.lengths[0]) * most if given.kind == "array" else int(offsets[-1:].numpy()[0])
    room = (size + 3) // 4
    return _written(name, pieces, most, given.form)(given.words, cut.table, cut.whole, cut.chunks, offsets, found, room)
