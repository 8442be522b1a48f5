"""The options of ``pytest --pyargs vyre.conformance``.

A plugin of pytest, named in the package's metadata: a conftest of an installed package is read too late for options.
pytest imports it in every run of everyone who has vyre installed, so it lies outside of the package vyre, whose import
loads the C++ module, and brings in nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_configure(config: pytest.Config) -> None:
    # The marker is registered only when vyre's conformance tests are run.
    if any(argument.startswith("vyre.conformance") for argument in config.args):
        config.addinivalue_line("markers", "vyre_slow: takes long; `-m 'not vyre_slow'` leaves it out")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("vyre", "vyre.conformance")
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
