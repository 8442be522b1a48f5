"""How many turns of loops an invocation makes at most in each kernel that a call of the library dispatches.

Three steps. A dry call runs a call's code on the host for arrays of any lengths, and notes each procedure with its
shapes and numbers; nothing is dispatched, and results are zeros. The core unrolls the steps of such a procedure without
its arrays. A walk over each step's program bounds the turns of its loops by intervals, for the lengths and the numbers
that the step has. What memory decides has no bound there; `counted` runs a call and counts.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import _core
from vyre._base.types import NUMPY
from vyre._kernel.costs.intervals import ANY, MOST, Interval
from vyre._kernel.costs.walk import Walk, _all, _Reach
from vyre._kernel.counts import Totals
from vyre._kernel.recording import RECORDING
from vyre._procedure.arguments import argument_of
from vyre._procedure.check import Memory
from vyre._procedure.flat import Part, call_of
from vyre._procedure.procedure import ProcedureFunction
from vyre._procedure.recorder import ACTIVE
from vyre._tools.procedure_bisect import inputs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_OWN = (vyre.BufferAccess.Workgroup, vyre.BufferAccess.Private)
_SOME = 3  # steps with the same program that are walked over, from the first and from the last: a repetition's turns


@dataclass(frozen=True)
class Step:
    """A dispatch of a procedure: its kernel, what its buffers hold, and its grid in workgroups."""

    procedure: str
    kernel: str
    program: vyre.Program
    lengths: tuple[tuple[str, int], ...]
    words: tuple[int, ...]
    grid: tuple[int, int, int]

    def turns(self) -> tuple[int, int]:
        """The most turns of an invocation as far as they are bounded, and how many loops are not."""
        extents = tuple(count * size for count, size in zip(self.grid, self.program.workgroup_size, strict=True))
        return _Turns(self.program, list(self.words), dict(self.lengths), extents).run_once()


class _Turns(Walk):
    """The walk of Kernel.cost, for one invocation of the grid.

    A loop from `a` to `b` also has no more turns than `b - a`, written as a sum of products: of pieces of an array,
    that leaves their length, which intervals of `a` and `b` do not show. Where `b` wraps around, the loop has no turn.
    """

    def run_once(self) -> tuple[int, int]:
        self._made: dict[str, int] = {}  # the expressions of variables that keep their value
        statements = _all(self._wire.body)
        assigned = {each.name for each in statements if each.kind == "assign"}
        declared = Counter(each.name for each in statements if each.kind in ("let", "loop"))
        self._fixed = {name for name, count in declared.items() if count == 1} - assigned
        self._values: dict[int, Any] = {}
        self._indices: dict[str, Interval] = {}  # of loops whose turns a difference bounds
        totals = Totals()
        self._block(self._wire.body, _Reach(1, False, None), totals)
        bounded = sum(count for (group, _), (count, _) in totals.counts.items() if group == "turns")
        return bounded, sum(inside is not None for *_, inside in self.loops)

    def _on_let(self, statement: Any, reach: Any, totals: Any) -> Any:
        if statement.kind == "let" and statement.name in self._fixed and self._keeps_its_value(statement.exprs[0]):
            self._made[statement.name] = statement.exprs[0]
        return super()._on_let(statement, reach, totals)

    def _keeps_its_value(self, k: int) -> bool:
        """Whether an expression has the same value wherever it stands."""
        each = self._wire.exprs[k]
        if each.kind == "var":
            return each.name in self._fixed
        if each.kind == "load":
            return each.name == "__params"
        return not each.kind.startswith("atomic") and all(map(self._keeps_its_value, each.operands))

    _on_assign = _on_let

    def _value(self, k: int, reach: Any, totals: Any) -> Any:
        each = self._wire.exprs[k]
        value = self._indices.get(each.name) if each.kind == "var" else None
        value = self._values[k] = super()._value(k, reach, totals) if value is None else value
        return value

    def _on_loop(self, statement: Any, reach: Any, totals: Any) -> Any:
        first, end = self._evaluate(statement, reach, totals)
        most = self._difference(statement.exprs[1], statement.exprs[0])
        self._indices.pop(statement.name, None)
        # The walk asks for both ends again: it gets some that are as far apart.
        if most is not None and (first is None or end is None or most < end.high - first.low):
            self._ends = [Interval(0, 0), Interval(most, most)]
            begin = ANY if first is None else first
            self._indices[statement.name] = Interval(begin.low, min(begin.high + max(most, 1) - 1, MOST))
        return super()._on_loop(statement, reach, totals)

    _ends: list[Interval] | None = None

    def _evaluate(self, statement: Any, reach: Any, totals: Any) -> Any:
        values = super()._evaluate(statement, reach, totals)
        if statement.kind == "loop" and self._ends is not None:
            values, self._ends = self._ends, None
        return values

    def _difference(self, end: int, first: int) -> int | None:
        """The most that end - first is, if sums of products tell."""
        forms = [_plus(a, b, -1) for a in self._forms(end, "Min") for b in self._forms(first, "Max")]
        bounds = [self._most(form) for form in forms if form is not None]
        return min((each for each in bounds if each is not None and each <= MOST), default=None)

    def _forms(self, k: int, choice: str) -> list[Any]:
        """Sums of products, {atoms: count}: each is no less than the value (Min), or no more (Max)."""
        each = self._wire.exprs[k]
        if each.kind == "var" and each.name in self._made:
            return self._forms(self._made[each.name], choice)
        if each.kind == "u32":
            return [{(): each.value}]
        if each.kind == "binary" and each.name == choice:
            return [form for operand in each.operands for form in self._forms(operand, choice)]
        if each.kind == "binary" and each.name in ("Add", "Sub", "Mul"):
            a, b = (self._forms(operand, choice) for operand in each.operands)
            if each.name == "Mul":
                return [_times(a[0], b[0])] if len(a) == len(b) == 1 else [self._atom(k)]
            if each.name == "Sub":
                # Only of a number, and where it does not wrap around.
                value = self._values.get(k)
                least = self._values.get(each.operands[0])
                if self._wire.exprs[each.operands[1]].kind != "u32" or value is None or least is None:
                    return [self._atom(k)]
                if least.low < self._wire.exprs[each.operands[1]].value:
                    return [self._atom(k)]
            sign = -1 if each.name == "Sub" else 1
            return [_plus(x, y, sign) for x in a for y in b][:16]
        return [self._atom(k)]

    def _atom(self, k: int) -> Any:
        return {(self._key(k),): 1}

    def _key(self, k: int) -> Any:
        """What tells one value from others, and where it is evaluated."""
        each = self._wire.exprs[k]
        if each.kind == "var" and each.name in self._made:
            return *self._key(self._made[each.name])[:-1], ("at", k)
        if each.kind == "var" and each.name in self._fixed:
            return "var", each.name, ("at", k)
        if not self._keeps_its_value(k):
            return each.kind, "now", k, ("at", k)
        return each.kind, each.name, each.value, *map(self._key, each.operands), ("at", k)

    def _most(self, form: Any) -> int | None:
        total = 0
        for atoms, count in form.items():
            low = high = 1
            for atom in atoms:
                value = self._values.get(atom[-1][1])
                if value is None:
                    return None
                low, high = low * value.low, high * value.high
            total += count * (high if count > 0 else low)
        return max(total, 0)


def _plus(a: Any, b: Any, sign: int) -> Any:
    keyed = {_bare(atoms): (atoms, count) for atoms, count in a.items()}
    for atoms, count in b.items():
        known = keyed.get(_bare(atoms), (atoms, 0))
        keyed[_bare(atoms)] = known[0], known[1] + sign * count
    return {atoms: count for atoms, count in keyed.values() if count}


def _bare(atoms: Any) -> Any:
    """Products without the places of their atoms."""
    return tuple(sorted(map(repr, (_without_places(atom) for atom in atoms))))


def _without_places(atom: Any) -> Any:
    if not isinstance(atom, tuple):
        return atom
    return tuple(_without_places(part) for part in atom if not (isinstance(part, tuple) and part[:1] == ("at",)))


def _times(a: Any, b: Any) -> Any:
    made: dict[Any, int] = {}
    for x, m in a.items():
        for y, n in b.items():
            made = _plus(made, {x + y: m * n}, 1)
    return made


@contextlib.contextmanager
def dry_calls(found: dict[tuple[Any, ...], Step], kernels: set[vyre.Program]) -> Iterator[None]:
    """Let calls of procedures and kernels run nothing.

    Args:
        found: gets the steps of procedures.
        kernels: gets the programs of kernels that are called outside of procedures.
    """
    call, before = ProcedureFunction.__call__, RECORDING.call

    def dry(self: ProcedureFunction, *args: Any, **kwargs: Any) -> Any:
        if ACTIVE.recorder is not None:
            return call(self, *args, **kwargs)
        options = {name: kwargs.pop(name, None) for name in ("out", "backend", "device", "timeout")}
        given = self._given(args, kwargs)
        made = self._recorded({each.name: given[each.name] for each in self._parameters if each.kind == "const"})
        procedure = made.core
        shapes = []
        for decl in made._of_role("input", "in_out"):
            lanes = len(NUMPY[decl.element][1])
            shape = given[decl.name].shape
            shapes.append(tuple(shape[: len(shape) - lanes]))
        numbers = [argument_of(self, each, given[each.name]) for each in self._parameters if each.kind == "scalar"]
        whole = note_steps(found, procedure, shapes, numbers)
        on_host = not any(isinstance(each, vyre.Array) for each in given.values())
        outputs = {}
        for (kind, name, element, _), shape in zip(_core._procedure_interface(procedure, True), whole, strict=True):
            dtype, lanes = NUMPY[element]
            if kind == "output":
                outputs[name] = vyre.zeros((*shape, *lanes), dtype, backend="cpu")
                if on_host and options["backend"] is None:
                    outputs[name] = outputs[name].numpy()
        results = tuple(outputs[d.name] if d.name in outputs else given[d.name] for d in made.results)
        return results[0] if len(results) == 1 else results or None

    ProcedureFunction.__call__ = dry  # type: ignore[method-assign]
    RECORDING.call = lambda kernel, args, kwargs: kernels.add(kernel.program)
    try:
        yield
    finally:
        ProcedureFunction.__call__, RECORDING.call = call, before  # type: ignore[method-assign]


def note_steps(found: dict[tuple[Any, ...], Step], procedure: Any, shapes: Any, numbers: Any) -> Any:
    """Note the dispatches of a procedure for some shapes and numbers; gives the shapes of its results."""
    programs, _, steps, _, _, whole = _core._flat_steps(procedure, shapes, numbers, "cpu", 0)
    of_program: dict[int, list[Any]] = {}
    for step in steps:
        if step[0] == "dispatch":
            of_program.setdefault(step[2], []).append(step)
    for which, dispatches in of_program.items():
        program = programs[which]
        declared = [decl for decl in program.buffers if decl.access not in _OWN]
        for _, what, _, bound, grid, *_ in dispatches[:_SOME] + dispatches[_SOME:][-_SOME:]:
            lengths, words = [], ()
            for decl, part in zip(declared, bound, strict=True):
                size = len(part) if isinstance(part, bytes) else part[2]
                lengths.append((decl.name, size // max(decl.element.min_bytes(), 1)))
                if decl.name == "__params":
                    words = tuple(np.frombuffer(part, np.uint32).tolist())
            kernel, *_, owner = re.findall(r"`([^`]*)`", what)
            made = Step(owner, kernel, program, tuple(lengths), words, tuple(grid))
            found[owner, kernel, which, made.lengths, words, made.grid] = made
    return whole


def counted(procedure: ProcedureFunction, given: dict[str, Any]) -> Counter[tuple[str, str]]:
    """Run a call on the reference; the most turns of an invocation, by procedures and kernels."""
    call = call_of(procedure, given)
    memory = Memory(call)
    most: Counter[tuple[str, str]] = Counter()
    for step in call.steps:
        if step.kind != "dispatch":
            memory.move(step)
            continue
        groups = memory.groups(step)
        if not all(groups):
            continue
        program, arrays = _counting(step.program, groups), inputs_of(step, memory)
        total = int(np.prod([a * b for a, b in zip(groups, step.program.workgroup_size, strict=True)]))
        made = vyre.run(program, {**arrays, "__turns": total}, groups, backend="reference")
        kernel, *_, owner = re.findall(r"`([^`]*)`", step.place.what)
        most[owner, kernel] = max(most[owner, kernel], int(made["__turns"].max()))
        for decl, part in zip(step.buffers, step.bound, strict=True):
            if decl.access == vyre.BufferAccess.ReadWrite and isinstance(part, Part):
                part.of(memory.bytes)[:] = np.ascontiguousarray(made[decl.name]).reshape(-1).view(np.uint8)
    return most


@contextlib.contextmanager
def counting_calls() -> Iterator[Counter[tuple[str, str]]]:
    """Gives the most turns of an invocation by procedures and kernels, of the calls until the end of the block."""
    most: Counter[tuple[str, str]] = Counter()
    call = ProcedureFunction.__call__

    def counting(self: ProcedureFunction, *args: Any, **kwargs: Any) -> Any:
        if ACTIVE.recorder is None:
            self._launch = None  # the short way asks for no procedure
            options = ("out", "backend", "device", "timeout")
            given = self._given(args, {name: value for name, value in kwargs.items() if name not in options})
            hosts = {k: v.numpy() if isinstance(v, vyre.Array) else v for k, v in given.items()}
            for kernel, turns in counted(self, hosts).items():
                most[kernel] = max(most[kernel], turns)
        return call(self, *args, **kwargs)

    ProcedureFunction.__call__ = counting  # type: ignore[method-assign]
    try:
        yield most
    finally:
        ProcedureFunction.__call__ = call  # type: ignore[method-assign]


def _counting(program: vyre.Program, groups: tuple[int, int, int]) -> vyre.Program:
    """The program, with a word for each invocation that counts its turns."""
    head, body = program.to_text().split("\n\n", 1)
    extents = [count * size for count, size in zip(groups, program.workgroup_size, strict=True)]
    place = f"((((gid.z * {extents[1]}) + gid.y) * {extents[0]}) + gid.x)"
    lines, count = [], 0
    for line in body.splitlines():
        lines.append(line)
        if line.strip().startswith("loop "):
            lines.append(f"let __turn_{count} = atomic_add(__turns, {place}, 1)")
            count += 1
    head += "\nbuffer __turns: read_write u32 binding 99"
    return vyre.parse(head + "\n\n" + "\n".join(lines) + "\n")


def steps_of(calls: dict[str, Callable[[], Any]]) -> tuple[dict[str, dict[tuple[Any, ...], Step]], set[vyre.Program]]:
    """The steps of each dry call, and the programs of kernels that were called alone."""
    kernels: set[vyre.Program] = set()
    found: dict[str, dict[tuple[Any, ...], Step]] = {}
    for name, call in calls.items():
        found[name] = {}
        with dry_calls(found[name], kernels):
            call()
    return found, kernels
