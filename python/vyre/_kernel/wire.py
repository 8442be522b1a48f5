"""A Program taken apart, from its binary form, for what walks over its statements in Python.

The form is documented in docs/binary-form.md. Expressions are numbered in the order of their evaluation, so operands
stand before their users; the statements come as a tree of blocks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vyre import _core
from vyre._base.types import TYPES

if TYPE_CHECKING:
    from vyre._core import Program

__all__ = ["LITERALS", "Statement", "Wire", "read_wire"]

# The kinds of expressions by their numbers in the binary form.
LITERALS = {info.literal: info.text for info in TYPES.values() if info.literal is not None}
_TERNARY = {row[2]: row[0] for row in _core._tables["ternary"]}
_OTHERS = ("var", "load", "len", "id", "binary", "unary", "", "cast", "call", "lane", "pack", "atomic")
_KINDS = LITERALS | dict(enumerate(_OTHERS, 4)) | dict.fromkeys(_TERNARY, "ternary")
_STATEMENTS = ("let", "assign", "store", "if", "else", "loop", "block", "end", "barrier", "return", "break")
_IDS = ("gid", "wid", "lid")


@dataclass(frozen=True)
class Expression:
    kind: str
    name: str  # of the variable, buffer, operator, operation or grid id
    operands: tuple[int, ...]
    value: int = 0  # of a literal; the axis or the lane


@dataclass
class Statement:
    kind: str
    name: str = ""
    exprs: tuple[int, ...] = ()
    body: list[Statement] = field(default_factory=list)
    otherwise: list[Statement] = field(default_factory=list)


@dataclass(frozen=True)
class Wire:
    exprs: list[Expression]
    body: list[Statement]


class _Bytes:
    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def number(self) -> int:
        result = shift = 0
        while True:
            byte = self._data[self._at]
            self._at += 1
            result |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return result

    def text(self) -> str:
        size = self.number()
        self._at += size
        return self._data[self._at - size : self._at].decode()

    def skip(self, count: int) -> None:
        self._at += count


def read_wire(program: Program) -> Wire:
    data = _Bytes(program.to_bytes())
    data.skip(5)
    assert data.number() == 1
    for _ in range(3):
        data.number()
    buffers = []
    for _ in range(data.number()):
        buffers.append(data.text())
        for _ in range(5):
            data.number()
    names = list(dict.fromkeys(buffers)) + [data.text() for _ in range(data.number())]
    exprs: list[Expression] = []
    for _ in range(data.number()):
        exprs.append(_expression(data, names, len(exprs)))
    return Wire(exprs, _statements(data, names))


def _expression(data: _Bytes, names: list[str], at: int) -> Expression:
    number = data.number()
    kind = _KINDS[number]

    def operands(count: int) -> tuple[int, ...]:
        return tuple(at - data.number() for _ in range(count))

    def table(which: str) -> str:
        row: Any = _core._tables[which][data.number()]
        found: str = row.name if which == "types" else row[0]
        return found

    if kind in LITERALS.values():
        return Expression(kind, "", (), data.number())
    if kind in ("var", "len"):
        return Expression(kind, names[data.number()], ())
    if kind == "load":
        return Expression(kind, names[data.number()], operands(1))
    if kind == "id":
        return Expression(kind, _IDS[data.number()], (), data.number())
    if kind in ("binary", "unary"):
        name = table(kind)
        return Expression(kind, name, operands(2 if kind == "binary" else 1))
    if kind == "ternary":
        return Expression(kind, _TERNARY[number], operands(3))
    if kind == "cast":
        name = table("types")
        return Expression(kind, name, operands(1))
    if kind == "lane":
        inner = operands(1)
        return Expression(kind, "", inner, data.number())
    if kind == "call":
        name = names[data.number()]
        return Expression(kind, name, operands(data.number()))
    if kind == "pack":
        name = table("types")
        return Expression(kind, name, operands(data.number()))
    operator = table("atomic")
    count = 3 if data.number() else 2
    buffer = names[data.number()]
    return Expression(f"atomic {operator}", buffer, operands(count))


def _statements(data: _Bytes, names: list[str]) -> list[Statement]:
    result: list[Statement] = []
    open_: list[tuple[Statement | None, list[Statement]]] = [(None, result)]
    for _ in range(data.number()):
        kind = _STATEMENTS[data.number()]
        if kind == "end":
            open_.pop()
            continue
        if kind == "else":
            owner = open_.pop()[0]
            assert owner is not None
            open_.append((owner, owner.otherwise))
            continue
        made = Statement(kind)
        open_[-1][1].append(made)
        if kind in ("let", "assign", "store", "loop"):
            made.name = names[data.number()]
        made.exprs = tuple(
            data.number() for _ in range({"let": 1, "assign": 1, "store": 2, "if": 1, "loop": 2}.get(kind, 0))
        )
        if kind in ("if", "loop", "block"):
            open_.append((made, made.body))
    return result
