"""Arrays while a procedure is recorded: what kernels and procedures are called with in its body."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

from vyre._base.absent import NoAttributeError, refuse_of_procedure_array
from vyre._base.calls import explain_calls
from vyre._base.text import as_count, shown
from vyre._core import DataType
from vyre._procedure.sizes import Size, as_size, divisor_of
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from vyre._procedure.recorded import ArrayDecl
    from vyre._procedure.recorder import Recorder

__all__ = ["ProcedureArray"]

_UNTIL = "a loop ends by an element that a kernel writes with `for _ in vyre.times(n, until=array[0:1]):`"
# Attributes of arrays whose elements are known.
_OF_ELEMENTS = ("item", "numpy", "tobytes", "tolist")
# Attributes that numpy's arrays have beside those, and what a Fix tells to write instead.
_OF_NUMPY = {
    "astype": "convert in a kernel, or write .view(vyre.u32) for the same bytes",
    "copy": "copy it in a kernel, into an array of vyre.scratch",
    "flatten": "write .ravel() for all elements on one axis",
    "ndim": "write len(array.shape)",
    "reshape": "write .ravel() for all elements on one axis, or annotate the parameter with its axes, "
    "as in vyre.In[vyre.u32, 2]",
    "size": "write .ravel().length",
}


class ProcedureArray:
    """An array in the body of a procedure: a parameter, or one that ``vyre.scratch`` has made.

    Kernels and procedures are called with it. Its elements are unknown until the procedure runs.

    Attributes:
        length: elements along the first axis, a Size.
        shape: elements along each axis.
        dtype: the type of its elements.
    """

    __slots__ = ("_decl", "_element", "_recorder", "_shape", "_slice")

    def __init__(
        self,
        recorder: Recorder,
        decl: ArrayDecl,
        element: DataType,
        shape: tuple[Size | int, ...],
        slice: tuple[Size | int, Size | int] | None = None,
    ) -> None:
        self._recorder, self._decl, self._element = recorder, decl, element
        self._shape, self._slice = shape, slice

    @property
    def length(self) -> Any:
        return self._shape[0]

    @property
    def shape(self) -> tuple[Any, ...]:
        return self._shape

    @property
    def dtype(self) -> DataType:
        return self._element

    def view(self, dtype: DataType) -> ProcedureArray:
        """The same memory with elements of another type; the first axis has as many as fit.

        Raises: ArgumentError for an array of several axes, where the types have other sizes.
        """
        if not isinstance(dtype, DataType):
            raise ArgumentError(f"ProcedureArray.view takes a type, got {shown(dtype)}. Fix: write .view(vyre.u32).")
        if dtype is self._element:
            return self
        bytes_, wanted = self._element.min_bytes(), dtype.min_bytes()
        if len(self._shape) != 1 and wanted != bytes_:
            raise ArgumentError(
                f"an array of {len(self._shape)} axes has no view with elements of {dtype.name.lower()}, which have "
                f"another size. Fix: write .ravel().view(vyre.{dtype.name.lower()})."
            )
        begin = self._slice[0] if self._slice else 0
        if divisor_of(begin) * bytes_ % wanted:
            wide = dtype.name.lower()
            if isinstance(begin, int):
                raise ArgumentError(
                    f"a part of `{self._decl.name}` begins at byte {begin * bytes_}, inside of an element of {wide}. "
                    f"Fix: begin it at a multiple of {wanted} bytes."
                )
            count = wanted // math.gcd(wanted, bytes_)
            raise ArgumentError(
                f"a part of `{self._decl.name}` begins at {begin}, which may lie inside of an element of {wide}. "
                f"Fix: begin it at a multiple of {count} for every length, at `n * {count}` or "
                f"`n // {count} * {count}`."
            )
        slice_ = self._slice and tuple(each * bytes_ // wanted for each in self._slice)
        shape = self._shape if wanted == bytes_ else (self._shape[0] * bytes_ // wanted,)
        return ProcedureArray(self._recorder, self._decl, dtype, shape, slice_)  # type: ignore[arg-type]

    def ravel(self) -> ProcedureArray:
        """The same elements on one axis, row after row."""
        if len(self._shape) == 1:
            return self
        count: Any = self._shape[0]
        for extent in self._shape[1:]:
            count = count * extent
        return ProcedureArray(self._recorder, self._decl, self._element, (count,), self._slice)

    def __getitem__(self, key: Any) -> ProcedureArray:
        if isinstance(key, slice) and key.step not in (None, 1):
            raise ArgumentError(
                f"a slice of `{self._decl.name}` has the step {shown(key.step)}, and a part of an array has its "
                "elements side by side. Fix: write array[a:b], and skip elements in a kernel."
            )
        if not isinstance(key, slice):
            raise ArgumentError(
                f"an array in a procedure is indexed with {shown(key)}, and its elements are unknown until the "
                f"procedure runs. Fix: read elements in a kernel; array[a:b] is a part of the array, and {_UNTIL}."
            )
        first = 0 if key.start is None else self._bound(key.start, "begin")
        last = self._shape[0] if key.stop is None else self._bound(key.stop, "end")
        if isinstance(first, int) and isinstance(last, int) and last < first:
            raise ArgumentError(
                f"a slice of `{self._decl.name}` begins at {first} and ends at {last}. "
                f"Fix: write array[{last}:{first}]."
            )
        length: Any = last if isinstance(first, int) and first == 0 else last - first
        offset: Any = first
        count: Any = length
        for extent in self._shape[1:]:
            offset, count = extent * offset, extent * count
        part = (self._slice[0] + offset if self._slice else offset, count)
        return ProcedureArray(self._recorder, self._decl, self._element, (length, *self._shape[1:]), part)

    def _bound(self, bound: Any, what: str) -> Size | int:
        count = None if isinstance(bound, Size) else as_count(bound)
        if count is not None and count < 0:
            raise ArgumentError(
                f"a slice of `{self._decl.name}` has {what} {count}, and negative numbers do not count from the end in "
                f"a procedure. Fix: write `array.length - {-count}` for it."
            )
        return as_size(bound, f"a slice's {what}")

    def _refuse_assignment(self, key: Any, value: Any) -> NoReturn:
        raise ArgumentError(
            f"elements of the array `{self._decl.name}` are assigned in a procedure, which has no elements while it is "
            "recorded. Fix: store them in a kernel, or write vyre.clear(array[a:b]) for zeros."
        )

    def _part(self) -> tuple[int, DataType | None, int | None, int | None]:
        """The part as the core's builder takes it."""
        offset, length = (None, None) if self._slice is None else map(self._recorder.used, self._slice)
        return self._decl.index, None if self._element is self._decl.element else self._element, offset, length

    def __len__(self) -> NoReturn:
        raise ArgumentError(
            f"the length of `{self._decl.name}` is not known until the procedure is planned. "
            f"Fix: write {self._decl.name}.length, which is a vyre.Size."
        )

    def __bool__(self) -> NoReturn:
        raise ArgumentError(
            f"the array `{self._decl.name}` decides a branch of Python, and its elements are unknown until the "
            f"procedure runs. Fix: decide in a kernel, or by a size with vyre.when; {_UNTIL}."
        )

    def _refuse_operator(self, *_: Any) -> NoReturn:
        raise ArgumentError(
            f"the array `{self._decl.name}` of a procedure has no operators, because its elements are unknown until "
            f"the procedure runs. Fix: compute in a kernel, and call the kernel here; {_UNTIL}."
        )

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Size) or as_count(other) is not None:
            self._refuse_operator()
        return self is other

    def __hash__(self) -> int:
        return object.__hash__(self)

    if not TYPE_CHECKING:  # a type checker would take them for operators
        __setitem__ = _refuse_assignment
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = _refuse_operator
        __truediv__ = __rtruediv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = _refuse_operator
        __matmul__ = __rmatmul__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _refuse_operator
        __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __invert__ = __neg__ = _refuse_operator
        __divmod__ = __rdivmod__ = __round__ = __contains__ = _refuse_operator
        __lt__ = __le__ = __gt__ = __ge__ = _refuse_operator

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> NoReturn:
            if name in _OF_ELEMENTS:
                raise NoAttributeError(
                    f"the array `{self._decl.name}` of a procedure has no attribute `{name}`, because it has no "
                    "elements while the procedure is recorded. Fix: compute with it in a kernel, or return it and "
                    f"write .{name}() on what the call gives."
                )
            if name in _OF_NUMPY:
                raise NoAttributeError(
                    f"the array `{self._decl.name}` of a procedure has no attribute `{name}`. Fix: {_OF_NUMPY[name]}."
                )
            refuse_of_procedure_array(self, self._decl.name, name)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise ArgumentError(
            f"the array `{self._decl.name}` of a procedure has no elements while the procedure is recorded. "
            "Fix: compute with it in a kernel."
        )

    def __repr__(self) -> str:
        return f"<array {self._decl.name}: {self._element.name}[{', '.join(map(str, self._shape))}]>"


explain_calls(globals(), "vyre")
