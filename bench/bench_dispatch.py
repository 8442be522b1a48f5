"""Dispatch and wait, `a ^ b` and 256 ARX rounds over 4 M elements: each backend and device beside numpy, in one run.

The bytes of every backend are compared with numpy's before anything is timed. Ratios are to numpy on the same machine.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
from tabulate import tabulate

import vyre
from vyre import BufferDecl, DataType, Expr, Node, Program

ROUNDS = 256


def xor_program() -> Program:
    """`out = a ^ b`, one element an invocation."""
    i = Expr.var("i")
    return Program(
        buffers=[
            BufferDecl.read("a", 0, DataType.U32),
            BufferDecl.read("b", 1, DataType.U32),
            BufferDecl.output("out", 2, DataType.U32),
        ],
        workgroup_size=(64, 1, 1),
        entry=[Node.let("i", Expr.gid_x()), Node.store("out", i, Expr.load("a", i) ^ Expr.load("b", i))],
    )


def arx_program() -> Program:
    """256 rounds of add, xor, rotate on two words."""
    i, x, y = Expr.var("i"), Expr.var("x"), Expr.var("y")
    return Program(
        buffers=xor_program().buffers,
        workgroup_size=(64, 1, 1),
        entry=[
            Node.let("i", Expr.gid_x()),
            Node.let("x", Expr.load("a", i)),
            Node.let("y", Expr.load("b", i)),
            Node.loop("k", 0, ROUNDS, [Node.assign("x", x + y), Node.assign("y", Expr.rotl(y ^ x, 7))]),
            Node.store("out", i, x ^ y),
        ],
    )


def numpy_arx(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The same with numpy, in place where it can be."""
    x, y = a.copy(), b.copy()
    for _ in range(ROUNDS):
        x += y
        y ^= x
        y = (y << np.uint32(7)) | (y >> np.uint32(25))
    return x ^ y


def median_seconds(work: Callable[[], object], repeats: int) -> float:
    """The median of `repeats` runs, after one that warms up."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def targets() -> list[tuple[str, dict]]:
    """Every usable device, then the backends that have none to choose from."""
    devices = [device for device in vyre.devices() if device.usable]
    result = [(device.name, {"backend": device.backend, "device": device}) for device in devices]
    with_devices = {device.backend for device in devices}
    return result + [(name, {"backend": name}) for name in vyre.backends() if name not in with_devices]


def main(argv: list[str] | None = None) -> int:
    """Run every measurement and print one table each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--elements", type=int, default=4 << 20)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--reference-arx-elements", type=int, default=1 << 14, help="the reference interprets; give it fewer"
    )
    options = parser.parse_args(argv)

    random = np.random.default_rng(2026)
    small = [random.integers(0, 2**32, 1024, np.uint32) for _ in range(2)]
    large = [random.integers(0, 2**32, options.elements, np.uint32) for _ in range(2)]

    def measure(
        title: str, program: Program, oracle: Callable, arrays: list[np.ndarray], repeats: int, cut: int | None = None
    ) -> None:
        rows = []
        seconds = median_seconds(lambda: oracle(*arrays), repeats)
        base = seconds / arrays[0].size
        rows.append(["numpy", arrays[0].size, seconds * 1e3, base * 1e9, 1.0])
        for name, where in targets():
            a, b = (array[:cut] for array in arrays) if cut and where["backend"] == "reference" else arrays
            inputs = {"a": a, "b": b, "out": a.size}
            grid = (-(-a.size // 64), 1, 1)
            run = lambda inputs=inputs, grid=grid, where=where: vyre.run(program, inputs, workgroups=grid, **where)  # noqa: E731
            if not np.array_equal(run()["out"], oracle(a, b)):
                sys.exit(f"{name} gives other bytes than numpy for {title}")
            seconds = median_seconds(run, repeats)
            rows.append([name, a.size, seconds * 1e3, seconds / a.size * 1e9, base / (seconds / a.size)])
        print(f"\n{title}")
        print(tabulate(rows, headers=["where", "elements", "ms", "ns/element", "x numpy"], floatfmt=",.3f", intfmt=","))

    measure("dispatch and wait, numpy to numpy (a ^ b, 1,024 elements)", xor_program(), np.bitwise_xor, small, 200)
    measure("a ^ b, numpy to numpy", xor_program(), np.bitwise_xor, large, options.repeats)
    measure(
        f"{ROUNDS} ARX rounds, numpy to numpy",
        arx_program(),
        numpy_arx,
        large,
        options.repeats,
        options.reference_arx_elements,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
