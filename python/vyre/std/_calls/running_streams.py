"""Streams of ``streams.py`` over messages that come in pieces, of any length: BLAKE2 and xxHash of large files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

import vyre
from vyre import Device, In, InOut, u32, u64
from vyre.std._calls.messages import Messages
from vyre.std._calls.padded import padded_words
from vyre.std._calls.streams import TURNS, Stream

__all__ = ["RunningStream"]


@cache
def _advance(stream: Stream) -> Any:
    """The kernel that brings states forward by a piece of each message, and writes the results of those that end."""
    bytes_, halves = 4 * stream.words, stream.state * (2 if stream.wide else 1)
    mix = stream.mix or stream.step

    @vyre.kernel(workgroup_size=64)
    def advance(
        words: In[u32],
        starts: In[u32],
        lengths: In[u32],
        before: In[u32],
        ends: In[u32],
        parameters: In[u32],
        state: InOut[u32],
    ) -> None:
        """Args:
        before: the low and the high word of how many bytes of each message came in earlier pieces.
        ends: whether the piece is the last one of its message, 0 or 1; what is behind the end of one is not looked at.
        """
        i, count = vyre.gid(0), len(starts)
        if vyre.logical_and(i < count, vyre.logical_or(lengths[i] > 0, ends[i] != 0)):
            at, length, low, high = starts[i] >> 2, lengths[i], before[2 * i], before[2 * i + 1]
            h = stream.begin(parameters, length)
            if low | high != 0:
                kept = [state[k * count + i] for k in range(halves)]
                for k in vyre.unroll(range(stream.state)):
                    h[k] = u64(kept[2 * k + 1]) << 32 | u64(kept[2 * k]) if stream.wide else kept[k]
            blocks = length // bytes_
            if stream.whole:
                if ends[i] != 0:
                    blocks = (length + (bytes_ - 1)) // bytes_
                    if low | high == 0:
                        blocks = max(blocks, 1)
            for index in range(blocks):
                block = padded_words(
                    words, at + index * stream.words, u32(0), length - index * bytes_, stream.words, True
                )
                if stream.whole:
                    inside = min((index + 1) * bytes_, length)
                    end = low + inside
                    last = vyre.logical_and(ends[i] != 0, index + 1 == blocks)
                    carried = vyre.select(end < inside, u32(1), u32(0))
                    mix(h, block, end, high + carried, vyre.select(last, u32(0xFFFFFFFF), u32(0)))
                else:
                    stream.step(h, block, parameters, index, length)
            if ends[i] != 0:
                total = low + length
                carried = vyre.select(total < length, u32(1), u32(0))
                left, block = u32(0), [u32(0) for _ in range(stream.words)]
                if stream.whole:
                    found = stream.finish(h, block, left, total, parameters)
                else:
                    left = length - blocks * bytes_
                    block = padded_words(words, at + blocks * stream.words, u32(0), left, stream.words, True)
                    found = stream.finish(h, block, left, total, parameters, high + carried)
                for k, word in enumerate(found):
                    state[k * count + i] = word
            else:
                held = [half for word in h for half in (word.lo, word.hi)] if stream.wide else h
                for k, word in enumerate(held):
                    state[k * count + i] = word

    return advance


class RunningStream:
    """Several messages that are hashed piece by piece, at the same time.

    Args:
        stream: of ``blake2`` or ``quick_hashes``, without a key.
        parameters: what its kernels take.
        count: how many messages there are.
        backend, device: where, as for vyre.run.

    Attributes:
        most: bytes that a piece may have, a multiple of the block's.
    """

    def __init__(
        self,
        stream: Stream,
        parameters: Sequence[int],
        count: int,
        *,
        backend: str | None = None,
        device: int | Device | None = None,
    ) -> None:
        self._stream, self._count = stream, count
        self._place: dict[str, Any] = {"backend": backend, "device": device}
        self._parameters = vyre.array(np.array(parameters, np.uint32), **self._place)
        self._state = vyre.zeros(stream.state * (2 if stream.wide else 1) * count, np.uint32, **self._place)
        self._before = np.zeros(count, np.uint64)
        self.most = TURNS * 4 * stream.words

    def take(self, pieces: Sequence[bytes], ends: Sequence[bool]) -> None:
        """Take the next piece of each message: whole blocks, anything if it ends, and nothing of one that has ended."""
        packed = Messages.pack(list(pieces), **self._place)
        if not packed.longest and not any(ends):
            return
        before = vyre.array(self._before.astype("<u8").view("<u4"), **self._place)
        flags = vyre.array(np.array(ends, np.uint32), **self._place)
        _advance(self._stream)(
            packed.words,
            packed.starts,
            packed.lengths,
            before,
            flags,
            self._parameters,
            self._state,
            grid=self._count,
        )
        self._before += np.array([len(each) for each in pieces], np.uint64)

    def results(self) -> np.ndarray:
        """The words of the results, one row for each message."""
        words: np.ndarray = self._state.numpy()[: self._stream.results * self._count]
        return np.ascontiguousarray(words.reshape(-1, self._count).T)
