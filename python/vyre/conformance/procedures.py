"""Certificates of procedures: what a procedure gave for inputs that anybody can make again.

A certificate names the procedure by the hash of its binary form, says for each call the shapes, seeds and numbers from
which its inputs come, and has SHA-256 of the bytes of each result. Verifying one runs the calls again, here, and
compares. It is sealed as the others are (certificate.py): an edited file is refused, and one that was sealed anew
differs when it is verified.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import _core
from vyre._array import _NUMPY
from vyre._core import DataType, Procedure
from vyre._files import as_path, write_atomically
from vyre._procedure.by_name import submit_by_name
from vyre._text import as_count, shown
from vyre.conformance.certificate import (
    CertificateError,
    _canonical,
    _edited,
    _no_certificate,
    _printable,
    _seal,
    _short,
    _short_number,
    content_of,
    operation_hashes,
    read_file,
    table_hashes,
    versions,
)
from vyre.conformance.runner import MOST_RUNS, NONDETERMINISTIC, PASSED, RUNS, check_repeat
from vyre.conformance.runner import target as find_target
from vyre.errors import ArgumentError, BindingError

if TYPE_CHECKING:
    import os

    from vyre.conformance.runner import Target

__all__ = ["Elements", "ProcedureCertificate", "ProcedureVerification", "certify_procedure", "verify_procedure"]

FORMAT = 1
_RANGES = {DataType.I32: (-(2**31), 2**31 - 1), DataType.U64: (0, 2**64 - 1), DataType.Bool: (0, 1)}
_MOST_INPUT = 1 << 30  # bytes of an array: a file may ask for anything

# (procedure, inputs by name, numbers by name) -> the outputs and in_outs by name
RunProcedure = Callable[[Procedure, Mapping[str, np.ndarray], Mapping[str, int]], Mapping[str, np.ndarray]]


@dataclass(frozen=True)
class Elements:
    """An array of a call that a seed decides.

    Attributes:
        shape: its length, or one for each axis (without that of a vector's lanes).
        below: every element, or lane, is below this; None for any value.
        ascending: whether the elements are sorted.
    """

    shape: int | tuple[int, ...]
    below: int | None = None
    ascending: bool = False

    def make(self, element: DataType, seed: int, name: str) -> np.ndarray:
        """The array: SHAKE-256 of the seed and the name, which is the same everywhere."""
        dtype, lanes = _NUMPY[element]
        shape = (*self._axes(), *lanes)
        whole = np.dtype(np.uint32 if element is DataType.Bool else dtype)
        count = math.prod(shape)
        if count * whole.itemsize > _MOST_INPUT:
            raise ArgumentError(
                f"array `{name}` of shape {shape} is larger than 2^30 bytes. Fix: certify a shorter one."
            )
        data = hashlib.shake_256(f"vyre {seed} {name}".encode()).digest(count * whole.itemsize)
        array = np.frombuffer(data, whole.newbyteorder("<")).astype(whole)
        if element is DataType.Bool:
            return (array & 1).astype(np.bool_).reshape(shape)
        if self.below is not None:
            array = array % whole.type(self.below)
        if self.ascending:
            array = np.sort(array)
        return array.reshape(shape)

    def _axes(self) -> tuple[int, ...]:
        return self.shape if isinstance(self.shape, tuple) else (self.shape,)

    def _row(self) -> dict[str, Any]:
        row: dict[str, Any] = {"shape": list(self._axes())}
        if self.below is not None:
            row["below"] = self.below
        if self.ascending:
            row["ascending"] = True
        return row


@dataclass(frozen=True)
class ProcedureCertificate:
    """The results of calls of a procedure, as data: ``content`` is what the JSON file holds."""

    content: dict[str, Any]

    @property
    def passed(self) -> bool:
        """Whether every run of a call gave the same bytes, in three runs or more."""
        found: bool = self.content["verdict"] == PASSED
        return found

    @property
    def verdict(self) -> str:
        """ "passed", "nondeterministic" or "incomplete" (fewer than three runs)."""
        found: str = self.content["verdict"]
        return found

    def to_json(self) -> str:
        """The file's text: sorted keys, no times, no paths."""
        return json.dumps(self.content, sort_keys=True, indent=1, ensure_ascii=True) + "\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file at once. Raises FileError."""
        write_atomically(as_path(path, "ProcedureCertificate.save", "cert.json"), self.to_json())

    @staticmethod
    def load(path: str | os.PathLike[str]) -> ProcedureCertificate:
        """Read a file. Raises CertificateError when it is no certificate of a procedure, or was edited; FileError."""
        data = read_file(path, "ProcedureCertificate.load", "vyre conform --procedure --out")
        return ProcedureCertificate.from_json(data)

    @staticmethod
    def from_json(data: bytes | str) -> ProcedureCertificate:
        """A certificate from its text.

        Raises: CertificateError when it is none, or was edited.

        >>> ProcedureCertificate.from_json("{}")
        Traceback (most recent call last):
        vyre.conformance.certificate.CertificateError: this is no certificate: key `kind` is not "procedure". Fix: ...
        """
        return ProcedureCertificate(_parse(data))

    def __repr__(self) -> str:
        place = self.content["target"]
        name, count = self.content["procedure"]["name"], len(self.content["calls"])
        where = place.get("device", place["backend"])
        return f"<vyre.conformance.ProcedureCertificate {name} on {where}: {count} calls {self.verdict}>"


@dataclass(frozen=True)
class ProcedureVerification:
    """The result of running a procedure's certificate again.

    Attributes:
        differences: each in one sentence; empty when all is as certified.
        notes: what differs and may: the device, the versions.
        again: the certificate of this run; None for another procedure, which is not run.
    """

    differences: tuple[str, ...]
    notes: tuple[str, ...]
    again: ProcedureCertificate | None

    @property
    def agrees(self) -> bool:
        """Whether nothing differs."""
        return not self.differences


def certify_procedure(
    procedure: Any,
    calls: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    seed: int = 0,
    backend: str | RunProcedure | None = None,
    device: int | vyre.Device | None = None,
    repeat: int = RUNS,
) -> ProcedureCertificate:
    """Run a procedure on inputs that a seed decides, several times, and certify what came of it.

    Args:
        procedure: a function under @vyre.procedure without ``const`` parameters, or a Procedure.
        calls: one call or several: for each array its length, its shape or Elements, and for each number the number.
        seed: of all arrays.
        backend, device: as for ``certify``; a callable ``(procedure, arrays, numbers) -> outputs`` runs it itself, and
            gives the outputs and in_outs by name.
        repeat: how often each call is run, with the others between.

    Raises: ArgumentError, BindingError, DeviceError, and what the procedure raises.

    >>> import vyre
    >>> @vyre.kernel
    ... def doubled(x: vyre.In[vyre.u32], y: vyre.Out[vyre.u32]):
    ...     i = vyre.gid(0)
    ...     if i < len(y):
    ...         y[i] = x[i] * 2
    >>> @vyre.procedure
    ... def twice(x: vyre.In[vyre.u32]):
    ...     y = vyre.scratch(vyre.u32, x.length, name="y")
    ...     doubled(x, y)
    ...     return y
    >>> certificate = certify_procedure(twice, [{"x": 10}, {"x": 1000}], backend="reference")
    >>> certificate
    <vyre.conformance.ProcedureCertificate twice on reference interpreter: 2 calls passed>
    >>> verify_procedure(certificate, twice, backend="cpu").agrees
    True
    """
    value = _procedure_of(procedure, "certify_procedure")
    listed = [calls] if isinstance(calls, Mapping) else list(calls)
    made = [_elements_of(value, call) for call in listed]
    if not made:
        raise ArgumentError("argument `calls` of certify_procedure is empty. Fix: write calls={'x': 1000}.")
    whole = as_count(seed)
    if whole is None or not 0 <= whole < 2**64:
        raise ArgumentError(
            f"argument `seed` of certify_procedure must be an integer from 0 to 2^64 - 1, got {shown(seed)}. "
            "Fix: write seed=0."
        )
    return _certified(value, made, whole, backend, device, repeat)


def verify_procedure(
    certificate: ProcedureCertificate | str | os.PathLike[str],
    procedure: Any,
    *,
    backend: str | RunProcedure | None = None,
    device: int | vyre.Device | None = None,
    repeat: int | None = None,
) -> ProcedureVerification:
    """Run the calls of a certificate again here, on the same or another device, and compare.

    Args:
        certificate: one, or the path of its file.
        procedure: the procedure that it is about.
        backend, device: as for ``certify_procedure``.
        repeat: how often each call is run; None for as often as the certificate says, and three times at least.

    Raises: CertificateError when the file is no certificate or was edited; as certify_procedure.
    """
    given = certificate if isinstance(certificate, ProcedureCertificate) else ProcedureCertificate.load(certificate)
    value = _procedure_of(procedure, "verify_procedure")
    here, then = _named(value), given.content["procedure"]
    if here["sha256"] != then["sha256"]:
        # Its inputs need not fit.
        difference = (
            f"the certificate is about procedure `{then['name']}` with the hash {then['sha256'][:16]}, and the one "
            f"given is `{here['name']}` with {here['sha256'][:16]}"
        )
        return ProcedureVerification((_printable(difference),), (), None)
    runs = max(given.content["runs"], RUNS) if repeat is None else repeat
    made = [
        (
            {name: _from_row(row) for name, row in call["arrays"].items()},
            {name: int(number) for name, number in call["numbers"].items()},
        )
        for call in given.content["calls"]
    ]
    for call in made:
        _check_fits(value, *call)
    again = _certified(value, made, given.content["seed"], backend, device, runs)
    differences, notes = (tuple(map(_printable, found(given, again))) for found in (_differences, _notes))
    return ProcedureVerification(differences, notes, again)


def _procedure_of(given: Any, function: str) -> Procedure:
    value = getattr(given, "procedure", given)
    if not isinstance(value, Procedure):
        raise ArgumentError(
            f"argument `procedure` of {function} must be a procedure, got an object of type "
            f"{type(given).__name__[:80]}. Fix: pass a function under @vyre.procedure."
        )
    value.check()
    return value


def _named(procedure: Procedure) -> dict[str, str]:
    return {"name": procedure.name, "sha256": hashlib.sha256(procedure.to_bytes()).hexdigest()}


_Call = tuple[dict[str, Elements], dict[str, int]]


def _elements_of(procedure: Procedure, call: Any) -> _Call:
    if not isinstance(call, Mapping):
        raise ArgumentError(
            f"a call of certify_procedure must be a dict, got {shown(call)}. Fix: write {{'x': 1000, 'n': 3}}."
        )
    arrays: dict[str, Elements] = {}
    numbers: dict[str, int] = {}
    known = {name: kind for kind, name, _, _ in _core._procedure_interface(procedure)}
    for name, value in call.items():
        if known.get(name) == "number":
            numbers[name] = value
            continue
        whole = as_count(value)
        shape = value if isinstance(value, tuple) else whole
        arrays[name] = value if isinstance(value, Elements) else Elements(shape)  # type: ignore[arg-type]
    _check_fits(procedure, arrays, numbers)
    return arrays, numbers


def _check_fits(procedure: Procedure, arrays: Mapping[str, Elements], numbers: Mapping[str, int]) -> None:
    interface = _core._procedure_interface(procedure)
    names = [name for _, name, _, _ in interface]
    for name in (*arrays, *numbers):
        if name not in names:
            raise BindingError(
                f"procedure `{procedure.name}` has no input {shown(name)}. Fix: its inputs are "
                f"{', '.join(f'`{each}`' for each in names) or 'none'}."
            )
    for kind, name, element, axes in interface:
        where = f"`{name}` of procedure `{procedure.name}`"
        if kind == "number":
            low, high = _RANGES.get(element, (0, 2**32 - 1))
            count = as_count(numbers.get(name))
            if count is None or not low <= count <= high:
                raise BindingError(
                    f"number {where} must be an integer from {low} to {high}, got {shown(numbers.get(name))}. "
                    f"Fix: write {{{name!r}: 1}}."
                )
            continue
        given = arrays.get(name)
        extents = () if given is None else given._axes()
        if len(extents) != axes or any(as_count(each) is None or each < 0 for each in extents):
            wanted = "its length" if axes == 1 else f"a tuple of {axes} lengths"
            raise BindingError(
                f"array {where} must be given as {wanted}, got {shown(None if given is None else given.shape)}. "
                f"Fix: write {{{name!r}: {1000 if axes == 1 else tuple([10] * axes)}}}."
            )
        assert given is not None
        if given.below is not None and (as_count(given.below) is None or not 0 < given.below < 2**64):
            raise BindingError(
                f"`below` of array {where} must be above 0, got {shown(given.below)}. Fix: leave it out."
            )


def _certified(
    procedure: Procedure, calls: Sequence[_Call], seed: int, backend: Any, device: Any, repeat: int
) -> ProcedureCertificate:
    check_repeat(repeat)
    place = find_target(backend, device)
    found: list[set[str]] = [set() for _ in calls]
    rows: list[dict[str, Any]] = [{} for _ in calls]
    for _ in range(repeat):
        for k, (arrays, numbers) in enumerate(calls):
            row = _run(procedure, arrays, numbers, seed, place, backend)
            found[k].add(json.dumps(row, sort_keys=True))
            rows[k] = row
    same = all(len(each) == 1 for each in found)
    called = set(re.findall(r'\bcall\("([^"\\]+)"', procedure.to_text()))
    content = {
        "format": FORMAT,
        "kind": "procedure",
        "procedure": _named(procedure),
        "versions": versions(),
        "target": place.describe(),
        "tables": table_hashes(),
        "operations": {name: sha for name, sha in operation_hashes().items() if name.split("@")[0] in called},
        "seed": seed,
        "runs": repeat,
        "calls": [
            {
                "arrays": {name: each._row() for name, each in arrays.items()},
                "numbers": {name: str(int(number)) for name, number in numbers.items()},
                "outputs": row if len(each) == 1 else {},
            }
            for (arrays, numbers), row, each in zip(calls, rows, found, strict=True)
        ],
        "verdict": NONDETERMINISTIC if not same else PASSED if repeat >= RUNS else "incomplete",
    }
    return ProcedureCertificate(_seal(content))


def _run(
    procedure: Procedure,
    arrays: Mapping[str, Elements],
    numbers: Mapping[str, int],
    seed: int,
    place: Target,
    given: Any,
) -> dict[str, Any]:
    """The shape and the hash of each output and in_out."""
    interface = _core._procedure_interface(procedure)
    inputs = {name: arrays[name].make(element, seed, name) for kind, name, element, _ in interface if kind != "number"}
    if callable(given):
        outputs = given(procedure, {name: array.copy() for name, array in inputs.items()}, dict(numbers))
    else:
        outputs = _called(procedure, inputs, numbers, place)
    rows = {}
    for kind, name, _, _ in _core._procedure_interface(procedure, True):
        if kind == "input":
            continue
        if name not in outputs:
            raise BindingError(f"the callable gave no output `{name}`. Fix: return all outputs and in_outs by name.")
        array = np.ascontiguousarray(outputs[name])
        rows[name] = {"shape": list(array.shape), "sha256": hashlib.sha256(array.tobytes()).hexdigest()}
    return rows


def _called(
    procedure: Procedure, inputs: Mapping[str, np.ndarray], numbers: Mapping[str, int], place: Target
) -> dict[str, np.ndarray]:
    words = []
    for kind, name, element, _ in _core._procedure_interface(procedure):
        if kind == "number":
            words.append(numbers[name] & 0xFFFFFFFF if element is DataType.I32 else int(numbers[name]))
    given = [_core._array(array, place.backend, place.index) for array in inputs.values()]
    return submit_by_name(procedure, given, words, place.backend, place.index)


def _differences(given: ProcedureCertificate, again: ProcedureCertificate) -> Iterator[str]:
    then, now = given.content, again.content
    for key in ("tables", "operations"):
        for name in sorted({**then[key], **now[key]}):
            if then[key].get(name) != now[key].get(name):
                yield f"{key[:-1]} `{name}` differs from the one of the certificate"
    for number, (certified, here) in enumerate(zip(then["calls"], now["calls"], strict=True), 1):
        if not here["outputs"]:
            yield f"call {number} gives other bytes from run to run here"
            continue
        if not certified["outputs"]:
            yield f"call {number} gave other bytes from run to run when it was certified"
            continue
        for name in sorted({**certified["outputs"], **here["outputs"]}):
            one, other = certified["outputs"].get(name), here["outputs"].get(name)
            if one != other:
                what = [
                    "no such output" if row is None else f"shape {tuple(row['shape'])} and {row['sha256'][:16]}"
                    for row in (one, other)
                ]
                yield f"call {number}, output `{name}`: {what[0]} certified, {what[1]} here"


def _notes(given: ProcedureCertificate, again: ProcedureCertificate) -> Iterator[str]:
    then, now = given.content, again.content
    if then["runs"] != now["runs"]:
        yield f"made with {then['runs']} runs of each call, verified with {now['runs']}"
    for name in sorted({**then["versions"], **now["versions"]}):
        made, here = (found["versions"].get(name, "none") for found in (then, now))
        if made != here:
            yield f"made with {name} {made}, verified with {name} {here}"
    names = [place.get("device", place["backend"]) for place in (then["target"], now["target"])]
    if names[0] != names[1]:
        yield f"made on {names[0]}, verified on {names[1]}"


# --- reading ---

_HASH = "[0-9a-f]{64}"
_KEYS = {
    "format",
    "kind",
    "procedure",
    "versions",
    "target",
    "tables",
    "operations",
    "seed",
    "runs",
    "calls",
    "verdict",
    "sha256",
}


def _from_row(row: Mapping[str, Any]) -> Elements:
    return Elements(tuple(row["shape"]), row.get("below"), row.get("ascending", False))


def _parse(data: bytes | str) -> dict[str, Any]:
    content = content_of(data)
    if content.get("kind") != "procedure":
        raise _no_certificate('key `kind` is not "procedure"')
    if set(content) != _KEYS:
        raise _no_certificate(f"key {min(set(content) ^ _KEYS)!r} is missing or unknown")
    if content["format"] != FORMAT:
        raise CertificateError(
            f"certificate format {_printable(shown(content['format']))} is unknown to vyre {vyre.__version__}, which "
            f"reads {FORMAT}. Fix: use the vyre that wrote it."
        )
    try:
        sealed = hashlib.sha256(
            _canonical({key: value for key, value in content.items() if key != "sha256"})
        ).hexdigest()
    except (ValueError, RecursionError) as error:
        raise _no_certificate(f"its content has no canonical form ({_short(error)})") from None
    if sealed != content["sha256"]:
        raise _edited(f"its content has the hash {sealed[:16]}..., it says {str(content['sha256'])[:16]!r}...")
    _check_shape(content)
    return content


def _check_shape(content: dict[str, Any]) -> None:
    """Refuse what no certificate says, although the hash is right."""

    def is_count(value: Any, end: int) -> bool:
        return type(value) is int and 0 <= value < end

    def wrong(problem: str) -> CertificateError:
        return _no_certificate(problem)

    named = content["procedure"]
    if not isinstance(named, dict) or set(named) != {"name", "sha256"} or not _are_texts(named.values()):
        raise wrong("key `procedure` names none")
    for key in ("versions", "tables", "operations"):
        if not isinstance(content[key], dict) or not _are_texts(content[key].values()):
            raise wrong(f"key `{key}` holds something that is no text")
    if not isinstance(content["target"], dict) or not isinstance(content["target"].get("backend"), str):
        raise wrong("key `target` names no backend")
    if not is_count(content["seed"], 2**64):
        raise wrong("key `seed` is no seed")
    if not is_count(content["runs"], MOST_RUNS + 1) or content["runs"] == 0:
        runs = content["runs"]
        raise wrong(f"key `runs` is {_short_number(runs) if type(runs) is int else 'no integer'}")
    if not isinstance(content["calls"], list) or not content["calls"]:
        raise wrong("key `calls` has no call")
    for call in content["calls"]:
        if not isinstance(call, dict) or set(call) != {"arrays", "numbers", "outputs"}:
            raise wrong("an element of `calls` is no call")
        if not all(isinstance(each, dict) for each in call.values()):
            raise wrong("an element of `calls` is no call")
        for row in call["arrays"].values():
            known = isinstance(row, dict) and {"shape"} <= set(row) <= {"shape", "below", "ascending"}
            if not known or not isinstance(row["shape"], list) or not all(is_count(n, 2**32) for n in row["shape"]):
                raise wrong("an array of a call has no shape")
            if ("below" in row and not (is_count(row["below"], 2**64) and row["below"])) or (
                row.get("ascending", True) is not True
            ):
                raise wrong("an array of a call has elements that none has")
        if not all(
            isinstance(number, str) and re.fullmatch("-?[0-9]{1,20}", number) for number in call["numbers"].values()
        ):
            raise wrong("a number of a call is none")
        for row in call["outputs"].values():
            known = isinstance(row, dict) and set(row) == {"shape", "sha256"} and isinstance(row["shape"], list)
            if not known or not (isinstance(row["sha256"], str) and re.fullmatch(_HASH, row["sha256"])):
                raise wrong("an output of a call has no hash")
            if not all(is_count(n, 2**32) for n in row["shape"]):
                raise wrong("an output of a call has no shape")
    same = all(call["outputs"] for call in content["calls"])
    verdict = NONDETERMINISTIC if not same else PASSED if content["runs"] >= RUNS else "incomplete"
    if content["verdict"] != verdict:
        raise _edited("its verdict is not that of its calls")


def _are_texts(values: Any) -> bool:
    return all(isinstance(value, str) for value in values)
