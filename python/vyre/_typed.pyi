"""What type checkers see of kernels: the types of values and arrays, and ``@vyre.kernel``. Nothing runs it.

In a kernel ``vyre.u32`` is the type of a value. At run time it is ``DataType.U32``, and the values are ``Expr``.

- A value is an ``int`` to a checker: a variable begins as ``0`` and holds a value later, ``range(n)`` counts to one,
  and ``len(a)``, which Python types as int, is compared with one.
- The types are told apart by ``denominator``, which ``int`` types as Literal[1]. An operand of u32 has that or u32's
  own type there, so that ``u32 + 1`` is accepted and ``u32 + i32`` is not.
- ``In[u32, 2]`` has a number where type arguments stand. Pyright accepts that on a class with a ``__class_getitem__``
  and no type parameters, mypy accepts it on Any alone. The type of the elements is lost: they are ``Value``, which goes
  with every type.
"""

# mypy: disable-error-code="override,misc"
# pyright: reportIncompatibleMethodOverride=false, reportIncompatibleVariableOverride=false

from collections.abc import Callable, Collection, Sequence
from typing import Any, Generic, Literal, Never, Protocol, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self, TypeVar

from vyre._core import Array, DataType, Expr, _ExprLike
from vyre._devices import Device
from vyre._kernel.kernel import Kernel

MYPY: bool  # mypy takes this name as true, other checkers look at both branches and keep the last

# What may stand opposite a value of each type.
class _With_u32(Protocol):
    @property
    def denominator(self) -> Literal[1, "u32", "boolean"]: ...

class _With_i32(Protocol):
    @property
    def denominator(self) -> Literal[1, "i32"]: ...

class _With_u64(Protocol):
    @property
    def denominator(self) -> Literal[1, "u64"]: ...

class _With_vec2u32(Protocol):
    @property
    def denominator(self) -> Literal[1, "vec2u32", "u32"]: ...

class _With_vec4u32(Protocol):
    @property
    def denominator(self) -> Literal[1, "vec4u32", "u32"]: ...

class _With_boolean(Protocol):
    @property
    def denominator(self) -> Literal[1, "boolean", "u32"]: ...

_Like = TypeVar("_Like")

class _ElementType(type, DataType):
    """What the types are as objects: at run time each is a member of DataType."""

    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...
    def min_bytes(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

class Number(Expr, int, Generic[_Like], metaclass=_ElementType):
    """A value of a kernel. Comparisons give a u32, 1 or 0."""

    def __add__(self, other: _Like) -> Self: ...
    def __radd__(self, other: _Like) -> Self: ...
    def __sub__(self, other: _Like) -> Self: ...
    def __rsub__(self, other: _Like) -> Self: ...
    def __mul__(self, other: _Like) -> Self: ...
    def __rmul__(self, other: _Like) -> Self: ...
    def __floordiv__(self, other: _Like) -> Self: ...
    def __rfloordiv__(self, other: _Like) -> Self: ...
    def __mod__(self, other: _Like) -> Self: ...
    def __rmod__(self, other: _Like) -> Self: ...
    def __and__(self, other: _Like) -> Self: ...
    def __rand__(self, other: _Like) -> Self: ...
    def __or__(self, other: _Like) -> Self: ...
    def __ror__(self, other: _Like) -> Self: ...
    def __xor__(self, other: _Like) -> Self: ...
    def __rxor__(self, other: _Like) -> Self: ...
    def __lshift__(self, other: _With_u32) -> Self: ...
    def __rlshift__(self, other: _Like) -> Self: ...
    def __rshift__(self, other: _With_u32) -> Self: ...
    def __rrshift__(self, other: _Like) -> Self: ...
    # A kernel has no quotients with a fraction, and no powers.
    def __truediv__(self, other: Never) -> Never: ...
    def __pow__(self, other: Never, modulo: Never = ...) -> Never: ...
    def __lt__(self, other: _Like) -> u32: ...
    def __le__(self, other: _Like) -> u32: ...
    def __gt__(self, other: _Like) -> u32: ...
    def __ge__(self, other: _Like) -> u32: ...
    def __eq__(self, other: _Like) -> u32: ...
    def __ne__(self, other: _Like) -> u32: ...
    def __neg__(self) -> Self: ...
    def __abs__(self) -> Self: ...
    def __invert__(self) -> Self: ...
    def __hash__(self) -> int: ...

class Value(Number[Any], Any):
    """A value whose type a checker does not know, such as an element of a parameter. It goes with every type."""

class u32(Number[_With_u32]):
    def __new__(cls, value: _ExprLike) -> Self: ...
    @property
    def denominator(self) -> Literal["u32"]: ...

class i32(Number[_With_i32]):
    def __new__(cls, value: _ExprLike) -> Self: ...
    @property
    def denominator(self) -> Literal["i32"]: ...

class u64(Number[_With_u64]):
    def __new__(cls, value: _ExprLike) -> Self: ...
    @property
    def denominator(self) -> Literal["u64"]: ...

class vec2u32(Number[_With_vec2u32]):
    def __new__(cls, x: _ExprLike, y: _ExprLike) -> Self: ...
    @property
    def denominator(self) -> Literal["vec2u32"]: ...

class vec4u32(Number[_With_vec4u32]):
    def __new__(cls, x: _ExprLike, y: _ExprLike, z: _ExprLike, w: _ExprLike) -> Self: ...
    @property
    def denominator(self) -> Literal["vec4u32"]: ...

class boolean(Number[_With_boolean]):
    def __new__(cls, value: _ExprLike) -> Self: ...
    @property
    def denominator(self) -> Literal["boolean"]: ...

# Elements of arrays, which no value is made as; what is read of them goes with u32 or i32.
class u8(u32):
    def __new__(cls, value: Never) -> Never: ...

class u16(u32):
    def __new__(cls, value: Never) -> Never: ...

class i8(i32):
    def __new__(cls, value: Never) -> Never: ...

class i16(i32):
    def __new__(cls, value: Never) -> Never: ...

# A type as an argument, as in vyre.shared(vyre.u32, 256).
ElementType: TypeAlias = DataType | type[Number[Any]]

_T = TypeVar("_T", default=Value)
_Index: TypeAlias = _ExprLike | tuple[_ExprLike, ...]

class ReadArray(Generic[_T]):
    """An array inside a kernel."""

    @property
    def shape(self) -> tuple[u32, ...]: ...
    @property
    def size(self) -> u32: ...
    @property
    def ndim(self) -> int: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: _Index, /) -> _T: ...
    __iter__: None  # a kernel loops over the indices
    __hash__: None

class WrittenArray(ReadArray[_T]):
    """An array that a kernel writes."""

    def __setitem__(self, key: _Index, value: _ExprLike, /) -> None: ...

class SharedArray(WrittenArray[_T]):
    """An array that several invocations write."""

    def atomic_add(self, key: _Index, value: _ExprLike, /) -> u32: ...
    def atomic_and_(self, key: _Index, value: _ExprLike, /) -> u32: ...
    def atomic_or_(self, key: _Index, value: _ExprLike, /) -> u32: ...
    def atomic_xor(self, key: _Index, value: _ExprLike, /) -> u32: ...
    def atomic_min(self, key: _Index, value: _ExprLike, /) -> u32: ...
    def atomic_max(self, key: _Index, value: _ExprLike, /) -> u32: ...
    def atomic_exchange(self, key: _Index, value: _ExprLike, /) -> u32: ...
    def atomic_compare_exchange(self, key: _Index, expected: _ExprLike, value: _ExprLike, /) -> u32: ...

class LocalArray(WrittenArray[_T]):
    """An array of one invocation."""

    def copy(self) -> Self: ...

# What a call is given for parameters: everything on the host, or everything on a device.
_Constant: TypeAlias = int | np.integer[Any] | np.bool_ | str | tuple[Any, ...] | Callable[..., Any] | DataType | None
_Host: TypeAlias = np.ndarray[Any, Any] | bytes | bytearray | memoryview | _Constant
_Resident: TypeAlias = Array | _Constant
_Counts: TypeAlias = int | np.integer[Any] | Sequence[int] | Array

class OneResult(Kernel):
    """A kernel with one Out or InOut array."""

    @overload
    def __call__(
        self,
        *args: _Host,
        grid: _Counts | None = None,
        workgroups: _Counts | None = None,
        out: np.ndarray[Any, Any] | None = None,
        backend: str | None = None,
        device: int | Device | None = None,
        optimize: bool | Collection[str] | None = None,
        timeout: float | None = None,
        **named: _Host,
    ) -> NDArray[Any]: ...
    @overload
    def __call__(
        self,
        *args: _Resident,
        grid: _Counts | None = None,
        workgroups: _Counts | None = None,
        out: Array | None = None,
        optimize: bool | Collection[str] | None = None,
        **named: _Resident,
    ) -> Array: ...

class TwoResults(Kernel):
    """A kernel with two Out or InOut arrays."""

    @overload
    def __call__(
        self,
        *args: _Host,
        grid: _Counts | None = None,
        workgroups: _Counts | None = None,
        out: np.ndarray[Any, Any] | None = None,
        backend: str | None = None,
        device: int | Device | None = None,
        optimize: bool | Collection[str] | None = None,
        timeout: float | None = None,
        **named: _Host,
    ) -> tuple[NDArray[Any], NDArray[Any]]: ...
    @overload
    def __call__(
        self,
        *args: _Resident,
        grid: _Counts | None = None,
        workgroups: _Counts | None = None,
        out: Array | None = None,
        optimize: bool | Collection[str] | None = None,
        **named: _Resident,
    ) -> tuple[Array, Array]: ...

if MYPY:
    # mypy ignores the arguments of Any. All parameters that are arrays look alike to it, so it does not see how many
    # results a kernel has.
    In: Any
    InOut: Any
    Out: Any
    const: Any

    class _DecoratesAny(Protocol):
        @overload
        def __call__(self, function: Callable[..., None], /) -> Kernel: ...
        @overload
        def __call__(
            self, *, workgroup_size: int | Sequence[int] | None = None
        ) -> Callable[[Callable[..., None]], Kernel]: ...

    kernel: _DecoratesAny

else:
    class In(ReadArray):
        def __class_getitem__(cls, key: Any) -> Any: ...

    class Out(SharedArray):
        def __class_getitem__(cls, key: Any) -> Any: ...

    class InOut(SharedArray):
        def __class_getitem__(cls, key: Any) -> Any: ...

    const: TypeAlias = Any

    # A parameter that takes a _Given is an input, one that takes a _Made is a result: functions whose last parameters
    # are one or two results, after at most six inputs, are told from others.
    class _Given(In, u32, i32, u64, boolean): ...
    class _Made(Out, InOut): ...

    _MakesOne: TypeAlias = (
        Callable[[_Made], None]
        | Callable[[_Given, _Made], None]
        | Callable[[_Given, _Given, _Made], None]
        | Callable[[_Given, _Given, _Given, _Made], None]
        | Callable[[_Given, _Given, _Given, _Given, _Made], None]
        | Callable[[_Given, _Given, _Given, _Given, _Given, _Made], None]
        | Callable[[_Given, _Given, _Given, _Given, _Given, _Given, _Made], None]
    )
    _MakesTwo: TypeAlias = (
        Callable[[_Made, _Made], None]
        | Callable[[_Given, _Made, _Made], None]
        | Callable[[_Given, _Given, _Made, _Made], None]
        | Callable[[_Given, _Given, _Given, _Made, _Made], None]
        | Callable[[_Given, _Given, _Given, _Given, _Made, _Made], None]
        | Callable[[_Given, _Given, _Given, _Given, _Given, _Made, _Made], None]
        | Callable[[_Given, _Given, _Given, _Given, _Given, _Given, _Made, _Made], None]
    )

    class _Decorates(Protocol):
        @overload
        def __call__(self, function: _MakesOne, /) -> OneResult: ...
        @overload
        def __call__(self, function: _MakesTwo, /) -> TwoResults: ...
        @overload
        def __call__(self, function: Callable[..., None], /) -> Kernel: ...

    @overload
    def kernel(function: _MakesOne, /) -> OneResult: ...
    @overload
    def kernel(function: _MakesTwo, /) -> TwoResults: ...
    @overload
    def kernel(function: Callable[..., None], /) -> Kernel: ...
    @overload
    def kernel(*, workgroup_size: int | Sequence[int] | None = None) -> _Decorates: ...
