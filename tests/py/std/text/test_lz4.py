"""LZ4 blocks against the reference library, and against a decoder that goes byte by byte."""

import lz4.block
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import vyre
from vyre import std
from vyre.std import lz4 as ours
from wrong_calls import wrong_calls


def packed(data, **options):
    return lz4.block.compress(data, store_size=False, **options)


def read(block, size):
    """The bytes and the status of a block, by the description of the format and the positions of the docstring."""
    out, at = bytearray(), 0

    class Wrong(Exception):
        pass

    def byte():
        nonlocal at
        if at == len(block):
            raise Wrong(len(block))
        at += 1
        return block[at - 1]

    def length(nibble):
        count = nibble
        while nibble == 15:
            more = byte()
            count += more
            if more != 255:
                break
        return count

    try:
        while True:
            token_at = at
            token = byte()
            count = length(token >> 4)
            if count > len(block) - at:
                raise Wrong(len(block))
            if count > size - len(out):
                raise Wrong(token_at)
            out += block[at : at + count]
            at += count
            if at == len(block):
                return bytes(out), 0
            if len(block) - at < 2:
                raise Wrong(len(block))
            offset = block[at] | block[at + 1] << 8
            if not 0 < offset <= len(out):
                raise Wrong(at)
            at += 2
            count = length(token & 15) + 4
            if count > size - len(out):
                raise Wrong(token_at)
            for _ in range(count):
                out.append(out[-offset])
    except Wrong as wrong:
        return b"", wrong.args[0] + 1


def check(blocks, sizes, **target):
    found, status = std.lz4_decompress(blocks, sizes, **target)
    assert status.dtype == np.uint32
    each = [sizes] * len(blocks) if isinstance(sizes, int) else sizes
    wanted = [read(block, size) for block, size in zip(blocks, each, strict=True)]
    assert list(zip(found, status.tolist(), strict=True)) == wanted
    return wanted


def samples(rng, n):
    """Bytes of a length that compress in several ways."""
    text = b"the quick brown fox jumps over the lazy dog, "
    return [
        rng.bytes(n),
        bytes(n),
        rng.choice(np.frombuffer(b"abc", np.uint8), n).tobytes(),
        (text * (n // len(text) + 1))[:n],
        b"".join(bytes([k % 7]) * (k % 300) for k in range(n // 50 + 1))[:n],
    ]


def test_what_the_reference_library_compresses(target, rng):
    most = 3000 if target["backend"] == "reference" else 70_000
    lengths = [0, 1, 2, 3, 4, 5, 11, 12, 13, 14, 15, 16, 17, 31, 255, 256, 270, 271, 525, 1000, most]
    data = [each for n in lengths for each in samples(rng, n)]
    blocks = [packed(each) for each in data]
    blocks += [packed(each, mode="high_compression", compression=9) for each in data]
    found, status = std.lz4_decompress(blocks, [len(each) for each in data + data], **target)
    assert found == data + data
    np.testing.assert_array_equal(status, np.zeros(len(blocks), np.uint32), strict=True)
    assert std.lz4_decompress(blocks[7], len(data[7]), **target) == data[7]


def test_matches_of_every_offset_and_length(target):
    blocks = []
    for offset in range(1, 12):
        for count in (4, 5, 6, 7, 8, 18, 19, 20, 33, 34, 35, 273, 274, 275, 530):
            literals = bytes(range(65, 65 + offset))
            more = [] if count < 19 else [255] * ((count - 19) // 255) + [(count - 19) % 255]
            block = [offset << 4 | min(count - 4, 15), *literals, offset, 0, *more, 0x10, 33]
            blocks.append(bytes(block))
    wanted = check(blocks, 1000, **target)
    assert not any(status for _, status in wanted)


def mutated(rng, block):
    changed = bytearray(block)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(changed) + 1))
        kind = rng.integers(4)
        if kind < 2 and at < len(changed):
            changed[at] = [0, 1, 15, 240, 255, int(rng.integers(256))][int(rng.integers(6))]
        elif kind == 2:
            del changed[at:]
        else:
            changed[at:at] = b"\xff" * int(rng.integers(5))
    return bytes(changed)


def test_malformed_blocks_have_a_status_and_no_bytes(target, rng):
    count = 40 if target["backend"] == "reference" else 400
    data = [each for _ in range(count // 5) for each in samples(rng, int(rng.integers(200)))]
    blocks = [mutated(rng, packed(each)) for each in data]
    sizes = [max(len(each) + int(rng.integers(-3, 20)), 0) for each in data]
    wanted = check(blocks, sizes, **target)
    assert 10 < sum(status > 0 for _, status in wanted)
    # Where the reference library takes a block, so do we, and it gives the same bytes. It lets offsets of 0 pass, which
    # the format's description calls invalid.
    for block, size, (data, status) in zip(blocks, sizes, wanted, strict=True):
        if status and block[status - 1 : status + 1] == b"\0\0":
            continue
        try:
            peer = lz4.block.decompress(block, uncompressed_size=size)
        except lz4.block.LZ4BlockError:
            continue
        assert data == peer


def test_every_block_of_one_and_two_bytes_and_every_end_of_a_block(rng):
    check([b"", *(bytes([k]) for k in range(256))], 300, backend="cpu")
    check([bytes([k, n]) for k in range(256) for n in range(256)], 300, backend="cpu")
    block = packed(samples(rng, 700)[4])
    check([block[:n] for n in range(len(block) + 1)], 700, backend="cpu")
    check([block] * 702, list(range(702)), backend="cpu")
    check([b"\x40abcd"[:1] + b"abcd" + bytes([k, n]) + b"\x10x" for k in range(8) for n in (0, 1)], 100, backend="cpu")


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.binary(max_size=60), st.integers(0, 300)), max_size=6))
def test_any_bytes(pairs):
    check([block for block, _ in pairs], [size for _, size in pairs], backend="cpu")


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=30).map(lambda x: x * 20), st.integers(0, 255), st.data())
def test_any_mutated_block(data, byte, more):
    block = bytearray(packed(data))
    block[more.draw(st.integers(0, len(block) - 1))] = byte
    check([bytes(block)], len(data), backend="cpu")


def test_lengths_that_would_wrap_around_are_malformed():
    long = b"\xf0" + b"\xff" * 40_000
    check([long, long + b"\0", b"\x1fa\1\0" + b"\xff" * 40_000 + b"\0"], 1000, backend="cpu")


def test_a_block_may_take_more_turns_than_a_dispatch_has(target, rng, monkeypatch):
    monkeypatch.setattr(ours, "_TURNS", 7)
    data = samples(rng, 1500)
    found, status = std.lz4_decompress([packed(each) for each in data], 1500, **target)
    assert (found, status.tolist()) == (data, [0] * 5)


def test_resident_data_gives_resident_results(target):
    for data in (b"", b"abcabcabcabcabcabcabcabc!!!!!", b"x"):
        block = vyre.array(np.frombuffer(packed(data), np.uint8), **target)
        found, count, status = std.lz4_decompress(block, 100)
        assert (count.numpy().tolist(), status.numpy().tolist()) == ([len(data)], [0])
        assert found.numpy()[: len(data)].tobytes() == data
    count, status = std.lz4_decompress(vyre.array(np.array([0x20, 1], np.uint8), **target), 9)[1:]
    assert (count.numpy().tolist(), status.numpy().tolist()) == ([0], [3])


def test_messages_at_any_byte_give_messages(target, rng):
    data = [*samples(rng, 99), b""]
    blocks = [packed(each) for each in data]
    blocks[2] = b"\x10"
    messages = std.Messages(b"".join(blocks), np.cumsum([0, *map(len, blocks)]), **target)
    found, status = std.lz4_decompress(messages, 99)
    words = found.words.numpy().astype("<u4").tobytes()
    places = zip(found.starts.numpy().tolist(), found.lengths.numpy().tolist(), strict=True)
    assert [words[start : start + length] for start, length in places] == [*data[:2], b"", *data[3:]]
    assert status.numpy().tolist() == [0, 0, 2, 0, 0, 0]


def test_no_blocks(target):
    found, status = std.lz4_decompress([], 100, **target)
    assert (found, status.shape) == ([], (0,))
    assert std.lz4_decompress([], [], **target)[0] == []


def test_room_is_bounded_by_the_block():
    assert std.lz4_decompress([b"\x10c"] * 3, 2**32 - 1, backend="cpu")[0] == [b"c"] * 3
    most = b"\x1fa\1\0" + b"\xff" * 50 + b"\xfe\x10b"
    assert check([most], 2**32 - 1, backend="cpu")[0][1] == 0


test_wrong_arguments_are_refused = wrong_calls("lz4", globals())
