"""The list that ``vyre.validate`` returns, and diagnostics as notebooks show them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vyre._core import Diagnostic

_MOST_SHOWN = 20


class Diagnostics(list["Diagnostic"]):
    """Every rule that a program breaks, in program order: a list, shown line by line, and as a table in a notebook.

    >>> import vyre
    >>> vyre.validate(vyre.Program(workgroup_size=(0, 1, 1))) == []
    False
    """

    def __str__(self) -> str:
        if not self:
            return "[]"
        texts = [str(diagnostic) for diagnostic in self[:_MOST_SHOWN]]
        for k, (first, second) in enumerate(itertools.pairwise(self[:_MOST_SHOWN])):
            # Both operands of an operator have the same hint, which stands below the second.
            if first.hint and (first.hint, first.place.path) == (second.hint, second.place.path):
                texts[k] = texts[k].removesuffix(f"\n  In Python: {first.hint}")
        more = len(self) - len(texts)
        return "\n".join([*texts, f"... and {more} more, see .diagnostics"] if more else texts)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from vyre._html.mistakes import diagnostics

        return diagnostics(self)


def text_parts(diagnostic: Diagnostic) -> tuple[str, str]:
    """The name of the place and the source lines to show with a diagnostic, which does not store them itself."""
    from vyre._base import source as _source  # only what says something wrong needs it

    return _source.describe(diagnostic.place), _source.excerpt(diagnostic.place)


def table(diagnostic: Diagnostic) -> str:
    """One diagnostic as HTML."""
    from vyre._html.mistakes import diagnostic as form

    return form(diagnostic)
