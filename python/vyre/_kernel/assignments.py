"""Where the user assigned what a branch or a loop passes on: the place of a mistake about its type.

Where paths meet, an assignment of the Program joins what they assigned; it stands at the `if` or at the loop. The value
is a variable that an assignment of the source has made, and a second trace tells where. Only errors need it.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from vyre import _core
from vyre._kernel.mistakes import Spot, spot_at_instruction
from vyre._kernel.wire import read_wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from vyre._core import Program
    from vyre._kernel.tracer import Tracer

__all__ = ["at_assignments", "note_lets"]

_TYPE_OF_AN_ASSIGNMENT = "V028"
_STEP = re.compile(r"(\w+)\[(\d+)\]")


def note_lets(tracer: Tracer, is_traced: Callable[[object], bool]) -> dict[str, Spot]:
    """Where the traced function assigns: by the variables of the Program, filled while the tracer works."""
    spots: dict[str, Spot] = {}
    emit = tracer.let

    def let(name: str, value: Any) -> Any:
        made = emit(name, value)
        variable = tracer.variables.get(id(made))
        frame = sys._getframe(1)
        while frame is not None and not is_traced(frame.f_code):
            frame = frame.f_back  # type: ignore[assignment]
        if variable is not None and frame is not None:
            spots.setdefault(variable[0], spot_at_instruction(frame.f_code, frame.f_lasti, frame.f_lineno))
        return made

    tracer.let = let  # type: ignore[method-assign]
    return spots


def at_assignments(diagnostics: Iterable[Any], program: Program, spots: Callable[[], Mapping[str, Spot]]) -> list[Any]:
    """The diagnostics, those about an assignment that joins paths at the place of what it joins."""
    made = []
    known: Mapping[str, Spot] | None = None
    for each in diagnostics:
        name = _value_of(program, each.place.path) if each.rule == _TYPE_OF_AN_ASSIGNMENT else None
        if name is not None:
            known = spots() if known is None else known
        spot = None if name is None or known is None else known.get(name)
        if spot is not None:
            place = _core._place_from_state(
                each.place.path.encode(),
                spot.file.encode("utf-8", "surrogateescape"),
                spot.line,
                spot.column,
                spot.end_column,
            )
            each = _core._diagnostic_from_state(each.rule, each.message.encode(), place, each.hint.encode())
        made.append(each)
    return made


def _value_of(program: Program, path: str) -> str | None:
    """The variable that the Assign at a path takes its value from."""
    wire = read_wire(program)
    statements, found = wire.body, None
    for which, number in _STEP.findall(path):
        if which not in ("entry", "then", "body", "otherwise"):
            return None
        if found is not None:
            statements = found.otherwise if which == "otherwise" else found.body
        if int(number) >= len(statements):
            return None
        found = statements[int(number)]
    if found is None or found.kind != "assign":
        return None
    value = wire.exprs[found.exprs[0]]
    return value.name if value.kind == "var" else None
