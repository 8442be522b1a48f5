"""The annotations ``In``, ``Out``, ``InOut`` and ``const``, and the parameters that a function describes by them.

``In[u32, 2]`` makes an ArrayType. ``parameters_of`` reads the signature of a function and makes a Parameter of each
annotation: an array, a number or a constant. The first that cannot be one is a Mistake at its place in the source.
"""

from __future__ import annotations

import collections.abc
import inspect
import typing
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vyre._base.interrupts import is_of_signal_handler
from vyre._base.refused import must_be
from vyre._base.text import as_count, shown
from vyre._base.types import HAS_FLOATS, OF_DTYPE, SCALARS, TYPES
from vyre._core import DataType, Expr
from vyre._kernel.mistakes import FRACTIONS, Mistake, Spot
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["In", "InOut", "Out", "Parameter", "const", "parameters_of"]

# The classes of numbers that no type of programs holds.
ABSENT: tuple[type, ...] = () if HAS_FLOATS else (float, np.floating)
MOST_AXES = 3
RESERVED = ("grid", "workgroups", "at_most", "out", "backend", "device", "optimize", "timeout")
SCALAR_NAMES = " or ".join(", ".join(TYPES[each].spelled for each in SCALARS).rsplit(", ", 1))
_FORMS = (
    "vyre.In[vyre.u32], vyre.Out[vyre.u32, 2], vyre.InOut[...], vyre.u32 and other types for scalars, or vyre.const"
)


class ArrayType(NamedTuple):
    """The annotation of an array: its role, element type and number of axes."""

    role: str
    element: DataType
    axes: int

    def __repr__(self) -> str:
        return f"vyre.{self.role}[{self.element}, {self.axes}]"


def workgroup_counts(given: Any, function: str) -> tuple[int, ...]:
    """A workgroup size as three counts."""
    counts = tuple(given) if isinstance(given, (tuple, list)) and len(given) <= 3 else (given,)
    whole = [as_count(each) for each in counts]
    if not counts or any(each is None or not 1 <= each < 2**32 for each in whole):
        raise must_be(f"argument `workgroup_size` of {function}", "one to three counts from 1 on", shown(given))
    return tuple([each for each in whole if each is not None] + [1] * (3 - len(whole)))


class _Role(type):
    def __getitem__(cls, key: Any) -> Any:
        element, axes = key if isinstance(key, tuple) and len(key) == 2 else (key, 1)
        if not isinstance(element, DataType) or element is DataType.Bytes:
            raise ArgumentError(
                f"vyre.{cls.__name__}[...] takes the type of an element, got {_named(element)}. "
                f"Fix: write vyre.{cls.__name__}[{_type_for(element) or 'vyre.u32'}]."
            )
        if isinstance(axes, bool) or axes not in range(1, MOST_AXES + 1):
            raise ArgumentError(
                f"vyre.{cls.__name__}[...] takes 1 to {MOST_AXES} axes, got {shown(axes)}. "
                f"Fix: write vyre.{cls.__name__}[vyre.u32, 2] for an array of two axes."
            )
        return ArrayType(cls.__name__, element, axes)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        element = _type_for(args[0]) if args else None
        raise ArgumentError(
            f"vyre.{cls.__name__} is called, but its element type stands in brackets. "
            f"Fix: write vyre.{cls.__name__}[{element or 'vyre.u32'}]."
        )


class In(metaclass=_Role):
    """A parameter that is read: ``In[vyre.u32]``, ``In[vyre.u32, 2]`` for an array of two axes.

    >>> import vyre
    >>> vyre.In[vyre.u32, 2]
    vyre.In[DataType.U32, 2]
    """


class Out(metaclass=_Role):
    """A parameter that a kernel makes: it begins as zeros, and the call returns it.

    >>> import vyre
    >>> vyre.Out[vyre.u32]
    vyre.Out[DataType.U32, 1]
    """


class InOut(metaclass=_Role):
    """A parameter that is changed in place: it begins as given, and the call returns it.

    >>> import vyre
    >>> vyre.InOut[vyre.u64]
    vyre.InOut[DataType.U64, 1]
    """


class const:
    """A parameter whose Python value is known when the kernel is compiled: there is a program for each value.

    >>> import vyre
    >>> @vyre.kernel
    ... def scaled(x: vyre.In[vyre.u32], k: vyre.const, y: vyre.Out[vyre.u32]):
    ...     i = vyre.gid(0)
    ...     y[i] = x[i] * k
    """


class Parameter(NamedTuple):
    """A kernel's parameter."""

    name: str
    kind: str  # "In", "Out", "InOut", "scalar" or "const"
    element: DataType | None = None
    axes: int = 0
    default: Any = inspect.Parameter.empty

    @property
    def has_default(self) -> bool:
        return self.default is not inspect.Parameter.empty

    @property
    def is_array(self) -> bool:
        return self.axes > 0


def parameters_of(function: Callable[..., Any], *, returns: bool = False) -> list[Parameter]:
    """The parameters of a kernel, or of a procedure, which ``returns`` arrays; or a Mistake about the first that cannot
    be one."""
    try:
        signature = inspect.signature(function, eval_str=True)
    except Mistake:
        raise
    except Exception as error:
        if is_of_signal_handler(error):
            raise
        raise Mistake(
            "K002",
            f"the annotations of `{function.__name__}` cannot be read: {type(error).__name__}: "
            f"{str(error).rstrip('.')}",
            f"annotate with {_FORMS}",
        ) from None
    found = []
    for each in signature.parameters.values():
        try:
            found.append(_parameter(each, returns))
        except Mistake as mistake:
            mistake.spot = _spot(function, each.name)
            raise
    if not returns and signature.return_annotation not in (inspect.Signature.empty, None, Any):
        raise Mistake(
            "K002",
            f"kernel `{function.__name__}` has a return annotation, but a kernel gives its results in "
            f"Out and InOut arrays",
            "leave the annotation out, and add a parameter such as `out: vyre.Out[vyre.u32]`",
        )
    return found


def _spot(function: Callable[..., Any], name: str) -> Spot | None:
    """Where a parameter stands in the source."""
    from vyre._kernel.rewriting.refuse import spot_at
    from vyre._kernel.rewriting.source import definition_of

    tree, file = definition_of(function)  # type: ignore[arg-type]
    written = tree.args
    for each in [*written.posonlyargs, *written.args, *written.kwonlyargs, written.vararg, written.kwarg]:
        if each is not None and each.arg == name:
            return spot_at(file, each)
    return None


def _parameter(given: inspect.Parameter, returns: bool) -> Parameter:
    name, annotation = given.name, given.annotation
    if given.kind in (given.VAR_POSITIONAL, given.VAR_KEYWORD):
        raise Mistake("K002", f"parameter `*{name}` stands for any number of arguments", "name every parameter")
    if given.kind is given.POSITIONAL_ONLY:
        raise Mistake("K002", f"parameter `{name}` is positional-only", "leave the `/` out")
    if annotation is given.empty and name in ("self", "cls"):
        raise Mistake(
            "K002",
            f"parameter `{name}` stands for an object, which a call does not pass",
            f"leave `{name}` out, and pass what it holds as parameters",
        )
    if annotation is given.empty:
        raise Mistake("K002", f"parameter `{name}` has no annotation", f"write `{name}: {_example(name, returns)}`")
    if isinstance(annotation, ArrayType):
        if given.default is not given.empty:
            raise Mistake("K002", f"array parameter `{name}` has a default", "leave the default out")
        parameter = Parameter(name, annotation.role, annotation.element, annotation.axes)
    elif annotation is const:
        parameter = Parameter(name, "const", default=given.default)
    elif isinstance(annotation, DataType) and annotation in SCALARS:
        parameter = Parameter(name, "scalar", annotation, default=_scalar_default(name, annotation, given.default))
    elif annotation is int:
        raise Mistake(
            "K002",
            f"parameter `{name}` is annotated with int, which has no size",
            f"write `{name}: vyre.u32` (or vyre.i32, vyre.u64), or `{name}: vyre.const` for a value "
            f"fixed when the kernel is compiled",
        )
    elif isinstance(annotation, type) and issubclass(annotation, ABSENT):
        raise Mistake(
            "K002",
            f"parameter `{name}` is annotated with {_named(annotation)}, and there are no floats",
            f"write `{name}: vyre.u32`: {FRACTIONS}",
        )
    elif _type_for(annotation) is not None and not isinstance(annotation, DataType):
        raise Mistake(
            "K002",
            f"parameter `{name}` is annotated with {_named(annotation)}, which is no type of vyre",
            f"write `{name}: {_type_for(annotation)}`",
        )
    elif (typing.get_origin(annotation) or annotation) in _SEQUENCES:
        raise Mistake(
            "K002",
            f"parameter `{name}` is annotated with {_named(annotation)}, which says neither role nor type",
            f"write `{name}: {_example(name, returns)}`",
        )
    elif any(annotation is role for role in (In, Out, InOut)):
        raise Mistake(
            "K002",
            f"parameter `{name}` is annotated with vyre.{annotation.__name__} without an element type",
            f"write `{name}: vyre.{annotation.__name__}[vyre.u32]`",
        )
    elif isinstance(annotation, DataType):
        raise Mistake(
            "K002",
            f"parameter `{name}` is a scalar of type {annotation}; scalars are {SCALAR_NAMES}",
            f"write `{name}: vyre.In[vyre.{TYPES[annotation].spelled}]` and read `{name}[0]`",
        )
    else:
        raise Mistake("K002", f"parameter `{name}` has the annotation {_named(annotation)}", f"annotate with {_FORMS}")
    if name == "__params":
        raise Mistake("K002", f"parameter `{name}` has the name of the buffer of scalars", "name it `params`")
    if name in RESERVED and not (name == "out" and parameter.kind in ("Out", "InOut")):
        raise Mistake(
            "K002", f"parameter `{name}` has a name that calls of kernels use themselves", f"name it `{name}_`"
        )
    return parameter


def _scalar_default(name: str, element: DataType, default: Any) -> Any:
    """A default as a call would be given it: ``k: u32 = u32(3)`` is what type checkers accept, to which 3 is no u32."""
    if not isinstance(default, Expr):
        return default
    found = default._literal()
    if found is None or found[0] is not element:
        type_name = TYPES[element].spelled
        raise Mistake(
            "K002",
            f"the default of parameter `{name}` is no value of type {type_name}",
            f"write `{name}: vyre.{type_name} = vyre.{type_name}(...)` with a number of Python",
        )
    return found[1]


_SEQUENCES = (np.ndarray, list, tuple, bytes, bytearray, memoryview, collections.abc.Sequence)


def _type_for(given: object) -> str | None:
    """Return vyre's name of a type that was given as a type of vyre, of Python or of numpy."""
    if isinstance(given, np.dtype):
        given = given.type
    if isinstance(given, type):
        given = OF_DTYPE.get(given.__name__.removesuffix("_"))  # numpy.bool_ too
    return f"vyre.{TYPES[given].spelled}" if isinstance(given, DataType) else None


def _named(given: object) -> str:
    """A type by its name; anything else as it shows itself."""
    if isinstance(given, type):
        module = {"builtins": "", "numpy": "np."}.get(given.__module__, f"{given.__module__}.")
        return f"{module}{given.__qualname__}"[:80]
    return shown(given)


def _example(name: str, returns: bool) -> str:
    result = "InOut" if returns else "Out"
    return f"vyre.{result if name in ('out', 'output', 'result', 'y') else 'In'}[vyre.u32]"
