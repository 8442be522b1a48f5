"""A call of an operation costs what its body costs in its place, and the bodies of standard ones do not grow."""

from __future__ import annotations

import itertools

import pytest

import vyre
import vyre.fuzz  # its operations have bodies of every form: loops, branches, assigned parameters, calls of one another
from vyre import BinOp, BufferDecl, Expr, Node, Program, ops

IDS = [id for id in ops.ids() if id.startswith("primitive.")]
OF_EVERY_FORM = [id for id in ops.ids() if id.startswith("fuzz.")]
# Words of SPIR-V that the programs of all operations of a family have together: the least so far.
MOST_WORDS = {
    "bitwise": 9839,
    "compare": 4748,
    "logical": 3216,
    "math": 15_165,
    "rng": 2200,
    "u64": 35_111,
}


def element_wise(id, result):
    """out[i] = what `result` gives of in0[i], in1[i], ..."""
    signature = ops.get(id).signature
    parameters = [BufferDecl.read(f"in{k}", k, element) for k, element in enumerate(signature.inputs)]
    index = Expr.gid_x()
    loaded = [Expr.load(f"in{k}", index) for k in range(len(parameters))]
    return Program(
        [*parameters, BufferDecl.read_write("out", len(parameters), signature.output)],
        (64, 1, 1),
        [Node.store("out", index, result(*loaded))],
    )


def called(id):
    return element_wise(id, lambda *args: ops.call(id, *args))


def in_place(id):
    """The program that has the operation's body in place of the call, between `let`s of its arguments and the store."""
    spec = ops.get(id)
    head = element_wise(id, lambda *args: Expr.u32(0)).to_text().split("\n\n")[0]
    body = spec.body.to_text().split("\n\n", 1)[1]
    lets = [f"let {name} = in{k}[gid.x]" for k, name in enumerate(spec.parameters)]
    return vyre.parse("\n".join([head, "", *lets, body.rstrip(), "out[gid.x] = result", ""]))


@pytest.mark.parametrize("id", [*IDS, *OF_EVERY_FORM])
def test_a_call_and_the_body_written_in_its_place_give_the_same_words(id):
    assert "call(" in called(id).to_text()
    assert vyre.lower(called(id), "spirv") == vyre.lower(in_place(id), "spirv")


@pytest.mark.parametrize("operator", ["math.sub", "math.div", "bitwise.rotl", "compare.lt"])
def test_an_operation_of_one_operator_costs_the_operator_whatever_its_arguments_do(operator):
    i = Expr.gid_x()
    op = {"sub": BinOp.Sub, "div": BinOp.Div, "rotl": BinOp.RotateLeft, "lt": BinOp.Lt}[operator.split(".")[1]]
    effects = [lambda: Expr.atomic_add("count", i, 1), lambda: Expr.load("count", i), lambda: i * 3]
    buffers = [BufferDecl.read_write("count", 0, vyre.u32), BufferDecl.output("out", 1, vyre.u32)]
    for left, right in itertools.product(effects, repeat=2):
        values = Expr.call(f"primitive.{operator}", [left(), right()]), Expr.binop(op, left(), right())
        call, by_hand = (Program(buffers, (64, 1, 1), [Node.store("out", i, value + i * 3)]) for value in values)
        assert vyre.lower(call) == vyre.lower(by_hand), call.to_text()


@pytest.mark.parametrize("family", sorted({id.split(".")[1] for id in IDS}))
def test_the_operations_of_a_family_take_no_more_words(family):
    each = [called(id) for id in IDS if id.split(".")[1] == family]
    assert sum(len(vyre.lower(program, "spirv")) // 4 for program in each) <= MOST_WORDS[family]
