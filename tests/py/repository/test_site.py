"""The pages of the documentation site: what can be told without Sphinx. `.ci/site` builds it, where a warning fails."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import page_code
import vyre
import vyre.conformance
import vyre.fuzz.procedures
from noted import noted
from vyre._kernel.mistakes import RULES

ROOT = Path(__file__).parents[3]
# Where a key or a tree lies depends on the order of atomics, as the page says.
MEANT = {"examples": [("kernel `insert`", "order-dependence"), ("kernel `unite`", "order-dependence")]}
PAGES = sorted((ROOT / "docs").rglob("*.md"))
SLOW = {"scale-with-dask"}  # it starts a cluster
ELSEWHERE = {"c", "cpp", "py", "wgsl"}  # code for other libraries: it is shown, and does not run
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def named(page: Path) -> list[Path]:
    """The pages that the tables of contents of a page name."""
    lines = [line for block in TOCTREE.findall(page.read_text(encoding="utf-8")) for line in block.splitlines()]
    names = [line.split("<")[-1].rstrip(">") for line in lines if line and not line.startswith(":")]
    return [(ROOT / name[1:] if name.startswith("/") else page.parent / name).with_suffix(".md") for name in names]


def reached(page: Path) -> set[Path]:
    return {page}.union(*(reached(each) for each in named(page)))


def test_every_page_is_reached_from_the_first():
    found = reached(ROOT / "docs" / "index.md")
    assert [page for page in found if not page.is_file()] == []
    wanted = {*PAGES, *(ROOT / "python/vyre/docs").glob("*.md"), ROOT / "README.md", ROOT / "python/vyre/reference.md"}
    assert wanted - found == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_file_holds(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`\n]*`", "", text)
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


def test_the_site_is_built_by_the_slow_tests():
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").split("\ntest-slow:")[1].split("\n\n")[0]
    assert "site" in recipe.split("\t@.ci/gates")[1].split()


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=[pytest.mark.slow] if page.stem in SLOW else [])
        for page in PAGES
        if page.name != "index.md" and page.parent.name != "api"
    ],
)
def test_the_code_of_a_page_runs_and_prints_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    runs = [block for block in page_code.blocks(text) if block.language in ("python", "console")]
    with noted() as watched:
        ran = page_code.run_page(page.name, text, tmp_path, printed_is_shown=True)
    assert (sorted(watched.notes), watched.not_checked()) == (MEANT.get(page.stem, []), [])
    assert ran == sum(1 for block in runs if not block.needs or importlib.util.find_spec(block.needs))
    # Whatever else stands between fences of these languages is no code that runs.
    assert {block.language for block in page_code.blocks(text)} <= {"python", "console", "text", "sh", *ELSEWHERE}


@pytest.mark.parametrize(
    "module", [vyre, vyre.std, vyre.conformance, vyre.fuzz, vyre.fuzz.procedures], ids=lambda module: module.__name__
)
def test_every_public_name_has_an_entry(module):
    """Of modules there are pages, and of numbers none."""
    described: set[str] = set()
    for page in (ROOT / "docs" / "api").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        for home, names in re.findall(r"^```\{documented\} (.*)\n([^`]*)```$", text, re.MULTILINE):
            described.update(f"{home}.{name}" for name in names.split())
        described.update(
            f"vyre.{name}" for name in re.findall(r"^(?:\.\. py:data::| {13}) *(\w+)$", text, re.MULTILINE)
        )
    public = {
        name
        for name in module.__all__
        if callable(getattr(module, name)) or isinstance(getattr(module, name), vyre.DataType)
    }
    assert {f"{module.__name__}.{name}" for name in public} - described == set()


def test_the_site_explains_every_rule_and_describes_each_name():
    settings = importlib.util.spec_from_file_location("conf", ROOT / "docs" / "conf.py")
    conf = importlib.util.module_from_spec(settings)
    settings.loader.exec_module(conf)
    source = ["# Rules\n"]
    conf.made(None, "docs/rules", source)
    tables = vyre._core._tables
    rules = [row[0] for name in ("rules", "procedure_rules", "notes") for row in tables[name]] + list(RULES)
    assert len(rules) == len(set(rules)) > 60
    for rule in rules:
        assert source[0].count(f"\n## {rule}") == 1
        assert vyre.explain(rule).strip()[-40:] in source[0]
    assert "Fix: each buffer must have a unique name." in source[0]
    names = ["```{documented} vyre\nrun VyreError\nArray DataType\n```\n"]
    conf.made(None, "docs/api/calls", names)
    directives = ["function:: run", "exception:: VyreError", "class:: Array\n   :members:", "class:: DataType"]
    parts = ["```{eval-rst}\n.. currentmodule:: vyre", *(f".. auto{each}" for each in directives)]
    assert names[0] == "\n\n".join(parts) + "\n```\n"
    untouched = ["# Tutorial\n"]
    conf.made(None, "docs/tutorial", untouched)
    assert untouched == ["# Tutorial\n"]


def test_a_page_whose_output_differs_fails(tmp_path):
    page_code.run_page("page", "```python\nprint(1 + 1)\n```\n\n```text\n2\n```\n", tmp_path)
    with pytest.raises(AssertionError, match="Expected"):
        page_code.run_page("page", "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n", tmp_path)
    with pytest.raises(AssertionError, match="does not show"):
        page_code.run_page("page", "```python\nprint(1 + 1)\n```\n", tmp_path, printed_is_shown=True)
    with pytest.raises(AssertionError, match="Expected"):
        page_code.run_page("page", "```console\n$ echo 1\n2\n```\n", tmp_path)


def test_the_tutorial_runs_as_one_file_too(tmp_path):
    """Its reader may append each block to a file instead of a notebook."""
    found = page_code.blocks((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8"))
    shown = [block.text for block in found if block.language == "text"]
    (tmp_path / "tutorial.py").write_text("\n".join(block.text for block in found if block.language == "python"))
    done = subprocess.run(
        [sys.executable, "tutorial.py"],
        cwd=tmp_path,
        env=dict(os.environ, PYTHONPATH=str(ROOT / "python")),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # The lines that a report or a table names are those of the file.
    without_lines = [
        re.sub(r"\d+:\d+\)|:\d+\)|\bat \S*:\d+:|^ +\d+ ", "", text, flags=re.MULTILINE)
        for text in (*shown, done.stdout)
    ]
    page_code.compare("tutorial.py", "...".join(without_lines[:-1]), without_lines[-1])


def test_the_picture_of_the_architecture_is_what_its_script_draws():
    spec = importlib.util.spec_from_file_location("pipeline", ROOT / "pictures" / "pipeline.py")
    drawn = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(drawn)
    assert drawn.HERE.read_text(encoding="utf-8") == drawn.picture()
    assert len(vyre._core._tables["rules"]) == 39  # the number that it shows
    for *_, folder in drawn.BOXES.values():
        assert (ROOT / folder).is_dir() or (ROOT / "cpp" / "vyre" / folder).is_dir() or (ROOT / "cpp" / folder).is_dir()
