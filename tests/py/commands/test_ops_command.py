"""What `vyre ops` lists of the library: its calls with their parameters."""

import inspect
import json
import subprocess
import sys

import pytest

import vyre
from vyre import std
from vyre.__main__ import main
from vyre.commands._library import call_row
from vyre.std._calls.declared import STEPS


def listed(capsys, *arguments):
    assert main(["ops", *arguments]) == 0
    return capsys.readouterr().out


def test_every_operation_and_every_call_is_listed(capsys):
    found = json.loads(listed(capsys, "--json"))
    assert {row["id"] for row in found["operations"]} == set(vyre.ops.ids())
    functions = {f"vyre.std.{name}" for name in std.__all__ if inspect.isfunction(getattr(std, name))}
    assert {row["name"] for row in found["library"]} == functions
    assert all(row["summary"] for row in found["library"])
    assert {row["name"] for row in found["library"] if row["is_step"]} == STEPS
    lines = listed(capsys).splitlines()
    assert (
        "vyre.std.sort(x, descending, backend, device): The elements in ascending order, or in descending order."
        in lines
    )
    assert len(lines) == len(found["operations"]) + len(found["library"])


def test_a_call_has_its_parameters_with_types_and_defaults(capsys):
    found = json.loads(listed(capsys, "vyre.std.sort", "--json"))
    (row,) = found["library"]
    assert found["operations"] == []
    x, descending, backend, device = row["parameters"]
    assert x == {
        "name": "x",
        "type": "np.ndarray | Array | ProcedureArray",
        "default": "",
        "by_name": False,
        "description": "an array of one axis, of integers of 8 to 64 bits but int64, with at most 2^32 - 1 elements.",
    }
    assert (descending["type"], descending["default"]) == ("bool", "False")
    assert backend["by_name"]
    assert device["description"].startswith("where, as for vyre.run; resident arrays ")


@pytest.mark.parametrize("name", sorted(name for name in std.__all__ if name.islower()))
def test_a_call_is_told_from_its_source_as_python_has_it(name):
    row, doc = call_row(name), " ".join(inspect.getdoc(getattr(std, name)).split())
    signature = inspect.signature(getattr(std, name))
    assert [each["name"] for each in row["parameters"]] == list(signature.parameters)
    for told, each in zip(row["parameters"], signature.parameters.values(), strict=True):
        assert told["by_name"] == (each.kind is each.KEYWORD_ONLY)
        type = each.annotation
        assert told["type"] == (
            type if isinstance(type, str) else inspect.formatannotation(type).removeprefix("typing.")
        )
        assert (eval(told["default"]) if told["default"] else each.empty) == each.default
        assert told["description"] in doc
    assert doc.startswith(row["summary"])


def test_neither_the_library_nor_numpy_is_imported_to_list_it():
    code = (
        "import sys; from vyre.__main__ import main; assert main(['ops']) == 0; "
        "assert not {'numpy', 'vyre._kernel', 'vyre.std.sorting'} & {*sys.modules}, sys.modules.keys()"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (made.returncode, made.stderr) == (0, "")


def test_a_call_and_an_operation_are_shown_in_full(capsys):
    out = listed(capsys, "vyre.std.gather", "primitive.math.gcd")
    assert out.startswith("primitive.math.gcd(")
    assert (
        "vyre.std.gather(x: np.ndarray | Array | ProcedureArray, index: np.ndarray | Array | ProcedureArray, *, "
        "backend: str | None = None, device: int | Device | None = None)\n"
    ) in out
    assert out.endswith("  a step in the body of a procedure\n")


MEANT = {
    "sha256": ["vyre.std.sha256"],
    "sort": ["vyre.std.sort"],
    "lcm": ["primitive.math.lcm", "primitive.u64.lcm"],
    "std.sort": ["vyre.std.sort"],
    "math.gcd": ["primitive.math.gcd"],
    "vyre.std.srot": ["vyre.std.sort"],
    "primitive.math.gcdd": ["primitive.math.gcd"],
    "hashlib.sha256": ["vyre.std.sha256"],
    "sha257": ["vyre.std.sha256"],
    "primitive.math.gcd@9": ["primitive.math.gcd"],  # there is no such version
}


@pytest.mark.parametrize("written", MEANT)
def test_what_was_meant_is_named_and_can_be_written(written, capsys):
    assert main(["ops", written]) == 2
    told = capsys.readouterr()
    meant = " ".join(MEANT[written])
    assert told == (
        "",
        f"error: there is no operation `{written}`. Fix: write `vyre ops {meant}`; `vyre ops` lists all.\n",
    )
    assert listed(capsys, *MEANT[written])


def test_an_id_like_no_other_leads_to_the_list(refuses):
    refuses(["ops", "zzzzzzzz"], "there is no operation `zzzzzzzz`", "write one that `vyre ops` lists")
