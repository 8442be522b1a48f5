"""Names that a procedure's body carries out of a block, or into the next turn, are refused; the Fix gives the right
elements."""

import ast
import importlib
from pathlib import Path

import numpy as np
import pytest

import vyre
from vyre import In, InOut, Out, u32
from vyre._procedure.carried import carried_names
from vyre.errors import ArgumentError

FILE = Path(__file__).name
X = np.arange(5, dtype=np.uint32)


@vyre.kernel
def scale(x: In[u32], k: u32, y: Out[u32]):
    i = vyre.gid(0)
    y[i] = x[i] * k


@vyre.kernel
def bump(x: InOut[u32], k: u32):
    i = vyre.gid(0)
    x[i] += k


def changed(procedure, n):
    x = vyre.array(X, backend="cpu")
    procedure(x, n)
    return x.numpy().tolist()


def lines_of(procedure, *marks):
    """The lines of a procedure's text that have these comments."""
    first = procedure.__wrapped__.__code__.co_firstlineno
    text = Path(__file__).read_text().splitlines()
    return [next(k + 1 for k in range(first, len(text)) if text[k].endswith(f"# {mark}")) for mark in marks]


def behind(name, block, assigned, read):
    return (
        f"`{name}` is assigned at line {assigned} of {FILE} in a block of vyre.{block}, and read behind the block at "
        f"line {read}. The body is recorded once, so that it would be what was assigned last, whichever steps a call "
        "runs. Fix: make an array before the block by vyre.scratch, and write it in the block without assigning its "
        "name (`scale(x, 2, y)`, not `y = scale(x, 2, y)`); compute a size before the block, or choose it by "
        "vyre.size_select(condition, a, b)."
    )


def carried(name, read, assigned):
    return (
        f"`{name}` is read at line {read} of {FILE} and assigned anew at line {assigned}, in a loop over vyre.times. "
        "The body is recorded once for all turns, so that each would read what was there before the loop. Fix: write "
        "into one array in each turn, or exchange two by vyre.swap(a, b); make numbers from the number of the turn."
    )


@vyre.procedure
def made_in_both(x: In[u32], n: u32):
    with vyre.when(n > 2):
        y = scale(x, 2)  # assigned
    with vyre.otherwise():
        y = scale(x, 3)
    return y  # read


@vyre.procedure
def written_in_both(x: In[u32], n: u32):
    y = vyre.scratch(u32, x.length)
    with vyre.when(n > 2):
        scale(x, 2, y)
    with vyre.otherwise():
        scale(x, 3, y)
    return y


@vyre.procedure
def size_of_a_block(x: InOut[u32], n: u32):
    k = n
    with vyre.when(n > 2):
        k = n * 10  # assigned
    bump(x, k)  # read


@vyre.procedure
def selected_size(x: InOut[u32], n: u32):
    bump(x, vyre.size_select(n > 2, n * 10, n))


@vyre.procedure
def exchanged_names(x: In[u32], n: u32):
    a, b = scale(x, 1), vyre.scratch(u32, x.length)
    for _ in vyre.times(n):
        scale(a, 2, b)  # read
        a, b = b, a  # assigned
    return a


@vyre.procedure
def swapped(x: In[u32], n: u32):
    a, b = scale(x, 1), vyre.scratch(u32, x.length)
    for _ in vyre.times(n):
        scale(a, 2, b)
        vyre.swap(a, b)
    return a


@vyre.procedure
def made_in_each_turn(x: In[u32], n: u32):
    y = scale(x, 1)
    for _ in vyre.times(n):
        y = scale(y, 2)  # anew
    return y


@vyre.procedure
def counted_by_python(x: InOut[u32], n: u32):
    k = 0
    for _ in vyre.times(n):
        k += 1  # anew
        bump(x, k)


@vyre.procedure
def counted_by_turns(x: InOut[u32], n: u32):
    for i in vyre.times(n):
        bump(x, i + 1)


def test_an_array_that_blocks_make_is_refused():
    with pytest.raises(ArgumentError) as error:
        made_in_both(X, 5, backend="cpu")
    assert str(error.value) == behind("y", "when", *lines_of(made_in_both, "assigned", "read"))
    for n in (2, 3):
        assert written_in_both(X, n, backend="cpu").tolist() == [k * (2 if n > 2 else 3) for k in range(5)]


def test_a_size_that_a_block_makes_is_refused():
    with pytest.raises(ArgumentError) as error:
        size_of_a_block(X, 5, backend="cpu")
    assert str(error.value) == behind("k", "when", *lines_of(size_of_a_block, "assigned", "read"))
    for n in (2, 3):
        assert changed(selected_size, n) == [k + (10 * n if n > 2 else n) for k in range(5)]


def test_names_that_turns_exchange_are_refused():
    with pytest.raises(ArgumentError) as error:
        exchanged_names(X, 2, backend="cpu")
    assert str(error.value) == carried("a", *lines_of(exchanged_names, "read", "assigned"))
    for n in range(4):
        assert swapped(X, n, backend="cpu").tolist() == [k * 2**n for k in range(5)]


@pytest.mark.parametrize(("procedure", "name"), [(made_in_each_turn, "y"), (counted_by_python, "k")])
def test_a_name_that_each_turn_assigns_from_itself_is_refused(procedure, name):
    with pytest.raises(ArgumentError) as error:
        procedure(X, 3, backend="cpu")
    (line,) = lines_of(procedure, "anew")
    assert str(error.value) == carried(name, line, line)


def test_numbers_of_turns_are_made_from_the_turn():
    assert changed(counted_by_turns, 3) == (X + 6).tolist()


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
