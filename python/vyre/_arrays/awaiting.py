"""``await array``: waits for the calls that write an array, while other tasks of asyncio run.

A wait of vyre blocks its thread with the GIL released. So it is done in a thread of the loop's own pool, in pieces: a
task that is cancelled stops waiting after the piece that has begun, and the work on the device goes on.

A piece that is over raises DispatchTimeoutError, and so does a call of the array that took too long. The clock tells
them apart: a piece lasts as long as it was given, and what a call left is raised at once.
"""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any, Protocol

from vyre.errors import ArgumentError, DispatchTimeoutError

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["awaited"]

# A cancelled wait keeps its thread for at most so long.
_SECONDS_A_PIECE = 0.05
# Long enough to ask a device whether it is done, and too short for anybody to notice.
_SECONDS_A_LOOK = 1e-6


class _Waiting(Protocol):
    def wait(self, timeout: float | None = None) -> None: ...


def awaited(value: _Waiting) -> Generator[Any, None, Any]:
    """Return the iterator of ``__await__`` of an array or a graph; its result is the value itself."""
    return _done(value).__await__()


async def _done(value: _Waiting) -> Any:
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        raise ArgumentError(
            f"a vyre.{type(value).__name__} is awaited outside asyncio. Fix: write x.wait(), or await it in a "
            "coroutine that asyncio runs."
        ) from None
    try:
        value.wait(_SECONDS_A_LOOK)  # what is done needs no thread
        return value
    except DispatchTimeoutError:  # too short a piece for the clock: the next one tells what it was
        pass
    given_up = threading.Event()

    def wait() -> None:
        while not given_up.is_set() and not _is_done_within(value, _SECONDS_A_PIECE):
            pass

    try:
        await loop.run_in_executor(None, wait)
    finally:
        given_up.set()
    return value


def _is_done_within(value: _Waiting, seconds: float) -> bool:
    """Whether the calls are done. Raises what they raised."""
    began = time.monotonic()
    try:
        value.wait(seconds)
    except DispatchTimeoutError:
        # Half of it leaves room for a driver whose clock is not Python's. A thread that was held up asks once more.
        if time.monotonic() - began < seconds / 2:
            raise
        return False
    return True
