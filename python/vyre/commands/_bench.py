"""What ``vyre bench`` measures: calls of a program, a kernel or a procedure, with arrays of one size, in each place."""

from __future__ import annotations

import hashlib
import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre._base.types import NUMPY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["Measured", "OfKernel", "OfProgram", "Place", "Subject", "measure", "of_numpy", "random_array"]

_LEAST_CALLS = 5
_OWN = (vyre.BufferAccess.Workgroup, vyre.BufferAccess.Private)


@dataclass(frozen=True)
class Place:
    """Where calls run: what a call takes, and how a table names it."""

    backend: str
    device: int | None
    name: str


@dataclass(frozen=True)
class Measured:
    """One row: the times of a call in seconds, and the SHA-256 of what the first one gave.

    Attributes:
        where: the place, or numpy.
        arrays: "numpy" for arrays that go in and come out, "resident" for arrays that stay where the call runs.
        size: elements, by axes.
        bytes: of all arrays that a call reads or makes, each once.
        first: the first call, which compiles.
        median, least: of the others.
        calls: how many others there were.
    """

    where: str
    arrays: str
    size: tuple[int, ...]
    bytes: int
    first: float
    median: float
    least: float
    calls: int
    sha256: str

    @property
    def bytes_per_second(self) -> float:
        return self.bytes / self.median if self.median else 0.0


class Subject:
    """What is measured, with its arguments for one size."""

    size: tuple[int, ...]

    def names(self) -> Mapping[str, Any]:
        """The arguments by name, for an expression of numpy."""
        raise NotImplementedError

    def on_host(self, place: Place) -> Callable[[], list[np.ndarray]]:
        """A call with numpy arrays."""
        raise NotImplementedError

    def resident(self, place: Place) -> Callable[[], list[vyre.Array]]:
        """A call with arrays that stay where it runs; it does not wait."""
        raise NotImplementedError

    def bytes_in(self) -> int:
        return sum(each.nbytes for each in self.names().values() if isinstance(each, np.ndarray))


class OfKernel(Subject):
    """A kernel or a procedure, called with what its parameters take."""

    def __init__(self, called: Any, given: Mapping[str, Any], size: tuple[int, ...], how: dict[str, Any]) -> None:
        self.size, self._called, self._how = size, called, how
        self._given = dict(given)

    def names(self) -> Mapping[str, Any]:
        return self._given

    def on_host(self, place: Place) -> Callable[[], list[np.ndarray]]:
        given = {name: _copy(value) for name, value in self._given.items()}
        how = {**self._how, "backend": place.backend, "device": place.device}
        return lambda: _listed(self._called(**given, **how))

    def resident(self, place: Place) -> Callable[[], list[vyre.Array]]:
        given = dict(self._given)
        for name, value in given.items():
            if isinstance(value, np.ndarray):
                given[name] = vyre.array(value, backend=place.backend, device=place.device)
        return lambda: _listed(self._called(**given, **self._how))


class OfProgram(Subject):
    """A program with an array for each buffer that a call binds."""

    def __init__(
        self, program: vyre.Program, given: Mapping[str, np.ndarray], size: tuple[int, ...], grid: tuple[int, ...]
    ) -> None:
        self.size, self._program, self._given, self._grid = size, program, given, grid
        self._bound = [decl for decl in program.buffers if decl.access not in _OWN]

    def names(self) -> Mapping[str, Any]:
        return self._given

    def on_host(self, place: Place) -> Callable[[], list[np.ndarray]]:
        how: dict[str, Any] = {"backend": place.backend, "device": place.device}
        return lambda: list(vyre.run(self._program, self._given, self._grid, **how).values())

    def resident(self, place: Place) -> Callable[[], list[vyre.Array]]:
        arrays = [
            vyre.array(self._given[decl.name], backend=place.backend, device=place.device) for decl in self._bound
        ]
        written = [
            array for decl, array in zip(self._bound, arrays, strict=True) if decl.access == vyre.BufferAccess.ReadWrite
        ]

        def call() -> list[vyre.Array]:
            self._program(*arrays, workgroups=self._grid)
            return written

        return call


def random_array(element: vyre.DataType, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Numbers from the whole range of a type, the same in every run."""
    dtype, lanes = NUMPY[element]
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, (*shape, *lanes)).astype(np.bool_)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, (*shape, *lanes), dtype=np.dtype(dtype), endpoint=True)


def measure(subject: Subject, places: list[Place], seconds: float) -> Iterator[Measured]:
    """A row for each place and each kind of arrays."""
    for place in places:
        call = subject.on_host(place)
        yield _row(place.name, "numpy", subject, call, lambda results: results, seconds)
        # The first call may be with numpy arrays, whose program another one takes.
        resident = subject.resident(place)
        yield _row(place.name, "resident", subject, resident, _waited, seconds)


def of_numpy(subject: Subject, expression: str, seconds: float) -> Measured:
    """The row of an expression of numpy, which sees the arguments by their names.

    Raises: ArgumentError when it cannot be evaluated.
    """
    code = compile(expression, "--numpy", "eval")
    names = {"np": np, "numpy": np, **subject.names()}

    def call() -> list[np.ndarray]:
        return [np.asarray(each) for each in _listed(eval(code, names))]

    try:
        return _row("numpy", "numpy", subject, call, lambda results: results, seconds)
    except Exception as error:  # of the user's expression
        raise vyre.ArgumentError(
            f"--numpy {expression[:80]} cannot be evaluated: {type(error).__name__}: {error}. Fix: write an expression "
            f"of np and {', '.join(subject.names())}."
        ) from error


def _row(
    where: str,
    arrays: str,
    subject: Subject,
    call: Callable[[], Any],
    wait: Callable[[Any], list[np.ndarray]],
    seconds: float,
) -> Measured:
    start = time.perf_counter()
    results = call()
    hosts = wait(results)
    first = time.perf_counter() - start
    sha256, made = hashlib.sha256(), 0
    for each in hosts:
        array = np.ascontiguousarray(each)
        made += array.nbytes
        sha256.update(array.tobytes())
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < _LEAST_CALLS or time.perf_counter() < end:
        start = time.perf_counter()
        results = call()
        if arrays == "resident":
            for each in results:
                each.wait()
        times.append(time.perf_counter() - start)
    size = subject.bytes_in() + made
    return Measured(
        where, arrays, subject.size, size, first, statistics.median(times), min(times), len(times), sha256.hexdigest()
    )


def _waited(results: list[vyre.Array]) -> list[np.ndarray]:
    return [each.numpy() for each in results]


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def _listed(results: Any) -> list[Any]:
    return [] if results is None else list(results) if isinstance(results, tuple) else [results]
