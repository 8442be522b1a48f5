"""Percent-encoding (RFC 3986): all but unreserved characters are written as ``%`` and two digits."""

from __future__ import annotations

from typing import Any

import numpy as np

import vyre
from vyre import u32
from vyre._base.refused import must_have
from vyre.std._calls.batches import batch
from vyre.std._calls.declared import At, Unpack, call
from vyre.std._calls.octets import LOWS, between, equal
from vyre.std._calls.pieces import CHUNK, NOWHERE, joined
from vyre.std._scanning.operators import value_of

__all__ = ["percent_decode", "percent_encode"]

_MOST = (2**32 - 4) // 3  # bytes, of which each may become three


def _hex_digits(text: u32) -> tuple[u32, u32]:
    """Flags of the bytes of a word that are hexadecimal digits, and what digits they are."""
    low = text & LOWS
    decimal, lower, upper = between(low, 48, 57), between(low, 97, 102), between(low, 65, 70)
    digits = low - (decimal >> 7) * 48 - (lower >> 7) * 87 - (upper >> 7) * 55
    return (decimal | lower | upper) & ~text, digits


def _escaped(text: list[u32], before: u32, after: u32, left: u32) -> tuple[list[Any], list[Any], Any]:
    """The pieces of an encoded text: a byte, or ``%`` and two digits."""
    values, sizes = [], []
    for word in text:
        low = word & LOWS
        plain = between(low, 48, 57) | between(low, 65, 90) | between(low, 97, 122) | between(low, 45, 46)
        plain = (plain | equal(word, ord("_")) | equal(word, ord("~"))) & ~word
        halves = [word >> 4 & 0x0F0F0F0F, word & 0x0F0F0F0F]
        # 48 to 57, then 65 to 70.
        digits = [each + 0x30303030 + (each + 0x06060606 >> 4 & 0x01010101) * 7 for each in halves]
        for k in vyre.unroll(range(4)):
            high, low = digits[0] >> 8 * k & 0xFF, digits[1] >> 8 * k & 0xFF
            same = plain >> (8 * k + 7) & 1 != 0
            values.append(word >> 8 * k & 0xFF if same else 0x25 | high << 8 | low << 16)
            sizes.append(1 if same else 3)
    return values, sizes, u32(NOWHERE)


def _plain(text: list[u32], before: u32, after: u32, left: u32) -> tuple[list[Any], list[Any], Any]:
    """The pieces of a decoded text: a byte, one for ``%`` and two digits, or none for these digits."""
    words = [before, *text, after]
    signs = [equal(word, ord("%")) for word in words]
    pairs = [_hex_digits(word) for word in words]
    values, sizes = [], []
    wrong = value_of(u32, NOWHERE)
    for k in vyre.unroll(range(CHUNK - 1, -1, -1)):
        w = k + 1
        next_good = pairs[w][0] >> 8 | pairs[w + 1][0] << 24
        after_good = pairs[w][0] >> 16 | pairs[w + 1][0] << 16
        bad = signs[w] & ~(next_good & after_good)
        for j in (3, 2, 1, 0):
            if bad >> (8 * j + 7) & 1 != 0:
                wrong = min(left, 4 * k + j + (2 if next_good >> (8 * j + 7) & 1 != 0 else 1))
    for k in vyre.unroll(range(CHUNK)):
        w = k + 1
        none = signs[w] << 8 | signs[w - 1] >> 24 | signs[w] << 16 | signs[w - 1] >> 16
        first = pairs[w][1] >> 8 | pairs[w + 1][1] << 24
        second = pairs[w][1] >> 16 | pairs[w + 1][1] << 16
        mask = (signs[w] >> 7) * 0xFF
        word = ((first & 0x0F0F0F0F) << 4 | second & 0x0F0F0F0F) & mask | text[k] & ~mask
        for j in vyre.unroll(range(4)):
            here = none >> (8 * j + 7) & 1 == 0
            values.append(word >> 8 * j & 0xFF if here else 0)
            sizes.append(1 if here else 0)
    return values, sizes, wrong


@call
def percent_encode(data: Any, **at: Unpack[At]) -> Any:
    """Bytes as text in which all but letters, digits and ``-._~`` are written as ``%`` and two digits in upper case.

    Args:
        data: a bytes-like or a uint8 array of one axis (numpy's or resident), or many of them: a list of bytes-likes,
            or ``vyre.std.Messages``. They have at most 1,431,655,764 bytes together.

    Returns: bytes, or a list of bytes; of a resident array two resident ones, without waiting: room for the text, and
    one number that says how long it is. Of Messages Messages.

    Source: RFC 3986, section 2; ``urllib.parse.quote(data, safe="")`` gives the same.

    >>> percent_encode("a b/ü~".encode(), backend="cpu")
    b'a%20b%2F%C3%BC~'
    """
    given = batch(data, at)
    total = int(given.lengths.sum())
    if total > _MOST:
        raise must_have("argument `data` of vyre.std.percent_encode", f"at most {_MOST} bytes", total)
    text, starts, ends = joined("percent_encode", _escaped, 3, given)
    if given.kind == "array":
        return text.view(vyre.u8), ends[1:2]
    return given.results(text, starts.numpy().astype(np.int64), ends.numpy()[1::2].astype(np.int64))


@call
def percent_decode(data: Any, **at: Unpack[At]) -> Any:
    """The bytes of text that has ``%`` and two hexadecimal digits for some of them; all others stay what they are.

    Args: as for ``vyre.std.percent_encode``, up to 2^32 - 4 bytes. ``+`` is no space here.

    Returns: bytes; of a list (list of bytes, status), where the status is 0, or 1 + the position of the first malformed
    byte of that text, whose bytes are then empty. Of a resident array three resident ones, without waiting: room for
    the bytes, one number that says how many there are, and the status. Of Messages (Messages, resident status).

    Raises: DecodeError for one malformed text, and what ``vyre.std.percent_encode`` raises. Its position is that of the
    first byte behind a ``%`` that should be a digit and is none, or the length of a text that ends before it.

    Source: RFC 3986, section 2.1.

    >>> percent_decode(b"a%20b%2f%C3%BC~", backend="cpu").decode()
    'a b/ü~'
    >>> percent_decode([b"100%25", b"100%", b"%4g"], backend="cpu")
    ([b'100%', b'', b''], array([0, 5, 3], dtype=uint32))
    """
    given = batch(data, at)
    found, starts, ends = joined("percent_decode", _plain, 1, given)
    places = np.zeros(1, np.int64) if given.kind == "array" else starts.numpy().astype(np.int64)
    return given.decoded(found, places, ends, _why)


def _why(text: np.ndarray, position: int) -> tuple[str, str]:
    fix = "write % itself as %25, and two hexadecimal digits behind every other %"
    if position == len(text):
        return "ends too early", fix
    return f"has byte 0x{int(text[position]):02x} where a hexadecimal digit belongs", fix
