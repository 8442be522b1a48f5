"""``vyre backends``: what can run programs here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import vyre
from vyre.commands._listing import add_json, print_json

if TYPE_CHECKING:
    import argparse


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "backends",
        help="what can run programs here",
        description="List what can run programs here, best first, and why the others cannot.",
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    if not chosen.json:
        return show()
    found = vyre.backends()
    return print_json("backends", True, backends=list(found), unavailable=found.unavailable())


def show() -> int:
    for name in vyre.backends():
        print(name)
    for name, reasons in vyre.backends().unavailable().items():
        for reason in reasons:
            print(f"{name}: not here: {reason}")
    return 0
