"""The structure of JSON against a scanner that goes through the text byte by byte, and against a pattern of `re`."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vyre
from library_models import structure
from vyre import std


def read(text):
    """The positions and the status of a text."""
    positions, opened, escaped = [], None, False
    for position, character in enumerate(text):
        if escaped:
            escaped = False
            if character == ord('"'):
                continue
        elif character == ord("\\"):
            escaped = True
        elif character == ord('"'):
            opened = position if opened is None else None
        if opened is None and character in b"{}[]:,":
            positions.append(position)
    return ([], opened + 1) if opened is not None else (positions, 0)


def check(texts, **target):
    found, status = std.json_structure(texts, **target)
    assert status.dtype == np.uint32
    assert all(each.dtype == np.uint32 for each in found)
    told = [(each.tolist(), wrong) for each, wrong in zip(found, status.tolist(), strict=True)]
    assert told == [read(text) for text in texts]


def document(rng, depth=0):
    kind = int(rng.integers(6 if depth < 4 else 4))
    if kind == 0:
        return int(rng.integers(-1000, 1000))
    if kind < 4:
        return "".join(rng.choice(list('ab\\"{}[]:,ü\n'), int(rng.integers(12))))
    if kind == 4:
        return [document(rng, depth + 1) for _ in range(int(rng.integers(6)))]
    return {f'k{k}"\\': document(rng, depth + 1) for k in range(int(rng.integers(6)))}


def test_documents_give_what_a_pattern_finds_outside_of_strings(target, rng):
    texts = [json.dumps([document(rng) for _ in range(n)]).encode() for n in (0, 1, 2, 5, 20, 50)]
    found, status = std.json_structure(texts, **target)
    assert not status.any()
    for text, positions in zip(texts, found, strict=True):
        assert positions.tolist() == structure(text)
        np.testing.assert_array_equal(std.json_structure(text, **target), positions, strict=True)


def test_every_short_text_of_quotes_and_backslashes():
    check([bytes(each) for n in range(8) for each in itertools.product(b'"\\,', repeat=n)], backend="cpu")


def test_every_byte(target):
    check([bytes([k]) for k in range(256)] + [b'"' + bytes([k]) + b'",' for k in range(256)], **target)


def test_runs_of_backslashes_across_chunks_and_workgroups(target):
    lengths = [0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 8190, 8191, 8192, 8193]
    texts = [b'["' + b"\\" * n + b'",",]' for n in lengths]
    texts += [b"a" * k + b'"' + b"\\" * n + b'",",' for n in lengths[:10] for k in range(29, 35)]
    if target["backend"] in ("cpu", "reference"):
        texts += [b'["' + b"\\" * n + b'",",]' for n in (20_000, 20_001)]
    check(texts, **target)


def test_one_text_of_many_workgroups(target, rng):
    n = 20_000 if target["backend"] == "reference" else 100_000
    text = rng.choice(np.frombuffer(b'{}[]:,"\\ abc\n', np.uint8), n).tobytes()
    text += b'"' if read(text)[1] else b""
    text = text if not read(text)[1] else text + b'a"'
    assert std.json_structure(text, **target).tolist() == read(text)[0]
    assert std.json_structure(b"," * n, **target).tolist() == list(range(n))
    opened = text + b', "' + b"x" * 9000
    with pytest.raises(std.DecodeError) as caught:
        std.json_structure(opened, **target)
    assert caught.value.position == len(text) + 2


@settings(max_examples=80, deadline=None)
@given(st.lists(st.binary(max_size=60) | st.text('"\\{,a', max_size=150).map(str.encode), max_size=6))
def test_any_bytes(texts):
    check(texts, backend="cpu")


def test_resident_data_gives_resident_results(target):
    for text in (b"", b'{"a": [1]}', b'{"a'):
        positions, count, status = std.json_structure(vyre.array(np.frombuffer(text, np.uint8), **target))
        wanted, wrong = read(text)
        assert (count.numpy().tolist(), status.numpy().tolist()) == ([len(wanted)], [wrong])
        assert positions.numpy()[: len(wanted)].tolist() == wanted
        if not wrong:
            assert not positions.numpy()[len(wanted) :].any()


def test_messages_at_any_byte(target):
    parts = [b'{"a": 1}', b"", b'"[', b"[1,2]", b'",",:']
    messages = std.Messages(b"".join(parts), np.cumsum([0, *map(len, parts)]), **target)
    positions, starts, counts, status = (each.numpy().tolist() for each in std.json_structure(messages))
    found = [positions[a : a + n] for a, n in zip(starts, counts, strict=True)]
    assert list(zip(found, status, strict=True)) == [read(each) for each in parts]


def test_no_texts(target):
    found, status = std.json_structure([], **target)
    assert (found, status.shape) == ([], (0,))


def test_a_string_that_does_not_end_is_an_error_that_says_what_to_do():
    with pytest.raises(std.DecodeError) as caught:
        std.json_structure(b'{"a": "b}', backend="cpu")
    assert str(caught.value) == (
        "argument `data` of vyre.std.json_structure has a string that does not end and begins at position 6. "
        'Fix: write `"` where it ends.'
    )
    with pytest.raises(json.JSONDecodeError) as peer:
        json.loads('{"a": "b}')
    assert caught.value.position == peer.value.pos
    assert std.json_structure(b'{"a": "b"}', backend="cpu").tolist() == [0, 4, 9]
