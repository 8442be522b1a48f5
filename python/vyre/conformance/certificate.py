"""Certificates: the cases that were run, the target, their bytes, and a verdict for each level, as deterministic JSON.

The hash over the whole content shows an edited or damaged file. It is no signature: an editor of the file can hash it
anew. What a certificate is worth comes from running it again (`vyre conform --verify`).
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import vyre
from vyre import _core
from vyre._files import as_path, unreadable, write_atomically
from vyre.conformance import catalogue
from vyre.conformance.case import LEVELS
from vyre.conformance.runner import (
    ALLOWED,
    FAILED,
    MOST_RUNS,
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
from vyre.errors import VyreError

FORMAT = 2
MOST_BYTES = 64 << 20  # of a file that is read as a certificate
STATUSES = (PASSED, FAILED, NONDETERMINISTIC, SKIPPED, ALLOWED)

# This is called after each case with its result, the number of cases done and the number of all.
Progress = Callable[[Result, int, int], None]


class CertificateError(VyreError):
    """A file is no certificate, or was edited.

    The text says what is wrong and what to do.
    """


def table_hashes() -> dict[str, str]:
    """SHA-256 of each table of the core: what types, casts, operators and rules there are, and what they mean.

    >>> sorted(table_hashes())
    ['casts', 'operators', 'rules', 'types']
    """
    parts = {
        "types": ["types"],
        "casts": ["casts"],
        "operators": ["binary", "unary", "atomic"],
        "rules": ["rules", "messages"],
    }
    return {
        name: hashlib.sha256(_canonical([[list(row) for row in _core._tables[key]] for key in keys])).hexdigest()
        for name, keys in parts.items()
    }


def versions() -> dict[str, str]:
    """The versions of vyre and of what the expected bytes were computed with.

    >>> sorted(versions())
    ['numpy', 'python', 'vyre']
    """
    return {"numpy": np.__version__, "python": platform.python_version(), "vyre": vyre.__version__}


def operation_hashes() -> dict[str, str]:
    """SHA-256 of every registered operation with the bodies of all that it calls: id@version -> hash.

    >>> "primitive.u64.mul@1" in operation_hashes()
    True
    """
    specs = {f"{spec.id}@{spec.version}": spec for spec in _core._op_all()}
    newest = {spec.id: name for name, spec in specs.items()}  # _op_all is in ascending order of versions
    hashes: dict[str, str] = {}
    entered: set[str] = set()
    for name in specs:
        # Callees are hashed before callers, without recursion: a name stays on the stack until its callees are hashed.
        waiting = [(name, False)]
        while waiting:
            current, ready = waiting.pop()
            if current in hashes or (not ready and current in entered):
                continue
            entered.add(current)
            spec = specs[current]
            body = spec.body if spec.procedure is None else spec.procedure
            text = body.to_text() if body is not None else ""
            called = re.findall(r'\bcall\("([^"\\]+)"', text)
            callees = sorted({newest.get(id, id) for id in called} & specs.keys())
            if not ready:
                waiting.append((current, True))
                waiting += [(callee, False) for callee in callees]
                continue
            # A procedure's binary form has its arrays and numbers in it.
            signature = spec.signature and [[kind.name for kind in spec.signature.inputs], spec.signature.output.name]
            digest = hashlib.sha256(body.to_bytes()).hexdigest() if body is not None else ""
            # Operations may be registered in a cycle, which no program may call (V017): there a name stands for itself.
            resolved = [[callee, hashes.get(callee, "")] for callee in callees]
            hashes[current] = hashlib.sha256(
                _canonical([current, signature, list(spec.parameters), digest, resolved])
            ).hexdigest()
    return dict(sorted(hashes.items()))


def _canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def _row(result: Result) -> dict[str, Any]:
    made = result.case
    row: dict[str, Any] = {
        "id": made.id,
        "inputs": made.inputs_hash,
        "level": made.level,
        "output": result.output,
        "program": made.program_hash,
        "status": result.status,
    }
    if made.checks:
        row["checks"] = made.checks
    if result.reason:
        row["reason"] = result.reason
    if result.note:
        row["note"] = result.note
    return row


def _verdicts(
    rows: Iterable[Mapping[str, Any]], asked: Iterable[str], runs: int, format: int = FORMAT
) -> dict[str, dict[str, Any]]:
    """The verdict of each level, from its cases and from how often each was run."""
    statuses, enough = _rules(format)
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
        counts = {status: found.count(status) for status in statuses}
        if counts[FAILED] or counts.get(NONDETERMINISTIC):
            verdict = "failed"
        elif counts[SKIPPED] or not counts[PASSED] or runs < enough:
            verdict = "incomplete"
        else:
            verdict = "passed"
        verdicts[name] = {"verdict": verdict, **counts}
    return verdicts


def _rules(format: int) -> tuple[tuple[str, ...], int]:
    """The statuses that a case can have in a format, and how many runs of each case a level needs to be passed."""
    if format == 1:
        return tuple(status for status in STATUSES if status != NONDETERMINISTIC), 1
    return STATUSES, RUNS


@dataclass(frozen=True)
class Certificate:
    """The findings about a backend, as data: ``content`` is what the JSON file holds.

    Two certificates of one machine are equal to the byte. `docs/conformance.md` explains every field.
    """

    content: dict[str, Any]

    @property
    def levels(self) -> dict[str, str]:
        """Level -> verdict: "passed", "failed", "incomplete" (a case was skipped or is missing, or ran fewer than three
        times), "not run" or "not claimed"."""
        return {name: self.content["levels"][name]["verdict"] for name in LEVELS}

    @property
    def runs(self) -> int:
        """How often each case was run."""
        found: int = self.content.get("runs", 1)  # format 1 has no such key: there each case ran once
        return found

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

    @cached_property
    def _json(self) -> str:
        return json.dumps(self.content, sort_keys=True, indent=1, ensure_ascii=True) + "\n"

    def to_json(self) -> str:
        """The file's text: sorted keys, no times, no paths."""
        return self._json

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file at once: a reader sees the old one or the new one, never a part. Raises FileError."""
        write_atomically(as_path(path, "Certificate.save", "cert.json"), self.to_json())

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Certificate:
        """Read a file.

        Raises: CertificateError when it is no certificate, or was edited; FileError.
        """
        return Certificate.from_json(read_file(path, "Certificate.load", "vyre conform --out"))

    @staticmethod
    def from_json(data: bytes | str) -> Certificate:
        """A certificate from its text.

        Raises: CertificateError when it is none, or was edited.

        >>> Certificate.from_json("{}")
        Traceback (most recent call last):
        vyre.conformance.certificate.CertificateError: this is no certificate: key `format` is missing. Fix: ...
        """
        return Certificate(_parse(data))

    def to_html(self) -> str:
        """A page of its own that shows the certificate."""
        from vyre.conformance.page import page

        return page(self)

    def _repr_html_(self) -> str:
        from vyre.conformance.page import fragment

        return fragment(self)

    def __repr__(self) -> str:
        verdicts = ", ".join(f"{name} {self.levels[name]}" for name in self.asked)
        place = self.content["target"]
        return f"<vyre.conformance.Certificate {place.get('device', place['backend'])}: {verdicts}>"


def _seal(content: dict[str, Any]) -> dict[str, Any]:
    return {**content, "sha256": hashlib.sha256(_canonical(content)).hexdigest()}


_TEXT, _OBJECT, _LIST, _INT = "a text", "an object", "a list", "an integer"
_KINDS = {_TEXT: str, _OBJECT: dict, _LIST: list, _INT: int}
_KEYS = {
    "format": _INT,
    "versions": _OBJECT,
    "target": _OBJECT,
    "tables": _OBJECT,
    "operations": _OBJECT,
    "cases": _LIST,
    "levels": _OBJECT,
    "sha256": _TEXT,
}
_LATER_KEYS = {"runs": _INT}  # from format 2 on
_TARGET_KEYS = {
    "backend": _TEXT,
    "device": _TEXT,
    "driver": _TEXT,
    "kind": _TEXT,
    "limits": _OBJECT,
    "probes": _OBJECT,
}
_ROW_KEYS = ("id", "level", "program", "inputs", "output", "status")
_ROW_EXTRAS = ("checks", "reason", "note")


def _printable(text: str) -> str:
    """A text from a file of unknown origin, fit for a terminal: one line, not long, nothing that moves a cursor."""
    short = text if len(text) <= 400 else f"{text[:400]}..."
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in short)


def _no_certificate(problem: str) -> CertificateError:
    fix = "Fix: use a file that `vyre conform --out` wrote."
    return CertificateError(f"this is no certificate: {_printable(problem)}. {fix}")


def _edited(problem: str) -> CertificateError:
    fix = "Fix: use the file as `vyre conform --out` wrote it."
    return CertificateError(f"this certificate was edited or damaged: {_printable(problem)}. {fix}")


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made


def read_file(path: str | os.PathLike[str], function: str, command: str) -> bytes:
    """The bytes of a file that a command wrote, or a few more than a certificate may have. Raises FileError."""
    try:
        with as_path(path, function, "cert.json").open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise unreadable(path, error, fix=f"name a file that `{command}` wrote") from None


def content_of(data: bytes | str) -> dict[str, Any]:
    """The object of JSON that a certificate is. Raises CertificateError where there is none."""
    if len(data) > MOST_BYTES:
        raise _no_certificate(f"it is longer than {MOST_BYTES >> 20} MiB")
    try:
        content = json.loads(data, parse_constant=_reject_constant, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:  # not UTF-8, not JSON, nested too deep
        raise _no_certificate(f"it is no JSON ({_short(error)})") from None
    if not isinstance(content, dict):
        raise _no_certificate("it holds no object")
    return content


def _parse(data: bytes | str) -> dict[str, Any]:
    content = content_of(data)
    if content.get("kind") == "procedure":
        raise CertificateError(
            "this certificate is about a procedure. Fix: write `vyre conform --procedure module:name --verify FILE`, "
            "or vyre.conformance.verify_procedure(file, procedure)."
        )
    _check_keys(content, _KEYS)
    if content["format"] not in (1, FORMAT):
        raise CertificateError(
            f"certificate format {_short_number(content['format'])} is unknown to vyre {vyre.__version__}, "
            f"which reads 1 and {FORMAT}. Fix: use the vyre that wrote it."
        )
    if content["format"] > 1:
        _check_keys(content, _LATER_KEYS)
    unsealed = {key: value for key, value in content.items() if key != "sha256"}
    try:
        sealed = hashlib.sha256(_canonical(unsealed)).hexdigest()
    except (ValueError, RecursionError) as error:
        raise _no_certificate(f"its content has no canonical form ({_short(error)})") from None
    if sealed != content["sha256"]:
        raise _edited(f"its content has the hash {sealed[:16]}..., it says {content['sha256'][:16]!r}...")
    _check_shape(content)
    return content


def _check_keys(content: Mapping[str, Any], keys: Mapping[str, str]) -> None:
    for key, kind in keys.items():
        if key not in content:
            raise _no_certificate(f"key `{key}` is missing")
        if not isinstance(content[key], _KINDS[kind]) or isinstance(content[key], bool):
            raise _no_certificate(f"key `{key}` is not {kind}")


def _short_number(value: int) -> str:
    return str(value) if abs(value) < 10**9 else f"of {value.bit_length()} bits"


def _short(error: BaseException) -> str:
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    return text[:120]


def _check_shape(content: dict[str, Any]) -> None:
    """Refuse shapes, counts and verdicts that are wrong although the hash is right."""
    for key in ("versions", "tables", "operations"):
        if not all(isinstance(value, str) for value in content[key].values()):
            raise _no_certificate(f"key `{key}` holds something that is no text")
    if not isinstance(content["target"].get("backend"), str):
        raise _no_certificate("key `target` names no backend")
    for key, value in content["target"].items():
        if key not in _TARGET_KEYS or not isinstance(value, _KINDS[_TARGET_KEYS[key]]):
            raise _no_certificate(f"key `target` says {key!r}, and no target says that")
    if "vyre" not in content["versions"]:
        raise _no_certificate("key `versions` names no version of vyre")
    format, runs = content["format"], content.get("runs", 1)
    known = {*_KEYS} if format == 1 else {*_KEYS, *_LATER_KEYS}
    if set(content) != known:
        raise _no_certificate(f"key {min(set(content) - known)!r} is unknown")
    if not 1 <= runs <= MOST_RUNS:
        raise _no_certificate(f"key `runs` is {_short_number(runs)}")
    statuses, _ = _rules(format)
    seen: set[str] = set()
    for row in content["cases"]:
        if not isinstance(row, dict) or not all(isinstance(row.get(key), str) for key in _ROW_KEYS):
            raise _no_certificate("an element of `cases` is no case")
        if not all(key in _ROW_KEYS or (key in _ROW_EXTRAS and isinstance(row[key], str)) for key in row):
            raise _no_certificate(f"case `{row['id']}` has a key that no case has")
        if row["status"] not in statuses:
            raise _no_certificate(f"case `{row['id']}` has the status {row['status']!r}")
        if row["level"] not in LEVELS or row["id"].split("/", 1)[0] != row["level"]:
            raise _no_certificate(f"case `{row['id']}` has the level {row['level']!r}")
        if not all(re.fullmatch("(?:[0-9a-f]{64})?", row[key]) for key in ("program", "inputs", "output")):
            raise _no_certificate(f"case `{row['id']}` has a hash that is none")
        if row["id"] in seen:
            raise _no_certificate(f"case `{row['id']}` stands twice")
        seen.add(row["id"])
    levels = content["levels"]
    if not all(isinstance(row, dict) and isinstance(row.get("verdict"), str) for row in levels.values()):
        raise _no_certificate("key `levels` holds something that is no verdict")
    asked = [name for name, row in levels.items() if row["verdict"] not in ("not run", "not claimed")]
    if not asked:
        raise _no_certificate("no level was run")
    if levels != _verdicts(content["cases"], asked, runs, format):
        raise _edited("its verdicts are not those of its cases")


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
    content = {
        "format": FORMAT,
        "versions": versions(),
        "target": place.describe(),
        "tables": table_hashes(),
        "operations": operation_hashes(),
        "cases": rows,
        "levels": _verdicts(rows, asked, repeat),
        "runs": repeat,
    }
    return Certificate(_seal(content))


@dataclass(frozen=True)
class Verification:
    """The result of running a certificate again.

    Attributes:
        differences: each in one sentence, in the order in which they were looked for; empty when all is as certified.
        notes: what differs and may: the device, the versions.
        again: the certificate of this run.
    """

    differences: tuple[str, ...]
    notes: tuple[str, ...]
    again: Certificate

    @property
    def agrees(self) -> bool:
        """Whether nothing differs."""
        return not self.differences


def verify(
    certificate: Certificate | str | os.PathLike[str],
    backend: str | Run | None = None,
    device: int | vyre.Device | None = None,
    *,
    repeat: int | None = None,
    progress: Progress | None = None,
) -> Verification:
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
    runs = max(given.runs, RUNS) if repeat is None else repeat
    again = certify(backend, device, levels=given.asked, repeat=runs, progress=progress)
    differences, notes = (tuple(map(_printable, found(given, again))) for found in (_differences, _notes))
    return Verification(differences, notes, again)


def _notes(given: Certificate, again: Certificate) -> Iterator[str]:
    then, now = given.content, again.content
    if given.runs != again.runs:
        yield f"made with {given.runs} {'run' if given.runs == 1 else 'runs'} of each case, verified with {again.runs}"
    for name in sorted({**then["versions"], **now["versions"]}):
        made, here = (found["versions"].get(name, "none") for found in (then, now))
        if made != here:
            yield f"made with {name} {made}, verified with {name} {here}"
    if then["target"] != now["target"]:
        yield _other_place(then["target"], now["target"])


def _other_place(then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """How the place of a certificate and that of its verification differ, in words."""
    names = [place.get("device", place["backend"]) for place in (then, now)]
    if names[0] != names[1]:
        return f"made on {names[0]}, verified on {names[1]}"
    keys = ", ".join(sorted(key for key in {**then, **now} if key != "backend" and then.get(key) != now.get(key)))
    if then["backend"] == now["backend"]:
        return f"made on {names[0]}, whose {keys} differ here"
    # Two routes to one GPU.
    routes = f"made on {names[0]} by backend {then['backend']}, verified on it by backend {now['backend']}"
    return f"{routes}, whose {keys} differ{'' if ',' in keys else 's'}" if keys else routes


def _differences(given: Certificate, again: Certificate) -> Iterator[str]:
    then, now = given.content, again.content
    for name in sorted({**then["tables"], **now["tables"]}):
        if then["tables"].get(name) != now["tables"].get(name):
            yield f"table `{name}` differs: the certificate is about other {name}"
    for name in sorted({**then["operations"], **now["operations"]}):
        if name not in now["operations"]:
            yield f"operation `{name}` is not registered here"
        elif name not in then["operations"]:
            yield f"operation `{name}` is registered here and not in the certificate"
        elif then["operations"][name] != now["operations"][name]:
            yield f"operation `{name}` has another body"
    here = {row["id"]: row for row in now["cases"]}
    for row in then["cases"]:
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


def _named(key: str, then: str, now: str) -> str:
    if key == "status":
        return f"certified as {then}, {now} here"
    if key == "checks":
        return "what is checked differs"
    return f"the hash of its {key} differs: {then[:16]} certified, {now[:16]} here"
