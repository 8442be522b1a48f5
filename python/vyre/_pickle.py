"""The functions that pickles name: pickle finds a module's function by its name, and cannot find C++ methods.

What calls operations of the user's is pickled with their OpSpecs (ops.py), which ``called`` finds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre import _core
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from typing import Any


def called(data: bytes, own: tuple[_core.OpSpec, ...]) -> list[_core.OpSpec]:
    """The operations that are called in a binary form, and those that their bodies call.

    Args:
        own: those of the user, in the order in which they were registered: a body calls those before its own.

    The binary form holds each id as text. An operation whose id only happens to stand in it travels too, which harms
    nothing.
    """
    needed = []
    seen = [data]
    for spec in reversed(own):
        name = spec.id.encode()
        if any(name in each for each in seen):
            needed.append(spec)
            if spec.body is not None:
                seen.append(spec.body.to_bytes())
    return needed[::-1]


def reduced_spec(spec: _core.OpSpec) -> tuple[Any, ...]:
    """Reduce an OpSpec for pickle: the arguments that make it again."""
    if spec.procedure is not None:
        return procedure_spec, (spec.id, spec.version, spec.procedure, spec.summary, spec.convention)
    return op_spec, (
        spec.id,
        spec.version,
        spec.signature,
        spec.parameters,
        _body(spec),
        {"convention": spec.convention, "summary": spec.summary, "laws": spec.laws, "examples": spec.examples},
    )


def procedure_spec(
    id: str, version: int, procedure: _core.Procedure, summary: str, convention: _core.Convention | None = None
) -> _core.OpSpec:
    """The OpSpec of a procedure: the registered one where it is the same."""
    made = _core.OpSpec(id, procedure=procedure, version=version, summary=summary, convention=convention)
    try:
        known = _core._op_get(f"{id}@{version}")
    except ArgumentError:
        return made
    return known if known == made else made


def _arguments_of(node: Any) -> tuple[Any, ...]:
    """Return the arguments from which the pickle of a statement is made again."""
    arguments: tuple[Any, ...] = node.__reduce__()[1]
    return arguments


# The bodies, in binary form, of specs that were made again and share fewer expressions than what they were made of.
_BODIES: dict[_core.OpSpec, bytes] = {}


def _body(spec: _core.OpSpec) -> bytes | None:
    if spec.body is None:
        return None
    return _BODIES.get(spec) or spec.body.to_bytes()


def op_spec(
    id: str,
    version: int,
    signature: _core.OpSignature | None,
    parameters: tuple[str, ...],
    body: bytes | None,
    others: dict[str, Any],
) -> _core.OpSpec:
    """The OpSpec of these fields: the registered one where it has the same body."""
    try:
        known = _core._op_get(f"{id}@{version}")
    except ArgumentError:
        pass
    else:
        if (known.signature, known.parameters, _body(known)) == (signature, parameters, body):
            return known
    statements: list[_core.Node] = []
    result = None
    if body is not None:
        # The last statement binds the result, and the binary form of an expression is that of such a statement.
        *statements, last = program(body).entry
        result = expr(_arguments_of(last)[0])
    made = _core.OpSpec(id, signature, parameters=parameters, body=statements, result=result, version=version, **others)
    if body is not None and made.body is not None and made.body.to_bytes() != body:
        # An expression that the result shared with earlier statements is evaluated once more, to the same value.
        _BODIES[made] = body
    return made


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


def buffer_decl(*state: Any) -> _core.BufferDecl:
    """The declaration of these fields."""
    return _core._buffer_decl_from_state(*state)


def place(*state: Any) -> _core.Place:
    """The place of these fields."""
    return _core._place_from_state(*state)


def diagnostic(*state: Any) -> _core.Diagnostic:
    """The diagnostic of these fields."""
    return _core._diagnostic_from_state(*state)


def convention(version: int, *numbers: int) -> _core.Convention:
    """The convention of this version."""
    made: _core.Convention = getattr(_core.Convention, f"V{version}")(*numbers)
    return made
