"""First divergence: where two backends that disagree began to."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._check import check
from vyre._run import Device, run
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from vyre._core import DataType, Place, Program

    Runner: TypeAlias = Callable[[Program, Mapping[str, Any], Sequence[int]], Mapping[str, np.ndarray]]
    Way: TypeAlias = str | Device | Mapping[str, Any] | Runner
    _Change: TypeAlias = tuple[Callable[[np.ndarray], np.ndarray], bool]

__all__ = ["Divergence", "OutputDifference", "bisect"]

# transform/trace.hpp: the densities, the words of an invocation's record, and what fold() multiplies by.
_STATEMENTS, _STORES, _EFFECTS, _BRANCHES = range(4)
_HASH, _STEPS, _LAST, _WRITTEN, _WORDS = range(5)
_SPREAD = 0x9E3779B1
_UNSPREAD = pow(_SPREAD, -1, 1 << 32)
_ALL = 0xFFFFFFFF
_LANES = {row[0]: row[3] for row in _core._tables["types"]}
_MOST_EXCLUDED = 100
_MOST_INVOCATIONS = 1 << 26
_MOST_CHECKED = 1 << 22  # elements; vyre.check needs 56 bytes for each


@dataclass(frozen=True)
class OutputDifference:
    """The first element of an output that differs.

    Attributes:
        buffer: its name.
        index: of the element in C order.
        values: what each backend gave.
    """

    buffer: str
    index: int
    values: dict[str, Any] = field(hash=False)

    def __str__(self) -> str:
        return f"{self.buffer}[{self.index}]: " + ", ".join(f"{name} {value}" for name, value in self.values.items())


@dataclass(frozen=True)
class Divergence:
    """Where two backends began to disagree: what ``vyre.bisect`` found.

    The first in the order of barriers passed, then of invocations, then of what the invocation evaluated. What came
    before it in its invocation, and before that barrier in every other, is the same on both.
    Values that depend on the order of invocations are left out: there the reference differs from itself.

    Attributes:
        output: the difference that was to be explained.
        values: what each backend computed: an int, or one an element for vectors.
        expression: what differs, in the text form. For the variable of a loop its name, "at the start of a turn"; for
            an element that a store or an atomic should have changed "out[gid.x], after the store".
        statement: the statement that evaluates it.
        place: of both in the program, and the line that made it. None when the difference cannot be located: then
            ``output`` and ``unlocated`` say what is known.
        type: of the value.
        invocation, workgroup, local: ids along x, y, z.
        phase: barriers that the invocation had passed.
        step: values recorded of the invocation before this one, or stores and atomics that it made before.
        dispatches: how many were made to find it.
        unlocated: what is known of a difference that could not be located; empty when it was.
        note: what else speaks for another cause; empty when nothing does.
    """

    output: OutputDifference
    dispatches: int
    values: dict[str, int | tuple[int, ...]] = field(default_factory=dict, hash=False)
    expression: str = ""
    statement: str = ""
    place: Place | None = None
    type: DataType | None = None
    invocation: tuple[int, int, int] = (0, 0, 0)
    workgroup: tuple[int, int, int] = (0, 0, 0)
    local: tuple[int, int, int] = (0, 0, 0)
    phase: int = 0
    step: int = 0
    unlocated: str = ""
    note: str = ""

    def __str__(self) -> str:
        if self.place is None:
            names = " and ".join(self.output.values)
            return (
                f"{names} differ at {self.output}, and {self.unlocated}. "
                f"Fix: {'see the note' if self.note else 'report the program with its text'}."
                + (f"\nNote: {self.note}" if self.note else "")
            )
        source = f" ({self.place.file}:{self.place.line})" if self.place.file else ""
        rows = [("at", f"{self.place.path}{source}"), ("statement", self.statement), ("expression", self.expression)]
        rows += [(name, _shown(value)) for name, value in self.values.items()]
        rows += [("output", str(self.output))]
        width = max(len(name) for name, _ in rows)
        barriers = f"{self.phase} barrier{'' if self.phase == 1 else 's'}"
        lines = [
            f"{' and '.join(self.values)} first differ in invocation {self.invocation} of workgroup {self.workgroup}, "
            f"after {barriers}:"
        ]
        for name, text in rows:
            first, *rest = text.split("\n")
            lines += [f"  {name:<{width}}  {first}", *(f"  {'':<{width}}  {line}" for line in rest)]
        if self.note:
            lines.append(f"Note: {self.note}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def bisect(
    program: Program,
    inputs: Mapping[str, Any],
    workgroups: int | Sequence[int] | None = None,
    *,
    backend: Way | None = None,
    against: Way = "reference",
    timeout: float | None = None,
) -> Divergence | None:
    """Find the first value that two backends compute differently.

    Runs the program on both. When an output differs, runs a program that does the same and records what it computes
    and what its stores and atomics leave in memory, some tens of times on each, and narrows the difference down to one
    invocation and one expression. Where all of this agrees, it lets stores and atomics happen one after the other, and
    names the first one that makes the outputs differ.

    Args:
        program, inputs, workgroups: as for ``vyre.run``.
        backend: the backend to look at, None for the best one here: a name, a Device, the keyword arguments of
            ``vyre.run`` as a dict (``{"backend": "vulkan", "optimize": False}``), or a function of (program, inputs,
            workgroups) that gives the ReadWrite buffers by name.
        against: what it is compared with, likewise.
        timeout: seconds that each dispatch may take; None waits for ever. Functions do not get it.

    Returns: a Divergence, or None when all outputs are equal.

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
    ways = _ways(backend, against, timeout)
    outputs = {name: way(program, inputs, workgroups) for name, way in ways.items()}
    _check_outputs(program, outputs)
    difference = _first_difference(program, outputs)
    if difference is None:
        return None
    groups = _triple(workgroups)
    size = program.workgroup_size
    if groups[0] * groups[1] * groups[2] * size[0] * size[1] * size[2] > _MOST_INVOCATIONS:
        raise ArgumentError(
            f"argument `workgroups` of vyre.bisect must make at most 2^26 invocations, got {tuple(groups)}. "
            f"Fix: look at a smaller grid: the outputs first differ at {difference}."
        )
    orders = _orders(timeout)
    atomics = "atomic_" in program.to_text()
    written = sum(np.size(given) for given in next(iter(outputs.values())).values())
    race = _race_note(program, inputs, groups, timeout) if written <= _MOST_CHECKED else ""
    note = _order_note(program, inputs, groups, orders) or race
    ways, kept = _repeating(program, inputs, groups, ways)
    unstable = orders if note or atomics else {}
    search = _Search(program, inputs, groups, ways, unstable)
    found = search.value(orders, racy=bool(race))
    if found is None or atomics:
        found = _earlier(found, search.effect())
    if found is None and search.lost:
        found = search.value(orders, racy=bool(race), of_lost=True)
    if found:
        return search.divergence(found, difference, " ".join(filter(None, (kept, note))))
    if search.traced is not None:
        unlocated = f"still differ at {search.traced} while every recorded value agrees"
    elif note:
        unlocated = "agree in all that does not depend on the order of invocations"
    else:
        unlocated = "agree once values are recorded"
    note = " ".join(filter(None, (kept, search.untouched, note)))
    return Divergence(output=difference, dispatches=search.dispatches, unlocated=unlocated, note=note)


def _orders(timeout: float | None) -> dict[str, Runner]:
    orders = ("in-order", "reversed", "random:0")
    return {order: _Run({"backend": "reference", "schedule": order}, timeout) for order in orders}


def _pairs(orders: dict[str, Runner]) -> list[dict[str, Runner]]:
    """The first order with each of the others."""
    first, *others = orders
    return [{name: orders[name] for name in (first, other)} for other in others]


def _order_note(
    program: Program, inputs: Mapping[str, Any], groups: tuple[int, int, int], orders: dict[str, Runner]
) -> str:
    outputs = {order: runner(program, inputs, groups) for order, runner in orders.items()}
    for pair in _pairs(outputs):
        difference = _first_difference(program, pair)
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


def _earlier(value: _Point | None, effect: _Point | None) -> _Point | None:
    """The point to be told: a value, unless it only shows what an atomic did before.

    What atomics leave in memory is no value of a statement, so the first value that shows it is a later one.
    """
    if value is None or effect is None:
        return value or effect
    # Expressions are numbered in the order in which they are evaluated first; what a store did comes after them.
    order = [
        (point.phase, point.invocation, point.statement, _ALL if point.expr is None else point.expr)
        for point in (effect, value)
    ]
    return effect if effect.expr is not None and order[0] < order[1] else value


def _repeating(
    program: Program, inputs: Mapping[str, Any], groups: tuple[int, int, int], ways: dict[str, Runner]
) -> tuple[dict[str, Runner], str]:
    """Ways that differ each time that they run, and a note where it takes a call with other inputs before.

    All that follows compares many calls with the same inputs, and would not see what is left over from other ones.
    """

    def differ(ways: dict[str, Runner]) -> bool:
        outputs = {name: way(program, inputs, groups) for name, way in ways.items()}
        return _first_difference(program, outputs) is not None

    if differ(ways):
        return ways, ""
    names = [decl.name for decl in program.buffers if isinstance(inputs.get(decl.name), np.ndarray)]
    for change in _CHANGES:
        after = {name: _After(way, names, change) for name, way in ways.items()}
        if differ(after):
            return after, (
                "they differ only after a call with other inputs, and agree when the same call is made again: "
                "one of them keeps something from the call before."
            )
    return ways, "they agree when the same call is made again, also after calls with other inputs."


def _lowest_bit_flipped(given: np.ndarray) -> np.ndarray:
    return ~given if given.dtype == np.bool_ else given ^ given.dtype.type(1)


# Ways to have other words in every array, and whether that call has workgroups: a loop could be long with the first.
_CHANGES: tuple[_Change, ...] = ((np.invert, False), (_lowest_bit_flipped, True))


class _After:
    """A way each of whose calls follows one with other words in the program's arrays."""

    def __init__(self, way: Runner, names: Sequence[str], change: _Change) -> None:
        self.way, self.names = way, names
        self.change, self.runs = change

    def __call__(
        self, program: Program, inputs: Mapping[str, Any], workgroups: Sequence[int]
    ) -> Mapping[str, np.ndarray]:
        others = {name: np.asarray(self.change(inputs[name])) for name in self.names}
        self.way(program, {**inputs, **others}, workgroups if self.runs else (0, 1, 1))
        return self.way(program, inputs, workgroups)


def _ways(backend: Way | None, against: Way, timeout: float | None) -> dict[str, Runner]:
    ways: dict[str, Runner] = {}
    for argument, way in (("backend", backend), ("against", against)):
        name, runner = _runner(argument, way, timeout)
        if name in ways:
            name = f"{name} ({argument})"
        ways[name] = runner
    return ways


def _runner(argument: str, way: Way | None, timeout: float | None) -> tuple[str, Runner]:
    if isinstance(way, Device):
        return f"{way.backend} ({way.name})", _Run({"device": way}, timeout)
    if way is None or isinstance(way, str):
        return way or "default", _Run({"backend": way}, timeout)
    if isinstance(way, Mapping):
        allowed = ("backend", "device", "schedule", "optimize")
        if not set(way) <= set(allowed):
            raise ArgumentError(
                f"argument `{argument}` of vyre.bisect must have keys among {', '.join(allowed)}, "
                f"got {', '.join(map(repr, way))}. Fix: pass inputs and workgroups to vyre.bisect itself."
            )
        return ", ".join(f"{key}={value}" for key, value in way.items()) or "default", _Run(dict(way), timeout)
    if callable(way):
        return getattr(way, "__name__", type(way).__name__), way
    raise ArgumentError(
        f"argument `{argument}` of vyre.bisect must be the name of a backend, a Device, a dict of arguments of "
        f"vyre.run or a function, got {type(way).__name__}. "
        'Fix: write "vulkan" or {"backend": "vulkan", "optimize": False}.'
    )


class _Run:
    def __init__(self, arguments: dict[str, Any], timeout: float | None) -> None:
        self.arguments = {**arguments, "timeout": timeout}

    def __call__(self, program: Program, inputs: Mapping[str, Any], workgroups: Sequence[int]) -> dict[str, np.ndarray]:
        return run(program, inputs, workgroups, **self.arguments)


def _triple(workgroups: int | Sequence[int]) -> tuple[int, int, int]:
    given = [int(count) for count in np.atleast_1d(workgroups)]
    x, y, z = [*given, 1, 1][:3]
    return x, y, z


def _check_outputs(program: Program, outputs: dict[str, Mapping[str, np.ndarray]]) -> None:
    wanted = [decl.name for decl in program.buffers if decl.access == _core.BufferAccess.ReadWrite]
    for argument, given in zip(("backend", "against"), outputs.values(), strict=True):
        if not issubclass(type(given), Mapping):
            raise ArgumentError(
                f"the function in argument `{argument}` of vyre.bisect must give a dict of name -> array, "
                f"got an object of type {type(given).__name__[:80]}. Fix: return what vyre.run gave."
            )
        missing = [name for name in wanted if name not in given]
        if missing:
            raise ArgumentError(
                f"argument `{argument}` of vyre.bisect must give every ReadWrite buffer, "
                f"got none named {missing[0]!r}. Fix: return what vyre.run returns."
            )


def _first_difference(
    program: Program, outputs: Mapping[str, Mapping[str, np.ndarray]], unstable: Mapping[str, np.ndarray] | None = None
) -> OutputDifference | None:
    """The first in the order of the program's buffers, where `unstable` is not true."""
    (one, left), (two, right) = outputs.items()
    for decl in program.buffers:
        if decl.access != _core.BufferAccess.ReadWrite:
            continue
        a, b = (np.asarray(given[decl.name]).reshape(-1) for given in (left, right))
        differs = a != b
        if unstable is not None:
            differs &= ~unstable[decl.name]
        different = np.flatnonzero(differs)
        if different.size:
            index = int(different[0])
            return OutputDifference(decl.name, index, {one: a[index].item(), two: b[index].item()})
    return None


@dataclass(frozen=True)
class _Point:
    """Where the hashes, or the outputs, first differ."""

    statement: int
    expr: int | None
    effect: bool  # of the statement or the atomic `expr`, not a value
    type: DataType
    invocation: int
    phase: int
    step: int  # of the value's first lane
    values: dict[str, tuple[int, ...]]
    element: str = ""  # that an effect changed, where it is not the one that it names


class _Search:
    """The dispatches of one bisection."""

    def __init__(
        self,
        program: Program,
        inputs: Mapping[str, Any],
        groups: tuple[int, int, int],
        ways: dict[str, Runner],
        unstable: dict[str, Runner] | None = None,
    ) -> None:
        """`unstable` are orders of the reference; what differs between them is not compared where outputs are."""
        self.program, self.inputs, self.groups, self.ways = program, inputs, groups, ways
        self.unstable = unstable or {}
        x, y, z = program.workgroup_size
        self.local_count = x * y * z
        self.count = groups[0] * groups[1] * groups[2] * self.local_count
        self.dispatches = 2
        self.lost = False  # whether an invocation told its record on one of the two only
        self.untouched = ""  # said when outputs differ though no store and no atomic does anything
        self.traced: OutputDifference | None = None

    def value(self, orders: dict[str, Runner], *, racy: bool, of_lost: bool = False) -> _Point | None:
        """The first value that differs, those left out that differ between orders of the reference.

        Where invocations race, what an element holds after a store is left out: another one's may be there.
        """
        for density in (_STATEMENTS, _STORES):
            points = _core._trace(self.program, density, None, [])[1]
            excluded = [point[:3] for point in points if racy and point[2]]
            excluded = self.order_dependent(orders, density, excluded)
            found = self.first(density, excluded, of_lost=of_lost)
            if found is None:
                continue
            # The statement is known; a second look tells which of its expressions. It counts only if it shows the same.
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
        """Values that may differ though neither backend is wrong: what atomics give, what races leave, what follows."""
        excluded = list(known)
        most = len(excluded) + _MOST_EXCLUDED
        for pair in _pairs(orders):
            search = _Search(self.program, self.inputs, self.groups, pair)
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
    ) -> _Point | None:
        """The first point that differs; the invocation and the phase are searched for unless they are known.

        Invocations whose record only one of the two has are left out unless `of_lost` asks for them: where a store is
        lost, the one that tells the record may be lost too.
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

        if not differing(_ALL, _ALL).size:
            return None
        if phase is None:
            phase = _smallest(lambda phases: differing(phases, _ALL).size > 0) - 1
        candidates = differing(phase + 1, _ALL)
        if not candidates.size:
            return None
        invocation = int(candidates[0])
        steps = _smallest(lambda steps: differing(phase + 1, steps).size > 0)
        after = self.records(traced, phase + 1, steps)
        numbers = {name: int(record[invocation, _LAST]) for name, record in after.items()}
        # One of them may have come to its end: then the other's next point is the difference.
        ended = [name for name in self.ways if int(after[name][invocation, _STEPS]) < steps]
        number = numbers[next(name for name in self.ways if name not in ended)]
        statement, expr, effect, kind, lane = points[number]
        first = steps - 1 - lane
        # A lane lies between the hashes before and after it; see fold() of transform/trace.hpp.
        hashes = [self.records(traced, phase + 1, first + k) for k in range(_LANES[kind.name] + 1)]
        values = {
            name: tuple(_unfold(*(int(step[name][invocation, _HASH]) for step in pair)) for pair in pairwise(hashes))
            for name in self.ways
            if name not in ended and numbers[name] == number
        }
        return _Point(statement, expr, effect, kind, invocation, phase, first, values)

    def effect(self) -> _Point | None:
        """The first store or atomic that makes the outputs differ, when those after it do nothing.

        There are two ways to let them do nothing. Where the fault turns one of them into something, outputs differ too
        early, never too late: so the later of two answers holds.
        """
        found = []
        for density in (_EFFECTS, _BRANCHES):
            traced = _core._trace(self.program, density, None, [])
            whole = self.difference(traced, _ALL, 0, 0)
            if whole is None:
                continue
            if self.difference(traced, 0, 0, 0) is not None:
                self.traced = self.traced or whole
                self.untouched = "the outputs differ also while no store and no atomic does anything."
                continue
            found.append(self.first_effect(traced))
        return max(filter(None, found), key=lambda point: (point.phase, point.invocation, point.step), default=None)

    def first_effect(self, traced: tuple[Any, ...]) -> _Point | None:
        def difference(phases: int, invocations: int, steps: int) -> OutputDifference | None:
            return self.difference(traced, phases, invocations, steps)

        phase = _smallest(lambda phases: difference(phases, 0, 0) is not None) - 1
        invocation = _smallest(lambda invocations: difference(phase, invocations, 0) is not None) - 1
        steps = _smallest(lambda steps: difference(phase, invocation, steps) is not None)
        found = difference(phase, invocation, steps)
        # Each record names the last effect; one of the two may be lost with a store that is.
        for record in reversed(self.records(traced, phase, steps, invocation).values()):
            if record[invocation, _WRITTEN]:
                break
        else:
            return None
        if found is None:
            return None
        statement, expr, _, _, _ = traced[1][int(record[invocation, _LAST])]
        decl = next(decl for decl in self.program.buffers if decl.name == found.buffer)
        lanes = _LANES[decl.element.name] if decl.element.name.startswith("Vec") else 1
        kind = _core.DataType.U32 if lanes > 1 else decl.element
        index, lane = divmod(found.index, lanes)
        return _Point(
            statement,
            expr,
            True,
            kind,
            invocation,
            phase,
            steps - 1,
            {name: (int(value) & _ALL, int(value) >> 32)[: _LANES[kind.name]] for name, value in found.values.items()},
            f"{found.buffer}[{index}]" + (f" (lane {lane})" if lanes > 1 else ""),
        )

    def difference(self, traced: tuple[Any, ...], phases: int, invocations: int, steps: int) -> OutputDifference | None:
        """Of the outputs where only the effects before these limits happen."""
        outputs = self.run(self.ways, traced, phases, steps, invocations)
        return self.stable_difference(outputs, traced, phases, steps, invocations)

    def stable_difference(
        self, outputs: Mapping[str, Mapping[str, np.ndarray]], traced: tuple[Any, ...], *limits: int
    ) -> OutputDifference | None:
        """Of the program's own outputs, without the elements that depend on the order of invocations."""
        found = _first_difference(self.program, outputs)
        if found is None or not self.unstable:
            return found
        one, *others = self.run(self.unstable, traced, *limits).values()
        unstable = {
            decl.name: np.logical_or.reduce(
                [np.asarray(one[decl.name] != other[decl.name]).reshape(-1) for other in others]
            )
            for decl in self.program.buffers
            if decl.access == _core.BufferAccess.ReadWrite
        }
        return _first_difference(self.program, outputs, unstable)

    def run(
        self, ways: Mapping[str, Runner], traced: tuple[Any, ...], phases: int, steps: int, invocations: int = _ALL
    ) -> dict[str, Mapping[str, np.ndarray]]:
        program, _, limits, record = traced
        words = np.array([phases, steps, self.groups[0], self.groups[1], invocations], np.uint32)
        inputs = {**self.inputs, limits: words, record: self.count * _WORDS}
        self.dispatches += len(ways)
        return {name: way(program, inputs, self.groups) for name, way in ways.items()}

    def records(
        self, traced: tuple[Any, ...], phases: int, steps: int, invocations: int = _ALL
    ) -> dict[str, np.ndarray]:
        outputs = self.run(self.ways, traced, phases, steps, invocations)
        if phases == steps == _ALL and self.traced is None:
            self.traced = self.stable_difference(outputs, traced, phases, steps)
        return {name: np.asarray(given[traced[3]]).reshape(self.count, _WORDS) for name, given in outputs.items()}

    def divergence(self, found: _Point, output: OutputDifference, note: str) -> Divergence:
        statement, expression, place = _core._statement_at(self.program, found.statement, found.expr, found.effect)
        if found.effect:
            what = "store" if found.expr is None else "atomic"
            expression = f"{found.element or expression}, after the {what}"
        group, local = divmod(found.invocation, self.local_count)
        workgroup, local_id = _ids(group, self.groups), _ids(local, self.program.workgroup_size)
        return Divergence(
            output=output,
            dispatches=self.dispatches,
            values={name: _typed(found.type, found.values.get(name)) for name in self.ways},
            expression=expression or f"{statement.split()[1]}, at the start of a turn",
            statement=statement,
            place=place,
            type=found.type,
            invocation=tuple(
                w * s + i for w, s, i in zip(workgroup, self.program.workgroup_size, local_id, strict=True)
            ),
            workgroup=workgroup,
            local=local_id,
            phase=found.phase,
            step=found.step,
            note=note,
        )


def _smallest(holds: Callable[[int], bool]) -> int:
    """The smallest n from 1 on for which `holds`, which stays true from there on."""
    high = 1
    while not holds(high):
        high = min(high * 2, _ALL)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _unfold(before: int, after: int) -> int:
    rotated = (before << 5 | before >> 27) & _ALL
    return (after * _UNSPREAD & _ALL) ^ rotated


def _ids(number: int, sizes: Sequence[int]) -> tuple[int, int, int]:
    number, x = divmod(number, sizes[0])
    z, y = divmod(number, sizes[1])
    return x, y, z


def _typed(kind: DataType, lanes: tuple[int, ...] | None) -> int | tuple[int, ...] | None:
    """A value as Python has it; None where a backend went another way and never computed it."""
    if lanes is None:
        return None
    if kind == _core.DataType.I32:
        return lanes[0] - (1 << 32) if lanes[0] >> 31 else lanes[0]
    if kind == _core.DataType.U64:
        return lanes[0] | lanes[1] << 32
    return lanes[0] if len(lanes) == 1 else lanes


def _shown(value: int | tuple[int, ...] | None) -> str:
    if value is None:
        return "never computed: it went another way"
    if isinstance(value, tuple):
        return f"({', '.join(_shown(lane) for lane in value)})"
    return f"{value} ({value:#x})" if value >= 0 else f"{value}"
