"""Slots: the variables of a Program that later statements assign, and how paths that meet share one.

A value that several paths give, or that a loop carries to its next turn, lies in a slot. ``join`` looks at what a
Python variable holds on each path. Where the paths agree there is nothing to do; otherwise a Let before them makes a
slot, each path that changed the variable assigns it, and the variable reads the slot from then on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._core import Expr, Node
from vyre._kernel.mistakes import Mistake
from vyre._kernel.values import Undefined, described, is_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre._kernel.tracer import Tracer

__all__ = ["assigned", "join", "new_slot", "start_of"]


def new_slot(tracer: Tracer, name: str, initial: Any) -> str:
    """A variable of the Program that later statements assign."""
    slot = tracer.new_name(name)
    tracer.slots[slot] = name
    _note_start(tracer, name, initial)
    if id(initial) in tracer.booleans:
        tracer.boolean_slots.add(slot)
    tracer.emit(Node.let(slot, start_of(tracer.group(name), initial)))
    return slot


def _note_start(tracer: Tracer, name: str, initial: Any) -> None:
    if is_number(initial) and int(initial) < 0 and not name.startswith("vyre$"):
        tracer.starts.append((name, int(initial)))


def start_of(name: str, value: Any) -> Any:
    """Return the first value of a slot. An integer takes the type of the values that are assigned to the variable."""
    return value if type(value) is Expr else _core._open_integer(int(value), name)


def assigned(value: Any) -> Any:
    """The value as an Assign takes it, with 1 for True and 0 for False."""
    return int(value) if isinstance(value, (bool, np.bool_)) else value


def join(
    tracer: Tracer,
    name: str,
    old: Any,
    paths: Sequence[tuple[list[Node], Any]],
    before: list[Node],
    is_item: bool = False,
) -> Any:
    """The value of a Python variable after paths that meet.

    Each path is a list of statements and the variable's value at its end. ``old`` is the value before the paths
    part, and ``before`` takes the statements that stand there.
    """
    values = [value for _, value in paths]
    first = values[0]
    if all(value is first for value in values[1:]):
        return first
    undefined = next((value for value in values if type(value) is Undefined), None)
    if undefined is not None and not name.startswith("vyre$"):
        if all(type(value) is Undefined for value in values):
            return undefined
        return Undefined(name, "is not assigned on every path that comes here")
    known = [
        value for value in values if type(value) is not Undefined and not (value is None and name.startswith("vyre$"))
    ]
    if known and any(value is None for value in values) and name.startswith("vyre$"):
        raise Mistake(
            "K007", "a helper returns a value on some paths and None on others", "return a value on every path"
        )
    if not known:  # a helper that returns nothing, on some of these paths so far
        return None if any(value is None for value in values) else first
    if all(isinstance(value, tuple) for value in known):
        if len({len(value) for value in known}) != 1:
            raise Mistake(
                "K003",
                f"{_what(name)} {_shapes(known)} on the paths that meet here",
                "give it as many values on each path",
            )
        parts = []
        for k in range(len(known[0])):
            parts.append(
                join(
                    tracer,
                    name,
                    old[k] if isinstance(old, tuple) and k < len(old) else None,
                    [(nodes, value[k] if isinstance(value, tuple) else Undefined(name, "")) for nodes, value in paths],
                    before,
                )
            )
        return tuple(parts)
    if (
        all(is_number(value) for value in values)
        and len({(isinstance(v, (bool, np.bool_)), int(v)) for v in values}) == 1
    ):
        return first
    for value in known:
        if type(value) in (list, dict) and not name.startswith("vyre$"):
            kind = type(value).__name__
            fix = "use a tuple, or assign the items of one list"
            return Undefined(name, f"is a Python {kind} that the paths to here do not share", fix)
        if type(value) is not Expr and not is_number(value):
            raise Mistake(
                "K003",
                f"{_what(name)} is {described(value)} on one path and "
                f"{described(next(v for v in [*known, None] if v is not value))} on another",
                "give it an expression or an integer on every path",
            )
    slot = tracer.new_name(name)
    tracer.slots[slot] = name
    if any(id(value) in tracer.booleans for value in values):
        tracer.boolean_slots.add(slot)
    # A path that leaves the variable as it was needs no assignment.
    begins = old if type(old) is Expr or is_number(old) else None
    _note_start(tracer, name, begins)
    # The items of a list may have several types; one variable has one.
    before.append(Node.let(slot, start_of(slot if is_item else tracer.group(name), 0 if begins is None else begins)))
    for nodes, value in paths:
        if value is not begins and (type(value) is Expr or is_number(value)):
            nodes.append(Node.assign(slot, assigned(value)))
    return tracer.var(slot)


def _what(name: str) -> str:
    return "the result of the helper" if name.startswith("vyre$") else f"variable `{name}`"


def _shapes(values: list[Any]) -> str:
    return " and ".join(f"has {len(value)} values" for value in values[:2])
