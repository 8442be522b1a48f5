"""Branches, repetitions and requirements in the body of a procedure: ``vyre.when``, ``otherwise``, ``times`` and
``require``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre._base.calls import REFUSALS, explain_calls
from vyre._base.text import shown
from vyre._procedure.carried import refuse_carried_names, refuse_other_beginnings
from vyre._procedure.changed import Watched
from vyre._procedure.leaving import refuse_left_blocks
from vyre._procedure.recorder import active, calling_line, place_text, recorder_of
from vyre._procedure.sizes import Size, as_size
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
    size = as_size(int(condition) if isinstance(condition, bool) else condition, "argument `condition` of vyre.when")
    line = calling_line()
    return _Block(recorder, "when", lambda: recorder.open(line, recorder.made.when, size))


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

    def begin() -> None:
        if recorder.ended != "when":
            raise ArgumentError(
                "vyre.otherwise does not follow a vyre.when. Fix: write it directly behind that with-block."
            )
        recorder.ended = "begun"
        recorder.depth += 1

    return _Block(recorder, "otherwise", begin)


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
    recorder.step(calling_line(), recorder.made.require, recorder.used(size), message)


class _Block:
    """A with-block whose steps a condition has; it begins once."""

    def __init__(self, recorder: Recorder, block: str, begin: Callable[[], Any]) -> None:
        self._recorder, self._block, self._begin = recorder, block, begin
        self._name = "vyre.when(...)" if block == "when" else "vyre.otherwise()"
        self._depth: int | None = None  # of its steps
        recorder.waiting[id(self)] = (self, self._name, calling_line())

    def __enter__(self) -> None:
        if self._depth is not None:
            raise ArgumentError(
                f"a with-block of {self._name} begins a second time. Fix: write `with {self._name}:` for each block."
            )
        refuse_other_beginnings(self._block)
        del self._recorder.waiting[id(self)]
        self._watched = Watched(self._name)
        self._begin()
        self._depth = self._recorder.depth

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        if self._recorder.depth != self._depth:
            self._recorder.left = True
        self._recorder.close(self._block)
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
    size, line = as_size(count, "argument `count` of vyre.times"), calling_line()

    def turns() -> Iterator[Any]:
        del recorder.waiting[id(turns)]
        refuse_other_beginnings("times")
        watched = Watched("vyre.times(...)")
        number = recorder.open(line, recorder.made.repeat, size)
        turn, before = number + 1, recorder.count
        recorder.turns.append(turn)
        try:
            yield Size(recorder, recorder.made.turn(number), turn)
        except GeneratorExit:
            recorder.left = True
            raise
        finally:
            recorder.turns.remove(turn)
            recorder.close("times")
        watched.refuse_changes()
        if recorder.count == before:
            raise ArgumentError(
                f"a loop over vyre.times{place_text(line)} repeats no steps. Fix: write them in its body."
            )

    recorder.waiting[id(turns)] = (turns, "vyre.times(...)", line)
    return turns()


def _instead_of_repeat() -> CallError | None:
    if active() is None:
        return None
    return CallError("vyre.repeat() has no place in a procedure. Fix: in a procedure, write `for i in vyre.times(n):`.")


REFUSALS["vyre.repeat"] = _instead_of_repeat

explain_calls(globals(), "vyre")
