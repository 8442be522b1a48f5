"""Makes a procedure that fares badly small: fewer steps, blocks, calls, elements, results and arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vyre.errors import VyreError
from vyre.fuzz.procedures.model import expected
from vyre.fuzz.procedures.spec import BYTES, LEAVES, Call, ProcedureCase, Size, Spec, Step, literal, substituted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["reduce"]

# Memory that nothing has written is zeros, ones, and two kinds of noise.
_NOISES = (0, -1, 1, 2)


def reduce(case: ProcedureCase, still_fails: Callable[[ProcedureCase], bool], *, tries: int = 2000) -> ProcedureCase:
    """A small case that still fails.

    Args:
        still_fails: asked about smaller cases, all with one right answer; it must not change its mind.
        tries: how often it is asked at most.

    >>> from vyre.fuzz import procedures
    >>> case = procedures.generate(8)
    >>> smallest = reduce(case, lambda case: "dispatch" in {step[0] for step in case.spec.all_steps()})
    >>> smallest.steps()
    1
    """
    left = tries
    again = True
    while again:
        again = False
        for kind in _KINDS:
            changed = True
            while changed:
                changed = False
                for candidate in kind(case):
                    if left <= 0:
                        return case
                    if not _has_one_answer(candidate):
                        continue
                    left -= 1
                    if still_fails(candidate):
                        case, changed, again = candidate, True, True
                        break
    return case


def _has_one_answer(case: ProcedureCase) -> bool:
    """Whether the core takes it, and what nothing has written shows nowhere."""
    try:
        case.procedure.check()
        for call in case.calls:
            first = expected(case.spec, call, _NOISES[0])
            if any(expected(case.spec, call, noise) != first for noise in _NOISES[1:]):
                return False
    except (VyreError, AssertionError, KeyError, IndexError, ValueError):
        return False
    return True


def _with(case: ProcedureCase, spec: Spec) -> ProcedureCase:
    return ProcedureCase(spec, case.calls, case.seed)


def _fewer_calls(case: ProcedureCase) -> Iterator[ProcedureCase]:
    if len(case.calls) > 1:
        for k in range(len(case.calls)):
            yield ProcedureCase(case.spec, case.calls[:k] + case.calls[k + 1 :], case.seed)


def _fewer_steps(case: ProcedureCase) -> Iterator[ProcedureCase]:
    for spec in _specs(case.spec, lambda spec: (replace(spec, steps=steps) for steps in _shorter(spec.steps))):
        yield _with(case, spec)


def _specs(spec: Spec, changed: Callable[[Spec], Iterator[Spec]]) -> Iterator[Spec]:
    """The procedure with a change in it, or in one that it invokes."""
    yield from changed(spec)
    for k, inner in enumerate(spec.procedures):
        for other in _specs(inner, changed):
            yield replace(spec, procedures=(*spec.procedures[:k], other, *spec.procedures[k + 1 :]))


def _shorter(steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """Fewer steps: without halves and quarters of them, without one, and without a block around some."""
    count = len(steps)
    size = count
    while size >= 1:
        for first in range(0, count, size):
            yield steps[:first] + steps[first + size :]
        size //= 2
    for k, step in enumerate(steps):
        before, after = steps[:k], steps[k + 1 :]
        if step[0] == "when":
            for block in step[2:]:
                yield (*before, *block, *after)
            for position in (2, 3):
                for block in _shorter(step[position]):
                    yield (*before, (*step[:position], block, *step[position + 1 :]), *after)
        elif step[0] == "repeat":
            yield (*before, *_turned(step[3], step[1]), *after)
            if step[2] != literal(2):
                yield (*before, (*step[:2], literal(2), *step[3:]), *after)
            if step[4:]:
                yield (*before, step[:4], *after)
            for block in _shorter(step[3]):
                yield (*before, (*step[:3], block, *step[4:]), *after)


def _turned(steps: tuple[Step, ...], turn: int) -> tuple[Step, ...]:
    """The steps of the first turn."""

    def leaf(size: Size) -> Size:
        return literal(0) if size == ("turn", turn) else size

    return tuple(_mapped(step, lambda size: substituted(size, leaf), lambda array: array) for step in steps)


def _mapped(step: Step, size: Callable[[Size], Size], array: Callable[[int], int]) -> Step:
    """The step with other sizes and arrays."""

    def part(given: tuple[Any, ...]) -> tuple[Any, ...]:
        if given[0] == "words":
            return "words", tuple(map(size, given[1]))
        slice_ = None if given[2] is None else tuple(map(size, given[2]))
        return array(given[0]), given[1], slice_

    if step[0] == "dispatch":
        counts = None if step[4] is None else part(step[4])
        return "dispatch", step[1], tuple(map(part, step[2])), tuple(map(size, step[3])), counts, step[5]
    if step[0] == "invoke":
        return "invoke", step[1], tuple(map(part, step[2])), tuple(map(size, step[3]))
    if step[0] == "repeat":
        block = tuple(_mapped(each, size, array) for each in step[3])
        return "repeat", step[1], size(step[2]), block, *map(part, step[4:])
    if step[0] == "when":
        blocks = (tuple(_mapped(each, size, array) for each in block) for block in step[2:])
        return ("when", size(step[1]), *blocks)
    if step[0] == "swap":
        return "swap", array(step[1]), array(step[2])
    return "clear", part(step[1])


def _fewer_results(case: ProcedureCase) -> Iterator[ProcedureCase]:
    spec = case.spec
    if len(spec.results) < 2:
        return
    for k, index in enumerate(spec.results):
        arrays = list(spec.arrays)
        if arrays[index].role == "output":
            arrays[index] = replace(arrays[index], role="scratch")
        results = spec.results[:k] + spec.results[k + 1 :]
        yield _with(case, replace(spec, arrays=tuple(arrays), results=results))


def _shorter_arrays(case: ProcedureCase) -> Iterator[ProcedureCase]:
    given = [array for array in case.spec.arrays if array.role in ("input", "in_out")]
    for k, array in enumerate(given):
        for axis in range(array.axes):
            longest = max(call.arrays[k][0][axis] for call in case.calls)
            for most in sorted({0, 1, 2, longest // 2, longest - 1}):
                if 0 <= most < longest:
                    calls = tuple(_cut(call, k, axis, most, BYTES[array.element]) for call in case.calls)
                    yield ProcedureCase(case.spec, calls, case.seed)


def _cut(call: Call, k: int, axis: int, most: int, width: int) -> Call:
    shape, data = call.arrays[k]
    cut = (*shape[:axis], min(shape[axis], most), *shape[axis + 1 :])
    size = width
    for length in cut:
        size *= length
    return replace(call, arrays=(*call.arrays[:k], (cut, data[:size]), *call.arrays[k + 1 :]))


def _plainer_data(case: ProcedureCase) -> Iterator[ProcedureCase]:
    for c, call in enumerate(case.calls):
        others = []
        for k, number in enumerate(call.numbers):
            others += [
                replace(call, numbers=(*call.numbers[:k], plain, *call.numbers[k + 1 :]))
                for plain in (0, 1)
                if plain < number
            ]
        for k, (shape, data) in enumerate(call.arrays):
            if any(data):
                plain = (shape, bytes(len(data)))
                others.append(replace(call, arrays=(*call.arrays[:k], plain, *call.arrays[k + 1 :])))
        for other in others:
            yield ProcedureCase(case.spec, (*case.calls[:c], other, *case.calls[c + 1 :]), case.seed)


def _plainer_sizes(case: ProcedureCase) -> Iterator[ProcedureCase]:
    """Sizes that are a leaf or small, one at a time."""
    spec = case.spec
    for k, array in enumerate(spec.arrays):
        for axis, size in enumerate(array.shape):
            if size[0] != "literal":
                shape = (*array.shape[:axis], literal(4), *array.shape[axis + 1 :])
                arrays = (*spec.arrays[:k], replace(array, shape=shape), *spec.arrays[k + 1 :])
                yield _with(case, replace(spec, arrays=arrays))
    sizes: list[Size] = []
    for step in spec.steps:
        _mapped(step, lambda size: sizes.append(size) or size, lambda array: array)  # type: ignore[func-returns-value]
    for wanted in dict.fromkeys(sizes):
        if wanted[0] in LEAVES:
            continue
        for plain in (literal(0), literal(1), literal(4)):
            steps = tuple(
                _mapped(step, lambda size, w=wanted, p=plain: p if size == w else size, lambda array: array)  # type: ignore[misc]
                for step in spec.steps
            )
            yield _with(case, replace(spec, steps=steps))


def _without_unused(case: ProcedureCase) -> Iterator[ProcedureCase]:
    """Without arrays, programs and procedures that nothing uses."""
    spec = case.spec
    arrays = set(spec.results)
    programs: set[int] = set()
    procedures: set[int] = set()

    def see(size: Size) -> Size:
        open_ = [size]
        while open_:
            each = open_.pop()
            if each[0] == "length":
                arrays.add(each[1])
            if each[0] not in LEAVES:
                open_ += each[1:]
        return size

    def see_array(index: int) -> int:
        arrays.add(index)
        return index

    for step in spec.all_steps():
        _mapped(step, see, see_array)
        if step[0] == "dispatch":
            programs.add(step[1])
        elif step[0] == "invoke":
            procedures.add(step[1])
    for array in spec.arrays:
        for size in array.shape:
            see(size)
    given = [k for k, array in enumerate(spec.arrays) if array.role in ("input", "in_out")]
    if len(arrays) < len(spec.arrays) or len(programs) < len(spec.programs) or len(procedures) < len(spec.procedures):
        kept = [k for k in range(len(spec.arrays)) if k in arrays]
        to = {k: at for at, k in enumerate(kept)}
        programs_to = {k: at for at, k in enumerate(sorted(programs))}
        procedures_to = {k: at for at, k in enumerate(sorted(procedures))}

        def moved(size: Size) -> Size:
            return substituted(size, lambda leaf: ("length", to[leaf[1]], leaf[2]) if leaf[0] == "length" else leaf)

        def renumbered(steps: tuple[Step, ...]) -> tuple[Step, ...]:
            made: list[Step] = []
            for step in steps:
                if step[0] == "dispatch":
                    step = ("dispatch", programs_to[step[1]], *step[2:])
                elif step[0] == "invoke":
                    step = ("invoke", procedures_to[step[1]], *step[2:])
                elif step[0] == "repeat":
                    step = (*step[:3], renumbered(step[3]), *step[4:])
                elif step[0] == "when":
                    step = (*step[:2], renumbered(step[2]), renumbered(step[3]))
                made.append(step)
            return tuple(made)

        steps = tuple(_mapped(step, moved, to.__getitem__) for step in renumbered(spec.steps))
        smaller = replace(
            spec,
            arrays=tuple(replace(spec.arrays[k], shape=tuple(map(moved, spec.arrays[k].shape))) for k in kept),
            steps=steps,
            results=tuple(to[k] for k in spec.results),
            programs=tuple(spec.programs[k] for k in sorted(programs)),
            procedures=tuple(spec.procedures[k] for k in sorted(procedures)),
        )
        calls = tuple(
            replace(call, arrays=tuple(each for k, each in zip(given, call.arrays, strict=True) if k in arrays))
            for call in case.calls
        )
        yield ProcedureCase(smaller, calls, case.seed)


_KINDS: tuple[Callable[[ProcedureCase], Iterator[ProcedureCase]], ...] = (
    _fewer_calls,
    _fewer_steps,
    _fewer_results,
    _without_unused,
    _shorter_arrays,
    _plainer_data,
    _plainer_sizes,
)
