"""Diagnostics point at the user's line, shown with its columns underlined."""

from __future__ import annotations

import ast
import linecache
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import vyre
from html_reader import told
from vyre import BufferAccess, BufferDecl, Expr, Node, OpSignature, OpSpec, Program

X = Expr.var("x")
COLUMNS = sys.version_info >= (3, 11)


def here() -> int:
    """The caller's line."""
    return sys._getframe(1).f_lineno


# --- declarations, sizes and operations ---


def declared(line: int, *buffers: BufferDecl) -> None:
    """The one diagnostic about buffers points at this file and line."""
    [found] = vyre.validate(Program(list(buffers)))
    assert (found.place.file, found.place.line) == (__file__, line)
    assert found.place.column == (vyre_column(line) if COLUMNS else None)


def vyre_column(line: int) -> int:
    """The column where the last declaration of a line begins."""
    return linecache.getline(__file__, line).rindex("BufferDecl.") + 1


def test_a_declaration_remembers_the_line_that_made_it():
    a = BufferDecl.read("a", 0, vyre.u32)
    again = BufferDecl.read("a", 1, vyre.u32)
    declared(here() - 1, a, again)  # V001
    same = BufferDecl.storage("b", 0, BufferAccess.ReadWrite, vyre.u32)
    declared(here() - 1, a, same)  # V002
    tile = BufferDecl.workgroup("t", 0, vyre.u32)
    declared(here() - 1, tile)  # V024
    nameless = BufferDecl.uniform("", 0, vyre.u32)
    declared(here() - 1, nameless)  # V033
    first, second = BufferDecl.output("a", 0, vyre.u32), BufferDecl.output("b", 1, vyre.u32)
    declared(here() - 1, first, second)  # V035


def test_a_workgroup_size_stands_where_the_program_is_made():
    program = Program(workgroup_size=(1, 0, 0))
    found = vyre.validate(program)
    assert [(d.rule, d.place.file, d.place.line) for d in found] == [("V003", __file__, here() - 2)] * 2
    if COLUMNS:
        assert str(found[0]) == (
            f"V003 at workgroup_size[1] ({__file__}:{here() - 5}:15): vyre IR validation: workgroup_size[1] is 0. "
            "Fix: all workgroup dimensions must be >= 1.\n"
            "    program = Program(workgroup_size=(1, 0, 0))\n"
            "              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"
        )


def test_an_operation_stands_where_it_is_made():
    spec = OpSpec("places.wrong", OpSignature([vyre.u32], vyre.i32), parameters=["x"], result=X)
    with pytest.raises(vyre.ValidationError) as error:
        vyre.ops.register(spec)
    assert [(d.rule, d.place.line) for d in error.value.diagnostics] == [("V034", here() - 3)]


def test_places_are_no_part_of_what_they_belong_to():
    one = BufferDecl.read("a", 0, vyre.u32)
    two = BufferDecl.read("a", 0, vyre.u32)
    assert (one, hash(one), repr(one)) == (two, hash(two), repr(two))
    assert pickle.dumps(one) == pickle.dumps(two)
    first = Program([one], (0, 1, 1))
    second = Program([two], (0, 1, 1))
    assert first == second
    assert hash(first) == hash(second)
    assert first.to_bytes() == second.to_bytes()
    assert first.to_text() == second.to_text()
    assert vyre.validate(first)[0].place.line == here() - 6
    parsed = vyre.validate(vyre.parse(first.to_text()))[0].place
    assert (parsed.path, parsed.file, parsed.line) == ("workgroup_size[0]", None, None)


# --- the text ---


def test_a_diagnostic_shows_its_line_with_the_columns_underlined(write_module):
    kit = write_module(
        "kit_shown",
        """
        from vyre import *
        program = Program([BufferDecl.read("left", 0, DataType.U32)], entry=[
            Node.let("y", Expr.load("lft", 0) + 1),
        ])
        """,
    )
    [found] = vyre.validate(kit.program)
    head = (
        f"V004 at entry[0].value.left ({kit.__file__}:4{':19' if COLUMNS else ''}): vyre IR validation: "
        "load from unknown buffer `lft`. Fix: declare it in Program::buffers."
    )
    underlined = "\n                  ^^^^^^^^^^^^^^^^^^^" if COLUMNS else ""
    text = f'{head}\n    Node.let("y", Expr.load("lft", 0) + 1),{underlined}\n  In Python: did you mean "left"?'
    assert str(found) == text
    with pytest.raises(vyre.ValidationError) as error:
        kit.program.check()
    assert str(error.value) == text
    assert repr(found) == f"<vyre.Diagnostic {head}>"
    copied = pickle.loads(pickle.dumps(found))
    assert (copied, hash(copied), copied.hint, str(copied)) == (found, hash(found), found.hint, text)


@pytest.mark.skipif(not COLUMNS, reason="Python has columns from 3.11 on")
@pytest.mark.parametrize(
    ("line", "underlined"),
    [
        ('n = N("é", E("日本"))', "           ^^^^^^^^^"),  # two columns of a terminal for each of the last letters
        ('n = N("日", E("x"))', "            ^^^^^^"),
        ('if 1: n = N("y",  E(\n  "x"))', "                  ^^"),  # what goes on in another line: up to this one's end
        ("n = (0," + " " * 120 + 'N("y", E("x")))[1]', None),
    ],
)
def test_columns_are_those_that_are_seen(write_module, line, underlined):
    text = f"import vyre\nN, E = vyre.Node.let, vyre.Expr.var\n{line}\n"
    kit = write_module(f"kit_columns_{abs(hash(line))}", text)
    lines = str(vyre.validate(Program(entry=[kit.n]))[0]).split("\n")
    assert lines[-1].startswith("  In Python: ")
    if underlined is None:  # a long line is cut around what is meant
        assert lines[1].startswith("    ...  ")
        assert lines[1][lines[2].index("^") : lines[2].rindex("^") + 1] == 'E("x")'
        assert len(lines[1]) < 120
    else:
        assert lines[1:-1] == [f"    {line.splitlines()[0]}", f"    {underlined}"]


@pytest.mark.skipif(not COLUMNS, reason="Python has columns from 3.11 on")
def test_places_in_a_long_function_are_those_that_python_tells(write_module):
    """A long function's table of places is read here, a short one's by Python."""
    statements = [
        'load("{k}", 0)',
        'load("{k}",\n        0)',
        "(0," + " " * 300 + 'load("{k}", 0))[1]',
        'load(  # a comment\n\n\n        "{k}", (1 if 2 else 3))',
        "[0 for _ in range(0)] or" + " " * 20 + 'load("{k}", 0)',
    ]
    lines = [f"    made.append({each.format(k=k)})" for k in range(100) for each in statements]
    source = "import vyre\nload = vyre.Expr.load\nmade = []\ndef long():\n" + "\n".join(lines) + "\nlong()\n"
    kit = write_module("kit_long", source)
    calls = [
        each
        for each in ast.walk(ast.parse(Path(kit.__file__).read_text()))
        if isinstance(each, ast.Call) and getattr(each.func, "id", "") == "load"
    ]
    calls.sort(key=lambda each: each.lineno)
    program = Program(entry=[Node.let(f"v{k}", each) for k, each in enumerate(kit.made)])
    places = [each.place for each in vyre.validate(program)]
    assert len(places) == len(calls) == 500
    shown = [(place.line, place.column, place.end_column) for place in places]
    assert shown == [
        (each.lineno, each.col_offset + 1, each.end_col_offset + 1 if each.end_lineno == each.lineno else None)
        for each in calls
    ]


def shown_lines(program: Program) -> list[str]:
    """The lines between a diagnostic's sentence and its hint."""
    return str(vyre.validate(program)[0]).split("\n")[1:-1]


def test_a_file_that_changed_or_went_is_no_trouble(write_module):
    kit = write_module(
        "kit_changed", "import vyre\nprogram = vyre.Program(entry=[vyre.Node.let('y', vyre.Expr.var('x'))])\n"
    )
    assert len(shown_lines(kit.program)) == (2 if COLUMNS else 1)
    path = Path(kit.__file__)

    def rewrite(text: bytes) -> list[str]:
        path.write_bytes(text)
        os.utime(path, (1, len(text)))  # another time, also for a coarse clock
        return shown_lines(kit.program)

    assert rewrite(b"import vyre\nx = 1\n") == ["    x = 1"]
    assert rewrite(b"import vyre\n") == []
    assert rewrite(b"\xff\xfe\n\0\xff = 1\n") == []
    path.unlink()
    assert shown_lines(kit.program) == []


def test_a_file_that_is_no_ordinary_source_is_not_read(tmp_path):
    large = tmp_path / "large.py"
    with large.open("wb") as file:
        file.truncate(5 << 20)
    folder = tmp_path / "folder.py"
    folder.mkdir()
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)
    odd = ["/dev/zero", "<string>", "<nothing>", "\ud800.py", "x" * 5000 + ".py"]
    for name in [str(large), str(folder), str(pipe), *odd]:
        code = compile("program = vyre.Program(entry=[vyre.Node.let('y', vyre.Expr.var('x'))])", name, "exec")
        scope = {"vyre": vyre}
        exec(code, scope)
        assert shown_lines(scope["program"]) == []
        assert str(large) not in linecache.cache


def test_validate_returns_a_list_of_its_own():
    assert vyre.validate(Program()) == []
    assert repr(vyre.validate(Program())) == "[]"
    program = Program(entry=[Node.assign("x", 1), Node.assign("<b>", 2)])
    found = vyre.validate(program)
    assert isinstance(found, vyre.Diagnostics)
    assert isinstance(found, list)
    assert found == list(found)
    assert str(found) == repr(found) == f"{found[0]}\n{found[1]}"
    assert pickle.loads(pickle.dumps(found)) == found
    head, *forms = told(found._repr_html_())
    assert (head.kind, head.title) == ("Diagnostics", "2 diagnostics: V006")
    assert [(form.kind, form.facts["in the program"]) for form in forms] == [("V006", "entry[0]"), ("V006", "entry[1]")]
    assert [form.title for form in forms] == [f"assignment to undeclared variable `{name}`." for name in ("x", "<b>")]
    assert forms[0].sentences[-1] == f"In Python: {found[0].hint}"
    (nothing,) = told(vyre.validate(Program())._repr_html_())
    assert (nothing.title, nothing.sentences) == ("The program breaks no rule.", [])
    many = vyre.validate(Program(entry=[Node.assign(f"x{k}", 1) for k in range(50)]))
    drawn = told(many._repr_html_())
    assert [form.kind for form in drawn] == ["Diagnostics", *["V006"] * 20, ""]
    assert drawn[-1].title == "… 30 more"
    assert repr(many).endswith("\n... and 30 more, see .diagnostics")
    (form,) = told(found[0]._repr_html_())
    assert form.title == forms[0].title


# --- notebooks ---

NOTEBOOK = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell('import vyre', store_history=True)
shell.run_cell('''# a cell
p = vyre.Program(entry=[vyre.Node.let("y", vyre.Expr.var("x"))])
print(vyre.validate(p))''', store_history=True)
"""


def test_a_notebooks_cell_is_called_by_its_number():
    done = subprocess.run([sys.executable, "-c", NOTEBOOK], capture_output=True, text=True, timeout=120, check=True)
    lines = done.stdout.splitlines()
    assert lines[0] == (
        "V006 at entry[0].value (Cell In[2], line 2): vyre IR validation: reference to undeclared variable `x`. "
        "Fix: add `let x = ...;` before this use."
    )
    assert lines[1] == '    p = vyre.Program(entry=[vyre.Node.let("y", vyre.Expr.var("x"))])'
    if COLUMNS:
        assert lines[1][lines[2].index("^") : lines[2].rindex("^") + 1] == 'vyre.Expr.var("x")'


def test_a_cell_of_an_older_ipython_is_called_by_its_number():
    scope = {"vyre": vyre}
    text = "n = vyre.Node.let('y', vyre.Expr.var('x'))"
    exec(compile(text, "<ipython-input-7-0123abcd>", "exec"), scope)
    assert str(vyre.validate(Program(entry=[scope["n"]]))[0]).startswith(
        "V006 at entry[0].value (Cell In[7], line 1): "
    )
