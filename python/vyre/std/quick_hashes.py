"""Hash functions for tables and checks: FNV-1a, MurmurHash3, xxHash and SipHash. One invocation hashes one message."""

from __future__ import annotations

from typing import Any

import vyre
from vyre import u32, u64
from vyre._base.refused import must_have
from vyre.std._calls.declared import At, Unpack, argument, call
from vyre.std._calls.host import count_of, host_bytes
from vyre.std._calls.messages import taken
from vyre.std._calls.streams import Stream, hashed, pick

__all__ = ["fnv1a32", "fnv1a64", "murmur3_32", "siphash24", "xxhash32", "xxhash64"]


def joined(words: Any, k: int) -> u64:
    """Two words in a row as a number, the low one first."""
    return u64(words[k + 1]) << 32 | u64(words[k])


def _fnv(name: str, wide: bool, offset: int, prime: int) -> Stream:
    def begin(parameters: Any, length: u32) -> list[Any]:
        return [u64(offset) if wide else u32(offset)]

    def add(h: list[Any], byte: u32) -> None:
        h[0] = (h[0] ^ (u64(byte) if wide else byte)) * prime

    def step(h: list[Any], block: list[u32], parameters: Any, index: u32, length: u32) -> None:
        for k in vyre.unroll(range(4)):
            add(h, block[0] >> 8 * k & 255)

    def finish(h: list[Any], block: list[u32], left: u32, length: u32, parameters: Any) -> list[u32]:
        for k in vyre.unroll(range(3)):
            if k < left:
                add(h, block[0] >> 8 * k & 255)
        return [h[0].lo, h[0].hi] if wide else h

    return Stream(name, 1, 1, 2 if wide else 1, wide, begin, step, finish, lambda length: length // 4)


def _murmur3() -> Stream:
    def scrambled(word: u32) -> u32:
        return (word * 0xCC9E2D51).rotl(15) * 0x1B873593

    def begin(parameters: Any, length: u32) -> list[u32]:
        return [parameters[0]]

    def step(h: list[u32], block: list[u32], parameters: Any, index: u32, length: u32) -> None:
        h[0] = (h[0] ^ scrambled(block[0])).rotl(13) * 5 + 0xE6546B64

    def finish(h: list[u32], block: list[u32], left: u32, length: u32, parameters: Any) -> list[u32]:
        # Zeros behind the last byte scramble to zero.
        x = h[0] ^ scrambled(block[0]) ^ length
        x = (x ^ x >> 16) * 0x85EBCA6B
        x = (x ^ x >> 13) * 0xC2B2AE35
        return [x ^ x >> 16]

    return Stream("murmur3_32", 1, 1, 1, False, begin, step, finish, lambda length: length // 4)


def _at_least(size: int, length: u32, high: Any) -> Any:
    """Whether a message has as many bytes; `high` has those above 2^32, or is None where there are none."""
    return length >= size if high is None else vyre.logical_or(length >= size, high > 0)


def _xxhash32() -> Stream:
    primes = [0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1]

    def begin(parameters: Any, length: u32) -> list[u32]:
        seed = parameters[0]
        return [seed + primes[0] + primes[1], seed + primes[1], seed, seed - primes[0]]

    def step(h: list[u32], block: list[u32], parameters: Any, index: u32, length: u32) -> None:
        for k in vyre.unroll(range(4)):
            h[k] = (h[k] + block[k] * primes[1]).rotl(13) * primes[0]

    def finish(h: list[u32], block: list[u32], left: u32, length: u32, parameters: Any, high: Any = None) -> list[u32]:
        x = parameters[0] + primes[4]
        if _at_least(16, length, high):
            x = h[0].rotl(1) + h[1].rotl(7) + h[2].rotl(12) + h[3].rotl(18)
        x += length
        for k in vyre.unroll(range(3)):
            if left >= 4 * k + 4:
                x = (x + block[k] * primes[2]).rotl(17) * primes[3]
        last = pick(block, left >> 2)
        for k in vyre.unroll(range(3)):
            if k < left % 4:
                x = (x + (last >> 8 * k & 255) * primes[4]).rotl(11) * primes[0]
        x = (x ^ x >> 15) * primes[1]
        x = (x ^ x >> 13) * primes[2]
        return [x ^ x >> 16]

    return Stream("xxhash32", 4, 4, 1, False, begin, step, finish, lambda length: length // 16)


def _xxhash64() -> Stream:
    primes = [0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5]

    def begin(parameters: Any, length: u32) -> list[u64]:
        seed = joined(parameters, 0)
        return [seed + primes[0] + primes[1], seed + primes[1], seed, seed - primes[0]]

    def turned(x: u64, lane: u64) -> u64:
        return (x + lane * primes[1]).rotl(31) * primes[0]

    def step(h: list[u64], block: list[u32], parameters: Any, index: u32, length: u32) -> None:
        for k in vyre.unroll(range(4)):
            h[k] = turned(h[k], joined(block, 2 * k))

    def finish(h: list[u64], block: list[u32], left: u32, length: u32, parameters: Any, high: Any = None) -> list[u32]:
        x = joined(parameters, 0) + primes[4]
        if _at_least(32, length, high):
            x = h[0].rotl(1) + h[1].rotl(7) + h[2].rotl(12) + h[3].rotl(18)
            for k in vyre.unroll(range(4)):
                x = (x ^ turned(u64(0), h[k])) * primes[0] + primes[3]
        x += u64(length) if high is None else u64(high) << 32 | u64(length)
        for k in vyre.unroll(range(3)):
            if left >= 8 * k + 8:
                x = (x ^ turned(u64(0), joined(block, 2 * k))).rotl(27) * primes[0] + primes[3]
        if left % 8 >= 4:
            x = (x ^ u64(pick(block, left >> 3 << 1)) * primes[0]).rotl(23) * primes[1] + primes[2]
        last = pick(block, left >> 2)
        for k in vyre.unroll(range(3)):
            if k < left % 4:
                x = (x ^ u64(last >> 8 * k & 255) * primes[4]).rotl(11) * primes[0]
        x = (x ^ x >> 33) * primes[1]
        x = (x ^ x >> 29) * primes[2]
        x ^= x >> 32
        return [x.lo, x.hi]

    return Stream("xxhash64", 8, 4, 2, True, begin, step, finish, lambda length: length // 32)


def _siphash24() -> Stream:
    constants = [0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573]

    def begin(parameters: Any, length: u32) -> list[u64]:
        return [joined(parameters, k % 2 * 2) ^ constants[k] for k in range(4)]

    def sip_round(v: list[u64]) -> None:
        v[0] += v[1]
        v[1] = v[1].rotl(13) ^ v[0]
        v[0] = v[0].rotl(32)
        v[2] += v[3]
        v[3] = v[3].rotl(16) ^ v[2]
        v[0] += v[3]
        v[3] = v[3].rotl(21) ^ v[0]
        v[2] += v[1]
        v[1] = v[1].rotl(17) ^ v[2]
        v[2] = v[2].rotl(32)

    def absorb(v: list[u64], word: u64) -> None:
        v[3] ^= word
        for _ in vyre.unroll(range(2)):
            sip_round(v)
        v[0] ^= word

    def step(v: list[u64], block: list[u32], parameters: Any, index: u32, length: u32) -> None:
        absorb(v, joined(block, 0))

    def finish(v: list[u64], block: list[u32], left: u32, length: u32, parameters: Any) -> list[u32]:
        absorb(v, joined([block[0], block[1] | length << 24], 0))
        v[2] ^= 255
        for _ in vyre.unroll(range(4)):
            sip_round(v)
        x = v[0] ^ v[1] ^ v[2] ^ v[3]
        return [x.lo, x.hi]

    return Stream("siphash24", 2, 4, 2, True, begin, step, finish, lambda length: length // 8)


FNV1A32 = _fnv("fnv1a32", False, 0x811C9DC5, 0x01000193)
FNV1A64 = _fnv("fnv1a64", True, 0xCBF29CE484222325, 0x100000001B3)
MURMUR3_32, XXHASH32, XXHASH64, SIPHASH24 = _murmur3(), _xxhash32(), _xxhash64(), _siphash24()


def _numbers(stream: Stream, parameters: list[int], data: Any, at: At) -> Any:
    given = taken(data, at)
    found = hashed(stream, given.messages, parameters)
    return given.numbers(found.view(vyre.u64) if stream.results == 2 else found)


def _seed(seed: Any, bits: int, at: At) -> list[int]:
    value = count_of(seed, argument(at, "seed"), 0, 2**bits - 1)
    return [value & 0xFFFFFFFF, value >> 32]


@call
def fnv1a32(data: Any, **at: Unpack[At]) -> Any:
    """FNV-1a with 32 bits.

    Args:
        data: a bytes-like or a uint8 array of one axis (numpy's or resident), a list of these on the host, or Messages.

    Returns: an int for one message of the host, else uint32 of shape (n,); resident for resident data and Messages.

    Source: Fowler, Noll and Vo.

    >>> hex(fnv1a32(b"foobar", backend="cpu"))
    '0xbf9cf968'
    """
    return _numbers(FNV1A32, [0], data, at)


@call
def fnv1a64(data: Any, **at: Unpack[At]) -> Any:
    """FNV-1a with 64 bits: as fnv1a32, with an int below 2^64 or uint64.

    >>> hex(fnv1a64(b"foobar", backend="cpu"))
    '0x85944171f73967e8'
    """
    return _numbers(FNV1A64, [0], data, at)


@call
def murmur3_32(data: Any, seed: int = 0, **at: Unpack[At]) -> Any:
    """MurmurHash3_x86_32.

    Args:
        data: as for fnv1a32.
        seed: from 0 to 2^32 - 1.

    Returns: as fnv1a32.

    Source: Appleby, MurmurHash3.

    >>> hex(murmur3_32(b"hello", backend="cpu"))
    '0x248bfa47'
    """
    return _numbers(MURMUR3_32, _seed(seed, 32, at), data, at)


@call
def xxhash32(data: Any, seed: int = 0, **at: Unpack[At]) -> Any:
    """XXH32.

    Args and Returns: as murmur3_32.

    Source: Collet, "xxHash fast digest algorithm", 0.1.1.

    >>> hex(xxhash32(b"", backend="cpu"))
    '0x2cc5d05'
    """
    return _numbers(XXHASH32, _seed(seed, 32, at), data, at)


@call
def xxhash64(data: Any, seed: int = 0, **at: Unpack[At]) -> Any:
    """XXH64: as murmur3_32, with a seed and results below 2^64; an array of results is uint64.

    Source: Collet, "xxHash fast digest algorithm", 0.1.1.

    >>> hex(xxhash64(b"", backend="cpu"))
    '0xef46db3751d8e999'
    """
    return _numbers(XXHASH64, _seed(seed, 64, at), data, at)


@call
def siphash24(data: Any, key: Any, **at: Unpack[At]) -> Any:
    """SipHash-2-4, a keyed hash of 64 bits: without the key, collisions cannot be made on purpose.

    Args:
        data: as for fnv1a32.
        key: 16 bytes, for all messages.

    Returns: an int for one message of the host, else uint64 of shape (n,); resident for resident data and Messages.

    Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012.

    >>> hex(siphash24(bytes(range(15)), bytes(range(16)), backend="cpu"))
    '0xa129ca6149be45e5'
    """
    where = argument(at, "key")
    octets = host_bytes(key, where)
    if len(octets) != 16:
        raise must_have(where, "16 bytes", len(octets))
    words = [int.from_bytes(octets[k : k + 4], "little") for k in range(0, 16, 4)]
    return _numbers(SIPHASH24, words, data, at)
