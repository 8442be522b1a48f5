"""Checked execution from Python: what is reported, how it reads, and what a wrong call is told."""

from __future__ import annotations

import copy
import inspect
import itertools
import pickle
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import vyre
from conftest import message
from html_reader import told
from vyre import BufferDecl, Expr, Node, Program
from wrong_calls import wrong_calls

I = Expr.gid_x()  # noqa: E741
LOCAL = Expr.local_x()
OUT = BufferDecl.output("out", 0, vyre.u32)


def program(*entry: Node, size: int = 4, buffers: tuple[BufferDecl, ...] = ()) -> Program:
    return Program([OUT, *buffers], (size, 1, 1), list(entry))


def here() -> int:
    """The caller's line."""
    return inspect.currentframe().f_back.f_lineno


# One program a kind of mistake, with the line of the statement that is to blame.
def race() -> tuple[Program, int]:
    return program(Node.store("out", 0, I + 7)), here()


def uninitialised() -> tuple[Program, int]:
    counter = BufferDecl.read_write("next", 1, vyre.u32)
    return program(Node.store("out", I, Expr.load("next", 0)), buffers=(counter,)), here()


def promised() -> tuple[Program, int]:
    shared = BufferDecl.workgroup("tile", 4, vyre.u32)
    return program(Node.store("out", I, Expr.load("tile", LOCAL)), buffers=(shared,)), here()


def out_of_bounds() -> tuple[Program, int]:
    return program(Node.store("out", I + 2, 9)), here()


def divergent() -> tuple[Program, int]:
    return program(Node.if_(LOCAL < 1, [Node.barrier()])), here()


def order() -> tuple[Program, int]:
    counter = BufferDecl.read_write("next", 1, vyre.u32)
    ticket, line = Node.let("ticket", vyre.atomic_add("next", 0, 1)), here()
    return program(ticket, Node.store("out", Expr.var("ticket"), I), buffers=(counter,)), line


MISTAKES = {
    "race": (race, vyre.RaceReport),
    "uninitialised-read": (uninitialised, vyre.UninitialisedReadReport),
    "out-of-bounds": (out_of_bounds, vyre.OutOfBoundsReport),
    "divergent-barrier": (divergent, vyre.DivergentBarrierReport),
    "order-dependence": (order, vyre.OrderDependenceReport),
    "promised_zeros": (promised, vyre.PromisedZeroReport),
}
USUAL = tuple(name for name in MISTAKES if name != "promised_zeros")  # what "all" stands for
EVERY = ["all", "promised_zeros"]


def check(made: Program, **options: object) -> vyre.CheckResult:
    inputs = {"out": 4} | ({"next": 1} if any(decl.name == "next" for decl in made.buffers) else {})
    return vyre.check(made, inputs, 1, **options)


def report_of(name: str) -> tuple[vyre.Report, int]:
    make, _ = MISTAKES[name]
    made, line = make()
    result = check(made, checks=name)
    assert len(result.reports) == 1
    return result.reports[0], line


def places(report: vyre.Report) -> list[vyre.Place]:
    if isinstance(report, vyre.RaceReport):
        return [report.first.place, report.second.place]
    if isinstance(report, vyre.DivergentBarrierReport):
        return [stop.place for stop in report.stops if stop.place is not None]
    if isinstance(report, vyre.OrderDependenceReport):
        return list(report.atomics)
    return [report.witness.place]


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.parametrize("schedule", [None, "reversed", "random:3"])
def test_a_mistake_is_reported_with_its_line_in_every_schedule(name, schedule):
    make, kind = MISTAKES[name]
    made, line = make()
    result = check(made, schedule=schedule, checks=EVERY)
    assert [type(report) for report in result.reports] == [kind]
    assert not result.ok
    assert result.complete
    report = result.reports[0]
    assert report.check == name
    assert {(place.file, place.line) for place in places(report)} == {(__file__, line)}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_that_is_not_looked_for_is_not_reported(name):
    made, _ = MISTAKES[name][0]()
    others = [other for other in MISTAKES if other != name]
    if name == "divergent-barrier":
        with pytest.raises(vyre.DivergentBarrierError, match="reached by only part of a workgroup"):
            check(made, checks=others)
    else:
        assert check(made, checks=others).ok


def test_a_race_shows_both_accesses():
    report, _ = report_of("race")
    assert (report.buffer, report.index, report.count) == ("out", 0, 3)
    assert report.first.invocation == (0, 0, 0)
    assert report.second.invocation == report.second.local == (1, 0, 0)
    assert report.second.workgroup == (0, 0, 0)
    assert (report.first.access, report.first.value, report.second.value) == ("write", 7, 8)
    assert report.first.place.path == "entry[0]"


def test_a_program_without_a_source_shows_its_statements():
    made = vyre.parse(
        """vyre 1
workgroup_size 2 1 1
buffer out: read_write u32 binding 0 output

out[0] = (gid.x + 1) * (gid.x + 1)
"""
    )
    (report,) = vyre.check(made, {"out": 1}, 1).reports
    assert report.first.statement == "out[0] = (gid.x + 1) * (gid.x + 1)"
    assert str(report.second) == (
        "invocation (1, 0, 0) of workgroup (0, 0, 0) writes 4 at `entry[0]`: out[0] = (gid.x + 1) * (gid.x + 1)"
    )


def test_values_of_i32_have_a_sign_and_vectors_show_their_first_lane():
    buffers = [BufferDecl.output("out", 0, vyre.i32), BufferDecl.read_write("pair", 1, vyre.vec2u32)]
    made = Program(buffers, (2, 1, 1), [Node.store("out", 0, Expr.i32(-5)), Node.store("pair", 1, Expr.vec2(I, 3))])
    single, pair = vyre.check(made, {"out": 1, "pair": 2}, 1).reports
    assert single.first.value == -5
    assert (pair.index, pair.second.value, pair.count) == (1, 1, 1)


def test_invocation_ids_are_of_the_grid():
    made = Program([OUT], (2, 2, 1), [Node.store("out", 0, Expr.gid_y())])
    (report,) = vyre.check(made, {"out": 1}, (1, 2, 3), checks="race").reports
    assert report.second.invocation == tuple(
        group * size + local
        for group, size, local in zip(report.second.workgroup, (2, 2, 1), report.second.local, strict=True)
    )


TEXTS = {
    "race": """\
race: two invocations access `out`[0], and nothing orders them; seen 3 times.
  invocation (0, 0, 0) of workgroup (0, 0, 0) writes 7 at FILE:LINE: SOURCE
  invocation (1, 0, 0) of workgroup (0, 0, 0) writes 8 at FILE:LINE: SOURCE
  Fix: put a barrier between the two, give each invocation elements of its own, or use atomics for both.""",
    "uninitialised-read": """\
uninitialised-read: `next`[0] is read, and was not written before; seen 4 times.
  invocation (0, 0, 0) of workgroup (0, 0, 0) reads 0 at FILE:LINE: SOURCE
  Fix: store there first (and wait at a barrier if another invocation does), or pass an array of zeros.""",
    "out-of-bounds": """\
out-of-bounds: `out`[4] is beyond the length 4; seen 2 times.
  invocation (2, 0, 0) of workgroup (0, 0, 0) writes 9 at FILE:LINE: SOURCE
  Fix: make the access only where its index is less than the length of `out` (`len(out)` in a kernel, \
`Expr.buf_len('out')` in a Program).""",
    "divergent-barrier": """\
divergent-barrier: workgroup (0, 0, 0) does not reach one barrier as a whole; seen in 1 workgroup.
  1 invocation (first: local id (0, 0, 0)) waits at FILE:LINE: SOURCE
  3 invocations (first: local id (1, 0, 0)) have run to the end of the program
  Fix: move the barrier out of what depends on the invocation: an If, a Loop, or code after a Return.""",
    "order-dependence": """\
order-dependence: `out`[0] is 0 when invocations are taken in order and 3 when in reverse; 4 lanes differ.
  the result or the order of the atomic at FILE:LINE: SOURCE counts
  Fix: derive what is stored from ids, not from what an atomic returned, and do not mix atomics on one element.""",
    "promised_zeros": """\
promised_zeros: `tile`[0] is read before it is written; seen 4 times.
  invocation (0, 0, 0) of workgroup (0, 0, 0) reads 0 at FILE:LINE: SOURCE
  Fix: store there first (and wait at a barrier if another invocation does), or leave this check out if the zero is \
meant.""",
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_report_reads_like_this(name):
    report, line = report_of(name)
    source = inspect.getsource(inspect.getmodule(race)).splitlines()[line - 1].strip()
    assert len(source) <= 100
    expected = TEXTS[name].replace("FILE:LINE", f"{__file__}:{line}").replace("SOURCE", source)
    assert str(report) == expected
    (form,) = told(report._repr_html_())
    assert (form.kind, form.title) == (name, report._title())
    assert form.sentences[-1] == f"Fix: {report._fix()}"
    if hasattr(report, "stops") or hasattr(report, "atomics"):
        assert form.sentences[:-1] == report._details()
    else:
        witnesses = [getattr(report, key) for key in ("first", "second", "witness") if hasattr(report, key)]
        ((_, heads, rows),) = form.tables
        assert heads == ["", "invocation", "workgroup", "does", "at", "statement"]
        assert [row[1:3] for row in rows] == [[str(each.invocation), str(each.workgroup)] for each in witnesses]
        assert [row[3] in str(each) for row, each in zip(rows, witnesses, strict=True)] == [True] * len(witnesses)
        assert {row[4] for row in rows} == {f"{__file__}:{line} ({witnesses[0].place.path})"}
        assert {row[5] for row in rows} == {source}


def test_what_users_name_is_escaped_in_a_notebook():
    name = "<script>&"
    made = Program([BufferDecl.output(name, 0, vyre.u32)], (2, 1, 1), [Node.store(name, 0, I)])
    result = vyre.check(made, {name: 1}, 1)
    assert "<script>" in str(result)
    assert "<script>" not in result._repr_html_()
    assert "&lt;script&gt;&amp;" in result._repr_html_()


@pytest.mark.parametrize("name", MISTAKES)
def test_reports_are_values(name):
    report, _ = report_of(name)
    again, _ = report_of(name)
    assert report == again
    assert hash(report) == hash(again)
    assert pickle.loads(pickle.dumps(report)) == report
    assert copy.deepcopy(report) == report
    with pytest.raises(AttributeError):
        report.count = 0


def test_results_are_those_of_a_run_and_inputs_are_not_written():
    made = program(Node.store("out", I, Expr.load("out", I) + 1))
    given = np.arange(4, dtype=np.uint32)
    result = vyre.check(made, {"out": given}, 1)
    assert result.ok
    assert result.outputs["out"].tolist() == [1, 2, 3, 4]
    assert given.tolist() == [0, 1, 2, 3]
    assert str(result) == "checks (all): nothing was found."
    assert (result.workgroups, result.schedule, result.checks) == ((1, 1, 1), "in-order", USUAL)


def test_zeros_that_were_given_count_as_written_and_a_number_of_them_does_not():
    made = program(Node.store("out", I, Expr.load("out", I) + 1))
    assert vyre.check(made, {"out": np.zeros(4, np.uint32)}, 1).ok
    assert [report.check for report in vyre.check(made, {"out": 4}, 1).reports] == ["uninitialised-read"]


def test_zeros_that_are_promised_are_in_a_report_only_if_it_is_asked_for():
    made, _ = promised()
    assert check(made).ok
    assert check(made, checks=["all"]).checks == USUAL
    for asked, found in [("promised_zeros", "promised_zeros"), (EVERY, "all, promised_zeros")]:
        result = check(made, checks=asked)
        assert [report.check for report in result.reports] == ["promised_zeros"]
        assert str(result).startswith(f"checks ({found}): 1 mistake was found.\n")
    with pytest.raises(vyre.CheckError):
        vyre.run(made, {"out": 4}, 1, backend="reference", check=EVERY)


def test_one_report_stands_for_all_mistakes_of_its_lines_and_buffer():
    halves = Node.store("out", I // 2, I)
    unrolled = [Node.store("out", 1000 + k, I) for k in range(2)]
    made = Program([OUT], (64, 1, 1), [halves, *unrolled])
    result = vyre.check(made, {"out": 32}, 8)
    assert [(report.check, report.count) for report in result.reports] == [
        ("race", 32),
        ("out-of-bounds", 448),
        ("out-of-bounds", 1024),
    ]


def test_reports_are_bounded():
    stores = "".join(f"out[{100 + k}] = 1\n" for k in range(20))
    made = vyre.parse(f"vyre 1\nworkgroup_size 1 1 1\nbuffer out: read_write u32 binding 0\n\n{stores}")
    result = vyre.check(made, {"out": 1}, 1, max_reports=3)
    assert len(result.reports) == 3
    assert not result.complete
    assert str(result).startswith("checks (all): 3 mistakes were found, and there are more than max_reports=3.")


def test_a_race_between_workgroups_is_told_no_barrier_helps():
    (report,) = vyre.check(Program([OUT], (1, 1, 1), [Node.store("out", 0, 1)]), {"out": 1}, 2).reports
    assert "Fix: no barrier orders two workgroups" in str(report)


# --- vyre.run(check=...) ---


def test_a_checked_run_raises_what_it_found():
    made, line = race()
    with pytest.raises(vyre.CheckError) as error:
        vyre.run(made, {"out": 4}, 1, backend="reference", check="all")
    assert isinstance(error.value, vyre.ExecutionError)
    assert [report.check for report in error.value.reports] == ["race"]
    assert error.value.reports[0].first.line == line
    assert error.value.result.outputs["out"].tolist() == [10, 0, 0, 0]
    assert str(error.value).startswith("checks (all): 1 mistake was found.\nrace: ")
    again = pickle.loads(pickle.dumps(error.value))
    assert again.reports == error.value.reports


def test_a_checked_run_without_a_mistake_returns_its_buffers():
    made = program(Node.store("out", I, I * 3))
    for backend in (None, "reference"):
        assert vyre.run(made, {"out": 4}, 1, backend=backend, check="all")["out"].tolist() == [0, 3, 6, 9]
    guardless = vyre.run(made, {"out": 3}, 1, check=["race", "uninitialised-read"])
    assert guardless["out"].tolist() == [0, 3, 6]


def test_a_barrier_that_validation_cannot_decide_is_decided_when_it_runs():
    given = BufferDecl.read_write("flag", 1, vyre.u32)
    made = program(Node.if_(Expr.load("flag", 0), [Node.barrier(), Node.store("out", I, 1)]), buffers=(given,))
    assert [diagnostic.rule for diagnostic in vyre.validate(made)] == ["V010"]
    flag = np.ones(1, np.uint32)
    assert vyre.check(made, {"out": 4, "flag": flag}, 1).ok
    assert vyre.run(made, {"out": 4, "flag": flag}, 1, check="all")["out"].tolist() == [1, 1, 1, 1]


def test_other_rules_hold_under_a_check():
    with pytest.raises(vyre.ValidationError, match="V004"):
        vyre.check(Program(entry=[Node.store("x", 0, Expr.gid_x())]), {}, 1)


# --- likely mistakes ---


def test_a_race_that_an_atomic_decides_about_is_seen_in_some_schedules():
    """The document says so: an invocation's work may depend on when its atomic came."""
    decided = Program(
        [BufferDecl.read_write("next", 0, vyre.u32), BufferDecl.output("out", 1, vyre.u32)],
        (2, 1, 1),
        [
            Node.let("ticket", vyre.atomic_add("next", 0, 1)),
            Node.if_(Expr.eq(Expr.var("ticket"), Expr.gid_x()), [Node.store("out", 0, Expr.gid_x())]),
        ],
    )
    found = {
        schedule: [report.check for report in vyre.check(decided, {"next": 1, "out": 1}, 1, schedule=schedule).reports]
        for schedule in ("in-order", "reversed")
    }
    assert "race" in found["in-order"]
    assert "race" not in found["reversed"]
    text = (Path(vyre.__file__).parent / "docs" / "checked-execution.md").read_text(encoding="utf-8")
    assert "Whether an access is made, and at which index, can depend on the result of an atomic" in text


class Changing(Mapping):
    """Gives what it is told at first, and something else afterwards."""

    def __init__(self, first, later) -> None:
        self.first, self.later, self.asked = first, later, 0

    def __getitem__(self, name):
        self.asked += 1
        return self.first[name] if self.asked <= len(self.first) else self.later

    def __iter__(self):
        return iter(self.first)

    def __len__(self):
        return len(self.first)

    def items(self):
        return itertools.repeat(("out", 4))


def test_a_mapping_is_asked_once_for_each_input():
    far = program(Node.store("out", 7, I))
    inputs = Changing({"out": np.arange(4, dtype=np.uint32)}, "something else")
    result = vyre.check(far, inputs, 1)
    assert inputs.asked == 1
    assert list(result.inputs) == ["out"]
    assert result.inputs["out"].tolist() == [0, 1, 2, 3]


def test_what_is_saved_is_what_ran(tmp_path):
    scatter = vyre.parse(
        "vyre 1\nworkgroup_size 4 1 1\nbuffer to: read u32 binding 0\nbuffer out: read_write u32 binding 1\n\n"
        "out[to[gid.x]] = gid.x\n"
    )
    to, out = np.array([0, 1, 2, 9], np.uint32), np.array([5, 6, 7, 8], np.uint32)
    inputs = {"to": to, "out": out}
    result = vyre.check(scatter, inputs, 1)
    to[:] = 0
    out[:] = 0
    inputs.clear()
    assert result.inputs["to"].tolist() == [0, 1, 2, 9]
    result.save(tmp_path / "far.json")
    again = vyre.replay(tmp_path / "far.json")
    assert [report.check for report in again.reports] == ["out-of-bounds"]
    assert again.outputs["out"].tolist() == result.outputs["out"].tolist() == [0, 1, 2, 8]


@pytest.mark.parametrize("call", ["check", "run", "bisect", "repeat"])
def test_inputs_without_an_end_are_refused(call):
    class Endless(dict):
        def keys(self):
            return itertools.repeat("out")

        def items(self):
            return itertools.repeat(("out", 4))

        def __getitem__(self, name):
            return 4

    said = rf"^the keys of argument `inputs` of vyre\.{call} must be names, got more than 1000000 elements\. "
    with pytest.raises(vyre.ArgumentError, match=said):
        getattr(vyre, call)(program(Node.store("out", 0, I)), Endless(), 1)


@pytest.mark.parametrize("name", ["workgroups", "checks"])
def test_inputs_of_a_kernel_hold_no_arguments_of_the_check(name):
    @vyre.kernel
    def one(x: vyre.Out[vyre.u32]):
        x[0] = 1

    assert message(lambda: vyre.check(one, {"x": np.zeros(1, np.uint32), name: 1}), vyre.BindingError) == (
        f"argument `inputs` of vyre.check has '{name}', which is an argument of vyre.check itself. "
        f"Fix: write {name}= beside the inputs."
    )


def test_an_out_of_a_kernel_begins_as_zeros_that_may_be_read():
    @vyre.kernel
    def add(a: vyre.In[vyre.vec2u32], y: vyre.Out[vyre.vec2u32], last: vyre.Out[vyre.boolean]):
        i = vyre.gid(0)
        y[i] = vyre.vec2u32(y[i].x + a[i].x, y[i].y)
        if last[i]:
            y[i] = a[i]

    a = np.arange(8, dtype=np.uint32).reshape(4, 2)
    assert add.check(a, checks=["all", "promised_zeros"]).reports == ()


test_a_wrong_call_is_told_what_to_write = wrong_calls("check", globals())
