"""Reads the HTML of a form back into what it tells: facts, tables, code and sentences."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Element:
    """An element with its attributes, and what is in it."""

    tag: str
    attributes: dict[str, str | None]
    contents: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(each if isinstance(each, str) else each.text for each in self.contents)

    def pieces(self) -> list[str]:
        """The texts between tags, but for a style."""
        found = []
        for each in self.contents if self.tag != "style" else []:
            found += [each] if isinstance(each, str) else each.pieces()
        return found

    @property
    def classes(self) -> list[str]:
        return (self.attributes.get("class") or "").split()

    def all(self, tag: str, name: str | None = None) -> list[Element]:
        """The elements of a tag, and of a class, within this one, in their order."""
        found = []
        for each in self.contents:
            if isinstance(each, Element):
                if (tag in ("*", each.tag)) and (name is None or name in each.classes):
                    found.append(each)
                found += each.all(tag, name)
        return found


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag, attrs):
        made = Element(tag, dict(attrs))
        self.open[-1].contents.append(made)
        if tag not in ("meta", "br"):
            self.open.append(made)

    def handle_endtag(self, tag):
        assert self.open.pop().tag == tag

    def handle_data(self, data):
        self.open[-1].contents.append(data)


def parsed(html: str) -> Element:
    """The tree of some HTML, whose elements must all be closed in their order."""
    builder = _Builder()
    builder.feed(html)
    builder.close()
    assert len(builder.open) == 1, [each.tag for each in builder.open]
    return builder.open[0]


@dataclass
class Told:
    """What a form tells.

    Attributes:
        kind, title: its first line.
        facts: values by name.
        tables: the caption, the heads, and rows of texts.
        code: the text of each block of code.
        sentences: the paragraphs.
        whole: the elements.
    """

    kind: str
    title: str
    facts: dict[str, str]
    tables: list[tuple[str, list[str], list[list[str]]]]
    code: list[str]
    sentences: list[str]
    whole: Element


def told(html: str) -> list[Told]:
    """The forms of a sheet; one within another follows it, and counts to the outer one too."""
    tree = parsed(html)
    (root,) = (each for each in tree.contents if isinstance(each, Element))
    assert root.classes == ["vyre"]
    assert [each.tag for each in root.contents[:1]] == ["style"]
    assert len(root.all("style")) == 1
    return [_form(each) for each in root.all("div", "form")]


def _form(form: Element) -> Told:
    top = form.all("div", "top")[0]
    title = top.all("span", "title")
    tables = []
    for table in form.all("table"):
        caption = "".join(each.text for each in table.all("caption"))
        rows = [[cell.text for cell in row.all("td")] for row in table.all("tr") if row.all("td")]
        tables.append((caption, [head.text for head in table.all("th")], rows))
    return Told(
        top.all("span", "kind")[0].text,
        title[0].text if title else "",
        {row.all("dt")[0].text: row.all("dd")[0].text for each in form.all("dl") for row in each.all("div")},
        tables,
        [each.text for each in form.all("div", "code")],
        [each.text for each in form.all("p")],
        form,
    )
