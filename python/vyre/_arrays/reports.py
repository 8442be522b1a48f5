"""The reports of checked execution: one frozen class for each kind of mistake, for terminals and notebooks.

A report has its facts as attributes: the buffer, the element, and a Witness for each access. Its text has a title, the
details and a Fix, which each class gives by ``_title``, ``_details`` and ``_fix``. In a procedure a ReportedStep adds
the step, its line and the name of the array.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from vyre._base import source as _source
from vyre._base.calls import explain_calls
from vyre._base.written_index import written_accesses

if TYPE_CHECKING:
    from vyre._core import Place
    from vyre._procedure.flat import StepPlace

__all__ = [
    "BarrierStop",
    "DivergentBarrierReport",
    "OrderDependenceReport",
    "OutOfBoundsReport",
    "PromisedZeroReport",
    "RaceReport",
    "Report",
    "ReportedStep",
    "UninitialisedReadReport",
    "UnwrittenArrayReport",
    "Witness",
]

_MOST_ATOMICS = 5
_LONGEST_SOURCE = 100
_ON_AN_AXIS = 2**32 - 1  # the element of an access that is out of range on an axis of an array


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_SOURCE else text[: _LONGEST_SOURCE - 3] + "..."


def _where(place: Place, statement: str = "") -> str:
    """kernel.py:12: out[i] = 1, or `entry[0].then[1]`: out[%0] = 1 where no source is known."""
    source = (
        "" if place.file is None or place.line is None else _short(_source.source_line(place.file, place.line).strip())
    )
    # Lines before the last one define subexpressions that the statement shares; only the statement itself is shown.
    text = source or _short(statement.rpartition("\n")[2])
    where = f"`{place.path}`" if place.file is None else _source.describe(place, columns=False)
    return f"{where}{': ' if text else ''}{text}"


def _element(buffer: str, index: int, lane: int | None = None) -> str:
    return f"`{buffer}`[{index}]" + ("" if lane is None else f", lane {lane}")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


@dataclass(frozen=True)
class Witness:
    """One access to memory that a report describes.

    Attributes:
        invocation: its id in the grid, along x, y, z.
        workgroup, local: the ids of its workgroup, and within it.
        access: "read", "write", or the atomic's name, such as "atomic_add".
        value: what was read or written (of an element with several lanes: the first), or what the element holds
            after the atomic. Out of bounds, it is 0 for a read, and otherwise the value that was not stored.
        place: the statement, as a Place: path in the program, and file and line in the source when they are known.
        statement: the statement in the text form.
    """

    invocation: tuple[int, int, int]
    workgroup: tuple[int, int, int]
    local: tuple[int, int, int]
    access: str
    value: int
    place: Place
    statement: str

    @property
    def line(self) -> int | None:
        """The line of the statement in the source, or None."""
        return self.place.line

    def _does(self) -> str:
        known = {"read": f"reads {self.value}", "write": f"writes {self.value}"}
        return known.get(self.access, f"does {self.access}, which leaves {self.value}")

    def __str__(self) -> str:
        what = self._does() + ("" if self.access in ("read", "write") else ",")
        return (
            f"invocation {self.invocation} of workgroup {self.workgroup} {what} at {_where(self.place, self.statement)}"
        )


@dataclass(frozen=True)
class ReportedStep:
    """The step of a procedure in which a mistake was made.

    Attributes:
        place: the step, a StepPlace: its number, its kernel, and the file and line of the call that made it.
        array: the procedure's array behind the buffer of the report; empty when there is none.
        index: of the element in that array, in elements of the array's own type.
        made: the line that made the array, as text; empty when it is not known.
    """

    place: StepPlace
    buffer: str = ""
    array: str = ""
    index: int = 0
    made: str = ""

    def lines(self) -> list[str]:
        """Return the lines of a report about the access."""
        lines = [f"in {self.place}"]
        lines += [f"  called at {file}:{line}" for file, line in self.place.callers]
        if self.array:
            made = f", made at {self.made}" if self.made else ""
            element = _element(self.array, self.index)
            lines.append(f"`{self.buffer}` is the procedure's array `{self.array}`{made}; the element is {element}")
        return lines


class Report:
    """A mistake that checked execution found.

    Attributes:
        check: the name of the check that found it, as ``vyre.check(checks=...)`` takes it.
        count: how often it was seen; one report stands for all that have its statements and its buffer.
        step: where in a procedure it happened, a ReportedStep; None when a program was checked.

    ``str(report)`` says what happened, who took part and what to do; a notebook shows the same as a table.
    """

    check: ClassVar[str]
    count: int
    step: ReportedStep | None

    def _title(self) -> str:
        raise NotImplementedError

    def _details(self) -> list[str]:
        raise NotImplementedError

    def _fix(self) -> str:
        raise NotImplementedError

    def __str__(self) -> str:
        lines = [f"{self.check}: {self._title()}", *(f"  {line}" for line in self._lines())]
        return "\n".join([*lines, f"  Fix: {self._fix()}"])

    def _lines(self) -> list[str]:
        return [*(self.step.lines() if self.step else ()), *self._details()]

    def _repr_html_(self) -> str:
        from vyre._html.reports import report

        return report(self)


@dataclass(frozen=True)
class RaceReport(Report):
    """Two invocations access one element, at least one of them to change it, and nothing orders them.

    Attributes:
        buffer, index: the element.
        first, second: the two accesses, each a Witness; ``first`` came first in this run.
    """

    check: ClassVar[str] = "race"
    buffer: str
    index: int
    first: Witness
    second: Witness
    count: int
    step: ReportedStep | None = None

    def _title(self) -> str:
        element = _element(self.buffer, self.index)
        return f"two invocations access {element}, and nothing orders them; seen {_times(self.count)}."

    def _details(self) -> list[str]:
        return [str(self.first), str(self.second)]

    def _fix(self) -> str:
        if self.first.workgroup == self.second.workgroup:
            return "put a barrier between the two, give each invocation elements of its own, or use atomics for both."
        return (
            "no barrier orders two workgroups: give each elements of its own, use atomics for both accesses, or split "
            "the program into two dispatches."
        )


@dataclass(frozen=True)
class UninitialisedReadReport(Report):
    """A read of a buffer that was given as a number of elements, before the first write.

    It gives zero on every backend, but the program probably lacks a write.

    Attributes:
        buffer, index: the element.
        witness: the read.
    """

    check: ClassVar[str] = "uninitialised-read"
    buffer: str
    index: int
    witness: Witness
    count: int
    step: ReportedStep | None = None

    def _title(self) -> str:
        element = _element(self.buffer, self.index)
        return f"{element} is read, and was not written before; seen {_times(self.count)}."

    def _details(self) -> list[str]:
        return [str(self.witness)]

    def _fix(self) -> str:
        if self.step is not None and self.step.array:
            return (
                "store there in a step before this one, or begin with zeros: vyre.scratch(..., zeros=True) or "
                "vyre.clear(array)."
            )
        return "store there first (and wait at a barrier if another invocation does), or pass an array of zeros."


@dataclass(frozen=True)
class PromisedZeroReport(Report):
    """A read of workgroup or private memory before the first write: of the zeros that such memory begins with.

    Only a check that names ``promised_zeros`` gives it.

    Attributes:
        buffer, index: the element.
        witness: the read.
    """

    check: ClassVar[str] = "promised_zeros"
    buffer: str
    index: int
    witness: Witness
    count: int
    step: ReportedStep | None = None

    def _title(self) -> str:
        return f"{_element(self.buffer, self.index)} is read before it is written; seen {_times(self.count)}."

    def _details(self) -> list[str]:
        return [str(self.witness)]

    def _fix(self) -> str:
        return (
            "store there first (and wait at a barrier if another invocation does), or leave this check out if the "
            "zero is meant."
        )


@dataclass(frozen=True)
class UnwrittenArrayReport(Report):
    """Elements of a procedure's array that it returns, or takes a grid from, and that no step has written.

    They are zeros on every backend, but the procedure probably lacks a write.

    Attributes:
        array, index: the first of the elements.
        use: "returned", or "read as the grid".
        count: how many elements.
        made: the line that made the array, as text; empty when it is not known.
    """

    check: ClassVar[str] = "uninitialised-read"
    array: str
    index: int
    use: str
    count: int
    made: str = ""
    step: ReportedStep | None = None

    def _title(self) -> str:
        more = "" if self.count == 1 else f", and {self.count - 1:,} more {'is' if self.count == 2 else 'are'} likewise"
        return f"{_element(self.array, self.index)} is {self.use}, and no step wrote it before{more}."

    def _details(self) -> list[str]:
        return [f"`{self.array}` is made at {self.made}"] if self.made else []

    def _fix(self) -> str:
        return (
            f"write every element of `{self.array}` in a step, or begin with zeros: vyre.scratch(..., zeros=True) or "
            "vyre.clear(array)."
        )


@dataclass(frozen=True)
class OutOfBoundsReport(Report):
    """An access beyond the end of a buffer.

    It is defined: a load gives zero, a store and an atomic do nothing. But it is probably a mistake.

    Attributes:
        buffer, index, length: which element was wanted, and how many there are.
        witness: the access.
    """

    check: ClassVar[str] = "out-of-bounds"
    buffer: str
    index: int
    length: int
    witness: Witness
    count: int
    step: ReportedStep | None = None

    def _title(self) -> str:
        accesses = written_accesses(self.witness.place, self.buffer)
        if len(accesses) == 1 and len(accesses[0]) > 1 and self.index == _ON_AN_AXIS:
            written = ", ".join(accesses[0])
            return f"`{self.buffer}`[{written}] is out of range on one of its axes; seen {_times(self.count)}."
        return f"`{self.buffer}`[{self.index}] is beyond the length {self.length}; seen {_times(self.count)}."

    def _details(self) -> list[str]:
        return [str(self.witness)]

    def _fix(self) -> str:
        accesses = written_accesses(self.witness.place, self.buffer)
        inside = [
            " and ".join(f"`{index} < {self.buffer}.shape[{axis}]`" for axis, index in enumerate(indices))
            for indices in accesses
        ]
        if not inside:
            length = f"`len({self.buffer})` in a kernel, `Expr.buf_len({self.buffer!r})` in a Program"
            return f"make the access only where its index is less than the length of `{self.buffer}` ({length})."
        each = f"each access only where its index is in range ({', '.join(inside)})"
        where = f"make {each if len(inside) > 1 else f'the access only where {inside[0]}'}"
        if self.witness.access != "read":
            return f"{where}."
        indices = ", ".join(accesses[0]) if len(inside) == 1 else "..."
        return f"{where}, or write `{self.buffer}.get({indices})` where zero is meant."


@dataclass(frozen=True)
class BarrierStop:
    """The place where some invocations of a workgroup stopped, when they did not all reach one barrier.

    Attributes:
        place: the Barrier or Return statement; None is the end of the program.
        waits: whether they wait at a barrier there; otherwise they have ended.
        invocations: how many.
        first: the local id of the first of them.
    """

    place: Place | None
    waits: bool
    invocations: int
    first: tuple[int, int, int]

    def __str__(self) -> str:
        many = self.invocations != 1
        who = f"{self.invocations:,} invocation{'s' if many else ''} (first: local id {self.first})"
        if self.place is None:
            return f"{who} {'have' if many else 'has'} run to the end of the program"
        what = ("wait" if many else "waits") if self.waits else ("have ended" if many else "has ended")
        return f"{who} {what} at {_where(self.place)}"


@dataclass(frozen=True)
class DivergentBarrierReport(Report):
    """The invocations of a workgroup do not all wait at the same barrier. The workgroup went no further.

    Attributes:
        workgroup: the id of one of the workgroups.
        stops: where its invocations are, each a BarrierStop, in program order.
    """

    check: ClassVar[str] = "divergent-barrier"
    workgroup: tuple[int, int, int]
    stops: tuple[BarrierStop, ...]
    count: int
    step: ReportedStep | None = None

    def _title(self) -> str:
        return f"workgroup {self.workgroup} does not reach one barrier as a whole; seen in {self._groups()}."

    def _groups(self) -> str:
        return "1 workgroup" if self.count == 1 else f"{self.count:,} workgroups"

    def _details(self) -> list[str]:
        return [str(stop) for stop in self.stops]

    def _fix(self) -> str:
        return "move the barrier out of what depends on the invocation: an If, a Loop, or code after a Return."


@dataclass(frozen=True)
class OrderDependenceReport(Report):
    """Output that changes with the order in which invocations run, though they do not race.

    What an atomic returns depends on the atomics before it. That is no mistake as long as the output does not show it.

    Attributes:
        buffer, index, lane: the first element that differs, and which of its lanes if it has several.
        value, other_value: what it holds after this run, and after the other one.
        schedule, other_schedule: the orders of the two runs.
        atomics: the statements whose atomics may be the cause, each a Place.
        count: how many lanes differ.
    """

    check: ClassVar[str] = "order-dependence"
    buffer: str
    index: int
    lane: int | None
    value: int
    other_value: int
    schedule: str
    other_schedule: str
    atomics: tuple[Place, ...]
    count: int
    step: ReportedStep | None = None

    def _title(self) -> str:
        element = _element(self.buffer, self.index, self.lane)
        return (
            f"{element} is {self.value} when invocations are taken {_order(self.schedule)} and {self.other_value} when "
            f"{_order(self.other_schedule)}; {self.count:,} {'lane differs' if self.count == 1 else 'lanes differ'}."
        )

    def _details(self) -> list[str]:
        wheres = dict.fromkeys(map(_where, self.atomics))
        shown = [f"the result or the order of the atomic at {where} counts" for where in wheres]
        more = len(shown) - _MOST_ATOMICS
        return shown if more <= 0 else [*shown[:_MOST_ATOMICS], f"... and {more} more, see .atomics"]

    def _fix(self) -> str:
        return (
            "derive what is stored from ids, not from what an atomic returned, and do not mix atomics on one element."
        )


def _order(schedule: str) -> str:
    return {"in-order": "in order", "reversed": "in reverse"}.get(schedule, f"at random ({schedule})")


explain_calls(globals())
