"""Variables that hold comparisons and choices of integers keep what they mean until they are stored.

Random kernels assign them in branches, loops and helpers, and store them to arrays of several types; Python runs the
same source.
"""

from __future__ import annotations

import os
import random

import numpy as np

import vyre
from kernel_comparison import BACKENDS, LENGTH, Array, by_python, compile_source, kept_sources

KINDS = {"low": "u1", "word": "u32", "byte": "u8", "sign": "i32", "wide": "u64"}
DTYPES = {"u1": np.bool_, "u32": np.uint32, "u8": np.uint8, "i32": np.int32, "u64": np.uint64}
HEAD = """\
import vyre
from vyre import In, Out, u32, i32

def below(v, w):
    if v == w:
        return False
    return v < w

def chosen(v):
    return 3 if v > 4 else 7

def k(x: In[i32], n: In[u32], f: In[vyre.boolean], low: Out[vyre.boolean], word: Out[u32], byte: Out[vyre.u8],
      sign: Out[i32], wide: Out[vyre.u64]):
    i = vyre.gid(0)
"""


class Truths:
    """One random kernel.

    Variables t0.. hold comparisons, b0.. these and elements of `f` as well; s0.., w0.. and d0.. integers for `sign`,
    `word` and `wide`.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._lines = HEAD.splitlines()
        self._loops = 0
        self._names = {kind: [f"{kind}{k}" for k in range(2)] for kind in "tbswd"}
        for kind, names in self._names.items():
            for name in names:
                self._put(1, f"{name} = {self._value(kind, False)}")
        self._block(1, 0)
        for kind, names in self._names.items():
            for name in names:
                self._store(1, kind, name)
        self.text = "\n".join(self._lines) + "\n"

    def _put(self, indent: int, text: str) -> None:
        self._lines.append("    " * indent + text)

    def _comparison(self) -> str:
        r = self._random
        sign, word = f"x[i] {r.choice(['<', '<=', '==', '!='])} {r.randint(-3, 6)}", f"n[i] > {r.randint(0, 6)}"
        return r.choice([sign, sign, word, f"n[i] in (1, {r.randint(2, 6)})", f"below(n[i], {r.randint(1, 6)})"])

    def _value(self, kind: str, reads: bool = True) -> str:
        return self._truth(kind, not reads, reads) if kind in "tb" else self._integer(kind, 0, reads)

    def _truth(self, kind: str, depth: int = 0, reads: bool = True) -> str:
        r = self._random
        names = [*self._names["t"], *(self._names["b"] if kind == "b" else [])]
        leaves = [self._comparison(), *([r.choice(names)] * 2 if reads else []), *(["f[i]"] * 2 if kind == "b" else [])]
        if depth > 2 or r.random() < 0.4:
            return r.choice(leaves)
        left, right = self._truth(kind, depth + 1, reads), self._truth(kind, depth + 1, reads)
        forms = [
            "({0} and {1})",
            "({0} or {1})",
            "(not ({0}))",
            "(({0}) & ({1}))",
            "(({0}) | ({1}))",
            "(({0}) ^ ({1}))",
            "(({0}) == ({1}))",
            "(({0}) != ({1}))",
            "({0} if {2} else {1})",
        ]
        return r.choice(forms).format(left, right, self._comparison())

    def _condition(self) -> str:
        r = self._random
        kind = r.choice("tb")
        return r.choice([self._truth(kind, 1), self._truth(kind, 1), "f[i]", f"not {r.choice(self._names[kind])}"])

    def _integer(self, kind: str, depth: int = 0, reads: bool = True) -> str:
        r = self._random
        if depth < 2 and r.random() < 0.6:
            yes, no = self._integer(kind, depth + 1, False), self._integer(kind, depth + 1, False)
            return f"({yes} if {self._condition() if reads else self._comparison()} else {no})"
        if reads and r.random() < 0.2:
            return r.choice(self._names[kind])
        if depth == 0 and r.random() < 0.3:
            return r.choice(["chosen(n[i])", {"s": "x[i]", "w": "n[i]"}.get(kind, "chosen(n[i])")])
        return str(r.choice([0, 1, 2, 200, *([-1, -5] if kind == "s" else []), *([2**31] if kind == "d" else [])]))

    def _store(self, indent: int, kind: str, name: str) -> None:
        r = self._random
        if kind == "b":
            form = "low[i] = {0}"
        elif kind == "t":
            form = r.choice(["low[i] = {0}", "low[i] = {0}", "word[i] = {0}", "byte[i] = {0}", "word[i] = {0} + 1"])
        else:
            form = {"s": "sign[i] = {0}", "w": r.choice(["word[i] = {0}", "byte[i] = {0}"]), "d": "wide[i] = {0}"}[kind]
        self._put(indent, form.format(name))

    def _block(self, indent: int, depth: int) -> None:
        for _ in range(self._random.randint(1, 4) + 2 * (depth == 0)):
            self._statement(indent, depth)

    def _statement(self, indent: int, depth: int) -> None:
        r = self._random
        kind = r.choice("ttbbtbswd")
        form = r.choice(
            ["assign"] * 4 + ["store"] * 2 + ["find"] + (["if"] * 2 + ["for", "while"] if depth < 3 else [])
        )
        if form == "assign":
            self._put(indent, f"{r.choice(self._names[kind])} = {self._value(kind)}")
        elif form == "find":
            self._put(indent, f"if {self._condition()}:")
            name = r.choice(self._names[r.choice("tb")])
            self._put(indent + 1, f"{name} = {r.choice(['True', 'False', f'not {name}'])}")
        elif form == "store":
            self._store(indent, kind, r.choice(self._names[kind]))
        elif form == "if":
            self._put(indent, f"if {self._condition()}:")
            self._block(indent + 1, depth + 1)
            if r.random() < 0.5:
                self._put(indent, "else:")
                self._block(indent + 1, depth + 1)
        elif form == "for":
            self._put(indent, f"for k{depth} in range({r.choice(['3', 'n[i] & 3'])}):")
            self._block(indent + 1, depth + 1)
        else:
            self._loops += 1
            count = f"turns{self._loops}"
            self._put(indent, f"{count} = 0")
            self._put(indent, f"while {self._condition()} and {count} < 3:")
            self._put(indent + 1, f"{count} += 1")
            self._block(indent + 1, depth + 1)


def test_random_kernels_give_what_python_gives():
    first = int(os.environ.get("VYRE_SEED", 0)) or random.SystemRandom().randrange(2**40)
    print(f"VYRE_SEED={first}")
    for seed in range(first, first + 40):
        text = Truths(seed).text
        r = random.Random(seed)
        given = {
            "x": Array((LENGTH,), "i32", [r.randint(-5, 8) for _ in range(LENGTH)]),
            "n": Array((LENGTH,), "u32", [r.randint(0, 8) for _ in range(LENGTH)]),
            "f": Array((LENGTH,), "u1", [r.randint(0, 1) for _ in range(LENGTH)]),
            **{name: Array((LENGTH,), kind) for name, kind in KINDS.items()},
        }
        arrays = {name: np.array(each.data, DTYPES[each.kind]) for name, each in given.items()}
        wanted = by_python(text, given)
        with kept_sources():
            kernel = vyre.kernel(compile_source(text, f"<truths {seed}>")["k"])
            for backend in BACKENDS:
                out = {name: arrays[name].copy() for name in KINDS}
                try:
                    kernel(**{**arrays, **out}, backend=backend)
                except Exception as error:
                    raise AssertionError(f"seed {seed} on {backend}:\n{text}") from error
                for name in KINDS:
                    assert out[name].tolist() == wanted[name], f"seed {seed} on {backend}, array {name}:\n{text}"


def test_a_boolean_of_an_array_and_a_comparison_are_truths_alike():
    @vyre.kernel
    def mixed(f: vyre.In[vyre.boolean], x: vyre.In[vyre.u32], out: vyre.Out[vyre.boolean, 2]):
        i = vyre.gid(0)
        if i < len(f):
            out[0, i] = f[i] and x[i] > 1
            out[1, i] = x[i] > 1 or f[i]
            out[2, i] = f[i] if x[i] > 2 else x[i] == 0
            out[3, i] = f[i] & (x[i] > 1)
            out[4, i] = (x[i] > 1) | f[i] | (x[i] == 0)
            out[5, i] = f[i] ^ (x[i] > 1) ^ f[0]
            out[6, i] = f[i] == (x[i] > 1)
            out[7, i] = (x[i] > 1) != f[i]
            out[8, i] = f[i] == 1
            b, c = (f[i], x[i] > 1) if x[i] > 2 else (x[i] > 1, f[i])
            out[9, i] = b and not c
            held = [x[i] > 1, f[i]]
            if x[i] > 2:
                held[0] = not held[1]
                held[1] = x[i] == 3
            out[10, i] = held[0] ^ held[1]

    f, x = np.arange(8) % 2 == 0, np.array([0, 0, 1, 1, 2, 2, 3, 3], np.uint32)
    wanted = [f & (x > 1), (x > 1) | f, np.where(x > 2, f, x == 0), f & (x > 1), (x > 1) | f | (x == 0)]
    wanted += [f ^ (x > 1) ^ f[0], f == (x > 1), (x > 1) != f, f == 1]
    wanted += [np.where(x > 2, f & ~(x > 1), (x > 1) & ~f), np.where(x > 2, ~f ^ (x == 3), (x > 1) ^ f)]
    for backend in BACKENDS:
        out = mixed(f, x, np.zeros((11, 8), bool), grid=8, backend=backend)
        assert (out == wanted).all()
