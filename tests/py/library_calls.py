"""The table of the library's calls: what each gives by another's hand, and what tests try it with.

A new call of `vyre.std` takes a row of ROWS, and a test of its own. The tests of all calls in
`tests/py/std` read the table: results at a few hundred and at a million elements, checked execution,
arrays of other libraries and of devices, steps of procedures, texts, limits, and swapped arguments.
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
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import blake3
import lz4.block
import mmh3
import numpy as np
import xxhash
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import library_models as models
import vyre
from library_models import drawn
from vyre import std

if TYPE_CHECKING:
    from collections.abc import Callable

CPU = {"backend": "cpu"}
KEY = bytes(range(32))
TYPES = (np.uint32, np.int32, np.uint64, np.uint8, np.int16)


class Data:
    """What rows give their calls: `n` elements, of every type and option or of one."""

    def __init__(self, n: int, rng: np.random.Generator, *, every: bool) -> None:
        self.n, self.rng, self.every = n, rng, every
        self.keys = [drawn(rng, dtype, n) for dtype in (TYPES if every else TYPES[:1])]
        self.numbers = self.keys[:3]
        self.u32 = self.keys[0]
        self.few = [x % 50 for x in self.keys]
        self.pairs = self.few[0][: n // 2 * 2].reshape(-1, 2) % 9
        self.mask = self.u32 % 3 == 0
        self.ks = 5, n // 20, n // 2
        self.index = self.u32 % np.uint32(n)
        self.cuts = np.array([0, 0, n // 3, n // 3, n - 1, n], np.uint32)
        self.asked = [*itertools.product((False, True), repeat=3)] if every else [(True,) * 3]
        self.hmacs = ["md5", "sha1", "sha256", "sha512", "sha3_256"] if every else ["sha256"]
        self.pbkdf2 = ["sha1", "sha256", "sha512"] if every else ["sha256"]
        self.operators = list(models.NUMPY) if every else ["xor"]
        self.bytes = rng.bytes(n)
        lengths = [0, 1, 3, 55, 64, 65, 130, 200]
        ends = lengths if every else np.sort(rng.integers(0, n, n // 100 + 1)).tolist()
        begins = [0] * len(lengths) if every else [0, *ends[:-1]]
        self.many = [self.bytes[a:b] for a, b in zip(begins, ends, strict=True)]
        self.starts = [rng.bytes(16) for _ in self.many]
        self.letters = np.frombuffer(b"abcd", np.uint8)[self.u32 % 4].tobytes()
        self.text = ("Grüße aus 世界! 🎈 " * (n // 20)).encode()
        self.document = json.dumps([{"a": [1, 2], "b": 'x"\\y'}] * (n // 30)).encode()
        parts = range(0, len(self.text), 10_000)
        self.parts = [self.text[k : k + 10_000] for k in parts]

    @cached_property
    def matrices(self):
        side = int(self.n**0.5)
        return [x[: side * (self.n // side)].reshape(side, -1) for x in self.keys]

    @cached_property
    def factors(self):
        side = int(self.n ** (1 / 3))
        shapes = (2 * side, 3 * side), (3 * side, 2 * side)
        return [drawn(self.rng, np.uint32, shape) for shape in shapes]

    @cached_property
    def halves(self):
        """Pairs of sorted arrays with many numbers in common."""
        halves = []
        for x in self.keys:
            small = x % min(self.n, np.iinfo(x.dtype).max)
            halves.append((np.sort(small[: self.n // 2]), np.sort(small[self.n // 2 :])))
        return halves

    @cached_property
    def strings(self):
        n = min(self.n // 8, 700)
        return self.letters[: max(self.n // 700, 70)], self.letters[-n:]

    @cached_property
    def counters(self):
        return np.arange(4 * (self.n // 4), dtype=np.uint32)

    @cached_property
    def graph(self):
        """Offsets and targets: vertices with 3 edges on average, and some without."""
        vertices = self.n // 3
        sources = np.sort(self.rng.integers(0, vertices, self.n))
        offsets = np.searchsorted(sources, np.arange(vertices + 1)).astype(np.uint32)
        return offsets, self.rng.integers(0, vertices, self.n, dtype=np.uint32)


SMALL = Data(700, np.random.default_rng(20), every=True)


# Arguments at their limits: no one reads these resident arrays, so their pages do not come to be.

BYTES = 2**32 - 16  # of one array, on a device whose arrays have 4 GiB


def some(*shape, dtype=np.uint32):
    return vyre.empty(shape, dtype, backend="cpu")


def octets(count=BYTES):
    return some(count, dtype=np.uint8)


def words(dtype=np.uint32):
    return some(BYTES // np.dtype(dtype).itemsize, dtype=dtype)


def messages(size=BYTES - 16):
    """As many of this size as fit into an array."""
    offsets = np.arange(0, BYTES, size, dtype=np.uint64).astype(np.uint32)
    return std.Messages(octets(), offsets)


@dataclass(frozen=True)
class Step:
    """A call that is a step of a procedure, and gives arrays for arrays.

    Args:
        how: says how its result with numpy's arrays differs: "one" is a number, "counted" has the
            elements that the last result counts, and "last" has a number as its second result.
    """

    call: Callable[..., Any]
    arrays: tuple[np.ndarray, ...]
    how: str = ""


@dataclass(frozen=True)
class Number:
    """An argument with a least and a greatest value, and what the call gives for both.

    The call is not run for a result that is None.
    """

    least: int
    greatest: int
    call: Callable[[int], Any]
    results: tuple[Any, Any] = (None, None)


@dataclass(frozen=True)
class Row:
    """A call of the library.

    Args:
        call: calls it with some data, and gives one result or a list of them.
        model: what `call` gives, by numpy, scipy, Python or another package.
        text: a call whose procedures are reviewed as text in golden/std; one call of a kind has it.
        largest: calls at their limits, which are made without running.
        steps: calls in the body of a procedure, and with resident arrays.
        numbers: by argument, what has a least and a greatest value.
        swapped: the names of the first two arguments, arguments, and the result as lists.
    """

    call: Callable[[Any, Data], Any]
    model: Callable[[Data], Any]
    text: Callable[[], Any] | None = None
    largest: dict[str, Callable[[], Any]] = field(default_factory=dict)
    steps: dict[str, Step] = field(default_factory=dict)
    numbers: dict[str, Number] = field(default_factory=dict)
    swapped: list[tuple[tuple[str, str], tuple[Any, ...], Any]] = field(default_factory=list)


X = {dtype.__name__: SMALL.rng.integers(0, 100, 700).astype(dtype) for dtype in TYPES[:4]}
U32, I32, U64 = X["uint32"], X["int32"] - 50, X["uint64"]
MASK = (np.arange(700) % 3 == 0).astype(np.uint8)
ASCENDING = np.unique(U32)
INDEX = SMALL.rng.integers(0, 800, 300).astype(np.uint32)
CUTS = np.array([0, 0, 5, 300, 700], np.uint32)
MATRIX = SMALL.rng.integers(0, 1000, (37, 20)).astype(np.int32)
FEW = np.array([3, 1, 2], np.uint32)
BLOCK = lz4.block.compress(b"a" * 100, store_size=False)
LONG = b"abc" * 5000
RING = np.array([0, 1, 2, 2], np.uint32), np.array([1, 2], np.uint32)
SCORES = 2**31
STRINGS = [SMALL.letters[:length] for length in (1, 8, 33, 70)]
WORDS = [b"abcda", b"dd", b"cabbab", b"abcdabcdab"]
DIGESTS = "md5 sha1 sha224 sha384 sha512 sha3_224 sha3_384 sha3_512 blake2s".split()


def aes(key, counter_block, data):
    return Cipher(algorithms.AES(key), modes.CTR(counter_block)).encryptor().update(data)


def chacha(counter, data, nonce=bytes(12)):
    """OpenSSL's, from a block on."""
    algorithm = algorithms.ChaCha20(KEY, counter.to_bytes(4, "little") + nonce)
    return Cipher(algorithm, None).encryptor().update(data)


def of_function(name, **columns):
    """A reduction that numpy has by the same name."""
    return Row(
        lambda s, d: [getattr(s, name)(x % 97) for x in d.numbers],
        lambda d: [getattr(np, name)(x % 97) for x in d.numbers],
        largest={"": lambda: getattr(std, name)(words())},
        steps={"": Step(getattr(std, name), (I32,), "one")},
        **columns,
    )


def of_set(name, text=None):
    return Row(
        lambda s, d: [getattr(s, name)(a, b) for a, b in d.halves],
        lambda d: [getattr(np, name)(a, b) for a, b in d.halves],
        text,
        largest={"": lambda: getattr(std, name)(words()[: 2**29], words()[: 2**29])},
        steps={"": Step(getattr(std, name), (ASCENDING, ASCENDING[::3].copy()), "counted")},
    )


def of_numpy(name, cases, steps, largest, **columns):
    """A call that numpy has by the same name, with these arguments behind the array."""

    def called(module, d):
        given = [*d.keys, d.matrices[0], *([d.mask] if name != "clip" else [])]
        return [getattr(module, name)(x, *case) for x in given for case in cases]

    call = getattr(std, name)
    return Row(
        called,
        lambda d: called(np, d),
        largest={"": lambda: call(words()[: BYTES // 16], *largest)},
        steps={f" {k}": Step(lambda x, more=more: call(x, *more), (x,)) for k, (x, *more) in enumerate(steps)},
        **columns,
    )


def of_hash(name, model, dtype=None, text=None, extra=None, **columns):
    """A hash of one message and of several; digests are bytes where no type of numbers is given."""
    sizes = BYTES - 16, 65536
    largest = {f" {n}": lambda n=n: getattr(std, name)(messages(n)) for n in sizes}
    return Row(
        lambda s, d: [getattr(s, name)(data) for data in (d.bytes, d.many)],
        lambda d: [
            model(d.bytes),
            models.rows(map(model, d.many)) if dtype is None else np.array([*map(model, d.many)], dtype),
        ],
        (lambda: getattr(std, name)(b"abc")) if text is True else text,
        largest={**largest, **(extra or {})},
        **columns,
    )


def of_digest(name, **columns):
    return of_hash(name, lambda data: hashlib.new(name, data).digest(), **columns)


def of_codec(name, encoded, count, texts=None):
    encode, decode = texts or (None, None)
    return {
        f"{name}_encode": Row(
            lambda s, d: getattr(s, f"{name}_encode")(d.bytes),
            lambda d: encoded(d.bytes),
            encode,
            largest={"": lambda: getattr(std, f"{name}_encode")(octets(BYTES // count))},
        ),
        f"{name}_decode": Row(
            lambda s, d: getattr(s, f"{name}_decode")(encoded(d.bytes)),
            lambda d: d.bytes,
            decode,
            largest={"": lambda: getattr(std, f"{name}_decode")(octets())},
        ),
    }


ROWS: dict[str, Row] = {
    # Reductions and scans.
    **{name: of_function(name) for name in ("min", "max", "argmin")},
    "argmax": of_function("argmax", text=lambda: std.argmax(U32)),
    "any": Row(
        lambda s, d: [s.any(y) for x in d.numbers for y in (x, x & 0)],
        lambda d: [True, False] * len(d.numbers),
        largest={"": lambda: std.any(words())},
        steps={"": Step(std.any, (I32,), "one"), " bool": Step(std.any, (MASK != 0,), "one")},
    ),
    "all": Row(
        lambda s, d: [s.all(y) for x in d.numbers for y in (x | 1, x & 1)],
        lambda d: [True, False] * len(d.numbers),
        largest={"": lambda: std.all(words())},
        steps={"": Step(std.all, (I32,), "one")},
    ),
    "sum": Row(
        lambda s, d: [s.sum(x) for x in d.numbers] + [s.sum(d.u32, np.uint64)],
        lambda d: [x.sum(dtype=x.dtype) for x in d.numbers] + [d.u32.sum(dtype=np.uint64)],
        lambda: std.sum(U32),
        largest={"": lambda: std.sum(words())},
        steps={
            "": Step(std.sum, (I32,), "one"),
            " wide": Step(lambda x: std.sum(x, np.uint64), (U32,), "one"),
        },
    ),
    "reduce": Row(
        lambda s, d: [s.reduce(x, op) for op in d.operators for x in d.numbers],
        lambda d: [models.operated(op, x) for op in d.operators for x in d.numbers],
        largest={"": lambda: std.reduce(words(), "xor")},
        steps={"": Step(lambda x: std.reduce(x, "xor"), (U64,), "one")},
        swapped=[(("x", "op"), (FEW, "add"), 6)],
    ),
    "cumsum": Row(
        lambda s, d: [s.cumsum(x) for x in d.numbers],
        lambda d: [x.cumsum(dtype=x.dtype) for x in d.numbers],
        lambda: std.cumsum(U32),
        largest={
            "": lambda: std.cumsum(words()),
            " of u64": lambda: std.cumsum(words(np.uint64)),
        },
        steps={f" {x.dtype}": Step(std.cumsum, (x,)) for x in (U32, I32, U64)},
    ),
    "scan": Row(
        lambda s, d: [s.scan(x, op, way) for op in d.operators for x in d.numbers for way in (False, True)],
        lambda d: [models.accumulated(op, x, way) for op in d.operators for x in d.numbers for way in (False, True)],
        largest={"": lambda: std.scan(words(np.int32), "max", inclusive=False)},
        steps={"": Step(lambda x: std.scan(x, "max", inclusive=False), (U32,))},
        swapped=[(("x", "op"), (FEW, "add"), [3, 4, 6])],
    ),
    "segmented_reduce": Row(
        lambda s, d: [s.segmented_reduce(x, d.cuts, op) for op in d.operators for x in d.numbers],
        lambda d: [models.segments_operated(x, d.cuts, op) for op in d.operators for x in d.numbers],
        lambda: std.segmented_reduce(U32, CUTS, "add"),
        largest={"": lambda: std.segmented_reduce(words(), some(2**20), "add")},
        steps={"": Step(lambda x, at: std.segmented_reduce(x, at, "add"), (I32, CUTS))},
    ),
    "segmented_scan": Row(
        lambda s, d: [s.segmented_scan(x, d.cuts, op) for op in d.operators for x in d.numbers],
        lambda d: [models.segments_accumulated(x, d.cuts, op) for op in d.operators for x in d.numbers],
        largest={"": lambda: std.segmented_scan(words(), some(2**20), "add")},
        steps={"": Step(lambda x, at: std.segmented_scan(x, at, "max"), (U32, CUTS))},
    ),
    # Matrices.
    "transpose": Row(
        lambda s, d: [s.transpose(x) for x in d.matrices],
        lambda d: [x.T for x in d.matrices],
        lambda: std.transpose(MATRIX),
        largest={"": lambda: std.transpose(some(2**15, 2**15))},
        steps={
            "": Step(std.transpose, (MATRIX,)),
            " bytes": Step(std.transpose, (MATRIX.astype(np.uint8),)),
        },
    ),
    "matmul": Row(
        lambda s, d: s.matmul(*d.factors),
        lambda d: d.factors[0] @ d.factors[1],
        lambda: std.matmul(U32[:40].reshape(5, 8), U32[:40].reshape(8, 5)),
        largest={"": lambda: std.matmul(some(2**10, 2**20), some(2**20, 2**10))},
        steps={"": Step(std.matmul, (MATRIX.astype(np.uint32), MATRIX.T.astype(np.uint32)))},
    ),
    # Order, selection and sets.
    "sort": Row(
        lambda s, d: [s.sort(x) for x in d.keys] + [s.sort(d.u32[:2]), s.sort(d.u32, descending=True)],
        lambda d: [*map(np.sort, d.keys), np.sort(d.u32[:2]), np.sort(d.u32)[::-1]],
        largest={"": lambda: std.sort(words()), " of u64": lambda: std.sort(words(np.uint64))},
        steps={
            **{f" {x.dtype}": Step(std.sort, (x,)) for x in X.values()},
            " down": Step(lambda x: std.sort(x, descending=True), (I32,)),
        },
    ),
    "argsort": Row(
        lambda s, d: [s.argsort(x) for x in d.few] + [s.argsort(d.few[0][:3], descending=True)],
        lambda d: [*map(models.order_of, d.few), models.order_of(d.few[0][:3], True)],
        lambda: std.argsort(I32),
        largest={"": lambda: std.argsort(words())},
        steps={"": Step(std.argsort, (I32,))},
    ),
    "sort_pairs": Row(
        lambda s, d: [s.sort_pairs(x, d.u32) for x in d.few],
        lambda d: [(x[at], d.u32[at]) for x in d.few for at in [models.order_of(x)]],
        largest={"": lambda: std.sort_pairs(words(), words())},
        steps={"": Step(std.sort_pairs, (I32, X["int32"]))},
    ),
    "topk": Row(
        lambda s, d: [s.topk(x, k) for x in d.few for k in d.ks],
        lambda d: [(x[at[:k]], at[:k]) for x in d.few for at in [models.order_of(x, True)] for k in d.ks],
        lambda: std.topk(U32, 3),
        largest={
            "": lambda: std.topk(words(), 100),
            " of many": lambda: std.topk(words(), 2**29),
        },
        steps={"": Step(lambda x: std.topk(x, 10), (I32,))},
        numbers={"k": Number(0, 2**32 - 1, lambda n: std.topk(FEW, n, **CPU)[0], ([], None))},
        swapped=[(("x", "k"), (FEW, 2), ([3, 2], [0, 2]))],
    ),
    # Elements along axes, and one by one.
    "concatenate": Row(
        lambda s, d: [s.concatenate([x, x[:3], x[:0], x, x]) for x in (*d.keys, d.matrices[0], d.mask)],
        lambda d: [np.concatenate([x, x[:3], x, x]) for x in (*d.keys, d.matrices[0], d.mask)],
        largest={"": lambda: std.concatenate([words()[: 2**29], words()[: 2**29]])},
        steps={
            "": Step(lambda a, b: std.concatenate([a, b, a]), (U32, FEW)),
            " one": Step(lambda a: std.concatenate([a], axis=-1), (MATRIX,)),
            " columns": Step(lambda a, b: std.concatenate([a, b], axis=1), (MATRIX, MATRIX[:, :3])),
        },
    ),
    "diff": of_numpy(
        "diff",
        [(), (2,), (1, 0)],
        [(I32,), (MATRIX, 3, 0), (MASK != 0,), (FEW, 5)],
        (),
        numbers={"n": Number(0, 1000, lambda n: std.diff(FEW, n, **CPU), (FEW, []))},
    ),
    "flip": of_numpy("flip", [(), (0,), (-1,)], [(U64,), (MATRIX, 1)], ()),
    "repeat": of_numpy(
        "repeat",
        [(2,), (3, 0), (0,)],
        [(U32, 3), (MATRIX, 2), (MATRIX, 2, -1)],
        (15,),
        numbers={"repeats": Number(0, 2**32 - 1, lambda n: std.repeat(FEW, n, **CPU), ([], None))},
    ),
    "roll": of_numpy(
        "roll",
        [(3,), (-5, 0), (10**20, -1)],
        [(U32, 705), (MATRIX, -3), (MATRIX, 50, 1)],
        (5,),
        text=lambda: std.roll(MATRIX, 1, 0),
    ),
    "clip": of_numpy("clip", [(3, 40), (50, 7), (None, 9)], [(I32, -7, 20), (MATRIX, 5)], (3, 40)),
    "where": Row(
        lambda s, d: [s.where(d.mask, x, y) for x in d.keys for y in (x[::-1], 7)],
        lambda d: [np.where(d.mask, x, y) for x in d.keys for y in (x[::-1], x.dtype.type(7))],
        lambda: std.where(MASK, U32, 5),
        largest={"": lambda: std.where(words(), words(), words())},
        steps={
            "": Step(lambda mask, x: std.where(mask, -3, x), (MASK != 0, I32)),
            " rows": Step(lambda x, y: std.where(x, x, y), (MATRIX, MATRIX[::-1])),
        },
    ),
    "compact": Row(
        lambda s, d: [s.compact(x, d.mask[: len(x)]) for x in (*d.keys, d.mask, d.matrices[0])],
        lambda d: [x[d.mask[: len(x)]] for x in (*d.keys, d.mask, d.matrices[0])],
        lambda: std.compact(U32, MASK),
        largest={
            "": lambda: std.compact(words(), octets(2**30 - 4)),
            " of rows": lambda: std.compact(some(2**20, 2**8), octets(2**20)),
        },
        steps={
            "": Step(std.compact, (I32, MASK), "counted"),
            " of rows": Step(std.compact, (MATRIX, MASK[:37]), "counted"),
        },
        swapped=[(("x", "mask"), (FEW, FEW > 1), [3, 2])],
    ),
    "nonzero": Row(
        lambda s, d: [s.nonzero(d.mask.astype(kind)) for kind in (bool, np.uint8, np.uint32)],
        lambda d: [np.flatnonzero(d.mask)] * 3,
        largest={"": lambda: std.nonzero(octets())},
        steps={
            "": Step(std.nonzero, (MASK,), "counted"),
            " bool": Step(std.nonzero, (MASK != 0,), "counted"),
        },
    ),
    "partition": Row(
        lambda s, d: [s.partition(x, d.mask) for x in d.keys],
        lambda d: [models.partitioned(x, d.mask) for x in d.keys],
        largest={"": lambda: std.partition(words(), octets(2**30 - 4))},
        steps={"": Step(std.partition, (U32, MASK), "last")},
        swapped=[(("x", "mask"), (FEW, FEW > 1), ([3, 2, 1], 2))],
    ),
    "unique": Row(
        lambda s, d: [s.unique(x, *asked) for x in d.few for asked in d.asked] + [s.unique(d.pairs, axis=0)],
        lambda d: [np.unique(x, *asked) for x in d.few for asked in d.asked] + [np.unique(d.pairs, axis=0)],
        lambda: std.unique(U32),
        largest={
            "": lambda: std.unique(words()),
            " of rows": lambda: std.unique(some(2**26, 4), axis=0),
        },
        steps={
            "": Step(std.unique, (I32,), "counted"),
            " of rows": Step(lambda x: std.unique(x, axis=0), (MATRIX // 300,), "counted"),
        },
    ),
    "searchsorted": Row(
        lambda s, d: [s.searchsorted(a, b, side) for a, b in d.halves for side in ("left", "right")],
        lambda d: [np.searchsorted(a, b, side) for a, b in d.halves for side in ("left", "right")],
        lambda: std.searchsorted(ASCENDING, U32, "right"),
        largest={"": lambda: std.searchsorted(words(), words())},
        steps={"": Step(lambda a, v: std.searchsorted(a, v, "right"), (ASCENDING, INDEX))},
    ),
    "intersect1d": of_set("intersect1d"),
    "setdiff1d": of_set("setdiff1d"),
    "union1d": of_set("union1d", lambda: std.union1d(ASCENDING, ASCENDING)),
    # Counting and places.
    "bincount": Row(
        lambda s, d: s.bincount(d.few[0]),
        lambda d: np.bincount(d.few[0]),
        largest={"": lambda: std.bincount(words())},
        numbers={
            "minlength": Number(0, 2**32 - 1, lambda n: std.bincount(FEW, minlength=n, **CPU), ([0, 1, 1, 1], None))
        },
    ),
    "histogram": Row(
        lambda s, d: [s.histogram(x, 8, 0, 40) for x in d.few] + [s.histogram(d.u32, 256)],
        lambda d: [np.histogram(x, 8, (0, 39.9))[0] for x in d.few] + [np.bincount(d.u32 >> 24, minlength=256)],
        lambda: std.histogram(I32, 8, 0, 40),
        largest={
            "": lambda: std.histogram(words(), 256),
            " of 65,536": lambda: std.histogram(words(), 65536),
        },
        steps={"": Step(lambda x: std.histogram(x, 16, -50, 50), (I32,))},
        numbers={
            "lo": Number(0, 2**32 - 1, lambda n: std.histogram(FEW, 1, n, 2**32, **CPU), ([3], [0])),
            "bins": Number(1, 2**32 - 1, lambda n: std.histogram(FEW, n, **CPU), ([3], None)),
        },
        swapped=[(("x", "bins"), (FEW, 2, 1, 5), [2, 1])],
    ),
    "gather": Row(
        lambda s, d: [s.gather(x, d.index) for x in d.keys],
        lambda d: [x[d.index] for x in d.keys],
        lambda: std.gather(U32, U32),
        largest={"": lambda: std.gather(words(), words())},
        steps={"": Step(std.gather, (I32, INDEX))},
    ),
    "scatter": Row(
        lambda s, d: [s.scatter(np.zeros_like(x), d.index, x) for x in d.keys],
        lambda d: [models.scattered(np.zeros_like(x), d.index, x) for x in d.keys],
        lambda: std.scatter(U32.copy(), U32, U32),
        largest={"": lambda: std.scatter(words(), words(), words())},
    ),
    "scatter_add": Row(
        lambda s, d: [s.scatter_add(x, d.index, x) for x in d.numbers],
        lambda d: [models.scatter_added(x.copy(), d.index, x) for x in d.numbers],
        lambda: std.scatter_add(U32.copy(), U32, U32),
        largest={"": lambda: std.scatter_add(words(), words(), words())},
    ),
    # Hashes and checksums.
    **{name: of_digest(name) for name in DIGESTS},
    "sha256": of_digest("sha256", text=True),
    "sha3_256": of_digest("sha3_256", text=True),
    "blake2b": of_digest(
        "blake2b",
        text=True,
        numbers={
            "digest_size": Number(
                1,
                64,
                lambda n: std.blake2b(b"", n, **CPU),
                (hashlib.blake2b(digest_size=1).digest(), hashlib.blake2b().digest()),
            )
        },
    ),
    "blake3": of_hash(
        "blake3",
        lambda data: blake3.blake3(data).digest(),
        text=lambda: std.blake3(LONG),
        extra={
            " of one": lambda: std.blake3(octets()),
            " of 64 bytes": lambda: std.blake3(std.Messages(octets(2**26), np.arange(0, 2**26, 64, dtype=np.uint32))),
        },
        numbers={"length": Number(0, 2**32 - 1, lambda n: std.blake3(b"", n, **CPU), (b"", None))},
    ),
    "crc32": of_hash(
        "crc32",
        zlib.crc32,
        np.uint32,
        text=lambda: std.crc32(LONG * 20),
        extra={" of one": lambda: std.crc32(octets())},
        numbers={"value": Number(0, 2**32 - 1, lambda n: std.crc32(b"", n, **CPU), (0, 2**32 - 1))},
    ),
    "crc32c": of_hash("crc32c", models.crc32c, np.uint32),
    "adler32": of_hash(
        "adler32",
        zlib.adler32,
        np.uint32,
        text=True,
        extra={" of one": lambda: std.adler32(octets())},
    ),
    "fnv1a32": of_hash("fnv1a32", lambda data: models.fnv(data, 0x811C9DC5, 0x01000193, 32), np.uint32),
    "fnv1a64": of_hash(
        "fnv1a64",
        lambda data: models.fnv(data, 0xCBF29CE484222325, 0x100000001B3, 64),
        np.uint64,
    ),
    "murmur3_32": of_hash("murmur3_32", lambda data: mmh3.hash(data, signed=False), np.uint32),
    "xxhash32": of_hash("xxhash32", xxhash.xxh32_intdigest, np.uint32),
    "xxhash64": of_hash("xxhash64", xxhash.xxh64_intdigest, np.uint64, text=True),
    "siphash24": Row(
        lambda s, d: [s.siphash24(data, KEY[:16]) for data in (d.bytes, d.many)],
        lambda d: [
            models.sip(d.bytes, KEY[:16]),
            np.array([models.sip(each, KEY[:16]) for each in d.many], np.uint64),
        ],
        lambda: std.siphash24(b"abc", b"k" * 16),
        largest={f" {n}": lambda n=n: std.siphash24(messages(n), KEY[:16]) for n in (BYTES - 16, 65536)},
    ),
    "hmac": Row(
        lambda s, d: [s.hmac(KEY, d.many, name) for name in d.hmacs],
        lambda d: [models.rows(hmac.digest(KEY, each, name) for each in d.many) for name in d.hmacs],
        lambda: std.hmac(b"k", b"abc"),
        largest={"": lambda: std.hmac(KEY, messages())},
    ),
    "pbkdf2_hmac": Row(
        lambda s, d: [s.pbkdf2_hmac(name, d.many[1:9], b"salt", 20) for name in d.pbkdf2],
        lambda d: [
            models.rows(hashlib.pbkdf2_hmac(name, each, b"salt", 20) for each in d.many[1:9]) for name in d.pbkdf2
        ],
        lambda: std.pbkdf2_hmac("sha256", b"p", b"s", 2),
        largest={"": lambda: std.pbkdf2_hmac("sha256", b"p", b"s", 2**20)},
    ),
    # Ciphers and random numbers.
    "aes_ctr": Row(
        lambda s, d: [
            *(s.aes_ctr(KEY[:size], bytes(16), d.bytes) for size in (16, 32)),
            s.aes_ctr(KEY, d.starts, d.many),
        ],
        lambda d: [
            *(aes(KEY[:size], bytes(16), d.bytes) for size in (16, 32)),
            [aes(KEY, *each) for each in zip(d.starts, d.many, strict=True)],
        ],
        lambda: std.aes_ctr(b"k" * 16, b"k" * 16, b"abc"),
        largest={"": lambda: std.aes_ctr(KEY, KEY[:16], octets())},
    ),
    "chacha20": Row(
        lambda s, d: [
            s.chacha20(KEY, bytes(12), d.bytes),
            s.chacha20(KEY, [each[:12] for each in d.starts], d.many),
        ],
        lambda d: [
            chacha(0, d.bytes),
            [chacha(0, each, start[:12]) for start, each in zip(d.starts, d.many, strict=True)],
        ],
        lambda: std.chacha20(b"k" * 32, b"k" * 12, b"abc"),
        largest={"": lambda: std.chacha20(KEY, KEY[:12], octets())},
        numbers={
            "counter": Number(
                0,
                2**32 - 1,
                lambda n: std.chacha20(KEY, bytes(12), b"data", n, **CPU),
                (chacha(0, b"data"), chacha(2**32 - 1, b"data")),
            )
        },
    ),
    "philox4x32_10": Row(
        lambda s, d: s.philox4x32_10(d.counters.reshape(-1, 4), FEW[:2]),
        lambda d: models.philox(d.counters.reshape(-1, 4), FEW[:2]),
        lambda: std.philox4x32_10(U32[:40].reshape(10, 4), U32[:2]),
        largest={"": lambda: std.philox4x32_10(some(2**28, 4), np.zeros(2, np.uint32))},
        steps={"": Step(std.philox4x32_10, (U32.reshape(-1, 4), U32[:2]))},
    ),
    "threefry2x32_20": Row(
        lambda s, d: s.threefry2x32_20(d.counters.reshape(-1, 2), FEW[:2]),
        lambda d: models.threefry(d.counters.reshape(-1, 2), FEW[:2]),
        largest={"": lambda: std.threefry2x32_20(some(2**29, 2), np.zeros(2, np.uint32))},
    ),
    "random_u32": Row(
        lambda s, d: s.random_u32(d.n, 7 | 5 << 32),
        lambda d: models.random_words(d.n, 7 | 5 << 32),
        lambda: std.random_u32(10, 3),
        largest={"": lambda: std.random_u32(1000, 3, **CPU)},
        numbers={"n": Number(0, 2**32 - 4, lambda n: std.random_u32(n, 1, **CPU), ([], None))},
    ),
    # Codecs and texts.
    **of_codec("hex", binascii.hexlify, 2),
    **of_codec("base32", base64.b32encode, 2),
    **of_codec(
        "base64",
        base64.b64encode,
        2,
        (lambda: std.base64_encode(b"abc"), lambda: std.base64_decode(b"YWJj")),
    ),
    **of_codec(
        "percent",
        lambda data: urllib.parse.quote_from_bytes(data, safe="").encode(),
        3,
        (None, lambda: std.percent_decode(b"a%20b")),
    ),
    "utf8_count": Row(
        lambda s, d: [s.utf8_count(d.text), s.utf8_count([b"", d.text, d.text[:-2]])],
        lambda d: [len(d.text.decode()), ([0, len(d.text.decode()), 0], [0, 0, len(d.text) - 4])],
        lambda: std.utf8_count(b"abc"),
        largest={"": lambda: std.utf8_count(octets())},
    ),
    "utf8_validate": Row(
        lambda s, d: [s.utf8_validate(d.text), s.utf8_validate([b"", d.text, d.text[:-2]])],
        lambda d: [True, [True, True, False]],
        largest={"": lambda: std.utf8_validate(octets())},
    ),
    "json_structure": Row(
        lambda s, d: [s.json_structure(d.document), s.json_structure([d.document, b"[1"])],
        lambda d: [
            models.structure(d.document),
            ([models.structure(d.document), [0]], [0, 0]),
        ],
        lambda: std.json_structure(b'{"a":1}'),
        largest={"": lambda: std.json_structure(octets())},
    ),
    "lz4_decompress": Row(
        lambda s, d: s.lz4_decompress(
            [lz4.block.compress(part, store_size=False) for part in d.parts], [*map(len, d.parts)]
        ),
        lambda d: (d.parts, [0] * len(d.parts)),
        lambda: std.lz4_decompress(b"\x30abc", 3),
        largest={"": lambda: std.lz4_decompress(messages(), 2**32 - 8)},
        numbers={"sizes": Number(0, 2**32 - 1, lambda n: std.lz4_decompress(BLOCK, n, **CPU))},
    ),
    # Search.
    "find": Row(
        lambda s, d: s.find(WORDS, d.letters),
        lambda d: models.all_matches(WORDS, d.letters),
        lambda: std.find([b"ab", b"bc"], b"abcabc"),
        largest={
            "": lambda: std.find([b"ab", b"bc"], octets(), limit=2**20),
            " of the longest": lambda: std.find([b"ab" * 32768], octets(), limit=2**20),
        },
        numbers={
            "limit": Number(
                0,
                2**30,
                lambda n: std.find([b"a"], b"banana", n, **CPU).start,
                ([], [1, 3, 5]),
            )
        },
        swapped=[
            (("patterns", "data"), (patterns, data), [(1, 2, 0)])
            for patterns in ([b"b"], std.Patterns([b"b"]))
            for data in (b"abc", np.frombuffer(b"abc", np.uint8))
        ],
    ),
    "regex": Row(
        lambda s, d: s.regex(b"ab+c?").find(d.letters),
        lambda d: [match.span() for match in re.finditer(rb"ab+c?", d.letters)],
        lambda: std.regex(b"ab+").count(b"abbb"),
        largest={
            "": lambda: std.regex(b"ab+").find(octets(), limit=2**20),
            " of most states": lambda: std.regex(b"(a|b)*a(a|b){9}").find(octets(), limit=2**20),
            " earliest": lambda: std.regex(b"ab+").find(octets(), "earliest", limit=2**20),
            " count": lambda: std.regex(b"ab+").count(octets()),
        },
    ),
    "edit_distance": Row(
        lambda s, d: [s.edit_distance(*d.strings), s.edit_distance(STRINGS, STRINGS[::-1])],
        lambda d: [
            models.edit_distance(*d.strings),
            [*map(models.edit_distance, STRINGS, STRINGS[::-1])],
        ],
        lambda: std.edit_distance(LONG, LONG[1:]),
        largest={"": lambda: std.edit_distance(octets(2**24), octets(2**24))},
    ),
    "smith_waterman": Row(
        lambda s, d: [s.smith_waterman(*d.strings), s.smith_waterman(STRINGS, STRINGS[::-1])],
        lambda d: [models.score(*d.strings), [*map(models.score, STRINGS, STRINGS[::-1])]],
        lambda: std.smith_waterman(b"abc", b"abd"),
        largest={"": lambda: std.smith_waterman(octets(2**22), octets(2**22))},
        numbers={
            "match": Number(
                0,
                SCORES - 1,
                lambda n: std.smith_waterman(b"a", b"bab", match=n, **CPU),
                (0, SCORES - 1),
            ),
            "mismatch": Number(
                -SCORES,
                0,
                lambda n: std.smith_waterman(b"aca", b"aba", 2, n, -SCORES, **CPU),
                (2, 4),
            ),
            "gap": Number(
                -SCORES,
                0,
                lambda n: std.smith_waterman(b"aca", b"aa", 2, -SCORES, n, **CPU),
                (2, 4),
            ),
        },
    ),
    # Graphs, whose steps depend on what an earlier one gives: none is made at its limits.
    "bfs": Row(
        lambda s, d: s.bfs(*d.graph, 0),
        lambda d: models.levels(*d.graph),
        lambda: std.bfs(*RING, 0),
    ),
    "reachable": Row(
        lambda s, d: s.reachable(*d.graph, 0),
        lambda d: models.levels(*d.graph) != models.UNREACHED,
    ),
    "components": Row(
        lambda s, d: s.components(*d.graph),
        lambda d: models.components(*d.graph),
        lambda: std.components(*RING),
    ),
    "pagerank": Row(
        lambda s, d: s.pagerank(*d.graph, 3),
        lambda d: models.ranks(*d.graph, 3),
        lambda: std.pagerank(*RING),
    ),
}
