"""What a checked run gives: its reports, made of the tuples in which the core tells its findings, and its outputs.

A result keeps copies of the program, the inputs and the arguments, so that ``save`` and ``vyre.replay`` repeat the run.
Results of programs and of procedures share their members (_Reported).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from vyre import _core
from vyre._arrays import inputs as _inputs
from vyre._arrays import replay
from vyre._arrays.reports import (
    BarrierStop,
    DivergentBarrierReport,
    OrderDependenceReport,
    OutOfBoundsReport,
    PromisedZeroReport,
    RaceReport,
    Report,
    UninitialisedReadReport,
    Witness,
)
from vyre._base.calls import explain_calls
from vyre.errors import ArgumentError, CheckError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from vyre._core import Procedure, Program
    from vyre._procedure.flat import StepPlace

__all__ = ["CheckResult", "ProcedureCheckResult"]


class _Reported:
    """The members that all results of checked runs have."""

    reports: tuple[Report, ...]
    complete: bool
    checks: tuple[str, ...]
    max_reports: int

    @property
    def ok(self) -> bool:
        """True if the run made no mistake."""
        return not self.reports

    def __bool__(self) -> bool:
        raise ArgumentError("a CheckResult has no truth value. Fix: write result.ok, or look at result.reports.")

    def _title(self) -> str:
        usual = [name for name, _, is_usual in _core._tables["checks"] if is_usual]
        others = [name for name in self.checks if name not in usual]
        checks = ", ".join(["all", *others] if len(self.checks) - len(others) == len(usual) else self.checks)
        found = len(self.reports)
        what = "nothing was found" if self.ok else f"{found} {'mistake was' if found == 1 else 'mistakes were'} found"
        if not self.complete:
            what += f", and there are more than max_reports={self.max_reports}"
        return f"checks ({checks}): {what}."

    def __str__(self) -> str:
        return "\n".join([self._title(), *map(str, self.reports)])

    def _repr_html_(self) -> str:
        from vyre._html.reports import result

        return result(self)


@dataclass(frozen=True, eq=False)
class ProcedureCheckResult(_Reported):
    """The result of a checked run of a procedure: its reports, each with its step, and its outputs.

    Attributes:
        reports: what was found, by step; empty when nothing was.
        outputs: the outputs and in_outs by name. Elements that no step wrote are zeros.
        complete: False when there was more to report than ``max_reports``.
        procedure: the Procedure.
        steps: its steps for these arrays, each a StepPlace.
        schedule, checks, max_reports: of the call, as it was made.

    ``bool(result)`` is not defined: write ``result.ok``.
    """

    reports: tuple[Report, ...]
    outputs: dict[str, np.ndarray] = field(repr=False)
    complete: bool
    procedure: Procedure
    steps: tuple[StepPlace, ...] = field(repr=False)
    schedule: str
    checks: tuple[str, ...]
    max_reports: int


@dataclass(frozen=True, eq=False)
class CheckResult(_Reported):
    """The result of a checked run: its reports and its outputs.

    Attributes:
        reports: what was found, by kind and then in program order; empty when nothing was.
        outputs: what ``vyre.run`` would have returned; workgroups that a divergent barrier ended are unfinished.
        complete: False when there was more to report than ``max_reports``.
        program, inputs, workgroups, schedule, checks, max_reports: the call, as it was made.

    ``bool(result)`` is not defined: write ``result.ok``. ``result.save(path)`` writes the call into a file that
    vyre.replay reads.
    """

    reports: tuple[Report, ...]
    outputs: dict[str, np.ndarray] = field(repr=False)
    complete: bool
    program: Program = field(repr=False)
    inputs: dict[str, Any] = field(repr=False)
    workgroups: tuple[int, int, int]
    schedule: str
    checks: tuple[str, ...]
    max_reports: int

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a replay file: program, inputs, grid and checks as JSON, from which vyre.replay repeats the call.

        Args:
            path: where to; a file there is replaced.

        Raises: ArgumentError (not a path), FileError.

        >>> import tempfile
        >>> import vyre
        >>> from vyre import BufferDecl, Expr, Node
        >>> far = vyre.Program([BufferDecl.output("out", 0, vyre.u32)], (1, 1, 1), [Node.store("out", 7, 1)])
        >>> result = vyre.check(far, {"out": 4}, 1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.save(f"{folder}/far.json")
        ...     vyre.replay(f"{folder}/far.json").reports == result.reports
        True
        """
        replay.save(self, path)


CheckError._kinds = CheckResult, ProcedureCheckResult


def checked(
    function: str,
    program: Program,
    inputs: Mapping[str, Any],
    workgroups: int | Sequence[int] | None,
    *,
    schedule: str | None,
    checks: str | Iterable[str],
    max_reports: int,
    timeout: float | None,
) -> CheckResult:
    named = _inputs.named(inputs, function)
    # The arrays are copied before the run, because the caller may write to them afterwards.
    kept = _inputs.copied(named, function)
    outputs, found, complete, call = _core._check(
        program, named, workgroups, timeout, schedule, checks, max_reports, function
    )
    return CheckResult(
        reports=tuple(report_of(row) for row in found),
        outputs=outputs,
        complete=complete,
        program=program,
        inputs=kept,
        workgroups=call[0],
        schedule=call[1],
        checks=call[2],
        max_reports=int(max_reports),
    )


def report_of(row: tuple[Any, ...]) -> Report:
    return _REPORTS[row[0]](*row[1:])


def _divergent(workgroup: tuple[int, int, int], stops: tuple[tuple[Any, ...], ...], count: int) -> Report:
    return DivergentBarrierReport(workgroup, tuple(BarrierStop(*stop) for stop in stops), count)


# Each check has a function that builds its report from the core's tuple.
_REPORTS: dict[str, Callable[..., Report]] = {
    "race": lambda buffer, index, first, second, count: RaceReport(
        buffer, index, Witness(*first), Witness(*second), count
    ),
    "uninitialised-read": lambda buffer, index, witness, count: UninitialisedReadReport(
        buffer, index, Witness(*witness), count
    ),
    "out-of-bounds": lambda buffer, index, length, witness, count: OutOfBoundsReport(
        buffer, index, length, Witness(*witness), count
    ),
    "divergent-barrier": _divergent,
    "order-dependence": OrderDependenceReport,
    "promised_zeros": lambda buffer, index, witness, count: PromisedZeroReport(buffer, index, Witness(*witness), count),
}


explain_calls(globals())
