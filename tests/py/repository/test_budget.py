"""The tree has a budget: what grows past it is paid for elsewhere in the same change, whose commit says by what."""

from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CODE = {".cpp", ".hpp", ".def", ".inc", ".py"}
# Written by hand although their names are those of data.
TEST_TABLES = {"faults.toml", "wrong_kernels.txt", "wrong_procedures.txt", "wrong_backends.txt"}
NOT_KEPT = {"__pycache__", ".hypothesis", ".ipynb_checkpoints", "build", "dist"}

BUDGET = {
    "lines of code": 133_838,
    "lines of tests": 93_128,
    "lines of records": 30_017,
    "words of documents": 44_486,
    "Fixes in the code": 614,
    "Fixes in tests": 888,
    "files in the largest folder": 38,
}


def files(*folders: str) -> list[Path]:
    """The files that git keeps below these folders, which is all but what is built there."""
    found = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    return [path for path in found if path.suffix != ".so" and NOT_KEPT.isdisjoint(path.relative_to(ROOT).parts)]


def lines(paths: list[Path]) -> int:
    return sum(path.read_bytes().count(b"\n") for path in paths)


def fixes(paths: list[Path]) -> int:
    return sum(path.read_bytes().count(b"Fix:") for path in paths if path.suffix != ".md")


def counts() -> dict[str, int]:
    code = [path for path in files("cpp", "python") if path.suffix in CODE]
    tests = [path for path in files("tests") if path.suffix in CODE or path.name in TEST_TABLES]
    written = {*code, *tests, *(path for path in files("bench") if path.suffix in {*CODE, ".cu", ".c"})}
    documents = [*ROOT.glob("*.md"), *(path for path in files("bench", "docs", "python") if path.suffix == ".md")]
    kept = files("bench", "notebooks", "notices", "pictures", "python", "tests")
    records = [path for path in kept if path not in written and path not in documents and path.suffix != ".pyi"]
    folders = Counter(path.parent for path in files("cpp", "python", "tests", "bench") if path.suffix in CODE)
    return {
        "lines of code": lines(code),
        "lines of tests": lines(tests),
        "lines of records": lines(records),
        "words of documents": sum(len(path.read_text(encoding="utf-8").split()) for path in documents),
        "Fixes in the code": fixes(files("cpp", "python")),
        "Fixes in tests": fixes(files("tests")),
        "files in the largest folder": max(folders.values()),
    }


@pytest.mark.parametrize("what", BUDGET)
def test_the_tree_keeps_to_its_budget(what):
    assert counts()[what] <= BUDGET[what], "remove as much elsewhere, or say in the commit why the budget grows"
