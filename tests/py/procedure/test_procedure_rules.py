"""What procedures are refused for, as users meet it."""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from small_kernels import copied
from vyre import In, u32


def made(zeros: bool):
    @vyre.procedure
    def reads(x: In[u32]):
        a, b = vyre.scratch(u32, x.length, zeros=zeros, name="a"), vyre.scratch(u32, x.length, name="b")
        with vyre.when(x.length > 3):
            copied(x, b)
        with vyre.otherwise():
            copied(a, b)
        return b

    return reads


def test_a_procedure_that_reads_what_nothing_writes_is_refused():
    message = (
        "dispatch `copied` reads `a`, which no step before it writes. "
        "Fix: write it before, or make it with vyre.scratch(..., zeros=True)."
    )
    found = vyre.validate(made(zeros=False).procedure)
    assert [(each.rule, each.place.path, each.message) for each in found] == [
        ("P010", "steps[0].otherwise[0]", message)
    ]
    with pytest.raises(vyre.ValidationError) as caught:
        made(zeros=False).procedure.check()
    assert str(caught.value) == f"P010 at steps[0].otherwise[0]: {message}"
    assert caught.value.diagnostics == list(found)


def test_its_fix_gives_zeros():
    repaired = made(zeros=True)
    assert vyre.validate(repaired.procedure) == []
    assert repaired.procedure.check() is None
    for count, expected in ((3, [0, 0, 0]), (4, [1, 1, 1, 1])):
        assert repaired(np.ones(count, np.uint32), backend="cpu").tolist() == expected


def test_read_bytes_are_judged_as_what_was_written():
    procedure = made(zeros=False).procedure
    assert vyre.validate(vyre.Procedure.from_bytes(procedure.to_bytes())) == vyre.validate(procedure)


def test_the_rules_are_explained():
    for k in range(1, 15):
        assert vyre.explain(f"P{k:03}").startswith(f"P{k:03}: ")
    assert vyre.explain("p010") == vyre.explain("P010")
    with pytest.raises(vyre.ArgumentError, match="there is no rule 'P000'"):
        vyre.explain("P000")


def refusal(body) -> str:
    with pytest.raises(vyre.ArgumentError) as caught:
        vyre.procedure(body)(np.arange(4, dtype=np.uint32))
    return str(caught.value)


def test_a_resident_array_of_a_size_is_told_to_be_scratch():
    def made(x: In[u32]):
        y = vyre.zeros(x.length)
        copied(x, y)
        return y

    assert refusal(made) == (
        "argument `shape` of vyre.zeros has the size length(x), which is not known until the procedure is planned. "
        "Fix: write vyre.scratch(vyre.u32, n, zeros=True), an array of the procedure."
    )

    @vyre.procedure
    def repaired(x: In[u32]):
        y = vyre.scratch(vyre.u32, x.length, zeros=True)
        copied(x, y)
        return y

    assert repaired(np.arange(4, dtype=np.uint32)).tolist() == [0, 1, 2, 3]


def test_an_operator_on_an_array_of_a_procedure_is_told_to_be_a_kernel():
    def added(x: In[u32]):
        return x + 1

    def reversed_(x: In[u32]):
        return 1 << x

    for body in (added, reversed_):
        assert refusal(body) == (
            "the array `x` of a procedure has no operators, because its elements are unknown until the procedure "
            "runs. Fix: compute in a kernel, and call the kernel here."
        )
