"""The list of faults."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import tomllib

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "tests/mutation/faults.toml"


class GateError(Exception):
    """Why no score can be given."""


@dataclass(frozen=True)
class Fault:
    """One deliberate fault.

    Attributes:
        id: its name, used once.
        file: what it changes, from the root of the repository.
        old: text that stands in the file exactly once.
        new: what takes its place.
        breaks: what is wrong then.
        by_compiler: whether it must not compile, because the sources state there what it breaks.
    """

    id: str
    file: str
    old: str
    new: str
    breaks: str
    by_compiler: bool = False

    def key(self) -> str:
        return hashlib.sha256(json.dumps([self.file, self.old, self.new]).encode()).hexdigest()[:16]

    def applied(self, text: str) -> str:
        """The file's text with the fault in it."""
        found = text.count(self.old)
        if found != 1:
            raise GateError(
                f"fault {self.id}: its old text occurs {found} times in {self.file}. "
                "Fix: the list is stale; bring `old` up to date, or replace the fault."
            )
        return text.replace(self.old, self.new)


def load(path: Path = LIST) -> list[Fault]:
    """The faults of the list, by file in the order in which it names the files."""
    files = tomllib.loads(path.read_text(encoding="utf-8"))
    faults = [Fault(id=id, file=file, **row) for file, rows in files.items() for id, row in rows.items()]
    seen: set[str] = set()
    for fault in faults:
        if fault.id in seen:
            raise GateError(f"fault {fault.id} stands in the list twice. Fix: rename one of them.")
        seen.add(fault.id)
    return faults
