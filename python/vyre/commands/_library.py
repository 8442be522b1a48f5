"""What ``vyre ops`` tells about the calls of vyre.std: their parameters, types, and the first line of each.

It reads their sources. To import the library takes a second, because kernels are read when they are decorated.
"""

from __future__ import annotations

import ast
import inspect
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vyre import std
from vyre.std._calls.declared import PLACE, told_of_call

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["call_names", "call_row", "shown", "written"]


def call_names() -> list[str]:
    """The functions of the library; classes begin with a capital."""
    return [name for name in sorted(std._HOMES) if name.islower()]


def shown(row: dict[str, Any]) -> str:
    """A call in full."""
    lines = [f"{row['name']}({', '.join(written(row['parameters']))})", f"  {row['summary']}"]
    lines += [f"  {each['name']}: {each['description']}" for each in row["parameters"] if each["description"]]
    if row["is_step"]:
        lines.append("  a step in the body of a procedure")
    return "\n".join(lines)


def written(parameters: list[dict[str, Any]]) -> Iterator[str]:
    """Parameters as a def has them."""
    is_starred = False
    for each in parameters:
        if each["by_name"] and not is_starred:
            is_starred = True
            yield "*"
        default = f" = {each['default']}" if each["default"] else ""
        yield f"{each['name']}{': ' if each['type'] else ''}{each['type']}{default}"


def call_row(name: str) -> dict[str, Any]:
    function, decorator = _definition(name)
    text = inspect.cleandoc(ast.get_docstring(function) or "")
    rows = [_parameter(*each) for each in _given(function.args)]
    if decorator:
        text = told_of_call(text)
        rows += [_parameter(each, annotation, "None", True) for each, annotation in PLACE.items()]
    about = _arguments(text)
    return {
        "name": f"vyre.std.{name}",
        "parameters": [{**row, "description": about.get(row["name"], "")} for row in rows],
        "summary": text.partition("\n\n")[0].replace("\n", " "),
        "is_step": decorator == "step",
    }


def _definition(name: str) -> tuple[ast.FunctionDef, str]:
    """The head of a function with its docstring, and its decorator: "call", "step" or none."""
    text = _source(std._HOMES[name])
    begin = text.index(f"\ndef {name}(") + 1
    end = text.index('"""', text.index('"""', begin) + 3) + 3
    (function,) = ast.parse(text[begin:end]).body
    assert isinstance(function, ast.FunctionDef)
    above = text[:begin].rsplit("\n", 2)[1]
    return function, above.removeprefix("@") if above.startswith("@") else ""


@cache
def _source(family: str) -> str:
    return Path(std.__file__).with_name(f"{family}.py").read_text(encoding="utf-8")


def _given(args: ast.arguments) -> Iterator[tuple[str, str, str, bool]]:
    """Name, type, default, and whether it is given by name alone; but for ``**at``."""
    required = len(args.args) - len(args.defaults)
    defaults = [None] * required + args.defaults
    for each, default in zip(args.args + args.kwonlyargs, defaults + args.kw_defaults, strict=True):
        type, value = (ast.unparse(part) if part is not None else "" for part in (each.annotation, default))
        yield each.arg, type, value, each in args.kwonlyargs


def _parameter(name: str, type: str, default: str, by_name: bool) -> dict[str, Any]:
    return {"name": name, "type": type, "default": default, "by_name": by_name}


def _arguments(text: str) -> dict[str, str]:
    """What the Args of a docstring say about each parameter."""
    found: dict[str, str] = {}
    names: list[str] = []
    _, _, section = text.partition("\nArgs:\n")
    for line in section.splitlines():
        if not line.startswith("    "):
            break
        if line.startswith("     "):  # it goes on
            found.update({name: f"{found[name]} {line.strip()}" for name in names})
        else:
            before, _, said = line.strip().partition(": ")
            names = before.split(", ")
            found.update(dict.fromkeys(names, said))
    return found
