"""The kernels that programs were made of: a profile has their hashes and places, and shows names that users know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from vyre import _core
from vyre._core import BufferAccess, Program

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FunctionType

__all__ = ["Origin", "named", "origin_of"]

_MOST = 1 << 16  # programs that are remembered: a process may make kernels for ever


class Origin(NamedTuple):
    """The function that a program was made of, and where it begins."""

    name: str
    file: str
    line: int


_by_hash: dict[Any, Origin | None] = {}
# The hash of a profile takes in the operations that a program calls, which Python's does not. Such a program is known
# by the place of its first statement and what it writes, where that tells one kernel from all others.
_by_place: dict[Any, Origin | None] = {}


def named(program: Program, of: FunctionType | Program) -> Program:
    """The program, which is remembered to be of a function, or of that of another program; an equal one keeps its own.

    It breaks no rule.
    """
    if isinstance(of, Program):
        origin = _by_hash.get(hash(of))
        if origin is None:
            return program
    else:
        origin = Origin(of.__name__, of.__code__.co_filename, of.__code__.co_firstlineno)
    _by_hash.setdefault(hash(program), origin)
    if program.entry:
        place = _core._statement_at(program, 0, None, False)[2]
        written = tuple(each.name for each in program.buffers if each.access == BufferAccess.ReadWrite)
        key = (written, place.file, place.line)
        _by_place[key] = origin if _by_place.get(key, origin) == origin else None
    for known in (_by_hash, _by_place):
        if len(known) > _MOST:
            known.pop(next(iter(known)), None)
    return program


def origin_of(digest: str, written: Sequence[str], file: str | None, line: int | None) -> Origin | None:
    """The origin of a program for what a profile tells of it.

    Args:
        digest: 16 hexadecimal digits, of which Python's own hash has all bits but the last.
    """
    return _by_hash.get(int(digest, 16) >> 1) or _by_place.get((tuple(written), file, line))
