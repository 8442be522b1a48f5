"""The forms of what checked execution, repetition and bisection found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from vyre._html.code import text_form
from vyre._html.markup import Content, Markup, element
from vyre._html.parts import Form, code, counted, facts, fix, label, note, sheet, table

if TYPE_CHECKING:
    from vyre._arrays.checked import _Reported
    from vyre._arrays.reports import RaceReport, Report, Witness
    from vyre._tools.divergence import Divergence
    from vyre._tools.procedure_bisect import ProcedureDivergence
    from vyre._tools.repeat import RepeatResult

__all__ = ["divergence", "procedure_divergence", "repetition", "report", "result"]

_MOST_SHOWN = 20


def report(shown: Report) -> str:
    return sheet(report_form(shown))


def report_form(shown: Report) -> Form:
    """Show what happened and where, a picture of a race, and what to do."""
    from vyre._html.races import picture

    witnesses = [(name, getattr(shown, name)) for name in ("first", "second", "witness") if hasattr(shown, name)]
    if witnesses:
        lines: list[Markup] = [note(line, "") for line in (shown.step.lines() if shown.step else ())]
        heads = ["", "invocation", "workgroup", "does", "at", "statement"]
        lines.append(table(heads, [_witness_row(name, each) for name, each in witnesses]))
    else:
        lines = [note(line, "") for line in shown._lines()]
    drawn = picture(cast("RaceReport", shown)) if shown.check == "race" else Markup()
    tone = "open" if shown.check == "order-dependence" else "bad"
    return Form(shown.check, shown._title(), (drawn, *lines, fix(shown._fix())), tone)


def _witness_row(name: str, each: Witness) -> list[Content]:
    from vyre._base import source as _source

    place = each.place
    source = "" if place.file is None or place.line is None else _source.source_line(place.file, place.line).strip()
    # Lines before the last one define subexpressions that the statement shares.
    text = source or each.statement.rpartition("\n")[2]
    where = _source.describe(place, columns=False)
    return [
        {"witness": ""}.get(name, name),
        str(each.invocation),
        str(each.workgroup),
        label(each._does(), ""),
        code(f"{where} ({place.path})" if where else place.path),
        element("code", text_form(text if len(text) <= 100 else f"{text[:99]}…")),
    ]


def result(shown: _Reported) -> str:
    return sheet(*result_forms(shown))


def result_forms(shown: _Reported) -> list[Form]:
    forms = [Form("Check", shown._title(), tone="good" if shown.ok else "bad")]
    forms += [report_form(each) for each in shown.reports[:_MOST_SHOWN]]
    if len(shown.reports) > _MOST_SHOWN:
        forms.append(Form("", f"… {len(shown.reports) - _MOST_SHOWN:,} more in .reports"))
    return forms


def repetition(shown: RepeatResult) -> str:
    title, _, action = str(shown).partition(" Fix: ")
    parts: tuple[Markup, ...] = ()
    found = shown.difference
    if found is not None:
        rows: list[list[Content]] = [
            [f"run {run}", found.schedules[k] if found.schedules else "", code(found.values[k])]
            for k, run in enumerate(found.runs)
        ]
        heads = ["", "order" if found.schedules else "", f"{found.buffer}[{found.index}]"]
        parts = (table(heads, rows), fix(action))
    return sheet(Form("Repeat", title, parts, "good" if shown.ok else "bad"))


def divergence(shown: Divergence) -> str:
    return sheet(divergence_form(shown))


def divergence_form(shown: Divergence) -> Form:
    """The first value that two backends disagree on, and where it is computed."""
    if shown.place is None:
        first, _, more = str(shown).partition("\nNote: ")
        problem, _, action = first.partition(" Fix: ")
        return Form("Divergence", problem, (fix(action), note(more)), "bad")
    from vyre._base import source as _source

    source = _source.describe(shown.place, columns=False)
    names = " and ".join(shown.values)
    values: list[list[Content]] = [[name, code(value)] for name, value in shown._value_texts()]
    parts = (
        facts(
            [
                ("invocation", str(shown.invocation)),
                ("workgroup", str(shown.workgroup)),
                ("after", counted(shown.phase, "barrier")),
                ("in the program", code(shown.place.path)),
                ("in the source", code(source) if source else None),
            ]
        ),
        facts([("statement", element("code", text_form(shown.statement.rpartition("\n")[2])))]),
        facts([("expression", element("code", text_form(shown.expression)))]),
        table(["backend", "value"], values),
        facts([("output", code(str(shown.output)))]),
        note(shown.note),
    )
    return Form("Divergence", f"{names} first differ here", parts, "bad")


def procedure_divergence(shown: ProcedureDivergence) -> str:
    names = " and ".join(shown.output.values)
    if shown.step is None:
        return sheet(Form("Divergence", f"{names} differ at {shown.output}.", (note(shown.note),), "bad"))
    rows: list[tuple[str, Any]] = [("array", shown.array), ("output", shown.output)]
    parts = (
        *(note(f"called at {file}:{line}") for file, line in shown.step.callers),
        facts([(name, code(str(value))) for name, value in rows if value is not None]),
        note(shown.note),
    )
    forms = [Form("Divergence", f"{names} first differ after {shown.step}", parts, "bad")]
    if shown.dispatch is not None:
        forms.append(divergence_form(shown.dispatch))
    return sheet(*forms)
