"""Texts that write bytes in digits of an alphabet (RFC 4648): hexadecimal, base32 and base64.

An Alphabet says which digits there are and how many make a whole number of bytes; the kernels here serve all of them.
An invocation takes a chunk: 32 bits of text or bytes at a time, in words.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import vyre
from vyre import In, InOut, Out, u32
from vyre.std._calls.chunks import Form, chunk_of
from vyre.std._calls.octets import LOWS, ONES, TOPS, at_least, between, equal, first_flag, kept_bytes, load, word_at
from vyre.std._scanning.operators import value_of

__all__ = ["BASE32", "BASE64", "BASE64_URL", "HEX", "Alphabet", "decoder", "encoder", "finish"]


NOWHERE = 0xFFFFFFFF


@dataclass(frozen=True)
class Alphabet:
    """How bytes are written in digits.

    Attributes:
        name: what procedures are called.
        bits: of a digit.
        group, octets: the digits of the least whole number of bytes, and these bytes.
        chunk: the words of text that an invocation takes, whole groups; the bytes are of as many words as they need.
        runs: first character, last character, and the digit of the first; those that are written before those that
            are only read.
        written: how many of the runs are written, ascending by digit.
        spelled: the digits, for messages.
        paddings: for each number of ``=`` at the end of a text, four bits: how many of them may stand there.
    """

    name: str
    bits: int
    group: int
    octets: int
    chunk: int
    runs: tuple[tuple[int, int, int], ...]
    written: int
    spelled: str
    paddings: int = 0

    @property
    def words(self) -> int:
        """The words of bytes that belong to a chunk."""
        return self.chunk * self.bits // 8

    @property
    def most_signs(self) -> int:
        """The most ``=`` that may end a text."""
        return self.paddings.bit_length() // 4

    def digit(self, number: int) -> str:
        """The character of a digit."""
        first, _, digit = max((run for run in self.runs[: self.written] if run[2] <= number), key=lambda run: run[2])
        return chr(first + number - digit)

    def number(self, character: int) -> int | None:
        """The digit that a character is."""
        runs = (digit + character - first for first, last, digit in self.runs if first <= character <= last)
        return next(runs, None)

    def written_length(self, lengths: Any) -> Any:
        """The length of the text of `lengths` bytes."""
        return (lengths + self.octets - 1) // self.octets * self.group


def _runs(*runs: tuple[str, int]) -> tuple[tuple[int, int, int], ...]:
    return tuple((ord(run[0]), ord(run[-1]), digit) for run, digit in runs)


HEX = Alphabet(
    "hex", 4, 2, 1, 8, _runs(("09", 0), ("af", 10), ("AF", 10)), 2, "two of the digits 0 to 9, a to f, A to F a byte"
)
BASE32 = Alphabet("base32", 5, 8, 5, 8, _runs(("AZ", 0), ("27", 26)), 2, "digits A to Z and 2 to 7", 0x6443110)
_LETTERS = ("AZ", 0), ("az", 26), ("09", 52)
BASE64 = Alphabet(
    "base64", 6, 4, 3, 8, _runs(*_LETTERS, ("+", 62), ("/", 63)), 5, "digits A to Z, a to z, 0 to 9, + and /", 0x210
)
BASE64_URL = Alphabet(
    "base64_url", 6, 4, 3, 8, _runs(*_LETTERS, ("-", 62), ("_", 63)), 5, "digits A to Z, a to z, 0 to 9, - and _", 0x210
)


def characters(digits: u32, alphabet: Alphabet) -> u32:
    """The characters of the four digits in a word."""
    text = digits
    before = 0
    for first, _, digit in alphabet.runs[: alphabet.written]:
        step = first - digit - before
        text = text + (step * ONES if digit == 0 else (at_least(digits, digit) >> 7) * (step & 0xFFFFFFFF))
        before = first - digit
    return text


def digits_of(text: u32, alphabet: Alphabet) -> tuple[u32, u32]:
    """The digits that four characters are, and flags of those that are none."""
    low = text & LOWS
    digits, known = low, u32(0)
    for first, last, digit in alphabet.runs:
        run = between(low, first, last) if first != last else equal(low, first)
        digits = digits + (run >> 7) * (digit - first & 0xFFFFFFFF)
        known = known | run
    return digits, (~known | text) & TOPS


def spread(field: u32, bits: int) -> u32:
    """The four digits that the low bits of a word have, the highest first, as the bytes of a word."""
    half, digit = (1 << 2 * bits) - 1, (1 << bits) - 1
    pairs = (field & half << 2 * bits) << (16 - 2 * bits) | field & half
    return vyre.byte_swap((pairs & digit * 0x10001 << bits) << (8 - bits) | pairs & digit * 0x10001)


def gathered(digits: u32, bits: int) -> u32:
    """The low bits of a word that ``spread`` takes apart."""
    half, digit = (1 << 2 * bits) - 1, (1 << bits) - 1
    bytes_ = vyre.byte_swap(digits)
    pairs = bytes_ >> (8 - bits) & digit * 0x10001 << bits | bytes_ & digit * 0x10001
    return pairs >> (16 - 2 * bits) & half << 2 * bits | pairs & half


def fields(data: list[u32], bits: int) -> list[Any]:
    """Words of data as numbers of four digits each; the bits above are anything."""
    stream, wide = [vyre.byte_swap(word) for word in data], 4 * bits
    found = []
    for at in vyre.unroll(range(0, 32 * len(data), wide)):
        word, end = at // 32, at % 32 + wide
        if end <= 32:
            found.append(stream[word] >> (32 - end))
        else:
            found.append(stream[word] << (end - 32) | stream[word + 1] >> (64 - end))
    return found


def joined(numbers: list[u32], bits: int) -> list[Any]:
    """The words of data that ``fields`` takes apart."""
    wide = 4 * bits
    stream = [u32(0) for k in range(len(numbers) * wide // 32)]
    for k, number in enumerate(numbers):
        word, end = k * wide // 32, k * wide % 32 + wide
        if end <= 32:
            stream[word] |= number << (32 - end)
        else:
            stream[word] |= number >> (end - 32)
            stream[word + 1] |= number << (64 - end)
    return [vyre.byte_swap(each) for each in stream]


@cache
def encoder(alphabet: Alphabet, form: Form) -> Any:
    """The procedure that writes bytes as text: words and a Cut to words."""
    size = 4 * alphabet.words

    @vyre.kernel(workgroup_size=256)
    def encode(words: In[u32], table: In[u32], whole: u32, chunks: u32, text: Out[vyre.vec4u32]) -> None:
        i = vyre.gid(0)
        if i < chunks:
            _, start, before, left = chunk_of(table, whole, i, size, form)
            data = load(words, start + before, alphabet.words, left, form.aligned)
            written = [characters(spread(each, alphabet.bits), alphabet) for each in fields(data, alphabet.bits)]
            if left < size:
                digits = (left * 8 + alphabet.bits - 1) // alphabet.bits
                padded = alphabet.written_length(left)
                for k in vyre.unroll(range(alphabet.chunk)):
                    kept = kept_bytes(digits, k)
                    written[k] = (written[k] & kept | ~kept & ord("=") * ONES) & kept_bytes(padded, k)
            for k in vyre.unroll(range(alphabet.chunk // 4)):
                text[i * (alphabet.chunk // 4) + k] = vyre.vec4u32(*written[4 * k : 4 * k + 4])

    @vyre.procedure(name=f"std.{alphabet.name}_encode")
    def encoded(words: In[u32], table: In[u32], whole: u32, chunks: u32) -> vyre.ProcedureArray:
        text = vyre.scratch(u32, chunks * alphabet.chunk, name="text")
        encode(words, table, whole, chunks, text.view(vyre.vec4u32), grid=chunks)
        return text

    return encoded


@vyre.kernel(workgroup_size=256)
def finish(found: In[u32], ends: Out[u32]) -> None:
    """Turn what decoders find into ends: of each string a status and a length.

    Args:
        found: of each string the complement of the position of its first malformed byte, or 0, and its length if it
            had none.
    """
    i = vyre.gid(0)
    if 2 * i < len(ends):
        status = 0 - found[2 * i]
        ends[2 * i] = status
        ends[2 * i + 1] = found[2 * i + 1] if status == 0 else 0


@cache
def decoder(alphabet: Alphabet, form: Form) -> Any:
    """The procedure that reads text: words and a Cut to words and ends."""
    size = 4 * alphabet.chunk

    @vyre.kernel(workgroup_size=256)
    def decode(words: In[u32], table: In[u32], whole: u32, chunks: u32, data: Out[u32], found: InOut[u32]) -> None:
        i = vyre.gid(0)
        if i < chunks:
            string, start, before, left = chunk_of(table, whole, i, size, form)
            length = before + left
            text = load(words, start + before, alphabet.chunk, left, form.aligned)
            pairs = [digits_of(word, alphabet) for word in text]
            digits, bad = [each[0] for each in pairs], [each[1] for each in pairs]
            count = min(left, size)
            if left <= size:
                if alphabet.paddings != 0 and length % alphabet.group == 0:
                    count = left - padding(words, start + length, alphabet)
                for k in vyre.unroll(range(alphabet.chunk)):
                    kept = kept_bytes(count, k)
                    digits[k] = digits[k] & kept
                    bad[k] = bad[k] & kept
            read = joined([gathered(each, alphabet.bits) for each in digits], alphabet.bits)
            wrong = value_of(u32, NOWHERE)
            if left <= size:
                octets, over = count * alphabet.bits >> 3, u32(0)
                for k in vyre.unroll(range(alphabet.words)):
                    kept = kept_bytes(octets, k)
                    over = over | read[k] & ~kept
                    read[k] = read[k] & kept
                if length % alphabet.group != 0:
                    wrong = left
                elif over != 0:
                    wrong = count - 1
                found[2 * string + 1] = before // 8 * alphabet.bits + octets
            for k in vyre.unroll(range(alphabet.chunk - 1, -1, -1)):
                wrong = min(wrong, 4 * k + first_flag(bad[k])) if bad[k] != 0 else wrong
            if wrong != NOWHERE:
                found.atomic_max(2 * string, ~(before + wrong))
            for k in vyre.unroll(range(alphabet.words)):
                data[i * alphabet.words + k] = read[k]

    @vyre.procedure(name=f"std.{alphabet.name}_decode")
    def decoded(
        words: In[u32], table: In[u32], whole: u32, chunks: u32, strings: u32
    ) -> tuple[vyre.ProcedureArray, ...]:
        data = vyre.scratch(u32, chunks * alphabet.words, name="data")
        found = vyre.scratch(u32, strings * 2, zeros=True, name="found")
        ends = vyre.scratch(u32, strings * 2, name="ends")
        decode(words, table, whole, chunks, data, found, grid=chunks)
        finish(found, ends, grid=strings)
        return data, ends

    return decoded


def padding(words: In[u32], end: u32, alphabet: Alphabet) -> Any:
    """How many of the ``=`` that a text of whole groups ends with are its padding."""
    other = ~equal(word_at(words, end - 4), ord("=")) & TOPS
    signs = vyre.clz(other) >> 3
    if alphabet.group > 4:
        if other == 0:
            signs = 4 + (vyre.clz(~equal(word_at(words, end - 8), ord("=")) & TOPS) >> 3)
    return alphabet.paddings >> 4 * min(signs, alphabet.most_signs) & 15
