"""The rows that vyre.trace and vyre.debug give, and their tables, as text and as HTML."""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vyre._base.calls import explain_calls
from vyre._base.types import TYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre._core import DataType

__all__ = ["Row", "as_html", "as_text", "table_of"]

_MOST_SOURCE = 80  # letters
_MOST_VALUE = 60
_HEX_FROM = 1 << 16


@dataclass(frozen=True)
class Row:
    """A value that one invocation of a kernel had, as vyre.trace and vyre.debug record it.

    Attributes:
        kernel: the kernel's name.
        invocation: its index in the grid along x, y, z.
        file, line: where in the source.
        turns: the turn of each loop around it that runs on the device, outermost first, from 0 on.
        name: the variable, the element (``out[3]``), or the name that vyre.debug was given; a word such as ``if``.
        value: an int or a bool; a tuple of ints for a vector.
        type: its type; None for a value that Python knew when the kernel was compiled.
    """

    kernel: str
    invocation: tuple[int, int, int]
    file: str
    line: int
    turns: tuple[int, ...]
    name: str
    value: Any
    type: DataType | None

    @property
    def source(self) -> str:
        """The line of the source, without the spaces around it; empty where it cannot be read."""
        return linecache.getline(self.file, self.line).strip()


def _value(value: Any) -> str:
    if type(value) is int:
        return f"{value} (0x{value:x})" if value >= _HEX_FROM else str(value)
    return str(value)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


def table_of(rows: Sequence[Row | str], with_invocation: bool) -> tuple[list[str], list[list[str] | str]]:
    """The heads of the columns, and the cells of each row; a text among the rows stands on a line of its own."""
    real = [row for row in rows if isinstance(row, Row)]
    several = len({row.file for row in real}) > 1
    with_turns = any(row.turns for row in real)
    heads = ["line", *(["turn"] if with_turns else []), *(["invocation"] if with_invocation else [])]
    heads += ["name", "value", "type", "source"]
    cells: list[list[str] | str] = []
    for row in rows:
        if isinstance(row, str):
            cells.append(row)
            continue
        made = [f"{Path(row.file).name}:{row.line}" if several else str(row.line)]
        if with_turns:
            made.append(".".join(map(str, row.turns)))
        if with_invocation:
            made.append(str(row.invocation))
        kind = "" if row.type is None else TYPES[row.type].spelled
        made += [_short(row.name, _MOST_VALUE), _short(_value(row.value), _MOST_VALUE), kind]
        cells.append([*made, _short(row.source, _MOST_SOURCE)])
    return heads, cells


def as_text(title: str, heads: list[str], cells: Sequence[list[str] | str], notes: Sequence[str]) -> str:
    full = [row for row in cells if not isinstance(row, str)]
    widths = [max(len(row[k]) for row in [heads, *full]) for k in range(len(heads))]
    numbers = {heads.index(name) for name in ("line", "turn") if name in heads}
    lines = [title]
    for row in [heads, *cells] if full else cells:
        if isinstance(row, str):
            lines.append(f"  {row}")
            continue
        made = [
            cell.rjust(width) if k in numbers else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(f"  {'  '.join(made)}".rstrip())
    return "\n".join([*lines, *(f"note: {note}" for note in notes)])


def as_html(kind: str, title: str, heads: list[str], cells: Sequence[list[str] | str], notes: Sequence[str]) -> str:
    from vyre._html.parts import Form, code, note, sheet, table

    numbers = [heads.index(name) for name in ("line", "turn", "count") if name in heads]
    rows = [row if isinstance(row, str) else [code(cell) if cell else "" for cell in row] for row in cells]
    return sheet(Form(kind, title, (table(heads, rows, numbers=numbers), *(note(f"note: {each}") for each in notes))))


explain_calls(globals(), "vyre")
