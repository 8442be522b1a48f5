"""What calls from Python cost in vyre's own module: guard.py runs this under callgrind.

    python tests/counts/calls.py MARKS [--only CASE] [--twice CASE]

The interpreter and numpy are other people's: what they execute differs from one build of theirs to the next, and is not
counted.
"""

from __future__ import annotations

import argparse
import ctypes
import linecache
from collections.abc import Callable

import numpy as np

import vyre
from vyre import BufferDecl, Expr, Node, Program
from vyre._kernel.trace import trace

ELEMENTS = 64


def steps(count: int) -> Program:
    """Six nodes a step: a Let, a sum, a rotation, two variables and a literal."""
    i = Expr.gid_x()
    entry = [Node.let("x0", Expr.load("a", i))]
    entry += [Node.let(f"x{k + 1}", Expr.rotl(Expr.var(f"x{k}"), 7) + Expr.var("x0")) for k in range(count)]
    entry.append(Node.store("out", i, Expr.var(f"x{count}")))
    buffers = [BufferDecl.read("a", 0, vyre.u32), BufferDecl.output("out", 1, vyre.u32)]
    return Program(buffers=buffers, workgroup_size=(64, 1, 1), entry=entry)


def assignments(count: int) -> vyre.Kernel:
    """A kernel of so many assignments, each with an operator or two."""
    lines = ["def k(a: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]):", "    x, y = a[0], a[1]"]
    for n in range(count // 2):
        lines += [f"    x = (x ^ {n}) + y", "    y = y * 3"]
    lines.append("    out[0] = x")
    text, name = "\n".join([*lines, ""]), f"<{count} assignments>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, object] = {"vyre": vyre}
    exec(compile(text, name, "exec"), space)
    return vyre.kernel(space["k"])


def main() -> None:
    """One case after the other, each once to warm up: what is made once is not its cost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("marks")
    parser.add_argument("--only")
    parser.add_argument("--twice")
    options = parser.parse_args()
    marks = ctypes.CDLL(options.marks)

    def count(name: str, work: Callable[[], object]) -> None:
        if options.only not in (None, name):
            return
        work()
        marks.begin()
        work()
        if options.twice == name:
            work()
        marks.end(name.encode())

    program = steps(33)  # about 200 nodes
    a = np.arange(ELEMENTS, dtype=np.uint32)
    count("python build 200", lambda: steps(33))
    count("python lower 200", lambda: vyre.lower(program))
    count("python to-text 200", program.to_text)
    kernel = assignments(200)
    rewritten, parameters = kernel._rewritten, kernel._parameters
    count("python trace 200", lambda: trace(rewritten, parameters, {}, None))
    small = steps(0)
    inputs = {"a": a, "out": ELEMENTS}
    count("python run 64", lambda: vyre.run(small, inputs, workgroups=1, backend="reference"))
    there, out = vyre.array(a, backend="cpu"), vyre.empty(ELEMENTS, backend="cpu")
    count("python call 64", lambda: small(there, out, workgroups=1))
    with vyre.graph() as graph:
        for _ in range(100):
            small(there, out, workgroups=1)
    count("python replay 100", graph.replay)


if __name__ == "__main__":
    main()
