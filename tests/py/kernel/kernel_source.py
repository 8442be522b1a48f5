"""Random kernels as Python source, which Python itself runs: an independent answer to compare with.

The source masks every result of an operator to its width, so that it means the same on Python's integers and on the
device. Loops end by their form: `for` has small bounds, `while` counts. Between two barriers an invocation changes its
own elements of a workgroup array, or all have one commutative atomic.
"""

from __future__ import annotations

import random

LENGTH = 16  # elements of each array of one axis, and invocations
GROUP = 8  # invocations of a workgroup
ROWS, COLUMNS = 3, 5
COUNTERS = 4
ATOMICS = ("add", "xor", "and_", "or_", "min", "max")
POWERS = (1, 2, 8, 2**31, 2**32, 2**40, 2**63)

HEAD = """\
import vyre
from vyre import In, Out, InOut, u32

M = 0xFFFFFFFF
W = 0xFFFFFFFFFFFFFFFF
"""
PLAIN_KERNEL = f"""\
def k(a: In[u32], b: In[u32], s: u32, out: Out[u32], acc: InOut[u32]):
    i = vyre.gid(0)
    if i >= {LENGTH}:
        return
    z = 0
"""
KERNEL = """\
def k(
    a: In[u32], b: In[u32], s: u32, out: Out[u32], acc: InOut[u32],
    m: In[u32, 2], n8: In[vyre.u8], t8: In[vyre.i8], h: InOut[vyre.u16], g: InOut[vyre.i8],
    q: Out[u32, 2], total: InOut[u32], w: vyre.u64, d: vyre.i32,
):
    i, j = vyre.gid(0), vyre.lid(0)
    z = 0
"""


class Source:
    """One random kernel `k` with the parameters of KERNEL, and the helpers it calls.

    A plain one has those of PLAIN_KERNEL: values are U32, arrays have one axis, and invocations do not meet.
    """

    def __init__(self, seed: int, statements: int = 14, *, is_plain: bool = False) -> None:
        self._is_plain = is_plain
        self._locals: list[tuple[str, int]] = []
        # The one atomic of this kernel on `total`, whose result no order of invocations changes.
        self._counted = random.Random(seed ^ 0x5EED).choice(ATOMICS)
        self._random = random.Random(seed)
        self._lines: list[str] = []
        self._fresh = 0
        self._budget = statements
        self._helpers: list[tuple[str, int]] = []
        self._in_helper = False
        parts = [HEAD]
        for k in range(self._random.randint(0, 2)):
            parts.append(self._helper(k))
        parts.append(self._plain_kernel() if is_plain else self._kernel())
        self.text = "\n".join(parts)

    # Expressions: all values are integers from 0 to 2^32 - 1.

    def _value(self, names: list[str], depth: int = 0) -> str:
        r = self._random
        if not self._is_plain and depth <= 2 and r.random() >= 0.65:
            return self._of_any_type(names, depth)
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

    def _of_any_type(self, names: list[str], depth: int) -> str:
        """A U32 that is computed of other types, or loaded from the arrays that plain kernels have not."""
        r = self._random
        kinds = ["signed", "signed", "wide", "wide"]
        if not self._in_helper:
            kinds += ["plane", "narrow", "shape", *(["local"] * 3 if self._locals else [])]
        kind = r.choice(kinds)
        if kind == "signed":
            return self._signed(names, depth + 1)
        if kind == "wide":
            value = self._wide(names, depth + 1)
            return r.choice([f"vyre.u32({value})", f"vyre.u32(({value}) >> 32)"])
        first = self._value(names, depth + 2)
        if kind == "plane":
            return f"m[vyre.u32({first}) % {ROWS + 1}, vyre.u32({self._value(names, depth + 2)}) % {COLUMNS + 1}]"
        if kind == "narrow":
            return r.choice([f"n8[({first}) % {LENGTH + 2}]", f"vyre.u32(t8[({first}) % {LENGTH}])", "h[i]"])
        if kind == "shape":
            return r.choice(["m.shape[0]", "m.shape[1]", "q.shape[1]"])
        name, count = r.choice(self._locals)
        return f"{name}[({first}) % {count + 1}]"

    def _as_i32(self, names: list[str], depth: int) -> str:
        leaf = f"vyre.i32(vyre.u32({self._value(names, depth + 1)}))"
        return leaf if self._in_helper else self._random.choice([leaf, leaf, "d", "g[i]"])

    def _signed(self, names: list[str], depth: int) -> str:
        r = self._random
        x, y = self._as_i32(names, depth), self._as_i32(names, depth)
        amount = f"(({self._value(names, depth + 1)}) & 31)"
        return r.choice(
            [
                f"vyre.u32(({x}) {r.choice(['+', '-', '*', '&', '|', '^'])} ({y}))",
                f"vyre.u32({r.choice(['min', 'max'])}({x}, {y}))",
                f"vyre.u32(({x}) {r.choice(['<<', '>>'])} {amount})",
                f"vyre.u32({r.choice(['-', 'abs', '~'])}({x}))",
                f"(1 if ({x}) {r.choice(['<', '<=', '>', '>=', '==', '!='])} ({y}) else 0)",
            ]
        )

    def _wide(self, names: list[str], depth: int) -> str:
        r = self._random
        if depth > 2 or r.random() < 0.3:
            leaf = f"vyre.u64(vyre.u32({self._value(names, depth + 1)}))"
            return leaf if self._in_helper else r.choice([leaf, leaf, "w"])
        x, y = self._wide(names, depth + 1), self._wide(names, depth + 1)
        amount = r.choice([str(r.randrange(64)), f"(({self._value(names, depth + 1)}) & 63)"])
        return r.choice(
            [
                f"((({x}) {r.choice(['+', '-', '*'])} ({y})) & W)",
                f"(({x}) {r.choice(['&', '|', '^'])} ({y}))",
                f"(({x}) {r.choice(['//', '%'])} {r.choice(POWERS)})",
                f"(({x}) {r.choice(['//', '%'])} (({y}) | 1))",
                f"((({x}) * {r.choice(POWERS)}) & W)",
                f"((({x}) << {amount}) & W)",
                f"(({x}) >> {amount})",
                f"{r.choice(['min', 'max'])}({x}, {y})",
            ]
        )

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
        if not self._is_plain and not self._in_helper and r.random() >= 0.75:
            kinds = ["narrow_store", "plane_store", "fire", *(["local_store"] * 2 if self._locals else [])]
            kind = r.choice([*kinds, *(["local"] * 3 if depth == 0 else [])])
            return getattr(self, f"_{kind}")(indent, names, fixed, loop, depth)
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

    def _local(self, indent, names, fixed, loop, depth):
        """A private array; those of the kernel's own block are in reach of all that follows."""
        name, count = self._name(), self._random.randint(1, 6)
        element = self._random.choice(["vyre.u32", "vyre.u32", "vyre.u8", "vyre.u16"])
        self._put(indent, f"{name} = vyre.local({element}, {count})")
        self._locals.append((name, count))
        return names, False

    def _local_store(self, indent, names, fixed, loop, depth):
        name, count = self._random.choice(self._locals)
        self._put(indent, f"{name}[({self._value(names, 1)}) % {count + 1}] = vyre.u32({self._value(names)})")
        return names, False

    def _narrow_store(self, indent, names, fixed, loop, depth):
        value = f"vyre.u32({self._value(names)})"
        self._put(indent, f"h[i] = {value}" if self._random.random() < 0.5 else f"g[i] = vyre.i32({value})")
        return names, False

    def _plane_store(self, indent, names, fixed, loop, depth):
        self._put(indent, f"q[i, vyre.u32({self._value(names, 1)}) % {ROWS + 1}] = {self._value(names)}")
        return names, False

    def _fire(self, indent, names, fixed, loop, depth):
        """All invocations of the grid, in any order: the result is not looked at."""
        place, value = self._value(names, 1), self._value(names)
        self._put(indent, f"total.atomic_{self._counted}(({place}) % {COUNTERS + 1}, {value})")
        return names, False

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
        if not self._is_plain and not self._in_helper:  # barriers follow
            return self._assign(indent, names, fixed, loop, depth)
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

    def _plain_kernel(self) -> str:
        self._lines = PLAIN_KERNEL.rstrip("\n").split("\n")
        self._end(self._block(1, ["i", "s", "z"], {"i"}, None, 0), {"i"})
        return "\n".join(self._lines) + "\n"

    def _end(self, names: list[str], fixed: set[str]) -> None:
        """The statements that are left, and a value that all variables decide."""
        while self._budget > 0:
            names = self._block(1, names, fixed, None, 0)
        value = "0"
        for name in names:
            value = f"(({value}) * 31 + {name}) & M"
        self._put(1, f"out[i] = {value}")

    # The kernel: blocks, and between them rounds that exchange values through workgroup arrays.

    def _kernel(self) -> str:
        r = self._random
        self._lines = KERNEL.rstrip("\n").split("\n")
        names = ["i", "j", "s", "z"]
        fixed = {"i", "j"}
        tiles = []
        for _ in range(r.randint(1, 2)):
            name, shape = self._name(), r.choice([str(GROUP), str(GROUP + 3), f"(2, {GROUP})"])
            element = r.choice(["vyre.u32", "vyre.u32", "vyre.u8", "vyre.u16"])
            self._put(1, f"{name} = vyre.shared({element}, {shape})")
            tiles.append((name, "(" in shape, element == "vyre.u32"))
        names = self._block(1, names, fixed, None, 0)
        for _ in range(r.randint(1, 3)):
            indent = 1
            if r.random() < 0.3:
                self._put(1, f"for {self._name()} in range({r.randint(1, 3)}):")
                indent = 2
            within = self._block(indent, names, fixed, None, 0 if indent == 1 else 1)
            within = self._round(indent, within, r.choice(tiles))
            names = within if indent == 1 else names
        self._end(names, fixed)
        self._put(1, "vyre.barrier()")
        return "\n".join(self._lines) + "\n"

    def _round(self, indent: int, names: list[str], tile: tuple[str, bool, bool]) -> list[str]:
        r = self._random
        name, is_plane, has_atomics = tile
        row = f"vyre.u32({self._value(names, 2)}) % 2, " if is_plane else ""
        own = f"{row}j"
        if has_atomics and r.random() < 0.4:
            # On an element of its own, whose old value no other invocation changes.
            old = self._name()
            self._put(indent, f"{old} = {name}.atomic_{r.choice(ATOMICS)}(({own}), {self._value(names)})")
            names = [*names, old]
        else:
            self._put(indent, f"{name}[{own}] = vyre.u32({self._value(names)})")
        names = self._read_after_barrier(indent, names, name, is_plane)
        if has_atomics and r.random() < 0.6:
            op = r.choice(ATOMICS)
            for _ in range(r.randint(1, 2)):
                inner = indent
                if r.random() < 0.4:
                    self._put(indent, f"if {self._condition(names)}:")
                    inner += 1
                place = f"vyre.u32({self._value(names, 1)}) % {GROUP + 1}"
                index = f"(vyre.u32({self._value(names, 2)}) % 2, {place})" if is_plane else place
                self._put(inner, f"{name}.atomic_{op}({index}, {self._value(names)})")
            names = self._read_after_barrier(indent, names, name, is_plane)
        return names

    def _read_after_barrier(self, indent: int, names: list[str], name: str, is_plane: bool) -> list[str]:
        self._put(indent, "vyre.barrier()")
        read = self._name()
        index = f"vyre.u32({self._value(names, 1)}) % {GROUP + 1}"
        if is_plane:
            index = f"vyre.u32({self._value(names, 2)}) % 3, {index}"
        self._put(indent, f"{read} = {name}[{index}]")
        self._put(indent, "vyre.barrier()")
        return [*names, read]
