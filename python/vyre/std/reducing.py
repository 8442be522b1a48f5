"""Reductions of whole arrays to one value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import u32, u64
from vyre._arrays.dlpack import numpy_of
from vyre._arrays.dtype_names import dtype_name
from vyre._base.calls import explain_calls
from vyre._base.text import shown
from vyre._base.types import RANGES
from vyre._core import Array, DataType
from vyre._procedure.arrays import ProcedureArray
from vyre._procedure.recorder import active
from vyre.errors import ArgumentError, BindingError
from vyre.std._calls.host import check_order, count_of, elements, is_empty, place_of, refuse_empty
from vyre.std._scanning.extremes import extreme_index
from vyre.std._scanning.operators import NAMES, TYPES, Operator, operator_of
from vyre.std._scanning.reductions import reducer

if TYPE_CHECKING:
    from vyre import Device

__all__ = ["all", "any", "argmax", "argmin", "max", "min", "reduce", "sum"]

# The procedures of calls that gave an operator's name and a resident array, by that name and the array's dtype, each
# with the version that the operation of this id had; None for an operator of NAMES.
_known: dict[tuple[str, np.dtype] | None, tuple[Any, int | None]] = {}


def reduce(
    x: np.ndarray | Array | ProcedureArray,
    op: str,
    identity: int | None = None,
    *,
    backend: str | None = None,
    device: int | Device | None = None,
) -> Any:
    """All elements combined by an associative operator, from the first to the last; integers wrap around.

    Args:
        x: an array of one axis, of uint32, int32 or uint64, with at most 2^32 - 1 elements.
        op: "add", "mul", "min", "max", "and", "or", "xor", or the id of a registered associative operation of two
            elements.
        identity: what a registered operation gives for no elements.
        backend, device: where, for numpy arrays.

    Gives: a scalar of x's dtype; for a resident array a resident one of one element, without waiting. Of no elements
        it is the identity.

    Raises: ArgumentError for min and max of no elements, and for an operation without an identity; BindingError,
        CapabilityError, DeviceMemoryError, DeviceError.

    Source: the tree of workgroups of M. Harris, Optimizing Parallel Reduction in CUDA, 2007.

    >>> import numpy as np
    >>> int(reduce(np.array([1, 2, 3], np.uint32), "xor", backend="cpu"))
    0
    """
    check_order(isinstance(x, str) and not isinstance(op, str), "reduce", "x", "op")
    return _reduced("reduce", x, op, identity, backend, device)


def sum(
    x: np.ndarray | Array | ProcedureArray,
    dtype: Any = None,
    *,
    backend: str | None = None,
    device: int | Device | None = None,
) -> Any:
    """The sum of all elements, modulo 2 to the bits of its type.

    Args:
        x: an array of one axis, of uint32, int32 or uint64.
        dtype: of the sum: uint64 for an array of uint32 gives the exact sum. None takes x's dtype.
        backend, device: where, for numpy arrays.

    Gives: a scalar; for a resident array a resident one of one element.

    Raises: as reduce.

    >>> import numpy as np
    >>> int(sum(np.array([2**32 - 1, 1], np.uint32), dtype=np.uint64, backend="cpu"))
    4294967296
    """
    if dtype is None:
        return _reduced("sum", x, "add", None, backend, device)
    x = elements(x, "argument `x` of vyre.std.sum", list(TYPES))
    try:
        wanted = np.dtype(dtype)
    except (TypeError, ValueError):
        wanted = None
    if wanted is not None and wanted == x.dtype:
        return _reduced("sum", x, "add", None, backend, device)
    x = elements(x, "argument `x` of vyre.std.sum", ["uint32"])
    if wanted != np.uint64:
        raise ArgumentError(
            f"argument `dtype` of vyre.std.sum must be {x.dtype} or uint64, got {shown(dtype)}. "
            "Fix: write dtype=np.uint64 for the exact sum."
        )
    return _run("sum", reducer(operator_of("add", u64, None, "vyre.std.sum"), u32), x, backend, device)


def min(
    x: np.ndarray | Array | ProcedureArray, *, backend: str | None = None, device: int | Device | None = None
) -> Any:
    """The smallest element.

    Args, gives and raises: as reduce; no elements are an ArgumentError.

    >>> import numpy as np
    >>> int(min(np.array([3, -1, 2], np.int32), backend="cpu"))
    -1
    """
    return _reduced("min", x, "min", None, backend, device)


def max(
    x: np.ndarray | Array | ProcedureArray, *, backend: str | None = None, device: int | Device | None = None
) -> Any:
    """The largest element.

    Args, gives and raises: as reduce; no elements are an ArgumentError.

    >>> import numpy as np
    >>> int(max(np.array([3, -1, 2], np.int32), backend="cpu"))
    3
    """
    return _reduced("max", x, "max", None, backend, device)


def any(
    x: np.ndarray | Array | ProcedureArray, *, backend: str | None = None, device: int | Device | None = None
) -> Any:
    """Whether an element is not 0; of none it is False.

    Args:
        x: an array of one axis, of uint32, int32 or uint64, or of bool.
        backend, device: where, for numpy arrays.

    Gives: a bool; for a resident array a resident uint32 of one element, 1 or 0.

    Raises: as reduce.

    >>> import numpy as np
    >>> any(np.array([0, 0, 5], np.uint32), backend="cpu")
    True
    """
    return _truth("any", "or", x, backend, device)


def all(
    x: np.ndarray | Array | ProcedureArray, *, backend: str | None = None, device: int | Device | None = None
) -> Any:
    """Whether no element is 0; of none it is True.

    Args, gives and raises: as any.

    >>> import numpy as np
    >>> all(np.array([0, 0, 5], np.uint32), backend="cpu")
    False
    """
    return _truth("all", "min", x, backend, device)


def argmin(
    x: np.ndarray | Array | ProcedureArray, *, backend: str | None = None, device: int | Device | None = None
) -> Any:
    """The index of the smallest element, of equal ones the first.

    Args:
        x: an array of one axis, of uint32, int32 or uint64.
        backend, device: where, for numpy arrays.

    Gives: an int; for a resident array a resident uint32 of one element.

    Raises: ArgumentError for no elements, and as reduce.

    >>> import numpy as np
    >>> argmin(np.array([3, 1, 2, 1], np.uint32), backend="cpu")
    1
    """
    return _extreme("argmin", "min", x, backend, device)


def argmax(
    x: np.ndarray | Array | ProcedureArray, *, backend: str | None = None, device: int | Device | None = None
) -> Any:
    """The index of the largest element, of equal ones the first.

    Args, gives and raises: as argmin.

    >>> import numpy as np
    >>> argmax(np.array([3, 1, 3, 2], np.uint32), backend="cpu")
    0
    """
    return _extreme("argmax", "max", x, backend, device)


def _reduced(name: str, x: Any, op: Any, identity: Any, backend: Any, device: Any) -> Any:
    # An array like one that passed the checks below passes them too; they take longer than a small sum.
    alike = isinstance(x, Array) and isinstance(op, str) and identity is backend is device is None and x.ndim == 1
    key = (op, x.dtype) if alike else None
    known = _known.get(key)
    if known is not None and x.size and active() is None:
        procedure, version = known
        if version is None or vyre.ops.get(op).version == version:
            return procedure(x)
    where = f"vyre.std.{name}"
    x = elements(x, f"argument `x` of {where}", list(TYPES))
    element = TYPES[dtype_name(x.dtype)]
    if identity is not None:
        identity = count_of(identity, f"argument `identity` of {where}", *RANGES[element])
    operator = operator_of(op, element, identity, where)
    if operator.identity is None or op in ("min", "max"):
        fix = f"ask for {name} where len(x) > 0" if op in ("min", "max") else f"write {where}(x, op, identity=...)"
        refuse_empty(x, f"{where} of no elements has no value with `{op}`. Fix: {fix}.")
    if is_empty(x):
        return _constant(name, operator.identity, x, backend, device)
    procedure = reducer(operator)
    if key is not None:
        _known[key] = procedure, None if op in NAMES else vyre.ops.get(op).version
    return _run(name, procedure, x, backend, device)


def _constant(name: str, value: int | None, x: Any, backend: Any, device: Any) -> Any:
    place = place_of(f"vyre.std.{name}", backend, device, x, can_be_step=True)
    host = np.array([value], x.dtype)
    return host[0] if place.on_host else place.array(host)


def _run(name: str, procedure: Any, x: Any, backend: Any, device: Any) -> Any:
    place = place_of(f"vyre.std.{name}", backend, device, x, can_be_step=True)
    result = procedure(place.array(x))
    return result.numpy()[0] if place.on_host else result


def _truth(name: str, op: str, x: Any, backend: Any, device: Any) -> Any:
    where = f"argument `x` of vyre.std.{name}"
    x = numpy_of(x, where, BindingError)
    if isinstance(x, np.ndarray) and x.dtype == bool:
        x = x.astype(np.uint32)
    elif isinstance(x, Array) and x.dtype == bool:
        x = x.astype(np.uint32)
    elif isinstance(x, ProcedureArray) and x.dtype is DataType.Bool:
        x = x.view(u32)
    x = elements(x, where, [*TYPES])
    operator: Operator = operator_of(op, u32, None, f"vyre.std.{name}")
    place = place_of(f"vyre.std.{name}", backend, device, x, can_be_step=True)
    result = reducer(operator, TYPES[dtype_name(x.dtype)], truth=True)(place.array(x))
    return bool(result.numpy()[0]) if place.on_host else _as_truth(result)


@vyre.kernel
def _as_truth(x: vyre.In[vyre.u32], y: vyre.Out[vyre.u32]) -> None:
    y[0] = vyre.select(x[0] != 0, vyre.u32(1), vyre.u32(0))


def _extreme(name: str, op: str, x: Any, backend: Any, device: Any) -> Any:
    x = elements(x, f"argument `x` of vyre.std.{name}", list(TYPES))
    refuse_empty(x, f"vyre.std.{name} of no elements has no value. Fix: ask for {name} where len(x) > 0.")
    place = place_of(f"vyre.std.{name}", backend, device, x, can_be_step=True)
    result = extreme_index(op, TYPES[dtype_name(x.dtype)])(place.array(x))
    return int(result.numpy()[0]) if place.on_host else result


explain_calls(globals(), "vyre.std")
