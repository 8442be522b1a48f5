"""HMAC and PBKDF2 of vyre.std beside hmac and hashlib; vectors of their RFCs are the examples of the calls."""

import hashlib
import hmac

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import vyre
from conftest import SEED
from vyre import std
from vyre.std._calls.messages import Messages
from wrong_calls import wrong_calls

NAMES = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_224", "sha3_256", "sha3_384", "sha3_512"]


@pytest.mark.slow
def test_sixteen_million_iterations():
    """RFC 6070, section 2, the fourth vector."""
    key = std.pbkdf2_hmac("sha1", b"password", b"salt", 16_777_216, 20, backend="cpu")
    assert key.hex() == "eefe3d61cd4da4e4e9945b3d6ba2158c2634e984"


@pytest.mark.slow
def test_eighty_thousand_iterations():
    """RFC 7914, section 11."""
    key = std.pbkdf2_hmac("sha256", b"Password", b"NaCl", 80_000, 64, backend="cpu")
    assert key.hex() == (
        "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56"
        "a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d"
    )


def of_hmac(name, key, messages):
    return [hmac.new(key, message, name).digest() for message in messages]


def of_pbkdf2(name, passwords, salts, iterations, size=None):
    pairs = zip(passwords, salts, strict=True)
    return [hashlib.pbkdf2_hmac(name, password, salt, iterations, size) for password, salt in pairs]


def rows(found):
    return [bytes(row) for row in (found.numpy() if isinstance(found, vyre.Array) else found)]


def some(*names):
    """A name for each kind of state, padding and cut in the fast suite; other kernels take a second to make, too."""
    fast = ("md5", "sha1", "sha224", "sha384", "sha3_256")
    return [pytest.param(name, marks=[] if name in fast else pytest.mark.slow) for name in names]


@pytest.mark.parametrize("name", some(*NAMES))
@pytest.mark.parametrize("backend", ["reference", "cpu"])
def test_keys_and_messages_of_any_length(name, backend, rng):
    block = hashlib.new(name).block_size
    messages = [rng.bytes(n) for n in (0, 1, block - 17, block - 9, block - 8, block, 2 * block + 3)]
    joined = Messages(b"".join(messages), np.cumsum([0, *map(len, messages)]), backend=backend)
    for size in (0, 1, 4, block - 1, block, block + 1, 3 * block):
        key = rng.bytes(size)
        assert rows(std.hmac(key, messages, name, backend=backend)) == of_hmac(name, key, messages)
        assert rows(std.hmac(key, joined, name)) == of_hmac(name, key, messages)


# For tests of what does not depend on the device; each form of a kernel takes SwiftShader a second to compile.
on_host = pytest.mark.parametrize("host", ["reference", "cpu"])


def devices(*names):
    """Every device in the fast suite for sha256; the others' kernels take drivers seconds to compile."""
    return [pytest.param(name, marks=[] if name == "sha256" else pytest.mark.slow) for name in names]


@pytest.mark.parametrize("name", devices(*NAMES))
def test_every_device_gives_pythons_hmacs_and_keys(name, target, rng):
    block = hashlib.new(name).block_size
    messages = [rng.bytes(n) for n in (0, 5, block, 2 * block + 3)]
    key = rng.bytes(block + 1)
    assert rows(std.hmac(key, messages, name, **target)) == of_hmac(name, key, messages)
    assert rows(std.pbkdf2_hmac(name, messages, messages, 3, 5, **target)) == of_pbkdf2(name, messages, messages, 3, 5)


@pytest.mark.parametrize("name", some(*NAMES))
def test_keys_of_any_size_are_hashlibs(name, rng):
    size = hashlib.new(name).digest_size
    passwords = [rng.bytes(n) for n in (0, 3, 64, 65, 130, 200, 7)]
    salts = [rng.bytes(n) for n in (0, 1, 2, 3, 4, 77, 128)]
    for dklen in (1, size - 1, size, size + 1, 3 * size + 2, None):
        found = std.pbkdf2_hmac(name, passwords, salts, 3, dklen, backend="cpu")
        assert (found.shape, found.dtype) == ((7, dklen or size), np.uint8)
        assert rows(found) == of_pbkdf2(name, passwords, salts, 3, dklen)


@pytest.mark.parametrize("iterations", [1, 2, 1024, 1025, 1026, 2050])
def test_iterations_continue_in_further_dispatches(iterations):
    found = std.pbkdf2_hmac("sha1", [b"a", b"b"], [b"c", b"d"], iterations, backend="cpu")
    assert rows(found) == of_pbkdf2("sha1", [b"a", b"b"], [b"c", b"d"], iterations)


@pytest.mark.slow
def test_as_many_iterations_as_are_taken_can_be_planned():
    assert std.pbkdf2_hmac("sha1", [], b"salt", 2**31 - 1, backend="cpu").shape == (0, 20)


@on_host
def test_random_passwords_and_salts_are_hashlibs(host):
    strings = st.binary(max_size=150)

    @seed(SEED)
    @settings(max_examples=10, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(
        st.lists(st.tuples(strings, strings), max_size=20),
        st.integers(1, 4),
        st.integers(1, 90),
        st.sampled_from(["md5", "sha1", "sha256"]),
    )
    def run(pairs, iterations, dklen, name):
        passwords, salts = [each for each, _ in pairs], [each for _, each in pairs]
        found = std.pbkdf2_hmac(name, passwords, salts, iterations, dklen, backend=host)
        assert rows(found) == of_pbkdf2(name, passwords, salts, iterations, dklen)
        key = (passwords or [b"key"])[0]
        assert rows(std.hmac(key, salts, name, backend=host)) == of_hmac(name, key, salts)

    run()


@on_host
def test_one_password_or_one_salt_goes_with_all(host):
    salts = [b"salt", b"pepper", b""]
    wanted = of_pbkdf2("sha256", [b"word"] * 3, salts, 2)
    assert rows(std.pbkdf2_hmac("sha256", b"word", salts, 2, backend=host)) == wanted
    wanted = of_pbkdf2("sha256", salts, [b"word"] * 3, 2)
    assert rows(std.pbkdf2_hmac("sha256", salts, b"word", 2, backend=host)) == wanted
    wanted = of_pbkdf2("sha256", [b"word"], [b"salt"], 2)
    assert std.pbkdf2_hmac("sha256", b"word", b"salt", 2, backend=host) == wanted[0]
    assert rows(std.pbkdf2_hmac("sha256", [b"word"], b"salt", 2, backend=host)) == wanted


@on_host
def test_resident_data_gives_resident_results(host):
    messages = [b"abc", b"", b"abcdefg"]
    held = Messages(vyre.array(b"abcabcdefg", backend=host), [0, 3, 3, 10])
    found = std.hmac(b"key", held, "sha256")
    assert isinstance(found, vyre.Array)
    assert rows(found) == of_hmac("sha256", b"key", messages)
    one = std.hmac(b"key", vyre.array(b"abc", backend=host), "sha256")
    assert (one.shape, one.numpy().tobytes()) == ((32,), of_hmac("sha256", b"key", messages)[0])
    wanted = of_pbkdf2("sha256", messages, [b"salt"] * 3, 2, 5)
    keys = std.pbkdf2_hmac("sha256", held, b"salt", 2, 5)
    assert isinstance(keys, vyre.Array)
    assert (keys.shape, rows(keys)) == ((3, 5), wanted)
    wanted = of_pbkdf2("sha256", [b"word"] * 3, messages, 2)
    assert rows(std.pbkdf2_hmac("sha256", b"word", held, 2)) == wanted
    alone = std.pbkdf2_hmac("sha256", vyre.array(b"abc", backend=host), b"salt", 2, 5)
    assert (alone.shape, alone.numpy().tobytes()) == ((5,), of_pbkdf2("sha256", [b"abc"], [b"salt"], 2, 5)[0])


@on_host
def test_no_messages_and_no_passwords(host):
    assert std.hmac(b"key", [], "sha256", backend=host).shape == (0, 32)
    assert std.pbkdf2_hmac("sha256", [], [], 2, 5, backend=host).shape == (0, 5)
    assert std.pbkdf2_hmac("sha256", [], b"salt", 2, backend=host).shape == (0, 32)
    assert std.pbkdf2_hmac("sha256", b"word", [], 2, backend=host).shape == (0, 32)


test_wrong_calls_are_refused = wrong_calls("keyed", globals())
