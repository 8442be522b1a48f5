"""Random kernels as Python source, which Python itself runs on integers: an independent answer to compare with.

The source masks every result of an operator to 32 bits, so that it means the same on Python's integers and on U32.
Loops end by their form: `for` has small bounds, `while` counts.
"""

from __future__ import annotations

import random

MASK = "0xFFFFFFFF"
LENGTH = 16  # elements of each array, and invocations

HEAD = """\
import vyre
from vyre import In, Out, InOut, u32

M = 0xFFFFFFFF
"""


class Source:
    """One random kernel `k(a, b, s, out, acc)`, and the helpers it calls."""

    def __init__(self, seed: int, statements: int = 14) -> None:
        self._random = random.Random(seed)
        self._lines: list[str] = []
        self._fresh = 0
        self._budget = statements
        self._helpers: list[tuple[str, int]] = []
        self._in_helper = False
        parts = [HEAD]
        for k in range(self._random.randint(0, 2)):
            parts.append(self._helper(k))
        parts.append(self._kernel())
        self.text = "\n".join(parts)

    # Expressions: all values are integers from 0 to 2^32 - 1.

    def _value(self, names: list[str], depth: int = 0) -> str:
        r = self._random
        kinds = ["name"] * 4 + ["literal", "load"]
        if depth < 3:
            kinds += ["binary"] * 4 + ["choose", "min", "call", "shift", "compare"]
        kind = r.choice(kinds)
        if kind == "name" and names:
            return r.choice(names)
        if kind in ("name", "literal"):
            return str(
                r.choice([0, 1, 2, 3, 5, 7, 31, 255, 65536, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, r.randrange(2**32)])
            )
        if kind == "load":
            if self._in_helper:
                return r.choice(names) if names else "1"
            array = r.choice(["a", "b", "acc"])
            index = "i" if array == "acc" else f"({self._value(names, depth + 2)}) % {LENGTH}"
            return f"{array}[{index}]"
        left, right = self._value(names, depth + 1), self._value(names, depth + 1)
        if kind == "binary":
            op = r.choice(["+", "-", "*", "&", "|", "^", "//", "%"])
            if op in ("//", "%"):
                return f"(({left}) {op} (({right}) | 1))"
            return f"((({left}) {op} ({right})) & M)"
        if kind == "shift":
            op = r.choice(["<<", ">>"])
            return f"((({left}) {op} (({right}) & 31)) & M)"
        if kind == "compare":
            return f"(1 if {self._condition(names, depth + 1)} else 0)"
        if kind == "choose":
            return f"({left} if {self._condition(names, depth + 1)} else {right})"
        if kind == "min":
            return f"{r.choice(['min', 'max'])}({left}, {right})"
        plain = [name for name, count in self._helpers if count == 1]
        if plain and not self._in_helper:
            return f"{r.choice(plain)}({left}, {right})"
        return left

    def _condition(self, names: list[str], depth: int = 0) -> str:
        r = self._random
        kind = r.choice(["compare"] * 4 + (["and", "or", "not", "chain"] if depth < 3 else []))
        if kind in ("and", "or"):
            return f"({self._condition(names, depth + 1)} {kind} {self._condition(names, depth + 1)})"
        if kind == "not":
            return f"(not {self._condition(names, depth + 1)})"
        left, right = self._value(names, depth + 2), self._value(names, depth + 2)
        if kind == "chain":
            middle = self._value(names, depth + 2)
            return f"({left} {r.choice(['<', '<='])} {middle} {r.choice(['<', '<=', '!='])} {right})"
        return f"{left} {r.choice(['<', '<=', '>', '>=', '==', '!='])} {right}"

    # Statements. `names` are the variables that are assigned on every path to here.

    def _put(self, indent: int, text: str) -> None:
        self._lines.append("    " * indent + text)

    def _name(self) -> str:
        self._fresh += 1
        return f"v{self._fresh}"

    def _target(self, names: list[str], fixed: set[str]) -> str:
        free = [name for name in names if name not in fixed]
        return self._random.choice(free) if free and self._random.random() < 0.7 else self._name()

    def _block(self, indent: int, names: list[str], fixed: set[str], loop: str | None, depth: int) -> list[str]:
        """Emit statements; gives the variables assigned after them. ``loop`` says how a loop around it may be left."""
        names = list(names)
        for k in range(self._random.randint(1, 4)):
            if self._budget <= 0 and k > 0:
                break
            self._budget -= 1
            names, leaves = self._statement(indent, names, fixed, loop, depth)
            if leaves:
                break
        return names

    def _statement(
        self, indent: int, names: list[str], fixed: set[str], loop: str | None, depth: int
    ) -> tuple[list[str], bool]:
        r = self._random
        kinds = ["assign"] * 4 + ["augment"] * 2 + ["swap"]
        if not self._in_helper:
            kinds += ["store"] * 2 + ["pair"]
        if depth < 3 and self._budget > 0:
            kinds += ["if"] * 3 + ["for", "for", "while", "unroll", "list"]
        if loop is not None and depth > 1:
            kinds += ["break", "continue"]
        if depth > 0 and r.random() < 0.3:
            kinds += ["return"]
        kind = r.choice(kinds)
        return getattr(self, f"_{kind}")(indent, names, fixed, loop, depth)

    def _assign(self, indent, names, fixed, loop, depth):
        value, target = self._value(names), self._target(names, fixed)
        self._put(indent, f"{target} = {value}")
        return [*names, *([] if target in names else [target])], False

    def _augment(self, indent, names, fixed, loop, depth):
        free = [name for name in names if name not in fixed]
        if not free:
            return self._assign(indent, names, fixed, loop, depth)
        self._put(indent, f"{self._random.choice(free)} {self._random.choice(['^', '|', '&'])}= {self._value(names)}")
        return names, False

    def _swap(self, indent, names, fixed, loop, depth):
        free = [name for name in names if name not in fixed]
        if len(free) < 2:
            return self._assign(indent, names, fixed, loop, depth)
        x, y = self._random.sample(free, 2)
        self._put(indent, f"{x}, {y} = {self._value(names)}, {x}")
        return names, False

    def _pair(self, indent, names, fixed, loop, depth):
        pairs = [name for name, count in self._helpers if count == 2]
        if not pairs:
            return self._assign(indent, names, fixed, loop, depth)
        x, y = self._name(), self._name()
        self._put(indent, f"{x}, {y} = {self._random.choice(pairs)}({self._value(names)}, {self._value(names)})")
        return [*names, x, y], False

    def _store(self, indent, names, fixed, loop, depth):
        if self._random.random() < 0.5:
            self._put(indent, f"acc[i] = {self._value(names)}")
        else:
            self._put(indent, f"acc[i] ^= {self._value(names)}")
        return names, False

    def _list(self, indent, names, fixed, loop, depth):
        """A Python list of values, changed at known indices."""
        name, out, n = self._name(), self._name(), self._random.randint(1, 3)
        self._put(indent, f"{name} = [{', '.join(self._value(names) for _ in range(n))}]")
        self._put(indent, f"{name}[{self._random.randrange(n)}] = {self._value(names)}")
        self._put(indent, f"{out} = {name}[{self._random.randrange(n)}] ^ {name}[0]")
        return [*names, out], False

    def _if(self, indent, names, fixed, loop, depth):
        self._put(indent, f"if {self._condition(names)}:")
        branches = [self._block(indent + 1, names, fixed, loop, depth + 1)]
        while self._random.random() < 0.25:
            self._put(indent, f"elif {self._condition(names)}:")
            branches.append(self._block(indent + 1, names, fixed, loop, depth + 1))
        if self._random.random() < 0.6:
            self._put(indent, "else:")
            branches.append(self._block(indent + 1, names, fixed, loop, depth + 1))
        else:
            branches.append(names)
        return [name for name in branches[0] if all(name in each for each in branches)], False

    def _for(self, indent, names, fixed, loop, depth):
        r, k = self._random, self._name()
        bound = f"({self._value(names, 2)}) % 6"
        form = r.choice(
            [
                f"{r.randint(1, 5)}",
                bound,
                f"{r.randint(0, 2)}, {bound}",
                f"0, {bound}, {r.randint(2, 3)}",
                f"{bound}, -1, -{r.randint(1, 2)}",
                f"9, {r.randint(0, 4)}, -{r.randint(1, 3)}",
            ]
        )
        self._put(indent, f"for {k} in range({form}):")
        self._block(indent + 1, [*names, k], {*fixed, k}, "device", max(depth + 1, 2))
        return names, False

    def _while(self, indent, names, fixed, loop, depth):
        n = self._name()
        self._put(indent, f"{n} = 0")
        forever = self._random.random() < 0.3
        self._put(
            indent,
            "while True:" if forever else f"while {n} < {self._random.randint(1, 5)} and {self._condition(names)}:",
        )
        self._put(indent + 1, f"{n} += 1")
        if forever:
            self._put(indent + 1, f"if {n} > {self._random.randint(1, 5)}:")
            self._put(indent + 2, "break")
        self._block(indent + 1, [*names, n], {*fixed, n}, "device", max(depth + 1, 2))
        return [*names, n], False

    def _unroll(self, indent, names, fixed, loop, depth):
        k = self._name()
        values = self._random.choice([f"vyre.unroll(range({self._random.randint(1, 4)}))", "(3, 1, 2)", "[0, 5]"])
        self._put(indent, f"for {k} in {values}:")
        self._block(indent + 1, [*names, k], {*fixed, k}, "unrolled", max(depth + 1, 2))
        return names, False

    def _break(self, indent, names, fixed, loop, depth):
        self._put(indent, "break")
        return names, True

    def _continue(self, indent, names, fixed, loop, depth):
        self._put(indent, "continue")
        return names, True

    def _return(self, indent, names, fixed, loop, depth):
        self._put(indent, f"return {self._result(names)}" if self._in_helper else "return")
        return names, True

    def _result(self, names: list[str]) -> str:
        return ", ".join(self._value(names) for _ in range(self._count))

    def _helper(self, k: int) -> str:
        self._in_helper, self._count = True, self._random.choice([1, 1, 2])
        self._lines, kept = [], self._budget
        self._budget = 6
        self._put(0, f"def h{k}(x, y):")
        names = self._block(1, ["x", "y"], set(), None, 0)
        self._put(1, f"return {self._result(names)}")
        self._helpers.append((f"h{k}", self._count))
        self._in_helper, self._budget = False, kept
        return "\n".join(self._lines) + "\n"

    def _kernel(self) -> str:
        self._lines = []
        self._put(0, "def k(a: In[u32], b: In[u32], s: u32, out: Out[u32], acc: InOut[u32]):")
        self._put(1, "i = vyre.gid(0)")
        self._put(1, f"if i >= {LENGTH}:")
        self._put(2, "return")
        self._put(1, "z = 0")
        names = self._block(1, ["i", "s", "z"], {"i"}, None, 0)
        while self._budget > 0:
            names = self._block(1, names, {"i"}, None, 0)
        value = "0"
        for name in names:
            value = f"(({value}) * 31 + {name}) & M"
        self._put(1, f"out[i] = {value}")
        return "\n".join(self._lines) + "\n"


def by_python(
    namespace: dict[str, object], a: list[int], b: list[int], s: int, acc: list[int]
) -> tuple[list[int], list[int]]:
    """What the kernel gives when Python runs it, once an invocation, on plain integers."""
    import types

    out, acc = [0] * LENGTH, list(acc)
    for i in range(LENGTH):
        fake = types.SimpleNamespace(gid=lambda axis, i=i: i, unroll=list)
        namespace["vyre"] = fake
        namespace["k"](a, b, s, out, acc)  # type: ignore[operator]
    return out, acc
