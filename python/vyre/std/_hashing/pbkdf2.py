"""PBKDF2 (RFC 8018, section 5.2) with HMAC: kernels and the procedure.

An item is one block of one derived key: password i, block j. Its first value is the HMAC of the salt and j; after that
only digests are hashed, whose padding is always the same, and the iterations are split over dispatches.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import vyre
from vyre import In, InOut, Out, u32
from vyre.std._calls.trimmed import trimmed
from vyre.std._hashing.algorithm import Algorithm, digest_of, digest_of_digest, digest_words, state_of
from vyre.std._hashing.hmac_kernels import hmac_digests, keyed_states

__all__ = ["COUNTER", "MOST_ITERATIONS", "pbkdf2"]

COUNTER = 4  # bytes of the block's number, behind the salt

MOST_ITERATIONS = 2**31 - 1

# The most iterations of a dispatch; there are fewer if there are many items, so that a dispatch stays short, but
# enough that the dispatches do not become too many. Each is two turns of a loop, which has at most 60,000.
_TURNS, _TURNS_OF_ALL = 1024, 1 << 24
_DISPATCHES, _MOST_TURNS = 80_000, 30_000


@vyre.kernel
def numbered_salts(
    words: In[u32],
    starts: In[u32],
    lengths: In[u32],
    blocks: u32,
    slot: u32,
    salted: Out[u32],
    salted_starts: Out[u32],
    salted_lengths: Out[u32],
) -> None:
    """Write each salt and the big-endian number of a block behind it, for all ``blocks`` of each key.

    One invocation writes one word. Salts begin ``slot`` words apart.
    """
    t = vyre.gid(0)
    item, k = t // slot, t % slot
    if item < len(salted_starts):
        salt = item // blocks if len(starts) > 1 else 0
        start, length = starts[salt], lengths[salt]
        shift, first = start % 4 * 8, (start >> 2) + k
        word = words[first] >> shift | words[first + 1] << 1 << (31 - shift)
        number = vyre.byte_swap(item % blocks + 1)
        written = u32(0)
        if length >= 4 * k + 4:
            written = word
        elif length >= 4 * k:
            bits = (length - 4 * k) * 8
            written = word & ((1 << bits) - 1) | number << bits
        elif 4 * k < length + COUNTER:
            written = number >> (4 * k - length) * 8
        salted[t] = written
        if k == 0:
            salted_starts[item] = item * slot * 4
            salted_lengths[item] = length + COUNTER


@cache
def _iterate(algorithm: Algorithm) -> vyre.Kernel:
    """The kernel that brings each item forward by some iterations."""
    size, state = algorithm.digest // 4, algorithm.state

    @vyre.kernel(workgroup_size=64)
    def iterate(inner: In[u32], outer: In[u32], per: u32, turns: u32, last: InOut[u32], total: InOut[u32]) -> None:
        """Args: per: items in a row with one key's state, 0 if there is only one. last: digests; total: their xor."""
        i = vyre.gid(0)
        if i * size < len(last):
            at = u32(0)
            if per != 0:
                at = i // per * state
            states = [(inner[at + k], outer[at + k]) for k in range(state)]
            u = digest_of([last[i * size + k] for k in range(size)], algorithm)
            t = digest_of([total[i * size + k] for k in range(size)], algorithm)
            # An iteration is two turns, so that the program has one copy of the hash: an inner digest, then an outer.
            for turn in range(2 * turns):
                is_outer = turn & 1
                h = state_of([second if is_outer else first for first, second in states], algorithm)
                for k, word in enumerate(digest_of_digest(h, u, algorithm)):
                    u[k] = word
                    t[k] = t[k] ^ word if is_outer else t[k]
            for k, word in enumerate(digest_words(u, algorithm)):
                last[i * size + k] = word
            for k, word in enumerate(digest_words(t, algorithm)):
                total[i * size + k] = word

    return iterate


@vyre.kernel
def copied(x: In[u32], y: Out[u32]) -> None:
    i = vyre.gid(0)
    y[i] = x[i]


@cache
def pbkdf2(algorithm: Algorithm, alignment: int) -> Any:
    """The procedure that derives keys of ``size`` bytes, one after the other, from passwords and salts.

    There are as many passwords as salts, or one of either; ``alignment`` is that of the passwords.
    """
    states, first_digests = keyed_states(algorithm, alignment), hmac_digests(algorithm, 4)
    iterate = _iterate(algorithm)

    @vyre.procedure(name=f"std.pbkdf2_{algorithm.name}_{alignment}")
    def pbkdf2(
        words: In[u32],
        starts: In[u32],
        lengths: In[u32],
        longest: u32,
        salt_words: In[u32],
        salt_starts: In[u32],
        salt_lengths: In[u32],
        longest_salt: u32,
        iterations: u32,
        size: u32,
    ) -> Any:
        keys, salts = starts.length, salt_starts.length
        count = vyre.size_select(keys * salts == 0, 0, vyre.size_max(keys, salts))
        blocks = vyre.ceil_div(size, algorithm.digest)
        items, slot = count * blocks, vyre.ceil_div(longest_salt + COUNTER, 4)
        inner, outer = states(words, starts, lengths, longest)
        salted = vyre.scratch(u32, items * slot, name="salted")
        salted_starts = vyre.scratch(u32, items, name="salted_starts")
        salted_lengths = vyre.scratch(u32, items, name="salted_lengths")
        numbered_salts(
            salt_words,
            salt_starts,
            salt_lengths,
            blocks,
            slot,
            salted,
            salted_starts,
            salted_lengths,
            grid=items * slot,
        )
        per = vyre.size_select(keys > 1, blocks, 0)
        last = first_digests(inner, outer, per, salted, salted_starts, salted_lengths, longest_salt + COUNTER)
        total = vyre.scratch(u32, items * (algorithm.digest // 4), name="total")
        copied(last, total, grid=total.length)
        short = vyre.size_max(1, vyre.size_min(_TURNS, _TURNS_OF_ALL // vyre.size_max(items, 1)))
        turns = vyre.size_min(_MOST_TURNS, vyre.size_max(short, vyre.ceil_div(iterations, _DISPATCHES)))
        for part in vyre.times(vyre.ceil_div(iterations - 1, turns)):
            left = iterations - 1 - part * turns
            iterate(inner, outer, per, vyre.size_min(turns, left), last, total, grid=items)
        return trimmed(total, blocks * algorithm.digest, size)

    return pbkdf2
