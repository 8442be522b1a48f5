"""What a kernel's call takes and gives: arrays, scalars, constants, grids, resident arrays, and its messages."""

import dataclasses
import gc
import inspect
import pickle
import weakref

import numpy as np
import pytest

import vyre
from conftest import refused
from vyre import In, InOut, Out, boolean, i32, u32, u64
from vyre.errors import ArgumentError, BindingError

SIZE = 5


@vyre.kernel
def saxpy(a: In[u32], x: In[u32], k: u32, y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = a[i] * k + x[i]


@vyre.kernel
def add_one(data: InOut[u32]):
    data[vyre.gid(0)] += 1


@vyre.kernel
def scalars(n: u32, s: i32, w: u64, flag: boolean, out: Out[u64]):
    out[0] = u64(n)
    out[1] = u64(u32(s))
    out[2] = w + 1
    out[3] = u64(u32(flag))


@vyre.kernel
def powers(k: vyre.const, out: Out[u32], first: u32 = 1):
    value = first
    for _ in vyre.unroll(range(k)):
        value = value * 3
    out[vyre.gid(0)] = value


@vyre.kernel
def both(a: In[u32], low: Out[u32], high: Out[u32]):
    i = vyre.gid(0)
    low[i], high[i] = a[i] & 0xFFFF, a[i] >> 16


@vyre.kernel
def behind(a: In[u32], out: Out[u32], n: u32):
    i = vyre.gid(0)
    out[i] = a[i] + n


@vyre.kernel
def place(out: Out[u32, 3]):
    x, y, z = vyre.gid(0), vyre.gid(1), vyre.gid(2)
    out[z, y, x] = x + 10 * y + 100 * z


@vyre.kernel
def lanes(v: In[vyre.vec4u32], out: Out[vyre.vec2u32]):
    i = vyre.gid(0)
    out[i] = vyre.vec2u32(v[i].x + v[i].y, v[i].z ^ v[i].w)


A = np.arange(SIZE, dtype=np.uint32)


def test_an_out_that_is_left_out_has_the_shape_of_the_first_array(target):
    y = saxpy(A, A + 1, 3, **target)
    assert y.dtype == np.uint32
    assert y.tolist() == [1, 5, 9, 13, 17]


@pytest.mark.parametrize("how", ["by position", "by its name", "as out"])
def test_an_out_that_is_given_is_filled_and_given_back(how):
    y = np.full(SIZE, 7, np.uint32)
    if how == "by position":
        given = saxpy(A, A, 1, y, backend="reference")
    else:
        given = saxpy(A, A, 1, **{"y" if how == "by its name" else "out": y}, backend="reference")
    assert given is y
    assert y.tolist() == [0, 2, 4, 6, 8]


def test_an_in_out_array_is_written_in_place(target):
    data = np.array([1, 2, 0xFFFFFFFF], np.uint32)
    assert add_one(data, **target) is data
    assert data.tolist() == [2, 3, 0]


def test_scalars_of_every_type_arrive(target):
    given = scalars(0xFFFFFFFF, -2, 2**63, True, out=np.zeros(4, np.uint64), grid=1, **target)
    assert given.tolist() == [0xFFFFFFFF, 0xFFFFFFFE, 2**63 + 1, 1]


def test_a_constant_has_a_program_a_value():
    assert powers(3, np.zeros(1, np.uint32), backend="reference").tolist() == [27]
    assert powers(4, np.zeros(1, np.uint32), 2, backend="reference").tolist() == [162]
    assert powers.specialize(k=1).text != powers.specialize(k=2).text


def test_several_results_are_a_tuple(target):
    low, high = both(np.array([0x12345678], np.uint32), **target)
    assert (low.tolist(), high.tolist()) == ([0x5678], [0x1234])


def test_the_grid_is_the_shape_of_the_output_with_the_last_axis_first(target):
    given = place(np.zeros((2, 3, 4), np.uint32), **target)
    z, y, x = np.indices((2, 3, 4))
    assert (given == x + 10 * y + 100 * z).all()


def test_indices_are_checked_axis_by_axis(target):
    @vyre.kernel
    def shifted(a: In[u32, 2], out: Out[u32, 2]):
        x, y = vyre.gid(0), vyre.gid(1)
        out[y, x] = a[y, x + 1]
        out[y, x + 3] = 77  # beyond the last column: stores nothing

    a = np.arange(6, dtype=np.uint32).reshape(2, 3)
    assert shifted(a, **target).tolist() == [[1, 2, 0], [4, 5, 0]]


def test_vectors_have_lanes(target):
    v = np.array([[1, 2, 3, 5], [10, 20, 30, 40]], np.uint32)
    assert lanes(v, **target).tolist() == [[3, 6], [30, 30 ^ 40]]


def test_resident_arrays_give_resident_arrays():
    a = vyre.array(A, backend="cpu")
    y = saxpy(a, a, 2)
    assert (type(y), y.backend, y.numpy().tolist()) == (vyre.Array, "cpu", [0, 3, 6, 9, 12])
    assert saxpy(a, A, 1).numpy().tolist() == [0, 2, 4, 6, 8]
    given = vyre.array(np.full(SIZE, 9, np.uint32), backend="cpu")
    assert saxpy(a, a, 0, out=given) is given
    assert given.numpy().tolist() == A.tolist()


@vyre.kernel
def large_ones(a: In[u32], large: Out[u32], found: Out[vyre.boolean]):
    i = vyre.gid(0)
    if a[i] > 3:
        large[i] = a[i]
        found[i] = True


def test_a_resident_out_begins_as_zeros_at_each_call_and_at_each_replay(target):
    a = vyre.array(np.arange(6, dtype=np.uint32), **target)
    large, found = vyre.full(6, 9, dtype=vyre.u32, **target), vyre.full(6, True, dtype=bool, **target)
    large_ones(a, large, found)
    assert large.numpy().tolist() == [0, 0, 0, 0, 4, 5]
    assert found.numpy().tolist() == [False] * 4 + [True] * 2
    with vyre.graph() as graph:
        large_ones(a, large, found)
    for _ in range(2):
        large.fill(7)
        found.fill(True)
        graph.replay()
        assert large.numpy().tolist() == [0, 0, 0, 0, 4, 5]
        assert found.numpy().tolist() == [False] * 4 + [True] * 2


def test_a_call_that_is_refused_leaves_a_resident_out_as_it_was(target):
    a = vyre.array(A, **target)
    message = (
        "arrays `a` and `large` overlap in memory, and one of them is written. Fix: give each its own "
        "array, for instance a copy."
    )
    counts = vyre.array([len(A), 1, 1], dtype=vyre.u32, **target)
    with vyre.graph() as graph:
        for grid in ({}, {"workgroups": 1}, {"grid": counts, "at_most": len(A)}):
            with pytest.raises(vyre.BindingError) as error:
                large_ones(a, a, **grid)
            assert str(error.value) == message
    graph.replay()
    assert a.numpy().tolist() == A.tolist()


@vyre.kernel
def next_two(a: In[u32], b: Out[u32], c: InOut[u32]):
    i = vyre.gid(0)
    if i < len(b):
        b[i] = a[i] + 1
        c[i] = c[i] + a[i]


@pytest.mark.parametrize("resident", [False, True])
def test_written_arrays_that_overlap_are_refused_and_stay_as_they_were(resident):
    a = vyre.array(A, backend="cpu") if resident else A
    place = {} if resident else {"backend": "cpu"}
    memory = np.arange(3 * SIZE, dtype=np.uint32)
    apart = memory[:SIZE], memory[SIZE : 2 * SIZE]
    for _ in range(2):  # the second such call has a plan
        next_two(a, *apart, **place)
    assert memory.tolist() == [*(A + 1), *(np.arange(SIZE, 2 * SIZE) + 2 * A), *range(2 * SIZE, 3 * SIZE)]
    for step in (0, 1, SIZE - 1):
        before = memory.copy()
        with refused(
            vyre.BindingError,
            "arguments `b` and `c` of kernel `next_two` overlap in memory, and both are written",
            "give each its own array, for instance a copy",
        ):
            next_two(a, memory[:SIZE], memory[step : step + SIZE], **place)
        assert (memory == before).all()
    next_two(A[:0], memory[:0], memory[:0], backend="cpu")


def test_arrays_without_elements_run_nothing(target):
    assert saxpy(A[:0], A[:0], 1, **target).tolist() == []


def powers_of(x: In[u32], k: vyre.const, n: u32, y: Out[u32], base: vyre.const = 1):
    i = vyre.gid(0)
    if i < len(y):
        made = base
        for _ in range(k):
            made = made * x[i]
        vyre.debug("made", made)
        y[i] = made + n


def test_a_specialised_kernel_does_what_the_kernel_does_with_the_constants():
    kernel = vyre.kernel(powers_of)
    cubes = kernel.specialize(k=3)
    x = np.arange(10, dtype=np.uint32)
    wanted = x**3 + np.uint32(7)
    y = np.zeros(10, np.uint32)
    for _ in range(3):
        assert (cubes(x, 7, backend="cpu") == wanted).all()
        assert cubes(x, 7, y, backend="cpu") is y
        assert (y == wanted).all()
        assert cubes(n=7, x=x, out=y, backend="cpu", grid=10) is y
        resident = vyre.array(x, backend="cpu")
        assert (cubes(resident, 7).numpy() == wanted).all()
    assert (kernel.specialize(base=2, k=1)(x, 7, backend="cpu") == 2 * x + 7).all()
    assert cubes.program == kernel.specialize(k=3).program
    assert cubes.text == kernel.specialize(k=3).text
    assert (cubes.__name__, cubes.__doc__) == (kernel.__name__, kernel.__doc__)
    assert repr(cubes) == "<vyre.Kernel powers_of(x, n, y) of k=3, base=1>"
    assert (pickle.loads(pickle.dumps(squares))(x, backend="cpu") == x * x).all()


@vyre.kernel
def power(x: In[u32], k: vyre.const, y: Out[u32]):
    made = 1
    for _ in range(k):
        made = made * x[vyre.gid(0)]
    y[vyre.gid(0)] = made


squares = power.specialize(k=2)


def test_a_specialised_kernel_is_looked_into_as_the_kernel_is():
    kernel = vyre.kernel(powers_of)
    cubes = kernel.specialize(k=3)
    x = np.arange(10, dtype=np.uint32)
    assert str(cubes.cost(x=10)) == str(kernel.cost(x=10, k=3))
    assert str(cubes.notes()) == str(cubes.program.notes())
    assert str(cubes.notes(x, 7, grid=5)) == str(kernel.notes(x, 3, 7, grid=5))
    assert (cubes.check(x, 7).outputs["y"] == x**3 + np.uint32(7)).all()
    traced = vyre.trace(cubes, x, 7, invocation=2)
    assert [row.value for row in traced.rows if row.name == "made"][-1] == 8
    with vyre.debugging(invocations=[3]) as seen:
        cubes(x, 7, backend="cpu")
    assert [row.value for row in seen.rows] == [27]
    assert cubes.explain(backend="cpu").kernel == "powers_of"


def test_a_specialised_kernel_has_no_constants_left():
    cubes = vyre.kernel(powers_of).specialize(k=3)
    x = np.arange(10, dtype=np.uint32)
    with refused(
        vyre.CallError,
        "kernel `powers_of` has no argument `k`",
        "write powers_of.specialize(k=3, base=1)(x, n)",
    ):
        cubes(x, 7, k=3)
    with refused(
        vyre.CallError, "kernel `powers_of` misses argument `n`", "write powers_of.specialize(k=3, base=1)(x, n)"
    ):
        cubes(x)
    assert list(inspect.signature(cubes).parameters) == ["x", "n", "y"]
    with pytest.raises(vyre.CallError, match="has no const parameter `k`"):
        cubes.specialize(k=4)


def test_tables_are_kept_for_the_last_64_programs_alone():
    held: list[np.ndarray] = []

    @vyre.kernel
    def shown(k: vyre.const, out: Out[u32]):
        i = vyre.gid(0)
        out[i] = held[k][i]

    def made(k: int) -> list[int]:
        return shown(k, np.zeros(4, np.uint32), backend="cpu").tolist()

    held.append(np.arange(4, dtype=np.uint32))
    first = weakref.ref(held[0])
    assert made(0) == [0, 1, 2, 3]
    held[0][:] = 9  # the copy is kept for a while
    held.append(np.full(4, 1, np.uint32))
    assert made(1) == [1] * 4
    assert made(0) == [0, 1, 2, 3]
    for k in range(2, 70):
        held.append(np.full(4, k, np.uint32))
        assert made(k) == [k] * 4
    held.clear()
    gc.collect()
    assert sum(len(tables) for tables in shown._copies) == 64
    assert first() is None


WRONG = {
    "a list of truths": (
        lambda: large_ones(A, found=[True]),
        "argument `found` of kernel `large_ones` must be an array of bool or uint32, got an object of type list",
        "pass an array of bool or uint32",
    ),
    "an argument behind an Out": (
        lambda: behind(A, 3),
        "kernel `behind` misses argument `n`",
        "write behind(a, n=n)",
    ),
    "a strided InOut": (
        lambda: add_one(np.zeros(6, np.uint32)[::2]),
        "argument `data` of kernel `add_one` is written, and the array is not C-contiguous",
        "pass a writable, C-contiguous array",
    ),
    "out for two": (
        lambda: both(A, out=A),
        "kernel `both` has no argument `out`",
        "write both(a)",
    ),
    "True for an integer": (
        lambda: saxpy(A, A, True),
        "argument `k` of kernel `saxpy` must be an integer from 0 to 4294967295, got True",
        "pass an integer from 0 to 4294967295",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_call_says_what_to_write(case):
    call, *message = WRONG[case]
    is_about_an_array = any(word in message[0] for word in ("must", "left out", "written"))
    with refused(vyre.BindingError if is_about_an_array else vyre.ArgumentError, *message):
        call()


def test_what_stands_behind_an_out_is_given_by_name():
    assert behind(A, n=3, backend="cpu").tolist() == (A + 3).tolist()


def test_kernels_work_where_pip_installs_packages(tmp_path):
    """There vyre and numpy lie in one folder with packages whose functions are inlined."""
    import os
    import subprocess
    import sys
    from pathlib import Path

    packages = tmp_path / "site-packages"
    packages.mkdir()
    (packages / "vyre").symlink_to(Path(vyre.__file__).parent)
    (packages / "other.py").write_text("def doubled(x):\n    if x > 2:\n        return 2 * x\n    return x\n")
    (tmp_path / "script.py").write_text(
        "import numpy as np, other, vyre\n"
        "@vyre.kernel\n"
        "def k(a: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]):\n"
        "    i = vyre.gid(0)\n"
        "    total = 0\n"
        "    for n in vyre.unroll(range(3)):\n"
        "        total += other.doubled(a[i]) + n\n"
        "    out[i] = total\n"
        "print(vyre.__file__, k(np.arange(5, dtype=np.uint32), backend='cpu').tolist())\n"
    )
    ran = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")],
        env={**os.environ, "PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr == ""
    assert ran.stdout == f"{packages}/vyre/__init__.py [3, 6, 9, 21, 27]\n"


def test_a_kernel_that_is_launched_with_blocks_and_threads_is_told_how_it_is_called():
    @vyre.kernel
    def doubled(x: vyre.In[vyre.u32], y: vyre.Out[vyre.u32]):
        i = vyre.gid(0)
        y[i] = x[i] * 2

    x = np.arange(64, dtype=np.uint32)
    with refused(
        vyre.CallError,
        "kernel `doubled` is not indexed with blocks and threads",
        "write doubled(x)",
    ):
        doubled[2, 32](x)
    assert (doubled(x) == x * 2).all()
    assert (vyre.kernel(workgroup_size=32)(doubled.__wrapped__)(x, workgroups=2) == x * 2).all()


@pytest.mark.parametrize("name", ["lower", "validate", "try_compile"])
def test_what_takes_a_program_says_how_a_kernel_gives_one(name):
    with refused(
        ArgumentError,
        f"argument `program` of vyre.{name} must be a vyre.Program, got an object of type Kernel",
        "pass a vyre.Program",
    ):
        getattr(vyre, name)(add_one)
    assert vyre.validate(add_one.program) == []


def test_what_takes_a_program_says_to_call_a_procedure():
    @vyre.procedure
    def cleared(x: InOut[u32]):
        vyre.clear(x)

    with refused(
        ArgumentError,
        "argument `program` of vyre.run must be a vyre.Program, got an object of type ProcedureFunction",
        "pass a vyre.Program",
    ):
        vyre.run(cleared, {})
    x = np.ones(2, np.uint32)
    cleared(x, backend="cpu")
    assert x.tolist() == [0, 0]


KINDS = {int: 1, bool: 2, float: 3}
CAPTURED: list[object] = [1, (2, 0)]


@dataclasses.dataclass(frozen=True)
class Setting:
    value: object
    note: list[int] = dataclasses.field(default_factory=list, compare=False)


@vyre.kernel
def kind(c: vyre.const, held: vyre.const, out: Out[u32]):
    out[vyre.gid(0)] = KINDS[type(held(c))]


@vyre.procedure
def kind_in_a_procedure(c: vyre.const, held: vyre.const):
    return kind(c, held, vyre.scratch(u32, 1))


@pytest.mark.parametrize(
    ("made", "held"),
    [
        (lambda c: c, lambda c: c),
        (lambda c: (c,), lambda c: c[0]),
        (lambda c: ((5, c), 5), lambda c: c[0][1]),
        (lambda c: frozenset({c}), lambda c: next(iter(c))),
        (Setting, lambda c: c.value),
        (lambda c: (Setting, c), lambda c: c[1]),
    ],
)
def test_constants_that_are_equal_have_programs_of_their_types(made, held):
    for c in (1, True, 1.0, 1, True):
        assert kind(made(c), held, np.zeros(1, np.uint32), backend="cpu").tolist() == [KINDS[type(c)]]
        assert kind_in_a_procedure(made(c), held, backend="cpu").tolist() == [KINDS[type(c)]]


def test_a_constant_with_a_part_that_may_change_is_refused():
    message = (
        "const parameter `c` of kernel `kind` must be a value with a hash, such as an integer or a tuple of integers"
    )
    for wrong in ([1], ([1],), ({1: 2},)):
        with pytest.raises(vyre.ArgumentError, match=message):
            kind(wrong, len, np.zeros(1, np.uint32), backend="cpu")


def test_a_captured_container_is_read_anew_when_a_type_in_it_changes():
    @vyre.kernel
    def captured(out: Out[u32]):
        out[vyre.gid(0)] = KINDS[type(CAPTURED[0])] * 10 + KINDS[type(CAPTURED[1][1])]

    found = []
    for CAPTURED[0], CAPTURED[1] in ((1, (2, 0)), (True, (2, 0)), (True, (2, False)), (1.0, (2, 0))):
        found.append(int(captured(np.zeros(1, np.uint32), backend="cpu")[0]))
    assert found == [11, 21, 22, 31]


@vyre.kernel
def bounded_by_a(a: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    if i < len(a):
        out[i] = a[i] + 1


@pytest.mark.parametrize("count", [100, 99, 3])
def test_an_out_is_zero_behind_the_array_that_bounds_its_stores(target, count):
    """The grid reaches the end of the Out, and its stores do not."""
    out = vyre.array(np.full(100, 7, np.uint32), **target)
    bounded_by_a(vyre.array(np.arange(count, dtype=np.uint32), **target), out, grid=100)
    assert out.numpy().tolist() == [*range(1, count + 1), *[0] * (100 - count)]


def test_a_length_that_a_u32_does_not_hold_is_refused_for_an_array_without_elements(target):
    @vyre.kernel
    def rows(x: In[u32, 2], y: Out[u32]):
        y[vyre.gid(0)] = x.shape[0]

    tall = np.empty((2**32, 0), np.uint32)
    resident = vyre.empty((2**32, 0), np.uint32, **target)
    out = vyre.empty(1, np.uint32, **target)
    for call in (lambda: rows(tall, np.empty(1, np.uint32), **target), lambda: rows(resident, out)):
        with refused(
            BindingError,
            "axis 0 of argument `x` of kernel `rows` must have at most 4294967295 elements, got 4294967296",
            "pass one with at most 4294967295 elements",
        ):
            call()
    assert rows(tall[: 2**32 - 1], np.empty(1, np.uint32), **target).tolist() == [2**32 - 1]


def test_attributes_of_a_function_hide_none_of_its_kernel_or_procedure():
    def plus(x: In[u32], k: vyre.const, y: Out[u32]):
        i = vyre.gid(0)
        if i < len(y):
            y[i] = x[i] + k

    def twice(x: In[u32]):
        return kernel(kernel(x, 1), 1)

    for function in (plus, twice):
        for name in ("_call", "_given", "_recorded", "_traced", "check", "specialize"):
            setattr(function, name, 0)
    kernel, procedure = vyre.kernel(plus), vyre.procedure(twice)
    x = np.arange(4, dtype=np.uint32)
    for given in (kernel(x, 2), kernel.specialize(k=2)(x), procedure(x)):
        assert given.tolist() == [2, 3, 4, 5]
    assert kernel.specialize(k=2).check(x).ok
    assert procedure.check(x).ok
    assert kernel.__wrapped__.check == 0
