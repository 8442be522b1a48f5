"""``vyre run PROGRAM``: run a program, a kernel or a procedure on arrays of files."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
from typing import TYPE_CHECKING, Any

import vyre
from vyre import _core
from vyre._base.files import check_writable, write_atomically
from vyre.commands._given import ABOUT, add_grid, add_program, given_of, grid_of
from vyre.commands._inputs import arguments_of, array_of, as_named, parameters_of, zeros
from vyre.commands._listing import add_json, print_json
from vyre.commands._place import add_place, check_place
from vyre.commands.repeat import PARAMS, check_named, check_timeout

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from vyre._kernel.parameters import Parameter
    from vyre.commands._given import Called

_EPILOG = f"""\
{ABOUT}

A buffer, or an array of a kernel or procedure, gets an array of numpy.save, or a number of zero elements. A number or
constant, and a uniform buffer of one element, gets its value, which may be negative for i32. A kernel makes an Out that
it is not given, and chooses its workgroups; a procedure has its own. In the program that a kernel became, its numbers
are words of the buffer `__params`, in the order that `vyre docs kernels` gives: where there are several, it gets an
array of them. A file of CheckResult.save has inputs and workgroups too.
What is not kept with --output is shown with its first elements and the SHA-256 of its bytes."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "run",
        help="run a program, kernel or procedure on arrays of files",
        description="Run a program, kernel or procedure on arrays of files, and keep or show what it writes.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_program(parser)
    named: dict[str, Any] = {"type": as_named, "action": "append", "default": []}
    parser.add_argument(
        "--input",
        metavar="NAME=FILE.npy|N",
        dest="inputs",
        help="an array, its number of zero elements, or the value of a number",
        **named,
    )
    parser.add_argument("--output", metavar="NAME=FILE.npy", dest="outputs", help="keep what it writes", **named)
    add_grid(parser)
    add_place(parser)
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="end the run after so long")
    add_json(parser)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    program, inputs, workgroups = given_of(chosen.program)
    check_timeout(chosen.timeout)
    check_place(chosen.backend, chosen.device)
    if not isinstance(program, vyre.Program):
        return _shown(chosen, _called(chosen, program, grid_of(chosen, program, None)))
    declared = {decl.name: decl for decl in program.buffers}
    inputs = {**inputs, **{name: _buffer_input(name, value, declared.get(name)) for name, value in chosen.inputs}}
    grid = grid_of(chosen, program, workgroups)
    read_write = [decl.name for decl in program.buffers if decl.access == vyre.BufferAccess.ReadWrite]
    _check_outputs(chosen, "program", "buffer", read_write)
    check_named(program, inputs, lambda decl: f"add {option_of(decl)}")
    place: dict[str, Any] = {"backend": chosen.backend, "device": chosen.device, "timeout": chosen.timeout}
    return _shown(chosen, vyre.run(program, inputs, grid["workgroups"], **place))


def _buffer_input(name: str, value: str, decl: vyre.BufferDecl | None) -> Any:
    """The value of an option --input of a program; names that it has not are refused later."""
    import numpy as np

    if decl is not None and takes_value(decl):
        with contextlib.suppress(ValueError):
            return int(value)
    array = array_of(value)
    if decl is None or isinstance(array, np.ndarray) or decl.access == vyre.BufferAccess.ReadWrite:
        return array
    if decl.access == vyre.BufferAccess.Uniform:
        raise vyre.ArgumentError(
            f"buffer `{name}` takes an array, got the number {array}. Fix: write {option_of(decl)}."
        )
    return zeros(f"buffer `{name}`", array, decl.element)


def takes_value(decl: vyre.BufferDecl) -> bool:
    """Whether a number for this buffer is the value of its one element, as vyre.run takes it."""
    from vyre._base.types import NUMPY

    dtype, lanes = NUMPY[decl.element]
    return decl.access == vyre.BufferAccess.Uniform and decl.count <= 1 and dtype != "bool" and not lanes


def option_of(decl: vyre.BufferDecl) -> str:
    """What to write for a buffer."""
    from vyre._base.types import NUMPY

    file, number = f"--input {decl.name}=FILE.npy", f"--input {decl.name}=N"
    if takes_value(decl):
        return f"{number} for the value N, or {file}"
    if decl.access != vyre.BufferAccess.Uniform:
        return f"{file}, or {number} for N zero elements"
    dtype, lanes = NUMPY[decl.element]
    count = f"{decl.count} " if decl.count else ""
    what = f"an array of {dtype} with {lanes[0]} columns" if lanes else f"an array of {count}{dtype}"
    if decl.name == PARAMS:
        what += ": the sizes and numbers of the kernel, in the order that `vyre docs kernels` gives"
    return f"{file}, {what}"


def _called(chosen: argparse.Namespace, called: Called, grid: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """What a call of a kernel or procedure writes, by name."""
    from vyre._kernel.kernel import Kernel

    parameters, place = parameters_of(called), {"backend": chosen.backend, "device": chosen.device}
    inputs = arguments_of(parameters, dict(chosen.inputs), _how_to_add)
    if isinstance(called, Kernel):
        written = [each.name for each in parameters if each.kind in ("Out", "InOut")]
        _check_outputs(chosen, "kernel", "array", written)
        found = called(**inputs, **grid, timeout=chosen.timeout, **place)
        return dict(zip(written, found if isinstance(found, tuple) else (found,), strict=True))
    if not isinstance(called, vyre.Procedure):
        constants = [each.name for each in parameters if each.kind == "const"]
        called = called.specialize(**{name: inputs.pop(name) for name in constants})
    interface = _core._procedure_interface(called, True)
    _check_outputs(chosen, "procedure", "array", [name for kind, name, _, _ in interface if kind != "input"])
    return vyre.run(called, inputs, timeout=chosen.timeout, **place)


def _how_to_add(each: Parameter) -> str:
    return f"add --input {each.name}={'FILE.npy' if each.is_array else 'N'}"


def _check_outputs(chosen: argparse.Namespace, what: str, memory: str, written: list[str]) -> None:
    for name, path in chosen.outputs:
        if name not in written:
            there = f"one of {', '.join(written)}" if written else f"none: the {what} writes no {memory}"
            raise vyre.ArgumentError(f"the {what} writes no {memory} `{name[:80]}`. Fix: name {there}.")
        check_writable(path)


def _shown(chosen: argparse.Namespace, outputs: dict[str, np.ndarray]) -> int:
    kept = dict(chosen.outputs)
    for name, path in chosen.outputs:  # one array may go to several files
        write_atomically(path, _saved(outputs[name]))
    if chosen.json:
        rows = [{"name": name, "file": kept.get(name), **_row(array)} for name, array in outputs.items()]
        return print_json("run", True, outputs=rows)
    for name, array in outputs.items():
        if name not in kept:
            row = _row(array)
            print(f"{name}: {row['dtype']} {tuple(row['shape'])}, SHA-256 {row['sha256']}\n{_short(array)}")
    return 0


def _saved(array: np.ndarray) -> bytes:
    import numpy as np

    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def _row(array: np.ndarray) -> dict[str, Any]:
    return {
        "dtype": array.dtype.name,
        "shape": list(array.shape),
        "sha256": hashlib.sha256(array.tobytes()).hexdigest(),
    }


def _short(array: np.ndarray) -> str:
    import numpy as np

    return np.array2string(array, threshold=16, edgeitems=4, separator=", ")
