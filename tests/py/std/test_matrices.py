"""Transposes and products of vyre.std beside numpy's."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import vyre
from conftest import SEED
from library_models import drawn
from vyre import std, u8, u32
from vyre.std._graphs.matmul import Tiling, multiplier
from vyre.std._graphs.transpose import transposer
from wrong_calls import wrong_calls

SHAPES = [(0, 0), (0, 5), (5, 0), (1, 1), (1, 70), (31, 33), (64, 64), (65, 31), (68, 33), (68, 132), (130, 66)]


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int32", "uint64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_transpose_is_numpys(target, rng, shape, dtype):
    x = drawn(rng, dtype, shape)
    found = std.transpose(x, **target)
    assert found.dtype == x.dtype
    assert found.flags.c_contiguous
    assert np.array_equal(found, x.T)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_resident_matrices_without_elements_are_taken(target, shape):
    x = vyre.array(np.zeros(shape, np.uint32), **target)
    assert std.transpose(x).shape == shape[::-1]
    assert std.matmul(x, std.transpose(x)).numpy().tolist() == np.zeros((shape[0], shape[0])).tolist()


@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_that_lie_apart_are_taken(rng, order):
    x = np.asarray(drawn(rng, np.uint32, (40, 60))[::2, ::3], order=order)
    assert np.array_equal(std.transpose(x, backend="cpu"), x.T)


@pytest.mark.parametrize("element", [u8, u32])
def test_the_tiles_of_a_transpose_do_not_show(rng, element):
    x = drawn(rng, "uint8" if element is u8 else "uint32", (45, 67))
    for tile in (16, 32):
        assert np.array_equal(transposer(element, tile)(x, backend="cpu"), x.T)


PRODUCTS = [(0, 3, 2), (3, 0, 2), (3, 2, 0), (1, 1, 1), (1, 300, 1), (63, 7, 65), (64, 64, 64), (65, 33, 70)]
# Rows that are whole vectors of four elements are loaded as such, in the first factor, in the second, or in both.
PRODUCTS += [(3, 4, 7), (3, 5, 8), (1, 4, 4), (65, 36, 68), (67, 20, 132)]


@pytest.mark.parametrize("dtype", ["uint32", "uint8"])
@pytest.mark.parametrize("shape", PRODUCTS)
def test_a_product_is_numpys_modulo_2_to_the_32(target, rng, shape, dtype):
    m, k, n = shape
    a, b = drawn(rng, dtype, (m, k)), drawn(rng, dtype, (k, n))
    found = std.matmul(a, b, **target)
    assert found.dtype == np.uint32
    assert np.array_equal(found, a.astype(np.uint32) @ b.astype(np.uint32))


# Workgroups of 32, 64, 128 and 256.
TILINGS = [Tiling(16, 16, 8, 4, 2), Tiling(16, 16, 8, 2, 2), Tiling(32, 64, 16, 4, 4), Tiling(64, 64, 8, 4, 4)]
TILINGS += [Tiling(64, 64, 8, 8, 8), Tiling(64, 64, 16, 4, 4), Tiling(128, 64, 16, 8, 4)]


@pytest.mark.parametrize("tiling", TILINGS)
@pytest.mark.parametrize("shape", [(70, 50, 90), (70, 52, 92)])
def test_the_tiles_of_a_product_do_not_show(rng, shape, tiling):
    m, k, n = shape
    a, b = drawn(rng, np.uint32, (m, k)), drawn(rng, np.uint32, (k, n))
    assert np.array_equal(multiplier(u32, small=tiling)(a, b, backend="cpu"), a @ b)


@pytest.mark.parametrize("dtype", ["uint32", "uint8"])
def test_factors_may_begin_at_any_element_of_an_array(target, rng, dtype):
    flat = drawn(rng, dtype, 8 * 12 + 3)
    resident = vyre.array(flat, **target)
    for begin in range(4):
        a, part = flat[begin : begin + 96].reshape(8, 12), resident[begin : begin + 96]
        found = std.matmul(part.reshape(8, 12), part.reshape(12, 8)).numpy()
        assert np.array_equal(found, a.astype(np.uint32) @ a.reshape(12, 8).astype(np.uint32))


@pytest.mark.parametrize("n", [6, 8])
def test_long_sums_take_several_dispatches(target, rng, n):
    a, b = drawn(rng, np.uint32, (5, 100)), drawn(rng, np.uint32, (100, n))
    assert np.array_equal(multiplier(u32, terms=24)(a, b, **target), a @ b)


@pytest.mark.parametrize("n", [128 * 128 + 5, 128 * 128 + 4])
def test_many_tiles_take_the_large_ones(rng, n):
    a, b = drawn(rng, np.uint32, (130, 20)), drawn(rng, np.uint32, (20, n))
    assert np.array_equal(std.matmul(a, b, backend="cpu"), a @ b)


@seed(SEED)
@settings(max_examples=40, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32), *[st.integers(0, 150)] * 3, st.sampled_from(["uint32", "uint8"]))
def test_any_matrices_are_multiplied_and_transposed(entropy, m, k, n, dtype):
    rng = np.random.default_rng(entropy)
    a, b = drawn(rng, dtype, (m, k)), drawn(rng, dtype, (k, n))
    product = std.matmul(a, b, backend="cpu")
    assert np.array_equal(product, a.astype(np.uint32) @ b.astype(np.uint32))
    assert np.array_equal(std.transpose(b, backend="cpu"), b.T)


test_wrong_arguments_are_told = wrong_calls("matrices", globals())
