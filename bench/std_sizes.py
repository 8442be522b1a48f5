"""Times calls of vyre.std by the size of their arrays: numpy in and numpy out, and resident, beside what users have.

    python bench/std_sizes.py measure --backend cpu --to 22 --json bench/results/std/amd-epyc-2-cores.json
    python bench/std_sizes.py draw

Each call is timed alone and waited for, the best of several. A contender that would take longer than a few seconds for
a size is left out from there on. CuPy's copies to the GPU and back count where its arrays come from numpy.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import std_command
import vyre
from std_command import README
from std_place import cupy_on
from vyre import std

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

PICTURES = Path(__file__).with_name("pictures")
RESULTS = sorted(Path(__file__).with_name("results").joinpath("std").glob("*.json"))
BEGIN, END = "<!-- made by std_sizes.py -->", "<!-- end of what std_sizes.py makes -->"
SMALL = 1024  # elements of a call whose cost is its overhead
LONG = 1.0  # seconds of a call from which on larger sizes are left out
SECONDS = 0.05  # that a figure is measured for, at least three calls
WHOLE, RESIDENT, PROCESSOR = "vyre, numpy to numpy", "vyre, resident", "numpy, hashlib, zlib"
CUPY_WHOLE, CUPY_RESIDENT = "CuPy, numpy to numpy", "CuPy, resident"
WHO = (WHOLE, RESIDENT, PROCESSOR, CUPY_WHOLE, CUPY_RESIDENT)
WHATS = ("sum", "cumsum", "sort", "compact", "unique", "crc32", "base64", "sha256")
TITLES = {"compact": "compact, half selected", "crc32": "crc32, bytes", "base64": "base64_encode, bytes"}
TITLES["sha256"] = "sha256 of 64 bytes each, bytes"


def waited(result: Any) -> None:
    """Wait for resident arrays."""
    for each in result if isinstance(result, tuple) else (result,):
        if isinstance(each, vyre.Array):
            each.wait()


def contenders(what: str, size: int, where: dict[str, Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The calls of one operation on `size` words, or as many bytes, by who makes them."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2**32, size, dtype=np.uint32)
    if what in ("crc32", "base64", "sha256"):
        yield from of_bytes(what, x.view(np.uint8)[:size], where)
        return
    mask = x >> 31 != 0
    ours: dict[str, Callable[..., Any]] = {
        "sum": std.sum,
        "cumsum": std.cumsum,
        "sort": std.sort,
        "unique": std.unique,
        "compact": std.compact,
    }
    theirs: dict[str, Callable[..., Any]] = {
        "sum": lambda a: a.sum(dtype=a.dtype),
        "cumsum": lambda a: a.cumsum(dtype=a.dtype),
        "sort": lambda a: module(a).sort(a),
        "unique": lambda a: module(a).unique(a),
        "compact": lambda a, m: a[m],
    }
    given = (x, mask) if what == "compact" else (x,)
    there = [vyre.array(each.view(np.uint8) if each.dtype == bool else each, **where) for each in given]
    yield WHOLE, lambda: ours[what](*given, **where)
    yield RESIDENT, lambda: waited(ours[what](*there))
    yield PROCESSOR, lambda: theirs[what](*given)
    if cupy := cupy_on(where["backend"]):
        of_peer = [cupy.asarray(each) for each in given]
        device = cupy.cuda.Device()
        yield CUPY_WHOLE, lambda: cupy.asnumpy(theirs[what](*map(cupy.asarray, given)))
        yield CUPY_RESIDENT, lambda: (theirs[what](*of_peer), device.synchronize())


def of_bytes(what: str, data: np.ndarray, where: dict[str, Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    text = data.tobytes()
    if what == "sha256":
        offsets = np.arange(0, len(text) + 1, 64, dtype=np.uint32)
        packed = std.Messages(vyre.array(data, **where), vyre.array(offsets, **where))
        parts = [text[k : k + 64] for k in range(0, min(len(text), 1 << 22), 64)]
        yield WHOLE, lambda: std.sha256(std.Messages(data, offsets, **where)).numpy()
        yield RESIDENT, lambda: waited(std.sha256(packed))
        if len(text) <= 1 << 22:  # a list of Python's objects
            yield PROCESSOR, lambda: [hashlib.sha256(part).digest() for part in parts]
        return
    call = std.crc32 if what == "crc32" else std.base64_encode
    there = vyre.array(data, **where)
    yield WHOLE, lambda: call(text, **where)
    if what == "crc32":
        yield RESIDENT, lambda: waited(call(there))
    yield PROCESSOR, lambda: zlib.crc32(text) if what == "crc32" else base64.b64encode(text)


def module(array: Any) -> Any:
    if isinstance(array, np.ndarray):
        return np
    import cupy

    return cupy


def seconds(call: Callable[[], Any]) -> float:
    """The least that a call takes."""
    call()  # compiles and plans
    best, begin, turns = float("inf"), time.perf_counter(), 0
    while turns < 3 or time.perf_counter() - begin < SECONDS:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
        turns += 1
        if best > LONG:
            break
    return best


def measure(given: argparse.Namespace) -> None:
    where = {"backend": given.backend, "device": given.device}
    figures: dict[str, dict[str, dict[str, float]]] = {what: {} for what in WHATS}
    ended: set[tuple[str, str]] = set()
    for exponent in range(given.begin, given.to + 1, given.step):
        for what in WHATS:
            for who, call in contenders(what, 1 << exponent, where):
                if (what, who) in ended:
                    continue
                try:
                    took = seconds(call)
                except vyre.VyreError as error:
                    print(what, who, f"2^{exponent}", type(error).__name__, error)
                    ended.add((what, who))
                    continue
                figures[what].setdefault(who, {})[str(1 << exponent)] = float(f"{took:.4g}")
                if took > LONG / 4:
                    ended.add((what, who))
        std_command.write_json(given.json, {"machine": given.machine, "seconds": figures})
        print(f"2^{exponent} done", flush=True)


def table(figures: dict[str, dict[str, dict[str, float]]]) -> str:
    """Rows of Markdown: a small call, and the largest of each contender, in microseconds and milliseconds."""
    who = [each for each in WHO if any(each in of for of in figures.values())]
    lines = ["| | " + " | ".join(who) + " |", "|---" * (len(who) + 1) + "|"]
    sizes = sorted({int(size) for of in figures.values() for series in of.values() for size in series})
    for size in (SMALL, 1 << 20, sizes[-1]):
        for what in WHATS:
            cells = [figures[what].get(each, {}).get(str(size)) for each in who]
            texts = ["" if cell is None else time_text(cell) for cell in cells]
            lines.append(f"| {what}, 2^{size.bit_length() - 1} | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def time_text(value: float) -> str:
    return f"{value * 1e6:.3g} us" if value < 1e-3 else f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.3g} s"


def with_sizes(text: str) -> str:
    """README's text with the part between the marks made of the results."""
    parts = []
    for path in RESULTS:
        found = json.loads(path.read_text(encoding="utf-8"))
        picture = f"![cost of calls of vyre.std by their size](pictures/{path.stem}-std-sizes.svg)"
        parts += [f"### {found['machine']}", picture, table(found["seconds"])]
    return std_command.between(BEGIN, END, text, parts)


def draw(path: Path) -> Path:
    """Draw the cost of each call by its size, as pictures.py draws."""
    from pictures import OUR_COLOURS, PEER_COLOURS, SETTINGS, mpl, plt, save

    found = json.loads(path.read_text(encoding="utf-8"))
    colours = {WHOLE: OUR_COLOURS[0], RESIDENT: OUR_COLOURS[1], PROCESSOR: PEER_COLOURS[6]}
    colours |= {CUPY_WHOLE: PEER_COLOURS[2], CUPY_RESIDENT: PEER_COLOURS[8]}
    with mpl.rc_context(SETTINGS):
        figure, grid = plt.subplots(2, 4, figsize=(14, 6.4), sharex=True, sharey=True)
        for axes, what in zip(grid.flat, WHATS, strict=True):
            for who in WHO:
                series = {int(size): took for size, took in found["seconds"][what].get(who, {}).items()}
                if series:
                    axes.plot(
                        list(series),
                        [took * 1e6 for took in series.values()],
                        marker="o",
                        markersize=3,
                        linewidth=2.2 if who in (WHOLE, RESIDENT) else 1,
                        color=colours[who],
                        label=who,
                    )
            axes.set(xscale="log", yscale="log", title=TITLES.get(what, what))
            axes.set_xscale("log", base=2)
        for axes in grid[1]:
            axes.set_xlabel("elements")
        for axes in grid[:, 0]:
            axes.set_ylabel("microseconds a call")
        handles = {
            label: handle for axes in grid.flat for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        figure.legend(
            [handles[who] for who in WHO if who in handles],
            [who for who in WHO if who in handles],
            loc="lower center",
            ncols=5,
            frameon=False,
        )
        figure.suptitle(f"calls of vyre.std by their size: {found['machine']}")
        made = PICTURES / f"{path.stem}-std-sizes.svg"
        save(figure, made)
    return made


def draw_all() -> None:
    for path in RESULTS:
        print(f"wrote {draw(path)}")
    README.write_text(with_sizes(README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    std_command.run(__doc__, measure, draw_all, to=28, step=2)
