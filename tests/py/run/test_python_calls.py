"""Wrong calls of what is written in Python are told what fits, in the words that the C++ functions have."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pickle
import pydoc
import types

import numpy as np
import pytest

import vyre
import vyre.conformance
import vyre.fuzz
from conftest import message
from vyre import BufferDecl, Expr, Node, Program
from wrong_calls import wrong_calls

I = Expr.gid_x()  # noqa: E741
DOUBLE = Program(
    [BufferDecl.read("x", 0, vyre.u32), BufferDecl.output("out", 1, vyre.u32)],
    (64, 1, 1),
    [Node.store("out", I, Expr.load("x", I) * 2)],
)
TEN = {"x": np.arange(10, dtype=np.uint32), "out": 10}


def written_in_python() -> dict[str, types.FunctionType]:
    """Public functions, and what makes objects of public classes and their public methods."""
    found = {}
    for module in (vyre, vyre.ops, vyre.std, vyre.fuzz, vyre.conformance):
        for name in module.__all__:
            value, whole = getattr(module, name), f"{module.__name__}.{name}"
            if isinstance(value, types.FunctionType):
                found[whole] = value
            elif isinstance(value, type) and value.__module__ != "vyre._core":
                for base in value.__mro__:
                    if base.__module__.startswith("vyre.") and base.__module__ != "vyre._core":
                        found |= {f"{whole}.{member}": method for member, method in methods(base).items()}
    return found


def methods(kind: type) -> dict[str, types.FunctionType]:
    members = {name: getattr(raw, "__func__", raw) for name, raw in vars(kind).items()}
    return {
        name: method
        for name, method in members.items()
        if isinstance(method, types.FunctionType)
        and (not name.startswith("_") or name in ("__init__", "__new__", "__call__"))
    }


def test_everything_public_that_is_written_in_python_says_what_fits():
    found = written_in_python()
    for name in ("vyre.run", "vyre.bisect", "vyre.lower", "vyre.op", "vyre.Graph.wait", "vyre.Profile.to_numpy"):
        assert name in found
    for name in ("vyre.fuzz.generate", "vyre.conformance.certify", "vyre.fuzz.Case.from_json", "vyre.Device.__init__"):
        assert name in found
    for name in ("vyre.CheckResult.save", "vyre.ProfileEvent.__new__", "vyre.ValidationError.__init__"):
        assert name in found
    for name, function in found.items():
        parameters = inspect.signature(function).parameters
        if any(p.kind == p.VAR_KEYWORD for p in parameters.values()):
            # The first takes what vyre.run takes, the others what a function of the user or an operation names.
            assert name in (
                *("vyre.fuzz.Case.run", "vyre.Operation.__call__", "vyre.ops.Operation.__call__"),
                *("vyre.Kernel.__call__", "vyre.Kernel.cost", "vyre.Kernel.notes", "vyre.Kernel.specialize"),
                *("vyre.ProcedureFunction.__call__", "vyre.ProcedureFunction.specialize"),
                *("vyre.Kernel.check", "vyre.ProcedureFunction.check"),
                *("vyre.trace", "vyre.ops.invoke"),
            )
            continue
        itself = [object()] if next(iter(parameters), "") in ("self", "cls", "_cls") else []
        with pytest.raises(vyre.CallError, match=r"has no argument `no_such_argument`\. Fix: write "):
            function(*itself, no_such_argument=1)


def test_functions_are_what_they_were_to_those_who_look_at_them():
    for name, function in written_in_python().items():
        original = inspect.unwrap(function)
        assert original is not function, name
        assert inspect.signature(function) == inspect.signature(original)
        assert function.__doc__ == original.__doc__
        assert (function.__name__, function.__qualname__) == (original.__name__, original.__qualname__)
        assert (function.__module__, function.__globals__) == (original.__module__, original.__globals__)
    for function in (vyre.run, vyre.bisect, vyre.check, vyre.repeat, vyre.array, vyre.ops.register, vyre.explain):
        assert pickle.loads(pickle.dumps(function)) is function
    assert "run(program: 'Program | Procedure'" in pydoc.plain(pydoc.render_doc(vyre.run))
    modules = (vyre._run, importlib.import_module("vyre._devices"))
    found = {test.name for module in modules for test in doctest.DocTestFinder().find(module) if test.examples}
    assert {"vyre._run.run", "vyre._run.lower", "vyre._devices.Backends.unavailable"} <= found


def test_a_type_error_from_within_comes_through():
    def one_argument(program):
        return program

    with pytest.raises(TypeError, match="takes 1 positional argument but 3 were given") as error:
        vyre.repeat(DOUBLE, TEN, 1, backend=one_argument)
    assert not isinstance(error.value, vyre.VyreError)

    @vyre.op("example.of_none", inputs=[], output=vyre.u32)
    def of_none():
        return Expr.u32(3)

    assert message(lambda: of_none(x=3), vyre.CallError) == (
        "operation `example.of_none@1` takes expressions by position, got argument `x`. Fix: write them in the order "
        "of its signature."
    )


test_a_wrong_call_is_told_what_fits = wrong_calls("python_calls", globals())
