"""An object of each kind that a notebook draws. The tests of facts and of pictures go over all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import vyre
from vyre import BufferDecl, Expr, In, Node, Out, Program, u32
from vyre._devices import Backends, Devices


@vyre.kernel(workgroup_size=64)
def sums_of_64(data: In[u32], sums: Out[u32]):
    """The sum of each 64 elements, by a tree of additions in workgroup memory."""
    tile, lane = vyre.shared(u32, 64), vyre.lid(0)
    tile[lane] = data[vyre.gid(0)]
    vyre.barrier()
    for half in (32, 16, 8, 4, 2, 1):
        if lane < half:
            tile[lane] += tile[lane + half]
        vyre.barrier()
    if lane == 0:
        sums[vyre.wid(0)] = tile[0]


@vyre.kernel
def scaled(a: In[u32], k: u32, out: Out[u32], factor: vyre.const = 3):
    out[vyre.gid(0)] = a[vyre.gid(0)] * k * factor


@vyre.kernel(workgroup_size=4)
def turned(data: In[u32], out: Out[u32]):
    """A barrier is missing between the two."""
    tile, lane = vyre.shared(u32, 4), vyre.lid(0)
    tile[lane] = data[vyre.gid(0)]
    out[vyre.gid(0)] = tile[3 - lane]


@vyre.kernel
def gcd(a: In[u32], b: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    x, y = a[i], b[i]
    while y != 0:
        x, y = y, x % y
    out[i] = x


@vyre.kernel
def doubled(x: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    vyre.debug("twice", x[i] * 2)
    out[i] = x[i] * 2


@vyre.procedure
def doubled_twice(x: In[u32], times: u32):
    a, b = vyre.scratch(u32, x.length, zeros=True), vyre.scratch(u32, x.length)
    doubled(x, a)
    for _ in vyre.times(times):
        doubled(a, b)
        vyre.swap(a, b)
    return a


WORDS = np.arange(8, dtype=np.uint32)


def program() -> Program:
    i = Expr.var("i")
    return Program(
        [
            BufferDecl.read("left", 0, u32),
            BufferDecl.read("right", 1, u32),
            BufferDecl.workgroup("tile", 64, u32),
            BufferDecl.output("out", 2, u32),
        ],
        (64, 1, 1),
        [
            Node.let("i", Expr.gid_x()),
            Node.if_(
                i < Expr.buf_len("out"),
                [
                    Node.store("tile", Expr.local_x(), Expr.load("left", i) ^ Expr.load("right", i)),
                    Node.loop("k", 0, 4, [Node.store("out", i, vyre.rotl(Expr.load("tile", Expr.local_x()), 7))]),
                ],
                [Node.return_()],
            ),
        ],
    )


def broken() -> Program:
    return Program(
        [BufferDecl.read("data", 0, u32)],
        (64, 0, 1),
        [
            Node.let("i", Expr.gid_x()),
            Node.store("data", Expr.var("i"), Expr.var("j") + 1),
            Node.store("result", Expr.var("i"), 0),
        ],
    )


def validation_error() -> vyre.ValidationError:
    try:
        vyre.run(broken(), {"data": 64}, 1)
    except vyre.ValidationError as error:
        return error
    raise AssertionError


def argument_error() -> vyre.VyreError:
    try:
        vyre.empty(-1)
    except vyre.VyreError as error:
        return error
    raise AssertionError


def check_error() -> vyre.VyreError:
    try:
        vyre.run(turned.program, {"data": WORDS, "out": 8}, 2, backend="reference", check=["race"])
    except vyre.CheckError as error:
        return error
    raise AssertionError


def report(check: str) -> vyre.Report:
    """The report of a check, of the smallest program that it is for."""
    out, i, lane = BufferDecl.output("out", 0, u32), Expr.gid_x(), Expr.local_x()
    entries: dict[str, list[Node]] = {
        "race": [Node.store("out", 3, i + 7)],
        "out-of-bounds": [Node.store("out", i + 2, 9)],
        "uninitialised-read": [Node.store("out", i, Expr.load("tile", lane))],
        "divergent-barrier": [Node.if_(lane < 1, [Node.barrier()])],
        "order-dependence": [
            Node.let("ticket", vyre.atomic_add("next", 0, 1)),
            Node.store("out", Expr.var("ticket"), i),
        ],
    }
    buffers = [out]
    if check == "uninitialised-read":
        buffers.append(BufferDecl.read_write("tile", 1, u32))
    if check == "order-dependence":
        buffers.append(BufferDecl.read_write("next", 1, u32))
    inputs = {decl.name: np.zeros(1, np.uint32) if decl.name == "next" else 4 for decl in buffers}
    (found,) = vyre.check(Program(buffers, (4, 1, 1), entries[check]), inputs, 1).reports
    return found


def graph() -> vyre.Graph:
    data = vyre.array(WORDS, backend="cpu")
    with vyre.graph() as made:
        for _ in range(3):
            data += 1
    return made


def device(**other: Any) -> vyre.Device:
    facts: dict[str, Any] = {
        "index": 0,
        "backend": "vulkan",
        "name": "Example 4000",
        "driver": "example 535.1",
        "kind": "discrete gpu",
        "usable": True,
        "default": True,
        "limits": {"maxComputeSharedMemorySize": 49152, "maxComputeWorkGroupInvocations": 1024},
        "probes": {"division by zero": "gives zeros"},
    }
    return vyre.Device(**{**facts, **other})


class TwoBackends(Backends):
    """What `vyre.backends` gives where there is no GPU and no software GPU."""

    def unavailable(self) -> dict[str, list[str]]:
        return {"vulkan": ["no device was found. Fix: apt-get install mesa-vulkan-drivers."]}


def devices() -> Devices:
    """A device that works and one that does not."""
    told = "the driver has no Vulkan memory model. Fix: update it, or use another device."
    other = device(index=1, name="Example 100", usable=False, default=False, reasons=(told,), limits={}, probes={})
    return Devices([device(), other])


def profile() -> vyre.Profile:
    """Twenty calls, the first of which compiles. The times are made up, so that each run draws the same."""
    calls, us = 20, 1000
    events: list[tuple[Any, ...]] = []

    def happens(name: str, begin: int, length: int, *, dispatch: bool = False) -> None:
        device, program, grid, size = (0, 0, (64, 1, 1), 16640) if dispatch else (None, None, (0, 0, 0), 0)
        events.append((name, device, program, False, 1, begin * us, begin * us, length * us, grid, size))

    for name, begin, length in (("validate", 20, 90), ("lower", 120, 170), ("compile", 300, 360)):
        happens(name, begin, length)
    happens("call", 10, 690)
    for k in range(1, calls):
        happens("call", 700 + 12 * k, 4)
    for k in range(calls):
        happens("dispatch", 720 + 50 * k, 40 + k % 3, dispatch=True)
    happens("wait", 940, 780)
    rows: dict[tuple[str, Any, Any], list[int]] = {}
    for name, device, program, *_, length, _grid, _size in events:
        rows.setdefault((name, device, program), []).append(length)
    made = vyre.Profile(len(events))
    made._threads = {1: "MainThread"}
    made._report = {
        "open": False,
        "began": 0,
        "ended": 1750 * us,
        "left_out": 0,
        "notes": [],
        "devices": [("cpu", 0, "this processor", "", None)],
        "programs": [("e402dcc99f5de145", ("sums",), "sums.py", 12)],
        "rows": [(*key, False, len(each), sum(each), min(each), max(each)) for key, each in rows.items()],
        "events": events,
    }
    return made


def debugging() -> vyre.Debugging:
    with vyre.debugging(invocations=[1, 2]) as seen:
        doubled(WORDS, backend="reference")
    return seen


def rotates_too_far(program: Program, inputs: Any, workgroups: Any) -> Any:
    """A backend that rotates by one bit too many."""
    other = vyre.parse(program.to_text().replace("tile[lid.x], 7)", "tile[lid.x], 8)"))
    return vyre.run(other, inputs, workgroups, backend="reference")


def divergence() -> vyre.Divergence:
    inputs = {"left": WORDS, "right": WORDS + 1, "out": 8}
    found = vyre.bisect(program(), inputs, 1, backend=rotates_too_far, against="reference")
    assert found is not None
    return found


def triples(program: Program, inputs: Any, workgroups: Any) -> Any:
    """A backend that multiplies by three where it should by two."""
    other = vyre.parse(program.to_text().replace("* 2\n", "* 3\n"))
    return vyre.run(other, inputs, workgroups, backend="reference")


def procedure_divergence() -> vyre.ProcedureDivergence:
    found = vyre.bisect(doubled_twice, {"x": WORDS, "times": 2}, backend=triples, against="reference")
    assert found is not None
    return found


def repetition() -> vyre.RepeatResult:
    racing = Program([BufferDecl.output("last", 0, u32)], (4, 1, 1), [Node.store("last", 0, Expr.gid_x())])
    return vyre.repeat(racing, {"last": 1}, 1, backend="reference")


def certificate() -> Any:
    """That of the interpreter. Versions and hashes that change with what else there is are made up."""
    from vyre.conformance import Certificate, certify

    made = dict(certify("reference", levels=["L4"]).content)
    made["versions"] = {"numpy": "2.4.6", "python": "3.13.0", "vyre": "0.1.0"}
    made["tables"] = dict.fromkeys(made["tables"], "0123456789abcdef" * 4)
    made["operations"] = {"primitive.math.gcd@1": "fedcba9876543210" * 4}
    return Certificate._sealed(made)


EXAMPLES: dict[str, Callable[[], Any]] = {
    "program": program,
    "kernel": lambda: sums_of_64,
    "kernel-with-constants": lambda: scaled,
    "specialized": lambda: scaled.specialize(factor=5),
    "procedure": lambda: doubled_twice.procedure,
    "procedure-function": lambda: doubled_twice,
    "array": lambda: vyre.array(np.arange(100, dtype=np.uint32), backend="cpu"),
    "array-2d": lambda: vyre.array(np.arange(600, dtype=np.int32).reshape(20, 30) - 300, backend="cpu"),
    "diagnostic": lambda: vyre.validate(broken())[1],
    "diagnostics": lambda: vyre.validate(broken()),
    "no-diagnostics": lambda: vyre.validate(program()),
    "validation-error": validation_error,
    "argument-error": argument_error,
    "check-error": check_error,
    "race": lambda: report("race"),
    "out-of-bounds": lambda: report("out-of-bounds"),
    "uninitialised-read": lambda: report("uninitialised-read"),
    "divergent-barrier": lambda: report("divergent-barrier"),
    "order-dependence": lambda: report("order-dependence"),
    "check-result": lambda: vyre.check(turned.program, {"data": WORDS, "out": 8}, workgroups=2),
    "graph": graph,
    "device": device,
    "devices": devices,
    "backends": lambda: TwoBackends(["cpu", "reference"]),
    "operation": lambda: vyre.ops.get("primitive.math.gcd"),
    "operation-function": lambda: vyre.ops.Operation(vyre.ops.get("primitive.math.gcd")),
    "profile": profile,
    "certificate": certificate,
    "trace": lambda: vyre.trace(gcd, WORDS + 12, WORDS + 8, invocation=1),
    "debugging": debugging,
    "cost": lambda: sums_of_64.cost(1024, 16, workgroups=16),
    "explanation": lambda: sums_of_64.explain(backend="cpu"),
    "divergence": divergence,
    "procedure-divergence": procedure_divergence,
    "repetition": repetition,
}


def drawn(shown: Any) -> str:
    """What a notebook draws of an object."""
    text: str = shown._repr_html_()
    return text
