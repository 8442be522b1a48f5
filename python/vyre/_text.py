"""Values that a user gave, as a number or in a message."""

from __future__ import annotations

import operator
import reprlib

__all__ = ["as_count", "shown"]

_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxlong = 80
_REPR.maxother = 160
_REPR.maxtuple = _REPR.maxlist = _REPR.maxset = _REPR.maxfrozenset = _REPR.maxdict = 10


def shown(value: object) -> str:
    """``repr(value)`` for a message: always short, and present even when the value's own fails.

    >>> shown("vulcan")
    "'vulcan'"
    >>> len(shown("a" * 1_000_000))
    80
    """
    if type(value).__repr__ is not object.__repr__:  # which says an address
        try:
            return _REPR.repr(value)
        except Exception:  # the user's, or Python's for an integer of too many digits
            pass
    return f"an object of type {type(value).__name__[:80]}"


def as_count(value: object) -> int | None:
    """The integer that Python or numpy gave, or None for what is no integer; a bool counts nothing."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None
