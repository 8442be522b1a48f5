"""L3, composition: calls against what is written by hand, the optimiser on and off, and workgroups of every shape.

A case of calls has a twin, the same program written without calls, which must lower to the same words. Cases of effects
count how often atomics in arguments run. The sweep runs programs in workgroups and grids of all shapes, whose ids,
bounds and counts follow from the shape.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from vyre import BinOp, BufferDecl, Expr, Node, Program, UnOp
from vyre.conformance.build import element_wise, one_invocation, out_u32
from vyre.conformance.case import Case, case
from vyre.conformance.families.casts import TABLE as CASTS
from vyre.conformance.families.casts import rule
from vyre.conformance.models import BINARY, MODELS, UNARY, binary, unary
from vyre.conformance.values import (
    BOOL,
    EDGES,
    I32,
    LANES,
    MASK,
    SIGNATURES,
    U32,
    U64,
    VEC2,
    VEC4,
    array,
    groups,
    samples,
    split,
    u32,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from vyre import DataType

# Sizes are one, powers of two, odd numbers, and shapes of two and three axes; every device has 256 invocations.
SIZES = [
    (1, 1, 1),
    (2, 1, 1),
    (3, 1, 1),
    (7, 1, 1),
    (33, 1, 1),
    (61, 1, 1),
    (64, 1, 1),
    (127, 1, 1),
    (256, 1, 1),
    (1, 64, 1),
    (1, 1, 61),
    (8, 8, 1),
    (5, 7, 1),
    (4, 4, 4),
    (3, 5, 7),
]
BOTH = (True, False)


def _call(name: str, *args: Expr | int) -> Expr:
    return Expr.call(f"primitive.{name}", args)


def _twins() -> Iterator[Case]:
    """Calls, and the same written by hand: a call costs nothing."""
    a, b = samples("twins a", 64) + EDGES, samples("twins b", 64) + EDGES[::-1]
    count = len(a)

    def twin(
        name: str,
        what: str,
        called: Callable[..., Expr],
        written: Callable[..., Expr],
        value: Callable[[int, int], int],
    ) -> Case:
        return case(
            f"L3/calls/{name}",
            what,
            element_wise([U32, U32], [(U32, called)]),
            {"in0": u32(a), "in1": u32(b), "out0": u32([0x55] * count)},
            {"out0": u32([value(x, y) for x, y in zip(a, b, strict=True)])},
            groups(count),
            optimize=BOTH,
            twin=element_wise([U32, U32], [(U32, written)]),
        )

    same = "lowers to the same SPIR-V as written by hand, and gives the same bytes"
    yield twin(
        "one",
        f"A call {same}.",
        lambda x, y: _call("bitwise.xor", x, y),
        lambda x, y: x ^ y,
        lambda x, y: x ^ y,
    )
    yield twin(
        "nested",
        f"B(A(a, b)) {same}.",
        lambda x, y: _call("bitwise.popcount", _call("bitwise.xor", x, y)),
        lambda x, y: Expr.popcount(x ^ y),
        lambda x, y: bin(x ^ y).count("1"),
    )

    def chain(step: Callable[[Expr, Expr], Expr]) -> Callable[..., Expr]:
        def value(x: Expr, y: Expr) -> Expr:
            made = x
            for _ in range(40):
                made = step(made, y)
            return made

        return value

    def chained(x: int, y: int) -> int:
        for _ in range(40):
            x = ((x * 5 & MASK) + y & MASK) ^ 0x9E3779B1
        return x

    yield twin(
        "chained",
        f"A chain of 120 calls {same}.",
        chain(lambda x, y: _call("bitwise.xor", _call("math.add", _call("math.mul", x, 5), y), 0x9E3779B1)),
        chain(lambda x, y: ((x * 5) + y) ^ 0x9E3779B1),
        chained,
    )
    yield twin(
        "same_argument_twice",
        f"A call with one expression for both arguments {same}.",
        lambda x, y: (lambda s: _call("math.mul", s, s))(x + y),
        lambda x, y: (lambda s: s * s)(x + y),
        lambda x, y: (x + y) ** 2,
    )
    # Pure values of two lanes.
    rows = [(split(x << 32 | y), split(y << 32 | x)) for x, y in zip(a, b, strict=True)]
    yield case(
        "L3/calls/wide",
        "Nested calls on U64 give Python's integers modulo 2^64.",
        element_wise(
            [U64, U64],
            [
                (
                    U64,
                    lambda x, y: _call(
                        "u64.add", _call("u64.mul", x, y), _call("u64.rotl", _call("u64.div", x, y), 13)
                    ),
                )
            ],
        ),
        {f"in{k}": array(U64, [lane for row in rows for lane in row[k]]) for k in range(2)}
        | {"out0": array(U64, [0x55] * 2 * count)},
        {
            "out0": array(
                U64,
                [lane for x, y in zip(a, b, strict=True) for lane in split(_wide(x << 32 | y, y << 32 | x) % 2**64)],
            )
        },
        groups(count),
        optimize=BOTH,
    )


def _wide(x: int, y: int) -> int:
    quotient = MODELS["primitive.u64.div"](x, y)
    return x * y + MODELS["primitive.u64.rotl"](quotient, 13) % 2**64


def _effects() -> Iterator[Case]:
    """Effects to the left of a call happen before it; an argument is evaluated once."""
    ticket = Expr.atomic_add("count", 0, 1)
    load = Expr.load("count", 0)
    yield case(
        "L3/calls/effects_left_of_a_call",
        "An atomic in an argument fires once; a load to its left sees the value before, one to its right the new one.",
        one_invocation(
            [BufferDecl.read_write("count", 0, U32), out_u32(1)],
            Node.store("out", 0, load * 1000 + _call("math.mul", ticket, ticket + Expr.load("count", 0))),
            Node.store("out", 1, Expr.load("count", 0)),
        ),
        {"count": u32([7]), "out": u32([0, 0])},
        {"count": u32([8]), "out": u32([7 * 1000 + 7 * (7 + 8), 8])},
        optimize=BOTH,
    )
    first, second, third = (Expr.atomic_add("count", 0, 1) for _ in range(3))
    yield case(
        "L3/calls/effects_in_arguments",
        "The arguments of a call are evaluated left to right, each once, and before those of a call to its right.",
        one_invocation(
            [BufferDecl.read_write("count", 0, U32), out_u32(1)],
            Node.store("out", 0, _call("math.sub", first, second) + _call("math.mul", third, 100)),
            Node.store("out", 1, _call("math.sub", _call("math.mul", first, 10), second)),
        ),
        {"count": u32([0]), "out": u32([0, 0])},
        # 0 - 1 + 2 * 100, then 3 * 10 - 4.
        {"count": u32([5]), "out": u32([199, 26])},
        optimize=BOTH,
    )
    yield case(
        "L3/calls/unused_result",
        "A call whose result nobody uses still fires the atomics of its arguments.",
        one_invocation(
            [BufferDecl.read_write("count", 0, U32)],
            Node.let("unused", _call("bitwise.and", Expr.atomic_add("count", 0, 3), 0)),
        ),
        {"count": u32([4])},
        {"count": u32([7])},
        optimize=BOTH,
    )
    a, b = Expr.var("a"), Expr.var("__call0_a")
    yield case(
        "L3/calls/names",
        "A caller's variables may have the names of the callee's, and those that inlining would choose.",
        one_invocation(
            [BufferDecl.read("in", 0, U32), out_u32(1)],
            Node.let("a", Expr.load("in", 0)),
            Node.let("b", Expr.load("in", 1)),
            Node.let("result", 5),
            Node.let("__call0_a", 1000),
            Node.let("__call0_b", 2000),
            Node.let("__call1_result", 3000),
            Node.store("out", 0, _call("math.sub", Expr.var("b"), a) + b),
            Node.store("out", 1, _call("math.sub", a, Expr.var("b")) + Expr.var("__call0_b")),
            Node.store("out", 2, a + Expr.var("b") + Expr.var("result") + Expr.var("__call1_result")),
        ),
        {"in": u32([3, 10]), "out": u32([0, 0, 0])},
        {"out": u32([7 + 1000, -7 + 2000, 3 + 10 + 5 + 3000])},
        optimize=BOTH,
    )
    k, total = Expr.var("k"), Expr.var("total")
    yield case(
        "L3/calls/in_loops",
        "A call in a loop works anew in each round, in bounds and in conditions too.",
        one_invocation(
            [out_u32()],
            Node.let("total", 1),
            Node.loop(
                "k",
                _call("math.sub", 5, 3),
                _call("math.add", 5, 5),
                [
                    Node.if_(
                        _call("compare.eq", _call("math.mod", k, 3), 0),
                        [Node.assign("total", _call("math.mul", total, k))],
                        [Node.assign("total", _call("math.add", total, k))],
                    )
                ],
            ),
            Node.store("out", 0, total),
        ),
        {"out": u32([0])},
        # k = 2, 3, ..., 9: ((((1 + 2) * 3 + 4 + 5) * 6 + 7 + 8) * 9)
        {"out": u32([(((1 + 2) * 3 + 4 + 5) * 6 + 7 + 8) * 9])},
        optimize=BOTH,
    )


def _linear(size: tuple[int, int, int], grid: tuple[int, int, int]) -> Expr:
    """The place of an invocation in the whole grid, x fastest."""
    across, down = size[0] * grid[0], size[1] * grid[1]
    return Expr.gid_x() + (Expr.gid_y() + Expr.gid_z() * down) * across


def _local(size: tuple[int, int, int]) -> Expr:
    """The place of an invocation in its workgroup."""
    return Expr.local_x() + (Expr.local_y() + Expr.local_z() * size[1]) * size[0]


def _group(grid: tuple[int, int, int]) -> Expr:
    """The place of a workgroup in the grid."""
    return Expr.workgroup_x() + (Expr.workgroup_y() + Expr.workgroup_z() * grid[1]) * grid[0]


def _sweep() -> Iterator[Case]:
    for size in SIZES:
        name = "x".join(map(str, size))
        grid = (3, 2, 2) if size[1] * size[2] > 1 else (5, 1, 1)
        total = int(np.prod(size) * np.prod(grid))
        each = int(np.prod(size))
        z, y, x = np.unravel_index(np.arange(total), tuple(s * g for s, g in zip(size[::-1], grid[::-1], strict=True)))
        gid = (x, y, z)
        ids = [
            *gid,
            *(gid[axis] // size[axis] for axis in range(3)),
            *(gid[axis] % size[axis] for axis in range(3)),
        ]
        yield case(
            f"L3/workgroups/ids-{name}",
            "InvocationId = WorkgroupId * workgroup_size + LocalId on every axis, each invocation once.",
            Program(
                [out_u32()],
                size,
                [
                    Node.let("i", _linear(size, grid)),
                    *(
                        Node.store("out", Expr.var("i") * 10 + k, value)
                        for k, value in enumerate(
                            [
                                *map(Expr.invocation_id, range(3)),
                                *map(Expr.workgroup_id, range(3)),
                                *map(Expr.local_id, range(3)),
                            ]
                        )
                    ),
                    Node.let("old", Expr.atomic_add("out", Expr.var("i") * 10 + 9, 1)),
                ],
            ),
            {"out": u32([0] * 10 * total)},
            {"out": np.stack([*ids, np.ones(total, np.int64)], axis=1).astype(np.uint32).ravel()},
            grid,
            optimize=BOTH,
        )
        data = words(f"workgroup sums {name}", each * int(np.prod(grid)))
        lid, k = Expr.var("lid"), Expr.var("k")
        at = Expr.var("group") * each + lid
        yield case(
            f"L3/workgroups/scan-{name}",
            "Prefix sums in workgroup memory between barriers, for a workgroup of any shape.",
            Program(
                [BufferDecl.read("data", 0, U32), out_u32(1), BufferDecl.workgroup("line", each, U32)],
                size,
                [
                    Node.let("lid", _local(size)),
                    Node.let("group", _group(grid)),
                    Node.let("sum", Expr.load("data", at)),
                    Node.loop(
                        "k",
                        0,
                        (each - 1).bit_length(),
                        [
                            Node.store("line", lid, Expr.var("sum")),
                            Node.barrier(),
                            # Below the first element the index wraps around, and the load gives zero.
                            Node.assign("sum", Expr.var("sum") + Expr.load("line", lid - (Expr.u32(1) << k))),
                            Node.barrier(),
                        ],
                    ),
                    Node.store("out", at, Expr.var("sum")),
                ],
            ),
            {"data": data, "out": u32([0x55] * len(data))},
            {"out": np.cumsum(data.reshape(-1, each), axis=1, dtype=np.uint32).ravel()},
            grid,
            optimize=BOTH,
        )
        a, b = words(f"sweep a {name}", total), words(f"sweep b {name}", total)
        yield case(
            f"L3/workgroups/operators-{name}",
            "Every operator, folded into one word an invocation, is the table's for a workgroup of any shape.",
            _folded(size, grid),
            {"a": a, "b": b, "out": u32([0x55] * total)},
            {"out": u32([_fold(int(p), int(q)) for p, q in zip(a, b, strict=True)])},
            grid,
            optimize=BOTH,
        )
        yield case(
            f"L3/workgroups/casts-{name}",
            "Every cast, folded into one word an invocation, is the table's for a workgroup of any shape.",
            _folded_casts(size, grid),
            {"a": a, "b": b, "out": u32([0x55] * total)},
            {"out": u32([_fold_casts(int(p), int(q)) for p, q in zip(a, b, strict=True)])},
            grid,
            optimize=BOTH,
        )
        yield _bounds(name, size, grid)
        yield _atomics(name, size, grid)


def _bounds(name: str, size: tuple[int, int, int], grid: tuple[int, int, int]) -> Case:
    """Every other invocation loads and stores out of bounds; those in bounds are 7 fewer than there are."""
    total = int(np.prod(size) * np.prod(grid))
    inside = max(total - 7, 1)
    data = words(f"bounds {name}", inside)
    i, far = Expr.var("i"), Expr.select(Expr.var("i") & 1, Expr.u32(0x40000000), Expr.u32(0))
    here = [k for k in range(inside) if not k & 1]
    kept = np.arange(inside, dtype=np.uint32)
    after = kept.copy()
    after[here] = kept[here] + np.uint32(1000)
    seen = np.zeros(total, np.uint32)
    seen[here] = data[here]
    return case(
        f"L3/workgroups/bounds-{name}",
        "Loads give zero and stores do nothing out of bounds, for a workgroup of any shape.",
        Program(
            [BufferDecl.read("data", 0, U32), BufferDecl.read_write("kept", 1, U32), out_u32(2)],
            size,
            [
                Node.let("i", _linear(size, grid)),
                Node.store("out", i, Expr.load("data", i + far)),
                Node.store("kept", i + far, i + 1000),
            ],
        ),
        {"data": data, "kept": kept, "out": u32([0x55] * total)},
        {"kept": after, "out": seen},
        grid,
        optimize=BOTH,
    )


def _atomics(name: str, size: tuple[int, int, int], grid: tuple[int, int, int]) -> Case:
    """All invocations of a workgroup meet at one row of cells, whose contents in the end have one answer."""
    each, many = int(np.prod(size)), int(np.prod(grid))
    lid, row = Expr.var("lid"), Expr.var("group") * 6
    lids = range(each)
    bits = int(np.bitwise_or.reduce([1 << (k & 31) for k in lids]))
    odd = int(np.bitwise_xor.reduce([1 << (k & 31) for k in lids]))
    cells = [10, MASK, 0, 0xF0F0F0F0, 1000, 3]
    after = [10 + sum(lids) + each, MASK & ~bits, bits, 0xF0F0F0F0 ^ odd, 1000 - each + 1, 3 * each]
    own = np.arange(each * many, dtype=np.uint32)
    return case(
        f"L3/workgroups/atomics-{name}",
        "Every atomic of all invocations of a workgroup is done once, for a workgroup of any shape.",
        Program(
            [
                BufferDecl.read_write("cells", 0, U32),
                BufferDecl.read_write("own", 1, U32),
                BufferDecl.read_write("old", 2, U32),
            ],
            size,
            [
                Node.let("lid", _local(size)),
                Node.let("group", _group(grid)),
                Node.let("bit", Expr.u32(1) << (lid & 31)),
                Node.let("i", Expr.var("group") * each + lid),
                Node.let("add", Expr.atomic_add("cells", row, lid + 1)),
                Node.let("and", Expr.atomic_and("cells", row + 1, ~Expr.var("bit"))),
                Node.let("or", Expr.atomic_or("cells", row + 2, Expr.var("bit"))),
                Node.let("xor", Expr.atomic_xor("cells", row + 3, Expr.var("bit"))),
                Node.let("min", Expr.atomic_min("cells", row + 4, Expr.u32(1000) - lid)),
                Node.let("max", Expr.atomic_max("cells", row + 5, (lid + 1) * 3)),
                Node.let("taken", Expr.atomic_exchange("own", Expr.var("i"), 5)),
                # The second one finds 6 and leaves it.
                Node.let("first", Expr.atomic_compare_exchange("own", Expr.var("i"), 5, 6)),
                Node.let("second", Expr.atomic_compare_exchange("own", Expr.var("i"), 5, 7)),
                Node.store(
                    "old", Expr.var("i"), Expr.var("taken") + Expr.var("first") * 10_000 + Expr.var("second") * 100_000
                ),
            ],
        ),
        {"cells": u32(cells * many), "own": own, "old": u32([0x55] * each * many)},
        {"cells": u32(after * many), "own": u32([6] * each * many), "old": own + np.uint32(650_000)},
        grid,
        optimize=BOTH,
    )


# source -> how two words make a value of it, as an expression and as lanes
_SOURCES: dict[DataType, tuple[Callable[[Expr, Expr], Expr], Callable[[int, int], list[int]]]] = {
    U32: (lambda a, b: a, lambda a, b: [a]),
    I32: (lambda a, b: Expr.cast(I32, a), lambda a, b: [a]),
    BOOL: (lambda a, b: Expr.cast(BOOL, a & 1), lambda a, b: [a & 1]),
    U64: (lambda a, b: Expr.pack(U64, [a, b]), lambda a, b: [a, b]),
    VEC2: (lambda a, b: Expr.pack(VEC2, [b, a]), lambda a, b: [b, a]),
    VEC4: (lambda a, b: Expr.pack(VEC4, [a ^ b, a, b, a & b]), lambda a, b: [a ^ b, a, b, a & b]),
}


def _folded_casts(size: tuple[int, int, int], grid: tuple[int, int, int]) -> Program:
    """hash = hash * 31 + lane over all lanes of all casts."""
    i, a, b = Expr.var("i"), Expr.var("a"), Expr.var("b")
    body = [
        Node.let("i", _linear(size, grid)),
        Node.let("a", Expr.load("a", i)),
        Node.let("b", Expr.load("b", i)),
        Node.let("hash", 17),
    ]
    for source, target in CASTS:
        made = Expr.cast(target, _SOURCES[source][0](a, b))
        lanes = [Expr.cast(U32, made)] if LANES[target] == 1 else [Expr.lane(made, k) for k in range(LANES[target])]
        body += [Node.assign("hash", Expr.var("hash") * 31 + lane) for lane in lanes]
    body.append(Node.store("out", i, Expr.var("hash")))
    return Program([BufferDecl.read("a", 0, U32), BufferDecl.read("b", 1, U32), out_u32(2)], size, body)


def _fold_casts(a: int, b: int) -> int:
    hash = 17
    for source, target in CASTS:
        for lane in rule(source, target, _SOURCES[source][1](a, b)):
            hash = (hash * 31 + lane) & MASK
    return hash


# A case keeps its program once it is published, so operators after these are in L1 alone.
_FOLDED = [op for op in BINARY if op.value <= BinOp.SShr.value]
_UNARY = [op for op in UNARY if op.value <= UnOp.ReverseBits.value]


def _folded(size: tuple[int, int, int], grid: tuple[int, int, int]) -> Program:
    """hash = hash * 31 + op(a, b) over the operators of `_FOLDED`."""
    i, a, b = Expr.var("i"), Expr.var("a"), Expr.var("b")
    body = [
        Node.let("i", _linear(size, grid)),
        Node.let("a", Expr.load("a", i)),
        Node.let("b", Expr.load("b", i)),
        Node.let("hash", 17),
    ]
    made = []
    for op in _FOLDED:
        left, right, result = SIGNATURES[op.name]
        x = Expr.cast(I32, a) if left == I32 else a
        y = Expr.cast(I32, b) if right == I32 else b
        value = Expr.binop(op, x, y)
        made.append(Expr.cast(U32, value) if result == I32 else value)
    made += [Expr.unop(op, a) for op in _UNARY]
    body += [Node.assign("hash", Expr.var("hash") * 31 + value) for value in made]
    body.append(Node.store("out", i, Expr.var("hash")))
    return Program([BufferDecl.read("a", 0, U32), BufferDecl.read("b", 1, U32), out_u32(2)], size, body)


def _fold(a: int, b: int) -> int:
    hash = 17
    for value in [*(binary(op, a, b) for op in _FOLDED), *(unary(op, a) for op in _UNARY)]:
        hash = (hash * 31 + value) & MASK
    return hash


def both_ways(made: Iterable[Case]) -> Iterator[Case]:
    """The cases of other levels again, each with the optimiser and without it."""
    for one in made:
        if not one.skip:
            yield replace(one, id=f"L3/optimiser/{one.id}", optimize=BOTH)


def cases() -> Iterator[Case]:
    """Calls, effects around them, and workgroups of every shape; see also `both_ways`."""
    yield from _twins()
    yield from _effects()
    yield from _sweep()
