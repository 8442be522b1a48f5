"""Digests, HMAC and PBKDF2 of vyre.std beside hashlib and hmac, for race.py."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import std

if TYPE_CHECKING:
    from std_place import Place

_MOST_OF_PEER = 1 << 26  # bytes: more takes one thread of hashlib many seconds
_ITERATIONS = 1000
_MOST_KEYS = 4096  # that a peer has to derive: two seconds


def _messages(size: int, length: int, shift: int, place: Place) -> tuple[Callable[[], std.Messages], list[bytes]]:
    """Messages of one length, ``shift`` bytes behind multiples of 16, and the same on the host if they are few."""
    count = max(size // length, 1)
    data = np.random.default_rng(1).integers(0, 256, -(-(shift + count * length) // 16) * 16, np.uint8)
    offsets = shift + np.arange(count + 1, dtype=np.uint64) * length
    known = [data[k : k + length].tobytes() for k in offsets[:-1].tolist()] if size <= _MOST_OF_PEER else []
    return place.messages(data, offsets.astype(np.uint32)), known


def _each(function: Callable[[bytes], bytes], messages: list[bytes]) -> Callable[[], Any] | None:
    return (lambda: [function(each) for each in messages]) if messages else None


def cases(size: int, place: Place) -> Iterator[tuple[str, Callable[[], Any], float, Callable[[], Any] | None]]:
    """Messages of ``4 * size`` bytes in all. Those of 64 bytes are counted, of others the bytes, of keys the blocks."""
    short, listed = _messages(4 * size, 64, 0, place)
    count = max(4 * size // 64, 1)
    for name in ("sha256", "md5", "sha1", "sha224", "sha384", "sha512", "sha3_224", "sha3_256", "sha3_384", "sha3_512"):
        peer = _each(lambda each, name=name: getattr(hashlib, name)(each).digest(), listed)
        yield f"{name} of 64 B, messages", place.call(getattr(std, name), short), count, peer
    keyed = _each(lambda each: hmac.digest(b"key", each, "sha256"), listed)
    yield "hmac sha256 of 64 B, messages", place.call(std.hmac, b"key", short, "sha256"), count, keyed
    for length, shift in ((55, 0), (1024, 0), (1024, 4), (1024, 1), (65536, 0)):
        messages, known = _messages(4 * size, length, shift, place)
        name = f"sha256 of {length} B at multiples of {messages().alignment}, bytes"
        yield name, place.call(std.sha256, messages), 4 * size, _each(lambda each: hashlib.sha256(each).digest(), known)
    passwords, words = _messages(max(size >> 8, 64), 16, 0, place)
    for name in ("sha256", "sha512"):
        ours = place.call(std.pbkdf2_hmac, name, passwords, b"salt", _ITERATIONS)
        peer = _each(lambda each, name=name: hashlib.pbkdf2_hmac(name, each, b"salt", _ITERATIONS), words)
        yield (
            f"pbkdf2_hmac {name}, blocks hashed",
            ours,
            len(passwords()) * 2 * _ITERATIONS,
            peer if len(words) <= _MOST_KEYS else None,
        )
