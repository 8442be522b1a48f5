"""Calls of the library on 10^6 elements or bytes on each driver, and on 10^4 on the reference.

What is expected comes from numpy, scipy and the libraries of a processor. Products of matrices have as many
multiplications, and tables of alignments as many cells.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import itertools
import json
import re
import urllib.parse
import zlib

import ahocorasick
import blake3
import lz4.block
import mmh3
import numpy as np
import pytest
import xxhash
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, shortest_path

from vyre import std

pytestmark = pytest.mark.slow

KEY = bytes(range(32))
DIGESTS = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_224", "sha3_256", "sha3_384", "sha3_512"]
DIGESTS += ["blake2s", "blake2b"]


def reductions(rng, n):
    x = rng.integers(0, 2**32, n, dtype=np.uint32)
    bounds = np.array([0, n // 3, n // 3, n - 1, n], np.uint32)
    parts = np.split(x, bounds[1:-1])
    yield "sum", lambda s: s.sum(x), x.sum(dtype=np.uint32)
    yield "min", lambda s: s.min(x), x.min()
    yield "max", lambda s: s.max(x), x.max()
    yield "reduce", lambda s: s.reduce(x, "xor"), np.bitwise_xor.reduce(x)
    yield "any", lambda s: s.any(x >> 31), True
    yield "all", lambda s: s.all(x >> 31), False
    yield "argmin", lambda s: s.argmin(x), x.argmin()
    yield "argmax", lambda s: s.argmax(x), x.argmax()
    yield "cumsum", lambda s: s.cumsum(x), x.cumsum(dtype=np.uint32)
    yield "scan", lambda s: s.scan(x, "max"), np.maximum.accumulate(x)
    sums = [part.sum(dtype=np.uint32) for part in parts]
    yield "segmented_reduce", lambda s: s.segmented_reduce(x, bounds, "add"), sums
    scans = np.concatenate([part.cumsum(dtype=np.uint32) for part in parts])
    yield "segmented_scan", lambda s: s.segmented_scan(x, bounds, "add"), scans
    square = x[: int(n**0.5) ** 2].reshape(int(n**0.5), -1)
    yield "transpose", lambda s: s.transpose(square), square.T
    side = int(n ** (1 / 3))
    a, b = x[: side**2].reshape(side, side), x[-(side**2) :].reshape(side, side)
    yield "matmul", lambda s: s.matmul(a, b), a @ b


def selections(rng, n):
    x = rng.integers(0, 2**32, n, dtype=np.uint32)
    few, mask, index = x % np.uint32(1000), x % 3 == 0, x % np.uint32(n)
    stable = np.argsort(few, kind="stable")
    last, added = np.zeros(n, np.uint32), np.zeros(n, np.uint32)
    last[index] = x  # numpy, too, keeps the last of equal indices
    np.add.at(added, index, x)
    yield "sort", lambda s: s.sort(x), np.sort(x)
    yield "argsort", lambda s: s.argsort(few), stable
    yield "sort_pairs", lambda s: s.sort_pairs(few, x), (few[stable], x[stable])
    first = np.argsort(~few, kind="stable")[:100]
    yield "topk", lambda s: s.topk(few, 100), (few[first], first)
    yield "compact", lambda s: s.compact(x, mask), x[mask]
    yield "nonzero", lambda s: s.nonzero(mask), np.flatnonzero(mask)
    yield "partition", lambda s: s.partition(x, mask), (np.concatenate([x[mask], x[~mask]]), mask.sum())
    yield "unique", lambda s: s.unique(few, True, True, True), np.unique(few, True, True, True)
    yield "bincount", lambda s: s.bincount(few), np.bincount(few)
    yield "histogram", lambda s: s.histogram(x, 256), np.histogram(x, 256, (0, 2**32))[0]
    yield "gather", lambda s: s.gather(x, index), x[index]
    yield "scatter", lambda s: s.scatter(np.zeros(n, np.uint32), index, x), last
    yield "scatter_add", lambda s: s.scatter_add(np.zeros(n, np.uint32), index, x), added
    a, b = np.sort(x[: n // 2] >> 12), np.sort(x[n // 2 :] >> 12)
    yield "searchsorted", lambda s: s.searchsorted(a, b, side="right"), np.searchsorted(a, b, side="right")
    for name in ("intersect1d", "union1d", "setdiff1d"):
        yield name, lambda s, name=name: getattr(s, name)(a, b), getattr(np, name)(a, b)


def hashes(rng, n):
    data = rng.bytes(n)
    cuts = [0, *np.sort(rng.integers(0, n, max(n // 100, 1))).tolist(), n]
    many = [data[a:b] for a, b in itertools.pairwise(cuts)]
    for name in DIGESTS:
        wanted = [hashlib.new(name, each).digest() for each in many]
        yield name, lambda s, name=name: [bytes(row) for row in getattr(s, name)(many)], wanted
    yield "blake3", lambda s: s.blake3(data), blake3.blake3(data).digest()
    yield "crc32", lambda s: s.crc32(data), zlib.crc32(data)
    yield "adler32", lambda s: s.adler32(data), zlib.adler32(data)
    yield "fnv1a32", lambda s: s.fnv1a32(many), [fnv1a(each, 0x811C9DC5, 0x01000193, 32) for each in many]
    basis, prime = 0xCBF29CE484222325, 0x100000001B3
    yield "fnv1a64", lambda s: s.fnv1a64(many), [fnv1a(each, basis, prime, 64) for each in many]
    yield "xxhash32", lambda s: s.xxhash32(many), [xxhash.xxh32_intdigest(each) for each in many]
    yield "xxhash64", lambda s: s.xxhash64(many), [xxhash.xxh64_intdigest(each) for each in many]
    yield "murmur3_32", lambda s: s.murmur3_32(many), [mmh3.hash(each, signed=False) for each in many]
    yield (
        "hmac",
        lambda s: [bytes(row) for row in s.hmac(b"key", many)],
        [hmac.digest(b"key", each, "sha256") for each in many],
    )
    few = many[: max(n // 10_000, 1)]
    keys = [hashlib.pbkdf2_hmac("sha256", each, b"salt", 100) for each in few]
    yield "pbkdf2_hmac", lambda s: [bytes(row) for row in s.pbkdf2_hmac("sha256", few, b"salt", 100)], keys
    chacha = Cipher(algorithms.ChaCha20(KEY, bytes(16)), None).encryptor().update(data)
    yield "chacha20", lambda s: s.chacha20(KEY, bytes(12), data), chacha
    aes = Cipher(algorithms.AES(KEY), modes.CTR(bytes(16))).encryptor().update(data)
    yield "aes_ctr", lambda s: s.aes_ctr(KEY, bytes(16), data), aes


def fnv1a(data, value, prime, bits):
    """FNV-1a by its definition."""
    for byte in data:
        value = (value ^ byte) * prime % 2**bits
    return value


def hashes_of_other_packages(rng, n):
    """Beside packages that come with the extra `bench` alone."""
    google_crc32c, siphash24 = (pytest.importorskip(name) for name in ("google_crc32c", "siphash24"))
    data = rng.bytes(n)
    many = [data[k : k + 101] for k in range(0, n, 101)]
    yield "crc32c", lambda s: s.crc32c(data), google_crc32c.value(data)
    keyed = [int.from_bytes(siphash24.siphash24(each, key=KEY[:16]).digest(), "little") for each in many]
    yield "siphash24", lambda s: s.siphash24(many, KEY[:16]), keyed


def texts(rng, n):
    data = rng.bytes(n)
    for name, encoded in (
        ("hex", binascii.hexlify(data)),
        ("base32", base64.b32encode(data)),
        ("base64", base64.b64encode(data)),
        ("percent", urllib.parse.quote_from_bytes(data, safe="").encode()),
    ):
        yield f"{name}_encode", lambda s, name=name: getattr(s, f"{name}_encode")(data), encoded
        yield f"{name}_decode", lambda s, name=name, t=encoded: getattr(s, f"{name}_decode")(t), data
    text = ("Grüße aus 世界! 🎈 " * (n // 20)).encode()
    yield "utf8_validate", lambda s: s.utf8_validate(text), True
    yield "utf8_count", lambda s: s.utf8_count(text), len(text.decode())
    document = json.dumps([{"a": [1, 2], "b": 'x"\\y'}] * (n // 30)).encode()
    blank = re.sub(rb'"(\\.|[^"\\])*"', lambda m: b" " * len(m[0]), document)
    structure = [m.start() for m in re.finditer(rb"[][{},:]", blank)]
    yield "json_structure", lambda s: s.json_structure(document), structure
    blocks = [lz4.block.compress(text[k : k + 10_000], store_size=False) for k in range(0, len(text), 10_000)]
    sizes = [len(text[k : k + 10_000]) for k in range(0, len(text), 10_000)]
    yield "lz4_decompress", lambda s: b"".join(s.lz4_decompress(blocks, sizes)[0]), text
    letters = np.frombuffer(b"abcd", np.uint8)[rng.integers(0, 4, n)].tobytes()
    words = ["abcda", "dd", "cabbab", "abcdabcdab"]
    automaton = ahocorasick.Automaton()
    for number, each in enumerate(words):
        automaton.add_word(each, (number, len(each)))
    automaton.make_automaton()
    found = sorted((end + 1 - size, end + 1, k) for end, (k, size) in automaton.iter(letters.decode()))
    yield "find", lambda s: s.find([each.encode() for each in words], letters).tolist(), found
    spans = [m.span() for m in re.finditer(rb"ab+c?", letters)]
    yield "regex", lambda s: s.matched(rb"ab+c?", letters), spans


def randoms(rng, n):
    randomgen = pytest.importorskip("randomgen")
    key, number = np.array([1, 2], np.uint32), 1 | 2 << 32
    counters = np.zeros((n // 4 + 1, 4), np.uint32)
    counters[:, 0] = np.arange(len(counters))
    # randomgen counts on before it makes words: it begins one counter before ours.
    wanted = words_of(randomgen.Philox(counter=2**128 - 1, key=number, number=4, width=32), n)
    yield "philox4x32_10", lambda s: s.philox4x32_10(counters, key).reshape(-1)[:n], wanted
    yield "random_u32", lambda s: s.random_u32(n, number), wanted
    pairs = np.zeros((n // 2 + 1, 2), np.uint32)
    pairs[:, 0] = np.arange(len(pairs))
    wanted = words_of(randomgen.ThreeFry(counter=2**64 - 1, key=number, number=2, width=32), n)
    yield "threefry2x32_20", lambda s: s.threefry2x32_20(pairs, key).reshape(-1)[:n], wanted


def words_of(generator, n):
    return np.random.Generator(generator).integers(0, 2**32, n, dtype=np.uint32)


def alignments(rng, n):
    parasail, rapidfuzz = (pytest.importorskip(name) for name in ("parasail", "rapidfuzz.distance"))
    a, b = (np.frombuffer(b"ACGT", np.uint8)[rng.integers(0, 4, size)].tobytes() for size in (n // 700, 700))
    yield "edit_distance", lambda s: s.edit_distance(a, b), rapidfuzz.Levenshtein.distance(a, b)
    costs = parasail.matrix_create("ACGT", 2, -1)
    score = parasail.sw_scan_sat(a.decode(), b.decode(), 1, 1, costs).score
    yield "smith_waterman", lambda s: s.smith_waterman(a, b), score


def graphs(rng, n):
    vertices = n // 8
    degrees = np.bincount(rng.integers(0, vertices, n), minlength=vertices)
    offsets = np.concatenate([[0], np.cumsum(degrees)]).astype(np.uint32)
    targets = rng.integers(0, vertices, n, dtype=np.uint32)
    matrix = csr_matrix((np.ones(n, np.int8), targets, offsets), shape=(vertices, vertices))
    far = shortest_path(matrix, unweighted=True, indices=0)
    levels = np.where(np.isfinite(far), far, 2**32 - 1).astype(np.uint32)
    _, labels = connected_components(matrix, directed=False)
    least = np.full(labels.max() + 1, vertices, np.uint32)
    np.minimum.at(least, labels, np.arange(vertices, dtype=np.uint32))
    yield "bfs", lambda s: s.bfs(offsets, targets, 0), levels
    yield "reachable", lambda s: s.reachable(offsets, targets, 0), np.isfinite(far)
    yield "components", lambda s: s.components(offsets, targets), least[labels]
    yield "pagerank", lambda s: s.pagerank(offsets, targets, 3), ranks_of(degrees.astype(np.uint64), targets, 3)


def ranks_of(degrees, targets, rounds):
    """PageRank by its definition, in numpy's integers."""
    n, damping = np.uint64(len(degrees)), np.uint64(int(0.85 * 2**32))
    ranks = np.full(len(degrees), (2**32 - 1) // len(degrees), np.uint64)
    for _ in range(rounds):
        sums = np.zeros(len(degrees), np.uint64)
        np.add.at(sums, targets, np.repeat(ranks // np.maximum(degrees, 1), degrees.astype(np.int64)))
        sums += ranks[degrees == 0].sum() // n
        ranks = (np.uint64(2**32) - damping) // n + (damping * sums >> np.uint64(32))
    return ranks.astype(np.uint32)


FAMILIES = [reductions, selections, hashes, hashes_of_other_packages, texts, graphs, randoms, alignments]


class Library:
    """The calls of vyre.std at one place."""

    def __init__(self, target):
        self.target = target

    def __getattr__(self, name):
        return lambda *args, **kwargs: getattr(std, name)(*args, **kwargs, **self.target)

    def matched(self, pattern, data):
        return std.regex(pattern).find(data, **self.target).tolist()


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_a_million_elements_or_bytes(family, target, rng):
    n = 10_007 if target["backend"] == "reference" else 1_000_003
    for name, call, wanted in family(rng, n):
        found = call(Library(target))
        if isinstance(wanted, (bytes, bool, list)) and not isinstance(found, np.ndarray):
            assert found == wanted, name
        elif isinstance(wanted, tuple):
            for one, other in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(one, other, name)
        else:
            np.testing.assert_array_equal(found, wanted, name)
