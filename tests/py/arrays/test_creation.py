"""vyre.zeros, full, arange and the functions with _like: the arrays that numpy's functions of these names give."""

# ruff: noqa: E501  (messages stand whole)
from __future__ import annotations

import numpy as np
import pytest

import vyre
from conftest import message, refusals

DTYPES = ["uint32", "int32", "uint64", "bool", "uint8"]


def same(array, wanted):
    got = array.numpy()
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [0, 1, 255, 256, 257, (), (3, 4), (2, 0)], ids=str)
def test_arrays_of_one_value_are_numpys(place, dtype, shape):
    same(vyre.zeros(shape, dtype, **place), np.zeros(shape, dtype))
    values = {"bool": [True, False], "int32": [-(2**31), 2**31 - 1]}.get(dtype, [0, 255])
    for value in values:
        same(vyre.full(shape, value, dtype, **place), np.full(shape, value, dtype))
    like = vyre.array(np.full(shape, values[1], dtype), **place)
    for other in (like, like.numpy()):
        with vyre.default_device(**place):
            same(vyre.empty_like(other), np.zeros(shape, dtype))
            same(vyre.zeros_like(other), np.zeros(shape, dtype))
            same(vyre.zeros_like(other, vyre.i32), np.zeros(shape, np.int32))
            same(vyre.full_like(other, values[0]), np.full(shape, values[0], dtype))
            same(vyre.full_like(other, 2**40, np.uint64), np.full(shape, 2**40, np.uint64))
    same(like, np.full(shape, values[1], dtype))


def test_the_default_dtype_is_uint32():
    for array in (vyre.zeros(2), vyre.full(2, 7), vyre.arange(2)):
        assert array.dtype == np.uint32


def test_an_array_like_another_lies_where_that_does():
    for backend in ("reference", "cpu"):
        other = vyre.empty(2, backend=backend)
        for make in (vyre.empty_like, vyre.zeros_like, lambda x, **k: vyre.full_like(x, 3, **k)):
            assert make(other).backend == backend
            assert make(other, backend="cpu").backend == "cpu"
            with vyre.default_device("reference"):
                assert make(other).backend == backend
                assert make(np.zeros(2, np.uint32)).backend == "reference"


def test_vectors_add_their_axis_and_values_are_broadcast(place):
    same(vyre.zeros(3, vyre.vec4u32, **place), np.zeros((3, 4), np.uint32))
    same(vyre.full((2, 2), (1, 2), vyre.vec2u32, **place), np.full((2, 2, 2), (1, 2), np.uint32))
    same(vyre.full((2, 3), [[1], [2]], **place), np.full((2, 3), [[1], [2]], np.uint32))


@pytest.mark.parametrize(
    ("arguments", "dtype"),
    [
        ((0,), "uint32"),
        ((-3,), "uint32"),
        ((257,), "uint32"),
        ((5, 2), "int32"),
        ((-5, 5), "int32"),
        ((5, -6, -3), "int32"),
        ((2**32 - 3, 2**32), "uint32"),
        ((2**32 - 1, -1, -(2**30)), "uint32"),
        ((2**63 - 2, 2**63 + 2), "uint64"),
        ((2**64 - 1, 2**64 - 10, -4), "uint64"),
        ((0, 256, 5), "uint8"),
        ((7, 8, 10**30), "uint32"),
    ],
    ids=str,
)
def test_a_range_is_pythons(place, arguments, dtype):
    same(vyre.arange(*arguments, dtype=dtype, **place), np.array(list(range(*arguments)), dtype))


test_mistakes_are_told = refusals(
    [
        (lambda: vyre.zeros(-1), vyre.ArgumentError, "argument `shape` of vyre.zeros must be counts from 0 to 2^48 - 1, got -1."),
        (lambda: vyre.zeros(2, 3), vyre.ArgumentError, "argument `dtype` of vyre.zeros must be a numpy dtype or a vyre.DataType, got 3", "pass a numpy dtype or a vyre.DataType"),
        (lambda: vyre.empty(2, 3), vyre.ArgumentError, "argument `dtype` of vyre.empty must be a numpy dtype or a vyre.DataType, got 3", "pass a numpy dtype or a vyre.DataType"),
        (lambda: vyre.zeros(3, "f4"), vyre.ArgumentError, "argument `dtype` of vyre.zeros must be uint32, int32, uint64, bool, uint8, int8, uint16 or int16, or a vyre.DataType, got float32."),
        (lambda: vyre.full(3, -1), vyre.ArgumentError, "argument `value` of vyre.full must be integers from 0 to 4294967295 for uint32, got -1."),
        (lambda: vyre.full(3, 1.5), vyre.ArgumentError, "argument `value` of vyre.full must be integers for uint32, got 1.5."),
        (lambda: vyre.full(3, [1, 2]), vyre.ArgumentError, "argument `value` of vyre.full must have shape (3,) or (), got (2,)", "pass one with shape (3,) or ()"),
        (lambda: vyre.full((2**40, 2**40), 1), vyre.DeviceMemoryError, "a device has no memory for shape (1099511627776, 1099511627776)."),
        (lambda: vyre.full_like(3, 1), vyre.ArgumentError, "argument `other` of vyre.full_like must be a vyre.Array or a numpy array, got 3", "pass a vyre.Array or a numpy array"),
        (lambda: vyre.zeros_like([1]), vyre.ArgumentError, "argument `other` of vyre.zeros_like must be a vyre.Array or a numpy array, got [1]", "pass a vyre.Array or a numpy array"),
        (lambda: vyre.empty_like(np.zeros(2)), vyre.ArgumentError, "argument `dtype` of vyre.empty_like must be uint32, int32, uint64, bool, uint8, int8, uint16 or int16, or a vyre.DataType, got float64."),
        (lambda: vyre.arange(1.0), vyre.ArgumentError, "argument `start` of vyre.arange must be an integer, got 1.0", "pass an integer"),
        (lambda: vyre.arange(1, True), vyre.ArgumentError, "argument `stop` of vyre.arange must be an integer, got True."),
        (lambda: vyre.arange(1, 2, 0), vyre.ArgumentError, "argument `step` of vyre.arange must be an integer other than 0, got 0."),
        (lambda: vyre.arange(-1, 3), vyre.ArgumentError, "vyre.arange must have integers from 0 to 4294967295 for uint32, got -1", "pass one with integers from 0 to 4294967295 for uint32"),
        (lambda: vyre.arange(300, dtype="uint8"), vyre.ArgumentError, "vyre.arange must have integers from 0 to 255 for uint8, got 299", "pass one with integers from 0 to 255 for uint8"),
        (lambda: vyre.arange(2**32, 2**32 + 1), vyre.ArgumentError, "vyre.arange must have integers from 0 to 4294967295 for uint32, got 4294967296", "pass one with integers from 0 to 4294967295 for uint32"),
        (lambda: vyre.arange(-1, 2**64, 2**63), vyre.ArgumentError, "vyre.arange must have integers from 0 to 4294967295 for uint32, got -1", "pass one with integers from 0 to 4294967295 for uint32"),
        (lambda: vyre.arange(2**64, dtype="uint64"), vyre.DeviceMemoryError, "a device has no memory for 18446744073709551616 elements", "use fewer elements"),
        (lambda: vyre.arange(3, dtype=bool), vyre.ArgumentError, "argument `dtype` of vyre.arange must be one of integers, got <class 'bool'>", "pass one of integers"),
        (lambda: vyre.arange(3, dtype=vyre.vec2u32), vyre.ArgumentError, "argument `dtype` of vyre.arange must be one of integers, got DataType.Vec2U32."),
        (lambda: vyre.arange(), vyre.CallError, "vyre.arange() misses argument `start`", 'write vyre.arange(start, stop=None, step=1, dtype="uint32", backend=None, device=None)'),
    ],
)  # fmt: skip


def test_the_fix_of_a_range_that_does_not_fit_is_right():
    for arguments, dtype in (((-1, 3), vyre.i32), ((2**32, 2**32 + 1), vyre.u64), ((300,), vyre.u32)):
        assert vyre.arange(*arguments, dtype=dtype).numpy().tolist() == list(range(*arguments))


def test_a_range_of_any_length_of_digits_is_refused():
    assert message(lambda: vyre.arange(10**5000), vyre.ArgumentError).startswith("vyre.arange must have integers")
