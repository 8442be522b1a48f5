"""Measures work without a device: building to SPIR-V by program size, imports, memory, and the cost of checks.

    python bench/host.py compile 200      python bench/host.py import numpy
    python bench/host.py memory cpu       python bench/host.py checks

Prints one JSON object: figure -> seconds; for `checks` and `memory`, figure -> ratio.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

SIZES = (200, 2_000, 20_000, 99_000)


def least(times: list[float]) -> float:
    """Returns the least time of several runs: the one that other processes disturbed least."""
    return min(times)


def compile_program(nodes: int) -> dict[str, float]:
    """Times building, validating and lowering a straight-line program of about `nodes` nodes, six for each step."""
    import vyre
    from vyre import BufferDecl, DataType, Expr, Node, Program

    buffers = [BufferDecl.read("a", 0, DataType.U32), BufferDecl.output("out", 1, DataType.U32)]

    def build() -> Program:
        i, steps = Expr.gid_x(), (nodes - 8) // 6
        entry = [Node.let("x0", Expr.load("a", i))]
        for k in range(steps):
            entry.append(Node.let(f"x{k + 1}", Expr.rotl(Expr.var(f"x{k}"), 7) + Expr.var("x0")))
        entry.append(Node.store("out", i, Expr.var(f"x{steps}")))
        return Program(buffers=buffers, workgroup_size=(64, 1, 1), entry=entry)

    rounds: dict[str, list[float]] = {"build": [], "validate": [], "lower": [], "all": []}
    for _ in range(20 if nodes < 10_000 else 3):
        times = [time.perf_counter()]
        program = build()
        times.append(time.perf_counter())
        if vyre.validate(program):
            raise AssertionError("the program is not valid")
        times.append(time.perf_counter())
        vyre.lower(program, "spirv")
        times.append(time.perf_counter())
        for name, start, end in (("build", 0, 1), ("validate", 1, 2), ("lower", 2, 3), ("all", 0, 3)):
            rounds[name].append(times[end] - times[start])
    return {f"compile {name} {nodes}": least(times) for name, times in rounds.items()}


def import_package(package: str) -> dict[str, float]:
    """Times the import in a fresh process, without the interpreter's start, and again with numpy imported before."""
    text = "import time, sys{}; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"
    result = {}
    for figure, before in (("import", ""), ("import after-numpy", ", numpy")):
        times = []
        for _ in range(4):
            command = [sys.executable, "-c", text.format(before, package)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
            times.append(float(done.stdout.split()[-1]))
        result[f"{figure} {package}"] = least(times)
    return result


def peak() -> int:
    """Returns the most bytes of memory that this process has had since its peak was last reset."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def memory(where: str) -> dict[str, float]:
    """Returns the peak memory of a call of `a ^ b` beyond its three arrays, divided by the bytes of these arrays."""
    import numpy as np

    import vyre
    from ours import SIZE, program, target_of

    prog, n = program("xor"), 1 << 24
    target, _ = target_of(where)

    def call(elements: int) -> int:
        a, b = np.full(elements, 3, np.uint32), np.full(elements, 5, np.uint32)
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # resets the peak
        before = peak()
        out = vyre.run(prog, {"a": a, "b": b, "out": elements}, workgroups=-(-elements // SIZE), **target)["out"]
        return peak() - before - out.nbytes

    call(1024)  # makes what later calls reuse
    return {f"memory {where}": max(0, call(n)) / (12 * n)}


def checks() -> dict[str, float]:
    """Returns the time of a checked run over that of a plain run of the reference, for each kind of work."""
    import numpy as np

    import vyre
    from ours import program
    from vyre import BufferDecl, DataType, Expr, Node, Program

    at, lane = Expr.gid_x(), Expr.local_x()
    size, groups = 256, 256
    random = np.random.default_rng(2026)
    words = random.integers(0, 2**32, size * groups, np.uint32)
    half = Expr.var("half")
    reduction = Program(
        buffers=[
            BufferDecl.read("a", 0, DataType.U32),
            BufferDecl.output("out", 1, DataType.U32),
            BufferDecl.workgroup("tile", size, DataType.U32),
        ],
        workgroup_size=(size, 1, 1),
        entry=[
            Node.store("tile", lane, Expr.load("a", at)),
            Node.barrier(),
            Node.loop(
                "k",
                0,
                8,
                [
                    Node.let("half", Expr.u32(size // 2) >> Expr.var("k")),
                    Node.if_(
                        Expr.lt(lane, half),
                        [Node.store("tile", lane, Expr.load("tile", lane) + Expr.load("tile", lane + half))],
                    ),
                    Node.barrier(),
                ],
            ),
            Node.if_(Expr.eq(lane, 0), [Node.store("out", Expr.workgroup_id(0), Expr.load("tile", 0))]),
        ],
    )
    tickets = Program(
        buffers=[BufferDecl.read_write("next", 0, DataType.U32), BufferDecl.output("out", 1, DataType.U32)],
        workgroup_size=(64, 1, 1),
        entry=[
            Node.let("ticket", Expr.atomic_add("next", 0, 1)),
            Node.store("out", Expr.var("ticket"), Expr.var("ticket") * Expr.var("ticket")),
        ],
    )
    n = words.size
    cases = {
        "a ^ b": (program("xor"), {"a": words, "b": words[::-1].copy(), "out": n}, n // 64),
        "ARX": (program("arx"), {"a": words[:4096], "b": words[4096:8192].copy(), "out": 4096}, 64),
        "reduction": (reduction, {"a": words, "out": groups}, groups),
        "tickets": (tickets, {"next": 1, "out": n}, n // 64),
    }
    result = {}
    for name, (prog, inputs, grid) in cases.items():
        plain, checked = [], []
        for _ in range(4):
            for times, options in ((plain, {}), (checked, {"check": "all"})):
                start = time.perf_counter()
                vyre.run(prog, inputs, workgroups=grid, backend="reference", **options)
                times.append(time.perf_counter() - start)
        result[f"checks {name}"] = least(checked) / least(plain)
    return result


if __name__ == "__main__":
    name, *rest = sys.argv[1:]
    work = {
        "compile": lambda: compile_program(int(rest[0])),
        "import": lambda: import_package(rest[0]),
        "checks": checks,
        "memory": lambda: memory(rest[0]),
    }
    print(json.dumps(work[name]()))
