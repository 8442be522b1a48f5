"""``vyre doctor``: what works here, and what is missing."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

import numpy as np

import vyre
from vyre._looked_for import looked_for
from vyre.commands import backends, devices

if TYPE_CHECKING:
    import argparse


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "doctor",
        help="what works here, what is missing, and what was looked for",
        description="Show what works here, what is missing and what was looked for; run a small program everywhere.",
    )
    parser.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    print(f"vyre {vyre.__version__}, Python {platform.python_version()}, numpy {np.__version__}, {platform.platform()}")
    print(f"SPIR-V: {_spirv()}")
    print("\nbackends, best first; a call that names none runs on the first:")
    backends.show()
    # This comes before the list of devices, because probes are known once a device has run something.
    trials, healthy = _trials()
    print("\ndevices:")
    if vyre.devices():
        devices.show(limits=False)
    else:
        print("no GPU and no software GPU here; what was looked for stands below")
    print("\nlooked for:")
    print("\n".join(looked_for()))
    print("\na ^ b on each of them:")
    print("\n".join(trials))
    return 0 if healthy else 1


def _spirv() -> str:
    try:
        vyre.lower(vyre.Program(), "spirv")
    except vyre.LoweringError as error:
        return str(error)
    return "this build has it"


def _trials() -> tuple[list[str], bool]:
    i = vyre.Expr.gid_x()
    program = vyre.Program(
        [
            vyre.BufferDecl.read("a", 0, vyre.u32),
            vyre.BufferDecl.read("b", 1, vyre.u32),
            vyre.BufferDecl.output("out", 2, vyre.u32),
        ],
        (64, 1, 1),
        [vyre.Node.store("out", i, vyre.Expr.load("a", i) ^ vyre.Expr.load("b", i))],
    )
    a = np.arange(1000, dtype=np.uint32)
    b = a[::-1].copy()
    targets = [(name, {"backend": name}) for name in ("reference", "cpu") if name in vyre.backends()]
    targets += [(f"{d.index}: {d.name}", {"backend": d.backend, "device": d}) for d in vyre.devices() if d.usable]
    lines, healthy = [], True
    for name, target in targets:
        try:
            right = bool((vyre.run(program, {"a": a, "b": b, "out": a.size}, 16, **target)["out"] == a ^ b).all())
            lines.append(f"{name}: {'right' if right else 'WRONG'}")
            healthy &= right
        except vyre.VyreError as error:
            lines.append(f"{name}: {error}")
            healthy = False
    return lines, healthy
