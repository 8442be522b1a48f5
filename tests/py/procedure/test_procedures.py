"""Procedures: several kernels over arrays of any length, run as one."""

import numpy as np
import pytest

import vyre
from conftest import refused
from small_kernels import doubled
from vyre import In, InOut, Out, u8, u32, u64
from vyre.errors import ArgumentError, BindingError, CallError

LANES, EACH = 64, 4
BLOCK = LANES * EACH


@vyre.kernel(workgroup_size=LANES)
def block_scan(x: In[u32], sums: Out[u32], totals: Out[u32]):
    t, g = vyre.lid(0), vyre.wid(0)
    partial = vyre.shared(u32, 2 * LANES)
    first = g * BLOCK + t * EACH
    own = [x[first + k] for k in range(EACH)]
    partial[t] = own[0] + own[1] + own[2] + own[3]
    vyre.barrier()
    base = vyre.u32(0)
    for step in (1, 2, 4, 8, 16, 32):
        value = partial[base + t]
        if t >= step:
            value = value + partial[base + t - step]
        partial[LANES - base + t] = value
        base = LANES - base
        vyre.barrier()
    total = partial[base + t]
    before = total - (own[0] + own[1] + own[2] + own[3])
    for k in (0, 1, 2, 3):
        if first + k < len(sums):
            sums[first + k] = before
        before = before + own[k]
    if t == LANES - 1:
        totals[g] = total


@vyre.kernel
def add_offsets(offsets: In[u32], sums: InOut[u32]):
    i = vyre.gid(0)
    sums[i] += offsets[i // BLOCK]


def make_scan(levels):
    inner = make_scan(levels - 1) if levels > 1 else None

    @vyre.procedure(name=f"exclusive_scan{levels}")
    def scan(x: In[u32]):
        n = x.length
        blocks = vyre.ceil_div(n, BLOCK)
        y, totals = vyre.scratch(u32, n, name="y"), vyre.scratch(u32, blocks, name="totals")
        block_scan(x, y, totals, workgroups=blocks)
        if inner is not None:
            with vyre.when(blocks > 1):
                add_offsets(inner(totals), y, grid=n)
        return y

    return scan


SCAN = make_scan(3)


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 1000, 70_000])
def test_a_scan_of_any_length_is_numpys(target, rng, n):
    if n > 1000 and target["backend"] == "reference":
        n = 3000
    x = rng.integers(0, 2**32, n, dtype=np.uint32)
    wanted = np.cumsum(x, dtype=np.uint32) - x
    assert np.array_equal(SCAN(x, **target), wanted)
    resident = vyre.array(x, **target)
    y = SCAN(resident)
    assert isinstance(y, vyre.Array)
    assert np.array_equal(y.numpy(), wanted)
    other = vyre.array(x[::-1].copy(), **target)
    assert np.array_equal(SCAN(other).numpy(), np.cumsum(x[::-1], dtype=np.uint32) - x[::-1])


@vyre.procedure
def powers(x: In[u32], k: u32):
    a, b = vyre.scratch(u32, x.length), vyre.scratch(u32, x.length)
    doubled(x, a)
    for _ in vyre.times(k):
        doubled(a, b)
        vyre.swap(a, b)
    return a


@pytest.mark.parametrize("k", [0, 1, 2, 3, 10])
def test_a_swap_in_a_repetition_leaves_the_result_in_the_output(target, k):
    x = np.arange(10, dtype=np.uint32)
    assert np.array_equal(powers(x, k, **target), x << (k + 1))
    out = vyre.empty(10, **target)
    assert powers(vyre.array(x, **target), k, out=out) is out
    assert np.array_equal(out.numpy(), x << (k + 1))


def test_out_takes_a_numpy_array():
    out = np.zeros(4, np.uint32)
    assert powers(np.arange(4, dtype=np.uint32), 1, out=out, backend="cpu") is out
    assert out.tolist() == [0, 4, 8, 12]


def test_a_swapped_result_of_an_invocation_goes_on():
    @vyre.procedure
    def twice(x: In[u32], k: u32):
        return powers(powers(x, k), k + 1)

    x = np.arange(5, dtype=np.uint32)
    assert np.array_equal(twice(x, 2, backend="cpu"), x << 7)


def test_an_array_that_begins_as_zeros_does_so_at_each_run(target):
    @vyre.kernel
    def count(x: In[u32], n: InOut[u32]):
        i = vyre.gid(0)
        if i < len(x):
            n.atomic_add(0, x[i])

    @vyre.procedure
    def total(x: In[u32]):
        n = vyre.scratch(u32, 1, zeros=True)
        count(x, n, grid=x.length)
        return n

    x = vyre.arange(100, **target)
    assert [int(total(x)[0]) for _ in range(3)] == [4950] * 3


def test_a_step_may_take_its_grid_from_an_array(target):
    @vyre.kernel
    def keep(x: In[u32], count: InOut[u32]):
        i = vyre.gid(0)
        if i < len(x):
            if x[i] & 1:
                count.atomic_add(0, 1)

    @vyre.kernel
    def ones(y: InOut[u32]):
        i = vyre.gid(0)
        y[i] = y[i] + 1

    one_each = vyre.kernel(workgroup_size=1)(ones.__wrapped__)

    @vyre.procedure
    def mark(x: In[u32]):
        count = vyre.scratch(u32, 3, zeros=True)
        counts_first(count, grid=3)
        keep(x, count, grid=x.length)
        y = vyre.scratch(u32, x.length, zeros=True)
        one_each(y, grid=count, at_most=x.length)
        return y

    @vyre.kernel
    def counts_first(count: InOut[u32]):
        i = vyre.gid(0)
        if 0 < i < 3:
            count[i] = 1

    x = vyre.arange(11, **target)
    assert mark(x).numpy().tolist() == [1] * 5 + [0] * 6


def test_parts_and_views_share_the_memory(target):
    @vyre.kernel
    def add(x: In[u32], y: InOut[u32]):
        i = vyre.gid(0)
        if i < len(y):
            y[i] += x[i]

    @vyre.procedure
    def halves(x: In[u8]):
        words = x.view(u32)
        y = vyre.scratch(u32, words.length, zeros=True)
        half = words.length // 2
        add(words[half:], y[:half], grid=half)
        add(words[:half], y[half:], grid=words.length - half)
        return y

    x = np.arange(32, dtype=np.uint8)
    words = x.view(np.uint32)
    assert np.array_equal(halves(x, **target), np.concatenate([words[4:], words[:4]]))


def test_tables_and_64_bit_numbers_reach_the_kernels(target):
    table = np.array([3, 1, 4, 1, 5], np.uint32)

    @vyre.kernel
    def look(x: In[u32], other: In[u32], k: u64, y: Out[u64]):
        i = vyre.gid(0)
        if i < len(y):
            y[i] = vyre.u64(table[x[i]] + other[x[i]]) + k

    @vyre.procedure
    def looked(x: In[u32], k: u64):
        y = vyre.scratch(u64, x.length)
        look(x, np.array([1, 2, 3, 4, 5], np.uint32), k, y)
        return y

    x = np.array([4, 0, 2], np.uint32)
    assert looked(x, 2**40 + 1, **target).tolist() == [2**40 + 11, 2**40 + 5, 2**40 + 8]


def test_a_table_goes_to_an_inner_procedure():
    @vyre.procedure
    def outer(x: In[u32], k: u32):
        return powers(np.array([5, 6, 7], np.uint32), k)

    assert outer(np.zeros(1, np.uint32), 3, backend="cpu").tolist() == [80, 96, 112]


def test_a_procedure_joins_a_graph():
    x = vyre.arange(1000, backend="cpu")
    out = vyre.empty(1000, backend="cpu")
    with vyre.graph() as recorded:
        SCAN(x, out=out)
    recorded.replay(2)
    assert np.array_equal(out.numpy(), np.cumsum(np.arange(1000), dtype=np.uint32) - np.arange(1000, dtype=np.uint32))


@vyre.procedure
def doubled_in_place(v: InOut[u32]):
    part = vyre.scratch(u32, v.length)
    doubled(v, part)
    doubled(part, v)


def recorded(body):
    @vyre.procedure
    def made(x: In[u32], y: InOut[u32], n: u32):
        return body(x, y, n)

    return made.procedure


@pytest.mark.parametrize(
    ("body", "problem", "fix"),
    [
        (
            lambda x, y, n: range(n),
            "the size n is used as an integer, and is not known until the procedure is planned",
            "compute with the size itself, or repeat with `for i in vyre.times(size):`",
        ),
        (
            lambda x, y, n: len(x),
            "the length of `x` is not known until the procedure is planned",
            "write x.length, which is a vyre.Size",
        ),
        (lambda x, y, n: x, "procedure `made` returns its input `x`", "copy it into an array of vyre.scratch"),
        (
            lambda x, y, n: doubled(x, x),
            "kernel `doubled` writes `x`, which is an input of the procedure",
            "write into an array of vyre.scratch",
        ),
        (
            lambda x, y, n: doubled(y, x),
            "kernel `doubled` writes `x`, which is an input of the procedure",
            "annotate it with vyre.InOut, or write into an array of vyre.scratch",
        ),
        (
            lambda x, y, n: doubled(x, np.arange(3, dtype=np.uint32)),
            "kernel `doubled` writes `table`, which is a table of the procedure",
            "write into an array of vyre.scratch",
        ),
        (
            lambda x, y, n: doubled_in_place(x),
            "argument `v` of procedure `doubled_in_place` is written, and `x` is an input of the procedure",
            "annotate it with vyre.InOut, or copy it into an array of vyre.scratch",
        ),
        (
            lambda x, y, n: doubled_in_place(np.arange(3, dtype=np.uint32)),
            "argument `v` of procedure `doubled_in_place` is written, and `table` is a table of the procedure",
            "copy it into an array of vyre.scratch",
        ),
        (
            lambda x, y, n: x[3],
            "an array in a procedure is indexed with 3, and its elements are unknown until the procedure runs",
            "read elements in a kernel; array[a:b] is a part of the array, and a loop ends by an element that a kernel "
            "writes with `for _ in vyre.times(n, until=array[0:1]):`",
        ),
        (
            lambda x, y, n: doubled(x, y, backend="cpu"),
            "argument `backend` of kernel `doubled` has no place in a procedure, which runs as a whole",
            "leave it out",
        ),
        (
            lambda x, y, n: vyre.scratch(u32, -1),
            "argument `shape` of vyre.scratch must be an integer from 0 to 2**64 - 1 or a vyre.Size, got -1",
            "pass an integer from 0 to 2**64 - 1 or a vyre.Size",
        ),
    ],
)
def test_what_cannot_be_recorded_is_refused(body, problem, fix):
    with refused((ArgumentError, BindingError), problem, fix):
        recorded(body)


def test_calls_with_wrong_arguments_are_refused():
    with refused(
        BindingError,
        "argument `k` of procedure `powers` must be an integer from 0 to 4294967295, got -1",
        "pass an integer from 0 to 4294967295",
    ):
        powers(np.arange(3, dtype=np.uint32), -1)
    with refused(CallError, "procedure `powers` misses argument `k`", "write powers(x, k)"):
        powers(np.arange(3, dtype=np.uint32))


def test_a_step_that_may_not_write_its_input_writes_into_scratch():
    @vyre.procedure
    def into_scratch(x: In[u32]):
        made, of_table = vyre.scratch(u32, x.length), vyre.scratch(u32, x.length)
        doubled(x, made)
        doubled(np.arange(3, dtype=np.uint32), of_table)
        doubled_in_place(of_table)
        return made, of_table

    @vyre.procedure
    def in_place(x: InOut[u32], y: InOut[u32]):
        doubled(y, x)
        doubled_in_place(y)

    x, y = np.array([3, 1, 4], np.uint32), np.array([1, 5, 9], np.uint32)
    assert [each.tolist() for each in into_scratch(x, backend="cpu")] == [[6, 2, 8], [0, 8, 16]]
    in_place(x, y, backend="cpu")
    assert (x.tolist(), y.tolist()) == ([2, 10, 18], [4, 20, 36])


def test_sizes_are_exact_and_refuse_what_is_no_size():
    @vyre.procedure
    def short(x: In[u32]):
        return vyre.scratch(u32, x.length - 5, zeros=True)

    assert short(np.zeros(7, np.uint32), backend="cpu").shape == (2,)
    with refused(
        ArgumentError,
        "array `scratch` of procedure `short`: a size is -1, outside of 0 to 2^64 - 1 (4 - 5)",
        "write vyre.size_max(a, b) - b for a - b, which is 0 where b is larger",
    ):
        short(np.zeros(4, np.uint32), backend="cpu")

    @vyre.procedure
    def mended(x: In[u32]):
        return vyre.scratch(u32, vyre.size_max(x.length, 5) - 5, zeros=True)

    assert [mended(np.zeros(n, np.uint32), backend="cpu").shape for n in (0, 4, 7)] == [(0,), (0,), (2,)]

    @vyre.procedure
    def divided(x: In[u32], k: vyre.u64):
        return vyre.scratch(u32, x.length // k, zeros=True)

    with pytest.raises(ArgumentError, match=r"a size is divided by zero\. Fix: divide by vyre\.size_max\(n, 1\)\."):
        divided(np.zeros(2, np.uint32), 0, backend="cpu")

    @vyre.procedure
    def multiplied(x: In[u32], k: vyre.u64):
        return vyre.scratch(u32, x.length * k, zeros=True)

    with pytest.raises(ArgumentError) as caught:
        multiplied(np.zeros(2, np.uint32), 2**63, backend="cpu")
    assert str(caught.value).endswith(
        "a size is too large, outside of 0 to 2^64 - 1 (2 * 9223372036854775808). Fix: bound what it is made of with "
        "vyre.size_min."
    )
    with refused(
        ArgumentError, "vyre.when is for the body of a procedure", "call it in a function under @vyre.procedure"
    ):
        vyre.when(1).__enter__()


def test_procedures_are_values():
    def made(count):
        @vyre.procedure(name="steps")
        def steps(x: InOut[u32]):
            for _ in range(count):
                vyre.clear(x)

        return steps.procedure

    assert made(2) == made(2)
    assert hash(made(2)) == hash(made(2))
    assert len({made(1), made(2), made(2)}) == 2
    assert made(1) != made(2)
    assert repr(made(2)) == "<vyre.Procedure steps(x): 2 steps>"


def test_a_procedure_may_say_what_it_returns():
    @vyre.kernel
    def copied(x: vyre.In[vyre.u32], y: vyre.Out[vyre.u32]) -> None:
        y[vyre.gid(0)] = x[vyre.gid(0)]

    @vyre.procedure
    def one(x: vyre.In[vyre.u32]) -> vyre.ProcedureArray:
        return copied(x)

    @vyre.procedure
    def two(x: vyre.In[vyre.u32]) -> tuple[vyre.ProcedureArray, vyre.ProcedureArray]:
        return one(x), copied(x)

    x = np.arange(3, dtype=np.uint32)
    assert [array.tolist() for array in (one(x), *two(x))] == [[0, 1, 2]] * 3


def test_arrays_of_two_devices_are_named_with_both():
    @vyre.procedure
    def copied(x: In[u32], y: vyre.InOut[u32]):
        vyre.clear(y)

    with refused(
        vyre.BindingError,
        "procedure `copied` got arrays of two devices: device 0 of backend `cpu` and device 0 of backend `reference`",
        "make both with the same `backend` and `device`",
    ):
        copied(vyre.zeros(3, backend="cpu"), vyre.zeros(3, backend="reference"))


def test_a_procedure_that_only_requires_something_has_no_results():
    @vyre.procedure
    def nothing(x: In[u32]):
        vyre.require(x.length > 0, "no elements. Fix: pass some.")

    assert nothing(np.ones(3, np.uint32), backend="cpu") is None
