"""Every case on every backend and device here, or on those that ``--vyre-backend`` and ``--vyre-device`` name.

``pytest --pyargs vyre.conformance`` runs them wherever vyre is installed.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import vyre
from vyre.conformance import Case, Target, cases, catalogue, coverage, models, run_case, target, usable_targets
from vyre.conformance.families import casts, memory, operations


def _targets(config: pytest.Config) -> list[Target]:
    backends = config.getoption("--vyre-backend", default=None)
    devices = config.getoption("--vyre-device", default=None)
    try:
        if devices:
            known = vyre.devices()
            for number in devices:
                if not 0 <= number < len(known):
                    raise vyre.ArgumentError(f"there is no device {number}. Fix: name one of `vyre devices`.")
            return [target(known[number].backend, known[number].index) for number in devices]
        if backends:
            for name in backends:
                target(name)  # says why it does not work here
            return [place for place in usable_targets() if place.backend in backends]
        found = usable_targets()
    except vyre.VyreError as error:
        raise pytest.UsageError(str(error)) from error
    # A run on the reference alone would be green and worth little.
    if all(place.index is None for place in found) and os.environ.get("VYRE_ALLOW_NO_VULKAN") != "1":
        reasons = vyre.backends().unavailable().get("vulkan", ["no device is usable. Fix: run `vyre doctor`."])
        raise pytest.UsageError(
            f"no device here to test: {' '.join(reasons)} To test the reference alone, pass --vyre-backend=reference."
        )
    return found


def _name(place: Target) -> str:
    return place.name.split("(")[0].strip().replace(" ", "-")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "place" not in metafunc.fixturenames:
        return
    places = _targets(metafunc.config)
    # The repeats with the optimiser on and off are the larger half; one of six stands for them where slow tests are
    # left out (`-m "not vyre_slow"`).
    repeats = [made.id for made in cases() if made.id.startswith("L3/optimiser/")]
    slow = set(repeats) - set(repeats[::6])
    made = [pytest.param(one, id=one.id, marks=[pytest.mark.vyre_slow] * (one.id in slow)) for one in cases()]
    metafunc.parametrize("place", places, ids=_name, scope="module")
    metafunc.parametrize("made", made)


def test_conformance(made: Case, place: Target) -> None:
    result = run_case(made, place)
    if result.status == "skipped":
        pytest.skip(result.reason)
    assert result.status != "failed", f"{made.what} {result.reason}"


LOCK = Path(__file__).with_name("cases.lock")


def test_the_cases_are_those_of_the_lock() -> None:
    """Programs, inputs and expected bytes are the same on every machine, and a change of them is seen."""
    differing = set(catalogue.lock().splitlines()) ^ set(LOCK.read_text(encoding="utf-8").splitlines())
    assert sorted(differing) == [], "Fix: if this was meant, run `make tables`"


def test_every_row_has_a_case_or_a_reason() -> None:
    assert [row for row in coverage.coverage() if bool(row.cases) == bool(row.why)] == []


def test_the_document_names_what_has_no_case() -> None:
    text = (Path(vyre.__file__).parent / "docs" / "conformance.md").read_text(encoding="utf-8")
    without = [row for row in coverage.coverage() if not row.cases]
    assert [f"{row.table}: {row.name}" for row in without] == ["casts: Bytes to Bytes"]
    assert "every row but the cast of Bytes to Bytes, because no expression has the type Bytes (V013)." in text


def test_case_ids_are_unique() -> None:
    ids = [made.id for made in cases()]
    assert len(ids) == len(set(ids))


def test_every_program_is_valid() -> None:
    for made in cases():
        for step in made.steps:
            assert vyre.validate(step.program) == [], made.id


def test_every_row_of_the_tables_has_cases() -> None:
    tables = vyre._core._tables
    assert {op.name for op in models.BINARY} == {row[0] for row in tables["binary"]}
    assert {op.name for op in models.UNARY} == {row[0] for row in tables["unary"]}
    assert {op.name for op in memory.ATOMICS} == {row[0] for row in tables["atomic"]}
    pairs = {(source.name, goal.name) for source, goal in casts.TABLE}
    # No expression has the type Bytes.
    assert pairs == {tuple(row) for row in tables["casts"]} - {("Bytes", "Bytes")}
    standard = {spec.id for spec in vyre._core._op_all() if operations.is_standard(spec)}
    assert standard == set(models.MODELS)


def test_the_cast_table_and_the_cast_rules_agree() -> None:
    """The document says each cast twice: by example and by rule."""
    for (source, goal), examples in casts.TABLE.items():
        for given, wanted in examples:
            assert casts.rule(source, goal, given) == list(wanted), (source, goal)
