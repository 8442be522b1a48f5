"""Random procedures agree with the model everywhere, and a backend that is wrong in their steps is found."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

import vyre
import wrong_procedures
from vyre import fuzz
from vyre.__main__ import main
from vyre._procedure.check import check_call
from vyre._procedure.flat import call_of_bytes
from vyre.fuzz import procedures
from vyre.fuzz.procedures.judge import ways_for_procedures

FIRST = 2_000_000
DEVICES = [device for device in vyre.devices() if device.usable]


def name_of(device):
    return device.name.split("(")[0].strip()


def rows_of(ways, count, *, first=FIRST):
    found = fuzz.sweep(ways, fuzz.Settings(procedures=True), first, count, jobs=1)
    return [row for some in found for row in some]


def no_fault(rows, count):
    wrong = [row for row in rows if row.wrong]
    assert not wrong, f"first of {len(wrong)}: {wrong[0]}"
    assert [row.seed for row in rows] == list(range(FIRST, FIRST + count))
    assert {row.verdict for row in rows} == {"agrees"}


@pytest.mark.parametrize("backend", ["reference", "cpu"])
def test_procedures_agree_on_the_processor(backend):
    no_fault(rows_of(fuzz.ways_of(backend), 150), 150)


@pytest.mark.slow
def test_many_procedures_agree_on_the_processor_with_every_combination():
    ways = fuzz.ways_of("reference") + fuzz.ways_of("cpu", combinations=True)
    no_fault(rows_of(ways, 100), 100)
    no_fault(rows_of(fuzz.ways_of("cpu"), 1000), 1000)


@pytest.mark.slow
@pytest.mark.parametrize("device", DEVICES, ids=name_of)
def test_procedures_agree_on_the_drivers_here(device):
    no_fault(rows_of(fuzz.ways_of("vulkan", device.index), 100), 100)


def test_a_generated_procedure_makes_no_mistake_itself():
    for seed in range(FIRST, FIRST + 60):
        case = procedures.generate(seed)
        for call in case.calls:
            shapes, data = zip(*call.arrays, strict=True) if call.arrays else ((), ())
            result = check_call(
                "test",
                lambda c=case, s=shapes, d=data, n=call.numbers: call_of_bytes(c.procedure, s, d, n),
                checks=["race", "uninitialised-read", "order-dependence"],
            )
            assert not result.reports, (seed, str(result.reports[0]))


def test_the_procedures_have_every_kind_of_step():
    kinds, forms = set(), set()
    for seed in range(FIRST, FIRST + 60):
        for step in procedures.generate(seed).spec.all_steps():
            kinds.add("until" if step[4:] and step[0] == "repeat" else step[0])
            if step[0] == "dispatch":
                forms.add("counts" if step[4] else "grid")
                forms |= {"slice" for part in step[2] if part[0] != "words" and part[2]}
                forms |= {"view" for part in step[2] if part[0] != "words" and part[1]}
    assert kinds == {"dispatch", "invoke", "repeat", "until", "when", "swap", "clear"}
    assert forms == {"counts", "grid", "slice", "view"}


def test_the_model_is_numpys():
    """One procedure whose result numpy tells."""
    kernel = (
        "vyre 1\nworkgroup_size 32 1 1\nbuffer a: read u32 binding 0\nbuffer out: read_write u32 binding 1\n"
        "buffer w: uniform u32 binding 2 count 1\n\nif gid.x < len(out) {\n  out[gid.x] = (a[gid.x] * 3) + w[0]\n}\n"
    )
    n = ("length", 0, 0)
    whole = [(index, None, None) for index in range(3)]
    grid = (("ceil_div", n, ("literal", 32)), ("literal", 1), ("literal", 1))
    spec = procedures.Spec(
        "p",
        (("k", "U32"),),
        (
            procedures.ArraySpec("x", "input", "U32"),
            procedures.ArraySpec("a", "output", "U32", (n,)),
            procedures.ArraySpec("b", "scratch", "U32", (n,), zeros=True),
        ),
        (
            ("dispatch", 0, (whole[0], whole[1], ("words", (("literal", 0),))), grid, None, False),
            (
                "repeat",
                0,
                ("number", 0),
                (("dispatch", 0, (whole[1], whole[2], ("words", (("turn", 0),))), grid, None, False), ("swap", 1, 2)),
            ),
        ),
        (1,),
        (kernel,),
    )
    x = np.arange(50, dtype=np.uint32)
    call = procedures.Call((((50,), x.tobytes()),), (3,))
    wanted = 3 * x
    for turn in range(3):
        wanted = 3 * wanted + turn
    assert procedures.expected(spec, call) == [wanted.astype(np.uint32).tobytes()]
    assert procedures.run(spec.build(), call, "cpu") == [wanted.astype(np.uint32).tobytes()]


@pytest.mark.parametrize("name", wrong_procedures.BACKENDS)
def test_a_wrong_backend_is_found_and_its_procedure_made_small(name):
    way = fuzz.Way(f"wrong_procedures:{name}")
    for seed in range(200):
        case = procedures.generate(seed)
        wrong_procedures._KEPT.clear()
        found = procedures.judge(case, [way])
        if not found:
            break
    assert found.kind == "differs", f"no procedure of 200 shows {name}"

    def fails(candidate):
        wrong_procedures._KEPT.clear()
        return procedures.judge(candidate, [way]).kind == "differs"

    small = procedures.reduce(case, fails, tries=300)
    assert fails(small)
    assert small.steps() <= 6
    assert procedures.judge(small, fuzz.ways_of("cpu")).kind == "agrees"


def test_a_backend_that_takes_the_steps_one_by_one_is_right():
    no_fault(rows_of([fuzz.Way("wrong_procedures:right")], 60), 60)


def test_inputs_by_name_are_those_of_the_call():
    for seed in range(FIRST, FIRST + 30):
        case = procedures.generate(seed)
        for number, call in enumerate(case.calls):
            outputs = vyre.check(case.procedure, case.inputs(number), checks="race").outputs
            wanted = procedures.expected(case.spec, call)
            assert [array.tobytes() for array in outputs.values()] == wanted
            assert vyre.bisect(case.procedure, case.inputs(number), backend="cpu") is None


def test_a_case_survives_its_file():
    for seed in range(FIRST, FIRST + 20):
        case = procedures.generate(seed)
        again = procedures.ProcedureCase.from_json(case.to_json())
        assert again == case
        assert again.procedure == case.procedure


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"vyre_procedure_case": 2}', '{"vyre_procedure_case": 1, "seed": 1}']
)
def test_what_is_no_case_is_refused(text):
    with pytest.raises(vyre.ParseError, match=r"not a case of vyre fuzz --procedures: .*Fix: give a file that"):
        procedures.ProcedureCase.from_json(text)


def test_a_damaged_case_is_refused_or_is_another_case():
    """Numbers, names and lists of a file are exchanged; nothing crashes the core."""
    draw = random.Random(5)

    def places(value, found):
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, each in items:
            found.append((value, key))
            places(each, found)
        return found

    refused = 0
    for seed in range(FIRST, FIRST + 60):
        text = procedures.generate(seed).to_json()
        for _ in range(10):
            whole = json.loads(text)
            owner, key = draw.choice(places(whole, []))
            owner[key] = draw.choice([0, 1, 7, -1, 2**70, "x", None, [], [0], {}, "length", "input", True])
            try:
                procedures.ProcedureCase.from_json(json.dumps(whole))
            except vyre.VyreError:
                refused += 1
    assert refused > 300


def test_a_wrong_way_is_explained_on_the_command_line(tmp_path, capsys):
    log = tmp_path / "log.jsonl"
    ask = ["fuzz", "--procedures", "--backend", "wrong_procedures:wrong_slot", "--jobs", "1", "--log", str(log)]
    assert main([*ask, "--count", "200", "--tries", "300"]) == 1
    out = capsys.readouterr().out
    assert "reduced     from " in out
    assert " steps to " in out
    assert 'procedure "p' in out
    row = json.loads(log.read_text().splitlines()[-1])
    assert row["verdict"] == "differs"
    assert (
        f"repeat      vyre fuzz --backend wrong_procedures:wrong_slot --procedures --seed {row['seed']} --count 1"
        in out
    )
    path = f"{log}.seed-{row['seed']}.json"
    assert main(["fuzz", "--procedures", "--backend", "wrong_procedures:wrong_slot", "--case", path]) == 1
    assert main(["fuzz", "--procedures", "--backend", "cpu", "--case", path]) == 0


def test_a_sweep_goes_on_where_its_log_ends(tmp_path, capsys):
    whole, parts = tmp_path / "whole.jsonl", tmp_path / "parts.jsonl"
    ask = ["fuzz", "--procedures", "--backend", "cpu", "--jobs", "1"]
    assert main([*ask, "--count", "30", "--log", str(whole)]) == 0
    assert main([*ask, "--count", "11", "--log", str(parts)]) == 0
    assert main([*ask, "--count", "30", "--log", str(parts), "--resume"]) == 0
    assert parts.read_text() == whole.read_text()
    assert "procedures  30 (seeds 0 to 29)" in capsys.readouterr().out
    assert main(["fuzz", "--backend", "cpu", "--jobs", "1", "--count", "30", "--log", str(parts), "--resume"]) == 2


def test_settings_of_programs_have_no_place(capsys):
    assert main(["fuzz", "--procedures", "--clean"]) == 2
    assert capsys.readouterr().err == ("error: --clean has no place with --procedures. Fix: leave it out.\n")


def test_the_reference_takes_steps_in_one_order():
    ways = ways_for_procedures(fuzz.ways_of("reference"))
    assert [str(way) for way in ways] == ["reference, in-order, optimised", "reference, in-order, as written"]
