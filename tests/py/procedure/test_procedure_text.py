"""The text form of procedures, beyond what tests/cpp/ir/procedure_text_test.cpp says about it."""

from __future__ import annotations

import re
from importlib.resources import files

import numpy as np
import pytest

import vyre
from procedure_texts import assert_comes_back
from vyre.fuzz import procedures


def test_the_example_of_the_page_is_a_valid_procedure():
    page = (files("vyre") / "docs" / "text-form.md").read_text(encoding="utf-8")
    (text,) = [text for text in re.findall(r"```text\n(.*?)```", page, re.DOTALL) if "\nprocedure " in text]
    read = vyre.Procedure.parse(text)
    assert (read.to_text(), vyre.validate(read)) == (text, [])


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_random_procedures_come_back_exactly(first):
    for seed in range(first, first + 50):
        assert_comes_back(procedures.generate(seed).procedure)


@vyre.kernel
def copied(x: vyre.In[vyre.u32], y: vyre.Out[vyre.u32]):
    y[vyre.gid(0)] = x[vyre.gid(0)]


@vyre.procedure
def copy_of(x: vyre.In[vyre.u32]):
    y = vyre.scratch(vyre.u32, x.length)
    copied(x, y)
    return y


X = np.arange(4, dtype=np.uint32)


@pytest.mark.parametrize(
    ("inputs", "place", "said"),
    [
        (None, {}, "argument `inputs` of vyre.run must be a dict of name -> array, got None. Fix: "),
        (
            {"x": np.ma.array(X, mask=[True, False, False, False])},
            {},
            "array `x` of procedure `copy_of` must be an array without a mask, got a masked array",
        ),
        ({"x": X}, {"backend": "nope"}, "argument `backend` of vyre.run must be one of"),
        ({"x": X}, {"device": 99}, "argument `device` of vyre.run must be an index into vyre.devices()"),
    ],
)
def test_a_run_by_name_refuses_what_it_cannot_take(inputs, place, said):
    with pytest.raises(vyre.VyreError) as raised:
        vyre.run(copy_of.procedure, inputs, **place)
    assert str(raised.value).startswith(said)


def test_a_call_names_the_procedure_whose_device_is_not_there():
    with pytest.raises(vyre.ArgumentError, match="argument `device` of procedure `copy_of` must be an index"):
        copy_of(X, device=99)
