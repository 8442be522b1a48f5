"""The first value of a program that two ways compute differently."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._tools.check import check
from vyre._tools.divergence import Divergence
from vyre._tools.traced_search import ALL, NotLocatedError, Point, Search, pairs, unsteady
from vyre._tools.ways import Run, first_difference, way
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from vyre._core import Program
    from vyre._tools.ways import Runner, Way

    _Change: TypeAlias = tuple[Callable[[np.ndarray], np.ndarray], bool]

__all__ = ["bisected", "ways_of"]

_MOST_INVOCATIONS = 1 << 26
_MOST_CHECKED = 1 << 22  # elements; vyre.check needs 56 bytes for each


def bisected(
    program: Program,
    inputs: Mapping[str, Any],
    groups: tuple[int, int, int],
    ways: dict[str, Runner],
    timeout: float | None,
) -> Divergence | None:
    """The first value that two ways compute differently."""
    outputs = {name: way(program, inputs, groups) for name, way in ways.items()}
    difference = first_difference(program, outputs)
    if difference is None:
        return None
    size = program.workgroup_size
    if groups[0] * groups[1] * groups[2] * size[0] * size[1] * size[2] > _MOST_INVOCATIONS:
        raise ArgumentError(
            f"argument `workgroups` of vyre.bisect must make at most 2^26 invocations, got {groups}. "
            f"Fix: look at a smaller grid: the outputs first differ at {difference}."
        )
    orders = _orders(timeout)
    atomics = _core._has_atomics(program)
    written = sum(np.size(given) for given in next(iter(outputs.values())).values())
    race = _race_note(program, inputs, groups, timeout) if written <= _MOST_CHECKED else ""
    note = _order_note(program, inputs, groups, orders) or race
    ways, kept = _repeating(program, inputs, groups, ways)
    unstable = orders if note or atomics else {}
    search = Search(program, inputs, groups, ways, unstable)
    try:
        found = search.value(orders, racy=bool(race))
        if found is None or atomics:
            found = _earlier(found, search.effect())
        if found is None and search.lost:
            found = search.value(orders, racy=bool(race), of_lost=True)
        if found:
            return search.divergence(found, difference, " ".join(filter(None, (kept, note))))
        if not kept and not _differ(program, inputs, groups, ways):
            raise unsteady()
    except NotLocatedError as error:
        note = " ".join(filter(None, (kept, error.note, note)))
        return Divergence(output=difference, dispatches=search.dispatches, unlocated=error.unlocated, note=note)
    if search.traced is not None:
        unlocated = f"still differ at {search.traced} while every recorded value agrees"
    elif note:
        unlocated = "agree in all that does not depend on the order of invocations"
    else:
        unlocated = "agree once values are recorded"
    note = " ".join(filter(None, (kept, search.untouched, note)))
    return Divergence(output=difference, dispatches=search.dispatches, unlocated=unlocated, note=note)


def ways_of(backend: Way | None, against: Way, timeout: float | None) -> dict[str, Runner]:
    ways: dict[str, Runner] = {}
    for argument, given in (("backend", backend), ("against", against)):
        name, runner = way(given, argument, "vyre.bisect", timeout)
        if name in ways:
            name = f"{name} ({argument})"
        ways[name] = runner
    return ways


def _orders(timeout: float | None) -> dict[str, Runner]:
    orders = ("in-order", "reversed", "random:0")
    return {order: Run("vyre.bisect", timeout, backend="reference", schedule=order) for order in orders}


def _order_note(
    program: Program, inputs: Mapping[str, Any], groups: tuple[int, int, int], orders: dict[str, Runner]
) -> str:
    outputs = {order: runner(program, inputs, groups) for order, runner in orders.items()}
    for pair in pairs(outputs):
        difference = first_difference(program, pair)
        if difference is not None:
            return (
                f"the reference itself gives {difference}: the outputs depend on the order of invocations. "
                "Fix: vyre.check(program, inputs, workgroups) finds the race, or the atomic whose result is used."
            )
    return ""


def _race_note(program: Program, inputs: Mapping[str, Any], groups: tuple[int, int, int], timeout: float | None) -> str:
    race = check(program, inputs, groups, checks="race", max_reports=1, timeout=timeout).reports
    if not race:
        return ""
    what = str(race[0]).splitlines()[0].removeprefix("race: ").split(";")[0]
    return (
        f"the program has a race: {what}. Either backend may be right. "
        'Fix: vyre.check(program, inputs, workgroups, checks="race") names the statements.'
    )


def _earlier(value: Point | None, effect: Point | None) -> Point | None:
    """The point to be told: a value, unless it only shows what an atomic did before.

    What atomics leave in memory is no value of a statement, so the first value that shows it is a later one.
    """
    if value is None or effect is None:
        return value or effect
    # Expressions are numbered in the order in which they are evaluated first; what a store did comes after them.
    order = [
        (point.phase, point.invocation, point.statement, ALL if point.expr is None else point.expr)
        for point in (effect, value)
    ]
    return effect if effect.expr is not None and order[0] < order[1] else value


def _repeating(
    program: Program, inputs: Mapping[str, Any], groups: tuple[int, int, int], ways: dict[str, Runner]
) -> tuple[dict[str, Runner], str]:
    """Return ways whose difference is repeatable, and a note if it only shows after a call with other inputs.

    The search compares many calls with the same inputs, so it would miss state that is left over from other calls.
    """
    if _differ(program, inputs, groups, ways):
        return ways, ""
    names = [decl.name for decl in program.buffers if isinstance(inputs.get(decl.name), np.ndarray)]
    for change in _CHANGES:
        after: dict[str, Runner] = {name: _After(way, names, change) for name, way in ways.items()}
        if _differ(program, inputs, groups, after):
            return after, (
                "they differ only after a call with other inputs, and agree when the same call is made again: "
                "one of them keeps something from the call before."
            )
    return ways, "they agree when the same call is made again, also after calls with other inputs."


def _differ(program: Program, inputs: Mapping[str, Any], groups: tuple[int, int, int], ways: dict[str, Runner]) -> bool:
    outputs = {name: way(program, inputs, groups) for name, way in ways.items()}
    return first_difference(program, outputs) is not None


def _lowest_bit_flipped(given: np.ndarray) -> np.ndarray:
    return ~given if given.dtype == np.bool_ else given ^ given.dtype.type(1)


# Functions that change every word of an array, and whether the extra call runs any workgroups: inverted inputs
# could make a loop very long.
_CHANGES: tuple[_Change, ...] = ((np.invert, False), (_lowest_bit_flipped, True))


class _After:
    """A way that makes a call with changed arrays before each real call."""

    def __init__(self, way: Runner, names: Sequence[str], change: _Change) -> None:
        self.way, self.names = way, names
        self.change, self.runs = change

    def __call__(
        self, program: Program, inputs: Mapping[str, Any], workgroups: Sequence[int]
    ) -> Mapping[str, np.ndarray]:
        others = {name: np.asarray(self.change(inputs[name])) for name in self.names}
        self.way(program, {**inputs, **others}, workgroups if self.runs else (0, 1, 1))
        return self.way(program, inputs, workgroups)
