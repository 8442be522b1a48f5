"""HMAC (RFC 2104) over the hash functions of block_hashes.py: kernels and procedures.

A key is one block, so the states after it are computed once: the inner one begins the hash of each message, the outer
one that of the digest.
"""

from functools import cache
from typing import Any

import vyre
from vyre import In, InOut, Out, u32
from vyre.std._hashing.algorithm import (
    Algorithm,
    begin_words,
    digest_of,
    digest_of_digest,
    digest_words,
    mix_block,
    state_of,
    state_words,
)
from vyre.std._hashing.block_hashes import digests, digests_from, loaded_as, padded_block

__all__ = ["hmac_digests", "keyed_states"]


@cache
def _key_states(algorithm: Algorithm, alignment: int) -> vyre.Kernel:
    """The kernel that makes the states after the blocks of keys."""
    begin, element = begin_words(algorithm).tolist(), loaded_as(alignment)

    @vyre.kernel(workgroup_size=64)
    def key_states(
        words: In[element], starts: In[u32], lengths: In[u32], hashed: In[u32], inner: Out[u32], outer: Out[u32]
    ) -> None:
        """One invocation makes one state: even ones are inner.

        Args:
            words, starts, lengths: the keys, as Messages have them.
            hashed: the digests of keys that are longer than a block.
        """
        i, is_outer = vyre.gid(0) >> 1, vyre.gid(0) & 1
        if i < len(starts):
            length = lengths[i]
            w = [u32(0) for k in range(algorithm.words)]
            if length > algorithm.block:
                for k in vyre.unroll(range(algorithm.digest // 4)):
                    w[k] = hashed[i * (algorithm.digest // 4) + k]
            else:
                full, rest = length // algorithm.block, length % algorithm.block
                key = padded_block(words, starts[i], u32(0), full, rest, algorithm.words, 0, alignment)
                for k, word in enumerate(key):
                    w[k] = word
            pad = 0x5C5C5C5C if is_outer else 0x36363636
            h = state_of([u32(word) for word in begin], algorithm)
            mix_block(h, [word ^ pad for word in w], algorithm)
            for k, word in enumerate(state_words(h, algorithm)):
                if is_outer:
                    outer[i * algorithm.state + k] = word
                else:
                    inner[i * algorithm.state + k] = word

    return key_states


@cache
def keyed_states(algorithm: Algorithm, alignment: int) -> Any:
    """The procedure that gives the inner and the outer states of keys of any length."""
    hash_keys, states_of_keys = digests(algorithm, alignment), _key_states(algorithm, alignment)
    element = loaded_as(alignment)

    @vyre.procedure(name=f"std.hmac_{algorithm.name}_states_{alignment}")
    def keyed_states(
        words: In[u32], starts: In[u32], lengths: In[u32], longest: u32
    ) -> tuple[vyre.ProcedureArray, ...]:
        count = starts.length
        hashed = vyre.scratch(u32, count * (algorithm.digest // 4), name="hashed")
        inner = vyre.scratch(u32, count * algorithm.state, name="inner")
        outer = vyre.scratch(u32, count * algorithm.state, name="outer")
        with vyre.when(longest > algorithm.block):
            hash_keys(words, starts, lengths, longest, out=hashed)
        with vyre.otherwise():
            vyre.clear(hashed)
        states_of_keys(words.view(element), starts, lengths, hashed, inner, outer, grid=2 * count)
        return inner, outer

    return keyed_states


@cache
def _outer_digests(algorithm: Algorithm) -> vyre.Kernel:
    """The kernel that hashes inner digests to those of HMAC."""
    size = algorithm.digest // 4

    @vyre.kernel(workgroup_size=64)
    def outer_digests(outer: In[u32], per: u32, found: InOut[u32]) -> None:
        """Args: per: how many digests in a row have one key's state; 0 if there is only one key. found: digests."""
        i = vyre.gid(0)
        if i * size < len(found):
            at = u32(0)
            if per != 0:
                at = i // per * algorithm.state
            h = state_of([outer[at + k] for k in range(algorithm.state)], algorithm)
            inner = digest_of([found[i * size + k] for k in range(size)], algorithm)
            for k, word in enumerate(digest_words(digest_of_digest(h, inner, algorithm), algorithm)):
                found[i * size + k] = word

    return outer_digests


@cache
def hmac_digests(algorithm: Algorithm, alignment: int) -> Any:
    """The procedure that gives HMACs of messages from states of keys; ``per`` messages in a row have one key."""
    inner_digests, finished = digests_from(algorithm, alignment), _outer_digests(algorithm)

    @vyre.procedure(name=f"std.hmac_{algorithm.name}_{alignment}")
    def hmac_digests(
        inner: In[u32], outer: In[u32], per: u32, words: In[u32], starts: In[u32], lengths: In[u32], longest: u32
    ) -> vyre.ProcedureArray:
        found = inner_digests(inner, per, 8 * algorithm.block, words, starts, lengths, longest)
        finished(outer, per, found, grid=starts.length)
        return found

    return hmac_digests
