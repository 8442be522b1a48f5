"""Mistakes that only a kernel written in Python can have: their rules, and the KernelError with a place of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre import _core
from vyre.errors import ArgumentError, KernelError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, TracebackType

__all__ = ["FRACTIONS", "RULES", "Mistake", "Spot", "kernel_error", "spot_at_instruction", "spot_of"]

# rule: what `vyre.explain` says about it. The rules of the IR (V001 and on) keep their ids in kernels.
RULES = {
    "K001": "A kernel has the statements and expressions of Python that mean something on every invocation at once: "
    "assignments, if, for, while, break, continue, return, assert, calls, and expressions of integers. Anything else "
    "is refused when the function is decorated, with the form to write instead.",
    "K002": "Every parameter of a kernel has an annotation: In, Out or InOut of an element type, a type of scalars, or "
    "const.",
    "K003": "A variable is read only where every path has assigned it, and it keeps one type. The variable of a loop "
    "is not assigned to, and it is unknown after the loop.",
    "K004": "The values that an invocation computes are unknown while the kernel is traced, so Python cannot index a "
    "list with them, use them as a length, or pass them to its own functions.",
    "K005": "Python raised an error while the kernel was traced.",
    "K006": "vyre reads the source of a kernel and of its helpers when it traces them.",
    "K007": "A helper is inlined where it is called, so it cannot call itself, and its paths return values of one "
    "shape.",
    "K008": "An array takes one index for each axis, from 0 on. In arrays are only read, Out and InOut arrays are read "
    "and written, and atomics are for arrays of U32.",
    "K009": "vyre.debug(name, value) is a statement of its own, whose arguments only read: a kernel with it gives what "
    "one without it gives.",
    "K010": "What a kernel takes by name is compared at each call, so it holds a limited number of values.",
}

FRACTIONS = "x * p // q is x times the fraction p / q"  # in a Fix, as long as there are no floats


class Spot:
    """A range of columns in a line of the user's source; columns count from 1."""

    __slots__ = ("column", "end_column", "file", "line")

    def __init__(self, file: str, line: int, column: int, end_column: int) -> None:
        self.file, self.line, self.column, self.end_column = file, line, column, end_column


class Mistake(ArgumentError):
    """A mistake whose place is where the traced function was when it was raised, unless it says another.

    Outside of a traced function, as with the arrays of a ``vyre.Builder``, users meet it as it is.
    """

    def __init__(self, rule: str, problem: str, fix: str, spot: Spot | None = None) -> None:
        super().__init__(f"{problem}. Fix: {fix}.")
        self.rule, self.problem, self.fix, self.spot = rule, problem, fix, spot


def kernel_error(path: str, mistake: Mistake, spot: Spot | None) -> KernelError:
    """The KernelError of one mistake in the kernel or helper called ``path``."""
    spot = mistake.spot or spot
    file, line, column, end = ("", 0, 0, 0) if spot is None else (spot.file, spot.line, spot.column, spot.end_column)
    place = _core._place_from_state(path.encode(), file.encode("utf-8", "surrogateescape"), line, column, end)
    message = f"vyre kernel: {mistake.problem}. Fix: {mistake.fix}."
    diagnostic = _core._diagnostic_from_state(mistake.rule, message.encode("utf-8", "backslashreplace"), place)
    return KernelError([diagnostic])


def spot_of(trace: TracebackType | None, is_traced: Callable[[object], bool]) -> Spot | None:
    """Where the innermost traced function stood when an exception left it."""
    found = None
    while trace is not None:
        code = trace.tb_frame.f_code
        if is_traced(code):
            found = _instruction(trace)
        trace = trace.tb_next
    return found


def _instruction(trace: TracebackType) -> Spot:
    return spot_at_instruction(trace.tb_frame.f_code, trace.tb_lasti, trace.tb_lineno)


def spot_at_instruction(code: CodeType, instruction: int, in_line: int) -> Spot:
    positions = getattr(code, "co_positions", None)
    if positions is not None:
        for k, (line, last, column, end) in enumerate(positions()):
            if k == instruction // 2 and line is not None and column is not None:
                return Spot(code.co_filename, line, column + 1, end + 1 if last == line and end is not None else 0)
    return Spot(code.co_filename, in_line, 0, 0)
