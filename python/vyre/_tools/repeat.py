"""``repeat`` runs a program several times on one backend and compares the bytes of the runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._arrays import inputs as _inputs
from vyre._base.calls import explain_calls
from vyre._base.refused import must_be, no_place
from vyre._base.text import shown
from vyre._core import Procedure
from vyre._default import place
from vyre._devices import Device, backends, devices
from vyre._kernel.kernel import Kernel
from vyre._procedure.flat import named_call
from vyre._procedure.procedure import ProcedureFunction
from vyre._tools.called import of_kernel
from vyre._tools.steps import call_on, runner_of
from vyre._tools.ways import Function, Run, differing
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vyre._core import Program
    from vyre._tools.ways import Runner

__all__ = ["RepeatResult", "RunDifference", "repeat"]

MOST_TIMES = 1_000_000
# The program between two runs leaves ones in storage and in workgroup memory, where a backend may forget the zeros.
_BETWEEN = """vyre 1
workgroup_size 64 1 1
buffer dirt: read_write u32 binding 0 output
buffer tile: workgroup u32 count 2048

loop k in 0..32 {
  tile[(k * 64) + lid.x] = 4294967295 - k
}
barrier
dirt[gid.x] = tile[lid.x * 31] | 2863311530
"""
_MOST_DIRT = 1 << 18  # elements


@dataclass(frozen=True)
class RunDifference:
    """The first element that another run gave otherwise than the first run.

    Attributes:
        buffer: its name.
        index: of the element in C order; lanes of vectors count one by one.
        values: what the first run gave there, and what the other one gave.
        runs: the numbers of both runs, counted from 1.
        schedules: the orders in which the reference took invocations in both runs; None for other backends.
        count, size: how many elements of the buffer differ, and how many it has.
    """

    buffer: str
    index: int
    values: tuple[Any, Any]
    runs: tuple[int, int]
    schedules: tuple[str, str] | None
    count: int
    size: int

    def __str__(self) -> str:
        (first, other), (one, two) = self.values, self.runs
        of_one, of_two = ("", "") if self.schedules is None else (f" ({order})" for order in self.schedules)
        return (
            f"run {two}{of_two} differs from run {one}{of_one}: `{self.buffer}`[{self.index}] is {other} in run {two} "
            f"and {first} in run {one}; {self.count} of {self.size} elements differ"
        )


@dataclass(frozen=True, eq=False)
class RepeatResult:
    """The result of running a program several times.

    Attributes:
        backend: where it ran.
        times: how many runs were made; a difference ends them.
        difference: the first difference, or None when all runs gave the same bytes.
        outputs: what the first run gave.

    ``bool(result)`` is not defined: write ``result.ok``.
    """

    backend: str
    times: int
    difference: RunDifference | None
    outputs: dict[str, np.ndarray] = field(repr=False)

    @property
    def ok(self) -> bool:
        """Whether all runs gave the same bytes."""
        return self.difference is None

    def __bool__(self) -> bool:
        raise ArgumentError("a RepeatResult has no truth value. Fix: write result.ok, or look at result.difference.")

    def __str__(self) -> str:
        if self.difference is None:
            orders = f" in {self.times} orders of invocations" if self.backend == "reference" else ""
            return f"{self.backend}: {self.times} runs{orders} gave the same bytes."
        return (
            f"{self.backend}: {self.difference}. Fix: look for a race or an order-dependence with vyre.check, which "
            "takes the same arguments; if it finds none, report the program, for the backend is wrong."
        )

    def _repr_html_(self) -> str:
        from vyre._html.reports import repetition

        return repetition(self)


def repeat(
    program: Program | Kernel | ProcedureFunction | Procedure,
    inputs: Mapping[str, Any],
    workgroups: int | Sequence[int] | None = None,
    *,
    times: int = 10,
    backend: str | Runner | None = None,
    device: int | Device | None = None,
    timeout: float | None = None,
) -> RepeatResult:
    """Run a program with the same inputs several times on one backend, and compare every run with the first.

    Between two runs another program runs there, which leaves ones in storage and workgroup memory. The reference takes
    invocations in order, then reversed, then at random, in another order each time. What differs from run to run has
    a race or uses the results of atomics, which vyre.check finds; or the backend is wrong.

    A kernel or a procedure takes its arguments by name as ``inputs``.

    Args:
        program, inputs, workgroups: as for vyre.check.
        times: how many runs, from 2 to 1,000,000. The first that differs ends them.
        backend: a name, None for the best one here, or a function of (program, inputs, workgroups) that gives the
            ReadWrite buffers by name.
        device: as for vyre.run.
        timeout: seconds that each run may take, on the reference each step of a procedure; None waits for ever. A
            function does not get it.

    Returns: a RepeatResult: ``.ok``, ``.difference``, ``.outputs``.

    Raises: ArgumentError, and what vyre.run raises.

    Source: execution model, "Data Races": running the same input multiple times.

    >>> import vyre
    >>> @vyre.kernel(workgroup_size=4)
    ... def keep_last(last: vyre.Out[vyre.u32]):
    ...     last[0] = vyre.gid(0)
    >>> result = repeat(keep_last.program, {"last": 1}, 1, backend="reference")
    >>> result.ok
    False
    >>> result.difference.values, result.difference.runs, result.difference.schedules
    ((3, 0), (1, 2), ('in-order', 'reversed'))
    >>> @vyre.kernel(workgroup_size=4)
    ... def keep_own(own: vyre.Out[vyre.u32]):
    ...     own[vyre.gid(0)] = vyre.gid(0)
    >>> print(repeat(keep_own.program, {"own": 4}, 1, backend="reference"))
    reference: 10 runs in 10 orders of invocations gave the same bytes.
    """
    if isinstance(times, bool) or not isinstance(times, int) or not 2 <= times <= MOST_TIMES:
        raise must_be("argument `times` of vyre.repeat", f"an integer from 2 to {MOST_TIMES}", shown(times))
    name, runner = _place(backend, device, timeout)
    once = _once(program, _inputs.named(inputs, "vyre.repeat"), workgroups, runner)
    between = _core.parse(_BETWEEN)
    first: dict[str, np.ndarray] = {}
    for number in range(1, times + 1):
        schedule = _schedule(number) if name == "reference" else None
        outputs = once(schedule)
        if number == 1:
            first = outputs
            dirt = min(max(sum(array.nbytes // 4 for array in first.values()), 64), _MOST_DIRT)
        elif difference := _difference(first, outputs, number, name == "reference"):
            return RepeatResult(name, number, difference, first)
        if number < times:
            runner(between, {"dirt": dirt}, dirt // 64, schedule=schedule)
    return RepeatResult(name, times, None, first)


def _once(
    program: Any, inputs: Mapping[str, Any], workgroups: Any, runner: Run | Function
) -> Callable[[str | None], dict[str, np.ndarray]]:
    """What makes a run, of which the reference takes invocations in this order."""
    if not isinstance(program, (ProcedureFunction, Procedure)):
        call = of_kernel(program, inputs, workgroups, "vyre.repeat") if isinstance(program, Kernel) else None
        program, inputs, workgroups = call or (program, inputs, workgroups)
        return lambda schedule: runner(program, inputs, workgroups, schedule=schedule)
    if workgroups is not None:
        raise no_place("argument `workgroups` of vyre.repeat", "for a procedure")
    kept = _inputs.copied(inputs, "vyre.repeat")
    flat = call_on(runner, lambda name, device: named_call(program, kept, "vyre.repeat", name, device))
    results = [index for _, index, _, _ in flat.results]

    def run(schedule: str | None) -> dict[str, np.ndarray]:
        state = runner_of(runner, flat, schedule).state(len(flat.steps), results)
        return flat.outputs(dict(zip(results, state, strict=True)))

    return run


def _schedule(number: int) -> str:
    """The order in which the reference takes invocations in a run."""
    return {1: "in-order", 2: "reversed"}.get(number, f"random:{number}")


def _place(
    backend: str | Runner | None, device: int | Device | None, timeout: float | None
) -> tuple[str, Run | Function]:
    """The name of a place, and what runs a program there."""
    if callable(backend):
        if device is not None:
            raise no_place("argument `device` of vyre.repeat", "beside a function")
        function = Function(backend, "backend", "vyre.repeat")
        return function.name, function
    backend, device = place(backend, device)
    if isinstance(device, Device):
        name = device.backend
    elif backend is None:
        listed = devices()
        name = listed[device].backend if isinstance(device, int) and 0 <= device < len(listed) else backends()[0]
    else:
        # The first run refuses a value that is no name.
        name = backend if isinstance(backend, str) else ""
    return name, Run("vyre.repeat", timeout, backend=backend, device=device)


def _difference(
    first: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray], number: int, ordered: bool
) -> RunDifference | None:
    for buffer, before in first.items():
        after = outputs[buffer]
        different = np.flatnonzero(differing(before, after))
        if different.size:
            index = int(different[0])
            values = (before.reshape(-1)[index].item(), after.reshape(-1)[index].item())
            schedules = (_schedule(1), _schedule(number)) if ordered else None
            return RunDifference(buffer, index, values, (1, number), schedules, int(different.size), before.size)
    return None


explain_calls(globals())
