"""Edit distances and local alignments by vyre.std beside dynamic programming in Python."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import vyre
from conftest import SEED
from library_models import edit_distance, score
from vyre import std
from vyre.std._searching.edit_distance import edit_distances, edit_tiles
from vyre.std._searching.smith_waterman import align_tiles, best_alignments, best_of_short
from wrong_calls import wrong_calls


def drawn(rng, n, letters=4):
    return rng.integers(0, letters, n, dtype=np.uint8)


# Around a word and a tile's invocation, and one of the sides empty.
LENGTHS = [(0, 0), (0, 7), (1, 1), (8, 9), (31, 33), (32, 32), (33, 20), (65, 64), (127, 130), (150, 40)]


def test_known_distances_and_scores(target):
    pairs = [(b"kitten", b"sitting"), (b"Saturday", b"Sunday"), (b"GAMBOL", b"GUMBO"), (b"", b"abc"), (b"x", b"x")]
    found = std.edit_distance(*map(list, zip(*pairs, strict=True)), **target)
    assert found.dtype == np.uint32
    assert found.tolist() == [3, 3, 2, 3, 0]
    # The example of the article on the algorithm in Wikipedia: substitution +3 or -3, linear gaps of 2.
    assert std.smith_waterman(b"TGTTACGG", b"GGTTGACTA", 3, -3, -2, **target) == 13


@pytest.mark.parametrize("few", [True, False])
def test_pairs_of_every_length_are_those_of_the_table(target, rng, few):
    lengths = LENGTHS if few else LENGTHS[1:5] * 20
    a, b = [drawn(rng, m) for m, _ in lengths], [drawn(rng, n) for _, n in lengths]
    assert std.edit_distance(a, b, **target).tolist() == [edit_distance(x, y) for x, y in zip(a, b, strict=True)]
    found = std.smith_waterman(a, b, 3, -2, -4, **target)
    assert found.dtype == np.uint32
    assert found.tolist() == [score(x, y, 3, -2, -4) for x, y in zip(a, b, strict=True)]


@pytest.mark.parametrize(("m", "n"), [(1100, 1200), (300, 17_000), (9000, 200)])
def test_long_strings_are_divided_into_tiles(rng, m, n):
    a, b = drawn(rng, m), drawn(rng, n)
    assert std.edit_distance(a, b, backend="cpu") == edit_distance(a, b)
    assert std.smith_waterman(a, b, backend="cpu") == score(a, b)


@pytest.mark.slow
def test_longer_strings_take_several_tiles_down_and_across(rng):
    a, b = drawn(rng, 9000), drawn(rng, 17_000)
    assert std.edit_distance(a, b, backend="cpu") == edit_distance(a, b)
    assert std.smith_waterman(a, b, backend="cpu") == score(a, b)


def packed(strings):
    return np.concatenate(strings), np.concatenate([[0], np.cumsum([len(each) for each in strings])]).astype(np.uint32)


@pytest.mark.parametrize(("size", "columns"), [(32, 16384), (2, 32), (1, 16)])
def test_the_size_of_a_tile_does_not_show(target, rng, size, columns):
    a, b = [drawn(rng, m) for m in (1, 33, 64, 100)], [drawn(rng, n) for n in (5, 40, 64, 90)]
    given = *packed(a), *packed(b)
    counts = -(-100 // (32 * size)), -(-90 // columns)
    found = edit_distances(size, columns)(*given, *counts, **target)
    assert found.tolist() == [edit_distance(x, y) for x, y in zip(a, b, strict=True)]
    counts = -(-100 // (8 * size)), -(-90 // columns)
    wanted = [score(x, y) for x, y in zip(a, b, strict=True)]
    costs = 2, -1, -1
    assert best_alignments(size, columns)(*given, *costs, *counts, **target).tolist() == wanted
    assert best_of_short(size)(*given, *costs, 90, backend="cpu").tolist() == wanted


def test_no_two_invocations_race(rng):
    """The tiles of each anti-diagonal, on the state that the ones before have left."""
    a, b = drawn(rng, 100), drawn(rng, 90)
    rows, row_offsets, columns, column_offsets = *packed([a]), *packed([b])
    given = {"rows": rows, "row_offsets": row_offsets, "columns": columns, "column_offsets": column_offsets}
    edits = {"state": np.zeros(8, np.uint32), "edges": np.zeros(6, np.uint32), "distances": np.zeros(1, np.uint32)}
    scores = {
        "state": np.zeros(128 + 4, np.int32),
        "edges": np.zeros(96, np.int32),
        "scores": np.zeros(1, np.uint32),
    }
    costs = [2, 2**32 - 1, 2**32 - 1]
    for kernel, kept, numbers, bands in ((edit_tiles(2, 32), edits, [], 2), (align_tiles(4, 32), scores, costs, 4)):
        for diagonal in range(bands + 3 - 1):
            params = np.array([*numbers, bands, 3, diagonal], np.uint32)
            arrays = {**given, **kept, "__params": params}
            result = vyre.check(kernel.program, arrays, workgroups=bands, checks=["race"])
            assert result.ok, str(result)
            kept.update(vyre.run(kernel.program, arrays, bands, backend="reference"))
    assert edits["distances"].tolist() == [edit_distance(a, b)]
    assert scores["scores"].tolist() == [score(a, b)]


def test_resident_strings_give_a_resident_result(target, rng):
    a, b = drawn(rng, 50), drawn(rng, 300)
    resident = vyre.array(a, **target), vyre.array(b, **target)
    for call, wanted in ((std.edit_distance, edit_distance(a, b)), (std.smith_waterman, score(a, b))):
        found = call(*resident)
        assert isinstance(found, vyre.Array)
        assert found.dtype == np.uint32
        assert found.numpy().tolist() == [wanted]
    assert std.edit_distance(resident[0][:0], resident[1]).numpy().tolist() == [300]
    assert std.smith_waterman(resident[0][:0], resident[1]).numpy().tolist() == [0]


def test_lists_may_be_empty():
    assert std.edit_distance([], []).tolist() == []
    assert std.smith_waterman([], []).tolist() == []


def test_batches_are_as_large_as_the_memory_allows(rng, monkeypatch):
    monkeypatch.setattr("vyre.std.alignment._MOST_WORDS", 100)
    a, b = [drawn(rng, n) for n in range(30)], [drawn(rng, 60 - n) for n in range(30)]
    assert std.edit_distance(a, b, backend="cpu").tolist() == [edit_distance(x, y) for x, y in zip(a, b, strict=True)]
    assert std.smith_waterman(a, b, backend="cpu").tolist() == [score(x, y) for x, y in zip(a, b, strict=True)]


@seed(SEED)
@settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.binary(max_size=70), st.binary(max_size=70)), max_size=4), *[st.integers(0, 9)] * 3)
def test_any_strings_are_compared_as_by_the_table(pairs, match, mismatch, gap):
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    assert std.edit_distance(a, b, backend="cpu").tolist() == [edit_distance(x, y) for x, y in pairs]
    found = std.smith_waterman(a, b, match, -mismatch, -gap, backend="cpu")
    assert found.tolist() == [score(x, y, match, -mismatch, -gap) for x, y in pairs]


test_wrong_arguments_are_told = wrong_calls("alignment", globals())


def test_the_largest_score_that_is_allowed_is_right():
    assert std.smith_waterman(b"abc", b"abcd", 715827882, -(2**31), -(2**31), backend="cpu") == 3 * 715827882
