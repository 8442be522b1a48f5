"""Errors about unknown names say the nearest known one."""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from conftest import refused
from vyre import BufferDecl, Program, conformance, fuzz

NAMED = Program([BufferDecl.read_write("data", 0, vyre.u32), BufferDecl.read_write("mask", 1, vyre.u32)])


@pytest.mark.parametrize(
    ("call", "end"),
    [
        (lambda: vyre.run(NAMED, {"mask": 4, "daat": 4}, 1), "Fix: use one of `data`, `mask` (did you mean `data`?)."),
        (
            lambda: vyre.run(NAMED, {"data": 4}, 1, backend="vulcan"),
            "Fix: write one of these (did you mean `vulkan`?).",
        ),
        (
            lambda: vyre.parse("vyre 1\nworkgroup_size 1 1 1\n\nlet x = popcont(1)\n"),
            'a registered operation is called as call("<id>", ...) (did you mean `popcount`?).',
        ),
        (
            lambda: vyre.devices("refrence"),
            "Fix: write one of these (did you mean `reference`?).",
        ),
        (
            lambda: vyre.check(NAMED, {"data": 4, "mask": 4}, 1, checks=["races"]),
            "Fix: write one of these (did you mean `race`?).",
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


@pytest.mark.parametrize(
    ("where", "call"),
    [
        ("argument `backend` of vyre.run", lambda name: vyre.run(NAMED, {"data": 4, "mask": 4}, 1, backend=name)),
        ("argument `backend` of vyre.array", lambda name: vyre.array(np.zeros(1, np.uint32), backend=name)),
        ("argument `backend` of vyre.devices", vyre.devices),
        ("argument `backend` of vyre.std.sum", lambda name: vyre.std.sum(np.zeros(1, np.uint32), backend=name)),
        ("argument `backend` of vyre.conformance.target", lambda name: conformance.target(name)),
        (
            "argument `backend` of a vyre.fuzz.Way",
            lambda name: fuzz.judge(fuzz.generate(1), [fuzz.Way(name)]),
        ),
    ],
)
@pytest.mark.parametrize("name", ["vulcan", "metal"])
def test_a_wrong_backend_is_told_in_the_same_words_everywhere(where, call, name):
    known = ", ".join([*vyre.backends(), *vyre.backends().unavailable()])
    meant = " (did you mean `vulkan`?)" if name == "vulcan" else ""
    with refused(vyre.ArgumentError, f"{where} must be one of {known}, got {name!r}", f"write one of these{meant}"):
        call(name)


def test_a_name_like_no_other_gets_no_suggestion():
    for call in [
        lambda: vyre.run(NAMED, {"total": 4}, 1),
        lambda: vyre.run(NAMED, {}, 1, backend="nothing"),
        lambda: vyre.ops.get("other.family"),
    ]:
        with pytest.raises(vyre.VyreError) as error:
            call()
        assert "did you mean" not in str(error.value)


def test_a_type_in_the_spelling_of_texts_is_told():
    with refused(AttributeError, "DataType has no member 'vec2u32'", "write DataType.Vec2U32"):
        _ = vyre.DataType.vec2u32
    with pytest.raises(AttributeError) as error:
        _ = vyre.DataType.word
    assert str(error.value) == (
        "DataType has no member 'word'. "
        "Fix: write one of U32, I32, U64, Vec2U32, Vec4U32, Bool, Bytes, U8, I8, U16, I16."
    )


def test_a_planned_type_is_told_under_its_short_name_too():
    with pytest.raises(vyre.errors.PlannedTypeError) as error:
        _ = vyre.f32
    with pytest.raises(vyre.errors.PlannedTypeError) as long_name:
        _ = vyre.DataType.F32
    assert str(error.value) == str(long_name.value)
    assert not hasattr(vyre, "f31")


def test_the_devices_command_says_of_which_backend_each_device_is_the_default(capsys):
    from vyre.commands import devices

    devices.show(limits=False)
    lines = [line for line in capsys.readouterr().out.splitlines() if "default" in line]
    assert lines == [
        f'    default of backend="{device.backend}" for {device.default_for}'
        for device in vyre.devices()
        if device.default_for
    ]


@pytest.mark.parametrize("name", ["atomic_and", "atomic_or"])
def test_an_atomic_as_a_method_is_told_by_the_name_that_it_has(name):
    @vyre.kernel
    def change(a: vyre.InOut[vyre.u32]):
        getattr(a, name)(0, 6)

    with pytest.raises(vyre.KernelError, match=rf"array `a` has no attribute `{name}` \(did you mean `{name}_`\?\)"):
        change(np.array([3], np.uint32), backend="reference")


def test_a_signed_type_of_64_bits_is_told_to_be_u64():
    with pytest.raises(vyre.ArgumentError) as raised:
        vyre.i64  # noqa: B018
    assert str(raised.value) == "module `vyre` has no attribute `i64`. Fix: write vyre.u64, which keeps the bits."
