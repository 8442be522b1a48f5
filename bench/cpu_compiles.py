"""Times the first call of a program on the cpu backend against its size: `python bench/cpu_compiles.py [nodes ...]`.

A program is a chain of adds and xors, of so many nodes; each turn takes another one, so that nothing is known of it.
The call has 8,192 invocations, enough for machine code, and does all there is from the check to the run. What counts
is the processor time of the call, the least of many turns, because other work on the machine only adds to it.
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
COUNT = 8192


def program(nodes: int, seed: int) -> Program:
    i = Expr.gid_x()
    value = Expr.load("x", i)
    for k in range(max(1, (nodes - 6) // 4)):
        value = (value + (seed + k)) ^ i
    buffers = [BufferDecl.read("x", 0, vyre.u32), BufferDecl.read_write("y", 1, vyre.u32)]
    return Program(buffers, (GROUP, 1, 1), [Node.store("y", i, value)])


def seconds(nodes: int, seed: int) -> float:
    made = program(nodes, seed)
    x, y = vyre.array(np.arange(COUNT, dtype=np.uint32), backend="cpu"), vyre.zeros(COUNT, backend="cpu")
    start = time.process_time()
    made(x, y, workgroups=COUNT // GROUP)
    return time.process_time() - start


def main() -> None:
    rows = []
    for nodes in [int(size) for size in sys.argv[1:]] or SIZES:
        turns = max(5, 20_000 // nodes)
        least = min(seconds(nodes, 1 + 1000 * turn) for turn in range(turns))
        rows.append([f"{nodes:,}", f"{least * 1e3:.3g} ms", f"{least / nodes * 1e9:.0f} ns"])
    print(tabulate(rows, headers=["nodes", "first call", "a node"], tablefmt="github", disable_numparse=True))


if __name__ == "__main__":
    main()
