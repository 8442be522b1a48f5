"""A call like one before goes through the core alone. Whatever is unlike it gives what a fresh kernel gives."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import vyre
from threads import in_threads
from vyre import In, InOut, Out, u32, u64, vec4u32
from vyre._kernel.call import call as whole_call

pytestmark = pytest.mark.filterwarnings("error")
COUNT = 300
FACTOR = 3
ON_CPU = {"backend": "cpu"}


def numbers(seed: int, count: int = COUNT) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2**32, count, dtype=np.uint32)


def scaled(a: In[u32], b: In[u32], n: u32, c: Out[u32]):
    i = vyre.gid(0)
    if i < len(c):
        c[i] = a[i] * n ^ b[i]


def counted(x: In[u32], total: InOut[u32], odd: Out[u64]):
    i = vyre.gid(0)
    if i < len(x):
        total[i] += x[i]
        if x[i] % 2 == 1:
            odd[i] = u64(x[i]) << 8


def captured(x: In[u32], y: Out[u32]):
    y[vyre.gid(0)] = x[vyre.gid(0)] * FACTOR


def outcome(call):
    """What a call gives, to be compared: types, dtypes, shapes and bytes, or the error with its whole message."""
    try:
        given = call()
    except Exception as error:
        return type(error), str(error)
    made = []
    for each in given if isinstance(given, tuple) else (given,):
        values = each.numpy() if isinstance(each, vyre.Array) else each
        made.append((type(each), getattr(each, "backend", None), values.dtype.str, values.shape, values.tobytes()))
    return made


class OfMine(np.ndarray):
    pass


def unaligned(values: np.ndarray) -> np.ndarray:
    memory = np.zeros(values.nbytes + 1, np.uint8)
    memory[1:] = values.view(np.uint8)
    return memory[1:].view(values.dtype)


def read_only(values: np.ndarray) -> np.ndarray:
    made = values.copy()
    made.setflags(write=False)
    return made


def strided(values: np.ndarray) -> np.ndarray:
    return np.repeat(values, 2)[::2]


A, B = numbers(1), numbers(2)
# What a call of `scaled` is given in place of (A, B, 7), and by name.
UNLIKE = {
    "the same": (A, B, 7),
    "longer": (numbers(3, 1000), numbers(4, 1000), 7),
    "of two lengths": (A, numbers(4, 100), 7),
    "empty": (A[:0], B[:0], 7),
    "of two axes": (A.reshape(30, 10), B, 7),
    "of none": (np.array(3, np.uint32), B, 7),
    "signed": (A.view(np.int32), B, 7),
    "wide": (A.astype(np.uint64), B, 7),
    "floats": (A.astype(np.float32), B, 7),
    "of foreign byte order": (A.astype(">u4"), B, 7),
    "strided": (strided(A), B, 7),
    "backwards": (A[::-1], B, 7),
    "unaligned": (unaligned(A), B, 7),
    "read-only": (read_only(A), B, 7),
    "of a subclass": (A.view(OfMine), B, 7),
    "masked": (np.ma.masked_array(A, A > 9), B, 7),
    "the same twice": (A, A, 7),
    "a list": (A.tolist(), B, 7),
    "None": (None, B, 7),
    "a number": (5, B, 7),
    "the largest number": (A, B, 2**32 - 1),
    "too large": (A, B, 2**32),
    "far too large": (A, B, 2**70),
    "negative": (A, B, -1),
    "a truth": (A, B, True),
    "a number of numpy": (A, B, np.uint32(9)),
    "a float": (A, B, 7.0),
    "an array for a number": (A, B, np.uint32([7])),
    "too few": (A, B),
    "too many": (A, B, 7, np.zeros(COUNT, np.uint32), 1),
    "nothing": (),
    "resident": (vyre.array(A, **ON_CPU), vyre.array(B, **ON_CPU), 7),
    "resident and not": (vyre.array(A, **ON_CPU), B, 7),
    "on two backends": (vyre.array(A, **ON_CPU), vyre.array(B, backend="reference"), 7),
    "resident, longer": (vyre.zeros(999, **ON_CPU), vyre.zeros(999, **ON_CPU), 7),
    "resident, a part": (vyre.array(numbers(5, 999), **ON_CPU)[10 : 10 + COUNT], vyre.array(B, **ON_CPU), 7),
    "resident, signed": (vyre.array(A.view(np.int32), **ON_CPU), vyre.array(B, **ON_CPU), 7),
    "resident on the reference": (vyre.array(A, backend="reference"), vyre.array(B, backend="reference"), 7),
}
OPTIONS = {
    "none": {},
    "cpu": ON_CPU,
    "None": {"backend": None, "device": None},
    "its device": {"backend": "cpu", "device": 0},
    "no device of it": {"backend": "cpu", "device": 1},
    "reference": {"backend": "reference"},
    "unknown": {"backend": "gpu9"},
    "a number": {"backend": 3},
    "a time-out": {"backend": "cpu", "timeout": 60.0},
    "no time-out": {"backend": "cpu", "timeout": -1},
    "plain": {"backend": "cpu", "optimize": False},
    "a grid": {"backend": "cpu", "grid": 16},
    "workgroups": {"backend": "cpu", "workgroups": 1},
    "no parameter": {"backend": "cpu", "nonsense": 1},
    "a given number": {"backend": "cpu", "n": 8},
}


@pytest.fixture
def known():
    """A kernel that has made calls with numpy arrays and with resident ones."""
    kernel = vyre.kernel(scaled)
    resident = vyre.array(A, **ON_CPU), vyre.array(B, **ON_CPU)
    for _ in range(3):
        kernel(A, B, 7, **ON_CPU)
        kernel(A, B, 7, np.zeros(COUNT, np.uint32), **ON_CPU)
        kernel(*resident, 7)
        kernel(*resident, 7, vyre.zeros(COUNT, **ON_CPU))
    return kernel


@pytest.mark.parametrize("given", UNLIKE.values(), ids=UNLIKE)
@pytest.mark.parametrize("options", [{}, ON_CPU], ids=["", "cpu"])
def test_other_arguments_give_what_a_fresh_kernel_gives(known, given, options):
    with vyre.default_device("cpu"):
        wanted = outcome(lambda: vyre.kernel(scaled)(*given, **options))
        for _ in range(3):
            assert outcome(lambda: known(*given, **options)) == wanted


@pytest.mark.parametrize("given", [(A, B, 7), UNLIKE["resident"]], ids=["numpy", "resident"])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_other_options_give_what_a_fresh_kernel_gives(known, given, options):
    with vyre.default_device("cpu"):
        wanted = outcome(lambda: vyre.kernel(scaled)(*given, **options))
        for _ in range(3):
            assert outcome(lambda: known(*given, **options)) == wanted


OUTS = {
    "right": lambda a: np.full(COUNT, 9, np.uint32),
    "short": lambda a: np.full(10, 9, np.uint32),
    "long": lambda a: np.full(COUNT + 1, 9, np.uint32),
    "read-only": lambda a: read_only(A),
    "strided": lambda a: strided(A),
    "unaligned": lambda a: unaligned(A),
    "signed": lambda a: np.zeros(COUNT, np.int32),
    "of a subclass": lambda a: np.zeros(COUNT, np.uint32).view(OfMine),
    "the input": lambda a: a,
    "None": lambda a: None,
    "resident": lambda a: vyre.zeros(COUNT, **ON_CPU),
}


@pytest.mark.parametrize("out", OUTS.values(), ids=OUTS)
@pytest.mark.parametrize("by", ["place", "name", "out"])
def test_other_outs_give_what_a_fresh_kernel_gives(known, out, by):
    def call(kernel):
        a = A.copy()
        y = out(a)
        named = {} if by == "place" else {"c" if by == "name" else "out": y}
        made = outcome(lambda: kernel(a, B, 7, *([y] if by == "place" else []), **named, **ON_CPU))
        held = None if y is None else y.numpy().tobytes() if isinstance(y, vyre.Array) else y.tobytes()
        return made, held, a.tobytes()

    wanted = call(vyre.kernel(scaled))
    for _ in range(3):
        assert call(known) == wanted


def test_an_out_and_an_in_out_keep_what_they_held_as_far_as_they_should():
    kernel = vyre.kernel(counted)
    x, total = numbers(6), numbers(7)
    odd = np.full(COUNT, 9, np.uint64)
    wanted_odd = np.where(x % 2 == 1, x.astype(np.uint64) << np.uint64(8), 0)
    for turn in range(4):
        got, made = kernel(x, total, **ON_CPU)
        assert got is total
        assert (made == wanted_odd).all()
        odd[:] = 9
        assert kernel(x, total, odd, **ON_CPU)[1] is odd
        assert (odd == wanted_odd).all()
        assert (total == numbers(7) + x * np.uint32(2 * turn + 2)).all()


def test_written_arrays_that_overlap_are_refused_after_calls_that_were_right():
    memory, odd = np.zeros(COUNT + 10, np.uint32), np.zeros(COUNT, np.uint64)
    kernel = vyre.kernel(counted)
    for _ in range(3):
        kernel(numbers(6), memory[:COUNT], odd, **ON_CPU)
    wide = np.zeros(COUNT, np.uint64)
    for x, total, out in (
        (memory[10:], memory[:COUNT], odd),
        (memory[:COUNT], memory[:COUNT], odd),
        (numbers(6), wide.view(np.uint32)[:COUNT], wide),
        (wide.view(np.uint32)[5 : 5 + COUNT], numbers(6), wide),
    ):
        fresh = [each.copy() for each in (x, total, out)]
        wanted = outcome(lambda x=x, total=total, out=out: vyre.kernel(counted)(x, total, out, **ON_CPU))
        for to, held in zip((x, total, out), fresh, strict=True):
            to[:] = held
        assert outcome(lambda x=x, total=total, out=out: kernel(x, total, out, **ON_CPU)) == wanted


def test_a_changed_value_of_python_makes_another_program(place):
    global FACTOR
    kernel, x = vyre.kernel(captured), numbers(8)
    resident = vyre.array(x, **place)
    for FACTOR in (3, 5, 3, 6):
        for _ in range(3):
            assert (kernel(x, **place) == x * np.uint32(FACTOR)).all()
            assert (kernel(resident).numpy() == x * np.uint32(FACTOR)).all()
    FACTOR = 3


def backends_of(call) -> list[str]:
    with vyre.profile() as profile:
        call()
    return [row.backend for row in profile.rows if row.name == "dispatch"]


def test_the_default_device_that_holds_decides():
    kernel, before = vyre.kernel(scaled), {}
    for name in ("cpu", "reference"):
        with vyre.default_device(name):
            before[name] = backends_of(lambda: vyre.kernel(scaled)(A, B, 7))
    assert before == {"cpu": ["cpu"], "reference": ["reference"]}
    for _ in range(3):
        for name in ("cpu", "cpu", "reference", "cpu"):
            with vyre.default_device(name):
                kernel(A, B, 7)
                assert backends_of(lambda: kernel(A, B, 7)) == before[name]
                assert backends_of(lambda: kernel(A, B, 7, backend="cpu")) == before["cpu"]


def test_a_graph_records_and_refuses_as_a_fresh_kernel_does(known):
    resident, out = UNLIKE["resident"], vyre.zeros(COUNT, **ON_CPU)
    for given in ((A, B, 7), (*resident, out)):
        told = []
        for kernel in (vyre.kernel(scaled), known):
            with contextlib.suppress(vyre.ArgumentError), vyre.graph() as graph:
                told.append(outcome(lambda kernel=kernel, given=given: kernel(*given)) if given[0] is A else None)
                if given[0] is not A:
                    kernel(*given)
                    told.append(len(graph))
        assert told[: len(told) // 2] == told[len(told) // 2 :]
    graph.replay()
    assert (out.numpy() == (A * np.uint32(7)) ^ B).all()


def test_debugging_sees_calls_like_those_before():
    @vyre.kernel
    def shown(x: In[u32], y: Out[u32]):
        i = vyre.gid(0)
        vyre.debug("doubled", x[i] * 2)
        y[i] = x[i] * 2

    x = np.arange(8, dtype=np.uint32)
    for given in (x, vyre.array(x, **ON_CPU)):
        options = ON_CPU if given is x else {}
        for _ in range(3):
            shown(given, **options)
        with vyre.debugging(invocations=[3]) as seen:
            shown(given, **options)
        assert [row.value for row in seen.rows] == [6]
        shown(given, **options)
        assert len(seen.rows) == 1


@pytest.mark.parametrize("given", [(A, B, 7), UNLIKE["resident"]], ids=["numpy", "resident"])
def test_a_kernel_in_a_kernel_and_in_a_procedure_is_no_call(known, given):
    @vyre.kernel
    def outer(y: Out[u32]):
        known(*given)
        y[0] = 1

    with pytest.raises(vyre.KernelError, match="K004"):
        outer(np.zeros(1, np.uint32), **ON_CPU)

    @vyre.procedure
    def twice(x: In[u32]):
        y, z = vyre.scratch(u32, x.length), vyre.scratch(u32, x.length)
        known(x, x, 2, y)
        known(y, y, 2, z)
        return z

    once = (A * np.uint32(2)) ^ A
    assert (twice(A, **ON_CPU) == (once * np.uint32(2)) ^ once).all()
    assert (known(A, A, 2, **ON_CPU) == once).all()


def test_threads_call_one_kernel_at_once(place):
    kernel, wrong, options = vyre.kernel(scaled), [], place

    def work(seed: int) -> None:
        a, b = numbers(seed), numbers(seed + 50)
        out = vyre.zeros(COUNT, **options)
        resident = vyre.array(a, **options), vyre.array(b, **options)
        for turn in range(40):
            wanted = (a * np.uint32(turn)) ^ b
            if (
                not (kernel(a, b, turn, **options) == wanted).all()
                or not (kernel(*resident, turn, out).numpy() == wanted).all()
            ):
                wrong.append((seed, turn))

    in_threads(work, range(4))
    assert wrong == []


def test_threads_write_one_array_in_turns():
    """Each call has the array alone, also the short ones, which give up no lock meanwhile."""

    @vyre.kernel
    def counts(total: InOut[u32]):
        total[vyre.gid(0)] += 1

    total = vyre.zeros(256, **ON_CPU)
    for _ in range(3):
        counts(total)

    def work() -> None:
        for _ in range(200):
            counts(total)
            total.wait()

    in_threads(lambda _: work(), range(4))
    assert (total.numpy() == 803).all()


def test_vectors_and_several_shapes_take_their_turns():
    @vyre.kernel
    def swapped(x: In[vec4u32], y: Out[vec4u32]):
        v = x[vyre.gid(0)]
        y[vyre.gid(0)] = vec4u32(v.w, v.z, v.y, v.x)

    for _ in range(4):
        for count in range(1, 13):
            x = numbers(count, 4 * count).reshape(count, 4)
            assert (swapped(x, **ON_CPU) == x[:, ::-1]).all()
            assert (swapped(vyre.array(x, **ON_CPU)).numpy() == x[:, ::-1]).all()


def several(
    x: In[u32, 2],
    k: vyre.const,
    n: u32,
    flag: vyre.boolean,
    total: InOut[u32],
    y: Out[u32, 2],
    wide: u64 = 2**40 + 3,
    less: vyre.i32 = -3,
):
    i, j = vyre.gid(0), vyre.gid(1)
    if i < 8:
        if j < 4:
            held = x[j, i] * n + (wide >> 8).lo
            for each in k if isinstance(k, tuple) else (k,):
                held = held ^ (
                    len(each) if isinstance(each, str) else 7 if each is True else 0 if each is None else each
                )
            if flag:
                held = held + u32(less)
            y[j, i] = held + vyre.grid_size(0)
            if j == 0:
                total[i] += held


NUMBERS = [0, 5, 2**31, 2**32 - 1, np.uint32(7), np.int64(9), np.uint8(3)]
WRONG_NUMBERS = [-1, 2**32, True, np.True_, 1.5, None, np.uint32([1]), "7", np.int64(-1)]
# By parameter: what is right, and what may be wrong.
DRAWN = {
    "k": ([1, 2, True, (1, 2), (True, 2), "a", None, (1, None)], [[1], np.uint32(1), 1.0, (1, (2,)), frozenset([1])]),
    "n": (NUMBERS, WRONG_NUMBERS),
    "flag": ([True, False, np.True_, np.False_], [1, 0, None, "a", np.array(True)]),
    "wide": ([*NUMBERS, 2**64 - 1, np.uint64(2**64 - 1)], [-1, 2**64, True, None, np.uint64([1])]),
    "less": ([0, -1, 5, -(2**31), 2**31 - 1, np.int32(-7)], [2**31, -(2**31) - 1, False, 1.5]),
    "grid": (
        [8, (8, 4), (8, 4, 1), (16, 16), None, 0],
        [[8, 4], -1, "a", 3.0, True, (8, 4, 1, 1), (), np.array([8, 4]), np.uint32(8)],
    ),
    "workgroups": ([1, (1, 1), (1, 2, 1), None, 0], [[1, 1], -1, "a", 1.5, True, (), np.uint32(1), (1, 2**33)]),
}
NAMES = ("x", "k", "n", "flag", "total", "y", "wide", "less")


class Draw:
    """A random call of `several`: its arguments anew each time, so that each call has memory of its own."""

    def __init__(self, random: np.random.Generator) -> None:
        self._seed = int(random.integers(2**32))
        self._is_resident = random.integers(4) == 0
        chance = random.integers(3)  # how often something is wrong
        given: dict[str, object] = {"x": "x", "total": "total"}
        for name in ("k", "n", "flag", "y", "wide", "less"):
            if name in ("y", "wide", "less") and random.integers(2) == 0 and not (chance == 0 and name == "y"):
                continue
            given[name] = "y" if name == "y" else self._one_of(random, name, chance)
        if chance and random.integers(8) == 0:
            del given[list(given)[random.integers(len(given))]]
        places = int(random.integers(len(NAMES) + 1))
        while any(name not in given for name in NAMES[:places]):
            places -= 1
        self._by_place = [given.pop(name) for name in NAMES[:places]]
        if "y" in given and random.integers(2) == 0:
            given["out"] = given.pop("y")
        for name in ("grid", "workgroups"):
            if random.integers(3) == 0:
                given[name] = self._one_of(random, name, chance)
        if not self._is_resident or random.integers(6) == 0:
            given["backend"] = "cpu"
        if chance and random.integers(12) == 0:
            given[("nonsense", "x", "out")[random.integers(3)]] = 1
        names = list(given)
        random.shuffle(names)
        self._by_name = {name: given[name] for name in names}

    @staticmethod
    def _one_of(random: np.random.Generator, name: str, chance: int) -> object:
        right, wrong = DRAWN[name]
        values = wrong if chance and random.integers(6) == 0 else right
        return values[random.integers(len(values))]

    def _array(self, what: object, kept: list[object]) -> object:
        if not isinstance(what, str) or what not in ("x", "total", "y"):
            return what
        random = np.random.default_rng(self._seed)
        made = random.integers(0, 2**32, 8 if what == "total" else (4, 8), dtype=np.uint32)
        kept.append(vyre.array(made, **ON_CPU) if self._is_resident else made)
        return kept[-1]

    def outcome(self, call) -> object:
        kept: list[object] = []
        args = [self._array(each, kept) for each in self._by_place]
        kwargs = {name: self._array(value, kept) for name, value in self._by_name.items()}
        given = outcome(lambda: call(*args, **kwargs))
        return given, [each.numpy().tobytes() if isinstance(each, vyre.Array) else each.tobytes() for each in kept]

    def __repr__(self) -> str:
        return f"several{(*self._by_place, self._by_name)}"


@pytest.mark.parametrize("seed", range(6))
def test_drawn_calls_give_what_the_whole_way_gives(seed):
    random = np.random.default_rng(seed)
    known, slow = vyre.kernel(several), vyre.kernel(several)
    right = 0
    for _ in range(150):
        draw = Draw(random)
        wanted = draw.outcome(lambda *args, **kwargs: whole_call(slow, args, kwargs))
        for _ in range(3):
            assert draw.outcome(known) == wanted, (seed, draw)
        right += isinstance(wanted[0], list)
    assert right > 40


# Calls that the core alone makes from the second one on.
FORMS = {
    "by place": lambda k, a, out: k(a, a, 7),
    "by name": lambda k, a, out: k(n=7, a=a, b=a),
    "an out by place": lambda k, a, out: k(a, a, 7, out),
    "an out by its name": lambda k, a, out: k(a, a, 7, c=out),
    "out=": lambda k, a, out: k(a, a, 7, out=out),
    "no out": lambda k, a, out: k(a, a, 7, None),
    "grid=": lambda k, a, out: k(a, a, 7, grid=COUNT),
    "grid= of two axes": lambda k, a, out: k(a, a, 7, grid=(COUNT, 1)),
    "no grid": lambda k, a, out: k(a, a, 7, grid=None),
    "workgroups=": lambda k, a, out: k(a, a, 7, workgroups=(2,)),
    "a number of numpy": lambda k, a, out: k(a, a, np.uint32(7)),
}


@pytest.mark.parametrize("is_resident", [False, True], ids=["numpy", "resident"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_second_call_stays_in_the_core(form, is_resident, monkeypatch):
    @vyre.kernel
    def stored(a: In[u32], b: In[u32], n: u32, c: Out[u32]):
        i = vyre.gid(0)
        if i < len(c):
            c[i] = a[i] * n ^ b[i]

    a = vyre.array(A, **ON_CPU) if is_resident else A
    out = vyre.zeros(COUNT, **ON_CPU) if is_resident else np.zeros(COUNT, np.uint32)
    with vyre.default_device("cpu"):
        form(stored, a, out)
        monkeypatch.setattr(type(stored), "_call", None)
        made = form(stored, a, out)
    assert (np.asarray(made) == (A * np.uint32(7)) ^ A).all()


@pytest.mark.parametrize("k", [5, True, "five", (1, 2, 2), None], ids=repr)
def test_the_second_call_with_a_constant_a_truth_and_defaults_stays_in_the_core(k, monkeypatch):
    kernel, x = vyre.kernel(several), numbers(3, 32).reshape(4, 8)

    def made(call) -> object:
        return outcome(lambda: call(x, k, 3, np.True_, total=np.zeros(8, np.uint32), **ON_CPU))

    wanted = made(lambda *args, **kwargs: whole_call(vyre.kernel(several), args, kwargs))
    assert made(kernel) == wanted
    monkeypatch.setattr(type(kernel), "_call", None)
    assert made(kernel) == wanted


def test_ever_new_grids_are_right_and_keep_few_plans():
    kernel, x = vyre.kernel(captured), numbers(4, 500)
    for grid in [*range(1, 500), *range(400, 500)]:
        made = kernel(x, grid=grid, **ON_CPU)
        assert (made[:grid] == x[:grid] * np.uint32(FACTOR)).all()
        assert not made[grid:].any()
    assert len(kernel._plans) <= 64


@pytest.mark.parametrize("shape", [(-1,), (2**62,), (2**31, 2**31, 4), (8,)], ids=str)
def test_the_core_refuses_parts_that_do_not_fit(shape):
    kernel = vyre.kernel(captured)
    x, kind = numbers(9, 8), vyre.DataType.U32
    right = [(0, kind, (8,), "read"), (None, kind, (8,), "zeros")]
    place = (None, None, "cpu", None)
    vyre._core._launch(kernel.program, [x], right, [], [1, 1, 1], place)
    for arguments, slots, words in (
        ([x], right[:1], []),
        ([x], [right[0], (1, kind, (8,), "zeros")], []),
        ([x], [right[0], (None, kind, shape if shape != (8,) else (2**63 - 1, 4), "zeros")], []),
        ([x], [right[0], (None, vyre.DataType.U64, (8,), "zeros")], []),
        ([x], [(None, kind, (8,), "zeros"), right[0]], []),
        ([kind], right, []),
        ([x], right, [(0, 0)]),
        ([x], right, [(3, 0)]),
    ):
        with pytest.raises((vyre.ArgumentError, vyre.BindingError)):
            vyre._core._launch(kernel.program, arguments, slots, words, [1, 1, 1], place)


def test_threads_that_call_in_ever_new_ways_do_not_disturb_each_other(fast_switching):
    @vyre.kernel
    def filled(y: vyre.Out[vyre.u32]) -> None:
        y[vyre.gid(0)] = 7

    def work(first: int) -> None:
        for n in range(400):
            made = filled(np.zeros((n * 7 + first) % 150 + 1, np.uint32), backend="cpu")
            assert (made == 7).all()

    in_threads(work, range(6))


def test_an_out_that_is_none_is_no_argument_called_none():
    @vyre.kernel
    def plus(x: In[u32], y: Out[u32], none: u32 = u32(5)) -> None:
        y[vyre.gid(0)] = x[vyre.gid(0)] + none

    x = np.arange(3, dtype=np.uint32)
    for _ in range(3):
        assert plus(x, None, 11, backend="cpu").tolist() == [11, 12, 13]
        assert plus(x, none=9, backend="cpu").tolist() == [9, 10, 11]
