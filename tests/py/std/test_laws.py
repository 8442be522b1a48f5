"""The laws of the library hold on every backend, and one wrong element of any result breaks its law."""

from __future__ import annotations

import functools
import zlib

import numpy as np
import pytest

from library_laws import LAWS
from vyre import std


class Library:
    """The functions of vyre.std on one backend; the result of call `at` of function `name` has one wrong element."""

    def __init__(self, where, name=None, at=0):
        self.where, self.name, self.at = where, name, at
        self.calls = {}

    def __getattr__(self, name):
        function = matches if name == "regex" else getattr(std, name)

        def call(*args, **kwargs):
            turn = self.calls.get(name, 0)
            self.calls[name] = turn + 1
            result = function(*args, **kwargs, **self.where)
            return wrong(result) if (name, turn) == (self.name, self.at) else result

        return call


def matches(pattern, data, **where):
    return std.regex(pattern).find(data, **where)


def wrong(result):
    """The result with its middle element, or of several results the first's, changed in its lowest bit."""
    if isinstance(result, tuple):
        return (wrong(result[0]), *result[1:])
    if isinstance(result, bytes):
        if not result:
            return b"\0"
        middle = len(result) // 2
        return result[:middle] + bytes([result[middle] ^ 1]) + result[middle + 1 :]
    if isinstance(result, (bool, np.bool_)):
        return not result
    if isinstance(result, (int, np.integer)):
        return result ^ 1
    made = np.array(result)
    if not made.size:
        return np.append(made, np.ones(1, made.dtype))
    at = np.unravel_index(made.size // 2, made.shape)
    if made.dtype.names:
        made[at][made.dtype.names[0]] ^= 1
    else:
        made[at] = ~made[at] if made.dtype == bool else made[at] ^ made.dtype.type(1)
    return made


def numbers(name):
    """Random numbers of a law, the same for each of its runs."""
    return np.random.default_rng(zlib.crc32(name.encode()))


@functools.cache
def calls_of(name):
    """How often a law calls each function."""
    library = Library({"backend": "cpu"})
    LAWS[name](library, numbers(name))
    return library.calls


@pytest.mark.parametrize("name", LAWS)
def test_the_law_holds(name, rng):
    LAWS[name](Library({"backend": "cpu"}), rng)


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_the_law_holds_everywhere(name, target, rng):
    LAWS[name](Library(target), rng)


def sees(name, function, at):
    """Whether a law notices that a call of a function gives one wrong element."""
    try:
        LAWS[name](Library({"backend": "cpu"}, function, at), numbers(name))
    except (AssertionError, std.DecodeError):
        return True
    return False


@pytest.mark.parametrize("name", LAWS)
def test_one_wrong_element_of_any_result_breaks_the_law(name):
    calls = [(function, at) for function, count in calls_of(name).items() for at in range(count)]
    assert [call for call in calls if not sees(name, *call)] == []


def test_every_call_of_the_library_stands_in_a_law():
    calls = {"DecodeError", "Matches", "Messages", "Patterns", "Regex", "ResidentMatches"}
    for name in LAWS:
        calls |= {*calls_of(name)}
    assert sorted(calls) == sorted(std.__all__)
