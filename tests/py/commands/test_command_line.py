"""Commands whose output is closed, whose disk is full, whose files cannot be read: one sentence, no half file."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import vyre
from vyre import BufferDecl, Expr, Node, Program
from vyre.__main__ import CLOSED_PIPE, NO_PLACE, STATUSES, main, parser_of_all
from vyre.commands import COMMANDS

FULL = Path("/dev/full")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "far.json"
    far = Program([BufferDecl.output("out", 0, vyre.u32)], (1, 1, 1), [Node.store("out", 7, Expr.u32(1))])
    vyre.check(far, {"out": 4}, 1).save(path)
    return path


EVERY = {
    "explain": ("explain", "V014"),
    "check": ("check", "SAVED"),
    "lower": ("lower", "SAVED", "--to", "ptx"),
    "lower to words": ("lower", "SAVED", "--to", "spirv"),
    "devices": ("devices",),
    "backends": ("backends",),
    "doctor": ("doctor",),
    "reference": ("reference",),
    "conform": ("conform", "--backend", "reference", "--level", "L4"),
    "bench": ("bench", "SAVED", "--backend", "cpu", "--seconds", "0"),
    "repeat": ("repeat", "SAVED", "--backend", "reference", "--times", "2"),
    "bisect": ("bisect", "SAVED", "--backend", "cpu"),
    "fuzz": ("fuzz", "--backend", "cpu", "--count", "2", "--jobs", "1", "--statements", "10"),
    "replay": ("replay", "SAVED"),
    "hash": ("hash", __file__, "--alg", "crc32", "--backend", "cpu"),
    "scan": ("scan", __file__, "--patterns", str(Path(__file__).parents[1] / "programs.py"), "--backend", "cpu"),
    "run": ("run", "SAVED", "--backend", "reference"),
    "ops": ("ops",),
    "docs": ("docs",),
    "a page": ("docs", "kernels"),
    "completion": ("completion", "bash"),
    "help": ("--help",),
    "help of a command": ("fuzz", "--help"),
}


def start(arguments: tuple[str, ...], saved: Path | None, buffered: bool, **more: object) -> subprocess.Popen[str]:
    given = [str(saved) if word == "SAVED" else word for word in arguments]
    # An empty value is as good as none: what is printed lies in a buffer until it is full or the command ends.
    variables = {**os.environ, "PYTHONUNBUFFERED": "" if buffered else "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "vyre", *given], env=variables, stderr=subprocess.PIPE, text=True, **more
    )


def test_every_command_is_tried():
    assert {command.__name__.rsplit(".", 1)[1] for command in COMMANDS} <= set(EVERY)


JSON = {
    *("explain", "check", "devices", "backends", "doctor", "repeat", "replay", "hash", "scan", "run", "ops"),
    *("bench", "docs", "fuzz", "bisect", "lower", "conform"),
}
NO_CONTENT = {"reference", "completion"}  # a page of Markdown, and a script for a shell, with nothing to take apart


def test_every_command_that_tells_something_has_json(capsys):
    assert {command.__name__.rsplit(".", 1)[1] for command in COMMANDS} == JSON | NO_CONTENT
    for name in JSON | NO_CONTENT:
        with pytest.raises(SystemExit):
            main([name, "--help"])
        assert ("--json" in capsys.readouterr().out) == (name in JSON)


@pytest.mark.parametrize("name", sorted(JSON))
def test_json_is_one_object_that_names_its_command_and_says_whether_all_is_well(name, saved, capsys):
    arguments = [str(saved) if word == "SAVED" else word for word in EVERY[name]]
    status = main(arguments)
    assert capsys.readouterr().out
    assert main([*arguments, "--json"]) == status
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    found = json.loads(printed)
    assert (found["version"], found["command"], found["ok"]) == (vyre.__version__, name, status == 0)


def test_every_exit_status_is_in_the_help(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    for status, meaning in STATUSES.items():
        assert f"  {status:<4} {meaning}\n" in text
    statuses = {0, 1, 2, NO_PLACE, 130, CLOSED_PIPE}
    assert statuses == set(STATUSES)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("chek p.vyre", "vyre: error: argument COMMAND: invalid choice: 'chek'. Fix: write `check`."),
        ("shine", "vyre: error: argument COMMAND: invalid choice: 'shine'. Fix: write one of run, check, lower, "),
        ("", "vyre: error: the following arguments are required: COMMAND. Fix: add it; `vyre --help` says what it is."),
        ("run", "vyre run: error: the following arguments are required: PROGRAM. "),
        ("lower p.vyre --to wgls", "vyre lower: error: argument --to: invalid choice: 'wgls'. Fix: write `wgsl`."),
        (
            "devices --bakend cpu",
            "vyre devices: error: unrecognized arguments: --bakend cpu. Fix: leave them out; `vyre ",
        ),
        (
            "scan --patterns a --patterns b",
            "vyre scan: error: argument --patterns: it is given twice. Fix: give it once.",
        ),
        ("hash --check a --check b", "vyre hash: error: argument --check: it is given twice"),
        ("--json devices", "vyre devices: error: unrecognized arguments: --json. Fix: write `vyre devices --json`."),
        ("run p.vyre --bakend cpu", "vyre run: error: unrecognized arguments: --bakend cpu. Fix: write `--backend`."),
        (
            "run p.vyre --device x",
            "vyre run: error: argument --device: invalid int value: 'x'. Fix: `vyre run --help` ",
        ),
        (
            "run p.vyre --input a",
            "vyre run: error: argument --input: `a` is not a buffer's name, `=` and a file. Fix: ",
        ),
    ],
)
def test_a_mistyped_command_is_told_with_a_fix(command, said, capsys):
    with pytest.raises(SystemExit) as ended:
        main(command.split())
    assert ended.value.code == 2
    usage, error = capsys.readouterr().err.rsplit("\nvyre", 1)
    assert usage.startswith("usage: vyre")
    assert f"vyre{error}".startswith(said)
    assert error.endswith(".\n")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "command",
    [
        ["run", "xor.vyre", "--workgroups", "1"],
        ["repeat", "xor.vyre", "--workgroups", "1"],
        ["bench", "xor.vyre"],
        ["hash", "xor.vyre"],
        ["conform"],
        ["conform", "--procedure", "procedure.txt"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_backend_that_does_not_work_here_is_exit_status_3(refuses, monkeypatch, tmp_path, command):
    monkeypatch.chdir(tmp_path)
    i = vyre.Expr.gid_x()
    program = vyre.Program([vyre.BufferDecl.read_write("x", 0, vyre.u32)], (1, 1, 1), [vyre.Node.store("x", i, i)])
    (tmp_path / "xor.vyre").write_text(program.to_text())
    monkeypatch.setattr(vyre._core, "_available", lambda: ["cpu", "reference"])
    monkeypatch.setattr(vyre._core, "_unavailable", lambda: {"cuda": ["there is no driver. Fix: install one."]})
    refuses([*command, "--backend", "cuda"], "there is no driver", "install one", status=NO_PLACE)


@pytest.mark.parametrize("name", [name for name in EVERY if name != "completion"])
def test_a_closed_pipe_ends_silently(name, saved):
    """The reader closes the output early, as in `vyre ... | head`."""
    reader, writer = os.pipe()
    os.close(reader)
    process = start(EVERY[name], saved, buffered=True, stdout=writer)
    os.close(writer)
    said = process.communicate(timeout=120)[1]
    assert (process.returncode, said) == (141, "")


CLOSED = {
    "hash": (EVERY["hash"], 0),
    "hash of nothing": (("hash", "/nowhere", "--backend", "cpu"), 1),
    "scan": (EVERY["scan"], 1),
    "check of nothing": (("check", "/nowhere"), 2),
    "explain": (EVERY["explain"], 0),
}


@pytest.mark.parametrize("name", CLOSED)
def test_a_stream_that_is_closed_before_the_start_is_told_where_it_was_to_show_something(name):
    """As in `vyre ... >&-` and `vyre ... 2>&-`."""
    arguments, status = CLOSED[name]
    whole = start(arguments, None, True, stdout=subprocess.PIPE)
    printed, said = whole.communicate(timeout=120)
    assert whole.returncode == status
    lost = "error: the output cannot be written: Bad file descriptor. Fix: send it where there is room for it.\n"
    to_nowhere = (2, ("", said + lost)) if printed else (status, ("", said))
    for closed, wanted in ((1, to_nowhere), (2, (status, (printed, "")))):
        process = start(arguments, None, True, stdout=subprocess.PIPE, preexec_fn=partial(os.close, closed))
        shown = process.communicate(timeout=120)
        assert (process.returncode, shown) == wanted


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
@pytest.mark.parametrize("name", [name for name in EVERY if name != "completion"])
def test_a_full_disk_is_one_sentence(name, saved):
    with FULL.open("w") as full:
        process = start(EVERY[name], saved, buffered=False, stdout=full)
    said = process.communicate(timeout=120)[1]
    assert (process.returncode, said) == (
        2,
        "error: the output cannot be written: No space left on device. Fix: send it where there is room for it.\n",
    )


def no_room() -> None:
    """Files grow to a page and no further. Python ignores the signal, so a write fails as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def test_a_disk_that_fills_up_leaves_nothing_half_written(tmp_path):
    path = tmp_path / "cert.json"
    path.write_text("old", encoding="utf-8")
    level = ("--backend", "reference", "--level", "L4")
    fuzz = ("fuzz", "--backend", "cpu", "--jobs", "1", "--statements", "10")
    commands = [
        (("conform", *level, "--out", str(path)), path),
        (("conform", *level, "--html", str(tmp_path / "new.html")), tmp_path / "new.html"),
        ((*fuzz, "--count", "200", "--log", str(tmp_path / "log")), tmp_path / "log"),
    ]
    processes = [start(arguments, None, True, stdout=subprocess.PIPE, preexec_fn=no_room) for arguments, _ in commands]
    for process, (_, named) in zip(processes, commands, strict=True):
        said = process.communicate(timeout=120)[1]
        assert (process.returncode, said) == (
            2,
            f"error: `{named}` cannot be written: File too large. "
            "Fix: free space there, or name a file on another disk.\n",
        )
    assert path.read_text(encoding="utf-8") == "old"
    # The log has whole rows, and --resume goes on after them.
    assert {file.name for file in tmp_path.iterdir()} == {"cert.json", "log"}
    lines = (tmp_path / "log").read_text(encoding="utf-8").splitlines(keepends=True)
    assert [line for line in lines if not line.endswith("\n") or not json.loads(line)] == []
    assert main([*fuzz, "--count", str(len(lines) + 1), "--log", str(tmp_path / "log"), "--resume"]) == 0
    assert len((tmp_path / "log").read_text(encoding="utf-8").splitlines()) == len(lines) + 2


READ = {
    "replay": (("replay",), "Fix: name a file that CheckResult.save wrote."),
    "repeat": (
        ("repeat",),
        "Fix: name a file with the text or the bytes of a program or procedure, a file of CheckResult.save, or "
        "FILE.py:NAME.",
    ),
    "fuzz --case": (("fuzz", "--case"), "Fix: name a file that `vyre fuzz` wrote."),
    "fuzz --log": (
        ("fuzz", "--resume", "--count", "1", "--log"),
        "Fix: name a log that `vyre fuzz --log` wrote, or leave --resume out to begin one.",
    ),
    "conform --verify": (
        ("conform", "--backend", "reference", "--verify"),
        "Fix: name a file that `vyre conform --out` wrote.",
    ),
}
# /proc/self/mem can be opened, by root too, and cannot be read from its start.
BAD = {"/nonexistent/file": "No such file or directory", "/": "Is a directory", "/proc/self/mem": "Input/output error"}


@pytest.mark.parametrize("path", BAD)
@pytest.mark.parametrize("name", READ)
def test_a_file_that_cannot_be_read_is_one_sentence(name, path, capsys):
    arguments, fix = READ[name]
    assert main([*arguments, path]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == f"error: `{path}` cannot be read: {BAD[path]}. {fix}\n"


@pytest.mark.parametrize("name", READ)
def test_a_file_of_something_else_is_one_sentence(name, capsys, tmp_path):
    path = tmp_path / "bytes"
    for data in (b"", b"\xff\xfe\x00", b"{", b"[1]"):
        path.write_bytes(data)
        assert main([*READ[name][0], str(path)]) == 2
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.startswith("error: ")
        assert "Fix: " in told.err
        assert told.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "problem", "fix"),
    [
        (("fuzz", "--count", "1", "--log", "/"), "log `/` is there and no file", "name a file"),
        (
            ("fuzz", "--count", "1", "--log", "/nonexistent/log"),
            "`/nonexistent/log` cannot be written: No such file or directory",
            "name a file in a folder that you may write to",
        ),
        (
            ("conform", "--backend", "reference", "--out", "/dev/null/cert.json"),
            "`/dev/null/cert.json` cannot be written: Not a directory",
            "name a file in a folder that you may write to",
        ),
    ],
)
def test_a_file_that_cannot_be_written_is_one_sentence(arguments, problem, fix, refuses):
    refuses(arguments, problem, fix)


NAMES = ", ".join([*vyre.backends(), *vyre.backends().unavailable()])
KNOWN = f"{NAMES}, wgsl, module:function"


@pytest.mark.parametrize(
    ("command", "problem", "fix"),
    [
        (
            "fuzz --count 1 --backend nosuch",
            f"--backend must be one of {KNOWN}, got 'nosuch'",
            "write one of these",
        ),
        (
            "fuzz --count 1 --backend cpu --against nosuch",
            f"--against must be one of {KNOWN}, got 'nosuch'",
            "write one of these",
        ),
        (
            "fuzz --count 1 --backend cpu --backend vulkan:99",
            "device 99 of backend `vulkan` does not exist",
            "use one of `vyre devices`",
        ),
        ("conform --backend cpu --device 1", "device 1 has no place with backend 'cpu'", "leave it out"),
        (
            "conform --backend metal",
            f"--backend must be one of {NAMES}, got 'metal'",
            "write one of these",
        ),
    ],
)
def test_a_place_that_is_not_here_is_exit_status_3(command, problem, fix, refuses):
    refuses(command.split(), problem, fix, status=NO_PLACE)


def test_a_function_that_is_not_there_is_no_place(capsys):
    assert main(["fuzz", "--count", "1", "--backend", "cpu", "--backend", "nowhere:run"]) == 2
    assert capsys.readouterr().err.startswith("error: backend `nowhere:run` cannot be imported: ")


def test_help_names_exit_status_3_where_a_place_can_be_chosen():
    choices = next(each for each in parser_of_all()._actions if each.dest == "command").choices
    told = {name: " ".join(parser.format_help().split()) for name, parser in choices.items()}
    chosen = {name for name, parser in choices.items() if "--backend" in parser._option_string_actions}
    named = {name for name, text in told.items() if "3 for a backend or device that is not here" in text}
    assert named == chosen - {"run"} == {name for name in chosen if "xit status" in told[name]}
    assert {"fuzz", "conform", "bisect", "repeat", "bench", "hash", "scan"} == named
