"""How often numbers occur: by value, and by bins of one width."""

from __future__ import annotations

from typing import Any

import numpy as np

from vyre import Array, ProcedureArray, u32, u64
from vyre._base.refused import must_be, must_have
from vyre.std._calls.declared import At, Unpack, argument, call, name_of, step
from vyre.std._calls.host import Place, check_order, count_of, elements, place_of, waited
from vyre.std._scanning.histograms import copies_of, histogrammer
from vyre.std._scanning.operators import operator_of
from vyre.std._scanning.reductions import reducer
from vyre.std.sorting import KEYS, unsigned

__all__ = ["bincount", "histogram"]

_MOST_BINS = 2**32 - 1


@call
def bincount(x: np.ndarray | Array | ProcedureArray, minlength: int = 0, **at: Unpack[At]) -> Any:
    """How often each number from 0 on occurs.

    Args:
        x: an array of one axis, of integers of 8 to 64 bits but int64, with at most 2^32 - 1 elements from 0 to
            2^32 - 2.
        minlength: how many counts there are at least.

    Gives: uint32 counts, as many as the largest element and 1, or `minlength`. A resident x gives a resident array,
        and is waited for: the largest element says how long it is. ``histogram`` does not wait.

    Raises: ArgumentError for negative and too large elements too, BindingError, CapabilityError, DeviceMemoryError,
        DeviceError.

    >>> import numpy as np
    >>> bincount(np.array([1, 3, 1], np.uint32), minlength=6, backend="cpu")
    array([0, 2, 0, 1, 0, 0], dtype=uint32)
    """
    where = name_of(at)
    x = elements(x, argument(at, "x"), KEYS)
    least = count_of(minlength, argument(at, "minlength"), 0, _MOST_BINS)
    place = place_of(at, x)
    length = max(least, _needed(x, where))
    return place.result(_counts(place, x, length, 0, 1))


@step
def histogram(
    x: np.ndarray | Array | ProcedureArray,
    bins: int,
    lo: int = 0,
    hi: int = 2**32,
    **at: Unpack[At],
) -> Any:
    """How many elements are in each of some bins of one width.

    Args:
        x: an array of one axis, of integers of 8 to 64 bits but int64, with at most 2^32 - 1 elements.
        bins: how many, up to 2^32 - 1; up to 3,072 are faster.
        lo: the first number of the first bin.
        hi: the number behind the last bin; a bin has (hi - lo) // bins numbers. What is left of the division, and what
            is not from lo to hi - 1, is not counted.

    Gives: uint32 counts; a resident array for a resident one, without waiting.

    >>> import numpy as np
    >>> histogram(np.array([1, 3, 7, 200], np.uint8), 2, 0, 8, backend="cpu")
    array([2, 1], dtype=uint32)
    """
    check_order(isinstance(x, int) and hasattr(bins, "dtype"), at, "x", "bins")
    x = elements(x, argument(at, "x"), KEYS)
    bins = count_of(bins, argument(at, "bins"), 1, _MOST_BINS)
    info = np.iinfo(x.dtype)
    low = count_of(lo, argument(at, "lo"), int(info.min), int(info.max))
    high = count_of(hi, argument(at, "hi"), low + 1, 2**64)
    if high - low < bins:
        raise must_be(argument(at, "bins"), f"at most the {high - low} numbers from `lo` to `hi` - 1", bins)
    place = place_of(at, x)
    return place.result(_counts(place, x, bins, low, (high - low) // bins))


def _counts(place: Place, x: Any, bins: int, low: int, width: int) -> Any:
    """The counts of bins of one width from `low` on."""
    info = np.iinfo(x.dtype)
    last = max(min(width * bins - 1, int(info.max) - low), 0)
    words, key = unsigned(x)
    bits = 64 if info.bits == 64 else 32
    width = width if width < 2**bits else 0
    by_shift = width.bit_count() == 1
    given = width.bit_length() - 1 if by_shift else width
    return histogrammer(key, copies_of(bins), by_shift)(place.array(words), bins, low % 2**bits, last, given)


def _needed(x: Any, where: str) -> int:
    """The number of counts up to the largest element."""
    if not len(x):
        return 0
    words, key = unsigned(x)  # so negative elements are the largest
    if isinstance(x, np.ndarray):
        largest = int(words.max())
    else:
        find = reducer(operator_of("max", u64 if key is u64 else u32, None, where), key)
        largest = int(waited(find(words), where)[0])
    if largest > np.iinfo(x.dtype).max:
        largest -= 2 ** (8 * x.dtype.itemsize)
    if not 0 <= largest < _MOST_BINS:
        raise must_have(f"argument `x` of {where}", f"elements from 0 to {_MOST_BINS - 1}", largest)
    return largest + 1
