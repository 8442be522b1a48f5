"""The form of an array on a device: what it is, and its first and last values.

Only what is shown is copied from the device. Values that are not there within a second, or that cannot be read now, are
left out with the reason.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from vyre import _core
from vyre._arrays.graph import is_recording
from vyre._html.markup import Content, Markup
from vyre._html.parts import Form, counted, facts, note, sheet, table
from vyre.errors import DispatchTimeoutError, VyreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre._core import Array

__all__ = ["array"]

_WHOLE = 4096  # elements that are copied in one piece
_LINE = 8  # columns of an array with one axis
_FIRST_ROWS, _LAST_ROWS = 8, 2
_FIRST_COLUMNS, _LAST_COLUMNS = 12, 2
_SECONDS = 1.0


def array(shown: Array) -> str:
    return sheet(array_form(shown))


def array_form(shown: Array) -> Form:
    shape = shown.shape
    of = f" of {' × '.join(f'{extent:,}' for extent in shape)}" if shape else ""
    rows = [
        ("shape", str(tuple(shape))),
        ("dtype", str(shown.dtype)),
        ("on", shown.backend if shown.backend in _core._hosts else f"{shown.backend} device {shown.device}"),
        ("size", counted(shown.nbytes, "byte")),
    ]
    return Form("Array", f"{shown.dtype}{of}", (facts(rows), _values(shown)))


def _values(shown: Array) -> Markup:
    if not shown.size:
        return note("It has no elements.")
    if is_recording():
        return note("Its values cannot be read while a graph is recorded.")
    try:
        return _grid(shown)
    except DispatchTimeoutError:
        return note("Its values are still being computed.")
    except VyreError as error:
        return note(f"Its values cannot be read: {error}", "bad")


def _grid(shown: Array) -> Markup:
    """The values as rows: those of the last axis, or lines of eight where there is one axis alone."""
    shape = shown.shape
    columns = shape[-1] if len(shape) > 1 else min(_LINE, shown.size)
    count = -(-shown.size // columns)
    read = _reader(shown)
    kept_columns, columns_left = _kept(columns, _FIRST_COLUMNS, _LAST_COLUMNS)
    kept_rows, rows_left = _kept(count, _FIRST_ROWS, _LAST_ROWS)
    heads = ["", *(f"{k:,}" for k in kept_columns)]
    if columns_left:
        heads.insert(_FIRST_COLUMNS + 1, "…")
    rows: list[Sequence[Content] | str] = []
    for row in kept_rows:
        start = row * columns
        length = min(columns, shown.size - start)
        if columns_left:
            found = [*read(start, _FIRST_COLUMNS), "…", *read(start + columns - _LAST_COLUMNS, _LAST_COLUMNS)]
        else:
            found = [*read(start, length), *[""] * (columns - length)]
        if rows_left and row == kept_rows[_FIRST_ROWS]:
            rows.append(f"… {rows_left:,} more row{'' if rows_left == 1 else 's'}")
        rows.append([_index(shape, row, start), *found])
    return table(heads, rows, numbers=range(len(heads)))


def _kept(count: int, first: int, last: int) -> tuple[list[int], int]:
    """Which of `count` rows are shown, and how many are not; one more row is shown rather than left out."""
    if count <= first + last + 1:
        return list(range(count)), 0
    return [*range(first), *range(count - last, count)], count - first - last


def _index(shape: Sequence[int], row: int, start: int) -> Markup:
    """Where a row begins: `[8]`, or `[1, 0]` of an array with three axes."""
    from vyre._html.parts import label

    if len(shape) < 2:
        return label(f"{start:,}", "soft")
    places = []
    for extent in reversed(shape[:-1]):
        row, place = divmod(row, extent)
        places.append(str(place))
    return label(", ".join(reversed(places)), "soft")


def _reader(shown: Array) -> Any:
    """A function that gives a number of elements from a place on, in C order."""
    flat: Any = shown.reshape(-1)
    if prod(shown.shape) <= _WHOLE:
        values = flat.numpy(_SECONDS)
        return lambda start, count: [_text(value) for value in values[start : start + count]]
    return lambda start, count: [_text(value) for value in flat[start : start + count].numpy(_SECONDS)]


def _text(value: Any) -> str:
    return str(value.item())
