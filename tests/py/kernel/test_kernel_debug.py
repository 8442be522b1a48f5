"""vyre.debug in kernels: what it records, that it changes nothing, and what it refuses."""

import itertools
import linecache

import numpy as np
import pytest

import vyre
from conftest import refused
from html_reader import told
from vyre import In, InOut, Out, u32, u64

A = np.array([1, 2, 3, 2**40], np.uint64)


def halve(x):
    vyre.debug("in helper", x)
    if x > 2:
        return x // 2
    return x


@vyre.kernel
def watched(a: In[u64], out: Out[u64]):
    i = vyre.gid(0)
    vyre.debug("vector", vyre.vec4u32(i, 1, 2, 3))
    for j in range(i + 1):
        vyre.debug("signed", vyre.i32(j) - 5)
        vyre.debug("wide", a[i] + u64(j))
    vyre.debug("truth", vyre.boolean(i > 1))
    vyre.debug("pair", (i, 7))
    if i >= 2:
        out[i] = a[i] * u64(halve(i) if i > 2 else 100)
        return
    vyre.debug("after", out[i])


@vyre.kernel
def plain(a: In[u64], out: Out[u64]):
    i = vyre.gid(0)
    for j in range(i + 1):  # noqa: B007  the name is in the program's text
        pass
    if i >= 2:
        out[i] = a[i] * u64(quiet(i) if i > 2 else 100)
        return


def quiet(x):
    if x > 2:
        return x // 2
    return x


def expected(i: int) -> list[tuple[str, tuple[int, ...], object]]:
    """What invocation i of `watched` records: (name, turns, value)."""
    rows: list[tuple[str, tuple[int, ...], object]] = [("vector", (), (i, 1, 2, 3))]
    for j in range(i + 1):
        rows += [("signed", (j,), j - 5), ("wide", (j,), int(A[i]) + j)]
    rows += [("truth", (), i > 1), ("pair[0]", (), i), ("pair[1]", (), 7)]
    if i > 2:
        rows.append(("in helper", (), i))
    if i < 2:
        rows.append(("after", (), 0))
    return rows


def test_it_records_typed_values_in_order_on_every_backend(target):
    with vyre.debugging(invocations=[3, (1, 0), (2, 0, 0)]) as seen:
        given = watched(A, **target)
    assert (given == watched(A, **target)).all()
    wanted = [((i, 0, 0), *row) for i in (3, 1, 2) for row in expected(i)]
    assert [(row.invocation, row.name, row.turns, row.value) for row in seen.rows] == wanted
    assert seen.count == len(wanted)
    assert seen.notes == []
    kinds = {row.name: row.type for row in seen.rows}
    assert kinds["vector"] is vyre.vec4u32
    assert (kinds["signed"], kinds["wide"], kinds["truth"], kinds["pair[1]"]) == (vyre.i32, u64, vyre.boolean, None)
    assert {row.source for row in seen.rows if row.name == "wide"} == {'vyre.debug("wide", a[i] + u64(j))'}


def test_switched_off_it_is_no_part_of_the_program():
    assert watched.text == plain.text
    target = ("spirv", "wgsl", "ptx")
    assert [vyre.lower(watched.program, each) for each in target] == [
        vyre.lower(plain.program, each) for each in target
    ]


def test_switched_off_its_arguments_are_not_evaluated():
    @vyre.kernel
    def one(out: InOut[u32]):
        i = vyre.gid(0)
        vyre.debug("x", out[i] + vyre.rotl(out[i + 1], 3))
        out[i] = 1

    @vyre.kernel
    def other(out: InOut[u32]):
        i = vyre.gid(0)
        out[i] = 1

    assert one.text == other.text


def test_a_limit_keeps_the_first_records_and_says_how_many_there_were(target):
    with vyre.debugging(invocations=[3, 0], limit=4) as seen:
        watched(A, **target)
    first = [((i, 0, 0), *row) for i in (3, 0) for row in expected(i)[:4]]
    assert [(row.invocation, row.name, row.turns, row.value) for row in seen.rows] == first
    assert seen.count == len(expected(3)) + len(expected(0))
    assert seen.notes == [
        "invocation (3, 0, 0) of `watched` has 13 records, and the first 4 were kept: vyre.debugging(limit=13) keeps "
        "them all.",
        "invocation (0, 0, 0) of `watched` has 7 records, and the first 4 were kept: vyre.debugging(limit=7) keeps "
        "them all.",
    ]
    with vyre.debugging(invocations=[3, 0], limit=13) as whole:
        watched(A, **target)
    assert whole.count == len(whole.rows) == seen.count


def test_resident_arrays_record_too():
    with vyre.debugging(invocations=[2]) as seen:
        given = watched(vyre.array(A, backend="cpu"))
    assert given.numpy().tolist() == watched(A, backend="reference").tolist()
    assert [(row.name, row.turns, row.value) for row in seen.rows] == expected(2)


def test_several_calls_record_one_after_the_other():
    with vyre.debugging(invocations=[0]) as seen:
        plain(A, backend="cpu")
        watched(A, backend="cpu")
        watched(A, backend="reference")
    assert [row.name for row in seen.rows] == 2 * [name for name, _, _ in expected(0)]
    assert {row.kernel for row in seen.rows} == {"watched"}


def test_after_the_with_statement_nothing_is_recorded():
    with vyre.debugging() as seen:
        pass
    watched(A, backend="cpu")
    assert (seen.rows, seen.notes) == ([], ["no kernel with a vyre.debug statement was called."])


def test_an_invocation_beyond_the_grid_is_told():
    with vyre.debugging(invocations=[5000]) as seen:
        watched(A, backend="cpu")
    assert seen.notes == ["invocation (5000, 0, 0) is not in the grid of the call of `watched`."]


def test_atomics_barriers_and_written_arrays_give_what_they_give_without_it(target):
    @vyre.kernel(workgroup_size=8)
    def prefix(data: InOut[u32], total: InOut[u32]):
        k, mine = vyre.lid(0), vyre.shared(u32, 8)
        mine[k] = data[vyre.gid(0)]
        vyre.barrier()
        vyre.debug("left", mine[(k + 7) % 8])
        before = total.atomic_add(0, mine[k])
        vyre.debug("had", min(before, 0))
        vyre.barrier()
        data[vyre.gid(0)] = mine[(k + 7) % 8]

    values = np.arange(10, 26, dtype=np.uint32)
    results = []
    for on in (True, False):
        data, total = values.copy(), np.zeros(1, np.uint32)
        if on:
            with vyre.debugging(invocations=range(16)) as seen:
                prefix(data, total, **target)
            assert [row.value for row in seen.rows if row.name == "left"] == np.roll(
                values.reshape(2, 8), 1, axis=1
            ).reshape(-1).tolist()
        else:
            prefix(data, total, **target)
        results.append((data.tolist(), total.tolist()))
    assert results[0] == results[1]
    assert results[0][1] == [int(values.sum())]


def test_a_kernel_with_a_barrier_records_what_it_does_before_it_compares_its_index():
    @vyre.kernel(workgroup_size=8)
    def turned(x: In[u32], y: Out[u32]):
        i, tile = vyre.gid(0), vyre.shared(u32, 8)
        vyre.debug("index", i)
        if i < len(x):
            tile[vyre.lid(0)] = x[i]
        vyre.barrier()
        if i < len(y):
            y[i] = tile[7 - vyre.lid(0)]

    x = np.arange(5, dtype=np.uint32)
    with vyre.debugging(invocations=range(4)) as seen:
        y = turned(x, backend="cpu")
    assert [row.value for row in seen.rows] == [0, 1, 2, 3]
    assert y.tolist() == [0, 0, 0, 4, 3]


HEAD = "import vyre\nfrom vyre import In, InOut, Out, u32\nfrom vyre import debug as told\n\n\n"
WRONG = {
    "an atomic in an argument": (
        '    vyre.debug("old", out.atomic_add(0, 1))\n',
        "an argument of vyre.debug stores, or calls an atomic",
        "assign it to a variable before, and record that",
        '    old = out.atomic_add(0, 1)\n    vyre.debug("old", old)\n',
    ),
    "a part of an expression": (
        '    x = vyre.debug("i", i)\n',
        "vyre.debug is called as a part of an expression, or by another name",
        "write it as a statement of its own: `vyre.debug('x', x)`",
        "    vyre.debug('i', i)\n",
    ),
    "another name": (
        '    told("i", i)\n',
        "vyre.debug is called as a part of an expression, or by another name",
        "write it as a statement of its own: `vyre.debug('x', x)`",
        "    vyre.debug('i', i)\n",
    ),
    "a list that changes": (
        '    values = [i, i + 1]\n    vyre.debug("i", values.pop())\n',
        "an argument of vyre.debug changes a Python list",
        "change it in a statement before, and record what it then holds",
        '    values = [i, i + 1]\n    last = values.pop()\n    vyre.debug("i", last)\n',
    ),
    "an array": (
        '    vyre.debug("out", out)\n',
        "vyre.debug is given the array `out`",
        "record an element, as in out[i]",
        '    vyre.debug("out", out[i])\n',
    ),
    "no name": (
        "    vyre.debug(i, i)\n",
        "vyre.debug takes a name of 1 to 80 letters first, got Expr(i)",
        "write vyre.debug('x', x)",
        "    vyre.debug('i', i)\n",
    ),
    "a name too long": (
        f"    vyre.debug({'x' * 81!r}, i)\n",
        "vyre.debug takes a name of 1 to 80 letters first, got one of 81 letters",
        "write vyre.debug('x', x)",
        "    vyre.debug('x', i)\n",
    ),
}


def made(body: str) -> object:
    name = "<debugged kernel>"
    text = f"{HEAD}@vyre.kernel\ndef k(out: InOut[u32]):\n    i = vyre.gid(0)\n{body}    out[i] = i\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names: dict[str, object] = {"__name__": name}
    exec(compile(text, name, "exec"), names)
    return names["k"]


@pytest.mark.parametrize("name", WRONG)
def test_what_it_refuses_has_a_fix_that_runs(name):
    wrong, problem, fix, right = WRONG[name]
    out = np.zeros(3, np.uint32)
    with vyre.debugging(), pytest.raises(vyre.KernelError) as caught:
        made(wrong)(out, backend="reference")  # type: ignore[operator]
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.rule, diagnostic.message) == ("K009", f"vyre kernel: {problem}. Fix: {fix}.")
    assert diagnostic.place.file == "<debugged kernel>"
    with vyre.debugging() as seen:
        made(right)(out, backend="reference")  # type: ignore[operator]
    assert seen.count == 1
    assert out[1:].tolist() == [1, 2]


def test_in_an_operation_it_is_refused():
    with pytest.raises(vyre.VyreError) as caught:

        @vyre.op("test.debugged", inputs=[u32], output=u32)
        def debugged(a):
            vyre.debug("a", a)
            return a

    assert (
        "vyre.debug was called outside of a kernel. Fix: call it in a function under @vyre.kernel, or in a plain "
        "function that a kernel calls; a function under @vyre.op has values alone, so record its result where the "
        "kernel calls it." in str(caught.value)
    )


@pytest.mark.parametrize(
    ("arguments", "problem", "fix"),
    [
        (
            {"invocations": 3},
            "argument `invocations` of vyre.debugging must be a list of 1 to 1024 invocations, got 3",
            "pass a list of 1 to 1024 invocations",
        ),
        (
            {"invocations": []},
            "argument `invocations` of vyre.debugging must be a list of 1 to 1024 invocations, got []",
            "pass a list of 1 to 1024 invocations",
        ),
        (
            {"invocations": [-1]},
            "argument `invocations` of vyre.debugging must name invocations by one to three indices, x first, got -1",
            "write invocations=[3, (3, 0)]",
        ),
        (
            {"limit": 0},
            "argument `limit` of vyre.debugging must be a count from 1 to 16777216, got 0",
            "pass a count from 1 to 16777216",
        ),
    ],
)
def test_arguments_that_it_cannot_take_are_refused(arguments, problem, fix):
    with refused(vyre.ArgumentError, problem, fix):
        vyre.debugging(**arguments)


def test_more_records_than_memory_should_hold_are_refused_with_a_limit_that_runs():
    with vyre.debugging(invocations=range(1000), limit=2**20), pytest.raises(vyre.ArgumentError) as caught:
        watched(A, backend="cpu")
    assert str(caught.value) == (
        "vyre.debugging was asked to keep 1048576 records of each of 1000 invocations, which are 5242881000 words, and "
        "the most is 16777216. Fix: keep at most 3355 of each."
    )
    with vyre.debugging(invocations=range(1000), limit=3355) as seen:
        watched(A, backend="cpu")
    assert seen.rows[0].invocation == (0, 0, 0)


def test_it_prints_as_a_table():
    with vyre.debugging(invocations=[1], limit=3) as seen:
        watched(A, backend="reference")
    line = watched.__wrapped__.__code__.co_firstlineno + 3
    assert str(seen).splitlines() == [
        "vyre.debug: 3 records of watched",
        "  line  turn  invocation  name    value         type     source",
        f'  {line:4}        (1, 0, 0)   vector  (1, 1, 2, 3)  vec4u32  vyre.debug("vector", vyre.vec4u32(i, 1, 2, 3))',
        f'  {line + 2:4}     0  (1, 0, 0)   signed  -5            i32      vyre.debug("signed", vyre.i32(j) - 5)',
        f'  {line + 3:4}     0  (1, 0, 0)   wide    2             u64      vyre.debug("wide", a[i] + u64(j))',
        "note: invocation (1, 0, 0) of `watched` has 9 records, and the first 3 were kept: vyre.debugging(limit=9) "
        "keeps them all.",
    ]
    (form,) = told(seen._repr_html_())
    ((_, heads, rows),) = form.tables
    assert heads == ["line", "turn", "invocation", "name", "value", "type", "source"]
    assert rows[2] == [str(line + 3), "0", "(1, 0, 0)", "wide", "2", "u64", 'vyre.debug("wide", a[i] + u64(j))']
    assert form.sentences[0].startswith("note: invocation (1, 0, 0) of `watched` has 9 records")


def test_endless_invocations_are_refused():
    for given in (
        lambda: vyre.debugging(invocations=itertools.count()),
        lambda: type(vyre.debugging())(itertools.count(), 1),
    ):
        with pytest.raises(vyre.ArgumentError, match=r"^argument `invocations` of .* must be a list"):
            given()
