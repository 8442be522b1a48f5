"""Random programs on one backend compared with another backend, or with another device of the same: `--against`."""

from __future__ import annotations

import itertools
import json
import re
import shlex

import jsonschema
import pytest

import vyre
import wrong_backends
from conftest import message
from test_sarif import LOG
from vyre import fuzz
from vyre.__main__ import main

DEVICES = [device for device in vyre.devices() if device.usable]
# Each place as the options write it, and as a way that others are compared with.
PLACES = [("cpu", "cpu", None), *((f"{d.backend}:{d.index}", d.backend, d.index) for d in DEVICES)]
PAIRS = [pytest.param(one, other, id=f"{one[0]} {other[0]}") for one, other in itertools.permutations(PLACES, 2)]


def run(*arguments):
    return main(["fuzz", "--jobs", "2", *map(str, arguments)])


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_any_two_places_agree(one, other):
    ways, against = fuzz.ways_of(*one[1:]), fuzz.way_against(*other[1:])
    found = fuzz.sweep(ways, fuzz.Settings(), 500, 25, jobs=2, against=against)
    rows = [row for some in found for row in some]
    assert len(rows) == 25
    assert {row.verdict for row in rows} <= {"agrees", "refused"}
    # The hashes are of the other side's bytes, which are the reference's.
    agreed = [row for row in rows if row.verdict == "agrees"]
    assert agreed
    for row in agreed[:3]:
        assert f"{fuzz.judge(fuzz.generate(row.seed), []).output:016x}" == row.output


def test_the_reference_runs_nothing(monkeypatch):
    case = fuzz.generate(3)
    with vyre.profile() as prof:
        judgement = fuzz.judge(case, fuzz.ways_of("cpu"), against=fuzz.way_against("cpu"))
    assert judgement.kind == "agrees"
    assert {event.backend for event in prof.events if event.backend is not None} == {"cpu"}


@pytest.mark.parametrize("name", ["shift_by_31", "min_max_of_large_values", "first_barrier_missing", "stale_uniforms"])
@pytest.mark.parametrize("side", ["backend", "against"])
def test_a_wrong_backend_on_either_side_is_found_and_named(name, side):
    wrong, right = fuzz.Way(f"wrong_backends:{name}"), fuzz.Way("cpu", optimize=True)
    ways, against = ([wrong], right) if side == "backend" else ([right], wrong)
    for seed in range(10_000_000, 10_000_100):
        # What a backend keeps of an earlier program is none of this one.
        wrong_backends._stale = wrong_backends._StaleUniforms()
        judgement = fuzz.judge(fuzz.generate(seed), ways, against=against)
        if not judgement:
            break
    assert judgement.kind == "differs"
    assert (judgement.index, judgement.way) == (0, str(ways[0]))
    told = re.fullmatch(
        r"(in call 2, )?buffer `\w+` differs at word \d+: (0x[0-9A-F]{8}) by (.*); (0x[0-9A-F]{8}) by (.*)",
        judgement.message,
    )
    assert (told[3], told[5]) == (str(ways[0]), str(against))
    assert told[2] != told[4]


def test_a_difference_is_reduced_located_and_printed_with_both_sides(tmp_path, capsys):
    log = tmp_path / "log"
    request = ("--backend", "cpu", "--against", "faulty:rotates_right", "--seed", 0, "--count", 50)
    assert run(*request, "--log", log) == 1
    out = capsys.readouterr().out
    row = json.loads(log.read_text(encoding="utf-8").splitlines()[-1])
    seed, kept = row["seed"], f"{log}.seed-{row['seed']}.json"
    ours, theirs = "cpu, optimised", "faulty:rotates_right, optimised"
    small = f"buffer `out0` differs at word 0: 0x00000002 by {ours}; 0x80000000 by {theirs}"
    tail = out[out.index("\ndiffers ") :]
    assert re.fullmatch(
        rf"""
differs     seed {seed}: {ours}
            buffer `\w+` differs at word \d+: 0x[0-9A-F]{{8}} by {ours}; 0x[0-9A-F]{{8}} by {theirs}
reduced     from \d+ statements to 1 in \d+ tries: {small}

vyre 1
workgroup_size 1 1 1
buffer out0: read_write u32 binding 0

out0\[0\] = rotl\(1, 1\)

grid 1 1 1
array out0: 0x0 \(4 bytes\)

{ours} and faulty:rotates_right first differ in invocation \(0, 0, 0\) of workgroup \(0, 0, 0\), after 0 barriers:
  at +entry\[0\]\.value
  statement +out0\[0\] = rotl\(1, 1\)
  expression +rotl\(1, 1\)
  {ours} +2 \(0x2\)
  faulty:rotates_right +2147483648 \(0x80000000\)
  output +out0\[0\]: {ours} 2, faulty:rotates_right 2147483648

repeat      vyre fuzz --backend cpu --against faulty:rotates_right --case {re.escape(kept)}   \(the reduced one\)
repeat      vyre fuzz --backend cpu --against faulty:rotates_right --seed {seed} --count 1
""",
        tail,
    ), tail
    assert f"with        {theirs} (faulty:rotates_right)\n" in out
    # The commands do what they say, and the log goes on.
    for command in re.findall(r"^repeat +vyre fuzz (.*?)(?:   .*)?$", out, re.MULTILINE):
        assert run(*shlex.split(command)) == 1
        assert theirs in capsys.readouterr().out
    assert run(*request, "--log", log, "--resume") == 1
    capsys.readouterr()
    assert run("--backend", "cpu", "--count", 5, "--log", log, "--resume") == 2
    said = f"error: log `{log}` has against '{theirs} (faulty:rotates_right)', not None. "
    assert capsys.readouterr().err == f"{said}Fix: ask for what it has, or begin another log.\n"


def test_json_names_both_sides(capsys, tmp_path):
    log = tmp_path / "log"
    assert run("--backend", "cpu", "--against", "faulty:rotates_right", "--count", 50, "--log", log, "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["command"], told["ok"], told["wrong"], told["interrupted"]) == ("fuzz", False, 1, False)
    assert (told["target"], told["compared"]) == ("cpu", ["cpu, optimised", "cpu, as written"])
    assert told["against"] == "faulty:rotates_right, optimised (faulty:rotates_right)"
    (found,) = told["found"]
    assert found["verdict"] == "differs"
    assert found["repeat"] == f"vyre fuzz --backend cpu --against faulty:rotates_right --seed {found['seed']} --count 1"
    reduced = found["reduced"]
    assert "out0[0] = rotl(1, 1)" in reduced["program"]
    assert reduced["sizes"][1] == 1
    assert reduced["begins"].startswith("cpu, optimised and faulty:rotates_right first differ in invocation (0, 0, 0)")
    assert run("--backend", "cpu", "--against", "faulty:rotates_right", "--case", reduced["file"], "--json") == 1
    case = json.loads(capsys.readouterr().out)
    assert (case["kind"], case["against"], case["message"]) == ("differs", told["against"], reduced["message"])
    assert run("--backend", "cpu", "--count", 3, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["ok"], told["against"], told["agrees"], told["found"], told["seeds"]) == (True, None, 3, [], [0, 3])


def test_sarif_has_a_result_for_each_difference(capsys, tmp_path):
    log = tmp_path / "log"
    request = ("--backend", "cpu", "--against", "faulty:rotates_right", "--count", 50, "--sarif")
    assert run(*request, "--log", log) == 1
    told = json.loads(capsys.readouterr().out)
    jsonschema.validate(told, LOG)
    (found,) = told["runs"][0]["results"]
    assert (found["ruleId"], found["level"]) == ("differs", "error")
    text = found["message"]["text"]
    assert re.search(
        r"^seed \d+: cpu, optimised: .* by cpu, optimised; .* by faulty:rotates_right, optimised$", text, re.M
    )
    assert re.search(
        r"^repeat: vyre fuzz --backend cpu --against faulty:rotates_right --seed \d+ --count 1$", text, re.M
    )
    assert "out0[0] = rotl(1, 1)" in text
    (place,) = found["locations"]
    (kept,) = tmp_path.glob("log.seed-*.json")
    assert place["physicalLocation"]["artifactLocation"]["uri"].endswith(kept.name)
    assert run("--backend", "cpu", "--count", 2, "--sarif", "--log", tmp_path / "other") == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["results"] == []
    assert run("--backend", "cpu", "--count", 2, "--sarif") == 2
    assert capsys.readouterr().err.startswith("error: --sarif needs --log, ")


def test_a_crash_of_the_other_side_is_its_own():
    against = fuzz.Way("faulty:crashes_on_select")
    found = fuzz.sweep([fuzz.Way("cpu", optimize=True)], fuzz.Settings(), 0, 4, jobs=1, against=against)
    wrong = [row for some in found for row in some if row.wrong]
    assert wrong
    assert {(row.verdict, row.way) for row in wrong} == {("crashed", str(against))}


def test_what_the_other_side_refuses_is_compared_with_nothing():
    against = fuzz.Way("faulty:refuses_loops")
    found = fuzz.sweep([fuzz.Way("faulty:rotates_right")], fuzz.Settings(), 0, 20, jobs=1, against=against)
    rows = [row for some in found for row in some]
    refused = [row for row in rows if row.verdict == "refused"]
    assert refused
    assert {row.way for row in refused} == {str(against)}


def test_a_device_that_cannot_run_a_program_refuses_it_on_either_side():
    most = "maxComputeWorkGroupInvocations"
    device = next((each for each in DEVICES if each.limits[most] < 1024), None)
    if device is None:
        pytest.skip("every device here runs the largest workgroup")
    size = 2 * device.limits[most]
    text = f"vyre 1\nworkgroup_size {size} 1 1\nbuffer out: read_write u32 binding 0\n\nout[gid.x] = gid.x\n"
    case = fuzz.Case(vyre.parse(text), (("out", bytes(4 * size), True),), (1, 1, 1))
    small, cpu = fuzz.Way(device.backend, device.index), fuzz.Way("cpu")
    for ways, against, index in (([cpu], small, None), ([small], cpu, 0)):
        judgement = fuzz.judge(case, ways, against=against)
        assert (judgement.kind, judgement.way, judgement.index) == ("refused", str(small), index)
        assert str(size) in judgement.message


def test_wrong_requests_say_what_to_write(capsys):
    def refused(*arguments, status=2):
        assert run(*arguments) == status
        return capsys.readouterr().err

    assert refused("--backend", "cpu", "--against", "cpu") == (
        "error: --against cpu names what --backend names. Fix: name another backend, or another device.\n"
    )
    assert refused("--against", "vulkan:99", "--backend", "cpu", status=3) == (
        "error: device 99 of backend `vulkan` does not exist. Fix: use one of `vyre devices`.\n"
    )
    assert refused("--against", "nowhere:run", "--backend", "cpu").startswith("error: backend `nowhere:run` cannot be")
    for backend in ("vulkan:0", "cpu"):
        assert refused("--backend", backend, "--device", 0) == (
            f"error: --device has no place with --backend {backend}. Fix: leave it out.\n"
        )
    assert refused("--procedures", "--against", "cpu") == (
        "error: --against has no place with --procedures. Fix: leave it out.\n"
    )
    assert refused("--planted", "--against", "cpu").startswith("error: --against has no place with --planted")
    assert message(lambda: fuzz.judge(fuzz.generate(0), [], against="cpu"), vyre.ArgumentError) == (
        "argument `against` of vyre.fuzz.judge must be a Way or None, got 'cpu'. Fix: pass a Way or None."
    )
    with pytest.raises(vyre.ArgumentError, match="has no place for procedures"):
        fuzz.sweep([], fuzz.Settings(procedures=True), 0, 1, against=fuzz.Way("cpu"))


@pytest.mark.slow
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_500_programs_agree_on_any_two_places_in_every_combination(one, other):
    ways, against = fuzz.ways_of(*one[1:], combinations=True), fuzz.way_against(*other[1:])
    rows = [row for some in fuzz.sweep(ways, fuzz.Settings(), 7_000, 500, jobs=2, against=against) for row in some]
    assert [row for row in rows if row.wrong] == []
    assert sum(row.verdict == "agrees" for row in rows) > 400


def test_all_wrong_programs_are_named_before_one_is_reduced(tmp_path, capsys):
    log = tmp_path / "log"
    assert run("--backend", "wrong_backends:shift_by_31", "--count", 300, "--wrong", 2, "--tries", 5, "--log", log) == 1
    found = [row for row in map(json.loads, log.read_text().splitlines()[1:]) if row["verdict"] == "differs"]
    assert len(found) == 2
    named = "".join(f"            seed {row['seed']}: {row['way']}\n" for row in found)
    assert f"{named}\ndiffers     seed {found[0]['seed']}: " in capsys.readouterr().out
