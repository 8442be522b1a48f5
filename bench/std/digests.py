"""Checksums, hashes and ciphers of one long message and of many, beside those of a processor's libraries."""

from __future__ import annotations

import hashlib
import zlib
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import std

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from std_place import Place

    Case = tuple[str, Callable[[], Any], float, Callable[[], Any] | None]

SHORT = 64  # bytes of each of many messages
MOST_OF_PEER = 1 << 26  # bytes: more takes one thread of Python many seconds
KEY = bytes(range(32))
OF_MANY = ("crc32", "crc32c", "adler32", "blake2s", "blake2b", "blake3", "fnv1a32", "fnv1a64", "murmur3_32")
OF_MANY += ("xxhash32", "xxhash64", "siphash24")


def _peers() -> dict[str, Any]:
    """Find other implementations that are installed, by name; each takes the bytes."""
    found: dict[str, Any] = {
        "crc32": zlib.crc32,
        "adler32": zlib.adler32,
    }
    try:
        import google_crc32c

        found["crc32c"] = google_crc32c.value
    except ImportError:
        pass
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


def _peers_of_many() -> dict[str, Any]:
    """Find implementations for short messages; each takes one."""
    found: dict[str, Any] = {
        "crc32": zlib.crc32,
        "adler32": zlib.adler32,
        "blake2s": lambda each: hashlib.blake2s(each).digest(),
        "blake2b": lambda each: hashlib.blake2b(each).digest(),
    }
    try:
        import xxhash

        found |= {"xxhash32": xxhash.xxh32_intdigest, "xxhash64": xxhash.xxh64_intdigest}
    except ImportError:
        pass
    try:
        import mmh3

        found["murmur3_32"] = mmh3.hash
    except ImportError:
        pass
    try:
        import blake3

        found["blake3"] = lambda each: blake3.blake3(each).digest()
    except ImportError:
        pass
    try:
        import google_crc32c

        found["crc32c"] = google_crc32c.value
    except ImportError:
        pass
    try:
        import fnv_hash_fast

        found["fnv1a32"] = fnv_hash_fast.fnv1a_32
    except ImportError:
        pass
    try:
        import siphash24

        found["siphash24"] = lambda each: siphash24.siphash24(each, key=KEY[:16]).digest()
    except ImportError:
        pass
    return found


def _fnv1a64(messages: np.ndarray) -> np.ndarray:
    """FNV-1a of the rows by numpy, a column of bytes at a time: no kept package has it in C."""
    hashes = np.full(len(messages), 0xCBF29CE484222325, np.uint64)
    for column in messages.T:
        hashes ^= column
        hashes *= np.uint64(0x100000001B3)
    return hashes


def cases(size: int, place: Place) -> Iterator[Case]:
    """Race one message of ``size`` words, and as many bytes in messages of 64."""
    host = np.random.default_rng(1).integers(0, 2**32, size, dtype=np.uint32).view(np.uint8)
    long = place.array(host)
    peers, data = _peers(), host.tobytes()

    def peer(name: str) -> Any:
        return None if name not in peers else lambda: peers[name](data)

    for name in ("crc32", "crc32c", "adler32", "blake3"):
        yield f"{name}, one message", place.call(getattr(std, name), long), len(host), peer(name)
    yield "chacha20, one message", place.call(std.chacha20, KEY, bytes(12), long), len(host), peer("chacha20")
    for bits in (128, 256):
        name, key = f"aes_ctr {bits}", KEY[: bits // 8]
        yield f"{name}, one message", place.call(std.aes_ctr, key, bytes(16), long), len(host), peer(name)
    yield from _short(host, place)
    yield from _random(size, place)


def _short(host: np.ndarray, place: Place) -> Iterator[Case]:
    """Race messages of 64 bytes."""
    many = place.messages(host, np.arange(0, len(host) + 1, SHORT, dtype=np.uint32))
    data = host.tobytes() if len(host) <= MOST_OF_PEER else b""
    messages = [data[k : k + SHORT] for k in range(0, len(data), SHORT)]
    peers = _peers_of_many() if messages else {}
    for name in OF_MANY:
        theirs = peers.get(name)
        peer = None if theirs is None else lambda theirs=theirs: [theirs(each) for each in messages]
        if name == "fnv1a64" and messages:
            peer = lambda: _fnv1a64(host.reshape(-1, SHORT))  # noqa: E731
        key = (KEY[:16],) if name == "siphash24" else ()
        yield f"{name}, messages of {SHORT} bytes", place.call(getattr(std, name), many, *key), len(host), peer


def _random(size: int, place: Place) -> Iterator[Case]:
    """Race random words beside randomgen's, and beside those of numpy's Philox, whose words are of 64 bits.

    A GPU has CuPy's generator of XORWOW beside it, which is not counter-based.
    """
    philox = threefry = None
    try:
        import randomgen

        philox = randomgen.Philox(key=1 | 2 << 32, number=4, width=32)
        threefry = randomgen.ThreeFry(key=1 | 2 << 32, number=2, width=32)
    except ImportError:
        pass
    rng = np.random.default_rng(1)
    four, two = (place.array(rng.integers(0, 2**32, (size // n, n), dtype=np.uint32)) for n in (4, 2))
    key = np.array([1, 2], np.uint32)
    for name, given, of_peer in (("philox4x32_10", four, philox), ("threefry2x32_20", two, threefry)):
        theirs = None if of_peer is None else lambda of_peer=of_peer: of_peer.random_raw(size)
        yield name, place.call(getattr(std, name), given, key), 4 * size, theirs
    seed = 1 if place.whole else place.array(np.array([1, 0], np.uint32))
    yield (
        "random_u32",
        place.call(std.random_u32, size, seed),
        4 * size,
        place.peer(partial(_words, np.random.Generator(np.random.Philox(1)), size)),
    )


def _words(generator: np.random.Generator, size: int, module: Any) -> Any:
    if module is np:
        return generator.integers(0, 2**32, size, dtype=np.uint32)
    return module.random.randint(0, 2**32, size, dtype=np.uint32)
