"""Branches, repetitions and requirements in the body of a procedure: ``vyre.when``, ``otherwise``, ``times`` and
``require``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from vyre._arrays import graph
from vyre._base.calls import REFUSALS, explain_calls
from vyre._base.refused import must_be
from vyre._base.text import shown, type_of
from vyre._base.types import TYPES
from vyre._kernel.recording import is_tracing
from vyre._procedure.arrays import ProcedureArray
from vyre._procedure.carried import refuse_carried_names, refuse_other_beginnings, watched_turn
from vyre._procedure.changed import Watched
from vyre._procedure.leaving import refuse_left_blocks
from vyre._procedure.recorder import ACTIVE, active, calling_line, place_text, recorder_of
from vyre._procedure.sizes import Size, as_size
from vyre.errors import ArgumentError, BindingError, CallError

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


def times(count: Size | int, *, until: Any = None) -> Iterator[Any]:
    """Repeat the steps of a loop's body: ``for i in vyre.times(count):`` runs once here, and ``i`` is a Size.

    With ``until`` the device reads an element before each turn, and the loop ends once it is not 0: no step of a later
    turn does anything, and arrays that the loop swaps are where the last turn has left them. Every turn costs the
    device a moment, so ``count`` is best not far above what is needed.

    In the with-block of ``vyre.graph()`` a loop repeats the calls of its body; ``count`` is an integer there, ``until``
    a resident array, and ``i`` None.

    Args:
        count: the most turns.
        until: an array of one element, an integer or a boolean; ``flags[k:k + 1]`` is one of a larger array. A step of
            the loop writes it.

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
    >>> @vyre.kernel
    ... def halve(x: vyre.InOut[vyre.u32], is_one: vyre.Out[vyre.u32]):
    ...     x[0] = x[0] // 2
    ...     is_one[0] = x[0] == 1
    >>> @vyre.procedure
    ... def leading_one(x: vyre.InOut[vyre.u32]):
    ...     is_one = vyre.scratch(vyre.u32, 1, zeros=True)
    ...     for _ in vyre.times(32, until=is_one):
    ...         halve(x, is_one, grid=1)
    >>> x = vyre.array([100], dtype=vyre.u32, backend="cpu")
    >>> leading_one(x)
    >>> x.numpy()
    array([1], dtype=uint32)
    """
    if graph.is_recording() and ACTIVE.recorder is None and not is_tracing():
        return _begun_by_a_loop(graph.turns(count, until, watched_turn()))
    refuse_carried_names()
    recorder = recorder_of("vyre.times")
    if isinstance(count, ProcedureArray):
        raise ArgumentError(
            f"argument `count` of vyre.times is the array `{count._decl.name}`, whose elements are unknown until the "
            "procedure runs. Fix: pass the most turns, and end the loop by an element with until=."
        )
    size, line = as_size(count, "argument `count` of vyre.times"), calling_line()
    end = () if until is None else (_end(recorder, until),)

    def turns() -> Iterator[Any]:
        del recorder.waiting[id(turns)]
        refuse_other_beginnings("times")
        watched = Watched("vyre.times(...)")
        number = recorder.open(line, recorder.made.repeat, size, *end)
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


def _begun_by_a_loop(turns: Iterator[None]) -> Iterator[None]:
    refuse_other_beginnings("times", "graph")
    yield from turns


def _end(recorder: Recorder, until: Any) -> Any:
    """The element that ends a loop, for the core's builder. Its number of elements may be known to a call alone."""
    where = "argument `until` of vyre.times"
    if not isinstance(until, ProcedureArray):
        wanted = "an array of the procedure that a step of the loop writes"
        raise must_be(where, wanted, f"the size {until}" if isinstance(until, Size) else type_of(until), BindingError)
    array = recorder.array(until, where)
    if TYPES[array._element].components != 1 or TYPES[array._element].kind == "opaque":
        raise must_be(where, "an array of integers or booleans", f"{array!r}", BindingError)
    if math.prod(each for each in array._shape if isinstance(each, int)) != 1:
        raise must_be(where, "an array of one element, such as array[0:1]", f"{array!r}", BindingError)
    return array._part()


def _instead_of_repeat() -> CallError | None:
    if active() is None:
        return None
    return CallError("vyre.repeat() has no place in a procedure. Fix: in a procedure, write `for i in vyre.times(n):`.")


REFUSALS["vyre.repeat"] = _instead_of_repeat

explain_calls(globals(), "vyre")
