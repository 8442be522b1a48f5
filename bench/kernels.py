"""What kernels written in Python cost: decorating, tracing, the first and later calls, and a histogram.

python bench/kernels.py                    on the best device here
python bench/kernels.py --backend cpu
python bench/kernels.py --elements 28      the histogram's size as a power of two
python bench/kernels.py --json out.json    keep the figures
"""

from __future__ import annotations

import argparse
import json
import linecache
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tabulate import tabulate

import vyre
from vyre import In, Out, u32


@vyre.kernel
def saxpy(a: In[u32], x: In[u32], k: u32, y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = a[i] * k + x[i]


@vyre.kernel
def scaled(x: In[u32], k: vyre.const, y: Out[u32], n: u32 = 1):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] * k + n


# Each invocation counts four words of four bytes into the workgroup's histogram, 256 words apart.
@vyre.kernel(workgroup_size=256)
def histogram(words: In[vyre.vec4u32], counts: Out[u32], rounds: u32):
    mine, k = vyre.shared(u32, 256), vyre.lid(0)
    first = vyre.wid(0) * 256 * rounds + k
    for turn in range(rounds):
        four = words[first + turn * 256]
        for word in (four.x, four.y, four.z, four.w):
            for shift in (0, 8, 16, 24):
                mine.atomic_add(word >> shift & 255, 1)
    vyre.barrier()
    counts.atomic_add(k, mine[k])


# Each invocation counts the low byte of sixteen words a round, which it loads before it counts.
@vyre.kernel(workgroup_size=256)
def histogram_of_words(words: In[vyre.vec4u32], counts: Out[u32], rounds: u32):
    mine, k = vyre.shared(u32, 256), vyre.lid(0)
    first = vyre.wid(0) * 256 * rounds + k
    for turn in range(rounds // 4):
        fours = [words[first + (turn * 4 + part) * 256] for part in range(4)]
        for four in fours:
            for word in (four.x, four.y, four.z, four.w):
                mine.atomic_add(word & 255, 1)
    vyre.barrier()
    counts.atomic_add(k, mine[k])


def best(work: Callable[[], object], repeats: int, calls: int = 1) -> float:
    """Seconds of one call, the least of several measurements."""
    work()
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(calls):
            work()
        found.append((time.perf_counter() - start) / calls)
    return min(found)


def long_source(statements: int) -> str:
    lines = ["import vyre", "from vyre import In, Out, u32", "def k(a: In[u32], out: Out[u32]):"]
    lines += ["    i = vyre.gid(0)", "    x, y = a[i], a[i + 1]"]
    for n in range(statements // 2):
        lines += [f"    x = (x ^ {n}) + y", "    y = y * 3"]
    return "\n".join([*lines, "    out[i] = x", ""])


def stages(statements: int) -> dict[str, float]:
    """Seconds from a function of so many assignments to its checked Program, by what happens when."""
    text = long_source(statements)
    name = f"<{statements} statements>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, object] = {}
    exec(compile(text, name, "exec"), space)
    found: dict[str, list[float]] = {"decorate": [], "rewrite": [], "trace": []}
    for _ in range(5):
        start = time.perf_counter()
        kernel = vyre.kernel(space["k"])
        decorated = time.perf_counter()
        kernel._rewritten  # noqa: B018  rewritten when it is first traced
        rewritten = time.perf_counter()
        kernel.program  # noqa: B018  traced when it is first asked for
        traced = time.perf_counter()
        for stage, begin, end in zip(found, (start, decorated, rewritten), (decorated, rewritten, traced), strict=True):
            found[stage].append(end - begin)
    return {stage: min(seconds) for stage, seconds in found.items()}


def forms(count: int, where: dict[str, str | None]) -> dict[str, float]:
    """Seconds of a call with numpy arrays that is like one before, by how the arguments are given."""
    a, y = np.arange(count, dtype=np.uint32), np.empty(count, np.uint32)
    three = np.uint32(3)
    calls: dict[str, Callable[[], object]] = {
        "by place": lambda: saxpy(a, a, 3, **where),
        "by name": lambda: saxpy(a=a, x=a, k=3, **where),
        "number of numpy": lambda: saxpy(a, a, three, **where),
        "out=": lambda: saxpy(a, a, 3, out=y, **where),
        "grid=": lambda: saxpy(a, a, 3, grid=count, **where),
        "workgroups=": lambda: saxpy(a, a, 3, workgroups=(count // 256,), **where),
        "const and default": lambda: scaled(a, 3, **where),
    }
    return {name: best(call, 15, 300) for name, call in calls.items()}


def counted(kernel: vyre.Kernel, count: int, where: dict[str, str | None]) -> float:
    """Seconds of a histogram of so many bytes, in a graph of 20."""
    data = np.random.default_rng(1).integers(0, 2**32, count // 4, dtype=np.uint32)
    words = vyre.array(data.reshape(-1, 4), **where)
    rounds = 64
    groups = -(-(count // 16) // (256 * rounds))
    given = kernel(words, vyre.empty(256, **where), rounds, workgroups=groups)
    wanted = np.bincount(data.view(np.uint8) if kernel is histogram else data & 255, minlength=256)
    if not (given.numpy() == wanted).all():
        raise SystemExit("the histogram is wrong")
    counts = vyre.empty(256, **where)
    program = kernel.program
    with vyre.graph() as graph:
        program(words, counts, rounds, workgroups=groups)

    def replayed() -> None:
        graph.replay(20)
        counts.wait()

    return best(replayed, 5) / 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend")
    parser.add_argument("--elements", type=int, default=22)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    where = {"backend": options.backend}
    figures: dict[str, float] = {}
    for statements in (100, 1000, 4000):
        for stage, seconds in stages(statements).items():
            figures[f"{stage} {statements} statements, ms"] = 1e3 * seconds

    a = np.arange(256, dtype=np.uint32)
    start = time.perf_counter()
    saxpy(a, a, 3, **where)
    figures["first call, ms"] = 1e3 * (time.perf_counter() - start)
    program, inputs = saxpy.program, {"a": a, "x": a, "y": 256, "__params": np.array([3], np.uint32)}
    figures["numpy: vyre.run, us"] = 1e6 * best(lambda: vyre.run(program, inputs, 1, **where), 7, 300)
    figures["numpy: kernel, us"] = 1e6 * best(lambda: saxpy(a, a, 3, **where), 7, 300)
    for count in (256, 1024):
        for form, seconds in forms(count, where).items():
            figures[f"numpy, {count} words: kernel, {form}, us"] = 1e6 * seconds
    resident = vyre.array(a, **where)
    out = vyre.empty(256, **where)

    def planned() -> None:
        program(resident, resident, out, 3, workgroups=1)
        out.wait()

    def planned_new() -> None:
        program(resident, resident, 256, 3, workgroups=1).wait()

    figures["resident: Program, us"] = 1e6 * best(planned, 7, 300)
    figures["resident: Program with a new output, us"] = 1e6 * best(planned_new, 7, 300)
    figures["resident: kernel with a new output, us"] = 1e6 * best(lambda: saxpy(resident, resident, 3).wait(), 7, 300)

    for kind, kernel, bytes_each in (("bytes", histogram, 1), ("words", histogram_of_words, 4)):
        figures[f"histogram of 2^{options.elements} {kind}, ms"] = 1e3 * counted(
            kernel, bytes_each << options.elements, where
        )
    print(tabulate([[name, f"{value:.4g}"] for name, value in figures.items()], headers=["figure", "least"]))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
