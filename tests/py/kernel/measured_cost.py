"""What a program does when it runs, counted: an independent answer for Kernel.cost.

The text of the program gets an atomic before each statement, which counts how often it runs. What a statement
evaluates is read from its text: an expression that several places use has a number there, so each counts once.
"""

from __future__ import annotations

import re
from collections import Counter

import vyre
from vyre import _core

_SYMBOLS = {row[2]: row[1] for row in _core._tables["binary"] if row[2] and not row[2].isidentifier()}
_INFIX = re.compile(r" (<<|>>|==|!=|<=|>=|[-+*/%&|^<>]) ")
_CALL = re.compile(r"\b([a-z]\w*)\(")
_LOAD = re.compile(r"(?<![\w%])([A-Za-z_]\w*)\[")
_NUMBERED = re.compile(r"%(\d+)\b")
_NO_OPERATIONS = {"len", "lane", "pack"}


def _counts(text: str) -> Counter:
    found: Counter = Counter()
    for symbol in _INFIX.findall(text):
        found["operations", _SYMBOLS[symbol]] += 1
    for name in _CALL.findall(text):
        if name.startswith("atomic_"):
            buffer = re.search(rf"{name}\(([A-Za-z_]\w*)", text)
            assert buffer is not None
            found["atomics", buffer[1]] += 1
        elif name not in _NO_OPERATIONS:
            found["operations", name] += 1
    for name in _LOAD.findall(text):
        if name != "__params":
            found["loaded", name] += 1
    return found


def measure(program, inputs, workgroups) -> tuple[Counter, list[tuple[int, Counter]]]:
    """Counts by (group, name), and for each loop its turns, and the counts of its body without those of inner loops."""
    head, body = program.to_text().split("\n\n", 1)
    numbered: dict[str, tuple[Counter, list[str]]] = {}
    lines: list[str] = []
    statements: list[tuple[Counter, list[int]]] = []  # what one does, and the loops around it
    around: list[int] = []
    open_: list[int | None] = []
    loops: list[int] = []  # the counter of each one's turns

    def counter() -> str:
        statements.append((Counter(), []))
        return f"let __hit_{len(statements)} = atomic_add(__hits, {len(statements) - 1}, 1)"

    for line in body.splitlines():
        text = line.strip()
        if not text:
            continue
        if text.startswith("%"):
            name, value = text.split(" = ", 1)
            numbered[name[1:]] = (_counts(value), _NUMBERED.findall(value))
            lines.append(text)
            continue
        if text.startswith("}"):
            if text == "}":
                loop = open_.pop()
                if loop is not None:
                    around.pop()
            lines.append(text)
            continue
        lines.append(counter())
        lines.append(text)
        stored = re.match(r"([A-Za-z_]\w*)\[.*\] = ", text) if not text.startswith(("let ", "if ", "loop ")) else None
        done = _counts(text)
        seen: set[str] = set()
        left = _NUMBERED.findall(text)
        while left:
            name = left.pop()
            if name not in seen:
                seen.add(name)
                done += numbered[name][0]
                left += numbered[name][1]
        if stored:
            done["loaded", stored[1]] -= 1
            done["stored", stored[1]] += 1
        statements[-1] = (done, list(around))
        if text.endswith("{"):
            open_.append(len(loops) if text.startswith("loop ") else None)
            if text.startswith("loop "):
                around.append(len(loops))
                loops.append(len(statements))
                lines.append(counter())
    head += f"\nbuffer __hits: read_write u32 binding 99 count {max(1, len(statements))}"
    counted = vyre.parse(head + "\n\n" + "\n".join(lines) + "\n")
    hits = vyre.run(counted, {**inputs, "__hits": max(1, len(statements))}, workgroups, backend="reference")["__hits"]
    total: Counter = Counter()
    inside = [Counter() for _ in loops]
    for (done, loops_around), count in zip(statements, hits.tolist(), strict=True):
        for key, each in done.items():
            total[key] += each * count
            if loops_around:
                inside[loops_around[-1]][key] += each * count
    turns = [int(hits[k]) for k in loops]
    return total, list(zip(turns, inside, strict=True))


def sizes(program) -> dict[str, int]:
    bytes_of = {row.name: row.bytes for row in _core._tables["types"]}
    return {decl.name: bytes_of[decl.element.name] for decl in program.buffers}
