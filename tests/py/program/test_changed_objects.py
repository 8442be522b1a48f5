"""Objects of Python that a block changes or steps through are refused, because a procedure's body runs once."""

import linecache

import numpy as np
import pytest

from vyre.errors import ArgumentError

AROUND = """\
import functools
import heapq
import io
import itertools
import os
from collections import Counter, deque
from types import SimpleNamespace

import numpy as np

import vyre
from vyre import InOut, u32


@vyre.kernel
def add(x: InOut[u32], k: u32):
    x[vyre.gid(0)] += k


class Counting:
    count = 0

    def __init__(self):
        self.turn, self.kernel, self.inner, self.pair = 0, None, SimpleNamespace(turn=0), (1, [2])

    def next(self):
        self.turn += 1
        return self.turn

    def add(self, x, k):
        self.kernel = self.kernel or add
        self.kernel(x, k)


class Slots:
    __slots__ = ("turn",)


def by_attribute():
    by_attribute.turn += 1
    return by_attribute.turn


def by_variable():
    k = 0

    def advance():
        nonlocal k
        k += 1
        return k

    return advance


def by_global():
    global LAST
    LAST += 1
    return LAST


def by_another():
    return next(COUNT)


def of_another():
    return by_another()


def of_attribute(owner):
    return owner.COUNT


def by_list():
    NUMBERS.append(1)
    return len(NUMBERS)


def by_object():
    OBJECT.inner.turn += 1
    return OBJECT.inner.turn


def by_key():
    NAMED["k"] += 1
    return NAMED["k"]


def by_table():
    TABLE[0] += 1
    return int(TABLE[0])


def kept(k):
    if k not in NAMED:
        NAMED[k] = k + 1
    return NAMED[k]


def turns_of(n):
    for i in vyre.times(n):
        yield i


COUNT, LAST, NUMBERS, TABLE, BYTES = itertools.count(), 0, [1, 2, 3], np.arange(3), bytearray(3)
OBJECT, VARIABLE, QUEUE, KNOWN, SEEN = Counting(), by_variable(), deque(NUMBERS), {}, Counter()
by_attribute.turn, STEP = 0, functools.partial(next, itertools.count())
LARGE, NAMED = np.zeros(1 << 20, np.uint32), {"k": 0}
PAIR, NEXT, POP, ADVANCE = ([1], (2,)), itertools.count().__next__, [1, 2, 3].pop, OBJECT.next


@vyre.procedure
def f(x: InOut[u32], n: u32):
"""
TIMES, WHEN = "for i in vyre.times(n):", "with vyre.when(n > 2):"
ZEROS = np.zeros(2, np.uint32)


def defined(write_module, body):
    """The procedure, and the line that its body begins at."""
    text = AROUND + "".join(f"    {line}\n" for line in body.split("\n"))
    return write_module("changing", text).f, AROUND.count("\n") + 1


def error_of(procedure):
    with pytest.raises(ArgumentError) as caught:
        procedure(ZEROS.copy(), 3, backend="cpu")
    return str(caught.value)


@pytest.mark.parametrize(
    ("before", "block", "inside", "name", "done"),
    [
        ("pass", TIMES, "add(x, next(COUNT))", "COUNT", "stepped through"),
        ("pass", TIMES, "add(x, NEXT())", "NEXT", "stepped through"),
        ("numbers = iter(NUMBERS)", TIMES, "add(x, next(numbers))", "numbers", "stepped through"),
        ("pairs = zip([1], [2])", WHEN, "for k, _ in pairs: add(x, k)", "pairs", "stepped through"),
        ("turns = vyre.times(n)", WHEN, "for i in turns: add(x, i)", "turns", "stepped through"),
        ("found = []", TIMES, "found.append(1); add(x, len(found))", "found", "changed"),
        ("found = []", WHEN, "found.append(1); add(x, 1)", "found", "changed"),
        ("push = NUMBERS.append", TIMES, "push(1); add(x, 1)", "push", "changed"),
        ("pass", TIMES, "add(x, POP())", "POP", "changed"),
        ("pass", TIMES, "add(x, heapq.heappushpop(NUMBERS, 7))", "NUMBERS", "changed"),
        ("pass", TIMES, "NUMBERS[0] = 5; add(x, NUMBERS[0])", "NUMBERS", "changed"),
        ("pass", TIMES, "PAIR[0][0] += 1; add(x, PAIR[0][0])", "PAIR", "changed"),
        ("pass", TIMES, "KNOWN[len(KNOWN)] = 1; add(x, len(KNOWN))", "KNOWN", "changed"),
        ("pass", TIMES, "SEEN[0] += 1; add(x, SEEN[0])", "SEEN", "changed"),
        ("pass", TIMES, "QUEUE.rotate(1); add(x, QUEUE[0])", "QUEUE", "changed"),
        ("pass", TIMES, "TABLE[0] += 1; add(x, int(TABLE[0]))", "TABLE", "changed"),
        ("pass", TIMES, "BYTES[0] += 1; add(x, BYTES[0])", "BYTES", "changed"),
        ("pass", TIMES, "OBJECT.turn += 1; add(x, OBJECT.turn)", "OBJECT", "changed"),
        ("pass", TIMES, "add(x, OBJECT.next())", "OBJECT", "changed"),
        ("pass", TIMES, "Counting.count += 1; add(x, Counting.count)", "Counting", "changed"),
        ("pass", TIMES, "add(x, ADVANCE())", "ADVANCE", "changed"),
        ("pass", TIMES, "add(x, VARIABLE())", "VARIABLE", "changed"),
        ("pass", TIMES, "add(x, by_attribute())", "by_attribute", "changed"),
        ("pass", TIMES, "add(x, STEP())", "STEP", "stepped through"),
        ("a = SimpleNamespace(ids=itertools.count())", TIMES, "add(x, next(a.ids))", "a", "stepped through"),
        ("a = SimpleNamespace(k=np.uint32(1))", TIMES, "a.k = a.k + np.uint32(1); add(x, int(a.k))", "a", "changed"),
        ("a = Slots(); a.turn = 0", TIMES, "a.turn += 1; add(x, a.turn)", "a", "changed"),
        ("pass", TIMES, "add(x, min([3], key=lambda k: next(COUNT)))", "COUNT", "stepped through"),
        ("pass", TIMES, "add(x, by_global())", "by_global", "changed"),
        ("pass", TIMES, "add(x, of_another())", "of_another", "stepped through"),
        ("a = SimpleNamespace(at=n)", TIMES, "a.at = a.at + 1; add(x, a.at)", "a", "changed"),
        ("a = SimpleNamespace(on=False)", WHEN, "a.on = True; add(x, 1)", "a", "changed"),
        ("a = SimpleNamespace(mode='x')", WHEN, "a.mode = 'y'; add(x, 1)", "a", "changed"),
        ("a = SimpleNamespace(pair=(1, 2))", WHEN, "a.pair = (1, 3); add(x, 1)", "a", "changed"),
        ("a = SimpleNamespace(found=[])", WHEN, "a.found.append(1); add(x, 1)", "a", "changed"),
        ("pass", TIMES, "OBJECT.inner.turn += 1; add(x, 1)", "OBJECT", "changed"),
        ("pass", TIMES, "add(x, by_list())", "by_list", "changed"),
        ("pass", TIMES, "add(x, by_object())", "by_object", "changed"),
        ("pass", TIMES, "add(x, by_key())", "by_key", "changed"),
        ("pass", TIMES, "add(x, by_table())", "by_table", "changed"),
        ("pass", TIMES, "LARGE[:] += 1; add(x, 1)", "LARGE", "changed"),
        (
            "lines = io.BufferedReader(io.BytesIO(b'ab'))",
            TIMES,
            "add(x, len(lines.read(1)))",
            "lines",
            "stepped through",
        ),
    ],
)
def test_an_object_that_a_block_changes_is_refused(write_module, before, block, inside, name, done):
    procedure, line = defined(write_module, f"{before}\n{block}\n    {inside}")
    what, turns = "vyre.when(...)", ""
    if block == TIMES:
        what, turns = "vyre.times(...)", ", and numbers of turns from the number of the turn"
    assert error_of(procedure) == (
        f"`{name}` is {done} in the block of {what} at line {line + 1} of changing.py, which is recorded once for all "
        f"turns and calls. Fix: make `{name}` anew in the block{turns}."
    )


@pytest.mark.parametrize(
    ("body", "total"),
    [
        (f"{TIMES}\n    numbers = iter(NUMBERS)\n    add(x, next(numbers))", 3),
        (f"{TIMES}\n    found = []\n    found.append(1)\n    add(x, len(found))", 3),
        (f"{TIMES}\n    add(x, i + next(itertools.count(1)))", 6),
        (f"found = []\nfound.append(1)\n{TIMES}\n    add(x, len(found))\nfound.append(1)", 3),
        (f"{TIMES}\n    k = NUMBERS.pop()\n    add(x, k)\n    NUMBERS.append(k)", 9),
        (f"{TIMES}\n    OBJECT.add(x, i)", 3),
        (f"{TIMES}\n    add(x, kept(2))", 9),
        (f"{TIMES}\n    OBJECT.pair = (1, OBJECT.pair[1]); add(x, i)", 3),
        (f"log = open(os.devnull, 'w')\n{TIMES}\n    print(1, file=log); add(x, i)\nlog.close()", 3),
        (f"log = io.StringIO()\n{TIMES}\n    print(1, file=log); add(x, i)", 3),
        (f"a = SimpleNamespace(log=open(__file__))\n{TIMES}\n    add(x, 1 if a.log else 2)\na.log.close()", 3),
        (f"{TIMES}\n    add(x, of_attribute(SimpleNamespace(COUNT=1)))", 3),
        (f"numbers = iter(NUMBERS)\nk = next(numbers)\n{WHEN}\n    add(x, k)\nadd(x, next(numbers))", 3),
        ("turns = vyre.times(n)\nfor i in turns:\n    for k in NUMBERS: add(x, i + k)", 27),
    ],
)
def test_objects_that_live_in_a_block_and_those_it_reads_are_free(write_module, body, total):
    x = ZEROS.copy()
    defined(write_module, body)[0](x, 3, backend="cpu")
    assert x.tolist() == [total] * 2


@pytest.mark.parametrize(
    "body",
    [
        "for k, i in enumerate(vyre.times(n)): add(x, k)",
        "for i, k in zip(vyre.times(n), NUMBERS): add(x, k)",
        "for i in itertools.islice(vyre.times(n), 2): add(x, i)",
        "for i in list(vyre.times(n)): add(x, i)",
        "[add(x, i) for i in vyre.times(n)]",
        "add(x, next(vyre.times(n)))",
        "for k, i in enumerate(turns_of(n)): add(x, k)",
    ],
)
def test_turns_that_something_else_steps_through_are_refused(write_module, body):
    procedure, line = defined(write_module, body)
    if "turns_of" in body:
        line = AROUND[: AROUND.index("for i in vyre.times")].count("\n") + 1
    assert error_of(procedure) == (
        f"line {line} of changing.py takes a turn of vyre.times without a loop over it. The body is recorded once, so "
        "that enumerate, zip and next would count one turn. Fix: write `for i in vyre.times(count):`, and make numbers "
        "from `i`."
    )


@pytest.mark.parametrize(
    "body",
    [
        "with (lambda size: vyre.when(size))(n > 1): add(x, 1)",
        "with (vyre.when if n is n else None)(n > 1): add(x, 1)",
        "with __import__('contextlib').ExitStack() as stack: stack.enter_context(vyre.when(n > 1)); add(x, 1)",
        "with __import__('contextlib').contextmanager(lambda: (yield from [None]))(): vyre.when(n > 1).__enter__()",
    ],
)
def test_a_block_that_something_else_begins_is_refused(write_module, body):
    procedure, line = defined(write_module, body)
    assert error_of(procedure).startswith(
        f"line {line} of changing.py begins a block of vyre.when without a with statement over it. The body is "
    )


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("for k, i in enumerate(vyre.times(n)): add(x, k)", "line 4 of Cell In[7] takes a turn of vyre.times"),
        ("for i in vyre.times(n): k = k + i", "`k` is read at line 4 of Cell In[7] and assigned anew"),
        ("with vyre.when(n > 1): return", "`return` at line 4 of Cell In[7] leaves"),
        ("for i in vyre.times(n): NUMBERS.append(i)", "the block of vyre.times(...) at line 4 of Cell In[7]"),
    ],
)
def test_a_procedure_in_a_notebook_is_named_by_its_cell(monkeypatch, write_module, body, place):
    cell = "<ipython-input-7-0123abcd>"
    text = f"@vyre.procedure\ndef f(x: InOut[u32], n: u32):\n    k = 0\n    {body}\n"
    monkeypatch.setitem(linecache.cache, cell, (len(text), None, text.splitlines(keepends=True), cell))
    scope = dict(vars(write_module("changing", AROUND + "    pass\n")))
    exec(compile(text, cell, "exec"), scope)
    assert place in error_of(scope["f"])
