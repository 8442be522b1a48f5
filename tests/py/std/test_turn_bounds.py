"""The formulas of turn_bounds.py give the turns that are counted at small sizes, and below what drivers allow."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from loop_turns import counted
from turn_bounds import align_turns, edit_turns, expand_turns, group_turns
from vyre.std._graphs import bfs as _bfs
from vyre.std._hashing import blake3_many as _blake3_many
from vyre.std._searching import edit_distance as _edit_distance
from vyre.std._searching import smith_waterman as _smith_waterman

MOST = 60_000
# Invocations of a workgroup, and columns of a tile.
TILES = [(1, 16), (2, 16), (2, 64), (4, 32), (8, 16), (8, 128)]


def pair(m, n):
    rng = np.random.default_rng(m * n)
    rows, columns = (rng.integers(97, 100, count, dtype=np.uint8) for count in (m, n))
    offsets = [np.array([0, count], np.uint32) for count in (m, n)]
    return {"rows": rows, "row_offsets": offsets[0], "columns": columns, "column_offsets": offsets[1]}


def edit_counted(size, columns, m, n):
    tiles = {"bands": -(-m // (size * 32)), "chunks": -(-n // columns)}
    made = counted(_edit_distance.edit_distances(size, columns), {**pair(m, n), **tiles})
    return made[f"std.edit_distance.tiles_{size}", "edit_diagonal"]


def align_counted(size, columns, m, n):
    tiles = {"bands": -(-m // (size * 8)), "chunks": -(-n // columns)}
    costs = {"match": 2, "mismatch": -1, "gap": -1}
    made = counted(_smith_waterman.best_alignments(size, columns), {**pair(m, n), **costs, **tiles})
    return made[f"std.smith_waterman.tiles_{size}", "align_diagonal"]


@pytest.mark.parametrize(("size", "columns"), TILES)
def test_a_full_tile_of_the_edit_distance_makes_the_turns_of_the_formula(size, columns):
    full = size * 32
    assert edit_counted(size, columns, full, columns) == edit_turns(size, columns)
    assert edit_counted(size, columns, 2 * full + 1, 2 * columns + 1) == edit_turns(size, columns)
    assert edit_counted(size, columns, full, columns - 1) < edit_turns(size, columns)
    assert edit_counted(size, columns, max(full - 32, 1), columns) <= edit_turns(size, columns)


@pytest.mark.parametrize(("size", "columns"), TILES)
def test_a_full_tile_of_an_alignment_makes_the_turns_of_the_formula(size, columns):
    full = size * 8
    assert align_counted(size, columns, full, columns) == align_turns(size, columns)
    assert align_counted(size, columns, 2 * full + 1, 2 * columns + 1) == align_turns(size, columns)
    assert align_counted(size, columns, full, columns - 4) < align_turns(size, columns)
    assert align_counted(size, columns, max(full - 8, 1), columns) <= align_turns(size, columns)


def group_counted(monkeypatch, window, chunks):
    monkeypatch.setattr(_blake3_many, "WINDOW", window * 1024)
    monkeypatch.setattr(_blake3_many, "make_group", _blake3_many.make_group.__wrapped__)  # it reads WINDOW when traced
    _, _, by_workgroups = _blake3_many.make_procedures.__wrapped__(True)
    given = {
        "words": np.zeros(chunks * 256, np.uint32),
        "starts": np.zeros(1, np.uint32),
        "lengths": np.array([chunks * 1024], np.uint32),
        "begin": np.zeros(9, np.uint32),
        "windows": -(-chunks // window),
        "size": 1,
    }
    return counted(by_workgroups, given)["std.blake3.group", "group"]


@pytest.mark.parametrize(
    ("window", "chunks"), [(64, 1), (64, 2), (64, 64), (64, 65), (64, 260), (128, 128), (128, 257), (256, 250)]
)
def test_a_group_of_blake3_makes_the_turns_of_the_formula(monkeypatch, window, chunks):
    assert group_counted(monkeypatch, window, chunks) == group_turns(window, chunks)


def bfs_of(most, extra):
    """The module of the search with smaller items: its kernels read their sizes when they are traced."""
    spec = importlib.util.find_spec(_bfs.__name__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.MOST, module.EXTRA = most, extra
    module.SMALL = 0  # no frontier is left to the kernel for small ones
    return module


def expand_counted(most, extra, counts):
    """The turns where the first invocation finds a vertex in each turn, with these counts of items.

    The source has edges for 256 full items, and the invocation takes every 256th of them.
    """
    module = bfs_of(most, extra)
    degrees = np.zeros(256 * most + 1, np.uint32)
    degrees[0] = 256 * most
    degrees[1 + 256 * np.arange(len(counts))] = [(count - 1) * most + 1 for count in counts]
    offsets = np.concatenate([[0], degrees.cumsum()]).astype(np.uint32)
    targets = np.zeros(offsets[-1], np.uint32)  # all lead back to the source
    targets[: 256 * most] = np.arange(1, 256 * most + 1)
    levels = np.full(len(degrees), module.UNREACHED, np.uint32)
    levels[0] = 0
    items = np.zeros(2 * module.most_items(len(degrees), len(targets)), np.uint32)
    items[:512:2], items[1:512:2] = np.arange(256) * most, most
    given = {"offsets": offsets, "targets": targets, "levels": levels, "items": items}
    given |= {"state": np.array([256, 1, 1, 0], np.uint32), "turns": 1}
    return counted(module.continued, given)["std.bfs.continue", "expand"], len(targets)


@pytest.mark.parametrize(("most", "extra"), [(2, 2), (4, 3), (8, 8), (8, 10)])
@pytest.mark.parametrize("more", [0, 1, 3])
def test_a_level_of_a_search_makes_the_turns_of_the_formula(most, extra, more):
    counts = [2] * (most - 1) + [2 + more * extra]
    found, edges = expand_counted(most, extra, counts)
    assert found == 2 * most + more == expand_turns(most, extra, edges)
    assert expand_turns(most, extra, edges - 1) == found - 1


def test_fewer_vertices_with_many_items_make_fewer_turns():
    assert expand_counted(4, 3, [1, 1, 1, 1])[0] == 4
    assert expand_counted(4, 3, [5, 1, 1, 1])[0] == 4 + 2
    assert expand_counted(4, 3, [2, 2, 2, 11])[0] == 4 + 3 + 4
    found, edges = expand_counted(4, 3, [4, 4, 2, 2])
    assert found == 4 + 4 <= expand_turns(4, 3, edges)


def test_no_formula_gives_more_turns_than_drivers_allow():
    assert edit_turns(256, _edit_distance.COLUMNS) == 17_695
    assert align_turns(256, _smith_waterman.COLUMNS) == 4_351
    chunks = 2**22  # of the longest message
    assert group_turns(_blake3_many.WINDOW // 1024, chunks) <= MOST
    assert expand_turns(_bfs.MOST, _bfs.EXTRA, 2**32 - 1) <= MOST  # of the largest array
