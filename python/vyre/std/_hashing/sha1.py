"""SHA-1 (FIPS 180-4): how a block changes the state, as a function that kernels call."""

from __future__ import annotations

import vyre
from vyre import u32

__all__ = ["SHA1", "mix_sha1"]

# The state before the first block, section 5.3.1, and the constants of the rounds, section 4.2.1.
SHA1 = [0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0]
_K = [0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xCA62C1D6]


def mix_sha1(h: list[u32], w: list[u32]) -> None:
    """Bring the state forward by a block of 16 words (section 6.1.2)."""
    a, b, c, d, e = h
    for t in vyre.unroll(range(80)):
        if t >= 16:
            w = [*w, (w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16]).rotl(1)]
        if t < 20:
            f = d ^ b & (c ^ d)
        elif 40 <= t < 60:
            f = b & c | d & (b | c)
        else:
            f = b ^ c ^ d
        a, b, c, d, e = a.rotl(5) + f + e + _K[t // 20] + w[t], a, b.rotl(30), c, d
    for k, value in enumerate([a, b, c, d, e]):
        h[k] += value
