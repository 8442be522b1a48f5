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
        if not self:
            return "<p>The program breaks no rule.</p>"
        rows = [_row(diagnostic) for diagnostic in self[:_MOST_SHOWN]]
        more = len(self) - len(rows)
        if more > 0:
            rows.append(f'<tr><td colspan="3" style="text-align:left">... and {more} more</td></tr>')
        return "<table><tr><th>rule</th><th>where</th><th>what</th></tr>" + "".join(rows) + "</table>"


def _row(diagnostic: Diagnostic) -> str:
    import html

    from vyre import _source

    source = _source.describe(diagnostic.place)
    where = html.escape(diagnostic.place.path) + (f"<br>{html.escape(source)}" if source else "")
    what = html.escape(diagnostic.message)
    excerpt = _source.excerpt(diagnostic.place)
    if excerpt:
        what += f"<pre>{html.escape(excerpt)}</pre>"
    if diagnostic.hint:
        what += ("" if excerpt else "<br>") + f"<b>In Python:</b> {html.escape(diagnostic.hint)}"
    cells = "".join(f'<td style="text-align:left">{cell}</td>' for cell in (html.escape(diagnostic.rule), where, what))
    return f"<tr>{cells}</tr>"


def text_parts(diagnostic: Diagnostic) -> tuple[str, str]:
    """The name of the place and the source lines to show with a diagnostic, which does not store them itself."""
    from vyre import _source  # only what says something wrong needs it

    return _source.describe(diagnostic.place), _source.excerpt(diagnostic.place)


def table(diagnostic: Diagnostic) -> str:
    """One diagnostic as HTML."""
    return f"<table>{_row(diagnostic)}</table>"
