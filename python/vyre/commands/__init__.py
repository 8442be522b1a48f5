"""The commands of ``vyre`` on the command line, one module for each, listed here in the order of ``vyre --help``.

A module's ``add_to(commands)`` adds its parser and sets ``run`` to the function that takes the parsed arguments and
gives the exit status.
"""

from __future__ import annotations

from vyre.commands import (
    backends,
    bench,
    bisect,
    check,
    completion,
    conform,
    devices,
    docs,
    doctor,
    explain,
    fuzz,
    hash,
    lower,
    ops,
    reference,
    repeat,
    replay,
    run,
    scan,
)

COMMANDS = (
    *(run, check, lower, explain, devices, backends, doctor, ops, docs, reference),
    *(bench, conform, repeat, bisect, fuzz, replay, hash, scan, completion),
)
