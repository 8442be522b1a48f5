"""Every public function, class, method and property of vyre, with its parameters: the targets of random calls."""

from __future__ import annotations

import ast
import enum
import inspect
import pathlib
import types
from typing import Any

import vyre
import vyre.fuzz
from vyre import _core

LISTS = ("Backends", "Diagnostics")
# Names that are not called, with the reason.
LEFT_OUT = {
    "fuzz.sweep": "starts processes, and runs as many programs as it is told",
    **dict.fromkeys(LISTS, "is made by Python's list; its methods are called"),
    "fuzz.Log": "writes where it is told",
    "Graph.__enter__": "records what is called after it",
    "_core._fuzz_sweep": "runs as many programs as it is told",
    "_core._fuzz_sweep_checked": "runs as many programs as it is told",
    "_core._fuzz_reduce": "asks as often as it is told; fuzz.reduce calls it",
    "_core._trace": "takes a list that vyre.bisect makes",
    "_core._fuzz_judge": "takes lists that fuzz.judge makes",
    "_core._fuzz_rewrite": "takes what fuzz.rewrite makes",
    "_core._run_steps": "takes what vyre.bisect makes",
    "_core._check_step": "takes what vyre.check makes",
    "fuzz.Way.function": "imports what it is told",
}
# Methods that Python calls by itself, or that are not ours.
NOT_METHODS = {
    "__class__",
    "__class_getitem__",
    "__cuda_array_interface__",
    "__annotations__",
    "__delattr__",
    "__dict__",
    "__dir__",
    "__doc__",
    "__getattr__",
    "__getattribute__",
    "__getstate__",
    "__init_subclass__",
    "__jax_array__",
    "__module__",
    "__new__",
    "__setattr__",
    "__signature__",
    "__sizeof__",
    "__slots__",
    "__subclasshook__",
    "__weakref__",
}


class Target:
    """A public function, class, method or property, and the names of its parameters."""

    def __init__(self, name: str, parameters: list[tuple[str, str]], owner: str = "", kind: str = "function") -> None:
        self.name = name
        self.parameters = parameters  # (name, kind of parameter)
        self.owner = owner
        self.kind = kind


def _signature(value: Any) -> list[tuple[str, str]] | None:
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    return [(p.name, p.kind.name) for p in found]


def _stub() -> dict[str, list[tuple[str, str]]]:
    """The parameters of what is written in C++."""
    result = {}

    def parameters(node: ast.FunctionDef) -> list[tuple[str, str]]:
        named = [(a.arg, "POSITIONAL_OR_KEYWORD") for a in (*node.args.posonlyargs, *node.args.args) if a.arg != "self"]
        if node.args.vararg:
            named.append((node.args.vararg.arg, "VAR_POSITIONAL"))
        named += [(a.arg, "KEYWORD_ONLY") for a in node.args.kwonlyargs]
        if node.args.kwarg:
            named.append((node.args.kwarg.arg, "VAR_KEYWORD"))
        return named

    text = pathlib.Path(vyre.__file__).with_name("_core.pyi").read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            result[node.name] = parameters(node)
        elif isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef):
                    result[f"{node.name}.{member.name}"] = parameters(member)
    return result


def targets() -> list[Target]:
    """Everything that is called, in an order that is the same in each process."""
    stub = _stub()
    found: dict[str, Target] = {}

    def add_class(name: str, kind: type) -> None:
        if not issubclass(kind, enum.Enum) and name not in LEFT_OUT:
            signature = stub.get(f"{kind.__name__}.__init__") if kind.__module__ == "vyre._core" else _signature(kind)
            found[name] = Target(name, signature or [])
        for base in kind.__mro__:
            if not base.__module__.startswith("vyre"):
                continue
            for member in sorted(vars(base)):
                if member in NOT_METHODS or (member.startswith("_") and not member.startswith("__")):
                    continue
                whole, value = f"{name}.{member}", inspect.getattr_static(base, member)
                if whole in found or whole in LEFT_OUT:
                    continue
                if isinstance(value, (staticmethod, classmethod)):
                    bound = getattr(kind, member)
                    found[whole] = Target(whole, stub.get(f"{base.__name__}.{member}") or _signature(bound) or [])
                elif isinstance(value, property) or not callable(value):
                    found[whole] = Target(whole, [], name, "property")
                else:
                    signature = stub.get(f"{base.__name__}.{member}")
                    if signature is None:
                        signature = (_signature(value) or [("self", ""), ("other", "POSITIONAL_ONLY")])[1:]
                    found[whole] = Target(whole, signature, name, "method")

    def add(prefix: str, module: Any, names: Any) -> None:
        for member in sorted(names):
            name, value = prefix + member, getattr(module, member)
            if isinstance(value, types.ModuleType):
                continue
            if isinstance(value, type) and (name in LISTS or name not in LEFT_OUT):
                add_class(name, value)
            elif callable(value) and name not in LEFT_OUT:
                found[name] = Target(name, stub.get(member) if module is _core else _parameters(value, member, stub))

    add("", vyre, [*vyre.__all__, "max", "min"])
    add("ops.", vyre.ops, vyre.ops.__all__)
    add("fuzz.", vyre.fuzz, vyre.fuzz.__all__)
    add("_core.", _core, [name for name in vars(_core) if name.startswith("_") and not name.startswith("__")])
    return list(found.values())


def _parameters(value: Any, name: str, stub: dict[str, list[tuple[str, str]]]) -> list[tuple[str, str]]:
    return stub[name] if isinstance(value, types.BuiltinFunctionType) else _signature(value) or []


def find(name: str) -> Any:
    """The target of this name below `vyre`."""
    value: Any = vyre
    for part in name.split("."):
        value = getattr(value, part)
    return value
