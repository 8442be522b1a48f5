"""Random kernels with everything that arrays and types offer, as Python source that Python itself runs.

As kernel_source.py, and besides: I32 and U64, private and workgroup arrays, barriers, narrow elements, arrays of two
axes, and atomics whose order does not show. Python runs the source with arrays and casts of its own; a barrier becomes
a `yield`, at which the invocations of a workgroup take turns.

Between two barriers an invocation changes its own elements of a workgroup array, or all have one commutative atomic.
"""

from __future__ import annotations

import math
import random
import types
from typing import Any

from kernel_source import LENGTH, Source

GROUP = 8  # invocations of a workgroup
ROWS, COLUMNS = 3, 5
COUNTERS = 4
ATOMICS = ("add", "xor", "and_", "or_", "min", "max")
POWERS = (1, 2, 8, 2**31, 2**32, 2**40, 2**63)

HEAD = """\
import vyre
from vyre import In, Out, InOut, u32

M = 0xFFFFFFFF
W = 0xFFFFFFFFFFFFFFFF
"""
KERNEL = """\
def k(
    a: In[u32], b: In[u32], s: u32, out: Out[u32], acc: InOut[u32],
    m: In[u32, 2], n8: In[vyre.u8], t8: In[vyre.i8], h: InOut[vyre.u16], g: InOut[vyre.i8],
    q: Out[u32, 2], total: InOut[u32], w: vyre.u64, d: vyre.i32,
):
    i, j = vyre.gid(0), vyre.lid(0)
    z = 0
"""


class WideSource(Source):
    """One random kernel `k`, with the parameters of KERNEL, and the helpers it calls."""

    def __init__(self, seed: int, statements: int = 14) -> None:
        self._locals: list[tuple[str, int]] = []
        self._counted = random.Random(seed ^ 0x5EED).choice(ATOMICS)
        super().__init__(seed, statements)
        self.text = self.text.replace(self.text[: self.text.index("\n\n")], HEAD.rstrip("\n"), 1)

    # Expressions.

    def _value(self, names: list[str], depth: int = 0) -> str:
        r = self._random
        if depth > 2 or r.random() < 0.65:
            return super()._value(names, depth)
        kinds = ["signed", "signed", "wide", "wide"]
        if not self._in_helper:
            kinds += ["plane", "narrow", "shape", *(["local"] * 3 if self._locals else [])]
        kind = r.choice(kinds)
        if kind == "signed":
            return self._signed(names, depth + 1)
        if kind == "wide":
            value = self._wide(names, depth + 1)
            return r.choice([f"vyre.u32({value})", f"vyre.u32(({value}) >> 32)"])
        first = self._value(names, depth + 2)
        if kind == "plane":
            return f"m[vyre.u32({first}) % {ROWS + 1}, vyre.u32({self._value(names, depth + 2)}) % {COLUMNS + 1}]"
        if kind == "narrow":
            return r.choice([f"n8[({first}) % {LENGTH + 2}]", f"vyre.u32(t8[({first}) % {LENGTH}])", "h[i]"])
        if kind == "shape":
            return r.choice(["m.shape[0]", "m.shape[1]", "q.shape[1]"])
        name, count = r.choice(self._locals)
        return f"{name}[({first}) % {count + 1}]"

    def _as_i32(self, names: list[str], depth: int) -> str:
        leaf = f"vyre.i32(vyre.u32({self._value(names, depth + 1)}))"
        return leaf if self._in_helper else self._random.choice([leaf, leaf, "d", "g[i]"])

    def _signed(self, names: list[str], depth: int) -> str:
        r = self._random
        x, y = self._as_i32(names, depth), self._as_i32(names, depth)
        amount = f"(({self._value(names, depth + 1)}) & 31)"
        return r.choice(
            [
                f"vyre.u32(({x}) {r.choice(['+', '-', '*', '&', '|', '^'])} ({y}))",
                f"vyre.u32({r.choice(['min', 'max'])}({x}, {y}))",
                f"vyre.u32(({x}) {r.choice(['<<', '>>'])} {amount})",
                f"vyre.u32({r.choice(['-', 'abs', '~'])}({x}))",
                f"(1 if ({x}) {r.choice(['<', '<=', '>', '>=', '==', '!='])} ({y}) else 0)",
            ]
        )

    def _wide(self, names: list[str], depth: int) -> str:
        r = self._random
        if depth > 2 or r.random() < 0.3:
            leaf = f"vyre.u64(vyre.u32({self._value(names, depth + 1)}))"
            return leaf if self._in_helper else r.choice([leaf, leaf, "w"])
        x, y = self._wide(names, depth + 1), self._wide(names, depth + 1)
        amount = r.choice([str(r.randrange(64)), f"(({self._value(names, depth + 1)}) & 63)"])
        return r.choice(
            [
                f"((({x}) {r.choice(['+', '-', '*'])} ({y})) & W)",
                f"(({x}) {r.choice(['&', '|', '^'])} ({y}))",
                f"(({x}) {r.choice(['//', '%'])} {r.choice(POWERS)})",
                f"(({x}) {r.choice(['//', '%'])} (({y}) | 1))",
                f"((({x}) * {r.choice(POWERS)}) & W)",
                f"((({x}) << {amount}) & W)",
                f"(({x}) >> {amount})",
                f"{r.choice(['min', 'max'])}({x}, {y})",
            ]
        )

    # Statements.

    def _statement(self, indent, names, fixed, loop, depth):
        r = self._random
        if self._in_helper or r.random() < 0.75:
            return super()._statement(indent, names, fixed, loop, depth)
        kinds = ["narrow_store", "plane_store", "fire", *(["local_store"] * 2 if self._locals else [])]
        if depth == 0:
            kinds += ["local"] * 3
        return getattr(self, f"_{r.choice(kinds)}")(indent, names, fixed, loop, depth)

    def _local(self, indent, names, fixed, loop, depth):
        """A private array; those of the kernel's own block are in reach of all that follows."""
        name, count = self._name(), self._random.randint(1, 6)
        element = self._random.choice(["vyre.u32", "vyre.u32", "vyre.u8", "vyre.u16"])
        self._put(indent, f"{name} = vyre.local({element}, {count})")
        self._locals.append((name, count))
        return names, False

    def _local_store(self, indent, names, fixed, loop, depth):
        name, count = self._random.choice(self._locals)
        self._put(indent, f"{name}[({self._value(names, 1)}) % {count + 1}] = vyre.u32({self._value(names)})")
        return names, False

    def _narrow_store(self, indent, names, fixed, loop, depth):
        value = f"vyre.u32({self._value(names)})"
        self._put(indent, f"h[i] = {value}" if self._random.random() < 0.5 else f"g[i] = vyre.i32({value})")
        return names, False

    def _plane_store(self, indent, names, fixed, loop, depth):
        self._put(indent, f"q[i, vyre.u32({self._value(names, 1)}) % {ROWS + 1}] = {self._value(names)}")
        return names, False

    def _fire(self, indent, names, fixed, loop, depth):
        """All invocations of the grid, in any order: the result is not looked at."""
        place, value = self._value(names, 1), self._value(names)
        self._put(indent, f"total.atomic_{self._counted}(({place}) % {COUNTERS + 1}, {value})")
        return names, False

    def _return(self, indent, names, fixed, loop, depth):
        # In the kernel itself, barriers follow.
        leave = super()._return if self._in_helper else self._assign
        return leave(indent, names, fixed, loop, depth)

    # The kernel: blocks, and between them rounds that exchange values through workgroup arrays.

    def _kernel(self) -> str:
        r = self._random
        self._lines = KERNEL.rstrip("\n").split("\n")
        names = ["i", "j", "s", "z"]
        fixed = {"i", "j"}
        tiles = []
        for _ in range(r.randint(1, 2)):
            name, shape = self._name(), r.choice([str(GROUP), str(GROUP + 3), f"(2, {GROUP})"])
            element = r.choice(["vyre.u32", "vyre.u32", "vyre.u8", "vyre.u16"])
            self._put(1, f"{name} = vyre.shared({element}, {shape})")
            tiles.append((name, "(" in shape, element == "vyre.u32"))
        names = self._block(1, names, fixed, None, 0)
        for _ in range(r.randint(1, 3)):
            indent = 1
            if r.random() < 0.3:
                self._put(1, f"for {self._name()} in range({r.randint(1, 3)}):")
                indent = 2
            within = self._block(indent, names, fixed, None, 0 if indent == 1 else 1)
            within = self._round(indent, within, r.choice(tiles))
            names = within if indent == 1 else names
        while self._budget > 0:
            names = self._block(1, names, fixed, None, 0)
        value = "0"
        for name in names:
            value = f"(({value}) * 31 + {name}) & M"
        self._put(1, f"out[i] = {value}")
        self._put(1, "vyre.barrier()")
        return "\n".join(self._lines) + "\n"

    def _round(self, indent: int, names: list[str], tile: tuple[str, bool, bool]) -> list[str]:
        r = self._random
        name, is_plane, has_atomics = tile
        row = f"vyre.u32({self._value(names, 2)}) % 2, " if is_plane else ""
        own = f"{row}j"
        if has_atomics and r.random() < 0.4:
            # On an element of its own, whose old value no other invocation changes.
            old = self._name()
            self._put(indent, f"{old} = {name}.atomic_{r.choice(ATOMICS)}(({own}), {self._value(names)})")
            names = [*names, old]
        else:
            self._put(indent, f"{name}[{own}] = vyre.u32({self._value(names)})")
        names = self._read_after_barrier(indent, names, name, is_plane)
        if has_atomics and r.random() < 0.6:
            op = r.choice(ATOMICS)
            for _ in range(r.randint(1, 2)):
                inner = indent
                if r.random() < 0.4:
                    self._put(indent, f"if {self._condition(names)}:")
                    inner += 1
                place = f"vyre.u32({self._value(names, 1)}) % {GROUP + 1}"
                index = f"(vyre.u32({self._value(names, 2)}) % 2, {place})" if is_plane else place
                self._put(inner, f"{name}.atomic_{op}({index}, {self._value(names)})")
            names = self._read_after_barrier(indent, names, name, is_plane)
        return names

    def _read_after_barrier(self, indent: int, names: list[str], name: str, is_plane: bool) -> list[str]:
        self._put(indent, "vyre.barrier()")
        read = self._name()
        index = f"vyre.u32({self._value(names, 1)}) % {GROUP + 1}"
        if is_plane:
            index = f"vyre.u32({self._value(names, 2)}) % 3, {index}"
        self._put(indent, f"{read} = {name}[{index}]")
        self._put(indent, "vyre.barrier()")
        return [*names, read]


# What Python runs it with.


def signed(value: int, bits: int) -> int:
    return (value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


class Array:
    """Elements by index: beyond the array a read gives zero, and a write or an atomic does nothing."""

    def __init__(self, shape: tuple[int, ...], kind: str, data: list[int] | None = None) -> None:
        self.shape, self.kind = shape, kind
        self.data = [0] * math.prod(shape) if data is None else list(data)

    def _at(self, key: Any) -> int | None:
        keys = key if isinstance(key, tuple) else (key,)
        if any(index >= extent for index, extent in zip(keys, self.shape, strict=True)):
            return None
        return keys[0] if len(keys) == 1 else keys[0] * self.shape[1] + keys[1]

    def __getitem__(self, key: Any) -> int:
        at = self._at(key)
        return 0 if at is None else self.data[at]

    def __setitem__(self, key: Any, value: int) -> None:
        at, bits = self._at(key), int(self.kind[1:])
        if at is not None:
            self.data[at] = signed(value, bits) if self.kind[0] == "i" else value % 2**bits

    def _atomic(self, key: Any, change: Any) -> int:
        old = self[key]
        self[key] = change(old)
        return old

    def atomic_add(self, key: Any, value: int) -> int:
        return self._atomic(key, lambda old: old + value)

    def atomic_xor(self, key: Any, value: int) -> int:
        return self._atomic(key, lambda old: old ^ value)

    def atomic_and_(self, key: Any, value: int) -> int:
        return self._atomic(key, lambda old: old & value)

    def atomic_or_(self, key: Any, value: int) -> int:
        return self._atomic(key, lambda old: old | value)

    def atomic_min(self, key: Any, value: int) -> int:
        return self._atomic(key, lambda old: min(old, value))

    def atomic_max(self, key: Any, value: int) -> int:
        return self._atomic(key, lambda old: max(old, value))


def _of_invocation(index: int, tiles: list[Array]) -> types.SimpleNamespace:
    """The functions of `vyre` for one invocation; `tiles` are its workgroup's arrays, in the order of their making."""
    mine = iter(range(1_000_000))

    def u32(value: int) -> int:
        return int(value) % 2**32

    def made(element: Any, shape: Any) -> Array:
        return Array(shape if isinstance(shape, tuple) else (shape,), "u32" if element is u32 else element)

    def shared(element: Any, shape: Any) -> Array:
        number = next(mine)
        if number == len(tiles):
            tiles.append(made(element, shape))
        return tiles[number]

    return types.SimpleNamespace(
        gid=lambda axis: index,
        lid=lambda axis: index % GROUP,
        unroll=list,
        u32=u32,
        i32=lambda value: signed(int(value), 32),
        u64=lambda value: int(value) % 2**64,
        **{name: name for name in ("u8", "u16", "i8", "i16")},
        local=made,
        shared=shared,
    )


def _with_vyre(functions: dict[str, types.FunctionType], fake: types.SimpleNamespace) -> types.FunctionType:
    """The kernel `k`, to which `vyre` is another one, as to its helpers."""
    seen = {"vyre": fake, "M": 2**32 - 1, "W": 2**64 - 1}
    seen |= {name: types.FunctionType(each.__code__, seen) for name, each in functions.items()}
    return seen["k"]


def by_python(text: str, compiled: Any, given: dict[str, Any]) -> dict[str, list[int]]:
    """What the arrays hold after Python has run the kernel, workgroup by workgroup, on plain integers.

    ``compiled`` makes globals of a source, and ``given`` has the arguments: Arrays and integers.
    """
    made = compiled(text.replace("vyre.barrier()", "yield"))
    functions = {name: each for name, each in made.items() if name[0] in "hk" and isinstance(each, types.FunctionType)}
    for first in range(0, LENGTH, GROUP):
        tiles: list[Array] = []
        waiting = [
            _with_vyre(functions, _of_invocation(index, tiles))(**given) for index in range(first, first + GROUP)
        ]
        while waiting:
            waiting = [each for each in waiting if next(each, "returned") is None]
    return {name: each.data for name, each in given.items() if isinstance(each, Array)}
