"""The user's source for a reader: what a place is called, and its line with the columns underlined.

Nothing here raises, and no more is read than an ordinary source file: a place may come from a pickle, a replay file or
another machine, and the file may have changed since it ran.
"""

from __future__ import annotations

import linecache
import re
import stat
import sys
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vyre._core import Place

_LARGEST_FILE = 4 << 20
_LONGEST_LINE = 100
_OLD_CELL = re.compile(r"<ipython-input-(\d+)-[0-9a-f]+>")


def source_line(file: str, line: int) -> str:
    """The line as it stands in the file or the notebook's cell; empty when it cannot be read."""
    try:
        if not (file.startswith("<") and file.endswith(">")):
            linecache.checkcache(file)
            if file not in linecache.cache and not _is_source(file):
                return ""
        text = linecache.getline(file, line)
    except Exception:  # a message is shown even when a loader or a broken file raises
        return ""
    return text.rstrip()


def _is_source(file: str) -> bool:
    # Only regular files are read, because others may have no end.
    if not file.endswith((".py", ".pyw")):
        return False
    found = Path(file).stat()
    return stat.S_ISREG(found.st_mode) and found.st_size <= _LARGEST_FILE


def describe(place: Place, columns: bool = True) -> str:
    """``kernel.py:12:9``, or ``Cell In[3], line 2`` in a notebook; empty when the place is not known."""
    if place.file is None or place.line is None:
        return place.file or ""
    number = cell(place.file)
    if number:
        return f"Cell In[{number}], line {place.line}"
    column = "" if place.column is None or not columns else f":{place.column}"
    return f"{place.file}:{place.line}{column}"


def file_name(file: str) -> str:
    """What a sentence calls a file: ``kernel.py``, or ``Cell In[3]`` in a notebook."""
    number = cell(file)
    return f"Cell In[{number}]" if number else Path(file).name


def cell(file: str) -> str:
    """The number of the notebook's cell that was compiled under this file name, or nothing."""
    ipython = sys.modules.get("IPython")
    try:
        shell = None if ipython is None else ipython.get_ipython()
        named = None if shell is None else shell.compile.format_code_name(file)
    except Exception:  # another version of IPython may have no such thing
        named = None
    if named is not None:
        found = re.fullmatch(r"In\[(\d+)\]", named[1])
        return found[1] if found else ""
    found = _OLD_CELL.fullmatch(file)
    return found[1] if found else ""


def excerpt(place: Place) -> str:
    """The source line and a line that underlines the columns, or the line alone, or nothing.

    Both are indented by four; the line's own indentation is left out, and of a long line the part around the columns is
    shown.
    """
    if place.file is None or place.line is None:
        return ""
    line = source_line(place.file, place.line)
    code = line.lstrip()
    if not code.isprintable():
        code = "".join(c if c.isprintable() else " " for c in code)
    if not code:
        return ""
    first, last = columns_of(place, line)
    first, last = first - (len(line) - len(code)), last - (len(line) - len(code))
    if not 0 <= first < last <= len(code):
        return "    " + _cut(code, 0)
    start = 0 if last <= _LONGEST_LINE else max(0, first - 20)
    shown = _cut(code, start)
    before = _width(code[start:first]) + (3 if start else 0)
    under = _width(code[first : min(last, start + _LONGEST_LINE)])
    return f"    {shown}\n    {' ' * before}{'^' * under}"


def columns_of(place: Place, line: str) -> tuple[int, int]:
    """The first and the last column of a place in characters of its line; an empty range when they are not known."""
    if place.column is None:
        return 0, 0
    raw = line.encode("utf-8", "surrogatepass")
    end = len(raw) if place.end_column is None else place.end_column - 1
    if not place.column - 1 < end <= len(raw):
        return 0, 0  # the line is another one than when it ran
    characters = [len(raw[:byte].decode("utf-8", "ignore")) for byte in (place.column - 1, end)]
    return characters[0], characters[1]


def _cut(code: str, start: int) -> str:
    shown = code[start : start + _LONGEST_LINE]
    return ("..." if start else "") + shown + ("..." if start + _LONGEST_LINE < len(code) else "")


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "FW" else 1 for c in text)
