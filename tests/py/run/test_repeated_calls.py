"""Calls that were made before go straight to their plan, and give what the first call would give."""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from vyre import In, InOut, Out, i32, u32, u64
from vyre.errors import ArgumentError, BindingError

pytestmark = pytest.mark.filterwarnings("error")


@vyre.kernel
def mixed(a: In[u32], b: In[u32], n: u32, s: i32, w: u64, low: Out[u32], wide: Out[u64]):
    i = vyre.gid(0)
    if i < len(a):
        low[i] = a[i] * n + b[i] ^ u32(s)
        wide[i] = u64(a[i]) + w


@vyre.kernel
def evens(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y) and i % 2 == 0:
        y[i] = x[i]


@vyre.kernel
def chosen(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    if x[i] > 7:
        y[i] = 1
    else:
        y[i] = 2


@vyre.kernel
def up_to_the_shorter(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    if i >= len(x):
        return
    y[i] = x[i] + 1


@vyre.kernel
def rows(x: In[u32, 2], y: Out[u32, 2], z: InOut[u32]):
    row, column = vyre.gid(1), vyre.gid(0)
    y[row, column] = x[row, column] + row
    if row == 0 and column < len(z):
        z[column] += 1


def numbers(seed: int, count: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2**32, count, dtype=np.uint32)


def test_each_call_sees_its_own_arrays_and_numbers(place):
    for turn in range(6):
        for count in (1000, 257):
            a, b = numbers(turn, count), numbers(turn + 100, count)
            n, s, w = (turn * 7 + 1, -turn if turn % 2 else 2**31 - 1, 2**64 - 1 - turn)
            low, wide = mixed(vyre.array(a, **place), vyre.array(b, **place), n, s, w)
            assert (low.numpy() == ((a * np.uint32(n) + b) ^ np.uint32(s & 0xFFFFFFFF))).all()
            assert (wide.numpy() == a.astype(np.uint64) + np.uint64(w)).all()


@pytest.mark.parametrize("kernel", [evens, chosen, up_to_the_shorter], ids=lambda k: k.__name__)
def test_an_out_begins_as_zeros_whatever_it_held(kernel, place):
    """Memory of arrays that are gone comes back with what they held, unless the call stores to all of it."""
    x = numbers(3, 5000)
    wanted = {
        evens: np.where(np.arange(5000) % 2 == 0, x, 0),
        chosen: np.where(x > 7, 1, 2),
        up_to_the_shorter: x + np.uint32(1),
    }[kernel]
    given, full = vyre.array(x, **place), vyre.full(5000, 0xDEADBEEF, **place)
    for _ in range(4):
        spoilt = vyre.full(5000, 0xDEADBEEF, **place)
        spoilt.wait()
        del spoilt
        assert (kernel(given).numpy() == wanted).all()
        full.fill(np.uint32(0xDEADBEEF))
        assert (kernel(given, full).numpy() == wanted).all()


@pytest.mark.parametrize("counts", [{"grid": 256}, {"workgroups": 1}, {"workgroups": (1,)}], ids=str)
def test_a_grid_that_covers_a_part_leaves_zeros_behind_it(place, counts):
    x = numbers(5, 3000)
    for _ in range(3):
        y = vyre.full(3000, 0xDEADBEEF, **place)
        wanted = np.append(x[:256] + np.uint32(1), np.zeros(2744, np.uint32))
        assert (up_to_the_shorter(vyre.array(x, **place), y, **counts).numpy() == wanted).all()


def test_large_memory_that_comes_back_is_written_as_a_whole():
    x = numbers(6, 3 << 20)  # 12 MiB: kept for the next array of its size
    given = vyre.array(x, backend="cpu")
    for turn in range(4):
        for counts in ({}, {"workgroups": len(x) // 256}):
            assert (chosen(given, **counts).numpy() == np.where(x > 7, 1, 2)).all()
        assert (evens(given).numpy()[1::2] == 0).all(), turn
        assert (vyre.zeros(3 << 20, backend="cpu").numpy() == 0).all()
        assert (vyre.empty(3 << 20, backend="cpu").numpy() == 0).all()


def test_shapes_of_several_axes_take_their_turns(place):
    for _ in range(3):
        for shape in ((4, 6), (6, 4), (1, 24)):
            x = np.arange(24, dtype=np.uint32).reshape(shape)
            z = vyre.array(np.full(3, 7, np.uint32), **place)
            made, counted = rows(vyre.array(x, **place), None, z)
            assert (made.numpy() == x + np.arange(shape[0], dtype=np.uint32)[:, None]).all()
            assert counted is z
            assert z.numpy().tolist() == [8, 8, 8]


def test_a_procedure_refuses_what_it_refused_before(place):
    @vyre.procedure
    def scaled(x: In[u32], k: i32, data: InOut[u32]):
        y = vyre.scratch(u32, x.length)
        times(x, k, y)
        added(y, data)
        return data, y

    x = numbers(12, 40)
    for turn in range(3):
        data = vyre.array(np.full(40, turn, np.uint32), **place)
        both, y = scaled(vyre.array(x, **place), -turn, data)
        assert both is data
        assert (y.numpy() == x * np.uint32(-turn & 0xFFFFFFFF)).all()
        assert (data.numpy() == turn + x * np.uint32(-turn & 0xFFFFFFFF)).all()
        with pytest.raises(BindingError, match="must be an integer from"):
            scaled(vyre.array(x, **place), 2**31, data)
        with pytest.raises(BindingError, match="uint32"):
            scaled(vyre.array(x.astype(np.uint64), **place), 1, data)
        with pytest.raises(BindingError, match="must have 1 axis"):
            scaled(vyre.array(x.reshape(4, 10), **place), 1, data)
        with pytest.raises(BindingError):
            scaled(data, 1, data)


def test_a_call_with_booleans_is_checked_once(place, monkeypatch):
    @vyre.kernel
    def where(m: In[vyre.boolean], other: vyre.boolean, x: In[u32], y: Out[u32]):
        i = vyre.gid(0)
        y[i] = x[i] if m[i] != other else 0

    @vyre.procedure
    def kept(m: In[vyre.boolean], x: In[u32], other: vyre.boolean):
        y = vyre.scratch(u32, x.length)
        where(m, other, x, y)
        return y

    x = numbers(18, 40)
    m = x % 3 == 0
    masks, values = vyre.array(m, **place), vyre.array(x, **place)
    kept(masks, values, False)
    with monkeypatch.context() as patched:
        patched.setattr("vyre._procedure.procedure.run", None)
        for other in (False, True, np.bool_(True)):
            assert (kept(masks, values, other).numpy() == np.where(m ^ other, x, 0)).all()
    for wrong in ((masks, values, 2), (values, values, True), (masks, masks, True)):
        with pytest.raises(BindingError, match="must be"):
            kept(*wrong)


@vyre.kernel
def times(x: In[u32], k: i32, y: Out[u32]):
    i = vyre.gid(0)
    y[i] = x[i] * u32(k)


@vyre.kernel
def added(x: In[u32], data: InOut[u32]):
    i = vyre.gid(0)
    data[i] += x[i]


def kernel_of_numbers(path, count: int):
    """A kernel that adds so many numbers to each element."""
    names = [f"n{k}" for k in range(count)]
    parameters = ", ".join(f"{name}: vyre.u32" for name in names)
    path.write_text(
        "import vyre\n\n@vyre.kernel\n"
        f"def summed(x: vyre.In[vyre.u32], {parameters}, y: vyre.Out[vyre.u32]):\n"
        f"    y[vyre.gid(0)] = {' + '.join(['x[vyre.gid(0)]', *names])}\n"
    )
    scope: dict[str, object] = {}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    return scope["summed"]


def test_a_kernel_may_have_any_count_of_parameters(tmp_path):
    """Once, the first call of one with more than 64 was refused when it had run."""
    x = numbers(13, 20)
    summed = kernel_of_numbers(tmp_path / "summed.py", 80)
    for turn in range(3):
        given = [turn * k for k in range(80)]
        assert (summed(vyre.array(x, backend="cpu"), *given).numpy() == x + np.uint32(sum(given))).all()


@pytest.mark.parametrize(
    "wrong", ["a", None, 1.0, object(), True, -1, np.array([1, 2])], ids=lambda value: type(value).__name__
)
def test_counts_that_are_none_are_refused_whether_or_not_an_out_is_given(wrong):
    x, y = vyre.array(numbers(14, 16), backend="cpu"), vyre.full(16, 7, backend="cpu")
    for outs in ((), (y,)):
        with pytest.raises(ArgumentError, match="element 0 of argument `workgroups`"):
            chosen(x, *outs, workgroups=(wrong,))
    assert (y.numpy() == 7).all()


def test_counts_of_narrow_numbers_do_not_wrap():
    x = numbers(15, 600)
    y = vyre.full(600, 0xDEADBEEF, backend="cpu")
    assert (
        up_to_the_shorter(vyre.array(x, backend="cpu"), y, workgroups=(np.uint8(3),)).numpy() == x + np.uint32(1)
    ).all()
    wanted = np.append(x[:256] + np.uint32(1), np.zeros(344, np.uint32))
    assert (up_to_the_shorter(vyre.array(x, backend="cpu"), y, workgroups=(np.uint8(1),)).numpy() == wanted).all()


@pytest.mark.parametrize("shape", [(-1,), (-(2**62), 4), (2**62,), (2**31, 2**31, 4)], ids=str)
def test_a_launch_refuses_shapes_whose_bytes_cannot_be_counted(shape):
    x = vyre.array(numbers(16, 8), backend="cpu")
    slots = [(0, vyre.DataType.U32, (8,), "read"), (None, vyre.DataType.U32, shape, "anything")]
    with pytest.raises(ArgumentError, match="do not fit"):
        vyre._core._launch(chosen.program, [x], slots, [], [1, 1, 1], None)


@vyre.procedure
def both(x: In[u32], v: InOut[vyre.vec4u32], k: i32):
    y = vyre.scratch(u32, x.length)
    times(x, k, y)
    return v, y


def test_a_launch_of_a_procedure_refuses_parts_that_are_not_its_own():
    """Once, axes beyond those of the procedure read behind the end of a shape."""
    u, v, k = (vyre.DataType.U32, 1), (vyre.DataType.Vec4U32, 1), (vyre.DataType.I32, None)
    launch = vyre._core._procedure_launch(both.procedure, [u, v, k], [1, 2])
    x, vectors = vyre.array(numbers(17, 8), backend="cpu"), vyre.zeros((3, 4), backend="cpu")
    changed, made = launch((), x, vectors, 3)
    assert changed is vectors
    assert (made.numpy() == x.numpy() * np.uint32(3)).all()
    for wrong in (vyre.zeros((), backend="cpu"), vyre.zeros(8, backend="cpu"), vyre.zeros((2, 2), backend="cpu"), 1):
        assert launch((), x, wrong, 3) is NotImplemented
    for bindings in (x, (1,), ((1, 2, 3),), ((globals(), "u32", None),)):
        assert launch(bindings, x, vectors, 3) is NotImplemented
    for parts in (
        [u],
        [u, v],
        [u, k],
        [u, v, k, k],
        [u, v, u, k],
        [v, u, k],
        [u, (vyre.DataType.Vec4U32, 2), k],
        [u, (vyre.DataType.Vec4U32, 2**64 - 1), k],
        [(vyre.DataType.U32, 0), v, k],
        [(vyre.DataType.I32, 1), v, k],
    ):
        with pytest.raises(ArgumentError, match="do not fit"):
            vyre._core._procedure_launch(both.procedure, parts, [1])
    with pytest.raises(ArgumentError, match="do not fit"):
        vyre._core._procedure_launch(both.procedure, [u, v, k], [3])


def outcome(call):
    """What a call gives, to be compared: whether it gives the array that it was given and the bytes, or its error."""
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


SUM = [
    vyre.BufferDecl.read("a", 0, vyre.u32),
    vyre.BufferDecl.read_write("low", 1, vyre.u32),
    vyre.BufferDecl.read_write("high", 2, vyre.u32),
]


def sums(written: int) -> vyre.Program:
    """`low += a` and, if two buffers are written, `high += 2 * a`, in workgroups of 4 x 2 x 1."""
    at = vyre.Expr.gid_x() + vyre.Expr.gid_y() * 8
    a = vyre.Expr.load("a", at)
    stores = [vyre.Node.store("low", at, vyre.Expr.load("low", at) + a)]
    stores += [vyre.Node.store("high", at, vyre.Expr.load("high", at) + a * 2)] if written == 2 else []
    return vyre.Program(SUM[: 1 + written], (4, 2, 1), stores)


# What a call of `sums` is given behind its arrays, and the arrays if they are others than those of the calls before.
LIKE_AND_UNLIKE = {
    "the same": {"workgroups": 2},
    "one axis": {"workgroups": (2,)},
    "two axes": {"workgroups": (2, 2)},
    "three axes": {"workgroups": (1, 2, 1)},
    "no workgroups at all": {"workgroups": 0},
    "a list": {"workgroups": [2, 1, 1]},
    "a number of numpy": {"workgroups": np.uint32(2)},
    "numbers of numpy": {"workgroups": (np.int64(2), 1)},
    "no axis": {"workgroups": ()},
    "four axes": {"workgroups": (1, 1, 1, 1)},
    "a truth": {"workgroups": True},
    "negative": {"workgroups": -1},
    "too large": {"workgroups": 2**32},
    "far too large": {"workgroups": (1, 2**70)},
    "a float": {"workgroups": 2.0},
    "None": {"workgroups": None},
    "no counts": {},
    "no optimisation": {"workgroups": 2, "optimize": False},
    "an unknown name": {"workgrops": 2},
    "another name": {"workgroups": 2, "nothing": 1},
    "an array too few": {"workgroups": 2, "arrays": slice(0, 1)},
    "an array too many": {"workgroups": 2, "arrays": [0, 1, 0, 1]},
    "no array": {"workgroups": 2, "arrays": slice(0, 0)},
    "an array twice": {"workgroups": 2, "arrays": [0, 0, 0]},
    "arrays of numpy": {"workgroups": 2, "numpy": True},
}


@pytest.mark.parametrize("written", [1, 2])
@pytest.mark.parametrize("name", LIKE_AND_UNLIKE)
def test_a_program_that_was_called_before_gives_what_a_fresh_one_gives(name, written, place):
    how = dict(LIKE_AND_UNLIKE[name])
    chosen_arrays, of_numpy = how.pop("arrays", slice(None)), how.pop("numpy", False)

    def call(program: vyre.Program):
        arrays = [vyre.array(numbers(k, 32), **place) for k in range(1 + written)]
        given = arrays[chosen_arrays] if isinstance(chosen_arrays, slice) else [arrays[k] for k in chosen_arrays]
        given = [each.numpy() for each in given] if of_numpy else given
        made = program(*given, **how)
        results = made if isinstance(made, tuple) else (made,)
        assert isinstance(made, tuple) == (written == 2)
        return [any(each is array for array in arrays) for each in results], [each.numpy().tolist() for each in arrays]

    before = sums(written)
    for _ in range(2):
        before(*(vyre.array(numbers(k, 32), **place) for k in range(1 + written)), workgroups=2)
    assert outcome(lambda: call(before)) == outcome(lambda: call(sums(written)))


def test_a_program_is_recorded_after_calls_that_were_right(place):
    program = sums(1)
    a, low = (vyre.array(np.arange(32, dtype=np.uint32), **place) for _ in range(2))
    program(a, low, workgroups=(2, 2))
    with vyre.graph() as graph:
        program(a, low, workgroups=(2, 2))
    assert low.numpy().tolist() == (np.arange(32) * 2).tolist()
    graph.replay()
    assert low.numpy().tolist() == (np.arange(32) * 3).tolist()
