"""Arguments of the library's calls that are of no use are refused with its own errors."""

import numpy as np
import pytest

import vyre
from conftest import message
from vyre import std
from vyre.errors import ArgumentError, BindingError
from wrong_calls import wrong_calls

KEY = bytes(range(32))

_KEYED = {
    "argument `key` of vyre.std.siphash24": lambda key: std.siphash24(b"abc", key[:16], backend="cpu"),
    "argument `key` of vyre.std.blake2s": lambda key: std.blake2s(b"abc", key=key, backend="cpu"),
    "argument `key` of vyre.std.blake2b": lambda key: std.blake2b(b"abc", key=key, backend="cpu"),
    "argument `key` of vyre.std.blake3": lambda key: std.blake3(b"abc", key=key, backend="cpu"),
    "argument `key` of vyre.std.chacha20": lambda key: std.chacha20(key, bytes(12), b"abc", backend="cpu"),
    "argument `nonce` of vyre.std.chacha20": lambda key: std.chacha20(KEY, key[:12], b"abc", backend="cpu"),
    "argument `key` of vyre.std.aes_ctr": lambda key: std.aes_ctr(key, bytes(16), b"abc", backend="cpu"),
    "argument `counter_block` of vyre.std.aes_ctr": lambda key: std.aes_ctr(KEY, key[:16], b"abc", backend="cpu"),
}


@pytest.mark.parametrize("where", _KEYED)
def test_a_key_is_bytes_of_the_host(where):
    resident = vyre.array(np.frombuffer(KEY, np.uint8), backend="cpu")
    assert message(lambda: _KEYED[where](resident), BindingError) == (
        f"{where} must be bytes of the host, got a vyre.Array. Fix: pass bytes of the host."
    )
    assert _KEYED[where](resident.numpy()) == _KEYED[where](KEY)


@pytest.mark.parametrize("dtype", ["x", -1, [b"a"], (b"a",), np.int64], ids=str)
def test_sum_refuses_what_is_no_type(dtype):
    x = np.array([2**32 - 1, 1], np.uint32)
    with pytest.raises(ArgumentError) as error:
        std.sum(x, dtype=dtype, backend="cpu")
    assert str(error.value).startswith("argument `dtype` of vyre.std.sum must be uint32 or uint64, got ")
    assert str(error.value).endswith(". Fix: pass uint32 or uint64.")
    assert std.sum(x, dtype=np.uint64, backend="cpu") == 2**32


REPEATED = {
    "sort": np.broadcast_to(np.uint32(5), 2**40),
    "sum": np.broadcast_to(np.uint32(5), 2**44)[::2],
    "hex_encode": np.broadcast_to(np.uint8(5), 2**44),
}


@pytest.mark.parametrize("name", REPEATED)
def test_a_view_that_is_too_long_is_refused_before_it_is_copied(name):
    argument = "data" if name == "hex_encode" else "x"
    assert message(lambda: getattr(std, name)(REPEATED[name], backend="cpu"), ArgumentError) == (
        f"argument `{argument}` of vyre.std.{name} must have at most 4294967295 elements, got "
        f"{REPEATED[name].size}. Fix: pass one with at most 4294967295 elements."
    )


@pytest.mark.parametrize("call", [std.edit_distance, std.smith_waterman])
@pytest.mark.parametrize("listed", [False, True])
def test_strings_of_2_to_the_32_bytes_are_not_compared(call, listed):
    a, b = np.zeros(2**32, np.uint8), b"abc"  # zeros take no memory until they are read
    assert message(
        lambda: call([b, a], [b, b], backend="cpu") if listed else call(a, b, backend="cpu"), ArgumentError
    ) == (
        f"each string of vyre.std.{call.__name__} must have at most 4294967295 bytes, got 4294967296. "
        "Fix: pass one with at most 4294967295 bytes."
    )


test_wrong_arguments_are_told = wrong_calls("hostile_arguments", globals())
