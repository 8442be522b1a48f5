"""What ``--sarif`` prints: faults as SARIF 2.1.0, which code hosts and editors read.

A log has one run. Its rules are rows of the core's tables; a result has the place in the user's source where that is
known, and the place in the program as a logical location. Results are printed one by one, because a scan may find more
than fits into memory.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import vyre
from vyre._arrays.reports import DivergentBarrierReport, OrderDependenceReport
from vyre._base import source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from vyre._arrays.reports import Report

__all__ = ["location", "of_diagnostics", "of_reports", "print_sarif", "result", "rule", "tables"]

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"  # the name that code hosts know


def rule(id: str, title: str, checks: str, why: str, level: str) -> dict[str, Any]:
    """A rule as the log describes it; the level is error, warning or note."""
    made: dict[str, Any] = {
        "id": id,
        "shortDescription": {"text": title},
        "fullDescription": {"text": checks},
        "defaultConfiguration": {"level": level},
    }
    if why:
        made["help"] = {"text": why}
    return made


def tables() -> list[dict[str, Any]]:
    """The rules of programs, the notes and the checks."""
    known = vyre._core._tables
    made = [rule(id, title, checks, why, "error") for id, title, checks, why in known["rules"]]
    made += [rule(id, title, checks, why, "warning") for id, title, checks, why, *_ in known["notes"]]
    for name, finds, _ in known["checks"]:
        made.append(rule(name, name.replace("-", " ").replace("_", " ").capitalize(), f"Finds {finds}.", "", "error"))
    return made


def location(path: str, region: Mapping[str, int] | None = None) -> dict[str, Any]:
    """A file, as Python decodes names of the system, and a part of it."""
    whole = os.path.realpath(path)
    below = os.path.relpath(whole)
    # Code hosts know files by their paths from the root of the sources.
    if below.startswith(os.pardir):
        artifact = {"uri": f"file://{quote(os.fsencode(whole))}"}
    else:
        artifact = {"uri": quote(os.fsencode(below)), "uriBaseId": _ROOT}
    physical: dict[str, Any] = {"artifactLocation": artifact}
    if region:
        physical["region"] = dict(region)
    return {"physicalLocation": physical}


def _location_of(place: vyre.Place, program: str) -> dict[str, Any]:
    """A place in the user's source, or else the file of the program."""
    made = location(program)
    if place.file is not None and place.line is not None and not place.file.startswith("<"):
        region = {"startLine": place.line}
        first, last = source.columns_of(place, source.source_line(place.file, place.line))
        if first < last:
            region.update(startColumn=first + 1, endColumn=last + 1)
        made = location(place.file, region)
    made["logicalLocations"] = [{"fullyQualifiedName": place.path}]
    return made


def of_diagnostics(found: Iterable[vyre.Diagnostic], program: str, level: str) -> Iterator[dict[str, Any]]:
    """Broken rules or notes of the program that the file ``program`` holds, as results."""
    for each in found:
        text = each.message + (f"\nIn Python: {each.hint}" if each.hint else "")
        yield result(each.rule, level, text, [_location_of(each.place, program)])


def of_reports(found: Iterable[Report], program: str) -> Iterator[dict[str, Any]]:
    """What checked execution found, as results: where the mistake is, and the other statements that take part."""
    for report in found:
        told = _told(report)
        places = [{**_location_of(place, program), "message": {"text": text}} for place, text in told]
        made = result(report.check, "error", str(report), places[:1] or [location(program)])
        if places[1:]:
            made["relatedLocations"] = [{"id": number, **each} for number, each in enumerate(places[1:], 1)]
        yield made


def _told(report: Report) -> list[tuple[vyre.Place, str]]:
    """The statements that a report names, and what it says of each."""
    if isinstance(report, OrderDependenceReport):
        return [(place, "the result or the order of this atomic counts") for place in report.atomics]
    if isinstance(report, DivergentBarrierReport):
        return [(stop.place, str(stop)) for stop in report.stops if stop.place]
    witnesses = [getattr(report, name, None) for name in ("first", "second", "witness")]
    return [(each.place, str(each)) for each in witnesses if each is not None]


def result(id: str, level: str, text: str, locations: list[dict[str, Any]]) -> dict[str, Any]:
    """A result of the rule ``id``, without the rule's number, which the log adds."""
    return {"ruleId": id, "level": level, "message": {"text": text}, "locations": locations}


def print_sarif(
    rules: Iterable[dict[str, Any]], results: Iterable[dict[str, Any]], troubles: Iterable[str] = ()
) -> int:
    """Print a log, and give how many results it has.

    Args:
        rules: what the results may name.
        troubles: what kept the command from seeing everything; asked for after the results.
    """
    described = list(rules)
    index = {each["id"]: number for number, each in enumerate(described)}
    driver = {"name": "vyre", "semanticVersion": vyre.__version__, "rules": described}
    root = f"file://{quote(os.fsencode(Path.cwd())).rstrip('/')}/"
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"uri": root}},
    }
    begin = f'{{"$schema": {json.dumps(SCHEMA)}, "version": "2.1.0", "runs": ['
    print(begin, json.dumps(run)[:-1], ', "results": [', sep="", end="")
    count = 0
    for count, each in enumerate(results, 1):
        found = {**each, "ruleIndex": index[each["ruleId"]]}
        print(", " if count > 1 else "", json.dumps(found), sep="", end="")
    told = [{"level": "error", "message": {"text": text}} for text in troubles]
    ended: dict[str, Any] = {"executionSuccessful": not told}
    if told:
        ended["toolExecutionNotifications"] = told
    print(f'], "invocations": [{json.dumps(ended)}]}}]}}')
    return count
