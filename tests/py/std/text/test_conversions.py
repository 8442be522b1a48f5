"""Arrays of dtypes that the library does not take: converted, they give numpy's answer."""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from vyre import std

U32 = np.arange(9, dtype=np.uint32)
KEYS = "pass an array of uint32, int32, uint64, uint8, int8, uint16 or int16"


def fix_of(call):
    with pytest.raises(vyre.BindingError) as caught:
        call()
    return str(caught.value).partition(". Fix: ")[2].removesuffix(".")


@pytest.mark.parametrize("x", [np.array([5, -3, 2]), np.array([5.0, 2.5]), np.array([-5, 3], ">i4")])
def test_a_dtype_that_holds_the_numbers_keeps_them(x):
    for call, numpys in ((std.sort, np.sort), (std.unique, np.unique), (std.argsort, np.argsort)):
        floats = "pass x.astype(np.uint32) in place of `x`, which loses fractions"
        assert fix_of(lambda call=call: call(x, backend="cpu")) == (floats if x.dtype.kind == "f" else KEYS)
        whole = x.astype(np.int32)
        assert call(whole, backend="cpu").tolist() == numpys(whole).tolist()


def test_an_array_of_the_one_dtype_that_a_call_takes_is_named():
    index = np.array([1, 2])
    for given in (index, vyre.array(index, dtype=vyre.i32, backend="cpu")):
        assert fix_of(lambda given=given: std.gather(U32, given, backend="cpu")) == "pass an array of uint32"
    assert std.gather(U32, index.astype(np.uint32), backend="cpu").tolist() == [1, 2]


@pytest.mark.parametrize("call", [std.searchsorted, std.intersect1d, std.union1d, std.setdiff1d])
def test_two_arrays_have_one_dtype(call):
    a, b = np.array([1, 5], np.uint32), np.array([-4, 5], np.int32)
    assert fix_of(lambda: call(a, b, backend="cpu")) == "pass an array of uint32"
    found = call(a.astype(np.int32), b, backend="cpu")
    assert found.tolist() == getattr(np, call.__name__)(a.astype(np.int32), b).tolist()


@pytest.mark.parametrize("values", [[3, -1], 7, b"abcd", "abc", None])
def test_what_is_no_array_is_told_what_is(values):
    assert fix_of(lambda: std.sort(values, backend="cpu")) == KEYS
