"""What pickles name: plain functions, because pickle finds functions of a module by name and C++ methods not at all."""

from __future__ import annotations

from vyre import _core


def program(data: bytes) -> _core.Program:
    """The program of these bytes."""
    return _core.Program.from_bytes(data)


def expr(data: bytes) -> _core.Expr:
    """The expression of these bytes."""
    return _core._expr_from_bytes(data)


def node(data: bytes) -> _core.Node:
    """The statement of these bytes."""
    return _core._node_from_bytes(data)
