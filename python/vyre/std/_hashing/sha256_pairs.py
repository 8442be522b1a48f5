"""SHA-256 of messages of exactly 64 bytes, which the nodes of hash trees are.

Their second block is padding alone, so that its schedule is known beforehand: a third of its work.
"""

from __future__ import annotations

from typing import Any

import vyre
from vyre import In, Out, u32, vec4u32
from vyre.std._hashing.algorithm import swapped
from vyre.std._hashing.sha2 import SHA256, mix_sha256, rounds_sha256, schedule_sha256

__all__ = ["BYTES", "sha256_pairs", "sha256_pairs_of_products"]

BYTES = 64

_PADDING = schedule_sha256([0x80000000, *[0] * 14, 8 * BYTES])


def hash_pair(words: Any, starts: Any, digests: Any, one: Any) -> None:
    """Write the digest of each message; one begins at a multiple of 16 bytes. For `one` see ``mix_sha256``."""
    i = vyre.gid(0)
    if i < len(starts):
        first = starts[i] >> 4
        loaded = [words[first + k] for k in range(BYTES // 16)]
        h = [u32(word) for word in SHA256]
        mix_sha256(h, [swapped(word) for each in loaded for word in (each.x, each.y, each.z, each.w)], one)
        rounds_sha256(h, _PADDING, one)
        for k in (0, 1):
            digests[2 * i + k] = vec4u32(*[swapped(word) for word in h[4 * k : 4 * k + 4]])


@vyre.kernel(workgroup_size=128)
def hash_pairs(words: In[vec4u32], starts: In[u32], digests: Out[vec4u32]) -> None:
    hash_pair(words, starts, digests, 1)


@vyre.kernel(workgroup_size=128)
def hash_pairs_of_products(words: In[vec4u32], starts: In[u32], digests: Out[vec4u32], one: u32) -> None:
    hash_pair(words, starts, digests, one)


@vyre.procedure(name="std.sha256_pairs")
def sha256_pairs(words: In[u32], starts: In[u32]) -> vyre.ProcedureArray:
    """The words of the digests of messages of 64 bytes, which begin at multiples of 16 bytes."""
    digests = vyre.scratch(u32, starts.length * 8, name="digests")
    hash_pairs(words.view(vec4u32), starts, digests.view(vec4u32), grid=starts.length)
    return digests


@vyre.procedure(name="std.sha256_pairs_of_products")
def sha256_pairs_of_products(words: In[u32], starts: In[u32], one: u32) -> vyre.ProcedureArray:
    """The same, where products are as fast as sums: `one` is 1, which the compiler of the device does not know."""
    digests = vyre.scratch(u32, starts.length * 8, name="digests")
    hash_pairs_of_products(words.view(vec4u32), starts, digests.view(vec4u32), one, grid=starts.length)
    return digests
