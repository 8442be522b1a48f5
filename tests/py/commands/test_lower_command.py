"""``vyre lower`` prints what vyre.lower gives, byte for byte."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import vyre
from vyre import BufferDecl, Expr, Node, Program
from vyre.__main__ import main

PROGRAM = Program(
    [BufferDecl.read("given", 0, vyre.u32), BufferDecl.output("out", 1, vyre.u32)],
    (64, 1, 1),
    [Node.store("out", Expr.gid_x(), Expr.load("given", Expr.gid_x()) + 0)],
)


def as_json(path: str, form: str, content: bytes, **where: str) -> str:
    """The line of --json about what is printed, or written to a file."""
    told = {"version": vyre.__version__, "command": "lower", "ok": True, "program": path, "target": form}
    return json.dumps({**told, "sha256": hashlib.sha256(content).hexdigest(), **where}) + "\n"


@pytest.fixture(params=["text", "bytes"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    path = tmp_path / "program"
    path.write_bytes(PROGRAM.to_text().encode() if request.param == "text" else PROGRAM.to_bytes())
    return str(path)


@pytest.mark.parametrize("form", ["spirv-asm", "wgsl", "ptx"])
@pytest.mark.parametrize("optimize", [True, False])
def test_it_prints_what_lower_gives(form, optimize, path, capsys):
    assert main(["lower", path, "--to", form, *([] if optimize else ["--no-optimize"])]) == 0
    assert capsys.readouterr().out.rstrip("\n") == vyre.lower(PROGRAM, form, optimize=optimize).rstrip("\n")
    assert vyre.lower(PROGRAM, form, optimize=True) != vyre.lower(PROGRAM, form, optimize=False)


@pytest.mark.parametrize("instructions", [None, "sse41", "avx2", "avx512"])
@pytest.mark.parametrize("optimize", [True, False])
def test_machine_code_is_printed_as_lower_gives_it(instructions, optimize, path, capsys):
    options = [] if instructions is None else ["--instructions", instructions]
    assert main(["lower", path, "--to", "asm", *options, *([] if optimize else ["--no-optimize"])]) == 0
    chosen = True if optimize else ["compilation"]
    assert capsys.readouterr().out == vyre.lower(PROGRAM, "asm", optimize=chosen, instructions=instructions)
    assert len({vyre.lower(PROGRAM, "asm", instructions=each) for each in ("sse41", "avx2", "avx512")}) == 3


def test_instructions_are_of_machine_code(path, refuses):
    refuses(
        ["lower", path, "--to", "ptx", "--instructions", "avx2"],
        "--instructions has no place with --to ptx",
        "leave it out",
    )


def test_without_capstone_the_command_says_what_to_install(path, refuses, monkeypatch):
    monkeypatch.setitem(sys.modules, "capstone", None)
    refuses(
        ["lower", path, "--to", "asm"],
        "machine code as text needs the package capstone, which is not installed",
        "pip install 'vyre[asm]'",
    )


def test_the_listing_of_spirv_comes_unasked(path, capsys):
    assert main(["lower", path]) == 0
    assert "OpEntryPoint" in capsys.readouterr().out


def test_words_come_as_they_are(path):
    done = subprocess.run(
        [sys.executable, "-m", "vyre", "lower", path, "--to", "spirv"], capture_output=True, check=True
    )
    assert done.stdout == vyre.lower(PROGRAM, "spirv")
    assert done.stderr == b""


@pytest.mark.parametrize("form", ["spirv-asm", "wgsl", "ptx", "asm", "text"])
def test_json_has_the_text_that_is_printed_and_its_hash(form, path, capsys):
    assert main(["lower", path, "--to", form]) == 0
    printed = capsys.readouterr().out
    assert main(["lower", path, "--to", form, "--json"]) == 0
    assert capsys.readouterr().out == as_json(path, form, printed.encode(), text=printed)


def test_json_has_words_as_base64_on_terminals_too(path, capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert main(["lower", path, "--to", "spirv", "--json"]) == 0
    words = vyre.lower(PROGRAM, "spirv")
    assert capsys.readouterr().out == as_json(path, "spirv", words, base64=base64.b64encode(words).decode())


def test_words_are_kept_from_terminals(path, refuses, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    refuses(
        ["lower", path, "--to", "spirv"],
        "the words of a SPIR-V module are no text for a terminal",
        "write them to a file with -o FILE, or write --to spirv-asm",
    )
    assert main(["lower", path, "--to", "spirv-asm"]) == 0


def test_the_standard_input_may_hold_the_program(path):
    done = subprocess.run(
        [sys.executable, "-m", "vyre", "lower", "-", "--to", "wgsl"],
        input=Path(path).read_bytes(),
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode().rstrip("\n") == vyre.lower(PROGRAM, "wgsl").rstrip("\n")


def test_words_go_from_a_terminal_to_a_file(path, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert main(["lower", path, "--to", "spirv", "-o", str(tmp_path / "words")]) == 0
    assert capsys.readouterr() == ("", "")
    assert (tmp_path / "words").read_bytes() == vyre.lower(PROGRAM, "spirv")


@pytest.mark.parametrize("form", ["spirv-asm", "spirv", "wgsl", "ptx", "asm", "text"])
def test_a_file_has_what_would_be_printed(form, path, tmp_path, capsysbinary):
    arguments, goal = ["lower", path, "--to", form], tmp_path / "code"
    assert main(arguments) == 0
    printed = capsysbinary.readouterr().out
    assert main([*arguments, "-o", "-"]) == 0
    assert capsysbinary.readouterr() == (printed, b"")
    assert main([*arguments, "-o", str(goal), "--json"]) == 0
    assert capsysbinary.readouterr() == (as_json(path, form, printed, file=str(goal)).encode(), b"")
    assert goal.read_bytes() == printed


def test_a_program_that_is_not_valid_leaves_the_file_as_it_was(tmp_path, capsys):
    path, goal = tmp_path / "program", tmp_path / "code"
    path.write_text(Program([], (0, 1, 1), []).to_text(), encoding="utf-8")
    goal.write_text("old", encoding="utf-8")
    assert main(["lower", str(path), "--to", "ptx", "-o", str(goal)]) == 2
    assert capsys.readouterr().out == ""
    assert goal.read_text(encoding="utf-8") == "old"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["code", "program"]


def test_the_program_is_not_written_over(path, refuses):
    before = Path(path).read_bytes()
    refuses(["lower", path, "-o", path], f"the program is in `{path}` itself", "name another file with -o")
    assert Path(path).read_bytes() == before


def test_text_is_the_program(path, capsys):
    assert main(["lower", path, "--to", "text"]) == 0
    assert vyre.parse(capsys.readouterr().out) == PROGRAM


def test_a_program_that_is_not_valid_is_an_error(tmp_path, capsys):
    path = tmp_path / "program"
    path.write_text(Program([], (0, 1, 1), []).to_text())
    assert main(["lower", str(path), "--to", "ptx"]) == 2
    assert "V003" in capsys.readouterr().err
