"""Grids from data: a call whose counts lie in an array runs as many workgroups as a call with these counts by value."""

import random

import numpy as np
import pytest

import vyre
from conftest import message
from vyre import BufferDecl, Expr, In, InOut, Node, Out, Program, fuzz, u32
from vyre.fuzz import resident
from wrong_calls import wrong_calls

X, Y, Z = Expr.gid_x(), Expr.gid_y(), Expr.gid_z()
SHAPE = (5, 6, 7)  # z, y, x
SIZE = (2, 1, 3)  # of a workgroup, along x, y, z

ADD_ONE = Program(
    [BufferDecl.read_write("data", 0, vyre.u32)], (4, 1, 1), [Node.store("data", X, Expr.load("data", X) + 1)]
)
# Adds one to each element that an invocation of the grid stands for.
TOUCH = Program(
    [BufferDecl.read_write("seen", 0, vyre.u32)],
    SIZE,
    [
        Node.if_(
            (X < SHAPE[2]) & (Y < SHAPE[1]) & (Z < SHAPE[0]),
            [
                Node.let("at", (Z * SHAPE[1] + Y) * SHAPE[2] + X),
                Node.let("old", Expr.atomic_add("seen", Expr.var("at"), 1)),
            ],
        )
    ],
)


def counts_of(values, place):
    return vyre.array(np.array(values, np.uint32), **place)


def touched(groups):
    """What TOUCH leaves of zeros, from its definition."""
    seen = np.zeros(SHAPE, np.uint32)
    seen[: groups[2] * SIZE[2], : groups[1] * SIZE[1], : groups[0] * SIZE[0]] = 1
    return seen


@pytest.mark.parametrize(
    ("counts", "at_most"),
    [
        ((2, 3, 1), (9, 9, 9)),
        ((2**32 - 1, 3, 1), (3, 9, 9)),
        ((2, 2**31, 1), (9, 4, 9)),
        ((2, 3, 77), (9, 9, 1)),
        ((7, 8, 9), (2, 2, 2)),
        ((1, 1, 1), (1, 1, 1)),
        ((0, 3, 1), (9, 9, 9)),
        ((2, 0, 1), (9, 9, 9)),
        ((2, 3, 0), (9, 9, 9)),
        ((2, 3, 1), (9, 0, 9)),
    ],
)
def test_each_count_is_clamped_by_itself(place, counts, at_most):
    seen = vyre.empty(SHAPE, **place)
    assert TOUCH(seen, workgroups=counts_of(counts, place), at_most=at_most) is seen
    np.testing.assert_array_equal(seen.numpy(), touched(np.minimum(counts, at_most)))


def test_a_slice_holds_counts_wherever_it_begins(place):
    words = counts_of([9, 3, 1, 1, 9, 9, 2, 1, 1], place)
    for first, groups in ((1, 3), (6, 2)):
        data = vyre.empty(64, **place)
        ADD_ONE(data, workgroups=words[first : first + 3], at_most=100)
        np.testing.assert_array_equal(data.numpy(), np.arange(64) < 4 * groups)
    rows = counts_of([[1, 1, 1], [5, 1, 1]], place)
    data = vyre.empty(64, **place)
    ADD_ONE(data, workgroups=rows[1], at_most=100)
    np.testing.assert_array_equal(data.numpy(), np.arange(64) < 20)


@pytest.mark.parametrize("count", [0, 1, 65_535, 65_536, 65_600, 70_000])
def test_more_workgroups_than_a_device_takes_at_once_have_the_ids_that_they_would_have(place, count):
    program = Program(
        [BufferDecl.read_write("data", 0, vyre.u32)], (1, 1, 1), [Node.store("data", X, Expr.load("data", X) + X + 1)]
    )
    data = vyre.empty(65_700, **place)
    program(data, workgroups=counts_of([count, 1, 1], place), at_most=65_600)
    wanted = np.arange(1, 65_701, dtype=np.uint32)
    wanted[min(count, 65_600) :] = 0
    np.testing.assert_array_equal(data.numpy(), wanted)


@vyre.kernel(workgroup_size=1)
def set_counts(k: u32, counts: Out[u32]):
    counts[0] = k % 7
    counts[1] = 1
    counts[2] = 1


def test_a_call_sees_what_the_call_before_it_wrote_and_not_what_the_next_one_writes(place):
    data, counts = vyre.empty(64, **place), vyre.empty(3, **place)
    wanted = np.zeros(64, np.uint32)
    for k in range(300):
        set_counts(k, counts, workgroups=1)
        ADD_ONE(data, workgroups=counts, at_most=(5, 1, 1))
        wanted[: 4 * min(k % 7, 5)] += 1
    np.testing.assert_array_equal(data.numpy(), wanted)


def test_the_host_may_write_the_counts_while_calls_that_read_them_are_pending(place):
    data, counts = vyre.empty(64, **place), vyre.empty(3, **place)
    wanted = np.zeros(64, np.uint32)
    for k in range(100):
        counts.write([k % 9, 1, 1])
        ADD_ONE(data, workgroups=counts, at_most=(5, 1, 1))
        wanted[: 4 * min(k % 9, 5)] += 1
    np.testing.assert_array_equal(data.numpy(), wanted)


def test_a_graph_reads_the_counts_at_each_replay(place):
    data, counts = vyre.empty(64, **place), counts_of([1, 1, 1], place)
    with vyre.graph() as graph:
        ADD_ONE(data, workgroups=counts, at_most=8)
    wanted = np.zeros(64, np.uint32)
    for count, times in ((1, 1), (3, 2), (0, 1), (20, 3), (2, 1)):
        counts.write([count, 1, 1])
        graph.replay(times)
        wanted[: 4 * min(count, 8)] += times
    np.testing.assert_array_equal(data.numpy(), wanted)


def test_a_graph_may_write_the_counts_that_it_reads(place):
    data, counts, k = vyre.empty(64, **place), vyre.empty(3, **place), vyre.empty(1, **place)

    @vyre.kernel(workgroup_size=1)
    def next_counts(k: InOut[u32], counts: InOut[u32]):
        counts[0] = k[0] % 7
        counts[1] = 1
        counts[2] = 1
        k[0] = k[0] + 1

    with vyre.graph() as graph:
        for _ in range(150):
            next_counts(k, counts, workgroups=1)
            ADD_ONE(data, workgroups=counts, at_most=(5, 1, 1))
    graph.replay(2)
    wanted = np.zeros(64, np.uint32)
    for turn in range(300):
        wanted[: 4 * min(turn % 7, 5)] += 1
    np.testing.assert_array_equal(data.numpy(), wanted)
    with vyre.graph() as outer:
        graph.replay(1)
    outer.replay()
    for turn in range(300, 450):
        wanted[: 4 * min(turn % 7, 5)] += 1
    np.testing.assert_array_equal(data.numpy(), wanted)


@pytest.mark.parametrize("seed", range(3))
def test_random_graphs_give_what_numpy_gives(place, seed):
    draw = random.Random(seed)
    words = np.array([draw.randrange(4) for _ in range(30)], np.uint32)
    host = np.zeros(900, np.uint32)
    pool, data = vyre.array(words, **place), vyre.array(host, **place)
    steps = [(draw.randrange(800), draw.randrange(28), draw.randrange(5), draw.randrange(24)) for _ in range(25)]
    with vyre.graph() as graph:
        for at, counts, most, written in steps:
            ADD_ONE(data[at:], workgroups=pool[counts : counts + 3], at_most=(most, 1, 1))
            ADD_ONE(pool[written : written + 4], workgroups=1)
    graph.replay(2)
    for at, counts, most, written in steps * 2:
        x, y, z = words[counts : counts + 3]
        host[at : at + 4 * min(x, most)] += np.uint32(y > 0 and z > 0)
        words[written : written + 4] += 1
    np.testing.assert_array_equal(pool.numpy(), words, f"seed {seed}")
    np.testing.assert_array_equal(data.numpy(), host, f"seed {seed}")


UNSEEN = 2**32 - 1


@vyre.kernel(workgroup_size=32)
def expand(
    offsets: In[u32],
    targets: In[u32],
    level: u32,
    frontier: In[u32],
    size: In[u32],
    distance: InOut[u32],
    after: InOut[u32],
    after_size: InOut[u32],
):
    i = vyre.gid(0)
    if i < size[0]:
        for e in range(offsets[frontier[i]], offsets[frontier[i] + 1]):
            if distance.atomic_compare_exchange(targets[e], UNSEEN, level) == UNSEEN:
                after[after_size.atomic_add(0, 1)] = targets[e]


@vyre.kernel(workgroup_size=1)
def nothing_yet(size: Out[u32]):
    size[1] = 1
    size[2] = 1


def test_a_search_in_breadth_never_waits_for_the_size_of_its_frontier(place):
    count = 400
    rng = np.random.default_rng(5)
    edges = np.unique(np.stack([rng.integers(0, count, 700), rng.integers(0, count, 700)], 1), axis=0)
    offsets = np.searchsorted(edges[:, 0], np.arange(count + 1)).astype(np.uint32)
    wanted, level = np.full(count, UNSEEN, np.uint32), 0
    wanted[0], reached = 0, [0]
    while reached:
        level += 1
        reached = [t for v in reached for t in edges[offsets[v] : offsets[v + 1], 1]]
        reached = [int(t) for t in dict.fromkeys(reached) if wanted[t] == UNSEEN]
        wanted[reached] = level
    assert level > 6

    start = np.full(count, UNSEEN, np.uint32)
    start[0] = 0
    offsets, targets, distance = (vyre.array(a.astype(np.uint32), **place) for a in (offsets, edges[:, 1], start))
    frontiers = [vyre.empty(count, **place) for _ in range(2)]
    sizes = [counts_of([1, 1, 1], place), vyre.empty(3, **place)]
    for k in range(1, level + 3):  # the last ones have nothing to do
        now, then = (k + 1) % 2, k % 2
        nothing_yet(sizes[then], workgroups=1)
        expand(
            *(offsets, targets, k, frontiers[now], sizes[now], distance, frontiers[then], sizes[then]),
            grid=sizes[now],
            at_most=count,
        )
    np.testing.assert_array_equal(distance.numpy(), wanted)


@vyre.kernel(workgroup_size=(4, 2))
def count_invocations(total: InOut[u32]):
    total.atomic_add(0, 1)


@pytest.mark.parametrize(
    ("grid", "at_most", "wanted"),
    [
        ((8, 2, 1), (100, 100), 16),
        ((9, 3, 1), (100, 100), 27),
        ((1, 1, 1), (100, 100), 1),
        ((0, 1, 1), (100, 100), 0),
        ((2**32 - 1, 1, 3), (9, 9), 9),
        ((2**32 - 1, 2**32 - 1, 1), (15, 5, 1), 75),
    ],
)
def test_the_grid_of_a_kernel_counts_invocations(place, grid, at_most, wanted):
    total = vyre.empty(1, **place)
    assert count_invocations(total, grid=counts_of(grid, place), at_most=at_most) is total
    assert int(total[0]) == wanted
    with vyre.graph() as graph:
        count_invocations(total, grid=counts_of(grid, place), at_most=at_most)
    graph.replay(2)
    assert int(total[0]) == 3 * wanted


def test_one_program_may_be_called_with_counts_of_both_kinds_and_by_value(place):
    total, counts = vyre.empty(1, **place), counts_of([8, 2, 1], place)
    wanted = 0
    for _ in range(3):
        count_invocations(total, grid=counts, at_most=(32, 4))  # that many invocations are 8 * 2 workgroups
        count_invocations(total, workgroups=counts, at_most=(8, 2))
        count_invocations(total, workgroups=counts, at_most=(3, 1))
        count_invocations(total, workgroups=(8, 2))
        wanted += 8 * (2 + 16 + 3 + 16)
    assert int(total[0]) == wanted


def test_numpy_arrays_take_counts_by_value():
    counts = np.array([2, 1, 1], np.uint32)
    for backend in vyre.backends():
        assert vyre.run(ADD_ONE, {"data": 16}, counts, backend=backend)["data"].sum() == 8
        data = vyre.empty(16, backend=backend)
        assert ADD_ONE(data, workgroups=counts).numpy().sum() == 8
        total = np.zeros(1, np.uint32)
        assert count_invocations(total, workgroups=counts, backend=backend)[0] == 16
        assert count_invocations(total, grid=counts, backend=backend)[0] == 18
    assert vyre.check(ADD_ONE, {"data": 16}, counts).workgroups == (2, 1, 1)


def test_a_call_by_value_refuses_an_array_with_what_to_write():
    counts = vyre.array([2, 1, 1], dtype=vyre.u32, backend="cpu")
    said = (
        "argument `workgroups` of vyre.{} must be counts by value, got a vyre.Array of uint32 with shape "
        "(3,). "
        "Fix: pass counts by value."
    )
    for name in ("run", "check", "repeat", "bisect"):
        call = getattr(vyre, name)
        assert message(lambda call=call: call(ADD_ONE, {"data": 16}, counts), vyre.ArgumentError) == said.format(name)
    total = np.zeros(1, np.uint32)
    for argument in ("grid", "workgroups"):
        assert message(
            lambda argument=argument: count_invocations(total, **{argument: counts, "at_most": 2}), vyre.ArgumentError
        ) == (
            f"argument `{argument}` of kernel `count_invocations` must be counts by value beside numpy arrays, got a "
            "vyre.Array. Fix: pass counts by value beside numpy arrays."
        )
    assert count_invocations(total, workgroups=counts.numpy())[0] == 16


def test_a_call_cannot_write_its_own_counts(place):
    words = counts_of(range(1, 13), place)
    said = (
        "arrays `grid` and `data` overlap in memory, and one of them is written. "
        "Fix: give each its own array, for instance a "
        "copy."
    )
    for part in (words, words[2:4], words[4:5], words[2:]):
        assert message(lambda part=part: ADD_ONE(part, workgroups=words[2:5], at_most=1), vyre.BindingError) == said
    ADD_ONE(words[5:], workgroups=words[2:5], at_most=1)
    ADD_ONE(words[:2], workgroups=words[2:5], at_most=1)
    np.testing.assert_array_equal(words.numpy(), [2, 3, 3, 4, 5, 7, 8, 9, 10, 10, 11, 12])
    copy = Program(
        [BufferDecl.read("a", 0, vyre.u32), BufferDecl.read_write("b", 1, vyre.u32)],
        (4, 1, 1),
        [Node.store("b", X, Expr.load("a", X))],
    )
    out = vyre.empty(8, **place)
    copy(words, out, workgroups=words[2:5], at_most=(1, 1, 1))  # what it only reads, it may read twice
    np.testing.assert_array_equal(out.numpy(), [2, 3, 3, 4, 0, 0, 0, 0])


def test_mistakes_of_kernels_say_what_to_write():
    total, counts = vyre.empty(1, backend="cpu"), vyre.array([2, 1, 1], dtype=vyre.u32, backend="cpu")
    with pytest.raises(vyre.ArgumentError, match="has no place beside grid="):
        count_invocations(total, grid=counts, workgroups=counts, at_most=3)
    assert int(total[0]) == 0


def test_a_grid_that_would_be_too_many_dispatches_is_refused():
    for device in vyre.devices("vulkan"):
        data, counts = vyre.empty(16, device=device), vyre.array([1, 1, 1], dtype=vyre.u32, device=device)
        most = (2**30, 2**30, 2**30)
        said = message(lambda: ADD_ONE(data, workgroups=counts, at_most=most), vyre.CapabilityError)  # noqa: B023
        parts = np.prod([-(-(2**30) // device.limits[f"maxComputeWorkGroupCount[{k}]"]) for k in range(3)])
        assert said == (
            f"{parts} dispatches of a grid from data exceeds the limit of device `{device.name}`, which allows "
            "131072. Fix: give a smaller at_most, or use another device."
        )


def test_profiles_show_the_largest_grid():
    data, counts = vyre.empty(64, backend="cpu"), vyre.array([2, 1, 1], dtype=vyre.u32, backend="cpu")
    with vyre.profile() as profile:
        ADD_ONE(data, workgroups=counts, at_most=8)
    shown = {event.name: event.workgroups for event in profile.events if event.workgroups is not None}
    assert shown == {"call": (8, 1, 1), "dispatch": (2, 1, 1)}


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_random_programs_give_the_bytes_of_a_grid_by_value(place, first):
    for seed in range(first, first + 20):
        case = fuzz.generate(seed)
        for call in range(len(case.calls)):
            given = resident.run(case.program, case.inputs(call=call), case.grid, **place)
            for name, wanted in case.run(call=call, backend="reference").items():
                np.testing.assert_array_equal(given[name], wanted, f"{name} of seed {seed}, call {call}")


def test_a_program_that_is_compiled_for_its_words_keeps_reading_its_grid(place):
    program = Program(
        [BufferDecl.uniform("turns", 0, vyre.u32), BufferDecl.read_write("data", 1, vyre.u32)],
        (4, 1, 1),
        [Node.loop("k", 0, Expr.load("turns", 0), [Node.store("data", X, Expr.load("data", X) + 1)])],
    )
    data, counts = vyre.empty(64, **place), vyre.empty(3, **place)
    wanted = np.zeros(64, np.uint32)
    for turn in range(40):
        counts.write([turn % 9, 1, 1])
        program(3, data, workgroups=counts, at_most=(5, 1, 1), optimize=["specialization"])
        wanted[: 4 * min(turn % 9, 5)] += 3
    np.testing.assert_array_equal(data.numpy(), wanted)
    with vyre.graph() as graph:
        program(3, data, workgroups=counts, at_most=(5, 1, 1), optimize=["specialization"])
    for turn in range(40):
        counts.write([turn % 9, 1, 1])
        graph.replay(2)
        wanted[: 4 * min(turn % 9, 5)] += 6
    np.testing.assert_array_equal(data.numpy(), wanted)


test_wrong_calls_say_what_to_write = wrong_calls("data_grid", globals())
