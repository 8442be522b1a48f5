"""Ciphers that add a keystream to data: the kernels and the handling of arguments that all of them share.

A keystream is made in units of 64 bytes, each from a row of parameters and its number alone. An invocation makes up to
MOST_TURNS units one after the other: what is the same for all of them is loaded once, and while one unit's data come
from memory, others are computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import In, InOut, Out, _core, u32
from vyre.errors import ArgumentError, BindingError
from vyre.std._host import host_bytes
from vyre.std._messages import Messages, taken
from vyre.std._one import one_resident
from vyre.std._routes import ROUTES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre import Device

__all__ = ["UNIT", "Cipher", "encrypted", "rows_of", "words_of"]

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
        row: the vectors of a row of parameters.
        lanes: invocations of a workgroup.
        prepare: makes what a workgroup needs in its memory.
        load: (parameters, the row's first index) to what is the same for all units of a message.
        keystream: (what prepare made, what load made, number of the unit) to sixteen words.
    """

    name: str
    row: int
    lanes: int
    prepare: Callable[[], Any]
    load: Callable[[Any, Any], Any]
    keystream: Callable[[Any, Any, Any], list[Any]]


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
        loaded = cipher.load(parameters, u32(0))
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
        parameters: In[vyre.vec4u32],
        per: u32,
        units: u32,
        output: InOut[u32],
    ) -> None:
        """Encrypt each unit of each message.

        Args:
            firsts: the number of units before each message, and of all.
            per: vectors of parameters from one message to the next, or 0.
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
            stream = cipher.keystream(memory, cipher.load(parameters, low * per), unit)
            at = (starts[low] >> 2) + unit * WORDS
            end = len(words)
            if low + 1 < len(starts):
                end = starts[low + 1] >> 2
            for k in vyre.unroll(range(WORDS)):
                if at + k < end:
                    output[at + k] = words[at + k] ^ stream[k]

    @vyre.procedure(name=f"std.{cipher.name}.many")
    def many(
        words: In[u32], starts: In[u32], firsts: In[u32], parameters: In[vyre.vec4u32], per: u32, units: u32
    ) -> vyre.ProcedureArray:
        output = vyre.scratch(u32, words.length, zeros=True, name="output")
        each(words, starts, firsts, parameters, per, units, output, grid=units)
        return output

    return many


def rows_of(value: Any, sizes: Sequence[int], where: str) -> list[bytes]:
    """Give a bytes-like as a list of one, or a list of them as it is; each has one of these sizes in bytes."""
    given = value if isinstance(value, (list, tuple)) else [value]
    rows = [host_bytes(each, where) for each in given]
    for each in rows:
        if len(each) not in sizes:
            wanted = " or ".join(map(str, sizes))
            raise ArgumentError(f"{where} must have {wanted} bytes, got {len(each)}. Fix: pass {wanted} bytes.")
    return rows


def encrypted(
    cipher: Cipher,
    function: str,
    data: Any,
    named: dict[str, list[bytes]],
    parameters: Callable[..., np.ndarray],
    most_units: int,
    backend: str | None,
    device: int | Device | None,
) -> Any:
    """Add the keystream to the data.

    Args:
        named: keys and the like by the names of the arguments, one or one for each message.
        parameters: makes a row of one of each of these.
        most_units: the most units of a message.
    """
    if isinstance(data, Messages):
        raise BindingError(
            f"argument `data` of {function} must be bytes, a list of them or an array of uint8, got Messages. "
            "Fix: pass the list."
        )
    many = isinstance(data, (list, tuple))
    if many and any(isinstance(each, vyre.Array) for each in data):
        raise BindingError(
            f"argument `data` of {function} is a list with a vyre.Array, and lists are of bytes of the host. "
            f"Fix: write array.numpy() in the list, or call {function} for each resident array."
        )
    alone = one_resident(data, 0, function, backend, device)
    if alone is None:
        given = taken(data, function, backend, device)
        words, count, longest = given.messages.words, len(given.messages), given.messages.longest
    else:
        (words, longest), count = alone, 1
    for name, values in named.items():
        if len(values) != 1 and not (many and len(values) == count):
            raise ArgumentError(
                f"argument `{name}` of {function} has {len(values)} elements for {count} "
                f"message{'' if count == 1 else 's'}. Fix: pass one for each message, or one for all."
            )
    if longest > most_units * UNIT:
        raise ArgumentError(
            f"argument `data` of {function} has {longest} bytes, and the counter ends after "
            f"{most_units * UNIT}. Fix: begin with a smaller counter, or use another nonce for a part of the data."
        )
    if many and not count:
        return []
    several = max(map(len, named.values()))
    rows = [parameters(*(values[k if len(values) > 1 else 0] for values in named.values())) for k in range(several)]
    place: dict[str, Any] = {"backend": words.backend, "device": words.device}
    table = vyre.array(np.concatenate(rows).astype(np.uint32).reshape(-1, 4), **place)
    if not many:
        quads = words[: len(words) // 4 * 4].reshape(-1, 4)
        turns = 1
        if ROUTES[words.backend].turns:
            turns = min(max(len(words) // (WORDS * cipher.lanes * _ENOUGH), 1), MOST_TURNS)
        output = make_long(cipher)(quads, words, table, turns).reshape(-1).view(vyre.u8)[:longest]
        return output.tobytes() if alone is None else output
    messages = given.messages
    lengths = messages.lengths.numpy().astype(np.int64)
    firsts = np.concatenate([[0], np.cumsum(-(-lengths // UNIT))])
    output = make_many(cipher)(
        words,
        messages.starts,
        vyre.array(firsts.astype(np.uint32), **place),
        table,
        cipher.row if several > 1 else 0,
        int(firsts[-1]),
    )
    return _core._cut(output.view(vyre.u8).numpy(), messages.starts.numpy().astype(np.int64), lengths)
