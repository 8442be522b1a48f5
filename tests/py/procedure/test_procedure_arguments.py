"""Mistakes in the arguments of a procedure's call: what is told, and the code of the Fix, which is run."""

import array
import re

import numpy as np
import pytest

import vyre
from conftest import refused
from vyre import In, InOut, Out, u8, u32
from vyre.errors import ArgumentError, BindingError

X = np.arange(4, dtype=np.uint32)
READ_ONLY = X.copy()
READ_ONLY.flags.writeable = False


@vyre.kernel
def doubled(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    y[i] = x[i] * 2


@vyre.kernel
def counted_up(x: InOut[u32]):
    x[vyre.gid(0)] += 1


@vyre.kernel
def widened(x: In[u8], y: Out[u32]):
    i = vyre.gid(0)
    y[i] = x[i]


@vyre.procedure
def p(x: In[u32]):
    y = vyre.scratch(u32, x.length)
    doubled(x, y)
    return y


@vyre.procedure
def changed(x: InOut[u32]):
    counted_up(x)


@vyre.procedure
def rows(x: In[u32, 2]):
    y = vyre.scratch(u32, x.shape[0] * x.shape[1])
    doubled(x.ravel(), y)
    return y


@vyre.procedure
def solid(x: In[u32, 3]):
    y = vyre.scratch(u32, x.shape[0] * x.shape[1] * x.shape[2])
    doubled(x.ravel(), y)
    return y


@vyre.procedure
def pairs(x: In[vyre.vec2u32]):
    return vyre.scratch(vyre.vec2u32, x.length, zeros=True)


@vyre.procedure
def from_bytes(x: In[u8]):
    y = vyre.scratch(u32, x.length)
    widened(x, y)
    return y


@vyre.procedure
def split(x: In[u32]):
    low, high = vyre.scratch(u32, x.length, name="low"), vyre.scratch(u32, x.length, name="high")
    doubled(x, low)
    doubled(x, high)
    return low, high


LIST = [0, 1, 2, 3]
WANTED = "must be an array of uint32, got"
# A procedure, a wrong array, the problem behind the argument's name, and an array as the Fix wants it.
CASES = [
    (p, LIST, f"{WANTED} an object of type list", np.array(LIST, np.uint32)),
    (p, array.array("I", LIST), f"{WANTED} an object of type array", np.array(LIST, np.uint32)),
    (p, 7, f"{WANTED} 7", np.array([7], np.uint32)),
    (p, np.uint32(7), f"{WANTED} {np.uint32(7)!r}", np.array([7], np.uint32)),
    (p, b"abcde", f"{WANTED} an object of type bytes", vyre.pack_bytes(b"abcde")),
    (from_bytes, [1, 2], "must be an array of uint8, got an object of type list", np.array([1, 2], np.uint8)),
    (p, X.astype(np.int64), f"{WANTED} one of int64", X),
    (p, X.astype(bool), f"{WANTED} one of bool", X),
    (p, X.astype(X.dtype.newbyteorder()), f"{WANTED} one of {X.dtype.newbyteorder()}", X),
    (changed, X.astype(np.int64), f"{WANTED} one of int64", X.copy()),
    (p, np.ma.array(X), "must be an array without a mask, got a masked array", X),
    (p, np.array(7, np.uint32), "must have 1 axis, got shape ()", X),
    (p, X.reshape(2, 2), "must have 1 axis, got shape (2, 2)", X),
    (changed, X.reshape(2, 2).copy(), "must have 1 axis, got shape (2, 2)", X.copy()),
    (rows, X, "must have 2 axes, got shape (4,)", X.reshape(4, 1)),
    (solid, X, "must have 3 axes, got shape (4,)", X.reshape(4, 1, 1)),
    (pairs, X, "must have 1 axis and shape (..., 2), got shape (4,)", X.reshape(-1, 2)),
    (changed, READ_ONLY, "is written, and the array is read-only", READ_ONLY.copy()),
]
NAMES = [f"{call.name}-{type(value).__name__}-{k}" for k, (call, value, *_) in enumerate(CASES)]


def fix_of(problem):
    must = re.match(r"must (be|have) (.*), got ", problem)
    if must is None:
        return "pass a writable, C-contiguous array"
    return f"pass {'one with ' if must[1] == 'have' else ''}{must[2]}"


@pytest.mark.parametrize(("call", "value", "problem", "right"), CASES, ids=NAMES)
def test_a_wrong_array_is_told_and_the_fix_runs(target, call, value, problem, right):
    with refused(BindingError, f"argument `x` of procedure `{call.name}` {problem}", fix_of(problem)):
        call(value, **target)
    given = right.copy()
    result = call(given, **target)
    if call is changed:
        assert given.tolist() == (right + 1).tolist()
    elif call is not pairs:
        factor = 1 if call is from_bytes else 2
        assert result.tolist() == (right.reshape(-1).astype(np.uint32) * factor).tolist()


@pytest.mark.parametrize(("call", "value", "problem", "right"), CASES[:-1], ids=NAMES[:-1])
def test_inputs_by_name_are_told_the_same(call, value, problem, right):
    with refused(BindingError, f"array `x` of procedure `{call.name}` {problem}", fix_of(problem)):
        vyre.run(call.procedure, {"x": value}, backend="cpu")
    vyre.run(call.procedure, {"x": right}, backend="cpu")


@pytest.mark.parametrize(
    ("out", "kind", "told"),
    [
        (LIST, BindingError, "an object of type list"),
        (np.ma.zeros(4, np.uint32), BindingError, "an object of type MaskedArray"),
        (np.zeros(4, np.int64), BindingError, "one of int64 with shape (4,)"),
        (np.zeros(4, X.dtype.newbyteorder()), BindingError, f"one of {X.dtype.newbyteorder()} with shape (4,)"),
        (np.zeros(3, np.uint32), ArgumentError, "one of uint32 with shape (3,)"),
        (np.zeros((2, 4), np.uint32), ArgumentError, "one of uint32 with shape (2, 4)"),
    ],
)
def test_a_wrong_array_for_the_result_is_told_what_it_has_to_be(target, out, kind, told):
    wanted = "an array of uint32 with shape (4,) for `scratch`"
    with refused(kind, f"argument `out` of procedure `p` must be {wanted}, got {told}", f"pass {wanted}"):
        p(X, out=out, **target)
    made = np.zeros((4,), np.uint32)
    assert p(X, out=made, **target) is made


def test_an_array_for_the_result_that_is_read_only_is_refused():
    with refused(
        BindingError,
        "argument `out` of procedure `p` is written, and the array is read-only",
        "pass a writable, C-contiguous array",
    ):
        p(X, out=READ_ONLY, backend="cpu")


def test_a_wrong_number_of_arrays_for_results_is_told():
    a, b = np.zeros(4, np.uint32), np.zeros(4, np.uint32)
    for call, out, told in (
        (p, (a, b), "must be 1 array, got 2. Fix: pass 1 array."),
        (changed, a, "must be no arrays, got 1. Fix: pass no arrays."),
        (split, a, "must be 2 arrays, got 1. Fix: pass 2 arrays."),
    ):
        with pytest.raises(ArgumentError) as caught:
            call(X.copy(), out=out, backend="cpu")
        assert str(caught.value) == f"argument `out` of procedure `{call.name}` {told}"
    split(X, out=(a, b), backend="cpu")
    assert a.tolist() == b.tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize("backend", ["reference", "cpu"])
def test_a_call_of_numpy_arrays_runs_where_its_resident_result_lies(backend):
    out = vyre.empty(4, np.uint32, backend=backend)
    assert p(X, out=out) is out
    assert out.numpy().tolist() == [0, 2, 4, 6]
    other = "cpu" if backend == "reference" else "reference"
    with pytest.raises(BindingError, match="got arrays of two devices"):
        p(X, out=out, backend=other)


def ravelled(x):
    y = vyre.scratch(u32, x.ravel().length)
    doubled(x.ravel(), y)
    return y


@pytest.mark.parametrize(
    ("wrong", "told", "right"),
    [
        (lambda x: x.reshape(-1), "has no attribute `reshape`. Fix: write .ravel() for all elements on one axis", None),
        (lambda x: x.flatten(), "has no attribute `flatten`. Fix: write .ravel() for all elements on one axis.", None),
        (lambda x: x.size, "has no attribute `size`. Fix: write .ravel().length.", None),
        (lambda x: x.ndim, "has no attribute `ndim`. Fix: write len(array.shape).", lambda x: len(x.shape)),
        (
            lambda x: x.astype(np.int32),
            "has no attribute `astype`. Fix: convert in a kernel, or write .view(vyre.u32) for the same bytes.",
            lambda x: x.view(vyre.u32),
        ),
        (
            lambda x: x[-1:],
            "has begin -1, and negative numbers do not count from the end in a procedure. Fix: write "
            "`array.length - 1` for it.",
            lambda x: x[x.length - 1 :],
        ),
        (
            lambda x: x[:-2],
            "has end -2, and negative numbers do not count from the end in a procedure. Fix: write "
            "`array.length - 2` for it.",
            lambda x: x[: x.length - 2],
        ),
    ],
)
def test_what_arrays_in_a_body_do_not_have_is_told(wrong, told, right):
    def made(act):
        @vyre.procedure
        def f(x: In[u32]):
            act(x)
            return ravelled(x)

        return f

    with pytest.raises((ArgumentError, AttributeError), match=re.escape(told)):
        made(wrong)(X, backend="cpu")
    assert made(right or (lambda x: x.ravel().length))(X, backend="cpu").tolist() == [0, 2, 4, 6]


def test_an_array_of_a_procedure_is_no_resident_array_and_one_fix_says_so():
    @vyre.procedure
    def f(x: In[u32]):
        vyre.array(x)

    with refused(
        ArgumentError,
        "argument `values` of vyre.array cannot be an array: the array `x` of a procedure has no elements "
        "while the procedure is recorded",
        "compute with it in a kernel",
    ):
        f(X, backend="cpu")


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("out", "parameter `out` has no annotation"),
        ("out: list", "parameter `out` is annotated with list, which says neither role nor type"),
    ],
)
def test_a_parameter_of_a_procedure_without_a_type_is_told_and_the_fix_runs(target, write_module, written, problem):
    text = "import vyre\n\ndef q({}):\n    counted_up(out)\n"
    with pytest.raises(ArgumentError) as caught:
        vyre.procedure(write_module("untyped", text.format(written)).q)
    fixed = "out: vyre.InOut[vyre.u32]"
    assert str(caught.value) == f"procedure `q`: {problem}. Fix: write `{fixed}`."
    module = write_module("typed", text.format(fixed))
    module.counted_up = counted_up
    x = X.copy()
    vyre.procedure(module.q)(x, **target)
    assert x.tolist() == [1, 2, 3, 4]
