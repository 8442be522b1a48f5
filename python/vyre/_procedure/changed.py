"""Finds objects of Python that a block changes or steps through, and that were there before it.

The body of a procedure runs once, while it is recorded. A list, a counter or an iterator is then, in every turn of a
loop and whichever blocks a call runs, what this one run made of it. Names are looked for in the source (carried.py);
objects are looked at themselves, those that the body has names for and what they hold (held.py): when a block begins,
and when it ends. Nothing shows how far an iterator has come, so one that a block has the name of counts as changed.

Functions and objects may keep what they make when they are first used: an attribute or a global that was None or not
there, and a new key in a dict of theirs, are no change.
"""

from __future__ import annotations

import dis
import functools
import io
from array import array
from collections import ChainMap
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from vyre._base.held import (
    CONTAINERS,
    FIXED,
    MISSING,
    MOST_HELD,
    SIMPLE,
    attributes_of,
    is_alike,
    is_compared,
    reader_of,
    slots_of,
)
from vyre._procedure.carried import names_read_in_blocks
from vyre._procedure.functions import calling_frame
from vyre._procedure.recorder import calling_line, place_text
from vyre.errors import ArgumentError

__all__ = ["Watched"]

_MOST_COPIED = 1 << 16  # bytes of an array; of a larger one, some elements are compared
_MOST_SAMPLED = 1024
_BYTES = (array, bytearray, np.ndarray)
_DEFINED = (FunctionType, staticmethod, classmethod, property, type, ModuleType)


class Watched:
    """The objects around a block that begins."""

    def __init__(self, block: str) -> None:
        """Raises ArgumentError for an iterator that a block has the name of."""
        self._block, self._line = block, calling_line()
        # Name, object, whether a function or an object keeps it, and state.
        self._states: list[tuple[str, Any, bool, Any]] = []
        frame = calling_frame()
        if frame is None:
            return
        names = ChainMap(frame.f_locals, frame.f_globals)
        for name in names_read_in_blocks(frame.f_code):
            value: Any = names.get(name)
            for each, is_kept in _with_parts(value):
                if issubclass(type(each), io.IOBase):
                    is_stepped = each is value and not each.closed and not each.writable()
                else:
                    is_stepped = issubclass(type(each), Iterator)
                if is_stepped:
                    self._refuse(name, "stepped through")
                self._states.append((name, each, is_kept, _state(each, is_kept)))

    def refuse_changes(self) -> None:
        """Raise ArgumentError for an object that is not as it was when the block began."""
        for name, value, is_kept, before in self._states:
            if not _is_same(before, _state(value, is_kept)):
                self._refuse(name, "changed")

    def _refuse(self, name: str, done: str) -> None:
        turns = ", and numbers of turns from the number of the turn" if self._block.startswith("vyre.times") else ""
        raise ArgumentError(
            f"`{name}` is {done} in the block of {self._block}{place_text(self._line)}, which is recorded once for "
            f"all turns and calls. Fix: make `{name}` anew in the block{turns}."
        )


def _with_parts(value: Any) -> list[tuple[Any, bool]]:
    """An object with the objects in it, each once, and whether a function or an object keeps it."""
    found, seen = [(value, False)], {id(value)}
    for each, is_kept in found:
        for part, is_owned in _parts(each):
            if len(found) < MOST_HELD and id(part) not in seen and type(part) not in SIMPLE:
                seen.add(id(part))
                found.append((part, is_kept or is_owned))
    return found


def _parts(value: Any) -> list[tuple[Any, bool]]:
    """What a value holds, and whether it may make that when it is first used."""
    kind = type(value)
    if kind is FunctionType:
        if not is_compared(value):
            return []
        used = [
            each
            for each in _globals(value).values()
            if type(each) is not FunctionType or each.__globals__ is value.__globals__
        ]
        return [*((each, False) for each in _closure(value).values()), *((each, True) for each in used)]
    read = None if issubclass(kind, _BYTES) else reader_of(value)
    parts = [] if read is None else read(value)
    if issubclass(kind, (type, ModuleType)):  # what they define is not all of use to the block
        return [(each, True) for each in parts if not issubclass(type(each), _DEFINED)]
    is_owner = not issubclass(kind, (*CONTAINERS, *FIXED))
    return [] if {*map(type, parts)} <= SIMPLE else [(each, is_owner) for each in parts]


def _globals(function: FunctionType) -> dict[str, Any]:
    """The globals that a function reads or assigns."""
    names = _global_names(function.__code__)
    return {name: function.__globals__[name] for name in names if name in function.__globals__}


@functools.lru_cache(maxsize=256)
def _global_names(code: CodeType) -> tuple[str, ...]:
    # The names in `co_names` are of attributes too.
    return tuple({step.argval: None for step in dis.get_instructions(code) if step.opname.endswith("_GLOBAL")})


def _closure(function: FunctionType) -> dict[str, Any]:
    """The variables of the functions around a function that it has names for."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # it is assigned later
            pass
    return found


def _state(value: Any, is_kept: bool) -> Any:
    """What tells whether an object was changed: bytes, parts in order, or parts by names."""
    kind = type(value)
    if issubclass(kind, np.ndarray):
        if value.nbytes <= _MOST_COPIED:
            return value.tobytes()
        return value.shape, value.ctypes.data, value.flat[:: -(-value.size // _MOST_SAMPLED)].tobytes()
    if issubclass(kind, _BYTES):
        return bytes(value)
    read = reader_of(value)
    if issubclass(kind, dict) and is_kept:
        return dict(zip(map(id, dict.keys(value)), dict.values(value), strict=True))
    if read is not None and issubclass(kind, CONTAINERS):
        return [*read(value)]
    if kind is FunctionType and is_compared(value):
        return {**{f".{name}": each for name, each in vars(value).items()}, **_globals(value), **_closure(value)}
    return None if read is None else attributes_of(value, slots_of(kind))


def _is_same(before: Any, now: Any) -> bool:
    if isinstance(before, (list, tuple)):
        return len(before) == len(now) and all(map(_is_same_part, before, now))
    if isinstance(before, dict):
        return all(each is None or _is_same_part(each, now.get(name, MISSING)) for name, each in before.items())
    return bool(before == now)


def _is_same_part(before: Any, now: Any) -> bool:
    return is_alike(now, before) or (type(before) is type(now) is tuple and _is_same(before, now))
