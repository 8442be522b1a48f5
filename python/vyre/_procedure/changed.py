"""Finds objects of Python that a block changes or steps through, and that were there before it.

The body of a procedure runs once, while it is recorded. A list, a counter or an iterator is then, in every turn of a
loop and whichever blocks a call runs, what this one run made of it. Names are looked for in the source (carried.py);
objects are looked at themselves, those that the body has names for and what they hold: when a block begins, and when
it ends. Nothing shows how far an iterator has come, so one that a block has the name of counts as changed.
"""

from __future__ import annotations

import dis
import functools
import io
import operator
from array import array
from collections import ChainMap, deque
from collections.abc import Iterator
from types import BuiltinMethodType, CodeType, FunctionType, MemberDescriptorType, MethodType, MethodWrapperType
from typing import Any

import numpy as np

from vyre._procedure.arrays import ProcedureArray
from vyre._procedure.carried import names_read_in_blocks
from vyre._procedure.functions import calling_frame
from vyre._procedure.recorder import calling_line, place_text
from vyre._procedure.sizes import Size
from vyre.errors import ArgumentError

__all__ = ["Watched"]

_METHODS = (MethodType, BuiltinMethodType, MethodWrapperType)
_WITHOUT_PARTS = frozenset([bool, bytes, complex, float, int, str, type(None)])
_NUMBERS = (int, float, np.number)
_COUNTED = (int, float, Size, ProcedureArray)  # the attributes that are compared; others may be made when first used


class Watched:
    """The objects around a block that begins."""

    def __init__(self, block: str) -> None:
        """Raises ArgumentError for an iterator that a block has the name of."""
        self._block, self._line = block, calling_line()
        self._states: list[tuple[str, Any, Any]] = []  # name, object, state
        frame = calling_frame()
        if frame is None:
            return
        names = ChainMap(frame.f_locals, frame.f_globals)
        for name in names_read_in_blocks(frame.f_code):
            for each in _with_parts(names.get(name)):
                if isinstance(each, Iterator):
                    self._refuse(name, "stepped through")
                self._states.append((name, each, _state(each)))

    def refuse_changes(self) -> None:
        """Raise ArgumentError for an object that is not as it was when the block began."""
        for name, value, before in self._states:
            if not _is_same(before, _state(value)):
                self._refuse(name, "changed")

    def _refuse(self, name: str, done: str) -> None:
        turns = ", and numbers of turns from the number of the turn" if self._block.startswith("vyre.times") else ""
        raise ArgumentError(
            f"`{name}` is {done} in the block of {self._block}{place_text(self._line)}, which is recorded once for "
            f"all turns and calls. Fix: make `{name}` anew in the block{turns}."
        )


def _with_parts(value: Any) -> list[Any]:
    """An object with the objects in it, each once."""
    found, seen = [value], {id(value)}
    for each in found:
        for part in _parts(each):
            if type(part) not in _WITHOUT_PARTS and id(part) not in seen:
                seen.add(id(part))
                found.append(part)
    return found


def _parts(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple, set, frozenset, deque)):
        return list(value)
    if isinstance(value, dict):
        return [*value, *value.values()]
    if isinstance(value, _METHODS):
        return [value.__self__]
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if not isinstance(value, FunctionType):
        # Containers of an object are left out likewise, and files, which an object may write a log to.
        return [
            each
            for each in _attributes(value).values()
            if isinstance(each, Iterator) and not isinstance(each, io.IOBase)
        ]
    # Containers of a function's module are left out: functions keep there what they make when they are first called.
    used = [
        each
        for each in _globals(value).values()
        if isinstance(each, Iterator) or (isinstance(each, FunctionType) and each.__globals__ is value.__globals__)
    ]
    return [*_closure(value).values(), *used]


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


def _attributes(value: Any) -> dict[str, Any]:
    """The attributes of an object, also those in slots."""
    found: dict[str, Any] = {}
    try:
        found.update(vars(value))
    except Exception:  # a class of the user may answer as it likes
        pass
    for kind in type(value).__mro__:
        for name, part in vars(kind).items():
            if type(part) is MemberDescriptorType:
                try:
                    found[name] = part.__get__(value)
                except AttributeError:  # it is assigned later
                    pass
    return found


def _state(value: Any) -> Any:
    """What tells whether an object was changed."""
    if isinstance(value, (np.ndarray, array)):
        return value.tobytes()
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, (list, set, dict, deque)):
        return _parts(value)
    held = {f".{name}": each for name, each in _attributes(value).items()}
    if isinstance(value, FunctionType):
        held |= {**_globals(value), **_closure(value)}
    return {name: each for name, each in held.items() if type(each) in _COUNTED or isinstance(each, np.number)}


def _is_same(before: Any, now: Any) -> bool:
    if isinstance(before, list):
        return len(before) == len(now) and all(map(operator.is_, before, now))
    if isinstance(before, dict):
        return all(_is_one(each, now.get(name)) for name, each in before.items())
    return bool(before == now)


def _is_one(before: Any, now: Any) -> bool:
    return before is now or (isinstance(before, _NUMBERS) and type(before) is type(now) and bool(before == now))
