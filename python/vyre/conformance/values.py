"""Values that cases are made from: edges, words that look random, and the host's arrays of each element type.

Nothing here depends on a machine or on a library's random numbers: the words are the output of SHAKE-128 over a name.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from vyre import DataType, _core
from vyre._base.types import TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

U32, I32, U64, BOOL = DataType.U32, DataType.I32, DataType.U64, DataType.Bool
VEC2, VEC4 = DataType.Vec2U32, DataType.Vec4U32

MASK = 0xFFFFFFFF
# Carries, signs, shift amounts and the limits of 16 and 32 bits lie here; 7 and -7 divide others with a remainder.
EDGES = [
    *(0, 1, 2, 7, 31, 32, 33, 0x7FFF, 0xFFFF, 0x10000),
    *(0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFF9, 0xFFFFFFFE, 0xFFFFFFFF),
]
# Element indices at which offsets in bytes wrap around at 4 GiB, for elements of 4, 8 and 16 bytes.
FAR = [0x0FFFFFFF, 0x10000000, 0x10000001, 0x20000000, 0x3FFFFFFF, 0x40000000, 0x40000001, 0x80000000, 0xC0000003, MASK]

# As types.def has them.
LANES = {each: info.lanes for each, info in TYPES.items() if info.value is each and info.kind != "opaque"}
ELEMENTS = sorted(LANES, key=LANES.__getitem__)

# The types of each operator's operands, and that of its result.
SIGNATURES = {
    row[0]: tuple(DataType[each] for each in row[first:-1])
    for table, first in (("binary", 3), ("unary", 2))
    for row in _core._tables[table]
}


def words(name: str, count: int) -> np.ndarray:
    """`count` u32 words that depend on the name alone.

    >>> words("example", 2)
    array([ 690080803, 1149654946], dtype=uint32)
    """
    return np.frombuffer(hashlib.shake_128(name.encode()).digest(4 * count), "<u4").astype(np.uint32)


def samples(name: str, count: int) -> list[int]:
    """`count` u32 values of all widths: uniform words are nearly all large."""
    pairs = words(name, 2 * count).reshape(count, 2).tolist()
    return [value >> (shift & 31) for value, shift in pairs]


def signed(value: int) -> int:
    """The number that 32 bits stand for in two's complement.

    >>> signed(0xFFFFFFFF)
    -1
    """
    return value - 2**32 if value & 0x80000000 else value


def array(element: DataType, lanes: Iterable[int] | np.ndarray) -> np.ndarray:
    """Lanes, one element after the other, as the host's array of an element type; any integers, taken modulo 2^32.

    >>> array(DataType.U64, [1, 2])
    array([8589934593], dtype=uint64)
    """
    flat = np.array([int(lane) & MASK for lane in lanes], np.uint32)
    return flat.view(TYPES[element].bound).reshape(-1, *TYPES[element].axes)


def u32(values: Sequence[int] | np.ndarray) -> np.ndarray:
    """Integers modulo 2^32 as the array of a U32 buffer."""
    return array(U32, values)


def split(value: int) -> tuple[int, int]:
    """The lanes of a U64: low, high."""
    return value & MASK, value >> 32 & MASK


def groups(count: int, size: int = 64) -> int:
    """Workgroups of `size` that cover `count` invocations.

    >>> groups(65)
    2
    """
    return -(-count // size)
