"""Runs a case on a backend and says what came of it: passed, allowed, failed or skipped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import vyre
from vyre import Program, _core
from vyre.conformance.case import Arrays, Case, hash_arrays
from vyre.errors import ArgumentError, CapabilityError, DeviceError, LoweringError, ValidationError, VyreError

# (program, inputs, grid, optimize) -> the ReadWrite buffers, as vyre.run gives them
Run = Callable[[Program, Mapping[str, np.ndarray], tuple[int, int, int], "bool | None"], Mapping[str, np.ndarray]]

PASSED, ALLOWED, FAILED, SKIPPED = "passed", "allowed", "failed", "skipped"


@dataclass(frozen=True)
class Target:
    """Where cases run, and what is known of that place.

    Attributes:
        backend: a name of vyre.backends(), or "callable" and what a callable calls itself.
        index: the device's index in vyre.devices(); None for a backend without devices.
        run: what runs a program.
    """

    backend: str
    index: int | None
    run: Run

    @property
    def name(self) -> str:
        """A short name for people.

        >>> target("reference").name
        'reference'
        """
        if self.index is None:
            return self.backend
        return vyre.devices()[self.index].name

    def describe(self) -> dict[str, Any]:
        """What a certificate says of the place; the probes of a device are known once it has run something."""
        if self.backend not in vyre.backends():
            return {"backend": self.backend}
        device = _core._devices(self.backend)[self.index or 0]
        return {
            "backend": self.backend,
            # A certificate is read elsewhere, where "this processor" is another one.
            "device": _processor() if self.backend == "cpu" else device["name"],
            "driver": device["driver"],
            "kind": device["kind"],
            "limits": device["limits"],
            "probes": device["probes"],
        }


def _processor() -> str:
    """The name of this machine's processor, as Linux has it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "this processor"
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "this processor")


def target(backend: str | Run | None = None, device: int | vyre.Device | None = None) -> Target:
    """The place that vyre.run would choose for these arguments; or a callable that runs programs itself.

    Args:
        backend: a name of vyre.backends(); None for the best one, or for that of the device; or a callable
            ``(program, inputs, grid, optimize) -> outputs``, to put another implementation to the test.
        device: an index into vyre.devices() or one of its elements; None for the backend's default.

    Raises: ArgumentError, DeviceError when there is no such backend or device.
    """
    if callable(backend):
        # Under no name that a backend could have: a certificate of it is not one of that backend.
        return Target(f"callable {getattr(backend, '__name__', type(backend).__name__)}", None, backend)
    if isinstance(device, vyre.Device):
        backend, device = backend or device.backend, device.index
    elif backend is None and device is not None:
        backend = next((known.backend for known in vyre.devices() if known.index == device), "vulkan")
    name = backend or vyre.backends()[0]
    unavailable = vyre.backends().unavailable()
    if name not in vyre.backends():
        if name not in unavailable:
            known = ", ".join([*vyre.backends(), *unavailable])
            raise ArgumentError(f"there is no backend {name!r}. Fix: name one of {known}.")
        raise DeviceError(
            f"backend {name!r} does not work here: {' '.join(unavailable[name])} "
            f"Fix: run `vyre doctor`, or name one of {', '.join(vyre.backends())}."
        )
    found = vyre.devices(name)
    if device is not None and not found:
        raise ArgumentError(f"backend {name!r} has no devices to choose from. Fix: leave the device out.")
    if device is None:
        index = next((d.index for d in found if d.default), None)
    else:
        usable = [d.index for d in found if d.usable]
        if device not in usable:
            listed = ", ".join(map(str, usable)) or "none"
            raise ArgumentError(
                f"backend {name!r} has no usable device {device!r}: its usable ones are {listed}. "
                "Fix: name one of these; `vyre devices` lists them."
            )
        index = device

    def run(
        program: Program, inputs: Mapping[str, np.ndarray], grid: tuple[int, int, int], optimize: bool | None
    ) -> Mapping[str, np.ndarray]:
        return vyre.run(program, inputs, grid, backend=name, device=index, optimize=optimize)

    return Target(name, index, run)


def usable_targets() -> list[Target]:
    """Every backend and usable device of this machine."""
    places = []
    for name in vyre.backends():
        usable = [device.index for device in vyre.devices(name) if device.usable]
        places += [target(name, index) for index in usable] or [target(name)]
    return places


@dataclass(frozen=True)
class Result:
    """What came of a case.

    Attributes:
        status: "passed", "allowed" (the documents allow several outputs, and this was one of them), "failed" or
            "skipped".
        output: SHA-256 of the output; "" where several are allowed, or nothing ran to its end.
        reason: why it failed or was skipped.
        note: what the documents leave open and this place does, such as a typed refusal.
        observed: how often each allowed outcome was seen; for people, not for certificates.
    """

    case: Case
    status: str
    output: str = ""
    reason: str = ""
    note: str = ""
    observed: dict[str, int] = field(default_factory=dict)


def run_case(made: Case, place: Target) -> Result:
    """Run one case. Only an interrupt comes out of it as an exception.

    >>> from vyre.conformance.catalogue import cases
    >>> run_case(cases(["L1"])[0], target("reference")).status
    'passed'
    """
    if made.skip:
        return Result(made, SKIPPED, reason=made.skip)
    try:
        if made.twin is not None and (difference := _lowered_differently(made)):
            return Result(made, FAILED, reason=difference)
        for switch in made.optimize:
            result = _judged(made, _dispatch(made, place, switch))
            if result.status == FAILED:
                where = {None: "", True: "with the optimiser: ", False: "without the optimiser: "}[switch]
                return replace(result, reason=where + result.reason)
        return result
    except CapabilityError as error:
        return Result(made, SKIPPED, reason=str(error))
    except ValidationError as error:
        # Without places: a certificate names no files.
        said = " ".join(f"{found.rule}: {found.message}" for found in error.diagnostics)
        return Result(made, FAILED, reason=f"ValidationError: {said}")
    except VyreError as error:
        # The documents allow a refusal by name in some places; a lost device or a time-out is never one.
        refusal = type(error) is DeviceError
        if refusal and made.refusable:
            return Result(made, ALLOWED, note=f"refused: {error}")
        return Result(made, SKIPPED if refusal else FAILED, reason=f"{type(error).__name__}: {error}")
    except Exception as error:
        return Result(made, FAILED, reason=f"{type(error).__name__}: {error}")


def _judged(made: Case, arrays: Arrays) -> Result:
    written = {name: arrays[name] for name in made.written}
    observed: dict[str, int] = {}
    if made.judge is not None:
        judgement = made.judge(written)
        written, observed = judgement.decided, judgement.observed
    difference = _difference(made.expected, written)
    output = "" if made.checks else hash_arrays(written)
    if difference:
        return Result(made, FAILED, output=output, reason=difference, observed=observed)
    return Result(made, ALLOWED if made.checks else PASSED, output=output, observed=observed)


def _dispatch(made: Case, place: Target, switch: bool | None) -> Arrays:
    arrays: Arrays = dict(made.inputs)
    for step in made.steps:
        bound = step.bound()
        # A copy each: a wrong backend may write to what it was only given to read.
        inputs = {buffer: arrays[array].copy() for buffer, array, _ in bound}
        outputs = place.run(step.program, inputs, step.grid, switch)
        for buffer, array, written in bound:
            if written:
                arrays[array] = np.asarray(outputs[buffer])
    return arrays


def _lowered_differently(made: Case) -> str:
    try:
        forms = [vyre.lower(program, "spirv") for program in (made.steps[0].program, made.twin) if program is not None]
    except LoweringError as error:
        raise CapabilityError(f"the two forms cannot be compared: {error}") from error
    if forms[0] == forms[1]:
        return ""
    return f"the two forms lower to different SPIR-V: {len(forms[0])} and {len(forms[1])} bytes"


def _difference(expected: Arrays, found: Arrays) -> str:
    """The first place where the output is not what it must be, in words; "" where there is none."""
    for name, wanted in expected.items():
        got = found.get(name)
        if got is None:
            return f"array `{name}` is missing from the output"
        if got.dtype != wanted.dtype or got.shape != wanted.shape:
            return f"array `{name}` is {got.dtype}{list(got.shape)}, must be {wanted.dtype}{list(wanted.shape)}"
        wrong = np.flatnonzero((got != wanted).ravel())
        if wrong.size:
            at = int(wrong[0])
            return (
                f"array `{name}`: element {at} is {got.ravel()[at]}, must be {wanted.ravel()[at]}"
                f" ({wrong.size} of {wanted.size} differ)"
            )
    return ""
