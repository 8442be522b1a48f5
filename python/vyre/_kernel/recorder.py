"""Records what chosen invocations compute: the statements that a kernel gets for it, and how what they wrote is read.

A kernel is traced twice. The first trace keeps each value in a variable, whose type the Program tells. The second one
also stores the values, as words of a buffer of its own: each chosen invocation has an area there, which no other one
touches, so the records are the same on every backend. An area begins with the count of records; a record is the number
of the place in the source, the turns of the loops around it, and the lanes of the values. The first records are kept,
and where asked for, the last ones too.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from vyre import _core
from vyre._base.types import TYPES, value_of_words
from vyre._core import BufferDecl, DataType, Expr, Node
from vyre._kernel.rows import Row
from vyre._kernel.trace import RECORDS, Traced
from vyre._kernel.values import is_number
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import FrameType

    from vyre._core import Program
    from vyre._kernel.kernel import Kernel

__all__ = ["MOST_WORDS", "Areas", "Recorder", "record_kernel"]

_CHOSEN = "__vyre_chosen"
_NONE = 0xFFFFFFFF  # the area of an invocation that is not chosen, and the count of one that did not run
MOST_WORDS = 1 << 24  # of all areas
_STATEMENTS = _core._trace_numbers["statements"]
_AT, _COUNT = "__vyre_at", "__vyre_count"
# The expressions that have a number stand before the statement.
_IS_VALUE = re.compile(r"^let __vyre_value_(\d+)_(\d+) = ", re.MULTILINE)


@dataclass(frozen=True)
class Site:
    """A place of the source that records: there is one for each statement that was traced."""

    file: str
    line: int
    name: str
    values: tuple[Any, ...]  # the known ones; None for those that are recorded. The indices stand before the value
    turns: int  # loops around it
    is_truth: bool  # the value is a condition


@dataclass(frozen=True)
class Areas:
    """The records that are kept of each chosen invocation: the first ones and the last ones."""

    invocations: tuple[tuple[int, int, int], ...]
    first: int
    last: int


class Recorder:
    """Adds the statements that record to a kernel while it is traced; without ``types``, only what tells the types."""

    marks_lines: ClassVar[bool] = False

    def __init__(self, areas: Areas, types: Mapping[tuple[int, int], DataType] | None, watch: Any = None) -> None:
        self.areas, self.types, self._watch = areas, types, watch
        self.sites: list[Site] = []
        self.width = 0  # words of a record
        self._is_traced: Callable[[object], bool] = lambda code: False

    def begin(self, tracer: Any, is_traced: Callable[[object], bool]) -> None:
        self._tracer, self._is_traced = tracer, is_traced
        tracer.recorder = self
        if self._watch is not None:
            tracer.view = self._watch(tracer, self)
        if self.types is None:
            return
        k = Expr.var("__vyre_k")

        def chosen(axis: int) -> Expr:
            return Expr.load(_CHOSEN, Expr.var("__vyre_k") * 3 + axis)

        same = _core.eq(Expr.invocation_id(0), chosen(0))
        for axis in (1, 2):
            same = _core.logical_and(same, _core.eq(Expr.invocation_id(axis), chosen(axis)))
        found = [Node.assign(_AT, k), Node.store(RECORDS, k * self.area, 0)]
        tracer.emit(Node.let(_AT, _NONE))
        tracer.emit(Node.let(_COUNT, 0))
        tracer.emit(Node.loop("__vyre_k", 0, len(self.areas.invocations), [Node.if_(same, found)]))

    @property
    def area(self) -> int:
        return 1 + (self.areas.first + self.areas.last) * self.width

    def buffers(self, binding: int) -> list[BufferDecl]:
        if self.types is None:
            return []
        return [
            BufferDecl.read_write(RECORDS, binding, DataType.U32),
            BufferDecl.read(_CHOSEN, binding + 1, DataType.U32, count=3 * len(self.areas.invocations)),
        ]

    def frame(self) -> FrameType | None:
        """The innermost frame of the kernel or of a helper."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and not self._is_traced(frame.f_code):
            frame = frame.f_back
        return frame

    def record(self, name: str, value: Any, indices: Sequence[Any] = (), is_truth: bool = False) -> None:
        """Record a value of the statement that is traced, and the indices of the element that it is stored to."""
        tracer = self._tracer
        values = [*indices, value]
        if tracer.dead or not all(type(each) is Expr or is_number(each) for each in values):
            return
        number, frame = len(self.sites), self.frame()
        file, line = ("", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
        known = tuple(None if type(each) is Expr else each for each in values)
        self.sites.append(Site(file, line, name, known, len(tracer.around), is_truth))
        tracer.effects += 1  # in an arm of a conditional expression, only where the arm is taken
        words = [Expr.u32(number)]
        for loop in tracer.around:
            variable = Expr.var(loop._variable)
            words.append(variable if is_number(loop._first) and loop._first == 0 else variable - loop._first)
        for k, each in enumerate(values):
            if type(each) is Expr:
                made = f"__vyre_value_{number}_{k}"
                tracer.emit(Node.let(made, each))
                if self.types is not None:
                    kind = self.types.get((number, k))
                    if kind is None:  # in a body that is traced again
                        return
                    words += _lanes(Expr.var(made), kind)
        if self.types is not None:
            tracer.emit(Node.if_(_core.ne(Expr.var(_AT), _NONE), self._stores(number, words)))

    def _stores(self, number: int, words: list[Expr]) -> list[Node]:
        count, start = Expr.var(_COUNT), f"__vyre_start_{number}"
        first, last = self.areas.first, self.areas.last
        area = Expr.var(_AT) * self.area
        place = area + 1 + count * self.width
        if last:
            slot = _core.select(_core.lt(count, first), count, (count - first) % last + first)
            place = area + 1 + slot * self.width
        stores = [Node.let(start, place)]
        stores += [Node.store(RECORDS, Expr.var(start) + k, word) for k, word in enumerate(words)]
        kept = stores if last else [Node.if_(_core.lt(count, first), stores)]
        return [*kept, Node.assign(_COUNT, count + 1), Node.store(RECORDS, area, count)]

    # These methods read what was recorded.

    def types_in(self, program: Program) -> dict[tuple[int, int], DataType]:
        found = {}
        for statement, expr, effect, kind, lane in _core._trace(program, _STATEMENTS, None, [])[1]:
            if expr is None or effect or lane:
                continue
            told = _IS_VALUE.search(_core._statement_at(program, statement, expr, effect)[0])
            if told:
                found[int(told[1]), int(told[2])] = kind
        return found

    def lanes_of(self, types: Mapping[tuple[int, int], DataType]) -> int:
        """How many words the longest record has."""
        most = 1
        for number, site in enumerate(self.sites):
            lanes = sum(
                TYPES[types[number, k]].lanes
                for k, known in enumerate(site.values)
                if known is None and (number, k) in types
            )
            most = max(most, 1 + site.turns + lanes)
        return most

    def read(self, words: np.ndarray, kernel: str) -> tuple[list[Row], dict[tuple[int, int, int], int | None]]:
        """The rows of each invocation, in order, and how many it had; None for one that did not run."""
        rows: list[Row] = []
        counts: dict[tuple[int, int, int], int | None] = {}
        for k, invocation in enumerate(self.areas.invocations):
            area = words[k * self.area : (k + 1) * self.area]
            count = int(area[0])
            counts[invocation] = None if count == _NONE else count
            if count == _NONE:
                continue
            first, last = self.areas.first, self.areas.last
            order = list(range(min(count, first)))
            order += [first + (each - first) % last for each in range(max(first, count - last), count)]
            for place in order:
                record = area[1 + place * self.width : 1 + (place + 1) * self.width].tolist()
                rows.append(self._row(record, invocation, kernel))
        return rows, counts

    def _row(self, record: list[int], invocation: tuple[int, int, int], kernel: str) -> Row:
        number, *rest = record
        site = self.sites[number]
        turns, rest = tuple(rest[: site.turns]), rest[site.turns :]
        values: list[Any] = []
        kind: DataType | None = None
        for k, known in enumerate(site.values):
            kind = None
            if known is not None:
                values.append(bool(known) if isinstance(known, (bool, np.bool_)) else int(known))
                continue
            assert self.types is not None
            kind = self.types[number, k]
            lanes = TYPES[kind].lanes
            values.append(value_of_words(kind, rest[:lanes]))
            rest = rest[lanes:]
        *indices, value = values
        if site.is_truth:
            value = bool(value)
        name = site.name + (f"[{', '.join(map(str, indices))}]" if indices else "")
        return Row(kernel, invocation, site.file, site.line, turns, name, value, kind)


def _lanes(value: Expr, kind: DataType) -> list[Expr]:
    """A value as words of U32."""
    count = TYPES[kind].lanes
    if count > 1:
        return [Expr.lane(value, k) for k in range(count)]
    if kind is DataType.Bool:
        return [_core.select(value, 1, 0)]
    return [value if kind is DataType.U32 else Expr.cast(DataType.U32, value)]


def record_kernel(
    kernel: Kernel, constants: dict[str, Any], areas: Areas, function: str, watch: Any = None
) -> tuple[Traced, Recorder | None]:
    """The kernel with the statements that record, its buffers among the tables; None for one that records nothing."""

    def traced(recorder: Recorder) -> Traced:
        return kernel._traced_anew(kernel._rewritten, constants, recorder)

    looking = Recorder(areas, None, watch)
    plain = traced(looking)
    if not looking.sites:
        return plain, None
    types = looking.types_in(plain.program)
    recorder = Recorder(areas, types, watch)
    recorder.width = looking.lanes_of(types)
    words = len(areas.invocations) * recorder.area
    if words > MOST_WORDS:
        most = (MOST_WORDS // len(areas.invocations) - 1) // recorder.width
        raise ArgumentError(
            f"{function} was asked to keep {areas.first + areas.last} records of each of {len(areas.invocations)} "
            f"invocations, which are {words} words, and the most is {MOST_WORDS}. Fix: keep at most {most} of each."
        )
    made = traced(recorder)
    made.tables[RECORDS] = np.full(words, _NONE, np.uint32)
    made.tables[_CHOSEN] = np.array(areas.invocations, np.uint32).reshape(-1)
    return made, recorder
