"""Reductions and scans of segments against numpy, one segment at a time."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import vyre
from conftest import SEED
from library_models import drawn, segments_accumulated, segments_operated
from vyre import std, u32
from vyre.std._scanning.operators import NAMES, TYPES, operator_of
from vyre.std._scanning.reductions import ROW_TILE
from vyre.std._scanning.segments import segmented_scanner
from wrong_calls import wrong_calls

LENGTHS = [0, 1, 2, 255, 257, 2047, 2048, 2049, 6000]
CPU = {"backend": "cpu"}


def cut(rng, n, segments):
    """Ascending offsets of so many segments, some of them empty."""
    inner = rng.integers(0, n + 1, max(segments - 1, 0))
    return np.sort(np.concatenate([[0], inner, [n]])).astype(np.uint32)


def check(x, offsets, op, **where):
    assert np.array_equal(std.segmented_scan(x, offsets, op, **where), segments_accumulated(x, offsets, op))
    assert np.array_equal(std.segmented_reduce(x, offsets, op, **where), segments_operated(x, offsets, op))


@pytest.mark.parametrize("n", LENGTHS)
def test_segments_are_numpys_on_every_device(target, rng, n):
    for segments in (1, 5, n // 3 + 1):
        check(drawn(rng, "uint32", n), cut(rng, n, segments), "add", **target)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("op", NAMES)
def test_every_operator_on_every_type_is_numpys(rng, dtype, op):
    for n in (1, 3, 9000, ROW_TILE + 3, 3 * ROW_TILE + 1):
        for segments in (1, 3, 700):
            check(drawn(rng, dtype, n), cut(rng, n, segments), op, **CPU)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("each", [1, 2, 4, 8])
def test_the_elements_of_an_invocation_do_not_show(rng, each, dtype):
    x, offsets = drawn(rng, dtype, 70_000), cut(rng, 70_000, 60)
    got = segmented_scanner(operator_of("max", TYPES[dtype], None, ""), each)(x, offsets, **CPU)
    assert np.array_equal(got, segments_accumulated(x, offsets, "max"))


def test_a_registered_operation_keeps_its_order(rng):
    # The first of two: associative, without an identity, and the order matters.
    name = "test.first_of_two"

    @vyre.ops.op(name, inputs=[u32, u32], output=u32, laws=[vyre.ops.OpLaw.Associative])
    def first(a, _):
        return a

    x, offsets = drawn(rng, "uint32", 7000), cut(rng, 7000, 40)
    starts = np.repeat(offsets[:-1], np.diff(offsets))
    assert np.array_equal(std.segmented_scan(x, offsets, name, **CPU), x[starts])
    filled = np.diff(offsets) > 0
    got = std.segmented_reduce(x, offsets, name, **CPU)
    assert np.array_equal(got[filled], x[offsets[:-1][filled]])
    assert not got[~filled].any()


def test_elements_outside_of_the_offsets_are_segments_too(rng):
    x = drawn(rng, "uint32", 5000)
    offsets = np.array([100, 300, 4000], np.uint32)
    everything = np.array([0, 100, 300, 4000, 5000], np.uint32)
    assert np.array_equal(std.segmented_scan(x, offsets, "xor", **CPU), segments_accumulated(x, everything, "xor"))
    assert np.array_equal(std.segmented_reduce(x, offsets, "xor", **CPU), segments_operated(x, offsets, "xor"))


@seed(SEED)
@settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.lists(st.integers(0, 2**32 - 1), max_size=80), max_size=20), st.sampled_from(NAMES))
def test_drawn_segments_are_numpys(lists, op):
    x = np.array([value for values in lists for value in values], np.uint32)
    check(x, np.cumsum([0, *map(len, lists)], dtype=np.uint32), op, **CPU)


test_wrong_arguments_are_told = wrong_calls("segments", globals())
