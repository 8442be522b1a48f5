"""UTF-8 against Python's decoder: which bytes are text, how many characters it has, and where it is wrong."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vyre
from conftest import message
from vyre import std

# Bytes around every limit of the definition.
EDGES = list(bytes.fromhex("00 7f 80 8f 90 9f a0 bf c0 c1 c2 df e0 e1 ec ed ee ef f0 f1 f3 f4 f5 f7 f8 ff"))


def read(data):
    """The characters and the status of bytes, by Python's decoder."""
    try:
        return len(data.decode()), 0
    except UnicodeDecodeError as error:
        return 0, error.start + 1


def check(messages, **target):
    numbers, status = std.utf8_count(messages, **target)
    assert list(zip(numbers.tolist(), status.tolist(), strict=True)) == [read(each) for each in messages]
    valid = std.utf8_validate(messages, **target)
    np.testing.assert_array_equal(valid, np.array([read(each)[1] == 0 for each in messages], np.bool_), strict=True)


TEXT = "Grüße, 世界! ∑ x² ≤ 10⁶ 🎈 plain text, plain text, plain text, plain text ".encode() * 20


def test_all_bytes_and_all_pairs_are_told_as_python_tells_them():
    check([bytes([k]) for k in range(256)], backend="cpu")
    check([bytes(each) for each in itertools.product(range(256), repeat=2)], backend="cpu")


def test_all_sequences_of_edges_are_told_as_python_tells_them():
    check([bytes(each) for each in itertools.product(EDGES, repeat=3)], backend="cpu")
    leads, tails = [each for each in EDGES if each >= 0xE0], [each for each in EDGES if 0x7F <= each < 0xD0]
    check([bytes(each) for each in itertools.product(leads, tails, tails, [0x7F, *tails], [65, 128])], backend="cpu")


def test_sequences_across_the_ends_of_words_and_chunks(target):
    some = [b"\xe2\x82\xac", b"\xf0\x9f\x8e\x88", b"\xf0\x9f\x8e", b"\xe2\x82", b"\xc3", b"\x80", b"\xed\xa0\x80"]
    check([b"a" * n + each + after for each in some for n in range(24, 36) for after in (b"", b"b" * 40)], **target)


def test_long_and_mutated_text(target, rng):
    messages = [TEXT, TEXT[:-1], b""]
    for _ in range(20 if target["backend"] == "reference" else 100):
        changed = bytearray(TEXT[: int(rng.integers(100, len(TEXT)))])
        for _ in range(int(rng.integers(3))):
            changed[int(rng.integers(len(changed)))] = EDGES[int(rng.integers(len(EDGES)))]
        messages.append(bytes(changed))
    check(messages, **target)
    for each in messages[:12]:
        assert std.utf8_validate(each, **target) == (read(each)[1] == 0)


@pytest.mark.parametrize("n", [8190, 8191, 8192, 8193, 40_000])
def test_one_text_of_many_workgroups(target, n):
    if n > 10_000 and target["backend"] == "reference":
        n = 10_000
    text = ("ü" * n)[: n // 2].encode()
    assert std.utf8_count(text, **target) == n // 2
    assert std.utf8_count(b"x" + text, **target) == n // 2 + 1
    with pytest.raises(std.DecodeError) as caught:
        std.utf8_count(text + b"\xff\xff", **target)
    assert caught.value.position == len(text)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.one_of(st.binary(max_size=100), st.text(max_size=100).map(lambda x: x.encode())), max_size=5))
def test_any_bytes_are_told_as_python_tells_them(messages):
    check(messages, backend="cpu")


def test_resident_data_gives_resident_results(target):
    for data in (b"", "Grüße".encode(), b"\xff"):
        characters, wrong = read(data)
        resident = vyre.array(np.frombuffer(data, np.uint8), **target)
        valid = std.utf8_validate(resident)
        assert isinstance(valid, vyre.Array)
        assert valid.numpy().tolist() == [wrong == 0]
        count, status = std.utf8_count(resident)
        assert (count.numpy().tolist(), status.numpy().tolist()) == ([characters], [wrong])


def test_messages_at_any_byte(target):
    parts = ["Grüße".encode(), b"", "世界".encode(), b"a\xffb", "🎈".encode()]
    bounds = np.cumsum([0, *map(len, parts)])
    messages = std.Messages(b"".join(parts), bounds, **target)
    assert std.utf8_validate(messages).numpy().tolist() == [True, True, True, False, True]
    numbers, status = std.utf8_count(messages)
    assert (numbers.numpy().tolist(), status.numpy().tolist()) == ([5, 0, 2, 0, 1], [0, 0, 0, 2, 0])
    # What follows a string that is cut off belongs to another one.
    cut = std.Messages(b"".join(parts), [0, 3, 4, len(parts[0])], **target)
    assert std.utf8_count(cut)[1].numpy().tolist() == [3, 1, 0]


def test_no_texts(target):
    assert std.utf8_validate([], **target).shape == (0,)
    assert [each.shape for each in std.utf8_count([], **target)] == [(0,), (0,)]


def test_malformed_text_is_an_error_that_says_what_to_do():
    text = "Grüße".encode()
    assert message(lambda: std.utf8_count(text[:3], backend="cpu"), std.DecodeError) == (
        "argument `data` of vyre.std.utf8_count has byte 0xc3, which begins no character of UTF-8, at position 2. "
        "Fix: encode text with text.encode(), or cut the data where a character ends."
    )
    assert std.utf8_count(text[:2], backend="cpu") == 2
    assert std.utf8_count("Grü".encode(), backend="cpu") == 3
