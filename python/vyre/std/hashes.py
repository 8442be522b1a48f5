"""Digests of byte strings: MD5, SHA-1, SHA-2 and SHA-3. One invocation of the device hashes one message."""

from __future__ import annotations

from typing import Any

from vyre import Array
from vyre.std._calls.declared import At, Unpack, call
from vyre.std._calls.messages import Messages, taken
from vyre.std._calls.routes import ROUTES
from vyre.std._hashing.algorithm import Algorithm
from vyre.std._hashing.block_hashes import digests, form_of
from vyre.std._hashing.keccak import absorb
from vyre.std._hashing.md5 import MD5, mix_md5
from vyre.std._hashing.sha1 import SHA1, mix_sha1
from vyre.std._hashing.sha2 import SHA224, SHA256, SHA384, SHA512, mix_sha256, mix_sha512
from vyre.std._hashing.whole_blocks import block_digests

__all__ = ["md5", "sha1", "sha3_224", "sha3_256", "sha3_384", "sha3_512", "sha224", "sha256", "sha384", "sha512"]


def _sha512(bits: int, start: list[int]) -> Algorithm:
    return Algorithm(f"sha{bits}", bits // 8, 128, tuple(start), mix_sha512, wide=True, length=16)


def _sha3(bits: int) -> Algorithm:
    """FIPS 202: a sponge whose capacity is twice the digest; the mark is the suffix 01 and the first bit of padding."""
    block = 200 - bits // 4
    return Algorithm(f"sha3_{bits}", bits // 8, block, 25 * (0,), absorb, True, big_endian=False, length=0, mark=6)


_ALL = [
    Algorithm("md5", 16, 64, tuple(MD5), mix_md5, big_endian=False),
    Algorithm("sha1", 20, 64, tuple(SHA1), mix_sha1),
    Algorithm("sha224", 28, 64, tuple(SHA224), mix_sha256, products=True),
    Algorithm("sha256", 32, 64, tuple(SHA256), mix_sha256, products=True),
    _sha512(384, SHA384),
    _sha512(512, SHA512),
    *[_sha3(bits) for bits in (224, 256, 384, 512)],
]
ALGORITHMS = {each.name: each for each in _ALL}


def _digest(name: str, data: Any, at: At) -> Any:
    algorithm, given = ALGORITHMS[name], taken(data, at)
    return given.rows(_words_of(algorithm, given.messages), algorithm.digest)


def _words_of(algorithm: Algorithm, messages: Messages) -> Array:
    """The words of the digests, one after the other."""
    alignment = form_of(algorithm, messages)
    # Two blocks of wide words are more than a program may have.
    if not algorithm.wide and messages.shortest == messages.longest == algorithm.block and alignment == 16:
        return block_digests(algorithm, ROUTES[messages.backend].products)(messages.words, messages.starts)
    hashed = digests(algorithm, alignment)
    return hashed(messages.words, messages.starts, messages.lengths, messages.longest)


@call
def sha256(data: Any, **at: Unpack[At]) -> Any:
    """SHA-256 of one message or of many.

    Args:
        data: a bytes-like or a uint8 array of one axis is one message, a list of them or ``vyre.std.Messages`` are
            many, each of any length; together at most 2^32 - 1 bytes.

    Returns: for one message its digest, 32 bytes; for a list a uint8 array of shape (n, 32). For Messages that array
    is resident, and for one resident array of uint8 it has shape (32,).

    Source: FIPS 180-4. One message is hashed by one invocation: many at once are what a GPU is for.

    >>> sha256(b"abc", backend="cpu").hex()
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
    >>> sha256([b"abc", b""], backend="cpu")[1, :4]
    array([227, 176, 196,  66], dtype=uint8)
    """
    return _digest("sha256", data, at)


@call
def sha224(data: Any, **at: Unpack[At]) -> Any:
    """SHA-224 (FIPS 180-4), a digest of 28 bytes; arguments, results and errors are those of ``vyre.std.sha256``.

    >>> sha224(b"abc", backend="cpu").hex()
    '23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7'
    """
    return _digest("sha224", data, at)


@call
def sha384(data: Any, **at: Unpack[At]) -> Any:
    """SHA-384 (FIPS 180-4), a digest of 48 bytes; arguments, results and errors are those of ``vyre.std.sha256``.

    >>> sha384(b"abc", backend="cpu").hex()[:32]
    'cb00753f45a35e8bb5a03d699ac65007'
    """
    return _digest("sha384", data, at)


@call
def sha512(data: Any, **at: Unpack[At]) -> Any:
    """SHA-512 (FIPS 180-4), a digest of 64 bytes; arguments, results and errors are those of ``vyre.std.sha256``.

    >>> sha512(b"abc", backend="cpu").hex()[:32]
    'ddaf35a193617abacc417349ae204131'
    """
    return _digest("sha512", data, at)


@call
def sha3_224(data: Any, **at: Unpack[At]) -> Any:
    """SHA3-224 (FIPS 202), a digest of 28 bytes; arguments, results and errors are those of ``vyre.std.sha256``.

    >>> sha3_224(b"", backend="cpu").hex()[:32]
    '6b4e03423667dbb73b6e15454f0eb1ab'
    """
    return _digest("sha3_224", data, at)


@call
def sha3_256(data: Any, **at: Unpack[At]) -> Any:
    """SHA3-256 (FIPS 202), a digest of 32 bytes; arguments, results and errors are those of ``vyre.std.sha256``.

    >>> sha3_256(b"", backend="cpu").hex()[:32]
    'a7ffc6f8bf1ed76651c14756a061d662'
    """
    return _digest("sha3_256", data, at)


@call
def sha3_384(data: Any, **at: Unpack[At]) -> Any:
    """SHA3-384 (FIPS 202), a digest of 48 bytes; arguments, results and errors are those of ``vyre.std.sha256``.

    >>> sha3_384(b"", backend="cpu").hex()[:32]
    '0c63a75b845e4f7d01107d852e4c2485'
    """
    return _digest("sha3_384", data, at)


@call
def sha3_512(data: Any, **at: Unpack[At]) -> Any:
    """SHA3-512 (FIPS 202), a digest of 64 bytes; arguments, results and errors are those of ``vyre.std.sha256``.

    >>> sha3_512(b"", backend="cpu").hex()[:32]
    'a69f73cca23a9ac5c8b567dc185a756e'
    """
    return _digest("sha3_512", data, at)


@call
def md5(data: Any, **at: Unpack[At]) -> Any:
    """MD5 (RFC 1321), a digest of 16 bytes; arguments, results and errors are those of ``vyre.std.sha256``.

    Messages with the same MD5 are easily made: it is for old formats, and no protection.

    >>> md5(b"abc", backend="cpu").hex()
    '900150983cd24fb0d6963f7d28e17f72'
    """
    return _digest("md5", data, at)


@call
def sha1(data: Any, **at: Unpack[At]) -> Any:
    """SHA-1 (FIPS 180-4), a digest of 20 bytes; arguments, results and errors are those of ``vyre.std.sha256``.

    Messages with the same SHA-1 have been made: it is for old formats, and no protection.

    >>> sha1(b"abc", backend="cpu").hex()
    'a9993e364706816aba3e25717850c26c9cd0d89d'
    """
    return _digest("sha1", data, at)
