"""Random programs find what backends get wrong: each of the twelve of wrong_backends.py, soon."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

import vyre
import wrong_backends
from vyre import fuzz
from vyre.fuzz import shrink, worker

# Programs until the fault is found, on average; what is promised, and what no backend may need.
PROMISED, MOST = 2_000, 20_000
# The expression that vyre.bisect names in the reduced program. Operations have shifts, minima and the like inside.
BEGINS = {
    "shift_by_31": r"<<|call",
    "sign_of_remainder": r"smod|call",
    "min_max_of_large_values": r"min\(|max\(|call",
    "first_barrier_missing": r"\[.*\]",
    "out_of_bounds_clamped": r"\[.*\]",
    "clz_of_zero": r"clz|call",
    "lazy_select": r"after the atomic",
    "store_under_nested_ifs": r"after the store",
    "empty_loops_run_once": r"at the start of a turn",
    "u64_carry_lost": r"call",
    "bool_not_canonical": r"\[.*\]",
    "stale_uniforms": r"\[.*\]",
}
STARTS = [seed * 10_000_000 for seed in range(1, 11)]
# These of the twelve run for every change.
SOME = ["first_barrier_missing", "empty_loops_run_once", "min_max_of_large_values", "stale_uniforms", "u64_carry_lost"]


@dataclass(frozen=True)
class Found:
    """A program on which a wrong backend differs from the reference.

    Attributes:
        programs: how many were run, this one included.
        case, judgement: the program with its inputs, and how it fares.
    """

    programs: int
    case: fuzz.Case
    judgement: fuzz.Judgement


def way_of(name):
    return fuzz.Way(f"wrong_backends:{name}")


def judged(name, case):
    # The words of another program, or of the same one in a try before, are none that an executable could have kept.
    wrong_backends._stale = wrong_backends._StaleUniforms()
    return fuzz.judge(case, [way_of(name)])


def find(name, first, most=MOST):
    for programs in range(1, most + 1):
        case = fuzz.generate(first + programs - 1)
        judgement = judged(name, case)
        if not judgement:
            assert judgement.kind == "differs", f"seed {case.seed}: {judgement}"
            return Found(programs, case, judgement)
    raise AssertionError(f"{name} differs in none of the {most:,} programs from seed {first} on")


@pytest.mark.parametrize("name", SOME)
def test_a_wrong_backend_is_found_within_100_programs(name):
    find(name, STARTS[0], most=100)


@pytest.mark.parametrize("name", wrong_backends.BACKENDS)
@pytest.mark.slow
def test_every_wrong_backend_is_found_within_2000_programs_on_average_reduced_and_located(name, capsys):
    found = [find(name, start) for start in STARTS]
    programs = [each.programs for each in found]
    mean = sum(programs) / len(programs)
    with capsys.disabled():
        print(f"\n{name}: {mean:.1f} programs on average, at most {max(programs)}, at least {min(programs)}")
    assert mean <= PROMISED
    # Recording values changes how invocations interleave, and with it whether a missing barrier shows.
    tries = 5 if name == "first_barrier_missing" else 1
    said = ""
    for each in found[:tries]:
        small = reduced(name, each)
        assert each is not found[0] or small.statements[1] <= 12, f"{small.case}"
        said = small.begins
        if expression := re.search(r"^  expression +(.*)$", said, re.MULTILINE):
            break
    assert expression, said
    assert re.search(BEGINS[name], expression[1]), said


def reduced(name, found):
    """A program reduced as `vyre fuzz` does it: in a process of its own, without races, and located by vyre.bisect."""
    row = fuzz.Row(found.case.seed, found.judgement.kind, "", "", found.judgement.way, found.judgement.message)
    small = shrink.shrink(row, [way_of(name)], fuzz.Settings())
    assert small is not None, f"seed {row.seed} is right in a process of its own"
    assert small.judgement.kind == "differs"
    assert len(small.case.calls) == (2 if name == "stale_uniforms" else 1)
    return small


def test_no_program_whose_bytes_the_order_within_a_statement_decides_is_a_smaller_one():
    program = vyre.parse(
        "vyre 1\nworkgroup_size 2 1 1\nbuffer out: read_write u32 binding 0\nbuffer old: read_write u32 binding 1\n\n"
        "old[lid.x] = atomic_xor(out, 0, atomic_and(out, 0, 0))\n"
    )
    case = fuzz.Case(program, (("out", b"\1\0\0\0", False), ("old", bytes(8), False)), (1, 1, 1))
    one_by_one, together = (case.run(backend=backend)["old"].tolist() for backend in ("reference", "cpu"))
    assert one_by_one != together
    assert not worker._has_one_answer(case, fuzz.Way("vulkan"), 20.0, None)
