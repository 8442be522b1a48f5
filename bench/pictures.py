"""Draws pictures of what lies in `results/`, into build/bench/pictures, where the documentation site takes them from.

    python bench/pictures.py

A machine has its speed beside each peer's, the cost of a call by the size of its arrays, the cost of building by a
program's nodes, and the cost of every call of vyre.std by size, a picture a family.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt

from contenders import CONTENDERS
from results import FOLDER as RESULTS
from results import Results, every, table

FOLDER = Path(__file__).resolve().parents[1] / "build" / "bench" / "pictures"
SETTINGS = {
    "svg.fonttype": "none",
    "font.size": 8,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
OURS, BEHIND = "#1f6f8b", "#c8553d"
COLUMNS = 6  # of a family's picture
# vyre's lines stand out; a peer has a colour of its own in every picture.
OUR_COLOURS = ("#1f6f8b", "#3aa17e", "#0b3954", "#7fb7be")
PEER_COLOURS = mpl.colormaps["tab20"].colors


def colour(name: str) -> object:
    """Returns the colour of a contender, which is the same in every picture."""
    names = [row.name for row in CONTENDERS]
    if name.startswith("vyre"):
        return OUR_COLOURS[names.index(name) % len(OUR_COLOURS)]
    return PEER_COLOURS[names.index(name) % len(PEER_COLOURS)]


def save(figure: plt.Figure, path: Path) -> None:
    figure.savefig(path, format="svg", bbox_inches="tight")
    plt.close(figure)


def bars(results: Results, path: Path) -> None:
    """Draws how many times as fast as each peer vyre is, for every line of the table that has both."""
    rows, what = [], ""
    for line in table(results):
        what = line.what or what
        if line.ratio is not None:
            rows.append((f"{what}   |   {line.peer}", line.ratio))
    figure, axes = plt.subplots(figsize=(9, 0.8 + 0.19 * len(rows)))
    labels, ratios = [row[0] for row in rows], [row[1] for row in rows]
    axes.barh(range(len(rows)), [r - 1 for r in ratios], left=1, color=[OURS if r >= 1 else BEHIND for r in ratios])
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), labels)
    axes.invert_yaxis()
    axes.margins(y=0.01)
    axes.axvline(1, color="black", linewidth=0.8)
    for k, ratio in enumerate(ratios):
        axes.annotate(
            f"{ratio:.2f}",
            (ratio, k),
            (3 if ratio >= 1 else -3, 0),
            textcoords="offset points",
            va="center",
            ha="left" if ratio >= 1 else "right",
            fontsize=7,
        )
    axes.set_xlabel("vyre's speed over the peer's, same run; right of 1 vyre is faster")
    where = ", ".join([results.machine["name"], *([results.gpu] if results.gpu else [])])
    axes.set_title(f"vyre beside what a user would pick instead: {where}")
    save(figure, path)


def series(results: Results, who: str, kind: str) -> tuple[list[int], list[float]]:
    """Returns the sizes of `a ^ b` in elements, and the microseconds that they take."""
    found = sorted(
        (int(figure.split()[2]), seconds * 1e6)
        for figure, seconds in results.seconds.get(who, {}).items()
        if figure.split()[:2] == ["xor", kind]
    )
    return [size for size, _ in found], [cost for _, cost in found]


def sizes(results: Results, path: Path) -> None:
    """Draws the cost of a call by the size of its arrays: numpy arrays, and arrays that stay on the device."""
    figure, both = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True)
    for axes, kind, title in ((both[0], "whole", "numpy in, numpy out"), (both[1], "resident", "resident")):
        for row in CONTENDERS:
            x, y = series(results, row.name, kind)
            if len(x) > 1:
                axes.plot(
                    x,
                    y,
                    marker="o",
                    markersize=3,
                    linewidth=2.2 if row.ours else 1,
                    color=colour(row.name),
                    label=row.name,
                )
        axes.set(xscale="log", yscale="log", xlabel="elements", title=f"a ^ b, {title}")
    both[0].set_ylabel("microseconds a call")
    handles, labels = both[0].get_legend_handles_labels()
    for handle, label in zip(*both[1].get_legend_handles_labels(), strict=True):
        if label not in labels:
            handles.append(handle)
            labels.append(label)
    figure.legend(handles, labels, loc="center left", bbox_to_anchor=(0.92, 0.5), frameon=False)
    save(figure, path)


def growth(results: Results, path: Path) -> None:
    """Draws the cost of building to SPIR-V by the number of nodes, beside a straight line."""
    host = results.seconds.get("host", {})
    figure, axes = plt.subplots(figsize=(6, 4))
    names = {
        "compile build": "build, from Python",
        "compile validate": "validate",
        "compile lower": "lower and emit SPIR-V",
        "compile all": "all, from Python",
        "core all": "all, in C++",
    }
    for k, (prefix, label) in enumerate(names.items()):
        found = sorted(
            (int(name.split()[2]), value * 1e3) for name, value in host.items() if name.startswith(f"{prefix} ")
        )
        if found:
            axes.plot(*zip(*found, strict=True), marker="o", markersize=3, color=PEER_COLOURS[2 * k], label=label)
    axes.plot([200, 100_000], [0.2, 100], linestyle=":", color="black", linewidth=0.8, label="1 us a node")
    axes.plot([200, 100_000], [1, 300], linestyle="", marker="v", color="black", label="targets of all")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="nodes",
        ylabel="milliseconds",
        title="Building to SPIR-V grows with the program",
    )
    axes.legend(frameon=False)
    save(figure, path)


def calls(machine: str, family: str, of: dict[str, dict[str, dict[str, float]]], path: Path) -> None:
    """Draws the cost of each call of a family of vyre.std by its size, beside its peer's."""
    columns = min(COLUMNS, max(len(of), 3))
    rows = -(-len(of) // columns)
    size = 2.3 * columns, 2.1 * rows + 0.6
    figure, grid = plt.subplots(
        rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    for axes, (call, contenders) in zip(grid.flat, of.items(), strict=False):
        for (who, series), line in zip(contenders.items(), (OURS, BEHIND), strict=True):
            if series:
                took = [1e6 * each for each in series.values()]
                axes.plot([int(size) for size in series], took, marker="o", markersize=3, color=line, label=who)
        axes.set(yscale="log", title=call)
        axes.set_xscale("log", base=2)
        axes.minorticks_off()
    for axes in list(grid.flat)[len(of) :]:
        axes.remove()
    drawn = [axes.get_legend_handles_labels() for axes in figure.axes]
    handles = {label: each for pair in drawn for each, label in zip(*pair, strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside lower right", ncols=2, frameon=False)
    figure.suptitle(f"microseconds a call of vyre.std's {family}, by size: {machine}")
    save(figure, path)


def pictures() -> dict[str, Callable[[Path], None]]:
    """Returns what draws each picture, by its name."""
    found: dict[str, Callable[[Path], None]] = {}
    for results in every():
        found |= {f"{results.slug()}-{make.__name__}": partial(make, results) for make in (bars, sizes, growth)}
    for file in sorted((RESULTS / "std").glob("*.json")):
        library = json.loads(file.read_text(encoding="utf-8"))
        for family, of in library["seconds"].items():
            found[f"{file.stem}-std-{family}"] = partial(calls, library["machine"], family, of)
    return found


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(SETTINGS):
        for name, make in pictures().items():
            make(FOLDER / f"{name}.svg")
    print(f"drew {len(pictures())} pictures in {FOLDER}")


if __name__ == "__main__":
    main()
