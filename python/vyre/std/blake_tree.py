"""BLAKE3: a binary tree over chunks of 1,024 bytes, for one long message in parallel and for many messages.

Chunks are hashed to chaining values, and pairs of these to one each, level by level, until two are left or one chunk
was all: the last compression is the root.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import vyre
from vyre._base.refused import must_be, must_have, no_place
from vyre._base.text import type_of
from vyre.std._calls.declared import At, Unpack, argument, call
from vyre.std._calls.host import count_of, host_bytes
from vyre.std._calls.messages import Messages, one_resident, taken
from vyre.std._calls.routes import ROUTES
from vyre.std._calls.trimmed import trimmed
from vyre.std._hashing import blake3_many as _blake3_many
from vyre.std._hashing.blake3 import CHUNK, IV, KEYED, MATERIAL, context_key
from vyre.std._hashing.blake3_long import make_long

__all__ = ["blake3"]

LONG = 2**17  # bytes of one message from which all workgroups share it
EACH_MOST = 2**20  # bytes of messages that are left to one invocation each
EACH_LEAST = 4096  # the fewest messages for which each is left to one invocation


@call
def blake3(
    data: Any,
    length: int = 32,
    key: Any = None,
    context: str | None = None,
    **at: Unpack[At],
) -> Any:
    """BLAKE3, the tree hash: plain, keyed, or as a key derivation, with output of any length.

    Args:
        data: a bytes-like or a uint8 array of one axis (numpy's or resident), a list of these on the host, or Messages.
        length: bytes of each digest, from 0 on.
        key: 32 bytes, for a keyed hash (a MAC).
        context: what derived keys are for, a fixed string of the application; ``data`` is then the key material.

    Returns: bytes for one message of the host, else uint8 of shape (n, length), or (length,) for one resident array;
    resident for resident data and Messages.

    Source: O'Connor, Aumasson, Neves, Wilcox-O'Hearn, "BLAKE3: one function, fast everywhere", 2020.

    >>> blake3(b"", backend="cpu").hex()
    'af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262'
    >>> blake3([b"key material", b"other"], 16, context="example.org 2026 sessions", backend="cpu").shape
    (2, 16)
    """
    length = count_of(length, argument(at, "length"), 0, 2**32 - 1)
    begin = [*IV, 0]
    if key is not None:
        if context is not None:
            raise no_place(argument(at, "context"), "beside a key")
        begin = [*key_words(key, argument(at, "key")), KEYED]
    elif context is not None:
        if not isinstance(context, str):
            raise must_be(argument(at, "context"), "a str", type_of(context))
        begin = [*context_key(context.encode()), MATERIAL]
    alone = one_resident(data, LONG, at)
    if alone is not None:
        return trimmed_to(hashed_alone(*alone, begin, -(-length // 4)), length).view(vyre.u8)
    given = taken(data, at)
    return given.rows(trimmed_to(hashed(given.messages, given.one, begin, -(-length // 4)), length), length)


def trimmed_to(digests: Any, length: int) -> Any:
    """Cut digests of whole words to their bytes."""
    return trimmed(digests, -(-length // 4) * 4, length) if length % 4 else digests


def key_words(key: Any, where: str) -> list[int]:
    """Give the words of a key of 32 bytes."""
    octets_ = host_bytes(key, where)
    if len(octets_) != 32:
        raise must_have(where, "32 bytes", len(octets_))
    return [int(each) for each in np.frombuffer(octets_, "<u4")]


def hashed_alone(words: Any, bytes_: int, begin: list[int], size: int) -> Any:
    """Hash one message of at least LONG bytes to ``size`` words."""
    start = vyre.array(np.array(begin, np.uint32), backend=words.backend, device=words.device)
    by_all = make_long(products=ROUTES[words.backend].products)
    return by_all(words[: len(words) // 4 * 4].reshape(-1, 4), words, start, bytes_, size)


def hashed(messages: Messages, one: bool, begin: list[int], size: int) -> Any:
    """Hash each message to ``size`` words, resident."""
    words, longest = messages.words, messages.longest
    if one and longest >= LONG:
        return hashed_alone(words, longest, begin, size)
    start = vyre.array(np.array(begin, np.uint32), backend=messages.backend, device=messages.device)
    single, each, group = _blake3_many.make_procedures(messages.aligned)
    if longest <= CHUNK:
        return single(words, messages.starts, messages.lengths, start, size)
    if len(messages) >= EACH_LEAST and longest <= EACH_MOST:
        return each(words, messages.starts, messages.lengths, start, size)
    return group(words, messages.starts, messages.lengths, start, -(-longest // _blake3_many.WINDOW), size)
