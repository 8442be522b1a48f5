"""The meaning of vyre's operators and casts, as bit-vector terms for an SMT solver.

Written from the documents (docs/semantics.md, Operators), with nothing of the code under test: test_proofs.py proves
the optimiser's rules with it, and compares it with the core on values, so that neither can drift. An operator without
terms here gets them from Python's model of it (`of_model`), if that model adds, subtracts, compares and masks.

A value is a tuple of 32-bit terms, one for each lane of its type.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from bitwuzla import Bitwuzla, Kind, Option, Options, Result, Term, TermManager

from vyre.conformance import models

Value = tuple[Term, ...]

LANES = {"U32": 1, "I32": 1, "U64": 2, "Vec2U32": 2, "Vec4U32": 4, "Bool": 1}
SECONDS = 20

tm = TermManager()
WORD = tm.mk_bv_sort(32)


def word(value: int) -> Term:
    return tm.mk_bv_value(WORD, value % 2**32)


ZERO, ONE, ONES, WIDTH = word(0), word(1), word(-1), word(32)


def term(kind: Kind, *operands: Term, indices: tuple[int, ...] = ()) -> Term:
    return tm.mk_term(kind, list(operands), list(indices))


def free(name: str) -> Term:
    return tm.mk_const(WORD, name)


def choose(condition: Term, yes: Term, no: Term) -> Term:
    return term(Kind.ITE, condition, yes, no)


def flag(condition: Term) -> Term:
    return choose(condition, ONE, ZERO)


def equal(a: Term, b: Term) -> Term:
    return term(Kind.EQUAL, a, b)


def is_true(a: Term) -> Term:
    return term(Kind.DISTINCT, a, ZERO)


def both(*conditions: Term) -> Term:
    result = tm.mk_true()
    for condition in conditions:
        result = term(Kind.AND, result, condition)
    return result


def some(*conditions: Term) -> Term:
    return term(Kind.NOT, both(*(term(Kind.NOT, condition) for condition in conditions)))


def less(a: Term, b: Term) -> Term:
    return term(Kind.BV_ULT, a, b)


def signed_less(a: Term, b: Term) -> Term:
    return term(Kind.BV_SLT, a, b)


def at_most_one(a: Term) -> Term:
    return term(Kind.NOT, less(ONE, a))


def bits(a: Term, high: int, low: int) -> Term:
    return term(Kind.BV_EXTRACT, a, indices=(high, low))


def amount(b: Term) -> Term:
    return term(Kind.BV_AND, b, word(31))


def shift_left(a: Term, n: Term) -> Term:
    return term(Kind.BV_SHL, a, n)


def shift_right(a: Term, n: Term) -> Term:
    return term(Kind.BV_SHR, a, n)


def rotate_left(a: Term, n: Term) -> Term:
    # By 0, the other half is shifted out: a shift by 32 gives 0 here.
    return term(Kind.BV_OR, shift_left(a, n), shift_right(a, term(Kind.BV_SUB, WIDTH, n)))


def unless_zero(b: Term, value: Term) -> Term:
    return choose(equal(b, ZERO), ZERO, value)


def high_product(a: Term, b: Term) -> Term:
    wide = [term(Kind.BV_ZERO_EXTEND, side, indices=(32,)) for side in (a, b)]
    return bits(term(Kind.BV_MUL, *wide), 63, 32)


# x / -1 of the smallest number wraps, and its remainder is 0, as in the solver's own theory.
BINARY: dict[str, Callable[[Term, Term], Term]] = {
    "Add": lambda a, b: term(Kind.BV_ADD, a, b),
    "Sub": lambda a, b: term(Kind.BV_SUB, a, b),
    "Mul": lambda a, b: term(Kind.BV_MUL, a, b),
    "Div": lambda a, b: unless_zero(b, term(Kind.BV_UDIV, a, b)),
    "Mod": lambda a, b: unless_zero(b, term(Kind.BV_UREM, a, b)),
    "BitAnd": lambda a, b: term(Kind.BV_AND, a, b),
    "BitOr": lambda a, b: term(Kind.BV_OR, a, b),
    "BitXor": lambda a, b: term(Kind.BV_XOR, a, b),
    "Shl": lambda a, b: shift_left(a, amount(b)),
    "Shr": lambda a, b: shift_right(a, amount(b)),
    "RotateLeft": lambda a, b: rotate_left(a, amount(b)),
    "RotateRight": lambda a, b: rotate_left(a, amount(term(Kind.BV_SUB, WIDTH, amount(b)))),
    "MulHigh": high_product,
    "AbsDiff": lambda a, b: choose(less(a, b), term(Kind.BV_SUB, b, a), term(Kind.BV_SUB, a, b)),
    "Min": lambda a, b: choose(less(a, b), a, b),
    "Max": lambda a, b: choose(less(a, b), b, a),
    "Eq": lambda a, b: flag(equal(a, b)),
    "Ne": lambda a, b: flag(term(Kind.DISTINCT, a, b)),
    "Lt": lambda a, b: flag(less(a, b)),
    "Gt": lambda a, b: flag(less(b, a)),
    "Le": lambda a, b: flag(term(Kind.NOT, less(b, a))),
    "Ge": lambda a, b: flag(term(Kind.NOT, less(a, b))),
    "And": lambda a, b: flag(both(is_true(a), is_true(b))),
    "Or": lambda a, b: flag(some(is_true(a), is_true(b))),
    "SDiv": lambda a, b: unless_zero(b, term(Kind.BV_SDIV, a, b)),
    "SMod": lambda a, b: unless_zero(b, term(Kind.BV_SREM, a, b)),
    "SLt": lambda a, b: flag(signed_less(a, b)),
    "SGt": lambda a, b: flag(signed_less(b, a)),
    "SLe": lambda a, b: flag(term(Kind.NOT, signed_less(b, a))),
    "SGe": lambda a, b: flag(term(Kind.NOT, signed_less(a, b))),
    "SMin": lambda a, b: choose(signed_less(a, b), a, b),
    "SMax": lambda a, b: choose(signed_less(a, b), b, a),
    "SShr": lambda a, b: term(Kind.BV_ASHR, a, amount(b)),
}


def count_ones(a: Term) -> Term:
    total = ZERO
    for k in range(32):
        total = term(Kind.BV_ADD, total, term(Kind.BV_ZERO_EXTEND, bits(a, k, k), indices=(31,)))
    return total


def first_one(a: Term, places: Iterator[int]) -> Term:
    """The number of zeros before the first one bit, taken in this order."""
    result = WIDTH
    one = tm.mk_bv_value(tm.mk_bv_sort(1), 1)
    for count, k in reversed(list(enumerate(places))):
        result = choose(equal(bits(a, k, k), one), word(count), result)
    return result


def reversed_bits(a: Term) -> Term:
    result = bits(a, 0, 0)
    for k in range(1, 32):
        result = term(Kind.BV_CONCAT, result, bits(a, k, k))
    return result


UNARY: dict[str, Callable[[Term], Term]] = {
    "Negate": lambda a: term(Kind.BV_SUB, ZERO, a),
    "BitNot": lambda a: term(Kind.BV_NOT, a),
    "LogicalNot": lambda a: flag(equal(a, ZERO)),
    "Popcount": count_ones,
    "Clz": lambda a: first_one(a, iter(range(31, -1, -1))),
    "Ctz": lambda a: first_one(a, iter(range(32))),
    "ReverseBits": reversed_bits,
}


# --- terms of a Python model ---

WIDE = tm.mk_bv_sort(72)


class _Fork(BaseException):
    """A model asked for the truth of a condition that was not decided yet."""


def _operator(kind: Kind, *, swapped: bool = False, truth: bool = False) -> Callable[[Number, Number | int], Number]:
    """A method of Number for an operator; a truth is the number 1 or 0."""

    def made(self: Number, other: Number | int) -> Number:
        right = other.value if isinstance(other, Number) else tm.mk_bv_value(WIDE, other % 2**72)
        value = term(kind, *((right, self.value) if swapped else (self.value, right)))
        return self._made(choose(value, tm.mk_bv_value(WIDE, 1), tm.mk_bv_value(WIDE, 0)) if truth else value)

    return made


class Number:
    """An unbounded integer of a Python model, as a signed term that is wide enough not to wrap.

    A comparison is a number too: 1 or 0. Its truth is taken from `path`, the decisions that this run of the model is
    for, and noted in `asked`.
    """

    def __init__(self, value: Term, path: tuple[bool, ...], asked: list[Term]) -> None:
        self.value, self.path, self.asked = value, path, asked

    def _made(self, value: Term) -> Number:
        return Number(value, self.path, self.asked)

    def __bool__(self) -> bool:
        self.asked.append(term(Kind.DISTINCT, self.value, tm.mk_bv_value(WIDE, 0)))
        if len(self.asked) > len(self.path):
            raise _Fork
        return self.path[len(self.asked) - 1]

    __add__ = __radd__ = _operator(Kind.BV_ADD)
    __and__ = __rand__ = _operator(Kind.BV_AND)
    __or__ = __ror__ = _operator(Kind.BV_OR)
    __xor__ = __rxor__ = _operator(Kind.BV_XOR)
    __sub__, __rsub__ = _operator(Kind.BV_SUB), _operator(Kind.BV_SUB, swapped=True)
    __lt__, __gt__ = _operator(Kind.BV_SLT, truth=True), _operator(Kind.BV_SLT, swapped=True, truth=True)
    __le__, __ge__ = _operator(Kind.BV_SLE, truth=True), _operator(Kind.BV_SLE, swapped=True, truth=True)
    __eq__ = _operator(Kind.EQUAL, truth=True)  # type: ignore[assignment]
    __ne__ = _operator(Kind.DISTINCT, truth=True)  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]

    def __invert__(self) -> Number:
        return self._made(term(Kind.BV_NOT, self.value))

    def __neg__(self) -> Number:
        return 0 - self

    def __abs__(self) -> Number:
        return -self if self < 0 else self


def of_model(value: Callable[..., int], *operands: Term, path: tuple[bool, ...] = ()) -> Term:
    """The low 32 bits of a Python model's value: the model runs once for each way through its conditions."""
    asked: list[Term] = []
    numbers = [Number(term(Kind.BV_ZERO_EXTEND, operand, indices=(40,)), path, asked) for operand in operands]
    try:
        found = value(*numbers)
    except _Fork:
        yes, no = (of_model(value, *operands, path=(*path, decided)) for decided in (True, False))
        return choose(asked[-1], yes, no)
    return bits(found.value, 31, 0) if isinstance(found, Number) else word(int(found))


for _op, _value in models.BINARY.items():
    BINARY.setdefault(_op.name, partial(of_model, _value))
for _op, _value in models.UNARY.items():
    UNARY.setdefault(_op.name, partial(of_model, _value))


def cast(source: str, target: str, value: Value) -> Value:
    """The lanes of a cast value, pair by pair as casts.def says."""
    if target == "Bool":
        return (flag(some(*(is_true(lane) for lane in value))),)
    if LANES[source] == 1 and target == "U64":
        high = ZERO if source != "I32" else choose(signed_less(value[0], ZERO), ONES, ZERO)
        return (value[0], high)
    if LANES[source] == 1:  # into every lane
        return value * LANES[target]
    return value[: LANES[target]]


def select(condition: Value, yes: Value, no: Value) -> Value:
    return tuple(choose(is_true(condition[0]), a, b) for a, b in zip(yes, no, strict=True))


Shape = tuple  # (head, type, operand shape, ...), or (letter or number, type)


@dataclass(frozen=True)
class Typed:
    """A term of the rules' notation whose variables, numbers and casts have types."""

    type: str
    value: Value
    shape: Shape


@dataclass
class Proof:
    """The solver's answer to a claim: it holds, a counterexample, or nothing in the given time."""

    result: Result
    counterexample: dict[str, int] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        return self.result == Result.UNSAT

    @property
    def refuted(self) -> bool:
        return self.result == Result.SAT


def check(condition: Term, names: dict[str, Term] | None = None) -> Proof:
    """Whether the condition can be met, with the values that meet it."""
    options = Options()
    options.set(Option.PRODUCE_MODELS, True)
    options.set(Option.TIME_LIMIT_PER, SECONDS * 1000)
    solver = Bitwuzla(tm, options)
    solver.assert_formula(condition)
    result = solver.check_sat()
    found = {}
    if result == Result.SAT:
        found = {name: int(solver.get_value(lane).value(10)) for name, lane in (names or {}).items()}
    return Proof(result, found)


def prove_equal(left: Value, right: Value, given: Term, names: dict[str, Term] | None = None) -> Proof:
    """Prove left = right in every lane, for all values that meet `given`."""
    differ = some(*(term(Kind.DISTINCT, a, b) for a, b in zip(left, right, strict=True)))
    return check(both(given, differ), names)


# The rules' notation: nested lists of words.
Tree = str | list


def read(text: str) -> Tree:
    """A prefix term: ``(Add x 0)`` is ``["Add", "x", "0"]``."""
    stack: list[list] = [[]]
    for token in re.findall(r"[()]|[^\s()]+", text):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    (tree,) = stack.pop()
    assert not stack, text
    return tree


def letters(tree: Tree) -> list[str]:
    """The variables of a term, in order of first appearance."""
    if isinstance(tree, str):
        return [tree] if re.fullmatch("[a-z]", tree) else []
    return list(dict.fromkeys(itertools.chain.from_iterable(letters(part) for part in tree[1:])))


# (source, target, kind) of casts and (left, right, result) of operators, as the tables of the core say: what may be
# written, not what it means.
@dataclass(frozen=True)
class Signatures:
    binary: dict[str, tuple[str, str, str]]
    unary: dict[str, tuple[str, str]]
    casts: list[tuple[str, str, str]]


def readings(tree: Tree, variables: dict[str, Typed], signatures: Signatures) -> Iterator[Typed]:
    """Every way to give the numbers and casts of a term types, the variables having theirs."""
    if isinstance(tree, str):
        if tree in variables:
            yield variables[tree]
            return
        number = int(tree, 0)
        for type_ in ("U32", "I32", "Bool"):
            if type_ != "Bool" or number <= 1:
                yield Typed(type_, (word(number),), (number, type_))
        return
    head = tree[0]
    if head == "Lane":
        k = int(tree[2])
        for whole in readings(tree[1], variables, signatures):
            if 1 < LANES[whole.type] > k:
                yield Typed("U32", (whole.value[k],), (head, "U32", whole.shape, k))
        return
    for operands in itertools.product(*(list(readings(part, variables, signatures)) for part in tree[1:])):
        for type_, value in applications(head, operands, signatures):
            yield Typed(type_, value, (head, type_, *(operand.shape for operand in operands)))


def applications(head: str, operands: tuple[Typed, ...], signatures: Signatures) -> Iterator[tuple[str, Value]]:
    """The types that this operator can give for these operands, each with what it gives."""
    types, values = tuple(operand.type for operand in operands), [operand.value for operand in operands]
    if head in signatures.binary:
        left, right, result = signatures.binary[head]
        if types == (left, right):
            yield result, (BINARY[head](values[0][0], values[1][0]),)
    elif head in signatures.unary:
        wanted, result = signatures.unary[head]
        if types == (wanted,):
            yield result, (UNARY[head](values[0][0]),)
    elif head == "Select":
        if types[0] in ("U32", "Bool") and types[1] == types[2]:
            yield types[1], select(*values)
    elif head == "Pack":
        for packed in ("U64", "Vec2U32", "Vec4U32"):
            if types == ("U32",) * LANES[packed]:
                yield packed, tuple(value[0] for value in values)
    else:
        for source, target, kind in signatures.casts:
            if kind == head and types == (source,):
                yield target, cast(source, target, values[0])


def condition_on(literal: Term, text: str) -> Term:
    """``c & 31 == 0`` as a condition."""
    match = re.fullmatch(r"c(?: & (\w+))? (==|!=|<=|>=) (\w+)", text)
    assert match, text
    mask, comparison, value = match.groups()
    tested = literal if mask is None else term(Kind.BV_AND, literal, word(int(mask, 0)))
    wanted = word(int(value, 0))
    return {
        "==": equal(tested, wanted),
        "!=": term(Kind.DISTINCT, tested, wanted),
        "<=": term(Kind.NOT, less(wanted, tested)),
        ">=": term(Kind.NOT, less(tested, wanted)),
    }[comparison]
