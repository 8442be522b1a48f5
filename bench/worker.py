"""Measures one contender in a process of its own, so that one that crashes or hangs does not stop the others.

    python bench/worker.py '{"module": "peers.numpy_", "arguments": [], "figures": ["xor whole 1024"]}'

Prints one JSON object a line as soon as it is known: {"about": ...}, {"figure": ..., "seconds": ...} or
{"figure": ..., "missing": why}. Bytes are compared with numpy's before anything is timed.
"""

from __future__ import annotations

import importlib
import json
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from kernel import Kernel, Missing, answer, inputs

# Seconds for one figure, after a first run: long enough for a quiet moment on a busy machine, and not too long in all.
BUDGET = 0.4
LEAST, MOST = 5, 4000
# How many runs a recorded batch has.
RECORDED = 100


def say(**fields: object) -> None:
    """Prints one line of the answer."""
    print(json.dumps(fields), flush=True)


def once(work: Callable[[], object]) -> float:
    """Returns how many seconds one run takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def several(work: Callable[[], object], first: float) -> list[float]:
    """Returns the times of as many runs as fit the budget, given that one takes `first` seconds."""
    return [once(work) for _ in range(max(LEAST, min(MOST, int(BUDGET / max(first, 1e-9)))))]


def resident(kernel: Kernel, first: float) -> float:
    """Returns the seconds per run of many runs in a row: the least of several rounds."""
    runs = max(1, min(500, int(0.04 / max(first, 1e-9))))

    def work() -> None:
        for _ in range(runs):
            kernel.enqueue()
        kernel.wait()

    return min(several(work, first * runs)) / runs


def enqueue(kernel: Kernel, first: float) -> float:
    """Returns the median seconds for which the caller is busy. Waiting for the enqueued runs is not timed."""
    times = []
    for _ in range(max(20, min(MOST, int(BUDGET / max(first, 1e-9))))):
        times.append(once(kernel.enqueue))
        if len(times) % 20 == 0:
            kernel.wait()
    kernel.wait()
    return statistics.median(times)


def batch(kernel: Kernel, on_host: bool) -> float:
    """Returns the seconds per run of a recorded batch: as enqueue() for `on_host`, else as resident()."""
    if kernel.batch is None:
        raise Missing("it records no batches here")
    replay = kernel.batch(RECORDED)
    replay()
    kernel.wait()
    recorded = Kernel(replay, kernel.wait, kernel.fetch, kernel.whole)
    first = once(lambda: (replay(), kernel.wait()))
    return (enqueue if on_host else resident)(recorded, first) / RECORDED


def measure(kernel: Kernel, workload: str, kind: str, elements: int) -> float:
    """Compares the bytes with numpy's, and returns the seconds of one figure."""
    if kind == "whole":
        result = kernel.whole()
        first = once(kernel.whole)
    else:
        kernel.enqueue()
        kernel.wait()
        result = kernel.fetch()
        first = once(lambda: (kernel.enqueue(), kernel.wait()))
    if not np.array_equal(np.asarray(result).reshape(-1), answer(workload, elements)):
        raise Missing(f"other bytes than numpy's for {workload} over {elements:,} elements")
    if kind == "whole":
        times = several(kernel.whole, first)
        # A large call is bound by memory, whose speed the least time shows. For a small call, callers see the median.
        return min(times) if elements > 1 << 16 else statistics.median(times)
    if kind == "resident":
        return resident(kernel, first)
    if kind.startswith("batch"):
        return batch(kernel, kind == "batch-host")
    if kind == "round":
        return statistics.median(several(lambda: (kernel.enqueue(), kernel.wait()), first))
    return enqueue(kernel, first)


def main() -> int:
    """Starts the contender and measures one figure after the other."""
    task = json.loads(sys.argv[1])
    try:
        contender = importlib.import_module(task["module"]).start(*task["arguments"])
    except (Missing, ImportError) as error:
        say(missing=str(error))
        return 0
    except Exception as error:  # what a peer raises is reported as the reason
        say(missing=f"{type(error).__name__}: {error}".splitlines()[0])
        return 0
    say(about=contender.about)
    kernels: dict[tuple[str, int], Kernel] = {}
    for figure in task["figures"]:
        workload, kind, size = figure.split()
        elements = int(size)
        say(started=figure)
        try:
            if (workload, elements) not in kernels:
                kernels.clear()  # frees their memory
                kernels[workload, elements] = contender.make(workload, *inputs(elements))
            say(figure=figure, seconds=measure(kernels[workload, elements], workload, kind, elements))
        except Missing as error:
            say(figure=figure, missing=str(error))
        except Exception as error:
            say(figure=figure, missing=f"{type(error).__name__}: {error}".splitlines()[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
