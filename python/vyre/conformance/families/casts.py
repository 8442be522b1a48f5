"""L1, casts: every pair of casts.def, by examples and by the rules of casts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre import DataType, Expr
from vyre.conformance.build import element_wise
from vyre.conformance.case import Case, case
from vyre.conformance.values import BOOL, EDGES, I32, LANES, MASK, U32, U64, VEC2, VEC4, array, groups, u32, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

F, H = 0xFFFFFFFF, 0x80000000

# (source, target) -> ((lanes in, lanes out), ...): each supported pair with examples
TABLE: dict[tuple[DataType, DataType], tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]] = {
    (U32, U32): (((42,), (42,)),),
    (U32, I32): (((F,), (F,)),),
    (U32, BOOL): (((0,), (0,)), ((7,), (1,))),
    (U32, U64): (((42,), (42, 0)),),
    (U32, VEC2): (((5,), (5, 5)),),
    (U32, VEC4): (((5,), (5, 5, 5, 5)),),
    (I32, I32): (((F,), (F,)),),
    (I32, U32): (((F,), (F,)),),
    (I32, BOOL): (((0,), (0,)), ((F,), (1,))),
    (I32, U64): (((F,), (F, F)), ((H,), (H, F)), ((H - 1,), (H - 1, 0))),
    (I32, VEC2): (((F,), (F, F)),),
    (I32, VEC4): (((F,), (F, F, F, F)),),
    (BOOL, U32): (((0,), (0,)), ((1,), (1,))),
    (BOOL, I32): (((0,), (0,)), ((1,), (1,))),
    (BOOL, BOOL): (((0,), (0,)), ((1,), (1,))),
    (BOOL, U64): (((0,), (0, 0)), ((1,), (1, 0))),
    (BOOL, VEC2): (((0,), (0, 0)), ((1,), (1, 1))),
    (BOOL, VEC4): (((0,), (0, 0, 0, 0)), ((1,), (1, 1, 1, 1))),
    (U64, U32): (((0xDEAD, 0xBEEF), (0xDEAD,)),),
    (U64, I32): (((F, 0), (F,)),),
    (U64, BOOL): (((0, 0), (0,)), ((1, 0), (1,)), ((0, 1), (1,))),
    (U64, U64): (((1, 2), (1, 2)),),
    (U64, VEC2): (((1, 2), (1, 2)),),
    (VEC2, U32): (((3, 7), (3,)),),
    (VEC2, I32): (((F, 0), (F,)),),
    (VEC2, U64): (((1, 2), (1, 2)),),
    (VEC2, VEC2): (((1, 2), (1, 2)),),
    (VEC2, BOOL): (((0, 0), (0,)), ((0, 4), (1,))),
    (VEC4, U32): (((1, 2, 3, 4), (1,)),),
    (VEC4, I32): (((F, 2, 3, 4), (F,)),),
    (VEC4, VEC2): (((1, 2, 3, 4), (1, 2)),),
    (VEC4, VEC4): (((1, 2, 3, 4), (1, 2, 3, 4)),),
    (VEC4, BOOL): (((0, 0, 0, 0), (0,)), ((0, 0, 0, 8), (1,)), ((0, 0, H, 0), (1,)), ((0, 1, 0, 0), (1,))),
    (VEC4, U64): (((1, 2, 3, 4), (1, 2)),),
}


def rule(source: DataType, target: DataType, lanes: Sequence[int]) -> list[int]:
    """The lanes of the target by the rules of casts.

    >>> rule(DataType.I32, DataType.U64, [0x80000000])
    [2147483648, 4294967295]
    """
    if source == BOOL:
        lanes = [int(lanes[0] != 0)]
    if target == BOOL:
        return [int(any(lanes))]
    if LANES[source] > 1:
        return list(lanes[: LANES[target]])
    if target == U64:
        return [lanes[0], MASK if source == I32 and lanes[0] >> 31 else 0]
    return list(lanes) * LANES[target]


def _values(source: DataType) -> list[tuple[int, ...]]:
    n = LANES[source]
    rows = [tuple(EDGES[(k + 5 * lane) % len(EDGES)] for lane in range(n)) for k in range(len(EDGES))]
    rows += [tuple(one if k == lane else 0 for k in range(n)) for lane in range(n) for one in (1, H, F)]
    rows += [tuple(row) for row in words(f"cast from {source.name}", 32 * n).reshape(32, n).tolist()]
    return rows


def _casts() -> Iterator[Case]:
    for (source, target), examples in TABLE.items():
        given = [row[0] for row in examples] + _values(source)
        wanted = [list(row[1]) for row in examples] + [rule(source, target, row) for row in _values(source)]
        yield case(
            f"L1/casts/{source.name}-{target.name}",
            f"A cast from {source.name} to {target.name} gives the lanes of the cast table.",
            element_wise([source], [(target, lambda a, t=target: Expr.cast(t, a))]),
            {
                "in0": array(source, [lane for row in given for lane in row]),
                "out0": array(target, [0x55] * LANES[target] * len(given)),
            },
            {"out0": array(target, [lane for row in wanted for lane in row])},
            groups(len(given)),
        )


def _lanes() -> Iterator[Case]:
    for element in (U64, VEC2, VEC4):
        n = LANES[element]
        values = words(f"lanes of {element.name}", 16 * n).reshape(16, n)
        program = element_wise(
            [U32] * n,
            [
                (element, lambda *lanes, e=element: Expr.pack(e, lanes)),
                *((U32, lambda *lanes, e=element, k=k: Expr.lane(Expr.pack(e, lanes), k)) for k in range(n)),
            ],
        )
        yield case(
            f"L1/casts/pack-{element.name}",
            "Pack builds a value from its lanes in order, and Lane gives each of them back.",
            program,
            {f"in{k}": values[:, k].copy() for k in range(n)}
            | {"out0": array(element, [0x55] * 16 * n)}
            | {f"out{k + 1}": u32([0x55] * 16) for k in range(n)},
            {"out0": array(element, values.ravel())} | {f"out{k + 1}": values[:, k].copy() for k in range(n)},
        )


def cases() -> Iterator[Case]:
    """Every supported cast, and the lanes of packed values."""
    yield from _casts()
    yield from _lanes()
