"""Replay files give the same reports again, and any other content of a file is a typed error."""

from __future__ import annotations

import base64
import json
import random
import subprocess
import sys

import numpy as np
import pytest

import vyre
from conftest import SEED
from test_check import EVERY, MISTAKES, check
from vyre import BufferDecl, Expr, Node, Program

I = Expr.gid_x()  # noqa: E741
TYPES = {
    "flags": (vyre.boolean, np.array([True, False, True])),
    "signed": (vyre.i32, np.array([-1, 2, -3], np.int32)),
    "wide": (vyre.u64, np.array([1 << 40, 3], np.uint64)),
    "pairs": (vyre.vec2u32, np.arange(6, dtype=np.uint32).reshape(3, 2)),
    "grid": (vyre.u32, np.arange(6, dtype=np.uint32).reshape(2, 3)),
    "raw": (vyre.DataType.Bytes, b"abc"),
}


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.parametrize("schedule", ["in-order", "reversed", "random:18446744073709551615"])
def test_a_replay_gives_the_same_reports(name, schedule, tmp_path):
    made, _ = MISTAKES[name][0]()
    result = check(made, checks=EVERY, schedule=schedule, max_reports=7)
    result.save(tmp_path / "it.json")
    again = vyre.replay(str(tmp_path / "it.json"), timeout=60)
    assert result.reports
    assert again.reports == result.reports
    assert str(again) == str(result)
    assert again.program == result.program
    assert (again.workgroups, again.schedule, again.checks, again.max_reports) == (
        result.workgroups,
        schedule,
        result.checks,
        7,
    )
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "it.json").read_text()


def test_every_type_of_input_survives(tmp_path):
    buffers = [BufferDecl.read_write(name, k, element) for k, (name, (element, _)) in enumerate(TYPES.items())]
    made = Program(buffers, (1, 1, 1), [Node.store("grid", 99, 1)])
    result = vyre.check(made, {name: value for name, (_, value) in TYPES.items()}, 1)
    result.save(tmp_path / "it.json")
    again = vyre.replay(tmp_path / "it.json")
    assert again.reports == result.reports
    for name, value in result.outputs.items():
        assert again.outputs[name].dtype == value.dtype
        assert again.outputs[name].shape == value.shape
        assert again.outputs[name].tobytes() == value.tobytes()


@pytest.fixture
def content(tmp_path) -> dict:
    made = Program([BufferDecl.output("out", 0, vyre.u32)], (2, 1, 1), [Node.store("out", 0, I)])
    vyre.check(made, {"out": np.zeros(2, np.uint32)}, 1).save(tmp_path / "good.json")
    return json.loads((tmp_path / "good.json").read_text())


def replay(folder, data: bytes | str | object) -> vyre.CheckResult:
    path = folder / "bad.json"
    if not isinstance(data, (bytes, str)):
        data = json.dumps(data)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return vyre.replay(path, timeout=20)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"null",
        b"{}",
        b"[" * 100_000,
        b'{"format": ' * 50_000,
        b"1" * 10_000,
        b'{"format": "vyre replay"}',
        b'{"format": "vyre replay", "version": true}',
        b'{"format": "vyre replay", "version": 1e400}',
        b'{"format": "vyre replay", "version": 2}',
    ],
    ids=lambda data: repr(data[:20]),
)
def test_what_is_no_replay_file_is_refused(data, tmp_path):
    with pytest.raises(vyre.ParseError, match=r"^replay file '.*bad\.json' .*\. Fix: .*\.$"):
        replay(tmp_path, data)


ZEROS = {"zeros": 1}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("workgroups", None),
        ("workgroups", [1, 1]),
        ("workgroups", [1, 1, "1"]),
        ("workgroups", [1, 1, True]),
        ("workgroups", [-1, 1, 1]),
        ("workgroups", [1 << 32, 1, 1]),
        ("workgroups", [(1 << 32) - 1] * 3),
        ("schedule", 3),
        ("schedule", "sideways"),
        ("checks", "all"),
        ("checks", []),
        ("checks", ["everything"]),
        ("checks", [1]),
        ("max_reports", 0),
        ("max_reports", 1 << 80),
        ("max_reports", 1.5),
        ("places", []),
        ("places", {"entry[0]": ["x", 1]}),
        ("places", {"entry[0]": ["x", -1, 1]}),
        ("places", {"entry[0]": ["x", 1 << 31, 1]}),
        ("places", {"entry[0]": [None, 1, 1]}),
        ("places", {"entry[0]": ["\ud800", 1, 1]}),
        ("program", None),
        ("program", ""),
        ("program", "\x00"),
        ("program", "\ud800"),
        ("inputs", None),
        ("inputs", {}),
        ("inputs", {"out": 1}),
        ("inputs", {"out": {}}),
        ("inputs", {"out": {"zeros": -1}}),
        ("inputs", {"out": {"zeros": 1 << 32}}),
        ("inputs", {"out": {"zeros": (1 << 32) - 1}}),
        ("inputs", {"out": {"zeros": True}}),
        ("inputs", {"out": {"zeros": 1}, "other": ZEROS}),
        ("inputs", {"\ud800": ZEROS, "out": ZEROS}),
        ("inputs", {"out": {"dtype": "object", "shape": [1], "data": "AAAAAAAAAAA="}}),
        ("inputs", {"out": {"dtype": ["uint32"], "shape": [1], "data": "AAAAAA=="}}),
        ("inputs", {"out": {"dtype": "uint32", "shape": [2], "data": "AAAAAA=="}}),
        ("inputs", {"out": {"dtype": "uint32", "shape": [0, 1 << 70], "data": ""}}),
        ("inputs", {"out": {"dtype": "uint32", "shape": [1] * 100, "data": "AAAAAA=="}}),
        ("inputs", {"out": {"dtype": "uint32", "shape": [-1, -1], "data": "AAAAAA=="}}),
        ("inputs", {"out": {"dtype": "uint32", "shape": [1], "data": "no base64"}}),
        ("inputs", {"out": {"dtype": "uint32", "shape": [1], "data": 7}}),
        ("inputs", {"out": {"dtype": "int32", "shape": [1], "data": "AAAAAA=="}}),
    ],
)
def test_a_field_that_save_would_not_write_is_refused(field, value, content, tmp_path):
    with pytest.raises(vyre.VyreError, match=r"Fix: "):
        replay(tmp_path, content | {field: value})


def test_values_that_are_no_bool_are_refused(tmp_path):
    made = Program([BufferDecl.output("out", 0, vyre.boolean)], (1, 1, 1), [Node.store("out", 0, True)])
    vyre.check(made, {"out": np.zeros(1, bool)}, 1).save(tmp_path / "good.json")
    content = json.loads((tmp_path / "good.json").read_text())
    content["inputs"]["out"]["data"] = base64.b64encode(b"\x07").decode()
    with pytest.raises(vyre.ParseError, match="has bool values other than 0 and 1"):
        replay(tmp_path, content)


def test_a_short_file_makes_no_large_arrays(content, tmp_path):
    huge = Program(
        [BufferDecl.storage("out", 0, vyre.BufferAccess.ReadWrite, vyre.vec4u32)], (1, 1, 1), [Node.return_()]
    )
    content |= {"program": huge.to_text(), "inputs": {"out": {"zeros": 1 << 27}}}
    with pytest.raises(vyre.ParseError, match="asks for 2147483648 bytes of zeros, at most 1073741824 are made"):
        replay(tmp_path, content)


def test_random_edits_give_reports_or_a_typed_error(content, tmp_path):
    draw = random.Random(SEED)
    good = json.dumps(content).encode()
    for _ in range(300):
        data = bytearray(good)
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(data))
            data[at : at + draw.randint(0, 3)] = draw.choice([b"", b"0", b"9", b'"', b"{", b"]", b"\\", b"\xff", b"-1"])
        try:
            text = str(replay(tmp_path, bytes(data)))
        except vyre.VyreError as error:
            text = f"{error}"
        assert text, data


@pytest.mark.parametrize("path", [None, 3, ""])
def test_what_is_no_path_is_told_so(path, content, tmp_path):
    result = replay(tmp_path, content)
    with pytest.raises(vyre.ArgumentError, match=r"^argument `path` of CheckResult\.save must be a path, got"):
        result.save(path)
    with pytest.raises(vyre.ArgumentError, match=r"^argument `path` of vyre\.replay must be a path, got"):
        vyre.replay(path)


def test_source_lines_are_shown_of_python_files_only(content, tmp_path):
    content["places"] = {"entry[0]": ["/dev/zero", 1, 1]}
    result = replay(tmp_path, content)
    assert result.reports[0].first.place.file == "/dev/zero"
    assert str(result).count("at /dev/zero:1: out[0] = gid.x\n") == 2


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "vyre", "replay", *map(str, arguments)], capture_output=True, text=True, timeout=120
    )


def test_the_command_shows_the_reports_and_exits_with_1(content, tmp_path):
    shown = command(tmp_path / "good.json", "--timeout", 60)
    assert shown.returncode == 1, shown.stderr
    assert shown.stdout == f"{vyre.replay(tmp_path / 'good.json')}\n"
    content["checks"] = ["out-of-bounds"]
    (tmp_path / "calm.json").write_text(json.dumps(content))
    calm = command(tmp_path / "calm.json")
    assert (calm.returncode, calm.stdout) == (0, "checks (out-of-bounds): nothing was found.\n")
    wrong = command(tmp_path / "none.json")
    assert (wrong.returncode, wrong.stdout) == (2, "")


def test_a_file_whose_places_have_no_end_column_is_read(tmp_path):
    made = Program([BufferDecl.output("out", 0, vyre.u32)], (1, 1, 1), [Node.store("out", 7, 1)])
    result = vyre.check(made, {"out": 4}, 1)
    result.save(tmp_path / "far.json")
    content = json.loads((tmp_path / "far.json").read_text(encoding="utf-8"))
    content["places"] = {path: place[:3] for path, place in content["places"].items()}
    assert content["places"]
    (tmp_path / "older.json").write_text(json.dumps(content), encoding="utf-8")
    [old], [new] = vyre.replay(tmp_path / "older.json").reports, result.reports
    assert (old.witness.line, old.witness.place.column) == (new.witness.line, new.witness.place.column)
    assert old.witness.place.end_column is None
