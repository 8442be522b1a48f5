"""The optimiser's rules, proven for all 32-bit values with an SMT solver, row by row of the table that it reads.

The meaning of operators and casts is smt.py's own, and compared with the core here. A claim that the solver cannot
decide in time counts as false.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

import smt
import vyre
from conftest import SEED
from programs import element_wise, groups
from smt import LANES, Signatures, Typed
from symbolic import Machine
from vyre import BinOp, BufferDecl, DataType, Expr, Node, Program, UnOp, _core
from vyre.conformance import models

TABLES = _core._tables
LAWS = {name: (pattern, result) for name, pattern, result in TABLES["laws"]}
OPERATOR_LAWS = set(TABLES["operator_laws"])
SIGNATURES = Signatures(
    {row[0]: row[3:6] for row in TABLES["binary"]},
    {row[0]: row[2:4] for row in TABLES["unary"]},
    list(TABLES["cast_kinds"]),
)
TYPES = list(LANES)
ELEMENTS = {name: getattr(DataType, name) for name in LANES}
EDGES = [0, 1, 2, 31, 32, 33, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 2, 2**32 - 1]


@dataclass(frozen=True)
class Claim:
    """pattern = result, wherever `when` holds."""

    name: str
    pattern: str
    result: str
    when: str = ""

    @property
    def conditions(self) -> list[str]:
        return [part for part in self.when.split(", ") if part.startswith("c ")]

    @property
    def fixed(self) -> list[str]:
        return [name for part in self.when.split(", ") if part.startswith("fixed ") for name in part.split()[1:]]


def law_claims() -> Iterator[Claim]:
    for law, op in TABLES["operator_laws"]:
        used = op if law != "kTruth" else f"({op} x y)" if op in SIGNATURES.binary else f"({op} x)"
        pattern, result = (side.replace("op", used) for side in LAWS[law])
        yield Claim(f"{law}-{op}", pattern, result)


RULES = [Claim(*row) for row in TABLES["rewrites"]]
CLAIMS = RULES + list(law_claims())
# simplify() applies these laws by itself; the others say how rules are tried, or are not used by it.
APPLIED = RULES + [
    claim for claim in law_claims() if claim.name.split("-")[0] in {"kIdempotent", "kZeroIdentity", "kInvolution"}
]


@dataclass
class Instance:
    """A claim whose variables have types: two typed terms, what is given, and the solver's name of each lane."""

    pattern: Typed
    result: Typed
    given: smt.Term
    names: dict[str, smt.Term]


def instances(claim: Claim) -> Iterator[Instance]:
    """Every way to give a claim types. A result has the type of its pattern."""
    pattern, result = smt.read(claim.pattern), smt.read(claim.result)
    letters = smt.letters(pattern)
    scalars = [name for name in TYPES if LANES[name] == 1]
    for types in itertools.product(*(scalars if letter in "ct" else TYPES for letter in letters)):
        variables = {
            letter: Typed(type_, tuple(smt.free(f"{letter}{k}") for k in range(LANES[type_])), (letter, type_))
            for letter, type_ in zip(letters, types, strict=True)
        }
        given = [
            smt.at_most_one(variable.value[0])
            for letter, variable in variables.items()
            if letter == "t" or variable.type == "Bool"
        ]
        if "c" in variables:
            given += [smt.condition_on(variables["c"].value[0], text) for text in claim.conditions]
        names = {f"{letter}{k}": lane for letter, v in variables.items() for k, lane in enumerate(v.value)}
        for left in smt.readings(pattern, variables, SIGNATURES):
            for right in smt.readings(result, variables, SIGNATURES):
                if left.type == right.type:
                    yield Instance(left, right, smt.both(*given), names)


def prove(instance: Instance) -> smt.Proof:
    return smt.prove_equal(instance.pattern.value, instance.result.value, instance.given, instance.names)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_rule_holds_for_all_values(claim):
    found = list(instances(claim))
    assert found, f"{claim} has no well-typed reading"
    for instance in found:
        assert smt.check(instance.given).refuted is True, f"the condition of {claim} is never met"
        proof = prove(instance)
        assert proof.holds, f"{claim} as {instance.pattern.shape}: {proof}"


def test_every_row_and_every_law_of_an_operator_is_claimed():
    assert (
        len({claim.name for claim in CLAIMS}) == len(CLAIMS) == len(TABLES["rewrites"]) + len(TABLES["operator_laws"])
    )
    assert {law for law, _ in OPERATOR_LAWS} == set(LAWS)
    operators = set(SIGNATURES.binary) | set(SIGNATURES.unary)
    assert operators == {op.name for op in [*BinOp, *UnOp]} == set(smt.BINARY) | set(smt.UNARY)
    for claim in RULES:
        assert all(part.startswith(("c ", "fixed ")) for part in claim.when.split(", ") if part), claim


WRONG = [
    Claim("quotient_of_itself", "(Div x x)", "1"),
    Claim("remainder_of_itself", "(Mod x x)", "1"),
    Claim("shift_by_32", "(Shl x 32)", "0"),
    Claim("shift_right_by_32", "(Shr x 32)", "0"),
    Claim("remainder_by_two", "(Mod x c)", "0", "c <= 2"),
    Claim("mask_of_five_bits", "(Shl x c)", "x", "c & 15 == 0"),
    Claim("sub_commutes", "(Sub x y)", "(Sub y x)"),
    Claim("sdiv_by_minus_one", "(SDiv x 0xFFFFFFFF)", "x"),
    Claim("srem_of_sign", "(SMod x 2)", "0"),
    Claim("logical_and_one", "(And x 1)", "x"),
    Claim("logical_or_zero", "(Or x 0)", "x"),
    Claim("double_logical_not", "(LogicalNot (LogicalNot x))", "x"),
    Claim("masked_truth", "(BitAnd t c)", "t", "c != 0"),
    Claim("shift_back", "(Shr (Shl x y) y)", "x"),
    Claim("divide_back", "(Div (Mul x y) y)", "x"),
    Claim("signed_order", "(SLt x 0)", "0"),
    Claim("unsigned_is_signed_min", "(SMin x 0xFFFFFFFF)", "x"),
    Claim("truth_of_any", "(Identity (AnyNonZero x))", "x"),
    Claim("one_of_two_lanes", "(ZeroExtend (LowLanes x))", "x"),
    Claim("sign_of_extended", "(ZeroExtend (LowLanes (SignExtend x)))", "(SignExtend x)"),
    Claim("lanes_swapped", "(Pack (Lane x 1) (Lane x 0))", "x"),
    Claim("popcount_of_not", "(Popcount (BitNot x))", "(Popcount x)"),
    Claim("zeros_of_reversed", "(Clz (ReverseBits x))", "(Clz x)"),
    Claim("mulhi_associates", "(MulHigh (MulHigh x y) z)", "(MulHigh x (MulHigh y z))"),
]


@pytest.mark.parametrize("claim", WRONG, ids=lambda claim: claim.name)
def test_wrong_rule_is_refuted_and_the_core_agrees(claim):
    """With values for which the core, too, gives two different results."""
    refuted = 0
    for instance in instances(claim):
        proof = prove(instance)
        assert not proof.result == smt.Result.UNKNOWN
        if proof.holds:
            continue
        refuted += 1
        values = Literals(proof.counterexample)
        left, right = (run_constant(values.expr(side.shape), side.type) for side in (instance.pattern, instance.result))
        assert left != right, proof
    assert refuted


# Terms as expressions of vyre.


class Literals:
    """Builds a typed term with given values in the place of its variables."""

    def __init__(self, values: dict[str, int]):
        self.values = values
        self.made: dict[smt.Shape, Expr] = {}

    def expr(self, shape: smt.Shape) -> Expr:
        """One expression a shape: a repeated letter is the same expression."""
        if shape not in self.made:
            self.made[shape] = self.make(shape)
        return self.made[shape]

    def variable(self, letter: str, type_: str) -> Expr:
        lanes = [self.values[f"{letter}{k}"] for k in range(LANES[type_])]
        return literal(type_, lanes)

    def make(self, shape: smt.Shape) -> Expr:
        head, type_, *rest = shape
        if isinstance(head, int):
            return literal(type_, [head])
        if not rest:
            return self.variable(head, type_)
        if head == "Lane":
            return Expr.lane(self.expr(rest[0]), rest[1])
        operands = [self.expr(operand) for operand in rest]
        if head in SIGNATURES.binary:
            return Expr.binop(BinOp[head], *operands)
        if head in SIGNATURES.unary:
            return Expr.unop(UnOp[head], *operands)
        if head == "Select":
            return Expr.select(*operands)
        if head == "Pack":
            return Expr.pack(ELEMENTS[type_], operands)
        return Expr.cast(ELEMENTS[type_], operands[0])


def literal(type_: str, lanes: list[int]) -> Expr:
    if type_ == "U32":
        return Expr.u32(lanes[0])
    if type_ == "I32":
        return Expr.i32(lanes[0] - 2**32 if lanes[0] >= 2**31 else lanes[0])
    if type_ == "Bool":
        return Expr.bool(bool(lanes[0]))
    return Expr.pack(ELEMENTS[type_], [Expr.u32(lane) for lane in lanes])


def run_constant(value: Expr, type_: str) -> list[int]:
    program = Program([BufferDecl.output("out", 0, ELEMENTS[type_], count=1)], (1, 1, 1), [Node.store("out", 0, value)])
    return words(vyre.run(program, {}, 1, backend="reference")["out"])


def words(array: np.ndarray) -> list[int]:
    return (array.astype(np.uint32) if array.dtype == bool else array).view(np.uint32).ravel().tolist()


class Buffers(Literals):
    """Builds a typed term with a load from a buffer of its own for each variable, and an atomic for one of them."""

    def __init__(self, values: dict[str, int], atomic: str = ""):
        super().__init__(values)
        self.atomic = atomic
        self.decls: dict[str, BufferDecl] = {}

    def variable(self, letter: str, type_: str) -> Expr:
        if letter == "c":
            return super().variable(letter, type_)
        if letter == self.atomic:
            fired = Expr.atomic_add("count", 0, 1)
            if letter == "t":
                fired = Expr.lt(fired, 7)
            return fired if type_ == "U32" else Expr.cast(ELEMENTS[type_], fired)
        name = f"{letter}_{type_}"
        # A truth that is no Bool is a comparison, or a Bool cast.
        element = "Bool" if letter == "t" and type_ == "I32" else type_
        self.decls.setdefault(name, BufferDecl.read(name, len(self.decls), ELEMENTS[element]))
        loaded = Expr.load(name, 0)
        if letter == "t" and type_ == "U32":
            return Expr.lt(loaded, 7)
        return loaded if element == type_ else Expr.cast(ELEMENTS[type_], loaded)

    def program(self, shape: smt.Shape, type_: str) -> Program:
        value = self.expr(shape)
        decls = [
            *self.decls.values(),
            BufferDecl.read_write("count", 90, vyre.u32),
            BufferDecl.output("out", 91, ELEMENTS[type_]),
        ]
        return Program(decls, (1, 1, 1), [Node.store("out", 0, value)])


def turned(shape: smt.Shape) -> Iterator[smt.Shape]:
    """A term in every order of the operands of operators that commute."""
    head, type_, *rest = shape
    if not rest or isinstance(head, int) or head == "Lane":
        # The operand of a Lane is a Pack or a Cast.
        yield shape
        return
    for operands in itertools.product(*(list(turned(operand)) for operand in rest)):
        yield (head, type_, *operands)
        if ("kCommutative", head) in OPERATOR_LAWS:
            yield (head, type_, *reversed(operands))


def cases(claim: Claim) -> Iterator[tuple[Instance, dict[str, int]]]:
    """Every instance, with a value for the literal that its condition allows."""
    for instance in instances(claim):
        yield instance, smt.check(instance.given, instance.names).counterexample


@pytest.mark.parametrize("claim", APPLIED, ids=lambda claim: claim.name)
def test_the_optimiser_applies_the_rule(claim):
    for instance, values in cases(claim):
        for shape in turned(instance.pattern.shape):
            given, wanted = Buffers(values), Buffers(values)
            before = given.program(shape, instance.pattern.type)
            wanted.decls = given.decls  # what is dropped stays declared
            # Equal subterms are in the same order.
            kept = next(
                (s for s in subterms(shape) if canonical(s) == canonical(instance.result.shape)), instance.result.shape
            )
            expected = wanted.program(kept, instance.result.type)
            after = _core._optimize(before, ["simplify"])
            assert after.to_text() == expected.to_text(), before.to_text()


def subterms(shape: smt.Shape) -> Iterator[smt.Shape]:
    yield shape
    for part in shape[2:]:
        if isinstance(part, tuple):
            yield from subterms(part)


def canonical(shape: smt.Shape) -> smt.Shape:
    """A form that is the same for all orders of a term."""
    return min(turned(shape), key=repr)


DROPPING = [claim for claim in APPLIED if claim.fixed]


@pytest.mark.parametrize("claim", DROPPING, ids=lambda claim: claim.name)
def test_what_a_rule_drops_has_no_effect(claim):
    """An atomic in the place of a variable that must be fixed still fires."""
    fired = 0
    for instance, values in cases(claim):
        letters = {part[0]: part[1] for part in subterms(instance.pattern.shape) if len(part) == 2}
        for dropped in claim.fixed:
            if LANES[letters[dropped]] > 1:
                continue
            program = Buffers(values, atomic=dropped).program(instance.pattern.shape, instance.pattern.type)
            assert "atomic_add" in _core._optimize(program).to_text(), program.to_text()
            fired += 1
    assert fired


# The model agrees with the core.


def pairs_of_words(rng: np.random.Generator, count: int) -> list[tuple[int, int]]:
    # Random widths, because uniform numbers are nearly all large.
    drawn = [int(rng.integers(2**32)) >> int(rng.integers(32)) for _ in range(2 * count)]
    return list(itertools.product(EDGES, EDGES)) + list(zip(drawn[::2], drawn[1::2], strict=True))


def assert_model(claims: list[tuple[smt.Value, list[int]]]) -> None:
    """Assert that each value, a term of constants, is these words, with one question to the solver."""
    differ = [
        smt.term(smt.Kind.DISTINCT, lane, smt.word(wanted))
        for value, lanes in claims
        for lane, wanted in zip(value, lanes, strict=True)
    ]
    if smt.check(smt.some(*differ)).holds:
        return
    for k, condition in enumerate(differ):
        assert smt.check(condition).holds, (
            f"case {k}: the core says {[lanes for _, lanes in claims][k // len(claims[0][1])]}"
        )


# Operators whose Python models shift, multiply, divide or spell numbers, which terms of a model do not.
OTHERWISE = {"Mul", "Div", "Mod", "Shl", "Shr", "SShr", "RotateLeft", "RotateRight", "MulHigh", "SDiv", "SMod"}
OTHERWISE |= {"Popcount", "Clz", "Ctz", "ReverseBits"}


@pytest.mark.parametrize("op", [op for op in [*models.BINARY, *models.UNARY] if op.name not in OTHERWISE], ids=repr)
def test_terms_of_a_python_model_are_those_written_for_the_operator(op):
    """For all values: so an operator without terms of its own may take them from its model."""
    is_binary = isinstance(op, BinOp)
    operands = [smt.free(name) for name in ("x", "y")[: 2 if is_binary else 1]]
    value, written = (models.BINARY[op], smt.BINARY) if is_binary else (models.UNARY[op], smt.UNARY)
    proof = smt.prove_equal((smt.of_model(value, *operands),), (written[op.name](*operands),), smt.both(), {})
    assert proof.holds, proof


NUMPY = {"U32": np.uint32, "I32": np.int32}


@pytest.mark.parametrize("op", SIGNATURES.binary)
def test_model_of_operator_is_the_core_s(op, rng):
    left_type, right_type, result_type = SIGNATURES.binary[op]
    pairs = pairs_of_words(rng, 100)
    left, right = (np.array(side, np.uint32) for side in zip(*pairs, strict=True))
    program = element_wise(
        [ELEMENTS[left_type], ELEMENTS[right_type]], ELEMENTS[result_type], lambda a, b: Expr.binop(BinOp[op], a, b)
    )
    inputs = {"in0": left.view(NUMPY[left_type]), "in1": right.view(NUMPY[right_type]), "out": len(pairs)}
    out = words(vyre.run(program, inputs, groups(len(pairs)), backend="reference")["out"])
    assert_model([((smt.BINARY[op](smt.word(a), smt.word(b)),), [got]) for (a, b), got in zip(pairs, out, strict=True)])


@pytest.mark.parametrize("op", SIGNATURES.unary)
def test_model_of_unary_operator_is_the_core_s(op, rng):
    given = [a for a, _ in pairs_of_words(rng, 100)] + [1 << k for k in range(32)]
    program = element_wise([vyre.u32], vyre.u32, lambda a: Expr.unop(UnOp[op], a))
    inputs = {"in0": np.array(given, np.uint32), "out": len(given)}
    out = words(vyre.run(program, inputs, groups(len(given)), backend="reference")["out"])
    assert_model([((smt.UNARY[op](smt.word(a)),), [got]) for a, got in zip(given, out, strict=True)])


@pytest.mark.parametrize(("source", "target"), [row for row in TABLES["casts"] if "Bytes" not in row])
def test_model_of_cast_is_the_core_s(source, target, rng):
    count = 64
    lanes = rng.choice(np.array(EDGES, np.uint32), (count, LANES[source]))
    if source == "Bool":
        lanes &= 1
    given = lanes.view({"I32": np.int32, "U64": np.uint64}.get(source, np.uint32))
    program = element_wise([ELEMENTS[source]], ELEMENTS[target], lambda a: Expr.cast(ELEMENTS[target], a))
    array = np.ascontiguousarray(given if source.startswith("Vec") else given.reshape(count))
    shape = (count, LANES[target]) if target.startswith("Vec") else (count,)
    dtype = {"I32": np.int32, "U64": np.uint64, "Bool": np.uint32}.get(target, np.uint32)
    inputs = {"in0": array, "out": np.zeros(shape, dtype)}
    out = np.array(words(vyre.run(program, inputs, groups(count), backend="reference")["out"])).reshape(count, -1)
    assert_model(
        [
            (smt.cast(source, target, tuple(smt.word(int(lane)) for lane in row)), got.tolist())
            for row, got in zip(lanes, out, strict=True)
        ]
    )


@pytest.mark.parametrize("op", [*SIGNATURES.binary, *SIGNATURES.unary])
def test_folding_agrees_with_the_model(op):
    """Literals are folded without running anything."""
    if op in SIGNATURES.binary:
        types = SIGNATURES.binary[op]
        operands = list(itertools.product(EDGES, EDGES))
        model = smt.BINARY[op]
    else:
        types = SIGNATURES.unary[op]
        operands = [(a,) for a in EDGES]
        model = smt.UNARY[op]
    entry = []
    for k, values in enumerate(operands):
        terms = [literal(type_, [value]) for type_, value in zip(types[:-1], values, strict=True)]
        made = Expr.binop(BinOp[op], *terms) if len(terms) == 2 else Expr.unop(UnOp[op], *terms)
        entry.append(Node.store("out", k, made))
    program = Program([BufferDecl.output("out", 0, ELEMENTS[types[-1]])], (1, 1, 1), entry)
    lines = _core._optimize(program, ["fold_constants"]).to_text().splitlines()
    folded = [line.split(" = ")[1] for line in lines if line.startswith("out[")]
    found = [int(text.removesuffix("i32")) % 2**32 for text in folded]
    assert len(found) == len(operands)
    assert_model([((model(*map(smt.word, given)),), [got]) for given, got in zip(operands, found, strict=True)])


# Whole programs: optimised and not, they store the same for all inputs.

COSTLY = {"Mul", "Div", "Mod", "SDiv", "SMod", "MulHigh"}  # for the solver, with variables on both sides


class Straight:
    """A random straight-line program over every type, with the literals that rules look for."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.pool: dict[str, list[Expr]] = {name: [] for name in TYPES}

    def literal(self, type_: str) -> Expr:
        lanes = [self.random.choice([0, 0, 1, 1, 2, 31, 32, 64, 2**31, 2**32 - 1]) for _ in range(LANES[type_])]
        return literal(type_, [lane & 1 for lane in lanes] if type_ == "Bool" else lanes)

    def pick(self, type_: str) -> Expr:
        roll = self.random.random()
        if roll < 0.25 or not self.pool[type_]:
            return self.literal(type_)
        return self.random.choice(self.pool[type_][-4:] if roll < 0.8 else self.pool[type_])

    def value(self, type_: str) -> Expr:
        choices = [("binary", op) for op, row in SIGNATURES.binary.items() if row[2] == type_]
        choices += [("unary", op) for op, row in SIGNATURES.unary.items() if row[1] == type_]
        choices += [("cast", source) for source, target, _ in SIGNATURES.casts if target == type_ and source in LANES]
        choices += [("select", "U32"), ("select", "Bool")]
        choices += [("pack", type_)] * 3 if LANES[type_] > 1 else []
        choices += [("lane", whole) for whole in LANES if LANES[whole] > 1] if type_ == "U32" else []
        kind, what = self.random.choice(choices)
        if kind == "binary":
            left, right, _ = SIGNATURES.binary[what]
            a = self.pick(left)
            same = left == right and self.random.random() < 0.15
            b = a if same else self.literal(right) if what in COSTLY else self.pick(right)
            return Expr.binop(BinOp[what], a, b)
        if kind == "unary":
            return Expr.unop(UnOp[what], self.pick(SIGNATURES.unary[what][0]))
        if kind == "cast":
            return Expr.cast(ELEMENTS[type_], self.pick(what))
        if kind == "pack":
            return Expr.pack(ELEMENTS[type_], [self.pick("U32") for _ in range(LANES[type_])])
        if kind == "lane":
            return Expr.lane(self.pick(what), self.random.randrange(LANES[what]))
        return Expr.select(self.pick(what), self.pick(type_), self.pick(type_))

    def program(self) -> Program:
        decls, entry = [], []
        for k, name in enumerate(TYPES):
            decls += [
                BufferDecl.read(f"in{k}", 2 * k, ELEMENTS[name], count=2),
                BufferDecl.read_write(f"out{k}", 2 * k + 1, ELEMENTS[name], count=3),
            ]
            self.pool[name] += [Expr.load(f"in{k}", 0), Expr.load(f"in{k}", 1)]
        self.pool["U32"] += [Expr.gid_x(), Expr.load("in0", Expr.gid_x())]
        for k in range(40):
            type_ = self.random.choice(TYPES + ["U32"] * 5)
            made = self.value(type_)
            if self.random.random() < 0.3:
                entry.append(Node.let(f"v{k}", made))
                made = Expr.var(f"v{k}")
            self.pool[type_].append(made)
        for k, name in enumerate(TYPES):
            entry += [Node.store(f"out{k}", at, self.pick(name)) for at in range(3)]
        return Program(decls, (1, 1, 1), entry)


@pytest.mark.parametrize("number", range(40))
def test_optimised_program_stores_the_same(number):
    program = Straight(SEED + number).program()
    optimised = _core._optimize(program)
    inputs: dict = {}
    before, after = Machine(inputs), Machine(inputs)
    before.run(program.to_text())
    after.run(optimised.to_text())
    assert list(before.stores) == list(after.stores)
    left, right = ([lane for _, value in machine.stores.values() for lane in value] for machine in (before, after))
    proof = smt.prove_equal(tuple(left), tuple(right), before.given())
    assert proof.holds, f"{proof}\n{program.to_text()}\n{optimised.to_text()}"


def test_a_planted_change_of_a_program_is_refuted():
    program = Straight(1).program()
    text = program.to_text()
    at = text.rindex("out0[2] = ")
    end = text.index("\n", at)
    changed = text[:at] + "out0[2] = bitnot(" + text[at + len("out0[2] = ") : end] + ")" + text[end:]
    inputs: dict = {}
    before, after = Machine(inputs), Machine(inputs)
    before.run(text)
    after.run(changed)
    assert smt.prove_equal(before.stores["out0", 2][1], after.stores["out0", 2][1], before.given()).refuted
