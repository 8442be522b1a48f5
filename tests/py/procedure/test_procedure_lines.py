"""Steps inside of an invoked procedure have the lines of the code that recorded them, however they are invoked."""

import gc
import itertools
from pathlib import Path

import numpy as np
import pytest

import vyre
from vyre import In, OpSpec, Out, ops, u32
from vyre._kernel.lines import lines_of_call as lines_of_kernel
from vyre._procedure.lines import lines_of_call

X = np.arange(6, dtype=np.uint32)
NUMBERS = itertools.count()


@vyre.kernel
def evens(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y) and i % 2 == 0:
        y[i] = x[i]  # a line of evens


@vyre.kernel
def copied(x: In[u32], y: Out[u32]):
    y[vyre.gid(0)] = x[vyre.gid(0)]  # the line of copied


def forgetful():
    """A procedure whose second step reads what its first has left out."""

    @vyre.procedure(name="forgetful")
    def made(x: In[u32]):
        part = vyre.scratch(u32, x.length, name="part")  # makes part
        y = vyre.scratch(u32, x.length, name="y")
        evens(x, part)  # the first step
        copied(part, y)  # the second step
        return y

    return made.procedure


def registered(procedure):
    gc.collect()  # the function that recorded it is gone
    return ops.register(OpSpec(f"lines.op{next(NUMBERS)}", procedure=procedure)).id


def here(text):
    """The file and the line of this module that ends with the text."""
    [line] = [n for n, line in enumerate(Path(__file__).read_text().splitlines(), 1) if line.endswith(f"  {text}")]
    return __file__, line


def direct():
    return vyre.ops._function(ops.get(registered(forgetful()))), ()


def invoked():
    id = registered(forgetful())

    @vyre.procedure
    def outer(x: In[u32]):
        return ops.invoke(id, x)  # invokes the operation

    return outer, (here("# invokes the operation"),)


def nested():
    id = registered(forgetful())

    @vyre.procedure
    def middle(x: In[u32]):
        return ops.invoke(id, x)  # the middle one invokes

    outer_id = registered(middle.procedure)

    @vyre.procedure
    def outer(x: In[u32]):
        zeros = vyre.scratch(u32, x.length)
        with vyre.when(x.length > 1):
            vyre.clear(zeros)
        return ops.invoke(outer_id, x)  # the outer one invokes

    return outer, (here("# the middle one invokes"), here("# the outer one invokes"))


def in_a_method():
    operation = ops.Operation(ops.get(registered(forgetful())))

    @vyre.procedure
    def outer(x: In[u32]):
        return operation(x)  # calls the operation

    return outer, (here("# calls the operation"),)


WAYS = {each.__name__: each for each in (direct, invoked, nested, in_a_method)}


@pytest.mark.parametrize("way", WAYS)
def test_a_report_has_the_lines_of_the_step_of_its_array_and_of_the_invocations(way):
    function, callers = WAYS[way]()
    [report] = function.check(X, checks="uninitialised-read").reports
    place = report.step.place
    assert (place.what, (place.file, place.line)) == (
        "kernel `copied` in procedure `forgetful`",
        here("# the second step"),
    )
    assert place.callers == callers
    assert report.step.array == "part"
    assert report.step.made.endswith('name="part")  # makes part')
    assert report.witness.place.line == here("# the line of copied")[1]


@pytest.mark.parametrize("way", WAYS)
def test_a_divergence_has_the_lines_too(way):
    function, callers = WAYS[way]()

    def wrong(program, inputs, workgroups):
        broken = vyre.parse(program.to_text().replace("% 2", "% 3"))
        return vyre.run(broken, inputs, workgroups, backend="reference")

    found = vyre.bisect(function, {"x": X}, backend=wrong)
    assert (found.step.file, found.step.line) == here("# the first step")
    assert found.step.callers == callers


@pytest.mark.parametrize("way", WAYS)
def test_the_lines_that_a_call_runs_are_those_of_the_kernels_within(way):
    function, _ = WAYS[way]()
    found = lines_of_call(function, (X,), {})
    assert {here("# a line of evens"), here("# the line of copied")} <= found


@vyre.kernel
def early(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)  # the begin of early
    if i >= len(y):
        return  # the end of early
    y[i] = x[i]  # the store of early


@vyre.kernel(workgroup_size=8)
def turned(x: In[u32], y: Out[u32]):
    i, tile = vyre.gid(0), vyre.shared(u32, 8)
    if i < len(x):
        tile[vyre.lid(0)] = x[i]  # the load of turned
    vyre.barrier()
    if i < len(y):
        y[i] = tile[7 - vyre.lid(0)]  # the store of turned


@vyre.procedure
def both(x: In[u32], whole: vyre.const):
    y = vyre.scratch(u32, x.length)
    early(turned(x), y, workgroups=1 if whole else None)
    return y


@vyre.procedure
def around(x: In[u32]):
    return both(x, False)


def test_invocations_beyond_a_grid_run_no_lines():
    begin, end, store = (here(f"# the {each} of early") for each in ("begin", "end", "store"))
    ran = lines_of_kernel(early, (X,), {})
    assert {begin, store} <= ran
    assert end not in ran
    assert end not in lines_of_kernel(early, (X,), {"grid": 5})
    assert end in lines_of_kernel(early, (X,), {"workgroups": 1})
    assert lines_of_call(both, (X, False), {}) == lines_of_call(around, (X,), {})
    assert lines_of_call(both, (X, False), {}) == ran | lines_of_kernel(turned, (X,), {})
    assert end in lines_of_call(both, (X, True), {})


def test_lines_of_a_kernel_with_a_barrier_are_found():
    """The marks store before it compares its index, and are no reason to refuse its grid."""
    assert {here("# the load of turned"), here("# the store of turned")} <= lines_of_kernel(turned, (X,), {})


def test_a_value_has_the_lines_of_its_recording_and_one_that_was_read_those_of_an_equal_one():
    procedure = forgetful()
    gc.collect()
    for value in (procedure, vyre.Procedure.parse(procedure.to_text())):
        [report] = vyre.check(value, {"x": X}, checks="uninitialised-read").reports
        assert (report.step.place.file, report.step.place.line) == here("# the second step")


def test_a_value_that_was_not_recorded_here_has_no_lines():
    value = vyre.Procedure.parse(forgetful().to_text().replace("forgetful", "unknown"))
    [report] = vyre.check(value, {"x": X}, checks="uninitialised-read").reports
    assert (report.step.place.file, report.step.place.callers, report.step.made) == (None, (), "")
    function = ops._function(ops.get(registered(value)))
    assert lines_of_call(function, (X,), {}) == set()
