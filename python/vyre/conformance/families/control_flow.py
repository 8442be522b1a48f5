"""L1, control flow and evaluation: loops, branches, returns, and what happens when, once, or not at all.

Expected values are worked out by hand beside each program (docs/semantics.md, Statements and Evaluation).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vyre import BufferDecl, Expr, Node, Program
from vyre.conformance.build import one_invocation, out_u32
from vyre.conformance.case import Case, case
from vyre.conformance.values import BOOL, I32, MASK, U32, U64, VEC2, VEC4, array, u32

if TYPE_CHECKING:
    from collections.abc import Iterator


def _var(name: str) -> Expr:
    return Expr.var(name)


def _add(name: str, value: Expr | int) -> Node:
    return Node.assign(name, _var(name) + value)


def _one(id: str, what: str, wanted: list[int], *body: Node) -> Case:
    """A program of one invocation that writes `wanted` to `out`, which holds 0x55 before."""
    return case(
        f"L1/control_flow/{id}",
        what,
        one_invocation([out_u32()], *body),
        {"out": u32([0x55] * len(wanted))},
        {"out": u32(wanted)},
    )


def _loops() -> Iterator[Case]:
    k, j, total = _var("k"), _var("j"), _var("total")
    bounds = [(0, 5), (2, 5), (5, 5), (7, 3), (MASK, 3), (MASK - 2, MASK), (0, 1), (0x80000000, 0x80000003)]
    body = []
    wanted = []
    for at, (first, last) in enumerate(bounds):
        body += [
            Node.let(f"rounds{at}", 0),
            Node.let(f"sum{at}", 0),
            Node.loop("k", first, last, [_add(f"rounds{at}", 1), _add(f"sum{at}", k)]),
            Node.store("out", 2 * at, _var(f"rounds{at}")),
            Node.store("out", 2 * at + 1, _var(f"sum{at}")),
        ]
        wanted += [len(range(first, last)), sum(range(first, last))]
    yield _one("loop_bounds", "A loop is half-open and unsigned; from >= to runs no round.", wanted, *body)
    yield case(
        "L1/control_flow/loop_bounds_from_memory",
        "Each invocation has bounds of its own.",
        Program(
            [BufferDecl.read("from", 0, U32), BufferDecl.read("to", 1, U32), out_u32(2)],
            (8, 1, 1),
            [
                Node.let("total", 0),
                Node.loop(
                    "k",
                    Expr.load("from", Expr.gid_x()),
                    Expr.load("to", Expr.gid_x()),
                    [_add("total", k)],
                ),
                Node.store("out", Expr.gid_x(), total),
            ],
        ),
        {
            "from": u32([first for first, _ in bounds]),
            "to": u32([last for _, last in bounds]),
            "out": u32([0x55] * 8),
        },
        {"out": u32([sum(range(*pair)) for pair in bounds])},
    )
    yield _one(
        "loop_bounds_once",
        "The bounds of a loop are evaluated once, at entry.",
        [2 + 3 + 4, 100],
        Node.let("total", 0),
        Node.let("to", 5),
        Node.loop("k", 2, _var("to"), [_add("total", k), Node.assign("to", 100)]),
        Node.store("out", 0, total),
        Node.store("out", 1, _var("to")),
    )
    yield _one(
        "nested_loops",
        "Loops nest, the inner one with bounds of the outer one.",
        [sum(10 * a + b for a in range(2, 6) for b in range(a, 7)), 4],
        Node.let("total", 0),
        Node.let("rounds", 0),
        Node.loop(
            "k",
            2,
            6,
            [_add("rounds", 1), Node.loop("j", k, 7, [_add("total", k * 10 + j)])],
        ),
        Node.store("out", 0, total),
        Node.store("out", 1, _var("rounds")),
    )
    yield _one(
        "fresh_variables",
        "A variable bound in a loop is bound anew in each round.",
        [0 + 1 + 2, 2],
        Node.let("total", 0),
        Node.loop(
            "k",
            0,
            3,
            [Node.let("fresh", 0), _add("fresh", k), _add("total", _var("fresh")), Node.store("out", 1, _var("fresh"))],
        ),
        Node.store("out", 0, total),
    )
    deep: list[Node] = [_add("total", 1)]
    for level in range(20):
        deep = [Node.loop(f"k{level}", level, level + 1 + (level % 5 == 0), deep)]
    yield _one(
        "deep_loops",
        "Twenty loops in one another, four of them with two rounds.",
        [16],
        Node.let("total", 0),
        *deep,
        Node.store("out", 0, total),
    )


def _wrapping_bounds() -> Iterator[Case]:
    """Bounds that are computed from an id: the upper one wraps around in some invocations, which run no round.

    An NVIDIA driver (580.159.04) took away a round from the others.
    """
    k, first, id_z = _var("k"), _var("first"), Expr.local_z()
    for size in (2, 8):
        for factor in (1, 2, 3):
            for rounds in (2, 3):
                wanted = []
                for number in range(size):
                    begin = MASK - factor * number
                    turns = list(range(begin, (begin + rounds) & MASK))
                    wanted += [len(turns), turns[-1] if turns else 0]
                yield case(
                    f"L1/control_flow/wrapping_bounds/{size}-{factor}-{rounds}",
                    "A loop whose upper bound wraps around in one invocation runs no round there, and all in others.",
                    Program(
                        [out_u32(), BufferDecl.read_write("scratch", 1, U32)],
                        (1, 1, size),
                        [
                            Node.let("first", Expr.bitnot(id_z * factor)),
                            Node.let("rounds", 0),
                            Node.let("last", 0),
                            Node.loop(
                                "k",
                                first,
                                first + rounds,
                                [Node.store("scratch", id_z, 0), _add("rounds", 1), Node.assign("last", k)],
                            ),
                            Node.store("out", id_z * 2, _var("rounds")),
                            Node.store("out", id_z * 2 + 1, _var("last")),
                        ],
                    ),
                    {"out": u32([0x55] * 2 * size), "scratch": u32([7] * size)},
                    {"out": u32(wanted), "scratch": u32([0 if turns else 7 for turns in wanted[::2]])},
                )


def _long_loops() -> Iterator[Case]:
    """Some drivers end loops after 65,535 turns, or after as many in a whole invocation."""
    count = _add("count", 1)
    shapes = {
        "one": (70_000, [Node.loop("k", 0, 70_000, [count])]),
        "nested": (90_000, [Node.loop("k", 0, 300, [Node.loop("j", 0, 300, [count])])]),
        "two": (80_000, [Node.loop("k", 0, 40_000, [count]), Node.loop("k", 0, 40_000, [count])]),
    }
    n = 64
    for name, (total, loops) in shapes.items():
        yield case(
            f"L1/control_flow/long_loop/{name}",
            "A long loop runs to its end, or the call is refused with an error that says so.",
            Program(
                [out_u32()],
                (32, 1, 1),
                [Node.let("count", Expr.gid_x()), *loops, Node.store("out", Expr.gid_x(), _var("count"))],
            ),
            {"out": u32([3] * n)},
            {"out": u32([total + i for i in range(n)])},
            n // 32,
            checks=f"{total:,} turns give the right bytes, or a typed error where the driver ends loops early",
            refusable=True,
        )
    yield case(
        "L1/control_flow/loop_of_30000",
        "A loop that no driver ends early runs to its end.",
        Program(
            [out_u32()],
            (32, 1, 1),
            [
                Node.let("count", Expr.gid_x()),
                Node.loop("k", 0, 30_000, [count]),
                Node.store("out", Expr.gid_x(), _var("count")),
            ],
        ),
        {"out": u32([3] * n)},
        {"out": u32([30_000 + i for i in range(n)])},
        n // 32,
    )


def _branches() -> Iterator[Case]:
    conditions = [0, 1, 2, 0x80000000, MASK]
    body = []
    for k, value in enumerate(conditions):
        body += [
            Node.if_(Expr.u32(value), [Node.store("out", 2 * k, 1)], [Node.store("out", 2 * k, 2)]),
            Node.if_(Expr.cast(U32, Expr.u32(value)), [Node.store("out", 2 * k + 1, 3)]),
        ]
    yield _one(
        "if_on_literals",
        "If takes every non-zero U32 for true; without Else, a false one does nothing.",
        [place for value in conditions for place in ((1, 3) if value else (2, 0x55))],
        *body,
    )
    i = Expr.gid_x()
    yield case(
        "L1/control_flow/if_per_invocation",
        "Each invocation takes its own branch, of a Bool and of a U32.",
        Program(
            [BufferDecl.read("in", 0, U32), out_u32(1)],
            (8, 1, 1),
            [
                Node.let("x", Expr.load("in", i)),
                Node.if_(
                    _var("x"),
                    [
                        Node.if_(
                            Expr.cast(BOOL, _var("x") & 2),
                            [Node.store("out", i, 10)],
                            [Node.block([Node.store("out", i, 20)])],
                        )
                    ],
                    [Node.if_(Expr.bool(True), [Node.store("out", i, 30)])],
                ),
            ],
        ),
        {"in": u32([0, 1, 2, 3, 4, 0x80000000, 6, MASK]), "out": u32([0x55] * 8)},
        {"out": u32([30, 20, 10, 10, 20, 20, 10, 10])},
    )
    yield _one(
        "blocks",
        "A Block runs its statements; its names end with it.",
        [12, 5],
        Node.let("a", 1),
        Node.block([Node.let("b", 2), Node.assign("a", _var("a") + _var("b") * 5), _add("a", 1)]),
        Node.block([Node.let("b", 5), Node.store("out", 1, _var("b"))]),
        Node.store("out", 0, _var("a")),
    )
    yield _one("empty", "Empty branches, loops and blocks do nothing.", [7], *_empty(), Node.store("out", 0, 7))
    deep: list[Node] = [_add("total", 100)]
    for level in range(60):
        deep = [Node.if_(Expr.buf_len("out") > level % 2, deep, [_add("total", 1)])]
    yield _one(
        "deep_branches",
        "Sixty branches in one another: the first that is false takes its Else.",
        # len(out) = 1 is greater than 0, not than 1; the outermost has level 59.
        [1],
        Node.let("total", 0),
        *deep,
        Node.store("out", 0, _var("total")),
    )


def _empty() -> list[Node]:
    return [Node.if_(1, [], []), Node.loop("k", 0, 1000, []), Node.block([]), Node.if_(0, [])]


def _returns() -> Iterator[Case]:
    i, k, j = _var("i"), _var("k"), _var("j")
    yield case(
        "L1/control_flow/return_in_a_loop",
        "Return ends its invocation only, in the round that its id names.",
        Program(
            [out_u32()],
            (16, 1, 1),
            [
                Node.let("i", Expr.gid_x()),
                Node.store("out", i, 100),
                Node.loop("k", 0, 10, [Node.if_(Expr.eq(k, i), [Node.return_()]), Node.store("out", i, k)]),
                Node.store("out", i, 77),
            ],
        ),
        {"out": u32([0] * 16)},
        {"out": u32([100, *range(9), *[77] * 6])},
    )
    yield case(
        "L1/control_flow/return_in_nested_loops",
        "Return leaves all loops around it.",
        Program(
            [out_u32()],
            (64, 1, 1),
            [
                Node.let("i", Expr.gid_x()),
                Node.loop(
                    "k",
                    0,
                    8,
                    [
                        Node.loop(
                            "j",
                            0,
                            8,
                            [
                                Node.store("out", i, Expr.load("out", i) + 1),
                                Node.if_(Expr.eq(k * 8 + j, i), [Node.return_()]),
                            ],
                        )
                    ],
                ),
                Node.store("out", i, 0),
            ],
        ),
        {"out": u32([0] * 128)},
        {"out": u32([*range(1, 65), *[0] * 64])},
        2,
    )
    yield case(
        "L1/control_flow/return_in_branches",
        "What stands after a branch that returned does not run; in other invocations it does.",
        Program(
            [out_u32()],
            (8, 1, 1),
            [
                Node.let("i", Expr.gid_x()),
                Node.if_(i < 2, [Node.store("out", i, 1), Node.return_()]),
                Node.if_(i < 5, [Node.block([Node.store("out", i, 2), Node.return_()])], [Node.store("out", i, 3)]),
                Node.store("out", i, Expr.load("out", i) + 10),
                Node.if_(i == 6, [Node.return_()], [Node.store("out", i, Expr.load("out", i) + 100)]),
                Node.store("out", i, Expr.load("out", i) + 1000),
            ],
        ),
        {"out": u32([0] * 8)},
        {"out": u32([1, 1, 2, 2, 2, 1113, 13, 1113])},
    )
    yield _one("return_at_once", "A program may only return.", [0x55], Node.return_())


def _steps_to_one(n: int) -> int:
    """How often n is halved, or tripled and increased, until it is 1."""
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def _breaks() -> Iterator[Case]:
    i, k, j, x = _var("i"), _var("k"), _var("j"), _var("x")
    yield case(
        "L1/control_flow/break_in_a_loop",
        "Break leaves the loop in the round that each invocation's id names; what follows the loop runs.",
        Program(
            [out_u32()],
            (16, 1, 1),
            [
                Node.let("i", Expr.gid_x()),
                Node.store("out", i, 100),
                Node.loop("k", 0, 10, [Node.if_(Expr.eq(k, i), [Node.break_()]), Node.store("out", i, k)]),
                Node.store("out", i, Expr.load("out", i) + 1000),
            ],
        ),
        {"out": u32([0] * 16)},
        {"out": u32([1100, *range(1000, 1009), *[1009] * 6])},
    )
    yield case(
        "L1/control_flow/break_in_nested_loops",
        "Break leaves the innermost loop alone.",
        Program(
            [out_u32()],
            (64, 1, 1),
            [
                Node.let("i", Expr.gid_x()),
                Node.let("inner", 0),
                Node.let("outer", 0),
                Node.loop(
                    "k",
                    0,
                    8,
                    [
                        Node.if_(k > i // 4, [Node.break_()]),
                        Node.loop("j", 0, 8, [Node.if_(Expr.eq(j, i % 7), [Node.break_()]), _add("inner", 1)]),
                        _add("outer", 1),
                    ],
                ),
                Node.store("out", i, _var("outer") * 100 + _var("inner")),
            ],
        ),
        {"out": u32([0] * 64)},
        {"out": u32([rounds * 100 + rounds * (n % 7) for n in range(64) for rounds in [min(n // 4 + 1, 8)]])},
    )
    yield case(
        "L1/control_flow/break_in_branches",
        "Break leaves the loop from both branches of an If and from blocks; what was assigned before it stays.",
        Program(
            [out_u32()],
            (24, 1, 1),
            [
                Node.let("i", Expr.gid_x()),
                Node.let("x", 0),
                Node.loop(
                    "k",
                    0,
                    12,
                    [
                        _add("x", 1),
                        Node.if_(
                            i < 8,
                            [Node.if_(k >= i, [_add("x", 100), Node.block([Node.break_()])])],
                            [Node.if_(i < 16, [_add("x", 10)], [_add("x", 20), Node.break_()])],
                        ),
                        _add("x", 1),
                    ],
                ),
                Node.store("out", i, x),
            ],
        ),
        {"out": u32([0] * 24)},
        {"out": u32([*(2 * n + 101 for n in range(8)), *[12 * 12] * 8, *[21] * 8])},
    )


def _breaks_and_others() -> Iterator[Case]:
    i, k, x = _var("i"), _var("k"), _var("x")
    yield case(
        "L1/control_flow/break_or_return",
        "Of a Break and a Return in one loop each invocation takes the one that it meets first.",
        Program(
            [out_u32()],
            (20, 1, 1),
            [
                Node.let("i", Expr.gid_x()),
                Node.loop(
                    "k",
                    0,
                    16,
                    [
                        Node.store("out", i, k),
                        Node.if_(Expr.eq(k, i % 5 + 3), [Node.break_()]),
                        Node.if_(Expr.eq(k, i % 4 + 4), [Node.return_()]),
                    ],
                ),
                Node.store("out", i, Expr.load("out", i) + 100),
            ],
        ),
        {"out": u32([0x55] * 20)},
        {"out": u32([100 + n % 5 + 3 if n % 5 + 3 <= n % 4 + 4 else n % 4 + 4 for n in range(20)])},
    )
    yield _one(
        "break_at_once",
        "A loop may only break, in its first round; one without a round does not break.",
        [7, 9],
        Node.let("x", 7),
        Node.loop("k", 0, 100, [Node.break_()]),
        Node.store("out", 0, x),
        Node.loop("k", 5, 5, [Node.assign("x", 1), Node.break_()]),
        Node.loop("k", 4, 9, [_add("x", 2), Node.break_()]),
        Node.store("out", 1, x),
    )


def _whiles() -> Iterator[Case]:
    i, k, x = _var("i"), _var("k"), _var("x")
    starts = list(range(1, 65))
    yield case(
        "L1/control_flow/while",
        "A loop of 2^32 - 1 rounds with a Break is a `while`: it makes the rounds that its condition asks for.",
        Program(
            [out_u32()],
            (64, 1, 1),
            [
                Node.let("x", Expr.gid_x() + 1),
                Node.let("steps", 0),
                Node.loop(
                    "k",
                    0,
                    MASK,
                    [
                        Node.if_(Expr.eq(x, 1), [Node.break_()]),
                        Node.assign("x", Expr.select(Expr.eq(x % 2, 0), x // 2, x * 3 + 1)),
                        Node.assign("steps", k + 1),
                    ],
                ),
                Node.store("out", Expr.gid_x(), _var("steps")),
            ],
        ),
        {"out": u32([0x55] * 64)},
        {"out": u32([_steps_to_one(n) for n in starts])},
    )
    yield case(
        "L1/control_flow/while_of_all_with_barriers",
        "A Break that a whole workgroup takes may stand beside barriers.",
        Program(
            [BufferDecl.read("rounds", 0, U32), out_u32(1), BufferDecl.workgroup("tile", 32, U32)],
            (32, 1, 1),
            [
                Node.let("i", Expr.local_x()),
                Node.store("tile", i, i),
                Node.loop(
                    "k",
                    0,
                    MASK,
                    [
                        Node.barrier(),
                        Node.if_(Expr.eq(k, Expr.load("rounds", Expr.workgroup_x())), [Node.break_()]),
                        Node.let("next", Expr.load("tile", (i + 1) % 32)),
                        Node.barrier(),
                        Node.store("tile", i, _var("next") + 100),
                    ],
                ),
                Node.barrier(),
                Node.store("out", Expr.gid_x(), Expr.load("tile", i)),
            ],
        ),
        {"rounds": u32([0, 1, 5, 40]), "out": u32([0x55] * 128)},
        {"out": u32([(n + rounds) % 32 + 100 * rounds for rounds in (0, 1, 5, 40) for n in range(32)])},
        4,
    )
    yield case(
        "L1/control_flow/break_of_some_before_a_barrier",
        "After a loop that invocations left in different rounds the whole workgroup meets at a barrier.",
        Program(
            [out_u32(), BufferDecl.workgroup("tile", 64, U32)],
            (64, 1, 1),
            [
                Node.let("i", Expr.local_x()),
                Node.let("x", 0),
                Node.loop("k", 0, 64, [Node.if_(k * k > i, [Node.break_()]), Node.assign("x", k)]),
                Node.store("tile", i, x),
                Node.barrier(),
                Node.store("out", Expr.gid_x(), Expr.load("tile", 63 - i)),
            ],
        ),
        {"out": u32([0x55] * 128)},
        {"out": u32([int(np.sqrt(63 - n)) for n in range(64)] * 2)},
        2,
    )


def _ticket() -> Expr:
    """A node of its own each time: the value of `count` before, which becomes one more."""
    return Expr.atomic_add("count", 0, 1)


def _order() -> Iterator[Case]:
    """The order of evaluation, seen by tickets: an atomic gives 0, 1, 2, ... in the order in which it is evaluated."""

    def ordered(
        id: str, what: str, wanted: list[int], count: int, *body: Node, more: tuple[BufferDecl, ...] = ()
    ) -> Case:
        return case(
            f"L1/evaluation/{id}",
            what,
            one_invocation([BufferDecl.read_write("count", 0, U32), out_u32(1), *more], *body),
            {"count": u32([0]), "out": u32([0x55] * len(wanted))} | {decl.name: u32([0] * 8) for decl in more},
            {"count": u32([count]), "out": u32(wanted)},
        )

    yield ordered(
        "store",
        "A store evaluates its index, then its value.",
        [1, 0x55, 3],
        4,
        Node.store("out", _ticket(), _ticket()),
        Node.store("out", _ticket(), _ticket()),
    )
    yield ordered(
        "operators",
        "Operators evaluate left to right.",
        [0 - 1 & MASK, 2 * 100 + 3 - 4, (5 << 4) + (6 << 7)],
        8,
        Node.store("out", 0, _ticket() - _ticket()),
        Node.store("out", 1, (_ticket() * 100 + _ticket()) - _ticket()),
        Node.store("out", 2, (_ticket() << 4) + (_ticket() << _ticket())),
    )
    yield ordered(
        "select",
        "Select evaluates its condition, then both values, whichever it takes.",
        [2, 4],
        6,
        Node.store("out", 0, Expr.select(_ticket(), _ticket(), _ticket())),
        Node.store("out", 1, Expr.select(_ticket(), _ticket(), _ticket())),
    )
    yield ordered(
        "logical",
        "And and Or evaluate both sides, whatever the left one is.",
        [0, 1, 4],
        5,
        Node.store("out", 0, Expr.logical_and(_ticket(), _ticket())),
        Node.store("out", 1, Expr.logical_or(_ticket(), _ticket())),
        Node.store("out", 2, _ticket()),
    )
    yield case(
        "L1/evaluation/atomic",
        "An atomic evaluates index, expected value, value, and then acts.",
        one_invocation(
            [BufferDecl.read_write("count", 0, U32), out_u32(1), BufferDecl.read_write("cells", 2, U32)],
            # index 0, value 1
            Node.store("out", 0, Expr.atomic_add("cells", _ticket(), _ticket())),
            # index 2, expected 3, value 4
            Node.store("out", 1, Expr.atomic_compare_exchange("cells", _ticket(), _ticket(), _ticket())),
            # its own location: index 0 by `count & 0`, the value is read before the atomic acts
            Node.store("out", 2, Expr.atomic_exchange("count", Expr.u32(0), Expr.load("count", 0) + 10)),
        ),
        {"count": u32([0]), "out": u32([0x55] * 3), "cells": u32([20, 21, 3, 23])},
        {"count": u32([15]), "out": u32([20, 3, 5]), "cells": u32([21, 21, 4, 23])},
    )
    yield ordered(
        "loop",
        "A loop evaluates from, then to, once.",
        [0, 0],
        4,
        Node.let("rounds", 0),
        Node.loop("k", _ticket(), _ticket(), [_add("rounds", 1), Node.store("out", 0, _var("k"))]),
        # from 2 to 3 - 1: no round
        Node.let("none", 0),
        Node.loop("k", _ticket(), _ticket() - 1, [_add("none", 1)]),
        Node.store("out", 1, _var("none")),
    )
    yield ordered(
        "if_once",
        "The condition of an If is evaluated once.",
        [5, 6, 2],
        3,
        Node.if_(_ticket(), [Node.store("out", 0, 4)], [Node.store("out", 0, 5)]),
        Node.if_(_ticket(), [Node.store("out", 1, 6)], [Node.store("out", 1, 7)]),
        Node.store("out", 2, _ticket()),
    )
    lanes = Expr.pack(U64, [_ticket(), _ticket()])
    yield ordered(
        "pack",
        "Pack evaluates its lanes in order, and Lane its value.",
        [0, 3, 4],
        5,
        Node.store("out", 0, Expr.lane(lanes, 0)),
        Node.store("out", 1, Expr.lane(lanes, 1)),
        Node.store("out", 2, _ticket()),
    )
    shared = _ticket()
    yield ordered(
        "shared_node",
        "One node used twice in a statement is evaluated once, and again by the next statement; two nodes are two.",
        [0, 1 * 100 + 1, 2 * 10 + 3, 4],
        5,
        Node.store("out", shared, shared),
        Node.store("out", 1, shared * 100 + shared),
        Node.store("out", 2, _ticket() * 10 + _ticket()),
        Node.store("out", 3, _ticket()),
    )
    yield ordered(
        "shared_over_branches",
        "A node that a condition and a branch use is evaluated by each of them.",
        [1, 2],
        3,
        Node.if_(shared, [Node.store("out", 0, 9)], [Node.store("out", 0, shared)]),
        Node.store("out", 1, shared),
    )
    load = Expr.load("count", 0)
    yield ordered(
        "load_and_atomic",
        "A load sees what stands left of it, and nothing of what stands right of it.",
        [0 * 100 + 0, 1 * 100 + 2, 2 + 2 * 100],
        3,
        Node.store("out", 0, load * 100 + _ticket()),
        Node.store("out", 1, _ticket() * 100 + Expr.load("count", 0)),
        # one load node on both sides of an atomic: loaded once, before it
        Node.store("out", 2, (load + _ticket() * 100) + load - load),
    )
    yield case(
        "L1/evaluation/let",
        "Let fixes a value: stores and assignments after it do not change it.",
        one_invocation(
            [BufferDecl.read_write("cell", 0, U32), out_u32(1)],
            Node.let("a", Expr.load("cell", 0)),
            Node.let("b", _var("a")),
            Node.store("cell", 0, 9),
            Node.assign("a", _var("a") + 1),
            Node.store("out", 0, _var("a")),
            Node.store("out", 1, _var("b")),
            Node.store("out", 2, Expr.load("cell", 0)),
        ),
        {"cell": u32([5]), "out": u32([0x55] * 3)},
        {"cell": u32([9]), "out": u32([6, 5, 9])},
    )
    yield case(
        "L1/evaluation/stores_and_loads",
        "A statement sees every store of the statements before it, in its own invocation.",
        one_invocation(
            [BufferDecl.read_write("cell", 0, U32)],
            Node.store("cell", 0, Expr.load("cell", 1)),
            Node.store("cell", 1, Expr.load("cell", 0) + Expr.load("cell", 2)),
            Node.store("cell", Expr.load("cell", 1), Expr.load("cell", Expr.load("cell", 0)) + 1),
            Node.store("cell", 3, Expr.load("cell", 3) + 1),
            Node.store("cell", 3, Expr.load("cell", 3) * 2),
        ),
        # [1, 2, 1, 5]: cell0 = 2; cell1 = 2 + 1 = 3; cell3 = cell2 + 1 = 2; 3; 6
        {"cell": u32([1, 2, 1, 5])},
        {"cell": u32([2, 3, 1, 6])},
    )
    doubled = _var("x")
    for _ in range(64):
        doubled = doubled + doubled
    chain = _var("x")
    for k in range(2000):
        chain = (chain ^ k) + 0x9E3779B1
    value = 3
    for k in range(2000):
        value = (value ^ k) + 0x9E3779B1 & MASK
    yield _one(
        "shared_doublings",
        "Sixty-four doublings are 65 nodes, and a chain of 4,000 operators is as good as one.",
        [0, value],
        Node.let("x", 3),
        Node.store("out", 0, doubled),
        Node.store("out", 1, chain),
    )


def _unused() -> Iterator[Case]:
    yield case(
        "L1/evaluation/unused_values",
        "An atomic whose value nobody uses still acts; a load that nobody uses does nothing.",
        one_invocation(
            [BufferDecl.read_write("cell", 0, U32)],
            Node.let("unused", Expr.atomic_add("cell", 0, 5)),
            Node.let("unread", Expr.load("cell", 7)),
            Node.let("half", Expr.select(Expr.bool(True), Expr.u32(1), Expr.atomic_or("cell", 1, 8))),
            Node.let("zero", Expr.atomic_max("cell", 2, 9) * 0),
            Node.let("none", Expr.atomic_add("cell", MASK, 1)),
        ),
        {"cell": np.array([1, 1, 1, 1], np.uint32)},
        {"cell": np.array([6, 9, 9, 1], np.uint32)},
    )


def _literals() -> Iterator[Case]:
    wide = [0, 1, MASK, 2**32, 0x0123456789ABCDEF, 2**63, 2**64 - 1]
    narrow = [0, 1, -1, 2**31 - 1, -(2**31)]
    yield case(
        "L1/evaluation/literals",
        "A literal of every type has its value, in memory and as an operand.",
        one_invocation(
            [
                BufferDecl.read_write("signed", 0, I32),
                BufferDecl.read_write("wide", 1, U64),
                BufferDecl.read_write("pairs", 2, VEC2),
                BufferDecl.read_write("quads", 3, VEC4),
                BufferDecl.read_write("flags", 4, BOOL),
                out_u32(5),
            ],
            *(Node.store("signed", k, Expr.i32(value)) for k, value in enumerate(narrow)),
            *(Node.store("wide", k, Expr.u64(value)) for k, value in enumerate(wide)),
            Node.store("pairs", 0, Expr.vec2(MASK, 1)),
            Node.store("quads", 0, Expr.vec4(1, MASK, 0x80000000, 4)),
            Node.store("flags", 0, Expr.bool(True)),
            Node.store("flags", 1, Expr.bool(False)),
            *(Node.store("out", k, Expr.cast(U32, Expr.i32(value))) for k, value in enumerate(narrow)),
            *(Node.store("out", 5 + k, Expr.lane(Expr.u64(value), 1)) for k, value in enumerate(wide)),
            Node.store("out", 12, Expr.lane(Expr.cast(VEC2, Expr.u64(2**33 + 7)), 0)),
            Node.store("out", 13, Expr.select(Expr.bool(False), Expr.u32(1), Expr.cast(U32, Expr.bool(True)) + 5)),
        ),
        {
            "signed": array(I32, [0x55] * 5),
            "wide": array(U64, [0x55] * 14),
            "pairs": array(VEC2, [0x55] * 2),
            "quads": array(VEC4, [0x55] * 4),
            "flags": u32([0x55] * 2),
            "out": u32([0x55] * 14),
        },
        {
            "signed": np.array(narrow, np.int32),
            "wide": np.array(wide, np.uint64),
            "pairs": array(VEC2, [MASK, 1]),
            "quads": array(VEC4, [1, MASK, 0x80000000, 4]),
            "flags": u32([1, 0]),
            "out": u32([*narrow, *(value >> 32 for value in wide), 7, 6]),
        },
    )


def cases() -> Iterator[Case]:
    """Every statement, and the order of evaluation."""
    yield from _loops()
    yield from _wrapping_bounds()
    yield from _long_loops()
    yield from _branches()
    yield from _returns()
    yield from _order()
    yield from _unused()
    yield from _literals()
    yield from _breaks()
    yield from _breaks_and_others()
    yield from _whiles()
