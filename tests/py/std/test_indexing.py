"""Loads, stores and sums at given indices against numpy."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import vyre
from conftest import SEED
from library_models import drawn
from vyre import std
from vyre.std._scanning.indexing import SPARSE
from wrong_calls import wrong_calls

DTYPES = ["uint32", "int32", "uint64", "uint8", "int8", "uint16", "int16"]
LENGTHS = [0, 1, 5, 255, 256, 257, 3000]
CPU = {"backend": "cpu"}


def indices(rng, size, n):
    """Indices of an array, some of them beyond its end."""
    index = rng.integers(0, size + 3, n, dtype=np.uint32)
    index[rng.random(n) < 0.02] = 2**32 - 1
    return index


def stored(out, index, values):
    """The values one after the other, so that the last one stays."""
    result = out.copy()
    for at, value in zip(index.tolist(), values, strict=True):
        if at < len(out):
            result[at] = value
    return result


def added(out, index, values):
    result = out.copy()
    inside = index < len(out)
    np.add.at(result, index[inside], values[inside])
    return result


def check(rng, dtype, size, n, **where):
    x, index, values = drawn(rng, dtype, size), indices(rng, size, n), drawn(rng, dtype, n)
    wanted = np.append(x, np.zeros(1, dtype))[np.minimum(index, size)]
    assert np.array_equal(std.gather(x, index, **where), wanted)
    kept = x.copy()
    assert np.array_equal(std.scatter(x, index, values, **where), stored(x, index, values))
    if dtype in ("uint32", "int32", "uint64"):
        assert np.array_equal(std.scatter_add(x, index, values, **where), added(x, index, values))
    assert np.array_equal(x, kept)


@pytest.mark.parametrize("n", LENGTHS)
def test_elements_are_numpys_on_every_device(target, rng, n):
    for size in (0, 1, 40, 5000):
        check(rng, "uint32", size, n, **target)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_is_loaded_and_stored(target, rng, dtype):
    check(rng, dtype, 100, 700, **target)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_the_last_of_equal_indices_wins_whichever_pass_stores_it(target, rng, dtype, more):
    n = 60
    size = n * SPARSE + more  # the elements of `out` up to which each of them fetches its value
    index = indices(rng, size, n)
    index[::4] = index[0]
    x, values = drawn(rng, dtype, size), drawn(rng, dtype, n)
    assert np.array_equal(std.scatter(x, index, values, **target), stored(x, index, values))


def test_carries_of_wide_sums_are_kept(target):
    out, values = np.array([2**32 - 1, 2**64 - 1], np.uint64), np.full(500, 2**32 - 1, np.uint64)
    index = np.arange(500, dtype=np.uint32) % 2
    assert np.array_equal(std.scatter_add(out, index, values, **target), added(out, index, values))


def test_resident_arrays_are_written(target, rng):
    x, index, values = drawn(rng, "int32", 300), indices(rng, 300, 900), drawn(rng, "int32", 900)
    i, v = vyre.array(index, **target), vyre.array(values, **target)
    for call, wanted in ((std.scatter, stored), (std.scatter_add, added)):
        out = vyre.array(x, **target)
        assert call(out, i, v) is out
        assert np.array_equal(out.numpy(), wanted(x, index, values))
    y = std.gather(vyre.array(x, **target), i)
    assert isinstance(y, vyre.Array)


@seed(SEED)
@settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 20), st.lists(st.tuples(st.integers(0, 25), st.integers(0, 2**32 - 1)), max_size=100))
def test_drawn_indices_are_numpys(size, pairs):
    out = np.arange(size, dtype=np.uint32)
    index, values = (np.array([pair[k] for pair in pairs], np.uint32) for k in (0, 1))
    assert np.array_equal(std.scatter(out, index, values, **CPU), stored(out, index, values))
    assert np.array_equal(std.scatter_add(out, index, values, **CPU), added(out, index, values))


test_wrong_arguments_are_told = wrong_calls("indexing", globals())
