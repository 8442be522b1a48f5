"""Small calls of everything in ``vyre.std``, as functions of the library: tests call them through one of their own."""

from __future__ import annotations

import itertools

import numpy as np

import vyre

RANDOM = np.random.default_rng(20)
DATA = RANDOM.integers(0, 256, 700, dtype=np.uint8).tobytes()
MANY = [DATA[:length] for length in (0, 1, 3, 55, 64, 65, 130, 200)]
TEXTS = [b"", b"a", "grüße 100%".encode(), b"%41%42 x", b'{"a": [1, "b\\n"]}']
JSON = b'{"a": [1, 2, "b\\"c"]}' * 20
KEY = bytes(range(32))
X = {dtype: RANDOM.integers(0, 100, 600).astype(dtype) for dtype in (np.uint32, np.int32, np.uint64, np.uint8)}
ALL = [X[dtype] for dtype in (np.uint32, np.int32, np.uint64)]
U32 = X[np.uint32]
MASK = (np.arange(600) % 3 == 0).astype(np.uint8)
INDEX = RANDOM.permutation(600).astype(np.uint32)
CUTS = np.array([0, 0, 5, 300, 600], np.uint32)
# A graph of 40 vertices with both directions of its 120 edges.
PAIRS = RANDOM.integers(0, 40, (120, 2))
EDGES = np.concatenate([PAIRS, PAIRS[:, ::-1]])
EDGES = EDGES[np.lexsort((EDGES[:, 1], EDGES[:, 0]))]
OFFSETS = np.searchsorted(EDGES[:, 0], np.arange(41)).astype(np.uint32)
TARGETS = EDGES[:, 1].astype(np.uint32)
GRAPH = (OFFSETS, TARGETS)
STRINGS = [bytes(RANDOM.integers(97, 101, length, dtype=np.uint8)) for length in (1, 8, 33, 70)]
STARTS = RANDOM.integers(0, 256, (len(MANY), 16), dtype=np.uint8)  # a counter block for each of MANY
OPERATORS = ("add", "min", "max", "and", "or", "xor", "mul")


def _hashes(name):
    return lambda std: [getattr(std, name)(each) for each in (DATA, MANY)]


def _sets(name):
    return lambda std: [getattr(std, name)(np.unique(x)[::2], np.unique(x)) for x in X.values()]


# Calls of every public function that runs something; each is given the library.
CALLS = {
    **{
        name: _hashes(name)
        for name in (
            *("adler32", "blake2b", "blake2s", "blake3", "crc32", "crc32c", "fnv1a32", "fnv1a64", "md5", "murmur3_32"),
            *("sha1", "sha3_224", "sha3_256", "sha3_384", "sha3_512", "sha224", "sha256", "sha384", "sha512"),
            *("xxhash32", "xxhash64", "base32_encode", "base64_encode", "hex_encode", "percent_encode"),
        )
    },
    "aes_ctr": lambda std: [std.aes_ctr(KEY[:k], bytes(16), DATA) for k in (16, 32)] + [std.aes_ctr(KEY, STARTS, MANY)],
    "all": lambda std: [std.all(x) for x in ALL],
    "any": lambda std: [std.any(x) for x in ALL],
    "argmax": lambda std: [std.argmax(x) for x in ALL],
    "argmin": lambda std: [std.argmin(x) for x in ALL],
    "argsort": lambda std: [std.argsort(x) for x in X.values()] + [std.argsort(U32[:3], descending=True)],
    "base32_decode": lambda std: std.base32_decode(std.base32_encode(DATA)),
    "base64_decode": lambda std: [std.base64_decode(std.base64_encode(DATA)), std.base64_decode([b"", b"QQ=="])],
    "bfs": lambda std: std.bfs(*GRAPH, 0),
    "bincount": lambda std: std.bincount(U32),
    "chacha20": lambda std: [std.chacha20(KEY, bytes(12), DATA), std.chacha20(KEY, STARTS[:, :12], MANY)],
    "compact": lambda std: [std.compact(x, MASK) for x in X.values()],
    "components": lambda std: std.components(*GRAPH),
    "cumsum": lambda std: [std.cumsum(x) for x in ALL],
    "edit_distance": lambda std: [std.edit_distance(STRINGS[2], STRINGS[3]), std.edit_distance(STRINGS, STRINGS[::-1])],
    "find": lambda std: std.find([b"ab", b"%"], b"abc%" * 50),
    "gather": lambda std: [std.gather(x, INDEX) for x in X.values()],
    "hex_decode": lambda std: std.hex_decode(std.hex_encode(DATA)),
    "histogram": lambda std: [std.histogram(x, 16, 0, 128) for x in (U32, X[np.uint8], X[np.uint64])],
    "hmac": lambda std: [std.hmac(KEY, MANY, name) for name in ("md5", "sha1", "sha256", "sha512", "sha3_256")],
    "intersect1d": _sets("intersect1d"),
    "json_structure": lambda std: [
        std.json_structure(each)
        for each in (JSON, [JSON, b"[1"], vyre.array(np.frombuffer(JSON, np.uint8), backend="cpu"))
    ],
    "lz4_decompress": lambda std: std.lz4_decompress([b"\x50hello"], [5]),
    "matmul": lambda std: std.matmul(U32.reshape(20, 30), U32.reshape(30, 20)),
    "max": lambda std: [std.max(x) for x in ALL],
    "min": lambda std: [std.min(x) for x in ALL],
    "nonzero": lambda std: [std.nonzero(MASK), std.nonzero(MASK.astype(np.uint32))],
    "pagerank": lambda std: std.pagerank(*GRAPH, rounds=3),
    "partition": lambda std: [std.partition(x, MASK) for x in X.values()],
    "pbkdf2_hmac": lambda std: [
        std.pbkdf2_hmac(name, [b"a", b"bc"], b"salt", 2) for name in ("sha1", "sha256", "sha512")
    ],
    "percent_decode": lambda std: std.percent_decode(std.percent_encode(DATA)),
    "philox4x32_10": lambda std: std.philox4x32_10(np.zeros((9, 4), np.uint32), np.zeros(2, np.uint32)),
    "random_u32": lambda std: std.random_u32(1000, 3),
    "reachable": lambda std: std.reachable(*GRAPH, 0),
    "reduce": lambda std: [std.reduce(x, op) for op in OPERATORS for x in ALL],
    "scan": lambda std: [std.scan(x, op, way) for op in OPERATORS for x in ALL for way in (False, True)],
    "scatter": lambda std: [std.scatter(x.copy(), INDEX, x) for x in X.values()],
    "scatter_add": lambda std: [std.scatter_add(x.copy(), INDEX % 50, x) for x in (U32, X[np.uint64])],
    "searchsorted": lambda std: [
        std.searchsorted(np.sort(x), x, side) for x in X.values() for side in ("left", "right")
    ],
    "segmented_reduce": lambda std: [std.segmented_reduce(x, CUTS, op) for op in OPERATORS for x in ALL],
    "segmented_scan": lambda std: [std.segmented_scan(x, CUTS, op) for op in OPERATORS for x in ALL],
    "setdiff1d": _sets("setdiff1d"),
    "siphash24": lambda std: [std.siphash24(DATA, KEY[:16]), std.siphash24(MANY, KEY[:16])],
    "smith_waterman": lambda std: [
        std.smith_waterman(STRINGS[2], STRINGS[3]),
        std.smith_waterman(STRINGS, STRINGS[::-1]),
    ],
    "sort": lambda std: [std.sort(x) for x in X.values()] + [std.sort(U32[:2]), std.sort(U32, descending=True)],
    "sort_pairs": lambda std: [std.sort_pairs(x, U32) for x in X.values()],
    "sum": lambda std: [std.sum(x) for x in ALL] + [std.sum(U32, np.uint64)],
    "threefry2x32_20": lambda std: std.threefry2x32_20(np.zeros((9, 2), np.uint32), np.zeros(2, np.uint32)),
    "topk": lambda std: [std.topk(x, 5) for x in X.values()],
    "transpose": lambda std: [std.transpose(x.reshape(20, 30)) for x in X.values()],
    "union1d": _sets("union1d"),
    "unique": lambda std: [
        std.unique(x, *asked) for x in X.values() for asked in itertools.product((False, True), repeat=3)
    ],
    "utf8_count": lambda std: std.utf8_count(TEXTS),
    "utf8_validate": lambda std: std.utf8_validate(TEXTS),
    "Regex": lambda std: std.Regex(b"[a-c]+d").find(b"abcd xx cd" * 9),
    "Patterns": lambda std: std.Patterns([b"ab", b"b"]).find(b"abab"),
}
# Classes of results and arguments, which run nothing by themselves; `regex` makes a Regex.
WITHOUT_CALLS = {"DecodeError", "Matches", "Messages", "ResidentMatches", "regex"}
