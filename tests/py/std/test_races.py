"""Every call of the library has a race in ``bench/std``, and the races run."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import std_race
import vyre
from std_place import MODES, Place
from vyre import std
from vyre.std.search import ResidentMatches

# Their races call methods of Patterns and Regex.
BY_METHODS = {"find", "regex"}


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_every_call_stands_in_a_race_and_every_race_runs(monkeypatch, mode):
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
        for name, ours, amount, peer in std_race.cases(family, 1 << 12, Place("cpu", mode=mode)):
            assert amount > 0, name
            result = ours()
            std_race.wait_for(result)
            assert has_resident(result) == (mode == "resident" and name != "random_u32"), name  # it gives numpy's
            if peer is not None:
                peer()
                peers += 1
    assert called | BY_METHODS == calls
    assert peers > 80


def has_resident(result):
    each = result if isinstance(result, tuple) else [result]
    return any(isinstance(one, (vyre.Array, std.Messages, ResidentMatches)) for one in each)


@pytest.mark.parametrize("name", ["segmented_scan", "smith_waterman", "sum", "unique", "gather", "sort", "matmul"])
def test_a_peer_gives_what_the_call_gives(name):
    for family in ("arrays", "sorting"):
        for case, ours, _, peer in std_race.cases(family, 1 << 12, Place("cpu", mode="numpy")):
            if std_race.call_of(case) == name and peer is not None:
                np.testing.assert_array_equal(ours(), peer(), case)
