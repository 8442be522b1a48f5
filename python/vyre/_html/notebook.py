"""Tells IPython of the forms of the core's classes, to which Python code adds no `_repr_html_`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from vyre import _core

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["FORMS", "register"]


def _program(shown: Any) -> str:
    from vyre._html import programs

    return programs.program(shown)


def _procedure(shown: Any) -> str:
    from vyre._html import programs

    return programs.procedure(shown)


def _operation(shown: Any) -> str:
    from vyre._html import programs

    return programs.operation(shown)


FORMS: dict[type, Callable[[Any], str]] = {
    _core.Program: _program,
    _core.Procedure: _procedure,
    _core.OpSpec: _operation,
}


def register() -> bool:
    """Tell the IPython that runs here, if one does; whether one did."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None:
        return False
    formatter = shell.display_formatter.formatters["text/html"]
    for kind, form in FORMS.items():
        formatter.for_type(kind, form)
    return True
