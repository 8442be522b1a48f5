"""The mutation gate: breaks vyre on purpose, one fault of ``faults.toml`` at a time, and asks whether the suite notices.

    python tests/mutation/gate.py                     every fault; exit status 1 unless all are caught
    python tests/mutation/gate.py --only ID [ID...]   some of them
    python tests/mutation/gate.py --since REV         what was caught at REV or later is not tried again
    python tests/mutation/gate.py --at REV            on another commit than the last one
    python tests/mutation/gate.py --working-tree      with what is not committed yet
    python tests/mutation/gate.py --list              no building: the list, checked against the tree
    python tests/mutation/gate.py --jobs N            so many faults at once (default: one a processor)
    python tests/mutation/gate.py --record            write down in caught_by.json which test caught each fault

Faults are tried in copies of the tree below build/mutation, as many as there are jobs, each with a build folder of its
own. The copies share what ccache has compiled, and the user's tree is only read. The test that caught a fault in an
earlier run comes first, and counts if it passes once the fault is taken out again. Without such a test, the suites
nearest to the fault run first, and the first failure ends its trial; a fault is called a survivor only when every suite
has passed. A run that was cut short goes on where it stopped: outcomes are kept in build/mutation/results.jsonl by the
fault's text and by the sources that it was tried on.
"""  # noqa: E501

from __future__ import annotations

import argparse
import fcntl
import hashlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import threading
import time
from collections import deque
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from copies import LOGS, WORK, Copy, Processes
from faults import ROOT, Fault, GateError, load
from suites import OWN_TESTS, SUITES, Suite, failed_test, suites_for

if TYPE_CHECKING:
    from collections.abc import Callable

try:
    from tqdm import tqdm
except ImportError:
    tqdm = None

# By fault, the suite and the test that caught it last. It only decides what is tried first.
CAUGHT_BY = ROOT / "tests/mutation/caught_by.json"
RESULTS, BASELINE = WORK / "results.jsonl", WORK / "baseline.json"

# Seconds that one test may take, which is several times what the slowest takes. If the test of a hint takes longer
# without the fault too, it is no hint.
TEST_LIMIT = 300

# What decides an outcome. The list itself does not: each fault's own text is part of its key.
SOURCES = ("cpp/", "python/", "tests/", "CMakeLists.txt", "pyproject.toml")
NOT_SOURCES = ("tests/mutation/", *OWN_TESTS)


def git(*arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True).stdout


# --- Copies of the tree ---


def committed(revision: str) -> dict[str, tuple[bytes, int]]:
    """Path -> content and mode of every file of a commit."""
    files = {}
    with tarfile.open(fileobj=io.BytesIO(git("archive", revision))) as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is not None:
                files[member.name] = (content.read(), member.mode)
    return files


def present() -> dict[str, tuple[bytes, int]]:
    """The same of the working tree, with what is not committed and not ignored."""
    names = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").decode().split("\0")
    files = [ROOT / name for name in names if name and (ROOT / name).is_file()]
    return {str(file.relative_to(ROOT)): (file.read_bytes(), file.stat().st_mode & 0o777) for file in files}


def fingerprint(files: dict[str, tuple[bytes, int]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(files):
        if name.startswith(SOURCES) and not name.startswith(NOT_SOURCES):
            digest.update(f"{name}\0{hashlib.sha256(files[name][0]).hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


# --- Trials ---


@dataclass(frozen=True)
class Outcome:
    fault: str
    key: str  # of the fault's text
    tree: str  # the fingerprint of what it was tried on
    commit: str
    how: str  # "test", "crash", "time-out", "compiler", "survived" or "error"
    suite: str
    test: str
    seconds: float

    @property
    def killed(self) -> bool:
        return self.how in ("test", "crash", "time-out", "compiler")

    def by(self) -> str:
        shown = f"{self.suite}: {self.test}" if self.test else self.suite
        return shown if self.how == "test" else f"{self.how}, {shown}" if shown else self.how


class Gate:
    """Judges faults, on several threads at once, each of which brings a copy."""

    def __init__(self, tree: str, commit: str, say: Callable[[str], None]):
        self.tree, self.commit, self.say = tree, commit, say
        self.one_baseline = {name: threading.Lock() for name in SUITES}
        self.writing = threading.Lock()  # the times of all suites
        self.usual: dict[str, float] = {}  # seconds of each suite that has passed without a fault
        if BASELINE.exists() and (before := json.loads(BASELINE.read_text()))["tree"] == self.tree:
            self.usual = before["seconds"]

    def attempt(self, copy: Copy, fault: Fault, hint: tuple[str, str] | None) -> Outcome:
        start = time.monotonic()
        copy.baselines = 0.0
        try:
            found = self.by_hint(copy, fault, hint) if hint else None
            how, suite, test = found or self.by_suites(copy, fault)
        finally:
            copy.take_out()
        seconds = round(time.monotonic() - start - copy.baselines, 1)
        return Outcome(fault.id, fault.key(), self.tree, self.commit, how, suite, test, seconds)

    def by_hint(self, copy: Copy, fault: Fault, hint: tuple[str, str]) -> tuple[str, str, str] | None:
        """The outcome if a test fails with the fault and passes without it. It may be gone, or pass by now."""
        suite, test = SUITES[hint[0]], hint[1]
        copy.put_in(fault)
        if (refused := self.refused(copy, fault, suite)) is not None:
            return refused
        ran = copy.run(suite.only(test), fault.id, TEST_LIMIT)
        if ran.status == 0:
            return None
        # Where the hint names several tests, the one that failed must do so alone too: they may have run out of time.
        if (failed := failed_test(suite, ran.output) or test) != test:
            return self.by_hint(copy, fault, (suite.name, failed))
        copy.make_without_a_fault(suite.target)
        if copy.run(suite.only(test), f"{fault.id}-without", TEST_LIMIT).status != 0:
            return None
        return ran.how(), suite.name, test

    def by_suites(self, copy: Copy, fault: Fault) -> tuple[str, str, str]:
        for suite in suites_for(fault.file):
            self.baseline(copy, suite)
            copy.put_in(fault)
            if (refused := self.refused(copy, fault, suite)) is not None:
                return refused
            if (failure := self.failure(copy, suite, fault.id)) is not None:
                return failure[0], suite.name, failure[1]
        return "survived", "", ""

    def refused(self, copy: Copy, fault: Fault, suite: Suite) -> tuple[str, str, str] | None:
        """The outcome if what the suite tests does not compile."""
        ran = copy.make(suite.target)
        if ran.status == 0:
            return None
        (LOGS / f"{fault.id}.log").write_text(ran.output)
        if not fault.by_compiler:
            return "error", "does not compile", ""
        error = re.search(r"error: (.*)", ran.output)
        return "compiler", error[1] if error else "", ""

    def failure(self, copy: Copy, suite: Suite, log: str) -> tuple[str, str] | None:
        """How the suite fails, and at which test; None when it passes.

        A failure that the test does not repeat when it runs alone is no failure: a busy machine misses a time limit.
        """
        # Generous: other faults are tried meanwhile, and one that makes a program endless is found all the same.
        usual = self.usual.get(suite.name)
        limit = None if usual is None else 60 + 5 * usual
        for _ in range(5):
            ran = copy.run(suite, log, limit)
            if ran.status == 0:
                return None
            test = failed_test(suite, ran.output)
            if ran.how() == "crash" or not test:
                break
            if copy.run(suite.only(test), f"{log}-alone", limit and min(limit, TEST_LIMIT)).status != 0:
                break
            suite = suite.without(test)
        return ran.how(), test

    def baseline(self, copy: Copy, suite: Suite) -> None:
        """The suite passes without a fault, or no failure would mean anything. One thread finds that out for all."""
        start = time.monotonic()
        with self.one_baseline[suite.name]:
            if suite.name in self.usual:
                copy.baselines += time.monotonic() - start
                return
            self.say(f"without a fault: {suite.name}")
            copy.make_without_a_fault(suite.target)
            built = time.monotonic()
            if (failure := self.failure(copy, suite, f"baseline-{suite.name}")) is not None:
                raise GateError(
                    f"suite {suite.name} fails without a fault: {' '.join(failure)}. "
                    f"Fix: see build/mutation/logs/baseline-{suite.name}.log."
                )
            with self.writing:
                self.usual[suite.name] = time.monotonic() - built
                BASELINE.write_text(json.dumps({"tree": self.tree, "seconds": self.usual}))
        copy.baselines += time.monotonic() - start


def read_results() -> list[Outcome]:
    if not RESULTS.exists():
        return []
    return [Outcome(**json.loads(line)) for line in RESULTS.read_text().splitlines()]


def hints(known: list[Outcome]) -> dict[str, tuple[str, str]]:
    """By fault, the suite and the test that caught it last: here, or where caught_by.json was written."""
    found = {fault: (suite, test) for fault, (suite, test) in json.loads(CAUGHT_BY.read_text()).items()}
    found.update((outcome.fault, (outcome.suite, outcome.test)) for outcome in known if outcome.killed and outcome.test)
    return {fault: (suite, test) for fault, (suite, test) in found.items() if suite in SUITES}


def record(faults: list[Fault], outcomes: list[Outcome]) -> None:
    """Writes down what caught each fault of the list, a line each."""
    known = hints(outcomes)
    lines = [
        f"{json.dumps(name)}: {json.dumps(known[name])}"
        for name in sorted(fault.id for fault in faults)
        if name in known
    ]
    CAUGHT_BY.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def in_order(faults: list[Fault]) -> list[Fault]:
    """Headers and tables first: they take longest to compile, and no job should be left with one at the end."""
    return sorted(faults, key=lambda fault: not fault.file.endswith((".hpp", ".def", ".inc")))


def commits_between(revision: str, last: str) -> set[str]:
    commits = git("rev-list", f"{revision}..{last}").decode().split()
    return {*commits, git("rev-parse", revision).decode().strip()}


def table(outcomes: list[Outcome]) -> str:
    width = max((len(outcome.fault) for outcome in outcomes), default=5)
    rows = [f"{'fault':{width}}  seconds  caught by"]
    for outcome in outcomes:
        by = outcome.by() if outcome.killed else f"-- {outcome.by()} --"
        rows.append(f"{outcome.fault:{width}}  {outcome.seconds:7.1f}  {by}")
    return "\n".join(rows)


def score(outcomes: list[Outcome]) -> str:
    killed = sum(outcome.killed for outcome in outcomes)
    percent = 100 * killed / len(outcomes) if outcomes else 0
    return f"{killed} of {len(outcomes)} faults caught: {percent:.1f} %, {sum(o.seconds for o in outcomes):.0f} s"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Break vyre on purpose and see whether the suite notices.")
    parser.add_argument("--only", nargs="+", metavar="ID", help="these faults alone; ID* stands for all that begin so")
    parser.add_argument("--since", metavar="REV", help="do not try again what was caught at this commit or later")
    parser.add_argument("--again", action="store_true", help="try also what was tried on this tree before")
    parser.add_argument("--at", metavar="REV", default="HEAD", help="the commit to try the faults on")
    parser.add_argument("--working-tree", action="store_true", help="with what is not committed yet")
    parser.add_argument("--list", action="store_true", help="show the list and check it, without building")
    parser.add_argument("--record", action="store_true", help="write down in caught_by.json what caught each fault")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="how many faults at once")
    options = parser.parse_args(arguments)

    faults = load()
    if options.only:
        for pattern in options.only:
            if not any(fnmatchcase(fault.id, pattern) for fault in faults):
                raise GateError(f"there is no fault {pattern}. Fix: see --list.")
        faults = [fault for fault in faults if any(fnmatchcase(fault.id, pattern) for pattern in options.only)]
    files = present() if options.working_tree else committed(options.at)
    for fault in faults:
        if fault.file not in files:
            raise GateError(f"fault {fault.id}: there is no file {fault.file}. Fix: the list is stale.")
        fault.applied(files[fault.file][0].decode())
    if options.list:
        for fault in faults:
            print(f"{fault.id:34} {fault.file}: {fault.breaks}")
        print(f"{len(faults)} faults")
        return 0

    WORK.mkdir(parents=True, exist_ok=True)
    LOGS.mkdir(exist_ok=True)
    with (WORK / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise GateError("another run is at work in build/mutation. Fix: wait for it.") from None
        return try_all(faults, files, options)


def try_all(faults: list[Fault], files: dict[str, tuple[bytes, int]], options: argparse.Namespace) -> int:
    bar = tqdm(total=len(faults), unit="fault", dynamic_ncols=True) if tqdm and sys.stderr.isatty() else None
    write = bar.write if bar else lambda text: print(text, flush=True)
    gate = Gate(fingerprint(files), git("rev-parse", options.at).decode().strip(), write)
    known = read_results()
    recent = commits_between(options.since, options.at) if options.since else set()
    done = {
        o.key: o
        for o in known
        if not options.again and o.how != "error" and (o.tree == gate.tree or (o.killed and o.commit in recent))
    }
    todo = in_order([fault for fault in faults if fault.key() not in done])
    if bar:
        bar.update(len(faults) - len(todo))

    def tell(fault: Fault, outcome: Outcome) -> None:
        done[fault.key()] = outcome
        with RESULTS.open("a") as results:
            results.write(json.dumps(asdict(outcome)) + "\n")
        if not outcome.killed:
            write(f"{fault.id}: {outcome.by()} ({fault.breaks})")
        elif not bar:
            write(f"{fault.id}: {outcome.by()}, {outcome.seconds} s")
        if bar:
            bar.update()

    try:
        if todo:
            try_in_copies(gate, todo, hints(known), files, options.jobs, tell)
    except KeyboardInterrupt:
        write("interrupted: run it again to go on from here")
        return 130
    finally:
        if bar:
            bar.close()

    outcomes = [done[fault.key()] for fault in faults]
    print(table(outcomes))
    survivors = [fault for fault, outcome in zip(faults, outcomes, strict=True) if not outcome.killed]
    for fault in survivors:
        print(f"\nnot caught: {fault.id} ({fault.file})\n  {fault.breaks}")
    print(score(outcomes))
    if options.record:
        record(load(), outcomes)
    return 1 if survivors else 0


def try_in_copies(
    gate: Gate,
    faults: list[Fault],
    hints: dict[str, tuple[str, str]],
    files: dict[str, tuple[bytes, int]],
    jobs: int,
    tell: Callable[[Fault, Outcome], None],
) -> None:
    """Tries each fault in whichever copy is free."""
    processes, lock = Processes(), threading.Lock()
    processors = os.cpu_count() or 1
    copies = [Copy(number, -(-processors // jobs), processes) for number in range(min(jobs, len(faults)))]
    left = deque(faults)
    targets = {SUITES[hints[fault.id][0]].target for fault in faults if fault.id in hints}
    if any(fault.id not in hints for fault in faults):
        targets = {suite.target for suite in SUITES.values()}

    def prepare(copy: Copy) -> None:
        copy.fill(files)
        copy.configure()

    def build(copy: Copy) -> None:
        gate.say("without a fault: the build")
        copy.make_without_a_fault(*sorted(targets))

    def work(copy: Copy) -> None:
        while True:
            with lock:
                if not left:
                    return
                fault = left.popleft()
            outcome = gate.attempt(copy, fault, hints.get(fault.id))
            with lock:
                tell(fault, outcome)

    with ThreadPoolExecutor(len(copies)) as pool:

        def on_each(do: Callable[[Copy], None], of: list[Copy]) -> None:
            for future in wait([pool.submit(do, copy) for copy in of], return_when=FIRST_EXCEPTION).done:
                future.result()

        try:
            on_each(prepare, copies)
            # The first build, by all processors, fills the compiler cache from which the others take their objects.
            on_each(build, [Copy(0, processors, processes)])
            on_each(work, copies)
        except BaseException:
            processes.stop()
            raise


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    for ended_by in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ended_by, interrupt)
    try:
        sys.exit(main())
    except GateError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
