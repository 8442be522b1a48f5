"""Block hashes of messages that come in pieces. Their states stay on the device from piece to piece."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

import vyre
from vyre import Device, In, InOut, u32
from vyre.std._calls.messages import Messages
from vyre.std._hashing.algorithm import Algorithm, begin_words, mix_block, state_of, state_words
from vyre.std._hashing.block_hashes import loaded_as, whole_block

__all__ = ["Running", "padding"]

_TURNS = 4096  # blocks of a message in one dispatch


@cache
def _advance(algorithm: Algorithm, turns: int = _TURNS) -> Any:
    """The procedure that brings states forward by whole blocks."""
    alignment = 16 if algorithm.block % 16 == 0 else 4
    element = loaded_as(alignment)

    @vyre.kernel(workgroup_size=64)
    def advance(words: In[element], starts: In[u32], lengths: In[u32], first: u32, state: InOut[u32]) -> None:
        """Bring the state of each message forward by the blocks of its piece, from block ``first`` on."""
        i, count = vyre.gid(0), len(starts)
        if i < count:
            blocks = lengths[i] // algorithm.block
            if first < blocks:
                held = [state[k * count + i] for k in range(algorithm.state)]
                h = state_of(held, algorithm)
                for block in range(first, min(first + turns, blocks)):
                    mix_block(h, whole_block(words, starts[i], block, algorithm.words, alignment), algorithm)
                for k, word in enumerate(state_words(h, algorithm)):
                    state[k * count + i] = word

    @vyre.procedure(name=f"std.{algorithm.name}_pieces")
    def pieces(words: In[u32], starts: In[u32], lengths: In[u32], blocks: u32, state: InOut[u32]) -> None:
        """Args: blocks: the most that a piece has."""
        for part in vyre.times(vyre.ceil_div(blocks, turns)):
            advance(words.view(element), starts, lengths, part * turns, state, grid=starts.length)

    return pieces


def padding(algorithm: Algorithm, size: int) -> bytes:
    """The bytes that follow a message of ``size`` bytes, up to the end of its last block."""
    zeros = -(size + 1 + algorithm.length) % algorithm.block
    if algorithm.length:
        bits = (8 * size).to_bytes(algorithm.length, "big" if algorithm.big_endian else "little")
        return bytes([algorithm.mark]) + bytes(zeros) + bits
    if not zeros:
        return bytes([algorithm.mark | 0x80])
    return bytes([algorithm.mark]) + bytes(zeros - 1) + b"\x80"


class Running:
    """Several messages that are hashed piece by piece, at the same time.

    Args:
        algorithm: one of ``vyre.std.hashes.ALGORITHMS``.
        count: how many messages there are.
        backend, device: where, as for vyre.run.

    >>> from vyre.std.hashes import ALGORITHMS
    >>> sha256 = ALGORITHMS["sha256"]
    >>> one = Running(sha256, 1, backend="cpu")
    >>> one.take([bytes(64)])
    >>> one.take([b"end" + padding(sha256, 67)])
    >>> one.digests()[0] == vyre.std.sha256(bytes(64) + b"end", backend="cpu")
    True
    """

    def __init__(
        self, algorithm: Algorithm, count: int, *, backend: str | None = None, device: int | Device | None = None
    ) -> None:
        self._algorithm, self._count = algorithm, count
        self._place: dict[str, Any] = {"backend": backend, "device": device}
        self._state = vyre.array(np.repeat(begin_words(algorithm), count), **self._place)

    def take(self, pieces: Sequence[bytes]) -> None:
        """Take the next piece of each message: whole blocks, or nothing of one that has ended."""
        packed = Messages.pack(list(pieces), **self._place)
        if packed.longest:
            blocks = packed.longest // self._algorithm.block
            _advance(self._algorithm)(packed.words, packed.starts, packed.lengths, blocks, self._state)

    def digests(self) -> list[bytes]:
        """The digests of the messages, whose last pieces ended with their ``padding``."""
        states = np.ascontiguousarray(self._state.numpy().reshape(-1, self._count).T)
        order = ">" if self._algorithm.big_endian else "<"
        words = states.astype("<u4").view("<u8" if self._algorithm.wide else "<u4")
        rows = words.astype(f"{order}u{words.itemsize}")
        return [row.tobytes()[: self._algorithm.digest] for row in rows]
