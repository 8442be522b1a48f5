"""``python -m vyre``: explain a rule, list devices and backends, tell what works here, print the reference."""

from __future__ import annotations

import argparse
import platform
import sys
from typing import TYPE_CHECKING

import numpy as np

import vyre
from vyre import _reference

if TYPE_CHECKING:
    from collections.abc import Sequence


def _explain(rules: Sequence[str]) -> int:
    print("\n\n".join(vyre.explain(rule) for rule in rules))
    return 0


def _devices(limits: bool) -> int:
    found = vyre.devices()
    if not found:
        print("no GPU and no software GPU here. Fix: `python -m vyre doctor` says what was looked for.")
        return 1
    for device in found:
        print(f"{device.index}: {device.name} ({device.kind}), {device.driver}")
        for reason in device.reasons:
            print(f"    not usable: {reason}")
        for name, value in device.probes.items():
            print(f"    found when opened: {name} = {value}")
        if limits:
            for limit, most in device.limits.items():
                print(f"    {limit} = {most}")
    return 0


def _backends() -> int:
    for name in vyre.backends():
        print(name)
    for name, reasons in vyre.backends().unavailable().items():
        for reason in reasons:
            print(f"{name}: not here: {reason}")
    return 0


def _doctor() -> int:
    print(f"vyre {vyre.__version__}, Python {platform.python_version()}, numpy {np.__version__}, {platform.platform()}")
    print("\nbackends, best first:")
    _backends()
    # Before the devices are listed: what a driver was found to do is known once it has run something.
    trials, healthy = _trials()
    print("\ndevices:")
    _devices(limits=False)
    print("\na ^ b on each of them:")
    print("\n".join(trials))
    return 0 if healthy else 1


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
    targets = [("reference", {"backend": "reference"})]
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command of ``python -m vyre`` and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m vyre", description="GPU compute programs, the same bytes everywhere."
    )
    parser.add_argument("--version", action="version", version=f"vyre {vyre.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    explain = commands.add_parser("explain", help="what a rule checks, and why")
    explain.add_argument("rules", nargs="+", metavar="RULE", help="such as V014")
    devices = commands.add_parser("devices", help="the GPUs and software GPUs here")
    devices.add_argument("--limits", action="store_true", help="with their limits")
    commands.add_parser("backends", help="what can run programs here")
    commands.add_parser("doctor", help="what works here, and what is missing")
    commands.add_parser("reference", help="every type, cast, operator, rule and operation, as Markdown")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.command == "explain":
            return _explain(chosen.rules)
        if chosen.command == "devices":
            return _devices(chosen.limits)
        if chosen.command == "backends":
            return _backends()
        if chosen.command == "reference":
            print(_reference.reference(), end="")
            return 0
        return _doctor()
    except vyre.VyreError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
