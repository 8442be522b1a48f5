"""Values of Python that a program is made for, told apart where Python finds them equal: 1, 1.0 and True."""

from __future__ import annotations

from typing import Any

import numpy as np

from vyre._base.refused import must_be
from vyre._base.text import shown

__all__ = ["key_of", "told_apart"]

_FLOATS = (float, complex, np.floating, np.complexfloating)  # in these classes 0.0 and -0.0 are equal


def told_apart(value: Any) -> Any:
    """A key of a constant, with the types of all that it holds.

    Raises: TypeError for values without a hash.

    >>> told_apart((1, 2)) == told_apart((True, 2)), told_apart((1, 2)) == told_apart((1, 2))
    (False, True)
    """
    kind = type(value)
    if kind is int:
        return kind, value
    if isinstance(value, tuple):
        return kind, *map(told_apart, value)
    if isinstance(value, frozenset):
        return kind, frozenset(map(told_apart, value))
    if isinstance(value, _FLOATS):
        return kind, repr(value)
    hash(value)
    if hasattr(kind, "__dataclass_fields__"):
        import dataclasses

        parts = [getattr(value, each.name) for each in dataclasses.fields(value) if each.compare]
        try:
            return kind, value, *map(told_apart, parts)
        except TypeError:  # its own hash leaves out what has none
            pass
    return kind, value


def key_of(value: Any, where: str) -> Any:
    """The key of an argument for a constant.

    Raises: ArgumentError for a value without a hash.
    """
    try:
        key = told_apart(value)
        hash(key)
    except TypeError:
        raise must_be(where, "a value with a hash, such as an integer or a tuple of integers", shown(value)) from None
    return key
