"""The choices that vyre.run offers: in which order the reference takes invocations, and whether it optimises."""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from vyre import BufferDecl, Expr, Node, Program

U32 = vyre.u32


def test_the_order_is_that_of_the_schedule_and_a_seed_keeps_its_own():
    """A replay names its seed."""
    program = Program(
        [BufferDecl.read_write("next", 0, U32), BufferDecl.output("order", 1, U32)],
        (4, 1, 1),
        [Node.store("order", Expr.atomic_add("next", 0, 1), Expr.gid_x())],
    )

    def order(schedule: str | None) -> list[int]:
        out = vyre.run(program, {"next": 1, "order": 8}, 2, backend="reference", schedule=schedule)
        return out["order"].tolist()

    assert order(None) == order("in-order") == [*range(8)]
    assert order("reversed") == [*range(7, -1, -1)]
    assert order("random:7") == [1, 7, 5, 2, 4, 3, 6, 0]
    assert order("random:8") == [7, 3, 1, 5, 4, 2, 6, 0]
    assert order("random") == order("random:0") != order(f"random:{2**64 - 1}")


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
