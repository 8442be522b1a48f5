"""Bytes written as text and read back: hexadecimal, base32 and base64 (RFC 4648)."""

from __future__ import annotations

from typing import Any

import numpy as np

from vyre._base.refused import must_be
from vyre._base.text import shown
from vyre.std._calls.batches import batch
from vyre.std._calls.declared import At, Unpack, argument, call
from vyre.std._searching.alphabets import BASE32, BASE64, BASE64_URL, HEX, Alphabet, decoder, encoder

__all__ = ["base32_decode", "base32_encode", "base64_decode", "base64_encode", "hex_decode", "hex_encode"]


def _encoded(alphabet: Alphabet, data: Any, at: At) -> Any:
    given = batch(data, at)
    cut = given.cut(4 * alphabet.words)
    text = encoder(alphabet, given.form)(given.words, cut.table, cut.whole, cut.chunks)
    starts = 4 * alphabet.chunk * given.firsts(4 * alphabet.words)
    return given.results(text, starts, alphabet.written_length(given.lengths))


def _decoded(alphabet: Alphabet, data: Any, at: At) -> Any:
    given = batch(data, at)
    found, ends = decoder(alphabet, given.form)(given.words, *given.cut(4 * alphabet.chunk))
    starts = 4 * alphabet.words * given.firsts(4 * alphabet.chunk)

    def why(text: np.ndarray, position: int) -> tuple[str, str]:
        if position == len(text):
            whole = f"a multiple of {alphabet.group} characters"
            padded = f", with `=` at its end up to {whole}" if alphabet.paddings else f": {whole}"
            return "ends too early", f"pass the whole text{padded}"
        character = int(text[position])
        number = alphabet.number(character)
        if number is None:
            fix = _other_alphabet(alphabet, bytes(text)) or f"write {alphabet.spelled}"
            return f"has byte 0x{character:02x} where a digit belongs", fix
        unused = (position + 1) * alphabet.bits % 8
        zeroed = alphabet.digit(number >> unused << unused)
        return "has a digit whose unused bits are not zero", f"write `{zeroed}` there"

    return given.decoded(found, starts, ends, why)


def _other_alphabet(alphabet: Alphabet, text: bytes) -> str:
    """The Fix for base64 text whose characters are all of the alphabet that `url_safe` chooses instead, or nothing."""
    if alphabet not in (BASE64, BASE64_URL):
        return ""
    other = BASE64 if alphabet is BASE64_URL else BASE64_URL
    digits = bytes(character for character in range(256) if other.number(character) is not None)
    if text.rstrip(b"=").translate(None, digits):
        return ""
    return f"write url_safe={other is BASE64_URL} for {other.spelled}"


@call
def hex_encode(data: Any, **at: Unpack[At]) -> Any:
    """Bytes as hexadecimal text in lower case, two digits a byte.

    Args:
        data: a bytes-like or a uint8 array of one axis (numpy's or resident), or many of them: a list of bytes-likes,
            or ``vyre.std.Messages``. They have at most 2^32 - 4 bytes together.

    Returns: bytes, or a list of bytes; of a resident array a resident one of uint8, of Messages Messages.

    Source: RFC 4648, section 8 (there in upper case).

    >>> hex_encode(b"vyre", backend="cpu")
    b'76797265'
    >>> hex_encode([b"a", b"", b"bc"], backend="cpu")
    [b'61', b'', b'6263']
    """
    return _encoded(HEX, data, at)


@call
def hex_decode(data: Any, **at: Unpack[At]) -> Any:
    """The bytes of hexadecimal text in lower or upper case.

    Args: as for ``vyre.std.hex_encode``.

    Returns: bytes; of a list (list of bytes, status), where the status is 0, or 1 + the position of the first malformed
    byte of that text, whose bytes are then empty. Of a resident array three resident ones, without waiting: room for
    the bytes, one number that says how many there are, and the status. Of Messages (Messages, resident status).

    Raises: DecodeError for one malformed text, and what ``vyre.std.hex_encode`` raises. Its position is that of the
    first byte that is no digit, or the length of a text that ends in the middle of a byte.

    Source: RFC 4648, section 8.

    >>> hex_decode(b"76797265", backend="cpu")
    b'vyre'
    >>> hex_decode([b"61", b"6", b"6z"], backend="cpu")
    ([b'a', b'', b''], array([0, 2, 2], dtype=uint32))
    """
    return _decoded(HEX, data, at)


@call
def base32_encode(data: Any, **at: Unpack[At]) -> Any:
    """Bytes as base32 text, 8 characters for every 5 bytes, padded with ``=``.

    Arguments, results and errors are those of ``vyre.std.hex_encode``.

    Source: RFC 4648, section 6.

    >>> base32_encode(b"foob", backend="cpu")
    b'MZXW6YQ='
    """
    return _encoded(BASE32, data, at)


@call
def base32_decode(data: Any, **at: Unpack[At]) -> Any:
    """The bytes of base32 text: upper case, padded, without whitespace, and with zeros in the bits that none has.

    Arguments, results and errors are those of ``vyre.std.hex_decode``. The position of an error is that of the first
    byte that is neither a digit nor padding where padding belongs, of the last digit if its unused bits are not zero,
    or the length of a text that is no multiple of 8 characters.

    Source: RFC 4648, section 6.

    >>> base32_decode(b"MZXW6YQ=", backend="cpu")
    b'foob'
    """
    return _decoded(BASE32, data, at)


@call
def base64_encode(data: Any, url_safe: bool = False, **at: Unpack[At]) -> Any:
    """Bytes as base64 text, 4 characters for every 3 bytes, padded with ``=``.

    Arguments, results and errors are those of ``vyre.std.hex_encode``; with ``url_safe`` the last two digits are
    ``-`` and ``_`` instead of ``+`` and ``/``.

    Source: RFC 4648, sections 4 and 5.

    >>> base64_encode(b"foob", backend="cpu")
    b'Zm9vYg=='
    >>> base64_encode(b"~~~?", url_safe=True, backend="cpu")
    b'fn5-Pw=='
    """
    return _encoded(_base64(url_safe, at), data, at)


@call
def base64_decode(data: Any, url_safe: bool = False, **at: Unpack[At]) -> Any:
    """The bytes of base64 text: padded, without whitespace, and with zeros in the bits that none has.

    Arguments, results and errors are those of ``vyre.std.hex_decode``; ``url_safe`` is as for
    ``vyre.std.base64_encode``. The position of an error is that of the first byte that is neither a digit nor padding
    where padding belongs, of the last digit if its unused bits are not zero, or the length of a text that is no
    multiple of 4 characters.

    Source: RFC 4648, sections 4 and 5.

    >>> base64_decode(b"Zm9vYg==", backend="cpu")
    b'foob'
    >>> base64_decode([b"Zm9v", b"Zm9vYh==", b"Zm!v", b"Zm9vYg"], backend="cpu")
    ([b'foo', b'', b'', b''], array([0, 6, 3, 7], dtype=uint32))
    """
    return _decoded(_base64(url_safe, at), data, at)


def _base64(url_safe: Any, at: At) -> Alphabet:
    if not isinstance(url_safe, bool):
        raise must_be(argument(at, "url_safe"), "True or False", shown(url_safe))
    return BASE64_URL if url_safe else BASE64
