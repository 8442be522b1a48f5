"""Every number that a call takes is given its least and its greatest value, and one below and above them."""

from __future__ import annotations

import hashlib

import lz4.block
import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

import vyre
from vyre import std

CPU = {"backend": "cpu"}
X = np.array([3, 1, 2], np.uint32)
KEY = bytes(range(32))
BLOCK = lz4.block.compress(b"a" * 100, store_size=False)
SCORES = 2**31


def chacha(counter, data):
    """The keystream of OpenSSL from a block on."""
    cipher = Cipher(algorithms.ChaCha20(KEY, counter.to_bytes(4, "little") + bytes(12)), None)
    return cipher.encryptor().update(data)


# The argument and its function, its range, the call, and what the least and the greatest value give; None is not run.
ROWS = [
    (
        "counter of vyre.std.chacha20",
        (0, 2**32 - 1),
        lambda n: std.chacha20(KEY, bytes(12), b"data", n, **CPU),
        (chacha(0, b"data"), chacha(2**32 - 1, b"data")),
    ),
    (
        "match of vyre.std.smith_waterman",
        (0, SCORES - 1),
        lambda n: std.smith_waterman(b"a", b"bab", match=n, **CPU),
        (0, SCORES - 1),
    ),
    (
        "mismatch of vyre.std.smith_waterman",
        (-SCORES, 0),
        lambda n: std.smith_waterman(b"aca", b"aba", match=2, mismatch=n, gap=-SCORES, **CPU),
        (2, 4),
    ),
    (
        "gap of vyre.std.smith_waterman",
        (-SCORES, 0),
        lambda n: std.smith_waterman(b"aca", b"aa", match=2, mismatch=-SCORES, gap=n, **CPU),
        (2, 4),
    ),
    ("sizes of vyre.std.lz4_decompress", (0, 2**32 - 1), lambda n: std.lz4_decompress(BLOCK, n, **CPU), None),
    (
        "minlength of vyre.std.bincount",
        (0, 2**32 - 1),
        lambda n: std.bincount(X, minlength=n, **CPU).tolist(),
        ([0, 1, 1, 1], None),
    ),
    (
        "lo of vyre.std.histogram",
        (0, 2**32 - 1),
        lambda n: std.histogram(X, 1, n, 2**32, **CPU).tolist(),
        ([3], [0]),
    ),
    ("bins of vyre.std.histogram", (1, 2**32 - 1), lambda n: std.histogram(X, n, **CPU).tolist(), ([3], None)),
    (
        "value of vyre.std.crc32",
        (0, 2**32 - 1),
        lambda n: std.crc32(b"", n, **CPU),
        (0, 2**32 - 1),
    ),
    ("k of vyre.std.topk", (0, 2**32 - 1), lambda n: std.topk(X, n, **CPU)[0].tolist(), ([], None)),
    (
        "length of vyre.std.blake3",
        (0, 2**32 - 1),
        lambda n: std.blake3(b"", n, **CPU),
        (b"", None),
    ),
    (
        "digest_size of vyre.std.blake2b",
        (1, 64),
        lambda n: std.blake2b(b"", n, **CPU),
        (hashlib.blake2b(digest_size=1).digest(), hashlib.blake2b().digest()),
    ),
    ("n of vyre.std.random_u32", (0, 2**32 - 4), lambda n: std.random_u32(n, 1, **CPU).tolist(), ([], None)),
    (
        "limit of vyre.std.find",
        (0, 2**30),
        lambda n: std.find([b"a"], b"banana", n, **CPU).start.tolist(),
        ([], [1, 3, 5]),
    ),
]


@pytest.mark.parametrize(("name", "bounds", "call", "results"), ROWS, ids=[row[0] for row in ROWS])
def test_a_number_may_be_its_least_and_its_greatest_and_no_other(name, bounds, call, results):
    argument, function = name.split(" of ")
    least, greatest = bounds
    for wrong in (least - 1, greatest + 1):
        with pytest.raises(vyre.ArgumentError) as caught:
            call(wrong)
        assert str(caught.value) == (
            f"argument `{argument}` of {function} must be an integer from {least} to {greatest}, got {wrong}. "
            "Fix: write an integer in that range."
        )
    for value, result in zip(bounds, results or (), strict=False):
        if result is not None:
            assert call(value) == result


def test_a_block_of_the_size_that_is_allowed_is_decoded_and_one_byte_more_is_not():
    assert std.lz4_decompress(BLOCK, 100, **CPU) == b"a" * 100
    with pytest.raises(std.DecodeError):
        std.lz4_decompress(BLOCK, 99, **CPU)


def test_a_scan_is_inclusive_or_not():
    with pytest.raises(vyre.ArgumentError) as caught:
        std.scan(X, inclusive=1, **CPU)
    assert str(caught.value) == (
        "argument `inclusive` of vyre.std.scan must be True or False, got 1. Fix: write inclusive=False."
    )
    assert std.scan(X, inclusive=False, **CPU).tolist() == [0, 3, 4]


def test_a_masked_array_is_refused_and_its_fix_is_right():
    masked = np.ma.masked_array(X, [False, True, False])
    with pytest.raises(vyre.BindingError) as caught:
        std.sum(masked, **CPU)
    assert str(caught.value) == (
        "argument `x` of vyre.std.sum is a masked array. Fix: write .filled(0) to give the masked elements a value."
    )
    assert std.sum(masked.filled(0), **CPU) == 5
