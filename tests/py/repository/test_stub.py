"""The stub of the C++ module names exactly what the module has."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import vyre
from vyre import _core

STUB = Path(vyre.__file__).with_name("_core.pyi")


def stub_names() -> dict[str, ast.AST]:
    """name or Class.name -> definition."""
    found: dict[str, ast.AST] = {}
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, ast.AnnAssign):
            found[node.target.id] = node
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef):
                    found[f"{node.name}.{member.name}"] = member
                elif isinstance(member, ast.Assign):
                    found[f"{node.name}.{member.targets[0].id}"] = member
                elif isinstance(member, ast.AnnAssign):
                    found[f"{node.name}.{member.target.id}"] = member
    return found


def is_enum(value: object) -> bool:
    return hasattr(value, "__members__")


def module_names() -> set[str]:
    found: set[str] = set()
    for name, value in vars(_core).items():
        if name.startswith("__") and name != "__version__":
            continue
        found.add(name)
        if is_enum(value):
            found.update(f"{name}.{member}" for member in value.__members__)
        elif inspect.isclass(value):
            found.update(f"{name}.{member}" for member in vars(value) if not member.startswith("_"))
    return found


def test_every_name_of_the_module_is_in_the_stub():
    missing = module_names() - set(stub_names())
    assert not missing


def test_the_names_of_a_star_import_are_those_of_the_stub():
    (listed,) = (
        ast.literal_eval(node.value)
        for node in ast.parse(STUB.read_text(encoding="utf-8")).body
        if isinstance(node, ast.AnnAssign) and node.target.id == "__all__"
    )
    assert listed == _core.__all__
    assert set(listed) == {name for name in vars(_core) if not name.startswith("_")} - {"abs", "min", "max"}


def test_every_name_of_the_stub_is_in_the_module():
    private = {"_Bound", "_BufferLike", "_ExprLike", "_Nodes"}
    for name in stub_names():
        if name in private:
            continue
        value = _core
        for part in name.split("."):
            assert hasattr(value, part), f"{name} is in the stub alone"
            value = getattr(value, part)


def test_the_package_says_that_it_is_typed():
    assert STUB.with_name("py.typed").exists()
