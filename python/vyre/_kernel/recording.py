"""Who takes a kernel's calls in place of running them: a procedure whose body runs in this thread."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["RECORDING"]


class _Recording(threading.local):
    call: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any] | None = None


RECORDING = _Recording()
