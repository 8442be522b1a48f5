"""The reference as Markdown: types, casts, operators, rules and operations, read from the tables of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEAD = """\
# Reference

`vyre reference` prints this page from the tables of the C++ core, and `make tables` writes it.
A number stands for its row in the binary form (`docs/binary-form.md`) and never changes.
"""


def _table(head: tuple[str, ...], rows: Sequence[tuple[object, ...]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _list(rows: Sequence[tuple[str, str]]) -> str:
    return "".join(f"- {name}: {meaning}\n" for name, meaning in rows)


def _code(text: object) -> str:
    return f"`{text}`" if text else ""


def _types() -> str:
    rows = [
        (_code(row.name), row.number, _code(row.text), row.bytes or "", row.lanes or "", row.numpy, row.meaning)
        for row in _core._tables["types"]
    ]
    return (
        "## Types\n\n"
        + _table(("DataType", "number", "in text", "bytes", "lanes", "numpy", "meaning"), rows)
        + "\nA `Bytes` buffer has a length and no elements that a program loads or stores. Declare a U32 buffer\n"
        "for bytes to work on, and bind `vyre.pack_bytes(data)`.\n"
    )


def _casts() -> str:
    targets: dict[str, list[str]] = {}
    for source, target in _core._tables["casts"]:
        targets.setdefault(source, []).append(_code(target))
    rows = [(f"from {_code(source)}", ", ".join(to)) for source, to in targets.items()]
    return "## Casts\n\n`Expr.cast(target, value)` is defined\n\n" + _list(rows)


def _operators() -> str:
    binary = [
        (
            _code(text),
            _code(f"BinOp.{name}"),
            number,
            _code(f"a {infix} b" if infix else f"{text}(a, b)"),
            "" if {left, right, result} == {"U32"} else f"{left}, {right} -> {result}",
            meaning,
        )
        for number, (name, text, infix, left, right, result, meaning) in enumerate(_core._tables["binary"])
    ]
    unary = [
        (
            _code(text),
            _code(f"UnOp.{name}"),
            number,
            _code(f"{text}(a)"),
            "" if operand == result == "U32" else f"{operand} -> {result}",
            meaning,
        )
        for number, (name, text, operand, result, meaning) in enumerate(_core._tables["unary"])
    ]
    ternary = [
        (
            _code(text),
            "",
            number,
            _code(f"{text}(a, b, c)"),
            "U32 or Bool, any, the same -> the same" if name == "Select" else f"{a}, {b}, {c} -> {result}",
            meaning,
        )
        for name, text, number, a, b, c, result, meaning in _core._tables["ternary"]
    ]
    atomic = [
        (_code(text), _code(f"AtomicOp.{name}"), number, _code(_atomic(name, text)), meaning)
        for number, (name, text, meaning) in enumerate(_core._tables["atomic"])
    ]
    head = ("name", "operator", "number", "in text", "types", "meaning")
    by_type = [
        (
            _code(row.symbol) + (f", `vyre.{row.function}`" if hasattr(_core, row.function) else ""),
            ", ".join(each.name for each in _core._tables["types"] if each.name in row.types),
        )
        for row in _core._tables["infix"]
    ]
    return (
        "## Operators by type\n\n"
        "Python's operators on expressions, and these functions, mean what they mean on the type of their operands,\n"
        "which is known when a Program is made. Both operands have one type; a vector takes a U32 too, for every\n"
        "lane; amounts of shifts and rotations are U32. An integer takes the type that stands opposite. Comparisons\n"
        "give U32, 1 or 0, and on Bool a Bool. `//` and `%` truncate, and are 0 for a divisor of 0; `~` of a Bool is\n"
        "its negation. Mistakes are V039.\n\n" + _list(by_type) + "\n## Operators\n\n"
        "The explicit ones, which programs consist of. Each is `Expr.<name>`; a function `vyre.<name>` that the list\n"
        "above does not have is the same. Where no types stand, operands and result are U32.\n\n"
        + _table(head, binary)
        + "\n"
        + _table(head, unary)
        + "\nThe numbers of those with three operands are those of their kinds in the binary form.\n\n"
        + _table(head, ternary)
        + "\n## Atomics\n\nOn ReadWrite buffers of U32; each gives the value held before.\n\n"
        + _table(("name", "operator", "number", "in text", "new value"), atomic)
    )


def _atomic(name: str, text: str) -> str:
    """An atomic on buffer `b` at index `i`, in the text form; only a compare-exchange has an expected value."""
    return f"{text}(b, i, expected, value)" if name == "CompareExchange" else f"{text}(b, i, value)"


def _rules() -> str:
    from vyre._kernel.mistakes import RULES  # most commands start without kernels

    families = {
        "Rules of programs": [row[:3] for row in sorted(_core._tables["rules"])],
        "Rules of kernels": [(rule, "", checks) for rule, checks in RULES.items()],
        "Rules of procedures": [row[:3] for row in _core._tables["procedure_rules"]],
        "Notes": [row[:3] for row in _core._tables["notes"]],
    }
    parts = [
        '## Rules\n\n`vyre.explain("V014")` says more of a rule: why it is there, and its messages. Notes stop no\n'
        "program: `program.notes()` and `kernel.notes()` say what is probably not meant.\n"
    ]
    for family, rows in families.items():
        named = [(f"{rule}, {title}" if title else rule, checks) for rule, title, checks in rows]
        parts.append(f"### {family}\n\n" + _list(named))
    return "\n".join(parts)


def _checks() -> str:
    rows = [
        (_code(name), meaning if usual else f"{meaning}; not in `all`")
        for name, meaning, usual in _core._tables["checks"]
    ]
    return "## Checks\n\nWhat `vyre.check(..., checks=[...])` looks for.\n\n" + _list(rows)


def _speedups() -> str:
    rows = [(_code(name), meaning) for name, meaning in _core._tables["speedups"]]
    return (
        "## Lowering for speed\n\nWhat `optimize=` of `vyre.run`, `vyre.lower` and a call names: True is all that "
        "pays, False is none, a list of names is these wherever they apply. No combination changes a byte. `addresses` "
        "may be named too: on Vulkan, all arrays are then reached by their addresses, as those are that a device "
        "cannot bind.\n\n" + _list(rows)
    )


def _operations() -> str:
    operations: dict[str, list[tuple[str, str]]] = {}
    for spec in _core._op_all():
        if spec.id.startswith("primitive.") and spec.signature is not None:
            types = f"({', '.join(t.name for t in spec.signature.inputs)}) -> {spec.signature.output.name}"
            version = f", version {spec.version}" if spec.version > 1 else ""
            operations.setdefault(types, []).append((_code(spec.id) + version, spec.summary))
    functions = [
        (
            _code(f"vyre.{row.function}({', '.join(row.parameters)})"),
            f"{row.meaning} Calls "
            + ", ".join(f"{_code(each)} ({name})" for name, each in row.operations.items())
            + ".",
        )
        for row in _core._tables["by_type"]
    ]
    return (
        "## Operations\n\n`vyre.ops.call(id, arguments ...)`, in kernels too. A name that begins with `s` is the\n"
        "signed form of the name without it; on U64 it reads the same 64 bits in two's complement.\n\n"
        + "\n".join(f"### {_code(types)}\n\n{_list(rows)}" for types, rows in operations.items())
        + "\n## Functions of operations\n\n"
        "Each calls the operation for the type of its operands, which is known when a Program is made. An integer\n"
        "takes the type that the operation wants; where all are integers, it is the first operation. Other types\n"
        "are V032.\n\n" + _list(functions)
    )


def reference() -> str:
    """The whole page.

    >>> reference().startswith("# Reference")
    True
    """
    tables = [_types(), _casts(), _operators(), _rules(), _checks(), _speedups(), _operations()]
    return "\n".join([_HEAD, *tables])
