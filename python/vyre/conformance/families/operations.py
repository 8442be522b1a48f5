"""L2, laws: every registered operation by its examples, its laws, and where there is one a model in Python.

Operations that a program registers for itself are held to their own examples and laws; see `of_operation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import DataType, Expr, OpLaw, _core
from vyre._base.types import TYPES, word_of
from vyre.conformance.build import element_wise
from vyre.conformance.case import Arrays, Case, Judgement, case
from vyre.conformance.models import MODELS
from vyre.conformance.values import BOOL, EDGES, LANES, MASK, U64, array, groups, samples, split, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from vyre import OpSignature, OpSpec

_WIDE_EDGES = [
    *(0, 1, 2, 7, 31, 32, 33, 63, 64, 65, MASK - 1, MASK, 2**32, 2**32 + 1, 10**10),
    *(2**63 - 1, 2**63, 2**64 - 7, 2**64 - 2, 2**64 - 1),
]


def values(element: DataType, name: str) -> list[tuple[int, ...]]:
    """Edges and random values of a type, each as its lanes."""
    if element == U64:
        wide = [
            high << 32 | low for high, low in zip(samples(f"{name} high", 40), samples(f"{name} low", 40), strict=True)
        ]
        return [split(value) for value in _WIDE_EDGES + wide + samples(f"{name} narrow", 10)]
    if element == BOOL:
        return [(0,), (1,)]
    n = LANES[element]
    if n == 1:
        return [(value,) for value in EDGES + samples(name, 50)]
    return [tuple(row) for row in words(name, 32 * n).reshape(32, n).tolist()]


def _signature(spec: OpSpec) -> OpSignature:
    assert spec.signature is not None, "the cases are those of functions of values"
    return spec.signature


def arguments(spec: OpSpec, name: str) -> list[tuple[tuple[int, ...], ...]]:
    """Rows of arguments: edges against edges, each argument against itself, random ones against random ones."""
    columns = [values(element, f"{name} {k}") for k, element in enumerate(_signature(spec).inputs)]
    if len(columns) == 1:
        return [(value,) for value in columns[0]]
    # The edges stand first.
    short = [
        column[: len(_WIDE_EDGES if element == U64 else EDGES)]
        for element, column in zip(_signature(spec).inputs, columns, strict=True)
    ]
    rows: list[tuple[tuple[int, ...], ...]] = []
    if len(columns) == 2:
        rows += [(a, b) for a in short[0] for b in short[1]]
    else:
        # The whole product would be too large: every argument meets all values while the others change at other speeds.
        longest = max(map(len, columns))
        rows += [
            tuple(column[(row * (1 + 2 * k) + row // longest * k) % len(column)] for k, column in enumerate(columns))
            for row in range(4 * longest)
        ]
    longest = max(map(len, columns))
    rows += [tuple(column[k % len(column)] for column in columns) for k in range(longest)]
    if len(set(_signature(spec).inputs)) == 1:
        rows += [(value,) * len(columns) for value in columns[0]]
    return rows


def number(lanes: Sequence[int]) -> int:
    """Lanes as one integer, the first one lowest."""
    return sum(lane << 32 * k for k, lane in enumerate(lanes))


def modelled(model: Callable[..., int], output: DataType, row: Sequence[Sequence[int]]) -> list[int]:
    """The lanes that a model gives for a row of arguments."""
    value = int(model(*map(number, row)))
    return [word_of(value, k) for k in range(LANES[output])]


def columns(spec: OpSpec, rows: Sequence[Sequence[Sequence[int]]]) -> dict[str, np.ndarray]:
    """Rows of arguments as the arrays in0, in1, ..."""
    return {
        f"in{k}": array(element, [lane for row in rows for lane in row[k]])
        for k, element in enumerate(_signature(spec).inputs)
    }


def filled(element: DataType, count: int) -> np.ndarray:
    """An array that no operation gives by accident."""
    return array(element, [0x55555555] * LANES[element] * count)


def _lanes(value: Any, element: DataType) -> list[int]:
    """The lanes of an example's value, as the registry gives it."""
    if TYPES[element].axes:
        return [int(lane) for lane in value]
    return [word_of(int(value), k) for k in range(LANES[element])]


def _examples(spec: OpSpec, name: str) -> Iterator[Case]:
    if not spec.examples:
        return
    rows = [
        [_lanes(value, element) for value, element in zip(given, _signature(spec).inputs, strict=True)]
        for given, _ in spec.examples
    ]
    output = _signature(spec).output
    yield case(
        f"L2/{name}/examples",
        "A call gives what the operation's examples say.",
        element_wise(_signature(spec).inputs, [(output, lambda *args: Expr.call(name, args))]),
        columns(spec, rows) | {"out0": filled(output, len(rows))},
        {"out0": array(output, [lane for _, result in spec.examples for lane in _lanes(result, output)])},
        groups(len(rows)),
    )


def _model(spec: OpSpec, name: str, model: Callable[..., int]) -> Iterator[Case]:
    rows = arguments(spec, name)
    output = _signature(spec).output
    yield case(
        f"L2/{name}/model",
        f"A call gives, at edges and random values: {spec.summary}",
        element_wise(_signature(spec).inputs, [(output, lambda *args: Expr.call(name, args))]),
        columns(spec, rows) | {"out0": filled(output, len(rows))},
        {"out0": array(output, [lane for row in rows for lane in modelled(model, output, row)])},
        groups(len(rows)),
    )


def _two_sides(f: Callable[..., Any], law: OpLaw) -> tuple[int, Callable[..., tuple[Any, Any]]]:
    """How many variables a law has, and its two sides for an operation `f` of them."""
    if law == OpLaw.Commutative:
        return 2, lambda a, b: (f(a, b), f(b, a))
    if law == OpLaw.Associative:
        return 3, lambda a, b, c: (f(f(a, b), c), f(a, f(b, c)))
    if law == OpLaw.Idempotent:
        return 1, lambda a: (f(a, a), a)
    assert law == OpLaw.Involution, law
    return 1, lambda a: (f(f(a)), a)


def _fits(spec: OpSpec, law: OpLaw) -> bool:
    """Whether both sides of a law are calls that the signature allows."""
    inputs, output = _signature(spec).inputs, _signature(spec).output
    if law == OpLaw.Involution:
        return inputs == (output,)
    return len(inputs) == 2 and len({*inputs} if law == OpLaw.Commutative else {*inputs, output}) == 1


def _same_sides(arrays: Arrays) -> Judgement:
    left, right = arrays["out0"], arrays["out1"]
    same = (left == right).reshape(len(left), -1).all(axis=1)
    return Judgement({"holds": same.astype(np.uint32)})


def _laws(spec: OpSpec, name: str, model: Callable[..., int] | None) -> Iterator[Case]:
    output = _signature(spec).output
    for law in spec.laws:
        if not _fits(spec, law):
            yield Case(
                f"L2/{name}/{law.name.lower()}",
                "An operation can have the laws that it says.",
                (),
                {},
                {},
                skip=f"operation `{name}` cannot keep the law {law.name} with its signature",
            )
            continue
        count, sides = _two_sides(lambda *args: Expr.call(name, args), law)
        kinds = [_signature(spec).inputs[0]] * count
        drawn = [values(kind, f"{name} {law.name} {k}") for k, kind in enumerate(kinds)]
        longest = max(map(len, drawn))
        # Each variable has its own stride, so that the edges of each meet the edges of the others.
        rows = [
            tuple(
                column[(k * stride + k // longest) % len(column)]
                for column, stride in zip(drawn, (1, 3, 7), strict=False)
            )
            for k in range(longest * (4 if count > 1 else 1))
        ]
        program = element_wise(
            kinds,
            [(output, lambda *args, sides=sides, side=side: sides(*args)[side]) for side in range(2)],
        )
        inputs = {f"in{k}": array(kind, [lane for row in rows for lane in row[k]]) for k, kind in enumerate(kinds)}
        inputs |= {f"out{k}": filled(output, len(rows)) for k in range(2)}
        wanted: dict[str, np.ndarray] = {"holds": np.ones(len(rows), np.uint32)}
        if model is not None:
            # Both sides are known, so all their bytes are compared, not only with each other.
            _, modelled_sides = _two_sides(lambda *row: modelled(model, output, row), law)
            pairs = [modelled_sides(*row) for row in rows]
            wanted = {f"out{k}": array(output, [lane for pair in pairs for lane in pair[k]]) for k in range(2)}
        yield case(
            f"L2/{name}/{law.name.lower()}",
            f"The operation is {law.name.lower()}, as it says, at edges and random values.",
            program,
            inputs,
            wanted,
            groups(len(rows)),
            judge=None if model is not None else _same_sides,
        )


def of_operation(spec: OpSpec) -> Iterator[Case]:
    """The cases of one operation: its examples, its model if it is a standard one, its laws. A procedure has none."""
    name = f"{spec.id}@{spec.version}"
    if spec.procedure is not None:
        return  # conformance.certify_procedure certifies it by itself
    if not spec.inlinable or any(kind not in LANES for kind in (*_signature(spec).inputs, _signature(spec).output)):
        yield Case(
            f"L2/{name}/call",
            "A registered operation can be called.",
            (),
            {},
            {},
            skip=f"operation `{name}` has no body to call",
        )
        return
    model = MODELS.get(spec.id) if is_standard(spec) and spec.version == 1 else None
    yield from _examples(spec, name)
    if model is not None:
        yield from _model(spec, name, model)
    yield from _laws(spec, name, model)
    if model is None and not spec.examples and not spec.laws:
        yield Case(
            f"L2/{name}/call",
            "A registered operation says what it gives.",
            (),
            {},
            {},
            skip=f"operation `{name}` has neither examples nor laws",
        )


def is_standard(spec: OpSpec) -> bool:
    """Whether the operation came with vyre: only these have the same cases everywhere."""
    return spec.id.startswith("primitive.")


def cases() -> Iterator[Case]:
    """Every operation of the standard library."""
    for spec in _core._op_all():
        if is_standard(spec):
            yield from of_operation(spec)
