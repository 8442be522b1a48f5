"""Kernels over arrays of bytes, written as a user would, against Python's own codecs, on every backend."""

import base64
import itertools

import numpy as np
import pytest

import kernels
from test_kernels import lines_of

NOWHERE = 2**32 - 1


def decoded(text, **target):
    """The bytes of base64 text and the position of a mistake; NOWHERE for none."""
    size = -(-len(text) // 4) * 3 - text[-2:].count(b"=")
    data = np.zeros(max(size, 0), np.uint8)
    wrong = np.full(1, NOWHERE, np.uint32)
    data, wrong = kernels.base64_decode(text, data, wrong, grid=-(-len(text) // 4), **target)
    return data.tobytes(), int(wrong[0])


def first_wrong(text, **target):
    wrong = np.full(1, NOWHERE, np.uint32)
    return int(kernels.utf8_validate(text, wrong, grid=len(text), **target)[0])


@pytest.mark.parametrize(("name", "most"), [("base64_decode", 18), ("utf8_validate", 15)])
def test_a_kernel_takes_few_lines(name, most):
    assert lines_of(getattr(kernels, name)) <= most


def test_base64_gives_what_python_gives(target, rng):
    for length in (1, 2, 3, 4, 5, 6, 7, 255, 256, 257, 3000):
        data = rng.bytes(length)
        assert decoded(base64.b64encode(data), **target) == (data, NOWHERE)


@pytest.mark.parametrize(
    ("text", "position"),
    [
        (b"Zm9v!mFy", 4),
        (b"Zm9vYmF=Zm9v", 7),  # padding in the middle
        (b"Zm9vYm=y", 6),
        (b"Zg==", NOWHERE),
        (b"Zh==", 1),  # the bits that padding leaves are not zero
        (b"Zm8=", NOWHERE),
        (b"Zm9=", 2),
        (b"Z===", 1),
        (b"Zm9vYg", 6),  # no padding
    ],
)
def test_base64_names_the_first_mistake(target, text, position):
    assert decoded(text, **target)[1] == position


# Bytes around every limit of the definition.
EDGES = list(bytes.fromhex("00 7f 80 8f 90 9f a0 bf c0 c1 c2 df e0 e1 ec ed ee ef f0 f1 f3 f4 f5 ff"))


def is_utf8(text):
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_utf8_is_told_as_python_tells_it():
    place = {"backend": "cpu"}
    for length in (1, 2, 3):
        for text in map(bytes, itertools.product(EDGES, repeat=length)):
            if length == 3 and text[0] < 0xC2:
                continue
            assert (first_wrong(text, **place) == NOWHERE) == is_utf8(text), text.hex()


def test_utf8_is_told_on_every_backend(target, rng):
    text = "Grüße, 世界! ∑ x² ≤ 10⁶ 🎈 plain text ".encode() * 20
    assert first_wrong(text, **target) == NOWHERE
    for _ in range(60):
        changed = bytearray(text[: int(rng.integers(200, len(text)))])
        for _ in range(int(rng.integers(0, 3))):
            changed[int(rng.integers(len(changed)))] = EDGES[int(rng.integers(len(EDGES)))]
        assert (first_wrong(bytes(changed), **target) == NOWHERE) == is_utf8(bytes(changed))
