"""What drivers get wrong: barriers, zeroed workgroup memory, far indices, returns in loops, odd bindings.

Every test runs on every backend and device; what must come out is worked out by hand or with numpy.
"""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from vyre import BufferDecl, DataType, Expr, Node, Program

U32 = DataType.U32
FAR = [2**30, 2**30 + 1, 2**31, 2**32 - 1]
ATOMICS = {
    "add": Expr.atomic_add,
    "and": Expr.atomic_and,
    "or": Expr.atomic_or,
    "xor": Expr.atomic_xor,
    "min": Expr.atomic_min,
    "max": Expr.atomic_max,
    "exchange": Expr.atomic_exchange,
    "compare_exchange": lambda buffer, index, value: Expr.atomic_compare_exchange(buffer, index, 7, value),
}


def atomic_result(name: str, old: int, value: int) -> int:
    """What the atomic leaves in memory, from the table of the semantics page."""
    return {
        "add": (old + value) % 2**32,
        "and": old & value,
        "or": old | value,
        "xor": old ^ value,
        "min": min(old, value),
        "max": max(old, value),
        "exchange": value,
        "compare_exchange": value if old == 7 else old,
    }[name]


@pytest.mark.parametrize("memory", ["storage", "workgroup"])
def test_a_barrier_passes_every_message(target, memory):
    """A million rounds: each invocation writes, waits, reads its neighbour's word, counts errors, waits."""
    size = 32
    # The loops stay below the 65,535 turns that one driver allows; the workgroups make up the million.
    rounds, groups = (500, 4) if target["backend"] == "reference" else (62_500, 16)
    lid, k, base = Expr.var("lid"), Expr.var("k"), Expr.var("base")
    mail = BufferDecl.read_write("mail", 0, U32) if memory == "storage" else BufferDecl.workgroup("mail", size, U32)
    neighbour = base + (lid + 1) % size
    program = Program(
        buffers=[mail, BufferDecl.read_write("wrong", 1, U32)],
        workgroup_size=(size, 1, 1),
        entry=[
            Node.let("lid", Expr.local_x()),
            Node.let("base", Expr.workgroup_x() * size if memory == "storage" else Expr.u32(0)),
            Node.let("errors", 0),
            Node.loop(
                "k",
                0,
                rounds,
                [
                    Node.store("mail", base + lid, k * 101 + lid),
                    Node.barrier(),
                    Node.assign(
                        "errors", Expr.var("errors") + (Expr.load("mail", neighbour) != k * 101 + (lid + 1) % size)
                    ),
                    Node.barrier(),
                ],
            ),
            Node.store("wrong", Expr.gid_x(), Expr.var("errors") + 1),
        ],
    )
    inputs = {"wrong": size * groups}
    if memory == "storage":
        inputs["mail"] = size * groups
    out = vyre.run(program, inputs, workgroups=groups, **target)
    assert (out["wrong"] == 1).all()
    if memory == "storage":
        assert (out["mail"] == (rounds - 1) * 101 + np.arange(size * groups) % size).all()


def test_a_divergent_loop_before_a_barrier(target):
    """Invocations take different numbers of turns, then all meet at the barrier."""
    size = 64
    lid, total = Expr.var("lid"), Expr.var("total")
    program = Program(
        buffers=[BufferDecl.workgroup("sums", size, U32), BufferDecl.read_write("out", 0, U32)],
        workgroup_size=(size, 1, 1),
        entry=[
            Node.let("lid", Expr.local_x()),
            Node.let("total", 0),
            Node.loop("k", 0, lid, [Node.assign("total", total + Expr.var("k"))]),
            Node.store("sums", lid, total),
            Node.barrier(),
            Node.store("out", Expr.gid_x(), Expr.load("sums", size - 1 - lid)),
        ],
    )
    out = vyre.run(program, {"out": size * 3}, workgroups=3, **target)["out"]
    expected = [n * (n - 1) // 2 for n in reversed(range(size))]
    assert out.tolist() == expected * 3


def test_a_uniform_return_in_a_round(target):
    """The whole workgroup leaves in the round that its id names, out of a loop that holds barriers."""
    size, groups, rounds = 32, 6, 5
    lid, k = Expr.var("lid"), Expr.var("k")
    program = Program(
        buffers=[BufferDecl.workgroup("mail", size, U32), BufferDecl.read_write("out", 0, U32)],
        workgroup_size=(size, 1, 1),
        entry=[
            Node.let("lid", Expr.local_x()),
            Node.loop(
                "k",
                0,
                rounds,
                [
                    Node.store("mail", lid, k * 1000 + lid),
                    Node.barrier(),
                    Node.store("out", Expr.gid_x(), Expr.load("mail", lid ^ 1)),
                    Node.if_(k == Expr.workgroup_x(), [Node.return_()]),
                    Node.barrier(),
                ],
            ),
            Node.store("out", Expr.gid_x(), 99_999),
        ],
    )
    out = vyre.run(program, {"out": size * groups}, workgroups=groups, **target)["out"].reshape(groups, size)
    lanes = np.arange(size) ^ 1
    for group in range(groups):
        expected = group * 1000 + lanes if group < rounds else np.full(size, 99_999)
        assert out[group].tolist() == expected.tolist()


def test_a_divergent_return_without_a_barrier(target):
    """Each invocation leaves a nested loop in a round of its own."""
    size = 64
    i, k, j = Expr.var("i"), Expr.var("k"), Expr.var("j")
    program = Program(
        buffers=[BufferDecl.read_write("out", 0, U32)],
        workgroup_size=(size, 1, 1),
        entry=[
            Node.let("i", Expr.gid_x()),
            Node.loop(
                "k",
                0,
                8,
                [
                    Node.loop(
                        "j",
                        0,
                        8,
                        [
                            Node.store("out", i, Expr.load("out", i) + 1),
                            Node.if_(k * 8 + j == i, [Node.return_()]),
                        ],
                    )
                ],
            ),
            Node.store("out", i, 0),
        ],
    )
    out = vyre.run(program, {"out": 128}, workgroups=2, **target)["out"]
    assert out.tolist() == [i + 1 for i in range(64)] + [0] * 64


def test_workgroup_memory_starts_as_zeros_in_every_workgroup(target):
    """Many workgroups, more than any machine runs at once; each must find zeros where others wrote."""
    size, groups, count = 64, 200, 100  # more elements than invocations
    lid = Expr.local_x()
    program = Program(
        buffers=[
            BufferDecl.workgroup("scalars", count, U32),
            BufferDecl.workgroup("vectors", 33, DataType.Vec4U32),
            BufferDecl.read_write("out", 0, U32),
        ],
        workgroup_size=(size, 1, 1),
        entry=[
            Node.let("seen", Expr.load("scalars", lid) | Expr.load("scalars", lid + size)),
            Node.let("vector", Expr.load("vectors", lid % 33)),
            Node.store(
                "out",
                Expr.gid_x(),
                Expr.var("seen")
                | Expr.lane(Expr.var("vector"), 0)
                | Expr.lane(Expr.var("vector"), 1)
                | Expr.lane(Expr.var("vector"), 2)
                | Expr.lane(Expr.var("vector"), 3),
            ),
            Node.barrier(),
            Node.store("scalars", lid, 0xDEADBEEF),
            Node.store("scalars", lid + size, 0xDEADBEEF),
            Node.if_(lid < 33, [Node.store("vectors", lid, Expr.vec4(1, 2, 3, 4))]),
        ],
    )
    out = vyre.run(program, {"out": np.full(size * groups, 5, np.uint32)}, workgroups=groups, **target)["out"]
    assert not out.any()


@pytest.mark.parametrize("name", ATOMICS)
@pytest.mark.parametrize("lanes", ["in", "out", "mixed"])
def test_atomics_out_of_bounds_give_zero_and_touch_nothing(target, name, lanes):
    """Four far indices and N itself, with other buffers around that must stay as they were."""
    count = 5
    n = 16
    i = Expr.var("i")
    indices = {
        "in": [0, 3, 8, 12, 15],
        "out": [n, *FAR],
        "mixed": [2, FAR[0], 15, FAR[2] + 2, FAR[3]],
    }[lanes]
    value = 0xF0F01234
    program = Program(
        buffers=[
            BufferDecl.read_write("before", 0, U32),
            BufferDecl.read_write("cells", 1, U32),
            BufferDecl.read_write("after", 2, U32),
            BufferDecl.read("indices", 3, U32),
            BufferDecl.read_write("old", 4, U32),
        ],
        workgroup_size=(8, 1, 1),
        entry=[
            Node.let("i", Expr.gid_x()),
            Node.if_(
                i < Expr.buf_len("indices"),
                [Node.store("old", i, ATOMICS[name]("cells", Expr.load("indices", i), value))],
            ),
        ],
    )
    cells = np.full(n, 7, np.uint32)
    guard = np.arange(64, dtype=np.uint32) + 0xABCD0000
    out = vyre.run(
        program,
        {
            "before": guard,
            "cells": cells,
            "after": guard + 1,
            "indices": np.array(indices, np.uint32),
            "old": np.full(count, 0x55, np.uint32),
        },
        workgroups=1,
        **target,
    )
    expected = cells.copy()
    for index in indices:
        if index < n:
            expected[index] = atomic_result(name, 7, value)
    assert out["old"].tolist() == [7 if index < n else 0 for index in indices]
    assert out["cells"].tolist() == expected.tolist()
    assert (out["before"] == guard).all()
    assert (out["after"] == guard + 1).all()


@pytest.mark.parametrize(
    ("element", "dtype", "width"),
    [
        (DataType.U32, np.uint32, 1),
        (DataType.I32, np.int32, 1),
        (DataType.Bool, np.uint32, 1),
        (DataType.U64, np.uint64, 1),
        (DataType.Vec2U32, np.uint32, 2),
        (DataType.Vec4U32, np.uint32, 4),
    ],
    ids=lambda value: str(value) if isinstance(value, DataType) else "",
)
@pytest.mark.parametrize("access", ["read", "read_write", "uniform", "workgroup"])
def test_loads_and_stores_out_of_bounds(target, element, dtype, width, access):
    """Loads give zero, stores nothing, for N and far beyond it, whatever the element and the access."""
    n = 6
    wanted = [0, n - 1, n, *FAR]
    i = Expr.var("i")
    shape = (n,) if width == 1 else (n, width)
    make = {
        "read": lambda: BufferDecl.read("data", 0, element),
        "read_write": lambda: BufferDecl.read_write("data", 0, element),
        "uniform": lambda: BufferDecl.uniform("data", 0, element),
        "workgroup": lambda: BufferDecl.workgroup("data", n, element),
    }[access]
    # A workgroup array is first filled from `data0`; the others hold their values already.
    fill = [
        Node.if_(Expr.local_x() < n, [Node.store("data", Expr.local_x(), Expr.load("data0", Expr.local_x()))]),
        Node.barrier(),
    ]
    buffers = [make(), BufferDecl.read("indices", 1, U32), BufferDecl.read_write("out", 2, element)]
    if access == "workgroup":
        buffers.append(BufferDecl.read("data0", 3, element))
    stores = [Node.store("data", Expr.load("indices", i), Expr.load("data0" if access == "workgroup" else "out", i))]
    program = Program(
        buffers=buffers,
        workgroup_size=(8, 1, 1),
        entry=[
            *(fill if access == "workgroup" else []),
            Node.let("i", Expr.gid_x()),
            Node.if_(i < Expr.buf_len("indices"), [Node.store("out", i, Expr.load("data", Expr.load("indices", i)))]),
            # Far stores only: they must change nothing.
            *(
                [Node.if_(Expr.logical_and(i >= 2, i < Expr.buf_len("indices")), stores)]
                if access in ("read_write", "workgroup")
                else []
            ),
        ],
    )
    data = (np.arange(n * width).reshape(shape) + 1).astype(dtype)
    if element == DataType.Bool:
        data = np.ones(shape, dtype)
    out_before = np.ones((len(wanted), *shape[1:]), dtype)
    inputs = {"indices": np.array(wanted, np.uint32), "out": out_before}
    inputs["data0" if access == "workgroup" else "data"] = data
    out = vyre.run(program, inputs, workgroups=1, **target)
    zero = np.zeros_like(data[0])
    expected = [data[index] if index < n else zero for index in wanted]
    assert out["out"].tolist() == np.array(expected).tolist()
    if access == "read_write":
        assert out["data"].tolist() == data.tolist()


def test_the_largest_binding_number_and_empty_arrays(target):
    """Bindings are the program's own numbers; an empty buffer has length 0 and swallows everything."""
    program = Program(
        buffers=[
            BufferDecl.read("nothing", 4294967295, U32),
            BufferDecl.read_write("hole", 4294967294, DataType.Vec4U32),
            BufferDecl.output("out", 7, U32),
        ],
        workgroup_size=(4, 1, 1),
        entry=[
            Node.store("hole", Expr.gid_x(), Expr.vec4(1, 2, 3, 4)),
            Node.store(
                "out",
                Expr.gid_x(),
                Expr.load("nothing", Expr.gid_x())
                + Expr.lane(Expr.load("hole", Expr.gid_x()), 3)
                + Expr.buf_len("nothing") * 100
                + Expr.buf_len("hole") * 10
                + 1,
            ),
        ],
    )
    empty = {"nothing": np.zeros(0, np.uint32), "hole": np.zeros((0, 4), np.uint32)}
    out = vyre.run(program, {**empty, "out": 4}, workgroups=1, **target)
    assert out["out"].tolist() == [1, 1, 1, 1]
    assert out["hole"].shape == (0, 4)
    out = vyre.run(program, {**empty, "out": 0}, workgroups=3, **target)
    assert out["out"].size == 0


def cut_loops(target) -> bool:
    """Whether the driver was found to end loops on its own account; the probe runs when the device is first used."""
    if "device" not in target:
        return False
    vyre.run(Program(), {}, workgroups=1, **target)
    return vyre.devices()[target["device"]].probes["loop_budget"] != "none"


LOOPS = {
    "70,000 turns": (70_000, lambda count: [Node.loop("k", 0, 70_000, [count])]),
    "300 x 300 turns": (90_000, lambda count: [Node.loop("k", 0, 300, [Node.loop("j", 0, 300, [count])])]),
    "two loops of 40,000 turns": (
        80_000,
        lambda count: [Node.loop("k", 0, 40_000, [count]), Node.loop("k", 0, 40_000, [count])],
    ),
}


@pytest.mark.parametrize("shape", LOOPS)
def test_long_loops_give_the_right_bytes_or_a_typed_error(target, shape):
    """A driver that ends loops early is refused by name; it never gives wrong bytes, and the next call works."""
    total, loops = LOOPS[shape]
    n = 64
    count = Node.assign("count", Expr.var("count") + 1)
    program = Program(
        buffers=[BufferDecl.output("out", 0, U32)],
        workgroup_size=(32, 1, 1),
        entry=[Node.let("count", Expr.gid_x()), *loops(count), Node.store("out", Expr.gid_x(), Expr.var("count"))],
    )
    before = np.full(n, 3, np.uint32)
    if cut_loops(target):
        with pytest.raises(vyre.DeviceError, match=r"loop.*Fix: "):
            vyre.run(program, {"out": before}, workgroups=2, **target)
    else:
        out = vyre.run(program, {"out": before}, workgroups=2, **target)["out"]
        assert out.tolist() == [total + i for i in range(n)]
    assert (before == 3).all()
    short = Program(
        buffers=[BufferDecl.output("out", 0, U32)],
        workgroup_size=(32, 1, 1),
        entry=[
            Node.let("count", 0),
            Node.loop("k", 0, 1000, [count]),
            Node.store("out", Expr.gid_x(), Expr.var("count")),
        ],
    )
    assert (vyre.run(short, {"out": n}, workgroups=2, **target)["out"] == 1000).all()
