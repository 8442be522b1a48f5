"""The sorts of vyre.std beside numpy's stable ones."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import vyre
from conftest import SEED
from library_models import drawn, order_of
from vyre import std, u8, u32, u64
from vyre.std._sorting.radix import place_tiles
from vyre.std._sorting.radix_kernels import LARGE_TILE, TILE, kernels
from vyre.std._sorting.small_sort import SMALL, TINY, small_kernels
from vyre.std._sorting.sorter import sorter
from wrong_calls import wrong_calls

DTYPES = ["uint32", "int32", "uint64", "uint8", "int8", "uint16", "int16"]
# Around the keys of a workgroup, of each form and of a tile.
SIZES = [0, 1, 2, 63, 64, 65, 255, 256, 257, TINY, TINY + 1, 1024, 1025, SMALL - 1, SMALL, SMALL + 1]
LARGE = [2 * TILE + 1, 2 * LARGE_TILE - 1, 2 * LARGE_TILE, 2 * LARGE_TILE + 1, 10_000]


@pytest.mark.parametrize("n", [*SIZES, *LARGE])
def test_a_sort_is_numpys_at_every_size(target, rng, n):
    x = drawn(rng, np.uint32, n)
    found = std.sort(x, **target)
    assert found.dtype == np.uint32
    assert np.array_equal(found, np.sort(x))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_is_sorted_in_both_directions(target, rng, dtype, descending):
    # The drivers' compilers take their time; the forms for fewer keys are tried here and there.
    for n in (300, 1500, 5000) if "device" not in target else (5000,):
        x = drawn(rng, dtype, n)
        found = std.sort(x, descending, **target)
        assert found.dtype == x.dtype
        assert np.array_equal(found, np.sort(x)[:: -1 if descending else 1])


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("n", [0, 1, TINY, 700, SMALL, 5000])
def test_positions_of_equal_elements_ascend(target, rng, n, descending):
    x = rng.integers(-3, 3, n, dtype=np.int32)
    found = std.argsort(x, descending, **target)
    assert found.dtype == np.uint32
    assert np.array_equal(found, order_of(x, descending))


@pytest.mark.parametrize("value", ["uint32", "int32", "uint64"])
@pytest.mark.parametrize("key", DTYPES)
def test_values_follow_their_keys_in_order(rng, key, value):
    for n in (100, 2000, 4500):
        keys, values = drawn(rng, key, n) & 15, drawn(rng, value, n)
        order = order_of(keys)
        found = std.sort_pairs(keys, values, backend="cpu")
        assert np.array_equal(found[0], keys[order])
        assert np.array_equal(found[1], values[order])
        assert [each.dtype for each in found] == [keys.dtype, values.dtype]


@pytest.mark.parametrize("n", [100, 4500])
def test_pairs_are_sorted_on_every_device(target, rng, n):
    keys, values = rng.integers(0, 50, n, dtype=np.uint64) << np.uint64(40), drawn(rng, np.uint64, n)
    order = order_of(keys, True)
    found = std.sort_pairs(keys, values, True, **target)
    assert np.array_equal(found[0], keys[order])
    assert np.array_equal(found[1], values[order])


@pytest.mark.parametrize("make", [np.zeros, np.ones, np.arange, lambda n, dtype: np.arange(n, dtype=dtype)[::-1]])
def test_equal_sorted_and_reversed_keys_are_sorted(target, make):
    x = make(7000, dtype=np.uint32).copy()
    assert np.array_equal(std.sort(x, **target), np.sort(x))
    assert np.array_equal(std.argsort(x, **target), order_of(x))


@pytest.mark.parametrize("tile", [512, 1024, 4096])
def test_the_size_of_a_tile_does_not_show(rng, tile):
    x = rng.integers(0, 999, 9000, dtype=np.uint32)
    assert np.array_equal(sorter(u32, tile=tile)(x, 0, backend="reference"), np.sort(x))
    keys, order = sorter(u32, u32, True, tile=tile)(x, 0, backend="cpu")
    assert np.array_equal(keys, np.sort(x))
    assert np.array_equal(order, order_of(x))


ELEMENTS = {u8: "uint8", u32: "uint32", u64: "uint64"}


@pytest.mark.parametrize(("key", "value"), [(u8, None), (u8, u32), (u32, u64), (u64, None), (u64, u32), (u64, u64)])
def test_the_way_to_a_place_in_a_tile_does_not_show(target, rng, key, value):
    n = 2 * TILE + 1
    x = drawn(rng, ELEMENTS[key], n)
    x[::2] = x[0]  # many are equal
    order = order_of(x)
    if value is None:
        for tile in (TILE, None):
            assert np.array_equal(sorter(key, tile=tile, exchange=True)(x, 0, **target), x[order])
        return
    made = sorter(key, value, tile=TILE, exchange=True)
    carried = drawn(rng, ELEMENTS[value], n)
    keys, values = made(x, carried, 0, **target)
    assert np.array_equal(keys, x[order])
    assert np.array_equal(values, carried[order])


@pytest.mark.parametrize("key", [u32, u64])
def test_positions_are_those_of_both_ways(target, rng, key):
    x = rng.integers(0, 50, 9000, dtype=ELEMENTS[key])
    for exchange in (False, True):
        keys, order = sorter(key, u32, True, tile=4096, exchange=exchange)(x, 0, **target)
        assert np.array_equal(keys, np.sort(x))
        assert np.array_equal(order, order_of(x))


def test_more_tiles_than_one_workgroup_places_are_placed_in_chunks(target, rng):
    n = 600 * 512 + 17 if target["backend"] == "cpu" else 257 * 512 + 17
    x = rng.integers(0, 2**20, n, dtype=np.uint32)
    assert np.array_equal(sorter(u32, tile=512)(x, 0, **target), np.sort(x))


@seed(SEED)
@settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_array_is_sorted_as_by_numpy(data):
    dtype = data.draw(st.sampled_from(DTYPES))
    n = data.draw(st.integers(0, 6000))
    generator = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    x = drawn(generator, dtype, n) >> np.dtype(dtype).type(data.draw(st.integers(0, 7)))
    descending = data.draw(st.booleans())
    order = order_of(x, descending)
    assert np.array_equal(std.sort(x, descending, backend="cpu"), x[order])
    assert np.array_equal(std.argsort(x, descending, backend="cpu"), order)


def test_few_keys_take_one_dispatch():
    for n in (1, TINY, SMALL):
        with vyre.profile() as seen:
            std.sort(np.zeros(n, np.uint32), backend="cpu")
        assert [each.name for each in seen.events].count("dispatch") == 1


def test_no_two_invocations_race(rng):
    n, tile, numbers = 700, 512, np.zeros(2, np.uint32)  # shift and flip
    keys = rng.integers(0, 50, n, dtype=np.uint32)
    made, small = kernels(u32, u32, tile), small_kernels(u32, u32)
    quads = keys.reshape(-1, 4)
    rows = made.count_digits(keys, quads, shift=0, flip=0, rows=np.zeros(512, np.uint32), workgroups=2)
    starts = place_tiles(rows, starts=np.zeros(512, np.uint32), workgroups=1)
    pairs = {"keys": keys, "values": keys, "out": n, "out_values": n}
    cases = [
        (made.count_digits, {"keys": keys, "quads": quads, "rows": 512, "__params": numbers}, 2),
        (place_tiles, {"rows": rows, "starts": 512}, 1),
        (made.pairs, {**pairs, "quads": quads, "starts": starts, "__params": numbers}, 2),
        (small.pairs, {**pairs, "spare": n, "spare_values": n, "__params": numbers[:1]}, 1),
    ]
    for kernel, arrays, workgroups in cases:
        result = vyre.check(kernel.program, arrays, workgroups=workgroups, checks=["race"])
        assert result.ok, str(result)


def test_rows_of_a_matrix_that_lie_apart_are_taken(rng):
    x = drawn(rng, np.uint32, 2000)[::2]
    assert np.array_equal(std.sort(x, backend="cpu"), np.sort(x))


X = np.arange(3, dtype=np.uint32)


test_wrong_arguments_are_told = wrong_calls("sort", globals())
