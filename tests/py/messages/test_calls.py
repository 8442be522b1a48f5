"""No public call with hostile arguments ends the process, hangs, or fills the memory, and each error is one of ours."""

from __future__ import annotations

import pytest

import calls
import hostile
from conftest import SEED

PROGRAM = """
import os
os.environ["VK_DRIVER_FILES"] = "/dev/null"  # drivers have bugs of their own
import warnings
warnings.simplefilter("ignore")
import calls, hostile
hostile.serve(lambda case: calls.call(*case))
"""


def failures(count: int, seed: int) -> str:
    cases = [(seed, number) for number in range(count)]
    found = hostile.outcomes(PROGRAM, cases)
    assert len(found) == count
    wrong = []
    for case, outcome in zip(cases, found, strict=True):
        target = calls.TARGETS[case[1] % len(calls.TARGETS)].name
        if outcome.kind in ("ended", "hung"):
            wrong.append(f"call{case} of {target} {outcome.kind}: {outcome.text}")
        elif outcome.kind == "error":
            wrong.append(f"{outcome.type[0]}: {outcome.text}")
    return "\n".join(wrong)


@pytest.mark.parametrize("seed", [1, 2])
def test_1_000_hostile_calls(seed):
    """The calls are the same in each run; the slow suite draws others."""
    assert failures(1_000, seed) == ""


@pytest.mark.slow
def test_100_000_hostile_calls():
    assert failures(100_000, SEED) == ""


def test_every_public_name_is_called():
    """At least once in 2,000 calls, but for those that are left out for a reason."""
    called = {target.name for target in calls.TARGETS}
    assert len(called) == len(calls.TARGETS) < 2_000
    for name in (
        "run",
        "Program",
        "Program.to_text",
        "Program.__call__",
        "Expr.__add__",
        "Array.write",
        "ops.register",
    ):
        assert name in called
    whole = {name.split(".")[0] for name in called}
    assert {name for name in calls.vyre.__all__ if callable(getattr(calls.vyre, name))} <= whole


@pytest.mark.parametrize(
    ("name", "error", "wrong"),
    [
        ("run", ValueError("no"), "is none of ours"),
        ("run", KeyError("no"), "is none of ours"),
        ("run", SystemError("no"), "is none of ours"),
        ("run", MemoryError(), "is none of ours"),
        ("run", TypeError("'int' object is not iterable"), "is none of ours"),
        ("run", calls.vyre.ArgumentError("what is wrong"), "has no Fix"),
        ("run", calls.vyre.ArgumentError("a" * 30_000 + " Fix: b"), "has 30007 characters"),
        ("run", calls.vyre.InternalError("bug"), "is a bug: bug"),
        ("run", OSError("no file"), "is none of ours"),
        ("replay", OSError("no file"), ""),
        ("run", calls.vyre.BindingError("what is wrong. Fix: this."), ""),
        ("run", calls.Hostile("raised on purpose"), ""),
        ("run", TypeError("run() missing 2 required positional arguments: 'inputs' and 'workgroups'"), ""),
    ],
)
def test_a_call_that_fails_in_another_way_is_noticed(name, error, wrong):
    target = next(target for target in calls.TARGETS if target.name == name)
    assert calls.judged(target, error) == wrong
