"""A size that decides a branch of Python is an error whose Fix says what to write there, and that works."""

import numpy as np
import pytest

import vyre
from conftest import refused
from vyre import In, InOut, u32
from vyre.errors import ArgumentError

BOTH = "write vyre.size_min(a, b) for both of two conditions, or put one `with vyre.when` inside the other"


def cleared_if_both(x: InOut[u32], n: u32):
    with vyre.when(x.length > 5 and n > 1):
        vyre.clear(x)


def by_size_min(x: InOut[u32], n: u32):
    with vyre.when(vyre.size_min(x.length > 5, n > 1)):
        vyre.clear(x)


def by_two_blocks(x: InOut[u32], n: u32):
    with vyre.when(x.length > 5), vyre.when(n > 1):
        vyre.clear(x)


def cleared_in_a_range(x: InOut[u32], n: u32):
    with vyre.when(1 < n < x.length):
        vyre.clear(x)


def by_two_comparisons(x: InOut[u32], n: u32):
    with vyre.when(vyre.size_min(1 < n, n < x.length)):
        vyre.clear(x)


def cleared_if_either(x: InOut[u32], n: u32):
    with vyre.when(
        x.length > 5 or n > 1  # the line of the second operand
    ):
        vyre.clear(x)


def by_size_max(x: InOut[u32], n: u32):
    with vyre.when(vyre.size_max(x.length > 5, n > 1)):
        vyre.clear(x)


def cleared_if_not(x: InOut[u32], n: u32):
    with vyre.when(not n > 1): vyre.clear(x)  # fmt: skip  # noqa: E701


def by_equality(x: InOut[u32], n: u32):
    with vyre.when((n > 1) == 0):
        vyre.clear(x)


def cleared_after_if(x: InOut[u32], n: u32):
    if n > 1:
        m = min(3, 5)
        assert m == 3
        assert m != 5
        vyre.clear(x)


def by_when(x: InOut[u32], n: u32):
    with vyre.when(n > 1):
        vyre.clear(x)


LENGTHS, NUMBERS = (1, 4, 5, 6, 9), (0, 1, 2, 5, 7)


@pytest.mark.parametrize(
    ("wrong", "mended", "size", "fix", "model"),
    [
        (cleared_if_both, by_size_min, "5 < length(x)", BOTH, lambda length, n: length > 5 and n > 1),
        (cleared_if_both, by_two_blocks, "5 < length(x)", BOTH, lambda length, n: length > 5 and n > 1),
        (cleared_in_a_range, by_two_comparisons, "1 < n", BOTH, lambda length, n: 1 < n < length),
        (
            cleared_if_either,
            by_size_max,
            "5 < length(x)",
            "write vyre.size_max(a, b) for one of two conditions",
            lambda length, n: length > 5 or n > 1,
        ),
        (
            cleared_if_not,
            by_equality,
            "1 < n",
            "write `size == 0` for the opposite of a condition",
            lambda length, n: not n > 1,
        ),
        (
            cleared_after_if,
            by_when,
            "1 < n",
            "write `with vyre.when(size):`, or vyre.size_select(condition, a, b)",
            lambda length, n: n > 1,
        ),
    ],
)
def test_a_condition_of_python_is_mended_as_its_fix_says(wrong, mended, size, fix, model):
    with refused(
        ArgumentError,
        f"the size {size} decides a branch of Python, and is not known until the procedure is planned",
        fix,
    ):
        vyre.procedure(wrong)(np.ones(3, np.uint32), 1)
    made = vyre.procedure(mended)
    for length in LENGTHS:
        for n in NUMBERS:
            x = np.ones(length, np.uint32)
            made(x, n, backend="cpu")
            assert x.any() != model(length, n)


def first_hundred(x: In[u32]):
    return vyre.scratch(u32, min(x.length, 100), zeros=True)


def by_least(x: In[u32]):
    return vyre.scratch(u32, vyre.size_min(x.length, 100), zeros=True)


def one_or_more(x: In[u32]):
    return vyre.scratch(u32, max(x.length, 100), zeros=True)


def by_greatest(x: In[u32]):
    return vyre.scratch(u32, vyre.size_max(x.length, 100), zeros=True)


def chosen(x: In[u32]):
    return vyre.scratch(u32, 3 if x.length < 100 else 200, zeros=True)


def by_select(x: In[u32]):
    return vyre.scratch(u32, vyre.size_select(x.length < 100, 3, 200), zeros=True)


@pytest.mark.parametrize(
    ("wrong", "mended", "size", "fix", "model"),
    [
        (first_hundred, by_least, "100 < length(x)", "vyre.size_min(a, b)", lambda n: min(n, 100)),
        (one_or_more, by_greatest, "length(x) < 100", "vyre.size_max(a, b)", lambda n: max(n, 100)),
        (chosen, by_select, "length(x) < 100", "vyre.size_select(condition, a, b)", lambda n: 3 if n < 100 else 200),
    ],
)
def test_a_size_that_python_chooses_is_mended_as_its_fix_says(wrong, mended, size, fix, model):
    with refused(
        ArgumentError,
        f"the size {size} decides a branch of Python, and is not known until the procedure is planned",
        f"write {fix}",
    ):
        vyre.procedure(wrong)(np.ones(3, np.uint32))
    made = vyre.procedure(mended)
    for n in (1, 99, 100, 101):
        assert made(np.ones(n, np.uint32), backend="cpu").shape == (model(n),)


def asserting(x: InOut[u32]):
    assert x.length > 1, "too short"
    vyre.clear(x)


def requiring(x: InOut[u32]):
    vyre.require(x.length > 1, "the array is too short. Fix: pass two elements.")
    vyre.clear(x)


def test_an_assert_is_mended_as_its_fix_says():
    with pytest.raises(ArgumentError) as caught:
        vyre.procedure(asserting)(np.ones(3, np.uint32))
    assert str(caught.value) == (
        "the size 1 < length(x) decides a branch of Python, and is not known until the procedure is planned. "
        'Fix: write vyre.require(condition, "<problem>. Fix: <action>.").'
    )
    made, x = vyre.procedure(requiring), np.ones(2, np.uint32)
    made(x, backend="cpu")
    assert not x.any()
    with refused(ArgumentError, "the array is too short", "pass two elements"):
        made(np.ones(1, np.uint32), backend="cpu")


def test_the_fix_is_general_where_the_source_cannot_be_read():
    names = {"vyre": vyre, "InOut": InOut, "u32": u32}
    exec("def made(x: InOut[u32]):\n    assert x.length > 1\n    vyre.clear(x)\n", names)
    with refused(
        ArgumentError,
        "the size 1 < length(x) decides a branch of Python, and is not known until the procedure is planned",
        "write `with vyre.when(size):`, or vyre.size_select(condition, a, b)",
    ):
        vyre.procedure(names["made"])(np.ones(3, np.uint32))
