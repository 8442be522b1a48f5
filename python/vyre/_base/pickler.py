"""Pickles kernels and procedures by value: by cloudpickle, with the source of their functions.

A process that has the same one under its name gives that, so that copies of it stay one. Any other is made once, and
kept by the digest of its pickle, so that a worker traces it once.
"""

from __future__ import annotations

import contextlib
import copyreg
import io
import marshal
import pickle
import sys
from collections import ChainMap, OrderedDict
from hashlib import blake2b
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import cloudpickle
import numpy as np

from vyre._base.by_value import ByValue, named
from vyre._base.captured import Uncompared, read_by
from vyre._base.interrupts import is_of_signal_handler
from vyre._base.source import placed, source_of
from vyre._base.taken import COMPANIONS
from vyre._core import DataType
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["copied", "reduced"]

_PYTHON = f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}"  # only the same one runs the code
_MOST_KEPT = 64
_KEPT: OrderedDict[bytes, ByValue] = OrderedDict()
_MOST_TOLD = 200  # characters of what another package says


def reduced(value: ByValue) -> tuple[Any, ...]:
    """Reduce a kernel or procedure for pickle. Raises ArgumentError for what cannot be pickled."""
    data = _pickled(value)
    found = [each for companions in COMPANIONS for each in companions(data)]
    return _unpickled, (_PYTHON, value.__module__, value.__qualname__, data, *found)


def _unpickled(python: str, module: str, name: str, data: bytes, *companions: Any) -> Any:
    """The kernel or procedure of a pickle: the one of this name whose pickle is the same, or else a new one. What it
    calls, its companions, is registered by now.

    Raises: ArgumentError for a pickle of another version of Python.
    """
    if python != _PYTHON:
        raise ArgumentError(
            f"`{name}` was pickled by {python}, whose code {_PYTHON} does not run. "
            "Fix: use one version of Python in both processes, or send the bytes of its program."
        )
    here = named(module, name)
    with contextlib.suppress(ArgumentError):
        if isinstance(here, ByValue) and _pickled(here) == data:
            return here
    return _kept(data)


def _kept(data: bytes) -> Any:
    key = blake2b(data, digest_size=32).digest()
    made = _KEPT.get(key)
    if made is None:
        made = _KEPT.setdefault(key, pickle.loads(data))  # another thread may have been first
        if len(_KEPT) > _MOST_KEPT:
            _KEPT.popitem(last=False)
    with contextlib.suppress(KeyError):  # another thread may have dropped it
        _KEPT.move_to_end(key)
    return made


def copied(value: Any) -> Any:
    """A kernel or procedure with what it reads now, whatever the names mean later. Raises ArgumentError."""
    return _kept(_pickled(value))


def _pickled(value: ByValue) -> bytes:
    try:
        return _dumps(value)
    except Exception as error:
        if isinstance(error, MemoryError) or is_of_signal_handler(error):
            raise
        raise _refusal(value, error) from error


def _dumps(value: Any) -> bytes:
    file = io.BytesIO()
    _Pickler(file).dump(value)
    return file.getvalue()


def _reduced_code(code: CodeType) -> Any:
    # cloudpickle leaves the file out. Version 2 of marshal gives the same bytes for the same code.
    return _code, (marshal.dumps(code, 2), *source_of(code))


def _code(data: bytes, file: str, lines: list[str]) -> CodeType:
    return placed(marshal.loads(data), file, lines)


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    dispatch_table = ChainMap({CodeType: _reduced_code}, cloudpickle.Pickler.dispatch_table)  # noqa: RUF012

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, 5)
        # The arrays that kernels and procedures have seen, by their ids, each with what it held then: a change in place
        # is not followed. None where it held several things.
        self._tables: dict[int, tuple[np.ndarray, np.ndarray | None]] = {}

    def reducer_override(self, value: Any) -> Any:
        kind = type(value)
        if issubclass(kind, ByValue) and not value._is_of_vyre:
            for tables in tuple(vars(value).get("_copies", ())):
                self._tables = tables | self._tables
            # It is made when its parts are whole: a class may have a kernel that reads the class.
            return copyreg.__newobj__, (kind,), value._made_of(), None, None, _made  # type: ignore[attr-defined]
        if kind is np.ndarray and (first := self._tables.get(id(value), (value, None))[1]) is not None:
            return first.__reduce_ex__(5)
        reduced = super().reducer_override(value)
        if kind is FunctionType and reduced is not NotImplemented:
            make, arguments, state, *_, set_state = reduced
            return make, arguments, (set_state, state, _of_annotations(value)), None, None, _filled
        return reduced


def _made(value: ByValue, parts: tuple[Any, ...]) -> None:
    type(value).__init__(value, *parts)


def _filled(function: FunctionType, given: tuple[Callable[..., None], Any, dict[str, Any]]) -> None:
    set_state, state, names = given
    function.__globals__.update(names)
    set_state(function, state)


def _of_annotations(function: FunctionType) -> dict[str, Any]:
    """Global names for annotations, which may be texts, also in inner functions: cloudpickle takes what code reads."""
    return {name: value for name, value in sorted(function.__globals__.items()) if _annotates(value)}


def _annotates(value: Any) -> bool:
    if isinstance(value, ModuleType):
        return value.__name__ == "vyre"
    kind = value if isinstance(value, type) else type(value)
    return kind is DataType or kind.__module__ == "vyre._kernel.parameters"


def _refusal(value: Any, error: Exception) -> ArgumentError:
    what, fix = "its options, its defaults or what it reads", "use numbers, texts or arrays of numpy"
    is_deep = isinstance(error.__cause__, RecursionError)
    try:
        read = read_by([getattr(value, "_function", None)])
        for each in read if is_deep else reversed(read):  # what helpers read comes last
            try:
                _dumps(each.value)
            except Exception as found:
                if is_of_signal_handler(found):
                    raise
                what, fix, error = f"the {each.text}", Uncompared.fix, found
                break
    except Uncompared:
        pass  # one of many values
    why = str(error).partition(". Fix: ")[0] or type(error).__name__
    if is_deep:
        why = "it is nested deeper than Python's stack"
        fix = "put it into a module, and read it as an attribute of that"
    why = " ".join(why.split()).rstrip(".")[:_MOST_TOLD]
    return ArgumentError(f"`{value.__name__}` cannot be pickled, because of {what}: {why}. Fix: {fix}.")
