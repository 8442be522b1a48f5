"""Names that a procedure's body carries out of a block, or into the next turn, are refused; the Fix gives the right
elements."""

import ast
import importlib
from pathlib import Path

import numpy as np
import pytest

import vyre
from vyre import In, Out, u32
from vyre._procedure.carried import carried_names
from vyre.errors import ArgumentError

X = np.arange(5, dtype=np.uint32)


@vyre.kernel
def scale(x: In[u32], k: u32, y: Out[u32]):
    i = vyre.gid(0)
    y[i] = x[i] * k


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("with vyre.when(c):\n  y = f(x)\n  g(y)", ""),
        ("with vyre.when(c):\n  y = f(x)\ny = g(x)\nreturn y", ""),
        ("with vyre.when(c):\n  y = f(x)\n  g(y)\nwith vyre.otherwise():\n  y = h(x)\n  g(y)", ""),
        ("with vyre.when(c):\n  y = f(x)\nwith vyre.otherwise():\n  g(y)", "y"),
        ("with vyre.when(c):\n  y = f(x)\nwith vyre.otherwise():\n  y = h(x)\ny = k(x)\nreturn y", ""),
        ("with vyre.when(c):\n  y = f(x)\nwith vyre.otherwise():\n  y = h(x)\ng(x)\nreturn y", "y y"),
        ("with vyre.when(c):\n  y, (z, *w) = f(x)\nreturn y + z + w", "y z w"),
        ("with vyre.when(c):\n  if (y := f(x)): pass\nreturn y", "y"),
        ("with vyre.when(c):\n  y += 1\nreturn 1", ""),
        ("with vyre.when(c):\n  y: int = 1\nreturn [y for _ in x]", "y"),
        ("with vyre.when(c):\n  y = 1\nreturn [y for y in x]", ""),
        ("with vyre.when(c):\n  y = 1\nreturn lambda x: x + y", "y"),
        ("with vyre.when(c):\n  y = 1\nreturn lambda y: y", ""),
        ("with vyre.when(c), vyre.when(d):\n  y = 1\nreturn y", "y y"),
        ("with vyre.when(c):\n  with vyre.when(d):\n    y = 1\n  g(y)", "y"),
        ("with vyre.when(c) as y:\n  g(y)\nreturn 1", ""),
        ("with open(c):\n  y = 1\nreturn y", ""),
        ("for i in vyre.times(n):\n  t = f(x)\n  g(t)", ""),
        ("t = 1\nfor i in vyre.times(n):\n  t = f(x)\n  g(t)", ""),
        ("for i in vyre.times(n):\n  t = f(t)", "t"),
        ("for i in vyre.times(n):\n  g(t)\n  t = f(x)", "t"),
        ("for i in vyre.times(n):\n  t = f(x)\nreturn t", "t"),
        ("for i in vyre.times(n):\n  g(i)\nreturn i", ""),
        ("for i in range(n):\n  t = f(t)\nreturn t", ""),
        ("for k in range(3):\n  with vyre.when(k < c):\n    t = f(x)\n    g(t)", ""),
        ("with vyre.when(c):\n  def y(): pass\nreturn y", "y"),
        ("with vyre.when(c):\n  y[0] = f(x)\nreturn y", ""),
    ],
)
def test_a_name_is_followed_through_a_function(body, names):
    text = "def f(x, c, d, n):\n" + "".join(f"  {line}\n" for line in body.split("\n"))
    assert [each.name for each in carried_names(ast.parse(text).body[0])] == names.split()


def test_a_long_expression_is_no_trouble():
    text = "def f(x):\n  with vyre.when(x):\n    y = " + " + ".join(["x"] * 900) + "\n  return y"
    assert [each.name for each in carried_names(ast.parse(text).body[0])] == ["y"]


LIBRARY = sorted((Path(vyre.__file__).parent / "std").glob("*.py"))


@pytest.mark.parametrize("file", LIBRARY, ids=lambda file: file.stem)
def test_no_procedure_of_the_library_carries_a_name(file):
    functions = [each for each in ast.walk(ast.parse(file.read_text())) if isinstance(each, ast.FunctionDef)]
    assert not [each for function in functions for each in carried_names(function)]


class Clock:
    def times(self, n):
        return range(n)


def test_blocks_of_others_around_a_call_of_the_library_are_their_own():
    total = 0
    for each in Clock().times(3):
        total += each
    assert vyre.std.crc32(b"123456789", backend="cpu") == 0xCBF43926
    assert total == 3


def test_a_file_that_was_mended_and_imported_again_is_read_again(write_module):
    text = (
        "import vyre\nfrom vyre import In, u32\nfrom test_carried_names import scale\n"
        "@vyre.procedure\ndef f(x: In[u32], n: u32):\n    {}\n    with vyre.when(n > 2):\n        {}\n    return y\n"
    )
    wrong = write_module("carried_once", text.format("pass", "y = scale(x, 2)"))
    with pytest.raises(ArgumentError):
        wrong.f(X, 3, backend="cpu")
    mended = text.format("y = vyre.scratch(u32, x.length, zeros=True)", "scale(x, 2, y)")
    Path(wrong.__file__).write_text(mended)
    right = importlib.reload(wrong)
    assert right.f(X, 3, backend="cpu").tolist() == (2 * X).tolist()
