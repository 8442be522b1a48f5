"""What the documents of the two forms say is true."""

import re
from importlib.resources import files

import pytest

import vyre
from vyre import BufferDecl, DataType, Expr, Node, Program


def document(name):
    return (files("vyre") / "docs" / name).read_text(encoding="utf-8")


def examples(name):
    return re.findall(r"```text\n(.*?)```", document(name), flags=re.DOTALL)


def table_texts(kind):
    """The names of operators that the text form's document lists."""
    line = re.search(rf"- {kind}: (.*)", document("text-form.md")).group(1)
    return re.findall(r"[a-z_]+", line)


def test_the_first_example_is_what_to_text_writes():
    text = examples("text-form.md")[0]
    assert vyre.parse(text).to_text() == text
    i = Expr.gid_x()
    assert vyre.parse(text) == Program(
        buffers=[
            BufferDecl.read("left", 0, DataType.U32),
            BufferDecl.read("right", 1, DataType.U32),
            BufferDecl.output("out", 2, DataType.U32),
        ],
        workgroup_size=(64, 1, 1),
        entry=[Node.if_(i < Expr.buf_len("out"), [Node.store("out", i, Expr.load("left", i) ^ Expr.load("right", i))])],
    )


def test_the_listed_functions_exist():
    head = "vyre 1\nworkgroup_size 1 1 1\nlet x = "
    for name in table_texts("binary"):
        assert f"{name}(a, b)" in vyre.parse(f"{head}{name}(a, b)").to_text()
    for name in table_texts("unary"):
        assert f"{name}(a)" in vyre.parse(f"{head}{name}(a)").to_text()
    for name in table_texts("atomic"):
        assert f"{name}(b, i, v)" in vyre.parse(f"{head}{name}(b, i, v)").to_text()


def test_the_mistake_is_told_as_shown():
    (message,) = [text for text in examples("text-form.md") if text.startswith("line 3")]
    with pytest.raises(vyre.ParseError) as caught:
        vyre.parse("vyre 1\nworkgroup_size 1 1 1\nx = a + b * c")
    assert str(caught.value) == message.strip()


def test_the_bytes_of_the_example_are_as_shown():
    lines = examples("binary-form.md")[0].splitlines()
    shown = bytes.fromhex(" ".join(re.split(r"\s{3,}", line.strip())[0] for line in lines))
    one = Expr.u32(1)
    program = Program(buffers=[], workgroup_size=(1, 1, 1), entry=[Node.let("x", one + one)])
    assert program.to_bytes() == shown
    assert Program.from_bytes(shown) == program
