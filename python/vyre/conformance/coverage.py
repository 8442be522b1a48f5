"""The rows of the core's tables that the cases exercise, found in the text of their programs, not in their names.

>>> [row for row in coverage() if not row.cases and not row.why]
[]
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache

from vyre import _core
from vyre._base.types import TYPES
from vyre.conformance import catalogue
from vyre.conformance.families import operations

STATEMENTS = ("let", "assign", "store", "if", "else", "loop", "block", "barrier", "return")
# Literals of all types but U32 and Bool have a suffix.
_SUFFIXES = [info.text for info in TYPES.values() if info.literal is not None and info.text not in ("u32", "bool")]
VALUES = (
    *("u32 literal", "bool literal", *(f"{text} literal" for text in _SUFFIXES), "variable", "load", "len"),
    *("gid.x", "gid.y", "gid.z", "wid.x", "wid.y", "wid.z", "lid.x", "lid.y", "lid.z"),
    *("cast", "lane", "pack", "call", "atomic"),
)
ACCESSES = ("read", "read_write", "uniform", "workgroup")
# The rows that no case can exercise, with the reason.
OUT_OF_REACH = {("casts", "Bytes to Bytes"): "no expression has the type Bytes (V013)"}

# The look of rows that are neither a function nor an infix operator, in the text of statements.
_PATTERNS = {
    row: re.compile(pattern, re.MULTILINE)
    for row, pattern in {
        ("statements", "let"): r"^ *let ",
        ("statements", "assign"): r"^ *\w+ = ",
        ("statements", "store"): r"^ *\w+\[.*\] =(?!=)",
        ("statements", "if"): r"^ *if ",
        ("statements", "else"): r"} else {",
        ("statements", "loop"): r"^ *loop ",
        ("statements", "block"): r"^ *block {",
        ("statements", "barrier"): r"^ *barrier\b",
        ("statements", "return"): r"^ *return\b",
        ("values", "u32 literal"): r"(?<![\w.%-])\d+\b(?!\.)",
        **{("values", f"{text} literal"): rf"(?<![\w.%])-?\d[\d.e+-]*{text}\b" for text in _SUFFIXES},
        ("values", "bool literal"): r"\b(true|false)\b",
        ("values", "load"): r"[=(,+*&|^<>-] \(?\w+\[",
        ("values", "variable"): r"[=(,+*&|^<>-] \(?[a-z_]\w*\b(?![\[(.])",
    }.items()
}


@dataclass(frozen=True)
class Row:
    """A row of a table, and how many cases have a program that uses it.

    Attributes:
        table: "binary operators", "casts", ...
        name: as the reference and the text form spell it.
        cases: without the repeats of `L3/optimiser`.
        why: why no case can use it; "" for nearly all.
    """

    table: str
    name: str
    cases: int
    why: str = ""


def rows() -> list[tuple[str, str]]:
    """(table, name) of everything that cases must exercise."""
    tables = _core._tables
    spelled = {row[0]: row[1] for row in tables["types"]}
    standard = [spec for spec in _core._op_all() if operations.is_standard(spec)]
    made = [("binary operators", row[1]) for row in tables["binary"]]
    made += [("unary operators", row[1]) for row in tables["unary"]]
    made += [("ternary operators", row[1]) for row in tables["ternary"]]
    made += [("atomics", row[1]) for row in tables["atomic"]]
    made += [("casts", f"{source} to {goal}") for source, goal in tables["casts"]]
    made += [
        ("access and element", f"{access} {element}")
        for access in ACCESSES
        for name, element in spelled.items()
        if name != "Bytes" or access != "workgroup"
    ]
    made += [("statements", name) for name in STATEMENTS]
    made += [("values", name) for name in VALUES]
    made += [("operations", f"{spec.id}@{spec.version}") for spec in standard]
    return made


def _uses(text: str) -> set[tuple[str, str]]:
    """The rows that a program uses, from its text form."""
    tables = _core._tables
    found = {("operations", name) for name in re.findall(r'\bcall\("([^"\\]+)"', text)}
    found |= {("operations", f"{name}@1") for _, name in list(found) if "@" not in name}
    calls = bool(found)
    text = re.sub(r'"(?:[^"\\]|\\.)*"', "quoted", text)
    head, body = _split(text)
    found |= {
        ("access and element", f"{access} {element}")
        for access, element in re.findall(r"^buffer \S+: (\w+) ([\w<>]+)", head, re.MULTILINE)
    }
    infix = set(re.findall(r" ([-+*/%&|^<>=!]{1,2}) ", body))
    functions = set(re.findall(r"\b([a-z]\w*)\(", body))
    found |= {("binary operators", row[1]) for row in tables["binary"] if row[2] in infix or row[1] in functions}
    found |= {("unary operators", row[1]) for row in tables["unary"] if row[1] in functions}
    found |= {("ternary operators", row[1]) for row in tables["ternary"] if row[1] in functions}
    found |= {("atomics", row[1]) for row in tables["atomic"] if row[1] in functions}
    found |= {("values", name) for name in ("cast", "lane", "pack", "len") if name in functions}
    found |= {("values", name) for name in re.findall(r"\b[gwl]id\.[xyz]\b", body)}
    found |= {row for row, pattern in _PATTERNS.items() if pattern.search(body)}
    if calls:
        found.add(("values", "call"))
    if any(name.startswith("atomic_") for name in functions):
        found.add(("values", "atomic"))
    # The source of a cast is known where it is a loaded element of the buffer `in0`, as in the cases about casts.
    given = re.search(r"^buffer in0: read ([\w<>]+)", head, re.MULTILINE)
    if given:
        names = {row[1]: row[0] for row in tables["types"]}
        found |= {
            ("casts", f"{names[given[1]]} to {names[goal]}") for goal in re.findall(r"\bcast\(([\w<>]+), in0\[", body)
        }
    return found


def _split(text: str) -> tuple[str, str]:
    """Declarations and statements."""
    lines = text.splitlines(keepends=True)
    first = next(
        (k for k, line in enumerate(lines) if not re.match(r"vyre |workgroup_size |buffer |$", line)), len(lines)
    )
    return "".join(lines[:first]), "".join(lines[first:])


@cache
def coverage() -> tuple[Row, ...]:
    """Every row of the tables of operators, atomics, casts, memory, statements, values and standard operations."""
    counts: Counter[tuple[str, str]] = Counter()
    for made in catalogue.cases():
        if not made.id.startswith("L3/optimiser/"):
            counts.update({row for step in made.steps for row in _uses(step.program.to_text())})
    return tuple(Row(table, name, counts[table, name], OUT_OF_REACH.get((table, name), "")) for table, name in rows())


def table() -> str:
    """The coverage as Markdown, one line for each table.

    >>> print(table().splitlines()[0])
    | table | rows | with a case | cases a row, at least | without a case |
    """
    by_table: dict[str, list[Row]] = {}
    for row in coverage():
        by_table.setdefault(row.table, []).append(row)
    lines = ["| table | rows | with a case | cases a row, at least | without a case |", "|---|---|---|---|---|"]
    for name, members in by_table.items():
        with_cases = [row for row in members if row.cases]
        least = min(with_cases, key=lambda row: row.cases)
        missing = "; ".join(f"`{row.name}`: {row.why}" for row in members if not row.cases) or "none"
        lines.append(f"| {name} | {len(members)} | {len(with_cases)} | {least.cases} (`{least.name}`) | {missing} |")
    return "\n".join(lines)
