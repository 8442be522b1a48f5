"""``vyre scan PATH --patterns FILE`` prints where byte strings, such as known secrets, are in directory trees."""

from __future__ import annotations

import argparse
import json
import sys
from itertools import groupby
from typing import TYPE_CHECKING, Any

from vyre._base.files import STANDARD_INPUT, read_at_most, takes_standard_input
from vyre._base.refused import no_place
from vyre.commands._listing import PATHS, add_forms, any_paths, bar, print_json, tell
from vyre.commands._place import add_place, check_place, exit_statuses
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre._trees.searching import Found, Spelled
    from vyre._trees.walk import Trouble

_MOST_PATTERNS = 1 << 28  # bytes of the file of patterns
_PATTERNS_FIX = "name a file with a byte string on each line"

_EPILOG = r"""
FILE has one byte string a line, taken as it is but for a line end of Windows; \xNN stands for a byte, and empty lines
are skipped. A match is printed as PATH:LINE:COLUMN: PATTERN, with lines and the bytes in them counted from 1; the lines
are sorted by path and place. Overlapping matches are all printed, in binary files too. A directory stands for all
regular files below it; symbolic links there are not followed, one that is named is. A line begins with a backslash if
its path has backslashes or line breaks, which are escaped then. Files are read in pieces of 8 MiB.

""" + exit_statuses("if nothing was found", "if there is a match or a file could not be read")


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "scan",
        help="the places of byte strings in directory trees",
        description="Print where byte strings are in files, such as secrets that no file should have.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", metavar="PATH", nargs="*", help=PATHS)
    parser.add_argument("--patterns", metavar="FILE", required=True, help="what to search for; - is the standard input")
    parser.add_argument("--count", action="store_true", help="print PATH: and the number of matches for files with any")
    add_forms(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    add_place(parser)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    from vyre._trees import searching, walk  # not for every command: the library is made when it is imported

    if chosen.sarif and chosen.count:
        raise no_place("--count", "with --sarif")
    paths = chosen.paths or [STANDARD_INPUT]
    if takes_standard_input(chosen.patterns) and any(takes_standard_input(path) for path in paths):
        raise ArgumentError("the standard input is read once. Fix: name a file with --patterns, or paths to search.")
    check_place(chosen.backend, chosen.device)
    data = read_at_most(chosen.patterns, _MOST_PATTERNS, fix=_PATTERNS_FIX)
    patterns = searching.patterns_of(data, chosen.patterns)
    files, troubles = walk.files_of(paths)
    place = {"backend": chosen.backend, "device": chosen.device}
    # Lines that appear while the bar is there would break it.
    quiet = chosen.quiet or sys.stdout.isatty()
    with any_paths():
        with bar("scan", sum(file.size for file in files), quiet=quiet) as progress:
            found = searching.search(
                files, [each.pattern for each in patterns], place, progress=progress, troubles=troubles.append
            )
            rows = _counts(found) if chosen.count else _matches(found, patterns)
            if chosen.sarif:
                total = _print_sarif(chosen, found, patterns, troubles)
            else:
                total = _print_json(chosen, rows, troubles) if chosen.json else _print_lines(chosen, rows)
        if not chosen.json and not chosen.sarif:
            tell("scan", troubles)
    return 1 if total or troubles else 0


def _matches(found: Iterator[Found], patterns: list[Spelled]) -> Iterator[dict[str, str | int]]:
    for each in found:
        yield {**each._asdict(), "pattern": patterns[each.pattern].text}


def _counts(found: Iterator[Found]) -> Iterator[dict[str, str | int]]:
    for path, group in groupby(found, key=lambda each: each.path):
        yield {"path": path, "count": sum(1 for _ in group)}


def _print_lines(chosen: argparse.Namespace, rows: Iterator[dict[str, str | int]]) -> int:
    from vyre._trees.walk import writable_line

    total = 0
    for row in rows:
        total += 1
        after = f": {row['count']}" if chosen.count else f":{row['line']}:{row['column']}: {row['pattern']}"
        print(writable_line("", str(row["path"]), after))
    return total


def _print_json(chosen: argparse.Namespace, rows: Iterator[dict[str, str | int]], troubles: list[Trouble]) -> int:
    """Print one object row by row, because there may be more rows than fit into memory."""
    name = "counts" if chosen.count else "matches"
    print(f'{{"{name}": [', end="")
    total = 0
    for total, row in enumerate(rows, 1):
        print(", " if total > 1 else "", json.dumps(row), sep="", end="")
    unreadable = [trouble._asdict() for trouble in sorted(troubles)]
    print_json("scan", not total and not troubles, begun="], ", unreadable=unreadable)
    return total


def _print_sarif(
    chosen: argparse.Namespace, found: Iterator[Found], patterns: list[Spelled], troubles: list[Trouble]
) -> int:
    """Print a log without the byte strings themselves, which may be secrets, while a log goes to other machines."""
    from vyre._trees.walk import escaped
    from vyre.commands import _sarif

    title, finds = "A byte string that is searched for", "A file has one of the byte strings of a list."
    rule = _sarif.rule("match", title, finds, "", "error")
    listed = escaped(chosen.patterns)

    def results() -> Iterator[dict[str, Any]]:
        for each in found:
            size = len(patterns[each.pattern].pattern)
            region = {"startLine": each.line, "byteOffset": each.offset, "byteLength": size}
            text = f"byte string {each.pattern + 1} of {listed} is here, at byte {each.column} of the line"
            yield _sarif.result("match", "error", text, [_sarif.location(each.path, region)])

    return _sarif.print_sarif([rule], results(), (f"{escaped(path)}: {why}" for path, why in sorted(troubles)))
