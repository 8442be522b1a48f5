"""What a check says nothing about, and where it places what it says: calls that people made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import vyre
from vyre import In, Out, u32

HERE = Path(__file__)
X = np.arange(6, dtype=np.uint32)


def line_of(text):
    lines = HERE.read_text(encoding="utf-8").splitlines()
    (found,) = [number for number, line in enumerate(lines, 1) if line.endswith(text) and "line_of" not in line]
    return found


@vyre.kernel
def plus_one(x: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    out[i] = x[i] + 1


@vyre.kernel
def fives(out: Out[u32]):
    out[vyre.gid(0)] = 5


@vyre.kernel
def first_half(x: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    if i < len(x) // 2:
        out[i] = x[i]


@vyre.procedure
def plus_two(x: In[u32]):
    return plus_one(plus_one(x), vyre.scratch(u32, x.length - 1), grid=x.length - 1)


@vyre.procedure
def whole(x: In[u32]):
    y = fives(vyre.scratch(u32, x.length))
    return plus_two(x), y


def test_what_lies_beyond_a_grid_is_not_reported():
    assert fives.check(np.zeros(5, np.uint32)).ok
    for each in (plus_two, whole):
        assert each.check(X).reports == ()
    for each in (whole, whole.procedure):
        checked = vyre.check(each, {"x": X})
        assert checked.ok
        assert checked.procedure == whole.procedure


@vyre.procedure
def distinct(x: In[u32]):
    return vyre.std.unique(vyre.std.cumsum(x))


@vyre.procedure
def of_half(x: In[u32]):
    half = vyre.scratch(u32, x.length, name="half")
    first_half(x, half)
    return vyre.std.cumsum(half)  # of what is written in part


def test_the_library_is_not_reported_but_what_it_is_given_is():
    assert distinct.check(X).reports == ()
    (report,) = of_half.check(X).reports
    # Four elements are loaded at once, and the last of the first four is not written.
    assert (report.check, report.step.array, report.step.index) == ("uninitialised-read", "half", 0)
    assert report.step.place.callers == ((str(HERE), line_of("# of what is written in part")),)


@vyre.kernel
def with_local(x: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    if i < len(out):
        mine = vyre.local(u32, 4)
        mine[i & 3] = x[i]
        other = mine.copy()
        out[i] = other[0] + other[4]  # beyond


def test_arrays_of_an_invocation_begin_as_zeros_and_have_their_names():
    reports = with_local.check(X, checks=["all", "promised_zeros"]).reports
    assert {(each.check, each.buffer) for each in reports} == {("out-of-bounds", "other")}
    assert reports[0].witness.line == line_of("# beyond")


def test_an_array_of_a_workgroup_has_the_name_of_its_own_variable():
    @vyre.kernel(workgroup_size=4)
    def with_list(out: Out[u32]):
        numbers = [1, 2].copy()
        tile = vyre.shared(u32, 4)
        tile[vyre.lid(0)] = numbers[1]
        vyre.barrier()
        out[vyre.gid(0)] = tile[0]

    assert [each.name for each in with_list.program.buffers] == ["out", "tile"]


def doubled(value):
    sum_ = value + value
    return sum_


@vyre.kernel
def by_a_helper(x: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    out[i] = doubled(x[i + 1])  # the argument


@vyre.kernel
def unrolled(x: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    total = 0
    for k in vyre.unroll(range(4)):
        total += x[i + k]  # four loads
    out[i] = total


@pytest.mark.parametrize(
    ("kernel", "line", "count"), [(by_a_helper, "# the argument", 1), (unrolled, "# four loads", 6)]
)
def test_a_line_has_one_report_where_the_user_wrote_it(kernel, line, count):
    (report,) = kernel.check(X).reports
    assert (report.witness.line, report.count) == (line_of(line), count)
    assert f" at {HERE}:{line_of(line)}: " in str(report)
    assert ".get(i + " in str(report)


SCRIPT = f"""
import sys
sys.path[:0] = [{str(HERE.parent)!r}, {str(HERE.parents[1])!r}]
import test_check_silent as made
print(made.distinct(made.X)[0], made.plus_two(made.X))
run = made.vyre.run
for call in (made.by_a_helper, made.of_half, lambda x: run(made.of_half.procedure, {{"x": x}})):
    try:
        call(made.X)
    except made.vyre.CheckError as error:
        print(type(error.result).__name__, error)
with made.vyre.graph() as graph:
    made.plus_one(made.vyre.array(made.X))
"""


def run(checks, *command):
    command = [sys.executable, "-W", "always", *(command or ("-c", SCRIPT))]
    environment = {**os.environ, "VYRE_CHECK": checks, "PYTHONPATH": str(HERE.parents[3] / "python")}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_a_variable_checks_every_call_of_a_process():
    done = run("all")
    assert done.returncode == 0, done.stderr
    assert "CheckResult kernel `by_a_helper`: checks (all): 1 mistake was found.\nout-of-bounds: `x`[6]" in done.stdout
    assert done.stdout.count("ProcedureCheckResult procedure `of_half`: checks (all): 1 mistake was found.\n") == 2
    assert "a call is not checked: kernel `plus_one` is recorded in a graph, and runs later" in done.stderr
    done = run("race, promised_zeros")
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)
    assert run("").stdout == done.stdout


@pytest.mark.parametrize(("name", "status"), [("by_a_helper", 1), ("of_half", 1), ("whole", 0)])
def test_a_variable_checks_what_a_command_runs(name, status):
    done = run("all", "-m", "vyre", "run", f"{HERE}:{name}", "--input", "x=6")
    assert done.returncode == status
    assert (f"`{name}`: checks (all): 1 mistake was found.\n" in done.stderr) == status
    assert bool(done.stdout) == (not status)


def test_a_check_that_there_is_not_is_refused_at_import():
    said = run("al").stderr
    assert "ArgumentError: VYRE_CHECK: there is no check `al`." in said
