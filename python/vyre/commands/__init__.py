"""The commands of ``vyre`` on the command line: one module a command, listed here in the order of ``vyre --help``.

A module's ``add_to(commands)`` adds its parser and sets ``run`` to the function that takes the parsed arguments and
gives the exit status.
"""

from __future__ import annotations

from vyre.commands import (
    backends,
    check,
    conform,
    devices,
    doctor,
    explain,
    fuzz,
    hash,
    reference,
    repeat,
    replay,
    scan,
)

COMMANDS = (explain, check, devices, backends, doctor, reference, conform, repeat, fuzz, replay, hash, scan)
