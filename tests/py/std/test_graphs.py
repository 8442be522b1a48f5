"""Graphs: levels and components beside scipy's, ranks beside integers of Python."""

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import library_models as models
import vyre
from conftest import SEED, message, name_of
from vyre import std
from vyre.errors import ArgumentError, BindingError
from vyre.std._graphs import bfs as _bfs
from wrong_calls import wrong_calls


def rows_of(n, edges):
    """Edges as pairs to offsets and targets."""
    pairs = sorted(edges)
    sources = np.array([u for u, _ in pairs], np.uint32)
    targets = np.array([v for _, v in pairs], np.uint32)
    return np.searchsorted(sources, np.arange(n + 1)).astype(np.uint32), targets


def drawn(rng, n, edges):
    return rows_of(n, rng.integers(0, n, (edges, 2)).tolist())


def path(order):
    """Each vertex leads to the next one of this order."""
    return rows_of(len(order), itertools.pairwise(order))


SIZES = [(1, 2), (2, 1), (256, 200), (257, 1500), (2000, 1500)]


@pytest.mark.parametrize(("n", "edges"), SIZES)
def test_levels_are_scipys(target, rng, n, edges):
    offsets, targets = drawn(rng, n, edges)
    source = int(rng.integers(n))
    wanted = models.levels(offsets, targets, source)
    assert np.array_equal(std.bfs(offsets, targets, source, **target), wanted)
    reached = std.reachable(offsets, targets, source, **target)
    assert reached.dtype == np.bool_
    assert np.array_equal(reached, wanted != models.UNREACHED)


@pytest.mark.parametrize(("n", "edges"), SIZES)
def test_components_are_scipys(target, rng, n, edges):
    offsets, targets = drawn(rng, n, edges)
    assert np.array_equal(std.components(offsets, targets, **target), models.components(offsets, targets))


@pytest.mark.parametrize(("n", "edges"), SIZES)
def test_ranks_are_those_of_the_definition(target, rng, n, edges):
    offsets, targets = drawn(rng, n, edges)
    found = std.pagerank(offsets, targets, 3, **target)
    assert np.array_equal(found, models.ranks(offsets, targets, 3, 0.85))
    assert int(found.sum(dtype=np.uint64)) < 2**32


graphs = st.integers(1, 12).flatmap(
    lambda n: st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=30).map(
        lambda edges: rows_of(n, edges)
    )
)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@seed(SEED)
@given(graphs, st.sampled_from([0, 0.25, 0.85, 1 - 2**-32]), st.integers(0, 4))
def test_small_graphs_of_every_form(graph, damping, rounds):
    for backend in ("cpu", "reference"):
        assert np.array_equal(std.bfs(*graph, 0, backend=backend), models.levels(*graph, 0))
        assert np.array_equal(std.components(*graph, backend=backend), models.components(*graph))
        found = std.pagerank(*graph, rounds, damping, backend=backend)
        assert np.array_equal(found, models.ranks(*graph, rounds, damping))


@pytest.mark.parametrize("n", [2, 255, 257, 513, 3000])
def test_a_path_has_a_level_a_vertex(target, rng, n):
    if target["backend"] != "cpu":
        n = min(n, 600)
    order = rng.permutation(n)
    offsets, targets = path(order.tolist())
    levels = std.bfs(offsets, targets, int(order[0]), **target)
    assert np.array_equal(levels[order], np.arange(n))
    assert not std.components(offsets, targets, **target).any()


def test_frontiers_shrink_and_grow_again(target):
    """A path, a vertex with many edges, the vertex where they meet, and a path again: small, large, small frontiers."""
    wide, long = 600, 40
    edges = [(k, k + 1) for k in range(long)]
    edges += [(long, long + 1 + k) for k in range(wide)]
    edges += [(long + 1 + k, long + 1 + wide) for k in range(wide)]
    edges += [(long + 1 + wide + k, long + 2 + wide + k) for k in range(long)]
    offsets, targets = rows_of(2 * long + wide + 2, edges)
    assert np.array_equal(std.bfs(offsets, targets, 0, **target), models.levels(offsets, targets, 0))


@pytest.mark.parametrize("more", [-1, 0, 1, 2 * _bfs.MOST + 7, _bfs.EXTRA * _bfs.MOST, (_bfs.EXTRA + 1) * _bfs.MOST])
def test_a_vertex_with_more_edges_than_an_item_takes(more):
    n = _bfs.MOST + more + 1
    offsets, targets = np.r_[0, np.full(n, n - 1)].astype(np.uint32), np.arange(1, n, dtype=np.uint32)
    levels = std.bfs(offsets, targets, 0, backend="cpu")
    assert levels[0] == 0
    assert (levels[1:] == 1).all()
    assert not std.components(offsets, targets, backend="cpu").any()


@pytest.mark.parametrize("device", [device for device in vyre.devices("vulkan") if device.usable], ids=name_of)
def test_a_level_of_most_turns_stays_within_what_drivers_allow(device):
    """256 items of 2^15 edges, and a new vertex in each 256 of them: the first one has 2^20 edges, others one."""
    wide, many, hub = 2**23, 2**15, 2**20
    nears, fars = np.arange(1, many + 1), np.arange(many + 1, 2 * many + 1)
    first = np.zeros(wide, np.uint32)
    first[::256] = nears
    targets = np.concatenate([first, np.zeros(hub, np.uint32), fars.astype(np.uint32)])
    degrees = np.concatenate([[wide, hub + 1], np.ones(many - 1, np.int64), np.zeros(many, np.int64)])
    offsets = np.concatenate([[0], np.cumsum(degrees)]).astype(np.uint32)
    levels = std.bfs(offsets, targets, 0, backend="vulkan", device=device)
    assert np.array_equal(levels, np.repeat([0, 1, 2], [1, many, many]))


def test_many_vertices(rng):
    offsets, targets = drawn(rng, 20_000, 100_000)
    assert np.array_equal(std.bfs(offsets, targets, 0, backend="cpu"), models.levels(offsets, targets, 0))
    few = drawn(rng, 20_000, 9_000)
    assert np.array_equal(std.components(*few, backend="cpu"), models.components(*few))


def test_an_empty_graph(target):
    offsets, targets = np.zeros(1, np.uint32), np.zeros(0, np.uint32)
    assert std.components(offsets, targets, **target).tolist() == []
    assert std.pagerank(offsets, targets, **target).tolist() == []


def test_resident_and_signed_arrays(target):
    offsets, targets = np.array([0, 1, 2, 2], np.int32), np.array([2, 1], np.int32)
    resident = [vyre.array(each, **target) for each in (offsets, targets)]
    for graph in ((offsets, targets), resident):
        levels = std.bfs(*graph, 0) if graph is resident else std.bfs(*graph, 0, **target)
        assert isinstance(levels, vyre.Array) == (graph is resident)
        assert np.asarray(levels if graph is not resident else levels.numpy()).tolist() == [0, models.UNREACHED, 1]
    assert std.components(*resident).numpy().tolist() == [0, 1, 0]
    assert std.reachable(*resident, 1).numpy().tolist() == [False, True, False]
    assert np.array_equal(std.pagerank(*resident, 1).numpy(), models.ranks(offsets, targets, 1))


@pytest.mark.parametrize("kernel", ["expand", "expand_small"])
def test_a_level_has_no_races(kernel):
    offsets, targets = rows_of(
        300, [(0, 1), (0, 1), (0, 2), *((1, k) for k in range(3, 290)), *((2, k) for k in range(3, 9))]
    )
    arrays = {
        "offsets": offsets,
        "targets": targets,
        "items": np.array([0, 3, 3, 287] + [0] * 600, np.uint32),
        "before": np.array([2, 1, 1, 0], np.uint32),
        "levels": np.array([0, *[models.UNREACHED] * 299], np.uint32),
        "following": np.zeros(604, np.uint32),
        "after": np.array([0, 1, 1, 0], np.uint32),
    }
    result = vyre.check(getattr(_bfs, kernel).program, arrays, workgroups=1, checks=["race", "divergent-barrier"])
    assert result.ok, str(result)


U = np.uint32
GOOD = np.array([0, 1, 2], U), np.array([1, 0], U)
WRONG = [
    (np.zeros(0, U), np.zeros(0, U), "argument `offsets` of {} must have an element or more, got none. "
                                     "Fix: pass one with an element or more."),
    (np.array([1, 2], U), np.zeros(2, U), "argument `offsets` of {} must have a first element of 0, got 1. "
                                          "Fix: pass one with a first element of 0."),
    (np.array([0, 3, 2, 4], U), np.zeros(4, U), "argument `offsets` of {} falls from 3 to 2 at element 2. "
                                                "Fix: pass it in ascending order."),
    (np.array([0, -1, 0], np.int32), np.zeros(0, U), "element 1 of argument `offsets` of {} must be a number "
                                                     "from 0 to 0, got -1. Fix: pass a number from 0 to 0."),
    (np.array([0, 1, 3], U), np.zeros(2, U), "element 2 of argument `offsets` of {} must be a number from 0 to 2, got "
                                             "3. Fix: pass a number from 0 to 2."),
    (np.array([0, 1, 1], U), np.zeros(2, U), "argument `offsets` of {} must have a last element of 2, the number "
                                             "of targets, got 1. "
                                             "Fix: pass one with a last element of 2, the number of targets."),
    (np.array([0, 1, 2], U), np.array([1, 2], U), "element 1 of argument `targets` of {} must be a vertex below "
                                                  "2, got 2. Fix: pass a vertex below 2."),
]  # fmt: skip
CALLS = {
    "vyre.std.bfs": lambda *graph, **place: std.bfs(*graph, 0, **place),
    "vyre.std.reachable": lambda *graph, **place: std.reachable(*graph, 0, **place),
    "vyre.std.components": std.components,
    "vyre.std.pagerank": std.pagerank,
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(("offsets", "targets", "wanted"), WRONG)
def test_rows_that_are_no_graph(offsets, targets, wanted, name):
    assert message(lambda: CALLS[name](offsets, targets, backend="cpu"), ArgumentError) == (wanted.format(name))
    assert message(
        lambda: CALLS[name](*(vyre.array(each, backend="cpu") for each in (offsets, targets))), ArgumentError
    ) == (wanted.format(name))


def test_calls_that_wait_have_no_place_in_a_graph():
    graph = [vyre.array(each, backend="cpu") for each in GOOD]
    with vyre.graph(), pytest.raises(ArgumentError) as error:
        std.bfs(*graph, 0)
    assert str(error.value) == (
        "vyre.std.bfs, which reads from the device on its way, has no place in a graph. Fix: leave it out."
    )


test_wrong_calls = wrong_calls("graphs", globals())


def test_the_rank_of_a_single_vertex_without_damping_is_the_largest_number():
    offsets, targets = np.zeros(2, np.uint32), np.zeros(0, np.uint32)
    assert std.pagerank(offsets, targets, 1, 0.0, backend="cpu").tolist() == [2**32 - 1]


@pytest.mark.parametrize("dtype", [np.uint32, np.int32])
def test_the_fix_for_an_adjacency_matrix_gives_its_graph(dtype):
    matrix = np.array([[0, 1, 0, 0], [1, 0, 2, 0], [0, 0, 0, 0], [0, 0, 0, 1]], dtype)
    with pytest.raises(BindingError) as caught:
        std.bfs(matrix, np.zeros(0, np.uint32), 0)
    offsets = "np.append(0, np.count_nonzero(matrix, axis=1).cumsum()).astype(np.uint32)"
    targets = "np.nonzero(matrix)[1].astype(np.uint32)"
    assert str(caught.value) == (
        "argument `offsets` of vyre.std.bfs must have 1 axis, got shape (4, 4). Fix: pass one with 1 axis."
    )
    found = std.bfs(eval(offsets), eval(targets), 0, backend="cpu")
    assert found.tolist() == [0, 1, 2, models.UNREACHED]
