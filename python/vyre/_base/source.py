"""The user's source for a reader: what a place is called, and its line with the columns underlined.

Nothing here raises, and no more is read than an ordinary source file: a place may come from a pickle, a replay file or
another machine, and the file may have changed since it ran. The source of a function that was pickled comes with it.
"""

from __future__ import annotations

import linecache
import os
import re
import stat
import sys
import unicodedata
from types import CodeType
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from vyre._core import Place

PACKAGE = f"{os.path.split(os.path.split(__file__)[0])[0]}{os.sep}"  # the folder of vyre
_LARGEST_FILE = 4 << 20
_LONGEST_LINE = 100
_OLD_CELL = r"<ipython-input-(\d+)-[0-9a-f]+>"

# The lines of a function's file as they were when it was first read: the file may change afterwards.
_NOTED: WeakKeyDictionary[CodeType, list[str]] = WeakKeyDictionary()


def note_source(code: CodeType, lines: list[str]) -> None:
    """Note the lines of the file that a function comes from."""
    _NOTED.setdefault(code, lines)


def source_of(code: CodeType) -> tuple[str, list[str]]:
    """The file of a function's code, and the lines of the file; none where they cannot be read."""
    lines = _NOTED.get(code) or _lines(code.co_filename)
    number = cell(code.co_filename)
    # Another process does not know the files of a notebook's cells.
    return (f"<ipython-input-{number}-{_digest(lines)}>" if number else code.co_filename), lines


def placed(code: CodeType, file: str, lines: list[str]) -> CodeType:
    """The code of a function that came with the lines of its file, under a file name that has these lines here."""
    here = _lines(file)
    if lines and here != lines:
        file = f"{file} (pickled {_digest(lines)})" if here else file
        linecache.cache[file] = 0, None, lines, file
    return code if code.co_filename == file else _renamed(code, file)


def _renamed(code: CodeType, file: str) -> CodeType:
    """Python limits how deep functions stand in each other."""
    inner = (_renamed(each, file) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_filename=file, co_consts=tuple(inner))


def _digest(lines: list[str]) -> str:
    from hashlib import blake2b  # a process that pickles nothing starts faster without

    return blake2b("".join(lines).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def source_line(file: str, line: int) -> str:
    """The line as it stands in the file or the notebook's cell; empty when it cannot be read."""
    lines = _lines(file)
    return lines[line - 1].rstrip() if 1 <= line <= len(lines) else ""


def _lines(file: str) -> list[str]:
    try:
        if not (file.startswith("<") and file.endswith(">")):
            linecache.checkcache(file)
            if file not in linecache.cache and not _is_source(file):
                return []
        return linecache.getlines(file)
    except Exception:  # a message is shown even when a loader or a broken file raises
        return []


def _is_source(file: str) -> bool:
    # Only regular files are read, because others may have no end.
    if not file.endswith((".py", ".pyw")):
        return False
    from pathlib import Path  # it takes milliseconds to import

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
    return f"Cell In[{number}]" if number else os.path.split(file)[1]


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
    found = re.fullmatch(_OLD_CELL, file)
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
