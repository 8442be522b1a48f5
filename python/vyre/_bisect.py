"""First divergence: where two backends that disagree began to."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._run import Device, run
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from vyre._core import DataType, Place, Program

    Runner: TypeAlias = Callable[[Program, Mapping[str, Any], Sequence[int]], Mapping[str, np.ndarray]]
    Way: TypeAlias = str | Device | Mapping[str, Any] | Runner

__all__ = ["Divergence", "OutputDifference", "bisect"]

# transform/trace.hpp: the words of an invocation's record, and what fold() multiplies by.
_WORDS = 3
_SPREAD = 0x9E3779B1
_UNSPREAD = pow(_SPREAD, -1, 1 << 32)
_ALL = 0xFFFFFFFF
_LANES = {row[0]: row[3] for row in _core._tables["types"]}
_MOST_EXCLUDED = 100
_MOST_INVOCATIONS = 1 << 26


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
    Values that atomics give in another order of invocations are left out: there the reference differs from itself.

    Attributes:
        output: the difference that was to be explained.
        values: what each backend computed: an int, or one an element for vectors.
        expression: what differs, in the text form; the variable of a loop at the start of a turn is named.
        statement: the statement that evaluates it.
        place: of both in the program, and the line that made it. None when the difference goes away as soon as values
            are recorded: then all that is told about it is ``output``.
        type: of the value.
        invocation, workgroup, local: ids along x, y, z.
        phase: barriers that the invocation had passed.
        step: values recorded of the invocation before this one.
        dispatches: how many were made to find it.
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
    note: str = ""

    def __str__(self) -> str:
        if self.place is None:
            names = " and ".join(self.output.values)
            return (
                f"{names} differ at {self.output}, and agree once values are recorded. "
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
    workgroups: int | Sequence[int],
    *,
    backend: Way | None = None,
    against: Way = "reference",
    timeout: float | None = None,
) -> Divergence | None:
    """Find the first value that two backends compute differently.

    Runs the program on both. When an output differs, runs a program that does the same and records what it computes,
    some tens of times on each, and narrows the difference down to one invocation and one expression.

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
    difference = _first_difference(outputs)
    if difference is None:
        return None
    groups = _triple(workgroups)
    size = program.workgroup_size
    if groups[0] * groups[1] * groups[2] * size[0] * size[1] * size[2] > _MOST_INVOCATIONS:
        raise ArgumentError(
            f"argument `workgroups` of vyre.bisect must make at most 2^26 invocations, got {tuple(groups)}. "
            f"Fix: look at a smaller grid: the outputs first differ at {difference}."
        )
    note = _order_note(program, inputs, groups, timeout)
    search = _Search(program, inputs, groups, ways)
    for stores_only in (False, True):
        excluded = _order_dependent(program, inputs, groups, timeout, stores_only)
        found = search.first(stores_only, excluded)
        if found is None:
            continue
        # The statement is known; a second look tells which of its expressions. It counts only if it shows the same.
        closer = search.first(
            stores_only, excluded, detail=found.statement, invocation=found.invocation, phase=found.phase
        )
        if closer is not None and closer.statement == found.statement:
            found = closer
        return search.divergence(found, difference, note)
    return Divergence(output=difference, dispatches=search.dispatches, note=note)


def _orders(timeout: float | None) -> dict[str, Runner]:
    orders = ("in-order", "reversed")
    return {order: _Run({"backend": "reference", "schedule": order}, timeout) for order in orders}


def _order_note(
    program: Program, inputs: Mapping[str, Any], groups: tuple[int, int, int], timeout: float | None
) -> str:
    outputs = {order: runner(program, inputs, groups) for order, runner in _orders(timeout).items()}
    difference = _first_difference(outputs)
    if difference is None:
        return ""
    return (
        f"the reference itself gives {difference}: the outputs depend on the order of invocations. "
        "Fix: vyre.check(program, inputs, workgroups) finds the race, or the atomic whose result is used."
    )


def _order_dependent(
    program: Program, inputs: Mapping[str, Any], groups: tuple[int, int, int], timeout: float | None, stores_only: bool
) -> list[tuple[int, int]]:
    """Values that may differ though nobody is wrong: what atomics give, which depends on who came first."""
    excluded: list[tuple[int, int]] = []
    if "atomic_" not in program.to_text():
        return excluded
    search = _Search(program, inputs, groups, _orders(timeout))
    while len(excluded) < _MOST_EXCLUDED:
        found = search.first(stores_only, excluded)
        if found is None or found.expr is None:
            break
        excluded.append((found.statement, found.expr))
    return excluded


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
        missing = [name for name in wanted if name not in given]
        if missing:
            raise ArgumentError(
                f"argument `{argument}` of vyre.bisect must give every ReadWrite buffer, "
                f"got none named {missing[0]!r}. Fix: return what vyre.run returns."
            )


def _first_difference(outputs: dict[str, Mapping[str, np.ndarray]]) -> OutputDifference | None:
    (one, left), (two, right) = outputs.items()
    for buffer in left:
        a, b = np.asarray(left[buffer]), np.asarray(right[buffer])
        different = np.flatnonzero(a.reshape(-1) != b.reshape(-1))
        if different.size:
            index = int(different[0])
            return OutputDifference(buffer, index, {one: a.reshape(-1)[index].item(), two: b.reshape(-1)[index].item()})
    return None


@dataclass(frozen=True)
class _Point:
    """Where the hashes first differ."""

    statement: int
    expr: int | None
    type: DataType
    invocation: int
    phase: int
    step: int  # of the value's first lane
    values: dict[str, tuple[int, ...]]


class _Search:
    """The dispatches of one bisection."""

    def __init__(
        self, program: Program, inputs: Mapping[str, Any], groups: tuple[int, int, int], ways: dict[str, Runner]
    ) -> None:
        self.program, self.inputs, self.groups, self.ways = program, inputs, groups, ways
        x, y, z = program.workgroup_size
        self.local_count = x * y * z
        self.count = groups[0] * groups[1] * groups[2] * self.local_count
        self.dispatches = 2

    def first(
        self,
        stores_only: bool,
        excluded: Sequence[tuple[int, int]],
        *,
        detail: int | None = None,
        invocation: int | None = None,
        phase: int | None = None,
    ) -> _Point | None:
        """The first point that differs; the invocation and the phase are searched for unless they are known."""
        traced = _core._trace(self.program, stores_only, detail, excluded)
        points = traced[1]

        def differing(phases: int, steps: int) -> np.ndarray:
            """Numbers of the invocations whose hashes differ, in ascending order."""
            one, two = self.records(traced, phases, steps).values()
            differs = (one != two).any(axis=1)
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
        numbers = {name: int(record[invocation, 2]) for name, record in after.items()}
        # One of them may have come to its end: then the other's next point is the difference.
        ended = [name for name in self.ways if int(after[name][invocation, 1]) < steps]
        number = numbers[next(name for name in self.ways if name not in ended)]
        statement, expr, kind, lane = points[number]
        first = steps - 1 - lane
        # A lane lies between the hashes before and after it; see fold() of transform/trace.hpp.
        hashes = [self.records(traced, phase + 1, first + k) for k in range(_LANES[kind.name] + 1)]
        values = {
            name: tuple(_unfold(*(int(record[name][invocation, 0]) for record in pair)) for pair in pairwise(hashes))
            for name in self.ways
            if name not in ended and numbers[name] == number
        }
        return _Point(statement, expr, kind, invocation, phase, first, values)

    def records(self, traced: tuple[Any, ...], phases: int, steps: int) -> dict[str, np.ndarray]:
        program, _, limits, record = traced
        words = np.array([phases, steps, self.groups[0], self.groups[1]], np.uint32)
        inputs = {**self.inputs, limits: words, record: self.count * _WORDS}
        self.dispatches += 2
        return {
            name: np.asarray(way(program, inputs, self.groups)[record]).reshape(self.count, _WORDS)
            for name, way in self.ways.items()
        }

    def divergence(self, found: _Point, output: OutputDifference, note: str) -> Divergence:
        statement, expression, place = _core._statement_at(self.program, found.statement, found.expr)
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
