"""``vyre backends``: what can run programs here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import vyre

if TYPE_CHECKING:
    import argparse


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "backends",
        help="what can run programs here",
        description="List what can run programs here, best first, and why the others cannot.",
    )
    parser.set_defaults(run=lambda _: show())


def show() -> int:
    for name in vyre.backends():
        print(name)
    for name, reasons in vyre.backends().unavailable().items():
        for reason in reasons:
            print(f"{name}: not here: {reason}")
    return 0
