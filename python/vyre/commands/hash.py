"""``vyre hash PATH``: the digests of files, in the lines that b3sum and sha256sum print."""

from __future__ import annotations

import argparse
import re
import sys
from typing import TYPE_CHECKING

import vyre
from vyre._files import read_at_most
from vyre.commands._listing import any_paths, bar, print_json, tell
from vyre.commands._place import add_place, check_place, exit_statuses

if TYPE_CHECKING:
    from vyre._trees.walk import File, Trouble

_MOST_LIST = 1 << 30  # bytes of a file of --check
_LIST_FIX = "name a file with lines that `vyre hash` wrote"
_LINE = re.compile(r"(\\?)([0-9A-Fa-f]+) [ *](.+)", re.DOTALL)

_EPILOG = """\
A directory stands for all regular files below it; symbolic links there are not followed, one that is named is. The
lines are sorted by path. As in the lists of sha256sum, a line begins with a backslash if its path has backslashes or
ends of lines, which are escaped then. --check prints OK or FAILED for each line of a list, which does not say what made
it: add the --alg that did, as in `vyre hash --alg sha256 --check FILE` for a list of sha256sum.

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
    parser.add_argument("paths", metavar="PATH", nargs="*", help="files and directories")
    parser.add_argument(
        "--alg", metavar="NAME", default="blake3", help="blake3 (the default), sha256, crc32 and others: --alg help"
    )
    parser.add_argument("--check", metavar="FILE", help="compare with the digests that a list has")
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
        raise vyre.ArgumentError(
            f"--alg must be one of {', '.join(hashing.NAMES)}, got {chosen.alg!r}. "
            f"Fix: write one of these{vyre._core._did_you_mean(chosen.alg, list(hashing.NAMES))}."
        )
    if bool(chosen.paths) == (chosen.check is not None):
        raise vyre.ArgumentError("`vyre hash` takes paths or --check FILE. Fix: write one of the two.")
    check_place(chosen.backend, chosen.device)
    listed = None if chosen.check is None else _listed(chosen.check, chosen.alg)
    if listed is None:
        files, troubles = walk.files_of(chosen.paths)
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
    expected = _digits(algorithm)
    data = read_at_most(path, _MOST_LIST, fix=_LIST_FIX).decode("utf-8", "surrogateescape")
    found = []
    for number, line in enumerate(data.removesuffix("\n").split("\n"), 1):
        parts = _LINE.fullmatch(line)
        if parts is None:
            raise vyre.ArgumentError(f"line {number} of `{path}` is no digest and path. Fix: {_LIST_FIX}.")
        escape, digest, name = parts.groups()
        if len(digest) != expected:
            others = _of_digits(len(digest))
            fix = f"name the algorithm that made the list with --alg: {_either(others)}" if others else _LIST_FIX
            raise vyre.ArgumentError(
                f"line {number} of `{path}` has a digest of {len(digest)} digits, and {algorithm} has {expected}. "
                f"Fix: {fix}."
            )
        if escape:
            name = re.sub(r"\\([\\nr])", lambda each: {"n": "\n", "r": "\r"}.get(each[1], "\\"), name)
        found.append((name, digest.lower()))
    return found
