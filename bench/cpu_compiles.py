"""Times the first call of a program on the cpu backend, by its size, and by engine, invocations and turns of a loop.

    python bench/cpu_compiles.py [nodes ...]        python bench/cpu_compiles.py --engines

A program is a chain of adds and xors, of so many nodes; each turn takes another one, so that nothing is known of it.
Without `--engines`, a call has 8,192 invocations and runs machine code, and does all there is from the check to the
run. With it, the first call of each engine stands beside that of the engine which the backend chooses. What counts is
the processor time of the call, the least of many turns, because other work on the machine only adds to it.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from tabulate import tabulate

import vyre
from vyre import BufferDecl, Expr, Node, Program

SIZES = (200, 1_000, 10_000, 50_000, 99_000)
GROUP = 64
COUNT = 8192  # invocations of the calls by size
COMPILED = ["passes", "proofs", "straightening", "specialization", "compilation"]  # a list: machine code at once
INTERPRETED = COMPILED[:-1]
ENGINES = {"interpreter": INTERPRETED, "machine code": COMPILED, "chosen": None}
SHAPES = ((20, 1), (200, 1), (2_000, 1), (20, 1_000), (200, 1_000))  # nodes, and turns of a loop around them
COUNTS = (64, 1_024, 16_384, 262_144)
MOST_WORK = 2e9  # nodes, turns and invocations together, of a call


def program(nodes: int, seed: int, turns: int = 1) -> Program:
    i, v = Expr.gid_x(), Expr.var("v")
    for k in range(max(1, (nodes - 6) // 4)):
        v = (v + (seed + k)) ^ i
    body = [Node.assign("v", v)]
    if turns > 1:
        body = [Node.loop("k", 0, turns, body)]
    buffers = [BufferDecl.read("x", 0, vyre.u32), BufferDecl.read_write("y", 1, vyre.u32)]
    entry = [Node.let("v", Expr.load("x", i)), *body, Node.store("y", i, Expr.var("v"))]
    return Program(buffers, (GROUP, 1, 1), entry)


def seconds(made: Program, count: int, optimize: list[str] | None) -> float:
    x, y = vyre.array(np.arange(count, dtype=np.uint32), backend="cpu"), vyre.zeros(count, backend="cpu")
    start = time.process_time()
    made(x, y, workgroups=count // GROUP, optimize=optimize)
    return time.process_time() - start


def by_size(sizes: list[int]) -> str:
    rows = []
    for nodes in sizes:
        turns = max(5, 20_000 // nodes)
        least = min(seconds(program(nodes, 1 + 1000 * turn), COUNT, COMPILED) for turn in range(turns))
        rows.append([f"{nodes:,}", f"{least * 1e3:.3g} ms", f"{least / nodes * 1e9:.0f} ns"])
    return tabulate(rows, headers=["nodes", "first call", "a node"], tablefmt="github", disable_numparse=True)


def by_engine() -> str:
    rows, seed = [], 0
    for nodes, turns in SHAPES:
        for count in COUNTS:
            if nodes * turns * count > MOST_WORK:
                continue
            least = dict.fromkeys(ENGINES, float("inf"))
            for _ in range(20 if nodes < 1_000 else 5):
                for engine, optimize in ENGINES.items():
                    seed += nodes
                    took = seconds(program(nodes, seed, turns), count, optimize)
                    least[engine] = min(least[engine], took)
            rows.append(
                [f"{nodes:,}", f"{turns:,}", f"{count:,}", *(f"{each * 1e6:,.0f} us" for each in least.values())]
            )
    headers = ["nodes", "turns", "invocations", *ENGINES]
    return tabulate(rows, headers=headers, tablefmt="github", disable_numparse=True)


def main() -> None:
    print(by_engine() if "--engines" in sys.argv else by_size([int(size) for size in sys.argv[1:]] or list(SIZES)))


if __name__ == "__main__":
    main()
