"""Errors about unknown names say the nearest known one."""

from __future__ import annotations

import pytest

import vyre
from vyre import BufferDecl, Program

NAMED = Program([BufferDecl.read_write("data", 0, vyre.u32), BufferDecl.read_write("mask", 1, vyre.u32)])


@pytest.mark.parametrize(
    ("call", "end"),
    [
        (lambda: vyre.run(NAMED, {"mask": 4, "daat": 4}, 1), "Fix: use one of `data`, `mask` (did you mean `data`?)."),
        (
            lambda: vyre.run(NAMED, {"data": 4}, 1, backend="vulcan"),
            "Fix: write one of these; None takes the best one (did you mean `vulkan`?).",
        ),
        (
            lambda: vyre.devices("refrence"),
            "Fix: write one of these; None lists all devices (did you mean `reference`?).",
        ),
        (
            lambda: vyre.check(NAMED, {"data": 4, "mask": 4}, 1, checks=["races"]),
            'Fix: write "all", or a list such as ["race", "out-of-bounds"] (did you mean `race`?).',
        ),
        (
            lambda: vyre.run(NAMED, {"data": 4, "mask": 4}, 1, optimize=["pases"]),
            "Fix: write one of these (did you mean `passes`?).",
        ),
        (lambda: vyre.explain("V14"), "(did you mean `V014`?)."),
        (
            lambda: vyre.ops.get("primitive.u64.ad"),
            "unknown operation `primitive.u64.ad`. Fix: register an Op with id primitive.u64.ad before lowering.\n"
            '  In Python: did you mean "primitive.u64.add"? vyre.ops.ids() lists all.',
        ),
    ],
)
def test_the_nearest_name_is_said(call, end):
    with pytest.raises(vyre.VyreError) as error:
        call()
    assert str(error.value).endswith(end)


def test_a_name_like_no_other_gets_no_suggestion():
    for call in [
        lambda: vyre.run(NAMED, {"total": 4}, 1),
        lambda: vyre.run(NAMED, {}, 1, backend="nothing"),
        lambda: vyre.ops.get("other.family"),
    ]:
        with pytest.raises(vyre.VyreError) as error:
            call()
        assert "did you mean" not in str(error.value)
