"""ChaCha20 and AES in counter mode, compared with their documents and with OpenSSL through cryptography."""

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given, settings
from hypothesis import strategies as st

import vyre
from vyre.std import Messages, aes_ctr, chacha20

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
    # Appendices F.5.1 and F.5.5
    counter = HEX("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
    plain = HEX(
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
        "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
    )
    assert aes_ctr(HEX("2b7e151628aed2a6abf7158809cf4f3c"), counter, plain, **target) == HEX(
        "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
        "5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee"
    )
    key = HEX("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    assert aes_ctr(key, counter, plain, **target) == HEX(
        "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
        "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"
    )


def test_the_examples_of_rfc_3686(slow_target):
    # Section 6, vectors 1, 2 and 7: nonce, initialization vector, and a counter that begins with 1
    assert aes_ctr(
        HEX("ae6852f8121067cc4bf7a5765577f39e"),
        HEX("00000030" + "0000000000000000" + "00000001"),
        b"Single block msg",
        **slow_target,
    ) == HEX("e4095d4fb7a7b3792d6175a3261311b8")
    assert aes_ctr(
        HEX("7e24067817fae0d743d6ce1f32539163"),
        HEX("006cb6db" + "c0543b59da48d90b" + "00000001"),
        bytes(range(32)),
        **slow_target,
    ) == HEX("5104a106168a72d9790d41ee8edad388eb2e1efc46da57c8fce630df9141be28")
    assert aes_ctr(
        HEX("776beff2851db06f4c8a0542c8696f6c6a81af1eec96b4d37fc1d689e6c1c104"),
        HEX("00000060" + "db5672c97aa8f0b2" + "00000001"),
        b"Single block msg",
        **slow_target,
    ) == HEX("145ad01dbf824ec7560863dc71e3e0c0")


@pytest.mark.parametrize("length", LENGTHS)
def test_every_length_is_openssls(target, rng, length):
    key, nonce, counter, data = (rng.bytes(size) for size in (32, 12, 16, length))
    first = int(rng.integers(0, 2**31))
    assert chacha20(key, nonce, data, first, **target) == openssl_chacha(key, nonce, data, first)
    assert aes_ctr(key[:16], counter, data, **target) == openssl_aes(key[:16], counter, data)


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

    def drawn(size, several):
        if not several:
            return data.draw(st.binary(min_size=size, max_size=size))
        return [data.draw(st.binary(min_size=size, max_size=size)) for _ in messages]

    def each(value):
        return value if isinstance(value, list) else [value] * len(messages)

    several = len(messages) > 0 and data.draw(st.booleans())
    key = [drawn(data.draw(st.sampled_from([16, 32])), False) for _ in messages] if several else drawn(32, False)
    counter = drawn(16, len(messages) > 0 and data.draw(st.booleans()))
    found = aes_ctr(key, counter, messages, backend=backend)
    assert found == [openssl_aes(*args) for args in zip(each(key), each(counter), messages, strict=True)]
    key, nonce = drawn(32, len(messages) > 0 and data.draw(st.booleans())), drawn(12, False)
    found = chacha20(key, nonce, messages, 5, backend=backend)
    assert found == [openssl_chacha(*args, 5) for args in zip(each(key), each(nonce), messages, strict=True)]


def test_no_messages_take_no_keys():
    assert chacha20(bytes(32), bytes(12), [], backend="cpu") == []
    assert chacha20([], [], [], backend="cpu") == []
    assert aes_ctr([], [], (), backend="cpu") == []


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
    with pytest.raises(vyre.ArgumentError) as caught:
        chacha20(key, nonce, data, 2**32 - 1, backend="cpu")
    assert str(caught.value) == (
        "argument `data` of vyre.std.chacha20 has 128 bytes, and the counter ends after 64. "
        "Fix: begin with a smaller counter, or use another nonce for a part of the data."
    )


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: chacha20(bytes(16), bytes(12), b""),
            vyre.ArgumentError,
            "argument `key` of vyre.std.chacha20 must have 32 bytes, got 16. Fix: pass 32 bytes.",
        ),
        (
            lambda: chacha20(bytes(32), bytes(8), b""),
            vyre.ArgumentError,
            "argument `nonce` of vyre.std.chacha20 must have 12 bytes, got 8. Fix: pass 12 bytes.",
        ),
        (
            lambda: aes_ctr(bytes(24), bytes(16), b""),
            vyre.ArgumentError,
            "argument `key` of vyre.std.aes_ctr must have 16 or 32 bytes, got 24. Fix: pass 16 or 32 bytes.",
        ),
        (
            lambda: chacha20([bytes(32)] * 2, bytes(12), [b"", b"", b""]),
            vyre.ArgumentError,
            "argument `key` of vyre.std.chacha20 has 2 elements for 3 messages. "
            "Fix: pass one for each message, or one for all.",
        ),
        (
            lambda: chacha20([bytes(32)] * 2, bytes(12), b""),
            vyre.ArgumentError,
            "argument `key` of vyre.std.chacha20 has 2 elements for 1 message. "
            "Fix: pass one for each message, or one for all.",
        ),
        (
            lambda: chacha20(bytes(32), bytes(12), Messages(b"", [0])),
            vyre.BindingError,
            "argument `data` of vyre.std.chacha20 must be bytes, a list of them or an array of uint8, got Messages. "
            "Fix: pass the list.",
        ),
    ],
)
def test_wrong_arguments_are_refused(call, kind, message):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == message
