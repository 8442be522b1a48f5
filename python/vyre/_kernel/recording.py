"""The state of a thread in which calls of kernels are not run, such as a procedure whose body records them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from vyre import _core

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre._kernel.debugs import Debugging
    from vyre._kernel.tracer import Tracer

__all__ = ["OPEN", "RECORDING", "TRACING", "LeavesCalls", "is_tracing"]


class LeavesCalls(threading.local):
    """The state of a thread that changes what calls of kernels do.

    While an attribute is not None, the core leaves all calls to ``Kernel._call``. Each object has one attribute, and
    ``BIT`` is its own among the core's bits.
    """

    BIT: int

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        _core._leave_calls(self.BIT, value is not None)


class _Recording(LeavesCalls):
    BIT = 1
    call: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any] | None = None


class _Open(LeavesCalls):
    """The object that records the calls of this thread, if there is one."""

    BIT = 2
    seen: Debugging | None = None


class _Tracing(LeavesCalls):
    """The tracer of the kernel that this thread traces."""

    BIT = 4
    tracer: Tracer | None = None


RECORDING = _Recording()
OPEN = _Open()
TRACING = _Tracing()


def is_tracing() -> bool:
    return TRACING.tracer is not None
