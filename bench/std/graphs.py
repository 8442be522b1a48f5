"""Graphs beside scipy, for race.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import std

if TYPE_CHECKING:
    from std_place import Place

_MOST_OF_PEER = 1 << 24  # edges: more takes one thread many seconds
_ROUNDS, _DAMPING = 20, 0.85  # of PageRank


def _ranked(matrix: Any) -> np.ndarray:
    """PageRank as numpy and scipy do it, in floating point: a product of the graph's matrix and a vector a round."""
    vertices = matrix.shape[0]
    degrees = np.diff(matrix.indptr)
    ends = degrees == 0
    backwards = matrix.T.tocsr().astype(np.float64)
    backwards.data = 1.0 / degrees[backwards.indices]
    ranks = np.full(vertices, 1 / vertices)
    for _ in range(_ROUNDS):
        ranks = (1 - _DAMPING + _DAMPING * ranks[ends].sum()) / vertices + _DAMPING * (backwards @ ranks)
    return ranks


def cases(size: int, place: Place) -> Iterator[tuple[str, Callable[[], Any], float, Callable[[], Any] | None]]:
    """Random graphs of ``size / 2`` edges and a sixteenth as many vertices; edges are counted, each round."""
    rng = np.random.default_rng(1)
    edges = max(size // 2, 16)
    vertices = edges // 16
    offsets = np.zeros(vertices + 1, np.uint32)
    offsets[1:] = np.cumsum(np.bincount(rng.integers(0, vertices, edges, dtype=np.uint32), minlength=vertices))
    targets = rng.integers(0, vertices, edges, dtype=np.uint32)
    graph = [place.array(each) for each in (offsets, targets)]
    peers: list[Callable[[], Any] | None] = [None, None, None]
    if edges <= _MOST_OF_PEER:
        try:
            from scipy.sparse import csr_matrix
            from scipy.sparse.csgraph import breadth_first_order, connected_components

            matrix = csr_matrix((np.ones(edges, np.int8), targets, offsets), shape=(vertices, vertices))
            peers = [
                lambda: breadth_first_order(matrix, 0),
                lambda: connected_components(matrix, directed=False),
                partial(_ranked, matrix),
            ]
        except ImportError:
            pass
    yield "bfs, edges", place.call(std.bfs, *graph, 0), edges, peers[0]
    yield "reachable, edges", place.call(std.reachable, *graph, 0), edges, peers[0]
    yield "components, edges", place.call(std.components, *graph), edges, peers[1]
    yield (
        f"pagerank of {_ROUNDS} rounds, edges a round",
        place.call(std.pagerank, *graph, _ROUNDS),
        _ROUNDS * edges,
        peers[2],
    )
