"""L1, private memory: an array of each invocation's own, zeros at its start (docs/semantics.md, Programs).

Expected values come from numpy and from docs/semantics.md: a load out of bounds gives zero, a store does nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vyre import BufferDecl, DataType, Expr, Node, Program
from vyre.conformance.build import one_invocation, out_u32
from vyre.conformance.case import Case, case
from vyre.conformance.values import BOOL, ELEMENTS, FAR, LANES, MASK, U32, VEC4, array, u32, words

if TYPE_CHECKING:
    from collections.abc import Iterator

LENGTH = 6
INDICES = [0, LENGTH - 1, LENGTH, LENGTH + 1, *FAR]
TRIES = len(INDICES)


def _elements(element: DataType, count: int, name: str) -> np.ndarray:
    """`count` elements' lanes, none zero; of Bool, ones."""
    shape = (count, LANES[element])
    if element == BOOL:
        return np.ones(shape, np.uint32)
    return words(f"private {name} {element.name}", shape[0] * shape[1]).reshape(shape) | np.uint32(1)


def _bounds() -> Iterator[Case]:
    i, k = Expr.gid_x(), Expr.var("k")
    for element in ELEMENTS:
        given, stored = _elements(element, LENGTH, "given"), _elements(element, TRIES, "stored")
        if element == BOOL:
            stored = np.zeros_like(stored)
        program = Program(
            [
                BufferDecl.private("low", 4, U32),
                BufferDecl.private("data", LENGTH, element),
                BufferDecl.private("high", 4, U32),
                BufferDecl.read("given", 0, element),
                BufferDecl.read("indices", 1, U32),
                BufferDecl.read("stored", 2, element),
                BufferDecl.read_write("out", 3, element),
                BufferDecl.read_write("around", 4, U32),
            ],
            (TRIES, 1, 1),
            [
                Node.loop("k", 0, 4, [Node.store("low", k, i + 7), Node.store("high", k, i + 9)]),
                Node.loop("k", 0, LENGTH, [Node.store("data", k, Expr.load("given", k))]),
                Node.store("data", Expr.load("indices", i), Expr.load("stored", i)),
                Node.loop(
                    "k",
                    0,
                    TRIES,
                    [Node.store("out", i * TRIES + k, Expr.load("data", Expr.load("indices", k)))],
                ),
                Node.loop(
                    "k", 0, 4, [Node.store("around", i * 4 + k, Expr.load("low", k) * 100 + Expr.load("high", k))]
                ),
            ],
        )
        wanted = np.zeros((TRIES, TRIES, LANES[element]), np.uint32)
        for invocation, index in enumerate(INDICES):
            mine = given.copy()
            if index < LENGTH:
                mine[index] = stored[invocation]
            for at, asked in enumerate(INDICES):
                if asked < LENGTH:
                    wanted[invocation, at] = mine[asked]
        yield case(
            f"L1/private_memory/bounds-{element.name}",
            f"Each invocation has its own elements of {element.name}; loads and stores at any index >= BufLen give "
            "zero and do nothing.",
            program,
            {
                "given": array(element, given.ravel()),
                "indices": u32(INDICES),
                "stored": array(element, stored.ravel()),
                "out": array(element, [0x55] * wanted.size),
                "around": u32([0x55] * 4 * TRIES),
            },
            {
                "out": array(element, wanted.ravel()),
                "around": u32([(n + 7) * 100 + n + 9 for n in range(TRIES) for _ in range(4)]),
            },
        )


def _starts() -> Iterator[Case]:
    i, k, seen = Expr.gid_x(), Expr.var("k"), Expr.var("seen")
    vector = Expr.var("vector")
    yield case(
        "L1/private_memory/zeros",
        "Private memory is zero in each invocation of many workgroups, where all others wrote.",
        Program(
            [
                BufferDecl.private("scalars", 40, U32),
                BufferDecl.private("vectors", 5, VEC4),
                BufferDecl.private("flags", 3, BOOL),
                out_u32(),
            ],
            (32, 1, 1),
            [
                Node.let("seen", 0),
                Node.loop("k", 0, 40, [Node.assign("seen", seen | Expr.load("scalars", k))]),
                Node.loop(
                    "k",
                    0,
                    5,
                    [
                        Node.let("vector", Expr.load("vectors", k)),
                        Node.assign("seen", seen | Expr.lane(vector, 0) | Expr.lane(vector, 3)),
                    ],
                ),
                Node.loop("k", 0, 3, [Node.assign("seen", seen | Expr.cast(U32, Expr.load("flags", k)))]),
                Node.store("out", i, seen),
                Node.loop("k", 0, 40, [Node.store("scalars", k, 0xDEADBEEF)]),
                Node.loop("k", 0, 5, [Node.store("vectors", k, Expr.vec4(1, 2, 3, 4))]),
                Node.loop("k", 0, 3, [Node.store("flags", k, Expr.bool(True))]),
                Node.store("out", i, Expr.load("out", i) + (Expr.load("scalars", i % 40) & 1)),
            ],
        ),
        {"out": u32([0x55] * 32 * 40)},
        {"out": u32([1] * 32 * 40)},
        40,
    )
    body = []
    for at, index in enumerate(INDICES):
        body += [Node.store("data", index, at + 1), Node.store("out", at, Expr.load("data", index))]
    yield case(
        "L1/private_memory/literal_indices",
        "Literal indices out of bounds, which a compiler may not take for proof of anything, are out of bounds.",
        one_invocation([BufferDecl.private("data", LENGTH, U32), out_u32()], *body),
        {"out": u32([0x55] * TRIES)},
        {"out": u32([at + 1 if index < LENGTH else 0 for at, index in enumerate(INDICES)])},
    )
    yield case(
        "L1/private_memory/lengths",
        "BufLen of private memory is the declared count, whether or not anything is stored there.",
        one_invocation(
            [
                BufferDecl.private("idle", 37, VEC4),
                BufferDecl.private("used", 5, U32),
                out_u32(),
            ],
            Node.store("used", 4, 3),
            Node.store("out", 0, Expr.buf_len("idle")),
            Node.store("out", 1, Expr.buf_len("used") * 10 + Expr.load("used", 4)),
        ),
        {"out": u32([0x55] * 2)},
        {"out": u32([37, 53])},
    )
    yield case(
        "L1/private_memory/as_large_as_allowed",
        "Private buffers may hold 16,384 bytes an invocation.",
        Program(
            [BufferDecl.private("a", 3072, U32), BufferDecl.private("b", 256, VEC4), out_u32()],
            (8, 1, 1),
            [
                Node.loop("k", 0, 3072, [Node.store("a", (k * 1021 + i) % 3072, k * i)]),
                Node.loop("k", 0, 256, [Node.store("b", (k * 77 + i) % 256, Expr.vec4(k, i, k * i, 1))]),
                Node.let("seen", 0),
                Node.loop("k", 0, 3072, [Node.assign("seen", Expr.rotl(seen, 3) ^ Expr.load("a", k))]),
                Node.loop("k", 0, 256, [Node.assign("seen", seen * 3 + Expr.lane(Expr.load("b", k), 2))]),
                Node.store("out", i, seen),
            ],
        ),
        {"out": u32([0x55] * 8)},
        {"out": u32([_digest(n) for n in range(8)])},
    )


def _digest(i: int) -> int:
    """The value of as_large_as_allowed for one invocation."""
    a, b = [0] * 3072, [0] * 256
    for k in range(3072):
        a[(k * 1021 + i) % 3072] = k * i
    for k in range(256):
        b[(k * 77 + i) % 256] = k * i
    seen = 0
    for value in a:
        seen = (seen << 3 | seen >> 29) & MASK ^ value
    for value in b:
        seen = (seen * 3 + value) & MASK
    return seen


def _uses() -> Iterator[Case]:
    i, k, j, x = Expr.gid_x(), Expr.var("k"), Expr.var("j"), Expr.var("x")
    count, size = 16, 32
    data = words("private sort", count * 2 * size) % np.uint32(1000)
    yield case(
        "L1/private_memory/sort",
        "Each invocation sorts numbers of its own: indices, rounds and branches that differ.",
        Program(
            [BufferDecl.private("mine", count, U32), BufferDecl.read_write("data", 0, U32)],
            (size, 1, 1),
            [
                Node.loop(
                    "k",
                    0,
                    count,
                    [
                        Node.let("x", Expr.load("data", i * count + k)),
                        Node.let("at", k),
                        Node.loop(
                            "j",
                            0,
                            k,
                            [
                                Node.if_(
                                    Expr.load("mine", k - j - 1) > x,
                                    [
                                        Node.store("mine", k - j, Expr.load("mine", k - j - 1)),
                                        Node.assign("at", k - j - 1),
                                    ],
                                )
                            ],
                        ),
                        Node.store("mine", Expr.var("at"), x),
                    ],
                ),
                Node.loop("k", 0, count, [Node.store("data", i * count + k, Expr.load("mine", k))]),
            ],
        ),
        {"data": data},
        {"data": np.sort(data.reshape(-1, count), axis=1).ravel()},
        2,
    )
    local = Expr.local_x()
    yield case(
        "L1/private_memory/across_barriers",
        "What an invocation keeps is there after a barrier, whatever the others did.",
        Program(
            [BufferDecl.private("mine", 4, U32), BufferDecl.workgroup("tile", size, U32), out_u32()],
            (size, 1, 1),
            [
                Node.store("mine", local % 4, local * 10),
                Node.store("tile", local, local + 1),
                Node.barrier(),
                Node.store("mine", (local + 1) % 4, Expr.load("tile", size - 1 - local)),
                Node.barrier(),
                Node.loop("k", 0, 4, [Node.store("out", i * 4 + k, Expr.load("mine", k))]),
            ],
        ),
        {"out": u32([0x55] * size * 4 * 2)},
        {
            "out": u32(
                [
                    {n % 4: n * 10, (n + 1) % 4: size - n}.get(at, 0)
                    for _ in range(2)
                    for n in range(size)
                    for at in range(4)
                ]
            )
        },
        2,
    )
    yield case(
        "L1/private_memory/under_conditions",
        "Stores under conditions and in loops that differ touch the arrays of those invocations alone.",
        Program(
            [BufferDecl.private("mine", 8, U32), out_u32()],
            (size, 1, 1),
            [
                Node.loop("k", 0, i % 9, [Node.store("mine", k, k + 100)]),
                Node.if_(
                    Expr.eq(i % 3, 0),
                    [Node.store("mine", i % 8, 7), Node.if_(i > 10, [Node.store("mine", 2, i)])],
                    [Node.store("mine", 5, Expr.load("mine", 1) + 1)],
                ),
                Node.loop("k", 0, 8, [Node.store("out", i * 8 + k, Expr.load("mine", k))]),
            ],
        ),
        {"out": u32([0x55] * size * 8)},
        {"out": u32([value for n in range(size) for value in _conditional(n)])},
    )


def _conditional(i: int) -> list[int]:
    """The array of one invocation of under_conditions at its end."""
    mine = [0] * 8
    for k in range(min(i % 9, 8)):
        mine[k] = k + 100
    if i % 3 == 0:
        mine[i % 8] = 7
        if i > 10:
            mine[2] = i
    else:
        mine[5] = mine[1] + 1
    return mine


def cases() -> Iterator[Case]:
    """Bounds, zeros, lengths, and programs that keep arrays of their own."""
    yield from _bounds()
    yield from _starts()
    yield from _uses()
