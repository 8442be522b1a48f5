"""vyre.bisect names the first value that differs: planted faults stand at known places."""

from __future__ import annotations

import re

import numpy as np
import pytest

import vyre
from conftest import message
from vyre import BufferDecl, DataType, Expr, Node, Program
from wrong_backends import BACKENDS, OutOfBoundsClamped, Rewriter, StoreUnderNestedIfs, rewriting
from wrong_calls import wrong_calls

U32 = DataType.U32


def changed(program: Program, pattern: str, replacement: str) -> Program:
    """The program with one thing of its text changed, wherever it stands."""
    text, count = re.subn(pattern, replacement, program.to_text())
    assert count, "the fault is not in the program"
    return vyre.parse(text)


def fault(pattern: str, replacement: str):
    def faulty(program, inputs, workgroups):
        return vyre.run(changed(program, pattern, replacement), inputs, workgroups, backend="reference")

    return faulty


def found(program, inputs, workgroups, pattern, replacement, **more):
    return vyre.bisect(program, inputs, workgroups, backend=fault(pattern, replacement), **more)


SUMS = """vyre 1
workgroup_size 4 1 1
buffer data: read u32 binding 0
buffer out: read_write u32 binding 1 output
buffer tile: workgroup u32 count 4

let x = data[gid.x]
let total = 0
tile[lid.x] = x
barrier
loop k in 0..4 {
  total = total + tile[k]
}
barrier
let far = mulhi(total, total) + ctz(x)
if far > 5 {
  out[gid.x] = far
} else {
  out[gid.x] = total ^ 1
}
"""


def sums() -> tuple[Program, dict]:
    data = np.array([1, 2, 3, 4, 70000, 2, 3, 5], np.uint32)
    return vyre.parse(SUMS), {"data": data, "out": np.zeros(8, np.uint32)}


def test_equal_outputs_are_none():
    program, inputs = sums()
    for backend in vyre.backends():
        assert vyre.bisect(program, inputs, 2, backend=backend) is None


def test_the_expression_the_invocation_and_both_values_are_named():
    program, inputs = sums()
    divergence = found(program, inputs, 2, "mulhi", "min")
    # In the first workgroup mulhi(10, 10) is 0 and min(10, 10) is 10.
    assert divergence.values == {"faulty": 10, "reference": 0}
    assert divergence.expression == "mulhi(total, total)"
    assert divergence.statement == "let far = mulhi(total, total) + ctz(x)"
    assert divergence.place.path == "entry[6].value.left"
    assert (divergence.invocation, divergence.workgroup, divergence.local) == ((0, 0, 0), (0, 0, 0), (0, 0, 0))
    assert divergence.phase == 2
    assert divergence.type == U32
    assert divergence.output == vyre.OutputDifference("out", 0, {"faulty": 10, "reference": 11})


def test_a_difference_that_only_one_invocation_has_is_found_there():
    program, inputs = sums()
    divergence = found(program, inputs, 2, r"ctz\((\w+)\)", r"ctz(\1 | 262144)")
    assert divergence is None  # no input has so many zeros
    inputs["data"][6] = 1 << 20
    divergence = found(program, inputs, 2, r"ctz\((\w+)\)", r"ctz(\1 | 262144)")
    assert divergence.invocation == (6, 0, 0)
    assert (divergence.workgroup, divergence.local) == ((1, 0, 0), (2, 0, 0))
    assert divergence.values == {"faulty": 18, "reference": 20}
    assert divergence.expression == "ctz(x)"


def test_what_comes_before_a_barrier_is_first_whichever_invocation_meets_it():
    """Invocation 0 uses in phase 1 what invocation 3 computed wrongly in phase 0."""
    program = vyre.parse(
        """vyre 1
workgroup_size 4 1 1
buffer out: read_write u32 binding 0 output
buffer tile: workgroup u32 count 4

tile[lid.x] = popcount(lid.x)
barrier
out[gid.x] = tile[3 - lid.x]
"""
    )
    divergence = found(program, {"out": 4}, 1, r"popcount\(([\w.]+)\)", r"min(\1, 2)")
    assert divergence.output.index == 1
    assert divergence.output.values == {"faulty": 2, "reference": 1}
    assert divergence.phase == 0
    assert divergence.local == (2, 0, 0)
    assert divergence.values == {"faulty": 2, "reference": 1}


def test_turns_of_loops_are_counted():
    program = vyre.parse(
        """vyre 1
workgroup_size 1 1 1
buffer out: read_write u32 binding 0 output

let x = 1
loop k in 0..100 {
  x = (x * 3) ^ rotl(k, 7)
}
out[0] = x
"""
    )
    # rotl(k, 7) and k * 128 are the same for every k below 2^25; k * 128 + (k > 41) is not.
    divergence = found(program, {"out": 1}, 1, r"rotl\((\w+), 7\)", r"((\1 * 128) + (\1 > 41))")
    assert divergence.values == {"faulty": 42 * 128 + 1, "reference": 42 * 128}
    assert divergence.expression == "rotl(k, 7)"


@pytest.mark.parametrize(
    ("kind", "right", "wrong", "values", "shown"),
    [
        ("i32", np.array([-6], np.int32), np.array([-5], np.int32), (-5, -6), "-5"),
        ("bool", np.array([False]), np.array([True]), (1, 0), "1 (0x1)"),
        (
            "u64",
            np.array([2**40], np.uint64),
            np.array([2**40 + 2**33], np.uint64),
            (2**40 + 2**33, 2**40),
            "1108101562368 (0x10200000000)",
        ),
        (
            "vec2<u32>",
            np.array([[1, 2]], np.uint32),
            np.array([[1, 3]], np.uint32),
            ((1, 3), (1, 2)),
            "(1 (0x1), 3 (0x3))",
        ),
        (
            "vec4<u32>",
            np.array([[1, 2, 3, 4]], np.uint32),
            np.array([[1, 2, 9, 8]], np.uint32),
            ((1, 2, 9, 8), (1, 2, 3, 4)),
            "(1 (0x1), 2 (0x2), 9 (0x9), 8 (0x8))",
        ),
    ],
)
def test_values_are_told_whole_and_in_their_type(kind, right, wrong, values, shown):
    sums = {"i32": "cast(u32, x)", "bool": "cast(u32, x)", "vec4<u32>": "lane(x, 2)"}
    program = vyre.parse(
        f"""vyre 1
workgroup_size 1 1 1
buffer data: read {kind} binding 0
buffer out: read_write u32 binding 1 output

let x = data[0]
out[0] = {sums.get(kind, "lane(x, 1)")}
"""
    )

    def faulty(program, inputs, workgroups):
        return vyre.run(program, {**inputs, "data": wrong}, workgroups, backend="reference")

    divergence = vyre.bisect(program, {"data": right, "out": 1}, 1, backend=faulty)
    assert (divergence.values["faulty"], divergence.values["reference"]) == values
    assert divergence.expression == "data[0]"
    assert divergence.type.name == {"vec2<u32>": "Vec2U32", "vec4<u32>": "Vec4U32"}.get(kind, kind.title())
    assert f"faulty      {shown}\n" in str(divergence)


def test_the_python_line_is_named():
    x = Expr.var("x")
    wrong_here = Node.let("x", vyre.popcount(Expr.gid_x()))  # this line
    program = Program([BufferDecl.output("out", 0, U32)], (2, 1, 1), [wrong_here, Node.store("out", Expr.gid_x(), x)])
    divergence = found(program, {"out": 2}, 1, "popcount", "clz")
    assert divergence.place.file == __file__
    assert divergence.place.line == test_the_python_line_is_named.__code__.co_firstlineno + 2
    assert f"({__file__}:{divergence.place.line})" in str(divergence)


def test_each_invocation_of_a_grid_in_three_dimensions_has_its_own_number():
    program = vyre.parse(
        """vyre 1
workgroup_size 2 3 2
buffer out: read_write u32 binding 0 output

let row = (gid.z * 9) + gid.y
out[(row * 4) + gid.x] = popcount((gid.x + (gid.y * 16)) + (gid.z * 256))
"""
    )
    target = 3 + 7 * 16 + 3 * 256
    divergence = found(
        program, {"out": 4 * 9 * 4}, (2, 3, 2), r"popcount\(([^\n]+)\)\n", rf"(popcount(\1) + ((\1) == {target}))\n"
    )
    assert divergence.invocation == (3, 7, 3)
    assert divergence.workgroup == (1, 2, 1)
    assert divergence.local == (1, 1, 1)
    assert divergence.values == {"faulty": 8, "reference": 7}


def test_a_wrong_turn_is_found_where_only_stores_can_be_recorded():
    """This backend is right as soon as conditions are recorded, so all there is to see is a missing store."""
    program = vyre.parse(
        """vyre 1
workgroup_size 4 1 1
buffer out: read_write u32 binding 0 output

if popcount(gid.x) == 1 {
  out[gid.x] = 5
}
"""
    )

    def shy(program, inputs, workgroups):
        if "__trace_taken2" not in program.to_text():
            program = changed(program, "popcount", "clz")
        return vyre.run(program, inputs, workgroups, backend="reference")

    divergence = vyre.bisect(program, {"out": 4}, 1, backend=shy)
    assert divergence.values == {"shy": None, "reference": 1}
    assert divergence.invocation == (1, 0, 0)
    assert divergence.place.path == "entry[0].then[0].index"
    assert "shy         never computed: this backend took another path\n" in str(divergence)


def test_a_difference_that_recording_hides_is_said_so():
    program, inputs = sums()

    def shy(program, inputs, workgroups):
        outputs = vyre.run(program, inputs, workgroups, backend="reference")
        if len(program.buffers) == 3:
            outputs["out"][3] ^= 1
        return outputs

    divergence = vyre.bisect(program, inputs, 2, backend=shy)
    assert divergence.place is None
    assert divergence.values == {}
    assert str(divergence) == (
        f"shy and reference differ at out[3]: shy {int(divergence.output.values['shy'])}, "
        f"reference {int(divergence.output.values['reference'])}, and agree once values are recorded. "
        "Fix: report the program with its text."
    )


def test_what_differs_without_any_store_is_not_said_to_agree():
    """The fourth element of every result comes back wrong, also while values are recorded."""
    program, inputs = sums()

    def forgetful(program, inputs, workgroups):
        outputs = vyre.run(program, inputs, workgroups, backend="reference")
        outputs["out"][3] = 1 << 30
        return outputs

    divergence = vyre.bisect(program, inputs, 2, backend=forgetful)
    assert divergence.place is None
    assert str(divergence) == (
        "forgetful and reference differ at out[3]: forgetful 1073741824, reference 11, and still differ at "
        "out[3]: forgetful 1073741824, reference 11 while every recorded value agrees. Fix: see the note.\n"
        "Note: the outputs differ also while no store and no atomic does anything."
    )


def test_a_record_that_is_all_lost_of_a_program_without_values_is_no_divergence():
    program = vyre.parse("vyre 1\nworkgroup_size 2 1 1\nbuffer out: read_write u32 binding 0\n\nif 1 {\n  barrier\n}\n")

    def zeroing(program, inputs, workgroups):
        return {name: array * 0 for name, array in vyre.run(program, inputs, workgroups, backend="reference").items()}

    divergence = vyre.bisect(program, {"out": u32s(0, 5)}, 1, backend=zeroing)
    assert divergence.place is None
    assert divergence.unlocated == "still differ at out[1]: zeroing 0, reference 5 while every recorded value agrees"


OUT = """vyre 1
workgroup_size 4 1 1
buffer out: read_write u32 binding 0 output
"""
COUNTED = f"""{OUT}buffer count: read_write u32 binding 1

let mine = %s
out[gid.x] = gid.x
"""


def u32s(*values):
    return np.array(values, np.uint32)


# Name of a wrong backend -> a program that shows the fault, its inputs beside out, and of the Divergence: expression,
# statement, path, x of the invocation, barriers passed, the wrong value and the right one.
LOCATED = {
    "shift_by_31": (
        OUT + "\nlet n = gid.x + 28\nout[gid.x] = (5 << n) + 1\n",
        {},
        ("5 << n", "out[gid.x] = (5 << n) + 1", "entry[1].value.left", 3, 0, 0, 1 << 31),
    ),
    "sign_of_remainder": (
        OUT + "buffer a: read i32 binding 1\n\nout[gid.x] = cast(u32, smod(a[gid.x], 3i32))\n",
        {"a": np.array([7, 6, -7, -6], np.int32)},
        (
            "smod(a[gid.x], 3i32)",
            "out[gid.x] = cast(u32, smod(a[gid.x], 3i32))",
            "entry[0].value.value",
            2,
            0,
            2,
            -1,
        ),
    ),
    "min_max_of_large_values": (
        OUT + "buffer a: read u32 binding 1\n\nlet most = max(a[gid.x], 9)\nout[gid.x] = most\n",
        {"a": u32s(7, 70, 1 << 31, 6)},
        ("max(a[gid.x], 9)", "let most = max(a[gid.x], 9)", "entry[0].value", 2, 0, 9, 1 << 31),
    ),
    # The first barrier orders what the tile holds when it is read.
    "first_barrier_missing": (
        OUT
        + "buffer tile: workgroup u32 count 4\n\ntile[lid.x] = gid.x + 1\nbarrier\n"
        + "let other = tile[lid.x ^ 1]\nbarrier\nout[gid.x] = other * 2\n",
        {},
        ("tile[lid.x ^ 1]", "let other = tile[lid.x ^ 1]", "entry[2].value", 1, 1, 0, 1),
    ),
    "out_of_bounds_clamped": (
        OUT + "buffer a: read u32 binding 1\n\nout[gid.x] = 5 + a[gid.x]\n",
        {"a": u32s(7, 70, 9)},
        ("a[gid.x]", "out[gid.x] = 5 + a[gid.x]", "entry[0].value.right", 3, 0, 9, 0),
    ),
    "clz_of_zero": (
        OUT + "\nlet bits = clz(gid.x / 2)\nout[gid.x] = bits\n",
        {},
        ("clz(gid.x / 2)", "let bits = clz(gid.x / 2)", "entry[0].value", 0, 0, 31, 32),
    ),
    # Recording evaluates the arms one by one, and so hides the fault: only the effects show it.
    "lazy_select": (
        COUNTED % "select(gid.x < 2, atomic_add(count, 0, 1), 7)",
        {"count": 1},
        (
            "count[0], after the atomic",
            "let mine = select(gid.x < 2, atomic_add(count, 0, 1), 7)",
            "entry[0].value.if_true",
            2,
            0,
            2,
            3,
        ),
    ),
    "store_under_nested_ifs": (
        OUT + "\nif gid.x > 0 {\n  out[gid.x] = 1\n  if gid.x != 2 {\n    out[gid.x] = 9\n  }\n}\n",
        {},
        ("out[gid.x], after the store", "out[gid.x] = 9", "entry[0].then[1].then[0]", 1, 0, 1, 9),
    ),
    "empty_loops_run_once": (
        OUT + "\nlet sum = 1\nloop k in 2..gid.x {\n  sum = sum + k\n}\nout[gid.x] = sum\n",
        {},
        ("k, at the start of a turn", "loop k in 2..gid.x", "entry[1]", 0, 0, 2, None),
    ),
    "u64_carry_lost": (
        "vyre 1\nworkgroup_size 4 1 1\nbuffer out: read_write u64 binding 0 output\nbuffer a: read u64 binding 1\n\n"
        + 'out[gid.x] = call("primitive.u64.add", a[gid.x], 3u64)\n',
        {"a": np.array([1, 2**32 - 4, 2**32 - 3, 5], np.uint64)},
        (
            'call("primitive.u64.add", a[gid.x], 3u64)',
            'out[gid.x] = call("primitive.u64.add", a[gid.x], 3u64)',
            "entry[0].value",
            2,
            0,
            0,
            1 << 32,
        ),
    ),
    "bool_not_canonical": (
        OUT + "buffer a: read bool binding 1\n\nlet some = cast(u32, a[gid.x])\nout[gid.x] = some\n",
        {"a": u32s(0, 1, 2, 3)},
        ("a[gid.x]", "let some = cast(u32, a[gid.x])", "entry[0].value.value", 2, 0, 2, 1),
    ),
}


def where(divergence, wrong):
    """The fields of a Divergence that LOCATED lists."""
    x, y, z = divergence.invocation
    assert (y, z) == (0, 0)
    return (
        divergence.expression,
        divergence.statement,
        divergence.place.path,
        x,
        divergence.phase,
        divergence.values[wrong],
        divergence.values["reference"],
    )


@pytest.mark.parametrize("name", LOCATED)
def test_a_fault_is_located(name):
    text, inputs, wanted = LOCATED[name]
    divergence = vyre.bisect(vyre.parse(text), {"out": 4, **inputs}, 1, backend=BACKENDS[name])
    assert where(divergence, name) == wanted
    assert divergence.note == divergence.unlocated == ""


def test_a_uniform_read_as_the_call_before_left_it_is_located():
    """The same call again is right, so each call is made after one with other words in the arrays."""
    program = vyre.parse(OUT + "buffer params: uniform u32 binding 1\n\nout[gid.x] = gid.x + params[1]\n")
    stale = BACKENDS["stale_uniforms"]
    stale(program, {"out": 4, "params": u32s(8, 9)}, 1)
    divergence = vyre.bisect(program, {"out": 4, "params": u32s(1, 2)}, 1, backend=stale)
    assert divergence.output.values == {"stale_uniforms": 9, "reference": 2}
    assert where(divergence, "stale_uniforms") == (
        "params[1]",
        "out[gid.x] = gid.x + params[1]",
        "entry[0].value.right",
        0,
        0,
        0xFFFFFFFF - 2,
        2,
    )
    assert divergence.note == (
        "they differ only after a call with other inputs, and agree when the same call is made again: "
        "one of them keeps something from the call before."
    )


def test_every_wrong_backend_is_located():
    assert set(LOCATED) | {"stale_uniforms"} == set(BACKENDS)


def with_fault(rewriter, schedule=None):
    def wrong(program, inputs, workgroups):
        return rewriting(rewriter, program, inputs, workgroups, schedule=schedule)

    return wrong


def test_a_store_to_another_element_is_located():
    class Neighbour(Rewriter):
        def store(self, buffer, index, value):
            super().store(buffer, self.let(f"{index} ^ 1", "U32") if buffer == "out" else index, value)

    program = vyre.parse(OUT + "\nout[gid.x] = gid.x * 3\n")
    divergence = vyre.bisect(program, {"out": 4}, 1, backend=with_fault(Neighbour))
    # Invocation 0 stores 0 into an element that is 0.
    assert str(divergence) == (
        """wrong and reference first differ in invocation (1, 0, 0) of workgroup (0, 0, 0), after 0 barriers:
  at          entry[0]
  statement   out[gid.x] = gid.x * 3
  expression  out[gid.x], after the store
  wrong       0 (0x0)
  reference   3 (0x3)
  output      out[0]: wrong 3, reference 0"""
    )


class Lost(Rewriter):
    """Atomics of one invocation do nothing."""

    def atomic(self, number, op, buffer, operands):
        *others, value = operands
        return super().atomic(number, op, buffer, [*others, f"select(gid.x == 2, 0, {value})"])


def test_a_lost_atomic_is_located_where_it_happens_and_not_where_it_shows():
    body = "\nlet mine = atomic_add(out, 3 - gid.x, 5)\nbarrier\nlet seen = out[gid.x]\nout[gid.x] = seen + 1\n"
    divergence = vyre.bisect(vyre.parse(OUT + body), {"out": 4}, 1, backend=with_fault(Lost))
    assert where(divergence, "wrong") == (
        "out[1], after the atomic",
        "let mine = atomic_add(out, 3 - gid.x, 5)",
        "entry[0].value",
        2,
        0,
        0,
        5,
    )


@pytest.mark.parametrize("schedule", ["in-order", "reversed", "random:5"])
def test_a_lost_atomic_is_located_though_its_values_depend_on_the_order(schedule):
    program = vyre.parse(COUNTED % "atomic_add(count, 0, 1)")
    divergence = vyre.bisect(program, {"out": 4, "count": 1}, 1, backend=with_fault(Lost, schedule))
    assert divergence.output == vyre.OutputDifference("count", 0, {"wrong": 3, "reference": 4})
    assert where(divergence, "wrong") == (
        "count[0], after the atomic",
        "let mine = atomic_add(count, 0, 1)",
        "entry[0].value",
        2,
        0,
        2,
        3,
    )
    assert divergence.note == ""


@pytest.mark.parametrize(
    ("atomic", "others", "data"),
    [
        ("atomic_add(data, 0, %s)", 5, 0),
        ("atomic_and(data, 0, %s)", 5, 15),
        ("atomic_or(data, 0, %s)", 5, 0),
        ("atomic_xor(data, 0, %s)", 5, 0),
        ("atomic_min(data, 0, %s)", 9, 15),
        ("atomic_max(data, 0, %s)", 5, 0),
        ("atomic_exchange(data, gid.x / 3, %s)", 5, 0),
        ("atomic_compare_exchange(data, gid.x, 12, %s)", 5, 12),
    ],
)
def test_an_atomic_of_each_kind_is_located_where_only_its_effect_shows(atomic, others, data):
    class EightForSeven(Rewriter):
        """Right where an atomic is all that a statement evaluates, as it is when values are recorded."""

        def begin_statement(self, roots, order, values):
            self.alone = len(roots) == 1 and self.exprs[roots[0]].kind.startswith("Atomic ")

        def atomic(self, number, op, buffer, operands):
            *first, value = operands
            wrong = f"select({value} == 7, 8, {value})"
            return super().atomic(number, op, buffer, operands if self.alone else [*first, wrong])

    shown = atomic % f"select(gid.x == 3, 7, {others})"
    program = vyre.parse(f"{OUT}buffer data: read_write u32 binding 1\n\nout[gid.x] = 0 & {shown}\n")
    divergence = vyre.bisect(program, {"out": 4, "data": u32s(*[data] * 4)}, 1, backend=with_fault(EightForSeven))
    assert divergence.invocation == (3, 0, 0)
    assert divergence.place.path == "entry[0].value.right"
    assert divergence.expression == f"data[{divergence.output.index}], after the atomic"
    assert divergence.values == divergence.output.values


def test_a_wrong_operand_of_an_atomic_is_located():
    program = vyre.parse(COUNTED % "atomic_add(count, 0, min(gid.x, (gid.x & 2) << 30))")
    name = "min_max_of_large_values"
    divergence = vyre.bisect(program, {"out": 4, "count": 1}, 1, backend=BACKENDS[name])
    assert where(divergence, name) == (
        "min(gid.x, (gid.x & 2) << 30)",
        "let mine = atomic_add(count, 0, min(gid.x, (gid.x & 2) << 30))",
        "entry[0].value.value",
        2,
        0,
        1 << 31,
        2,
    )


OUTSIDE = OUT + "\nif gid.x < 3 {\n  out[gid.x + 2] = gid.x + 7\n}\n"


def test_a_store_out_of_bounds_that_has_an_effect_is_located():
    name = "out_of_bounds_clamped"
    divergence = vyre.bisect(vyre.parse(OUTSIDE), {"out": 4}, 1, backend=BACKENDS[name])
    assert where(divergence, name) == (
        "out[gid.x + 2], after the store",
        "out[gid.x + 2] = gid.x + 7",
        "entry[0].then[0]",
        2,
        0,
        9,
        0,
    )


def test_a_store_that_changes_another_element_too_is_located_though_its_own_is_right():
    class StoresClamped(OutOfBoundsClamped):
        loads = False

    divergence = vyre.bisect(vyre.parse(OUTSIDE), {"out": 4}, 1, backend=with_fault(StoresClamped))
    # Invocation 1 stored 8 there.
    assert where(divergence, "wrong") == (
        "out[3], after the store",
        "out[gid.x + 2] = gid.x + 7",
        "entry[0].then[0]",
        2,
        0,
        9,
        8,
    )


@pytest.mark.parametrize("swapped", [False, True])
def test_a_fault_that_takes_the_record_with_it_is_located(swapped):
    """The return is under two Ifs, and the stores of the record before it are dropped as well."""
    body = "\nif gid.x > 0 {\n  out[gid.x] = 1\n  if gid.x != 2 {\n    out[gid.x] = 9\n    return\n  }\n}\n"
    name = "store_under_nested_ifs"
    ways = {"backend": BACKENDS[name], "against": "reference"}
    if swapped:
        ways = dict(zip(ways, reversed(ways.values()), strict=True))
    divergence = vyre.bisect(vyre.parse(OUT + body), {"out": 4}, 1, **ways)
    assert where(divergence, name) == (
        "out[1], after the store",
        "out[gid.x] = 9",
        "entry[0].then[1].then[0]",
        1,
        0,
        1,
        9,
    )


def test_a_difference_that_does_not_come_again_is_said_so():
    program, inputs = sums()
    calls = []

    def once(program, inputs, workgroups):
        calls.append(program)
        outputs = vyre.run(program, inputs, workgroups, backend="reference")
        outputs["out"][2] += len(calls) == 1
        return outputs

    assert str(vyre.bisect(program, inputs, 2, backend=once)) == (
        "once and reference differ at out[2]: once 12, reference 11, and agree once values are recorded. "
        "Fix: see the note.\n"
        "Note: they agree when the same call is made again, also after calls with other inputs."
    )


@pytest.mark.parametrize(
    ("element", "value", "wrong", "right", "shown"),
    [
        ("i32", "-5i32", 0, -5, "out[1]"),
        ("u64", "8589934595u64", 0, 8589934595, "out[1]"),
        ("bool", "true", 0, 1, "out[1]"),
        ("vec2<u32>", "pack(vec2<u32>, 0, 6)", 0, 6, "out[1] (lane 1)"),
    ],
)
def test_an_element_of_each_type_is_told_where_only_the_effect_shows(element, value, wrong, right, shown):
    body = f"\nif gid.x == 1 {{\n  if gid.x != 2 {{\n    out[gid.x] = {value}\n    return\n  }}\n}}\n"
    program = vyre.parse(OUT.replace("out: read_write u32", f"out: read_write {element}") + body)
    # The record of the one invocation is lost with the store.
    dropped = with_fault(StoreUnderNestedIfs)
    divergence = vyre.bisect(program, {"out": 4}, 1, backend=dropped)
    assert divergence.values == {"wrong": wrong, "reference": right}
    assert divergence.expression == f"{shown}, after the store"


RACE = (
    "the program has a race: two invocations access `out`[0], and nothing orders them. Either backend may be right. "
    'Fix: vyre.check(program, inputs, workgroups, checks="race") names the statements.'
)


@pytest.mark.parametrize("schedule", ["reversed", "random:3"])
@pytest.mark.parametrize(
    "body",
    [
        "out[0] = gid.x\n",  # a race of stores
        "let old = out[3 - gid.x]\nout[gid.x] = old + 1\n",  # of loads and stores
        "if atomic_add(out, 0, 1) == 2 {\n  let x = gid.x\n  loop k in 0..x {\n    out[3] = k + 10\n  }\n}\n",
        "out[gid.x + 1] = atomic_add(out, 0, 1)\n",
    ],
)
def test_nothing_is_located_where_the_order_alone_decides(body, schedule):
    program = vyre.parse(f"{OUT}\n{body}")
    ways = {"backend": "reference", "schedule": schedule}, {"backend": "reference", "schedule": "in-order"}
    divergence = vyre.bisect(program, {"out": 4}, 1, backend=ways[0], against=ways[1])
    assert divergence.place is None
    assert divergence.unlocated == "agree in all that does not depend on the order of invocations"
    assert divergence.note.startswith("the reference itself gives out[")


def test_a_race_is_noted_where_the_outputs_do_not_show_it():
    """The reference stores the same value last in each order, and this backend the other one of those that race."""
    program = vyre.parse(OUT + "\nout[0] = select(gid.x == 1, 4, 7)\n")

    def early(program, inputs, workgroups):
        outputs = vyre.run(program, inputs, workgroups, backend="reference")
        outputs["out"][0] = 4
        return outputs

    divergence = vyre.bisect(program, {"out": 4}, 1, backend=early)
    assert divergence.output.values == {"early": 4, "reference": 7}
    assert divergence.note.endswith(RACE)


COUNTS = """vyre 1
workgroup_size 8 1 1
buffer out: read_write u32 binding 0 output
buffer count: read_write u32 binding 1

let mine = atomic_add(count, 0, 1)
let bits = popcount(gid.x)
let twice = mine * 2
out[gid.x] = bits
"""


def test_what_atomics_give_in_another_order_is_no_divergence():
    """On one of them the order is another; what is wrong is popcount."""
    program = vyre.parse(COUNTS)

    def reversed_and_wrong(program, inputs, workgroups):
        broken = changed(program, "popcount", "clz")
        return vyre.run(broken, inputs, workgroups, backend="reference", schedule="reversed")

    divergence = vyre.bisect(program, {"out": 8, "count": 1}, 1, backend=reversed_and_wrong)
    assert divergence.expression == "popcount(gid.x)"
    assert divergence.note == ""


def test_outputs_that_depend_on_the_order_are_noted():
    program = vyre.parse(COUNTS.replace("out[gid.x] = bits", "out[gid.x] = bits + mine"))
    schedules = [{"backend": "reference", "schedule": schedule} for schedule in ("in-order", "reversed")]
    divergence = vyre.bisect(program, {"out": 8, "count": 1}, 1, backend=schedules[1], against=schedules[0])
    assert divergence.note == (
        "the reference itself gives out[0]: in-order 0, reversed 7: the outputs depend on the order of invocations. "
        "Fix: vyre.check(program, inputs, workgroups) finds the race, or the atomic whose result is used."
    )
    assert str(divergence).endswith(f"\nNote: {divergence.note}")


def test_the_optimiser_can_be_compared_with_itself_left_out():
    program, inputs = sums()
    on, off = {"backend": "cpu", "optimize": True}, {"backend": "cpu", "optimize": False}
    assert vyre.bisect(program, inputs, 2, backend=on, against=off) is None


def test_names_of_the_program_are_never_taken():
    program = vyre.parse(
        """vyre 1
workgroup_size 1 1 1
buffer __trace_record: read_write u32 binding 1 output

let __trace_step = popcount(5)
__trace_record[0] = __trace_step
"""
    )
    divergence = found(program, {"__trace_record": 1}, 1, "popcount", "clz")
    assert divergence.expression == "popcount(5)"
    assert divergence.values == {"faulty": 29, "reference": 2}


def test_a_kernel_takes_its_arguments_by_name():
    @vyre.kernel
    def scaled(x: vyre.In[U32], k: U32, n: vyre.const, y: vyre.Out[U32]):
        y[vyre.gid(0)] = vyre.popcount(x[vyre.gid(0)]) * k + n

    inputs = {"x": np.arange(1, 9, dtype=np.uint32), "k": 5, "n": 2}
    assert vyre.bisect(scaled, inputs, backend="cpu") is None
    divergence = vyre.bisect(scaled, inputs, backend=fault("popcount", "clz"))
    assert (divergence.values, divergence.place.file) == ({"faulty": 31, "reference": 1}, __file__)


def test_likely_mistakes():
    program, inputs = sums()
    with pytest.raises(vyre.ArgumentError):
        vyre.bisect(program, inputs, 2, backend="nonsense")
    with pytest.raises(vyre.BindingError):
        vyre.bisect(program, {}, 2)


DOUBLE = vyre.parse(
    "vyre 1\nworkgroup_size 64 1 1\nbuffer x: read u32 binding 0\nbuffer out: read_write u32 binding 1 output\n\n"
    "out[gid.x] = x[gid.x] * 2\n"
)
TEN = {"x": np.arange(10, dtype=np.uint32), "out": 10}
WANTED = (
    "the function `model` in argument `backend` of vyre.%s must give buffer `out` as uint32 with shape (10,), got %s. "
)
WANTED += "Fix: return what vyre.run gives for the program that the function gets."

# A function's answer for 2 * x, and how the message describes it.
WRONG_KINDS = {
    "too short": (lambda x: {"out": (x * 2)[:4]}, "uint32 with shape (4,)"),
    "floats": (lambda x: {"out": x * 2.0}, "float64 with shape (10,)"),
    "signed": (lambda x: {"out": (x * 2).astype(np.int32)}, "int32 with shape (10,)"),
    "other bytes": (lambda x: {"out": (x * 2).astype(">u4")}, ">u4 with shape (10,)"),
    "two axes": (lambda x: {"out": (x * 2).reshape(2, 5)}, "uint32 with shape (2, 5)"),
    "a list": (lambda _: {"out": [1, 2]}, "an object of type list"),
    "masked": (lambda x: {"out": np.ma.masked_array(x * 2)}, "an object of type MaskedArray"),
    "another name": (lambda x: {"oot": x * 2}, "none of this name, but 'oot'"),
    "nothing": (lambda _: {}, "an empty dict"),
}


@pytest.mark.parametrize("call", ["bisect", "repeat"])
@pytest.mark.parametrize("name", WRONG_KINDS)
def test_what_a_function_answers_must_be_what_a_run_gives(name, call):
    answer, came = WRONG_KINDS[name]

    def model(program, inputs, workgroups):
        return answer(inputs["x"])

    assert message(lambda: getattr(vyre, call)(DOUBLE, TEN, 1, backend=model), vyre.ArgumentError) == (
        WANTED % (call, came)
    )


@pytest.mark.parametrize("call", ["bisect", "repeat"])
def test_what_is_no_dict_is_refused(call):
    assert message(lambda: getattr(vyre, call)(DOUBLE, TEN, 1, backend=lambda *_: 3), vyre.ArgumentError) == (
        f"the function `<lambda>` in argument `backend` of vyre.{call} must give a dict of name -> array, "
        "got an object of type int. Fix: return what vyre.run gave."
    )


def always(program, inputs, workgroups):
    return {"out": np.arange(10, dtype=np.uint32) * 3}


def numpy_model(program, inputs, workgroups):
    return {"out": inputs["x"] * 3}


def closure(program, inputs, workgroups):
    return vyre.run(DOUBLE, {**inputs, "x": TEN["x"] + 1}, workgroups)


@pytest.mark.parametrize(
    ("call", "function", "writes", "did"),
    [
        ("bisect", always, "`out`, `__trace_record`", "gave no buffer `__trace_record`"),
        ("bisect", numpy_model, "`out`, `__trace_record`", "gave no buffer `__trace_record`"),
        ("bisect", closure, "`out`, `__trace_record`", "raised BindingError"),
        ("repeat", always, "`dirt`", "gave no buffer `dirt`"),
        ("repeat", numpy_model, "`dirt`", "raised KeyError"),
        ("repeat", closure, "`dirt`", "raised BindingError"),
    ],
)
def test_a_function_must_run_the_program_that_it_gets(call, function, writes, did):
    with pytest.raises(vyre.ArgumentError) as error:
        getattr(vyre, call)(DOUBLE, TEN, 1, backend=function)
    participle = {"bisect": "bisected", "repeat": "repeated"}[call]
    assert str(error.value) == (
        f"the function `{function.__name__}` in argument `backend` of vyre.{call} must run the program that it gets, "
        f"which is not always the one that vyre.{call} was called with; for one that writes to {writes} it {did}. "
        f"A numpy model, which runs no program, cannot be {participle}. Fix: call vyre.run(program, inputs, "
        "workgroups) with the function's own arguments, or compare the outputs of a model with np.array_equal."
    )

    # The Fix, applied.
    def mended(program, inputs, workgroups):
        return vyre.run(program, inputs, workgroups)

    given = getattr(vyre, call)(DOUBLE, TEN, 1, backend=mended)
    assert given is None or given.ok


def test_an_error_of_the_run_itself_comes_through():
    def late(program, inputs, workgroups):
        if program is not DOUBLE:
            raise vyre.DispatchTimeoutError("a call took too long. Fix: wait.")
        return {"out": inputs["x"]}

    with pytest.raises(vyre.DispatchTimeoutError):
        vyre.bisect(DOUBLE, TEN, 1, backend=late)


def test_a_function_may_write_to_its_inputs_and_keep_what_it_gave():
    kept = np.zeros(10, np.uint32)

    def spoiling(program, inputs, workgroups):
        outputs = vyre.run(program, inputs, workgroups, backend="reference")
        inputs["x"][:] = 7
        kept[:] = outputs["out"]
        return {**outputs, "out": kept}

    inputs = {"x": np.arange(10, dtype=np.uint32), "out": 10}
    assert vyre.bisect(DOUBLE, inputs, 1, backend=spoiling, against=spoiling) is None
    assert inputs["x"].tolist() == list(range(10))


@pytest.mark.parametrize("of_record", [0, 3], ids=["hash", "written"])
@pytest.mark.parametrize("times", range(1, 12))
def test_a_way_that_is_wrong_in_its_first_calls_alone_ends_the_search(times, of_record):
    calls = []

    def wrong(program, inputs, workgroups):
        calls.append(program)
        outputs = vyre.run(program, inputs, workgroups, backend="reference")
        if len(calls) <= times:
            for name, array in outputs.items():
                array[slice(None) if name == "out" else slice(of_record, None, 4)] ^= 1
        return outputs

    divergence = vyre.bisect(DOUBLE, TEN, 1, backend=wrong)
    assert divergence.output == vyre.OutputDifference("out", 0, {"wrong": 1, "reference": 0})
    assert len(calls) < 1_000
    # With more wrong calls a place is found, of a fault that was there then.
    if times < 4:
        assert divergence.place is None
        assert "agree" in divergence.unlocated
    if times == 3:
        assert str(divergence) == (
            "wrong and reference differ at out[0]: wrong 1, reference 0, and agree when the same call is made again. "
            "Fix: see the note.\n"
            "Note: one of them gives other bytes from call to call. "
            "Fix: vyre.repeat(program, inputs, workgroups, backend=...) of each shows which one."
        )


@pytest.mark.parametrize("seed", range(40))
def test_a_way_that_is_wrong_now_and_then_ends_the_search(seed):
    rng = np.random.default_rng(seed)
    calls = []

    def flaky(program, inputs, workgroups):
        calls.append(program)
        outputs = vyre.run(program, inputs, workgroups, backend="reference")
        if len(calls) == 1 or rng.random() < 0.5:
            for array in outputs.values():
                array[...] = rng.integers(0, 2**32, array.shape, dtype=np.uint32)
        return outputs

    divergence = vyre.bisect(DOUBLE, TEN, 1, backend=flaky)
    assert str(divergence)
    assert len(calls) < 2_000


def test_the_function_that_was_called_is_named():
    for more, said in (
        ({"backend": "vulkn"}, "argument `backend` of vyre.bisect must be one of "),
        ({"against": "vulkn"}, "argument `against` of vyre.bisect must be one of "),
        ({"backend": "cpu", "timeout": -1}, "argument `timeout` of vyre.bisect must be seconds above 0"),
        ({"backend": {"backend": "vulkn"}}, "argument `backend` of vyre.run must be one of "),
    ):
        with pytest.raises(vyre.ArgumentError) as error:
            vyre.bisect(DOUBLE, TEN, 1, **more)
        assert str(error.value).startswith(said)
    with pytest.raises(vyre.ArgumentError) as error:
        vyre.bisect(DOUBLE, TEN)
    assert str(error.value).startswith("vyre.bisect needs argument `workgroups`: ")
    with pytest.raises(vyre.ArgumentError, match=r"^argument `program` of vyre\.bisect must be a "):
        vyre.bisect(3, TEN, 1)
    with pytest.raises(vyre.BindingError, match=r"^argument `inputs` of vyre\.bisect must be a dict "):
        vyre.bisect(DOUBLE, 3, 1)


test_wrong_calls_are_told = wrong_calls("bisect", globals())
