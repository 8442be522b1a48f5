"""What the command lines of std_race.py, std_sizes.py and std_families.py share: where to run, and two commands.

``measure`` times calls by size into a file of JSON; ``draw`` draws the files of a folder and writes README.md anew.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["README", "add_place", "between", "run", "write_json"]

README = Path(__file__).with_name("README.md")


def add_place(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Add the options that say where to run."""
    if several:
        parser.add_argument("--backend", nargs="+", default=[None], help="one after the other in each family")
    else:
        parser.add_argument("--backend", default=None)
    parser.add_argument("--device", type=int, default=None)


def write_json(path: str, figures: Any) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def between(begin: str, end: str, text: str, parts: list[str]) -> str:
    """A text with other parts between two marks."""
    before, rest = text.split(begin)
    return before + "\n\n".join([begin, *parts, end]) + rest.split(end)[1]


def run(
    doc: str | None,
    measure: Callable[[argparse.Namespace], None],
    draw: Callable[[], None],
    *,
    to: int,
    step: int,
) -> None:
    """Run `measure` or `draw`, whichever the command line names.

    Args:
        doc: what --help says.
        to: the exponent of the largest size, where the command line has none.
        step: that of exponents.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    add_place(measuring)
    measuring.add_argument("--begin", type=int, default=10, help="the smallest size is 2 to the power of it")
    measuring.add_argument("--to", type=int, default=to, help="the largest size is 2 to the power of it")
    measuring.add_argument("--step", type=int, default=step, help="of the exponents")
    measuring.add_argument("--machine", default="this machine", help="its name in the pictures")
    measuring.add_argument("--json", required=True, help="a file for the figures")
    commands.add_parser("draw", help="draw the pictures of the results, and write what README.md shows of them")
    given = parser.parse_args()
    if given.command == "measure":
        measure(given)
    else:
        draw()
