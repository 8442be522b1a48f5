"""Runs families of the library with another workgroup size than theirs and prints their results' bytes.

    python workgroup_sizes.py 64

The modules that name their size LANES get another one before their kernels are made. Each result is compared with
numpy's, or with that of Python, so that the right bytes are known without vyre.
"""

import hashlib
import importlib.util
import itertools
import sys

import numpy as np

import vyre
from vyre import std

CPU = {"backend": "cpu"}
# Modules whose kernels are of one size, first those from which others take theirs.
MODULES = ["_reductions", "_extremes", "_components", "_pagerank", "_filter_kernels", "_find_kernels"]


def resized(size: int) -> None:
    for name in MODULES:
        already = {f"vyre.std.{each}" for each in MODULES} & {*sys.modules}
        path = f"vyre.std.{name}"
        source = importlib.util.find_spec(path)
        assert source is not None
        assert path not in sys.modules, already
        text = source.loader.get_source(path)
        line = next(line for line in text.splitlines() if line.startswith("LANES = "))
        module = importlib.util.module_from_spec(source)
        sys.modules[path] = module
        exec(compile(text.replace(line, f"LANES = {size}"), source.origin, "exec"), module.__dict__)


def results():
    """Names and results, each right."""
    rng = np.random.default_rng(1)

    def same(name, found, wanted):
        found = np.asarray(found)
        np.testing.assert_array_equal(found, wanted, name)
        return name, found

    for n in (1, 31, 300, 5000, 70001):
        x = rng.integers(2**32, size=n, dtype=np.uint32)
        w = rng.integers(2**64, size=n, dtype=np.uint64)
        for op, combine in (("add", np.add), ("max", np.maximum), ("xor", np.bitwise_xor)):
            for each in (x, w):
                yield same(f"reduce {op} {n}", std.reduce(each, op, **CPU), combine.reduce(each, dtype=each.dtype))
                scanned = combine.accumulate(each, dtype=each.dtype)
                yield same(f"scan {op} {n}", std.scan(each, op, **CPU), scanned)
        yield same(f"argmax {n}", std.argmax(x, **CPU), x.argmax())
        for mask in (x % 3 == 0, (x % 7).astype(np.uint32)):
            yield same(f"compact {n}", std.compact(w, mask, **CPU), w[mask != 0])
            yield same(f"nonzero {n}", std.nonzero(mask, **CPU), np.flatnonzero(mask))
            chosen = np.concatenate([x[mask != 0], x[mask == 0]])
            yield same(f"partition {n}", std.partition(x, mask, **CPU)[0], chosen)
        for bins in (16, 256, 1000, 4096):
            y = x % np.uint32(bins)
            yield same(f"bincount {bins} {n}", std.bincount(y, bins, **CPU), np.bincount(y, minlength=bins))
        y = (x >> 24).astype(np.uint8)
        yield same(f"bincount of bytes {n}", std.bincount(y, 256, **CPU), np.bincount(y, minlength=256))
        offsets = np.array([0, n // 3, n // 3, n], np.uint32)
        sums = [x[a:b].sum(dtype=np.uint32) for a, b in itertools.pairwise(offsets)]
        yield same(f"segmented {n}", std.segmented_reduce(x, offsets, "add", **CPU), sums)
        parts = [x[a:b].cumsum(dtype=np.uint32) for a, b in itertools.pairwise(offsets)]
        yield same(f"segmented scan {n}", std.segmented_scan(x, offsets, "add", **CPU), np.concatenate(parts))
        yield same(f"unique {n}", std.unique(x % 1000, **CPU), np.unique(x % 1000))
        yield same(f"sort {n}", std.sort(x, **CPU), np.sort(x))
        text = (x % 3 + 97).astype(np.uint8).tobytes()
        starts = [at for at in range(n) if text.startswith(b"abca", at)]
        yield same(f"find {n}", std.find([b"abca"], text, **CPU)["start"], np.array(starts, np.uint32))
    ring = np.arange(1001, dtype=np.uint32), (np.arange(1000, dtype=np.uint32) + 1) % 1000
    yield same("components", std.components(*ring, **CPU), np.zeros(1000))
    yield "pagerank", std.pagerank(*ring, **CPU)


def main() -> None:
    size = int(sys.argv[1])
    resized(size)
    digest = hashlib.sha256()
    for name, result in results():
        digest.update(name.encode() + result.tobytes())
    from vyre.std import _reductions

    assert _reductions.LANES == size
    assert vyre.std.reduce.__module__ == "vyre.std.reducing"
    print(digest.hexdigest())


if __name__ == "__main__":
    main()
