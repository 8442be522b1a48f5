"""Random valid programs give the same bytes on every backend and device, and survive text and bytes unchanged."""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from programs import element_wise
from vyre import BinOp, BufferDecl, DataType, Expr, Node, Program, UnOp

U32, I32 = DataType.U32, DataType.I32
ROUNDS = 12
BINARY_U32 = [op for op in BinOp if op.name[0] != "S" or op.name in ("Sub", "Shl", "Shr")]
BINARY_I32 = [BinOp.SDiv, BinOp.SMod, BinOp.SMin, BinOp.SMax]


def random_value(rng: np.random.Generator, pool: list[Expr]) -> Expr:
    """One more U32 expression over those made so far, so that sharing and depth come by themselves."""

    def pick() -> Expr:
        if rng.random() < 0.2:
            return Expr.u32(int(rng.integers(2**32)) >> int(rng.integers(32)))
        return pool[int(rng.integers(len(pool)))]

    def as_i32(value: Expr) -> Expr:
        return Expr.cast(I32, value)

    match int(rng.integers(8)):
        case 0:
            return Expr.unop(rng.choice(list(UnOp)), pick())
        case 1:
            return Expr.select(pick(), pick(), pick())
        case 2:
            return Expr.cast(U32, Expr.binop(rng.choice(BINARY_I32), as_i32(pick()), as_i32(pick())))
        case 3:
            lanes = [pick() for _ in range(4)]
            return Expr.lane(Expr.pack(DataType.Vec4U32, lanes), int(rng.integers(4)))
        case 4:
            return Expr.lane(Expr.cast(DataType.U64, as_i32(pick())), 1)
        case 5:
            return Expr.load("in0", pick() if rng.random() < 0.3 else pick() % 64)
        case _:
            return Expr.binop(rng.choice(BINARY_U32), pick(), pick())


def random_program(rng: np.random.Generator) -> Program:
    """Straight-line values, an If, and a Loop that carries one of them."""
    i = Expr.var("i")
    pool = [i, Expr.load("in0", i), Expr.load("in1", i)]
    for _ in range(int(rng.integers(5, 40))):
        pool.append(random_value(rng, pool))
    inner = [*pool, Expr.var("k"), Expr.var("acc")]
    for _ in range(5):
        inner.append(random_value(rng, inner))
    base = element_wise([U32, U32], U32, lambda a, b: a)
    return Program(
        base.buffers,
        base.workgroup_size,
        [
            Node.let("i", Expr.gid_x()),
            Node.let("acc", pool[-1]),
            Node.loop("k", 0, int(rng.integers(1, 6)), [Node.assign("acc", inner[-1])]),
            Node.if_(pool[-2], [Node.assign("acc", Expr.var("acc") ^ pool[-3])], [Node.assign("acc", pool[-4])]),
            Node.store("out", i, Expr.var("acc")),
        ],
    )


@pytest.mark.parametrize("round", range(ROUNDS))
def test_same_bytes_everywhere(round, rng):
    program = random_program(rng)
    assert vyre.validate(program) == [], program.to_text()
    assert vyre.parse(program.to_text()) == program
    assert Program.from_bytes(program.to_bytes()) == program
    inputs = {f"in{k}": rng.integers(2**32, size=100, dtype=np.uint32) for k in range(2)}
    inputs["out"] = 128
    expected = vyre.run(program, inputs, 2, backend="reference")["out"]
    for device in vyre.devices():
        if device.usable:
            got = vyre.run(program, inputs, 2, backend=device.backend, device=device)["out"]
            np.testing.assert_array_equal(got, expected, f"{device.name}\n{program.to_text()}")


def test_numpy_gives_the_same_bytes(target, rng):
    """An independent evaluation: the ARX round of a hash, in numpy's own arithmetic."""
    a, b = (rng.integers(2**32, size=256, dtype=np.uint32) for _ in range(2))
    x, y = Expr.load("in0", Expr.var("i")), Expr.load("in1", Expr.var("i"))
    for _ in range(8):
        x = x + y
        y = vyre.rotl(y ^ x, 7)
    buffers = [BufferDecl.read("in0", 0, U32), BufferDecl.read("in1", 1, U32), BufferDecl.output("out", 2, U32)]
    program = Program(buffers, (64, 1, 1), [Node.let("i", Expr.gid_x()), Node.store("out", Expr.var("i"), x ^ y)])
    u, v = a.copy(), b.copy()
    for _ in range(8):
        u = u + v
        v = (v ^ u) << np.uint32(7) | (v ^ u) >> np.uint32(25)
    out = vyre.run(program, {"in0": a, "in1": b, "out": 256}, 4, **target)["out"]
    np.testing.assert_array_equal(out, u ^ v)
