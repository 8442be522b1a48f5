"""ChaCha20 and AES in counter mode, compared with their documents and with OpenSSL through cryptography."""

import os
import re
import time

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given, settings
from hypothesis import strategies as st

import vyre
from conftest import message
from vyre.std import aes, aes_ctr, chacha, chacha20
from vyre.std._hashing import ciphers as _ciphers
from wrong_calls import wrong_calls

HEX = bytes.fromhex
# These lie around the ends of a word, of a block, of a unit, and of a workgroup.
LENGTHS = [0, 1, 3, 4, 15, 16, 17, 63, 64, 65, 127, 1000]
SUNSCREEN = (
    b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
    b"sunscreen would be it."
)


def openssl_chacha(key, nonce, data, counter=0):
    return Cipher(algorithms.ChaCha20(key, counter.to_bytes(4, "little") + nonce), None).encryptor().update(data)


def openssl_aes(key, counter_block, data):
    return Cipher(algorithms.AES(key), modes.CTR(counter_block)).encryptor().update(data)


def test_the_examples_of_rfc_8439(target):
    key = bytes(range(32))
    # Section 2.3.2: a block of the keystream
    assert chacha20(key, HEX("000000090000004a00000000"), bytes(64), 1, **target) == HEX(
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4ed2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
    )
    # Section 2.4.2
    assert chacha20(key, HEX("000000000000004a00000000"), SUNSCREEN, 1, **target) == HEX(
        "6e2e359a2568f98041ba0728dd0d6981e97e7aec1d4360c20a27afccfd9fae0bf91b65c5524733ab8f593dabcd62b3571639d624e65152ab"
        "8f530c359f0861d807ca0dbf500d6a6156a38e088a22b65e52bc514d16ccf806818ce91ab77937365af90bbf74a35be6b40b8eedf2785e42874d"
    )


def test_the_examples_of_sp_800_38a(target):
    """Appendices F.5.1, F.5.2, F.5.5 and F.5.6: four blocks each, encrypted and decrypted."""
    counter = HEX("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
    plain = HEX(
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
        "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
    )
    for key, sealed in (
        (
            "2b7e151628aed2a6abf7158809cf4f3c",
            "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
            "5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee",
        ),
        (
            "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
            "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
            "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6",
        ),
    ):
        assert aes_ctr(HEX(key), counter, plain, **target) == HEX(sealed)
        assert aes_ctr(HEX(key), counter, HEX(sealed), **target) == plain


@pytest.mark.parametrize("length", LENGTHS)
def test_every_length_is_openssls(target, rng, length):
    key, nonce, counter, data = (rng.bytes(size) for size in (32, 12, 16, length))
    first = int(rng.integers(0, 2**31))
    assert chacha20(key, nonce, data, first, **target) == openssl_chacha(key, nonce, data, first)
    for size in (16, 32):
        assert aes_ctr(key[:size], counter, data, **target) == openssl_aes(key[:size], counter, data)


@pytest.mark.parametrize("length", [2**14 - 1, 2**14, 2**14 + 1, 100_003])
def test_several_workgroups_are_openssls_and_stay_where_the_data_is(rng, length):
    key, nonce, counter, data = (rng.bytes(size) for size in (32, 12, 16, length))
    resident = vyre.array(np.frombuffer(data, np.uint8), backend="cpu")
    for found, wanted in (
        (chacha20(key, nonce, resident), openssl_chacha(key, nonce, data)),
        (aes_ctr(key, counter, resident), openssl_aes(key, counter, data)),
    ):
        assert isinstance(found, vyre.Array)
        assert found.shape == (length,)
        assert found.numpy().tobytes() == wanted


def test_a_message_of_several_workgroups_is_openssls(slow_target, rng):
    key, nonce, counter, data = (rng.bytes(size) for size in (32, 12, 16, 40_003))
    assert chacha20(key, nonce, data, **slow_target) == openssl_chacha(key, nonce, data)
    assert aes_ctr(key, counter, data, **slow_target) == openssl_aes(key, counter, data)


@pytest.mark.parametrize("ahead", [0, 1, 3, 4, 300])
def test_the_counter_of_aes_carries_through_all_bytes(target, ahead):
    for ones in (4, 8, 12, 16):
        counter = (2 ** (8 * ones) - 1 - ahead).to_bytes(16, "big")
        assert aes_ctr(bytes(16), counter, bytes(300), **target) == openssl_aes(bytes(16), counter, bytes(300))


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_list_is_encrypted_message_by_message(data):
    backend = data.draw(st.sampled_from(["reference", "cpu"]))
    messages = data.draw(st.lists(st.binary(max_size=150), max_size=5))

    def drawn(sizes):
        size = data.draw(st.sampled_from(sizes))
        return data.draw(st.binary(min_size=size, max_size=size))

    def keys(sizes):
        return [drawn(sizes) for _ in messages] if data.draw(st.booleans()) else drawn(sizes)

    def starts(size, end=b""):
        """One for each message, as a list or as an array."""
        many, row = len(messages), st.binary(min_size=size - len(end), max_size=size - len(end))
        rows = [each + end for each in data.draw(st.lists(row, min_size=many, max_size=many, unique=True))]
        array = np.frombuffer(b"".join(rows), np.uint8).reshape(-1, size)
        return rows, array if data.draw(st.booleans()) else rows

    def each(value):
        return value if isinstance(value, list) else [value] * len(messages)

    key, (counters, given_counters) = keys([16, 32]), starts(16, b"\0")
    found = aes_ctr(key, given_counters, messages, backend=backend)
    assert found == [openssl_aes(*args) for args in zip(each(key), counters, messages, strict=True)]
    key, (nonces, given_nonces) = keys([32]), starts(12)
    found = chacha20(key, given_nonces, messages, 5, backend=backend)
    assert found == [openssl_chacha(*args, 5) for args in zip(each(key), nonces, messages, strict=True)]


def shared_of(call, *args):
    """The two messages that share a block, as the error says, or None where the call is accepted."""
    try:
        call(*args, backend="cpu")
    except vyre.ArgumentError as error:
        return tuple(
            map(int, re.search("got one that messages (.*) and (.*) share under one key", str(error)).groups())
        )


def aes_shared(counters, sizes, keys=bytes(16)):
    return shared_of(aes_ctr, keys, [(each % 2**128).to_bytes(16, "big") for each in counters], list(map(bytes, sizes)))


@pytest.mark.parametrize("first", [0, 5, 2**32 - 2, 2**64 - 2, 2**64, 2**96 - 1, 2**128 - 2, 2**128 - 3, 2**128 - 1])
def test_messages_of_a_list_may_follow_each_other_and_share_no_block(first):
    """Two blocks and a byte take three blocks, over the ends of words and over the end of the counter."""
    assert aes_shared([first, first + 3], [33, 1]) is None
    assert aes_shared([first + 3, first], [1, 33]) is None
    assert aes_shared([first, first + 2], [32, 1]) is None
    assert aes_shared([first, first + 2], [33, 1]) == (0, 1)
    assert aes_shared([first + 2, first], [1, 33]) == (0, 1)
    assert aes_shared([first, first], [1, 1]) == (0, 1)
    assert aes_shared([first + 9, first, first + 20, first + 1], [1, 999, 1, 16]) == (1, 3)


def test_empty_messages_use_no_block_of_a_counter():
    assert aes_shared([7, 7, 7, 8], [0, 16, 0, 0]) is None
    assert aes_shared([7, 8, 6], [16, 0, 17]) == (0, 2)
    assert chacha20(bytes(32), [bytes(12)] * 3, [b"", b"a", b""], backend="cpu")[1] == openssl_chacha(
        bytes(32), bytes(12), b"a"
    )


def test_only_messages_under_one_key_share_blocks():
    one, other, longer = bytes(16), bytes(15) + b"\1", bytes(32)
    assert aes_shared([1, 2, 1, 2], [16] * 4, [one, one, other, other]) is None
    assert aes_shared([1, 1, 1], [16] * 3, [one, other, longer]) is None
    assert aes_shared([1, 1, 2, 0], [16, 16, 16, 48], [one, other, longer, longer]) == (2, 3)
    assert aes_shared([2**128 - 1, 2**128 - 1, 0], [16, 32, 16], [one, other, one]) is None
    assert aes_shared([2**128 - 1, 2**128 - 1, 0], [16, 32, 16], [one, other, other]) == (1, 2)


@pytest.mark.parametrize("counter", [0, 2**32 - 2])
def test_nonces_that_follow_each_other_share_no_block(counter):
    nonces = [HEX("000000000000000000000000"), HEX("010000000000000000000000"), HEX("000000000000000000000001")]
    messages = [bytes(128)] * 3
    wanted = [openssl_chacha(bytes(32), nonce, bytes(128), counter) for nonce in nonces]
    assert chacha20(bytes(32), nonces, messages, counter, backend="cpu") == wanted
    assert shared_of(chacha20, bytes(32), [*nonces, nonces[1]], [*messages, b"a"], counter) == (1, 3)


def test_messages_share_a_block_where_their_counters_do(rng):
    """Short counters that meet often, beside the blocks that each message takes."""
    found = set()
    for _ in range(300):
        count = int(rng.integers(2, 6))
        counters, sizes, which = (rng.integers(0, end, count).tolist() for end in (40, 80, 2))
        keys = [bytes([each] * 16) for each in which]
        counters = [2**128 - 20 + each for each in counters]
        taken = [
            {(key, (counter + k) % 2**128) for k in range(-(-size // 16))}
            for key, counter, size in zip(keys, counters, sizes, strict=True)
        ]
        shared = aes_shared(counters, sizes, keys)
        pairs = {(i, j) for j in range(count) for i in range(j) if taken[i] & taken[j]}
        assert shared in (pairs or {None})
        found.add(shared is None)
    assert found == {False, True}


def test_a_million_messages_are_compared_at_once():
    """Comparing each with each would take hours."""
    count = 1_000_000
    blocks = np.zeros((count, 4), ">u4")
    blocks[:, 3] = np.random.default_rng(0).permutation(count) * 2
    rows, lengths = _ciphers.Rows(blocks.tobytes(), [16] * count, True), np.full(count, 32)
    key, keys = (_ciphers.Rows(bytes(16) * n, [16] * n, n > 1) for n in (1, count))
    began = time.perf_counter()
    for each in (key, keys):
        _ciphers._check_apart(aes.AES_CTR, "aes_ctr", each, rows, lengths)
    assert time.perf_counter() - began < 30 * int(os.environ.get("VYRE_PATIENCE", "1"))
    lengths[777] += 1
    with pytest.raises(vyre.ArgumentError, match=r"messages 777 and|and 777 share"):
        _ciphers._check_apart(aes.AES_CTR, "aes_ctr", keys, rows, lengths)


def test_no_messages_take_no_nonces():
    assert chacha20(bytes(32), np.empty((0, 12), np.uint8), [], backend="cpu") == []
    assert chacha20([], [], [], backend="cpu") == []
    assert aes_ctr([], [], (), backend="cpu") == []


def test_rows_of_any_layout_and_kind_are_read(rng):
    """Every second column of a transposed array, byte strings of several types, and one nonce for a single message."""
    messages = [rng.bytes(20), rng.bytes(70)]
    keys, nonces = rng.integers(0, 256, (2, 32), np.uint8), rng.integers(0, 256, (24, 2), np.uint8).T[:, ::2]
    rows = [(key.tobytes(), nonce.tobytes()) for key, nonce in zip(keys, nonces, strict=True)]
    wanted = [openssl_chacha(*row, each) for row, each in zip(rows, messages, strict=True)]
    for nonce in (nonces, list(nonces), [bytearray(rows[0][1]), memoryview(rows[1][1])]):
        assert chacha20(keys, nonce, messages, backend="cpu") == wanted
    for nonce in (nonces[0], nonces[:1], [rows[0][1]]):
        assert chacha20(keys[0], nonce, messages[0], backend="cpu") == wanted[0]


def test_keys_nonces_and_counter_blocks_of_many_messages_take_no_step_of_the_host_each(rng, monkeypatch):
    """A list of bytes and an array are joined at once."""
    monkeypatch.setattr(_ciphers, "host_bytes", lambda *_: pytest.fail("a row was read by itself"))
    messages, key = [b"abc"] * 9, [rng.bytes(32) for _ in range(9)]
    nonces, counters = (rng.integers(0, 256, (9, size), np.uint8) for size in (12, 16))
    found = [chacha20(key, nonces, messages, backend="cpu"), aes_ctr(key, counters, messages, backend="cpu")]
    assert found == [
        [openssl_chacha(*args, b"abc") for args in zip(key, map(bytes, nonces), strict=True)],
        [openssl_aes(*args, b"abc") for args in zip(key, map(bytes, counters), strict=True)],
    ]


def test_messages_of_a_list_do_not_touch_each_other(slow_target, rng):
    messages = [rng.bytes(size) for size in [0, 1, 64, 0, 0, 65, 200, 3, 0]]
    key, nonces = rng.bytes(32), [rng.bytes(12) for _ in messages]
    wanted = [openssl_chacha(key, nonce, each) for nonce, each in zip(nonces, messages, strict=True)]
    assert chacha20(key, nonces, messages, **slow_target) == wanted
    assert chacha20(key, nonces, wanted, **slow_target) == messages


def test_the_last_block_of_the_counter_is_used(rng):
    key, nonce, data = rng.bytes(32), rng.bytes(12), rng.bytes(128)
    whole = openssl_chacha(key, nonce, data, 2**32 - 2)
    assert chacha20(key, nonce, data, 2**32 - 2, backend="cpu") == whole
    assert message(lambda: chacha20(key, nonce, data, 2**32 - 1, backend="cpu"), vyre.ArgumentError) == (
        "argument `data` of vyre.std.chacha20 must have at most 64 bytes from this counter on, got 128. "
        "Fix: pass one with at most 64 bytes from this counter on."
    )


test_wrong_arguments_are_refused = wrong_calls("ciphers", globals())


@pytest.mark.parametrize("turns", [1, 2, 3, _ciphers.MOST_TURNS])
def test_an_invocation_that_makes_several_units_gives_the_same_bytes(target, turns):
    key, start = bytes(range(32)), bytes(range(16))
    nonce, counter = start[4:], int.from_bytes(start[:4], "little")
    for cipher, wanted in (
        (chacha.CHACHA20, openssl_chacha(key, nonce, bytes(1 << 17), counter)),
        (aes.AES_CTR, openssl_aes(key, start, bytes(1 << 17))),
    ):
        table = vyre.array(cipher.row(key, start).reshape(-1, 4), **target)
        all_lanes = 16 * cipher.lanes * turns  # words of a workgroup
        for count in (1, 16, 17, all_lanes - 1, all_lanes, all_lanes + 1, all_lanes + 16 * cipher.lanes + 5):
            text = np.random.default_rng(count).integers(0, 2**32, count, np.uint32)
            words = vyre.array(text, **target)
            quads = words[: count // 4 * 4].reshape(-1, 4)
            found = _ciphers.make_long(cipher)(quads, words, table, turns).numpy().reshape(-1)[:count]
            assert found.tobytes() == (text ^ np.frombuffer(wanted, "<u4", count)).tobytes(), (cipher.name, count)
