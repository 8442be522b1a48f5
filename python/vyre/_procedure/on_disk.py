"""What the package records is kept in files beside the compiled pipelines, so that later processes need not record it.

A recording of the library's depends on the files of the package, on the function, on what its closure holds, and on the
values of its constants: the key has all four. What a user's function reads can be anything, so that recordings that
depend on one are not kept.
"""

from __future__ import annotations

import functools
import io
import os
import pickle
import sys
from types import BuiltinFunctionType, FunctionType
from typing import Any

from vyre import _core
from vyre._base import IMPORTED
from vyre._base.by_value import ByValue
from vyre._base.source import PACKAGE
from vyre._core import Procedure

__all__ = ["keep", "key_on_disk", "loaded"]

_MODULES = ("_operator", "builtins", "functools", "numpy", "types", "vyre")


class _Unkept(Exception):
    """A value of which no key tells all that it is."""


class _Written(pickle.Pickler):
    """Writes a value so that equal bytes mean equal values, in every process with the same files of the package."""

    def reducer_override(self, value: Any) -> Any:
        if type(value) is FunctionType and value.__code__.co_filename.startswith(PACKAGE):
            cells = [each.cell_contents for each in value.__closure__ or ()]
            place = value.__module__, value.__qualname__, value.__code__.co_firstlineno
            return str, place, (cells, value.__defaults__, value.__kwdefaults__)
        if isinstance(value, ByValue):
            return str, (type(value).__name__, value._made_of())
        if isinstance(value, _core.DataType):
            return str, (str(value),)
        of = value if isinstance(value, (type, FunctionType, BuiltinFunctionType)) else type(value)
        if str(of.__module__).partition(".")[0] not in _MODULES:
            raise _Unkept
        if isinstance(value, BuiltinFunctionType) and value.__module__ == _core.__name__:
            return str, (value.__qualname__,)
        return NotImplemented


@functools.cache
def _state_of_package() -> bytes:
    """The files of the package, in an installed one and in one that is worked on.

    Raises: _Unkept where one has changed since it was imported, so that what is recorded is not what the files say.
    """
    found = [sys.implementation.cache_tag or "", _core.__version__]
    folders = [PACKAGE]
    for folder in folders:
        with os.scandir(folder) as entries:
            for each in sorted(entries, key=lambda each: each.name):
                if each.is_dir():
                    folders += [each.path] * (each.name != "__pycache__")
                elif each.is_file():
                    state = each.stat()
                    if state.st_ctime_ns > IMPORTED:
                        raise _Unkept
                    found.append(f"{each.path} {state.st_mtime_ns} {state.st_size}")
    return "\n".join(found).encode()


def key_on_disk(function: FunctionType, *values: Any) -> bytes | None:
    """What a recording depends on beside the package; None where no key tells that."""
    written = io.BytesIO()
    try:
        _Written(written, protocol=5).dump((function, values))
        _state_of_package()
        return written.getvalue()
    except (_Unkept, OSError, ValueError, TypeError, AttributeError, pickle.PicklingError, RecursionError):
        return None


def loaded(key: bytes) -> Procedure | None:
    """What an earlier process kept, if it has the same package."""
    found = _core._kept(_state_of_package(), key)
    if found is None:
        return None
    count = int.from_bytes(found[:4], "little")
    procedure = Procedure.from_bytes(found[4 + count :])
    for each, is_vouched in zip(_all(procedure), found[4 : 4 + count], strict=True):
        if is_vouched:
            _core._vouch(each)
    return procedure


def keep(key: bytes, procedure: Procedure) -> None:
    """Keep a procedure, and which of those that it invokes are vouched for."""
    vouched = bytes(map(_core._is_vouched, _all(procedure)))
    _core._keep(_state_of_package(), key, len(vouched).to_bytes(4, "little") + vouched + procedure.to_bytes())


def _all(procedure: Procedure) -> list[Procedure]:
    """The procedure and those that it invokes, each once."""
    found = [procedure]
    for each in found:
        found += [inner for inner in each.procedures if inner not in found]
    return found
