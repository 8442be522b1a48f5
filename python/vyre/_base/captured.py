"""What functions of the user's read by name: it is compared at each call with what it was when it was first read.

A trace of a kernel and a recording of a procedure hold only as long as globals, variables of closures, and attributes
of these are what they were. Kernels and helpers name them in their source, which is rewritten; for functions that run
as Python, such as the body of a procedure and what it calls, ``read_by`` finds the names in their bytecode. Looking a
name up runs no code of the user. Files of vyre, numpy and Python have nothing that a user binds anew.

Most values are compared by ``is``, in the core (``_same_bindings``). Numbers and strings may be equal ones of the same
type, and containers are compared with what they held.
"""

from __future__ import annotations

import dis
import functools
import os
import sys
import sysconfig
import weakref
from itertools import chain
from operator import is_
from pathlib import Path
from types import CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._base.constants import told_apart

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vyre._base.taken import Version

__all__ = ["Captured", "Captures", "all_code", "captured_of", "is_compared", "is_library", "read_by", "read_of_owners"]

_MOST_COMPARED = 10_000  # values of a captured container
_MOST_NAMES = 32  # of an attribute of an attribute, as in a list whose nodes have methods
_STANDARD = sysconfig.get_path("stdlib") + os.sep
_NUMPY_FOLDER = str(Path(np.__file__).parent) + os.sep
_PACKAGE = str(Path(__file__).parent.parent) + os.sep
_INSTALLED = ("site-packages", "dist-packages")
_MISSING = object()
_CONTAINERS = (list, dict, set, frozenset, tuple)
_PLAIN = (int, str, bytes, float, complex, np.generic)
# The instructions that read a name of a function's surroundings, and those that read an attribute of what was read.
_READS = (
    *("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"),
    *("LOAD_FROM_DICT_OR_GLOBALS", "LOAD_FROM_DICT_OR_DEREF"),
)
_FIRST = ("LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_DEREF")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")


class Captured:
    """A value of Python that a function has read: a global, a variable of a closure, or an attribute of one.

    Without names it is the function itself: its code, and the defaults of its parameters.
    """

    def __init__(self, function: FunctionType, names: tuple[str, ...], value: Any) -> None:
        self._function, self._names, self._value = function, names, value
        self._held = _flat(value) if isinstance(value, _CONTAINERS) else None

    @property
    def key(self) -> Any:
        return id(self._function), self._names

    @property
    def text(self) -> str:
        """What has changed, behind "another"."""
        if not self._names:
            return f"definition of `{self._function.__name__}`"
        return f"value of `{'.'.join(self._names)}`, which `{self._function.__name__}` reads"

    @property
    def binding(self) -> tuple[Any, Any, Any] | None:
        """What ``_same_bindings`` compares by ``is``; None where that is not enough."""
        function, value = self._function, self._value
        if not self._names:
            is_fixed = function.__kwdefaults__ is None and _is_fixed(function.__defaults__)
            return (function, function.__code__, function.__defaults__) if is_fixed else None
        if not _is_fixed(value):
            return None
        *before, name = self._names
        if before:
            owner = _look_up(function, tuple(before))
            return (owner.__dict__, name, value) if type(owner) is ModuleType else None
        cell = _cell(function, name)
        if cell is not None:
            return cell, None, value
        return function.__globals__, name, None if value is _MISSING else value

    def _methods(self) -> list[tuple[tuple[str, ...], FunctionType]]:
        """The methods that using the value runs, each with the names of what it belongs to."""
        names, value = self._names, self._value
        if not names:
            return []
        if type(value) is MethodType and type(value.__func__) is FunctionType:
            return [((*names, "__self__"), value.__func__)]
        if _is_function(value):
            is_attribute = len(names) > 1 and type(_look_up(self._function, names[:-1])) is not ModuleType
            return [(names[:-1], each) for each in _functions_of(value)] if is_attribute else []
        called = _attribute(type(value), "__call__")
        return [(names, called)] if type(called) is FunctionType else []

    def is_same(self) -> bool:
        now = _look_up(self._function, self._names)
        if self._held is not None:
            found = _flat(now) if type(now) is type(self._value) else None
            is_same = found is not None and _are_alike(found, self._held)
        else:
            is_same = _is_alike(now, self._value)
        if is_same:
            self._value = now  # the next comparison is by `is` again
        return is_same


class Captures:
    """All that a trace or a recording depends on. A name that was read several times counts as it was first read."""

    def __init__(self, read: Iterable[Captured | Version] = ()) -> None:
        first: dict[Any, Captured | Version] = {}
        for each in read:
            first.setdefault(each.key, each)
        self.all: tuple[Captured | Version, ...] = tuple(first.values())
        self._arrange()

    def _arrange(self) -> None:
        found = [(each, each.binding) for each in self.all]
        self._bindings = tuple(binding for _, binding in found if binding is not None)
        self._others = tuple(each for each, binding in found if binding is None)
        # The core compares these by itself; None where others have to be compared, too.
        self.bindings: tuple[tuple[Any, Any, Any], ...] | None = None if self._others else self._bindings

    def is_same(self) -> bool:
        if not _core._same_bindings(self._bindings):
            if self.changed() is not None:
                return False
            self._arrange()
        for each in self._others:
            if not each.is_same():
                return False
        return True

    def changed(self) -> str | None:
        """The first that is not the same any more, in words behind "another"."""
        return next((each.text for each in self.all if not each.is_same()), None)


def read_by(roots: Iterable[Any]) -> list[Captured]:
    """What functions of the user's that Python runs read, and what those read that they may call."""
    found: list[Captured] = []
    waiting = [each for root in roots for each in _functions_of(root)]
    home = waiting[0].__module__ if waiting else None
    seen = set()
    for function in waiting:
        if id(function) in seen or not _is_followed(function, home):
            continue
        seen.add(id(function))
        found.append(captured_of(function, ()))  # type: ignore[arg-type]
        for names in _names_of(function.__code__):
            read = captured_of(function, names)
            if read is not None:
                found.append(read)
                waiting += _functions_of(read._value)
    return [*found, *read_of_owners(found)]


def read_of_owners(read: Iterable[Captured]) -> list[Captured]:
    """What the methods among what was read, and that they call, read of the object or class that they belong to."""
    found: list[Captured] = []
    open_, seen = [*read], set()
    for each in open_:
        for owner, method in each._methods():
            # Objects may hold one another, so that their names go on without end.
            key = id(_look_up(each._function, owner)), id(method)
            if key in seen or len(owner) > _MOST_NAMES or not is_compared(method):
                continue
            seen.add(key)
            for names in _names_of_first(method.__code__):
                part = captured_of(each._function, (*owner, *names))
                if part is not None:
                    found.append(part)
                    open_.append(part)
    return found


def captured_of(function: FunctionType, names: tuple[str, ...]) -> Captured | None:
    """A name with its value; None for one that has no value to compare, and for what libraries hold."""
    if names:
        root = _look_up(function, names[:1])
        if isinstance(root, ModuleType) and is_of_library(root):
            return None
    value = _look_up(function, names)
    return None if value is _MISSING and len(names) > 1 else Captured(function, names, value)


def is_of_library(module: ModuleType) -> bool:
    file = module.__dict__.get("__file__")
    if not isinstance(file, str):
        return module.__name__ in sys.builtin_module_names
    return file.startswith(_PACKAGE) or is_library(file)


def is_library(file: str) -> bool:
    """Whether a file is of vyre, numpy or Python: its functions are called as they are, and all others are inlined."""
    if file.startswith(_PACKAGE):
        return not file.startswith((f"{_PACKAGE}demo{os.sep}", f"{_PACKAGE}std{os.sep}"))
    if file.startswith(_NUMPY_FOLDER):
        return True
    return file.startswith(_STANDARD) and "site-packages" not in Path(file).parts


def is_compared(function: FunctionType) -> bool:
    """Whether what a function reads may be bound anew: not by users, where vyre, numpy or Python have the function."""
    file = function.__code__.co_filename
    return not file.startswith(_PACKAGE) and not is_library(file)


def _is_followed(function: FunctionType, home: str | None) -> bool:
    """Whether a function that is called is the user's: of installed packages only the one of the first function is."""
    if not is_compared(function):
        return False
    if not any(each in function.__code__.co_filename for each in _INSTALLED):
        return True
    return (function.__module__ or "").partition(".")[0] == (home or "").partition(".")[0]


def _functions_of(value: Any) -> list[FunctionType]:
    """The functions that calling a value may run, or calling what it holds."""
    found: list[FunctionType] = []
    open_ = [value]
    for each in open_:
        if type(each) is FunctionType:
            found.append(each)
        elif type(each) is MethodType:
            open_.append(each.__func__)
        elif isinstance(each, functools.partial):
            open_ += [each.func, *each.args, *each.keywords.values()]
        elif isinstance(each, (staticmethod, classmethod)):
            open_.append(each.__func__)
        elif type(each) is property:
            open_.append(each.fget)
        elif isinstance(each, _CONTAINERS):
            if len(open_) + len(each) <= _MOST_COMPARED:
                open_ += each.values() if isinstance(each, dict) else each
        elif isinstance(each, type):
            open_ += [part for kind in each.__mro__ for part in vars(kind).values() if _is_function(part)]
        else:  # a decorated function, or an object that is called
            open_ += [
                part
                for part in (_attribute(each, "__wrapped__"), _attribute(type(each), "__call__"))
                if type(part) is FunctionType
            ]
    return found


def _is_function(part: Any) -> bool:
    return type(part) in (FunctionType, staticmethod, classmethod, property)


@functools.lru_cache(maxsize=1024)
def _names_of(code: CodeType) -> tuple[tuple[str, ...], ...]:
    """The global and free names that code reads, each also with the attributes that are read of it."""
    found: dict[tuple[str, ...], None] = {}
    for each in all_code(code):
        names: tuple[str, ...] = ()
        for step in dis.get_instructions(each):
            if step.opname in _READS:
                # A variable of the outer function is a free one of the inner.
                is_outside = "DEREF" not in step.opname or step.argval in code.co_freevars
                names = (step.argval,) if is_outside else ()
            elif step.opname in _ATTRIBUTES and names:
                names = (*names, step.argval)
            elif step.opname not in ("EXTENDED_ARG", "PUSH_NULL", "CACHE"):
                names = ()
            if names:
                found[names] = None
    return tuple(found)


@functools.lru_cache(maxsize=1024)
def _names_of_first(code: CodeType) -> tuple[tuple[str, ...], ...]:
    """The attributes that code reads of its first parameter, which a method has for its object or class."""
    found: dict[tuple[str, ...], None] = {}
    first = code.co_varnames[:1] if code.co_argcount else ()
    names: tuple[str, ...] | None = None
    for step in dis.get_instructions(code):
        if step.opname in _FIRST and step.argval in first:
            names = ()
        elif step.opname in _ATTRIBUTES and names is not None:
            names = (*names, step.argval)
            found[names] = None
        elif step.opname not in ("EXTENDED_ARG", "PUSH_NULL", "CACHE"):
            names = None
    return tuple(found)


def all_code(code: CodeType) -> list[CodeType]:
    """The code, and that of the functions in it."""
    found = [code]
    for each in found:
        found.extend(inner for inner in each.co_consts if isinstance(inner, CodeType))
    return found


def _cell(function: FunctionType, name: str) -> Any:
    """The cell of a variable of a closure; None for a global."""
    free = function.__code__.co_freevars
    return function.__closure__[free.index(name)] if name in free and function.__closure__ is not None else None


def _look_up(function: FunctionType, names: tuple[str, ...]) -> Any:
    if not names:
        return function.__code__, function.__defaults__, tuple((function.__kwdefaults__ or {}).items())
    cell = _cell(function, names[0])
    if cell is None:
        value = function.__globals__.get(names[0], _MISSING)
    else:
        try:
            value = cell.cell_contents
        except ValueError:
            return _MISSING
    for name in names[1:]:
        value = value.__dict__.get(name, _MISSING) if isinstance(value, ModuleType) else _attribute(value, name)
    return value


def _attribute(owner: Any, name: str) -> Any:
    """An attribute that is plain data of an object or of its class, or a function there, which is not bound. Finding
    it runs no code of the user but a `__dict__`."""
    if owner is _MISSING:
        return _MISSING
    for each in (owner, *(owner.__mro__ if isinstance(owner, type) else type(owner).__mro__)):
        try:
            found = getattr(each, "__dict__", {}).get(name, _MISSING)
        except Exception:  # a class of the user may have a `__dict__` of its own
            return _MISSING
        if found is _MISSING:
            continue
        if type(found) is MemberDescriptorType:  # of a class with __slots__
            try:
                return found.__get__(owner)
            except (AttributeError, TypeError):
                return _MISSING
        return found if not hasattr(type(found), "__get__") or _is_function(found) else _MISSING
    return _MISSING


def _is_fixed(value: Any) -> bool:
    """Whether a value holds nothing that can change in place and is compared."""
    open_ = [value]
    for each in open_:
        if isinstance(each, (list, dict, set)):
            return False
        if isinstance(each, (tuple, frozenset)):
            if len(open_) + len(each) > _MOST_COMPARED:
                return False
            open_ += each
    return True


def _flat(value: Any) -> list[Any] | None:
    """What a container holds, and its containers, in order; None where that is too much to compare."""
    open_: list[Any] = [value]
    found: list[Any] = []
    while open_:
        each = open_.pop()
        if not isinstance(each, _CONTAINERS):
            # References to one array are one object, and do not keep the array.
            found.append(weakref.ref(each) if type(each) is np.ndarray else each)
            continue
        if len(found) + len(open_) + len(each) > _MOST_COMPARED:
            return None
        found += [type(each), len(each)]
        parts = [*chain.from_iterable(each.items())] if isinstance(each, dict) else each
        if any(issubclass(kind, (*_CONTAINERS, np.ndarray)) for kind in {*map(type, parts)}):
            open_ += parts
        else:
            found += parts
    return found


def _are_alike(now: list[Any], before: list[Any]) -> bool:
    return len(now) == len(before) and (all(map(is_, now, before)) or all(map(_is_alike, now, before)))


def _is_alike(now: Any, before: Any) -> bool:
    """Whether a value is the same one, or an equal number or text of the same type."""
    if now is before:
        return True
    if type(now) is not type(before) or not isinstance(now, _PLAIN):
        return False
    try:
        return bool(told_apart(now) == told_apart(before))
    except Exception:  # the `==` of a user's class may raise anything
        return False
