"""Says what to write in place of an attribute that arrays of numpy, CuPy or torch have and a vyre.Array does not have.

Any other name gives Python's usual AttributeError.
"""

from __future__ import annotations

from typing import Any, NoReturn

from vyre.errors import ArgumentError

__all__ = ["NoAttributeError", "refuse_attribute"]


class NoAttributeError(ArgumentError, AttributeError):
    """An object has no such attribute; hasattr gives False."""


_IN_STD = ("all", "any", "argmax", "argmin", "argsort", "cumsum", "max", "min", "nonzero", "sort", "sum", "transpose")
_FIXES = {
    **{name: f"vyre.std.{name}(a)" for name in _IN_STD},
    **{name: f"a.numpy().{name}()" for name in ("tolist", "mean", "std", "var", "prod", "dump")},
    **dict.fromkeys(("asnumpy", "copy_to_host", "cpu", "get", "to_numpy"), "a.numpy()"),
    **dict.fromkeys(("flatten", "ravel"), "a.reshape(-1)"),
    "T": "vyre.std.transpose(a)",
    "dot": "vyre.std.matmul(a, b)",
    "take": "vyre.std.gather(a, index)",
    "itemsize": "a.dtype.itemsize",
    "to": "vyre.array(a.numpy(), backend=...), which copies it",
    "to_device": "vyre.array(a.numpy(), backend=...), which copies it",
}


def refuse_attribute(array: Any, name: str) -> NoReturn:
    """Raises the AttributeError of ``array.name``."""
    fix = _FIXES.get(name)
    if fix is None:
        raise AttributeError(f"'{type(array).__module__}.Array' object has no attribute '{name}'", name=name, obj=array)
    raise NoAttributeError(f"a vyre.Array has no attribute `{name}`. Fix: write {fix}, for an array `a`.")
