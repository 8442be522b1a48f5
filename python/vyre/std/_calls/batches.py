"""What the codecs' calls take and give: one byte string or many, and the error of malformed data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import vyre
from vyre import Array, In, Out, _core, u8, u32
from vyre._base.calls import explain_calls
from vyre._base.refused import must_have
from vyre.errors import VyreError
from vyre.std._calls.chunks import Cut, Form
from vyre.std._calls.declared import At, argument
from vyre.std._calls.host import elements, place_of
from vyre.std._calls.messages import Messages, _words, octets

Why = Callable[[np.ndarray, int], tuple[str, str]]

__all__ = ["Batch", "DecodeError", "batch"]

# 1 + a position, and the end of the last word of a result, are u32.
_MOST = 2**32 - 4


class DecodeError(VyreError, ValueError):
    """Data that is not what a decoder reads.

    Attributes:
        position: the index of the first malformed byte; the length of the data where it ends too early.

    >>> try:
    ...     vyre.std.hex_decode(b"6x", backend="cpu")
    ... except vyre.std.DecodeError as error:
    ...     error.position
    1
    """

    position: int

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.position)


class Batch:
    """The byte strings of a call, and the form in which its results go back.

    Attributes:
        words: the bytes as a resident uint32 array.
        starts, lengths: of each string, in bytes, on the host.
        kind: "bytes" for one string of the host, "list" for many, "array" for a resident one, "messages" for Messages.
        form: what kernels know about them.
        where: the argument that they were, for messages.
    """

    __slots__ = ("form", "kind", "lengths", "starts", "where", "words")

    def __init__(
        self, words: Array, starts: np.ndarray, lengths: np.ndarray, kind: str, aligned: bool, where: str
    ) -> None:
        self.words, self.starts, self.lengths, self.kind, self.where = words, starts, lengths, kind, where
        self.form = Form(aligned, kind in ("bytes", "array"))

    @property
    def place(self) -> dict[str, Any]:
        """Where the bytes are, as vyre.array takes it."""
        return {"backend": self.words.backend, "device": self.words.device}

    def cut(self, size: int) -> Cut:
        """The strings in chunks of `size` bytes; the last chunk of a string may be shorter."""
        counts = (self.lengths + (size - 1)) // size
        if self.form.one:
            return Cut(self.words, int(self.lengths[0]), int(counts[0]), 1)
        kept = np.flatnonzero(counts)
        firsts = np.cumsum(counts) - counts
        table = self.table(firsts[kept], self.starts[kept], self.lengths[kept], kept)
        return Cut(table, 0, int(counts.sum()), len(counts))

    def table(self, *columns: np.ndarray) -> Array:
        return vyre.array(np.stack(columns, axis=1).astype(np.uint32).ravel(), **self.place)

    def firsts(self, size: int) -> np.ndarray:
        """The first chunk of each string."""
        counts = (self.lengths + (size - 1)) // size
        return np.cumsum(counts) - counts

    def results(self, words: Array, starts: np.ndarray, lengths: np.ndarray) -> Any:
        """Byte strings in the form of the call, from a resident array of words and their positions in bytes."""
        if self.kind == "array":
            return words.view(vyre.u8)[: int(lengths[0])]
        if self.kind == "messages":
            made = Messages.__new__(Messages)
            made._set(words, starts, lengths)
            return made
        if self.kind == "bytes":
            return words.view(vyre.u8)[: int(lengths[0])].tobytes()
        return _core._cut(words.view(vyre.u8).numpy(), starts, lengths)

    def decoded(self, words: Array, starts: np.ndarray, ends: Array, why: Why) -> Any:
        """Results of a decoder.

        Args:
            words, starts: the bytes of the results, and where those of each string begin, in bytes.
            ends: a resident array with two numbers for each string: 0 or 1 + the position of its first malformed byte,
                and the length of its result.
            why: what is wrong with data at a position, and what to do.
        """
        if self.kind == "array":
            return words.view(vyre.u8), ends[1:2], ends[0:1]
        found = ends.numpy().reshape(-1, 2)
        status, lengths = found[:, 0].copy(), found[:, 1].astype(np.int64)
        if self.kind == "bytes":
            self.check(int(status[0]), why)
        results = self.results(words, starts, lengths)
        if self.kind == "bytes":
            return results
        return results, vyre.array(status, **self.place) if self.kind == "messages" else status

    def check(self, status: int, why: Why) -> None:
        """Raise the DecodeError that a status other than 0 says, for one string of the host."""
        if status:
            data = self.words.numpy().astype("<u4", copy=False).view(np.uint8)[: int(self.lengths[0])]
            problem, fix = why(data, status - 1)
            raise DecodeError(f"{self.where} {problem} at position {status - 1}. Fix: {fix}.", status - 1)


def batch(data: Any, at: At, name: str = "data") -> Batch:
    """The byte strings that a host call got as an argument; arguments are those of ``taken``."""
    where, backend, device = argument(at, name), at["backend"], at["device"]
    if isinstance(data, Messages):
        place_of(at, data.words)
        starts, lengths = (each.numpy().astype(np.int64) for each in (data.starts, data.lengths))
        _check(int(lengths.sum()), where)
        return Batch(data.words, starts, lengths, "messages", data.aligned, where)
    if isinstance(data, (list, tuple)):
        messages = Messages._packed(data, where, backend, device)
        starts, lengths = (each.numpy().astype(np.int64) for each in (messages.starts, messages.lengths))
        return Batch(messages.words, starts, lengths, "list", True, where)
    if isinstance(data, vyre.Array):
        place_of(at, data)
        elements(data, where, ["uint8"])
        _check(data.size, where)
        words = data.view(vyre.u32) if data.size % 4 == 0 else _as_words(data)
        return Batch(words, np.zeros(1, np.int64), np.array([data.size]), "array", True, where)
    data = octets(data, where)
    _check(len(data), where)
    return Batch(_words(data, backend, device), np.zeros(1, np.int64), np.array([len(data)]), "bytes", True, where)


def _check(size: int, where: str) -> None:
    if size > _MOST:
        raise must_have(where, f"at most {_MOST} bytes", size)


@vyre.kernel(workgroup_size=256)
def _join_bytes(data: In[u8], words: Out[u32]) -> None:
    i = vyre.gid(0)
    words[i] = data[4 * i] | data[4 * i + 1] << 8 | data[4 * i + 2] << 16 | data[4 * i + 3] << 24


@vyre.procedure(name="std.as_words")
def _as_words(data: In[u8]) -> vyre.ProcedureArray:
    """Bytes as words, with zeros behind the last: a copy for lengths that are no multiple of 4."""
    words = vyre.scratch(u32, vyre.ceil_div(data.length, 4), name="words")
    _join_bytes(data, words)
    return words


explain_calls(globals(), "vyre.std")
