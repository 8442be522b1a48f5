"""Checked execution of a procedure: its steps run on the reference, one after the other, and memory remembers which
bytes something has written."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._arrays.checked import ProcedureCheckResult, report_of
from vyre._arrays.reports import (
    OrderDependenceReport,
    OutOfBoundsReport,
    PromisedZeroReport,
    RaceReport,
    ReportedStep,
    UninitialisedReadReport,
    UnwrittenArrayReport,
)
from vyre._base.held import is_of_std
from vyre._base.refused import must_be
from vyre._base.text import as_count, shown
from vyre._base.types import TYPES
from vyre._procedure.flat import Part, text_of_line
from vyre.errors import BindingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from vyre._arrays.reports import Report
    from vyre._core import Place
    from vyre._procedure.flat import Call, FlatStep, StepPlace

__all__ = ["Memory", "check_call"]

_ORDER, _UNINITIALISED, _RACE = "order-dependence", "uninitialised-read", "race"
_NOTHING = "divergent-barrier"  # a check that costs nothing: for runs of which only the bytes are wanted
_MOST_REPORTS = 10_000


class Memory:
    """The arrays of a call, as the steps leave them."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.bytes, self.written = call.memory()

    def is_live(self, step: FlatStep) -> bool:
        """Whether the repetitions around a step go on."""
        return step.live is None or bool(step.live.of(self.bytes).any())

    def groups(self, step: FlatStep) -> tuple[int, int, int]:
        """The workgroups that a dispatch runs now."""
        if not self.is_live(step):
            return 0, 0, 0
        return step.grid if step.counts is None else step.groups(step.counts.of(self.bytes))

    def bound(self, step: FlatStep) -> tuple[list[np.ndarray], list[np.ndarray | None]]:
        """For each buffer that a dispatch binds its bytes, and which of them are written."""
        arrays: list[np.ndarray] = []
        written: list[np.ndarray | None] = []
        for each in step.bound:
            if isinstance(each, Part):
                marks = self.written[each.array]
                arrays.append(each.of(self.bytes))
                written.append(None if marks is None else marks[each.offset : each.offset + each.bytes])
            else:
                arrays.append(np.frombuffer(each, np.uint8).copy())
                written.append(None)
        return arrays, written

    def unwritten(self, part: Part) -> np.ndarray:
        """The bytes of a part that nothing has written, by their numbers in the array."""
        marks = self.written[part.array]
        if marks is None:
            return np.zeros(0, np.intp)
        return part.offset + np.flatnonzero(marks[part.offset : part.offset + part.bytes] == 0)

    def move(self, step: FlatStep) -> None:
        """Do a step that is no dispatch, or nothing where its repetition has ended."""
        if not self.is_live(step):
            return
        parts = [each for each in step.bound if isinstance(each, Part)]
        to = parts[-1]
        marks = self.written[to.array]
        if step.kind in ("clear", "zeros"):
            to.of(self.bytes)[:] = 0
            if marks is not None:
                # An array begins with zeros that no step has written.
                marks[to.offset : to.offset + to.bytes] = step.kind == "clear"
            return
        to.of(self.bytes)[:] = parts[0].of(self.bytes)
        if marks is not None:
            before = self.written[parts[0].array]
            source = 1 if before is None else before[parts[0].offset : parts[0].offset + parts[0].bytes]
            marks[to.offset : to.offset + to.bytes] = source

    def run(
        self,
        step: FlatStep,
        schedule: str | None,
        owner: str,
        checks: Any = _NOTHING,
        timeout: float | None = None,
        spent: float = 0.0,
    ) -> Any:
        """Do a step; what a dispatch was found to do wrong: (findings, complete, names of checks, schedule)."""
        if step.kind != "dispatch" or not self.is_live(step):
            self.move(step)
            return [], True, (), schedule
        arrays, written = self.bound(step)
        assert step.program is not None
        try:
            return _core._check_step(
                step.program, arrays, written, self.groups(step), timeout, spent, schedule, checks, _MOST_REPORTS, owner
            )
        except BindingError as error:
            raise BindingError(f"{step.told}: {error}") from None  # as the call says it


class _Checked:
    def __init__(
        self, call: Call, schedule: str | None, checks: Any, max_reports: int, timeout: float | None, owner: str
    ) -> None:
        self.call, self.schedule, self.max_reports, self.owner = call, schedule, max_reports, owner
        self.checks = checks
        self.timeout, self.start = timeout, time.monotonic()
        self.memory = Memory(call)
        self.reports: list[Report] = []
        self.by_order: list[Report] = []  # what the order of atomics changes within a step
        self.complete = True
        self.seen: dict[Any, int] = {}

    def step(self, memory: Memory, step: FlatStep, schedule: str | None, checks: Any = _NOTHING) -> Any:
        return memory.run(step, schedule, self.owner, checks, self.timeout, time.monotonic() - self.start)

    def run(self) -> tuple[tuple[str, ...], str]:
        # An empty procedure has names too.
        names, schedule = _core._checks_of(self.checks, self.schedule, self.owner)
        for step in self.call.steps:
            if step.counts is not None and _UNINITIALISED in names:
                self.note_grid(step)
            found, complete, *_ = self.step(self.memory, step, self.schedule, self.checks)
            self.complete = self.complete and complete
            for row in found:
                report = self.located(step, report_of(row))
                # The library vouches for its own steps. What they are given is the caller's.
                if not _is_vouched(step.place) or (report.check == _UNINITIALISED and self.is_given(step, report)):
                    self.add(report)
        if _UNINITIALISED in names:
            self.note_results()
        if _ORDER in names:
            self.note_order(schedule)
        return names, schedule

    def add(self, report: Report) -> None:
        if isinstance(report, OrderDependenceReport):
            self.by_order.append(report)
            return
        assert report.step is not None or isinstance(report, UnwrittenArrayReport)
        key = self.key_of(report)
        if key in self.seen:
            at = self.seen[key]
            self.reports[at] = replace(self.reports[at], count=self.reports[at].count + report.count)  # type: ignore[type-var]
        elif len(self.reports) == self.max_reports:
            self.complete = False
        else:
            self.seen[key] = len(self.reports)
            self.reports.append(report)

    @staticmethod
    def key_of(report: Report) -> Any:
        """What one report stands for: a repetition makes a mistake in every turn."""
        step = report.step
        where = None
        if step is not None and _is_vouched(step.place):
            return report.check, step.place.callers, step.array
        if step is not None:
            where = step.place.what, step.place.file, step.place.line, step.place.callers, step.array
        if isinstance(report, RaceReport):
            return "race", where, report.buffer, _line(report.first.place), _line(report.second.place)
        if isinstance(report, (UninitialisedReadReport, OutOfBoundsReport, PromisedZeroReport)):
            return report.check, where, report.buffer, _line(report.witness.place)
        return object()

    def array_of(self, step: FlatStep, report: Any) -> tuple[Any, Any]:
        """The declaration of a report's buffer, and the part that is bound to it; (None, None) where no array is."""
        buffer = getattr(report, "buffer", None)
        pairs = zip(step.buffers, step.bound, strict=True)
        found = ((decl, part) for decl, part in pairs if decl.name == buffer and isinstance(part, Part))
        return next(found, (None, None))

    def is_given(self, step: FlatStep, report: Any) -> bool:
        """Whether the library was given the array of a report, and has not made it."""
        _, part = self.array_of(step, report)
        line = None if part is None else self.call.arrays[part.array].line
        return line is not None and not is_of_std(line[0])

    def located(self, step: FlatStep, report: Any) -> Report:
        """The report with its step, and with the procedure's array behind its buffer."""
        found = ReportedStep(step.place)
        decl, part = self.array_of(step, report)
        if part is not None:
            array = self.call.arrays[part.array]
            width = max(decl.element.min_bytes() or 1, 1)
            index = (part.offset + report.index * width) // array.width
            found = ReportedStep(step.place, decl.name, array.name, index, text_of_line(array.line))
        located: Report = replace(report, step=found)
        return located

    def note_grid(self, step: FlatStep) -> None:
        assert step.counts is not None
        missing = self.memory.unwritten(step.counts)
        if not len(missing):
            return
        array = self.call.arrays[step.counts.array]
        elements = np.unique(missing // array.width)
        self.add(
            UnwrittenArrayReport(
                array.name,
                int(elements[0]),
                "read as the grid",
                len(elements),
                text_of_line(array.line),
                ReportedStep(step.place),
            )
        )

    def note_results(self) -> None:
        for name, index, _, _ in self.call.results:
            array = self.call.arrays[index]
            missing = self.memory.unwritten(Part(index, 0, array.bytes))
            if not len(missing):
                continue
            elements = np.unique(missing // array.width)
            made = text_of_line(array.line)
            self.add(UnwrittenArrayReport(name, int(elements[0]), "returned", len(elements), made))

    def note_order(self, schedule: str) -> None:
        """Report what the order of atomics changes in the results; what later steps even out is no mistake.

        Elements that nothing wrote are left out, and so is a procedure with a race, which would be the cause.
        """
        if not self.by_order or any(report.check == _RACE for report in self.reports):
            return
        for other in ("in-order", "reversed"):
            if other == schedule:
                continue
            memory = Memory(self.call)
            for step in self.call.steps:
                self.step(memory, step, other)
            for name, index, element, _ in self.call.results:
                differs = np.flatnonzero(self.memory.bytes[index] != memory.bytes[index])
                if len(differs):
                    self.order_changes(name, index, element, memory.bytes[index], differs, schedule, other)
                    return

    def order_changes(
        self,
        name: str,
        index: int,
        element: Any,
        other_bytes: np.ndarray,
        differs: np.ndarray,
        schedule: str,
        other: str,
    ) -> None:
        first = self.by_order[0]
        assert isinstance(first, OrderDependenceReport)
        width = self.call.arrays[index].width
        lane = width // TYPES[element].components
        at = int(differs[0]) // lane
        value, other_value = (
            int.from_bytes(data[at * lane : (at + 1) * lane].tobytes(), "little")
            for data in (self.memory.bytes[index], other_bytes)
        )
        lanes = width // lane
        report = OrderDependenceReport(
            name,
            at // lanes,
            at % lanes if lanes > 1 else None,
            value,
            other_value,
            schedule,
            other,
            first.atomics,
            len(np.unique(differs // lane)),
            first.step,
        )
        if len(self.reports) == self.max_reports:
            self.complete = False
        else:
            self.reports.append(report)


def _is_vouched(place: StepPlace) -> bool:
    """Whether a step is the library's, in a procedure that is not."""
    return is_of_std(place.file or "") and any(not is_of_std(file) for file, _ in place.callers)


def _line(place: Place) -> Any:
    return place.path if place.line is None else (place.file, place.line)


def check_call(
    owner: str,
    make_call: Callable[[], Call],
    *,
    schedule: str | None = None,
    checks: str | Iterable[str] = "all",
    max_reports: int = 100,
    timeout: float | None = None,
) -> ProcedureCheckResult:
    """Run a call step by step, and report its mistakes."""
    most = as_count(max_reports)
    if most is None or not 1 <= most <= _MOST_REPORTS:
        raise must_be(f"argument `max_reports` of {owner}", f"an integer from 1 to {_MOST_REPORTS}", shown(max_reports))
    call = make_call()
    checks = checks if isinstance(checks, str) else _listed(checks)
    checked = _Checked(call, schedule, checks, most, timeout, owner)
    names, order = checked.run()
    return ProcedureCheckResult(
        reports=tuple(checked.reports),
        outputs=call.outputs(checked.memory.bytes),
        complete=checked.complete,
        procedure=call.procedure,
        steps=tuple(step.place for step in call.steps),
        schedule=order,
        checks=names,
        max_reports=most,
    )


def _listed(checks: Any) -> Sequence[Any]:
    """The names as a list, because each step takes them again."""
    return checks if isinstance(checks, (list, tuple)) else list(checks) if hasattr(checks, "__iter__") else checks
