"""Operators and methods of resident arrays: they give numpy's bytes on every device, but for division and shifts.

Division rounds towards zero and by zero gives zero, and shift amounts are taken modulo the bits: as on expressions.
"""

# ruff: noqa: E501  (messages stand whole)
from __future__ import annotations

import copy
import operator

import numpy as np
import pytest

import vyre
from conftest import message, refused
from threads import in_threads
from vyre._arrays import elementwise as _elementwise

LENGTHS = (0, 1, 255, 256, 257)
DTYPES = ["uint32", "int32", "uint64", "uint8", "int8", "uint16", "int16", "bool"]
BITWISE = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod}
SHIFTS = {"<<": operator.lshift, ">>": operator.rshift}
EQUALITY = {"==": operator.eq, "!=": operator.ne}
ORDER = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
IN_PLACE = {
    "&": operator.iand,
    "|": operator.ior,
    "^": operator.ixor,
    "+": operator.iadd,
    "-": operator.isub,
    "*": operator.imul,
    "//": operator.ifloordiv,
    "%": operator.imod,
    "<<": operator.ilshift,
    ">>": operator.irshift,
}
ALL = {**ARITHMETIC, **BITWISE, **SHIFTS, **EQUALITY, **ORDER}
# Integers at the ends of the ranges, and amounts beyond the bits.
EDGES = {
    "uint32": [0, 1, 7, 2**31, 2**32 - 1],
    "int32": [0, 1, -1, -7, -(2**31), 2**31 - 1],
    "uint64": [0, 1, 2**32, 2**63, 2**64 - 1],
    "uint8": [0, 1, 7, 2**7, 2**8 - 1],
    "int8": [0, 1, -1, -7, -(2**7), 2**7 - 1],
    "uint16": [0, 1, 7, 2**15, 2**16 - 1],
    "int16": [0, 1, -1, -7, -(2**15), 2**15 - 1],
    "bool": [False, True],
}
AMOUNTS = [0, 1, 31, 32, 33, 63, 64, 2**32 - 1]


def symbols(dtype):
    return [*BITWISE, *EQUALITY] if dtype == "bool" else list(ALL)


def numpys(symbol, x, y):
    """What numpy makes of two arrays, or an array and an integer of its dtype."""
    x, y = np.asarray(x), np.asarray(y)
    with np.errstate(all="ignore"):
        if symbol == "//" and x.dtype.kind == "i":
            wide, by = x.astype(np.int64), y.astype(np.int64)
            return np.where(by == 0, 0, np.sign(wide) * np.sign(by) * (abs(wide) // np.maximum(abs(by), 1))).astype(
                x.dtype
            )
        if symbol == "%":
            return np.fmod(x, y)
        if symbol in SHIFTS:
            bits = max(32, 8 * x.dtype.itemsize)  # narrow elements are computed in 32
            return ALL[symbol](x, (y.astype(np.uint64) % bits).astype(x.dtype))
        return ALL[symbol](x, y)


def values(rng, dtype, length):
    if dtype == "bool":
        return rng.integers(0, 2, length).astype(bool)
    info = np.iinfo(dtype)
    made = rng.integers(info.min, info.max, length, dtype, endpoint=True)
    # Small numbers, equal ones and the ends of the range are as likely as all others together.
    edges = rng.choice(np.array(EDGES[dtype], dtype), length)
    return np.where(rng.integers(0, 2, length) == 1, edges, made)


def amounts(rng, length):
    return rng.choice(np.array(AMOUNTS, np.uint32), length)


def same(array, wanted):
    assert isinstance(array, vyre.Array)
    got = array.numpy()
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_operator_gives_numpys_bytes(place, dtype, rng):
    for length in LENGTHS:
        x, y = values(rng, dtype, length), values(rng, dtype, length)
        counts = amounts(rng, length)
        left, right, shift = (vyre.array(each, **place) for each in (x, y, counts))
        for symbol in symbols(dtype):
            host, other = (counts, shift) if symbol in SHIFTS else (y, right)
            wanted = numpys(symbol, x, host)
            same(ALL[symbol](left, other), wanted)
            if symbol in IN_PLACE:
                target = left.copy()
                assert IN_PLACE[symbol](target, other) is target
                same(target, wanted)
        same(left, x)
        same(right, y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_operator_takes_integers_on_either_side(place, dtype, rng):
    x = values(rng, dtype, 257)
    array = vyre.array(x, **place)
    for symbol in symbols(dtype):
        function = ALL[symbol]
        if symbol in SHIFTS:
            for amount in AMOUNTS:
                same(function(array, amount), numpys(symbol, x, np.uint32(amount)))
            if dtype == "uint32":
                for value in EDGES[dtype]:
                    same(function(value, array), numpys(symbol, np.uint32(value), x))
            continue
        for value in EDGES[dtype]:
            typed = np.dtype(dtype).type(value)
            for given in (value, typed):
                same(function(array, given), numpys(symbol, x, typed))
                same(function(given, array), numpys(symbol, typed, x))
            if symbol in IN_PLACE:
                target = array.copy()
                same(IN_PLACE[symbol](target, value), numpys(symbol, x, typed))
    same(array, x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_operators_of_one_array_give_numpys_bytes(place, dtype, rng):
    for length in LENGTHS:
        x = values(rng, dtype, length)
        array = vyre.array(x, **place)
        same(~array, ~x)
        same(+array, x)
        if dtype != "bool":
            same(-array, np.negative(x))
            same(abs(array), np.abs(x))
    same(array, x)


def test_divmod_and_in_are_numpys(place):
    values = np.array([0, 3, 7, 2**32 - 1], np.uint32)
    array = vyre.array(values, **place)
    found = [each.numpy().tolist() for each in (*divmod(array, 5), *divmod(100, array + 1), *divmod(array, array | 1))]
    wanted = (*divmod(values, 5), *divmod(100, values[:3] + 1), *divmod(values, values | 1))
    found[2], found[3] = found[2][:3], found[3][:3]  # what division by zero gives is not numpy's
    assert found == [each.tolist() for each in wanted]
    assert [number in array for number in (3, 4, 2**32 - 1, -1, 7.0, 2**40)] == [True, False, True, False, True, False]
    with pytest.raises(vyre.ArgumentError, match=r"beside a vyre.Array must be a number, got 'a'. Fix: pass a number."):
        "a" in array  # noqa: B015


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
def test_casts_are_numpys(place, source, target, rng):
    for length in LENGTHS:
        x = values(rng, source, length)
        array = vyre.array(x, **place)
        made = array.astype(target)
        same(made, x.astype(target))
        assert made is not array
        same(array.astype(np.dtype(target)), x.astype(target))
    same(array, x)


def test_a_data_type_names_a_cast_too(place):
    same(vyre.array([1, 2], dtype=vyre.u32, **place).astype(vyre.u64), np.array([1, 2], np.uint64))


def test_shapes_stay_and_vectors_are_worked_on_number_by_number(place, rng):
    x, y = rng.integers(0, 2**32, (2, 5, 3, 4), np.uint32)
    left, right = vyre.array(x, **place), vyre.array(y, **place)
    same(left ^ right, x ^ y)
    same(left < right, x < y)
    same(left + 1, x + 1)
    same(-left, np.negative(x))
    same(vyre.full((), 5, **place) + 1, np.array(6, np.uint32))


def test_chains_give_numpys_bytes(place, rng):
    x, y, z = rng.integers(0, 2**32, (3, 1000), np.uint32)
    a, b, c = (vyre.array(each, **place) for each in (x, y, z))
    same(((a ^ b) + 3 * c) // (a | 1) - ~b, ((x ^ y) + 3 * z) // (x | 1) - ~y)
    same((a < b) & ~(b == c) | (c >= 2**31), (x < y) & ~(y == z) | (z >= 2**31))
    for _ in range(50):  # the temporaries are freed while calls on them may be at work
        a = (a ^ b) * 5 + (c >> 3)
        x = (x ^ y) * 5 + (z >> 3)
    same(a, x)


def test_parts_of_an_array_are_operands_and_targets(place, rng):
    x = rng.integers(0, 2**32, 700, np.uint32)
    array = vyre.array(x, **place)
    same(array[1:300] + array[2:301], x[1:300] + x[2:301])
    array[5:261] ^= array[300:556]
    x[5:261] ^= x[300:556]
    same(array, x)
    array[7:9] += 1
    x[7:9] += 1
    same(array, x)


def test_an_array_works_on_itself_in_place(place, rng):
    x = rng.integers(0, 2**32, 700, np.uint32)
    array = vyre.array(x, **place)
    array += array
    x += x.copy()
    same(array, x)
    part = array[0:500]
    part -= array[100:600]  # the elements as they were
    x[0:500] -= x[100:600].copy()
    same(array, x)


def test_a_graph_records_operators(place, rng):
    x, y = rng.integers(0, 2**32, (2, 257), np.uint32)
    a, b = vyre.array(x, **place), vyre.array(y, **place)
    with vyre.graph() as graph:
        c = (a ^ b) + 1
        flags = c < a
        d = ~c.copy()
        a += 3
        a += a
        wide = a.astype(np.uint64)
        b.fill(9)
    assert len(graph) > 7
    same(a, x)
    same(b, y)
    for _ in range(3):
        graph.replay()
        z = (x ^ y) + 1
        flag = z < x
        x = (x + 3) * 2
        y[:] = 9
        for array, wanted in ((c, z), (flags, flag), (d, ~z), (a, x), (wide, x.astype(np.uint64)), (b, y)):
            same(array, wanted)


def test_a_graph_records_what_changes_a_part_in_place(place):
    a = vyre.arange(6, **place)
    with vyre.graph() as graph:
        a[1:3] += 10
        a[2:6] ^= a[0:4]
    graph.replay()
    x = np.arange(6, dtype=np.uint32)
    x[1:3] += 10
    x[2:6] ^= x[0:4].copy()
    same(a, x)


def test_what_cannot_be_replayed_is_refused_in_a_graph():
    a = vyre.arange(3, backend="cpu")
    with vyre.graph():
        for call in (lambda: a[0:1].item(), lambda: bool(a[0:1] == 1), lambda: int(a[0:1])):
            with pytest.raises(vyre.ArgumentError, match="graph"):
                call()


# Methods.


def test_a_reshaped_array_shares_its_memory(place):
    array = vyre.arange(12, **place)
    for shape, wanted in (
        ((3, 4), (3, 4)),
        (((2, 6),), (2, 6)),
        ((-1, 4), (3, 4)),
        ((-1,), (12,)),
        ((2, 3, -1), (2, 3, 2)),
        (([12, 1],), (12, 1)),
    ):
        view = array.reshape(*shape)
        same(view, np.arange(12, dtype=np.uint32).reshape(wanted))
    view[1, 0] = 99
    view.reshape(4, 3)[0] += 1
    wanted = np.arange(12, dtype=np.uint32)
    wanted[1] = 99
    wanted[:3] += 1
    same(array, wanted)
    same(array[4:8].reshape(2, 2), wanted[4:8].reshape(2, 2))
    same(vyre.empty(0, **place).reshape(3, 0, 5), np.zeros((3, 0, 5), np.uint32))
    same(vyre.empty(0, **place).reshape(3, -1), np.zeros((3, 0), np.uint32))
    assert int(vyre.full((1, 1), 5, **place).reshape(())) == 5
    del array
    same(view, wanted.reshape(12, 1))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_copy_is_another_array(place, dtype):
    for length in LENGTHS:
        x = (np.arange(length) % 2).astype(dtype)
        array = vyre.array(x, **place)
        made = array.copy()
        array.fill(np.dtype(dtype).type(1))
        same(made, x)
        same(array, np.ones(length, dtype))
        assert made.shape == x.shape


def test_fill_and_item(place):
    for dtype, found in EDGES.items():
        for value in found:
            array = vyre.empty((3, 257), dtype, **place)
            array.fill(value)
            same(array, np.full((3, 257), value, dtype))
            one = array[0, 0:1].item()
            assert (type(one), one) == (type(value), value)
    array[1:2].fill(False)
    assert array.numpy().sum() == 2 * 257


# What users get wrong.

A = np.array([1, 2, 3], np.uint32)


def array(dtype="uint32", values=(1, 2, 3), backend="cpu"):
    return vyre.array(np.array(values, dtype), backend=backend)


@pytest.mark.parametrize(
    "row",
    [
        (lambda a: a + 1.5, "operator `+` has a vyre.Array of uint32 and 1.5, which is not an integer from 0 to 4294967295", "write an integer from 0 to 4294967295"),
        (lambda a: -1 << a, "operator `<<` has a vyre.Array of uint32 and -1, which is not an integer from 0 to 4294967295."),
        (lambda a: a.astype("int32") + 2**31, "operator `+` has a vyre.Array of int32 and 2147483648, which is not an integer from -2147483648 to 2147483647", "write an integer from -2147483648 to 2147483647"),
        (lambda a: a == (1, 2, 3), "operator `==` has a vyre.Array of uint32 and a tuple, which lies on the host", 'write vyre.array(x, dtype=np.uint32, backend="cpu", device=0)'),
        (lambda a: array("int32") << A, "operator `<<` has a vyre.Array of int32 and a numpy array, which lies on the host", 'write vyre.array(x, dtype=np.uint32, backend="cpu", device=0)'),
        (lambda a: a + array("int32"), "operator `+` has vyre.Arrays of uint32 and int32", "write right.astype(np.uint32) in place of the right one, so that both have one dtype"),
        (lambda a: a.astype(bool) & a, "operator `&` has vyre.Arrays of bool and uint32", "write right.astype(np.bool_) in place of the right one, so that both have one dtype"),
        (lambda a: a << array("int32"), "amount of `<<` must be a vyre.Array of uint32, got one of int32", "pass a vyre.Array of uint32"),
        (lambda a: 1 << array("int32"), "amount of `<<` must be a vyre.Array of uint32, got one of int32."),
        (lambda a: a.astype(bool) + a.astype(bool), "operator `+` is not defined on a vyre.Array of bool", "write array.astype(np.uint32) in place of the array"),
        (lambda a: a.astype(bool) & 1, "operator `&` has a vyre.Array of bool and 1, which is not True or False", "write True or False"),
        (lambda a: a + vyre.zeros((1, 3), backend="cpu"), "operator `+` has vyre.Arrays of shapes (3,) and (1, 3), and arrays are not broadcast", "pass arrays of one shape"),
        (lambda a: a + array(backend="reference"), "operator `+` has vyre.Arrays of two devices: device 0 of backend `cpu` and device 0 of backend `reference`", 'write vyre.array(right, backend="cpu", device=0) in place of the right one'),
        (lambda a: operator.iadd(a, array(backend="reference")), 'operator `+` has vyre.Arrays of two devices: device 0 of backend `cpu` and device 0 of backend `reference`.'),
        (lambda a: a / 2, "operator `/` is not defined on a vyre.Array", "write `//`, which rounds towards zero: programs have no floats"),
        (lambda a: bool(a), "a vyre.Array of uint32 with shape (3,) has no truth value of its own."),
        (lambda a: a.reshape(2, 2), "a vyre.Array of shape (3,) has 3 elements, which do not fit shape (2, 2)", "write a shape of 3 elements, or a.reshape(-1)"),
        (lambda a: a.reshape(-1, -1), "argument `shape` of Array.reshape must be up to 32 counts, at most one of them -1, got (-1, -1)", "pass up to 32 counts, at most one of them -1"),
        (lambda a: a.astype("float32"), "argument `dtype` of Array.astype must be uint32, int32, uint64, bool, uint8, int8, uint16 or int16, or a vyre.DataType, got float32", "pass uint32, int32, uint64, bool, uint8, int8, uint16 or int16, or a vyre.DataType"),
        (lambda a: a.fill([1, 2, 3]), "argument `value` of Array.fill must be one value, got values of shape (3,)", "pass one value"),
        (lambda a: a.fill(range(2**60)), "argument `value` of Array.fill must be one value, got a range of more than the host has memory for", "pass one value"),
        (lambda a: a.fill(-1), "argument `value` of Array.fill must be integers from 0 to 4294967295 for uint32, got -1."),
        (lambda a: a.item(), "item() takes a vyre.Array of one element, got one of uint32 with shape (3,)", "write array[k], or array.numpy()"),
    ],
    ids=range(23),
)  # fmt: skip
def test_mistakes_are_told(row):
    call, *expected = row
    a = array()
    with refused(vyre.ArgumentError, *expected):
        call(a)
    same(a, A)


def test_the_fixes_give_the_right_bytes():
    a, b, flags = array(), array("int32", (4, 5, 6)), array("bool", (True, False, True))
    same(a + vyre.array([1, 2, 3], dtype=np.uint32, backend="cpu", device=0), A * 2)
    same(a + b.astype(np.uint32), A + np.array([4, 5, 6], np.uint32))
    same(a << b.astype(np.uint32), np.array([16, 64, 192], np.uint32))
    same(flags.astype(np.uint32) + flags.astype(np.uint32), np.array([2, 0, 2], np.uint32))
    same(a + vyre.array(array(backend="reference"), backend="cpu", device=0), A * 2)
    same(a & array("bool").astype(np.uint32), A & 1)
    assert (a == a).numpy().all()


def test_objects_that_are_no_numbers_are_asked_themselves():
    class Other:
        def __radd__(self, left):
            return "radd"

        def __eq__(self, left):
            return "eq"

    a = array()
    assert (a + Other(), a == Other()) == ("radd", "eq")
    assert (a == None, a != None, a == "x") == (False, True, False)  # noqa: E711
    assert message(lambda: a + "x", TypeError) == "unsupported operand type(s) for +: 'vyre._core.Array' and 'str'"
    assert message(lambda: a < None, TypeError) == (
        "'<' not supported between instances of 'vyre._core.Array' and 'NoneType'"
    )


NUMPYS_OPERATORS = [
    *(np.add, np.subtract, np.multiply, np.bitwise_and, np.bitwise_or, np.bitwise_xor),
    *(np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal),
]


@pytest.mark.parametrize("function", NUMPYS_OPERATORS, ids=lambda function: function.__name__)
def test_numpys_functions_that_operators_have_give_resident_arrays(function):
    a, b = array(), array() ^ 1
    for left, right in ((a, b), (a, 3), (np.uint32(3), a), (3, a)):
        found = function(left, right)
        assert isinstance(found, vyre.Array)
        sides = [each.numpy() if isinstance(each, vyre.Array) else np.uint32(each) for each in (left, right)]
        np.testing.assert_array_equal(found, function(*sides))


def test_numpys_functions_of_one_array_and_numbers_of_numpy_on_the_left():
    a = array()
    np.testing.assert_array_equal(np.negative(a), -A)
    np.testing.assert_array_equal(np.invert(a), ~A)
    np.testing.assert_array_equal(np.uint32(3) < a, A > 3)
    np.testing.assert_array_equal(np.uint32(7) // (a | 1), 7 // (A | 1))


@pytest.mark.parametrize(
    ("call", "name", "first", "fixed", "wanted"),
    [
        (lambda a: np.sin(a), "sin", "", lambda a: np.sin(a.numpy()), np.sin(A)),
        (lambda a: np.maximum(A, a), "maximum", "", lambda a: np.maximum(A, a.numpy()), A),
        (lambda a: np.add(A, a, out=A.copy()), "add", "", lambda a: np.add(A, a.numpy(), out=A.copy()), A + A),
        (lambda a: np.sum(a), "add.reduce", "vyre.std.sum(a), or ", lambda a: vyre.std.sum(a).numpy()[0], A.sum(dtype=np.uint32)),
        (lambda a: np.all(a), "logical_and.reduce", "vyre.std.all(a), or ", lambda a: vyre.std.all(a).numpy()[0], A.all()),
        (lambda a: np.add.reduce(a, axis=0), "add.reduce", "", lambda a: np.add.reduce(a.numpy(), axis=0), A.sum()),
        (lambda a: np.floor_divide(a, 3), "floor_divide", "a // b, which rounds towards zero, or ", lambda a: a // 3, A // 3),
        (lambda a: np.left_shift(a, a & 3), "left_shift", "a << b, which has the dtype of `a`, or ", lambda a: a << (a & 3), A << (A & 3)),
    ],
)  # fmt: skip
def test_numpys_other_functions_are_refused_with_what_to_write(call, name, first, fixed, wanted):
    a = array()
    fix = f"write {first}a.numpy() in place of each vyre.Array `a`"
    with refused(vyre.CallError, f"numpy's function `{name}` takes numpy arrays, and got a vyre.Array", fix):
        call(a)
    np.testing.assert_array_equal(fixed(a), wanted)


def test_a_numpy_array_beside_a_resident_one_is_refused_with_what_to_write():
    a = array()
    for call in (lambda x: np.add(x, a), lambda x: x + a):
        with refused(
            vyre.ArgumentError, "operator `+` has a vyre.Array of uint32 and a numpy array, which lies on the host."
        ):
            call(A)
        np.testing.assert_array_equal(call(vyre.array(A, backend="cpu", device=0)), A + A)


def test_resident_arrays_have_neither_hashes_nor_iterators():
    a = array()
    with pytest.raises(TypeError, match=r"unhashable type: 'vyre\._core\.Array'"):
        hash(a)
    with pytest.raises(TypeError, match="is not iterable"):
        list(a)
    with pytest.raises(vyre.ArgumentError):
        copy.copy(a)


def test_wrong_calls_of_methods_say_what_to_write():
    a = array()
    assert message(lambda: a.fill(), vyre.CallError) == (
        "Array.fill() misses argument `value`. Fix: write x.fill(value), where x is of type Array."
    )
    assert message(lambda: a.copy(1), vyre.CallError) == (
        "Array.copy() takes 0 arguments by place, got 1. Fix: write x.copy(), where x is of type Array."
    )


def test_threads_may_use_an_operator_first_together():
    wrong = []

    def work(seed):
        x, y = np.random.default_rng(seed).integers(0, 2**32, (2, 1000), np.uint32)
        a, b = vyre.array(x, backend="cpu"), vyre.array(y, backend="cpu")
        for _ in range(10):
            if not np.array_equal(((a ^ b) % 7 < 3).numpy(), (x ^ y) % 7 < 3):
                wrong.append(seed)

    in_threads(work, range(8))
    assert wrong == []


def test_an_operator_that_is_used_again_compiles_nothing(place):
    a, b = vyre.array(A, **place), vyre.array(A, **place)

    def steps(work):
        with vyre.profile() as prof:
            work()
        return [event.name for event in prof.events if event.name in ("prepare", "plan", "submit")]

    def in_place():
        a.__ixor__(b)

    steps(in_place)
    assert [steps(in_place) for _ in range(3)] == [["submit"]] * 3
    # The plan of a call goes with the memory of its arrays, and a new array may have new memory.
    for work in (lambda: a ^ b, lambda: a + 7, lambda: 7 - a, lambda: a < b):
        steps(work)
        assert set(map(tuple, (steps(work) for _ in range(3)))) <= {("submit",), ("plan", "submit")}


def test_every_dtype_of_the_table_is_one_of_buffers():
    for name, element in _elementwise._ELEMENTS.items():
        row = next(row for row in vyre._core._tables["types"] if row.name == element.element.name)
        assert (row.dtype, row.components) == (name, 1)
        if name != "bool":
            assert (element.least, element.greatest) == (np.iinfo(name).min, np.iinfo(name).max)


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("tolist", "a.numpy().tolist()"),
        ("get", "a.numpy()"),
        ("ravel", "a.reshape(-1)"),
        ("sum", "vyre.std.sum(a)"),
        ("cumsum", "vyre.std.cumsum(a)"),
        ("itemsize", "a.dtype.itemsize"),
    ],
)
def test_attributes_of_other_arrays_say_what_to_write(name, fix):
    a = vyre.arange(3, backend="cpu")
    assert not hasattr(a, name)
    with pytest.raises(vyre.ArgumentError) as caught:
        getattr(a, name)
    assert isinstance(caught.value, AttributeError)
    assert str(caught.value) == f"a vyre.Array has no attribute `{name}`. Fix: write {fix}, for an array `a`."
    eval(fix, {"a": a, "vyre": vyre})


def test_numpys_functions_do_what_the_page_about_kernels_says():
    a = vyre.arange(3, backend="cpu")
    for made in (np.add(a, 1), np.bitwise_xor(a, a), np.equal(a, a)):
        assert isinstance(made, vyre.Array)
    for made in (np.sort(a), np.concatenate([a, a]), np.where(a > 1, a, a)):
        assert type(made) is np.ndarray


def test_an_unknown_attribute_says_what_to_write():
    fix = "write one of the names in dir(a), for an array `a`"
    with refused(AttributeError, "a vyre.Array has no attribute `wrong`", fix):
        vyre.arange(3, backend="cpu").wrong  # noqa: B018
    with refused(AttributeError, "a vyre.Array has no attribute `shpae`", "write a.shape, for an array `a`"):
        vyre.arange(3, backend="cpu").shpae  # noqa: B018
    with pytest.raises(vyre.ArgumentError, match=r"^argument `dtype` of Array.astype must be uint32, .*, got int64"):
        vyre.arange(3, backend="cpu").astype(np.int64)
