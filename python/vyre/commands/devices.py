"""``vyre devices``: the GPUs and software GPUs here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import vyre

if TYPE_CHECKING:
    import argparse


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "devices",
        help="the GPUs and software GPUs here",
        description="List the GPUs and software GPUs here: the numbers that --device takes.",
    )
    parser.add_argument("--limits", action="store_true", help="with their limits")
    parser.set_defaults(run=lambda chosen: show(limits=chosen.limits))


def show(*, limits: bool) -> int:
    found = vyre.devices()
    if not found:
        print("no GPU and no software GPU here. Fix: `vyre doctor` says what was looked for.")
        return 1
    for device in found:
        print(f"{device.index}: {device.name} ({device.kind}), {device.driver}")
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
