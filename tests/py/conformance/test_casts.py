"""Casts that the document does not list are refused; those that it lists are in vyre.conformance."""

from __future__ import annotations

import itertools

import pytest

import vyre
from programs import element_wise
from vyre import DataType, Expr, Node, Program
from vyre.conformance.families.casts import TABLE
from vyre.conformance.values import ELEMENTS

UNSUPPORTED = [pair for pair in itertools.product(ELEMENTS, ELEMENTS) if pair not in TABLE]


@pytest.mark.parametrize("pair", UNSUPPORTED, ids=lambda pair: f"{pair[0].name}-{pair[1].name}")
def test_unsupported_cast_is_v012(pair):
    source, goal = pair
    program = element_wise([source], goal, lambda a: Expr.cast(goal, a))
    (found,) = vyre.validate(program)
    assert found.rule == "V012"


@pytest.mark.parametrize("source", ELEMENTS, ids=lambda t: t.name)
def test_cast_to_bytes_is_v023(source):
    program = Program(
        [vyre.BufferDecl.read("in0", 0, source)],
        (1, 1, 1),
        [Node.let("x", Expr.cast(DataType.Bytes, Expr.load("in0", 0)))],
    )
    assert [found.rule for found in vyre.validate(program)] == ["V023"]
