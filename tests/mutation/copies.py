"""Copies of the tree, in which faults are tried side by side, and the commands that run there."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faults import ROOT, Fault, GateError

if TYPE_CHECKING:
    from pathlib import Path

    from suites import Suite

WORK = ROOT / "build/mutation"
LOGS = WORK / "logs"


@dataclass(frozen=True)
class Ran:
    status: int | None  # None: it ran out of time
    output: str
    seconds: float

    def how(self) -> str:
        return "time-out" if self.status is None else "crash" if self.status < 0 else "test"


class Stopped(Exception):
    """The gate ends, because of an interruption or of a failure elsewhere."""


class Processes:
    """What runs at present, on all threads, so that it can be ended."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.running: set[subprocess.Popen[bytes]] = set()
        self.stopped = False

    def execute(self, command: tuple[str, ...], folder: Path, environment: dict[str, str], limit: float | None) -> Ran:
        start = time.monotonic()
        with self.lock:
            if self.stopped:
                raise Stopped
            # A session of its own, so that whatever it starts ends with it.
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self.running.add(process)
        try:
            output, _ = process.communicate(timeout=limit)
            status: int | None = process.returncode
        except subprocess.TimeoutExpired:
            _end(process)
            output, _ = process.communicate()
            status = None
        finally:
            with self.lock:
                self.running.discard(process)
        if self.stopped:
            raise Stopped
        return Ran(status, output.decode(errors="replace"), time.monotonic() - start)

    def stop(self) -> None:
        with self.lock:
            self.stopped = True
            for process in self.running:
                _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


class Copy:
    """A copy of the tree, with a build folder of its own, in which one fault at a time is tried."""

    def __init__(self, number: int, compilers: int, processes: Processes):
        self.home = WORK / str(number)
        self.tree, self.build, self.cache = self.home / "tree", self.home / "build", self.home / "cache"
        self.compilers = compilers  # at once
        self.processes = processes
        self.original: tuple[Path, bytes] | None = None  # the file with a fault, and its text without it
        self.baselines = 0.0  # seconds of the present trial in which suites ran without the fault
        self.checked = False  # whether Python is known to find the module of this copy

    def environment(self) -> dict[str, str]:
        # The module and the cache are the copy's, not the user's. Python writes no bytecode, which a quick change would
        # not outdate. Paths below the base are the same for ccache in every copy.
        return {
            **os.environ,
            "PYTHONPATH": str(self.tree / "python"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "VYRE_CACHE_DIR": str(self.cache),
            "VYRE_SEED": "1",
            "CCACHE_BASEDIR": str(self.home),
        }

    def execute(self, command: tuple[str, ...], limit: float | None = None) -> Ran:
        return self.processes.execute(command, self.tree, self.environment(), limit)

    def fill(self, files: dict[str, tuple[bytes, int]]) -> None:
        """Makes the copy equal to `files`, and touches only what differs, so that little is built again."""
        self.tree.mkdir(parents=True, exist_ok=True)
        known = self.home / "tree.json"
        before = json.loads(known.read_text()) if known.exists() else []
        for name in {*before} - {*files}:
            (self.tree / name).unlink(missing_ok=True)
        for name, (content, mode) in files.items():
            file = self.tree / name
            if not file.is_file() or file.read_bytes() != content:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
            file.chmod(mode)
        known.write_text(json.dumps(sorted(files)))

    def configure(self) -> None:
        if (self.build / "build.ninja").exists():
            return
        # Quick to build; the meaning is the same. What a fault leaves unused is no reason to refuse it.
        linker = ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld", "-DCMAKE_MODULE_LINKER_FLAGS=-fuse-ld=lld"]
        command = ["cmake", "-G", "Ninja", "-S", str(self.tree), "-B", str(self.build), "-DCMAKE_BUILD_TYPE=Mutation"]
        command += ["-DCMAKE_C_FLAGS_MUTATION=-O1", "-DCMAKE_CXX_FLAGS_MUTATION=-O1", "-DVYRE_WERROR=OFF"]
        command += ["-DVYRE_PYTHON=ON", "-DVYRE_PYTHON_INPLACE=ON", f"-DPython_EXECUTABLE={sys.executable}"]
        ran = self.execute((*command, *(linker if shutil.which("ld.lld") else [])))
        if ran.status != 0:
            shutil.rmtree(self.build, ignore_errors=True)
            raise GateError(f"the copy could not be configured:\n{ran.output}")

    def make(self, *targets: str) -> Ran:
        return self.execute(("ninja", "-C", str(self.build), "-j", str(self.compilers), *targets))

    def make_without_a_fault(self, *targets: str) -> None:
        self.take_out()
        ran = self.make(*targets)
        if ran.status != 0:
            raise GateError(f"the tree does not build without a fault:\n{ran.output[-4000:]}")
        if "_core" in targets and not self.checked:
            ran = self.execute((sys.executable, "-c", "import vyre; print(vyre.__file__)"))
            if ran.output.strip() != str(self.tree / "python/vyre/__init__.py"):
                raise GateError(f"Python tests would test another vyre: {ran.output.strip()}")
            self.checked = True

    def run(self, suite: Suite, log: str, limit: float | None) -> Ran:
        shutil.rmtree(self.cache, ignore_errors=True)
        ran = self.execute(suite.command, limit)
        (LOGS / f"{log}.log").write_text(f"{shlex.join(suite.command)}\n{ran.output}")
        return ran

    def put_in(self, fault: Fault) -> None:
        if self.original is not None:
            return
        file = self.tree / fault.file
        self.original = file, file.read_bytes()
        file.write_text(fault.applied(self.original[1].decode()), encoding="utf-8")

    def take_out(self) -> None:
        if self.original is not None:
            file, text = self.original
            file.write_bytes(text)
            self.original = None
