"""L1, narrow elements: buffers of 8- and 16-bit elements (docs/semantics.md, Programs).

A load extends an element, a store keeps the low bits, and the other bytes of a word stay as they are, also when other
invocations store to them at the same time. Expected values come from numpy's conversions and from the rules for
accesses out of bounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vyre import BufferAccess, BufferDecl, DataType, Expr, Node, Program
from vyre._base.types import TYPES
from vyre.conformance.build import one_invocation, out_u32
from vyre.conformance.case import Case, case
from vyre.conformance.values import FAR, U32, array, groups, u32, words

if TYPE_CHECKING:
    from collections.abc import Iterator

# The dtype of an element, and the type of the values that it loads as.
NARROW = {each: (info.dtype, info.value) for each, info in TYPES.items() if info.value is not each}
# No multiple of the elements of a word.
LENGTH = 7
INDICES = [0, 1, 2, 3, LENGTH - 1, LENGTH, LENGTH + 1, *FAR]
TRIES = len(INDICES)
ACCESS = {
    "read": BufferAccess.ReadOnly,
    "read_write": BufferAccess.ReadWrite,
    "uniform": BufferAccess.Uniform,
}


def _elements(element: DataType, count: int, name: str) -> np.ndarray:
    """Elements with all bits in use: every other one has its highest bit set."""
    bits = words(f"narrow {name} {element.name}", count) | np.uint32(1)
    bits[::2] |= np.uint32(0x8080)
    return bits.astype(NARROW[element][0])


def _values(element: DataType, count: int, name: str) -> np.ndarray:
    """Words for stores, with bits above the element's."""
    return array(NARROW[element][1], words(f"narrow values {name} {element.name}", count))


def _kept(element: DataType, values: np.ndarray) -> np.ndarray:
    return values.astype(NARROW[element][0])


def _loads() -> Iterator[Case]:
    i = Expr.gid_x()
    for element, (_, value) in NARROW.items():
        data = _elements(element, LENGTH, "load")
        wanted = np.array([data[k] if k < LENGTH else 0 for k in INDICES], dtype=array(value, [0]).dtype)
        for access, kind in ACCESS.items():
            yield case(
                f"L1/narrow_elements/load/{access}-{element.name}",
                f"A load of {element.name} from a {access} buffer extends the element, or gives zero at any index >= "
                "BufLen.",
                Program(
                    [
                        BufferDecl.storage("data", 1, kind, element),
                        BufferDecl.read("indices", 0, U32),
                        BufferDecl.output("out", 2, value),
                    ],
                    (TRIES, 1, 1),
                    [Node.store("out", i, Expr.load("data", Expr.load("indices", i)))],
                ),
                {"data": data, "indices": u32(INDICES), "out": array(value, [0x55] * TRIES)},
                {"out": wanted},
            )


def _stores() -> Iterator[Case]:
    i = Expr.gid_x()
    for element, (_, value) in NARROW.items():
        data, values = _elements(element, LENGTH, "data"), _values(element, TRIES, "store")
        after = data.copy()
        for k, index in enumerate(INDICES):
            if index < LENGTH:
                after[index] = _kept(element, values)[k]
        yield case(
            f"L1/narrow_elements/store/{element.name}",
            f"A store to {element.name} keeps the low bits of the value, and does nothing at any index >= BufLen.",
            Program(
                [
                    BufferDecl.read_write("before", 0, U32),
                    BufferDecl.read_write("data", 1, element),
                    BufferDecl.read_write("after", 2, U32),
                    BufferDecl.read("indices", 3, U32),
                    BufferDecl.read("values", 4, value),
                ],
                (TRIES, 1, 1),
                [Node.store("data", Expr.load("indices", i), Expr.load("values", i))],
            ),
            {
                "before": u32(range(20)),
                "data": data,
                "after": u32(range(30)),
                "indices": u32(INDICES),
                "values": values,
            },
            {"before": u32(range(20)), "data": after, "after": u32(range(30))},
        )


def _own_memory() -> Iterator[Case]:
    i, k = Expr.local_x(), Expr.var("k")
    for element, (_, value) in NARROW.items():
        values, n = _values(element, LENGTH, "own"), LENGTH
        kept = _kept(element, values)
        wanted = np.array([kept[index] if index < n else 0 for index in INDICES], dtype=array(value, [0]).dtype)
        for memory in ("workgroup", "private"):
            declare = BufferDecl.workgroup if memory == "workgroup" else BufferDecl.private
            fill = Node.store("data", k, Expr.load("values", k))
            yield case(
                f"L1/narrow_elements/{memory}/{element.name}",
                f"{memory.capitalize()} memory of {element.name} keeps the low bits that are stored, and begins as "
                "zeros.",
                Program(
                    [
                        declare("data", n, element),
                        declare("blank", 5, element),
                        BufferDecl.read("values", 0, value),
                        BufferDecl.read("indices", 1, U32),
                        BufferDecl.output("out", 2, value),
                        BufferDecl.read_write("zeros", 3, value),
                    ],
                    (TRIES, 1, 1),
                    [
                        Node.if_(Expr.eq(i, 0), [Node.loop("k", 0, n, [fill])])
                        if memory == "workgroup"
                        else Node.loop("k", 0, n, [fill]),
                        Node.barrier(),
                        Node.store("out", i, Expr.load("data", Expr.load("indices", i))),
                        Node.store("zeros", i, Expr.load("blank", i)),
                    ],
                ),
                {
                    "values": values,
                    "indices": u32(INDICES),
                    "out": array(value, [0x55] * TRIES),
                    "zeros": array(value, [0x55] * TRIES),
                },
                {"out": wanted, "zeros": array(value, [0] * TRIES)},
            )
        # Literal indices: the elements may become variables.
        yield case(
            f"L1/narrow_elements/private-literals/{element.name}",
            f"A private array of {element.name} with literal indices keeps the low bits, too.",
            one_invocation(
                [BufferDecl.private("data", 3, element), BufferDecl.read("values", 1, value), out_u32()],
                Node.store("data", 0, Expr.load("values", 0)),
                Node.store("data", 2, Expr.load("values", 1)),
                *[Node.store("out", at, Expr.cast(U32, Expr.load("data", at))) for at in range(3)],
            ),
            {"values": values[:2], "out": u32([0x55] * 3)},
            {"out": array(U32, [int(kept[0]), 0, int(kept[1])])},
        )


def _neighbours() -> Iterator[Case]:
    """Every word is shared by invocations of several workgroups, which store to it at the same time."""
    size, many = 32, 12
    count = size * many - 3
    at = Expr.local_x() * many + Expr.workgroup_x()
    for element, (_, value) in NARROW.items():
        data, values = _elements(element, count, "neighbours"), _values(element, size * many, "neighbours")
        stored = np.arange(size * many)[:count] % 5 != 2
        wanted = np.where(stored, _kept(element, values)[:count], data)
        yield case(
            f"L1/narrow_elements/neighbours/{element.name}",
            f"A store to {element.name} keeps the other elements of its word, whoever stores to them at the same time.",
            Program(
                [BufferDecl.read_write("data", 0, element), BufferDecl.read("values", 1, value)],
                (size, 1, 1),
                [Node.if_(Expr.ne(at % 5, 2), [Node.store("data", at, Expr.load("values", at))])],
            ),
            {"data": data, "values": values},
            {"data": wanted},
            many,
        )


def _exchange() -> Iterator[Case]:
    """A barrier orders narrow storage: each invocation reads what its neighbour in the workgroup has stored."""
    size, many = 32, 3
    i, base = Expr.gid_x(), Expr.workgroup_x() * size
    mine, other = base + Expr.local_x(), base + (Expr.local_x() + 5) % size
    for element, (_, value) in NARROW.items():
        values = _values(element, size * many, "exchange")
        kept = _kept(element, values).reshape(many, size)
        wanted = np.roll(kept, -5, axis=1).ravel()
        yield case(
            f"L1/narrow_elements/exchange/{element.name}",
            f"After a barrier, a workgroup sees the elements of {element.name} that its invocations have stored.",
            Program(
                [
                    BufferDecl.read_write("data", 0, element),
                    BufferDecl.read("values", 1, value),
                    BufferDecl.output("out", 2, element),
                ],
                (size, 1, 1),
                [
                    Node.store("data", mine, Expr.load("values", i)),
                    Node.barrier(),
                    Node.store("out", i, Expr.load("data", other)),
                ],
            ),
            {
                "data": _elements(element, size * many, "before"),
                "values": values,
                "out": np.zeros(size * many, NARROW[element][0]),
            },
            {"data": kept.ravel(), "out": wanted},
            many,
        )


def _lengths() -> Iterator[Case]:
    for element, (dtype, _) in NARROW.items():
        yield case(
            f"L1/narrow_elements/length/{element.name}",
            f"BufLen of buffers of {element.name} counts elements, not words.",
            one_invocation(
                [
                    *[BufferDecl.read(f"b{n}", n, element) for n in range(6)],
                    BufferDecl.workgroup("shared", 9, element),
                    BufferDecl.private("mine", 11, element),
                    out_u32(9),
                ],
                *[Node.store("out", n, Expr.buf_len(f"b{n}")) for n in range(6)],
                Node.store("out", 6, Expr.buf_len("shared")),
                Node.store("out", 7, Expr.buf_len("mine")),
            ),
            {**{f"b{n}": np.zeros(n, dtype) for n in range(6)}, "out": u32([0x55] * 8)},
            {"out": u32([*range(6), 9, 11])},
        )


def _text() -> Iterator[Case]:
    """Counts the characters of UTF-8 text by its bytes: those that do not continue one."""
    text = "Grüße, 世界! ∑ x² ≤ 10⁶ 🎈".encode() * 9
    i = Expr.gid_x()
    yield case(
        "L1/narrow_elements/utf8_count",
        "Bytes of text are elements of U8: characters are the bytes that are no continuation.",
        Program(
            [BufferDecl.read("text", 0, DataType.U8), BufferDecl.output("count", 1, U32)],
            (64, 1, 1),
            [
                Node.let("byte", Expr.load("text", i)),
                Node.if_(
                    Expr.logical_and(
                        Expr.lt(i, Expr.buf_len("text")), Expr.ne(Expr.bitand(Expr.var("byte"), 0xC0), 0x80)
                    ),
                    [Node.let("old", Expr.atomic_add("count", 0, 1))],
                ),
            ],
        ),
        {"text": np.frombuffer(text, np.uint8), "count": u32([0])},
        {"count": u32([len(text.decode())])},
        groups(len(text)),
    )


def cases() -> Iterator[Case]:
    """Everything about narrow elements."""
    yield from _loads()
    yield from _stores()
    yield from _own_memory()
    yield from _neighbours()
    yield from _exchange()
    yield from _lengths()
    yield from _text()
