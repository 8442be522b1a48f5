"""A breadth-first search whose frontiers are grids from data: no call waits for the one before."""

import numpy as np

import kernels
import vyre
from test_kernels import lines_of


def levels_of(offsets, targets, source):
    """The level of each vertex, by Python."""
    levels = [kernels.UNREACHED] * (len(offsets) - 1)
    levels[source], frontier, level = 0, [source], 0
    while frontier:
        level += 1
        found = []
        for vertex in frontier:
            for target in targets[offsets[vertex] : offsets[vertex + 1]].tolist():
                if levels[target] == kernels.UNREACHED:
                    levels[target] = level
                    found.append(target)
        frontier = found
    return levels


def test_a_level_takes_few_lines():
    assert lines_of(kernels.bfs_level) <= 15


def test_levels_are_those_of_python(target, rng):
    vertices = 700
    edges = np.sort(rng.integers(0, vertices, 1600) * 1000 + rng.integers(0, vertices, 1600))
    offsets = np.searchsorted(edges // 1000, np.arange(vertices + 1)).astype(np.uint32)
    targets = (edges % 1000).astype(np.uint32)
    targets[targets >= vertices] = 0
    source = int(np.argmax(np.diff(offsets)))
    wanted = levels_of(offsets, targets, source)
    depth = 1 + max(level for level in wanted if level != kernels.UNREACHED)
    assert depth > 4
    graph = {"offsets": vyre.array(offsets, **target), "targets": vyre.array(targets, **target)}
    levels = vyre.full(vertices, kernels.UNREACHED, **target)
    levels[source : source + 1] = 0
    frontiers = [vyre.zeros(vertices, **target) for _ in range(depth + 1)]
    frontiers[0][0:1] = source
    sizes = [vyre.array([int(k == 0), 1, 1], dtype=vyre.u32, **target) for k in range(depth + 1)]
    for level in range(depth):
        kernels.bfs_level(
            **graph,
            frontier=frontiers[level],
            size=sizes[level],
            level=level + 1,
            levels=levels,
            found=frontiers[level + 1],
            count=sizes[level + 1],
            grid=sizes[level],
            at_most=(vertices, 1, 1),
        )
    assert levels.numpy().tolist() == wanted
    assert int(sizes[depth][0]) == 0
