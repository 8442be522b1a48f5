"""Measures how long drivers compile programs with many locals and branches: `python bench/compiles.py [locals ...]`.

A program has n locals, n ifs that assign one local each, and the sum of the locals. The locals come from one load, or
from a load each. On every Vulkan device, the first call of such a program is timed with and without "straightening" of
`optimize=`; lowering and running take a few milliseconds of that. No compiled code comes from disk, and the bytes are
compared with the reference's.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time

os.environ["MESA_SHADER_CACHE_DISABLE"] = "true"

import numpy as np
from tabulate import tabulate

import vyre
from vyre import BufferDecl, Expr, Node, Program

WITHOUT = ["passes", "proofs", "coarsening", "specialization"]
WAYS = {"without": WITHOUT, "with": [*WITHOUT, "straightening"]}
TURNS = 2


def program(count: int, *, loads: bool, seed: int) -> Program:
    """Builds a program. Each `seed` gives another one, so that no cache has it already."""
    i = Expr.gid_x()
    values = [Expr.load("in", i + k) if loads else Expr.var("x") * (k + seed) for k in range(count)]
    entry = [Node.let("x", Expr.load("in", i)), *[Node.let(f"v{k}", value) for k, value in enumerate(values)]]
    variables = [Expr.var(f"v{k}") for k in range(count)]
    entry += [Node.if_(v > k, [Node.assign(f"v{k}", v * 3 + seed)]) for k, v in enumerate(variables)]
    entry.append(Node.let("sum", 0))
    entry += [Node.assign("sum", Expr.var("sum") + v) for v in variables]
    entry.append(Node.store("out", i, Expr.var("sum")))
    return Program([BufferDecl.read("in", 0, vyre.u32), BufferDecl.output("out", 1, vyre.u32)], (64, 1, 1), entry)


def main() -> None:
    counts = [int(text) for text in sys.argv[1:]] or [125, 250, 500]
    rows, seed = [], 0
    data = {"in": np.arange(64, dtype=np.uint32), "out": 64}
    for loads, what in ((False, "of one load"), (True, "of a load each")):
        for device in (device for device in vyre.devices("vulkan") if device.usable):
            for count in counts:
                best = dict.fromkeys(WAYS, float("inf"))
                for _ in range(TURNS):
                    for way, optimize in WAYS.items():
                        seed += 1
                        made = program(count, loads=loads, seed=seed)
                        expected = vyre.run(made, data, 1, backend="reference")["out"]
                        start = time.perf_counter()
                        got = vyre.run(made, data, 1, backend="vulkan", device=device, optimize=optimize)["out"]
                        best[way] = min(best[way], time.perf_counter() - start)
                        if not np.array_equal(got, expected):
                            raise SystemExit(f"other bytes than the reference's on {device.name}")
                ratio = f"{best['without'] / best['with']:.1f}"
                rows.append([what, device.name.split()[0], count, *(f"{best[way]:.3f}" for way in WAYS), ratio])
    heads = ["locals", "device", "n", *(f"{way}, s" for way in WAYS), "ratio"]
    print(tabulate(rows, heads, tablefmt="github", disable_numparse=True))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["VYRE_CACHE_DIR"] = folder
        main()
