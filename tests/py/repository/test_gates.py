"""Gates of a release: each runs once for the same sources, and its row says on which commit it passed."""

import importlib.machinery
import importlib.util
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / ".ci" / "gates"


def loaded():
    loader = importlib.machinery.SourceFileLoader("gates", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("gates", loader))
    loader.exec_module(module)
    return module


@pytest.fixture
def gates(tmp_path, monkeypatch):
    module = loaded()
    module.ROOT, module.PAGE = tmp_path, tmp_path / "docs" / "release.md"
    module.GATES = {"first": "echo first >>runs", "second": "echo second >>runs && test ! -e broken"}
    (tmp_path / ".ci").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / ".ci" / "env").touch()
    (tmp_path / ".gitignore").write_text("runs\nbroken\n")
    module.PAGE.write_text("".join(f"| {gate} | `{command}` |  |  |\n" for gate, command in module.GATES.items()))
    monkeypatch.chdir(tmp_path)
    for command in ("init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm start"):
        subprocess.run(["git", *command.split()], check=True)
    return module


def runs():
    path = Path("runs")
    found = path.read_text().split() if path.exists() else []
    path.unlink(missing_ok=True)
    return found


def test_a_gate_runs_once_for_the_same_sources_and_again_for_others(gates):
    assert gates.main([]) == 0
    assert runs() == ["first", "second"]
    commit = gates.git("rev-parse", "--short=10", "HEAD").stdout.strip()
    assert [passed for _, passed in gates.recorded().values()] == [commit, commit]
    assert gates.main([]) == 0
    assert runs() == []
    assert gates.main(["--again", "second"]) == 0
    assert runs() == ["second"]
    Path(".gitignore").write_text("runs\nbroken\nmore\n")
    assert gates.main([]) == 0
    assert runs() == ["first", "second"]
    # These sources are of no commit, so the rows stay.
    assert [passed for _, passed in gates.recorded().values()] == [commit, commit]


def test_a_gate_that_fails_ends_the_run_and_the_next_one_goes_on_there(gates, capsys):
    Path("broken").touch()
    assert gates.main([]) == 1
    assert runs() == ["first", "second"]
    assert gates.recorded()["second"] == ("", "")
    Path("broken").unlink()
    assert gates.main([]) == 0
    assert runs() == ["second"]
    assert gates.main(["third"]) == 2
    assert "no gate `third`. Fix: choose from first, second" in capsys.readouterr().err


def test_the_page_has_a_row_for_each_gate_with_its_command():
    module = loaded()
    assert list(module.recorded()) == list(module.GATES)
    page = module.PAGE.read_text()
    assert all(f"| {gate} | `{command}` |" in page for gate, command in module.GATES.items())
