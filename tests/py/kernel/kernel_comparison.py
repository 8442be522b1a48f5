"""Runs a random kernel on backends and by Python itself, on the same integers, and compares what they give.

Python runs the source with arrays and casts of its own. A barrier becomes a `yield`, at which the invocations of a
workgroup take turns.
"""

from __future__ import annotations

import builtins
import inspect
import linecache
import math
import operator
import random
import types
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from kernel_source import ATOMICS, COLUMNS, COUNTERS, GROUP, LENGTH, ROWS, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BACKENDS = [name for name in vyre.backends() if name in ("reference", "cpu")]


@contextmanager
def kept_sources() -> Iterator[None]:
    """Sources that are compiled here are forgotten at the end, so that many seeds need no more memory than one."""
    known = set(linecache.cache)
    try:
        yield
    finally:
        for name in set(linecache.cache) - known:
            del linecache.cache[name]


def compile_source(text: str, name: str) -> dict[str, object]:
    """The globals of the source, with lines that Python's tools find, as in a notebook's cell."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    made: dict[str, object] = {"__name__": name}
    exec(compile(text, name, "exec", dont_inherit=True), made)
    return made


def signed(value: int, bits: int) -> int:
    return (value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


class Array:
    """Elements by index: beyond the array a read gives zero, and a write or an atomic does nothing."""

    def __init__(self, shape: tuple[int, ...], kind: str, data: list[int] | None = None) -> None:
        self.shape, self.kind = shape, kind
        self.data = [0] * math.prod(shape) if data is None else list(data)

    def __len__(self) -> int:
        return self.shape[0]

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
            self.data[at] = signed(int(value), bits) if self.kind[0] == "i" else int(value) % 2**bits


def _atomic(change: Callable[[int, int], int]) -> Callable[[Array, Any, int], int]:
    def made(self: Array, key: Any, value: int) -> int:
        old = self[key]
        self[key] = change(old, value)
        return old

    return made


for _name in ATOMICS:
    setattr(Array, f"atomic_{_name}", _atomic(getattr(operator, _name, None) or getattr(builtins, _name)))


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


def by_python(text: str, given: dict[str, Any]) -> dict[str, list[int]]:
    """What the arrays hold after Python has run the kernel, workgroup by workgroup, on plain integers.

    ``given`` has the arguments: Arrays and integers.
    """
    compiled = compile(text.replace("vyre.barrier()", "yield"), "<for Python>", "exec", dont_inherit=True)
    for first in range(0, LENGTH, GROUP):
        tiles: list[Array] = []
        waiting = []
        for index in range(first, first + GROUP):
            made: dict[str, Any] = {"__name__": "for_python"}
            exec(compiled, made)
            made["vyre"] = _of_invocation(index, tiles)
            waiting.append(made["k"](**given))
        while waiting:
            waiting = [each for each in waiting if each is not None and next(each, "returned") is None]
    return {name: each.data for name, each in given.items() if isinstance(each, Array)}


def arguments_of(seed: int) -> dict[str, Any]:
    """Arrays as Python's arrays, and the scalars."""
    rng = random.Random(seed ^ 0xA11A)
    edges = [0, 1, 2, 31, 32, 255, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1]

    def drawn(kind: str) -> int:
        bits = int(kind[1:])
        value = rng.choice([*edges, rng.randrange(2**bits)]) % 2**bits
        return signed(value, bits) if kind[0] == "i" else value

    def array(kind: str, *shape: int) -> Array:
        return Array(shape, kind, [drawn(kind) for _ in range(int(np.prod(shape)))])

    return {
        **{name: array("u32", LENGTH) for name in ("a", "b", "acc")},
        "out": Array((LENGTH,), "u32"),
        "q": Array((LENGTH, ROWS), "u32"),
        "m": array("u32", ROWS, COLUMNS),
        "n8": array("u8", LENGTH),
        "t8": array("i8", LENGTH),
        "h": array("u16", LENGTH),
        "g": array("i8", LENGTH),
        "total": array("u32", COUNTERS),
        "s": drawn("u32"),
        "w": drawn("u64"),
        "d": drawn("i32"),
    }


DTYPES = {"u8": np.uint8, "i8": np.int8, "u16": np.uint16, "u32": np.uint32}


def compare(seed: int, backends=BACKENDS, *, is_plain: bool = False) -> None:
    text = Source(seed, is_plain=is_plain).text
    made = compile_source(text, f"<kernel {seed}>")["k"]
    kernel = vyre.kernel(made) if is_plain else vyre.kernel(workgroup_size=GROUP)(made)

    def arguments() -> dict[str, Any]:
        drawn = arguments_of(seed)
        return {name: drawn[name] for name in inspect.signature(made).parameters}

    wanted = by_python(text, arguments())
    for backend in backends:
        given = {
            name: np.array(value.data, DTYPES[value.kind]).reshape(value.shape) if isinstance(value, Array) else value
            for name, value in arguments().items()
        }
        kernel(**given, **({} if is_plain else {"grid": LENGTH}), backend=backend)
        for name, values in wanted.items():
            assert given[name].ravel().tolist() == values, f"seed {seed} on {backend}, array {name}:\n{text}"
