"""What is known of the difference of two sizes, beside their values for many lengths and numbers."""

from __future__ import annotations

import random

import pytest

import vyre
from vyre._procedure.recorder import Recorder
from vyre._procedure.sizes import Size, known_difference, substituted

RECORDER = Recorder("compared", None, None)
ARRAY = RECORDER.declare("x", "input", vyre.u32, 2)
N, M = (Size(RECORDER, RECORDER.made.number(k)) for k in range(2))
LEAVES = (lambda: ARRAY.shape[0], lambda: ARRAY.shape[1], lambda: N, lambda: vyre.limit("workgroup_memory"))


def made(random_: random.Random, depth: int) -> Size | int:
    if depth == 0 or random_.random() < 0.2:
        return random_.randrange(4) if random_.random() < 0.4 else random_.choice(LEAVES)()
    a, b = made(random_, depth - 1), made(random_, depth - 1)
    operations = (
        *(lambda: a + b, lambda: a + b, lambda: a * b, lambda: 100 + a - b),
        *(lambda: a * 3, lambda: vyre.ceil_div(a, 2), lambda: vyre.size_max(a, b), lambda: a // 2),
    )
    try:
        return random_.choice(operations)()
    except vyre.ArgumentError:  # integers below zero
        return a


def values(size: Size | int, other: Size | int, leaves: dict[object, int]) -> tuple[int, ...] | None:
    def leaf(op: str, operands: tuple[int, ...]) -> int:
        return leaves[operands[1] if op == "length" else op]

    def value(each: Size | int) -> int:
        return substituted(each._terms(), leaf)[each._id] if isinstance(each, Size) else each

    try:
        return value(size), value(other)
    except vyre.ArgumentError:
        return None


@pytest.mark.parametrize("seed", range(8))
def test_what_is_known_holds_for_all_values(seed):
    random_ = random.Random(seed)
    known = 0
    for _ in range(2000):
        a = made(random_, 4)
        b = a + random_.randrange(3) if random_.random() < 0.3 else made(random_, 3)
        difference = known_difference(a, b)
        if difference is None:
            continue
        known += 1
        for _ in range(5):
            leaves = {0: random_.randrange(50), 1: random_.randrange(50), "number": random_.randrange(50), "limit": 77}
            found = values(a, b, leaves)
            assert found is None or found[0] - found[1] == difference, (a, b)
    assert known > 300


def test_sums_and_products_with_numbers_are_compared():
    n, m = N, M
    assert known_difference(n, n) == 0
    assert known_difference(vyre.ceil_div(n, 2) + 1, vyre.ceil_div(n, 2)) == 1
    assert known_difference((n + m) * 2, m + n + m + n + 5) == -5
    assert known_difference(7, 3) == 4
    assert known_difference(n - n, 0) == 0
    for a, b in ((n, m), (n * m, n), (n, 3), (vyre.ceil_div(n, 2), vyre.ceil_div(n, 3)), (2 * n, n)):
        assert known_difference(a, b) is None
    long = n
    for _ in range(5000):
        long = long + 1
    assert known_difference(long, n) == 5000
