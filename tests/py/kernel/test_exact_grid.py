"""A grid is exact: what the size of a workgroup adds has no effect, in every way to call a kernel.

Expected values are Python's counts, or those of the same body in workgroups of one invocation, which add nothing.
"""

import math

import numpy as np
import pytest

import vyre
from conftest import refused
from vyre import In, InOut, Out, u32

X = np.array([3, 0, 5, 7, 9], np.uint32)


@vyre.kernel(workgroup_size=(4, 4, 2))
def count(n: InOut[u32]):
    n.atomic_add(0, 1 + 0 * (vyre.gid(0) + vyre.gid(1) + vyre.gid(2)))


def zero():
    return np.zeros(1, np.uint32)


GRIDS = [1, 5, 8, (3, 9), (4, 4, 3), (8, 8, 2), (5, 0, 1)]


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_each_invocation_of_a_grid_runs_once_and_no_other(target, grid):
    counts = grid if isinstance(grid, tuple) else (grid,)
    wanted = math.prod(counts)
    for _ in range(2):
        assert count(zero(), grid=grid, **target) == [wanted]

    @vyre.procedure
    def recorded(n: InOut[u32], size: In[u32]):
        count(n, grid=grid)
        count(n, grid=tuple(each * size.length for each in counts))

    place = {name: target[name] for name in ("backend", "device") if name in target}
    n = zero()
    for size, more in ((1, wanted), (3, wanted * 3 ** len(counts))):
        before = int(n[0])
        recorded(n, np.zeros(size, np.uint32), **place)
        assert n[0] == before + wanted + more


def test_a_resident_grid_is_exact_within_the_largest_counts_in_procedures_too():
    @vyre.procedure
    def recorded(n: InOut[u32], counts: In[u32]):
        count(n, grid=counts, at_most=(9, 7))

    counts = vyre.array(np.array([5, 9, 1], np.uint32), backend="cpu")
    for call in (lambda n: count(n, grid=counts, at_most=(9, 7)), lambda n: recorded(n, counts)):
        n = vyre.array(zero(), backend="cpu")
        call(n)
        assert n.numpy() == [35]


def stored(x: In[u32], n: InOut[u32], out: Out[u32]):
    i = vyre.gid(0)
    out[i] = x[i] + 1


def below(x: In[u32], n: InOut[u32], out: Out[u32]):
    if vyre.gid(0) < len(out):
        n.atomic_add(0, 1)


def returned(x: In[u32], n: InOut[u32], out: Out[u32]):
    i = vyre.gid(0)
    if len(x) <= i:
        return
    n.atomic_add(0, x[i])
    out[i] = i


def negated(x: In[u32], n: InOut[u32], out: Out[u32]):
    i = vyre.gid(0)
    if not (i < len(x) and x[i] != 7):
        return
    n.atomic_add(0, 1)


def asked(x: In[u32], n: InOut[u32], out: Out[u32]):
    if vyre.gid(0) < vyre.grid_size(0):
        n.atomic_add(0, 1)


def alone(x: In[u32], n: InOut[u32], out: Out[u32]):
    n.atomic_add(0, 1)


def either(x: In[u32], n: InOut[u32], out: Out[u32]):
    i = vyre.gid(0)
    if i < len(x) or x[0] == 3:
        n.atomic_add(0, 1)


def further(x: In[u32], n: InOut[u32], out: Out[u32]):
    if vyre.gid(0) < len(x) + 2:
        n.atomic_add(0, 1)


def moved(x: In[u32], n: InOut[u32], out: Out[u32]):
    j = vyre.gid(0)
    if j > 2:
        j = 0
    if j < len(x):
        n.atomic_add(0, 1)


def beside(x: In[u32], n: InOut[u32], out: Out[u32]):
    if vyre.gid(0) < len(x):
        out[vyre.gid(0)] = 1
    n.atomic_add(0, 1)


def otherwise(x: In[u32], n: InOut[u32], out: Out[u32]):
    i = vyre.gid(0)
    if i < len(x):
        out[i] = 1
    else:
        n.atomic_add(0, 1)


def without_end(x: In[u32], n: InOut[u32], out: Out[u32]):
    i = vyre.gid(0)
    left = 1 if i >= len(x) else 0
    while left != 0:
        left = left | 1
    out[i] = 1


def wrapping(x: In[u32], n: InOut[u32], out: Out[u32]):
    i = vyre.gid(0)
    total = 0
    for j in range(len(x) - i):
        total += x[i + j]
    out[i] = total


KEPT = [stored, below, returned, negated, asked]
OPEN = [alone, either, further, moved, beside, otherwise, without_end, wrapping]


@pytest.mark.parametrize("function", [*KEPT, *OPEN], ids=lambda each: each.__name__)
def test_only_kernels_that_do_not_keep_to_their_grid_by_themselves_get_a_comparison(target, function):
    kernel, exact = vyre.kernel(function), vyre.kernel(workgroup_size=1)(function)
    for grid in (None, 5, 3, 256, 300):
        if function in (without_end, wrapping) and grid in (256, 300):
            continue  # these have invocations that never end
        how = {**target, **({} if grid is None else {"grid": grid})}
        given, wanted = (each(X, zero(), np.zeros(5, np.uint32), **how) for each in (kernel, exact))
        assert [each.tolist() for each in given] == [each.tolist() for each in wanted]
    traced = vyre.kernel(function)
    traced(X, zero(), **target)
    assert bool(traced._traced({}).guarded) == (function in OPEN)


def test_a_store_with_two_axes_keeps_to_an_image(target):
    @vyre.kernel
    def image(x: In[u32, 2], out: Out[u32, 2]):
        out[vyre.gid(1), vyre.gid(0)] = x[vyre.gid(1), vyre.gid(0)] + 1

    x = np.arange(35, dtype=np.uint32).reshape(5, 7)
    np.testing.assert_array_equal(image(x, **target), x + 1)
    assert not image._traced({}).guarded
    np.testing.assert_array_equal(image(x, grid=(4, 3), **target)[:4, :5], np.pad(x[:3, :4] + 1, ((0, 1), (0, 1))))


def test_the_size_of_another_axis_is_no_bound():
    @vyre.kernel(workgroup_size=(8, 8))
    def crossed(n: InOut[u32]):
        if vyre.gid(0) < vyre.grid_size(1) and vyre.gid(1) < vyre.grid_size(1):
            n.atomic_add(0, 1)

    assert crossed(zero(), grid=(5, 7)) == [35]


def test_what_a_workgroup_shares_is_not_changed_beyond_a_grid(target):
    @vyre.kernel(workgroup_size=(8, 8))
    def numbered(x: In[u32, 2], out: Out[u32, 2]):
        mine = vyre.shared(u32, 1)
        out[vyre.gid(1), vyre.gid(0)] = mine.atomic_add(0, 1)

    assert sorted(numbered(np.zeros((3, 3), np.uint32), **target).ravel()) == [*range(9)]


def test_memory_of_a_workgroup_is_stored_by_the_index_in_the_grid():
    @vyre.kernel(workgroup_size=64)
    def kept(x: In[u32], out: Out[u32]):
        mine = vyre.shared(u32, 64)
        out[vyre.gid(0)] = x[vyre.gid(0)]
        mine[vyre.gid(0)] = 1

    assert kept(X).tolist() == X.tolist()


def test_costs_are_those_of_the_grid():
    cost = vyre.kernel(workgroup_size=64)(alone).cost(x=5, n=1, grid=5)
    assert [each.most for each in cost.atomics.values()] == [5]


def test_nothing_beyond_a_grid_is_reported():
    assert vyre.kernel(stored).check(X, zero()).reports == ()
    assert vyre.kernel(workgroup_size=64)(alone).check(X, zero(), grid=5).outputs["n"] == [5]


@pytest.mark.parametrize("in_procedure", [False, True])
def test_a_default_grid_that_ends_before_the_array_that_is_compared_is_refused(in_procedure):
    @vyre.kernel
    def enter(keys: In[u32], bits: InOut[u32]):
        i = vyre.gid(0)
        if i < len(keys):
            bits.atomic_or_(keys[i] % len(bits), 1)

    @vyre.procedure
    def recorded(keys: In[u32]):
        enter(keys[:20], vyre.scratch(u32, 4, zeros=True))

    keys = np.arange(20, dtype=np.uint32)
    with refused(
        vyre.ArgumentError,
        "kernel `enter` compares vyre.gid(0) with len(keys), which is 20, and its grid, the shape of `bits`, ends at 4",
        "write grid=len(keys)",
    ):
        recorded(keys) if in_procedure else enter(keys, np.zeros(4, np.uint32))
    assert enter(keys, np.zeros(4, np.uint32), grid=len(keys)).tolist() == [1, 1, 1, 1]
    assert enter(keys[:4], np.zeros(40, np.uint32)).sum() == 4


def nested(x: In[u32], out: InOut[u32]):
    i = vyre.gid(0)
    if i < len(out):
        if i < len(x):
            out[i] += x[i]


def left_early(x: In[u32], out: InOut[u32]):
    i = vyre.gid(0)
    if i >= len(out):
        return
    if i < len(x):
        out[i] += x[i]


def both(x: In[u32], out: InOut[u32]):
    if vyre.gid(0) < len(x) and vyre.gid(0) < len(out):
        out[vyre.gid(0)] += x[vyre.gid(0)]


@pytest.mark.parametrize("function", [nested, left_early, both])
def test_a_shorter_array_around_the_comparison_ends_it(function):
    for length in (0, 3, 5):
        given = vyre.kernel(function)(X, np.zeros(length, np.uint32))
        assert given.tolist() == X[:length].tolist()


def test_the_axis_of_a_short_grid_is_named():
    @vyre.kernel
    def deep(x: In[u32], sums: InOut[u32]):
        if vyre.gid(2) < len(x):
            sums.atomic_add(0, x[vyre.gid(2)])

    said = "kernel `deep` compares vyre.gid(2) with len(x), which is 5, and its grid, the shape of `sums`, ends at 1"
    with refused(vyre.ArgumentError, said, "write grid=(3, 1, len(x))"):
        deep(X, np.zeros(3, np.uint32))
    assert deep(X, zero(), grid=(1, 1, len(X))) == [27 - 3]

    @vyre.kernel
    def rows(x: In[u32, 2], sums: InOut[u32, 2]):
        if vyre.gid(1) < x.shape[0] and vyre.gid(0) < x.shape[1]:
            sums.atomic_add((0, vyre.gid(0)), x[vyre.gid(1), vyre.gid(0)])

    x = np.ones((3, 5), np.uint32)
    with refused(
        vyre.ArgumentError,
        "kernel `rows` compares vyre.gid(1) with x.shape[0], which is 3, and its grid, the shape of `sums`, ends at 1",
        "write grid=(5, x.shape[0])",
    ):
        rows(x, np.zeros((1, 5), np.uint32))
    assert rows(x, np.zeros((1, 5), np.uint32), grid=(5, x.shape[0])).tolist() == [[3] * 5]


@pytest.mark.parametrize("in_procedure", [False, True])
def test_more_axes_than_the_kernel_asks_about_are_refused(in_procedure):
    kernel = vyre.kernel(below)

    @vyre.procedure
    def recorded(x: In[u32], n: InOut[u32]):
        return kernel(x, n, grid=(4, 256))

    with refused(
        vyre.ArgumentError,
        "argument `grid` of kernel `below` is (4, 256, 1), "
        "and the kernel asks for vyre.gid(0) alone: all along another axis would do the same",
        "give one count",
    ):
        recorded(X, zero()) if in_procedure else kernel(X, zero(), grid=(4, 256))
    assert kernel(X, zero(), grid=(4, 1, 1))[0] == [4]


def add_up(mine, n):
    if vyre.lid(0) == 0:
        total = 0
        for k in range(64):
            total += mine[k]
        n.atomic_add(0, total)


def summed(x: In[u32], n: InOut[u32]):
    mine = vyre.shared(u32, 64)
    mine[vyre.lid(0)] = x[vyre.gid(0)]
    vyre.barrier()
    add_up(mine, n)


def summed_within(x: In[u32], n: InOut[u32]):
    mine = vyre.shared(u32, 64)
    mine[vyre.lid(0)] = x[vyre.gid(0)] if vyre.gid(0) < len(x) else 0
    vyre.barrier()
    add_up(mine, n)


def strided(x: In[u32], n: InOut[u32]):
    mine = vyre.shared(u32, 64)
    i = vyre.gid(0)
    total = 0
    while i < len(x):
        total += x[i]
        i += vyre.grid_size(0)
    mine[vyre.lid(0)] = total
    vyre.barrier()
    add_up(mine, n)


def by_rows(x: In[u32, 2], n: InOut[u32]):
    mine = vyre.shared(u32, 64)
    mine[vyre.lid(0)] = x[0, vyre.gid(0)]
    vyre.barrier()
    n.atomic_add(0, mine[vyre.lid(0)])


def by_parity(x: In[u32], n: InOut[u32]):
    odd = 1 if vyre.gid(0) % 4 < 2 else 0
    vyre.barrier()
    n.atomic_add(0, 1 + 0 * odd)


@pytest.mark.parametrize("function", [summed, strided, by_rows, by_parity, summed_within])
def test_a_comparison_with_no_end_of_the_grid_does_not_keep_a_kernel_with_a_barrier_to_it(function):
    kernel = vyre.kernel(workgroup_size=64)(function)
    x = np.ones((1, 100) if function is by_rows else 100, np.uint32)
    counts = vyre.array(np.array([5, 1, 1], np.uint32), backend="cpu")
    with pytest.raises(vyre.ArgumentError, match="must be a multiple of its workgroup's 64, got 5"):
        kernel(x, zero(), grid=5)
    if function is not summed_within:
        with pytest.raises(vyre.ArgumentError, match="workgroup's 64, got an unknown count"):
            kernel(vyre.array(x, backend="cpu"), vyre.array(zero(), backend="cpu"), grid=counts, at_most=64)


def test_a_kernel_with_a_barrier_takes_whole_workgroups_or_compares_its_index():
    kernel = vyre.kernel(workgroup_size=64)(summed)
    within = vyre.kernel(workgroup_size=64)(summed_within)
    said = (
        "has a barrier, so its grid along x must be a multiple of its workgroup's 64, got {}",
        "compare vyre.gid(0) with a length before the kernel stores, or count workgroups, with workgroups= in place of "
        "grid=",
    )

    @vyre.procedure
    def recorded(x: In[u32], n: InOut[u32]):
        kernel(x, n, grid=x.length)

    for length in (64, 128):
        x = np.ones(length, np.uint32)
        assert kernel(x, zero(), grid=length) == [length]
        n = zero()
        recorded(x, n)
        assert n == [length]
    x = np.ones(100, np.uint32)
    with refused(vyre.ArgumentError, "kernel `summed` " + said[0].format(100), said[1]):
        kernel(x, zero(), grid=100)
    with refused(vyre.ArgumentError, "kernel `summed` " + said[0].format("length(x)"), said[1]):
        recorded(x, zero())
    assert within(x, zero(), grid=100) == [100]
    assert kernel(x, zero(), workgroups=2) == [100]
