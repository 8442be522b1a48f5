"""vyre/docs/validation.md: every program of the page gives exactly the diagnostics that follow it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import vyre

PAGE = Path(vyre.__file__).parent / "docs" / "validation.md"
PREFIX = "vyre IR validation: "


def examples() -> dict[str, tuple[str, list[str]]]:
    """Title -> the program's text and the diagnostics' lines."""
    found = {}
    for section in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        program, diagnostics = re.findall(r"```\n(.*?)```", section, re.DOTALL)
        found[section.splitlines()[0]] = (program, diagnostics.splitlines())
    return found


@pytest.mark.parametrize("title", examples())
def test_the_programs_of_the_page_break_the_rules_that_it_says(title):
    text, expected = examples()[title]
    found = []
    for diagnostic in vyre.validate(vyre.parse(text)):
        assert diagnostic.message.startswith(PREFIX)
        found.append(f"{diagnostic.rule} at {diagnostic.place.path}: {diagnostic.message.removeprefix(PREFIX)}")
    assert found == expected


def test_every_section_has_an_example():
    assert len(examples()) == 6
