"""Values that go into a vyre.Array and come out of it: exact values, elements, comparisons, DLPack, devices."""

# ruff: noqa: E501  (messages stand whole)
from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import vyre
from conftest import message, problem, refusals, refused
from vyre import BufferDecl, Expr, Node, Program

I = Expr.gid_x()  # noqa: E741


ADD_ONE = Program(
    [BufferDecl.read_write("data", 0, vyre.u32)], (64, 1, 1), [Node.store("data", I, Expr.load("data", I) + 1)]
)


# --- values that go in ---


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1, 2, 2**32 - 1], np.uint32),
        (np.array([1, 2**32 - 1], np.int64), np.uint32),
        (np.array([1, 2], ">u2"), np.uint32),
        ([-(2**31), 2**31 - 1], np.int32),
        ([0, 2**64 - 1], np.uint64),
        ([True, False], np.bool_),
        ([], np.uint32),
        (7, np.uint32),
        ([[1, 2], [3, 4]], np.uint8),
    ],
    ids=str,
)
def test_integers_that_fit_are_taken_for_a_dtype_that_is_asked_for(values, dtype):
    got = vyre.array(values, dtype=dtype, backend="cpu").numpy()
    assert got.dtype == dtype
    assert got.tolist() == np.asarray(values, dtype=object).tolist()


WRITE = "argument `values` of Array.write must be"
ARRAY = "argument `values` of vyre.array must be"
AS_WORDS = "pass integers for uint32"


def write(values, dtype=np.uint32):
    return lambda: vyre.empty(3, dtype, backend="cpu").write(values)


def make(values, dtype=np.uint32):
    return lambda: vyre.array(values, dtype=dtype, backend="cpu")


test_nothing_is_converted_silently = refusals(
    [
        (write(2.7), f"{WRITE} integers for uint32, got 2.7", AS_WORDS),
        (write([0, 2**32, 0]), f"{WRITE} integers from 0 to 4294967295 for uint32, got 4294967296 at [1]", "pass integers from 0 to 4294967295 for uint32"),
        (write([2**70, 0, 0]), f"{WRITE} integers from 0 to 4294967295 for uint32, got 1180591620717411303424 at [0]", "pass integers from 0 to 4294967295 for uint32"),
        (write([0, 1, 0], np.bool_), f"{WRITE} True or False for bool, got 0 at [0]", "pass True or False for bool"),
        (write(np.array([0.5])), f"{WRITE} an array of uint32, got one of float64 with shape (1,)", "pass an array of uint32"),
        (write("seven"), f"{WRITE} integers for uint32, got 'seven'."),
        (lambda: vyre.full(2, np.ma.array([1, 2], mask=[0, 1], dtype=np.uint32), backend="cpu"), "argument `value` of vyre.full must be an array without a mask, got a masked array", "pass an array without a mask"),
        (make(np.zeros((0, 1))), f"{ARRAY} integers for uint32, got an array of float64 with shape (0, 1)", AS_WORDS),
        (make(np.zeros(0, np.bool_)), f"{ARRAY} integers for uint32, got an array of bool with shape (0,)", AS_WORDS),
        (make([1], np.float32), "argument `dtype` of vyre.array must be uint32, int32, uint64, bool, uint8, int8, uint16 or int16, or a vyre.DataType, got float32."),
    ],
    vyre.ArgumentError,
)  # fmt: skip


def test_rows_of_two_lengths_are_no_array():
    said = message(make([[1, 2], [3]]), vyre.ArgumentError)
    assert said.startswith("argument `values` of vyre.array must be numbers, all rows of one length, got ")


def test_numbers_that_fit_are_written(place):
    array = vyre.empty((2, 3), **place)
    array.write(np.int64(5))
    array[0] = [1, 2, 3]
    array[1, 2] = 2**32 - 1
    array[1, 0:2] = [7, 8]
    assert array.numpy().tolist() == [[1, 2, 3], [7, 8, 2**32 - 1]]
    for values in (2.7, [1.5, 2, 3], -1):
        with pytest.raises(vyre.ArgumentError):
            array[0:1] = values
    assert array.numpy().tolist() == [[1, 2, 3], [7, 8, 2**32 - 1]]


# --- values that come out ---


def test_an_index_gives_rows_and_elements_as_numpy_does(place):
    values = np.arange(24, dtype=np.uint32).reshape(2, 3, 4)
    array = vyre.array(values, **place)
    for key in (0, -1, (1, 2), (1, -3, 0), slice(0, 1), (0, slice(1, 3)), (1, 2, slice(1, None)), np.int64(1), ()):
        got, wanted = array[key], values[key]
        if np.ndim(wanted):
            assert isinstance(got, vyre.Array)
            got = got.numpy()
        assert type(got) is type(wanted)
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)
    assert message(lambda: array[2], IndexError) == (
        "index 2 is out of range for an axis of 2 of a vyre.Array of uint32 with shape (2, 3, 4). Fix: write an index from -2 to 1."
    )
    assert message(lambda: array[2**80], IndexError).startswith("index 1208925819614629174706176 is out of range")
    assert message(lambda: array[0, 0, 0, 0], IndexError).endswith("Fix: write one for each axis, or array.numpy().")
    assert message(lambda: vyre.empty(0, backend="cpu")[0], IndexError).endswith("Fix: read no element of it.")
    for key in (True, "a", 0.5, None, (slice(0, 1), 0), [0, 1], slice(None, None, 2)):
        with pytest.raises(
            vyre.ArgumentError, match=r"(must be integers and at most one slice, which is the last|has the step 2)"
        ):
            array[key]
    flags = vyre.array([True, False], dtype=vyre.boolean, **place)
    assert flags[0] == np.True_
    assert flags[1] == np.False_


def test_one_element_is_a_number(place):
    one = vyre.array(np.array([[7]], np.uint32), **place)
    assert int(one) == 7
    assert float(one) == 7.0
    assert bool(one) is True
    assert bool(vyre.empty(1, **place)) is False
    assert int(vyre.array(np.array(-5, np.int32), **place)) == -5
    two = vyre.empty(2, **place)
    assert message(lambda: int(two), vyre.ArgumentError) == (
        "int() takes a vyre.Array of one element, got a vyre.Array of uint32 with shape (2,). Fix: write int(array[k]), or array.numpy()."
    )
    for array in (two, vyre.empty(0, **place)):
        assert message(lambda array=array: bool(array), vyre.ArgumentError).endswith(
            "has no truth value of its own. Fix: write array.numpy().any() or array.numpy().all()."
        )
    for use in (lambda: two + 1.0, lambda: -1 + two, lambda: two / 2, lambda: two**two, lambda: two & True):
        assert message(use, vyre.ArgumentError).startswith("operator `")


def test_repr_shows_values(place):
    array = vyre.array(np.arange(3, dtype=np.uint32), **place)
    assert repr(array).endswith(": [0, 1, 2]>")
    assert repr(vyre.array(np.arange(2000, dtype=np.int32) - 5, **place)).endswith(
        ": [-5, -4, -3, ..., 1992, 1993, 1994]>"
    )
    assert repr(vyre.array(np.array([True, False]), **place)).endswith(": [ True, False]>")
    with vyre.graph():
        ADD_ONE(array, workgroups=1)
        assert "with shape (3,) on" in repr(array)  # not read while it cannot be


# --- DLPack ---


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_dlpack_of_an_array_on_the_host_shares_its_memory(backend):
    array = vyre.array(np.arange(64, dtype=np.uint32), backend=backend)
    view = np.from_dlpack(array, copy=False)
    part = np.from_dlpack(array[8:16])
    assert np.shares_memory(view, part)
    assert part.tolist() == list(range(8, 16))
    ADD_ONE(array, workgroups=1)
    assert view[:3].tolist() == [1, 2, 3]
    assert view.flags.writeable
    view[:] = 100
    ADD_ONE(array, workgroups=1)
    assert array.numpy().tolist() == [101] * 64
    assert view.tolist() == [101] * 64
    copy = np.from_dlpack(array, copy=True)
    copy[:] = 0
    assert array[0] == 101
    del array, view
    gc.collect()
    part[:] = np.arange(8)  # the memory lives as long as anyone looks at it
    assert part.tolist() == list(range(8))


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_a_uniform_buffers_words_may_change_through_dlpack(backend):
    program = Program(
        [BufferDecl.uniform("n", 0, vyre.u32), BufferDecl.output("out", 1, vyre.u32)],
        (4, 1, 1),
        [
            Node.let("sum", 0),
            Node.loop("k", 0, Expr.load("n", 0), [Node.assign("sum", Expr.var("sum") + 1)]),
            Node.store("out", I, Expr.var("sum")),
        ],
    )
    n, out = vyre.empty(1, backend=backend), vyre.empty(4, backend=backend)
    words = np.from_dlpack(n)
    for rounds in (3, 3, 3, 3, 9, 0, 5):
        words[0] = rounds
        assert program(n, out, workgroups=1).numpy().tolist() == [rounds] * 4


def test_dlpack_copies_where_memory_cannot_be_shared(place):
    array = vyre.array(np.arange(5, dtype=np.uint32), **place)
    if place["device"] is not None:
        assert message(lambda: np.from_dlpack(array, copy=False), BufferError) == (
            f"a vyre.Array of uint32 with shape (5,) on {place['backend']} lies in its device's memory, which the host does not share. Fix: leave out copy=False."
        )
        copy = np.from_dlpack(array)
        copy[0] = 9
        assert array[0] == 0
    flags = vyre.array(np.array([True, False]), **place)
    assert np.from_dlpack(flags).tolist() == [True, False]
    with pytest.raises(BufferError, match="Fix: leave out copy=False"):
        np.from_dlpack(flags, copy=False)


@pytest.mark.parametrize(("backend", "turns"), [("cpu", 1_000_000), ("reference", 50_000)])
def test_dlpack_waits_for_the_call_that_writes_the_array(backend, turns):
    rounds = [Node.loop("k", 0, turns, [Node.store("data", I, Expr.load("data", I) + 1)])]
    program = Program([BufferDecl.read_write("data", 0, vyre.u32)], (64, 1, 1), rounds)
    data, calls, seen = vyre.empty(64, backend=backend), 0, None
    while seen is None:
        calls += 1
        thread = threading.Thread(target=lambda: program(data, workgroups=1))
        thread.start()
        while seen is None and thread.is_alive():
            try:
                data.wait(timeout=1e-6)
            except vyre.DispatchTimeoutError:  # the call is at work
                seen = np.from_dlpack(data)[0]
        thread.join()
    assert seen == calls * turns


class SpeaksDLPackAlone:
    """An object like pyarrow's arrays: no dtype, no __array__, and an older signature."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, stream=None):
        return self.values.__dlpack__()

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def test_what_dlpack_cannot_be_asked_for_is_told():
    array = vyre.empty(2, backend="cpu")
    where = "of Array.__dlpack__ must be"
    for wrong, text in [
        (
            {"stream": 5},
            f"`stream` {where} None, got 5 (int). Fix: pass None.",
        ),
        (
            {"max_version": "x"},
            f"`max_version` {where} a tuple of two integers or None, got 'x' (str). Fix: pass a tuple of two integers or None.",
        ),
        (
            {"max_version": (1,)},
            f"`max_version` {where} a tuple of two integers or None, got (1,) (tuple).",
        ),
        ({"copy": 3}, f"`copy` {where} True or False, got 3 (int). Fix: pass True or False."),
    ]:
        with refused(vyre.ArgumentError, f"argument {text}"):
            array.__dlpack__(**wrong)
    assert message(lambda: array.__dlpack__(version=1), vyre.CallError) == (
        "Array.__dlpack__() has no argument 'version'. Fix: write Array.__dlpack__(stream=..., max_version=..., dl_device=..., copy=...)."
    )
    for right in ({"stream": None}, {"max_version": (1, 0)}, {"copy": True}, {"dl_device": (1, 0), "copy": None}):
        assert "dltensor" in repr(array.__dlpack__(**right))


def test_whatever_speaks_dlpack_makes_an_array():
    values = np.arange(5, dtype=np.uint32)
    assert vyre.array(SpeaksDLPackAlone(values), backend="cpu").numpy().tolist() == values.tolist()
    assert vyre.array(SpeaksDLPackAlone(values.astype(np.int64)), dtype=vyre.u32, backend="cpu").dtype == np.uint32

    class Elsewhere(SpeaksDLPackAlone):
        def __dlpack__(self, stream=None):
            raise BufferError("it lies elsewhere.")

    assert problem(lambda: vyre.array(Elsewhere(values)), vyre.ArgumentError) == (
        "argument `values` of vyre.array cannot be read through DLPack: it lies elsewhere."
    )


# --- devices ---


def test_an_int_means_what_devices_lists():
    for position, device in enumerate(vyre.devices()):
        if not device.usable:
            continue
        for chosen in (position, device):
            array = vyre.array([1], dtype=vyre.u32, device=chosen)
            assert (array.backend, array.device) == (device.backend, device.index)
            # Beside a backend, an int counts the devices of that one.
            array = vyre.empty(1, device=device.index if chosen is position else chosen, backend=device.backend)
            assert (array.backend, array.device) == (device.backend, device.index)
            with vyre.profile() as profile:
                vyre.run(ADD_ONE, {"data": 4}, 1, device=chosen)
            assert device.index in {event.device for event in profile.events}


def test_a_device_that_is_not_listed_is_told():
    count = len(vyre.devices())
    assert message(lambda: vyre.empty(1, device=count), vyre.ArgumentError) == (
        f"argument `device` of vyre.empty must be an index into vyre.devices(), which lists {count}, got {count} (int). "
        f"Fix: pass an index into vyre.devices(), which lists {count}."
    )
    for call, name in [
        (lambda: vyre.array([1], dtype=vyre.u32, device="gpu"), "vyre.array"),
        (lambda: vyre.run(ADD_ONE, {"data": 4}, 1, device="gpu"), "vyre.run"),
    ]:
        assert message(call, vyre.ArgumentError) == (
            f"argument `device` of {name} must be an index into vyre.devices(), or one of its elements, got 'gpu' (str). "
            f"Fix: pass an index into vyre.devices(), or one of its elements."
        )
    assert message(lambda: vyre.run(ADD_ONE, {"data": 4}, 1, device=0, check="all"), vyre.ArgumentError) == (
        "argument `device` of vyre.run has no place in a check, which runs on the reference. Fix: leave it out."
    )


class Endless(list):
    """A list that grows while it is read."""

    def __iter__(self):
        while True:
            self.append(1)
            yield 1


def test_what_is_neither_numbers_nor_an_array_is_not_compared():
    array = vyre.array([1, 2], dtype=vyre.u32, backend="cpu")
    assert (array == Endless()) is False
    assert (array != Endless()) is True
    assert (array == None) is False  # noqa: E711
    with pytest.raises(TypeError, match=r"not supported between instances of 'vyre\._core\.Array' and 'Endless'"):
        array < Endless()  # noqa: B015
    assert (array == np.uint64(2)).numpy().tolist() == [False, True]


def test_a_view_that_repeats_one_element_is_refused_whatever_its_size():
    """Seen: minutes, for the smallest of 2^42 elements."""
    ones = np.broadcast_to(np.int64(-1), (2**20, 2**20, 4))
    assert message(lambda: vyre.array(ones, dtype=vyre.u32), vyre.ArgumentError).startswith(
        "argument `values` of vyre.array must be integers from 0 to 4294967295 for uint32, got -1 at [0, 0, 0]. "
    )
    assert "Fix: pass a numpy array of uint32" in message(
        lambda: vyre.run(ADD_ONE, {"data": ones}, 1), vyre.BindingError
    )
