"""The largest elements by vyre.std beside numpy's stable order."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from conftest import SEED
from library_models import drawn, order_of
from vyre import std, u32
from vyre.std._sorting.selection import selector
from wrong_calls import wrong_calls

DTYPES = ["uint32", "int32", "uint64", "uint8", "int8", "uint16", "int16"]


def check(x, k, **where):
    values, positions = std.topk(x, k, **where)
    order = order_of(x, True)[:k]
    assert values.dtype == x.dtype
    assert positions.dtype == np.uint32
    assert np.array_equal(positions, order)
    assert np.array_equal(values, x[order])


# All elements are sorted up to 4,096 of them, and where k is an eighth of them or more.
CASES = [(0, 0), (5, 0), (1, 1), (300, 7), (4096, 5), (4097, 1), (4097, 512), (4097, 513), (9000, 1000)]


@pytest.mark.parametrize(("n", "k"), CASES)
def test_the_largest_are_those_of_numpy(target, rng, n, k):
    check(drawn(rng, np.uint32, n), k, **target)


@pytest.mark.parametrize("k", [3, 900])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_is_selected_by_its_order(rng, dtype, k):
    check(drawn(rng, dtype, 8000), k, backend="cpu")


@pytest.mark.parametrize("n", [700, 9000])
def test_the_first_of_equal_elements_are_taken(target, rng, n):
    for k in (1, n // 10, n // 2):
        check(drawn(rng, np.int32, n, most=3), k, **target)
    check(np.zeros(n, np.uint32), n // 9, **target)


@pytest.mark.parametrize("each", [1, 4])
def test_the_keys_of_an_invocation_do_not_show(rng, each):
    x = drawn(rng, np.uint32, 70_000, most=500)
    values, positions = selector(u32, each)(x, 200, 2**32 - 1, backend="cpu")
    assert np.array_equal(positions, order_of(x, True)[:200])
    assert np.array_equal(values, x[positions])


@seed(SEED)
@settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_selection_is_that_of_numpy(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    n = data.draw(st.integers(0, 9000))
    x = drawn(rng, data.draw(st.sampled_from(DTYPES)), n, most=data.draw(st.sampled_from([None, 1, 100])))
    check(x, data.draw(st.integers(0, n)), backend="cpu")


test_wrong_arguments_are_told = wrong_calls("selection", globals())
