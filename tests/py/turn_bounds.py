"""The most turns of loops in kernels whose turns memory decides, as formulas of the sizes that their generators take.

test_turn_bounds.py compares each with turns that were counted at small sizes; test_turns.py takes those of the library.
"""

from __future__ import annotations

EDIT_ROWS, EDIT_BLOCK = 32, 16  # rows of an invocation, and columns between two barriers
ALIGN_BLOCK = 4


def edit_turns(size: int, columns: int) -> int:
    """`edit_diagonal`: a loop over the rows of an invocation, the steps of a tile, and in these each column once.

    The last invocation begins `size` - 1 steps behind the first.
    """
    return EDIT_ROWS + columns // EDIT_BLOCK + size - 1 + columns


def align_turns(size: int, columns: int) -> int:
    """`align_diagonal`: the steps of a tile."""
    return columns // ALIGN_BLOCK + size - 1


def group_turns(window: int, chunks: int) -> int:
    """`group` of BLAKE3: the first invocation of a message of whole chunks, of which a dispatch takes `window`.

    A turn takes 64 chunks: it is one turn, has 15 more for the blocks of a chunk but the last, and joins what it made
    to one value, or to two at the root of a short message. The value is joined with those of earlier turns: as often
    as the number of turns so far is even, and in the last turn until two are left. A `while` has a turn more than its
    condition holds.
    """
    most = 0
    for first in range(0, chunks, window):
        turns = 0
        for before in range(first, min(chunks, first + window), 64):
            turns += 1 + 15
            values, left = min(chunks - before, 64), 2 if chunks <= 64 else 1
            while values > left:
                values = (values + 1) // 2
                turns += 1
            turns += 1
            done = before // 64
            if chunks > 1:
                is_last = chunks - before <= 64
                turns += max(done.bit_count() - 1, 0) if is_last else ((done + 1) & -(done + 1)).bit_length() - 1
                turns += 1
        most = max(most, turns)
    return most


def expand_turns(most: int, extra: int, edges: int) -> int:
    """`expand` of a breadth-first search with items of `most` edges, in a graph with `edges` edges.

    256 invocations take the edges of 256 items, so that each has `most` turns, and finds a vertex in each at most. A
    vertex with n > 1 items has more than (n - 1) * `most` edges, and takes ceil((n - 1) / `extra`) turns more. There
    are most of these turns if every turn finds a vertex with two items, and one of these has the edges that are left.
    """
    items = max((edges - 256 * most - most) // most, 0)
    return most + min(items, most) + max(items - most, 0) // extra
