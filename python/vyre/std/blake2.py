"""BLAKE2s and BLAKE2b (RFC 7693), plain and keyed. One invocation hashes one message."""

from __future__ import annotations

from functools import cache
from typing import Any

import vyre
from vyre import u32, u64
from vyre._base.refused import must_have
from vyre.std._calls.declared import At, Unpack, argument, call
from vyre.std._calls.host import count_of, host_bytes
from vyre.std._calls.messages import taken
from vyre.std._calls.streams import Stream, hashed
from vyre.std._calls.trimmed import trimmed

__all__ = ["blake2b", "blake2s"]

IV = [
    0x6A09E667F3BCC908,
    0xBB67AE8584CAA73B,
    0x3C6EF372FE94F82B,
    0xA54FF53A5F1D36F1,
    0x510E527FADE682D1,
    0x9B05688C2B3E6C1F,
    0x1F83D9ABFB41BD6B,
    0x5BE0CD19137E2179,
]
# Section 2.7: the order of a block's words in each round.
SIGMA = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
]
QUARTERS = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)]
QUARTERS += [(0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]


@cache
def make_stream(wide: bool, keyed: bool) -> Stream:
    """BLAKE2b or BLAKE2s. The parameters are the digest's bytes, the key's bytes, and the key as a block.

    A key is a block before the message, and without one an empty message is a block of zeros.
    """
    bits = 64 if wide else 32
    words = 32 if wide else 16  # of a block
    lead = 1 if keyed else 0
    iv = IV if wide else [each >> 32 for each in IV]
    rounds, rotations = (12, (32, 24, 16, 63)) if wide else (10, (16, 12, 8, 7))

    def number(low: u32, high: u32) -> Any:
        return u64(high) << 32 | u64(low)

    def begin(parameters: Any, length: u32) -> list[Any]:
        first = parameters[0] | parameters[1] << 8 | 0x01010000
        if wide:
            return [u64(iv[0]) ^ u64(first), *(u64(each) for each in iv[1:])]
        return [u32(iv[0]) ^ first, *(u32(each) for each in iv[1:])]

    def mix(h: list[Any], block: list[u32], low: u32, high: u32, last: u32) -> None:
        """Section 3.2, with the bytes up to the end of the block, and all ones for the last one."""
        if wide:
            m = [number(block[2 * k], block[2 * k + 1]) for k in range(16)]
            tail = [u64(iv[4]) ^ number(low, high), u64(iv[5]), u64(iv[6]) ^ number(last, last), u64(iv[7])]
            v = [*h, *(u64(each) for each in iv[:4]), *tail]
        else:
            m = block
            v = [*h, *(u32(each) for each in iv[:4]), iv[4] ^ low, iv[5] ^ high, iv[6] ^ last, u32(iv[7])]
        for turn in vyre.unroll(range(rounds)):
            order = SIGMA[turn % 10]
            for k in vyre.unroll(range(8)):
                a, b, c, d = QUARTERS[k]
                v[a] = v[a] + v[b] + m[order[2 * k]]
                v[d] = (v[d] ^ v[a]).rotr(rotations[0])
                v[c] = v[c] + v[d]
                v[b] = (v[b] ^ v[c]).rotr(rotations[1])
                v[a] = v[a] + v[b] + m[order[2 * k + 1]]
                v[d] = (v[d] ^ v[a]).rotr(rotations[2])
                v[c] = v[c] + v[d]
                v[b] = (v[b] ^ v[c]).rotr(rotations[3])
        for k in vyre.unroll(range(8)):
            h[k] = h[k] ^ v[k] ^ v[k + 8]

    def step(h: list[Any], block: list[u32], parameters: Any, index: u32, length: u32) -> None:
        if keyed:
            for k in vyre.unroll(range(words)):
                block[k] = parameters[2 + k] if index == 0 else block[k]
        last = index + 1 == blocks(length)
        end = index * (4 * words) + (0 if keyed else 4 * words)  # of the block, in the message
        end = length if last else end
        low = end + lead * 4 * words
        mix(h, block, low, u32(1 if low < end else 0), u32(0xFFFFFFFF if last else 0))

    def finish(h: list[Any], block: list[u32], left: u32, length: u32, parameters: Any) -> list[u32]:
        return [half for each in h for half in (each.lo, each.hi)] if wide else h

    def blocks(length: Any) -> Any:
        whole = length // (4 * words)
        partial = (length % (4 * words) + (4 * words - 1)) // (4 * words)
        return max(whole + partial, 1 - lead) + lead

    name = f"blake2{'b' if wide else 's'}{'_keyed' if keyed else ''}"
    return Stream(name, words, 8, bits // 4, wide, begin, step, finish, blocks, lead, whole=True, mix=mix)


def _digest(wide: bool, data: Any, size: Any, key: Any, at: At) -> Any:
    most = 64 if wide else 32
    size = count_of(size, argument(at, "digest_size"), 1, most)
    octets = host_bytes(key, argument(at, "key"))
    if len(octets) > most:
        raise must_have(argument(at, "key"), f"at most {most} bytes", len(octets))
    padded = octets.ljust(2 * most, b"\0")
    block = [int.from_bytes(padded[k : k + 4], "little") for k in range(0, 2 * most, 4)]
    given = taken(data, at)
    found = hashed(make_stream(wide, bool(octets)), given.messages, [size, len(octets), *block])
    return given.rows(found if size == most else trimmed(found, most, size), size)


@call
def blake2s(data: Any, digest_size: int = 32, key: Any = b"", **at: Unpack[At]) -> Any:
    """BLAKE2s, made for 32-bit words, as hashlib.blake2s.

    Args:
        data: a bytes-like or a uint8 array of one axis (numpy's or resident), a list of these on the host, or Messages.
        digest_size: bytes of each digest, from 1 to 32.
        key: up to 32 bytes, for a keyed hash (a MAC); for all messages.

    Returns: bytes for one message of the host, else uint8 of shape (n, digest_size), or (digest_size,) for one
    resident array; resident for resident data and Messages.

    Source: RFC 7693.

    >>> blake2s(b"abc", 16, backend="cpu").hex()
    'aa4938119b1dc7b87cbad0ffd200d0ae'
    """
    return _digest(False, data, digest_size, key, at)


@call
def blake2b(data: Any, digest_size: int = 64, key: Any = b"", **at: Unpack[At]) -> Any:
    """BLAKE2b, made for 64-bit words: as blake2s, with digests and keys of up to 64 bytes.

    Source: RFC 7693.

    >>> blake2b(b"abc", 20, backend="cpu").hex()
    '384264f676f39536840523f284921cdc68b6846b'
    """
    return _digest(True, data, digest_size, key, at)
