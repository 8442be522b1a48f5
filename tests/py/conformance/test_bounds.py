"""Out of bounds, for every u32 index: loads give zero, stores and atomics do nothing (semantics, section 5)."""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from vyre import BufferAccess, BufferDecl, DataType, Expr, Node, Program

N = 5
INDICES = [0, N - 1, N, N + 1, 2**30, 2**30 + 1, 2**31, 2**32 - 1]
U32 = DataType.U32
ELEMENTS = {
    DataType.U32: np.arange(1, N + 1, dtype=np.uint32),
    DataType.I32: -np.arange(1, N + 1, dtype=np.int32),
    DataType.U64: np.arange(1, N + 1, dtype=np.uint64) << np.uint64(33) | np.uint64(1),
    DataType.Vec2U32: np.arange(1, 2 * N + 1, dtype=np.uint32).reshape(N, 2),
    DataType.Vec4U32: np.arange(1, 4 * N + 1, dtype=np.uint32).reshape(N, 4),
    DataType.Bool: np.ones(N, np.uint32),
}
i = Expr.var("i")


def invocations(*body: Node) -> list[Node]:
    return [Node.let("i", Expr.gid_x()), Node.if_(i < len(INDICES), list(body))]


def index_array() -> np.ndarray:
    return np.array(INDICES, np.uint32)


@pytest.mark.parametrize("element", ELEMENTS, ids=lambda e: e.name)
@pytest.mark.parametrize(
    "access", [BufferAccess.ReadOnly, BufferAccess.ReadWrite, BufferAccess.Uniform], ids=lambda a: a.name
)
def test_load(element, access, target):
    data = ELEMENTS[element]
    program = Program(
        [
            BufferDecl.storage("data", 0, access, element),
            BufferDecl.read("index", 1, U32),
            BufferDecl.output("out", 2, element),
        ],
        (8, 1, 1),
        invocations(Node.store("out", i, Expr.load("data", Expr.load("index", i)))),
    )
    out = np.full((len(INDICES), *data.shape[1:]), 77, data.dtype)
    got = vyre.run(program, {"data": data, "index": index_array(), "out": out}, 1, **target)["out"]
    expected = np.array([data[k] if k < N else np.zeros_like(data[0]) for k in INDICES])
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("element", ELEMENTS, ids=lambda e: e.name)
def test_load_from_workgroup_memory(element, target):
    data = ELEMENTS[element]
    program = Program(
        [
            BufferDecl.workgroup("data", N, element),
            BufferDecl.read("index", 1, U32),
            BufferDecl.read("from", 0, element),
            BufferDecl.output("out", 2, element),
        ],
        (8, 1, 1),
        [
            Node.let("i", Expr.gid_x()),
            Node.store("data", i, Expr.load("from", i)),
            Node.barrier(),
            Node.store("out", i, Expr.load("data", Expr.load("index", i))),
        ],
    )
    out = np.full((len(INDICES), *data.shape[1:]), 77, data.dtype)
    got = vyre.run(program, {"from": data, "index": index_array(), "out": out}, 1, **target)["out"]
    expected = np.array([data[k] if k < N else np.zeros_like(data[0]) for k in INDICES])
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("element", ELEMENTS, ids=lambda e: e.name)
def test_store(element, target):
    before = ELEMENTS[element]
    values = before[::-1][:1].repeat(len(INDICES), axis=0)
    program = Program(
        [
            BufferDecl.read_write("guard_low", 3, U32),
            BufferDecl.read_write("data", 0, element),
            BufferDecl.read_write("guard_high", 4, U32),
            BufferDecl.read("index", 1, U32),
            BufferDecl.read("value", 2, element),
        ],
        (8, 1, 1),
        invocations(Node.store("data", Expr.load("index", i), Expr.load("value", i))),
    )
    guard = np.arange(100, 132, dtype=np.uint32)
    out = vyre.run(
        program,
        {"guard_low": guard, "data": before, "guard_high": guard, "index": index_array(), "value": values}
        | {"guard_low": guard.copy()},
        1,
        **target,
    )
    expected = before.copy()
    expected[[k for k in INDICES if k < N]] = values[0]
    np.testing.assert_array_equal(out["data"], expected)
    np.testing.assert_array_equal(out["guard_low"], guard)
    np.testing.assert_array_equal(out["guard_high"], guard)


ATOMICS = {
    "atomic_add": lambda old, v: old + v,
    "atomic_and": lambda old, v: old & v,
    "atomic_or": lambda old, v: old | v,
    "atomic_xor": lambda old, v: old ^ v,
    "atomic_min": min,
    "atomic_max": max,
    "atomic_exchange": lambda old, v: v,
    "atomic_compare_exchange": lambda old, v: v if old == 6 else old,
}


@pytest.mark.parametrize("name", ATOMICS)
def test_atomic(name, target):
    """Lanes in, out and mixed in one workgroup; every value stays what it was, or becomes what the table says."""
    operation = getattr(Expr, name)
    value = 0b101
    call = (
        operation("data", Expr.load("index", i), 6, value)
        if name == "atomic_compare_exchange"
        else operation("data", Expr.load("index", i), value)
    )
    program = Program(
        [BufferDecl.read_write("data", 0, U32), BufferDecl.read("index", 1, U32), BufferDecl.output("out", 2, U32)],
        (8, 1, 1),
        invocations(Node.store("out", i, call)),
    )
    data = np.arange(6, 6 + N, dtype=np.uint32)
    got = vyre.run(
        program, {"data": data, "index": index_array(), "out": np.full(len(INDICES), 77, np.uint32)}, 1, **target
    )
    np.testing.assert_array_equal(got["out"], [data[k] if k < N else 0 for k in INDICES])
    expected = data.copy()
    for k in INDICES:
        if k < N:
            expected[k] = ATOMICS[name](int(data[k]), value)
    np.testing.assert_array_equal(got["data"], expected)


def test_constant_indices_out_of_bounds(target):
    """A compiler sees these; it may not take them for proof of anything."""
    program = Program(
        [BufferDecl.read("data", 0, U32), BufferDecl.output("out", 1, U32), BufferDecl.workgroup("tile", 4, U32)],
        (1, 1, 1),
        [
            *(Node.store("out", k, Expr.load("data", index)) for k, index in enumerate(INDICES)),
            *(Node.store("tile", index, 9) for index in INDICES),
            *(Node.store("out", 8 + k, Expr.load("tile", index)) for k, index in enumerate(INDICES)),
            *(Node.store("out", index, 1) for index in (2**30, 2**31, 2**32 - 1)),
        ],
    )
    data = np.arange(1, N + 1, dtype=np.uint32)
    got = vyre.run(program, {"data": data, "out": np.full(16, 77, np.uint32)}, 1, **target)["out"]
    assert got[:8].tolist() == [int(data[k]) if k < N else 0 for k in INDICES]
    assert got[8:].tolist() == [9 if k < 4 else 0 for k in INDICES]


def test_empty_buffers(target):
    program = Program(
        [BufferDecl.read("data", 0, U32), BufferDecl.read_write("none", 1, U32), BufferDecl.output("out", 2, U32)],
        (1, 1, 1),
        [
            Node.store("out", 0, Expr.buf_len("data") + Expr.buf_len("none")),
            Node.store("out", 1, Expr.load("data", 0)),
            Node.store("none", 0, 5),
            Node.store("out", 2, Expr.atomic_add("none", 0, 1)),
        ],
    )
    empty = np.zeros(0, np.uint32)
    got = vyre.run(program, {"data": empty, "none": empty, "out": np.full(3, 77, np.uint32)}, 1, **target)
    assert got["out"].tolist() == [0, 0, 0]
    assert got["none"].shape == (0,)


def test_bool_words_that_nobody_touches_come_back(target):
    program = Program(
        [BufferDecl.read_write("flags", 0, DataType.Bool)],
        (1, 1, 1),
        [Node.store("flags", 1, Expr.load("flags", 2)), Node.store("flags", 3, Expr.bool(True))],
    )
    flags = np.array([7, 7, 7, 0, 9], np.uint32)
    got = vyre.run(program, {"flags": flags}, 1, **target)["flags"]
    assert got.tolist() == [7, 1, 7, 1, 9]


def test_length_of_bytes_counts_words(target):
    program = Program(
        [BufferDecl.read("data", 0, DataType.Bytes), BufferDecl.output("out", 1, U32)],
        (1, 1, 1),
        [Node.store("out", 0, Expr.buf_len("data"))],
    )
    for n, words in [(0, 0), (1, 1), (4, 1), (5, 2)]:
        assert vyre.run(program, {"data": bytes(n), "out": 1}, 1, **target)["out"].tolist() == [words]
