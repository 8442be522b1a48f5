"""Measures what coarsening is worth on each device: `python bench/lowering.py [elements ...]`.

The programs are `a ^ b` as it is written and with a guard, a copy, and ARX, over arrays that stay on the device. A
round is many calls in a row and one wait. Rounds with and without coarsening alternate, and the least time of each
counts. The bytes are compared before anything is timed.
"""

from __future__ import annotations

import sys

import numpy as np
from tabulate import tabulate

import vyre
from kernel import answer, inputs
from ours import SIZE, program
from vyre import BufferDecl, DataType, Expr, Node, Program
from worker import once

ROUNDS = 7
# How long a round should take: long enough for the device to be busy, short enough for a table of many rows.
SECONDS = 0.03
WAYS = {"without": ("passes", "proofs"), "with": ("passes", "proofs", "coarsening")}


def guarded() -> Program:
    """Builds `if i < len(out): out[i] = a[i] ^ b[i]`."""
    plain = program("xor")
    i = Expr.gid_x()
    stored = Node.store("out", i, Expr.load("a", i) ^ Expr.load("b", i))
    return Program(plain.buffers, (SIZE, 1, 1), [Node.if_(i < Expr.buf_len("out"), [stored])])


def copied() -> Program:
    """Builds `out = a`, which reads as many words as it writes."""
    buffers = [BufferDecl.read("a", 0, DataType.U32), BufferDecl.output("out", 1, DataType.U32)]
    return Program(buffers, (SIZE, 1, 1), [Node.store("out", Expr.gid_x(), Expr.load("a", Expr.gid_x()))])


def measure(prog: Program, arrays: list, out, expected: np.ndarray) -> dict[str, float]:
    """Returns the seconds of a run for each of WAYS."""
    grid = -(-expected.size // SIZE)
    runs = 1
    best = dict.fromkeys(WAYS, float("inf"))
    for how, optimize in WAYS.items():
        prog(*arrays, out, workgroups=grid, optimize=optimize)
        if not np.array_equal(out.numpy(), expected):
            raise SystemExit(f"other bytes than numpy's {how} coarsening")
        first = once(lambda optimize=optimize: (prog(*arrays, out, workgroups=grid, optimize=optimize), out.wait()))
        runs = max(runs, min(500, int(SECONDS / first)))
    for _ in range(ROUNDS):
        for how, optimize in WAYS.items():

            def work(optimize=optimize) -> None:
                for _ in range(runs):
                    prog(*arrays, out, workgroups=grid, optimize=optimize)
                out.wait()

            best[how] = min(best[how], once(work) / runs)
    return best


def main() -> None:
    sizes = [int(size) for size in sys.argv[1:]] or [1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28]
    for device in vyre.devices("vulkan"):
        if not device.usable:
            continue
        rows = []
        for size in sizes:
            a, b = inputs(size)
            on_device = [vyre.array(x, device=device) for x in (a, b)]
            out = vyre.empty(size, device=device)
            cases = {
                "a ^ b": (program("xor"), 2, answer("xor", size), 12e-12, "TB/s"),
                "a ^ b, guarded": (guarded(), 2, answer("xor", size), 12e-12, "TB/s"),
                "a": (copied(), 1, a, 8e-12, "TB/s"),
                "256 ARX rounds": (program("arx"), 2, answer("arx", size), 768e-12, "Tops/s"),
            }
            for name, (prog, read, expected, work, unit) in cases.items():
                seconds = measure(prog, on_device[:read], out, expected)
                rates = [work * size / seconds[how] for how in WAYS]
                rows.append(
                    [name, f"{size:,}", *(f"{rate:.3g} {unit}" for rate in rates), f"{rates[1] / rates[0]:.2f}"]
                )
        print(device.name)
        print(tabulate(rows, ["what", "elements", *WAYS, "ratio"]), flush=True)


if __name__ == "__main__":
    main()
