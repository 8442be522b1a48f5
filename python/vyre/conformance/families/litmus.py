"""L1, litmus tests: what invocations of one dispatch may see of one another's atomics.

Atomics are relaxed and coherent per location: the atomics on one location have one total order, which agrees with the
order in each invocation, and they order no other memory (docs/semantics.md, Memory, atomics, barriers). So an outcome
is right if for each location alone some order of its atomics explains it. That decides the coherence tests and
atomicity. It leaves the tests with two locations open (message passing, store buffering, load buffering, R, S, 2+2W):
their outcomes are counted and shown. With barriers between their steps these are decided too: see `ordered`.

Families and their forms: Alglave et al., "GPU Concurrency" (ASPLOS 2015); Kirkham et al., "Foundations of Empirical
Memory Consistency Testing" (OOPSLA 2020); Levine et al., "MC Mutants" (ASPLOS 2023), from which also comes the way of
running many instances at once: each invocation plays the first role of one instance and the second role of another.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vyre import BufferDecl, Expr, Node, Program
from vyre.conformance.build import out_u32
from vyre.conformance.case import Arrays, Case, Judgement, case
from vyre.conformance.values import U32, u32

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# (workgroup size, workgroups): the second player of an instance is in the same workgroup, or in any other.
SHAPES = {"workgroup": (64, 8), "dispatch": (32, 16), "single": (1, 256)}
ROUNDS = 4  # instances that an invocation plays in one dispatch


class Write(NamedTuple):
    """An atomic store: an exchange whose result is not used."""

    location: str
    value: int


class Read(NamedTuple):
    """An atomic load: an `or` with 0."""

    location: str
    register: str


Role = tuple[Write | Read, ...]


class Test(NamedTuple):
    """A litmus test of two roles.

    Attributes:
        first, second: what the two invocations do.
        weak: a short text for the outcome that gives the test its name.
        is_weak: whether an outcome, registers and final values (upper case), is that one; None where it is forbidden.
    """

    first: Role
    second: Role
    weak: str
    is_weak: Callable[[dict[str, int]], bool] | None = None


# The outcome on one location is decided. Registers are lower case, X is the final value.
COHERENCE = {
    "CoRR": Test(
        (Write("x", 1),),
        (Read("x", "r0"), Read("x", "r1")),
        "r0=1, r1=0: the second read sees an older value than the first",
    ),
    "CoWW": Test(
        (Write("x", 1), Write("x", 2)),
        (Read("x", "r0"),),
        "X=1: the first write is last",
    ),
    "CoWR": Test(
        (Write("x", 1), Read("x", "r0")),
        (Write("x", 2),),
        "r0=0, or r0=2 and X=1: a read misses the write before it, or sees one that came earlier",
    ),
    "CoRW1": Test(
        (Read("x", "r0"), Write("x", 1)),
        (Read("x", "r1"),),
        "r0=1: a read sees the write after it",
    ),
    "CoRW2": Test(
        (Read("x", "r0"), Write("x", 1)),
        (Write("x", 2),),
        "r0=2, X=2: a read sees a write that comes after the one behind it",
    ),
    "CoRR-two-writers": Test(
        (Write("x", 1), Read("x", "r2")),
        (Write("x", 2), Read("x", "r0"), Read("x", "r1")),
        "r0=1, r1=2: two reads see two writes against their order",
    ),
}
# Two locations, relaxed: open.
OPEN = {
    "message_passing": Test(
        (Write("x", 1), Write("y", 1)),
        (Read("y", "r0"), Read("x", "r1")),
        "r0=1, r1=0",
        lambda o: o["r0"] == 1 and o["r1"] == 0,
    ),
    "store_buffering": Test(
        (Write("x", 1), Read("y", "r0")),
        (Write("y", 1), Read("x", "r1")),
        "r0=0, r1=0",
        lambda o: o["r0"] == 0 and o["r1"] == 0,
    ),
    "load_buffering": Test(
        (Read("x", "r0"), Write("y", 1)),
        (Read("y", "r1"), Write("x", 1)),
        "r0=1, r1=1",
        lambda o: o["r0"] == 1 and o["r1"] == 1,
    ),
    "R": Test(
        (Write("x", 1), Write("y", 1)),
        (Write("y", 2), Read("x", "r0")),
        "Y=2, r0=0",
        lambda o: o["Y"] == 2 and o["r0"] == 0,
    ),
    "S": Test(
        (Write("x", 2), Write("y", 1)),
        (Read("y", "r0"), Write("x", 1)),
        "r0=1, X=2",
        lambda o: o["r0"] == 1 and o["X"] == 2,
    ),
    "2+2W": Test(
        (Write("x", 1), Write("y", 2)),
        (Write("y", 1), Write("x", 2)),
        "X=1, Y=1",
        lambda o: o["X"] == 1 and o["Y"] == 1,
    ),
}


def _locations(test: Test) -> list[str]:
    return sorted({step.location for step in test.first + test.second})


def _registers(test: Test) -> list[str]:
    return sorted(step.register for step in test.first + test.second if isinstance(step, Read))


def _program(test: Test, size: int, many: int, *, within: bool) -> Program:
    """Every invocation plays, round after round, the first role of its instance and the second one of another's."""
    total = size * many
    instance, stranger = Expr.var("instance"), Expr.var("stranger")
    # A bijection of the workgroup's or of the dispatch's invocations: no invocation plays both roles of an instance (if
    # it has two), and neighbours do not meet neighbours.
    span = size if within else total
    step = next(k for k in (37, 41, 43, 1) if np.gcd(k, span) == 1)
    me = Expr.local_x() if within else Expr.gid_x()
    other = (me * step + (span // 2 + 1)) % span
    base = Expr.workgroup_x() * size if within else Expr.u32(0)

    def play(role: Role, at: Expr, prefix: str) -> list[Node]:
        made = []
        for number, action in enumerate(role):
            if isinstance(action, Write):
                value = Expr.atomic_exchange(action.location, at, action.value)
                made.append(Node.let(f"{prefix}{number}", value))
            else:
                made.append(Node.let(action.register, Expr.atomic_or(action.location, at, 0)))
        made += [
            Node.store(action.register, at, Expr.var(action.register)) for action in role if isinstance(action, Read)
        ]
        return made

    first, second = play(test.first, instance, "a"), play(test.second, stranger, "b")
    body = [
        Node.let("instance", Expr.var("round") * total + base + me),
        Node.let("stranger", Expr.var("round") * total + base + other),
        # Half of the invocations begin with the one role, half with the other.
        Node.if_(me & 1, [*first, *second], [*second, *first]),
    ]
    names = [*_locations(test), *_registers(test)]
    return Program(
        [BufferDecl.read_write(name, k, U32) for k, name in enumerate(names)],
        (size, 1, 1),
        [Node.loop("round", 0, ROUNDS, body)],
    )


def _outcomes(test: Test, arrays: Arrays) -> Iterable[tuple[dict[str, int], int]]:
    """Every outcome that was seen, and how often."""
    names = [*_registers(test), *_locations(test)]
    rows = np.stack([arrays[name] for name in names], axis=1)
    found, counts = np.unique(rows, axis=0, return_counts=True)
    labels = [*_registers(test), *(name.upper() for name in _locations(test))]
    for row, count in zip(found.tolist(), counts.tolist(), strict=True):
        yield dict(zip(labels, row, strict=True)), count


def explained(test: Test, location: str) -> set[tuple[tuple[str, int], ...]]:
    """The registers and the final value that each order of the atomics on one location gives, sorted by name."""
    first, second = ([step for step in role if step.location == location] for role in (test.first, test.second))
    found = set()
    total = len(first) + len(second)
    for places in itertools.combinations(range(total), len(first)):
        one, two = iter(first), iter(second)
        value, outcome = 0, {}
        for place in range(total):
            step = next(one) if place in places else next(two)
            if isinstance(step, Write):
                value = step.value
            else:
                outcome[step.register] = value
        found.add(tuple(sorted({**outcome, location.upper(): value}.items())))
    return found


def _judge(test: Test) -> Callable[[Arrays], Judgement]:
    read = {step.register: step.location for step in test.first + test.second if isinstance(step, Read)}
    explanations = {location: explained(test, location) for location in _locations(test)}

    def right(outcome: dict[str, int]) -> bool:
        return all(
            tuple(sorted((name, value) for name, value in outcome.items() if read.get(name, name.lower()) == location))
            in orders
            for location, orders in explanations.items()
        )

    def judge(arrays: Arrays) -> Judgement:
        wrong = weak = 0
        observed: Counter[str] = Counter()
        for outcome, count in _outcomes(test, arrays):
            observed[", ".join(f"{name}={value}" for name, value in outcome.items())] += count
            wrong += count * (not right(outcome))
            weak += count * bool(test.is_weak and test.is_weak(outcome))
        if test.is_weak is not None:
            observed[f"weak ({test.weak})"] = weak
        return Judgement({"unexplained": u32([wrong])}, dict(observed))

    return judge


def _case(family: str, name: str, test: Test, shape: str, *, checks: str) -> Case:
    size, many = SHAPES[shape]
    names = [*_locations(test), *_registers(test)]
    total = size * many * ROUNDS
    return case(
        f"L1/litmus/{family}/{name}/{shape}",
        f"Never is {test.weak}." if test.is_weak is None else f"Whether {test.weak} occurs is open.",
        _program(test, size, many, within=shape == "workgroup"),
        {one: u32([0] * total) for one in names},
        {"unexplained": u32([0])},
        many,
        judge=_judge(test),
        checks=checks,
    )


def _tests() -> Iterator[Case]:
    for (name, test), shape in itertools.product(COHERENCE.items(), SHAPES):
        yield _case("coherence", name, test, shape, checks="")
    for (name, test), shape in itertools.product(OPEN.items(), SHAPES):
        checks = f"{test.weak} may occur or not; each location alone has an order that explains it"
        yield _case("open", name, test, shape, checks=checks)


def _sorted(*names: str) -> Callable[[Arrays], Judgement]:
    """Decided is the sorted content of the named arrays: which invocation drew what is open."""

    def judge(arrays: Arrays) -> Judgement:
        decided = {name: np.sort(array, axis=None) if name in names else array for name, array in arrays.items()}
        return Judgement(decided)

    return judge


def _atomicity() -> Iterator[Case]:
    i, k = Expr.gid_x(), Expr.var("k")
    for shape, (size, many) in SHAPES.items():
        total = size * many
        turns = 4
        yield case(
            f"L1/litmus/atomicity/increments/{shape}",
            "Of increments of one location none is lost, and each gets a number of its own.",
            Program(
                [BufferDecl.read_write("count", 0, U32), out_u32(1, "numbers")],
                (size, 1, 1),
                [Node.loop("k", 0, turns, [Node.store("numbers", i * turns + k, Expr.atomic_add("count", 0, 1))])],
            ),
            {"count": u32([0]), "numbers": u32([0xFFFF] * total * turns)},
            {"count": u32([total * turns]), "numbers": u32(range(total * turns))},
            many,
            judge=_sorted("numbers"),
        )
        yield case(
            f"L1/litmus/atomicity/exchange_chain/{shape}",
            "Exchanges on one location form a chain: each value is taken out once, the last one stays.",
            Program(
                [BufferDecl.read_write("cell", 0, U32), out_u32(1, "taken")],
                (size, 1, 1),
                [
                    Node.loop(
                        "k",
                        0,
                        turns,
                        [Node.store("taken", i * turns + k, Expr.atomic_exchange("cell", 0, i * turns + k + 1))],
                    )
                ],
            ),
            {"cell": u32([0]), "taken": u32([0xFFFF] * total * turns)},
            {"values": u32(range(total * turns + 1))},
            many,
            judge=lambda arrays: Judgement({"values": np.sort(np.concatenate([arrays["cell"], arrays["taken"]]))}),
        )
        # The wins of each number are counted; who wins is open.
        wants = 16
        old = Expr.var("old")
        yield case(
            f"L1/litmus/atomicity/compare_exchange/{shape}",
            "Each number is taken by one compare-exchange, and one that fails saw that somebody had been there.",
            Program(
                [
                    BufferDecl.read_write("next", 0, U32),
                    BufferDecl.read_write("wins", 1, U32),
                    BufferDecl.read_write("spurious", 2, U32),
                ],
                (size, 1, 1),
                [
                    Node.loop(
                        "want",
                        0,
                        wants,
                        [
                            Node.let(
                                "old",
                                Expr.atomic_compare_exchange("next", 0, Expr.var("want"), Expr.var("want") + 1),
                            ),
                            Node.if_(
                                Expr.eq(old, Expr.var("want")),
                                [Node.let("won", Expr.atomic_add("wins", Expr.var("want"), 1))],
                                # Every invocation tries every number, so what is here is never less than wanted.
                                [
                                    Node.if_(
                                        old < Expr.var("want"), [Node.let("lost", Expr.atomic_add("spurious", 0, 1))]
                                    )
                                ],
                            ),
                        ],
                    )
                ],
            ),
            {"next": u32([0]), "wins": u32([0] * wants), "spurious": u32([0])},
            {"next": u32([wants]), "wins": u32([1] * wants), "spurious": u32([0])},
            many,
        )
        yield case(
            f"L1/litmus/atomicity/bits/{shape}",
            "Of bits set by `or`, cleared by `and` and turned by `xor` in one word none gets lost.",
            Program(
                [
                    BufferDecl.read_write("set", 0, U32),
                    BufferDecl.read_write("cleared", 1, U32),
                    BufferDecl.read_write("turned", 2, U32),
                    BufferDecl.read_write("least", 3, U32),
                    BufferDecl.read_write("most", 4, U32),
                ],
                (size, 1, 1),
                [
                    Node.let("bit", Expr.u32(1) << (i & 31)),
                    Node.let("a", Expr.atomic_or("set", i >> 5, Expr.var("bit"))),
                    Node.let("b", Expr.atomic_and("cleared", i >> 5, ~Expr.var("bit"))),
                    Node.let("c", Expr.atomic_xor("turned", i >> 6, Expr.var("bit"))),
                    Node.let("d", Expr.atomic_min("least", 0, Expr.u32(0xFFFFFFFF) - i * 7)),
                    Node.let("e", Expr.atomic_max("most", 0, i * 7)),
                ],
            ),
            {
                "set": u32([0] * (total // 32)),
                "cleared": u32([0xFFFFFFFF] * (total // 32)),
                "turned": u32([0xF0F0] * (total // 64)),
                "least": u32([0xFFFFFFFF]),
                "most": u32([0]),
            },
            {
                "set": u32([0xFFFFFFFF] * (total // 32)),
                "cleared": u32([0] * (total // 32)),
                # Two invocations turn each bit, so all are as they were.
                "turned": u32([0xF0F0] * (total // 64)),
                "least": u32([0xFFFFFFFF - (total - 1) * 7]),
                "most": u32([(total - 1) * 7]),
            },
            many,
        )


def cases() -> Iterator[Case]:
    """Coherence and atomicity, which the model decides, and the tests that it leaves open."""
    yield from _tests()
    yield from _atomicity()
