"""Writes the part of README.md that is made from the results: a section with a table and pictures per machine."""

from __future__ import annotations

import re
from pathlib import Path

from tabulate import tabulate

from results import FOLDER, HEADERS, Results, not_measured, table

README = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- made by `python bench/table.py --write` -->", "<!-- end of what is made -->"
CAPTIONS = {
    "bars": "vyre's speed over each peer's",
    "sizes": "cost of a call against the size of its arrays",
    "growth": "cost of building to SPIR-V against a program's nodes",
}


def section(results: Results) -> str:
    """Writes the section of one machine."""
    facts = results.machine
    title = results.gpu or facts["name"]
    where = ", ".join([facts["date"], facts["name"], *([results.gpu] if results.gpu else [])])
    head = [f"### {title}", "", f"{where}, Python {facts['python']}; `{results.command}`.", ""]
    rows = [[cell.replace("|", "\\|") for cell in line.cells()] for line in table(results)]
    body = [tabulate(rows, headers=HEADERS, tablefmt="github", disable_numparse=True), ""]
    body += ["Who was there:", "", *(f"- {who}: {about}" for who, about in results.about.items()), ""]
    body += ["Not measured:", "", *(f"- {note}" for note in not_measured(results)), ""]
    pictures = [f"![{text}](pictures/{results.slug()}-{name}.svg)" for name, text in CAPTIONS.items()]
    return "\n".join([*head, *body, *pictures]) + "\n"


def every() -> list[Results]:
    """Loads the results of all machines, those without a GPU first."""
    found = [Results.load(path) for path in sorted(FOLDER.glob("*.json"))]
    return sorted(found, key=lambda results: (bool(results.gpu), results.slug()))


def with_results(text: str, found: list[Results]) -> str:
    """Returns README's text with the part between the marks replaced."""
    part = "\n".join(section(results) for results in found)
    return re.sub(
        f"(?<={re.escape(BEGIN)}\n).*(?={re.escape(END)})", lambda _: f"\n{part}\n", text, count=1, flags=re.DOTALL
    )


def write(results: Results) -> None:
    """Saves the results, and draws and writes everything that is made from them."""
    import pictures

    results.save(FOLDER / f"{results.slug()}.json")
    kept = Results.load(FOLDER / f"{results.slug()}.json")
    for path in pictures.draw(kept):
        print(f"wrote {path.relative_to(README.parent)}")
    README.write_text(with_results(README.read_text(encoding="utf-8"), every()), encoding="utf-8")
