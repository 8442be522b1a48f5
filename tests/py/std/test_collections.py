"""Reductions and scans against numpy, over types, operators, lengths and tiles."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vyre
from conftest import message
from library_models import NUMPY, drawn
from procedure_texts import procedures_of
from vyre import std, u32
from vyre.errors import ArgumentError, BindingError
from vyre.std._scanning.operators import NAMES, TYPES, operator_of
from vyre.std._scanning.reductions import LANES, ROW_TILE, UNROLL, strided
from vyre.std._scanning.scans import scanner
from vyre.std._scanning.vector_scans import TILE, scan_vectors
from wrong_calls import wrong_calls

# Around a row, a workgroup, a chunk of a scan, and a tile of a reduction.
LENGTHS = [1, 2, 3, 5, 31, 33, 255, 256, 257, 2047, 2048, 2049, 8191, 8193]
ROWS = [ROW_TILE - 1, ROW_TILE, ROW_TILE + 1, ROW_TILE + 33, 2 * ROW_TILE + 1]
CPU = {"backend": "cpu"}


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("op", NAMES)
def test_every_operator_on_every_type_is_numpys(rng, dtype, op):
    for n in [*LENGTHS, *ROWS]:
        x = drawn(rng, dtype, n)
        assert std.reduce(x, op, **CPU) == NUMPY[op].reduce(x, dtype=dtype)
        inclusive = NUMPY[op].accumulate(x, dtype=dtype)
        assert np.array_equal(std.scan(x, op, **CPU), inclusive)
        identity = np.array(operator_of(op, TYPES[dtype], None, "").identity % 2**64, np.uint64).astype(dtype)
        wanted = np.concatenate([[identity], inclusive[:-1]])
        assert np.array_equal(std.scan(x, op, inclusive=False, **CPU), wanted)


@pytest.mark.parametrize("n", [0, 1, 257, 2049, 8200, 16_387, 20_482])
def test_devices_agree_with_numpy(target, rng, n):
    x = drawn(rng, "uint32", n)
    assert std.sum(x, **target) == x.sum(dtype=np.uint32)
    assert std.sum(x, dtype=np.uint64, **target) == x.sum(dtype=np.uint64)
    assert np.array_equal(std.cumsum(x, **target), np.cumsum(x, dtype=np.uint32))
    assert std.any(x, **target) == x.any()
    assert std.all(x, **target) == x.all()
    if n:
        assert (std.min(x, **target), std.max(x, **target)) == (x.min(), x.max())
        assert (std.argmin(x, **target), std.argmax(x, **target)) == (x.argmin(), x.argmax())


@pytest.mark.parametrize("name", NAMES)
def test_the_kernels_for_gpus_give_a_processors_bytes(rng, name):
    op, n = operator_of(name, u32, None, ""), 3 * TILE - 8
    x = drawn(rng, "uint32", n)
    words, tile = x.reshape(-1, 4), 4 * LANES * UNROLL
    reduced = np.zeros(-(-n // tile), np.uint32)
    strided(op, u32, False, 1)(words, x[:0], reduced, workgroups=len(reduced), **CPU)
    assert np.array_equal(reduced, [NUMPY[name].reduce(x[k : k + tile], dtype=np.uint32) for k in range(0, n, tile)])
    scanned, got = NUMPY[name].accumulate(x, dtype=np.uint32), np.zeros_like(words)
    scan_vectors(op, True)(words, scanned[TILE - 1 :: TILE].copy(), got, workgroups=3, **CPU)
    assert np.array_equal(got.reshape(-1), scanned)


@pytest.mark.parametrize("dtype", TYPES)
def test_the_first_of_equal_extremes_is_told(rng, dtype):
    info = np.iinfo(dtype)
    for n in (1, 2, 3, 300, 8192, 8193, 20_002, (1 << 22) + 3):
        for x in (rng.integers(0, 3, n).astype(dtype), np.full(n, info.min, dtype), np.full(n, info.max, dtype)):
            assert std.argmin(x, **CPU) == x.argmin()
            assert std.argmax(x, **CPU) == x.argmax()
    # The last two lie behind all vectors of four.
    for n, at in ((9000, 8500), (9000, 8503), (9003, 9001), ((1 << 22) + 3, (1 << 22) + 2)):
        x = np.zeros(n, dtype)
        x[at] = 1
        assert (std.argmin(x, **CPU), std.argmax(x, **CPU)) == (0, at)


@pytest.mark.parametrize("n", [1, 3, 4, 40_001])
def test_booleans_are_read_as_they_lie(rng, n):
    for x in (rng.integers(0, 2, n) == 1, np.zeros(n, bool), np.ones(n, bool)):
        resident = vyre.array(x, **CPU)
        for call, op, wanted in ((std.any, "or", x.any()), (std.all, "min", x.all())):
            assert (call(x, **CPU), call(resident).numpy()) == (wanted, [wanted])
            assert procedures_of(call, resident)[0].name == f"std.reduce.{op}_u32_of_bool"


@pytest.mark.parametrize("chunks", [1, 2, 3, 8])
def test_a_scan_does_not_depend_on_its_tiles(rng, chunks):
    for name, dtype in itertools.product(("add", "min"), ("uint32", "uint64")):
        op = operator_of(name, TYPES[dtype], None, "")
        x = drawn(rng, dtype, 30_000)
        got = scanner(op, True, chunks)(x, **CPU)
        assert np.array_equal(got, NUMPY[name].accumulate(x, dtype=dtype))


def affine():
    """Composition of x -> a * x + b modulo 2^16, packed as a << 16 | b: associative, not commutative."""
    name = "test.compose_affine"

    @vyre.ops.op(name, inputs=[u32, u32], output=u32, laws=[vyre.ops.OpLaw.Associative])
    def compose(f, g):
        a, b = (f >> 16) * (g >> 16), (f & 0xFFFF) * (g >> 16) + (g & 0xFFFF)
        return (a << 16) | (b & 0xFFFF)

    return name


AFFINE = affine()


def composed(words):
    a, b = 1, 0
    made = []
    for word in words.tolist():
        a, b = a * (word >> 16) & 0xFFFF, (b * (word >> 16) + (word & 0xFFFF)) & 0xFFFF
        made.append(a << 16 | b)
    return np.array(made, np.uint32)


@pytest.mark.parametrize("n", [1, 17, 255, 257, 4097, 20_001])
def test_a_registered_operation_keeps_its_order(rng, n):
    x = drawn(rng, "uint32", n)
    wanted = composed(x)
    assert std.reduce(x, AFFINE, **CPU) == wanted[-1]
    assert np.array_equal(std.scan(x, AFFINE, **CPU), wanted)


def test_a_registered_operation_keeps_its_order_on_devices(target, rng):
    x = drawn(rng, "uint32", 700)
    assert np.array_equal(std.scan(x, AFFINE, **target), composed(x))
    assert std.reduce(x, AFFINE, **target) == composed(x)[-1]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 2**32 - 1), max_size=600), st.sampled_from(NAMES))
def test_drawn_lists_are_numpys(values, op):
    x = np.array(values, np.uint32)
    assert np.array_equal(std.scan(x, op, **CPU), NUMPY[op].accumulate(x, dtype=np.uint32) if len(x) else x)
    if len(x):
        assert std.reduce(x, op, **CPU) == NUMPY[op].reduce(x, dtype=np.uint32)


def test_of_no_elements_there_is_the_identity():
    none = np.zeros(0, np.int32)
    assert [int(std.reduce(none, op, **CPU)) for op in ("add", "mul", "and", "or", "xor")] == [0, 1, -1, 0, 0]
    assert std.reduce(np.zeros(0, np.uint32), AFFINE, identity=1 << 16, **CPU) == 1 << 16
    assert len(std.cumsum(none, **CPU)) == 0
    assert (std.any(none, **CPU), std.all(none, **CPU)) == (False, True)


def test_a_call_like_one_before_is_checked_and_has_the_operators_result():
    signed = vyre.array(np.array([-5, 3], np.int32), **CPU)
    words = vyre.array(np.array([7, 9], np.uint32), **CPU)
    for _ in range(2):  # the second call finds what the first one has checked
        assert [std.min(each).numpy().tolist() for each in (signed, words)] == [[-5], [7]]
        assert [std.max(each).numpy().tolist() for each in (signed, words)] == [[3], [9]]
        assert std.min(words).dtype == np.uint32
        for call, wanted in [
            (
                lambda: std.min(words.reshape(2, 1)),
                "argument `x` of vyre.std.min must have 1 axis, got shape (2, 1). Fix: pass one with 1 axis.",
            ),
            (
                lambda: std.min(words[:0]),
                "argument `x` of vyre.std.min must have an element or more, got none. "
                "Fix: pass one with an element or more.",
            ),
            (
                lambda: std.min(words, backend="cpu"),
                "argument `backend` of vyre.std.min has no place beside resident arrays, which are used where "
                "they are. Fix: leave it out.",
            ),
            (
                lambda: std.reduce(words, "min", identity=3),
                'argument `identity` of vyre.std.reduce must be 4294967295 for "min", got 3. '
                'Fix: pass 4294967295 for "min".',
            ),
        ]:
            assert message(call, (ArgumentError, BindingError)) == wanted

    @vyre.procedure
    def least(x: vyre.In[u32]):
        return std.min(x)

    assert least(words).numpy().tolist() == [7]


test_wrong_calls_say_what_to_write = wrong_calls("collections", globals())
