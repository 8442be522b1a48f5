"""The walk over a Program that counts what a call of it does.

Each statement is counted as often as it runs: for the whole grid, times the turns of the loops around. Integers that
the call knows are numbers, the others are intervals, and the invocations that reach a statement are a box of the grid
for as long as only comparisons of ids with known numbers have decided. What depends on memory is counted as the most
that it can be. A loop without a proven bound has a count of its own, for one turn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vyre import _core
from vyre._core import DataType
from vyre._kernel.costs.intervals import ANY, MOST, TRUTH, Interval, binary, join, unary
from vyre._kernel.counts import CostLoop, Count, Totals
from vyre._kernel.trace import PARAMS
from vyre._kernel.wire import LITERALS, read_wire

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre._core import Program
    from vyre._kernel.wire import Expression, Statement

__all__ = ["Walk"]

_FREE = frozenset([*LITERALS.values(), "var", "len", "id", "lane", "pack"])  # they compute nothing


@dataclass(frozen=True)
class _Reach:
    """How often a statement is reached. If ``box`` is known, its invocations reach it, each equally often."""

    count: int
    exact: bool
    box: tuple[tuple[int, int], ...] | None


class Walk:
    def __init__(
        self, program: Program, words: list[int | None], lengths: Mapping[str, int], extents: tuple[int, int, int]
    ) -> None:
        self._wire = read_wire(program)
        self._words, self._lengths, self._extents = words, lengths, extents
        self._size = program.workgroup_size
        self._elements = {decl.name: decl.element for decl in program.buffers}
        self.bytes_of = {name: element.min_bytes() for name, element in self._elements.items()}
        self._places = _places_of_loops(program)
        self._env: dict[str, Interval | None] = {}
        self.loops: list[tuple[int, int | None, str, Totals | None]] = []
        self._next_loop = 0
        self._within: int | None = None  # the innermost loop without a proven bound

    def run(self) -> tuple[Totals, list[CostLoop]]:
        totals = Totals()
        count = math.prod(self._extents)
        self._block(self._wire.body, _Reach(count, True, tuple((0, extent) for extent in self._extents)), totals)
        made = []
        turns = dict(totals.counts)
        for _, _, _, inside in self.loops:
            turns |= {} if inside is None else inside.counts
        for k, within, why, inside in sorted(self.loops, key=_first):
            place = self._places.get(k)
            outer = None if within is None else self._places.get(within)
            made.append(
                CostLoop(
                    None if place is None else place.file,
                    None if place is None else place.line,
                    Count(*turns.get(("turns", str(k)), (0, True))) if inside is None else None,
                    None if outer is None else outer.line,
                    why,
                    *(inside or Totals()).groups(self.bytes_of),
                )
            )
        return totals, made

    # Statements. Each method returns how the next statement is reached, or None if it is unreachable.

    def _block(self, statements: Sequence[Statement], reach: _Reach, totals: Totals) -> _Reach | None:
        here: _Reach | None = reach
        for statement in statements:
            if here is None or here.count == 0:
                self._skip([statement])
                continue
            here = getattr(self, f"_on_{statement.kind}")(statement, here, totals)
        return here

    def _skip(self, statements: Sequence[Statement]) -> None:
        """Number the loops of statements that nothing reaches."""
        for each in _all(statements):
            if each.kind == "loop":
                self.loops.append((self._next_loop, self._within, "", None))
                self._next_loop += 1

    def _on_let(self, statement: Statement, reach: _Reach, totals: Totals) -> _Reach:
        self._env[statement.name] = self._evaluate(statement, reach, totals)[0]
        return reach

    _on_assign = _on_let

    def _on_store(self, statement: Statement, reach: _Reach, totals: Totals) -> _Reach:
        self._evaluate(statement, reach, totals)
        totals.add("stored", statement.name, reach.count, reach.exact)
        return reach

    def _on_barrier(self, statement: Statement, reach: _Reach, totals: Totals) -> _Reach:
        return reach

    def _on_return(self, statement: Statement, reach: _Reach, totals: Totals) -> None:
        return None

    _on_break = _on_return

    def _on_if(self, statement: Statement, reach: _Reach, totals: Totals) -> _Reach | None:
        (condition,) = self._evaluate(statement, reach, totals)
        if condition is not None and condition.low > 0:
            end = self._block(statement.body, reach, totals)
            self._skip(statement.otherwise)
            return end
        if condition is not None and condition.high == 0:
            self._skip(statement.body)
            return self._block(statement.otherwise, reach, totals)
        split = self._split(statement.exprs[0], reach)
        before = dict(self._env)
        yes, no = Totals(), Totals()
        then, other = split or (_Reach(reach.count, reach.exact, None), _Reach(reach.count, reach.exact, None))
        ends = [self._block(statement.body, then, yes)]
        after, self._env = self._env, before
        ends.append(self._block(statement.otherwise, other, no))
        self._env = {
            name: join(after.get(name, value), value)
            if ends[0] and ends[1]
            else (value if ends[1] else after.get(name))
            for name, value in self._env.items()
        }
        if split is not None:
            totals.add_all(yes)
            totals.add_all(no)
        else:
            totals.add_all(yes.either(no, reach.exact))
        if ends[0] is None or ends[1] is None:
            left = ends[0] or ends[1]
            return left if split is not None or left is None else _Reach(left.count, False, None)
        if _leaves(statement.body) or _leaves(statement.otherwise):
            return _Reach(reach.count, False, None)
        return reach

    def _on_block(self, statement: Statement, reach: _Reach, totals: Totals) -> _Reach | None:
        return self._block(statement.body, reach, totals)

    def _on_loop(self, statement: Statement, reach: _Reach, totals: Totals) -> _Reach:
        first, end = self._evaluate(statement, reach, totals)
        number = self._next_loop
        self._next_loop += 1
        first, end = first or ANY, end or ANY
        leaves = _leaves(statement.body)
        for name in _assigned(statement.body):  # these are unknown at the start of a turn
            self._env[name] = None if self._env.get(name) is None else ANY
        self._env[statement.name] = Interval(first.low, max(first.low, end.high - 1))
        turns = max(0, end.high - first.low)
        exact = reach.exact and not leaves and first.known is not None and end.known is not None
        if end.high == MOST:
            why = "it is a `while`, whose end memory or a computation decides"
            if end.known is None:
                why = "how many turns it has is read from memory, or computed with numbers that are unknown"
            inside, outer = Totals(), self._within
            self._within = number
            self._block(statement.body, _Reach(1, not leaves, None), inside)
            self._within = outer
            self.loops.append((number, outer, why, inside))
        else:
            self.loops.append((number, self._within, "", None))
            totals.add("turns", str(number), reach.count * turns, exact)
            if turns:
                box = reach.box if exact else None
                self._block(statement.body, _Reach(reach.count * turns, exact, box), totals)
            else:
                self._skip(statement.body)
        if any(each.kind == "return" for each in _all(statement.body)):
            return _Reach(reach.count, False, None)
        return reach

    # Conditions on ids.

    def _split(self, condition: int, reach: _Reach) -> tuple[_Reach, _Reach] | None:
        """How the two branches of a condition are reached, if the invocations that take one of them are a box."""
        if reach.box is None:
            return None
        box, holds = self._box(condition)
        if box is None:
            return None
        inside = tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(reach.box, box, strict=True))
        size = math.prod(b - a for a, b in reach.box)
        part = math.prod(max(0, b - a) for a, b in inside)
        count = reach.count // size * part if size else 0
        rest = [k for k in range(3) if inside[k] != reach.box[k]]
        other = None
        if len(rest) == 1:  # the complement is a box too if one end is cut off
            (a, b), (c, d) = reach.box[rest[0]], inside[rest[0]]
            ends = (d, b) if c == a else (a, c) if d == b else None
            if ends is not None:
                other = tuple(ends if k == rest[0] else each for k, each in enumerate(reach.box))
        pair = _Reach(count, reach.exact, inside), _Reach(reach.count - count, reach.exact, other)
        return pair if holds else (pair[1], pair[0])

    def _box(self, expr: int) -> tuple[tuple[tuple[int, int], ...] | None, bool]:
        """A box of invocations, and whether the expression holds for them (True) or for all others (False)."""
        each = self._wire.exprs[expr]
        whole = tuple((0, extent) for extent in self._extents)
        if each.kind == "unary" and each.name == "LogicalNot":
            box, holds = self._box(each.operands[0])
            return box, not holds
        if each.kind != "binary":
            return None, True
        if each.name == "And":
            (a, holds), (b, also) = self._box(each.operands[0]), self._box(each.operands[1])
            if a is None or b is None or not (holds and also):
                return None, True
            return tuple((max(x[0], y[0]), min(x[1], y[1])) for x, y in zip(a, b, strict=True)), True
        left, right = (self._known[k] for k in each.operands)
        name = each.name
        if left is None or right is None:
            return None, True
        if left.axis is None:
            left, right = right, left
            name = {"Lt": "Gt", "Gt": "Lt", "Le": "Ge", "Ge": "Le"}.get(name, name)
        if left.axis is None or right.known is None:
            return None, True
        n = right.known
        ends = {"Lt": (0, n), "Le": (0, n + 1), "Gt": (n + 1, MOST + 1), "Ge": (n, MOST + 1)}
        ends |= {"Eq": (n, n + 1), "Ne": (n, n + 1)}
        if name not in ends:
            return None, True
        low, high = ends[name]
        axis = left.axis
        return tuple((low, min(high, e[1])) if k == axis else e for k, e in enumerate(whole)), name != "Ne"

    # Expressions.

    def _evaluate(self, statement: Statement, reach: _Reach, totals: Totals) -> list[Interval | None]:
        """The values of a statement's expressions; each expression that it needs is counted once."""
        needed = set(statement.exprs)
        open_ = list(needed)
        while open_:
            for each in self._wire.exprs[open_.pop()].operands:
                if each not in needed:
                    needed.add(each)
                    open_.append(each)
        self._known: dict[int, Interval | None] = {}
        for k in sorted(needed):
            self._known[k] = self._value(k, reach, totals)
        return [self._known[k] for k in statement.exprs]

    def _value(self, k: int, reach: _Reach, totals: Totals) -> Interval | None:
        each = self._wire.exprs[k]
        self._count(each, reach, totals)
        operands = [self._known[operand] for operand in each.operands]
        if each.kind == "u32":
            return Interval(each.value, each.value)
        if each.kind == "var":
            return self._env.get(each.name)
        if each.kind == "len":
            count = self._lengths.get(each.name)
            return ANY if count is None else Interval(count, count)
        if each.kind == "id":
            return self._id(each.name, each.value)
        if each.kind == "load":
            return self._loaded(each.name, operands[0])
        if each.kind.startswith("atomic "):
            return ANY
        if each.name == "Select" and each.kind == "ternary":
            condition, yes, no = operands
            if condition is not None and condition.low > 0:
                return yes
            return no if condition is not None and condition.high == 0 else join(yes, no)
        if each.kind == "cast":
            return operands[0] if each.name == "U32" else None
        if each.kind == "unary":
            return TRUTH if each.name == "LogicalNot" and operands[0] is None else unary(each.name, operands[0])
        return binary(each.name, operands[0], operands[1]) if each.kind == "binary" else None

    def _count(self, each: Expression, reach: _Reach, totals: Totals) -> None:
        if each.kind in _FREE or (each.kind == "load" and each.name == PARAMS):
            return
        if each.kind == "load":
            totals.add("loaded", each.name, reach.count, reach.exact)
        elif each.kind.startswith("atomic "):
            totals.add("atomics", each.name, reach.count, reach.exact)
        else:
            totals.add("operations", _name(each.kind, each.name), reach.count, reach.exact)

    def _loaded(self, buffer: str, index: Interval | None) -> Interval | None:
        word = index.known if buffer == PARAMS and index is not None else None
        if word is not None and word < len(self._words):
            value = self._words[word]
            return ANY if value is None else Interval(value, value)
        return ANY if self._elements[buffer] is DataType.U32 else None

    def _id(self, which: str, axis: int) -> Interval:
        extent = self._extents[axis]
        if which == "lid":
            extent = self._size[axis]
        elif which == "wid":
            extent //= self._size[axis]
        return Interval(0, max(0, extent - 1), axis if which == "gid" and extent > 1 else None)


def _first(row: Sequence[Any]) -> int:
    found: int = row[0]
    return found


def _name(kind: str, name: str) -> str:
    if kind == "cast":
        return kind
    if kind == "call":
        return name
    found: str = next(row[1] for row in _core._tables[kind] if row[0] == name)
    return found


def _all(statements: Sequence[Statement]) -> list[Statement]:
    found = list(statements)
    for each in found:
        found.extend(each.body)
        found.extend(each.otherwise)
    return found


def _assigned(statements: Sequence[Statement]) -> set[str]:
    return {each.name for each in _all(statements) if each.kind == "assign"}


def _leaves(statements: Sequence[Statement]) -> bool:
    """Whether statements may end the kernel, or the loop around them."""
    open_ = [(each, False) for each in statements]
    for each, inside in open_:
        if each.kind == "return" or (each.kind == "break" and not inside):
            return True
        inside = inside or each.kind == "loop"
        open_ += [(inner, inside) for inner in (*each.body, *each.otherwise)]
    return False


def _places_of_loops(program: Program) -> dict[int, Any]:
    points = _core._trace(program, _core._trace_numbers["statements"], None, [])[1]
    loops = [point for point in points if point[1] is None and not point[2]]
    return {k: _core._statement_at(program, point[0], None, False)[2] for k, point in enumerate(loops)}
