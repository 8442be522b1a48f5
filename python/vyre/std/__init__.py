"""The standard library: whole-array operations on numpy arrays, bytes and resident arrays.

Each gives the same bytes on every backend and device. With numpy arrays or bytes a call gives such and waits; with
resident arrays (``vyre.array``) it gives resident ones and does not wait. ``backend=`` and ``device=`` are as for
vyre.run.
"""

from vyre.std._messages import Messages
from vyre.std.alignment import edit_distance, smith_waterman
from vyre.std.matrices import matmul, transpose
from vyre.std.reduce import all, any, argmax, argmin, max, min, reduce, sum
from vyre.std.scan import cumsum, scan
from vyre.std.selection import topk
from vyre.std.sort import argsort, sort, sort_pairs

__all__ = [
    "Messages",
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "cumsum",
    "edit_distance",
    "matmul",
    "max",
    "min",
    "reduce",
    "scan",
    "smith_waterman",
    "sort",
    "sort_pairs",
    "sum",
    "topk",
    "transpose",
]
