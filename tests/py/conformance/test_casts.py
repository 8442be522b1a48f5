"""The cast table on every backend and device; expected values are typed from the cast document."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import vyre
from programs import element_wise, groups
from vyre import DataType, Expr, Node, Program

U32, I32, U64, VEC2, VEC4, BOOL = (
    DataType.U32,
    DataType.I32,
    DataType.U64,
    DataType.Vec2U32,
    DataType.Vec4U32,
    DataType.Bool,
)
LANES = {U32: 1, I32: 1, BOOL: 1, U64: 2, VEC2: 2, VEC4: 4}
F = 0xFFFFFFFF
H = 0x80000000

# (source, target) -> ((lanes in, lanes out), ...)
TABLE = {
    (U32, U32): (((42,), (42,)), ((F,), (F,)), ((0,), (0,))),
    (U32, I32): (((F,), (F,)), ((42,), (42,)), ((H,), (H,))),
    (U32, BOOL): (((0,), (0,)), ((7,), (1,)), ((H,), (1,)), ((F,), (1,))),
    (U32, U64): (((42,), (42, 0)), ((F,), (F, 0))),
    (U32, VEC2): (((5,), (5, 5)), ((F,), (F, F))),
    (U32, VEC4): (((5,), (5, 5, 5, 5)), ((H,), (H, H, H, H))),
    (I32, I32): (((F,), (F,)), ((1,), (1,))),
    (I32, U32): (((F,), (F,)), ((H,), (H,))),
    (I32, BOOL): (((0,), (0,)), ((F,), (1,)), ((H,), (1,))),
    (I32, U64): (((F,), (F, F)), ((1,), (1, 0)), ((H,), (H, F)), ((H - 1,), (H - 1, 0))),
    (I32, VEC2): (((F,), (F, F)), ((3,), (3, 3))),
    (I32, VEC4): (((F,), (F, F, F, F)), ((3,), (3, 3, 3, 3))),
    (BOOL, U32): (((0,), (0,)), ((1,), (1,)), ((2,), (1,)), ((F,), (1,))),
    (BOOL, I32): (((0,), (0,)), ((1,), (1,)), ((H,), (1,))),
    (BOOL, BOOL): (((0,), (0,)), ((1,), (1,)), ((7,), (1,))),
    (BOOL, U64): (((0,), (0, 0)), ((1,), (1, 0)), ((9,), (1, 0))),
    (BOOL, VEC2): (((0,), (0, 0)), ((1,), (1, 1)), ((9,), (1, 1))),
    (BOOL, VEC4): (((0,), (0, 0, 0, 0)), ((1,), (1, 1, 1, 1))),
    (U64, U32): (((0xDEAD, 0xBEEF), (0xDEAD,)), ((0, F), (0,))),
    (U64, I32): (((F, 0), (F,)), ((1, F), (1,))),
    (U64, BOOL): (((0, 0), (0,)), ((1, 0), (1,)), ((0, 1), (1,)), ((0, H), (1,))),
    (U64, U64): (((1, 2), (1, 2)), ((F, F), (F, F))),
    (U64, VEC2): (((1, 2), (1, 2)), ((F, 0), (F, 0))),
    (VEC2, U32): (((3, 7), (3,)), ((0, 7), (0,))),
    (VEC2, I32): (((F, 0), (F,)), ((0, F), (0,))),
    (VEC2, U64): (((1, 2), (1, 2)), ((F, 0), (F, 0))),
    (VEC2, VEC2): (((1, 2), (1, 2)),),
    (VEC2, BOOL): (((0, 0), (0,)), ((0, 1), (1,)), ((H, 0), (1,))),
    (VEC4, U32): (((1, 2, 3, 4), (1,)),),
    (VEC4, I32): (((F, 2, 3, 4), (F,)),),
    (VEC4, VEC2): (((1, 2, 3, 4), (1, 2)),),
    (VEC4, VEC4): (((1, 2, 3, 4), (1, 2, 3, 4)),),
    (VEC4, BOOL): (((0, 0, 0, 0), (0,)), ((0, 0, 0, 1), (1,)), ((0, 0, H, 0), (1,)), ((1, 0, 0, 0), (1,))),
    (VEC4, U64): (((1, 2, 3, 4), (1, 2)),),
}
VALUE_TYPES = list(LANES)
UNSUPPORTED = [pair for pair in itertools.product(VALUE_TYPES, VALUE_TYPES) if pair not in TABLE]


def pair_name(pair) -> str:
    return f"{pair[0].name}-{pair[1].name}"


def host(rows, element: DataType) -> np.ndarray:
    """Rows of lanes as the array of an element type."""
    words = np.array(rows, np.uint32)
    if element is U64:
        return words[:, 0].astype(np.uint64) | words[:, 1].astype(np.uint64) << np.uint64(32)
    if element is I32:
        return words[:, 0].view(np.int32) if words.flags.c_contiguous else words[:, 0].copy().view(np.int32)
    if LANES[element] == 1:
        return words[:, 0].copy()
    return words


@pytest.mark.parametrize("pair", TABLE, ids=pair_name)
def test_cast(pair, target):
    source, goal = pair
    given = host([row[0] for row in TABLE[pair]], source)
    given = np.ascontiguousarray(given)
    expected = host([row[1] for row in TABLE[pair]], goal)
    out = np.zeros_like(expected)
    program = element_wise([source], goal, lambda a: Expr.cast(goal, a))
    got = vyre.run(program, {"in0": given, "out": out}, groups(len(out)), **target)["out"]
    np.testing.assert_array_equal(got, expected)
    assert got.dtype == expected.dtype


@pytest.mark.parametrize("pair", UNSUPPORTED, ids=pair_name)
def test_unsupported_cast_is_v012(pair):
    source, goal = pair
    program = element_wise([source], goal, lambda a: Expr.cast(goal, a))
    (found,) = vyre.validate(program)
    assert found.rule == "V012"


@pytest.mark.parametrize("source", VALUE_TYPES, ids=lambda t: t.name)
def test_cast_to_bytes_is_v023(source):
    program = Program(
        [vyre.BufferDecl.read("in0", 0, source)],
        (1, 1, 1),
        [Node.let("x", Expr.cast(DataType.Bytes, Expr.load("in0", 0)))],
    )
    assert [found.rule for found in vyre.validate(program)] == ["V023"]


@pytest.mark.parametrize("type", [U64, VEC2, VEC4], ids=lambda t: t.name)
def test_pack_and_lane_are_inverse(type, target):
    lanes = LANES[type]
    values = np.arange(4 * lanes, dtype=np.uint32) * np.uint32(0x01234567)
    for k in range(lanes):
        program = element_wise([U32] * lanes, U32, lambda *loads, k=k: Expr.lane(Expr.pack(type, loads), k))
        inputs = {f"in{j}": values[j::lanes].copy() for j in range(lanes)}
        out = vyre.run(program, {**inputs, "out": 4}, 1, **target)["out"]
        np.testing.assert_array_equal(out, inputs[f"in{k}"])
