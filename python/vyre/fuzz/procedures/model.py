"""The model: a procedure runs step by step, each dispatch as a call of its program on numpy arrays.

It shares nothing with the core's planning of procedures. Sizes are evaluated by Python, a swap exchanges two names, and
an invocation works on its own arrays and copies what it returns. Memory that no step wrote holds noise.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre._base.types import TYPES
from vyre._core import BufferAccess
from vyre.errors import ArgumentError
from vyre.fuzz.procedures.spec import BYTES, Size, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre._core import Program
    from vyre.fuzz.procedures.spec import Call, Spec, Step

__all__ = ["expected"]

_LIMITS = {"workgroup_memory": 1 << 28, "workgroup_invocations": 1 << 16}
_MOST_NOISE = 16
_MOST_BYTES = 1 << 30


@functools.lru_cache(maxsize=4096)
def _parsed(text: str) -> Program:
    return vyre.parse(text)


def _bound(program: Program) -> list[Any]:
    return [each for each in program.buffers if each.access not in (BufferAccess.Workgroup, BufferAccess.Private)]


def expected(spec: Spec, call: Call, noise: int = 1) -> list[bytes]:
    """The bytes of the in_outs and outputs of a call, in the order of the interface.

    Args:
        noise: what memory holds that nothing has written: zeros for 0, ones for -1, else random bytes of this seed.
    """
    random = np.random.default_rng(noise) if noise > 0 else noise
    given = [np.frombuffer(data, np.uint8).copy() for _, data in call.arrays]
    shapes = [shape for shape, _ in call.arrays]
    outputs = _Frame(spec, given, shapes, call.numbers, random).run()
    changed = [
        data for index, data in zip(spec.interface(), given, strict=False) if spec.arrays[index].role == "in_out"
    ]
    return [data.tobytes() for data in [*changed, *outputs]]


class _Frame:
    """One run of a procedure. ``given`` are the bytes of its inputs and in_outs, which it changes in place."""

    def __init__(
        self,
        spec: Spec,
        given: Sequence[np.ndarray],
        shapes: Sequence[Sequence[int]],
        numbers: Sequence[int],
        random: np.random.Generator | int,
    ) -> None:
        self.spec, self.numbers, self.random = spec, numbers, random
        self.turns: dict[int, int] = {}
        self.memory: list[np.ndarray] = []
        self.shapes: list[tuple[int, ...]] = []
        own = iter(zip(given, shapes, strict=True))
        for array in spec.arrays:
            if array.role in ("input", "in_out"):
                data, shape = next(own)
                self.memory.append(data)
                self.shapes.append(tuple(shape))
            else:
                # A shape may use the lengths of arrays before it.
                self.shapes.append(tuple(self.size(each) for each in array.shape))
                count = math.prod(self.shapes[-1]) * BYTES[array.element]
                if count > _MOST_BYTES:
                    raise ArgumentError(
                        f"array `{array.name}` of the case has more than 2^30 bytes. Fix: make it smaller."
                    )
                if array.contents is not None:
                    self.memory.append(np.frombuffer(array.contents, np.uint8).copy())
                elif array.zeros:
                    self.memory.append(np.zeros(count, np.uint8))
                else:
                    self.memory.append(self.noise(count))

    def noise(self, count: int) -> np.ndarray:
        if isinstance(self.random, int):
            return np.full(count, self.random & 0xFF, np.uint8)
        return np.resize(self.random.integers(0, 256, _MOST_NOISE, dtype=np.uint8), count)

    def size(self, size: Size) -> int:
        def leaf(each: Size) -> int:
            if each[0] == "length":
                return self.shapes[each[1]][each[2]]
            if each[0] == "number":
                return self.numbers[each[1]]
            return self.turns[each[1]] if each[0] == "turn" else _LIMITS[each[1]]

        return evaluate(size, leaf)

    def part(self, part: tuple[Any, ...]) -> np.ndarray:
        """The bytes of a part, as a view."""
        array, view, slice_ = part
        data = self.memory[array]
        width = BYTES[view or self.spec.arrays[array].element]
        if slice_ is None:
            whole: np.ndarray = data[: len(data) // width * width]
            return whole
        offset, length = map(self.size, slice_)
        assert (offset + length) * width <= len(data)
        cut: np.ndarray = data[offset * width : (offset + length) * width]
        return cut

    def shape_of(self, part: tuple[Any, ...]) -> tuple[int, ...]:
        array, view, slice_ = part
        shape: tuple[int, ...] = self.shapes[array]
        if slice_ is not None:
            row = int(np.prod(shape[1:], dtype=np.int64))
            return (self.size(slice_[1]) // row if row else 0, *shape[1:])
        if view is not None:
            return (shape[0] * BYTES[self.spec.arrays[array].element] // BYTES[view], *shape[1:])
        return shape

    def run(self) -> list[np.ndarray]:
        self.steps(self.spec.steps)
        return [self.memory[index] for index in self.spec.results if self.spec.arrays[index].role == "output"]

    def steps(self, steps: Sequence[Step]) -> None:
        for step in steps:
            _STEPS[step[0]](self, step)

    def dispatch(self, step: Step) -> None:
        _, index, bound, grid, counts, invocations = step
        program = _parsed(self.spec.programs[index])
        groups = [self.size(each) for each in grid]
        if counts is not None:
            size = program.workgroup_size if invocations else (1, 1, 1)
            wanted = self.part(counts).view(np.uint32)
            groups = [min(-(-int(wanted[k]) // size[k]), groups[k]) for k in range(3)]
        inputs: dict[str, np.ndarray] = {}
        places: dict[str, np.ndarray] = {}
        for decl, each in zip(_bound(program), bound, strict=True):
            if each[0] == "words":
                words = [self.size(word) for word in each[1]]
                if max(words, default=0) >= 2**32:
                    raise ArgumentError("a word of the case has more than 32 bits. Fix: make its size smaller.")
                data = np.array(words, np.uint32).view(np.uint8)
            else:
                data = places[decl.name] = self.part(each)
            info = TYPES[decl.element]
            inputs[decl.name] = data.copy().view(info.bound).reshape(-1, *info.axes)
        if 0 in groups:
            return
        for name, array in vyre.run(program, inputs, groups, backend="reference").items():
            places[name][:] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)

    def invoke(self, step: Step) -> None:
        _, index, parts, numbers = step
        inner = self.spec.procedures[index]
        interface = inner.interface()
        given = [
            (self.part(part), self.shape_of(part))
            for array, part in zip(interface, parts, strict=True)
            if inner.arrays[array].role != "output"
        ]
        values = [self.size(number) for number in numbers]
        data_of_parts, shapes = zip(*given, strict=True) if given else ((), ())
        outputs = _Frame(inner, data_of_parts, shapes, values, self.random).run()
        for part, data in zip(parts[len(given) :], outputs, strict=True):
            self.part(part)[:] = data

    def repeat(self, step: Step) -> None:
        _, turn, count, steps, *ends = step
        for k in range(self.size(count)):
            if any(self.part(end).any() for end in ends):
                break
            self.turns[turn] = k
            self.steps(steps)

    def when(self, step: Step) -> None:
        self.steps(step[2] if self.size(step[1]) else step[3])

    def swap(self, step: Step) -> None:
        a, b = step[1:]
        self.memory[a], self.memory[b] = self.memory[b], self.memory[a]

    def clear(self, step: Step) -> None:
        self.part(step[1])[:] = 0


_STEPS: dict[str, Callable[[_Frame, Step], None]] = {
    name: getattr(_Frame, name) for name in ("dispatch", "invoke", "repeat", "when", "swap", "clear")
}
