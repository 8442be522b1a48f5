"""Bodies of procedures that leave a condition's block early are refused; the Fix gives the right elements."""

import ast
from pathlib import Path

import numpy as np

import vyre
from vyre import InOut, u32
from vyre._procedure.leaving import left_blocks

ONES = np.ones(2, np.uint32)


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


def test_a_condition_and_a_loop_with_names_have_their_steps():
    @vyre.kernel
    def add(x: InOut[u32], k: u32):
        x[vyre.gid(0)] += k

    @vyre.procedure
    def named(x: InOut[u32]):
        block = vyre.when(x.length > 1)
        with block:
            turns = vyre.times(3)
            for turn in turns:
                add(x, turn)

    x = ONES.copy()
    named(x, backend="cpu")
    assert x.tolist() == [4, 4]
