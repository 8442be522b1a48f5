"""The forms of diagnostics and errors: the rule, the place with its line, what is wrong and what to write instead."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vyre._html.code import excerpt
from vyre._html.markup import Markup, element
from vyre._html.parts import Form, clipped, code, counted, facts, fix, sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre._core import Diagnostic
    from vyre.errors import VyreError

__all__ = ["diagnostic", "diagnostics", "error"]

_MOST_SHOWN = 20
_LONGEST = 8000  # letters of what stands below the first line of a message


def diagnostic(shown: Diagnostic) -> str:
    return sheet(diagnostic_form(shown))


def diagnostic_form(shown: Diagnostic) -> Form:
    from vyre._base import source as _source

    place = shown.place
    problem, action = _split(re.sub(r"^vyre (IR validation|IR note|kernel): ", "", shown.message))
    source = _source.describe(place)
    parts = (
        facts([("in the program", code(place.path)), ("in the source", code(source) if source else None)]),
        excerpt(_source.excerpt(place)),
        fix(action),
        fix(shown.hint, "In Python"),
    )
    return Form(shown.rule, problem, parts, "open" if shown.rule.startswith("N") else "bad")


def diagnostics(shown: Sequence[Diagnostic]) -> str:
    return sheet(*diagnostic_forms(shown))


def diagnostic_forms(shown: Sequence[Diagnostic]) -> list[Form]:
    if not shown:
        return [Form("Diagnostics", "The program breaks no rule.", tone="good")]
    return [Form("Diagnostics", _rules(shown)), *_first(shown)]


def _rules(shown: Sequence[Diagnostic]) -> str:
    """How many there are, and their rules."""
    rules = ", ".join(dict.fromkeys(each.rule for each in shown[:_MOST_SHOWN]))
    return f"{counted(len(shown), 'diagnostic')}: {rules}{', …' if len(shown) > _MOST_SHOWN else ''}"


def _first(shown: Sequence[Diagnostic]) -> list[Form]:
    forms = [diagnostic_form(each) for each in shown[:_MOST_SHOWN]]
    if len(shown) > _MOST_SHOWN:
        forms.append(Form("", f"… {len(shown) - _MOST_SHOWN:,} more"))
    return forms


def error(shown: VyreError) -> str:
    """An error: its class, the problem and the Fix; with the diagnostics or the reports that it holds."""
    kind = type(shown).__name__
    broken, checked = getattr(shown, "diagnostics", None), getattr(shown, "result", None)
    if broken is not None:
        return sheet(Form(kind, _rules(broken), tone="bad"), *_first(broken))
    if checked is not None:
        from vyre._html.reports import result_forms

        return sheet(Form(kind, "the run made mistakes", tone="bad"), *result_forms(checked))
    problem, action = _split(str(shown))
    first, _, more = problem.partition("\n")
    rest = element("pre", clipped(more, _LONGEST)) if more else Markup()
    return sheet(Form(kind, first, (rest, fix(action)), "bad"))


def _split(message: str) -> tuple[str, str]:
    """The problem and the action of `<problem>. Fix: <action>.`"""
    problem, _, action = message.partition(". Fix: ")
    return (f"{problem}." if action and not problem.endswith(".") else problem), action
