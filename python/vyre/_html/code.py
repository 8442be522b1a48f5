"""Code as forms show it: words in colours, and blocks that fold.

Colours are found by one pattern for each language, which never fails: what it does not know stays as it is.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from vyre._base.types import TYPES
from vyre._html.markup import Markup, element, escaped, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["blocks", "excerpt", "python", "text_form"]

MOST_LINES = 160
_LONGEST_LINE = 300
_DEEPEST_FOLD = 6

# `vec2<u32>` before `u32`.
_TYPES = "|".join(sorted((re.escape(info.text) for info in TYPES.values()), key=len, reverse=True))
# Groups of a pattern are named as the classes of style.py: words, types, digits, functions, strings, comments.
_TEXT_FORM = re.compile(
    rf"""(?P<s>"(?:\\.|[^"\\])*")
    # Only where they begin a line, or stand where no name can: an array may be called `scratch`.
    |(?P<w>^[ ]*(?:let|if|loop|block|barrier|return|break|repeat|when|dispatch|invoke|swap|clear
      |program|procedure|size|number|input|output|in_out|scratch|table)\b(?![ ]*[=\[])
      |(?<=\}}[ ])(?:else|otherwise)\b|\bin\b(?=[ ]\S+\.\.)|\b(?:program|procedure)(?=[ ]\d+[ ]\()
      |(?<=\)[ ])workgroups\b|(?<=\][ ])zeros$)
    |(?P<t>(?<![\w"])(?:{_TYPES})(?!\w))
    |(?P<d>\b\d\w*\b|%\d+\b|\b(?:true|false)\b)
    |(?P<f>\b\w+(?=\())
    |(?P<c>\#.*)""",
    re.VERBOSE,
)
_SPELLED = "|".join(info.spelled for info in TYPES.values() if info.kind != "opaque")
_PYTHON = re.compile(
    rf"""(?P<c>\#.*)
    |(?P<s>(?:(?<!\w)[rbfRBF]{{1,2}})?(?:\"\"\".*?\"\"\"|'''.*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    |(?P<w>\b(?:def|if|elif|else|for|in|while|return|break|continue|pass|and|or|not|is|lambda|import|from|as|with|global
      |nonlocal|assert|del|True|False|None)\b)
    |(?P<t>\b(?:In|InOut|Out|{_SPELLED}|const)\b|^[ \t]*@[\w.]+)
    |(?P<d>\b\d\w*\b)
    |(?P<f>\b\w+(?=\())""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def _coloured(text: str, pattern: re.Pattern[str]) -> Markup:
    parts: list[Markup] = []
    end = 0
    for found in pattern.finditer(text):
        parts += [escaped(text[end : found.start()]), element("span", found[0], class_=found.lastgroup)]
        end = found.end()
    return joined(*parts, escaped(text[end:]))


def text_form(text: str) -> Markup:
    """A piece of the text form of programs and procedures, in colours."""
    return _coloured(text, _TEXT_FORM)


def python(text: str) -> Markup:
    """A block of Python in colours."""
    lines = text.splitlines()
    shown = _coloured("\n".join(_line(line) for line in lines[:MOST_LINES]), _PYTHON)
    return element("div", shown, _left_out(len(lines)), class_="code")


def excerpt(text: str) -> Markup:
    """A line of Python with the line that underlines its columns, as `_source.excerpt` gives them."""
    if not text:
        return Markup()
    line, _, under = text.partition("\n")
    marks = joined("\n", element("span", under[4:], class_="at")) if under else None
    return element("div", _coloured(line[4:], _PYTHON), marks, class_="code")


def blocks(text: str, *, closed: Callable[[str], bool] = lambda line: False) -> Markup:
    """Lines of the text form, in colours; what stands between braces folds, and is closed where `closed` says so.

    Of a long text the first lines are shown.
    """
    lines = text.split("\n") if text else []
    made = Markup("".join(_folding(islice(lines, MOST_LINES), closed)))
    return element("div", made, _left_out(len(lines)), class_="code folds")


def _folding(lines: Iterator[str], closed: Callable[[str], bool]) -> Iterator[str]:
    """The lines, each block within `details`: it begins with a line that ends with `{`, and ends before its `}`."""
    depth = 0
    fresh = True  # whether the next line begins a block of its own: no line break stands before it
    for line in lines:
        bare = line.strip()
        if bare.startswith("}"):
            if 0 < depth <= _DEEPEST_FOLD:
                yield "</details>"
                fresh = True
            depth = max(0, depth - 1)
        shown = text_form(_line(line))
        if bare.endswith("{"):
            depth += 1
            if depth <= _DEEPEST_FOLD:
                yield f"<details{'' if closed(bare) else ' open'}><summary>{shown}</summary>"
                fresh = True
                continue
        yield f"{'' if fresh else chr(10)}{shown}"
        fresh = False
    yield "</details>" * min(depth, _DEEPEST_FOLD)


def _line(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 1]}…"


def _left_out(count: int) -> Markup:
    more = count - MOST_LINES
    if more <= 0:
        return Markup()
    return element("div", f"… {more:,} more line{'' if more == 1 else 's'}", class_="soft")
