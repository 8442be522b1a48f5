"""``try_compile`` compiles a program in another process first, so that a driver that crashes ends that process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from vyre import _core, errors
from vyre._base.calls import explain_calls
from vyre._default import place

if TYPE_CHECKING:
    from collections.abc import Collection

    from vyre._core import Program
    from vyre._devices import Device

__all__ = ["try_compile"]

# The other process imports what this one has, wherever this one found it.
_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from vyre._arrays.trial import serve; serve()"
_MOST_SAID = 200  # letters of what the process said last


def try_compile(
    program: Program,
    *,
    backend: str | None = None,
    device: int | Device | None = None,
    optimize: bool | Collection[str] | None = None,
    timeout: float | None = None,
) -> None:
    """Have a driver compile a program in another process first, so that a crash of the driver is an error here.

    A driver's compiler works inside the process that uses it, and ends that process when it crashes. This function
    starts another Python, which opens the device and makes the program ready as the first call of it does, and returns
    when that succeeded. A driver that lets its compiled pipelines be kept compiles once: the first call in this process
    takes the pipeline from disk (see VYRE_CACHE_DIR). A GPU may compile more for a large grid, for arrays beyond what
    it can bind, and for Uniform words that come often; these are not tried. The backends "cpu" and "reference" have no
    driver: they make the program ready in this process.

    Args:
        program: a valid Program.
        backend, device, optimize: as vyre.run takes them.
        timeout: seconds for all of it, the start of the other process included, after which that process is killed;
            None waits for ever.

    Raises:
        DeviceError: the driver ended the process; with a signal's number when one did it.
        DispatchTimeoutError: the time-out has passed.
        VyreError: a ValidationError, LoweringError or CapabilityError, for instance: what the first call would raise.

    Source: SECURITY.md, "Isolation".

    >>> import vyre
    >>> i = vyre.Expr.gid_x()
    >>> store = vyre.Node.store("out", i, i * i)
    >>> squares = vyre.Program([vyre.BufferDecl.output("out", 0, vyre.u32)], (4, 1, 1), [store])
    >>> vyre.try_compile(squares, backend="cpu")
    >>> vyre.run(squares, {"out": 4}, 1, backend="cpu")["out"]
    array([0, 1, 4, 9], dtype=uint32)
    """
    name, index, data = _core._trial_arguments(program, *place(backend, device), optimize, timeout)
    if name in _core._hosts:  # they have no driver that could crash
        _core._prepare(program, name, index, optimize, timeout)
        return
    where = "the first device found" if name is None else f"backend `{name}`"
    if index is not None:
        where += f", device {index}"
    chosen = optimize if optimize is None or isinstance(optimize, bool) else [str(row) for row in optimize]
    request = json.dumps({"backend": name, "device": index, "optimize": chosen}).encode() + b"\n" + data
    try:
        done = subprocess.run(
            [sys.executable, "-c", _START, json.dumps([os.fspath(path) for path in sys.path])],
            input=request,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise errors.DispatchTimeoutError(
            f"trying to compile the program on {where} did not end within {timeout} s, and its process was killed. "
            'Fix: raise the time-out, make the program smaller, or run it with backend="cpu".'
        ) from None
    except (OSError, ValueError) as error:
        raise errors.DeviceError(
            f"no process could be started to try the compile in: {error}. Fix: let `sys.executable` name the Python "
            "interpreter, and let it start processes."
        ) from None
    _judge(done, where)


def _judge(done: subprocess.CompletedProcess[bytes], where: str) -> None:
    """Raise the error that the other process met, or was ended by."""
    told = done.stdout.decode(errors="replace").splitlines()
    last = (done.stderr.decode(errors="replace").strip().splitlines() or [""])[-1][:_MOST_SAID]
    said = f"; it said: {last}" if last else ""
    if not told:
        raise errors.DeviceError(
            f"the process to try the compile in ended with status {done.returncode} before it began{said}. "
            'Fix: let `sys.executable` name a Python that can import vyre, or run the program with backend="cpu".'
        )
    if told[-1] == "compiled":
        return
    if told[-1] != "compiling":
        kind, message = json.loads(told[-1])
        raise getattr(errors, kind)(message)
    how = f"with status {done.returncode}" if done.returncode >= 0 else f"by signal {_signal(-done.returncode)}"
    raise errors.DeviceError(
        f"the driver ended the process {how} while it compiled the program on {where}{said}. "
        'Fix: name another device, or backend="cpu".'
    )


def _signal(number: int) -> str:
    try:
        return f"{number} ({signal.Signals(number).name})"
    except ValueError:
        return str(number)


def serve() -> None:
    """Run in the other process: compile the program on standard input, and tell the outcome on standard output."""
    tell = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a driver prints is no answer
    request = json.loads(sys.stdin.buffer.readline())
    program = _core.Program.from_bytes(sys.stdin.buffer.read())
    print("compiling", file=tell, flush=True)
    try:
        _core._prepare(program, request["backend"], request["device"], request["optimize"], None)
    except errors.VyreError as error:
        answer = json.dumps([type(error).__name__, str(error)])
    except MemoryError:
        message = "the process to try the compile in ran out of memory. Fix: free some."
        answer = json.dumps(["DeviceMemoryError", message])
    else:
        answer = "compiled"
    print(answer, file=tell, flush=True)
    # The question is answered, so a driver that fails while it is closed does not matter.
    os._exit(0)


explain_calls(globals())
