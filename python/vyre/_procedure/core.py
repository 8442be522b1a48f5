"""From what the builder has recorded to the Procedure of the C++ core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre import _core
from vyre._procedure.sizes import Size
from vyre._procedure.sources import note_recording
from vyre._procedure.steps import Clear, Dispatch, Invoke, Repeat, Require, Swap, When, line_text
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre._procedure.steps import ArrayDecl, Part, Recorded

__all__ = ["OPERATION_TEXTS", "core_procedure"]


class _Translation:
    """Names arrays, sizes and turns by the numbers that the core's builder gives them."""

    def __init__(self, recorded: Recorded) -> None:
        self._made = _core._ProcedureBuilder(recorded.name)
        self._sizes: dict[int, int] = {}
        self._arrays: dict[int, int] = {}
        self._numbers = {name: self._made.declare(name, type_) for name, type_ in recorded.numbers}
        self._turns: dict[int, int] = {}
        self._word_uses: dict[tuple[tuple[str, str], ...], int] = {}
        self._recorded = recorded
        for decl in recorded.arrays:
            self._declare(decl)
        self._steps(recorded.steps)
        for decl in recorded.results:
            self._made.result(self._arrays[id(decl)])

    def finish(self) -> _core.Procedure:
        return self._made.finish()

    def _declare(self, decl: ArrayDecl) -> None:
        contents = None if decl.contents is None else decl.contents.tobytes()
        shape = [self._size(each) for each in decl.shape]
        self._arrays[id(decl)] = self._made.array(
            decl.name, decl.role, decl.element, decl.axes, shape, decl.zeros, contents
        )

    def _size(self, size: Size | int) -> int:
        open_: list[Any] = [size]
        while open_:
            each = open_[-1]
            if id(each) in self._sizes and isinstance(each, Size):
                open_.pop()
                continue
            if not isinstance(each, Size):
                break
            missing = [arg for arg in each.args if isinstance(arg, Size) and id(arg) not in self._sizes]
            if missing and each.op not in ("length", "number", "limit", "turn"):
                open_.extend(missing)
                continue
            self._sizes[id(each)] = self._made_size(each)
            open_.pop()
        return self._sizes[id(size)] if isinstance(size, Size) else self._made.literal(int(size))

    def _made_size(self, size: Size) -> int:
        if size.op == "length":
            if id(size.args[0]) not in self._arrays:
                raise self._foreign(size)
            return self._made.length(self._arrays[id(size.args[0])], size.args[1])
        if size.op == "number":
            if size.args[1] is not self._recorded.owner:
                raise self._foreign(size)
            return self._made.number(self._numbers[size.args[0]])
        if size.op == "limit":
            return self._made.limit(size.args[0])
        if size.op == "turn":
            if id(size) not in self._turns:
                raise ArgumentError(
                    f"procedure `{self._recorded.name}` uses the turn of a vyre.times outside of its steps. "
                    "Fix: use it in the steps of that loop; arrays are made for all turns, for instance with "
                    "the most elements that a turn needs."
                )
            return self._made.turn(self._turns[id(size)])
        return self._made.apply(OPERATION_TEXTS.get(size.op, size.op), [self._size(each) for each in size.args])

    def _foreign(self, size: Size) -> ArgumentError:
        return ArgumentError(
            f"procedure `{self._recorded.name}` uses the size {size} of another procedure. "
            "Fix: pass it as an argument, with a parameter `n: vyre.u32`."
        )

    def _part(self, part: Part) -> tuple[int, Any, Any, Any]:
        offset, length = (None, None) if part.slice is None else (self._size(part.slice[0]), self._size(part.slice[1]))
        return self._arrays[id(part.array)], part.element, offset, length

    def _steps(self, steps: Sequence[Any]) -> None:
        for step in steps:  # recorded at most 32 deep
            self._made.line(line_text(step.line))
            if isinstance(step, Dispatch):
                self._dispatch(step)
            elif isinstance(step, Invoke):
                self._made.invoke(
                    core_procedure(step.procedure),
                    [self._part(each) for each in step.arrays],
                    [self._size(each) for each in step.numbers],
                )
            elif isinstance(step, Repeat):
                self._turns[id(step.turn)] = self._made.repeat(self._size(step.count))
                known = len(self._sizes)
                self._steps(step.steps)
                self._made.end()
                # Sizes of this turn mean nothing behind the loop.
                del self._turns[id(step.turn)]
                while len(self._sizes) > known:
                    self._sizes.popitem()
            elif isinstance(step, When):
                self._made.when(self._size(step.condition))
                self._steps(step.steps)
                if step.otherwise:
                    self._made.otherwise()
                    self._steps(step.otherwise)
                self._made.end()
            elif isinstance(step, Swap):
                self._made.swap(self._arrays[id(step.a)], self._arrays[id(step.b)])
            elif isinstance(step, Clear):
                self._made.clear(self._part(step.part))
            elif isinstance(step, Require):
                self._made.require(self._size(step.condition), step.message)

    def _dispatch(self, step: Dispatch) -> None:
        bound = [
            [self._size(word) for word in each] if isinstance(each, tuple) else self._part(each) for each in step.bound
        ]
        if isinstance(step.grid, tuple):
            most, counts = step.grid, None
        else:
            assert step.at_most is not None
            most, counts = step.at_most, self._part(step.grid)
        uses = None
        if step.word_uses:
            if step.word_uses not in self._word_uses:
                self._word_uses[step.word_uses] = self._made.word_uses(step.word_uses)
            uses = self._word_uses[step.word_uses]
        self._made.dispatch(
            step.name, step.program, bound, [self._size(each) for each in most], counts, step.counts_invocations, uses
        )


# The core's texts of operations that Python calls otherwise.
OPERATION_TEXTS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "mod": "%",
    "lt": "<",
    "le": "<=",
    "eq": "==",
    "ne": "!=",
}


def core_procedure(recorded: Recorded) -> _core.Procedure:
    """The value; what was recorded keeps it."""
    if recorded.core is None:
        recorded.core = _Translation(recorded).finish()
        note_recording(recorded.core, recorded)
        if recorded.is_vouched:
            _core._vouch(recorded.core)
    made: _core.Procedure = recorded.core
    return made
