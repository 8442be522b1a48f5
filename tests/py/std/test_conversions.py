"""Arrays of dtypes that the library does not take: the Fix is applied, and the call gives numpy's answer."""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from vyre import std

U32 = np.arange(9, dtype=np.uint32)


def fix_of(call):
    with pytest.raises(vyre.BindingError) as caught:
        call()
    return str(caught.value).partition(". Fix: ")[2].removesuffix(".")


@pytest.mark.parametrize(
    ("x", "conversion"),
    [
        (np.array([5, 3, 2**32 - 1]), ".astype(np.uint32)"),
        (np.array([5, -3, 2]), ".astype(np.int32)"),
        (np.array([5, 2**32, 2]), ".astype(np.uint64)"),
        (np.array([5.0, 3.0, 0.0]), ".astype(np.uint32)"),
        (np.array([5.0, -3.0, 0.0]), ".astype(np.int32)"),
        (np.array([5.0, 2.0**40]), ".astype(np.uint64)"),
        (np.array([True, False]), ".astype(np.uint32)"),
        (np.array([-5, 3], ">i4"), ".astype(np.int32)"),
        (np.array([5, 3], ">u8"), ".astype(np.uint32)"),
        (np.array([], np.float64), ".astype(np.uint32)"),
    ],
)
def test_a_conversion_keeps_every_number(x, conversion):
    for call, numpys in ((std.sort, np.sort), (std.unique, np.unique), (std.argsort, np.argsort)):
        assert fix_of(lambda call=call: call(x, backend="cpu")) == f"write {conversion}"
        converted = eval(f"x{conversion}", {"x": x, "np": np})
        assert call(converted, backend="cpu").tolist() == numpys(x).tolist()


@pytest.mark.parametrize(
    ("x", "fix"),
    [
        (np.array([-1, 2**40]), "bring its elements into -2147483648 to 2147483647, then write .astype(np.int32)"),
        (np.array([-1.5]), "write np.rint(x).astype(np.int32) to round, or .astype(np.int32) to drop the fractions"),
        (
            np.array([0.5, 2]),
            "write np.rint(x).astype(np.uint32) to round, or .astype(np.uint32) to drop the fractions",
        ),
        (np.array([1e30]), "scale its elements to 0 to 4294967295, then write np.rint(x).astype(np.uint32)"),
        (np.array([-1e30]), "scale its elements to -2147483648 to 2147483647, then write np.rint(x).astype(np.int32)"),
    ],
)
def test_numbers_that_no_dtype_holds_are_not_converted_silently(x, fix):
    assert fix_of(lambda: std.sort(x, backend="cpu")) == fix


def test_the_fix_of_fractions_gives_the_numbers_that_it_names():
    x = np.array([-1.5, 2.5, 0.4])
    assert std.sort(np.rint(x).astype(np.int32), backend="cpu").tolist() == [-2, 0, 2]
    assert std.sort(x.astype(np.int32), backend="cpu").tolist() == [-1, 0, 2]


def test_an_index_below_zero_does_not_become_a_large_one():
    bring = "bring its elements into 0 to 4294967295, then write .astype(np.uint32)"
    index = np.array([-1, 2])
    assert fix_of(lambda: std.gather(U32, index, backend="cpu")) == bring
    assert std.gather(U32, (index % len(U32)).astype(np.uint32), backend="cpu").tolist() == U32[index].tolist()
    resident = vyre.array(index.astype(np.int32), backend="cpu")
    assert fix_of(lambda: std.gather(vyre.array(U32, backend="cpu"), resident)) == (
        "write .astype(np.uint32), which keeps the low 32 bits of each element"
    )
    assert resident.astype(np.uint32).numpy().tolist() == [2**32 - 1, 2]


@pytest.mark.parametrize("call", [std.searchsorted, std.intersect1d, std.union1d, std.setdiff1d])
@pytest.mark.parametrize(
    ("a", "b", "both"),
    [
        (np.array([1, 5]), np.array([-4, 5]), "int32"),
        (np.array([1, 5], np.uint32), np.array([-4, 5]), "int32"),
        (np.array([1, 5], np.uint32), np.array([5, 2**40]), "uint64"),
        (np.array([1, 5], np.int32), np.array([5, 2**32 - 1], np.uint32), "uint32"),
    ],
)
def test_two_arrays_are_converted_to_one_dtype_that_holds_both(call, a, b, both):
    names = ("a", "v") if call is std.searchsorted else ("a", "b")
    fix = fix_of(lambda: call(a, b, backend="cpu"))
    assert fix == f"write {names[0]}.astype(np.{both}) and {names[1]}.astype(np.{both})"
    found = call(a.astype(both), b.astype(both), backend="cpu")
    assert found.tolist() == getattr(np, call.__name__)(a, b).tolist()


@pytest.mark.parametrize(
    ("values", "made"),
    [
        ([3, 1], "np.array(values, np.uint32)"),
        ([-3, 1], "np.array(values, np.int32)"),
        ((2**40, 1), "np.array(values, np.uint64)"),
        (range(3), "np.array(values, np.uint32)"),
        (-3, "np.array([-3], np.int32)"),
        (2**40, "np.array([1099511627776], np.uint64)"),
    ],
)
def test_lists_and_numbers_are_made_arrays_that_hold_them(values, made):
    assert fix_of(lambda: std.sort(values, backend="cpu")) == f"write {made}"
    array = eval(made, {"values": values, "np": np})
    assert std.sort(array, backend="cpu").tolist() == np.sort(np.atleast_1d(np.array(values))).tolist()


@pytest.mark.parametrize(
    ("values", "fix"),
    [
        ([-1, 2**40], "write np.array(x, dtype=np.int32) with integers from -2147483648 to 2147483647"),
        ([[1], [2, 3]], "write np.array(x, dtype=np.uint32) with rows of one length"),
        ("abc", "pass an array of uint32"),
        (None, "pass an array of uint32"),
    ],
)
def test_what_no_array_holds_is_told_what_to_pass(values, fix):
    assert fix_of(lambda: std.sort(values, backend="cpu")) == fix
