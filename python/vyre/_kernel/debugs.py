"""``vyre.debug`` in a kernel, and ``vyre.debugging``, which switches it on and holds what was recorded."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from vyre._base.calls import explain_calls
from vyre._base.refused import must_be
from vyre._base.text import as_count, shown
from vyre._core import Array
from vyre._kernel import rows as _rows
from vyre._kernel.arrays import KernelArray
from vyre._kernel.call import call
from vyre._kernel.control import Region
from vyre._kernel.mistakes import Mistake
from vyre._kernel.recorder import Areas, record_kernel
from vyre._kernel.recording import OPEN
from vyre._kernel.tracer import AS_STATEMENT, current
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from vyre._kernel.kernel import Kernel
    from vyre._kernel.recorder import Recorder
    from vyre._kernel.rows import Row
    from vyre._kernel.trace import Traced

__all__ = ["Debugging", "debug", "debugging"]

_MOST_INVOCATIONS = 1024
_MOST_NAME = 80
_MOST_SHOWN = 200


def debug(name: str, value: Any) -> None:
    """Record a value in a kernel, while ``vyre.debugging`` is on; a statement of its own, in the kernel or a helper.

    While it is off, the statement is no part of the kernel: its arguments are not evaluated, and the program is the one
    without it. It never changes what a call gives.

    Args:
        name: what the rows call it.
        value: a value, an integer, or a tuple or list of them.

    Raises: KernelError (K009) where it is no statement, or its arguments have an effect; ArgumentError outside of a
        kernel.

    >>> import numpy as np
    >>> import vyre
    >>> @vyre.kernel
    ... def halves(a: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]):
    ...     i = vyre.gid(0)
    ...     vyre.debug("odd", a[i] & 1)
    ...     out[i] = a[i] // 2
    >>> with vyre.debugging(invocations=[1]) as seen:
    ...     halves(np.array([4, 7], np.uint32), backend="reference")
    array([2, 3], dtype=uint32)
    >>> [(row.name, row.value) for row in seen.rows]
    [('odd', 1)]
    """
    tracer = current(
        "vyre.debug",
        "call it in a function under @vyre.kernel, or in a plain function that a kernel calls; a function under "
        "@vyre.op has values alone, so record its result where the kernel calls it",
    )
    effects = tracer.debugs
    if effects is None:
        raise Mistake(
            "K009",
            "vyre.debug is called as a part of an expression, or by another name",
            "write it as a statement of its own: `vyre.debug('x', x)`",
        )
    if tracer.effects != effects:
        raise Mistake(
            "K009",
            "an argument of vyre.debug stores, or calls an atomic",
            "assign it to a variable before, and record that",
        )
    if not isinstance(name, str) or not name or len(name) > _MOST_NAME:
        said = shown(name) if not isinstance(name, str) else f"one of {len(name)} letters"
        raise Mistake(
            "K009",
            f"vyre.debug takes a name of 1 to {_MOST_NAME} letters first, got {said}",
            "write vyre.debug('x', x)",
        )
    values = value if isinstance(value, (tuple, list)) else [value]
    for k, each in enumerate(values):
        if isinstance(each, KernelArray):
            raise Mistake(
                "K009", f"vyre.debug is given the array `{each.name}`", f"record an element, as in {each.name}[i]"
            )
        tracer.operand(each, "vyre.debug")
        tracer.recorder.record(f"{name}[{k}]" if isinstance(value, (tuple, list)) else name, each)


def debug_statement(tracer: Any, later: Callable[[], Any]) -> None:
    """A statement that calls vyre.debug: nothing while debugging is off."""
    if tracer.recorder is None:
        return
    outer, before = tracer.debugs, tracer.effects  # a helper in an argument may have statements of its own
    tracer.debugs = before
    tracer.regions.append(Region())
    try:
        later()
    finally:
        tracer.debugs = None if outer is None else outer + tracer.effects - before
        changes = tracer.close_region()
    if changes:
        raise Mistake(
            "K009",
            "an argument of vyre.debug changes a Python list",
            "change it in a statement before, and record what it then holds",
        )


vars(debug)[AS_STATEMENT] = debug_statement


def invocation_of(given: Any, function: str, argument: str) -> tuple[int, int, int]:
    """An invocation as its three indices."""
    counts = tuple(given) if isinstance(given, (tuple, list)) and 1 <= len(given) <= 3 else (given,)
    whole = [as_count(each) for each in counts]
    if any(each is None or not 0 <= each < 2**32 for each in whole):
        raise ArgumentError(
            f"argument `{argument}` of {function} must name invocations by one to three indices, x first, got "
            f"{shown(given)}. Fix: write {argument}={'3, or (3, 0, 0)' if argument == 'invocation' else '[3, (3, 0)]'}."
        )
    x, y, z = [*whole, 0, 0][:3]
    return x, y, z  # type: ignore[return-value]


class Debugging:
    """The values that ``vyre.debug`` recorded; see ``vyre.debugging``. It prints as a table.

    Attributes:
        rows: a Row for each record that was kept: by calls, then by invocations as they were given, then in the order
            in which the invocation came by.
        count: how many records there were, those that were not kept included.
        notes: what the rows do not show.
    """

    def __init__(self, invocations: Sequence[tuple[int, int, int]], limit: int) -> None:
        if not isinstance(invocations, (list, tuple)):  # another iterable may be endless
            raise must_be("argument `invocations` of Debugging", "a list", shown(invocations))
        self._areas = Areas(tuple(dict.fromkeys(invocations)), limit, 0)
        self._calls: list[tuple[str, Recorder, Any]] = []
        self._before: Debugging | None = None
        self._read: list[tuple[list[Row], dict[tuple[int, int, int], int | None]]] = []

    def __enter__(self) -> Debugging:
        self._before = OPEN.seen
        OPEN.seen = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        OPEN.seen = self._before

    def _call(self, kernel: Kernel, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        found: list[Recorder] = []

        def recorded(constants: dict[str, Any]) -> Traced:
            made, recorder = record_kernel(kernel, constants, self._areas, "vyre.debugging")
            if recorder is not None:
                found.append(recorder)
                made.seen = lambda words: self._calls.append((kernel.__name__, recorder, words))
            return made

        return call(kernel, args, kwargs, recorded)

    def _results(self) -> list[tuple[list[Row], dict[tuple[int, int, int], int | None]]]:
        for name, recorder, words in self._calls[len(self._read) :]:
            self._read.append(recorder.read(words.numpy() if isinstance(words, Array) else words, name))
        return self._read

    @property
    def rows(self) -> list[Row]:
        return [row for rows, _ in self._results() for row in rows]

    @property
    def count(self) -> int:
        return sum(count or 0 for _, counts in self._results() for count in counts.values())

    @property
    def notes(self) -> list[str]:
        made = []
        if not self._calls:
            made.append("no kernel with a vyre.debug statement was called.")
        for (name, _, _), (_, counts) in zip(self._calls, self._results(), strict=True):
            for invocation, count in counts.items():
                if count is None:
                    made.append(f"invocation {invocation} is not in the grid of the call of `{name}`.")
                elif count > self._areas.first:
                    made.append(
                        f"invocation {invocation} of `{name}` has {count} records, and the first {self._areas.first} "
                        f"were kept: vyre.debugging(limit={count}) keeps them all."
                    )
        return made

    def _table(self) -> tuple[str, list[str], list[list[str] | str], list[str]]:
        rows = self.rows
        shown_rows: list[Row | str] = [*rows[:_MOST_SHOWN]]
        if len(rows) > _MOST_SHOWN:
            shown_rows.append(f"... {len(rows) - _MOST_SHOWN} more rows in .rows")
        names = ", ".join(dict.fromkeys(name for name, _, _ in self._calls))
        count = f"{len(rows)} record{'' if len(rows) == 1 else 's'}"
        return (f"vyre.debug: {count}{f' of {names}' if names else ''}", *_rows.table_of(shown_rows, True), self.notes)

    def __str__(self) -> str:
        return _rows.as_text(*self._table())

    def __repr__(self) -> str:
        return f"<vyre.Debugging: {len(self._calls)} recorded call{'' if len(self._calls) == 1 else 's'}>"

    def _repr_html_(self) -> str:
        return _rows.as_html("Debug", *self._table())


def debugging(*, invocations: Sequence[Any] = ((0, 0, 0),), limit: int = 1000) -> Debugging:
    """Switch ``vyre.debug`` on for the calls of kernels in a ``with`` statement, in this thread.

    The results of the calls are those without it. Each chosen invocation keeps its first ``limit`` records; a note
    says how many there were. With resident arrays, reading the rows waits for the call.

    Args:
        invocations: up to 1024 of the grid, each as (x, y, z), (x, y) or x: ``range(64)``, ``[(3, 0), (4, 0)]``.
        limit: how many records of an invocation are kept; all of them together take at most 2^24 words.

    Raises: ArgumentError.

    >>> import vyre
    >>> @vyre.kernel
    ... def sums(out: vyre.Out[vyre.u32]):
    ...     total = 0
    ...     for k in range(vyre.gid(0) + 1):
    ...         total += k * k
    ...         vyre.debug("total", total)
    ...     out[vyre.gid(0)] = total
    >>> import numpy as np
    >>> with vyre.debugging(invocations=[2]) as seen:
    ...     sums(out=np.zeros(4, np.uint32), backend="cpu")
    array([ 0,  1,  5, 14], dtype=uint32)
    >>> [(row.turns, row.value) for row in seen.rows]
    [((0,), 0), ((1,), 1), ((2,), 5)]
    """
    try:
        given = list(islice(invocations, _MOST_INVOCATIONS + 1))
    except TypeError:
        given = []
    if isinstance(invocations, (str, bytes)) or not 1 <= len(given) <= _MOST_INVOCATIONS:
        raise must_be(
            "argument `invocations` of vyre.debugging",
            f"a list of 1 to {_MOST_INVOCATIONS} invocations",
            shown(invocations),
        )
    chosen = [invocation_of(each, "vyre.debugging", "invocations") for each in given]
    count = as_count(limit)
    if count is None or not 1 <= count <= 2**24:
        raise must_be("argument `limit` of vyre.debugging", f"a count from 1 to {2**24}", shown(limit))
    return Debugging(chosen, count)


explain_calls(globals(), "vyre")
