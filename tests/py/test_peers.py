"""The page that sets vyre beside its neighbours: a yes has a test, and a no has a reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "peers.md"
TEXT = PAGE.read_text(encoding="utf-8")
LINK = re.compile(r"\[[\w ]+\]\((\.\./tests/[^)\s]+) \"([\w.]+)\"\)")  # the link's title is the name of the test


def rows(title: str) -> list[list[str]]:
    """The cells of the table of a section, without its head."""
    section = TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


FEATURES, REASONS, ASKS = rows("What there is"), rows("What is missing, and why"), rows("What their users ask for")


def is_test(link: str, name: str) -> bool:
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
def test_a_yes_has_a_test_and_all_else_has_a_reason(row):
    assert len(row) == 12
    assert set(row[1:11]) <= {"Y", "P", "–", "?"}
    verdict = re.match(r"\[?(yes|partly|no)\b", row[11])[1]
    assert bool(LINK.search(row[11])) == (verdict != "no")
    reasons = [reason for name, told, reason in REASONS if (name, told) == (row[0], verdict)]
    assert len(reasons) == (verdict != "yes")
    assert all(len(reason.split()) >= 4 for reason in reasons)


def test_no_reason_is_given_for_what_is_not_in_the_table():
    assert {name for name, *_ in REASONS} <= {row[0] for row in FEATURES}


@pytest.mark.parametrize("row", ASKS, ids=lambda row: row[0])
def test_what_is_answered_has_a_test(row):
    assert len(row) == 4
    assert all(row)
    assert LINK.search(row[3])


def test_a_link_that_leads_nowhere_is_noticed():
    assert not is_test("../tests/py/test_peers.py", "test_that_is_not_there")
    assert not is_test("../tests/py/test_not_there.py", "test_rows")
    assert not is_test("../tests/cpp/run/vulkan_failures_test.cpp", "VulkanFailuresTest.not_there")
