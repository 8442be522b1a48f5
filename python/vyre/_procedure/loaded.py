"""Procedures that are values, such as those of registered operations, as functions: they run, and other procedures
invoke them, as functions under ``@vyre.procedure`` do.
"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from vyre import _core
from vyre._kernel.parameters import Parameter
from vyre._procedure.procedure import ProcedureFunction
from vyre._procedure.recorded import Recorded, trail_of

if TYPE_CHECKING:
    from vyre._core import OpSpec, Procedure

__all__ = ["LoadedFunction"]

_KINDS = {"input": "In", "in_out": "InOut", "number": "scalar"}


class LoadedFunction(ProcedureFunction):
    """A procedure as a function: its parameters are its inputs and in_outs, then its numbers.

    ``spec`` is the registered operation that it is of.
    """

    def __init__(self, procedure: Procedure, spec: OpSpec | None = None) -> None:
        procedure.check()
        self._spec = spec
        self.name = self.__name__ = self.__qualname__ = procedure.name if spec is None else spec.id
        self._operation = "" if spec is None else f"{spec.id}@{spec.version}"
        self.__doc__ = None
        self.is_vouched = False
        self._launch: Any = None
        self._lock = threading.Lock()
        rows = _core._procedure_interface(procedure)
        self._parameters = [Parameter(name, _KINDS[kind], element, axes) for kind, name, element, axes in rows]
        self._loaded = Recorded(procedure, trail_of(procedure))
        self._loaded.is_checked = True

    def _made_of(self) -> tuple[Any, ...]:
        return self._loaded.core, self._spec

    def _recorded(self, constants: dict[str, Any], *, is_exact: bool = False) -> Recorded:
        return self._loaded

    def _call_text(self) -> str:
        return f"vyre.ops.invoke({', '.join([json.dumps(self.name), *(each.name for each in self._parameters)])})"
