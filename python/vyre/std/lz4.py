"""Decompresses LZ4 blocks (the LZ4 block format; frames are not taken apart).

An invocation decompresses a block; a turn copies a sequence of literals and a match, if both are short. Malformed data
ends the block with a status: every count is compared with the rest of the block and its room before a byte is copied.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import vyre
from vyre import In, InOut, Out, _values, u32
from vyre._base.refused import must_be
from vyre._base.text import as_count
from vyre.std._calls.batches import batch
from vyre.std._calls.declared import At, Unpack, argument, call
from vyre.std._calls.host import count_of
from vyre.std._calls.octets import word_at

__all__ = ["lz4_decompress"]

_TURNS = 50_000  # of an invocation in one dispatch
_STEP = 4  # words that a turn copies of literals, and of a match
_STATE = 8  # words
_TOKEN, _MORE_LITERALS, _LITERALS, _OFFSET, _MORE_MATCH, _MATCH, _DONE = range(7)
_MOST = 2**32 - 1
_MOST_FROM_BYTE = 255  # no byte of a block gives more bytes than a byte of a length


def _put(data: Any, place: u32, at: u32, held: u32, word: u32, count: u32) -> u32:
    """Write the first ``count`` bytes (1 to 4) of a word at a position of the result.

    Args:
        held: the bytes of the result's word there that are written already.

    Returns: ``held`` for the position after these bytes.
    """
    shift = at % 4 * 8
    kept = word & (0xFFFFFFFF >> 32 - 8 * count)
    first, second = held | kept << shift, kept >> 1 >> (31 - shift)
    data[place + (at >> 2)] = first
    end = shift + 8 * count
    if end > 32:
        data[place + (at >> 2) + 1] = second
    return second if end >= 32 else first


def _result_word(data: Any, place: u32, at: u32) -> u32:
    """The four bytes of the result from a position on; those that are not written yet are anything."""
    index, shift = place + (at >> 2), at % 4 * 8
    return data[index] >> shift | data[index + 1] << 1 << (31 - shift)


def _repeated(word: u32, offset: u32) -> u32:
    """The next four bytes of a match, from the four bytes at its source: an offset below 4 repeats the first ones."""
    short = word & 0xFFFFFF | word << 24
    short = (word & 0xFFFF) * 0x10001 if offset == 2 else short
    short = (word & 0xFF) * 0x01010101 if offset == 1 else short
    return short if offset < 4 else word


def _length_bytes(words: In[u32], start: u32, at: u32, length: u32) -> tuple[Any, Any, Any]:
    """How much some bytes add to a length, how many they are, and whether the length ends with them."""
    four = word_at(words, start + at)
    many = four == 0xFFFFFFFF and length - at >= 4
    byte = four & 0xFF
    return 1020 if many else byte, 4 if many else 1, not many and byte != 255


@cache
def _decompress(turns: int, one: bool) -> vyre.Kernel:
    @vyre.kernel(workgroup_size=64)
    def decompress(
        words: In[u32], table: In[u32], whole: u32, size: u32, data: InOut[u32], state: InOut[u32, 2]
    ) -> None:
        """Bring each block forward by some turns.

        Args:
            table: of each block its first byte, its length, the first word of its room, and the bytes of its room.
            whole, size: the length and the bytes of the room of a single block.
            state: the variables of each block between dispatches; zeros at first.
        """
        i = vyre.gid(0)
        if i < state.shape[0]:
            start, length, place, room = u32(0), whole, u32(0), size
            if not one:
                start, length, place, room = table[4 * i], table[4 * i + 1], table[4 * i + 2], table[4 * i + 3]
            phase, at, end, token = state[i, 0], state[i, 1], state[i, 2], state[i, 3]
            count, offset, status = state[i, 4], state[i, 5], state[i, 6]
            held = u32(0)
            if end % 4 != 0:
                held = data[place + (end >> 2)]
            turn = u32(0)
            while phase != _DONE and turn < turns:
                turn += 1
                if phase == _TOKEN:
                    if at == length:
                        status, phase = length + 1, u32(_DONE)
                    else:
                        token = at
                        count = word_at(words, start + at) >> 4 & 15
                        at += 1
                        phase = u32(_MORE_LITERALS) if count == 15 else u32(_LITERALS)
                        if count != 15:
                            if count > length - at:
                                status, phase = length + 1, u32(_DONE)
                            elif count > room - end:
                                status, phase = token + 1, u32(_DONE)
                if phase == _MORE_LITERALS:
                    if at == length:
                        status, phase = length + 1, u32(_DONE)
                    else:
                        more, used, last = _length_bytes(words, start, at, length)
                        count = vyre.add_sat(count, more)
                        at += used
                        if last:
                            phase = u32(_LITERALS)
                            if count > length - at:
                                status, phase = length + 1, u32(_DONE)
                            elif count > room - end:
                                status, phase = token + 1, u32(_DONE)
                if phase == _LITERALS:
                    for _ in vyre.unroll(range(_STEP)):
                        if count != 0:
                            some = min(count, 4)
                            held = _put(data, place, end, held, word_at(words, start + at), some)
                            at += some
                            end += some
                            count -= some
                    if count == 0:
                        phase = u32(_DONE) if at == length else u32(_OFFSET)
                if phase == _OFFSET:
                    offset = word_at(words, start + at) & 0xFFFF
                    count = (word_at(words, start + token) & 15) + 4
                    if length - at < 2:
                        status, phase = length + 1, u32(_DONE)
                    elif offset == 0 or offset > end:
                        status, phase = at + 1, u32(_DONE)
                    else:
                        at += 2
                        phase = u32(_MORE_MATCH) if count == 19 else u32(_MATCH)
                        if count != 19:
                            if count > room - end:
                                status, phase = token + 1, u32(_DONE)
                if phase == _MORE_MATCH:
                    if at == length:
                        status, phase = length + 1, u32(_DONE)
                    else:
                        more, used, last = _length_bytes(words, start, at, length)
                        count = vyre.add_sat(count, more)
                        at += used
                        if last:
                            phase = u32(_MATCH)
                            if count > room - end:
                                status, phase = token + 1, u32(_DONE)
                if phase == _MATCH:
                    for _ in vyre.unroll(range(_STEP)):
                        if count != 0:
                            some = min(count, 4)
                            word = _repeated(_result_word(data, place, end - offset), offset)
                            held = _put(data, place, end, held, word, some)
                            end += some
                            count -= some
                    if count == 0:
                        phase = u32(_TOKEN)
            for k, value in enumerate([phase, at, end, token, count, offset, status]):
                state[i, k] = value

    return decompress


@vyre.kernel(workgroup_size=64)
def _finish(state: In[u32, 2], ends: Out[u32]) -> None:
    """The status and the length of each block."""
    i = vyre.gid(0)
    if i < state.shape[0]:
        ends[2 * i] = state[i, 6]
        ends[2 * i + 1] = state[i, 2] if state[i, 6] == 0 else 0


@cache
def _decompressed(turns: int, one: bool) -> Any:
    @vyre.procedure(name="std.lz4_decompress")
    def decompressed(
        words: In[u32], table: In[u32], whole: u32, size: u32, blocks: u32, room: u32, parts: u32
    ) -> tuple[vyre.ProcedureArray, ...]:
        """Args: room: words of all results; parts: the dispatches that the block with most turns takes."""
        data = vyre.scratch(u32, room, zeros=True, name="data")
        state = vyre.scratch(u32, blocks, _STATE, zeros=True, name="state")
        ends = vyre.scratch(u32, 2 * blocks, name="ends")
        for _ in vyre.times(parts):
            _decompress(turns, one)(words, table, whole, size, data, state, grid=blocks)
        _finish(state, ends, grid=blocks)
        return data, ends, state

    return decompressed


@call
def lz4_decompress(blocks: Any, sizes: Any, **at: Unpack[At]) -> Any:
    """The bytes of LZ4 blocks, many at once.

    Args:
        blocks: a list of bytes-likes or ``vyre.std.Messages``, each one a block without any frame around it; or one
            block: a bytes-like or a uint8 array of one axis (numpy's or resident). They have at most 2^32 - 4 bytes
            together.
        sizes: the most bytes that a block may give: an integer for all blocks, or a sequence with one for each. That
            much memory is taken on the device, though at most 255 times a block's length, in multiples of 4 bytes; it
            is at most 2^32 - 4 bytes together.

    Returns: for a list: (list of bytes, status), where the status is 0, or 1 + the position of the first malformed
    byte of that block, whose bytes are then empty. For one block: bytes. For a resident block, without waiting, three
    resident arrays: room for the bytes, their number, and the status. For Messages: (Messages, resident
    status).

    Raises: DecodeError for one malformed block, BindingError for what is no bytes, ArgumentError for sizes that are
    no sizes or too many, CapabilityError, DeviceError. The position is that of an offset which is 0 or reaches before
    the first byte, or of the token of a sequence that exceeds the size. A block that ends too early gives its length.
    What encoders leave at the end of a block for fast decoders, five literals and no match in the last twelve bytes,
    is not asked for.

    Source: LZ4 block format description, of 2022-07-31.

    >>> run_of_a = bytes.fromhex("1f61 0100 05 1062")  # a, a match of 24 bytes one before, b
    >>> lz4_decompress([run_of_a, b"\\x10c", b"\\x20c"], 100, backend="cpu")
    ([b'aaaaaaaaaaaaaaaaaaaaaaaaab', b'c', b''], array([0, 0, 3], dtype=uint32))
    """
    given, where = batch(blocks, at, "blocks"), argument(at, "sizes")
    size = _sizes(sizes, len(given.lengths), given.form.one, where)
    most = np.minimum(size, _MOST_FROM_BYTE * given.lengths)
    rooms = (most + 3) // 4
    total = int(rooms.sum())
    if 4 * total > _MOST:
        raise must_be(where, "at most 4294967292 bytes together", 4 * total)
    places = np.cumsum(rooms) - rooms
    # A turn reads a byte of the block at least, or it goes on with a match.
    turns = int((given.lengths + most // (4 * _STEP) + 2).max(initial=0))
    parts = -(-turns // _TURNS)
    if given.form.one:
        numbers = given.words, int(given.lengths[0]), int(most[0])
    else:
        numbers = given.table(given.starts, given.lengths, places, most), 0, 0
    run = _decompressed(_TURNS, given.form.one)
    data, ends, state = run(given.words, *numbers, len(most), total, parts)

    def why(block: np.ndarray, position: int) -> tuple[str, str]:
        if position == len(block):
            return "ends too early", "pass the whole block"
        if position == int(state.numpy()[0, 3]):  # the token of the sequence that ended the block
            return f"has a sequence that gives more bytes than the {int(size[0])} of `sizes`", "pass a larger size"
        offset = int(block[position]) | int(block[position + 1]) << 8
        fix = "pass a block as it was compressed, without a frame around it and without a dictionary"
        return f"has an offset of {offset}{', which reaches before the first byte,' if offset else ''}", fix

    return given.decoded(data, 4 * places, ends, why)


def _sizes(sizes: Any, count: int, one: bool, where: str) -> np.ndarray:
    """The sizes as int64, one for each block."""
    if one or as_count(sizes) is not None:
        return np.full(count, count_of(sizes, where, 0, _MOST), np.int64)
    exact = _values.exact(sizes, np.dtype(np.uint32), where).astype(np.int64)
    if exact.shape != (count,):
        raise must_be(where, f"an integer, or {count} of them, one for each block", f"shape {exact.shape}")
    return exact
