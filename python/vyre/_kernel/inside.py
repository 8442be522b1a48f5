"""The functions that kernels call: ids, workgroup and private arrays, barriers, atomics, unrolled loops."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, cast, overload

from vyre import _core
from vyre._base.calls import explain_calls
from vyre._base.refused import must_be
from vyre._base.text import as_count, shown
from vyre._core import Expr, Node
from vyre._kernel.functions import atomic
from vyre._kernel.mistakes import Mistake
from vyre._kernel.recording import TRACING
from vyre._kernel.tracer import current
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from typing_extensions import TypeVar

    from vyre._core import DataType
    from vyre._kernel.typed import LocalArray, SharedArray, Value, u32

    T = TypeVar("T", default=Value)

_MOST_UNROLLED = 1 << 20

__all__ = ["atomic_load", "atomic_store", "barrier", "gid", "grid_size", "lid", "local", "shared", "unroll", "wid"]


def gid(axis: int = 0) -> u32:
    """The index of this invocation in the whole grid along an axis, 0 for x; U32.

    >>> import vyre
    >>> vyre.gid(1)
    Expr(invocation_id(1))
    """
    found = _axis(axis, "vyre.gid")
    active = TRACING.tracer
    if active is not None:
        active.id_axes.add(found)
    return _u32(Expr.invocation_id(found))


def lid(axis: int = 0) -> u32:
    """The index of this invocation in its workgroup along an axis, 0 for x; U32.

    >>> import vyre
    >>> vyre.lid()
    Expr(local_id(0))
    """
    _depends("vyre.lid")
    return _u32(Expr.local_id(_axis(axis, "vyre.lid")))


def wid(axis: int = 0) -> u32:
    """The index of this workgroup in the grid along an axis, 0 for x; U32.

    >>> import vyre
    >>> vyre.wid()
    Expr(workgroup_id(0))
    """
    _depends("vyre.wid")
    return _u32(Expr.workgroup_id(_axis(axis, "vyre.wid")))


def grid_size(axis: int = 0) -> u32:
    """How many invocations the call asked for along an axis, 0 for x, in a kernel; U32.

    That is the call's ``grid=``, or ``workgroups=`` times the size of a workgroup.

    Raises: ArgumentError outside of a kernel. A call raises it where its grid is resident, since the counts are then
        unknown to it.

    >>> import numpy as np
    >>> import vyre
    >>> @vyre.kernel
    ... def total(a: vyre.In[vyre.u32], sums: vyre.Out[vyre.u32]):
    ...     first, step = vyre.gid(0), vyre.grid_size(0)
    ...     while first < len(a):
    ...         sums[vyre.gid(0)] += a[first]
    ...         first += step
    >>> total(np.arange(10, dtype=np.uint32), sums=np.zeros(3, np.uint32), grid=3, backend="reference")
    array([18, 12, 15], dtype=uint32)
    """
    active = current("vyre.grid_size")
    found = _axis(axis, "vyre.grid_size")
    if found > 2:
        raise must_be("argument `axis` of vyre.grid_size", "0 (x), 1 (y) or 2 (z)", shown(axis))
    if found not in active.grid_axes:
        active.grid_axes.append(found)
    return _u32(Expr.load("__params", active.grid_word + active.grid_axes.index(found)))


@overload
def shared(element: type[T], shape: int | tuple[int, ...]) -> SharedArray[T]: ...
@overload
def shared(element: DataType, shape: int | tuple[int, ...]) -> SharedArray[Any]: ...
def shared(element: type[Any] | DataType, shape: int | tuple[int, ...]) -> SharedArray[Any]:
    """An array of the workgroup, in a kernel: zeros at its beginning, and atomic where an atomic touches it.

    Args:
        element: the type of its elements.
        shape: a count, or one for each axis, known while the kernel is traced.
    """
    made: Any = current("vyre.shared").shared(element, shape)  # to a checker a KernelArray has element types
    return cast("SharedArray[Any]", made)


@overload
def local(element: type[T], shape: int | Sequence[int]) -> LocalArray[T]: ...
@overload
def local(element: DataType, shape: int | Sequence[int]) -> LocalArray[Any]: ...
def local(element: type[Any] | DataType, shape: int | Sequence[int]) -> LocalArray[Any]:
    """An array of the invocation, in a kernel: zeros at its beginning, or a list of values.

    Args:
        element: the type of its elements.
        shape: a count, one for each axis, or the list of the values that it begins with.
    """
    made: Any = current("vyre.local").local(element, shape)
    return cast("LocalArray[Any]", made)


def atomic_load(buffer: str | SharedArray[u32], index: Any) -> u32:
    """The element at an index, 0 out of bounds; it does not race with atomics. On a ReadWrite buffer of U32.

    >>> import vyre
    >>> vyre.atomic_load("flags", 0)
    Expr(atomic_or(flags, 0, 0))
    """
    active = TRACING.tracer
    if active is not None:
        return cast("u32", atomic("load")(active, buffer, index))
    return _outside("atomic_load", _core.atomic_or, buffer, index, 0)


def atomic_store(buffer: str | SharedArray[u32], index: Any, value: Any) -> u32:
    """Replaces the element at an index and gives the one before; it does not race with atomics.

    >>> import vyre
    >>> vyre.atomic_store("flags", 0, 1)
    Expr(atomic_exchange(flags, 0, 1))
    """
    active = TRACING.tracer
    if active is not None:
        return cast("u32", atomic("store")(active, buffer, index, value))
    return _outside("atomic_store", _core.atomic_exchange, buffer, index, value)


def _outside(name: str, function: Callable[..., Expr], *arguments: Any) -> u32:
    """An atomic that the IR has under another name, whose errors name the function that was called."""
    try:
        return cast("u32", function(*arguments))
    except ArgumentError as error:
        raise ArgumentError(str(error).replace(function.__name__, name)) from None


def barrier() -> None:
    """Wait, in a kernel, until every invocation of the workgroup is here; each then sees what the others wrote."""
    active = current("vyre.barrier")
    _depends("vyre.barrier")
    active.effect(Node.barrier())


def unroll(values: Iterable[T]) -> list[T]:
    """The values of a range or another sequence, for a loop whose body a kernel has once a value.

    >>> import vyre
    >>> vyre.unroll(range(3))
    [0, 1, 2]
    """
    if isinstance(values, Expr):
        raise Mistake("K004", "vyre.unroll is given a value", "write `for i in range(n):`, which runs on the device")
    try:
        made = list(itertools.islice(values, _MOST_UNROLLED + 1))
    except (TypeError, NotImplementedError):  # a memoryview of several axes is not iterable
        raise must_be("argument `values` of vyre.unroll", "a range or another sequence", shown(values)) from None
    if len(made) > _MOST_UNROLLED:
        raise ArgumentError(
            f"argument `values` of vyre.unroll has more than {_MOST_UNROLLED} values. "
            "Fix: write `for i in range(n):`, which runs on the device."
        )
    return made


def _u32(value: Expr) -> u32:
    """The value with its type as a checker has it; at run time all values are Expr."""
    return cast("u32", value)


def _axis(axis: Any, function: str) -> int:
    """The axis; one that there is not is the validator's V007."""
    count = None if type(axis) is Expr else as_count(axis)
    if count is None or count < 0:
        said = "an expression" if type(axis) is Expr else shown(axis)
        raise must_be(f"argument `axis` of {function}", "0 (x), 1 (y) or 2 (z)", said)
    return count


def _depends(function: str) -> None:
    active = TRACING.tracer
    if active is not None:
        active.needs_size = active.needs_size or function


explain_calls(globals(), "vyre")
