"""Lets a tool of tests see every call of a kernel, a procedure or a program before it runs, in all threads.

While nothing watches, calls do not pass through here: watching puts functions of this module in the place of
``Kernel.__call__`` and the others, and takes them away again. What a watched call does itself is not watched, and
neither are the kernels and procedures of the package, which vyre.std calls. Calls of a Program with resident arrays,
``program(a, b)``, are the C++ module's own, and are not seen.
"""

from __future__ import annotations

import contextlib
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from vyre import _run
from vyre._arrays.graph import is_recording
from vyre._kernel.kernel import Kernel
from vyre._kernel.recording import RECORDING, is_tracing
from vyre._procedure import by_name
from vyre._procedure.procedure import ProcedureFunction
from vyre._procedure.recorder import active

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vyre._core import Procedure, Program

__all__ = ["Watcher", "watched"]


class Watcher(Protocol):
    """The methods that see calls: each is called before the call, which does not run when the method raises.

    The text that a method gives goes to ``unchecked`` once the call was right; an empty one does not.
    """

    def kernel(self, kernel: Kernel, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str: ...

    def procedure(self, procedure: ProcedureFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str: ...

    def program(self, program: Program | Procedure, inputs: Any, workgroups: Any) -> str: ...

    def unchecked(self, why: str) -> None: ...


class _OfThread(threading.local):
    is_inside = False


_OF_THREAD = _OfThread()


def _is_seen(module: str | None) -> bool:
    """Whether a call is one of the user's own, with arrays that are there."""
    if _OF_THREAD.is_inside or is_tracing() or RECORDING.call is not None or active() is not None:
        return False
    return not f"{module}.".startswith("vyre.")


def _call(watcher: Watcher, what: str, see: Callable[[], str], call: Callable[[], Any]) -> Any:
    __tracebackhide__ = True
    _OF_THREAD.is_inside = True
    try:
        why = f"{what} is recorded in a graph, and runs later" if is_recording() else see()
        result = call()
    finally:
        _OF_THREAD.is_inside = False
    if why:
        watcher.unchecked(why)
    return result


@contextlib.contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Show the calls of all threads to ``watcher`` until the block ends. One at a time watches."""
    call_kernel, call_procedure = Kernel.__call__, ProcedureFunction.__call__
    run_program, run_by_name = _run._run_program, by_name.run_by_name

    def kernel(self: Kernel, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if not _is_seen(self.__module__):
            return call_kernel(self, *args, **kwargs)
        see = partial(watcher.kernel, self, args, kwargs)
        return _call(watcher, f"kernel `{self.__name__}`", see, partial(call_kernel, self, *args, **kwargs))

    def procedure(self: ProcedureFunction, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if not _is_seen(self.__module__):
            return call_procedure(self, *args, **kwargs)
        see = partial(watcher.procedure, self, args, kwargs)
        return _call(watcher, f"procedure `{self.name}`", see, partial(call_procedure, self, *args, **kwargs))

    def run(program: Any, inputs: Any, workgroups: Any, *rest: Any) -> Any:
        __tracebackhide__ = True
        if not _is_seen(None):
            return run_program(program, inputs, workgroups, *rest)
        see = partial(watcher.program, program, inputs, workgroups)
        return _call(watcher, "a program", see, partial(run_program, program, inputs, workgroups, *rest))

    def run_named(procedure: Any, inputs: Any, *rest: Any) -> Any:
        __tracebackhide__ = True
        if not _is_seen(None):
            return run_by_name(procedure, inputs, *rest)
        see = partial(watcher.program, procedure, inputs, None)
        return _call(watcher, f"procedure `{procedure.name}`", see, partial(run_by_name, procedure, inputs, *rest))

    Kernel.__call__, ProcedureFunction.__call__ = kernel, procedure  # type: ignore[method-assign, assignment]
    _run._run_program, by_name.run_by_name = run, run_named  # type: ignore[assignment]
    try:
        yield
    finally:
        Kernel.__call__, ProcedureFunction.__call__ = call_kernel, call_procedure  # type: ignore[method-assign]
        _run._run_program, by_name.run_by_name = run_program, run_by_name
