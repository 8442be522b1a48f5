"""The library on arrays of more than 4 GiB, and on byte strings of nearly as many: offsets of 32 bits end there.

The data are made where they are used. What is expected is a closed form, or hashlib's and zlib's answer for the same
bytes. A slow test of GPUs, and of the processor where it has the memory.
"""

from __future__ import annotations

import hashlib
import zlib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import xxhash

import vyre
from conftest import name_of
from vyre import Expr, std

pytestmark = pytest.mark.slow

GIB = 1 << 30
COUNT = 5 * GIB // 4 + 12345  # words
MOST = 2**32 - 4  # bytes of a string of bytes
FACTOR = 2654435761
INDEX = Expr.gid_x()


def places():
    yield pytest.param({"backend": "cpu"}, id="cpu")
    for device in vyre.devices():
        if device.usable and device.kind != "software gpu":
            yield pytest.param({"backend": device.backend, "device": device.index}, id=name_of(device))


@pytest.fixture(params=places())
def place(request):
    if request.param["backend"] == "cpu":
        memory = Path("/proc/meminfo").read_text(encoding="ascii")
        free = int(memory.split("MemAvailable:")[1].split()[0]) << 10
        if free < 16 * GIB:
            pytest.skip(f"no memory for it: {free >> 30} GiB are free, and 16 are needed")
    return request.param


def made(place, count, value, dtype=np.uint32):
    """An array whose element i is `value` of i, made by the device."""
    try:
        data = vyre.empty(count, dtype, **place)
    except (vyre.DeviceMemoryError, vyre.CapabilityError) as error:
        pytest.skip(f"no memory for it: {error}")
    element = {np.uint32: vyre.u32, np.uint64: vyre.u64}[dtype]
    program = vyre.Program(
        [vyre.BufferDecl.read_write("data", 0, element)], (256, 1, 1), [vyre.Node.store("data", INDEX, value)]
    )
    program(data, workgroups=-(-count // 256))
    return data


def windows(count):
    """Both ends, the places where offsets in bytes have 30, 31 and 32 bits, and the middle."""
    for at in (0, *(1 << k for k in range(28, 33)), count // 2, count):
        begin, end = max(at - 2000, 0), min(at + 2000, count)
        if begin < end:
            yield slice(begin, end)


def assert_is(array, value):
    """Look at windows of an array whose element i should be `value` of i, a number of 64 bits."""
    for window in windows(len(array)):
        wanted = value(np.arange(window.start, window.stop, dtype=np.uint64)).astype(array.dtype)
        np.testing.assert_array_equal(array[window].numpy(), wanted, str(window))


def number(array):
    return int(array.numpy()[0])


def triangular(n):
    """0 + 1 + ... + n, modulo 2^64 where n is an array."""
    even = n % 2 == 0
    return np.where(even, n // 2 * (n + 1), (n + 1) // 2 * n)


def test_reductions(place):
    x = made(place, COUNT, INDEX * FACTOR)
    assert number(std.sum(x)) == FACTOR * (COUNT * (COUNT - 1) // 2) % 2**32
    assert number(std.sum(x, dtype=np.uint64)) == sum_of_words()
    x = made(place, COUNT, INDEX)
    assert (number(std.min(x)), number(std.max(x))) == (0, COUNT - 1)
    assert (number(std.argmin(x)), number(std.argmax(x))) == (0, COUNT - 1)


def sum_of_words():
    total = 0
    for begin in range(0, COUNT, 1 << 26):
        index = np.arange(begin, min(begin + (1 << 26), COUNT), dtype=np.uint32)
        total += int((index * np.uint32(FACTOR)).sum(dtype=np.uint64))
    return total


def test_reductions_of_eight_bytes(place):
    count = COUNT // 2
    x = made(place, count, Expr.pack(vyre.u64, [INDEX, INDEX]), np.uint64)
    assert number(std.sum(x)) == (2**32 + 1) * (count * (count - 1) // 2) % 2**64
    assert number(std.max(x)) == (2**32 + 1) * (count - 1)


def test_scans(place):
    y = std.cumsum(made(place, COUNT, INDEX * FACTOR))
    assert_is(y, lambda i: triangular(i) * np.uint64(FACTOR) % np.uint64(2**32))


def test_compaction(place):
    x = made(place, COUNT, INDEX * FACTOR)
    # Words of four marks: of every four elements the second and the last are selected.
    words = made(place, -(-COUNT // 4), Expr.u32(0x01000100))
    mask = words.view(vyre.u8)[:COUNT]
    y, count = std.compact(x, mask)
    kept = COUNT // 4 * 2 + (COUNT % 4 >= 2)
    assert number(count) == kept
    assert_is(y[:kept], lambda i: (2 * i + 1) * np.uint64(FACTOR) % np.uint64(2**32))


def test_histogram(place):
    counts = std.histogram(made(place, COUNT, INDEX), 256)
    full, rest = divmod(COUNT, 1 << 24)
    np.testing.assert_array_equal(counts.numpy(), [1 << 24] * full + [rest] + [0] * (255 - full))


def text(place):
    """As many bytes as a string may have, and the same words as numpy makes them of their index."""
    words = made(place, MOST // 4, (INDEX * FACTOR) ^ (INDEX >> 9))
    return words.view(vyre.u8)


def host_text(begin, end):
    """The same bytes from numpy; `begin` and `end` are multiples of 4."""
    index = np.arange(begin // 4, end // 4, dtype=np.uint32)
    return (index * np.uint32(FACTOR) ^ index >> np.uint32(9)).view(np.uint8)


def test_crc32(place):
    data = text(place)
    wanted = 0
    for begin in range(0, MOST, 1 << 28):
        wanted = zlib.crc32(host_text(begin, min(begin + (1 << 28), MOST)), wanted)
    assert number(std.crc32(data)) == wanted


@pytest.mark.parametrize("name", ["blake2b", "blake2s", "xxhash32", "xxhash64"])
def test_one_message_of_nearly_4_gib(place, name):
    """The longest message that one call takes. One invocation takes it, which is work for a processor."""
    if place["backend"] != "cpu":
        pytest.skip("one invocation of a GPU would take many minutes")
    made = xxhash.xxh32() if name == "xxhash32" else xxhash.xxh64() if name == "xxhash64" else hashlib.new(name)
    for begin in range(0, MOST, 1 << 28):
        made.update(host_text(begin, min(begin + (1 << 28), MOST)))
    found = getattr(std, name)(text(place)).numpy()
    assert found.astype(found.dtype.newbyteorder(">")).tobytes() == made.digest()


def test_sha256_of_many(place):
    size = 60
    count = MOST // size
    data = text(place)
    offsets = made(place, count + 1, INDEX * size)
    digests = std.sha256(std.Messages(data[: count * size], offsets))
    assert digests.shape == (count, 32)
    for at in (0, 1, (1 << 31) // size, count // 2, count - 2, count - 1):
        message = host_text(at * size, (at + 1) * size).tobytes()
        assert digests[at : at + 1].numpy().tobytes() == hashlib.sha256(message).digest(), at


def test_find(place):
    words = made(place, MOST // 4, Expr.select(Expr.eq(INDEX & 0xFFFFFFF, 0xFFFFFFE), 0x64636261, 0x20202020))
    found = std.find([b"abcd", b" abcd "], words.view(vyre.u8), limit=100)
    places = np.arange(0xFFFFFFE, MOST // 4, 0x10000000, dtype=np.uint64) * 4
    wanted = [row for p in places.tolist() for row in ([p - 1, p + 5, 1], [p, p + 4, 0])]
    del wanted[-2]  # nothing follows the last one
    assert number(found.count) == len(wanted)
    assert found.matches[: len(wanted)].numpy().tolist() == wanted


def few(place, values, dtype=np.uint32):
    return vyre.array(np.asarray(values, dtype), **place)


# Elements on both sides of the places where offsets in bytes have 31 and 32 bits, and both ends.
FEW = np.array([0, 2**29 - 1, 2**29, 2**30 - 1, 2**30, 2**30 + 1, COUNT - 1], np.uint64)


def test_elements_that_are_fetched_and_sought(place):
    x = made(place, COUNT, INDEX * FACTOR)
    wanted = (FEW * np.uint64(FACTOR) % np.uint64(2**32)).astype(np.uint32)
    np.testing.assert_array_equal(std.gather(x, few(place, FEW)).numpy(), wanted)
    x = made(place, COUNT, INDEX * 2)  # ascending, as 2 * COUNT is less than 2^32
    np.testing.assert_array_equal(std.searchsorted(x, few(place, 2 * FEW)).numpy(), FEW)
    np.testing.assert_array_equal(std.searchsorted(x, few(place, 2 * FEW + 1)).numpy(), FEW + 1)


def test_elements_that_are_written_and_added_to(place):
    x = made(place, COUNT, INDEX)
    std.scatter(x, few(place, FEW), few(place, FEW ^ np.uint64(5)))
    std.scatter_add(x, few(place, FEW), few(place, np.full(len(FEW), 7)))
    assert_is(x, lambda i: np.where(np.isin(i, FEW), (i ^ np.uint64(5)) + np.uint64(7), i))


def test_segments(place):
    bounds = np.array([0, 2**29 + 3, 2**30 + 5, COUNT], np.uint64)
    x = made(place, COUNT, INDEX)
    offsets, spans = few(place, bounds), list(pairwise(bounds.tolist()))
    sums = [(b * (b - 1) - a * (a - 1)) // 2 % 2**32 for a, b in spans]
    assert std.segmented_reduce(x, offsets, "add").numpy().tolist() == sums
    assert std.segmented_reduce(x, offsets, "max").numpy().tolist() == [b - 1 for _, b in spans]


def test_the_largest(place):
    values, positions = std.topk(made(place, COUNT, INDEX), 3)
    assert values.numpy().tolist() == positions.numpy().tolist() == [COUNT - 1, COUNT - 2, COUNT - 3]


def test_a_transpose(place):
    rows, columns = 40_000, 33_000
    x = made(place, rows * columns, INDEX).reshape(rows, columns)
    y = std.transpose(x).reshape(-1)
    of_row, of_column = np.uint64(rows), np.uint64(columns)
    assert_is(y, lambda i: i % of_row * of_column + i // of_row)


def test_a_sort_of_keys_of_two_bytes(place):
    """Keys of words take more memory than most machines have: two copies, and a byte of counters a key."""
    count = 2**31 + 12344
    x = made(place, count // 2, (~INDEX & 0xFFFF) * 65537).view(vyre.u16)  # every key stands twice in a word
    turns, rest = divmod(count // 2, 2**16)
    # The last words of an incomplete turn have the largest keys.
    often = np.full(2**16, 2 * turns, np.uint64)
    often[2**16 - rest :] += np.uint64(2)
    ends = np.cumsum(often)
    assert_is(std.sort(x), lambda i: np.searchsorted(ends, i, "right"))
