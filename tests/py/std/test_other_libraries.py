"""Arrays of other libraries in calls of the library: by DLPack, with the results of numpy's arrays."""

from __future__ import annotations

import numpy as np
import pyarrow
import pytest

import vyre
from conftest import message, problem
from dlpack_producer import Tensor
from library_calls import MASK, ROWS, SMALL, U32
from vyre import std

PARAMETERS_OF_PYTHON = {"regex"}  # a pattern is bytes


class Foreign:
    """``vyre.std``, whose calls get the arrays and bytes of their arguments as tensors of another library."""

    def __init__(self):
        self.given = 0

    def __getattr__(self, name):
        function = getattr(std, name)
        if name in PARAMETERS_OF_PYTHON:
            return function
        return lambda *args, **named: function(*map(self.tensor, args), **named)

    def tensor(self, value):
        if isinstance(value, (list, tuple)):
            return type(value)(map(self.tensor, value))
        if isinstance(value, bytes):
            value = np.frombuffer(value, np.uint8)
        if not isinstance(value, np.ndarray):
            return value
        self.given += 1
        return Tensor(value)


def plain(result):
    """A result as values of Python, with the type of its elements."""
    if isinstance(result, (list, tuple)):
        return [plain(each) for each in result]
    if isinstance(result, vyre.Array):
        return "resident", plain(result.numpy())
    if isinstance(result, np.ndarray):
        return str(result.dtype), result.tolist()
    return result


WITHOUT_ARRAYS = {"random_u32", "regex"}


@pytest.mark.parametrize("name", ROWS)
def test_results_are_those_of_numpys_arrays(name):
    foreign = Foreign()
    with vyre.default_device("cpu"):
        assert plain(ROWS[name].call(foreign, SMALL)) == plain(ROWS[name].call(std, SMALL))
    assert bool(foreign.given) == (name not in WITHOUT_ARRAYS)


def test_methods_take_them_too():
    text = Tensor(np.frombuffer(b"abcd xx cd", np.uint8))
    with vyre.default_device("cpu"):
        for finder in (std.Regex(b"[a-c]+d"), std.Patterns([b"cd", b"x"])):
            assert finder.find(text).tolist() == finder.find(b"abcd xx cd").tolist() != []
        packed = std.Messages(text, Tensor(np.array([0, 4, 10], np.uint32)))
        assert std.sha256(packed).numpy().tolist() == std.sha256([b"abcd", b" xx cd"]).tolist()


def test_pyarrow_and_strides():
    column = pyarrow.array(U32.tolist(), pyarrow.uint32())
    with vyre.default_device("cpu"):
        assert std.sum(column, np.uint64) == int(U32.sum())
        assert std.sort(Tensor(U32[::-2])).tolist() == np.sort(U32[::-2]).tolist()
        assert std.compact(column, Tensor(MASK != 0)).tolist() == U32[MASK != 0].tolist()
        assert std.any(Tensor(MASK != 0)) is True


def test_mistakes_are_told():
    assert message(lambda: std.sort(Tensor(U32, device=(2, 0))), vyre.BindingError) == (
        "argument `x` of vyre.std.sort must be an array in memory of the host, got one on a CUDA device (number "
        "0). Fix: pass an array in memory of the host."
    )
    assert problem(lambda: std.sha256([b"", Tensor(U32)]), vyre.BindingError) == (
        "element 1 of argument `data` of vyre.std.sha256 must be an array of uint8, got one of uint32."
    )
    assert message(lambda: std.sum(pyarrow.array([1, None], pyarrow.uint32())), vyre.BindingError) == (
        "argument `x` of vyre.std.sum cannot be read through DLPack: Can only use DLPack on arrays with no nulls. "
        "Fix: pass a numpy array of its elements."
    )
    assert message(
        lambda: std.scatter(vyre.array(U32, backend="cpu"), Tensor(U32), Tensor(U32)), vyre.BindingError
    ) == (message(lambda: std.scatter(vyre.array(U32, backend="cpu"), U32, U32), vyre.BindingError))


def test_what_is_given_stays_as_it_is():
    data = np.frombuffer(SMALL.bytes, np.uint8).copy()
    with vyre.default_device("cpu"):
        std.scatter(Tensor(data), Tensor(np.zeros(1, np.uint32)), Tensor(data[:1] ^ 1))
        std.sort(Tensor(data))
    assert data.tobytes() == SMALL.bytes
