"""L1, memory: bounds for every access class and element, lengths, Bool, zeroed workgroup memory, bindings, atomics.

A load out of bounds gives zero, a store does nothing, an atomic gives 0 and does nothing, for every u32 index
(docs/semantics.md, Out of bounds). Other buffers stand around the one that is tried, and must come back as they were.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vyre import AtomicOp, BufferAccess, BufferDecl, DataType, Expr, Node, Program
from vyre.conformance.build import one_invocation, out_u32
from vyre.conformance.case import Case, case
from vyre.conformance.values import BOOL, ELEMENTS, FAR, I32, LANES, MASK, U32, U64, VEC4, array, groups, u32, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LENGTH = 6
INDICES = [0, LENGTH - 1, LENGTH, LENGTH + 1, *FAR]
TRIES = len(INDICES)
GUARD = np.arange(64, dtype=np.uint32) + np.uint32(0xABCD0000)
SIZE = 8
ACCESS = {
    "read": BufferAccess.ReadOnly,
    "read_write": BufferAccess.ReadWrite,
    "uniform": BufferAccess.Uniform,
    "workgroup": BufferAccess.Workgroup,
}

# op -> (the function of Expr, what is in memory afterwards); CompareExchange expects EXPECTED
EXPECTED = 7
ATOMICS: dict[AtomicOp, tuple[Callable[..., Expr], Callable[[int, int], int]]] = {
    AtomicOp.Add: (Expr.atomic_add, lambda old, v: old + v),
    AtomicOp.And: (Expr.atomic_and, lambda old, v: old & v),
    AtomicOp.Or: (Expr.atomic_or, lambda old, v: old | v),
    AtomicOp.Xor: (Expr.atomic_xor, lambda old, v: old ^ v),
    AtomicOp.Min: (Expr.atomic_min, min),
    AtomicOp.Max: (Expr.atomic_max, max),
    AtomicOp.Exchange: (Expr.atomic_exchange, lambda old, v: v),
    AtomicOp.CompareExchange: (
        lambda buffer, index, value: Expr.atomic_compare_exchange(buffer, index, EXPECTED, value),
        lambda old, v: v if old == EXPECTED else old,
    ),
}


def _rows(element: DataType, count: int, name: str) -> np.ndarray:
    """`count` elements' lanes, none zero; of Bool, ones."""
    lanes = LANES[element]
    if element == BOOL:
        return np.ones((count, lanes), np.uint32)
    return words(f"{name} {element.name}", count * lanes).reshape(count, lanes) | np.uint32(1)


def _declare(access: str, element: DataType, binding: int = 1) -> BufferDecl:
    if access == "workgroup":
        return BufferDecl.workgroup("data", LENGTH, element)
    return BufferDecl.storage("data", binding, ACCESS[access], element)


def _guarded(*decls: BufferDecl) -> list[BufferDecl]:
    """Buffers between two others that nothing may touch."""
    return [BufferDecl.read_write("before", 8, U32), *decls, BufferDecl.read_write("after", 9, U32)]


def _loads() -> Iterator[Case]:
    i, at = Expr.var("i"), Expr.load("indices", Expr.var("i"))
    for element in ELEMENTS:
        for access in ACCESS:
            data = _rows(element, LENGTH, "load")
            shared = access == "workgroup"
            decls = [
                _declare(access, element),
                BufferDecl.read("indices", 0, U32),
                BufferDecl.read_write("out", 2, element),
            ]
            fill: list[Node] = []
            if shared:
                decls.append(BufferDecl.read("fill", 3, element))
                fill = [
                    Node.store("data", Expr.local_x(), Expr.load("fill", Expr.local_x())),
                    Node.barrier(),
                ]
            program = Program(
                _guarded(*decls),
                (SIZE, 1, 1),
                [
                    *fill,
                    Node.let("i", Expr.gid_x()),
                    Node.if_(i < Expr.buf_len("indices"), [Node.store("out", i, Expr.load("data", at))]),
                ],
            )
            zero = np.zeros(LANES[element], np.uint32)
            wanted = np.concatenate([data[k] if k < LENGTH else zero for k in INDICES])
            yield case(
                f"L1/memory/load/{access}-{element.name}",
                f"A load of {element.name} from a {access} buffer gives the element, or zero at any index >= BufLen.",
                program,
                {
                    "before": GUARD,
                    "after": GUARD + np.uint32(1),
                    "indices": u32(INDICES),
                    "fill" if shared else "data": array(element, data.ravel()),
                    "out": array(element, [0x55] * TRIES * LANES[element]),
                },
                {"out": array(element, wanted)},
                groups(TRIES, SIZE),
            )


def _stores() -> Iterator[Case]:
    i, at = Expr.var("i"), Expr.load("indices", Expr.var("i"))
    for element in ELEMENTS:
        n = LANES[element]
        data, values = _rows(element, LENGTH, "data"), _rows(element, TRIES, "store")
        if element == BOOL:
            values = np.zeros_like(values)
        program = Program(
            _guarded(
                BufferDecl.read_write("data", 1, element),
                BufferDecl.read("indices", 0, U32),
                BufferDecl.read("values", 2, element),
            ),
            (SIZE, 1, 1),
            [
                Node.let("i", Expr.gid_x()),
                Node.if_(i < Expr.buf_len("indices"), [Node.store("data", at, Expr.load("values", i))]),
            ],
        )
        after = data.copy()
        for k, index in enumerate(INDICES):
            if index < LENGTH:
                after[index] = values[k]
        yield case(
            f"L1/memory/store/read_write-{element.name}",
            f"A store of {element.name} at any index >= BufLen does nothing anywhere.",
            program,
            {
                "before": GUARD,
                "after": GUARD + np.uint32(1),
                "data": array(element, data.ravel()),
                "indices": u32(INDICES),
                "values": array(element, values.ravel()),
            },
            {"data": array(element, after.ravel())},
            groups(TRIES, SIZE),
        )
        # Workgroup memory has other workgroup memory around it. Each workgroup tries one index, then copies all out.
        lid, group = Expr.local_x(), Expr.workgroup_x()
        program = Program(
            [
                BufferDecl.workgroup("low", 16, U32),
                BufferDecl.workgroup("data", LENGTH, element),
                BufferDecl.workgroup("high", 16, U32),
                BufferDecl.read("indices", 0, U32),
                BufferDecl.read("values", 1, element),
                BufferDecl.read_write("out", 2, element),
                BufferDecl.read_write("around", 3, U32),
            ],
            (16, 1, 1),
            [
                Node.store("low", lid, 0x1111),
                Node.store("high", lid, 0x2222),
                Node.barrier(),
                Node.if_(lid == 3, [Node.store("data", Expr.load("indices", group), Expr.load("values", group))]),
                Node.barrier(),
                Node.if_(lid < LENGTH, [Node.store("out", group * LENGTH + lid, Expr.load("data", lid))]),
                Node.store("around", group * 16 + lid, Expr.load("low", lid) ^ Expr.load("high", lid)),
            ],
        )
        if element == BOOL:
            values = np.ones_like(values)
        out = np.zeros((TRIES, LENGTH, n), np.uint32)
        for k, index in enumerate(INDICES):
            if index < LENGTH:
                out[k, index] = values[k]
        yield case(
            f"L1/memory/store/workgroup-{element.name}",
            f"A store of {element.name} to workgroup memory stays in bounds, and what nobody wrote is zero.",
            program,
            {
                "indices": u32(INDICES),
                "values": array(element, values.ravel()),
                "out": array(element, [0x55] * out.size),
                "around": u32([5] * 16 * TRIES),
            },
            {"out": array(element, out.ravel()), "around": u32([0x1111 ^ 0x2222] * 16 * TRIES)},
            TRIES,
        )


def _atomics() -> Iterator[Case]:
    i = Expr.var("i")
    lanes = {
        "in": [0, 3, 1, 5, 2],
        "out": [LENGTH, 0x40000000, 0x80000000, MASK, LENGTH + 1],
        "mixed": [2, 0x40000000, 5, 0x80000002, 0, MASK],
    }
    for op, (function, value_of) in ATOMICS.items():
        program = Program(
            _guarded(
                BufferDecl.read_write("cells", 1, U32),
                BufferDecl.read("indices", 0, U32),
                BufferDecl.read("values", 2, U32),
                BufferDecl.read_write("old", 3, U32),
            ),
            (SIZE, 1, 1),
            [
                Node.let("i", Expr.gid_x()),
                Node.if_(
                    i < Expr.buf_len("indices"),
                    [Node.store("old", i, function("cells", Expr.load("indices", i), Expr.load("values", i)))],
                ),
            ],
        )
        for name, indices in lanes.items():
            cells = [EXPECTED, 0x80000005, EXPECTED, 0, MASK, 0x1234]
            values = words(f"atomic {op.name} {name}", len(indices)).tolist()
            after = list(cells)
            for index, value in zip(indices, values, strict=True):
                if index < LENGTH:
                    after[index] = value_of(cells[index], value)
            yield case(
                f"L1/memory/atomic/{op.name}-{name}",
                f"Atomic {op.name} gives the value before and leaves the table's; at an index >= BufLen it gives 0 "
                "and does nothing.",
                program,
                {
                    "before": GUARD,
                    "after": GUARD + np.uint32(1),
                    "cells": u32(cells),
                    "indices": u32(indices),
                    "values": u32(values),
                    "old": u32([0x55] * len(indices)),
                },
                {"cells": u32(after), "old": u32([cells[k] if k < LENGTH else 0 for k in indices])},
            )
        # One invocation applies one edge value after another to one location.
        values = [0, 1, EXPECTED, 0x7FFFFFFF, 0x80000000, MASK, 5, EXPECTED, 0xFFFF0000, 12]
        held, olds = EXPECTED, []
        for value in values:
            olds.append(held)
            held = value_of(held, value) & MASK
        yield case(
            f"L1/memory/atomic/{op.name}-sequence",
            f"Atomic {op.name}, one after the other in one invocation, gives what the one before left.",
            one_invocation(
                [BufferDecl.read_write("cell", 0, U32), out_u32(1, "old")],
                *(Node.store("old", k, function("cell", 0, value)) for k, value in enumerate(values)),
            ),
            {"cell": u32([EXPECTED]), "old": u32([0x55] * len(values))},
            {"cell": u32([held]), "old": u32(olds)},
        )


def _indices() -> Iterator[Case]:
    """Indices of other kinds: literals that a compiler sees through, and indices that wrap around."""
    data = words("literal indices", LENGTH)
    body, read = [], []
    for k, index in enumerate(INDICES):
        body += [
            Node.store("out", k, Expr.load("in", index)),
            Node.store("data", index, index ^ 0xFF),
            Node.store("tile", index, 9),
            Node.store("shared", k, Expr.load("tile", index)),
        ]
        read.append(int(data[index]) if index < LENGTH else 0)
    written = data.copy()
    for index in (0, LENGTH - 1):
        written[index] = index ^ 0xFF
    yield case(
        "L1/memory/literal_indices",
        "Literal indices out of bounds, which a compiler may not take for proof of anything, are out of bounds.",
        one_invocation(
            [
                BufferDecl.read("in", 0, U32),
                BufferDecl.read_write("data", 1, U32),
                out_u32(2),
                out_u32(3, "shared"),
                BufferDecl.workgroup("tile", LENGTH, U32),
            ],
            *body,
        ),
        {"in": data, "data": data, "out": u32([0x55] * TRIES), "shared": u32([0x55] * TRIES)},
        {"data": written, "out": u32(read), "shared": u32([9 if index < LENGTH else 0 for index in INDICES])},
    )
    i = Expr.gid_x()
    yield case(
        "L1/memory/wrapped_indices",
        "An index is a u32: what is computed modulo 2^32 is the index, and nothing is multiplied into another one.",
        Program(
            [BufferDecl.read("in", 0, VEC4), out_u32(1)],
            (SIZE, 1, 1),
            [
                Node.store("out", i * 4, Expr.lane(Expr.load("in", i - 2), 0)),
                Node.store("out", i * 4 + 1, Expr.lane(Expr.load("in", i + 0x10000000), 1)),
                Node.store("out", i * 4 + 2, Expr.lane(Expr.load("in", i * 0x40000001), 2)),
                Node.store("out", i * 4 + 3, Expr.lane(Expr.load("in", (i + 0xFFFFFFFF) + 1), 3)),
            ],
        ),
        {"in": array(VEC4, np.arange(1, 4 * LENGTH + 1)), "out": u32([0x55] * 32)},
        {
            "out": u32(
                [
                    value
                    for k in range(8)
                    for value in (
                        4 * (k - 2) + 1 if 0 <= k - 2 < LENGTH else 0,
                        0,
                        4 * (k * 0x40000001 & MASK) + 3 if k * 0x40000001 & MASK < LENGTH else 0,
                        4 * k + 4 if k < LENGTH else 0,
                    )
                ]
            )
        },
    )
    turn = Expr.var("k")
    yield case(
        "L1/memory/loop_indices",
        "A loop that runs past the end reads zeros and stores nothing there.",
        one_invocation(
            [BufferDecl.read("in", 0, U32), BufferDecl.read_write("data", 1, U32), out_u32(2)],
            Node.let("sum", 0),
            Node.loop(
                "k",
                0,
                100,
                [
                    Node.assign("sum", Expr.var("sum") + Expr.load("in", turn)),
                    Node.store("data", turn, turn + 1),
                ],
            ),
            Node.loop("k", 0xFFFFFFF0, 0xFFFFFFFF, [Node.assign("sum", Expr.var("sum") + Expr.load("in", turn) + 1)]),
            Node.store("out", 0, Expr.var("sum")),
        ),
        {"in": data, "data": u32([0] * LENGTH), "out": u32([0x55])},
        {"data": u32(range(1, LENGTH + 1)), "out": u32([int(data.sum(dtype=np.uint64)) + 15])},
    )


def _lengths() -> Iterator[Case]:
    i = Expr.gid_x()
    empty = one_invocation(
        [
            BufferDecl.read("none", MASK, U32),
            BufferDecl.read_write("hole", MASK - 1, VEC4),
            BufferDecl.uniform("nothing", 3, U64),
            BufferDecl.read_write("cells", 4, U32),
            out_u32(7),
        ],
        Node.store("hole", 0, Expr.vec4(1, 2, 3, 4)),
        Node.store("out", 0, Expr.buf_len("none") + Expr.buf_len("hole") + Expr.buf_len("nothing")),
        Node.store("out", 1, Expr.load("none", 0)),
        Node.store("out", 2, Expr.lane(Expr.load("hole", 0), 3)),
        Node.store("out", 3, Expr.lane(Expr.load("nothing", 0), 1)),
        Node.store("out", 4, Expr.atomic_add("cells", 0, 1)),
        Node.store("out", 5, Expr.buf_len("out")),
    )
    yield case(
        "L1/memory/empty_arrays",
        "An empty array has length 0 and no element; the largest binding numbers are as good as others.",
        empty,
        {
            "none": u32([]),
            "hole": array(VEC4, []),
            "nothing": array(U64, []),
            "cells": u32([]),
            "out": u32([0x55] * 6),
        },
        {"out": u32([0, 0, 0, 0, 0, 6])},
    )
    yield case(
        "L1/memory/empty_output",
        "Stores to an empty array do nothing, from any number of workgroups.",
        Program([out_u32()], (SIZE, 1, 1), [Node.store("out", i, 1)]),
        {"out": u32([])},
        {},
        3,
    )
    sizes = {element: 3 + k for k, element in enumerate(ELEMENTS)}
    yield case(
        "L1/memory/lengths",
        "BufLen counts elements, whatever their size; of workgroup memory it is the declared count.",
        one_invocation(
            [
                out_u32(0),
                *(BufferDecl.read(element.name, 1 + k, element) for k, element in enumerate(ELEMENTS)),
                BufferDecl.workgroup("tile", 37, VEC4),
                BufferDecl.uniform("counted", 20, U32, count=5),
            ],
            *(Node.store("out", k, Expr.buf_len(element.name)) for k, element in enumerate(ELEMENTS)),
            Node.store("out", len(ELEMENTS), Expr.buf_len("tile")),
            Node.store("out", len(ELEMENTS) + 1, Expr.buf_len("counted")),
        ),
        {"out": u32([0x55] * (len(ELEMENTS) + 2)), "counted": u32([0] * 5)}
        | {element.name: array(element, [0] * LANES[element] * n) for element, n in sizes.items()},
        {"out": u32([*sizes.values(), 37, 5])},
    )
    for n in range(6):
        yield case(
            f"L1/memory/length_of_bytes-{n}",
            "BufLen of Bytes counts words, a trailing part of a word padded to a whole one.",
            one_invocation(
                [BufferDecl.read("data", 0, DataType.Bytes), out_u32(1)], Node.store("out", 0, Expr.buf_len("data"))
            ),
            {"data": np.arange(n, dtype=np.uint8), "out": u32([0x55])},
            {"out": u32([groups(n, 4)])},
        )
    data = BufferDecl.read_write("data", 0, DataType.Bytes)
    yield case(
        "L1/memory/bytes_untouched",
        "A ReadWrite buffer of Bytes has a length, and its bytes come back, those of a trailing part too.",
        one_invocation(
            [data, BufferDecl.uniform("fixed", 1, DataType.Bytes), out_u32(2)],
            Node.store("out", 0, Expr.buf_len("data")),
            Node.store("out", 1, Expr.buf_len("fixed")),
        ),
        {"data": np.arange(7, dtype=np.uint8) + np.uint8(200), "fixed": np.zeros(9, np.uint8), "out": u32([0x55] * 2)},
        {"out": u32([2, 3])},
    )
    # Lengths that end inside of what a device allocates (16 bytes at least).
    for n in (1, 2, 3, 5):
        yield case(
            f"L1/memory/trailing_part-{n}",
            "What a device allocates behind the last element is out of bounds.",
            one_invocation(
                [BufferDecl.read_write("data", 0, U32), out_u32(1)],
                *(Node.store("data", k, Expr.u32(0xDEAD0000 + k)) for k in range(n, 8)),
                *(Node.store("out", k, Expr.load("data", k)) for k in range(8)),
            ),
            {"data": u32(range(1, n + 1)), "out": u32([0x55] * 8)},
            {"out": u32([k + 1 if k < n else 0 for k in range(8)])},
        )
    many = 20
    yield case(
        "L1/memory/bindings",
        "Bindings are the program's own numbers, in any order and with any gaps.",
        one_invocation(
            [
                out_u32(5_000_000),
                *(BufferDecl.read(f"in{k}", (k * 0x9E3779B1) % 2**32, U32) for k in range(1, many)),
            ],
            *(Node.store("out", k, Expr.load(f"in{k}", 0)) for k in range(1, many)),
        ),
        {"out": u32([0] * many)} | {f"in{k}": u32([k * k]) for k in range(1, many)},
        {"out": u32([k * k for k in range(many)])},
    )
    names = ["main", "gl_in", "let", "a-b", "日本", "__call0_t", "vec2<u32>", " "]
    yield case(
        "L1/memory/names",
        "Any name is a buffer's name and a variable's name.",
        one_invocation(
            [BufferDecl.read_write(name, k, U32) for k, name in enumerate(names)],
            *(Node.let(name, Expr.load(name, 0) + k) for k, name in enumerate(names)),
            *(Node.store(name, 0, Expr.var(name) * 3) for name in names),
        ),
        {name: u32([10 * k]) for k, name in enumerate(names)},
        {name: u32([33 * k]) for k, name in enumerate(names)},
    )


def _bools() -> Iterator[Case]:
    stored = u32([7, 7, 7, 0, 9, 0x80000000, 0x100])
    loaded = [Node.store("seen", k, Expr.cast(U32, Expr.load("flags", k))) for k in range(7)]
    yield case(
        "L1/memory/bool_words",
        "Loading a Bool gives 0 or 1 whatever the host stored; words that nobody touches come back as they were.",
        one_invocation(
            [BufferDecl.read_write("flags", 0, BOOL), out_u32(1, "seen")],
            *loaded,
            Node.store("flags", 1, Expr.load("flags", 2)),
            Node.store("flags", 3, Expr.cast(BOOL, Expr.u32(0x40000000))),
            Node.store("flags", 4, Expr.bool(False)),
        ),
        {"flags": stored, "seen": u32([0x55] * 7)},
        {"flags": u32([7, 1, 7, 1, 0, 0x80000000, 0x100]), "seen": u32([1, 1, 1, 0, 1, 1, 1])},
    )
    i = Expr.gid_x()
    tile = Program(
        [BufferDecl.workgroup("tile", 8, BOOL), BufferDecl.read("flags", 0, BOOL), out_u32(1)],
        (SIZE, 1, 1),
        [
            Node.store("tile", i, Expr.load("flags", i)),
            Node.barrier(),
            Node.store("out", i, Expr.cast(U32, Expr.load("tile", 7 - i))),
        ],
    )
    yield case(
        "L1/memory/bool_in_workgroup_memory",
        "A Bool in workgroup memory is 0 or 1.",
        tile,
        {"flags": u32([0, 1, 2, 3, 0, 0x80000000, 0, 9]), "out": u32([0x55] * 8)},
        {"out": u32([1, 0, 1, 0, 1, 1, 1, 0])},
    )
    yield case(
        "L1/memory/bool_from_bytes",
        "A host array of bool is the same buffer.",
        Program(
            [BufferDecl.read("in", 0, BOOL), BufferDecl.read_write("flags", 1, BOOL)],
            (SIZE, 1, 1),
            [Node.store("flags", i, Expr.load("in", 3 - i))],
        ),
        {"in": np.array([True, False, False]), "flags": np.array([True, True, False, True, True])},
        {"flags": np.array([False, False, False, True, False])},
    )


def _zeros() -> Iterator[Case]:
    """llvmpipe 22.3 gives a workgroup what the one before it on the same core has left."""
    size, many, count = 64, 100, 100  # more elements than invocations
    lid = Expr.local_x()
    vector = Expr.var("vector")
    yield case(
        "L1/memory/zeroed_workgroup_memory",
        "Workgroup memory is zero in each of many workgroups, where all others wrote.",
        Program(
            [
                BufferDecl.workgroup("scalars", count, U32),
                BufferDecl.workgroup("vectors", 33, VEC4),
                BufferDecl.workgroup("flags", 5, BOOL),
                out_u32(),
            ],
            (size, 1, 1),
            [
                Node.let("seen", Expr.load("scalars", lid) | Expr.load("scalars", lid + size)),
                Node.let("vector", Expr.load("vectors", lid % 33)),
                Node.assign("seen", Expr.var("seen") | Expr.cast(U32, Expr.load("flags", lid % 5))),
                Node.store(
                    "out",
                    Expr.gid_x(),
                    Expr.var("seen")
                    | Expr.lane(vector, 0)
                    | Expr.lane(vector, 1)
                    | Expr.lane(vector, 2)
                    | Expr.lane(vector, 3),
                ),
                Node.barrier(),
                Node.store("scalars", lid, 0xDEADBEEF),
                Node.store("scalars", lid + size, 0xDEADBEEF),
                Node.if_(lid < 33, [Node.store("vectors", lid, Expr.vec4(1, 2, 3, 4))]),
                Node.if_(lid < 5, [Node.store("flags", lid, Expr.bool(True))]),
            ],
        ),
        {"out": u32([5] * size * many)},
        {"out": u32([0] * size * many)},
        many,
    )


def _grid() -> Iterator[Case]:
    i = Expr.gid_x()
    yield case(
        "L1/memory/no_workgroups",
        "A grid of no workgroups runs nothing.",
        Program([out_u32()], (SIZE, 1, 1), [Node.store("out", i, 1)]),
        {"out": u32([7] * SIZE)},
        {},
        (3, 0, 2),
    )
    yield case(
        "L1/memory/wide_grid",
        "More workgroups on an axis than a device takes at once have the ids that they would have.",
        Program(
            [out_u32()],
            (1, 1, 1),
            [
                Node.if_(
                    (Expr.workgroup_x() & 0xFFF) == 0xABC,
                    [Node.store("out", Expr.workgroup_x() >> 12, Expr.gid_x() ^ Expr.workgroup_x() ^ 5)],
                )
            ],
        ),
        {"out": u32([7] * 20)},
        {"out": u32([5 if (k << 12) + 0xABC < 70_000 else 7 for k in range(20)])},
        70_000,
    )
    yield case(
        "L1/memory/signed_index_values",
        "An I32 and a U64 element come back with the bits that went in.",
        Program(
            [BufferDecl.read_write("signed", 0, I32), BufferDecl.read_write("wide", 1, U64)],
            (SIZE, 1, 1),
            [
                Node.store("signed", i, Expr.load("signed", i)),
                Node.store("wide", i, Expr.load("wide", i)),
            ],
        ),
        {"signed": words("signed", 8).view(np.int32), "wide": words("wide", 16).view(np.uint64)},
        {},
    )


def cases() -> Iterator[Case]:
    """Every rule of memory."""
    yield from _loads()
    yield from _stores()
    yield from _atomics()
    yield from _indices()
    yield from _lengths()
    yield from _bools()
    yield from _zeros()
    yield from _grid()
