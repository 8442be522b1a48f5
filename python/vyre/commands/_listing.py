"""The output of commands about files: lines with paths of any bytes, troubles, and a bar."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from typing import TYPE_CHECKING, Any

import vyre

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from vyre._trees.walk import Trouble

__all__ = ["PATHS", "add_forms", "add_json", "any_paths", "bar", "print_json", "steps", "tell"]

PATHS = "files and directories; - is the standard input, and so is no path at all"


@contextlib.contextmanager
def any_paths() -> Iterator[None]:
    """Let the output have names that are no UTF-8, byte by byte as the system has them."""
    before = []
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            before.append((stream, stream.encoding, stream.errors))
            stream.reconfigure(encoding=sys.getfilesystemencoding(), errors="surrogateescape")
    try:
        yield
    finally:
        for stream, encoding, errors in before:
            stream.reconfigure(encoding=encoding, errors=errors)


@contextlib.contextmanager
def bar(name: str, total: int, *, quiet: bool) -> Iterator[Callable[[int], object]]:
    """A function that is told how many bytes are done, shown on a terminal by tqdm where it is installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        yield lambda size: None
        return
    disable = True if quiet else None  # None: where the error output is no terminal
    with tqdm(total=total, unit="B", unit_scale=True, desc=name, disable=disable, leave=False) as shown:
        yield shown.update


@contextlib.contextmanager
def steps(name: str, total: int, *, quiet: bool) -> Iterator[Callable[[], object]]:
    """A function that is told when a step is done, shown on a terminal by tqdm where it is installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        yield lambda: None
        return
    disable = True if quiet else None  # None: where the error output is no terminal
    with tqdm(total=total, desc=name, disable=disable, leave=False) as shown:
        yield shown.update


def tell(command: str, troubles: list[Trouble]) -> None:
    """Say which files could not be read."""
    from vyre._trees.walk import escaped

    sys.stdout.flush()
    for path, why in sorted(troubles):
        print(
            f"vyre {command}: {escaped(path)}: {why}. Fix: name a file that can be read, or leave it out.",
            file=sys.stderr,
        )


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one object")


def add_forms(parser: argparse.ArgumentParser) -> None:
    """``--json`` and ``--sarif``, of which one can be given, for commands that list faults."""
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--json", action="store_true", help="print one object")
    forms.add_argument("--sarif", action="store_true", help="print a log of SARIF 2.1.0, for code hosts and editors")


def print_json(command: str, ok: bool, *, begun: str = "{", **content: Any) -> int:
    """Print the object of --json, and give the exit status that goes with its ``ok``.

    A byte of a path that the locale has no character for is written as \\udc80 to \\udcff, as Python
    decodes it.

    Args:
        begun: what stands for the opening brace, after a part of the object that was printed before.
    """
    whole = {"version": vyre.__version__, "command": command, "ok": ok, **content}
    print(begun, json.dumps(whole)[1:], sep="")
    return 0 if ok else 1
