"""Procedures of the library that write every element before they read or return it, where no analysis can see that."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vyre._procedure.procedure import ProcedureFunction

__all__ = ["vouched"]


def vouched(function: ProcedureFunction) -> ProcedureFunction:
    """Vouch for the steps of a procedure itself, so that its arrays are not filled with zeros.

    Only the library does, and ``tests/py/std/test_checked.py`` runs each of these procedures in checked execution,
    which reports an element that is read or returned without having been written. For any other procedure the core
    finds out what it has to fill.
    """
    function.is_vouched = True
    return function
