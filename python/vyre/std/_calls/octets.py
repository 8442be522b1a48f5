"""Four bytes at a time in a word, for kernels on text: flags of bytes, and loads of bytes that begin anywhere.

A flag is the highest bit of its byte: 0x80 where something holds, else 0. Words are little-endian.
"""

from __future__ import annotations

from typing import Any

import vyre
from vyre import In, u32

__all__ = ["LOWS", "ONES", "TOPS", "at_least", "between", "equal", "first_flag", "kept_bytes", "load", "word_at"]

ONES = 0x01010101
TOPS = 0x80808080
LOWS = 0x7F7F7F7F


def at_least(low: u32, limit: int) -> u32:
    """Flags of the bytes that are ``limit`` (1 to 128) or more; ``low`` has the bytes' low 7 bits alone."""
    return low + (128 - limit) * ONES & TOPS


def between(low: u32, first: int, last: int) -> u32:
    """Flags of the bytes from ``first`` to ``last`` (1 to 127), of the bytes' low 7 bits."""
    return at_least(low, first) & ~at_least(low, last + 1)


def equal(word: u32, byte: int) -> u32:
    """Flags of the bytes that are equal to ``byte``."""
    other = word ^ byte * ONES
    return ~(((other & LOWS) + LOWS) | other) & TOPS


def first_flag(flags: u32) -> u32:
    """The index of the first byte that has a flag; 4 where none has."""
    return vyre.ctz(flags) >> 3


def word_at(words: In[u32], byte: Any) -> u32:
    """The four bytes from a position on; zeros behind the end of the array."""
    at, shift = byte >> 2, byte % 4 * 8
    return words[at] >> shift | words[at + 1] << 1 << (31 - shift)


def kept_bytes(count: Any, index: int) -> Any:
    """A mask of the bytes of word ``index`` that are among the first ``count``."""
    some = (1 << count % 4 * 8) - 1
    partly = some if count > 4 * index else 0
    return 0xFFFFFFFF if count >= 4 * index + 4 else partly


def load(words: In[u32], byte: u32, count: int, left: Any, aligned: bool) -> list[Any]:
    """The ``count`` words from a position on, with zeros behind the first ``left`` bytes."""
    at, shift = byte >> 2, byte % 4 * 8
    if aligned:
        found = [words[at + k] for k in range(count)]
    else:
        lying = [words[at + k] for k in range(count + 1)]
        found = [lying[k] >> shift | lying[k + 1] << 1 << (31 - shift) for k in range(count)]
    if left < 4 * count:
        for k in vyre.unroll(range(count)):
            found[k] = found[k] & kept_bytes(left, k)
    return found
