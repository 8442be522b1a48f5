"""What ``vyre ops`` tells about the calls of vyre.std: their parameters, types, and the first line of each."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from vyre import std
from vyre.std._calls.declared import STEPS

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["call_names", "call_row", "shown", "written"]


def call_names() -> list[str]:
    """The functions of the library."""
    return [name for name in sorted(std._HOMES) if inspect.isfunction(getattr(std, name))]


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
    function = getattr(std, name)
    text = inspect.getdoc(function) or ""
    told = _arguments(text)
    return {
        "name": f"vyre.std.{name}",
        "parameters": [
            {
                "name": each.name,
                "type": "" if each.annotation is each.empty else str(each.annotation),
                "default": "" if each.default is each.empty else repr(each.default),
                "by_name": each.kind is each.KEYWORD_ONLY,
                "description": told.get(each.name, ""),
            }
            for each in inspect.signature(function).parameters.values()
        ],
        "summary": text.partition("\n\n")[0].replace("\n", " "),
        "is_step": f"vyre.std.{name}" in STEPS,
    }


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
