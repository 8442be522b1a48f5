"""What a generated procedure is: plain values, from which both the core's Procedure and the model are made.

A size is a tuple: ("literal", value), ("length", array, axis), ("number", index), ("limit", name), ("turn", number), or
an operation of sizes such as ("+", a, b). A part of an array is (array, type or None, (offset, length) or None). A step
is one of

    ("dispatch", program, (part or ("words", sizes), ...), grid, counts or None, whether they count invocations)
    ("invoke", procedure, parts, numbers)
    ("repeat", turn, count, steps), and at the end the part that ends it, if one does
    ("when", condition, steps, otherwise)
    ("swap", array, array)
    ("clear", part)
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import vyre
from vyre import _core
from vyre._base.types import NUMPY, SCALARS, TYPES, number_of_bits
from vyre._core import DataType
from vyre.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from vyre._core import Procedure

__all__ = [
    "BYTES",
    "LEAVES",
    "ArraySpec",
    "Call",
    "ProcedureCase",
    "Size",
    "Spec",
    "Step",
    "evaluate",
    "literal",
    "substituted",
]

Size: TypeAlias = "tuple[Any, ...]"
Step: TypeAlias = "tuple[Any, ...]"

BYTES = {element.name: max(info.bytes, 1) for element, info in TYPES.items()}
LEAVES = ("literal", "length", "number", "limit", "turn")
_MOST_FILE = 1 << 28


def literal(value: int) -> Size:
    return ("literal", value)


_OPERATIONS: dict[str, Callable[..., int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "ceil_div": lambda a, b: -(-a // b),
    "min": min,
    "max": max,
    "ceil_log2": lambda a: max(a - 1, 0).bit_length(),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "select": lambda c, a, b: a if c else b,
}


def evaluate(size: Size, leaf: Callable[[Size], int]) -> int:
    """The value of a size. Generated sizes are a few operations deep."""
    if size[0] == "literal":
        found: int = size[1]
        return found
    if size[0] in LEAVES:
        return leaf(size)
    value = _OPERATIONS[size[0]](*(evaluate(each, leaf) for each in size[1:]))
    assert 0 <= value < 2**64, f"size {size} is {value}"
    return value


def substituted(size: Size, leaf: Callable[[Size], Size]) -> Size:
    """The size with other leaves."""
    if size[0] in LEAVES:
        return leaf(size)
    return (size[0], *(substituted(each, leaf) for each in size[1:]))


@dataclass(frozen=True)
class ArraySpec:
    """An array. The role is input, in_out, output, scratch or table; the element is the name of a DataType."""

    name: str
    role: str
    element: str
    shape: tuple[Size, ...] = ()  # not of inputs and in_outs
    axes: int = 1
    zeros: bool = False
    contents: bytes | None = None  # of a table


@dataclass(frozen=True)
class Spec:
    """A procedure: its numbers, arrays and steps, the programs and procedures of its steps, and what it returns."""

    name: str
    numbers: tuple[tuple[str, str], ...]
    arrays: tuple[ArraySpec, ...]
    steps: tuple[Step, ...]
    results: tuple[int, ...]
    programs: tuple[str, ...]
    procedures: tuple[Spec, ...] = ()

    def interface(self) -> list[int]:
        """The arrays that a call gives, as the core has them: inputs and in_outs, then outputs as they are returned."""
        given = [index for index, array in enumerate(self.arrays) if array.role in ("input", "in_out")]
        return given + [index for index in self.results if self.arrays[index].role == "output"]

    def build(self) -> Procedure:
        """The core's value."""
        return _Build(self).made

    def all_steps(self) -> Iterator[Step]:
        """Every step, those inside others too."""
        open_ = list(reversed(self.steps))
        while open_:
            step = open_.pop()
            yield step
            for inner in blocks(step):
                open_ += reversed(inner)

    def count(self) -> int:
        """How many steps there are, with those of the procedures that it invokes."""
        return sum(1 for _ in self.all_steps()) + sum(each.count() for each in self.procedures)


def blocks(step: Step) -> tuple[tuple[Step, ...], ...]:
    """The blocks of steps in a step."""
    if step[0] == "repeat":
        return (step[3],)
    return (step[2], step[3]) if step[0] == "when" else ()


class _Build:
    def __init__(self, spec: Spec) -> None:
        self._builder = builder = _core._ProcedureBuilder(spec.name)
        self._turns: dict[int, int] = {}
        self._programs = [vyre.parse(text) for text in spec.programs]
        self._procedures = [each.build() for each in spec.procedures]
        for name, type_ in spec.numbers:
            builder.declare(name, DataType[type_])
        # Shapes may ask for the lengths of inputs, which therefore come first.
        for array in spec.arrays:
            shape = [self._size(each) for each in array.shape]
            element = DataType[array.element]
            builder.array(array.name, array.role, element, array.axes, shape, array.zeros, array.contents)
        self._steps(spec.steps)
        for index in spec.results:
            builder.result(index)
        self.made: Procedure = builder.finish()

    def _size(self, size: Size) -> int:
        kind, *rest = size
        if kind == "literal":
            return self._builder.literal(rest[0])
        if kind == "length":
            return self._builder.length(*rest)
        if kind == "number":
            return self._builder.number(rest[0])
        if kind == "limit":
            return self._builder.limit(rest[0])
        if kind == "turn":
            return self._builder.turn(self._turns[rest[0]])
        return self._builder.apply(kind, [self._size(each) for each in rest])

    def _part(self, part: tuple[Any, ...]) -> tuple[int, Any, Any, Any]:
        array, view, slice_ = part
        offset, length = (None, None) if slice_ is None else map(self._size, slice_)
        return array, None if view is None else DataType[view], offset, length

    def _steps(self, steps: tuple[Step, ...]) -> None:
        builder = self._builder
        for step in steps:
            if step[0] == "dispatch":
                _, program, bound, grid, counts, invocations = step
                builder.dispatch(
                    f"kernel{program}",
                    self._programs[program],
                    [
                        [self._size(word) for word in each[1]] if each[0] == "words" else self._part(each)
                        for each in bound
                    ],
                    [self._size(each) for each in grid],
                    None if counts is None else self._part(counts),
                    invocations,
                    None,
                )
            elif step[0] == "invoke":
                parts = [self._part(each) for each in step[2]]
                builder.invoke(self._procedures[step[1]], parts, [self._size(each) for each in step[3]])
            elif step[0] == "repeat":
                self._turns[step[1]] = builder.repeat(self._size(step[2]), *map(self._part, step[4:]))
                self._steps(step[3])
                builder.end()
            elif step[0] == "when":
                builder.when(self._size(step[1]))
                self._steps(step[2])
                if step[3]:
                    builder.otherwise()
                    self._steps(step[3])
                builder.end()
            elif step[0] == "swap":
                builder.swap(step[1], step[2])
            else:
                builder.clear(self._part(step[1]))


@dataclass(frozen=True)
class Call:
    """What one call gives: for each input and in_out its shape and bytes, and the numbers."""

    arrays: tuple[tuple[tuple[int, ...], bytes], ...]
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class ProcedureCase:
    """A procedure with several calls, one after the other: nothing that is kept of one may show in the next.

    Attributes:
        spec: the procedure.
        calls: of it.
        seed: what it was generated from, if it was.
    """

    spec: Spec
    calls: tuple[Call, ...]
    seed: int | None = None
    _built: list[Procedure] = field(default_factory=list, compare=False, repr=False)

    @property
    def procedure(self) -> Procedure:
        """The core's value."""
        if not self._built:
            self._built.append(self.spec.build())
        return self._built[0]

    def inputs(self, call: int = 0) -> dict[str, Any]:
        """The arrays and numbers of a call by name, as vyre.check and vyre.bisect take them."""
        given = [array for array in self.spec.arrays if array.role in ("input", "in_out")]
        made: dict[str, Any] = {}
        for array, (shape, data) in zip(given, self.calls[call].arrays, strict=True):
            dtype, lanes = NUMPY[DataType[array.element]]
            made[array.name] = np.frombuffer(data, dtype).reshape((*shape, *lanes))
        for (name, type_), number in zip(self.spec.numbers, self.calls[call].numbers, strict=True):
            made[name] = number_of_bits(DataType[type_], number)
        return made

    def hash(self) -> int:
        """A hash of the procedure, the same on every machine."""
        return int.from_bytes(hashlib.sha256(self.procedure.to_bytes()).digest()[:8], "little")

    def steps(self) -> int:
        """How many steps the procedure has."""
        return self.spec.count()

    def to_json(self) -> str:
        """The case as text that ``from_json`` reads back."""
        calls = [
            {"arrays": [[list(shape), data.hex()] for shape, data in call.arrays], "numbers": list(call.numbers)}
            for call in self.calls
        ]
        whole = {"vyre_procedure_case": 1, "seed": self.seed, "spec": _to_plain(self.spec), "calls": calls}
        return json.dumps(whole, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> ProcedureCase:
        """Read what ``to_json`` wrote. Raises ParseError."""
        try:
            if len(text) > _MOST_FILE:
                raise ValueError("it is too long")
            whole = json.loads(text)
            if whole["vyre_procedure_case"] != 1:
                raise ValueError(f"version {whole['vyre_procedure_case']}")
            calls = tuple(
                Call(
                    tuple((tuple(int(n) for n in shape), bytes.fromhex(data)) for shape, data in call["arrays"]),
                    tuple(int(number) for number in call["numbers"]),
                )
                for call in whole["calls"]
            )
            spec = _from_plain(whole["spec"])
            check_spec(spec)
            for call in calls:
                _check_call(spec, call)
            case = cls(spec, calls, whole["seed"])
            case.procedure.check()
            return case
        except vyre.VyreError:
            raise
        except (ValueError, KeyError, TypeError, IndexError, RecursionError, AttributeError) as error:
            raise ParseError(
                f"not a case of vyre fuzz --procedures: {type(error).__name__}: {str(error)[:120]}. "
                "Fix: give a file that `vyre fuzz --procedures` wrote."
            ) from None

    def __str__(self) -> str:
        lines = [self.procedure.to_text().rstrip("\n")]
        for number, call in enumerate(self.calls):
            lines.append(f"\ncall {number}: numbers {', '.join(map(str, call.numbers)) or 'none'}")
            given = [array for array in self.spec.arrays if array.role in ("input", "in_out")]
            for array, (shape, data) in zip(given, call.arrays, strict=True):
                shown = data.hex() if len(data) <= 64 else f"{data[:64].hex()}... ({len(data)} bytes)"
                lines.append(f"{array.name} {shape}: {shown or 'empty'}")
        return "\n".join(lines)


def _to_plain(spec: Spec) -> dict[str, Any]:
    arrays = [
        [a.name, a.role, a.element, a.shape, a.axes, a.zeros, None if a.contents is None else a.contents.hex()]
        for a in spec.arrays
    ]
    return {
        "name": spec.name,
        "numbers": spec.numbers,
        "arrays": arrays,
        "steps": spec.steps,
        "results": spec.results,
        "programs": [text.split("\n") for text in spec.programs],
        "procedures": [_to_plain(each) for each in spec.procedures],
    }


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _from_plain(plain: dict[str, Any]) -> Spec:
    arrays = tuple(
        ArraySpec(
            name, role, element, _tuples(shape), axes, zeros, None if contents is None else bytes.fromhex(contents)
        )
        for name, role, element, shape, axes, zeros, contents in plain["arrays"]
    )
    return Spec(
        plain["name"],
        _tuples(plain["numbers"]),
        arrays,
        _tuples(plain["steps"]),
        _tuples(plain["results"]),
        tuple("\n".join(lines) for lines in plain["programs"]),
        tuple(_from_plain(each) for each in plain["procedures"]),
    )


_ROLES = ("input", "in_out", "output", "scratch", "table")
_OPERANDS = {"ceil_log2": 1, "select": 3}
_LIMITS = ("workgroup_memory", "workgroup_invocations")
_MOST_DEPTH = 40  # of what a file may nest


class _Check:
    """Refuses what no generated procedure is: the core's builder trusts those that use it."""

    def __init__(self, spec: Spec, depth: int) -> None:
        self.spec, self.depth = spec, depth

    def run(self) -> None:
        spec = self.spec
        self.wanted(self.depth <= _MOST_DEPTH, "it is nested too deep")
        self.wanted(isinstance(spec.name, str), "a name is no text")
        for _, type_ in spec.numbers:
            self.wanted(type_ in [each.name for each in SCALARS], "a number has no type of numbers")
        for array in spec.arrays:
            self.array(array)
        for index in spec.results:
            role = spec.arrays[self.index(index, spec.arrays)].role
            self.wanted(role in ("output", "in_out"), "a result is neither output nor in_out")
        outputs = [index for index, array in enumerate(spec.arrays) if array.role == "output"]
        self.wanted(sorted(k for k in spec.results if k in outputs) == outputs, "an output is not returned once")
        self.wanted(all(isinstance(text, str) for text in spec.programs), "a program is no text")
        for inner in spec.procedures:
            _Check(inner, self.depth + 1).run()
        self.steps(spec.steps, (), 0)

    @staticmethod
    def wanted(holds: bool, problem: str) -> None:
        if not holds:
            raise ValueError(problem)

    def index(self, value: Any, of: Sequence[Any]) -> int:
        self.wanted(type(value) is int and 0 <= value < len(of), "an index is out of range")
        found: int = value
        return found

    def array(self, array: ArraySpec) -> None:
        self.wanted(isinstance(array.name, str) and array.role in _ROLES, "an array has no name or role")
        self.wanted(array.element in BYTES and array.element != "Bytes", "an array has no type of elements")
        given = array.role in ("input", "in_out")
        self.wanted(type(array.axes) is int and 1 <= array.axes <= 3, "an array has no axes")
        self.wanted(
            len(array.shape) == (0 if given else array.axes), "an array has another number of lengths than axes"
        )
        self.wanted(type(array.zeros) is bool, "an array has no zeros")
        for size in array.shape:
            self.size(size, (), 0)
        self.wanted((array.contents is not None) == (array.role == "table"), "an array has contents, or a table none")
        if array.contents is not None:
            count = BYTES[array.element]
            for size in array.shape:
                self.wanted(size[0] == "literal", "a table has no length")
                count *= size[1]
            self.wanted(count == len(array.contents), "a table has another length than its contents")

    def size(self, size: Any, turns: tuple[int, ...], depth: int) -> None:
        self.wanted(isinstance(size, tuple) and len(size) > 1 and depth < _MOST_DEPTH, "a size is none")
        kind, *rest = size
        if kind == "literal":
            self.wanted(len(rest) == 1 and type(rest[0]) is int and 0 <= rest[0] < 2**64, "a size is no number")
        elif kind == "length":
            self.wanted(len(rest) == 2, "a length has no array")
            array = self.spec.arrays[self.index(rest[0], self.spec.arrays)]
            self.wanted(array.role in ("input", "in_out"), "a length is not of an input")
            self.index(rest[1], range(array.axes))
        elif kind == "number":
            self.index(rest[0], self.spec.numbers)
        elif kind == "limit":
            self.wanted(rest[0] in _LIMITS, "there is no such limit")
        elif kind == "turn":
            self.wanted(rest[0] in turns, "a turn is used outside of its steps")
        else:
            self.wanted(kind in _OPERATIONS and len(rest) == _OPERANDS.get(kind, 2), "there is no such operation")
            for each in rest:
                self.size(each, turns, depth + 1)

    def part(self, part: Any, turns: tuple[int, ...]) -> None:
        self.wanted(isinstance(part, tuple) and len(part) == 3, "a part is none")
        self.index(part[0], self.spec.arrays)
        self.wanted(part[1] is None or (part[1] in BYTES and part[1] != "Bytes"), "a part has no type")
        if part[2] is not None:
            self.wanted(len(part[2]) == 2, "a part has no offset and length")
            for size in part[2]:
                self.size(size, turns, 0)

    def steps(self, steps: Any, turns: tuple[int, ...], depth: int) -> None:
        self.wanted(isinstance(steps, tuple) and depth < _MOST_DEPTH, "steps are none")
        for step in steps:
            kind, *rest = step
            if kind == "dispatch":
                program, bound, grid, counts, invocations = rest
                self.index(program, self.spec.programs)
                for each in bound:
                    if each[0] != "words":
                        self.part(each, turns)
                        continue
                    for word in each[1]:
                        self.size(word, turns, 0)
                self.wanted(len(grid) == 3 and type(invocations) is bool, "a grid has three counts")
                for size in grid:
                    self.size(size, turns, 0)
                if counts is not None:
                    self.part(counts, turns)
            elif kind == "invoke":
                number, parts, numbers = rest
                inner = self.spec.procedures[self.index(number, self.spec.procedures)]
                self.wanted(len(parts) == len(inner.interface()), "an invocation has another number of arrays")
                self.wanted(len(numbers) == len(inner.numbers), "an invocation has another number of numbers")
                for part in parts:
                    self.part(part, turns)
                for size in numbers:
                    self.size(size, turns, 0)
            elif kind == "repeat":
                turn, count, block, *ends = rest
                self.wanted(type(turn) is int and turn not in turns, "a turn is there twice")
                self.wanted(len(ends) <= 1, "a repetition has two ends")
                self.size(count, turns, 0)
                for part in ends:
                    self.part(part, turns)
                self.steps(block, (*turns, turn), depth + 1)
            elif kind == "when":
                condition, block, otherwise = rest
                self.size(condition, turns, 0)
                self.steps(block, turns, depth + 1)
                self.steps(otherwise, turns, depth + 1)
            elif kind == "swap":
                for each in rest:
                    self.index(each, self.spec.arrays)
                self.wanted(len(rest) == 2, "a swap is of two arrays")
            else:
                self.wanted(kind == "clear" and len(rest) == 1, "there is no such step")
                self.part(rest[0], turns)


def check_spec(spec: Spec) -> None:
    """Raises ValueError, or TypeError, for what no generated procedure is."""
    _Check(spec, 0).run()


def _check_call(spec: Spec, call: Call) -> None:
    given = [array for array in spec.arrays if array.role in ("input", "in_out")]
    if len(call.arrays) != len(given) or len(call.numbers) != len(spec.numbers):
        raise ValueError("a call gives another number of arrays or numbers")
    if not all(0 <= number < 2**64 for number in call.numbers):
        raise ValueError("a number of a call is out of range")
    for array, (shape, data) in zip(given, call.arrays, strict=True):
        if len(shape) != array.axes or math.prod(shape) * BYTES[array.element] != len(data) or min(shape) < 0:
            raise ValueError("an array of a call has another length than its shape")
