"""Plans of procedures: what a call with other arrays, other numbers, from other threads and in graphs works with."""

import numpy as np

import vyre
from conftest import refused
from threads import in_threads
from vyre import In, Out, u32
from vyre.errors import BindingError


@vyre.kernel
def scaled_by(x: In[u32], y: Out[u32], times: u32, plus: u32):
    i = vyre.gid(0)
    y[i] = x[i] * times + plus


@vyre.procedure
def scaled_often(x: In[u32], k: u32, plus: u32):
    a, b = vyre.scratch(u32, x.length), vyre.scratch(u32, x.length)
    scaled_by(x, a, 1, 0)
    for _ in vyre.times(k):
        scaled_by(a, b, 3, plus)
        vyre.swap(a, b)
    return a


def scaled_on_host(x, k, plus):
    for _ in range(k):
        x = x * 3 + np.uint32(plus)
    return x


def test_a_procedure_in_a_graph_is_one_call_that_is_replayed_with_its_numbers(place):
    x, y = (vyre.array(np.arange(300, dtype=np.uint32), **place) for _ in range(2))
    with vyre.graph() as graph:
        first = scaled_often(x, 3, 5)
        scaled_often(first, 2, 7, out=y)
    assert len(graph) == 2
    scaled_often(x, 3, 9)  # works with the same scratch memory
    for turn in range(3):
        given = np.arange(300, dtype=np.uint32) + turn
        x.write(given)
        graph.replay(2)
        np.testing.assert_array_equal(y.numpy(), scaled_on_host(scaled_on_host(given, 3, 5), 2, 7))


def test_threads_that_call_one_procedure_at_once_do_not_mix_their_scratch_memory(place):
    wrong = []

    def call(seed):
        x = np.arange(500, dtype=np.uint32) * seed
        for plus in range(6):
            if not np.array_equal(scaled_often(x, 3, plus, **place), scaled_on_host(x, 3, plus)):
                wrong.append((seed, plus))

    in_threads(call, range(1, 5))
    assert wrong == []


def test_arrays_of_a_call_that_overlap_are_refused_when_one_is_written():
    data = vyre.array(np.arange(100, dtype=np.uint32), backend="cpu")
    with refused(
        BindingError,
        "arrays `x` and `scratch` overlap in memory, and one of them is written",
        "give each its own array, for instance a copy",
    ):
        scaled_often(data[:60], 1, 0, out=data[40:])


def test_results_come_in_the_order_of_the_return_statement(place):
    @vyre.procedure
    def both(x: In[u32]):
        first, second = vyre.scratch(u32, x.length), vyre.scratch(u32, x.length // 2)
        scaled_by(x, first, 2, 0)
        scaled_by(x, second, 3, 0)
        return second, first

    @vyre.procedure
    def outer(x: In[u32]):
        second, first = both(x)
        return first, second

    x = np.arange(100, dtype=np.uint32)
    for found in (both(x, **place), outer(x, **place)[::-1]):
        np.testing.assert_array_equal(found[0], x[:50] * 3)
        np.testing.assert_array_equal(found[1], x * 2)
    third, twice = vyre.empty(50, **place), vyre.empty(100, **place)
    both(vyre.array(x, **place), out=(third, twice))
    np.testing.assert_array_equal(third.numpy(), x[:50] * 3)
    np.testing.assert_array_equal(twice.numpy(), x * 2)
