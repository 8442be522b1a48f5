"""Notes say what is probably not meant in a valid program, and nothing else."""

from __future__ import annotations

import doctest
import random
import subprocess
import sys
import time

import numpy as np
import pytest

import kernels
import vyre
import vyre.fuzz
from html_reader import told
from kernel_comparison import compile_source
from kernel_source import Source
from vyre import BufferDecl, DataType, Expr, InOut, Node, Out, Program, _core, u32

OUT = BufferDecl.output("out", 0, DataType.U32)
TILE = BufferDecl.workgroup("tile", 64, DataType.U32)
MINE = BufferDecl.private("mine", 4, DataType.U32)
ID = Expr.invocation_id(0)
L = Expr.local_id(0)
V = Expr.var
BELOW_0 = "vyre IR note: comparison `< 0` of u32 is always false. Fix: compare with a positive bound, or cast to I32."
PLAIN = (
    "vyre IR note: plain read-modify-write of `{}`. Fix: use an atomic when several invocations may reach one element."
)


def program(*entry, size=(1, 1, 1), more=()):
    return Program([OUT, TILE, MINE, *more], size, list(entry))


def found(of, **call):
    return [(each.rule, each.place.path, each.message) for each in of.notes(**call)]


def rules(of, **call):
    return [each.rule for each in of.notes(**call)]


def result(of, words=4, workgroups=1):
    return vyre.run(of, {"out": np.arange(words, dtype=np.uint32)}, workgroups, backend="reference")["out"].tolist()


def test_an_atomic_that_two_statements_reach_is_noted_once_at_the_first():
    ticket = Expr.atomic_add("out", 0, 1)
    noted = program(Node.let("a", ticket), Node.store("out", 1, ticket + V("a")))
    message = "vyre IR note: atomic on `out` fires in 2 statements. Fix: bind it once with let."
    assert found(noted) == [("N001", "entry[0].value", message)]
    assert noted.notes()[0].hint == (
        "write Node.let(name, atomic) before this statement, where `atomic` is this expression, and "
        "Expr.var(name) where it is used."
    )
    assert result(noted)[:2] == [2, 1]
    fixed = program(Node.let("old", ticket), Node.let("a", V("old")), Node.store("out", 1, V("old") + V("a")))
    assert found(fixed) == []
    assert result(fixed)[:2] == [1, 0]


def test_two_atomics_that_look_alike_are_not_noted():
    assert found(program(*(Node.let(f"a{k}", Expr.atomic_add("out", 0, 1)) for k in range(3)))) == []


def test_an_atomic_that_no_let_reaches_from_its_first_statement_has_no_hint():
    ticket = Expr.atomic_add("out", 0, 1)
    noted = program(Node.if_(ID == 0, [Node.let("a", ticket)]), Node.let("b", ticket))
    assert [(each.rule, each.place.path, each.hint) for each in noted.notes()] == [
        ("N001", "entry[0].then[0].value", "")
    ]


def test_a_load_on_both_sides_of_a_store_is_noted():
    first = Expr.load("out", 1)
    noted = program(Node.let("a", first), Node.store("out", 1, 7), Node.store("out", 2, first + V("a")))
    message = (
        "vyre IR note: load of `out` is evaluated by 2 statements with a store to it between. "
        "Fix: bind it once with let."
    )
    assert found(noted) == [("N002", "entry[0].value", message)]
    assert noted.notes()[0].hint == (
        "write Node.let(name, load) before this statement, where `load` is this expression, and "
        "Expr.var(name) where it is used."
    )
    assert result(noted)[2] == 8
    fixed = program(
        Node.let("read", Expr.load("out", 1)),
        Node.let("a", V("read")),
        Node.store("out", 1, 7),
        Node.store("out", 2, V("read") + V("a")),
    )
    assert found(fixed) == []
    assert result(fixed)[2] == 2


LOAD = Expr.load("out", 1)
USE_A, USE_B = Node.let("a", LOAD), Node.let("b", LOAD)
WRITE = Node.store("out", 1, 7)
AT_J = Expr.load("out", V("j"))


@pytest.mark.parametrize(
    ("entry", "is_noted"),
    [
        ([USE_A, USE_B, WRITE], False),
        ([WRITE, USE_A, USE_B], False),
        ([USE_A, Node.store("out", 2, 7), USE_B], False),
        ([USE_A, Node.store("out", ID, 7), USE_B], True),
        ([USE_A, Node.store("tile", 1, 7), USE_B], False),
        ([USE_A, Node.let("t", Expr.atomic_add("out", 1, 1)), USE_B], True),
        ([USE_A, Node.if_(ID == 0, [WRITE]), USE_B], True),
        ([USE_A, Node.if_(ID == 0, [WRITE, Node.return_()]), USE_B], False),
        ([USE_A, Node.if_(ID == 0, [WRITE], [USE_B])], False),
        ([Node.if_(ID == 0, [USE_A], [WRITE]), USE_B], False),
        ([Node.if_(ID == 0, [USE_A, WRITE]), USE_B], True),
        ([Node.loop("k", 0, 3, [USE_A, USE_B, WRITE])], False),
        ([Node.loop("k", 0, 3, [USE_A, WRITE, USE_B])], True),
        ([USE_A, Node.loop("k", 0, 3, [USE_B, WRITE])], True),
        ([USE_A, Node.loop("k", 0, 3, [USE_B, WRITE, Node.break_()])], False),
        ([Node.loop("k", 0, 3, [USE_A, Node.if_(ID == 0, [WRITE, Node.break_()])]), USE_B], True),
        ([Node.block([USE_A]), Node.block([WRITE]), USE_B], True),
        # Another value of the index is another element.
        ([Node.let("j", 0), Node.let("a", AT_J), Node.assign("j", 1), WRITE, Node.let("b", AT_J)], False),
        ([Node.let("j", 0), Node.let("a", AT_J), WRITE, Node.let("b", AT_J), Node.assign("j", 1)], True),
        ([Node.loop("j", n, 9, [Node.let("a", AT_J), Node.store("out", 8, 1)]) for n in (0, 1)], False),
    ],
)
def test_a_store_counts_where_a_path_leads_through_it(entry, is_noted):
    assert ("N002" in rules(program(*entry))) == is_noted


def test_private_and_workgroup_memory_are_memory_that_changes():
    for name in ("mine", "tile"):
        load = Expr.load(name, 1)
        entry = [Node.let("a", load), Node.store(name, 1, 7), Node.let("b", load)]
        assert rules(program(*entry)) == ["N002"]


X = Expr.buf_len("out") - 9


@pytest.mark.parametrize(
    ("comparison", "text", "signed"),
    [
        (Expr.lt(X, 0), "`< 0` of u32 is always false", Expr.cast(DataType.I32, X) < 0),
        (Expr.ge(X, 0), "`>= 0` of u32 is always true", Expr.cast(DataType.I32, X) >= 0),
        (Expr.gt(Expr.u32(0), X), "`< 0` of u32 is always false", 0 > Expr.cast(DataType.I32, X)),
        (Expr.le(Expr.u32(0), X), "`>= 0` of u32 is always true", 0 <= Expr.cast(DataType.I32, X)),
    ],
)
def test_comparisons_that_0_decides(comparison, text, signed):
    noted = program(Node.store("out", 0, comparison))
    message = f"vyre IR note: comparison {text}. Fix: compare with a positive bound, or cast to I32."
    assert found(noted) == [("N003", "entry[0].value", message)]
    assert result(noted)[0] == ("true" in text)
    assert noted.notes()[0].hint == (
        "write Expr.cast(DataType.I32, x) for the value x that is compared: operators go by type."
    )
    fixed = program(Node.store("out", 0, signed))
    assert found(fixed) == []
    assert result(fixed)[0] == ("false" in text)  # 4 - 9 is below 0


def test_other_comparisons_with_0_are_not_noted():
    others = [Expr.gt(X, 0), Expr.le(X, 0), Expr.lt(Expr.u32(0), X), Expr.eq(X, 0), Expr.lt(X, 1)]
    others.append(Expr.slt(Expr.cast(DataType.I32, X), Expr.i32(0)))
    assert found(program(*(Node.let(f"v{k}", each) for k, each in enumerate(others)))) == []


def test_the_notes_of_0_are_true():
    seed = random.randrange(2**32)
    print("seed", seed)
    chosen = random.Random(seed)
    make = {"<": (Expr.lt, Expr.gt), ">=": (Expr.ge, Expr.le)}
    for _ in range(50):
        op = chosen.choice(list(make))
        x = Expr.load("out", ID)
        for _ in range(chosen.randrange(4)):
            x = chosen.choice([Expr.sub, Expr.bitxor, Expr.mul, Expr.shl])(x, chosen.randrange(2**32))
        comparison = make[op][0](x, 0) if chosen.random() < 0.5 else make[op][1](Expr.u32(0), x)
        noted = program(Node.store("out", ID, comparison), size=(16, 1, 1))
        (note,) = [each for each in noted.notes() if each.rule == "N003"]
        said = note.message.partition("always ")[2].partition(".")[0]
        edges = [0, 1, 2**31, 2**32 - 1, chosen.randrange(2**32)]
        words = np.array([chosen.choice(edges) for _ in range(16)], np.uint32)
        got = vyre.run(noted, {"out": words}, 1, backend="reference")["out"]
        assert got.tolist() == [{"false": 0, "true": 1}[said]] * 16


def test_elements_beyond_the_grid():
    fill = program(Node.store("out", ID, ID), size=(64, 1, 1))
    message = "vyre IR note: 36 of 100 elements of `out` lie beyond the grid. Fix: use 2 workgroups."
    assert found(fill, lengths={"out": 100}, workgroups=1) == [("N004", "entry[0]", message)]
    (note,) = fill.notes(lengths={"out": 100}, workgroups=1)
    assert note.hint == "write workgroups=(2, 1, 1)."
    got = vyre.run(fill, {"out": 100}, (2, 1, 1), backend="reference")["out"]
    assert got.tolist() == list(range(100))
    assert found(fill, lengths={"out": 100}, workgroups=(2, 1, 1)) == []
    assert found(fill, lengths={"out": 64}, workgroups=1) == []
    assert found(fill, lengths={"out": 100}) == found(fill, workgroups=1) == found(fill) == []


SOURCE = BufferDecl.read("x", 1, DataType.U32)
PUT, BY_NAME = Node.store("out", ID, ID), Node.store("out", V("i"), 1)


@pytest.mark.parametrize(
    ("entry", "is_noted"),
    [
        ([Node.if_(ID < Expr.buf_len("out"), [PUT])], True),
        ([Node.if_(ID < Expr.buf_len("x"), [PUT])], True),  # x is as long
        ([Node.if_(ID >= Expr.buf_len("out"), [Node.return_()]), PUT], True),
        ([Node.let("n", Expr.buf_len("out")), Node.let("i", ID), Node.if_(V("i") < V("n"), [BY_NAME])], True),
        ([Node.if_(ID < 50, [PUT])], False),
        ([Node.if_(ID == 3, [Node.return_()]), PUT], False),
        ([PUT, Node.store("out", ID + 64, 1)], False),
        ([PUT, Node.let("a", Expr.atomic_add("out", 0, 1))], False),
        ([Node.store("out", L, ID)], False),
        ([Node.store("out", ID * 2, ID)], False),
    ],
)
def test_a_guard_says_that_a_tail_is_meant(entry, is_noted):
    of = program(*entry, size=(64, 1, 1), more=[SOURCE])
    assert ("N004" in rules(of, lengths={"out": 100, "x": 100}, workgroups=1)) == is_noted


def test_a_shorter_array_in_the_guard_is_meant():
    of = program(Node.if_(ID < Expr.buf_len("x"), [PUT]), size=(64, 1, 1), more=[SOURCE])
    assert rules(of, lengths={"out": 100, "x": 64}, workgroups=1) == []


def bump(name, index):
    return Node.store(name, index, Expr.load(name, index) + 1)


IN_ROWS = Expr.select(
    Expr.logical_and(Expr.lt(Expr.invocation_id(1), Expr.load("x", 0)), Expr.lt(ID, Expr.load("x", 1))),
    Expr.invocation_id(1) * Expr.load("x", 1) + ID,
    0xFFFFFFFF,
)


@pytest.mark.parametrize(
    ("entry", "is_noted"),
    [
        ([bump("out", ID)], False),
        ([bump("out", 0)], True),
        ([bump("out", ID + 5)], False),
        ([bump("out", ID * 4 + 3)], False),
        ([bump("out", ID & 7)], True),
        ([bump("out", Expr.load("x", ID))], True),
        ([bump("out", L)], True),
        ([bump("out", Expr.workgroup_id(0))], True),
        ([bump("out", Expr.workgroup_id(0) * 64 + L)], False),
        ([bump("out", Expr.workgroup_id(0) * 32 + L)], True),
        ([bump("tile", L)], False),
        ([bump("tile", L ^ 1)], True),
        ([bump("tile", 0)], True),
        ([bump("mine", 0)], False),
        ([bump("out", Expr.invocation_id(1) * Expr.load("x", 0) + ID)], True),
        ([bump("out", IN_ROWS)], False),
        # A loop's variable may not reach into the next invocation's elements.
        ([Node.loop("k", 0, 4, [bump("out", ID * 4 + V("k"))])], False),
        ([Node.loop("k", 0, 5, [bump("out", ID * 4 + V("k"))])], True),
        ([Node.loop("k", 0, Expr.load("x", 0), [bump("out", ID * 4 + V("k"))])], True),
        # One invocation alone meets no other one.
        ([Node.if_(ID == 0, [bump("out", 0)])], False),
        ([Node.if_(L == 0, [bump("out", 0)])], True),
        ([Node.if_(L == 0, [bump("out", Expr.workgroup_id(0))])], False),
        ([Node.if_(L == 0, [bump("tile", 0)])], False),
        ([Node.if_(ID != 0, [Node.return_()]), bump("out", 0)], False),
        ([Node.if_(ID == 0, [], [bump("out", 0)])], True),
        ([Node.let("first", Expr.eq(ID, 0)), Node.if_(V("first"), [bump("out", 0)])], False),
        # The value goes through variables, and another index is no read-modify-write.
        ([Node.let("v", Expr.load("out", 3)), Node.let("w", V("v") * 5), Node.store("out", 3, V("w"))], True),
        ([Node.store("out", 3, Expr.load("out", 2) + 1)], False),
        ([Node.let("v", Expr.load("out", 3)), Node.store("out", 3, 1)], False),
        ([Node.let("v", Expr.atomic_add("out", 3, 1)), Node.store("out", 3, V("v"))], False),
    ],
)
def test_plain_updates_of_elements_that_invocations_share(entry, is_noted):
    of = program(*entry, size=(64, 1, 1), more=[SOURCE])
    name = "tile" if "tile[" in of.to_text() else "out"
    assert [each.message for each in of.notes()] == [PLAIN.format(name)] * is_noted


def test_a_grid_of_more_axes_shares_what_one_axis_names():
    of = program(bump("out", ID), size=(64, 1, 1))
    assert rules(of) == rules(of, workgroups=4) == []
    assert rules(of, workgroups=(4, 2, 1)) == ["N005"]
    assert rules(program(bump("out", 0)), workgroups=1) == []
    assert rules(program(bump("out", 0)), workgroups=2) == ["N005"]
    assert rules(program(bump("out", ID), size=(8, 8, 1))) == ["N005"]


def test_the_hint_of_a_plain_update_counts_every_invocation():
    of = program(Node.let("v", Expr.load("out", 0)), Node.store("out", 0, V("v") + 3), size=(64, 1, 1))
    (note,) = of.notes()
    assert note.hint == 'write Node.let(name, Expr.atomic_add("out", index, value)) instead of this store.'
    fixed = program(Node.let("old", Expr.atomic_add("out", 0, 3)), size=(64, 1, 1))
    assert result(fixed)[0] == 64 * 3
    assert program(bump("tile", 0), size=(64, 1, 1)).notes()[0].hint == ""  # not declared atomic


N = Expr.load("x", 0)
WRAPS = (
    "vyre IR note: the loop {2} at `{0} - {1}`, which wraps around to 2^32 - {1} or more where {0} is below {3}. "
    "Fix: write max({0}, {3}) in place of {0}."
)


def loop(end, first=0, variable="k"):
    return Node.loop(
        variable, first, end, [Node.store("out", 0, V(variable)), Node.if_(V(variable) > 8, [Node.break_()])]
    )


@pytest.mark.parametrize(
    ("entry", "is_noted"),
    [
        ([loop(N - 1)], True),
        ([Node.let("m", N), Node.let("end", V("m") - 1), loop(V("end"))], True),
        ([loop(Expr.buf_len("out") - 1, 1)], True),
        ([loop(N - 0)], False),
        ([loop(N - ID)], False),
        ([loop(Expr.max(N, 1) - 1)], False),
        ([loop(Expr.max(N, 1) - 2)], True),
        ([loop((N | 4) // 2 - 2)], False),
        ([loop(Expr.min(N - 1, 9))], False),
        ([Node.if_(N > 0, [loop(N - 1)])], False),
        ([Node.if_(N > 0, [loop(N - 2)])], True),
        ([Node.if_(Expr.logical_and(ID < N, ID < 5), [loop(N - 1)])], False),
        ([Node.if_(Expr.logical_or(ID < N, ID < 5), [loop(N - 1)])], True),
        ([Node.if_(N == 0, [loop(N - 1)], [loop(N - 1, variable="j")])], True),
        ([Node.if_(N == 0, [], [loop(N - 1)])], False),
        ([Node.if_(N == 0, [Node.return_()]), loop(N - 1)], False),
        ([Node.if_(N == 0, [Node.store("out", 1, 1)]), loop(N - 1)], True),
        ([Node.if_(N == 0, [Node.return_()]), loop(N - 1), loop(N - 2, variable="j")], True),
        ([Node.if_(N > 0, [Node.store("out", 1, 1)]), loop(N - 1)], True),
        ([Node.let("some", Expr.logical_not(N == 0)), Node.if_(V("some"), [loop(N - 1)])], False),
        ([Node.let("m", N - 1), Node.if_(V("m") < 100, [loop(V("m"))])], False),
        ([Node.if_(ID < N, [loop(N - ID - 1)])], False),
        ([Node.if_(ID <= N, [loop(N - ID - 1)])], True),
        ([Node.loop("i", 2, N, [loop(V("i") - 2), loop(N - 3, variable="j")])], False),
        ([Node.loop("i", 0, N, [loop(V("i") - 1)])], True),
        ([Node.let("m", Expr.u32(3)), Node.if_(N > 0, [Node.assign("m", N)]), loop(V("m") - 1)], True),
        (
            [
                Node.let("m", Expr.u32(3)),
                Node.if_(V("m") > 0, [Node.loop("i", 0, 2, [loop(V("m") - 1), Node.assign("m", V("m") - 1)])]),
            ],
            True,
        ),
    ],
)
def test_a_loop_whose_end_wraps_is_noted_where_nothing_excludes_it(entry, is_noted):
    assert ("N007" in rules(program(*entry, more=[SOURCE]))) == is_noted


def test_the_fix_of_an_end_that_wraps_ends_the_loop():
    def counts(end):
        return program(Node.loop("k", 0, end, [Node.store("out", 1, V("k")), Node.if_(V("k") == 99, [Node.break_()])]))

    n = Expr.load("out", 0)  # is 0
    (note,) = counts(n - 3).notes()
    assert (note.rule, note.message, note.place.path) == ("N007", WRAPS.format("x", 3, "ends", 3), "entry[0].to")
    assert note.hint == "write Expr.max(x, 3) for x."
    assert result(counts(n - 3))[1] == 99
    fixed = counts(Expr.max(n, 3) - 3)
    assert found(fixed) == []
    assert result(fixed)[1] == 1
    by_length = program(loop(Expr.buf_len("out") - 3))
    assert rules(by_length) == rules(by_length, lengths={"out": 2}) == ["N007"]
    assert rules(by_length, lengths={"out": 3}) == []


def test_wrong_arguments_are_told():
    of = program(Node.store("out", ID, ID))
    message = (
        "a name in argument `lengths` of Program.notes must be one of out, tile, mine, got 'outs' (str). "
        "Fix: write one of these (did you mean `out`?)."
    )
    with pytest.raises(vyre.ArgumentError) as error:
        of.notes(lengths={"outs": 1})
    assert str(error.value) == message
    with pytest.raises(vyre.ArgumentError, match=r"argument `workgroups` of Program\.notes"):
        of.notes(workgroups="4")
    with pytest.raises(vyre.ValidationError):
        Program(workgroup_size=(0, 1, 1)).notes()


@vyre.kernel
def shares(x: vyre.In[u32], total: InOut[u32], image: InOut[u32, 2]):
    i = vyre.gid(0)
    if i < len(x):
        total[x[i]] += 1
    image[vyre.gid(1), i] += 2
    if x[i] < 0:
        total[0] = 1


def test_the_command_shows_rules_and_notes(tmp_path):
    def check(of, *more):
        path = tmp_path / "program.txt"
        path.write_text(of.to_text())
        done = subprocess.run(
            [sys.executable, "-m", "vyre", "check", str(path), *more], capture_output=True, text=True, timeout=120
        )
        assert done.stderr == ""
        return done.returncode, done.stdout

    noted = program(bump("out", 0), size=(64, 1, 1))
    assert check(noted) == (0, f"{vyre.parse(noted.to_text()).notes()}\n")
    assert check(noted, "--workgroups", "1") == check(noted)
    fill = program(Node.store("out", ID, ID), size=(64, 1, 1))
    assert check(fill) == (0, "The program breaks no rule, and there is nothing to note.\n")
    call = ("--workgroups", "1", "--length", "out=100")
    message = "vyre IR note: 36 of 100 elements of `out` lie beyond the grid. Fix: use 2 workgroups."
    assert check(fill, *call) == (0, f"N004 at entry[0]: {message}\n  In Python: write workgroups=(2, 1, 1).\n")
    wrong = Program([OUT], (0, 1, 1), [])
    assert check(wrong) == (1, f"{vyre.validate(vyre.parse(wrong.to_text()))}\n")


def test_notes_about_a_kernel_mark_its_source():
    first = shares._function.__code__.co_firstlineno
    noted = shares.notes()
    assert [(each.rule, each.place.line - first, each.message) for each in noted] == [
        ("N005", 4, PLAIN.format("total")),
        ("N003", 6, BELOW_0),
    ]
    assert all(each.place.file == __file__ for each in noted)
    assert [each.hint for each in noted] == [
        "write total.atomic_add(index, value) instead of this statement.",
        "write vyre.i32(x) for the value x that is compared, which reads its bits as a signed number.",
    ]
    assert "\n    total[x[i]] += 1\n    ^" in str(noted[0]).replace("        ", "    ")
    assert [form.kind for form in told(noted._repr_html_())] == ["Diagnostics", "N005", "N003"]


def loop_of(bounds, before=""):
    """A kernel with a loop over range(bounds)."""
    head = "import vyre\nfrom vyre import u32\ndef k(p: vyre.In[u32], n: u32, out: vyre.Out[u32]):\n"
    text = f"{head}{before}    for k in range({bounds}):\n        out[k] = n + 1\n"
    return vyre.kernel(compile_source(text, f"<range {bounds}, {len(before)}>")["k"])


@pytest.mark.parametrize(
    ("bounds", "noted"),
    [
        ("n - 1", ("n", 1, "ends", 1)),
        ("1, len(p) - 2", ("len(p)", 2, "ends", 2)),
        ("end", ("x", 1, "ends", 1)),
        ("0, n - 1, 2", ("n", 1, "ends", 1)),
        ("p[0], n + p[0] - 3, 2", ("n + p[0]", 3, "ends", 3)),
        ("n - 1, 0, -1", ("n", 1, "begins", 1)),
        ("n - 3, p[0], -2", ("n", 3, "begins", 3)),
        # These begin at -1 where n is 0, which has no turns, as in Python.
        ("n - 1, -1, -1", None),
        ("n - 1, -1, -2", None),
        ("n - 2, -1, -1", ("n", 2, "begins", 1)),
        ("n - 3, -1, -3", ("n", 3, "begins", 2)),
        ("0, n, 2", None),
        ("n, 0, -1", None),
        ("n + 1", None),
        ("vyre.max(n, 1) - 1, 0, -1", None),
    ],
)
def test_a_bound_of_a_kernels_loop_is_noted_with_the_users_name_where_it_wraps(bounds, noted):
    kernel = loop_of(bounds, "    end = n - 1\n")
    assert [each.message for each in kernel.notes()] == ([] if noted is None else [WRAPS.format(*noted)])
    if noted is not None and bounds != "end":
        name, by, _, least = noted
        assert kernel.notes()[0].hint == f"write vyre.max({name}, {least}) for {name}."
        mended = bounds.replace(f"{name} - {by}", f"vyre.max({name}, {least}) - {by}")
        assert loop_of(mended).notes() == []
        assert loop_of(bounds, f"    if {name} < {least}:\n        return\n").notes() == []


@pytest.mark.parametrize(("bounds", "least"), [("n - 1, -1, -1", 0), ("n - 1, -1, -2", 0), ("n - 3, -1, -3", 2)])
def test_a_range_down_to_zero_counts_as_pythons(bounds, least):
    for n in range(least, 6):
        out = loop_of(bounds)(np.zeros(1, np.uint32), n, np.zeros(6, np.uint32), grid=1, backend="reference")
        assert out.tolist() == [(k in eval(f"range({bounds})")) * (n + 1) for k in range(6)]


def test_a_kernel_whose_loops_cannot_wrap_is_not_noted():
    @vyre.kernel
    def guarded(n: u32, out: Out[u32]):
        if n > 0:
            for k in range(n - 1):
                out[k] = n
        while n > 2:
            for k in range(n - 2):
                out[k] = n
        for k in range(vyre.max(n, 1) - 1):
            out[k] = n

    assert guarded.notes() == []


@vyre.kernel
def fills(x: vyre.In[u32], y: Out[u32]):
    i = vyre.gid(0)
    y[i] = x[i]


def test_a_call_of_a_kernel_tells_its_grid():
    x = np.zeros(1000, np.uint32)
    assert fills.notes() == fills.notes(x) == []
    message = "vyre IR note: 488 of 1000 elements of `y` lie beyond the grid. Fix: use 4 workgroups."
    for call in ({"grid": 500}, {"workgroups": 2}):
        (note,) = fills.notes(x, **call)
        assert (note.rule, note.message, note.hint) == ("N004", message, "write workgroups=(4, 1, 1).")
    assert fills.notes(x, workgroups=(4, 1, 1)) == []


def test_kernels_evaluate_nothing_anew():
    """The front end binds every load of memory that changes, and every atomic."""
    seen = 0
    for each in [*vars(kernels).values(), shares, fills]:
        if isinstance(each, vyre.Kernel) and not each._constants:
            seen += 1
            assert not {"N001", "N002"} & {note.rule for note in each.notes()}
    for seed in range(40):
        random_kernel = vyre.kernel(workgroup_size=64)(compile_source(Source(seed).text, f"<notes {seed}>")["k"])
        seen += 1
        assert not {"N001", "N002"} & {note.rule for note in random_kernel.notes()}, seed
    assert seen > 50


def test_notes_survive_text_and_bytes():
    noted = 0
    for seed in range(150):
        of = vyre.fuzz.generate(seed).program
        said = [(each.rule, each.place.path, each.message, each.hint) for each in of.notes()]
        assert said == [(each.rule, each.place.path, each.message, each.hint) for each in of.notes()]
        for again in (vyre.parse(of.to_text()), Program.from_bytes(of.to_bytes())):
            assert said == [(each.rule, each.place.path, each.message, each.hint) for each in again.notes()], seed
        noted += len(said)
    assert noted > 0


def test_notes_take_time_in_proportion():
    """100,000 nodes that share loads, nest loops and update one element."""

    def seconds(count):
        loads = [Expr.load("out", Expr.u32(k)) for k in range(50)]
        entry = []
        for k in range(count // 20):
            entry.append(Node.if_(ID == k, [Node.let("a", loads[k % 50] + loads[(k + 7) % 50]), bump("out", k % 50)]))
        of = program(*entry, size=(64, 1, 1))
        of.check()
        begin = time.process_time()
        of.notes()
        return time.process_time() - begin

    assert seconds(100_000) < 5


def test_long_chains_are_no_deeper_than_the_stack():
    chain = Expr.load("out", 0)
    for _ in range(49_000):
        chain = chain + 1
    assert rules(program(Node.store("out", 0, chain))) == ["N005"]


@pytest.mark.parametrize("row", _core._tables["notes"], ids=lambda row: row[0])
def test_notes_are_explained_with_an_example_that_runs(row):
    text = vyre.explain(row[0])
    assert text.startswith(f"{row[0]}: {row[1]}\n\nChecks: ")
    assert row[4].startswith("vyre IR note: ")
    example = doctest.DocTestParser().get_doctest(row[6], dict(vars(vyre)), row[0], None, 0)
    assert row[6] in text
    assert len(example.examples) >= 3
    assert doctest.DocTestRunner().run(example).failed == 0


BEYOND = (
    "vyre IR note: atomic on `count` runs in {} invocations beyond the grid. "
    "Fix: put it below a condition on the invocation id."
)
COUNT = BufferDecl.read_write("count", 0, DataType.U32)
SEEN = BufferDecl.workgroup("seen", 8, DataType.U32, atomic=True)
WORDS = BufferDecl.read("words", 1, DataType.U32)
SIZE = BufferDecl.uniform("size", 2, DataType.U32)


def counting(*entry, size=(256, 1, 1)):
    return Program([COUNT, SEEN, WORDS, SIZE], size, list(entry))


def fire(value, index=0, buffer="count", op=Expr.atomic_add):
    return Node.let("old", op(buffer, index, value))


def test_an_atomic_that_nothing_guards_is_noted_where_the_grid_is_not_whole_workgroups():
    of = counting(fire(1))
    assert found(of, invocations=1000) == [("N006", "entry[0].value", BEYOND.format(24))]
    hint = "write Node.if_(Expr.lt(Expr.invocation_id(0), 1000), [...]) around this statement."
    assert of.notes(invocations=1000)[0].hint == hint
    inputs = {"count": 1, "words": np.zeros(1, np.uint32), "size": 1}
    assert vyre.run(of, inputs, 4, backend="reference")["count"].tolist() == [1024]
    fixed = counting(Node.if_(Expr.lt(Expr.invocation_id(0), 1000), [fire(1)]))
    assert found(fixed, invocations=1000) == []
    assert vyre.run(fixed, inputs, 4, backend="reference")["count"].tolist() == [1000]
    for call in ({}, {"workgroups": 4}, {"invocations": 1024}, {"invocations": 1000, "workgroups": 3}):
        assert found(of, **call) == []
    plane = counting(fire(1), size=(16, 16, 1))
    (note,) = plane.notes(invocations=(30, 20))
    assert note.message == BEYOND.format(32 * 32 - 30 * 20)
    assert "Expr.logical_and(Expr.lt(Expr.invocation_id(0), 30), Expr.lt(Expr.invocation_id(1), 20))" in note.hint
    assert found(plane, invocations=(32, 16)) == []


WORD = Expr.load("words", ID)
STEPS = Expr.load("size", 0)


@pytest.mark.parametrize(
    ("entry", "is_noted"),
    [
        # What every invocation does, and what differs between them.
        ([fire(ID + 1)], True),
        ([fire(1, buffer="seen")], True),
        ([fire(STEPS)], True),
        ([fire(1, STEPS + 1)], True),
        ([fire(1, WORD & 255)], True),
        ([Node.let("w", WORD), fire(1, V("w") >> 3)], True),
        ([fire(1, WORD & 255, op=Expr.atomic_or)], True),
        ([Node.loop("k", 0, STEPS, [fire(1, V("k"))])], True),
        ([Node.if_(STEPS == 3, [fire(1)])], True),
        ([Node.if_(STEPS == 3, [Node.return_()]), fire(1)], True),
        # Loads beyond an array give zero, which adds nothing; atomics beyond one do nothing.
        ([fire(0)], False),
        ([fire(WORD)], False),
        ([fire(1, ID)], False),
        ([fire(1, ID + 5)], False),
        ([Node.let("w", WORD + ID), fire(1, V("w"))], False),
        ([fire(1, Expr.select(Expr.lt(ID, STEPS), ID, 2**32 - 1))], False),
        # The same word or flag again.
        ([fire(1, op=Expr.atomic_or)], False),
        ([fire(7, op=Expr.atomic_max)], False),
        ([Node.let("old", Expr.atomic_compare_exchange("count", 0, 0, 1))], False),
        # A condition that may leave the others out.
        ([Node.if_(Expr.lt(ID, STEPS), [fire(1)])], False),
        ([Node.if_(Expr.ge(ID, STEPS), [Node.return_()]), fire(1)], False),
        ([Node.if_(Expr.eq(L, 0), [fire(1)])], False),
        ([Node.if_(WORD, [fire(1)])], False),
        ([Node.let("w", Expr.gt(WORD, 5)), Node.if_(V("w"), [fire(1)])], False),
        ([Node.loop("k", 0, WORD, [fire(1)])], False),
        ([Node.loop("k", 0, 9, [Node.if_(Expr.lt(WORD, V("k")), [Node.break_()]), fire(1)])], False),
        ([Node.loop("k", 0, 9, [Node.if_(Expr.lt(WORD, V("k")), [Node.return_()])]), fire(1)], False),
    ],
)
def test_an_atomic_is_noted_where_invocations_beyond_the_grid_show(entry, is_noted):
    assert (rules(counting(*entry), invocations=1000) == ["N006"]) == is_noted
    assert rules(counting(*entry), invocations=1024) == []


def test_notes_of_equal_programs_stand_at_their_own_lines():
    one = counting(Node.let("old", Expr.atomic_add("count", 0, 1)))
    other = counting(Node.let("old", Expr.atomic_add("count", 0, 1)))
    assert one == other
    assert [of.notes(invocations=9)[0].place.line for of in (one, other)] == [
        test_notes_of_equal_programs_stand_at_their_own_lines.__code__.co_firstlineno + k for k in (1, 2)
    ]


WRONG_AT = np.full(1, 2**32 - 1, np.uint32)
