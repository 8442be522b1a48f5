"""Exceptions of signal handlers, which arrive wherever Python stands, and are no mistake of the code there."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import CodeType

__all__ = ["is_of_signal_handler"]


def is_of_signal_handler(error: BaseException) -> bool:
    """Whether the exception left a function that handles a signal, as that of a time-out by SIGALRM does.

    Python calls a handler between any two instructions of the main thread, so its frame may stand behind any other.
    """
    import signal  # it makes three enumerations, which few processes need

    handlers = {_code_of(signal.getsignal(number)) for number in signal.valid_signals()}
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in handlers:
            return True
        trace = trace.tb_next
    return False


def _code_of(handler: Any) -> CodeType | None:
    """The code of a handler; None for what is no function of Python."""
    while isinstance(handler, functools.partial):
        handler = handler.func
    if not callable(handler):  # the default, or none
        return None
    code: CodeType | None = getattr(handler, "__code__", None) or getattr(handler.__call__, "__code__", None)
    return code
