"""Commands find kernels, procedures and functions of the user's files: ``FILE.py:NAME``, and ``module:name`` here."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from vyre.__main__ import main

if TYPE_CHECKING:
    from pathlib import Path

MODULE = """
import vyre


@vyre.kernel
def doubled(x: vyre.In[vyre.u32], y: vyre.Out[vyre.u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] * 2


@vyre.procedure
def twice(x: vyre.In[vyre.u32]):
    y = vyre.scratch(vyre.u32, x.length)
    doubled(x, y)
    return y


def on_cpu(program, inputs, workgroups, **how):
    return vyre.run(program, inputs, workgroups, backend="cpu")
"""
NAME = "kernels_in_this_folder"  # a module that is nowhere else


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch):
    """The current folder, which is not in sys.path, as for the command that pip installs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    (tmp_path / f"{NAME}.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "broken_here.py").write_text("1 / 0\n", encoding="utf-8")
    yield
    for name in (NAME, f"_vyre_file_{NAME}"):
        sys.modules.pop(name, None)


def refused(capsys, *arguments: str) -> str:
    assert main(arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    return told.err


CONFORM = ("conform", "--backend", "cpu", "--call", '{"x": 9}', "--repeat", "3", "--procedure")
BENCH = ("bench", "--backend", "cpu", "--size", "4", "--seconds", "0")
FUZZ = ("fuzz", "--count", "2", "--jobs", "1", "--backend")


@pytest.mark.parametrize("home", [NAME, f"{NAME}.py", f"./{NAME}.py"])
def test_every_command_finds_what_it_takes(home, capsys):
    for arguments in (
        (*CONFORM, f"{home}:twice"),
        (*BENCH, f"{home}:doubled"),
        (*BENCH, f"{home}:twice"),
        (*FUZZ, f"{home}:on_cpu"),
    ):
        assert main([*arguments, "--json"]) == 0, arguments
        assert json.loads(capsys.readouterr().out)["ok"], arguments


def test_the_current_folder_hides_no_module_that_is_installed(capsys, tmp_path):
    (tmp_path / "colorsys.py").write_text(MODULE, encoding="utf-8")
    sys.modules.pop("colorsys", None)
    assert refused(capsys, *CONFORM, "colorsys:twice").startswith(
        "error: procedure `colorsys:twice` cannot be imported: `colorsys` has no `twice`. "
    )


def test_a_file_with_one_procedure_needs_no_name(capsys):
    assert main([*CONFORM, f"{NAME}.py", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["procedure"]["name"] == "twice"


@pytest.mark.parametrize("command", [CONFORM, BENCH, FUZZ])
def test_a_name_that_is_nowhere_and_a_module_that_fails_are_told(command, refuses):
    what = {"conform": "procedure", "bench": "kernel or procedure", "fuzz": "backend"}[command[0]]
    refuses(
        [*command, f"{NAME}:twce"],
        f"{what} `{NAME}:twce` cannot be imported: `{NAME}` has no `twce`",
        f"write {NAME}:NAME, with a name that it has (did you mean `twice`?)",
    )
    refuses(
        [*command, "nowhere_at_all:twice"],
        f"{what} `nowhere_at_all:twice` cannot be imported: ModuleNotFoundError: No module named 'nowhere_at_all'",
        "write FILE.py:NAME, or name a module that `python -c 'import nowhere_at_all'` imports",
    )
    refuses(
        [*command, "broken_here:twice"],
        f"{what} `broken_here:twice` cannot be imported: ZeroDivisionError: division by zero",
        "write FILE.py:NAME, or name a module that `python -c 'import broken_here'` imports",
    )
    refuses(
        [*command, "broken_here.py:twice"],
        "`broken_here.py` cannot be imported: ZeroDivisionError: division by zero",
        "run `python broken_here.py`",
    )


def test_a_file_that_is_not_here_is_told(refuses):
    refuses([*CONFORM, "nofile.py:twice"], "`nofile.py` is no file", "name a file of Python that is here")


def test_what_is_no_procedure_is_told(refuses):
    refuses([*CONFORM, f"{NAME}:doubled"], f"`{NAME}:doubled` is no procedure", "name one")
    refuses(
        [*CONFORM, f"{NAME}.py:doubled"],
        f"`{NAME}.py` has no procedure `doubled`",
        f"write {NAME}.py:NAME, with one of twice",
    )
