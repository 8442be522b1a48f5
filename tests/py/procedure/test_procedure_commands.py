"""Commands that take a procedure from a file, as text or as bytes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import vyre
from conftest import refused
from vyre.__main__ import main

if TYPE_CHECKING:
    from pathlib import Path

# y = x * times + plus, and z becomes zeros.
TEXT = """\
vyre 1
procedure "scaled"
number times: u32
number plus: i32
input x: u32[]
in_out z: u32[]
output y: u32[length(x)]
program 0 {
  vyre 1
  workgroup_size 64 1 1
  buffer x: read u32 binding 0
  buffer y: read_write u32 binding 1
  buffer numbers: uniform u32 binding 2

  y[gid.x] = (x[gid.x] * numbers[0]) + numbers[1]
}
dispatch scale program 0 (x, y, words(times, plus)) workgroups (ceil_div(length(x), 64), 1, 1)
clear z
return y, z
"""


@pytest.fixture(params=["text", "text with comments", "bytes"])
def file(request, tmp_path: Path, monkeypatch) -> str:
    monkeypatch.chdir(tmp_path)
    content = {
        "text": TEXT.encode(),
        "text with comments": b"\xef\xbb\xbf# vyre\n\n" + TEXT.replace("vyre 1", "vyre 1 # procedure\n #", 1).encode(),
        "bytes": vyre.Procedure.parse(TEXT).to_bytes(),
    }
    (tmp_path / "scaled").write_bytes(content[request.param])
    np.save("x.npy", np.arange(5, dtype=np.uint32))
    return "scaled"


def out(capsys, *arguments: str, status: int = 0) -> str:
    assert main(arguments) == status
    told = capsys.readouterr()
    assert told.err == ""
    return told.out


def told_by(capsys, *arguments: str) -> str:
    assert main(arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    return told.err


def test_the_text_is_what_a_procedure_prints():
    assert vyre.Procedure.parse(TEXT).to_text() == TEXT


RUN = ("--input", "x=x.npy", "--input", "z=3", "--input", "times=7", "--input", "plus=-1", "--backend", "cpu")


def test_run_runs_it(capsys, file):
    assert out(capsys, "run", file, *RUN, "--output", "y=y.npy").startswith("z: uint32 (3,), SHA-256 ")
    assert np.load("y.npy").tolist() == [2**32 - 1, 6, 13, 20, 27]
    rows = json.loads(out(capsys, "run", file, *RUN, "--json"))["outputs"]
    assert [(row["name"], row["shape"]) for row in rows] == [("z", [3]), ("y", [5])]


def test_run_says_what_is_missing(refuses, file):
    refuses(["run", file], "array `x` has no value", "add --input x=FILE.npy")
    refuses(["run", file, *RUN[:4]], "number `times` has no value", "add --input times=N")
    refuses(["run", file, *RUN, "--workgroups", "1"], "--workgroups has no place for a procedure", "leave it out")
    refuses(["run", file, *RUN, "--output", "x=k.npy"], "the procedure writes no array `x`", "name one of z, y")
    refuses(["run", file, *RUN, "--input", "times=a"], "number `times` is no integer, got `a`", "write --input times=5")
    refuses(
        ["run", file, *RUN, "--input", "tmies=1"],
        "there is no input `tmies`",
        "name one of x, z, times, plus (did you mean `times`?)",
    )


def test_check_tells_its_rules(capsys, file, tmp_path):
    assert out(capsys, "check", file) == "The procedure breaks no rule.\n"
    (tmp_path / "wrong").write_text(TEXT.replace("dispatch scale", "# dispatch scale"), encoding="utf-8")
    (row,) = json.loads(out(capsys, "check", "wrong", "--json", status=1))["broken"]
    assert (row["rule"], row["path"]) == ("P011", "arrays[2]")
    (tmp_path / "misspelt").write_text(TEXT.replace("workgroup_size", "workgroup_siez"), encoding="utf-8")
    assert told_by(capsys, "check", "misspelt").startswith(
        "error: `misspelt` holds no procedure: line 10, column 3: expected `workgroup_size`, found `workgroup_siez`. "
    )
    assert "--length has no place for a procedure" in told_by(capsys, "check", file, "--length", "x=3")


def test_lower_takes_one_of_its_programs(capsys, refuses, file):
    program = vyre.Procedure.parse(TEXT).programs[0]
    assert out(capsys, "lower", file, "--to", "text") == TEXT
    assert out(capsys, "lower", file, "--to", "text", "--program", "0") == program.to_text()
    assert out(capsys, "lower", file, "--to", "wgsl", "--program", "0").rstrip("\n") == vyre.lower(
        program, "wgsl"
    ).rstrip("\n")
    for wrong in ([], ["--program", "1"]):
        refuses(
            ["lower", file, "--to", "wgsl", *wrong],
            "`scaled` holds a procedure, whose steps have program 0 alone",
            "write --program 0, or --to text for all",
        )


def test_conform_certifies_it(capsys, file):
    call = ("--call", '{"x": 100, "z": 3, "times": 3, "plus": 1}', "--backend", "cpu")
    shown = out(capsys, "conform", "--procedure", file, *call, "--out", "certificate.json")
    assert "verdict   passed" in shown
    again = out(capsys, "conform", "--procedure", file, "--verify", "certificate.json", "--backend", "reference")
    assert "verified  every hash of certificate.json is what this run gave" in again


def test_bisect_finds_the_step_that_differs(capsys, file, monkeypatch):
    np.savez("inputs.npz", x=np.arange(5, dtype=np.uint32), z=3, times=7, plus=-1)
    command = ("bisect", file, "inputs.npz", "--backend", "cpu", "--against", "reference")
    assert out(capsys, *command) == "cpu and reference give the same bytes.\n"
    inputs = {"x": np.arange(5, dtype=np.uint32), "z": np.zeros(3, np.uint32), "times": 7, "plus": -1}

    def broken(program, inputs, workgroups):
        wrong = vyre.parse(program.to_text().replace("x[gid.x] * numbers[0]", "x[gid.x] + numbers[0]"))
        return vyre.run(wrong, inputs, workgroups, backend="cpu")

    def bisected(procedure, given, workgroups, **ways):
        assert {name: np.asarray(value).tolist() for name, value in given.items()} == {
            name: np.asarray(value).tolist() for name, value in inputs.items()
        }
        assert ways == {"backend": "cpu", "against": "reference", "timeout": None}
        assert workgroups is None
        return bisect(procedure, given, **{**ways, "backend": broken})

    bisect = vyre.bisect
    monkeypatch.setattr(vyre, "bisect", bisected)
    found = out(capsys, *command, status=1)
    assert found.startswith("broken and reference first differ after step 1 of 2, "), found


def test_bisect_says_what_a_procedure_needs(refuses, file):
    refuses(
        ["bisect", file],
        "array `x` has no value",
        'write it with np.savez("inputs.npz", x=array, ...), and add inputs.npz to the command',
    )
    np.savez("inputs.npz", x=np.zeros(1, np.uint32), z=3, times=7)
    refuses(
        ["bisect", file, "inputs.npz"],
        "number `plus` has no value",
        "add it to inputs.npz: np.savez(file, plus=5, ...)",
    )
    np.savez("inputs.npz", z=3, times=7, plus=-1)
    refuses(
        ["bisect", file, "inputs.npz"], "array `x` has no value", "add it to inputs.npz: np.savez(file, x=array, ...)"
    )
    refuses(
        ["bisect", file, "inputs.npz", "--workgroups", "1"], "--workgroups has no place for a procedure", "leave it out"
    )


def test_vyre_run_takes_a_procedure_that_is_a_value():
    procedure = vyre.Procedure.parse(TEXT)
    inputs = {"x": np.arange(3, dtype=np.uint32), "z": np.ones(2, np.uint32), "times": 2, "plus": -1}
    for backend in ("reference", "cpu"):
        found = vyre.run(procedure, inputs, backend=backend)
        assert {name: array.tolist() for name, array in found.items()} == {"z": [0, 0], "y": [2**32 - 1, 1, 3]}
    assert inputs["z"].tolist() == [1, 1]
    with refused(
        vyre.ArgumentError,
        "argument `workgroups` of vyre.run has no place for a procedure",
        "leave it out",
    ):
        vyre.run(procedure, inputs, 1)
    with pytest.raises(vyre.BindingError, match="number `times` of procedure `scaled` must be an integer from 0 to"):
        vyre.run(procedure, {**inputs, "times": -1})
    with pytest.raises(vyre.ValidationError, match="P011 at arrays"):
        vyre.run(vyre.Procedure.parse(TEXT.replace("dispatch scale", "# ")), inputs)


def test_run_refuses_more_zero_elements_than_there_can_be(refuses, file):
    others = ("--input", "times=1", "--input", "plus=0", "--input", "z=1")
    digits = "9" * 5000
    refuses(
        ["run", file, "--input", f"x={digits}", *others],
        f"`{digits[:80]}` is no number of elements, which have at most 19 digits",
        "write a smaller number",
    )
    for count in (10**15, 10**19 - 1):
        refuses(
            ["run", file, "--input", f"x={count}", *others],
            f"the host has no memory for {count:,} elements of array `x`",
            "write a smaller number",
        )


def test_run_keeps_an_array_in_every_file_that_is_named(capsys, file):
    numbers = ("--input", "times=1", "--input", "plus=0", "--input", "z=1")
    out(capsys, "run", file, "--input", "x=x.npy", *numbers, "--output", "y=a.npy", "--output", "y=b.npy")
    assert np.load("a.npy").tolist() == np.load("b.npy").tolist() == [0, 1, 2, 3, 4]


def test_conform_says_that_there_is_no_such_file(capsys, file):
    assert told_by(capsys, "conform", "--procedure", "scale.txt").startswith(
        "error: `scale.txt` cannot be read: No such file or directory. Fix: "
    )
