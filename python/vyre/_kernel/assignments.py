"""Where the user assigned what a branch or a loop passes on: the place of a mistake about its type.

Where paths meet, an assignment of the Program joins what they assigned; it stands at the `if` or at the loop. The value
is a variable that the source has assigned to another one, and a second trace tells where. So it does for a negative
integer with which such a variable begins. Only errors need it.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from vyre import _core
from vyre._kernel.mistakes import Spot, spot_at_instruction
from vyre._kernel.parts import parts_of
from vyre._kernel.values import is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from vyre._core import Program
    from vyre._kernel.tracer import Tracer

__all__ = ["Spots", "at_assignments", "at_spot", "note_lets"]

Spots = dict[tuple[str, "str | int"], Spot]
"""Where a Python variable is assigned: by its name, and the variable of the Program or the integer that it is given."""

_TYPE_OF_AN_ASSIGNMENT = "V028"
_STEP = r"(\w+)\[(\d+)\]"


def note_lets(tracer: Tracer, is_traced: Callable[[object], bool]) -> Spots:
    """Where the traced function assigns, filled while the tracer works."""
    spots: Spots = {}
    emit = tracer.let

    def let(name: str, value: Any) -> Any:
        made = emit(name, value)
        variable = tracer.variables.get(id(made))
        given = int(value) if is_number(value) else None if variable is None else variable[0]
        frame = sys._getframe(1)
        while frame is not None and not is_traced(frame.f_code):
            frame = frame.f_back  # type: ignore[assignment]
        if given is not None and frame is not None:
            spots.setdefault((name, given), spot_at_instruction(frame.f_code, frame.f_lasti, frame.f_lineno))
        return made

    tracer.let = let  # type: ignore[method-assign]
    return spots


def at_assignments(
    diagnostics: Iterable[Any], program: Program, slots: Mapping[str, str], spots: Callable[[], Spots]
) -> list[Any]:
    """The diagnostics, those about an assignment that joins paths at the place of what it joins.

    ``slots`` has the Python variable of each variable that is assigned.
    """
    made = []
    for each in diagnostics:
        found = _assigned(program, each.place.path) if each.rule == _TYPE_OF_AN_ASSIGNMENT else None
        spot = None if found is None else spots().get((slots.get(found[0], found[0]), found[1]))
        made.append(each if found is None or spot is None else at_spot(each, spot, isinstance(found[1], int)))
    return made


def at_spot(diagnostic: Any, spot: Spot, is_integer: bool = False) -> Any:
    """The diagnostic at another place of the source; about an integer, which no cast takes, without its hint."""
    file = spot.file.encode("utf-8", "surrogateescape")
    path = diagnostic.place.path.encode()
    place = _core._place_from_state(path, file, spot.line, spot.column, spot.end_column)
    return _core._diagnostic_from_state(
        diagnostic.rule, diagnostic.message.encode(), place, b"" if is_integer else diagnostic.hint.encode()
    )


def _assigned(program: Program, path: str) -> tuple[str, str | int] | None:
    """The variable that the Assign at a path assigns, and the one that it takes its value from, or the integer."""
    exprs, statements = parts_of(program)
    found = None
    for which, number in re.findall(_STEP, path):
        if which not in ("entry", "then", "body", "otherwise"):
            return None
        if found is not None:
            statements = found.otherwise if which == "otherwise" else found.body
        if int(number) >= len(statements):
            return None
        found = statements[int(number)]
    if found is None or found.kind != "Assign":
        return None
    value = exprs[found.exprs[0]]
    if value.kind == "Literal":
        return found.name, value.value
    return (found.name, value.name) if value.kind == "Var" else None
