"""Messages: many byte strings in one buffer, how they are packed, and the form of results."""

import subprocess
import sys

import numpy as np
import pytest

import vyre
from conftest import message
from library_models import strings_of
from vyre.std._calls.declared import at_of
from vyre.std._calls.messages import _FEW, Messages, taken
from wrong_calls import wrong_calls

STRINGS = [b"hello", b"", b"\0\0\0\0", b"abc", b"", bytes(range(256)), b"z"]


def test_packed_strings_come_back_and_begin_at_multiples_of_16(target):
    messages = Messages.pack(STRINGS, **target)
    assert strings_of(messages) == STRINGS
    assert len(messages) == 7
    assert messages.aligned
    assert (messages.shortest, messages.longest, messages.backend) == (0, 256, target["backend"])
    assert messages.alignment == 16
    assert not (messages.starts.numpy() % 16).any()


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda x: np.frombuffer(x, np.uint8)])
def test_every_kind_of_bytes_is_packed_alike(kind):
    messages = Messages.pack([kind(each) for each in STRINGS], backend="reference")
    assert strings_of(messages) == STRINGS
    joined = Messages(kind(b"".join(STRINGS)), np.cumsum([0, *map(len, STRINGS)]), backend="reference")
    assert strings_of(joined) == STRINGS
    assert not joined.aligned


def test_strings_with_steps_and_rows_of_an_array_are_packed():
    rows = np.arange(24, dtype=np.uint8).reshape(3, 8)
    assert strings_of(Messages.pack(list(rows[:, ::3]), backend="reference")) == [bytes(row[::3]) for row in rows]
    assert strings_of(Messages.pack([memoryview(b"abcdef")[::2]], backend="reference")) == [b"ace"]
    assert strings_of(Messages.pack([rows.astype(">u2").data], backend="reference")) == [rows.astype(">u2").tobytes()]


def slots_of(strings):
    """What Messages.pack makes of strings: zeros follow each to the next multiple of 16 bytes."""
    return b"".join(each + bytes(-len(each) % 16) for each in strings)


def test_zeros_follow_each_packed_string(target):
    Messages.pack([b"\xff" * 160] * 50, **target)  # memory that comes back is not zero
    strings = [b"\xaa" * size for size in range(100)]
    assert Messages.pack(strings, **target).words.tobytes() == slots_of(strings)


@pytest.mark.parametrize("longest", [40, 3000])
def test_many_strings_are_packed_alike_by_all_threads(rng, longest):
    data = rng.integers(1, 256, 20000 + longest, np.uint8)
    places = zip(range(20000), rng.integers(0, longest, 20000).tolist(), strict=True)
    strings = [data[k : k + n].tobytes() if k % 3 else data[k : k + n] for k, n in places]
    messages = Messages.pack(strings, backend="cpu")
    lengths = np.array(list(map(len, strings)))
    assert messages.words.tobytes() == slots_of([bytes(each) for each in strings])
    assert np.array_equal(messages.lengths.numpy(), lengths)
    assert np.array_equal(messages.starts.numpy(), np.cumsum([0, *(lengths + 15) // 16 * 16])[:-1])
    assert (messages.shortest, messages.longest) == (lengths.min(), lengths.max())


def test_long_strings_are_packed_among_short_ones(rng):
    strings = [rng.bytes(5), rng.bytes((5 << 20) + 3), b"", rng.bytes(3 << 20), rng.bytes(1)]
    assert Messages.pack(strings, backend="cpu").words.tobytes() == slots_of(strings)


def test_a_list_that_changes_while_it_is_packed_is_packed_as_it_was():
    class Odd(np.ndarray):
        """Empties the list when its dtype is asked for."""

        @property
        def dtype(self):
            strings.clear()
            return super().dtype

    odd = np.frombuffer(b"odd", np.uint8).view(Odd)
    strings = [b"first", odd, b"last"]
    assert strings_of(Messages.pack(strings, backend="cpu")) == [b"first", b"odd", b"last"]
    assert strings == []


@pytest.mark.parametrize(
    "change",
    [
        lambda a: setattr(a, "dtype", np.uint64),
        lambda a: setattr(a, "strides", (0,)),
        lambda a: a.resize(50_000_000, refcheck=False),
        lambda a: a.resize(1, refcheck=False),
    ],
    ids=["dtype", "strides", "larger", "smaller"],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_array_that_changes_while_later_elements_are_read_is_refused(change):
    class Changing:
        def __dlpack__(self, **_):
            change(array)
            return np.zeros(5, np.uint8).__dlpack__()

        def __dlpack_device__(self):
            return (1, 0)

    array = np.full(4096, 255, np.uint8)
    assert message(lambda: Messages.pack([b"a", array, Changing(), b"x"], backend="cpu"), vyre.BindingError) == (
        "element 1 of argument `messages` of vyre.std.Messages.pack changed its size or dtype while the call read the "
        "others. Fix: pass a copy of it."
    )


def test_an_array_whose_memory_moves_while_later_elements_are_read_is_read_where_it_lies():
    class Moving:
        def __dlpack__(self, **_):
            array.resize(50_000_000, refcheck=False)
            array[:] = 7
            array.resize(40, refcheck=False)
            return np.zeros(5, np.uint8).__dlpack__()

        def __dlpack_device__(self):
            return (1, 0)

    array = np.full(40, 255, np.uint8)
    assert strings_of(Messages.pack([array, Moving()], backend="cpu")) == [b"\7" * 40, bytes(5)]


def test_a_list_is_packed_as_it_iterates_whatever_its_length_says():
    class Odd(list):
        def __len__(self):
            return 1

    assert strings_of(Messages.pack(Odd(), backend="cpu")) == []
    assert strings_of(Messages.pack(Odd([b"a", b"bc"]), backend="cpu")) == [b"a", b"bc"]


def released():
    view = memoryview(b"abc")
    view.release()
    return view


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on memory is set by what /proc says is used")
@pytest.mark.parametrize(
    ("make", "call"),
    [
        ("[b'a'] * 3_000_000", "vyre.std.Messages.pack(given, backend='cpu')"),
        ("[bytearray(b'a')] * 50_000", "vyre.std.Messages.pack(given, backend='cpu')"),
        ("[bytes(40_000_000), b'a']", "vyre.std.hex_encode(given, backend='cpu')"),
    ],
)
def test_strings_that_the_host_has_no_memory_for_are_a_typed_error(make, call):
    script = f"""
import resource
import vyre, vyre.std
vyre.std.hex_encode([b"ab", b"a"], backend="cpu")
given = {make}
hard = resource.getrlimit(resource.RLIMIT_AS)[1]
used = int(open("/proc/self/statm").read().split()[0]) * 4096
wrong, refused = [], 0
for room in range(4, 400, 16):
    resource.setrlimit(resource.RLIMIT_AS, (used + (room << 20), hard))
    try:
        made = {call}
    except MemoryError as error:
        refused += 1
        if not isinstance(error, vyre.DeviceMemoryError):
            wrong.append((room, repr(error)))
    else:
        break
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
print(refused > 0, wrong)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stdout) == (0, "True []\n"), done.stderr


@pytest.mark.parametrize("count", [5000, _FEW, _FEW + 1])
def test_offsets_of_many_strings_give_their_lengths(target, rng, count):
    lengths = 4 * rng.integers(1, 9, count)
    offsets = np.cumsum([8, *lengths])
    messages = Messages(bytes(int(offsets[-1])), offsets, **target)
    assert np.array_equal(messages.lengths.numpy(), lengths)
    assert np.array_equal(messages.starts.numpy(), offsets[:-1])
    assert (messages.shortest, messages.longest, messages.alignment) == (lengths.min(), lengths.max(), 4)


def test_messages_that_are_made_while_a_graph_is_recorded_have_their_lengths_at_once():
    offsets = np.arange(_FEW + 2, dtype=np.uint32)
    with vyre.graph():
        messages = Messages(bytes(_FEW + 16), offsets, backend="cpu")
    assert np.array_equal(messages.lengths.numpy(), np.ones(_FEW + 1, np.uint32))


def test_offsets_with_steps_are_read(target):
    offsets = np.array([0, 9, 3, 9, 7], np.uint32)[::2]
    assert strings_of(Messages(b"abcdefg", offsets, **target)) == [b"abc", b"defg"]


def test_no_messages_and_no_bytes(target):
    for messages in (Messages.pack([], **target), Messages(b"", [0], **target)):
        assert strings_of(messages) == []
        assert (len(messages), messages.shortest, messages.longest, messages.aligned) == (0, 0, 0, True)
    assert strings_of(Messages(b"", [0, 0, 0], **target)) == [b"", b""]
    assert strings_of(Messages(b"abcd", [4, 4], **target)) == [b""]


@pytest.mark.parametrize("size", [0, 1, 4, 7, 8])
def test_resident_bytes_stay_where_they_are(target, size):
    data = np.arange(1, size + 1, dtype=np.uint8)
    offsets = vyre.array(np.array([0, size // 2, size], np.uint32), **target)
    messages = Messages(vyre.array(data, **target), offsets)
    assert strings_of(messages) == [data[: size // 2].tobytes(), data[size // 2 :].tobytes()]
    assert messages.words.backend == target["backend"]


@pytest.mark.parametrize("begin", [0, 1, 2, 3, 4, 5, 8, 16])
def test_a_slice_of_resident_bytes_may_begin_and_end_anywhere(target, begin):
    host = np.arange(90, dtype=np.uint8)
    resident = vyre.array(host, **target)
    for size in (0, 1, 3, 4, 7, 8, 64, 65):
        part = resident[begin : begin + size]
        wanted = host[begin : begin + size].tobytes()
        assert strings_of(taken(part, at_of("vyre.std.f")).messages) == [wanted]
        assert strings_of(Messages(part, [0, size // 3, size])) == [wanted[: size // 3], wanted[size // 3 :]]


def test_resident_bytes_are_not_copied():
    data = vyre.array(np.zeros(8, np.uint8), backend="cpu")
    messages = Messages(data, [0, 8])
    data[0] = 7
    assert strings_of(messages) == [b"\7" + bytes(7)]


def test_aligned_tells_of_starts_and_not_of_ends():
    assert Messages(b"abcdefg", [0, 4, 7], backend="reference").aligned
    assert not Messages(b"abcdefg", [0, 3, 7], backend="reference").aligned
    assert not Messages(b"abcdefg", [1, 4], backend="reference").aligned


@pytest.mark.parametrize(
    ("offsets", "alignment"),
    [([0], 16), ([16, 40], 16), ([0, 16, 40, 48], 8), ([4, 8, 9], 4), ([2, 9], 2), ([0, 1, 9], 1)],
)
def test_alignment_is_that_of_all_starts(offsets, alignment):
    assert Messages(bytes(48), offsets, backend="reference").alignment == alignment


def test_words_of_a_resident_array_may_end_within_16_bytes():
    assert Messages(vyre.array(bytes(48), backend="cpu"), [0, 5]).alignment == 16
    assert Messages(vyre.array(bytes(44), backend="cpu"), [0, 5]).alignment == 4


def test_results_have_the_form_of_the_data():
    words = np.arange(4, dtype=np.uint32)
    rows = words.astype("<u4").view(np.uint8).reshape(2, 8)
    many, one = vyre.array(words, backend="cpu"), vyre.array(words[:2], backend="cpu")
    listed = taken([b"a", b"b"], at_of("vyre.std.f", "cpu"))
    np.testing.assert_array_equal(listed.rows(many, 8), rows, strict=True)
    np.testing.assert_array_equal(listed.numbers(one), words[:2], strict=True)
    held = taken(Messages.pack([b"a", b"b"], backend="cpu"), at_of("vyre.std.f"))
    np.testing.assert_array_equal(held.rows(many, 8).numpy(), rows, strict=True)
    assert isinstance(held.rows(many, 8), vyre.Array)
    assert held.numbers(one) is one
    for single in (b"ab", bytearray(b"ab"), np.frombuffer(b"ab", np.uint8)):
        alone = taken(single, at_of("vyre.std.f", "cpu"))
        assert strings_of(alone.messages) == [b"ab"]
        assert alone.rows(one, 8) == rows[0].tobytes()
        assert alone.numbers(one[:1]) == 0
    lying = taken(vyre.array(b"ab", backend="cpu"), at_of("vyre.std.f"))
    assert strings_of(lying.messages) == [b"ab"]
    assert lying.rows(one, 8).shape == (8,)
    assert lying.numbers(one[:1]).shape == (1,)
    assert taken([], at_of("vyre.std.f", "cpu")).rows(many[:0], 8).shape == (0, 8)


test_what_cannot_be_packed_is_refused = wrong_calls("messages", globals())
