"""``vyre bisect PROGRAM INPUTS``: the first value that two backends or devices compute differently."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import vyre
from vyre.commands._given import ABOUT, add_grid, add_program, given_of
from vyre.commands._listing import add_json, print_json
from vyre.commands._place import check_place, exit_statuses, split_place
from vyre.commands.repeat import ABOUT_INPUTS, call_of, check_timeout

if TYPE_CHECKING:
    from vyre._tools.ways import Way

_EPILOG = f"""\
{ABOUT}

{ABOUT_INPUTS}

Of a procedure the first step that differs is found. A backend is a name of `vyre backends`, and vulkan:1 is device 1
of those that vyre.devices("vulkan") lists: two routes to one GPU, or two drivers, are compared with each other.

""" + exit_statuses("if all outputs are equal", "if one differs")


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "bisect",
        help="the first value that two backends or devices compute differently",
        description="Run a program, kernel or procedure with the same inputs on two backends or devices, and where an "
        "output differs, find the invocation and the expression that differ first.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_program(parser)
    parser.add_argument("inputs", metavar="INPUTS", nargs="?")
    add_grid(parser)
    parser.add_argument("--backend", metavar="NAME", help="one of `vyre backends`; otherwise the best one here")
    parser.add_argument("--against", metavar="NAME", default="reference", help="the other one; otherwise the reference")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="end a run after so long")
    add_json(parser)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    check_timeout(chosen.timeout)
    backend = _way(chosen.backend or vyre.backends()[0], "--backend")
    against = _way(chosen.against, "--against")
    program, inputs, workgroups = call_of(chosen, given_of(chosen.program))
    ways: dict[str, Any] = {"backend": backend, "against": against, "timeout": chosen.timeout}
    found: object = vyre.bisect(program, inputs, workgroups, **ways)
    if chosen.json:
        return print_json("bisect", found is None, difference=None if found is None else str(found))
    print(found or f"{_name(backend)} and {_name(against)} give the same bytes.")
    return 0 if found is None else 1


def _way(given: str, option: str) -> Way:
    backend, device = split_place(given)
    check_place(backend, device, option, is_joined=True)
    return backend if device is None else {"backend": backend, "device": device}


def _name(way: Any) -> str:
    return way if isinstance(way, str) else f"{way['backend']}:{way['device']}"
