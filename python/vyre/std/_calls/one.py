"""One resident message without the arrays that Messages needs: making them would take longer than a call on it."""

from __future__ import annotations

from typing import Any

from vyre import Array
from vyre.std._calls.declared import At, argument
from vyre.std._calls.host import elements, place_of
from vyre.std._calls.messages import _check_total, _resident_words

__all__ = ["one_resident"]


def one_resident(data: Any, least: int, at: At) -> tuple[Array, int] | None:
    """Give the words of a resident array of at least `least` bytes, and its bytes; None for all else.

    Raises: ArgumentError, BindingError, as ``taken``.
    """
    if not isinstance(data, Array) or data.size < least:
        return None
    where = argument(at, "data")
    place_of(at, data)
    elements(data, where, ["uint8"])
    _check_total(data.size, where)
    return _resident_words(data), data.size
