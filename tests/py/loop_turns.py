"""How many turns of loops an invocation makes at most in each kernel that a call of the library dispatches.

Three steps. A dry call runs a call's code on the host for arrays of any lengths, and notes each procedure with its
shapes and numbers; nothing is dispatched, and results are zeros. The core unrolls the steps of such a procedure without
its arrays. The cost of an invocation bounds the turns of the loops in each step's program, for the lengths and the
numbers that the step has. What memory decides has no bound there; `counted` runs a call and counts.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import _core
from vyre._base.types import NUMPY
from vyre._kernel.recording import RECORDING
from vyre._procedure.arguments import argument_of
from vyre._procedure.check import Memory
from vyre._procedure.flat import Part, call_of
from vyre._procedure.procedure import ProcedureFunction
from vyre._procedure.recorder import ACTIVE
from vyre._tools.procedure_bisect import inputs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_OWN = (vyre.BufferAccess.Workgroup, vyre.BufferAccess.Private)
_SOME = 3  # steps with the same program that are walked over, from the first and from the last: a repetition's turns


@dataclass(frozen=True)
class Step:
    """A dispatch of a procedure: its kernel, what its buffers hold, and its grid in workgroups."""

    procedure: str
    kernel: str
    program: vyre.Program
    lengths: tuple[tuple[str, int], ...]
    words: tuple[int, ...]
    grid: tuple[int, int, int]

    def turns(self) -> tuple[int, int]:
        """The most turns of an invocation as far as they are bounded, and how many loops are not."""
        _, loops = _core._cost(
            self.program, dict(self.lengths), {"__params": self.words}, self.grid, of_invocation=True
        )
        bounded = sum(turns[0] for _, turns, within, *_ in loops if turns is not None and within is None)
        return bounded, sum(turns is None for _, turns, *_ in loops)


@contextlib.contextmanager
def dry_calls(found: dict[tuple[Any, ...], Step], kernels: set[vyre.Program]) -> Iterator[None]:
    """Let calls of procedures and kernels run nothing.

    Args:
        found: gets the steps of procedures.
        kernels: gets the programs of kernels that are called outside of procedures.
    """
    call, before = ProcedureFunction.__call__, RECORDING.call

    def dry(self: ProcedureFunction, *args: Any, **kwargs: Any) -> Any:
        if ACTIVE.recorder is not None:
            return call(self, *args, **kwargs)
        options = {name: kwargs.pop(name, None) for name in ("out", "backend", "device", "timeout")}
        given = self._given(args, kwargs)
        made = self._recorded({each.name: given[each.name] for each in self._parameters if each.kind == "const"})
        procedure = made.core
        shapes = []
        for decl in made._of_role("input", "in_out"):
            lanes = len(NUMPY[decl.element][1])
            shape = given[decl.name].shape
            shapes.append(tuple(shape[: len(shape) - lanes]))
        numbers = [argument_of(self, each, given[each.name]) for each in self._parameters if each.kind == "scalar"]
        whole = note_steps(found, procedure, shapes, numbers)
        on_host = not any(isinstance(each, vyre.Array) for each in given.values())
        outputs = {}
        for (kind, name, element, _), shape in zip(_core._procedure_interface(procedure, True), whole, strict=True):
            dtype, lanes = NUMPY[element]
            if kind == "output":
                outputs[name] = vyre.zeros((*shape, *lanes), dtype, backend="cpu")
                if on_host and options["backend"] is None:
                    outputs[name] = outputs[name].numpy()
        results = tuple(outputs[d.name] if d.name in outputs else given[d.name] for d in made.results)
        return results[0] if len(results) == 1 else results or None

    ProcedureFunction.__call__ = dry  # type: ignore[method-assign]
    RECORDING.call = lambda kernel, args, kwargs: kernels.add(kernel.program)
    try:
        yield
    finally:
        ProcedureFunction.__call__, RECORDING.call = call, before  # type: ignore[method-assign]


def note_steps(found: dict[tuple[Any, ...], Step], procedure: Any, shapes: Any, numbers: Any) -> Any:
    """Note the dispatches of a procedure for some shapes and numbers; gives the shapes of its results."""
    programs, _, steps, _, _, whole = _core._flat_steps(procedure, shapes, numbers, "cpu", 0)
    of_program: dict[int, list[Any]] = {}
    for step in steps:
        if step[0] == "dispatch":
            of_program.setdefault(step[2], []).append(step)
    for which, dispatches in of_program.items():
        program = programs[which]
        declared = [decl for decl in program.buffers if decl.access not in _OWN]
        for _, what, _, bound, grid, *_ in dispatches[:_SOME] + dispatches[_SOME:][-_SOME:]:
            lengths, words = [], ()
            for decl, part in zip(declared, bound, strict=True):
                size = len(part) if isinstance(part, bytes) else part[2]
                lengths.append((decl.name, size // max(decl.element.min_bytes(), 1)))
                if decl.name == "__params":
                    words = tuple(np.frombuffer(part, np.uint32).tolist())
            kernel, *_, owner = re.findall(r"`([^`]*)`", what)
            made = Step(owner, kernel, program, tuple(lengths), words, tuple(grid))
            found[owner, kernel, which, made.lengths, words, made.grid] = made
    return whole


def counted(procedure: ProcedureFunction, given: dict[str, Any]) -> Counter[tuple[str, str]]:
    """Run a call on the reference; the most turns of an invocation, by procedures and kernels."""
    call = call_of(procedure, given)
    memory = Memory(call)
    most: Counter[tuple[str, str]] = Counter()
    for step in call.steps:
        if step.kind != "dispatch":
            memory.move(step)
            continue
        groups = memory.groups(step)
        if not all(groups):
            continue
        program, arrays = _counting(step.program, groups), inputs_of(step, memory)
        total = int(np.prod([a * b for a, b in zip(groups, step.program.workgroup_size, strict=True)]))
        made = vyre.run(program, {**arrays, "__turns": total}, groups, backend="reference")
        kernel, *_, owner = re.findall(r"`([^`]*)`", step.place.what)
        most[owner, kernel] = max(most[owner, kernel], int(made["__turns"].max()))
        for decl, part in zip(step.buffers, step.bound, strict=True):
            if decl.access == vyre.BufferAccess.ReadWrite and isinstance(part, Part):
                part.of(memory.bytes)[:] = np.ascontiguousarray(made[decl.name]).reshape(-1).view(np.uint8)
    return most


@contextlib.contextmanager
def counting_calls() -> Iterator[Counter[tuple[str, str]]]:
    """Gives the most turns of an invocation by procedures and kernels, of the calls until the end of the block."""
    most: Counter[tuple[str, str]] = Counter()
    call = ProcedureFunction.__call__

    def counting(self: ProcedureFunction, *args: Any, **kwargs: Any) -> Any:
        if ACTIVE.recorder is None:
            self._launch = None  # the short way asks for no procedure
            options = ("out", "backend", "device", "timeout")
            given = self._given(args, {name: value for name, value in kwargs.items() if name not in options})
            hosts = {k: v.numpy() if isinstance(v, vyre.Array) else v for k, v in given.items()}
            for kernel, turns in counted(self, hosts).items():
                most[kernel] = max(most[kernel], turns)
        return call(self, *args, **kwargs)

    ProcedureFunction.__call__ = counting  # type: ignore[method-assign]
    try:
        yield most
    finally:
        ProcedureFunction.__call__ = call  # type: ignore[method-assign]


def _counting(program: vyre.Program, groups: tuple[int, int, int]) -> vyre.Program:
    """The program, with a word for each invocation that counts its turns."""
    head, body = program.to_text().split("\n\n", 1)
    extents = [count * size for count, size in zip(groups, program.workgroup_size, strict=True)]
    place = f"((((gid.z * {extents[1]}) + gid.y) * {extents[0]}) + gid.x)"
    lines, count = [], 0
    for line in body.splitlines():
        lines.append(line)
        if line.strip().startswith("loop "):
            lines.append(f"let __turn_{count} = atomic_add(__turns, {place}, 1)")
            count += 1
    head += "\nbuffer __turns: read_write u32 binding 99"
    return vyre.parse(head + "\n\n" + "\n".join(lines) + "\n")


def steps_of(calls: dict[str, Callable[[], Any]]) -> tuple[dict[str, dict[tuple[Any, ...], Step]], set[vyre.Program]]:
    """The steps of each dry call, and the programs of kernels that were called alone."""
    kernels: set[vyre.Program] = set()
    found: dict[str, dict[tuple[Any, ...], Step]] = {}
    for name, call in calls.items():
        found[name] = {}
        with dry_calls(found[name], kernels):
            call()
    return found, kernels
