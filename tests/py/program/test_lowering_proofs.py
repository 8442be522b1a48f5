"""What operators lower to, proven for all values with an SMT solver: the WGSL of a program that stores them.

Expansions and short forms are chosen for every target in one place, and WGSL is the text that shows them best. The
meaning of operators is smt.py's, that of WGSL wgsl_terms.py's own.
"""

from __future__ import annotations

import pytest
from bitwuzla import Kind

import smt
import vyre
from vyre import BinOp, BufferDecl, DataType, Expr, Node, Program, UnOp, _core
from wgsl_terms import Machine

BINARY = {row[0]: row[3:6] for row in _core._tables["binary"]}
UNARY = {row[0]: row[2:4] for row in _core._tables["unary"]}
POWERS = [1 << k for k in range(32)]
FEW = [0, 1, 2, 31, 32, 33, 2**31, 2**32 - 1]
# Operators that have short forms by literals, with the literals that matter to them.
LITERALS = {
    "Mul": [0, 3, 10, *POWERS],
    "Div": [0, 3, 10, *POWERS],
    "Mod": [0, 3, 10, *POWERS],
    "MulHigh": POWERS,
    "SDiv": [0, 1, 2, 2**32 - 1],
    "SMod": [0, 1, 2, 2**32 - 1],
}
X, Y = smt.free("x"), smt.free("y")
ELEMENTS = {(0, 0): X, (1, 0): Y}
x, y = Expr.load("a", 0), Expr.load("b", 0)
OPTIMIZE = [True, False, ["proofs"]]


def stored(values: list[Expr], optimize: object, out: DataType = DataType.U32) -> list[smt.Term]:
    """The words that a program stores, one for each value."""
    decls = [
        BufferDecl.read("a", 0, DataType.U32, count=1),
        BufferDecl.read("b", 1, DataType.U32, count=1),
        BufferDecl.output("out", 2, out, count=len(values)),
    ]
    # The inputs are bound first, so that both are read whatever the values are.
    entry = [Node.let("x", x), Node.let("y", y), *(Node.store("out", k, value) for k, value in enumerate(values))]
    text = vyre.lower(Program(decls, (1, 1, 1), entry), target="wgsl", optimize=optimize)
    found = Machine([1, 1, len(values)], ELEMENTS).run(text)
    return [found[2, k] for k in range(len(values))]


def as_type(value: Expr, type_: str) -> Expr:
    return value if type_ == "U32" else Expr.cast(getattr(DataType, type_), value)


def binary(op: str, left: Expr, right: Expr) -> Expr:
    a, b, result = BINARY[op]
    return as_type_u32(Expr.binop(BinOp[op], as_type(left, a), as_type(right, b)), result)


def as_type_u32(value: Expr, type_: str) -> Expr:
    return value if type_ == "U32" else Expr.cast(DataType.U32, value)


def assert_proven(made: list[smt.Term], wanted: list[smt.Term], of: list[object]) -> None:
    for found, meant, what in zip(made, wanted, of, strict=True):
        proof = smt.prove_equal((found,), (meant,), smt.both(), {"x": X, "y": Y})
        assert proof.holds, f"{what}: {proof}"


# Remainders and signed quotients of two variables, and high halves of products, are beyond the solver. Conformance
# compares them by values.
VARIABLE = [op for op in BINARY if op not in {"MulHigh", "Mod", "SDiv", "SMod"}]


@pytest.mark.parametrize("op", VARIABLE)
def test_operator_of_variables_lowers_to_its_meaning(op):
    for optimize in OPTIMIZE:
        assert_proven(stored([binary(op, x, y)], optimize), [smt.BINARY[op](X, Y)], [op])


@pytest.mark.parametrize("op", UNARY)
def test_unary_operator_lowers_to_its_meaning(op):
    a, result = UNARY[op]
    value = as_type_u32(Expr.unop(UnOp[op], as_type(x, a)), result)
    for optimize in OPTIMIZE:
        assert_proven(stored([value], optimize), [smt.UNARY[op](X)], [op])


@pytest.mark.parametrize("op", BINARY)
def test_operator_with_a_literal_lowers_to_its_meaning(op):
    """A product by a power of two is a shift, a remainder by it a mask."""
    literals = LITERALS.get(op, FEW)
    for optimize in OPTIMIZE:
        right = stored([binary(op, x, Expr.u32(c)) for c in literals], optimize)
        assert_proven(right, [smt.BINARY[op](X, smt.word(c)) for c in literals], [f"{op} x {c}" for c in literals])


@pytest.mark.parametrize("op", ["Mul", "MulHigh"])
def test_product_lowers_to_its_meaning_whichever_side_the_literal_is_on(op):
    for optimize in OPTIMIZE:
        left = stored([binary(op, Expr.u32(c), x) for c in POWERS], optimize)
        assert_proven(left, [smt.BINARY[op](smt.word(c), X) for c in POWERS], [f"{op} {c} x" for c in POWERS])


# 64 bits: the low word is element 0 of `a`, the high word that of `b`.


WIDE_POWERS = [1 << k for k in range(64)]
WIDE = {"mul": Kind.BV_MUL, "div": Kind.BV_UDIV, "mod": Kind.BV_UREM}


@pytest.mark.parametrize("op", WIDE)
@pytest.mark.parametrize("optimize", [True, ["passes"]], ids=repr)
def test_64_bit_operation_with_a_power_of_two_lowers_to_its_meaning(op, optimize):
    dividend = Expr.pack(DataType.U64, [x, y])
    values = [Expr.call(f"primitive.u64.{op}", [dividend, Expr.u64(power)]) for power in WIDE_POWERS]
    made = stored([Expr.lane(value, half) for value in values for half in (0, 1)], optimize)
    whole = smt.term(Kind.BV_CONCAT, Y, X)
    sort = smt.tm.mk_bv_sort(64)
    for power, low, high in zip(WIDE_POWERS, made[::2], made[1::2], strict=True):
        meant = smt.term(WIDE[op], whole, smt.tm.mk_bv_value(sort, power))
        assert_proven([low, high], [smt.bits(meant, 31, 0), smt.bits(meant, 63, 32)], [(op, power)] * 2)


def test_a_wrong_lowering_is_refuted():
    """The proofs above can fail: the text of a quotient, with one shift more."""
    text = vyre.lower(
        Program(
            [BufferDecl.read("a", 0, DataType.U32, count=1), BufferDecl.output("out", 1, DataType.U32, count=1)],
            (1, 1, 1),
            [Node.store("out", 0, x * 8)],
        ),
        target="wgsl",
    )
    right = Machine([1, 1], ELEMENTS).run(text)[1, 0]
    assert smt.prove_equal((right,), (smt.BINARY["Mul"](X, smt.word(8)),), smt.both()).holds
    wrong = Machine([1, 1], ELEMENTS).run(text.replace("= 3u;", "= 4u;"))[1, 0]
    assert smt.prove_equal((wrong,), (smt.BINARY["Mul"](X, smt.word(8)),), smt.both()).refuted
