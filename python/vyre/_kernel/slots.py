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
from vyre._kernel.rewriting.syntax import is_added
from vyre._kernel.values import Undefined, described, is_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre._kernel.tracer import Tracer

__all__ = ["assigned", "join", "let_slot", "new_slot"]


def new_slot(tracer: Tracer, name: str, initial: Any) -> str:
    """A variable of the Program that later statements assign."""
    slot = tracer.new_name(name)
    tracer.slots[slot] = name
    _note_start(tracer, name, initial)
    tracer.emit(let_slot(slot, tracer.group(name), initial))
    return slot


def _note_start(tracer: Tracer, name: str, initial: Any) -> None:
    if is_number(initial) and int(initial) < 0 and not is_added(name):
        tracer.starts.append((name, int(initial)))


def let_slot(slot: str, group: str, value: Any) -> Node:
    """The Let of a slot. An integer takes the type of the values that are assigned to variables of the group."""
    return _core._open_let(slot, value if type(value) is Expr else _core._open_integer(int(value), group))


def assigned(value: Any) -> Any:
    """The value as an Assign takes it, with 1 for True and 0 for False."""
    return int(value) if _is_bool(value) else value


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
    known = values
    if is_added(name):
        # A helper's result is missing on the paths that have not returned yet, and None after a bare `return`.
        known = [value for value in values if value is not None and type(value) is not Undefined]
        returns_none = any(value is None for value in values)
        if known and returns_none:
            fix = "return a value on every path"
            raise Mistake("K007", "a helper returns a value on some paths and None on others", fix)
        if not known:
            return None if returns_none else first
    elif any(type(value) is Undefined for value in values):
        if all(type(value) is Undefined for value in values):
            return first
        return Undefined(name, "is not assigned on every path that comes here")
    if all(isinstance(value, tuple) for value in known):
        return _join_tuples(tracer, name, old, paths, before)
    if all(is_number(value) for value in values) and len({(_is_bool(v), int(v)) for v in values}) == 1:
        return first
    unusable = _unusable(name, known)
    return _shared_slot(tracer, name, old, paths, before, is_item) if unusable is None else unusable


def _join_tuples(
    tracer: Tracer,
    name: str,
    old: Any,
    paths: Sequence[tuple[list[Node], Any]],
    before: list[Node],
) -> tuple[Any, ...]:
    """Join each value of tuples by itself; a path without a tuple gives none of the values."""
    known = [value for _, value in paths if isinstance(value, tuple)]
    if len({len(value) for value in known}) != 1:
        problem = f"{_what(name)} {_shapes(known)} on the paths that meet here"
        raise Mistake("K003", problem, "give it as many values on each path")
    parts = []
    for k in range(len(known[0])):
        old_part = old[k] if isinstance(old, tuple) and k < len(old) else None
        part_paths = [(nodes, value[k] if isinstance(value, tuple) else Undefined(name, "")) for nodes, value in paths]
        parts.append(join(tracer, name, old_part, part_paths, before))
    return tuple(parts)


def _unusable(name: str, known: list[Any]) -> Undefined | None:
    """What the variable is after paths whose values no slot can hold; None where a slot can."""
    for value in known:
        if type(value) is Expr or is_number(value):
            continue
        if type(value) in (list, dict) and not is_added(name):
            kind = type(value).__name__
            fix = "use a tuple, or assign the items of one list"
            return Undefined(name, f"is a Python {kind} that the paths to here do not share", fix)
        other = next(each for each in [*known, None] if each is not value)
        raise Mistake(
            "K003",
            f"{_what(name)} is {described(value)} on one path and {described(other)} on another",
            "give it an expression or an integer on every path",
        )
    return None


def _shared_slot(
    tracer: Tracer,
    name: str,
    old: Any,
    paths: Sequence[tuple[list[Node], Any]],
    before: list[Node],
    is_item: bool,
) -> Any:
    """Read a slot that each path assigns."""
    slot = tracer.new_name(name)
    tracer.slots[slot] = name
    # A path that leaves the variable as it was needs no assignment.
    begins = old if type(old) is Expr or is_number(old) else None
    _note_start(tracer, name, begins)
    # The items of a list may have several types; one variable has one.
    before.append(let_slot(slot, slot if is_item else tracer.group(name), 0 if begins is None else begins))
    for nodes, value in paths:
        if value is not begins and (type(value) is Expr or is_number(value)):
            nodes.append(Node.assign(slot, assigned(value)))
    return tracer.var(slot)


def _is_bool(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def _what(name: str) -> str:
    return "the result of the helper" if is_added(name) else f"variable `{name}`"


def _shapes(values: list[Any]) -> str:
    return " and ".join(f"has {len(value)} values" for value in values[:2])
