"""Every public name says what it is, and every example of the C++ module's docstrings runs."""

from __future__ import annotations

import doctest
import inspect
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import page_code
import vyre
import vyre.conformance
from noted import noted
from vyre import _core
from vyre._tools import reference as _reference

ROOT = Path(__file__).parents[3]
# What checks find in the kernels of pages. This one keeps values in the order of its atomics, on purpose.
MEANT = {"python/vyre/docs/kernels.md": [("kernel `keep_odd`", "order-dependence")]}


def core_docs() -> dict[str, str]:
    """The docstrings of the C++ module, by name."""
    found: dict[str, str] = {}
    for name, value in vars(_core).items():
        if name.startswith("_"):
            continue
        found[name] = value.__doc__ or ""
        # Enumerations come from the tables; their rows stand in the reference.
        if inspect.isclass(value) and not hasattr(value, "__members__"):
            found.update(
                {
                    f"{name}.{member}": getattr(value, member).__doc__ or ""
                    for member in vars(value)
                    if not member.startswith("_")
                }
            )
    return found


@pytest.mark.parametrize("name", core_docs())
def test_docstring(name):
    text = core_docs()[name]
    assert text.strip(), f"{name} has no docstring"
    if sys.version_info < (3, 11):
        # Python knows no columns, so no line of marks follows the line of source.
        text = re.sub(r"^ +\.\.\.\n(?= +In Python: )", "", text, flags=re.MULTILINE)
    example = doctest.DocTestParser().get_doctest(text, {"vyre": vyre, "np": np}, name, None, None)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=page_code.OPTIONS)
    runner.run(example, out=report.append)
    assert not report, "".join(report)


@pytest.mark.parametrize("name", vyre.__all__)
def test_public_name_is_documented(name):
    value = getattr(vyre, name)
    if not isinstance(value, vyre.DataType):
        assert (inspect.getdoc(value) or "").strip(), f"vyre.{name} has no docstring"


def test_functions_of_the_module_have_examples():
    for name, text in core_docs().items():
        value = getattr(_core, name) if "." not in name else None
        if value is not None and not inspect.isclass(value):
            assert ">>> " in text, f"{name} has no example"


def test_every_rule_operator_and_type_is_in_the_reference():
    text = _reference.reference()
    rules = [row[0] for row in vyre._core._tables["rules"]]
    assert len(rules) >= 39
    for rule in rules:
        assert f"\n- {rule}, " in text
    for enum in (vyre.DataType, vyre.BinOp, vyre.UnOp):
        for member in enum:
            assert member.name in text


def test_pages_say_how_many_cases_and_rules_there_are():
    cases, last = len(vyre.conformance.cases()), vyre._core._tables["rules"][-1][0]
    pages = [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("python/vyre/docs/*.md"),
    ]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    said = re.findall(r"\b(\d,\d{3}) cases\b", text)
    assert len(said) >= 2
    assert {abs(int(each.replace(",", "")) - cases) <= 25 for each in said} == {True}
    assert set(re.findall(r"rules V001 to (V\d+)", text)) == {last}


def test_every_environment_variable_is_documented():
    """Those for users on the page about devices, those for tests in CONTRIBUTING.md."""
    root = ROOT
    read = re.compile(r'(?:getenv|environ\.get|from)\("(VYRE_[A-Z_]+|XDG_[A-Z_]+)"')
    found = {
        name
        for folder, suffixes in (("cpp", (".cpp", ".hpp")), ("python", (".py",)), ("tests", (".cpp", ".hpp", ".py")))
        for path in (root / folder).rglob("*")
        if path.suffix in suffixes
        for name in read.findall(path.read_text(encoding="utf-8"))
    }
    pages = [root / "python/vyre/docs/devices.md", root / "CONTRIBUTING.md"]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    assert "VYRE_CACHE_DIR" in found
    assert [name for name in sorted(found) if f"`{name}" not in text] == []


@pytest.mark.parametrize(
    ("page", "least"),
    [
        ("README.md", 4),
        ("python/vyre/docs/kernels.md", 1),
        ("python/vyre/docs/looking-inside.md", 5),
        ("python/vyre/docs/procedures.md", 2),
        ("python/vyre/docs/library.md", 2),
        ("python/vyre/docs/conformance.md", 5),
    ],
)
def test_the_code_of_a_page_runs(page, least, tmp_path, monkeypatch):
    """In order, in one namespace: sessions as doctests, whole scripts as they are."""
    monkeypatch.chdir(tmp_path)  # one of them writes a file
    with noted() as watched:
        assert page_code.run_page(page, (ROOT / page).read_text(encoding="utf-8"), tmp_path) >= least
    assert (sorted(watched.notes), watched.not_checked()) == (MEANT.get(page, []), [])
