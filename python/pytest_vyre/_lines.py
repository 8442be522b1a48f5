"""Tells coverage.py which lines of kernels ran.

Python runs a kernel's source when it is compiled, all branches of it, and coverage.py would take those lines for run.
So it is stopped while a kernel is compiled, and is given the lines that invocations came by.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from vyre import VyreError
from vyre._kernel import lines as kernel_lines
from vyre._kernel.tracer import Tracer
from vyre._procedure import lines as procedure_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vyre._kernel.kernel import Kernel
    from vyre._kernel.lines import Line, Marks
    from vyre._kernel.trace import Traced
    from vyre._procedure.procedure import ProcedureFunction

__all__ = ["Lines"]


class Lines:
    """The lines of kernels that ran while tests were measured."""

    def __init__(self) -> None:
        """Raises: pytest.UsageError where coverage.py does not measure, or measures branches."""
        self._coverage = _running()
        self._ran: set[Line] = set()
        self._marked: dict[int, tuple[Traced, tuple[Traced, Marks]]] = {}  # by the kernel's own trace, which it keeps

    def kernel(self, kernel: Kernel, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        with contextlib.suppress(VyreError):  # which the call itself raises
            self._ran |= kernel_lines.lines_of_call(kernel, args, kwargs, self._with_marks)

    def procedure(self, procedure: ProcedureFunction, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        with contextlib.suppress(VyreError):
            self._ran |= procedure_lines.lines_of_call(procedure, args, kwargs, self._with_marks)

    def _with_marks(self, kernel: Kernel, constants: dict[str, Any]) -> tuple[Traced, Marks]:
        """The kernel with its marks, once for each trace of its own."""
        traced = kernel._traced(constants)
        if id(traced) not in self._marked:
            self._marked[id(traced)] = traced, kernel_lines.marked(kernel, constants)
        return self._marked[id(traced)][1]

    @contextlib.contextmanager
    def measured(self) -> Iterator[None]:
        """Count the lines of kernels in place of what Python runs of them."""
        begin, end = Tracer.__enter__, Tracer.__exit__
        of_thread = threading.local()
        monitors = _Monitors()

        # While a kernel is compiled, this thread has no trace function. coverage.py keeps a stack of the frames that it
        # saw begin and has not seen end: it sees the begin of `__enter__` alone, and the end of `__exit__` alone.
        def __enter__(tracer: Tracer) -> Tracer:
            begun = begin(tracer)
            monitors.pause()
            of_thread.trace = sys.gettrace()
            sys.settrace(None)
            return begun

        def __exit__(tracer: Tracer, *error: Any) -> None:
            end(tracer, *error)
            monitors.go_on()
            sys.settrace(of_thread.trace)
            _call()  # the trace function is asked at calls first

        Tracer.__enter__, Tracer.__exit__ = __enter__, __exit__  # type: ignore[method-assign]
        try:
            yield
        finally:
            Tracer.__enter__, Tracer.__exit__ = begin, end  # type: ignore[method-assign]
            self._tell()

    def _tell(self) -> None:
        data = self._coverage.get_data()
        measured = {os.path.realpath(file): file for file in data.measured_files()}
        lines: dict[str, set[int]] = {}
        for file, line in self._ran:
            name = measured.get(os.path.realpath(file))
            if name is not None:
                lines.setdefault(name, set()).add(line)
        data.add_lines(lines)


def _call() -> None:
    pass


class _Monitors:
    """Pauses what coverage.py asks of sys.monitoring, which Python has from 3.12 on, while a kernel is compiled."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._compiled = 0  # kernels of all threads that are compiled now
        self._events: dict[int, int] = {}

    def pause(self) -> None:
        if sys.version_info >= (3, 12):
            with self._lock:
                self._compiled += 1
                if self._compiled == 1:
                    tools = [tool for tool in range(6) if "coverage" in (sys.monitoring.get_tool(tool) or "")]
                    self._events = {tool: sys.monitoring.get_events(tool) for tool in tools}
                    self._ask(dict.fromkeys(self._events, 0))

    def go_on(self) -> None:
        if sys.version_info >= (3, 12):
            with self._lock:
                self._compiled -= 1
                if not self._compiled:
                    self._ask(self._events)

    @staticmethod
    def _ask(events: dict[int, int]) -> None:
        if sys.version_info >= (3, 12):
            for tool, wanted in events.items():
                sys.monitoring.set_events(tool, wanted)


def _running() -> Any:
    """Return the Coverage that measures now."""
    from coverage import Coverage

    found = Coverage.current()
    if found is None:
        raise pytest.UsageError(
            "--vyre-cov has no effect, because coverage.py does not measure. Fix: write pytest --cov --vyre-cov, with "
            "pytest-cov, or coverage run -m pytest --vyre-cov."
        )
    if found.get_option("run:branch"):
        raise pytest.UsageError(
            "--vyre-cov tells the lines of kernels that run, and coverage.py measures branches here. Fix: leave out "
            "--cov-branch, or `branch` of coverage's settings."
        )
    return found
