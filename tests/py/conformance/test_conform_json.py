"""``vyre conform --json``: one object with the verdicts, the totals, the place, and what went wrong."""

from __future__ import annotations

import hashlib
import json
import sys

import numpy as np
import pytest

import vyre
from vyre.__main__ import main

L4 = ["conform", "--backend", "reference", "--level", "L4", "--json"]
HEAD = {"version": vyre.__version__, "command": "conform"}
PLACE = {
    "backend": "reference",
    "device": "reference interpreter",
    "driver": "vyre",
    "kind": "cpu",
    "limits": {"maxComputeWorkGroupInvocations": 65536, "maxComputeSharedMemorySize": 268435456},
    "probes": {},
}
NOT_RUN = {name: {"verdict": "not run"} for name in ("L1", "L2", "L3")}
NOT_CLAIMED = {name: {"verdict": "not claimed"} for name in ("L1f", "L2f", "L3f", "L4f")}


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    text, error = capsys.readouterr()
    assert error == ""
    assert text.count("\n") == 1
    return json.loads(text)


def of_counts(verdict: str, **counts: int) -> dict[str, object]:
    """The object of L4 on the reference, without its cases."""
    every = {"passed": 0, "allowed": 0, "failed": 0, "nondeterministic": 0, "skipped": 0} | counts
    levels = {**NOT_RUN, "L4": {"verdict": verdict, **every}, **NOT_CLAIMED}
    return {**HEAD, "ok": verdict == "passed", "target": PLACE, "runs": 3, "levels": levels, "totals": every}


def test_all_is_well(capsys):
    assert main(L4) == 0
    assert printed(capsys) == {**of_counts("passed", passed=8), "cases": []}


def test_a_case_that_is_wrong_is_named(capsys, monkeypatch):
    real, count = vyre.run, 0

    def run(program, inputs, grid, **more):
        nonlocal count
        outputs = real(program, inputs, grid, **more)
        if "firsts" in inputs:  # of crc32 alone
            count += 1
            outputs["sums"][0] ^= count > 1
        return outputs

    monkeypatch.setattr(vyre, "run", run)
    assert main(L4) == 1
    found = printed(capsys)
    (case,) = found.pop("cases")
    assert found == of_counts("failed", passed=7, nondeterministic=1)
    reason = case.pop("reason")
    assert case == {"id": "L4/crc32", "status": "nondeterministic"}
    assert reason.startswith("run 2 of 3 gave other bytes than run 1: array ")


def test_outcomes_that_were_seen_are_there_when_asked_for(capsys):
    assert main([*L4, "--seen"]) == 0
    assert printed(capsys) == {**of_counts("passed", passed=8), "cases": [], "seen": {}}


def test_a_verification_says_what_differs(tmp_path, capsys):
    file = tmp_path / "cert.json"
    assert main([*L4, "--out", str(file)]) == 0
    assert printed(capsys) == {**of_counts("passed", passed=8), "cases": []}
    verify = ["conform", "--backend", "reference", "--verify", str(file), "--json"]
    assert main(verify) == 0
    verified = {"certificate": str(file), "agrees": True, "differences": [], "notes": []}
    assert printed(capsys) == {**of_counts("passed", passed=8), "verified": verified, "cases": []}
    content = json.loads(file.read_text(encoding="utf-8"))
    content["cases"][0]["output"] = "0" * 64
    del content["sha256"]
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    file.write_text(json.dumps({**content, "sha256": hashlib.sha256(text.encode()).hexdigest()}), encoding="utf-8")
    assert main(verify) == 1
    found = printed(capsys)
    (difference,) = found["verified"].pop("differences")
    assert difference.startswith("case `L4/sha256`: the hash of its output differs")
    assert found["verified"] == {"certificate": str(file), "agrees": False, "notes": []}
    assert found["ok"] is False


@vyre.kernel
def tripled(x: vyre.In[vyre.u32], y: vyre.Out[vyre.u32]):
    i = vyre.gid(0)
    y[i] = x[i] * 3


@vyre.procedure
def triple(x: vyre.In[vyre.u32]):
    y = vyre.scratch(vyre.u32, x.length, name="y")
    tripled(x, y)
    return y


def test_a_procedure_has_a_verdict(tmp_path, capsys, monkeypatch):
    assert triple(np.array([1, 2], np.uint32)).tolist() == [3, 6]
    monkeypatch.setitem(sys.modules, "my_procedures", sys.modules[__name__])
    file = str(tmp_path / "cert.json")
    ask = ["conform", "--procedure", "my_procedures:triple", "--backend", "reference", "--json"]
    assert main([*ask, "--call", '{"x": 9}', "--call", '{"x": 5}', "--out", file]) == 0
    found = printed(capsys)
    assert found.pop("target")["backend"] == "reference"
    assert found.pop("procedure")["name"] == "triple"
    assert found == {**HEAD, "ok": True, "runs": 3, "verdict": "passed", "calls": 2}
    assert main([*ask, "--verify", file]) == 0
    assert printed(capsys)["verified"] == {"certificate": file, "agrees": True, "differences": [], "notes": []}


def test_the_table_of_coverage_is_no_json(capsys):
    assert main(["conform", "--coverage", "--json"]) == 2
    assert capsys.readouterr() == ("", "error: --json has no place with --coverage. Fix: leave it out.\n")
