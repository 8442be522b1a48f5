"""Hints: the Fix in Python. Each is applied as it stands, and the program is then valid and gives the right bytes.

``CASES`` is data: (id, wrong program, hint, mended program, inputs, wanted outputs).
"""

# ruff: noqa: E501  # hints are compared whole

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import vyre
from vyre import BinOp, BufferAccess, BufferDecl, DataType, Expr, Node, OpSignature, OpSpec, Program, UnOp
from vyre.conformance.models import binary

U32, I32, U64, BOOL, BYTES = DataType.U32, DataType.I32, DataType.U64, DataType.Bool, DataType.Bytes
VEC2, VEC4 = DataType.Vec2U32, DataType.Vec4U32
OUT = BufferDecl.output("out", 0, U32)
ZERO, X = Expr.u32(0), Expr.var("x")


@dataclass(frozen=True)
class Case:
    """A wrong program, what its first diagnostic says to write, and the program with that written."""

    id: str
    wrong: Program
    hint: str
    mended: Program
    inputs: dict[str, Any] = field(default_factory=lambda: {"out": 1})
    want: dict[str, list[int]] = field(default_factory=dict)
    workgroups: int = 1

    @property
    def rule(self) -> str:
        """V004 of "V004 a load"."""
        return self.id.split()[0]


def stored(value: Any, *before: Node, buffers: tuple[BufferDecl, ...] = (), element: DataType = U32) -> Program:
    """A program that stores one value."""
    out = BufferDecl.output("out", 0, element)
    return Program([out, *buffers], entry=[*before, Node.store("out", 0, value)])


def words(*values: int) -> np.ndarray:
    """An array of U32."""
    return np.array(values, np.uint32)


LEFT = BufferDecl.read("left", 1, U32)
READ = BufferDecl.read("a", 1, U32, count=2)
BYTE_BUFFER = BufferDecl.read("raw", 1, BYTES)
UNTIL = Expr.cast(U64, 3)


def counted(upper: Any, lower: Any = 0) -> Program:
    """Counts the rounds of a loop."""
    n = Expr.var("n")
    return stored(n, Node.let("n", 0), Node.loop("k", lower, upper, [Node.assign("n", n + 1)]))


def branch(*then: Node, before: tuple[Node, ...] = (), value: Any = X) -> Program:
    """An If that is taken, and a store after it."""
    return stored(value, *before, Node.if_(1, list(then)))


I, L = Expr.gid_x(), Expr.local_x()  # noqa: E741


def meeting(*entry: Node) -> Program:
    """A program of one workgroup of eight, with memory that they share."""
    return Program([OUT, BufferDecl.read("x", 1, U32), BufferDecl.workgroup("t", 8, U32)], (8, 1, 1), list(entry))


CASES = [
    Case(
        "V001",
        stored(Expr.load("out", 0), buffers=(BufferDecl.read("out", 1, U32),)),
        'buffers[0] has this name already. Write BufferDecl.read("out_2", 1, DataType.U32) here, and "out_2" where this buffer '
        "is meant.",
        stored(Expr.load("out_2", 0), buffers=(BufferDecl.read("out_2", 1, DataType.U32),)),
        {"out": 1, "out_2": words(7)},
        {"out": [7]},
    ),
    Case(
        "V002",
        stored(Expr.load("b", 0), buffers=(LEFT, BufferDecl.read("b", 1, U32))),
        'write BufferDecl.read("b", 2, DataType.U32), whose binding is free.',
        stored(Expr.load("b", 0), buffers=(LEFT, BufferDecl.read("b", 2, DataType.U32))),
        {"out": 1, "left": words(1), "b": words(7)},
        {"out": [7]},
    ),
    Case(
        "V003",
        Program([OUT], (4, 0, 1), [Node.store("out", Expr.gid_x(), 3)]),
        "write workgroup_size=(4, 1, 1).",
        Program([OUT], (4, 1, 1), [Node.store("out", Expr.gid_x(), 3)]),
        {"out": 4},
        {"out": [3, 3, 3, 3]},
    ),
    Case(
        "V004 a load",
        stored(Expr.load("x", 0)),
        'add BufferDecl.read("x", 1, DataType.U32) to `buffers`.',
        stored(Expr.load("x", 0), buffers=(BufferDecl.read("x", 1, DataType.U32),)),
        {"out": 1, "x": words(7)},
        {"out": [7]},
    ),
    Case(
        "V004 a misspelt load",
        stored(Expr.load("lft", 0), buffers=(LEFT,)),
        'did you mean "left"? Otherwise add BufferDecl.read("lft", 2, DataType.U32) to `buffers`.',
        stored(Expr.load("left", 0), buffers=(LEFT,)),
        {"out": 1, "left": words(7)},
        {"out": [7]},
    ),
    Case(
        "V004 a buflen",
        stored(Expr.buf_len("x")),
        'add BufferDecl.read("x", 1, DataType.U32) to `buffers`.',
        stored(Expr.buf_len("x"), buffers=(BufferDecl.read("x", 1, DataType.U32),)),
        {"out": 1, "x": words(7, 8)},
        {"out": [2]},
    ),
    Case(
        "V004 a store of another type",
        Program(entry=[Node.store("x", 0, Expr.i32(-1))]),
        'add BufferDecl.read_write("x", 0, DataType.I32) to `buffers`.',
        Program([BufferDecl.read_write("x", 0, DataType.I32)], entry=[Node.store("x", 0, Expr.i32(-1))]),
        {"x": 1},
        {"x": [-1]},
    ),
    Case(
        "V004 an atomic",
        Program(entry=[Node.let("old", Expr.atomic_add("x", 0, 5))]),
        'add BufferDecl.read_write("x", 0, DataType.U32) to `buffers`.',
        Program([BufferDecl.read_write("x", 0, DataType.U32)], entry=[Node.let("old", Expr.atomic_add("x", 0, 5))]),
        {"x": 1},
        {"x": [5]},
    ),
    Case(
        "V004 a name that needs escapes",
        stored(Expr.load('a"\\\n', 0)),
        'add BufferDecl.read("a\\"\\\\\\n", 1, DataType.U32) to `buffers`.',
        stored(Expr.load('a"\\\n', 0), buffers=(BufferDecl.read('a"\\\n', 1, DataType.U32),)),
        {"out": 1, 'a"\\\n': words(7)},
        {"out": [7]},
    ),
    Case(
        "V005",
        Program([READ], entry=[Node.store("a", 1, 9)]),
        'declare it as BufferDecl.read_write("a", 1, DataType.U32, count=2).',
        Program([BufferDecl.read_write("a", 1, DataType.U32, count=2)], entry=[Node.store("a", 1, 9)]),
        {"a": words(1, 2)},
        {"a": [1, 9]},
    ),
    Case(
        "V006 no let",
        stored(X),
        'write Node.let("x", Expr.u32(0)) before this statement.',
        stored(X, Node.let("x", Expr.u32(0))),
        want={"out": [0]},
    ),
    Case(
        "V006 a misspelt variable",
        stored(Expr.var("totl"), Node.let("total", 4)),
        'did you mean "total"? Otherwise write Node.let("totl", Expr.u32(0)) before this statement.',
        stored(Expr.var("total"), Node.let("total", 4)),
        want={"out": [4]},
    ),
    Case(
        "V006 a let in an If",
        branch(Node.let("x", 5)),
        'the let of "x" (line {line}) ends with its If. Write Node.let("x", Expr.u32(0)) before that If, and inside it '
        'Node.assign("x", 5) instead of the let.',
        branch(Node.assign("x", 5), before=(Node.let("x", Expr.u32(0)),)),
        want={"out": [5]},
    ),
    Case(
        "V006 a let of another type in a Loop in an If",
        branch(
            Node.loop("k", 0, 3, [Node.let("x", Expr.i32(-5))]),
            value=Expr.cast(U32, X),
        ),
        'the let of "x" (line {line}) ends with its If. Write Node.let("x", Expr.i32(0)) before that If, and inside it '
        'Node.assign("x", Expr.i32(-5)) instead of the let.',
        branch(
            Node.loop("k", 0, 3, [Node.assign("x", Expr.i32(-5))]),
            before=(Node.let("x", Expr.i32(0)),),
            value=Expr.cast(U32, X),
        ),
        want={"out": [2**32 - 5]},
    ),
    Case(
        "V006 a let in the other branch",
        Program([OUT], entry=[Node.if_(0, [Node.let("x", 5)], [Node.store("out", 0, X)])]),
        'the let of "x" (line {line}) ends with its If. Write Node.let("x", Expr.u32(0)) before that If, and inside it '
        'Node.assign("x", 5) instead of the let.',
        Program(
            [OUT],
            entry=[Node.let("x", Expr.u32(0)), Node.if_(0, [Node.assign("x", 5)], [Node.store("out", 0, X)])],
        ),
        want={"out": [0]},
    ),
    Case(
        "V006 a later let",
        Program([OUT], entry=[Node.store("out", 0, X), Node.let("x", 6)]),
        'the let of "x" (line {line}) comes later. Move it before this statement.',
        Program([OUT], entry=[Node.let("x", 6), Node.store("out", 0, X)]),
        want={"out": [6]},
    ),
    Case(
        "V006 a later let in an If",
        Program([OUT], entry=[Node.store("out", 0, X), Node.if_(1, [Node.let("x", 6), Node.store("out", 1, X)])]),
        'write Node.let("x", Expr.u32(0)) before this statement, and Node.assign("x", 6) instead of the let (line {line}).',
        Program(
            [OUT],
            entry=[
                Node.let("x", Expr.u32(0)),
                Node.store("out", 0, X),
                Node.if_(1, [Node.assign("x", 6), Node.store("out", 1, X)]),
            ],
        ),
        {"out": 2},
        {"out": [0, 6]},
    ),
    Case(
        "V006 its own initialiser",
        stored(X, Node.let("x", X + 1)),
        'a let cannot use the variable that it binds. Write Node.let("x", Expr.u32(0)) before this statement, and '
        'Node.assign("x", ...) instead of this let.',
        stored(X, Node.let("x", Expr.u32(0)), Node.assign("x", X + 1)),
        want={"out": [1]},
    ),
    Case(
        "V006 a buffer",
        stored(Expr.var("left"), buffers=(LEFT,)),
        '"left" is a buffer: write Expr.load("left", index) to read an element.',
        stored(Expr.load("left", 0), buffers=(LEFT,)),
        {"out": 1, "left": words(7)},
        {"out": [7]},
    ),
    Case(
        "V006 an assignment",
        stored(X, Node.assign("x", Expr.gid_x() + 2)),
        'write Node.let("x", Expr.add(Expr.gid_x(), 2)) instead of Node.assign, or bind it at the start of `entry`: '
        'Node.let("x", Expr.u32(0)).',
        stored(X, Node.let("x", Expr.add(Expr.gid_x(), 2))),
        want={"out": [2]},
    ),
    Case(
        "V006 an assignment, bound at the start",
        branch(Node.assign("x", Expr.u64(9)), value=Expr.lane(X, 0)),
        'write Node.let("x", Expr.u64(9)) instead of Node.assign, or bind it at the start of `entry`: '
        'Node.let("x", Expr.u64(0)).',
        branch(Node.assign("x", Expr.u64(9)), before=(Node.let("x", Expr.u64(0)),), value=Expr.lane(X, 0)),
        want={"out": [9]},
    ),
    Case(
        "V006 an assignment to a buffer",
        Program([OUT], entry=[Node.assign("out", 3)]),
        '"out" is a buffer: write Node.store("out", index, 3).',
        Program([OUT], entry=[Node.store("out", 0, 3)]),
        want={"out": [3]},
    ),
    Case(
        "V008 to change it",
        stored(X, Node.let("x", 1), Node.let("x", Expr.u32(2))),
        'write Node.assign("x", 2) to change the variable that exists (line {line}), or give this one a name of its own: "x_2".',
        stored(X, Node.let("x", 1), Node.assign("x", 2)),
        want={"out": [2]},
    ),
    Case(
        "V008 to have another one",
        stored(X, Node.let("x", 1), Node.let("x", Expr.i32(2))),
        'give it a name of its own here and where it is meant: "x_2".',
        stored(Expr.var("x"), Node.let("x", 1), Node.let("x_2", Expr.i32(2))),
        want={"out": [1]},
    ),
    Case(
        "V009",
        Program([READ], entry=[Node.let("old", Expr.atomic_add("a", 0, 5))]),
        'declare it as BufferDecl.read_write("a", 1, DataType.U32, count=2).',
        Program(
            [BufferDecl.read_write("a", 1, DataType.U32, count=2)], entry=[Node.let("old", Expr.atomic_add("a", 0, 5))]
        ),
        {"a": words(1, 2)},
        {"a": [6, 2]},
    ),
    Case(
        "V010 after a Return",
        meeting(
            Node.if_(I >= Expr.buf_len("x"), [Node.return_()]),
            Node.store("t", L, Expr.load("x", I)),
            Node.barrier(),
            Node.store("out", I, Expr.load("t", 7 - L)),
        ),
        'only a part of a workgroup takes the Return (line {line}). Write Node.let("inside", Expr.lt(Expr.gid_x(), Expr.buf_len("x"))) '
        "before its If, leave the Return out, and put each store and atomic after it into "
        'Node.if_(Expr.var("inside"), [...]), the barrier into none.',
        meeting(
            Node.let("inside", Expr.lt(Expr.gid_x(), Expr.buf_len("x"))),
            Node.if_(I >= Expr.buf_len("x"), []),
            Node.if_(Expr.var("inside"), [Node.store("t", L, Expr.load("x", I))]),
            Node.barrier(),
            Node.if_(Expr.var("inside"), [Node.store("out", I, Expr.load("t", 7 - L))]),
        ),
        {"out": 8, "x": words(5, 6, 7, 8, 9, 10)},
        {"out": [0, 0, 10, 9, 8, 7, 0, 0]},
    ),
    Case(
        "V010 after a Return of the other branch",
        meeting(
            Node.let("inside", 3),
            Node.if_(I % 2, [Node.store("t", L, Expr.var("inside"))], [Node.return_()]),
            Node.barrier(),
            Node.store("out", I, Expr.load("t", 8 - L)),
        ),
        'only a part of a workgroup takes the Return (line {line}). Write Node.let("inside_2", Expr.rem(Expr.gid_x(), 2)) '
        "before its If, leave the Return out, and put each store and atomic after it into "
        'Node.if_(Expr.var("inside_2"), [...]), the barrier into none.',
        meeting(
            Node.let("inside", 3),
            Node.let("inside_2", Expr.rem(Expr.gid_x(), 2)),
            Node.if_(I % 2, [Node.store("t", L, Expr.var("inside"))], []),
            Node.barrier(),
            Node.if_(Expr.var("inside_2"), [Node.store("out", I, Expr.load("t", 8 - L))]),
        ),
        {"out": 8, "x": words()},
        {"out": [0, 3, 0, 3, 0, 3, 0, 3]},
    ),
    Case(
        "V010 in a loop that some leave by a Break",
        meeting(
            Node.loop(
                "k",
                0,
                4,
                [
                    Node.if_(Expr.var("k") == L, [Node.break_()]),
                    Node.store("out", I, Expr.load("t", 7 - L) + Expr.var("k") + 1),
                    Node.barrier(),
                ],
            )
        ),
        'only a part of a workgroup takes the Break (line {line}). Write Node.let("left", 0) before its Loop, '
        'Node.assign("left", 1) in place of the Break, and put each store, atomic and assignment of the Loop that may run after it, '
        'in later turns too, into Node.if_(Expr.eq(Expr.var("left"), 0), [...]), the barrier into none.',
        meeting(
            Node.let("left", 0),
            Node.loop(
                "k",
                0,
                4,
                [
                    Node.if_(Expr.var("k") == L, [Node.assign("left", 1)]),
                    Node.if_(
                        Expr.eq(Expr.var("left"), 0),
                        [Node.store("out", I, Expr.load("t", 7 - L) + Expr.var("k") + 1)],
                    ),
                    Node.barrier(),
                ],
            ),
        ),
        {"out": 8, "x": words()},
        {"out": [0, 1, 2, 3, 4, 4, 4, 4]},
    ),
    Case(
        "V010 after a Return of those who stayed in a loop",
        meeting(
            Node.loop(
                "k",
                0,
                4,
                [
                    Node.if_(L < 3, [Node.break_()]),
                    Node.if_(Expr.eq(Expr.var("k"), 2), [Node.return_()]),
                ],
            ),
            Node.barrier(),
            Node.store("out", I, 5),
        ),
        'only a part of a workgroup takes the Return (line {line}). Write Node.let("returned", 0) at the start of `entry`, '
        'Node.assign("returned", 1) in place of the Return, and put each store and atomic that may run after it into '
        'Node.if_(Expr.eq(Expr.var("returned"), 0), [...]), the barrier into none.',
        meeting(
            Node.let("returned", 0),
            Node.loop(
                "k",
                0,
                4,
                [
                    Node.if_(L < 3, [Node.break_()]),
                    Node.if_(Expr.eq(Expr.var("k"), 2), [Node.assign("returned", 1)]),
                ],
            ),
            Node.barrier(),
            Node.if_(Expr.eq(Expr.var("returned"), 0), [Node.store("out", I, 5)]),
        ),
        {"out": 8, "x": words()},
        {"out": [5, 5, 5, 0, 0, 0, 0, 0]},
    ),
    Case(
        "V010 after a Return of an earlier round",
        meeting(
            Node.loop(
                "k",
                0,
                4,
                [
                    Node.barrier(),
                    Node.if_(Expr.var("k") == L, [Node.return_()]),
                    Node.store("out", I, Expr.var("k") + 1),
                ],
            )
        ),
        'only a part of a workgroup takes the Return (line {line}). Write Node.let("returned", 0) at the start of `entry`, '
        'Node.assign("returned", 1) in place of the Return, and put each store and atomic that may run after it into '
        'Node.if_(Expr.eq(Expr.var("returned"), 0), [...]), the barrier into none.',
        meeting(
            Node.let("returned", 0),
            Node.loop(
                "k",
                0,
                4,
                [
                    Node.barrier(),
                    Node.if_(Expr.var("k") == L, [Node.assign("returned", 1)]),
                    Node.if_(Expr.eq(Expr.var("returned"), 0), [Node.store("out", I, Expr.var("k") + 1)]),
                ],
            ),
        ),
        {"out": 8, "x": words()},
        {"out": [0, 1, 2, 3, 4, 4, 4, 4]},
    ),
    Case(
        "V010 in an If",
        meeting(
            Node.if_(
                I < Expr.buf_len("x"),
                [
                    Node.block(
                        [
                            Node.store("t", L, Expr.load("x", I)),
                            Node.barrier(),
                            Node.store("out", I, Expr.load("t", 7 - L)),
                        ]
                    )
                ],
            )
        ),
        "only a part of a workgroup enters the If (line {line}), because its condition differs. Write "
        'Node.let("inside", Expr.lt(Expr.gid_x(), Expr.buf_len("x"))) before it, and close it before the barrier: '
        'Node.if_(Expr.var("inside"), [...]), Node.barrier(), and for what follows the same If again.',
        meeting(
            Node.let("inside", Expr.lt(Expr.gid_x(), Expr.buf_len("x"))),
            Node.if_(Expr.var("inside"), [Node.store("t", L, Expr.load("x", I))]),
            Node.barrier(),
            Node.if_(Expr.var("inside"), [Node.store("out", I, Expr.load("t", 7 - L))]),
        ),
        {"out": 8, "x": words(5, 6, 7, 8, 9, 10)},
        {"out": [0, 0, 10, 9, 8, 7, 0, 0]},
    ),
    Case(
        "V010 in a Loop",
        meeting(
            Node.loop("k", 1, L, [Node.store("out", I, Expr.load("out", I) + Expr.var("k")), Node.barrier()]),
        ),
        "the bounds of the Loop (line {line}) differ within a workgroup. Write bounds that are the same for all, and put what "
        'stands beside the barrier into Node.if_(Expr.bitand(Expr.le(1, Expr.var("k")), Expr.lt(Expr.var("k"), Expr.local_x())), '
        "[...]).",
        meeting(
            Node.loop(
                "k",
                0,
                8,
                [
                    Node.if_(
                        Expr.bitand(Expr.le(1, Expr.var("k")), Expr.lt(Expr.var("k"), Expr.local_x())),
                        [Node.store("out", I, Expr.load("out", I) + Expr.var("k"))],
                    ),
                    Node.barrier(),
                ],
            ),
        ),
        {"out": 8, "x": words()},
        {"out": [0, 0, 1, 3, 6, 10, 15, 21]},
    ),
    Case(
        "V011",
        stored(0, Node.loop("k", 0, 3, [Node.assign("k", 9)])),
        'write Node.let("k_2", Expr.var("k")) at the start of the loop, and use and assign that.',
        Program(
            [OUT],
            entry=[
                Node.loop(
                    "k",
                    0,
                    3,
                    [
                        Node.let("k_2", Expr.var("k")),
                        Node.assign("k_2", Expr.var("k_2") + 9),
                        Node.store("out", Expr.var("k"), Expr.var("k_2")),
                    ],
                )
            ],
        ),
        {"out": 3},
        {"out": [9, 10, 11]},
    ),
    Case(
        "V012",
        stored(Expr.cast(VEC4, Expr.u64(2**32 + 5)), element=VEC4),
        "write Expr.pack(DataType.Vec4U32, [Expr.lane(Expr.u64(4294967301), 0), Expr.lane(Expr.u64(4294967301), 1), 0, 0]). "
        "From U64 there are casts to U32, I32, Bool, Vec2U32.",
        stored(
            Expr.pack(DataType.Vec4U32, [Expr.lane(Expr.u64(4294967301), 0), Expr.lane(Expr.u64(4294967301), 1), 0, 0]),
            element=VEC4,
        ),
        want={"out": [[5, 1, 0, 0]]},
    ),
    Case(
        "V013",
        stored(Expr.load("raw", 0), buffers=(BYTE_BUFFER,)),
        'declare it as BufferDecl.read("raw", 1, DataType.U32), and bind vyre.pack_bytes(data): an element is then a word of '
        "four bytes.",
        stored(Expr.load("raw", 0), buffers=(BufferDecl.read("raw", 1, DataType.U32),)),
        {"out": 1, "raw": vyre.pack_bytes(b"\1\2\3\4\5")},
        {"out": [0x04030201]},
    ),
    Case(
        "V014",
        Program([BufferDecl.read_write("a", 0, I32)], entry=[Node.let("old", Expr.atomic_add("a", 0, 5))]),
        'declare it as BufferDecl.read_write("a", 0, DataType.U32), and cast where another type is meant: '
        'Expr.cast(DataType.I32, Expr.load("a", index)).',
        Program(
            [BufferDecl.read_write("a", 0, DataType.U32), BufferDecl.output("out", 1, I32)],
            entry=[
                Node.let("old", Expr.atomic_add("a", 0, 5)),
                Node.store("out", 0, Expr.cast(DataType.I32, Expr.load("a", 0))),
            ],
        ),
        {"a": words(2**32 - 7), "out": 1},
        {"out": [-2]},
    ),
    Case(
        "V015",
        counted(UNTIL),
        "write Expr.cast(DataType.U32, Expr.cast(DataType.U64, 3)).",
        counted(Expr.cast(DataType.U32, Expr.cast(DataType.U64, 3))),
        want={"out": [3]},
    ),
    Case(
        "V015 the lower bound",
        counted(5, Expr.i32(3)),
        "write Expr.cast(DataType.U32, Expr.i32(3)).",
        counted(5, Expr.cast(DataType.U32, Expr.i32(3))),
        want={"out": [2]},
    ),
    Case(
        "V016",
        stored(Expr.call("primitive.math.ad", [1, 2])),
        'did you mean "primitive.math.add"? vyre.ops.ids() lists all; @vyre.op or vyre.ops.register(OpSpec(...)) adds one.',
        stored(Expr.call("primitive.math.add", [1, 2])),
        want={"out": [3]},
    ),
    Case(
        "V016 without its family",
        stored(Expr.lane(Expr.call("u64.add", [Expr.u64(1), Expr.u64(2)]), 0)),
        'did you mean "primitive.u64.add"? vyre.ops.ids() lists all; @vyre.op or vyre.ops.register(OpSpec(...)) adds one.',
        stored(Expr.lane(Expr.call("primitive.u64.add", [Expr.u64(1), Expr.u64(2)]), 0)),
        want={"out": [3]},
    ),
    Case(
        "V022",
        stored(1, Node.if_(Expr.u64(2**32), [Node.store("out", 0, 7), Node.return_()])),
        "write Expr.cast(DataType.Bool, Expr.u64(4294967296)), which is true unless all bits are 0.",
        stored(
            1,
            Node.if_(Expr.cast(DataType.Bool, Expr.u64(4294967296)), [Node.store("out", 0, 7), Node.return_()]),
        ),
        want={"out": [7]},
    ),
    Case(
        "V023",
        stored(Expr.buf_len("out"), Node.let("b", Expr.cast(BYTES, 0x64636261))),
        "leave the cast out and store the value in a U32 buffer; vyre.unpack_bytes(out[name]) gives its bytes after the run.",
        stored(0x64636261),
        want={"out": list(np.frombuffer(b"abcd", "<u4"))},
    ),
    Case(
        "V024",
        Program([OUT, BufferDecl.workgroup("t", 0, U32)], (8, 2, 1), [Node.store("out", 0, Expr.buf_len("t"))]),
        'write BufferDecl.workgroup("t", 16, DataType.U32) for one element an invocation.',
        Program(
            [OUT, BufferDecl.workgroup("t", 16, DataType.U32)], (8, 2, 1), [Node.store("out", 0, Expr.buf_len("t"))]
        ),
        want={"out": [16]},
    ),
    Case(
        "V025",
        Program(
            [OUT, BufferDecl.workgroup("t", 4, U32)],
            (8, 1, 1),
            [Node.let("old", Expr.atomic_add("t", Expr.local_x() % 4, 1))],
        ),
        'declare it as BufferDecl.workgroup("t", 4, DataType.U32, atomic=True).',
        Program(
            [OUT, BufferDecl.workgroup("t", 4, DataType.U32, atomic=True)],
            (8, 1, 1),
            [
                Node.let("old", Expr.atomic_add("t", Expr.local_x() % 4, 1)),
                Node.barrier(),
                Node.let("sum", Expr.atomic_add("out", 0, Expr.load("t", Expr.local_x()))),
            ],
        ),
        {"out": 1},
        {"out": [8 * 3]},
        workgroups=3,
    ),
    Case(
        "V036",
        Program(
            [OUT, BufferDecl.workgroup("t", 4, DataType.I32, atomic=True)],
            (8, 1, 1),
            [Node.let("old", Expr.atomic_add("t", Expr.local_x() % 4, 1))],
        ),
        'declare it as BufferDecl.workgroup("t", 4, DataType.U32, atomic=True).',
        Program(
            [OUT, BufferDecl.workgroup("t", 4, DataType.U32, atomic=True)],
            (8, 1, 1),
            [
                Node.let("old", Expr.atomic_add("t", Expr.local_x() % 4, 1)),
                Node.barrier(),
                Node.store("out", 0, Expr.load("t", 1)),
            ],
        ),
        {"out": 1},
        {"out": [2]},
    ),
    Case(
        "V037 atomic",
        Program(
            [OUT, BufferDecl.private("t", 4, U32)],
            (8, 1, 1),
            [Node.let("old", Expr.atomic_add("t", Expr.local_x() % 4, 1))],
        ),
        "every invocation has its own: read and write it with Expr.load and Node.store, or declare it as "
        'BufferDecl.workgroup("t", 4, DataType.U32, atomic=True) where the invocations of a workgroup are to share it.',
        Program(
            [OUT, BufferDecl.private("t", 4, U32)],
            (8, 1, 1),
            [
                Node.store("t", Expr.local_x() % 4, Expr.load("t", Expr.local_x() % 4) + 1),
                Node.store("out", 0, Expr.load("t", Expr.local_x() % 4)),
            ],
        ),
        {"out": 1},
        {"out": [1]},
    ),
    Case(
        "V037 count",
        Program([OUT, BufferDecl.private("t", 0, U32)], entry=[Node.store("out", 0, Expr.buf_len("t"))]),
        'declare it as BufferDecl.private("t", 1, DataType.U32).',
        Program([OUT, BufferDecl.private("t", 1, U32)], entry=[Node.store("out", 0, Expr.buf_len("t"))]),
        {"out": 1},
        {"out": [1]},
    ),
    Case(
        "V037 bytes",
        Program([OUT, BufferDecl.private("t", 3, BYTES)], entry=[Node.store("out", 0, Expr.buf_len("t"))]),
        'declare it as BufferDecl.private("t", 3, DataType.U32).',
        Program([OUT, BufferDecl.private("t", 3, U32)], entry=[Node.store("out", 0, Expr.buf_len("t"))]),
        {"out": 1},
        {"out": [3]},
    ),
    Case(
        "V027",
        stored(Expr.load("left", Expr.i32(1)), buffers=(LEFT,)),
        "write Expr.cast(DataType.U32, Expr.i32(1)) for the index.",
        stored(Expr.load("left", Expr.cast(DataType.U32, Expr.i32(1))), buffers=(LEFT,)),
        {"out": 1, "left": words(6, 7)},
        {"out": [7]},
    ),
    Case(
        "V027 a store",
        Program([OUT], entry=[Node.store("out", True, 4)]),
        "write Expr.cast(DataType.U32, True) for the index.",
        Program([OUT], entry=[Node.store("out", Expr.cast(DataType.U32, True), 4)]),
        {"out": 2},
        {"out": [0, 4]},
    ),
    Case(
        "V027 a lane",
        stored(Expr.pack(VEC2, [1, Expr.i32(-1)]), element=VEC2),
        "write Expr.cast(DataType.U32, Expr.i32(-1)) for lane 1.",
        stored(Expr.pack(VEC2, [1, Expr.cast(DataType.U32, Expr.i32(-1))]), element=VEC2),
        want={"out": [[1, 2**32 - 1]]},
    ),
    Case(
        "V028",
        stored(Expr.i32(-1)),
        "write Expr.cast(DataType.U32, Expr.i32(-1)) for the value.",
        stored(Expr.cast(DataType.U32, Expr.i32(-1))),
        want={"out": [2**32 - 1]},
    ),
    Case(
        "V028 an assignment",
        stored(X, Node.let("x", 1), Node.assign("x", Expr.u64(9))),
        "write Expr.cast(DataType.U32, Expr.u64(9)) for the value.",
        stored(X, Node.let("x", 1), Node.assign("x", Expr.cast(DataType.U32, Expr.u64(9)))),
        want={"out": [9]},
    ),
    Case(
        "V028 more lanes",
        stored(Expr.vec2(3, 4), element=VEC4),
        "write Expr.pack(DataType.Vec4U32, [Expr.lane(value, 0), Expr.lane(value, 1), 0, 0]) for the value.",
        stored(Expr.pack(VEC4, [Expr.lane(Expr.vec2(3, 4), 0), Expr.lane(Expr.vec2(3, 4), 1), 0, 0]), element=VEC4),
        want={"out": [[3, 4, 0, 0]]},
    ),
    Case(
        "V029",
        stored(Expr.select(Expr.i32(-1), 5, 6)),
        "write Expr.cast(DataType.Bool, Expr.i32(-1)), which is true unless all bits are 0.",
        stored(Expr.select(Expr.cast(DataType.Bool, Expr.i32(-1)), 5, 6)),
        want={"out": [5]},
    ),
    Case(
        "V029 the branches",
        stored(Expr.select(0, Expr.u32(5), Expr.i32(-1))),
        "write Expr.cast(DataType.U32, Expr.i32(-1)) for the value if false.",
        stored(Expr.select(0, 5, Expr.cast(DataType.U32, Expr.i32(-1)))),
        want={"out": [2**32 - 1]},
    ),
    Case(
        "V031",
        Program([OUT], entry=[Node.let("old", Expr.atomic_add("out", 0, Expr.i32(-1)))]),
        "write Expr.cast(DataType.U32, Expr.i32(-1)) for the value.",
        Program([OUT], entry=[Node.let("old", Expr.atomic_add("out", 0, Expr.cast(DataType.U32, Expr.i32(-1))))]),
        want={"out": [2**32 - 1]},
    ),
    Case(
        "V031 what is expected",
        Program([OUT], entry=[Node.let("old", Expr.atomic_compare_exchange("out", 0, False, 6))]),
        "write Expr.cast(DataType.U32, False) for the expected value.",
        Program(
            [OUT], entry=[Node.let("old", Expr.atomic_compare_exchange("out", 0, Expr.cast(DataType.U32, False), 6))]
        ),
        want={"out": [6]},
    ),
    Case(
        "V032",
        stored(Expr.call("primitive.math.add", [1, Expr.i32(-2)])),
        "write Expr.cast(DataType.U32, Expr.i32(-2)) for argument 1.",
        stored(Expr.call("primitive.math.add", [1, Expr.cast(DataType.U32, Expr.i32(-2))])),
        want={"out": [2**32 - 1]},
    ),
    Case(
        "V035",
        Program([OUT, BufferDecl.output("b", 1, U32)], entry=[Node.store("b", 0, 2)]),
        'write BufferDecl.read_write("b", 1, DataType.U32).',
        Program([OUT, BufferDecl.read_write("b", 1, DataType.U32)], entry=[Node.store("b", 0, 2)]),
        {"out": 1, "b": 1},
        {"b": [2]},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_hint_as_it_stands_mends_the_program(case):
    first = vyre.validate(case.wrong)[0]
    assert first.rule == case.rule
    line = re.search(r"\(line (\d+)\)", first.hint)
    assert first.hint == (case.hint.replace("{line}", line[1]) if line else case.hint)
    assert str(first).endswith(f"\n  In Python: {first.hint}")
    assert vyre.validate(case.mended) == []
    given = vyre.run(case.mended, case.inputs, case.workgroups, backend="reference")
    for name, want in case.want.items():
        assert given[name].tolist() == want
    # Code in a hint is Python: each call that it writes can be made.
    for code in re.findall(
        r"((?:BufferDecl|Expr|Node)\.\w+\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\))", first.hint
    ):
        if "..." not in code and "OpSpec" not in code:
            eval(code, {**vars(vyre), "index": ZERO, "value": ZERO, "lane": ZERO})


def test_every_hint_of_the_table_is_tested_here_by_its_rule():
    tested = {case.rule for case in CASES} | {"V020", "V021", "V030", "V034"}
    assert {rule for rule, _ in vyre._core._tables["hints"]} == tested


VALUES = {
    U32: [0, 1, 5, 31, 33, 2**31, 2**32 - 1],
    I32: [0, 1, -1, 5, -33, 2**31 - 1, -(2**31)],
    U64: [0, 1, 33, 2**32, 2**40 + 7, 2**64 - 1],
    BOOL: [False, True],
    VEC2: [(0, 7), (5, 2**32 - 1), (2**31, 33)],
    VEC4: [(0, 7, 1, 2), (5, 2**32 - 1, 3, 64)],
}
NUMPY = {U32: np.uint32, I32: np.int32, U64: np.uint64, BOOL: bool, VEC2: np.uint32, VEC4: np.uint32}


def signed(value: int, bits: int = 32) -> int:
    """The number that these bits are in two's complement."""
    value %= 2**bits
    return value - 2**bits if value >> (bits - 1) else value


def truncated(a: int, b: int) -> tuple[int, int]:
    """Quotient towards zero and remainder; both 0 by zero."""
    if b == 0:
        return 0, 0
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient, a - quotient * b


def rotated(a: int, by: int, bits: int) -> int:
    """Left, within so many bits."""
    by %= bits
    a %= 2**bits
    return (a << by | a >> (bits - by)) % 2**bits


# The values of operators on numbers of any type, before they are cut to the type, written from their names.
MEANINGS: dict[str, Callable[[int, int, int], int]] = {
    "Add": lambda a, b, bits: a + b,
    "Sub": lambda a, b, bits: a - b,
    "Mul": lambda a, b, bits: a * b,
    "Div": lambda a, b, bits: truncated(a, b)[0],
    "Mod": lambda a, b, bits: truncated(a, b)[1],
    "BitAnd": lambda a, b, bits: a & b,
    "BitOr": lambda a, b, bits: a | b,
    "BitXor": lambda a, b, bits: a ^ b,
    "Shl": lambda a, b, bits: a << (b % bits),
    "Shr": lambda a, b, bits: a >> (b % bits),
    "RotateLeft": lambda a, b, bits: rotated(a, b, bits),
    "RotateRight": lambda a, b, bits: rotated(a, -(b % bits), bits),
    "MulHigh": lambda a, b, bits: a * b >> bits,
    "AbsDiff": lambda a, b, bits: abs(a - b),
    "Min": lambda a, b, bits: min(a, b),
    "Max": lambda a, b, bits: max(a, b),
    "Eq": lambda a, b, bits: a == b,
    "Ne": lambda a, b, bits: a != b,
    "Lt": lambda a, b, bits: a < b,
    "Gt": lambda a, b, bits: a > b,
    "Le": lambda a, b, bits: a <= b,
    "Ge": lambda a, b, bits: a >= b,
    "And": lambda a, b, bits: a != 0 and b != 0,
    "Or": lambda a, b, bits: a != 0 or b != 0,
}


def meaning(op: BinOp, a: int, b: int, bits: int) -> int:
    """An operator's value on numbers of a type; one that means nothing on other types takes the bits as U32."""
    if op.name in MEANINGS:
        return MEANINGS[op.name](a, b, bits)
    return binary(op, a % 2**32, b % 2**32)


TRUTHS = {"Eq", "Ne", "Lt", "Gt", "Le", "Ge", "And", "Or"}
SHIFTS = {"Shl", "Shr", "RotateLeft", "RotateRight"}
# They report V021; signed operators report V030.
UNSIGNED = [BinOp[name] for name, _, _, left, *_ in vyre._core._tables["binary"] if left == "U32"]


def written(hint: str) -> str:
    """The code of a hint that says what to write."""
    found = re.fullmatch(r"(?:write|compare lane by lane, for example) (.*)\.", hint)
    assert found, hint
    return found[1]


def evaluated(code: str, result: DataType, arrays: dict[str, np.ndarray], elements: dict[str, DataType]) -> list[Any]:
    """The value of the code for each pair of elements."""
    i = Expr.gid_x()
    value = eval(code, dict(vars(vyre)), {})
    buffers = [BufferDecl.read(name, k + 1, elements[name]) for k, name in enumerate(arrays)]
    program = Program([BufferDecl.output("out", 0, result), *buffers], entry=[Node.store("out", i, value)])
    assert vyre.validate(program) == [], code
    count = len(next(iter(arrays.values())))
    return vyre.run(program, {"out": count, **arrays}, count, backend="reference")["out"].tolist()


def wrong_binary(op: BinOp, elements: dict[str, DataType]) -> Program:
    """The documents' operator on buffers of other elements."""
    i = Expr.gid_x()
    buffers = [BufferDecl.read(name, k + 1, element) for k, (name, element) in enumerate(elements.items())]
    value = Expr.binop(op, Expr.load("a", i), Expr.load("b", i))
    return Program([OUT, *buffers], entry=[Node.let("v", value)])


def array(element: DataType, values: list[Any]) -> np.ndarray:
    """The values as the host binds them."""
    return np.array(values, NUMPY[element])


@pytest.mark.parametrize("element", [I32, U64, BOOL, VEC2, VEC4], ids=lambda e: e.name)
@pytest.mark.parametrize("op", UNSIGNED, ids=lambda op: op.name)
def test_the_hint_of_v021_is_the_operator_on_that_type(op, element):
    other = U32 if op.name in SHIFTS else element
    elements = {"a": element, "b": other}
    found = vyre.validate(wrong_binary(op, elements))
    assert {d.rule for d in found} == {"V021"}
    if op.name not in MEANINGS and element in (I32, U64):
        wanted = f"no operation gives that on {element.name}; write it with other operators."
        assert {d.hint for d in found} == {wanted}
        return
    pairs = [(a, b) for a in VALUES[element] for b in VALUES[other]]
    arrays = {"a": array(element, [a for a, _ in pairs]), "b": array(other, [b for _, b in pairs])}
    bits = 64 if element == U64 else 32
    truth = op.name in TRUTHS

    def one(a: int, b: int) -> int:
        return int(meaning(op, int(a), int(b), bits))

    result = U32 if truth or element == BOOL or (op.name == "AbsDiff" and element == I32) else element
    if element in (VEC2, VEC4):
        lanes = len(VALUES[element][0])
        spread = [(a, b if other == element else (b,) * lanes) for a, b in pairs]
        want: list[Any] = [
            one(a[0], b[0]) if truth else [one(x, y) % 2**32 for x, y in zip(a, b, strict=True)] for a, b in spread
        ]
    elif element == I32 and result == I32:
        want = [signed(one(a, b)) for a, b in pairs]
    else:
        want = [one(a, b) % 2**bits for a, b in pairs]
    for diagnostic in found:
        assert evaluated(written(diagnostic.hint), result, arrays, elements) == want


@pytest.mark.parametrize("element", [I32, U64, BOOL, VEC2, VEC4], ids=lambda e: e.name)
@pytest.mark.parametrize("op", list(UnOp), ids=lambda op: op.name)
def test_the_hint_of_v030_is_the_unary_operator_on_that_type(op, element):
    i = Expr.gid_x()
    decl = BufferDecl.read("a", 1, element)
    [found] = vyre.validate(Program([OUT, decl], entry=[Node.let("v", Expr.unop(op, Expr.load("a", i)))]))
    assert found.rule == "V030"
    bits = 64 if element == U64 else 32

    def one(a: int, truth: bool = False) -> int:
        a = int(a) % 2**bits
        digits = f"{a:0{bits}b}"
        return {
            "Negate": -a % 2**bits,
            "BitNot": int(not a) if truth else a ^ (2**bits - 1),  # of a Bool: the other one
            "LogicalNot": int(a == 0),
            "Popcount": digits.count("1"),
            "Clz": len(digits) - len(digits.lstrip("0")),
            "Ctz": len(digits) - len(digits.rstrip("0")),
            "ReverseBits": int(digits[::-1], 2),
        }[op.name]

    counts = op.name in ("LogicalNot", "Popcount", "Clz", "Ctz")
    result = U32 if element == BOOL or (counts and element in (I32, U64)) else element
    values = VALUES[element]
    if element in (VEC2, VEC4):
        want: list[Any] = [[one(lane) for lane in value] for value in values]
    else:
        want = [one(value, element == BOOL) for value in values]
        if result == I32:
            want = [signed(value) for value in want]
    assert evaluated(written(found.hint), result, {"a": array(element, values)}, {"a": element}) == want


@pytest.mark.parametrize(
    ("expr", "hint"),
    [
        (Expr.lt(Expr.load("a", 0), 5), 'write Expr.slt(Expr.load("a", 0), Expr.i32(5)).'),
        (
            Expr.eq(Expr.load("a", 0), 2**32 - 1),
            'write Expr.eq(Expr.cast(DataType.U32, Expr.load("a", 0)), 4294967295).',
        ),
        (
            Expr.sub(2**31, Expr.load("a", 0)),
            'write Expr.call("primitive.math.ssub", [Expr.i32(-2147483648), Expr.load("a", 0)]).',
        ),
        (Expr.add(Expr.load("w", 0), 1), 'write Expr.call("primitive.u64.add", [Expr.load("w", 0), Expr.u64(1)]).'),
        (Expr.binop(BinOp.Shr, Expr.load("a", 0), 3), 'write Expr.sshr(Expr.load("a", 0), 3).'),
        (
            Expr.binop(BinOp.SLt, Expr.load("u", 0), 3),
            'write Expr.slt(Expr.cast(DataType.I32, Expr.load("u", 0)), Expr.i32(3)).',
        ),
        (
            Expr.add(Expr.load("a", 0), Expr.atomic_add("out", 0, 1)),
            'write Expr.call("primitive.math.sadd", [Expr.load("a", 0), Expr.cast(DataType.I32, right)]).',
        ),
    ],
)
def test_a_literal_takes_the_other_operands_type_and_an_atomic_is_not_repeated(expr, hint):
    buffers = [OUT, BufferDecl.read("a", 1, I32), BufferDecl.read("w", 2, U64), BufferDecl.read("u", 3, U32)]
    found = vyre.validate(Program(buffers, entry=[Node.let("v", expr)]))
    assert {d.hint for d in found} == {hint}
    value = eval(written(hint), {**vars(vyre), "right": Expr.atomic_add("out", 0, 1)})
    assert vyre.validate(Program(buffers, entry=[Node.let("v", value)])) == []


NO_I32 = 2**31 + 5
COMPARED = {"Lt": int.__lt__, "Le": int.__le__, "Gt": int.__gt__, "Ge": int.__ge__}


@pytest.mark.parametrize("literal_first", [False, True], ids=["right", "left"])
@pytest.mark.parametrize("name", ["Lt", "Le", "Gt", "Ge", "SLt", "SLe", "SGt", "SGe"])
def test_the_hint_for_a_literal_that_no_i32_is_says_what_the_comparison_always_gives(name, literal_first):
    sides = [NO_I32, Expr.load("a", Expr.gid_x())]
    value = Expr.binop(BinOp[name], *(sides if literal_first else sides[::-1]))
    [first, *_] = vyre.validate(Program([OUT, BufferDecl.read("a", 1, I32)], entry=[Node.let("v", value)]))
    found = re.fullmatch(
        rf"write (.*): every I32 is below {NO_I32}\. To compare the bits as U32, write (.*)\.", first.hint
    )
    arrays, elements = {"a": array(I32, VALUES[I32])}, {"a": I32}
    compare = COMPARED[name.removeprefix("S")]
    signs = [compare(NO_I32, a) if literal_first else compare(a, NO_I32) for a in VALUES[I32]]
    assert evaluated(found[1], U32, arrays, elements) == signs
    words = [a % 2**32 for a in VALUES[I32]]
    bits = [compare(NO_I32, a) if literal_first else compare(a, NO_I32) for a in words]
    assert evaluated(found[2], U32, arrays, elements) == bits


@pytest.mark.parametrize("literal_first", [False, True], ids=["right", "left"])
@pytest.mark.parametrize("name", ["Div", "Mod", "Min", "Max", "AbsDiff", "MulHigh", "SDiv", "SMod", "SMin", "SMax"])
def test_the_hint_for_a_literal_that_no_i32_is_takes_the_bits(name, literal_first):
    sides = [NO_I32, Expr.load("a", Expr.gid_x())]
    value = Expr.binop(BinOp[name], *(sides if literal_first else sides[::-1]))
    [first, *_] = vyre.validate(Program([OUT, BufferDecl.read("a", 1, I32)], entry=[Node.let("v", value)]))
    found = re.fullmatch(rf"write (.*), which takes the bits of both as U32: no I32 is {NO_I32}\.", first.hint)
    op = BinOp[name.removeprefix("S")]
    words = [a % 2**32 for a in VALUES[I32]]
    want = [meaning(op, NO_I32, a, 32) if literal_first else meaning(op, a, NO_I32, 32) for a in words]
    assert evaluated(found[1], U32, {"a": array(I32, VALUES[I32])}, {"a": I32}) == want


def test_the_hints_of_an_operand_and_of_what_is_stored_can_be_applied_together():
    buffers = [OUT, BufferDecl.read("s", 1, I32), BufferDecl.read("x", 2, U32)]
    value = Expr.sdiv(Expr.load("s", 0), Expr.load("x", 0))
    inner, outer = vyre.validate(Program(buffers, entry=[Node.store("out", 0, value)]))
    assert (inner.rule, inner.hint) == (
        "V030",
        'write Expr.sdiv(Expr.load("s", 0), Expr.cast(DataType.I32, Expr.load("x", 0))).',
    )
    assert (outer.rule, outer.hint) == ("V028", "write Expr.cast(DataType.U32, value) for the value.")
    value = eval(written(inner.hint), dict(vars(vyre)))
    value = eval("Expr.cast(DataType.U32, value)", {**vars(vyre), "value": value})
    program = Program(buffers, entry=[Node.store("out", 0, value)])
    inputs = {"out": 1, "s": array(I32, [-9]), "x": words(4)}
    assert vyre.run(program, inputs, 1, backend="reference")["out"].tolist() == [2**32 - 2]


def test_a_hint_for_both_operands_is_printed_once():
    loaded = Expr.load("a", 0)
    program = Program(
        [OUT, BufferDecl.read("a", 1, I32)], entry=[Node.let("v", Expr.add(loaded, loaded)), Node.let("w", X)]
    )
    left, right, other = found = vyre.validate(program)
    assert left.hint == right.hint != other.hint
    assert str(found) == "\n".join([str(left).removesuffix(f"\n  In Python: {left.hint}"), str(right), str(other)])
    assert str(vyre.validate(Program())) == "[]"


def test_the_hint_of_v020_is_the_next_version_with_a_result():
    signature = OpSignature([U32], U32)
    vyre.ops.register(OpSpec("hints.no_body", signature))
    program = stored(Expr.call("hints.no_body", [4]))
    [found] = vyre.validate(program)
    assert (found.rule, found.hint) == (
        "V020",
        'write what it does as expressions here, or register OpSpec("hints.no_body", ..., version=2) with `parameters` and '
        "`result`.",
    )
    vyre.ops.register(OpSpec("hints.no_body", signature, version=2, parameters=["x"], result=X + 1))
    assert vyre.run(program, {"out": 1}, 1, backend="reference")["out"].tolist() == [5]


def test_the_hint_of_v034_loads_in_the_caller():
    with pytest.raises(vyre.ValidationError) as error:
        vyre.ops.register(
            OpSpec(
                "hints.loads", OpSignature([U32], U32), parameters=["k"], result=Expr.load("left", Expr.var("k")) + 1
            )
        )
    assert error.value.diagnostics[0].hint == (
        'load in the program and pass the value: Expr.call("hints.loads", [Expr.load("left", index)]), with one more input.'
    )
    vyre.ops.register(
        OpSpec("hints.loads", OpSignature([U32], U32), parameters=["value"], result=Expr.var("value") + 1)
    )
    program = stored(Expr.call("hints.loads", [Expr.load("left", 0)]), buffers=(LEFT,))
    assert vyre.run(program, {"out": 1, "left": words(7)}, 1, backend="reference")["out"].tolist() == [8]


def test_the_hint_of_v034_converts_the_result():
    with pytest.raises(vyre.ValidationError) as error:
        vyre.ops.register(OpSpec("hints.result", OpSignature([U32], I32), parameters=["x"], result=X))
    assert error.value.diagnostics[0].hint == 'write result=Expr.cast(DataType.I32, Expr.var("x")).'
    vyre.ops.register(
        OpSpec("hints.result", OpSignature([U32], I32), parameters=["x"], result=Expr.cast(DataType.I32, Expr.var("x")))
    )


def test_what_python_cannot_write_has_hints_too():
    """It comes from texts, bytes and other versions."""
    state = (b"b", 1, BufferAccess.ReadOnly, U32, 0, True)
    [found] = vyre.validate(Program([vyre._core._buffer_decl_from_state(*state)]))
    assert (found.rule, found.hint) == ("V035", 'declare it as BufferDecl.output("b", 1, DataType.U32).')
    text = stored(Expr.atomic_compare_exchange("out", 0, 1, 2)).to_text()
    [found] = vyre.validate(vyre.parse(text.replace("compare_exchange(out, 0, 1, 2)", "compare_exchange(out, 0, 2)")))
    assert (found.rule, found.hint) == ("V031", 'write Expr.atomic_compare_exchange("out", index, expected, value).')
    text = stored(Expr.atomic_add("out", 0, 2)).to_text()
    [found] = vyre.validate(vyre.parse(text.replace("add(out, 0, 2)", "add(out, 0, 1, 2)")))
    assert (found.rule, found.hint) == ("V031", 'write Expr.atomic_add("out", index, value).')


def test_explain_shows_the_hints_of_a_rule():
    assert vyre.explain("V016").endswith(
        "\nIn Python:\n"
        "  did you mean <name>? vyre.ops.ids() lists all; @vyre.op or vyre.ops.register(OpSpec(...)) adds one.\n"
        "  vyre.ops.ids() lists the operations; @vyre.op or vyre.ops.register(OpSpec(...)) adds one.\n"
    )
    assert "In Python" not in vyre.explain("V007")


def test_a_program_of_many_mistakes_is_answered_soon():
    entry = [Node.store("out", 0, Expr.var(f"variable_{k}") + Expr.load(f"buffer_{k}", 0)) for k in range(8000)]
    buffers = [BufferDecl.read_write(f"out_{k}", k, U32) for k in range(200)]
    found = vyre.validate(Program(buffers, entry=entry))
    assert len(found) == 3 * 8000
    assert all(d.hint for d in found)
    many = 30_000
    found = vyre.validate(
        meeting(
            Node.if_(I < 4, [*[Node.let(f"v{k}", k) for k in range(many)], Node.return_()]), *[Node.barrier()] * many
        )
    )
    assert len(found) == many
    assert all(d.hint.startswith("only a part of a workgroup takes the Return") for d in found)


def test_the_hints_of_one_program_can_be_applied_together():
    wrong = Program(
        [LEFT, BufferDecl.read("left", 1, U32), BufferDecl.workgroup("t", 4, U32)],
        entry=[Node.store("x", Expr.atomic_add("t", 0, 1), Expr.load("y", 0) + Expr.load("left", 0))],
    )
    hints = [d.hint for d in vyre.validate(wrong)]
    declarations = {
        name: decl for hint in hints for decl, name in re.findall(r'(BufferDecl\.\w+\("(\w+)", [^)]*\))', hint)
    }
    assert declarations == {
        "left_2": 'BufferDecl.read("left_2", 0, DataType.U32)',
        "t": 'BufferDecl.workgroup("t", 4, DataType.U32, atomic=True)',
        "x": 'BufferDecl.read_write("x", 3, DataType.U32)',
        "y": 'BufferDecl.read("y", 2, DataType.U32)',
    }
    assert len(hints) == 5
    mended = Program([LEFT, *(eval(decl, vars(vyre)) for decl in declarations.values())], entry=wrong.entry)
    assert vyre.validate(mended) == []


def test_each_bound_of_a_loop_has_a_hint_of_its_own():
    assert [d.hint for d in vyre.validate(counted(Expr.i32(5), Expr.u64(3)))] == [
        "write Expr.cast(DataType.U32, Expr.u64(3)).",
        "write Expr.cast(DataType.U32, Expr.i32(5)).",
    ]


def test_the_access_of_a_hint_is_what_the_program_does():
    both = Program(entry=[Node.store("x", 0, Expr.load("x", 1))])
    assert {d.hint for d in vyre.validate(both)} == {'add BufferDecl.read_write("x", 0, DataType.U32) to `buffers`.'}
    assert BufferDecl.storage("x", 0, BufferAccess.ReadWrite, U32) == BufferDecl.read_write("x", 0, DataType.U32)


def test_the_hint_of_v010_names_the_line_where_the_ways_part():
    entry = [
        Node.if_(I < 4, [Node.return_()]),  # 1
        Node.barrier(),  # 2
        Node.if_(I < 6, [Node.barrier()]),  # 3
    ]
    found = vyre.validate(meeting(*entry))
    first = found[0].place.line - 1
    assert [d.place.line - first for d in found] == [1, 2]
    assert [int(re.search(r"\(line (\d+)\)", d.hint)[1]) - first for d in found] == [0, 2]
