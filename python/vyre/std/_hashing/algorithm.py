"""A hash function by its block, and the words of blocks, states and digests: what kernels of all of them call.

In memory a word is a u32 that is loaded or stored as it lies there. A hash computes with words in an order of its own,
of 32 or 64 bits, whose first byte is the highest or the lowest.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import vyre
from vyre import u32, u64

__all__ = [
    "Algorithm",
    "begin_words",
    "digest_of",
    "digest_of_digest",
    "digest_words",
    "last_block",
    "mix_block",
    "ordered",
    "state_of",
    "state_words",
    "swapped",
]


@dataclass(frozen=True, eq=False)
class Algorithm:
    """A hash function by its block: how blocks are padded, and how one changes the state.

    Attributes:
        name: as hashlib has it.
        digest, block: their bytes.
        start: the words of the state before the first block.
        mix: brings a list of state words forward by a list of the block's words; kernels call it.
        wide: whether words have 64 bits; otherwise they have 32.
        big_endian: whether the first byte of a word is its highest.
        length: the bytes at the end of the last block that hold the number of bits; a sponge has none.
        mark: the byte that follows the message.
        products: whether `mix` can make sums by products, see ``mix_sha256``.
    """

    name: str
    digest: int
    block: int
    start: tuple[int, ...]
    mix: Callable[..., None]
    wide: bool = False
    big_endian: bool = True
    length: int = 8
    mark: int = 0x80
    products: bool = False

    @property
    def words(self) -> int:
        """The u32 words of a block."""
        return self.block // 4

    @property
    def state(self) -> int:
        """The u32 words of a state."""
        return len(self.start) * (2 if self.wide else 1)


def swapped(word: u32) -> u32:
    """The bytes in the opposite order, by two rotations: fewer instructions of a GPU than by four shifts."""
    return word.rotl(8) & 0x00FF00FF | word.rotr(8) & 0xFF00FF00


def ordered(words: list[u32], algorithm: Algorithm) -> list[Any]:
    """The words that a hash computes with, of u32 words as they lie in memory, an even number if they are wide."""
    turned = [swapped(word) for word in words] if algorithm.big_endian else list(words)
    if not algorithm.wide:
        return turned
    high, low = (0, 1) if algorithm.big_endian else (1, 0)
    return [u64(turned[k + high]) << 32 | u64(turned[k + low]) for k in vyre.unroll(range(0, len(words), 2))]


def mix_block(h: list[Any], w: list[u32], algorithm: Algorithm) -> None:
    """Bring a state forward by a block of words as they lie in memory."""
    algorithm.mix(h, ordered(w, algorithm))


def begin_words(algorithm: Algorithm) -> np.ndarray:
    """The state before the first block, as a table of u32 words."""
    words = [half for word in algorithm.start for half in (word & 0xFFFFFFFF, word >> 32)]
    return np.array(words if algorithm.wide else algorithm.start, np.uint32)


def state_words(h: list[Any], algorithm: Algorithm) -> list[u32]:
    return [half for word in h for half in (word.lo, word.hi)] if algorithm.wide else list(h)


def state_of(words: list[u32], algorithm: Algorithm) -> list[Any]:
    """The state that ``state_words`` gave."""
    if algorithm.wide:
        return [u64(words[2 * k + 1]) << 32 | u64(words[2 * k]) for k in range(len(algorithm.start))]
    return list(words)


def digest_words(h: list[Any], algorithm: Algorithm) -> list[u32]:
    """The words of a state's digest, as they lie in memory."""
    if algorithm.big_endian and algorithm.wide:
        found = [swapped(half) for word in h for half in (word.hi, word.lo)]
    elif algorithm.big_endian:
        found = [swapped(word) for word in h]
    else:
        found = state_words(h, algorithm)
    return found[: algorithm.digest // 4]


def digest_of(words: list[u32], algorithm: Algorithm) -> list[Any]:
    """A digest's words in the order of ``ordered``."""
    half = [u32(0)] if algorithm.wide and len(words) % 2 else []
    return ordered([*words, *half], algorithm)


def last_block(u: list[Any], size: int, literal: Any, algorithm: Algorithm) -> list[Any]:
    """What follows a whole block of a message: a block that ends after the ``size`` bytes of ``u``.

    Args:
        u: words in the order of ``ordered``.
        literal: makes a word of a number.
    """
    bits = 64 if algorithm.wide else 32
    count, rest = size * 8 // bits, size * 8 % bits
    words = [literal(0) for k in range(algorithm.block * 8 // bits)]
    for k, word in enumerate(u):
        words[k] = word
    if rest:  # of a sponge: the half of a lane
        words[count] = u[count] | literal(algorithm.mark << rest)
    else:
        words[count] = literal(algorithm.mark << (bits - 8 if algorithm.big_endian else 0))
    if algorithm.length == 0:
        words[-1] |= literal(1 << (bits - 1))
    else:
        last = -1 if algorithm.big_endian else -2
        words[last] = literal(8 * (algorithm.block + size))
    return words


def digest_of_digest(h: list[Any], u: list[Any], algorithm: Algorithm) -> list[Any]:
    """The digest of a block that led to the state ``h`` and of a digest, both digests in the order of ``ordered``."""
    algorithm.mix(h, last_block(u, algorithm.digest, u64 if algorithm.wide else u32, algorithm))
    found = h[: len(u)]
    if algorithm.digest * 8 % 64 and algorithm.wide:
        found[-1] &= 0xFFFFFFFF
    return found
