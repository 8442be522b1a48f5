"""`make test-mutation` tries each fault once, on several copies of the tree at a time, and believes only what passes without the fault."""  # noqa: E501

from __future__ import annotations

import argparse
import json
import sys
import threading

import pytest

from mutation_gate import copies, faults, gate, suites

FAULT = faults.Fault(id="a", file="cpp/vyre/base/x.cpp", old="right", new="wrong", breaks="it is wrong")
GTEST = "[ RUN      ] A.b\n[  FAILED  ] A.b (1 ms)\n"


class Scripted:
    """Stands in for a copy: `fails(suite, with_fault)` says what a suite prints if it fails."""

    def __init__(self, fails):
        self.fails, self.fault, self.ran, self.baselines = fails, None, [], 0.0

    def put_in(self, fault):
        self.fault = fault

    def take_out(self):
        self.fault = None

    def make(self, *targets):
        return copies.Ran(0, "", 0.0)

    def make_without_a_fault(self, *targets):
        self.take_out()

    def run(self, suite, log, limit):
        printed = self.fails(suite, self.fault is not None)
        self.ran.append((suite.name, suite.command[-1], self.fault is not None))
        return copies.Ran(1 if printed else 0, printed, 0.0)


@pytest.fixture
def new_gate(tmp_path, monkeypatch):
    monkeypatch.setattr(gate, "BASELINE", tmp_path / "baseline.json")
    monkeypatch.setattr(gate, "RESULTS", tmp_path / "results.jsonl")
    monkeypatch.setattr(gate, "CAUGHT_BY", tmp_path / "caught_by.json")
    (tmp_path / "caught_by.json").write_text("{}")
    return gate.Gate("tree", "commit", lambda text: None)


def outcome_of(fault, how="test", suite="base", test="A.b"):
    return gate.Outcome(fault.id, fault.key(), "tree", "commit", how, suite, test, 1.0)


def test_the_test_that_caught_a_fault_before_is_tried_first_and_alone(new_gate):
    copy = Scripted(lambda suite, with_fault: GTEST if with_fault else "")
    outcome = new_gate.attempt(copy, FAULT, ("lower", "A.*"))
    assert (outcome.how, outcome.suite, outcome.test) == ("test", "lower", "A.b")
    assert copy.ran == [
        ("lower", "--gtest_filter=A.*", True),
        ("lower", "--gtest_filter=A.b", True),
        ("lower", "--gtest_filter=A.b", False),
    ]
    assert copy.fault is None


def test_a_test_that_fails_without_the_fault_catches_none(new_gate):
    copy = Scripted(lambda suite, with_fault: GTEST if suite.command[-1].endswith("=A.b") else "")
    assert new_gate.attempt(copy, FAULT, ("lower", "A.b")).how == "survived"


def test_a_fault_survives_when_every_suite_has_passed_with_and_without_it(new_gate):
    copy = Scripted(lambda suite, with_fault: "")
    assert new_gate.attempt(copy, FAULT, None).how == "survived"
    whole = [suite.name for suite in suites.suites_for(FAULT.file)]
    assert [name for name, _, with_fault in copy.ran if with_fault] == whole
    assert [name for name, _, with_fault in copy.ran if not with_fault] == whole


def test_a_failure_that_its_test_does_not_repeat_alone_is_none(new_gate):
    def fails(suite, with_fault):
        return GTEST if suite.command[-1] == "--gtest_filter=*" and with_fault else ""

    copy = Scripted(fails)
    assert new_gate.attempt(copy, FAULT, None).how == "survived"
    assert copy.ran[1:4] == [
        ("base", "--gtest_filter=*", True),
        ("base", "--gtest_filter=A.b", True),
        ("base", "--gtest_filter=*-A.b", True),
    ]


def test_a_suite_that_fails_without_a_fault_ends_the_run(new_gate):
    copy = Scripted(lambda suite, with_fault: GTEST)
    with pytest.raises(faults.GateError, match=r"^suite base fails without a fault: test A\.b\. Fix: see "):
        new_gate.attempt(copy, FAULT, None)


class Folder:
    """Stands in for gate.Copy, and builds nothing."""

    def __init__(self, number, compilers, processes):
        self.number, self.processes = number, processes

    def fill(self, files): ...

    def configure(self): ...

    def make_without_a_fault(self, *targets): ...


def many(count):
    return [faults.Fault(id=f"f{k}", file="cpp/x.cpp", old=f"{k}", new="", breaks="it is wrong") for k in range(count)]


def test_each_fault_is_tried_once_in_whichever_copy_is_free(new_gate, monkeypatch):
    monkeypatch.setattr(gate, "Copy", Folder)
    both, seen, told = threading.Barrier(2), [], []

    def attempt(copy, fault, hint):
        both.wait()  # passes only while two faults are being tried
        seen.append((copy.number, fault.id))
        return outcome_of(fault)

    new_gate.attempt = attempt
    gate.try_in_copies(new_gate, many(8), {}, {}, 2, lambda fault, outcome: told.append((fault.id, outcome.fault)))
    assert sorted(fault for _, fault in seen) == [f"f{k}" for k in range(8)]
    assert {copy for copy, _ in seen} == {0, 1}
    assert sorted(told) == [(f"f{k}", f"f{k}") for k in range(8)]


def test_an_error_in_one_copy_ends_what_runs_in_the_others(new_gate, monkeypatch):
    monkeypatch.setattr(gate, "Copy", Folder)
    second_runs, ended = threading.Event(), []

    def attempt(copy, fault, hint):
        if fault.id == "f0":
            second_runs.wait()
            raise faults.GateError("broken. Fix: mend it.")
        second_runs.set()
        with pytest.raises(copies.Stopped):
            copy.processes.execute((sys.executable, "-c", "import time; time.sleep(600)"), "/", {}, None)
        ended.append(fault.id)
        raise copies.Stopped

    new_gate.attempt = attempt
    with pytest.raises(faults.GateError, match=r"^broken\. Fix: mend it\.$"):
        gate.try_in_copies(new_gate, many(2), {}, {}, 2, lambda fault, outcome: None)
    assert ended == ["f1"]


def test_a_command_that_takes_too_long_ends_with_all_that_it_started(tmp_path):
    # The output is read to its end, which comes when the last process that holds it has ended.
    ran = copies.Processes().execute(("sh", "-c", "sleep 600 & sleep 600"), tmp_path, {}, 1)
    assert (ran.status, ran.how()) == (None, "time-out")


def test_a_copy_is_filled_with_what_differs_and_a_fault_is_taken_out_again(tmp_path, monkeypatch):
    monkeypatch.setattr(copies, "WORK", tmp_path)
    copy = copies.Copy(0, 1, copies.Processes())
    copy.fill({FAULT.file: (b"all right\n", 0o644), "gone": (b"", 0o644)})
    file = copy.tree / FAULT.file
    copy.put_in(FAULT)
    copy.put_in(FAULT)
    assert file.read_bytes() == b"all wrong\n"
    copy.take_out()
    assert file.read_bytes() == b"all right\n"
    before = file.stat().st_mtime_ns
    copy.fill({FAULT.file: (b"all right\n", 0o755), "new": (b"n", 0o644)})
    assert file.stat().st_mtime_ns == before
    assert sorted(path.name for path in copy.tree.rglob("*") if path.is_file()) == ["new", "x.cpp"]


def test_a_run_goes_on_where_the_last_one_stopped(new_gate, monkeypatch, capsys):
    tried = []

    def try_in_copies(gate_, todo, hints, files, jobs, tell):
        for fault in todo[:2]:
            tried.append((fault.id, hints.get(fault.id)))
            tell(fault, outcome_of(fault, test=f"A.{fault.id}"))
        if len(todo) > 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(gate, "try_in_copies", try_in_copies)
    monkeypatch.setattr(gate, "fingerprint", lambda files: "tree")
    monkeypatch.setattr(gate, "git", lambda *arguments: b"commit\n")
    monkeypatch.setattr(gate, "load", lambda: many(3))
    options = argparse.Namespace(at="HEAD", since=None, again=False, record=True, jobs=2)
    assert gate.try_all(many(3), {}, options) == 130
    assert gate.try_all(many(3), {}, options) == 0
    assert tried == [("f0", None), ("f1", None), ("f2", None)]
    printed = capsys.readouterr().out
    assert "interrupted: run it again to go on from here\n" in printed
    assert printed.endswith("f2      1.0  base: A.f2\n3 of 3 faults caught: 100.0 %, 3 s\n")
    assert json.loads(gate.CAUGHT_BY.read_text()) == {f"f{k}": ["base", f"A.f{k}"] for k in range(3)}
    options.again = True
    gate.try_all(many(2), {}, options)
    assert tried[3:] == [("f0", ("base", "A.f0")), ("f1", ("base", "A.f1"))]


def test_headers_and_tables_are_tried_first():
    files = ["python/a.py", "cpp/b.hpp", "cpp/c.cpp", "cpp/d.def"]
    listed = [faults.Fault(id=name, file=name, old="a", new="b", breaks="it is wrong") for name in files]
    assert [fault.file for fault in gate.in_order(listed)] == ["cpp/b.hpp", "cpp/d.def", "python/a.py", "cpp/c.cpp"]
