"""``vyre devices``: the GPUs and software GPUs here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import vyre
from vyre.commands._listing import add_json, print_json

if TYPE_CHECKING:
    import argparse


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "devices",
        help="the GPUs and software GPUs here",
        description="List the GPUs and software GPUs here: the numbers that --device takes.",
        epilog="Exit status: 0 if there is one, 1 if there is none.",
    )
    parser.add_argument("--limits", action="store_true", help="with their limits; --json always has them")
    add_json(parser)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    if not chosen.json:
        return show(limits=chosen.limits)
    found = vyre.devices()
    return print_json("devices", bool(found), devices=[row(device) for device in found])


def row(device: vyre.Device) -> dict[str, Any]:
    """A device as JSON has it."""
    from dataclasses import asdict

    return asdict(device)


def show(*, limits: bool) -> int:
    found = vyre.devices()
    if not found:
        print("no GPU and no software GPU here. Fix: `vyre doctor` says what was looked for.")
        return 1
    for number, device in enumerate(found):
        print(f"{number}: {device.name} ({device.kind}), {device.driver}")
        if device.index != number:
            print(f'    with backend="{device.backend}": device {device.index}')
        if device.default_for:
            print(f'    default of backend="{device.backend}" for {device.default_for}')
        for reason in device.reasons:
            print(f"    not usable: {reason}")
        for name, value in device.probes.items():
            print(f"    found when opened: {name} = {value}")
        if limits:
            for limit, most in device.limits.items():
                print(f"    {limit} = {most}")
    return 0
