"""Defines what every contender offers, vyre included: the two kernels that are compared, and how to run them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

ROUNDS = 256
# Each round has an add, a xor and a rotation.
OPERATIONS = 3 * ROUNDS
# Inputs repeat a block of this many random words, so that the right answer for any size takes little time.
BLOCK = 1 << 14


class Missing(Exception):
    """Says why something cannot be measured here: a package, a device or a feature is missing."""


def nothing() -> None:
    """Does nothing; the `wait` of contenders whose calls return when they are done."""


@dataclass(frozen=True)
class Kernel:
    """Runs one kernel on one pair of arrays.

    Attributes:
        enqueue: runs it once on arrays that lie where it computes, and need not wait.
        wait: waits until all enqueued runs are done.
        fetch: returns the last result as a numpy array.
        whole: does everything from the user's numpy arrays to a new numpy array.
        batch: given a count, records that many runs one after the other, and returns a function that replays them. None
            where a contender cannot do this.
    """

    enqueue: Callable[[], object]
    wait: Callable[[], object]
    fetch: Callable[[], np.ndarray]
    whole: Callable[[], np.ndarray]
    batch: Callable[[int], Callable[[], object]] | None = None


@dataclass(frozen=True)
class Contender:
    """A contender that was started.

    Attributes:
        about: version and device, for the table's foot.
        make: ("xor" or "arx", a, b) -> the Kernel for these arrays. May raise Missing.
    """

    about: str
    make: Callable[[str, np.ndarray, np.ndarray], Kernel]


def inputs(elements: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns two arrays of `elements` words, which are the same in every process."""
    random = np.random.default_rng(2026)
    blocks = (random.integers(0, 2**32, BLOCK, np.uint32) for _ in range(2))
    a, b = (np.resize(block, elements) for block in blocks)
    return a, b


def arx(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Computes 256 rounds of x += y, y = rotl(y ^ x, 7), in place where numpy can."""
    x, y = a.copy(), b.copy()
    spare = np.empty_like(x)
    for _ in range(ROUNDS):
        x += y
        y ^= x
        np.right_shift(y, 25, out=spare)
        y <<= 7
        y |= spare
    return x ^ y


def answer(workload: str, elements: int) -> np.ndarray:
    """Returns the result that every contender must give, computed by numpy."""
    a, b = inputs(min(elements, BLOCK))
    return np.resize(a ^ b if workload == "xor" else arx(a, b), elements)
