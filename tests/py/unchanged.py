"""Hashes of what programs lower to and of what conformance cases give, to show that a change has kept them.

    python tests/py/unchanged.py record FILE [--count 10000]     # before the change: programs and hashes
    python tests/py/unchanged.py compare FILE                    # after it: each program that lowers to something else

The programs are the conformance corpus and generated ones. They are stored as bytes, so that a new operator, or a
generator that chooses otherwise, changes no row. The repository keeps a few rows in ``golden/unchanged.json``.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import vyre
from vyre import fuzz
from vyre.conformance import cases, certify

if TYPE_CHECKING:
    from collections.abc import Iterator

OPTIMIZE: tuple[Any, ...] = (True, False, [], ["passes"], ["passes", "proofs"], ["passes", "proofs", "coarsening"])


def digest(data: bytes | str) -> str:
    """The first 64 bits of SHA-256: enough to tell that something changed."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()[:16]


def lowered(program: vyre.Program) -> dict[str, str]:
    """A hash of each form of a program."""
    found = {"text": digest(program.to_text()), "bytes": digest(program.to_bytes())}
    for target in ("spirv", "wgsl"):
        for optimize in OPTIMIZE:
            key = f"{target} {optimize if isinstance(optimize, bool) else ' '.join(['only', *optimize])}"
            try:
                found[key] = digest(vyre.lower(program, target=target, optimize=optimize))
            except vyre.VyreError as error:
                found[key] = f"{type(error).__name__} {digest(str(error))}"
    return found


def programs(count: int) -> Iterator[vyre.Program]:
    """The corpus's programs, each once, and generated ones."""
    seen = set()
    for case in cases():
        for step in case.steps:
            if step.program not in seen:
                seen.add(step.program)
                yield step.program
    for seed in range(count):
        yield fuzz.generate(seed).program


def rows(some: Iterator[vyre.Program]) -> list[dict[str, Any]]:
    return [{"program": base64.b64encode(program.to_bytes()).decode(), "lowered": lowered(program)} for program in some]


def certificates() -> dict[str, str]:
    """A hash of what the certificate of each processor backend says of its cases."""
    return {
        backend: digest(json.dumps(certify(backend).content["cases"], sort_keys=True))
        for backend in ("reference", "cpu")
    }


def write(path: Path, content: object) -> None:
    text = json.dumps(content, indent=1) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode(), mtime=0))
    else:
        path.write_text(text, encoding="utf-8")


def read(path: Path) -> Any:
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


def differences(recorded: list[dict[str, Any]]) -> Iterator[tuple[int, vyre.Program, list[str]]]:
    """The rows whose program lowers to something else: their number, the program, and which of its forms."""
    for number, row in enumerate(recorded):
        program = vyre.Program.from_bytes(base64.b64decode(row["program"]))
        now = lowered(program)
        if changed := sorted(key for key in row["lowered"].keys() | now if row["lowered"].get(key) != now.get(key)):
            yield number, program, changed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("record", "compare"))
    parser.add_argument("file", type=Path, help="ends in .gz: compressed")
    parser.add_argument("--count", type=int, default=10_000, help="generated programs, from seed 0 (%(default)s)")
    chosen = parser.parse_args()
    if chosen.what == "record":
        made = rows(programs(chosen.count))
        write(chosen.file, {"programs": made, "certificates": certificates()})
        print(f"{len(made)} programs recorded, and {len(certificates())} certificates")
        return 0
    recorded = read(chosen.file)
    changed = list(differences(recorded["programs"]))
    for number, program, keys in changed[:20]:
        print(f"program {number} of {len(program.entry)} statements: {', '.join(keys)}")
    certified = certificates()
    others = [backend for backend, value in recorded["certificates"].items() if certified[backend] != value]
    print(
        f"{len(changed)} of {len(recorded['programs'])} programs lower to something else; "
        f"certificates that say something else: {', '.join(others) or 'none'}"
    )
    return 1 if changed or others else 0


if __name__ == "__main__":
    sys.exit(main())
