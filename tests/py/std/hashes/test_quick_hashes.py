"""FNV-1a, MurmurHash3, xxHash and SipHash, compared with published values and with other implementations."""

from itertools import pairwise

import mmh3
import numpy as np
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from library_models import fnv, sip
from vyre.std import Messages, fnv1a32, fnv1a64, murmur3_32, siphash24, xxhash32, xxhash64
from vyre.std._calls import streams as _streams
from wrong_calls import wrong_calls

# The reference implementation's table: the result for the key 00 01 .. 0f and the first n bytes of 00 01 02 ..
SIPHASH = """
    310e0edd47db6f72 fd67dc93c539f874 5a4fa9d909806c0d 2d7efbd796666785
    b7877127e09427cf 8da699cd64557618 cee3fe586e46c9cb 37d1018bf50002ab
    6224939a79f5f593 b0e4a90bdf82009e f3b9dd94c5bb5d7a a7ad6b22462fb3f4
    fbe50e86bc8f1e75 903d84c02756ea14 eef27a8e90ca23f7 e545be4961ca29a1
    db9bc2577fcc2a3f 9447be2cf5e99a69 9cd38d96f0b3c14b bd6179a71dc96dbb
    98eea21af25cd6be c7673b2eb0cbf2d0 883ea3e395675393 c8ce5ccd8c030ca8
    94af49f6c650adb8 eab8858ade92e1bc f315bb5bb835d817 adcf6b0763612e2f
    a5c91da7acaa4dde 716595876650a2a6 28ef495c53a387ad 42c341d8fa92d832
    ce7cf2722f512771 e37859f94623f3a7 381205bb1ab0e012 ae97a10fd434e015
    b4a31508beff4d31 81396229f0907902 4d0cf49ee5d4dcca 5c73336a76d8bf9a
    d0a704536ba93e0e 925958fcd6420cad a915c29bc8067318 952b79f3bc0aa6d4
    f21df2e41d4535f9 87577519048f53a9 10a56cf5dfcd9adb eb75095ccd986cd0
    51a9cb9ecba312e6 96afadfc2ce666c7 72fe52975a4364ee 5a1645b276d592a1
    b274cb8ebf87870a 6f9bb4203de7b381 eaecb2a30b22a87f 9924a43cc1315724
    bd838d3aafbf8db7 0b1a2a3265d51aea 135079a3231ce660 932b2846e4d70666
    e1915f5cb1eca46c f325965ca16d629f 575ff28e60381be5 724506eb4c328a95
"""


PEERS = {
    fnv1a32: lambda data, seed: fnv(data, 0x811C9DC5, 0x01000193, 32),
    fnv1a64: lambda data, seed: fnv(data, 0xCBF29CE484222325, 0x100000001B3, 64),
    murmur3_32: lambda data, seed: mmh3.hash(data, seed, signed=False),
    xxhash32: lambda data, seed: xxhash.xxh32_intdigest(data, seed),
    xxhash64: lambda data, seed: xxhash.xxh64_intdigest(data, seed),
    siphash24: lambda data, seed: sip(data, seed.to_bytes(16, "big")),
}
SEEDED = {murmur3_32: 32, xxhash32: 32, xxhash64: 64}
NAMED = {"argvalues": list(PEERS), "ids": [each.__name__ for each in PEERS]}


def ours(function, data, seed, **target):
    if function is siphash24:
        return function(data, seed.to_bytes(16, "big"), **target)
    return function(data, seed, **target) if function in SEEDED else function(data, **target)


def test_the_table_of_siphash(target):
    wanted = [int.from_bytes(bytes.fromhex(each), "little") for each in SIPHASH.split()]
    messages = [bytes(range(n)) for n in range(64)]
    assert siphash24(messages, bytes(range(16)), **target).tolist() == wanted


def test_published_values(target):
    # Noll's test values
    assert fnv1a32([b"", b"a", b"foobar"], **target).tolist() == [0x811C9DC5, 0xE40C292C, 0xBF9CF968]
    assert fnv1a64([b"", b"a", b"foobar"], **target).tolist() == [
        0xCBF29CE484222325,
        0xAF63DC4C8601EC8C,
        0x85944171F73967E8,
    ]


@pytest.mark.parametrize("function", **NAMED)
def test_every_length_is_the_peers(target, rng, function):
    sizes = [*range(0, 70), 255, 256, 257, 1000] if target["backend"] != "reference" else range(40)
    messages = [rng.bytes(size) for size in sizes]
    seed = int(rng.integers(0, 2 ** SEEDED.get(function, 32), dtype=np.uint64))
    found = ours(function, messages, seed, **target)
    assert found.dtype == (np.uint64 if "64" in function.__name__ or function is siphash24 else np.uint32)
    assert found.tolist() == [PEERS[function](each, seed) for each in messages]


@pytest.mark.parametrize("function", **NAMED)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_one_message_and_several_are_the_peers(function, data):
    backend = data.draw(st.sampled_from(["reference", "cpu"]))
    seed = data.draw(st.integers(0, 2 ** SEEDED.get(function, 32) - 1))
    messages = data.draw(st.lists(st.binary(max_size=80), max_size=4))
    wanted = [PEERS[function](each, seed) for each in messages]
    assert ours(function, messages, seed, backend=backend).tolist() == wanted
    assert [ours(function, each, seed, backend=backend) for each in messages[:1]] == wanted[:1]


@pytest.mark.parametrize("function", **NAMED)
def test_messages_may_begin_anywhere(slow_target, rng, function):
    data = rng.bytes(400)
    offsets = [1, 1, 2, 9, 45, 46, 399]
    wanted = [PEERS[function](data[a:b], 7) for a, b in pairwise(offsets)]
    assert ours(function, Messages(data, offsets, **slow_target), 7).numpy().tolist() == wanted


@pytest.mark.parametrize("function", **NAMED)
def test_a_long_message_continues_in_further_dispatches(rng, monkeypatch, function):
    monkeypatch.setattr(_streams, "TURNS", 3)
    _streams.make_procedure.cache_clear()
    try:
        messages = [rng.bytes(size) for size in (0, 1, 11, 12, 13, 24, 95, 96, 97, 192, 400)]
        assert ours(function, messages, 5, backend="cpu").tolist() == [PEERS[function](each, 5) for each in messages]
    finally:
        monkeypatch.undo()
        _streams.make_procedure.cache_clear()


test_wrong_arguments_are_refused = wrong_calls("quick_hashes", globals())
