"""Functions that call an operation by the type of their operands, and the random numbers' published answers."""

# ruff: noqa: E501  (messages stand whole)
from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import vyre
from conftest import refused
from programs import element_wise, groups
from vyre import DataType, Expr, _core, ops

U32, I32, U64, VEC2, VEC4 = DataType.U32, DataType.I32, DataType.U64, DataType.Vec2U32, DataType.Vec4U32
ROWS = [(row, getattr(DataType, name)) for row in _core._tables["by_type"] for name in row.operations]
EDGES32 = np.array(
    [0, 1, 2, 7, 31, 32, 33, 255, 0x12345678, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 2, 2**32 - 1], np.uint32
)
DTYPES = {U32: np.uint32, I32: np.int32, U64: np.uint64}


def edges(element: DataType, shift: int) -> np.ndarray:
    """Edge values of an element, turned by `shift` so that columns differ."""
    words = np.roll(EDGES32, shift)
    if element == VEC4:
        return np.stack([np.roll(words, k) for k in range(4)], axis=1)
    if element == U64:
        return words.astype(np.uint64) << np.uint64(32) | np.roll(words, 3).astype(np.uint64)
    return words.view(DTYPES[element])


@pytest.mark.parametrize(
    ("row", "element"), ROWS, ids=lambda value: getattr(value, "function", getattr(value, "name", ""))
)
def test_a_function_calls_the_operation_for_its_type(row, element):
    spec = ops.get(row.operations[element.name])
    function = getattr(vyre, row.function)
    assert len(row.parameters) == len(spec.signature.inputs)
    made = element_wise(list(spec.signature.inputs), spec.signature.output, function)
    called = element_wise(list(spec.signature.inputs), spec.signature.output, lambda *args: ops.call(spec.id, *args))
    assert made.to_text() == called.to_text()
    assert vyre.validate(made) == []


def run(function, out, *columns):
    """The function of columns of numbers; each column's dtype is its type."""
    types = {np.dtype(np.uint32): U32, np.dtype(np.int32): I32, np.dtype(np.uint64): U64}
    program = element_wise([types[c.dtype] for c in columns], out, function)
    arrays = {f"in{k}": column for k, column in enumerate(columns)}
    (result,) = {
        vyre.run(program, {**arrays, "out": len(columns[0])}, groups(len(columns[0])), backend=backend)["out"].tobytes()
        for backend in ("reference", "cpu")
    }
    return np.frombuffer(result, {**DTYPES, VEC4: np.uint32}[out])


@pytest.mark.parametrize("element", [U32, I32, U64])
def test_limits_and_means_are_numpys_on_every_type(element):
    limits = np.iinfo(DTYPES[element])
    for shift in range(1, len(EDGES32)):
        a, b = edges(element, 0), edges(element, shift)
        pairs = [(int(x), int(y)) for x, y in zip(a, b, strict=True)]

        def gives(function, value, a=a, b=b, pairs=pairs):
            assert run(function, element, a, b).tolist() == [value(x, y) for x, y in pairs]

        gives(vyre.saturating_add, lambda x, y: min(max(x + y, int(limits.min)), int(limits.max)))
        gives(vyre.saturating_sub, lambda x, y: min(max(x - y, int(limits.min)), int(limits.max)))
        gives(vyre.hadd, lambda x, y: (x + y) // 2)
        gives(vyre.rhadd, lambda x, y: (x + y + 1) // 2)
        gives(lambda x, y: vyre.clamp(x, y, 100), lambda x, y: min(max(x, y), 100))


def test_divisors_are_those_of_python():
    a, b = np.repeat(EDGES32, len(EDGES32)), np.tile(EDGES32, len(EDGES32))
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    assert run(vyre.gcd, U32, a, b).tolist() == [math.gcd(x, y) for x, y in pairs]
    assert run(vyre.lcm, U32, a, b).tolist() == [math.lcm(x, y) % 2**32 for x, y in pairs]


def test_functions_in_a_kernel():
    @vyre.kernel
    def mixed(
        x: vyre.In[vyre.u32],
        s: vyre.In[vyre.i32],
        w: vyre.In[vyre.u64],
        out: vyre.Out[vyre.u64],
        few: vyre.Out[vyre.u32],
    ):
        i = vyre.gid(0)
        best = 5
        best = vyre.clamp(x[i], best, 9)
        few[i] = best + vyre.u32(vyre.sign(s[i])) + vyre.ops.call("primitive.math.gcd", x[i], 12) + vyre.unpack4(x[i]).y
        out[i] = vyre.byte_swap(vyre.saturating_add(w[i], 1))

    x = np.arange(16, dtype=np.uint32) * 37
    s = np.arange(-8, 8, dtype=np.int32)
    w = np.array([2**64 - 1 - k for k in range(16)], np.uint64)
    found = mixed(x, s, w, np.zeros(16, np.uint64), np.zeros(16, np.uint32), backend="reference")
    few = np.clip(x, 5, 9) + np.sign(s).astype(np.uint32) + np.gcd(x, 12).astype(np.uint32) + (x >> 8 & 255)
    np.testing.assert_array_equal(found[1], few)
    np.testing.assert_array_equal(found[0], np.array([min(int(v) + 1, 2**64 - 1) for v in w], np.uint64).byteswap())


def test_integers_adapt_and_alone_are_the_first_type():
    def text(value, element=U64, out=U64):
        return element_wise([element], out, value).to_text()

    assert 'call("primitive.u64.clamp", 1u64, in0[%0], 1099511627776u64)' in text(lambda x: vyre.clamp(1, x, 2**40))
    assert 'call("primitive.math.sclamp", in0[%0], -3i32, 4i32)' in text(lambda x: vyre.clamp(x, -3, 4), I32, I32)
    assert 'call("primitive.math.gcd", 12, 18)' in text(lambda x: vyre.gcd(12, 18), U32, U32)
    assert 'call("primitive.math.sign", -7i32)' in text(lambda x: vyre.sign(-7), U32, I32)


def test_a_handle_keeps_its_function_when_it_is_pickled():
    made = vyre.clamp(Expr.var("x"), 1, 2**40)
    again = pickle.loads(pickle.dumps(made))
    assert repr(again) == repr(made) == "Expr(clamp(x, 1, 1099511627776))"
    assert (
        "primitive.u64.clamp"
        in element_wise([U64], U64, lambda x: pickle.loads(pickle.dumps(vyre.clamp(x, 1, 2)))).to_text()
    )


@pytest.mark.parametrize(
    ("value", "message", "fixed"),
    [
        (
            lambda x: Expr.cast(U32, vyre.sign(x)),
            "argument 0 of `primitive.math.sign` must be `i32`, got `u32`. Fix: insert Cast { target: I32, value } or call an op with a U32 input.",
            lambda x: Expr.cast(U32, vyre.sign(Expr.cast(I32, x))),
        ),
        (
            lambda x: vyre.hadd(x, Expr.i32(3)),
            "argument 1 of `primitive.math.hadd` must be `u32`, got `i32`. Fix: insert Cast { target: U32, value } or call an op with a I32 input.",
            lambda x: vyre.hadd(x, Expr.cast(U32, Expr.i32(3))),
        ),
    ],
)
def test_wrong_types_name_the_operation_and_the_fix_runs(value, message, fixed):
    (found,) = vyre.validate(element_wise([U32], U32, value))
    assert (found.rule, found.message) == ("V032", f"vyre IR validation: {message}")
    assert vyre.validate(element_wise([U32], U32, fixed)) == []


def test_wrong_calls_are_told():
    with refused(vyre.CallError, "vyre.clamp() misses argument `high`", "write vyre.clamp(value, low, high)"):
        vyre.clamp(1, 2)


# `kat_vectors` of Random123, the library of Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3"
# (SC 2011): its lines `philox4x32 10` and `threefry2x32 20`, counter, key and result.
KNOWN_ANSWERS = {
    "primitive.rng.philox4x32_10": """
        00000000 00000000 00000000 00000000 00000000 00000000 6627e8d5 e169c58d bc57ac4c 9b00dbd8
        ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff 408f276d 41c83b0e a20bc7c6 6d5451fd
        243f6a88 85a308d3 13198a2e 03707344 a4093822 299f31d0 d16cfe09 94fdcceb 5001e420 24126ea1""",
    "primitive.rng.threefry2x32_20": """
        00000000 00000000 00000000 00000000 6b200159 99ba4efe
        ffffffff ffffffff ffffffff ffffffff 1cb996fc bb002be7
        243f6a88 85a308d3 13198a2e 03707344 c4923a9c 483df7a0""",
}


@pytest.mark.parametrize("id", KNOWN_ANSWERS)
def test_random_numbers_are_those_of_random123(id, target):
    table = np.array(
        [[int(word, 16) for word in line.split()] for line in KNOWN_ANSWERS[id].split("\n")[1:]], np.uint32
    )
    lanes = {VEC2: 2, VEC4: 4}[ops.get(id).signature.output]
    counter, key, wanted = (np.ascontiguousarray(part) for part in np.split(table, [lanes, lanes + 2], axis=1))
    program = element_wise(
        list(ops.get(id).signature.inputs), ops.get(id).signature.output, lambda *args: ops.call(id, *args)
    )
    out = vyre.run(program, {"in0": counter, "in1": key, "out": np.zeros_like(wanted)}, 1, **target)["out"]
    np.testing.assert_array_equal(out, wanted)
