"""The mutation gate: breaks vyre on purpose, one fault of ``faults.toml`` at a time, and asks whether the suite notices.

    python tests/mutation/gate.py                     every fault; exit status 1 unless all are caught
    python tests/mutation/gate.py --only ID [ID...]   some of them
    python tests/mutation/gate.py --since REV         what was caught at REV or later is not tried again
    python tests/mutation/gate.py --at REV            on another commit than the last one
    python tests/mutation/gate.py --working-tree      with what is not committed yet
    python tests/mutation/gate.py --list              no building: the list, checked against the tree

Everything happens in a copy of the tree below build/mutation, with a build folder of its own; the user's tree is only
read. The suites nearest to a fault run first, and the first failure ends its trial; a fault is called a survivor only
when every suite has passed. A run that was cut short goes on where it stopped: outcomes are kept by the fault's text
and by the sources that it was tried on.
"""  # noqa: E501

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import tomllib

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

try:
    from tqdm import tqdm
except ImportError:
    tqdm = None

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "tests/mutation/faults.toml"
WORK = ROOT / "build/mutation"
TREE, BUILD, LOGS = WORK / "tree", WORK / "build", WORK / "logs"
RESULTS, BASELINE = WORK / "results.jsonl", WORK / "baseline.json"

# What decides an outcome. The list itself does not: each fault's own text is part of its key.
SOURCES = ("cpp/", "python/", "tests/", "CMakeLists.txt", "pyproject.toml")
NOT_SOURCES = ("tests/mutation/", "tests/py/test_mutation_list.py")


class GateError(Exception):
    """Why no score can be given."""


# --- The list ---


@dataclass(frozen=True)
class Fault:
    """One deliberate fault.

    Attributes:
        id: its name, used once.
        file: what it changes, from the root of the repository.
        old: text that stands in the file exactly once.
        new: what takes its place.
        breaks: what is wrong then.
        by_compiler: whether it must not compile, because the sources state there what it breaks.
    """

    id: str
    file: str
    old: str
    new: str
    breaks: str
    by_compiler: bool = False

    def key(self) -> str:
        return hashlib.sha256(json.dumps([self.file, self.old, self.new]).encode()).hexdigest()[:16]

    def applied(self, text: str) -> str:
        """The file's text with the fault in it."""
        found = text.count(self.old)
        if found != 1:
            raise GateError(
                f"fault {self.id}: its old text occurs {found} times in {self.file}. "
                "Fix: the list is stale; bring `old` up to date, or replace the fault."
            )
        return text.replace(self.old, self.new)


def load(path: Path = LIST) -> list[Fault]:
    """The faults of the list, in its order."""
    faults = [Fault(**row) for row in tomllib.loads(path.read_text(encoding="utf-8"))["fault"]]
    seen: set[str] = set()
    for fault in faults:
        if fault.id in seen:
            raise GateError(f"fault {fault.id} stands in the list twice. Fix: rename one of them.")
        seen.add(fault.id)
    return faults


# --- The suites ---


@dataclass(frozen=True)
class Suite:
    name: str
    target: str  # what has to be built
    command: tuple[str, ...]
    part_of: str = ""  # the suite that holds these tests too

    def only(self, test: str) -> Suite:
        """One of its tests alone."""
        if self.is_gtest():
            command = (self.command[0], f"--gtest_filter={test}")
        else:
            command = (*self.command[: self.command.index("--")], "--", test)
        return replace(self, command=command)

    def without(self, test: str) -> Suite:
        """All of its tests but one."""
        if self.is_gtest():
            option, filter = self.command[-1].split("=", 1)
            filter += (":" if "-" in filter else "-") + test
            return replace(self, command=(*self.command[:-1], f"{option}={filter}"))
        at = self.command.index("--")
        return replace(self, command=(*self.command[:at], f"--deselect={test}", *self.command[at:]))

    def is_gtest(self) -> bool:
        return self.target != "_core"


def _gtest(name: str, layer: str, filter: str = "*") -> Suite:
    target = f"vyre_{layer}_tests"
    return Suite(name, target, (str(BUILD / "tests/cpp" / target), "--gtest_fail_fast", f"--gtest_filter={filter}"))


def _pytest(name: str, *arguments: str, without: tuple[str, ...] = (), part_of: str = "") -> Suite:
    # Random tests take one seed, so that a score is the same twice. Not -v: doctest finds that in sys.argv and talks.
    fixed = ("-x", "--verbosity=1", "--tb=short", "-p", "no:cacheprovider", "--hypothesis-seed=0")
    # This one cannot pass while a fault is in the tree.
    ignored = (f"--ignore={path}" for path in ("tests/py/test_mutation_list.py", *without))
    return Suite(name, "_core", (sys.executable, "-m", "pytest", *fixed, *ignored, "--", *arguments), part_of)


def _tests(pattern: str) -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests/py").glob(pattern))


SUITES = {
    suite.name: suite
    for suite in (
        _gtest("base", "base"),
        _gtest("lower", "lower"),
        _gtest("ops", "ops"),
        _gtest("validate", "validate"),
        _gtest("emit", "emit"),
        _gtest("transform", "transform"),
        _gtest("run", "run", "-*Vulkan*:PipelineFile*:UnfitDevices*:EveryFunction*"),
        _gtest("ir", "ir"),
        _gtest("fuzz_programs", "fuzz_programs"),
        _gtest("vulkan", "run", "*Vulkan*:PipelineFile*:UnfitDevices*"),
        _gtest("vulkan-failures", "run", "EveryFunction*"),
        _gtest("corpus", "corpus"),
        _gtest("memory", "memory"),
        _gtest("threads", "threads"),
        _gtest("vulkan-memory", "vulkan_memory"),
        # Last: minutes, where the others take seconds.
        _pytest("python", "tests/py", "python/vyre"),
        _pytest("proofs", "tests/py/test_proofs.py", part_of="python"),
        _pytest("wgsl", "tests/py/conformance/test_wgsl.py", part_of="python"),
        _pytest("ptx", "tests/py/conformance/test_ptx.py", part_of="python"),
        _pytest("std", "tests/py/std", part_of="python"),
        _pytest("html", "tests/py/test_html.py", part_of="python"),
        _pytest("kernels", *_tests("test_kernel*.py"), part_of="python"),
        _pytest("procedures", *_tests("test_procedure*.py"), part_of="python"),
        _pytest(
            "python-api",
            "tests/py",
            "python/vyre/_run.py",
            "python/vyre/ops.py",
            "python/vyre/errors.py",
            without=("tests/py/conformance", "tests/py/test_scale.py", "tests/py/test_notebooks.py"),
            part_of="python",
        ),
    )
}

# By the beginning of a fault's file, the suites that come first; the others follow in the order above, each test once.
NEAREST = {
    "cpp/vyre/base/": ("base", "ir", "memory"),
    "cpp/vyre/ir/semantics.hpp": ("ir", "ops", "run"),
    "cpp/vyre/ir/": ("ir", "ops", "run"),
    "cpp/vyre/ops/": ("ops",),
    "cpp/vyre/validate/": ("validate",),
    "cpp/vyre/transform/rewrites.def": ("transform", "proofs"),
    "cpp/vyre/transform/": ("transform",),
    "cpp/vyre/lower/": ("lower", "emit", "vulkan"),
    "cpp/vyre/emit/wgsl/": ("emit", "wgsl"),
    "cpp/vyre/emit/ptx/": ("emit", "ptx"),
    "cpp/vyre/emit/": ("emit", "vulkan"),
    "cpp/vyre/run/cpu/": ("run", "memory", "threads"),
    "cpp/vyre/run/vulkan/": ("vulkan", "vulkan-failures"),
    "cpp/vyre/run/": ("run",),
    "cpp/vyre/fuzz/": ("fuzz_programs",),
    "cpp/bindings/": ("python-api",),
    "python/vyre/_html/": ("html", "python-api"),
    "python/vyre/std/": ("std", "python-api"),
    "python/vyre/_kernel/": ("kernels", "python-api"),
    "python/vyre/_procedure/": ("procedures", "std", "python-api"),
    "python/": ("python-api",),
}


def suites_for(file: str) -> list[Suite]:
    near = next((names for prefix, names in NEAREST.items() if file.startswith(prefix)), ())
    whole = [suite.name for suite in SUITES.values() if not suite.part_of]
    return [SUITES[name] for name in dict.fromkeys((*near, *whole))]


# --- Commands ---


def environment() -> dict[str, str]:
    # Of the copy, and nothing of the user's: no module, no cache; no bytecode, which a quick change would not outdate.
    return {
        **os.environ,
        "PYTHONPATH": str(TREE / "python"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "VYRE_CACHE_DIR": str(WORK / "cache"),
        "VYRE_SEED": "1",
    }


@dataclass(frozen=True)
class Ran:
    status: int | None  # None: it ran out of time
    output: str
    seconds: float


def execute(command: tuple[str, ...], timeout: float | None = None) -> Ran:
    start = time.monotonic()
    # A session of its own, so that whatever it starts ends with it.
    process = subprocess.Popen(
        command,
        cwd=TREE,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=timeout)
        status: int | None = process.returncode
    except subprocess.TimeoutExpired:
        _end(process)
        output, _ = process.communicate()
        status = None
    except BaseException:
        _end(process)
        raise
    return Ran(status, output.decode(errors="replace"), time.monotonic() - start)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def git(*arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True).stdout


# --- The copy of the tree ---


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


def copy_tree(files: dict[str, tuple[bytes, int]]) -> None:
    """Makes the copy equal to `files`, and touches only what differs, so that little is built again."""
    known = WORK / "tree.json"
    before = json.loads(known.read_text()) if known.exists() else []
    for name in {*before} - {*files}:
        (TREE / name).unlink(missing_ok=True)
    for name, (content, mode) in files.items():
        file = TREE / name
        if not file.is_file() or file.read_bytes() != content:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        file.chmod(mode)
    known.write_text(json.dumps(sorted(files)))


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


def failed_test(suite: Suite, output: str) -> str:
    """The test that failed, or was running when everything ended."""
    if suite.is_gtest():
        failed = re.findall(r"^\[  FAILED  \] ([^\s,]+)", output, re.MULTILINE)
        started = re.findall(r"^\[ RUN      \] (\S+)", output, re.MULTILINE)
        return failed[0] if failed else started[-1] if started else ""
    failed = re.findall(r"^(\S+\.py::.*?) +(?:FAILED|ERROR)\b", output, re.MULTILINE)
    failed += re.findall(r"^ERROR (\S+\.py)", output, re.MULTILINE)  # it could not even be imported
    started = re.findall(r"^(\S+\.py::.*?)(?: +(?:PASSED|SKIPPED|XFAIL).*)?$", output, re.MULTILINE)
    return (failed or started[-1:] or [""])[0].strip()


class Gate:
    def __init__(self, options: argparse.Namespace, files: dict[str, tuple[bytes, int]], say: Callable[[str], None]):
        self.jobs: int = options.jobs
        self.say = say
        self.tree = fingerprint(files)
        self.commit = git("rev-parse", options.at).decode().strip()
        self.usual: dict[str, float] = {}  # seconds of each suite that has passed without a fault
        if BASELINE.exists() and (before := json.loads(BASELINE.read_text()))["tree"] == self.tree:
            self.usual = before["seconds"]

    def configure(self) -> None:
        if (BUILD / "build.ninja").exists():
            return
        # Quick to build; the meaning is the same. What a fault leaves unused is no reason to refuse it.
        linker = ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld", "-DCMAKE_MODULE_LINKER_FLAGS=-fuse-ld=lld"]
        command = ["cmake", "-G", "Ninja", "-S", str(TREE), "-B", str(BUILD), "-DCMAKE_BUILD_TYPE=Mutation"]
        command += ["-DCMAKE_C_FLAGS_MUTATION=-O1", "-DCMAKE_CXX_FLAGS_MUTATION=-O1", "-DVYRE_WERROR=OFF"]
        command += ["-DVYRE_PYTHON=ON", "-DVYRE_PYTHON_INPLACE=ON", f"-DPython_EXECUTABLE={sys.executable}"]
        ran = execute((*command, *(linker if shutil.which("ld.lld") else [])))
        if ran.status != 0:
            shutil.rmtree(BUILD, ignore_errors=True)
            raise GateError(f"the copy could not be configured:\n{ran.output}")

    def build(self, target: str) -> Ran:
        return execute(("ninja", "-C", str(BUILD), "-j", str(self.jobs), target))

    def run(self, suite: Suite, log: str) -> Ran:
        shutil.rmtree(WORK / "cache", ignore_errors=True)
        # Generous: the machine may be busy, and a fault that makes a program endless is found all the same.
        usual = self.usual.get(suite.name)
        ran = execute(suite.command, None if usual is None else 60 + 5 * usual)
        (LOGS / f"{log}.log").write_text(f"{shlex.join(suite.command)}\n{ran.output}")
        return ran

    def failure(self, suite: Suite, log: str) -> tuple[str, str] | None:
        """How the suite fails, and at which test; None when it passes.

        A failure that the test does not repeat when it runs alone is no failure: a busy machine misses a time limit.
        """
        for _ in range(5):
            ran = self.run(suite, log)
            if ran.status == 0:
                return None
            test = failed_test(suite, ran.output)
            how = "time-out" if ran.status is None else "crash" if ran.status < 0 else "test"
            if how != "test" or not test:
                return how, test
            if self.run(suite.only(test), f"{log}-alone").status != 0:
                return how, test
            suite = suite.without(test)
        return how, test

    def baseline(self, suite: Suite) -> None:
        """The suite passes without a fault, or no failure would mean anything."""
        self.say(f"without a fault: {suite.name}")
        built = self.build(suite.target)
        if built.status != 0:
            raise GateError(f"the tree does not build without a fault:\n{built.output[-4000:]}")
        if not suite.is_gtest():
            self.check_module()
        start = time.monotonic()
        if (failure := self.failure(suite, f"baseline-{suite.name}")) is not None:
            raise GateError(
                f"suite {suite.name} fails without a fault: {' '.join(failure)}. "
                f"Fix: see build/mutation/logs/baseline-{suite.name}.log."
            )
        self.usual[suite.name] = time.monotonic() - start
        BASELINE.write_text(json.dumps({"tree": self.tree, "seconds": self.usual}))

    def check_module(self) -> None:
        ran = execute((sys.executable, "-c", "import vyre; print(vyre.__file__)"))
        if ran.output.strip() != str(TREE / "python/vyre/__init__.py"):
            raise GateError(f"Python tests would test another vyre: {ran.output.strip()}")

    def attempt(self, fault: Fault, hint: Outcome | None) -> Outcome:
        file = TREE / fault.file
        before = file.read_bytes()
        faulty = fault.applied(before.decode()).encode()
        start = time.monotonic()

        def outcome(how: str, suite: str = "", test: str = "") -> Outcome:
            seconds = round(time.monotonic() - start, 1)
            return Outcome(fault.id, fault.key(), self.tree, self.commit, how, suite, test, seconds)

        try:
            built: set[str] = set()
            for suite in self.trials(fault, hint):
                if suite.name not in self.usual:
                    file.write_bytes(before)
                    paused = time.monotonic()
                    self.baseline(SUITES[suite.name])
                    start += time.monotonic() - paused
                    built.clear()
                if suite.target not in built:
                    if file.read_bytes() != faulty:
                        file.write_bytes(faulty)
                    ran = self.build(suite.target)
                    if ran.status != 0:
                        (LOGS / f"{fault.id}.log").write_text(ran.output)
                        if not fault.by_compiler:
                            return outcome("error", "does not compile")
                        error = re.search(r"error: (.*)", ran.output)
                        return outcome("compiler", error[1] if error else "")
                    built.add(suite.target)
                failure = self.failure(suite, fault.id)
                # Without a name, what failed may be that the test of the hint is gone.
                if failure is not None and (failure[1] or suite == SUITES[suite.name]):
                    return outcome(failure[0], suite.name, failure[1])
            return outcome("survived")
        finally:
            file.write_bytes(before)

    def trials(self, fault: Fault, hint: Outcome | None) -> Iterator[Suite]:
        # What caught it before, and passes without it, is the quickest way to catch it again.
        if hint is not None and hint.killed and hint.test and hint.suite in SUITES:
            yield SUITES[hint.suite].only(hint.test)
        yield from suites_for(fault.file)


def read_results() -> list[Outcome]:
    if not RESULTS.exists():
        return []
    return [Outcome(**json.loads(line)) for line in RESULTS.read_text().splitlines()]


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
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="how many compilers at once")
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

    def say(text: str) -> None:
        if bar:
            bar.set_postfix_str(text)
        else:
            print(text, flush=True)

    copy_tree(files)
    gate = Gate(options, files, say)
    known = read_results()
    latest = {outcome.key: outcome for outcome in known}
    recent = commits_between(options.since, options.at) if options.since else set()
    done = {
        o.key: o
        for o in known
        if not options.again and o.how != "error" and (o.tree == gate.tree or (o.killed and o.commit in recent))
    }
    outcomes: list[Outcome] = []
    try:
        if any(fault.key() not in done for fault in faults):
            gate.configure()
        for fault in faults:
            outcome = done.get(fault.key())
            if outcome is None:
                say(fault.id)
                outcome = gate.attempt(fault, latest.get(fault.key()))
                with RESULTS.open("a") as results:
                    results.write(json.dumps(asdict(outcome)) + "\n")
                if not outcome.killed:
                    write(f"{fault.id}: {outcome.by()} ({fault.breaks})")
            outcomes.append(outcome)
            if bar:
                bar.update()
    except KeyboardInterrupt:
        write("interrupted: run it again to go on from here")
        return 130
    finally:
        if bar:
            bar.close()

    print(table(outcomes))
    survivors = [fault for fault, outcome in zip(faults, outcomes, strict=True) if not outcome.killed]
    for fault in survivors:
        print(f"\nnot caught: {fault.id} ({fault.file})\n  {fault.breaks}")
    print(score(outcomes))
    return 1 if survivors else 0


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
