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
    place = f"P010 at steps[0].otherwise[0] ({__file__}:{made.__code__.co_firstlineno + 7})"
    assert str(caught.value) == f"{place}: {message}\n    copied(a, b)"
    assert caught.value.diagnostics == list(found)


def test_its_fix_gives_zeros():
    repaired = made(zeros=True)
    assert vyre.validate(repaired.procedure) == []
    assert repaired.procedure.check() is None
    for count, expected in ((3, [0, 0, 0]), (4, [1, 1, 1, 1])):
        assert repaired(np.ones(count, np.uint32), backend="cpu").tolist() == expected


def test_read_bytes_are_judged_as_what_was_written():
    procedure = made(zeros=False).procedure
    read, recorded = (vyre.validate(p) for p in (vyre.Procedure.from_bytes(procedure.to_bytes()), procedure))
    assert [(each.message, each.place.path) for each in read] == [(each.message, each.place.path) for each in recorded]


def test_the_rules_are_explained():
    for k in range(1, 16):
        assert vyre.explain(f"P{k:03}").startswith(f"P{k:03}: ")
    assert vyre.explain("p010") == vyre.explain("P010")
    with pytest.raises(vyre.ArgumentError, match="there is no rule 'P000'"):
        vyre.explain("P000")
