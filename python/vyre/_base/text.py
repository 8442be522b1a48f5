"""Turns a value that a user gave into a number, or into text for a message."""

from __future__ import annotations

import operator
import reprlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

__all__ = ["as_count", "device_of", "first_line", "shown", "type_of"]

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
    if type(value).__repr__ is not object.__repr__:  # that one shows an address
        try:
            return _REPR.repr(value)
        except Exception:  # the user's, or Python's for an integer of too many digits
            pass
    return type_of(value)


def first_line(error: BaseException) -> str:
    """The first line of an error's text that is not blank, without its period; else the name of its class.

    >>> first_line(ValueError("\\n  one.\\ntwo")), first_line(ValueError())
    ('one', 'ValueError')
    """
    lines = (line.strip().rstrip(".") for line in str(error).splitlines())
    return next(filter(None, lines), type(error).__name__)


def type_of(value: object) -> str:
    """The type of a value for a message that does not show the value."""
    return f"an object of type {type(value).__name__[:80]}"


def device_of(array: Any) -> str:
    """Where a resident array lies, as messages say it."""
    return f"device {array.device} of backend `{array.backend}`"


def as_count(value: object) -> int | None:
    """The value of an integer of Python or numpy; None for any other value, and for a bool."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None
