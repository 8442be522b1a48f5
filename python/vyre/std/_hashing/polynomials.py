"""Polynomials over GF(2) modulo the polynomial of a 32-bit CRC, as words whose highest bit is the coefficient of x^0.

In this order of bits, a word of a message that is read little-endian is its polynomial: the first bit of the message
is the lowest one of its first byte, and has the highest power.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["CRC32", "CRC32C", "Modulus", "powers", "product", "steps", "taps"]

_ONE = 1 << 31


class Modulus(NamedTuple):
    """The polynomial of a CRC.

    Attributes:
        name: of the CRC.
        low: its coefficients below x^32, x^0 as the highest bit.
    """

    name: str
    low: int


CRC32 = Modulus("crc32", 0xEDB88320)  # ISO 3309, IEEE 802.3, RFC 1952
CRC32C = Modulus("crc32c", 0x82F63B78)  # Castagnoli; RFC 3720


def taps(modulus: Modulus) -> list[int]:
    """Give the powers below 32 whose sum is x^32."""
    return [power for power in range(32) if modulus.low >> (31 - power) & 1]


def product(modulus: Modulus, a: int, b: int) -> int:
    result = 0
    for power in range(32):
        if a >> (31 - power) & 1:
            result ^= b
        b = (b >> 1) ^ (modulus.low if b & 1 else 0)
    return result


def power(modulus: Modulus, exponent: int) -> int:
    """Raise x to a power from 0 on."""
    result, square = _ONE, _ONE >> 1
    while exponent:
        if exponent & 1:
            result = product(modulus, result, square)
        square = product(modulus, square, square)
        exponent >>= 1
    return result


def powers(modulus: Modulus, first: int, step: int, count: int) -> np.ndarray:
    """Raise x to the powers first, first + step, ...; as uint32."""
    # Doubling: the second half of the row is the first one times a power, all elements at once.
    row = np.array([power(modulus, first)], np.uint32)
    while len(row) < count:
        row = np.concatenate([row, _products(modulus, row, power(modulus, step * len(row)))])
    return row[:count]


def _products(modulus: Modulus, row: np.ndarray, factor: int) -> np.ndarray:
    result = np.zeros_like(row)
    for bit in range(32):
        result ^= np.where(row >> np.uint32(31 - bit) & np.uint32(1), np.uint32(factor), np.uint32(0))
        factor = (factor >> 1) ^ (modulus.low if factor & 1 else 0)
    return result


def steps(modulus: Modulus, exponent: int) -> np.ndarray:
    """Make four tables of 256 words: w times x^exponent is the exclusive or of each table k at byte k of w."""
    values = np.arange(256, dtype=np.uint32)
    tables = [_products(modulus, values << np.uint32(8 * byte), power(modulus, exponent)) for byte in range(4)]
    return np.concatenate(tables)
