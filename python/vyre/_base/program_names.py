"""The kernels that programs were made of: a profile has their hashes, and shows names that users know."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vyre import _core
from vyre._core import Program

if TYPE_CHECKING:
    from types import FunctionType

__all__ = ["Origin", "of_function", "origin_of"]

_MOST = 1 << 16  # programs that are remembered: a process may make kernels for ever


class Origin(NamedTuple):
    """The function that a program was made of, and where it begins."""

    name: str
    file: str
    line: int


_origins: dict[str, Origin] = {}


def of_function(program: Program, function: FunctionType) -> Program:
    """The program, which is remembered to be of a function; an equal one keeps its own. It breaks no rule."""
    origin = Origin(function.__name__, function.__code__.co_filename, function.__code__.co_firstlineno)
    _origins.setdefault(_core._profile_hash(program), origin)
    if len(_origins) > _MOST:
        _origins.pop(next(iter(_origins)), None)
    return program


def origin_of(digest: str) -> Origin | None:
    """The origin of a program by its hash in a profile."""
    return _origins.get(digest)
