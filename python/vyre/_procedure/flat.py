"""The steps of one call of a procedure, one after the other, for the tools that take them one by one.

Conditions are decided, repetitions unrolled and invocations inlined; every array is bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._base import source as _source
from vyre._base.calls import explain_calls
from vyre._base.types import NUMPY, TYPES
from vyre._core import Array, DataType, Procedure
from vyre._procedure.arguments import argument_of
from vyre._procedure.by_name import by_name
from vyre._procedure.recorded import exact_of, line_text, trail_of
from vyre._procedure.running import array_of

if TYPE_CHECKING:
    import builtins
    from collections.abc import Mapping, Sequence

    from vyre._core import Program
    from vyre._procedure.procedure import ProcedureFunction
    from vyre._procedure.recorded import Line, Trail

__all__ = ["Call", "FlatArray", "FlatStep", "Part", "StepPlace", "call_of", "call_of_bytes", "named_call"]


def text_of_line(line: Line) -> str:
    """`file.py:12`, and the line as it stands there; empty when it is not known."""
    if line is None:
        return ""
    source = _source.source_line(*line).strip()
    return f"{line_text(line)}{f': {source}' if source else ''}"


@dataclass(frozen=True)
class StepPlace:
    """A step of a procedure, as reports and divergences name it.

    Attributes:
        number: which of the steps of the call, from 1.
        steps: how many the call has.
        what: "kernel `k` in procedure `p`", "vyre.clear of `a`" or "the copy of the results of procedure `p`".
        file, line: of the call in the procedure that makes the step; None when they are not known.
        callers: (file, line) of the invocations around it, the innermost first.
    """

    number: int
    steps: int
    what: str
    file: str | None = None
    line: int | None = None
    callers: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        place = None if self.file is None or self.line is None else (self.file, self.line)
        source = text_of_line(place)
        return f"step {self.number} of {self.steps}, {self.what}{f' ({source})' if source else ''}"


@dataclass(frozen=True)
class Part:
    """Bytes of an array."""

    array: int
    offset: int
    bytes: int

    def of(self, memory: Sequence[np.ndarray]) -> np.ndarray:
        return memory[self.array][self.offset : self.offset + self.bytes]


@dataclass(frozen=True)
class FlatArray:
    """An array of a call. The kind is given, scratch or table."""

    kind: str
    name: str
    element: DataType
    bytes: int
    contents: builtins.bytes | None
    line: Line

    @property
    def width(self) -> int:
        return max(TYPES[self.element].bytes, 1)

    def __str__(self) -> str:
        made = text_of_line(self.line)
        return f"`{self.name}`{f' (made at {made})' if made else ''}"


@dataclass(frozen=True)
class FlatStep:
    """A step. A dispatch has a program, what its buffers are bound to, and its grid, or the array that has its counts;
    a clear has one part, zeros with which an array begins have one too, a copy has two."""

    kind: str
    place: StepPlace
    program: Program | None = None
    bound: tuple[Part | bytes, ...] = ()
    grid: tuple[int, int, int] = (0, 0, 0)
    counts: Part | None = None
    counts_invocations: bool = False
    origin: tuple[int, int | None] = (0, None)  # the frame, and the step of its procedure
    told: str = ""  # what the errors of a call begin with; of a dispatch
    live: Part | None = None  # words that are 0 where a repetition around the step has ended, and it does nothing

    @property
    def buffers(self) -> list[_core.BufferDecl]:
        """The declarations of the buffers that are bound, in their order."""
        assert self.program is not None
        own = (_core.BufferAccess.Workgroup, _core.BufferAccess.Private)
        return [decl for decl in self.program.buffers if decl.access not in own]

    def written(self) -> list[Part]:
        """The parts that the step may change."""
        if self.kind != "dispatch":
            return [part for part in self.bound[-1:] if isinstance(part, Part)]
        pairs = zip(self.buffers, self.bound, strict=True)
        return [part for decl, part in pairs if decl.access == _core.BufferAccess.ReadWrite and isinstance(part, Part)]

    def groups(self, counts: np.ndarray) -> tuple[int, int, int]:
        """The workgroups for these counts, three words."""
        assert self.program is not None
        size = self.program.workgroup_size if self.counts_invocations else (1, 1, 1)
        wanted = [-(-int(count) // extent) for count, extent in zip(counts.view(np.uint32), size, strict=True)]
        x, y, z = (min(pair) for pair in zip(wanted, self.grid, strict=True))
        return x, y, z


@dataclass(frozen=True)
class Call:
    """A call of a procedure with arrays of its own, and its steps.

    Attributes:
        procedure: the Procedure.
        given: bytes of the inputs and in_outs.
        shapes: of these arrays.
        numbers: of the call.
        arrays: of all steps; first the inputs and in_outs, then the outputs, then what is scratch.
        results: (name, array, element, shape) of each output and in_out, in the order of the interface.
    """

    procedure: Procedure
    given: tuple[np.ndarray, ...]
    shapes: tuple[tuple[int, ...], ...]
    numbers: tuple[int, ...]
    programs: tuple[Program, ...]
    arrays: tuple[FlatArray, ...]
    steps: tuple[FlatStep, ...]
    results: tuple[tuple[str, int, DataType, tuple[int, ...]], ...]

    def memory(self) -> tuple[list[np.ndarray], list[np.ndarray | None]]:
        """The bytes of every array before the first step, and for each byte whether it was written; None where all
        were."""
        memory, written = [], []
        for index, array in enumerate(self.arrays):
            if index < len(self.given):
                memory.append(self.given[index].copy())
                # A swap may leave what nothing wrote in an in_out.
                changed = any(index == each for _, each, _, _ in self.results)
                written.append(np.ones(array.bytes, np.uint8) if changed else None)
            elif array.contents is not None:
                memory.append(np.frombuffer(array.contents, np.uint8).copy())
                written.append(None)
            else:
                memory.append(np.zeros(array.bytes, np.uint8))
                written.append(np.zeros(array.bytes, np.uint8))
        return memory, written

    def outputs(self, memory: Sequence[np.ndarray] | Mapping[int, np.ndarray]) -> dict[str, np.ndarray]:
        """The outputs and in_outs by name, as numpy has them."""
        return {name: as_array(memory[index], element, shape) for name, index, element, shape in self.results}


def as_array(data: np.ndarray, element: DataType, shape: Sequence[int]) -> np.ndarray:
    """Bytes as an array of a type."""
    dtype, lanes = NUMPY[element]
    if element is DataType.Bool:
        truths: np.ndarray = data.view(np.uint32) != 0
        return truths.reshape(shape)
    return data.view(dtype).reshape((*shape, *lanes))


def call_of(
    function: ProcedureFunction,
    given: dict[str, Any],
    backend: str = "reference",
    device: int = 0,
    *,
    is_exact: bool = False,
) -> Call:
    """The call of a procedure for its arguments by name, with limits of a device; ``is_exact`` is that of a recording.

    Raises: what the call itself raises for its arguments.
    """
    constants = {each.name: given[each.name] for each in function._parameters if each.kind == "const"}
    made = function._recorded(constants, is_exact=is_exact).recorded_here()
    arrays = [
        (decl.name, array_of(function, decl, given[decl.name], None, ("reference", None)))
        for decl in made._of_role("input", "in_out")
    ]
    numbers = [argument_of(function, each, given[each.name]) for each in function._parameters if each.kind == "scalar"]
    made.core.check()
    call = _call(made.core, made.trail, [array for _, array in arrays], numbers, backend, device)
    return replace(call, procedure=function._recorded(constants).core) if is_exact else call


def named_call(
    procedure: Any,
    inputs: Mapping[str, Any],
    owner: str,
    backend: str = "reference",
    device: int = 0,
    *,
    is_exact: bool = False,
) -> Call:
    """The call of a procedure, as a function or as a value, for arrays and numbers by name."""
    if not isinstance(procedure, Procedure):
        return call_of(procedure, procedure._given((), dict(inputs)), backend, device, is_exact=is_exact)
    procedure.check()
    arrays, numbers = by_name(procedure, inputs, f"argument `inputs` of {owner}")
    exact = exact_of(procedure) if is_exact else None
    if exact is None:
        return _call(procedure, trail_of(procedure), arrays, numbers, backend, device)
    return replace(_call(exact.core, exact.trail, arrays, numbers, backend, device), procedure=procedure)


def _bytes_of(array: Array) -> np.ndarray:
    host = array.numpy()
    if host.dtype == np.bool_:
        host = host.astype(np.uint32)
    return np.ascontiguousarray(host).reshape(-1).view(np.uint8)


def _call(
    procedure: Procedure,
    trail: Trail | None,
    arrays: Sequence[Array],
    numbers: Sequence[int],
    backend: str,
    device: int,
) -> Call:
    interface = _core._procedure_interface(procedure)
    lanes = [len(NUMPY[element][1]) for kind, _, element, _ in interface if kind != "number"]
    shapes = [tuple(array.shape[: len(array.shape) - extra]) for array, extra in zip(arrays, lanes, strict=True)]
    given = [_bytes_of(array) for array in arrays]
    return _flat_call(procedure, trail, shapes, given, numbers, backend, device)


def call_of_bytes(
    procedure: Procedure,
    shapes: Sequence[Sequence[int]],
    given: Sequence[bytes],
    numbers: Sequence[int],
    backend: str = "reference",
    device: int = 0,
) -> Call:
    """The call of a procedure for the shapes and bytes of its inputs and in_outs."""
    arrays = [np.frombuffer(data, np.uint8).copy() for data in given]
    return _flat_call(procedure, None, [tuple(shape) for shape in shapes], arrays, numbers, backend, device)


def _flat_call(
    procedure: Procedure,
    trail: Trail | None,
    shapes: Sequence[tuple[int, ...]],
    given: Sequence[np.ndarray],
    numbers: Sequence[int],
    backend: str,
    device: int,
) -> Call:
    programs, made, steps, frames, origins, whole = _core._flat_steps(procedure, shapes, numbers, backend, device)
    known = _Frames(trail, frames)
    flat = tuple(
        FlatArray(kind, name, element, size, contents, known.line_of_array(frame, decl))
        for kind, name, element, size, contents, frame, decl in made
    )
    results = tuple(
        (name, index, element, tuple(whole[index]))
        for index, (kind, name, element, _) in enumerate(_core._procedure_interface(procedure, True))
        if kind != "input"
    )
    return Call(
        procedure,
        tuple(given),
        tuple(shapes),
        tuple(numbers),
        tuple(programs),
        flat,
        tuple(
            _step(row, known.place(number, len(steps), row, origin, flat), programs, origin)
            for number, (row, origin) in enumerate(zip(steps, origins, strict=True), 1)
        ),
        results,
    )


def _step(
    row: tuple[Any, ...], place: StepPlace, programs: Sequence[Program], origin: tuple[int, int | None]
) -> FlatStep:
    live = None if row[-1] is None else Part(*row[-1])
    if row[0] != "dispatch":
        return FlatStep(row[0], place, bound=tuple(Part(*part) for part in row[1:-1]), origin=origin, live=live)
    _, _, program, bound, grid, counts, counts_invocations, told, _ = row
    return FlatStep(
        "dispatch",
        place,
        programs[program],
        tuple(each if isinstance(each, bytes) else Part(*each) for each in bound),
        grid,
        None if counts is None else Part(*counts),
        counts_invocations,
        origin,
        told,
        live,
    )


class _Frames:
    """The trails of the procedures behind the frames of flat steps."""

    def __init__(self, trail: Trail | None, frames: Sequence[tuple[int, int | None]]) -> None:
        self.callers, self.trails = frames, [trail]
        for caller, step in frames[1:]:
            around = self.trails[caller]
            self.trails.append(None if around is None or step is None else around.invoked[step].trail)

    def line(self, frame: int, step: int | None) -> Line:
        trail = self.trails[frame]
        return None if trail is None or step is None else trail.steps[step]

    def line_of_array(self, frame: int, decl: int) -> Line:
        trail = self.trails[frame]
        return None if trail is None else trail.arrays[decl]

    def place(
        self, number: int, steps: int, row: tuple[Any, ...], origin: tuple[int, int | None], arrays: Sequence[FlatArray]
    ) -> StepPlace:
        frame, step = origin
        if row[0] == "dispatch":
            what = row[1].replace("dispatch", "kernel", 1)
        elif row[0] in ("clear", "zeros"):
            what = f"zeros for `{arrays[row[1][0]].name}`"
        else:
            what = f"a copy into `{arrays[row[2][0]].name}`"
        lines = [self.line(frame, step)] if step is not None else []
        while frame:
            frame, step = self.callers[frame]
            lines.append(self.line(frame, step))
        line, *callers = lines or [None]
        file, at = line or (None, None)
        return StepPlace(number, steps, what, file, at, tuple(each for each in callers if each is not None))


explain_calls(globals(), "vyre")
