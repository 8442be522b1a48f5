"""Digests of vyre.std beside hashlib's; NIST's vectors are in test_cavp.py."""

import functools
import hashlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import vyre
from conftest import SEED
from procedure_texts import procedures_of
from vyre import std
from vyre.std import hashes
from vyre.std._hashing import block_hashes as _block_hashes
from vyre.std._hashing.whole_blocks import block_digests
from wrong_calls import wrong_calls

NAMES = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_224", "sha3_256", "sha3_384", "sha3_512"]
BLOCKS = {name: hashlib.new(name).block_size for name in NAMES}


def of_hashlib(name, messages):
    return [hashlib.new(name, message).digest() for message in messages]


def lengths_around(block):
    """Around the ends of one block and of two, where padding needs a block of its own, and around words."""
    near = {edge + by for edge in (0, block, 2 * block) for by in range(-18, 6)}
    return sorted({length for length in near if length >= 0} | {3 * block + 1, 7 * block - 9})


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("backend", ["reference", "cpu"])
def test_every_length_around_a_block_is_hashlibs(name, backend, rng):
    messages = [rng.bytes(length) for length in lengths_around(BLOCKS[name])]
    wanted = of_hashlib(name, messages)
    digest = getattr(std, name)
    packed = digest(messages, backend=backend)
    assert (packed.shape, packed.dtype) == ((len(messages), len(wanted[0])), np.uint8)
    assert [bytes(row) for row in packed] == wanted
    # The same one after the other, where most begin between two words.
    joined = std.Messages(b"".join(messages), np.cumsum([0, *map(len, messages)]), backend=backend)
    assert not joined.aligned
    assert [bytes(row) for row in digest(joined).numpy()] == wanted


def devices(*names):
    """sha256 on every device in the fast suite; the others' kernels take drivers a second or two to compile."""
    return [pytest.param(name, marks=[] if name == "sha256" else pytest.mark.slow) for name in names]


@pytest.mark.parametrize("name", devices(*NAMES))
def test_every_device_gives_what_hashlib_gives(name, target, rng):
    messages = [rng.bytes(length) for length in lengths_around(BLOCKS[name])[::5]]
    wanted = of_hashlib(name, messages)
    assert [bytes(row) for row in getattr(std, name)(messages, **target)] == wanted
    joined = std.Messages(b"".join(messages), np.cumsum([0, *map(len, messages)]), **target)
    assert [bytes(row) for row in getattr(std, name)(joined).numpy()] == wanted


def random_lists(name, target, most):
    block = BLOCKS[name]
    sizes = st.one_of(st.integers(0, 4 * block), st.sampled_from([0, block - 1, block, block + 1]))

    @seed(SEED)
    @settings(max_examples=most, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(sizes.flatmap(lambda n: st.binary(min_size=n, max_size=n)), max_size=70))
    def run(messages):
        found = getattr(std, name)(messages, **target)
        assert [bytes(row) for row in found] == of_hashlib(name, messages)

    run()


@pytest.mark.parametrize("name", NAMES)
def test_random_lists_are_hashlibs(name):
    random_lists(name, {"backend": "cpu"}, 15)


@pytest.mark.parametrize("name", devices(*NAMES))
def test_random_lists_are_hashlibs_on_every_device(name, target):
    random_lists(name, target, 10)


@pytest.mark.parametrize("name", ["sha256", "sha384", "sha3_256"])
def test_a_long_message_continues_in_further_dispatches(name, slow_target, rng):
    block = BLOCKS[name]
    messages = [rng.bytes(k * block + by) for k in range(8) for by in (-9, -8, -1, 0, 1) if k or by >= 0]
    given = std.Messages.pack(messages, **slow_target)
    three_blocks = _block_hashes.digests(hashes.ALGORITHMS[name], 4, turns=3)
    found = three_blocks(given.words, given.starts, given.lengths, given.longest).numpy()
    assert [row.tobytes() for row in found.reshape(len(messages), -1)] == of_hashlib(name, messages)


@pytest.mark.parametrize("products", [False, True])
def test_sums_by_products_give_the_same_digests(products, target, rng):
    data = rng.bytes(64 * 300)
    words = vyre.array(np.frombuffer(data, np.uint32), **target)
    starts = vyre.array(np.arange(0, len(data), 64, dtype=np.uint32), **target)
    found = block_digests(hashes.ALGORITHMS["sha256"], products)(words, starts).numpy()
    assert found.tobytes() == b"".join(of_hashlib("sha256", [data[k : k + 64] for k in range(0, len(data), 64)]))


NARROW = ["md5", "sha1", "sha224", "sha256"]


def test_messages_of_one_block_have_a_form_of_their_own():
    for name in NARROW:
        call = functools.partial(getattr(std, name), backend="cpu")
        found = [each.name for size in (64, 65) for each in procedures_of(call, bytes(size))]
        assert found == [f"std.{name}_blocks", f"std.{name}_16"]


@pytest.mark.parametrize("count", [1, 127, 128, 129])
@pytest.mark.parametrize("name", devices(*NARROW))
def test_messages_of_one_block_are_hashlibs_in_every_form(name, count, target, rng):
    data, digest = rng.bytes(64 * count + 24), getattr(std, name)
    for first, spare in ((0, 0), (16, 0), (16, 8), (4, 0), (3, 0)):  # with it, and where it cannot be taken
        given = data[: first + 64 * count + spare]
        messages = std.Messages(given, first + 64 * np.arange(count + 1), **target)
        wanted = of_hashlib(name, [given[k : k + 64] for k in range(first, first + 64 * count, 64)])
        assert [bytes(row) for row in digest(messages).numpy()] == wanted
    assert [digest(data[:64], **target)] == of_hashlib(name, [data[:64]])
    mixed = [data[:64], data[:63], data[:65]]
    assert [bytes(row) for row in digest(mixed, **target)] == of_hashlib(name, mixed)


@pytest.mark.parametrize("size", [1, 63, 64, 65, 10_000])
def test_any_number_of_messages(size, rng, target):
    if size == 10_000 and target["backend"] == "vulkan":
        size = 1000
    messages = [bytes(row) for row in rng.integers(0, 256, (size, 7), np.uint8)]
    assert [bytes(row) for row in std.sha256(messages, **target)] == of_hashlib("sha256", messages)


def test_no_messages_give_no_digests(target):
    for name in ("sha256", "sha3_256") if target["backend"] != "vulkan" else ("sha256",):
        size = hashlib.new(name).digest_size
        assert getattr(std, name)([], **target).shape == (0, size)
        assert getattr(std, name)(std.Messages(b"", [0], **target)).shape == (0, size)


def test_the_form_of_the_data_is_the_form_of_the_result(target):
    wanted = hashlib.sha256(b"vyre").digest()
    for data in (b"vyre", bytearray(b"vyre"), memoryview(b"vyre"), np.frombuffer(b"vyre", np.uint8)):
        assert std.sha256(data, **target) == wanted
    for listed in ([b"vyre"], (b"vyre",)):
        assert std.sha256(listed, **target).tobytes() == wanted
    resident = std.sha256(vyre.array(b"vyre", **target))
    assert isinstance(resident, vyre.Array)
    assert (resident.shape, resident.dtype, resident.numpy().tobytes()) == ((32,), np.uint8, wanted)
    held = std.sha256(std.Messages(vyre.array(b"vyrevyr", **target), [0, 4, 7]))
    assert (held.shape, held[0].numpy().tobytes()) == ((2, 32), wanted)


def test_a_digest_joins_a_graph():
    data = vyre.array(b"abcd", backend="cpu")
    messages = std.Messages(data, [0, 4])
    std.sha256(messages)  # a plan allocates, which a graph refuses
    with vyre.graph() as recorded:
        digests = std.sha256(messages)
    data.write(np.frombuffer(b"wxyz", np.uint8))
    recorded.replay()
    assert digests.numpy().tobytes() == hashlib.sha256(b"wxyz").digest()


LONGEST = [2**32 - 1, 2**32 - 8, 2**32 - 9, 2**32 - 64, 2**29, 2**29 - 1, 2**29 - 64, 2**29 - 65]


@pytest.mark.parametrize("before", [0, 512])
@pytest.mark.parametrize("length", LONGEST)
def test_the_last_blocks_of_the_longest_messages(length, before):
    """Their bytes would take gigabytes: the state before their last bytes is made up, and those bytes are zeros.

    Beside them, the blocks with the length written in. ``before`` are the bits of the key of an HMAC.
    """
    algorithm, rest = hashes.ALGORITHMS["sha256"], length % 64
    tail = bytes(rest) + b"\x80" + bytes((55 - rest) % 64) + (8 * length + before).to_bytes(8, "big")

    def last(words, size, begin, bits, first, turns):
        state = vyre.array(np.arange(1, 9, dtype=np.uint32), backend="cpu")
        digests, sizes = vyre.zeros(8, backend="cpu"), vyre.array([size], np.uint32, backend="cpu")
        kernel = _block_hashes.compress(algorithm, 4, turns)
        kernel(words, vyre.zeros(1, backend="cpu"), sizes, begin, 0, bits, first, state, digests, grid=1)
        return digests.numpy(), state.numpy()

    zeros = vyre.zeros(8, backend="cpu")
    digests, _ = last(zeros, length, zeros, before, length // 64, 2)
    # The same bytes as whole blocks of a longer message: its state is the digest before its bytes are turned.
    words = vyre.array(np.frombuffer(tail, "<u4").astype(np.uint32), backend="cpu")
    begin = vyre.array(np.arange(1, 9, dtype=np.uint32), backend="cpu")
    _, state = last(words, len(tail), begin, 0, 0, len(tail) // 64)
    assert np.array_equal(digests.byteswap(), state)


test_wrong_calls_are_refused = wrong_calls("hashes", globals())
