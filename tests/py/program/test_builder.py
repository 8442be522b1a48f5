"""Programs spelled out with vyre.Builder, and that kernels and builders come to the same words."""

import numpy as np
import pytest

import builder_forms
import kernels
import vyre
from conftest import refused
from vyre import In, Out, u32


def words(program):
    return vyre.lower(program, "spirv-asm")


def test_statements_stand_where_they_are_written(target):
    p = vyre.Builder(workgroup_size=64)
    a, out = p.read("a", u32), p.output("out", u32)
    i = p.let("i", vyre.gid(0))
    total = p.let("total", 0)
    with p.loop("k", 0, i) as k:
        with p.if_(a[k] % 2 == 0):
            p.assign(total, total + a[k])
        with p.else_():
            p.assign(total, total ^ 1)
    out[i] = total
    a_ = np.arange(1, 9, dtype=np.uint32)

    def wanted(i):
        t = 0
        for v in a_[:i].tolist():
            t = t + v if v % 2 == 0 else t ^ 1
        return t

    given = vyre.run(p.program(), {"a": a_, "out": 8}, 1, **target)["out"]
    assert given.tolist() == [wanted(i) for i in range(8)]


def test_break_leaves_the_innermost_loop(target):
    p = vyre.Builder(workgroup_size=4)
    out = p.output("out", u32)
    n = p.let("n", 0)
    with p.loop("k", 0, 100) as k:
        with p.if_(k == vyre.gid(0) + 3):
            p.break_()
        p.assign(n, n + 1)
    out[vyre.gid(0)] = n
    assert vyre.run(p.program(), {"out": 4}, 1, **target)["out"].tolist() == [3, 4, 5, 6]


def test_a_shared_array_is_atomic_where_an_atomic_touches_it(target):
    p = vyre.Builder(workgroup_size=8)
    out, hits = p.output("out", u32), p.shared("hits", u32, 4)
    hits.atomic_add(vyre.lid(0) % 3, 1)
    p.barrier()
    with p.if_(vyre.lid(0) < 4):
        out[vyre.lid(0)] = hits[vyre.lid(0)]
    assert vyre.run(p.program(), {"out": 4}, 1, **target)["out"].tolist() == [3, 3, 2, 0]


def test_a_local_array_belongs_to_its_invocation(target):
    p = vyre.Builder(workgroup_size=4)
    out, mine = p.output("out", u32), p.local("mine", u32, 4)
    mine[vyre.gid(0)] = vyre.gid(0) + 5
    out[vyre.gid(0)] = mine[vyre.gid(0)] + mine[3]
    assert vyre.run(p.program(), {"out": 4}, 1, **target)["out"].tolist() == [5, 6, 7, 16]


def xor(p, i, left, right, out):
    with p.if_(i < vyre.Expr.buf_len("out")):
        out[i] = left[i] ^ right[i]


@vyre.kernel(workgroup_size=64)
def xor_kernel(left: In[u32], right: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    if i < len(out):
        out[i] = left[i] ^ right[i]


def clamp(p, i, left, right, out):
    x = p.let("x", left[i])
    y = p.let("y", x)
    with p.if_(x > right[i]):
        p.assign(y, right[i])
    out[i] = y


@vyre.kernel(workgroup_size=64)
def clamp_kernel(left: In[u32], right: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    y = left[i]
    if y > right[i]:
        y = right[i]
    out[i] = y


def total(p, i, left, right, out):
    t = p.let("t", 0)
    with p.loop("k", 0, left[i]) as k:
        p.assign(t, t + right[k])
    out[i] = t


@vyre.kernel(workgroup_size=64)
def total_kernel(left: In[u32], right: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    t = 0
    for k in range(left[i]):
        t += right[k]
    out[i] = t


def choose(p, i, left, right, out):
    out[i] = vyre.select(left[i] < 5, right[i] * 3, right[i] + 1)


@vyre.kernel(workgroup_size=64)
def choose_kernel(left: In[u32], right: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    out[i] = right[i] * 3 if left[i] < 5 else right[i] + 1


def guard(p, i, left, right, out):
    with p.if_(vyre.logical_or(left[i] == 0, right[i] == 0)):
        p.return_()
    out[i] = left[i] // right[i]


@vyre.kernel(workgroup_size=64)
def guard_kernel(left: In[u32], right: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    if left[i] == 0 or right[i] == 0:
        return
    out[i] = left[i] // right[i]


def search(p, i, left, right, out):
    with p.loop("k", 0, vyre.Expr.buf_len("right")) as k, p.if_(right[k] == left[i]):
        out[i] = k + 1
        p.break_()


@vyre.kernel(workgroup_size=64)
def search_kernel(left: In[u32], right: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    for k in range(len(right)):
        if right[k] == left[i]:
            out[i] = k + 1
            break


def rounds(p, i, left, right, out):
    x, y = left[i], right[i]
    for n in range(4):
        x = p.let("x", (x ^ y).rotl(7) + n)
        y = p.let("y", y * 5)
    out[i] = x ^ y


@vyre.kernel(workgroup_size=64)
def rounds_kernel(left: In[u32], right: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    x, y = left[i], right[i]
    for n in vyre.unroll(range(4)):
        x = (x ^ y).rotl(7) + n
        y = y * 5
    out[i] = x ^ y


def wide(p, i, left, right, out):
    product = p.let("product", vyre.u64(left[i]) * vyre.u64(right[i]))
    out[i] = product.hi ^ product.lo


@vyre.kernel(workgroup_size=64)
def wide_kernel(left: In[u32], right: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    product = vyre.u64(left[i]) * vyre.u64(right[i])
    out[i] = product.hi ^ product.lo


def signed(p, i, left, right, out):
    out[i] = vyre.u32(abs(vyre.i32(left[i]) - vyre.i32(right[i])))


@vyre.kernel(workgroup_size=64)
def signed_kernel(left: In[u32], right: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    out[i] = vyre.u32(abs(vyre.i32(left[i]) - vyre.i32(right[i])))


def folded(p, i, left, right, out):
    out[i] = vyre.min(vyre.min(left[i], right[i]), 9) + vyre.max(left[i], 3)


@vyre.kernel(workgroup_size=64)
def folded_kernel(left: In[u32], right: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    out[i] = min(left[i], right[i], 9) + max(left[i], 3)


SAME = {
    "xor": (xor, xor_kernel),
    "clamp": (clamp, clamp_kernel),
    "total": (total, total_kernel),
    "choose": (choose, choose_kernel),
    "guard": (guard, guard_kernel),
    "search": (search, search_kernel),
    "rounds": (rounds, rounds_kernel),
    "wide": (wide, wide_kernel),
    "signed": (signed, signed_kernel),
    "folded": (folded, folded_kernel),
}


@pytest.mark.parametrize("name", SAME)
def test_a_kernel_and_its_builder_form_give_the_same_words(name):
    body, kernel = SAME[name]
    p = vyre.Builder(workgroup_size=64)
    left, right, out = p.read("left", u32), p.read("right", u32), p.output("out", u32)
    body(p, p.let("i", vyre.gid(0)), left, right, out)
    assert words(p.program()) == words(kernel.program)


def test_else_stands_after_an_if():
    p = vyre.Builder()
    p.output("out", u32)
    with pytest.raises(vyre.ArgumentError) as caught, p.else_():
        pass
    assert str(caught.value) == (
        "else_ stands after no if_. Fix: write `with p.else_():` right after the body of `with p.if_(...):`."
    )


def in_else(p, out):
    with p.else_():
        out[2] = 2


@pytest.mark.parametrize(
    "between",
    [
        lambda p, out: out.__setitem__(1, 7),
        lambda p, out: out.atomic_add(1, 7),
        lambda p, out: out[1],
        lambda p, out: p.let("x", 1),
        lambda p, out: p.barrier(),
        lambda p, out: in_else(p, out),
    ],
)
def test_no_statement_stands_between_an_if_and_its_else(between):
    """Seen: a store there was deleted, and the body of the `if` stood twice in the program."""
    p = vyre.Builder(workgroup_size=1)
    out = p.output("out", u32)
    with p.if_(1):
        out.atomic_add(0, 1)
    between(p, out)
    with pytest.raises(vyre.ArgumentError, match="else_ stands after no if_"):
        in_else(p, out)


def test_an_else_that_is_begun_after_another_statement_is_refused():
    p = vyre.Builder(workgroup_size=1)
    out = p.output("out", u32)
    with p.if_(1):
        out[0] = 1
    other = p.else_()
    out[1] = 9
    with pytest.raises(vyre.ArgumentError, match="else_ stands after no if_"), other:
        out[2] = 2


def test_an_else_may_hold_ifs_of_its_own(target):
    p = vyre.Builder(workgroup_size=4)
    out = p.output("out", u32)
    i = p.let("i", vyre.gid(0))
    with p.if_(i == 0):
        out[i] = 10
    with p.else_():
        with p.if_(i == 1):
            out[i] = 11
        with p.else_():
            out[i] = 12
    assert vyre.run(p.program(), {"out": 4}, 1, **target)["out"].tolist() == [10, 11, 12, 12]


def test_a_body_is_entered_once_and_left_in_order():
    p = vyre.Builder(workgroup_size=1)
    out = p.output("out", u32)
    body = p.if_(1)
    with body:
        out[0] = 1
    with pytest.raises(vyre.ArgumentError) as caught, body:
        out[1] = 1
    assert str(caught.value) == (
        "the body of a statement was entered twice. Fix: call p.if_, p.else_ or p.loop once for each with-block."
    )
    one, other = p.if_(1), p.if_(1)
    one.__enter__()
    other.__enter__()
    with refused(
        vyre.ArgumentError,
        "a body was left before the bodies inside of it",
        "write nested with-blocks, which end in order",
    ):
        one.__exit__(None, None, None)


def test_a_program_is_made_after_its_bodies():
    p = vyre.Builder()
    out = p.output("out", u32)
    with p.if_(vyre.gid(0) < 3):
        out[vyre.gid(0)] = 1
        with pytest.raises(vyre.ArgumentError) as caught:
            p.program()
    assert str(caught.value) == "Builder.program was called in an open body. Fix: call it after the with-blocks."


def test_two_buffers_have_two_names():
    p = vyre.Builder()
    p.read("a", u32)
    with refused(vyre.ArgumentError, "the program has something called `a` already", "give the buffer another name"):
        p.read("a", u32)


@pytest.mark.parametrize("form", builder_forms.FORMS, ids=lambda form: form.__name__)
def test_a_whole_kernel_and_its_builder_form_give_the_same_words(form):
    assert words(form()) == words(getattr(kernels, form.__name__).program)


def test_arrays_of_two_axes_and_scalars_are_words_of_params(target):
    """The sizes first, then a U64 as its low and its high word, an I32 and a Bool, as they were declared."""
    p = vyre.Builder(workgroup_size=(2, 3))
    out, mine = p.output("out", vyre.u64, axes=2), p.local("mine", u32, (2, 2))
    wide, low, flag = p.scalar(vyre.u64), p.scalar(vyre.i32), p.scalar(vyre.boolean)
    mine[1, 1] = vyre.gid(0)
    out[vyre.gid(1), vyre.gid(0)] = wide + vyre.u64(mine[1, 1]) + vyre.u64(vyre.select(flag, vyre.u32(low + 9), 7))
    program = p.program()
    params = np.array([2, 2, 5, 1, 2**32 - 3, 1], np.uint32)
    given = vyre.run(program, {"out": np.zeros((2, 2), np.uint64), "__params": params}, 1, **target)["out"]
    # The third row of invocations lies outside of the array.
    assert given.tolist() == [[2**32 + 11, 2**32 + 12]] * 2


def test_a_wrong_number_of_axes_is_refused():
    with refused(
        vyre.ArgumentError,
        "argument `axes` of vyre.Builder must be an int from 1 to 3, got 0",
        "pass an int from 1 to 3",
    ):
        vyre.Builder().read("a", u32, axes=0)


def stored_to(array):
    array[0] = 1


def of_no_use(array):
    return array.lenght


@pytest.mark.parametrize(
    ("access", "wrong", "problem", "fix"),
    [
        ("output", len, "the length of `a` is unknown while the program is built", "write a.shape[0]"),
        (
            "output",
            list,
            "array `a` is iterated over, but its length is unknown while the program is built",
            'write `with p.loop("j", 0, a.shape[0]) as j:` and read a[j]',
        ),
        ("output", bool, "array `a` is used as a condition", "compare an element, as in a[i] != 0"),
        ("output", lambda a: a[-1], "`a` is indexed with -1", "write a[a.shape[0] - 1] to count from the end"),
        ("read", stored_to, "buffer `a` is declared with read", "declare it with read_write to change it"),
        ("output", of_no_use, "array `a` has no attribute `lenght`", "use a[i], a.shape[0], a.size or an atomic"),
    ],
)
def test_a_wrong_use_of_an_array_of_a_builder_is_an_argument_error(access, wrong, problem, fix):
    p = vyre.Builder(workgroup_size=64)
    a = getattr(p, access)("a", vyre.u32)
    with refused(vyre.ArgumentError, problem, fix):
        wrong(a)


def test_what_the_errors_of_a_builders_arrays_say_to_write_runs():
    p = vyre.Builder(workgroup_size=1)
    a, out = p.read_write("a", vyre.u32), p.output("out", vyre.u32)
    out[0] = a.shape[0]
    out[1] = a[a.shape[0] - 1]
    total = p.let("total", vyre.u32(0))
    with p.loop("j", 0, a.shape[0]) as j:
        p.assign(total, total + a[j])
    out[2] = total
    a[0] = 9
    given = {"a": np.array([5, 6, 7], np.uint32), "out": 3}
    made = vyre.run(p.program(), given, 1, backend="reference")
    assert made["out"].tolist() == [3, 7, 18]
    assert made["a"].tolist() == [9, 6, 7]


def test_a_table_is_a_buffer_behind_the_others_whose_values_a_call_gives(target):
    p = vyre.Builder(workgroup_size=(2, 2))
    out, steps = p.output("out", u32, axes=2), np.array([[5, 6], [7, 8], [9, 10]], np.uint8)
    table, factor = p.table("steps", steps), p.scalar(u32)
    steps[:] = 0  # the values were copied
    y, x = vyre.gid(1), vyre.gid(0)
    out[y, x] = table[y + 1, 1 - x] * factor
    program = p.program()
    assert [(each.name, each.binding) for each in program.buffers] == [("out", 0), ("__params", 1), ("steps", 2)]
    given = {"out": np.zeros((2, 2), np.uint32), "__params": np.array([2, 2, 3], np.uint32), **p.tables}
    assert vyre.run(program, given, 1, **target)["out"].tolist() == [[24, 21], [30, 27]]


@pytest.mark.parametrize(
    ("values", "problem", "fix"),
    [
        (
            [1, 2],
            "argument `values` of Builder.table must be a numpy array, got [1, 2]",
            "pass a numpy array",
        ),
        (
            np.array(3, np.uint32),
            "argument `values` of Builder.table must have elements along one to three axes, got shape ()",
            "pass one with elements along one to three axes",
        ),
        (
            np.zeros(3),
            "argument `values` of Builder.table is an array of float64, and programs have integers alone",
            "write values.astype(np.uint32)",
        ),
    ],
)
def test_a_table_of_what_has_no_elements_is_refused(values, problem, fix):
    with refused(vyre.ArgumentError, problem, fix):
        vyre.Builder().table("t", values)


def test_an_operator_in_place_on_a_variable_is_refused():
    p = vyre.Builder(workgroup_size=1)
    out = p.output("out", u32)
    acc = p.let("acc", vyre.u32(5))
    other = acc * 2
    other += acc  # another expression, which no let gave
    with refused(
        vyre.ArgumentError,
        "`acc += 10` gives the name in Python another expression, and variable `acc` of the program keeps its value",
        "write p.assign(acc, acc + 10) to change the variable, or acc = acc + 10 for another expression",
    ):
        acc += 10
    with pytest.raises(vyre.ArgumentError, match=r"^`acc <<= value` gives .* write p\.assign\(acc, acc << value\)"):
        acc <<= acc
    p.assign(acc, acc + 10)
    out[0] = acc
    acc = acc + 10
    out[1] = acc
    out[2] = other
    assert vyre.run(p.program(), {"out": 3}, 1, backend="reference")["out"].tolist() == [15, 25, 45]


def error_of(write):
    """The error of a builder's program, without the file's folder, for what `write` does with arrays and an index."""
    p = vyre.Builder(workgroup_size=1)
    a, out = p.read("a", u32, axes=2), p.output("out", u32)
    write(a, out, p.let("j", vyre.i32(vyre.gid(0))))
    with pytest.raises(vyre.ValidationError) as caught:
        p.program()
    (diagnostic,) = caught.value.diagnostics
    return diagnostic.rule, diagnostic.message.removeprefix("vyre IR validation: ")


def test_a_mistake_in_a_builders_program_is_told_in_the_words_of_its_source():
    def index(a, out, j):
        out[0] = a[j, 0] + 1

    assert error_of(index) == ("V027", "an index of `a[j, 0]` must be `u32`, got `i32`. Fix: wrap it in vyre.u32(...).")
    p = vyre.Builder(workgroup_size=1)
    a, out = p.read("a", u32, axes=2), p.output("out", u32)
    j = p.let("j", vyre.i32(vyre.gid(0)) + 1)
    out[0] = a[vyre.u32(j), 0] + 1
    given = {"a": np.array([[3, 4], [7, 8]], np.uint32), "out": 1, "__params": np.array([2, 2], np.uint32)}
    assert vyre.run(p.program(), given, 1, backend="reference")["out"].tolist() == [8]
