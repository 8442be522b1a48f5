"""HTML as strings that know whether they are finished: what is not is escaped."""

from __future__ import annotations

from html import escape
from typing import TypeAlias

__all__ = ["Content", "Markup", "element", "escaped", "joined"]


class Markup(str):
    """Finished HTML, which is not escaped again."""

    __slots__ = ()


Content: TypeAlias = "str | int | None"


def escaped(content: Content) -> Markup:
    """HTML that shows a text as it is; finished HTML stays. Characters that show nothing are written as in Python.

    >>> escaped("a < b\\u202e\\x00")
    'a &lt; b\\\\u202e\\\\x00'
    """
    if isinstance(content, Markup):
        return content
    text = "" if content is None else str(content)
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)
    return Markup(escape(text, quote=True))


def joined(*contents: Content) -> Markup:
    """Contents one after the other.

    >>> joined("<", Markup("<br>"))
    '&lt;<br>'
    """
    return Markup("".join(map(escaped, contents)))


def element(name: str, *contents: Content, **attributes: Content) -> Markup:
    """An element. An attribute that is a word of Python's ends with `_`; one of None is left out.

    >>> element("td", "<b>", class_="n")
    '<td class="n">&lt;b&gt;</td>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{written}>{joined(*contents)}</{name}>")
