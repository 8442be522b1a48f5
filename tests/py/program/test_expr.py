"""Expressions: what every constructor and operator makes, and what is refused."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import vyre
from conftest import refusals, refused
from vyre import BinOp, DataType, Expr, Node, Program, UnOp, _core
from vyre._base.types import TYPES
from vyre._tools.reference import reference

a, b = Expr.var("a"), Expr.var("b")
s, t = Expr.i32(-8), Expr.i32(3)


def text(expr: Expr) -> str:
    """The expression in the text form."""
    return Program(entry=[Node.let("x", expr)]).to_text().strip().splitlines()[-1].removeprefix("let x = ")


def same(left: Expr, right: Expr) -> bool:
    """Whether two expressions are equal programs."""
    return Program(entry=[Node.let("x", left)]) == Program(entry=[Node.let("x", right)])


@pytest.mark.parametrize(
    ("made", "op"),
    [
        (a + b, BinOp.Add),
        (a - b, BinOp.Sub),
        (a * b, BinOp.Mul),
        (a // b, BinOp.Div),
        (a % b, BinOp.Mod),
        (a & b, BinOp.BitAnd),
        (a | b, BinOp.BitOr),
        (a ^ b, BinOp.BitXor),
        (a << b, BinOp.Shl),
        (a >> b, BinOp.Shr),
        (a == b, BinOp.Eq),
        (a != b, BinOp.Ne),
        (a < b, BinOp.Lt),
        (a <= b, BinOp.Le),
        (a > b, BinOp.Gt),
        (a >= b, BinOp.Ge),
    ],
    ids=lambda value: value.name if isinstance(value, BinOp) else "",
)
def test_operators_write_the_u32_operators(made, op):
    assert same(made, Expr.binop(op, a, b))


def test_literals_on_the_left():
    assert same(1 + a, Expr.add(1, a))
    assert same(1 << a, Expr.shl(1, a))
    assert same(7 // a, Expr.div(7, a))
    assert same(np.uint32(1) + a, Expr.add(1, a))
    assert same(np.int64(1) ^ a, Expr.bitxor(1, a))
    assert same(1 < a, Expr.gt(a, 1))


def test_literals():
    assert same(a + 7, a + Expr.u32(7))
    assert same(a + np.uint8(7), a + Expr.u32(7))
    assert same(a + 4294967295, a + Expr.u32(2**32 - 1))
    assert same(Expr.select(True, 1, 2), Expr.select(Expr.bool(True), 1, 2))
    assert same(Expr.select(np.bool_(False), 1, 2), Expr.select(Expr.bool(False), 1, 2))
    assert same(Expr.vec2(1, 2), Expr.pack(DataType.Vec2U32, [1, 2]))
    assert same(Expr.vec4(1, 2, 3, 4), Expr.pack(DataType.Vec4U32, (1, 2, 3, 4)))


def cast(type_, value):
    return Expr.cast(type_, value)


def test_unary_operators():
    assert same(-a, Expr.unop(UnOp.Negate, a))
    assert same(~a, Expr.unop(UnOp.BitNot, a))
    assert same(-s, cast(DataType.I32, Expr.negate(cast(DataType.U32, s))))


def test_every_operator_is_a_function_of_class_and_module():
    names = [row[1] for table in ("binary", "unary", "atomic") for row in _core._tables[table]]
    assert len(names) >= 48
    for name in names:
        assert callable(getattr(Expr, name)), name
        assert callable(getattr(vyre, name)), name
    assert same(vyre.rotl(a, 3), Expr.binop(BinOp.RotateLeft, a, 3))
    assert same(vyre.popcount(a), Expr.unop(UnOp.Popcount, a))


def test_the_table_has_the_operators_with_three_operands():
    """The numbers are those of their kinds in the binary form."""
    assert [row[:3] for row in _core._tables["ternary"]] == [("Select", "select", 10)]
    for _, text, *_, meaning in _core._tables["ternary"]:
        assert callable(getattr(Expr, text))
        assert f"`{text}(a, b, c)`" in reference()
        assert meaning in reference()


@pytest.mark.parametrize("make", [Expr.u32, lambda value: a + value, lambda value: Expr.load("x", value)])
def test_a_timedelta_is_no_integer(make):
    """Although numpy says that it is one."""
    with pytest.raises(vyre.ArgumentError, match="timedelta64"):
        make(np.timedelta64(3))


@pytest.mark.parametrize("value", [Expr.u32(2**32 - 1), Expr.i32(-7), Expr.u64(2**40), Expr.bool(True)])
def test_a_literal_says_its_type_and_value(value):
    type_, number = value._literal()
    assert same(getattr(Expr, TYPES[type_].text)(number), value)


@pytest.mark.parametrize("value", [Expr.var("x"), Expr.u32(1) + 1, Expr.cast(DataType.I32, 1), vyre.vec2u32(1, 2)])
def test_other_expressions_are_no_literals(value):
    assert value._literal() is None


def test_ids():
    for axis, name in enumerate("xyz"):
        assert same(getattr(Expr, f"gid_{name}")(), Expr.invocation_id(axis))
        assert same(getattr(Expr, f"workgroup_{name}")(), Expr.workgroup_id(axis))
        assert same(getattr(Expr, f"local_{name}")(), Expr.local_id(axis))
    program = Program(entry=[Node.let("x", Expr.invocation_id(3))])
    assert [d.rule for d in vyre.validate(program)] == ["V007"]


NOT = "operator `~` flips the bits of a truth value. Fix: use logical_not for the truth or bitnot for the bits."


@pytest.mark.parametrize(
    "truth",
    [
        *(getattr(Expr, name)(a, b) for name in "eq ne lt gt le ge slt sgt sle sge logical_and logical_or".split()),
        Expr.logical_not(a),
        (a < 1) & (b < 2),
        (a < 1) | ((a == b) ^ Expr.logical_not(b)),
        s < t,
    ],
    ids=repr,
)
def test_the_bits_of_a_truth_value_are_not_flipped_by_the_operator(truth):
    with pytest.raises(vyre.ValidationError) as error:
        text(~truth)
    assert [d.message for d in error.value.diagnostics] == [f"vyre IR validation: {NOT}"]
    assert same(vyre.bitnot(truth), Expr.unop(UnOp.BitNot, truth))
    assert same(Expr.bitnot(truth), Expr.unop(UnOp.BitNot, truth))
    assert same(vyre.logical_not(truth), Expr.unop(UnOp.LogicalNot, truth))


def test_other_values_keep_the_operator():
    for value in (a, (a < 1) + 1, (a < 1) & a, a | b, -(a < b), Expr.select(a < 1, a, b), Expr.load("x", a < b)):
        assert same(~value, Expr.unop(UnOp.BitNot, value))


def test_truth_is_seen_through_long_and_shared_chains():
    chain = a < 0
    for k in range(5000):
        chain = chain & (a < k)
    with pytest.raises(vyre.ValidationError):
        text(~chain)
    doubled = a < b
    for _ in range(200):
        doubled = doubled ^ doubled
    with pytest.raises(vyre.ValidationError):
        text(~doubled)


LITERAL = "must be an Expr, an integer from 0 to 4294967295 or a bool, got"
PASS = "pass an Expr, an integer from 0 to 4294967295 or a bool"


test_exact_message = refusals(
    [
        (
            lambda: Expr.load("x", "i"),
            f"argument `index` of Expr.load {LITERAL} 'i' (str)",
            PASS,
        ),
        (
            lambda: Expr.load(3, 0),
            "argument `buffer` of Expr.load must be a str, got 3 (int)",
            "pass a str",
        ),
        (
            lambda: Expr.u32(-1),
            "argument `value` of Expr.u32 must be an integer from 0 to 4294967295, got -1 (int)",
            "pass an integer from 0 to 4294967295",
        ),
        (
            lambda: Expr.i32(2**31),
            "argument `value` of Expr.i32 must be an integer from -2147483648 to 2147483647, got 2147483648 (int)",
            "pass an integer from -2147483648 to 2147483647",
        ),
        (
            lambda: Expr.u64(2**64),
            "argument `value` of Expr.u64 must be an integer from 0 to 18446744073709551615, got "
            "18446744073709551616 (int)",
            "pass an integer from 0 to 18446744073709551615",
        ),
        (
            lambda: Expr.bool(1),
            "argument `value` of Expr.bool must be True or False, got 1 (int)",
            "pass True or False",
        ),
        (
            lambda: Expr.var("\ud800"),
            "argument `name` of Expr.var must be text that UTF-8 can hold, got '\\ud800' (str)",
            "pass text that UTF-8 can hold",
        ),
        (
            lambda: Expr.call("primitive.bitwise.xor", a),
            "argument `args` of Expr.call must be a list of expressions, got Expr(a) (Expr)",
            "pass a list of expressions",
        ),
        (
            lambda: Expr.binop("+", a, b),
            "argument `op` of Expr.binop must be a vyre.BinOp, got '+' (str)",
            "pass a vyre.BinOp",
        ),
    ],
    vyre.ArgumentError,
)


def test_a_huge_integer_is_described_not_printed():
    with pytest.raises(vyre.ArgumentError, match=r"got an integer of 100001 bits"):
        Expr.u32(2**100_000)


def test_hash_is_by_identity():
    x = Expr.var("x")
    assert hash(x) == hash(x)
    assert {x: 1}[x] == 1
    assert len({x, Expr.var("x")}) == 2


def test_copies_are_the_same_object_and_pickles_equal_ones():
    x = Expr.load("data", a) + 1
    assert copy.copy(x) is x
    assert copy.deepcopy([x])[0] is x
    assert same(pickle.loads(pickle.dumps(x)), x)
    node = Node.if_(x, [Node.store("data", 0, x)], [Node.barrier()])
    assert Program(entry=[pickle.loads(pickle.dumps(node))]) == Program(entry=[node])


def test_handles_cannot_be_changed():
    with pytest.raises(AttributeError):
        a.name = "other"
    with pytest.raises(AttributeError):
        Node.barrier().body = ()


def test_planned_types_say_so():
    for name in ("F32", "F16", "BF16", "U128"):
        with pytest.raises(vyre.ArgumentError, match=f"DataType.{name} is planned and not in this version. Fix: "):
            getattr(DataType, name)
        assert not hasattr(DataType, name)
    with pytest.raises(AttributeError):
        DataType.X32  # noqa: B018


def test_types():
    assert [t.min_bytes() for t in DataType] == [4, 4, 8, 8, 16, 4, 0, 1, 1, 2, 2]
    aliases = [vyre.u32, vyre.i32, vyre.u64, vyre.vec2u32, vyre.vec4u32, vyre.boolean]
    aliases += [vyre.u8, vyre.i8, vyre.u16, vyre.i16]
    assert aliases == [t for t in DataType if t is not DataType.Bytes]
    assert pickle.loads(pickle.dumps(DataType.U32)) is DataType.U32
    assert repr(DataType.Vec2U32) == "DataType.Vec2U32"


test_exact_message_of_statements = refusals(
    [
        (
            lambda: Node.if_(a, Node.barrier()),
            "argument `then` of Node.if_ must be a list of Nodes, got Node(barrier) (Node)",
            "pass a list of Nodes",
        ),
        (
            lambda: Node.block([a]),
            "element 0 of argument `body` of Node.block must be a Node, got Expr(a) (Expr)",
            "pass a Node",
        ),
        (lambda: Node.let(1, a), "argument `name` of Node.let must be a str, got 1 (int)", "pass a str"),
        (
            lambda: Node.let("x", Node.barrier()),
            f"argument `value` of Node.let {LITERAL} Node(barrier) (Node)",
            PASS,
        ),
    ],
    vyre.ArgumentError,
)


@pytest.mark.parametrize("number", [2**32 - 1, 2**32, 2**32 + 5, 2**64 - 1])
def test_a_literal_beside_an_expression_keeps_all_its_digits(number):
    assert repr(Expr.gid_x() + number) == f"Expr(invocation_id(0) + {number})"
    assert repr(number - Expr.gid_x()) == f"Expr({number} - invocation_id(0))"


def test_what_takes_a_u32_refuses_a_larger_number():
    assert repr(Expr.load("a", 2**32 - 1)) == "Expr(a[4294967295])"
    for number in (2**32, 2**32 + 5, 2**64):
        with refused(
            vyre.ArgumentError,
            "argument `index` of Expr.load must be an Expr, an integer from 0 to 4294967295 or a bool, got "
            f"{number} (int)",
            PASS,
        ):
            Expr.load("a", number)
