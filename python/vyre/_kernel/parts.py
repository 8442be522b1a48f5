"""A Program's statements as a tree of blocks, and its expressions, for what walks over them in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vyre import _core

if TYPE_CHECKING:
    from vyre._core import Program

__all__ = ["Expression", "Parts", "Statement", "parts_of"]


class Expression(NamedTuple):
    kind: str  # as in `BufLen`; `Atomic Add` for an atomic
    name: str  # of the variable, buffer, operator, operation, type or grid id
    operands: tuple[int, ...]
    value: int  # of a literal; the axis or the lane


class Statement:
    def __init__(self, kind: str, name: str, exprs: tuple[int, ...]) -> None:
        self.kind, self.name, self.exprs = kind, name, exprs  # the kind as in `Assign`
        self.body: list[Statement] = []
        self.otherwise: list[Statement] = []


class Parts(NamedTuple):
    exprs: list[Expression]  # operands stand before their users
    body: list[Statement]


def parts_of(program: Program) -> Parts:
    exprs, nodes = _core._parts(program)
    root = Statement("Block", "", ())
    open_ = [(root, root.body)]
    for node in nodes:
        made = Statement(*node)
        if made.kind == "End":
            open_.pop()
        elif made.kind == "Else":
            owner, _ = open_.pop()
            open_.append((owner, owner.otherwise))
        else:
            open_[-1][1].append(made)
            if made.kind in ("If", "Loop", "Block"):
                open_.append((made, made.body))
    return Parts([Expression(*each) for each in exprs], root.body)
