"""Holds the results of one run on one machine, and converts them to JSON and to rows of the table."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from targets import TARGETS, UNITS, Target, shown

FOLDER = Path(__file__).with_name("results")


@dataclass
class Results:
    """The results of one run.

    Attributes:
        machine: facts by name; `name` and `date` head the table.
        command: the command line of the run.
        gpu: the GPU's name; empty without one.
        about: contender -> its own description of its version and device.
        missing: contender -> why nothing was measured.
        seconds: contender -> figure -> seconds (or a ratio); "host" stands for work that needs no device.
        gaps: contender -> figure -> why this figure was not measured.
    """

    machine: dict[str, str] = field(default_factory=dict)
    command: str = ""
    gpu: str = ""
    about: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, dict[str, float]] = field(default_factory=dict)
    gaps: dict[str, dict[str, str]] = field(default_factory=dict)

    def slug(self) -> str:
        """Makes a file name for the machine."""
        words = "".join(c.lower() if c.isalnum() else " " for c in self.gpu or self.machine["name"]).split()
        return "-".join(words)

    def save(self, path: Path) -> None:
        """Saves the results as JSON, with four digits of each figure, because more would be noise."""
        rounded = {
            who: {figure: float(f"{value:.4g}") for figure, value in figures.items()}
            for who, figures in self.seconds.items()
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            json.dumps({**asdict(self), "seconds": rounded}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )

    @classmethod
    def load(cls, path: Path) -> Results:
        """Loads a file that save() wrote."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    def why(self, who: str, figure: str) -> str:
        """Returns the reason why a figure is missing."""
        return self.missing.get(who) or self.gaps.get(who, {}).get(figure) or "not measured in this run"


def every() -> list[Results]:
    """Loads the results of all machines, those without a GPU first."""
    found = [Results.load(path) for path in sorted(FOLDER.glob("*.json"))]
    return sorted(found, key=lambda results: (bool(results.gpu), results.slug()))


@dataclass(frozen=True)
class Line:
    """A line of the table; `ratio` is how many times as fast as the peer vyre is."""

    what: str
    goal: str
    ours: float | None
    peer: str
    theirs: float | None
    ratio: float | None
    met: str
    unit: str

    def cells(self) -> list[str]:
        """Returns the cells of the line as text."""
        return [
            self.what,
            self.goal,
            number(self.ours, self.unit),
            self.peer,
            number(self.theirs, self.unit),
            "" if self.ratio is None else f"{self.ratio:.2f}",
            self.met,
        ]


HEADERS = ["what", "goal", "vyre", "peer", "theirs", "vyre is x as fast", "met"]


def number(value: float | None, unit: str) -> str:
    """Formats a number with about three significant digits and its unit."""
    if value is None:
        return ""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{digits}f} {UNITS[unit].name}"


def peer_place(peer: str, figure: str) -> tuple[str, str]:
    """Returns the contender and the figure to show beside ours; imports of other packages are under "host"."""
    return ("host", peer) if peer.startswith("import ") else (peer, figure)


def lines_of(target: Target, results: Results) -> list[Line]:
    """Makes the target's line, and one more for each further peer that was measured."""
    ours = results.seconds.get(target.ours, {}).get(target.figure)
    bound_here = target.bound is not None and (not target.only or target.only in results.gpu)
    value = None if ours is None else shown(target.unit, target.figure, ours)
    beside = []
    for peer in () if target.gpu and not results.gpu else target.peers:
        who, figure = peer_place(peer, target.figure)
        theirs = results.seconds.get(who, {}).get(figure)
        if theirs is not None:
            beside.append((peer, shown(target.unit, target.figure, theirs), None if ours is None else theirs / ours))

    def met(peer: str, ratio: float | None) -> str:
        if ours is None:
            return "not measured"
        if bound_here:
            good = value >= target.bound if UNITS[target.unit].higher_is_better else value <= target.bound
            return "yes" if good else "no"
        if target.than not in ("", peer) or ratio is None:
            return ""
        return "yes" if ratio >= target.times else "no"

    if not beside:
        verdict = met("", None) if bound_here or ours is None else "no peer"
        return [Line(target.what, target.goal, value, "", None, None, verdict, target.unit)]
    lines = []
    for k, (peer, theirs, ratio) in enumerate(beside):
        # A bound is judged once, on the target's first line; a goal about a peer is judged on that peer's line.
        verdict = met(peer, ratio) if k == 0 or (ours is not None and not bound_here) else ""
        first = k == 0
        lines.append(
            Line(
                target.what if first else "",
                target.goal if first else "",
                value if first else None,
                peer,
                theirs,
                ratio,
                verdict,
                target.unit,
            )
        )
    return lines


def applies(target: Target, results: Results) -> bool:
    """Returns whether a target applies to this machine: some make sense only without a GPU."""
    return not (target.gpu is False and results.gpu)


def table(results: Results) -> list[Line]:
    """Makes all lines of the table."""
    return [line for target in TARGETS if applies(target, results) for line in lines_of(target, results)]


def not_measured(results: Results) -> list[str]:
    """Lists everything that was not measured, each once and with its reason."""
    notes: dict[str, list[str]] = {}
    for target in TARGETS:
        if applies(target, results) and target.figure not in results.seconds.get(target.ours, {}):
            if target.gpu and not results.gpu:
                notes.setdefault("no GPU here", []).append(target.what)
            else:
                notes.setdefault(results.why(target.ours, target.figure), []).append(target.what)
    said = [f"{'; '.join(what)}: {why}" for why, what in notes.items()]
    said += [f"{who}: {why}" for who, why in results.missing.items() if not who.startswith("vyre")]
    for who, gaps in results.gaps.items():
        by_reason: dict[str, list[str]] = {}
        for figure, why in gaps.items():
            by_reason.setdefault(why, []).append(figure)
        if not who.startswith("vyre"):
            said += [f"{who}, {', '.join(figures)}: {why}" for why, figures in by_reason.items()]
    return said
