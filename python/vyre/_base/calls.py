"""Calls of what is written in Python with wrong arguments: CallError in the words that the C++ functions have.

A module, or a package for its modules, ends with ``explain_calls(globals())``, as the C++ module is sealed when it is
made. A call that is right pays for one more Python function; everything else is looked at when a call fails.
"""

from __future__ import annotations

import functools
import sys
from types import FunctionType
from typing import TYPE_CHECKING, cast

from vyre._base.refused import wrong_call
from vyre.errors import CallError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from inspect import Parameter
    from typing import Any

__all__ = ["LISTED", "REFUSALS", "explain_calls", "explain_methods", "misfit", "refusal_of", "wrapped_as"]

_LONGEST = 80  # letters of an unknown name in a message
# The names that each explained module lists in ``__all__``, by the module's name.
LISTED: dict[str, list[str]] = {}
# Functions that are called where another one is meant, by public name: the module that knows the place gives the error
# there, and None elsewhere.
REFUSALS: dict[str, Callable[[], CallError | None]] = {}


def explain_calls(module: dict[str, Any], public: str | None = None) -> None:
    """Let the functions and classes that a module lists in ``__all__`` raise CallError for wrong calls.

    Args:
        module: its globals. What it imports from modules below it is explained there too, and nothing else that it
            imports.
        public: the module that users import them from; None for the nearest one above that is not private.
    """
    LISTED[module["__name__"]] = module["__all__"]
    if public is None:
        parts = module["__name__"].split(".")
        public = ".".join(parts[: next((k for k, part in enumerate(parts) if part.startswith("_")), len(parts))])
    for name in module["__all__"]:
        value = module.get(name)
        home = getattr(value, "__module__", None) or ""
        if home == "vyre._core" or not f"{home}.".startswith(f"{module['__name__']}."):
            continue
        if isinstance(value, FunctionType):
            module[name] = vars(sys.modules[home])[name] = _explained(value, f"{public}.{name}", "")
        elif isinstance(value, type):
            explain_methods(value, f"{public}.{name}")


def explain_methods(kind: type, name: str) -> None:
    """Let what makes objects of a class, and its public methods, raise CallError for wrong calls."""
    for member, value in list(vars(kind).items()):
        if member == "__init__" and isinstance(value, FunctionType):
            setattr(kind, member, _explained(value, name, ""))
        elif member == "__new__" and isinstance(value, staticmethod):  # a NamedTuple's
            setattr(kind, member, staticmethod(_explained(_function_in(value), name, "")))
        elif isinstance(value, (staticmethod, classmethod)) and not member.startswith("_"):
            inner = _explained(_function_in(value), f"{name}.{member}", "")
            setattr(kind, member, type(value)(inner))
        elif isinstance(value, FunctionType) and (member == "__call__" or not member.startswith("_")):
            setattr(kind, member, _explained(value, f"{name}.{member}", name.rpartition(".")[2]))


def _function_in(method: staticmethod[..., Any] | classmethod[Any, ..., Any]) -> FunctionType:
    """Return the function that was decorated, which in this package is always one of Python."""
    return cast("FunctionType", method.__func__)


def _explained(function: FunctionType, name: str, owner: str) -> FunctionType:
    """The function, with CallError for a call that does not fit its parameters."""

    if hasattr(function, "__wrapped__"):
        return function  # its own module explained it
    # These names are bound here because a NamedTuple's globals have no builtins.
    type_error, refusal = TypeError, refusal_of

    def explained(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except type_error as error:
            # A call that did not begin has no frame below this one; any other has.
            trace = error.__traceback__
            if trace is not None and trace.tb_next is not None:
                raise
        raise refusal(function, name, owner, args, kwargs)

    return wrapped_as(explained, function)


def wrapped_as(wrapper: Any, function: FunctionType) -> FunctionType:
    """A wrapper that is like its function to those who look at it."""
    # Tools that list a module's own functions expect the globals of that module.
    made = FunctionType(
        wrapper.__code__.replace(co_name=function.__name__),
        function.__globals__,
        function.__name__,
        None,
        wrapper.__closure__,
    )
    made.__kwdefaults__ = wrapper.__kwdefaults__
    functools.update_wrapper(made, function)
    return made


def refusal_of(function: FunctionType, name: str, owner: str, args: Any, kwargs: Any) -> CallError:
    """The error for a call that does not fit the parameters; ``owner`` is a method's class."""
    import inspect

    parameters = list(inspect.signature(function).parameters.values())
    if owner or "." in function.__qualname__.rpartition("<locals>.")[2]:
        # The first parameter is left out: it is `self` of a method, or `cls` of a class's.
        wanted, given = parameters[1:], args[1:]
    else:
        wanted, given = parameters, args
    said = f"{owner}.{function.__name__}" if owner else name
    if name in REFUSALS and not kwargs and (elsewhere := REFUSALS[name]()) is not None:
        return elsewhere
    call = name
    if owner:
        call = "x" if function.__name__ == "__call__" else f"x.{function.__name__}"
    call += f"({_listed(wanted)})" + (f", where x is of type {owner}" if owner else "")
    if owner and not args:
        return wrong_call(f"{said}()", f"needs an object of type {owner}", call)
    return misfit(f"{said}()", wanted, given, kwargs, call)


def misfit(
    said: str, wanted: Sequence[Parameter], given: Sequence[Any], kwargs: Mapping[str, Any], call: str
) -> CallError:
    """The error for a call whose arguments do not fit the parameters.

    Args:
        said: what is called, as messages name it.
        call: how the call is written.
    """
    places = [p for p in wanted if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    named = [p.name for p in wanted if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    taken = {p.name for p in places[: len(given)]}
    for key in kwargs:
        if key not in named:
            return CallError(f"{said} has no argument {_unknown(key, [n for n in named if n not in taken], call)}.")
        if key in taken:
            return wrong_call(said, f"got argument `{key}` twice", call)
    if len(given) > len(places):
        many = f"{len(places)} argument{'' if len(places) == 1 else 's'}"
        return wrong_call(said, f"takes {many} by place, got {len(given)}", call)
    for p in wanted:
        missing = p.default is p.empty and p.name not in taken and p.name not in kwargs
        if missing and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            return wrong_call(said, f"misses argument `{p.name}`", call)
    return wrong_call(said, "does not take these arguments", call)


def _unknown(key: str, free: list[str], call: str) -> str:
    """An unknown name, the one that was meant, and what to write."""
    from vyre import _core

    shown = key.encode("ascii", "backslashreplace").decode("ascii")
    shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."
    meant = _core._did_you_mean(key, free)
    if not meant:
        return f"`{shown}`. Fix: write {call}"
    near = meant.split("`")[1]
    return f"`{shown}`{meant}. Fix: write {near}= in place of {shown}=, as in {call}"


def _listed(parameters: list[Parameter]) -> str:
    """ "left, right, times=1": the arguments of a call that may be typed."""
    parts: list[str] = []
    for p in parameters:
        stars = "*" if p.kind == p.VAR_POSITIONAL else "**" if p.kind == p.VAR_KEYWORD else ""
        value = p.name if p.default is p.empty else f'"{p.default}"' if isinstance(p.default, str) else repr(p.default)
        if value.startswith("<"):
            value = "..."  # what a dataclass makes anew for each object
        by_name = p.default is not p.empty or p.kind == p.KEYWORD_ONLY
        parts.append(f"{p.name}={value}" if by_name else f"{stars}{p.name}")
    return ", ".join(parts)
