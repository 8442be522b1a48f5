"""Every public callable has a signature: for inspect where Python wrote it, and as the first line of its docstring
where C++ did, with the parameters that the stub has."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import vyre
import vyre.conformance
import vyre.fuzz
import vyre.std

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STUB = ast.parse(Path(vyre.__file__).with_name("_core.pyi").read_text(encoding="utf-8"))
PACKAGES = (vyre, vyre.std, vyre.conformance, vyre.fuzz)
# Classes whose objects only vyre makes: they have no signature, and calling them says how to get one.
MADE_BY_VYRE = {"Array", "BufferDecl", "Convention", "Diagnostic", "Expr", "Node", "Place", "Procedure"}


def is_core(value: object) -> bool:
    return getattr(value, "__module__", None) == "vyre._core" or type(value).__name__ in (
        "builtin_function_or_method",
        "instancemethod",
    )


def public() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Names and callables of the packages, with the methods of their classes."""
    for package in PACKAGES:
        for name in package.__all__:
            value = getattr(package, name)
            if not callable(value) or isinstance(value, (vyre.DataType, vyre.Kernel)):
                continue
            yield f"{package.__name__}.{name}", value
            if inspect.isclass(value) and not hasattr(value, "__members__"):
                for member in vars(value):
                    inner = getattr(value, member)
                    if not member.startswith("_") and callable(inner):
                        yield f"{package.__name__}.{name}.{member}", inner


ALL = dict(public())
CORE = {name: value for name, value in ALL.items() if is_core(value)}
PYTHON = {name: value for name, value in ALL.items() if name not in CORE}


def test_there_are_many_of_both():
    assert len(PYTHON) > 250
    assert len(CORE) > 180


@pytest.mark.parametrize("name", PYTHON)
def test_inspect_sees_the_signature_of_what_python_wrote(name):
    assert inspect.signature(PYTHON[name]) is not None


def written(value: Any) -> ast.arguments | None:
    """The parameters in the first line of a docstring."""
    line = (value.__doc__ or "").partition("\n")[0]
    found = re.fullmatch(r"(\w+)(\(.*\))( -> .*)?", line)
    if found is None:
        return None
    (function,) = ast.parse(f"def {found[1]}{found[2]}: ...").body
    assert isinstance(function, ast.FunctionDef)
    return function.args


def names_of(arguments: ast.arguments, is_method: bool) -> list[str]:
    """The parameters as text: names, stars, and whether there is a default."""
    places = [*arguments.posonlyargs, *arguments.args]
    defaults: list[Any] = [None] * (len(places) - len(arguments.defaults)) + arguments.defaults
    made = [each.arg + ("=" if default else "") for each, default in zip(places, defaults, strict=True)]
    made = made[1:] if is_method else made
    if arguments.vararg:
        made.append(f"*{arguments.vararg.arg}")
    elif arguments.kwonlyargs:
        made.append("*")
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    made += [each.arg + ("=" if default else "") for each, default in pairs]
    return made + ([f"**{arguments.kwarg.arg}"] if arguments.kwarg else [])


def in_stub(name: str) -> list[list[str]]:
    """The parameters of each definition of a name in the stub."""
    *owner, last = name.split(".")
    body: list[ast.stmt] = STUB.body
    if owner:
        (found,) = [node for node in body if isinstance(node, ast.ClassDef) and node.name == owner[0]]
        body = found.body
    made = []
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.name == last:
            # Methods that are functions of the module too have their object as the first of two values.
            made += [names_of(node.args, is_method) for is_method in {False, bool(owner)}]
    return made


FUNCTIONS = [name for name, value in CORE.items() if not inspect.isclass(value)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_docstring_begins_with_the_signature_of_the_stub(name):
    arguments = written(CORE[name])
    assert arguments is not None, CORE[name].__doc__
    assert names_of(arguments, is_method=False) in in_stub(name.removeprefix("vyre."))


def test_classes_of_the_module_begin_with_their_signature_or_are_made_by_vyre():
    classes = {name.removeprefix("vyre."): value for name, value in CORE.items() if inspect.isclass(value)}
    enumerations = {name for name, value in classes.items() if hasattr(value, "__members__")}
    assert {name for name, value in classes.items() if not written(value)} - enumerations == MADE_BY_VYRE


def test_errors_with_an_init_of_their_own_have_its_signature():
    assert str(inspect.signature(vyre.ArgumentError)) == "(*args: 'object')"
    assert list(inspect.signature(vyre.CheckError).parameters) == ["result"]
