"""Branches, repetitions and requirements in the body of a procedure: ``vyre.when``, ``otherwise``, ``times`` and
``require``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre._base.calls import REFUSALS, explain_calls
from vyre._base.text import shown
from vyre._procedure.carried import refuse_carried_names, refuse_other_steps
from vyre._procedure.changed import Watched
from vyre._procedure.leaving import refuse_left_blocks
from vyre._procedure.recorder import active, calling_line, place_text, recorder_of
from vyre._procedure.sizes import Size, as_size
from vyre._procedure.steps import Repeat, Require, When
from vyre.errors import ArgumentError, CallError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from vyre._procedure.recorder import Recorder

__all__ = ["otherwise", "require", "times", "when"]


def when(condition: Size | bool | int) -> AbstractContextManager[None]:
    """Run the steps of the with-block only where a condition on sizes holds.

    The condition is decided when the procedure is planned for the arrays of a call. ``vyre.otherwise`` may follow.

    >>> import vyre
    >>> @vyre.procedure
    ... def cleared(x: vyre.InOut[vyre.u32]):
    ...     with vyre.when(x.length > 100):
    ...         vyre.clear(x)
    """
    refuse_left_blocks("when(...)")
    refuse_carried_names()
    recorder = recorder_of("vyre.when")
    step = When(
        as_size(int(condition) if isinstance(condition, bool) else condition, "argument `condition` of vyre.when"),
        line=calling_line(),
    )

    def begin() -> list[Any]:
        recorder.add(step)
        return step.steps

    return _Block(recorder, "vyre.when(...)", begin)


def otherwise() -> AbstractContextManager[None]:
    """Run the steps of the with-block where the condition of the ``vyre.when`` before it does not hold.

    >>> import vyre
    >>> @vyre.procedure
    ... def cleared(x: vyre.InOut[vyre.u32], y: vyre.InOut[vyre.u32]):
    ...     with vyre.when(x.length > 100):
    ...         vyre.clear(x)
    ...     with vyre.otherwise():
    ...         vyre.clear(y)
    """
    refuse_left_blocks("otherwise()")
    refuse_carried_names()
    recorder = recorder_of("vyre.otherwise")

    def begin() -> list[Any]:
        steps = recorder.blocks[-1]
        if not steps or not isinstance(steps[-1], When) or steps[-1] is recorder.answered:
            raise ArgumentError(
                "vyre.otherwise does not follow a vyre.when. Fix: write it directly behind that with-block."
            )
        recorder.answered = steps[-1]
        return steps[-1].otherwise

    return _Block(recorder, "vyre.otherwise()", begin)


def require(condition: Size | bool | int, message: str) -> None:
    """Refuse calls whose lengths, numbers or device do not meet a condition.

    The condition is decided when the procedure is planned for the arrays of a call, before any step runs, also if the
    procedure is a step of another one. In a ``vyre.when`` it counts for the calls that get there.

    Args:
        condition: a comparison of sizes, as for ``vyre.when``.
        message: what the ArgumentError says, as ``<problem>. Fix: <specific action>.``

    >>> import numpy as np
    >>> import vyre
    >>> @vyre.procedure
    ... def cleared(x: vyre.InOut[vyre.u32]):
    ...     vyre.require(x.length > 0, "cleared takes no empty array. Fix: leave the call out.")
    ...     vyre.clear(x)
    >>> cleared(np.zeros(0, np.uint32), backend="cpu")
    Traceback (most recent call last):
    vyre.errors.ArgumentError: cleared takes no empty array. Fix: leave the call out.
    """
    recorder = recorder_of("vyre.require")
    if not isinstance(message, str) or ". Fix: " not in message[1:]:
        raise ArgumentError(
            f"argument `message` of vyre.require must be a problem with a Fix, got {shown(message)}. "
            'Fix: write "<problem>. Fix: <action>."'
        )
    size = as_size(int(condition) if isinstance(condition, bool) else condition, "argument `condition` of vyre.require")
    if not isinstance(size, Size):
        if not size:
            raise ArgumentError(message)
        return
    recorder.add(Require(size, message, calling_line()))


class _Block:
    """A with-block whose steps a condition has; it begins once."""

    def __init__(self, recorder: Recorder, name: str, begin: Callable[[], list[Any]]) -> None:
        self._recorder, self._name, self._begin = recorder, name, begin
        self._nested: AbstractContextManager[None] | None = None
        recorder.waiting[id(self)] = (self, name, calling_line())

    def __enter__(self) -> None:
        if self._nested is not None:
            raise ArgumentError(
                f"a with-block of {self._name} begins a second time. Fix: write `with {self._name}:` for each block."
            )
        del self._recorder.waiting[id(self)]
        self._watched = Watched(self._name)
        self._nested = self._recorder.nested(self._begin())
        self._nested.__enter__()

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        assert self._nested is not None
        self._nested.__exit__(None, None, None)
        if kind is not None:
            self._recorder.is_cut = True
        else:
            self._watched.refuse_changes()


def times(count: Size | int) -> Iterator[Any]:
    """Repeat the steps of a loop's body: ``for i in vyre.times(count):`` runs once here, and ``i`` is a Size.

    >>> import vyre
    >>> @vyre.kernel
    ... def add(x: vyre.InOut[vyre.u32], k: vyre.u32):
    ...     i = vyre.gid(0)
    ...     x[i] += k
    >>> @vyre.procedure
    ... def sums(x: vyre.InOut[vyre.u32], n: vyre.u32):
    ...     for i in vyre.times(n):
    ...         add(x, i)
    >>> x = vyre.zeros(2, backend="cpu")
    >>> sums(x, 5)
    >>> x.numpy()
    array([10, 10], dtype=uint32)
    """
    refuse_carried_names()
    recorder = recorder_of("vyre.times")
    recorder.turns += 1
    turn = Size("turn", f"turn{recorder.turns}")
    step = Repeat(as_size(count, "argument `count` of vyre.times"), turn, line=calling_line())
    key = id(step)
    recorder.waiting[key] = (step, "vyre.times(...)", calling_line())

    def turns() -> Iterator[Any]:
        _, _, line = recorder.waiting.pop(key)
        refuse_other_steps()
        watched = Watched("vyre.times(...)")
        recorder.add(step)
        with recorder.nested(step.steps):
            try:
                yield step.turn
            except GeneratorExit:
                recorder.left = True
                raise
        watched.refuse_changes()
        if not step.steps:
            raise ArgumentError(
                f"a loop over vyre.times{place_text(line)} repeats no steps. Fix: write them in its body."
            )

    return turns()


def _instead_of_repeat() -> CallError | None:
    if active() is None:
        return None
    return CallError("vyre.repeat() has no place in a procedure. Fix: in a procedure, write `for i in vyre.times(n):`.")


REFUSALS["vyre.repeat"] = _instead_of_repeat

explain_calls(globals(), "vyre")
