"""The reference's schedules, as Python asks for them."""

import numpy as np
import pytest

import vyre
from vyre import BufferDecl, Expr, Node

ARRIVALS = vyre.Program(
    [BufferDecl.read_write("next", 0, vyre.u32), BufferDecl.output("order", 1, vyre.u32)],
    (4, 1, 1),
    [Node.store("order", vyre.atomic_add("next", 0, 1), Expr.gid_x())],
)


def order(schedule):
    result = vyre.run(ARRIVALS, {"next": 1, "order": 8}, 2, backend="reference", schedule=schedule)
    return result["order"].tolist()


def test_in_order_is_what_no_schedule_means():
    assert order(None) == order("in-order") == [0, 1, 2, 3, 4, 5, 6, 7]


def test_reversed_takes_the_last_one_first():
    assert order("reversed") == [7, 6, 5, 4, 3, 2, 1, 0]


def test_random_is_decided_by_its_seed():
    assert order("random:7") == [1, 7, 5, 2, 4, 3, 6, 0]
    assert order("random:8") == [7, 3, 1, 5, 4, 2, 6, 0]
    assert order("random") == order("random:0")


@pytest.mark.parametrize("schedule", ["in-order", "reversed", "random:1", "random:18446744073709551615"])
def test_a_program_without_races_gives_the_same_bytes_in_all(schedule):
    i = Expr.gid_x()
    program = vyre.Program(
        [
            BufferDecl.read("a", 0, vyre.u32),
            BufferDecl.output("out", 1, vyre.u32),
            BufferDecl.workgroup("t", 8, vyre.u32),
        ],
        (8, 1, 1),
        [
            Node.store("t", 7 - Expr.local_x(), Expr.load("a", i)),
            Node.barrier(),
            Node.store("out", i, Expr.load("t", Expr.local_x())),
        ],
    )
    a = np.arange(40, dtype=np.uint32)
    out = vyre.run(program, {"a": a, "out": 40}, 5, backend="reference", schedule=schedule)["out"]
    assert (out == a.reshape(5, 8)[:, ::-1].ravel()).all()
