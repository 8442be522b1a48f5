"""The functions that pickles name: pickle finds a module's function by its name, and cannot find C++ methods."""

from __future__ import annotations

from vyre import _core


def program(data: bytes) -> _core.Program:
    """The program of these bytes."""
    return _core.Program.from_bytes(data)


def procedure(data: bytes) -> _core.Procedure:
    """The procedure of these bytes."""
    return _core.Procedure.from_bytes(data)


def expr(data: bytes) -> _core.Expr:
    """The expression of these bytes."""
    return _core._expr_from_bytes(data)


def node(data: bytes) -> _core.Node:
    """The statement of these bytes."""
    return _core._node_from_bytes(data)


def buffer_decl(*state: object) -> _core.BufferDecl:
    """The declaration of these fields."""
    return _core._buffer_decl_from_state(*state)


def place(*state: object) -> _core.Place:
    """The place of these fields."""
    return _core._place_from_state(*state)


def diagnostic(*state: object) -> _core.Diagnostic:
    """The diagnostic of these fields."""
    return _core._diagnostic_from_state(*state)


def convention(version: int, *numbers: int) -> _core.Convention:
    """The convention of this version."""
    return getattr(_core.Convention, f"V{version}")(*numbers)
