"""How byte strings are cut into chunks, of which an invocation takes one: kernels find the string of a chunk."""

from __future__ import annotations

from typing import NamedTuple

from vyre import Array, In, u32

__all__ = ["Cut", "Form", "chunk_of"]


class Form(NamedTuple):
    """What kernels may know about the strings of a call when they are made.

    Attributes:
        aligned: whether all begin at multiples of 4 bytes.
        one: whether there is a single one, at the beginning of the words.
    """

    aligned: bool
    one: bool


class Cut(NamedTuple):
    """The strings of a call in chunks.

    Attributes:
        table: four numbers for each string that is not empty: its first chunk, its first byte, its length, and which
            string it is. For a single string any array: nothing reads it.
        whole: the length of a single string.
        chunks: how many there are.
        strings: how many strings, empty ones too.
    """

    table: Array
    whole: int
    chunks: int
    strings: int


def chunk_of(table: In[u32], whole: u32, chunk: u32, size: int, form: Form) -> tuple[u32, u32, u32, u32]:
    """Where a chunk lies.

    Args:
        table, whole: as in a Cut.
        size: bytes of a chunk.

    Returns: which string it belongs to, where this one begins, how many of its bytes are before the chunk, and how many
    are behind the chunk's beginning.
    """
    if form.one:
        return u32(0), u32(0), chunk * size, whole - chunk * size
    low, high = u32(0), len(table) >> 2
    while high - low > 1:
        middle = (low + high) >> 1
        if table[4 * middle] <= chunk:
            low = middle
        else:
            high = middle
    begin = (chunk - table[4 * low]) * size
    return table[4 * low + 3], table[4 * low + 1], begin, table[4 * low + 2] - begin
