"""Calls of vyre.std whose first two arguments are swapped say which comes first, and the Fix gives the right result."""

from __future__ import annotations

import numpy as np
import pytest

from vyre import std
from vyre.errors import BindingError

WORDS = np.array([5, 6, 7, 8], np.uint32)
MASK = WORDS > 6


@pytest.mark.parametrize(
    ("function", "names", "arguments", "expected"),
    [
        (std.find, ("patterns", "data"), ([b"b"], b"abc"), [(1, 2, 0)]),
        (std.find, ("patterns", "data"), ([b"b"], np.frombuffer(b"abc", np.uint8)), [(1, 2, 0)]),
        (std.find, ("patterns", "data"), (std.Patterns([b"b"]), b"abc"), [(1, 2, 0)]),
        (std.reduce, ("x", "op"), (WORDS, "add"), 26),
        (std.scan, ("x", "op"), (WORDS, "add"), [5, 11, 18, 26]),
        (std.compact, ("x", "mask"), (WORDS, MASK), [7, 8]),
        (std.partition, ("x", "mask"), (WORDS, MASK), ([7, 8, 5, 6], 2)),
        (std.topk, ("x", "k"), (WORDS, 2), ([8, 7], [3, 2])),
        (std.histogram, ("x", "bins"), (WORDS, 2, 5, 9), [2, 2]),
    ],
)
def test_swapped_arguments_are_told_their_order(function, names, arguments, expected):
    first, second, *others = arguments
    name = f"vyre.std.{function.__name__}"
    with pytest.raises(BindingError) as caught:
        function(second, first, *others, backend="cpu")
    assert str(caught.value) == (
        f"argument `{names[0]}` of {name} is what `{names[1]}` takes, and `{names[1]}` what `{names[0]}` takes: "
        f"`{names[0]}` comes first. Fix: write {name}({names[0]}, {names[1]})."
    )
    given = function(*arguments, backend="cpu")
    if isinstance(given, tuple):
        assert tuple(np.asarray(each).tolist() for each in given) == expected
    else:
        assert given.tolist() == expected
