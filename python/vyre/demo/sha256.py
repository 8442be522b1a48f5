"""The SHA-256 compression function (FIPS 180-4) as a kernel: one file an invocation.

A dispatch works on a part of each file: whole 64-byte blocks, and in the last part the padding too. The eight words
of the hash are carried from dispatch to dispatch in an array, so a dispatch is short whatever the size of the files.
"""

from __future__ import annotations

import numpy as np

import vyre
from vyre import In, InOut, u8, u32, u64

BLOCK = 64  # bytes


def _primes(count: int) -> list[int]:
    primes: list[int] = []
    candidate = 2
    while len(primes) < count:
        if all(candidate % prime for prime in primes):
            primes.append(candidate)
        candidate += 1
    return primes


def _root_bits(value: int, degree: int) -> int:
    """The first 32 bits of the fractional part of the `degree`-th root of `value`, in exact integer arithmetic."""
    scaled = value << (32 * degree)
    low, high = 0, 1 << 48
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= scaled else (low, middle - 1)
    return low & 0xFFFFFFFF


INITIAL_STATE = np.array([_root_bits(prime, 2) for prime in _primes(8)], np.uint32)
ROUND_CONSTANTS = [_root_bits(prime, 3) for prime in _primes(64)]


@vyre.kernel(workgroup_size=64)
def compress(data: In[u8], parts: In[u32, 2], bits: In[u64], state: InOut[u32, 2]) -> None:
    """Bring the hash of each file forward by one part.

    Args:
        data: the bytes of the parts, one after the other.
        parts: a row for each file: first byte, blocks, bytes. ``blocks * 64 == bytes`` except in the last part.
        bits: the length of each whole file in bits.
        state: a row of eight words for each file.

    Source: FIPS 180-4, sections 4.1.2, 5.1.1 and 6.2.2.

    >>> import numpy as np
    >>> state = INITIAL_STATE.reshape(1, 8).copy()
    >>> digest = compress(np.frombuffer(b"abc", np.uint8), np.array([[0, 1, 3]], np.uint32), np.array([24], np.uint64),
    ...                   state, grid=1)
    >>> digest.astype(">u4").tobytes().hex()
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
    """
    i = vyre.gid(0)
    if i < len(state):
        first, blocks, length = [parts[i, k] for k in range(3)]
        h = [state[i, k] for k in range(8)]
        for block in range(blocks):
            w = [_padded_word(data, first, length, block * BLOCK + 4 * k) for k in range(16)]
            if blocks * BLOCK > length and block + 1 == blocks:  # the file's last block ends with its length
                w[14], w[15] = bits[i].hi, bits[i].lo
            for k, mixed in enumerate(_rounds(h, w)):
                h[k] += mixed
        for k in vyre.unroll(range(8)):
            state[i, k] = h[k]


def _padded_word(data: In[u8], first: u32, length: u32, position: u32 | int) -> u32:
    """Four bytes of a part, the first one on top: the file's, then 0x80, then zeros."""
    word = u32(0)
    for k in vyre.unroll(range(4)):
        at = position + k
        word = word << 8 | (data[first + at] if at < length else 0x80 if at == length else 0)
    return word


def _rounds(h: list[u32], w: list[u32]) -> list[u32]:
    """The 64 rounds on one block."""
    a, b, c, d, e, f, g, last = h
    for t in vyre.unroll(range(64)):
        if t >= 16:
            x, y = w[t - 15], w[t - 2]
            s0 = x.rotr(7) ^ x.rotr(18) ^ x >> 3
            s1 = y.rotr(17) ^ y.rotr(19) ^ y >> 10
            w.append(w[t - 16] + s0 + w[t - 7] + s1)
        t1 = last + (e.rotr(6) ^ e.rotr(11) ^ e.rotr(25)) + (e & f ^ ~e & g) + ROUND_CONSTANTS[t] + w[t]
        t2 = (a.rotr(2) ^ a.rotr(13) ^ a.rotr(22)) + (a & b ^ a & c ^ b & c)
        a, b, c, d, e, f, g, last = t1 + t2, a, b, c, d + t1, e, f, g
    return [a, b, c, d, e, f, g, last]
