"""Replay files: a checked run in one file of JSON, to be repeated elsewhere.

A file holds the program's text, the inputs, the grid and what was checked, and the reports as text for a reader. It is
data: the program is the only thing in it that is executed, and the reference executes it.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import math
import os
from typing import TYPE_CHECKING

import numpy as np

from vyre import _core
from vyre._base.files import as_path, unreadable, write_atomically
from vyre._base.text import shown
from vyre._base.types import OF_DTYPE
from vyre.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from vyre._arrays.checked import CheckResult
    from vyre._arrays.reports import Report
    from vyre._core import Place, Program

__all__ = ["load", "parsed", "save", "with_places"]

FORMAT = "vyre replay"
VERSION = 1

_DTYPES = sorted(OF_DTYPE)
# The most bytes of a file, and the number of bytes that show whether it is a replay file.
_MOST = 1 << 30
_FIRST = 1 << 12
# A short file may ask for many zeros.
_MOST_ZEROS = 1 << 30


def save(result: CheckResult, path: str | os.PathLike[str]) -> None:
    """Write the call that gave ``result``, see CheckResult.save."""
    zeroed = _zeroed(result.program)
    places = {
        place.path: [place.file, place.line, place.column, place.end_column]
        for place in _places(result.reports)
        if place.file
    }
    content = {
        "format": FORMAT,
        "version": VERSION,
        "vyre": _core.__version__,
        "reports": [str(report) for report in result.reports],
        "workgroups": list(result.workgroups),
        "schedule": result.schedule,
        "checks": list(result.checks),
        "max_reports": result.max_reports,
        "places": places,
        "program": result.program.to_text(),
        "inputs": {name: _written(value, name in zeroed) for name, value in result.inputs.items()},
    }
    write_atomically(as_path(path, "CheckResult.save"), json.dumps(content, indent=1) + "\n")


def load(path: str | os.PathLike[str]) -> tuple[Program, dict[str, Any], dict[str, Any]]:
    """The program, its inputs, and the other fields of a file, each of the type that ``save`` writes.

    Raises: ParseError for a content that ``save`` would not write, FileError.
    """
    try:
        with as_path(path, "vyre.replay").open("rb") as file:
            # The file is read in parts, because a path such as /dev/zero has no end.
            data = file.read(_FIRST)
            if not data.lstrip().startswith(b"{"):
                raise _refusal(path, "is not JSON (it does not begin with `{`)")
            data += file.read(_MOST - len(data) + 1)
    except OSError as error:
        raise unreadable(path, error, fix="name a file that CheckResult.save wrote") from None
    if len(data) > _MOST:
        raise ParseError(
            f"replay file {_name(path)} is longer than {_MOST:,} bytes. Fix: check a smaller case, and save that."
        )
    return parsed(path, data)


def parsed(path: str | os.PathLike[str], data: bytes) -> tuple[Program, dict[str, Any], dict[str, Any]]:
    """The result of ``load`` from the content of a file that messages call ``path``."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _refusal(path, f"is not JSON ({_brief(error)})") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise _refusal(path, f'is not a replay file: it lacks "format": "{FORMAT}"')
    version = content.get("version")
    if type(version) is not int or version != VERSION:
        raise ParseError(
            f"replay file {_name(path)} has version {_brief(version)}, this vyre reads version {VERSION}. "
            "Fix: read it with the vyre that wrote it."
        )

    def field(name: str, wanted: str, fits: Callable[[Any], bool]) -> Any:
        value = content.get(name)
        if not fits(value):
            raise _refusal(path, f'has no "{name}" that is {wanted}')
        return value

    fields = {
        "workgroups": tuple(field("workgroups", "three integers", lambda v: _list_of(v, int) and len(v) == 3)),
        "schedule": field("schedule", "a string", lambda v: isinstance(v, str)),
        "checks": field("checks", "a list of strings", lambda v: _list_of(v, str)),
        "max_reports": field("max_reports", "an integer", lambda v: type(v) is int),
        "places": field("places", "a dict of [file, line, column, end column]", _are_places),
    }
    text = field("program", "a string", lambda v: isinstance(v, str))
    named = field("inputs", "a dict of arrays", lambda v: isinstance(v, dict))
    program = _core.parse(text)
    inputs = {name: _read(path, name, value) for name, value in named.items()}
    zeroed = _zeroed(program)
    zeros = sum(
        max(decl.element.min_bytes(), 1) * math.prod(np.atleast_1d(inputs.get(decl.name, decl.count)).tolist())
        for decl in program.buffers
        if decl.name in zeroed and isinstance(inputs.get(decl.name, 0), (int, tuple))
    )
    if zeros > _MOST_ZEROS:
        raise _refusal(path, f"asks for {zeros} bytes of zeros, at most {_MOST_ZEROS} are made for a file")
    return program, inputs, fields


def with_places(reports: tuple[Report, ...], places: dict[str, list[Any]]) -> tuple[Report, ...]:
    """The reports with the source lines that were known when the file was written: a program's text has none."""

    def mended(value: Any) -> Any:
        if isinstance(value, _core.Place):
            file, *numbers = places.get(value.path, (None,))
            if file is None:
                return value
            return _core._place_from_state(value.path.encode(), file.encode(), *(number or 0 for number in numbers))
        if isinstance(value, tuple):
            return tuple(mended(item) for item in value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return dataclasses.replace(
                value, **{f.name: mended(getattr(value, f.name)) for f in dataclasses.fields(value)}
            )
        return value

    return tuple(mended(report) for report in reports)


def _places(value: Any) -> Iterator[Place]:
    if isinstance(value, _core.Place):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _places(item)
    elif dataclasses.is_dataclass(value):
        for f in dataclasses.fields(value):
            yield from _places(getattr(value, f.name))


def _name(path: str | os.PathLike[str]) -> str:
    return shown(os.fspath(path))


def _brief(value: object) -> str:
    if not isinstance(value, Exception):
        return shown(value)
    text = str(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _refusal(path: str | os.PathLike[str], problem: str) -> ParseError:
    return ParseError(f"replay file {_name(path)} {problem}. Fix: write it anew with CheckResult.save.")


def _list_of(value: object, kind: type) -> bool:
    return isinstance(value, list) and all(type(item) is kind for item in value)


def _are_places(value: object) -> bool:
    def number(item: object) -> bool:
        return item is None or (type(item) is int and 0 <= item < 1 << 31)

    return (
        isinstance(value, dict)
        and all(
            isinstance(place, list)
            and len(place) in (3, 4)  # older files have no end column
            and isinstance(place[0], str)
            and place[0].isprintable()
            and all(map(number, place[1:]))
            for place in value.values()
        )
    )


def _zeroed(program: Program) -> set[str]:
    """The buffers for which a number or a shape means zeros; for others a number is a value."""
    return {decl.name for decl in program.buffers if decl.access == _core.BufferAccess.ReadWrite}


def _written(value: Any, zeroed: bool) -> dict[str, Any]:
    if isinstance(value, bytes):
        value = np.frombuffer(value, np.uint8)
    if not isinstance(value, np.ndarray):
        if zeroed:
            return {"zeros": list(map(int, value)) if isinstance(value, tuple) else int(value)}
        return {"value": bool(value) if isinstance(value, (bool, np.bool_)) else int(value)}
    data = value.astype(value.dtype.newbyteorder("<"), copy=False).tobytes()
    return {"dtype": value.dtype.name, "shape": list(value.shape), "data": base64.b64encode(data).decode("ascii")}


def _read(path: str | os.PathLike[str], name: str, value: Any) -> np.ndarray | int | tuple[int, ...]:
    def refused(problem: str) -> ParseError:
        return _refusal(path, f"has an input {_brief(name)} that {problem}")

    if not isinstance(value, dict):
        raise refused("is no array")
    if set(value) == {"zeros"}:
        extents = value["zeros"] if isinstance(value["zeros"], list) else [value["zeros"]]
        if len(extents) > 32 or not all(type(extent) is int and 0 <= extent < 1 << 32 for extent in extents):
            raise refused("asks for a number of zeros that is not from 0 to 4294967295")
        return tuple(extents) if isinstance(value["zeros"], list) else extents[0]
    if set(value) == {"value"}:
        if type(value["value"]) not in (int, bool) or not -(1 << 63) <= value["value"] < 1 << 64:
            raise refused("has a value that no element holds")
        number: int = value["value"]
        return number
    fields: dict[str, Any] = {name: value.get(name) for name in ("dtype", "shape", "data")}
    dtype, shape, data = fields.values()
    if dtype not in _DTYPES:
        raise refused(f"has a dtype other than {', '.join(_DTYPES)}")
    if not _list_of(shape, int) or len(shape) > 32 or min(shape, default=0) < 0:
        raise refused("has no shape")
    try:
        raw = base64.b64decode(data, validate=True)
    except (TypeError, ValueError):
        raise refused("has data that is not in base64") from None
    kind = np.dtype(dtype).newbyteorder("<")
    if math.prod(shape) * kind.itemsize != len(raw) or max(shape, default=0) > len(raw) + 1:
        raise refused(f"has {len(raw)} bytes, which its shape does not fit")
    if dtype == "bool" and any(byte > 1 for byte in raw):
        raise refused("has bool values other than 0 and 1")
    return np.frombuffer(raw, kind).astype(dtype).reshape(shape)
