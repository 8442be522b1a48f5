"""Procedures that are values, such as those of registered operations, as functions: they run, and other procedures
invoke them, as functions under ``@vyre.procedure`` do.
"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from vyre import _core
from vyre._kernel.parameters import Parameter
from vyre._procedure.core import OPERATION_TEXTS
from vyre._procedure.procedure import ProcedureFunction
from vyre._procedure.sizes import Size
from vyre._procedure.sources import recording_of
from vyre._procedure.steps import ArrayDecl, Recorded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre._core import OpSpec, Procedure

__all__ = ["LoadedFunction"]

_KINDS = {"input": "In", "in_out": "InOut", "number": "scalar"}
_NAMES = {text: name for name, text in OPERATION_TEXTS.items()}
_LIMITS = ("workgroup_memory", "workgroup_invocations")


class LoadedFunction(ProcedureFunction):
    """The procedure of a registered operation as a function: its parameters are its inputs and in_outs, then its
    numbers."""

    def __init__(self, spec: OpSpec) -> None:
        procedure = spec.procedure
        assert procedure is not None
        procedure.check()
        self.name = self.__name__ = self.__qualname__ = name = spec.id
        self._operation = f"{spec.id}@{spec.version}"
        self.__doc__ = None
        self.is_vouched = False
        self._launch: Any = None
        self._lock = threading.Lock()
        rows = _core._procedure_interface(procedure)
        self._parameters = [Parameter(name, _KINDS[kind], element, axes) for kind, name, element, axes in rows]
        self._loaded = _recorded(procedure, name, rows)

    def _recorded(self, constants: dict[str, Any]) -> Recorded:
        return self._loaded

    def _call_text(self) -> str:
        return f"vyre.ops.invoke({', '.join([json.dumps(self.name), *(each.name for each in self._parameters)])})"


def _recorded(procedure: Procedure, name: str, rows: Sequence[tuple[str, str, Any, int]]) -> Recorded:
    """What recording the procedure would have kept of its interface. Its steps are the value's, and `source` has their
    lines."""
    owner = object()
    numbers = [(number, element) for kind, number, element, _ in rows if kind == "number"]
    arrays = [ArrayDecl(array, kind, element, axes) for kind, array, element, axes in rows if kind != "number"]
    given = dict(zip(_core._procedure_inputs(procedure), arrays, strict=True))
    shapes, terms = _core._procedure_output_sizes(procedure)
    sizes: list[Size | int] = []
    for text, a, b, c, literal in terms:
        if text == "literal":
            sizes.append(literal)
        elif text == "length":
            sizes.append(Size("length", given[a], b))
        elif text == "number":
            sizes.append(Size("number", numbers[a][0], owner))
        elif text == "limit":
            sizes.append(Size("limit", _LIMITS[a]))
        else:
            operands = (a, b, c)[: _core._size_operands(text)]
            sizes.append(Size(_NAMES.get(text, text), *(sizes[each] for each in operands)))
    made = [row for row in _core._procedure_interface(procedure, True) if row[0] == "output"]
    outputs = [
        ArrayDecl(array, "output", element, axes, tuple(sizes[each] for each in shape))
        for (_, array, element, axes), shape in zip(made, shapes, strict=True)
    ]
    by_name = {decl.name: decl for decl in (*arrays, *outputs)}
    results = [by_name[each] for each in _core._procedure_results(procedure)]
    return Recorded(
        name,
        [*arrays, *outputs],
        numbers,
        [],
        outputs,
        results,
        owner,
        core=procedure,
        is_checked=True,
        is_loaded=True,
        source=recording_of(procedure),
    )
