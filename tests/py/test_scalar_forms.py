"""A call of a standard operation costs what its form written by hand costs: the same words of SPIR-V."""

from __future__ import annotations

import pytest

import vyre
from scalar_forms import LOOPS, Writer, forms
from vyre import BufferDecl, Expr, Node, Program, ops

IDS = [id for id in ops.ids() if id.startswith("primitive.")]
FORMS = forms(lambda id: ops.get(id).signature)


def element_wise(id, statements):
    """out[i] = what `statements` give of in0[i], in1[i], ...: a pair of statements and their result."""
    signature = ops.get(id).signature
    parameters = [BufferDecl.read(f"in{k}", k, element) for k, element in enumerate(signature.inputs)]
    index = Expr.gid_x()
    nodes, result = statements(*(Expr.load(f"in{k}", index) for k in range(len(parameters))))
    return Program(
        [*parameters, BufferDecl.read_write("out", len(parameters), signature.output)],
        (64, 1, 1),
        [*nodes, Node.store("out", index, result)],
    )


def called(id):
    return element_wise(id, lambda *args: ([], ops.call(id, *args)))


def by_hand(id):
    name = id.removeprefix("primitive.")
    if name in FORMS:
        return element_wise(id, lambda *args: ([], FORMS[name](*args)))
    writer = Writer()

    def statements(*args):
        bound = [writer.let(arg) for arg in args]
        result = LOOPS[name](writer, *bound)
        return writer.nodes, result

    return element_wise(id, statements)


def in_place(id):
    """The program that has the operation's body in place of the call, between `let`s of its arguments and the store."""
    spec = ops.get(id)
    frame = element_wise(id, lambda *args: ([], Expr.u32(0)))
    head = frame.to_text().split("\n\n")[0]
    body = spec.body.to_text().split("\n\n", 1)[1]
    lets = [f"let {name} = in{k}[gid.x]" for k, name in enumerate(spec.parameters)]
    return vyre.parse("\n".join([head, "", *lets, body.rstrip(), "out[gid.x] = result", ""]))


def test_every_operation_has_a_form():
    assert sorted({*FORMS, *LOOPS}) == sorted(id.removeprefix("primitive.") for id in IDS)
    assert not {*FORMS} & {*LOOPS}
    assert len(IDS) == 145


def test_the_forms_call_no_operation():
    for id in IDS:
        assert "call(" not in by_hand(id).to_text()
        assert "call(" in called(id).to_text()


@pytest.mark.parametrize("id", IDS)
def test_a_call_and_the_form_written_by_hand_give_the_same_words(id):
    assert vyre.lower(called(id), "spirv") == vyre.lower(by_hand(id), "spirv")


@pytest.mark.parametrize("id", IDS)
def test_a_call_and_the_body_written_in_its_place_give_the_same_words(id):
    assert vyre.lower(called(id), "spirv") == vyre.lower(in_place(id), "spirv")
