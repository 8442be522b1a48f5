"""Errors of a procedure's call name the step by its number and line, and the invocations around it."""

from pathlib import Path

import numpy as np
import pytest

import vyre
from small_kernels import plus
from vyre import In, InOut, Out, u32, u64
from vyre.errors import ArgumentError, BindingError, CapabilityError

X = np.arange(4, dtype=np.uint32)
SOURCE = Path(__file__).read_text().splitlines()
FIX = (
    "annotate it with vyre.u64 and write u32({0}) in the kernel where a u32 is wanted, or pass the size % 2**32 for "
    "its low 32 bits"
)


def at(step, marker):
    """What stands behind the name of a step whose line ends with the marker."""
    (line,) = [number for number, line in enumerate(SOURCE, 1) if line.endswith(f"# {marker}")]
    return f" at steps[{step}] ({__file__}:{line})"


def told_by(call, kind=ArgumentError):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def with_another_parameter():
    @vyre.kernel
    def plus(x: In[u32], y: Out[u32], m: u32):
        i = vyre.gid(0)
        if i < len(y):
            y[i] = x[i] + m

    return plus


def of_kernel(kernel, name="p"):
    @vyre.procedure(name=name)
    def made(x: In[u32], k: u64):
        y = vyre.scratch(u32, x.length)
        kernel(x, y, k)  # of a kernel
        return y

    return made


@vyre.procedure(name="twice")
def twice(x: In[u32], a: u64, b: u64):
    y, z = vyre.scratch(u32, x.length), vyre.scratch(u32, x.length)
    plus(x, y, a)  # first
    plus(y, z, b)  # second
    return z


@vyre.procedure(name="grids")
def grids(x: In[u32], a: u64, b: u64):
    y, z = vyre.scratch(u32, x.length, zeros=True), vyre.scratch(u32, x.length, zeros=True)
    plus(x, y, 1, workgroups=a)  # first grid
    with vyre.when(b > 0):
        plus(y, z, 1, workgroups=b)  # second grid
    return z


@vyre.procedure(name="slices")
def slices(x: InOut[u32], a: u64, b: u64):
    plus(x[0:1], x[a : a + 1], 1)  # first slice
    plus(x[0:1], x[b : b + 1], 1)  # second slice


@vyre.procedure(name="outer")
def outer(x: In[u32], a: u64, b: u64):
    y = twice(x, 1, a)  # first invocation
    return twice(y, 1, b)  # second invocation


def test_a_size_that_does_not_fit_is_told_with_its_step(target):
    for a, b, place in ((2**32, 1, at(0, "first")), (1, 2**32, at(1, "second"))):
        assert told_by(lambda a=a, b=b: twice(X, a, b, **target)) == (
            f"dispatch `plus` in procedure `twice`{place}: parameter `n` is 4294967296, and a u32 is at most "
            f"4294967295. Fix: {FIX.format('n')}."
        )


def test_a_grid_that_is_too_large_is_told_with_its_step(target):
    for a, b, place in ((2**32, 1, at(0, "first grid")), (1, 2**32, at(2, "second grid"))):
        assert told_by(lambda a=a, b=b: grids(X, a, b, **target)).startswith(
            f"dispatch `plus` in procedure `grids`{place}: its grid must be at most 4294967295 workgroups along an "
            "axis, got 4294967296"
        )
    # This one is found where the invocations are counted.
    assert told_by(lambda: grids(X, 1, 2**32 - 1, **target)).startswith(
        f"dispatch `plus` in procedure `grids`{at(2, 'second grid')}: "
    )


def test_slices_that_overlap_or_end_beyond_the_array_are_told_with_their_step(target):
    for a, b, place in ((0, 1, at(0, "first slice")), (1, 0, at(1, "second slice"))):
        assert told_by(lambda a=a, b=b: slices(X.copy(), a, b, **target), BindingError).startswith(
            f"dispatch `plus` in procedure `slices`{place}: arrays `x` and `y` overlap in memory"
        )
        checked = told_by(lambda a=a, b=b: slices.check(X.copy(), a, b), BindingError)
        assert checked.startswith(f"dispatch `plus` in procedure `slices`{place}: arrays `")
    assert told_by(lambda: slices(X.copy(), 1, 4, **target)).startswith(
        f"dispatch `plus` in procedure `slices`{at(1, 'second slice')}: the slice of array `x`"
    )


@vyre.kernel(workgroup_size=1 << 16)
def wide(x: In[u32], y: Out[u32]):
    y[vyre.gid(0)] = x[vyre.gid(0)]


@vyre.procedure(name="widened")
def widened(x: In[u32]):
    y, z = vyre.scratch(u32, x.length), vyre.scratch(u32, x.length)
    plus(x, y, 1)
    wide(y, z)  # wide
    return z


def test_a_limit_of_the_device_is_told_with_the_step(target):
    if target["backend"] in ("reference", "cpu"):  # they take workgroups of this size
        assert widened(X, **target).tolist() == (X + 1).tolist()
        return
    told = told_by(lambda: widened(X, **target), CapabilityError)
    assert told.startswith(
        f"dispatch `wide` in procedure `widened`{at(1, 'wide')}: 65536 invocations along an axis of "
    )


def test_the_invocations_around_a_step_are_told(target):
    for a, b, place in ((2**32, 1, at(0, "first invocation")), (1, 2**32, at(1, "second invocation"))):
        assert told_by(lambda a=a, b=b: outer(X, a, b, **target)) == (
            f"dispatch `plus` in procedure `twice`{at(1, 'second')}, in the invocation of `twice` in procedure "
            f"`outer`{place}: parameter `n` is 4294967296, and a u32 is at most 4294967295. Fix: {FIX.format('n')}."
        )


def test_a_procedure_that_was_read_has_the_numbers_of_its_steps():
    read = vyre.Procedure.parse(outer.procedure.to_text())
    assert told_by(lambda: vyre.run(read, {"x": X, "a": 1, "b": 2**32}, backend="cpu")).startswith(
        "dispatch `plus` in procedure `twice` at steps[1], in the invocation of `twice` in procedure `outer` at "
        "steps[1]: word 0 of buffer `__params` is 4294967296"
    )


def test_equal_procedures_are_told_in_their_own_words(target):
    other = with_another_parameter()
    first, second = of_kernel(plus), of_kernel(other)
    assert first.procedure == second.procedure
    x = vyre.array(X, **target)
    for p, name in ((first, "n"), (second, "m"), (first, "n")):
        assert p(x, 1).numpy().tolist() == [1, 2, 3, 4]
        for call in (lambda p=p: p(x, 2**32), lambda p=p: p(X, 2**32, **target)):
            assert told_by(call) == (
                f"dispatch `plus` in procedure `p`{at(0, 'of a kernel')}: parameter `{name}` is 4294967296, and a u32 "
                f"is at most 4294967295. Fix: {FIX.format(name)}."
            )


def test_equal_procedures_in_one_procedure_are_told_in_their_own_words():
    first, second = of_kernel(plus), of_kernel(with_another_parameter())

    @vyre.procedure(name="both")
    def both(x: In[u32], a: u64, b: u64):
        y = first(x, a)
        return second(y, b)

    assert len(both.procedure.procedures) == 1
    for a, b, name in ((2**32, 1, "n"), (1, 2**32, "m")):
        assert f": parameter `{name}` is 4294967296" in told_by(lambda a=a, b=b: both(X, a, b, backend="cpu"))


def test_equal_procedures_with_equal_messages_share_a_plan():
    x = vyre.array(X, backend="cpu")
    of_kernel(plus, "shared")(x, 1)
    made = vyre._core._procedure_plans()[1]
    of_kernel(plus, "shared")(x, 1)
    assert vyre._core._procedure_plans()[1] == made
