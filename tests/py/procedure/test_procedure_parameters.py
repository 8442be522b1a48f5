"""A size that is given for a parameter fits into it, or the call is refused: on every backend, whoever computes it."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import vyre
from conftest import refused
from small_kernels import plus, plus_signed
from vyre import In, InOut, Out, boolean, i32, u32, u64
from vyre.errors import ArgumentError

X = np.arange(4, dtype=np.uint32)
SOURCE = Path(__file__).read_text().splitlines()


def at(marker, step=0):
    """What messages tell of a step whose line ends with the marker."""
    (line,) = [number for number, line in enumerate(SOURCE, 1) if line.endswith(f"# {marker}")]
    return f" at steps[{step}] ({__file__}:{line})"


@vyre.kernel
def plus_wide(x: In[u32], y: Out[u32], n: u64):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] + vyre.u32(n >> 30)


@vyre.kernel
def plus_signed_of_u32(x: In[u32], y: Out[u32], n: u32):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] + vyre.u32(i32(n))


@vyre.kernel
def plus_signed_of_u64(x: In[u32], y: Out[u32], n: u64):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] + vyre.u32(i32(n))


@vyre.kernel
def plus_low(x: In[u32], y: Out[u32], n: u64):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] + u32(n)


@vyre.kernel
def marked(y: Out[u32], is_set: boolean):
    if vyre.gid(0) < len(y) and is_set:
        y[vyre.gid(0)] = 1


def procedure_of(kernel, size):
    @vyre.procedure(name="p")
    def made(x: In[u32], k: u64):
        y = vyre.scratch(u32, x.length)
        kernel(x, y, size(x.length, k))  # procedure_of
        return y

    return made


SIZES = {"of a length": lambda n, k: n * 2**30, "of a number": lambda n, k: k * 4}
FIX = (
    "annotate it with vyre.u64 and write u32(n) in the kernel where a u32 is wanted, or pass the size % 2**32 for its "
    "low 32 bits"
)
PLACE = f"dispatch `plus` in procedure `p`{at('procedure_of')}"
PROBLEM = f"{PLACE}: parameter `n` is 4294967296, and a u32 is at most 4294967295. Fix: "


@pytest.mark.parametrize("of", SIZES)
def test_a_size_that_a_u32_does_not_hold_is_refused_and_the_fixes_run(target, of):
    size = SIZES[of]
    p = procedure_of(plus, size)
    with pytest.raises(ArgumentError) as refused:
        p(X, 2**30, **target)
    assert str(refused.value) == f"{PROBLEM}{FIX}."
    assert procedure_of(plus_low, size)(X, 2**30, **target).tolist() == X.tolist()
    assert procedure_of(plus_wide, size)(X, 2**30, **target).tolist() == [4, 5, 6, 7]
    assert procedure_of(plus, lambda n, k: size(n, k) % 2**32)(X, 2**30, **target).tolist() == X.tolist()


@pytest.mark.parametrize("of", SIZES)
def test_the_largest_u32_is_given(target, of):
    p = procedure_of(plus, lambda n, k: SIZES[of](n, k) - 1)
    assert p(X, 2**30, **target).tolist() == [2**32 - 1, 0, 1, 2]


def test_a_later_number_of_a_planned_procedure_is_refused(target):
    p, x = procedure_of(plus, SIZES["of a number"]), vyre.array(X, **target)
    for k in (1, 2, 3):  # calls with resident arrays take a shorter way once one was right
        assert p(x, k).numpy().tolist() == (X + 4 * k).tolist()
    for given in (x, X):
        options = target if given is X else {}
        with pytest.raises(ArgumentError) as refused:
            p(given, 2**30, **options)
        assert str(refused.value) == f"{PROBLEM}{FIX}."
    assert p(x, 7).numpy().tolist() == (X + 28).tolist()


def test_a_graph_a_check_and_a_bisection_refuse_it_alike():
    p, x = procedure_of(plus, SIZES["of a number"]), vyre.array(X, backend="cpu")

    def recorded():
        with vyre.graph():
            p(x, 2**30)

    inputs = {"x": X, "k": 2**30}
    for call in (
        recorded,
        lambda: p.check(X, 2**30),
        lambda: vyre.check(p.procedure, inputs),
        lambda: vyre.bisect(p, inputs, backend="cpu"),
    ):
        with pytest.raises(ArgumentError, match=f"^{re.escape(PLACE)}: parameter `n` is 4294967296, and"):
            call()


def test_a_text_names_the_word_and_its_fix_runs(target):
    text = procedure_of(plus, SIZES["of a length"]).text
    word = "words((length(x) * 1073741824))"
    assert text.count(word) == 1
    for read in (vyre.Procedure.parse(text), pickle.loads(pickle.dumps(vyre.Procedure.parse(text)))):
        with refused(
            ArgumentError,
            "dispatch `plus` in procedure `p` at steps[0]: word 0 of buffer `__params` is 4294967296, and a "
            "u32 is at most 4294967295",
            "write `(size % 4294967296)` for the low 32 bits of the size",
        ):
            vyre.run(read, {"x": X, "k": 0}, **target)
    mended = vyre.Procedure.parse(text.replace(word, "words(((length(x) * 1073741824) % 4294967296))"))
    assert vyre.run(mended, {"x": X, "k": 0}, **target)["scratch"].tolist() == X.tolist()


def test_what_messages_call_words_is_no_part_of_the_value():
    recorded = procedure_of(plus, SIZES["of a number"]).procedure
    read = vyre.Procedure.parse(recorded.to_text())
    assert (read, hash(read), read.to_bytes()) == (recorded, hash(recorded), recorded.to_bytes())


def test_a_size_in_a_repetition_is_refused_in_the_turn_that_exceeds_it():
    def turns_of(most):
        @vyre.procedure(name="p")
        def made(x: In[u32]):
            y = vyre.scratch(u32, x.length)
            for turn in vyre.times(most):
                plus(x, y, turn * 2**31)
            return y

        return made

    assert turns_of(2)(X, backend="cpu").tolist() == (X + np.uint32(2**31)).tolist()
    with pytest.raises(ArgumentError, match="parameter `n` is 4294967296, and a u32"):
        turns_of(3)(X, backend="cpu")


def test_a_step_that_does_not_run_is_given_any_size(target):
    @vyre.procedure
    def p(x: In[u32], k: u64):
        y = vyre.scratch(u32, x.length, zeros=True)
        with vyre.when(k < 2**32):
            plus(x, y, k)
        return y

    assert p(X, 2**40, **target).tolist() == [0] * 4
    assert p(X, 5, **target).tolist() == [5, 6, 7, 8]


def test_an_i32_is_given_no_size_that_it_has_as_a_negative_number(target):
    p = procedure_of(plus_signed, lambda n, k: k)
    assert p(X, 2**31 - 1, **target).tolist() == (X + np.uint32(2**31 - 1)).tolist()
    for k in (2**31, 2**32, 2**33):
        with refused(
            ArgumentError,
            "parameter `n` of kernel `plus_signed` in procedure `p` is given a size above 2147483647, and it is an i32",
            "annotate it with vyre.u32 or vyre.u64 and write i32(n) in the kernel where an i32 is wanted, or "
            "pass the size % 2**31 for its low 31 bits",
        ):
            p(X, k, **target)
    assert procedure_of(plus_signed, lambda n, k: k % 2**31)(X, 2**31 + 3, **target).tolist() == (X + 3).tolist()
    for fitting in (plus_signed_of_u32, plus_signed_of_u64):
        assert procedure_of(fitting, lambda n, k: k)(X, 2**31 + 3, **target).tolist() == (
            (X + np.uint32(2**31 + 3)).tolist()
        )
    assert procedure_of(plus, lambda n, k: k)(X, 2**31, **target).tolist() == (X + np.uint32(2**31)).tolist()


def test_a_number_that_an_invocation_passes_on_is_held_to_its_type(target):
    @vyre.procedure(name="inner")
    def inner(y: InOut[u32], n: u32, is_set: boolean):
        marked(y, is_set)
        with vyre.when(n > 2):
            vyre.clear(y)

    @vyre.procedure(name="outer")
    def outer(y: InOut[u32], k: u64, wide: u64):
        inner(y, wide, k)  # inner

    y = X.copy()
    outer(y, 1, 2, **target)
    assert y.tolist() == [1, 1, 1, 1]
    for k, wide, name, found, type_, most in ((1, 2**32, "n", 2**32, "u32", 2**32 - 1), (2, 2, "is_set", 2, "bool", 1)):
        with refused(
            ArgumentError,
            f"invocation of `inner` in procedure `outer`{at('inner')}: number `{name}` is {found}, and a "
            f"{type_} is at most {most}",
            f"pass one from 0 to {most}",
        ):
            outer(y, k, wide, **target)


def test_a_condition_that_is_given_a_large_size_says_how_to_compare_it():
    @vyre.procedure(name="p")
    def wrong(x: In[u32], k: u64):
        y = vyre.scratch(u32, x.length, zeros=True)
        marked(y, k)  # wrong
        return y

    @vyre.procedure(name="p")
    def right(x: In[u32], k: u64):
        y = vyre.scratch(u32, x.length, zeros=True)
        marked(y, k != 0)
        return y

    assert wrong(X, 2, backend="cpu").tolist() == [1] * 4
    with refused(
        ArgumentError,
        f"dispatch `marked` in procedure `p`{at('wrong')}: parameter `is_set` is 4294967296, and a u32 is at "
        "most 4294967295",
        "pass the size != 0",
    ):
        wrong(X, 2**32, backend="cpu")
    assert right(X, 2**32, backend="cpu").tolist() == [1] * 4


def test_a_grid_size_that_a_u32_does_not_hold_is_refused():
    @vyre.kernel(workgroup_size=256)
    def counted(y: Out[u32]):
        if vyre.gid(0) < len(y):
            y[vyre.gid(0)] = vyre.grid_size(0)

    @vyre.procedure(name="p")
    def p(n: u64):
        y = vyre.scratch(u32, 2)
        counted(y, grid=n)  # counted
        return y

    assert p(300, backend="cpu").tolist() == [300, 300]
    with refused(
        ArgumentError,
        f"dispatch `counted` in procedure `p`{at('counted')}: the size of the grid along axis 0 is "
        "4294967296, and a u32 is at most 4294967295",
        "make the grid at most 4294967295 along that axis",
    ):
        p(2**32, backend="cpu")


def test_the_length_of_an_axis_that_a_u32_does_not_hold_is_refused():
    @vyre.kernel
    def rows(x: In[u32, 2], y: Out[u32]):
        y[vyre.gid(0)] = x.shape[0]

    @vyre.procedure(name="p")
    def p(x: In[u32, 2]):
        y = vyre.scratch(u32, 1)
        rows(x, y)  # rows
        return y

    tall = np.empty((2**32, 0), np.uint32)
    with refused(
        ArgumentError,
        f"dispatch `rows` in procedure `p`{at('rows')}: the length of axis 0 of `x` is 4294967296, and a u32 "
        "is at most 4294967295",
        "pass an array that is shorter along that axis",
    ):
        p(tall, backend="cpu")
    assert p(tall[:7], backend="cpu").tolist() == [7]
