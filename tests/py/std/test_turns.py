"""No invocation of the library makes more turns of loops in a dispatch than drivers allow.

Calls at their limits are made without running (see loop_turns.py): the turns of their kernels are bounded by the
lengths and numbers that the host gives each dispatch. What memory decides stands in a table, with the reason.
"""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from loop_turns import steps_of
from procedure_texts import CALLS
from vyre import std

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


# Kernels with loops whose turns memory decides: the most that they can be, all loops together, and why.
BY_DATA = {
    "align_diagonal": (4_352, "a tile's columns in blocks of 4, and one for each of the 256 invocations before"),
    "compress": (4_096, "blocks of a dispatch"),
    "count_matches": (20_480, "vectors of a piece, 16,384 for the longest pattern, and the 4,096 behind it"),
    "decompress": (50_000, "turns of a dispatch"),
    "each": (17_420, "the 16,384 blocks of the longest message that one invocation takes, and a join for each chunk"),
    "edit_diagonal": (21_775, "1,279 steps of 16 columns, and the 32 rows of an invocation"),
    "group": (47_200, "2,048 times the 16 blocks of a chunk, 6 joins of the workgroup's and one of those that wait"),
    "join_last": (9, "joins of 512 chaining values"),
    "join_nodes": (9, "joins of 512 chaining values"),
    "mark": (32, "a binary search"),
    "note_places": (20_480, "the same vectors as count_matches"),
    "one": (13, "rounds of AES behind the first"),
    "place": (32, "a binary search"),
    "search": (32, "a binary search"),
    "short": (16, "the blocks of one chunk"),
    "write": (32, "bits of a word (JSON), or the 13 bytes that a byte of text gives at most, a turn each (percent)"),
    "write_each": (34, "a walk along a chain by skips"),
    "write_matches": (60_000, "the host takes another way for patterns that give more"),
}


@pytest.mark.parametrize("name", LARGEST)
def test_a_call_at_its_limits_makes_no_more_turns(name):
    found, alone = steps_of({name: LARGEST[name]})
    for step in found[name].values():
        turns, unbounded = step.turns()
        if unbounded or turns > MOST:
            what = f"`{step.kernel}` of `{step.procedure}`: {turns} turns, and {unbounded} loops without a bound"
            assert step.kernel in BY_DATA, what
            assert BY_DATA[step.kernel][0] <= MOST
    assert not [program for program in alone if "loop " in program.to_text()]


def test_every_call_is_made_at_its_limits():
    made = {name.split()[0].partition("-")[0].strip(",") for name in LARGEST}
    assert {name.partition("-")[0] for name in CALLS} == made | GRAPHS
