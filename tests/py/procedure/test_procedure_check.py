"""Checked execution of procedures and of calls of kernels."""

from pathlib import Path

import numpy as np
import pytest

import vyre
from conftest import refused
from vyre import In, InOut, Out, boolean, u8, u32, u64
from vyre.errors import ArgumentError, BindingError, DispatchTimeoutError

HERE = __file__


def line_of(text: str) -> int:
    """The first line of this file that has the text."""
    lines = Path(HERE).read_text(encoding="utf-8").splitlines()
    return next(k for k, line in enumerate(lines, 1) if text in line)


@vyre.kernel(workgroup_size=4)
def copied(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i]  # copies


@vyre.kernel(workgroup_size=4)
def evens(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y) and i % 2 == 0:
        y[i] = x[i]  # the odd ones are left


@vyre.kernel(workgroup_size=4)
def counted(x: In[u32], total: InOut[u32]):
    i = vyre.gid(0)
    if i < len(x):
        total.atomic_add(0, x[i])  # counts


@vyre.kernel(workgroup_size=4)
def numbers_of_bytes(x: In[u8], y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = vyre.u32(x[i])


@vyre.kernel(workgroup_size=4)
def bytes_of_numbers(x: In[u32], y: Out[u8]):
    i = vyre.gid(0)
    if i < len(x):
        y[i] = x[i]  # keeps the low bits


X = np.arange(1, 7, dtype=np.uint32)


@vyre.procedure
def longer(x: In[u32], n: u32):
    y = vyre.scratch(u32, x.length + n, name="y")
    copied(x, y)
    return y


def test_a_procedure_without_a_mistake_is_found_to_have_none():
    @vyre.procedure
    def twice(x: In[u32]):
        a, b = vyre.scratch(u32, x.length), vyre.scratch(u32, x.length)
        copied(x, a)
        copied(a, b)
        return b

    result = twice.check(X)
    assert result.ok
    assert result.complete
    assert str(result) == "checks (all): nothing was found."
    assert [str(each).split(" (")[0] for each in result.steps] == [
        "step 1 of 2, kernel `copied` in procedure `twice`",
        "step 2 of 2, kernel `copied` in procedure `twice`",
    ]
    assert result.outputs["scratch1"].tolist() == X.tolist()
    assert result.procedure == twice.procedure


def test_a_read_of_what_no_step_wrote_names_step_array_kernel_and_lines():
    @vyre.procedure
    def forgetful(x: In[u32]):
        half = vyre.scratch(u32, x.length, name="half")
        y = vyre.scratch(u32, x.length, name="y")
        evens(x, half)  # writes every second one
        copied(half, y)  # and reads all
        return y

    result = forgetful.check(X)
    assert [report.check for report in result.reports] == ["uninitialised-read"]
    report = result.reports[0]
    assert (report.buffer, report.index, report.count) == ("x", 1, 3)
    assert report.witness.invocation == (1, 0, 0)
    assert report.witness.line == line_of("# copies")
    assert report.witness.place.file == HERE
    step = report.step
    assert (step.array, step.index, step.buffer) == ("half", 1, "x")
    assert (step.place.number, step.place.steps, step.place.file) == (3, 3, HERE)
    assert step.place.line == line_of("# and reads all")
    made, called = line_of('name="half"'), line_of("# and reads all")
    kernel = line_of("# copies")
    assert str(report) == (
        "uninitialised-read: `x`[1] is read, and was not written before; seen 3 times.\n"
        f"  in step 3 of 3, kernel `copied` in procedure `forgetful` ({HERE}:{called}: "
        "copied(half, y)  # and reads all)\n"
        f"  `x` is the procedure's array `half`, made at {HERE}:{made}: "
        'half = vyre.scratch(u32, x.length, name="half"); the element is `half`[1]\n'
        f"  invocation (1, 0, 0) of workgroup (0, 0, 0) reads 0 at {HERE}:{kernel}: y[i] = x[i]  # copies\n"
        "  Fix: store there in a step before this one, or begin with zeros: vyre.scratch(..., zeros=True) or "
        "vyre.clear(array)."
    )


@vyre.kernel(workgroup_size=4)
def of_a_tile(x: InOut[u32]):
    tile = vyre.shared(u32, 4)
    x[vyre.gid(0)] = tile[vyre.lid(0)]


def test_promised_zeros_of_all_turns_are_one_report_when_they_are_asked_for():
    @vyre.procedure
    def often(x: InOut[u32]):
        for _ in vyre.times(3):
            of_a_tile(x, workgroups=1)

    x = np.ones(4, np.uint32)
    assert often.check(x).ok
    (report,) = often.check(x, checks=["all", "promised_zeros"]).reports
    assert isinstance(report, vyre.PromisedZeroReport)
    assert (report.buffer, report.step.array, report.count) == ("tile", "", 12)


@pytest.mark.parametrize("mend", ["zeros", "clear", "written"])
def test_the_fixes_of_an_unwritten_read_hold(mend):
    @vyre.procedure
    def mended(x: In[u32]):
        half = vyre.scratch(u32, x.length, zeros=mend == "zeros")
        y = vyre.scratch(u32, x.length)
        if mend == "clear":
            vyre.clear(half)
        if mend == "written":
            copied(x, half)
        evens(x, half)
        copied(half, y)
        return y

    assert mended.check(X).ok
    wanted = X if mend == "written" else np.where(np.arange(6) % 2 == 0, X, 0)
    assert mended(X, backend="cpu").tolist() == wanted.tolist()


def test_results_that_no_step_wrote_are_found():
    @vyre.procedure
    def partial(x: In[u32]):
        y = vyre.scratch(u32, x.length, name="y")  # returned in part
        evens(x, y)
        return y

    report = partial.check(X).reports[0]
    assert (report.array, report.index, report.use, report.count) == ("y", 1, "returned", 3)
    made = line_of("# returned in part")
    assert str(report) == (
        "uninitialised-read: `y`[1] is returned, and no step wrote it before, and 2 more are likewise.\n"
        f'  `y` is made at {HERE}:{made}: y = vyre.scratch(u32, x.length, name="y")  # returned in part\n'
        "  Fix: write every element of `y` in a step, or begin with zeros: vyre.scratch(..., zeros=True) or "
        "vyre.clear(array)."
    )


def test_an_atomic_on_what_no_step_wrote_is_found():
    @vyre.procedure
    def total_of(x: In[u32], begun: u32):
        total = vyre.scratch(u32, 1, name="total")
        with vyre.when(begun != 0):
            vyre.clear(total)
        counted(x, total, grid=x.length)
        return total

    report = total_of.check(X, 0).reports[0]
    assert report.check == "uninitialised-read"
    assert report.witness.access == "atomic_add"
    assert report.step.array == "total"
    result = total_of.check(X, 1)
    assert result.ok
    assert result.outputs["total"].tolist() == [21]


def test_bytes_count_each():
    """Of a u32 three bytes are written by a view as u8, and one is not."""

    @vyre.procedure
    def through_bytes(x: In[u32]):
        packed = vyre.scratch(u32, 2, name="packed")
        y = vyre.scratch(u32, 2, name="y")
        bytes_of_numbers(x, packed.view(u8), grid=x.length)
        copied(packed, y)
        return y

    assert through_bytes.check(np.arange(8, dtype=np.uint32)).ok
    report = through_bytes.check(np.arange(7, dtype=np.uint32)).reports[0]
    assert (report.check, report.step.array, report.step.index) == ("uninitialised-read", "packed", 1)


def test_slices_and_views_are_named_by_the_array_behind_them():
    @vyre.procedure
    def sliced(x: In[u32]):
        whole = vyre.scratch(u64, x.length, name="whole")
        y = vyre.scratch(u32, 2)
        copied(x, whole.view(u32)[0:6])
        copied(whole[2:4].view(u32)[2:4], y)
        return y

    report = sliced.check(X, checks="uninitialised-read").reports[0]
    assert (report.index, report.step.array, report.step.index) == (0, "whole", 3)


def test_dispatches_are_ordered_and_races_within_one_are_found():
    @vyre.kernel(workgroup_size=4)
    def all_to_one(x: In[u32], y: Out[u32]):
        i = vyre.gid(0)
        if i < len(x):
            y[0] = x[i]

    @vyre.procedure
    def racing(x: In[u32]):
        y = vyre.scratch(u32, 1, name="y")
        copied(x, y, grid=1)
        copied(x, y, grid=1)  # another dispatch: no race with the first
        all_to_one(x, y, grid=x.length)
        return y

    result = racing.check(X, checks="race")
    assert [(report.check, report.step.place.number, report.step.array) for report in result.reports] == [
        ("race", 3, "y")
    ]


def test_mistakes_of_a_repetition_are_one():
    @vyre.procedure
    def again(x: In[u32], n: u32):
        a, y = vyre.scratch(u32, x.length, name="a"), vyre.scratch(u32, x.length, name="y")
        evens(x, a)
        for _ in vyre.times(n):
            copied(a, y)
        return y

    result = again.check(X, 3)
    assert [(report.step.place.number, report.count) for report in result.reports] == [(3, 9)]


def test_an_invocation_is_named_with_its_callers():
    @vyre.procedure
    def inner(x: In[u32]):
        y, a = vyre.scratch(u32, x.length, name="y"), vyre.scratch(u32, x.length, name="a")
        evens(x, a)
        copied(a, y)  # in the inner one
        return y

    @vyre.procedure
    def outer(x: In[u32]):
        return inner(x)  # from the outer one

    place = outer.check(X).reports[0].step.place
    assert place.what == "kernel `copied` in procedure `inner`"
    assert place.line == line_of("# in the inner one")
    assert place.callers == ((HERE, line_of("# from the outer one")),)


def test_results_of_swaps_and_copies_keep_what_is_written():
    @vyre.procedure
    def swapped(x: In[u32]):
        a, b = vyre.scratch(u32, x.length, name="a"), vyre.scratch(u32, x.length, name="b")
        copied(x, a)
        evens(x, b)
        vyre.swap(a, b)
        return a, b

    result = swapped.check(X)
    assert [(report.array, report.count) for report in result.reports] == [("a", 3)]
    assert result.outputs["b"].tolist() == X.tolist()


def test_a_copy_of_what_nothing_wrote_is_not_written():
    """An in_out that a swap has exchanged is copied back at the end."""
    builder = vyre._core._ProcedureBuilder("exchanged")
    x = builder.array("x", "in_out", u32, 1, [], False, None)
    s = builder.array("s", "scratch", u32, 1, [builder.length(0, 0)], False, None)
    one = builder.literal(1)
    groups = builder.apply("ceil_div", [builder.length(x, 0), builder.literal(4)])
    bound = [(x, None, None, None), (s, None, None, None)]
    builder.dispatch("evens", evens.program, bound, [groups, one, one], None, False, None)
    builder.swap(x, s)
    result = vyre.check(builder.finish(), {"x": X})
    assert [(report.array, report.index, report.count) for report in result.reports] == [("x", 1, 3)]
    assert result.outputs["x"][::2].tolist() == X[::2].tolist()


def test_a_grid_that_no_step_wrote_is_found():
    @vyre.procedure
    def by_counts(x: In[u32]):
        counts = vyre.scratch(u32, 3, name="counts")
        y = vyre.scratch(u32, x.length, zeros=True)
        evens(x, counts)
        copied(x, y, grid=counts, at_most=x.length)
        return y

    report = by_counts.check(X).reports[0]
    assert (report.array, report.use, report.index, report.count) == ("counts", "read as the grid", 1, 1)
    assert report.step.place.number == 4  # behind the kernel and both zeros


def test_a_grid_from_data_runs_what_the_counts_say():
    @vyre.kernel(workgroup_size=1)
    def say(x: In[u32], counts: Out[u32]):
        counts[0] = x[0]
        counts[1] = 1
        counts[2] = 1

    @vyre.procedure
    def by_counts(x: In[u32]):
        counts = vyre.scratch(u32, 3)
        y = vyre.scratch(u32, x.length, zeros=True, name="y")
        say(x, counts, workgroups=1)
        copied(x, y, grid=counts, at_most=x.length)
        return y

    x = np.array([5, 9, 9, 9, 9, 9, 9, 9, 9], np.uint32)
    result = by_counts.check(x)
    assert result.ok
    assert result.outputs["y"].tolist() == by_counts(x, backend="cpu").tolist() == [5] + [9] * 4 + [0] * 4


@vyre.kernel(workgroup_size=4)
def ranked(count: InOut[u32], y: Out[u32]):
    i = vyre.gid(0)
    at = count.atomic_add(0, 1)
    if at < len(y):
        y[at] = i


@vyre.kernel(workgroup_size=4)
def marked(order: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[order[i]] = 1


def test_an_order_of_atomics_that_later_steps_even_out_is_no_mistake():
    @vyre.procedure
    def unordered(n: u32):
        count, order = vyre.scratch(u32, 1, zeros=True), vyre.scratch(u32, n, name="order")
        ranked(count, order, grid=n)
        return order

    @vyre.procedure
    def evened(n: u32):
        count, order = vyre.scratch(u32, 1, zeros=True), vyre.scratch(u32, n)
        y = vyre.scratch(u32, n, zeros=True)
        ranked(count, order, grid=n)
        marked(order, y)
        return y

    report = unordered.check(8).reports[0]
    assert (report.check, report.buffer, report.index) == ("order-dependence", "order", 0)
    assert (report.value, report.other_value, report.count) == (0, 7, 8)
    assert report.step.place.what == "kernel `ranked` in procedure `unordered`"
    assert evened.check(8).ok


def test_numbers_vectors_booleans_tables_and_in_outs_take_part():
    table = np.array([3, 1, 4, 1], np.uint32)

    @vyre.kernel(workgroup_size=4)
    def mixed(t: In[u32], flags: In[boolean], v: InOut[vyre.vec4u32], k: u64, y: Out[u32]):
        i = vyre.gid(0)
        if i < len(y):
            y[i] = t[i] + vyre.u32(k) + (1 if flags[i] else 0)
            v[i] = v[i] + v[i]

    @vyre.procedure
    def all_kinds(flags: In[boolean], v: InOut[vyre.vec4u32], k: u64):
        y = vyre.scratch(u32, flags.length, name="y")
        mixed(table, flags, v, k, y)
        return y

    flags, v = np.array([True, False, True, False]), np.arange(16, dtype=np.uint32).reshape(4, 4)
    before = v.copy()
    result = all_kinds.check(flags, v, 10, checks=["race", "uninitialised-read"])
    assert result.ok
    assert np.array_equal(v, before)
    assert result.outputs["v"].tolist() == (2 * v).tolist()
    assert result.outputs["y"].tolist() == all_kinds(flags, v, 10, backend="cpu").tolist() == [14, 11, 15, 11]


def test_vyre_check_takes_procedures_and_kernels_by_name():
    by_function = vyre.check(longer, {"x": X, "n": 0})
    by_value = vyre.check(longer.procedure, {"x": X, "n": 0})
    assert by_function.ok
    assert by_value.ok
    assert by_function.outputs["y"].tolist() == by_value.outputs["y"].tolist() == X.tolist()
    assert str(by_value.steps[0]) == str(by_function.steps[0])
    assert vyre.check(copied, {"x": X}).outputs["y"].tolist() == X.tolist()


@pytest.mark.parametrize(
    ("inputs", "problem", "fix"),
    [
        ({"x": X}, "argument `inputs` of vyre.check misses `n` of procedure `longer`", "add 'n' to it"),
        (
            {"x": X, "n": -1},
            "number `n` of procedure `longer` must be an integer from 0 to 4294967295, got -1",
            "pass an integer from 0 to 4294967295",
        ),
        (
            {"x": X, "n": True},
            "number `n` of procedure `longer` must be an integer from 0 to 4294967295, got True",
            "pass an integer from 0 to 4294967295",
        ),
        (
            {"x": [1], "n": 0},
            "array `x` of procedure `longer` must be an array of uint32, got an object of type list",
            "pass an array of uint32",
        ),
        (
            {"x": X.reshape(2, 3), "n": 0},
            "array `x` of procedure `longer` must have 1 axis, got shape (2, 3)",
            "pass one with 1 axis",
        ),
        ({"x": X, "m": 0}, "procedure `longer` has no input 'm'", "its inputs are `x`, `n`"),
    ],
)
def test_inputs_of_a_value_that_do_not_fit_are_refused(inputs, problem, fix):
    with refused(BindingError, problem, fix):
        vyre.check(longer.procedure, inputs)


def test_a_check_refuses_what_the_call_refuses():
    @vyre.procedure
    def overlapping(x: InOut[u32], k: u32):
        copied(x[0:3], x[k : k + 3])

    @vyre.procedure
    def shorter(x: In[u32], n: u32):
        y = vyre.scratch(u32, n - 3)
        copied(x, y)
        return y

    for procedure, number in ((overlapping, 1), (overlapping, 100), (shorter, 1)):
        messages = []
        for call in (lambda *a, p=procedure: p(*a, backend="cpu"), procedure.check):
            with pytest.raises((ArgumentError, BindingError)) as caught:
                call(X.copy(), number)
            messages.append(str(caught.value))
        assert messages[0] == messages[1]
    assert overlapping.check(X, 3).ok


def test_what_has_no_place_in_a_check_is_refused():
    with refused(
        ArgumentError,
        "argument `backend` of procedure `longer` has no place in a check, which runs on the reference",
        "leave it out",
    ):
        longer.check(X, 0, backend="cpu")
    with refused(
        ArgumentError,
        "argument `optimize` of kernel `copied` has no place in a check, which runs on the reference",
        "leave it out",
    ):
        copied.check(X, optimize=False)
    with refused(
        ArgumentError,
        "argument `workgroups` of vyre.check has no place for a procedure",
        "leave it out",
    ):
        vyre.check(longer, {"x": X, "n": 0}, 1)
    with refused(
        ArgumentError,
        "argument `max_reports` of procedure `longer` must be an integer from 1 to 10000, got 0",
        "pass an integer from 1 to 10000",
    ):
        longer.check(X, 0, max_reports=0)
    with pytest.raises(ArgumentError) as caught:
        longer.check(X, 0, checks="races")
    assert str(caught.value).startswith('argument `checks` of procedure `longer` must be one of "all", ')


def test_a_check_of_many_steps_keeps_its_timeout_and_its_number_of_reports():
    @vyre.kernel(workgroup_size=1)
    def slow(y: InOut[u32]):
        for _ in range(60000):
            y[0] = y[0] + 1

    @vyre.procedure
    def long(y: InOut[u32], n: u32):
        for _ in vyre.times(n):
            slow(y)

    with pytest.raises(DispatchTimeoutError):
        long.check(np.zeros(1, np.uint32), 10000, timeout=0.05)

    @vyre.procedure
    def wrong(x: In[u32]):
        a, b = vyre.scratch(u32, x.length), vyre.scratch(u32, x.length)
        c = vyre.scratch(u32, x.length)
        evens(x, a)
        copied(a, b)
        copied(a, c)
        return b, c

    assert len(wrong.check(X).reports) == 2
    result = wrong.check(X, max_reports=1)
    assert len(result.reports) == 1
    assert not result.complete
    assert "there are more than max_reports=1" in str(result)


def test_no_elements_and_no_steps_are_checked():
    @vyre.procedure
    def nothing(x: InOut[u32]):
        pass

    assert nothing.check(X).outputs["x"].tolist() == X.tolist()
    assert longer.check(X[:0], 0).outputs["y"].tolist() == []


def test_a_kernels_call_is_checked_as_it_is_made():
    @vyre.kernel
    def summed(x: In[u32], k: u32, sum: InOut[u32]):
        i = vyre.gid(0)
        if i < len(x):
            sum[0] += x[i] * k

    total = np.zeros(1, np.uint32)
    result = summed.check(X, 2, total, grid=len(X))
    assert {report.check for report in result.reports} == {"race"}
    assert total[0] == 0
    result = copied.check(vyre.array(X, backend="cpu"), workgroups=2)
    assert result.ok
    assert result.outputs["y"].tolist() == X.tolist()


def test_a_truth_of_a_procedure_is_true_or_false():
    @vyre.procedure
    def chosen(x: In[u32], flag: vyre.boolean):
        y = vyre.scratch(u32, x.length)
        copied(x, y)
        return y

    (made,) = vyre.run(chosen.procedure, {"x": X, "flag": np.bool_(True)}, backend="cpu").values()
    assert made.tolist() == X.tolist()
    with refused(
        vyre.BindingError, "number `flag` of procedure `chosen` must be True or False, got 1", "pass True or False"
    ):
        vyre.run(chosen.procedure, {"x": X, "flag": 1}, backend="cpu")
