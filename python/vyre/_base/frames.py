"""Helpers whose lines are not the user's: ``hide_frames`` takes them out of places."""

from __future__ import annotations

import functools
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, TypeVar, overload

from vyre import _core
from vyre._base.calls import explain_calls
from vyre._base.refused import must_be
from vyre._base.text import type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["hide_frames"]

_T = TypeVar("_T", bound="Callable[..., Any]")

_WANTED = "a function, a class, a module, the name of a module, or a list of them"


@overload
def hide_frames(what: _T, /) -> _T: ...
@overload
def hide_frames(what: ModuleType | str | Iterable[Any], /, *more: Any) -> Any: ...
def hide_frames(what: Any, /, *more: Any) -> Any:
    """Leave helpers out when places are noted: what they make is said to stand where they were called.

    A program that is written with helpers has all its statements in the helpers' lines, which is where diagnostics,
    reports and profiles would point. What is hidden here is passed over, for the innermost line that is not; when every
    line is hidden, the innermost is taken. It holds in the whole process, in every thread, for what is made from then
    on. ``__tracebackhide__ = True`` in a function or a module, which pytest honours too, hides it as well.

    Args:
        what: a function (also as a decorator above it), a class (its methods), a module or the dotted name of one (with
            all that is below it, imported or not), or a list of these.
        more: more of them.

    Returns: ``what``.

    Raises: ArgumentError for anything else.

    >>> import vyre
    >>> from vyre import Expr, Node
    >>> @vyre.hide_frames
    ... def doubled(name):
    ...     return Node.store("out", 0, Expr.var(name) * 2)
    >>> program = vyre.Program([vyre.BufferDecl.output("out", 0, vyre.u32)], entry=[
    ...     doubled("total"),
    ... ])
    >>> vyre.validate(program)[0].place.line  # of the call in this list
    2
    >>> _ = vyre.hide_frames("my_helpers", "my_kit.matrices")
    """
    code: list[CodeType] = []
    modules: list[str] = []
    for each in (what, *more):
        _collect(each, code, modules)
    for found in code:
        _core._hide_code(found)
    for name in modules:
        _core._hide_module(name)
    return what


def _collect(what: Any, code: list[CodeType], modules: list[str], inside: bool = False) -> None:
    if isinstance(what, ModuleType):
        modules.append(what.__name__)
    elif isinstance(what, str):
        if not what or not all(part.isidentifier() for part in what.split(".")):
            raise must_be("argument `what` of vyre.hide_frames", _WANTED, f"{what[:60]!r}")
        modules.append(what)
    elif isinstance(what, (list, tuple, set, frozenset)) and not inside:
        for each in what:
            _collect(each, code, modules, inside=True)
    else:
        found = list(_code_of(what))
        if not found:
            raise must_be("argument `what` of vyre.hide_frames", _WANTED, type_of(what))
        code += found


def _code_of(what: Any) -> Iterable[CodeType]:
    """The code of a function and of what is defined in it, with what it wraps and what wraps it."""
    open_, seen = [what], set()
    while open_:
        each = open_.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, CodeType):
            yield each
            open_ += [inner for inner in each.co_consts if isinstance(inner, CodeType)]
        elif isinstance(each, FunctionType):
            open_ += [each.__code__, getattr(each, "__wrapped__", None)]
        elif isinstance(each, (staticmethod, classmethod, MethodType)):
            open_.append(each.__func__)
        elif isinstance(each, property):
            open_ += [each.fget, each.fset, each.fdel]
        elif isinstance(each, (functools.partial, functools.partialmethod)):
            open_.append(each.func)
        elif isinstance(each, type):
            open_ += [
                member
                for member in vars(each).values()
                if isinstance(member, (FunctionType, staticmethod, classmethod, property, functools.partialmethod))
            ]
        elif each is not None and "__wrapped__" in getattr(each, "__dict__", {}):
            open_.append(each.__wrapped__)


explain_calls(globals())
