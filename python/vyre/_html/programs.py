"""The forms of programs: Program, Kernel, Procedure, operations and graphs of calls."""

from __future__ import annotations

import linecache
from math import prod
from typing import TYPE_CHECKING, Any

from vyre._base.types import TYPES
from vyre._html.code import blocks, python, text_form
from vyre._html.markup import Content, Markup, element, escaped, joined
from vyre._html.parts import Form, code, counted, facts, folded, note, section, sheet, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vyre._core import BufferDecl, OpSpec, Procedure, Program
    from vyre._kernel.explain import Explanation
    from vyre._kernel.kernel import Kernel, Specialized
    from vyre._kernel.parameters import Parameter
    from vyre._procedure.procedure import ProcedureFunction

__all__ = ["explanation", "kernel", "operation", "procedure", "procedure_function", "program", "specialized"]

_MOST_BUFFERS = 40
_MOST_EXAMPLES = 8


def program(shown: Program) -> str:
    return sheet(program_form(shown))


def program_form(shown: Program) -> Form:
    """Its sizes, its buffers, and its statements, which fold."""
    return Form("Program", _counts(shown), _parts(shown))


def _counts(shown: Program) -> str:
    """`1 statement, 4 expressions`, as its repr says."""
    return repr(shown).rpartition("), ")[2].rstrip(">")


def _parts(shown: Program) -> tuple[Markup, ...]:
    buffers = shown.buffers
    rows: list[Sequence[Content] | str] = [_buffer_row(decl) for decl in buffers[:_MOST_BUFFERS]]
    if len(buffers) > _MOST_BUFFERS:
        rows.append(f"… {len(buffers) - _MOST_BUFFERS:,} more buffers")
    return (
        facts(
            [
                ("workgroup", _extent(shown.workgroup_size)),
                ("workgroup memory", _memory(buffers, "Workgroup")),
                ("private memory", _memory(buffers, "Private")),
                ("binary form", counted(len(shown.to_bytes()), "byte")),
            ]
        ),
        table(["buffer", "access", "element", "count", "binding", ""], rows) if rows else Markup(),
        blocks(_statements(shown.to_text())),
    )


def _buffer_row(decl: BufferDecl) -> list[Content]:
    of_host = decl.access.name not in ("Workgroup", "Private")
    marks = [word for word, holds in (("output", decl.is_output), ("atomic", decl.atomic)) if holds]
    count: Content = decl.count if decl.count or not of_host else "the array's"
    return [
        code(decl.name),
        decl.access.name,
        element("code", text_form(TYPES[decl.element].text)),
        count,
        decl.binding if of_host else "",
        ", ".join(marks),
    ]


def _statements(text: str) -> str:
    """Return the part of a text form behind its buffers."""
    return text.partition("\n\n")[2].rstrip("\n")


def _memory(buffers: Iterable[BufferDecl], access: str) -> str | None:
    size = sum(decl.count * decl.element.min_bytes() for decl in buffers if decl.access.name == access)
    return counted(size, "byte") if size else None


def _extent(counts: Iterable[int]) -> str:
    counts = tuple(counts)
    whole = " × ".join(f"{count:,}" for count in counts)
    return f"{whole} = {counted(prod(counts), 'invocation')}"


def kernel(shown: Kernel) -> str:
    return sheet(kernel_form(shown))


def kernel_form(shown: Kernel) -> Form:
    """Its parameters, where it stands, its source, and the Program that it becomes, or why it does not."""
    from vyre._html.mistakes import diagnostic_form
    from vyre.errors import KernelError

    function = shown._function
    parts = [
        note((shown.__doc__ or "").strip().partition("\n")[0]),
        facts([("defined at", _place(function))]),
        table(["parameter", "role", "element", "axes", "default"], map(_parameter_row, shown._parameters)),
        folded("source", python(source(function))),
    ]
    if shown._constants:
        names = ", ".join(f"{each.name}=…" for each in shown._constants)
        parts.append(note(f"It has a Program for each value of its constants: specialize({names}) shows one."))
        return Form("Kernel", _signature(shown.__name__, shown._parameters), tuple(parts))
    try:
        made = shown.program
    except KernelError as error:
        parts += [section(diagnostic_form(each)) for each in error.diagnostics[:3]]
        return Form("Kernel", _signature(shown.__name__, shown._parameters), tuple(parts), "bad")
    parts.append(folded(f"program: {_counts(made)}", *_parts(made), is_open=True))
    return Form("Kernel", _signature(shown.__name__, shown._parameters), tuple(parts))


def specialized(shown: Specialized) -> str:
    return sheet(Form("Kernel", f"{shown.__name__}, specialized: {_counts(shown.program)}", _parts(shown.program)))


def _signature(name: str, parameters: Iterable[Parameter]) -> Markup:
    return element("code", f"{name}({', '.join(each.name for each in parameters)})")


def _parameter_row(each: Parameter) -> list[Content]:
    from vyre._base.text import shown

    kind = "" if each.element is None else element("code", text_form(TYPES[each.element].text))
    default = code(shown(each.default)) if each.has_default else ""
    return [code(each.name), each.kind, kind, each.axes if each.is_array else "", default]


def _place(function: Any) -> Content:
    from types import SimpleNamespace

    from vyre._base import source

    at: Any = SimpleNamespace(file=function.__code__.co_filename, line=function.__code__.co_firstlineno, column=None)
    return code(source.describe(at, columns=False))


def source(function: Any) -> str:
    """The lines of a function, as far as they can be read."""
    import inspect

    start = function.__code__.co_firstlineno
    lines = linecache.getlines(function.__code__.co_filename, function.__globals__)[start - 1 :]
    try:
        return "".join(inspect.getblock(lines)).rstrip()
    except Exception:  # of a file that changed meanwhile the lines may be no Python
        return ""


def explanation(shown: Explanation) -> str:
    """A table for each section of the explanation."""
    (_, about), *rest = shown._sections()
    parts = [facts([(name, value) for name, value in about])]
    parts += [table([], rows, caption=title) for title, rows in rest]
    return sheet(Form("Explanation", shown.kernel, tuple(parts)))


def procedure(shown: Procedure) -> str:
    return sheet(procedure_form(shown))


def procedure_function(shown: ProcedureFunction) -> str:
    if any(each.kind == "const" and not each.has_default for each in shown._parameters):
        names = ", ".join(f"{each.name}=…" for each in shown._parameters if each.kind == "const")
        told = note(f"It is a Procedure for each value of its constants: specialize({names}) shows one.")
        rows = table(["parameter", "role", "element", "axes", "default"], map(_parameter_row, shown._parameters))
        return sheet(Form("Procedure", _signature(shown.name, shown._parameters), (rows, told)))
    return sheet(procedure_form(shown.procedure))


def procedure_form(shown: Procedure) -> Form:
    """Its sizes, and its arrays and steps as text; the programs in it are closed."""
    steps = shown.to_text().partition("\n")[2]
    parts = (
        facts(
            [
                ("programs", len(shown.programs)),
                ("procedures", len(shown.procedures) or None),
                ("binary form", counted(len(shown.to_bytes()), "byte")),
            ]
        ),
        blocks(steps.rstrip("\n"), closed=lambda line: line.startswith(("program ", "procedure ", "table "))),
    )
    return Form("Procedure", shown.name, parts)


def operation(shown: OpSpec) -> str:
    return sheet(operation_form(shown))


def operation_form(shown: OpSpec) -> Form:
    """Its signature, laws, examples, and the statements that a call of it becomes."""
    signature = shown.signature
    if signature is None:
        assert shown.procedure is not None
        told = (note(shown.summary), facts([("convention", code(repr(shown.convention)))]))
        return Form(
            "Operation", joined(escaped(shown.id), "@", shown.version), (*told, *procedure_form(shown.procedure).parts)
        )
    names = shown.parameters or [f"a{k}" for k in range(len(signature.inputs))]
    inputs = ", ".join(f"{name}: {TYPES[kind].text}" for name, kind in zip(names, signature.inputs, strict=False))
    written = text_form(f"({inputs}) -> {TYPES[signature.output].text}")
    examples = shown.examples
    rows: list[Sequence[Content] | str] = [
        [code(", ".join(map(_value, given))), code(_value(gives))] for given, gives in examples[:_MOST_EXAMPLES]
    ]
    if len(examples) > _MOST_EXAMPLES:
        rows.append(f"… {len(examples) - _MOST_EXAMPLES:,} more examples")
    body = shown.body
    parts = (
        note(shown.summary),
        facts(
            [
                ("signature", element("code", written)),
                ("laws", ", ".join(law.name for law in shown.laws)),
                ("convention", code(repr(shown.convention))),
                ("expanded in place", "yes" if shown.inlinable else "no"),
            ]
        ),
        table(["example", "gives"], rows) if rows else Markup(),
        folded("body", blocks(_statements(body.to_text()))) if body is not None else Markup(),
    )
    return Form("Operation", joined(escaped(shown.id), "@", shown.version), parts)


def _value(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1 << 16:
        return f"{value:#x}"
    return str(value)
