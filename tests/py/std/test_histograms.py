"""Counts of numbers against numpy, over types, bins and lengths."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import vyre
from conftest import SEED
from library_models import drawn
from vyre import std, u32
from vyre.errors import ArgumentError
from vyre.std._scanning.histograms import histogrammer
from wrong_calls import wrong_calls

DTYPES = ["uint32", "int32", "uint64", "uint8", "int8", "uint16", "int16"]
# Around a load, a workgroup, and a tile.
LENGTHS = [0, 1, 3, 5, 17, 255, 257, 4095, 4097]
CPU = {"backend": "cpu"}


def counted(x, bins, lo, hi):
    """The counts by Python's integers."""
    counts, width = np.zeros(bins, np.uint32), (hi - lo) // bins
    for value in x.tolist():
        if 0 <= (value - lo) // width < bins:
            counts[(value - lo) // width] += 1
    return counts


@pytest.mark.parametrize("n", LENGTHS)
def test_counts_are_numpys_on_every_device(target, rng, n):
    x = drawn(rng, "uint32", n)
    assert np.array_equal(std.histogram(x, 256, **target), np.bincount(x >> 24, minlength=256))
    y = drawn(rng, "uint8", n)
    assert np.array_equal(std.bincount(y, minlength=300, **target), np.bincount(y, minlength=300))


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_is_counted_by_bins(rng, dtype):
    info = np.iinfo(dtype)
    low, end = int(info.min), int(info.max) + 1
    x = drawn(rng, dtype, 5001)
    for bins, lo, hi in [
        (256, low, end),
        (7, low, end),
        (1, low, end),
        (1, 0, 2**64),
        (10, 5, end // 2 + 1),
        (100, low // 3, 100),
    ]:
        assert np.array_equal(std.histogram(x, bins, lo, hi, **CPU), counted(x, bins, lo, hi)), (bins, lo, hi)


@pytest.mark.parametrize("bins", [384, 385, 768, 769, 1536, 1537, 3072, 3073, 65536])
def test_any_number_of_bins_is_counted(target, rng, bins):
    x = drawn(rng, "uint32", 3000)
    assert np.array_equal(std.histogram(x, bins, **target), counted(x, bins, 0, 2**32))
    few = x % 3
    assert np.array_equal(std.histogram(few, bins, 0, bins, **target), np.bincount(few, minlength=bins))


@pytest.mark.parametrize("copies", [0, 1, 2, 4, 8])
def test_the_counters_of_a_bin_do_not_show(rng, copies):
    x = drawn(rng, "uint32", 20_001)
    got = histogrammer(u32, copies, True)(x, 256, 0, 2**32 - 1, 24, **CPU)
    assert np.array_equal(got, np.bincount(x >> 24, minlength=256))


@pytest.mark.parametrize("dtype", DTYPES)
def test_bincount_is_numpys(rng, dtype):
    for n in (0, 1, 4000):
        x = drawn(rng, dtype, n, most=100)
        for least in (0, 50, 200):
            wanted = np.bincount(x.astype(np.int64), minlength=least)
            assert np.array_equal(std.bincount(x, least, **CPU), wanted)
            assert np.array_equal(std.bincount(vyre.array(x, **CPU), least).numpy(), wanted)


@seed(SEED)
@settings(max_examples=80, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=200), st.integers(1, 50), st.data())
def test_drawn_bins_are_counted(values, bins, data):
    lo = data.draw(st.integers(-(2**31), 2**31 - 1))
    hi = data.draw(st.integers(lo + bins, 2**33))
    x = np.array(values, np.int32)
    assert np.array_equal(std.histogram(x, bins, lo, hi, **CPU), counted(x, bins, lo, hi))


test_wrong_arguments_are_told = wrong_calls("histograms", globals())


def test_bincount_of_a_resident_array_waits_and_is_refused_in_a_graph():
    x = vyre.array(np.arange(4, dtype=np.uint32), **CPU)
    with pytest.raises(ArgumentError) as caught, vyre.graph():
        std.bincount(x)
    assert str(caught.value) == (
        "vyre.std.bincount, which reads from the device on its way, has no place in a graph. Fix: leave it out."
    )
    with vyre.graph() as graph:
        counts = std.histogram(x, 4, 0, 4)
    graph.replay()
    assert counts.numpy().tolist() == [1, 1, 1, 1]
