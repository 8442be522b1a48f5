"""Carries out ``--vyre-check`` and ``--vyre-cov``: every call that a test makes is seen before it runs.

vyre._tools.each_call checks it, and what is found fails the test where the call stands. For coverage, a kernel runs
once more on the reference with a mark in each line.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKED, UNCHECKED = "vyre_checked", "vyre_unchecked"
MARKER = "vyre_check"
_MOST_SHOWN = 10


class Calls:
    """The plugin that the two options register."""

    def __init__(self, config: pytest.Config) -> None:
        self._option: str | None = config.getoption("--vyre-check")
        self._covers: bool = config.getoption("--vyre-cov")
        self._asked: tuple[str, ...] = ()
        self._found: list[str] = []  # what was found in the test and is not told yet
        self._unchecked: list[str] = []
        self._lines: Any = None
        self._each: Any = None  # checks the calls of the test that runs

    def pytest_sessionstart(self) -> None:
        if self._option is not None:
            self._asked = _names(self._option.split(","), "--vyre-check")
        self._each = self._made()

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
            stack.enter_context(_watch.watched(self._each))
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        marker = item.get_closest_marker(MARKER)
        self._each.checks, self._each.count = self._asked, 0
        if marker is not None and self._asked:
            self._each.checks = _names(marker.args, f"the marker {MARKER}") if marker.args else ()
        self._found, self._unchecked = [], []
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
            item.user_properties += [(CHECKED, self._each.count), *((UNCHECKED, each) for each in self._unchecked)]
            self._each.checks = ()

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

    def _made(self) -> Any:
        from vyre._tools.each_call import EachCall, elsewhere_too

        plugin = self

        class Tested(EachCall):
            def found(self, what: str, result: Any) -> None:
                __tracebackhide__ = True
                plugin._found.append(f"{what}: {result}")
                pytest.fail(plugin._found[-1])  # which no `except Exception` catches; another thread's is told later

            def unchecked(self, why: str) -> None:
                if self.checks:
                    plugin._unchecked.append(why)

            def kernel(self, kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
                __tracebackhide__ = True
                why = super().kernel(kernel, args, kwargs)
                if plugin._lines is not None:
                    plugin._lines.kernel(kernel, args, elsewhere_too(kwargs))
                return why

            def procedure(self, procedure: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
                __tracebackhide__ = True
                why = super().procedure(procedure, args, kwargs)
                if plugin._lines is not None:
                    plugin._lines.procedure(procedure, args, elsewhere_too(kwargs, "out"))
                return why

        return Tested()


def _names(names: Any, of: str) -> tuple[str, ...]:
    from vyre._tools.each_call import names_of
    from vyre.errors import ArgumentError

    try:
        return names_of(names, of)
    except ArgumentError as error:
        raise pytest.UsageError(str(error)) from None
