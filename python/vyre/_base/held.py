"""What a value of Python holds, and what that holds in turn, as it can be seen without running code of the user.

Containers have elements, objects have attributes, also those in slots, and classes and modules of the user have what
they define. Numbers, texts, functions, members of enumerations, and objects of vyre, numpy and most of Python hold
nothing: they are what they are. Only a `__dict__` of a user's class may run code.
"""

from __future__ import annotations

import enum
import functools
import os
import sys
import weakref
from array import array
from collections import deque
from operator import is_
from types import (
    BuiltinFunctionType,
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._base.constants import told_apart
from vyre._base.source import PACKAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Read = Callable[[Any], Sequence[Any]]

__all__ = [
    "CONTAINERS",
    "FIXED",
    "INSTALLED",
    "MISSING",
    "MOST_HELD",
    "SIMPLE",
    "Held",
    "TooMuch",
    "attributes_of",
    "is_alike",
    "is_compared",
    "is_library",
    "is_of_library",
    "is_of_std",
    "reader_of",
    "slots_of",
]

MOST_HELD = 10_000  # values in all
MISSING = object()
INSTALLED = ("site-packages", "dist-packages")
_PLAIN = (int, str, bytes, float, complex, np.generic)
SIMPLE: frozenset[type] = frozenset([bool, bytes, complex, float, int, str, type(None)])
# Folders, each with a separator at its end.
_STANDARD, _NUMPY_FOLDER = (f"{os.path.split(file)[0]}{os.sep}" for file in (os.__file__, np.__file__))
_BY_REFERENCE = (np.ndarray, _core.Array)  # they are not kept for having been seen
# The packages whose objects are no values, and change as they like.
_OF_THE_MACHINE = frozenset(
    "builtins vyre numpy asyncio concurrent contextvars dataclasses inspect io _io logging multiprocessing socket "
    "_thread threading typing weakref _weakrefset".split()
)


class TooMuch(Exception):
    """A value holds more than is compared."""


class Held:
    """What a value and all in it hold now.

    Attributes:
        all: what is in it, in order; each object as itself and each container as its type, with how many parts it has.
        is_fixed: whether none of it changes in place.
    """

    def __init__(self, value: Any) -> None:
        """Raises TooMuch."""
        self.all: list[Any] = []
        self._nodes: list[tuple[Read, Any, list[Any]]] = []
        seen: dict[int, int] = {}
        keep: list[Any] = []  # for their ids
        open_ = [value]
        while open_:
            each = open_.pop()
            read = reader_of(each)
            if read is None or id(each) in seen:
                self.all += [_kept(each)] if read is None else [type(each), seen[id(each)]]
                continue
            seen[id(each)] = len(seen)
            keep.append(each)
            parts = read(each)
            is_simple = {*map(type, parts)} <= SIMPLE
            if len(self.all) + len(open_) + len(parts) > MOST_HELD:
                if not (is_simple and type(each) in FIXED):
                    raise TooMuch
                self.all.append(each)
                continue
            self.all += [type(each) if type(each) in CONTAINERS else each, len(parts)]
            if is_simple:
                self.all += parts
            else:
                open_ += parts
            if type(each) not in FIXED:
                self._nodes.append((read, each, [*map(_kept, parts)]))
        self.is_fixed = not self._nodes

    def is_same(self) -> bool:
        """Whether everything in the value holds what it held."""
        for read, node, before in self._nodes:
            try:
                now = read(node)
            except TooMuch:
                return False
            if len(now) != len(before):
                return False
            if not all(map(is_, now, before)):
                now = [*map(_kept, now)]
                if not all(map(is_alike, now, before)):
                    return False
                before[:] = now  # the next comparison is by `is` again
        return True

    def is_alike(self, other: Held) -> bool:
        return len(self.all) == len(other.all) and all(map(is_alike, self.all, other.all))


def is_alike(now: Any, before: Any) -> bool:
    """Whether a value is the same one, or an equal number or text of the same type."""
    if now is before:
        return True
    kind = type(now)
    if kind is not type(before) or not issubclass(kind, _PLAIN):
        return False
    if kind in (int, str, bytes):
        return bool(now == before)
    try:
        return bool(told_apart(now) == told_apart(before))
    except Exception:  # the `==` of a user's class may raise anything
        return False


def _kept(value: Any) -> Any:
    return weakref.ref(value) if type(value) in _BY_REFERENCE else value


def reader_of(value: Any) -> Read | None:
    """What reads the parts of a value; None where it has none."""
    kind = type(value)
    if kind in _READERS:
        is_closed = (kind is ModuleType and is_of_library(value)) or (
            kind is BuiltinFunctionType and type(value.__self__) in (ModuleType, type(None))
        )
        return None if is_closed else _READERS[kind]
    if issubclass(kind, type):
        kinds = [
            each for each in (*value.__mro__, *type(value).__mro__) if kind is not enum.EnumMeta and _is_of_user(each)
        ]
        return functools.partial(_defined, kinds) if kinds else None
    if issubclass(kind, (*_BY_REFERENCE, enum.Enum)) or _is_plain(kind):
        return None
    slots = slots_of(kind)
    elements = next((read for base, read in _READERS.items() if read and issubclass(kind, base)), None)
    if elements is None and not slots and not kind.__dictoffset__:
        return None
    return functools.partial(_parts, elements, slots)


def _parts(elements: Read | None, slots: dict[str, Any], value: Any) -> list[Any]:
    if not (elements or slots):
        try:
            return [type(value), *vars(value), *vars(value).values()]
        except Exception:  # as in attributes_of
            return [type(value)]
    found = attributes_of(value, slots)
    return [type(value), *(elements(value) if elements else ()), *found, *found.values()]


def slots_of(kind: type) -> dict[str, Any]:
    """What reads the slots of the objects of a class."""
    parts = [part for base in kind.__mro__ for part in vars(base).items()]
    return {name: part.__get__ for name, part in parts if type(part) is MemberDescriptorType and name != "__dict__"}


def attributes_of(value: Any, slots: dict[str, Any]) -> dict[str, Any]:
    """The attributes of an object, also those in slots."""
    found: dict[str, Any] = {}
    try:
        found.update(vars(value))
    except Exception:  # a class of the user may answer as it likes
        pass
    for name, read in slots.items():
        try:
            found[name] = read(value)
        except AttributeError:  # it is assigned later
            pass
    return found


def is_of_library(module: ModuleType) -> bool:
    file = module.__dict__.get("__file__")
    if not isinstance(file, str):
        return module.__name__ in sys.builtin_module_names
    return file.startswith(PACKAGE) or is_library(file)


def is_library(file: str) -> bool:
    """Whether a file is of vyre, numpy or Python: its functions are called as they are, and all others are inlined."""
    if file.startswith(PACKAGE):
        return not file.startswith((f"{PACKAGE}demo{os.sep}", f"{PACKAGE}std{os.sep}"))
    if file.startswith(_NUMPY_FOLDER):
        return True
    return file.startswith(_STANDARD) and f"{os.sep}site-packages{os.sep}" not in file


def is_of_std(file: str) -> bool:
    return file.startswith(f"{PACKAGE}std{os.sep}")


def is_compared(function: FunctionType) -> bool:
    """Whether what a function reads may be bound anew: not by users, where vyre, numpy or Python have the function."""
    file = function.__code__.co_filename
    return not file.startswith(PACKAGE) and not is_library(file)


def _is_library_class(kind: type) -> bool:
    module = sys.modules.get(str(kind.__module__))
    return module is not None and is_of_library(module)


def _is_plain(kind: type) -> bool:
    """Whether objects of a class of vyre, numpy or Python are values, or of no interest."""
    if not _is_library_class(kind):
        return False
    top = kind.__module__.partition(".")[0]
    return top in _OF_THE_MACHINE or getattr(kind, "__hash__", None) not in (None, object.__hash__)


def _is_of_user(kind: type) -> bool:
    file = getattr(sys.modules.get(str(kind.__module__)), "__file__", None) or ""
    return not (_is_library_class(kind) or any(each in file for each in INSTALLED))


def _defined(kinds: Sequence[type], kind: type) -> list[Any]:
    return [part for each in kinds for part in vars(each).values()]


def _globals(module: ModuleType) -> list[Any]:
    names = [each for each in vars(module) if not each.startswith("__")]
    return [*names, *map(vars(module).get, names)]


def _bytes(value: Any) -> list[Any]:
    if len(value) > MOST_HELD:
        raise TooMuch
    return [bytes(value)]


# The functions that read the elements of Python's own types. None calls an `__iter__` of a class of the user.
_READERS: dict[type, Read | None] = {
    **dict.fromkeys([*SIMPLE, FunctionType], None),
    list: lambda value: [*list.__iter__(value)],
    tuple: lambda value: [*tuple.__iter__(value)],
    set: lambda value: [*set.__iter__(value)],
    frozenset: lambda value: [*frozenset.__iter__(value)],
    deque: lambda value: [*deque.__iter__(value)],
    dict: lambda value: [*dict.keys(value), *dict.values(value)],
    **dict.fromkeys([bytearray, array, memoryview], _bytes),
    MappingProxyType: lambda value: [*value, *value.values()],
    functools.partial: lambda value: [value.func, *value.args, *value.keywords, *value.keywords.values()],
    MethodType: lambda value: [value.__func__, value.__self__],
    **dict.fromkeys([BuiltinFunctionType, MethodWrapperType], lambda value: [value.__self__, value.__name__]),
    ModuleType: _globals,
}
CONTAINERS = (list, tuple, set, frozenset, deque, dict, bytearray, array)
# The types whose objects do not change in place.
FIXED = (tuple, frozenset, MethodType, MethodWrapperType, BuiltinFunctionType, functools.partial)
