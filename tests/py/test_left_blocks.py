"""Bodies of procedures that leave a condition's block early are refused; the Fix gives the right elements."""

import ast
from pathlib import Path

import numpy as np
import pytest

import vyre
from vyre import InOut, u32
from vyre._procedure.leaving import left_blocks
from vyre.errors import ArgumentError

FILE = Path(__file__).name
ONES = np.ones(2, np.uint32)


@vyre.procedure
def returns(x: InOut[u32], y: InOut[u32]):
    with vyre.when(x.length > 3):
        vyre.clear(x)
        return
    vyre.clear(y)


@vyre.procedure
def returns_otherwise(x: InOut[u32], y: InOut[u32]):
    with vyre.when(x.length > 3):
        vyre.clear(x)
    with vyre.otherwise():
        return
    vyre.clear(y)


@vyre.procedure
def continues(x: InOut[u32], y: InOut[u32]):
    for array in (x, y):
        with vyre.when(array.length > 3):
            continue
        vyre.clear(array)


def helper(array):
    with vyre.when(array.length > 3):
        return
    vyre.clear(array)


@vyre.procedure
def helped(x: InOut[u32], y: InOut[u32]):
    helper(x)
    helper(y)


@vyre.procedure
def mended(x: InOut[u32], y: InOut[u32]):
    with vyre.when(x.length > 3):
        vyre.clear(x)
    with vyre.otherwise():
        vyre.clear(y)
    return


def line_of(function, statement):
    return next(
        number
        for number, line in enumerate(Path(__file__).read_text().splitlines(), 1)
        if line.strip() == statement and number > function.__code__.co_firstlineno
    )


@pytest.mark.parametrize(
    ("procedure", "function", "statement", "block"),
    [
        (returns, returns, "return", "when(...)"),
        (returns_otherwise, returns_otherwise, "return", "when(...)"),
        (continues, continues, "continue", "when(...)"),
        (helped, helper, "return", "when(...)"),
    ],
    ids=["return", "return in otherwise", "continue", "return in a helper"],
)
def test_a_block_that_is_left_is_refused_with_its_place(procedure, function, statement, block):
    line = line_of(getattr(function, "__wrapped__", function), statement)
    with pytest.raises(ArgumentError) as caught:
        procedure(ONES.copy(), ONES.copy(), backend="cpu")
    assert str(caught.value) == (
        f"`{statement}` at line {line} of {FILE} leaves a `with vyre.{block}:` block, and what follows the block would "
        "be left out for every length. Fix: put what follows into a `with vyre.otherwise():` block, and write "
        f"`{statement}` behind the blocks."
    )


def test_what_the_fix_says_to_write_clears_the_right_array(target):
    x, y = ONES.copy(), ONES.copy()
    mended(x, y, **target)
    assert x.tolist() == [1, 1]
    assert y.tolist() == [0, 0]


def test_a_loop_inside_a_block_may_be_left():
    source = """
def f(x):
    with vyre.when(x):
        for k in range(3):
            break
        def g():
            return 1
"""
    assert left_blocks(ast.parse(source).body[0]) == []


def test_a_second_otherwise_is_refused_also_after_an_empty_one():
    @vyre.procedure
    def twice(x: InOut[u32]):
        with vyre.when(x.length > 3):
            vyre.clear(x)
        with vyre.otherwise():
            pass
        with vyre.otherwise():
            vyre.clear(x)

    with pytest.raises(ArgumentError) as caught:
        twice(ONES.copy(), backend="cpu")
    assert str(caught.value) == (
        "vyre.otherwise does not follow a vyre.when. Fix: write it directly behind that with-block."
    )


def test_no_procedure_of_the_library_leaves_a_block():
    files = sorted(Path(vyre.std.__file__).parent.glob("*.py"))
    functions = [
        (file.name, node)
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef)
    ]
    assert len(functions) > 300
    assert [(name, node.name, left_blocks(node)) for name, node in functions if left_blocks(node)] == []
