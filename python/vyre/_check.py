"""Checked execution: ``check`` runs a program on the reference and reports what it did wrong.

The core runs the program with shadow memory and gives each finding as a tuple, from which _REPORTS makes a report. A
result keeps copies of the program, the inputs and the arguments, so that ``save`` and ``replay`` repeat the run.
Results of programs and of procedures share their members (_Reported).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, overload

import numpy as np

from vyre import _core, _inputs, _replay
from vyre._calls import explain_calls
from vyre._reports import (
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
from vyre.errors import ArgumentError, BindingError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from vyre._core import Procedure, Program
    from vyre._kernel.kernel import Kernel
    from vyre._procedure.flat import StepPlace
    from vyre._procedure.procedure import ProcedureFunction

__all__ = ["CheckResult", "ProcedureCheckResult", "check", "replay"]


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
        _replay.save(self, path)


@overload
def check(
    program: Program | Kernel,
    inputs: Mapping[str, Any],
    workgroups: int | Sequence[int] | None = None,
    *,
    schedule: str | None = None,
    checks: str | Iterable[str] = "all",
    max_reports: int = 100,
    timeout: float | None = None,
) -> CheckResult: ...
@overload
def check(
    program: ProcedureFunction | Procedure,
    inputs: Mapping[str, Any],
    workgroups: None = None,
    *,
    schedule: str | None = None,
    checks: str | Iterable[str] = "all",
    max_reports: int = 100,
    timeout: float | None = None,
) -> ProcedureCheckResult: ...
def check(
    program: Program | Kernel | ProcedureFunction | Procedure,
    inputs: Mapping[str, Any],
    workgroups: int | Sequence[int] | None = None,
    *,
    schedule: str | None = None,
    checks: str | Iterable[str] = "all",
    max_reports: int = 100,
    timeout: float | None = None,
) -> Any:
    """Run a program once on the reference, and report its mistakes, also those that this run survived.

    A kernel or a procedure takes its arguments by name as ``inputs``, which is what its own ``check`` does with a call.
    The steps of a procedure run one after the other. Memory that no step has written does not count as zeros: reading
    it, or returning it, is a mistake.

    ========================  =============================================================================
    check                     finds
    ========================  =============================================================================
    ``"race"``                accesses of two invocations to one element that nothing orders
    ``"uninitialised-read"``  reads of a buffer given as a number, before any write
    ``"out-of-bounds"``       accesses beyond the end of a buffer (defined, but probably a mistake)
    ``"divergent-barrier"``   barriers that only a part of a workgroup reaches
    ``"order-dependence"``    output that changes with the order in which atomics run
    ``"promised_zeros"``      reads of workgroup and private memory before any write (not in "all")
    ========================  =============================================================================

    Two accesses race if nothing orders them, however far apart they ran. So a race is reported in every schedule in
    which both accesses are made. Whether an access is made may depend on the result of an atomic, and so on the
    schedule.

    Args:
        program: a Program that breaks no rule but V010: whether a barrier diverges is seen when it runs.
        inputs, workgroups: as vyre.run takes them. Each element of a ReadWrite array takes 56 bytes more.
        schedule: in which order invocations are taken: "in-order" (None), "reversed", or "random:<seed>".
        checks: "all", a name, or several; ["all", "promised_zeros"] is every one.
        max_reports: the most reports, 1 to 10,000; one report stands for all mistakes with the same statements and
            buffer.
        timeout: seconds that the call may take; None waits for ever.

    Returns: a CheckResult, or for a procedure a ProcedureCheckResult: ``.ok``, ``.reports``, ``.outputs``.

    Raises: ValidationError (rules but V010), BindingError, ArgumentError, CapabilityError (2^32 workgroups or more),
        DispatchTimeoutError, DivergentBarrierError (when that check is left out).

    Source: execution model, "Data Races".

    >>> import numpy as np
    >>> import vyre
    >>> @vyre.kernel(workgroup_size=4)
    ... def keep_last(last: vyre.Out[vyre.u32]):
    ...     last[0] = vyre.gid(0)
    >>> result = check(keep_last.program, {"last": 1}, 1)
    >>> result.ok
    False
    >>> race = result.reports[0]
    >>> race.buffer, race.index, race.first.invocation, race.second.invocation
    ('last', 0, (0, 0, 0), (1, 0, 0))
    >>> @vyre.kernel(workgroup_size=4)
    ... def sum_up(total: vyre.Out[vyre.u32]):
    ...     total.atomic_add(0, vyre.gid(0))
    >>> result = check(sum_up.program, {"total": 1}, 1)
    >>> result.ok, result.outputs["total"]
    (True, array([6], dtype=uint32))
    """
    options: dict[str, Any] = {
        "schedule": schedule,
        "checks": checks,
        "max_reports": max_reports,
        "timeout": timeout,
    }
    if not isinstance(program, _core.Program):
        # These modules import this one.
        from vyre._kernel.kernel import Kernel
        from vyre._procedure.check import check_call
        from vyre._procedure.flat import named_call
        from vyre._procedure.procedure import ProcedureFunction

        if isinstance(program, Kernel):
            named = _inputs.named(inputs, "vyre.check")
            for name in sorted(named.keys() & {"workgroups", *options}):
                raise BindingError(
                    f"argument `inputs` of vyre.check has {name!r}, which is an argument of vyre.check itself. "
                    f"Fix: write {name}= beside the inputs."
                )
            return program.check(**named, workgroups=workgroups, **options)
        if isinstance(program, (ProcedureFunction, _core.Procedure)):
            if workgroups is not None:
                raise ArgumentError(
                    "argument `workgroups` of vyre.check is for programs, and a procedure has the grids of its steps. "
                    "Fix: leave `workgroups` out."
                )
            named = _inputs.named(inputs, "vyre.check")
            return check_call("vyre.check", lambda: named_call(program, named, "vyre.check"), **options)
    return _checked(
        "vyre.check",
        program,
        inputs,
        workgroups,
        **options,
    )


def replay(path: str | os.PathLike[str], *, timeout: float | None = None) -> CheckResult:
    """Repeat the checked run that CheckResult.save wrote into a file: it gives the same reports.

    A file is data, and may come from anybody: the program in it runs in the reference and nowhere else. One that you do
    not trust may run for ever, so give it a timeout. Operations of your own must be registered as they were.

    Args:
        path: the file.
        timeout: seconds that the call may take; None waits for ever.

    Returns: a CheckResult.

    Raises: ParseError (not a replay file, or a later version), ArgumentError, FileError, and what vyre.check raises.

    >>> import tempfile
    >>> import vyre
    >>> from vyre import BufferDecl, Expr, Node
    >>> far = vyre.Program([BufferDecl.output("out", 0, vyre.u32)], (1, 1, 1), [Node.store("out", 7, 1)])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     vyre.check(far, {"out": 4}, 1).save(f"{folder}/far.json")
    ...     print(replay(f"{folder}/far.json").reports[0].index)
    7
    """
    program, inputs, fields = _replay.load(path)
    places = fields.pop("places")
    result = _checked("vyre.replay", program, inputs, timeout=timeout, **fields)
    return replace(result, reports=_replay.with_places(result.reports, places))


def _checked(
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
        reports=tuple(_report(row) for row in found),
        outputs=outputs,
        complete=complete,
        program=program,
        inputs=kept,
        workgroups=call[0],
        schedule=call[1],
        checks=call[2],
        max_reports=int(max_reports),
    )


def _report(row: tuple[Any, ...]) -> Report:
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
