"""First divergence: where two backends that disagree began to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from vyre import _core, _inputs
from vyre._calls import explain_calls
from vyre._check import check
from vyre._divergence import Divergence
from vyre._traced_search import ALL, NotLocatedError, Point, Search, pairs, unsteady
from vyre._ways import Run, first_difference, way
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from vyre._core import Procedure, Program
    from vyre._procedure.bisect import ProcedureDivergence
    from vyre._procedure.procedure import ProcedureFunction
    from vyre._ways import Runner, Way

    _Change: TypeAlias = tuple[Callable[[np.ndarray], np.ndarray], bool]

__all__ = ["bisect"]

_MOST_INVOCATIONS = 1 << 26
_MOST_CHECKED = 1 << 22  # elements; vyre.check needs 56 bytes for each


@overload
def bisect(
    program: Program,
    inputs: Mapping[str, Any],
    workgroups: int | Sequence[int] | None = None,
    *,
    backend: Way | None = None,
    against: Way = "reference",
    timeout: float | None = None,
) -> Divergence | None: ...
@overload
def bisect(
    program: ProcedureFunction | Procedure,
    inputs: Mapping[str, Any],
    workgroups: None = None,
    *,
    backend: Way | None = None,
    against: Way = "reference",
    timeout: float | None = None,
) -> ProcedureDivergence | None: ...
def bisect(
    program: Program | ProcedureFunction | Procedure,
    inputs: Mapping[str, Any],
    workgroups: int | Sequence[int] | None = None,
    *,
    backend: Way | None = None,
    against: Way = "reference",
    timeout: float | None = None,
) -> Divergence | ProcedureDivergence | None:
    """Find the first value that two backends compute differently.

    Runs the program on both. When an output differs, runs a program that does the same and records what it computes
    and what its stores and atomics leave in memory, some tens of times on each, and narrows the difference down to one
    invocation and one expression. Where all of this agrees, it lets stores and atomics happen one after the other, and
    names the first one that makes the outputs differ.

    A procedure takes its arguments by name as ``inputs``. What is found is the first of its steps after which the
    arrays differ, and in the dispatch of this step the first value.

    Args:
        program, inputs, workgroups: as for ``vyre.run``.
        backend: the backend to look at, None for the best one here: a name, a Device, the keyword arguments of
            ``vyre.run`` as a dict (``{"backend": "vulkan", "optimize": False}``), or a function of (program, inputs,
            workgroups) that gives the ReadWrite buffers by name.
        against: what it is compared with, likewise.
        timeout: seconds that each dispatch may take; None waits for ever. Functions do not get it.

    Returns: a Divergence, or for a procedure a ProcedureDivergence; None when all outputs are equal.

    Raises: what ``vyre.run`` raises, and ArgumentError for a grid of more than 2^26 invocations.

    Source: semantics, "Evaluation".

    >>> import vyre
    >>> from vyre import BufferDecl, Expr, Node
    >>> program = vyre.parse('''vyre 1
    ... workgroup_size 4 1 1
    ... buffer out: read_write u32 binding 0 output
    ...
    ... let x = gid.x * 3
    ... out[gid.x] = popcount(x) + 1
    ... ''')
    >>> def wrong(program, inputs, workgroups):
    ...     broken = vyre.parse(program.to_text().replace("popcount", "clz"))
    ...     return vyre.run(broken, inputs, workgroups, backend="reference")
    >>> print(bisect(program, {"out": 4}, 1, backend=wrong))
    wrong and reference first differ in invocation (0, 0, 0) of workgroup (0, 0, 0), after 0 barriers:
      at          entry[1].value.left
      statement   out[gid.x] = popcount(x) + 1
      expression  popcount(x)
      wrong       32 (0x20)
      reference   0 (0x0)
      output      out[0]: wrong 33, reference 1
    >>> bisect(program, {"out": 4}, 1, backend="cpu") is None
    True
    """
    if not isinstance(program, _core.Program):
        # They are made on top of this module.
        from vyre._procedure.bisect import bisect_call
        from vyre._procedure.flat import named_call
        from vyre._procedure.procedure import ProcedureFunction

        if isinstance(program, (ProcedureFunction, _core.Procedure)):
            if workgroups is not None:
                raise ArgumentError(
                    "argument `workgroups` of vyre.bisect is for programs, and a procedure has the grids of its steps. "
                    "Fix: leave `workgroups` out."
                )
            named = _inputs.named(inputs, "vyre.bisect")
            kept = _inputs.copied(named, "vyre.bisect")
            return bisect_call(
                lambda name, device: named_call(program, kept, "vyre.bisect", name, device), backend, against, timeout
            )
    groups = _core._grid(workgroups, "vyre.bisect")
    inputs = _inputs.named(inputs, "vyre.bisect")
    return _bisected(program, inputs, groups, _ways(backend, against, timeout), timeout)


def _bisected(
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


def _ways(backend: Way | None, against: Way, timeout: float | None) -> dict[str, Runner]:
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


explain_calls(globals())
