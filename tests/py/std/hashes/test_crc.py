"""CRC-32 and CRC-32C, compared with zlib and with published values."""

import zlib
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vyre
from library_models import crc32c as bitwise
from vyre import _core
from vyre.std import crc
from vyre.std._calls.messages import Messages
from vyre.std._hashing import polynomials as _polynomials
from vyre.std.crc import TAPS, crc32, crc32c

# These lie around the ends of a word, of a turn, of what an invocation has alone, and of the first stride.
LENGTHS = [0, 1, 2, 3, 4, 5, 63, 64, 65, 255, 2047, 2048, 2049, 8191, 8192, 8193, 16_385]


def test_the_values_of_the_documents(target):
    assert crc32(b"123456789", **target) == 0xCBF43926
    assert crc32c(b"123456789", **target) == 0xE3069283
    # RFC 3720, appendix B.4
    iscsi = [bytes(32), b"\xff" * 32, bytes(range(32)), bytes(range(31, -1, -1))]
    assert crc32c(iscsi, **target).tolist() == [0x8A9136AA, 0x62A8AB43, 0x46DD794E, 0x113FDB5C]


@pytest.mark.parametrize("length", LENGTHS)
def test_one_message_is_zlibs(target, rng, length):
    if target["backend"] == "reference" and length > 2049:
        length %= 97
    data = rng.bytes(length)
    value = int(rng.integers(0, 2**32))
    assert crc32(data, **target) == zlib.crc32(data)
    assert crc32(data, value, **target) == zlib.crc32(data, value)


@pytest.mark.parametrize("stride", [64, 128, 256, 2048])
@pytest.mark.parametrize("length", [2**17 - 1, 2**17, 2**17 + 3, 3 * 2**17 + 2])
def test_a_message_shared_by_many_workgroups_is_zlibs(length, stride, rng, monkeypatch):
    monkeypatch.setattr(crc, "_stride", lambda size, backend: stride)
    data = rng.bytes(length)
    assert crc32(data, 5, backend="cpu") == zlib.crc32(data, 5)
    assert crc32c(data[:-1], backend="cpu") == crc32c([data[:-1]], backend="cpu")[0]
    resident = vyre.array(np.frombuffer(data, np.uint8), backend="cpu")
    assert crc32(resident, 5).numpy().tolist() == [zlib.crc32(data, 5)]


def crc_by_vectors(modulus, data, **target):
    """The CRC of a message that a workgroup's invocations share, four words at a time."""
    words = vyre.array(np.frombuffer(data.ljust(-(-len(data) // 16) * 16, b"\xff"), np.uint32), **target)
    value = vyre.array(np.array([5], np.uint32), **target)
    return crc.make_long(modulus, crc.LANES, crc.QUAD)(words.reshape(-1, 4), words, value, len(data)).numpy().tolist()


@pytest.mark.parametrize("tail", [0, 3, 4, 15])
@pytest.mark.parametrize("backend", ["reference", "cpu"])
def test_invocations_that_take_four_words_at_a_time_get_the_same(backend, rng, tail):
    turn = 16 * crc.LANES * TAPS
    for size in (turn // 64,) if backend == "reference" else (turn // 3, turn, turn + turn // 3):
        data = rng.bytes(size + tail)
        assert crc_by_vectors(_polynomials.CRC32, data, backend=backend) == [zlib.crc32(data, 5)]
        assert crc_by_vectors(_polynomials.CRC32C, data, backend=backend) == [bitwise(data, 5)]


@pytest.mark.slow
def test_four_words_at_a_time_on_every_device(rng, slow_target):
    data = rng.bytes(50_007)
    assert crc_by_vectors(_polynomials.CRC32, data, **slow_target) == [zlib.crc32(data, 5)]


def test_single_words_are_taken_on_a_processor(monkeypatch):
    assert [crc.width_on(backend, 0) for backend in ("cpu", "reference")] == [1, 1]
    monkeypatch.setattr(_core, "_devices", lambda backend: [{"kind": "software gpu"}, {"kind": "discrete gpu"}])
    assert [crc.width_on.__wrapped__("vulkan", index) for index in (0, 1)] == [1, crc.QUAD]


@pytest.mark.parametrize("size", [0, 2**17 - 1, 2**17, 2**20 - 1, 2**20, 2**23, 2**26, 2**32 - 1])
def test_invocations_that_share_a_message_have_enough_of_it(size):
    for backend, share in (("vulkan", 128), ("cpu", 512)):
        stride = crc._stride(size, backend)
        assert stride == 0 or size // 4 >= stride * share
        assert stride & stride - 1 == 0
        assert size // 4 // TAPS // max(stride, crc.LANES) <= 60_000


@pytest.mark.slow
@pytest.mark.parametrize("length", [2**17 + 3, 2**20 + 1, 2**23 + 1, 2**26, 2**26 + 6])
def test_every_stride_is_zlibs(length, rng, slow_target):
    if slow_target["backend"] == "reference":
        length = 2**17 + 3
    data = rng.bytes(length)
    assert crc32(data, **slow_target) == zlib.crc32(data)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.binary(max_size=60), max_size=6),
    st.integers(0, 2**32 - 1),
    st.sampled_from(["reference", "cpu"]),
)
def test_a_list_has_each_messages_crc(messages, value, backend):
    found = crc32(messages, value, backend=backend)
    assert found.dtype == np.uint32
    assert found.tolist() == [zlib.crc32(each, value) for each in messages]
    assert crc32c(messages, value, backend=backend).tolist() == [bitwise(each, value) for each in messages]


def test_messages_may_begin_anywhere(target, rng):
    data = rng.bytes(5000)
    offsets = [3, 3, 4, 10, 2300, 2301, 4997]
    wanted = [zlib.crc32(data[a:b]) for a, b in pairwise(offsets)]
    assert crc32(Messages(data, offsets, **target)).numpy().tolist() == wanted


def test_crcs_continue_from_window_to_window(rng, monkeypatch):
    monkeypatch.setattr(crc, "EACH_WINDOW", 16)
    monkeypatch.setattr(crc, "GROUP_WINDOW", crc.LANES * crc.TAPS * 4)
    caches = [crc.make_each, crc.make_group]
    for made in caches:
        made.cache_clear()
    try:
        few = [rng.bytes(size) for size in (0, 15, 16, 17, 32, 99, 2000)]
        many = [rng.bytes(size) for size in (0, 8191, 8192, 8193, 16_384, 30_001)]
        for messages in (few, many):
            assert crc32(messages, 9, backend="cpu").tolist() == [zlib.crc32(each, 9) for each in messages]
    finally:
        monkeypatch.undo()
        for made in caches:
            made.cache_clear()


@pytest.mark.parametrize("modulus", [_polynomials.CRC32, _polynomials.CRC32C])
def test_powers_are_repeated_products(modulus):
    by_one, value = [], 1 << 31
    for _ in range(100):
        by_one.append(value)
        value = value >> 1 ^ (modulus.low if value & 1 else 0)  # times x
    assert _polynomials.powers(modulus, 0, 1, 100).tolist() == by_one
    assert _polynomials.powers(modulus, 1, 3, 33).tolist() == by_one[1:100:3]
    # x^32 is the sum of the taps.
    assert sum(1 << (31 - tap) for tap in _polynomials.taps(modulus)) == by_one[32] == modulus.low
