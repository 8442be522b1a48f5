"""Makes random procedures with one right answer.

Every element that a step reads, and every one that is returned, was written before on every path; no dispatch has a
race, and every size is in range whatever the lengths and numbers are. So all backends have to give the model's bytes.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre._base.types import TYPES
from vyre._core import BufferAccess, DataType
from vyre.fuzz.case import generate as generate_program
from vyre.fuzz.procedures.spec import (
    BYTES,
    LEAVES,
    ArraySpec,
    Call,
    ProcedureCase,
    Size,
    Spec,
    Step,
    literal,
    substituted,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["generate"]

_LENGTHS = (0, 1, 2, 3, 5, 17, 31, 64, 65, 100, 257)
# Numbers of type i32 with this name may be negative, given as their 32 bits: only words and invocations take them.
_SIGNED = "signed"
_ELEMENTS = ("U32", "U32", "U32", "U64", "I32", "U8", "U16", "Vec4U32", "Vec2U32")
_MOST = 600  # elements of an array
_MOST_DEPTH = 3  # of blocks
_MOST_NESTED = 2  # of invocations
_TEXTS = {element.name: info.text for element, info in TYPES.items()}

# The value of an element as a u32, and a u32 as an element.
_READ = {
    "U32": "{0}",
    "I32": "cast(u32, {0})",
    "U8": "{0}",
    "U16": "{0}",
    "U64": "lane({0}, 0) ^ lane({0}, 1)",
    "Vec2U32": "lane({0}, 0) + lane({0}, 1)",
    "Vec4U32": "(lane({0}, 0) ^ lane({0}, 3)) + lane({0}, 1)",
}
_WRITE = {
    "U32": "{0}",
    "I32": "cast(i32, {0})",
    "U8": "{0}",
    "U16": "{0}",
    "U64": "pack(u64, {0}, {0} * 3)",
    "Vec2U32": "pack(vec2<u32>, {0}, {0} ^ 5)",
    "Vec4U32": "pack(vec4<u32>, {0}, {0} + 1, {0} ^ 77, {0} * 9)",
}
_MIXED = (
    "({a} * 3) + {b}",
    "({a} ^ {b}) + {w}",
    "rotl({a}, 7) + ({b} * {w})",
    "select({a} < {b}, {a} + {w}, {b})",
    "({a} - {b}) ^ ({w} + gid.x)",
)
_AT = ("gid.x", "((gid.x * 5) + 3) % len({0})", "(len({0}) - 1) - gid.x", "(gid.x + {w}) % len({0})")


def leaves(size: Size) -> Iterator[Size]:
    """The leaves of a size."""
    open_ = [size]
    while open_:
        each = open_.pop()
        if each[0] in LEAVES:
            yield each
        else:
            open_ += each[1:]


class _Kernels:
    """Small programs as text. Their buffers are a, b (read), out (written), and w (words)."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw

    def head(self, size: int, *buffers: str, words: int) -> list[str]:
        lines = ["vyre 1", f"workgroup_size {size} 1 1"]
        lines += [f"buffer {each} binding {k}" for k, each in enumerate(buffers)]
        lines += [f"buffer w: uniform u32 binding {len(buffers)} count {words}", ""]
        return lines

    def read(self, name: str, element: str) -> str:
        at = self.draw.choice(_AT).format(name, w="w[0]")
        return f"({_READ[element].format(f'{name}[{at}]')})"

    def value(self, a: str, b: str) -> str:
        read = {"a": self.read("a", a), "b": self.read("b", b), "w": "w[1]"}
        return self.draw.choice(_MIXED).format(**read)

    def map(self, a: str, b: str, out: str, size: int) -> str:
        """Every element of out."""
        buffers = [f"a: read {_TEXTS[a]}", f"b: read {_TEXTS[b]}", f"out: read_write {_TEXTS[out]}"]
        lines = self.head(size, *buffers, words=2)
        lines += [f"let v = {self.value(a, b)}", "if gid.x < len(out) {", f"  out[gid.x] = {_WRITE[out].format('v')}"]
        return "\n".join([*lines, "}", ""])

    def update(self, a: str, out: str, size: int) -> str:
        """Every element of out from itself, or every third one."""
        lines = self.head(size, f"a: read {_TEXTS[a]}", f"out: read_write {_TEXTS[out]}", words=2)
        condition = self.draw.choice(("gid.x < len(out)", "(gid.x < len(out)) & (((gid.x + w[0]) % 3) == 0)"))
        own = f"({_READ[out].format('out[gid.x]')})"
        value = self.draw.choice(_MIXED).format(a=own, b=self.read("a", a), w="w[1]")
        lines += [f"if {condition} {{", f"  let v = {value}", f"  out[gid.x] = {_WRITE[out].format('v')}", "}", ""]
        return "\n".join(lines)

    def atomics(self, a: str, size: int) -> str:
        """Atomics that commute."""
        lines = self.head(size, f"a: read {_TEXTS[a]}", "out: read_write u32", words=2)
        operation = self.draw.choice(("atomic_add", "atomic_xor", "atomic_max", "atomic_min", "atomic_or"))
        lines += [
            "if gid.x < len(a) {",
            f"  let v = {_READ[a].format('a[gid.x]')}",
            f"  let old = {operation}(out, (v + w[0]) % len(out), (v * w[1]) + 1)",
            "}",
            "",
        ]
        return "\n".join(lines)

    def tiles(self, a: str, out: str, size: int) -> str:
        """Every element of out, by way of the workgroup's memory."""
        lines = self.head(size, f"a: read {_TEXTS[a]}", f"out: read_write {_TEXTS[out]}", words=2)
        lines.insert(-1, f"buffer part: workgroup u32 count {size}")
        lines += [
            f"part[lid.x] = {self.read('a', a)}",
            "barrier",
            f"let v = part[{size - 1} - lid.x] + (part[(lid.x + w[0]) % {size}] * w[1])",
            "if gid.x < len(out) {",
            f"  out[gid.x] = {_WRITE[out].format('v')}",
            "}",
            "",
        ]
        return "\n".join(lines)

    def end(self, a: str, out: str) -> str:
        """Whether a repetition ends: a number that is 0 in some of its turns."""
        lines = self.head(1, f"a: read {_TEXTS[a]}", f"out: read_write {_TEXTS[out]}", words=2)
        value = f"select(((({_READ[a].format('a[0]')}) + w[0]) % {self.draw.choice((2, 3, 5))}) == 0, w[1] | 1, 0)"
        return "\n".join([*lines, f"let v = {value}", f"out[0] = {_WRITE[out].format('v')}", ""])

    def counts(self, a: str) -> str:
        """Three counts of a grid."""
        lines = self.head(1, f"a: read {_TEXTS[a]}", "out: read_write u32", words=2)
        read = f"({_READ[a].format('a[0]')})"
        lines += [
            f"out[0] = ({read} + w[0]) % 300",
            "out[1] = 1",
            f"out[2] = {self.draw.choice(('1', '7', 'w[1] % 2'))}",
            "",
        ]
        return "\n".join(lines)


class _Maker:
    """Makes one procedure."""

    def __init__(self, draw: random.Random, name: str, steps: int, depth: int) -> None:
        self.draw, self.name, self.depth = draw, name, depth
        self.left = steps
        self.kernels = _Kernels(draw)
        self.numbers: list[tuple[str, str]] = []
        for k in range(draw.randint(0, 3)):
            type_ = draw.choice(("U32", "U64", "I32"))
            name = _SIGNED if type_ == "I32" and draw.random() < 0.5 else "n"
            self.numbers.append((f"{name}{k}", type_))
        self.arrays: list[ArraySpec] = []
        self.defined: set[int] = set()
        self.programs: list[str] = []
        self.procedures: list[Spec] = []
        self.turns: list[int] = []
        self.turn_count = 0
        for k in range(draw.randint(1, 3)):
            role = "in_out" if draw.random() < 0.3 else "input"
            axes = draw.choice((1, 1, 1, 2))
            self.define(ArraySpec(f"x{k}", role, draw.choice(_ELEMENTS), axes=axes))

    def define(self, array: ArraySpec) -> int:
        self.arrays.append(array)
        index = len(self.arrays) - 1
        # Booleans and signed bytes are of use to no kernel here.
        if array.element in _READ and (array.role in ("input", "in_out", "table") or array.zeros):
            self.defined.add(index)
        return index

    # --- sizes ---

    def leaf(self, shapes: bool) -> Size:
        draw = self.draw
        choices: list[Size] = [literal(draw.choice((1, 2, 3, 7, 64, 100)))]
        given = [k for k, array in enumerate(self.arrays) if array.role in ("input", "in_out")]
        choices += [("length", k, draw.randrange(self.arrays[k].axes)) for k in given] * 2
        if not shapes and self.turns:
            choices += [("turn", turn) for turn in self.turns] * 2
        choices += [("number", k) for k, (name, _) in enumerate(self.numbers) if not name.startswith(_SIGNED)]
        if draw.random() < 0.03:
            return ("min", ("limit", draw.choice(("workgroup_invocations", "workgroup_memory"))), literal(64))
        return draw.choice(choices)

    def small(self, shapes: bool = False, depth: int = 2) -> Size:
        """A size from 0 to 600, whatever its leaves are."""
        draw = self.draw
        leaf = ("min", self.leaf(shapes), literal(_MOST))
        if depth == 0 or draw.random() < 0.35:
            return leaf
        a, b = self.small(shapes, depth - 1), self.small(shapes, depth - 1)
        made: Size = draw.choice(
            (
                ("+", a, b),
                ("-", a, ("min", a, b)),
                ("*", a, literal(draw.randint(1, 3))),
                ("/", a, literal(draw.randint(1, 5))),
                ("%", a, literal(draw.randint(1, 9))),
                ("ceil_div", a, ("max", b, literal(1))),
                ("max", a, b),
                ("ceil_log2", a),
                ("select", ("<", a, b), a, b),
            )
        )
        return ("min", made, literal(_MOST))

    def condition(self) -> Size:
        kind = self.draw.choice(("<", "<=", "==", "!="))
        return (
            kind,
            self.small(depth=1),
            self.draw.choice((self.small(depth=1), literal(self.draw.choice((0, 1, 64))))),
        )

    def words(self, count: int) -> tuple[Any, ...]:
        draw = self.draw
        made: list[Size] = []
        for _ in range(count):
            number: list[Size] = [
                ("number", k) if type_ != "U64" else ("%", ("number", k), literal(2**32))
                for k, (_, type_) in enumerate(self.numbers)
            ]
            made.append(draw.choice(number) if number and draw.random() < 0.6 else self.small(depth=1))
        return ("words", tuple(made))

    def bits(self) -> Size:
        """The 32 bits of an i32, for an invocation."""
        own: list[Size] = [("number", k) for k, (_, type_) in enumerate(self.numbers) if type_ == "I32"]
        return self.draw.choice([*own, literal(self.draw.randrange(2**32))])

    # --- arrays ---

    def scratch(self, element: str | None = None, *, zeros: bool | None = None, axes: int | None = None) -> int:
        draw = self.draw
        axes = draw.choice((1, 1, 1, 2, 3)) if axes is None else axes
        shape = [self.small(shapes=True)] + [
            ("min", self.small(shapes=True, depth=1), literal(5)) for _ in range(axes - 1)
        ]
        zeros = draw.random() < 0.15 if zeros is None else zeros
        element = element or draw.choice(_ELEMENTS)
        name = f"s{len(self.arrays)}"
        return self.define(ArraySpec(name, "scratch", element, tuple(shape), axes, zeros))

    def table(self) -> int:
        count = self.draw.choice((1, 3, 50))
        contents = self.draw.randbytes(4 * count)
        return self.define(ArraySpec(f"t{len(self.arrays)}", "table", "U32", (literal(count),), contents=contents))

    def writable(self) -> list[int]:
        return [k for k, array in enumerate(self.arrays) if array.role in ("in_out", "scratch")]

    def part(self, index: int, element: str | None = None) -> tuple[tuple[Any, ...], str]:
        """A part of an array, maybe as other elements, and the type of its elements."""
        array = self.arrays[index]
        view = element if element is not None and element != array.element else None
        if view is None and element is None and array.axes == 1 and self.draw.random() < 0.2:
            view = self.draw.choice([each for each in _ELEMENTS if each != array.element])
        slice_ = None
        if self.draw.random() < 0.25:
            length: Size = ("length", index, 0) if array.role in ("input", "in_out") else array.shape[0]
            row: Size = literal(1)
            for axis in range(1, array.axes):
                extent: Size = ("length", index, axis) if array.role in ("input", "in_out") else array.shape[axis]
                row = ("*", row, extent)
            if view is not None:
                length = ("/", ("*", length, literal(BYTES[array.element])), literal(BYTES[view]))
            first: Size = ("/", length, literal(self.draw.randint(1, 4)))
            if self.turns and self.draw.random() < 0.5:
                first = ("min", ("turn", self.draw.choice(self.turns)), length)
            rows: Size = ("/", ("-", length, first), literal(self.draw.randint(1, 3)))
            slice_ = (("*", first, row), ("*", rows, row)) if array.axes > 1 else (first, rows)
        return (index, view, slice_), view or array.element

    def source(self, besides: int | None = None) -> tuple[tuple[Any, ...], str]:
        known = [k for k in sorted(self.defined) if k != besides]
        if not known or self.draw.random() < 0.05:
            known = [self.table()]
        return self.part(self.draw.choice(known))

    def length_of(self, part: tuple[Any, ...]) -> Size:
        """How many elements a part has."""
        index, view, slice_ = part
        if slice_ is not None:
            length: Size = slice_[1]
            return length
        array = self.arrays[index]
        total: Size = literal(1)
        for axis in range(array.axes):
            extent: Size = ("length", index, axis) if array.role in ("input", "in_out") else array.shape[axis]
            total = ("*", total, extent)
        return total if view is None else ("/", ("*", total, literal(BYTES[array.element])), literal(BYTES[view]))

    def program(self, text: str) -> int:
        if text not in self.programs:
            self.programs.append(text)
        return self.programs.index(text)

    def dispatch(self, text: str, bound: Any, groups: Size = ("literal", 1)) -> Step:
        return ("dispatch", self.program(text), bound, (groups, literal(1), literal(1)), None, False)

    # --- steps ---

    def block(self, depth: int) -> tuple[Step, ...]:
        steps: list[Step] = []
        for _ in range(self.draw.randint(1, 4) if depth else self.left):
            if self.left <= 0:
                break
            self.left -= 1
            steps += self.step(depth)
        return tuple(steps)

    def step(self, depth: int) -> list[Step]:
        kinds = ["map"] * 5 + ["update"] * 3 + ["atomics"] * 2 + ["tiles"] * 2 + ["swap"] * 2 + ["clear", "program"]
        kinds += ["counts"]
        if depth < _MOST_DEPTH:
            kinds += ["when"] * 2 + ["repeat"] * 3 + ["pingpong"] * 2
        if self.depth < _MOST_NESTED:
            kinds += ["invoke"] * 2
        made: list[Step] = getattr(self, f"make_{self.draw.choice(kinds)}")(depth)
        return made

    def target(self, element: str | None = None) -> int:
        """An array to write, of any state."""
        known = [k for k in self.writable() if self.arrays[k].element in ((element,) if element else _READ)]
        # In a block, what becomes defined is only so there; new arrays are made as well.
        if known and self.draw.random() < 0.6:
            return self.draw.choice(known)
        return self.scratch(element)

    def fill(self, index: int, whole: bool = False) -> list[Step]:
        """A step that writes every element of an array, or of a part of one that is defined."""
        part: tuple[Any, ...] = (index, None, None)
        element = self.arrays[index].element
        if not whole and index in self.defined:
            part, element = self.part(index)
        a, ta = self.source(index)
        b, tb = self.source(index)
        size = self.draw.choice((1, 32, 64))
        if self.draw.random() < 0.3:
            program = self.kernels.tiles(ta, element, size)
            bound: tuple[tuple[Any, ...], ...] = (a, part, self.words(2))
        else:
            program = self.kernels.map(ta, tb, element, size)
            bound = (a, b, part, self.words(2))
        groups = ("ceil_div", self.length_of(part), literal(size))
        if part[1] is None and part[2] is None:
            self.defined.add(index)
        return [self.dispatch(program, bound, groups)]

    def make_map(self, depth: int) -> list[Step]:
        return self.fill(self.target())

    make_tiles = make_map

    def ready(self, element: str | None = None) -> tuple[int, list[Step]]:
        """A writable array that is defined, and the steps that make it so."""
        known = [
            k for k in self.writable() if k in self.defined and (element is None or self.arrays[k].element == element)
        ]
        if known and self.draw.random() < 0.8:
            return self.draw.choice(known), []
        index = self.scratch(element)
        return index, [] if index in self.defined else self.fill(index, whole=True)

    def make_update(self, depth: int) -> list[Step]:
        index, steps = self.ready()
        part, element = self.part(index)
        a, ta = self.source(index)
        size = self.draw.choice((1, 32, 64))
        groups = ("ceil_div", self.length_of(part), literal(size))
        return [*steps, self.dispatch(self.kernels.update(ta, element, size), (a, part, self.words(2)), groups)]

    def make_atomics(self, depth: int) -> list[Step]:
        index, steps = self.ready("U32")
        part, _ = self.part(index, "U32")
        a, ta = self.source(index)
        size = self.draw.choice((1, 32, 64))
        groups = ("ceil_div", self.length_of(a), literal(size))
        return [*steps, self.dispatch(self.kernels.atomics(ta, size), (a, part, self.words(2)), groups)]

    def make_counts(self, depth: int) -> list[Step]:
        """An update whose grid is in an array."""
        draw = self.draw
        counts = self.define(ArraySpec(f"s{len(self.arrays)}", "scratch", "U32", (literal(3),)))
        a, ta = self.source(counts)
        steps = [self.dispatch(self.kernels.counts(ta), (a, (counts, None, None), self.words(2)))]
        self.defined.add(counts)
        index, made = self.ready()
        if index == counts:
            return steps
        a, ta = self.source(index)
        element = self.arrays[index].element
        size = draw.choice((1, 32, 64))
        # With several workgroups along z the same element is changed by two: one at most.
        most = (self.small(depth=1), literal(1), literal(1))
        program = self.program(self.kernels.update(ta, element, size))
        bound = (a, (index, None, None), self.words(2))
        return [*steps, *made, ("dispatch", program, bound, most, (counts, None, None), draw.random() < 0.5)]

    def make_program(self, depth: int) -> list[Step]:
        """A program of the generator of programs, with the arrays that it was made with."""
        draw = self.draw
        case = generate_program(draw.randrange(2**32), statements=draw.choice((5, 15, 40)), work=20_000)
        bound: list[Any] = []
        steps: list[Step] = []
        changed: list[int] = []
        for decl in case.program.buffers:
            if decl.access in (BufferAccess.Workgroup, BufferAccess.Private):
                continue
            content = next(data for name, data, _ in case.arrays if name == decl.name)
            element = decl.element.name
            if element == "Bytes" or len(content) > 4096:
                return self.make_map(depth)
            if decl.access == BufferAccess.Uniform and len(content) % 4 == 0:
                words = np.frombuffer(content, np.uint32)
                bound.append(("words", tuple(literal(int(word)) for word in words)))
                continue
            count = literal(len(content) // BYTES[element])
            table = ArraySpec(f"t{len(self.arrays)}", "table", element, (count,), contents=content)
            if decl.access != BufferAccess.ReadWrite:
                bound.append((self.define(table), None, None))
                continue
            changed.append(self.define(ArraySpec(f"s{len(self.arrays)}", "scratch", element, (count,), zeros=True)))
            bound.append((changed[-1], None, None))
        grid = tuple(literal(count) for count in case.grid)
        steps.append(("dispatch", self.program(case.program.to_text()), tuple(bound), grid, None, False))
        return steps

    def make_swap(self, depth: int) -> list[Step]:
        for _ in range(4):
            known = [k for k in self.writable() if self.arrays[k].role == "scratch" and k in self.defined]
            if not known:
                break
            a = self.draw.choice(known)
            like = self.arrays[a]
            others = [
                k
                for k in known
                if k != a and self.arrays[k].element == like.element and self.arrays[k].shape == like.shape
            ]
            if others:
                return [("swap", a, self.draw.choice(others))]
            # One like it, to swap with in what follows.
            b = self.define(ArraySpec(f"s{len(self.arrays)}", "scratch", like.element, like.shape, like.axes))
            return [*self.fill(b, whole=True), ("swap", a, b)]
        return self.make_map(depth)

    def make_pingpong(self, depth: int) -> list[Step]:
        """A repetition that computes one array from another, and exchanges the two."""
        a, steps = self.ready()
        like = self.arrays[a]
        if like.role != "scratch":
            return self.make_map(depth)
        b = self.define(ArraySpec(f"s{len(self.arrays)}", "scratch", like.element, like.shape, like.axes))
        if b not in self.defined:
            steps += self.fill(b, whole=True)
        size = self.draw.choice((1, 32, 64))
        other, type_ = self.source(b)
        program = self.kernels.map(like.element, type_, like.element, size)
        turn = self.turn_count
        self.turn_count += 1
        bound = ((a, None, None), other, (b, None, None), ("words", (("turn", turn), self.words(1)[1][0])))
        groups = ("ceil_div", self.length_of((b, None, None)), literal(size))
        body: tuple[Step, ...] = (self.dispatch(program, bound, groups), ("swap", a, b))
        count = ("min", self.small(depth=1), literal(self.draw.randint(1, 5)))
        ends = self.ends()
        self.turns.append(turn)
        body += self.ending(ends)
        self.turns.pop()
        return [*steps, ("repeat", turn, count, body, *ends)]

    def ends(self) -> tuple[tuple[Any, ...], ...]:
        """The element that ends a repetition, a part of an array of zeros, or nothing."""
        if self.draw.random() < 0.6:
            return ()
        count = self.draw.randint(1, 3)
        element = self.draw.choice(("U32", "U32", "U64", "I32", "U8", "U16"))
        index = self.define(ArraySpec(f"s{len(self.arrays)}", "scratch", element, (literal(count),), zeros=True))
        return ((index, None, (literal(self.draw.randrange(count)), literal(1))),)

    def ending(self, ends: tuple[tuple[Any, ...], ...]) -> tuple[Step, ...]:
        """The steps that decide, from an array and the turn, whether a repetition with these ends goes on."""
        made: list[Step] = []
        for end in ends:
            a, ta = self.source(end[0])
            program = self.kernels.end(ta, self.arrays[end[0]].element)
            made.append(self.dispatch(program, (a, end, self.words(2))))
        return tuple(made)

    def make_clear(self, depth: int) -> list[Step]:
        index = self.target()
        part: tuple[Any, ...] = (index, None, None)
        if index in self.defined and self.draw.random() < 0.5:
            part, _ = self.part(index, self.arrays[index].element)
        if part[2] is None:
            self.defined.add(index)
        return [("clear", part)]

    def make_when(self, depth: int) -> list[Step]:
        before = set(self.defined)
        condition = self.condition()
        steps = self.block(depth + 1)
        after, self.defined = self.defined, set(before)
        otherwise = self.block(depth + 1) if self.draw.random() < 0.5 else ()
        self.defined &= after
        return [("when", condition, steps, otherwise)] if steps or otherwise else self.make_map(depth)

    def make_repeat(self, depth: int) -> list[Step]:
        before = set(self.defined)
        turn = self.turn_count
        self.turn_count += 1
        count = ("min", self.small(depth=1), literal(self.draw.randint(1, 4)))
        ends = self.ends()
        self.turns.append(turn)
        first = self.ending(ends) if self.draw.random() < 0.5 else ()
        steps = first + self.block(depth + 1)
        steps += self.ending(ends) if steps and not first else ()
        self.turns.pop()
        # It may have no turn. Zeros are there from the beginning.
        self.defined = before | {k for k in self.defined if self.arrays[k].zeros or self.arrays[k].role == "table"}
        return [("repeat", turn, count, steps, *ends)] if steps else self.make_map(depth)

    def make_invoke(self, depth: int) -> list[Step]:
        draw = self.draw
        if self.procedures and draw.random() < 0.4:
            number = draw.randrange(len(self.procedures))
        else:
            inner = _Maker(draw, f"{self.name}_{len(self.procedures)}", draw.randint(1, 4), self.depth + 1).finish()
            self.procedures.append(inner)
            number = len(self.procedures) - 1
        inner = self.procedures[number]
        # The shapes of its outputs are known before any step, so no turn may be in what they depend on.
        structural = {leaf for array in inner.arrays for size in array.shape for leaf in leaves(size)}
        numbers = tuple(
            self.bits() if name.startswith(_SIGNED) else self.small(("number", k) in structural, 1)
            for k, (name, _) in enumerate(inner.numbers)
        )
        steps: list[Step] = []
        given: dict[int, int] = {}
        parts: dict[int, tuple[Any, ...]] = {}
        for index, array in enumerate(inner.arrays):
            if array.role not in ("input", "in_out"):
                continue
            wanted = [
                k
                for k in sorted(self.defined)
                if self.arrays[k].element == array.element
                and self.arrays[k].axes == array.axes
                and k not in given.values()
                and (array.role == "input" or self.arrays[k].role in ("in_out", "scratch"))
            ]
            if wanted:
                given[index] = draw.choice(wanted)
                if array.axes == 1 and not self.turns:
                    parts[index], _ = self.part(given[index], array.element)
                continue
            given[index] = self.scratch(array.element, axes=array.axes)
            if given[index] not in self.defined:
                steps += self.fill(given[index], whole=True)

        def leaf(size: Size) -> Size:
            if size[0] == "length":
                outer, axis = self.arrays[given[size[1]]], size[2]
                if size[1] in parts:
                    return self.length_of(parts[size[1]])
                return outer.shape[axis] if outer.shape else ("length", given[size[1]], axis)
            return numbers[size[1]] if size[0] == "number" else size

        bound = [parts.get(index, (given[index], None, None)) for index in given]
        for index in inner.results:
            array = inner.arrays[index]
            if array.role != "output":
                continue
            shape = tuple(substituted(each, leaf) for each in array.shape)
            name, slice_ = f"s{len(self.arrays)}", None
            if array.axes == 1 and draw.random() < 0.25:
                slice_ = literal(draw.randint(0, 9)), shape[0]
                shape = (("+", shape[0], literal(draw.randint(9, 20))),)
            made = self.define(ArraySpec(name, "scratch", array.element, shape, array.axes))
            bound.append((made, None, slice_))
            if slice_ is None:
                self.defined.add(made)
        return [*steps, ("invoke", number, tuple(bound), numbers)]

    def finish(self) -> Spec:
        steps = list(self.block(0))
        outputs = [k for k in self.writable() if self.arrays[k].role == "scratch" and self.arrays[k].element in _READ]
        self.draw.shuffle(outputs)
        outputs = outputs[: self.draw.randint(1, 4)] or [self.scratch()]
        results = list(outputs)
        for k in outputs:
            if k not in self.defined:
                steps += self.fill(k, whole=True)
            array = self.arrays[k]
            self.arrays[k] = ArraySpec(array.name, "output", array.element, array.shape, array.axes, array.zeros)
        results += [k for k, array in enumerate(self.arrays) if array.role == "in_out" and self.draw.random() < 0.5]
        self.draw.shuffle(results)
        return Spec(
            self.name,
            tuple(self.numbers),
            tuple(self.arrays),
            tuple(steps),
            tuple(results),
            tuple(self.programs),
            tuple(self.procedures),
        )


def generate(seed: int, *, steps: int = 12) -> ProcedureCase:
    """A random procedure and some calls of it, the same for the same arguments on every machine.

    Args:
        seed: from 0 to 2**64 - 1.
        steps: about the largest number of steps, without those of procedures that it invokes.

    >>> generate(3).procedure.name
    'p3'
    """
    draw = random.Random(f"vyre procedure {seed}")
    spec = _Maker(draw, f"p{seed}", draw.randint(1, steps), 0).finish()
    first = _call(draw, spec)
    calls = [first]
    # The same lengths with other contents and numbers, then other lengths.
    if draw.random() < 0.7:
        calls.append(_call(draw, spec, [shape for shape, _ in first.arrays]))
    if draw.random() < 0.4:
        calls.append(_call(draw, spec))
    if draw.random() < 0.3:
        calls.append(first)
    return ProcedureCase(spec, tuple(calls), seed)


def _call(draw: random.Random, spec: Spec, shapes: list[tuple[int, ...]] | None = None) -> Call:
    arrays: list[tuple[tuple[int, ...], bytes]] = []
    for array in spec.arrays:
        if array.role not in ("input", "in_out"):
            continue
        if shapes is not None:
            shape = shapes[len(arrays)]
        else:
            shape = (draw.choice(_LENGTHS), *(draw.choice((0, 1, 3, 8)) for _ in range(array.axes - 1)))
        count = BYTES[array.element]
        for length in shape:
            count *= length
        arrays.append((shape, draw.randbytes(count)))
    numbers = []
    for name, type_ in spec.numbers:
        most = TYPES[DataType[type_]].greatest
        if name.startswith(_SIGNED):  # any bits
            most = 2 * most + 1
        numbers.append(draw.choice((0, 1, 2, 3, 40, draw.randint(0, most))))
    return Call(tuple(arrays), tuple(numbers))
