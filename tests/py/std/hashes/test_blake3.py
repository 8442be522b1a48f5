"""BLAKE3, compared with the reference implementation, also for what its official test vectors have."""

from itertools import pairwise

import blake3 as reference
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vyre
from vyre.std import Messages, blake3, blake_tree
from vyre.std._hashing import blake3_many as _blake3_many
from vyre.std._hashing.blake3 import IV
from vyre.std._hashing.blake3_long import make_long
from wrong_calls import wrong_calls

KEY = b"whats the Elvish word for friend"
CONTEXT = "BLAKE3 2019-12-27 16:29:52 test vectors context"

# These lie around the ends of a block, of a chunk and of a turn of a workgroup, and where all workgroups begin to share
# a message.
LENGTHS = [*range(0, 5), 63, 64, 65, 1023, 1024, 1025, 2047, 2048, 2049, 3072, 3073, 4097, 7169]
LONGER = [65_535, 65_536, 65_537, 70_000, 2**17 - 1, 2**17, 2**17 + 1, 200_000]


def pattern(length):
    return bytes(k % 251 for k in range(length))


# All lengths that the official file has.
OFFICIAL = [*range(9), 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 2048, 2049, 3072, 3073, 4096, 4097, 5120, 5121]
OFFICIAL += [6144, 6145, 7168, 7169, 8192, 8193, 16384, 31744, 102400]


@pytest.mark.parametrize("length", OFFICIAL)
def test_the_official_lengths_with_131_bytes_of_output(slow_target, length):
    """What the file has, from the official implementation: plain, keyed and derived."""
    assert len(OFFICIAL) == 35
    if slow_target["backend"] == "reference":
        length = min(length, 2049)
    data = pattern(length)
    assert blake3(data, 131, **slow_target) == reference.blake3(data).digest(131)
    assert blake3(data, 131, key=KEY, **slow_target) == reference.blake3(data, key=KEY).digest(131)
    derived = reference.blake3(data, derive_key_context=CONTEXT).digest(131)
    assert blake3(data, 131, context=CONTEXT, **slow_target) == derived


def test_output_of_any_length_begins_with_the_shorter_one(target):
    whole = blake3(b"", 131, **target)
    assert whole == reference.blake3(b"").digest(131)
    for length in (0, 1, 3, 4, 31, 64, 65, 130):
        assert blake3(b"", length, **target) == whole[:length]


@pytest.mark.parametrize("length", LENGTHS)
def test_one_message_is_the_references(target, rng, length):
    data = rng.bytes(length)
    assert blake3(data, 40, **target) == reference.blake3(data).digest(40)


@pytest.mark.parametrize("length", LONGER)
def test_a_longer_message_is_the_references(rng, length):
    data = rng.bytes(length)
    assert blake3(data, backend="cpu") == reference.blake3(data).digest()
    resident = vyre.array(np.frombuffer(data, np.uint8), backend="cpu")
    assert blake3(resident, key=KEY).numpy().tobytes() == reference.blake3(data, key=KEY).digest()


def test_a_message_that_all_workgroups_share_is_the_references(slow_target, rng):
    if slow_target["backend"] != "reference":
        data = rng.bytes(600 * 1024 + 17)
        assert blake3(data, 70, **slow_target) == reference.blake3(data).digest(70)
    data = rng.bytes(blake_tree.LONG)
    assert blake3(data, key=KEY, **slow_target) == reference.blake3(data, key=KEY).digest()


@pytest.mark.parametrize("chunks", [129, 200, 512, 513, 1024, 1025])
def test_every_shape_of_the_tree_above_512_nodes(chunks, rng):
    data = rng.bytes(chunks * 1024 - 5)
    assert blake3(data, backend="cpu") == reference.blake3(data).digest()


@pytest.mark.parametrize("products", [False, True])
@pytest.mark.parametrize("chunks", [16, 17, 18, 19, 20, 21, 31, 32, 33, 37, 47, 64, 65, 70])
def test_each_four_nodes_may_be_joined_first(target, chunks, products, rng):
    data = np.frombuffer(rng.bytes(chunks * 1024 - 4), np.uint32)
    words, begin = vyre.array(data, **target), vyre.array(np.array([*IV, 0], np.uint32), **target)
    quads = words[: len(words) // 4 * 4].view(vyre.vec4u32)
    found = make_long(16, products)(quads, words, begin, data.nbytes, 8).numpy()
    assert found.tobytes() == reference.blake3(data.tobytes()).digest()


@pytest.mark.slow
@pytest.mark.parametrize("length", [2**26 + 5, 2**27 + 3, 2**28, 2**28 + 1024 * 511 + 1])
def test_a_tree_of_three_dispatches(length, rng):
    data = rng.bytes(length)
    assert blake3(data, backend="cpu") == reference.blake3(data).digest()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.binary(max_size=100), max_size=5),
    st.integers(1, 70),
    st.sampled_from([{}, {"key": KEY}, {"context": "some use"}]),
    st.sampled_from(["reference", "cpu"]),
)
def test_a_list_has_each_messages_digest(messages, length, mode, backend):
    theirs = {"derive_key_context": mode["context"]} if "context" in mode else mode
    found = blake3(messages, length, **mode, backend=backend)
    assert found.shape == (len(messages), length)
    assert found.dtype == np.uint8
    assert [each.tobytes() for each in found] == [reference.blake3(each, **theirs).digest(length) for each in messages]


def test_messages_of_several_chunks_begin_anywhere(slow_target, rng):
    data = rng.bytes(12_000)
    offsets = [1, 1, 2, 70, 1094, 2118, 4167, 11_999]
    wanted = [reference.blake3(data[a:b]).digest() for a, b in pairwise(offsets)]
    found = blake3(Messages(data, offsets, **slow_target)).numpy()
    assert [each.tobytes() for each in found] == wanted


def test_an_invocation_alone_joins_the_chunks_of_its_message(slow_target, rng, monkeypatch):
    monkeypatch.setattr(blake_tree, "EACH_LEAST", 1)
    sizes = [0, 1, 1024, 1025, 2049, 3073, 5120, 7168, 9000]
    for messages in ([rng.bytes(size) for size in sizes], [rng.bytes(size + 1) for size in sizes]):
        found = blake3(messages, **slow_target)
        assert [each.tobytes() for each in found] == [reference.blake3(each).digest() for each in messages]


def test_a_workgroup_continues_in_further_dispatches(rng, monkeypatch):
    monkeypatch.setattr(_blake3_many, "WINDOW", 2 * _blake3_many.LANES * _blake3_many.CHUNK)
    _blake3_many.make_procedures.cache_clear()
    _blake3_many.make_group.cache_clear()
    try:
        chunks = [1, 2, 64, 65, 127, 128, 129, 256, 300, 385]
        messages = [rng.bytes(count * 1024 - 7) for count in chunks] + [rng.bytes(128 * 1024), b""]
        found = blake3(messages, backend="cpu")
        assert [each.tobytes() for each in found] == [reference.blake3(each).digest() for each in messages]
    finally:
        monkeypatch.undo()
        _blake3_many.make_procedures.cache_clear()
        _blake3_many.make_group.cache_clear()


@pytest.mark.parametrize("length", [0, 1, 64, 65, 1024, 1025, 3072, 5000])
def test_a_context_of_any_length_derives_the_references_key(length):
    context = "context " * (length // 8) + "x" * (length % 8)
    assert (
        blake3(b"data", context=context, backend="cpu")
        == reference.blake3(b"data", derive_key_context=context).digest()
    )


def test_a_derived_key_joins_a_graph():
    data = vyre.array(np.frombuffer(b"data", np.uint8), backend="cpu")
    with vyre.graph() as recorded:
        digest = blake3(data, context="a context of this test alone")
    recorded.replay()
    assert (
        digest.numpy().tobytes()
        == reference.blake3(b"data", derive_key_context="a context of this test alone").digest()
    )


test_wrong_arguments_are_refused = wrong_calls("blake3", globals())
