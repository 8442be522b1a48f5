"""Runs a procedure: sizes are evaluated, scratch arrays made, and the steps become calls with resident arrays."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._array import _NUMPY
from vyre._core import Array
from vyre._procedure.arrays import BYTES
from vyre._procedure.sizes import LIMITS, Size, evaluated
from vyre._procedure.steps import Clear, Dispatch, Invoke, Repeat, Swap, When
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre._core import DataType
    from vyre._procedure.steps import ArrayDecl, Part, Recorded

__all__ = ["run"]

_MOST_PLANS = 32
_MOST_ELEMENTS = 2**32 - 1
_MOST_CALLS = 100_000
_LOCK = threading.Lock()
_PLANS: OrderedDict[Any, _Plan] = OrderedDict()


class _Place:
    def __init__(self, backend: str, device: int) -> None:
        self.backend, self.device = backend, device
        self._words: dict[Any, Array] = {}
        self._tables: dict[int, tuple[ArrayDecl, Array]] = {}

    def limit(self, name: str) -> int:
        if self.backend in ("cpu", "reference"):
            return {"workgroup_memory": 2**28, "workgroup_invocations": 2**16}[name]
        row = next(each for each in _core._devices(self.backend) if each["index"] == self.device)
        return int(dict(row["limits"])[LIMITS[name]])

    def words(self, values: tuple[int, ...]) -> Any:
        if len(values) == 1:
            return values[0]
        if values not in self._words:
            self._words[values] = _core._array(np.array(values, np.uint32), self.backend, self.device)
        return self._words[values]

    def table(self, decl: ArrayDecl) -> Array:
        if id(decl) not in self._tables:
            values = decl.contents
            self._tables[id(decl)] = decl, _core._array(values, self.backend, self.device)
        return self._tables[id(decl)][1]

    def empty(self, decl: ArrayDecl, shape: Sequence[int]) -> Array:
        dtype, lanes = _NUMPY[decl.element]
        total = int(np.prod([int(each) for each in shape], dtype=object))
        if total > _MOST_ELEMENTS:
            raise ArgumentError(
                f"array `{decl.name}` would have {total} elements, and an array has at most {_MOST_ELEMENTS}. "
                "Fix: process the data in parts."
            )
        return _core._empty([*shape, *lanes], np.dtype(dtype), self.backend, self.device)


class _Plan:
    """The steps of a procedure for some lengths, numbers and a device, with its scratch arrays.

    An array is named by a slot: the arrays of the call first, then the plan's own. Scratch arrays and outputs have a
    negative one until the steps are known, because a swap may leave an output's contents in another array.
    """

    def __init__(
        self, procedure: Recorded, shapes: Sequence[tuple[int, ...]], numbers: Sequence[int], place: _Place
    ) -> None:
        self.lock = threading.Lock()
        self.place = place
        self.own: list[Array] = []
        self._latest = 0
        self.steps: list[Any] = []
        self.outputs: list[tuple[ArrayDecl, tuple[int, ...]]] = []
        self._bound: dict[int, Any] = {}  # the slot of each negative one
        inputs = procedure._of_role("input", "in_out")
        self._first_own = len(inputs) + len(procedure.outputs)
        self._flatten(procedure, range(self._first_own), list(shapes), numbers, top=True)

    def _flatten(
        self,
        procedure: Recorded,
        targets: Sequence[Any],
        shapes: Sequence[tuple[int, ...]],
        numbers: Sequence[int],
        top: bool,
    ) -> None:
        inputs = procedure._of_role("input", "in_out")
        lengths = {id(decl): shape for decl, shape in zip(inputs, shapes, strict=True)}
        slots = {id(decl): slot for decl, slot in zip(inputs, targets, strict=False)}
        made: dict[int, tuple[ArrayDecl, tuple[int, ...]]] = {}
        values = dict(zip((name for name, _ in procedure.numbers), numbers, strict=True))
        turns: dict[str, int] = {}

        def leaf(size: Size) -> int:
            if size.op == "length":
                return lengths[id(size.args[0])][size.args[1]]
            if size.op == "number":
                return values[size.args[0]]
            if size.op == "limit":
                return self.place.limit(size.args[0])
            return turns[size.args[0]]

        def value(*sizes: Size | int) -> tuple[int, ...]:
            return tuple(evaluated(sizes, leaf))

        for decl in procedure.arrays:
            if decl.role in ("input", "in_out"):
                continue
            if decl.role == "table":
                slots[id(decl)] = self._own(self.place.table(decl))
                lengths[id(decl)] = value(*decl.shape)
                continue
            shape = lengths[id(decl)] = value(*decl.shape)
            self._latest -= 1
            slots[id(decl)] = self._latest
            made[self._latest] = decl, shape
            if decl.zeros:
                self.steps.append(("clear", slots[id(decl)], None, None))

        def reference(part: Part) -> tuple[Any, ...]:
            return slots[id(part.array)], part.element and self._view(part), part.slice and value(*part.slice)

        open_ = [iter(procedure.steps)]
        repeats: list[Any] = [None]
        while open_:
            step = next(open_[-1], None)
            if step is None:
                again = repeats[-1]
                if again is not None:
                    repeat, turn, count = again
                    if turn + 1 < count:
                        turns[repeat.turn.args[0]] = turn + 1
                        repeats[-1] = repeat, turn + 1, count
                        open_[-1] = iter(repeat.steps)
                        continue
                open_.pop()
                repeats.pop()
            elif isinstance(step, When):
                open_.append(iter(step.steps if value(step.condition)[0] else step.otherwise))
                repeats.append(None)
            elif isinstance(step, Repeat):
                count = value(step.count)[0]
                if count:
                    turns[step.turn.args[0]] = 0
                    open_.append(iter(step.steps))
                    repeats.append((step, 0, count))
            elif isinstance(step, Swap):
                if lengths[id(step.a)] != lengths[id(step.b)]:
                    raise ArgumentError(
                        f"vyre.swap exchanges `{step.a.name}` of shape {lengths[id(step.a)]} and `{step.b.name}` "
                        "of shape "
                        f"{lengths[id(step.b)]}. Fix: make both with the same shape."
                    )
                slots[id(step.a)], slots[id(step.b)] = slots[id(step.b)], slots[id(step.a)]
            elif isinstance(step, Clear):
                self.steps.append(("clear", *reference(step.part)))
            elif isinstance(step, Invoke):
                inner = [self._slot(reference(part)) for part in step.arrays]
                given = len(step.procedure._of_role("input", "in_out"))
                inner_shapes = [self._shape(part, lengths, value) for part in step.arrays[:given]]
                self._flatten(step.procedure, inner, inner_shapes, value(*step.numbers), top=False)
            else:
                self._dispatch(step, reference, value)
            if len(self.steps) > _MOST_CALLS:
                raise ArgumentError(
                    f"procedure `{procedure.name}` has more than {_MOST_CALLS} dispatches for these arrays. "
                    "Fix: call it with less data, several times."
                )
        for decl, target in zip(procedure.outputs, targets[len(inputs) :], strict=True):
            self._bound[slots[id(decl)]] = target
            _, shape = made.pop(slots[id(decl)])
            if top:
                self.outputs.append((decl, shape))
        for slot, (decl, shape) in made.items():
            self._bound[slot] = self._own(self.place.empty(decl, shape))

    def _own(self, array: Any) -> int:
        self.own.append(array)
        return self._first_own + len(self.own) - 1

    def _slot(self, reference: tuple[Any, ...]) -> Any:
        return reference[0] if reference[1] is None and reference[2] is None else reference

    @staticmethod
    def _view(part: Part) -> Any:
        return part.element

    @staticmethod
    def _shape(part: Part, lengths: Mapping[int, tuple[int, ...]], value: Any) -> tuple[int, ...]:
        shape = lengths[id(part.array)]
        element = part.element or part.array.element
        if part.slice is not None:
            row = int(np.prod(shape[1:], dtype=np.uint64)) if len(shape) > 1 else 1
            count = value(part.slice[1])[0]
            return (count // row if row else 0, *shape[1:])
        if element is not part.array.element:
            return (shape[0] * BYTES[part.array.element] // BYTES[element],)
        return shape

    def _dispatch(self, step: Dispatch, reference: Any, value: Any) -> None:
        arrays = [
            ("words", self.place.words(value(*(each % 2**32 for each in bound))))
            if isinstance(bound, tuple)
            else reference(bound)
            for bound in step.bound
        ]
        if isinstance(step.grid, tuple):
            self.steps.append(("call", step.program, arrays, value(*step.grid), None, False))
        else:
            assert step.at_most is not None
            self.steps.append(
                ("call", step.program, arrays, reference(step.grid), value(*step.at_most), step.counts_invocations)
            )

    def run(self, given: Sequence[Array], outputs: Sequence[Array]) -> list[Array]:
        arrays = [*given, *outputs, *self.own]

        def resolved(reference: Any) -> Any:
            if isinstance(reference, int):
                return arrays[reference] if reference >= 0 else resolved(self._bound[reference])
            if reference[0] == "words":
                return reference[1]
            slot, element, part = reference
            array = resolved(slot)
            if element is None and part is None:
                return array
            if element is not None:
                array = _viewed(array, element)
            elif array.ndim > 1 and part is not None and array.size:
                return array.reshape(array.size)[part[0] : part[0] + part[1]]
            return array if part is None else array[part[0] : part[0] + part[1]]

        for step in self.steps:
            if step[0] == "clear":
                array = resolved(step[1:])
                if array.size:
                    array.fill(0)
                continue
            _, program, bound, grid, most, counts_invocations = step
            if most is None:
                if 0 in grid:
                    continue
                program(*map(resolved, bound), workgroups=grid)
            else:
                call = _core._call_for_invocations if counts_invocations else _core.Program.__call__
                call(program, *map(resolved, bound), workgroups=resolved(grid), at_most=most)
        return list(outputs)


def _viewed(array: Array, element: DataType) -> Array:
    """The memory as elements of another type, as many as fit whole."""
    flat = array.reshape(array.size)
    whole = array.size * array.dtype.itemsize // BYTES[element] * BYTES[element]
    return flat[: whole // array.dtype.itemsize].view(element)


def run(
    procedure: Recorded,
    given: Sequence[Array],
    numbers: Sequence[int],
    outputs: Sequence[Array | None],
    backend: str,
    device: int,
) -> list[Array]:
    """Run on resident arrays of one device; gives the outputs."""
    key = (
        id(procedure),
        tuple(each.shape for each in given),
        tuple(numbers),
        backend,
        device,
    )
    with _LOCK:
        plan = _PLANS.get(key)
        if plan is not None:
            _PLANS.move_to_end(key)
    if plan is None:
        shapes = [
            each.shape[: len(each.shape) - len(_NUMPY[decl.element][1])]
            for each, decl in zip(given, procedure._of_role("input", "in_out"), strict=True)
        ]
        plan = _Plan(procedure, shapes, numbers, _Place(backend, device))
        plan.procedure = procedure  # type: ignore[attr-defined]  # its id is part of the key
        with _LOCK:
            _PLANS[key] = plan
            while len(_PLANS) > _MOST_PLANS:
                _PLANS.popitem(last=False)
    with plan.lock:
        made: list[Array] = []
        for (decl, shape), wanted in zip(plan.outputs, outputs, strict=True):
            if wanted is None:
                made.append(plan.place.empty(decl, shape))
                continue
            full = (*shape, *_NUMPY[decl.element][1])
            if wanted.shape != full or wanted.dtype.name != _NUMPY[decl.element][0]:
                raise ArgumentError(
                    f"argument `out` of procedure `{procedure.name}` must be an array of "
                    f"{_NUMPY[decl.element][0]} with shape "
                    f"{full} for `{decl.name}`, got one of {wanted.dtype} with shape {wanted.shape}. "
                    f"Fix: make it with vyre.empty({full}, np.{_NUMPY[decl.element][0]})."
                )
            made.append(wanted)
        return plan.run(given, made)
