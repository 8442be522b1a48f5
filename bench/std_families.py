"""Times every call of vyre.std by size, on resident arrays, beside its peer of std_race.py, and draws each family.

    python bench/std_families.py measure --backend cpu --to 20 --json bench/results/std/families/amd-epyc-2-cores.json
    python bench/std_families.py draw

Of the cases that a family's file in `std/` has for a call, the first one counts. A size is the number that
``cases(size, place)`` takes: words, or four bytes each. A contender whose call takes a second is not run for larger
sizes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import std_command
import std_race
import vyre
from std_command import README
from std_place import Place
from std_race import call_of

if TYPE_CHECKING:
    import argparse

PICTURES = Path(__file__).with_name("pictures")
RESULTS = sorted(Path(__file__).with_name("results").joinpath("std", "families").glob("*.json"))
BEGIN, END = "<!-- made by std_families.py -->", "<!-- end of what std_families.py makes -->"
OURS, PEER = "vyre, resident", "its peer"
LONG = 1.0  # seconds of a call from which on larger sizes are left out
COLUMNS = 6  # of a picture

Series = dict[str, dict[str, float]]  # who -> size -> seconds of a call
Figures = dict[str, dict[str, Series]]  # family -> call -> series


def measured(family: str, size: int, place: Place, found: dict[str, Series]) -> None:
    """Add the seconds of a family's calls for one size to those of smaller sizes."""
    seen = set()
    for case, ours, _, peer in std_race.cases(family, size, place):
        call = call_of(case)
        if call in seen:
            continue
        seen.add(call)
        for who, function in ((OURS, ours), (PEER, peer)):
            series = found.setdefault(call, {}).setdefault(who, {})
            if function is None or max(series.values(), default=0) > LONG:
                continue
            try:
                series[str(size)] = float(f"{std_race.seconds(function):.3g}")
            except vyre.VyreError as error:
                print(family, case, who, type(error).__name__, error)


def measure(given: argparse.Namespace) -> None:
    place = Place(given.backend, given.device)
    figures: Figures = {family: {} for family in std_race.families()}
    for exponent in range(given.begin, given.to + 1, given.step):
        for family in figures:
            measured(family, 1 << exponent, place, figures[family])
            std_command.write_json(given.json, {"machine": given.machine, "seconds": figures})
            print(f"{family} 2^{exponent} done", flush=True)


def picture_of(path: Path, family: str) -> Path:
    return PICTURES / f"{path.stem}-std-{family}.svg"


def with_pictures(text: str) -> str:
    """README's text with the part between the marks made of the results."""
    parts = []
    for path in RESULTS:
        found = json.loads(path.read_text(encoding="utf-8"))
        parts.append(f"### Every call: {found['machine']}")
        parts += [
            f"![cost of the calls of {family} by their size](pictures/{picture_of(path, family).name})"
            for family in found["seconds"]
        ]
    return std_command.between(BEGIN, END, text, parts)


def draw(path: Path) -> None:
    """Draw the cost of each call by its size, a picture a family, as pictures.py draws."""
    from pictures import OUR_COLOURS, PEER_COLOURS, SETTINGS, mpl, plt, save

    found = json.loads(path.read_text(encoding="utf-8"))
    colours = {OURS: OUR_COLOURS[0], PEER: PEER_COLOURS[6]}
    for family, calls in found["seconds"].items():
        columns = min(COLUMNS, max(len(calls), 3))
        rows = -(-len(calls) // columns)
        with mpl.rc_context(SETTINGS):
            size = 2.3 * columns, 2.1 * rows + 0.6
            figure, grid = plt.subplots(
                rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False, layout="constrained"
            )
            for axes, (call, of) in zip(grid.flat, calls.items(), strict=False):
                for who, series in of.items():
                    if series:
                        sizes, took = [int(size) for size in series], [1e6 * each for each in series.values()]
                        axes.plot(sizes, took, marker="o", markersize=3, color=colours[who], label=who)
                axes.set(yscale="log", title=call)
                axes.set_xscale("log", base=2)
                axes.minorticks_off()
            for axes in list(grid.flat)[len(calls) :]:
                axes.remove()
            drawn = [axes.get_legend_handles_labels() for axes in figure.axes]
            handles = {label: each for pair in drawn for each, label in zip(*pair, strict=True)}
            figure.legend(handles.values(), handles.keys(), loc="outside lower right", ncols=2, frameon=False)
            figure.suptitle(f"microseconds a call of vyre.std's {family}, by size: {found['machine']}")
            save(figure, picture_of(path, family))
            print(f"wrote {picture_of(path, family)}")


def draw_all() -> None:
    for path in RESULTS:
        draw(path)
    README.write_text(with_pictures(README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    std_command.run(__doc__, measure, draw_all, to=26, step=4)
