"""The picture of a race: two invocations, and between them the element that both access in no order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre._html.markup import Markup, escaped

if TYPE_CHECKING:
    from vyre._arrays.reports import RaceReport, Witness

__all__ = ["picture"]

_WIDTH, _HEIGHT = 660, 132
_BOX, _BOX_HEIGHT, _BOX_TOP = 210, 64, 64  # of an invocation
_CELL, _CELL_TOP = 36, 34  # of an element
_BEFORE = 2  # elements shown before the one that is raced for; a report does not say whether there is one after it
_LONGEST = 30  # letters of a line


def picture(report: RaceReport) -> Markup:
    """An SVG: the elements of the buffer above, an invocation on each side, and an arrow from each to the element.

    A write ends in an arrow at the element, a read in a circle, and an atomic in both.
    """
    raced = (_WIDTH - _CELL) / 2
    parts = [_text(_WIDTH / 2, 14, report.buffer, "bold")]
    for index in range(max(0, report.index - _BEFORE), report.index + 1):
        x, here = raced - (report.index - index) * _CELL, index == report.index
        parts.append(_text(x + _CELL / 2, _CELL_TOP - 5, str(index), "bold" if here else "soft", size=10))
        fill = 'fill="var(--bad)" fill-opacity="0.3"' if here else 'fill="none"'
        parts.append(
            f'<rect x="{x:g}" y="{_CELL_TOP}" width="{_CELL}" height="22" {fill} stroke="var(--soft)" rx="2"/>'
        )
    parts += _witness(report.first, "first", 1, raced + 10, 1)
    parts += _witness(report.second, "second", _WIDTH - _BOX - 1, raced + _CELL - 10, -1)
    parts.append(_text(_WIDTH / 2, _HEIGHT - 8, "nothing orders them", "bad"))
    told = f"{_told(report.first)} and {_told(report.second)} in no order"
    return Markup(
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="system-ui,sans-serif" font-size="12" fill="currentColor">'
        f"<title>{escaped(told)}</title>{''.join(parts)}</svg>"
    )


def _told(witness: Witness) -> str:
    return f"{witness.access} by invocation {witness.invocation}"


def _witness(witness: Witness, name: str, x: float, target: float, side: int) -> list[str]:
    """A box with what an invocation does, and its line to the element at `target`; `side` is 1 from the left."""
    middle = x + _BOX / 2
    edge = x + _BOX if side > 0 else x
    y, end = _BOX_TOP + _BOX_HEIGHT / 2, _CELL_TOP + 25
    reads, writes = witness.access != "write", witness.access != "read"
    tip = f"M{target - 4:g} {end + 7}L{target:g} {end}L{target + 4:g} {end + 7}" if writes else ""
    return [
        f'<rect x="{x:g}" y="{_BOX_TOP}" width="{_BOX}" height="{_BOX_HEIGHT}" fill="var(--band)" '
        'stroke="var(--line)" rx="4"/>',
        _text(middle, _BOX_TOP + 18, f"{name}: invocation {witness.invocation}", "bold"),
        _text(middle, _BOX_TOP + 36, f"of workgroup {witness.workgroup}", "soft"),
        _text(middle, _BOX_TOP + 54, witness._does(), ""),
        f'<path d="M{edge:g} {y:g}H{target:g}V{end}{tip}" fill="none" stroke="var(--bad)" stroke-width="1.5"/>',
        f'<circle cx="{target:g}" cy="{end + (12 if writes else 3)}" r="3" fill="var(--bad)"/>' if reads else "",
    ]


_STYLES = {
    "": "",
    "bold": ' font-weight="600"',
    "soft": ' fill="var(--soft)"',
    "bad": ' fill="var(--bad)" font-weight="600"',
}


def _text(x: float, y: float, text: str, style: str, size: int = 12) -> str:
    short = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return f'<text x="{x:g}" y="{y:g}" text-anchor="middle" font-size="{size}"{_STYLES[style]}>{escaped(short)}</text>'
