"""What a kernel, a procedure or a graph depends on beside the names that its functions read."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from vyre import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["COMPANIONS", "Version", "note_taken", "taking"]

# Functions that give what the bytes of a pickle depend on beside them: operations of the user's.
COMPANIONS: list[Callable[[bytes], Iterable[Any]]] = []


class _Taking(threading.local):
    into: list[Any] | None = None


_TAKING = _Taking()


@contextmanager
def taking() -> Iterator[list[Any]]:
    """The list of what this thread takes in the with-block."""
    before, _TAKING.into = _TAKING.into, []
    try:
        yield _TAKING.into
    finally:
        _TAKING.into = before


def note_taken(taken: Iterable[Any]) -> None:
    """Note what a call depends on, where something is traced or recorded."""
    if _TAKING.into is not None:
        _TAKING.into.extend(taken)


class Version:
    """An operation that was taken by an id that means its highest version: a part of Captures."""

    binding = None

    def __init__(self, spec: _core.OpSpec) -> None:
        self._id, self._version = spec.id, spec.version
        self.key = spec.id
        self.text = f"version of operation `{spec.id}`"

    def is_same(self) -> bool:
        return _core._op_get(self._id).version == self._version
