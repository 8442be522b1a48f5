"""``vyre lower PROGRAM``: the code that a program, or one of a procedure's, becomes."""

from __future__ import annotations

import argparse
import base64
import hashlib
import sys
from pathlib import Path
from typing import Any

import vyre
from vyre._base.files import write_atomically
from vyre._base.refused import no_place
from vyre.commands._given import ABOUT, add_program, file_of, given_of, value_of
from vyre.commands._listing import add_json, print_json

_FORMS = ("spirv-asm", "spirv", "wgsl", "ptx", "asm", "text")
_EPILOG = f"""\
{ABOUT}

Of a procedure --program chooses the program, as the procedure's text numbers them; without it --to text prints the
whole. spirv is the words of the module; spirv-asm is their listing; text is the program itself, as vyre.parse reads it.
ptx is for compute capability 7.5 and higher: `vyre lower program.txt --to ptx | ptxas -arch=sm_90 -o program.cubin -`.
asm is the machine code of the cpu backend (pip install 'vyre[asm]'). A file of -o is written whole or not at all.
--json has the words of spirv as base64 and every other form as text, or instead the file of -o, with the SHA-256 of
what the command prints or writes."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "lower",
        help="the code that a program becomes, as SPIR-V, WGSL, PTX or machine code",
        description="Print the code that a program becomes, or write it to a file.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_program(parser)
    parser.add_argument("--program", metavar="NUMBER", dest="number", type=int, help="of a procedure: which program")
    parser.add_argument("--to", choices=_FORMS, default=_FORMS[0], help="the form of the code; %(default)s by default")
    parser.add_argument("-o", metavar="OUT", dest="out", default="-", help="the file to write; - is the output")
    parser.add_argument("--no-optimize", action="store_true", help="without what is done for speed alone")
    parser.add_argument(
        "--instructions",
        choices=("sse41", "avx2", "avx512"),
        help="of --to asm, also those that this processor lacks; without it, those that cpu uses",
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    is_printed = chosen.out == "-"
    if chosen.to == "spirv" and is_printed and not chosen.json and sys.stdout.isatty():
        raise vyre.ArgumentError(
            "the words of a SPIR-V module are no text for a terminal. "
            "Fix: write them to a file with -o FILE, or write --to spirv-asm."
        )
    if chosen.instructions is not None and chosen.to != "asm":
        raise no_place("--instructions", f"with --to {chosen.to}")
    given, goal = Path(file_of(chosen.program)), Path(chosen.out)
    if not is_printed and given.exists() and goal.exists() and goal.samefile(given):
        raise vyre.ArgumentError(f"the program is in `{chosen.out}` itself. Fix: name another file with -o.")
    code = _code(value_of(given_of(chosen.program)[0], chosen.program), chosen)
    if isinstance(code, str) and not code.endswith("\n"):
        code += "\n"
    if not is_printed:
        write_atomically(chosen.out, code)
    if chosen.json:
        told = _as_json(code, None if is_printed else chosen.out)
        return print_json("lower", True, program=chosen.program, target=chosen.to, **told)
    if not is_printed:
        return 0
    if isinstance(code, bytes):
        sys.stdout.flush()
        sys.stdout.buffer.write(code)
    else:
        print(code, end="")
    return 0


def _code(given: vyre.Program | vyre.Procedure, chosen: argparse.Namespace) -> str | bytes:
    if chosen.to == "text" and chosen.number is None:
        return given.to_text()
    program = _program(given, chosen)
    if chosen.to == "text":
        return program.to_text()
    if chosen.to == "asm":
        optimize = ["compilation"] if chosen.no_optimize else True  # there is no other way to have machine code
        code: str | bytes = vyre.lower(program, "asm", optimize=optimize, instructions=chosen.instructions)
    else:
        code = vyre.lower(program, chosen.to, optimize=not chosen.no_optimize)
    return code


def _as_json(code: str | bytes, file: str | None) -> dict[str, Any]:
    data = code if isinstance(code, bytes) else code.encode()
    told = {"sha256": hashlib.sha256(data).hexdigest()}
    if file is not None:
        return {**told, "file": file}
    if isinstance(code, str):
        return {**told, "text": code}
    return {**told, "base64": base64.b64encode(data).decode()}


def _program(given: vyre.Program | vyre.Procedure, chosen: argparse.Namespace) -> vyre.Program:
    if isinstance(given, vyre.Program):
        if chosen.number is not None:
            raise no_place("--program", "with a file of one program")
        return given
    count = len(given.programs)
    if chosen.number is None or not 0 <= chosen.number < count:
        has = "none" if count == 0 else "program 0 alone" if count == 1 else f"programs 0 to {count - 1}"
        fix = "lower the procedures that it invokes" if count == 0 else "write --program 0, or --to text for all"
        raise vyre.ArgumentError(f"`{chosen.program}` holds a procedure, whose steps have {has}. Fix: {fix}.")
    number: int = chosen.number
    return given.programs[number]
