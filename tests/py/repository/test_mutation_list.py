"""The list of faults that `make test-mutation` tries (tests/mutation/faults.toml) fits the tree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mutation_gate import faults, gate, suites

ROOT = Path(__file__).parents[3]
FAULTS = faults.load()


def test_list_is_long_enough():
    assert len(FAULTS) >= 60


@pytest.mark.parametrize("stage", [prefix for prefix in suites.NEAREST if prefix.endswith("/")])
def test_every_stage_has_faults(stage):
    assert sum(fault.file.startswith(stage) for fault in FAULTS) >= 2


def test_every_fault_applies_to_the_tree():
    stale = []
    for fault in FAULTS:
        try:
            changed = fault.applied((ROOT / fault.file).read_text(encoding="utf-8"))
        except (faults.GateError, FileNotFoundError) as error:
            stale.append(str(error))
        else:
            assert changed.count(fault.new) > 0, fault.id
            assert fault.old != fault.new, fault.id
    assert stale == []


def test_faults_say_what_they_break_on_one_line():
    wordy = [fault.id for fault in FAULTS if not 10 <= len(fault.breaks) <= 130 or "\n" in fault.breaks]
    assert wordy == []


def test_no_two_faults_are_one():
    assert len({fault.key() for fault in FAULTS}) == len(FAULTS)


def test_what_caught_a_fault_is_a_test_of_a_suite():
    for suite, test in json.loads(gate.CAUGHT_BY.read_text(encoding="utf-8")).values():
        assert suite in suites.SUITES
        assert test


def test_id_used_twice_is_refused(tmp_path):
    rows = [f'["{file}".a]\nold = "c"\nnew = "d"\nbreaks = "e"\n' for file in ("b", "c")]
    (tmp_path / "faults.toml").write_text("".join(rows))
    with pytest.raises(faults.GateError, match=r"^fault a stands in the list twice\. Fix: rename one of them\.$"):
        faults.load(tmp_path / "faults.toml")


@pytest.mark.parametrize(("text", "found"), [("x", 0), ("old old", 2)])
def test_stale_fault_is_refused(text, found):
    fault = faults.Fault(id="a", file="b.cpp", old="old", new="new", breaks="c")
    with pytest.raises(
        faults.GateError, match=rf"^fault a: its old text occurs {found} times in b\.cpp\. Fix: the list is stale"
    ):
        fault.applied(text)


def test_names_of_failed_tests_are_read_from_their_output():
    gtest, pytest_ = suites.SUITES["run"], suites.SUITES["python"]
    failed = suites.failed_test
    assert (
        failed(gtest, "[ RUN      ] A.b\n[       OK ] A.b (0 ms)\n[ RUN      ] A.c\n[  FAILED  ] A.c (1 ms)\n") == "A.c"
    )
    assert failed(gtest, "[ RUN      ] A.b\n[       OK ] A.b (0 ms)\n[ RUN      ] A.crash\n") == "A.crash"
    lines = "tests/py/test_a.py::test_b[x y] PASSED [ 1%]\ntests/py/test_a.py::test_c[x y] FAILED [ 2%]\n"
    assert failed(pytest_, lines) == "tests/py/test_a.py::test_c[x y]"
    assert (
        failed(pytest_, "tests/py/test_a.py::test_b PASSED [ 1%]\ntests/py/test_a.py::test_d ")
        == "tests/py/test_a.py::test_d"
    )
