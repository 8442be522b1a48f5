"""Ciphers that add a keystream to data: the kernels and the handling of arguments that all of them share.

A keystream is made in units of 64 bytes, one in each invocation, each from a row of parameters and its number alone.
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

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre import Device

__all__ = ["UNIT", "Cipher", "encrypted", "rows_of"]

UNIT = 64  # bytes
WORDS = UNIT // 4


@dataclass(frozen=True)
class Cipher:
    """A cipher by its keystream. Kernels call its functions.

    Attributes:
        name: of the procedures.
        row: the words of a row of parameters.
        lanes: invocations of a workgroup.
        prepare: makes what a workgroup needs in its memory.
        keystream: (what prepare made, parameters, the row's first index, number of the unit) to sixteen words.
    """

    name: str
    row: int
    lanes: int
    prepare: Callable[[], Any]
    keystream: Callable[..., list[Any]]


@cache
def make_long(cipher: Cipher) -> Any:
    """Make the procedure for one message."""

    @vyre.kernel(workgroup_size=cipher.lanes)
    def one(
        quads: In[vyre.vec4u32], words: In[u32], parameters: In[u32], units: u32, output: Out[vyre.vec4u32]
    ) -> None:
        """Encrypt each unit of a message; only the last one may reach beyond the array of quads."""
        memory = cipher.prepare()
        i = vyre.gid(0)
        if i < units:
            stream = cipher.keystream(memory, parameters, u32(0), i)
            # All loads stand in one branch, so that they wait for memory together.
            data = [vyre.vec4u32(0, 0, 0, 0) for _ in range(4)]
            if i + 1 < units:
                for k in vyre.unroll(range(4)):
                    data[k] = quads[4 * i + k]
            else:
                for k in vyre.unroll(range(4)):
                    at = 4 * (4 * i + k)
                    data[k] = vyre.vec4u32(words[at], words[at + 1], words[at + 2], words[at + 3])
            for k in vyre.unroll(range(4)):
                key = vyre.vec4u32(stream[4 * k], stream[4 * k + 1], stream[4 * k + 2], stream[4 * k + 3])
                output[4 * i + k] = data[k] ^ key

    @vyre.procedure(name=f"std.{cipher.name}.long")
    def long(quads: In[vyre.vec4u32], words: In[u32], parameters: In[u32]) -> vyre.ProcedureArray:
        units = vyre.ceil_div(words.length, WORDS)
        output = vyre.scratch(vyre.vec4u32, units * 4, name="output")
        one(quads, words, parameters, units, output, grid=units)
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
        parameters: In[u32],
        per: u32,
        units: u32,
        output: InOut[u32],
    ) -> None:
        """Encrypt each unit of each message.

        Args:
            firsts: the number of units before each message, and of all.
            per: words of parameters from one message to the next, or 0.
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
            stream = cipher.keystream(memory, parameters, low * per, unit)
            at = (starts[low] >> 2) + unit * WORDS
            end = len(words)
            if low + 1 < len(starts):
                end = starts[low + 1] >> 2
            for k in vyre.unroll(range(WORDS)):
                if at + k < end:
                    output[at + k] = words[at + k] ^ stream[k]

    @vyre.procedure(name=f"std.{cipher.name}.many")
    def many(
        words: In[u32], starts: In[u32], firsts: In[u32], parameters: In[u32], per: u32, units: u32
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
    table = vyre.array(np.concatenate(rows).astype(np.uint32), **place)
    if not many:
        quads = words[: len(words) // 4 * 4].reshape(-1, 4)
        output = make_long(cipher)(quads, words, table).reshape(-1).view(vyre.u8)[:longest]
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
