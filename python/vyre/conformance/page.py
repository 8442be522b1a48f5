"""A certificate as HTML: one page without outside parts, readable in light and dark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre._html.markup import Content, Markup, element, escaped, joined
from vyre._html.parts import Form, code, facts, folded, label, sheet, table
from vyre.conformance.case import LEVELS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vyre.conformance.certificate import Certificate

_COUNTS = ("passed", "allowed", "failed", "nondeterministic", "skipped")
_MOST_ROWS = 40
_TONES = {
    **dict.fromkeys(("passed", "allowed"), "good"),
    **dict.fromkeys(("failed", "nondeterministic"), "bad"),
    **dict.fromkeys(("incomplete", "skipped"), "open"),
}


def fragment(certificate: Certificate) -> str:
    """The certificate for notebooks: of long lists the first rows."""
    return sheet(_form(certificate, _MOST_ROWS))


def page(certificate: Certificate) -> str:
    """The certificate as a page of its own."""
    place = certificate.content["target"]
    title = escaped(f"vyre conformance: {place.get('device', place['backend'])}")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>html{{color-scheme:light dark}}body{{margin:0}}\n"
        "main>.vyre.vyre{max-width:none;min-height:100vh;margin:0;border:0;border-radius:0;font-size:15px;"
        "padding:2em max(1.2em,calc(50vw - 36em))}main .vyre.vyre :is(table,code){font-size:13px}"
        f"</style>\n</head>\n<body><main>\n{sheet(_form(certificate))}\n</main></body>\n</html>\n"
    )


def _verdict(word: str) -> Markup:
    return label(word, _TONES.get(word, "soft"))


def _short(hash: str) -> Markup:
    return element("code", hash[:12], title=hash) if hash else Markup()


def _others(versions: dict[str, str]) -> str:
    """The versions that the expected bytes were computed with."""
    return ", ".join(f"{name} {version}" for name, version in sorted(versions.items()) if name != "vyre")


def _summary(certificate: Certificate) -> Markup:
    """The verdicts of the levels that were run, the bad ones first."""
    by_verdict: dict[str, list[str]] = {}
    for name in certificate.asked:
        by_verdict.setdefault(certificate.levels[name], []).append(name)
    order = [word for word in ("failed", "incomplete", "passed") if word in by_verdict]
    parts = [joined(", ".join(by_verdict[word]), " ", _verdict(word)) for word in order]
    return element("p", Markup("; ".join(parts)))


def _form(certificate: Certificate, most: int | None = None) -> Form:
    """Write what a certificate tells, with every row of its lists or the first `most`."""
    content = certificate.content
    place: dict[str, Any] = content["target"]
    runs = "once" if certificate.runs == 1 else f"{certificate.runs} times"
    parts = [
        _summary(certificate),
        facts(
            [
                ("backend", place["backend"]),
                ("driver", place.get("driver")),
                ("kind", place.get("kind")),
                ("vyre", content["versions"]["vyre"]),
                ("expected bytes by", _others(content["versions"])),
                ("each case was run", runs),
            ]
        ),
        table(["level", "what it says", "verdict", *_COUNTS], _level_rows(certificate), numbers=range(3, 8)),
        *_special_cases(certificate, most),
    ]
    values = [(key, value) for part in ("probes", "limits") for key, value in place.get(part, {}).items()]
    if values:
        rows = [[code(key), code(str(value))] for key, value in values]
        parts.append(folded("Probes and limits of the device", table(["name", "value"], rows)))
    cases = [
        [code(row["id"]), _verdict(row["status"]), *(_short(row[key]) for key in ("program", "inputs", "output"))]
        for row in certificate.cases
    ]
    heads = ["case", "status", "program", "inputs", "output"]
    parts.append(folded(f"All {len(certificate.cases)} cases", _list(heads, cases, most)))
    hashes = [[code(name), _short(hash)] for part in ("tables", "operations") for name, hash in content[part].items()]
    parts.append(folded("Hashes of tables and operations", _list(["name", "SHA-256"], hashes, most)))
    hash = joined("SHA-256 of the content ", code(content["sha256"]), ": it shows damage, it is no signature. ")
    parts.append(element("p", hash, code("vyre conform --verify"), " runs every case again.", class_="soft"))
    return Form("Certificate", str(place.get("device", place["backend"])), tuple(parts))


def _list(heads: Sequence[str], rows: Sequence[Sequence[Content]], most: int | None, caption: str = "") -> Markup:
    shown: list[Sequence[Content] | str] = list(rows[:most])
    if len(rows) > len(shown):
        shown.append(f"… {len(rows) - len(shown):,} more, which to_html() has")
    return table(heads, shown, caption=caption)


def _level_rows(certificate: Certificate) -> Iterator[list[Content]]:
    levels = certificate.content["levels"]
    for name, verdict in certificate.levels.items():
        counts = [levels[name].get(key, "") for key in _COUNTS]
        yield [name, LEVELS[name].title, _verdict(verdict), *counts]


def _special_cases(certificate: Certificate, most: int | None) -> Iterator[Markup]:
    """The cases that did not pass, and those with several allowed outcomes."""
    wrong = [
        [code(row["id"]), _verdict(row["status"]), row.get("reason", "")]
        for status in ("failed", "nondeterministic", "skipped")
        for row in certificate.cases
        if row["status"] == status
    ]
    if wrong:
        yield _list(["case", "status", "why"], wrong, most, "Cases that did not pass")
    allowed = [row for row in certificate.cases if row["status"] == "allowed"]
    noted = [[code(row["id"]), row["note"]] for row in allowed if "note" in row]
    if noted:
        yield _list(["case", "here"], noted, most, "What the documents allow, and this place does")
    if allowed:
        rows = [[code(row["id"]), row.get("checks", "")] for row in allowed]
        checks = _list(["case", "what was checked"], rows, most)
        yield folded(f"All {len(allowed)} cases with several allowed outcomes", checks)
