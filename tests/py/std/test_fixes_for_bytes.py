"""The Fix for an array of numbers where bytes are wanted gives the bytes of its elements, and hashlib's digests."""

import hashlib
import pathlib
import re
import zlib

import numpy as np
import pytest

import vyre
from vyre import std

NUMBERS = np.array([1, 2, 3_000_000_000], np.uint32)


def mended(value, error):
    """The value after the first expression of a Fix: what is in it in place of `x`, or before the dot."""
    written = re.search(r"Fix: write (np\.ascontiguousarray\(x\))?\.view\(np\.uint8\) for its bytes", str(error))
    assert written, error
    return (np.ascontiguousarray(value) if written[1] else value).view(np.uint8)


@pytest.mark.parametrize(
    "value",
    [
        NUMBERS,
        NUMBERS[::2],
        np.array([1, 2], np.uint32),
        np.array([-1, 7], np.int8),
        np.array([True, False]),
        np.array([0.5, 1.0]),
        np.array([1, 2], ">u2"),
        vyre.array(NUMBERS, backend="cpu"),
        vyre.array(np.array([-1, 7], np.int8), backend="cpu"),
    ],
)
def test_the_fix_for_a_message_gives_hashlibs_digest(value):
    with pytest.raises(vyre.BindingError) as caught:
        std.sha256(value)
    whole = value.numpy() if isinstance(value, vyre.Array) else value
    digest = std.sha256(mended(value, caught.value))
    assert bytes(digest.numpy().tobytes() if isinstance(digest, vyre.Array) else digest) == (
        hashlib.sha256(whole.tobytes()).digest()
    )


def test_numbers_that_are_bytes_may_be_converted_as_well():
    value = np.array([1, 2], np.uint32)
    with pytest.raises(vyre.BindingError) as caught:
        std.sha256(value)
    assert str(caught.value) == (
        "argument `data` of vyre.std.sha256 must be an array of uint8, got one of uint32. "
        "Fix: write .view(np.uint8) for its bytes, or .astype(np.uint8) where each element is one byte."
    )
    assert std.sha256(value.astype(np.uint8)) == hashlib.sha256(b"\1\2").digest()


KEY = np.arange(2**24, 2**24 + 8, dtype=np.uint32)
CALLS = {
    "key": lambda key: std.hmac(key, b"abc"),
    "message": lambda key: std.hmac(b"abc", key),
    "cipher": lambda key: std.chacha20(key, bytes(12), b"abc"),
    "nonce": lambda key: std.chacha20(bytes(32), key[: len(key) * 3 // 8], b"abc"),
    "codec": lambda key: std.hex_encode(key),
    "checksum": lambda key: std.crc32(key),
    "several": lambda key: std.crc32([b"abc", key]),
    "offsets": lambda key: std.sha256(std.Messages(key, [0, 16, 32])),
    "text": lambda key: std.find([b"\1"], key),
    "word": lambda key: std.find([key], b"abc"),
    "alignment": lambda key: std.edit_distance(key, b"abc"),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_fix_is_told_wherever_bytes_are_wanted(name):
    with pytest.raises(vyre.BindingError) as caught:
        CALLS[name](KEY)
    assert str(CALLS[name](mended(KEY, caught.value))) == str(CALLS[name](np.frombuffer(KEY.tobytes(), np.uint8)))


def test_the_fix_for_a_checksum_gives_zlibs():
    assert std.crc32(KEY.view(np.uint8)) == zlib.crc32(KEY.tobytes())


def test_the_fix_for_a_str_names_its_text_and_the_file_of_that_name(tmp_path):
    path = tmp_path / "f.bin"
    path.write_bytes(b"abc")
    text = str(path)
    with pytest.raises(vyre.BindingError) as caught:
        std.sha256(text)
    assert str(caught.value) == (
        "argument `data` of vyre.std.sha256 must be bytes, got a str. "
        "Fix: write text.encode() for the text itself, or pathlib.Path(text).read_bytes() for a file of that name."
    )
    assert std.sha256(text.encode()) == hashlib.sha256(text.encode()).digest()
    assert std.sha256(pathlib.Path(text).read_bytes()) == hashlib.sha256(b"abc").digest()


def test_the_fix_for_hexadecimal_text_names_the_bytes_of_its_digits():
    text = "000102030405060708090a0b0c0d0e0F"
    with pytest.raises(vyre.BindingError) as caught:
        std.siphash24(b"", text)
    assert str(caught.value) == (
        "argument `key` of vyre.std.siphash24 must be bytes, got a str. "
        "Fix: write text.encode() for the text itself, or bytes.fromhex(text) for the bytes of its hexadecimal digits."
    )
    assert std.siphash24(bytes(range(15)), bytes.fromhex(text)) == 0xA129CA6149BE45E5  # of the paper's appendix A


@pytest.mark.parametrize("text", ["", "  ", "two\nlines", "a\0b"])
def test_a_str_that_names_no_file_is_only_encoded(text):
    with pytest.raises(vyre.BindingError) as caught:
        std.sha256(text)
    assert str(caught.value) == "argument `data` of vyre.std.sha256 must be bytes, got a str. Fix: write text.encode()."
