"""L1, atomics on workgroup memory that is declared atomic (docs/semantics.md, Programs).

Expected values come from the table of memory.ATOMICS, which is that of storage, and from numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vyre import AtomicOp, BufferDecl, Expr, Node, Program
from vyre.conformance.build import one_invocation, out_u32
from vyre.conformance.case import Case, case
from vyre.conformance.families.memory import ATOMICS, EXPECTED
from vyre.conformance.values import FAR, MASK, U32, u32, words

if TYPE_CHECKING:
    from collections.abc import Iterator

LENGTH = 6
INDICES = [0, 3, LENGTH, 5, 2, LENGTH + 1, *FAR]


def _cells(count: int = LENGTH, name: str = "cells") -> BufferDecl:
    return BufferDecl.workgroup(name, count, U32, atomic=True)


def _operators() -> Iterator[Case]:
    i = Expr.local_x()
    for op, (function, value_of) in ATOMICS.items():
        cells = [EXPECTED, 0x80000005, EXPECTED, 0, MASK, 0x1234]
        values = words(f"workgroup atomic {op.name}", len(INDICES)).tolist()
        after = list(cells)
        for index, value in zip(INDICES, values, strict=True):
            if index < LENGTH:
                after[index] = value_of(cells[index], value) & MASK
        yield case(
            f"L1/workgroup_atomics/{op.name}",
            f"Atomic {op.name} on workgroup memory gives the value before; at an index >= BufLen it gives 0 and does "
            "nothing.",
            Program(
                [
                    BufferDecl.workgroup("low", 8, U32),
                    _cells(),
                    BufferDecl.workgroup("high", 8, U32),
                    BufferDecl.read("given", 0, U32),
                    BufferDecl.read("indices", 1, U32),
                    BufferDecl.read("values", 2, U32),
                    BufferDecl.read_write("old", 3, U32),
                    out_u32(4),
                    BufferDecl.read_write("around", 5, U32),
                ],
                (len(INDICES), 1, 1),
                [
                    Node.store("cells", i, Expr.load("given", i)),
                    Node.store("low", i, i + 1),
                    Node.store("high", i, i + 2),
                    Node.barrier(),
                    Node.store("old", i, function("cells", Expr.load("indices", i), Expr.load("values", i))),
                    Node.barrier(),
                    Node.store("out", i, Expr.load("cells", i)),
                    Node.store("around", i, Expr.load("low", i) * 100 + Expr.load("high", i)),
                ],
            ),
            {
                "given": u32(cells),
                "indices": u32(INDICES),
                "values": u32(values),
                "old": u32([0x55] * len(INDICES)),
                "out": u32([0x55] * LENGTH),
                "around": u32([0x55] * 8),
            },
            {
                "old": u32([cells[k] if k < LENGTH else 0 for k in INDICES]),
                "out": u32(after),
                "around": u32([(n + 1) * 100 + n + 2 for n in range(8)]),
            },
        )
        sequence = [0, 1, EXPECTED, 0x7FFFFFFF, 0x80000000, MASK, 5, EXPECTED, 0xFFFF0000, 12]
        held, olds = 0, []
        for value in sequence:
            olds.append(held)
            held = value_of(held, value) & MASK
        yield case(
            f"L1/workgroup_atomics/{op.name}-sequence",
            f"Atomic {op.name}, one after the other in one invocation, gives what the one before left; the first one "
            "finds zero.",
            one_invocation(
                [_cells(1, "cell"), out_u32()],
                *(Node.store("out", k, function("cell", 0, value)) for k, value in enumerate(sequence)),
                Node.store("out", len(sequence), Expr.load("cell", 0)),
            ),
            {"out": u32([0x55] * (len(sequence) + 1))},
            {"out": u32([*olds, held])},
        )


def _together() -> Iterator[Case]:
    i, local, group, k = Expr.gid_x(), Expr.local_x(), Expr.workgroup_x(), Expr.var("k")
    size, groups, bins = 64, 10, 24
    data = words("histogram", size * groups * 4) % np.uint32(bins + 8)
    counts = [np.bincount(part, minlength=bins)[:bins] for part in data.reshape(groups, -1)]
    yield case(
        "L1/workgroup_atomics/histogram",
        "The invocations of each workgroup count in its own memory, which begins as zeros; values beyond it count "
        "nowhere.",
        Program(
            [BufferDecl.read("data", 0, U32), out_u32(1), _cells(bins, "counts")],
            (size, 1, 1),
            [
                Node.loop("k", 0, 4, [Node.let("old", Expr.atomic_add("counts", Expr.load("data", i * 4 + k), 1))]),
                Node.barrier(),
                Node.if_(local < bins, [Node.store("out", group * bins + local, Expr.load("counts", local))]),
            ],
        ),
        {"data": data, "out": u32([0x55] * bins * groups)},
        {"out": u32(np.concatenate(counts))},
        groups,
    )
    yield case(
        "L1/workgroup_atomics/tickets",
        "The values that an atomic gives are those before: every invocation of a workgroup draws another ticket.",
        Program(
            [out_u32(), _cells(1, "next"), BufferDecl.workgroup("drawn", size, U32)],
            (size, 1, 1),
            [
                Node.let("ticket", Expr.atomic_add("next", 0, 1)),
                Node.store("drawn", Expr.var("ticket"), 1),
                Node.barrier(),
                Node.store("out", i, Expr.load("drawn", local) * 1000 + Expr.load("next", 0)),
            ],
        ),
        {"out": u32([0x55] * size * 7)},
        {"out": u32([1000 + size] * size * 7)},
        7,
    )
    values = words("extremes", size * 5)
    yield case(
        "L1/workgroup_atomics/phases",
        "Barriers order plain accesses and atomics: stores, then a minimum, a maximum and a sum of all, then loads.",
        Program(
            [BufferDecl.read("data", 0, U32), out_u32(1), _cells(4)],
            (size, 1, 1),
            [
                Node.if_(Expr.eq(local, 0), [Node.store("cells", 0, MASK), Node.store("cells", 3, 5)]),
                Node.barrier(),
                Node.let("x", Expr.load("data", i)),
                Node.let("a", Expr.atomic_min("cells", 0, Expr.var("x"))),
                Node.let("b", Expr.atomic_max("cells", 1, Expr.var("x"))),
                Node.let("c", Expr.atomic_add("cells", 2, Expr.var("x"))),
                Node.let("d", Expr.atomic_xor("cells", 3, Expr.var("x"))),
                Node.barrier(),
                Node.if_(local < 4, [Node.store("out", group * 4 + local, Expr.load("cells", local))]),
            ],
        ),
        {"data": values, "out": u32([0x55] * 20)},
        {
            "out": u32(
                [
                    int(value)
                    for part in values.reshape(5, size)
                    for value in (
                        part.min(),
                        part.max(),
                        part.sum(dtype=np.uint64) & np.uint64(MASK),
                        np.bitwise_xor.reduce(part) ^ np.uint32(5),
                    )
                ]
            )
        },
        5,
    )
    yield case(
        "L1/workgroup_atomics/storage_beside",
        "Atomics on storage and on workgroup memory of one index are different places.",
        Program(
            [BufferDecl.read_write("total", 0, U32), _cells(2), out_u32(1)],
            (size, 1, 1),
            [
                Node.let("a", Expr.atomic_add("total", 1, 1)),
                Node.let("b", Expr.atomic_add("cells", 1, 2)),
                Node.barrier(),
                Node.if_(Expr.eq(local, 3), [Node.store("out", group, Expr.load("cells", 1))]),
            ],
        ),
        {"total": u32([0, 0]), "out": u32([0x55] * 6)},
        {"total": u32([0, size * 6]), "out": u32([2 * size] * 6)},
        6,
    )


def cases() -> Iterator[Case]:
    """Every atomic operator, alone and by all invocations of a workgroup."""
    assert set(ATOMICS) == set(AtomicOp)
    yield from _operators()
    yield from _together()
