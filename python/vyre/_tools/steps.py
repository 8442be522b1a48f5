"""What runs the steps of a procedure's call: a backend as one recording, or any way to run programs one by one."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from vyre import _core
from vyre._base.types import TYPES
from vyre._core import BufferAccess
from vyre._procedure.check import Memory
from vyre._procedure.flat import Part
from vyre._tools.ways import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre._procedure.flat import Call, FlatStep
    from vyre._tools import ways

__all__ = ["Runner", "call_on", "inputs_of", "runner_of"]


class Runner(Protocol):
    """What runs the first steps of a call, and gives the bytes of these arrays then."""

    def state(self, count: int, arrays: Sequence[int]) -> list[np.ndarray]: ...


class _Recorded:
    """A backend that runs steps as one recording, as a call of the procedure does."""

    def __init__(self, call: Call, way: Run) -> None:
        self.call, self.way = call, way

    def state(self, count: int, arrays: Sequence[int]) -> list[np.ndarray]:
        call = self.call
        first_own = len(call.given) + sum(1 for each in call.arrays[len(call.given) :] if each.kind == "given")
        kept = [index for index in arrays if index >= first_own]
        found = _core._run_steps(
            call.procedure,
            call.shapes,
            list(call.given),
            call.numbers,
            *_place(self.way),
            self.way.optimize,
            self.way.timeout,
            count,
            kept,
            self.way.owner,
        )
        places = {index: k for k, index in enumerate([*range(first_own), *kept])}
        return [np.frombuffer(found[places[index]], np.uint8) for index in arrays]


class _OneByOne:
    """A way to run programs that takes the steps one by one."""

    def __init__(self, call: Call, runner: ways.Runner) -> None:
        self.call, self.runner = call, runner
        self.memory, self.done = Memory(call), 0

    def state(self, count: int, arrays: Sequence[int]) -> list[np.ndarray]:
        if count < self.done:
            self.memory, self.done = Memory(self.call), 0
        while self.done < count:
            self.take(self.call.steps[self.done])
            self.done += 1
        return [self.memory.bytes[index].copy() for index in arrays]

    def take(self, step: FlatStep) -> None:
        if step.kind != "dispatch" or not self.memory.is_live(step):
            self.memory.move(step)
            return
        groups = self.memory.groups(step)
        outputs = self.runner(step.program, inputs_of(step, self.memory), groups)  # type: ignore[arg-type]
        for decl, part in zip(step.buffers, step.bound, strict=True):
            if decl.access == BufferAccess.ReadWrite and isinstance(part, Part):
                part.of(self.memory.bytes)[:] = _bytes(outputs[decl.name])


def _bytes(array: np.ndarray) -> np.ndarray:
    whole = array.astype(np.uint32) if array.dtype == np.bool_ else array
    return np.ascontiguousarray(whole).reshape(-1).view(np.uint8)


def inputs_of(step: FlatStep, memory: Memory) -> dict[str, np.ndarray]:
    """What vyre.run takes for a dispatch of these arrays."""
    inputs = {}
    for decl, data in zip(step.buffers, memory.bound(step)[0], strict=True):
        info = TYPES[decl.element]
        inputs[decl.name] = data.copy().view(info.bound).reshape(-1, *info.axes)
    return inputs


def runner_of(way: Any, call: Call, schedule: str | None = None) -> Runner:
    """What runs the steps of a call in a way; ``schedule`` is an order of invocations of the reference."""
    # The reference takes a recording's steps in one order of invocations.
    if isinstance(way, Run) and (schedule or way.schedule) is None:
        return _Recorded(call, way)
    return _OneByOne(call, functools.partial(way, schedule=schedule))


def call_on(way: Any, make_call: Callable[[str, int], Call]) -> Call:
    """The call with the limits of the device of a way."""
    if not isinstance(way, Run):
        return make_call("reference", 0)
    return make_call(*_place(way))


def _place(way: Run) -> tuple[str, int]:
    array = _core._empty([0], np.dtype(np.uint32), way.backend, way.device)
    return array.backend, array.device
