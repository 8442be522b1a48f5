"""A number of type i32 may be negative where an i32 takes it as it is; a size that needs it is refused in that call."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import vyre
from conftest import refused
from small_kernels import plus, plus_signed
from vyre import In, InOut, Out, boolean, i32, u32, u64
from vyre.errors import ArgumentError

X = np.arange(4, dtype=np.uint32)
SOURCE = Path(__file__).read_text().splitlines()


@vyre.kernel
def plus_wide(x: In[u32], y: Out[u32], n: u64):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] + u32(n)


@vyre.kernel
def plus_one_more(x: In[u32], y: Out[u32], n: i32):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] + u32(n + 1)


@vyre.kernel
def marked(y: InOut[u32], is_set: boolean):
    if is_set:
        y[vyre.gid(0)] = 1


@vyre.procedure(name="inner")
def inner(x: In[u32], n: i32):
    y = vyre.scratch(u32, x.length)
    plus_signed(x, y, n)
    return y


@vyre.procedure(name="inner_unsigned")
def inner_unsigned(x: In[u32], n: u32):
    y = vyre.scratch(u32, x.length)
    plus(x, y, n)
    return y


@vyre.procedure(name="inner_shape")
def inner_shape(x: In[u32], n: i32):
    y = vyre.scratch(u32, n)
    plus(x, y, 1)
    return y


def in_another_shape(x, y, k):
    plus(x, vyre.scratch(u32, k * 2), 1)
    return plus(x, y, 1)


def under_a_condition(x, y, k):
    with vyre.when(k < 1):  # a condition
        plus(x, y, 1)
    return y


def repeated(x, y, k):
    for _ in vyre.times(k):  # a count
        plus(x, y, 1)
    return y


def required(x, y, k):
    vyre.require(k < 100, "k is large. Fix: pass less.")  # a requirement
    return plus(x, y, 1)


# What takes a size that is computed with the number: the step that refuses a negative one, as messages name it, and
# the steps of a procedure.
REFUSING = {
    "a shape": ("array `scratch1`", lambda x, y, k: plus(x, vyre.scratch(u32, k), 1)),
    "a scratch shape": ("array `scratch1`", in_another_shape),
    "a grid": ("dispatch `plus`", lambda x, y, k: plus(x, y, 1, grid=k)),  # a grid
    "workgroups": ("dispatch `plus`", lambda x, y, k: plus(x, y, 1, workgroups=k)),  # workgroups
    "a condition": ("a condition", under_a_condition),
    "a count": ("a repetition", repeated),
    "a slice": ("dispatch `plus`", lambda x, y, k: plus(x[k:], y, 1)),  # a slice
    "a requirement": ("a requirement", required),
    "a u32": ("dispatch `plus`", lambda x, y, k: plus(x, y, k)),  # a u32
    "a u64": ("dispatch `plus_wide`", lambda x, y, k: plus_wide(x, y, k)),  # a u64
    "k + 1 for an i32": ("a requirement", lambda x, y, k: plus_signed(x, y, k + 1)),  # k + 1 for an i32
    "a number u32": ("invocation of `inner_unsigned`", lambda x, y, k: inner_unsigned(x, k)),  # a number u32
    "k + 1 for a number": ("invocation of `inner`", lambda x, y, k: inner(x, k + 1)),  # k + 1 for a number
}
EACH = pytest.mark.parametrize("name", REFUSING)


def refusing(name):
    """The procedure, and how its refusals begin: with the place, and as a text has it, which has none."""
    step, steps = REFUSING[name]

    @vyre.procedure(name="p")
    def made(x: In[u32], k: i32):
        return steps(x, vyre.scratch(u32, x.length, zeros=True), k)

    bare = f"{step} of procedure `p`" if step.startswith("array") else f"{step} in procedure `p` at steps[0]"
    return made, bare + place(name), bare


def place(marker):
    lines = [number for number, line in enumerate(SOURCE, 1) if line.endswith(f"# {marker}")]
    return f" ({__file__}:{lines[0]})" if len(lines) == 1 else ""


NO_SIZE_FIX = (
    "pass a number from 0 to 2147483647; an i32 parameter of a kernel takes negative ones, where it is given the "
    "number itself"
)


def no_size(place, value, number="number `k` of procedure `p`"):
    """What is raised where the number is negative and a size is computed with it."""
    return refused(ArgumentError, f"{place}: {number} is {value}, and a size is an integer from 0 on", NO_SIZE_FIX)


@EACH
@pytest.mark.parametrize("k", [-1, -(2**31)])
def test_a_size_that_needs_a_negative_number_is_refused_with_the_number(target, name, k):
    p, problem, _ = refusing(name)
    with no_size(problem, k):
        p(X, k, **target)


@EACH
def test_the_fix_runs(target, name):
    p, *_ = refusing(name)
    assert len(p(X, 1, **target)) in (1, 4)
    assert p(X, np.int32(1), **target).tolist() == p(X, 1, **target).tolist()


@EACH
def test_resident_arrays_values_texts_and_bytes_refuse_it_alike(name):
    p, problem, bare = refusing(name)
    x = vyre.array(X, backend="cpu")
    p(x, 1)  # later calls take a shorter way
    inputs = {"x": X, "k": -1}
    value = p.procedure
    for call in (
        lambda: p(x, -1),
        lambda: vyre.run(value, inputs, backend="cpu"),
        lambda: vyre.check(value, inputs),
        lambda: p.check(X, -1),
        lambda: vyre.bisect(p, inputs, backend="cpu"),
        lambda: p(X, -1, out=np.zeros(4, np.uint32), backend="cpu"),
    ):
        with no_size(problem, -1):
            call()
    for read in (vyre.Procedure.parse(value.to_text()), pickle.loads(pickle.dumps(value))):
        with no_size(bare, -1):
            vyre.run(read, inputs, backend="cpu")


def test_a_step_that_does_not_run_is_given_any_number(target):
    @vyre.procedure
    def p(x: In[u32], k: i32, is_used: boolean):
        y = vyre.scratch(u32, x.length, zeros=True)
        with vyre.when(is_used):
            plus(x, y, k)
        return y

    assert p(X, -1, False, **target).tolist() == [0] * 4
    assert p(X, 1, True, **target).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("k", [-(2**31), -1, 0, 2**31 - 1])
def test_an_i32_takes_the_number_itself(target, k):
    @vyre.procedure
    def p(x: In[u32], k: i32):
        y, z = vyre.scratch(u32, x.length), vyre.scratch(u32, x.length)
        plus_signed(x, y, k)
        plus_one_more(x, z, k)
        return y, z, inner(x, k), inner(x, -1)

    found = [each.tolist() for each in p(X, k, **target)]
    expected = [[(int(value) + change) % 2**32 for value in X] for change in (k, k + 1, k, -1)]
    assert found == expected
    text = vyre.Procedure.parse(p.procedure.to_text())
    assert [each.tolist() for each in vyre.run(text, {"x": X, "k": k}, **target).values()] == expected


def test_a_condition_of_a_kernel_is_true_for_a_negative_number(target):
    @vyre.procedure
    def p(y: InOut[u32], k: i32):
        marked(y, k)

    for k, expected in ((-1, [1] * 4), (0, [0, 1, 2, 3])):
        y = X.copy()
        p(y, k, **target)
        assert y.tolist() == expected


def test_a_number_passed_on_is_named_as_the_procedure_that_computes_with_it_calls_it():
    @vyre.procedure(name="outer")
    def outer(x: In[u32], k: i32):
        y = vyre.scratch(u32, 3)
        inner_shape(x, k, out=y)  # passed on
        return y

    assert outer(X, 3, backend="cpu").tolist() == [1, 2, 3]
    told = f", in the invocation of `inner_shape` in procedure `outer` at steps[0]{place('passed on')}"
    with no_size(f"array `scratch` of procedure `inner_shape`{told}", -3, "number `n` of procedure `inner_shape`"):
        outer(X, -3, backend="cpu")


def test_a_negative_literal_is_no_shape_of_an_invocation():
    @vyre.procedure
    def outer(x: In[u32]):
        return inner_shape(x, -3)

    with refused(
        ArgumentError,
        "argument `n` of procedure `inner_shape`, on which the shape of a result depends, must be an integer from 0 to "
        "2147483647, got -3",
        "pass an integer from 0 to 2147483647",
    ):
        outer(X, backend="cpu")


def test_a_size_that_an_i32_number_has_as_a_negative_one_is_refused():
    @vyre.procedure(name="p")
    def p(x: In[u32], k: u64):
        return inner(x, k)  # large

    assert p(X, 2**31 - 1, backend="cpu").tolist() == (X + np.uint32(2**31 - 1)).tolist()
    for k in (2**31, 2**32 - 1, 2**40):
        with refused(
            ArgumentError,
            f"invocation of `inner` in procedure `p` at steps[0]{place('large')}: number `n` is {k}, and an "
            "i32 is at most 2147483647",
            "pass one from 0 to 2147483647",
        ):
            p(X, k, backend="cpu")
