"""``vyre``, also ``python -m vyre``: the command line. Its commands lie in ``vyre.commands``."""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import re
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import vyre
from vyre import _core
from vyre._base.files import NO_ROOM
from vyre.commands import COMMANDS
from vyre.commands._place import NoSuchPlace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from _typeshed import SupportsWrite

CLOSED_PIPE = 141
"""The exit status when the reader of the output has closed it, as shells show it for SIGPIPE."""

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
"""The meaning of each exit status."""


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
        return NO_PLACE if isinstance(error, NoSuchPlace) else 1 if isinstance(error, vyre.CheckError) else 2
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
        if error.errno in (*NO_ROOM, errno.EBADF):
            _say(f"error: the output cannot be written: {why}. Fix: send it where there is room for it.")
        else:
            _say(
                f"error: the system refused what the command needs: {why}. Fix: provide it, and run the command again."
            )
        return 2


@contextlib.contextmanager
def _open_streams() -> Iterator[None]:
    """Replace streams that were closed before the start. Python has None for them, and prints errors to the output.

    What a command writes to a closed output fails, so that its status says so. Errors are dropped.
    """
    with contextlib.ExitStack() as stack:
        for name, how in (("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY)):
            if getattr(sys, name) is None:
                stack.callback(setattr, sys, name, None)
                nowhere = open(os.open(os.devnull, how), "w", encoding="utf-8")  # noqa: PTH123
                setattr(sys, name, stack.enter_context(nowhere))
        yield


class _Once(argparse._StoreAction):
    """Refuses an option that is given again, which would take the place of the first."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, *rest: Any) -> None:
        given = namespace.__dict__.setdefault("given", set())
        if self.option_strings and self.dest in given:
            raise argparse.ArgumentError(self, "it is given twice")
        given.add(self.dest)
        super().__call__(parser, namespace, *rest)


class _Parser(argparse.ArgumentParser):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name in (None, "store"):
            self.register("action", name, _Once)

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        """Print like argparse, but let errors of output through, which argparse hides."""
        if message and file is not None:
            file.write(message)

    def error(self, message: str) -> NoReturn:
        """Print how the command is written, and the mistake with a Fix."""
        super().error(_with_fix(message, self))


def _with_fix(message: str, parser: argparse.ArgumentParser) -> str:
    """A message of argparse, with what to write instead."""
    choice = re.fullmatch(r"(.*invalid choice: '(.*)') \(choose from (.*)\)", message, re.DOTALL)
    if choice:
        known = [each.strip("'") for each in choice[3].split(", ")]
        meant = _nearest(choice[2], known)
        fix = f"write `{meant}`" if meant else f"write one of {', '.join(known)}"
        return f"{choice[1]}. Fix: {fix}."
    unknown = re.fullmatch(r"unrecognized arguments: (\S+).*", message, re.DOTALL)
    if unknown:
        option, known = unknown[1].partition("=")[0], list(parser._option_string_actions)
        meant = f"{parser.prog} {unknown[1]}" if option in known else _nearest(option, known)
        fix = f"write `{meant}`" if meant else f"leave them out; `{parser.prog} --help` lists what there is"
        return f"{message}. Fix: {fix}."
    if message.endswith(": it is given twice"):
        return f"{message}. Fix: give it once."
    if message.startswith("the following arguments are required: "):
        it, is_ = ("them", "they are") if ", " in message else ("it", "it is")
        return f"{message}. Fix: add {it}; `{parser.prog} --help` says what {is_}."
    return f"{message}. Fix: `{parser.prog} --help` shows how it is written."


def _nearest(word: str, known: list[str]) -> str:
    """The known word that was probably meant, or nothing."""
    meant = _core._did_you_mean(word, known)
    return meant.split("`")[1] if meant else ""


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
    for made in commands.choices.values():
        made.set_defaults(parser=made, whole=parser)
    return parser


def _command(arguments: Sequence[str] | None) -> int:
    parser = parser_of_all()
    chosen, unknown = parser.parse_known_args(arguments)
    if unknown:
        # Said by the command's own parser, which knows its options.
        chosen.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
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
