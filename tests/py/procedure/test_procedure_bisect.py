"""vyre.bisect of a procedure: the first step whose arrays differ, and the first value of its dispatch."""

from dataclasses import replace
from pathlib import Path

import numpy as np

import vyre
from conftest import refused
from small_kernels import evens
from vyre import In, InOut, Out, u32
from vyre._procedure.check import Memory
from vyre._procedure.flat import named_call
from vyre._tools.procedure_bisect import search
from vyre._tools.steps import runner_of
from vyre._tools.ways import Run
from vyre.errors import ArgumentError, BindingError

HERE = __file__
X = np.arange(1, 6, dtype=np.uint32)


def line_of(text: str) -> int:
    lines = Path(HERE).read_text(encoding="utf-8").splitlines()
    return next(k for k, line in enumerate(lines, 1) if text in line)


@vyre.kernel
def doubled(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] * 2 + 1


@vyre.kernel
def counted(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = vyre.popcount(x[i]) + i  # counts


@vyre.procedure
def turned(x: In[u32], n: u32):
    a, b = vyre.scratch(u32, x.length, name="a"), vyre.scratch(u32, x.length, name="b")
    doubled(x, a)
    for _ in vyre.times(n):
        doubled(a, b)
        vyre.swap(a, b)
    counted(a, b)  # the step
    doubled(b, a)
    return a


def clz(program, inputs, workgroups):
    """A backend that counts leading zeros in place of ones."""
    broken = vyre.parse(program.to_text().replace("popcount", "clz"))
    return vyre.run(broken, inputs, workgroups, backend="reference")


def test_backends_that_agree_have_no_divergence():
    for backend in ("reference", "cpu", {"backend": "cpu", "optimize": False}):
        assert vyre.bisect(turned, {"x": X, "n": 3}, backend=backend) is None
    assert vyre.bisect(turned.procedure, {"x": X, "n": 3}, backend="cpu") is None


def test_the_first_step_and_the_first_value_are_found():
    found = vyre.bisect(turned, {"x": X, "n": 2}, backend=clz)
    assert (found.step.number, found.step.steps, found.step.line) == (4, 5, line_of("# the step"))
    assert found.array == vyre.OutputDifference("b", 0, {"clz": 28, "reference": 4})
    assert found.output == vyre.OutputDifference("a", 0, {"clz": 57, "reference": 9})
    assert found.dispatch.place.line == line_of("# counts")
    assert found.dispatch.values == {"clz": 28, "reference": 4}
    path, statement = found.dispatch.place.path, found.dispatch.statement.split("\n")
    assert str(found) == (
        "clz and reference first differ after step 4 of 5, kernel `counted` in procedure `turned` "
        f"({HERE}:{line_of('# the step')}: counted(a, b)  # the step):\n"
        "  array   b[0]: clz 28, reference 4\n"
        "  output  a[0]: clz 57, reference 9\n"
        "The dispatch alone, with the arrays as they are before it:\n"
        "  clz and reference first differ in invocation (0, 0, 0) of workgroup (0, 0, 0), after 0 barriers:\n"
        f"    at          {path} ({HERE}:{line_of('# counts')})\n"
        f"    statement   {statement[0]}\n"
        f"                {statement[1]}\n"
        "    expression  popcount(x[i])\n"
        "    clz         28 (0x1c)\n"
        "    reference   4 (0x4)\n"
        "    output      y[0]: clz 28, reference 4"
    )


def test_a_long_procedure_is_halved():
    found = vyre.bisect(turned, {"x": X, "n": 200}, backend=clz)
    assert (found.step.number, found.step.steps) == (202, 203)
    assert found.dispatch is not None


class _WrongSteps:
    """A backend that takes other steps than it should."""

    def __init__(self, call, change):
        self.call, self.change = call, change

    def state(self, count, arrays):
        memory = Memory(self.call)
        for number, step in enumerate(self.call.steps[:count], 1):
            memory.run(self.change(number, step), None, "test")
        return [memory.bytes[index].copy() for index in arrays]


def test_a_step_on_the_wrong_arrays_is_found_though_its_dispatch_is_right(monkeypatch):
    """As a lost swap does it."""
    call = named_call(turned, {"x": X, "n": 3}, "test")

    def change(number, step):
        return replace(step, bound=call.steps[1].bound) if number == 3 else step

    runners = {"wrong": _WrongSteps(call, change), "cpu": runner_of(Run("test", None, backend="cpu"), call)}
    output, count, array = search(call, runners)
    assert (output.buffer, count) == ("a", 3)
    # The third step reads `b` and writes `a`, so that is where the arrays differ.
    assert (array.buffer, array.values) == ("a", {"wrong": 3, "cpu": 15})

    monkeypatch.setattr(
        "vyre._tools.procedure_bisect.runner_of",
        lambda way, made: _WrongSteps(made, change if way.backend == "cpu" else lambda _, step: step),
    )
    found = vyre.bisect(turned, {"x": X, "n": 3}, backend="cpu")
    assert found.step.number == 3
    assert found.dispatch is None
    assert str(found).endswith(
        "  output  a[0]: cpu 7, reference 11\n"
        "The dispatch agrees when it runs alone with the arrays as the reference has them before it: what differs is "
        "how steps follow one another. Fix: report the procedure with its text."
    )


def test_a_difference_that_goes_when_arrays_are_looked_at_is_told(monkeypatch):
    """As scratch memory that two arrays share by mistake does it."""

    class Sharing(_WrongSteps):
        def state(self, count, arrays):
            found = super().state(count, arrays)
            own = any(self.call.arrays[index].kind == "scratch" for index in arrays)
            return found if own else [np.where(np.arange(len(each)) == 0, each ^ 1, each) for each in found]

    monkeypatch.setattr(
        "vyre._tools.procedure_bisect.runner_of",
        lambda way, made: (Sharing if way.backend == "cpu" else _WrongSteps)(made, lambda _, step: step),
    )
    found = vyre.bisect(turned, {"x": X, "n": 1}, backend="cpu")
    assert found.step is None
    assert str(found) == (
        "cpu and reference differ at a[0]: cpu 6, reference 7. All arrays agree after every step as soon as each is "
        "looked at, which gives each memory of its own: look for arrays that share scratch memory. Fix: report the "
        "procedure with its text."
    )


def test_bytes_that_nothing_wrote_are_not_compared(monkeypatch):
    @vyre.procedure
    def partial(x: In[u32], z: InOut[u32]):
        y = vyre.scratch(u32, x.length, name="y")
        evens(x, y)
        evens(y, z)
        return y

    class Noisy(_WrongSteps):
        """What nothing wrote is any bytes, and other ones each time."""

        def state(self, count, arrays):
            memory = Memory(self.call)
            for step in self.call.steps[:count]:
                memory.run(step, None, "test")
            found = []
            for index in arrays:
                marks, data = memory.written[index], memory.bytes[index].copy()
                if marks is not None:
                    data[marks == 0] = next(noise)
                found.append(data)
            return found

    noise = iter(range(1, 250))
    monkeypatch.setattr("vyre._tools.procedure_bisect.runner_of", lambda way, made: Noisy(made, None))
    z = np.zeros(5, np.uint32)
    assert vyre.bisect(partial, {"x": X, "z": z}, backend="cpu") is None
    assert not z.any()
    assert next(noise) > 1


def test_steps_that_depend_on_the_device_are_refused_where_they_differ(monkeypatch):
    @vyre.procedure
    def limited(x: InOut[u32]):
        with vyre.when(vyre.limit("workgroup_memory") > 1 << 20):
            vyre.clear(x)

    assert vyre.bisect(limited, {"x": X}, backend="cpu") is None
    monkeypatch.setattr(
        "vyre._tools.procedure_bisect.call_on",
        lambda way, make: named_call(limited, {"x": X[: 3 if way.backend == "cpu" else 5]}, "test"),
    )
    with refused(
        ArgumentError,
        "the procedure takes other steps on cpu than on reference, because it asks for limits of the device",
        "bisect it on two backends with the same limits, or without vyre.limit",
    ):
        vyre.bisect(limited, {"x": X}, backend="cpu")


def test_wrong_arguments_are_refused():
    with refused(
        ArgumentError,
        "argument `workgroups` of vyre.bisect has no place for a procedure",
        "leave it out",
    ):
        vyre.bisect(turned, {"x": X, "n": 1}, 1, backend="cpu")
    with refused(BindingError, "argument `inputs` of vyre.bisect misses `n` of procedure `turned`", "add 'n' to it"):
        vyre.bisect(turned.procedure, {"x": X}, backend="cpu")
