"""Every call of the library has a race in ``bench/std``, and the races run."""

from __future__ import annotations

import inspect

import pytest

import std_race
from vyre import std

# Their races call methods of Patterns and Regex.
BY_METHODS = {"find", "regex"}


@pytest.mark.slow
def test_every_call_stands_in_a_race_and_every_race_runs(monkeypatch):
    called: set[str] = set()

    def noted(name, function):
        def call(*args, **kwargs):
            called.add(name)
            return function(*args, **kwargs)

        return call

    calls = {name for name in std.__all__ if inspect.isfunction(getattr(std, name))}
    for name in calls:
        monkeypatch.setattr(std, name, noted(name, getattr(std, name)))
    peers = 0
    for family in std_race.families():
        for name, ours, amount, peer in std_race.cases(family, 1 << 12, {"backend": "cpu", "device": None}):
            assert amount > 0, name
            std_race.wait_for(ours())
            if peer is not None:
                peer()
                peers += 1
    assert called | BY_METHODS == calls
    assert peers > 80
