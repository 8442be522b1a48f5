"""Digests of messages of exactly one block, which the nodes of hash trees are.

Their second block is padding alone, whose schedule is made on the host: for SHA-256 a third of a block's work.
"""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
from functools import cache
from typing import Any

import vyre
from vyre import In, Out, u32, vec4u32
from vyre.std._calls.host_words import HostWord
from vyre.std._hashing.algorithm import Algorithm, begin_words, digest_words, last_block, ordered, state_of
from vyre.std._hashing.block_hashes import whole_block

__all__ = ["block_digests"]


@cache
def block_digests(algorithm: Algorithm, products: bool) -> Any:
    """The procedure that hashes messages of one block, which begin at multiples of 16 bytes.

    Args:
        products: make some sums by products with a number that is 1, see routes.py. The compiler of the device does not
            know it: the kernel takes it as a number.
    """
    begin, size = begin_words(algorithm).tolist(), algorithm.digest // 4
    # A whole digest is stored at once where it can be.
    stored = vec4u32 if size % 4 == 0 else u32
    products = products and algorithm.products
    number: Any = u32 if products else vyre.const
    padding = last_block([], 0, HostWord, algorithm)

    @vyre.kernel(workgroup_size=128)
    def hash_blocks(words: In[vec4u32], starts: In[u32], digests: Out[stored], one: number) -> None:
        i = vyre.gid(0)
        if i < len(starts):
            h = state_of([u32(word) for word in begin], algorithm)
            block = whole_block(words, starts[i], u32(0), algorithm.words, 16)
            if products:
                algorithm.mix(h, ordered(block, algorithm), one, one)
                algorithm.mix(h, padding, one)
            else:
                algorithm.mix(h, ordered(block, algorithm))
                algorithm.mix(h, padding)
            found = digest_words(h, algorithm)
            if stored is u32:
                for k in vyre.unroll(range(size)):
                    digests[i * size + k] = found[k]
            else:
                for k in vyre.unroll(range(size // 4)):
                    digests[i * (size // 4) + k] = vec4u32(*found[4 * k : 4 * k + 4])

    @vyre.procedure(name=f"std.{algorithm.name}_blocks{'_of_products' if products else ''}")
    def block_digests(words: In[u32], starts: In[u32]) -> vyre.ProcedureArray:
        digests = vyre.scratch(u32, starts.length * size, name="digests")
        hash_blocks(words.view(vec4u32), starts, digests.view(stored), 1, grid=starts.length)
        return digests

    return block_digests
