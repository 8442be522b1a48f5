"""Kernel.cost against what runs: exact counts are met, and the others are not passed."""

import random

import numpy as np
import pytest

import kernels
import vyre
from conftest import refused
from html_reader import told
from kernel_comparison import compile_source
from kernel_source import LENGTH, Source
from measured_cost import measure, sizes
from vyre import In, Out, _core, u32

GROUPS = ("operations", "loaded", "stored", "atomics")


def check(cost, program, inputs, workgroups, said="") -> None:
    total, loops = measure(program, inputs, workgroups)
    bytes_of = sizes(program)
    assert len(loops) == len(cost.loops), said
    # What the loops without a proven bound did: their turns, times what a turn adds.
    most: dict = {}
    is_exact: dict = {}
    for group in GROUPS:
        for name, count in getattr(cost, group).items():
            most[group, name], is_exact[group, name] = count.most, count.exact
    for loop, (turns, _) in zip(cost.loops, loops, strict=True):
        if loop.turns is not None and loop.within is not None:
            continue  # of one turn of the loop around
        if loop.turns is not None:
            assert loop.turns.most >= turns, said
            assert not loop.turns.exact or loop.turns.most == turns, said
            continue
        for group in GROUPS:
            for name, count in getattr(loop, group).items():
                most[group, name] = most.get((group, name), 0) + turns * count.most
                is_exact[group, name] = False
    for (group, name), count in total.items():
        wanted = count * (bytes_of[name] if group in ("loaded", "stored") else 1)
        given = most.get((group, name), 0)
        assert given >= wanted, (group, name, given, wanted, said)
        if is_exact.get((group, name)):
            assert given == wanted, (group, name, given, wanted, said)


def compare(seed: int) -> None:
    text = Source(seed, is_plain=True).text
    rng = random.Random(seed)
    arrays = {name: np.array([rng.randrange(2**32) for _ in range(LENGTH)], np.uint32) for name in ("a", "b", "acc")}
    s = rng.randrange(2**32)
    kernel = vyre.kernel(compile_source(text, f"<costed kernel {seed}>")["k"])
    inputs = {**arrays, "out": LENGTH, "__params": np.array([s], np.uint32)}
    said = f"seed {seed}:\n{text}"
    check(kernel.cost(LENGTH, LENGTH, s, acc=LENGTH, workgroups=1), kernel.program, inputs, 1, said)
    check(kernel.cost(a=LENGTH, b=LENGTH, acc=LENGTH, workgroups=1), kernel.program, inputs, 1, said)


@pytest.mark.parametrize("first", range(0, 90, 30))
def test_random_kernels_do_no_more_than_their_cost(first):
    for seed in range(first, first + 30):
        compare(seed)


@pytest.mark.slow
def test_two_thousand_random_kernels_do_no_more_than_their_cost():
    first = random.SystemRandom().randrange(2**40)
    print(f"first seed {first}")
    for seed in range(first, first + 2000):
        compare(seed)


def numbers(cost) -> dict:
    return {
        (group, name): (count.most, count.exact) for group in GROUPS for name, count in getattr(cost, group).items()
    }


@vyre.kernel
def scaled(a: In[u32], n: u32, out: Out[u32]):
    i = vyre.gid(0)
    if i < len(out):
        for j in range(n):
            out[i] += a[i] * (j + 3)


def test_known_numbers_make_it_exact():
    cost = scaled.cost(a=(1000,), n=5)
    assert (cost.kernel, cost.invocations, cost.exact, cost.unbounded) == ("scaled", 1024, True, ())
    assert numbers(cost) == {
        ("operations", "add"): (10_000, True),
        ("operations", "mul"): (5000, True),
        ("operations", "lt"): (1024, True),
        ("loaded", "a"): (20_000, True),
        ("loaded", "out"): (20_000, True),
        ("stored", "out"): (20_000, True),
    }
    (loop,) = cost.loops
    assert (loop.turns, loop.within) == (vyre.Count(5000, True), None)
    assert loop.line == scaled.__wrapped__.__code__.co_firstlineno + 4
    program, inputs = scaled.program, {"a": 1000, "out": 1000, "__params": np.array([5], np.uint32)}
    check(cost, program, {**inputs, "a": np.ones(1000, np.uint32)}, 4)


def test_a_number_that_is_left_out_makes_a_loop_without_a_bound():
    cost = scaled.cost(1000)
    (loop,) = cost.unbounded
    assert loop.turns is None
    assert loop.why == "how many turns it has is read from memory, or computed with numbers that are unknown"
    assert {name: str(count) for name, count in loop.operations.items()} == {"add": "2", "mul": "1"}
    assert numbers(cost) == {("operations", "lt"): (1024, True)}
    assert not cost.exact


def test_arrays_shapes_and_counts_say_the_same():
    array = np.zeros(1000, np.uint32)
    costs = [scaled.cost(array, 5), scaled.cost(1000, 5), scaled.cost((1000,), 5), scaled.cost(n=5, a=array, out=1000)]
    assert len({str(cost) for cost in costs}) == 1
    assert str(scaled.cost(vyre.array(array, backend="cpu"), 5)) == str(costs[0])


def test_what_memory_decides_counts_as_the_dearer_branch():
    @vyre.kernel
    def branched(a: In[u32], out: Out[u32]):
        i = vyre.gid(0)
        if a[i] > 7:
            out[i] = i * 3 + 1
        else:
            out[i] = i + 1

    assert numbers(branched.cost(256)) == {
        ("operations", "gt"): (256, True),
        ("operations", "mul"): (256, False),
        ("operations", "add"): (256, True),
        ("loaded", "a"): (1024, True),
        ("stored", "out"): (1024, True),
    }


def test_a_guard_that_returns_leaves_the_others():
    @vyre.kernel
    def guarded(a: In[u32, 2], out: Out[u32, 2]):
        x, y = vyre.gid(0), vyre.gid(1)
        if x >= 10 or y >= 5:
            return
        out[y, x] = 1

    @vyre.kernel
    def inside(a: In[u32, 2], out: Out[u32, 2]):
        x, y = vyre.gid(0), vyre.gid(1)
        if x < 10 and y < 5:
            out[y, x] = 1

    assert numbers(inside.cost((20, 40)))["stored", "out"] == (50 * 4, True)
    assert numbers(guarded.cost((20, 40)))["stored", "out"] == (50 * 4, True)


def test_conditions_on_turns_and_workgroups_are_counted():
    @vyre.kernel(workgroup_size=(8, 1, 1))
    def triangle(a: In[u32], out: Out[u32]):
        i = vyre.gid(0)
        for j in range(10):
            if j >= 6:
                out[i] = a[j]
            if vyre.wid(0) == 2:
                out[i] = a[i]
        for j in range(i, i + 5):
            out[i] = a[j]

    cost = triangle.cost(32)
    assert cost.exact
    assert numbers(cost)["loaded", "a"] == ((32 * 4 + 8 * 10 + 32 * 5) * 4, True)
    check(cost, triangle.program, {"a": np.ones(32, np.uint32), "out": 32}, 4)


def test_a_condition_that_several_invocations_meet_in_one_way_counts_as_all_of_them():
    @vyre.kernel
    def corner(a: In[u32, 2], out: Out[u32, 2]):
        x, y = vyre.gid(0), vyre.gid(1)
        if x + y < 10:
            out[y, x] = 1

    assert numbers(corner.cost((16, 16)))["stored", "out"] == (16 * 16 * 4, False)


def test_a_loop_with_a_known_length_is_bounded_wherever_it_begins():
    @vyre.kernel
    def piece(starts: In[u32], a: In[u32], out: Out[u32]):
        i = vyre.gid(0)
        begin = starts[i]
        for j in range(begin, min(begin + 4, len(a))):
            out[i] += a[j]

    cost = piece.cost(starts=256, a=1000)
    assert (cost.unbounded, numbers(cost)["stored", "out"]) == ((), (256 * 4 * 4, False))


def test_a_variable_of_a_loop_that_may_have_no_turn_keeps_its_value():
    @vyre.kernel
    def kept(a: In[u32], out: Out[u32]):
        i = vyre.gid(0)
        turns = 3
        for _ in range(a[0] & 3):
            turns = 1
        for _ in range(turns):
            out[i] += 1

    cost = kept.cost(256)
    assert numbers(cost)["stored", "out"] == (256 * 3 * 4, False)
    check(cost, kept.program, {"a": np.zeros(256, np.uint32), "out": 256}, 1)


@pytest.mark.parametrize(
    ("name", "shapes", "inputs", "groups"),
    [
        (
            "matmul",
            {"a": (33, 21), "b": (21, 50), "c": (33, 50)},
            {"a": 33 * 21, "b": 21 * 50, "c": 33 * 50, "__params": np.array([33, 21, 21, 50, 33, 50], np.uint32)},
            (4, 3),
        ),
        ("histogram", {"words": 3000, "counts": 256, "grid": 3000}, {"words": 3000, "counts": 256}, 12),
        (
            "life",
            {"now": (20, 37)},
            {"now": 740, "after": 740, "__params": np.array([20, 37, 20, 37], np.uint32)},
            (3, 2),
        ),
        (
            "sha256",
            {"message": (5, 2, 16), "digest": (5, 8), "grid": 5},
            {"message": 160, "digest": 40, "__params": np.array([5, 2, 16, 5, 8], np.uint32)},
            1,
        ),
    ],
)
def test_the_cost_of_kernels_is_what_runs(name, shapes, inputs, groups):
    kernel = getattr(kernels, name)
    made = {
        key: np.zeros(value, np.uint32) if isinstance(value, int) and key not in ("out", "c", "after") else value
        for key, value in inputs.items()
    }
    cost = kernel.cost(**shapes)
    assert cost.exact
    check(cost, kernel.program, {key: made.get(key, value) for key, value in inputs.items()}, groups)


def test_a_while_loop_is_told_with_its_line_and_a_turn():
    cost = kernels.gcd.cost(100, 100)
    (loop,) = cost.unbounded
    line = kernels.gcd.__wrapped__.__code__.co_firstlineno + 4
    assert (loop.line, loop.why) == (line, "it is a `while`, whose end memory or a computation decides")
    assert str(cost).splitlines()[-1] == (
        f"note: the loop in line {line} has no proven bound: it is a `while`, whose end memory or a computation "
        "decides. It is not counted above; a turn of an invocation adds at most 3 operations."
    )
    (form,) = told(cost._repr_html_())
    assert (form.kind, form.title) == ("Cost", "gcd: 256 invocations")
    assert form.sentences == str(cost).splitlines()[-1:]


def test_a_count_that_is_too_large_to_hold_is_not_exact_and_is_in_each_branch():
    body = "if i != 5 {\n  out[gid.x] = a[7]\n} else {\n  out[gid.x] = a[9]\n}\n"
    for name in "mlkji":
        body = f"loop {name} in 0..2000000000 {{\n{body}}}\n"
    program = vyre.parse(
        "vyre 1\nworkgroup_size 1 1 1\nbuffer out: read_write u32 binding 0\nbuffer a: read u32 binding 1\n\n" + body
    )
    (_, loaded, stored, _), loops = _core._cost(program, {"out": 4, "a": 9}, {}, (4, 1, 1))
    assert [(name, exact) for name, _, exact in loaded + stored] == [("a", False), ("out", False)]
    assert [turns[1] for _, turns, *_ in loops] == [True, True, True, True, False]


def test_shapes_that_are_none_are_refused():
    with refused(
        vyre.ArgumentError,
        "argument `a` of scaled.cost must be an array or the sizes of 1 axis, got (3, 4)",
        "pass an array or the sizes of 1 axis",
    ):
        scaled.cost(a=(3, 4), n=5)
    with refused(vyre.CallError, "kernel `gcd` misses argument `b`", "write gcd(a, b)"):
        kernels.gcd.cost(100)
