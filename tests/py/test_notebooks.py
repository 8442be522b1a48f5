"""Every notebook runs from top to bottom in little time, and draws what it is about."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from html_reader import told

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
SECONDS = 10  # of processors, which other tests at the same time do not change


def test_there_are_notebooks():
    assert NOTEBOOKS


@cache
def ran(path: Path) -> nbformat.NotebookNode:
    """The notebook with its outputs, and a last cell that says how many seconds of processors it took."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell("import time\n\nprint(time.process_time())"))
    return NotebookClient(notebook, timeout=120, kernel_name="python3").execute()


def outputs(path: Path) -> list[nbformat.NotebookNode]:
    return [output for cell in ran(path).cells[:-1] for output in cell.get("outputs", ())]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path):
    assert float(ran(path).cells[-1].outputs[0].text) < SECONDS
    shown = outputs(path)
    assert [each.text for each in shown if each.get("name") == "stderr"] == []
    for each in shown:
        form = each.get("data", {}).get("text/html", "")
        if 'class="vyre"' in form:
            assert told(form)
        assert "vyre." not in each.get("data", {}).get("text/plain", "") or form, "an object that is not drawn"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_kept_without_outputs(path):
    for cell in nbformat.read(path, as_version=4).cells:
        assert not cell.get("outputs"), f"{path.name} has outputs. Fix: clear them before committing."
