"""``vyre explain V014``: what a rule checks, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import vyre
from vyre.commands._listing import add_json, print_json

if TYPE_CHECKING:
    import argparse


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "explain", help="what a rule checks, and why", description="Say what a rule checks, and why it is there."
    )
    parser.add_argument("rules", nargs="+", metavar="RULE", help="such as V014")
    add_json(parser)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    texts = {rule: vyre.explain(rule) for rule in chosen.rules}
    if chosen.json:
        return print_json("explain", True, rules=[{"rule": rule, "text": text} for rule, text in texts.items()])
    print("\n\n".join(texts.values()))
    return 0
