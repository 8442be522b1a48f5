"""Random programs agree everywhere, and what does not agree is found, kept, reduced and explained."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import vyre
from conftest import message
from vyre import _core, fuzz
from vyre.__main__ import main
from vyre.fuzz import campaign, shrink, wgsl
from vyre.fuzz.campaign import describe
from vyre.fuzz.compare import SPEEDUPS

FIRST = 1_000_000  # not the seeds that the C++ tests begin with
DEVICES = [device for device in vyre.devices() if device.usable]


def name_of(device):
    return device.name.split("(")[0].strip()


def rows_of(ways, count, *, first=FIRST, jobs=1, **settings):
    found = fuzz.sweep(ways, fuzz.Settings(**settings), first, count, jobs=jobs)
    return [row for some in found for row in some]


def no_fault(rows, count):
    wrong = [row for row in rows if row.wrong]
    assert not wrong, f"first of {len(wrong)}: {wrong[0]}"
    assert [row.seed for row in rows] == list(range(FIRST, FIRST + count))


def faulty(name):
    return fuzz.ways_of(f"faulty:{name}")


def first_wrong(ways):
    return next(row for row in rows_of(ways, 100, first=0) if row.wrong)


# Programs agree.


@pytest.mark.parametrize(("backend", "count"), [("reference", 300), ("cpu", 400)])
def test_programs_agree_on_the_processor(backend, count):
    rows = rows_of(fuzz.ways_of(backend), count)
    no_fault(rows, count)
    assert {row.verdict for row in rows} == {"agrees"}


def test_programs_agree_in_every_combination_of_what_lowering_does_for_speed():
    ways = fuzz.ways_of("cpu", combinations=True)
    names = ["passes", "proofs", "straightening", "specialization", "compilation"]
    some = [
        ", ".join(name for name in SPEEDUPS if name in chosen or name not in names)
        for count in (4, 3, 2, 1)
        for chosen in itertools.combinations(names, count)
    ]
    assert [str(way) for way in ways] == ["cpu, optimised", *[f"cpu, with {each}" for each in some], "cpu, as written"]
    no_fault(rows_of(ways, 35), 35)
    no_fault(rows_of(ways, 35, independent=True), 35)


def test_combinations_take_turns_and_a_seed_has_the_same_ones_in_every_sweep():
    ways = fuzz.ways_of("cpu", combinations=True)
    found = campaign._Sweep(ways, fuzz.Settings(), 0, 0, None, 1, 20, None, by_turns=True)
    turns = [found.ways_at(seed) for seed in range(0, 64 * len(ways), 64)]
    assert {way for turn in turns for way in turn} == set(ways)
    assert {len(turn) for turn in turns} == {2}
    assert found.ways_at(70) == found.ways_at(127) == turns[1] != found.ways_at(128)
    rows = [row for some in fuzz.sweep(ways, fuzz.Settings(), 60, 80, jobs=1, by_turns=True) for row in some]
    assert [row.seed for row in rows] == list(range(60, 140))
    assert {row.verdict for row in rows} == {"agrees"}


def test_combinations_on_vulkan_reach_arrays_by_their_addresses_too():
    ways = fuzz.ways_of("vulkan", 1, combinations=True)
    assert len(ways) == 66
    assert [str(way) for way in ways[-2:]] == [
        "vulkan device 1, by address, optimised",
        "vulkan device 1, by address, as written",
    ]
    assert not any("address" in str(way) for way in [*ways[:-2], *fuzz.ways_of("vulkan", 1)])


@pytest.mark.parametrize("device", DEVICES, ids=name_of)
def test_programs_agree_by_address_on_every_device(device):
    ways = [way for way in fuzz.ways_of("vulkan", device.index, combinations=True) if "by address" in str(way)]
    rows = rows_of(ways, 12, statements=20)
    no_fault(rows, 12)
    assert sum(row.verdict == "agrees" for row in rows) > 8


def test_independent_programs_share_nothing():
    cases = [fuzz.generate(seed, independent=True) for seed in range(50)]
    for case in cases:
        text = case.program.to_text()
        assert not re.search(r"^ *barrier$|: workgroup|atomic_", text, re.MULTILINE), text
    assert sum(case.grid[0] > 1 for case in cases) > 40


@pytest.mark.parametrize("device", DEVICES, ids=name_of)
def test_programs_agree_on_every_device(device):
    no_fault(rows_of(fuzz.ways_of("vulkan", device.index), 12), 12)


@pytest.mark.parametrize("how", fuzz.REWRITES)
def test_a_rewrite_keeps_the_bytes(how):
    done = 0
    for seed in range(FIRST, FIRST + 60):
        case = fuzz.generate(seed)
        other = fuzz.rewrite(case, how, seed)
        if other is None:
            continue
        assert other.program != case.program
        judgement = fuzz.judge(case, [fuzz.Way("reference"), fuzz.Way("cpu", optimize=True)], tried=other)
        assert judgement, f"seed {seed}: {judgement}\n{case}\n{other}"
        done += 1
    assert done >= 10


def test_programs_with_many_rewrites_keep_their_bytes():
    rows = rows_of([fuzz.Way("reference"), *fuzz.ways_of("cpu")], 150, rewrites=12)
    no_fault(rows, 150)


# A fault is found and made small.


@pytest.mark.parametrize(
    ("name", "kind", "smallest"),
    [
        ("rotates_right", "differs", r"\w+\[0\] = (cast\(\w+, )?rotl\(1, 1\)\)?"),
        ("forgets_barriers_when_optimised", "differs", r"barrier"),
        ("crashes_on_select", "crashed", r".*select\(\w+, \w+, \w+\).*"),
        ("raises", "failed", r".*rotl\(0, 0\).*"),
    ],
)
def test_a_fault_is_reduced_to_the_statement_that_shows_it(name, kind, smallest):
    ways = faulty(name)
    row = first_wrong(ways)
    assert row.verdict == kind
    assert row.way == f"faulty:{name}, optimised"
    small = shrink.shrink(row, ways, fuzz.Settings())
    assert small.judgement.kind == kind
    assert small.tries < 1000
    before, after = small.statements
    assert before > after
    body = small.case.program.to_text().split("\n\n")[1].strip()
    assert re.fullmatch(smallest, body), body
    assert not vyre.validate(small.case.program)
    assert small.case.grid == small.case.program.workgroup_size == (1, 1, 1)


def test_words_of_the_call_before_are_found_reduced_and_located():
    ways = faulty("keeps_uniforms")
    row = first_wrong(ways)
    assert row.verdict == "differs"
    assert row.message.startswith("in call ")
    small = shrink.shrink(row, ways, fuzz.Settings())
    assert small.judgement.message.startswith("in call 2, buffer `")
    assert small.judgement.call == 1
    first, second = small.case.calls
    uniforms = {decl.name for decl in small.case.program.buffers if decl.access == vyre.BufferAccess.Uniform}
    assert [name for name, *_ in first] == [name for name, *_ in second]
    assert any(one != other and one[0] in uniforms for one, other in zip(first, second, strict=True))
    # In the second call, on the machine that made the first one.
    assert re.search(r"^  at .*\n  statement .*\n  expression +(.*)$", small.begins, re.MULTILINE), small.begins
    where = re.search(r"^  expression +\"?(.*?)\"?\[", small.begins, re.MULTILINE)
    assert where, small.begins
    assert where[1] in uniforms


def test_a_wrong_rewrite_is_reduced_to_two_programs_that_differ(monkeypatch):
    def wrong(case, how, seed=0):
        text = case.program.to_text()
        turned = text.replace("rotl(", "rotr(")
        return None if turned == text else replace(case, program=vyre.parse(turned))

    monkeypatch.setattr("vyre.fuzz.settings.rewrite", wrong)
    monkeypatch.setattr("vyre.fuzz.shrink.rewrite", wrong)
    row = fuzz.Row(0, "differs", "", "", "reference, in-order, as written")
    small = shrink.shrink(row, [fuzz.Way("reference")], fuzz.Settings(rewrites=1))
    bodies = [case.program.to_text().split("\n\n")[1].strip() for case in (small.case, small.tried)]
    assert re.fullmatch(r"\w+\[0\] = (cast\(\w+, )?rotl\(1, 1\)\)?", bodies[0]), bodies
    assert bodies[1] == bodies[0].replace("rotl", "rotr")


def test_reducing_does_not_end_in_a_race():
    """Every invocation writes one element: whichever is the last, a backend is right."""
    program = vyre.parse("""vyre 1
workgroup_size 4 1 1
buffer out: read_write u32 binding 0

out[0] = gid.x
""")
    case = fuzz.Case(program, (("out", bytes(4), False),), (2, 1, 1))
    with shrink._Isolated(fuzz.Way("reference", schedule="reversed"), 20, lambda: None) as isolated:
        found = isolated.judge(case)
        assert found.kind == "differs"
        assert not isolated.fares_like(case, found)


def test_reducing_is_the_same_every_time_and_ends():
    case = fuzz.generate(31)
    asked = []

    def still_fails(candidate):
        assert not vyre.validate(candidate.program)
        asked.append(candidate)
        return "store" in candidate.program.to_text() or len(candidate.program.entry) > 2

    first = fuzz.reduce(case, still_fails)
    count = len(asked)
    assert fuzz.reduce(case, still_fails) == first
    assert len(asked) == 2 * count
    assert len(first.program.entry) == 3
    few = fuzz.reduce(case, still_fails, tries=5)
    assert len(asked) == 2 * count + 5
    assert len(few.program.entry) >= 3


@pytest.mark.parametrize(
    ("line", "smallest"), [("4294967295", "1"), ("pack(vec2<u32>, 4294967295, 7)", "pack(vec2<u32>, 0, 0)")]
)
def test_literals_become_small_in_few_tries(line, smallest):
    """From 4,294,967,295 down one by one, or from (0, 0) to (1, 0) and back, there would be no end."""
    element = "u32" if line.isdigit() else "vec2<u32>"
    program = vyre.parse(
        f"vyre 1\nworkgroup_size 1 1 1\nbuffer out: read_write {element} binding 0\n\nout[0] = {line}\n"
    )
    asked = []

    def still_fails(candidate):
        asked.append(candidate)
        text = candidate.program.to_text()
        return "out[0] = " in text and "out[0] = 0" not in text

    case = fuzz.Case(program, (("out", bytes(8), False),), (1, 1, 1))
    assert fuzz.reduce(case, still_fails).program.to_text().endswith(f"out[0] = {smallest}\n")
    assert len(asked) < 60


def test_a_while_is_never_reduced_to_a_loop_without_an_end():
    """Without its Break, or under a condition that never holds, a loop of 2^32 - 1 rounds would take minutes to try."""
    program = vyre.parse("""vyre 1
workgroup_size 1 1 1
buffer out: read_write u32 binding 0

loop k in 0..4294967295 {
  if k >= (out[1] + 3) {
    let t = 5
    break
  }
  out[0] = (out[0] + k) + 1
}
""")

    def still_fails(candidate):
        words = {name: np.frombuffer(data, np.uint32) for name, data, _ in candidate.arrays}
        after = vyre.run(candidate.program, words, 1, backend="reference", timeout=20)
        return any(array[0] != 0 for array in after.values())

    reduced = fuzz.reduce(fuzz.Case(program, (("out", bytes(8), False),), (1, 1, 1)), still_fails)
    assert "4294967295" not in reduced.program.to_text()
    assert still_fails(reduced)


def test_a_case_survives_json():
    several = 0
    for seed in range(FIRST, FIRST + 50):
        case = fuzz.generate(seed)
        assert fuzz.Case.from_json(case.to_json()) == case
        several += len(case.calls) > 1
    assert several > 10


def with_two_calls(program, first, second):
    """A case that binds one word to each buffer of the program."""
    arrays = [
        tuple((decl.name, word.to_bytes(4, "little"), False) for decl, word in zip(program.buffers, words, strict=True))
        for words in (first, second)
    ]
    return fuzz.Case(program, arrays[0], (1, 1, 1), later=(arrays[1],))


SHOWN = vyre.parse("""vyre 1
workgroup_size 1 1 1
buffer out: read_write u32 binding 0
buffer by: uniform u32 binding 1

out[0] = out[0] + by[0]
""")


def test_a_case_with_two_calls_is_shown_and_run_with_both():
    case = with_two_calls(SHOWN, (5, 1), (5, 2))
    assert str(case) == (
        SHOWN.to_text() + "\ngrid 1 1 1\narray out: 0x5 (4 bytes)\narray by: 0x1 (4 bytes)\n"
        "\ncall 2 with other arrays:\narray by: 0x2 (4 bytes)"
    )
    assert [case.run(call=call, backend="cpu")["out"][0] for call in range(2)] == [6, 7]
    again = with_two_calls(SHOWN, (5, 1), (5, 1))
    assert str(again).endswith("\n\ncall 2 with the arrays of the call before")


def test_a_case_whose_calls_bind_different_buffers_is_refused():
    case = with_two_calls(SHOWN, (5, 1), (5, 2))
    text = case.to_json().replace('"02000000"', '"0200000000000000"')
    assert text != case.to_json()
    assert message(lambda: fuzz.Case.from_json(text), vyre.ParseError) == (
        "not a case of vyre.fuzz: ValueError: call 2 binds other buffers or sizes than call 1. "
        "Fix: give a file that `vyre fuzz` wrote."
    )


def case_file(**changed):
    rows = [{"buffer": "out", "zero_bytes": 16}]
    program = "vyre 1\nworkgroup_size 4 1 1\nbuffer out: read_write u32 binding 0 output\n\nout[gid.x] = gid.x\n"
    return json.dumps({"seed": 1, "grid": [1, 1, 1], "arrays": rows, "program": program.split("\n"), **changed})


def zeros(*counts):
    return case_file(arrays=[{"buffer": "out", "zero_bytes": count} for count in counts])


HOSTILE_CASES = {
    "more than a machine": (
        zeros(2**64),
        "ValueError: 18446744073709551616 is no count from 0 to 18446744073709551615",
    ),
    "more than the memory": (
        zeros(2**33),
        "ValueError: it asks for 8589934592 zero bytes, at most 1073741824 are made for a file",
    ),
    "a little too much together": (
        zeros(2**29, 2**29, 1),
        "ValueError: it asks for 1073741825 zero bytes, at most 1073741824 are made for a file",
    ),
    "less than nothing": (zeros(-1), "ValueError: -1 is no count from 0 to 18446744073709551615"),
    "no count": (zeros(True), "ValueError: True is no count from 0 to 18446744073709551615"),
    "a grid of infinity": (
        case_file(grid=[float("inf"), 1, 1]),
        "ValueError: inf is no count from 0 to 4294967295",
    ),
    "another buffer": (
        case_file(arrays=[{"buffer": "in", "hex": "00000000"}]),
        "ValueError: the program has no buffer 'in'",
    ),
}


@pytest.mark.parametrize("name", HOSTILE_CASES)
def test_a_hostile_case_is_refused_before_anything_is_allocated(name, tmp_path, capsys):
    text, why = HOSTILE_CASES[name]
    tracemalloc.start()
    try:
        with pytest.raises(vyre.ParseError) as error:
            fuzz.Case.from_json(text)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    assert str(error.value) == f"not a case of vyre.fuzz: {why}. Fix: give a file that `vyre fuzz` wrote."
    (tmp_path / "case.json").write_text(text)
    assert main(["fuzz", "--case", str(tmp_path / "case.json")]) == 2
    assert capsys.readouterr() == ("", f"error: {error.value}\n")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "1" * 5_000, "[1]", "{}", "null", "\0"])
def test_what_is_no_case_is_a_parse_error_on_one_line(text, tmp_path, capsys):
    with pytest.raises(
        vyre.ParseError, match=r"^not a case of vyre\.fuzz: .* Fix: give a file that `vyre fuzz` wrote\.$"
    ):
        fuzz.Case.from_json(text)
    (tmp_path / "case.json").write_text(text)
    assert main(["fuzz", "--case", str(tmp_path / "case.json")]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)


def invalid_modules(count, *, first=FIRST):
    """The complaints of SPIRV-Tools about the code of generated programs, by seed."""
    problems = {}
    for seed in range(first, first + count):
        program = fuzz.generate(seed).program
        for optimize in (True, False):
            if problem := _core._spirv_problem(vyre.lower(program, "spirv", optimize=optimize)):
                problems[seed] = problem
    return problems


def test_the_code_of_generated_programs_is_valid_spirv():
    assert not invalid_modules(300)
    broken = bytearray(vyre.lower(SHOWN, "spirv"))
    broken[20] ^= 0x40  # the opcode of the first instruction, behind the header of five words
    assert _core._spirv_problem(bytes(broken))


# Tests that take longer.


def no_fault_of_many(ways, count, **settings):
    rows = rows_of(ways, count, first=0, jobs=None, **settings)
    wrong = [row for row in rows if row.wrong]
    assert not wrong, f"{len(wrong)} wrong; `vyre fuzz` reduces the first: {wrong[0]}"
    assert len(rows) == count
    agreed = sum(row.verdict == "agrees" for row in rows)
    # A driver that refuses much shows little.
    assert agreed >= 0.99 * count, f"{count - agreed} refused"


@pytest.mark.slow
@pytest.mark.parametrize("device", DEVICES, ids=name_of)
def test_500_programs_agree_in_every_combination_on_every_device(device):
    ways = fuzz.ways_of("vulkan", device.index, combinations=True)
    no_fault_of_many(ways, 500, independent=True, statements=30)


@pytest.mark.slow
@pytest.mark.parametrize("device", DEVICES, ids=name_of)
def test_5000_programs_agree_on_every_device(device):
    no_fault_of_many(fuzz.ways_of("vulkan", device.index), 5000)


@pytest.mark.slow
def test_the_code_of_10000_generated_programs_is_valid_spirv():
    assert not invalid_modules(10_000, first=0)


@pytest.mark.slow
def test_1000_programs_agree_as_wgsl():
    no_fault_of_many(fuzz.ways_of("wgsl"), 1000)


@pytest.mark.slow
def test_20000_programs_agree_on_the_processor():
    no_fault_of_many([*fuzz.ways_of("reference"), *fuzz.ways_of("cpu")], 20_000)


@pytest.mark.slow
def test_10000_programs_with_many_rewrites_keep_their_bytes():
    no_fault_of_many([fuzz.Way("reference"), *fuzz.ways_of("cpu")], 10_000, rewrites=12)


# Checked execution.


def rows_checked(count, **settings):
    return rows_of([], count, first=0, checked=True, **settings)


@pytest.mark.parametrize("plant", fuzz.PLANTS)
def test_checked_execution_finds_what_is_planted(plant):
    assert {row.message for row in rows_checked(40, plant=plant)} == {""}


@pytest.mark.parametrize("seed", range(8))
def test_a_dependence_on_order_is_found_whatever_the_random_order_is(seed):
    """Two invocations: every other random order is the one in which the program was run again."""
    program = vyre.parse("""vyre 1
workgroup_size 2 1 1
buffer out: read_write u32 binding 0
buffer next: read_write u32 binding 1

out[lid.x] = atomic_add(next, 0, 1)
""")
    result = vyre.check(program, {"out": 2, "next": 1}, 1, checks="order-dependence", schedule=f"random:{seed}")
    assert [report.check for report in result.reports] == ["order-dependence"]


@pytest.mark.parametrize("clean", [False, True])
def test_checked_execution_finds_nothing_where_nothing_is(clean):
    assert {row.message for row in rows_checked(150, clean=clean)} == {""}


@pytest.mark.slow
def test_checked_execution_is_right_about_1000_programs_of_each_kind(capsys):
    assert run("--planted") == 0
    out = capsys.readouterr().out
    for name in (*fuzz.PLANTS, "clean", "race-free"):
        assert f"{name:<24}    1,000    1,000        0\n" in out


def test_planted_programs_by_name(capsys):
    assert run("--planted", "neighbour", "--count", 3) == 0
    assert capsys.readouterr().out == (
        "planted                  programs    right    wrong\nneighbour                       3        3        0\n"
    )
    assert run("--planted", "neighbour", "--backend", "cpu") == 2
    assert capsys.readouterr().err == ("error: --backend has no place with --planted. Fix: leave it out.\n")
    assert run("--planted", "nothing") == 2
    assert capsys.readouterr().err.startswith("error: --planted must be one of all, dropped-barrier, ")


# The log.


def lines(path):
    return path.read_text(encoding="utf-8").splitlines()


def run(*arguments):
    return main(["fuzz", *map(str, arguments)])


def test_a_log_has_a_row_a_program_in_order(tmp_path, capsys):
    log = tmp_path / "log"
    assert run("--backend", "cpu", "--count", 200, "--jobs", 2, "--log", log) == 0
    head, *rows = map(json.loads, lines(log))
    assert head == {
        "vyre_fuzz_log": 1,
        "target": describe(fuzz.ways_of("cpu")),
        "backends": ["cpu"],
        "device": None,
        "statements": 200,
        "work": 60000,
        "clean": False,
        "rewrites": 0,
        "checked": False,
        "plant": None,
        "independent": False,
        "procedures": False,
        "combinations": False,
        "seed": 0,
    }
    assert [row["seed"] for row in rows] == list(range(200))
    assert all(row.keys() == {"seed", "verdict", "program", "output"} and row["verdict"] == "agrees" for row in rows)
    assert "agreed      200\nrefused     0\nwrong       0\n" in capsys.readouterr().out


def test_a_resumed_log_is_that_of_one_run(tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    common = ("--backend", "cpu", "--seed", 7)
    run(*common, "--count", 150, "--log", whole)
    run(*common, "--count", 40, "--log", parts)
    # The log as a process leaves it that was killed while it wrote.
    with parts.open("a", encoding="utf-8") as file:
        file.write('{"seed": 47, "verdi')
    run(*common, "--count", 90, "--log", parts, "--resume")
    run("--backend", "cpu", "--count", 150, "--log", parts, "--resume", "--jobs", 2)
    assert whole.read_bytes() == parts.read_bytes()
    # The log as an earlier version wrote it, which knew fewer settings.
    head, *rows = lines(whole)
    fewer = {name: value for name, value in json.loads(head).items() if name not in ("checked", "plant")}
    parts.write_text("\n".join([json.dumps(fewer), *rows[:100]]) + "\n", encoding="utf-8")
    run(*common, "--count", 150, "--log", parts, "--resume")
    assert lines(parts)[1:] == rows
    parts.write_bytes(whole.read_bytes())
    # Nothing is left to do.
    run("--backend", "cpu", "--count", 150, "--log", parts, "--resume")
    assert whole.read_bytes() == parts.read_bytes()


def test_a_log_is_neither_overwritten_nor_mixed(tmp_path, capsys):
    log = tmp_path / "log"
    run("--backend", "cpu", "--count", 3, "--log", log)
    capsys.readouterr()
    kept = log.read_bytes()

    def refused(*arguments):
        assert run(*arguments) == 2
        return capsys.readouterr().err

    assert refused("--backend", "cpu", "--count", 3, "--log", log) == (
        f"error: log `{log}` exists. Fix: add --resume to go on where it ends, or name another file.\n"
    )
    assert refused("--backend", "reference", "--log", log, "--resume") == (
        f"error: log `{log}` has target {describe(fuzz.ways_of('cpu'))!r}, not 'reference'. "
        "Fix: ask for what it has, or begin another log.\n"
    )
    assert refused("--backend", "cpu", "--seed", 5, "--log", log, "--resume") == (
        f"error: log `{log}` has seed 0, not 5. Fix: ask for what it has, or begin another log.\n"
    )
    assert refused("--backend", "cpu", "--resume") == (
        "error: --resume needs --log. Fix: name the log to go on with.\n"
    )
    assert log.read_bytes() == kept
    log.write_bytes(kept.replace(json.loads(lines(log)[-1])["program"].encode(), b"0123456789abcdef"))
    assert refused("--backend", "cpu", "--log", log, "--resume") == (
        f"error: log `{log}` has other programs of the same seeds: another version of vyre wrote it. "
        "Fix: begin another log.\n"
    )
    log.write_text("hello\n")
    assert refused("--backend", "cpu", "--log", log, "--resume").startswith(f"error: `{log}` is no log of vyre fuzz: ")


def test_a_crash_and_a_hang_are_rows_of_the_log():
    crashes = rows_of(faulty("crashes_on_select"), 4, first=0)
    assert [row.seed for row in crashes] == [0, 1, 2, 3]
    (first, *_) = [row for row in crashes if row.wrong]
    assert (first.verdict, first.message) == ("crashed", "the process ended with signal SIGABRT")
    found = fuzz.sweep(faulty("hangs_on_popcount"), fuzz.Settings(), 0, 5, jobs=2, patience=2)
    hangs = [row for some in found for row in some]
    assert [row.seed for row in hangs] == [0, 1, 2, 3, 4]
    (first, *_) = [row for row in hangs if row.wrong]
    assert (first.verdict, first.message) == ("hung", "nothing moved for 2 s")
    assert any(not row.wrong for row in hangs)


def test_what_is_refused_is_not_agreed(capsys):
    assert run("--backend", "faulty:refuses_loops", "--count", 20) == 0
    out = capsys.readouterr().out
    agreed, refused = (int(re.search(rf"^{word} +(\d+)$", out, re.MULTILINE)[1]) for word in ("agreed", "refused"))
    assert agreed + refused == 20
    assert refused > 0
    assert f"{refused:>21,}  N loops exceed maxLoops, which allows N. Fix: unroll them.\n" in out


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_between_counting_a_program_and_writing_it_loses_neither(how, tmp_path):
    log = tmp_path / "log"
    code = (
        "import os, sys\n"
        "from vyre.__main__ import main\n"
        "from vyre.commands._fuzz_sweep import Sweep\n"
        "plain = Sweep.add\n"
        "def add(self, row):\n"
        "    plain(self, row)\n"
        f"    if self.done == 3: os.kill(os.getpid(), {int(how)})\n"
        "Sweep.add = add\n"
        f"sys.exit(main(['fuzz', '--backend', 'cpu', '--count', '1000', '--jobs', '1', '--log', {str(log)!r}]))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=300, check=False
    )
    assert done.returncode == 130, done.stderr
    logged = len(lines(log)) - 1
    assert 3 <= logged < 1000
    assert f"stopped     before seed {logged}\n" in done.stdout


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_a_log_to_go_on_with(how, tmp_path):
    log = tmp_path / "log"
    command = [
        sys.executable,
        "-m",
        "vyre",
        "fuzz",
        "--backend",
        "cpu",
        "--seconds",
        "600",
        "--jobs",
        "2",
        "--log",
        log,
    ]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    while not (log.exists() and len(lines(log)) > 20):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(how)
    out, err = process.communicate()
    assert process.returncode == 130, err
    assert "Traceback" not in err
    done = len(lines(log)) - 1
    again = f"vyre fuzz --backend cpu --seconds=600.0 --jobs=2 --log {log} --resume"
    assert out.endswith(f"stopped     before seed {done}\ngo on       {again}\n")
    assert run("--backend", "cpu", "--count", done + 10, "--log", log, "--resume") == 0
    assert len(lines(log)) == 1 + done + 10


def test_wgsl_without_wgpu_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "wgpu", None)
    wgsl.gpu.cache_clear()
    try:
        judgement = fuzz.judge(fuzz.generate(0), fuzz.ways_of("wgsl"))
        message = "WGSL needs the package wgpu, which is not installed. Fix: pip install 'vyre[fuzz]'."
        assert (judgement.kind, judgement.message) == ("refused", message)
        with pytest.raises(vyre.CapabilityError, match=re.escape(message)):
            wgsl.describe()
    finally:
        wgsl.gpu.cache_clear()


# The command's report.


def test_a_disagreement_is_printed_with_both_values_and_the_command_that_repeats_it(tmp_path, capsys):
    log = tmp_path / "log"
    backend = "faulty:rotates_right"
    assert run("--backend", backend, "--count", 100, "--log", log) == 1
    out = capsys.readouterr().out
    row = json.loads(lines(log)[-1])
    seed = row["seed"]
    assert row["verdict"] == "differs"
    kept = f"{log}.seed-{seed}.json"
    assert "wrong       1\n" in out
    tail = out[out.index("\ndiffers ") :]
    assert re.fullmatch(
        rf"""
differs     seed {seed}: faulty:rotates_right, optimised
            buffer `\w+` differs at word \d+: expected 0x[0-9A-F]{{8}}, got 0x[0-9A-F]{{8}}
reduced     from \d+ statements to 1 in \d+ tries: buffer `out0` differs at word 0: expected 0x00000002, got 0x80000000

vyre 1
workgroup_size 1 1 1
buffer out0: read_write u32 binding 0

out0\[0\] = rotl\(1, 1\)

grid 1 1 1
array out0: 0x0 \(4 bytes\)

{backend} and reference first differ in invocation \(0, 0, 0\) of workgroup \(0, 0, 0\), after 0 barriers:
  at +entry\[0\]\.value
  statement +out0\[0\] = rotl\(1, 1\)
  expression +rotl\(1, 1\)
  {backend} +2147483648 \(0x80000000\)
  reference +2 \(0x2\)
  output +out0\[0\]: {backend} 2147483648, reference 2

repeat      vyre fuzz --backend {backend} --case {re.escape(kept)}   \(the reduced one\)
repeat      vyre fuzz --backend {backend} --seed {seed} --count 1
""",
        tail,
    ), tail
    # Both commands do what they say.
    assert run("--backend", backend, "--seed", seed, "--count", 1) == 1
    capsys.readouterr()
    assert run("--backend", backend, "--case", kept) == 1
    assert capsys.readouterr().out.endswith(
        "differs     faulty:rotates_right, optimised: "
        "buffer `out0` differs at word 0: expected 0x00000002, got 0x80000000\n"
    )
    assert run("--backend", "cpu", "--case", kept) == 0
    assert capsys.readouterr().out.endswith("agrees      in every way\n")
    # A log with a row that is wrong stays a log with a row that is wrong.
    assert run("--backend", backend, "--count", seed + 1, "--log", log, "--resume") == 1


def test_wrong_requests_say_what_to_write(capsys, monkeypatch):
    def refused(*arguments, status=2):
        assert run(*arguments) == status
        return capsys.readouterr().err

    known = ", ".join([*vyre.backends(), *vyre.backends().unavailable(), "wgsl", "module:function"])
    for option in ("--backend", "--against"):
        assert refused(option, "gpu", status=3) == (
            f"error: {option} must be one of {known}, got 'gpu'. Fix: write one of these.\n"
        )
    for option in ("--backend", "--against"):
        assert refused(option, "cpu:9", "--count", 1, status=3) == (
            "error: device 9 has no place with backend `cpu`. Fix: leave it out.\n"
        )
    assert refused("--backend", "vulkan", "--device", 99, status=3) == (
        "error: device 99 of backend `vulkan` does not exist. Fix: use one of `vyre devices`.\n"
    )
    assert refused("--backend", "nowhere:run").startswith("error: backend `nowhere:run` cannot be imported: ")
    with pytest.raises(SystemExit, match="2"):
        run("--count", "-1")
    assert "argument --count: `-1` is not a number from 0 to 2**64 - 1" in capsys.readouterr().err
