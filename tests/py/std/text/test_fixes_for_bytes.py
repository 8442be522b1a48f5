"""The Fix for an array of numbers where bytes are wanted gives the bytes of its elements, and hashlib's digests."""

import hashlib

import numpy as np
import pytest

import vyre
from vyre import std

NUMBERS = np.array([1, 2, 3_000_000_000], np.uint32)


def mended(value, error):
    """The value with what the Fix says."""
    assert str(error).endswith("Fix: write .view(np.uint8) for its bytes.")
    return value.view(np.uint8)


@pytest.mark.parametrize("value", [NUMBERS, np.array([True, False]), vyre.array(NUMBERS, backend="cpu")])
def test_the_fix_for_a_message_gives_hashlibs_digest(value):
    with pytest.raises(vyre.BindingError) as caught:
        std.sha256(value)
    whole = value.numpy() if isinstance(value, vyre.Array) else value
    digest = std.sha256(mended(value, caught.value))
    assert bytes(digest.numpy().tobytes() if isinstance(digest, vyre.Array) else digest) == (
        hashlib.sha256(whole.tobytes()).digest()
    )


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
