"""HMAC and PBKDF2 of vyre.std beside the vectors of their RFCs, hmac and hashlib."""

import hashlib
import hmac

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import vyre
from conftest import SEED
from vyre import std
from vyre.std import hashes
from vyre.std._calls.messages import Messages
from vyre.std._hashing import block_hashes as _block_hashes
from wrong_calls import wrong_calls

NAMES = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_224", "sha3_256", "sha3_384", "sha3_512"]

JEFE = (b"Jefe", b"what do ya want for nothing?")
FIRST = b"Test Using Larger Than Block-Size Key - Hash Key First"
LARGER = b"Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data"
LONG = b"This is a test using a larger than block-size key and a larger than block-size data. "
LONG += b"The key needs to be hashed before being used by the HMAC algorithm."


def hmac_cases(size):
    """Keys and messages by the size of digests: of RFC 2202, sections 2 and 3, or RFC 4231, sections 4.2 to 4.8."""
    old = size <= 20
    long = b"\xaa" * (80 if old else 131)
    return [
        (b"\x0b" * (size if old else 20), b"Hi There"),
        JEFE,
        (b"\xaa" * (size if old else 20), b"\xdd" * 50),
        (bytes(range(1, 26)), b"\xcd" * 50),
        (b"\x0c" * (size if old else 20), b"Test With Truncation"),
        (long, FIRST),
        (long, LARGER if old else LONG),
    ]


# The results of the same sections, one a case. That of the fifth case is cut to 128 bits in RFC 4231.
HMACS = {
    "md5": """
        9294727a3638bb1c13f48ef8158bfc9d
        750c783e6ab0b503eaa86e310a5db738
        56be34521d144c88dbb8c733f0e8b3f6
        697eaf0aca3a3aea3a75164746ffaa79
        56461ef2342edc00f9bab995690efd4c
        6b1ab7fe4bd7bf8f0b62e6ce61b9d0cd
        6f630fad67cda0ee1fb1f562db3aa53e
    """,
    "sha1": """
        b617318655057264e28bc0b6fb378c8ef146be00
        effcdf6ae5eb2fa2d27416d5f184df9c259a7c79
        125d7342b9ac11cd91a39af48aa17b4f63f175d3
        4c9007f4026250c6bc8414f9bf50c86c2d7235da
        4c1a03424b55e07fe7f27be1d58bb9324a9a5a04
        aa4ae5e15272d00e95705637ce8a3b55ed402112
        e8e99d0f45237d786d6bbaa7965c7808bbff1a91
    """,
    "sha224": """
        896fb1128abbdf196832107cd49df33f47b4b1169912ba4f53684b22
        a30e01098bc6dbbf45690f3a7e9e6d0f8bbea2a39e6148008fd05e44
        7fb3cb3588c6c1f6ffa9694d7d6ad2649365b0c1f65d69d1ec8333ea
        6c11506874013cac6a2abc1bb382627cec6a90d86efc012de7afec5a
        0e2aea68a90c8d37c988bcdb9fca6fa8
        95e9a0db962095adaebe9b2d6f0dbce2d499f112f2d2b7273fa6870e
        3a854166ac5d9f023f54d517d0b39dbd946770db9c2b95c9f6f565d1
    """,
    "sha256": """
        b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7
        5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843
        773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe
        82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b
        a3b6167473100ee06e0c796c2955552b
        60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54
        9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2
    """,
    "sha384": """
        afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59cfaea9ea9076ede7f4af152e8b2fa9cb6
        af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649
        88062608d3e6ad8a0aa2ace014c8a86f0aa635d947ac9febe83ef4e55966144b2a5ab39dc13814b94e3ab6e101a34f27
        3e8a69b7783c25851933ab6290af6ca77a9981480850009cc5577c6e1f573b4e6801dd23c4a7d679ccf8a386c674cffb
        3abf34c3503b2a23a46efc619baef897
        4ece084485813e9088d2c63a041bc5b44f9ef1012a2b588f3cd11f05033ac4c60c2ef6ab4030fe8296248df163f44952
        6617178e941f020d351e2f254e8fd32c602420feb0b8fb9adccebb82461e99c5a678cc31e799176d3860e6110c46523e
    """,
    "sha512": """
        87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cdedaa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854
        164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737
        fa73b0089d56a284efb0f0756c890be9b1b5dbdd8ee81a3655f83e33b2279d39bf3e848279a722c806b485a47e67c807b946a337bee8942674278859e13292fb
        b0ba465637458c6990e5a8c5f61d4af7e576d97ff94b872de76f8050361ee3dba91ca5c11aa25eb4d679275cc5788063a5f19741120c4f2de2adebeb10a298dd
        415fad6271580a531d4179bc891d87a6
        80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f3526b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598
        e37b6a775dc87dbaa4dfa9f96e5e3ffddebd71f8867289865df5a32d20cdc944b6022cac3c4982b10d5eeb55c3e4de15134676fb6de0446065c97440fa8c6a58
    """,
}


@pytest.mark.parametrize("name", HMACS)
def test_hmacs_are_those_of_the_rfcs(name):
    digests, size = HMACS[name].split(), hashlib.new(name).digest_size
    for (key, message), digest in zip(hmac_cases(size), digests, strict=True):
        found = std.hmac(key, message, name, backend="cpu").hex()
        assert len(found) == 2 * size
        assert found[: len(digest)] == digest


# RFC 6070, section 2; RFC 7914, section 11.
DERIVED = [
    ("sha1", b"password", b"salt", 1, 20, "0c60c80f961f0e71f3a9b524af6012062fe037a6"),
    ("sha1", b"password", b"salt", 2, 20, "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957"),
    ("sha1", b"password", b"salt", 4096, 20, "4b007901b765489abead49d926f721d065a429c1"),
    (
        "sha1",
        b"passwordPASSWORDpassword",
        b"saltSALTsaltSALTsaltSALTsaltSALTsalt",
        4096,
        25,
        "3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038",
    ),
    ("sha1", b"pass\0word", b"sa\0lt", 4096, 16, "56fa6aa75548099dcc37d7f03425e0c3"),
    (
        "sha256",
        b"passwd",
        b"salt",
        1,
        64,
        "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"
        "49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783",
    ),
]


@pytest.mark.parametrize("row", DERIVED, ids=range(len(DERIVED)))
def test_derived_keys_are_those_of_the_rfcs(row):
    *arguments, key = row
    assert std.pbkdf2_hmac(*arguments, backend="cpu").hex() == key


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
    """A name for each kind of state and padding in the fast suite; the other kernels take a second to make, too."""
    fast = ("md5", "sha256", "sha512", "sha3_256")
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


@pytest.mark.parametrize("length", [2**32 - 1, 2**29 - 64, 2**29 - 65])
def test_the_bits_of_the_longest_message_count_its_key(length):
    """The last block of a message of zeros, after a made-up state: beside it, the block with its length written in."""
    algorithm = hashes.ALGORITHMS["sha256"]
    kernel, held = _block_hashes.compress(algorithm, 4), np.arange(1, 9, dtype=np.uint32)
    rest = length % 64
    tail = bytes(rest) + b"\x80" + bytes((55 - rest) % 64) + (8 * (length + 64)).to_bytes(8, "big")
    zeros = vyre.zeros(8, backend="cpu")
    digests, again = vyre.zeros(8, backend="cpu"), vyre.zeros(8, backend="cpu")
    state = vyre.array(held, backend="cpu")
    size = vyre.array([length], np.uint32, backend="cpu")
    kernel(zeros, zeros[:1], size, zeros, 0, 512, length // 64, state, digests, grid=1)
    # The same bytes as whole blocks of a longer message: its state is the digest before its bytes are turned.
    words, blocks = vyre.array(np.frombuffer(tail, "<u4").astype(np.uint32), backend="cpu"), len(tail) // 64
    short = _block_hashes.compress(algorithm, 4, blocks)
    state = vyre.array(held, backend="cpu")
    size = vyre.array([len(tail)], np.uint32, backend="cpu")
    short(words, zeros[:1], size, vyre.array(held, backend="cpu"), 0, 0, 0, state, again, grid=1)
    assert np.array_equal(digests.numpy().byteswap(), state.numpy())


test_wrong_calls_are_refused = wrong_calls("keyed", globals())
