"""Every procedure of the library in checked execution, at small sizes."""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from library_calls import ROWS, SMALL, Data
from vyre import std
from vyre._arrays.reports import UnwrittenArrayReport
from vyre._procedure.check import check_call
from vyre._procedure.flat import call_of
from vyre._procedure.procedure import ProcedureFunction
from vyre.std._calls.declared import STEPS

# What is found and is meant: the check, the beginning of the procedure's name, and the array.
MEANT = {
    # A list of vertices whose order shows in no level.
    ("order-dependence", "std.bfs.continue", "items"),
    ("order-dependence", "std.bfs.continue", "following"),
}


def is_meant(name, report):
    if isinstance(report, UnwrittenArrayReport):
        array = report.array
    else:
        array = report.buffer if report.check == "order-dependence" else report.step.array
    return any(report.check == check and name.startswith(begin) and array == of for check, begin, of in MEANT)


def every_call_runs(monkeypatch, run):
    """Let all calls of procedures come to `run`: also of those that an earlier test prepared a quicker way for."""
    hidden = property(lambda self: None, lambda self, launch: self.__dict__.update(_launch=launch))
    monkeypatch.setattr(ProcedureFunction, "_launch", hidden, raising=False)
    monkeypatch.setattr(ProcedureFunction, "_run", run)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS)
def test_no_procedure_of_the_library_makes_a_mistake(name, monkeypatch):
    run, checked, found = ProcedureFunction._run, [], []

    def run_checked(self, made, given, options):
        checks = ["race", "uninitialised-read", "divergent-barrier", "order-dependence"]
        result = check_call(self.name, lambda: call_of(self, dict(given)), checks=checks)
        found.extend(str(report) for report in result.reports if not is_meant(self.name, report))
        checked.append(self.name)
        return run(self, made, given, options)

    every_call_runs(monkeypatch, run_checked)
    with vyre.default_device("cpu"):
        ROWS[name].call(std, SMALL)
    assert checked, "the call ran no procedure"
    assert found == []


@pytest.mark.parametrize("name", sorted(ROWS.keys() - {"regex"}))
def test_the_calls_that_are_steps_of_a_procedure_are_known(name):
    @vyre.procedure
    def outer(x: vyre.InOut[vyre.u32]):
        ROWS[name].call(std, SMALL)

    refusal = ""
    try:
        _ = outer.procedure
    except (vyre.ArgumentError, vyre.BindingError) as error:
        refusal = str(error)
    is_step = f"vyre.std.{name}" in STEPS
    assert ("cannot be a step" in refusal or name == "bincount") != is_step


# Procedures that the library vouches for: their arrays are not filled with zeros.
VOUCHED = "argsort compact json_structure nonzero partition regex sort sort_pairs topk union1d unique".split()


@pytest.mark.parametrize("name", VOUCHED)
def test_what_the_library_vouches_for_holds_for_arrays_of_several_tiles(name, monkeypatch):
    run, vouched, found = ProcedureFunction._run, [], []

    def run_checked(self, made, given, options):
        result = check_call(self.name, lambda: call_of(self, dict(given)), checks=["uninitialised-read"])
        found.extend(str(report) for report in result.reports if not is_meant(self.name, report))
        vouched.append(self.is_vouched)
        return run(self, made, given, options)

    every_call_runs(monkeypatch, run_checked)
    with vyre.default_device("cpu"):
        ROWS[name].call(std, Data(9001, np.random.default_rng(7), every=False))
    assert found == []
    assert any(vouched)
