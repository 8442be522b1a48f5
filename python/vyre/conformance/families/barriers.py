"""L1, barriers: messages through storage and workgroup memory, and control flow around barriers that the whole
workgroup shares.

Message passing with a barrier in between is the litmus test that the model decides for plain data: the weak outcome
(the flag's writer has passed, its data has not) is forbidden.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vyre import BufferDecl, Expr, Node, Program
from vyre.conformance.build import out_u32
from vyre.conformance.case import Case, case
from vyre.conformance.values import U32, VEC4, array, u32, words

if TYPE_CHECKING:
    from collections.abc import Iterator

# Below, at and above the width of a subgroup on any known device, and what is no multiple of one.
SIZES = [1, 2, 3, 7, 8, 31, 32, 33, 61, 64, 65, 127, 128, 255, 256]


def _messages() -> Iterator[Case]:
    """In each round every invocation writes a word, waits, reads the words of others, counts wrong ones, and waits."""
    lid, k, base = Expr.var("lid"), Expr.var("k"), Expr.var("base")
    for memory in ("storage", "workgroup"):
        for size in SIZES:
            many, rounds = (4, 20) if size > 64 else (8, 40)
            shared = memory == "workgroup"
            mail = BufferDecl.workgroup("mail", size, U32) if shared else BufferDecl.read_write("mail", 0, U32)

            def wrong(distance: int, size: int = size) -> Expr:
                other = (lid + distance) % size
                return Expr.ne(Expr.load("mail", base + other), k * 101 + other)

            program = Program(
                [mail, BufferDecl.read_write("wrong", 1, U32)],
                (size, 1, 1),
                [
                    Node.let("lid", Expr.local_x()),
                    Node.let("base", Expr.u32(0) if shared else Expr.workgroup_x() * size),
                    Node.let("errors", 0),
                    Node.loop(
                        "k",
                        0,
                        rounds,
                        [
                            Node.store("mail", base + lid, k * 101 + lid),
                            Node.barrier(),
                            Node.assign(
                                "errors",
                                Expr.var("errors") + wrong(1) + wrong(size - 1) + wrong(size // 2),
                            ),
                            Node.barrier(),
                        ],
                    ),
                    Node.store("wrong", Expr.gid_x(), Expr.var("errors")),
                ],
            )
            total = size * many
            inputs = {"wrong": u32([0x55] * total)}
            wanted = {"wrong": u32([0] * total)}
            if not shared:
                inputs["mail"] = u32([0] * total)
                wanted["mail"] = u32([(rounds - 1) * 101 + n % size for n in range(total)])
            yield case(
                f"L1/barriers/message_passing/{memory}-{size}",
                f"What was written to {memory} memory before a barrier is what is read after it, in every round.",
                program,
                inputs,
                wanted,
                many,
            )


def _both_memories() -> Iterator[Case]:
    """A ring whose messages go through both kinds of memory at once, each with a barrier of its own round."""
    size, many, rounds = 16, 3, 40
    me, group = Expr.local_x(), Expr.workgroup_x()
    left = (me + (size - 1)) % size
    value = Expr.var("value")
    behind = [(n % size - rounds) % size for n in range(size * many)]
    yield case(
        "L1/barriers/both_memories",
        "One barrier orders storage and workgroup memory alike.",
        Program(
            [BufferDecl.read_write("mail", 0, U32), BufferDecl.workgroup("tile", size, U32), out_u32(1)],
            (size, 1, 1),
            [
                Node.let("value", me),
                Node.loop(
                    "round",
                    0,
                    rounds,
                    [
                        Node.store("mail", Expr.gid_x(), value),
                        Node.store("tile", me, value),
                        Node.barrier(),
                        Node.assign("value", Expr.load("mail", group * size + left) & Expr.load("tile", left)),
                        Node.barrier(),
                    ],
                ),
                Node.store("out", Expr.gid_x(), value),
            ],
        ),
        {"mail": u32([0] * size * many), "out": u32([0x55] * size * many)},
        {"mail": u32([(n + 1) % size for n in behind]), "out": u32(behind)},
        many,
    )


def _atomics() -> Iterator[Case]:
    size, many = 61, 5
    me, group = Expr.local_x(), Expr.workgroup_x()
    yield case(
        "L1/barriers/atomics_then_load",
        "After a barrier a plain load sees the sum of what the whole workgroup added with atomics.",
        Program(
            [BufferDecl.read_write("sums", 0, U32), out_u32(1)],
            (size, 1, 1),
            [
                Node.let("old", Expr.atomic_add("sums", group, me + 1)),
                Node.barrier(),
                Node.store("out", Expr.gid_x(), Expr.load("sums", group)),
            ],
        ),
        {"sums": u32([0] * many), "out": u32([0x55] * size * many)},
        {"sums": u32([size * (size + 1) // 2] * many), "out": u32([size * (size + 1) // 2] * size * many)},
        many,
    )
    yield case(
        "L1/barriers/store_then_atomics",
        "After a barrier atomics see what one invocation stored before it.",
        Program(
            [BufferDecl.read_write("cells", 0, U32), out_u32(1)],
            (size, 1, 1),
            [
                Node.if_(Expr.eq(me, size - 1), [Node.store("cells", group, 1000)]),
                Node.barrier(),
                Node.store("out", Expr.gid_x(), Expr.atomic_max("cells", group, me)),
            ],
        ),
        {"cells": u32([5] * many), "out": u32([0x55] * size * many)},
        {"cells": u32([1000] * many), "out": u32([1000] * size * many)},
        many,
    )


def _vectors() -> Iterator[Case]:
    size = 33
    me = Expr.local_x()
    data = words("vectors over a barrier", 4 * size)
    yield case(
        "L1/barriers/vectors",
        "All lanes of a vector pass a barrier together.",
        Program(
            [
                BufferDecl.read("in", 0, VEC4),
                BufferDecl.workgroup("tile", size, VEC4),
                BufferDecl.read_write("out", 1, VEC4),
            ],
            (size, 1, 1),
            [
                Node.store("tile", me, Expr.load("in", me)),
                Node.barrier(),
                Node.store("out", me, Expr.load("tile", Expr.u32(size - 1) - me)),
            ],
        ),
        {"in": array(VEC4, data), "out": array(VEC4, [0x55] * 4 * size)},
        {"out": array(VEC4, data.reshape(size, 4)[::-1].ravel())},
    )


def _control_flow() -> Iterator[Case]:
    lid, k, total = Expr.var("lid"), Expr.var("k"), Expr.var("total")
    size = 64
    yield case(
        "L1/barriers/divergent_loop_before",
        "Invocations that take different numbers of turns meet at the barrier after the loop.",
        Program(
            [BufferDecl.workgroup("sums", size, U32), out_u32()],
            (size, 1, 1),
            [
                Node.let("lid", Expr.local_x()),
                Node.let("total", 0),
                Node.loop("k", 0, lid, [Node.assign("total", total + k)]),
                Node.store("sums", lid, total),
                Node.barrier(),
                Node.store("out", Expr.gid_x(), Expr.load("sums", Expr.u32(size - 1) - lid)),
            ],
        ),
        {"out": u32([0x55] * size * 3)},
        {"out": u32([n * (n - 1) // 2 for n in reversed(range(size))] * 3)},
        3,
    )
    yield case(
        "L1/barriers/divergent_branches_between",
        "Between two barriers invocations go their own ways.",
        Program(
            [BufferDecl.workgroup("tile", size, U32), out_u32()],
            (size, 1, 1),
            [
                Node.let("lid", Expr.local_x()),
                Node.if_(
                    lid & 1,
                    [Node.store("tile", lid, lid * 3)],
                    [Node.if_(lid & 2, [Node.store("tile", lid, lid * 5)])],
                ),
                Node.barrier(),
                Node.if_(lid < 32, [Node.store("out", lid, Expr.load("tile", lid + 32))]),
                Node.barrier(),
                Node.store("tile", lid, Expr.load("tile", lid) + 1),
                Node.barrier(),
                Node.if_(lid >= 32, [Node.store("out", lid, Expr.load("tile", lid - 32))]),
            ],
        ),
        {"out": u32([0x55] * size)},
        {
            "out": u32(
                [_branch(n + 32) for n in range(32)] + [_branch(n) + 1 for n in range(32)],
            )
        },
    )
    rounds, size, many = 5, 32, 7
    lanes = np.arange(size) ^ 1
    yield case(
        "L1/barriers/uniform_return",
        "A whole workgroup leaves a loop with barriers in the round that its id names.",
        Program(
            [BufferDecl.workgroup("mail", size, U32), out_u32()],
            (size, 1, 1),
            [
                Node.let("lid", Expr.local_x()),
                Node.loop(
                    "k",
                    0,
                    rounds,
                    [
                        Node.store("mail", lid, k * 1000 + lid),
                        Node.barrier(),
                        Node.store("out", Expr.gid_x(), Expr.load("mail", lid ^ 1)),
                        Node.if_(Expr.eq(k, Expr.workgroup_x()), [Node.return_()]),
                        Node.barrier(),
                    ],
                ),
                Node.store("out", Expr.gid_x(), 99_999),
            ],
        ),
        {"out": u32([0x55] * size * many)},
        {
            "out": np.concatenate(
                [g * 1000 + lanes if g < rounds else np.full(size, 99_999) for g in range(many)]
            ).astype(np.uint32)
        },
        many,
    )
    size, many = 37, 4
    yield case(
        "L1/barriers/uniform_branches",
        "A barrier in a branch and in a loop whose condition is one for the workgroup.",
        Program(
            [
                BufferDecl.read("rounds", 0, U32),
                BufferDecl.workgroup("line", size, U32),
                out_u32(1),
            ],
            (size, 1, 1),
            [
                Node.let("lid", Expr.local_x()),
                Node.let("total", lid),
                Node.if_(
                    Expr.workgroup_x() & 1,
                    [
                        Node.loop(
                            "k",
                            0,
                            Expr.load("rounds", Expr.workgroup_x()),
                            [
                                Node.store("line", lid, total),
                                Node.barrier(),
                                Node.assign("total", Expr.load("line", (lid + 1) % size)),
                                Node.barrier(),
                            ],
                        )
                    ],
                    [
                        Node.store("line", Expr.u32(size - 1) - lid, lid),
                        Node.barrier(),
                        Node.assign("total", Expr.load("line", lid)),
                    ],
                ),
                Node.store("out", Expr.gid_x(), total),
            ],
        ),
        {"rounds": u32([9, 3, 9, 50]), "out": u32([0x55] * size * many)},
        {
            "out": u32(
                [
                    (n + (0, 3, 0, 50)[group]) % size if group & 1 else size - 1 - n
                    for group in range(many)
                    for n in range(size)
                ]
            )
        },
        many,
    )


def _branch(n: int) -> int:
    """The word that `divergent_branches_between` writes at n."""
    return n * 3 if n & 1 else n * 5 if n & 2 else 0


def cases() -> Iterator[Case]:
    """Barriers and what they order."""
    yield from _messages()
    yield from _both_memories()
    yield from _atomics()
    yield from _vectors()
    yield from _control_flow()
