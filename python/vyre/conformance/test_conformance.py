"""Every case on every backend and device here, or on those that ``--vyre-backend`` and ``--vyre-device`` name.

``pytest --pyargs vyre.conformance`` runs them wherever vyre is installed.
"""

from __future__ import annotations

import os

import pytest

import vyre
from vyre.conformance import Case, Target, cases, run_case, target, usable_targets


def _targets(config: pytest.Config) -> list[Target]:
    backends = config.getoption("--vyre-backend", default=None)
    devices = config.getoption("--vyre-device", default=None)
    try:
        if devices:
            known = vyre.devices()
            for number in devices:
                if not 0 <= number < len(known):
                    raise vyre.ArgumentError(f"there is no device {number}. Fix: name one of `vyre devices`.")
            return [target(known[number].backend, number) for number in devices]
        if backends:
            for name in backends:
                target(name)  # says why it does not work here
            return [place for place in usable_targets() if place.backend in backends]
        found = usable_targets()
    except vyre.VyreError as error:
        raise pytest.UsageError(str(error)) from error
    # A run on the reference alone would be green and worth little.
    if all(place.index is None for place in found) and os.environ.get("VYRE_ALLOW_NO_VULKAN") != "1":
        reasons = " ".join(vyre.backends().unavailable().get("vulkan", ["No device is usable."]))
        raise pytest.UsageError(
            f"no device here to test: {reasons} Fix: install a driver, or ask for --vyre-backend=reference alone."
        )
    return found


def _name(place: Target) -> str:
    return place.name.split("(")[0].strip().replace(" ", "-")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    places = _targets(metafunc.config)
    metafunc.parametrize("place", places, ids=_name, scope="module")
    metafunc.parametrize("made", cases(), ids=lambda made: made.id)


def test_conformance(made: Case, place: Target) -> None:
    result = run_case(made, place)
    if result.status == "skipped":
        pytest.skip(result.reason)
    assert result.status != "failed", f"{made.what} {result.reason}"
