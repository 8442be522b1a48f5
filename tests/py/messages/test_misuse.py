"""Likely mistakes: each is a typed error that names the argument, what was wanted, what was given and what to write."""

from __future__ import annotations

import ast
import copy
import pickle

import numpy as np
import pytest

import vyre
from conftest import refused
from vyre import BufferDecl, Convention, Diagnostic, Expr, Node, OpSignature, OpSpec, Place, Program

X = Expr.var("x")
DECL = BufferDecl.read("a", 0, vyre.u32)
VALUE = "must be an Expr, an integer from 0 to 4294967295 or a bool, got"
BACKENDS = ", ".join([*vyre.backends(), *vyre.backends().unavailable()])
PASS = "pass an Expr, an integer from 0 to 4294967295 or a bool"


@vyre.procedure
def nothing(x: vyre.InOut[vyre.u32]):
    vyre.clear(x)


@pytest.mark.parametrize("cls", [Expr, Node, BufferDecl, Convention, Place, Diagnostic])
def test_an_object_without_a_value_cannot_be_made(cls):
    for make in (cls, lambda: cls.__new__(cls), lambda: cls(1, name="x")):
        with pytest.raises(vyre.ArgumentError, match=f"^{cls.__name__} is not called directly. Fix: "):
            make()


@pytest.mark.parametrize("cls", [OpSignature, OpSpec])
def test_an_object_without_its_arguments_cannot_be_made(cls):
    for make in (cls, lambda: cls.__new__(cls)):
        with pytest.raises(vyre.CallError, match=rf"^{cls.__name__}\(\) misses argument `(inputs|id)`. Fix: write "):
            make()


def test_new_makes_a_whole_program():
    assert Program.__new__(Program) == Program()
    assert Program.__new__(Program, [DECL], entry=[]).buffers == (DECL,)


@pytest.mark.parametrize(
    ("call", "problem", "fix"),
    [
        (
            lambda: Program(workgroup=(1, 1, 1)),
            "Program() has no argument 'workgroup'",
            "write Program(buffers=..., workgroup_size=..., entry=...)",
        ),
        (
            lambda: Program(**{"\ud800": 1}),
            "Program() has no argument '\\ud800'",
            "write Program(buffers=..., workgroup_size=..., entry=...)",
        ),
        (
            lambda: Program([], (1, 1, 1), [], 3),
            "Program() takes 3 arguments by place, got 4",
            "write Program(buffers=..., workgroup_size=..., entry=...)",
        ),
        (
            lambda: Program([], buffers=[]),
            "Program() got argument `buffers` twice",
            "write Program(buffers=..., workgroup_size=..., entry=...)",
        ),
        (lambda: OpSignature([]), "OpSignature() misses argument `output`", "write OpSignature(inputs, output)"),
        (
            lambda: OpSpec("a.b", OpSignature([], vyre.u32), []),
            "OpSpec() takes 2 arguments by place, got 3",
            "write OpSpec(id, signature=..., parameters=..., body=..., result=..., version=..., convention=..., "
            "summary=..., laws=..., examples=..., procedure=...)",
        ),
    ],
)
def test_wrong_arguments_of_constructors(call, problem, fix):
    with refused(vyre.CallError, problem, fix):
        call()


@pytest.mark.parametrize(
    ("call", "problem", "fix"),
    [
        (lambda: vyre.add(X, np.float32(2)), f"argument `right` of add {VALUE} 2.0 (float32)", PASS),
        (
            lambda: Node.block({Node.barrier()}),
            "argument `body` of Node.block must be a list of Nodes, got an object of type set",
            "pass a list of Nodes",
        ),
        (
            lambda: vyre.parse(b"vyre 1"),
            "argument `text` of vyre.parse must be a str, got b'vyre 1' (bytes)",
            "pass a str",
        ),
        (
            lambda: vyre.lower(Program(), "assembly", instructions="sse41"),
            'argument `target` of vyre.lower must be "spirv", "spirv-asm", "wgsl", "ptx" or "asm", got '
            "'assembly' (str)",
            'pass "spirv", "spirv-asm", "wgsl", "ptx" or "asm"',
        ),
        (
            lambda: vyre.lower(nothing.procedure, "asm"),
            "argument `program` of vyre.lower must be a vyre.Program, got the procedure 'nothing'",
            "pass a vyre.Program",
        ),
        (
            lambda: vyre.run(Program(), {}, 1, backend=3),
            f"argument `backend` of vyre.run must be one of {BACKENDS}, got 3",
            "write one of these",
        ),
        (
            lambda: vyre.pack_bytes(np.ma.array(np.zeros(3, np.uint8))),
            "argument `data` of pack_bytes must be an array without a mask, got a masked array",
            "pass an array without a mask",
        ),
    ],
)
def test_mistakes(call, problem, fix):
    with refused(vyre.ArgumentError, problem, fix):
        call()


def test_pickled_bytes_of_something_else_are_refused():
    several = Program(entry=[Node.let("a", 1), Node.let("b", 2)]).to_bytes()
    barrier = Program(entry=[Node.barrier()]).to_bytes()
    for load, data, what in (
        (vyre._core._node_from_bytes, several, "statement"),
        (vyre._core._node_from_bytes, Program().to_bytes(), "statement"),
        (vyre._core._expr_from_bytes, several, "statement"),
        (vyre._core._expr_from_bytes, barrier, "expression"),
    ):
        with refused(vyre.ParseError, f"these bytes are not a pickled {what}", "load what pickle.dumps wrote"):
            load(data)


def test_small_values_copy_and_pickle():
    diagnostic = vyre.validate(Program(workgroup_size=(0, 1, 1)))[0]
    signature = OpSignature([vyre.u32], vyre.i32)
    conventions = [Convention.V1(), Convention.V2(3), Convention.V3(1, 2, 3, 4)]
    for value in (DECL, diagnostic, diagnostic.place, signature, *conventions):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(value, protocol)) == value
        assert copy.copy(value) == copy.deepcopy(value) == value
    spec = vyre.ops.get("primitive.bitwise.xor")
    assert copy.copy(spec) is copy.deepcopy(spec) is spec


def test_a_call_that_a_fix_gives_can_be_typed():
    typed = set()
    for home in (vyre, vyre.std, vyre.ops, BufferDecl, Expr, Node, Program, vyre.Array, vyre.Graph):
        for name in getattr(home, "__all__", dir(home)):
            if name.startswith("_") or not callable(getattr(home, name)):
                continue
            try:
                getattr(home, name)(no_such_name=1)
            except vyre.CallError as error:
                call = str(error).partition(". Fix: write ")[2].partition(", where ")[0].removesuffix(".")
                ast.parse(call, mode="eval")
                typed.add(call)
            except (TypeError, ValueError):  # classes that have errors of their own
                continue
    assert len(typed) > 250
    assert "vyre.repeat(program, inputs, workgroups=None, times=10, backend=None, device=None, timeout=None)" in typed
