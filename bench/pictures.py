"""Draws the pictures of one machine's results. The same figures give the same bytes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt

from contenders import CONTENDERS
from results import Results, table

FOLDER = Path(__file__).with_name("pictures")
SETTINGS = {
    "svg.hashsalt": "vyre",  # otherwise the ids in the file are random
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
    """Saves a figure without the date, which would change the file each time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    plt.close(figure)
    # matplotlib ends some lines with blanks.
    text = path.read_text(encoding="utf-8")
    path.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n", encoding="utf-8")


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


def draw(results: Results, folder: Path = FOLDER) -> Iterable[Path]:
    """Draws all pictures of one machine and yields their files."""
    with mpl.rc_context(SETTINGS):
        for name, make in (("bars", bars), ("sizes", sizes), ("growth", growth)):
            path = folder / f"{results.slug()}-{name}.svg"
            make(results, path)
            yield path
