"""The answers of vyre.bisect, and how they print."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vyre._base.calls import explain_calls

if TYPE_CHECKING:
    from vyre._core import DataType, Place

__all__ = ["Divergence", "OutputDifference"]


@dataclass(frozen=True)
class OutputDifference:
    """The first element of an output that differs.

    Attributes:
        buffer: its name.
        index: of the element in C order.
        values: what each backend gave.
    """

    buffer: str
    index: int
    values: dict[str, Any] = field(hash=False)

    def __str__(self) -> str:
        return f"{self.buffer}[{self.index}]: " + ", ".join(f"{name} {value}" for name, value in self.values.items())


@dataclass(frozen=True)
class Divergence:
    """The first place where two backends disagree, found by ``vyre.bisect``.

    The first in the order of barriers passed, then of invocations, then of what the invocation evaluated. What came
    before it in its invocation, and before that barrier in every other, is the same on both.
    Values that depend on the order of invocations are left out: there the reference differs from itself.

    Attributes:
        output: the difference that was to be explained.
        values: what each backend computed: an int, or one for each lane of a vector; None where it took another path.
        expression: what differs, in the text form. For the variable of a loop its name, "at the start of a turn"; for
            an element that a store or an atomic should have changed "out[gid.x], after the store".
        statement: the statement that evaluates it.
        place: of both in the program, and the line that made it. None when the difference cannot be located: then
            ``output`` and ``unlocated`` say what is known.
        type: of the value.
        invocation, workgroup, local: ids along x, y, z.
        phase: barriers that the invocation had passed.
        step: values recorded of the invocation before this one, or stores and atomics that it made before.
        dispatches: how many were made to find it.
        unlocated: what is known of a difference that could not be located; empty when it was.
        note: what else speaks for another cause; empty when nothing does.
    """

    output: OutputDifference
    dispatches: int
    values: dict[str, int | tuple[int, ...] | None] = field(default_factory=dict, hash=False)
    expression: str = ""
    statement: str = ""
    place: Place | None = None
    type: DataType | None = None
    invocation: tuple[int, int, int] = (0, 0, 0)
    workgroup: tuple[int, int, int] = (0, 0, 0)
    local: tuple[int, int, int] = (0, 0, 0)
    phase: int = 0
    step: int = 0
    unlocated: str = ""
    note: str = ""

    def __str__(self) -> str:
        if self.place is None:
            names = " and ".join(self.output.values)
            return (
                f"{names} differ at {self.output}, and {self.unlocated}. "
                f"Fix: {'see the note' if self.note else 'report the program with its text'}."
                + (f"\nNote: {self.note}" if self.note else "")
            )
        source = f" ({self.place.file}:{self.place.line})" if self.place.file else ""
        rows = [("at", f"{self.place.path}{source}"), ("statement", self.statement), ("expression", self.expression)]
        rows += self._value_texts()
        rows += [("output", str(self.output))]
        width = max(len(name) for name, _ in rows)
        barriers = f"{self.phase} barrier{'' if self.phase == 1 else 's'}"
        lines = [
            f"{' and '.join(self.values)} first differ in invocation {self.invocation} of workgroup {self.workgroup}, "
            f"after {barriers}:"
        ]
        for name, text in rows:
            first, *rest = text.split("\n")
            lines += [f"  {name:<{width}}  {first}", *(f"  {'':<{width}}  {line}" for line in rest)]
        if self.note:
            lines.append(f"Note: {self.note}")
        return "\n".join(lines)

    def _value_texts(self) -> list[tuple[str, str]]:
        return [(name, _shown(value)) for name, value in self.values.items()]

    def _repr_html_(self) -> str:
        from vyre._html.reports import divergence

        return divergence(self)


def _shown(value: int | tuple[int, ...] | None) -> str:
    if value is None:
        return "never computed: this backend took another path"
    if isinstance(value, tuple):
        return f"({', '.join(_shown(lane) for lane in value)})"
    return f"{value} ({value:#x})" if value >= 0 else f"{value}"


explain_calls(globals())
