"""No invocation of the library makes more turns of loops in a dispatch than drivers allow.

Calls at their limits are made without running (see loop_turns.py): the turns of their kernels are bounded by the
lengths and numbers that the host gives each dispatch. What memory decides stands in a table, with the reason; where it
is a formula, test_turn_bounds.py counts at small sizes too.
"""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from library_calls import BYTES, KEY, ROWS
from loop_turns import counting_calls, steps_of
from turn_bounds import align_turns, edit_turns, group_turns
from vyre import std
from vyre.std import aes, crc
from vyre.std._calls.routes import ROUTES
from vyre.std._hashing.ciphers import MOST_TURNS, WORDS, make_long

MOST = 60_000
# They read what an earlier step gives, so a dry call does not come to their later ones.
GRAPHS = {"bfs", "components", "pagerank", "reachable"}
LARGEST = {f"{name}{which}": call for name, row in ROWS.items() for which, call in row.largest.items()}
RANGE = np.arange(2**16, dtype=np.uint32)


def aes_in_turns(turns):
    """What a long message's call does on a GPU: each invocation makes `turns` units."""
    words = vyre.zeros(WORDS * aes.LANES * turns)
    make_long(aes.AES_CTR)(words.reshape(-1, 4), words, vyre.array(aes._row(KEY, KEY[:16]).reshape(-1, 4)), turns)


# The kernels with loops whose turns memory decides, by procedure. A row has the most turns that all loops of the kernel
# can make together, the reason, a call that makes as many or nearly as many, and the turns that were counted in it.
BY_DATA = {
    ("std.aes_ctr.long", "one"): (
        MOST_TURNS * 14, "units, and in each the rounds of AES behind the first", lambda: aes_in_turns(MOST_TURNS), 56),
    ("std.blake3.each", "each"): (
        18_614, "the 16,384 blocks of the longest message that one invocation takes, and joins of its 1,024 chunks",
        lambda: std.blake3([b""] * 4095 + [bytes(2**20)]), 18_614),
    ("std.blake3.group", "group"): (
        group_turns(2**17, 2**22), "the chunks of a dispatch, 64 a turn: their blocks and their joins",
        lambda: std.blake3([bytes(2**20)] * 2), 398),
    ("std.blake3.long", "join_last"): (
        10, "joins of 512 chaining values, and the end", lambda: std.blake3(bytes(2**20 + 5)), 2),
    ("std.blake3.long", "join_nodes"): (
        10, "joins of 512 chaining values, and the end", lambda: std.blake3(bytes(2**19 + 5)), 10),
    ("std.blake3.single", "short"): (
        15, "the blocks of a chunk but the last", lambda: std.blake3([bytes(1024)] * 2), 15),
    ("std.edit_distance.tiles_256", "edit_diagonal"): (
        edit_turns(256, 16384), "the steps and the columns of a tile, and the 32 rows of an invocation",
        lambda: std.edit_distance(b"ab" * 1500, b"ba" * 15_000), 17_533),
    ("std.find.count", "count_matches"): (
        20_481, "the 16,384 vectors of a piece for the longest pattern, the 4,096 behind it, and the end",
        lambda: std.find([b"ab" * 32768], b"ab" * 170_000), 20_481),
    ("std.find.filter", "look_for_matches"): (
        MOST, "the host gives an invocation fewer units",
        lambda: std.find([b"a" * 256] * 1199 + [b"aa"], b"a" * 300), 8_290),
    ("std.find.filter_write", "write_found"): (
        MOST, "the host gives an invocation fewer units", lambda: std.find([b"a" * 256] * 1200, b"a" * 300), 55_044),
    ("std.find.spread", "note_places"): (
        20_481, "the same vectors as count_matches",
        lambda: std.find([b"ab" * 32768], b"ab" * 170_000), 20_481),
    ("std.find.spread", "write_each"): (
        84, "3 for each bit of the number of patterns at one place, and of these there are fewer than 2^28",
        lambda: std.find([b"a"] * 2**16, b"a"), 32),
    ("std.find.write", "write_matches"): (
        MOST, "the host takes another way for patterns that give more",
        lambda: [std.find([b"a"] * count, b"a" * 1500) for count in (116, 117)], 59_937),
    ("std.intersect1d.u32", "mark"): (33, "a binary search", lambda: std.intersect1d(RANGE, RANGE), 18),
    ("std.json_structure_write", "write"): (
        33, "bits of a word, and the end", lambda: std.json_structure(b"[" * 1000 + b"]" * 1000), 33),
    ("std.lz4_decompress", "decompress"): (
        50_001, "turns of a dispatch, and the end",
        lambda: std.lz4_decompress(b"\x10a\x01\x00" * 60_000 + b"\x10a", 300_001), 50_001),
    ("std.percent_decode_write", "write"): (
        5, "a word of each invocation for each word of its chunk", lambda: std.percent_decode(b"a" * 20_003), 4),
    ("std.percent_encode_write", "write"): (
        13, "3 words of each invocation for each word of its chunk", lambda: std.percent_encode(b"%" * 20_003), 12),
    ("std.searchsorted.u32_left", "search"): (33, "a binary search", lambda: std.searchsorted(RANGE, RANGE), 18),
    ("std.setdiff1d.u32", "mark"): (33, "a binary search", lambda: std.setdiff1d(RANGE, RANGE), 18),
    ("std.smith_waterman.tiles_256", "align_diagonal"): (
        align_turns(256, 16384), "a tile's columns in blocks of 4, and one for each of the 255 invocations before",
        lambda: std.smith_waterman(b"ab" * 1500, b"ba" * 1500), 1005),
    ("std.union1d.u32", "place"): (33, "a binary search", lambda: std.union1d(RANGE, RANGE), 18),
}  # fmt: skip
# Calls that choose by the backend (see _routes.py), and take other kernels on a GPU.
ROUTED = "argsort,blake3 65536,blake3 of one,crc32 of one,crc32c 65536,find,sha224 65536,sha256 65536,sort,sort_pairs"
# SLOW has the calls that take a second or more. A few digests of 4 GiB with blocks of different sizes are fast.
FAST = {f"{name} {BYTES - 16}" for name in ("md5", "fnv1a32", "crc32", "xxhash64")}
SLOW = {name for name in LARGEST if name.endswith(f" {BYTES - 16}")} - FAST | {"find of the longest", "lz4_decompress"}


def some_slow(names):
    return [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in names]


@pytest.fixture
def gpu(monkeypatch):
    """The routes of a GPU, on the processor."""
    monkeypatch.setitem(ROUTES, "cpu", ROUTES["cuda"])
    monkeypatch.setattr(crc, "is_hardware", lambda *_: True)


def assert_bounded(name):
    found, alone = steps_of({name: LARGEST[name]})
    assert found[name]
    for step in found[name].values():
        turns, unbounded = step.turns()
        if unbounded or turns > MOST:
            what = f"`{step.kernel}` of `{step.procedure}`: {turns} turns, and {unbounded} loops without a bound"
            assert (step.procedure, step.kernel) in BY_DATA, what
    assert not [program for program in alone if "loop " in program.to_text()]


@pytest.mark.parametrize("name", some_slow(LARGEST))
def test_a_call_at_its_limits_makes_no_more_turns(name):
    assert_bounded(name)


@pytest.mark.parametrize("name", ROUTED.split(","))
@pytest.mark.usefixtures("gpu")
def test_a_call_at_its_limits_makes_no_more_turns_on_a_gpu(name):
    assert_bounded(name)


@pytest.mark.parametrize("kernel", BY_DATA, ids=".".join)
def test_the_turns_that_memory_decides_are_those_that_were_counted(kernel, request):
    most, _, call, wanted = BY_DATA[kernel]
    if "filter" in kernel[0]:
        request.getfixturevalue("gpu")
    with counting_calls() as counted, vyre.default_device("cpu"):
        call()
    assert counted[kernel] == wanted
    assert wanted <= most <= MOST


def test_every_call_is_made_at_its_limits():
    assert {name for name, row in ROWS.items() if not row.largest} == GRAPHS
