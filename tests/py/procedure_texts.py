"""The procedures that calls of the library run, and the text of one call of each kind, for review.

    python tests/py/procedure_texts.py      # writes those of golden/std that differ, and names them

A file holds the procedures that one call runs on the cpu backend. Unrolled kernels are long: of a
program with more lines than MOST_LINES a file has the first ones, and the SHA-256 of all; deep within
procedures it has that alone, because most of them have a file of their own.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import vyre
from library_calls import ROWS
from vyre._procedure.procedure import ProcedureFunction
from vyre._procedure.recorder import ACTIVE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDER = Path(__file__).parent / "golden" / "std"
MOST_LINES = 40
KEPT_LINES = 20
DEEP = 4  # spaces before the programs of procedures that are in another

KINDS = [name for name, row in ROWS.items() if row.text]


@contextlib.contextmanager
def collected() -> Iterator[dict[str, vyre.Procedure]]:
    """The procedures that calls run, by name; those that others invoke are in their texts."""
    found: dict[str, vyre.Procedure] = {}
    call, recorded = ProcedureFunction.__call__, ProcedureFunction._recorded

    def _call(self: ProcedureFunction, *args: Any, **kwargs: Any) -> Any:
        self._launch = None  # the short way asks for no procedure
        return call(self, *args, **kwargs)

    def _recorded(self: ProcedureFunction, constants: dict[str, Any], **how: Any) -> Any:
        made = recorded(self, constants, **how)
        if ACTIVE.recorder is None:
            found[made.core.name] = made.core
        return made

    ProcedureFunction.__call__, ProcedureFunction._recorded = _call, _recorded  # type: ignore[method-assign]
    try:
        yield found
    finally:
        ProcedureFunction.__call__, ProcedureFunction._recorded = call, recorded  # type: ignore[method-assign]


def procedures_of(call: Callable[..., Any], *args: Any) -> list[vyre.Procedure]:
    with collected() as found, vyre.default_device("cpu"):
        call(*args)
    return list(found.values())


def kept(name: str) -> str:
    """What the file of a kind holds."""
    return "\n".join(map(shortened, procedures_of(ROWS[name].text)))


def shortened(procedure: vyre.Procedure) -> str:
    """The text of a procedure without most of the lines of its long programs."""
    shown: list[str] = []
    lines = iter(procedure.to_text().splitlines())
    for line in lines:
        shown.append(line)
        if not line.lstrip().startswith("program ") or not line.endswith(" {"):
            continue
        indent = line[: len(line) - len(line.lstrip())]
        body = []
        while (inner := next(lines)) != f"{indent}}}":
            body.append(inner)
        if len(body) > MOST_LINES:
            digest = hashlib.sha256("\n".join(body).encode()).hexdigest()
            kept = KEPT_LINES if len(indent) < DEEP else 0
            body[kept:] = [f"{indent}  # {len(body) - kept} more lines, SHA-256 of all {digest}"]
        shown += [*body, f"{indent}}}"]
    return "\n".join(shown) + "\n"


def assert_comes_back(procedure: vyre.Procedure) -> None:
    text = procedure.to_text()
    read = vyre.Procedure.parse(text)
    assert (read, hash(read)) == (procedure, hash(procedure))
    assert (read.to_bytes(), read.to_text()) == (procedure.to_bytes(), text)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.glob("*.txt"):
        if file.stem not in KINDS:
            file.unlink()
            print(f"removed {file.name}")
    for name in KINDS:
        file, text = FOLDER / f"{name}.txt", kept(name)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            print(f"wrote {file.name}")


if __name__ == "__main__":
    main()
