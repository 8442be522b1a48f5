"""A number of type i32 may be negative where an i32 takes it as it is; a size that needs it is refused in that call."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import vyre
from conftest import refused
from vyre import In, InOut, Out, boolean, i32, u32, u64
from vyre.errors import ArgumentError

X = np.arange(4, dtype=np.uint32)
SOURCE = Path(__file__).read_text().splitlines()


@vyre.kernel
def plus(x: In[u32], y: Out[u32], n: u32):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] + n


@vyre.kernel
def plus_wide(x: In[u32], y: Out[u32], n: u64):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] + u32(n)


@vyre.kernel
def plus_signed(x: In[u32], y: Out[u32], n: i32):
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


@vyre.procedure(name="p")
def as_a_shape(x: In[u32], k: i32):
    y = vyre.scratch(u32, k)
    plus(x, y, 1)
    return y


@vyre.procedure(name="p")
def as_a_scratch_shape(x: In[u32], k: i32):
    y, z = vyre.scratch(u32, x.length), vyre.scratch(u32, k * 2)
    plus(x, z, 1)
    plus(x, y, 1)
    return y


@vyre.procedure(name="p")
def as_a_grid(x: In[u32], k: i32):
    y = vyre.scratch(u32, x.length, zeros=True)
    plus(x, y, 1, grid=k)  # as_a_grid
    return y


@vyre.procedure(name="p")
def as_workgroups(x: In[u32], k: i32):
    y = vyre.scratch(u32, x.length, zeros=True)
    plus(x, y, 1, workgroups=k)  # as_workgroups
    return y


@vyre.procedure(name="p")
def as_a_condition(x: In[u32], k: i32):
    y = vyre.scratch(u32, x.length, zeros=True)
    with vyre.when(k < 1):  # as_a_condition
        plus(x, y, 1)
    return y


@vyre.procedure(name="p")
def as_a_count(x: In[u32], k: i32):
    y = vyre.scratch(u32, x.length, zeros=True)
    for _ in vyre.times(k):  # as_a_count
        plus(x, y, 1)
    return y


@vyre.procedure(name="p")
def as_a_slice(x: In[u32], k: i32):
    y = vyre.scratch(u32, x.length, zeros=True)
    plus(x[k:], y, 1)  # as_a_slice
    return y


@vyre.procedure(name="p")
def as_a_requirement(x: In[u32], k: i32):
    y = vyre.scratch(u32, x.length, zeros=True)
    vyre.require(k < 100, "k is large. Fix: pass less.")  # as_a_requirement
    plus(x, y, 1)
    return y


@vyre.procedure(name="p")
def as_a_u32(x: In[u32], k: i32):
    y = vyre.scratch(u32, x.length)
    plus(x, y, k)  # as_a_u32
    return y


@vyre.procedure(name="p")
def as_a_u64(x: In[u32], k: i32):
    y = vyre.scratch(u32, x.length)
    plus_wide(x, y, k)  # as_a_u64
    return y


@vyre.procedure(name="p")
def computed_for_an_i32(x: In[u32], k: i32):
    y = vyre.scratch(u32, x.length)
    plus_signed(x, y, k + 1)  # computed_for_an_i32
    return y


@vyre.procedure(name="p")
def as_a_number_u32(x: In[u32], k: i32):
    return inner_unsigned(x, k)  # as_a_number_u32


@vyre.procedure(name="p")
def computed_for_a_number_i32(x: In[u32], k: i32):
    return inner(x, k + 1)  # computed_for_a_number_i32


# The steps that refuse a negative number, as messages name them.
REFUSING = {
    as_a_shape: "array `scratch` of procedure `p`",
    as_a_scratch_shape: "array `scratch1` of procedure `p`",
    as_a_grid: "dispatch `plus` in procedure `p` at steps[0]",
    as_workgroups: "dispatch `plus` in procedure `p` at steps[0]",
    as_a_condition: "a condition in procedure `p` at steps[0]",
    as_a_count: "a repetition in procedure `p` at steps[0]",
    as_a_slice: "dispatch `plus` in procedure `p` at steps[0]",
    as_a_requirement: "a requirement in procedure `p` at steps[0]",
    as_a_u32: "dispatch `plus` in procedure `p` at steps[0]",
    as_a_u64: "dispatch `plus_wide` in procedure `p` at steps[0]",
    computed_for_an_i32: "a requirement in procedure `p` at steps[0]",
    as_a_number_u32: "invocation of `inner_unsigned` in procedure `p` at steps[0]",
    computed_for_a_number_i32: "invocation of `inner` in procedure `p` at steps[0]",
}
EACH = pytest.mark.parametrize("p", REFUSING, ids=lambda p: p.__name__)


def place(marker):
    lines = [number for number, line in enumerate(SOURCE, 1) if line.endswith(f"# {marker}")]
    return f" ({__file__}:{lines[0]})" if len(lines) == 1 else ""


def no_size(value, number="number `k` of procedure `p`"):
    return (
        f"{number} is {value}, and a size is an integer from 0 on. Fix: pass a number from 0 to 2147483647; an i32 "
        "parameter of a kernel takes negative ones, where it is given the number itself."
    )


@EACH
@pytest.mark.parametrize("k", [-1, -(2**31)])
def test_a_size_that_needs_a_negative_number_is_refused_with_the_number(target, p, k):
    with pytest.raises(ArgumentError) as caught:
        p(X, k, **target)
    assert str(caught.value) == f"{REFUSING[p]}{place(p.__name__)}: {no_size(k)}"


@EACH
def test_the_fix_runs(target, p):
    assert len(p(X, 1, **target)) in (1, 4)
    given = np.int32(1)
    assert p(X, given, **target).tolist() == p(X, 1, **target).tolist()


@EACH
def test_resident_arrays_values_texts_and_bytes_refuse_it_alike(p):
    x = vyre.array(X, backend="cpu")
    p(x, 1)  # later calls take a shorter way
    with pytest.raises(ArgumentError) as caught:
        p(x, -1)
    assert str(caught.value) == f"{REFUSING[p]}{place(p.__name__)}: {no_size(-1)}"
    inputs = {"x": X, "k": -1}
    value = p.procedure
    for call in (
        lambda: vyre.run(value, inputs, backend="cpu"),
        lambda: vyre.check(value, inputs),
        lambda: p.check(X, -1),
        lambda: vyre.bisect(p, inputs, backend="cpu"),
        lambda: p(X, -1, out=np.zeros(4, np.uint32), backend="cpu"),
    ):
        with pytest.raises(ArgumentError) as caught:
            call()
        assert str(caught.value) == f"{REFUSING[p]}{place(p.__name__)}: {no_size(-1)}"
    for read in (vyre.Procedure.parse(value.to_text()), pickle.loads(pickle.dumps(value))):
        with pytest.raises(ArgumentError) as caught:
            vyre.run(read, inputs, backend="cpu")
        assert str(caught.value) == f"{REFUSING[p]}: {no_size(-1)}"


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
    with pytest.raises(ArgumentError) as caught:
        outer(X, -3, backend="cpu")
    told = f", in the invocation of `inner_shape` in procedure `outer` at steps[0]{place('passed on')}"
    assert str(caught.value) == (
        f"array `scratch` of procedure `inner_shape`{told}: {no_size(-3, 'number `n` of procedure `inner_shape`')}"
    )


def test_a_negative_literal_is_no_shape_of_an_invocation():
    @vyre.procedure
    def outer(x: In[u32]):
        return inner_shape(x, -3)

    with refused(
        ArgumentError,
        "argument `n` of procedure `inner_shape` is -3, and the shape of a result depends on it",
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
