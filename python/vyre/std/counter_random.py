"""Random numbers by counters: each is a function of its number and a key, so that all can be made at once.

The functions of one counter are the operations ``primitive.rng.philox4x32_10`` and ``primitive.rng.threefry2x32_20``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import vyre
from vyre import In, Out, u32
from vyre._base.refused import must_be
from vyre._base.text import shown
from vyre.errors import BindingError
from vyre.std._calls.declared import At, Unpack, argument, step
from vyre.std._calls.host import count_of, elements, place_of, refuse_other_length

__all__ = ["philox4x32_10", "random_u32", "threefry2x32_20"]

_MOST = 2**32 - 4  # the most words that random_u32 gives


@vyre.kernel
def philox(counters: In[vyre.vec4u32], key: In[u32], numbers: Out[vyre.vec4u32]) -> None:
    i = vyre.gid(0)
    if i < len(numbers):
        numbers[i] = vyre.ops.call("primitive.rng.philox4x32_10", counters[i], vyre.vec2u32(key[0], key[1]))


@vyre.kernel
def threefry(counters: In[vyre.vec2u32], key: In[u32], numbers: Out[vyre.vec2u32]) -> None:
    i = vyre.gid(0)
    if i < len(numbers):
        numbers[i] = vyre.ops.call("primitive.rng.threefry2x32_20", counters[i], vyre.vec2u32(key[0], key[1]))


def _words_at(number: Any, low: Any, high: Any) -> Any:
    """The four words of the counter (number, 0, 0, 0)."""
    counter = vyre.vec4u32(number, u32(0), u32(0), u32(0))
    return vyre.ops.call("primitive.rng.philox4x32_10", counter, vyre.vec2u32(low, high))


def _word_of(words: Any, i: Any) -> Any:
    """One of the first three words."""
    return vyre.select(i == 0, words.x, vyre.select(i == 1, words.y, words.z))


@vyre.kernel
def philox_row(low: u32, high: u32, numbers: Out[vyre.vec4u32]) -> None:
    i = vyre.gid(0)
    if i < len(numbers):
        numbers[i] = _words_at(i, low, high)


@vyre.kernel
def philox_row_of(key: In[u32], numbers: Out[vyre.vec4u32]) -> None:
    i = vyre.gid(0)
    if i < len(numbers):
        numbers[i] = _words_at(i, key[0], key[1])


@vyre.kernel
def philox_end(low: u32, high: u32, block: u32, numbers: Out[u32]) -> None:
    """The first words of a counter, as many as there are elements, at most three."""
    i = vyre.gid(0)
    if i < len(numbers):
        numbers[i] = _word_of(_words_at(block, low, high), i)


@vyre.kernel
def philox_end_of(key: In[u32], block: u32, numbers: Out[u32]) -> None:
    i = vyre.gid(0)
    if i < len(numbers):
        numbers[i] = _word_of(_words_at(block, key[0], key[1]), i)


@vyre.procedure(name="std.philox4x32_10")
def philox_all(counters: In[vyre.vec4u32], key: In[u32]) -> Any:
    return philox(counters, key)


@vyre.procedure(name="std.threefry2x32_20")
def threefry_all(counters: In[vyre.vec2u32], key: In[u32]) -> Any:
    return threefry(counters, key)


def _random(count: Any, rows: Any, end: Any, *key: Any) -> Any:
    """Record the words of a key: whole counters by one kernel, and the words of the last one by another."""
    numbers = vyre.scratch(u32, count, name="numbers")
    whole = count // 4 * 4
    rows(*key, numbers[:whole].view(vyre.vec4u32))
    with vyre.when(count % 4 > 0):
        end(*key, count // 4, numbers[whole:])
    return numbers


@vyre.procedure(name="std.random_u32")
def random_all(count: u32, low: u32, high: u32) -> vyre.ProcedureArray:
    return _random(count, philox_row, philox_end, low, high)


@vyre.procedure(name="std.random_u32_of_key")
def random_of_key(count: u32, key: In[u32]) -> vyre.ProcedureArray:
    return _random(count, philox_row_of, philox_end_of, key)


def _all(run: Any, width: int, counter: Any, key: Any, at: At) -> Any:
    counter = elements(counter, argument(at, "counter"), ["uint32"], axes=2)
    key = elements(key, argument(at, "key"), ["uint32"])
    for name, given, axis, extent in (("counter", counter, 1, width), ("key", key, 0, 2)):
        wanted = f"(n, {width})" if name == "counter" else "(2,)"
        refuse_other_length(given, axis, extent, argument(at, name), f"shape {wanted}")
    place = place_of(at, counter, key)
    return place.result(run(place.array(counter), place.array(key)))


@step
def philox4x32_10(counter: Any, key: Any, **at: Unpack[At]) -> Any:
    """Four random words for each counter: Philox 4x32 with 10 rounds.

    Args:
        counter: uint32 of shape (n, 4), numpy's or resident.
        key: uint32 of shape (2,).

    Returns: uint32 of shape (n, 4), resident where an argument is.

    Source: Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.

    >>> import numpy as np
    >>> [hex(each) for each in philox4x32_10(np.zeros((1, 4), np.uint32), np.zeros(2, np.uint32), backend="cpu")[0]]
    ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    """
    return _all(philox_all, 4, counter, key, at)


@step
def threefry2x32_20(counter: Any, key: Any, **at: Unpack[At]) -> Any:
    """Two random words for each counter: Threefry 2x32 with 20 rounds.

    Args:
        counter: uint32 of shape (n, 2), numpy's or resident.
        key: uint32 of shape (2,).

    Returns: uint32 of shape (n, 2), resident where an argument is.

    Source: Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.

    >>> import numpy as np
    >>> [hex(each) for each in threefry2x32_20(np.zeros((1, 2), np.uint32), np.zeros(2, np.uint32), backend="cpu")[0]]
    ['0x6b200159', '0x99ba4efe']
    """
    return _all(threefry_all, 2, counter, key, at)


@step
def random_u32(n: int, seed: Any, **at: Unpack[At]) -> Any:
    """Random words: the same ones for a seed everywhere, and the first of them for a smaller n.

    Element i is word i % 4 of Philox 4x32-10 at the counter (i // 4, 0, 0, 0) with the key (seed % 2^32, seed // 2^32).

    Args:
        n: how many, from 0 to 2^32 - 4.
        seed: from 0 to 2^64 - 1, or a resident array of its low and its high word, uint32 of shape (2,).

    Returns: uint32 of shape (n,), of numpy; resident for a resident seed, without waiting.

    >>> random_u32(3, 1, backend="cpu").tolist() == random_u32(5, 1, backend="reference")[:3].tolist()
    True
    >>> random_u32(10**6, vyre.array([1, 0], dtype=vyre.u32, backend="cpu")).shape
    (1000000,)
    """
    where = place_of(at, seed)
    if where.is_step and isinstance(n, vyre.Size):
        error = must_be(argument(at, "n"), f"an integer from 0 to {_MOST}", n)
        vyre.require(n <= _MOST, str(error))
    else:
        n = count_of(n, argument(at, "n"), 0, _MOST)
    if isinstance(seed, (vyre.Array, vyre.ProcedureArray)):
        return random_of_key(n, where.array(_key(seed, argument(at, "seed"))))
    seed = _number(seed, argument(at, "seed"))
    return random_all(n, seed & 0xFFFFFFFF, seed >> 32, backend=where.backend, device=where.device)


def _number(seed: Any, where: str) -> int:
    """A seed that is an integer; the two words of one have to be a resident array."""
    if isinstance(seed, (np.ndarray, list, tuple)) and len(np.shape(seed)) == 1:
        raise must_be(where, f"an integer from 0 to {2**64 - 1}, or a resident array of two words", shown(seed))
    return count_of(seed, where, 0, 2**64 - 1)


def _key(seed: Any, where: str) -> Any:
    """The two words of a seed that is an array."""
    if isinstance(seed, vyre.Array):
        has_two_words = seed.ndim == 1 and seed.dtype != np.uint32 and seed.nbytes == 8
    else:
        has_two_words = seed.dtype is vyre.u64  # its length is not known yet
    if has_two_words:
        got = seed.dtype.name.lower()
        raise must_be(where, "an array of uint32", f"one of {got}", BindingError)
    key = elements(seed, where, ["uint32"])
    refuse_other_length(key, 0, 2, where, "two words")
    return key
