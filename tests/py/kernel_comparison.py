"""Runs a random kernel on backends and by Python itself, on the same integers, and compares what they give."""

import linecache
import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

import kernel_source_wide as wide
import vyre
from kernel_source import LENGTH, Source, by_python

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
    exec(compile(text, name, "exec"), made)
    return made


def compare(seed: int, backends=BACKENDS) -> None:
    text = Source(seed).text
    rng = random.Random(seed)
    edges = [0, 1, 2, 31, 32, 255, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]
    a, b, acc = ([rng.choice([*edges, rng.randrange(2**32)]) for _ in range(LENGTH)] for _ in range(3))
    s = rng.randrange(2**32)
    wanted = by_python(compile_source(text, f"<kernel {seed} for Python>"), a, b, s, acc)
    kernel = vyre.kernel(compile_source(text, f"<kernel {seed}>")["k"])
    for backend in backends:
        changed = np.array(acc, np.uint32)
        out, _ = kernel(np.array(a, np.uint32), np.array(b, np.uint32), s, acc=changed, backend=backend)
        assert (out.tolist(), changed.tolist()) == wanted, f"seed {seed} on {backend}:\n{text}"


def arguments_of(seed: int) -> dict[str, object]:
    """Arrays as Python's arrays, and the scalars."""
    rng = random.Random(seed ^ 0xA11A)
    edges = [0, 1, 2, 31, 32, 255, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1]

    def drawn(kind: str) -> int:
        bits = int(kind[1:])
        value = rng.choice([*edges, rng.randrange(2**bits)]) % 2**bits
        return wide.signed(value, bits) if kind[0] == "i" else value

    def array(kind: str, *shape: int) -> wide.Array:
        return wide.Array(shape, kind, [drawn(kind) for _ in range(int(np.prod(shape)))])

    return {
        **{name: array("u32", LENGTH) for name in ("a", "b", "acc")},
        "out": wide.Array((LENGTH,), "u32"),
        "q": wide.Array((LENGTH, wide.ROWS), "u32"),
        "m": array("u32", wide.ROWS, wide.COLUMNS),
        "n8": array("u8", LENGTH),
        "t8": array("i8", LENGTH),
        "h": array("u16", LENGTH),
        "g": array("i8", LENGTH),
        "total": array("u32", wide.COUNTERS),
        "s": drawn("u32"),
        "w": drawn("u64"),
        "d": drawn("i32"),
    }


DTYPES = {"u8": np.uint8, "i8": np.int8, "u16": np.uint16, "u32": np.uint32}


def compare_wide(seed: int, backends=BACKENDS) -> None:
    text = wide.WideSource(seed).text
    wanted = wide.by_python(
        text, lambda source: compile_source(source, f"<kernel {seed} for Python>"), arguments_of(seed)
    )
    kernel = vyre.kernel(workgroup_size=wide.GROUP)(compile_source(text, f"<kernel {seed}>")["k"])
    for backend in backends:
        given = {
            name: np.array(value.data, DTYPES[value.kind]).reshape(value.shape)
            if isinstance(value, wide.Array)
            else value
            for name, value in arguments_of(seed).items()
        }
        kernel(**given, grid=LENGTH, backend=backend)
        for name, values in wanted.items():
            assert given[name].ravel().tolist() == values, f"seed {seed} on {backend}, array {name}:\n{text}"
