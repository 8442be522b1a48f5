"""Hash functions that take a message block by block: what is common to their kernels.

A Stream says how the state begins, what a block does to it, and what becomes of it with the bytes behind the last
block. One invocation hashes one message, and a long message is continued in further dispatches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import vyre
from vyre import In, InOut, u32, u64
from vyre.std._calls.messages import Messages
from vyre.std._calls.padded import padded_words

__all__ = ["TURNS", "Stream", "hashed", "pick"]

TURNS = 8192  # blocks of a message in one dispatch; of shorter ones than four words as many more (see turns_of)


@dataclass(frozen=True)
class Stream:
    """A hash function by its blocks. Kernels call its functions; states are lists of u32, or of u64 if ``wide``.

    Attributes:
        name: of the procedure.
        words: of a block, u32.
        state: how many numbers a state has.
        results: words of a result.
        wide: whether the state's numbers are u64.
        begin: (parameters, length) to the state before the first block.
        step: (state, block, parameters, index of the block, length) changes the state.
        finish: (state, block, bytes in it, length, parameters) to the words of the result. The block holds what
            follows those that were stepped over, zeros behind it. Functions of files take 2^32 times a number more.
        blocks: the length in bytes to how many blocks are stepped over, for ints and for u32.
        lead: how many of these blocks stand before the message.
        whole: whether the last block is stepped over too, zeros behind it, so that nothing follows.
        mix: of a whole stream, (state, block, low and high word of the bytes up to its end, all ones for the last one).
    """

    name: str
    words: int
    state: int
    results: int
    wide: bool
    begin: Callable[..., list[Any]]
    step: Callable[..., None]
    finish: Callable[..., list[Any]]
    blocks: Callable[[Any], Any]
    lead: int = 0
    whole: bool = False
    mix: Callable[..., None] | None = None


def pick(words: list[Any], index: u32) -> Any:
    """Select the word of a list at an index that only the device knows."""
    found = words[0]
    for k in vyre.unroll(range(1, len(words))):
        found = words[k] if index == k else found
    return found


def turns_of(stream: Stream) -> int:
    """Blocks of a message in one dispatch, so that one of 2^32 bytes takes at most 2^15 dispatches."""
    return TURNS * max(4 // stream.words, 1)


@cache
def make_procedure(stream: Stream, aligned: bool) -> Any:
    """Make the procedure that hashes messages."""
    bytes_, halves, turns = 4 * stream.words, stream.state * (2 if stream.wide else 1), turns_of(stream)

    @vyre.kernel(workgroup_size=64)
    def take(
        words: In[u32],
        starts: In[u32],
        lengths: In[u32],
        parameters: In[u32],
        first: u32,
        state: InOut[u32],
        results: InOut[u32],
    ) -> None:
        """Bring the hash of each message forward from block ``first`` on, and write the results of those that end.

        Args:
            state: of messages that do not end, word k of message i at ``[k * len(starts) + i]``.
        """
        i, count = vyre.gid(0), len(starts)
        if i < count:
            start, length = starts[i], lengths[i]
            blocks = stream.blocks(length)
            if first == 0 or first < blocks:
                h = stream.begin(parameters, length)
                if first > 0:
                    kept = [state[k * count + i] for k in range(halves)]
                    for k in vyre.unroll(range(stream.state)):
                        h[k] = u64(kept[2 * k + 1]) << 32 | u64(kept[2 * k]) if stream.wide else kept[k]
                end = min(first + turns, blocks)
                at, shift = start >> 2, start % 4 * 8
                for index in range(first, end):
                    before = (index - stream.lead) * stream.words
                    left = length - before * 4 if stream.whole else u32(bytes_)
                    block = padded_words(words, at + before, shift, left, stream.words, aligned)
                    stream.step(h, block, parameters, index, length)
                if end == blocks:
                    left, block = u32(0), [u32(0) for _ in range(stream.words)]
                    if not stream.whole:
                        left = length - blocks * bytes_
                        block = padded_words(words, at + blocks * stream.words, shift, left, stream.words, aligned)
                    for k, word in enumerate(stream.finish(h, block, left, length, parameters)):
                        results[i * stream.results + k] = word
                else:
                    kept = [half for word in h for half in (word.lo, word.hi)] if stream.wide else h
                    for k, word in enumerate(kept):
                        state[k * count + i] = word

    @vyre.procedure(name=f"std.{stream.name}")
    def hashes(
        words: In[u32], starts: In[u32], lengths: In[u32], parameters: In[u32], windows: u32
    ) -> vyre.ProcedureArray:
        count = starts.length
        results = vyre.scratch(u32, count * stream.results, zeros=True, name="results")
        state = vyre.scratch(u32, vyre.size_select(windows > 1, count * halves, 0), zeros=True, name="state")
        for k in vyre.times(windows):
            take(words, starts, lengths, parameters, k * turns, state, results, grid=count)
        return results

    return hashes


def hashed(stream: Stream, messages: Messages, parameters: list[int]) -> Any:
    """Hash each message to the words of its result, resident."""
    given = vyre.array(np.array(parameters, np.uint32), backend=messages.backend, device=messages.device)
    windows = max(-(-stream.blocks(messages.longest) // turns_of(stream)), 1)
    return make_procedure(stream, messages.aligned)(messages.words, messages.starts, messages.lengths, given, windows)
