"""A program whose calls no backend could expand is refused by every backend and every path, before anything runs."""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from vyre import BufferDecl, DataType, Expr, Node, OpSignature, OpSpec, Program, ops

U32 = DataType.U32
INPUTS = {"out": np.zeros(1, np.uint32)}
MESSAGE = (
    "expanding `test.expansion31` makes the program larger than 100000 statements and expressions. "
    "Fix: call it less often, or split the program."
)


@pytest.fixture(scope="module")
def program() -> Program:
    """Each operation calls the one below twice: 2^31 additions."""
    a = Expr.var("a")
    result = a + 1
    for level in range(32):
        ops.register(OpSpec(f"test.expansion{level}", OpSignature([U32], U32), parameters=["a"], result=result))
        result = Expr.call(f"test.expansion{level}", [Expr.call(f"test.expansion{level}", [a])])
    return Program(
        [BufferDecl.output("out", 0, U32)],
        (1, 1, 1),
        [Node.store("out", 0, Expr.call("test.expansion31", [Expr.u32(0)]))],
    )


def refused(path) -> None:
    with pytest.raises(vyre.LoweringError) as caught:
        path()
    assert str(caught.value) == MESSAGE


@pytest.mark.parametrize("optimize", [True, False])
def test_every_backend_refuses_it(program, target, optimize):
    refused(lambda: vyre.run(program, INPUTS, 1, optimize=optimize, **target))
    refused(lambda: vyre.run(program, INPUTS, 0, optimize=optimize, **target))


@pytest.mark.parametrize("target", ["spirv", "spirv-asm", "wgsl", "ptx", "asm"])
def test_lowering_refuses_it(program, target):
    refused(lambda: vyre.lower(program, target=target))


def test_checked_execution_refuses_it(program):
    refused(lambda: vyre.check(program, INPUTS, 1))
    refused(lambda: vyre.check(program, INPUTS, 0))
    refused(lambda: vyre.run(program, INPUTS, 1, backend="reference", check="all"))


def test_bisect_refuses_it(program):
    refused(lambda: vyre.bisect(program, INPUTS, 1, backend="cpu"))
    refused(lambda: vyre.bisect(program, INPUTS, 1, backend=lambda *_: INPUTS))


def test_checked_execution_takes_calls_beside_a_divergent_barrier():
    """A program that only V010 refuses runs there, and its calls are counted like others."""
    program = Program(
        [BufferDecl.output("out", 0, U32)],
        (2, 1, 1),
        [
            Node.if_(Expr.local_x() < 2, [Node.barrier()]),
            Node.store("out", Expr.local_x(), Expr.call("primitive.math.add", [Expr.local_x(), Expr.u32(5)])),
        ],
    )
    assert [found.rule for found in vyre.validate(program)] == ["V010"]
    result = vyre.check(program, {"out": np.zeros(2, np.uint32)}, 1)
    assert result.ok
    assert result.outputs["out"].tolist() == [5, 6]
