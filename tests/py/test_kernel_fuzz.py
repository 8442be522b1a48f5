"""Random kernels give what Python gives when it runs the same source on integers."""

import linecache
import random

import numpy as np
import pytest

import vyre
from kernel_source import LENGTH, Source, by_python

BACKENDS = [name for name in vyre.backends() if name in ("reference", "cpu")]


def compile_source(text: str, name: str) -> dict[str, object]:
    """The globals of the source, with lines that Python's tools find, as in a notebook's cell."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    made: dict[str, object] = {"__name__": name}
    exec(compile(text, name, "exec"), made)
    return made


def compare(seed: int, backends=BACKENDS) -> None:
    text = Source(seed).text
    rng = random.Random(seed)
    edges = [0, 1, 2, 31, 32, 255, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]
    a, b, acc = ([rng.choice([*edges, rng.randrange(2**32)]) for _ in range(LENGTH)] for _ in range(3))
    s = rng.randrange(2**32)
    wanted = by_python(compile_source(text, f"<kernel {seed} for Python>"), a, b, s, acc)
    kernel = vyre.kernel(compile_source(text, f"<kernel {seed}>")["k"])
    for backend in backends:
        changed = np.array(acc, np.uint32)
        out, _ = kernel(np.array(a, np.uint32), np.array(b, np.uint32), s, acc=changed, backend=backend)
        assert (out.tolist(), changed.tolist()) == wanted, f"seed {seed} on {backend}:\n{text}"


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_random_kernels_give_what_python_gives(first):
    for seed in range(first, first + 50):
        compare(seed)


@pytest.mark.slow
def test_ten_thousand_random_kernels_give_what_python_gives():
    first = random.SystemRandom().randrange(2**40)
    print(f"first seed {first}")
    for seed in range(first, first + 10_000):
        compare(seed)
