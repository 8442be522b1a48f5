"""Parses Python's text for syntax trees, in any thread.

Threads that parse disturb each other in CPython 3.11: they share a count of the depth, and the parse that finds a wrong
one raises SystemError (python/cpython#106905). The library's own parses take turns. Those of other code do not, so a
parse that they have disturbed is tried again, each time with a new count.
"""

from __future__ import annotations

import ast
import os
import threading

__all__ = ["syntax_tree"]

_MOST_TRIED = 100
_lock = threading.RLock()  # what the collector of garbage calls during a parse may parse too


def syntax_tree(text: str) -> ast.Module:
    """ast.parse.

    Raises: SyntaxError, ValueError, and SystemError where other threads have disturbed every try.

    >>> syntax_tree("x = 1").body[0].lineno
    1
    """
    with _lock:
        for _ in range(_MOST_TRIED - 1):
            try:
                return ast.parse(text)
            except SystemError as error:
                if "recursion depth mismatch" not in str(error):
                    raise
        return ast.parse(text)


def _renew_lock() -> None:
    """The thread that held the lock at a fork does not live in the child."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
