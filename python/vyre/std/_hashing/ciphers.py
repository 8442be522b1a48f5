"""Ciphers that add a keystream to data: the kernels and the handling of arguments that all of them share.

A keystream is made in units of 64 bytes, each from a key, a counter block of 16 bytes and its
number alone. An invocation makes up to MOST_TURNS units of one message one after the other: what is
the same for all of them is loaded once, and while one unit's data come from memory, others are
computed. Messages of a list have a counter block each and share a key or have one each too, so that
keys and counter blocks are arrays of their own there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

import vyre
from vyre import In, InOut, Out, _core, u32
from vyre._arrays.dlpack import numpy_of
from vyre._base.refused import must_be, must_have
from vyre.errors import BindingError
from vyre.std._calls.declared import At, name_of
from vyre.std._calls.host import elements, host_bytes
from vyre.std._calls.messages import Messages, one_resident, taken
from vyre.std._calls.routes import ROUTES

__all__ = ["UNIT", "Cipher", "Rows", "encrypted", "rows_of", "words_of"]

UNIT = 64  # bytes
WORDS = UNIT // 4
QUADS = WORDS // 4  # vectors of four words
MOST_TURNS = 4
_ENOUGH = 1024  # workgroups that fill a large GPU


@dataclass(frozen=True)
class Cipher:
    """A cipher by its keystream. Kernels call its functions.

    Attributes:
        name: of the procedures.
        start: the name of the argument that has the nonce or the counter block.
        own: what that is for the messages of a list, none of which may share keystream.
        block: bytes of keystream for which the counter counts one.
        order: the places of the words in a counter block, from the highest of the number that they make to the lowest.
        lanes: invocations of a workgroup.
        words: the type of a counter block's words.
        row: (key, counter block) to the parameters of one message.
        keys: keys to the rows that kernels read of each.
        prepare: makes what a workgroup needs in its memory.
        load: (parameters) to what is the same for all units of a message.
        load_each: (keys, a key's first vector, counter blocks, number of the message) to the same.
        keystream: (what prepare made, what load made, number of the unit) to sixteen words.
    """

    name: str
    start: str
    own: str
    block: int
    order: tuple[int, ...]
    lanes: int
    words: str
    row: Callable[[bytes, bytes], np.ndarray]
    keys: Callable[[Rows], np.ndarray]
    prepare: Callable[[], Any]
    load: Callable[[Any], Any]
    load_each: Callable[[Any, Any, Any, Any], Any]
    keystream: Callable[[Any, Any, Any], list[Any]]


class Rows(NamedTuple):
    """Keys, nonces or counter blocks.

    Attributes:
        data: their bytes, one after the other.
        sizes: the bytes of each.
        is_list: whether they were given as a list or an array of two axes.
    """

    data: bytes
    sizes: list[int]
    is_list: bool

    def each(self) -> list[bytes]:
        return [self.data[end - size : end] for end, size in zip(accumulate(self.sizes), self.sizes, strict=True)]


def words_of(vector: Any) -> list[Any]:
    return [vector.x, vector.y, vector.z, vector.w]


@cache
def make_long(cipher: Cipher) -> Any:
    """Make the procedure for one message."""

    @vyre.kernel(workgroup_size=cipher.lanes)
    def one(
        quads: In[vyre.vec4u32],
        words: In[u32],
        parameters: In[vyre.vec4u32],
        turns: u32,
        output: Out[vyre.vec4u32],
    ) -> None:
        """Encrypt each unit of a message; only the last one may reach beyond the array of quads."""
        memory = cipher.prepare()
        loaded = cipher.load(parameters)
        first = vyre.wid(0) * (turns * cipher.lanes) + vyre.lid(0)
        for turn in range(turns):
            unit = first + turn * cipher.lanes
            at = unit * QUADS
            if at < len(output):
                stream = cipher.keystream(memory, loaded, unit)
                if vyre.logical_and(at + (QUADS - 1) < len(quads), at + (QUADS - 1) < len(output)):
                    for k in vyre.unroll(range(QUADS)):
                        output[at + k] = quads[at + k] ^ vyre.vec4u32(*stream[4 * k : 4 * k + 4])
                else:
                    for k in vyre.unroll(range(QUADS)):
                        rest = [words[4 * (at + k) + j] for j in vyre.unroll(range(4))]
                        output[at + k] = vyre.vec4u32(*rest) ^ vyre.vec4u32(*stream[4 * k : 4 * k + 4])

    @vyre.procedure(name=f"std.{cipher.name}.long")
    def long(quads: In[vyre.vec4u32], words: In[u32], parameters: In[vyre.vec4u32], turns: u32) -> vyre.ProcedureArray:
        units = vyre.ceil_div(words.length, WORDS)
        output = vyre.scratch(vyre.vec4u32, units * QUADS, name="output")
        one(quads, words, parameters, turns, output, grid=vyre.ceil_div(units, turns))
        return output

    return long


@cache
def make_many(cipher: Cipher) -> Any:
    """Make the procedure for messages that begin at words."""

    @vyre.kernel(workgroup_size=cipher.lanes)
    def each(
        words: In[u32],
        starts: In[u32],
        firsts: In[u32],
        keys: In[vyre.vec4u32],
        blocks: In[vyre.vec4u32],
        per: u32,
        units: u32,
        output: InOut[u32],
    ) -> None:
        """Encrypt each unit of each message.

        Args:
            firsts: the number of units before each message, and of all.
            blocks: the counter block of each message.
            per: vectors from the key of one message to that of the next, or 0 where all have one key.
        """
        memory = cipher.prepare()
        i = vyre.gid(0)
        if i < units:
            # Find the last message that begins at this unit or before.
            low, high = u32(0), len(starts)
            while high - low > 1:
                middle = (low + high) >> 1
                if firsts[middle] <= i:
                    low = middle
                else:
                    high = middle
            unit = i - firsts[low]
            stream = cipher.keystream(memory, cipher.load_each(keys, low * per, blocks, low), unit)
            at = (starts[low] >> 2) + unit * WORDS
            end = len(words)
            if low + 1 < len(starts):
                end = starts[low + 1] >> 2
            for k in vyre.unroll(range(WORDS)):
                if at + k < end:
                    output[at + k] = words[at + k] ^ stream[k]

    @vyre.procedure(name=f"std.{cipher.name}.many")
    def many(
        words: In[u32],
        starts: In[u32],
        firsts: In[u32],
        keys: In[vyre.vec4u32],
        blocks: In[vyre.vec4u32],
        per: u32,
        units: u32,
    ) -> vyre.ProcedureArray:
        output = vyre.scratch(u32, words.length, zeros=True, name="output")
        each(words, starts, firsts, keys, blocks, per, units, output, grid=units)
        return output

    return many


def rows_of(value: Any, sizes: Sequence[int], where: str) -> Rows:
    """Keys, nonces or counter blocks as they were given: one, a list, or the rows of an array.

    Args:
        sizes: the bytes that each may have.
    """
    value = numpy_of(value, where, BindingError)
    is_list = True
    if isinstance(value, np.ndarray) and value.ndim == 2:
        given = elements(value, where, ["uint8"], axes=2)
        data, lengths = given.tobytes(), [given.shape[1]] * len(given)
    else:
        is_list = isinstance(value, (list, tuple))
        rows = value if is_list else [value]
        if set(map(type, rows)) - {bytes}:
            rows = [host_bytes(each, where) for each in rows]
        data, lengths = b"".join(rows), list(map(len, rows))
    if wrong := set(lengths) - set(sizes):
        wanted = " or ".join(map(str, sizes))
        raise must_have(where, f"{wanted} bytes", min(wrong))
    return Rows(data, lengths, is_list)


def _check_counts(cipher: Cipher, function: str, key: Rows, blocks: Rows, many: bool, count: int) -> None:
    """Refuse other numbers of keys and counter blocks than the messages need: a list takes a counter block for each."""
    start = f"argument `{cipher.start}` of {function}"
    if many and not blocks.is_list:
        raise _shared(cipher, function, "one for all")
    for where, rows in ((f"argument `key` of {function}", key), (start, blocks)):
        has = len(rows.sizes)
        if has != count and not (rows is key and has == 1):
            raise must_have(where, f"one for each of the {count} messages", has)


def _shared(cipher: Cipher, function: str, got: str) -> Exception:
    wanted = f"{cipher.own}, because messages that share one can be read without the key"
    return must_be(f"argument `{cipher.start}` of {function}", wanted, got)


def _check_apart(cipher: Cipher, function: str, key: Rows, blocks: Rows, lengths: np.ndarray) -> None:
    """Refuse two messages that would have a block of keystream in common, because the counter of one reaches the other.

    In the order of their counters, a message that reaches any other reaches the next one, and the last one of a key
    may reach the first by passing the end of the counter.
    """
    used = np.flatnonzero(lengths)
    if len(used) < 2:
        return
    words = np.frombuffer(blocks.data, cipher.words).reshape(-1, 4)[used][:, list(cipher.order)].astype(np.uint64)
    high, low = (words[:, k] << np.uint64(32) | words[:, k + 1] for k in (0, 2))
    keys = np.zeros(len(used), np.int64)
    if len(key.sizes) > 1:
        number: dict[bytes, int] = {}
        keys = np.array([number.setdefault(each, len(number)) for each in key.each()])[used]
    order = np.lexsort((low, high, keys))
    high, low, keys = high[order], low[order], keys[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))  # of each key
    after = np.arange(1, len(used) + 1)
    after[np.append(first[1:], len(used)) - 1] = first
    apart = low[after] - low
    near = high[after] - high == (low[after] < low)
    near &= apart < -(-lengths[used][order] // cipher.block)
    near &= after != np.arange(len(used))
    if near.any():
        at = int(near.argmax())
        one, other = sorted(used[order[[at, after[at]]]].tolist())
        raise _shared(cipher, function, f"one that messages {one} and {other} share under one key")


def encrypted(cipher: Cipher, data: Any, key: Rows, blocks: Rows, most_units: int, at: At) -> Any:
    """Add the keystream to the data; ``blocks`` are counter blocks of 16 bytes."""
    function = name_of(at)
    if isinstance(data, Messages):
        raise must_be(
            f"argument `data` of {function}", "bytes, a list of them or an array of uint8", "Messages", BindingError
        )
    many = isinstance(data, (list, tuple))
    if many and any(isinstance(each, vyre.Array) for each in data):
        raise must_be(
            f"each element of argument `data` of {function}", "bytes of the host", "a vyre.Array", BindingError
        )
    alone = one_resident(data, 0, at)
    if alone is None:
        given = taken(data, at)
        words, count, longest = given.messages.words, len(given.messages), given.messages.longest
    else:
        (words, longest), count = alone, 1
    _check_counts(cipher, function, key, blocks, many, count)
    if longest > most_units * UNIT:
        raise must_have(
            f"argument `data` of {function}", f"at most {most_units * UNIT} bytes from this counter on", longest
        )
    if many and not count:
        return []
    place: dict[str, Any] = {"backend": words.backend, "device": words.device}
    if not many:
        parameters = vyre.array(cipher.row(key.data, blocks.data).reshape(-1, 4), **place)
        quads = words[: len(words) // 4 * 4].reshape(-1, 4)
        turns = 1
        if ROUTES[words.backend].turns:
            turns = min(max(len(words) // (WORDS * cipher.lanes * _ENOUGH), 1), MOST_TURNS)
        output = make_long(cipher)(quads, words, parameters, turns).reshape(-1).view(vyre.u8)[:longest]
        return output.tobytes() if alone is None else output
    messages = given.messages
    lengths = messages.lengths.numpy().astype(np.int64)
    _check_apart(cipher, function, key, blocks, lengths)
    firsts = np.concatenate([[0], np.cumsum(-(-lengths // UNIT))])
    keys = cipher.keys(key)
    output = make_many(cipher)(
        words,
        messages.starts,
        vyre.array(firsts.astype(np.uint32), **place),
        vyre.array(keys.reshape(-1, 4), **place),
        vyre.array(np.frombuffer(blocks.data, cipher.words).astype(np.uint32).reshape(-1, 4), **place),
        keys.shape[1] // 4 if len(keys) > 1 else 0,
        int(firsts[-1]),
    )
    return _core._cut(output.view(vyre.u8).numpy(), messages.starts.numpy().astype(np.int64), lengths)
