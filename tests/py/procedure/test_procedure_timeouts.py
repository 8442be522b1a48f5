"""The time-out of a procedure's call is that of vyre.run: for all steps, and the arrays stay as they were."""

import math

import numpy as np
import pytest

import vyre
from conftest import refused
from vyre import In, InOut, Out, u32
from vyre.errors import ArgumentError, DispatchTimeoutError

STEPS = 300  # of a chain of 60,000 turns each, so that no device is done within SHORT; llvmpipe ends longer loops
SHORT = 1e-4
X = np.arange(1, 5, dtype=np.uint32)


@vyre.kernel(workgroup_size=4)
def chained(x: In[u32], y: Out[u32], turns: u32):
    i = vyre.gid(0)
    value = x[i]
    for _ in range(turns):
        value ^= value << 13
        value ^= value >> 17
        value ^= value << 5
    y[i] = value


@vyre.kernel
def added(x: InOut[u32], y: In[u32]):
    i = vyre.gid(0)
    x[i] += y[i]


@vyre.procedure
def long(x: InOut[u32], steps: u32):
    y, z = vyre.scratch(u32, x.length), vyre.scratch(u32, x.length)
    chained(x, y, 0)
    for _ in vyre.times(steps):
        chained(y, z, 60_000)
        vyre.swap(y, z)
    added(x, y)
    return y


@vyre.procedure
def many_steps(x: In[u32], steps: u32):
    a, b = vyre.scratch(u32, x.length), vyre.scratch(u32, x.length)
    chained(x, a, 0)
    for _ in vyre.times(steps):
        chained(a, b, 20_000)
        vyre.swap(a, b)
    return a


def message(place, seconds=SHORT):
    late = {
        "cpu": "the cpu backend did not finish",
        "reference": "the reference did not finish",
    }.get(place["backend"], "the call did not end")
    loop = f"{__file__}:{chained._function.__code__.co_firstlineno + 4}"
    return (
        rf"{late} within {seconds:g} s( on device `[^`]*`)?; it loops at {loop}\. "
        r"Fix: raise the time-out, or give each dispatch less work\.$"
    )


def settle(place):
    """Wait until the device has done what a call that timed out has left it.

    Calls of host arrays are refused until then, and those of resident arrays wait their turn.
    """
    long(vyre.array(X, **place), 0).wait(600)


def test_a_call_that_takes_longer_is_ended_and_the_next_one_is_right(place):
    x, out = X.copy(), np.zeros(4, np.uint32)
    long(x, 1, **place)  # so that no compiler is waited for
    for _ in range(2):
        x[:] = X
        with pytest.raises(DispatchTimeoutError, match=message(place)):
            long(x, STEPS, timeout=SHORT, out=out, **place)
        assert x.tolist() == X.tolist()
        assert out.tolist() == [0] * 4
        settle(place)
        assert long(x, 0, timeout=600, **place).tolist() == X.tolist()
        assert x.tolist() == (2 * X).tolist()


def test_a_value_takes_it_by_vyre_run(place):
    inputs = {"x": X, "steps": 0}
    vyre.run(long.procedure, inputs, **place)
    with pytest.raises(DispatchTimeoutError, match=message(place)):
        vyre.run(long.procedure, {"x": X, "steps": STEPS}, timeout=SHORT, **place)
    settle(place)
    assert vyre.run(long.procedure, inputs, timeout=600, **place)["x"].tolist() == (2 * X).tolist()


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_it_is_for_all_steps_together(backend):
    many_steps(X, 2, backend=backend)
    with pytest.raises(DispatchTimeoutError):
        many_steps(X, 90_000, backend=backend, timeout=0.5)


@pytest.mark.parametrize(
    "check", [long.check, lambda x, n, **options: vyre.check(long, {"x": x, "steps": n}, **options)]
)
def test_a_check_takes_it_for_all_steps_and_names_the_loop(check):
    with pytest.raises(DispatchTimeoutError, match=message({"backend": "reference"}, 0.05)):
        check(X.copy(), STEPS, timeout=0.05)


def test_a_wait_for_resident_arrays_names_the_loop_too(place):
    x = vyre.array(X, **place)
    y = long(x, 0)
    y.wait(600)
    with vyre.graph() as graph:
        long(x, STEPS, out=y)
    devices = [] if place["backend"] in ("cpu", "reference") else vyre.devices(place["backend"])
    if devices and "llvmpipe" not in devices[place["device"]].name:  # calls of the others are done when they return
        graph.replay()
        for wait in (graph.wait, y.wait, y.numpy):
            with pytest.raises(DispatchTimeoutError, match=message(place)):
                wait(timeout=SHORT)
    graph.wait(600)


def test_resident_arrays_take_none(place):
    resident = vyre.array(X, **place)
    told = (
        "argument `timeout` of procedure `long` has no place beside resident arrays, which are used where they are. "
        "Fix: leave it out."
    )
    for call in (
        lambda: long(resident, 0, timeout=1),
        lambda: long(X.copy(), 0, timeout=1, out=vyre.empty(4, **place), **place),
    ):
        with pytest.raises(ArgumentError) as caught:
            call()
        assert str(caught.value) == told
    long(resident, 0).wait(60)


def test_a_step_takes_none():
    @vyre.procedure
    def outer(x: InOut[u32]):
        long(x, 0, timeout=1)

    with refused(
        ArgumentError,
        "argument `timeout` of procedure `long` has no place in a procedure, which runs as a whole",
        "leave it out",
    ):
        outer(X.copy())


@pytest.mark.parametrize("timeout", [0, -1, math.nan, math.inf, "1", True])
def test_what_is_no_time_is_refused(timeout):
    for call, where in (
        (lambda: long(X.copy(), 0, timeout=timeout, backend="cpu"), "procedure `long`"),
        (lambda: vyre.run(long.procedure, {"x": X, "steps": 0}, timeout=timeout, backend="cpu"), "vyre.run"),
    ):
        with pytest.raises(ArgumentError, match=f"argument `timeout` of {where} must be seconds above 0, or None, got"):
            call()
