"""``graph``: calls that are recorded once and replayed together."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import numpy as np

from vyre import _core
from vyre._arrays.dtype_names import dtype_name
from vyre._base.calls import explain_calls
from vyre._base.refused import must_be, not_installed
from vyre._base.taken import note_taken, taking
from vyre._base.text import as_count, shown, type_of
from vyre._base.types import OF_DTYPE
from vyre._core import Array
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from types import TracebackType
    from typing import Any

    from vyre._base.captured import Captures

__all__ = ["Graph", "graph", "is_recording", "turns"]

# The progress is looked at this often: seldom enough to cost nothing, often enough for a bar to move.
_SECONDS_A_LOOK = 0.1
_WORD = np.dtype(np.uint32)


class _OfThread(threading.local):
    """What the calls depend on that this thread records in a graph; None where it records none."""

    taken: list[Any] | None = None
    graph: Graph | None = None


_OF_THREAD = _OfThread()


def is_recording() -> bool:
    """Whether this thread is in the with-block of a graph."""
    return _OF_THREAD.taken is not None


class Graph:
    """Calls of programs, recorded in a with-block and replayed as one. Made by ``vyre.graph``.

    A replay does what the calls would do one after the other. Calls that share no array that one of them writes may run
    at once on a GPU; the bytes are the same.
    """

    __slots__ = ("_captured", "_core", "_dropped", "_has_ends", "_loops", "_states", "_taken", "_taking")

    def __init__(self) -> None:
        self._core = _core._Graph()
        self._captured: Captures | None = None
        self._taking = taking()
        self._taken: list[Any] = []
        self._loops = 0  # over vyre.times that have begun and not ended
        self._has_ends = False  # whether an element ends one of them
        self._dropped = 0  # loops of no turn, whose calls are not kept
        self._states: list[Array] = []  # of those around a call that an element ends

    def __enter__(self) -> Graph:
        self._core.begin()
        self._taken = _OF_THREAD.taken = self._taking.__enter__()
        _OF_THREAD.graph = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        is_cut = kind is None and self._loops > 0
        try:
            self._core.end(failed=kind is not None or is_cut)
        finally:  # the backend may refuse the calls
            if _OF_THREAD.taken is self._taken:  # not in another thread, whose recording goes on
                _OF_THREAD.taken = _OF_THREAD.graph = None
                self._taking.__exit__(None, None, None)
        if is_cut:
            raise ArgumentError(
                "the graph calls vyre.times without a loop over it, or break or return has left the loop, and each "
                "turn makes all calls. Fix: write `for _ in vyre.times(n):` above the calls, without break and return."
            )
        if self._taken:
            from vyre._base.captured import Captures  # with what was recorded; `import vyre` does without

            self._captured = Captures(self._taken)

    def replay(self, times: int = 1, *, progress: bool | Callable[[int, int], object] = False) -> None:
        """Submit the recorded calls, ``times`` times in turn. On a GPU this returns at once.

        Args:
            times: how often, 0 and more.
            progress: True shows a bar (needs tqdm), a function is called with (replays done, times) now and then. With
                either the call waits until all is done.

        Raises: ArgumentError (also for a graph whose with-block raised, and where a name that its
            calls take means something else by now), DeviceError. Errors of the calls themselves
            come at the latest when one of their arrays is read. Ctrl-C ends it between two replays.
        """
        count = as_count(times)
        if count is None or not 0 <= count < 2**63:
            raise must_be("argument `times` of Graph.replay", "a count from 0 to 2^63 - 1", shown(times))
        times = count
        if self._captured is not None:
            if not self._captured.is_same():
                raise ArgumentError(
                    f"the graph was recorded with another {self._captured.changed()}. "
                    "Fix: record the calls in a new vyre.graph()."
                )
        around = _OF_THREAD.graph
        if around is not None and self._has_ends:
            if around._states:
                raise ArgumentError(
                    "a loop over vyre.times with until= replays a graph that has such a loop itself. Fix: record the "
                    "calls of that graph in the loop."
                )
            around._has_ends = True
        if progress is False or progress is None:
            self._core.replay(times)
            if self._captured is not None:
                note_taken(self._captured.all)  # where another graph has recorded this replay
        elif is_recording():
            raise ArgumentError(
                "Graph.replay with progress=, which waits for the device, has no place in a graph. "
                "Fix: leave out progress=."
            )
        elif callable(progress):
            self._watched(times, progress)
        elif progress is not True:
            raise must_be("argument `progress` of Graph.replay", "True, False or a function", shown(progress))
        else:
            with _bar(times) as bar:
                self._watched(times, lambda done, _: bar.update(done - bar.n))

    def _watched(self, times: int, tell: Callable[[int, int], object]) -> None:
        done, step = 0, 1
        tell(0, times)
        while done < times:
            start = time.perf_counter()
            step = min(step, times - done)
            self._core.replay(step)
            self._core.wait(None)
            done += step
            tell(done, times)
            if time.perf_counter() - start < _SECONDS_A_LOOK / 2:
                step *= 2
            elif time.perf_counter() - start > _SECONDS_A_LOOK * 2:
                step = max(1, step // 2)

    def wait(self, timeout: float | None = None) -> None:
        """Wait for all that uses the graph's arrays.

        Raises what failed, and DispatchTimeoutError after ``timeout`` seconds.
        """
        self._core.wait(timeout)

    def __await__(self) -> Generator[Any, None, Graph]:
        """``await graph`` waits as ``wait`` does, while other tasks of asyncio run, and gives the graph."""
        from vyre._arrays.awaiting import awaited  # which imports asyncio

        return awaited(self)

    def __len__(self) -> int:
        """How many calls it has."""
        return len(self._core)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<vyre.Graph: {self._core.describe()}>"

    def _repr_html_(self) -> str:
        from vyre._html.machines import graph

        return graph(self)

    def __reduce__(self) -> tuple[Any, ...]:
        raise ArgumentError(
            "a vyre.Graph works with memory of a device, which is not copied or pickled. Fix: record it again there."
        )


def graph() -> Graph:
    """Record calls of kernels and programs in a with-block, to replay them together.

    In the block, a call of a kernel or a Program with vyre.Arrays is checked and planned, and does not run: it becomes
    part of the graph, with these very arrays. All are on one device. The replay of another graph can be recorded too.
    What cannot be replayed, such as reading an array or vyre.run, raises ArgumentError in the block.

    On a GPU a replay costs the host about one submission, however many calls there are.

    >>> import vyre
    >>> @vyre.kernel
    ... def double(data: vyre.InOut[vyre.u32]):
    ...     data[vyre.gid(0)] *= 2
    >>> data = vyre.array([1, 2, 3, 4], dtype=vyre.u32, backend="cpu")
    >>> with vyre.graph() as twice:
    ...     _ = double(data)
    ...     _ = double(data)
    >>> twice
    <vyre.Graph: 2 calls on cpu>
    >>> twice.replay(3)
    >>> data.numpy()
    array([ 64, 128, 192, 256], dtype=uint32)
    """
    return Graph()


def turns(count: Any, until: Any, check_names: Callable[[], None]) -> Iterator[None]:
    """The turns of a loop over ``vyre.times`` in the with-block of a graph: one, whose calls the graph repeats.

    Args:
        check_names: refuses names that are carried from turn to turn, after the first one.
    """
    made, times = _OF_THREAD.graph, as_count(count)
    assert made is not None
    if times is None or not 0 <= times < 2**63:
        raise must_be("argument `count` of vyre.times in a graph", "a count from 0 to 2^63 - 1", shown(count))
    if until is not None and (not isinstance(until, Array) or until.size != 1):
        got = f"shape {until.shape}" if isinstance(until, Array) else type_of(until)
        raise must_be("argument `until` of vyre.times in a graph", "a vyre.Array of one element", got)
    made._loops += 1
    return _repeated(made, times, until, check_names)


def _repeated(made: Graph, times: int, until: Array | None, check_names: Callable[[], None]) -> Iterator[None]:
    state = None if until is None else _state(made, until)
    first = len(made._core)
    if until is not None:
        element, mark = OF_DTYPE[dtype_name(until.dtype)], _core._empty([1], _WORD, until.backend, until.device)
        _core._turn_program(element)(until.reshape(1), mark, state, workgroups=1)  # type: ignore[arg-type]
        made._core.always()
    before, dropped = len(made._core), made._dropped
    yield None
    if len(made._core) == before and made._dropped == dropped:
        raise ArgumentError("a loop over vyre.times repeats no calls. Fix: write them in its body.")
    check_names()
    if until is not None and not made._core.writes(before, until):
        raise ArgumentError(
            "argument `until` of vyre.times is an array that no call of the loop writes. Fix: write it in the loop, or "
            "leave until= out."
        )
    made._core.repeat(first, times, state)
    made._dropped += times == 0
    if state is not None:
        made._states.pop()
    made._loops -= 1


def _state(made: Graph, until: Array) -> Array:
    """The state of a loop that an element ends, after the call that begins it: see vyre/run/ends.hpp."""
    going_on = np.array(_core._tables["going_on"], np.uint32)
    outer = made._states[-1] if made._states else _core._array(going_on, until.backend, until.device)
    state = _core._empty([4], _WORD, until.backend, until.device)
    _core._begin_program()(outer, state, workgroups=1)
    made._core.always()
    made._states.append(state)
    made._has_ends = True
    return state


def _bar(total: int) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ArgumentError(not_installed("progress=True", "tqdm", "progress")) from None
    return tqdm(total=total, unit=" replays")


explain_calls(globals())
