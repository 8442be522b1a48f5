"""Hexadecimal, base32 and base64 against RFC 4648, Python's own codecs, and rules written one byte at a time."""

import base64
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vyre
from conftest import message
from library_models import strings_of
from vyre import std
from vyre.std._calls import batches as _batches
from wrong_calls import wrong_calls

LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIGITS = {
    "hex": b"0123456789abcdef",
    "base32": LETTERS + b"234567",
    "base64": LETTERS + LETTERS.lower() + b"0123456789+/",
    "url": LETTERS + LETTERS.lower() + b"0123456789-_",
}
GROUP = {"hex": 2, "base32": 8, "base64": 4, "url": 4}
SIGNS = {"hex": [0], "base32": [0, 1, 3, 4, 6], "base64": [0, 1, 2], "url": [0, 1, 2]}
PEER = {
    "hex": lambda data: data.hex().encode(),
    "base32": base64.b32encode,
    "base64": base64.b64encode,
    "url": base64.urlsafe_b64encode,
}
KINDS = list(PEER)


def encode(kind, data, **target):
    if kind == "url":
        return std.base64_encode(data, url_safe=True, **target)
    return getattr(std, f"{kind}_encode")(data, **target)


def decode(kind, data, **target):
    if kind == "url":
        return std.base64_decode(data, url_safe=True, **target)
    return getattr(std, f"{kind}_decode")(data, **target)


def read(kind, text):
    """The bytes and the status of a text, by RFC 4648 and the positions that the docstrings define."""
    group, digits = GROUP[kind], DIGITS[kind]
    end = len(text)
    if end % group == 0:
        run = end - len(text.rstrip(b"="))
        end -= max(each for each in SIGNS[kind] if each <= run)
    bits = ""
    width = len(digits).bit_length() - 1
    for position, character in enumerate(text[:end]):
        number = digits.find(character) if kind != "hex" else digits.find(bytes([character]).lower())
        if number < 0:
            return b"", position + 1
        bits += f"{number:0{width}b}"
    if len(text) % group:
        return b"", len(text) + 1
    whole = len(bits) // 8 * 8
    if "1" in bits[whole:]:
        return b"", end
    return bytes(int(bits[k : k + 8], 2) for k in range(0, whole, 8)), 0


@pytest.mark.parametrize("kind", KINDS)
def test_every_length_gives_what_python_gives(target, rng, kind):
    messages = [rng.bytes(n) for n in [*range(70), 255, 256, 257, 3000]]
    texts = [PEER[kind](each) for each in messages]
    assert encode(kind, messages, **target) == texts
    back, status = decode(kind, texts, **target)
    assert back == messages
    np.testing.assert_array_equal(status, np.zeros(len(texts), np.uint32), strict=True)
    for n in (0, 1, 31, 257, 5000 if target["backend"] == "reference" else 20_000):
        data = rng.bytes(n)
        assert encode(kind, data, **target) == PEER[kind](data)
        assert decode(kind, PEER[kind](data), **target) == data


# Bytes around the ends of the alphabets' runs.
ODD = b"=A/Zz09-_+@[`{\xc1 \n:7ag"


def mutated(rng, text):
    changed = bytearray(text)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(changed) + 1))
        if rng.integers(2) and at < len(changed):
            changed[at] = ODD[int(rng.integers(len(ODD)))]
        elif rng.integers(2):
            del changed[at : at + int(rng.integers(3))]
        else:
            changed[at:at] = b"="
    return bytes(changed)


@pytest.mark.parametrize("kind", KINDS)
def test_malformed_texts_are_told_with_the_first_malformed_byte(target, rng, kind):
    count = 60 if target["backend"] == "reference" else 400
    texts = [mutated(rng, PEER[kind](rng.bytes(int(rng.integers(60))))) for _ in range(count)]
    wanted = [read(kind, text) for text in texts]
    assert 20 < sum(status > 0 for _, status in wanted)
    found, status = decode(kind, texts, **target)
    assert list(zip(found, status.tolist(), strict=True)) == wanted
    for text, (data, wrong) in zip(texts[:25], wanted, strict=False):
        if wrong:
            with pytest.raises(std.DecodeError) as caught:
                decode(kind, text, **target)
            assert caught.value.position == wrong - 1
        else:
            assert decode(kind, text, **target) == data


@pytest.mark.parametrize("kind", KINDS)
def test_every_text_of_two_bytes_and_every_byte_at_every_place(kind):
    pairs = [bytes(each) for each in itertools.product(range(256), repeat=2)]
    whole = PEER[kind](bytes(range(1, 100)))[: 12 * GROUP[kind]]
    texts = [b"", *(bytes([k]) for k in range(256)), *pairs]
    texts += [whole[:at] + bytes([k]) + whole[at + 1 :] for k in range(256) for at in range(0, len(whole), 5)]
    ends = {"hex": [b""], "base32": [b"=====", b"======", b"===", b"=="], "base64": [b"=", b"==", b"==="]}
    texts += [b"A" * (-len(end) % GROUP[kind]) + end for end in ends.get(kind, ends["base64"])]
    texts += [bytes([65, k]) + b"==" for k in range(256)] + [bytes([65, 65, k]) + b"=" for k in range(256)]
    found, status = decode(kind, texts, backend="cpu")
    assert list(zip(found, status.tolist(), strict=True)) == [read(kind, text) for text in texts]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=200), max_size=5), st.data())
def test_any_bytes_come_back_and_no_bytes_are_a_crash(kind, messages, more):
    texts = encode(kind, messages, backend="cpu")
    assert texts == [PEER[kind](each) for each in messages]
    assert decode(kind, texts, backend="cpu")[0] == messages
    found, status = decode(kind, messages, backend="cpu")
    assert list(zip(found, status.tolist(), strict=True)) == [read(kind, each) for each in messages]
    if texts:
        text = bytearray(more.draw(st.sampled_from(texts)))
        if text:
            text[more.draw(st.integers(0, len(text) - 1))] = more.draw(st.integers(0, 255))
        assert [each[0] for each in decode(kind, [bytes(text)], backend="cpu")] == list(read(kind, bytes(text)))


@pytest.mark.parametrize("kind", KINDS)
def test_resident_data_gives_resident_results(target, kind, rng):
    for n in (0, 1, 3, 5, 30, 100):
        data = rng.bytes(n)
        text = encode(kind, vyre.array(np.frombuffer(data, np.uint8), **target))
        assert (text.dtype, text.backend) == (np.uint8, target["backend"])
        assert text.numpy().tobytes() == PEER[kind](data)
        back, count, status = decode(kind, text)
        assert (count.numpy().tolist(), status.numpy().tolist()) == ([n], [0])
        assert back.numpy()[:n].tobytes() == data
    _, count, status = decode(kind, vyre.array(np.frombuffer(b"AA\xff=", np.uint8), **target))
    assert (count.numpy().tolist(), status.numpy().tolist()) == ([0], [3])


@pytest.mark.parametrize("kind", KINDS)
def test_messages_at_any_byte_give_messages(target, kind, rng):
    lengths = [0, 1, 2, 3, 0, 17, 40, 41, 97]
    data = rng.bytes(sum(lengths))
    bounds = np.cumsum([0, *lengths])
    parts = [data[a:b] for a, b in itertools.pairwise(bounds)]
    texts = encode(kind, std.Messages(data, bounds, **target))
    assert strings_of(texts) == [PEER[kind](each) for each in parts]
    back, status = decode(kind, texts)
    assert strings_of(back) == parts
    assert status.numpy().tolist() == [0] * len(parts)
    assert (back.shortest, back.longest) == (0, 97)
    back, status = decode(kind, std.Messages(data, bounds, **target))
    wanted = [read(kind, each) for each in parts]
    assert (strings_of(back), status.numpy().tolist()) == ([each[0] for each in wanted], [each[1] for each in wanted])


def test_no_messages_give_an_empty_list(target):
    assert std.hex_encode([], **target) == []
    found, status = std.base64_decode([], **target)
    assert (found, status.shape, status.dtype) == ([], (0,), np.uint32)


def test_the_error_of_a_malformed_text_is_pickled():
    with pytest.raises(std.DecodeError) as caught:
        std.hex_decode(b"6x", backend="cpu")
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, vyre.VyreError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.position) == (str(caught.value), 1)


@pytest.mark.parametrize("kind", ["bytes", "array", "messages"])
def test_too_many_bytes_are_refused(monkeypatch, kind):
    assert _batches._MOST == 2**32 - 4
    monkeypatch.setattr(_batches, "_MOST", 8)
    made = {
        "bytes": bytes,
        "array": lambda data: vyre.array(data, backend="cpu"),
        "messages": lambda data: std.Messages(data, [0, 4, len(data)], backend="cpu"),
    }[kind]
    assert message(lambda: std.hex_decode(made(b"616161616")), vyre.ArgumentError) == (
        "argument `data` of vyre.std.hex_decode must have at most 8 bytes, got 9. Fix: pass one with at most 8 bytes."
    )
    std.hex_decode(made(b"61616161"))


# Each on a resident array whose length is no multiple of 4, with what of the results is compared.
RECORDED = {
    "hex": (std.hex_encode, lambda text: [text.numpy().tobytes()]),
    "base64": (std.base64_decode, lambda found: [each.numpy().tolist() for each in found[1:]]),
    "utf8": (std.utf8_count, lambda found: [each.numpy().tolist() for each in found]),
    "percent": (std.percent_encode, lambda found: [found[0].numpy()[: int(found[1].numpy()[0])].tobytes()]),
    "json": (std.json_structure, lambda found: [found[0].numpy()[: int(found[1].numpy()[0])].tolist()]),
    "lz4": (lambda data: std.lz4_decompress(data, 100), lambda found: [each.numpy().tolist() for each in found[1:]]),
}


@pytest.mark.parametrize("name", RECORDED)
def test_codecs_of_a_resident_array_join_a_graph(name):
    call, shown = RECORDED[name]
    texts = [b'{"a b": [ 1 ]}!', b"[,] ABCDEFGHIJK"]
    data = vyre.array(texts[0], backend="cpu")
    with vyre.graph() as recorded:
        result = call(data)
    for text in texts:
        data[:] = np.frombuffer(text, np.uint8)
        recorded.replay()
        assert shown(result) == shown(call(vyre.array(text, backend="cpu")))


test_wrong_arguments_are_refused = wrong_calls("codecs", globals())
