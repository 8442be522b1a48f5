"""Every public callable has a signature that inspect sees; those of C++ are as the stub has them."""

from __future__ import annotations

import ast
import inspect
import pydoc
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import vyre
import vyre.conformance
import vyre.fuzz
import vyre.std
from vyre import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STUB = ast.parse(Path(vyre.__file__).with_name("_core.pyi").read_text(encoding="utf-8"))
PACKAGES = (vyre, vyre.std, vyre.conformance, vyre.fuzz)
# Classes whose objects only vyre makes: they have no signature, and calling them says how to get one.
MADE_BY_VYRE = {"Array", "BufferDecl", "Convention", "Diagnostic", "Expr", "Node", "Place", "Procedure"}
ENUMERATIONS = {name for name, value in vars(_core).items() if hasattr(value, "__members__")}


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


def of_function(node: ast.FunctionDef) -> inspect.Signature:
    """The signature of a definition without its annotations, which docstrings do not have."""
    named = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
    for each in named:
        if each is not None:
            each.annotation = None
    space: dict[str, Any] = {}
    exec(f"def made({ast.unparse(node.args)}): ...", space)
    return inspect.signature(space["made"])


def stub_signatures() -> Iterator[tuple[str, inspect.Signature]]:
    """Names and signatures of what users call: functions, methods, objects, and classes without their `self`."""
    for node in STUB.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node.name, of_function(node)
        if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
            continue
        for member in node.body:
            if not isinstance(member, ast.FunctionDef) or any(
                isinstance(each, ast.Name) and each.id == "property" for each in member.decorator_list
            ):
                continue
            if member.name == "__init__":
                signature = of_function(member)
                yield node.name, signature.replace(parameters=list(signature.parameters.values())[1:])
            elif member.name == "__call__" or not member.name.startswith("_"):
                yield f"{node.name}.{member.name}", of_function(member)


IN_STUB = dict(stub_signatures())


def parameters_of(signature: inspect.Signature) -> list[tuple[str, Any, Any]]:
    """Name, kind and default of each. `self` is given by position, whatever the kind says."""
    return [
        (each.name, None if each.name == "self" else each.kind, each.default) for each in signature.parameters.values()
    ]


def named(name: str) -> Any:
    value: Any = _core
    for part in name.split("."):
        value = getattr(value, part)
    return value


def test_the_stub_has_every_callable_of_the_module():
    assert {name.removeprefix("vyre.") for name in CORE} - ENUMERATIONS - MADE_BY_VYRE <= set(IN_STUB)
    assert {"OpSpec", "Program.__call__", "Program.from_bytes", "Array.wait", "Expr.add", "min"} < set(IN_STUB)


@pytest.mark.parametrize("name", IN_STUB)
def test_inspect_sees_the_signature_of_the_stub(name):
    assert parameters_of(inspect.signature(named(name))) == parameters_of(IN_STUB[name])


def test_classes_that_only_vyre_calls_have_no_signature():
    for name in MADE_BY_VYRE:
        with pytest.raises(ValueError, match="no signature found"):
            inspect.signature(named(name))


def test_a_bound_method_and_an_object_leave_out_self():
    program = vyre.Program()
    assert str(inspect.signature(program.notes)) == "(*, lengths=None, workgroups=None, invocations=None)"
    assert str(inspect.signature(vyre.Expr.var("a").rotl)) == "(right)"
    assert str(inspect.signature(program)) == "(*arrays, workgroups, at_most=None, optimize=None, **arrays_by_name)"


def test_docstrings_of_functions_keep_the_type_of_the_result_and_those_of_classes_begin_with_the_text():
    assert vyre.Program.to_text.__doc__.startswith("to_text() -> str\n\nThe text form: ")
    assert vyre.OpSignature.__doc__.startswith("The types of an operation's inputs and of its output.\n\n>>> ")
    shown = pydoc.plain(pydoc.render_doc(vyre.OpSignature))
    assert " |  OpSignature(inputs, output)\n |  \n |  The types of an operation's inputs and of its output.\n" in shown


@pytest.mark.parametrize("name", [name for name, value in CORE.items() if not inspect.isclass(value)])
def test_the_docstring_begins_with_the_same_names_and_a_type(name):
    """What a refused call is told to write."""
    line = (CORE[name].__doc__ or "").partition("\n")[0]
    found = re.fullmatch(r"(\w+)(\(.*\)) -> .+", line)
    assert found is not None, line
    (function,) = ast.parse(f"def {found[1]}{found[2]}: ...").body
    assert isinstance(function, ast.FunctionDef)
    bound = [each for each in parameters_of(inspect.signature(CORE[name])) if each[0] != "self"]
    assert parameters_of(of_function(function)) == bound


def test_errors_with_an_init_of_their_own_have_its_signature():
    assert str(inspect.signature(vyre.ArgumentError)) == "(*args: 'object')"
    assert list(inspect.signature(vyre.CheckError).parameters) == ["result", "what"]
