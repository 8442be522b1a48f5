"""Words of 32 bits on the host, for the few steps of a hash function or a cipher that are done there."""

from __future__ import annotations

import struct
from collections.abc import Iterable

__all__ = ["HostWord", "HostWords"]


class HostWord(int):
    """A number modulo 2^32 with the operators that kernels use on u32.

    >>> HostWord(0x80000001).rotl(4) + 0xFFFFFFFF
    23
    """

    def __add__(self, other: int) -> HostWord:
        return HostWord(int(self) + int(other) & 0xFFFFFFFF)

    __radd__ = __add__

    def __mul__(self, other: int) -> HostWord:
        return HostWord(int(self) * int(other) & 0xFFFFFFFF)

    def __xor__(self, other: int) -> HostWord:
        return HostWord(int(self) ^ int(other))

    def rotl(self, bits: int) -> HostWord:
        return HostWord((int(self) << bits | int(self) >> (32 - bits)) & 0xFFFFFFFF)

    def rotr(self, bits: int) -> HostWord:
        return self.rotl(32 - bits)


_LANES = struct.Struct("<4Q")
_KEPT = 0x00000000FFFFFFFF00000000FFFFFFFF00000000FFFFFFFF00000000FFFFFFFF


class HostWords:
    """Four numbers modulo 2^32 that go through the same operations together, 64 bits apart in one int.

    The upper half of each 64 bits takes what an operation carries or shifts out, and is cleared after it.

    >>> (HostWords([0x80000001, 1, 2, 3]).rotl(4) + HostWords([0xFFFFFFFF, 0, 0, 0])).words()
    (23, 16, 32, 48)
    """

    __slots__ = ("_bits",)

    def __init__(self, words: Iterable[int] | None = None, bits: int = 0) -> None:
        self._bits = bits if words is None else int.from_bytes(_LANES.pack(*words), "little")

    def words(self) -> tuple[int, ...]:
        return _LANES.unpack(self._bits.to_bytes(_LANES.size, "little"))

    def __add__(self, other: HostWords) -> HostWords:
        return HostWords(bits=self._bits + other._bits & _KEPT)

    def __xor__(self, other: HostWords) -> HostWords:
        return HostWords(bits=self._bits ^ other._bits)

    def rotl(self, bits: int) -> HostWords:
        return HostWords(bits=(self._bits << bits | self._bits >> (32 - bits)) & _KEPT)
