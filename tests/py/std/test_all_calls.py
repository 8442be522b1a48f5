"""Every call of the library by its row: results, the limits of numbers, swapped arguments."""

from __future__ import annotations

import inspect

import pytest

import vyre
from conftest import message, problem
from library_calls import ROWS, SMALL, Data
from library_models import assert_same
from vyre import std
from wrong_calls import wrong_calls

NUMBERS = [(name, argument) for name in ROWS for argument in ROWS[name].numbers]
SWAPPED = [(name, case) for name in ROWS for case in range(len(ROWS[name].swapped))]


def test_every_call_of_the_library_has_a_row():
    assert ROWS.keys() == {name for name in std.__all__ if inspect.isfunction(getattr(std, name))}


def check(name, data, **place):
    with vyre.default_device(**place):
        assert_same(ROWS[name].call(std, data), ROWS[name].model(data))


@pytest.mark.parametrize("name", ROWS)
def test_results_are_those_of_the_model(name, slow_target):
    check(name, SMALL, **slow_target)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS)
def test_a_million_elements_give_what_the_model_gives(name, target, rng):
    n = 10_007 if target["backend"] == "reference" else 1_000_003
    check(name, Data(n, rng, every=False), **target)


@pytest.mark.parametrize(("name", "argument"), NUMBERS)
def test_a_number_may_be_its_least_and_its_greatest_and_no_other(name, argument):
    row = ROWS[name].numbers[argument]
    for wrong in (row.least - 1, row.greatest + 1):
        assert problem(lambda wrong=wrong: row.call(wrong), vyre.ArgumentError) == (
            f"argument `{argument}` of vyre.std.{name} must be an integer from {row.least} to {row.greatest}, "
            f"got {wrong}."
        )
    for value, result in zip((row.least, row.greatest), row.results, strict=True):
        if result is not None:
            found = row.call(value)
            assert_same(found[0] if isinstance(found, tuple) else found, result)


@pytest.mark.parametrize(("name", "case"), SWAPPED)
def test_swapped_arguments_are_told_their_order(name, case):
    (first, second), (one, other, *more), wanted = ROWS[name].swapped[case]
    call = getattr(std, name)
    assert message(lambda: call(other, one, *more, backend="cpu"), vyre.BindingError) == (
        f"argument `{first}` of vyre.std.{name} is what `{second}` takes, and `{second}` what `{first}` takes: "
        f"`{first}` comes first. Fix: write vyre.std.{name}({first}, {second})."
    )
    assert_same(call(one, other, *more, backend="cpu"), wanted)


test_wrong_arguments_are_told = wrong_calls("all_calls", globals())
