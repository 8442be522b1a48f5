"""The file format of certificates of every kind, how one is read, and how two compare.

A certificate is deterministic JSON with a SHA-256 over the rest of its content. A kind of
certificate is a class with a table of fields for each format that it reads. A file of any origin is
read in this order: JSON of a bearable length, a known kind and format, the hash, the shape of each
field, verdicts that follow from the results.

The hash shows an edited or damaged file. It is no signature: an editor of the file can hash it
anew. What a certificate is worth comes from running it again (`vyre conform --verify`).
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np

import vyre
from vyre._base.files import as_path, unreadable, write_atomically
from vyre._base.text import first_line, shown
from vyre.conformance.hashes import canonical, table_hashes
from vyre.conformance.runner import MAX_RUNS, RUNS
from vyre.errors import VyreError

if TYPE_CHECKING:
    import os

    from typing_extensions import Self

    from vyre.conformance.runner import Target

__all__ = ["AnyCertificate", "CertificateError", "Verification", "compare", "printable"]

MAX_FILE_BYTES = 64 << 20


class CertificateError(VyreError):
    """A file is no certificate, or was edited.

    The text says what is wrong and what to do.
    """


# Shapes of fields, as Python's own literals:
#     {"key": shape, "key?": shape, ...: shape}   an object: keys, optional keys, all other keys
#     [shape]                                     a list
#     (value, value)                              one of these values
#     range(low, end)                             an integer
#     re.compile(pattern)                         a text of a pattern
#     str, dict, object                           any text, any object, anything
_NAMES: dict[type, str] = {str: "a text", list: "a list", dict: "an object"}
HASH = re.compile("[0-9a-f]{64}")
TEXTS = {...: str}

# The fields of every kind.
HEAD: dict[Any, Any] = {
    "format": object,
    "versions": {"vyre": str, ...: str},
    "target": {"backend": str, "device?": str, "driver?": str, "kind?": str, "limits?": dict, "probes?": dict},
    "tables": TEXTS,
    "operations": TEXTS,
    "runs": range(1, MAX_RUNS + 1),
    "sha256": HASH,
}

# Files about cases are older than the key `kind` and have none.
_VERIFIED_BY = {
    "cases": "`vyre conform --verify FILE` or `conformance.verify(file)`",
    "procedure": "`vyre conform --procedure NAME --verify FILE` or `conformance.verify_procedure(file, procedure)`",
}


@dataclass(frozen=True)
class AnyCertificate:
    """What certificates of all kinds have: ``content`` is what the JSON file holds."""

    content: dict[str, Any]

    kind: ClassVar[str]
    # Each `run_unit` is run several times: it is a case or a call.
    run_unit: ClassVar[str]
    # format -> its fields; the last one is written
    fields: ClassVar[Mapping[int, dict[Any, Any]]]

    @classmethod
    def _check_results(cls, content: dict[str, Any]) -> None:
        """Raise CertificateError where fields contradict each other."""
        raise NotImplementedError

    def _result_differences(self, again: Self) -> Iterator[str]:
        """How the results of another run differ, in one sentence each."""
        raise NotImplementedError

    @property
    def runs(self) -> int:
        """How often each case or call was run."""
        found: int = self.content.get("runs", 1)  # format 1 has no such key: each case ran once
        return found

    @property
    def place(self) -> str:
        """The name of the device, or of a backend without devices."""
        return _place(self.content["target"])

    @cached_property
    def _json(self) -> str:
        return json.dumps(self.content, sort_keys=True, indent=1, ensure_ascii=True) + "\n"

    def to_json(self) -> str:
        """The file's text: sorted keys, no times, no paths."""
        return self._json

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file at once: a reader sees the old one or the new one, never a part.

        Raises: FileError.
        """
        write_atomically(as_path(path, f"{type(self).__name__}.save", "cert.json"), self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file.

        Raises: CertificateError when it is no certificate of this kind, or was edited; FileError.
        """
        try:
            with as_path(path, f"{cls.__name__}.load", "cert.json").open("rb") as file:
                data = file.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            raise unreadable(path, error, fix="name a file that `vyre conform --out` wrote") from None
        return cls.from_json(data)

    @classmethod
    def from_json(cls, data: bytes | str) -> Self:
        """A certificate from its text.

        Raises: CertificateError when it is none of this kind, or was edited.

        >>> from vyre.conformance import Certificate
        >>> Certificate.from_json("{}")
        Traceback (most recent call last):
        vyre.conformance.format.CertificateError: this is no certificate: `format` is missing. Fix: ...
        """
        content = _parse(data)
        _check({"format": object, "kind?": ("procedure",), "sha256": HASH, ...: object}, content)
        kind, format = content.get("kind", "cases"), content["format"]
        if kind != cls.kind:
            raise CertificateError(f"this certificate is of kind `{kind}`. Fix: write {_VERIFIED_BY[kind]}.")
        if type(format) is not int or format not in cls.fields:
            raise CertificateError(
                f"certificate format {printable(shown(format))} is unknown to vyre {vyre.__version__}, which reads "
                f"{' and '.join(map(str, cls.fields))}. Fix: use the vyre that wrote it."
            )
        try:
            found = _hash(content)
        except (ValueError, RecursionError) as error:
            raise no_certificate(f"its content has no canonical form ({first_line(error)[:120]})") from None
        if found != content["sha256"]:
            raise edited(f"its content has the hash {found[:16]}..., it says {content['sha256'][:16]!r}...")
        _check(cls.fields[format], content)
        cls._check_results(content)
        return cls(content)

    @classmethod
    def _make(cls, place: Target, **content: Any) -> Self:
        """A certificate of results at a place, with its versions, its tables and its hash."""
        head = {"format": max(cls.fields), "versions": versions(), "target": place.describe(), "tables": table_hashes()}
        return cls._sealed({**head, **content})

    @classmethod
    def _sealed(cls, content: Mapping[str, Any]) -> Self:
        """A certificate with this content, whose hash is made anew."""
        return cls({**content, "sha256": _hash(content)})


def versions() -> dict[str, str]:
    """The versions of vyre and of what the expected bytes were computed with.

    >>> sorted(versions())
    ['numpy', 'python', 'vyre']
    """
    return {"numpy": np.__version__, "python": platform.python_version(), "vyre": vyre.__version__}


def _hash(content: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in content.items() if key != "sha256"}
    return hashlib.sha256(canonical(rest)).hexdigest()


# --- reading ---


def printable(text: str) -> str:
    """A text of unknown origin, fit for a terminal: one short line that moves no cursor."""
    short = text if len(text) <= 400 else f"{text[:400]}..."
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in short)


def no_certificate(problem: str) -> CertificateError:
    fix = "Fix: use a file that `vyre conform --out` wrote."
    return CertificateError(f"this is no certificate: {printable(problem)}. {fix}")


def edited(problem: str) -> CertificateError:
    fix = "Fix: use the file as `vyre conform --out` wrote it."
    return CertificateError(f"this certificate was edited or damaged: {printable(problem)}. {fix}")


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made


def _parse(data: bytes | str) -> dict[str, Any]:
    if len(data) > MAX_FILE_BYTES:
        raise no_certificate(f"it is longer than {MAX_FILE_BYTES >> 20} MiB")
    try:
        content = json.loads(data, parse_constant=_reject_constant, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:  # not UTF-8, not JSON, nested too deep
        raise no_certificate(f"it is no JSON ({first_line(error)[:120]})") from None
    if not isinstance(content, dict):
        raise no_certificate("it holds no object")
    return content


def _check(shape: Any, value: Any, where: str = "") -> None:
    """Raise CertificateError unless a value has a shape. Recursion is as deep as the shape."""
    if isinstance(shape, range):
        fits, name = type(value) is int and value in shape, f"an integer from {shape[0]} to {shape[-1]}"
    elif isinstance(shape, tuple):
        fits = any(type(value) is type(each) and value == each for each in shape)
        name = " or ".join(map(json.dumps, shape))
    elif isinstance(shape, re.Pattern):
        fits = isinstance(value, str) and shape.fullmatch(value) is not None
        name = f"a text of the form {shape.pattern}"
    else:
        kind: type = shape if isinstance(shape, type) else type(shape)
        fits, name = isinstance(value, kind), _NAMES.get(kind, "")
    if not fits:
        raise no_certificate(f"`{where}` is not {name}")
    if isinstance(shape, dict):
        _check_keys(shape, value, f"{where}." if where else "")
    elif isinstance(shape, list):
        for k, each in enumerate(value):
            _check(shape[0], each, f"{where}[{k}]")


def _check_keys(shape: dict[Any, Any], value: dict[str, Any], prefix: str) -> None:
    known = {key.removesuffix("?"): each for key, each in shape.items() if key is not ...}
    for key in known:
        if key in shape and key not in value:
            raise no_certificate(f"`{prefix}{key}` is missing")
    for key, each in value.items():
        inner = known.get(key, shape.get(...))
        if inner is None:
            raise no_certificate(f"`{prefix}{key}` is unknown")
        _check(inner, each, f"{prefix}{key}")


# --- comparing ---

_Again = TypeVar("_Again", bound="AnyCertificate | None", covariant=True)


@dataclass(frozen=True)
class Verification(Generic[_Again]):
    """The result of running a certificate again.

    Attributes:
        differences: each in one sentence, in the order in which they were looked for; empty when
            all is as certified.
        notes: what differs and may: the device, the versions.
        again: the certificate of this run; None for another procedure than the certificate's,
            which is not run.
    """

    differences: tuple[str, ...]
    notes: tuple[str, ...]
    again: _Again

    @property
    def agrees(self) -> bool:
        """Whether nothing differs."""
        return not self.differences


_Kind = TypeVar("_Kind", bound=AnyCertificate)


def compare(given: _Kind, again: _Kind) -> Verification[_Kind]:
    """How the certificate of another run differs from the one given."""
    differences = (*_differences(given.content, again.content), *given._result_differences(again))
    return Verification(tuple(map(printable, differences)), tuple(map(printable, _notes(given, again))), again)


def runs_to_verify(given: AnyCertificate, repeat: int | None) -> int:
    """How often each case or call is run again: at least three times, unless the caller says."""
    return max(given.runs, RUNS) if repeat is None else repeat


def _differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
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


def _notes(given: AnyCertificate, again: AnyCertificate) -> Iterator[str]:
    then, now = given.content, again.content
    if given.runs != again.runs:
        times = f"{given.runs} {'run' if given.runs == 1 else 'runs'} of each {given.run_unit}"
        yield f"made with {times}, verified with {again.runs}"
    for name in sorted({**then["versions"], **now["versions"]}):
        made, here = (found["versions"].get(name, "none") for found in (then, now))
        if made != here:
            yield f"made with {name} {made}, verified with {name} {here}"
    if then["target"] != now["target"]:
        yield _other_place(then["target"], now["target"])


def _place(target: Mapping[str, Any]) -> str:
    found: str = target.get("device", target["backend"])
    return found


def _other_place(then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """How the place of a certificate and that of its verification differ, in words."""
    names = [_place(then), _place(now)]
    if names[0] != names[1]:
        return f"made on {names[0]}, verified on {names[1]}"
    keys = ", ".join(sorted(key for key in {**then, **now} if key != "backend" and then.get(key) != now.get(key)))
    if then["backend"] == now["backend"]:
        return f"made on {names[0]}, whose {keys} differ here"
    # Two routes to one GPU.
    routes = f"made on {names[0]} by backend {then['backend']}, verified on it by backend {now['backend']}"
    return f"{routes}, whose {keys} differ{'' if ',' in keys else 's'}" if keys else routes
