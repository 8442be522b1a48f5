"""Checked execution: ``check`` runs a program on the reference and reports what it did wrong; ``replay`` repeats that.

_arrays/checked.py has the results, and the run itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, overload

from vyre import _core
from vyre._arrays import inputs as _inputs
from vyre._arrays import replay as _replay
from vyre._arrays.checked import CheckResult, ProcedureCheckResult, checked
from vyre._base.calls import explain_calls
from vyre._base.refused import no_place
from vyre._kernel.kernel import Kernel
from vyre._procedure.check import check_call
from vyre._procedure.flat import named_call
from vyre._procedure.procedure import ProcedureFunction
from vyre._tools.called import refuse_own

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from vyre._core import Procedure, Program

__all__ = ["CheckResult", "ProcedureCheckResult", "check", "replay"]


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
        if isinstance(program, Kernel):
            named = _inputs.named(inputs, "vyre.check")
            refuse_own(named, {"workgroups", *options}, "vyre.check")
            return program.check(**named, workgroups=workgroups, **options)
        if isinstance(program, (ProcedureFunction, _core.Procedure)):
            if workgroups is not None:
                raise no_place("argument `workgroups` of vyre.check", "for a procedure")
            named = _inputs.named(inputs, "vyre.check")
            return check_call("vyre.check", lambda: named_call(program, named, "vyre.check", is_exact=True), **options)
    return checked(
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
    result = checked("vyre.replay", program, inputs, timeout=timeout, **fields)
    return replace(result, reports=_replay.with_places(result.reports, places))


explain_calls(globals())
