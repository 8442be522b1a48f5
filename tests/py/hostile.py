"""Runs what may end, stop or fill a process in processes of their own.

``outcomes`` gives many cases to one process, under limits of memory and time. When a case takes the process with it,
that is the outcome of this case, and another process goes on with the next one.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import vyre

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# A limit of the address space, not of memory; libraries and thread stacks take part of it.
MOST_MEMORY = 4 << 30
# A case takes milliseconds; a machine with work for others needs patience.
PATIENCE = 60.0
# The tests' folder, and that of the package that is tested.
PATH = os.pathsep.join([str(Path(__file__).parent), str(Path(vyre.__file__).parents[1])])


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case.

    Attributes:
        kind: "value", "error", "ended" (the process), or "hung".
        type: of an error, the names of its class and of the classes above it.
        text: the error's message, what the case printed last, or what the process said in the end.
    """

    kind: str
    type: tuple[str, ...] = ()
    text: str = ""


def outcomes(program: str, cases: Sequence[object], *, patience: float = PATIENCE) -> list[Outcome]:
    """The outcome of each case in ``program``, a script that calls ``serve`` of this module."""
    found: list[Outcome] = []
    while len(found) < len(cases):
        found.extend(_in_one_process(program, cases[len(found) :], patience))
    return found


def _in_one_process(program: str, cases: Sequence[object], patience: float) -> Iterator[Outcome]:
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryFile("w+") as said:
        # The files that a case writes land there.
        places = {"HOME": home, "VYRE_CACHE_DIR": f"{home}/cache", "TMPDIR": home}
        environment = os.environ | places | {"PYTHONPATH": PATH}
        process = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            cwd=home,
            env=environment,
            text=True,
        )
        try:
            process.stdin.write(json.dumps(list(cases)))
            process.stdin.close()
            lines = _Lines(process.stdout.fileno())
            for _ in cases:
                line = lines.next(patience)
                if line is None:
                    yield Outcome("hung")
                    return
                if not line:
                    process.wait()
                    said.seek(0)
                    yield Outcome("ended", text=f"{process.returncode}: {said.read(2000)}")
                    return
                told = json.loads(line)
                yield Outcome(told["kind"], tuple(told["type"]), told["text"])
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


class _Lines:
    """The lines of a descriptor, waited for only when none has come yet."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._come = b""

    def next(self, patience: float) -> str | None:
        """Return the next line, "" at the end of the output, or None when no line comes in time."""
        end = time.monotonic() + patience
        while b"\n" not in self._come:
            if not select.select([self._descriptor], [], [], max(0.0, end - time.monotonic()))[0]:
                return None
            more = os.read(self._descriptor, 1 << 16)
            if not more:
                return ""
            self._come += more
        line, _, self._come = self._come.partition(b"\n")
        return line.decode()


def serve(run: object) -> None:
    """In the other process: ``run`` each case, and tell what became of it."""
    import resource

    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a case prints is not an outcome
    cases = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for case in cases:
        try:
            value = run(case)
        except BaseException as error:
            try:
                text = str(error)
            except Exception:
                text = "its message cannot be made"
            types = [kind.__name__ for kind in type(error).__mro__]
            outcome = {"kind": "error", "type": types, "text": _short(text)}
            del error
        else:
            outcome = {"kind": "value", "type": [], "text": _short(value) if isinstance(value, str) else ""}
        out.write(json.dumps(outcome) + "\n")
        out.flush()


def _short(text: str) -> str:
    return text if len(text) <= 5000 else f"{text[:4000]} ... {text[-500:]}"
