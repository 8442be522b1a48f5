"""Runs cases on a backend, each several times with others between, and says what came of each.

Non-determinism is found by running the same input several times. What a backend keeps from one call to the next
(compiled programs, recorded commands, memory) differs most when other programs ran in between.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import _core
from vyre._base.refused import must_be, no_place
from vyre._default import check_backend
from vyre.conformance.case import Arrays, Case, hash_arrays
from vyre.conformance.families import barriers
from vyre.errors import ArgumentError, CapabilityError, DeviceError, LoweringError, ValidationError, VyreError

if TYPE_CHECKING:
    from vyre import Program

# (program, inputs, grid, optimize) -> the ReadWrite buffers, as vyre.run gives them
Run = Callable[["Program", Mapping[str, np.ndarray], tuple[int, int, int], "bool | None"], Mapping[str, np.ndarray]]

PASSED, ALLOWED, FAILED, SKIPPED = "passed", "allowed", "failed", "skipped"
NONDETERMINISTIC = "nondeterministic"

RUNS = 3  # of each case, unless the caller says otherwise; a level with fewer is not passed
MAX_RUNS = 1000
# Cases that take turns. A prime, so that any stride visits all of them, and odd, so that what is wrong in every second
# call meets each case in some of its runs and not in others.
_BLOCK = 7


@dataclass(frozen=True)
class Target:
    """A place where cases run, and what is known of it.

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
        return vyre.devices(self.backend)[self.index].name

    def describe(self) -> dict[str, Any]:
        """The part of a certificate about the place; the probes of a device are known once it has run something."""
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
        listed = vyre.devices()
        backend, device = (listed[device].backend, listed[device].index) if device < len(listed) else ("vulkan", device)
    name = backend or vyre.backends()[0]
    check_backend(name, "argument `backend` of vyre.conformance.target")
    reasons = vyre.backends().unavailable().get(name)
    if reasons is not None:
        raise DeviceError(f"backend {name!r} does not work here: {' '.join(reasons)}")  # with a Fix
    found = vyre.devices(name)
    if device is not None and not found:
        raise no_place(f"device {device}", f"with backend {name!r}")
    if device is None:
        index = next((d.index for d in found if d.default), None)
    else:
        usable = [d.index for d in found if d.usable]
        if device not in usable:
            known_ones = ", ".join(map(str, usable)) or "none"
            raise ArgumentError(
                f"backend {name!r} has no usable device {device!r}: its usable ones are {known_ones}. "
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
    """The outcome of a case.

    Attributes:
        status: "passed", "allowed" (the documents allow several outputs, and these were some of them), "failed",
            "nondeterministic" (two runs of one input gave different bytes, or ended differently) or "skipped".
        output: SHA-256 of the output; "" where several are allowed, where runs differ, or nothing ran to its end.
        reason: why it failed or was skipped, or which run differs and where.
        note: what the documents leave open and this place does, such as a typed refusal.
        observed: how often each allowed outcome was seen in all runs; for people, not for certificates.
    """

    case: Case
    status: str
    output: str = ""
    reason: str = ""
    note: str = ""
    observed: dict[str, int] = field(default_factory=dict)


def run_case(made: Case, place: Target, *, repeat: int = RUNS) -> Result:
    """Run one case several times, with runs of small other cases between.

    Args:
        repeat: how often, from 1 to 1,000.

    Raises: ArgumentError, KeyboardInterrupt; a failure of the case is in the result.

    >>> from vyre.conformance.catalogue import cases
    >>> run_case(cases(["L1"])[0], target("reference")).status
    'passed'
    """
    others = [one for one in _companions() if one.id != made.id][:2] if check_repeat(repeat) > 1 else []
    return next(_run_block([made, *others], place, repeat))


def run_cases(made: Iterable[Case], place: Target, *, repeat: int = RUNS) -> Iterator[Result]:
    """Run cases, each several times with others between, and give their results in the order of the cases.

    Which case runs when depends on the list alone.

    Args, Raises: as run_case.

    >>> from vyre.conformance.catalogue import cases
    >>> {result.status for result in run_cases(cases(["L4"]), target("reference"))}
    {'passed'}
    """
    check_repeat(repeat)
    listed = list(made)
    if len(listed) == 1:
        yield run_case(listed[0], place, repeat=repeat)
        return
    # The remainder joins the last block, so that no case is alone.
    starts = list(range(0, max(len(listed) - _BLOCK, 0) + 1, _BLOCK)) if listed else []
    for start, end in zip(starts, [*starts[1:], len(listed)], strict=True):
        yield from _run_block(listed[start:end], place, repeat)


def check_repeat(repeat: int) -> int:
    """The number of runs, if it is one.

    Raises: ArgumentError.

    >>> check_repeat(3)
    3
    """
    if isinstance(repeat, bool) or not isinstance(repeat, int) or not 1 <= repeat <= MAX_RUNS:
        raise must_be("argument `repeat`", f"an integer from 1 to {MAX_RUNS}", f"{repeat!r}")
    return repeat


@cache
def _companions() -> list[Case]:
    """Quick cases with storage, workgroup memory, atomics and barriers, which run between the runs of a single case."""
    names = ("L1/barriers/vectors", "L1/barriers/atomics_then_load", "L1/barriers/store_then_atomics")
    return [made for made in barriers.cases() if made.id in names]


def _order(count: int, repeat: int) -> Iterator[int]:
    """The order in which `count` cases run: `repeat` rounds over all of them, each in another order.

    Every round begins with 0 and none ends with it, so that no case follows itself.

    >>> list(_order(5, 3))
    [0, 1, 2, 3, 4, 0, 2, 4, 1, 3, 0, 3, 1, 4, 2]
    """
    strides = [stride for stride in range(1, count) if math.gcd(stride, count) == 1] or [1]
    for turn in range(repeat):
        stride = strides[turn % len(strides)]
        yield from (k * stride % count for k in range(count))


def _run_block(block: Sequence[Case], place: Target, repeat: int) -> Iterator[Result]:
    runs: list[list[_Run]] = [[] for _ in block]
    for k in _order(len(block), repeat):
        runs[k].append(_run_once(block[k], place))
    for made in runs:
        yield _summary(made)


@dataclass(frozen=True)
class _Run:
    """One run of a case: its result, and its decided output for each setting of the optimiser."""

    result: Result
    outputs: dict[bool | None, Arrays] = field(default_factory=dict)


def _summary(runs: Sequence[_Run]) -> Result:
    """The result of a case from its several runs."""
    first = runs[0]
    for number, run in enumerate(runs[1:], 2):
        if said := _changed(first, run, number, len(runs)):
            return replace(first.result, status=NONDETERMINISTIC, output="", reason=said, note="")
    seen: Counter[str] = Counter()
    for run in runs:
        seen.update(run.result.observed)
    return replace(first.result, observed=dict(seen))


def _changed(first: _Run, run: _Run, number: int, of: int) -> str:
    """How a run differs from the first, in words; "" where it does not."""
    for switch, before in first.outputs.items():
        after = run.outputs.get(switch)
        if after is not None and (difference := _difference(before, after, "was {} in run 1")):
            return f"run {number} of {of} gave other bytes than run 1: {_setting(switch)}{difference}"
    if (first.result.status, first.result.note) != (run.result.status, run.result.note):
        return f"run {number} of {of} {_end(run.result)}; run 1 {_end(first.result)}"
    return ""


def _end(result: Result) -> str:
    why = result.reason or result.note
    return result.status + (f" ({why})" if why else "")


def _setting(switch: bool | None) -> str:
    return {None: "", True: "with the optimiser: ", False: "without the optimiser: "}[switch]


def _run_once(made: Case, place: Target) -> _Run:
    """Run a case once. An interrupt is the only exception that it raises."""
    if made.skip:
        return _Run(Result(made, SKIPPED, reason=made.skip))
    outputs: dict[bool | None, Arrays] = {}
    try:
        if made.twin is not None and (difference := _lowered_differently(made)):
            return _Run(Result(made, FAILED, reason=difference))
        for switch in made.optimize:
            result, outputs[switch] = _judged(made, _dispatch(made, place, switch))
            if result.status == FAILED:
                return _Run(replace(result, reason=_setting(switch) + result.reason), outputs)
        return _Run(result, outputs)
    except CapabilityError as error:
        if made.refusable:
            return _Run(Result(made, ALLOWED, note=f"refused: {error}"), outputs)
        return _Run(Result(made, SKIPPED, reason=str(error)), outputs)
    except ValidationError as error:
        # The places are left out, because a certificate names no files.
        said = " ".join(f"{found.rule}: {found.message}" for found in error.diagnostics)
        return _Run(Result(made, FAILED, reason=f"ValidationError: {said}"), outputs)
    except VyreError as error:
        # The documents allow a refusal by name in some places; a lost device or a time-out is never one.
        refusal = type(error) is DeviceError
        if refusal and made.refusable:
            return _Run(Result(made, ALLOWED, note=f"refused: {error}"), outputs)
        return _Run(Result(made, SKIPPED if refusal else FAILED, reason=f"{type(error).__name__}: {error}"), outputs)
    except Exception as error:
        return _Run(Result(made, FAILED, reason=f"{type(error).__name__}: {error}"), outputs)


def _judged(made: Case, arrays: Arrays) -> tuple[Result, Arrays]:
    written = {name: arrays[name] for name in made.written}
    observed: dict[str, int] = {}
    if made.judge is not None:
        judgement = made.judge(written)
        written, observed = judgement.decided, judgement.observed
    difference = _difference(made.expected, written, "must be {}")
    output = "" if made.checks else hash_arrays(written)
    if difference:
        return Result(made, FAILED, output=output, reason=difference, observed=observed), written
    return Result(made, ALLOWED if made.checks else PASSED, output=output, observed=observed), written


def _dispatch(made: Case, place: Target, switch: bool | None) -> Arrays:
    arrays: Arrays = dict(made.inputs)
    for step in made.steps:
        bound = step.bound()
        # Each run gets copies, because a wrong backend may write to arrays that it must only read.
        inputs = {buffer: arrays[array].copy() for buffer, array, _ in bound}
        outputs = place.run(step.program, inputs, step.grid, switch)
        for buffer, array, written in bound:
            if written:
                # The result is copied, because a wrong backend may write to it later.
                arrays[array] = np.array(outputs[buffer])
    return arrays


def _lowered_differently(made: Case) -> str:
    try:
        forms = [vyre.lower(program, "spirv") for program in (made.steps[0].program, made.twin) if program is not None]
    except LoweringError as error:
        raise CapabilityError(f"the two forms cannot be compared: {error}") from error
    if forms[0] == forms[1]:
        return ""
    return f"the two forms lower to different SPIR-V: {len(forms[0])} and {len(forms[1])} bytes"


def _difference(wanted: Arrays, found: Arrays, but: str) -> str:
    """The first place where arrays are not what is wanted, in words; "" where there is none.

    `but` says what stands in that place of `wanted`: "must be {}".
    """
    for name, array in wanted.items():
        got = found.get(name)
        if got is None:
            return f"array `{name}` is missing from the output"
        if got.dtype != array.dtype or got.shape != array.shape:
            return f"array `{name}` is {got.dtype}{list(got.shape)}, " + but.format(f"{array.dtype}{list(array.shape)}")
        wrong = np.flatnonzero((got != array).ravel())
        if wrong.size:
            at = int(wrong[0])
            return (
                f"array `{name}`: element {at} is {got.ravel()[at]}, {but.format(array.ravel()[at])}"
                f" ({wrong.size} of {array.size} differ)"
            )
    return ""
