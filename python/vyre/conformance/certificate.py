"""Certificates of a backend: the cases that were run, their bytes, and a verdict for each level."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from vyre.conformance import catalogue
from vyre.conformance.case import LEVELS
from vyre.conformance.format import (
    HEAD,
    AnyCertificate,
    Verification,
    compare,
    edited,
    no_certificate,
    runs_to_verify,
)
from vyre.conformance.hashes import operation_hashes
from vyre.conformance.runner import (
    ALLOWED,
    FAILED,
    NONDETERMINISTIC,
    PASSED,
    RUNS,
    SKIPPED,
    Result,
    Run,
    check_repeat,
    run_cases,
)
from vyre.conformance.runner import target as find_target

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    import vyre

# format -> the statuses that a case can have, and how many runs of each case a level needs to be passed
_STATUSES = {
    1: (PASSED, FAILED, SKIPPED, ALLOWED),
    2: (PASSED, FAILED, NONDETERMINISTIC, SKIPPED, ALLOWED),
}
_RUNS_TO_PASS = {1: 1, 2: RUNS}
FORMAT = 2

# This is called after each case with its result, the number of cases done and the number of all.
Progress = Callable[[Result, int, int], None]


def _fields(format: int) -> dict[Any, Any]:
    hash_if_run = re.compile("(?:[0-9a-f]{64})?")
    case = {
        **{"id": str, "level": tuple(LEVELS), "status": _STATUSES[format]},
        **{"program": hash_if_run, "inputs": hash_if_run, "output": hash_if_run},
        **{"checks?": str, "reason?": str, "note?": str},
    }
    level = {"verdict": str, ...: range(2**32)}
    return {**HEAD, "cases": [case], "levels": dict.fromkeys(LEVELS, level)}


_FIELDS = {1: {key: shape for key, shape in _fields(1).items() if key != "runs"}, FORMAT: _fields(FORMAT)}


def _row(result: Result) -> dict[str, Any]:
    made = result.case
    row = {"id": made.id, "level": made.level, "status": result.status}
    row |= {"program": made.program_hash, "inputs": made.inputs_hash, "output": result.output}
    more = {"checks": made.checks, "reason": result.reason, "note": result.note}
    return row | {key: value for key, value in more.items() if value}


def _verdicts(
    rows: Iterable[Mapping[str, Any]], asked: Iterable[str], runs: int, format: int = FORMAT
) -> dict[str, dict[str, Any]]:
    """The verdict of each level, from its cases and from how often each was run."""
    by_level: dict[str, list[str]] = {name: [] for name in asked}
    for row in rows:
        if row["level"] in by_level:
            by_level[row["level"]].append(row["status"])
    verdicts: dict[str, dict[str, Any]] = {}
    for name, level in LEVELS.items():
        if not level.claimed:
            verdicts[name] = {"verdict": "not claimed"}
            continue
        if name not in by_level:
            verdicts[name] = {"verdict": "not run"}
            continue
        found = by_level[name]
        counts = {status: found.count(status) for status in _STATUSES[format]}
        if counts[FAILED] or counts.get(NONDETERMINISTIC):
            verdict = "failed"
        elif counts[SKIPPED] or not counts[PASSED] or runs < _RUNS_TO_PASS[format]:
            verdict = "incomplete"
        else:
            verdict = "passed"
        verdicts[name] = {"verdict": verdict, **counts}
    return verdicts


class Certificate(AnyCertificate):
    """The findings about a backend, as data: ``content`` is what the JSON file holds.

    Two certificates of one machine are equal to the byte. `docs/conformance.md` explains every field.
    """

    kind = "cases"
    run_unit = "case"
    fields: ClassVar[Mapping[int, dict[Any, Any]]] = _FIELDS

    @classmethod
    def _check_results(cls, content: dict[str, Any]) -> None:
        seen: set[str] = set()
        for row in content["cases"]:
            if row["id"].split("/", 1)[0] != row["level"]:
                raise no_certificate(f"case `{row['id']}` has the level {row['level']!r}")
            if row["id"] in seen:
                raise no_certificate(f"case `{row['id']}` stands twice")
            seen.add(row["id"])
        given = cls(content)
        if not given.asked:
            raise no_certificate("no level was run")
        if content["levels"] != _verdicts(given.cases, given.asked, given.runs, content["format"]):
            raise edited("its verdicts are not those of its cases")

    def _result_differences(self, again: Certificate) -> Iterator[str]:
        here = {row["id"]: row for row in again.cases}
        for row in self.cases:
            if row["id"] not in here:
                yield f"case `{row['id']}` is in the certificate and not here"
                continue
            there = here.pop(row["id"])
            for key in ("program", "inputs", "checks", "status", "output"):
                if row.get(key) != there.get(key):
                    because = f" ({there['reason']})" if key in ("status", "output") and "reason" in there else ""
                    yield f"case `{row['id']}`: {_named(key, row.get(key, ''), there.get(key, ''))}{because}"
                    break
        for missing in here:
            yield f"case `{missing}` is here and not in the certificate"

    @property
    def levels(self) -> dict[str, str]:
        """Level -> verdict: "passed", "failed", "incomplete" (a case was skipped or is missing, or ran fewer than three
        times), "not run" or "not claimed"."""
        return {name: self.content["levels"][name]["verdict"] for name in LEVELS}

    @property
    def asked(self) -> tuple[str, ...]:
        """The levels that were run."""
        return tuple(name for name, verdict in self.levels.items() if verdict not in ("not run", "not claimed"))

    @property
    def passed(self) -> bool:
        """Whether every level that was run passed."""
        return bool(self.asked) and all(self.levels[name] == PASSED for name in self.asked)

    @property
    def cases(self) -> list[dict[str, Any]]:
        """A row for each case."""
        rows: list[dict[str, Any]] = self.content["cases"]
        return rows

    def to_html(self) -> str:
        """A page of its own that shows the certificate."""
        from vyre.conformance.page import page

        return page(self)

    def _repr_html_(self) -> str:
        from vyre.conformance.page import fragment

        return fragment(self)

    def __repr__(self) -> str:
        verdicts = ", ".join(f"{name} {self.levels[name]}" for name in self.asked)
        return f"<vyre.conformance.Certificate {self.place}: {verdicts}>"


def certify(
    backend: str | Run | None = None,
    device: int | vyre.Device | None = None,
    *,
    levels: Iterable[str] | None = None,
    repeat: int = RUNS,
    progress: Progress | None = None,
) -> Certificate:
    """Run every case of the levels several times, with others between, and certify what came of them.

    Args:
        backend: a name of vyre.backends(); None for the best one here; or a callable
            ``(program, inputs, grid, optimize) -> outputs`` that runs programs itself.
        device: an index into vyre.devices() or one of its elements; None for the backend's default.
        levels: names such as "L1"; None for all.
        repeat: how often each case is run. A level whose cases ran fewer than 3 times is "incomplete".
        progress: called after each case with its result, the number done and the number of all.

    Raises: ArgumentError, DeviceError when there is no such level, backend or device.

    Source: execution model, "Data Races": running the same input multiple times.

    >>> certify("reference", levels=["L4"])
    <vyre.conformance.Certificate reference interpreter: L4 passed>
    """
    asked = catalogue.check_levels(levels)
    check_repeat(repeat)
    place = find_target(backend, device)
    listed = catalogue.cases(asked) + catalogue.registered_cases(asked)
    rows = []
    for result in run_cases(listed, place, repeat=repeat):
        rows.append(_row(result))
        if progress is not None:
            progress(result, len(rows), len(listed))
    verdicts = _verdicts(rows, asked, repeat)
    return Certificate._make(place, operations=operation_hashes(), cases=rows, levels=verdicts, runs=repeat)


def verify(
    certificate: Certificate | str | os.PathLike[str],
    backend: str | Run | None = None,
    device: int | vyre.Device | None = None,
    *,
    repeat: int | None = None,
    progress: Progress | None = None,
) -> Verification[Certificate]:
    """Run the levels of a certificate here, on the same or another device, and compare.

    Args:
        certificate: one, or the path of its file.
        backend, device, progress: as in certify.
        repeat: how often each case is run; None for as often as the certificate says, and three times at least.

    Raises: CertificateError when the file is no certificate or was edited; as certify.

    >>> verify(certify("reference", levels=["L4"]), "reference").agrees
    True
    """
    given = certificate if isinstance(certificate, Certificate) else Certificate.load(certificate)
    runs = runs_to_verify(given, repeat)
    return compare(given, certify(backend, device, levels=given.asked, repeat=runs, progress=progress))


def _named(key: str, then: str, now: str) -> str:
    if key == "status":
        return f"certified as {then}, {now} here"
    if key == "checks":
        return "what is checked differs"
    return f"the hash of its {key} differs: {then[:16]} certified, {now[:16]} here"
