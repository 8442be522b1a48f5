"""MD5 (RFC 1321): how a block changes the state."""

from __future__ import annotations

import math

import vyre
from vyre import u32

__all__ = ["MD5", "mix_md5"]

# The state before the first block, section 3.3.
MD5 = [0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476]

# Section 3.4. The doubles of this range hold the 32 bits of each sine's first digits exactly enough for the floor.
_SINES = [int(abs(math.sin(t + 1)) * 2**32) for t in range(64)]
_TURNS = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]]  # bits, by round and step
_WORDS = [(1, 0), (5, 1), (3, 5), (7, 0)]  # step t of a round takes word factor * t + offset modulo 16


def mix_md5(h: list[u32], w: list[u32]) -> None:
    """Bring the state forward by a block of 16 words (section 3.4)."""
    a, b, c, d = h
    for t in vyre.unroll(range(64)):
        quarter = t // 16
        if quarter == 0:
            f = d ^ b & (c ^ d)
        elif quarter == 1:
            f = c ^ d & (b ^ c)
        elif quarter == 2:
            f = b ^ c ^ d
        else:
            f = c ^ (b | ~d)
        factor, offset = _WORDS[quarter]
        mixed = a + f + _SINES[t] + w[(factor * t + offset) % 16]
        a, b, c, d = d, b + mixed.rotl(_TURNS[quarter][t % 4]), b, c
    for k, value in enumerate([a, b, c, d]):
        h[k] += value
