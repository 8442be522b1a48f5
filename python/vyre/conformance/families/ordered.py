"""L1, litmus tests that a barrier decides: the two- and three-party families with a barrier between their steps.

Without barriers the outcomes of these tests are open (see `litmus`). A barrier orders storage and workgroup memory for
its workgroup (docs/semantics.md, Memory, atomics, barriers), so that here each has one outcome, for plain loads and
stores as for atomics: no two invocations touch a location at once, and every test is free of races.

Names and forms: Alglave et al., "Herding Cats" (TOPLAS 2014), and the GPU papers that `litmus` names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vyre import BufferDecl, Expr, Node, Program
from vyre.conformance.case import Case, case
from vyre.conformance.families.litmus import Read, Write
from vyre.conformance.values import U32, u32

if TYPE_CHECKING:
    from collections.abc import Iterator

    # The steps of one party between two barriers.
    Phase = tuple[Write | Read, ...]

ROUNDS = 4  # instances that an invocation plays in one dispatch
MANY = 6  # workgroups
SIZES = (64, 37)
MEMORIES = ("storage", "workgroup", "atomics")


class Test(NamedTuple):
    """A litmus test with barriers.

    Attributes:
        parties: what each invocation does, phase by phase; between two phases all wait at a barrier.
        outcome: the only outcome: registers and, in upper case, what is in memory at the end.
        weak: the outcome that gives the test its name, in words; forbidden here.
    """

    parties: tuple[tuple[Phase, ...], ...]
    outcome: dict[str, int]
    weak: str


def _write(location: str, value: int = 1) -> Phase:
    return (Write(location, value),)


def _read(location: str, register: str) -> Phase:
    return (Read(location, register),)


TESTS = {
    "message_passing": Test(
        ((_write("x"), _write("y")), (_read("y", "r0"), _read("x", "r1"))),
        {"r0": 0, "r1": 1, "X": 1, "Y": 1},
        "r1=0: the message is missing behind the barrier",
    ),
    "store_buffering": Test(
        ((_write("x"), _read("y", "r0")), (_write("y"), _read("x", "r1"))),
        {"r0": 1, "r1": 1, "X": 1, "Y": 1},
        "r0=0 or r1=0: a read does not see the store before the barrier",
    ),
    "load_buffering": Test(
        ((_read("x", "r0"), _write("y")), (_read("y", "r1"), _write("x"))),
        {"r0": 0, "r1": 0, "X": 1, "Y": 1},
        "r0=1 or r1=1: a read sees a store behind the barrier",
    ),
    "R": Test(
        ((_write("x"), _write("y")), (_write("y", 2), _read("x", "r0"))),
        {"r0": 1, "X": 1, "Y": 1},
        "Y=2 or r0=0",
    ),
    "S": Test(
        ((_write("x", 2), _write("y")), (_read("y", "r0"), _write("x"))),
        {"r0": 0, "X": 1, "Y": 1},
        "r0=1 or X=2",
    ),
    "2+2W": Test(
        ((_write("x"), _write("y", 2)), (_write("y"), _write("x", 2))),
        {"X": 2, "Y": 2},
        "X=1 or Y=1: a store before the barrier is last",
    ),
    "WRC": Test(
        (
            (_write("x"), (), ()),
            ((), (Read("x", "r0"), Write("y", 1)), ()),
            ((), (), (Read("y", "r1"), Read("x", "r2"))),
        ),
        {"r0": 1, "r1": 1, "r2": 1, "X": 1, "Y": 1},
        "r2=0: a third invocation does not see what the second one saw",
    ),
    "ISA2": Test(
        (
            ((Write("x", 1), Write("y", 1)), (), ()),
            ((), (Read("y", "r0"), Write("z", 1)), ()),
            ((), (), (Read("z", "r1"), Read("x", "r2"))),
        ),
        {"r0": 1, "r1": 1, "r2": 1, "X": 1, "Y": 1, "Z": 1},
        "r2=0: order is lost on the way over a third location",
    ),
    "RWC": Test(
        (
            (_write("x"), (), ()),
            ((), _read("x", "r0"), _read("y", "r1")),
            ((), _write("y"), _read("x", "r2")),
        ),
        {"r0": 1, "r1": 1, "r2": 1, "X": 1, "Y": 1},
        "r1=0 or r2=0",
    ),
    "WWC": Test(
        (
            (_write("x", 2), (), ()),
            ((), (Read("x", "r0"), Write("y", 1)), ()),
            ((), (), (Read("y", "r1"), Write("x", 1))),
        ),
        {"r0": 2, "r1": 1, "X": 1, "Y": 1},
        "X=2: a store is overtaken by one that came two barriers before it",
    ),
    "IRIW": Test(
        (
            (_write("x"), (), ()),
            (_write("y"), (), ()),
            ((), _read("x", "r0"), _read("y", "r1")),
            ((), _read("y", "r2"), _read("x", "r3")),
        ),
        {"r0": 1, "r1": 1, "r2": 1, "r3": 1, "X": 1, "Y": 1},
        "a read that gives 0: two readers disagree on the order of two stores",
    ),
}


def locations(test: Test) -> list[str]:
    """The names of the locations, sorted."""
    return sorted(name.lower() for name in test.outcome if name.isupper())


def _strides(size: int, parties: int) -> list[tuple[int, int]]:
    """(factor, offset) of the bijections by which an invocation finds the instance of each role that it plays."""
    factors = [k for k in (1, 3, 5, 7, 11, 13) if np.gcd(k, size) == 1]
    return [(factors[k], k * (size // parties) + (k > 0)) for k in range(parties)]


def _program(test: Test, memory: str, size: int) -> Program:
    """Every invocation plays all roles, each in another instance of its workgroup, and all wait between phases."""
    me = Expr.local_x()
    names = locations(test)
    registers = sorted(name for name in test.outcome if name.islower())
    span = size * ROUNDS
    shared = memory == "workgroup"
    group = Expr.workgroup_x() * span
    cell = {name: f"cell {name}" if shared else name for name in names}
    buffers = [BufferDecl.read_write(name, k, U32) for k, name in enumerate([*names, *registers])]
    if shared:
        buffers += [BufferDecl.workgroup(cell[name], span, U32) for name in names]

    def at(role: int) -> Expr:
        return Expr.var(f"at{role}") if shared else group + Expr.var(f"at{role}")

    def play(role: int, action: Write | Read, number: int) -> list[Node]:
        place, buffer = at(role), cell[action.location]
        if isinstance(action, Write):
            if memory == "atomics":
                return [Node.let(f"old{role}_{number}", Expr.atomic_exchange(buffer, place, action.value))]
            return [Node.store(buffer, place, action.value)]
        seen = Expr.atomic_or(buffer, place, 0) if memory == "atomics" else Expr.load(buffer, place)
        return [Node.store(action.register, group + Expr.var(f"at{role}"), seen)]

    body: list[Node] = []
    for role, (factor, offset) in enumerate(_strides(size, len(test.parties))):
        body.append(Node.let(f"at{role}", Expr.var("round") * size + (me * factor + offset) % size))
    phases = len(test.parties[0])
    for phase in range(phases):
        if phase:
            body.append(Node.barrier())
        for role, party in enumerate(test.parties):
            for number, action in enumerate(party[phase]):
                body += play(role, action, 10 * phase + number)
    entry = [Node.loop("round", 0, ROUNDS, body)]
    if shared:
        everything = Node.loop(
            "k",
            0,
            ROUNDS,
            [
                Node.let("from", Expr.var("k") * size + me),
                *(
                    Node.store(name, group + Expr.var("from"), Expr.load(cell[name], Expr.var("from")))
                    for name in names
                ),
            ],
        )
        entry += [Node.barrier(), everything]
    return Program(buffers, (size, 1, 1), entry)


def cases() -> Iterator[Case]:
    """Every test through storage, through workgroup memory, and with atomics."""
    for name, test in TESTS.items():
        for memory in MEMORIES:
            for size in SIZES:
                total = size * ROUNDS * MANY
                arrays = {key.lower(): value for key, value in test.outcome.items()}
                yield case(
                    f"L1/litmus/barrier/{name}/{memory}-{size}",
                    f"With barriers between its steps, never is {test.weak}.",
                    _program(test, memory, size),
                    # Locations begin with 0, and arrays for results with a word that no program writes.
                    {key: u32([0 if key in locations(test) else 0x55] * total) for key in arrays},
                    {key: u32([value] * total) for key, value in arrays.items()},
                    MANY,
                )
