"""BLAKE3, compared with its official test vectors and with the reference implementation."""

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

# From test_vectors.json of the BLAKE3 team: the length of the input, then the first 32 bytes of the hash, of the keyed
# hash, and of the derived key.
VECTORS = {
    0: """af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262
          92b2b75604ed3c761f9d6f62392c8a9227ad0ea3f09573e783f1498a4ed60d26
          2cc39783c223154fea8dfb7c1b1660f2ac2dcbd1c1de8277b0b0dd39b7e50d7d""",
    1: """2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213
          6d7878dfff2f485635d39013278ae14f1454b8c0a3a2d34bc1ab38228a80c95b
          b3e2e340a117a499c6cf2398a19ee0d29cca2bb7404c73063382693bf66cb06c""",
    1023: """10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11
             c951ecdf03288d0fcc96ee3413563d8a6d3589547f2c2fb36d9786470f1b9d6e
             74a16c1c3d44368a86e1ca6df64be6a2f64cce8f09220787450722d85725dea5""",
    1024: """42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7
             75c46f6f3d9eb4f55ecaaee480db732e6c2105546f1e675003687c31719c7ba4
             7356cd7720d5b66b6d0697eb3177d9f8d73a4a5c5e968896eb6a689684302706""",
    1025: """d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444
             357dc55de0c7e382c900fd6e320acc04146be01db6a8ce7210b7189bd664ea69
             effaa245f065fbf82ac186839a249707c3bddf6d3fdda22d1b95a3c970379bcb""",
    2049: """5f4d72f40d7a5f82b15ca2b2e44b1de3c2ef86c426c95c1af0b6879522563030
             9f29700902f7c86e514ddc4df1e3049f258b2472b6dd5267f61bf13983b78dd5
             2ea477c5515cc3dd606512ee72bb3e0e758cfae7232826f35fb98ca1bcbdf273""",
    8193: """bab6c09cb8ce8cf459261398d2e7aef35700bf488116ceb94a36d0f5f1b7bc3b
             954a2a75420c8d6547e3ba5b98d963e6fa6491addc8c023189cc519821b4a1f5
             af1e0346e389b17c23200270a64aa4e1ead98c61695d917de7d5b00491c9b0f1""",
    31744: """62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47
              efa53b389ab67c593dba624d898d0f7353ab99e4ac9d42302ee64cbf9939a419
              39772aef80e0ebe60596361e45b061e8f417429d529171b6764468c22928e28e""",
    102400: """bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085
               1c35d1a5811083fd7119f5d5d1ba027b4d01c0c6c49fb6ff2cf75393ea5db4a7
               4652cff7a3f385a6103b5c260fc1593e13c778dbe608efb092fe7ee69df6e9c6""",
}
# The same file's whole output for no input.
EXTENDED = (
    "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262e00f03e7b69af26b7faaf09fcd333050338ddfe085b8cc86"
    "9ca98b206c08243a26f5487789e8f660afe6c99ef9e0c52b92e7393024a80459cf91f476f9ffdbda7001c22e159b402631f277ca96f2defd"
    "f1078282314e763699a31c5363165421cce14d"
)

# These lie around the ends of a block, of a chunk and of a turn of a workgroup, and where all workgroups begin to share
# a message.
LENGTHS = [*range(0, 5), 63, 64, 65, 1023, 1024, 1025, 2047, 2048, 2049, 3072, 3073, 4097, 7169]
LONGER = [65_535, 65_536, 65_537, 70_000, 2**17 - 1, 2**17, 2**17 + 1, 200_000]


def pattern(length):
    return bytes(k % 251 for k in range(length))


def test_the_official_vectors(slow_target):
    for length, digests in VECTORS.items():
        if slow_target["backend"] == "reference" and length > 8193:
            break
        plain, keyed, derived = digests.split()
        data = pattern(length)
        assert blake3(data, **slow_target).hex() == plain
        assert blake3(data, key=KEY, **slow_target).hex() == keyed
        assert blake3(data, context=CONTEXT, **slow_target).hex() == derived


# All lengths that the official file has.
OFFICIAL = [*range(9), 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 2048, 2049, 3072, 3073, 4096, 4097, 5120, 5121]
OFFICIAL += [6144, 6145, 7168, 7169, 8192, 8193, 16384, 31744, 102400]


@pytest.mark.parametrize("length", OFFICIAL)
def test_the_official_lengths_with_131_bytes_of_output(length):
    """The file's other outputs, from the official implementation: plain, keyed and derived."""
    assert len(OFFICIAL) == 35
    data = pattern(length)
    assert blake3(data, 131, backend="cpu") == reference.blake3(data).digest(131)
    assert blake3(data, 131, key=KEY, backend="cpu") == reference.blake3(data, key=KEY).digest(131)
    derived = reference.blake3(data, derive_key_context=CONTEXT).digest(131)
    assert blake3(data, 131, context=CONTEXT, backend="cpu") == derived


def test_output_of_any_length_begins_with_the_shorter_one(target):
    whole = blake3(b"", 131, **target)
    assert whole.hex() == EXTENDED
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
