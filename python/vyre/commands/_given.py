"""The programs, procedures and kernels that commands take: from files of their own, or from the user's Python."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any, TypeAlias

import vyre
from vyre._base.files import read_at_most
from vyre._base.refused import no_place
from vyre._tools.objects import names_python, one_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vyre._kernel.kernel import Kernel
    from vyre._procedure.procedure import ProcedureFunction

__all__ = ["ABOUT", "add_grid", "add_program", "file_of", "given_of", "grid_of", "refuse_for_procedure", "value_of"]

ABOUT = """\
PROGRAM is a file with what to_text() or to_bytes() of a Program or Procedure gave, a file of CheckResult.save, or a
kernel, procedure or program of Python, as FILE.py:NAME or module:NAME; without NAME it is the file's only one."""

_MOST = 1 << 30  # bytes of a file; a replay file holds its inputs too
_FIX = "name a file with the text or the bytes of a program or procedure, a file of CheckResult.save, or FILE.py:NAME"
_PROCEDURE_MAGIC = b"\x93VYRP"
_SKIPPED = r"(?:\s|#[^\n]*(?:\n|\Z))*"  # blanks, line breaks and comments
_PROCEDURE = re.compile(rf"\ufeff?{_SKIPPED}vyre[ \t]+\w+{_SKIPPED}procedure\b")

Called: TypeAlias = "vyre.Procedure | Kernel | ProcedureFunction"


def add_program(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", metavar="PROGRAM", help="its file, - for the standard input, or FILE.py:NAME")


def add_grid(parser: argparse.ArgumentParser) -> None:
    """``--workgroups`` and ``--grid``, as grid_of takes them."""
    helps = {"--workgroups": "how many along each axis", "--grid": "the invocations that a call of a kernel asks for"}
    for option, text in helps.items():
        parser.add_argument(option, metavar="X[,Y[,Z]]", type=_as_grid, help=text)


def _as_grid(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"\d{1,10}(,\d{1,10}){0,2}", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"`{text}` is not one to three numbers with commas between")
    counts = tuple(int(count) for count in text.split(","))
    if max(counts) >= 1 << 32:
        raise argparse.ArgumentTypeError(f"`{text}` has a number above {(1 << 32) - 1}")
    return counts


def grid_of(
    chosen: argparse.Namespace, given: Any, workgroups: tuple[int, ...] | None, *, needed: bool = True
) -> dict[str, tuple[int, ...]]:
    """What a call gets of these options, by the names of its arguments.

    Args:
        workgroups: those that the file names.
        needed: whether a program gets a grid from nowhere else.

    Raises: ArgumentError.
    """
    from vyre._kernel.kernel import Kernel

    about = {"workgroups": chosen.workgroups, "grid": chosen.grid}
    if isinstance(given, vyre.Program):
        if chosen.grid is not None:
            raise vyre.ArgumentError("--grid has no place for a program. Fix: write --workgroups.")
        about["workgroups"] = chosen.workgroups or workgroups
        if needed and about["workgroups"] is None:
            raise vyre.ArgumentError(f"`{chosen.program}` does not say how many workgroups run. Fix: add --workgroups.")
    elif not isinstance(given, Kernel):
        refuse_for_procedure(about.items())
    return {name: value for name, value in about.items() if value is not None}


def given_of(path: str, *nouns: str) -> tuple[Any, dict[str, Any], tuple[int, ...] | None]:
    """What a command is given, a Program or a Called; of a replay file also its inputs and workgroups.

    Args:
        nouns: what is looked for in Python, where it is not each of "kernel", "procedure" and "program".
    """
    if names_python(path):
        from vyre._kernel.kernel import Kernel
        from vyre._procedure.procedure import ProcedureFunction

        kinds: dict[str, tuple[type, ...]] = {
            "kernel": (Kernel,),
            "procedure": (ProcedureFunction, vyre.Procedure),
            "program": (vyre.Program,),
        }
        return one_of(path, {noun: kinds[noun] for noun in nouns or kinds}), {}, None
    from vyre._arrays import replay  # not for every command: numpy comes with it

    data = read_at_most(path, _MOST, fix=_FIX)
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
        raise vyre.ParseError(f"`{path}` holds no program: it is not UTF-8. Fix: {_FIX}.") from None
    except vyre.ParseError as error:
        raise vyre.ParseError(f"`{path}` holds no {kind}: {error}") from None


def value_of(given: vyre.Program | Called, path: str) -> vyre.Program | vyre.Procedure:
    """The program of a kernel, or the Procedure of a function, for commands that take no values of constants.

    Raises: ArgumentError where a constant has no value.
    """
    if isinstance(given, (vyre.Program, vyre.Procedure)):
        return given
    for each in given._parameters:
        if each.kind == "const" and not each.has_default:
            raise vyre.ArgumentError(
                f"`{path}` has no value for its constant `{each.name}`. Fix: write NAME = "
                f"{given.__name__}.specialize({each.name}=...) at the top of its file, and name that."
            )
    given = given.specialize()
    return given if isinstance(given, vyre.Procedure) else given.program


def file_of(path: str) -> str:
    """The file of what a command is given."""
    return path.rpartition(":")[0] if names_python(path) and not path.endswith(".py") else path


def refuse_for_procedure(options: Iterable[tuple[str, object]]) -> None:
    """Refuse options that say something about a program's call."""
    for name, value in options:
        if value is not None and value != []:
            raise no_place(f"--{name}", "for a procedure")
