"""What knowing a Uniform buffer's words is worth on each device: `python bench/uniforms.py`.

Programs of which some words decide a loop's bounds, a condition or a divisor: with these as literals, as words of a
Uniform buffer for which the program is compiled (specialisation), and as such words with that switched off. Resident
arrays, one call at a time, in turns, the least of several rounds. The bytes are compared before anything is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from tabulate import tabulate

import vyre
from ours import SIZE
from vyre import BufferDecl, DataType, Expr, Node, Program
from worker import once

# Of the Uniform buffer: a mode, a divisor, and two counts.
WORDS = (7, 10, 2, 256)
ROUNDS = 30
# By how busy a round keeps a device: a processor gets fewer.
ELEMENTS = {"cpu": 1 << 18, "software gpu": 1 << 18}
MOST_ELEMENTS = 1 << 24
# The ways of a program, and what `optimize` is for each.
ON, OFF = ["passes", "proofs", "coarsening", "specialization"], ["passes", "proofs", "coarsening"]
SOFTWARE_ON, SOFTWARE_OFF = ["passes", "proofs", "specialization"], ["passes", "proofs"]

Word = Callable[[int], Expr]


def rounds(word: Word) -> list[Node]:
    """ARX, as many rounds as a word says."""
    x, y = Expr.var("x"), Expr.var("y")
    turn = [Node.assign("x", x + y), Node.assign("y", Expr.rotl(y ^ x, 7))]
    return [Node.let("y", x * 5), Node.loop("k", 0, word(3), turn), Node.assign("x", x ^ y)]


def short_loop(word: Word) -> list[Node]:
    """A loop of two turns in one of 64."""
    inner = Node.loop("k", 0, word(2), [Node.assign("x", Expr.var("x") * 3 + 1)])
    return [Node.loop("j", 0, 64, [inner])]


def mode(word: Word) -> list[Node]:
    """One of two branches, 64 times."""
    x = Expr.var("x")
    branch = Node.if_(word(0) == 7, [Node.assign("x", x * 3 + 1)], [Node.assign("x", Expr.rotl(x, 5) ^ 9)])
    return [Node.loop("k", 0, 64, [branch])]


def select(word: Word) -> list[Node]:
    """One of two values, 64 times."""
    x = Expr.var("x")
    return [Node.loop("k", 0, 64, [Node.assign("x", Expr.select(word(0) == 7, x * 3 + 1, Expr.rotl(x, 5) ^ 9))])]


def divide(word: Word) -> list[Node]:
    """A quotient and a remainder, 16 times."""
    x = Expr.var("x")
    return [Node.loop("k", 0, 16, [Node.assign("x", x // word(1) + x % word(1) * 0x01000193 + Expr.var("k"))])]


PROGRAMS = {
    "256 ARX rounds, counted by a word": rounds,
    "64 loops of two turns": short_loop,
    "64 branches on a mode": mode,
    "64 values chosen by a mode": select,
    "16 quotients and remainders": divide,
}


class Place(NamedTuple):
    """Where arrays lie: what vyre.array and vyre.empty are given for it."""

    name: str
    kind: str
    given: dict[str, object]


def places() -> Iterator[Place]:
    """This processor, and every usable device."""
    yield Place("cpu", "cpu", {"backend": "cpu"})
    for device in vyre.devices():
        if device.usable:
            yield Place(device.name, device.kind, {"device": device})


def program(body: Callable[[Word], list[Node]], word: Word) -> Program:
    """`x[i]` through `body`."""
    buffers = [BufferDecl.read_write("data", 0, DataType.U32), BufferDecl.uniform("words", 1, DataType.U32)]
    i = Expr.gid_x()
    entry = [Node.let("x", Expr.load("data", i)), *body(word), Node.store("data", i, Expr.var("x"))]
    return Program(buffers, (SIZE, 1, 1), entry)


def measure(body: Callable[[Word], list[Node]], place: Place) -> list[float]:
    """Seconds of a call: with literals, specialised, and not."""
    elements = ELEMENTS.get(place.kind, MOST_ELEMENTS)
    software = place.kind in ELEMENTS
    on, off = (SOFTWARE_ON, SOFTWARE_OFF) if software else (ON, OFF)
    literal = program(body, lambda k: Expr.u32(WORDS[k]))
    uniform = program(body, lambda k: Expr.load("words", k))
    start = np.arange(elements, dtype=np.uint32) * np.uint32(0x9E3779B1)
    expected = vyre.run(literal, {"data": start[:4096], "words": len(WORDS)}, 4096 // SIZE, backend="reference")["data"]
    data, words = vyre.array(start, **place.given), vyre.array(np.uint32(WORDS), **place.given)
    ways = [(literal, off), (uniform, on), (uniform, off)]
    best = [float("inf")] * len(ways)
    for turn in range(ROUNDS):
        for index, (prog, optimize) in enumerate(ways):
            if turn == 0:
                data.write(start)
            seconds = once(
                lambda prog=prog, optimize=optimize: (
                    prog(data, words, workgroups=elements // SIZE, optimize=optimize),
                    data.wait(),
                )
            )
            if turn == 0 and not np.array_equal(data[:4096].numpy(), expected):
                raise SystemExit(f"other bytes than the reference's on {place.name}")
            best[index] = min(best[index], seconds)
    return best


def main() -> None:
    """One row a program and device."""
    rows = []
    for place in places():
        for name, body in PROGRAMS.items():
            literal, on, off = measure(body, place)
            rows.append(
                [
                    place.name,
                    name,
                    f"{literal * 1e3:.3g} ms",
                    f"{on * 1e3:.3g} ms",
                    f"{off * 1e3:.3g} ms",
                    f"{off / on:.2f}",
                ]
            )
    headers = ["device", "what", "literal", "specialised", "not specialised", "ratio"]
    print(tabulate(rows, headers=headers, tablefmt="github", disable_numparse=True))


if __name__ == "__main__":
    main()
