"""`a[mask]` and `a[mask] = number` of resident arrays, against numpy."""

import numpy as np
import pytest

import vyre
from wrong_calls import wrong_calls

CPU = {"backend": "cpu"}
SHAPES = [(), (9,), (0,), (5, 4), (0, 4), (4, 0), (3, 4, 2), (2, 2, 2, 2)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["uint32", "int8", "uint64", "bool"])
def test_a_mask_selects_and_assigns_as_numpys(rng, dtype, shape):
    x = np.asarray(rng.integers(0, 2 if dtype == "bool" else 100, shape)).astype(dtype)
    number = x.dtype.type(1).item()
    for axes in range(len(shape) + 1):
        for share in (0, 0.5, 1):
            mask = np.asarray(rng.random(shape[:axes]) < share)
            array, index = vyre.array(x, **CPU), vyre.array(mask, **CPU)
            found, wanted = array[index], x[mask]
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            assert np.array_equal(found.numpy(), wanted)
            found.fill(number)  # is an array of its own
            assert np.array_equal(array.numpy(), x)
            array[index] = number
            written = x.copy()
            written[mask] = number
            assert np.array_equal(array.numpy(), written)


def test_every_device_selects_and_assigns(target, rng):
    x = rng.integers(0, 2**32, (500, 3), dtype=np.uint32)
    array = vyre.array(x, **target)
    assert np.array_equal(array[array > 2**31].numpy(), x[x > 2**31])
    array[array > 2**31] = 7
    assert np.array_equal(array.numpy(), np.where(x > 2**31, np.uint32(7), x))


def test_a_graph_replays_an_assignment():
    array = vyre.arange(4, **CPU)
    with vyre.graph() as graph:
        array[array > 1] = 9
    assert array.numpy().tolist() == [0, 1, 2, 3]
    graph.replay()
    assert array.numpy().tolist() == [0, 1, 9, 9]


def test_an_index_by_a_mask_in_a_graph_is_told_what_to_write():
    array = vyre.arange(4, **CPU)
    with vyre.graph() as graph:
        with pytest.raises(vyre.ArgumentError) as caught:
            array[array > 1]
        found, count = vyre.std.compact(array, array > 1)
    assert str(caught.value) == (
        "an index by a mask has no place in a graph: how many elements there are is known when it has run. "
        "Fix: write vyre.std.compact(a, mask), which gives them and their count."
    )
    graph.replay()
    assert (found.numpy().tolist(), count.numpy().tolist()) == ([2, 3, 0, 0], [2])


test_wrong_indices_are_told = wrong_calls("masks", globals())


def test_a_boolean_array_may_be_its_own_mask(target):
    mask = vyre.array(np.array([True, False, True]), **target)
    mask[mask] = False
    assert mask.numpy().tolist() == [False] * 3
