"""``vyre docs``: the pages that come with the package."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

import vyre
from vyre.commands._listing import add_json, print_json

if TYPE_CHECKING:
    import argparse


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "docs",
        help="the pages about kernels, procedures, the library and the forms of programs",
        description="List the pages that come with vyre, or print some of them, as Markdown. "
        "`vyre reference` is the page of the language.",
    )
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="such as kernels; otherwise the names of all")
    add_json(parser)
    parser.set_defaults(run=run)


def pages() -> dict[str, str]:
    """The names of the pages and their texts."""
    folder = resources.files("vyre") / "docs"
    found = {file.name.removesuffix(".md"): file for file in folder.iterdir() if file.name.endswith(".md")}
    return {name: found[name].read_text(encoding="utf-8") for name in sorted(found)}


def run(chosen: argparse.Namespace) -> int:
    found = pages()
    for name in chosen.pages:
        if name not in found:
            raise vyre.ArgumentError(f"there is no page {name!r}. Fix: name one of {', '.join(found)}.")
    if chosen.json:
        rows = [{"name": name, "title": _title(text)} for name, text in found.items()]
        if chosen.pages:
            rows = [{"name": name, "title": _title(found[name]), "text": found[name]} for name in chosen.pages]
        return print_json("docs", True, pages=rows)
    if chosen.pages:
        print("\n".join(found[name] for name in chosen.pages), end="")
        return 0
    width = max(map(len, found))
    for name, text in found.items():
        print(f"{name:{width}}  {_title(text)}")
    return 0


def _title(text: str) -> str:
    return text.split("\n", 1)[0].lstrip("# ")
