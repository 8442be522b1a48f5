"""``vyre hash PATH``: the digests of files, in the lines that b3sum and sha256sum print."""

from __future__ import annotations

import argparse
import os
import re
import sys
from functools import cache
from typing import TYPE_CHECKING

import vyre
from vyre._base.files import STANDARD_INPUT, read_at_most
from vyre._base.refused import must_be_one_of
from vyre.commands._listing import PATHS, any_paths, bar, print_json, tell
from vyre.commands._place import add_place, check_place, exit_statuses

if TYPE_CHECKING:
    from vyre._trees.walk import File, Trouble

_MOST_LIST = 1 << 30  # bytes of a file of --check
_LIST_FIX = "name a file with lines that `vyre hash` wrote"
_PLAIN = re.compile(rb"(?P<escape>\\?)(?P<digest>[0-9A-Fa-f]+) [ *](?P<path>.+)", re.DOTALL)
_TAGGED = re.compile(  # as BSD has it
    rb"(?P<escape>\\?)(?P<tag>[A-Za-z0-9_-]+) ?"
    rb"\((?P<path>.+)\)[ \t]*=[ \t]*(?P<digest>[0-9A-Fa-f]+)",
    re.DOTALL,
)
_ESCAPED = re.compile(rb"(?:[^\\]|\\[\\nr])*")

_EPILOG = """\
A directory stands for all regular files below it; symbolic links there are not followed, one that is named is. The
lines are sorted by path. As in the lists of sha256sum, a line begins with a backslash if its path has backslashes or
ends of lines, which are escaped then. --check prints OK or FAILED for each line of a list, which need not say what made
it: add the --alg that did, as in `vyre hash --alg sha256 --check FILE` for a list of sha256sum. Lines may have the form
of `sha256sum --tag` and end as on Windows; those that are empty or begin with # are skipped.

The command needs some 400 MB of memory, however large the files are: one of more than 16 MiB is hashed in pieces.

""" + exit_statuses("if all is well", "if a file could not be read or does not have its digest")


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "hash",
        help="the digests of files and directory trees",
        description="Print the digests of files, or compare files with a list of digests.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", metavar="PATH", nargs="*", help=PATHS)
    parser.add_argument(
        "--alg", metavar="NAME", default="blake3", help="blake3 (the default), sha256, crc32 and others: --alg help"
    )
    parser.add_argument("--check", metavar="FILE", help="compare with the digests of a list; - is the standard input")
    parser.add_argument("--json", action="store_true", help="print one object")
    parser.add_argument("--quiet", action="store_true", help="no progress bar, and no lines for files that are OK")
    add_place(parser)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    from vyre._trees import hashing, walk  # not for every command: the library is made when it is imported

    if chosen.alg == "help":
        print(*hashing.NAMES, sep="\n")
        return 0
    if chosen.alg not in hashing.NAMES:
        raise must_be_one_of("--alg", hashing.NAMES, chosen.alg)
    if chosen.paths and chosen.check is not None:
        raise vyre.ArgumentError("`vyre hash` takes paths or --check FILE. Fix: write one of the two.")
    check_place(chosen.backend, chosen.device)
    listed = None if chosen.check is None else _listed(chosen.check, chosen.alg)
    if listed is None:
        files, troubles = walk.files_of(chosen.paths or [STANDARD_INPUT])
    else:
        files, troubles = walk.files_of(dict.fromkeys(path for path, _ in listed), trees=False)
    place = {"backend": chosen.backend, "device": chosen.device}
    with bar("hash", sum(file.size for file in files), quiet=chosen.quiet) as progress:
        digests, more = hashing.digests_of(files, chosen.alg, place, progress=progress)
    found = {path: digest.hex() for path, digest in digests.items()}
    troubles += more
    with any_paths():
        if listed is None:
            return _show(chosen, files, found, troubles)
        return _compare(chosen, listed, found, troubles)


def _show(chosen: argparse.Namespace, files: list[File], found: dict[str, str], troubles: list[Trouble]) -> int:
    from vyre._trees.walk import writable_line

    hashed = [file.path for file in files if file.path in found]
    if chosen.json:
        rows = [{"path": path, "digest": found[path]} for path in hashed]
        return print_json("hash", not troubles, algorithm=chosen.alg, files=rows, unreadable=_rows(troubles))
    for path in hashed:
        print(writable_line(f"{found[path]}  ", path))
    tell("hash", troubles)
    return 1 if troubles else 0


def _compare(
    chosen: argparse.Namespace, listed: list[tuple[str, str]], found: dict[str, str], troubles: list[Trouble]
) -> int:
    from vyre._trees.walk import writable_line

    verdicts = [
        (path, "FAILED open or read" if path not in found else "OK" if found[path] == digest else "FAILED")
        for path, digest in listed
    ]
    ok = all(verdict == "OK" for _, verdict in verdicts)
    if chosen.json:
        rows = [{"path": path, "ok": verdict == "OK"} for path, verdict in verdicts]
        return print_json("hash", ok, algorithm=chosen.alg, files=rows, unreadable=_rows(troubles))
    for path, verdict in verdicts:
        if not (chosen.quiet and verdict == "OK"):
            print(writable_line("", path, f": {verdict}"))
    tell("hash", troubles)
    read = [verdict for path, verdict in verdicts if path in found]
    if read and "OK" not in read:
        _ask_for_algorithm(chosen.alg)
    return 0 if ok else 1


def _rows(troubles: list[Trouble]) -> list[dict[str, str]]:
    return [trouble._asdict() for trouble in sorted(troubles)]


def _ask_for_algorithm(name: str) -> None:
    """Say which other algorithms the list may have been made with, as no digest in it is the one of its file."""
    others = _of_digits(_digits(name), but=name)
    if others:
        print(
            f"vyre hash: no file has the {name} digest that the list gives. Fix: if another algorithm made the list, "
            f"name it with --alg: {_either(others)}.",
            file=sys.stderr,
        )


def _digits(name: str) -> int:
    from vyre._trees import hashing

    return 2 * hashing.DIGESTS[name]


def _of_digits(count: int, *, but: str = "") -> list[str]:
    """The algorithms whose digests have so many hexadecimal digits."""
    from vyre._trees import hashing

    return [name for name in hashing.NAMES if _digits(name) == count and name != but]


def _either(names: list[str]) -> str:
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _listed(path: str, algorithm: str) -> list[tuple[str, str]]:
    """The paths and digests of a list, whose digests must have the length of the algorithm's.

    Raises: ArgumentError.
    """
    expected, made = _digits(algorithm), "name the algorithm that made the list with --alg"
    found = []
    for number, whole in enumerate(read_at_most(path, _MOST_LIST, fix=_LIST_FIX).split(b"\n"), 1):
        line = whole.removesuffix(b"\r").lstrip(b" \t")
        if not line or line.startswith(b"#"):
            continue
        name, digest, tag = _parsed(line)
        # A list in the standard input cannot name that.
        if not name or name == path == STANDARD_INPUT:
            raise vyre.ArgumentError(f"line {number} of `{path}` is no digest and path. Fix: {_LIST_FIX}.")
        if tag not in ("", algorithm):
            raise vyre.ArgumentError(
                f"line {number} of `{path}` has a digest of {tag}, and --alg is {algorithm}. Fix: {made}: {tag}."
            )
        if len(digest) != expected:
            others = _of_digits(len(digest))
            raise vyre.ArgumentError(
                f"line {number} of `{path}` has a digest of {len(digest)} digits, and {algorithm} has {expected}. "
                f"Fix: {f'{made}: {_either(others)}' if others else _LIST_FIX}."
            )
        found.append((name, digest))
    if not found:
        raise vyre.ArgumentError(f"`{path}` has no digests. Fix: {_LIST_FIX}.")
    return found


def _parsed(line: bytes) -> tuple[str, str, str]:
    """The path, the digest and the algorithm of a line, which need not name one.

    Another line has three empty strings.
    """
    parts = _PLAIN.fullmatch(line) or _TAGGED.fullmatch(line)
    if parts is None:
        return "", "", ""
    path, tag = parts["path"], ""
    if parts["escape"]:
        if not _ESCAPED.fullmatch(path):
            return "", "", ""
        path = re.sub(rb"\\(.)", lambda each: {b"n": b"\n", b"r": b"\r"}.get(each[1], b"\\"), path)
    if parts.re is _TAGGED:
        tag = _tags().get(_short(parts["tag"].decode()), "")
        if not tag:
            return "", "", ""
    return os.fsdecode(path), parts["digest"].decode().lower(), tag


@cache
def _tags() -> dict[str, str]:
    """The algorithms by their short names: SHA3-256 in a list is sha3_256."""
    from vyre._trees import hashing

    return {_short(name): name for name in hashing.NAMES}


def _short(name: str) -> str:
    return re.sub("[-_]", "", name.lower())
