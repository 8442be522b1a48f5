"""What a small call costs, by the way it is made: `python bench/calls.py`.

`a ^ b` over 1,024 resident elements on each device: the caller's time by how many calls came before without a wait,
call and wait, and graphs of several sizes, whose calls depend on each other or share nothing. Then 256 ARX rounds with
their count as a literal and as a Uniform buffer's word, for which the program is compiled after some calls, or not.
Medians, except where many follow each other.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator

import numpy as np
from tabulate import tabulate

import vyre
from kernel import ROUNDS, answer, inputs
from ours import SIZE, program
from vyre import BufferDecl, DataType, Expr, Node, Program
from worker import once

SMALL = 1 << 10
# By how busy a round keeps a device: a processor gets fewer.
LARGE = {"cpu": 1 << 18, "software gpu": 1 << 18}
LARGEST = 1 << 24
TURNS = 200


def median(work: Callable[[], object], after: Callable[[], object] = lambda: None) -> float:
    """Microseconds of `work`; `after` it comes what is not timed."""
    times = []
    for _ in range(TURNS):
        times.append(once(work))
        after()
    return statistics.median(times) * 1e6


def calls(device: vyre.Device) -> Iterator[tuple[str, float]]:
    """What is measured of small calls, each with microseconds a call."""
    prog, grid = program("xor"), SMALL // SIZE
    a, b = (vyre.array(values, device=device) for values in inputs(SMALL))
    out = vyre.empty(SMALL, device=device)

    def call() -> None:
        prog(a, b, out, workgroups=grid)

    call()
    if not np.array_equal(out.numpy(), answer("xor", SMALL)):
        raise SystemExit(f"other bytes than numpy's on {device.name}")
    before = (0, 1, 3, 15, 63)
    times: dict[int, list[float]] = {count: [] for count in before}
    for _ in range(TURNS):
        for count in range(before[-1] + 1):
            seconds = once(call)
            if count in times:
                times[count].append(seconds)
        out.wait()
    for count, found in times.items():
        yield f"no wait, after {count} others", statistics.median(found) * 1e6
    yield "call and wait", median(lambda: (call(), out.wait()))
    for count in (1, 10, 100, 1000):
        with vyre.graph() as graph:
            for _ in range(count):
                call()
        graph.replay()
        graph.wait()
        yield f"graph of {count:,}, each after the other: the caller", median(graph.replay, graph.wait) / count
        times_over = max(1, 2000 // count)
        whole = min(once(lambda times=times_over, it=graph: (it.replay(times), it.wait())) for _ in range(5))
        yield f"graph of {count:,}, each after the other: all of it", whole / (times_over * count) * 1e6
    outs = [vyre.empty(SMALL, device=device) for _ in range(32)]
    with vyre.graph() as graph:
        for each in outs:
            prog(a, b, each, workgroups=grid)
    whole = min(once(lambda it=graph: (it.replay(50), it.wait())) for _ in range(5))
    yield "graph of 32 that share nothing: all of it", whole / (50 * len(outs)) * 1e6


def counted(count: Expr, more: tuple[BufferDecl, ...] = ()) -> Program:
    """ARX, that many rounds."""
    plain = program("arx")
    i, x, y = Expr.gid_x(), Expr.var("x"), Expr.var("y")
    entry = [
        Node.let("x", Expr.load("a", i)),
        Node.let("y", Expr.load("b", i)),
        Node.loop("k", 0, count, [Node.assign("x", x + y), Node.assign("y", Expr.rotl(y ^ x, 7))]),
        Node.store("out", i, x ^ y),
    ]
    return Program([*plain.buffers, *more], (SIZE, 1, 1), entry)


def known(device: vyre.Device) -> Iterator[tuple[str, float]]:
    """The same rounds, with their count known when the program is written, found out in time, and never."""
    size = LARGE.get(device.kind, LARGEST)
    a, b = (vyre.array(values, device=device) for values in inputs(size))
    out, rounds = vyre.empty(size, device=device), vyre.array(np.uint32([ROUNDS]), device=device)
    literal = counted(Expr.u32(ROUNDS))
    uniform = counted(Expr.load("rounds", 0), (BufferDecl.uniform("rounds", 3, DataType.U32),))
    rest = ["passes", "proofs"] if device.kind in LARGE else ["passes", "proofs", "coarsening"]
    for name, call in (
        ("literal", lambda: literal(a, b, out, workgroups=size // SIZE)),
        ("uniform", lambda: uniform(a, b, out, rounds, workgroups=size // SIZE)),
        ("uniform, not specialised", lambda: uniform(a, b, out, rounds, workgroups=size // SIZE, optimize=rest)),
    ):
        call()
        if not np.array_equal(out.numpy(), answer("arx", size)):
            raise SystemExit(f"other bytes than numpy's on {device.name}")
        yield (
            f"{ROUNDS} rounds over {size:,}, {name}",
            min(once(lambda it=call: (it(), out.wait())) for _ in range(40)) * 1e6,
        )


def main() -> None:
    """One column a device, without the reference."""
    columns: dict[str, dict[str, float]] = {}
    for device in [*vyre.devices("cpu"), *vyre.devices()]:
        if device.usable:
            columns[device.name] = {**dict(calls(device)), **dict(known(device))}
    names = list(dict.fromkeys(name for column in columns.values() for name in column))
    rows = [
        [name, *(f"{column[name]:,.3g}" if name in column else "" for column in columns.values())] for name in names
    ]
    print(tabulate(rows, headers=["microseconds a call", *columns], tablefmt="github", disable_numparse=True))


if __name__ == "__main__":
    main()
