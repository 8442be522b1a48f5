"""Adler-32, compared with zlib."""

import zlib
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vyre
from vyre.std import Messages, adler, adler32

# These lie around the ends of a word, of what an invocation has alone, and of a workgroup's turn.
LENGTHS = [0, 1, 2, 3, 4, 5, 127, 128, 129, 1023, 1024, 1025, 8191, 8192, 8193]


def test_known_values(target):
    assert adler32(b"Wikipedia", **target) == 0x11E60398
    assert adler32(b"", **target) == 1


@pytest.mark.parametrize("length", LENGTHS)
def test_one_message_is_zlibs(target, rng, length):
    if target["backend"] == "reference" and length > 1025:
        length %= 97
    for data in (rng.bytes(length), b"\xff" * length):
        assert adler32(data, **target) == zlib.adler32(data)
        assert adler32(data, 0xFFF0FFF0, **target) == zlib.adler32(data, 0xFFF0FFF0)


@pytest.mark.parametrize("length", [2**17 - 1, 2**17, 2**19 + 3])
def test_a_message_shared_by_many_workgroups_is_zlibs(length, rng):
    for data in (rng.bytes(length), b"\xff" * length):
        assert adler32(data, 5, backend="cpu") == zlib.adler32(data, 5)
    resident = vyre.array(np.frombuffer(data, np.uint8), backend="cpu")
    assert adler32(resident).numpy().tolist() == [zlib.adler32(data)]


@pytest.mark.slow
@pytest.mark.parametrize("length", [2**20 + 1, 2**23 + 1, 2**26 + 6, 2**29 + 5])
def test_every_stride_is_zlibs(length, rng):
    data = np.full(length, 255, np.uint8)
    data[:: 1 << 12] = rng.integers(0, 256, len(data[:: 1 << 12]))
    assert adler32(data, backend="cpu") == zlib.adler32(data)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.binary(max_size=60), max_size=6), st.binary(max_size=9), st.sampled_from(["reference", "cpu"]))
def test_a_list_has_each_messages_checksum(messages, before, backend):
    value = zlib.adler32(before)
    found = adler32(messages, value, backend=backend)
    assert found.dtype == np.uint32
    assert found.tolist() == [zlib.adler32(before + each) for each in messages]


def test_messages_may_begin_anywhere(target, rng):
    data = rng.bytes(5000)
    for offsets in ([3, 3, 4, 10, 900, 901], [3, 3, 4, 2300, 2301, 4997]):
        wanted = [zlib.adler32(data[a:b]) for a, b in pairwise(offsets)]
        assert adler32(Messages(data, offsets, **target)).numpy().tolist() == wanted


def test_checksums_continue_from_window_to_window(rng, monkeypatch):
    monkeypatch.setattr(adler, "EACH_WINDOW", 16)
    monkeypatch.setattr(adler, "GROUP_WINDOW", adler.LANES * adler.TURN * 4)
    for name in ("by_invocations", "by_workgroups", "adler_each", "adler_group"):
        made = getattr(adler, name)
        again = vyre.procedure if name.startswith("by") else vyre.kernel(workgroup_size=adler.LANES)
        monkeypatch.setattr(adler, name, again(made.__wrapped__))
    few = [rng.bytes(size) for size in (0, 15, 16, 17, 32, 99, 900)]
    many = [rng.bytes(size) for size in (0, 8191, 8192, 8193, 16_384, 30_001)]
    for messages in (few, many):
        assert adler32(messages, 9, backend="cpu").tolist() == [zlib.adler32(each, 9) for each in messages]
