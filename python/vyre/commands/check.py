"""``vyre check PROGRAM [INPUTS]``: the rules that it breaks, notes about a program, and what a checked run finds."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import vyre
from vyre.commands._given import ABOUT, add_grid, add_program, file_of, given_of, refuse_for_procedure, value_of
from vyre.commands._listing import add_forms, print_json
from vyre.commands.repeat import ABOUT_INPUTS, call_of, check_timeout
from vyre.commands.replay import show

if TYPE_CHECKING:
    from collections.abc import Sequence

_EPILOG = f"""\
{ABOUT}

With INPUTS, or those of a file of CheckResult.save, it runs once on the reference, which tells races, what is read
before it is written, and accesses out of bounds. {ABOUT_INPUTS}

The exit status is 1 if it breaks a rule, or if the run finds something; notes do not change it. `vyre explain N004`
says more about a rule or note."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "check",
        help="the rules that a program or procedure breaks, and what is probably not meant in it",
        description="Show the rules that a program or procedure breaks, or for a valid program the notes: what is "
        "probably not meant. With inputs, run it and show what it does wrong.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_program(parser)
    parser.add_argument("inputs", metavar="INPUTS", nargs="?")
    add_grid(parser)
    parser.add_argument(
        "--length", metavar="NAME=N", type=_length, action="append", default=[], help="elements of a buffer in the call"
    )
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="end the run after so long")
    add_forms(parser)
    parser.set_defaults(run=run)


def _length(text: str) -> tuple[str, int]:
    name, equals, count = text.rpartition("=")
    if not equals or not count.isdecimal() or int(count) >= 1 << 32:
        raise argparse.ArgumentTypeError(f"`{text[:80]}` is not a buffer's name, `=` and a number below {1 << 32}")
    return name, int(count)


def _rows(found: Sequence[vyre.Diagnostic]) -> list[dict[str, Any]]:
    return [
        {
            "rule": each.rule,
            "message": each.message,
            "hint": each.hint,
            "path": each.place.path,
            "file": each.place.file,
            "line": each.place.line,
            "column": each.place.column,
        }
        for each in found
    ]


def run(chosen: argparse.Namespace) -> int:
    given = program = None
    notes: Sequence[vyre.Diagnostic] = []
    about = {"workgroups": chosen.workgroups, "invocations": chosen.grid}
    try:
        of_file = given_of(chosen.program)
        given = of_file[0]
        # A checked run looks at barriers by itself, and so takes a program that breaks their rule.
        valid = not isinstance(given, vyre.Program) or not vyre.validate(given)
        if valid and (chosen.inputs is not None or of_file[1]):
            check_timeout(chosen.timeout)
            called, inputs, workgroups = call_of(chosen, of_file)
            result: Any = vyre.check(called, inputs, workgroups, timeout=chosen.timeout)
            return show("check", result, chosen, file_of(chosen.program))
        program = value_of(given, chosen.program)
        if isinstance(program, vyre.Procedure):
            refuse_for_procedure([("workgroups", chosen.workgroups), ("grid", chosen.grid), ("length", chosen.length)])
        broken = vyre.validate(program)
    except vyre.ValidationError as error:
        broken = error.diagnostics
    if isinstance(program, vyre.Program) and not broken:
        notes = program.notes(lengths=dict(chosen.length), **about)
        if given is not program:
            from vyre._kernel.notes import in_words_of_kernels

            notes = in_words_of_kernels(notes)
    if chosen.sarif:
        from vyre.commands import _sarif

        file = file_of(chosen.program)
        results = _sarif.of_diagnostics(broken or notes, file, "error" if broken else "warning")
        _sarif.print_sarif(_sarif.tables(), results)
        return 1 if broken else 0
    if chosen.json:
        return print_json("check", not broken, broken=_rows(broken), notes=_rows(notes))
    right = "The procedure breaks no rule."
    if isinstance(program, vyre.Program):
        noun = "program" if given is program else "kernel"
        right = f"The {noun} breaks no rule, and there is nothing to note."
    print(broken or notes or right)
    return 1 if broken else 0
