"""Graphs in compressed sparse rows."""

from __future__ import annotations

from typing import Any

import numpy as np

import vyre
from vyre import In, Out, boolean, u32
from vyre._base.refused import must_be, must_have
from vyre._base.text import shown
from vyre._core import Array
from vyre.std._calls.declared import At, Unpack, argument, call, name_of
from vyre.std._calls.host import count_of
from vyre.std._graphs import bfs as _bfs
from vyre.std._graphs import components as _components
from vyre.std._graphs.bfs import UNREACHED
from vyre.std._graphs.csr import graph_of
from vyre.std._graphs.pagerank import ranked

__all__ = ["bfs", "components", "pagerank", "reachable"]

# Turns of a batch, after which the host looks whether there are more levels: of the first one, and of the longest.
_FIRST, _LONGEST = 4, 64
_MOST_ROUNDS = 10_000


@vyre.kernel(workgroup_size=256)
def _is_reached(levels: In[u32], reached: Out[boolean]) -> None:
    i = vyre.gid(0)
    if i < len(levels):
        reached[i] = vyre.boolean(levels[i] != UNREACHED)


def _levels(offsets: Any, targets: Any, source: Any, at: At) -> tuple[Array, Any]:
    rows, edges, place = graph_of(offsets, targets, at)
    vertices = rows.shape[0] - 1
    if vertices == 0:
        raise must_have(f"the graph of {name_of(at)}", "a vertex or more", "none")
    source = count_of(source, argument(at, "source"), 0, vertices - 1)
    levels, items, state = _bfs.begun(rows, source, _bfs.most_items(vertices, edges.shape[0]))
    turns = _FIRST
    while int(state.numpy()[0]):
        _bfs.continued(rows, edges, levels, items, state, turns)
        turns = min(2 * turns, _LONGEST)
    return levels, place


@call
def bfs(offsets: Any, targets: Any, source: int, **at: Unpack[At]) -> Any:
    """Distance of every vertex from one, in edges: a breadth-first search.

    Args:
        offsets: n + 1 uint32 or int32 for n vertices: the edges of vertex i lead to targets[offsets[i]:offsets[i + 1]].
        targets: vertices, uint32 or int32.
        source: where the search begins.

    Gives: levels, n uint32; 2^32 - 1 for vertices that cannot be reached. The call waits for the device every so many
        levels, with resident arrays too.

    Raises: BindingError for other arrays, ArgumentError for offsets and targets that are no graph, or no such source.

    Source: D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU graph traversal", 2012.

    >>> import numpy as np
    >>> import vyre.std
    >>> offsets, targets = np.array([0, 2, 3, 3, 3], np.uint32), np.array([1, 2, 2], np.uint32)
    >>> vyre.std.bfs(offsets, targets, 0, backend="cpu")
    array([         0,          1,          1, 4294967295], dtype=uint32)
    """
    levels, place = _levels(offsets, targets, source, at)
    return place.result(levels)


@call
def reachable(offsets: Any, targets: Any, source: int, **at: Unpack[At]) -> Any:
    """Which vertices can be reached from one, as an array of bool; arguments and errors are those of ``bfs``.

    >>> import numpy as np
    >>> import vyre.std
    >>> offsets, targets = np.array([0, 1, 1, 2], np.uint32), np.array([1, 0], np.uint32)
    >>> vyre.std.reachable(offsets, targets, 0, backend="cpu")
    array([ True,  True, False])
    """
    levels, place = _levels(offsets, targets, source, at)
    reached = place.empty(levels.shape[0], np.bool_)
    _is_reached(levels, reached)
    return place.result(reached)


@call
def components(offsets: Any, targets: Any, **at: Unpack[At]) -> Any:
    """The connected component of each vertex, as its least vertex; edges join both ways.

    Args:
        offsets: n + 1 uint32 or int32 for n vertices: the edges of vertex i lead to targets[offsets[i]:offsets[i + 1]].
            An edge need not be there in both directions.
        targets: vertices, uint32 or int32.

    Gives: n uint32. The call waits for the device every so many rounds, with resident arrays too.

    Raises: BindingError for other arrays, ArgumentError for offsets and targets that are no graph.

    Source: Y. Zhang, A. Azad, Z. Hu, "FastSV: a distributed-memory connected component algorithm with fast
        convergence", 2020.

    >>> import numpy as np
    >>> import vyre.std
    >>> offsets, targets = np.array([0, 1, 1, 2, 2], np.uint32), np.array([3, 1], np.uint32)
    >>> vyre.std.components(offsets, targets, backend="cpu")
    array([0, 1, 1, 0], dtype=uint32)
    """
    rows, edges, place = graph_of(offsets, targets, at)
    sources, parents, labels, active = _components.begun(rows, edges.shape[0])
    while int(active.numpy()[0]):
        _components.continued(sources, edges, parents, labels, active, _FIRST)
    return place.result(labels)


@call
def pagerank(
    offsets: Any,
    targets: Any,
    rounds: int = 20,
    damping: float = 0.85,
    **at: Unpack[At],
) -> Any:
    """PageRank of each vertex, as a fraction of 2^32.

    With d = floor(damping * 2^32), a rank begins as floor((2^32 - 1) / n) and becomes, in each round,
    floor((2^32 - d) / n) + floor(d * (sum + floor(lost / n)) / 2^32): `sum` is that of floor(rank / edges) over the
    edges that lead here, and `lost` that of the ranks of all vertices without edges. All ranks sum up to at most 2^32,
    and a rank of 2^32, that of a single vertex with damping 0, is 2^32 - 1.

    Args:
        offsets: n + 1 uint32 or int32 for n vertices: the edges of vertex i lead to targets[offsets[i]:offsets[i + 1]].
        targets: vertices, uint32 or int32. Equal edges count as often as they are there.
        rounds: 0 to 10,000.
        damping: from 0 to less than 1.

    Gives: n uint32. The call waits for the check of the graph, with resident arrays too.

    Raises: BindingError for other arrays, ArgumentError for offsets and targets that are no graph, and for numbers
        outside of these ranges.

    Source: L. Page, S. Brin, R. Motwani, T. Winograd, "The PageRank citation ranking: bringing order to the web", 1999.

    >>> import numpy as np
    >>> import vyre.std
    >>> offsets, targets = np.array([0, 1, 2, 3], np.uint32), np.array([1, 0, 0], np.uint32)
    >>> vyre.std.pagerank(offsets, targets, backend="cpu") / 2**32
    array([0.48055034, 0.46944966, 0.05      ])
    """
    rounds = count_of(rounds, argument(at, "rounds"), 0, _MOST_ROUNDS)
    if isinstance(damping, bool) or not isinstance(damping, (int, float, np.floating)) or not 0 <= damping < 1:
        raise must_be(argument(at, "damping"), "a number from 0 to less than 1", shown(damping))
    rows, edges, place = graph_of(offsets, targets, at)
    return place.result(ranked(rows, edges, rounds, int(float(damping) * 2**32)))
