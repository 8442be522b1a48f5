"""WGSL, read by an outside parser (naga) and run through it: the same bytes as the reference, and as the documents say.

Expected values are worked out with Python's integers and numpy, from the tables of the documents.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import vyre
from vyre import BinOp, BufferAccess, BufferDecl, DataType, Expr, Node, Program
from vyre.conformance.models import BINARY, UNARY, binary, unary
from vyre.fuzz import wgsl as wgsl_runner

# These tests fail without a device, unless the environment says that there is none.
pytestmark = pytest.mark.skipif(
    os.environ.get("VYRE_ALLOW_NO_VULKAN") == "1" and wgsl_runner.gpu() is None,
    reason="VYRE_ALLOW_NO_VULKAN=1, and wgpu finds no Vulkan device",
)

U32, I32, U64, BOOL = DataType.U32, DataType.I32, DataType.U64, DataType.Bool
VEC2, VEC4 = DataType.Vec2U32, DataType.Vec4U32
MASK = 2**32 - 1
EDGES = [0, 1, 31, 32, 33, 2**31 - 1, 2**31, 2**32 - 1, 0x12345678, 0xDEADBEEF]
FAR = [2**30, 2**30 + 1, 2**31, 2**32 - 1]
GOLDEN = Path(__file__).parent.parent / "golden"


def agreed(program: Program, inputs: dict[str, np.ndarray], workgroups=(1, 1, 1)) -> dict[str, np.ndarray]:
    """The program's arrays through WGSL, checked to equal the reference's with and without the optimiser."""
    expected = vyre.run(program, inputs, workgroups=workgroups, backend="reference")
    for optimize in (True, False):
        found = wgsl_runner.run(program, inputs, workgroups, optimize=optimize)
        assert found.keys() == expected.keys()
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name], array, err_msg=f"buffer {name}, optimize={optimize}")
    return expected


def pairs(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    values = [*EDGES, *rng.integers(0, 2**32, 4)]
    a, b = np.meshgrid(np.array(values, np.uint32), np.array(values, np.uint32))
    return a.ravel(), b.ravel()


def table(ops, value) -> Program:
    """out[k * len(a) + i] = value(op k, a[i], b[i])"""
    i, n = Expr.var("i"), Expr.buf_len("a")
    a, b = Expr.load("a", i), Expr.load("b", i)
    stores = [Node.store("out", n * k + i, value(op, a, b)) for k, op in enumerate(ops)]
    return Program(
        buffers=[BufferDecl.read("a", 0, U32), BufferDecl.read("b", 1, U32), BufferDecl.output("out", 2, U32)],
        workgroup_size=(64, 1, 1),
        entry=[Node.let("i", Expr.gid_x()), Node.if_(i < n, stores)],
    )


def check_table(ops: list, value, wanted, rng: np.random.Generator) -> None:
    a, b = pairs(rng)
    inputs = {"a": a, "b": b, "out": np.zeros(len(ops) * len(a), np.uint32)}
    out = agreed(table(ops, value), inputs, (-(-len(a) // 64), 1, 1))["out"]
    for op, found in zip(ops, out.reshape(len(ops), -1), strict=True):
        assert found.tolist() == [wanted(op, int(x), int(y)) for x, y in zip(a, b, strict=True)], op


@pytest.mark.parametrize("operand", [U32, I32], ids=lambda element: element.name)
def test_binary_operators(operand, rng):
    def value(op: BinOp, a: Expr, b: Expr) -> Expr:
        left, right, _, _ = BINARY[op]
        return Expr.cast(U32, Expr.binop(op, Expr.cast(left, a), Expr.cast(right, b)))

    check_table([op for op in BINARY if BINARY[op].left == operand], value, binary, rng)


def test_unary_operators(rng):
    check_table(list(UNARY), lambda op, a, b: Expr.unop(op, a), lambda op, a, b: unary(op, a), rng)


# The lanes of a cast's target as a function of the source's lanes, from the cast document.
LANES = {U32: 1, I32: 1, BOOL: 1, U64: 2, VEC2: 2, VEC4: 4}
DTYPES = {U32: np.uint32, I32: np.int32, BOOL: np.uint32, U64: np.uint64, VEC2: np.uint32, VEC4: np.uint32}
CASTS = {
    U32: [U32, I32, BOOL, U64, VEC2, VEC4],
    I32: [U32, I32, BOOL, U64, VEC2, VEC4],
    BOOL: [U32, I32, BOOL, U64, VEC2, VEC4],
    U64: [U32, I32, BOOL, U64, VEC2],
    VEC2: [U32, I32, BOOL, U64, VEC2],
    VEC4: [U32, I32, BOOL, U64, VEC2, VEC4],
}


def cast_lanes(source: DataType, target: DataType, lanes: list[int]) -> list[int]:
    if target == BOOL:
        return [int(any(lanes))]
    if LANES[source] > 1:
        return lanes[: LANES[target]]
    if target == U64:
        return [lanes[0], MASK if source == I32 and lanes[0] >> 31 else 0]
    return lanes * LANES[target]


def as_array(element: DataType, words: np.ndarray) -> np.ndarray:
    array = np.ascontiguousarray(words, np.uint32).view(DTYPES[element])
    return array.reshape(-1, LANES[element]) if element in (VEC2, VEC4) else array


@pytest.mark.parametrize("source", list(CASTS), ids=lambda t: t.name)
def test_casts(source):
    words = np.array([*EDGES, *EDGES[::-1], *[0] * 12, *[0, 0, 0, 1], *[0, 7, 0, 0]], np.uint32)
    i, n = Expr.gid_x(), len(words) // LANES[source]
    outs = [BufferDecl.read_write(f"to_{t.name}", k + 1, t) for k, t in enumerate(CASTS[source])]
    program = Program(
        buffers=[BufferDecl.read("from", 0, source), *outs],
        workgroup_size=(64, 1, 1),
        entry=[Node.store(out.name, i, Expr.cast(out.element, Expr.load("from", i))) for out in outs],
    )
    inputs = {out.name: as_array(out.element, np.zeros(n * LANES[out.element])) for out in outs}
    found = agreed(program, {"from": as_array(source, words), **inputs})
    for out in outs:
        lanes = words.reshape(n, -1).tolist()
        if source == BOOL:
            lanes = [[int(value != 0)] for [value] in lanes]
        expected = [lane for element in lanes for lane in cast_lanes(source, out.element, element)]
        assert found[out.name].view(np.uint32).ravel().tolist() == expected, out.name


@pytest.mark.parametrize("element", [U32, I32, BOOL, U64, VEC2, VEC4], ids=lambda t: t.name)
@pytest.mark.parametrize("access", [BufferAccess.ReadOnly, BufferAccess.ReadWrite, BufferAccess.Workgroup])
def test_out_of_bounds(element, access):
    n = 5
    indices = np.array([0, n - 1, n, n + 1, *FAR], np.uint32)
    i = Expr.gid_x()
    at = Expr.load("at", i)
    content = as_array(element, np.arange(1, n * LANES[element] + 1) % (2 if element == BOOL else 99))
    shared = access == BufferAccess.Workgroup
    decl = BufferDecl.workgroup("m", n, element) if shared else BufferDecl.storage("m", 3, access, element)
    entry = [Node.store("out", i, Expr.load("m", at))]
    if shared:
        entry = [Node.store("m", i, Expr.load("fill", i)), Node.barrier(), *entry]
    if access != BufferAccess.ReadOnly:
        # After every load: a store to each index, of which two are in range.
        value = Expr.load("fill", Expr.u32(1))
        entry += [Node.barrier(), Node.store("m", at, value), Node.barrier(), Node.store("after", i, Expr.load("m", i))]
    program = Program(
        buffers=[
            BufferDecl.read("at", 0, U32),
            BufferDecl.read("fill", 1, element),
            BufferDecl.read_write("out", 2, element),
            BufferDecl.read_write("after", 4, element),
            decl,
        ],
        workgroup_size=(len(indices), 1, 1),
        entry=entry,
    )
    empty = as_array(element, np.zeros(len(indices) * LANES[element]))
    inputs = {"at": indices, "fill": content, "out": empty, "after": empty.copy()}
    if not shared:
        inputs["m"] = content.copy()
    found = agreed(program, inputs)
    expected = empty.copy()
    expected[:2] = content[[0, n - 1]]
    np.testing.assert_array_equal(found["out"], expected)
    if access != BufferAccess.ReadOnly:
        stored = empty.copy()
        stored[:n] = content
        stored[[0, n - 1]] = content[1]
        np.testing.assert_array_equal(found["after"], stored)


ATOMICS = {
    Expr.atomic_add: lambda old, v: old + v,
    Expr.atomic_and: lambda old, v: old & v,
    Expr.atomic_or: lambda old, v: old | v,
    Expr.atomic_xor: lambda old, v: old ^ v,
    Expr.atomic_min: min,
    Expr.atomic_max: max,
    Expr.atomic_exchange: lambda old, v: v,
}


@pytest.mark.parametrize(
    ("element", "declared"),
    # The type document's column.
    [(U32, "u32"), (I32, "i32"), (U64, "vec2<u32>"), (VEC2, "vec2<u32>"), (VEC4, "vec4<u32>"), (BOOL, "u32")],
    ids=lambda part: getattr(part, "name", part),
)
def test_arrays_are_declared_as_the_type_document_maps_their_elements(element, declared):
    program = Program(
        [
            BufferDecl.read("in", 0, element),
            BufferDecl.uniform("constant", 1, element),
            BufferDecl.read_write("out", 2, element),
            BufferDecl.workgroup("shared", 4, element),
        ],
        (1, 1, 1),
        [
            Node.store("shared", 0, Expr.load("in", 0)),
            Node.store("out", 0, Expr.load("shared", 0)),
            Node.store("out", 1, Expr.load("constant", 0)),
        ],
    )
    lines = vyre.lower(program, target="wgsl").splitlines()
    arrays = [line for line in lines if "array<" in line and "params" not in line]
    assert arrays == [
        f"@group(0) @binding(0) var<storage, read> b0: array<{declared}>;",
        f"@group(0) @binding(1) var<storage, read> b1: array<{declared}>;",
        f"@group(0) @binding(2) var<storage, read_write> b2: array<{declared}>;",
        f"var<workgroup> s0: array<{declared}, 4>;",
    ]


def test_atomics_in_and_out_of_bounds():
    """Each on cells of its own: in range, then far outside, where it gives 0 and changes nothing."""
    old, value = 0x80000005, 0xC
    indices = np.array([0, *FAR], np.uint32)
    i = Expr.gid_x()
    at, n = Expr.load("at", i), Expr.buf_len("at")
    # Lane 0 has a cell of its own for each; the others keep their far index.
    cells = [Expr.select(i == 0, Expr.u32(k), at) for k in range(len(ATOMICS) + 2)]
    values = [op("cells", cell, value) for op, cell in zip(ATOMICS, cells[:-2], strict=True)]
    values += [Expr.atomic_compare_exchange("cells", cells[-2], old, value)]
    values += [Expr.atomic_compare_exchange("cells", cells[-1], old + 1, value)]
    entry = [Node.store("out", n * k + i, made) for k, made in enumerate(values)]
    expected_out = [old, *[0] * len(FAR)] * len(values)
    expected_cells = [meaning(old, value) & MASK for meaning in ATOMICS.values()] + [value, old]
    program = Program(
        buffers=[
            BufferDecl.read("at", 0, U32),
            BufferDecl.read_write("cells", 1, U32),
            BufferDecl.read_write("out", 2, U32),
        ],
        workgroup_size=(len(indices), 1, 1),
        entry=entry,
    )
    filled = np.full(len(values), old, np.uint32)
    found = agreed(program, {"at": indices, "cells": filled, "out": np.zeros(len(expected_out), np.uint32)})
    assert found["out"].tolist() == expected_out
    assert found["cells"].tolist() == expected_cells


def test_a_contended_compare_exchange_never_fails_for_no_reason():
    """256 invocations take a number each: every failure must be somebody's success."""
    taken = Expr.atomic_compare_exchange("next", 0, Expr.var("want"), Expr.var("want") + 1)
    program = Program(
        buffers=[BufferDecl.read_write("next", 0, U32), BufferDecl.read_write("wins", 1, U32)],
        workgroup_size=(64, 1, 1),
        entry=[
            Node.loop(
                "want",
                0,
                16,
                [
                    Node.let("old", taken),
                    Node.if_(
                        Expr.var("old") == Expr.var("want"),
                        [Node.let("won", Expr.atomic_add("wins", Expr.var("want"), 1))],
                    ),
                ],
            )
        ],
    )
    inputs = {"next": np.zeros(1, np.uint32), "wins": np.zeros(16, np.uint32)}
    found = wgsl_runner.run(program, inputs, (4, 1, 1))
    assert found["next"].tolist() == [16]
    assert found["wins"].tolist() == [1] * 16


def test_barriers_and_workgroup_memory(rng):
    size, groups = 64, 8
    lid, half = Expr.local_x(), Expr.u32(size // 2) >> Expr.var("k")
    halves = Node.loop(
        "k",
        0,
        6,
        [
            Node.let("half", half),
            Node.if_(
                lid < Expr.var("half"),
                [Node.store("part", lid, Expr.load("part", lid) + Expr.load("part", lid + Expr.var("half")))],
            ),
            Node.barrier(),
        ],
    )
    program = Program(
        buffers=[
            BufferDecl.read("data", 0, U32),
            BufferDecl.read_write("sums", 1, U32),
            BufferDecl.workgroup("part", size, U32),
        ],
        workgroup_size=(size, 1, 1),
        entry=[
            Node.store("part", lid, Expr.load("data", Expr.gid_x())),
            Node.barrier(),
            halves,
            Node.if_(lid == 0, [Node.store("sums", Expr.workgroup_x(), Expr.load("part", 0))]),
        ],
    )
    data = rng.integers(0, 2**32, size * groups).astype(np.uint32)
    found = agreed(program, {"data": data, "sums": np.zeros(groups, np.uint32)}, (groups, 1, 1))
    assert found["sums"].tolist() == data.reshape(groups, size).sum(axis=1, dtype=np.uint32).tolist()


def test_workgroup_memory_starts_as_zeros_in_each_workgroup():
    """llvmpipe 22.3 gives a workgroup what the one before it on the same core has left, also to wgpu."""
    size, groups = 32, 16
    program = Program(
        buffers=[BufferDecl.read_write("out", 0, U32), BufferDecl.workgroup("m", 3 * size, U32)],
        workgroup_size=(size, 1, 1),
        entry=[
            Node.store("out", Expr.gid_x(), Expr.load("m", Expr.local_x() + 2 * size)),
            Node.barrier(),
            Node.store("m", Expr.local_x() + 2 * size, 5),
        ],
    )
    found = agreed(program, {"out": np.full(size * groups, 9, np.uint32)}, (groups, 1, 1))
    assert not found["out"].any()


def test_returns_and_loops():
    i, k, total = Expr.gid_x(), Expr.var("k"), Expr.var("total")
    program = Program(
        buffers=[BufferDecl.read_write("out", 0, U32)],
        workgroup_size=(32, 1, 1),
        entry=[
            Node.let("total", 0),
            Node.loop(
                "k",
                i & 3,
                i,
                [
                    Node.assign("total", total + k),
                    Node.if_(
                        total > 100,
                        [Node.store("out", i, total), Node.return_()],
                        [Node.loop("j", 2, 1, [Node.return_()])],
                    ),
                ],
            ),
            Node.store("out", i, total + 1000),
        ],
    )
    found = agreed(program, {"out": np.zeros(64, np.uint32)}, (2, 1, 1))["out"]
    expected = []
    for index in range(64):
        sums = np.cumsum(np.arange(index & 3, index)) if index > index & 3 else np.array([0])
        over = sums[sums > 100]
        expected.append(int(over[0]) if len(over) else int(sums[-1]) + 1000)
    assert found.tolist() == expected


@pytest.mark.parametrize("family", ["bitwise", "compare", "logical", "math", "rng", "u64"])
def test_standard_operations(family, rng):
    """Their examples, and random arguments, through calls."""
    ops = [vyre.ops.get(id) for id in vyre.ops.ids() if id.startswith(f"primitive.{family}.")]
    assert ops
    for start in range(0, len(ops), 8):
        entry = []
        words = rng.choice(np.array([*EDGES, *rng.integers(0, 2**32, 6)], np.uint32), 64)
        position, written = 0, 0
        for op in ops[start : start + 8]:
            arguments = []
            for element in op.signature.inputs:
                lanes = [Expr.load("in", (position + k) % 64) for k in range(LANES[element])]
                position += LANES[element]
                arguments.append(Expr.pack(element, lanes) if LANES[element] > 1 else Expr.cast(element, lanes[0]))
            name = f"result{written}"
            entry.append(Node.let(name, Expr.call(op.id, arguments)))
            for k in range(LANES[op.signature.output]):
                result = Expr.var(name)
                entry.append(
                    Node.store(
                        "out",
                        written,
                        Expr.lane(result, k) if LANES[op.signature.output] > 1 else Expr.cast(U32, result),
                    )
                )
                written += 1
        program = Program(
            buffers=[BufferDecl.read("in", 0, U32), BufferDecl.read_write("out", 1, U32)],
            workgroup_size=(1, 1, 1),
            entry=entry,
        )
        agreed(program, {"in": words, "out": np.zeros(written, np.uint32)})


def test_literals_that_wgsl_would_refuse():
    """x / 0, shifts by 32 and constant indices out of range do not compile in WGSL where it sees constants."""
    values = [
        (Expr.div(Expr.u32(7), Expr.u32(0)), 0),
        (Expr.rem(Expr.u32(7), Expr.u32(0)), 0),
        (Expr.u32(1) << Expr.u32(32), 1),
        (Expr.u32(2**31) >> Expr.u32(33), 2**30),
        (Expr.u32(MASK) + Expr.u32(1), 0),
        (Expr.u32(0) - Expr.u32(1), MASK),
        (Expr.u32(MASK) * Expr.u32(MASK), 1),
        (Expr.negate(Expr.u32(1)), MASK),
        (Expr.cast(U32, Expr.sdiv(Expr.i32(-(2**31)), Expr.i32(-1))), 2**31),
        (Expr.cast(U32, Expr.smod(Expr.i32(-(2**31)), Expr.i32(-1))), 0),
        (Expr.cast(U32, Expr.sdiv(Expr.i32(5), Expr.i32(0))), 0),
        (Expr.cast(U32, Expr.sshr(Expr.i32(-2), Expr.u32(33))), MASK),
        (Expr.rotl(Expr.u32(3), Expr.u32(32)), 3),
        (Expr.load("out", 2**32 - 1), 0),
        (Expr.load("out", 2**30), 0),
        (Expr.load("shared", 4), 0),
        (Expr.atomic_add("count", 7, 1), 0),
    ]
    entry = [Node.store("out", k, value) for k, (value, _) in enumerate(values)]
    entry += [
        Node.store("out", 2**32 - 1, 5),
        Node.store("out", 2**30, 5),
        Node.store("shared", 4, 5),
        Node.store("empty", 0, 5),
    ]
    program = Program(
        buffers=[
            BufferDecl.read_write("out", 0, U32),
            BufferDecl.read_write("count", 1, U32),
            BufferDecl.read_write("empty", 4294967295, U32),
            BufferDecl.workgroup("shared", 4, U32),
        ],
        workgroup_size=(1, 1, 1),
        entry=entry,
    )
    inputs = {
        "out": np.full(len(values), 9, np.uint32),
        "count": np.zeros(1, np.uint32),
        "empty": np.zeros(0, np.uint32),
    }
    found = agreed(program, inputs)
    assert found["out"].tolist() == [expected for _, expected in values]
    assert found["count"].tolist() == [0]


def test_reserved_words_and_odd_names():
    names = ["let", "main", "params", "gl_in", "a-b", "日本", "b0", "v0", "workgroup_id", "__x", " "]
    program = Program(
        buffers=[BufferDecl.read_write(name, k, U32) for k, name in enumerate(names[:7])],
        workgroup_size=(1, 1, 1),
        entry=[
            *[Node.let(name, k + 1) for k, name in enumerate(names)],
            *[Node.assign(name, Expr.var(name) + 1) for name in names],
            *[Node.store(name, 0, Expr.var(name)) for name in names[:7]],
        ],
    )
    found = agreed(program, {name: np.zeros(1, np.uint32) for name in names[:7]})
    assert [int(found[name][0]) for name in names[:7]] == list(range(2, 9))


def test_ids_and_a_split_grid():
    """A grid in two dispatches has the ids of one: the second starts at a first workgroup of its own."""
    x, y, z = (Expr.invocation_id(axis) for axis in range(3))
    at = (z * 12 + y) * 8 + x
    groups = Expr.workgroup_x() + Expr.workgroup_y() * 100 + Expr.workgroup_z() * 10_000
    locals_ = Expr.local_x() + Expr.local_y() * 100 + Expr.local_z() * 10_000
    program = Program(
        buffers=[BufferDecl.read_write("groups", 0, U32), BufferDecl.read_write("locals", 1, U32)],
        workgroup_size=(4, 3, 2),
        entry=[Node.store("groups", at, groups), Node.store("locals", at, locals_)],
    )
    n = 8 * 12 * 4
    inputs = {"groups": np.zeros(n, np.uint32), "locals": np.zeros(n, np.uint32)}
    expected = agreed(program, inputs, (2, 4, 2))
    text, contents = vyre.lower(program, target="wgsl"), [a.tobytes() for a in inputs.values()]
    for first, count in [((0, 0, 0), (2, 1, 2)), ((0, 1, 0), (2, 3, 1)), ((0, 1, 1), (2, 3, 1))]:
        contents = wgsl_runner.run_text(text, contents, [n, n], [True, True], count, first)
    for content, array in zip(contents, expected.values(), strict=True):
        np.testing.assert_array_equal(np.frombuffer(content, np.uint32), array)


def test_deep_and_long_programs_parse():
    """Depth is flat text: naga would overflow its stack on 5,000 parentheses, and allows 127 braces."""
    deep = Expr.gid_x()
    for k in range(5000):
        deep = deep * 3 + k
    nested = [Node.store("out", Expr.gid_x(), 1)]
    for _ in range(64):
        nested = [Node.if_(Expr.gid_x() < Expr.buf_len("out"), nested)]
    program = Program(
        buffers=[BufferDecl.read_write("out", 0, U32)],
        workgroup_size=(1, 1, 1),
        entry=[Node.store("out", 0, deep), *nested],
    )
    wgsl_runner.check(vyre.lower(program, target="wgsl"))


def golden_programs() -> dict[str, Program]:
    i = Expr.var("i")
    lid, half = Expr.local_x(), Expr.var("half")
    return {
        "xor": Program(
            buffers=[
                BufferDecl.read("left", 0, U32),
                BufferDecl.read("right", 1, U32),
                BufferDecl.output("out", 2, U32),
            ],
            workgroup_size=(64, 1, 1),
            entry=[
                Node.let("i", Expr.gid_x()),
                Node.if_(i < Expr.buf_len("out"), [Node.store("out", i, Expr.load("left", i) ^ Expr.load("right", i))]),
            ],
        ),
        "histogram": Program(
            buffers=[BufferDecl.read("data", 0, U32), BufferDecl.output("bins", 1, U32)],
            workgroup_size=(256, 1, 1),
            entry=[
                Node.let("i", Expr.gid_x()),
                Node.if_(i >= Expr.buf_len("data"), [Node.return_()]),
                Node.let("old", Expr.atomic_add("bins", Expr.load("data", i) % Expr.buf_len("bins"), 1)),
            ],
        ),
        "workgroup_sum": Program(
            buffers=[
                BufferDecl.read("data", 0, U32),
                BufferDecl.output("sums", 1, U32),
                BufferDecl.workgroup("part", 64, U32),
            ],
            workgroup_size=(64, 1, 1),
            entry=[
                Node.store("part", lid, Expr.load("data", Expr.gid_x())),
                Node.barrier(),
                Node.loop(
                    "k",
                    0,
                    6,
                    [
                        Node.let("half", Expr.u32(32) >> Expr.var("k")),
                        Node.if_(
                            lid < half,
                            [Node.store("part", lid, Expr.load("part", lid) + Expr.load("part", lid + half))],
                        ),
                        Node.barrier(),
                    ],
                ),
                Node.if_(lid == 0, [Node.store("sums", Expr.workgroup_x(), Expr.load("part", 0))]),
            ],
        ),
    }


@pytest.mark.parametrize("name", list(golden_programs()))
def test_text_is_as_kept(name):
    """VYRE_UPDATE_GOLDEN=1 writes the texts anew."""
    text = vyre.lower(golden_programs()[name], target="wgsl")
    wgsl_runner.check(text)
    path = GOLDEN / f"{name}.wgsl"
    if os.environ.get("VYRE_UPDATE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()


def test_breaks_leave_the_innermost_loop_alone(rng):
    i, k, j, n = (Expr.var(name) for name in ("i", "k", "j", "n"))
    program = Program(
        [BufferDecl.read("data", 0, U32), BufferDecl.output("out", 1, U32)],
        (32, 1, 1),
        [
            Node.let("i", Expr.gid_x()),
            Node.let("n", 0),
            Node.loop(
                "k",
                0,
                MASK,
                [
                    Node.if_(k >= Expr.load("data", i), [Node.break_()]),
                    Node.loop(
                        "j",
                        0,
                        MASK,
                        [Node.if_(j > k, [Node.block([Node.break_()])], [Node.assign("n", n + j)])],
                    ),
                ],
            ),
            Node.store("out", i, n),
        ],
    )
    data = rng.integers(0, 30, 64, dtype=np.uint32)
    found = agreed(program, {"data": data, "out": np.zeros(64, np.uint32)}, (2, 1, 1))["out"]
    assert found.tolist() == [sum(j for k in range(count) for j in range(k + 1)) for count in data.tolist()]


@pytest.mark.parametrize("element", [U32, I32, U64, BOOL, VEC2, VEC4], ids=lambda element: element.name)
def test_private_memory_is_zero_and_bounded(element):
    k = Expr.var("k")
    program = Program(
        [
            BufferDecl.private("mine", 5, element),
            BufferDecl.read("given", 0, element),
            BufferDecl.read("at", 1, U32),
            BufferDecl.output("out", 2, element),
        ],
        (8, 1, 1),
        [
            Node.store("mine", Expr.load("at", Expr.gid_x()), Expr.load("given", 0)),
            Node.store("mine", 5, Expr.load("given", 1)),
            Node.loop("k", 0, 6, [Node.store("out", Expr.gid_x() * 6 + k, Expr.load("mine", k))]),
        ],
    )
    given = np.array([0x01020304, 1, 2, 3, 4, 5, 6, 7], np.uint32)
    given = {U64: given.view(np.uint64), I32: given.view(np.int32), BOOL: given.astype(bool)}.get(element, given)
    at = np.array([0, 1, 2, 3, 4, 5, 2**30, MASK], np.uint32)
    width = {VEC2: 2, VEC4: 4}.get(element, 1)
    shape = (48, width) if width > 1 else (48,)
    given = given.reshape(-1, *shape[1:])
    out = agreed(program, {"given": given, "at": at, "out": np.zeros(shape, given.dtype)})["out"]
    wanted = np.zeros((8, 6, width), given.dtype)
    for invocation, index in enumerate(at.tolist()):
        if index < 5:
            wanted[invocation, index] = given[0]
    np.testing.assert_array_equal(out.ravel(), wanted.ravel())


def test_atomics_on_workgroup_memory(rng):
    local, bins = Expr.local_x(), 10
    program = Program(
        [
            BufferDecl.read("data", 0, U32),
            BufferDecl.output("out", 1, U32),
            BufferDecl.workgroup("counts", bins, U32, atomic=True),
        ],
        (64, 1, 1),
        [
            Node.let("old", Expr.atomic_add("counts", Expr.load("data", Expr.gid_x()), 1)),
            Node.let("same", Expr.atomic_compare_exchange("counts", bins - 1, 0, 77)),
            Node.barrier(),
            Node.if_(local < bins, [Node.store("out", Expr.workgroup_x() * bins + local, Expr.load("counts", local))]),
        ],
    )
    data = rng.integers(0, bins + 2, 192, dtype=np.uint32)
    data[data == bins - 1] = 0
    out = agreed(program, {"data": data, "out": np.zeros(3 * bins, np.uint32)}, (3, 1, 1))["out"]
    wanted = [np.bincount(part, minlength=bins)[:bins] for part in data.reshape(3, 64)]
    np.testing.assert_array_equal(out.reshape(3, bins)[:, :-1], np.array(wanted)[:, :-1])
    assert (out.reshape(3, bins)[:, -1] == 77).all()
