"""A backend that changes from run to run fails conformance: each case runs several times, with others between."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import vyre
from certificate_forger import sealed
from conftest import message
from vyre.__main__ import main
from vyre.conformance import (
    Certificate,
    CertificateError,
    cases,
    catalogue,
    certify,
    run_case,
    run_cases,
    target,
    verify,
)

GOLDEN = Path(__file__).parents[1] / "golden"
# Small cases of every level, which a fault that is planted below concerns.
SOME = {
    "L1": "L1/operators/add",
    "L2": "L2/primitive.math.add@1/model",
    "L3": "L3/optimiser/L1/operators/add",
    "L4": "L4/crc32",
}


@pytest.fixture(autouse=True)
def _standard_operations_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "registered_cases", lambda levels: ())


def named(*ids: str):
    (found,) = [[made for made in cases() if made.id == id] for id in ids]
    return found[0]


def key(program, inputs, grid, optimize) -> str:
    digest = hashlib.sha256(program.to_bytes() + repr((grid, optimize)).encode())
    for name in sorted(inputs):
        digest.update(np.ascontiguousarray(inputs[name]).tobytes())
    return digest.hexdigest()


class Backend:
    """The reference, wrong in some runs of one input; it notes what it was asked to run."""

    def __init__(self, wrong: Callable[[int], bool]) -> None:
        self.wrong, self.times, self.order = wrong, Counter(), []

    def __call__(self, program, inputs, grid, optimize) -> Mapping[str, np.ndarray]:
        asked = key(program, inputs, grid, optimize)
        self.times[asked] += 1
        self.order.append(asked)
        outputs = vyre.run(program, inputs, grid, backend="reference", optimize=optimize)
        if self.wrong(self.times[asked]):
            for array in outputs.values():
                array.ravel()[-1:] ^= 1
        return outputs


def test_a_backend_wrong_in_every_second_run_of_one_input_fails_every_level(monkeypatch):
    """A twelfth of all cases stands for them: the backend hashes every call in Python."""
    every = catalogue.cases
    monkeypatch.setattr(
        catalogue,
        "cases",
        lambda levels: tuple(made for k, made in enumerate(every(levels)) if k % 12 == 0 or made.id in SOME.values()),
    )
    certificate = certify(Backend(lambda run: run % 2 == 0))
    assert certificate.runs == 3
    for level in SOME:
        assert certificate.levels[level] == "failed"
    rows = {row["id"]: row for row in certificate.cases}
    for id in SOME.values():
        assert (rows[id]["status"], rows[id]["output"]) == ("nondeterministic", "")
    # Litmus tests whose outcomes are open are judged by what is decided of them, and of an empty output nothing can be
    # wrong; every other case notices.
    unnoticed = [row["id"] for row in certificate.cases if row["status"] not in ("nondeterministic", "failed")]
    assert [id for id in unnoticed if "/litmus/" not in id and not id.endswith("/empty_output")] == []


@pytest.mark.parametrize("id", SOME.values())
def test_every_second_call_being_wrong_is_noticed_of_a_case_that_is_asked_for_alone(id):
    """The runs of a case do not all fall on the right ones."""
    backend = Backend(lambda _: len(backend.order) % 2 == 0)
    assert run_case(named(id), target(backend)).status in ("nondeterministic", "failed")


def test_the_sentence_names_the_run_the_element_and_both_values():
    add = named("L1/operators/add")
    size = add.wanted["out0"].size
    right = int(add.wanted["out0"][-1])
    result = run_case(add, target(Backend(lambda run: run == 3)))
    assert (result.status, result.reason) == (
        "nondeterministic",
        f"run 3 of 3 gave other bytes than run 1: array `out0`: element {size - 1} is {right ^ 1}, "
        f"was {right} in run 1 (1 of {size} differ)",
    )
    both = run_case(named("L3/optimiser/L1/operators/add"), target(Backend(lambda run: run == 2)))
    assert both.reason == (
        f"run 2 of 3 gave other bytes than run 1: with the optimiser: array `out0`: element {size - 1} is "
        f"{right ^ 1}, was {right} in run 1 (1 of {size} differ)"
    )


def test_a_run_that_ends_otherwise_is_said_so():
    def losing(program, inputs, grid, optimize):
        made.append(1)
        if len(made) == 4:
            raise vyre.DeviceLostError("the device is lost. Fix: restart it.")
        return vyre.run(program, inputs, grid, backend="reference", optimize=optimize)

    made: list[int] = []
    result = run_case(named("L1/operators/add"), target(losing))
    assert (result.status, result.reason) == (
        "nondeterministic",
        "run 2 of 3 failed (DeviceLostError: the device is lost. Fix: restart it.); run 1 passed",
    )


def test_the_same_fault_in_every_run_is_a_failure_and_no_difference():
    assert run_case(named("L1/operators/add"), target(Backend(lambda _: True))).status == "failed"


def test_what_a_backend_gave_may_change_afterwards():
    """A backend that hands out its own memory and writes to it in the next call does not pass."""
    kept: dict[str, np.ndarray] = {}

    def reusing(program, inputs, grid, optimize):
        outputs = vyre.run(program, inputs, grid, backend="reference", optimize=optimize)
        asked = key(program, inputs, grid, optimize)
        for name, array in outputs.items():
            mine = kept.setdefault(asked + name, array)
            mine[...] = array
            mine.ravel()[-1:] ^= asked in seen
            outputs[name] = mine
        seen.add(asked)
        return outputs

    seen: set[str] = set()
    assert run_case(named("L1/operators/add"), target(reusing)).status == "nondeterministic"


@pytest.mark.parametrize("count", [1, 2, 3, 6, 7, 8, 13, 14, 15, 30])
def test_each_case_runs_three_times_and_never_after_itself(count):
    some = [made for made in cases(["L1"]) if made.id.startswith("L1/casts/")][:count]
    backend = Backend(lambda _: False)
    results = list(run_cases(some, target(backend)))
    assert [result.case for result in results] == some
    assert {result.status for result in results} == {"passed"}
    wanted = {key(step.program, made.inputs, step.grid, None) for made in some for step in made.steps}
    assert {backend.times[one] for one in wanted} == {3}
    assert not [one for one, next_one in pairwise(backend.order) if one == next_one]


def test_the_order_is_the_same_every_time():
    orders = []
    for _ in range(2):
        backend = Backend(lambda _: False)
        list(run_cases(cases(["L4"]), target(backend)))
        orders.append(backend.order)
    assert orders[0] == orders[1]


def test_other_cases_come_between_in_more_than_one_order():
    backend = Backend(lambda _: False)
    list(run_cases([made for made in cases(["L1"]) if made.id.startswith("L1/casts/")][:7], target(backend)))
    before = defaultdict(set)
    for one, next_one in pairwise(backend.order):
        before[next_one].add(one)
    assert sum(len(found) >= 2 for found in before.values()) >= 6


def test_fewer_than_three_runs_leave_a_level_incomplete(capsys):
    once = certify("reference", levels=["L4"], repeat=1)
    assert (once.runs, once.levels["L4"], once.passed) == (1, "incomplete", False)
    assert certify("reference", levels=["L4"], repeat=3).levels["L4"] == "passed"
    assert main(["conform", "--backend", "reference", "--level", "L4", "--repeat", "2"]) == 1
    said = capsys.readouterr().out
    assert "runs      each case 2 times, with others between\n" in said
    assert "levels are incomplete where cases ran fewer than 3 times\n" in said


@pytest.mark.parametrize("repeat", [0, -1, 1001, True, 2.0, "3"])
def test_another_number_of_runs_is_an_error(repeat):
    assert message(lambda: certify("reference", levels=["L4"], repeat=repeat), vyre.ArgumentError) == (
        f"argument `repeat` must be an integer from 1 to 1000, got {repeat!r}. Fix: pass an integer from 1 to 1000."
    )


def test_the_command_line_shows_what_differs(capsys, monkeypatch):
    real = vyre.run
    seen: Counter[str] = Counter()

    def run(program, inputs, grid, **more):
        asked = key(program, inputs, grid, more["optimize"])
        seen[asked] += 1
        outputs = real(program, inputs, grid, **more)
        if seen[asked] == 2 and "firsts" in inputs:  # of crc32 alone
            outputs["sums"][0] ^= 1
        return outputs

    monkeypatch.setattr(vyre, "run", run)
    assert main(["conform", "--backend", "reference", "--level", "L4"]) == 1
    said = capsys.readouterr().out
    assert re.search(r"^L4 +failed +7 +0 +0 +1 +0$", said, re.MULTILINE), said
    assert re.search(r"^nondeterministic L4/crc32: run 2 of 3 gave other bytes than run 1: array ", said, re.MULTILINE)


def words(page: str) -> str:
    """The text of a page."""
    return " ".join(re.sub("<[^>]*>", " ", page).split())


def test_a_certificate_of_format_1_is_read():
    """A file that an earlier version wrote."""
    given = Certificate.load(GOLDEN / "certificate-1.json")
    assert (given.content["format"], given.runs, given.levels["L4"], given.passed) == (1, 1, "passed", True)
    assert "each case was run once" in words(given.to_html())


def test_a_certificate_of_format_1_verifies():
    """One that has this version's tables and operations, which the file above need not have."""
    content = certify("reference", levels=["L4"]).content
    old = {key: value for key, value in content.items() if key != "runs"}
    counts = {key: value for key, value in content["levels"]["L4"].items() if key != "nondeterministic"}
    given = Certificate.from_json(sealed({**old, "format": 1, "levels": {**content["levels"], "L4": counts}}))
    found = verify(given, "reference")
    assert found.agrees, found.differences
    assert found.notes == ("made with 1 run of each case, verified with 3",)
    assert (found.again.content["format"], found.again.runs) == (2, 3)
    assert "each case was run 3 times" in words(found.again.to_html())
    # Other bytes are still a difference when another version certified them.
    rows = [{**row, "output": "0" * 64} for row in content["cases"]]
    edited = Certificate.from_json(sealed({**given.content, "cases": rows}))
    assert len(verify(edited, "reference").differences) == 8


def test_formats_do_not_mix():
    old = json.loads((GOLDEN / "certificate-1.json").read_text(encoding="utf-8"))
    new = certify("reference", levels=["L4"]).content
    fix = "Fix: use a file that `vyre conform --out` wrote."
    for content, problem in (
        ({**old, "runs": 3}, "`runs` is unknown"),
        ({**new, "format": 1}, "`runs` is unknown"),
        ({**old, "format": 2}, "`runs` is missing"),
        ({**new, "runs": "3"}, "`runs` is not an integer from 1 to 1000"),
        ({**new, "runs": True}, "`runs` is not an integer from 1 to 1000"),
        ({**new, "runs": 0}, "`runs` is not an integer from 1 to 1000"),
        ({**new, "runs": 10**4000}, "`runs` is not an integer from 1 to 1000"),
    ):
        assert message(lambda content=content: Certificate.from_json(sealed(content)), CertificateError) == (
            f"this is no certificate: {problem}. {fix}"
        )
    # A lower number of runs contradicts the verdicts.
    with pytest.raises(CertificateError, match="its verdicts are not those of its cases"):
        Certificate.from_json(sealed({**new, "runs": 2}))
