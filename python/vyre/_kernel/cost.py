"""``kernel.cost(...)``: what a call would do, from the Program and the shapes, without running it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._base.calls import explain_calls
from vyre._base.refused import must_be
from vyre._base.text import as_count, shown
from vyre._base.types import NUMPY
from vyre._core import DataType
from vyre._kernel.arguments import matched, named
from vyre._kernel.launch import Launch, traced_for
from vyre._kernel.rows import as_html, as_text
from vyre._kernel.words import PARAMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vyre._core import Place
    from vyre._kernel.kernel import Kernel
    from vyre._kernel.parameters import Parameter

__all__ = ["Cost", "CostLoop", "Count", "cost_of"]

_MOST = 2**32 - 1


@dataclass(frozen=True)
class Count:
    """How often something happens in a call.

    Attributes:
        most: never more often than this.
        exact: whether it is this often, whatever the arrays hold.
    """

    most: int
    exact: bool

    def __str__(self) -> str:
        return f"{self.most:,}" if self.exact else f"at most {self.most:,}"


@dataclass(frozen=True)
class CostLoop:
    """A loop of a kernel that runs on the device.

    Attributes:
        file, line: where it stands; None where that is unknown.
        turns: all of its turns in the call; None where no bound is proven.
        within: the line of the loop without a proven bound around it, whose one turn has these turns; None without one.
        why: what the bound depends on, where none is proven.
        operations, loaded, stored, atomics: for a loop without a proven bound, what one turn of one invocation adds,
            less the loops without one in it.
    """

    file: str | None
    line: int | None
    turns: Count | None
    within: int | None
    why: str
    operations: dict[str, Count]
    loaded: dict[str, Count]
    stored: dict[str, Count]
    atomics: dict[str, Count]


def _sum_of(counts: Iterable[Count]) -> Count:
    each = list(counts)
    return Count(sum(count.most for count in each), all(count.exact for count in each))


class Cost:
    """The operations and the bytes of a call of a kernel; see ``Kernel.cost``. It prints as a table.

    Attributes:
        kernel: the kernel's name.
        invocations: of the grid, whole workgroups.
        operations: a Count by the operator's name, ``select`` and ``cast`` included; lanes of vectors cost nothing.
        loaded, stored: bytes by the array's name, a Count each; an index that is out of range counts as one in range.
        atomics: how many there are by the array's name, a Count each.
        loops: the loops that run on the device, in the order of the source.
        unbounded: those of them whose turns are unknown; what they do is not in the counts above.
    """

    kernel: str
    invocations: int
    loops: tuple[CostLoop, ...]
    operations: dict[str, Count]
    loaded: dict[str, Count]
    stored: dict[str, Count]
    atomics: dict[str, Count]

    def __init__(
        self, kernel: str, invocations: int, counts: Sequence[dict[str, Count]], loops: tuple[CostLoop, ...]
    ) -> None:
        self.kernel, self.invocations, self.loops = kernel, invocations, loops
        self.operations, self.loaded, self.stored, self.atomics = counts

    @property
    def unbounded(self) -> tuple[CostLoop, ...]:
        return tuple(loop for loop in self.loops if loop.turns is None)

    @property
    def exact(self) -> bool:
        """Whether the call does exactly this, whatever the arrays hold."""
        counts = [*self.operations.values(), *self.loaded.values(), *self.stored.values(), *self.atomics.values()]
        return not self.unbounded and all(count.exact for count in counts)

    def _table(self) -> tuple[str, list[str], list[list[str] | str], list[str]]:
        rows: list[list[str] | str] = []
        for what, counts in (
            ("operations", self.operations),
            ("bytes loaded", self.loaded),
            ("bytes stored", self.stored),
            ("atomics", self.atomics),
        ):
            if len(counts) > 1:
                rows.append([what, "", str(_sum_of(counts.values()))])
            rows += [[what if len(counts) == 1 else "", name, str(count)] for name, count in counts.items()]
        for loop in self.loops:
            if loop.turns is not None:
                where = "" if loop.within is None else f", in a turn of line {loop.within}"
                rows.append(["turns", f"loop in line {loop.line}{where}", str(loop.turns)])
        notes = []
        for loop in self.unbounded:
            each = [f"{_sum_of(loop.operations.values())} operations"] if loop.operations else []
            each += [f"{_sum_of(loop.loaded.values())} bytes loaded"] if loop.loaded else []
            each += [f"{_sum_of(loop.stored.values())} bytes stored"] if loop.stored else []
            each += [f"{_sum_of(loop.atomics.values())} atomics"] if loop.atomics else []
            notes.append(
                f"the loop in line {loop.line} has no proven bound: {loop.why}. It is not counted above; a turn of an "
                f"invocation adds {', '.join(each) or 'nothing'}."
            )
        return (f"{self.kernel}: {self.invocations:,} invocations", ["", "kind", "count"], rows, notes)

    def __str__(self) -> str:
        return as_text(*self._table())

    def __repr__(self) -> str:
        return f"<vyre.Cost of {self.kernel} with {self.invocations} invocations>"

    def _repr_html_(self) -> str:
        return as_html("Cost", *self._table())


def cost_of(kernel: Kernel, args: Sequence[Any], kwargs: dict[str, Any]) -> Cost:
    options: dict[str, Any] = {name: kwargs.pop(name) for name in ("grid", "workgroups") if name in kwargs}
    given, unknown = _given(kernel, args, kwargs)
    launch = Launch(kernel, traced_for(kernel, given), given, options)
    program = launch.traced.program
    groups = _core._grid(launch.workgroups, launch.label)
    words: list[int | None] = [*launch.words(given)]
    for k, word in enumerate(launch.layout):
        if isinstance(word, tuple) and word[0].name in unknown:
            words[k] = None
    rows, loops = _core._cost(program, launch.lengths, {PARAMS: words}, groups)
    invocations = math.prod(groups) * math.prod(program.workgroup_size)
    return Cost(kernel.__name__, invocations, _counts(rows), tuple(_loop(loops, *each) for each in loops))


def _counts(rows: Sequence[list[tuple[str, int, bool]]]) -> list[dict[str, Count]]:
    return [{name: Count(most, exact) for name, most, exact in sorted(each, key=lambda row: -row[1])} for each in rows]


def _loop(
    loops: Any, place: Place, turns: tuple[int, bool] | None, within: int | None, has_known_end: bool, rows: Any
) -> CostLoop:
    why = ""
    if turns is None:
        why = "it is a `while`, whose end memory or a computation decides"
        if not has_known_end:
            why = "how many turns it has is read from memory, or computed with numbers that are unknown"
    around = None if within is None else loops[within][0].line
    return CostLoop(place.file, place.line, None if turns is None else Count(*turns), around, why, *_counts(rows))


def _given(kernel: Kernel, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[dict[str, Any], set[str]]:
    """The arguments of a call, arrays for shapes, and the names of numbers that are not given and so not known."""
    parameters = kernel._parameters
    given = {each.name for each in parameters[: len(args)]} | kwargs.keys()
    unknown = {
        each.name for each in parameters if each.kind == "scalar" and not each.has_default and each.name not in given
    }
    stand_ins = [_stand_in(kernel, each, value) for each, value in zip(parameters, args)]  # noqa: B905
    stand_ins += args[len(parameters) :]  # the call refuses these
    by_name = {name: _stand_in(kernel, named(kernel, name), value) for name, value in kwargs.items()}
    for each in parameters:
        if each.name in unknown:
            by_name[each.name] = False if each.element is DataType.Bool else 0
    return matched(kernel, stand_ins, by_name), unknown


def _stand_in(kernel: Kernel, parameter: Parameter | None, value: Any) -> Any:
    """An array for a shape, which takes no memory; anything else as it is."""
    if (
        parameter is None
        or not parameter.is_array
        or not isinstance(value, (int, tuple, np.integer))
        or isinstance(value, bool)
    ):
        return value
    shape = value if isinstance(value, tuple) else (value,)
    counts = [as_count(each) for each in shape]
    assert parameter.element is not None
    dtype, lanes = NUMPY[parameter.element]
    if len(shape) != parameter.axes or any(each is None or not 0 <= each <= _MOST for each in counts):
        raise must_be(
            f"argument `{parameter.name}` of {kernel.__name__}.cost",
            f"an array or the sizes of {parameter.axes} ax{('is' if parameter.axes == 1 else 'es')}",
            shown(value),
        )
    return np.broadcast_to(np.zeros((), dtype), (*[int(each) for each in shape], *lanes))


explain_calls(globals(), "vyre")
