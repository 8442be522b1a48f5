"""A call like one before goes through the core alone. Whatever is unlike it gives what a fresh kernel gives."""

from __future__ import annotations

import contextlib
import threading

import numpy as np
import pytest

import vyre
from places import PLACES, name_of
from vyre import In, InOut, Out, u32, u64, vec4u32

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


def test_a_changed_value_of_python_makes_another_program():
    global FACTOR
    kernel, x = vyre.kernel(captured), numbers(8)
    resident = vyre.array(x, **ON_CPU)
    for FACTOR in (3, 5, 3, 6):
        for _ in range(3):
            assert (kernel(x, **ON_CPU) == x * np.uint32(FACTOR)).all()
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


def test_a_kernel_in_a_kernel_and_in_a_procedure_is_no_call(known):
    @vyre.kernel
    def outer(y: Out[u32]):
        known(A, B, 7)
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


@pytest.mark.parametrize("where", PLACES, ids=name_of)
def test_threads_call_one_kernel_at_once(where):
    kernel, wrong = vyre.kernel(scaled), []
    options = {"backend": where[0], "device": where[1]}

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

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
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

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
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


@pytest.mark.parametrize("shape", [(-1,), (2**62,), (2**31, 2**31, 4), (8,)], ids=str)
def test_the_core_refuses_parts_that_do_not_fit(shape):
    kernel = vyre.kernel(captured)
    x, kind = numbers(9, 8), np.dtype(np.uint32)
    right = [(0, (8,), kind, "read"), (None, (8,), kind, "zeros")]
    place = [None, None, "cpu", None]
    vyre._core._host_launch(kernel.program, [x], right, [], [1, 1, 1], *place)
    for arguments, slots, words in (
        ([x], right[:1], []),
        ([x], [right[0], (1, (8,), kind, "zeros")], []),
        ([x], [right[0], (None, shape if shape != (8,) else (2**63 - 1, 4), kind, "zeros")], []),
        ([x], [right[0], (None, (8,), np.dtype(np.uint64), "zeros")], []),
        ([x], [(None, (8,), kind, "zeros"), right[0]], []),
        ([(0, 9)], right, []),
        ([x], right, [(0, False)]),
        ([x], right, [(3, False)]),
    ):
        with pytest.raises((vyre.ArgumentError, vyre.BindingError)):
            vyre._core._host_launch(kernel.program, arguments, slots, words, [1, 1, 1], *place)
