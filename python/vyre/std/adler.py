"""Adler-32 of one long message or of many.

Both of its sums are sums over bytes, the second one with weights, so any number of invocations may share a message:
each takes every G-th word, in turns of 32, and its sums are weighted by its own place afterwards.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import vyre
from vyre import Array, In, InOut, Out, u32
from vyre.std._calls.declared import At, Unpack, argument, call
from vyre.std._calls.host import count_of
from vyre.std._calls.messages import one_resident, taken
from vyre.std._calls.padded import word_at

__all__ = ["adler32"]

BASE = 65_521  # the largest prime below 2^16
TURN = 32  # words that an invocation takes between two divisions
LANES = 64  # invocations of a workgroup that has a message of its own
SHARED = 256  # invocations of a workgroup that shares a long message
TINY, SHORT = 64, 1024  # bytes up to which a message is left to one invocation: always, and where there are many
EACH_WINDOW = 2**20  # bytes of a message that an invocation takes in one dispatch
GROUP_WINDOW = 2**28  # bytes of a message that a workgroup takes in one dispatch

# How many invocations share one long message, and the fewest words that each then has.
STRIDES = (2**17, 2**14, 2**11, 2**8)
SHARE = 128
LONG = 4 * STRIDES[-1] * SHARE  # bytes from which a message is shared by several workgroups
FEW = 32  # messages that have a workgroup each, even short ones


def kept_bytes(word: u32, left: Any) -> u32:
    """Keep the ``left`` first bytes of a word, all four from 4 on."""
    return word if left >= 4 else word & (1 << left * 8) - 1


def add_word(sums: list[u32], word: u32) -> None:
    """Add a word to the sum of bytes, to the sum of these sums, and its bytes 1, 2, 3 with their places as weights."""
    even, odd = word & 0x00FF00FF, word >> 8 & 0x00FF00FF
    both = even + odd
    sums[0] += (both & 0xFFFF) + (both >> 16)
    sums[1] += sums[0]
    sums[2] += (odd & 0xFFFF) + (odd >> 16) + 2 * (both >> 16)


def reduce(sums: list[u32]) -> None:
    for k in vyre.unroll(range(3)):
        sums[k] = sums[k] % BASE


def weighted(sums: list[u32], length: u32, first: u32, stride: u32, words: u32) -> list[u32]:
    """Compute what an invocation adds to Adler's two sums, modulo BASE.

    Args:
        sums: of the words ``first``, ``first + stride``, ..., as many as ``words``.
    """
    # A byte at place p counts length - p times. With the sums of sums t and the sum a, the k-th word counts t for
    # words - k times, so that the sum of k times a word is words * a - t.
    step = stride * 4 % BASE
    ahead = (length % BASE + (BASE - first % BASE * 4 % BASE) + (BASE - step * (words % BASE) % BASE)) % BASE
    second = ahead * sums[0] % BASE + step * sums[1] % BASE + (BASE - sums[2])
    return [sums[0], second % BASE]


def ended(before: u32, first: u32, second: u32, length: u32) -> u32:
    """Bring the checksum from before the message forward by its sums."""
    a, b = before & 0xFFFF, before >> 16
    b = (b + length % BASE * (a % BASE) % BASE + second) % BASE
    return b << 16 | (a + first) % BASE


@vyre.kernel(workgroup_size=LANES)
def adler_each(words: In[u32], starts: In[u32], lengths: In[u32], value: In[u32], begin: u32, out: InOut[u32]) -> None:
    """Bring the checksums of messages, an invocation each, forward from byte ``begin`` on."""
    i = vyre.gid(0)
    if i < len(starts) and begin <= lengths[i]:
        at, shift = (starts[i] >> 2) + (begin >> 2), starts[i] % 4 * 8
        length = min(lengths[i] - begin, EACH_WINDOW)
        count = (length + 3) >> 2
        sums = [u32(0) for _ in range(3)]
        for turn in range((count + (TURN - 1)) // TURN):
            for k in range(turn * TURN, min(turn * TURN + TURN, count)):
                add_word(sums, kept_bytes(word_at(words, at + k, shift), length - 4 * k))
            reduce(sums)
        first, second = weighted(sums, length, u32(0), u32(1), count)
        out[i] = ended(value[0] if begin == 0 else out[i], first, second, length)


@vyre.kernel(workgroup_size=LANES)
def adler_group(words: In[u32], starts: In[u32], lengths: In[u32], value: In[u32], begin: u32, out: InOut[u32]) -> None:
    """Bring the checksums of messages, a workgroup each, forward from byte ``begin`` on."""
    total = vyre.shared(u32, 2)
    t, i = vyre.lid(0), vyre.wid(0)
    length = u32(0)
    if begin <= lengths[i]:
        length = min(lengths[i] - begin, GROUP_WINDOW)
    at, shift = (starts[i] >> 2) + (begin >> 2), starts[i] % 4 * 8
    turns = (((length + 3) >> 2) + (LANES * TURN - 1)) // (LANES * TURN)
    sums = [u32(0) for _ in range(3)]
    for turn in range(turns):
        for k in vyre.unroll(range(TURN)):
            index = (turn * TURN + k) * LANES + t
            left = 0 if length < 4 * index else length - 4 * index
            add_word(sums, kept_bytes(word_at(words, at + index, shift), left))
        reduce(sums)
    first, second = weighted(sums, length, t, u32(LANES), turns * TURN)
    total.atomic_add(0, first)
    total.atomic_add(1, second)
    vyre.barrier()
    if t == 0 and begin <= lengths[i]:
        out[i] = ended(value[0] if begin == 0 else out[i], total[0] % BASE, total[1] % BASE, length)


@vyre.kernel(workgroup_size=SHARED)
def adler_part(words: In[u32], length: u32, stride: u32, turns: u32, parts: Out[u32]) -> None:
    """Add up what each workgroup has of one message of ``stride`` invocations."""
    total = vyre.shared(u32, 2)
    t, g = vyre.lid(0), vyre.gid(0)
    sums = [u32(0) for _ in range(3)]
    for turn in range(turns):
        # Loads beyond the end give zeros, which add nothing.
        block = [words[(turn * TURN + k) * stride + g] for k in range(TURN)]
        for k in vyre.unroll(range(TURN)):
            add_word(sums, block[k])
        reduce(sums)
    first, second = weighted(sums, length, g, stride, turns * TURN)
    total.atomic_add(0, first)
    total.atomic_add(1, second)
    vyre.barrier()
    if t < 2:
        parts[vyre.wid(0) * 2 + t] = total[t] % BASE


@vyre.kernel(workgroup_size=SHARED)
def adler_sum(parts: In[u32], value: In[u32], length: u32, out: Out[u32]) -> None:
    """Make the checksum of the sums of at most 65,536 workgroups; one workgroup."""
    total = vyre.shared(u32, 2)
    t = vyre.lid(0)
    first, second = u32(0), u32(0)
    for k in range((len(parts) // 2 + (SHARED - 1)) // SHARED):
        first += parts[(k * SHARED + t) * 2]
        second += parts[(k * SHARED + t) * 2 + 1]
    total.atomic_add(0, first % BASE)
    total.atomic_add(1, second % BASE)
    vyre.barrier()
    if t == 0:
        out[0] = ended(value[0], total[0] % BASE, total[1] % BASE, length)


@vyre.procedure(name="std.adler32.each")
def by_invocations(
    words: In[u32], starts: In[u32], lengths: In[u32], value: In[u32], windows: u32
) -> vyre.ProcedureArray:
    out = vyre.scratch(u32, starts.length, zeros=True, name="checksums")
    for k in vyre.times(windows):
        adler_each(words, starts, lengths, value, k * EACH_WINDOW, out)
    return out


@vyre.procedure(name="std.adler32.group")
def by_workgroups(
    words: In[u32], starts: In[u32], lengths: In[u32], value: In[u32], windows: u32
) -> vyre.ProcedureArray:
    out = vyre.scratch(u32, starts.length, zeros=True, name="checksums")
    for k in vyre.times(windows):
        adler_group(words, starts, lengths, value, k * GROUP_WINDOW, out, workgroups=starts.length)
    return out


@vyre.procedure(name="std.adler32.long")
def by_all(words: In[u32], value: In[u32], length: u32, stride: u32) -> vyre.ProcedureArray:
    """Share one message among ``stride`` invocations, a multiple of 256."""
    out = vyre.scratch(u32, 1, name="checksum")
    parts = vyre.scratch(u32, stride // SHARED * 2, name="parts")
    turns = vyre.ceil_div(words.length, stride * TURN)
    adler_part(words, length, stride, turns, parts, grid=stride)
    adler_sum(parts, value, length, out, workgroups=1)
    return out


@call
def adler32(data: Any, value: int = 1, **at: Unpack[At]) -> Any:
    """The Adler-32 checksum of zlib's format, as zlib.adler32.

    Args:
        data: a bytes-like or a uint8 array of one axis (numpy's or resident), a list of these on the host, or Messages.
        value: the checksum of what stands before the data; from 0 to 2^32 - 1.

    Returns: an int for one message of the host, else uint32 of shape (n,); resident for resident data and Messages.

    Source: RFC 1950, section 8.2.

    >>> hex(adler32(b"Wikipedia", backend="cpu"))
    '0x11e60398'
    """
    value = count_of(value, argument(at, "value"), 0, 2**32 - 1)
    alone = one_resident(data, LONG, at)
    if alone is not None:
        return by_all(alone[0], _word(value, alone[0]), alone[1], _stride(alone[1]))
    given = taken(data, at)
    messages = given.messages
    before, longest = _word(value, messages), messages.longest
    if given.one and longest >= LONG:
        return given.numbers(by_all(messages.words, before, longest, _stride(longest)))
    each = longest <= TINY or (longest <= SHORT and len(messages) > FEW)
    run, window = (by_invocations, EACH_WINDOW) if each else (by_workgroups, GROUP_WINDOW)
    return given.numbers(run(messages.words, messages.starts, messages.lengths, before, max(-(-longest // window), 1)))


def _stride(size: int) -> int:
    """How many invocations share a message of at least LONG bytes."""
    return next(stride for stride in STRIDES if size // 4 >= stride * SHARE)


def _word(value: int, beside: Any) -> Array:
    return vyre.array(np.array([value], np.uint32), backend=beside.backend, device=beside.device)
