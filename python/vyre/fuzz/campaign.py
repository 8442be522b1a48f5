"""Many programs, by several processes, in the order of their seeds."""

from __future__ import annotations

import os
import time
from collections import deque
from multiprocessing.connection import wait
from typing import TYPE_CHECKING

from vyre import _core
from vyre.errors import DeviceError
from vyre.fuzz.compare import Judgement, Way, checked_against, checked_ways
from vyre.fuzz.log import Row
from vyre.fuzz.settings import Settings
from vyre.fuzz.worker import CHECKED, Worker, WorkerEndedError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

# A run that takes longer is a DispatchTimeoutError by then, unless it hangs where no time-out reaches: in a compiler.
PATIENCE = 90.0
# The programs that a process is given at a time, and the seconds after which it tells of those it has done.
_CHUNK, _SECONDS = 64, 0.25


def default_jobs() -> int:
    """A process for each processor; more than 16 would rather wait for the device."""
    return min(len(os.sched_getaffinity(0)), 16)


def describe(ways: Sequence[Way], *, patience: float = PATIENCE) -> str:
    """The devices of the ways, in words; they are opened in a process of their own.

    Raises: ArgumentError, or CapabilityError where one does not work here.
    """
    ways = checked_ways(ways, "vyre.fuzz.describe")
    if all(way.backend in _core._hosts and not way.device for way in ways):
        return "; ".join(dict.fromkeys(way.backend for way in ways))
    worker = Worker(patience)
    try:
        found: str = worker.ask("describe", list(ways))
        return found
    except WorkerEndedError as error:
        raise _lost(error) from error
    finally:
        worker.close()


def _lost(error: WorkerEndedError) -> DeviceError:
    said = f" It said: {error.said}." if error.said else ""
    return DeviceError(f"no program could be run: {error}.{said} Fix: try `vyre doctor`, which opens every device.")


def sweep(
    ways: Sequence[Way],
    settings: Settings,
    first: int,
    count: int | None = None,
    *,
    seconds: float | None = None,
    jobs: int | None = None,
    patience: float = PATIENCE,
    against: Way | None = None,
    by_turns: bool = False,
) -> Generator[list[Row], None, None]:
    """Run the programs of the seeds from ``first`` on, and tell of each, in order, some at a time.

    Args:
        count: how many; None goes on until ``seconds`` are over, and without those for ever.
        jobs: how many processes; None takes one for each processor.
        patience: seconds without any movement after which a process is ended and the program at fault.
        against: what the ways are compared with; None for the reference. Two backends that are wrong in the same way
            agree, and nothing says so.
        by_turns: each program is run in two of the ways, which depend on its seed, instead of all.

    Raises: what ``describe`` raises.

    >>> from vyre import fuzz
    >>> rows = [row for some in sweep(fuzz.ways_of("cpu"), fuzz.Settings(), 0, 10, jobs=1) for row in some]
    >>> {row.verdict for row in rows}
    {'agrees'}
    """
    other = checked_against(against, "vyre.fuzz.sweep")
    if settings.procedures:
        from vyre.fuzz.procedures.judge import refuse_against, ways_for_procedures

        refuse_against(other, "vyre.fuzz.sweep")
        ways = ways_for_procedures(ways)
    jobs = jobs or default_jobs()
    return _Sweep(list(ways), settings, first, count, seconds, jobs, patience, other, by_turns).rows()


class _Sweep:
    def __init__(
        self,
        ways: list[Way],
        settings: Settings,
        first: int,
        count: int | None,
        seconds: float | None,
        jobs: int,
        patience: float,
        against: Way | None,
        by_turns: bool,
    ) -> None:
        self.against, self.by_turns = against, by_turns
        self.ways, self.settings, self.jobs, self.patience = ways, settings, jobs, patience
        self.next = self.told = first
        self.stop = None if count is None else first + count
        self.deadline = None if seconds is None else time.monotonic() + seconds
        # The seeds that a process left behind: (first, count).
        self.left: deque[tuple[int, int]] = deque()
        self.done: dict[int, Row] = {}
        self.busy: dict[Worker, tuple[int, int]] = {}
        self.idle: list[Worker] = []

    def ways_at(self, seed: int) -> list[Way]:
        """The ways of a program; those of one chunk have the same, so that a process is asked once for all."""
        half = (len(self.ways) + 1) // 2
        if not self.by_turns or half < 2:
            return self.ways
        turn = seed // _CHUNK % half
        return [self.ways[turn], *self.ways[turn + half : turn + half + 1]]

    def rows(self) -> Generator[list[Row], None, None]:
        try:
            while True:
                self.give()
                if not self.busy:
                    return
                ready = wait([worker.connection for worker in self.busy], timeout=0.2)
                for worker in list(self.busy):
                    self.take(worker, worker.connection in ready)
                some = []
                while self.told in self.done:
                    some.append(self.done.pop(self.told))
                    self.told += 1
                if some:
                    yield some
        finally:
            for worker in [*self.busy, *self.idle]:
                worker.close()

    def give(self) -> None:
        """Give every process that has nothing to do some programs."""
        while len(self.busy) < self.jobs:
            if self.deadline is not None and time.monotonic() >= self.deadline:
                return
            if self.left:
                first, count = self.left.popleft()
            else:
                # Up to the end of a chunk, also from a first seed within one.
                first, count = self.next, _CHUNK - self.next % _CHUNK
                count = count if self.stop is None else min(count, self.stop - first)
                if count <= 0:
                    return
                self.next += count
            worker = self.idle.pop() if self.idle else Worker(self.patience)
            worker.send("sweep", first, count, _SECONDS, self.ways_at(first), self.settings, self.against)
            self.busy[worker] = (first, count)

    def take(self, worker: Worker, answered: bool) -> None:
        """Take what a process has done, or see whether it still moves."""
        first, count = self.busy[worker]
        try:
            if not answered:
                worker.check()
                return
            rows = worker.receive()
        except WorkerEndedError as error:
            del self.busy[worker]
            self.idle.append(worker)
            if error.run == 0:
                # No program was running, so the error is not the outcome of a program.
                raise _lost(error) from error
            self.done[error.seed] = self.row_of(error)
            # The programs before this one ran, but their results were lost with the process, so they are run again.
            self.left.extend(
                part
                for part in ((first, error.seed - first), (error.seed + 1, first + count - error.seed - 1))
                if part[1]
            )
            return
        del self.busy[worker]
        self.idle.append(worker)
        for offset, (program, judgement) in enumerate(rows):
            self.done[first + offset] = row(first + offset, program, judgement)
        if len(rows) < count:
            self.left.append((first + len(rows), count - len(rows)))

    def row_of(self, error: WorkerEndedError) -> Row:
        case, _ = self.settings.case(error.seed)
        first = "the model" if self.settings.procedures else str(self.against or Way("reference"))
        way = first if error.run == 1 else str(self.ways_at(error.seed)[error.run - 2])
        if self.settings.checked:
            way = CHECKED
        return row(error.seed, case.hash(), Judgement(error.kind, way, str(error)))


def row(seed: int, program: int, judgement: Judgement) -> Row:
    """The row of the log for a finding."""
    output = f"{judgement.output:016x}" if judgement.output else ""
    return Row(seed, judgement.kind, f"{program:016x}", output, judgement.way, judgement.message)
