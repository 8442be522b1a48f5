"""The recording of a procedure's body: its arrays and steps, and the thread's recording."""

from __future__ import annotations

import contextlib
import sys
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._base import source as _source
from vyre._base.held import is_of_std
from vyre._base.refused import must_be, must_have
from vyre._base.text import type_of
from vyre._base.types import OF_DTYPE
from vyre._core import Array
from vyre._kernel.recording import is_tracing
from vyre._procedure.arrays import ProcedureArray
from vyre._procedure.recorded import ArrayDecl, Trail, line_text
from vyre._procedure.sizes import Home, Size
from vyre.errors import ArgumentError, BindingError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from vyre._core import DataType, Procedure
    from vyre._procedure.recorded import Line

__all__ = ["ACTIVE", "Recorder", "active", "calling_line", "place_text", "recorder_of"]

# The private modules of the package, and the one that calls registered procedures: no procedure is written in one.
_OURS = f"{_source.PACKAGE}_", f"{_source.PACKAGE}ops.py"
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
        if is_of_std(file):
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


class Recorder(Home):
    """Records the arrays and steps of one procedure in the core's builder."""

    function: Any
    outer: Recorder | None
    is_exact: bool  # see ProcedureFunction._recorded
    count: int

    def __init__(self, name: str, function: Any, outer: Recorder | None, is_exact: bool = False) -> None:
        super().__init__(name)
        self.function, self.outer, self.is_exact = function, outer, is_exact
        # The numpy arrays that are tables, by their ids, each with its copy; None if it had several contents.
        self.copied: dict[int, tuple[np.ndarray, np.ndarray | None]] = {}
        self.known: tuple[dict[int, tuple[np.ndarray, np.ndarray | None]], ...] = ()  # of earlier recordings
        self.trail: Trail = Trail()
        self._numbered: dict[str, int] = {}  # the names of arrays, and the number for the next of that name
        self._tables: dict[Any, tuple[ArrayDecl, np.ndarray]] = {}  # by type, shape and digest
        self._word_uses: dict[Any, int] = {}
        self.count = 0
        self.depth: int = 0  # of blocks
        # The block that has ended as the last step and whose end is not recorded yet, because vyre.otherwise may follow
        # "when"; "begun" where that has begun and has no step yet.
        self.ended: str = ""
        self.signed: set[int] = set()  # the numbers of type i32, which may be negative
        self.left = False  # whether a loop over vyre.times was left by break or return
        self.is_cut = False  # whether an exception left a block of a condition
        # Blocks that have not begun, each behind a value that keeps its id: the call's text and its line.
        self.waiting: dict[int, tuple[Any, str, Line]] = {}

    def step(self, line: Line, add: Callable[..., Any], *args: Any) -> Any:
        """Record a step, which a method of the builder adds."""
        if self.left:
            raise self._left()
        if self.count == _MOST_STEPS:
            raise ArgumentError(
                f"procedure `{self.name}` has more than {_MOST_STEPS} steps. Fix: repeat with vyre.times(count)."
            )
        self.count += 1
        self._record_end()
        self.made.line(line_text(line))
        result = add(*args)
        self.trail.steps.append(line)
        return result

    def open(self, line: Line, add: Callable[..., Any], size: Size | int, *args: Any) -> Any:
        """Record a step whose block begins."""
        if self.depth == _MOST_NESTED:
            raise ArgumentError(
                f"procedure `{self.name}` nests vyre.when and vyre.times deeper than {_MOST_NESTED}. "
                "Fix: move the inner part into a procedure of its own."
            )
        result = self.step(line, add, self.used(size), *args)
        self.depth += 1
        return result

    def close(self, block: str) -> None:
        """End a block of "times", "when" or "otherwise"."""
        self.depth -= 1
        if self.ended != "begun":
            self._record_end()
        self.ended = block

    def _record_end(self) -> None:
        if self.ended:
            self.made.otherwise() if self.ended == "begun" else self.made.end()
            self.trail.steps.append(None)
        self.ended = ""

    def finish(self) -> Procedure:
        self._record_end()
        return self.made.finish()

    def word_uses(self, uses: tuple[tuple[str, str], ...]) -> int | None:
        if uses not in self._word_uses:
            self._word_uses[uses] = self.made.word_uses(uses)
        return self._word_uses[uses] if uses else None

    def declare(
        self,
        name: str,
        role: str,
        element: DataType,
        shape: tuple[Size | int, ...] | int,
        zeros: bool = False,
        contents: np.ndarray | None = None,
        line: Line = None,
    ) -> ProcedureArray:
        """A new array. The shape of an input is the number of its axes."""
        if name in self._numbered:
            base, k = name, self._numbered[name]
            while f"{base}{k}" in self._numbered:
                k += 1
            self._numbered[base] = k + 1
            name = f"{base}{k}"
        self._numbered[name] = 1
        axes, sizes = (shape, ()) if isinstance(shape, int) else (len(shape), shape)
        if any(isinstance(each, Size) and each._turn for each in sizes):
            raise self.outside()
        numbers = [self.number_of(each) for each in sizes]
        index = self.made.array(
            name, role, element, axes, numbers, zeros, contents if contents is None else contents.tobytes()
        )
        decl = ArrayDecl(role, name, element, axes, index)
        self.arrays.append(decl)
        self.trail.arrays.append(line)
        if isinstance(shape, int):
            shape = tuple(Size(self, self.made.length(index, axis)) for axis in range(axes))
        return ProcedureArray(self, decl, element, shape)

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
            raise must_have("a table of a procedure", f"elements of {', '.join(OF_DTYPE)}", values.dtype, BindingError)
        from hashlib import sha256  # few procedures have tables, and it takes milliseconds to import

        key = element, values.shape, sha256(values.data).digest()
        if key not in self._tables:
            kept = values.copy()
            kept.flags.writeable = False
            self._tables[key] = self.declare(name, "table", element, kept.shape, contents=kept)._decl, kept
        decl, contents = self._tables[key]
        first = self.copied.setdefault(id(given), (given, contents))
        if first[1] is not contents:
            self.copied[id(given)] = given, None
        return ProcedureArray(self, decl, element, contents.shape)

    def refuse_lost_steps(self) -> None:
        """Raise ArgumentError where a block that the body asked for has not the steps that stand in it."""
        if self.left or self.depth:
            raise self._left()
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

    def _left(self) -> ArgumentError:
        return ArgumentError(
            f"procedure `{self.name}` leaves a loop over vyre.times by break or return, and each turn runs all "
            "steps. Fix: write `with vyre.when(condition):` in the loop, and return behind it."
        )

    def array(self, value: Any, where: str) -> ProcedureArray:
        """An argument that must be an array of this procedure, or a table."""
        if isinstance(value, np.ndarray):
            return self.table(value, "table")
        if isinstance(value, Array):
            raise must_be(where, "an array of the procedure", "a vyre.Array", BindingError)
        if not isinstance(value, ProcedureArray):
            raise must_be(where, "an array of the procedure", type_of(value), BindingError)
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
