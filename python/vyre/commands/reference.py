"""``vyre reference``: every type, cast, operator, rule and operation, as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre._tools import reference

if TYPE_CHECKING:
    import argparse


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "reference",
        help="every type, cast, operator, rule and operation, as Markdown",
        description="Write the reference of the language: every type, cast, operator, rule and operation, as Markdown.",
    )
    parser.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    print(reference.reference(), end="")
    return 0
