"""The standard library: whole-array operations on numpy arrays, bytes and resident arrays.

Each gives the same bytes on every backend and device. With numpy arrays or bytes a call gives such and waits; with
resident arrays (``vyre.array``) it gives resident ones and does not wait. ``backend=`` and ``device=`` are as for
vyre.run.
"""

from vyre.std._messages import Messages
from vyre.std.expressions import Regex, regex
from vyre.std.graphs import bfs, components, pagerank, reachable
from vyre.std.search import Matches, Patterns, ResidentMatches, find

__all__ = [
    "Matches",
    "Messages",
    "Patterns",
    "Regex",
    "ResidentMatches",
    "bfs",
    "components",
    "find",
    "pagerank",
    "reachable",
    "regex",
]
