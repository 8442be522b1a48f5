"""The tail of a grid: the invocations beyond it that rounding up to whole workgroups adds.

A grid is exact: its tail has no effect. Most kernels compare their index with the length of an array around all that
they do; where the grid covers that array, nothing has to be added. Otherwise the call runs a program with a comparison
of the index and the grid around the whole kernel.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from vyre._core import BufferAccess, BufferDecl, DataType, Expr, Node, Program
from vyre._kernel.arrays import NOWHERE
from vyre._kernel.parts import parts_of
from vyre._kernel.values import FOREVER
from vyre._kernel.words import MOST, PARAMS, Word

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre._kernel.parts import Expression, Parts, Statement
    from vyre._kernel.trace import Traced

__all__ = ["Bound", "Tails", "guarded", "tails_of"]

# The array of the counts of a resident grid. No parameter of a kernel may have this name.
_GRID = "grid"
_OF_WORKGROUPS = (BufferAccess.Workgroup, BufferAccess.Private)
# The comparisons of an index, on the left and on the right, that say that it is below a bound: if they hold, if not.
_BELOW, _ABOVE = ("Lt", "Gt"), ("Ge", "Le")


class Bound(NamedTuple):
    """What the index in the grid along an axis is below.

    Attributes:
        axis: of the index.
        name: of an array; None for the size of the grid.
        of: the axis of the array, or of the grid.
    """

    axis: int
    name: str | None
    of: int


_Bounds = frozenset[Bound]


class Tails(NamedTuple):
    """What a program does beyond a grid.

    Attributes:
        effects: for each statement that changes memory or may never end, what its index is below. Memory of a workgroup
            counts where there is no barrier: invocations beyond a grid load for others behind one.
        branches: the bounds that hold in each `if`.
        axes: how many axes the program asks about.
        waits: whether it has a barrier.
        compares: the bounds with which indices are compared before anything is stored.
        derives: the axes with an index from which a comparison before that is computed in another way.
    """

    effects: tuple[_Bounds, ...]
    branches: tuple[_Bounds, ...]
    axes: int
    waits: bool
    compares: _Bounds
    derives: frozenset[int]

    def ends_at(self, axis: int, is_within: Callable[[Bound], bool]) -> bool:
        """Whether nothing is changed beyond a grid along an axis; ``is_within`` tells of a bound."""
        return all(any(bound.axis == axis and is_within(bound) for bound in each) for each in self.effects)


def tails_of(traced: Traced) -> Tails:
    """The tails of a kernel, found when they are first asked for."""
    if traced.tails is None:
        traced.tails = _Search(traced.program, traced.layout).run()
    return traced.tails


class _Search:
    def __init__(self, program: Program, layout: Sequence[Word]) -> None:
        self._parts: Parts = parts_of(program)
        self._layout = layout
        self._shared = {each.name for each in program.buffers if each.access in _OF_WORKGROUPS}
        self._private = {each.name for each in program.buffers if each.access == BufferAccess.Private}
        self._values: dict[str, int] = {}  # of variables that are assigned once
        self._assigned = _assigned(self._parts.body)
        self._effects: list[_Bounds] = []
        self._of_workgroups: list[_Bounds] = []  # effects on their memory alone
        self._branches: list[_Bounds] = []
        self._compares: set[Bound] = set()
        self._derives: set[int] = set()
        self._stores = False
        self._waits = False
        self._changed: list[frozenset[str]] = []  # by expression, the arrays that its atomics change
        for each in self._parts.exprs:
            own = frozenset([each.name] if each.kind.startswith("Atomic") and each.name not in self._private else ())
            below = [self._changed[operand] for operand in each.operands if self._changed[operand]]
            self._changed.append(own.union(*below) if below else own)

    def run(self) -> Tails:
        """Walk over the statements in their order."""
        open_: list[tuple[list[Statement], int, _Bounds]] = [(self._parts.body, 0, frozenset())]
        while open_:
            statements, at, bounds = open_.pop()
            if at == len(statements):
                continue
            each = statements[at]
            if each.kind == "Let" and each.name not in self._assigned:
                self._values[each.name] = each.exprs[0]
            self._waits |= each.kind == "Barrier"
            self._note_effect(each, bounds)
            within = behind = otherwise = bounds
            if each.kind == "If":
                holds = self._bounds(each.exprs[0], True)
                fails = self._bounds(each.exprs[0], False)
                within, otherwise = bounds | holds, bounds | fails
                self._branches.append(within if holds else otherwise)
                # The rest of the block runs where the branch was not taken.
                if each.body and each.body[-1].kind == "Return":
                    behind = otherwise
            # Taken from the end, so in the order of the source.
            open_ += [(statements, at + 1, behind), (each.otherwise, 0, otherwise), (each.body, 0, within)]
        asked = [each.value for each in self._parts.exprs if each.kind == "GridId"]
        axes = 1 + max([0, *asked, *(word.part for word in self._layout if word.parameter is None)])
        effects = self._effects if self._waits else self._effects + self._of_workgroups
        found = tuple(effects), tuple(self._branches)
        return Tails(*found, axes, self._waits, frozenset(self._compares), frozenset(self._derives))

    def _note_effect(self, each: Statement, bounds: _Bounds) -> None:
        if not self._stores:
            for number in each.exprs:
                self._note_compared(number)
        changed = frozenset[str]().union(*(self._changed[number] for number in each.exprs))
        self._stores |= bool(changed)
        if each.kind == "Store" and each.name not in self._private:
            self._stores = True
            bounds = bounds if changed else bounds | self._of_index(each.name, each.exprs[0])
            changed |= {each.name}
        if changed - self._shared or (each.kind == "Loop" and not all(map(self._is_same_for_all, each.exprs))):
            self._effects.append(bounds)
        elif changed:
            self._of_workgroups.append(bounds)

    def _is_same_for_all(self, number: int) -> bool:
        """Whether lengths and numbers alone decide a bound of a loop. That of a `while` is no bound."""
        for each in self._reached(number):
            is_own = each.kind == "GridId" or each.kind.startswith("Atomic") or each.name in self._assigned
            if is_own or (each.kind == "Load" and each.name != PARAMS):
                return False
        last = self._parts.exprs[number]
        return last.kind != "Literal" or last.value != FOREVER

    def _note_compared(self, number: int) -> None:
        """Note what a user's comparisons in an expression compare an index with."""
        open_, seen = [number], set()
        while open_:
            number = open_.pop()
            each = self._parts.exprs[number]
            if number in seen or self._is_of_array(number):
                continue
            seen.add(number)
            open_ += each.operands
            if each.kind != "Binary" or each.name not in _BELOW + _ABOVE:
                continue
            for index, bound in (each.operands, each.operands[::-1]):
                if any(of.kind == "BufLen" or of.name == PARAMS for of in self._reached(bound)):
                    exact = self._compared(index, bound)
                    self._compares |= exact
                    ids = () if exact else self._reached(index)
                    self._derives |= {of.value for of in ids if of.kind == "GridId" and of.name != "lid"}

    def _reached(self, number: int) -> list[Expression]:
        """The expressions that a value is computed from, through variables that are assigned once as well."""
        found, open_, seen = [], [number], set()
        while open_:
            number = open_.pop()
            if number not in seen:
                seen.add(number)
                each = self._parts.exprs[number]
                found.append(each)
                open_ += each.operands
                if each.kind == "Var" and each.name in self._values:
                    open_.append(self._values[each.name])
        return found

    def _is_of_array(self, number: int) -> bool:
        """Whether an expression is the index of an array with axes, or one that no array has."""
        each = self._parts.exprs[number]
        other = self._parts.exprs[each.operands[2]] if each.kind == "Select" else each
        return each.kind == "Select" and other.kind == "Literal" and other.value == NOWHERE

    def _value(self, number: int) -> int:
        """The expression that a variable holds, if it is one."""
        each = self._parts.exprs[number]
        while each.kind == "Var" and each.name in self._values:
            number = self._values[each.name]
            each = self._parts.exprs[number]
        return number

    def _of_index(self, array: str, number: int) -> _Bounds:
        """The bounds within which a store is in its array: elsewhere it has no effect."""
        index = self._parts.exprs[self._value(number)]
        if array in self._shared:
            return frozenset()
        if index.kind == "GridId" and index.name == "gid":
            return frozenset([Bound(index.value, array, 0)])
        return self._bounds(index.operands[0], True) if self._is_of_array(self._value(number)) else frozenset()

    def _bounds(self, condition: int, holds: bool) -> _Bounds:
        """The bounds that each index is below where a condition holds, or where it does not."""
        found: _Bounds = frozenset()
        open_ = [(condition, holds)]
        while open_:
            number, holds = open_.pop()
            each = self._parts.exprs[self._value(number)]
            if each.kind == "Unary" and each.name == "LogicalNot":
                open_.append((each.operands[0], not holds))
            elif each.kind == "Binary" and each.name == ("And" if holds else "Or"):
                open_ += [(operand, holds) for operand in each.operands]
            elif each.kind == "Binary":
                names = _BELOW if holds else _ABOVE
                for name, (index, bound) in zip(names, (each.operands, each.operands[::-1]), strict=True):
                    if each.name == name:
                        found |= self._compared(index, bound)
        return found

    def _compared(self, index: int, bound: int) -> _Bounds:
        left, right = (self._parts.exprs[self._value(number)] for number in (index, bound))
        if left.kind != "GridId" or left.name != "gid":
            return frozenset()
        if right.kind == "BufLen":
            return frozenset([Bound(left.value, right.name, 0)])
        if right.kind == "Load" and right.name == PARAMS:
            word = self._layout[self._parts.exprs[right.operands[0]].value]
            if word.parameter is None or word.parameter.is_array:
                return frozenset([Bound(left.value, word.parameter.name if word.parameter else None, word.part)])
        return frozenset()


def _assigned(body: list[Statement]) -> set[str]:
    """The variables that are assigned more than once."""
    found, open_ = set(), [body]
    while open_:
        for each in open_.pop():
            if each.kind == "Assign":
                found.add(each.name)
            open_ += [each.body, each.otherwise]
    return found


def guarded(traced: Traced, arrays: int, axes: tuple[int, ...], *, is_resident: bool = False) -> Traced:
    """The trace of a kernel that does nothing beyond its grid along these axes.

    Args:
        arrays: how many of its parameters are arrays.
        is_resident: the grid is in an array, which the program binds behind PARAMS, where the largest counts are.
    """
    key = (axes, is_resident)
    if key not in traced.guarded:
        program, layout = traced.program, list(traced.layout)
        words = [Word(None, axis + MOST * is_resident) for axis in axes]
        layout += [word for word in words if word not in layout]
        ends = [Expr.load(PARAMS, layout.index(word)) for word in words]
        added = [BufferDecl.uniform(PARAMS, arrays, DataType.U32, count=len(layout))]
        if is_resident:
            ends = [Expr.min(end, Expr.load(_GRID, axis)) for axis, end in zip(axes, ends, strict=True)]
            added.append(BufferDecl.read(_GRID, arrays + 1, DataType.U32, count=3))
        kept = [Expr.invocation_id(axis) < end for axis, end in zip(axes, ends, strict=True)]
        body = [Node.if_(functools.reduce(Expr.logical_and, kept), program.entry)]
        kept_to = Program(_with(program.buffers, arrays, added), program.workgroup_size, body)
        traced.guarded[key] = traced.with_program(kept_to, layout)
    return traced.guarded[key]


def _with(buffers: Sequence[BufferDecl], arrays: int, added: Sequence[BufferDecl]) -> list[BufferDecl]:
    """The buffers with PARAMS and what stands behind it in its place, which is behind the arrays."""
    rest = [each for each in buffers[arrays:] if each.name != PARAMS]
    moves = len(added) - (len(buffers) - arrays - len(rest))
    for k, each in enumerate(rest):
        if moves and each.access not in _OF_WORKGROUPS:
            rest[k] = BufferDecl.storage(each.name, each.binding + moves, each.access, each.element, count=each.count)
    return [*buffers[:arrays], *added, *rest]
