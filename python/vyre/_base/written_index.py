"""The indices of an access as the user's source writes them, for reports that know the element alone.

An array of several axes is one buffer: an index that is out of range on any axis is reported as element 2^32 - 1,
which the source does not have. The access is found again in the source line at the report's place.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from vyre._base.parsing import syntax_tree
from vyre._base.source import source_line

if TYPE_CHECKING:
    from vyre._core import Place

__all__ = ["written_accesses"]


def written_accesses(place: Place, array: str) -> list[list[str]]:
    """The indices of each access of an array in a line, equal ones once; empty where the line cannot be read."""
    if place.file is None or place.line is None:
        return []
    line = source_line(place.file, place.line).strip()
    if line.endswith(":"):
        line += " pass"
    try:
        tree = syntax_tree(line.removeprefix("el") if line.startswith("elif ") else line)
    except (SyntaxError, ValueError):
        return []
    found = [
        each.slice.elts if isinstance(each.slice, ast.Tuple) else [each.slice]
        for each in ast.walk(tree)
        if isinstance(each, ast.Subscript) and isinstance(each.value, ast.Name) and each.value.id == array
    ]
    texts = [tuple(ast.unparse(index) for index in indices) for indices in found]
    return [list(each) for each in dict.fromkeys(texts)]
