"""Selections by a mask against numpy, over types, lengths and tiles."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from conftest import SEED
from library_models import drawn
from vyre import std, u8, u32
from vyre.std._scanning.compaction import compactor
from wrong_calls import wrong_calls

DTYPES = ["uint32", "int32", "uint64", "uint8", "int8", "uint16", "int16"]
MASKS = ["bool", "uint8", "int8", "uint32", "int32"]
# Around the elements of an invocation, a workgroup, and a tile.
LENGTHS = [0, 1, 3, 4, 7, 9, 255, 257, 2047, 2048, 2049, 4100]
CPU = {"backend": "cpu"}


def mask_like(rng, dtype, n, part=0.4):
    selected = rng.random(n) < part
    if dtype == "bool":
        return selected
    return np.where(selected, drawn(rng, dtype, n) | 1, 0).astype(dtype)


def check(x, mask, **where):
    selected = mask != 0
    assert np.array_equal(std.compact(x, mask, **where), x[selected])
    assert np.array_equal(std.nonzero(mask, **where), np.flatnonzero(mask))
    both, count = std.partition(x, mask, **where)
    assert count == np.count_nonzero(mask)
    assert both.dtype == x.dtype
    assert np.array_equal(both, np.concatenate([x[selected], x[~selected]]))


@pytest.mark.parametrize("n", LENGTHS)
def test_the_selected_are_numpys_on_every_device(target, rng, n):
    check(drawn(rng, "uint32", n), mask_like(rng, "bool", n), **target)


@pytest.mark.parametrize("n", [5, 2050])
@pytest.mark.parametrize("mask", MASKS)
def test_every_type_of_mask_selects(target, rng, mask, n):
    check(drawn(rng, "int32", n), mask_like(rng, mask, n), **target)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_is_moved(rng, dtype):
    check(drawn(rng, dtype, 5003), mask_like(rng, "bool", 5003), **CPU)


@pytest.mark.parametrize("dtype", [*DTYPES, "bool"])
@pytest.mark.parametrize("shape", [(700, 5), (0, 4), (6, 0), (300, 2, 3)])
def test_rows_are_selected_as_numpys_are(rng, dtype, shape):
    x = drawn(rng, dtype, shape) if dtype != "bool" else rng.random(shape) < 0.5
    for mask in (
        rng.random(len(x)) < 0.4,
        np.zeros(len(x), bool),
        np.ones(len(x), np.uint8 if x.dtype != bool else bool),
    ):
        wanted = x[mask != 0]
        found = std.compact(x, mask, **CPU)
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize("part", [0.0, 0.01, 0.99, 1.0])
def test_few_all_and_none_are_selected(rng, part):
    for n in (300, 10_000):
        for mask in ("uint8", "uint32"):
            check(drawn(rng, "uint32", n), mask_like(rng, mask, n, part), **CPU)


@pytest.mark.parametrize("value", [1, 2, 0x80, 0x7F, 0xFF])
def test_each_bit_of_a_byte_selects(value):
    for n in range(1, 9):
        for at in range(n):
            mask = np.zeros(n, np.uint8)
            mask[at] = value
            assert std.nonzero(mask, **CPU).tolist() == [at]


@pytest.mark.parametrize("mask", ["uint8", "uint32"])
def test_elements_behind_the_last_whole_vector_of_a_mask_are_counted(rng, mask):
    for n in range(4096, 4096 + 18):
        x, selected = drawn(rng, "uint32", n), np.zeros(n, mask)
        selected[5] = selected[-(n % 16 + 3) :] = 1
        check(x, selected, **CPU)


def test_all_of_a_tile_that_several_loads_cover_can_be_selected(rng):
    for each in (8, 32):
        x = drawn(rng, "uint32", 40_000)
        y, count = compactor(u32, u8, rest_too=True, each=each)(x, np.ones(40_000, np.uint8), **CPU)
        assert count[0] == 40_000
        assert np.array_equal(y, x)


@pytest.mark.parametrize("each", [4, 8, 16, 32])
@pytest.mark.parametrize("mask", [u8, u32])
def test_the_elements_of_an_invocation_do_not_show(rng, mask, each):
    x = drawn(rng, "uint32", 9001)
    selected = mask_like(rng, "uint8" if mask is u8 else "uint32", 9001)
    y, count = compactor(u32, mask, each=each)(x, selected, **CPU)
    assert np.array_equal(y[: count[0]], x[selected != 0])
    assert not y[count[0] :].any()


@seed(SEED)
@settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.integers(0, 2**32 - 1), st.booleans()), max_size=700))
def test_drawn_selections_are_numpys(pairs):
    x, mask = np.array([p[0] for p in pairs], np.uint32), np.array([p[1] for p in pairs], bool)
    check(x, mask, **CPU)


test_wrong_arguments_are_told = wrong_calls("compaction", globals())


def test_the_elements_of_bytes_of_python_are_taken_as_an_array():
    values = b"\1\0\1"
    assert std.nonzero(np.frombuffer(values, np.uint8), backend="cpu").tolist() == [0, 2]
    assert std.compact(np.frombuffer(values, np.uint8), np.ones(3, bool), backend="cpu").tolist() == [1, 0, 1]
    assert std.sum(np.frombuffer(values, np.uint8).astype(np.uint32), backend="cpu") == 2
