"""Every notebook runs from top to bottom in little time, again after a mistake, and draws what it is about."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from html_reader import told

NOTEBOOKS = sorted((Path(__file__).parents[3] / "notebooks").glob("*.ipynb"))
WITHOUT_PICTURES = {"04_reading_errors", "06_files"}
# A mistake that IPython shows between two runs of a notebook, with a comparison in the lines that it shows.
WRONG = """import vyre

if 1 < 2:
    @vyre.kernel
    def wrong(out: vyre.Out[vyre.u32]):
        if vyre.gid(0) < len(out):
            out[0] = 0.5
"""
# Checks the calls of all cells behind it.
WATCH = f"""import sys

sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from noted import noted

watching = noted()
watched = watching.__enter__()
"""
NOTED = "print(sorted(watched.notes), watched.not_checked())"
# What checks find in calls that do wrong on purpose.
MEANT = {"10_same_bytes": [("kernel `corners`", "out-of-bounds")]}
SECONDS = 10  # of processors, those of the commands that it runs too; other tests at the same time hardly change them


def test_there_are_notebooks_and_most_have_pictures():
    assert {path.stem for path in NOTEBOOKS} > WITHOUT_PICTURES
    assert len(NOTEBOOKS) - len(WITHOUT_PICTURES) >= 6


def test_every_notebook_is_listed():
    page = Path(__file__).parents[3] / "docs" / "how-to" / "work-in-notebooks.md"
    listed = re.findall(r"^\| `(\d\d_\w+)` \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == [path.stem for path in NOTEBOOKS]


def is_picture(data: dict[str, str]) -> bool:
    """Whether an output is a picture of matplotlib's, or of one of vyre's forms."""
    return "image/png" in data or "<svg" in data.get("text/html", "")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path):
    notebook = nbformat.read(path, as_version=4)
    cells, again = notebook.cells, copy.deepcopy(notebook.cells)
    took = nbformat.v4.new_code_cell("import os\n\nprint(sum(os.times()[:4]))")
    wrong = nbformat.v4.new_code_cell(WRONG, metadata={"tags": ["raises-exception"]})
    watch, noted = (nbformat.v4.new_code_cell(text) for text in (WATCH, NOTED))
    notebook.cells = [*cells, took, wrong, watch, *again, noted]
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    assert float(took.outputs[0].text) < SECONDS
    assert "float 0.5" in wrong.outputs[-1].evalue
    assert noted.outputs[0].text == f"{sorted(MEANT.get(path.stem, []))} []\n"
    outputs = [output for cell in (*cells, *again) for output in cell.get("outputs", ())]
    assert [each.text for each in outputs if each.get("name") == "stderr"] == []
    shown = [each.data for each in outputs if "data" in each]
    for data in shown:
        form = data.get("text/html", "")
        if 'class="vyre"' in form:
            assert told(form)
        assert form or not data.get("text/plain", "").startswith("<vyre."), "an object that is not drawn"
    assert any(map(is_picture, shown)) == (path.stem not in WITHOUT_PICTURES)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_kept_without_outputs(path):
    for cell in nbformat.read(path, as_version=4).cells:
        assert not cell.get("outputs"), f"{path.name} has outputs. Fix: clear them before committing."
