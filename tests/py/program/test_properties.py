"""Properties of all programs: their forms round-trip, and the reference computes what Python's own integers say."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vyre
from vyre import BinOp, BufferAccess, BufferDecl, DataType, Expr, Node, Program, UnOp
from vyre.conformance.models import BINARY, UNARY, binary, unary
from vyre.conformance.values import SIGNATURES

MASK = 0xFFFFFFFF
# A failure prints the blob that repeats it; nothing is written beside the tests.
SETTINGS = settings(max_examples=60, deadline=None, derandomize=False, database=None, print_blob=True)


# The model has other types for the rest, which would need casts.
ON_U32 = [op for op in BINARY if {*SIGNATURES[op.name]} == {DataType.U32}]

EDGES = [0, 1, 2, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0x80000001, MASK - 1, MASK]
words = st.sampled_from(EDGES) | st.integers(0, MASK)
INPUTS = 3

# (expression, what it gives for the words of `in`).
values = st.recursive(
    words.map(lambda v: (Expr.u32(v), lambda _: v))
    | st.integers(0, INPUTS).map(lambda k: (Expr.load("in", k), lambda x: x[k] if k < INPUTS else 0)),
    lambda inner: (
        st.tuples(st.sampled_from(ON_U32), inner, inner).map(
            lambda t: (Expr.binop(t[0], t[1][0], t[2][0]), lambda x: binary(t[0], t[1][1](x), t[2][1](x)))
        )
        | st.tuples(st.sampled_from(list(UNARY)), inner).map(
            lambda t: (Expr.unop(t[0], t[1][0]), lambda x: unary(t[0], t[1][1](x)))
        )
        | st.tuples(inner, inner, inner).map(
            lambda t: (Expr.select(t[0][0], t[1][0], t[2][0]), lambda x: t[1][1](x) if t[0][1](x) else t[2][1](x))
        )
    ),
    max_leaves=16,
)

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(
    ["i", "out", "a b", "%0", "let"]
)
# Anything that can be built, valid or not.
expressions = st.recursive(
    words.map(Expr.u32)
    | st.integers(-(2**31), 2**31 - 1).map(Expr.i32)
    | st.integers(0, 2**64 - 1).map(Expr.u64)
    | st.booleans().map(Expr.bool)
    | names.map(Expr.var)
    | names.map(Expr.buf_len)
    | st.tuples(st.sampled_from([Expr.invocation_id, Expr.workgroup_id, Expr.local_id]), st.integers(0, 4)).map(
        lambda t: t[0](t[1])
    ),
    lambda inner: (
        st.builds(Expr.load, names, inner)
        | st.builds(Expr.binop, st.sampled_from(list(BinOp)), inner, inner)
        | st.builds(Expr.unop, st.sampled_from(list(UnOp)), inner)
        | st.builds(Expr.select, inner, inner, inner)
        | st.builds(Expr.cast, st.sampled_from(list(DataType)), inner)
        | st.builds(Expr.lane, inner, st.integers(0, 5))
        | st.builds(Expr.pack, st.sampled_from(list(DataType)), st.lists(inner, max_size=4))
        | st.builds(Expr.call, names, st.lists(inner, max_size=3))
        | st.builds(Expr.atomic_add, names, inner, inner)
        | st.builds(Expr.atomic_compare_exchange, names, inner, inner, inner)
        | inner.map(lambda e: Expr.bitxor(e, e))
    ),
    max_leaves=8,
)
statements = st.recursive(
    st.builds(Node.let, names, expressions)
    | st.builds(Node.assign, names, expressions)
    | st.builds(Node.store, names, expressions, expressions)
    | st.builds(Node.return_)
    | st.builds(Node.barrier),
    lambda inner: (
        st.builds(Node.if_, expressions, st.lists(inner, max_size=3), st.lists(inner, max_size=2))
        | st.builds(Node.loop, names, expressions, expressions, st.lists(inner, max_size=3))
        | st.lists(inner, max_size=3).map(Node.block)
    ),
    max_leaves=6,
)
counts = st.integers(0, MASK)
buffers = st.builds(
    BufferDecl.storage,
    names,
    counts,
    st.sampled_from(list(BufferAccess)),
    st.sampled_from(list(DataType)),
    count=counts,
) | st.builds(BufferDecl.output, names, counts, st.sampled_from(list(DataType)), count=counts)
programs = st.builds(
    Program, st.lists(buffers, max_size=4), st.tuples(counts, counts, counts), st.lists(statements, max_size=4)
)


def run(entry: list[Node], count: int, inputs: list[int]) -> list[int]:
    program = Program([BufferDecl.read("in", 0, vyre.u32), BufferDecl.output("out", 1, vyre.u32)], (1, 1, 1), entry)
    given = {"in": np.array(inputs, np.uint32), "out": count}
    return vyre.run(program, given, 1, backend="reference")["out"].tolist()


def refusal(read: Callable[[object], Program], damaged: object) -> str:
    """The text of the ParseError, if there is one: damage may make another program."""
    try:
        read(damaged)
    except vyre.ParseError as error:
        return str(error)
    return "none. Fix: none."


def as_type(element: DataType, value: Expr) -> Expr:
    """The value as that type, without a cast that would do nothing."""
    return value if element == DataType.U32 else Expr.cast(element, value)


@SETTINGS
@given(words, words)
def test_every_operator_is_what_integers_say(x, y):
    a, b = Expr.load("in", 0), Expr.load("in", 1)
    made = []
    for op in BINARY:
        left, right, result = SIGNATURES[op.name]
        value = Expr.binop(op, as_type(left, a), as_type(right, b))
        made.append(value if result == DataType.U32 else Expr.cast(DataType.U32, value))
    made += [Expr.unop(op, a) for op in UNARY]
    wanted = [binary(op, x, y) for op in BINARY] + [unary(op, x) for op in UNARY]
    entry = [Node.store("out", k, value) for k, value in enumerate(made)]
    assert run(entry, len(made), [x, y]) == wanted


@SETTINGS
@given(values, st.lists(words, min_size=INPUTS, max_size=INPUTS))
def test_expressions_are_what_integers_say(value, inputs):
    expr, meaning = value
    assert run([Node.store("out", 0, expr)], 1, inputs) == [meaning(inputs)]


@SETTINGS
@given(programs)
def test_programs_survive_every_form(program):
    for again in (
        vyre.parse(program.to_text()),
        Program.from_bytes(program.to_bytes()),
        pickle.loads(pickle.dumps(program)),
        copy.deepcopy(program),
        Program(program.buffers, program.workgroup_size, program.entry),
    ):
        assert again == program
        assert hash(again) == hash(program)
        assert again.to_text() == program.to_text()
        assert again.to_bytes() == program.to_bytes()


@SETTINGS
@given(programs)
def test_validation_never_fails_and_says_what_to_do(program):
    for diagnostic in vyre.validate(program):
        assert diagnostic.message.startswith("vyre IR validation: ")
        assert ". Fix: " in diagnostic.message
        assert pickle.loads(pickle.dumps(diagnostic)) == diagnostic


FORMS = {
    "bytes": (Program.to_bytes, Program.from_bytes, st.binary(max_size=64)),
    "text": (Program.to_text, vyre.parse, st.text(st.characters(exclude_categories=["Cs"]), max_size=20)),
}


@pytest.mark.parametrize("form", FORMS)
@SETTINGS
@given(programs, st.data())
def test_a_damaged_form_is_a_typed_error_or_a_program(form, program, data):
    write, read, any_garbage = FORMS[form]
    good, garbage = write(program), data.draw(any_garbage)
    at = data.draw(st.integers(0, len(good)))
    for damaged in (garbage, good[:at] + garbage + good[at:], good[:at]):
        assert ". Fix: " in refusal(read, damaged)
