"""Loops of too many rounds for a conformance case, and the state that a refused call leaves behind.

Every test runs on every backend and device; what must come out is worked out by hand. See also vyre.conformance.
"""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from vyre import BufferDecl, DataType, Expr, Node, Program

U32 = DataType.U32


@pytest.mark.slow
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
        with pytest.raises(vyre.CapabilityError, match=r"loop.*Fix: "):
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
