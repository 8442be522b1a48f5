"""Keccak-f[1600] (FIPS 202, section 3): the permutation under SHA-3, as a function that kernels call."""

from __future__ import annotations

import numpy as np

import vyre
from vyre import u64

__all__ = ["absorb", "permute"]


def _round_constants() -> np.ndarray:
    """The 24 words of step iota, by the shift register of algorithm 5."""
    register, bits = 1, []
    for _ in range(255):
        bits.append(register & 1)
        register = (register << 1) ^ (0x171 if register & 0x80 else 0)
    words = [sum(bits[(j + 7 * r) % 255] << ((1 << j) - 1) for j in range(7)) for r in range(24)]
    return np.array(words, np.uint64)


def _lane_steps() -> list[tuple[int, int, int]]:
    """Steps rho and pi (algorithms 2 and 3): each lane, the bits that it is turned by, and the lane that it becomes."""
    x, y, steps = 1, 0, [(0, 0, 0)]
    for t in range(24):
        after = (y, (2 * x + 3 * y) % 5)
        steps.append((x + 5 * y, (t + 1) * (t + 2) // 2 % 64, after[0] + 5 * after[1]))
        x, y = after
    return steps


_IOTA = _round_constants()
_STEPS = _lane_steps()
_ROUNDS = 2  # rounds that a turn of the loop does


def permute(lanes: list[u64]) -> None:
    """Keccak-f[1600] on 25 lanes, lane x + 5 * y at (x, y)."""
    for turn in range(24 // _ROUNDS):
        for r in vyre.unroll(range(_ROUNDS)):
            columns = [lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20] for x in range(5)]
            mixed = [columns[(x + 4) % 5] ^ columns[(x + 1) % 5].rotl(1) for x in range(5)]
            moved = list(lanes)
            for source, bits, target in _STEPS:
                moved[target] = (lanes[source] ^ mixed[source % 5]).rotl(bits)
            for k in vyre.unroll(range(25)):
                row = k - k % 5
                lanes[k] = moved[k] ^ ~moved[row + (k + 1) % 5] & moved[row + (k + 2) % 5]
            lanes[0] ^= _IOTA[turn * _ROUNDS + r]


def absorb(lanes: list[u64], block: list[u64]) -> None:
    """Bring a sponge forward by the lanes of a block."""
    for k, lane in enumerate(block):
        lanes[k] ^= lane
    permute(lanes)
