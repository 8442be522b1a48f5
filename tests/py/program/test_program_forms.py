"""The documents of the two forms are true."""

import re
from importlib.resources import files

import pytest

import vyre
from vyre import BufferDecl, DataType, Expr, Node, Program


def document(name):
    return (files("vyre") / "docs" / name).read_text(encoding="utf-8")


def examples(name):
    return re.findall(r"```text\n(.*?)```", document(name), flags=re.DOTALL)


def reference_rows(title):
    """The rows of a section's tables in the reference, as column -> cell."""
    section = (files("vyre") / "reference.md").read_text(encoding="utf-8").split(f"## {title}\n")[1].split("\n## ")[0]
    lines = [re.split(r" (?<!\\)\| ", line.strip("| ")) for line in section.splitlines() if line.startswith("| ")]
    head = lines[0]
    return [dict(zip(head, cells, strict=True)) for cells in lines if cells != head]


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


@pytest.mark.parametrize(
    "row", reference_rows("Operators") + reference_rows("Atomics"), ids=lambda row: row["operator"]
)
def test_the_reference_spells_and_numbers_each_operator(row):
    head = "vyre 1\nworkgroup_size 1 1 1\n\nlet x = "
    shown = row["in text"].strip("`").replace("\\|", "|")
    program = vyre.parse(head + shown)
    assert program.to_text() == f"{head}{shown}\n"
    name, arguments = row["name"].strip("`"), re.findall(r"\b(?:a|b|i|value|expected)\b", shown)
    operator, _, member = row["operator"].strip("`").partition(".")
    if operator in ("BinOp", "UnOp"):
        assert vyre.parse(f"{head}{name}({', '.join(arguments)})") == program
    # Kind, operator: these bytes are in no other place of so small a program. One of three operands is its kind.
    number = int(row["number"])
    kind = {"BinOp": [8, number], "UnOp": [9, number], "AtomicOp": [15, number], "": [number]}[operator]
    assert program.to_bytes().count(bytes(kind)) == 1
    assert not operator or getattr(vyre, operator)[member].value == number


@pytest.mark.parametrize("row", reference_rows("Types"), ids=lambda row: row["DataType"])
def test_the_reference_spells_and_numbers_each_type(row):
    text = f"vyre 1\nworkgroup_size 1 1 1\nbuffer b: read {row['in text'].strip('`')} binding 0\n"
    program = vyre.parse(text)
    assert program.buffers[0].element.name == row["DataType"].strip("`")
    # Behind the name: access 0, the type, binding 0.
    assert b"\x01b\x00" + bytes([int(row["number"]), 0]) in program.to_bytes()


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
