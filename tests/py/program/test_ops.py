"""The registry from Python: looking up, registering, calling, and what is refused."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import vyre
from conftest import refusals, refused
from programs import element_wise
from vyre import Convention, DataType, Expr, Node, OpSignature, OpSpec, ops

U32, U64 = DataType.U32, DataType.U64
a = Expr.var("a")


async def _coroutine(x):
    return x


async def _asynchronous_generator(x):
    yield x


def _generator(x):
    yield x


def test_looking_up():
    xor = ops.get("primitive.bitwise.xor")
    assert (xor.id, xor.version, xor.parameters) == ("primitive.bitwise.xor", 1, ("a", "b"))
    assert xor.signature == OpSignature([U32, U32], U32)
    assert xor.convention == Convention.V1()
    assert xor.inlinable
    assert ops.get("primitive.bitwise.xor@1") == xor
    assert "primitive.bitwise.xor" in ops.ids()
    with refused(
        vyre.ArgumentError, "unknown operation `acme.nothing`", "register an Op with id acme.nothing before lowering"
    ):
        ops.get("acme.nothing")


def test_the_fix_for_a_version_registers_it():
    with refused(
        vyre.ArgumentError,
        "unknown operation `test.later@2`",
        "register an Op with id test.later and version 2 before lowering",
    ):
        ops.get("test.later@2")
    a = vyre.Expr.var("a")
    ops.register(ops.OpSpec("test.later", OpSignature([U32], U32), version=2, parameters=["a"], result=a + 1))
    assert ops.get("test.later@2").version == 2
    for wrong in ("test.later@", "test.later@x", "test.later@0"):
        with refused(
            vyre.ArgumentError,
            f"operation `{wrong}` names no version behind `@`",
            "write test.later@1, or test.later for the highest version",
        ):
            ops.get(wrong)


def test_decorated_operation(target):
    @vyre.op("test.mix", inputs=[U32, U32], output=U32, examples=[((1, 2), 3 * 5)])
    def mix(x, y):
        """Mixes two words."""
        return (x ^ y) * 5

    assert ops.get("test.mix").summary == "Mixes two words."
    program = element_wise([U32, U32], U32, lambda x, y: mix(mix(x, y), 7))
    data = np.arange(10, dtype=np.uint32)
    out = vyre.run(program, {"in0": data, "in1": data[::-1].copy(), "out": 10}, 1, **target)["out"]
    np.testing.assert_array_equal(out, ((data ^ data[::-1]) * 5 ^ 7) * 5)


def test_operation_with_statements(target):
    # Triangular numbers by a loop.
    spec = OpSpec(
        "test.triangle",
        OpSignature([U32], U32),
        parameters=["n"],
        body=[
            Node.let("sum", 0),
            Node.loop("k", 0, Expr.var("n") + 1, [Node.assign("sum", Expr.var("sum") + Expr.var("k"))]),
        ],
        result=Expr.var("sum"),
    )
    ops.register(spec)
    program = element_wise([U32], U32, lambda n: Expr.call("test.triangle", [n]))
    data = np.arange(20, dtype=np.uint32)
    out = vyre.run(program, {"in0": data, "out": 20}, 1, **target)["out"]
    np.testing.assert_array_equal(out, data * (data + 1) // 2)


def next_spec(version: int, step: int) -> OpSpec:
    return OpSpec("test.next", OpSignature([U32], U32), parameters=["a"], result=a + step, version=version)


def test_versions(target):
    ops.register(next_spec(1, 1))
    ops.register(next_spec(1, 1))
    ops.register(next_spec(3, 3))
    assert ops.get("test.next").version == 3
    assert ops.get("test.next@1").version == 1
    with pytest.raises(vyre.ArgumentError, match="is registered with a different body"):
        ops.register(next_spec(1, 2))
    for id, step in (("test.next", 3), ("test.next@1", 1)):
        program = element_wise([U32], U32, lambda x, id=id: Expr.call(id, [x]))
        out = vyre.run(program, {"in0": np.array([5], np.uint32), "out": 1}, 1, **target)["out"]
        assert out.tolist() == [5 + step]


def test_an_operation_calls_its_own_version(target):
    first = vyre.op("test.own", inputs=[U32], output=U32)(lambda x: x + 1)
    second = vyre.op("test.own", inputs=[U32], output=U32, version=2)(lambda x: x + 2)
    for operation, step in ((first, 1), (second, 2)):
        program = element_wise([U32], U32, operation)
        assert vyre.run(program, {"in0": np.array([5], np.uint32), "out": 1}, 1, **target)["out"].tolist() == [5 + step]


def test_a_new_version_is_seen_by_the_next_run():
    program = element_wise([U32], U32, lambda x: Expr.call("test.seen", [x]))
    inputs = {"in0": np.array([5], np.uint32), "out": 1}
    for version in (1, 2):
        ops.register(
            OpSpec("test.seen", OpSignature([U32], U32), parameters=["a"], result=a * (10 * version), version=version)
        )
        assert vyre.run(program, inputs, 1, backend="reference")["out"].tolist() == [50 * version]


def test_conventions_and_signatures():
    assert Convention.V2(lookup_binding=3) == Convention.V2(3) != Convention.V1()
    assert repr(Convention.V3(1, 2, 3, 4)) == "Convention.V3(inputs=1, outputs=2, params=3, scratch=4)"
    assert [c.version for c in (Convention.V1(), Convention.V2(0), Convention.V3(0, 0, 0, 0))] == [1, 2, 3]
    assert OpSignature([U32, U64], U32).min_input_bytes() == 12
    assert hash(OpSignature([U32], U32)) == hash(OpSignature([U32], U32))


test_exact_message = refusals(
    [
        (
            lambda: OpSpec("plain", OpSignature([], U32)),
            "argument `id` of OpSpec must be a dotted name without `@`, got 'plain' (str)",
            "pass a dotted name without `@`",
        ),
        (
            lambda: OpSpec("a.b", (U32, U32)),
            "argument `signature` of OpSpec must be an OpSignature, got an object of type tuple",
            "pass an OpSignature",
        ),
        (
            lambda: OpSpec("a.b", OpSignature([U32], U32), result=a),
            "OpSpec `a.b` has 0 parameters for 1 inputs",
            "name each input once in `parameters`",
        ),
        (
            lambda: OpSpec("a.b", OpSignature([], U32), body=[Node.let("x", 1)]),
            "OpSpec has a body and no result",
            "pass result=<the expression that the operation gives>",
        ),
        (
            lambda: ops.register("a.b"),
            "argument `spec` of vyre.ops.register must be an OpSpec, got 'a.b' (str)",
            "pass an OpSpec",
        ),
        (
            lambda: OpSignature([int], U32),
            "element 0 of argument `inputs` of OpSignature must be a vyre.DataType, got <class 'int'> (type)",
            "pass a vyre.DataType",
        ),
        (
            lambda: vyre.op("a.b", inputs=[U32], output=U32)(lambda x, y: x),
            "`<lambda>` has 2 parameters, `inputs` has 1 types",
            "give the function one plain parameter an input",
        ),
        (
            lambda: vyre.op("a.b", inputs=[U32], output=U32)(lambda x: None),
            "the function of `a.b` returned None",
            "return the expression of its result",
        ),
        *(
            (
                functools.partial(vyre.op("a.b", inputs=[U32], output=U32), function),
                f"`{function.__name__}` is written with `async` or `yield`, and @vyre.op calls it once",
                "leave them out, and return the expression of its result",
            )
            for function in (_coroutine, _asynchronous_generator, _generator)
        ),
    ],
    vyre.ArgumentError,
)
