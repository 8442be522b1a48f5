"""Atomics on workgroup memory that is declared atomic: every backend, and what is refused."""

import numpy as np
import pytest

import vyre
from conftest import refused
from vyre import BufferAccess, BufferDecl, DataType, Expr, Node, Program

U32 = DataType.U32
COUNTS = BufferDecl.workgroup("counts", 256, U32, atomic=True)
local, k = Expr.local_x(), Expr.var("k")


def histogram() -> Program:
    """bins[b] += how many of the bytes in `data` are b; counted in each workgroup first."""
    byte = (Expr.load("data", Expr.gid_x()) >> (k * 8)) & 0xFF
    return Program(
        [BufferDecl.read("data", 0, U32), BufferDecl.output("bins", 1, U32), COUNTS],
        (64, 1, 1),
        [
            Node.if_(
                Expr.gid_x() < Expr.buf_len("data"),
                [Node.loop("k", 0, 4, [Node.let("one", Expr.atomic_add("counts", byte, 1))])],
            ),
            Node.barrier(),
            Node.loop(
                "k",
                0,
                4,
                [
                    Node.let("bin", k * 64 + local),
                    Node.let("old", Expr.atomic_add("bins", Expr.var("bin"), Expr.load("counts", Expr.var("bin")))),
                ],
            ),
        ],
    )


@pytest.mark.parametrize("optimize", [True, False])
def test_a_histogram_is_numpys(target, optimize, rng):
    data = rng.integers(0, 256, 5000, dtype=np.uint8)
    words = vyre.pack_bytes(data.tobytes())
    found = vyre.run(histogram(), {"data": words, "bins": 256}, 20, optimize=optimize, **target)["bins"]
    np.testing.assert_array_equal(found, np.bincount(data, minlength=256))


def test_a_declaration_pickled_before_there_were_atomic_ones_is_read():
    made = vyre._core._buffer_decl_from_state(b"counts", 0, BufferAccess.Workgroup, U32, 256, False)
    assert made == BufferDecl.workgroup("counts", 256, U32)


def test_only_workgroup_memory_is_atomic():
    with pytest.raises(vyre.ParseError) as error:
        vyre.parse("vyre 1\nworkgroup_size 1 1 1\nbuffer x: read_write atomic u32 binding 0\n")
    assert str(error.value).startswith("line 3, column 22: ")
    data = bytearray(Program([BufferDecl.workgroup("x", 1, U32, atomic=True)]).to_bytes())
    position = data.index(b"\x01x") + 2
    data[position] = 1  # ReadWrite
    with refused(
        vyre.ParseError,
        "byte 16: a buffer that is not workgroup memory is atomic",
        "pass the bytes as to_bytes gave them",
    ):
        Program.from_bytes(bytes(data))
    with pytest.raises(vyre.ParseError, match="these bytes are not a pickled BufferDecl"):
        vyre._core._buffer_decl_from_state(b"x", 0, BufferAccess.ReadWrite, U32, 1, False, True)


def test_a_plain_access_that_no_barrier_orders_races_with_an_atomic():
    def checked(*between: Node):
        entry = [
            Node.let("old", Expr.atomic_add("counts", 0, 1)),
            *between,
            Node.store("out", Expr.gid_x(), Expr.load("counts", 0)),
        ]
        program = Program([BufferDecl.output("out", 0, U32), COUNTS], (8, 1, 1), entry)
        return vyre.check(program, {"out": 8}, 1)

    assert checked(Node.barrier()).ok
    assert [type(report) for report in checked().reports] == [vyre.RaceReport]
    atomics = Program([COUNTS], (8, 1, 1), [Node.let(f"o{n}", Expr.atomic_add("counts", 0, 1)) for n in range(2)])
    assert vyre.check(atomics, {}, 1).ok
