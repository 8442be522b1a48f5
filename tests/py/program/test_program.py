"""Programs as values: equality, hash, pickle, text, bytes, places, and what the constructors refuse."""

from __future__ import annotations

import copy
import pickle
import sys
from pathlib import Path

import pytest

import vyre
from conftest import refusals
from programs import xor
from vyre import BufferAccess, BufferDecl, DataType, Expr, Node, Program


def test_equal_programs():
    assert xor() == xor()
    assert hash(xor()) == hash(xor())
    assert xor() != Program()
    assert xor() != "a program"
    assert {xor(): 1}[xor()] == 1


def test_copies():
    program = xor()
    assert copy.copy(program) is program
    assert copy.deepcopy(program) is program
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(program, protocol)) == program


def test_parts():
    program = xor()
    assert [decl.name for decl in program.buffers] == ["in0", "in1", "out"]
    assert program.workgroup_size == (64, 1, 1)
    assert Program(program.buffers, program.workgroup_size, program.entry) == program


def test_text_and_bytes_round_trip():
    program = xor()
    assert vyre.parse(program.to_text()) == program
    assert Program.from_bytes(program.to_bytes()) == program
    assert Program.from_bytes(bytearray(program.to_bytes())) == program
    assert xor().to_bytes() == program.to_bytes()


def test_sharing_survives():
    x = Expr.load("data", 0)
    shared = Program(entry=[Node.let("y", x + x)])
    twice = Program(entry=[Node.let("y", Expr.load("data", 0) + Expr.load("data", 0))])
    assert shared != twice
    for program in (shared, twice):
        assert vyre.parse(program.to_text()) == program
        assert Program.from_bytes(program.to_bytes()) == program
        assert Program(entry=program.entry) == program


def test_repr_is_short():
    many = Program([BufferDecl.read(f"b{k}", k, vyre.u32) for k in range(1000)], (1, 1, 1), [Node.barrier()] * 1000)
    assert len(repr(many)) < 400
    assert repr(xor()).startswith("<vyre.Program (in0: read u32, in1: read u32, out: read_write u32)")
    assert len(repr(Expr.var("x" * 10_000))) < 100
    assert len(repr(Node.let("日" * 10_000, 1))) < 200


def test_buffer_declarations():
    decl = BufferDecl.storage("data", 3, BufferAccess.ReadWrite, DataType.U64)
    assert decl == BufferDecl.read_write("data", 3, DataType.U64)
    assert (decl.name, decl.binding, decl.access, decl.element, decl.count, decl.is_output) == (
        "data",
        3,
        BufferAccess.ReadWrite,
        DataType.U64,
        0,
        False,
    )
    output = BufferDecl.output("data", 3, DataType.U64)
    assert output.is_output
    assert output != decl
    tile = BufferDecl.workgroup("tile", 16, DataType.Bool)
    assert (tile.count, tile.access) == (16, BufferAccess.Workgroup)
    assert BufferDecl.uniform("u", 0, vyre.u32, count=4).count == 4
    atomic = BufferDecl.workgroup("tile", 16, DataType.U32, atomic=True)
    plain, private = BufferDecl.workgroup("tile", 16, DataType.U32), BufferDecl.private("tile", 16, DataType.U32)
    assert (private.access, private.binding, atomic.atomic, plain.atomic) == (BufferAccess.Private, 0, True, False)
    assert BufferDecl.storage("tile", 0, BufferAccess.Private, DataType.U32, count=16) == private
    for one in (decl, output, tile, atomic, plain, private):
        assert pickle.loads(pickle.dumps(one)) == one
        assert hash(pickle.loads(pickle.dumps(one))) == hash(one)
        assert eval(repr(one), {"BufferDecl": BufferDecl, "DataType": DataType}) == one
        program = Program([one])
        for again in (vyre.parse(program.to_text()), Program.from_bytes(program.to_bytes())):
            assert again == program
            assert hash(again) == hash(program)
            assert again.buffers == (one,)
    alike = [atomic, plain, private]
    for different in (alike, [Program([each]) for each in alike]):
        assert len({*different}) == len({*map(hash, different)}) == 3


test_exact_message = refusals(
    [
        (
            lambda: Program(workgroup_size=64),
            "argument `workgroup_size` of Program must be three integers, got 64 (int)",
            "pass three integers",
        ),
        (
            lambda: Program(workgroup_size=(1, -1, 1)),
            "element 1 of argument `workgroup_size` of Program must be an integer from 0 to 4294967295, got -1 (int)",
            "pass an integer from 0 to 4294967295",
        ),
        (
            lambda: Program(buffers="ab"),
            "argument `buffers` of Program must be a list of BufferDecls, got 'ab' (str)",
            "pass a list of BufferDecls",
        ),
        (
            lambda: BufferDecl.read("x", -1, vyre.u32),
            "argument `binding` of BufferDecl.read must be an integer from 0 to 4294967295, got -1 (int)",
            "pass an integer from 0 to 4294967295",
        ),
        (
            lambda: BufferDecl.read("x", vyre.u32, 0),
            "argument `binding` of BufferDecl.read must be an integer from 0 to 4294967295, got DataType.U32 "
            "(DataType)",
            "pass an integer from 0 to 4294967295",
        ),
        (
            lambda: Program.from_bytes("x"),
            "argument `data` of Program.from_bytes must be bytes, got 'x' (str)",
            "pass bytes",
        ),
    ],
    vyre.ArgumentError,
)


def test_what_is_wrong_but_constructs():
    program = Program([BufferDecl.read("", 0, vyre.u32)], (0, 1, 1), [Node.let("x", Expr.local_id(9))])
    assert [d.rule for d in vyre.validate(program)] == ["V033", "V003", "V007"]
    with pytest.raises(vyre.ValidationError) as error:
        program.check()
    assert error.value.diagnostics == vyre.validate(program)
    assert str(error.value) == "\n".join(map(str, error.value.diagnostics))
    assert pickle.loads(pickle.dumps(error.value)).diagnostics == error.value.diagnostics


def test_diagnostics_point_at_the_python_call():
    here = sys._getframe().f_lineno
    program = Program(entry=[
        Node.let("x", Expr.load("nowhere", 0)),
        Node.assign("y", 1 +
                    Expr.var("z")),
    ])  # fmt: skip
    first, second, third = vyre.validate(program)
    assert (first.rule, second.rule, third.rule) == ("V004", "V006", "V006")
    assert first.place.path == "entry[0].value"
    assert Path(first.place.file) == Path(__file__)
    assert first.place.line == here + 2
    if sys.version_info >= (3, 11):
        assert first.place.column == 23
    else:
        assert first.place.column is None
    assert {second.place.line, third.place.line} == {here + 3, here + 4}
    assert f"({first.place.file}:{here + 2}" in str(first)
    for diagnostic in (first, second):
        assert pickle.loads(pickle.dumps(diagnostic)) == diagnostic
        assert hash(pickle.loads(pickle.dumps(diagnostic))) == hash(diagnostic)


def test_parsed_programs_have_no_place():
    (found,) = vyre.validate(vyre.parse(Program(entry=[Node.assign("x", 1)]).to_text()))
    assert (found.place.path, found.place.file, found.place.line, found.place.column) == ("entry[0]", None, None, None)


@pytest.mark.parametrize("name", ["main", "gl_in", "let", "a-b", "日本", " ", "a\nb", "x" * 1000])
def test_any_name_works(name, target):
    program = Program(
        [BufferDecl.output(name, 0, vyre.u32)], (1, 1, 1), [Node.let(name, 7), Node.store(name, 0, Expr.var(name))]
    )
    assert vyre.parse(program.to_text()) == program
    assert vyre.run(program, {name: 1}, 1, **target)[name].tolist() == [7]
