"""Random procedures as a user writes them, beside a model in numpy.

They have kernels on parts and views, conditions, repetitions, swaps, calls of procedures and of the library, over
arrays of any length.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import vyre
from conftest import SEED
from vyre import In, InOut, Out, u8, u32, u64

TABLE = np.array([5, 0, 2**32 - 1, 77], np.uint32)

# Sizes of n and k, for integers and for vyre.Size.
LENGTHS = [
    lambda n, k: n,
    lambda n, k: n + 3,
    lambda n, k: n // 2 + 1,
    lambda n, k: n * 2,
    lambda n, k: vyre.size_min(n, 8) + k,
]
COUNTS = [
    lambda n, k: k,
    lambda n, k: n % 4,
    lambda n, k: vyre.size_select(n // 11, 2, 1),
    lambda n, k: 2,
    lambda n, k: vyre.ceil_log2(n),
]
CONDITIONS = [
    lambda n, k: n > 6,
    lambda n, k: n % 2 == 0,
    lambda n, k: k,
    lambda n, k: vyre.size_max(n, k) <= 9,
    lambda n, k: 0,
]
# The begin and the end of a part of so many elements; begins are even, so that u64 fits.
PARTS = [
    None,
    lambda m: (0, m // 2),
    lambda m: (m // 4 * 2, m),
    lambda m: (vyre.size_min(m // 2, 1) * 2, m),
    lambda m: (0, vyre.size_min(m, 5)),
]
SCALARS = [lambda n, k, turn: 3, lambda n, k, turn: k + 1, lambda n, k, turn: turn * 7, lambda n, k, turn: n]


@vyre.kernel
def mixed(a: In[u32], b: In[u32], y: Out[u32], c: u32):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = a[i] * 3 + b[i] + c


@vyre.kernel
def raised(y: InOut[u32], c: u32):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = y[i] * 5 + c + i


@vyre.kernel
def from_bytes(a: In[u8], y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = a[i] + 1


@vyre.kernel
def from_pairs(a: In[u64], y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = (a[i] >> 16).lo


@vyre.procedure
def inner(a: In[u32], z: InOut[u32], c: u32):
    spare, y = vyre.scratch(u32, a.length), vyre.scratch(u32, a.length, name="y")
    mixed(a, TABLE, spare, c)
    with vyre.when(c % 2 == 0):
        mixed(spare, a, y, 1)
    with vyre.otherwise():
        mixed(a, a, y, 2)
    raised(z, c)
    return y


def model_of_inner(a, z, c):
    spare = model_mixed(a, TABLE, len(a), c)
    y = model_mixed(spare, a, len(a), 1) if c % 2 == 0 else model_mixed(a, a, len(a), 2)
    z[:] = z * np.uint32(5) + np.uint32(c) + np.arange(len(z), dtype=np.uint32)
    return y


def fitted(a, length):
    """The elements, with zeros behind them, as loads beyond the end give."""
    made = np.zeros(length, a.dtype)
    made[: min(length, len(a))] = a[:length]
    return made


def model_mixed(a, b, length, c):
    return fitted(a, length) * np.uint32(3) + fitted(b, length) + np.uint32(c % 2**32)


def seen_as(a, dtype):
    width = np.dtype(dtype).itemsize
    return np.frombuffer(a.tobytes()[: a.nbytes // width * width], dtype)


class Recording:
    """Takes operations as calls of vyre."""

    def __init__(self, n, k, arrays):
        self.n, self.k, self.arrays = n, k, arrays

    def part(self, array, part):
        if part is None:
            return array
        begin, end = part(array.length)
        return array[begin:end]

    def run(self, steps, turn=0):
        held = len(self.arrays)
        for kind, *rest in steps:
            getattr(self, kind)(*rest, turn)
        del self.arrays[held:]

    def mix(self, a, pa, b, pb, y, py, c, turn):
        a, b = self.part(self.arrays[a], pa), TABLE if b is None else self.part(self.arrays[b], pb)
        mixed(a, b, self.part(self.arrays[y], py), c(self.n, self.k, turn))

    def lift(self, y, py, c, turn):
        raised(self.part(self.arrays[y], py), c(self.n, self.k, turn))

    def octets(self, a, pa, y, py, _):
        from_bytes(self.part(self.arrays[a], pa).view(u8), self.part(self.arrays[y], py))

    def pairs(self, a, pa, y, py, _):
        from_pairs(self.part(self.arrays[a], pa).view(u64), self.part(self.arrays[y], py))

    def wipe(self, y, py, _):
        vyre.clear(self.part(self.arrays[y], py))

    def exchange(self, a, b, _):
        vyre.swap(self.arrays[a], self.arrays[b])

    def call(self, a, pa, z, c, turn):
        self.arrays.append(inner(self.part(self.arrays[a], pa), self.arrays[z], c(self.n, self.k, turn)))

    def order(self, a, pa, _):
        self.arrays.append(vyre.std.sort(self.part(self.arrays[a], pa)))

    def total(self, a, pa, _):
        self.arrays.append(vyre.std.cumsum(self.part(self.arrays[a], pa)))

    def branch(self, condition, steps, others, turn):
        with vyre.when(condition(self.n, self.k)):
            self.run(steps, turn)
        if others is not None:
            with vyre.otherwise():
                self.run(others, turn)

    def repeat(self, count, steps, _):
        for turn in vyre.times(count(self.n, self.k)):
            self.run(steps, turn)


class Model(Recording):
    """Takes operations on numpy arrays, at once."""

    def part(self, array, part):
        if part is None:
            return array
        begin, end = part(len(array))
        return array[begin:end]

    def mix(self, a, pa, b, pb, y, py, c, turn):
        a, b = self.part(self.arrays[a], pa), TABLE if b is None else self.part(self.arrays[b], pb)
        y = self.part(self.arrays[y], py)
        y[:] = model_mixed(a, b, len(y), c(self.n, self.k, turn))

    def lift(self, y, py, c, turn):
        y = self.part(self.arrays[y], py)
        y[:] = y * np.uint32(5) + np.uint32(c(self.n, self.k, turn)) + np.arange(len(y), dtype=np.uint32)

    def octets(self, a, pa, y, py, _):
        y = self.part(self.arrays[y], py)
        y[:] = fitted(seen_as(self.part(self.arrays[a], pa), np.uint8), len(y)).astype(np.uint32) + np.uint32(1)

    def pairs(self, a, pa, y, py, _):
        y = self.part(self.arrays[y], py)
        y[:] = (fitted(seen_as(self.part(self.arrays[a], pa), np.uint64), len(y)) >> np.uint64(16)).astype(np.uint32)

    def wipe(self, y, py, _):
        self.part(self.arrays[y], py)[:] = 0

    def exchange(self, a, b, _):
        self.arrays[a], self.arrays[b] = self.arrays[b], self.arrays[a]

    def call(self, a, pa, z, c, turn):
        self.arrays.append(model_of_inner(self.part(self.arrays[a], pa), self.arrays[z], c(self.n, self.k, turn)))

    def order(self, a, pa, _):
        self.arrays.append(np.sort(self.part(self.arrays[a], pa)))

    def total(self, a, pa, _):
        self.arrays.append(self.part(self.arrays[a], pa).cumsum(dtype=np.uint32))

    def branch(self, condition, steps, others, turn):
        if condition(self.n, self.k):
            self.run(steps, turn)
        elif others is not None:
            self.run(others, turn)

    def repeat(self, count, steps, _):
        for turn in range(count(self.n, self.k)):
            self.run(steps, turn)


@st.composite
def blocks(draw, lengths, made=0, depth=0):
    """Steps over the arrays 0, an input, 1, which is changed, those of `lengths`, and `made` further ones."""
    steps = []
    writable = list(range(1, 2 + len(lengths)))
    parts, scalars = st.sampled_from(PARTS), st.sampled_from(SCALARS)
    for _ in range(draw(st.integers(1, 5 if depth == 0 else 3))):
        kind = draw(st.sampled_from("mix mix lift octets pairs wipe exchange call order total branch repeat".split()))
        known = list(range(2 + len(lengths) + made))
        y = draw(st.sampled_from(writable))
        others = st.sampled_from([each for each in known if each != y])
        if kind == "mix":
            b = draw(st.one_of(st.none(), others))
            steps.append((kind, draw(others), draw(parts), b, draw(parts), y, draw(parts), draw(scalars)))
        elif kind == "lift":
            steps.append((kind, y, draw(parts), draw(scalars)))
        elif kind in ("octets", "pairs"):
            steps.append((kind, draw(others), draw(parts), y, draw(parts)))
        elif kind == "wipe":
            steps.append((kind, y, draw(parts)))
        elif kind == "exchange":
            pairs = [(a + 2, b + 2) for a in range(len(lengths)) for b in range(a) if lengths[a] is lengths[b]]
            if pairs:
                steps.append((kind, *draw(st.sampled_from(pairs))))
        elif kind in ("call", "order", "total"):
            rest = (y, draw(scalars)) if kind == "call" else ()
            steps.append((kind, draw(others), draw(parts), *rest))
            result = 2 + len(lengths) + made  # which goes into an array that is looked at
            steps.append(("mix", result, draw(parts), draw(others), draw(parts), y, draw(parts), draw(scalars)))
            made += 1
        elif depth < 3 and kind == "branch":
            inside = [draw(blocks(lengths, made, depth + 1)) for _ in range(2)]
            steps.append(
                (
                    kind,
                    draw(st.sampled_from(CONDITIONS)),
                    inside[0],
                    draw(st.sampled_from([inside[1], None, inside[1]])),
                )
            )
        elif depth < 2 and kind == "repeat":
            inside = draw(blocks(lengths, made, depth + 1))
            if inside:
                steps.append((kind, draw(st.sampled_from(COUNTS)), inside))
    return steps


@st.composite
def procedures(draw):
    lengths = draw(st.lists(st.sampled_from(LENGTHS), min_size=2, max_size=5))
    results = draw(st.permutations(range(len(lengths))))[: draw(st.integers(1, len(lengths)))]
    return lengths, draw(blocks(lengths)), results


CALLS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3), st.integers(0, 2**32)), min_size=1, max_size=3)


def agree(procedure, calls):
    lengths, steps, results = procedure

    @vyre.procedure
    def recorded(x: In[u32], z: InOut[u32], k: u32):
        made = [vyre.scratch(u32, length(x.length, k), zeros=True) for length in lengths]
        Recording(x.length, k, [x, z, *made]).run(steps)
        return tuple(made[each] for each in results)

    for n, k, random in calls:
        x, z = np.random.default_rng(random).integers(0, 2**32, (2, n), dtype=np.uint32)
        model = Model(n, k, [x.copy(), z.copy(), *(np.zeros(length(n, k), np.uint32) for length in lengths)])
        model.run(steps)
        for backend in ("reference", "cpu"):
            changed = z.copy()
            found = recorded(x, changed, k, backend=backend)
            found = found if isinstance(found, tuple) else (found,)
            for each, result in zip(found, results, strict=True):
                assert np.array_equal(each, model.arrays[2 + result]), (backend, n, k, result)
            assert np.array_equal(changed, model.arrays[1]), (backend, n, k, "z")


def random_procedures(count):
    def decorate(test):
        made = settings(max_examples=count, deadline=None, database=None, suppress_health_check=list(HealthCheck))(test)
        return seed(SEED)(given(procedures(), CALLS)(made))

    return decorate


@random_procedures(300)
def test_random_procedures_are_the_models(procedure, calls):
    agree(procedure, calls)


@pytest.mark.slow
@random_procedures(4000)
def test_many_random_procedures_are_the_models(procedure, calls):
    agree(procedure, calls)
