"""What programs were made of, kernels and operators: a profile has their hashes, and shows names that users know."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple
from weakref import ref

from vyre import _core
from vyre._core import Program

if TYPE_CHECKING:
    from types import FunctionType

__all__ = ["Origin", "named", "of_function", "origin_of"]

_MOST = 1 << 16  # programs that are remembered: a process may make kernels for ever


class Origin(NamedTuple):
    """The function that a program was made of, and where it begins; or what it is written like, wherever that is."""

    name: str
    file: str | None = None
    line: int | None = None


_origins: dict[str, Origin] = {}
_noted: deque[tuple[ref[Program], Origin]] = deque(maxlen=_MOST)  # few processes ask, and hashes take time


def named(program: Program, name: str, file: str | None = None, line: int | None = None) -> Program:
    """The program, which is remembered by this name; an equal one keeps its own. It breaks no rule."""
    _noted.append((ref(program), Origin(name, file, line)))
    return program


def of_function(program: Program, function: FunctionType) -> Program:
    """The program, which is remembered to be of a function."""
    return named(program, function.__name__, function.__code__.co_filename, function.__code__.co_firstlineno)


def origin_of(digest: str) -> Origin | None:
    """The origin of a program by its hash in a profile."""
    while _noted:
        reference, origin = _noted.popleft()
        program = reference()
        if program is not None:
            _origins.setdefault(_core._profile_hash(program), origin)
    while len(_origins) > _MOST:
        _origins.pop(next(iter(_origins)))
    return _origins.get(digest)
