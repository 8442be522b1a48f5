"""Uses of procedures that must not give a wrong byte or an untyped exception."""

import re

import numpy as np
import pytest

import vyre
from vyre import In, InOut, Out, const, u8, u32
from vyre.errors import ArgumentError, BindingError


@vyre.kernel
def doubled(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] * 2


@vyre.kernel
def add(y: InOut[u32], k: u32):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = y[i] + k


@vyre.kernel
def widened(x: In[u8], y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = u32(x[i])


@vyre.procedure
def double(x: In[u32]):
    y = vyre.scratch(u32, x.length, name="y")
    doubled(x, y)
    return y


@vyre.procedure
def both(x: InOut[u32], y: InOut[u32]):
    add(x, 1)
    add(y, 2)


def numbers(n):
    return np.arange(n, dtype=np.uint32)


def _read_only():
    made = np.zeros(4, np.uint32)
    made.flags.writeable = False
    return made


@pytest.mark.parametrize(
    ("out", "kind", "message"),
    [
        (
            np.zeros((2, 4), np.uint32),
            ArgumentError,
            "argument `out` of procedure `double` must be an array of uint32 with shape (4,) for `y`, got one of shape "
            "(2, 4). Fix: make it with np.zeros((4,), np.uint32).",
        ),
        (
            np.zeros(4, np.int32),
            BindingError,
            "argument `out` of procedure `double` must be an array of uint32 for `y`, got one of int32. "
            "Fix: make it with np.zeros(shape, np.uint32).",
        ),
        (
            np.zeros(4, np.dtype("u4").newbyteorder()),
            BindingError,
            f"argument `out` of procedure `double` must be an array of uint32 for `y`, got one of "
            f"{np.dtype('u4').newbyteorder()}. Fix: make it with np.zeros(shape, np.uint32).",
        ),
        (
            _read_only(),
            BindingError,
            "argument `out` of procedure `double` is written, and the array is read-only. Fix: pass a .copy() of it.",
        ),
        (
            [0, 0, 0, 0],
            BindingError,
            "argument `out` of procedure `double` must be an array of uint32, got an object of type list. "
            "Fix: pass a numpy array or a vyre.Array.",
        ),
    ],
    ids=["shape", "type", "byte order", "read-only", "list"],
)
def test_an_out_that_cannot_take_the_result_is_refused(out, kind, message):
    with pytest.raises(kind) as error:
        double(numbers(4), out=out, backend="cpu")
    assert str(error.value) == message
    right = np.zeros((4,), np.uint32)
    assert double(numbers(4), out=right, backend="cpu") is right
    assert right.tolist() == [0, 2, 4, 6]


def test_a_result_of_one_element_does_not_fill_a_longer_out():
    out = np.full(3, 9, np.uint32)
    with pytest.raises(ArgumentError, match=re.escape("must be an array of uint32 with shape (1,)")):
        double(numbers(1) + 5, out=out, backend="cpu")
    assert out.tolist() == [9, 9, 9]


@pytest.mark.parametrize("second", [slice(0, 4), slice(2, 6)])
def test_numpy_arrays_that_are_written_do_not_overlap(second):
    x = numbers(8)
    with pytest.raises(BindingError) as error:
        both(x[:4], x[second], backend="cpu")
    assert str(error.value) == (
        "arguments `x` and `y` of procedure `both` overlap in memory, and both are written. "
        "Fix: give each its own array, for instance a copy."
    )
    assert x.tolist() == list(range(8))
    copy = x[second].copy()
    both(x[:4], copy, backend="cpu")
    assert x.tolist() == [1, 2, 3, 4, 4, 5, 6, 7]
    assert np.array_equal(copy, numbers(8)[second] + 2)


def test_a_memoryview_with_gaps_gives_its_bytes():
    @vyre.procedure
    def wide(x: In[u8]):
        y = vyre.scratch(u32, x.length)
        widened(x, y)
        return y

    assert wide(memoryview(b"abcd")[::2], backend="cpu").tolist() == [97, 99]


def test_a_procedure_that_calls_itself_is_refused():
    @vyre.procedure
    def first(x: InOut[u32]):
        second(x)

    @vyre.procedure
    def second(x: InOut[u32]):
        first(x)

    with pytest.raises(ArgumentError) as error:
        first(numbers(3), backend="cpu")
    assert str(error.value) == (
        "procedure `first` calls itself, while it is recorded. Fix: write a Python function of the number of levels, "
        "which makes a procedure that calls the one of a level less."
    )
    assert double(numbers(3), backend="cpu").tolist() == [0, 2, 4]

    def levels(count):
        inner = levels(count - 1) if count > 1 else None

        @vyre.procedure
        def level(x: InOut[u32]):
            add(x, 1)
            if inner:
                inner(x)

        return level

    x = numbers(3)
    levels(4)(x, backend="cpu")
    assert x.tolist() == [4, 5, 6]


@vyre.procedure
def by_type(x: InOut[u32], c: const):
    add(x, {bool: 10, int: 20, float: 30}[type(c[0])])


def test_constants_of_other_types_in_a_tuple_have_procedures_of_their_own():
    found = []
    for c in ((True,), (1,), (1.0,), (True,)):
        x = numbers(1)
        by_type(x, c, backend="cpu")
        found.append(int(x[0]))
    assert found == [10, 20, 30, 10]


def test_a_constant_that_may_change_is_refused():
    x = numbers(1)
    with pytest.raises(ArgumentError) as error:
        by_type(x, [1], backend="cpu")
    assert str(error.value) == (
        "const parameter `c` of procedure `by_type` has a value that cannot be told from others, got [1]. "
        "Fix: pass an integer, a tuple of integers or another value that does not change."
    )
    by_type(x, (1,), backend="cpu")
    assert x.tolist() == [20]


_OUTSIDE = (
    "procedure `f` uses the turn of a vyre.times outside of its steps. Fix: use it in the steps of that loop; arrays "
    "are made for all turns, for instance with the most elements that a turn needs."
)


def test_a_turn_is_not_used_behind_its_loop():
    @vyre.procedure
    def f(x: InOut[u32]):
        for i in vyre.times(3):
            add(x, i + 1)
        for _ in vyre.times(2):
            add(x, i + 1)

    with pytest.raises(ArgumentError) as error:
        f(numbers(2), backend="cpu")
    assert str(error.value) == _OUTSIDE

    @vyre.procedure
    def right(x: InOut[u32]):
        for i in vyre.times(3):
            add(x, i + 1)
        for j in vyre.times(2):
            add(x, j + 1)

    x = numbers(2)
    right(x, backend="cpu")
    assert x.tolist() == [9, 10]


def test_an_array_does_not_depend_on_a_turn():
    def made(most):
        @vyre.procedure
        def f(x: In[u32]):
            y = vyre.scratch(u32, x.length)
            for i in vyre.times(3):
                part = vyre.scratch(u32, 3 if most else i + 1)
                doubled(x, part)
            doubled(x, y)
            return y

        return f

    with pytest.raises(ArgumentError) as error:
        made(most=False)(numbers(2), backend="cpu")
    assert str(error.value) == _OUTSIDE
    assert made(most=True)(numbers(2), backend="cpu").tolist() == [0, 2]


@pytest.mark.parametrize("which", ["length", "number"])
def test_a_size_of_another_procedure_is_refused(which):
    def made(passed):
        @vyre.procedure
        def outer(x: In[u32], k: u32):
            size = x.length if which == "length" else k

            @vyre.procedure
            def inner(y: InOut[u32], k: u32):
                add(y, k if passed else size)

            y = vyre.scratch(u32, x.length, zeros=True)
            inner(y, size if passed else 100)
            return y

        return outer

    with pytest.raises(ArgumentError) as error:
        made(passed=False)(numbers(2), 7, backend="cpu")
    text = "length(x)" if which == "length" else "k"
    assert str(error.value) == (
        f"procedure `inner` uses the size {text} of another procedure. "
        "Fix: pass it as an argument, with a parameter `n: vyre.u32`."
    )
    wanted = 2 if which == "length" else 7
    assert made(passed=True)(numbers(2), 7, backend="cpu").tolist() == [wanted] * 2


def test_a_loop_over_times_is_not_left_early():
    def made(early):
        @vyre.procedure
        def f(x: InOut[u32]):
            for i in vyre.times(3):
                if early:
                    add(x, 1)
                    break
                with vyre.when(i < 1):
                    add(x, 1)

        return f

    with pytest.raises(ArgumentError) as error:
        made(early=True)(numbers(2), backend="cpu")
    assert str(error.value) == (
        "procedure `f` leaves a loop over vyre.times by break or return, and each turn runs all steps. "
        "Fix: write `with vyre.when(condition):` in the loop, and return behind it."
    )
    x = numbers(2)
    made(early=False)(x, backend="cpu")
    assert x.tolist() == [1, 2]


def test_a_view_of_a_part_begins_at_a_whole_element():
    def made(begin):
        @vyre.procedure
        def f(x: In[u8]):
            y = vyre.scratch(u32, 1)
            doubled(x[begin : begin + 4].view(u32), y)
            return y

        return f

    x = np.arange(8, dtype=np.uint8)
    with pytest.raises(ArgumentError) as error:
        made(1)(x, backend="cpu")
    assert str(error.value) == (
        "a part of `x` begins at byte 1, inside of an element of u32. Fix: begin it at a multiple of 4 bytes."
    )
    assert made(4)(x, backend="cpu").tobytes() == (x[4:].view("<u4") * 2).tobytes()


ELEMENTS = "uint32, int32, uint64, bool, uint8, int8, uint16, int16"


@pytest.mark.parametrize(
    ("table", "problem", "fix", "fixed"),
    [
        (
            np.array([1, 2, 3], ">u4"),
            f"a table of a procedure must have elements of {ELEMENTS}, got >u4",
            "write table.astype(np.uint32)",
            lambda table: table.astype(np.uint32),
        ),
        (
            np.ma.array([1, 2, 3], mask=[False, True, False], dtype=np.uint32),
            "a table of a procedure is a masked array",
            "write .filled(0) to give the masked elements a value",
            lambda table: table.filled(0),
        ),
        (
            np.broadcast_to(np.uint32(5), 2**40),
            f"a table of a procedure has {2**40} elements, and an array has at most {2**32 - 1}",
            "process the data in parts",
            lambda table: table[:3],
        ),
    ],
    ids=["foreign bytes", "masked", "large"],
)
def test_a_table_whose_elements_are_not_its_bytes_is_refused(table, problem, fix, fixed):
    def made(table):
        @vyre.procedure
        def f():
            y = vyre.scratch(u32, 3)
            doubled(table, y)
            return y

        return f

    with pytest.raises(BindingError) as error:
        made(table)(backend="cpu")
    assert str(error.value) == f"{problem}. Fix: {fix}."
    given = fixed(table)
    assert made(given)(backend="cpu").tolist() == [2 * int(each) for each in given]


@pytest.mark.parametrize(
    ("wrong", "problem", "fix", "right", "length"),
    [
        (
            lambda n: n / 2,
            "operator `/` is not defined on the size n",
            "write `//`, which rounds down, or vyre.ceil_div(a, b)",
            lambda n: n // 2,
            2,
        ),
        (lambda n: n**2, "operator `**` is not defined on the size n", "write a product", lambda n: n * n, 25),
        (lambda n: n << 1, "operator `<<` is not defined on the size n", "write `* 2**k`", lambda n: n * 2**1, 10),
        (lambda n: n >> 1, "operator `>>` is not defined on the size n", "write `// 2**k`", lambda n: n // 2**1, 2),
        (
            lambda n: n & 3,
            "operator `&` is not defined on the size n",
            "write `% 2**k` for the low k bits, or vyre.size_min(a, b) for both of two conditions",
            lambda n: n % 2**2,
            1,
        ),
        (
            lambda n: (n > 3) & (n > 9),
            "operator `&` is not defined on the size 3 < n",
            "write `% 2**k` for the low k bits, or vyre.size_min(a, b) for both of two conditions",
            lambda n: vyre.size_min(n > 3, n > 9),
            0,
        ),
        (
            lambda n: (n > 3) | (n > 9),
            "operator `|` is not defined on the size 3 < n",
            "write vyre.size_max(a, b) for one of two conditions",
            lambda n: vyre.size_max(n > 3, n > 9),
            1,
        ),
        (
            lambda n: (n > 3) ^ (n > 4),
            "operator `^` is not defined on the size 3 < n",
            "write `a != b` for one of two conditions alone",
            lambda n: (n > 3) != (n > 4),
            0,
        ),
        (
            lambda n: -n + 9,
            "operator `-` is not defined on the size n",
            "subtract it from another size: sizes are integers from 0 on",
            lambda n: 9 - n,
            4,
        ),
        (
            lambda n: ~(n > 3),
            "operator `~` is not defined on the size 3 < n",
            "write `size == 0` for the opposite of a condition",
            lambda n: (n > 3) == 0,
            0,
        ),
        (
            lambda n: divmod(n, 2)[1],
            "operator `divmod` is not defined on the size n",
            "write a // b and a % b",
            lambda n: n % 2,
            1,
        ),
        (lambda n: 2 << n, "operator `<<` is not defined on the size n", "write `* 2**k`", lambda n: n * 2**1, 10),
    ],
)
def test_what_sizes_do_not_have_is_told(wrong, problem, fix, right, length):
    def made(size):
        @vyre.procedure
        def f(n: u32):
            return vyre.scratch(u32, size(n), zeros=True)

        return f

    with pytest.raises(ArgumentError) as error:
        made(wrong)(5, backend="cpu")
    assert str(error.value) == f"{problem}. Fix: {fix}."
    assert made(right)(5, backend="cpu").shape == (length,)


def test_a_loop_over_a_size_and_an_assigned_element_are_told():
    def made(form):
        @vyre.procedure
        def f(x: InOut[u32], n: u32):
            if form == "loop":
                for _ in n:
                    add(x, 1)
            elif form == "times":
                for _ in vyre.times(n):
                    add(x, 1)
            elif form == "element":
                x[1:3] = 0
            else:
                vyre.clear(x[1:3])

        return f

    for wrong, message, right, wanted in (
        (
            "loop",
            "the size n is iterated over, and is not known until the procedure is planned. "
            "Fix: write `for i in vyre.times(size):`.",
            "times",
            [3, 4, 5, 6],
        ),
        (
            "element",
            "elements of the array `x` are assigned in a procedure, which has no elements while it is recorded. "
            "Fix: store them in a kernel, or write vyre.clear(array[a:b]) for zeros.",
            "clear",
            [0, 0, 0, 3],
        ),
    ):
        with pytest.raises(ArgumentError) as error:
            made(wrong)(numbers(4), 3, backend="cpu")
        assert str(error.value) == message
        x = numbers(4)
        made(right)(x, 3, backend="cpu")
        assert x.tolist() == wanted


def test_a_slice_that_ends_before_it_begins_is_told():
    def made(begin, end):
        @vyre.procedure
        def f(x: In[u32]):
            y = vyre.scratch(u32, 2)
            doubled(x[begin:end], y)
            return y

        return f

    with pytest.raises(ArgumentError) as error:
        made(5, 3)(numbers(9), backend="cpu")
    assert str(error.value) == "a slice of `x` begins at 5 and ends at 3. Fix: write array[3:5]."
    assert made(3, 5)(numbers(9), backend="cpu").tolist() == [2 * 3, 2 * 4]
