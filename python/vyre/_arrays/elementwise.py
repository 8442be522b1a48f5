"""Operators and methods of ``vyre.Array``: each is a small Program, made when it is first needed and then called.

An operator and a dtype have one Program for each of its forms (two arrays, an integer on either side, in place), kept
for as long as the process lives; an integer is the value of a Uniform buffer, so that another one costs nothing. What
an operator means on a type is what it means on expressions: the Program is made with the operator itself. A call that
fits goes straight to the Program, which plans it once for the same arrays. For any other call, refused_operands.py
says what to write instead.

The class itself is written in C++. It gets these members when vyre is imported (``_core._complete_array``).
"""

from __future__ import annotations

import operator
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from vyre import _core
from vyre._base.calls import explain_methods
from vyre._base.refused import must_be
from vyre._base.text import as_count, shown
from vyre._base.types import HAS_FLOATS, OF_DTYPE, TYPES, number_of
from vyre._core import Array, BufferDecl, DataType, Expr, Node, Program
from vyre.errors import ArgumentError, BindingError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import DTypeLike

    from vyre._base.types import TypeInfo

__all__ = ["AMOUNTS", "MEMBERS", "Form", "Operator", "uses"]

_WORKGROUP = 256
_MOST_AXES = 32


# Narrow elements are computed as U32 or I32, and a store keeps their low bits.
_ELEMENTS = {dtype: TYPES[element] for dtype, element in OF_DTYPE.items()}
AMOUNTS = "uint32"  # the dtype of shift amounts, whatever is shifted


class Operator(NamedTuple):
    name: str  # Python's, without underscores
    symbol: str
    function: Callable[..., Any]  # of expressions
    on_bool: bool  # whether it is defined on bool; all are on numbers
    kind: str = ""  # "compare" gives bool, "shift" takes amounts on its right


_BINARY = (
    Operator("add", "+", operator.add, False),
    Operator("sub", "-", operator.sub, False),
    Operator("mul", "*", operator.mul, False),
    Operator("floordiv", "//", operator.floordiv, False),
    Operator("mod", "%", operator.mod, False),
    Operator("and", "&", operator.and_, True),
    Operator("or", "|", operator.or_, True),
    Operator("xor", "^", operator.xor, True),
    Operator("lshift", "<<", operator.lshift, False, "shift"),
    Operator("rshift", ">>", operator.rshift, False, "shift"),
    Operator("eq", "==", operator.eq, True, "compare"),
    Operator("ne", "!=", operator.ne, True, "compare"),
    Operator("lt", "<", operator.lt, False, "compare"),
    Operator("le", "<=", operator.le, False, "compare"),
    Operator("gt", ">", operator.gt, False, "compare"),
    Operator("ge", ">=", operator.ge, False, "compare"),
)
_UNARY = (
    Operator("neg", "-", operator.neg, False),
    Operator("invert", "~", operator.invert, True),
    Operator("abs", "abs", abs, False),
)
# Operations that programs cannot do at all, and what to write instead.
_MISSING = {
    **({} if HAS_FLOATS else {"truediv": ("/", "write `//`, which rounds towards zero: programs have no floats")}),
    "pow": ("**", "write a product: x * x"),
    "matmul": ("@", "write a vyre.kernel, or array.numpy() for the host"),
}


class Form(NamedTuple):
    """A Program, and what a call checks its other operand against."""

    program: Program
    dtype: np.dtype[Any]  # of the other operand, if it is an array
    element: TypeInfo  # of the other operand, if it is a number


def _element(array: Array, symbol: str, on_bool: bool = True) -> TypeInfo:
    name = array.dtype.name
    if name == "bool" and not on_bool:
        raise ArgumentError(
            f"operator `{symbol}` is not defined on a vyre.Array of bool. "
            "Fix: write array.astype(np.uint32) in place of the array."
        )
    return _ELEMENTS[name]


def _program(
    written: str, function: Callable[..., Any], operands: Sequence[tuple[str, bool, TypeInfo]], into: TypeInfo | None
) -> Program:
    """A Program that applies a function to elements.

    Args:
        written: how users write it, for profiles.
        operands: the name of each, whether it is one value for all elements, and its type.
        into: the type of a new array, or None to write to the first operand.
    """
    i, values, declared = Expr.gid_x(), [], []
    for binding, (name, is_value, element) in enumerate(operands):
        if is_value:
            declared.append(BufferDecl.uniform(name, binding, element.value))
        elif binding == 0 and into is None:
            declared.append(BufferDecl.read_write(name, binding, element.element))
        else:
            declared.append(BufferDecl.read(name, binding, element.element))
        values.append(Expr.load(name, 0 if is_value else i))
    target = operands[0][0]
    result = function(*values)
    if into is not None:
        target = "out"
        declared.append(BufferDecl.output(target, len(operands), into.element))
    from vyre._base.program_names import named  # imported here, because `import vyre` does not need it

    return named(Program(declared, (_WORKGROUP, 1, 1), [Node.store(target, i, result)]), written)


def _truth(function: Callable[..., Any], element: TypeInfo) -> Callable[..., Any]:
    """The function with its result as Bool, because comparisons of numbers give a U32."""
    if element.value is DataType.Bool:
        return function
    return lambda *values: Expr.cast(DataType.Bool, function(*values))


class _Forms:
    """The Programs of one operator by the dtype of the array that it is called on."""

    def __init__(self, row: Operator, values: str, in_place: bool = False) -> None:
        self._row, self._values, self._in_place = row, values, in_place
        self._made: dict[np.dtype[Any], Form] = {}
        self.get = self._made.get

    def make(self, array: Array) -> Form:
        return self._made.setdefault(array.dtype, self._new(array))

    def _new(self, array: Array) -> Form:
        import numpy as np

        row, dtype = self._row, array.dtype
        own = other = _element(array, row.symbol, row.on_bool)
        if row.kind == "shift":
            other = _ELEMENTS[AMOUNTS]
            if self._values == "left" and own is not other:
                from vyre._arrays.refused_operands import refuse_amount

                refuse_amount(row.symbol, dtype)
            dtype = np.dtype(AMOUNTS)
        function = _truth(row.function, own) if row.kind == "compare" else row.function
        operands = [("left", self._values == "left", own), ("right", self._values == "right", other)]
        into = None if self._in_place else _ELEMENTS["bool"] if row.kind == "compare" else own
        left, right = "n" if self._values == "left" else "a", {"left": "a", "right": "n"}.get(self._values, "b")
        written = f"{left} {row.symbol}{'=' if self._in_place else ''} {right}"
        return Form(_program(written, function, operands, into), dtype, other)


def _groups(array: Array) -> int:
    return -(-array.size // _WORKGROUP)


def _call(program: Program, operands: Sequence[Any], beside: Array, dtype: str | np.dtype[Any]) -> Array:
    """Call a Program that gives a new array with the shape of ``beside``."""
    import numpy as np

    # A graph records calls on arrays that exist, so the new array is made first.
    made = _core._empty(list(beside.shape), np.dtype(dtype), beside.backend, beside.device)
    result: Array = program(*operands, made, workgroups=_groups(beside))
    return result


def _binary(row: Operator) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The methods of an operator: with the array on its left, and on its right."""
    arrays, rights, lefts = _Forms(row, ""), _Forms(row, "right"), _Forms(row, "left")
    bool_like = row.kind == "compare"

    def method(self: Array, other: Any) -> Any:
        dtype = self.dtype
        if type(other) is Array:
            form = arrays.get(dtype) or arrays.make(self)
            shape = self.shape
            if other.dtype != form.dtype or other.shape != shape:
                from vyre._arrays.refused_operands import refuse_arrays

                refuse_arrays(row, self, other, form.dtype)
            try:
                return form.program(self, other, shape, workgroups=-(-self.size // _WORKGROUP))
            except BindingError:
                from vyre._arrays.refused_operands import check_place

                check_place(row.symbol, self, other)
                return _call(form.program, (self, other), self, "bool" if bool_like else dtype)
        return with_value(self, other, dtype, rights)

    def reflected(self: Array, other: Any) -> Any:
        return with_value(self, other, self.dtype, lefts)

    def with_value(self: Array, other: Any, dtype: np.dtype[Any], forms: _Forms) -> Any:
        if not _is_operand(other):
            return NotImplemented
        form = forms.get(dtype) or forms.make(self)
        value = _value(row, self, other, form, forms is lefts)
        operands = (value, self) if forms is lefts else (self, value)
        try:
            return form.program(*operands, self.shape, workgroups=-(-self.size // _WORKGROUP))
        except BindingError:
            return _call(form.program, operands, self, "bool" if bool_like else dtype)

    return method, reflected


def _in_place(row: Operator) -> Callable[..., Any]:
    arrays, rights = _Forms(row, "", in_place=True), _Forms(row, "right", in_place=True)

    def method(self: Array, other: Any) -> Any:
        dtype = self.dtype
        if type(other) is not Array:
            if not _is_operand(other):
                return NotImplemented
            form = rights.get(dtype) or rights.make(self)
            return form.program(self, _value(row, self, other, form, False), workgroups=_groups(self))
        form = arrays.get(dtype) or arrays.make(self)
        if other.dtype != form.dtype or other.shape != self.shape:
            from vyre._arrays.refused_operands import refuse_arrays

            refuse_arrays(row, self, other, form.dtype)
        try:
            return form.program(self, other, workgroups=_groups(self))
        except BindingError:
            from vyre._arrays.refused_operands import check_place

            check_place(row.symbol, self, other)
            # The arrays overlap. The copy has the other array's elements as they are before any of them is written.
            return form.program(self, other.copy(), workgroups=_groups(self))

    return method


def _unary(row: Operator) -> Callable[..., Any]:
    made: dict[np.dtype[Any], Program] = {}

    def method(self: Array) -> Any:
        dtype = self.dtype
        program = made.get(dtype)
        if program is None:
            element = _element(self, row.symbol, row.on_bool)
            written = "abs(a)" if row.name == "abs" else f"{row.symbol}a"
            program = made.setdefault(dtype, _program(written, row.function, [("value", False, element)], element))
        return _call(program, (self,), self, dtype)

    return method


def _missing(symbol: str, fix: str) -> Callable[..., Any]:
    def method(*_: Any) -> Any:
        raise ArgumentError(f"operator `{symbol}` is not defined on a vyre.Array. Fix: {fix}.")

    return method


# The other operand.


def _is_operand(other: Any) -> bool:
    """Whether it is a number, or holds numbers. An object of another class may implement the operator itself."""
    import numpy as np

    return isinstance(other, (int, float, complex, np.generic, np.ndarray)) or type(other) in (list, tuple)


def _value(row: Operator, array: Array, other: Any, form: Form, is_left: bool) -> Any:
    """The integer, or the True or False, that a Program takes for ``other``."""
    number = number_of(form.element.element, other)
    if number is not None:
        return number
    from vyre._arrays.refused_operands import refuse_value

    refuse_value(row, array, other, form, is_left)


# Methods.

_ABOVE: dict[str, Callable[[], Any]] = {}  # what stands above arrays and is needed: `vyre` tells how it is found
_COPIES: dict[Any, Program] = {}
_FILLS: dict[Any, Program] = {}


def uses(module: str, find: Callable[[], Any]) -> None:
    """Let members that need a module which stands above arrays find it when they are called."""
    _ABOVE[module] = find


class _Methods:
    """The methods, each with ``self`` a vyre.Array."""

    def reshape(self: Any, *shape: int | Sequence[int]) -> Array:
        """reshape(*shape) -> Array

        The same elements with other axes, without a copy: what is written to one array is seen in the other.

        Args:
            shape: elements along each axis, or one tuple of them; one may be -1, for what the others leave.

        Raises: ArgumentError for another number of elements.

        >>> import vyre
        >>> a = vyre.arange(6, backend="cpu")
        >>> a.reshape(2, -1).numpy()
        array([[0, 1, 2],
               [3, 4, 5]], dtype=uint32)
        """
        given: Any = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        counts = [as_count(extent) for extent in given[: _MOST_AXES + 1]]
        axes: list[int] = []
        known = 1
        for extent in counts:
            if extent is None or not -1 <= extent < 2**48 or counts.count(-1) > 1 or len(counts) > _MOST_AXES:
                raise must_be(
                    "argument `shape` of Array.reshape",
                    f"up to {_MOST_AXES} counts, at most one of them -1",
                    shown(given),
                )
            axes.append(extent)
            known *= extent if extent != -1 else 1
        whole = [self.size // known if extent == -1 and known else extent for extent in axes]
        if -1 in whole or known * (whole[axes.index(-1)] if -1 in axes else 1) != self.size:
            raise ArgumentError(
                f"a vyre.Array of shape {self.shape} has {self.size} elements, which do not fit shape "
                f"{shown(tuple(given))}. Fix: write a shape of {self.size} elements, or a.reshape(-1)."
            )
        return _core._reshaped(self, whole)

    def copy(self: Any) -> Array:
        """copy() -> Array

        A new array with these elements, on the same device. In a graph the copy is made at each replay.

        >>> import vyre
        >>> a = vyre.array([1, 2], dtype=vyre.u32, backend="cpu")
        >>> b = a.copy()
        >>> b.fill(7)
        >>> a.numpy()
        array([1, 2], dtype=uint32)
        """
        return _converted(self, self.dtype.name)

    def astype(self: Any, dtype: DTypeLike | DataType) -> Array:
        """astype(dtype) -> Array

        A new array with the elements cast to another dtype, on the same device, as casts of expressions do it: a bool
        becomes 0 or 1, a number becomes True if it is not 0, a smaller integer keeps the low bits, and int32 to uint64
        extends the sign.

        Args:
            dtype: uint32, int32, uint64, uint16, int16, uint8, int8 or bool, or their DataType.

        Raises: ArgumentError.

        >>> import numpy as np
        >>> import vyre
        >>> vyre.array([-1, 2], dtype=vyre.i32, backend="cpu").astype(np.uint32).numpy()
        array([4294967295,          2], dtype=uint32)
        """
        from vyre._arrays.array import _dtype

        return _converted(self, _dtype(dtype, "Array.astype").name)

    def fill(self: Any, value: Any) -> None:
        """fill(value) -> None

        Sets every element to one value. Earlier calls see the old values, later calls the new one. A graph does this at
        each replay.

        Args:
            value: an integer that the dtype holds; True or False for bool.

        Raises: ArgumentError.

        >>> import vyre
        >>> a = vyre.empty(3, backend="cpu")
        >>> a.fill(5)
        >>> a.numpy()
        array([5, 5, 5], dtype=uint32)
        """
        from vyre import _values

        where = "argument `value` of Array.fill"
        try:
            given = _values.exact(value, self.dtype, where)
        except MemoryError:  # numpy's, which would read a range of 2^60 numbers
            raise must_be(
                where, "one value", f"a {type(value).__name__} of more than the host has memory for"
            ) from None
        if given.ndim:
            raise must_be(where, "one value", f"values of shape {given.shape}")
        element = _ELEMENTS.get(self.dtype.name)
        if element is None:
            self.write(given)
            return
        program = _FILLS.get(self.dtype)
        if program is None:
            operands = [("array", False, element), ("value", True, element)]
            program = _FILLS.setdefault(self.dtype, _program("a.fill(n)", lambda _, value: value, operands, None))
        program(self, given.item(), workgroups=_groups(self))

    def item(self: Any) -> int | bool:
        """item() -> int | bool

        The value of an array of one element, once the calls that write it are done.

        Raises: ArgumentError for another number of elements.

        >>> import vyre
        >>> vyre.array([[7]], dtype=vyre.u32, backend="cpu").item()
        7
        """
        if self.size != 1:
            raise ArgumentError(
                f"item() takes a vyre.Array of one element, got one of {self.dtype} with shape {self.shape}. "
                "Fix: write array[k], or array.numpy()."
            )
        value: int | bool = self.numpy().item()
        return value


def _converted(array: Array, name: str) -> Array:
    """A new array of another dtype, or of the same."""
    import numpy as np

    source, target = _ELEMENTS[array.dtype.name], _ELEMENTS[name]
    key = (array.dtype, name)
    program = _COPIES.get(key)
    if program is None:
        cast = (lambda value: value) if source is target else (lambda value: Expr.cast(target.value, value))
        written = "a.copy()" if source is target else f"a.astype({name})"
        program = _COPIES.setdefault(key, _program(written, cast, [("value", False, source)], target))
    return _call(program, (array,), array, np.dtype(name))


def _as_dlpack(array: Array, *args: Any, **kwargs: Any) -> Any:
    """Give ``from_dlpack(array)`` its capsule. A copy is logged, because nothing else shows it."""
    if array.backend == "cuda" and not args and kwargs.keys() <= _DLPACK_ARGUMENTS:
        from vyre._arrays.cuda import exported

        capsule = exported(array, kwargs)
        if capsule is not None:
            return capsule
    made = _dlpack_protocol(array, *args, **kwargs)
    if "logging" in sys.modules and (
        kwargs.get("copy") or array.backend not in _core._hosts or array.dtype.name == "bool"
    ):
        from vyre._base import log

        log.debug("DLPack copied %d bytes of %s to the host", array.nbytes, array.backend)
    return made


_dlpack_protocol = Array.__dlpack__
_part, _assign_part = Array.__getitem__, Array.__setitem__
_DLPACK_ARGUMENTS = {"stream", "max_version", "dl_device", "copy"}


def _is_mask(key: Any) -> bool:
    if type(key) in (int, slice):
        return False
    import numpy as np

    return type(key) is Array or (isinstance(key, np.ndarray) and key.dtype == bool)


def _get(array: Array, key: Any) -> Any:
    if not _is_mask(key):
        return _part(array, key)
    from vyre._arrays.masks import select

    return select(array, key, _ABOVE["vyre.std"]())


def _set(array: Array, key: Any, values: Any) -> None:
    if not _is_mask(key):
        _assign_part(array, key, values)
        return
    from vyre._arrays.masks import assign

    assign(array, key, values)


_get.__doc__ = """array[a:b]: a view of these rows, which shares the array's memory; array[k]: a row, or an element.

A mask gives a copy of the elements, or rows, where it is True, once the device has told how many they are;
array[mask] = 0 stores a number there, without waiting.

>>> import vyre
>>> a = vyre.empty(4, backend="cpu")
>>> a[1:3][:] = [5, 6]
>>> a.numpy()
array([0, 5, 6, 0], dtype=uint32)
>>> a[a > 5].numpy()
array([6], dtype=uint32)
>>> a[a > 5] = 9
>>> a.numpy()
array([0, 5, 9, 0], dtype=uint32)
"""


def _contains(array: Array, value: Any) -> bool:
    import numpy as np

    if not isinstance(value, (int, float, np.number, np.bool_)):
        raise must_be("the left operand of `in` beside a vyre.Array", "a number", shown(value))
    return bool((array.numpy() == value).any())


def _pair(*operators: Callable[..., Any]) -> Callable[..., Any]:
    def method(array: Array, other: Any) -> Any:
        made = tuple(each(array, other) for each in operators)
        return NotImplemented if any(each is NotImplemented for each in made) else made

    return method


def _await(array: Array) -> Any:
    from vyre._arrays.awaiting import awaited  # which imports asyncio

    return awaited(array)


def _refuse_attribute(array: Array, name: str) -> NoReturn:
    from vyre._base.absent import refuse_attribute  # imported here, because `import vyre` does not need it

    refuse_attribute(array, name)


def _called_by_numpy(array: Array, function: Any, method: str, *inputs: Any, **options: Any) -> Any:
    from vyre._arrays.ufuncs import called

    return called(function, method, inputs, options)


def _cuda_interface(array: Array) -> dict[str, Any]:
    from vyre._arrays.cuda import interface

    return interface(array)


def _jax_array(array: Array) -> Callable[[], Any]:
    from vyre._arrays.cuda import jax_array

    return jax_array(array)


def _html_form(array: Array) -> str:
    from vyre._html.arrays import array as form

    return form(array)


def _members() -> dict[str, Any]:
    members: dict[str, Any] = {}
    for row in _BINARY:
        method, reflected = _binary(row)
        members[f"__{row.name}__"] = method
        if row.kind != "compare":
            members[f"__r{row.name}__"] = reflected
            members[f"__i{row.name}__"] = _in_place(row)
    for row in _UNARY:
        members[f"__{row.name}__"] = _unary(row)
    for name, (symbol, fix) in _MISSING.items():
        for prefix in ("", "r", "i"):
            members[f"__{prefix}{name}__"] = _missing(symbol, fix)
    members["__getitem__"], members["__setitem__"] = _get, _set
    for name, member in members.items():
        member.__name__ = member.__qualname__ = name
    members["__pos__"] = lambda array: array.copy()
    members["__contains__"] = _contains
    for side in ("", "r"):
        members[f"__{side}divmod__"] = _pair(members[f"__{side}floordiv__"], members[f"__{side}mod__"])
    members["__round__"] = _missing("round", "leave it out: the elements are integers")
    explain_methods(_Methods, "vyre.Array")
    members.update({name: member for name, member in vars(_Methods).items() if not name.startswith("_")})
    members["__dlpack__"] = _as_dlpack
    members["__await__"] = _await
    members["__cuda_array_interface__"] = property(_cuda_interface)
    members["__jax_array__"] = property(_jax_array)
    members["__getattr__"] = _refuse_attribute
    members["_repr_html_"] = _html_form
    members["__array_ufunc__"] = _called_by_numpy
    return members


MEMBERS = _members()
