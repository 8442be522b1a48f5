"""Uses of procedures that must not give a wrong byte or an untyped exception."""

import math
import re
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import vyre
from conftest import refused
from small_kernels import doubled
from threads import in_threads
from vyre import In, InOut, Out, const, u8, u32
from vyre._procedure.recorder import Recorder
from vyre._procedure.sizes import Size, divisor_of, substituted
from vyre.errors import ArgumentError, BindingError


@vyre.kernel
def add(y: InOut[u32], k: u32):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = y[i] + k


@vyre.kernel
def widened(x: In[u8], y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = u32(x[i])


@vyre.procedure
def double(x: In[u32]):
    y = vyre.scratch(u32, x.length, name="y")
    doubled(x, y)
    return y


@vyre.procedure
def both(x: InOut[u32], y: InOut[u32]):
    add(x, 1)
    add(y, 2)


def numbers(n):
    return np.arange(n, dtype=np.uint32)


def test_a_result_of_one_element_does_not_fill_a_longer_out():
    out = np.full(3, 9, np.uint32)
    with pytest.raises(ArgumentError, match=re.escape("must be an array of uint32 with shape (1,)")):
        double(numbers(1) + 5, out=out, backend="cpu")
    assert out.tolist() == [9, 9, 9]


@pytest.mark.parametrize("second", [slice(0, 4), slice(2, 6)])
def test_numpy_arrays_that_are_written_do_not_overlap(second):
    x = numbers(8)
    with refused(
        BindingError,
        "arguments `x` and `y` of procedure `both` overlap in memory, and both are written",
        "give each its own array, for instance a copy",
    ):
        both(x[:4], x[second], backend="cpu")
    assert x.tolist() == list(range(8))
    copy = x[second].copy()
    both(x[:4], copy, backend="cpu")
    assert x.tolist() == [1, 2, 3, 4, 4, 5, 6, 7]
    assert np.array_equal(copy, numbers(8)[second] + 2)


def test_a_memoryview_with_gaps_gives_its_bytes():
    @vyre.procedure
    def wide(x: In[u8]):
        y = vyre.scratch(u32, x.length)
        widened(x, y)
        return y

    assert wide(memoryview(b"abcd")[::2], backend="cpu").tolist() == [97, 99]


def nested(levels):
    """A procedure that invokes another one, which does so too: this many with itself."""

    def level(k, inner):
        @vyre.procedure(name=f"level{k}")
        def made(y: InOut[u32]):
            inner(y)

        return made

    function = lambda y: add(y, 1)  # noqa: E731
    for k in range(levels):
        function = level(k, function)
    return function


@pytest.mark.parametrize(
    ("levels", "told"), [(33, "33 deep"), (64, "33 deep"), (66, "more than 64 deep"), (1000, "more than 64 deep")]
)
def test_invocations_that_nest_deeper_than_a_procedure_may_are_refused(levels, told):
    y = np.zeros(3, np.uint32)
    nested(32)(y, backend="cpu")
    assert y.tolist() == [1, 1, 1]
    with pytest.raises(ArgumentError) as refused:
        nested(levels)(y, backend="cpu")
    assert re.fullmatch(
        rf"procedure `level\d+` nests invocations {told}, and at most 32 are allowed\. Fix: invoke fewer levels\.",
        str(refused.value),
    )
    assert y.tolist() == [1, 1, 1]


@pytest.mark.parametrize("n", [0, 1, 2, 4, 300])
def test_a_grid_from_an_array_that_has_not_three_counts_is_refused(target, n):
    @vyre.procedure(name="p")
    def wrong(y: InOut[u32], counts: In[u32]):
        add(y, 1, workgroups=counts, at_most=4)  # not three counts

    @vyre.procedure(name="p")
    def right(y: InOut[u32], counts: In[u32]):
        add(y, 1, workgroups=counts[0:3], at_most=4)

    y = np.zeros(2, np.uint32)
    source = Path(__file__).read_text().splitlines()
    line = next(number for number, text in enumerate(source, 1) if text.endswith("# not three counts"))
    for call, place in (
        (lambda: wrong(y, np.ones(n, np.uint32), **target), f" ({__file__}:{line})"),
        (lambda: vyre.run(vyre.Procedure.parse(wrong.text), {"y": y, "counts": np.ones(n, np.uint32)}, **target), ""),
        (lambda: wrong.check(y, np.ones(n, np.uint32)), f" ({__file__}:{line})"),
    ):
        with refused(
            BindingError,
            f"dispatch `add` in procedure `p` at steps[0]{place}: the array `counts` of its grid must be "
            f"one of three counts, got {n}",
            "pass one of three counts",
        ):
            call()
    if n >= 3:
        right(y, np.ones(n, np.uint32), **target)
        wrong(y, np.ones(3, np.uint32), **target)
        assert y.tolist() == [2, 2]


NOT_OF_CONDITIONS = "write `% 2**k` for the low k bits, or vyre.size_min(a, b) for both of two conditions"
NO_SHIFT = "for an integer k, or compute it in the kernel, which is given the size"
NO_FRACTIONS = "leave it out: sizes are integers"


@pytest.mark.parametrize(
    ("wrong", "operator", "on", "fix", "right", "length"),
    [
        (lambda n: n / 2, "/", "n", "write `//`, which rounds down, or vyre.ceil_div(a, b)", lambda n: n // 2, 2),
        (lambda n: n << 1, "<<", "n", f"write `* 2**k` {NO_SHIFT}", lambda n: n * 2**1, 10),
        (lambda n: 2 << n, "<<", "n", f"write `* 2**k` {NO_SHIFT}", lambda n: n * 2**1, 10),
        (lambda n: n >> 1, ">>", "n", f"write `// 2**k` {NO_SHIFT}", lambda n: n // 2**1, 2),
        (lambda n: n & 3, "&", "n", NOT_OF_CONDITIONS, lambda n: n % 2**2, 1),
        (lambda n: (n > 3) & (n > 9), "&", "3 < n", NOT_OF_CONDITIONS, lambda n: vyre.size_min(n > 3, n > 9), 0),
        (lambda n: divmod(n, 2)[1], "divmod", "n", "write a // b and a % b", lambda n: n % 2, 1),
        (lambda n: round(n), "round", "n", NO_FRACTIONS, lambda n: n, 5),
        (lambda n: math.ceil(n), "ceil", "n", NO_FRACTIONS, lambda n: n, 5),
        (
            lambda n: n**2,
            *("**", "n", "write a product, or compute it in the kernel, which is given the size"),
            *(lambda n: n * n, 25),
        ),
        (
            lambda n: (n > 3) | (n > 9),
            *("|", "3 < n", "write vyre.size_max(a, b) for one of two conditions"),
            *(lambda n: vyre.size_max(n > 3, n > 9), 1),
        ),
        (
            lambda n: (n > 3) ^ (n > 4),
            *("^", "3 < n", "write `a != b` for one of two conditions alone"),
            *(lambda n: (n > 3) != (n > 4), 0),
        ),
        (
            lambda n: -n + 9,
            *("-", "n", "subtract it from another size: sizes are integers from 0 on"),
            *(lambda n: 9 - n, 4),
        ),
        (
            lambda n: ~(n > 3),
            *("~", "3 < n", "write `size == 0` for the opposite of a condition"),
            *(lambda n: (n > 3) == 0, 0),
        ),
        (
            lambda n: abs(n),
            *("abs", "n", "write vyre.size_max(a, b) - vyre.size_min(a, b) for the distance of a and b"),
            *(lambda n: vyre.size_max(n, 10) - vyre.size_min(n, 10), 5),
        ),
    ],
)
def test_what_sizes_do_not_have_is_told(wrong, operator, on, fix, right, length):
    def made(size):
        @vyre.procedure
        def f(n: u32):
            return vyre.scratch(u32, size(n), zeros=True)

        return f

    with refused(ArgumentError, f"operator `{operator}` is not defined on the size {on}", fix):
        made(wrong)(5, backend="cpu")
    assert made(right)(5, backend="cpu").shape == (length,)


@pytest.mark.parametrize("name", ["item", "numpy", "tobytes", "tolist"])
def test_elements_of_an_array_of_a_procedure_are_refused_with_what_to_write(name):
    @vyre.procedure
    def f(x: In[u32]):
        y = vyre.scratch(u32, x.length, name="y")
        doubled(x, y)
        assert not hasattr(y, name)
        getattr(y, name)()

    with pytest.raises(ArgumentError) as error:
        f(numbers(4), backend="cpu")
    assert isinstance(error.value, AttributeError)
    assert str(error.value) == (
        f"the array `y` of a procedure has no attribute `{name}`, because it has no elements while the procedure is "
        f"recorded. Fix: compute with it in a kernel, or return it and write .{name}() on what the call gives."
    )


@vyre.procedure
def counted(x: InOut[u32], z: In[u32]):
    y = vyre.scratch(u32, z.length, name="y")
    doubled(z, y)
    add(x, 1)
    return y


@vyre.procedure
def within_limits(x: InOut[u32]):
    y = vyre.scratch(u32, vyre.size_min(x.length, vyre.limit("workgroup_memory")), name="y")
    add(x, 1)
    doubled(x, y)
    return y


@pytest.mark.parametrize("is_resident", [False, True])
def test_an_out_of_another_shape_is_refused_before_anything_runs(is_resident):
    """Also where a limit of the device decides the shape."""
    x, z = numbers(4), numbers(4)
    given = (vyre.array(x, backend="cpu"), vyre.array(z, backend="cpu")) if is_resident else (x, z)
    where = {} if is_resident else {"backend": "cpu"}
    got = re.escape("with shape (4,) for `y`, got one of uint32 with shape (5,). Fix: pass")
    for call, arguments in ((counted, given), (within_limits, given[:1])):
        with pytest.raises(ArgumentError, match=got):
            call(*arguments, out=np.zeros(5, np.uint32), **where)
    found = given[0].numpy() if is_resident else x
    assert found.tolist() == [0, 1, 2, 3]
    out = np.zeros(8, np.uint32)[::2]
    assert counted(*given, out=out, **where) is out
    assert out.tolist() == [0, 2, 4, 6]
    within_limits(given[0], out=out, **where)
    assert out.tolist() == [4, 6, 8, 10]


def test_a_shape_of_lengths_and_numbers_is_known_before_the_call():
    @vyre.procedure
    def table(x: In[u32, 2], k: u32, wide: vyre.u64):
        return vyre.scratch(vyre.vec4u32, x.shape[1] + k, vyre.size_min(wide, 3), zeros=True, name="y")

    given = (np.zeros((2, 5), np.uint32), 2, 2**40)
    assert table(*given, out=np.ones((7, 3, 4), np.uint32), backend="cpu").tolist() == np.zeros((7, 3, 4)).tolist()
    with pytest.raises(
        ArgumentError, match=re.escape("with shape (7, 3, 4) for `y`, got one of uint32 with shape (7, 3).")
    ):
        table(*given, out=np.ones((7, 3), np.uint32), backend="cpu")


def test_a_graph_writes_no_numpy_arrays():
    x = vyre.array(numbers(4), backend="cpu")
    with vyre.graph() as graph:
        with refused(
            ArgumentError,
            "each argument of procedure `double` is not resident, and a graph records calls on resident arrays",
            "pass vyre.array(x)",
        ):
            double(numbers(4))
        with refused(
            ArgumentError,
            "argument `out` of procedure `double` is not resident, and a graph records calls on resident arrays",
            "pass vyre.array(x)",
        ):
            double(x, out=np.zeros(4, np.uint32))
        with pytest.raises(ArgumentError, match=re.escape("argument `x` of procedure `counted` is not resident")):
            counted(numbers(4), x)
        for wrong in (vyre.zeros(5, backend="cpu"), x):
            with pytest.raises((ArgumentError, BindingError)):
                double(x, out=wrong)
        out = vyre.zeros(4, backend="cpu")
        double(x, out=out)
        counted(x, out)
    graph.replay()
    assert x.numpy().tolist() == [1, 2, 3, 4]  # once: what was refused is no part of the graph
    assert out.numpy().tolist() == [0, 2, 4, 6]


def test_a_view_of_a_part_begins_at_a_whole_element_for_every_length():
    """A begin inside of an element was rounded down, so other elements were read than the part has."""

    @vyre.kernel
    def copied(x: In[vyre.u64], y: Out[vyre.u64]):
        i = vyre.gid(0)
        if i < len(y):
            y[i] = x[i]

    def made(begin):
        @vyre.procedure
        def f(x: In[u32], k: u32):
            y = vyre.scratch(vyre.u64, x.length // 2)
            copied(x[begin(x.length, k) : x.length].view(vyre.u64), y)
            return y

        return f

    for wrong, text in (
        (lambda n, k: k, "k"),
        (lambda n, k: k * 2 + n, "(k * 2) + length(x)"),
        (lambda n, k: n // 2, "length(x) // 2"),
    ):
        with refused(
            ArgumentError,
            f"a part of `x` begins at {text}, which may lie inside of an element of u64",
            "begin it at a multiple of 2 for every length, at `n * 2` or `n // 2 * 2`",
        ):
            made(wrong)(numbers(8), 1, backend="cpu")
    x = numbers(8)
    for right in (
        lambda n, k: k * 2,
        lambda n, k: (k + 1) // 2 * 2,
        lambda n, k: vyre.size_min(n // 2 * 2, k * 6) - k * 4,
    ):
        begin = right(8, 1)
        found = made(right)(x, 1, backend="cpu")
        assert np.array_equal(found, np.concatenate([x[begin:], np.zeros(begin, np.uint32)]).view(np.uint64))


@pytest.mark.parametrize("seed", range(20))
def test_what_divides_a_size_divides_its_values(seed):
    random = np.random.default_rng(seed)
    recorder = Recorder("divided", None, None)
    made = [Size(recorder, recorder.made.number(k)) for k in range(2)] + [6, 8, 0]
    values = [3, 10]
    operations = [
        *(vyre.size_min, vyre.size_max, lambda a, b: a + b, lambda a, b: a % 7 * b),
        *(lambda a, _: a // 4, lambda a, b: vyre.size_select(a, b, 12)),
    ]
    for _ in range(20):
        a, b = (made[k] for k in random.integers(0, len(made), 2))
        made.append(operations[random.integers(0, len(operations))](a, b))
    for size in made:
        value = size
        if isinstance(size, Size):
            value = substituted(size._terms(), lambda _, operands: values[operands[0]])[size._id]
        assert value % divisor_of(size) == 0


def test_recording_takes_time_in_proportion_to_the_arrays():
    def seconds(count):
        tables = [np.array([k, 1], np.uint32) for k in range(count)]
        started = time.process_time()
        recorder = Recorder("many", None, None)
        for table in tables:
            recorder.table(table, "table")
            recorder.declare("scratch", "scratch", u32, (4,))
        return time.process_time() - started

    few, many = (min(seconds(count) for _ in range(3)) for count in (200, 4000))
    assert many < 100 * few  # 20 times as many; a look at all before took 400 times as long


def test_arrays_of_one_name_are_numbered_and_equal_tables_are_one():
    recorder = Recorder("named", None, None)
    made = [recorder.declare(name, "scratch", u32, (4,)) for name in ("a", "a1", "a", "a", "a1", "b")]
    names = [each._decl.name for each in made]
    assert names == ["a", "a1", "a2", "a3", "a11", "b"]
    tables = [recorder.table(np.array(each, dtype), "t") for each, dtype in (
        ([1, 2], np.uint32), ([1, 2], np.int32), ([[1, 2]], np.uint32), ([2, 1], np.uint32), ([1, 2], np.uint32)
    )]  # fmt: skip
    assert len({id(each._decl) for each in tables}) == 4
    assert tables[0]._decl is tables[4]._decl


@pytest.mark.usefixtures("fast_switching")
def test_threads_record_plan_and_run_one_procedure_at_once():
    """With more constants than are kept, so that what one thread uses is forgotten by another."""

    @vyre.procedure
    def powers(x: In[u32], c: const, k: u32):
        a, b = vyre.scratch(u32, x.length), vyre.scratch(u32, x.length)
        doubled(x, a)
        for _ in range(c % 4):
            doubled(a, b)
            a, b = b, a
        for _ in vyre.times(k):
            doubled(a, b)
            vyre.swap(a, b)
        return vyre.std.cumsum(a)

    wrong: list[object] = []
    together = threading.Barrier(6)

    def call(thread):
        together.wait()
        for turn in range(25):
            x, c, k = numbers(5 + thread), thread * 25 + turn, turn % 3
            try:
                found = powers(x, c, k, backend=("cpu", "reference")[thread % 2])
            except Exception as error:
                wrong.append(error)
            else:
                if not np.array_equal(found, (x * 2 ** (1 + c % 4 + k)).cumsum()):
                    wrong.append((thread, turn))

    in_threads(call, range(6))
    assert wrong == []


@pytest.mark.parametrize(
    ("call", "kind", "problem", "fix"),
    [
        (
            lambda: double(numbers(3), backend="vulcan"),
            ArgumentError,
            "argument `backend` of procedure `double` must be one of "
            f"{', '.join([*vyre.backends(), *vyre.backends().unavailable()])}, got 'vulcan'",
            "write one of these (did you mean `vulkan`?)",
        ),
        (
            lambda: double[10, 256](numbers(3)),
            vyre.CallError,
            "procedure `double` is not indexed with blocks and threads",
            "write double(x)",
        ),
        (
            lambda: both(numbers(8)[::2], numbers(4), backend="cpu"),
            BindingError,
            "argument `x` of procedure `both` is written, and the array is not C-contiguous",
            "pass a writable, C-contiguous array",
        ),
    ],
)
def test_habits_of_other_packages_are_told_what_to_write(call, kind, problem, fix):
    with refused(kind, problem, fix):
        call()


def test_what_the_messages_say_to_write_runs():
    x = numbers(8)[::2]
    x_ = np.ascontiguousarray(x)
    both(x_, numbers(4), backend="cpu")
    x[...] = x_
    assert x.tolist() == [1, 3, 5, 7]
    assert len(double.procedure.programs) == 1
    assert not hasattr(double, "wrong")


def test_a_procedure_writes_into_no_raveled_matrix():
    @vyre.procedure
    def outer(m: In[u32, 2], x: In[u32]):
        made = vyre.scratch(u32, *m.shape, name="made")
        double(x, out=made.ravel())
        return made

    with refused(
        BindingError,
        "argument `out` of procedure `double` is `made` of 2 axes, seen on one axis, and a procedure takes arrays with "
        "their own axes",
        "copy it into an array of one axis with a kernel, which takes .ravel()",
    ):
        _ = outer.procedure


def test_a_raveled_matrix_is_neither_returned_nor_swapped():
    @vyre.procedure
    def returned(m: In[u32, 2]):
        return vyre.scratch(u32, *m.shape, zeros=True).ravel()

    with pytest.raises(ArgumentError, match="returns a part or a view of `scratch`"):
        _ = returned.procedure

    @vyre.procedure
    def swapped(m: In[u32, 2]):
        a, b = (vyre.scratch(u32, *m.shape, zeros=True) for _ in range(2))
        vyre.swap(a.ravel(), b)

    with pytest.raises(ArgumentError, match="exchanges whole arrays that"):
        _ = swapped.procedure
