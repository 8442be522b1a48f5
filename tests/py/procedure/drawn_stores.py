"""Random programs that store to some elements of an array, with a model that says to which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

_WORD = 0xFFFFFFFF
_OPERATORS: dict[str, Any] = {
    "+": lambda a, b: a + b & _WORD,
    "-": lambda a, b: a - b & _WORD,
    "*": lambda a, b: a * b & _WORD,
    "/": lambda a, b: a // b if b else 0,
    "%": lambda a, b: a % b if b else 0,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    ">>": lambda a, b: a >> (b & 31),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "logical_and": lambda a, b: int(bool(a) and bool(b)),
    "logical_or": lambda a, b: int(bool(a) or bool(b)),
}
_COMPARISONS = ["<", "<=", ">", ">=", "==", "!="]
UNKNOWN = "flag[0]"  # 0, which no analysis of the program can know

# An expression is a number, a name, or (operator, left, right).
Expression = Any


def _text(expression: Expression) -> str:
    if not isinstance(expression, tuple):
        return str(expression)
    operator, left, right = expression[0], *map(_text, expression[1:])
    return f"{operator}({left}, {right})" if operator[0] == "l" else f"({left} {operator} {right})"


def _value(expression: Expression, names: dict[str, int]) -> int:
    if isinstance(expression, int):
        return expression
    if isinstance(expression, str):
        return names[expression]
    found: int = _OPERATORS[expression[0]](_value(expression[1], names), _value(expression[2], names))
    return found


class DrawnStores:
    """One program as the step of a procedure.

    Attributes:
        text: of the procedure, with the input `flag`, one u32 that must be 0, and the output `y`.
        length: of `y`.
        stored: the indices at which its invocations store 7.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self._size = random.choice([1, 4, 6, 8, 32])
        self._groups = random.randint(1, 5)
        grid = self._size * self._groups
        self.length: int = random.choice([1, 5, grid, grid, grid + 1, 3 * grid])
        self._turns: list[str] = []
        self._names = 0
        body = self._block(0)
        lines = "\n".join(f"  {line}" for line in self._lines(body))
        self.text = (
            f'vyre 1\nprocedure "drawn"\ninput flag: u32[]\noutput y: u32[{self.length}]\nprogram 0 {{\n  vyre 1\n'
            f"  workgroup_size {self._size} 1 1\n  buffer flag: read u32 binding 0\n"
            f"  buffer y: read_write u32 binding 1\n\n{lines}\n}}\n"
            f"dispatch drawn program 0 (flag, y) workgroups ({self._groups}, 1, 1)\nreturn y\n"
        )
        self.stored: set[int] = set()
        for group in range(self._groups):
            for local in range(self._size):
                ids = {"wid.x": group, "lid.x": local, "gid.x": group * self._size + local, UNKNOWN: 0}
                self._run(body, ids)

    # --- drawing ---

    def _term(self) -> Expression:
        random = self._random
        base = random.choice(["gid.x", "gid.x", "lid.x", "lid.x", "wid.x", *self._turns, random.randint(0, 9)])
        operator = random.choice(["", "", "", "*", "*", "/", "%", "&", ">>"])
        return (operator, base, random.choice([1, 2, 3, 4, 7, self._size, 2 * self._size])) if operator else base

    def _sum(self) -> Expression:
        made = self._term()
        for _ in range(self._random.randint(0, 2)):
            made = (self._random.choice(["+", "+", "+", "-", "|"]), made, self._term())
        return made

    def _condition(self) -> Expression:
        random = self._random
        if random.random() < 0.15:
            return random.choice(["==", "!="]), UNKNOWN, random.randint(0, 1)
        made = (
            random.choice(_COMPARISONS),
            self._sum(),
            random.choice([self._sum(), self.length, random.randint(0, 9)]),
        )
        if random.random() < 0.2:
            return random.choice(["logical_and", "logical_or"]), made, self._condition()
        return made

    def _block(self, depth: int) -> list[Any]:
        return [self._statement(depth) for _ in range(self._random.randint(1, 3))]

    def _statement(self, depth: int) -> Any:
        random, kind = self._random, self._random.random()
        if depth < 3 and kind < 0.25:
            return "if", self._condition(), self._block(depth + 1), self._block(depth + 1) if kind < 0.12 else []
        if depth < 3 and kind < 0.45:
            self._names += 1
            name = f"turn{self._names}"
            self._turns.append(name)
            body = self._block(depth + 1)
            self._turns.remove(name)
            return "loop", name, random.randint(0, 3), random.choice([1, 2, 3, 4, 4]), body
        if kind < 0.5:
            return "if", self._condition(), [("break" if self._turns and kind < 0.48 else "return",)], []
        return "store", self._sum()

    # --- the program and its model ---

    def _lines(self, block: list[Any]) -> Iterator[str]:
        for kind, *parts in block:
            if kind == "store":
                yield f"y[{_text(parts[0])}] = 7"
            elif kind == "if":
                yield f"if {_text(parts[0])} {{"
                yield from (f"  {line}" for line in self._lines(parts[1]))
                if parts[2]:
                    yield "} else {"
                    yield from (f"  {line}" for line in self._lines(parts[2]))
                yield "}"
            elif kind == "loop":
                yield f"loop {parts[0]} in {parts[1]}..{parts[1] + parts[2]} {{"
                yield from (f"  {line}" for line in self._lines(parts[3]))
                yield "}"
            else:
                yield kind

    def _run(self, block: list[Any], names: dict[str, int]) -> str:
        """Run an invocation; "return" or "break" where it leaves the block."""
        for kind, *parts in block:
            left = ""
            if kind == "store":
                self.stored.add(_value(parts[0], names))
            elif kind == "if":
                left = self._run(parts[1] if _value(parts[0], names) else parts[2], names)
            elif kind == "loop":
                for turn in range(parts[1], parts[1] + parts[2]):
                    left = self._run(parts[3], {**names, parts[0]: turn})
                    if left:
                        break
                left = left if left == "return" else ""
            else:
                left = kind
            if left:
                return left
        return ""
