"""What every contender offers, vyre included: the two kernels that are compared, on arrays where it computes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

ROUNDS = 256
# Add, xor and rotate.
OPERATIONS = 3 * ROUNDS
# Inputs repeat a block of this many random words, so that the right answer of any size is soon known.
BLOCK = 1 << 14


class Missing(Exception):
    """Why something cannot be measured here: a package, a device, a part that is not there yet."""


def nothing() -> None:
    """What a contender that has nothing to wait for does to wait."""


@dataclass(frozen=True)
class Kernel:
    """One kernel on one pair of arrays.

    Attributes:
        enqueue: runs it once on arrays that lie where it computes, and need not wait.
        wait: until all that was enqueued is done.
        fetch: what it computed last, as a numpy array.
        whole: numpy in, numpy out: everything from the user's arrays to a new array of the user's.
        batch: given a count, records so many runs one after the other, and gives what replays them. None where a
            contender cannot.
    """

    enqueue: Callable[[], object]
    wait: Callable[[], object]
    fetch: Callable[[], np.ndarray]
    whole: Callable[[], np.ndarray]
    batch: Callable[[int], Callable[[], object]] | None = None


@dataclass(frozen=True)
class Contender:
    """One that was started.

    Attributes:
        about: version and device, for the table's foot.
        make: ("xor" or "arx", a, b) -> its Kernel. May raise Missing.
    """

    about: str
    make: Callable[[str, np.ndarray, np.ndarray], Kernel]


def inputs(elements: int) -> tuple[np.ndarray, np.ndarray]:
    """The same two arrays of that many words in every process."""
    random = np.random.default_rng(2026)
    blocks = (random.integers(0, 2**32, BLOCK, np.uint32) for _ in range(2))
    a, b = (np.resize(block, elements) for block in blocks)
    return a, b


def arx(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """256 rounds of x += y, y = rotl(y ^ x, 7); in place where numpy can."""
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
    """What every contender must give, computed by numpy."""
    a, b = inputs(min(elements, BLOCK))
    return np.resize(a ^ b if workload == "xor" else arx(a, b), elements)
