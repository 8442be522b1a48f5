"""Search of many byte strings: every match, beside plain searches and pyahocorasick."""

import copy
import pickle
import tracemalloc

import ahocorasick
import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import vyre
from conftest import SEED, message, problem
from library_models import all_matches
from vyre import std
from vyre.errors import ArgumentError
from vyre.std import search
from vyre.std._calls import offsets as _offsets
from vyre.std._calls import text as _text
from vyre.std._calls.host import Place
from vyre.std._calls.routes import ROUTES
from vyre.std._searching import automaton as _automaton
from vyre.std._searching.filter_kernels import LANES, UNIT, filtered_matches, filtering
from wrong_calls import wrong_calls

PIECE = 512  # bytes, of short patterns


WAYS = {"filter": ("reference", "cpu", "vulkan"), "automaton": ()}


def filter_on(patch, backends):
    """Look for short patterns behind a filter on these backends alone."""
    routes = {name: route._replace(filters=name in backends) for name, route in ROUTES.items()}
    patch.setattr(search, "ROUTES", routes)


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    """Either way to search for patterns that are short enough for both."""
    filter_on(monkeypatch, WAYS[request.param])
    return request.param


def letters(rng, n, count=2):
    return rng.integers(97, 97 + count, n, dtype=np.uint8).tobytes()


# The example of Aho and Corasick's article.
def test_the_articles_example(target, way):
    found = std.find([b"he", b"she", b"his", b"hers"], b"ushers", **target)
    assert found.tolist() == [(1, 4, 1), (2, 4, 0), (2, 6, 3)]
    assert found.dtype.names == ("start", "end", "pattern")
    assert (found.count, found.overflow) == (3, False)


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 31, 32, 33, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 5])
def test_overlapping_matches_around_pieces(target, rng, n, way):
    data = letters(rng, n)
    parts = [data[-40:] or b"x", data[490:530] or b"y"]
    patterns = [b"a", b"ab", b"bab", b"aa", b"abbab", b"aa", letters(rng, 17), *parts]
    found = std.find(patterns, data, **target)
    assert found.tolist() == all_matches(patterns, data)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@seed(SEED)
@given(
    backends=st.sampled_from([*WAYS.values()]),
    patterns=st.lists(st.binary(min_size=1, max_size=6).map(lambda b: bytes(c % 3 for c in b)), max_size=8),
    data=st.binary(max_size=80).map(lambda b: bytes(c % 3 for c in b)),
    limit=st.none() | st.integers(0, 50),
)
def test_all_matches_in_order_of_small_alphabets(backends, patterns, data, limit):
    wanted = all_matches(patterns, data)
    with pytest.MonkeyPatch.context() as patch:
        filter_on(patch, backends)
        found = std.find(patterns, data, limit, backend="cpu")
    assert found.tolist() == wanted[:limit]
    assert (found.count, found.overflow) == (len(wanted), limit is not None and len(wanted) > limit)


@pytest.mark.parametrize("length", [1, 3, 4, 5, 7, 8, 20])
def test_patterns_of_one_length_at_every_place_of_a_unit(target, rng, way, length):
    data = rng.integers(0, 256, 3 * UNIT + length, dtype=np.uint8).tobytes()
    patterns = [data[k : k + length] for k in range(3 * UNIT)]
    assert std.find(patterns, data, **target).tolist() == all_matches(patterns, data)


@pytest.mark.parametrize(
    ("shortest", "looks"), [(1, (1, 0)), (3, (3, 0)), (4, (4, 0)), (6, (4, 2)), (8, (4, 4)), (9, (4, 4))]
)
def test_the_filter_looks_twice_where_patterns_are_long_enough(rng, shortest, looks):
    trie = _automaton.Trie([letters(rng, shortest, 26), letters(rng, 30, 26)])
    assert (trie.mask.bit_length() // 8, trie.second) == looks
    assert 1 <= sum(f"{each:b}".count("1") for each in trie.filter.tolist()) <= 4


def test_a_text_that_changes_between_counting_and_writing_ends_the_call(target):
    data = b"..ab" * UNIT
    trie = _automaton.Trie([b"ab"])
    place = Place(target["backend"], target.get("device"), on_host=True)
    text, changed = (_text.padded(np.frombuffer(each, np.uint8), place, "") for each in (data, bytes(len(data))))
    classes, table, chains, filter = (
        vyre.array(x, **target) for x in (trie.classes, trie.table, trie.chains, trie.filter)
    )
    looked = len(data), trie.stride, trie.mask, trie.second, 1
    begins, offsets, total = filtering(False)(text, filter, classes, table, *looked)
    assert total.numpy().tolist()[0] == UNIT
    sizes = len(data), trie.stride, 1, UNIT
    found = filtered_matches(changed, classes, table, chains, begins, offsets, *sizes)
    assert not found.numpy().any()
    assert filtered_matches(text, classes, table, chains, begins, offsets, *sizes).numpy().tolist()[:3] == [2, 4, 0]


def test_zeros_are_found_and_not_behind_the_end(target, way):
    patterns = [b"\0", b"\0\0", b"\xff\0"]
    data = b"\0" * 5 + b"\xff" + b"\0" * 3
    assert std.find(patterns, data, **target).tolist() == all_matches(patterns, data)


def test_patterns_of_all_bytes(target, rng, way):
    data = bytes(range(256)) + rng.integers(0, 256, 3000, dtype=np.uint8).tobytes()
    patterns = [bytes([k]) for k in range(256)]
    assert std.find(patterns, data, **target).tolist() == all_matches(patterns, data)


def test_many_patterns_are_those_of_pyahocorasick(rng, way):
    words = sorted({letters(rng, int(rng.integers(2, 9)), 26) for _ in range(2000)})
    text = letters(rng, 50_000, 26)
    other = ahocorasick.Automaton()
    for number, each in enumerate(words):
        other.add_word(each.decode(), (number, len(each)))
    other.make_automaton()
    wanted = sorted((end + 1 - n, end + 1, k) for end, (k, n) in other.iter(text.decode()))
    assert std.find(words, text, backend="cpu").tolist() == wanted
    assert len(wanted) > 1000


def test_a_pattern_longer_than_a_piece(target, rng):
    data = letters(rng, 5000)
    patterns = [data[100:2100], data[1500:4900], data[:1], data]
    found = std.find(patterns, data, **target)
    assert found.tolist() == all_matches(patterns, data)


def test_the_longest_pattern_that_is_taken(rng):
    data = letters(rng, 200_000, 26)
    assert std.find([data[70_000:135_536]], data, backend="cpu").tolist() == [(70_000, 135_536, 0)]
    assert problem(lambda: std.find([b"a", data[:65537]], data), ArgumentError) == (
        "element 1 of argument `patterns` of vyre.std.Patterns must have 1 to 65536 bytes, got 65537."
    )


@pytest.mark.parametrize("units", [1, 3, 8])
def test_workgroups_that_take_several_units(rng, monkeypatch, units):
    filter_on(monkeypatch, ["cpu"])
    monkeypatch.setattr(search, "_ENOUGH", 1)
    n = UNIT * LANES * units + 5000
    data = letters(rng, n, 5)
    patterns = [b"ab", b"abc", b"c" * 256, b"edcba", b"a" * 3]
    assert std.find(patterns, data, backend="cpu").tolist() == all_matches(patterns, data)


def test_patterns_as_long_as_the_filter_takes_and_longer(rng, way):
    data = letters(rng, 3000)
    for length in (255, 256, 257):
        patterns = [data[k : k + length] for k in (0, 700, 2500)]
        assert std.find(patterns, data, backend="cpu").tolist() == all_matches(patterns, data)
    same = b"a" * 1000
    found = std.find([b"a" * 256, b"a" * 100], same, backend="cpu")
    assert found.tolist() == all_matches([b"a" * 256, b"a" * 100], same)


def test_resident_data_gives_resident_matches(target, rng, way):
    data = letters(rng, 2000)
    patterns = std.Patterns([b"aba", b"bb"])
    wanted = all_matches([b"aba", b"bb"], data)
    for first in (0, 1, 16):  # a slice that begins within a vector is copied
        text = vyre.array(np.frombuffer(b"z" * first + data, np.uint8), **target)[first:]
        found = patterns.find(text)
        assert [tuple(row) for row in found.matches.numpy().tolist()] == wanted
        assert found.count.numpy().tolist() == [len(wanted)]
    few = patterns.find(text, limit=len(wanted) + 2)
    assert [tuple(row) for row in few.matches.numpy().tolist()] == [*wanted, (0, 0, 0), (0, 0, 0)]
    assert patterns.find(text, 5).matches.numpy().tolist() == [list(each) for each in wanted[:5]]


def test_with_a_limit_a_graph_records_the_search(rng, way):
    first, second = (letters(rng, 160) for _ in range(2))
    patterns = std.Patterns([b"ab"])
    text = vyre.array(np.frombuffer(first, np.uint8), backend="cpu")
    patterns.find(text, 100)  # the tables are on the device
    with vyre.graph() as graph:
        with pytest.raises(ArgumentError) as error:
            patterns.find(text)
        found = patterns.find(text, 100)
    assert str(error.value) == (
        "vyre.std.find, which reads from the device on its way, has no place in a graph. Fix: leave it out."
    )
    for data in (first, second):
        text[:] = np.frombuffer(data, np.uint8)
        graph.replay()
        assert int(found.count) == data.count(b"ab")
        assert found.matches.numpy()[: int(found.count), 0].tolist() == [s for s, _, _ in all_matches([b"ab"], data)]


@pytest.mark.parametrize("n", [0, 1, 1023, 1024, 1025, 3000])
def test_offsets_are_sums(target, rng, n):
    counts = rng.integers(0, 2**20, n, dtype=np.uint32)
    offsets, total = _offsets.offsets_of(counts, **target)
    assert offsets.tolist() == (np.cumsum(counts) - counts).tolist()
    assert total.tolist() == [counts.sum()]


def test_offsets_of_three_levels_saturate(rng):
    counts = rng.integers(0, 2**13, 1_100_000, dtype=np.uint32)
    offsets, total = _offsets.offsets_of(counts, backend="cpu")
    sums = np.cumsum(counts, dtype=np.uint64)
    assert sums[-1] > 2**32
    assert np.array_equal(offsets, np.minimum(sums - counts, 2**32 - 1))
    assert total.tolist() == [2**32 - 1]


test_wrong_calls = wrong_calls("find", globals())


def test_patterns_and_matches_are_pickled():
    patterns = std.Patterns([b"an", b"a"])
    found = patterns.find(b"banana", 3, backend="cpu")
    other = pickle.loads(pickle.dumps(found))
    assert isinstance(other, std.Matches)
    assert (other.tolist(), other.count, other.overflow) == (found.tolist(), 5, True)
    assert copy.copy(found)[1:].count == 5
    assert pickle.loads(pickle.dumps(patterns)).find(b"banana", 3, backend="cpu").tolist() == found.tolist()


def test_patterns_that_need_too_much_memory(monkeypatch):
    monkeypatch.setattr(_automaton, "_MOST_WORDS", 30)
    assert message(lambda: std.find([b"abc", b"bcd"], b"text"), ArgumentError) == (
        "the automaton of the patterns must have at most 30 words, got 56. Fix: pass one with at most 30 words."
    )


def test_a_text_whose_places_are_no_u32():
    text = np.broadcast_to(np.uint8(0), 2**32)  # which takes no memory
    assert message(lambda: _text.padded(text, Place("cpu", None, on_host=True), "vyre.std.find"), ArgumentError) == (
        "argument `data` of vyre.std.find must have at most 4294967295 bytes, got 4294967296. "
        "Fix: pass one with at most 4294967295 bytes."
    )


def test_more_matches_than_fit(monkeypatch):
    monkeypatch.setattr(search, "MOST", 4)
    assert message(lambda: std.find([b"a"], b"aaaa"), ArgumentError) == (
        "the result of vyre.std.find must have less than 4 matches, as with limit=1000, got more. "
        "Fix: pass one with less than 4 matches, as with limit=1000."
    )
    assert std.find([b"a"], b"aaaa", 1000).count == 4


def test_a_large_limit_takes_no_more_room_than_there_are_matches():
    for found in (std.find([b"a"], b"aba", limit=2**22), std.regex(b"a").find(b"aba", limit=2**22)):
        held: np.ndarray = found
        while isinstance(held.base, np.ndarray):
            held = held.base
        assert (found.start.tolist(), found.count, found.overflow) == ([0, 2], 2, False)
        assert held.nbytes <= 64


def test_too_many_patterns_are_refused_before_their_states_take_memory(rng):
    made = [rng.integers(0, 256, 10_000, np.uint8).tobytes() for _ in range(200)]
    tracemalloc.start()
    try:
        with pytest.raises(ArgumentError) as error:
            std.Patterns(made)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    states = 1 + sum(len({each[-k:] for each in made}) for k in range(1, 4)) + 200 * (10_000 - 3)
    assert str(error.value) == (
        f"the automaton of the patterns must have at most 268435456 words, got {states * 259}. "
        "Fix: pass one with at most 268435456 words."
    )
    assert peak < 5 * sum(map(len, made))


def chain_of(patterns, data, start):
    """The matches at one place, in order."""
    return sorted((start, start + len(each), k) for k, each in enumerate(patterns) if data.startswith(each, start))


SAME = [b"ab"] * 3000 + [b"abc", b"b"] + [b"ab"] * 2000
NESTED = [b"a" * k for k in range(1, 1500)]


@pytest.mark.parametrize("patterns", [SAME, NESTED], ids=["equal", "nested"])
@pytest.mark.parametrize("limit", [None, 0, 1, 4999, 5000, 7001])
def test_many_patterns_at_one_place(rng, way, patterns, limit):
    data = b"zab" + b"a" * 40 + b"abczzz" + b"a" * 700 + b"b"
    wanted = all_matches(patterns, data)
    assert len(wanted) > 15_000
    found = std.find(patterns, data, limit, backend="cpu")
    assert found.tolist() == wanted[:limit]
    assert (found.count, found.overflow) == (len(wanted), limit is not None)


def test_resident_matches_of_many_patterns_at_one_place(target):
    patterns = std.Patterns([b"xy"] * 5000)
    data = b"xy" if target["backend"] == "reference" else b"xyzxy"
    wanted = [[s, s + 2, k] for s in (0, 3)[: data.count(b"xy")] for k in range(5000)]
    found = patterns.find(vyre.array(np.frombuffer(data, np.uint8), **target), len(wanted) + 1)
    assert found.matches.numpy().tolist() == [*wanted, [0, 0, 0]]
    assert found.count.numpy().tolist() == [len(wanted)]


def test_no_invocation_makes_more_turns_than_drivers_allow(monkeypatch):
    """The chains that kernels follow one after another are short, or there are others for them."""
    called = []
    for name in ("written", "spread", "filtered_matches"):
        kernel = getattr(search, name)
        monkeypatch.setattr(search, name, lambda *a, k=kernel, name=name: called.append((name, a)) or k(*a))
    for backends in WAYS.values():
        filter_on(monkeypatch, backends)
        for equal in (1, 117, 118, 1400, 1900, 20_000):
            for longest in (2, 256, 257, 1000):
                called.clear()
                patterns = [b"ab"] * (equal - 1) + [b"ab" + b"c" * (longest - 2)]
                std.find(patterns, b"ab", 3, backend="cpu")
                ((name, a),) = called
                lead = -(-(longest - 1) // 16)
                if name == "written":
                    piece, kept = a[7], a[8]
                    assert kept == lead
                    assert piece + lead + 16 * piece * equal <= 60_000
                elif name == "filtered_matches":
                    assert 32 * a[8] * (2 * longest + equal) <= 60_000
                else:
                    assert equal > 1
                    assert a[8] + lead <= 60_000


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 100, 65_536])
def test_any_pattern_of_a_chain_is_few_steps_away(n):
    """What the kernel does to find it, step by step."""
    links = _automaton.Automaton([b"a"] * n).links.reshape(-1, 4)
    assert links[:, 2].tolist() == list(range(1, n + 1))
    for wanted in {1, 2, 3, n // 3, n // 2, n - 1, n} - {0}:
        if wanted > n:
            continue
        at, steps = n - 1, 0
        while links[at, 2] > wanted:
            skip = links[at, 3]
            at = skip if skip < n and links[skip, 2] >= wanted else links[at, 0]
            steps += 1
        assert links[at, 2] == wanted
        assert steps <= 3 * n.bit_length()


@pytest.mark.slow
def test_a_piece_with_more_than_2_to_the_32_matches_is_counted_rightly():
    """A text of one letter, and patterns of 1 to 40,000 of it: 6.4e9 matches in 4 times what a pattern has."""
    most = 40_000
    patterns = std.Patterns([b"a" * k for k in range(1, most + 1)])
    found = patterns.find(b"b" + b"a" * 5 * most, 2 * most + 10_000, backend="cpu")
    assert (found.count, found.overflow) == (2**32 - 1, True)
    wanted = [(start, start + k, k - 1) for start in (1, 2, 3) for k in range(1, most + 1)]
    assert found.tolist() == wanted[: 2 * most + 10_000]


@pytest.mark.slow
def test_a_driver_that_ends_long_loops_finds_a_hundred_thousand_patterns_at_one_place():
    """llvmpipe ends every loop after 65,535 turns."""
    device = next((each for each in vyre.devices() if each.name.startswith("llvmpipe")), None)
    if device is None:
        pytest.skip("no llvmpipe here")
    patterns = std.Patterns([b"ab"] * 100_000)
    found = patterns.find(b"zzab", backend=device.backend, device=device.index)
    assert found.tolist() == [(2, 4, k) for k in range(100_000)]


def test_the_longest_walks_stay_within_what_drivers_allow(slow_target):
    """A piece of 1,216 vectors, in which three patterns begin at each place but the last ones."""
    if slow_target["backend"] == "reference":
        pytest.skip("the reference has no limit")
    length, n = 4864, 25_000
    found = std.find([b"a" * length] * 3, b"a" * n, **slow_target)
    starts = np.repeat(np.arange(n - length + 1), 3)
    assert np.array_equal(found.start, starts)
    assert np.array_equal(found.end, starts + length)
    assert np.array_equal(found.pattern, np.tile([0, 1, 2], n - length + 1))
