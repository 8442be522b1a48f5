"""Certificates of procedures: what a procedure gave for inputs that anybody can make again.

A certificate names the procedure by the hash of its binary form, says for each call the shapes, seeds and numbers from
which its inputs come, and has SHA-256 of the bytes of each result. Verifying one runs the calls again, here, and
compares.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from vyre import _core
from vyre._base.refused import must_be
from vyre._base.text import as_count, shown, type_of
from vyre._base.types import RANGES, TYPES, bits_of
from vyre._core import DataType, Procedure
from vyre._procedure.by_name import submit_by_name
from vyre.conformance.format import (
    HASH,
    HEAD,
    AnyCertificate,
    Verification,
    compare,
    edited,
    no_certificate,
    printable,
    runs_to_verify,
)
from vyre.conformance.hashes import operation_hashes
from vyre.conformance.runner import NONDETERMINISTIC, PASSED, RUNS, check_repeat
from vyre.conformance.runner import target as find_target
from vyre.errors import ArgumentError, BindingError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    import vyre
    from vyre.conformance.runner import Target

__all__ = ["Elements", "ProcedureCertificate", "certify_procedure", "verify_procedure"]

_MAX_INPUT_BYTES = 1 << 30  # of one array: a certificate is untrusted input

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
        shape = (*self._axes(), *TYPES[element].axes)
        whole = np.dtype(TYPES[element].bound)
        count = math.prod(shape)
        if count * whole.itemsize > _MAX_INPUT_BYTES:
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

    @staticmethod
    def _from_row(row: Mapping[str, Any]) -> Elements:
        return Elements(tuple(row["shape"]), row.get("below"), row.get("ascending", False))

    def _row(self) -> dict[str, Any]:
        row: dict[str, Any] = {"shape": list(self._axes())}
        if self.below is not None:
            row["below"] = self.below
        if self.ascending:
            row["ascending"] = True
        return row


_SHAPE = [range(2**32)]
_CALL = {
    "arrays": {...: {"shape": _SHAPE, "below?": range(1, 2**64), "ascending?": (True,)}},
    "numbers": {...: re.compile("-?[0-9]{1,20}")},
    "outputs": {...: {"shape": _SHAPE, "sha256": HASH}},
}
_FIELDS: dict[int, dict[Any, Any]] = {
    1: {
        **HEAD,
        **{"kind": ("procedure",), "procedure": {"name": str, "sha256": HASH}, "seed": range(2**64)},
        **{"calls": [_CALL], "verdict": str},
    }
}


class ProcedureCertificate(AnyCertificate):
    """The results of calls of a procedure, as data: ``content`` is what the JSON file holds."""

    kind = "procedure"
    run_unit = "call"
    fields: ClassVar[Mapping[int, dict[Any, Any]]] = _FIELDS

    @classmethod
    def _check_results(cls, content: dict[str, Any]) -> None:
        if not content["calls"]:
            raise no_certificate("no call was run")
        if content["verdict"] != _verdict(content["calls"], content["runs"]):
            raise edited("its verdict is not that of its calls")

    def _result_differences(self, again: ProcedureCertificate) -> Iterator[str]:
        calls = zip(self.content["calls"], again.content["calls"], strict=True)
        for number, (certified, here) in enumerate(calls, 1):
            if not here["outputs"]:
                yield f"call {number} gives other bytes from run to run here"
                continue
            if not certified["outputs"]:
                yield f"call {number} gave other bytes from run to run when it was certified"
                continue
            for name in sorted({**certified["outputs"], **here["outputs"]}):
                rows = [call["outputs"].get(name) for call in (certified, here)]
                if rows[0] != rows[1]:
                    then, now = (
                        "no such output" if row is None else f"shape {tuple(row['shape'])} and {row['sha256'][:16]}"
                        for row in rows
                    )
                    yield f"call {number}, output `{name}`: {then} certified, {now} here"

    @property
    def passed(self) -> bool:
        """Whether every run of a call gave the same bytes, in three runs or more."""
        return self.verdict == PASSED

    @property
    def verdict(self) -> str:
        """ "passed", "nondeterministic" or "incomplete" (fewer than three runs)."""
        found: str = self.content["verdict"]
        return found

    def __repr__(self) -> str:
        name, count = self.content["procedure"]["name"], len(self.content["calls"])
        return f"<vyre.conformance.ProcedureCertificate {name} on {self.place}: {count} calls {self.verdict}>"


def _verdict(calls: Sequence[Mapping[str, Any]], runs: int) -> str:
    if not all(call["outputs"] for call in calls):
        return NONDETERMINISTIC
    return PASSED if runs >= RUNS else "incomplete"


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
    if all(kind == "input" for kind, *_ in _core._procedure_interface(value, True)):
        raise ArgumentError(f"procedure `{value.name}` has no result. Fix: return an array from it.")
    listed = [calls] if isinstance(calls, Mapping) else list(calls)
    made = [_elements_of(value, call) for call in listed]
    if not made:
        raise ArgumentError("argument `calls` of certify_procedure is empty. Fix: write calls={'x': 1000}.")
    whole = as_count(seed)
    if whole is None or not 0 <= whole < 2**64:
        raise must_be("argument `seed` of certify_procedure", "an integer from 0 to 2^64 - 1", shown(seed))
    return _certified(value, made, whole, backend, device, repeat)


def verify_procedure(
    certificate: ProcedureCertificate | str | os.PathLike[str],
    procedure: Any,
    *,
    backend: str | RunProcedure | None = None,
    device: int | vyre.Device | None = None,
    repeat: int | None = None,
) -> Verification[ProcedureCertificate | None]:
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
        return Verification((printable(difference),), (), None)
    made = [
        (
            {name: Elements._from_row(row) for name, row in call["arrays"].items()},
            {name: int(number) for name, number in call["numbers"].items()},
        )
        for call in given.content["calls"]
    ]
    for call in made:
        _check_fits(value, *call)
    runs = runs_to_verify(given, repeat)
    return compare(given, _certified(value, made, given.content["seed"], backend, device, runs))


def _procedure_of(given: Any, function: str) -> Procedure:
    value = getattr(given, "procedure", given)
    if not isinstance(value, Procedure):
        raise must_be(f"argument `procedure` of {function}", "a procedure", type_of(given))
    value.check()
    return value


def _named(procedure: Procedure) -> dict[str, str]:
    return {"name": procedure.name, "sha256": hashlib.sha256(procedure.to_bytes()).hexdigest()}


_Call = tuple[dict[str, Elements], dict[str, int]]


def _elements_of(procedure: Procedure, call: Any) -> _Call:
    if not isinstance(call, Mapping):
        raise must_be("a call of certify_procedure", "a dict", shown(call))
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
            low, high = RANGES[element]
            count = as_count(numbers.get(name))
            if count is None or not low <= count <= high:
                raise must_be(
                    f"number {where}", f"an integer from {low} to {high}", shown(numbers.get(name)), BindingError
                )
            continue
        given = arrays.get(name)
        extents = () if given is None else given._axes()
        if len(extents) != axes or any(as_count(each) is None or each < 0 for each in extents):
            wanted = "its length" if axes == 1 else f"a tuple of {axes} lengths"
            raise must_be(f"array {where}", wanted, shown(None if given is None else given.shape), BindingError)
        assert given is not None
        if given.below is not None and (as_count(given.below) is None or not 0 < given.below < 2**64):
            raise must_be(f"`below` of array {where}", "a number above 0", shown(given.below), BindingError)


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
    called = set(re.findall(r'\bcall\("([^"\\]+)"', procedure.to_text()))
    results = [
        {
            "arrays": {name: each._row() for name, each in arrays.items()},
            "numbers": {name: str(int(number)) for name, number in numbers.items()},
            "outputs": row if len(each) == 1 else {},
        }
        for (arrays, numbers), row, each in zip(calls, rows, found, strict=True)
    ]
    return ProcedureCertificate._make(
        place,
        kind=ProcedureCertificate.kind,
        procedure=_named(procedure),
        operations={name: sha for name, sha in operation_hashes().items() if name.split("@")[0] in called},
        seed=seed,
        runs=repeat,
        calls=results,
        verdict=_verdict(results, repeat),
    )


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
            words.append(bits_of(element, int(numbers[name])))
    given = [_core._array(array, place.backend, place.index) for array in inputs.values()]
    return submit_by_name(procedure, given, words, place.backend, place.index)
