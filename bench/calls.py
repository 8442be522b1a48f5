"""Measures what a small call costs, by the way it is made: `python bench/calls.py`.

Every call computes `a ^ b` over 1,024 elements, but for `a + 1`. On each device, this measures the caller's time after
several calls without a wait, operators of arrays, a call with a wait, a call with numpy arrays, and graphs of several
sizes whose calls depend on each other or share nothing. Figures are medians; for many calls in a row they are the least
of several rounds.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator

import numpy as np
from tabulate import tabulate

import vyre
from kernel import answer, inputs
from ours import SIZE, program
from worker import once

SMALL = 1 << 10
TURNS = 1000


def median(work: Callable[[], object], after: Callable[[], object] = lambda: None) -> float:
    """Returns the median time of `work` in microseconds. `after` runs after each round and is not timed."""
    times = []
    for _ in range(TURNS):
        times.append(once(work))
        after()
    return statistics.median(times) * 1e6


def calls(device: vyre.Device) -> Iterator[tuple[str, float]]:
    """Yields the name of each measurement and its microseconds per call."""
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
    # The first has the memory of a new array to find, as the second has.
    yield "call that makes its output", median(lambda: prog(a, b, SMALL, workgroups=grid), out.wait)
    yield "a ^ b", median(lambda: a ^ b, out.wait)
    yield "a + 1", median(lambda: a + 1, out.wait)
    yield "a ^= b", median(lambda: a.__ixor__(b), a.wait)
    a.write(inputs(SMALL)[0])
    yield "call and wait", median(lambda: (call(), out.wait()))
    first, second = inputs(SMALL)
    arrays = {"a": first, "b": second, "out": SMALL}
    yield "call of numpy arrays", median(lambda: vyre.run(prog, arrays, grid, device=device))
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


def main() -> None:
    """Prints a table with one column for each usable device, without the reference."""
    columns: dict[str, dict[str, float]] = {}
    for device in vyre.devices():
        if device.usable:
            columns[f"{device.name}, {device.backend}"] = dict(calls(device))
    names = list(dict.fromkeys(name for column in columns.values() for name in column))
    rows = [
        [name, *(f"{column[name]:,.3g}" if name in column else "" for column in columns.values())] for name in names
    ]
    print(tabulate(rows, headers=["microseconds a call", *columns], tablefmt="github", disable_numparse=True))


if __name__ == "__main__":
    main()
