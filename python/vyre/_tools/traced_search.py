"""The search behind vyre.bisect: runs a program that records what it computes, and narrows a difference down.

The core makes a traced program (transform/trace.hpp), in which each invocation folds its values into a hash up to a
limit of steps. A binary search over the limits finds the first step at which the hashes of two backends differ, and the
hashes before and after it give the values (_unfold). Where no value differs, a second search lets stores and atomics
happen up to a limit, and finds the first effect that makes the outputs differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._base.types import TYPES, value_of_words
from vyre._tools.divergence import Divergence, OutputDifference
from vyre._tools.ways import first_difference

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeVar

    from vyre._core import DataType, Program
    from vyre._tools.ways import Runner

    _T = TypeVar("_T")

__all__ = ["ALL", "NotLocatedError", "Point", "Search", "pairs", "unsteady"]

_NUMBERS = _core._trace_numbers
_STATEMENTS, _STORES = _NUMBERS["statements"], _NUMBERS["stores"]
_EFFECTS, _BRANCHES = _NUMBERS["effects"], _NUMBERS["branches"]
_HASH, _STEPS, _LAST = _NUMBERS["record_hash"], _NUMBERS["record_steps"], _NUMBERS["record_point"]
_WRITTEN, _WORDS = _NUMBERS["record_written"], _NUMBERS["record_words"]
_SPREAD = _NUMBERS["spread"]
_UNSPREAD = pow(_SPREAD, -1, 1 << 32)
ALL = 0xFFFFFFFF
_MOST_EXCLUDED = 100


class NotLocatedError(Exception):
    """The search cannot go on: ``unlocated`` and ``note`` are those of a Divergence."""

    def __init__(self, unlocated: str, note: str) -> None:
        super().__init__(unlocated)
        self.unlocated, self.note = unlocated, note


def unsteady() -> NotLocatedError:
    """The error for a difference that is gone when the call is repeated."""
    return NotLocatedError(
        "agree when the same call is made again",
        "one of them gives other bytes from call to call. "
        "Fix: vyre.repeat(program, inputs, workgroups, backend=...) of each shows which one.",
    )


@dataclass(frozen=True)
class Point:
    """The statement or expression at which the hashes, or the outputs, first differ."""

    statement: int
    expr: int | None
    effect: bool  # of the statement or the atomic `expr`, not a value
    type: DataType
    invocation: int
    phase: int
    step: int  # of the value's first lane
    values: dict[str, tuple[int, ...]]
    element: str = ""  # the element that an effect changed, if its statement names another one


def pairs(orders: dict[str, _T]) -> list[dict[str, _T]]:
    """The first order with each of the others."""
    first, *others = orders
    return [{name: orders[name] for name in (first, other)} for other in others]


class Search:
    """The dispatches of one bisection."""

    def __init__(
        self,
        program: Program,
        inputs: Mapping[str, Any],
        groups: tuple[int, int, int],
        ways: dict[str, Runner],
        unstable: dict[str, Runner] | None = None,
    ) -> None:
        """`unstable` are orders of the reference. Elements of outputs that differ between them are not compared."""
        self.program, self.inputs, self.groups, self.ways = program, inputs, groups, ways
        self.unstable = unstable or {}
        x, y, z = program.workgroup_size
        self.local_count = x * y * z
        self.count = groups[0] * groups[1] * groups[2] * self.local_count
        self.dispatches = 2
        self.lost = False  # whether some invocation's record exists on only one of the two backends
        self.untouched = ""  # a note, if outputs differ even when no store and no atomic has an effect
        self.traced: OutputDifference | None = None

    def value(self, orders: dict[str, Runner], *, racy: bool, of_lost: bool = False) -> Point | None:
        """The first value that differs, without the values that differ between orders of the reference.

        If invocations race, elements after stores are not compared, because another invocation may store to them.
        """
        for density in (_STATEMENTS, _STORES):
            points = _core._trace(self.program, density, None, [])[1]
            excluded = [point[:3] for point in points if racy and point[2]]
            excluded = self.order_dependent(orders, density, excluded)
            found = self.first(density, excluded, of_lost=of_lost)
            if found is None:
                continue
            # A second search covers all expressions of this statement. It counts only if it finds that one again.
            if excluded:
                excluded = self.order_dependent(orders, density, excluded, detail=found.statement)
            closer = self.first(
                density,
                excluded,
                detail=found.statement,
                invocation=found.invocation,
                phase=found.phase,
                of_lost=of_lost,
            )
            return closer if closer is not None and closer.statement == found.statement else found
        return None

    def order_dependent(
        self,
        orders: dict[str, Runner],
        density: int,
        known: Sequence[tuple[int, int | None, bool]],
        *,
        detail: int | None = None,
    ) -> list[tuple[int, int | None, bool]]:
        """Find the values that may differ although neither backend is wrong.

        These are the results of atomics, the effects of races, and the values computed from either.
        """
        excluded = list(known)
        most = len(excluded) + _MOST_EXCLUDED
        for pair in pairs(orders):
            search = Search(self.program, self.inputs, self.groups, pair)
            while len(excluded) < most:
                found = search.first(density, excluded, detail=detail)
                if found is None:
                    break
                excluded.append((found.statement, found.expr, found.effect))
        return excluded

    def first(
        self,
        density: int,
        excluded: Sequence[tuple[int, int | None, bool]],
        *,
        detail: int | None = None,
        invocation: int | None = None,
        phase: int | None = None,
        of_lost: bool = False,
    ) -> Point | None:
        """The first point that differs; the invocation and the phase are searched for unless they are known.

        Invocations whose record exists on only one backend are left out unless `of_lost` is true: a backend that loses
        stores may also lose the store of a record.
        """
        traced = _core._trace(self.program, density, detail, excluded)
        points = traced[1]

        def differing(phases: int, steps: int) -> np.ndarray:
            """Numbers of the invocations whose hashes differ, in ascending order."""
            one, two = self.records(traced, phases, steps).values()
            differs = (one[:, :_WRITTEN] != two[:, :_WRITTEN]).any(axis=1)
            lost = one[:, _WRITTEN] != two[:, _WRITTEN]
            self.lost |= bool(lost.any())
            if not of_lost:
                differs &= ~lost
            if invocation is not None:
                differs[:invocation] = differs[invocation + 1 :] = False
            return np.flatnonzero(differs)

        if not differing(ALL, ALL).size:
            return None
        if phase is None:
            phase = _smallest(lambda phases: differing(phases, ALL).size > 0) - 1
        candidates = differing(phase + 1, ALL)
        if not candidates.size:
            return None
        invocation = int(candidates[0])
        steps = _smallest(lambda steps: differing(phase + 1, steps).size > 0)
        after = self.records(traced, phase + 1, steps)
        numbers = {name: int(record[invocation, _LAST]) for name, record in after.items()}
        # One backend may have recorded fewer points; then the other backend's next point is the difference.
        ended = [name for name in self.ways if int(after[name][invocation, _STEPS]) < steps]
        going = [name for name in self.ways if name not in ended]
        if not going:
            raise unsteady()
        number = numbers[going[0]]
        statement, expr, effect, kind, lane = _point(points, number, going[0])
        first = max(steps - 1 - lane, 0)
        # A lane lies between the hashes before and after it; see fold() of transform/trace.hpp.
        hashes = [self.records(traced, phase + 1, first + k) for k in range(TYPES[kind].lanes + 1)]
        values = {
            name: tuple(_unfold(*(int(step[name][invocation, _HASH]) for step in pair)) for pair in pairwise(hashes))
            for name in self.ways
            if name not in ended and numbers[name] == number
        }
        if len(values) == len(self.ways) and len(set(values.values())) == 1:
            raise unsteady()
        return Point(statement, expr, effect, kind, invocation, phase, first, values)

    def effect(self) -> Point | None:
        """The first store or atomic that makes the outputs differ, when those after it do nothing.

        There are two ways to disable them. A fault may make a disabled one have an effect. Then the outputs differ too
        early, never too late, so the later of the two answers is right.
        """
        found = []
        for density in (_EFFECTS, _BRANCHES):
            traced = _core._trace(self.program, density, None, [])
            whole = self.difference(traced, ALL, 0, 0)
            if whole is None:
                continue
            if self.difference(traced, 0, 0, 0) is not None:
                self.traced = self.traced or whole
                self.untouched = "the outputs differ also while no store and no atomic does anything."
                continue
            found.append(self.first_effect(traced))
        return max(filter(None, found), key=lambda point: (point.phase, point.invocation, point.step), default=None)

    def first_effect(self, traced: tuple[Any, ...]) -> Point | None:
        def difference(phases: int, invocations: int, steps: int) -> OutputDifference | None:
            return self.difference(traced, phases, invocations, steps)

        phase = _smallest(lambda phases: difference(phases, 0, 0) is not None) - 1
        invocation = _smallest(lambda invocations: difference(phase, invocations, 0) is not None) - 1
        steps = _smallest(lambda steps: difference(phase, invocation, steps) is not None)
        found = difference(phase, invocation, steps)
        # Each record names the last effect. A backend that loses stores may lose its record too.
        records = reversed(self.records(traced, phase, steps, invocation).items())
        written = [(name, record) for name, record in records if record[invocation, _WRITTEN]]
        if found is None or not written:
            return None
        recording, record = written[0]
        statement, expr, _, _, _ = _point(traced[1], int(record[invocation, _LAST]), recording)
        decl = next(decl for decl in self.program.buffers if decl.name == found.buffer)
        lanes = TYPES[decl.element].components
        kind = _core.DataType.U32 if lanes > 1 else TYPES[decl.element].value
        index, lane = divmod(found.index, lanes)
        return Point(
            statement,
            expr,
            True,
            kind,
            invocation,
            phase,
            steps - 1,
            {name: (int(value) & ALL, int(value) >> 32)[: TYPES[kind].lanes] for name, value in found.values.items()},
            f"{found.buffer}[{index}]" + (f" (lane {lane})" if lanes > 1 else ""),
        )

    def difference(self, traced: tuple[Any, ...], phases: int, invocations: int, steps: int) -> OutputDifference | None:
        """The first difference between the outputs when only the effects before these limits happen."""
        outputs = self.run(self.ways, traced, phases, steps, invocations)
        return self.stable_difference(outputs, traced, phases, steps, invocations)

    def stable_difference(
        self, outputs: Mapping[str, Mapping[str, np.ndarray]], traced: tuple[Any, ...], *limits: int
    ) -> OutputDifference | None:
        """The first difference between the program's own outputs in elements that no order of invocations changes."""
        found = first_difference(self.program, outputs)
        if found is None or not self.unstable:
            return found
        one, *others = self.run(self.unstable, traced, *limits).values()
        unstable = {
            decl.name: np.logical_or.reduce([(one[decl.name] != other[decl.name]).reshape(-1) for other in others])
            for decl in self.program.buffers
            if decl.access == _core.BufferAccess.ReadWrite
        }
        return first_difference(self.program, outputs, unstable)

    def run(
        self, ways: Mapping[str, Runner], traced: tuple[Any, ...], phases: int, steps: int, invocations: int = ALL
    ) -> dict[str, Mapping[str, np.ndarray]]:
        program, _, limits, record = traced
        words = np.array(_core._limits(phases, steps, *self.groups[:2], invocations), np.uint32)
        inputs = {**self.inputs, limits: words, record: self.count * _WORDS}
        self.dispatches += len(ways)
        return {name: way(program, inputs, self.groups) for name, way in ways.items()}

    def records(
        self, traced: tuple[Any, ...], phases: int, steps: int, invocations: int = ALL
    ) -> dict[str, np.ndarray]:
        outputs = self.run(self.ways, traced, phases, steps, invocations)
        if phases == steps == ALL and self.traced is None:
            self.traced = self.stable_difference(outputs, traced, phases, steps)
        return {name: given[traced[3]].reshape(self.count, _WORDS) for name, given in outputs.items()}

    def divergence(self, found: Point, output: OutputDifference, note: str) -> Divergence:
        statement, expression, place = _core._statement_at(self.program, found.statement, found.expr, found.effect)
        if found.effect:
            what = "store" if found.expr is None else "atomic"
            expression = f"{found.element or expression}, after the {what}"
        group, local = divmod(found.invocation, self.local_count)
        workgroup, local_id = _ids(group, self.groups), _ids(local, self.program.workgroup_size)
        size = self.program.workgroup_size
        x, y, z = (w * s + i for w, s, i in zip(workgroup, size, local_id, strict=True))
        return Divergence(
            output=output,
            dispatches=self.dispatches,
            values={name: _typed(found.type, found.values.get(name)) for name in self.ways},
            expression=expression or f"{statement.split()[1]}, at the start of a turn",
            statement=statement,
            place=place,
            type=found.type,
            invocation=(x, y, z),
            workgroup=workgroup,
            local=local_id,
            phase=found.phase,
            step=found.step,
            note=note,
        )


def _smallest(holds: Callable[[int], bool]) -> int:
    """The smallest n from 1 on for which `holds`, which stays true from there on.

    Raises: NotLocatedError when there is none: the difference that was seen without a limit did not come again.
    """
    high = 1
    while not holds(high):
        if high == ALL:
            raise unsteady()
        high = min(high * 2, ALL)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _point(points: Sequence[tuple[Any, ...]], number: int, name: str) -> tuple[Any, ...]:
    if number < len(points):
        return points[number]
    raise NotLocatedError(
        f"cannot be compared: {name} records point {number} of {len(points)}",
        f"{name} changes what it records, which no fault in the program's own values does. "
        "Fix: look for stores out of bounds, or memory that is not given back as it was written.",
    )


def _unfold(before: int, after: int) -> int:
    rotated = (before << 5 | before >> 27) & ALL
    return (after * _UNSPREAD & ALL) ^ rotated


def _ids(number: int, sizes: Sequence[int]) -> tuple[int, int, int]:
    number, x = divmod(number, sizes[0])
    z, y = divmod(number, sizes[1])
    return x, y, z


def _typed(kind: DataType, lanes: tuple[int, ...] | None) -> int | tuple[int, ...] | None:
    """A value as Python has it; None where a backend took another path and never computed it."""
    if lanes is None:
        return None
    return value_of_words(kind, lanes)
