"""``vyre doctor``: what works here, what is missing, and the one command that mends it."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING, Any

import vyre
from vyre import _core
from vyre._default import check_place, place
from vyre._tools.looked_for import drivers_left_out, loaded, looked_for, named_drivers
from vyre._tools.remedies import Machine, Remedy, Vulkan, mend, this_machine
from vyre.commands import backends, devices
from vyre.commands._listing import add_json, print_json

if TYPE_CHECKING:
    import argparse

_EPILOG = """\
Exit status: 0 if every backend and device here gives the right result, and calls that name none run; otherwise 1. A
missing GPU or driver changes nothing: programs run on the processor."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "doctor",
        help="what works here, what is missing, and the command that mends it",
        description="Show what works here, what was looked for, and the one command that brings what is missing; "
        "run a small program everywhere.",
        epilog=_EPILOG,
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    import numpy as np

    # This comes before the list of devices, because probes are known once a device has run something.
    trials = _trials()
    refused = _refused()
    healthy = refused is None and all(said == "right" for said in trials.values())
    machine = this_machine()
    remedy = mend(machine, _vulkan())
    chosen_by = _default()
    if chosen.json:
        return print_json(
            "doctor",
            healthy,
            python=platform.python_version(),
            numpy=np.__version__,
            platform=platform.platform(),
            spirv=_spirv(),
            cpu=_machine_code(),
            backends=list(vyre.backends()),
            unavailable=vyre.backends().unavailable(),
            devices=[devices.row(device) for device in vyre.devices()],
            looked_for=list(looked_for()),
            trials=trials,
            default=refused or "right",
            default_backend={"backend": chosen_by[0], "why": chosen_by[1]},
            missing=remedy.missing if remedy else None,
            fix=remedy.command or None if remedy else None,
        )
    print(f"vyre {vyre.__version__}, Python {platform.python_version()}, numpy {np.__version__}, {platform.platform()}")
    print(f"SPIR-V: {_spirv()}")
    print(f"cpu: {_machine_code()}")
    print("\nbackends, best first; a call that names none runs on the first:")
    backends.show()
    print(f"\ndefault: {chosen_by[0]}, because {chosen_by[1]}.")
    print("\ndevices:")
    if vyre.devices():
        devices.show(limits=False)
    else:
        print("no GPU and no software GPU here; what was looked for stands below")
    print("\nlooked for:")
    print("\n".join(looked_for()))
    print("\na ^ b on each of them:")
    print("\n".join(f"{name}: {said}" for name, said in trials.items()))
    print()
    if refused:
        print(f"calls that name no backend fail, by VYRE_BACKEND and VYRE_DEVICE: {refused}\n")
    print("\n".join(_advice(machine, remedy)))
    return 0 if healthy else 1


def _advice(machine: Machine, remedy: Remedy | None) -> list[str]:
    if remedy is None:
        return ["nothing is missing"]
    where = "the processor" if vyre.backends()[0] == "cpu" else f"backend `{vyre.backends()[0]}`"
    first = f"{remedy.missing}; programs run on {where} meanwhile."
    if remedy.command:
        return [first, f"Fix, on {machine.pretty}{_where(machine, remedy)}: run", "", f"    {remedy.command}", ""]
    how = f"as {machine.pretty} installs them"
    return [first, f"Fix: install the Vulkan loader (libvulkan.so.1) and a driver, such as Mesa's, {how}."]


def _where(machine: Machine, remedy: Remedy) -> str:
    if machine.wsl:
        return " under WSL, where Mesa's drivers are the ones there are"
    return " in a container (in its Dockerfile, after RUN)" if machine.container and remedy.installs else ""


def _refused() -> str | None:
    """Why calls that name no backend do not run, which the environment decides; None where they do."""
    try:
        check_place(*place(None, None), "vyre.run")
    except vyre.VyreError as error:
        return str(error)
    return None


def _default() -> tuple[str, str]:
    """The backend of calls that name none, and why in a sentence without its full stop."""
    backend, device = os.environ.get("VYRE_BACKEND"), os.environ.get("VYRE_DEVICE")
    best, why = _core._default_backend()
    if not backend and not device:
        return best, why
    named = " and ".join(
        f"{name}={text}" for name, text in (("VYRE_BACKEND", backend), ("VYRE_DEVICE", device)) if text
    )
    if not backend and device and device.isdecimal() and int(device) < len(vyre.devices()):
        backend = vyre.devices()[int(device)].backend
    return backend or best, f"the environment says {named}; without it they would run on {best}, because {why}"


def _vulkan() -> Vulkan:
    usable = [device for device in vyre.devices("vulkan") if device.usable]
    return Vulkan(
        loader=bool(loaded()),
        drivers=named_drivers(),
        chosen=drivers_left_out(),
        device=bool(usable),
        gpu=any(device.kind.endswith("gpu") and device.kind != "software gpu" for device in usable),
        cuda=any(device.usable for device in vyre.devices("cuda")),
    )


_VECTORS = {"sse41": "SSE4.1", "avx2": "AVX2", "avx512": "AVX512"}


def _machine_code() -> str:
    """What the cpu backend does with programs, in a sentence."""
    vectors = _core._devices("cpu")[0]["probes"]["machine_code"]
    what, _, why = vectors.partition(": ")
    if what == "refused":
        return f"programs are refused on the processor: {why}"
    if what == "none":
        return f"programs are interpreted on the processor, because {why}"
    return f"programs run on the processor as machine code, with {_VECTORS[vectors]}"


def _spirv() -> str:
    try:
        vyre.lower(vyre.Program(), "spirv")
    except vyre.LoweringError as error:
        return str(error)
    return "this build has it"


def _trials() -> dict[str, str]:
    """What a small program gives on each backend and device: "right", "WRONG" or an error."""
    import numpy as np

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
    targets: list[tuple[str, dict[str, Any]]] = [(name, {"backend": name}) for name in _core._hosts]
    targets += [
        (f"{number}: {d.name}", {"backend": d.backend, "device": d})
        for number, d in enumerate(vyre.devices())
        if d.usable
    ]
    said = {}
    for name, target in targets:
        try:
            right = bool((vyre.run(program, {"a": a, "b": b, "out": a.size}, 16, **target)["out"] == a ^ b).all())
            said[name] = "right" if right else "WRONG"
        except vyre.VyreError as error:
            said[name] = str(error)
    return said
