"""What is kept of a procedure beside the core's value: what a call asks of it, and where its steps come from."""

from __future__ import annotations

from collections import deque
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakValueDictionary

from vyre import _core
from vyre._base import source as _source
from vyre._base.captured import Captures

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre._core import DataType, Procedure, Program
    from vyre._kernel.kernel import Kernel
    from vyre._procedure.sizes import Term

__all__ = ["ArrayDecl", "Line", "Recorded", "Trail", "exact_of", "line_text", "note", "record_all", "trail_of"]

# The file and the line of the call that recorded a step.
Line: TypeAlias = "tuple[str, int] | None"


def line_text(line: Line) -> str:
    """`file.py:12`, or the line of a notebook's cell; empty where it is not known."""
    if line is None:
        return ""
    place: Any = SimpleNamespace(file=line[0], line=line[1], column=None)
    return _source.describe(place, columns=False)


class ArrayDecl:
    """An array of a procedure. The role is input, in_out, output, scratch or table."""

    role: str
    name: str
    element: DataType
    axes: int
    index: int  # the core's number of it, while it is recorded

    def __init__(self, role: str, name: str, element: DataType, axes: int, index: int = -1) -> None:
        self.role, self.name, self.element, self.axes, self.index = role, name, element, axes, index


class Trail:
    """Where the steps and arrays of a procedure come from, by the core's numbers of them."""

    def __init__(self) -> None:
        self.steps: list[Line] = []
        self.arrays: list[Line] = []
        self.invoked: dict[int, Recorded] = {}  # by the step
        # The kernels that were called, the values of their constants, and the axes along which they are kept to a grid,
        # and whether that is resident.
        self.kernels: dict[Program, tuple[Kernel, dict[str, Any], tuple[tuple[int, ...], bool]]] = {}


# A value has no lines. Equal procedures are one value, so that one which was unpickled or read from text has the lines
# of an equal one that this process has recorded. The last of equal ones is meant: a file may have changed between two.
_RECORDED: WeakValueDictionary[Procedure, Recorded] = WeakValueDictionary()
# The last ones live on until the operations that their functions become are registered.
_LAST: deque[Recorded] = deque(maxlen=16)


def note(recorded: Recorded) -> Recorded:
    _RECORDED[recorded.core] = recorded
    _LAST.append(recorded)
    return recorded


def record_all() -> None:
    """Record what came from the disk: its programs have places then, and are known by their kernels."""
    while waiting := [each for each in _noted() if each.is_of_disk]:
        for each in waiting:
            each.recorded_here()


def _noted() -> list[Recorded]:
    # The references are copied at once, while other threads may record.
    return [each for each in (reference() for reference in _RECORDED.valuerefs()) if each is not None]


def exact_of(procedure: Procedure) -> Recorded | None:
    """The recording for tools that report also what has no effect; None where this process has no function of it."""
    known = _RECORDED.get(procedure)
    return None if known is None or known.exact is None else known.exact()


def trail_of(procedure: Procedure) -> Trail | None:
    """Where a procedure comes from; None where this process has not recorded it."""
    known = _RECORDED.get(procedure)
    return None if known is None else known.trail


class Recorded:
    """A Procedure as a function calls it.

    Args:
        again: records it, where it is of the disk, which has no lines.
    """

    def __init__(
        self,
        core: Procedure,
        trail: Trail | None,
        captured: Captures | None = None,
        again: Callable[[], Recorded] | None = None,
    ) -> None:
        self.core, self._trail, self._again = core, trail, again
        self.captured = Captures() if captured is None else captured
        self._here: Recorded | None = None
        self.exact: Callable[[], Recorded] | None = None  # records the same, and keeps kernels to their grids
        self.is_checked = False  # whether the Procedure keeps its rules
        self.arrays = [ArrayDecl(*row) for row in _core._procedure_interface(core, True)]
        self.outputs = self._of_role("output")
        # What a call returns: outputs and in_outs, in the order of the return statement.
        self.results = [self.arrays[k] for k in _core._procedure_results(core)]

    @property
    def is_of_disk(self) -> bool:
        return self._again is not None

    def recorded_here(self) -> Recorded:
        """An equal one, with the lines of its steps and of their programs."""
        again = self._again
        if again is not None:
            self._here = again()
            self._again = None
        return self._here or self

    @property
    def trail(self) -> Trail | None:
        return self.recorded_here()._trail

    @cached_property
    def numbers(self) -> list[tuple[str, DataType]]:
        rows = _core._procedure_interface(self.core)
        return [(name, element) for kind, name, element, _ in rows if kind == "number"]

    @cached_property
    def shapes(self) -> tuple[list[tuple[int, list[int]]], list[Term]]:
        """For each of `arrays` the core's number of it and the numbers of its sizes, and what these consist of."""
        return _core._procedure_shapes(self.core)

    def _of_role(self, *roles: str) -> list[ArrayDecl]:
        return [each for each in self.arrays if each.role in roles]
