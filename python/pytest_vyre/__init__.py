"""The plugin that adds vyre to pytest: options, a fixture of backends, and calls that are checked or counted by lines.

pytest imports this in every run of everyone who has vyre installed, so it lies outside of the package vyre, whose
import loads the C++ module, and brings in nothing. The fixture lies in ``_backends.py``, what watches calls in
``_calls.py``; both import vyre when a test needs it. The options of ``pytest --pyargs vyre.conformance`` stand here
too, because a conftest of an installed package is read too late for options.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("vyre", "vyre")
    group.addoption(
        "--vyre-devices",
        metavar="NAMES",
        help="where tests with the fixture vyre_backend run: names of `vyre backends` and numbers of `vyre devices`, "
        "with commas between, or `all`; otherwise on every backend that works here",
    )
    group.addoption(
        "--vyre-check",
        metavar="CHECKS",
        help="check every call of a kernel, a program or a procedure in a test on the reference, and fail the test "
        "with what is found: `all`, or names that vyre.check takes, with commas between",
    )
    group.addoption(
        "--vyre-cov",
        action="store_true",
        help="tell coverage.py which lines of kernels run: each call runs once more, on the reference",
    )
    group = parser.getgroup("vyre conformance", "vyre.conformance")
    group.addoption(
        "--vyre-backend",
        action="append",
        metavar="NAME",
        help="run the conformance cases on this backend; may be given several times; otherwise on every one here",
    )
    group.addoption(
        "--vyre-device",
        action="append",
        type=int,
        metavar="NUMBER",
        help="run the conformance cases on this device of vyre.devices(); may be given several times",
    )


def pytest_configure(config: pytest.Config) -> None:
    from pytest_vyre import _backends

    # The marker is registered only when vyre's conformance tests are run.
    if any(argument.startswith("vyre.conformance") for argument in config.args):
        config.addinivalue_line("markers", "vyre_slow: takes long; `-m 'not vyre_slow'` leaves it out")
    config.addinivalue_line(
        "markers",
        "vyre_check(*checks): what --vyre-check looks for in this test; without names, nothing: the test does wrong on "
        "purpose",
    )
    config.pluginmanager.register(_backends, "pytest_vyre.backends")
    # An empty option, of a variable that is not set for instance, is refused and not taken for none.
    if config.getoption("--vyre-check") is not None or config.getoption("--vyre-cov"):
        from pytest_vyre._calls import Calls

        config.pluginmanager.register(Calls(config), "pytest_vyre.calls")
