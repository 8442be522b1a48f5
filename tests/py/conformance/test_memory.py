"""Loops of too many rounds for a conformance case, and the state that a refused call leaves behind.

Every test runs on every backend and device; what must come out is worked out by hand. See also vyre.conformance.
"""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from vyre import BufferDecl, DataType, Expr, Node, Program

U32 = DataType.U32


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
