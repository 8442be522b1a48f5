"""Python's functions, operators and methods on values of a kernel: what replaces them, and what to write instead."""

from __future__ import annotations

import builtins
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._core import Expr
from vyre._kernel.arrays import ATOMICS, KernelArray
from vyre._kernel.mistakes import Mistake
from vyre._kernel.values import described, giving

if TYPE_CHECKING:
    from vyre._kernel.tracer import Tracer

__all__ = ["CHANGING", "METHODS", "OPERATORS", "REPLACED", "atomic", "check_takes_values"]

_STORE = "store it into an Out array and {} it after the call"
# Functions of Python that a value cannot be given, and what to write instead.
_INSTEAD = {
    **dict.fromkeys(["int", "bool", "float"], "write vyre.u32(x), vyre.i32(x), vyre.u64(x) or vyre.boolean(x)"),
    **dict.fromkeys(["str", "repr", "hex", "bin", "oct", "format", "chr", "ascii"], _STORE.format("format")),
    "print": f'record it with vyre.debug("name", x) and read it with vyre.debugging(), or {_STORE.format("print")}',
    "pow": "write the products, x * x * x",
    **dict.fromkeys(
        ["isinstance", "type", "callable", "hash", "id"], "leave it out: values are expressions while tracing"
    ),
    "range": "write it in the loop: `for i in range(n):`",
    **dict.fromkeys(
        [
            "sum",
            "any",
            "all",
            "sorted",
            "list",
            "tuple",
            "set",
            "enumerate",
            "zip",
            "reversed",
            "map",
            "filter",
            "iter",
        ],
        "give it a Python sequence of values",
    ),
}


# The Fix for each function of numpy that a kernel cannot call, by the function's name.
_INSTEAD_OF_NUMPY = {
    "where": "write `x if c else y`",
    **dict.fromkeys(["minimum", "fmin"], "write min(x, y)"),
    **dict.fromkeys(["maximum", "fmax"], "write max(x, y)"),
    **dict.fromkeys(["abs", "absolute"], "write abs(x)"),
    **{
        f"{kind}{bits}": f"write vyre.{kind[0]}{bits}(x)"
        for kind in ("uint", "int")
        for bits in (32, 64)
        if kind == "uint" or bits == 32
    },
    "bool_": "write vyre.boolean(x)",
}


# Functions that vyre.std has under numpy's names, for arrays outside of kernels.
_OF_STD = ("argmax", "argmin", "cumsum", "max", "min", "sort", "sum")


def check_takes_values(function: Any, is_value: bool, array: KernelArray | None) -> None:
    """A Mistake for a function of Python, numpy or math, which cannot take a value that is unknown while tracing.

    It is given a value, if ``is_value``, or else an array.
    """
    module = (getattr(function, "__module__", None) or "").partition(".")[0]
    if isinstance(function, np.ufunc):
        module = "numpy"
    if module == "builtins" and not is_value:
        return  # an array says itself that it has no length and no elements yet
    if module == "numpy" and array is not None:
        name = getattr(function, "__name__", "a function")
        loop = f"write a loop, `for j in range(len({array.name})):`, and read {array.name}[j]"
        fix = f"{loop}, or call vyre.std.{name} outside of the kernel" if name in _OF_STD else loop
        raise Mistake("K004", f"numpy.{name}() is given the array `{array.name}`", fix)
    if module in ("builtins", "math", "numpy", "cmath", "statistics", "random"):
        raise no_meaning(function, "" if module == "builtins" else f"{module}.")


def no_meaning(function: Any, module: str = "") -> Mistake:
    name = getattr(function, "__name__", "a function")
    problem = f"{module}{name}() is given a value that is unknown while the kernel is traced"
    table = _INSTEAD if not module else _INSTEAD_OF_NUMPY
    return Mistake("K004", problem, table.get(name, "write it with operators, or with a function of vyre"))


# Python's functions on expressions.


def _fold(function: Any, builtin: Any, name: str) -> Any:
    def folded(tracer: Tracer, *args: Any, **kwargs: Any) -> Any:
        values = list(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else list(args)
        if not any(type(each) is Expr for each in values):
            return builtin(*args, **kwargs)
        if kwargs or len(values) < 2:
            raise Mistake("K004", f"{name}() takes two values and more in a kernel", f"write {name}(a, b)")
        result = values[0]
        for each in values[1:]:
            result = function(result, tracer.operand(each, f"{name}()"))
        return result

    return folded


def _len(tracer: Tracer, value: Any) -> Any:
    if isinstance(value, KernelArray):
        tracer.uses(value)
        return value.shape[0]
    if type(value) is Expr:
        raise Mistake(
            "K004", "len() is given a value, which is one number", "give it an array, or write the number by itself"
        )
    return len(tracer.use(value))


def _next(tracer: Tracer, *args: Any) -> Any:
    if len(tracer.regions) > 1:
        raise Mistake(
            "K004",
            "next() is called under a condition or in a loop that runs on the device",
            "read a list by an index, or unroll the loop: `for k in vyre.unroll(range(n)):`",
        )
    return next(*args)


def _abs(tracer: Tracer, value: Any) -> Any:
    return _core.abs(value) if type(value) is Expr else abs(tracer.use(value))


def _divmod(tracer: Tracer, left: Any, right: Any) -> Any:
    if type(left) is not Expr and type(right) is not Expr:
        return divmod(tracer.use(left), tracer.use(right))
    left, right = tracer.operand(left, "divmod()"), tracer.operand(right, "divmod()")
    return operator.floordiv(left, right), operator.mod(left, right)


def _round(tracer: Tracer, value: Any, digits: Any = None) -> Any:
    if type(value) is not Expr:
        return round(tracer.use(value), digits)
    if digits is not None and (type(digits) is Expr or digits < 0):
        raise Mistake("K004", "round() is given digits in a kernel, whose values are integers", "leave the digits out")
    return value


def _sum(tracer: Tracer, values: Any, start: Any = 0) -> Any:
    if type(values) is Expr:
        raise no_meaning(sum)
    total = start
    for each in values:
        total = each if isinstance(total, int) and total == 0 and type(each) is Expr else operator.add(total, each)
    return total


def _any_all(is_all: bool) -> Any:
    def found(tracer: Tracer, values: Any) -> Any:
        if type(values) is Expr:
            raise no_meaning(all if is_all else any)
        result: Any = is_all
        for each in values:
            result = tracer.logical(result, [giving(each)], is_and=is_all)
        return result

    return found


def atomic(name: str) -> Any:
    """What the function of an atomic does in a kernel."""
    function = f"vyre.atomic_{name.rstrip('_')}"

    names = ("buffer", "index", *ATOMICS[name])

    def called(tracer: Tracer, *args: Any, **kwargs: Any) -> Any:
        given = (*args, *(kwargs.pop(each) for each in names[len(args) :] if each in kwargs))
        array = given[0] if given else None
        if not isinstance(array, KernelArray):
            raise Mistake(
                "K008",
                f"{function} is given {described(array)} in place of an array",
                f"write {function}({', '.join(['array', 'index', *ATOMICS[name]])})",
            )
        return array.atomic_op(name, given[1:], kwargs, function)

    return called


REPLACED: dict[Any, Any] = {
    builtins.len: _len,
    builtins.next: _next,
    builtins.abs: _abs,
    builtins.divmod: _divmod,
    builtins.round: _round,
    builtins.sum: _sum,
    builtins.min: _fold(_core.min, builtins.min, "min"),
    builtins.max: _fold(_core.max, builtins.max, "max"),
    builtins.any: _any_all(False),
    builtins.all: _any_all(True),
    **{function: atomic(name) for name in ATOMICS if (function := getattr(_core, f"atomic_{name.rstrip('_')}", None))},
}
# Operators by their names in the syntax tree, as the module operator has them.
OPERATORS = {
    "Add": "add",
    "Sub": "sub",
    "Mult": "mul",
    "FloorDiv": "floordiv",
    "Mod": "mod",
    "Pow": "pow",
    "LShift": "lshift",
    "RShift": "rshift",
    "BitAnd": "and_",
    "BitOr": "or_",
    "BitXor": "xor",
}
# Methods that change what Python's containers and iterators hold.
CHANGING = frozenset(
    "__delitem__ __iadd__ __next__ __setitem__ add append appendleft clear difference_update discard extend "
    "extendleft fromlist insert intersection_update move_to_end pop popitem popleft remove reverse rotate send "
    "setdefault sort subtract symmetric_difference_update update".split()
)
# Methods of values that go by types, like the functions of the module.
METHODS: dict[str, Any] = {
    name: getattr(_core, name)
    for name in _core.__all__
    if name.islower() and hasattr(Expr, name) and not name.startswith("atomic_")
}
