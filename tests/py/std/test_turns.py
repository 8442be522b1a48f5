"""No invocation of the library makes more turns of loops in a dispatch than drivers allow.

Calls at their limits are made without running (see loop_turns.py): the turns of their kernels are bounded by the
lengths and numbers that the host gives each dispatch. What memory decides stands in a table, with the reason; where it
is a formula, test_turn_bounds.py counts at small sizes too.
"""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from loop_turns import counting_calls, steps_of
from procedure_texts import CALLS
from turn_bounds import align_turns, edit_turns, group_turns
from vyre import std
from vyre.std import aes, crc
from vyre.std._ciphers import MOST_TURNS, WORDS, make_long
from vyre.std._routes import ROUTES

MOST = 60_000
BYTES = 2**32 - 16  # of one array, on a device whose arrays have 4 GiB
KEY = bytes(range(32))


def some(*shape, dtype=np.uint32):
    """A resident array that no one reads: its pages do not come to be."""
    return vyre.empty(shape, dtype, backend="cpu")


def octets(count=BYTES):
    return some(count, dtype=np.uint8)


def messages(size=BYTES - 16):
    """As many of this size as fit into an array."""
    return std.Messages(octets(), np.arange(0, BYTES, size, dtype=np.uint64).astype(np.uint32))


def words(dtype=np.uint32):
    return some(BYTES // np.dtype(dtype).itemsize, dtype=dtype)


def of_messages(name, *args):
    sizes = BYTES - 16, 65536
    return {f"{name} {size}": lambda size=size: getattr(std, name)(messages(size), *args) for size in sizes}


HASHES = "md5 sha1 sha224 sha256 sha384 sha512 sha3_224 sha3_256 sha3_384 sha3_512 blake2b blake2s blake3 crc32 crc32c"
HASHES += " adler32 fnv1a32 fnv1a64 murmur3_32 xxhash32 xxhash64"
REDUCING = "all any argmax argmin argsort bincount cumsum max min sort sum unique"
LARGEST = {
    **{key: call for name in HASHES.split() for key, call in of_messages(name).items()},
    **of_messages("siphash24", KEY[:16]),
    **{name: lambda name=name: getattr(std, name)(words()) for name in REDUCING.split()},
    **{f"{name} of u64": lambda name=name: getattr(std, name)(words(np.uint64)) for name in ("cumsum", "sort", "min")},
    "adler32 of one": lambda: std.adler32(octets()),
    "aes_ctr": lambda: std.aes_ctr(KEY, KEY[:16], octets()),
    "base32_decode": lambda: std.base32_decode(octets()),
    "base32_encode": lambda: std.base32_encode(octets(BYTES // 2)),
    "base64_decode": lambda: std.base64_decode(octets()),
    "base64_encode": lambda: std.base64_encode(octets(BYTES // 2)),
    "blake3 of one": lambda: std.blake3(octets()),
    "blake3 of 64 bytes": lambda: std.blake3(std.Messages(octets(2**26), np.arange(0, 2**26, 64, dtype=np.uint32))),
    "chacha20": lambda: std.chacha20(KEY, KEY[:12], octets()),
    "compact": lambda: std.compact(words(), octets(2**30 - 4)),
    "crc32 of one": lambda: std.crc32(octets()),
    "edit_distance": lambda: std.edit_distance(octets(2**24), octets(2**24)),
    "find": lambda: std.find([b"ab", b"bc"], octets(), limit=2**20),
    "find of the longest": lambda: std.find([b"ab" * 32768], octets(), limit=2**20),
    "gather": lambda: std.gather(words(), words()),
    "hex_decode": lambda: std.hex_decode(octets()),
    "hex_encode": lambda: std.hex_encode(octets(BYTES // 2)),
    "histogram": lambda: std.histogram(words(), 256),
    "histogram of 65,536": lambda: std.histogram(words(), 65536),
    "hmac": lambda: std.hmac(KEY, messages()),
    "intersect1d": lambda: std.intersect1d(words(), words()),
    "json_structure": lambda: std.json_structure(octets()),
    "lz4_decompress": lambda: std.lz4_decompress(messages(), 2**32 - 8),
    "matmul": lambda: std.matmul(some(2**10, 2**20), some(2**20, 2**10)),
    "nonzero": lambda: std.nonzero(octets()),
    "partition": lambda: std.partition(words(), octets(2**30 - 4)),
    "pbkdf2_hmac": lambda: std.pbkdf2_hmac("sha256", b"p", b"s", 2**20),
    "percent_decode": lambda: std.percent_decode(octets()),
    "percent_encode": lambda: std.percent_encode(octets(BYTES // 3)),
    "philox4x32_10": lambda: std.philox4x32_10(some(2**28, 4), np.zeros(2, np.uint32)),
    "random_u32": lambda: std.random_u32(1000, 3, backend="cpu"),
    "reduce": lambda: std.reduce(words(), "xor"),
    "regex": lambda: std.regex(b"ab+").find(octets(), limit=2**20),
    "regex of most states": lambda: std.regex(b"(a|b)*a(a|b){9}").find(octets(), limit=2**20),
    "regex, earliest": lambda: std.regex(b"ab+").find(octets(), "earliest", limit=2**20),
    "regex-count": lambda: std.regex(b"ab+").count(octets()),
    "scan": lambda: std.scan(words(np.int32), "max", inclusive=False),
    "scatter": lambda: std.scatter(words(), words(), words()),
    "scatter_add": lambda: std.scatter_add(words(), words(), words()),
    "searchsorted": lambda: std.searchsorted(words(), words()),
    "segmented_reduce": lambda: std.segmented_reduce(words(), some(2**20), "add"),
    "segmented_scan": lambda: std.segmented_scan(words(), some(2**20), "add"),
    "setdiff1d": lambda: std.setdiff1d(words(), words()),
    "smith_waterman": lambda: std.smith_waterman(octets(2**22), octets(2**22)),
    "sort_pairs": lambda: std.sort_pairs(words(), words()),
    "threefry2x32_20": lambda: std.threefry2x32_20(some(2**29, 2), np.zeros(2, np.uint32)),
    "topk": lambda: std.topk(words(), 100),
    "topk of many": lambda: std.topk(words(), 2**29),
    "transpose": lambda: std.transpose(some(2**15, 2**15)),
    "union1d": lambda: std.union1d(words()[: 2**29], words()[: 2**29]),
    "utf8_count": lambda: std.utf8_count(octets()),
    "utf8_validate": lambda: std.utf8_validate(octets()),
}
# They read what an earlier step gives, so a dry call does not come to their later ones.
GRAPHS = {"bfs", "components", "pagerank", "reachable"}


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
    made = {name.split()[0].partition("-")[0].strip(",") for name in LARGEST}
    assert {name.partition("-")[0] for name in CALLS} == made | GRAPHS
