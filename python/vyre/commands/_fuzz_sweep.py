"""One sweep of ``vyre fuzz``: it runs programs, counts their verdicts, and reports those that were wrong.

Rows come in groups from ``fuzz.sweep``, which runs the programs in worker processes. Each group is counted and written
to the log in one piece, so that a signal leaves a log that ``--resume`` can go on with. Programs that were wrong are
reduced after the summary; ``--json`` and ``--sarif`` print them all at the end, the text form each when it is reduced.
"""

from __future__ import annotations

import re
import shlex
import signal
import threading
import time
from collections import Counter
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vyre._base.files import write_atomically
from vyre.commands._fuzz_bars import SweepBar, TriesBar
from vyre.commands._fuzz_lines import say, shortened, what_runs
from vyre.commands._listing import print_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from vyre.fuzz import Row, Settings, Way
    from vyre.fuzz.shrink import Small

__all__ = ["Sweep"]

_STEADY = "It is right when it is run again: look for something that changes from run to run."
_INTERRUPTED = 130  # the exit status after Ctrl-C, as shells have it


class Sweep:
    """A request for random programs, its verdicts so far, and the report."""

    def __init__(
        self,
        chosen: argparse.Namespace,
        backends: list[str],
        ways: list[Way],
        against: Way | None,
        settings: Settings,
        head: Mapping[str, Any],
        log: Any,
    ) -> None:
        self.chosen, self.backends, self.ways, self.against = chosen, backends, ways, against
        self.settings, self.head, self.log = settings, head, log
        self.is_text = not (chosen.json or chosen.sarif)
        # What was wrong and reduced, with the file that holds the reduced case, for --json and --sarif.
        self.found: list[tuple[Row, Small | None, Path | None]] = []
        self.first = head["seed"]
        self.verdicts: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.wrong: list[Row] = []
        self.done = self.before = 0
        for row in log.rows if log is not None else ():
            self.add(row)
        self.before = self.done

    def add(self, row: Row) -> None:
        self.done += 1
        self.verdicts[row.verdict] += 1
        if row.verdict == "refused":
            # A reason without its numbers and names, so that like reasons are one.
            self.refusals[re.sub(r"\d+([.,]\d+)*", "N", row.message)] += 1
        if row.wrong:
            self.wrong.append(row)

    def run(self) -> int:
        if self.is_text:
            self.begin()
        start = time.monotonic()
        interrupted = False
        found: list[Row] = []
        with _terminated_as_interrupted():
            try:
                found = self.sweep()
            except KeyboardInterrupt:
                interrupted = True
            if self.is_text:
                self.summary(time.monotonic() - start)
                if len(found) > 1:  # All are named before the first is reduced, which may take long.
                    for row in found:
                        say("", f"seed {row.seed}: {row.way}")
            try:
                for row in found:
                    self.explain(row)
            except KeyboardInterrupt:
                interrupted = True
        if not self.is_text:
            self.print_whole(interrupted)
        elif interrupted:
            say("stopped", f"before seed {self.first + self.done}")
            if self.log is not None:
                say("go on", self.command(resume=True))
        if interrupted:
            return _INTERRUPTED
        return 1 if self.wrong else 0

    def begin(self) -> None:
        say("target", self.head["target"])
        for number, way in enumerate(dict.fromkeys(map(str, self.ways))):
            say("" if number else "compared", way)
        if self.against is not None:
            say("with", self.head["against"])
        if self.before:
            held = f"{self.chosen.log} holds {self.before:,} {what_runs(self.chosen)}"
            say("resumed", f"{held}; going on with seed {self.first + self.before}")

    def sweep(self) -> list[Row]:
        """Run programs; those that are new and wrong."""
        from vyre import fuzz

        chosen = self.chosen
        count = None if chosen.count is None else max(0, chosen.count - self.done)
        seconds = chosen.seconds if chosen.seconds is not None or count is not None else 60.0
        rows = fuzz.sweep(
            self.ways,
            self.settings,
            self.first + self.done,
            count,
            seconds=seconds,
            jobs=chosen.jobs,
            against=self.against,
            by_turns=chosen.combinations,
        )
        found: list[Row] = []
        with closing(rows), SweepBar(self, count, seconds) as bar:
            for some in rows:
                # Cases are done once they are in the log.
                with _in_one_piece():
                    kept = []
                    for row in some:
                        kept.append(row)
                        self.add(row)
                        if row.wrong:
                            found.append(row)
                            if len(found) == chosen.wrong:
                                break
                    if self.log is not None:
                        self.log.write(kept)
                bar.show()
                if chosen.wrong and len(found) >= chosen.wrong:
                    break
        return found

    def summary(self, seconds: float) -> None:
        new = self.done - self.before
        seeds = f" (seeds {self.first} to {self.first + self.done - 1})" if self.done else ""
        rate = f", {new / seconds:,.1f} a second" if new and seconds > 0 else ""
        say(what_runs(self.chosen), f"{self.done:,}{seeds}{rate}")
        say("agreed", f"{self.verdicts['agrees']:,}")
        say("refused", f"{self.verdicts['refused']:,}")
        for reason, times in self.refusals.most_common(5):
            print(f"{'':<12}{times:>9,}  {shortened(reason)}")
        say("wrong", f"{len(self.wrong):,}")
        if self.log is not None:
            say("log", str(self.log.path))

    def command(self, *, seed: int | None = None, resume: bool = False, case: str | None = None) -> str:
        """The command that repeats a part of this run."""
        words = ["vyre", "fuzz"]
        for backend in self.backends:
            words += ["--backend", backend]
        if self.chosen.device is not None:
            words += ["--device", str(self.chosen.device)]
        if self.against is not None:
            words += ["--against", self.chosen.against]
        if self.chosen.combinations:
            words.append("--combinations")
        if self.chosen.procedures:
            words.append("--procedures")
        if case is not None:
            return shlex.join([*words, "--case", case])
        for name, value in asdict(self.settings).items():
            if name not in ("work", "procedures") and value != getattr(type(self.settings)(), name):
                words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
        if seed is not None:
            words += ["--seed", str(seed), "--count", "1"]
        if resume:
            words += [
                f"--{name}={getattr(self.chosen, name)}"
                for name in ("count", "seconds", "jobs")
                if getattr(self.chosen, name)
            ]
            words += ["--log", self.chosen.log, "--resume"]
        return shlex.join(words)

    def explain(self, row: Row) -> None:
        """Reduce a program that is wrong, and print it or keep it for the end."""
        from vyre.fuzz import shrink

        if self.is_text:
            print()
            say(row.verdict, f"seed {row.seed}: {row.way}")
            say("", row.message)
        with TriesBar(self.chosen) as bar:
            small = shrink.shrink(
                row, self.ways, self.settings, tries=self.chosen.tries, progress=bar.show, against=self.against
            )
        path = None
        if small is not None and small.tried is None and self.log is not None:
            path = Path(f"{self.log.path}.seed-{row.seed}.json")
            write_atomically(path, small.case.to_json() + "\n")
        if not self.is_text:
            self.found.append((row, small, path))
            return
        if small is None:
            say("", _STEADY)
        else:
            self.print_small(small, path)
        say("repeat", self.command(seed=row.seed))

    def print_small(self, small: Small, path: Path | None) -> None:
        before, after = small.statements
        parts = "steps" if self.chosen.procedures else "statements"
        say("reduced", f"from {before:,} {parts} to {after:,} in {small.tries:,} tries: {small.judgement.message}")
        if small.tried is not None:
            print("\nThis program\n")
        print(f"\n{small.case}\n")
        if small.begins:
            print(f"{small.begins}\n")
        if small.tried is not None:
            print(f"must give the bytes of this one, and does not:\n\n{small.tried}\n")
        elif path is not None:
            say("repeat", f"{self.command(case=str(path))}   (the reduced one)")

    def print_whole(self, interrupted: bool) -> None:
        """What --json and --sarif print."""
        other = None if self.against is None else self.head["against"]
        if self.chosen.sarif:
            from vyre.commands import _fuzz_sarif

            log = self.chosen.log
            found = [(row, small, str(path or log), self.command(seed=row.seed)) for row, small, path in self.found]
            _fuzz_sarif.print_found(found, other or "reference", interrupted)
            return
        print_json(
            "fuzz",
            not self.wrong and not interrupted,
            target=self.head["target"],
            compared=list(dict.fromkeys(map(str, self.ways))),
            against=other,
            seeds=[self.first, self.first + self.done],
            agrees=self.verdicts["agrees"],
            refused=self.verdicts["refused"],
            wrong=len(self.wrong),
            refusals=dict(self.refusals),
            found=[self.as_json(*each) for each in self.found],
            interrupted=interrupted,
        )

    def as_json(self, row: Row, small: Small | None, path: Path | None) -> dict[str, Any]:
        told: dict[str, Any] = {**asdict(row), "repeat": self.command(seed=row.seed), "reduced": None}
        if small is not None:
            told["reduced"] = {
                "message": small.judgement.message,
                "program": str(small.case),
                "in_its_place": None if small.tried is None else str(small.tried),
                "sizes": list(small.statements),
                "begins": small.begins,
                "file": None if path is None else str(path),
            }
        return told


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Makes SIGTERM, which `timeout` and batch systems send, what Ctrl-C is."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _in_one_piece() -> Iterator[None]:
    """Signals that end the run wait until the block is done."""
    came: list[int] = []
    ends = (signal.SIGINT, signal.SIGTERM)
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {end: signal.getsignal(end) for end in ends}
    try:
        for end in ends:
            signal.signal(end, lambda number, _: came.append(number))
        yield
    finally:
        for end, handler in before.items():
            signal.signal(end, handler)
    if came:
        raise KeyboardInterrupt
