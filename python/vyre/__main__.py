"""``vyre``, also ``python -m vyre``: the command line. Its commands lie in ``vyre.commands``."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from typing import TYPE_CHECKING

import vyre
from vyre._files import NO_ROOM
from vyre.commands import COMMANDS
from vyre.commands._place import NoSuchPlace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from _typeshed import SupportsWrite

CLOSED_PIPE = 141
"""The exit status when whoever reads the output has closed it, as shells show it for SIGPIPE."""

NO_PLACE = 3
"""The exit status when a backend or a device is named that is not there."""


STATUSES = {
    0: "all is well",
    1: "a fault was found: a broken rule, a difference, a file that changed, a match",
    2: "the request cannot be carried out",
    NO_PLACE: "a backend or a device is named that is not here",
    130: "interrupted",
    CLOSED_PIPE: "the reader of the output has closed it",
}
"""What each exit status means."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status, one of STATUSES."""
    with _open_streams():
        return _main(arguments)


def _main(arguments: Sequence[str] | None) -> int:
    try:
        try:
            return _command(arguments)
        finally:
            # The output is flushed here because an error could not be told when Python exits.
            sys.stdout.flush()
    except vyre.VyreError as error:
        _say(f"error: {error}")
        return NO_PLACE if isinstance(error, NoSuchPlace) else 2
    except KeyboardInterrupt:
        _say("interrupted")
        return 130
    except BrokenPipeError:
        _drop_output()
        return CLOSED_PIPE
    except OSError as error:
        _drop_output()
        why = error.strerror or error
        # Commands name the files that they cannot write; what is left is the output.
        if error.errno in NO_ROOM:
            _say(f"error: the output cannot be written: {why}. Fix: send it where there is room for it.")
        else:
            _say(
                f"error: the system refused what the command needs: {why}. Fix: provide it, and run the command again."
            )
        return 2


@contextlib.contextmanager
def _open_streams() -> Iterator[None]:
    """Replace streams that were closed before the start. Python has None for them, and prints errors to the output."""
    with contextlib.ExitStack() as stack:
        for name in ("stdout", "stderr"):
            if getattr(sys, name) is None:
                stack.callback(setattr, sys, name, None)
                setattr(sys, name, stack.enter_context(open(os.devnull, "w", encoding="utf-8")))  # noqa: PTH123
        yield


class _Parser(argparse.ArgumentParser):
    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        """Print like argparse, but let errors of output through, which argparse hides."""
        if message and file is not None:
            file.write(message)


def parser_of_all() -> argparse.ArgumentParser:
    statuses = "\n".join(f"  {status:<4} {meaning}" for status, meaning in STATUSES.items())
    parser = _Parser(
        prog="vyre",
        description="GPU compute programs, the same bytes everywhere.",
        epilog=f"Exit status, of every command:\n{statuses}\n\n`vyre COMMAND --help` says more about a command.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"vyre {vyre.__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_to(commands)
    return parser


def _command(arguments: Sequence[str] | None) -> int:
    chosen = parser_of_all().parse_args(arguments)
    found: int = chosen.run(chosen)
    return found


def _say(text: str) -> None:
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def _drop_output() -> None:
    """Send what the output still holds nowhere: Python writes it when it exits, and would fail with a traceback."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
