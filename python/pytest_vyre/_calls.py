"""Carries out ``--vyre-check`` and ``--vyre-cov``: every call that a test makes is seen before it runs.

A call of a kernel, a program or a procedure is checked as vyre.check checks it, on copies of its arrays, and then runs
as it would have. What is found fails the test where the call stands. For coverage, a kernel runs once more on the
reference with a mark in each line. Calls inside of such a call, and those of vyre's own library, are not seen.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKED, UNCHECKED = "vyre_checked", "vyre_unchecked"
MARKER = "vyre_check"
_OF_PLACES = ("backend", "device", "optimize", "at_most", "timeout")
_MOST_SHOWN = 10


class Calls:
    """The plugin that the two options register."""

    def __init__(self, config: pytest.Config) -> None:
        self._option: str | None = config.getoption("--vyre-check")
        self._covers: bool = config.getoption("--vyre-cov")
        self._asked: tuple[str, ...] = ()
        self._checks: tuple[str, ...] = ()  # of the test that runs
        self._found: list[str] = []  # what was found in the test and is not told yet
        self._count = 0
        self._unchecked: list[str] = []
        self._lines: Any = None

    def pytest_sessionstart(self) -> None:
        if self._option is not None:
            self._asked = _names(self._option.split(","), "--vyre-check")

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Iterator[None]:
        # This wrapper is the innermost: it ends before pytest-cov saves what was measured.
        from vyre._tools import watch as _watch

        if session.config.getoption("dist", "no") != "no":  # pytest-xdist runs the tests in other processes
            return (yield)
        with contextlib.ExitStack() as stack:
            if self._covers:
                from pytest_vyre._lines import Lines

                self._lines = Lines()
                stack.enter_context(self._lines.measured())
            stack.enter_context(_watch.watched(self))
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        marker = item.get_closest_marker(MARKER)
        self._checks = self._asked
        if marker is not None and self._asked:
            self._checks = _names(marker.args, f"the marker {MARKER}") if marker.args else ()
        self._found, self._count, self._unchecked = [], 0, []
        return (yield from self._told())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        return (yield from self._told())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        try:
            return (yield from self._told())
        finally:
            # Reports travel between the processes of pytest-xdist, and have these.
            item.user_properties += [(CHECKED, self._count), *((UNCHECKED, each) for each in self._unchecked)]
            self._checks = ()

    def _told(self) -> Iterator[None]:
        """A phase of a test, which fails with what was found and did not end it."""
        try:
            result = yield
        except BaseException:
            self._found = []
            raise
        found, self._found = self._found, []
        if found:
            pytest.fail("\n".join(found), pytrace=False)
        return result

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._option is None:
            return
        count, unchecked = 0, []
        for reports in terminalreporter.stats.values():
            for report in reports:
                if getattr(report, "when", None) == "teardown":
                    told = report.user_properties
                    count += sum(value for name, value in told if name == CHECKED)
                    unchecked += [f"{report.nodeid}: {value}" for name, value in told if name == UNCHECKED]
        terminalreporter.write_sep("-", "vyre")
        terminalreporter.write_line(f"{count:,} call{'' if count == 1 else 's'} checked ({self._option})")
        for each in unchecked[:_MOST_SHOWN]:
            terminalreporter.write_line(f"not checked: {each}")
        if len(unchecked) > _MOST_SHOWN:
            terminalreporter.write_line(f"and {len(unchecked) - _MOST_SHOWN:,} more are not checked")

    # vyre._tools.watch calls these before each call, and `unchecked` with the text that they give once
    # the call was right.

    def kernel(self, kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        __tracebackhide__ = True
        given = {name: value for name, value in kwargs.items() if name not in _OF_PLACES}
        why = self._see(f"kernel `{kernel.__name__}`", lambda checks: kernel.check(*args, checks=checks, **given))
        if self._lines is not None:
            self._lines.kernel(kernel, args, given)
        return why

    def procedure(self, procedure: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        __tracebackhide__ = True
        given = {name: value for name, value in kwargs.items() if name not in (*_OF_PLACES, "out")}
        why = self._see(f"procedure `{procedure.name}`", lambda checks: procedure.check(*args, checks=checks, **given))
        if self._lines is not None:
            self._lines.procedure(procedure, args, given)
        return why

    def program(self, program: Any, inputs: Any, workgroups: Any) -> str:
        __tracebackhide__ = True
        from vyre import check

        return self._see("a program", lambda checks: check(program, inputs, workgroups, checks=checks))

    def unchecked(self, why: str) -> None:
        if self._checks:
            self._unchecked.append(why)

    def _see(self, what: str, check: Any) -> str:
        """Check a call: why it could not be, or nothing."""
        __tracebackhide__ = True
        if not self._checks:
            return ""
        from vyre import VyreError

        try:
            result = check(self._checks)
        except VyreError as error:
            # If it is the call's own mistake, the call says so.
            return f"{what}: {str(error).splitlines()[0]}"
        self._count += 1
        if not result.ok:
            self._found.append(f"{what}: {result}")
            pytest.fail(self._found[-1])  # which no `except Exception` catches; another thread's is told later
        return ""


def _names(names: Any, of: str) -> tuple[str, ...]:
    """Names of checks; "all" is one of them.

    Raises: pytest.UsageError.
    """
    from vyre import _core

    known = tuple(name for name, *_ in _core._tables["checks"])
    asked = tuple(str(name).strip() for name in names)
    for name in asked:
        if name not in ("all", *known):
            raise pytest.UsageError(f"{of}: there is no check `{name}`. Fix: write all, or some of {', '.join(known)}.")
    return asked
