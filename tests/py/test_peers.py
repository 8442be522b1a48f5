"""The page that sets vyre beside its neighbours: a yes has a test, and a no has a reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "peers.md"
TEXT = PAGE.read_text(encoding="utf-8")
LINK = re.compile(r"\[`([\w.]+)`\]\((\.\./tests/[^)]+)\)")


def rows(title: str) -> list[list[str]]:
    """The cells of the table of a section, without its head."""
    section = TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


FEATURES, ASKS = rows("What there is"), rows("What their users ask for")


def is_test(name: str, link: str) -> bool:
    """Whether the file that a link leads to has the test that it names."""
    file = PAGE.parent / link
    if not file.is_file():
        return False
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        return re.search(rf"^ *def {name}\(", text, re.MULTILINE) is not None
    suite, _, test = name.partition(".")
    return re.search(rf"TEST(?:_F|_P)?\({suite},\s*{test}\)", text) is not None


def test_every_link_leads_to_a_test_that_is_there():
    links = LINK.findall(TEXT)
    assert len(links) > 60
    assert [link for link in links if not is_test(*link)] == []


@pytest.mark.parametrize("row", FEATURES, ids=lambda row: row[0])
def test_yes_has_a_test_and_no_has_a_reason(row):
    assert len(row) == 13
    assert set(row[1:11]) <= {"Y", "P", "–", "?"}
    verdict, shown = row[11:]
    assert verdict in ("yes", "partly", "no")
    reason = LINK.sub("", shown).strip(" ,.")
    assert bool(LINK.search(shown)) == (verdict != "no")
    if verdict != "yes":
        assert len(reason.split()) >= 4, "what is missing, and why"


@pytest.mark.parametrize("row", ASKS, ids=lambda row: row[0])
def test_what_is_answered_has_a_test(row):
    assert len(row) == 4
    assert all(row)
    assert LINK.search(row[3])


def test_a_link_that_leads_nowhere_is_noticed():
    assert not is_test("test_that_is_not_there", "../tests/py/test_peers.py")
    assert not is_test("test_that_is_not_there", "../tests/py/test_not_there.py")
    assert not is_test("VulkanFailuresTest.not_there", "../tests/cpp/run/vulkan_failures_test.cpp")
