"""A certificate as HTML: one page without outside parts, readable in light and dark."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from vyre.conformance.case import LEVELS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vyre.conformance.certificate import Certificate

_COUNTS = ("passed", "allowed", "failed", "nondeterministic", "skipped")
_STYLE = """\
.vyre-cert{color-scheme:light dark;--ink:#1c2024;--soft:#5d6670;--line:#d5dae0;--sheet:#fff;
 --good:#17682f;--bad:#b3261e;--open:#8a5a00;
 color:var(--ink);background:var(--sheet);font:15px/1.5 system-ui,sans-serif}
@media (prefers-color-scheme:dark){.vyre-cert{--ink:#e6e9ec;--soft:#9aa5b1;--line:#3a424b;--sheet:#16191d;
 --good:#6fd08c;--bad:#ff8a80;--open:#f0c060}}
.vyre-cert h1{font-size:1.5em;margin:0 0 .2em}.vyre-cert h2{font-size:1.1em;margin:1.6em 0 .4em}
.vyre-cert p{margin:.2em 0;color:var(--soft)}
.vyre-cert table{border-collapse:collapse;width:100%;font-size:.93em}
.vyre-cert th,.vyre-cert td{text-align:left;vertical-align:top;padding:.3em .8em .3em 0;
 border-bottom:1px solid var(--line);overflow-wrap:anywhere}
.vyre-cert td:first-child:has(code){min-width:19em}.vyre-cert p.all{font-size:1.1em;margin:.6em 0}
.vyre-cert th{white-space:nowrap;font-weight:600;color:var(--soft)}
.vyre-cert td.n,.vyre-cert th.n{text-align:right;font-variant-numeric:tabular-nums}
.vyre-cert code{font:.9em/1.4 ui-monospace,monospace}.vyre-cert .scroll{overflow-x:auto}
.vyre-cert .passed,.vyre-cert .allowed{color:var(--good)}
.vyre-cert .failed,.vyre-cert .nondeterministic{color:var(--bad);font-weight:600}
.vyre-cert .incomplete,.vyre-cert .skipped{color:var(--open);font-weight:600}
.vyre-cert .open{color:var(--soft);white-space:nowrap}
.vyre-cert summary{cursor:pointer;margin:1em 0 .4em}
"""


def fragment(certificate: Certificate) -> str:
    """The certificate as a part of a page, for notebooks."""
    return f'<div class="vyre-cert"><style>{_STYLE}</style>{_body(certificate)}</div>'


def page(certificate: Certificate) -> str:
    """The certificate as a page of its own."""
    place = certificate.content["target"]
    title = escape(f"vyre conformance: {place.get('device', place['backend'])}")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\nhtml{{color-scheme:light dark}}body{{margin:0}}\n"
        ".vyre-cert{min-height:100vh;box-sizing:border-box;padding:2em max(1.2em,calc(50vw - 36em))}\n"
        f"{_STYLE}</style>\n</head>\n"
        f'<body><main class="vyre-cert">\n{_body(certificate)}\n</main></body>\n</html>\n'
    )


def _row(cells: Iterable[str], *, head: bool = False) -> str:
    tag = "th" if head else "td"
    made = []
    for cell in cells:
        number = cell.isdigit() or (head and cell in _COUNTS)
        made.append(f"<{tag}{' class=n' if number else ''}>{cell}</{tag}>")
    return f"<tr>{''.join(made)}</tr>"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    return f'<div class="scroll"><table>{_row(head, head=True)}{"".join(map(_row, rows))}</table></div>'


def _verdict(word: str) -> str:
    return f'<span class="{word if word in (*_COUNTS, "incomplete") else "open"}">{escape(word)}</span>'


def _code(text: object) -> str:
    return f"<code>{escape(str(text))}</code>"


def _short(hash: str) -> str:
    return f'<code title="{escape(hash, quote=True)}">{escape(hash[:12])}</code>' if hash else ""


def _others(versions: dict[str, str]) -> str:
    """The versions that the expected bytes were computed with."""
    return escape(", ".join(f"{name} {version}" for name, version in sorted(versions.items()) if name != "vyre"))


def _summary(certificate: Certificate) -> str:
    """The verdicts of the levels that were run, the bad ones first."""
    by_verdict: dict[str, list[str]] = {}
    for name in certificate.asked:
        by_verdict.setdefault(certificate.levels[name], []).append(name)
    order = [word for word in ("failed", "incomplete", "passed") if word in by_verdict]
    return "; ".join(f"{escape(', '.join(by_verdict[word]))} {_verdict(word)}" for word in order)


def _body(certificate: Certificate) -> str:
    content = certificate.content
    place: dict[str, Any] = content["target"]
    parts = [
        f"<h1>{escape(str(place.get('device', place['backend'])))}</h1>",
        f"<p>Conformance certificate of vyre {escape(content['versions']['vyre'])}, backend {escape(place['backend'])}"
        + (f", {escape(str(place['driver']))}, {escape(str(place['kind']))}" if "driver" in place else "")
        + f"</p><p>Expected bytes by {_others(content['versions'])}; "
        + f"each case was run {'once' if certificate.runs == 1 else f'{certificate.runs} times'}</p>",
        f'<p class="all">{_summary(certificate)}</p>',
        "<h2>Levels</h2>",
        _table(
            ["level", "what it says", "verdict", *_COUNTS],
            (
                [
                    escape(name),
                    escape(LEVELS[name].title),
                    _verdict(verdict),
                    *(str(content["levels"][name].get(key, "")) for key in _COUNTS),
                ]
                for name, verdict in certificate.levels.items()
            ),
        ),
    ]
    wrong = [
        row
        for status in ("failed", "nondeterministic", "skipped")
        for row in certificate.cases
        if row["status"] == status
    ]
    if wrong:
        parts += [
            "<h2>Cases that did not pass</h2>",
            _table(
                ["case", "status", "why"],
                ([_code(row["id"]), _verdict(row["status"]), escape(row.get("reason", ""))] for row in wrong),
            ),
        ]
    allowed = [row for row in certificate.cases if row["status"] == "allowed"]
    noted = [row for row in allowed if "note" in row]
    if noted:
        parts += [
            "<h2>What the documents allow, and this place does</h2>",
            _table(["case", "here"], ([_code(row["id"]), escape(row["note"])] for row in noted)),
        ]
    if allowed:
        parts += [
            f"<details><summary>All {len(allowed)} cases with several allowed outcomes</summary>",
            _table(
                ["case", "what was checked"], ([_code(row["id"]), escape(row.get("checks", ""))] for row in allowed)
            ),
            "</details>",
        ]
    facts = [(key, value) for part in ("probes", "limits") for key, value in place.get(part, {}).items()]
    if facts:
        parts += [
            "<details><summary>Probes and limits of the device</summary>",
            _table(["name", "value"], ([_code(key), _code(value)] for key, value in facts)),
            "</details>",
        ]
    parts += [
        f"<details><summary>All {len(certificate.cases)} cases</summary>",
        _table(
            ["case", "status", "program", "inputs", "output"],
            (
                [
                    _code(row["id"]),
                    _verdict(row["status"]),
                    *(_short(row[key]) for key in ("program", "inputs", "output")),
                ]
                for row in certificate.cases
            ),
        ),
        "</details>",
        "<details><summary>Hashes of tables and operations</summary>",
        _table(
            ["name", "SHA-256"],
            ([_code(name), _short(hash)] for part in ("tables", "operations") for name, hash in content[part].items()),
        ),
        "</details>",
        f"<p>SHA-256 of the content {_code(content['sha256'])}: it shows damage, it is no signature. "
        "<code>vyre conform --verify</code> runs every case again.</p>",
    ]
    return "\n".join(parts)
