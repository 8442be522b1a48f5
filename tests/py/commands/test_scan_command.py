"""``vyre scan`` finds what a plain search in Python finds, each match once, also where pieces of a file meet."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import vyre
from vyre.__main__ import main
from vyre._trees import searching
from vyre._trees.walk import Trouble, files_of

CPU = ("--backend", "cpu")
PATTERNS = [b"ab", b"aba", b"b\na", b"aaaaaaa", b"bab\nb", b"b", b"\xff\x00"]
FILE = b"ab\naba\nb\\x0aa\naaaaaaa\r\n\nbab\\x0Ab\nb\nab\n\\xff\\x00"


def plain(path: str, data: bytes, patterns: list[bytes]) -> list[tuple[str, int, int, int, int]]:
    """Every place of every pattern, looked at one by one."""
    found = []
    for start in range(len(data)):
        for end, number in sorted((start + len(each), k) for k, each in enumerate(patterns)):
            if data[start:end] == patterns[number]:
                line_begin = data.rfind(b"\n", 0, start) + 1
                found.append((path, data.count(b"\n", 0, start) + 1, start - line_begin + 1, start, number))
    return found


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "sub").mkdir(parents=True)
    rng = random.Random(3)
    for k, size in enumerate([0, 1, 2, 30, 31, 32, 33, 63, 64, 65, 96, 97, 150]):
        data = bytes(rng.choice(b"ab\n\xff\x00") for _ in range(size))
        (root / ("sub" if k % 2 else ".") / f"f {k}").write_bytes(data)
    Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9\xff")).write_bytes(b"ab")
    (root / "two\nlines").write_bytes(b"\nb")
    (root / "all").write_bytes(b"a" * 70 + b"\n\nbab\nb")
    (root / "link").symlink_to(root / "f 2")
    os.mkfifo(root / "pipe")
    return root


def expected(root: Path, patterns: list[bytes] = PATTERNS) -> list[tuple[str, int, int, int, int]]:
    files, _ = files_of([str(root)])
    return [each for file in files for each in plain(file.path, Path(file.path).read_bytes(), patterns)]


def test_the_tree_is_one_that_matches_can_be_missed_in(tree):
    assert {number for *_, number in expected(tree)} == set(range(len(PATTERNS)))
    assert len(expected(tree)) > 200


@pytest.mark.parametrize(
    "limits",
    [
        searching.Limits(),
        searching.Limits(batch=100, piece=32, matches=9),
        searching.Limits(batch=64, piece=5),
        searching.Limits(batch=64, piece=31, matches=1),
    ],
    ids=["default", "pieces of 32", "pieces shorter than patterns", "few matches a call"],
)
def test_every_match_is_found_once_and_in_order(limits, tree):
    files, troubles = files_of([str(tree)])
    done: list[int] = []
    found = searching.search(files, PATTERNS, {"backend": "cpu"}, limits, done.append, troubles.append)
    assert [tuple(each) for each in found] == expected(tree)
    assert troubles == []
    assert sum(done) == sum(file.size for file in files)


@pytest.mark.slow
def test_every_device_finds_the_same(tree, target):
    files, _ = files_of([str(tree)])
    found = searching.search(files, PATTERNS, target, searching.Limits(batch=300, piece=100, matches=50))
    assert [tuple(each) for each in found] == expected(tree)


def test_a_match_does_not_go_from_a_file_to_the_next(tmp_path):
    (tmp_path / "1").write_bytes(b"secr")
    (tmp_path / "2").write_bytes(b"et")
    files, _ = files_of([str(tmp_path)])
    assert list(searching.search(files, [b"secret"], {"backend": "cpu"})) == []


@pytest.mark.parametrize("piece", [2, 5, 6, 7, 8])
def test_a_match_over_the_edge_of_pieces_is_found_once(piece, tmp_path):
    for before in range(12):
        (tmp_path / f"{before:2}").write_bytes(b"x\n" * (before // 2) + b"x" * (before % 2) + b"secret")
    files, _ = files_of([str(tmp_path)])
    found = searching.search(files, [b"secret"], {"backend": "cpu"}, searching.Limits(piece=piece))
    assert [(each.line, each.column) for each in found] == [(k // 2 + 1, k % 2 + 1) for k in range(12)]


def test_lines_are_printed_whole(tree, tmp_path, monkeypatch, capsysbinary):
    (tmp_path / "patterns").write_bytes(FILE)
    monkeypatch.setattr(searching, "search", partial(searching.search, limits=searching.Limits(piece=64)))
    assert main(["scan", str(tree), "--patterns", str(tmp_path / "patterns"), *CPU]) == 1
    spelled = [b"ab", b"aba", b"b\\x0aa", b"aaaaaaa", b"bab\\x0Ab", b"b", b"\\xff\\x00"]
    lines = b""
    for path, line, column, _, number in expected(tree):
        raw = os.fsencode(path)
        kept = raw.replace(b"\n", b"\\n")
        mark = b"" if kept == raw else b"\\"
        lines += mark + kept + b":%d:%d: " % (line, column) + spelled[number] + b"\n"
    assert capsysbinary.readouterr() == (lines, b"")


def test_counts_and_json_say_the_same(tree, tmp_path, capsysbinary):
    (tmp_path / "patterns").write_bytes(FILE)
    arguments = ["scan", str(tree), "--patterns", str(tmp_path / "patterns"), *CPU]
    matches = expected(tree)
    counts = {path: sum(each[0] == path for each in matches) for path, *_ in matches}
    assert main([*arguments, "--json"]) == 1
    given = json.loads(capsysbinary.readouterr().out)
    places = [tuple(row[key] for key in ("path", "line", "column", "offset")) for row in given.pop("matches")]
    assert places == [each[:4] for each in matches]
    said = {"version": vyre.__version__, "command": "scan", "unreadable": []}
    assert given == {**said, "ok": False}
    assert main([*arguments, "--json", "--count"]) == 1
    rows = [{"path": path, "count": count} for path, count in counts.items()]
    assert json.loads(capsysbinary.readouterr().out) == {**said, "ok": False, "counts": rows}
    assert main([*arguments, "--count"]) == 1
    lines = [line for line in capsysbinary.readouterr().out.splitlines() if b"two" not in line]
    assert lines == [os.fsencode(f"{path}: {count}") for path, count in counts.items() if "two" not in path]


def test_nothing_found_is_status_0(tree, tmp_path, capsys):
    (tmp_path / "patterns").write_bytes(b"nowhere\n")
    arguments = ["scan", str(tree), "--patterns", str(tmp_path / "patterns"), *CPU]
    assert main(arguments) == 0
    assert capsys.readouterr() == ("", "")
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {"version": vyre.__version__, "command": "scan", "matches": [], "unreadable": [], "ok": True}


def test_what_cannot_be_read_is_told_and_the_rest_is_searched(tmp_path):
    (tmp_path / "patterns").write_bytes(b"key=")
    (tmp_path / "a").write_bytes(b"\nmy key=1")
    done = subprocess.run(
        [sys.executable, "-m", "vyre", "scan", "gone", "a", "/proc/self/mem", "--patterns", "patterns", *CPU],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        timeout=120,
    )
    assert (done.returncode, done.stdout, done.stderr) == (
        1,
        b"a:2:4: key=\n",
        b"vyre scan: /proc/self/mem: Input/output error. Fix: name a file that can be read, or leave it out.\n"
        b"vyre scan: gone: No such file or directory. Fix: name a file that can be read, or leave it out.\n",
    )


def test_a_file_that_vanishes_is_told(tmp_path):
    for name in "abc":
        (tmp_path / name).write_bytes(b"key=")
    files, troubles = files_of([str(tmp_path)])
    (tmp_path / "b").unlink()
    found = searching.search(files, [b"key="], {"backend": "cpu"}, troubles=troubles.append)
    assert [each.path for each in found] == [f"{tmp_path}/a", f"{tmp_path}/c"]
    assert troubles == [Trouble(f"{tmp_path}/b", "No such file or directory")]


@pytest.mark.parametrize(
    ("content", "problem", "fix"),
    [
        (b"", "`PATH` has no patterns", "write one on each line"),
        (b"\n\r\n\n", "`PATH` has no patterns", "write one on each line"),
        (
            b"ok\n\\x4",
            "line 2 of `PATH` has `\\x` without two hexadecimal digits",
            "write a byte as \\x00 to \\xff, and a backslash before an x as \\x5c",
        ),
        (
            b"a" * 65_537,
            "line 1 of `PATH` has a pattern of 65,537 bytes, and the longest are 65,536",
            "leave it out, or keep its beginning",
        ),
    ],
)
def test_patterns_that_are_none_are_one_sentence(content, problem, fix, tmp_path, refuses):
    path = tmp_path / "patterns"
    path.write_bytes(content)
    refuses(["scan", str(tmp_path), "--patterns", str(path), *CPU], problem.replace("PATH", str(path)), fix)


def test_a_backslash_before_an_x_is_written_as_a_byte(tmp_path, capsys):
    (tmp_path / "patterns").write_bytes(b"C:\\new\n\\x5cx4")
    (tmp_path / "a").write_bytes(b"C:\\new \\x4")
    assert main(["scan", str(tmp_path / "a"), "--patterns", str(tmp_path / "patterns"), *CPU]) == 1
    assert capsys.readouterr() == (f"{tmp_path}/a:1:1: C:\\new\n{tmp_path}/a:1:8: \\x5cx4\n", "")


def test_a_backend_that_is_not_there_is_status_3(tmp_path, refuses):
    refuses(
        ["scan", str(tmp_path), "--patterns", "x", "--backend", "cpu", "--device", "1"],
        "there is no device 1: backend cpu has none",
        "leave --device out",
        status=3,
    )
