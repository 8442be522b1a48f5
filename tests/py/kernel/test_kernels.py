"""Kernels written as a user would, against hashlib, published vectors and numpy, on every backend."""

import hashlib
import inspect

import matplotlib.image
import numpy as np
import pytest

import kernels
import vyre

# How many lines each may take, its helpers with it; tables of constants aside.
LINES = {
    "chacha20": (12, ["quarter"]),
    "sha256": (20, []),
    "sha512": (20, []),
    "blake2s": (20, ["mix"]),
    "matmul": (18, []),
    "life": (10, []),
    "mandelbrot": (12, ["picture"]),
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


def padded(messages, word, length_bytes):
    """The blocks of messages of one length, as big-endian words of 4 or 8 bytes."""
    block = 16 * word
    made = []
    for each in messages:
        data = each + b"\x80"
        data += bytes(-(len(data) + length_bytes) % block) + (8 * len(each)).to_bytes(length_bytes, "big")
        made.append(np.frombuffer(data, f">u{word}").astype(f"u{word}").reshape(-1, 16))
    return np.array(made)


def messages_of(rng, count, length):
    return [rng.bytes(length) for _ in range(count)]


def test_chacha20_gives_the_block_of_the_rfc(target):
    key = np.frombuffer(bytes(range(32)), "<u4")
    nonce = np.frombuffer(bytes.fromhex("000000090000004a00000000"), "<u4")
    blocks = kernels.chacha20(key, nonce, 1, out=np.zeros((2, 16), np.uint32), grid=2, **target)
    assert blocks[0].astype("<u4").tobytes().hex() == (
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4ed2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
    )
    later = kernels.chacha20(key, nonce, 2, out=np.zeros((1, 16), np.uint32), grid=1, **target)
    assert (later[0] == blocks[1]).all()


@pytest.mark.parametrize(
    ("name", "word", "length"),
    [*(("sha256", 4, n) for n in (0, 55, 56, 119, 200)), *(("sha512", 8, n) for n in (0, 111, 112, 300))],
)
def test_sha_gives_what_hashlib_gives(target, rng, name, word, length):
    messages = messages_of(rng, 5, length)
    digest = np.zeros((5, 8), f"u{word}")
    digests = getattr(kernels, name)(padded(messages, word, 2 * word), digest=digest, grid=5, **target)
    wanted = [hashlib.new(name, each).digest() for each in messages]
    assert [row.astype(f">u{word}").tobytes() for row in digests] == wanted


@pytest.mark.parametrize("length", [0, 1, 64, 65, 200])
def test_blake2s_gives_what_hashlib_gives(target, rng, length):
    messages = messages_of(rng, 4, length)
    size = max(64, -(-length // 64) * 64)
    blocks = np.array([np.frombuffer(each.ljust(size, b"\0"), "<u4").reshape(-1, 16) for each in messages])
    digests = kernels.blake2s(blocks, length, digest=np.zeros((4, 8), np.uint32), grid=4, **target)
    assert [row.astype("<u4").tobytes() for row in digests] == [hashlib.blake2s(each).digest() for each in messages]


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


def test_mandelbrot_gives_what_python_gives(target):
    image = kernels.mandelbrot(40, image=np.zeros((12, 30), np.uint32), grid=(30, 12), **target)
    wanted = np.zeros((12, 30), np.uint32)
    for y in range(12):
        for x in range(30):
            cx, cy, a, b, n = x * 24 - 8192, y * 24 - 4800, 0, 0, 0
            while n < 40 and a * a + b * b < 4 << 24:
                a, b, n = ((a * a - b * b) >> 12) + cx, ((a * b) >> 11) + cy, n + 1
            wanted[y, x] = n
    assert (image == wanted).all()


def test_the_picture_of_the_mandelbrot_set_has_the_pixels_that_numpy_gives(tmp_path):
    """The kernel's own numbers are 32 bits wide; numpy's are 64, so an overflow would show."""
    kernels.picture(tmp_path / "set.pgm", 60, 480, 400)
    cx, cy = np.meshgrid(np.arange(480) * 24 - 8192, np.arange(400) * 24 - 4800)
    a, b, turns = np.zeros((3, 400, 480), np.int64)
    for _ in range(60):
        inside = a * a + b * b < 4 << 24
        turns += inside
        a, b = np.where(inside, ((a * a - b * b) >> 12) + cx, a), np.where(inside, ((a * b) >> 11) + cy, b)
    pixels = matplotlib.image.imread(tmp_path / "set.pgm")
    assert pixels.shape == (400, 480)
    assert len(np.unique(pixels)) > 30
    assert (pixels == turns * 255 // 60).all()


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
