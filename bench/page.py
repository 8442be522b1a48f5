"""Writes the part of README.md that is made from the results: a table for each machine."""

from __future__ import annotations

import re
from pathlib import Path

from results import FOLDER, Line, Results, every, number, table

README = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- made by `python bench/table.py --write` -->", "<!-- end of what is made -->"


def row(lines: list[Line]) -> list[str]:
    """Returns the cells of a target: all peers stand in one, with how many times as fast as each vyre is."""
    first = lines[0]
    beside = [f"{line.peer} {number(line.theirs, line.unit)} ({line.ratio:.2f})" for line in lines if line.peer]
    verdicts = {line.met for line in lines if line.met}
    met = "no" if "no" in verdicts else " ".join(verdicts)
    return [first.what, first.goal, number(first.ours, first.unit), "; ".join(beside), met]


def section(results: Results) -> str:
    """Writes the section of one machine, with a row for each target that was measured."""
    facts = results.machine
    targets: list[list[Line]] = []
    for line in table(results):
        if line.what:
            targets.append([])
        targets[-1].append(line)
    rows = [row(lines) for lines in targets if lines[0].ours is not None]
    where = ", ".join([facts["date"], facts["name"], *([results.gpu] if results.gpu else [])])
    texts = ["| what | goal | vyre | beside it (vyre is so many times as fast) | met |", "|---|---|---|---|---|"]
    texts += [f"| {' | '.join(cells)} |" for cells in rows]
    about = "; ".join(f"{who}: {what}" for who, what in results.about.items())
    return "\n".join(
        [f"### {results.gpu or facts['name']}", "", f"{where}, Python {facts['python']}. {about}.", "", *texts, ""]
    )


def with_results(text: str, found: list[Results]) -> str:
    """Returns README's text with the part between the marks replaced."""
    part = "\n".join(section(results) for results in found)
    return re.sub(
        f"(?<={re.escape(BEGIN)}\n).*(?={re.escape(END)})", lambda _: f"\n{part}\n", text, count=1, flags=re.DOTALL
    )


def write(results: Results) -> None:
    """Saves the results, and writes the part of README.md that is made from them."""
    results.save(FOLDER / f"{results.slug()}.json")
    README.write_text(with_results(README.read_text(encoding="utf-8"), every()), encoding="utf-8")
