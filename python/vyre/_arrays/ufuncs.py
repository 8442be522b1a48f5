"""What numpy's functions on elements do with a ``vyre.Array``: ``np.add(a, b)`` is ``a + b``.

numpy calls a function for its operators too, as ``x + a`` of a numpy array does. Functions that mean on integers what
an operator of arrays means are that operator, and all others are refused: they would copy the elements to the host.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vyre._base.refused import must_be
from vyre._core import Array
from vyre.errors import CallError

__all__ = ["called"]

# Functions of two arguments: the operator's method, that of the array on its right, and the symbol.
_SAME = {
    "add": ("__add__", "__radd__", "+"),
    "subtract": ("__sub__", "__rsub__", "-"),
    "multiply": ("__mul__", "__rmul__", "*"),
    "bitwise_and": ("__and__", "__rand__", "&"),
    "bitwise_or": ("__or__", "__ror__", "|"),
    "bitwise_xor": ("__xor__", "__rxor__", "^"),
    "equal": ("__eq__", "__eq__", "=="),
    "not_equal": ("__ne__", "__ne__", "!="),
    "less": ("__lt__", "__gt__", "<"),
    "less_equal": ("__le__", "__ge__", "<="),
    "greater": ("__gt__", "__lt__", ">"),
    "greater_equal": ("__ge__", "__le__", ">="),
}
# numpy's function rounds otherwise, or gives another dtype. An operator with a number of numpy on its left is ours.
_OTHER = {
    "floor_divide": ("__floordiv__", "__rfloordiv__", "//"),
    "remainder": ("__mod__", "__rmod__", "%"),
    "left_shift": ("__lshift__", "__rlshift__", "<<"),
    "right_shift": ("__rshift__", "__rrshift__", ">>"),
    "divide": ("__truediv__", "__rtruediv__", "/"),
    "power": ("__pow__", "__rpow__", "**"),
    "matmul": ("__matmul__", "__rmatmul__", "@"),
}
_ALONE = {"negative": "__neg__", "invert": "__invert__", "positive": "__pos__"}
_DIVISIONS = "//", "%"
_REDUCTIONS = {
    "add": "vyre.std.sum(a)",
    "minimum": "vyre.std.min(a)",
    "maximum": "vyre.std.max(a)",
    "logical_and": "vyre.std.all(a)",
    "logical_or": "vyre.std.any(a)",
}


def called(function: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The result of numpy's ``function`` of arrays of which one is a ``vyre.Array``, or numpy's NotImplemented.

    Raises: CallError for what no operator does, with what to write; ArgumentError for another function than numpy's;
    and what the operator raises.
    """
    if not isinstance(function, np.ufunc):
        raise must_be("argument `ufunc` of Array.__array_ufunc__", "one of numpy's functions", type(function).__name__)
    name = function.__name__
    if method == "__call__" and not options:
        if len(inputs) == 1 and name in _ALONE:
            return getattr(inputs[0], _ALONE[name])()
        if len(inputs) == 2 and (name in _SAME or (name in _OTHER and not isinstance(inputs[0], Array))):
            forward, reflected, _ = _SAME.get(name) or _OTHER[name]
            left, right = inputs
            if not isinstance(left, Array) and getattr(left, "shape", None) == ():
                left = left[()]  # a number of numpy's, which its comparisons make an array of
            return getattr(left, forward)(right) if isinstance(left, Array) else getattr(right, reflected)(left)
    said = name if method == "__call__" else f"{name}.{method}"
    raise CallError(
        f"numpy's function `{said}` takes numpy arrays, and got a vyre.Array. Fix: write "
        f"{_instead(name, method, options)}a.numpy() in place of each vyre.Array `a`."
    )


def _instead(name: str, method: str, options: dict[str, Any]) -> str:
    """What gives a vyre.Array, where there is such a thing."""
    if any(each is not None and each is not bool for each in options.values()):
        return ""
    if method == "reduce" and name in _REDUCTIONS:
        return f"{_REDUCTIONS[name]}, or "
    if method == "__call__" and name in _OTHER:
        symbol = _OTHER[name][2]
        if symbol in ("<<", ">>"):
            return f"a {symbol} b, which has the dtype of `a`, or "
        if symbol in _DIVISIONS:
            return f"a {symbol} b, which rounds towards zero, or "
    return ""
