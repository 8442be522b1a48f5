"""``--sarif``: logs that hold to SARIF 2.1.0, with faults where they are."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import vyre
from vyre import BufferDecl, Expr, Node, Program
from vyre.__main__ import main
from vyre.commands import _sarif


def _object(required: dict[str, Any], optional: dict[str, Any] | None = None, least: int = 0) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "minProperties": least,
        "additionalProperties": False,
    }


def _array(items: dict[str, Any], least: int = 0) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": least}


# What of the standard's objects vyre writes, by its sections; a property that is not listed is a mistake here.
TEXT = {"type": "string", "minLength": 1}
URI = {"type": "string", "pattern": r"^(file:///)?([A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-F]{2})+$"}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
FROM_1, FROM_0 = {"type": "integer", "minimum": 1}, {"type": "integer", "minimum": 0}
MESSAGE = _object({"text": TEXT})  # 3.11
ARTIFACT_LOCATION = _object({"uri": URI}, {"uriBaseId": TEXT})  # 3.4
REGION = _object(  # 3.30
    {},
    {"startLine": FROM_1, "startColumn": FROM_1, "endColumn": FROM_1, "byteOffset": FROM_0, "byteLength": FROM_0},
    least=1,
)
PHYSICAL = _object({"artifactLocation": ARTIFACT_LOCATION}, {"region": REGION})  # 3.29
LOGICAL = _object({"fullyQualifiedName": TEXT})  # 3.33
LOCATION = _object(  # 3.28
    {"physicalLocation": PHYSICAL}, {"logicalLocations": _array(LOGICAL, 1), "message": MESSAGE, "id": FROM_0}
)
RULE = _object(  # 3.49
    {
        "id": TEXT,
        "shortDescription": MESSAGE,
        "fullDescription": MESSAGE,
        "defaultConfiguration": _object({"level": LEVEL}),
    },
    {"help": MESSAGE},
)
RESULT = _object(  # 3.27
    {"ruleId": TEXT, "ruleIndex": FROM_0, "level": LEVEL, "message": MESSAGE, "locations": _array(LOCATION, 1)},
    {"relatedLocations": _array(LOCATION, 1)},
)
DRIVER = _object(  # 3.19
    {"name": {"const": "vyre"}, "semanticVersion": {"const": vyre.__version__}, "rules": _array(RULE)}
)
INVOCATION = _object(  # 3.20
    {"executionSuccessful": {"type": "boolean"}},
    {"toolExecutionNotifications": _array(_object({"level": LEVEL, "message": MESSAGE}), 1)},
)
RUN = _object(  # 3.14
    {
        "tool": _object({"driver": DRIVER}),
        "columnKind": {"const": "unicodeCodePoints"},
        "originalUriBaseIds": _object({"%SRCROOT%": _object({"uri": {**URI, "pattern": "^file:///.*/$"}})}),
        "results": _array(RESULT),
        "invocations": _array(INVOCATION, 1),
    }
)
LOG = _object(  # 3.13
    {"$schema": {"const": _sarif.SCHEMA}, "version": {"const": "2.1.0"}, "runs": {**_array(RUN, 1), "maxItems": 1}}
)


@pytest.fixture
def log(capsys, monkeypatch, tmp_path):
    """A function that runs a command in an empty folder, and gives the run of its log."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, status: int = 1) -> dict[str, Any]:
        assert main([*arguments, "--sarif"]) == status
        told = capsys.readouterr()
        assert (told.err, told.out.count("\n")) == ("", 1)
        found = json.loads(told.out)
        jsonschema.validate(found, LOG)
        (made,) = found["runs"]
        rules = made["tool"]["driver"]["rules"]
        assert len({rule["id"] for rule in rules}) == len(rules)
        for result in made["results"]:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        return made

    return run


def below(run: dict[str, Any], location: dict[str, Any]) -> Path:
    """The file of a location, by its base."""
    artifact = location["physicalLocation"]["artifactLocation"]
    assert artifact["uriBaseId"] in run["originalUriBaseIds"]
    return Path(run["originalUriBaseIds"][artifact["uriBaseId"]]["uri"].removeprefix("file://")) / artifact["uri"]


BAD = """vyre 1
workgroup_size 1 0 1
buffer out: read_write u32 binding 0 output

out[gid.x] = b[0]
"""


def test_broken_rules_are_results(log, tmp_path):
    (tmp_path / "bad.vyre").write_text(BAD, encoding="utf-8")
    run = log("check", "bad.vyre")
    first, second = run["results"]
    assert [(each["ruleId"], each["level"]) for each in run["results"]] == [("V003", "error"), ("V004", "error")]
    assert first["message"]["text"] == (
        "vyre IR validation: workgroup_size[1] is 0. Fix: all workgroup dimensions must be >= 1."
    )
    assert second["message"]["text"].endswith('\nIn Python: add BufferDecl.read("b", 1, DataType.U32) to `buffers`.')
    (location,) = second["locations"]
    assert below(run, location) == tmp_path / "bad.vyre"
    assert location["logicalLocations"] == [{"fullyQualifiedName": "entry[0].value"}]
    assert run["invocations"] == [{"executionSuccessful": True}]


def test_every_rule_note_and_check_is_described(log, tmp_path):
    (tmp_path / "bad.vyre").write_text(BAD, encoding="utf-8")
    rules = {rule["id"]: rule for rule in log("check", "bad.vyre")["tool"]["driver"]["rules"]}
    tables = vyre._core._tables
    assert list(rules) == [row[0] for name in ("rules", "notes", "checks") for row in tables[name]]
    assert rules["V003"]["shortDescription"]["text"] == "Workgroup Size Components Are At Least One"
    assert rules["N005"]["defaultConfiguration"] == {"level": "warning"}


def test_notes_are_warnings_and_nothing_is_nothing(log, tmp_path):
    good = BAD.replace(" 0 1\n", " 1 1\n")
    (tmp_path / "sum.vyre").write_text(good.replace("gid.x] = b[0]", "0] = out[0] + 1"), encoding="utf-8")
    run = log("check", "sum.vyre", status=0)
    assert [(each["ruleId"], each["level"]) for each in run["results"]] == [("N005", "warning")]
    (tmp_path / "fine.vyre").write_text(good.replace("b[0]", "1"), encoding="utf-8")
    assert log("check", "fine.vyre", status=0)["results"] == []


def test_a_race_has_both_of_its_statements_in_the_source(log, tmp_path):
    out, i = "out", Expr.gid_x()
    statements = [Node.let("é", Expr.load(out, 0)), Node.store(out, 0, i)]
    line = (lambda: 0).__code__.co_firstlineno - 1
    race = Program([BufferDecl.output(out, 0, vyre.u32)], (4, 1, 1), statements)
    vyre.check(race, {"out": 1}, 1).save(tmp_path / "race.json")
    shutil.copy(__file__, tmp_path / "source.py")
    run = log("replay", "race.json")
    found = [each for each in run["results"] if each["ruleId"] == "race"]
    assert found
    result = found[0]
    assert result["message"]["text"].startswith("race: two invocations access `out`[0], and nothing orders them; seen ")
    places = [*result["locations"], *result["relatedLocations"]]
    text = Path(__file__).read_text(encoding="utf-8").splitlines()
    for place in places:
        uri = place["physicalLocation"]["artifactLocation"]["uri"]
        assert uri == Path(__file__).resolve().as_uri()
        region = place["physicalLocation"]["region"]
        assert region["startLine"] == line
        if "startColumn" in region:  # Python 3.10 knows none
            shown = text[line - 1][region["startColumn"] - 1 : region["endColumn"] - 1]
            assert shown in ("Node.store(out, 0, i)", 'Node.let("é", Expr.load(out, 0))')
    assert places[0]["message"]["text"].startswith("invocation (0, 0, 0) of workgroup (0, 0, 0) writes 0 at ")


@pytest.mark.parametrize(
    "check", ["uninitialised-read", "out-of-bounds", "divergent-barrier", "order-dependence", "promised_zeros"]
)
def test_every_check_has_a_place(log, tmp_path, check):
    i, zero = Expr.gid_x(), Expr.u32(0)
    entries = {
        "promised_zeros": [Node.store("out", i, Expr.load("w", 0))],
        "uninitialised-read": [Node.store("out", 0, Expr.load("out", 0))],
        "out-of-bounds": [Node.store("out", 9, 1)],
        "divergent-barrier": [Node.if_(i == zero, [Node.barrier()])],
        "order-dependence": [Node.let("t", Expr.atomic_add("out", 0, 1)), Node.store("out", i + 1, Expr.var("t"))],
    }
    buffers = [BufferDecl.output("out", 0, vyre.u32), BufferDecl.workgroup("w", 4, vyre.u32)]
    program = Program(buffers, (4, 1, 1), entries[check])
    vyre.check(program, {"out": 5}, 1, checks=["all", "promised_zeros"]).save(tmp_path / "it.json")
    results = log("replay", "it.json")["results"]
    assert check in [result["ruleId"] for result in results]
    for result in results:
        assert "region" in result["locations"][0]["physicalLocation"]


def test_matches_have_places_and_no_secret(log, tmp_path):
    (tmp_path / "list").write_bytes(b"hunter2\n\\xffkey\n")
    (tmp_path / "sources").mkdir()
    odd = os.fsdecode(b"sources/a b\xfe#.bin")
    Path(odd).write_bytes(b"\xc3\xa9 = 'hunter2'\n\xffkey\n")
    Path("sources/b").write_bytes(b"nothing")
    run = log("scan", "sources", "nowhere", "--patterns", "list", "--backend", "cpu")
    assert "hunter2" not in json.dumps(run)
    found = [each["locations"][0]["physicalLocation"] for each in run["results"]]
    assert [each["artifactLocation"]["uri"] for each in found] == ["sources/a%20b%FE%23.bin"] * 2
    assert [each["region"] for each in found] == [
        {"startLine": 1, "byteOffset": 6, "byteLength": 7},
        {"startLine": 2, "byteOffset": 15, "byteLength": 4},
    ]
    assert [each["message"]["text"] for each in run["results"]] == [
        "byte string 1 of list is here, at byte 7 of the line",
        "byte string 2 of list is here, at byte 1 of the line",
    ]
    assert run["invocations"] == [
        {
            "executionSuccessful": False,
            "toolExecutionNotifications": [
                {"level": "error", "message": {"text": "nowhere: No such file or directory"}}
            ],
        }
    ]


def test_counts_have_no_places(capsys, tmp_path):
    (tmp_path / "list").write_bytes(b"x\n")
    assert main(["scan", str(tmp_path), "--patterns", str(tmp_path / "list"), "--sarif", "--count"]) == 2
    said = "error: --count has no place with --sarif. Fix: leave it out.\n"
    assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize("command", [("check", "x"), ("replay", "x"), ("scan", "x", "--patterns", "x"), ("fuzz",)])
def test_one_form_at_a_time(command, capsys):
    with pytest.raises(SystemExit):
        main([*command, "--json", "--sarif"])
    assert "not allowed with argument --json" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ({"physicalLocation": {"artifactLocation": {"uri": "a b"}}}, "does not match"),
        ({"physicalLocation": {"artifactLocation": {"uri": "a"}, "region": {"startLine": 0}}}, "less than the minimum"),
        ({"physicalLocation": {"artifactLocation": {"uri": "a"}, "region": {}}}, "should be non-empty"),
        ({"physicalLocation": {"uri": "a"}}, "artifactLocation"),
    ],
)
def test_the_schema_here_finds_mistakes(location, why):
    with pytest.raises(jsonschema.ValidationError, match=why):
        jsonschema.validate(location, LOCATION)
