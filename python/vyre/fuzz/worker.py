"""A process that runs programs, so that a driver that crashes or hangs takes nothing else with it.

``python -m vyre.fuzz.worker CONNECTION PROGRESS`` is the process; Worker is the end of it that asks. The process opens
no device: a child of it does, and when that one ends it forks another, which is at work in no time. Standard output is
left to drivers, which write there.
"""

from __future__ import annotations

import importlib
import mmap
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict
from multiprocessing.connection import Connection, Pipe
from typing import TYPE_CHECKING, Any

import vyre
from vyre import _core
from vyre._base.refused import no_place
from vyre._default import check_backend
from vyre.fuzz.case import Case
from vyre.fuzz.compare import IN_PYTHON, Judgement, Way, judge
from vyre.fuzz.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

# Programs that run once would push programs that run often out of the caches of compiled pipelines.
_NO_CACHES = {"VYRE_CACHE_DIR": os.devnull, "MESA_SHADER_CACHE_DISABLE": "true", "__GL_SHADER_DISK_CACHE": "0"}


# The name of the run that replaces the ways in a checked sweep.
CHECKED = "checked execution"
# The first word of a message.
_ANSWER, _RAISED, _ENDED = "answer", "raised", "ended"
# The question after which a process ends with this status, so that another one answers the next question.
_RENEW, _RENEWED = "renew", 3
# A run and a checked run import these when they begin; without this each of many children would.
_FOR_CHILDREN = ("numpy.ma", "vyre._tools.check")
# The word of the shared memory that holds the child's process id, behind the two of a sweep.
_CHILD = 2


class WorkerEndedError(Exception):
    """The process crashed, or was ended because nothing moved any more.

    Attributes:
        kind: "crashed" or "hung".
        run: what it was at: 1 for what the ways are compared with, k + 2 for ``ways[k]``, 0 before the first run.
        seed: of a sweep.
        said: the end of what it wrote to its standard error.
    """

    kind: str
    seed: int
    run: int
    said: str

    def __init__(self, kind: str, message: str, seed: int, run: int, said: str) -> None:
        super().__init__(message)
        self.kind, self.seed, self.run, self.said = kind, seed, run, said


class Worker:
    """The asking end. One question at a time: ``send`` it, wait until ``connection`` is readable, then ``receive``.

    After a WorkerEndedError the next question goes to a fresh process.
    """

    def __init__(self, patience: float) -> None:
        """Start a process; ``patience`` is how many seconds one run may take."""
        self._patience = patience
        memory = os.memfd_create("vyre-fuzz")
        os.ftruncate(memory, mmap.PAGESIZE)
        self._progress = mmap.mmap(memory, mmap.PAGESIZE)
        mine, theirs = Pipe()
        self.connection: Connection = mine
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "vyre.fuzz.worker", str(theirs.fileno()), str(memory)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            pass_fds=(theirs.fileno(), memory),
            env={**os.environ, **_NO_CACHES, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            start_new_session=True,  # Ctrl-C is for the process that asks
        )
        theirs.close()
        os.close(memory)
        self._seen, self._since = (0, 0), time.monotonic()

    def send(self, question: str, *arguments: Any) -> None:
        """Ask one of _QUESTIONS."""
        self._progress[:16] = bytes(16)
        self._seen, self._since = (0, 0), time.monotonic()
        with suppress(BrokenPipeError, ConnectionResetError):  # receive() says it
            self.connection.send((question, arguments))

    def receive(self) -> Any:
        """The answer, which is there or is about to be. Raises what the function raised, or WorkerEndedError."""
        try:
            what, answer = self.connection.recv()
        except (EOFError, ConnectionResetError):
            raise self._ended("crashed", "the process could not be started") from None
        if what == _ENDED:
            raise self._ended("crashed", answer)
        if what == _RAISED:
            raise answer
        return answer

    def ask(self, question: str, *arguments: Any) -> Any:
        """Send, wait and receive."""
        self.send(question, *arguments)
        while not self.connection.poll(0.2):
            self.check()
        return self.receive()

    def check(self) -> None:
        """Raises WorkerEndedError, and ends the process, when nothing moved for longer than the patience."""
        now, child = (self._word(0), self._word(1)), self._word(_CHILD)
        if now != self._seen or not child:  # a process that is still starting runs nothing
            self._seen, self._since = now, time.monotonic()
        elif time.monotonic() - self._since > self._patience and not self.connection.poll():
            os.kill(child, signal.SIGKILL)
            while self.connection.recv()[0] != _ENDED:
                pass  # it answered while it was being ended
            raise self._ended("hung", f"nothing moved for {self._patience:g} s")

    def renew(self) -> None:
        """Have the next question answered by a fresh process, which remembers nothing of the questions before."""
        self.ask(_RENEW)

    def close(self) -> None:
        """End the process, even if it is busy."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self.connection.close()
        self._progress.close()
        self._errors.close()

    def _word(self, index: int) -> int:
        return int.from_bytes(self._progress[8 * index : 8 * index + 8], "little")

    def _ended(self, kind: str, message: str) -> WorkerEndedError:
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - 4000))
        said = self._errors.read().decode("utf-8", "replace").strip()
        return WorkerEndedError(kind, message, self._word(0), self._word(1), said)


def _describe(ways: list[Way], progress: mmap.mmap) -> str:
    """The devices of the ways, in words. Raises CapabilityError or ArgumentError where one does not work here."""
    found: dict[str, None] = {}
    for way in ways:
        if way.in_python:
            found[_describe_function(way)] = None
            continue
        if way.backend not in vyre.backends():
            check_backend(way.backend, "argument `backend` of a vyre.fuzz.Way", IN_PYTHON)
            reasons = vyre.backends().unavailable()[way.backend]
            raise vyre.CapabilityError(f"backend `{way.backend}` does not work here: {' '.join(reasons)}")
        devices = [device for device in vyre.devices() if device.backend == way.backend]
        if not devices:
            if way.device:
                raise no_place(f"device {way.device}", f"with backend `{way.backend}`")
            found[way.backend] = None
            continue
        chosen = next((d for d in devices if (d.default if way.device is None else d.index == way.device)), None)
        if chosen is None:
            raise vyre.ArgumentError(
                f"device {way.device} of backend `{way.backend}` does not exist. Fix: use one of `vyre devices`."
            )
        if not chosen.usable:
            raise vyre.CapabilityError(f"device `{chosen.name}` is not usable: {' '.join(chosen.reasons)}")
        found[f"{way.backend}: {chosen.name}, {chosen.driver}"] = None
    return "; ".join(found)


def _describe_function(way: Way) -> str:
    if way.backend != "wgsl":
        way.function()
        return way.backend
    from vyre.fuzz import wgsl

    if way.device is not None:
        raise no_place(f"device {way.device}", "with backend `wgsl`")
    return f"wgsl: {wgsl.describe()}"


def _sweep(
    first: int,
    count: int,
    seconds: float,
    ways: list[Way],
    settings: Settings,
    against: Way | None,
    progress: mmap.mmap,
) -> list[tuple[int, Judgement]]:
    """Programs of the seeds from ``first`` on: (hash of the program, judgement) of each; fewer when time is over."""
    if settings.procedures:
        return _sweep_procedures(first, count, seconds, ways, settings, progress)
    how = asdict(settings)
    del how["procedures"]
    rewrites, checked, plant = how.pop("rewrites"), how.pop("checked"), how.pop("plant")
    if checked:
        del how["independent"]  # what is planted needs invocations that meet
        found = _core._fuzz_sweep_checked(first, count, seconds, **how, plant=plant, progress=progress)
        return [
            (hash, Judgement("misjudged", CHECKED, wrong) if wrong else Judgement("agrees")) for hash, wrong in found
        ]
    if not any(way.in_python for way in (*ways, *([against] if against else []))):
        native, other = [way._tuple() for way in ways], None if against is None else against._tuple()
        rows = _core._fuzz_sweep(
            first, count, seconds, native, **how, rewrites=rewrites, progress=progress, against=other
        )
        return [(row[0], Judgement(*row[1:])) for row in rows]
    result: list[tuple[int, Judgement]] = []
    end = time.monotonic() + seconds
    for seed in range(first, first + count):
        progress[:8] = seed.to_bytes(8, "little")
        case, tried = settings.case(seed)
        result.append(
            (_core._fuzz_hash(case.program), judge(case, ways, tried=tried, against=against, progress=progress))
        )
        if time.monotonic() > end:
            break
    return result


def _sweep_procedures(
    first: int, count: int, seconds: float, ways: list[Way], settings: Settings, progress: mmap.mmap
) -> list[tuple[int, Judgement]]:
    from vyre.fuzz.procedures import judge as judge_procedure

    result: list[tuple[int, Judgement]] = []
    end = time.monotonic() + seconds
    for seed in range(first, first + count):
        progress[:8] = seed.to_bytes(8, "little")
        case, _ = settings.case(seed)
        result.append((case.hash(), judge_procedure(case, ways, progress=progress)))
        if time.monotonic() > end:
            break
    return result


def _judge(
    case: Any, tried: Case | None, ways: list[Way], patience: float, against: Way | None, progress: mmap.mmap
) -> Judgement:
    if not isinstance(case, Case):
        from vyre.fuzz.procedures import judge as judge_procedure

        return judge_procedure(case, ways, progress=progress)
    return judge(case, ways, tried=tried, against=against, patience=patience, progress=progress)


def _has_one_answer(case: Case, way: Way, patience: float, progress: mmap.mmap) -> bool:
    """Whether the bytes are the same in every order: there is no race, and no order decides anything.

    Checked execution finishes one invocation up to its barrier before the next. The lanes of `cpu` take each step
    together, as a GPU does, unless it is the way in question.
    """
    checks = ("race", "order-dependence", "divergent-barrier")
    together = [] if way.backend == "cpu" else [Way("cpu"), Way("cpu", optimize=True)]
    try:
        return all(
            vyre.check(case.program, case.inputs(call=call), case.grid, checks=checks, max_reports=1).ok
            for call in range(len(case.calls))
        ) and bool(judge(case, together, patience=patience))
    except vyre.VyreError:
        return False


def _bisect_procedure(case: Any, call: int, way: Way) -> str | None:
    """Bisect a call of a procedure. Returns None for a function, which runs a procedure as a whole."""
    if way.in_python:
        return None
    how: dict[str, Any] = {"backend": way.backend, "optimize": way.optimize}
    if way.device is not None:
        how["device"] = way.device
    try:
        found = vyre.bisect(case.procedure, case.inputs(call), backend=how, against="reference")
    except vyre.VyreError:
        return None
    return None if found is None else str(found)


def _bisect(case: Any, call: int, way: Way, against: Way | None, progress: mmap.mmap) -> str | None:
    """The place, in words, where the way begins to differ in a call after earlier ones; None if it is not known."""
    if not isinstance(case, Case):
        return _bisect_procedure(case, call, way)
    backend = _runner(case, call, way)
    other: Any = "reference" if against is None else _runner(case, call, against)
    inputs = case.inputs(call=call, arrays=True)
    try:
        found = vyre.bisect(case.program, inputs, case.grid, backend=backend, against=other)
    except vyre.VyreError:
        return None  # the recording program may exceed what the way can run
    return None if found is None else str(found)


def _runner(case: Case, call: int, way: Way) -> Any:
    """A way as vyre.bisect takes it, which makes the earlier calls of the case before the one that is looked at."""
    how: dict[str, Any] = {"backend": way.backend, "optimize": way.optimize}
    if way.in_python:
        function = way.function()

        def run(program: vyre.Program, inputs: Any, workgroups: Any) -> dict[str, Any]:
            return function(program, inputs, workgroups, device=way.device, optimize=way.optimize)

    else:
        how |= {name: value for name in ("device", "schedule") if (value := getattr(way, name)) is not None}

        def run(program: vyre.Program, inputs: Any, workgroups: Any) -> dict[str, Any]:
            return vyre.run(program, inputs, workgroups, **how)

    def after_others(program: vyre.Program, inputs: Any, workgroups: Any) -> dict[str, Any]:
        # A program that records binds more than the case does.
        for before in range(call):
            run(program, {**inputs, **case.inputs(call=before, arrays=True)}, workgroups)
        return run(program, inputs, workgroups)

    after_others.__name__ = way.backend if way.in_python else str(way)
    return after_others


_QUESTIONS: dict[str, Callable[..., Any]] = {
    "describe": _describe,
    "sweep": _sweep,
    "judge": _judge,
    "has_one_answer": _has_one_answer,
    "bisect": _bisect,
}


def main() -> None:
    connection = Connection(int(sys.argv[1]))
    progress = mmap.mmap(int(sys.argv[2]), mmap.PAGESIZE)
    while True:
        child = os.fork()
        if child == 0:
            # The asking process ends the whole session; an orphaned child ends when its connection closes.
            _serve(connection, progress)
            os._exit(0)
        progress[8 * _CHILD : 8 * _CHILD + 8] = child.to_bytes(8, "little")
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        progress[8 * _CHILD : 8 * _CHILD + 8] = bytes(8)
        if code == 0:
            return
        if code == _RENEWED:
            for name in _FOR_CHILDREN:
                importlib.import_module(name)
            connection.send((_ANSWER, None))
            continue
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        connection.send((_ENDED, f"the process ended with {how}"))


def _serve(connection: Connection, progress: mmap.mmap) -> None:
    """Answer questions until the connection closes."""
    while True:
        try:
            question, arguments = connection.recv()
        except (EOFError, ConnectionResetError):
            return
        if question == _RENEW:
            os._exit(_RENEWED)
        try:
            answer = (_ANSWER, _QUESTIONS[question](*arguments, progress=progress))
        except Exception as error:
            answer = (_RAISED, error)
        try:
            connection.send(answer)
        except BrokenPipeError:
            return


if __name__ == "__main__":
    main()
