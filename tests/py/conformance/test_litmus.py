"""The litmus tests of vyre.conformance say what the model says: by enumeration, and by hand."""

from __future__ import annotations

import itertools

import pytest

from vyre.conformance.families import litmus, ordered
from vyre.conformance.families.litmus import COHERENCE, OPEN, Write

# The outcomes that the published tests forbid, written out; X is the word in memory at the end.
FORBIDDEN = {
    "CoRR": lambda o: o["r0"] == 1 and o["r1"] == 0,
    "CoWW": lambda o: o["X"] != 2,
    "CoWR": lambda o: o["r0"] == 0 or (o["r0"] == 2 and o["X"] == 1),
    "CoRW1": lambda o: o["r0"] != 0,
    "CoRW2": lambda o: o["r0"] == 1 or (o["r0"] == 2 and o["X"] == 2),
    "CoRR-two-writers": lambda o: (
        0 in (o["r0"], o["r1"], o["r2"])
        or (o["r0"], o["r1"]) == (1, 2)
        or (o["r0"] == 1 and o["X"] == 2)
        or (o["r1"] == 1 and o["X"] == 2)
        or (o["r2"] == 2 and o["X"] == 1)
        or (o["r2"] == 2 and 1 in (o["r0"], o["r1"]))
    ),
}


def values(test: litmus.Test) -> list[dict[str, int]]:
    """Every outcome whose values somebody wrote; in memory one that was written last by somebody."""
    written = {step.value for step in test.first + test.second if isinstance(step, Write)}
    registers = [step.register for step in test.first + test.second if not isinstance(step, Write)]
    choices = [*([0, *written] for _ in registers), written]
    return [dict(zip([*registers, "X"], row, strict=True)) for row in itertools.product(*choices)]


@pytest.mark.parametrize("name", COHERENCE)
def test_an_outcome_is_forbidden_if_no_order_explains_it(name):
    explained = litmus.explained(COHERENCE[name], "x")
    for outcome in values(COHERENCE[name]):
        assert (tuple(sorted(outcome.items())) not in explained) == FORBIDDEN[name](outcome), outcome


@pytest.mark.parametrize("name", OPEN)
def test_the_weak_outcome_of_an_open_test_is_explained(name):
    """Each location alone has an order for it: nothing but an order over both would forbid it."""
    test = OPEN[name]
    explained = [dict(row) for row in itertools.chain(*(litmus.explained(test, location) for location in "xy"))]
    whole = [{**x, **y} for x in explained for y in explained if "X" in x and "Y" in y and not set(x) & set(y)]
    assert any(test.is_weak(outcome) for outcome in whole)


def outcomes(test: ordered.Test) -> set[tuple[tuple[str, int], ...]]:
    """The outcomes of all orders of the steps of a phase, phase after phase."""
    states = {(tuple((name, 0) for name in ordered.locations(test)), ())}
    for phase in range(len(test.parties[0])):
        running = [list(party[phase]) for party in test.parties if party[phase]]
        reached = set()
        waiting = [(state, tuple(0 for _ in running)) for state in states]
        while waiting:
            (memory, registers), done = waiting.pop()
            left = [k for k, steps in enumerate(running) if done[k] < len(steps)]
            if not left:
                reached.add((memory, registers))
            for k in left:
                step = running[k][done[k]]
                now, seen = dict(memory), dict(registers)
                if isinstance(step, Write):
                    now[step.location] = step.value
                else:
                    seen[step.register] = now[step.location]
                advanced = tuple(count + (index == k) for index, count in enumerate(done))
                waiting.append(((tuple(sorted(now.items())), tuple(sorted(seen.items()))), advanced))
        states = reached
    return {
        tuple(sorted([*registers, *((name.upper(), value) for name, value in memory)])) for memory, registers in states
    }


@pytest.mark.parametrize("name", ordered.TESTS)
def test_barriers_leave_one_outcome(name):
    test = ordered.TESTS[name]
    assert len({len(party) for party in test.parties}) == 1
    assert outcomes(test) == {tuple(sorted(test.outcome.items()))}


@pytest.mark.parametrize("name", ordered.TESTS)
def test_between_two_barriers_nobody_touches_what_another_writes(name):
    """So the tests with plain loads and stores are free of races."""
    test = ordered.TESTS[name]
    for phase in range(len(test.parties[0])):
        for one, other in itertools.permutations(test.parties, 2):
            written = {step.location for step in one[phase] if isinstance(step, Write)}
            assert not written & {step.location for step in other[phase]}


@pytest.mark.parametrize("size", ordered.SIZES)
def test_every_role_of_an_instance_has_another_player(size):
    for parties in (2, 3, 4):
        places = [
            [(me * factor + offset) % size for me in range(size)] for factor, offset in ordered._strides(size, parties)
        ]
        assert all(sorted(row) == list(range(size)) for row in places)
        players = [{place: me for me, place in enumerate(row)} for row in places]
        alone = [place for place in range(size) if len({row[place] for row in players}) == 1]
        assert len(alone) <= 1
