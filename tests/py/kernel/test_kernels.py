"""Kernels written as a user would, against hashlib, published vectors and numpy, on every backend."""

import hashlib
import inspect

import numpy as np
import pytest

import kernels
import vyre

# How many lines each may take, its helpers with it; tables of constants aside.
LINES = {
    "chacha20": (12, ["quarter"]),
    "sha256": (20, []),
    "matmul": (18, []),
    "life": (10, []),
    "histogram": (8, []),
    "queens": (20, []),
}


def lines_of(function):
    source = inspect.getsource(getattr(function, "__wrapped__", function))
    return sum(1 for line in source.splitlines() if line.strip())


@pytest.mark.parametrize("name", LINES)
def test_a_kernel_takes_few_lines(name):
    most, helpers = LINES[name]
    assert sum(lines_of(getattr(kernels, each)) for each in [name, *helpers]) <= most


def padded(messages):
    """The blocks of messages of one length, as big-endian words."""
    made = []
    for each in messages:
        data = each + b"\x80"
        data += bytes(-(len(data) + 8) % 64) + (8 * len(each)).to_bytes(8, "big")
        made.append(np.frombuffer(data, ">u4").astype(np.uint32).reshape(-1, 16))
    return np.array(made)


def test_chacha20_gives_the_block_of_the_rfc(target):
    key = np.frombuffer(bytes(range(32)), "<u4")
    nonce = np.frombuffer(bytes.fromhex("000000090000004a00000000"), "<u4")
    blocks = kernels.chacha20(key, nonce, 1, out=np.zeros((2, 16), np.uint32), grid=2, **target)
    assert blocks[0].astype("<u4").tobytes().hex() == (
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4ed2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
    )
    later = kernels.chacha20(key, nonce, 2, out=np.zeros((1, 16), np.uint32), grid=1, **target)
    assert (later[0] == blocks[1]).all()


@pytest.mark.parametrize("length", [0, 55, 56, 119, 200])
def test_sha256_gives_what_hashlib_gives(target, rng, length):
    messages = [rng.bytes(length) for _ in range(5)]
    digests = kernels.sha256(padded(messages), digest=np.zeros((5, 8), np.uint32), grid=5, **target)
    assert [row.astype(">u4").tobytes() for row in digests] == [hashlib.sha256(each).digest() for each in messages]


def test_matmul_gives_what_numpy_gives(target, rng):
    a = rng.integers(0, 2**32, (33, 21), dtype=np.uint32)
    b = rng.integers(0, 2**32, (21, 50), dtype=np.uint32)
    c = kernels.matmul(a, b, c=np.zeros((33, 50), np.uint32), **target)
    assert (c == a @ b).all()


def test_life_gives_what_numpy_gives(target, rng):
    now = rng.integers(0, 2, (20, 37), dtype=np.uint32)
    padded_now = np.pad(now, 1)
    around = sum(padded_now[1 + dy : 21 + dy, 1 + dx : 38 + dx] for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy)
    assert (kernels.life(now, **target) == ((around == 3) | ((around == 2) & (now == 1)))).all()


def test_gcd_gives_what_numpy_gives(target, rng):
    a, b = rng.integers(0, 2**32, (2, 300), dtype=np.uint32)
    assert (kernels.gcd(a, b, **target) == np.gcd(a, b)).all()


def test_histogram_gives_what_numpy_gives(target, rng):
    words = rng.integers(0, 2**32, 3000, dtype=np.uint32)
    counts = kernels.histogram(words, counts=np.zeros(256, np.uint32), grid=3000, **target)
    assert (counts == np.bincount(words.view(np.uint8), minlength=256)).all()


@pytest.mark.parametrize(("n", "solutions"), [(1, 1), (4, 2), (5, 10), (6, 4), (7, 40)])
def test_queens_gives_the_known_numbers(target, n, solutions):
    """OEIS A000170."""
    assert kernels.queens(n, counts=np.zeros(n, np.uint32), **target).sum() == solutions


@pytest.mark.parametrize("name", ["life", "matmul", "gcd"])
def test_resident_arrays_give_the_same_bytes_as_numpy(name, rng):
    kernel = getattr(kernels, name)
    inputs = [
        rng.integers(0, 100, (32, 32) if name != "gcd" else 64, dtype=np.uint32)
        for _ in range(1 if name == "life" else 2)
    ]
    resident = kernel(*[vyre.array(each, backend="cpu") for each in inputs])
    assert type(resident) is vyre.Array
    assert (resident.numpy() == kernel(*inputs, backend="cpu")).all()
