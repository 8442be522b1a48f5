"""The parts of forms: facts, tables, folded parts, and the sheet that holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vyre._html.markup import Content, Markup, element, escaped, joined
from vyre._html.style import css

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Form", "clipped", "code", "counted", "facts", "fix", "folded", "label", "note", "section", "sheet", "table"]

_LONGEST = 400  # letters of one text


class Form(NamedTuple):
    """The form of one object.

    Attributes:
        kind: what it is, in a word or two.
        title: which one it is.
        parts: what else there is to see; empty ones are left out.
        tone: "good", "bad", "open" or nothing: the colour of the kind.
    """

    kind: str
    title: Content
    parts: tuple[Markup, ...] = ()
    tone: str = ""


def sheet(*forms: Form) -> str:
    """Forms one below the other, with their style: a piece of HTML that can stand in any page."""
    return str(element("div", Markup(f"<style>{css()}</style>"), *map(section, forms), class_="vyre"))


def section(form: Form) -> Markup:
    """A form without the style, for a sheet or within another form."""
    top = element(
        "div",
        element("span", form.kind, class_=f"kind {form.tone}".strip()),
        element("span", clipped(form.title), class_="title") if form.title else None,
        class_="top",
    )
    return element("div", top, *form.parts, class_="form")


def facts(rows: Iterable[tuple[str, Content]]) -> Markup:
    """Names with their values in a line; rows without a value are left out."""
    made = [
        element("div", element("dt", name), element("dd", clipped(value)))
        for name, value in rows
        if value is not None and value != ""
    ]
    return element("dl", *made) if made else Markup()


def table(
    heads: Sequence[str], rows: Iterable[Sequence[Content] | str], *, caption: str = "", numbers: Sequence[int] = ()
) -> Markup:
    """Rows of cells; integers stand to the right, as do the columns in `numbers`. A text is a row of its own."""
    made = []
    for row in rows:
        if isinstance(row, str):
            cell = element("td", row, colspan=max(1, len(heads)), class_="soft")
            made.append(element("tr", cell))
        else:
            cells = [
                element("td", _cell(cell), class_="n" if isinstance(cell, int) or k in numbers else None)
                for k, cell in enumerate(row)
            ]
            made.append(element("tr", *cells))
    titles = [element("th", name, class_="n" if k in numbers else None) for k, name in enumerate(heads)]
    whole = joined(
        element("caption", clipped(caption)) if caption else None,
        element("thead", element("tr", *titles)) if any(heads) else None,
        element("tbody", *made),
    )
    return element("div", element("table", whole), class_="wide")


def _cell(cell: Content) -> Content:
    return f"{cell:,}" if isinstance(cell, int) and not isinstance(cell, bool) else clipped(cell)


def folded(summary: Content, *parts: Content, is_open: bool = False) -> Markup:
    """Parts behind a line that opens them."""
    inner = joined(element("summary", summary), *parts)
    return Markup(f"<details{' open' if is_open else ''}>{inner}</details>")


def note(text: Content, tone: str = "soft") -> Markup:
    """A sentence below the rest; nothing for an empty one."""
    return element("p", clipped(text, 4 * _LONGEST), class_=tone) if text else Markup()


def fix(text: Content, name: str = "Fix") -> Markup:
    """Write what to do about a mistake; an empty text gives an empty part."""
    return element("p", element("b", f"{name}: ", class_="good"), clipped(text, 4 * _LONGEST)) if text else Markup()


def label(text: Content, tone: str) -> Markup:
    """A word in a colour: "good", "bad", "open" or "soft"."""
    return element("span", text, class_=tone)


def code(text: Content) -> Markup:
    """A name or a short piece of code within a line."""
    return element("code", clipped(text))


def clipped(content: Content, most: int = _LONGEST) -> Content:
    """A text that is not too long, with an ellipsis where it was cut; finished HTML as it is."""
    if isinstance(content, str) and not isinstance(content, Markup) and len(content) > most:
        return escaped(f"{content[: most - 1]}…")
    return content


def counted(count: int, name: str) -> str:
    """A count with its unit.

    >>> counted(1, "call"), counted(2000, "byte")
    ('1 call', '2,000 bytes')
    """
    return f"{count:,} {name}{'' if count == 1 else 's'}"
