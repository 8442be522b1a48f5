"""What functions of the user's read by name: it is compared at each call with what it was when it was first read.

A trace of a kernel and a recording of a procedure hold only as long as globals, variables of closures, and attributes
of these are what they were. Kernels and helpers name them in their source, which is rewritten; for functions that run
as Python, such as the body of a procedure and what it calls, ``read_by`` finds the names in their bytecode. Looking a
name up runs no code of the user. Files of vyre, numpy and Python have nothing that a user binds anew.

Most values are compared by ``is``, in the core (``_same_bindings``). Numbers and strings may be equal ones of the same
type. Where a source names an object by itself, and not only to read an attribute, anything in the object may have been
read, by whatever it was given to: it is compared with all that it held (held.py), as containers always are.
"""

from __future__ import annotations

import dis
import functools
import re
import sys
from collections import Counter
from operator import is_
from types import CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from vyre import _core
from vyre._base.held import (
    CONTAINERS,
    INSTALLED,
    MISSING,
    MOST_HELD,
    Held,
    TooMuch,
    is_alike,
    is_compared,
    is_of_library,
    reader_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vyre._base.taken import Version

__all__ = ["Captured", "Captures", "Uncompared", "all_code", "captured_of", "read_by"]

_MOST_NAMES = 32  # of an attribute of an attribute, as in a list whose nodes have methods
_DEFINING = (FunctionType, staticmethod, classmethod, property)
# The instructions that read a name of a function's surroundings, and those that read an attribute of what was read.
_READS = (
    *("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"),
    *("LOAD_FROM_DICT_OR_GLOBALS", "LOAD_FROM_DICT_OR_DEREF"),
)
_LOCALS = ("LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_DEREF")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM")
_BETWEEN = ("EXTENDED_ARG", "PUSH_NULL", "CACHE")
_SWAPS = ("SWAP", "ROT_TWO")
_FIRST = ""  # stands for the first parameter of a method, which is its object or class
_IMPORT = "import "


class Uncompared(Exception):
    """A captured value holds more than is compared at each call."""

    fix = "make it a tuple of numbers or a numpy array, or read what is needed of it into a name outside"

    def __init__(self, function: FunctionType, names: tuple[str, ...]) -> None:
        self.function, self.names = function, names
        self.problem = f"`{_text(names)}`, which `{function.__name__}` reads, holds more than {MOST_HELD:,} values"
        self.line = function.__code__.co_filename, _line_of(function.__code__, names)


class Captured:
    """A value of Python that a function has read: a global, a variable of a closure, or an attribute of one.

    Without names it is the function itself: its code, and the defaults of its parameters. One that is read as a whole
    is compared with all that it holds.
    """

    def __init__(self, function: FunctionType, names: tuple[str, ...], value: Any, is_whole: bool) -> None:
        """Raises TooMuch."""
        self._function, self._names, self.value = function, names, value
        is_whole = type(value) not in (MethodType, *_DEFINING) and (is_whole or issubclass(type(value), CONTAINERS))
        self._held = Held(value) if is_whole and reader_of(value) is not None else None

    @property
    def key(self) -> Any:
        return id(self._function), self._names, self._held is not None

    @property
    def text(self) -> str:
        """What has changed, behind "another"."""
        if not self._names:
            return f"definition of `{self._function.__name__}`"
        return f"value of `{_text(self._names)}`, which `{self._function.__name__}` reads"

    @property
    def binding(self) -> tuple[Any, Any, Any] | None:
        """What ``_same_bindings`` compares by ``is``; None where that is not enough."""
        function, value = self._function, self.value
        if self._held is not None and not self._held.is_fixed:
            return None
        if not self._names:
            return function, function.__code__, function.__defaults__
        *before, name = self._names
        if before:
            owner = _look_up(function, tuple(before))
            if type(owner) is not ModuleType:
                return None
            return owner.__dict__, name, None if value is MISSING else value
        cell = _cell(function, name)
        if cell is not None:
            return cell, None, value
        return function.__globals__, name, None if value is MISSING else value

    @property
    def functions(self) -> list[FunctionType]:
        """What using the value may run."""
        return _functions_of(self.value, self._held)

    def methods(self) -> list[tuple[tuple[str, ...], FunctionType]]:
        """The methods that using the value runs, each with the names of what it belongs to."""
        names, value = self._names, self.value
        if type(value) is MethodType and type(value.__func__) is FunctionType:
            return [((*names, "__self__"), value.__func__)]
        if type(value) in _DEFINING and len(names) > 1:
            if type(_look_up(self._function, names[:-1])) is not ModuleType:
                return [(names[:-1], each) for each in _functions_of(value)]
        return []

    def is_same(self) -> bool:
        now = _look_up(self._function, self._names)
        if self._held is None:
            is_same = is_alike(now, self.value)
        elif (now is self.value or (not self._names and all(map(is_, now, self.value)))) and self._held.is_same():
            return True
        else:
            try:
                found = Held(now)
            except TooMuch:
                return False
            is_same = found.is_alike(self._held)
            if is_same:
                self._held = found
        if is_same:
            self.value = now  # the next comparison is by `is` again
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


def read_by(roots: Iterable[Any], home: str | None = None, read: Iterable[Captured] = ()) -> list[Captured]:
    """What functions of the user's that Python runs read, and what those read that they may call.

    Args:
        home: the module whose package is the user's, where it is installed; None takes the first function's.
        read: what was read by functions that do not run as Python; what it holds may run.
    """
    waiting = [each for root in roots for each in _functions_of(root)]
    home = home or (waiting[0].__module__ if waiting else None)
    found = [*read]
    for each in found:
        waiting += [] if type(each.value) is FunctionType else each.functions
    done, seen, followed = 0, set(), set()
    while waiting or done < len(found):
        while waiting:
            function = waiting.pop(0)
            if id(function) in seen or not _is_followed(function, home):
                continue
            seen.add(id(function))
            new = [captured_of(function, (), False)]
            new += [captured_of(function, *each) for each in _names_of(function.__code__)]
            for read_here in filter(None, new):
                found.append(read_here)
                waiting += read_here.functions
        for each in found[done:]:
            done += 1
            for owner, method in each.methods():
                # Objects may hold one another, so that their names go on without end.
                key = id(_look_up(each._function, owner)), id(method)
                if key in followed or len(owner) > _MOST_NAMES or not is_compared(method):
                    continue
                followed.add(key)
                for names, is_whole in _names_of_first(method.__code__):
                    part = captured_of(each._function, (*owner, *names), is_whole)
                    if part is not None:
                        found.append(part)
                        waiting += part.functions
    return found


def captured_of(function: FunctionType, names: tuple[str, ...], is_whole: bool) -> Captured | None:
    """A name with its value; None for what libraries hold. Raises Uncompared."""
    while True:
        if names:
            root = _look_up(function, names[:1])
            if issubclass(type(root), ModuleType) and is_of_library(root):
                return None
        value = _look_up(function, names)
        if value is not MISSING or len(names) < 2 or type(_look_up(function, names[:-1])) is ModuleType:
            break
        names, is_whole = names[:-1], True  # code of the object's own finds what is not in sight
    try:
        return Captured(function, names, value, is_whole)
    except TooMuch:
        raise Uncompared(function, names) from None


def _is_followed(function: FunctionType, home: str | None) -> bool:
    """Whether a function that is called is the user's: of installed packages only the one of the first function is."""
    if not is_compared(function):
        return False
    if not any(each in function.__code__.co_filename for each in INSTALLED):
        return True
    return (function.__module__ or "").partition(".")[0] == (home or "").partition(".")[0]


def _functions_of(value: Any, held: Held | None = None) -> list[FunctionType]:
    """The functions that using a value may run, or using what it holds."""
    open_ = [value]
    if type(value) not in (MethodType, *_DEFINING):
        try:
            open_ = (held or Held(value)).all
        except TooMuch:
            return []
    found = []
    for each in open_:
        if type(each) in (MethodType, staticmethod, classmethod):
            each = each.__func__
        elif type(each) is property:
            each = each.fget
        if type(each) is FunctionType:
            found.append(each)
    return found


@functools.lru_cache(maxsize=1024)
def _names_of(code: CodeType) -> tuple[tuple[tuple[str, ...], bool], ...]:
    """The global and free names that code reads, each also with the attributes that are read of it.

    Each comes with whether it is read as a whole, not only for an attribute.
    """
    found: dict[tuple[str, ...], bool] = {}
    for each in all_code(code):
        for names, is_whole in _scanned(each, code).items():
            if names[0] != _FIRST:
                found[names] = found.get(names, False) or is_whole
    return tuple(found.items())


@functools.lru_cache(maxsize=1024)
def _names_of_first(code: CodeType) -> tuple[tuple[tuple[str, ...], bool], ...]:
    """The attributes that code reads of its first parameter, and no names for the parameter as a whole."""
    found = _scanned(code, code)
    if {"__class__", *code.co_varnames[:1]} & {*code.co_cellvars, *code.co_freevars}:  # `super()` has no name for it
        found[_FIRST,] = True
    return tuple((names[1:], whole) for names, whole in found.items() if names[0] == _FIRST and (whole or names[1:]))


def _scanned(code: CodeType, outer: CodeType) -> dict[tuple[str, ...], bool]:
    """The names that one code reads, as ``_names_of`` gives them; those of its first parameter begin with _FIRST."""
    steps = [*_steps(code)]
    stored = Counter(name for kind, name in steps if kind == "STORE_FAST")
    same: dict[str, tuple[str, ...]] = {}  # variables that are other names of what was read
    if code.co_argcount and not stored[code.co_varnames[0]]:
        same[code.co_varnames[0]] = (_FIRST,)
    known = -1
    while known < len(same):  # a loop may read a variable above its assignment
        known = len(same)
        found: dict[tuple[str, ...], bool] = {}
        names: tuple[str, ...] = ()
        module: tuple[str, ...] = ()
        for k, (kind, name) in enumerate(steps):
            if kind in _ATTRIBUTES and (names or kind == "IMPORT_FROM"):
                names = (*(module if kind == "IMPORT_FROM" else names), name)
                module = names if kind == "IMPORT_FROM" and steps[k + 1][0] in _SWAPS else module
                found.setdefault(names, False)
                continue
            last = steps[k - 1][0]
            if (kind in _SWAPS and last == "IMPORT_FROM") or (kind == "POP_TOP" and last in _SWAPS):
                continue  # import a.b as c
            if kind == "STORE_FAST" and names and stored[name] == 1:
                same[name] = names
            elif names:
                is_test = "NONE" in kind or (kind == "LOAD_CONST" and steps[k + 1][0] == "IS_OP")
                found[names] = found.get(names, False) or not is_test
            names = ()
            if kind in _LOCALS and name in same:
                names = same[name]
            elif kind in _READS and ("DEREF" not in kind or name in outer.co_freevars):
                # A variable of the outer function is a free one of the inner.
                names = (name,)
                found.setdefault(names, False)
            elif kind == "IMPORT_NAME":
                level, taken = steps[k - 2][1], steps[k - 1][1]
                module = (_IMPORT + "." * level + (name if taken else name.partition(".")[0]),)
                names = () if steps[k + 1][0] == "IMPORT_FROM" else module
    return found


def _steps(code: CodeType) -> Iterator[tuple[str, Any]]:
    """The instructions, with those that read or assign two variables as two."""
    for step in dis.get_instructions(code):
        if step.opname not in _BETWEEN:
            kinds = re.findall(r"(?:LOAD|STORE)_FAST(?:_BORROW|_CHECK)?", step.opname)
            two = len(kinds) == 2 and isinstance(step.argval, tuple)
            yield from zip(kinds, step.argval, strict=True) if two else [(step.opname, step.argval)]


def _line_of(code: CodeType, names: tuple[str, ...]) -> int:
    line = code.co_firstlineno
    for each in all_code(code) if names else ():
        for step in dis.get_instructions(each):
            line = getattr(step, "line_number", step.starts_line) or line
            if step.argval == names[-1] and step.opname in (*_READS, *_ATTRIBUTES):
                return line
    return code.co_firstlineno


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


def _text(names: tuple[str, ...]) -> str:
    return ".".join(names).removeprefix(_IMPORT)


def _module(function: FunctionType, name: str) -> str:
    package = function.__globals__.get("__package__") or ""
    from importlib.util import resolve_name

    return resolve_name(name, package) if name[0] == "." else name


def _look_up(function: FunctionType, names: tuple[str, ...]) -> Any:
    if not names:
        return function.__code__, function.__defaults__, function.__kwdefaults__
    cell = _cell(function, names[0])
    if names[0].startswith(_IMPORT):
        value = sys.modules.get(_module(function, names[0][len(_IMPORT) :]), MISSING)
    elif cell is None:
        value = function.__globals__.get(names[0], MISSING)
    else:
        try:
            value = cell.cell_contents
        except ValueError:
            return MISSING
    for name in names[1:]:
        value = value.__dict__.get(name, MISSING) if issubclass(type(value), ModuleType) else _attribute(value, name)
    return value


def _attribute(owner: Any, name: str) -> Any:
    """An attribute that is plain data of an object or of its class, or a function there, which is not bound. Finding
    it runs no code of the user but a `__dict__`."""
    if owner is MISSING:
        return MISSING
    for each in (owner, *(owner.__mro__ if issubclass(type(owner), type) else type(owner).__mro__)):
        try:
            found = getattr(each, "__dict__", {}).get(name, MISSING)
        except Exception:  # a class of the user may have a `__dict__` of its own
            return MISSING
        if found is MISSING:
            continue
        if type(found) is MemberDescriptorType:  # of a class with __slots__
            try:
                return found.__get__(owner)
            except (AttributeError, TypeError):
                return MISSING
        return found if not hasattr(type(found), "__get__") or type(found) in _DEFINING else MISSING
    return MISSING
