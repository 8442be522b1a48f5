"""Checksums, hashes and ciphers of one long message and of many, beside those of a processor's libraries."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import std

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORT = 64  # bytes of each of many messages
KEY = bytes(range(32))


def _peers() -> dict[str, Any]:
    """Find other implementations that are installed, by name; each takes the bytes."""
    found: dict[str, Any] = {
        "crc32": zlib.crc32,
        "adler32": zlib.adler32,
    }
    try:
        import blake3

        found["blake3"] = lambda data: blake3.blake3(data, max_threads=blake3.blake3.AUTO).digest()
    except ImportError:
        pass
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        found["chacha20"] = lambda data: Cipher(algorithms.ChaCha20(KEY, bytes(16)), None).encryptor().update(data)
        found["aes_ctr 128"] = lambda data: (
            Cipher(algorithms.AES(KEY[:16]), modes.CTR(bytes(16))).encryptor().update(data)
        )
        found["aes_ctr 256"] = lambda data: Cipher(algorithms.AES(KEY), modes.CTR(bytes(16))).encryptor().update(data)
    except ImportError:
        pass
    return found


def cases(size: int, **where: Any) -> Iterator[tuple[str, Any, float, Any]]:
    """Race one message of ``size`` words, and as many bytes in messages of 64."""
    host = np.random.default_rng(1).integers(0, 2**32, size, dtype=np.uint32).view(np.uint8)
    long = vyre.array(host, **where)
    peers = _peers()

    def peer(name: str) -> Any:
        return None if name not in peers else lambda: peers[name](host)

    for name in ("crc32", "crc32c", "adler32", "blake3"):
        function = getattr(std, name)
        yield f"{name}, one message", lambda function=function: function(long), len(host), peer(name)
    yield "chacha20, one message", lambda: std.chacha20(KEY, bytes(12), long), len(host), peer("chacha20")
    for bits in (128, 256):
        key = KEY[: bits // 8]
        name = f"aes_ctr {bits}"
        yield f"{name}, one message", lambda key=key: std.aes_ctr(key, bytes(16), long), len(host), peer(name)

    offsets = np.arange(0, len(host) + 1, SHORT, dtype=np.uint32)
    many = std.Messages(long, offsets)
    names = ["crc32", "adler32", "blake2s", "blake2b", "blake3", "fnv1a32", "fnv1a64", "murmur3_32", "xxhash32"]
    for name in [*names, "xxhash64"]:
        function = getattr(std, name)
        yield f"{name}, messages of {SHORT} bytes", lambda function=function: function(many), len(host), None
    key = KEY[:16]
    yield f"siphash24, messages of {SHORT} bytes", lambda: std.siphash24(many, key), len(host), None

    counters = vyre.array(np.random.default_rng(1).integers(0, 2**32, (size // 4, 4), dtype=np.uint32), **where)
    words = np.array([1, 2], np.uint32)
    yield "philox4x32_10", lambda: std.philox4x32_10(counters, words), 4 * size, None
