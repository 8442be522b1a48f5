"""Backends with one fault each in how the steps of a procedure follow one another, for `vyre fuzz --procedures` and
vyre.bisect.

Each takes the flat steps of a procedure one by one on the reference, and is right but for its fault. `BACKENDS` lists
those with a fault by name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vyre._procedure.check import Memory
from vyre._procedure.flat import Part, call_of_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vyre import Procedure
    from vyre._procedure.flat import Call, FlatStep
    from vyre.fuzz import procedures


class _Run:
    """A call whose steps are taken one by one."""

    def __init__(self, procedure: Procedure, call: procedures.Call) -> None:
        self.flat: Call = call_of_bytes(
            procedure, [shape for shape, _ in call.arrays], [d for _, d in call.arrays], call.numbers
        )
        self.memory = Memory(self.flat)

    def take(self, steps: Iterator[FlatStep]) -> list[bytes]:
        for step in steps:
            self.memory.run(step, None, "wrong_procedures")
        return [self.memory.bytes[index].tobytes() for _, index, _, _ in self.flat.results]


def right(procedure: Procedure, call: procedures.Call, **_: object) -> list[bytes]:
    """No fault."""
    run = _Run(procedure, call)
    return run.take(iter(run.flat.steps))


def missing_barrier(procedure: Procedure, call: procedures.Call, **_: object) -> list[bytes]:
    """A dispatch reads what was there before the one that writes it, in the step before, has ended."""
    run = _Run(procedure, call)
    memory = run.memory

    def steps() -> Iterator[FlatStep]:
        before, parts = None, []
        for step in run.flat.steps:
            now = [each.copy() for each in memory.bytes]
            written = {part.array for part in step.written()}
            hidden = [part for part in parts if part.array not in written] if step.kind == "dispatch" else []
            for part in hidden:
                part.of(memory.bytes)[:] = part.of(before)
            yield step
            for part in hidden:
                part.of(memory.bytes)[:] = part.of(now)
            before, parts = now, step.written()

    return run.take(steps())


def wrong_slot(procedure: Procedure, call: procedures.Call, **_: object) -> list[bytes]:
    """A step that reads two arrays of one size reads the first in place of the second."""
    run = _Run(procedure, call)

    def steps() -> Iterator[FlatStep]:
        for step in run.flat.steps:
            written, bound = step.written(), list(step.bound)
            for k, each in enumerate(step.bound):
                if not isinstance(each, Part) or each in written or step.kind != "dispatch":
                    continue
                for other in step.bound[:k]:
                    if isinstance(other, Part) and other.bytes == each.bytes and other not in written:
                        bound[k] = other
            yield replace(step, bound=tuple(bound))

    return run.take(steps())


def lost_swap(procedure: Procedure, call: procedures.Call, **_: object) -> list[bytes]:
    """A step that runs again works on the arrays of its first turn, as if nothing had been swapped meanwhile."""
    run = _Run(procedure, call)
    first: dict[object, FlatStep] = {}

    def sizes(step: FlatStep) -> object:
        return step.kind, [each.bytes if isinstance(each, Part) else None for each in step.bound]

    def steps() -> Iterator[FlatStep]:
        for step in run.flat.steps:
            known = first.setdefault(step.origin, step)
            if sizes(known) == sizes(step):
                pairs = zip(known.bound, step.bound, strict=True)
                step = replace(step, bound=tuple(old if isinstance(old, Part) else new for old, new in pairs))
            yield step

    return run.take(steps())


_KEPT: dict[object, list[tuple[object, ...]]] = {}


def stale_words(procedure: Procedure, call: procedures.Call, **_: object) -> list[bytes]:
    """The numbers of the first call with some lengths are kept for the later ones."""
    run = _Run(procedure, call)
    key = procedure.to_bytes(), run.flat.shapes, len(run.flat.steps)
    kept = _KEPT.setdefault(key, [step.bound for step in run.flat.steps])

    def steps() -> Iterator[FlatStep]:
        for step, old in zip(run.flat.steps, kept, strict=True):
            words = [each for each in old if isinstance(each, bytes)]
            if len(words) == sum(isinstance(each, bytes) for each in step.bound):
                taken = iter(words)
                bound = (next(taken) if isinstance(each, bytes) else each for each in step.bound)
                step = replace(step, bound=tuple(bound))
            yield step

    return run.take(steps())


def lost_clear(procedure: Procedure, call: procedures.Call, **_: object) -> list[bytes]:
    """Scratch memory that is to be zeros keeps what was there."""
    run = _Run(procedure, call)
    own = [array.kind == "scratch" for array in run.flat.arrays]
    for data, is_own in zip(run.memory.bytes, own, strict=True):
        if is_own:
            data[:] = 0xA5
    return run.take(
        step
        for step in run.flat.steps
        if step.kind != "clear" or not own[step.bound[0].array]  # type: ignore[union-attr]
    )


def lost_end(procedure: Procedure, call: procedures.Call, **_: object) -> list[bytes]:
    """A turn runs although its repetition has ended."""
    run = _Run(procedure, call)
    return run.take(replace(step, live=None) for step in run.flat.steps)


BACKENDS: dict[str, Callable[..., list[bytes]]] = {
    each.__name__: each for each in (missing_barrier, wrong_slot, lost_swap, stale_words, lost_clear, lost_end)
}
