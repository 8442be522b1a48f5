"""The log of ``vyre fuzz --sarif``: each program on which two sides differ is a result, and each verdict a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.commands import _sarif

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vyre.fuzz import Row
    from vyre.fuzz.shrink import Small

__all__ = ["print_found"]

_RULES = {
    "differs": "Two sides give other bytes for one program",
    "failed": "A valid program met an error",
    "crashed": "A program ended the process",
    "hung": "A program did not end",
}


def print_found(found: Iterable[tuple[Row, Small | None, str, str]], against: str, interrupted: bool) -> None:
    """Print a log.

    Args:
        found: what was wrong, reduced, with the file of it, which is the log where nothing is left of it when it is
            run again, and the command that repeats it.
        against: what was compared with, in words.
    """
    checks = f"Random programs must give the bytes of {against}."
    rules = [_sarif.rule(name, title, checks, "", "error") for name, title in _RULES.items()]
    _sarif.print_sarif(rules, _results(found), ["interrupted"] if interrupted else [])


def _results(found: Iterable[tuple[Row, Small | None, str, str]]) -> Iterator[dict[str, Any]]:
    for row, small, path, command in found:
        lines = [f"seed {row.seed}: {row.way}: {row.message}", f"repeat: {command}"]
        if small is not None:
            lines += [str(small.case), *([small.begins] if small.begins else [])]
        yield _sarif.result(row.verdict, "error", "\n".join(lines), [_sarif.location(path)])
