"""Digests of vyre.std beside hashlib: what `cases` yields is timed by one runner for all families."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import vyre
from vyre import std

_MOST_OF_PEER = 1 << 26  # bytes: more takes one thread of hashlib many seconds
_ITERATIONS = 1000


def _messages(size: int, length: int, rng: np.random.Generator, shift: int = 0) -> tuple[std.Messages, list[bytes]]:
    """Messages of one length, ``shift`` bytes behind multiples of 4, and the first of them on the host."""
    count = max(size // length, 1)
    data = rng.integers(0, 256, shift + count * length, np.uint8)
    offsets = shift + np.arange(count + 1, dtype=np.uint64) * length
    known = [data[k : k + length].tobytes() for k in offsets[:-1].tolist()] if size <= _MOST_OF_PEER else []
    return std.Messages(vyre.array(data), offsets.astype(np.uint32)), known


def cases(size: int) -> Iterator[tuple[str, Callable[[], Any], int, Callable[[], Any] | None]]:
    """Names, calls on resident messages of ``size`` bytes in all, the bytes that they hash, and hashlib's loops."""
    rng = np.random.default_rng(1)
    short, listed = _messages(size, 64, rng)

    def peer(name: str, messages: list[bytes]) -> Callable[[], Any] | None:
        digest = getattr(hashlib, name)
        return (lambda: [digest(each).digest() for each in messages]) if messages else None

    for name in ("sha256", "md5", "sha1", "sha512", "sha3_256"):
        digest = getattr(std, name)
        yield f"{name}, messages of 64 B", lambda digest=digest: digest(short), size, peer(name, listed)
    for length, shift in ((55, 0), (1024, 0), (1024, 1), (65536, 0)):
        messages, known = _messages(size, length, rng, shift)
        name = f"sha256, messages of {length} B{', unaligned' if not messages.aligned else ''}"
        yield name, lambda messages=messages: std.sha256(messages), size, peer("sha256", known)
    keyed = (lambda: [hmac.digest(b"key", each, "sha256") for each in listed]) if listed else None
    yield "hmac sha256, messages of 64 B", lambda: std.hmac(b"key", short), size, keyed
    passwords, words = _messages(max(size >> 10, 64), 16, rng)
    rounds = len(passwords) * 2 * _ITERATIONS * 64  # bytes of the blocks that are hashed
    for name in ("sha256", "sha512"):
        derive = (lambda name=name: std.pbkdf2_hmac(name, passwords, b"saltsalt", _ITERATIONS),)[0]
        known = (lambda name=name: [hashlib.pbkdf2_hmac(name, each, b"saltsalt", _ITERATIONS) for each in words],)[0]
        yield f"pbkdf2 {name}, {_ITERATIONS} iterations", derive, rounds, known if words else None
