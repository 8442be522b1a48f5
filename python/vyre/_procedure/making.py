"""Arrays in the body of a procedure: ``vyre.scratch`` makes them, ``vyre.clear`` and ``vyre.swap`` change them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre._base.calls import explain_calls
from vyre._base.refused import must_be
from vyre._base.text import shown
from vyre._core import DataType
from vyre._kernel.parameters import _type_for
from vyre._procedure.recorder import calling_line, recorder_of
from vyre._procedure.sizes import as_size, known_difference
from vyre.errors import ArgumentError, BindingError

if TYPE_CHECKING:
    from vyre._procedure.arrays import ProcedureArray
    from vyre._procedure.sizes import Size

__all__ = ["clear", "scratch", "swap", "with_elements", "written"]


def scratch(dtype: DataType, *shape: Size | int, zeros: bool = False, name: str = "scratch") -> ProcedureArray:
    """Make an array of the procedure that is recorded. What the procedure returns becomes its output.

    Args:
        dtype: the type of its elements.
        shape: elements along each of one to three axes, integers or sizes.
        zeros: whether the procedure means to see the zeros with which the array begins in each run. Otherwise it is to
            write what it reads or returns: what no step can have written is refused (P010, P011), and checked execution
            reports an element that none has written.
        name: what the procedure's text calls it.

    Raises: ArgumentError.

    >>> import numpy as np
    >>> import vyre
    >>> @vyre.kernel
    ... def doubled(x: vyre.In[vyre.u32], y: vyre.Out[vyre.u32]):
    ...     i = vyre.gid(0)
    ...     y[i] = x[i] * 2
    >>> @vyre.procedure
    ... def four_times(x: vyre.In[vyre.u32]):
    ...     twice, result = vyre.scratch(vyre.u32, x.length), vyre.scratch(vyre.u32, x.length)
    ...     doubled(x, twice)
    ...     doubled(twice, result)
    ...     return result
    >>> four_times(np.arange(4, dtype=np.uint32), backend="cpu")
    array([ 0,  4,  8, 12], dtype=uint32)
    """
    recorder = recorder_of("vyre.scratch")
    if len(shape) == 1 and isinstance(shape[0], tuple):
        shape = shape[0]
    if not isinstance(dtype, DataType) or dtype is DataType.Bytes:
        raise must_be("argument `dtype` of vyre.scratch", "a type", shown(dtype))
    if not 1 <= len(shape) <= 3:
        raise ArgumentError(
            f"vyre.scratch takes one to three axes, got {len(shape)}. Fix: write vyre.scratch({_type_for(dtype)}, n)."
        )
    extents = tuple(as_size(each, "argument `shape` of vyre.scratch") for each in shape)
    return recorder.declare(name, "scratch", dtype, extents, bool(zeros), line=calling_line())


def swap(a: Any, b: Any) -> None:
    """Exchange two arrays of the procedure for the steps that follow, in a repetition for its next turns as well.

    Both are whole arrays of one type and shape that ``vyre.scratch`` has made.

    >>> import vyre
    >>> @vyre.kernel
    ... def step(x: vyre.In[vyre.u32], y: vyre.Out[vyre.u32]):
    ...     i = vyre.gid(0)
    ...     y[i] = x[i] + x[i + 1]
    >>> @vyre.procedure
    ... def rows(x: vyre.In[vyre.u32], n: vyre.u32):
    ...     a, b = vyre.scratch(vyre.u32, x.length), vyre.scratch(vyre.u32, x.length)
    ...     step(x, a)
    ...     for _ in vyre.times(n):
    ...         step(a, b)
    ...         vyre.swap(a, b)
    ...     return a
    """
    recorder = recorder_of("vyre.swap")
    arrays = [recorder.array(each, f"argument `{name}` of vyre.swap") for name, each in (("a", a), ("b", b))]
    for each in arrays:
        if (
            each._slice is not None
            or each._element is not each._decl.element
            or len(each._shape) != each._decl.axes
            or each._decl.role not in ("scratch", "output")
        ):
            raise ArgumentError(
                "vyre.swap exchanges whole arrays that vyre.scratch has made. Fix: copy into one first."
            )
    if arrays[0]._element is not arrays[1]._element:
        raise ArgumentError("vyre.swap exchanges arrays of one type. Fix: make both with the same type and shape.")
    shapes = [each._shape for each in arrays]
    if any(known_difference(a, b) not in (None, 0) for a, b in zip(*shapes, strict=False)):
        a, b = (f"`{each._decl.name}` of shape {each._shape}" for each in arrays)
        raise ArgumentError(f"vyre.swap exchanges {a} and {b}. Fix: make both with the same shape.")
    recorder.step(calling_line(), recorder.made.swap, *(each._decl.index for each in arrays))


def clear(array: Any) -> None:
    """Fill an array of the procedure with zeros at this place.

    >>> import vyre
    >>> @vyre.procedure
    ... def cleared(x: vyre.InOut[vyre.u32]):
    ...     vyre.clear(x)
    >>> x = vyre.arange(3, backend="cpu")
    >>> cleared(x)
    >>> x.numpy()
    array([0, 0, 0], dtype=uint32)
    """
    recorder = recorder_of("vyre.clear")
    cleared = recorder.array(array, "argument `array` of vyre.clear")
    recorder.step(calling_line(), recorder.made.clear, written(cleared, "vyre.clear"))


def with_elements(array: ProcedureArray, element: DataType) -> ProcedureArray:
    """A result of the step that was recorded last, with elements of another type of as many bits: it is made with them,
    so that it can be returned and swapped."""
    if array._element is not element:
        array._recorder.made.element(array._decl.index, element)
        array._element = array._decl.element = element
    return array


# What arrays that no step may write are called, and what lets a step write them. A table has no annotation.
_READ_ONLY = {"input": ("an input", "annotate it with vyre.InOut, or "), "table": ("a table", "")}


def refuse_read_only(array: ProcedureArray, writes: str, fix: str, is_read: bool = False) -> None:
    """A BindingError for a step that writes an input or a table.

    Args:
        writes: the problem, with ``{}`` for the array.
        fix: what to do with an array of vyre.scratch instead.
        is_read: whether the step reads the array too, which then may not be written in its place.
    """
    if array._decl.role in _READ_ONLY:
        role, annotate = _READ_ONLY[array._decl.role]
        what = writes.format(f"`{array._decl.name}`")
        raise BindingError(f"{what} is {role} of the procedure. Fix: {'' if is_read else annotate}{fix}.")


def written(array: ProcedureArray, where: str, is_read: bool = False) -> Any:
    """The part that a step writes, for the core's builder."""
    refuse_read_only(array, f"{where} writes {{}}, which", "write into an array of vyre.scratch", is_read)
    return array._part()


explain_calls(globals(), "vyre")
