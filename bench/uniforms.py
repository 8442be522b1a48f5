"""Measures what specialisation on Uniform buffers is worth on each device: `python bench/uniforms.py`.

In these programs some words decide a loop's bounds, a condition or a divisor. The words are literals, or words of a
Uniform buffer for whose values the program is compiled (specialisation), or such words with specialisation switched
off. Arrays stay on the device, calls are made one at a time and in turns, and the least time of several rounds counts.
The bytes are compared in the first round.
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

# The words of the Uniform buffer: a mode, a divisor, and two counts.
WORDS = (7, 10, 2, 256)
ROUNDS = 30
# Elements by the kind of device. A processor is slower, so it gets fewer.
ELEMENTS = {"cpu": 1 << 18, "software gpu": 1 << 18}
MOST_ELEMENTS = 1 << 24
# The values of `optimize` with and without specialisation, on GPUs and on software devices.
ON, OFF = ["passes", "proofs", "coarsening", "specialization"], ["passes", "proofs", "coarsening"]
SOFTWARE_ON, SOFTWARE_OFF = ["passes", "proofs", "specialization"], ["passes", "proofs"]

Word = Callable[[int], Expr]


def rounds(word: Word) -> list[Node]:
    """Computes as many rounds of ARX as a word says."""
    x, y = Expr.var("x"), Expr.var("y")
    turn = [Node.assign("x", x + y), Node.assign("y", Expr.rotl(y ^ x, 7))]
    return [Node.let("y", x * 5), Node.loop("k", 0, word(3), turn), Node.assign("x", x ^ y)]


def short_loop(word: Word) -> list[Node]:
    """Runs a loop of two turns within a loop of 64."""
    inner = Node.loop("k", 0, word(2), [Node.assign("x", Expr.var("x") * 3 + 1)])
    return [Node.loop("j", 0, 64, [inner])]


def mode(word: Word) -> list[Node]:
    """Takes one of two branches, 64 times."""
    x = Expr.var("x")
    branch = Node.if_(word(0) == 7, [Node.assign("x", x * 3 + 1)], [Node.assign("x", Expr.rotl(x, 5) ^ 9)])
    return [Node.loop("k", 0, 64, [branch])]


def select(word: Word) -> list[Node]:
    """Selects one of two values, 64 times."""
    x = Expr.var("x")
    return [Node.loop("k", 0, 64, [Node.assign("x", Expr.select(word(0) == 7, x * 3 + 1, Expr.rotl(x, 5) ^ 9))])]


def divide(word: Word) -> list[Node]:
    """Computes a quotient and a remainder, 16 times."""
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
    """A place for arrays, with the arguments of vyre.array and vyre.empty that choose it."""

    name: str
    kind: str
    given: dict[str, object]


def places() -> Iterator[Place]:
    """Yields this processor and every usable device."""
    yield Place("cpu", "cpu", {"backend": "cpu"})
    for device in vyre.devices():
        if device.usable:
            yield Place(device.name, device.kind, {"device": device})


def program(body: Callable[[Word], list[Node]], word: Word) -> Program:
    """Builds a program that loads element i as `x`, runs `body`, and stores `x`."""
    buffers = [BufferDecl.read_write("data", 0, DataType.U32), BufferDecl.uniform("words", 1, DataType.U32)]
    i = Expr.gid_x()
    entry = [Node.let("x", Expr.load("data", i)), *body(word), Node.store("data", i, Expr.var("x"))]
    return Program(buffers, (SIZE, 1, 1), entry)


def measure(body: Callable[[Word], list[Node]], place: Place) -> list[float]:
    """Returns the seconds of a call: with literals, specialised, and not specialised."""
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
    """Prints a table with one row for each device and program."""
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
