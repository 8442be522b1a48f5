"""The programs and procedures that commands take from files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import vyre
from vyre._base.files import read_at_most
from vyre._base.refused import no_place

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

__all__ = ["add_program", "given_of", "no_workgroups", "program_of", "refuse_for_procedure"]

_MOST = 1 << 30  # bytes of a file; a replay file holds its inputs too
_FIX = "name a file with Program.to_text(), Program.to_bytes() or a file of CheckResult.save"
_ANY_FIX = "name a file with the text or the bytes of a program or procedure, or a file of CheckResult.save"
_PROCEDURE_MAGIC = b"\x93VYRP"
_SKIPPED = r"(?:\s|#[^\n]*(?:\n|\Z))*"  # blanks, line breaks and comments
_PROCEDURE = re.compile(rf"\ufeff?{_SKIPPED}vyre[ \t]+\w+{_SKIPPED}procedure\b")

Given = tuple["vyre.Program | vyre.Procedure", dict[str, Any], "tuple[int, ...] | None"]


def add_program(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", metavar="PROGRAM", help="its file; - is the standard input")


def given_of(path: str, fix: str = _ANY_FIX) -> Given:
    """The program or procedure of a file, and of a replay file its inputs and workgroups."""
    from vyre._arrays import replay  # not for every command: numpy comes with it

    data = read_at_most(path, _MOST, fix=fix)
    if data.lstrip()[:1] == b"{":
        program, inputs, fields = replay.parsed(path, data)
        return program, inputs, fields["workgroups"]
    kind = "program"
    try:
        if data.startswith(_PROCEDURE_MAGIC):
            kind = "procedure"
            return vyre.Procedure.from_bytes(data), {}, None
        if data[:1] == b"\x93":
            return vyre.Program.from_bytes(data), {}, None
        text = data.decode("utf-8")
        if _PROCEDURE.match(text):
            kind = "procedure"
            return vyre.Procedure.parse(text), {}, None
        return vyre.parse(text), {}, None
    except UnicodeDecodeError:
        raise vyre.ParseError(f"`{path}` holds no program: it is not UTF-8. Fix: {fix}.") from None
    except vyre.ParseError as error:
        raise vyre.ParseError(f"`{path}` holds no {kind}: {error}") from None


def program_of(path: str, command: str) -> tuple[vyre.Program, dict[str, Any], tuple[int, ...] | None]:
    """The same for a command that takes no procedures."""
    given, inputs, workgroups = given_of(path, _FIX)
    if isinstance(given, vyre.Procedure):
        raise vyre.ArgumentError(
            f"`{path}` holds a procedure, and vyre {command} takes a program. Fix: use vyre run, vyre check, "
            "vyre bisect or vyre conform, which take procedures."
        )
    return given, inputs, workgroups


def no_workgroups(path: str) -> vyre.ArgumentError:
    """The error for a program whose call has no grid."""
    return vyre.ArgumentError(f"`{path}` does not say how many workgroups run. Fix: add --workgroups.")


def refuse_for_procedure(options: Iterable[tuple[str, object]]) -> None:
    """Refuse options that say something about a program's call."""
    for name, value in options:
        if value is not None and value != []:
            raise no_place(f"--{name}", "for a procedure")
