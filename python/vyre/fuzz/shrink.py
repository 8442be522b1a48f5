"""Makes of a program that fared badly in a sweep a small one that fares as badly, in a process that may crash."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vyre.fuzz.case import REWRITES, Case, reduce, rewrite
from vyre.fuzz.compare import Judgement, Way
from vyre.fuzz.procedures.shrink import reduce as reduce_procedure
from vyre.fuzz.settings import Settings
from vyre.fuzz.worker import Worker, WorkerEndedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.fuzz.log import Row
    from vyre.fuzz.procedures.spec import ProcedureCase

# A small program that has not ended by then hangs.
PATIENCE = 20.0
# A try that loops for so long is no smaller program that differs; most take a millisecond.
PATIENCE_OF_TRIES = 4.0
TRIES = 3000
# Each try of a program that hangs costs all of the patience.
TRIES_OF_HANGS = 40
# The most places that are looked at: a smaller program has its place for the same rewrite elsewhere.
PLACES = 16


@dataclass(frozen=True)
class Small:
    """A small program that fares badly, or a small procedure.

    Attributes:
        case: the program, with what one run of it needs; a ProcedureCase for a procedure.
        tried: what the way runs in its place, where a rewrite was at fault.
        way: on what.
        judgement: how it fares.
        statements: how many the whole program has, and how many are left; steps of a procedure.
        tries: how many programs were run to find it.
        begins: where the values begin to differ, as ``vyre.bisect`` says it; empty where it has nothing to say.
    """

    case: Case | ProcedureCase
    tried: Case | None
    way: Way
    judgement: Judgement
    statements: tuple[int, int]
    tries: int
    begins: str = ""


def ways_for(seed: int, ways: Sequence[Way]) -> list[Way]:
    """The ways that a sweep takes for one program: each has random orders of its own."""
    result = []
    for way in ways:
        if way.schedule is not None and way.schedule.startswith("random:"):
            way = replace(way, schedule=f"random:{(int(way.schedule[7:]) + seed) % 2**64}")
        result.append(way)
    return result


def shrink(
    row: Row,
    ways: Sequence[Way],
    settings: Settings,
    *,
    tries: int = TRIES,
    patience: float = PATIENCE,
    progress: Callable[[], None] = lambda: None,
    against: Way | None = None,
) -> Small | None:
    """Reduce the program of a row that is wrong.

    Args:
        ways, settings, against: those of the sweep.
        tries: how many programs are run at most.
        progress: called after each try.

    Returns: None when it does not fare badly again.
    """
    case, tried = settings.case(row.seed)
    way = next((way for way in ways_for(row.seed, ways) if row.way in (str(way), f"{way}, as called")), None)
    if way is None:
        # The side that the others are compared with is itself at fault, on the program as it is.
        way = against or Way("reference")
    other = None if against is None else ways_for(row.seed, [against])[0]
    with _Isolated(way, patience, progress, other) as isolated:
        if settings.procedures:
            return _shrink_procedure(isolated, case, tries)
        before = case.statements()
        if tried is not None:
            if isolated.judge(tried):
                # The program is right on its own: two programs that mean the same differ.
                return _shrink_rewrite(isolated, case, tried, tries)
            case = tried
        found = isolated.judge(case)
        if found:
            return None
        # A function may keep state of a call, which must not make it wrong about a smaller case without that call.
        if found.kind == "differs":
            isolated.patience = PATIENCE_OF_TRIES
        isolated.forgets = isolated.in_python and found.call > 0
        limit = TRIES_OF_HANGS if found.kind == "hung" else tries
        smallest = reduce(case, lambda candidate: isolated.fares_like(candidate, found), tries=limit)
        judgement = isolated.judge(smallest)
        begins = isolated.bisect(smallest, judgement.call) if judgement.kind == "differs" else ""
        return Small(smallest, None, way, judgement, (before, smallest.statements()), isolated.count, begins)


def _shrink_procedure(isolated: _Isolated, case: ProcedureCase, tries: int) -> Small | None:
    found = isolated.judge(case)
    if found:
        return None
    # State that a way keeps from one call to the next must not show in smaller cases.
    isolated.forgets = isolated.in_python and found.call > 0
    limit = TRIES_OF_HANGS if found.kind == "hung" else tries
    smallest = reduce_procedure(case, lambda candidate: _same(isolated.judge(candidate), found), tries=limit)
    steps = case.steps(), smallest.steps()
    judgement = isolated.judge(smallest)
    begins = isolated.bisect(smallest, judgement.call) if judgement.kind == "differs" else ""
    return Small(smallest, None, isolated.way, judgement, steps, isolated.count, begins)


def _shrink_rewrite(isolated: _Isolated, case: Case, tried: Case, tries: int) -> Small | None:
    found = isolated.judge(case, tried)
    if found:
        return None

    def places(candidate: Case, how: str) -> Case | None:
        for seed in range(PLACES):
            other = rewrite(candidate, how, seed)
            if other is not None and _same(isolated.judge(candidate, other), found):
                return other
        return None

    def fails(how: str, candidate: Case) -> bool:
        return places(candidate, how) is not None

    # One step of the many is at fault; the steps before it only make it harder to see.
    for how in REWRITES:
        if places(case, how) is not None:
            smallest = reduce(case, functools.partial(fails, how), tries=tries // 4)
            other = places(smallest, how)
            break
    else:
        smallest, other = case, tried
    judgement = isolated.judge(smallest, other)
    return Small(smallest, other, isolated.way, judgement, (case.statements(), smallest.statements()), isolated.count)


def _same(judgement: Judgement, wanted: Judgement) -> bool:
    """Whether both are wrong in one way: where bytes differ, any bytes will do."""
    if judgement.kind != wanted.kind:
        return False
    return judgement.kind != "failed" or _plain(judgement.message) == _plain(wanted.message)


def _plain(message: str) -> str:
    return re.sub(r"\d+|`[^`]*`", "#", message)


class _Isolated:
    """Judges on one way in a process of its own; what ends that process is a judgement too."""

    def __init__(self, way: Way, patience: float, progress: Callable[[], None], against: Way | None = None) -> None:
        self.way, self.against, self.count, self.forgets, self.patience = way, against, 0, False, 60.0
        self.in_python = way.in_python or (against is not None and against.in_python)
        self._progress = progress
        self._worker = Worker(patience)

    def judge(self, case: Case | ProcedureCase, tried: Case | None = None) -> Judgement:
        self.count += 1
        self._progress()
        try:
            if self.forgets:
                self._worker.renew()
            judgement: Judgement = self._worker.ask("judge", case, tried, [self.way], self.patience, self.against)
            return judgement
        except WorkerEndedError as error:
            at_fault = self.against if error.run == 1 and self.against is not None else self.way
            return Judgement(error.kind, str(at_fault), str(error), 0)

    def fares_like(self, case: Case, found: Judgement) -> bool:
        """Whether a smaller program is wrong in the same way, and has no race: then every backend would be right."""
        return _same(self.judge(case), found) and self._worker.ask("has_one_answer", case, self.way, self.patience)

    def bisect(self, case: Case | ProcedureCase, call: int) -> str:
        try:
            return self._worker.ask("bisect", case, call, self.way, self.against) or ""
        except WorkerEndedError:
            return ""

    def __enter__(self) -> _Isolated:
        return self

    def __exit__(self, *_: object) -> None:
        self._worker.close()
