"""What makes a function a call of the library: ``@call``, or ``@step`` for a step of procedures.

The parameters of such a function end with ``**at: Unpack[At]``, which type checkers read as the
keywords `backend` and `device`. It hands `at` to what checks its arguments and finds its place. All
that is the same in every call is added here: both keywords in the signature, what the docstring
says of them and of errors, and CallError for a call that does not fit.
"""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, cast

from vyre._base.calls import refusal_of, wrapped_as

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Unpack

    from vyre import Device
else:
    Unpack = dict  # `typing` has none in 3.10, and nothing reads the annotation

__all__ = ["PLACE", "STEPS", "At", "Unpack", "argument", "at_of", "call", "name_of", "step", "told_of_call"]

_Function = TypeVar("_Function", bound="Callable[..., Any]")

STEPS: set[str] = set()  # the names of the calls that can be steps, of families that are imported

PLACE = {"backend": "str | None", "device": "int | Device | None"}
"""The keywords that are added to every call, each with its annotation."""

_WHERE = """\
    backend, device: where, as for vyre.run; resident arrays and data are used where they are.
"""
_RAISES = """\
Raises: BindingError for arguments of other types, ArgumentError for other values, CapabilityError,
    DeviceMemoryError, DeviceError.

"""


class At(TypedDict, total=False):
    """Where a call runs; a declared function gets both keys, and its name as `function`."""

    backend: str | None
    device: int | Device | None


def at_of(function: str, backend: str | None = None, device: int | Device | None = None) -> At:
    """What a declared function of this name would get."""
    return cast("At", {"function": function, "backend": backend, "device": device})


def name_of(at: At) -> str:
    """The name of the call, as users write it."""
    return at["function"]  # type: ignore[typeddict-item]


def argument(at: At, name: str) -> str:
    """An argument of the call, as messages name it."""
    return f"argument `{name}` of {at['function']}"  # type: ignore[typeddict-item]


def call(function: _Function) -> _Function:
    """Declare a call of the library, or a method that is like one."""
    name, owner = f"vyre.std.{function.__qualname__}", function.__qualname__.rpartition(".")[0]
    signature = inspect.signature(function)
    *own, _ = signature.parameters.values()
    kind = inspect.Parameter.KEYWORD_ONLY
    place = [inspect.Parameter(name, kind, default=None, annotation=each) for name, each in PLACE.items()]
    declared: Any = function
    declared.__signature__ = signature.replace(parameters=[*own, *place])
    declared.__annotations__ = PLACE | {key: each for key, each in function.__annotations__.items() if key != "at"}
    declared.__doc__ = told_of_call(inspect.cleandoc(function.__doc__ or ""))
    # `at` becomes a keyword with a default: a call that names no place takes no longer for it.
    code, type_error, refusal = declared.__code__, TypeError, refusal_of
    flags = code.co_flags & ~inspect.CO_VARKEYWORDS
    declared.__code__ = code.replace(co_flags=flags, co_kwonlyargcount=1)
    declared.__kwdefaults__ = {"at": at_of(name)}

    def made(*args: Any, backend: Any = None, device: Any = None, **kwargs: Any) -> Any:
        try:
            if "at" not in kwargs:
                if backend is None and device is None:
                    return function(*args, **kwargs)
                at = {"function": name, "backend": backend, "device": device}
                return function(*args, at=at, **kwargs)
        except type_error as error:
            # A call that did not begin has no frame below this one; any other has.
            trace = error.__traceback__
            if trace is not None and trace.tb_next is not None:
                raise
        raise refusal(declared, name, owner, args, kwargs)

    result: Any = wrapped_as(made, declared)
    return result


def step(function: _Function) -> _Function:
    """Declare a call that can be a step of the procedure that is recorded."""
    STEPS.add(f"vyre.std.{function.__qualname__}")
    return call(function)


def told_of_call(text: str) -> str:
    """A docstring with what is the same for all calls, but for errors that it tells itself."""
    text = re.sub(r"(?m)^Args:\n(?: .*\n)+", rf"\g<0>{_WHERE}", text, count=1)
    if re.search(r"(?i)\b(?:raises|errors)\b", text):
        return text
    return re.sub(r"(?m)^(?=Source: |>>> )", _RAISES, text, count=1)
