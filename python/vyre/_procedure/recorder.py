"""The recording of a procedure's body: its arrays and steps, and the thread's recording."""

from __future__ import annotations

import contextlib
import hashlib
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._base import source as _source
from vyre._base.types import OF_DTYPE
from vyre._core import Array
from vyre._kernel.tracer import is_tracing
from vyre._procedure.arrays import ProcedureArray
from vyre._procedure.steps import ArrayDecl
from vyre.errors import ArgumentError, BindingError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from vyre._procedure.steps import When

__all__ = ["ACTIVE", "Recorder", "active", "calling_line", "place_text", "recorder_of"]

# The private modules of the package, and the one that calls registered procedures: no procedure is written in one.
_OURS = str(Path(__file__).parents[1] / "_"), str(Path(__file__).parents[1] / "ops.py")
_LIBRARY = str(Path(__file__).parents[1] / "std" / "_").removesuffix("_")
RECORDING = "_record"  # the method that runs the body of a procedure


def calling_line() -> tuple[str, int] | None:
    """The file and the line that call into the recording, which a report of a step names.

    In a procedure of the library that is a line of the library; where the body of another procedure calls the library,
    it is the line of that call.
    """
    frame: FrameType | None = sys._getframe(1)
    inside: tuple[str, int] | None = None
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_LIBRARY):
            inside = inside or (file, frame.f_lineno)
        elif not file.startswith((*_OURS, contextlib.__file__)):
            return file, frame.f_lineno
        elif frame.f_code.co_name == RECORDING and inside is not None:
            break
        frame = frame.f_back
    return inside


def place_text(line: tuple[str, int] | None) -> str:
    """ " at line 12 of file.py", or nothing where the line is not known."""
    return "" if line is None else f" at line {line[1]} of {_source.file_name(line[0])}"


class _Active(threading.local):
    recorder: Recorder | None = None


ACTIVE = _Active()
_MOST_ELEMENTS = 2**32 - 1
_MOST_STEPS = 100_000
_MOST_NESTED = 32


class Recorder:
    """Collects the arrays and steps of one procedure."""

    name: str
    function: Any
    outer: Recorder | None
    count: int

    def __init__(self, name: str, function: Any, outer: Recorder | None) -> None:
        self.name, self.function, self.outer = name, function, outer
        # The numpy arrays that are tables, by their ids, each with its copy; None if it had several contents.
        self.copied: dict[int, tuple[np.ndarray, np.ndarray | None]] = {}
        self.known: tuple[dict[int, tuple[np.ndarray, np.ndarray | None]], ...] = ()  # of earlier recordings
        self.arrays: list[ArrayDecl] = []
        self._numbered: dict[str, int] = {}  # the names of arrays, and the number for the next of that name
        self._tables: dict[Any, ArrayDecl] = {}  # by type, shape and digest
        self.blocks: list[list[Any]] = [[]]
        self.count = 0
        self.turns = 0
        self.signed: set[str] = set()  # the numbers of type i32, which may be negative
        self.answered: When | None = None  # the last condition whose other block began
        self.left = False  # whether a loop over vyre.times was left by break or return
        self.is_cut = False  # whether an exception left a block of a condition
        # Blocks that have not begun, each behind a value that keeps its id: the call's text and its line.
        self.waiting: dict[int, tuple[Any, str, tuple[str, int] | None]] = {}

    def add(self, step: Any) -> None:
        self.count += 1
        if self.count > _MOST_STEPS:
            raise ArgumentError(
                f"procedure `{self.name}` has more than {_MOST_STEPS} steps. Fix: repeat with vyre.times(count)."
            )
        self.blocks[-1].append(step)

    def declare(self, decl: ArrayDecl) -> ArrayDecl:
        if decl.name in self._numbered:
            name, k = decl.name, self._numbered[decl.name]
            while f"{name}{k}" in self._numbered:
                k += 1
            self._numbered[name] = k + 1
            decl.name = f"{name}{k}"
        self._numbered[decl.name] = 1
        self.arrays.append(decl)
        return decl

    def table(self, values: np.ndarray, name: str) -> ProcedureArray:
        """An array with contents, once however often it is used. An earlier recording's copy of it stays."""
        given = values
        if _core._is_masked(values):
            raise BindingError(
                "a table of a procedure is a masked array. Fix: write .filled(0) to give the masked elements a value."
            )
        if values.size > _MOST_ELEMENTS:  # before it is copied: a view that repeats elements may have any size
            raise BindingError(
                f"a table of a procedure has {values.size} elements, and an array has at most {_MOST_ELEMENTS}. "
                "Fix: process the data in parts."
            )
        seen = next((tables[id(given)][1] for tables in self.known if id(given) in tables), None)
        values = np.ascontiguousarray(values) if seen is None else seen
        element = OF_DTYPE.get(values.dtype.name)
        if element is None or not values.dtype.isnative:
            fix = "uint32" if element is None else values.dtype.name
            raise BindingError(
                f"a table of a procedure must have elements of {', '.join(OF_DTYPE)}, got {values.dtype}. "
                f"Fix: write table.astype(np.{fix})."
            )
        key = element, values.shape, hashlib.sha256(values.data).digest()
        decl = self._tables.get(key)
        if decl is None:
            kept = values.copy()
            kept.flags.writeable = False
            decl = ArrayDecl(name, "table", element, kept.ndim, kept.shape, contents=kept)
            self._tables[key] = self.declare(decl)
        first = self.copied.setdefault(id(given), (given, decl.contents))
        if first[1] is not decl.contents:
            self.copied[id(given)] = given, None
        return ProcedureArray(self, decl, element, decl.shape)

    def refuse_lost_steps(self) -> None:
        """Raise ArgumentError where a block that the body asked for has not the steps that stand in it."""
        if self.left or len(self.blocks) > 1:
            raise ArgumentError(
                f"procedure `{self.name}` leaves a loop over vyre.times by break or return, and each turn runs all "
                "steps. Fix: write `with vyre.when(condition):` in the loop, and return behind it."
            )
        if self.is_cut:
            raise ArgumentError(
                f"procedure `{self.name}` goes on after an exception has left a block of vyre.when, and what followed "
                "in the block is missing. Fix: catch the exception inside of the block, or not at all."
            )
        for _, call, line in self.waiting.values():
            fix = f"for i in {call}" if call.startswith("vyre.times") else f"with {call}"
            raise ArgumentError(
                f"procedure `{self.name}` calls {call}{place_text(line)}, and no block of steps follows. "
                f"Fix: write `{fix}:` above the steps."
            )

    @contextmanager
    def nested(self, steps: list[Any]) -> Iterator[None]:
        if len(self.blocks) > _MOST_NESTED:
            raise ArgumentError(
                f"procedure `{self.name}` nests vyre.when and vyre.times deeper than {_MOST_NESTED}. "
                "Fix: move the inner part into a procedure of its own."
            )
        self.blocks.append(steps)
        try:
            yield
        finally:
            self.blocks.pop()

    def array(self, value: Any, where: str) -> ProcedureArray:
        """An argument that must be an array of this procedure, or a table."""
        if isinstance(value, np.ndarray):
            return self.table(value, "table")
        if isinstance(value, Array):
            raise BindingError(
                f"{where} must be an array of the procedure, got a vyre.Array. Fix: make it a parameter of the "
                "procedure, or write array.numpy() for a table."
            )
        if not isinstance(value, ProcedureArray):
            raise BindingError(
                f"{where} must be an array of the procedure, got an object of type {type(value).__name__[:80]}. "
                "Fix: pass a parameter, what vyre.scratch has made, or a numpy array, which becomes a table."
            )
        if value._recorder is not self:
            raise BindingError(
                f"{where} is an array of procedure `{value._recorder.name}`, and procedure `{self.name}` is recorded. "
                "Fix: pass it as an argument."
            )
        return value


def active() -> Recorder | None:
    """The recording of this thread, unless it traces a kernel."""
    recorder = ACTIVE.recorder
    return None if recorder is None or is_tracing() else recorder


def recorder_of(function: str) -> Recorder:
    recorder = ACTIVE.recorder
    if recorder is None:
        raise ArgumentError(
            f"{function} is for the body of a procedure. Fix: call it in a function under @vyre.procedure."
        )
    return recorder
