"""Percent-encoding against urllib.parse, and decoding against a rule written one byte at a time."""

import itertools
from urllib.parse import quote

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vyre
from conftest import message
from library_models import strings_of
from vyre import std
from vyre.std import percent
from wrong_calls import wrong_calls

HEX = b"0123456789abcdefABCDEF"


def quoted(data):
    return quote(data, safe="").encode()


def read(text):
    """The bytes and the status of a text."""
    data, k = bytearray(), 0
    while k < len(text):
        if text[k] != ord("%"):
            data.append(text[k])
            k += 1
            continue
        for position in (k + 1, k + 2):
            if position == len(text) or text[position] not in HEX:
                return b"", position + 1
        data.append(int(text[k + 1 : k + 3], 16))
        k += 3
    return bytes(data), 0


def check_read(texts, **target):
    found, status = std.percent_decode(texts, **target)
    assert list(zip(found, status.tolist(), strict=True)) == [read(text) for text in texts]


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 1000, 4095, 4096, 4097, 20_000])
def test_one_text_of_any_length(target, rng, n):
    if n > 5000 and target["backend"] == "reference":
        n = 5000
    data = rng.bytes(n)
    assert std.percent_encode(data, **target) == quoted(data)
    assert std.percent_decode(quoted(data), **target) == data
    assert std.percent_encode(b"a" * n, **target) == b"a" * n
    assert std.percent_decode(b"%41" * n, **target) == b"A" * n


def test_many_texts(target, rng):
    messages = [rng.bytes(n) for n in [*range(40), 300, 0, 5000, 1, 0]]
    texts = [quoted(each) for each in messages]
    assert std.percent_encode(messages, **target) == texts
    back, status = std.percent_decode(texts, **target)
    assert back == messages
    np.testing.assert_array_equal(status, np.zeros(len(texts), np.uint32), strict=True)


def test_every_byte_alone_and_every_pair_behind_a_percent_sign():
    singles = [bytes([k]) for k in range(256)]
    assert std.percent_encode(singles, backend="cpu") == [quoted(each) for each in singles]
    pairs = [b"%" + bytes(each) for each in itertools.product(range(256), repeat=2)]
    check_read([*singles, *pairs], backend="cpu")


def test_every_short_text_of_signs_and_digits():
    check_read([bytes(each) for n in range(7) for each in itertools.product(b"%4g", repeat=n)], backend="cpu")


def test_escapes_across_the_ends_of_words_and_workgroups(target):
    parts = [b"%41", b"%4", b"%", b"%%41", b"%g1", b"%4g", b"%2525"]
    texts = [b"a" * n + each + after for each in parts for n in range(10, 18) for after in (b"", b"b" * 20)]
    texts += [b"a" * n + each + b"%42" * 10 for each in parts for n in range(4092, 4097, 3)]
    check_read(texts, **target)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.binary(max_size=60) | st.text("%%%0aFg\xff", max_size=60).map(str.encode), max_size=6))
def test_any_bytes(messages):
    assert std.percent_encode(messages, backend="cpu") == [quoted(each) for each in messages]
    check_read(messages, backend="cpu")


def test_resident_data_gives_resident_results(target):
    for data in (b"", b"a b", b"~" * 20):
        text, size = std.percent_encode(vyre.array(np.frombuffer(data, np.uint8), **target))
        assert text.backend == target["backend"]
        text = text.numpy()[: int(size.numpy()[0])]
        assert text.tobytes() == quoted(data)
        back, size, status = std.percent_decode(vyre.array(text, **target))
        assert status.numpy().tolist() == [0]
        assert back.numpy()[: int(size.numpy()[0])].tobytes() == data
    _, size, status = std.percent_decode(vyre.array(np.frombuffer(b"ab%", np.uint8), **target))
    assert (size.numpy().tolist(), status.numpy().tolist()) == ([0], [4])


def test_messages_at_any_byte_give_messages(target):
    parts = [b"a b", b"", b"100%", b"%41%", b"42"]
    messages = std.Messages(b"".join(parts), np.cumsum([0, *map(len, parts)]), **target)
    assert strings_of(std.percent_encode(messages)) == [quoted(each) for each in parts]
    back, status = std.percent_decode(messages)
    wanted = [read(each) for each in parts]
    assert (strings_of(back), status.numpy().tolist()) == ([each[0] for each in wanted], [each[1] for each in wanted])


def test_too_many_bytes_are_refused(monkeypatch):
    assert percent._MOST == 1431655764  # whose text has 2^32 - 4 bytes at most
    monkeypatch.setattr(percent, "_MOST", 10)
    assert message(lambda: std.percent_encode([b"abcdef", b"ghijk"], backend="cpu"), vyre.ArgumentError) == (
        "argument `data` of vyre.std.percent_encode must have at most 10 bytes, got 11. "
        "Fix: pass one with at most 10 bytes."
    )
    assert std.percent_encode([b"abcdef"], backend="cpu") == [b"abcdef"]


test_a_malformed_text_is_an_error_that_says_what_to_do = wrong_calls("percent", globals())
