"""Times the cpu backend beside numpy, zlib, hashlib, re, numba, C with vector extensions, and llvmpipe, row by row.

    python bench/cpu_race.py                    python bench/cpu_race.py --size 26 --json race.json
    taskset -c 0-1 python bench/cpu_race.py     python bench/cpu_race.py --only arx xor
    python bench/cpu_race.py --scaling

A row is a computation over `2 ** size` words, or as many bytes; its contenders take turns. "resident" calls take arrays
of vyre and write a given or a new one; "numpy" calls take and give numpy arrays. The least of many rounds counts, of
time on the clock and of processor time each, because other work on the machine only adds. Peers that are not there are
left out, with a line that says why. hashlib runs without the processor's SHA extensions, which no vector code has;
`--sha-extensions` leaves them to it. `--scaling` runs some rows anew on 1, 2, 4, 8 and 16 processors.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tabulate import tabulate

import vyre
from race_peers import compiled_c, llvmpipe, numba_kernels
from vyre import In, Out, std, u32

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CPU = {"backend": "cpu"}
ROUNDS = 9
SECONDS = 2.0  # of a row, after which no round begins
TURN = 0.02  # seconds that a contender's turn takes at least
PROCESSORS = (1, 2, 4, 8, 16)
SCALED = ("arx", "xor, resident, out=", "copy, resident, out=")
MASKED = ("OPENSSL_ia32cap", ":~0x20000000")  # the bit of the SHA extensions


@dataclass
class Row:
    name: str
    ours: Callable[[], Any]
    amount: float
    unit: str
    peers: dict[str, Callable[[], Any]] = field(default_factory=dict)


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


@vyre.kernel
def queens(counts: Out[u32]):
    """Solutions with 13 queens whose first three are in the columns that the digits of gid say, depth-first."""
    prefix, n = vyre.gid(0), 13
    columns, left, right, free = [vyre.local(u32, 16) for _ in range(4)]
    everywhere, found, row = (1 << n) - 1, 0, 0
    free[0] = everywhere
    rest = prefix
    for _ in vyre.unroll(range(3)):
        queen = (1 << (rest % n)) & free[row]
        rest = rest // n
        columns[row + 1] = columns[row] | queen
        left[row + 1], right[row + 1] = (left[row] | queen) << 1, (right[row] | queen) >> 1
        free[row + 1] = everywhere & ~(columns[row + 1] | left[row + 1] | right[row + 1])
        if queen == 0:
            free[row + 1] = 0
        row += 1
    while row > 2:
        if row == n or free[row] == 0:
            found += 1 if row == n else 0
            row -= 1
        else:
            queen = free[row] & (0 - free[row])
            free[row] ^= queen
            columns[row + 1] = columns[row] | queen
            left[row + 1], right[row + 1] = (left[row] | queen) << 1, (right[row] | queen) >> 1
            row += 1
            free[row] = everywhere & ~(columns[row] | left[row] | right[row])
    counts[prefix] = found


QUEENS, PREFIXES = 73_712, 13**3


def same(name: str, ours: Any, theirs: Any) -> None:
    if not np.array_equal(np.asarray(ours), np.asarray(theirs)):
        raise AssertionError(f"{name}: a peer computes something else")


def elementwise(size: int) -> Iterator[Row]:
    count = 1 << size
    ha, hb = (np.random.default_rng(k).integers(0, 2**32, count, dtype=np.uint32) for k in (1, 2))
    hc = np.zeros(count, np.uint32)
    a, b, c = (vyre.array(each, **CPU) for each in (ha, hb, hc))
    a4, c4 = a.view(vyre.vec4u32), c.view(vyre.vec4u32)
    of = {name: {} for name in ("xor", "xor new", "saxpy", "saxpy new", "copy", "copy new", "copy4")}
    of["xor"]["numpy"] = lambda: np.bitwise_xor(ha, hb, out=hc)
    of["xor new"]["numpy"] = lambda: ha ^ hb
    of["saxpy"]["numpy"] = lambda: np.add(np.multiply(ha, np.uint32(7), out=hc), hb, out=hc)
    of["saxpy new"]["numpy"] = lambda: ha * np.uint32(7) + hb
    of["copy"]["numpy"] = of["copy4"]["numpy"] = lambda: np.copyto(hc, ha)
    of["copy new"]["numpy"] = lambda: ha.copy()
    if numba := numba_kernels():
        of["xor"]["numba"] = lambda: numba.xor(ha, hb, hc)
        of["xor new"]["numba"] = lambda: numba.xor(ha, hb, np.empty_like(ha))
        of["saxpy"]["numba"] = lambda: numba.saxpy(ha, hb, hc)
        of["saxpy new"]["numba"] = lambda: numba.saxpy(ha, hb, np.empty_like(ha))
        of["copy"]["numba"] = lambda: numba.copy(ha, hc)
        of["copy new"]["numba"] = lambda: numba.copy(ha, np.empty_like(ha))
        of["copy4"]["numba"] = lambda: numba.copy4(ha.reshape(-1, 4), hc.reshape(-1, 4))
    if compiled := compiled_c():
        of["xor"]["C"] = compiled("xor_", ha, hb, hc, count)
        of["copy"]["C"] = of["copy4"]["C"] = compiled("copy", ha, hc, count)
    for peer in of["xor"].values():
        peer()
        same("xor", xor(a, b), hc)
    for peer in of["saxpy"].values():
        peer()
        same("saxpy", saxpy(a, b, 7), hc)
    moved = 12.0 * count
    yield Row("xor, resident, out=", lambda: xor(a, b, c), moved, "B", of["xor"])
    yield Row("xor, resident", lambda: xor(a, b), moved, "B", of["xor new"])
    yield Row("xor, numpy", lambda: xor(ha, hb, **CPU), moved, "B", of["xor new"])
    yield Row("saxpy, resident, out=", lambda: saxpy(a, b, 7, c), moved, "B", of["saxpy"])
    yield Row("saxpy, numpy", lambda: saxpy(ha, hb, 7, **CPU), moved, "B", of["saxpy new"])
    yield Row("copy, resident, out=", lambda: copied(a, c), 8.0 * count, "B", of["copy"])
    yield Row("copy, numpy", lambda: copied(ha, **CPU), 8.0 * count, "B", of["copy new"])
    yield Row("copy of vec4, resident, out=", lambda: copied4(a4, c4), 8.0 * count, "B", of["copy4"])


def small(_size: int) -> Iterator[Row]:
    host = [np.random.default_rng(k).integers(0, 2**32, 1024, dtype=np.uint32) for k in (1, 2, 3)]
    given = [vyre.array(each, **CPU) for each in host]
    peers = {"numpy": lambda: np.bitwise_xor(host[0], host[1], out=host[2])}
    yield Row("xor of 1,024, resident, out=", lambda: xor(*given).wait(), 1.0, "call", peers)
    peers = {"numpy": lambda: host[0] ^ host[1]}
    yield Row("xor of 1,024, numpy", lambda: xor(host[0], host[1], **CPU), 1.0, "call", peers)


def library(size: int) -> Iterator[Row]:
    count = 1 << size
    h = np.random.default_rng(1).integers(0, 2**32, count, dtype=np.uint32)
    x, mask = vyre.array(h, **CPU), (h >> 31).astype(np.uint8)
    m, hm = vyre.array(mask, **CPU), mask.astype(bool)
    octets, ho = x.view(vyre.u8), h.view(np.uint8)
    yield Row("sum", lambda: std.sum(x), 4.0 * count, "B", {"np.sum": lambda: h.sum(dtype=np.uint32)})
    yield Row("cumsum", lambda: std.cumsum(x), 8.0 * count, "B", {"np.cumsum": lambda: h.cumsum(dtype=np.uint32)})
    yield Row("sort", lambda: std.sort(x), count, "key", {"np.sort, stable": lambda: np.sort(h, kind="stable")})
    peers = {"np.bincount": lambda: np.bincount(ho, minlength=256)}
    yield Row("histogram of bytes", lambda: std.bincount(octets), 4.0 * count, "B", peers)
    yield Row("compact", lambda: std.compact(x, m), 4.0 * count, "B", {"boolean indexing": lambda: h[hm]})
    yield Row("crc32", lambda: std.crc32(octets), 4.0 * count, "B", {"zlib": lambda: zlib.crc32(ho)})
    side = 1024
    hp, hq = (np.random.default_rng(k).integers(0, 2**32, (side, side), dtype=np.uint32) for k in (3, 4))
    p, q = vyre.array(hp, **CPU), vyre.array(hq, **CPU)
    yield Row("matmul 1,024^3", lambda: std.matmul(p, q), float(side**3), "MAC", {"numpy": lambda: hp @ hq})


def on_llvmpipe(call: Callable[..., Any], *shapes: Any) -> dict[str, Callable[[], Any]]:
    """The call on llvmpipe, with copies of the arrays there; nothing where it is not."""
    where = llvmpipe()
    if where is None:
        return {}
    there = [vyre.array(each, **where) for each in shapes]
    return {"llvmpipe": lambda: call(*there).wait()}


def arithmetic(size: int) -> Iterator[Row]:
    count, compiled = 1 << size, compiled_c()
    h = np.random.default_rng(1).integers(0, 2**32, count, dtype=np.uint32)
    out = np.zeros_like(h)
    x, c = vyre.array(h, **CPU), vyre.zeros(count, **CPU)
    peers = on_llvmpipe(arx, h, out)
    if numba := numba_kernels():
        peers["numba"] = lambda: numba.arx(h, out)
    if compiled:
        peers["C"] = compiled("arx", h, out, count)
        peers["C"]()
        same("arx", arx(x), out)
    yield Row("arx, 256 rounds", lambda: arx(x, c), 256.0 * 4 * count, "op", peers)
    width, height = 1536, 1024
    there, here = vyre.zeros((height, width), **CPU), np.zeros((height, width), np.uint32)
    peers = on_llvmpipe(mandelbrot, here)
    if compiled:
        peers["C"] = compiled("mandelbrot", here, width, height)
        peers["C"]()
        same("mandelbrot", mandelbrot(there), here)
    yield Row(f"mandelbrot {width} x {height}", lambda: mandelbrot(there), float(width * height), "pixel", peers)
    counts = vyre.zeros(PREFIXES, **CPU)
    queens(counts)
    same("queens", counts.numpy().sum(), QUEENS)
    yield Row(
        "13 queens",
        lambda: queens(counts),
        float(PREFIXES),
        "prefix",
        on_llvmpipe(queens, np.zeros(PREFIXES, np.uint32)),
    )


def hashes(size: int) -> Iterator[Row]:
    count, compiled, where = 1 << size, compiled_c(), llvmpipe()
    h = np.random.default_rng(1).integers(0, 2**32, count, dtype=np.uint32)
    text, offsets = h.tobytes(), np.arange(0, 4 * count + 1, 64, dtype=np.uint32)
    texts = [text[k : k + 64] for k in range(0, len(text), 64)]
    packed = std.Messages(text, offsets, **CPU)
    for name in ("sha256", "sha512", "sha3_256", "blake2s", "md5"):
        of, theirs = getattr(std, name), getattr(hashlib, name)
        peers = {"hashlib": lambda theirs=theirs: [theirs(each).digest() for each in texts]}
        if where and name != "md5":
            there = std.Messages(text, offsets, **where)
            peers["llvmpipe"] = lambda of=of, there=there: of(there).wait()
        if compiled and name == "sha256":
            out = np.zeros(8 * len(texts), np.uint32)
            peers["C"] = compiled("sha256", h, out, len(texts))
            peers["C"]()
            same("sha256", np.frombuffer(theirs(texts[-1]).digest(), ">u4"), out[-8:])
        yield Row(f"{name}, messages of 64 bytes", lambda of=of: of(packed), float(len(texts)), "message", peers)


def streams(size: int) -> Iterator[Row]:
    count, compiled, where = 1 << size, compiled_c(), llvmpipe()
    h = np.random.default_rng(1).integers(0, 2**32, count, dtype=np.uint32)
    key, nonce = bytes(range(32)), bytes(12)
    octets, peers = vyre.array(h.view(np.uint8), **CPU), {}
    if where:
        there = vyre.array(h.view(np.uint8), **where)
        peers["llvmpipe"] = lambda: std.chacha20(key, nonce, there).wait()
    if compiled:
        out = np.zeros_like(h)
        state = np.frombuffer(key + bytes(16), np.uint32)
        peers["C"] = compiled("chacha20", state, h, out, count // 16)
        peers["C"]()
        same("chacha20", std.chacha20(key, nonce, octets), out.view(np.uint8))
    yield Row("chacha20", lambda: std.chacha20(key, nonce, octets), 4.0 * count, "B", peers)
    text = (h.view(np.uint8)[:count] % 64 + 48).astype(np.uint8)  # digits, letters and some signs
    given, of, pattern = text.tobytes(), vyre.array(text, **CPU), rb"[a-z]+[0-9]+[A-Z]"
    made, compiled_re = std.regex(pattern), re.compile(pattern)
    same("regex", made.count(of).numpy()[0], len(compiled_re.findall(given)))
    peers = {"re": lambda: len(compiled_re.findall(given))}
    yield Row("regex, bytes", lambda: made.count(of), float(count), "B", peers)


FAMILIES = {each.__name__: each for each in (elementwise, small, library, arithmetic, hashes, streams)}


def turn(call: Callable[[], Any]) -> tuple[float, float]:
    """Seconds of a call, on the clock and of processors: the mean of as many as fill a turn."""
    count, took = 1, 0.0
    while True:
        start, of_processors = time.perf_counter(), time.process_time()
        for _ in range(count):
            call()
        took = time.perf_counter() - start
        if took >= TURN / 2:
            return took / count, (time.process_time() - of_processors) / count
        count = max(2 * count, round(TURN / max(took / count, 1e-7)))


def race(row: Row) -> dict[str, Any]:
    for _ in range(3):  # compiles, plans, and is found planned
        row.ours()
    calls = {"vyre": row.ours, **row.peers}
    best = {who: (float("inf"), float("inf")) for who in calls}
    end = time.perf_counter() + SECONDS
    for _ in range(ROUNDS):
        for who, call in calls.items():
            best[who] = tuple(map(min, best[who], turn(call)))
        if time.perf_counter() > end:
            break
    (wall, work), theirs = best.pop("vyre"), {}
    for who, (its_wall, its_work) in best.items():
        theirs[who] = {"ms": its_wall * 1e3, "processor ms": its_work * 1e3}
        theirs[who] |= {"by ours": its_wall / wall, "processor by ours": its_work / work}
    rate = {"rate": row.amount / wall / 1e9, "unit": f"G{row.unit}/s"}
    return {"row": row.name, "ms": wall * 1e3, "processor ms": work * 1e3, **rate, "peers": theirs}


def lines(result: dict[str, Any]) -> Iterator[list[str]]:
    def number(value: float) -> str:
        return f"{value:.4g}"

    first = [
        result["row"],
        number(result["ms"]),
        number(result["processor ms"]),
        f"{result['rate']:.4g} {result['unit']}",
    ]
    for who, its in result["peers"].items() or [("", None)]:
        rest = (
            [who, *(number(its[key]) for key in ("ms", "processor ms", "by ours", "processor by ours"))] if its else []
        )
        yield first + rest
        first = [""] * 4


HEADERS = [
    "row",
    "ms",
    "processor ms",
    "",
    "peer",
    "its ms",
    "its processor ms",
    "its time by ours",
    "its processor time by ours",
]


def scaling(size: int) -> list[dict[str, Any]]:
    """Runs the scaled rows in a process for each number of processors."""
    usable, results = sorted(os.sched_getaffinity(0)), []
    for count in PROCESSORS:
        if count > len(usable):
            break
        with tempfile.TemporaryDirectory() as folder:
            figures = Path(folder) / "figures.json"
            chosen = ",".join(map(str, usable[:count]))
            command = ["taskset", "-c", chosen, sys.executable, __file__, "--size", str(size), "--json", str(figures)]
            families = ["--family", "elementwise", "arithmetic"]
            environment = os.environ | {"NUMBA_NUM_THREADS": str(count)}
            subprocess.run(
                [*command, *families, "--only", *SCALED], check=True, stdout=subprocess.DEVNULL, env=environment
            )
            results += [each | {"processors": count} for each in json.loads(figures.read_text(encoding="utf-8"))]
    return results


def scaling_table(results: list[dict[str, Any]]) -> str:
    alone = {each["row"]: each["rate"] for each in results if each["processors"] == 1}
    peers = ("numba", "C", "numpy")
    rows = []
    for each in sorted(results, key=lambda each: (each["row"], each["processors"])):
        share = each["rate"] / alone[each["row"]] / each["processors"]
        by = [f"{each['peers'][who]['by ours']:.3g}" if who in each["peers"] else "" for who in peers]
        rows.append([each["row"], each["processors"], f"{each['rate']:.4g} {each['unit']}", f"{share:.2f}", *by])
    headers = ["row", "processors", "vyre", "of linear", *(f"{who}'s time by ours" for who in peers)]
    return tabulate(rows, headers=headers, tablefmt="github", disable_numparse=True)


def without_sha_extensions() -> None:
    """Starts this process anew, so that OpenSSL does not see the extensions."""
    name, value = MASKED
    if name not in os.environ:
        os.environ[name] = value
        os.execv(sys.executable, [sys.executable, *sys.argv])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--size", type=int, default=None, help="the number of words is 2 to the power of it (22; scaling: 24)"
    )
    parser.add_argument("--only", nargs="*", default=[], help="rows whose names have one of these in them")
    parser.add_argument("--family", nargs="*", default=list(FAMILIES), choices=FAMILIES, help="families of rows")
    parser.add_argument("--json", default=None, help="a file for the figures")
    parser.add_argument("--scaling", action="store_true", help="some rows on 1, 2, 4, 8 and 16 processors")
    parser.add_argument("--sha-extensions", action="store_true", help="leave the SHA extensions to hashlib")
    given = parser.parse_args()
    if not given.sha_extensions:
        without_sha_extensions()
    print(f"{len(os.sched_getaffinity(0))} processors", flush=True)
    if given.scaling:
        rows = scaling(given.size or 24)
        print(scaling_table(rows))
    else:
        rows = []
        for family in given.family:
            for row in FAMILIES[family](given.size or 22):
                if given.only and not any(part in row.name for part in given.only):
                    continue
                rows.append(race(row))
                for line in lines(rows[-1]):
                    print(*line, sep="  ", flush=True)
        table = [line for each in rows for line in lines(each)]
        print(tabulate(table, headers=HEADERS, tablefmt="github", disable_numparse=True))
    if given.json:
        Path(given.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
