"""Hints: the Fix in Python. The program with what a hint says is valid and gives the right bytes."""

# ruff: noqa: E501  # hints are compared whole

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import vyre
from vyre import BinOp, BufferDecl, DataType, Expr, Node, OpSignature, OpSpec, Program, UnOp

U32, I32, U64, BOOL, BYTES = DataType.U32, DataType.I32, DataType.U64, DataType.Bool, DataType.Bytes
VEC2, VEC4 = DataType.Vec2U32, DataType.Vec4U32
OUT = BufferDecl.output("out", 0, U32)
LEFT = BufferDecl.read("left", 1, U32)
X = Expr.var("x")
I, L = Expr.gid_x(), Expr.local_x()  # noqa: E741


@dataclass(frozen=True)
class Case:
    """A wrong program, the hint of its first diagnostic, and the program with that written."""

    id: str
    wrong: Program
    hint: str
    mended: Program
    inputs: dict[str, Any] = field(default_factory=lambda: {"out": 1})
    want: dict[str, Any] = field(default_factory=dict)

    @property
    def rule(self) -> str:
        """V004 of "V004 a load"."""
        return self.id.split()[0]


def stored(
    value: Any, *before: Node, buffers: tuple[BufferDecl, ...] = (), element: DataType = U32, size: int = 1
) -> Program:
    """A program that stores one value an invocation."""
    out = BufferDecl.output("out", 0, element)
    return Program([out, *buffers], (size, 1, 1), [*before, Node.store("out", I, value)])


def words(*values: int) -> np.ndarray:
    """An array of U32."""
    return np.array(values, np.uint32)


def counted(upper: Any) -> Program:
    """Counts the rounds of a loop."""
    n = Expr.var("n")
    return stored(n, Node.let("n", 0), Node.loop("k", 0, upper, [Node.assign("n", n + 1)]))


def shared(*entry: Node) -> Program:
    """A workgroup of eight, with memory that it shares."""
    return Program([OUT, BufferDecl.workgroup("t", 8, U32)], (8, 1, 1), list(entry))


def atomic(*buffers: BufferDecl, name: str, value: Any = 5) -> Program:
    """One atomic addition, and a store of what is then there."""
    out = BufferDecl.output("out", 0, U32)
    entry = [Node.let("old", Expr.atomic_add(name, 0, value)), Node.barrier(), Node.store("out", 0, Expr.load(name, 0))]
    return Program([out, *buffers], entry=entry)


K_IS_LOCAL = Expr.var("k") == L
IF_DONE = Expr.eq(Expr.var("done"), 0)
SOON = Node.store("out", I, Expr.var("k") + 1)
CASES = [
    Case(
        "V002",
        stored(Expr.load("b", 0), buffers=(LEFT, BufferDecl.read("b", 1, U32))),
        'write BufferDecl.read("b", 2, DataType.U32), whose binding is free.',
        stored(Expr.load("b", 0), buffers=(LEFT, BufferDecl.read("b", 2, U32))),
        {"out": 1, "left": words(1), "b": words(7)},
        {"out": [7]},
    ),
    Case(
        "V004 of a name that needs escapes",
        stored(Expr.load('a"\\\n', 0)),
        'add BufferDecl.read("a\\"\\\\\\n", 1, DataType.U32) to `buffers`.',
        stored(Expr.load('a"\\\n', 0), buffers=(BufferDecl.read('a"\\\n', 1, U32),)),
        {"out": 1, 'a"\\\n': words(7)},
        {"out": [7]},
    ),
    Case(
        "V004 misspelt",
        stored(Expr.load("lft", 0), buffers=(LEFT,)),
        'did you mean "left"?',
        stored(Expr.load("left", 0), buffers=(LEFT,)),
        {"out": 1, "left": words(7)},
        {"out": [7]},
    ),
    Case(
        "V004 stored to",
        Program(entry=[Node.store("x", 0, Expr.i32(-1))]),
        'add BufferDecl.read_write("x", 0, DataType.I32) to `buffers`.',
        Program([BufferDecl.read_write("x", 0, I32)], entry=[Node.store("x", 0, Expr.i32(-1))]),
        {"x": 1},
        {"x": [-1]},
    ),
    Case(
        "V005",
        Program([BufferDecl.read("a", 1, U32, count=2)], entry=[Node.store("a", 1, 9)]),
        'declare it as BufferDecl.read_write("a", 1, DataType.U32, count=2).',
        Program([BufferDecl.read_write("a", 1, U32, count=2)], entry=[Node.store("a", 1, 9)]),
        {"a": words(1, 2)},
        {"a": [1, 9]},
    ),
    Case(
        "V006 no let",
        stored(X),
        'write Node.let("x", value) before this statement.',
        stored(X, Node.let("x", 3)),
        want={"out": [3]},
    ),
    Case(
        "V006 misspelt",
        stored(Expr.var("totl"), Node.if_(1, [Node.let("tot", 5)]), Node.let("total", 4)),
        'did you mean "total"?',
        stored(Expr.var("total"), Node.if_(1, [Node.let("tot", 5)]), Node.let("total", 4)),
        want={"out": [4]},
    ),
    Case(
        "V006 a let in an If",
        stored(X, Node.if_(1, [Node.let("x", 5)])),
        'write the let of "x" (line {line}) before this statement, in its list or one around it, and Node.assign where it '
        "is now.",
        stored(X, Node.let("x", 0), Node.if_(1, [Node.assign("x", 5)])),
        want={"out": [5]},
    ),
    Case(
        "V006 a buffer",
        stored(Expr.var("left"), buffers=(LEFT,)),
        '"left" is a buffer: write Expr.load("left", index) or Node.store("left", index, value).',
        stored(Expr.load("left", 0), buffers=(LEFT,)),
        {"out": 1, "left": words(7)},
        {"out": [7]},
    ),
    Case(
        "V008",
        stored(X, Node.let("x", 1), Node.let("x", 2)),
        "write Node.assign to change the variable that exists, or give this one a name of its own.",
        stored(X, Node.let("x", 1), Node.assign("x", 2)),
        want={"out": [2]},
    ),
    Case(
        "V009",
        atomic(BufferDecl.read("a", 1, U32), name="a"),
        'declare it as BufferDecl.read_write("a", 1, DataType.U32).',
        atomic(BufferDecl.read_write("a", 1, U32), name="a"),
        {"out": 1, "a": words(1)},
        {"out": [6]},
    ),
    Case(
        "V010 after a Return",
        shared(Node.loop("k", 0, 4, [Node.barrier(), Node.if_(K_IS_LOCAL, [Node.return_()]), SOON])),
        "only a part of a workgroup takes the Return (line {line}). Assign 1 to a variable in its place, and put each store "
        "and atomic that may run after it into an If on that variable, the barrier into none.",
        shared(
            Node.let("done", 0),
            Node.loop(
                "k", 0, 4, [Node.barrier(), Node.if_(K_IS_LOCAL, [Node.assign("done", 1)]), Node.if_(IF_DONE, [SOON])]
            ),
        ),
        {"out": 8},
        {"out": [0, 1, 2, 3, 4, 4, 4, 4]},
    ),
    Case(
        "V010 after a Break",
        shared(Node.loop("k", 0, 4, [Node.if_(K_IS_LOCAL, [Node.break_()]), SOON, Node.barrier()])),
        "only a part of a workgroup takes the Break (line {line}). Assign 1 to a variable in its place, and put each store, "
        "atomic and assignment of its Loop that may run after it, in later turns too, into an If on that variable, the "
        "barrier into none.",
        shared(
            Node.let("done", 0),
            Node.loop(
                "k", 0, 4, [Node.if_(K_IS_LOCAL, [Node.assign("done", 1)]), Node.if_(IF_DONE, [SOON]), Node.barrier()]
            ),
        ),
        {"out": 8},
        {"out": [0, 1, 2, 3, 4, 4, 4, 4]},
    ),
    Case(
        "V010 in an If",
        shared(Node.if_(I < 6, [Node.store("t", L, I), Node.barrier(), Node.store("out", I, Expr.load("t", 7 - L))])),
        "only a part of a workgroup enters the If (line {line}). Bind its condition before it, end it before the barrier, "
        "and write another If on that variable for what follows.",
        shared(
            Node.let("inside", I < 6),
            Node.if_(Expr.var("inside"), [Node.store("t", L, I)]),
            Node.barrier(),
            Node.if_(Expr.var("inside"), [Node.store("out", I, Expr.load("t", 7 - L))]),
        ),
        {"out": 8},
        {"out": [0, 0, 5, 4, 3, 2, 0, 0]},
    ),
    Case(
        "V010 in a Loop",
        shared(Node.loop("k", 0, L, [SOON, Node.barrier()])),
        "the bounds of the Loop (line {line}) differ within a workgroup. Write bounds that are the same for all, and put "
        "what stands beside the barrier into an If.",
        shared(Node.loop("k", 0, 8, [Node.if_(Expr.var("k") < L, [SOON]), Node.barrier()])),
        {"out": 8},
        {"out": [0, 1, 2, 3, 4, 5, 6, 7]},
    ),
    Case(
        "V011",
        Program([OUT], entry=[Node.loop("k", 0, 3, [Node.assign("k", Expr.var("k") + 9)])]),
        'write Node.let(name, Expr.var("k")) at the start of the loop, and use and assign that.',
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
        "from U64 there are casts to U32, I32, Bool, Vec2U32.",
        stored(Expr.cast(VEC2, Expr.u64(2**32 + 5)), element=VEC2),
        want={"out": [[5, 1]]},
    ),
    Case(
        "V012 of an element",
        stored(Expr.cast(DataType.U8, Expr.u32(300))),
        "no value has the type U8: a store to a buffer of U8 keeps the low bits.",
        stored(Expr.u32(300), element=DataType.U8),
        want={"out": [44]},
    ),
    Case(
        "V013",
        stored(Expr.load("raw", 1), buffers=(BufferDecl.read("raw", 1, BYTES),)),
        'declare it as BufferDecl.read("raw", 1, DataType.U8).',
        stored(Expr.load("raw", 1), buffers=(BufferDecl.read("raw", 1, DataType.U8),)),
        {"out": 1, "raw": b"\1\2\3"},
        {"out": [2]},
    ),
    Case(
        "V014",
        atomic(BufferDecl.read_write("a", 1, I32), name="a"),
        'declare it as BufferDecl.read_write("a", 1, DataType.U32).',
        atomic(BufferDecl.read_write("a", 1, U32), name="a"),
        {"out": 1, "a": words(1)},
        {"out": [6]},
    ),
    Case(
        "V015",
        counted(Expr.u64(3)),
        "write Expr.cast(DataType.U32, bound).",
        counted(Expr.cast(U32, Expr.u64(3))),
        want={"out": [3]},
    ),
    Case(
        "V016",
        stored(Expr.call("primitive.math.ad", [1, 2])),
        'did you mean "primitive.math.add"? vyre.ops.ids() lists all; @vyre.op or vyre.ops.register(OpSpec(...)) adds one.',
        stored(Expr.call("primitive.math.add", [1, 2])),
        want={"out": [3]},
    ),
    Case(
        "V021",
        stored(Expr.div(Expr.i32(-7), Expr.i32(2)), element=I32),
        "write left // right: Python's operators go by type.",
        stored(Expr.i32(-7) // Expr.i32(2), element=I32),
        want={"out": [-3]},
    ),
    Case(
        "V021 by a function",
        stored(Expr.rotl(Expr.u64(2**63), 1), element=U64),
        "write vyre.rotl(left, right): Python's operators go by type.",
        stored(vyre.rotl(Expr.u64(2**63), 1), element=U64),
        want={"out": [1]},
    ),
    Case(
        "V022",
        stored(1, Node.if_(Expr.u64(2**32), [Node.store("out", 0, 7), Node.return_()])),
        "write Expr.cast(DataType.Bool, condition).",
        stored(1, Node.if_(Expr.cast(BOOL, Expr.u64(2**32)), [Node.store("out", 0, 7), Node.return_()])),
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
        "V025",
        atomic(BufferDecl.workgroup("t", 4, U32), name="t"),
        'declare it as BufferDecl.workgroup("t", 4, DataType.U32, atomic=True).',
        atomic(BufferDecl.workgroup("t", 4, U32, atomic=True), name="t"),
        want={"out": [5]},
    ),
    Case(
        "V027",
        stored(Expr.load("left", Expr.i32(1)), buffers=(LEFT,)),
        "write Expr.cast(DataType.U32, index).",
        stored(Expr.load("left", Expr.cast(U32, Expr.i32(1))), buffers=(LEFT,)),
        {"out": 1, "left": words(6, 7)},
        {"out": [7]},
    ),
    Case(
        "V027 a lane",
        stored(Expr.pack(VEC2, [1, Expr.i32(-1)]), element=VEC2),
        "write Expr.cast(DataType.U32, lane).",
        stored(Expr.pack(VEC2, [1, Expr.cast(U32, Expr.i32(-1))]), element=VEC2),
        want={"out": [[1, 2**32 - 1]]},
    ),
    Case(
        "V028",
        stored(Expr.i32(-1)),
        "write Expr.cast(DataType.U32, value).",
        stored(Expr.cast(U32, Expr.i32(-1))),
        want={"out": [2**32 - 1]},
    ),
    Case(
        "V028 that no cast gives",
        stored(Expr.vec2(3, 4), element=VEC4),
        "",
        stored(Expr.vec4(3, 4, 0, 0), element=VEC4),
        want={"out": [[3, 4, 0, 0]]},
    ),
    Case(
        "V028 an assignment",
        stored(X, Node.let("x", 1), Node.assign("x", Expr.u64(9))),
        "write Expr.cast(DataType.U32, value).",
        stored(X, Node.let("x", 1), Node.assign("x", Expr.cast(U32, Expr.u64(9)))),
        want={"out": [9]},
    ),
    Case(
        "V029",
        stored(Expr.select(Expr.i32(-1), 5, 6)),
        "write Expr.cast(DataType.Bool, condition).",
        stored(Expr.select(Expr.cast(BOOL, Expr.i32(-1)), 5, 6)),
        want={"out": [5]},
    ),
    Case(
        "V029 the branches",
        stored(Expr.select(0, Expr.u32(5), Expr.i32(-1))),
        "write Expr.cast(DataType.U32, if_false).",
        stored(Expr.select(0, 5, Expr.cast(U32, Expr.i32(-1)))),
        want={"out": [2**32 - 1]},
    ),
    Case(
        "V030",
        stored(Expr.unop(UnOp.Negate, Expr.i32(7)), element=I32),
        "write -value: Python's operators go by type.",
        stored(-Expr.i32(7), element=I32),
        want={"out": [-7]},
    ),
    Case(
        "V030 a signed operator",
        stored(Expr.sdiv(Expr.i32(-7), Expr.u32(2)), element=I32),
        "write left // right on I32: Python's operators go by type.",
        stored(Expr.i32(-7) // Expr.i32(2), element=I32),
        want={"out": [-3]},
    ),
    Case(
        "V031",
        atomic(BufferDecl.read_write("a", 1, U32), name="a", value=Expr.i32(-1)),
        "write Expr.cast(DataType.U32, value).",
        atomic(BufferDecl.read_write("a", 1, U32), name="a", value=Expr.cast(U32, Expr.i32(-1))),
        {"out": 1, "a": words(3)},
        {"out": [2]},
    ),
    Case(
        "V035",
        Program([OUT, BufferDecl.output("b", 1, U32)], entry=[Node.store("b", 0, 2)]),
        'write BufferDecl.read_write("b", 1, DataType.U32).',
        Program([OUT, BufferDecl.read_write("b", 1, U32)], entry=[Node.store("b", 0, 2)]),
        {"out": 1, "b": 1},
        {"b": [2]},
    ),
    Case(
        "V036",
        atomic(BufferDecl.workgroup("t", 4, I32, atomic=True), name="t"),
        'declare it as BufferDecl.workgroup("t", 4, DataType.U32, atomic=True).',
        atomic(BufferDecl.workgroup("t", 4, U32, atomic=True), name="t"),
        want={"out": [5]},
    ),
    Case(
        "V037",
        atomic(BufferDecl.private("t", 4, U32), name="t"),
        "every invocation has its own: read and write it with Expr.load and Node.store.",
        stored(
            Expr.load("t", 0), Node.store("t", 0, Expr.load("t", 0) + 5), buffers=(BufferDecl.private("t", 4, U32),)
        ),
        want={"out": [5]},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_program_with_what_its_hint_says_is_right(case):
    first = vyre.validate(case.wrong)[0]
    assert first.rule == case.rule
    line = re.search(r"\(line (\d+)\)", first.hint)
    assert first.hint == (case.hint.replace("{line}", line[1]) if line else case.hint)
    assert not first.hint or str(first).endswith(f"\n  In Python: {first.hint}")
    assert vyre.validate(case.mended) == []
    given = vyre.run(case.mended, case.inputs, 1, backend="reference")
    for name, want in case.want.items():
        assert given[name].tolist() == want
    # The declarations that a hint names can be made.
    for code in re.findall(r"BufferDecl\.\w+\([^()]*\)", first.hint):
        eval(code, dict(vars(vyre)))


def test_every_rule_with_a_hint_is_tested_here():
    assert {rule for rule, _ in vyre._core._tables["hints"]} == {case.rule for case in CASES} | {"V020", "V034"}


@pytest.mark.parametrize("element", [I32, U64, BOOL, VEC2, VEC4], ids=lambda e: e.name)
@pytest.mark.parametrize("op", [*BinOp, *UnOp], ids=lambda op: op.name)
def test_what_a_hint_for_an_operator_says_is_defined_on_its_operands(op, element):
    """Operators that the type lacks are refused too, and have no hint."""
    loaded = Expr.load("a", 0)
    value = Expr.unop(op, loaded) if isinstance(op, UnOp) else Expr.binop(op, loaded, loaded)
    buffers = [OUT, BufferDecl.read("a", 1, element)]
    found = vyre.validate(Program(buffers, entry=[Node.let("v", value)]))
    assert {each.rule for each in found} <= {"V021", "V030"}
    for hint in {each.hint for each in found} - {""}:
        code = re.fullmatch(r"write (.*?)(?: on I32)?: Python's operators go by type\.", hint)[1]
        same = loaded if " on I32:" not in hint else Expr.cast(I32, loaded)
        # The amount of a shift is U32.
        right = Expr.u32(1) if op.name in ("Shl", "Shr", "SShr", "RotateLeft", "RotateRight") else same
        mended = eval(code, {"vyre": vyre, "left": same, "right": right, "value": loaded})
        assert vyre.validate(Program(buffers, entry=[Node.let("v", mended)])) == []


def test_the_hints_of_one_program_can_be_applied_together():
    wrong = Program(
        [LEFT, BufferDecl.read("b", 1, U32), BufferDecl.workgroup("t", 4, U32)],
        entry=[Node.store("x", Expr.atomic_add("t", 0, 1), Expr.load("y", 0) + Expr.load("b", 0))],
    )
    hints = [d.hint for d in vyre.validate(wrong)]
    declarations = {name: text for hint in hints for text, name in re.findall(r'(BufferDecl\.\w+\("(\w+)".*?\))', hint)}
    assert sorted(declarations) == ["b", "t", "x", "y"]
    mended = Program([LEFT, *(eval(text, vars(vyre)) for text in declarations.values())], entry=wrong.entry)
    assert vyre.validate(mended) == []


def test_the_hint_of_v010_names_the_line_where_the_ways_part():
    entry = [
        Node.if_(I < 4, [Node.return_()]),  # 1
        Node.barrier(),  # 2
        Node.if_(I < 6, [Node.barrier()]),  # 3
    ]
    found = vyre.validate(shared(*entry))
    first = found[0].place.line - 1
    assert [d.place.line - first for d in found] == [1, 2]
    assert [int(re.search(r"\(line (\d+)\)", d.hint)[1]) - first for d in found] == [0, 2]


def test_a_while_that_some_leave_has_no_hint():
    """Without its Break it would turn 2^32 - 1 times."""
    [found] = vyre.validate(
        shared(Node.loop("k", 0, 2**32 - 1, [Node.if_(K_IS_LOCAL, [Node.break_()]), Node.barrier()]))
    )
    assert (found.rule, found.hint) == ("V010", "")


def test_a_hint_for_both_operands_is_printed_once():
    loaded = Expr.load("a", 0)
    program = Program(
        [OUT, BufferDecl.read("a", 1, I32)], entry=[Node.let("v", Expr.add(loaded, loaded)), Node.let("w", X)]
    )
    left, right, other = found = vyre.validate(program)
    assert left.hint == right.hint != other.hint
    assert str(found) == "\n".join([str(left).removesuffix(f"\n  In Python: {left.hint}"), str(right), str(other)])


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


def test_the_hint_of_v034_converts_the_result():
    with pytest.raises(vyre.ValidationError) as error:
        vyre.ops.register(OpSpec("hints.result", OpSignature([U32], I32), parameters=["x"], result=X))
    assert error.value.diagnostics[0].hint == "write Expr.cast(DataType.I32, result)."
    vyre.ops.register(OpSpec("hints.result", OpSignature([U32], I32), parameters=["x"], result=Expr.cast(I32, X)))


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
        shared(
            Node.if_(I < 4, [*[Node.let(f"v{k}", k) for k in range(many)], Node.return_()]), *[Node.barrier()] * many
        )
    )
    assert len(found) == many
    assert all(d.hint.startswith("only a part of a workgroup takes the Return") for d in found)
