"""The methods of the enumerations in Python; their members come from the C++ tables."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, NoReturn

from vyre._base.calls import explain_methods
from vyre.errors import ArgumentError, PlannedTypeError

_PLANNED = {
    "F32": "it joins with strict IEEE 754 arithmetic; until then carry its bits as U32",
    "F16": "it joins after F32; until then carry its bits as U32",
    "BF16": "it joins after F32; until then carry its bits as U32",
    "U128": "use Vec4U32, which has the same layout",
    "Tensor": "use a buffer of its element type and compute the index",
}


class TableEnum(enum.Enum):
    """A row of a table."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


class _TypeMeta(enum.EnumMeta):
    if not TYPE_CHECKING:  # a type checker would take every name for a member

        def __getattr__(cls, name: str) -> NoReturn:
            if name in _PLANNED:
                raise PlannedTypeError(f"DataType.{name} is planned and not in this version. Fix: {_PLANNED[name]}.")
            member = next((known for known in cls.__members__ if known.lower() == name.lower()), None)
            fix = f"DataType.{member}" if member is not None else f"one of {', '.join(cls.__members__)}"
            raise AttributeError(f"DataType has no member {name!r}. Fix: write {fix}.")


class TypeEnum(TableEnum, metaclass=_TypeMeta):
    """A data type."""

    def min_bytes(self) -> int:
        """Bytes that one element takes in a buffer; 0 for Bytes, whose length is the host's."""
        from vyre._base.types import TYPES

        kind: Any = self  # DataType is the one class below this
        return TYPES[kind].bytes

    def __call__(self, *values: Any) -> Any:
        """A value of this type: a literal of an integer, a cast of an expression, a vector of as many values as lanes.

        >>> import vyre
        >>> vyre.u64(5), vyre.i32(vyre.gid(0)), vyre.vec2u32(1, 2)
        (Expr(u64(5)), Expr(cast(I32, invocation_id(0))), Expr(pack(Vec2U32, 1, 2)))
        """
        from vyre._base.types import TYPES
        from vyre._core import Expr

        kind: Any = self
        row = TYPES[kind]
        wanted = row.components
        if row.value is not self:
            low = f"vyre.{TYPES[row.value].spelled}(x)"
            bits = 8 * row.bytes
            kept = f"{low} & 0x{(1 << bits) - 1:X}"
            if row.kind == "signed":
                kept = f"{low} << {32 - bits} >> {32 - bits}"
            raise ArgumentError(
                f"vyre.{row.spelled} is the type of elements of arrays, and no value has it. "
                f"Fix: write {kept} for the low {bits} bits; a store into such an array keeps them by itself."
            )
        if len(values) != wanted or row.kind == "opaque":
            raise ArgumentError(
                f"vyre.{row.spelled} takes {wanted} value{'' if wanted == 1 else 's'}, got {len(values)}. "
                f"Fix: write vyre.{row.spelled}({', '.join('xyzw'[:wanted])})."
            )
        if wanted > 1:
            return Expr.pack(kind, values)
        (value,) = values
        if type(value) is Expr:
            return Expr.cast(kind, value)
        return getattr(Expr, row.text)(value)  # which makes literals, as the table says


explain_methods(TypeEnum, "vyre.DataType")
