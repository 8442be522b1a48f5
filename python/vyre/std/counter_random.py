"""Random numbers by counters: each is a function of its number and a key, so that all can be made at once.

The functions of one counter are the operations ``primitive.rng.philox4x32_10`` and ``primitive.rng.threefry2x32_20``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import vyre
from vyre import In, Out, u32
from vyre._calls import explain_calls
from vyre.errors import BindingError
from vyre.std._host import count_of, elements, place_of

if TYPE_CHECKING:
    from vyre import Device

__all__ = ["philox4x32_10", "random_u32", "threefry2x32_20"]


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


@vyre.kernel
def philox_row(low: u32, high: u32, numbers: Out[vyre.vec4u32]) -> None:
    i = vyre.gid(0)
    if i < len(numbers):
        counter = vyre.vec4u32(i, u32(0), u32(0), u32(0))
        numbers[i] = vyre.ops.call("primitive.rng.philox4x32_10", counter, vyre.vec2u32(low, high))


@vyre.kernel
def philox_row_of(key: In[u32], numbers: Out[vyre.vec4u32]) -> None:
    i = vyre.gid(0)
    if i < len(numbers):
        counter = vyre.vec4u32(i, u32(0), u32(0), u32(0))
        numbers[i] = vyre.ops.call("primitive.rng.philox4x32_10", counter, vyre.vec2u32(key[0], key[1]))


@vyre.procedure(name="std.philox4x32_10")
def philox_all(counters: In[vyre.vec4u32], key: In[u32]) -> Any:
    return philox(counters, key)


@vyre.procedure(name="std.threefry2x32_20")
def threefry_all(counters: In[vyre.vec2u32], key: In[u32]) -> Any:
    return threefry(counters, key)


@vyre.procedure(name="std.random_u32")
def random_all(count: u32, low: u32, high: u32) -> vyre.ProcedureArray:
    numbers = vyre.scratch(vyre.vec4u32, vyre.ceil_div(count, 4), name="numbers")
    philox_row(low, high, numbers)
    return numbers


@vyre.procedure(name="std.random_u32_of_key")
def random_of_key(count: u32, key: In[u32]) -> vyre.ProcedureArray:
    numbers = vyre.scratch(vyre.vec4u32, vyre.ceil_div(count, 4), name="numbers")
    philox_row_of(key, numbers)
    return numbers


def _all(function: str, run: Any, width: int, counter: Any, key: Any, backend: Any, device: Any) -> Any:
    counter = elements(counter, f"argument `counter` of {function}", ["uint32"], axes=2)
    key = elements(key, f"argument `key` of {function}", ["uint32"])
    for name, given, axis, extent in (("counter", counter, 1, width), ("key", key, 0, 2)):
        if isinstance(given.shape[axis], int) and given.shape[axis] != extent:
            wanted = f"(n, {width})" if name == "counter" else "(2,)"
            raise BindingError(
                f"argument `{name}` of {function} must have shape {wanted}, got {given.shape}. "
                f"Fix: pass {width if name == 'counter' else 2} words{' a row' if name == 'counter' else ''}."
            )
    place = place_of(function, backend, device, counter, key, can_be_step=True)
    return place.result(run(place.array(counter), place.array(key)))


def philox4x32_10(counter: Any, key: Any, *, backend: str | None = None, device: int | Device | None = None) -> Any:
    """Four random words for each counter: Philox 4x32 with 10 rounds.

    Args:
        counter: uint32 of shape (n, 4), numpy's or resident.
        key: uint32 of shape (2,).
        backend, device: where; resident arrays are used where they are.

    Returns: uint32 of shape (n, 4), resident where an argument is.

    Raises: ArgumentError, BindingError, CapabilityError, DeviceMemoryError, DeviceError.

    Source: Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.

    >>> import numpy as np
    >>> [hex(each) for each in philox4x32_10(np.zeros((1, 4), np.uint32), np.zeros(2, np.uint32), backend="cpu")[0]]
    ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    """
    return _all("vyre.std.philox4x32_10", philox_all, 4, counter, key, backend, device)


def threefry2x32_20(counter: Any, key: Any, *, backend: str | None = None, device: int | Device | None = None) -> Any:
    """Two random words for each counter: Threefry 2x32 with 20 rounds.

    Args:
        counter: uint32 of shape (n, 2), numpy's or resident.
        key: uint32 of shape (2,).
        backend, device: where; resident arrays are used where they are.

    Returns: uint32 of shape (n, 2), resident where an argument is.

    Raises: ArgumentError, BindingError, CapabilityError, DeviceMemoryError, DeviceError.

    Source: Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.

    >>> import numpy as np
    >>> [hex(each) for each in threefry2x32_20(np.zeros((1, 2), np.uint32), np.zeros(2, np.uint32), backend="cpu")[0]]
    ['0x6b200159', '0x99ba4efe']
    """
    return _all("vyre.std.threefry2x32_20", threefry_all, 2, counter, key, backend, device)


def random_u32(n: int, seed: Any, *, backend: str | None = None, device: int | Device | None = None) -> Any:
    """Random words: the same ones for a seed everywhere, and the first of them for a smaller n.

    Element i is word i % 4 of Philox 4x32-10 at the counter (i // 4, 0, 0, 0) with the key (seed % 2^32, seed // 2^32).

    Args:
        n: how many, from 0 to 2^32 - 4.
        seed: from 0 to 2^64 - 1, or a resident array of its low and its high word, uint32 of shape (2,).
        backend, device: where; a resident seed is used where it is.

    Returns: uint32 of shape (n,), of numpy; resident for a resident seed, without waiting.

    Raises: ArgumentError, BindingError, CapabilityError, DeviceMemoryError, DeviceError.

    >>> random_u32(3, 1, backend="cpu").tolist() == random_u32(5, 1, backend="reference")[:3].tolist()
    True
    >>> random_u32(10**6, vyre.array([1, 0], dtype=vyre.u32, backend="cpu")).shape
    (1000000,)
    """
    function = "vyre.std.random_u32"
    where = place_of(function, backend, device, seed, can_be_step=True)
    if not (where.is_step and isinstance(n, vyre.Size)):
        n = count_of(n, f"argument `n` of {function}", 0, 2**32 - 4)
    if isinstance(seed, (vyre.Array, vyre.ProcedureArray)):
        made = random_of_key(n, where.array(_key(seed, function)))
        return made.view(u32)[:n]
    seed = count_of(seed, f"argument `seed` of {function}", 0, 2**64 - 1)
    made = random_all(n, seed & 0xFFFFFFFF, seed >> 32, backend=where.backend, device=where.device)
    if where.is_step:
        return made.view(u32)[:n]
    return made.reshape(-1)[:n]


def _key(seed: Any, function: str) -> Any:
    """The two words of a seed that is an array."""
    key = elements(seed, f"argument `seed` of {function}", ["uint32"])
    if isinstance(key.shape[0], int) and key.shape[0] != 2:
        raise BindingError(
            f"argument `seed` of {function} must be an integer or an array of shape (2,), got shape {key.shape}. "
            "Fix: pass the low word and the high word of the seed."
        )
    return key


explain_calls(globals(), "vyre.std")
