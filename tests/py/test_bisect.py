"""vyre.bisect names the first value that differs: planted faults stand at known places."""

from __future__ import annotations

import re

import numpy as np
import pytest

import vyre
from vyre import BufferDecl, DataType, Expr, Node, Program

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
        if "__trace_taken1" not in program.to_text():
            program = changed(program, "popcount", "clz")
        return vyre.run(program, inputs, workgroups, backend="reference")

    divergence = vyre.bisect(program, {"out": 4}, 1, backend=shy)
    assert divergence.values == {"shy": None, "reference": 1}
    assert divergence.invocation == (1, 0, 0)
    assert divergence.place.path == "entry[0].then[0].index"
    assert "shy         never computed: it went another way\n" in str(divergence)


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


def test_likely_mistakes():
    program, inputs = sums()
    with pytest.raises(vyre.ArgumentError) as caught:
        vyre.bisect(program, inputs, 2, backend=3)
    assert str(caught.value) == (
        "argument `backend` of vyre.bisect must be the name of a backend, a Device, a dict of arguments of "
        'vyre.run or a function, got int. Fix: write "vulkan" or {"backend": "vulkan", "optimize": False}.'
    )
    with pytest.raises(vyre.ArgumentError) as caught:
        vyre.bisect(program, inputs, 2, against={"backend": "cpu", "timeout": 3})
    assert str(caught.value) == (
        "argument `against` of vyre.bisect must have keys among backend, device, schedule, optimize, "
        "got 'backend', 'timeout'. Fix: pass inputs and workgroups to vyre.bisect itself."
    )
    with pytest.raises(vyre.ArgumentError):
        vyre.bisect(program, inputs, 2, backend="nonsense")
    with pytest.raises(vyre.BindingError):
        vyre.bisect(program, {}, 2)
    with pytest.raises(vyre.ArgumentError) as caught:
        vyre.bisect(program, inputs, 2, backend=lambda *arguments: {})
    assert str(caught.value) == (
        "argument `backend` of vyre.bisect must give every ReadWrite buffer, got none named 'out'. "
        "Fix: return what vyre.run returns."
    )
