"""The first step of a procedure after which two backends disagree, and within it the first value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._base.calls import explain_calls
from vyre._procedure.check import Memory
from vyre._procedure.flat import StepPlace, as_array
from vyre._tools import ways as _ways
from vyre._tools.divergence import Divergence, OutputDifference
from vyre._tools.program_bisect import bisected
from vyre._tools.steps import call_on, inputs_of, runner_of
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre._procedure.flat import Call
    from vyre._tools.steps import Runner
    from vyre._tools.ways import Way

__all__ = ["ProcedureDivergence", "bisect_call", "search"]

_OWNER = "vyre.bisect"
# Up to this many steps are looked at one by one; of more steps, halves are.
_LINEAR = 64


@dataclass(frozen=True)
class ProcedureDivergence:
    """The first step of a procedure after which two backends disagree, found by ``vyre.bisect``.

    Attributes:
        output: the difference that was to be explained, in what the procedure returns or changes.
        step: the step, a StepPlace; None when its arrays agree as soon as they are looked at.
        array: what differs after it: an array of the procedure, the element, and what each backend has there.
        dispatch: where the dispatch of this step begins to differ when it runs alone, a Divergence; None when it agrees
            alone, and for steps that are no dispatch.
        note: what is known besides; empty when there is nothing.
    """

    output: OutputDifference
    step: StepPlace | None = None
    array: OutputDifference | None = None
    dispatch: Divergence | None = field(default=None)
    note: str = ""

    def __str__(self) -> str:
        names = " and ".join(self.output.values)
        if self.step is None:
            return f"{names} differ at {self.output}. {self.note}"
        lines = [f"{names} first differ after {self.step}:"]
        lines += [f"  called at {file}:{line}" for file, line in self.step.callers]
        lines += [f"  array   {self.array}", f"  output  {self.output}"]
        if self.dispatch is not None:
            lines += ["The dispatch alone, with the arrays as they are before it:"]
            lines += [f"  {line}" for line in str(self.dispatch).splitlines()]
        if self.note:
            lines.append(self.note)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from vyre._html.reports import procedure_divergence

        return procedure_divergence(self)


class _Comparison:
    """Two runners of a call, and what of their arrays can be compared."""

    def __init__(self, call: Call, runners: dict[str, Runner]) -> None:
        self.call, self.runners = call, runners

    def memory(self, count: int) -> Memory:
        """What the reference has after some steps, with what is written then."""
        memory = Memory(self.call)
        for step in self.call.steps[:count]:
            memory.run(step, None, _OWNER)
        return memory

    def used(self, count: int) -> list[int]:
        """The arrays that the first steps write."""
        arrays = {part.array for step in self.call.steps[:count] for part in step.written()}
        return sorted(arrays)

    def difference(self, count: int, arrays: Sequence[int]) -> OutputDifference | None:
        """The first written element that differs after `count` steps."""
        if not arrays:
            return None
        (one, left), (two, right) = ((name, each.state(count, arrays)) for name, each in self.runners.items())
        if all(np.array_equal(a, b) for a, b in zip(left, right, strict=True)):
            return None
        marks = self.memory(count).written
        for index, a, b in zip(arrays, left, right, strict=True):
            differs = a != b
            written = marks[index]
            if written is not None:
                differs = differs & (written != 0)
            if differs.any():
                array = self.call.arrays[index]
                at = int(np.flatnonzero(differs)[0])
                whole = len(a) // array.width * array.width
                first, second = (as_array(each[:whole], array.element, (-1,)).reshape(-1) for each in (a, b))
                at = at // first.dtype.itemsize if array.element is not _core.DataType.Bool else at // 4
                return OutputDifference(array.name, at, {one: first[at].item(), two: second[at].item()})
        return None


def search(
    call: Call, runners: dict[str, Runner]
) -> tuple[OutputDifference, int | None, OutputDifference | None] | None:
    """The difference in the results; the number of steps after which arrays first differ, None where looking at them
    makes them agree; and what differs then. None when the results are equal."""
    compared = _Comparison(call, runners)
    steps = len(call.steps)
    results = [index for _, index, _, _ in call.results]
    output = compared.difference(steps, results)
    if output is None:
        return None
    low, high = 0, steps
    if compared.difference(steps, compared.used(steps)) is None:
        return output, None, None
    if steps <= _LINEAR:
        high = next(k for k in range(1, steps + 1) if compared.difference(k, compared.used(k)) is not None)
    else:
        while high - low > 1:
            middle = (low + high) // 2
            if compared.difference(middle, compared.used(middle)) is None:
                low = middle
            else:
                high = middle
    return output, high, compared.difference(high, compared.used(high))


def bisect_call(
    make_call: Callable[[str, int], Call], backend: Way | None, against: Way, timeout: float | None
) -> ProcedureDivergence | None:
    """vyre.bisect for a procedure; ``make_call`` gives the call with the limits of a device."""
    ways: dict[str, Any] = {}
    for argument, given in (("backend", backend), ("against", against)):
        name, way = _ways.way(given, argument, _OWNER, timeout)
        ways[f"{name} ({argument})" if name in ways else name] = way
    calls = [call_on(way, make_call) for way in ways.values()]
    forms = [[(step.kind, step.program, step.bound, step.grid) for step in call.steps] for call in calls]
    if forms[0] != forms[1]:
        raise ArgumentError(
            f"the procedure takes other steps on {' than on '.join(ways)}, because it asks for limits of the device. "
            "Fix: bisect it on two backends with the same limits, or without vyre.limit."
        )
    call = calls[1]
    runners = {name: runner_of(way, each) for (name, way), each in zip(ways.items(), calls, strict=True)}
    found = search(call, runners)
    if found is None:
        return None
    output, count, array = found
    if count is None:
        return ProcedureDivergence(
            output,
            note="All arrays agree after every step as soon as each is looked at, which gives each memory of its own: "
            "look for arrays that share scratch memory. Fix: report the procedure with its text.",
        )
    step = call.steps[count - 1]
    return ProcedureDivergence(output, step.place, array, *_alone(call, count, ways, timeout))


def _alone(call: Call, count: int, ways: dict[str, Any], timeout: float | None) -> tuple[Divergence | None, str]:
    """Where the dispatch of a step begins to differ by itself, and a note."""
    step = call.steps[count - 1]
    if step.kind != "dispatch":
        return None, "The step is no dispatch. Fix: report the procedure with its text."
    memory = Memory(call)
    for before in call.steps[: count - 1]:
        memory.run(before, None, _OWNER)
    assert step.program is not None
    found = bisected(step.program, inputs_of(step, memory), memory.groups(step), dict(ways), timeout)
    if found is None:
        return None, (
            "The dispatch agrees when it runs alone with the arrays as the reference has them before it: what differs "
            "is how steps follow one another. Fix: report the procedure with its text."
        )
    return found, ""


explain_calls(globals(), "vyre")
