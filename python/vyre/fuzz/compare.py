"""Ways to run a case, and whether they give the bytes that the reference gives, or another way.

A Way is a backend with a device, a schedule and a choice of speedups, or a function of Python. ``judge`` leaves the
ways of backends to the core, which compares them without the GIL, and runs functions itself. The first way that differs
or fails decides the Judgement; a way that refuses the program is no agreement.
"""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import vyre
from vyre import _core
from vyre._base.refused import must_be
from vyre._base.text import shown
from vyre._tools.objects import imported
from vyre.errors import ArgumentError, CapabilityError, DeviceError
from vyre.fuzz import wgsl

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from vyre.fuzz.case import Case

# This is more than the combinations of what lowering does.
_MOST_WAYS = 10_000


@dataclass(frozen=True)
class Way:
    """One way to run a program.

    Attributes:
        backend: one of ``vyre.backends()``; "wgsl", which goes through the package wgpu; or a Python function that
            takes what ``vyre.run`` takes and returns what it returns, as ``"module:function"`` or
            ``"file.py:function"``.
        device, schedule: as ``vyre.run`` takes them.
        optimize: as ``vyre.run`` takes it; the reference is given the program that the optimiser's passes made.
    """

    backend: str
    device: int | None = None
    schedule: str | None = None
    optimize: bool | tuple[str, ...] = False

    @property
    def in_python(self) -> bool:
        """Whether it is a function of Python's that runs it."""
        return self.backend == "wgsl" or ":" in self.backend

    def function(self) -> Callable[..., dict[str, np.ndarray]]:
        """The function of this way. Raises ArgumentError where there is none."""
        if self.backend == "wgsl":
            return wgsl.run
        found: Callable[..., dict[str, np.ndarray]] = imported(self.backend, "backend")
        return found

    def __str__(self) -> str:
        where = "" if self.device is None else f" device {self.device}"
        order = f", {self.schedule or 'in-order'}" if self.backend == "reference" else ""
        chosen = SPEEDUPS if self.optimize is True else [name for name in SPEEDUPS if name in (self.optimize or ())]
        reached = ", by address" if not isinstance(self.optimize, bool) and "addresses" in self.optimize else ""
        how = f"with {', '.join(chosen)}" if chosen else "as written"
        return f"{self.backend}{where}{order}{reached}, {'optimised' if len(chosen) == len(SPEEDUPS) else how}"

    def _tuple(self) -> tuple[Any, ...]:
        return (self.backend, self.device, self.schedule, self.optimize)


IN_PYTHON = ("wgsl", "module:function")
"""What a Way may have in place of a backend's name, in words."""

SPEEDUPS: tuple[str, ...] = tuple(name for name, _ in _core._tables["speedups"])
"""The names of the speedups of lowering, each of which can be switched off."""


IDLE = {"cpu": ("coarsening", "narrow"), "vulkan": ("compilation",), "cuda": ("compilation", "narrow")}


def ways_of(backend: str, device: int | None = None, *, combinations: bool = False) -> list[Way]:
    """How the case is run on a backend to see whether it is right: the reference in other orders, with the optimiser
    and without; the others with everything that lowering does for speed, wherever it applies, and with nothing of it.

    Args:
        combinations: every combination of what lowering does for speed, on the backends that lower; on Vulkan also
            with arrays reached by their addresses, as those are that a device cannot bind.

    A random order is another one for each program of a sweep.

    >>> len(ways_of("reference"))
    5
    """
    if not isinstance(backend, str):
        raise must_be("argument `backend` of vyre.fuzz.ways_of", "a backend's name", shown(backend))
    if backend == "reference":
        # The program in order and as written is compared with the others, so it is no way.
        orders = [
            (None, True),
            *((order, optimize) for order in ("reversed", "random:0") for optimize in (False, True)),
        ]
        return [Way(backend, device, order, optimize) for order, optimize in orders]
    if backend == "wgsl" or ":" in backend:
        return [Way(backend, device, None, optimize) for optimize in (True, False)]
    # Rows that say nothing to a backend are switched on with the others.
    idle = IDLE.get(backend, ())
    rows = [name for name in SPEEDUPS if name not in idle]
    counts = range(len(rows), -1, -1) if combinations else (len(rows), 0)
    chosen = [
        tuple(name for name in SPEEDUPS if names and (name in names or name in idle))
        for count in counts
        for names in itertools.combinations(rows, count)
    ]
    if combinations and backend == "vulkan":
        chosen += [(*SPEEDUPS, "addresses"), ("addresses",)]
    return [Way(backend, device, None, names) for names in chosen]


def way_against(backend: str, device: int | None = None) -> Way:
    """The way in which a backend is compared with: with everything that lowering does for speed, as calls run.

    >>> str(way_against("cpu"))
    'cpu, optimised'
    """
    return Way("reference") if backend == "reference" else ways_of(backend, device)[0]


def checked_against(against: object, function: str) -> Way | None:
    """The way that others are compared with. Raises ArgumentError for what is none."""
    if against is None or isinstance(against, Way):
        return against
    raise must_be(f"argument `against` of {function}", "a Way or None", shown(against))


def checked_ways(ways: Sequence[Way], function: str) -> list[Way]:
    """The ways as a list. Raises ArgumentError for what is none."""
    found: list[Way] = []
    try:
        for way in ways:
            if not isinstance(way, Way) or len(found) == _MOST_WAYS:
                raise TypeError
            found.append(way)
    except (TypeError, NotImplementedError):  # the second for a memoryview of several axes
        raise must_be(f"argument `ways` of {function}", "a list of Ways", shown(ways)) from None
    return found


@dataclass(frozen=True)
class Judgement:
    """How a case fared.

    Attributes:
        kind: "agrees", "refused" (a device's limit, or a driver known not to keep its word: neither right nor wrong),
            "differs" or "failed" (an error that no valid program may meet); of a sweep also "crashed" and "hung", which
            end the process.
        way, message: which way, and what happened; empty when all agree.
        index: the number of that way; None for the one that the others are compared with.
        output: a hash of what that one gave in all calls, the same on every machine; 0 if it failed.
        call: which call of the case differs, from 0.
    """

    kind: str
    way: str = ""
    message: str = ""
    index: int | None = None
    output: int = 0
    call: int = 0

    def __bool__(self) -> bool:
        """Whether nothing is wrong."""
        return self.kind in ("agrees", "refused")


def judge(
    case: Case,
    ways: Sequence[Way],
    *,
    tried: Case | None = None,
    against: Way | None = None,
    patience: float = 60.0,
    progress: Any = None,
) -> Judgement:
    """Compare each way with another one, after every call of the case.

    Args:
        tried: what the ways run instead; it must give the bytes of ``case``, buffer by buffer.
        against: what they are compared with; None for the reference that runs the program as written, in order. Where
            it is refused, nothing is compared.
        patience: seconds that one call may take; a function of Python's is not asked about it.
        progress: 16 bytes of shared memory; a u64 in the second half grows when a run begins: 1 for what the ways are
            compared with, k + 2 for ``ways[k]``.

    Returns: the first way that is wrong, else one that was refused, else that all agree.

    >>> from vyre import fuzz
    >>> judge(fuzz.generate(7), fuzz.ways_of("cpu")).kind
    'agrees'
    >>> judge(fuzz.generate(7), fuzz.ways_of("cpu"), against=fuzz.Way("reference", schedule="reversed")).kind
    'agrees'
    """
    ways = checked_ways(ways, "vyre.fuzz.judge")
    other = checked_against(against, "vyre.fuzz.judge")
    if other is not None and other.in_python:
        return _judge_against_function(case, tried or case, ways, other, progress)
    native = [(index, way) for index, way in enumerate(ways) if not way.in_python]
    instead = None if tried is None else tried._tuple()
    given = _core._fuzz_judge(
        case._tuple(),
        instead,
        [way._tuple() for _, way in native],
        patience,
        progress,
        None if other is None else other._tuple(),
    )
    found = Judgement(*given)
    if found.index is not None:
        found = replace(found, index=native[found.index][0])
    # Where the one that they are compared with was refused, there is nothing to compare with.
    if not found or len(native) == len(ways) or (found.kind == "refused" and found.index is None):
        return found
    expected = [_run(case, call, other or Way("reference")) for call in range(len(case.calls))]
    rest = [(index, way) for index, way in enumerate(ways) if way.in_python]
    return _judge_in_python(tried or case, rest, expected, other, found, progress)


def _judge_against_function(case: Case, tried: Case, ways: list[Way], against: Way, progress: Any) -> Judgement:
    """Compare with a function of Python's."""
    if progress is not None:
        progress[8:16] = (1).to_bytes(8, "little")
    expected: list[dict[str, np.ndarray]] = []
    for call in range(len(case.calls)):
        kind, answer = _answer(case, call, against)
        if isinstance(answer, str):
            return Judgement(kind, str(against), answer)
        expected.append(answer)
    digest = hashlib.sha256()
    for arrays in expected:
        for name, array in sorted(arrays.items()):
            digest.update(f"{name}:{array.nbytes}:".encode() + array.tobytes())
    agrees = Judgement("agrees", output=int.from_bytes(digest.digest()[:8], "little") or 1)
    return _judge_in_python(tried, list(enumerate(ways)), expected, against, agrees, progress)


def _judge_in_python(
    case: Case,
    ways: list[tuple[int, Way]],
    expected: list[dict[str, np.ndarray]],
    against: Way | None,
    found: Judgement,
    progress: Any,
) -> Judgement:
    for index, way in ways:
        if progress is not None:
            progress[8:16] = (index + 2).to_bytes(8, "little")
        for call, arrays in enumerate(expected):
            kind, message = _compare(case, call, way, arrays, against)
            if kind != "agrees":
                where = f"in call {call + 1}, " if call and kind == "differs" else ""
                found = Judgement(kind, str(way), where + message, index, found.output, call)
                break
        if not found:
            break
    return found


def _run(case: Case, call: int, way: Way) -> dict[str, np.ndarray]:
    """Return the ReadWrite buffers after a call of a case. Raises what vyre.run or the function raises."""
    inputs: Any = case.inputs(call=call, arrays=True)
    if way.in_python:
        return way.function()(case.program, inputs, case.grid, device=way.device, optimize=way.optimize)
    return vyre.run(
        case.program,
        inputs,
        case.grid,
        backend=way.backend,
        device=way.device,
        schedule=way.schedule,
        optimize=way.optimize,
    )


def _answer(case: Case, call: int, way: Way) -> tuple[str, dict[str, np.ndarray] | str]:
    """The kind, and the buffers that a way gives or the message why it gives none."""
    try:
        return "agrees", _run(case, call, way)
    except CapabilityError as error:
        return "refused", str(error)
    except DeviceError as error:
        return "refused" if type(error) is DeviceError else "failed", str(error)
    except ArgumentError:
        raise
    except Exception as error:
        # The function is not vyre's, so any exception is its answer.
        return "failed", f"{type(error).__name__}: {error}"


def _compare(case: Case, call: int, way: Way, expected: dict[str, np.ndarray], against: Way | None) -> tuple[str, str]:
    """Kind and message."""
    kind, got = _answer(case, call, way)
    if isinstance(got, str):
        return kind, got
    for name, array in expected.items():
        if name not in got:
            return "failed", f"the result has no buffer `{name}`"
        want, have = array.tobytes(), got[name].tobytes()
        if len(have) != len(want):
            return "failed", f"buffer `{name}` has {len(have)} bytes, not {len(want)}"
        if have == want:
            continue
        at = next(k for k in range(0, len(want), 4) if want[k : k + 4] != have[k : k + 4])
        wanted, found = (int.from_bytes(content[at : at + 4], "little") for content in (want, have))
        told = f"expected 0x{wanted:08X}, got 0x{found:08X}"
        if against is not None and against.backend != "reference":
            told = f"0x{found:08X} by {way}; 0x{wanted:08X} by {against}"
        return "differs", f"buffer `{name}` differs at word {at // 4}: {told}"
    return "agrees", ""
