"""Backends with one fault each in how the steps of a procedure follow one another, for `vyre fuzz --procedures` and
vyre.bisect.

Each takes the flat steps of a procedure one by one on the reference, and so is right but for its fault. `BACKENDS`
lists them by name.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vyre import _core
from vyre._procedure.check import Memory
from vyre._procedure.flat import Call, FlatArray, FlatStep, Part, _step, StepPlace

OWNER = "wrong_procedures"


def _flat(procedure, call) -> Call:
    shapes = [list(shape) for shape, _ in call.arrays]
    programs, arrays, steps, _, origins, whole = _core._flat_steps(procedure, shapes, list(call.numbers), "reference", 0)
    flat = tuple(FlatArray(*row[:5], None) for row in arrays)
    places = [StepPlace(k, len(steps), str(origin)) for k, origin in enumerate(origins)]
    made = tuple(_step(row, place, programs) for row, place in zip(steps, places, strict=True))
    interface = _core._procedure_interface(procedure, True)
    results = tuple(
        (name, k, element, tuple(whole[k])) for k, (role, name, element, _) in enumerate(interface) if role != "input"
    )
    given = tuple(np.frombuffer(data, np.uint8).copy() for _, data in call.arrays)
    return Call(procedure, given, tuple(map(tuple, shapes)), tuple(call.numbers), tuple(programs), flat, made, results)


def _outputs(flat: Call, memory: Memory) -> list[bytes]:
    return [memory.bytes[index].tobytes() for _, index, _, _ in flat.results]


def _written_by(step: FlatStep) -> list[Part]:
    return step.written()


def _meet(a: Part, b: Part) -> bool:
    return a.array == b.array and a.offset < b.offset + b.bytes and b.offset < a.offset + a.bytes


def right(procedure, call, **_):
    """No fault."""
    flat = _flat(procedure, call)
    memory = Memory(flat)
    for step in flat.steps:
        memory.run(step, None, None, OWNER)
    return _outputs(flat, memory)


def missing_barrier(procedure, call, **_):
    """A dispatch that reads what the one before it writes begins too early: it reads the bytes from before that."""
    flat = _flat(procedure, call)
    memory = Memory(flat)
    before = None
    for k, step in enumerate(flat.steps):
        stale = None if before is None else [each.copy() for each in memory.bytes]
        if before is not None and step.kind == "dispatch":
            written = {part.array for part in step.written()}
            for part in before[1]:
                if part.array not in written:
                    part.of(memory.bytes)[:] = part.of(before[0])
        kept = ([each.copy() for each in memory.bytes] if stale is None else stale, step.written())
        memory.run(step, None, None, OWNER)
        if stale is not None and step.kind == "dispatch":
            written = {part.array for part in step.written()}
            for part in before[1]:
                if part.array not in written:
                    part.of(memory.bytes)[:] = part.of(stale)
        before = kept
    return _outputs(flat, memory)


def wrong_slot(procedure, call, **_):
    """Where a step binds two arrays of one size to be read, it reads the first in place of the second."""
    flat = _flat(procedure, call)
    memory = Memory(flat)
    for step in flat.steps:
        if step.kind == "dispatch":
            written = step.written()
            bound = list(step.bound)
            for k, each in enumerate(bound):
                first = next((b for b in bound[:k] if isinstance(b, Part) and isinstance(each, Part)
                              and b.bytes == each.bytes and b not in written and each not in written), None)
                if first is not None:
                    bound[k] = first
            step = replace(step, bound=tuple(bound))
        memory.run(step, None, None, OWNER)
    return _outputs(flat, memory)


def lost_swap(procedure, call, **_):
    """A step that runs again works on the arrays of its first turn, as if nothing had been swapped meanwhile."""
    flat = _flat(procedure, call)
    memory = Memory(flat)
    seen: dict[str, FlatStep] = {}
    for step in flat.steps:
        first = seen.setdefault(step.place.what, step)
        same = [isinstance(a, Part) and isinstance(b, Part) and a.bytes == b.bytes or not isinstance(a, Part)
                for a, b in zip(first.bound, step.bound, strict=True)] if first.kind == step.kind and len(first.bound) == len(step.bound) else [False]
        if all(same) and first.program == step.program:
            step = replace(step, bound=tuple(a if isinstance(a, Part) else b for a, b in zip(first.bound, step.bound, strict=True)))
        memory.run(step, None, None, OWNER)
    return _outputs(flat, memory)


_WORDS: dict[bytes, list] = {}


def stale_words(procedure, call, **_):
    """The numbers of the first call with some lengths are kept for the later ones."""
    flat = _flat(procedure, call)
    key = procedure.to_bytes() + repr(flat.shapes).encode()
    words = [[each for each in step.bound if isinstance(each, bytes)] for step in flat.steps]
    kept = _WORDS.setdefault(key, words)
    memory = Memory(flat)
    for k, step in enumerate(flat.steps):
        if k < len(kept) and len(kept[k]) == len(words[k]):
            old = iter(kept[k])
            step = replace(step, bound=tuple(each if isinstance(each, Part) else next(old) for each in step.bound))
        memory.run(step, None, None, OWNER)
    return _outputs(flat, memory)


def lost_clear(procedure, call, **_):
    """Memory that should be zeros keeps what an earlier array left there."""
    flat = _flat(procedure, call)
    memory = Memory(flat)
    for k, array in enumerate(flat.arrays):
        if array.kind == "scratch":
            memory.bytes[k][:] = 0xA5
    for step in flat.steps:
        if step.kind != "clear" or flat.arrays[step.bound[0].array].kind != "scratch":
            memory.run(step, None, None, OWNER)
    return _outputs(flat, memory)


BACKENDS = {
    "missing_barrier": missing_barrier,
    "wrong_slot": wrong_slot,
    "lost_swap": lost_swap,
    "stale_words": stale_words,
    "lost_clear": lost_clear,
}
