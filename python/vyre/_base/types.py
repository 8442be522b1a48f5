"""What the core's table of types says, and what follows from it: sizes, ranges, and numpy's names.

Every module that depends on one of these asks here, so that a new row reaches all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre._core import DataType, _bits_given, _tables

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = [
    *["HAS_FLOATS", "INTEGERS", "NUMPY", "OF_DTYPE", "RANGES", "SCALARS", "TYPES", "TypeInfo"],
    *["bits_of", "number_of", "number_of_bits", "value_of_words", "word_of"],
]


class TypeInfo:
    """A type: its columns of the table, and what follows from them.

    Attributes:
        element: the type.
        value: the type of what a load gives and a store takes.
        text, kind, dtype, bytes, lanes, components, literal: as in the table.
        spelled: its name in vyre.
        axes: those that one element adds to an array of numpy.
        bound: the dtype of an array with all bytes of its elements: a Bool has those of a word.
        least, greatest: of its integers, in a vector its components; 0 and 0 without any.
        wanted: what messages ask for where one of its numbers or truths is meant.
    """

    def __init__(self, row: Any) -> None:
        self.element, self.value = DataType[row.name], DataType[row.value]
        self.text: str = row.text
        self.kind: str = row.kind
        self.dtype: str = row.dtype
        self.bytes: int = row.bytes
        self.lanes: int = row.lanes
        self.components: int = row.components
        self.literal: int | None = row.literal
        self.spelled: str = "boolean" if row.kind == "boolean" else row.name.lower()
        self.axes: tuple[int, ...] = (row.components,) if row.components > 1 else ()
        self.bound: str = "uint32" if row.kind == "boolean" else row.dtype
        self.least, self.greatest = _range(row.kind, 8 * row.bytes // row.components)
        self.wanted: str = (
            "True or False" if row.kind == "boolean" else f"an integer from {self.least} to {self.greatest}"
        )


def _range(kind: str, bits: int) -> tuple[int, int]:
    if kind == "signed":
        return -(1 << bits - 1), (1 << bits - 1) - 1
    return 0, {"unsigned": (1 << bits) - 1, "boolean": 1}.get(kind, 0)


TYPES: dict[DataType, TypeInfo] = {info.element: info for info in map(TypeInfo, _tables["types"])}
# The dtype of a type's elements, and the axes that one element adds.
NUMPY = {element: (info.dtype, info.axes) for element, info in TYPES.items()}
RANGES = {element: (info.least, info.greatest) for element, info in TYPES.items()}
# The types of single numbers and truths, of which a kernel takes and computes values.
SCALARS: tuple[DataType, ...] = tuple(
    e for e, info in TYPES.items() if info.value is e and not info.axes and info.kind != "opaque"
)
# The types of elements by the dtypes of arrays, and those of integers alone.
OF_DTYPE: dict[str, DataType] = {info.dtype: e for e, info in TYPES.items() if not info.axes and info.kind != "opaque"}
INTEGERS = {dtype: e for dtype, e in OF_DTYPE.items() if TYPES[e].kind in ("unsigned", "signed")}

# Whether a type has floats. Where none has, nothing that would give a float is offered, and a float is refused.
HAS_FLOATS: bool = any(info.kind == "float" for info in TYPES.values())


def bits_of(element: DataType, number: int) -> int:
    """The bits of a number as one integer, which has no sign."""
    return number & (1 << 8 * TYPES[element].bytes) - 1


def number_of_bits(element: DataType, bits: int) -> int:
    """The number or truth of a type that has these bits.

    >>> number_of_bits(DataType.I32, 2**32 - 1), number_of_bits(DataType.Bool, 1)
    (-1, True)
    """
    info = TYPES[element]
    if info.kind == "boolean":
        return bool(bits)
    return bits - (1 << 8 * info.bytes) if info.kind == "signed" and bits > info.greatest else bits


def number_of(element: DataType, value: Any) -> int | None:
    """The number of an element type that a value is; None for a value that the type does not hold.

    >>> number_of(DataType.U32, -1), number_of(DataType.I32, -1)
    (None, -1)
    """
    bits = _bits_given(element, value)
    return None if bits is None else number_of_bits(element, bits_of(element, bits))


def word_of(number: int, part: int) -> int:
    """A word of a number; part 0 is the lowest.

    >>> word_of(-1, 0), word_of(2**32, 0), word_of(2**32, 1)
    (4294967295, 0, 1)
    """
    return number >> 32 * part & 0xFFFFFFFF


def value_of_words(element: DataType, words: Sequence[int]) -> int | tuple[int, ...]:
    """The value that these words are: a number, a truth's word, or a tuple of a vector's."""
    if TYPES[element].axes:
        return tuple(words)
    bits = sum(word << 32 * k for k, word in enumerate(words))
    return bits if TYPES[element].kind == "boolean" else number_of_bits(element, bits)
