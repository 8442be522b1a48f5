"""CRC-32 and CRC-32C of one long message or of many.

A message is a polynomial over GF(2), and its CRC is the remainder modulo P = x^32 + ... + 1. Squaring is linear, so
P(x)^(2^k) = P(x^(2^k)) is zero modulo P as well: with y = x^(32 G) for a power of two G, y^32 is the sum of the same
few lower powers of y that x^32 is of lower powers of x. An invocation that takes every G-th word therefore keeps 32
words and needs exclusive ors of words alone, without tables, however long the message is. What is left, 32 G words, is
then combined with tables. On a GPU, an invocation takes vectors of four words and keeps 32 for each of them: loads
of single words take longer there than all of the arithmetic.
"""

# No `from __future__ import annotations`: the annotations name types of the functions that make kernels.
import os
from functools import cache
from typing import Any

import numpy as np

import vyre
from vyre import Array, In, InOut, Out, u32
from vyre.std._calls.declared import At, Unpack, argument, call
from vyre.std._calls.host import count_of
from vyre.std._calls.messages import one_resident, taken
from vyre.std._calls.padded import word_at
from vyre.std._calls.routes import ROUTES, is_hardware
from vyre.std._hashing import polynomials as _polynomials
from vyre.std._hashing.polynomials import CRC32, CRC32C, Modulus

__all__ = ["crc32", "crc32c"]

LANES = 64  # invocations of a workgroup that shares a message
TAPS = 32  # words that an invocation keeps
ROW = 33  # words of workgroup memory between rows of 32: no two invocations meet in a bank
BYTEWISE = 256  # invocations of a workgroup whose invocations have messages of their own
TINY, SHORT = 64, 2048  # bytes up to which a message is left to one invocation: always, and where there are many
TURN = 4 * LANES * TAPS  # bytes that a workgroup takes in a turn
EACH_WINDOW = 2**17  # bytes of a message that an invocation takes in one dispatch: 2^15 turns of a loop
GROUP_WINDOW = 2**28  # bytes of a message that a workgroup takes in one dispatch: 2^15 turns as well

# How many invocations share one long message, and how many words each must then have. Combining what they keep costs
# each as much as some hundred words, so a processor gets no more workgroups than it has cores.
STRIDES = (2**16, 2**14, 2**11, 2**8)
SHARE, SHARE_OF_PROCESSORS = 128, 512
QUAD = 4  # words of an element that an invocation of a GPU loads
LONG = 4 * STRIDES[-1] * SHARE  # bytes from which a message may be shared by several workgroups
MOST_TURNS = 32_768
FEW = 32  # messages that have a workgroup each, even short ones


def times_constant(a: u32, factor: u32, low: int) -> u32:
    """Multiply two polynomials, in 32 steps without branches."""
    result = u32(0)
    for bit in vyre.unroll(range(32)):
        result ^= factor & (0 - (a >> (31 - bit) & 1))
        factor = factor >> 1 ^ (low & (0 - (factor & 1)))
    return result


def times_step(a: u32, tables: Any) -> u32:
    """Multiply by the power of x that the four tables are made for."""
    return tables[a & 255] ^ tables[256 + (a >> 8 & 255)] ^ tables[512 + (a >> 16 & 255)] ^ tables[768 + (a >> 24)]


def with_tail(crc: u32, tail: u32, count: u32, low: int) -> u32:
    """Bring the register forward by up to three bytes."""
    for k in vyre.unroll(range(3)):
        if k < count:
            crc ^= tail >> 8 * k & 255
            for _ in vyre.unroll(range(8)):
                crc = crc >> 1 ^ (low & (0 - (crc & 1)))
    return crc


def fold(state: list[u32], block: list[u32], taps: tuple[int, ...]) -> None:
    """Make the state times y^32 plus a block, modulo P: both are lists of 32 coefficients, the highest power first.

    Each word of the block takes the place of the coefficient that leaves.
    """
    for k in vyre.unroll(range(TAPS)):
        highest = state[k]
        state[k] = block[k]
        for tap in taps:
            state[(k - tap) % TAPS] ^= highest


def fill_tables(tables: Any, contents: Any, lanes: int) -> None:
    """Copy four tables to workgroup memory; a barrier has to follow."""
    for k in vyre.unroll(range(1024 // lanes)):
        tables[k * lanes + vyre.lid(0)] = contents[k * lanes + vyre.lid(0)]


def step_tables(contents: Any, lanes: int) -> Any:
    """Make the four tables in workgroup memory; a barrier has to follow."""
    tables = vyre.shared(u32, 1024)
    fill_tables(tables, contents, lanes)
    return tables


def rests(modulus: Modulus, stride: int, bits: int = 32) -> np.ndarray:
    """Make the powers by which ``combined`` multiplies, one for each invocation of a workgroup.

    Args:
        stride: how many invocations share the message.
        bits: the distance from the words of an invocation to those of the next one.
    """
    half = [_polynomials.power(modulus, bits * 32), 1 << 31]
    rows = _polynomials.powers(modulus, 0, bits * stride, TAPS)[::-1].tolist()
    return np.array([_polynomials.product(modulus, row, each) for row in rows for each in half], np.uint32)


def combined(state: list[u32], rest: In[u32], tables: Any, low: int) -> u32:
    """Add up what all LANES invocations keep, each times its power of x; all of them get the sum.

    Invocation t adds up what 32 neighbours have for one power of y.
    """
    partial, sums = vyre.shared(u32, 2 * TAPS * ROW), vyre.shared(u32, 1)
    t = vyre.lid(0)
    for k in vyre.unroll(range(TAPS)):
        partial[(2 * k + (t >> 5)) * ROW + (t & 31)] = state[k]
    vyre.barrier()
    total = u32(0)
    for k in range(TAPS):
        total = times_step(total, tables) ^ partial[t * ROW + k]
    sums.atomic_xor(0, times_constant(total, rest[t], low))
    vyre.barrier()
    return sums[0]


@cache
def make_each(modulus: Modulus) -> Any:
    """Make the procedure that gives each message an invocation."""
    low, word_step = modulus.low, _polynomials.steps(modulus, 32)

    @vyre.kernel(workgroup_size=BYTEWISE)
    def crc_each(
        words: In[u32], starts: In[u32], lengths: In[u32], value: In[u32], begin: u32, crcs: InOut[u32]
    ) -> None:
        """Bring the CRCs of messages forward from byte ``begin`` on."""
        tables, i = step_tables(word_step, BYTEWISE), vyre.gid(0)
        vyre.barrier()
        if i < len(starts) and begin <= lengths[i]:
            at, shift = (starts[i] >> 2) + (begin >> 2), starts[i] % 4 * 8
            length = min(lengths[i] - begin, EACH_WINDOW)
            crc = ~(value[0] if begin == 0 else crcs[i])
            here = words[at]
            for k in range(length >> 2):
                after = words[at + k + 1]
                crc = times_step(crc ^ (here >> shift | after << 1 << (31 - shift)), tables)
                here = after
            tail = here >> shift | words[at + (length >> 2) + 1] << 1 << (31 - shift)
            crcs[i] = ~with_tail(crc, tail, length & 3, low)

    @vyre.procedure(name=f"std.{modulus.name}.each")
    def each(words: In[u32], starts: In[u32], lengths: In[u32], value: In[u32], windows: u32) -> vyre.ProcedureArray:
        crcs = vyre.scratch(u32, starts.length, zeros=True, name="crcs")
        for k in vyre.times(windows):
            crc_each(words, starts, lengths, value, k * EACH_WINDOW, crcs)
        return crcs

    return each


@cache
def make_group(modulus: Modulus) -> Any:
    """Make the procedure that gives each message a workgroup."""
    low, taps, word_step = modulus.low, tuple(_polynomials.taps(modulus)), _polynomials.steps(modulus, 32)
    rest = rests(modulus, LANES)

    @vyre.kernel(workgroup_size=LANES)
    def crc_group(
        words: In[u32], starts: In[u32], lengths: In[u32], value: In[u32], begin: u32, crcs: InOut[u32]
    ) -> None:
        """Bring the CRCs of messages forward from byte ``begin`` on."""
        tables, t, i = step_tables(word_step, LANES), vyre.lid(0), vyre.wid(0)
        length = u32(0)
        if begin <= lengths[i]:
            length = min(lengths[i] - begin, GROUP_WINDOW)
        at, shift, count = (starts[i] >> 2) + (begin >> 2), starts[i] % 4 * 8, length >> 2
        register = ~(value[0] if begin == 0 else crcs[i])
        # Zero words stand for what lies before the message, as many as fill the first turn.
        turns = (count + (LANES * TAPS - 1)) // (LANES * TAPS)
        lead = turns * (LANES * TAPS) - count
        state = [u32(0) for _ in range(TAPS)]
        for turn in range(turns):
            block = [u32(0) for _ in range(TAPS)]
            for k in vyre.unroll(range(TAPS)):
                index = (turn * TAPS + k) * LANES + t - lead
                if index < count:
                    block[k] = word_at(words, at + index, shift)
                    if index == 0:
                        block[k] ^= register
            fold(state, block, taps)
        vyre.barrier()
        crc = combined(state, rest, tables, low)
        if t == 0 and begin <= lengths[i]:
            crc = register if count == 0 else times_step(crc, tables)
            crcs[i] = ~with_tail(crc, word_at(words, at + count, shift), length & 3, low)

    @vyre.procedure(name=f"std.{modulus.name}.group")
    def group(words: In[u32], starts: In[u32], lengths: In[u32], value: In[u32], windows: u32) -> vyre.ProcedureArray:
        crcs = vyre.scratch(u32, starts.length, zeros=True, name="crcs")
        for k in vyre.times(windows):
            crc_group(words, starts, lengths, value, k * GROUP_WINDOW, crcs, workgroups=starts.length)
        return crcs

    return group


@cache
def make_long(modulus: Modulus, stride: int, width: int) -> Any:
    """Make the procedure that gives one message ``stride`` invocations, which load ``width`` words at a time."""
    low, taps, word_step = modulus.low, tuple(_polynomials.taps(modulus)), _polynomials.steps(modulus, 32)
    element, bits = (vyre.vec4u32, 32 * QUAD) if width == QUAD else (u32, 32)
    rest, groups, step = rests(modulus, stride, bits), stride // LANES, _polynomials.steps(modulus, bits)
    # The exponents begin at 32, not at 0, because the register is brought forward by its own 32 bits as well.
    places = _polynomials.powers(modulus, 32, bits * LANES, groups)[::-1].copy()
    word = _polynomials.power(modulus, 32)

    @vyre.kernel(workgroup_size=LANES)
    def crc_part(data: In[element], value: In[u32], count: u32, turns: u32, parts: Out[u32]) -> None:
        """Combine what the invocations of each workgroup keep of ``count`` elements."""
        tables, g = step_tables(word_step, LANES), vyre.gid(0)
        lead = turns * (stride * TAPS) - count
        states = [[u32(0) for _ in range(TAPS)] for _ in range(width)]
        for turn in range(turns):
            # An index below zero wraps around, and is beyond the end.
            indices = [(turn * TAPS + k) * stride + g - lead for k in range(TAPS)]
            blocks = words_of([data[index] for index in indices], width)
            if turn == 0:
                for k in vyre.unroll(range(TAPS)):
                    blocks[0][k] ^= ~value[0] if indices[k] == 0 else 0
            for lane in vyre.unroll(range(width)):
                fold(states[lane], blocks[lane], taps)
        vyre.barrier()
        state = states[0]
        if width > 1:
            for lane in vyre.unroll(range(1, width)):
                for k in vyre.unroll(range(TAPS)):
                    state[k] = times_step(state[k], tables) ^ states[lane][k]
            vyre.barrier()
            fill_tables(tables, step, LANES)
            vyre.barrier()
        total = combined(state, rest, tables, low)
        if vyre.lid(0) == 0:
            parts[vyre.wid(0)] = total

    @vyre.kernel(workgroup_size=BYTEWISE)
    def crc_sum(parts: In[u32], words: In[u32], count: u32, tail: u32, crcs: Out[u32]) -> None:
        """Make the CRC of what all workgroups have of ``count`` words and of the last bytes; one workgroup."""
        sums, t = vyre.shared(u32, 1), vyre.lid(0)
        total = u32(0)
        for k in range((groups + (BYTEWISE - 1)) // BYTEWISE):
            index = k * BYTEWISE + t
            if index < groups:
                total ^= times_constant(parts[index], places[index], low)
        sums.atomic_xor(0, total)
        vyre.barrier()
        if t == 0:
            crc = sums[0]
            for k in range(tail >> 2):
                crc = times_constant(crc ^ words[count + k], u32(word), low)
            crcs[0] = ~with_tail(crc, words[count + (tail >> 2)], tail & 3, low)

    @vyre.procedure(name=f"std.{modulus.name}.long_{stride}_{width}")
    def long(data: In[element], words: In[u32], value: In[u32], size: u32) -> vyre.ProcedureArray:
        count = size // (4 * width)
        crcs = vyre.scratch(u32, 1, name="crcs")
        parts = vyre.scratch(u32, groups, name="parts")
        crc_part(data, value, count, vyre.ceil_div(count, stride * TAPS), parts, workgroups=groups)
        crc_sum(parts, words, count * width, size % (4 * width), crcs, workgroups=1)
        return crcs

    return long


def words_of(elements: list[Any], width: int) -> list[list[Any]]:
    """Give the first words of all elements, then their second words, and so on."""
    if width == 1:
        return [elements]
    x, y = [each.x for each in elements], [each.y for each in elements]
    z, w = [each.z for each in elements], [each.w for each in elements]
    return [x, y, z, w]


@cache
def width_on(backend: str, device: int) -> int:
    """How many words an invocation loads at a time."""
    return QUAD if ROUTES[backend].quads and is_hardware(backend, device) else 1


def crc_of_one(modulus: Modulus, words: Array, value: Array, size: int, stride: int) -> Array:
    """Make the CRC of one message of ``size`` bytes that ``stride`` invocations share."""
    width = width_on(words.backend, words.device)
    elements = words[: len(words) // 4 * 4].reshape(-1, 4) if width == QUAD else words
    return make_long(modulus, stride, width)(elements, words, value, size)


def _crc(modulus: Modulus, data: Any, value: Any, at: At) -> Any:
    value = count_of(value, argument(at, "value"), 0, 2**32 - 1)
    alone = one_resident(data, LONG, at)
    if alone is not None and (stride := _stride(alone[1], alone[0].backend)):
        return crc_of_one(modulus, alone[0], _word(value, alone[0]), alone[1], stride)
    given = taken(data, at)
    messages = given.messages
    before, longest = _word(value, messages), messages.longest
    if given.one and (stride := _stride(longest, messages.backend)):
        return given.numbers(crc_of_one(modulus, messages.words, before, longest, stride))
    each = longest <= TINY or (longest <= SHORT and len(messages) > FEW)
    make, window = (make_each, EACH_WINDOW) if each else (make_group, GROUP_WINDOW)
    windows = max(-(-longest // window), 1)
    return given.numbers(make(modulus)(messages.words, messages.starts, messages.lengths, before, windows))


def _stride(size: int, backend: str) -> int:
    """How many invocations share a message of `size` bytes; 0 where one workgroup takes it."""
    if ROUTES[backend].shares_by_cores:
        groups = max(os.cpu_count() or 1, -(-size // (TURN * MOST_TURNS)))
        stride = LANES << (groups - 1).bit_length()
        return stride if size // 4 >= stride * SHARE_OF_PROCESSORS else 0
    return next((stride for stride in STRIDES if size // 4 >= stride * SHARE), 0)


def _word(value: int, beside: Any) -> Array:
    return vyre.array(np.array([value], np.uint32), backend=beside.backend, device=beside.device)


@call
def crc32(data: Any, value: int = 0, **at: Unpack[At]) -> Any:
    """The CRC-32 of zip, gzip, PNG and Ethernet, as zlib.crc32.

    Args:
        data: a bytes-like or a uint8 array of one axis (numpy's or resident), a list of these on the host, or Messages.
        value: the CRC of what stands before the data; from 0 to 2^32 - 1.

    Returns: an int for one message of the host, else uint32 of shape (n,); resident for resident data and Messages.

    Source: ISO 3309; RFC 1952, section 8.

    >>> crc32(b"123456789", backend="cpu") == 0xCBF43926
    True
    >>> crc32([b"hello", b""], backend="cpu")
    array([907060870,         0], dtype=uint32)
    """
    return _crc(CRC32, data, value, at)


@call
def crc32c(data: Any, value: int = 0, **at: Unpack[At]) -> Any:
    """The CRC-32 with Castagnoli's polynomial: of iSCSI, SCTP, ext4 and Btrfs.

    Args and Returns: as crc32.

    Source: RFC 3720, section 12.1 and appendix B.4.

    >>> crc32c(b"123456789", backend="cpu") == 0xE3069283
    True
    """
    return _crc(CRC32C, data, value, at)
