"""Calls kernels on the workers of a dask cluster, with a device for each worker, and on request makes each call twice.

``OneDevice`` gives each worker process of a host a device of its own. ``task`` makes a kernel into a function that
travels and runs on the worker's device; it goes wherever dask takes a function, ``client.submit`` and
``dask.array.map_blocks`` among them. ``run`` calls a kernel over many blocks, on the cluster, in one line.

With ``against=`` each call is made twice, on two backends or on two workers, and the bytes are compared: N-version
execution. Where they differ, ``vyre.bisect`` finds the first value that does, and ``DisagreementError`` tells it.

This module needs the package distributed: ``pip install 'vyre[dask]'``.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import stat
import tempfile
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vyre._base.refused import must_be, must_have, no_place, not_installed

try:
    import distributed
except ImportError:
    raise ImportError(not_installed("vyre.dask", "distributed", "dask")) from None

from vyre import _core
from vyre._base import log as _log
from vyre._base.calls import explain_calls
from vyre._base.pickler import copied
from vyre._base.text import shown
from vyre._core import Array
from vyre._default import check_backend, default_device
from vyre._devices import backends, devices
from vyre._kernel.call import host_call
from vyre._kernel.kernel import Kernel, Specialized
from vyre._kernel.smaller import in_halves
from vyre._tools.bisect import bisect
from vyre._tools.ways import first_difference, way
from vyre.errors import ArgumentError, CapabilityError, VyreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import IO

    from vyre._core import Program
    from vyre._kernel.trace import Traced
    from vyre._tools.divergence import Divergence, OutputDifference
    from vyre._tools.ways import Runner, Way

__all__ = ["DisagreementError", "OneDevice", "Place", "Task", "place", "run", "task"]

_PLUGIN = "vyre-one-device"
_OTHER_WORKER = "another worker"
_MOST_SHARING = 64  # workers on one device
_MOST_TRIES = 20  # how often a block is sent until a second worker runs it
_SECONDS_TO_COME = 60  # how long a replacement for a dead worker is waited for


class Place(NamedTuple):
    """Where a worker runs calls: arguments of vyre.run."""

    backend: str | None
    device: int | None


# The places of the workers of this process, by their ids. There are several only in a cluster of threads.
_PLACES: dict[str, Place] = {}


class DisagreementError(VyreError):
    """Two runs of one call gave different bytes.

    Attributes:
        places: where the two ran.
        divergence: the first value that differs, as ``vyre.bisect`` found it. None where the two agree when the call is
            made again, and for functions that are no kernels.
    """

    def __init__(self, message: str, places: tuple[str, str], divergence: Divergence | None) -> None:
        super().__init__(message)
        self.places: tuple[str, str] = places
        self.divergence: Divergence | None = divergence

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.places, self.divergence)


class OneDevice(distributed.WorkerPlugin):
    """Gives each worker process a device of its own: ``client.register_plugin(vyre.dask.OneDevice())``.

    A worker takes the first device of its host that no other worker has, by a lock on a file, which the system frees
    when the process ends, however it ends: a worker that is started in place of a killed one finds its device free.

    Args:
        backend: the backend. None takes the GPUs, and ``cpu`` on a host that has none; software GPUs are taken by
            ``backend="vulkan"`` alone. ``cpu`` and ``reference`` are this processor, which workers share.
        share: whether a device goes to several workers when there are more of them than devices.

    >>> OneDevice("cpu")
    <vyre.dask.OneDevice backend=cpu>
    """

    name: str = _PLUGIN

    def __init__(self, backend: str | None = None, *, share: bool = False) -> None:
        if backend is not None:
            check_backend(backend, "argument `backend` of vyre.dask.OneDevice")
        self.backend: str | None = backend
        self.share: bool = share
        self._lock: IO[bytes] | None = None

    def setup(self, worker: Any) -> None:
        """Dask calls this on each worker, including those that join later."""
        taken = _PLACES[worker.id] = self._taken()
        _log.info("worker %s runs calls on %s", worker.address, _shown(taken))

    def teardown(self, worker: Any) -> None:
        """Dask calls this when the worker ends, or the plugin is replaced."""
        _PLACES.pop(worker.id, None)
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _taken(self) -> Place:
        if self.backend in _core._hosts:
            return Place(self.backend, None)
        found = [each for each in devices(self.backend) if each.usable]
        if self.backend is None:
            found = [each for each in found if each.kind != "software gpu"]
            if not found:
                return Place("cpu", None)
        if not found:
            reasons = " ".join(backends().unavailable().get(self.backend or "", ()))
            raise CapabilityError(
                reasons or f"backend `{self.backend}` has no device on this host. Fix: run `vyre doctor` on it."
            )
        for turn in range(_MOST_SHARING if self.share else 1):
            for device in found:
                self._lock = _locked(f"{device.backend}-{device.index}-{turn}")
                if self._lock is not None:
                    return Place(device.backend, device.index)
        raise CapabilityError(
            f"this host has {len(found)} device{'' if len(found) == 1 else 's'} for workers, and all are taken. Fix: "
            f"start at most {len(found)} worker processes here, or write vyre.dask.OneDevice(share=True)."
        )

    def __repr__(self) -> str:
        return f"<vyre.dask.OneDevice backend={self.backend}>"


def _locked(name: str) -> IO[bytes] | None:
    """A file that this process alone has locked, or None where another one has."""
    folder = Path(tempfile.gettempdir()) / f"vyre-devices-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        # Another user may have made the folder first, with links in it to files of this user.
        there = folder.lstat()
        if not stat.S_ISDIR(there.st_mode) or there.st_uid != os.getuid():
            raise NotADirectoryError(errno.ENOTDIR, "it is no folder of this user's")
        file = os.fdopen(os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600), "rb")
    except OSError as error:
        raise CapabilityError(
            f"the workers of this host share out its devices in `{folder}`, which cannot be used: "
            f"{error.strerror}. Fix: remove it, or set TMPDIR to another folder for all workers."
        ) from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def place() -> Place:
    """Where this worker runs calls: its backend, and the index of its device among the backend's.

    Outside of a worker, and on one without ``OneDevice``, both are None: calls run where ``vyre.default_device`` says.

    >>> place()
    Place(backend=None, device=None)
    """
    worker: str | None
    try:
        worker = distributed.get_worker().id
    except ValueError:  # outside of a task, as when `client.run` calls this
        worker = next(iter(_PLACES)) if len(_PLACES) == 1 else None
    return Place(None, None) if worker is None else _PLACES.get(worker, Place(None, None))


def _shown(where: Place) -> str:
    if where.device is None:
        return where.backend or "its default device"
    return f"{where.backend} device {where.device}"


class _Call(NamedTuple):
    """A call of a kernel without constants as arguments of vyre.run, and which of the outputs it gives."""

    label: str
    traced: Traced
    inputs: Mapping[str, Any]
    workgroups: tuple[int, int, int]
    results: tuple[str, ...]

    @property
    def program(self) -> Program:
        return self.traced.program

    def run(self, way: Runner) -> Mapping[str, np.ndarray]:
        """The outputs of the call, in smaller workgroups where the device needs them."""
        try:
            return way(self.program, self.inputs, self.workgroups)
        except CapabilityError as error:
            program, counts = in_halves(self.traced, self.workgroups, error, self.label)
            return way(program, self.inputs, counts)

    def result_of(self, outputs: Mapping[str, np.ndarray]) -> Any:
        """Return the result of the call: one array bare, several as a tuple."""
        found = tuple(outputs[name] for name in self.results)
        return found[0] if len(found) == 1 else found


def _call(kernel: Kernel, args: Sequence[Any], kwargs: Mapping[str, Any]) -> _Call:
    """A call on the host. An InOut array is read, and comes back as another one."""
    label = f"kernel `{kernel.__name__}`"
    for name in ("backend", "device", "optimize", "timeout", "at_most"):
        if kwargs.get(name) is not None:
            raise no_place(f"argument `{name}` of {label}", "in a call that a worker runs")
    traced, inputs, workgroups = host_call(kernel, args, dict(kwargs))
    results = tuple(each.name for each in kernel._arrays if each.kind != "In")
    return _Call(label, traced, inputs, _core._grid(workgroups, label), results)


class Task:
    """A kernel or a function that runs on the device of the worker that calls it. Made by ``vyre.dask.task``."""

    def __init__(
        self,
        work: Kernel | Callable[..., Any],
        name: str,
        backend: Way | None,
        against: Way | None,
        timeout: float | None,
    ) -> None:
        self.__name__ = name
        self._work = work
        self._backend, self._against, self._timeout = backend, against, timeout

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the kernel, and give its results as new arrays. The arrays of the caller are never written.

        Raises: what the call raises; DisagreementError.
        """
        if not isinstance(self._work, Kernel):
            return self._function(args, kwargs)
        call = _call(self._work, args, kwargs)
        name, runner = self._way()
        outputs = call.run(runner)
        if self._against is not None:
            other, second = way(self._against, "against", "vyre.dask.task", self._timeout)
            if other == name:
                other = f"{other} (against)"
            both = {name: outputs, other: call.run(second)}
            difference = first_difference(call.program, both)
            if difference is not None:
                raise _disagreement(self.__name__, call, {name: runner, other: second}, difference, self._timeout)
        return call.result_of(outputs)

    def _way(self) -> tuple[str, Runner]:
        """The name of the place where it runs, and what runs a program there."""
        if self._backend is not None:
            return way(self._backend, "backend", "vyre.dask.task", self._timeout)
        where = place()
        _, runner = way(where._asdict(), "backend", "vyre.dask.task", self._timeout)
        return _shown(where), runner

    def _function(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        where = place() if self._backend is None else Place(self._backend, None)  # type: ignore[arg-type]
        with default_device(*where):
            result = self._work(*args, **kwargs)
        if self._against is not None:
            with default_device(self._against):  # type: ignore[arg-type]
                other = self._work(*args, **kwargs)
            if not _are_same(result, other):
                places = (_shown(where), str(self._against))
                raise DisagreementError(
                    f"`{self.__name__}` gave other bytes on {places[0]} than on {places[1]}. Fix: make a task of each "
                    "kernel that it calls, which finds the first value that differs.",
                    places,
                    None,
                )
        return result

    def __repr__(self) -> str:
        return f"<vyre.dask.Task {self.__name__}>"


def _are_same(one: Any, other: Any) -> bool:
    """Whether two results are the same bytes, in arrays, or in tuples, lists and dicts of them."""
    if isinstance(one, (tuple, list)) and type(one) is type(other):
        return len(one) == len(other) and all(map(_are_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(_are_same(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return (one.dtype, one.shape) == (other.dtype, other.shape) and one.tobytes() == other.tobytes()
    return type(one) is type(other) and bool(np.all(one == other))


def _disagreement(
    name: str, call: _Call, ways: Mapping[str, Runner], difference: OutputDifference, timeout: float | None
) -> DisagreementError:
    """The error for two ways whose outputs differ, with the first value that does."""
    one, other = ways
    _log.warning("`%s` gave other bytes on %s than on %s: %s", name, one, other, difference)
    # bisect reports a function by its __name__.
    backend, against = (_named(label, runner) for label, runner in ways.items())
    divergence = bisect(call.program, call.inputs, call.workgroups, backend=backend, against=against, timeout=timeout)
    if divergence is None:
        found = "They agree when the call is made again: one of them did not compute what it does otherwise."
        fix = "certify both devices: `vyre conform`, and `vyre.repeat` of the program"
    else:
        found = str(divergence)
        fix = "leave out the device that is wrong, and report the program with its text"
    return DisagreementError(
        f"kernel `{name}` gave other bytes on {one} than on {other}: {difference}.\n{found}\nFix: {fix}.",
        (one, other),
        divergence,
    )


def _named(label: str, runner: Runner) -> Runner:
    def run(program: Program, inputs: Mapping[str, Any], workgroups: Sequence[int]) -> Mapping[str, np.ndarray]:
        return runner(program, inputs, workgroups)

    run.__name__ = label
    return run


def task(
    kernel: Kernel | Callable[..., Any],
    *,
    backend: Way | None = None,
    against: Way | None = None,
    timeout: float | None = None,
    **constants: Any,
) -> Task:
    """Make a kernel into a function that travels to a worker and runs on its device.

    It goes wherever dask takes a function. A kernel travels by value, even one from a notebook,
    with what it has captured when the task is made; a worker traces it once. Its InOut arrays come
    back as new ones, because blocks are shared and never written. Any other function travels as
    dask pickles it, and runs with the worker's device as ``vyre.default_device``.

    Args:
        kernel: the kernel, or a function.
        backend: where it runs in place of the worker's device; for a kernel as for ``vyre.bisect``.
        against: where it runs once more, to compare the bytes; likewise.
        timeout: seconds that each run may take.
        constants: values for all ``const`` parameters of the kernel; calls leave them out.

    Raises: ArgumentError; CallError for constants; KernelError. The task raises DisagreementError.

    >>> import numpy as np
    >>> import vyre
    >>> @vyre.kernel
    ... def scaled(x: vyre.In[vyre.u32], k: vyre.const, y: vyre.Out[vyre.u32]):
    ...     i = vyre.gid(0)
    ...     y[i] = x[i] * k
    >>> triple = task(scaled, k=3, against="reference")
    >>> triple(np.arange(4, dtype=np.uint32))
    array([0, 3, 6, 9], dtype=uint32)
    """
    if isinstance(kernel, Task):
        raise ArgumentError("argument `kernel` of vyre.dask.task is a task already. Fix: use it as it is.")
    for argument, given in (("backend", backend), ("against", against)):
        if given is not None:
            way(given, argument, "vyre.dask.task", timeout)  # this raises for what is no way
    if isinstance(kernel, Kernel):
        named = [kernel.__name__, *(f"{each.name}=..." for each in kernel._constants)]
        chosen = kernel._chosen(constants, f"vyre.dask.task({', '.join(named)})")
        work = copied(Specialized(kernel, chosen) if chosen else kernel)
        work._traced({})  # so that what is wrong with it shows here
        return Task(work, kernel.__name__, backend, against, timeout)
    if not callable(kernel):
        raise must_be("argument `kernel` of vyre.dask.task", "a kernel or a function", shown(kernel))
    name = getattr(kernel, "__name__", type(kernel).__name__)
    if constants:
        raise ArgumentError(
            f"argument `{next(iter(constants))}` of vyre.dask.task is a constant, and `{name}` is no kernel. "
            "Fix: give it to the calls, or to functools.partial."
        )
    for argument, given in (("backend", backend), ("against", against)):
        if given is not None and not isinstance(given, str):
            raise must_be(
                f"argument `{argument}` of vyre.dask.task",
                "the name of a backend for a function that is no kernel",
                shown(given),
            )
    return Task(kernel, name, backend, against, timeout)


class _Ran(NamedTuple):
    """What a worker gives for a block."""

    result: Any
    worker: str
    place: str


def _on_worker(work: Task, block: tuple[Any, ...], same: dict[str, Any]) -> _Ran:
    result = work(*block, **same)
    return _Ran(result, distributed.get_worker().address, _shown(place()))


def _program_on_worker(program: Program, inputs: Mapping[str, Any], workgroups: Sequence[int], work: Task) -> Any:
    return work._way()[1](program, inputs, workgroups)


def run(
    client: distributed.Client,
    kernel: Kernel | Task | Callable[..., Any],
    *blocks: Iterable[Any],
    against: Way | None = None,
    **same: Any,
) -> list[Any]:
    """Call a kernel for each block on the workers of a cluster, and give the results in the order of the blocks.

    A worker that dies loses no block: dask runs it elsewhere, and every device gives the same bytes.

    Args:
        client: the client of the cluster.
        kernel: a kernel, or what ``vyre.dask.task`` made.
        blocks: as many values of each argument as there are calls, as for ``map``.
        against: None, or where each call is made once more to compare the bytes: "another worker", or what
            ``vyre.bisect`` takes, such as "reference", which runs on the same worker.
        same: arguments that all calls share, by name.

    Raises: what a call raises; DisagreementError; CapabilityError when another worker is wanted and there is one alone.

    >>> import numpy as np
    >>> import vyre
    >>> @vyre.kernel
    ... def doubled(x: vyre.In[vyre.u32], y: vyre.Out[vyre.u32]):
    ...     i = vyre.gid(0)
    ...     y[i] = x[i] * 2
    >>> with distributed.Client(processes=False, n_workers=1, dashboard_address=":0") as client:
    ...     run(client, doubled, np.arange(4, dtype=np.uint32).reshape(2, 2))
    [array([0, 2], dtype=uint32), array([4, 6], dtype=uint32)]
    """
    on_another = isinstance(against, str) and against == _OTHER_WORKER
    if isinstance(kernel, Task):
        if against is not None and not on_another:
            raise ArgumentError(
                "argument `against` of vyre.dask.run is for kernels, and a task has its own. "
                "Fix: write vyre.dask.task(kernel, against=...)."
            )
        work = kernel
    else:
        work = task(kernel, against=None if on_another else against)
    if not callable(getattr(client, "submit", None)):
        raise must_be("argument `client` of vyre.dask.run", "a distributed.Client", shown(client))
    if not blocks:
        raise ArgumentError(
            "vyre.dask.run got no blocks: they stand by place, and arguments by name are the same in each call. "
            "Fix: write vyre.dask.run(client, kernel, blocks)."
        )
    columns = [list(column) for column in blocks]
    for value in (*chain.from_iterable(columns), *same.values()):
        if isinstance(value, Array):
            raise ArgumentError(
                "vyre.dask.run got a vyre.Array, which is memory of a device here and does not travel. "
                "Fix: pass array.numpy()."
            )
    if len({len(column) for column in columns}) > 1:
        raise must_have("arguments `blocks` of vyre.dask.run", "one length", ", ".join(str(len(c)) for c in columns))
    calls = list(zip(*columns, strict=True))
    results: dict[int, Any] = dict(_runs(client, work, calls, same, on_another))
    return [results[k] for k in range(len(calls))]


def _runs(
    client: Any, work: Task, calls: Sequence[tuple[Any, ...]], same: dict[str, Any], twice: bool
) -> Iterator[tuple[int, Any]]:
    """The number of each block with its result, as they come."""
    if twice and len(client.nthreads()) < 2:
        raise CapabilityError(
            'argument `against="another worker"` of vyre.dask.run needs two workers, and the cluster has '
            f"{len(client.nthreads())}. Fix: start more worker processes."
        )
    # Each run has a key of its own (pure=False), or dask would give the first run's result for the second.
    waiting: dict[Any, tuple[int, _Ran | None, int]] = {}
    done: Any = distributed.as_completed()  # type: ignore[no-untyped-call]

    def submit(number: int, first: _Ran | None, tries: int) -> None:
        where: dict[str, Any] = {}
        if first is not None:
            others = _others(client, first.worker)
            # If the other workers die, the block runs on the same worker again, and is then sent once more.
            where = {"workers": others, "allow_other_workers": True}
        future = client.submit(_on_worker, work, calls[number], same, pure=False, **where)
        waiting[future.key] = (number, first, tries)
        done.add(future)

    for number in range(len(calls)):
        submit(number, None, 0)
    for future in done:
        number, first, tries = waiting.pop(future.key)
        ran: _Ran = future.result()
        _log.debug("block %d ran on %s (%s)", number, ran.worker, ran.place)
        if not twice:
            yield number, ran.result
        elif first is None:
            submit(number, ran, 0)
        elif ran.worker == first.worker:
            if tries == _MOST_TRIES:
                raise CapabilityError(
                    f"block {number} came to worker {ran.worker} in {tries + 1} tries, and a second worker was wanted "
                    "to compare with. Fix: start more worker processes."
                )
            _log.info("block %d came to the same worker again, and is sent once more", number)
            submit(number, first, tries + 1)
        else:
            _compare(client, work, calls[number], same, first, ran)
            yield number, first.result


def _others(client: Any, worker: str) -> list[str]:
    """The workers other than one. If there are none, this waits for one that replaces a killed worker."""
    found = [address for address in client.nthreads() if address != worker]
    if not found:
        _log.info("worker %s is alone, and another one is waited for", worker)
        try:
            client.wait_for_workers(2, timeout=_SECONDS_TO_COME)
        except (TimeoutError, asyncio.TimeoutError):  # two different classes before Python 3.11
            raise CapabilityError(
                f"worker {worker} has been alone for {_SECONDS_TO_COME} seconds, and a second one was wanted to "
                "compare with. Fix: start more worker processes, with nannies, which replace those that die."
            ) from None
        found = [address for address in client.nthreads() if address != worker]
    return found


def _compare(
    client: distributed.Client, work: Task, block: tuple[Any, ...], same: dict[str, Any], first: _Ran, second: _Ran
) -> None:
    """Raises DisagreementError when two workers gave other bytes for a block."""
    if _are_same(first.result, second.result):
        return
    names = tuple(f"worker {ran.worker} ({ran.place})" for ran in (first, second))
    if not isinstance(work._work, Kernel):
        raise DisagreementError(
            f"`{work.__name__}` gave other bytes on {names[0]} than on {names[1]}. Fix: make a task of each kernel "
            "that it calls, which finds the first value that differs.",
            (names[0], names[1]),
            None,
        )
    call = _call(work._work, block, same)
    ways = {name: _remote(client, work, ran.worker) for name, ran in zip(names, (first, second), strict=True)}
    outputs = {
        name: dict(zip(call.results, ran.result if len(call.results) > 1 else (ran.result,), strict=True))
        for name, ran in zip(names, (first, second), strict=True)
    }
    difference = first_difference(call.program, outputs)
    assert difference is not None, "the results differ"
    raise _disagreement(work.__name__, call, ways, difference, None)


def _remote(client: distributed.Client, work: Task, worker: str) -> Runner:
    """A function that runs a program on one worker, as long as that worker lives."""

    def run(program: Program, inputs: Mapping[str, Any], workgroups: Sequence[int]) -> Mapping[str, np.ndarray]:
        future = client.submit(
            _program_on_worker, program, dict(inputs), tuple(workgroups), work, pure=False, workers=[worker]
        )
        result: Mapping[str, np.ndarray] = future.result()
        return result

    return run


explain_calls(globals())
