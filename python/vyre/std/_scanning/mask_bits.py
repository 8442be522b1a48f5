"""The truth of the elements of a mask, four at a time."""

from typing import Any

import vyre
from vyre import DataType, u8

__all__ = ["bits_of_four", "nonzero_bytes", "rest_bits"]


def nonzero_bytes(word: Any) -> Any:
    """A word of which the highest bit of each byte says whether that byte is not 0; the other bits are 0."""
    return ((word & 0x7F7F7F7F) + 0x7F7F7F7F | word) & 0x80808080


def bits_of_four(word: Any, mask: DataType) -> Any:
    """A bit for each of the four elements of a word of the mask, the first one lowest: whether it is not 0."""
    if mask is u8:
        return (nonzero_bytes(word) >> 7) * 0x10204080 >> 28
    lanes = [word.x, word.y, word.z, word.w]
    bits = [vyre.u32(lanes[k] != 0) << k for k in vyre.unroll(range(4))]
    return bits[0] | bits[1] | bits[2] | bits[3]


def rest_bits(rest: Any) -> Any:
    """A bit for each of the last elements of a mask, which are no whole word."""
    bits = vyre.u32(0)
    for j in vyre.unroll(range(3)):
        bits |= vyre.u32(rest[j] != 0) << j
    return bits
