"""Which workgroup size is fastest: a kernel that moves memory, one that computes in registers, and stencils.

python bench/workgroups.py                    on the best device here
python bench/workgroups.py --backend cuda
python bench/workgroups.py --backend vulkan --device 1
python bench/workgroups.py --elements 26      the size of the arrays as a power of two
python bench/workgroups.py --json out.json    keep the figures

Kernels without a workgroup_size get 256, (16, 16) or (8, 8, 4), and (32, 8, 1) for calls that are long along x. Each
kernel is run in each size, one after the other in turns, so that what else the machine does meets them alike; a figure
is the least of the turns. On a GPU it is the time that passes, on backends that run on the processor the processor's
time of all threads, which other processes disturb less. The bytes of all sizes are compared.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tabulate import tabulate

import vyre
from vyre import In, Out, u32


def saxpy(a: In[u32], x: In[u32], k: u32, y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = a[i] * k + x[i]


def quarter(a, b, c, d):
    a = a + b
    d = vyre.rotl(d ^ a, 16)
    c = c + d
    b = vyre.rotl(b ^ c, 12)
    a = a + b
    d = vyre.rotl(d ^ a, 8)
    c = c + d
    b = vyre.rotl(b ^ c, 7)
    return a, b, c, d


def arx(x: In[u32], y: Out[u32]):
    """256 quarter rounds on sixteen words, which all live at once."""
    i = vyre.gid(0)
    if i < len(y):
        s = [x[i] + k for k in range(16)]
        for _ in range(32):
            for k in vyre.unroll(range(4)):
                s[k], s[k + 4], s[k + 8], s[k + 12] = quarter(s[k], s[k + 4], s[k + 8], s[k + 12])
            for k in vyre.unroll(range(4)):
                one, two, three = 4 + (k + 1) % 4, 8 + (k + 2) % 4, 12 + (k + 3) % 4
                s[k], s[one], s[two], s[three] = quarter(s[k], s[one], s[two], s[three])
        total = s[0]
        for each in s[1:]:
            total = total ^ each
        y[i] = total


def plane(x: In[u32, 2], y: Out[u32, 2]):
    """The sum of an element and its eight neighbours; outside of the array they are zero."""
    i, j = vyre.gid(0), vyre.gid(1)
    if j < y.shape[0]:
        if i < y.shape[1]:
            total = x[j, i]
            for down in (0, 1, 2):
                for right in (0, 1, 2):
                    if down != 1 or right != 1:
                        total = total + x[j + down - 1, i + right - 1]
            y[j, i] = total


def volume(x: In[u32, 3], y: Out[u32, 3]):
    """The sum of an element and its six neighbours."""
    i, j, k = vyre.gid(0), vyre.gid(1), vyre.gid(2)
    if k < y.shape[0]:
        if j < y.shape[1]:
            if i < y.shape[2]:
                total = x[k, j, i] + x[k - 1, j, i] + x[k + 1, j, i]
                total = total + x[k, j - 1, i] + x[k, j + 1, i]
                y[k, j, i] = total + x[k, j, i - 1] + x[k, j, i + 1]


LINES = [(32,), (64,), (128,), (256,), (512,), (1024,)]
PLANES = [(8, 8), (32, 2), (64, 1), (16, 8), (32, 4), (16, 16), (32, 8), (64, 4), (256, 1), (32, 16), (32, 32)]
VOLUMES = [(4, 4, 4), (64, 1, 1), (32, 4, 1), (8, 8, 4), (16, 4, 4), (32, 8, 1), (64, 2, 2), (256, 1, 1), (8, 8, 8)]
USUAL = {1: (256,), 2: (16, 16), 3: (8, 8, 4)}


def call_of(function: Callable[..., Any], elements: int, where: dict[str, Any]) -> tuple[list[Any], Any]:
    """The arguments before the output, and the output, resident."""
    shape: tuple[int, ...] = (1 << elements,)
    if function is plane:
        shape = (1 << elements // 2, 1 << (elements - elements // 2))
    elif function is volume:
        third = elements // 3
        shape = (1 << third, 1 << third, 1 << (elements - 2 * third))
    x = vyre.array(np.random.default_rng(1).integers(0, 2**32, shape, dtype=np.uint32), **where)
    return ([x, x, 3] if function is saxpy else [x]), vyre.empty(shape, **where)


def measured(
    function: Callable[..., Any],
    sizes: list[tuple[int, ...]],
    elements: int,
    where: dict[str, Any],
    turns: int,
    clock: Callable[[], float],
) -> dict[tuple[int, ...], float | None]:
    """Seconds of a call by workgroup size; None for one that the device refuses."""
    arguments, out = call_of(function, elements, where)
    graphs: dict[tuple[int, ...], Any] = {}
    hashes = set()
    found: dict[tuple[int, ...], float | None] = dict.fromkeys(sizes)
    for size in sizes:
        kernel = vyre.kernel(workgroup_size=size)(function)
        try:
            kernel(*arguments, out)
        except vyre.CapabilityError:
            continue
        hashes.add(hashlib.sha256(out.numpy()).hexdigest())
        with vyre.graph() as graphs[size]:
            kernel(*arguments, out)
    if len(hashes) != 1:
        raise SystemExit(f"{function.__name__} gives other bytes in another workgroup size")
    times = 1
    for turn in range(turns + 1):
        for size, graph in graphs.items():
            start = clock()
            graph.replay(times)
            out.wait()
            seconds = (clock() - start) / times
            if turn == 0:  # it warms up, and says how many calls take 20 ms
                times = max(times, min(200, int(0.02 / max(seconds, 1e-6))))
            else:
                found[size] = min(seconds, found[size] or seconds)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend")
    parser.add_argument("--device", type=int)
    parser.add_argument("--elements", type=int, help="22, or 26 on a GPU")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    where = {"backend": options.backend, "device": options.device}
    place = vyre.empty(1, **where)
    where = {"backend": place.backend, "device": place.device}
    kinds = {(each.backend, each.index): each for each in vyre.devices()}
    device = kinds.get((place.backend, place.device))
    is_gpu = device is not None and "software" not in device.kind
    elements = options.elements or (26 if is_gpu else 22)
    clock = time.perf_counter if is_gpu else time.process_time
    fewer = 2 if is_gpu else 4  # powers of two, because arx takes long
    rows, figures = [], {}
    for function, sizes, axes in ((saxpy, LINES, 1), (arx, LINES, 1), (plane, PLANES, 2), (volume, VOLUMES, 3)):
        count = elements - fewer if function is arx else elements
        found = measured(function, sizes, count, where, options.turns, clock)
        usual = found[USUAL[axes]]
        for size, seconds in found.items():
            shown = "x".join(map(str, size)) + (" (usual)" if size == USUAL[axes] else "")
            beside = "" if seconds is None or usual is None else f"{seconds / usual:.3f}"
            rows.append([function.__name__, shown, "refused" if seconds is None else f"{1e3 * seconds:.4f}", beside])
            figures[f"{function.__name__} {shown}"] = seconds
    print(f"{place.backend}{f': {device.name}' if device else ''}, 2^{elements} elements (arx 2^{elements - fewer})")
    print(tabulate(rows, headers=["kernel", "workgroup", "ms", "of the usual size"], disable_numparse=True))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
