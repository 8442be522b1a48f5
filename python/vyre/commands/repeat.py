"""``vyre repeat PROGRAM INPUTS``: whether a program, kernel or procedure gives the same bytes in every run."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

import vyre
from vyre._base.refused import must_be
from vyre._base.text import first_line
from vyre.commands._given import ABOUT, add_grid, add_program, given_of, grid_of
from vyre.commands._inputs import arguments_of, parameters_of
from vyre.commands._listing import add_json, print_json
from vyre.commands._place import add_place, check_place, exit_statuses

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

PARAMS = "__params"
"""The buffer that has the numbers of a kernel, as vyre._kernel.trace names it."""

_MOST_INPUTS = 1 << 34  # bytes of all arrays
_INPUTS_FIX = "write the arrays with np.savez(file, name=array, ...)"

ABOUT_INPUTS = """\
INPUTS is a file of np.savez with an array for each buffer of a program, or each argument of a kernel or procedure,
under its name; an integer n stands for n zero elements, or is the value of a number: np.savez("inputs.npz", data=data,
out=64). A file of CheckResult.save has inputs and workgroups too; a kernel chooses its workgroups, and a procedure has
its own."""
_EPILOG = f"""\
{ABOUT}

{ABOUT_INPUTS}

""" + exit_statuses("if all runs gave the same bytes", "if not")


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "repeat",
        help="whether a program, kernel or procedure gives the same bytes in every run",
        description="Run a program, kernel or procedure with the same inputs several times on one backend, another "
        "program between, and show the first difference.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_program(parser)
    parser.add_argument("inputs", metavar="INPUTS", nargs="?")
    add_grid(parser)
    parser.add_argument("--times", metavar="N", type=int, default=10, help="how many runs (10)")
    add_place(parser)
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="end a run after so long")
    add_json(parser)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    _check_options(chosen)
    program, inputs, workgroups = call_of(chosen, given_of(chosen.program))
    result = vyre.repeat(
        program,
        inputs,
        workgroups,
        times=chosen.times,
        backend=chosen.backend,
        device=chosen.device,
        timeout=chosen.timeout,
    )
    if chosen.json:
        found = None if result.difference is None else str(result.difference)
        return print_json("repeat", result.ok, backend=result.backend, times=result.times, difference=found)
    print(result)
    return 0 if result.ok else 1


def call_of(
    chosen: argparse.Namespace, given: tuple[Any, dict[str, Any], tuple[int, ...] | None]
) -> tuple[Any, dict[str, Any], tuple[int, ...] | None]:
    """What a command runs that takes PROGRAM and INPUTS: with which inputs, as the library takes them, and workgroups.

    Args:
        given: what given_of gave for PROGRAM.

    Raises: ArgumentError, BindingError.
    """
    program, inputs, workgroups = given
    if chosen.inputs is not None:
        inputs = arrays_of(chosen.inputs)
    grid = grid_of(chosen, program, workgroups)
    inputs = _inputs_of(program, inputs, chosen.inputs)
    return program, inputs | {name: grid[name] for name in ("grid",) if name in grid}, grid.get("workgroups")


def _check_options(chosen: argparse.Namespace) -> None:
    """Refuse here, by the option's name, what vyre.repeat would refuse by its argument's.

    Raises: ArgumentError.
    """
    from vyre._tools.repeat import MOST_TIMES

    if not 2 <= chosen.times <= MOST_TIMES:
        raise must_be("--times", f"a number from 2 to {MOST_TIMES}", chosen.times, vyre.ArgumentError)
    check_timeout(chosen.timeout)
    check_place(chosen.backend, chosen.device)


def check_timeout(timeout: float | None) -> None:
    """Raises: ArgumentError."""
    if timeout is not None and not 0 < timeout < math.inf:
        raise must_be("--timeout", "seconds above 0", f"{timeout:g}", vyre.ArgumentError)


def how_to_add(path: str | None, name: str, value: str = "array") -> str:
    """The Fix for an input that the file of INPUTS has not, or that is missing because there is no such file."""
    if path is not None:
        return f"add it to {path}: np.savez(file, {name}={value}, ...)"
    return f'write it with np.savez("inputs.npz", {name}={value}, ...), and add inputs.npz to the command'


def _inputs_of(program: Any, inputs: dict[str, Any], path: str | None) -> dict[str, Any]:
    """The inputs of the file of INPUTS, as the library takes them."""
    if not isinstance(program, vyre.Program):
        values = {True: "array", False: "5"}
        return arguments_of(
            parameters_of(program), inputs, lambda each: how_to_add(path, each.name, values[each.is_array])
        )
    check_named(program, inputs, lambda decl: how_to_add(path, decl.name))
    return inputs


def check_named(program: vyre.Program, inputs: dict[str, Any], fix: Callable[[vyre.BufferDecl], str]) -> None:
    """Refuse inputs of other names, or without an array that is needed, of which `fix` tells what to write.

    Raises: BindingError.
    """
    access = vyre.BufferAccess
    known = [decl.name for decl in program.buffers if decl.access not in (access.Workgroup, access.Private)]
    for name in inputs:
        if name not in known:
            meant = vyre._core._did_you_mean(name, known)
            names = ", ".join(f"`{each}`" for each in known)
            if PARAMS in known and not meant:
                names += f" (the numbers of a kernel are words of `{PARAMS}`)"
            raise vyre.BindingError(f"the program has no buffer `{name}`. Fix: use one of {names}{meant}.")
    for decl in program.buffers:
        zeros = decl.access == access.ReadWrite and decl.count
        if decl.name not in known or zeros or decl.name in inputs:
            continue
        raise no_array(decl, fix(decl))


def no_array(decl: vyre.BufferDecl, fix: str) -> vyre.BindingError:
    """The error for a buffer that a command got no array for."""
    return vyre.BindingError(f"buffer `{decl.name}` has no array. Fix: {fix}.")


def arrays_of(path: str) -> dict[str, np.ndarray | int]:
    """The arrays of a file of np.savez; an integer is a number of zero elements."""
    import zipfile
    import zlib

    import numpy as np

    def refused(problem: object) -> vyre.ArgumentError:
        return vyre.ArgumentError(f"`{path}` holds no inputs: {problem}. Fix: {_INPUTS_FIX}.")

    inputs: dict[str, np.ndarray | int] = {}
    try:
        with zipfile.ZipFile(path) as packed:
            total = sum(entry.file_size for entry in packed.infolist())
        if total > _MOST_INPUTS:
            raise refused(f"its arrays have {total:,} bytes, more than {_MOST_INPUTS:,}")
        with np.load(path, allow_pickle=False) as arrays:
            for name in arrays.files:
                array = arrays[name]
                if not isinstance(array, np.ndarray):
                    raise refused(f"`{name}` is no array")
                inputs[name] = array.item() if array.shape == () else array
    except OSError as error:
        raise vyre.ArgumentError(f"`{path}` cannot be read: {error.strerror or error}. Fix: {_INPUTS_FIX}.") from None
    # The exceptions that zipfile, zlib and numpy raise for a damaged or hostile archive.
    except (
        zipfile.BadZipFile,
        zlib.error,
        ValueError,
        EOFError,
        MemoryError,
        NotImplementedError,
        RuntimeError,
        SyntaxError,
        KeyError,
        TypeError,
    ) as error:
        if isinstance(error, vyre.VyreError):
            raise
        raise refused(first_line(error)) from None
    return inputs
