"""The commands that show what there is and run programs: ops, docs, check, explain, repeat, run, completion."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import vyre
from vyre import BufferDecl, Expr, Node, Program
from vyre.__main__ import main
from vyre.commands import COMMANDS

PAGES = Path(vyre.__file__).with_name("docs")


@pytest.fixture
def xor(tmp_path) -> Path:
    """A program of two arrays, as text."""
    i = Expr.gid_x()
    program = Program(
        [BufferDecl.read("a", 0, vyre.u32), BufferDecl.read("b", 1, vyre.u32), BufferDecl.output("out", 2, vyre.u32)],
        (64, 1, 1),
        [Node.store("out", i, Expr.load("a", i) ^ Expr.load("b", i))],
    )
    path = tmp_path / "xor.vyre"
    path.write_text(program.to_text(), encoding="utf-8")
    return path


def out(capsys, *arguments: str, status: int = 0) -> str:
    assert main(arguments) == status
    told = capsys.readouterr()
    assert told.err == ""
    return told.out


def refused(capsys, *arguments: str) -> str:
    assert main(arguments) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    return told.err


def test_ops_lists_every_operation_and_shows_one(capsys):
    lines = out(capsys, "ops").splitlines()
    names = [line.split("(")[0] for line in lines]
    assert [name for name in names if not name.startswith("vyre.std.")] == vyre.ops.ids()
    shown = out(capsys, "ops", "primitive.math.gcd")
    assert shown.startswith("primitive.math.gcd(a: U32, b: U32) -> U32\n  Greatest common divisor")
    assert "\n  12, 18 -> 6\n" in shown
    (row,) = json.loads(out(capsys, "ops", "primitive.math.gcd", "--json"))["operations"]
    assert (row["inputs"], row["output"], row["parameters"]) == (["U32", "U32"], "U32", ["a", "b"])
    assert {"inputs": [12, 18], "output": 6} in row["examples"]
    found = json.loads(out(capsys, "ops", "--json"))
    assert len(found["operations"]) + len(found["library"]) == len(lines)
    assert main(["ops", "primitive.math.none"]) == 2
    assert "Fix: " in capsys.readouterr().err


def test_docs_lists_every_page_and_prints_it(capsys):
    files = sorted(PAGES.glob("*.md"))
    listed = [line.split()[0] for line in out(capsys, "docs").splitlines()]
    assert listed == [file.stem for file in files]
    for file in files:
        assert out(capsys, "docs", file.stem) == file.read_text(encoding="utf-8")
    assert refused(capsys, "docs", "nonsense").startswith("error: there is no page 'nonsense'. Fix: name one of ")


def test_check_tells_rules_and_places_as_json(capsys, tmp_path, xor):
    found = json.loads(out(capsys, "check", str(xor), "--json"))
    assert (found["ok"], found["broken"]) == (True, [])
    bad = tmp_path / "bad.vyre"
    bad.write_text(xor.read_text(encoding="utf-8").replace("b[", "c["), encoding="utf-8")
    found = json.loads(out(capsys, "check", str(bad), "--json", status=1))
    assert not found["ok"]
    (broken,) = found["broken"]
    lines = out(capsys, "check", str(bad), status=1)
    assert lines.startswith(f"{broken['rule']} at {broken['path']}")
    assert broken["message"] in lines


def test_explain_and_repeat_have_the_same_in_json(capsys, xor, tmp_path):
    (row,) = json.loads(out(capsys, "explain", "V014", "--json"))["rules"]
    assert row == {"rule": "V014", "text": vyre.explain("V014")}
    np.savez(tmp_path / "inputs.npz", a=np.arange(8, dtype=np.uint32), b=np.arange(8, dtype=np.uint32), out=8)
    repeat = ("repeat", str(xor), str(tmp_path / "inputs.npz"), "--workgroups", "1", "--backend", "reference")
    found = json.loads(out(capsys, *repeat, "--json"))
    assert (found["ok"], found["backend"], found["times"], found["difference"]) == (True, "reference", 10, None)


def test_run_takes_arrays_of_files_and_keeps_what_is_written(capsys, xor, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    a, b = np.arange(1000, dtype=np.uint32), np.full(1000, 0xFFFF, np.uint32)
    np.save("a.npy", a)
    np.save("b.npy", b)
    arguments = ("run", str(xor), "--input", "a=a.npy", "--input", "b=b.npy", "--input", "out=1000")
    place = ("--workgroups", "16", "--backend", "cpu")
    assert out(capsys, *arguments, *place, "--output", "out=out.npy") == ""
    assert (np.load("out.npy") == a ^ b).all()
    assert np.load("out.npy").dtype == np.uint32
    right = hashlib.sha256((a ^ b).tobytes()).hexdigest()
    shown = out(capsys, *arguments, *place)
    assert shown.startswith(f"out: uint32 (1000,), SHA-256 {right}\n[65535, 65534, 65533, 65532, ...")
    (row,) = json.loads(out(capsys, *arguments, *place, "--json"))["outputs"]
    assert row == {"name": "out", "file": None, "dtype": "uint32", "shape": [1000], "sha256": right}


def test_run_refuses_in_one_sentence_what_cannot_be_run(capsys, xor, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", np.arange(8, dtype=np.uint32))
    np.save("pickled.npy", np.array([{}], dtype=object), allow_pickle=True)
    whole = ("--input", "a=a.npy", "--input", "b=a.npy", "--input", "out=8")
    assert "does not say how many workgroups run. Fix: add --workgroups." in refused(capsys, "run", str(xor), *whole)
    run = ("run", str(xor), "--workgroups", "1", "--backend", "cpu")
    assert "buffer `b` has no array. Fix: add --input b=FILE.npy, or" in refused(capsys, *run, "--input", "a=a.npy")
    wrong = refused(capsys, *run, *whole, "--input", "outt=8")
    assert wrong == "error: the program has no buffer `outt`. Fix: use one of `a`, `b`, `out` (did you mean `out`?).\n"
    wrong = refused(capsys, *run, *whole, "--output", "a=kept.npy")
    assert wrong == "error: the program writes no buffer `a`. Fix: name one of out.\n"
    for path, said in (("none.npy", "cannot be read"), ("pickled.npy", "no array"), (str(xor), "no array")):
        assert said in refused(capsys, *run, "--input", f"a={path}", "--input", "b=a.npy", "--input", "out=8")
    with pytest.raises(SystemExit) as ended:
        main([*run, "--input", "a"])
    assert ended.value.code == 2
    assert "is not a buffer's name, `=` and a file" in capsys.readouterr().err
    assert "--timeout must be seconds above 0" in refused(capsys, *run, *whole, "--timeout", "0")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npy", "pickled.npy", "xor.vyre"]


def test_without_shtab_completion_says_what_to_install(refuses, monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    refuses(
        ["completion", "bash"],
        "vyre completion needs the package shtab, which is not installed",
        "pip install 'vyre[completion]'",
    )


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_command_and_is_read_by_its_shell(capsys, tmp_path, shell):
    pytest.importorskip("shtab", reason="no shtab here: pip install 'vyre[completion]'")
    script = out(capsys, "completion", shell)
    for command in COMMANDS:
        assert command.__name__.rsplit(".", 1)[1] in script
    for option in ("workgroups", "sarif", "seconds", "json"):
        assert option in script
    path = tmp_path / "script"
    path.write_text(script, encoding="utf-8")
    if shutil.which(shell) is None:
        return
    assert subprocess.run([shell, "-n", path], capture_output=True, check=False).returncode == 0
    if shell == "bash":
        asked = f"source {path}; COMP_WORDS=(vyre do); COMP_CWORD=1; _shtab_vyre; echo ${{COMPREPLY[*]}}"
        done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["doctor", "docs"]
