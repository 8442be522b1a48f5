"""vyre.trace gives the values that Python computes when it runs the same source on integers."""

import random

import numpy as np
import pytest

import kernels
import vyre
from conftest import refusals
from html_reader import told
from kernel_comparison import compile_source
from kernel_source import LENGTH, Source
from python_trace import assignments
from vyre import In, InOut, Out, i32, u32, u64

CONDITIONS = ("if", "while")


def compare(seed: int, **target) -> None:
    text = Source(seed, is_plain=True).text
    rng = random.Random(seed)
    a, b, acc = ([rng.choice([0, 1, 31, 255, 0xFFFFFFFF, rng.randrange(2**32)]) for _ in range(LENGTH)] for _ in "abc")
    s, chosen = rng.randrange(2**32), rng.randrange(LENGTH)
    wanted = assignments(text, [a, b, s, [0] * LENGTH, list(acc)], chosen)
    kernel = vyre.kernel(compile_source(text, f"<traced kernel {seed}>")["k"])
    arrays = [np.array(each, np.uint32) for each in (a, b, acc)]
    seen = vyre.trace(kernel, arrays[0], arrays[1], s, acc=arrays[2], invocation=chosen, most_rows=1 << 16, **target)
    said = f"seed {seed}, invocation {chosen}:\n{text}\n{seen}"
    given = [(row.line, row.name, row.value) for row in seen.rows if row.name not in ("return", "break")]
    assert [row for row in given if row[1] not in CONDITIONS] == [row for row in wanted if row[1] not in CONDITIONS], (
        said
    )
    # Conditions that are known when the kernel is compiled are not recorded.
    decided = iter([row for row in wanted if row[1] in CONDITIONS])
    assert all(any(row == each for each in decided) for row in given if row[1] in CONDITIONS), said
    # The call is what it would be, and nothing that was passed has changed.
    plain = kernel(arrays[0], arrays[1], s, acc=arrays[2].copy(), backend="reference")
    assert all((x == y).all() for x, y in zip(seen.result, plain, strict=True)), said
    assert arrays[2].tolist() == acc


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_a_trace_has_the_values_that_python_computes(first):
    for seed in range(first, first + 20):
        compare(seed)


@pytest.mark.slow
def test_a_trace_has_the_values_that_python_computes_two_thousand_times():
    first = random.SystemRandom().randrange(2**40)
    print(f"first seed {first}")
    for seed in range(first, first + 2000):
        compare(seed)


@vyre.kernel
def searched(a: In[u32], wanted: u32, out: Out[i32]):
    i = vyre.gid(0)
    if i >= len(out):
        return
    for j in range(len(a)):
        if a[j] == wanted + i:
            break
    else_ = i32(i) - 2
    wide = u64(i) << 33
    out[i] = else_ + i32(vyre.u32(wide >> 33))


@vyre.kernel(workgroup_size=4)
def turned(a: In[u32], counts: InOut[u32], out: Out[u32]):
    k, mine = vyre.lid(0), vyre.shared(u32, 4)
    mine[k] = a[vyre.gid(0)]
    vyre.barrier()
    other = mine[(k + 1) % 4]
    old = counts.atomic_add(0, 0)
    out[vyre.gid(0)] = other + old


def rows_of(seen) -> list[tuple[str, object]]:
    return [(row.name, row.value) for row in seen.rows]


def test_it_ends_where_a_return_does():
    seen = vyre.trace(searched, np.arange(5, dtype=np.uint32), 0, out=np.zeros(3, np.int32), invocation=7, grid=8)
    assert rows_of(seen) == [("i", 7), ("if", True), ("return", True)]


def test_a_break_ends_the_turns(target):
    seen = vyre.trace(searched, np.arange(5, dtype=np.uint32), 1, out=np.zeros(3, np.int32), invocation=1, **target)
    turns = [row for j in range(3) for row in (("j", j), ("if", j == 2))]
    assert rows_of(seen) == [
        *[("i", 1), ("if", False), *turns, ("break", True)],
        *[("else_", -1), ("wide", 1 << 33), ("out[1]", 0)],
    ]
    assert [row.turns for row in seen.rows if row.name == "j"] == [(0,), (1,), (2,)]
    assert {row.name: row.type for row in seen.rows}["else_"] is i32


def test_barriers_have_all_invocations_of_the_workgroup(target):
    a = np.array([5, 6, 7, 8, 9, 10, 11, 12], np.uint32)
    seen = vyre.trace(turned, a, np.zeros(1, np.uint32), invocation=(6, 0, 0), **target)
    assert rows_of(seen) == [
        ("k", 2),
        ("mine[2]", 11),
        ("other", 12),
        ("counts.atomic_add[0]", 0),
        ("old", 0),
        ("out[6]", 12),
    ]
    assert seen.result[1].tolist() == [6, 7, 8, 5, 10, 11, 12, 9]


def test_every_backend_gives_the_same_rows(target):
    for seed in range(3):
        compare(seed, **target)


def test_the_rows_of_a_long_loop_are_the_first_and_the_last():
    @vyre.kernel
    def long(out: Out[u32]):
        total = 0
        for j in range(1000):
            total += j
        out[0] = total

    seen = vyre.trace(long, out=np.zeros(1, np.uint32), most_rows=11)
    assert (seen.count, seen.left_out) == (2002, (5, 1991))
    whole = vyre.trace(long, out=np.zeros(1, np.uint32))
    assert (whole.count, whole.left_out) == (2002, None)
    assert seen.rows == whole.rows[:5] + whole.rows[-6:]
    assert rows_of(whole)[-1] == ("out[0]", sum(range(1000)))
    line = long.__wrapped__.__code__.co_firstlineno
    assert str(seen).splitlines() == [
        "long in invocation (0, 0, 0): 2002 values",
        "  line  turn  name    value             type  source",
        f"  {line + 2:4}        total   0                       total = 0",
        f"  {line + 3:4}     0  j       0                 u32   for j in range(1000):",
        f"  {line + 4:4}     0  total   0                 u32   total += j",
        f"  {line + 3:4}     1  j       1                 u32   for j in range(1000):",
        f"  {line + 4:4}     1  total   1                 u32   total += j",
        "  ... 1991 values were not kept",
        f"  {line + 4:4}   997  total   497503 (0x7975f)  u32   total += j",
        f"  {line + 3:4}   998  j       998               u32   for j in range(1000):",
        f"  {line + 4:4}   998  total   498501 (0x79b45)  u32   total += j",
        f"  {line + 3:4}   999  j       999               u32   for j in range(1000):",
        f"  {line + 4:4}   999  total   499500 (0x79f2c)  u32   total += j",
        f"  {line + 5:4}        out[0]  499500 (0x79f2c)  u32   out[0] = total",
        "note: the invocation has 2002 values, and 11 were kept: the first and the last ones. "
        "vyre.trace(..., most_rows=2002) keeps them all.",
    ]
    told_lines = str(whole).splitlines()
    assert len(told_lines) == 2 + 60 + 1 + 20
    assert told_lines[62] == "  ... 1922 more rows in .rows"
    ((_, heads, rows),) = told(whole._repr_html_())[0].tables
    assert len(rows) == 60 + 1 + 20
    assert [" ".join(row).split() for row in rows] == [line.split() for line in told_lines[2:]]
    assert heads == told_lines[1].split()


def test_arrays_of_the_call_stay_as_they_are():
    counts = np.array([3], np.uint32)
    resident = vyre.array(np.array([1, 2, 3, 4], np.uint32), backend="cpu")
    seen = vyre.trace(turned, resident, counts)
    assert counts.tolist() == [3]
    assert seen.result[1].tolist() == [2 + 3, 3 + 3, 4 + 3, 1 + 3]


test_what_it_cannot_take_is_refused = refusals(
    [
        (
            lambda: vyre.trace(kernels.gcd, np.ones(3, np.uint32), np.ones(3, np.uint32), invocation=256),
            "argument `invocation` of vyre.trace must name one of the grid, and (256, 0, 0) is beyond it. "
            "Fix: name one of the grid, or pass a larger grid=.",
        ),
        (
            lambda: vyre.trace(kernels.gcd, np.ones(3, np.uint32), np.ones(3, np.uint32), invocation="x"),
            "argument `invocation` of vyre.trace must name invocations by one to three indices, x first, got 'x'. "
            "Fix: write invocation=3, or (3, 0, 0).",
        ),
        (
            lambda: vyre.trace(kernels.gcd, most_rows=1),
            "argument `most_rows` of vyre.trace must be a count from 2 to 4194304, got 1. "
            "Fix: pass a count from 2 to 4194304.",
        ),
        (
            lambda: vyre.trace(np.add),
            "argument `kernel` of vyre.trace must be a function under @vyre.kernel, got <ufunc 'add'>. "
            "Fix: pass a function under @vyre.kernel.",
        ),
    ],
    vyre.ArgumentError,
)


def test_the_fix_of_a_larger_grid_runs():
    ones = np.ones(3, np.uint32)
    assert rows_of(vyre.trace(kernels.gcd, ones, ones, invocation=256, grid=257))[0] == ("i", 256)
