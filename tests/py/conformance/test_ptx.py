"""PTX, assembled by NVIDIA's ptxas and interpreted here (ptx_machine): the same bytes as the reference, and as the
documents say. No GPU is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import ptx_machine
import ptxas
import vyre
import vyre.conformance
from library_calls import ROWS, SMALL
from procedure_texts import procedures_of
from programs import by_powers_of_two, conformance_programs
from ptx_machine import Fault
from vyre import BufferDecl, DataType, Expr, Node, Program, _core, fuzz, std

if TYPE_CHECKING:
    from collections.abc import Iterable

U32 = DataType.U32
# These settings change the text of vyre.lower.
COMBINATIONS = [True, False, ["passes"], ["proofs"]]


# --- What ptxas says ---


def check_assembled(programs: list[Program], architecture: str, combinations: list = COMBINATIONS) -> None:
    texts = (vyre.lower(program, target="ptx", optimize=chosen) for program in programs for chosen in combinations)
    for batch in ptxas.batches(texts):
        assert ptxas.problem(batch, architecture) == ""


def test_what_is_no_ptx_is_found():
    text = vyre.lower(Program([], (1, 1, 1), []), target="ptx")
    assert ptxas.problem(text, "sm_75") == ""
    assert ".u33" in ptxas.problem(text.replace("  ret;", "  add.u33 %r0, 1, 1;\n  ret;"), "sm_75")
    assert ptxas.problem(text, "sm_30") != ""


@pytest.mark.parametrize("architecture", [ptxas.ARCHITECTURES[0], ptxas.ARCHITECTURES[-1]])
def test_the_conformance_corpus_is_assembled(architecture):
    programs = conformance_programs()
    assert len(programs) > 500
    check_assembled(programs, architecture, [True])


def library_programs(names: Iterable[str]) -> list[Program]:
    """The programs that calls of the library run, also in procedures that others invoke, each once."""
    procedures = [each for name in names for each in procedures_of(ROWS[name].call, std, SMALL)]
    for each in procedures:  # which grows meanwhile
        procedures += each.procedures
    return list(dict.fromkeys(program for each in procedures for program in each.programs))


@pytest.mark.parametrize("architecture", [ptxas.ARCHITECTURES[0], ptxas.ARCHITECTURES[-1]])
def test_programs_of_the_library_are_assembled(architecture):
    programs = library_programs(["cumsum", "histogram", "matmul", "regex", "sort", "xxhash64"])
    assert len(programs) > 10
    check_assembled(programs, architecture, [True])


@pytest.mark.parametrize("architecture", ptxas.ARCHITECTURES)
def test_a_kernel_takes_fewer_registers_where_more_workgroups_are_to_be_resident(architecture):
    programs = [each for each in library_programs(["sort"]) if each.workgroup_size == (256, 1, 1)]
    text = max((vyre.lower(each, target="ptx") for each in programs), key=len)  # the scatter
    limited = text.replace(".reqntid 256, 1, 1\n", ".reqntid 256, 1, 1\n.minnctapersm 4\n")
    assert ptxas.problem(limited, architecture) == ""
    # Four workgroups of 256 share 2^16 registers.
    assert ptxas.registers(limited, architecture) <= 64 < ptxas.registers(text, architecture)


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ptxas.ARCHITECTURES)
def test_every_program_of_the_library_is_assembled(architecture):
    programs = library_programs(ROWS)
    assert len(programs) > 200
    check_assembled(programs, architecture, [True])


@pytest.mark.parametrize("architecture", ptxas.ARCHITECTURES)
def test_generated_programs_are_assembled(architecture):
    check_assembled([fuzz.generate(seed).program for seed in range(60)], architecture, [True, False])


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ptxas.ARCHITECTURES)
def test_the_conformance_corpus_is_assembled_in_every_combination(architecture):
    check_assembled(conformance_programs(), architecture)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("architecture", ptxas.ARCHITECTURES)
def test_thousands_of_generated_programs_are_assembled(architecture, part):
    check_assembled([fuzz.generate(seed).program for seed in range(300 * part, 300 * (part + 1))], architecture)


# --- What it means ---

# Cases that keep the interpreter busy for more than a second.
LONG = ("long_loop", "loop_of_30000", "wide_grid", "as_large_as_allowed", "private_memory/zeros")


def interpret(program, inputs, grid, optimize):
    """A backend of the conformance suite."""
    return ptx_machine.run(program, inputs, grid, optimize=True if optimize is None else optimize)


def check_conformance(cases: list) -> None:
    place = vyre.conformance.target(interpret)
    for result in vyre.conformance.run_cases(cases, place, repeat=1):
        assert result.status in ("passed", "allowed", "skipped"), f"{result.case.id}: {result}"


@pytest.mark.parametrize("part", range(4))
def test_the_first_level_of_conformance_is_passed(part):
    cases = [case for case in vyre.conformance.cases(["L1"]) if not any(name in case.id for name in LONG)]
    assert len(cases) > 200
    check_conformance(cases[part::4])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_every_level_of_conformance_is_passed(part):
    check_conformance(list(vyre.conformance.cases())[part::10])


@pytest.mark.parametrize("element", [vyre.u32, vyre.u64])
@pytest.mark.parametrize("optimize", [True, False])
def test_literal_powers_of_two_multiply_and_divide(element, optimize):
    program, inputs, groups, expected = by_powers_of_two(element)
    found = ptx_machine.run(program, inputs, groups, optimize=optimize)
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


def check_seeds(seeds: range, combinations: list) -> None:
    for seed in seeds:
        case = fuzz.generate(seed)
        inputs = case.inputs(arrays=True)
        wanted = vyre.run(case.program, inputs, case.grid, backend="reference")
        for optimize in combinations:
            found = ptx_machine.run(case.program, inputs, case.grid, optimize=optimize)
            assert found.keys() == wanted.keys()
            for name, array in wanted.items():
                np.testing.assert_array_equal(found[name], array, err_msg=f"seed {seed}, {optimize=}, buffer {name}")


def test_generated_programs_give_the_bytes_of_the_reference():
    check_seeds(range(100), [True, False])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_thousands_of_generated_programs_give_the_bytes_of_the_reference(part):
    check_seeds(range(1000 + 300 * part, 1000 + 300 * (part + 1)), COMBINATIONS)


def test_a_grid_may_come_in_several_launches():
    """Each writes the ids of its workgroups into the elements that they number."""
    x, y, z = Expr.workgroup_x(), Expr.workgroup_y(), Expr.workgroup_z()
    size = (5, 4, 3)
    number = (z * size[1] + y) * size[0] + x
    ids = Expr.pack(DataType.Vec4U32, [x, y, z, Expr.gid_x()])
    program = Program(
        [BufferDecl.output("out", 0, DataType.Vec4U32)],
        (2, 1, 1),
        [Node.if_(Expr.local_x() == 1, [Node.store("out", number, ids)])],
    )
    out = np.zeros((60, 4), np.uint32)
    for first in [(0, 0, 0), (3, 0, 0), (0, 2, 0), (3, 2, 0)]:
        groups = (2 if first[0] else 3, 2, 3)
        out = ptx_machine.run(program, {"out": out}, groups, first_group=first)["out"]
    wanted = [[i, j, k, 2 * i + 1] for k in range(size[2]) for j in range(size[1]) for i in range(size[0])]
    assert out.tolist() == wanted
    out = ptx_machine.run(program, {"out": np.zeros((60, 4), np.uint32)}, (1, 1, 1), first_group=(1, 2, 2))["out"]
    assert out[51].tolist() == [1, 2, 2, 3]
    assert out.sum() == 8


def test_workgroups_beyond_the_counts_in_memory_do_nothing():
    for seed in range(20):
        case = fuzz.generate(seed)
        inputs = case.inputs(arrays=True)
        wanted = vyre.run(case.program, inputs, case.grid, backend="reference")
        for axis in range(3):
            launched = tuple(count + (k == axis) for k, count in enumerate(case.grid))
            found = ptx_machine.run(case.program, inputs, launched, counts=case.grid)
            for name, array in wanted.items():
                np.testing.assert_array_equal(found[name], array, err_msg=f"seed {seed}, {axis=}, buffer {name}")


def check_coarsened(seeds: range) -> int:
    """How many programs could be coarsened."""
    done = 0
    for seed in seeds:
        case = fuzz.generate(seed)
        ways = next((ways for ways in (4, 3, 2) if case.grid[0] % ways == 0), None)
        if ways is None:
            continue
        inputs = case.inputs(arrays=True)
        shorter = (case.grid[0] // ways, *case.grid[1:])
        found = ptx_machine.run(case.program, inputs, shorter, ways=ways)
        if found is None:
            continue
        done += 1
        wanted = vyre.run(case.program, inputs, case.grid, backend="reference")
        for name, array in wanted.items():
            np.testing.assert_array_equal(found[name], array, err_msg=f"seed {seed}, {ways=}, buffer {name}")
    return done


def test_coarsened_programs_give_the_bytes_of_the_reference():
    assert check_coarsened(range(200)) > 5


@pytest.mark.slow
def test_thousands_of_coarsened_programs_give_the_bytes_of_the_reference():
    assert check_coarsened(range(5000, 8000)) > 100


@pytest.mark.parametrize("architecture", [ptxas.ARCHITECTURES[0], ptxas.ARCHITECTURES[-1]])
def test_what_a_loader_asks_for_is_assembled(architecture):
    made = []
    for seed in range(60):
        program = fuzz.generate(seed).program
        made += [_core._ptx(program, True, True, 1), _core._ptx(program, True, False, 4)]
    for batch in ptxas.batches(each[0] for each in made if each is not None):
        assert ptxas.problem(batch, architecture) == ""


@pytest.mark.parametrize("count", [340, 341])
def test_parameters_lie_in_memory_where_they_are_many(count, rng):
    """At 4,096 bytes of them."""
    reads = [BufferDecl.read(f"in{k}", k, U32) for k in range(count - 1)]
    total = Expr.u32(0)
    for decl in reads:
        total = total + Expr.load(decl.name, 1) + Expr.buf_len(decl.name)
    program = Program([*reads, BufferDecl.output("out", count, U32)], (1, 1, 1), [Node.store("out", 0, total)])
    inputs = {decl.name: rng.integers(0, 2**32, 2 + k % 3, dtype=np.uint32) for k, decl in enumerate(reads)}
    out = ptx_machine.run(program, {**inputs, "out": np.zeros(1, np.uint32)}, (1, 1, 1))["out"]
    assert int(out[0]) == sum(int(array[1]) + len(array) for array in inputs.values()) % 2**32
    assert ptxas.problem(vyre.lower(program, target="ptx"), "sm_75") == ""


def test_empty_arrays_are_never_touched():
    i = Expr.gid_x()
    program = Program(
        [
            BufferDecl.read("in", 0, U32),
            BufferDecl.read_write("out", 1, DataType.Vec4U32),
            BufferDecl.output("sum", 2, U32),
        ],
        (4, 1, 1),
        [
            Node.store("out", i, Expr.load("out", i)),
            Node.store("sum", i, Expr.load("in", i) + Expr.load("in", 2**32 - 1) + 1),
        ],
    )
    inputs = {"in": np.zeros(0, np.uint32), "out": np.zeros((0, 4), np.uint32), "sum": np.zeros(2, np.uint32)}
    for optimize in COMBINATIONS:
        assert ptx_machine.run(program, inputs, (1, 1, 1), optimize=optimize)["sum"].tolist() == [1, 1]


# --- The interpreter notices what it must ---

TEXT = """// Dynamic shared memory: 16 bytes.
.visible .entry main(
  .param .align 8 .b8 parameters[24]
)
.reqntid 4, 1, 1
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %a<2>;
  mov.u32 %r0, %tid.x;
  ld.param.u64 %a0, [parameters+0];
  BODY
  ret;
}
"""


def executed(body: str, *, writable: bool = True) -> np.ndarray:
    module = ptx_machine.parse(TEXT.replace("BODY", body))
    array = ptx_machine.Array(np.zeros(16, np.uint8), writable)
    parameters = np.frombuffer(np.array([1 << 40, 0, 0], np.uint64).tobytes(), np.uint8)
    ptx_machine.Workgroup(module, (0, 0, 0), parameters, {1: array}, [0]).run()
    return array.data.view(np.uint32)


def test_the_interpreter_takes_what_is_right():
    body = "mad.wide.u32 %a1, %r0, 4, %a0;\n add.u32 %r1, %r0, 7;\n st.global.u32 [%a1], %r1;"
    assert executed(body).tolist() == [7, 8, 9, 10]
    assert executed("setp.lt.u32 %p0, %r0, 2;\n @%p0 ret;\n st.global.u32 [%a0+4], 5;").tolist() == [0, 5, 0, 0]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("st.global.u32 [%a0+16], 1;", "outside of its array"),
        ("st.global.u32 [%a0+2], 1;", "not aligned"),
        ("ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%a0+4];", "not aligned"),
        ("ld.global.nc.u32 %r1, [%a0];", "as if nobody wrote"),
        ("add.u32 %r1, %r2, 1;", "before it is written"),
        ("setp.eq.u32 %p0, %r0, 1;\n @%p0 mov.u32 %r1, 1;\n mov.u32 %r2, %r1;", "before it is written"),
        ("div.u32 %r1, 1, %r0;", "divisor is zero"),
        ("div.s32 %r1, 1, 4294967295;", "divisor is -1"),
        ("shl.b32 %r1, 1, 32;", "shift"),
        ("st.shared.u32 [workgroup_memory+16], 1;", "outside of its array"),
        ("ld.param.u32 %r1, [parameters+24];", "no such parameter"),
        ("setp.eq.u32 %p0, %r0, 1;\n @%p0 bra X1;\n bar.sync 0;\n X1:", "one barrier"),
        ("atom.relaxed.cta.global.add.u32 %r1, [%a0], 1;", "another scope"),
        ("H1:\n bra H1;", "too many steps"),
        ("X1:\n X1:\n mov.u32 %r1, 0;\n X1:", "stands twice"),
    ],
)
def test_the_interpreter_notices(body, message, monkeypatch):
    monkeypatch.setattr(ptx_machine, "MOST_STEPS", 1000)
    with pytest.raises(Fault, match=message):
        executed(body)


def test_the_interpreter_notices_a_store_to_what_is_only_read():
    with pytest.raises(Fault, match="only read"):
        executed("st.global.u32 [%a0], 1;", writable=False)
