"""The choices that vyre.run offers: in which order the reference takes invocations, and whether it optimises."""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from vyre import BufferDecl, Expr, Node, Program

U32 = vyre.u32
SIZE, MANY = 4, 5
TOTAL = SIZE * MANY
SCHEDULES = [None, "in-order", "reversed", "random:0", "random:7", f"random:{2**64 - 1}"]


def tickets() -> Program:
    """Each invocation draws two numbers, one after the other: in the output stands the order of all that."""
    i = Expr.gid_x()
    return Program(
        [BufferDecl.read_write("count", 0, U32), BufferDecl.output("out", 1, U32)],
        (SIZE, 1, 1),
        [
            Node.store("out", i * 2, Expr.atomic_add("count", 0, 1)),
            Node.store("out", i * 2 + 1, Expr.atomic_add("count", 0, 1)),
        ],
    )


def drawn(schedule: str | None) -> list[int]:
    """The tickets, two an invocation."""
    out = vyre.run(tickets(), {"count": 1, "out": 2 * TOTAL}, MANY, backend="reference", schedule=schedule)
    assert out["count"].tolist() == [2 * TOTAL]
    assert sorted(out["out"].tolist()) == list(range(2 * TOTAL))
    return out["out"].tolist()


def test_without_a_schedule_invocations_run_by_rising_id():
    assert drawn(None) == list(range(2 * TOTAL))
    assert drawn("in-order") == drawn(None)


def test_reversed_runs_them_by_falling_id():
    pairs = np.arange(2 * TOTAL).reshape(TOTAL, 2)
    assert drawn("reversed") == pairs[::-1].ravel().tolist()


def test_a_random_schedule_is_its_seeds():
    found = {seed: drawn(f"random:{seed}") for seed in range(8)}
    assert all(drawn(f"random:{seed}") == order for seed, order in found.items())
    assert len({tuple(order) for order in found.values()}) == len(found)
    assert drawn("random") == found[0]


def test_the_order_of_a_seed_stays():
    """A replay names its seed."""
    program = Program(
        [BufferDecl.read_write("next", 0, U32), BufferDecl.output("order", 1, U32)],
        (4, 1, 1),
        [Node.store("order", Expr.atomic_add("next", 0, 1), Expr.gid_x())],
    )

    def order(schedule: str) -> list[int]:
        out = vyre.run(program, {"next": 1, "order": 8}, 2, backend="reference", schedule=schedule)
        return out["order"].tolist()

    assert order("random:7") == [1, 7, 5, 2, 4, 3, 6, 0]
    assert order("random:8") == [7, 3, 1, 5, 4, 2, 6, 0]


def test_a_random_schedule_interleaves_within_and_between_workgroups():
    """Somebody draws between the two tickets of another one, of its workgroup and of another workgroup."""
    within = between = False
    for seed in range(8):
        owner = dict(zip(drawn(f"random:{seed}"), np.arange(2 * TOTAL) // 2, strict=True))
        pairs = np.array(drawn(f"random:{seed}")).reshape(TOTAL, 2)
        for me, (first, second) in enumerate(pairs.tolist()):
            assert first < second, "the statements of one invocation keep their order"
            for ticket in range(first + 1, second):
                same = owner[ticket] // SIZE == me // SIZE
                within |= same
                between |= not same
    assert within
    assert between


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_program_without_races_gives_the_same_bytes(schedule):
    """A sum in workgroup memory over barriers, and a sum over all workgroups with atomics."""
    lid = Expr.local_x()
    step = Expr.u32(1) << Expr.var("k")
    program = Program(
        [
            BufferDecl.read("in", 0, U32),
            BufferDecl.output("sums", 1, U32),
            BufferDecl.read_write("total", 2, U32),
            BufferDecl.workgroup("line", 8, U32),
        ],
        (8, 1, 1),
        [
            Node.store("line", lid, Expr.load("in", Expr.gid_x())),
            Node.barrier(),
            Node.loop(
                "k",
                0,
                3,
                [
                    Node.let("other", Expr.load("line", lid ^ step)),
                    Node.barrier(),
                    Node.store("line", lid, Expr.load("line", lid) + Expr.var("other")),
                    Node.barrier(),
                ],
            ),
            Node.if_(lid == 0, [Node.store("sums", Expr.workgroup_x(), Expr.load("line", 0))]),
            Node.let("old", Expr.atomic_add("total", 0, Expr.load("in", Expr.gid_x()))),
        ],
    )
    data = np.arange(1, 49, dtype=np.uint32) * np.uint32(0x9E3779B1)
    for optimize in (True, False, None):
        out = vyre.run(
            program,
            {"in": data, "sums": 6, "total": 1},
            6,
            backend="reference",
            schedule=schedule,
            optimize=optimize,
        )
        np.testing.assert_array_equal(out["sums"], data.reshape(6, 8).sum(axis=1, dtype=np.uint32))
        np.testing.assert_array_equal(out["total"], [data.sum(dtype=np.uint32)])


@pytest.mark.parametrize("schedule", SCHEDULES[1:])
def test_grids_of_all_axes_and_of_nothing(schedule):
    program = Program(
        [BufferDecl.output("out", 0, U32)],
        (2, 3, 1),
        [
            Node.let("i", Expr.gid_x() + Expr.gid_y() * 4 + Expr.gid_z() * 36),
            Node.store("out", Expr.var("i"), Expr.var("i") + 1),
        ],
    )
    out = vyre.run(program, {"out": 72}, (2, 3, 2), backend="reference", schedule=schedule)["out"]
    assert out.tolist() == list(range(1, 73))
    assert vyre.run(program, {"out": 2}, (2, 0, 2), backend="reference", schedule=schedule)["out"].tolist() == [0, 0]


def test_a_backend_without_a_choice_says_so(target):
    if target["backend"] == "reference":
        return
    vyre.run(Program(), {}, 1, schedule="in-order", **target)
    for schedule in ("reversed", "random:1"):
        with pytest.raises(vyre.ArgumentError) as error:
            vyre.run(Program(), {}, 1, schedule=schedule, **target)
        assert str(error.value).startswith(f"backend `{target['backend']}` has no choice of schedule: ")
        assert str(error.value).endswith("Fix: leave the schedule out, or run on the reference.")


@pytest.mark.parametrize("schedule", [7, True, b"reversed", ("random", 7)])
def test_a_schedule_of_another_type_is_refused(schedule):
    with pytest.raises(vyre.ArgumentError) as error:
        vyre.run(Program(), {}, 1, backend="reference", schedule=schedule)
    assert str(error.value).startswith("argument `schedule` of vyre.run must be a str, got ")
    assert str(error.value).endswith(". Fix: pass a str.")


@pytest.mark.parametrize(
    "optimize", [None, np.True_, [], ("passes",), {"proofs", "coarsening"}, frozenset(), ["addresses"]]
)
def test_what_lowering_does_for_speed_is_a_switch_or_names(optimize):
    assert vyre.run(Program(), {}, 1, backend="reference", optimize=optimize) == {}


@pytest.mark.parametrize("optimize", [1, 0, "passes", b"passes", {"passes": True}])
def test_what_is_neither_a_switch_nor_a_list_of_names_is_refused(optimize):
    with pytest.raises(vyre.ArgumentError) as error:
        vyre.run(Program(), {}, 1, backend="reference", optimize=optimize)
    assert str(error.value).startswith(
        "argument `optimize` of vyre.run must be True, False or a list of names among "
        '"passes", "proofs", "coarsening", "straightening", "specialization", "compilation", "narrow", '
        '"addresses", got '
    )
    assert ". Fix: pass True, False or a list of names among " in str(error.value)


@pytest.mark.parametrize("name", ["fast", "Passes", "passes ", "", 7, None])
def test_a_name_of_nothing_that_lowering_does_is_refused(name):
    with pytest.raises(vyre.ArgumentError) as error:
        vyre.run(Program(), {}, 1, backend="reference", optimize=["passes", name])
    assert str(error.value).startswith(
        "an element of argument `optimize` of vyre.run must be one of "
        '"passes", "proofs", "coarsening", "straightening", "specialization", "compilation", "narrow", '
        '"addresses", got '
    )
    meant = " (did you mean `passes`?)" if name in ("Passes", "passes ") else ""
    assert str(error.value).endswith(f". Fix: write one of these{meant}.")


def test_optimize_changes_what_is_lowered_and_no_byte(target):
    """A value that folds, one that is used twice and one that is not needed."""
    x = Expr.load("in", Expr.gid_x())
    program = Program(
        [BufferDecl.read("in", 0, U32), BufferDecl.output("out", 1, U32)],
        (4, 1, 1),
        [
            Node.let("unused", x * 3),
            Node.store("out", Expr.gid_x(), (x + (Expr.u32(2) * 3)) * (x + 6) + (x - x)),
        ],
    )
    assert vyre.lower(program, "wgsl", optimize=True) != vyre.lower(program, "wgsl", optimize=False)
    data = np.array([0, 1, 0xFFFFFFFA, 12345], np.uint32)
    for optimize in (True, False, None):
        out = vyre.run(program, {"in": data, "out": 4}, 1, optimize=optimize, **target)["out"]
        np.testing.assert_array_equal(out, (data + np.uint32(6)) ** 2)
