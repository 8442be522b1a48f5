"""Finds the structure of JSON text: its brackets, braces, colons and commas outside of strings.

Whether a byte is in a string depends on all quotes before it, and whether a quote counts on the backslashes before
that. A chunk of 32 bytes is therefore a function from the state before it to the state after it; a scan composes
these functions, and then every chunk knows its state (Langdale and Lemire, Parsing Gigabytes of JSON per Second, 2019,
section 3.1, who go through a document in one direction).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import vyre
from vyre import In, InOut, Out, u32
from vyre._procedure.vouched import vouched
from vyre.std._calls.batches import batch
from vyre.std._calls.chunks import Form, chunk_of
from vyre.std._calls.declared import At, Unpack, call
from vyre.std._calls.octets import equal, load
from vyre.std._scanning.compaction import sum_before
from vyre.std._scanning.operators import Operator, operator_of
from vyre.std._scanning.reductions import LANES
from vyre.std._scanning.scans import scanner
from vyre.std._scanning.vector_scans import scan_workgroup

__all__ = ["json_structure"]

_CHUNK = 8  # words of an invocation
_BYTES = 4 * _CHUNK
_EVEN, _ODD = 0x55555555, 0xAAAAAAAA
# A state is 1 if the next byte is escaped, plus 2 in a string. A function of states is a word: bits 2s and 2s + 1 are
# the state that follows state s. The word is stored xor _IDENTITY, so that 0 is the function that changes no state.
_IDENTITY = 0xE4


def compose(first: u32, second: u32) -> u32:
    """The function that is one, then the other."""
    first = first ^ _IDENTITY
    second = second ^ _IDENTITY
    both = u32(0)
    for shift in (0, 2, 4, 6):
        both = both | (second >> 2 * (first >> shift & 3) & 3) << shift
    return both ^ _IDENTITY


_COMPOSE = Operator("json_states", u32, compose, 0, commutes=False)
_STRIDES = (1, 2, 4, 8, 16, 32, 64, 128)  # composing takes longer than waiting


def masks(words: In[u32], start: u32, begin: u32, left: u32, aligned: bool) -> tuple[u32, u32, u32]:
    """Bits of the bytes of a chunk that are backslashes, quotes, and structural characters."""
    found = [u32(0), u32(0), u32(0)]
    for k, word in enumerate(load(words, start + begin, _CHUNK, left, aligned)):
        folded = word | 0x20202020  # makes braces of brackets
        structure = equal(folded, ord("{")) | equal(folded, ord("}")) | equal(word, ord(":")) | equal(word, ord(","))
        for n, flags in enumerate([equal(word, ord("\\")), equal(word, ord('"')), structure]):
            found[n] = found[n] | ((flags >> 7) * 0x204081 >> 21 & 15) << 4 * k
    return found[0], found[1], found[2]


def escapes(backslashes: u32, escaped: u32) -> tuple[u32, u32]:
    """Bits of the bytes that an odd run of backslashes precedes, and whether the byte after the chunk is one of them.

    Args:
        escaped: 1 if the first byte is escaped, else 0.
    """
    runs = backslashes & ~escaped
    starts = runs & ~(runs << 1)
    # Adding its first bit to a run carries to the bit after the run. If the run is odd, that bit has the other parity.
    behind_even = runs + (starts & _EVEN) & ~runs
    odd_sum = runs + (starts & _ODD)
    behind_odd = odd_sum & ~runs
    return behind_even & _ODD | behind_odd & _EVEN | escaped, u32(odd_sum < runs)


def chunk_function(backslashes: u32, quotes: u32, first: u32) -> u32:
    """The function of states of a chunk. The first chunk of a text begins in state 0, whatever text is before it."""
    behind = []
    for escaped in (0, 1):
        known, carry = escapes(backslashes, u32(escaped))
        behind.append(carry | (vyre.popcount(quotes & ~known) & 1) << 1)
    code = behind[0] | behind[1] << 2 | (behind[0] ^ 2) << 4 | (behind[1] ^ 2) << 6
    if first:
        code = behind[0] * 0x55
    return code ^ _IDENTITY


def inside(quotes: u32, in_string: u32) -> u32:
    """Bits of the bytes from an opening quote on, up to the one before the closing one."""
    for shift in (1, 2, 4, 8, 16):
        quotes = quotes ^ quotes << shift
    return quotes ^ 0 - in_string


@cache
def _functions(form: Form) -> vyre.Kernel:
    @vyre.kernel(workgroup_size=LANES)
    def functions(words: In[u32], table: In[u32], whole: u32, chunks: u32, totals: Out[u32]) -> None:
        """Compose the functions of the chunks of each workgroup."""
        i = vyre.gid(0)
        partial = vyre.shared(u32, 2 * LANES)
        own = u32(0)
        if i < chunks:
            _, start, begin, left = chunk_of(table, whole, i, _BYTES, form)
            backslashes, quotes, _ = masks(words, start, begin, left, form.aligned)
            own = chunk_function(backslashes, quotes, begin == 0)
        _, total = scan_workgroup(_COMPOSE, partial, own, _STRIDES)
        if vyre.lid(0) == 0:
            totals[vyre.wid(0)] = total

    return functions


@cache
def _classify(form: Form) -> vyre.Kernel:
    @vyre.kernel(workgroup_size=LANES)
    def classify(
        words: In[u32],
        table: In[u32],
        whole: u32,
        chunks: u32,
        states: In[u32],
        marked: Out[u32],
        counts: Out[u32],
        found: InOut[u32],
    ) -> None:
        """Mark structural characters outside of strings, and count those of each workgroup.

        Args:
            states: the function of what is before each workgroup.
            marked: a bit for each byte of a chunk.
            found: three words for each text: 1 + the position of the last quote that is not escaped, a word that
                ``write`` fills, and whether the text ends in a string.
        """
        i = vyre.gid(0)
        partial, shared = vyre.shared(u32, 2 * LANES), vyre.shared(u32, 2)
        mine, _, _, _ = chunk_of(table, whole, vyre.wid(0) * LANES, _BYTES, form)
        backslashes, quotes, structure, own = u32(0), u32(0), u32(0), u32(0)
        string, begin, left = u32(0), u32(0), u32(0)
        if i < chunks:
            string, start, begin, left = chunk_of(table, whole, i, _BYTES, form)
            backslashes, quotes, structure = masks(words, start, begin, left, form.aligned)
            own = chunk_function(backslashes, quotes, begin == 0)
        before, _ = scan_workgroup(_COMPOSE, partial, own, _STRIDES)
        if i < chunks:
            state = (compose(states[vyre.wid(0)], before) ^ _IDENTITY) & 3
            if begin == 0:
                state = u32(0)
            known, _ = escapes(backslashes, state & 1)
            quotes = quotes & ~known
            strings = inside(quotes, state >> 1)
            structure = structure & ~strings
            marked[i] = structure
            shared.atomic_add(0, vyre.popcount(structure))
            if quotes != 0:
                last = begin + 32 - vyre.clz(quotes)
                if string == mine:
                    shared.atomic_max(1, last)
                else:
                    found.atomic_max(3 * string, last)
            if left <= _BYTES:
                found[3 * string + 2] = strings >> 31
        vyre.barrier()
        if vyre.lid(0) == 0:
            counts[vyre.wid(0)] = shared[0]
            if shared[1] != 0:
                found.atomic_max(3 * mine, shared[1])

    return classify


@cache
def _write(form: Form) -> vyre.Kernel:
    @vyre.kernel(workgroup_size=LANES)
    def write(
        table: In[u32],
        whole: u32,
        marked: In[u32],
        offsets: In[u32],
        positions: Out[u32],
        starts: InOut[u32],
        found: InOut[u32],
    ) -> None:
        """Write the positions, and where those of each string begin and end."""
        i = vyre.gid(0)
        own = marked[i]
        before, _ = sum_before(vyre.popcount(own))
        if i < len(marked):
            string, _, begin, left = chunk_of(table, whole, i, _BYTES, form)
            at = offsets[vyre.wid(0)] + before
            if begin == 0:
                starts[string] = at
            if left <= _BYTES:
                found[3 * string + 1] = at + vyre.popcount(own)
            while own != 0:
                positions[at] = begin + vyre.ctz(own)
                own = own & (own - 1)
                at += 1

    return write


@vyre.kernel(workgroup_size=256)
def _finish(found: In[u32], starts: In[u32], ends: Out[u32]) -> None:
    """Turn what was found into statuses and lengths."""
    i = vyre.gid(0)
    if 2 * i < len(ends):
        status = found[3 * i] if found[3 * i + 2] != 0 else 0
        ends[2 * i] = status
        ends[2 * i + 1] = found[3 * i + 1] - starts[i] if status == 0 else 0


@cache
def _marked(form: Form) -> Any:
    @vyre.procedure(name="std.json_structure_mark")
    def marked(
        words: In[u32], table: In[u32], whole: u32, chunks: u32, strings: u32
    ) -> tuple[vyre.ProcedureArray, ...]:
        parts = vyre.ceil_div(chunks, LANES)
        # The sums before a last zero are those of all.
        totals = vyre.scratch(u32, parts, name="totals")
        counts = vyre.scratch(u32, parts + 1, zeros=True, name="counts")
        bits = vyre.scratch(u32, chunks, name="marked")
        found = vyre.scratch(u32, 3 * strings, zeros=True, name="found")
        _functions(form)(words, table, whole, chunks, totals, workgroups=parts)
        states = scanner(_COMPOSE, False)(totals)
        _classify(form)(words, table, whole, chunks, states, bits, counts, found, workgroups=parts)
        return bits, scanner(operator_of("add", u32, None, ""), False)(counts), found

    return marked


@cache
def _written(form: Form, is_room: bool) -> Any:
    """Write the positions. If there is more room than positions, zeros follow them."""

    @vouched
    @vyre.procedure(name="std.json_structure_write")
    def written(
        table: In[u32], whole: u32, marked: In[u32], offsets: In[u32], found: InOut[u32], room: u32
    ) -> tuple[vyre.ProcedureArray, ...]:
        strings = found.length // 3
        positions = vyre.scratch(u32, room, zeros=is_room, name="positions")
        starts = vyre.scratch(u32, strings, zeros=True, name="starts")
        ends = vyre.scratch(u32, 2 * strings, name="ends")
        _write(form)(table, whole, marked, offsets, positions, starts, found, grid=marked.length)
        _finish(found, starts, ends, grid=strings)
        return positions, starts, ends

    return written


@call
def json_structure(data: Any, **at: Unpack[At]) -> Any:
    """The positions of the structural characters of JSON text, ``{ } [ ] : ,`` outside of strings.

    Args:
        data: a bytes-like or a uint8 array of one axis (numpy's or resident), or many of them: a list of bytes-likes,
            or ``vyre.std.Messages``. They have at most 2^32 - 4 bytes together.

    Returns: an ascending array of uint32. For a list: (list of arrays, status), where the status is 0, or 1 + the
    position of the first malformed byte of that text, whose array is then empty. For a resident array, without
    waiting, three resident arrays: the positions with zeros after them, their number, and the status. For Messages,
    resident arrays: (positions of all, where those of each text begin, how many each has, status).

    Raises: DecodeError for one malformed text, BindingError for what is no bytes, ArgumentError for too many,
    CapabilityError, DeviceError. Only a string that does not end is malformed here, and the position is that of the
    quote that opens it. Whether the text is JSON otherwise is not looked at. A backslash escapes the quote after it
    even outside of strings, where JSON has no backslashes.

    Source: RFC 8259, sections 2 and 7.

    >>> json_structure(b'{"a,b": [1, 2]}', backend="cpu")
    array([ 0,  6,  8, 10, 13, 14], dtype=uint32)
    """
    given = batch(data, at)
    cut = given.cut(_BYTES)
    marked, offsets, found = _marked(given.form)(given.words, *cut)
    is_room = given.kind == "array"
    room = int(given.lengths[0]) if is_room else int(offsets[-1:].numpy()[0])
    positions, starts, ends = _written(given.form, is_room)(cut.table, cut.whole, marked, offsets, found, room)
    if given.kind == "array":
        return positions, ends[1:2], ends[0:1]
    each = ends.numpy().reshape(-1, 2)
    status, counts = each[:, 0].copy(), each[:, 1].copy()
    if given.kind == "messages":
        return positions, starts, vyre.array(counts, **given.place), vyre.array(status, **given.place)
    if given.kind == "bytes":
        given.check(int(status[0]), _why)
        return positions.numpy()
    host = positions.numpy()
    places = zip(starts.numpy().tolist(), counts.tolist(), strict=True)
    return [host[a : a + n] for a, n in places], status


def _why(text: np.ndarray, position: int) -> tuple[str, str]:
    return "has a string that does not end and begins", 'write `"` where it ends'
