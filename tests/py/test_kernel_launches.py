"""The attributes that launch kernels of CUDA and numba are errors whose Fix runs."""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from vyre import In, Out, u32
from vyre.errors import ArgumentError


@vyre.kernel
def doubled(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] * 2


def test_the_call_to_write_runs():
    x = np.arange(256, dtype=np.uint32)
    n = 256
    assert (doubled(x, grid=n, backend="reference") == x * 2).all()


ATTRIBUTES = [
    ("forall", "write doubled(x, grid=n) for n invocations"),
    ("launch", "write doubled(x, grid=n) for n invocations"),
    ("configure", "write doubled(x, grid=n) for n invocations"),
    ("run", "write doubled(x, grid=n) for n invocations"),
    ("inspect_asm", "write doubled.explain(), or doubled.text for the program"),
    ("ptx", "write doubled.explain(), or doubled.text for the program"),
    ("py_func", "write doubled.__wrapped__"),
]


@pytest.mark.parametrize(("name", "fix"), ATTRIBUTES)
def test_attributes_of_other_kernels_say_what_to_write(name, fix):
    assert not hasattr(doubled, name)
    with pytest.raises(ArgumentError) as caught:
        getattr(doubled, name)
    assert str(caught.value) == f"kernel `doubled` has no attribute `{name}`. Fix: {fix}."


def test_other_attributes_are_missing_as_ever():
    with pytest.raises(AttributeError) as caught:
        doubled.wrong  # noqa: B018  the attribute is what raises
    assert (str(caught.value), caught.value.name, caught.value.obj) == (
        "'Kernel' object has no attribute 'wrong'",
        "wrong",
        doubled,
    )
