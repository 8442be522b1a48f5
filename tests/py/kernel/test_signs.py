"""Python integers with a sign in kernels: beside values without one, in conditional expressions, and assigned."""

import pickle

import numpy as np
import pytest

import vyre
from vyre import In, Out, i32, u8, u32, u64

SIGNED = np.array([-3, -1, 0, 1, 7, -(2**31)], np.int32)


@pytest.mark.parametrize(("element", "dtype"), [(u8, np.uint8), (u32, np.uint32), (u64, np.uint64)])
def test_a_negative_integer_beside_a_value_without_a_sign_is_the_other_operator(target, element, dtype):
    @vyre.kernel
    def around(x: In[element], out: Out[element]):
        i = vyre.gid(0)
        if i < len(x):
            total = x[i] - x[i]
            for step in (-1, 0, 1):
                total += x[i] + step
            out[i] = (-2 + total) - -5

    x = np.arange(1, 8, dtype=dtype)
    assert around(x, **target).tolist() == (3 * x + 3).astype(x.dtype).tolist()


def test_a_conditional_expression_of_integers_takes_the_type_of_where_it_goes(target):
    @vyre.kernel
    def sign(x: In[i32], out: Out[i32], scaled: Out[i32], wide: Out[u64]):
        i = vyre.gid(0)
        if i < len(x):
            out[i] = -1 if x[i] < 0 else (1 if x[i] > 0 else 0)
            scaled[i] = (2 if x[i] < 0 else 3) * (x[i] + -1)
            wide[i] = 5 if x[i] < 0 else 2**40

    out, scaled, wide = sign(SIGNED, **target)
    x = SIGNED.astype(np.int64)
    assert out.tolist() == np.sign(x).tolist()
    assert scaled.tolist() == (np.where(x < 0, 2, 3) * (x - 1)).astype(np.int32).tolist()
    assert wide.tolist() == np.where(x < 0, 5, 2**40).tolist()


def test_a_comparison_is_a_boolean_in_an_array_of_boolean(target):
    @vyre.kernel
    def compare(x: In[i32], low: Out[vyre.boolean], inner: Out[vyre.boolean]):
        i = vyre.gid(0)
        if i < len(x):
            low[i] = x[i] < 0
            inner[i] = (x[i] > -2) & (x[i] < 7)

    low, inner = compare(SIGNED, **target)
    assert low.dtype == np.bool_
    assert low.tolist() == (SIGNED < 0).tolist()
    assert inner.tolist() == ((SIGNED > -2) & (SIGNED < 7)).tolist()


def test_a_comparison_is_a_boolean_through_variables_too(target):
    @vyre.kernel
    def compare(x: In[i32], low: Out[vyre.boolean], other: Out[vyre.boolean], found: Out[vyre.boolean], one: Out[u32]):
        i = vyre.gid(0)
        if i < len(x):
            b = x[i] < 0
            again = b
            low[i] = again
            one[i] = b + 1  # a comparison is a u32 everywhere else
            inner = x[i] < 7
            other[i] = inner & b if x[i] != -1 else not inner
            is_found = False
            for k in range(8):
                if x[i] == vyre.i32(k):
                    is_found = True
                is_found = is_found or x[i] == -3
            found[i] = is_found

    low, other, found, one = compare(SIGNED, **target)
    assert low.tolist() == (SIGNED < 0).tolist()
    assert one.tolist() == ((SIGNED < 0) + 1).tolist()
    assert other.tolist() == [(x < 7 and x < 0) if x != -1 else not x < 7 for x in SIGNED.tolist()]
    assert found.tolist() == [x in range(8) or x == -3 for x in SIGNED.tolist()]


def test_operators_of_booleans_are_conditions(target):
    @vyre.kernel
    def conditions(a: In[vyre.boolean], b: In[vyre.boolean], out: Out[u32], neither: Out[vyre.boolean]):
        i = vyre.gid(0)
        out[i] = 1 if not (a[i] & b[i]) else 0
        one = a[i] ^ b[i]
        if not one and not (a[i] == b[i]):
            out[i] = 9
        if (a[i] | b[i]) and not i == 0:
            out[i] += 2
        chosen = a[i] if i > 1 else b[i]
        while not chosen:
            out[i] += 4
            break
        neither[i] = not (a[i] | b[i])

    a, b = np.array([1, 1, 0, 0], bool), np.array([1, 0, 1, 0], bool)
    out, neither = conditions(a, b, **target)
    i = np.arange(4)
    assert out.tolist() == (~(a & b) + 2 * ((a | b) & (i > 0)) + 4 * ~np.where(i > 1, a, b)).tolist()
    assert neither.tolist() == (~(a | b)).tolist()


def test_a_variable_that_is_a_comparison_on_some_paths_alone_is_no_boolean():
    @vyre.kernel
    def compare(x: In[u32], low: Out[vyre.boolean], other: Out[vyre.boolean]):
        i = vyre.gid(0)
        b = x[i] < 3
        c = b
        for k in range(2):
            low[i] = b
            if x[i] > k:
                b = x[i]
            if x[i] > 7:
                c = 2
        other[i] = c

    with pytest.raises(vyre.KernelError) as raised:
        compare.text  # noqa: B018
    found = [each.message.split(" Fix")[0].split(": ")[1] for each in raised.value.diagnostics]
    assert found == [f"store to buffer `{name}` must be `bool`, got `u32`." for name in ("low", "other")]


def test_a_conditional_expression_of_integers_takes_its_type_through_a_variable(target):
    @vyre.kernel
    def sign(x: In[i32], out: Out[i32], scaled: Out[i32], wide: Out[u64]):
        i = vyre.gid(0)
        if i < len(x):
            r = 1 if x[i] > 0 else 2
            out[i] = r
            by = 2 if x[i] < 0 else 3
            scaled[i] = (x[i] + -1) * by
            large = 5 if x[i] < 0 else 2**31
            wide[i] = large

    out, scaled, wide = sign(SIGNED, **target)
    x = SIGNED.astype(np.int64)
    assert out.tolist() == np.where(x > 0, 1, 2).tolist()
    assert scaled.tolist() == (np.where(x < 0, 2, 3) * (x - 1)).astype(np.int32).tolist()
    assert wide.tolist() == np.where(x < 0, 5, 2**31).tolist()


def test_variables_that_pass_an_integer_on_have_one_type(target):
    def chosen(value):
        return 3 if value > 0 else 7

    @vyre.kernel
    def sign(x: In[i32], out: Out[i32], least: Out[i32]):
        i = vyre.gid(0)
        if i < len(x):
            r = 1 if x[i] > 0 else 2
            if x[i] == 7:
                r = -1
            for _ in range(3):
                if x[i] == -3:
                    r = chosen(x[i])
            out[i] = r
            limit = 3 if x[i] < 0 else 5
            other = 1
            if x[i] == 0:
                other = 2
            least[i] = min(x[i], limit) + other + (other if x[i] < 1 else x[i])

    out, least = sign(SIGNED, **target)
    x = SIGNED.astype(np.int64)
    assert out.tolist() == np.where(x == 7, -1, np.where(x == -3, 7, np.where(x > 0, 1, 2))).tolist()
    other = np.where(x == 0, 2, 1)
    wide = np.minimum(x, np.where(x < 0, 3, 5)) + other + np.where(x < 1, other, x)
    assert least.tolist() == wide.astype(np.int32).tolist()


def test_a_let_of_a_program_by_hand_has_a_type_of_its_own():
    first = vyre.Expr.gid_x() == 0
    for kind, value in ((i32, vyre.select(first, 1, 2)), (vyre.boolean, first)):
        out = vyre.BufferDecl.output("out", 0, kind)
        body = [vyre.Node.let("r", value), vyre.Node.store("out", 0, vyre.Expr.var("r"))]
        with pytest.raises(
            vyre.ValidationError, match=f"store to buffer `out` must be `{kind.name.lower()}`, got `u32`"
        ):
            vyre.run(vyre.Program([out], [1, 1, 1], body), {"out": 1}, 1, backend="reference")


def test_a_variable_that_is_a_negative_integer_somewhere_has_a_sign(target):
    @vyre.kernel
    def sign(x: In[i32], out: Out[i32], last: Out[i32]):
        i = vyre.gid(0)
        if i < len(x):
            r = 1
            if x[i] < 0:
                r = -1
            out[i] = r
            at = -1
            for _k in range(3):
                if x[i] > 0:
                    at = 5
            last[i] = at

    out, last = sign(SIGNED, **target)
    assert out.tolist() == np.where(SIGNED < 0, -1, 1).tolist()
    assert last.tolist() == np.where(SIGNED > 0, 5, -1).tolist()


def test_a_conditional_expression_may_have_many_integers(target):
    value = vyre.select(vyre.Expr.gid_x() == 0, -1, 0)
    for k in range(1, 200):
        value = vyre.select(vyre.Expr.gid_x() == k, -k - 1, value)
    out = vyre.BufferDecl.read_write("out", 0, i32)
    for each in (value, pickle.loads(pickle.dumps(value))):
        program = vyre.Program([out], [1, 1, 1], [vyre.Node.store("out", vyre.Expr.gid_x(), each)])
        found = vyre.run(program, {"out": np.zeros(201, np.int32)}, workgroups=201, **target)["out"]
        assert found.tolist() == [-k - 1 for k in range(200)] + [0]
