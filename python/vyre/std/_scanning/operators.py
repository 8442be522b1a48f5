"""The operators of reductions and scans: what they compute, their identities, and whether order matters."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import vyre
from vyre import u64, vec4u32
from vyre._base.refused import must_be, must_be_one_of
from vyre._base.text import shown
from vyre._base.types import INTEGERS, RANGES, SCALARS
from vyre._core import DataType, OpLaw, OpSpec

__all__ = ["NAMES", "TYPES", "Operator", "of_vector", "operator_of", "value_of"]

# The element types of collections, by dtype.
TYPES = {dtype: element for dtype, element in INTEGERS.items() if element in SCALARS}


class Operator(NamedTuple):
    """An associative operator on elements of one type.

    Attributes:
        name: for the procedure's name.
        combine: of two values in a kernel, the first one before the second.
        identity: the element that changes nothing, or None.
        commutes: whether the order of the two does not matter.
    """

    name: str
    element: DataType
    combine: Callable[[Any, Any], Any]
    identity: int | None
    commutes: bool


def value_of(element: DataType, number: Any) -> Any:
    """A number in a kernel, of a type that is computed in 32 or 64 bits."""
    return element(number)


def of_vector(four: vec4u32, element: DataType) -> list[Any]:
    """The elements in a vector of four words, of a type of 32 or 64 bits."""
    if element.min_bytes() == 4:
        return [element(four.x), element(four.y), element(four.z), element(four.w)]
    return [u64(four.y) << 32 | u64(four.x), u64(four.w) << 32 | u64(four.z)]


_COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "mul": operator.mul,
    "min": vyre.min,
    "max": vyre.max,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}
NAMES = list(_COMBINE)


def _identity(name: str, element: DataType) -> int:
    least, greatest = RANGES[element]
    if name == "min":
        return greatest
    if name == "max":
        return least
    if name == "and":
        return -1 if least < 0 else greatest
    return 1 if name == "mul" else 0


_KNOWN: dict[tuple[Any, DataType, int | None], Operator] = {}


def operator_of(op: Any, element: DataType, identity: int | None, where: str) -> Operator:
    """The operator of this name, or of a registered operation's id, on elements of this type.

    Raises: ArgumentError for an operation that is unknown, of other types, or not registered as associative.
    """
    if not isinstance(op, str):
        raise must_be(f"argument `op` of {where}", "a str", shown(op))
    # An id means its highest version, which may be another one in the next call.
    spec = None if op in _COMBINE or "." not in op else vyre.ops.get(op)
    key = (spec or op, element, identity)
    if key not in _KNOWN:
        _KNOWN[key] = _made(op, spec, element, identity, where)
    return _KNOWN[key]


def _made(op: str, spec: OpSpec | None, element: DataType, identity: int | None, where: str) -> Operator:
    if op in _COMBINE:
        own = _identity(op, element)
        if identity is not None and identity != own:
            raise must_be(f"argument `identity` of {where}", f'{own} for "{op}"', identity)
        return Operator(op, element, _COMBINE[op], own, commutes=True)
    if spec is None:
        raise must_be_one_of(f"argument `op` of {where}", [*NAMES, "the id of a registered operation"], op)
    if spec.signature is None:
        raise must_be(
            f"argument `op` of {where}", f"an operation of two {element} that gives one", f"`{op}`, a procedure"
        )
    if list(spec.signature.inputs) != [element, element] or spec.signature.output is not element:
        raise must_be(
            f"argument `op` of {where}", f"an operation of two {element} that gives one", f"`{op}` {spec.signature!r}"
        )
    if OpLaw.Associative not in spec.laws:
        raise must_be(f"argument `op` of {where}", "an operation that is registered as associative", f"`{op}`")
    pinned = f"{spec.id}@{spec.version}"

    def combine(a: Any, b: Any) -> Any:
        return vyre.ops.call(pinned, a, b)

    return Operator(pinned, element, combine, identity, OpLaw.Commutative in spec.laws)
