"""``vyre``, also ``python -m vyre``: the command line. Its commands lie in ``vyre.commands``."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

import vyre
from vyre.commands import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    0 when all is well, 1 for a fault found, 2 for a wrong request, 130 for an interrupt.
    """
    parser = argparse.ArgumentParser(
        prog="vyre",
        description="GPU compute programs, the same bytes everywhere.",
        epilog="`vyre COMMAND --help` says more about a command.",
    )
    parser.add_argument("--version", action="version", version=f"vyre {vyre.__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_to(commands)
    chosen = parser.parse_args(arguments)
    try:
        return chosen.run(chosen)
    except vyre.VyreError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
