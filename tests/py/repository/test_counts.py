"""The messages of the guard against slowness (tests/counts/guard.py); ctest runs it on the build."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
GUARD = runpy.run_path(str(ROOT / "tests/counts/guard.py"))
compare, growth = GUARD["compare"], GUARD["growth"]


def test_eleven_percent_more_is_too_slow():
    assert compare({"parse 2000": 111_000}, {"parse 2000": 100_000}).failures == [
        "parse 2000: 111,000 instructions, 100,000 on record (+11.0 %): more than 10 % slower. Fix: find what was "
        "added (callgrind_annotate), or write the record anew with `make bench-record` and say why."
    ]


@pytest.mark.parametrize("count", [110_000, 100_000, 90_000])
def test_what_is_within_the_margin_says_nothing(count):
    verdict = compare({"parse 2000": count}, {"parse 2000": 100_000})
    assert (verdict.failures, verdict.notes) == ([], [])


def test_faster_is_no_failure_but_worth_a_record():
    verdict = compare({"parse 2000": 50_000}, {"parse 2000": 100_000})
    assert verdict.failures == []
    assert verdict.notes == [
        "parse 2000: 50,000 instructions, 100,000 on record (-50.0 %): faster; `make bench-record` keeps it so."
    ]


def test_case_without_record_and_record_without_case_are_failures():
    assert compare({"new": 1}, {"old": 2}).failures == [
        "new: 1 instructions, none on record. Fix: make bench-record",
        "old: on record, but no longer counted. Fix: make bench-record",
    ]


def test_more_than_linear_growth_is_a_failure():
    counts = {"lower 200": 9_000_000, "lower 2000": 2_000_000, "lower 99000": 198_000_000}
    assert growth(counts).failures == [
        "lower: 1,000 instructions a node at 2,000 nodes, 2,000 at 99,000 (2.00 times): more than linear. "
        "Fix: find what is done again for each node."
    ]


def test_linear_growth_is_none():
    assert growth({"lower 2000": 2_000_000, "lower 99000": 99_000_000}).failures == []


def test_record_lies_in_the_tree_as_it_is_written():
    text = GUARD["RECORD"].read_text(encoding="utf-8")
    assert GUARD["written"](json.loads(text)) == text


def test_own_cost_is_what_is_spent_in_the_module_alone():
    dump = """fl=(1)
ob=(1) /somewhere/_core.so
fn=(1) run
0 100
cob=(2) /usr/lib/libc.so
cfn=(2) malloc
calls=7 0
0 5000
0 20

ob=(2)
fn=(2)
0 5000

ob=(1)
fn=(3) other
0 3"""
    own_cost = GUARD["own_cost"]
    assert own_cost(iter(dump.splitlines()), "_core.so") == 123
    assert own_cost(iter(dump.splitlines()), "libc.so") == 5000


def test_growth_is_looked_at_up_to_the_limit_of_a_program():
    cases = json.loads(GUARD["RECORD"].read_text(encoding="utf-8"))["instructions"]
    for stage in ("build", "validate", "lower", "emit-spirv"):
        assert {f"{stage} 2000", f"{stage} 99000"} <= set(cases)
