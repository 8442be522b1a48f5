"""The laws that operations claim in the registry, at values of hypothesis, and operations that break them."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import vyre
from programs import element_wise, groups
from vyre import DataType, Expr, OpLaw, OpSpec, ops

U64 = DataType.U64
DTYPES = {DataType.U32: np.uint32, DataType.I32: np.int32, U64: np.uint64}
CLAIMS = [(id, law) for id in ops.ids() if id.startswith("primitive.") for law in ops.get(id).laws]
EDGES = [0, 1, 2, 6, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
SIDES = {
    OpLaw.Commutative: (2, lambda f, a, b: (f(a, b), f(b, a))),
    OpLaw.Associative: (3, lambda f, a, b, c: (f(f(a, b), c), f(a, f(b, c)))),
    OpLaw.Idempotent: (1, lambda f, a: (f(a, a), a)),
    OpLaw.Involution: (1, lambda f, a: (f(f(a)), a)),
}


def named(claim):
    id, law = claim
    return f"{id.removeprefix('primitive.')}-{law.name.lower()}"


@functools.cache
def sides(id, law):
    """How many variables a law of an operation has, and the programs of its two sides."""
    count, both = SIDES[law]
    spec = ops.get(id)
    kinds = [spec.signature.inputs[0]] * count

    def value(side):
        return lambda *args: both(lambda *given: ops.call(id, *given), *args)[side]

    outputs = [spec.signature.output, spec.signature.output if count > 1 else kinds[0]]
    return kinds, [element_wise(kinds, out, value(side)) for side, out in enumerate(outputs)]


def check(id, law, rows):
    """Raise AssertionError for the first of the rows of numbers at which the sides of the law differ."""
    kinds, programs = sides(id, law)
    columns = [
        np.array([row[k] % 2 ** (64 if kind == U64 else 32) for row in rows], np.uint64) for k, kind in enumerate(kinds)
    ]
    columns = [
        column if kind == U64 else column.astype(np.uint32).view(DTYPES[kind])
        for column, kind in zip(columns, kinds, strict=True)
    ]
    inputs = {f"in{k}": column for k, column in enumerate(columns)}
    left, right = (
        vyre.run(program, {**inputs, "out": len(rows)}, groups(len(rows)), backend="cpu")["out"] for program in programs
    )
    wrong = np.flatnonzero(left != right)
    assert not len(wrong), f"{id} is not {law.name.lower()} at {[hex(int(c[wrong[0]])) for c in columns]}"


NUMBERS = st.one_of(st.sampled_from(EDGES), st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1), st.integers(0, 40))


@pytest.mark.parametrize("claim", CLAIMS, ids=named)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(rows=list(itertools.product(EDGES, repeat=3)))
@given(rows=st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=40))
def test_the_operation_keeps_its_law(claim, rows):
    check(*claim, rows)


def broken(id, law):
    """The id of an operation like this one, but with another result where the law is looked at."""
    spec = ops.get(id)
    name = f"{id.replace('primitive', 'broken')}.{law.name.lower()}"
    if name in ops.ids():
        return name
    parameters = list(spec.parameters)
    a = Expr.var(parameters[0])
    result = ops.call(id, *map(Expr.var, parameters))
    output, first = spec.signature.output, spec.signature.inputs[0]

    def xor(x, y):
        return ops.call("primitive.u64.xor", x, y) if output == U64 else Expr.bitxor(x, y)

    def as_result(x):
        """Some bits of a parameter, as many as a result has."""
        if output == U64:
            return x if first == U64 else Expr.cast(U64, x)
        return Expr.lane(x, 0) if first == U64 else Expr.cast(DataType.U32, x)

    if output == DataType.I32:
        result = Expr.cast(DataType.U32, result)
    if law is OpLaw.Commutative:
        result = xor(result, as_result(a))
    elif law is OpLaw.Associative:  # wrong where its first operand is 6
        at = Expr.eq(Expr.lane(a, 0) if first == U64 else Expr.cast(DataType.U32, a), 6)
        other = Expr.u64(9) if output == U64 else Expr.u32(9)
        result = Expr.select(at, other, result)
    else:  # no even number comes back, or no odd one
        one = Expr.u64(1) if output == U64 else Expr.u32(1)
        result = ops.call("primitive.u64.or", result, one) if output == U64 else Expr.bitor(result, one)
    if output == DataType.I32:
        result = Expr.cast(DataType.I32, result)
    ops.register(OpSpec(name, spec.signature, parameters=parameters, result=result))
    return name


@pytest.mark.parametrize("claim", CLAIMS, ids=named)
def test_an_operation_without_the_law_is_found(claim):
    id, law = claim
    with pytest.raises(AssertionError, match=f"is not {law.name.lower()} at"):
        check(broken(id, law), law, list(itertools.product(EDGES, repeat=3)))


def test_every_law_of_the_registry_is_claimed_by_an_operation():
    assert {law for _, law in CLAIMS} == set(SIDES)
    assert len(CLAIMS) == 117
