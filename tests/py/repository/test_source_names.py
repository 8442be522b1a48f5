"""The sources of a layer can be compiled together, as builds with VYRE_UNITY do.

What one source declares in an unnamed namespace is then seen by the next one. So another source of the layer must not
declare the same name in the same namespace, not even for other arguments: a call could choose the wrong function
without an error. A function or a type that a header declares must not have the name either: it would be hidden. The
tests rely on the format of the sources, which puts these declarations at the beginning of a line.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

CPP = Path(__file__).parents[3] / "cpp"
LAYERS = [CPP / "bindings", *sorted(path for path in (CPP / "vyre").iterdir() if path.is_dir())]

NAMESPACE = re.compile(r"namespace ?([\w:]*) ?\{$")
ALIAS = re.compile(r"using (\w+) = .*")
TYPE = re.compile(r"(?:class|struct|enum class|enum|union) (\w+)(?! *;|\w*;)")
FUNCTION_OR_OBJECT = re.compile(r"(?:\[\[\w+\]\] )?[\w:<>,*& ]+[ *&](\w+)(\(|\{| = |;|\[)")
OTHER = re.compile(
    r"[ }#/]|using |namespace |template |requires |static_assert|return |extern |friend |public|private|case "
)


def declarations(path: Path) -> list[tuple[str, str, str]]:
    """Namespace, name and line of what a file declares outside of types and functions; "{}" is an unnamed namespace."""
    text = re.sub(r'R"(\w*)\(.*?\)\1"', '""', path.read_text(encoding="utf-8"), flags=re.DOTALL)
    scopes: list[str] = []
    found = []
    for line in text.splitlines():
        if opened := NAMESPACE.match(line):
            scopes.append(opened[1] or "{}")
        elif line.startswith("}  // namespace"):
            scopes.pop()
        elif (declared := TYPE.match(line) or ALIAS.match(line)) or (
            not OTHER.match(line) and (declared := FUNCTION_OR_OBJECT.match(line))
        ):
            found.append(("::".join(scopes), declared[1], line))
    return found


@cache
def names_of_headers(root: Path) -> dict[tuple[str, str], str]:
    """What headers declare, by namespace and name, with the header: functions and types."""
    return {
        (scope, name): header.name
        for header in sorted(root.rglob("*.hpp"))
        for scope, name, line in declarations(header)
        if f"{name}(" in line or TYPE.match(line)
    }


def problems(layer: Path, headers: dict[tuple[str, str], str]) -> list[str]:
    places: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for source in sorted(layer.rglob("*.cpp")):
        for scope, name, line in declarations(source):
            if scope.endswith("{}"):
                places[scope.removesuffix("::{}"), name][source.name] = line
    found = []
    for (scope, name), lines in places.items():
        files = ", ".join(lines)
        # The same alias may be written twice.
        if len(lines) > 1 and not (len({*lines.values()}) == 1 and ALIAS.match(next(iter(lines.values())))):
            found.append(f"{files} declare `{name}`. Fix: rename it in all but one, or share it.")
        parts = scope.split("::")
        for outer in ("::".join(parts[:count]) for count in range(len(parts), 0, -1)):
            if (outer, name) in headers:
                found.append(f"{files}: `{name}` hides what {headers[outer, name]} declares. Fix: rename it.")
    return found


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_sources_of_a_layer_declare_different_names(layer):
    assert problems(layer, names_of_headers(CPP)) == []


def source(namespace: str, declaration: str) -> str:
    return (
        f"namespace {namespace} {{\nnamespace {{\n\n{declaration}\n\n}}  // namespace\n}}  // namespace {namespace}\n"
    )


def test_a_name_that_two_sources_declare_is_found(tmp_path):
    (tmp_path / "a.cpp").write_text(source("vyre::ir", "int depth(int) { return 1; }"))
    (tmp_path / "b.cpp").write_text(source("vyre::ir", "int depth(long) { return 1; }"))
    (tmp_path / "c.cpp").write_text(source("vyre::ops", "int depth(long) { return 1; }"))
    assert problems(tmp_path, {}) == ["a.cpp, b.cpp declare `depth`. Fix: rename it in all but one, or share it."]


def test_a_type_that_a_header_declares_too_is_found(tmp_path):
    (tmp_path / "a.hpp").write_text("namespace vyre::ir {\n\nclass Span {\n};\n\n}  // namespace vyre::ir\n")
    (tmp_path / "a.cpp").write_text(source("vyre::ir", "struct Span {\n};"))
    assert problems(tmp_path, names_of_headers(tmp_path)) == [
        "a.cpp: `Span` hides what a.hpp declares. Fix: rename it."
    ]


def test_a_name_that_hides_a_function_of_an_outer_namespace_is_found(tmp_path):
    (tmp_path / "a.hpp").write_text("namespace vyre {\n\nint depth(int);\n\n}  // namespace vyre\n")
    (tmp_path / "a.cpp").write_text(source("vyre::ir", "int depth(long) { return 1; }"))
    headers = names_of_headers(tmp_path)
    assert problems(tmp_path, headers) == ["a.cpp: `depth` hides what a.hpp declares. Fix: rename it."]
