"""BLAKE2s and BLAKE2b, compared with RFC 7693 and with hashlib."""

import hashlib
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vyre.std import Messages, blake2b, blake2s
from vyre.std._calls import streams as _streams
from wrong_calls import wrong_calls

BOTH = pytest.mark.parametrize(
    ("ours", "theirs", "most"), [(blake2s, hashlib.blake2s, 32), (blake2b, hashlib.blake2b, 64)]
)


def test_the_examples_of_the_rfc(slow_target):
    # Appendices A and B
    assert blake2b(b"abc", **slow_target).hex() == (
        "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
        "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"
    )
    assert blake2s(b"abc", **slow_target).hex() == "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982"


@BOTH
@pytest.mark.parametrize("keyed", [False, True])
def test_every_length_is_hashlibs(slow_target, rng, ours, theirs, most, keyed):
    block = 2 * most
    sizes = [0, 1, 3, 4, block - 1, block, block + 1, 2 * block, 2 * block + 1]
    if slow_target["backend"] != "reference":
        sizes += [*range(block, block + 40), 10 * block]
    messages = [rng.bytes(size) for size in sizes]
    for key in [rng.bytes(size) for size in (1, most)] if keyed else [b""]:
        found = ours(messages, key=key, **slow_target)
        assert found.dtype == np.uint8
        assert [each.tobytes() for each in found] == [theirs(each, key=key).digest() for each in messages]


@BOTH
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_digests_of_every_size_are_hashlibs(ours, theirs, most, data):
    size, key = data.draw(st.integers(1, most)), data.draw(st.binary(max_size=most))
    messages = data.draw(st.lists(st.binary(max_size=200), max_size=3))
    backend = data.draw(st.sampled_from(["reference", "cpu"]))
    found = ours(messages, size, key, backend=backend)
    wanted = [theirs(each, digest_size=size, key=key).digest() for each in messages]
    assert found.shape == (len(messages), size)
    assert [each.tobytes() for each in found] == wanted
    for each, digest in zip(messages[:1], wanted, strict=False):
        assert ours(each, size, key, backend=backend) == digest


@BOTH
def test_messages_may_begin_anywhere(slow_target, rng, ours, theirs, most):
    data = rng.bytes(600)
    offsets = [1, 1, 2, 9, 137, 400, 599]
    for key in (b"", b"key"):
        wanted = [theirs(data[a:b], digest_size=12, key=key).digest() for a, b in pairwise(offsets)]
        found = ours(Messages(data, offsets, **slow_target), 12, key).numpy()
        assert [each.tobytes() for each in found] == wanted


@BOTH
@pytest.mark.parametrize("key", [b"", b"key"])
def test_a_long_message_continues_in_further_dispatches(rng, monkeypatch, ours, theirs, most, key):
    monkeypatch.setattr(_streams, "TURNS", 2)
    _streams.make_procedure.cache_clear()
    try:
        messages = [rng.bytes(size) for size in (0, 1, 127, 128, 129, 256, 257, 511, 512, 513, 2000)]
        found = ours(messages, key=key, backend="cpu")
        assert [each.tobytes() for each in found] == [theirs(each, key=key).digest() for each in messages]
    finally:
        monkeypatch.undo()
        _streams.make_procedure.cache_clear()


test_wrong_arguments_are_refused = wrong_calls("blake2", globals())
