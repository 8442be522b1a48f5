"""Every procedure of the library in checked execution, at small sizes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import vyre
from vyre import std
from vyre._procedure.check import check_call
from vyre._procedure.flat import call_of
from vyre._procedure.procedure import ProcedureFunction
from vyre._reports import UnwrittenArrayReport

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
OPERATORS = ("add", "min", "max", "and", "or", "xor", "mul")


def _hashes(name):
    function = getattr(std, name)
    return lambda: [function(DATA), function(MANY)]


def _sets(function):
    return lambda: [function(np.unique(x)[::2], np.unique(x)) for x in X.values()]


# Calls of every public function that runs something.
CALLS = {
    **{
        name: _hashes(name)
        for name in (
            *("adler32", "blake2b", "blake2s", "blake3", "crc32", "crc32c", "fnv1a32", "fnv1a64", "md5", "murmur3_32"),
            *("sha1", "sha3_224", "sha3_256", "sha3_384", "sha3_512", "sha224", "sha256", "sha384", "sha512"),
            *("xxhash32", "xxhash64", "base32_encode", "base64_encode", "hex_encode", "percent_encode"),
        )
    },
    "aes_ctr": lambda: [std.aes_ctr(KEY[:k], bytes(16), DATA) for k in (16, 32)] + [std.aes_ctr(KEY, bytes(16), MANY)],
    "all": lambda: [std.all(x) for x in ALL],
    "any": lambda: [std.any(x) for x in ALL],
    "argmax": lambda: [std.argmax(x) for x in ALL],
    "argmin": lambda: [std.argmin(x) for x in ALL],
    "argsort": lambda: [std.argsort(x) for x in X.values()] + [std.argsort(U32[:3], descending=True)],
    "base32_decode": lambda: std.base32_decode(std.base32_encode(DATA)),
    "base64_decode": lambda: [std.base64_decode(std.base64_encode(DATA)), std.base64_decode([b"", b"QQ=="])],
    "bfs": lambda: std.bfs(*GRAPH, 0),
    "bincount": lambda: std.bincount(U32),
    "chacha20": lambda: [std.chacha20(KEY, bytes(12), DATA), std.chacha20(KEY, bytes(12), MANY)],
    "compact": lambda: [std.compact(x, MASK) for x in X.values()],
    "components": lambda: std.components(*GRAPH),
    "cumsum": lambda: [std.cumsum(x) for x in ALL],
    "edit_distance": lambda: [std.edit_distance(STRINGS[2], STRINGS[3]), std.edit_distance(STRINGS, STRINGS[::-1])],
    "find": lambda: std.find([b"ab", b"%"], b"abc%" * 50),
    "gather": lambda: [std.gather(x, INDEX) for x in X.values()],
    "hex_decode": lambda: std.hex_decode(std.hex_encode(DATA)),
    "histogram": lambda: [std.histogram(x, 16, 0, 128) for x in (U32, X[np.uint8], X[np.uint64])],
    "hmac": lambda: [std.hmac(KEY, MANY, name) for name in ("md5", "sha1", "sha256", "sha512", "sha3_256")],
    "intersect1d": _sets(std.intersect1d),
    "json_structure": lambda: [
        std.json_structure(each)
        for each in (JSON, [JSON, b"[1"], vyre.array(np.frombuffer(JSON, np.uint8), backend="cpu"))
    ],
    "lz4_decompress": lambda: std.lz4_decompress([b"\x50hello"], [5]),
    "matmul": lambda: std.matmul(U32.reshape(20, 30), U32.reshape(30, 20)),
    "max": lambda: [std.max(x) for x in ALL],
    "min": lambda: [std.min(x) for x in ALL],
    "nonzero": lambda: [std.nonzero(MASK), std.nonzero(MASK.astype(np.uint32))],
    "pagerank": lambda: std.pagerank(*GRAPH, rounds=3),
    "partition": lambda: [std.partition(x, MASK) for x in X.values()],
    "pbkdf2_hmac": lambda: [std.pbkdf2_hmac(name, [b"a", b"bc"], b"salt", 2) for name in ("sha1", "sha256", "sha512")],
    "percent_decode": lambda: std.percent_decode(std.percent_encode(DATA)),
    "philox4x32_10": lambda: std.philox4x32_10(np.zeros((9, 4), np.uint32), np.zeros(2, np.uint32)),
    "random_u32": lambda: std.random_u32(1000, 3),
    "reachable": lambda: std.reachable(*GRAPH, 0),
    "reduce": lambda: [std.reduce(x, op) for op in OPERATORS for x in ALL],
    "scan": lambda: [std.scan(x, op, way) for op in OPERATORS for x in ALL for way in (False, True)],
    "scatter": lambda: [std.scatter(x.copy(), INDEX, x) for x in X.values()],
    "scatter_add": lambda: [std.scatter_add(x.copy(), INDEX % 50, x) for x in (U32, X[np.uint64])],
    "searchsorted": lambda: [std.searchsorted(np.sort(x), x, side) for x in X.values() for side in ("left", "right")],
    "segmented_reduce": lambda: [std.segmented_reduce(x, CUTS, op) for op in OPERATORS for x in ALL],
    "segmented_scan": lambda: [std.segmented_scan(x, CUTS, op) for op in OPERATORS for x in ALL],
    "setdiff1d": _sets(std.setdiff1d),
    "siphash24": lambda: [std.siphash24(DATA, KEY[:16]), std.siphash24(MANY, KEY[:16])],
    "smith_waterman": lambda: [std.smith_waterman(STRINGS[2], STRINGS[3]), std.smith_waterman(STRINGS, STRINGS[::-1])],
    "sort": lambda: [std.sort(x) for x in X.values()] + [std.sort(U32[:2]), std.sort(U32, descending=True)],
    "sort_pairs": lambda: [std.sort_pairs(x, U32) for x in X.values()],
    "sum": lambda: [std.sum(x) for x in ALL] + [std.sum(U32, np.uint64)],
    "threefry2x32_20": lambda: std.threefry2x32_20(np.zeros((9, 2), np.uint32), np.zeros(2, np.uint32)),
    "topk": lambda: [std.topk(x, 5) for x in X.values()],
    "transpose": lambda: [std.transpose(x.reshape(20, 30)) for x in X.values()],
    "union1d": _sets(std.union1d),
    "unique": lambda: [
        std.unique(x, *asked) for x in X.values() for asked in itertools.product((False, True), repeat=3)
    ],
    "utf8_count": lambda: std.utf8_count(TEXTS),
    "utf8_validate": lambda: std.utf8_validate(TEXTS),
    "Regex": lambda: std.Regex(b"[a-c]+d").find(b"abcd xx cd" * 9),
    "Patterns": lambda: std.Patterns([b"ab", b"b"]).find(b"abab"),
}
# Classes of results and arguments, which run nothing by themselves; `regex` makes a Regex.
WITHOUT_CALLS = {"DecodeError", "Matches", "Messages", "ResidentMatches", "regex"}

# What is found and is meant: the check, the beginning of the procedure's name, and the array.
MEANT = {
    # A conditional expression loads both of its values, and the one that is not taken was not written.
    ("uninitialised-read", "std.edit_distance.", "state"),
    ("uninitialised-read", "std.edit_distance.", "edges"),
    ("uninitialised-read", "std.edit_distance.", "distances"),
    ("uninitialised-read", "std.smith_waterman.", "state"),
    ("uninitialised-read", "std.smith_waterman.", "corners"),
    ("uninitialised-read", "std.smith_waterman.", "edges"),
    # A list of vertices whose order shows in no level.
    ("order-dependence", "std.bfs.continue", "items"),
    ("order-dependence", "std.bfs.continue", "following"),
}


def is_meant(name, report):
    if isinstance(report, UnwrittenArrayReport):
        array = report.array
    elif report.check == "uninitialised-read" and not report.step.array:
        return True  # memory of a workgroup begins as zeros, and the library relies on it
    else:
        array = report.buffer if report.check == "order-dependence" else report.step.array
    return any(report.check == check and name.startswith(begin) and array == of for check, begin, of in MEANT)


def test_every_public_function_is_called():
    missing = {*std.__all__} - CALLS.keys() - WITHOUT_CALLS
    assert not missing, "add calls of them to CALLS, which checked execution then runs"
    assert {*CALLS, *WITHOUT_CALLS} == {*std.__all__}
    assert not CALLS.keys() & WITHOUT_CALLS


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_no_procedure_of_the_library_makes_a_mistake(name, monkeypatch):
    run, checked, found = ProcedureFunction._run, [], []

    def run_checked(self, made, given, options):
        checks = ["race", "uninitialised-read", "divergent-barrier", "order-dependence"]
        result = check_call(self.name, lambda: call_of(self, dict(given)), checks=checks)
        found.extend(str(report) for report in result.reports if not is_meant(self.name, report))
        checked.append(self.name)
        return run(self, made, given, options)

    monkeypatch.setattr(ProcedureFunction, "_run", run_checked)
    with vyre.default_device("cpu"):
        CALLS[name]()
    assert checked, "the call ran no procedure"
    assert found == []


@pytest.mark.parametrize("name", sorted(CALLS.keys() - {"Regex", "Patterns"}))
def test_the_calls_that_are_steps_of_a_procedure_are_known(name):
    @vyre.procedure
    def outer(x: vyre.InOut[vyre.u32]):
        CALLS[name]()

    refusal = ""
    try:
        _ = outer.procedure
    except (vyre.ArgumentError, vyre.BindingError) as error:
        refusal = str(error)
    is_refused = "cannot be a step" in refusal or name == "bincount"
    assert is_refused == (name not in std._STEPS)
