"""Words of 32 bits on the host, for the few steps of a hash function or a cipher that are done there."""

from __future__ import annotations

__all__ = ["HostWord"]


class HostWord(int):
    """A number modulo 2^32 with the operators that kernels use on u32.

    >>> HostWord(0x80000001).rotl(4) + 0xFFFFFFFF
    23
    """

    def __add__(self, other: int) -> HostWord:
        return HostWord(int(self) + int(other) & 0xFFFFFFFF)

    def __mul__(self, other: int) -> HostWord:
        return HostWord(int(self) * int(other) & 0xFFFFFFFF)

    def __xor__(self, other: int) -> HostWord:
        return HostWord(int(self) ^ int(other))

    def rotl(self, bits: int) -> HostWord:
        return HostWord((int(self) << bits | int(self) >> (32 - bits)) & 0xFFFFFFFF)

    def rotr(self, bits: int) -> HostWord:
        return self.rotl(32 - bits)
