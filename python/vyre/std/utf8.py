"""UTF-8 (RFC 3629): whether bytes are UTF-8, and how many characters they have.

An invocation looks at 32 bytes, four at a time, by flags; where these show a mistake it goes through its bytes singly.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import vyre
from vyre import In, InOut, Out, boolean, u32
from vyre.std._calls.batches import Batch, batch
from vyre.std._calls.chunks import Form, chunk_of
from vyre.std._calls.declared import At, Unpack, call
from vyre.std._calls.octets import TOPS, equal, load
from vyre.std._searching.alphabets import finish

__all__ = ["utf8_count", "utf8_validate"]

_CHUNK = 8  # words
_BYTES = 4 * _CHUNK


def mistakes(word: u32, before: u32) -> u32:
    """Flags of bytes that cannot follow those before them, in a word and the word before it.

    A byte that follows a mistake may have a flag as well, and a sequence that is cut off has none until it is.
    """
    leads = [each & (each << 1) & TOPS for each in (word, before)]  # C0 and above
    of_three = [leads[0] & word << 2, leads[1] & before << 2]  # E0 and above
    of_four = [of_three[0] & word << 3, of_three[1] & before << 3]  # F0 and above
    wanted = leads[0] << 8 | leads[1] >> 24 | of_three[0] << 16 | of_three[1] >> 16 | of_four[0] << 24 | of_four[1] >> 8
    goes_on = word & ~(word << 1) & TOPS
    last = word << 8 | before >> 24
    overlong = leads[0] & ~(word << 2 | word << 3 | word << 4 | word << 5 | word << 6)  # C0, C1
    beyond = of_four[0] & (word << 4 | word << 5 & (word << 6 | word << 7))  # F5 and above
    high, low = word << 2, word << 2 | word << 3  # whether a second byte is from A0 on, and from 90 on
    second = equal(last, 0xE0) & ~high | equal(last, 0xED) & high | equal(last, 0xF0) & ~low | equal(last, 0xF4) & low
    return (wanted ^ goes_on | overlong | beyond | second) & TOPS


def unfinished(word: u32) -> u32:
    """Whether a sequence that begins in this word goes on behind it: not 0."""
    leads = word & word << 1
    of_three = leads & word << 2
    return leads & 0x80000000 | of_three & 0x80800000 | of_three & word << 3 & 0x80808000


def byte_of(words: In[u32], start: u32, position: Any, length: u32) -> Any:
    """A byte of a string; 0 outside of it."""
    at = start + position
    return words[at >> 2] >> at % 4 * 8 & 0xFF if position < length else 0


def is_wrong(words: In[u32], start: u32, position: Any, length: u32) -> Any:
    """Whether a byte begins a sequence that is malformed, or goes on where none has begun."""
    c = byte_of(words, start, position, length)
    after = [byte_of(words, start, position + k, length) for k in range(1, 4)]
    before = [byte_of(words, start, position - k, length) for k in range(1, 4)]
    tail = [each >> 6 == 2 for each in before]
    needs = (c >= 0xC0) + (c >= 0xE0) + (c >= 0xF0)
    least = 0xA0 if c == 0xE0 else 0x90 if c == 0xF0 else 0x80
    most = 0x9F if c == 0xED else 0x8F if c == 0xF4 else 0xBF
    begins = c < 0x80 or (0xC2 <= c <= 0xF4 and least <= after[0] <= most)
    whole = (needs < 2 or after[1] >> 6 == 2) and (needs < 3 or after[2] >> 6 == 2)
    goes_on = before[0] >= 0xC0 or (tail[0] and (before[1] >= 0xE0 or (tail[1] and before[2] >= 0xF0)))
    return not (goes_on if c >> 6 == 2 else begins and whole)


@cache
def _scanner(counts: bool, form: Form) -> vyre.Kernel:
    @vyre.kernel(workgroup_size=256)
    def scanner(words: In[u32], table: In[u32], whole: u32, chunks: u32, found: InOut[u32]) -> None:
        """Find the first mistake of each string, and count the characters, where asked.

        Args:
            found: of each string the complement of the position, or 0, and the number of characters.
        """
        i = vyre.gid(0)
        shared = vyre.shared(u32, 1)
        first, _, _, _ = chunk_of(table, whole, vyre.wid(0) * 256, _BYTES, form)
        if i < chunks:
            string, start, begin, left = chunk_of(table, whole, i, _BYTES, form)
            length = begin + left
            text = load(words, start + begin, _CHUNK, left, form.aligned)
            high = u32(0)
            for word in text:
                high = high | word
            if counts:
                characters = min(left, _BYTES)
                if high & TOPS != 0:
                    for word in text:
                        characters = characters - vyre.popcount(word & ~(word << 1) & TOPS)
                if string == first:
                    shared.atomic_add(0, characters)
                else:
                    found.atomic_add(2 * string + 1, characters)
            before = u32(0)
            if begin != 0:
                before = load(words, start + begin - 4, 1, 4, form.aligned)[0]
            if (high | before) & TOPS != 0:
                wrong = u32(0)
                for word in text:
                    wrong = wrong | mistakes(word, before)
                    before = word
                if left <= _BYTES:
                    wrong = wrong | unfinished(before)
                if wrong != 0:
                    for position in range(max(begin, 3) - 3, begin + min(left, _BYTES)):
                        if is_wrong(words, start, position, length):
                            found.atomic_max(2 * string, ~position)
                            break
        if counts:
            vyre.barrier()
            if vyre.lid(0) == 0:
                found.atomic_add(2 * first + 1, shared[0])

    return scanner


@vyre.kernel(workgroup_size=256)
def _is_whole(found: In[u32], valid: Out[boolean]) -> None:
    i = vyre.gid(0)
    valid[i] = boolean(found[2 * i] == 0)


@cache
def _scan(counts: bool, form: Form) -> Any:
    @vyre.procedure(name=f"std.utf8_{'count' if counts else 'validate'}")
    def scan(words: In[u32], table: In[u32], whole: u32, chunks: u32, strings: u32) -> vyre.ProcedureArray:
        found = vyre.scratch(u32, 2 * strings, zeros=True, name="found")
        _scanner(counts, form)(words, table, whole, chunks, found, grid=chunks)
        if not counts:
            valid = vyre.scratch(boolean, strings, name="valid")
            _is_whole(found, valid, grid=strings)
            return valid
        ends = vyre.scratch(u32, 2 * strings, name="ends")
        finish(found, ends, grid=strings)
        return ends

    return scan


def _scanned(counts: bool, given: Batch) -> vyre.Array:
    return _scan(counts, given.form)(given.words, *given.cut(_BYTES))


@call
def utf8_validate(data: Any, **at: Unpack[At]) -> Any:
    """Whether bytes are UTF-8.

    Args:
        data: a bytes-like or a uint8 array of one axis (numpy's or resident), or many of them: a list of bytes-likes,
            or ``vyre.std.Messages``. They have at most 2^32 - 4 bytes together.

    Returns: a bool, or of a list an array of bool; of resident data and Messages a resident array of bool.

    Source: RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.

    >>> utf8_validate("Grüße".encode(), backend="cpu")
    True
    >>> utf8_validate([b"abc", b"\\xc0\\xaf"], backend="cpu")
    array([ True, False])
    """
    given = batch(data, at)
    valid = _scanned(False, given)
    if given.kind in ("array", "messages"):
        return valid
    host = valid.numpy()
    return bool(host[0]) if given.kind == "bytes" else host


@call
def utf8_count(data: Any, **at: Unpack[At]) -> Any:
    """How many characters (Unicode scalar values) UTF-8 has.

    Args: as for ``vyre.std.utf8_validate``.

    Returns: an int; of a list (numbers, status), both of uint32, where the status is 0, or 1 + the position of the
    first malformed byte and the number then 0. Of resident data and Messages both are resident arrays.

    Raises: DecodeError for bytes that are not UTF-8, and what ``vyre.std.utf8_validate`` raises. Its position is that
    of the first byte that begins a malformed sequence or one that is cut off, or goes on where none has begun, as in
    Python's UnicodeDecodeError.

    Source: RFC 3629.

    >>> utf8_count("Grüße".encode(), backend="cpu")
    5
    >>> utf8_count([b"abc", b"ab\\xff"], backend="cpu")
    (array([3, 0], dtype=uint32), array([0, 3], dtype=uint32))
    """
    given = batch(data, at)
    ends = _scanned(True, given)
    if given.kind == "array":
        return ends[1:2], ends[0:1]
    found = ends.numpy().reshape(-1, 2)
    numbers, status = found[:, 1].copy(), found[:, 0].copy()
    if given.kind == "messages":
        return vyre.array(numbers, **given.place), vyre.array(status, **given.place)
    if given.kind == "list":
        return numbers, status
    given.check(int(status[0]), _why)
    return int(numbers[0])


def _why(data: np.ndarray, position: int) -> tuple[str, str]:
    problem = f"has byte 0x{int(data[position]):02x}, which begins no character of UTF-8,"
    return problem, "encode text with text.encode(), or cut the data where a character ends"
