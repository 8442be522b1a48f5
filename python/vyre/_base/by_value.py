"""What kernels and procedures have in common as values: copies are the same one, and pickles have what it is made of.

Those of the package are pickled by name. All others may be in no module that another process can import, or be another
one there, so that pickler.py pickles them by value.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

__all__ = ["ByValue", "named"]


class ByValue:
    """What is pickled by value: its class makes it again of ``_made_of``, which may hold functions."""

    __slots__ = ()
    __name__: str
    __qualname__: str

    def _made_of(self) -> tuple[Any, ...]:
        raise NotImplementedError

    @property
    def _is_of_vyre(self) -> bool:
        """Whether the package has it under its name."""
        return str(self.__module__).startswith("vyre.") and named(self.__module__, self.__qualname__) is self

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self

    def __reduce__(self) -> Any:
        if self._is_of_vyre:
            return self.__qualname__
        from vyre._base.pickler import reduced  # it imports cloudpickle

        return reduced(self)


def named(module: str, name: str) -> Any:
    """What a module of this process has under a name, None if nothing."""
    return functools.reduce(lambda found, each: getattr(found, each, None), name.split("."), sys.modules.get(module))
