"""Blocks of a message as little-endian words, zeros after its last byte, for the kernels of hash functions."""

from __future__ import annotations

from typing import Any

import vyre
from vyre import In, u32

__all__ = ["padded_words", "word_at"]


def word_at(words: In[u32], at: u32, shift: u32) -> u32:
    """Load the word that begins ``shift`` bits (0, 8, 16 or 24) after the beginning of a word of the array."""
    return words[at] >> shift | words[at + 1] << 1 << (31 - shift)


def padded_words(words: In[u32], at: u32, shift: u32, left: Any, count: int, aligned: bool) -> list[Any]:
    """Load the words of a block.

    Args:
        at, shift: where the block begins: the index of a word, and the bits of it that come before.
        left: bytes of the message from the block's beginning on.
        count: the words of the block.
        aligned: whether ``shift`` is known to be 0.
    """
    if aligned:
        block = [words[at + k] for k in range(count)]
    else:
        lying = [words[at + k] for k in range(count + 1)]
        block = [lying[k] >> shift | lying[k + 1] << 1 << (31 - shift) for k in range(count)]
    if left < 4 * count:
        kept = (1 << left % 4 * 8) - 1
        for k in vyre.unroll(range(count)):
            ended = block[k] & kept if left > 4 * k else 0
            block[k] = block[k] if left >= 4 * k + 4 else ended
    return block
