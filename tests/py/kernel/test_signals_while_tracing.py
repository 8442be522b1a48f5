"""What a signal handler raises while a kernel is traced or a procedure recorded comes to the caller as it is."""

import functools
import signal

import numpy as np
import pytest

import vyre
from vyre import In, InOut, Out, u32
from vyre.errors import KernelError

SIGNAL = signal.SIGUSR1
X = np.arange(4, dtype=np.uint32)


class Late(Exception):
    """What a time-out of the caller's own raises."""


def raising(number, frame):
    raise Late("by the handler")


class Handler:
    def __call__(self, number, frame):
        self.method(number, frame)

    def method(self, number, frame):
        raise Late("by the handler")


def extended(text, number, frame):
    raise Late(text)


@pytest.fixture(params=["a function", "a method", "an object", "a partial function"])
def handled(request):
    handler = {
        "a function": raising,
        "a method": Handler().method,
        "an object": Handler(),
        "a partial function": functools.partial(extended, "by the handler"),
    }[request.param]
    before = signal.signal(SIGNAL, handler)
    yield
    signal.signal(SIGNAL, before)


@vyre.kernel
def interrupted(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    signal.raise_signal(SIGNAL)  # when it is traced
    y[i] = x[i] * 2


@vyre.procedure
def interrupted_steps(x: In[u32]):
    y = vyre.scratch(u32, x.length)
    interrupted(x, y)
    return y


def ignoring(number, frame):
    pass


@pytest.mark.parametrize("call", [interrupted, interrupted_steps], ids=["a kernel", "a procedure"])
def test_the_exception_of_a_handler_comes_to_the_caller_as_it_is(handled, call):
    with pytest.raises(Late, match="by the handler"):
        call(X, backend="cpu")


def test_a_kernel_that_a_handler_has_interrupted_is_traced_by_the_next_call():
    before = signal.signal(SIGNAL, raising)
    try:
        with pytest.raises(Late, match="by the handler"):
            interrupted_steps(X, backend="cpu")
        signal.signal(SIGNAL, ignoring)
        assert interrupted(X, backend="cpu").tolist() == [0, 2, 4, 6]
        assert interrupted_steps(X, backend="cpu").tolist() == [0, 2, 4, 6]
    finally:
        signal.signal(SIGNAL, before)


def test_ctrl_c_comes_to_the_caller_as_keyboard_interrupt():
    @vyre.kernel
    def stopped(x: In[u32], y: Out[u32]):
        signal.raise_signal(signal.SIGINT)
        y[vyre.gid(0)] = x[vyre.gid(0)] * 2

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            stopped(X, backend="cpu")
        signal.signal(signal.SIGINT, ignoring)
        assert stopped(X, backend="cpu").tolist() == [0, 2, 4, 6]
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_annotations_of_a_kernel_are_read_the_same_way(handled):
    class Annotation:
        def __getattr__(self, name):
            signal.raise_signal(SIGNAL)
            raise AssertionError("the handler has raised")

    named = Annotation()

    def wrong(x: "named.u32"):
        pass

    wrong.__globals__["named"] = named
    try:
        with pytest.raises(Late, match="by the handler"):
            vyre.kernel(wrong)
    finally:
        del wrong.__globals__["named"]


def test_what_a_kernel_itself_raises_is_a_kernel_error_with_its_cause():
    @vyre.kernel
    def wrong(x: InOut[u32]):
        x[0] = int("seven")

    with pytest.raises(KernelError) as caught:
        wrong(X.copy(), backend="cpu")
    problem = "invalid literal for int() with base 10: 'seven'"
    told = f"Python raised ValueError: {problem}. Fix: correct the expression that is marked."
    assert told in str(caught.value)
    assert isinstance(caught.value.__cause__, ValueError)
    assert str(caught.value.__cause__) == problem


@vyre.kernel
def wrong_beside_a_handler(x: InOut[u32]):
    x[vyre.gid(0)] = missing  # noqa: F821


def test_a_mistake_of_the_kernel_stays_one_while_a_handler_is_set(handled):
    with pytest.raises(KernelError, match="name 'missing' is not defined"):
        wrong_beside_a_handler(X.copy(), backend="cpu")
