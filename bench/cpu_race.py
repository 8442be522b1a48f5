"""Times the cpu backend beside numpy, zlib and hashlib, each row's contenders in turns.

    python bench/cpu_race.py                    python bench/cpu_race.py --size 26 --json race.json
    taskset -c 0-7 python bench/cpu_race.py --only arx xor

A row is a computation over `2 ** size` words, or as many bytes. "resident" calls take arrays of vyre and write a
given or a new one; "numpy" calls take and give numpy arrays. The least of many rounds counts, because other work on the
machine only adds.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tabulate import tabulate

import vyre
from vyre import In, Out, std, u32

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Row = tuple[str, Callable[[], Any], str, Callable[[], Any] | None, float, str]

CPU = {"backend": "cpu"}
ROUNDS = 9
SECONDS = 4.0  # of a row at most


@vyre.kernel
def xor(a: In[u32], b: In[u32], c: Out[u32]):
    i = vyre.gid(0)
    if i < len(c):
        c[i] = a[i] ^ b[i]


@vyre.kernel
def saxpy(a: In[u32], b: In[u32], k: u32, c: Out[u32]):
    i = vyre.gid(0)
    if i < len(c):
        c[i] = a[i] * k + b[i]


@vyre.kernel
def copied(a: In[u32], c: Out[u32]):
    i = vyre.gid(0)
    if i < len(c):
        c[i] = a[i]


@vyre.kernel
def copied4(a: In[vyre.vec4u32], c: Out[vyre.vec4u32]):
    i = vyre.gid(0)
    if i < len(c):
        c[i] = a[i]


@vyre.kernel
def arx(a: In[u32], c: Out[u32]):
    i = vyre.gid(0)
    x, y = a[i], i
    for _ in range(256):
        x = vyre.rotl(x + y, 7) ^ y
        y = y + x
    c[i] = x ^ y


@vyre.kernel
def mandelbrot(c: Out[u32, 2]):
    """Counts of turns, in fixed point of 12 bits."""
    py, px = vyre.gid(1), vyre.gid(0)
    x0 = vyre.i32(px) * 12288 // vyre.i32(c.shape[1]) - 8192
    y0 = vyre.i32(py) * 8192 // vyre.i32(c.shape[0]) - 4096
    x, y, count = vyre.i32(0), vyre.i32(0), u32(0)
    while count < 200 and x * x + y * y < 4 * 4096 * 4096:
        x, y = (x * x - y * y) // 4096 + x0, 2 * x * y // 4096 + y0
        count += 1
    c[py, px] = count


def elementwise(size: int) -> Iterator[Row]:
    count = 1 << size
    ha, hb = (np.random.default_rng(k).integers(0, 2**32, count, dtype=np.uint32) for k in (1, 2))
    hc = np.zeros(count, np.uint32)
    a, b, c = (vyre.array(each, **CPU) for each in (ha, hb, hc))
    a4, c4 = a.view(vyre.vec4u32), c.view(vyre.vec4u32)
    moved = 12.0 * count
    yield "xor, resident, out=", lambda: xor(a, b, c), "numpy, out=", lambda: np.bitwise_xor(ha, hb, out=hc), moved, "B"
    yield "xor, resident", lambda: xor(a, b), "numpy", lambda: ha ^ hb, moved, "B"
    yield "xor, numpy", lambda: xor(ha, hb, **CPU), "numpy", lambda: ha ^ hb, moved, "B"
    yield "saxpy, resident, out=", lambda: saxpy(a, b, 7, c), "numpy", lambda: ha * np.uint32(7) + hb, moved, "B"
    yield "copy, resident, out=", lambda: copied(a, c), "numpy", lambda: np.copyto(hc, ha), 8.0 * count, "B"
    yield "copy of vec4, resident, out=", lambda: copied4(a4, c4), "numpy", lambda: np.copyto(hc, ha), 8.0 * count, "B"
    small = [vyre.array(each[:1024], **CPU) for each in (ha, hb, hc)]
    host = [each[:1024].copy() for each in (ha, hb, hc)]
    yield (
        *("xor of 1,024, resident, out=", lambda: xor(*small).wait()),
        *("numpy, out=", lambda: np.bitwise_xor(host[0], host[1], out=host[2]), 1.0, "call"),
    )
    yield (
        *("xor of 1,024, numpy", lambda: xor(host[0], host[1], **CPU)),
        *("numpy", lambda: host[0] ^ host[1], 1.0, "call"),
    )


def library(size: int) -> Iterator[Row]:
    count = 1 << size
    h = np.random.default_rng(1).integers(0, 2**32, count, dtype=np.uint32)
    x, mask = vyre.array(h, **CPU), (h >> 31).astype(np.uint8)
    m, hm = vyre.array(mask, **CPU), mask.astype(bool)
    octets, ho = x.view(vyre.u8), h.view(np.uint8)
    yield "sum", lambda: std.sum(x), "np.sum", lambda: h.sum(dtype=np.uint32), 4.0 * count, "B"
    yield "cumsum", lambda: std.cumsum(x), "np.cumsum", lambda: h.cumsum(dtype=np.uint32), 8.0 * count, "B"
    yield "sort", lambda: std.sort(x), "np.sort, stable", lambda: np.sort(h, kind="stable"), count, "key"
    yield "histogram of bytes", lambda: std.bincount(octets), "np.bincount", lambda: np.bincount(ho), 4.0 * count, "B"
    yield "compact", lambda: std.compact(x, m), "boolean indexing", lambda: h[hm], 4.0 * count, "B"
    yield "crc32", lambda: std.crc32(octets), "zlib", lambda: zlib.crc32(ho), 4.0 * count, "B"
    side = 1024
    hp, hq = (np.random.default_rng(k).integers(0, 2**32, (side, side), dtype=np.uint32) for k in (3, 4))
    p, q = vyre.array(hp, **CPU), vyre.array(hq, **CPU)
    yield "matmul 1,024^3", lambda: std.matmul(p, q), "numpy", lambda: hp @ hq, float(side**3), "MAC"


def computing(size: int) -> Iterator[Row]:
    count = 1 << min(size, 20)
    h = np.random.default_rng(1).integers(0, 2**32, count, dtype=np.uint32)
    x, c = vyre.array(h, **CPU), vyre.zeros(count, **CPU)
    yield "arx, 256 rounds", lambda: arx(x, c), "", None, 256.0 * 4 * count, "op"
    picture = vyre.zeros((512, 768), **CPU)
    yield "mandelbrot 768 x 512", lambda: mandelbrot(picture), "", None, 512.0 * 768, "pixel"
    texts = [h[k * 16 : k * 16 + 16].tobytes() for k in range(count // 16)]
    packed = std.Messages(b"".join(texts), np.arange(0, 64 * len(texts) + 1, 64, dtype=np.uint32), **CPU)
    for name in ("sha256", "sha512", "sha3_256", "blake2s", "md5"):
        of, with_hashlib = getattr(std, name), getattr(hashlib, name)
        yield (
            *(f"{name}, messages of 64 bytes", lambda of=of: of(packed)),
            *("hashlib", lambda f=with_hashlib: [f(each).digest() for each in texts], float(len(texts)), "message"),
        )


def least(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    once = max(time.perf_counter() - start, 1e-7)
    count = max(1, round(0.02 / once))
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def race(row: Row) -> dict[str, Any]:
    name, ours, peer_name, peer, amount, unit = row
    for _ in range(3):  # compiles, plans, and is found planned
        ours()
    best, best_of_peer, end = float("inf"), float("inf"), time.perf_counter() + SECONDS
    for _ in range(ROUNDS):
        best = min(best, least(ours))
        if peer is not None:
            best_of_peer = min(best_of_peer, least(peer))
        if time.perf_counter() > end:
            break
    result = {"row": name, "ms": best * 1e3, f"G{unit}/s": amount / best / 1e9}
    made = {"row": name, "ms": result["ms"], "rate": result[f"G{unit}/s"], "unit": f"G{unit}/s"}
    if peer is not None:
        made |= {"peer": peer_name, "peer ms": best_of_peer * 1e3, "peer's time by ours": best_of_peer / best}
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=22, help="the number of words is 2 to the power of it")
    parser.add_argument("--only", nargs="*", default=[], help="rows whose names have one of these in them")
    parser.add_argument("--json", default=None, help="a file for the figures")
    given = parser.parse_args()
    print(f"{len(os.sched_getaffinity(0))} processors", flush=True)
    rows = []
    for family in (elementwise, library, computing):
        for row in family(given.size):
            if given.only and not any(part in row[0] for part in given.only):
                continue
            rows.append(race(row))
            print(*(f"{value:.4g}" if isinstance(value, float) else value for value in rows[-1].values()), flush=True)
    print(tabulate(rows, headers="keys", floatfmt=".3f", tablefmt="github"))
    if given.json:
        Path(given.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
