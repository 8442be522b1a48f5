"""Starts vyre as a contender: it runs the program that a user would write, on one backend or device."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

import vyre
from kernel import ROUNDS, Contender, Kernel, Missing
from vyre import BufferDecl, DataType, Expr, Node, Program

SIZE = 64


def program(workload: str) -> Program:
    """Builds `out = a ^ b`, one element per invocation, or 256 rounds of add, xor and rotate on two words."""
    i, x, y = Expr.gid_x(), Expr.var("x"), Expr.var("y")
    entry = [Node.store("out", i, Expr.load("a", i) ^ Expr.load("b", i))]
    if workload == "arx":
        entry = [
            Node.let("x", Expr.load("a", i)),
            Node.let("y", Expr.load("b", i)),
            Node.loop("k", 0, ROUNDS, [Node.assign("x", x + y), Node.assign("y", Expr.rotl(y ^ x, 7))]),
            Node.store("out", i, x ^ y),
        ]
    buffers = [
        BufferDecl.read("a", 0, DataType.U32),
        BufferDecl.read("b", 1, DataType.U32),
        BufferDecl.output("out", 2, DataType.U32),
    ]
    return Program(buffers=buffers, workgroup_size=(SIZE, 1, 1), entry=entry)


def device_of(kind: str) -> vyre.Device:
    """Finds a usable Vulkan device: the best real GPU for "gpu", else the first whose name contains `kind`."""
    usable = [device for device in vyre.devices("vulkan") if device.usable]
    for device in usable:
        if device.kind.endswith(" gpu") and device.kind != "software gpu" if kind == "gpu" else kind in device.name:
            return device
    raise Missing(f"no {'GPU' if kind == 'gpu' else kind} among the Vulkan devices here: {[d.name for d in usable]}")


def target_of(where: str) -> tuple[dict[str, object], str]:
    """Returns vyre.run's arguments for "cpu", "reference" or a device of device_of(), and a description of it."""
    if where == "reference":
        return {"backend": where}, "the interpreter"
    if where == "cpu":  # describes it as `vyre doctor` does
        return {"backend": where}, vyre._core._devices("cpu")[0]["driver"].removeprefix("vyre, ")
    device = device_of(where)
    return {"device": device}, f"{device.name}, {device.driver}"


def start(where: str) -> Contender:
    """Starts vyre on the target that target_of(where) finds."""
    target, about = target_of(where)

    def make(workload: str, a: np.ndarray, b: np.ndarray) -> Kernel:
        prog = program(workload)
        grid = -(-a.size // SIZE)

        def whole() -> np.ndarray:
            return vyre.run(prog, {"a": a, "b": b, "out": a.size}, workgroups=grid, **target)["out"]

        if not hasattr(vyre, "array"):

            def not_yet() -> None:
                raise Missing("vyre has no arrays that stay on a device yet")

            return Kernel(not_yet, not_yet, not_yet, whole)
        ours, theirs = vyre.array(a, **target), vyre.array(b, **target)
        out = vyre.empty(a.size, **target)
        run = partial(prog, ours, theirs, out, workgroups=grid)

        def batch(count: int) -> Callable[[], object]:
            with vyre.graph() as graph:
                for _ in range(count):
                    run()
            return graph.replay

        return Kernel(run, out.wait, out.numpy, whole, batch)

    return Contender(f"vyre {vyre.__version__}, {about}", make)
