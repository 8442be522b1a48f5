"""SHA-2 (FIPS 180-4): how a block changes the state, as functions that kernels call, and their constants."""

from __future__ import annotations

from typing import Any

import vyre
from vyre import u32, u64

__all__ = ["SHA224", "SHA256", "SHA384", "SHA512", "mix_sha256", "mix_sha512"]


def _primes(count: int) -> list[int]:
    primes: list[int] = []
    candidate = 2
    while len(primes) < count:
        if all(candidate % prime for prime in primes):
            primes.append(candidate)
        candidate += 1
    return primes


def _root_bits(value: int, degree: int, bits: int) -> int:
    """The first bits of the fractional part of the `degree`-th root of `value`, in exact integer arithmetic."""
    scaled = value << (degree * bits)
    low, high = 0, 1 << (bits + 8)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= scaled else (low, middle - 1)
    return low & ((1 << bits) - 1)


_PRIMES = _primes(80)

# The states before the first block, sections 5.3.2 to 5.3.5.
SHA256 = [_root_bits(prime, 2, 32) for prime in _PRIMES[:8]]
SHA512 = [_root_bits(prime, 2, 64) for prime in _PRIMES[:8]]
SHA384 = [_root_bits(prime, 2, 64) for prime in _PRIMES[8:16]]
SHA224 = [word & 0xFFFFFFFF for word in SHA384]

# The constants of the rounds, sections 4.2.2 and 4.2.3.
_K256 = [_root_bits(prime, 3, 32) for prime in _PRIMES[:64]]
_K512 = [_root_bits(prime, 3, 64) for prime in _PRIMES]


def mix_sha256(h: list[u32], w: list[u32], one: Any = 1, scheduling: Any = 1) -> None:
    """Bring the state forward by a block of 16 words (section 6.2.2).

    ``one`` and ``scheduling`` are 1, see routes.py. A block of HostWord is scheduled on the host, without the latter.
    """
    w = list(w)
    for t in vyre.unroll(range(16, 64)):
        x, y = w[t - 15], w[t - 2]
        first = w[t - 16] * scheduling + (x.rotr(7) ^ x.rotr(18) ^ x >> 3) + w[t - 7]
        w.append(first * scheduling + (y.rotr(17) ^ y.rotr(19) ^ y >> 10))
    a, b, c, d, e, f, g, last = h
    for each in [k + word for k, word in zip(_K256, w, strict=True)]:
        t1 = (last * one + each + (e.rotr(6) ^ e.rotr(11) ^ e.rotr(25))) * one + (g ^ e & (f ^ g))
        t2 = (a.rotr(2) ^ a.rotr(13) ^ a.rotr(22)) * one + (a & b | c & (a | b))
        a, b, c, d, e, f, g, last = t1 * one + t2, a, b, c, d * one + t1, e, f, g
    for k, value in enumerate([a, b, c, d, e, f, g, last]):
        h[k] += value


def mix_sha512(h: list[u64], w: list[u64]) -> None:
    """Bring the state forward by a block of 16 words (section 6.4.2)."""
    w = list(w)
    a, b, c, d, e, f, g, last = h
    for t in vyre.unroll(range(80)):
        if t >= 16:
            x, y = w[t - 15], w[t - 2]
            w.append(w[t - 16] + (x.rotr(1) ^ x.rotr(8) ^ x >> 7) + w[t - 7] + (y.rotr(19) ^ y.rotr(61) ^ y >> 6))
        t1 = last + (e.rotr(14) ^ e.rotr(18) ^ e.rotr(41)) + (g ^ e & (f ^ g)) + _K512[t] + w[t]
        t2 = (a.rotr(28) ^ a.rotr(34) ^ a.rotr(39)) + (a & b | c & (a | b))
        a, b, c, d, e, f, g, last = t1 + t2, a, b, c, d + t1, e, f, g
    for k, value in enumerate([a, b, c, d, e, f, g, last]):
        h[k] += value
