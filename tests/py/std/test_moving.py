"""Elements moved along axes and chosen one by one, against numpy over types, shapes and axes."""

import numpy as np
import pytest

import vyre
from library_models import drawn
from vyre import In, i32, std, u32
from wrong_calls import wrong_calls

DTYPES = ["uint32", "int32", "uint64", "bool", "uint8", "int8", "uint16", "int16"]
SHAPES = [(0,), (1,), (300,), (5, 7), (0, 3), (3, 0), (4, 1, 6), (2, 3, 0)]
CPU = {"backend": "cpu"}


def some(rng, dtype, shape):
    return rng.random(shape) < 0.5 if dtype == "bool" else drawn(rng, dtype, shape)


def check(name, x, *more, **where):
    ours, numpys = getattr(std, name)(x, *more, **where), getattr(np, name)(x, *more)
    assert (ours.dtype, ours.shape) == (numpys.dtype, numpys.shape), (name, more)
    assert np.array_equal(ours, numpys), (name, more)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_move_as_numpys_do(rng, dtype, shape):
    x = some(rng, dtype, shape)
    for axis in (None, *range(-x.ndim, x.ndim)):
        check("flip", x, axis, **CPU)
        for shift in (0, 1, -2, 1000, -(10**20)):
            check("roll", x, shift, axis, **CPU)
        for repeats in (0, 1, 3):
            check("repeat", x, repeats, axis, **CPU)
        if axis is not None:
            for n in (0, 1, 2, 9):
                check("diff", x, n, axis, **CPU)
            for count in (1, 2, 5):
                parts = [np.roll(x, k, axis) for k in range(count)]
                parts[-1] = np.repeat(parts[-1], 2, axis)
                joined = std.concatenate(parts, axis, **CPU)
                assert np.array_equal(joined, np.concatenate(parts, axis))
                assert joined.dtype == x.dtype


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_are_chosen_as_numpys_are(rng, dtype):
    number = np.dtype(dtype).type(1)
    for shape in SHAPES:
        x, y, condition = some(rng, dtype, shape), some(rng, dtype, shape), some(rng, "bool", shape)
        for one, other in ((x, y), (x, number), (number, y)):
            for mask in (condition, condition.astype(np.int8), condition * np.uint64(2**40), condition & False):
                found = std.where(mask, one, other, **CPU)
                assert found.dtype == x.dtype
                assert np.array_equal(found, np.where(mask, one, other))
        if dtype != "bool":
            least, greatest = np.iinfo(dtype).min, np.iinfo(dtype).max
            for low, high in ((3, 90), (90, 3), (None, 5), (5, None), (least, greatest), (greatest, least)):
                check("clip", x, low, high, **CPU)
            assert np.array_equal(std.clip(x, **CPU), x)


def test_every_device_gives_numpys(target, rng):
    x = drawn(rng, "uint64", (70, 11))
    for name, *more in (("flip", 0), ("roll", -800), ("repeat", 3, 1), ("diff", 2, 0), ("clip", 2**40, 2**63)):
        check(name, x, *more, **target)
    assert np.array_equal(std.where(x % 2 == 0, x, 2**64 - 1, **target), np.where(x % 2 == 0, x, np.uint64(2**64 - 1)))
    assert np.array_equal(std.concatenate([x, x[:, ::-2]], 1, **target), np.concatenate([x, x[:, ::-2]], 1))


def test_a_procedure_gives_its_numbers_to_them():
    @vyre.procedure
    def all_of_them(x: In[i32, 2], shift: u32, low: i32):
        rolled = std.roll(std.concatenate([std.flip(x, 0), x, x], 0), shift, 0)
        return std.clip(std.repeat(rolled, shift), low, 3), std.where(std.roll(x, -3, 1), low, x), std.diff(x, axis=0)

    x = np.arange(12, dtype=np.int32).reshape(3, 4) - 5
    for shift in (0, 2, 100):
        clipped, chosen, less = all_of_them(x, shift, -4, **CPU)
        rolled = np.roll(np.concatenate([np.flip(x, 0), x, x], 0), shift, 0)
        assert np.array_equal(clipped, np.repeat(rolled, shift).clip(-4, 3))
        assert np.array_equal(chosen, np.where(np.roll(x, -3, 1), -4, x))
        assert np.array_equal(less, np.diff(x, axis=0))
    assert [each.size for each in all_of_them(x[:0], 1, 0, **CPU)] == [0, 0, 0]


def test_a_graph_replays_them():
    x = vyre.arange(6, **CPU)
    with vyre.graph() as graph:
        made = std.where(std.flip(x), std.roll(x, 1), std.clip(std.concatenate([x[3:], x[:3]]), 1, 4))
    x.write([9, 8, 7, 6, 5, 0])
    graph.replay()
    assert made.numpy().tolist() == [4, 9, 8, 7, 6, 5]


def test_more_elements_than_an_index_counts_are_refused():
    x = vyre.zeros(2**20, np.uint8, **CPU)
    with pytest.raises(vyre.ArgumentError, match=r"at most 4294967295 elements"):
        std.repeat(x, 2**12)


test_wrong_arguments_are_told = wrong_calls("moving", globals())
