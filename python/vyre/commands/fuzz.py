"""``vyre fuzz``: random programs on a backend, compared with the reference or with another backend."""

from __future__ import annotations

import argparse
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

import vyre
from vyre._files import read_at_most, write_atomically
from vyre.commands import _listing
from vyre.commands._listing import add_forms, print_json
from vyre.commands._place import split_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from vyre.fuzz import Row, Settings, Way
    from vyre.fuzz.shrink import Small

_MOST_CASE = 1 << 30  # bytes of a file with a case
_STEADY = "It is right when it is run again: look for something that changes from run to run."
INTERRUPTED = 130
"""The exit status after Ctrl-C, as shells have it."""

_EPILOG = """\
backends:
  reference        in order, reversed and at random, with the optimiser and without
  cpu, vulkan      with the optimiser and without
  wgsl             likewise, as WGSL through the package wgpu
  module:function  likewise, a Python function that takes and returns what vyre.run does
                   (vyre.fuzz.resident:run: arrays that stay on their device, a grid from data);
                   with --procedures it takes what vyre.fuzz.procedures.run does
  vulkan:1         device 1 of a backend, counted as vyre.devices("vulkan") lists them

--against BACKEND compares with another backend, or another device of the same, as its calls run; the reference runs
nothing. That leaves out what the reference alone sees: two sides that are wrong in the same way agree, a difference
does not say which side is wrong, and the log's hashes of outputs are those of that backend. A program then takes what
the other side takes; the reference takes half a millisecond. Of what differs, reducing asks the reference whether it
has a race.

A program counts as refused when a backend says that it cannot run it (a limit of the device, a driver that was found
not to keep its word); that is never agreement. The exit status is 0 when no program was wrong, 1 when one was, 2 for a
wrong request, 130 after Ctrl-C or SIGTERM."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "fuzz",
        help="random programs on a backend, compared with the reference",
        description="Run random programs on a backend and compare the bytes with the reference's, or with another "
        "backend's. What disagrees is reduced to a small program and printed.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--backend",
        action="append",
        metavar="NAME",
        help="what to compare; may be given several times; otherwise the best here",
    )
    parser.add_argument(
        "--device", type=_count, metavar="D", help="one of the backend's, counted as below; otherwise its default"
    )
    parser.add_argument(
        "--against",
        metavar="NAME",
        help="compare with this backend in place of the reference: vulkan, vulkan:1, module:function",
    )
    parser.add_argument(
        "--seed", type=_count, metavar="S", help="of the first program; the others follow it; otherwise 0"
    )
    parser.add_argument("--count", type=_count, metavar="N", help="how many programs")
    parser.add_argument("--seconds", type=_seconds, metavar="N", help="stop after so long; 60 when there is no --count")
    parser.add_argument("--jobs", type=_positive, metavar="N", help="how many processes (one for each processor)")
    parser.add_argument("--log", metavar="FILE", help="keep a row for each program, as JSON lines")
    parser.add_argument(
        "--resume", action="store_true", help="go on where the log ends; --count is that of the whole log"
    )
    parser.add_argument(
        "--wrong",
        type=_count,
        default=1,
        metavar="N",
        help="stop after this many that are wrong (1); 0 goes on to the end",
    )
    parser.add_argument(
        "--rewrites",
        type=_count,
        default=0,
        metavar="N",
        help="change each program N times in ways that keep its bytes",
    )
    parser.add_argument(
        "--statements", type=_positive, default=200, metavar="N", help="about the largest number of statements (200)"
    )
    parser.add_argument(
        "--clean", action="store_true", help="only programs that stay in bounds and read what was written"
    )
    parser.add_argument(
        "--independent",
        action="store_true",
        help="only programs whose invocations share nothing, which lowering changes the most",
    )
    parser.add_argument(
        "--combinations",
        action="store_true",
        help="every combination of what lowering does for speed, not only all of it and nothing of it; on Vulkan also "
        "with arrays reached by their addresses",
    )
    parser.add_argument(
        "--tries", type=_count, default=3000, metavar="N", help="runs that reducing a program may take (3000)"
    )
    parser.add_argument(
        "--planted",
        nargs="?",
        const="all",
        metavar="DEFECT",
        help="whether checked execution finds each defect in N programs (1,000) with it, and nothing in N without any",
    )
    parser.add_argument(
        "--procedures",
        action="store_true",
        help="random procedures instead of programs, compared with a model that takes their steps one by one",
    )
    parser.add_argument(
        "--case", metavar="FILE", help="run this program, as a fuzz run wrote it, instead of random ones"
    )
    parser.add_argument("--progress", action="store_true", help="show progress also where the output is no terminal")
    add_forms(parser)
    parser.set_defaults(run=run)


def _count(text: str) -> int:
    if not re.fullmatch(r"\d+", text) or int(text) >= 2**64:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number from 0 to 2**64 - 1")
    return int(text)


def _positive(text: str) -> int:
    if not 0 < _count(text) < 2**32:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number above 0")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of seconds above 0")
    return value


def run(chosen: argparse.Namespace) -> int:
    from vyre import fuzz  # not for every command: it registers the operations that its programs call

    if chosen.sarif and (chosen.case or chosen.planted):
        raise vyre.ArgumentError("--sarif is for random programs that are compared. Fix: leave it out.")
    if chosen.sarif and not chosen.log:
        raise vyre.ArgumentError(
            "--sarif has no place without --log, beside which the files lie that its results name. Fix: add --log FILE."
        )
    if chosen.case:
        return _run_case(chosen)
    if chosen.planted:
        return _run_planted(chosen)
    if chosen.resume and not chosen.log:
        raise vyre.ArgumentError("--resume has no place without --log. Fix: name the log to go on with.")
    if chosen.procedures:
        for name, plain in (("rewrites", 0), ("clean", False), ("independent", False), ("statements", 200)):
            if getattr(chosen, name) != plain:
                raise vyre.ArgumentError(
                    f"--{name} has no place with --procedures, which is about programs. Fix: leave it out."
                )
    settings = fuzz.Settings(
        statements=chosen.statements,
        clean=chosen.clean,
        rewrites=chosen.rewrites,
        independent=chosen.independent,
        procedures=chosen.procedures,
    )
    backends, ways = _ways(chosen)
    against = _against(chosen, ways)
    target = fuzz.describe(ways)
    other = {} if against is None else {"against": f"{against} ({fuzz.describe([against])})"}
    head: Mapping[str, Any] = {
        "target": target,
        **other,
        "backends": backends,
        "device": chosen.device,
        **asdict(settings),
        "combinations": chosen.combinations,
        "seed": chosen.seed or 0,
    }
    log = None
    if chosen.log:
        log = _resume(chosen, head) if chosen.resume else fuzz.Log.create(chosen.log, head)
        head = log.head
    try:
        return _Run(chosen, backends, ways, against, settings, head, log).run()
    finally:
        if log is not None:
            log.close()


def _ways(chosen: argparse.Namespace) -> tuple[list[str], list[Way]]:
    from vyre import fuzz

    backends = chosen.backend or [vyre.backends()[0]]
    ways = []
    for given in dict.fromkeys(backends):
        backend, device = split_place(given)
        if device is not None and chosen.device is not None:
            raise vyre.ArgumentError(
                f"--backend {given} names a device, and so does --device. Fix: leave --device out."
            )
        # A device is of those that have several.
        if device is None and backend not in ("reference", "cpu"):
            device = chosen.device
        ways += fuzz.ways_of(backend, device, combinations=chosen.combinations)
    if chosen.procedures:
        from vyre.fuzz.procedures.judge import ways_for_procedures

        ways = ways_for_procedures(ways)
    return backends, ways


def _against(chosen: argparse.Namespace, ways: Sequence[Way]) -> Way | None:
    """What the ways are compared with; None for the reference."""
    from vyre import fuzz

    if chosen.against is None:
        return None
    if chosen.procedures:
        raise vyre.ArgumentError(
            "--against has no place with --procedures, which are compared with a model. Fix: leave it out."
        )
    against = fuzz.way_against(*split_place(chosen.against))
    if against in ways:
        raise vyre.ArgumentError(
            f"--against {chosen.against} names what --backend names. Fix: name another backend, or another device."
        )
    return None if against == fuzz.Way("reference") else against


def _resume(chosen: argparse.Namespace, head: Mapping[str, Any]) -> Any:
    """The log to go on with, if it is of the same request on the same target with the same programs."""
    from vyre import fuzz

    log = fuzz.Log.resume(chosen.log)
    # A log of an earlier version knows fewer settings, and has programs as they were made before there were more.
    kept = {**asdict(fuzz.Settings()), "combinations": False, **log.head}
    head = {"against": None, **head} if "against" in log.head else head
    for name, value in head.items():
        if kept.get(name) != value and (name != "seed" or chosen.seed is not None):
            log.close()
            raise vyre.ArgumentError(
                f"log `{chosen.log}` has {name} {kept.get(name)!r}, not {value!r}. "
                "Fix: ask for what it has, or begin another log."
            )
    if log.rows:
        settings = fuzz.Settings(**{name: kept[name] for name in asdict(fuzz.Settings())})
        case, _ = settings.case(log.rows[-1].seed)
        if f"{case.hash():016x}" != log.rows[-1].program:
            log.close()
            raise vyre.ArgumentError(
                f"log `{chosen.log}` has other {_what(chosen)} of the same seeds: another version of vyre wrote it. "
                "Fix: begin another log."
            )
    return log


class _Run:
    """One run of the command."""

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
            try:
                for row in found:
                    self.explain(row)
            except KeyboardInterrupt:
                interrupted = True
        if not self.is_text:
            self.print_whole(interrupted)
        elif interrupted:
            _say("stopped", f"before seed {self.first + self.done}")
            if self.log is not None:
                _say("go on", self.command(resume=True))
        if interrupted:
            return INTERRUPTED
        return 1 if self.wrong else 0

    def begin(self) -> None:
        _say("target", self.head["target"])
        for number, way in enumerate(dict.fromkeys(map(str, self.ways))):
            _say("" if number else "compared", way)
        if self.against is not None:
            _say("with", self.head["against"])
        if self.before:
            held = f"{self.chosen.log} holds {self.before:,} {_what(self.chosen)}"
            _say("resumed", f"{held}; going on with seed {self.first + self.before}")

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
        )
        found: list[Row] = []
        with closing(rows), _Bar(self, count, seconds) as bar:
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
        _say(_what(self.chosen), f"{self.done:,}{seeds}{rate}")
        _say("agreed", f"{self.verdicts['agrees']:,}")
        _say("refused", f"{self.verdicts['refused']:,}")
        for reason, times in self.refusals.most_common(5):
            print(f"{'':<12}{times:>9,}  {_short(reason)}")
        _say("wrong", f"{len(self.wrong):,}")
        if self.log is not None:
            _say("log", str(self.log.path))

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
            _say(row.verdict, f"seed {row.seed}: {row.way}")
            _say("", row.message)
        with _Tries(self.chosen) as bar:
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
            _say("", _STEADY)
        else:
            self.print_small(small, path)
        _say("repeat", self.command(seed=row.seed))

    def print_small(self, small: Small, path: Path | None) -> None:
        before, after = small.statements
        parts = "steps" if self.chosen.procedures else "statements"
        _say("reduced", f"from {before:,} {parts} to {after:,} in {small.tries:,} tries: {small.judgement.message}")
        if small.tried is not None:
            print("\nThis program\n")
        print(f"\n{small.case}\n")
        if small.begins:
            print(f"{small.begins}\n")
        if small.tried is not None:
            print(f"must give the bytes of this one, and does not:\n\n{small.tried}\n")
        elif path is not None:
            _say("repeat", f"{self.command(case=str(path))}   (the reduced one)")

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
            {
                **_listing.head("fuzz"),
                "ok": not self.wrong and not interrupted,
                "target": self.head["target"],
                "compared": list(dict.fromkeys(map(str, self.ways))),
                "against": other,
                "seeds": [self.first, self.first + self.done],
                **{name: self.verdicts[name] for name in ("agrees", "refused")},
                "wrong": len(self.wrong),
                "refusals": dict(self.refusals),
                "found": [self.as_json(*each) for each in self.found],
                "interrupted": interrupted,
            }
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


def _run_case(chosen: argparse.Namespace) -> int:
    from vyre import fuzz
    from vyre.fuzz.campaign import PATIENCE
    from vyre.fuzz.worker import Worker, WorkerEndedError

    fix = "name a file that `vyre fuzz` wrote"
    data = read_at_most(chosen.case, _MOST_CASE, fix=fix)
    kind: Any = fuzz.Case
    if chosen.procedures:
        from vyre.fuzz.procedures import ProcedureCase as kind
    try:
        case = kind.from_json(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise vyre.ParseError(f"`{chosen.case}` is no case: it is not UTF-8. Fix: {fix}.") from None
    _, ways = _ways(chosen)
    against = _against(chosen, ways)
    target, other = fuzz.describe(ways), None if against is None else f"{against} ({fuzz.describe([against])})"
    if not chosen.json:
        _say("target", target)
        if other is not None:
            _say("with", other)
    worker = Worker(PATIENCE)
    try:
        judgement = worker.ask("judge", case, None, ways, PATIENCE, against)
    except WorkerEndedError as error:
        at_fault = against if error.run == 1 and against is not None else ways[max(error.run - 2, 0)]
        judgement = fuzz.Judgement(error.kind, str(at_fault), str(error))
    finally:
        worker.close()
    if chosen.json:
        told = {name: getattr(judgement, name) for name in ("kind", "way", "message", "call")}
        print_json({**_listing.head("fuzz"), "ok": bool(judgement), "target": target, "against": other, **told})
    else:
        _say(judgement.kind, f"{judgement.way}: {judgement.message}" if judgement.way else "in every way")
    return 0 if judgement else 1


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


def _run_planted(chosen: argparse.Namespace) -> int:
    """Programs with each defect, and two kinds without one, through checked execution."""
    from vyre import fuzz

    for name in (
        *("backend", "device", "against", "seconds", "log", "resume"),
        *("rewrites", "clean", "independent", "combinations", "json"),
    ):
        if getattr(chosen, name) not in (None, False, 0):
            raise vyre.ArgumentError(
                f"--{name} has no place with --planted, which runs on the reference. Fix: leave it out."
            )
    kinds: dict[str, Settings] = {
        name: fuzz.Settings(statements=chosen.statements, checked=True, plant=name) for name in fuzz.PLANTS
    }
    # Clean programs must be found clean. Race-free ones may leave their buffers and read elements before a write.
    kinds["clean"] = fuzz.Settings(statements=chosen.statements, checked=True, clean=True)
    kinds["race-free"] = fuzz.Settings(statements=chosen.statements, checked=True)
    if chosen.planted != "all":
        if chosen.planted not in kinds:
            names = ", ".join(f"`{name}`" for name in kinds)
            raise vyre.ArgumentError(
                f"no defect is called `{chosen.planted}`. Fix: use one of {names}, or none for all."
            )
        kinds = {chosen.planted: kinds[chosen.planted]}
    count = 1000 if chosen.count is None else chosen.count
    first = chosen.seed or 0
    print(f"{'planted':<24}{'programs':>9}{'right':>9}{'wrong':>9}")
    wrong: list[tuple[str, Row]] = []
    for name, settings in kinds.items():
        rows = [row for some in fuzz.sweep([], settings, first, count, jobs=chosen.jobs) for row in some]
        bad = [row for row in rows if row.wrong]
        print(f"{name:<24}{len(rows):>9,}{len(rows) - len(bad):>9,}{len(bad):>9,}", flush=True)
        wrong += [(name, row) for row in bad[:1]]
    for name, row in wrong:
        print()
        _say(row.verdict, f"seed {row.seed} of {name}: {row.message}")
        print(f"\n{kinds[name].case(row.seed)[0]}\n")
        _say("repeat", f"vyre fuzz --planted {name} --seed {row.seed} --count 1")
    return 1 if wrong else 0


def _what(chosen: argparse.Namespace) -> str:
    return "procedures" if chosen.procedures else "programs"


def _say(what: str, text: str) -> None:
    print(f"{what:<12}{text}", flush=True)


def _short(text: str) -> str:
    return text if len(text) <= 160 else text[:157] + "..."


def _tqdm(forced: bool) -> Any:
    """tqdm where it is installed; it stays silent where the output is no terminal."""
    try:
        from tqdm import tqdm
    except ImportError:
        if forced:
            raise vyre.ArgumentError(
                "--progress needs tqdm, which is not installed. Fix: pip install 'vyre[fuzz]'."
            ) from None
        return None
    return tqdm


class _Bar:
    """How far a sweep is: in programs when their number is known, else in seconds."""

    def __init__(self, run: _Run, count: int | None, seconds: float | None) -> None:
        self._run, self._seconds = run, seconds if count is None else None
        self._start = time.monotonic()
        tqdm = _tqdm(run.chosen.progress)
        self._bar = None
        if tqdm is None:
            return
        common = {"desc": "fuzz", "disable": False if run.chosen.progress else None, "leave": False, "smoothing": 0.1}
        if self._seconds is None:
            assert count is not None
            self._bar = tqdm(total=run.done + count, initial=run.done, unit=" programs", **common)
        else:
            self._bar = tqdm(
                total=round(self._seconds),
                bar_format="{desc}: {percentage:3.0f}%|{bar}| {n:.0f} of {total} s{postfix}",
                **common,
            )

    def __enter__(self) -> _Bar:
        return self

    def show(self) -> None:
        if self._bar is None:
            return
        run = self._run
        seconds = time.monotonic() - self._start
        shown = f"{run.verdicts['refused']:,} refused, {len(run.wrong):,} wrong"
        if self._seconds is None:
            now = run.done
        else:
            now = min(seconds, self._bar.total)
            shown = f"{run.done:,} programs, {(run.done - run.before) / seconds:,.0f}/s, {shown}"
        self._bar.set_postfix_str(shown, refresh=False)
        self._bar.update(now - self._bar.n)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


class _Tries:
    """How many programs reducing one has run."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        tqdm = _tqdm(chosen.progress)
        self._bar = None
        if tqdm is not None:
            self._bar = tqdm(desc="reducing", unit=" tries", disable=False if chosen.progress else None, leave=False)

    def __enter__(self) -> _Tries:
        return self

    def show(self) -> None:
        if self._bar is not None:
            self._bar.update()

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
