"""``vyre bisect PROGRAM INPUTS``: the first value that two backends or devices compute differently."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import vyre
from vyre.commands._given import add_program, given_of, no_workgroups, refuse_for_procedure
from vyre.commands._listing import add_json, print_json
from vyre.commands._place import check_place, exit_statuses, split_place
from vyre.commands.repeat import arrays_of, as_grid, check_named, check_timeout, how_to_add
from vyre.commands.run import zeros

if TYPE_CHECKING:
    from vyre._tools.ways import Way

_EPILOG = """\
PROGRAM and INPUTS are those of `vyre repeat`. PROGRAM may hold a procedure too, as text or bytes: it has its own
workgroups, INPUTS has its arrays and numbers, and the first step that differs is found. A backend is a name of `vyre
backends`, and vulkan:1 is device 1 of those that vyre.devices("vulkan") lists: two routes to one GPU, or two drivers,
are compared with each other.

""" + exit_statuses("if all outputs are equal", "if one differs")


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "bisect",
        help="the first value that two backends or devices compute differently",
        description="Run a program or procedure with the same inputs on two backends or devices, and where an output "
        "differs, find the invocation and the expression that differ first.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_program(parser)
    parser.add_argument("inputs", metavar="INPUTS", nargs="?")
    parser.add_argument("--workgroups", metavar="X[,Y[,Z]]", type=as_grid, help="how many along each axis")
    parser.add_argument("--backend", metavar="NAME", help="one of `vyre backends`; otherwise the best one here")
    parser.add_argument("--against", metavar="NAME", default="reference", help="the other one; otherwise the reference")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="end a run after so long")
    add_json(parser)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    program, inputs, workgroups = given_of(chosen.program)
    if chosen.inputs is not None:
        inputs = arrays_of(chosen.inputs)
    workgroups = chosen.workgroups or workgroups
    if isinstance(program, vyre.Procedure):
        refuse_for_procedure([("workgroups", chosen.workgroups)])
    elif workgroups is None:
        raise no_workgroups(chosen.program)
    check_timeout(chosen.timeout)
    backend = _way(chosen.backend or vyre.backends()[0], "--backend")
    against = _way(chosen.against, "--against")
    ways: dict[str, Any] = {"backend": backend, "against": against, "timeout": chosen.timeout}
    found: object
    if isinstance(program, vyre.Procedure):
        found = vyre.bisect(program, _inputs_of(program, inputs, chosen.inputs), **ways)
    else:
        check_named(program, inputs, lambda decl: how_to_add(chosen.inputs, decl.name))
        found = vyre.bisect(program, inputs, workgroups, **ways)
    if chosen.json:
        return print_json("bisect", found is None, difference=None if found is None else str(found))
    print(found or f"{_name(backend)} and {_name(against)} give the same bytes.")
    return 0 if found is None else 1


def _inputs_of(procedure: vyre.Procedure, inputs: dict[str, Any], path: str | None) -> dict[str, Any]:
    """The inputs of a procedure: an integer for an array of one axis is a number of zero elements."""
    made = dict(inputs)
    for kind, name, element, axes in vyre._core._procedure_interface(procedure):
        is_number = kind == "number"
        if name not in inputs:
            what, value = ("number", "5") if is_number else ("array", "array")
            raise vyre.BindingError(f"{what} `{name}` has no value. Fix: {how_to_add(path, name, value)}.")
        if not is_number and axes == 1 and isinstance(inputs[name], int):
            made[name] = zeros(f"array `{name}`", inputs[name], element)
    return made


def _way(given: str, option: str) -> Way:
    backend, device = split_place(given)
    check_place(backend, device, option, is_joined=True)
    return backend if device is None else {"backend": backend, "device": device}


def _name(way: Any) -> str:
    return way if isinstance(way, str) else f"{way['backend']}:{way['device']}"
