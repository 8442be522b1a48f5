"""Calls of the library in the body of a procedure: they become its steps, and give what they give outside of it."""

# No `from __future__ import annotations`: the procedures' annotations name types of the test that makes them.
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vyre
from conftest import message, refused
from library_calls import ROWS, Step
from vyre import In, InOut, boolean, i32, std, u8, u32, u64, vec4u32
from vyre.errors import ArgumentError, BindingError

TYPES = {"uint8": u8, "int32": i32, "uint32": u32, "uint64": u64}
STEPS = {f"{name}{which}": step for name, row in ROWS.items() for which, step in row.steps.items()}


def _annotation(x: np.ndarray, is_vector: bool) -> Any:
    element = boolean if x.dtype == bool else TYPES[x.dtype.name]
    return In[vec4u32] if is_vector else In[element, x.ndim]


@vyre.kernel
def copied(x: In[i32], y: vyre.Out[i32]) -> None:
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i]


@pytest.mark.parametrize("backend", ["reference", "cpu"])
@pytest.mark.parametrize("name", STEPS)
def test_a_call_in_a_procedure_gives_what_it_gives_outside(name: str, backend: str) -> None:
    call, arrays = STEPS[name].call, STEPS[name].arrays
    types = [_annotation(x, name.startswith("philox") and x.ndim == 2) for x in arrays]
    if len(arrays) == 1:

        @vyre.procedure
        def inside(x: types[0]) -> Any:
            return call(x)
    else:

        @vyre.procedure
        def inside(x: types[0], y: types[1]) -> Any:
            return call(x, y)

    _check(STEPS[name], inside(*arrays, backend=backend))


@pytest.mark.parametrize("name", STEPS)
def test_resident_arrays_give_resident_ones_and_stay_as_they_are(name: str, target: Any) -> None:
    step = STEPS[name]
    given = [vyre.array(x, **target) for x in step.arrays]
    found = step.call(*given)
    found = found if isinstance(found, tuple) else (found,)
    assert all(isinstance(each, vyre.Array) for each in found)
    _check(step, [each.numpy() for each in found])
    assert all(np.array_equal(x.numpy(), y) for x, y in zip(given, step.arrays, strict=True))


def _check(step: Step, found: Any) -> None:
    """Arrays are those of the call with numpy's arrays, and zeros behind the elements that are counted."""
    with vyre.default_device("cpu"):
        wanted = step.call(*step.arrays)
    found = found if isinstance(found, (tuple, list)) else (found,)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    if step.how in ("one", "last"):
        assert found[-1].shape == (1,)
        found = [*found[:-1], found[-1][0]]
    elif step.how == "counted":
        *found, count = found
        assert not any(each[int(count[0]) :].any() for each in found)
        found = [each[: int(count[0])] for each in found]
    assert len(found) == len(wanted)
    for each, other in zip(found, wanted, strict=True):
        assert isinstance(other, (int, bool)) or each.dtype == other.dtype
        assert np.array_equal(each, other)


def test_results_are_arrays_of_the_procedure() -> None:
    """Branches, repetitions and swaps take them, and so does `out=`, whatever their type."""

    @vyre.procedure
    def smoothed(x: In[i32], turns: u32) -> Any:
        a, b = std.sort(x), vyre.scratch(i32, x.length)
        with vyre.when(x.length > 3):
            copied(std.cumsum(a), b)
        with vyre.otherwise():
            copied(a, b)
        for _ in vyre.times(turns):
            copied(std.sort(b, descending=True), a)
            vyre.swap(a, b)
        return b

    x = np.array([5, -2, 9, 1], np.int32)
    sums = np.sort(x).cumsum(dtype=np.int32)
    assert np.array_equal(smoothed(x, 0, backend="cpu"), sums)
    assert np.array_equal(smoothed(x, 3, backend="cpu"), np.sort(sums)[::-1])
    assert np.array_equal(smoothed(x[:3], 0, backend="cpu"), np.sort(x[:3]))
    assert smoothed.check(x, 3, checks="race").ok
    out = np.zeros(4, np.int32)
    assert smoothed(x, 0, out=out, backend="cpu") is out
    assert np.array_equal(out, sums)


def test_a_part_and_a_table_are_arguments() -> None:
    index = np.array([3, 0, 9], np.uint32)

    @vyre.procedure
    def taken(x: In[u32]) -> Any:
        return std.gather(std.sort(x[2 : x.length]), index)

    x = np.array([9, 9, 7, 5, 1, 3], np.uint32)
    assert taken(x, backend="cpu").tolist() == [7, 1, 0]


def test_a_scatter_writes_an_array_of_the_procedure() -> None:
    @vyre.procedure
    def counts(index: In[u32], values: In[u32], y: InOut[u32]) -> None:
        std.scatter_add(y, index, values)

    y = np.array([1, 2, 3], np.uint32)
    counts(np.array([0, 2, 0], np.uint32), np.array([10, 20, 30], np.uint32), y, backend="cpu")
    assert y.tolist() == [41, 2, 23]


def test_a_selection_of_more_than_the_length_is_refused() -> None:
    @vyre.procedure
    def largest(x: In[u32], k: u32) -> Any:
        return std.topk(x, k)

    x = np.array([3, 9, 4], np.uint32)
    for k in (0, 2, 3):
        values, places = largest(x, k, backend="cpu")
        assert (values.tolist(), places.tolist()) == ([9, 4, 3][:k], [1, 2, 0][:k])
    told = (
        "argument `k` of vyre.std.topk must be at most length(x), the elements of `x`, got k. "
        "Fix: pass at most length(x), the elements of "
        "`x`."
    )
    for backend in ("cpu", "reference"):
        assert message(lambda backend=backend: largest(x, 4, backend=backend), ArgumentError) == told
    assert message(lambda: vyre.run(largest.procedure, {"x": x, "k": 4}, backend="cpu"), ArgumentError) == told


@pytest.mark.parametrize("name", ["min", "max", "argmin", "argmax"])
def test_the_extreme_of_nothing_is_refused_where_it_is_planned(name: str) -> None:
    @vyre.procedure
    def extreme(x: In[u32]) -> Any:
        return getattr(std, name)(x)

    assert extreme(np.array([5], np.uint32), backend="cpu").shape == (1,)
    with pytest.raises(ArgumentError) as inside:
        extreme(np.zeros(0, np.uint32), backend="cpu")
    with pytest.raises(ArgumentError) as outside:
        getattr(std, name)(vyre.zeros(0, backend="cpu"))
    assert str(inside.value) == str(outside.value)


LIKE: dict[str, Any] = {
    "compact": lambda x, y: std.compact(x, y),
    "partition": lambda x, y: std.partition(x, y),
    "sort_pairs": lambda x, y: std.sort_pairs(x, y),
    "segmented_reduce": lambda x, y: std.segmented_reduce(x, y[:0], "add"),
}


@pytest.mark.parametrize("name", LIKE)
def test_inputs_of_lengths_that_do_not_fit_are_refused_where_they_are_planned(name: str) -> None:
    @vyre.procedure
    def both(x: In[u32], y: In[u32]) -> Any:
        return LIKE[name](x, y)

    with pytest.raises((ArgumentError, BindingError), match=r"Fix: pass ") as caught:
        both(np.arange(5, dtype=np.uint32), np.arange(4, dtype=np.uint32), backend="cpu")
    assert f"of vyre.std.{name} " in str(caught.value)


def test_random_words_are_as_many_as_a_size_says() -> None:
    @vyre.procedure
    def mixed(x: In[u32]) -> Any:
        return std.cumsum(std.random_u32(x.length, 5))

    for n in (0, 1, 6):
        wanted = std.random_u32(n, 5, backend="cpu").cumsum(dtype=np.uint32)
        assert np.array_equal(mixed(np.zeros(n, np.uint32), backend="cpu"), wanted)


def test_a_procedure_with_calls_joins_a_graph() -> None:
    @vyre.procedure
    def sums(x: In[i32]) -> Any:
        return std.cumsum(std.sort(x))

    x = vyre.array(np.array([3, -1, 2], np.int32), backend="cpu")
    with vyre.graph() as graph:
        y = sums(x)
    graph.replay()
    assert y.numpy().tolist() == [-1, 1, 4]


OUTSIDE = "Fix: call it outside of the procedure, before or after, on a numpy array or a vyre.Array."


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (
            lambda x, y: std.sha256(b"abc"),
            "argument `data` of vyre.std.sha256 stands in the body of a procedure",
        ),
        (
            lambda x, y: std.crc32([b"abc"]),
            "argument `data` of vyre.std.crc32 stands in the body of a procedure",
        ),
        (lambda x, y: std.hex_encode(y), "argument `data` of vyre.std.hex_encode stands in the body of a procedure"),
        (lambda x, y: std.bfs(x, x, 0), "vyre.std.bfs stands in the body of a procedure"),
        (lambda x, y: std.find([b"a"], b"abc"), "vyre.std.find stands in the body of a procedure"),
    ],
)
def test_a_call_that_cannot_be_a_step_is_refused(body: Any, problem: str) -> None:
    with pytest.raises((ArgumentError, BindingError)) as error:
        _recorded(body)
    assert str(error.value).startswith(problem)
    assert str(error.value).endswith(OUTSIDE)


def _recorded(body: Any) -> None:
    @vyre.procedure
    def outer(x: In[u32], y: In[u8]) -> None:
        body(x, y)

    _ = outer.procedure


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            lambda x, y: std.bincount(x),
            "vyre.std.bincount stands in the body of a procedure, and the call cannot be a step. "
            "Fix: call it outside of the procedure, before or after, on a numpy array or a vyre.Array.",
        ),
        (
            lambda x, y: std.sort(x, backend="cpu"),
            "argument `backend` of vyre.std.sort has no place in a procedure, which runs as a whole. "
            "Fix: leave it out.",
        ),
        (
            lambda x, y: std.cumsum(y),
            "argument `x` of vyre.std.cumsum must be an array of uint32, int32 or uint64, got one of uint8. "
            "Fix: pass an array of uint32, int32 or uint64.",
        ),
        (
            lambda x, y: std.scatter_add(np.zeros(3, np.uint32), x, x),
            "argument `out` of vyre.std.scatter_add must be an array that the procedure writes, got a table. "
            "Fix: pass an array that the procedure writes.",
        ),
        (
            lambda x, y: std.cumsum(vyre.arange(3, backend="cpu")),
            "must be an array of the procedure, got a vyre.Array. Fix: pass an array of the procedure.",
        ),
    ],
)
def test_what_a_step_cannot_take_is_told(body: Any, message: str) -> None:
    with pytest.raises((ArgumentError, BindingError)) as error:
        _recorded(body)
    assert str(error.value).endswith(message)


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (
            lambda x, y: std.sort_pairs(x, x[1:]),
            "argument `values` of vyre.std.sort_pairs must have one for each of the length(x) keys, got length(x) - 1. "
            "Fix: pass one with one for each of the length(x) keys.",
        ),
        (
            lambda x, y: std.compact(vyre.scratch(u32, 10, zeros=True), np.ones(11, np.uint8)),
            "argument `mask` of vyre.std.compact must have one for each of the 10 elements of `x`, got 11.",
        ),
        (
            lambda x, y: std.scatter(
                vyre.scratch(u32, 4, zeros=True), x, vyre.scratch(u32, x.length * 2 - x.length + 2, zeros=True)
            ),
            "argument `values` of vyre.std.scatter must have one for each of the length(x) indices, got "
            "((length(x) * 2) - length(x)) + 2. "
            "Fix: pass one with one for each of the length(x) indices.",
        ),
        (
            lambda x, y: std.matmul(
                vyre.scratch(u32, 3, x.length, zeros=True), vyre.scratch(u32, 1 + x.length, 3, zeros=True)
            ),
            "the rows of argument `b` of vyre.std.matmul must have one for each of the length(x) columns of `a`, "
            "got 1 + length(x). Fix: pass one with one for each of the length(x) columns of `a`.",
        ),
        (
            lambda x, y: vyre.swap(vyre.scratch(u32, x.length), vyre.scratch(u32, x.length - 1)),
            "vyre.swap exchanges `scratch` of shape (length(x),) and `scratch1` of shape (length(x) - 1,). "
            "Fix: make both with the same shape.",
        ),
    ],
)
def test_lengths_that_are_known_to_differ_are_told_when_the_body_is_recorded(body: Any, wanted: str) -> None:
    with refused((ArgumentError, BindingError), wanted):
        _recorded(body)


def test_lengths_that_may_agree_are_taken() -> None:
    @vyre.procedure
    def inner(x: In[u32], y: In[u8], n: u32) -> Any:
        a, b = vyre.scratch(u32, n, zeros=True), vyre.scratch(u32, x.length + 1 - 1, zeros=True)
        vyre.swap(a, b)
        return std.compact(x, y)[0], std.sort_pairs(x, b)[1], a

    x = np.arange(5, dtype=np.uint32)
    assert inner(x, np.array([1, 0, 0, 0, 1], np.uint8), 5, backend="cpu")[0][:2].tolist() == [0, 4]


def test_a_report_names_the_line_that_calls_the_library() -> None:
    @vyre.procedure
    def unwritten(x: In[u32]) -> Any:
        kept = vyre.scratch(u32, x.length, name="kept")
        copied(x[0:0].view(i32), kept[0:1].view(i32))
        return std.cumsum(kept)  # here

    place = unwritten.check(np.ones(6, np.uint32), checks="uninitialised-read").reports[0].step.place
    lines = Path(__file__).read_text().splitlines()
    assert [(Path(file).name, lines[line - 1].strip()) for file, line in place.callers] == [
        (Path(__file__).name, "return std.cumsum(kept)  # here")
    ]
    assert Path(place.file).name == "scans.py"
