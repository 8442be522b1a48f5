"""SHA-1, SHA-2 and SHA-3 of vyre.std beside the response files of NIST's validation program, Monte Carlo chains too.

A chain (SHAVS and SHA3VS, "the pseudorandomly generated messages test") is 100 times 1,000 digests, each of those
before it. The file has every thousandth one, which is the seed of the next thousand. So the thousands are taken side
by side, as 100 messages, and each must end in the seed of the next. That is the whole chain, in 1,000 calls.
"""

import re
from pathlib import Path

import numpy as np
import pytest

from vyre import std

FOLDER = Path(__file__).with_name("cavp")
# The long messages, which `.ci/setup vectors` brings in.
LONG = Path(__file__).parents[3] / "build" / "vectors" / "cryptography_vectors" / "hashes"
NAMES = ["sha1", "sha224", "sha256", "sha384", "sha512", "sha3_224", "sha3_256", "sha3_384", "sha3_512"]
CHAIN = 1000  # digests between two that a file has


def fields(name, kind, *wanted, folder=FOLDER):
    """The values of a response file, one tuple a record."""
    text = (folder / f"{name.upper()}{kind}.rsp").read_text(encoding="ascii")
    columns = [re.findall(rf"^{each} = (\w+)$", text, re.MULTILINE) for each in wanted]
    return list(zip(*columns, strict=True))


def messages_of(name):
    """Messages and digests; a message of no bytes is written as one of zeros."""
    rows = fields(name, "ShortMsg", "Len", "Msg", "MD")
    return [bytes.fromhex(text)[: int(bits) // 8] for bits, text, _ in rows], [bytes.fromhex(md) for *_, md in rows]


def checkpoints(name):
    """The seed and every thousandth digest."""
    seed = [bytes.fromhex(each) for (each,) in fields(name, "Monte", "Seed")]
    return seed + [bytes.fromhex(each) for (each,) in fields(name, "Monte", "MD")]


@pytest.mark.parametrize("name", NAMES)
def test_the_short_messages(name, slow_target):
    messages, digests = messages_of(name)
    assert len(messages) > 64
    assert {len(each) for each in messages} >= set(range(64))
    assert [row.tobytes() for row in getattr(std, name)(messages, **slow_target)] == digests


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_long_messages(name, target):
    assert LONG.exists(), "NIST's long messages are not here. Fix: .ci/setup vectors"
    folder = LONG / ("SHA1" if name == "sha1" else "SHA3" if name.startswith("sha3_") else "SHA2")
    rows = fields(name, "LongMsg", "Len", "Msg", "MD", folder=folder)
    messages = [bytes.fromhex(text) for _, text, _ in rows]
    assert [8 * len(each) for each in messages] == [int(bits) for bits, *_ in rows]
    assert len(rows) >= 64
    kept = 8 if target["backend"] == "reference" else len(rows)  # the interpreter would take minutes
    found = getattr(std, name)(messages[:kept], **target)
    assert [row.tobytes().hex() for row in found] == [md for *_, md in rows[:kept]]


def advanced(name, digests, turns, target):
    """Rows of digests after so many more of the chain that each of them is the seed of."""
    call, size = getattr(std, name), digests.shape[1]
    kept = [digests] if name.startswith("sha3_") else [digests] * 3
    for _ in range(turns):
        joined = np.concatenate(kept, axis=1)
        offsets = np.arange(len(joined) + 1, dtype=np.uint32) * joined.shape[1]
        found = call(std.Messages(joined.reshape(-1), offsets, **target)).numpy()
        assert found.shape == (len(digests), size)
        kept = [*kept[1:], found]
    return kept[-1]


def rows_of(digests):
    return np.frombuffer(b"".join(digests), np.uint8).reshape(len(digests), -1)


@pytest.mark.parametrize("name", NAMES)
def test_the_monte_carlo_chains(name):
    known = checkpoints(name)
    assert len(known) == 101
    found = advanced(name, rows_of(known[:-1]), CHAIN, {"backend": "cpu"})
    assert [row.tobytes() for row in found] == known[1:]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_monte_carlo_chains_on_every_device(name, target):
    if target["backend"] == "reference":
        pytest.skip("the interpreter would take an hour; the short messages are run there")
    known = checkpoints(name)
    found = advanced(name, rows_of(known[:-1]), CHAIN, target)
    assert [row.tobytes() for row in found] == known[1:]


@pytest.mark.parametrize("name", ["sha1", "sha256", "sha512", "sha3_256"])
def test_a_chain_of_single_calls_reaches_its_first_checkpoint(name):
    first, last = checkpoints(name)[:2]
    kept = [first] * (1 if name.startswith("sha3_") else 3)
    for _ in range(CHAIN):
        kept = [*kept[1:], getattr(std, name)(b"".join(kept), backend="cpu")]
    assert kept[-1] == last
