"""Arrays of a procedure begin as zeros on every backend and in every run, and are filled where that can be seen."""

from random import Random

import numpy as np
import pytest

import vyre
from drawn_stores import DrawnStores
from library_calls import ROWS, SMALL
from small_kernels import evens
from vyre import In, Out, u8, u32, vec4u32
from vyre._procedure.flat import call_of, named_call
from vyre._procedure.procedure import ProcedureFunction

X = np.arange(1, 1001, dtype=np.uint32)


@vyre.kernel(workgroup_size=64)
def copied(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    y[i] = x[i]


@vyre.kernel
def every_third(x: In[u32], y: Out[u8]):
    i = vyre.gid(0)
    if i % 3 == 0:
        y[i] = x[i]


@vyre.procedure
def half(x: In[u32]):
    y = vyre.scratch(u32, x.length)
    evens(x, y)
    return y


@vyre.procedure
def half_by_scratch(x: In[u32]):
    kept = vyre.scratch(u32, x.length)
    evens(x, kept)
    y = vyre.scratch(u32, x.length)
    copied(kept, y)
    return y


@vyre.procedure
def half_of_a_part(x: In[u32]):
    y = vyre.scratch(u32, x.length)
    copied(x, y)
    half(x[:300], out=y[100:400])
    return y


@vyre.procedure
def a_third(x: In[u32]):
    y = vyre.scratch(u8, x.length)
    every_third(x, y, grid=x.length)
    return y


HALF = np.where(np.arange(X.size) % 2 == 0, X, 0).astype(np.uint32)
PARTIAL = {
    "output": (half, HALF),
    "scratch": (half_by_scratch, HALF),
    "output of an invocation": (half_of_a_part, np.concatenate([X[:100], HALF[:300], X[400:]])),
    "bytes": (a_third, np.where(np.arange(X.size) % 3 == 0, X, 0).astype(np.uint8)),
}


def soil(place, like):
    """Leave what is not 0 in memory that was freed, and in scratch memory."""
    for _ in range(4):
        dirty = vyre.array(np.full(like.shape, 0xAB, like.dtype), **place)
        dirty.numpy()
        del dirty


@pytest.mark.parametrize("name", PARTIAL)
def test_what_no_step_writes_is_zero_in_every_call(name, place):
    procedure, expected = PARTIAL[name]
    resident = vyre.array(X, **place)
    for _ in range(3):
        soil(place, expected)
        np.testing.assert_array_equal(procedure(resident).numpy(), expected)
        np.testing.assert_array_equal(procedure(X, **place), expected)
        dirty = vyre.array(np.full(expected.shape, 0xAB, expected.dtype), **place)
        procedure(resident, out=dirty)
        np.testing.assert_array_equal(dirty.numpy(), expected)
        # Other elements are written by the next call: those of this call must be gone.
        moved = np.roll(X, 1)
        procedure(vyre.array(moved, **place))


@pytest.mark.parametrize("name", PARTIAL)
def test_a_graph_zeroes_in_every_replay(name, place):
    procedure, expected = PARTIAL[name]
    x, y = vyre.array(X, **place), vyre.array(np.full(expected.shape, 0xAB, expected.dtype), **place)
    with vyre.graph() as graph:
        procedure(x, out=y)
    for _ in range(2):
        y.write(np.full(expected.shape, 0xCD, expected.dtype))
        graph.replay()
        np.testing.assert_array_equal(y.numpy(), expected)


def zeros_of(procedure, *args):
    """The names and bytes of what a call fills with zeros because nothing else may have written it."""
    given = dict(zip([each.name for each in procedure._parameters], args, strict=True))
    call = call_of(procedure, given)
    return [(call.arrays[step.bound[0].array].name, step.bound[0].bytes) for step in call.steps if step.kind == "zeros"]


@vyre.kernel(workgroup_size=64)
def sums_of_tiles(x: In[u32], sums: Out[u32]):
    t, total = vyre.lid(0), vyre.shared(u32, 1)
    total.atomic_add(0, x[vyre.gid(0)])
    vyre.barrier()
    if t == 0:
        sums[vyre.wid(0)] = total[0]


@vyre.kernel(workgroup_size=64)
def four_each(x: In[u32], y: Out[u32]):
    first = vyre.wid(0) * 256 + vyre.lid(0)
    for k in range(4):
        y[first + 64 * k] = x[first + 64 * k]


@vyre.kernel(workgroup_size=64)
def whole_tiles_and_the_rest(x: In[u32], y: Out[u32]):
    first = vyre.wid(0) * 256
    if len(y) - first >= 256:
        for k in vyre.unroll(range(4)):
            y[first + vyre.lid(0) * 4 + k] = x[first + vyre.lid(0) * 4 + k]
    else:
        for k in vyre.unroll(range(4)):
            at = first + vyre.lid(0) * 4 + k
            if at < len(y):
                y[at] = x[at]


@vyre.kernel
def rows(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    if i >= len(x):
        return
    for k in vyre.unroll(range(3)):
        y[3 * i + k] = x[i] + k


@vyre.kernel
def vectors(x: In[vec4u32], y: Out[vec4u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i]


@vyre.kernel
def by_cases(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    if x[i] % 2 == 0:
        y[i] = 1
    else:
        y[i] = 2


@vyre.kernel(workgroup_size=32)
def ends(x: In[u32], y: Out[u32]):
    t = vyre.lid(0)
    if t == 0:
        y[t] = x[0]
    elif t == 1:
        y[t] = x[1]
    elif t < 32:
        y[t] = x[2]


def by(kernel, length, **options):
    @vyre.procedure
    def made(x: In[u32]):
        y = vyre.scratch(u32, length(x.length))
        kernel(x, y, **{name: value(x.length) for name, value in options.items()})
        return y

    return made


def by_vectors(x, y, grid):
    vectors(x.view(vec4u32), y.view(vec4u32), grid=grid)


WHOLE = {
    "an element an invocation": by(copied, lambda n: n),
    "an element a workgroup": by(
        sums_of_tiles, lambda n: vyre.ceil_div(n, 64), workgroups=lambda n: vyre.ceil_div(n, 64)
    ),
    "turns of a loop": by(four_each, lambda n: n, workgroups=lambda n: vyre.ceil_div(n, 256)),
    "tiles and a rest": by(whole_tiles_and_the_rest, lambda n: n, workgroups=lambda n: vyre.ceil_div(n, 256)),
    "rows": by(rows, lambda n: 3 * n, grid=lambda n: n),
    "vectors": by(by_vectors, lambda n: n, grid=lambda n: vyre.ceil_div(n, 4)),
    "both branches": by(by_cases, lambda n: n),
    "cases of an id": by(ends, lambda n: 32, workgroups=lambda n: 1),
}


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("n", [64, 1000, 1024])
def test_what_is_written_whole_is_not_filled(name, n):
    assert zeros_of(WHOLE[name], X.repeat(2)[:n]) == []


def test_only_what_may_be_seen_is_filled():
    @vyre.procedure
    def short(x: In[u32]):
        y = vyre.scratch(u32, x.length + 10)
        copied(x, y, workgroups=1)  # one workgroup writes the first ones
        kept = vyre.scratch(u32, x.length, name="kept")  # nothing reads it
        evens(x, kept)
        return y

    assert zeros_of(short, X) == [("scratch", 4 * (1010 - 64))]


def test_an_array_that_begins_as_zeros_and_is_written_whole_is_not_filled():
    @vyre.procedure
    def declared(x: In[u32]):
        y = vyre.scratch(u32, x.length, zeros=True)
        copied(x, y)
        return y

    assert [step.kind for step in call_of(declared, {"x": X}).steps] == ["dispatch"]


# Exhaustive on purpose: every procedure that the library's calls run.
@pytest.mark.parametrize("name", ROWS)
def test_the_library_fills_nothing_that_it_writes(name, monkeypatch):
    run, filled = ProcedureFunction._run, []

    def noted(self, made, given, options):
        call = call_of(self, dict(given))
        filled.extend((self.name, call.arrays[s.bound[0].array].name) for s in call.steps if s.kind == "zeros")
        return run(self, made, given, options)

    monkeypatch.setattr(ProcedureFunction, "_run", noted)
    with vyre.default_device("cpu"):
        ROWS[name].call(vyre.std, SMALL)
    # Its kernels load both values of a conditional expression, and one of them was not written.
    assert {each for each in filled if not each[0].startswith("std.edit_distance.")} == set()


@pytest.mark.parametrize("seed", range(8))
def test_stores_of_any_form_leave_zeros_around_them(seed):
    """The output holds other bytes before, which stay where stores are taken to be more than they are."""
    print("seed", seed)
    random = Random(seed)
    kinds = set()
    for _ in range(60):
        drawn = DrawnStores(random)
        procedure = vyre.Procedure.parse(drawn.text)
        if vyre.validate(procedure):
            continue  # a break that every turn takes, and the like
        flag = np.zeros(1, np.uint32)
        kinds.add(any(step.kind == "zeros" for step in named_call(procedure, {"flag": flag}, "a test").steps))
        dirty = vyre.array(np.full(drawn.length, 0xABABABAB, np.uint32), backend="cpu")
        vyre._core._run_procedure(procedure, [vyre.array(flag, backend="cpu")], [], [dirty], "cpu", 0)
        expected = [7 if k in drawn.stored else 0 for k in range(drawn.length)]
        assert dirty.numpy().tolist() == expected, drawn.text
    assert kinds == {True, False}
