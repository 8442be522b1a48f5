"""Work in threads of its own; what fails in one of them fails the test."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def in_threads(work: Callable[[Any], object], arguments: Iterable[Any]) -> None:
    """Call ``work`` with each argument, each in a new thread. Raises the first failure when all have ended."""
    failures: list[BaseException] = []

    def guarded(argument: Any) -> None:
        try:
            work(argument)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(argument,)) for argument in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def in_a_thread(work: Callable[[], object]) -> None:
    """Call ``work`` in a new thread, which has the default stack, and wait for it."""
    in_threads(lambda _: work(), [None])
