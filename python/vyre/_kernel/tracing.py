"""``vyre.trace``: every value that one invocation of a kernel computes, by the lines of its source."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre._base.calls import explain_calls
from vyre._base.refused import must_be
from vyre._base.text import as_count, shown
from vyre._core import Array, Expr
from vyre._kernel import rows as _rows
from vyre._kernel.arrays import KernelArray
from vyre._kernel.call import call
from vyre._kernel.debugs import invocation_of
from vyre._kernel.recorder import Areas, record_kernel
from vyre._kernel.recording import is_tracing
from vyre._kernel.rewriting.syntax import is_added
from vyre._kernel.values import is_number
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vyre._kernel.recorder import Recorder
    from vyre._kernel.rows import Row
    from vyre._kernel.trace import Traced
    from vyre._kernel.tracer import Tracer

__all__ = ["Trace", "trace"]

_MAX_LIST_ITEMS = 64
_MOST_ROWS = 10_000
_SHOWN_FIRST, _SHOWN_LAST = 60, 20


class _Watch:
    """Stands in the Tracer's place for the rewritten function, and records what that assigns, stores and decides.

    What the Tracer calls of itself is not seen, so the variables that only it makes are not recorded.
    """

    def __init__(self, tracer: Tracer, recorder: Recorder) -> None:
        self._tracer, self._recorder = tracer, recorder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tracer, name)

    def _variable(self, name: str, value: Any) -> Any:
        if is_added(name):
            return value
        if isinstance(value, (tuple, list)):
            for k, each in enumerate(value[:_MAX_LIST_ITEMS]):
                self._recorder.record(f"{name}[{k}]", each)
        else:
            self._recorder.record(name, value)
        return value

    def let(self, name: str, value: Any) -> Any:
        return self._variable(name, self._tracer.let(name, value))

    def keep(self, name: str, value: Any) -> Any:
        return self._variable(name, self._tracer.keep(name, value))

    def typed(self, name: str, value: Any, kind: Any) -> Any:
        return self._variable(name, self._tracer.typed(name, value, kind))

    def _name_of(self, array: Any) -> str:
        """The variable that holds an array or a list where it is used."""
        frame = self._recorder.frame()
        held = {} if frame is None else frame.f_locals
        for name, value in held.items():
            if value is array and not is_added(name):
                return name
        return array.name if isinstance(array, KernelArray) else "item"

    def set(self, value: Any, array: Any, key: Any) -> None:
        self._tracer.set(value, array, key)
        keys = key if isinstance(key, tuple) else (key,)
        if all(type(each) is Expr or is_number(each) for each in keys):
            self._recorder.record(self._name_of(array), value, keys)

    def augment(self, array: Any, key: Any, change: Any) -> None:
        if type(array) is KernelArray:
            key = self._tracer.let("at", key)
        self.set(self._tracer.let("changed", change(self._tracer.get(array, key))), array, key)

    def method(self, owner: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        result = self._tracer.method(owner, name, *args, **kwargs)
        if isinstance(owner, KernelArray) and name.startswith("atomic_"):
            keys = args[0] if isinstance(args[0], tuple) else (args[0],)
            self._recorder.record(f"{self._name_of(owner)}.{name}", result, keys)
        return result

    def if_(self, condition: Any, names: Any, values: Any) -> Any:
        if type(condition) is Expr:
            self._recorder.record("if", condition, is_truth=True)
        return self._tracer.if_(condition, names, values)

    def test(self, loop: Any, condition: Any) -> None:
        if type(condition) is Expr:
            self._recorder.record("while", condition, is_truth=True)
        self._tracer.test(loop._loop if type(loop) is _Turns else loop, condition)

    def range_(self, function: Any, variable: str, *rest: Any) -> Any:
        return _Turns(self._tracer.range_(function, variable, *rest), self, variable)

    def break_(self, values: Any) -> None:
        self._recorder.record("break", True)
        self._tracer.break_(values)

    def return_(self) -> None:
        self._recorder.record("return", True)
        self._tracer.return_()


class _Turns:
    """A loop over a range, whose variable is recorded at the start of each turn."""

    def __init__(self, loop: Any, watch: _Watch, variable: str) -> None:
        self._loop, self._watch, self._variable = loop, watch, variable

    def __iter__(self) -> Iterator[Any]:
        for values in self._loop:
            self._watch._variable(self._variable, values[0])
            yield values

    def end(self, values: Any) -> None:
        self._loop.end(values)

    def after(self) -> Any:
        return self._loop.after()


class Trace:
    """The values that one invocation of a kernel computed; see ``vyre.trace``. It prints as a table.

    Attributes:
        kernel: the kernel's name.
        invocation: the invocation, as its indices along x, y, z.
        rows: a Row for each value, in the order in which the invocation came by.
        count: how many there were; where that is more than the call kept, the rows are the first and the last ones.
        left_out: (position, how many): before which of the rows some were not kept, None where all were.
        result: what the call gives.
    """

    kernel: str
    invocation: tuple[int, int, int]
    rows: list[Row]
    count: int
    left_out: tuple[int, int] | None
    result: Any

    def __init__(
        self, kernel: str, invocation: tuple[int, int, int], rows: list[Row], count: int, first: int, result: Any
    ) -> None:
        self.kernel, self.invocation, self.rows, self.count, self.result = kernel, invocation, rows, count, result
        missing = operator.index(count) - len(rows)
        self.left_out = (first, missing) if missing > 0 else None

    def _table(self) -> tuple[str, list[str], list[list[str] | str], list[str]]:
        rows = self.rows
        told: list[Row | str] = [*rows]
        notes = []
        if self.left_out is not None:
            notes.append(
                f"the invocation has {self.count} values, and {len(rows)} were kept: the first and the last ones. "
                f"vyre.trace(..., most_rows={self.count}) keeps them all."
            )
            first, missing = self.left_out
            told = [*rows[:first], f"... {missing} values were not kept", *rows[first:]]
        if len(rows) > _SHOWN_FIRST + _SHOWN_LAST:
            between = len(rows) - _SHOWN_FIRST - _SHOWN_LAST
            told = [*rows[:_SHOWN_FIRST], f"... {between} more rows in .rows", *rows[-_SHOWN_LAST:]]
        title = f"{self.kernel} in invocation {self.invocation}: {self.count} value{'' if self.count == 1 else 's'}"
        return (title, *_rows.table_of(told, False), notes)

    def __str__(self) -> str:
        return _rows.as_text(*self._table())

    def __repr__(self) -> str:
        return f"<vyre.Trace of {self.kernel} in invocation {self.invocation}: {self.count} values>"

    def _repr_html_(self) -> str:
        return _rows.as_html("Trace", *self._table())


def trace(
    kernel: Any,
    /,
    *args: Any,
    invocation: int | Sequence[int] = (0, 0, 0),
    most_rows: int = _MOST_ROWS,
    **kwargs: Any,
) -> Trace:
    """Call a kernel, and tell every value that one invocation computes, line by line: an object that prints as a table.

    It has the variables that are assigned, the variable of a loop at the start of each turn, conditions of ``if`` and
    ``while``, elements that are stored and what atomics gave, what vyre.debug records, and where ``break`` and
    ``return`` happened. Helpers are included. The whole grid runs, so barriers work as ever; the arrays that are passed
    stay as they are.

    Args:
        kernel: a function under ``@vyre.kernel``.
        args, kwargs: as for a call of it. It runs on the reference interpreter unless ``backend=`` names another.
        invocation: which one, as (x, y, z), (x, y) or x.
        most_rows: how many values are kept, half of them the first ones and half the last ones. The table shows 60 and
            20 of them.

    Raises: ArgumentError for an invocation that the grid does not have, and what the call raises.

    >>> import numpy as np
    >>> import vyre
    >>> @vyre.kernel
    ... def gcd(a: vyre.In[vyre.u32], b: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]):
    ...     i = vyre.gid(0)
    ...     x, y = a[i], b[i]
    ...     while y != 0:
    ...         x, y = y, x % y
    ...     out[i] = x
    >>> seen = vyre.trace(gcd, np.array([9, 12], np.uint32), np.array([6, 8], np.uint32), invocation=1)
    >>> [(row.name, row.value) for row in seen.rows][:5]
    [('i', 1), ('x', 12), ('y', 8), ('while', True), ('x', 8)]
    >>> seen.result
    array([3, 4], dtype=uint32)
    """
    from vyre._kernel.kernel import Kernel

    if not isinstance(kernel, Kernel):
        raise must_be("argument `kernel` of vyre.trace", "a function under @vyre.kernel", shown(kernel))
    if is_tracing():
        raise ArgumentError("vyre.trace was called in a kernel. Fix: call it outside, or write vyre.debug there.")
    chosen = invocation_of(invocation, "vyre.trace", "invocation")
    most = as_count(most_rows)
    if most is None or not 2 <= most <= 2**22:
        raise must_be("argument `most_rows` of vyre.trace", f"a count from 2 to {2**22}", shown(most_rows))
    areas = Areas((chosen,), most // 2, most - most // 2)
    found: list[tuple[Recorder, np.ndarray]] = []
    lone: list[Recorder | None] = []

    def recorded(constants: dict[str, Any]) -> Traced:
        made, recorder = record_kernel(kernel, constants, areas, "vyre.trace", _Watch)
        lone.append(recorder)
        if recorder is not None:
            made.seen = lambda words: found.append((recorder, words))
        return made

    options = {name: _copy(value) for name, value in kwargs.items()}
    if options.get("backend") is None and options.get("device") is None:
        options["backend"] = "reference"
    result = call(kernel, [_copy(each) for each in args], options, recorded)
    rows: list[Row] = []
    count: int | None = 0
    if found:
        recorder, words = found[0]
        rows, counts = recorder.read(words, kernel.__name__)
        count = counts[chosen]
    if count is None:
        raise ArgumentError(
            f"argument `invocation` of vyre.trace must name one of the grid, and {chosen} is beyond it. "
            "Fix: name one of the grid, or pass a larger grid=."
        )
    return Trace(kernel.__name__, chosen, rows, count, areas.first, result)


def _copy(value: Any) -> Any:
    """An argument that the call may write, on the host."""
    if isinstance(value, Array):
        return value.numpy()
    return value.copy() if isinstance(value, np.ndarray) else value


explain_calls(globals(), "vyre")
