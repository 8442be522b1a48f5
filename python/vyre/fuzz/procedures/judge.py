"""Compares backends with the model."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._base.refused import no_place
from vyre._base.types import NUMPY
from vyre._core import DataType
from vyre._default import place
from vyre.errors import ArgumentError, CapabilityError, DeviceError, VyreError
from vyre.fuzz.compare import SPEEDUPS, Judgement, Way, checked_ways
from vyre.fuzz.procedures.model import expected

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre._core import Array, Procedure
    from vyre.fuzz.procedures.spec import Call, ProcedureCase, Spec

__all__ = ["judge", "run"]

_EVERYTHING = 2**62


def run(procedure: Procedure, call: Call, backend: str, device: int | None = None) -> list[bytes]:
    """What a user's call gives: the bytes of the in_outs and outputs, in the order of the interface."""
    interface = _core._procedure_interface(procedure, True)
    given: list[Array] = []
    for (_, _, element, _), (shape, data) in zip(interface, call.arrays, strict=False):
        given.append(_core._array(_array(element, shape, data), *place(backend, device)))
    where = given[0] if given else _core._empty([0], np.dtype(np.uint32), *place(backend, device))
    empty = [None] * (len(interface) - len(given))
    made = _core._run_procedure(procedure, given, list(call.numbers), empty, where.backend, where.device)
    changed = [array for (role, *_), array in zip(interface, given, strict=False) if role == "in_out"]
    return [_bytes(array) for array in [*changed, *made]]


def _array(element: DataType, shape: Sequence[int], data: bytes) -> np.ndarray:
    dtype, lanes = NUMPY[element]
    return np.frombuffer(data, dtype).reshape((*shape, *lanes))


def _bytes(array: Array) -> bytes:
    host = array.numpy()
    return host.tobytes()


def _run_steps(procedure: Procedure, call: Call, way: Way) -> list[bytes]:
    """The same with switches of lowering."""
    interface = _core._procedure_interface(procedure, True)
    where = _core._empty([0], np.dtype(np.uint32), *place(way.backend, way.device))
    given = [np.frombuffer(data, np.uint8).copy() for _, data in call.arrays]
    shapes = [list(shape) for shape, _ in call.arrays]
    optimize: Any = way.optimize if isinstance(way.optimize, bool) else list(way.optimize)
    found = _core._run_steps(
        procedure,
        shapes,
        given,
        list(call.numbers),
        where.backend,
        where.device,
        optimize,
        60.0,
        _EVERYTHING,
        [],
        "vyre.fuzz",
    )
    return [data for (role, *_), data in zip(interface, found, strict=True) if role != "input"]


def runners(way: Way) -> list[tuple[str, Callable[[Procedure, Call], list[bytes]]]]:
    """How a way runs a procedure: with its switches; and as a user's call does, where it asks for all of them."""
    if way.in_python:
        function: Callable[..., Any] = way.function()  # it takes a procedure and a Call, and gives bytes
        return [("", lambda procedure, call: function(procedure, call, device=way.device, optimize=way.optimize))]
    found: list[tuple[str, Callable[[Procedure, Call], list[bytes]]]] = [
        ("", lambda procedure, call: _run_steps(procedure, call, way))
    ]
    if way.optimize is True or (not isinstance(way.optimize, bool) and set(way.optimize) == set(SPEEDUPS)):
        found.append((", as called", lambda procedure, call: run(procedure, call, way.backend, way.device)))
    return found


def ways_for_procedures(ways: Sequence[Way]) -> list[Way]:
    """The ways that a procedure can be run: the reference takes its steps in one order of invocations."""
    kept = [way for way in ways if way.schedule is None]
    if len(kept) < len(ways):
        kept = [*kept, Way("reference")]
    return list(dict.fromkeys(kept))


def refuse_against(against: Way | None, function: str) -> None:
    """Raises: ArgumentError where procedures are to be compared with anything but their model."""
    if against is not None:
        raise no_place(f"argument `against` of {function}", "for procedures")


def judge(case: ProcedureCase, ways: Sequence[Way], *, progress: Any = None) -> Judgement:
    """Compare each way with the model, call after call.

    Args:
        progress: 16 bytes of shared memory, as for vyre.fuzz.judge.

    Returns: the first way that is wrong, else one that was refused, else that all agree.

    >>> from vyre import fuzz
    >>> from vyre.fuzz import procedures
    >>> procedures.judge(procedures.generate(5), fuzz.ways_of("reference")).kind
    'agrees'
    """
    ways = ways_for_procedures(checked_ways(ways, "vyre.fuzz.procedures.judge"))
    if progress is not None:
        progress[8:16] = (1).to_bytes(8, "little")
    wanted = [expected(case.spec, call, noise) for noise, call in enumerate(case.calls, 1)]
    digest = hashlib.sha256(b"".join(data for each in wanted for data in each)).digest()
    output = int.from_bytes(digest[:8], "little") or 1
    refused = Judgement("agrees", output=output)
    for index, way in enumerate(ways):
        if progress is not None:
            progress[8:16] = (index + 2).to_bytes(8, "little")
        for how, runner in runners(way):
            found = _judge(case, runner, wanted)
            if found is None:
                continue
            kind, message, call = found
            judgement = Judgement(kind, f"{way}{how}", message, index, output, call)
            if not judgement:
                return judgement
            refused = judgement
    return refused


def _judge(
    case: ProcedureCase, runner: Callable[[Procedure, Call], list[bytes]], wanted: list[list[bytes]]
) -> tuple[str, str, int] | None:
    for number, (call, expected_bytes) in enumerate(zip(case.calls, wanted, strict=True)):
        try:
            got = runner(case.procedure, call)
        except CapabilityError as error:
            return "refused", str(error), number
        except DeviceError as error:
            return "refused" if type(error) is DeviceError else "failed", str(error), number
        except ArgumentError as error:
            return "failed", str(error), number
        except VyreError as error:
            return "failed", f"{type(error).__name__}: {error}", number
        difference = _difference(case.spec, got, expected_bytes)
        if difference:
            return "differs", f"{f'in call {number + 1}, ' if number else ''}{difference}", number
    return None


def _difference(spec: Spec, got: Sequence[bytes], wanted: Sequence[bytes]) -> str:
    names = [spec.arrays[index].name for index in spec.interface() if spec.arrays[index].role != "input"]
    if len(got) != len(wanted):
        return f"{len(got)} results instead of {len(wanted)}"
    for name, have, want in zip(names, got, wanted, strict=True):
        if len(have) != len(want):
            return f"array `{name}` has {len(have)} bytes, not {len(want)}"
        if have != want:
            at = next(k for k in range(len(want)) if want[k] != have[k])
            return f"array `{name}` differs at byte {at}: expected 0x{want[at]:02X}, got 0x{have[at]:02X}"
    return ""
