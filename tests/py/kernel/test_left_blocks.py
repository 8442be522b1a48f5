"""Bodies of procedures that leave a condition's block early are refused; the Fix gives the right elements."""

import ast
import contextlib
from pathlib import Path

import numpy as np
import pytest

import vyre
from conftest import refused
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
    with refused(
        ArgumentError,
        f"`{statement}` at line {line} of {FILE} leaves a `with vyre.{block}:` block, and what follows the "
        "block would be left out for every length",
        f"put what follows into a `with vyre.otherwise():` block, and write `{statement}` behind the blocks; "
        "make an array that both write before them, by vyre.scratch",
    ):
        procedure(ONES.copy(), ONES.copy(), backend="cpu")


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

    with refused(
        ArgumentError, "vyre.otherwise does not follow a vyre.when", "write it directly behind that with-block"
    ):
        twice(ONES.copy(), backend="cpu")


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


def _recorded(body):
    @vyre.procedure
    def lost(x: InOut[u32]):
        return body(x)

    with pytest.raises(ArgumentError) as caught:
        _ = lost.procedure
    return str(caught.value)


def _without_with(x):
    vyre.when(x.length > 3)
    vyre.clear(x)


def _otherwise_without_with(x):
    with vyre.when(x.length > 3):
        vyre.clear(x)
    vyre.otherwise()
    vyre.clear(x)


def _times_without_for(x):
    vyre.times(3)
    vyre.clear(x)


def _times_without_steps(x):
    for _ in vyre.times(3):
        pass
    vyre.clear(x)


def _block_twice(x):
    block = vyre.when(x.length > 3)
    with block:
        vyre.clear(x)
    with block:
        vyre.clear(x)


def _caught(x):
    try:
        with vyre.when(x.length > 3):
            raise KeyError
    except KeyError:
        vyre.clear(x)


def _with_a_name(x):
    block = vyre.when(x.length > 3)
    with block:
        return
    vyre.clear(x)


def _with_an_exit_stack(x):
    with contextlib.ExitStack() as stack:
        stack.enter_context(vyre.when(x.length > 3))
        return


@pytest.mark.parametrize(
    ("body", "statement", "message"),
    [
        (
            _without_with,
            "vyre.when(x.length > 3)",
            "procedure `lost` calls vyre.when(...) at line LINE of FILE, and no block of steps follows. "
            "Fix: write `with vyre.when(...):` above the steps.",
        ),
        (
            _otherwise_without_with,
            "vyre.otherwise()",
            "procedure `lost` calls vyre.otherwise() at line LINE of FILE, and no block of steps follows. "
            "Fix: write `with vyre.otherwise():` above the steps.",
        ),
        (
            _times_without_for,
            "vyre.times(3)",
            "procedure `lost` calls vyre.times(...) at line LINE of FILE, and no block of steps follows. "
            "Fix: write `for i in vyre.times(...):` above the steps.",
        ),
        (
            _times_without_steps,
            "for _ in vyre.times(3):",
            "a loop over vyre.times at line LINE of FILE repeats no steps. Fix: write them in its body.",
        ),
        (
            _block_twice,
            "with block:",
            "a with-block of vyre.when(...) begins a second time. Fix: write `with vyre.when(...):` for each block.",
        ),
        (
            _caught,
            "raise KeyError",
            "procedure `lost` goes on after an exception has left a block of vyre.when, and what followed in the block "
            "is missing. Fix: catch the exception inside of the block, or not at all.",
        ),
        *(
            (
                body,
                "return",
                "`return` at line LINE of FILE leaves a `with vyre.when(...):` block, and what follows the block would "
                "be left out for every length. Fix: put what follows into a `with vyre.otherwise():` block, and write "
                "`return` behind the blocks; make an array that both write "
                "before them, by vyre.scratch.",
            )
            for body in (_with_a_name, _with_an_exit_stack)
        ),
    ],
)
def test_steps_that_would_be_lost_are_refused(body, statement, message):
    assert _recorded(body) == message.replace("LINE", str(line_of(body, statement))).replace("FILE", FILE)


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


def test_what_a_procedure_returns_is_a_tuple():
    assert _recorded(lambda x: [vyre.scratch(u32, 3, zeros=True)]) == (
        "procedure `lost` returns a list, and its results are one array or a tuple. Fix: write return tuple(arrays)."
    )


async def _coroutine(x: InOut[u32]):
    return vyre.scratch(u32, 3)


async def _asynchronous_generator(x: InOut[u32]):
    yield vyre.scratch(u32, 3)


def _generator(x: InOut[u32]):
    yield vyre.scratch(u32, 3)


@pytest.mark.parametrize(
    ("function", "word"), [(_coroutine, "async"), (_asynchronous_generator, "async"), (_generator, "yield")]
)
def test_a_coroutine_and_a_generator_are_no_procedures(function, word):
    with refused(
        ArgumentError,
        f"procedure `{function.__name__}` is written with `{word}`, and its steps are recorded in one call",
        "leave it out, and return the arrays, all at the end",
    ):
        vyre.procedure(function)
