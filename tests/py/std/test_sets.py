"""Distinct elements, searches and sets of sorted arrays against numpy."""

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import vyre
from conftest import SEED
from library_models import drawn
from vyre import std, u32
from vyre.std._sorting.unique import ALONE, uniquer
from wrong_calls import wrong_calls

DTYPES = ["uint32", "int32", "uint64", "uint8", "int8", "uint16", "int16"]
SETS = ["intersect1d", "union1d", "setdiff1d"]
ASKED = [
    dict(zip(("return_index", "return_inverse", "return_counts"), each, strict=True))
    for each in itertools.product([False, True], repeat=3)
]
CPU = {"backend": "cpu"}


def as_tuple(result):
    return result if isinstance(result, tuple) else (result,)


def check_unique(x, asked, **where):
    got, wanted = as_tuple(std.unique(x, **asked, **where)), as_tuple(np.unique(x, **asked))
    assert got[0].dtype == x.dtype
    for ours, numpys in zip(got, wanted, strict=True):
        assert ours.shape == numpys.shape
        assert np.array_equal(ours, numpys)


def check_sets(a, b, **where):
    for name in SETS:
        assert np.array_equal(getattr(std, name)(a, b, **where), getattr(np, name)(a, b)), name
    for side in ("left", "right"):
        assert np.array_equal(std.searchsorted(a, b, side, **where), np.searchsorted(a, b, side)), side


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("shape", [(900, 3), (5000, 1), (40, 2, 2), (1, 4), (0, 3), (3, 0)])
def test_distinct_rows_are_numpys(rng, shape, asked):
    for dtype in ("uint32", "int32", "uint64", "int8", "uint16"):
        x = (drawn(rng, dtype, shape) >> np.dtype(dtype).type(5)) % np.dtype(dtype).type(3)
        x[::2] |= x.dtype.type(np.iinfo(dtype).min)  # negative ones are less
        check_unique(x, {**asked, "axis": 0}, **CPU)


@pytest.mark.parametrize("n", [0, 1, 2, 257, 2049, 5000])
def test_distinct_elements_are_numpys_on_every_device(slow_target, rng, n):
    for most in (None, 60):
        check_unique(drawn(rng, "uint32", n, most), ASKED[-1], **slow_target)


@pytest.mark.parametrize("asked", ASKED, ids=[str(k) for k in range(len(ASKED))])
def test_what_is_asked_for_is_given(rng, asked):
    check_unique(drawn(rng, "int32", 3000) % 100, asked, **CPU)


@pytest.mark.parametrize("alone", [0, 100, ALONE])
@pytest.mark.parametrize("asked", ASKED, ids=[str(k) for k in range(len(ASKED))])
def test_distinct_elements_do_not_depend_on_their_form(rng, asked, alone):
    for most in (None, 30):
        x = drawn(rng, "uint32", 300, most)
        *found, count = uniquer(u32, *asked.values(), alone)(x, 0, **CPU)
        wanted = as_tuple(np.unique(x, **asked))
        assert count[0] == len(wanted[0])
        for ours, numpys in zip(found, wanted, strict=True):
            assert np.array_equal(ours[: len(numpys)], numpys)
            assert not ours[len(numpys) :].any()


@pytest.mark.parametrize("n", [ALONE - 1, ALONE, ALONE + 1])
def test_distinct_elements_are_numpys_around_the_form_of_one_dispatch(rng, n):
    for dtype in ("uint64", "int8", "uint32"):
        check_unique(drawn(rng, dtype, n), ASKED[-1], **CPU)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_has_distinct_elements(rng, dtype):
    check_unique(drawn(rng, dtype, 3000), ASKED[-1], **CPU)


@pytest.mark.parametrize("n", [0, 1, 257, 3000])
def test_sets_are_numpys_on_every_device(target, rng, n):
    for other in (0, 1, 700):
        a, b = (np.sort(drawn(rng, "uint32", k, most=900)) for k in (n, other))
        check_sets(a, b, **target)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_is_searched(rng, dtype):
    a, b = (np.sort(drawn(rng, dtype, n)) for n in (3000, 500))
    check_sets(a, np.sort(np.concatenate([a[::7], b])), **CPU)


def test_a_resident_array_gives_all_that_is_asked_for(slow_target, rng):
    x = drawn(rng, "uint32", 4000, most=500)
    for asked in ASKED:
        *found, count = std.unique(vyre.array(x, **slow_target), **asked)
        wanted = as_tuple(np.unique(x, **asked))
        assert int(count[0]) == len(wanted[0])
        for ours, numpys in zip(found, wanted, strict=True):
            assert np.array_equal(ours.numpy()[: len(numpys)], numpys)
            assert not ours.numpy()[len(numpys) :].any()


@seed(SEED)
@settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.integers(0, 60), max_size=300), st.lists(st.integers(0, 60), max_size=100), st.sampled_from(ASKED))
def test_drawn_sets_are_numpys(left, right, asked):
    x, y = np.array(left, np.uint32), np.array(right, np.uint32)
    check_unique(x, asked, **CPU)
    check_sets(np.sort(x), np.sort(y), **CPU)


test_wrong_arguments_are_told = wrong_calls("sets", globals())
