"""``vyre explain V014``: what a rule checks, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import vyre

if TYPE_CHECKING:
    import argparse


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "explain", help="what a rule checks, and why", description="Say what a rule checks, and why it is there."
    )
    parser.add_argument("rules", nargs="+", metavar="RULE", help="such as V014")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    print("\n\n".join(vyre.explain(rule) for rule in chosen.rules))
    return 0
