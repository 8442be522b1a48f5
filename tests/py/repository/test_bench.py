"""The table of `make bench`: what counts as met, what becomes of a peer that fails, what README shows."""

from __future__ import annotations

import html
import json

import pytest

import contenders
import kernel
import page
import pictures
import results
import std_race
import table
import targets
from std_place import MODES, Place
from vyre import std

CUDA = "CUDA C++, uint4"
LIBRARY = sorted((results.FOLDER / "std").glob("*.json"))


def line(target, seconds, gpu="NVIDIA H200"):
    found = results.Results(machine={"name": "here"}, gpu=gpu, seconds=seconds)
    return results.lines_of(target, found)


def target_of(what):
    return next(target for target in targets.TARGETS if target.what.startswith(what))


def test_readme_shows_the_results_that_lie_beside_it():
    text = page.README.read_text(encoding="utf-8")
    found = results.every()
    assert found
    assert page.with_results(text, found) == text


def test_every_result_has_a_picture_that_shows_it(tmp_path):
    families = {path.stem: json.loads(path.read_text(encoding="utf-8"))["seconds"] for path in LIBRARY}
    wanted = {f"{found.slug()}-{name}" for found in results.every() for name in ("bars", "sizes", "growth")}
    wanted |= {f"{machine}-std-{family}" for machine, found in families.items() for family in found}
    assert pictures.pictures().keys() == wanted
    for name, shown in (
        ("nvidia-h200-bars", [target.what for target in targets.TARGETS if target.gpu and target.peers]),
        ("nvidia-h200-sizes", ["vyre on the GPU", "CuPy RawKernel", "microseconds a call"]),
        ("nvidia-h200-std-search", families["nvidia-h200"]["search"]),
    ):
        path = tmp_path / name
        with pictures.mpl.rc_context(pictures.SETTINGS):
            pictures.pictures()[name](path)
        text = html.unescape(path.read_text(encoding="utf-8"))
        assert [each for each in shown if each not in text] == []


# Calls that are younger than the results.
UNMEASURED = {"clip", "concatenate", "diff", "flip", "repeat", "roll", "where"}


def test_every_call_of_the_library_has_results():
    assert LIBRARY
    for path in LIBRARY:
        figures = json.loads(path.read_text(encoding="utf-8"))["seconds"]
        assert list(figures) == std_race.families()
        assert {call for calls in figures.values() for call in calls} == calls_of_the_library() - UNMEASURED


def calls_of_the_library():
    return {name for name in std.__all__ if name.islower()}


@pytest.mark.parametrize("mode", MODES)
def test_every_call_of_the_library_is_raced_beside_a_peer(mode):
    place = Place("cpu", mode=mode)
    rows = [row for family in std_race.families() for row in std_race.cases(family, 1024, place)]
    calls = calls_of_the_library()
    assert {std_race.call_of(case) for case, *_ in rows} == calls
    assert {std_race.call_of(case) for case, *_, peer in rows if peer is not None} == calls


@pytest.mark.parametrize(
    "peer",
    ["numpy", "numba", "Taichi", "Quadrants", "wgpu", "kp", "PoCL", "CuPy", "torch", "Triton", "JAX", "CUDA C++"],
)
def test_peer_is_measured_or_says_why_not(peer):
    rows = [row for row in contenders.CONTENDERS if row.name.startswith(peer)]
    assert rows
    for found in results.every():
        for row in rows:
            assert row.name in found.seconds or row.name in found.missing, f"{row.name} on {found.slug()}"


@pytest.mark.parametrize("target", targets.TARGETS, ids=lambda target: target.what)
def test_what_a_target_needs_is_measured(target):
    if target.ours != "host" and target.figure != "flat":
        assert target.figure in table.figures(contenders.BY_NAME[target.ours], gpu=target.gpu is True)
    for peer in [*target.peers, *([target.than] if target.than else [])]:
        assert peer in contenders.BY_NAME or peer.startswith("import ")


def test_bound_of_a_rate_is_met_from_it_on():
    target = target_of("naive elementwise")
    elements = int(target.figure.split()[-1])
    for rate, met in ((4.21e12, "yes"), (4.19e12, "no")):
        (only,) = line(target, {target.ours: {target.figure: 12 * elements / rate}})
        assert (only.met, only.goal) == (met, ">= 4.2 TB/s on an H200; elsewhere >= 0.95 x CUDA C++, uint4")


def test_bound_of_one_device_does_not_hold_on_another():
    target = target_of("naive elementwise")
    seconds = {target.ours: {target.figure: 1.0}, CUDA: {target.figure: 0.96}, "CUDA C++": {target.figure: 0.5}}
    found = line(target, seconds, gpu="NVIDIA H100")
    assert [(row.peer, row.ratio, row.met) for row in found] == [("CUDA C++", 0.5, ""), (CUDA, 0.96, "yes")]
    seconds[CUDA][target.figure] = 0.94
    assert [row.met for row in line(target, seconds, gpu="NVIDIA H100")] == ["", "no"]


def test_bound_of_a_time_is_met_up_to_it():
    target = target_of("import vyre")
    for seconds, met in ((0.060, "yes"), (0.061, "no")):
        own, other = line(target, {"host": {"import vyre": seconds, "import numpy": 0.03, "import torch": 1.0}})
        assert (own.peer, own.met, round(own.ratio, 2)) == ("import numpy", met, round(0.03 / seconds, 2))
        assert (other.what, other.peer, other.met) == ("", "import torch", "")


def test_ahead_of_each_is_said_of_each():
    target = target_of("a ^ b, 1,024, numpy in, numpy out, processor")
    found = line(
        target, {"vyre cpu": {target.figure: 2e-6}, "numpy": {target.figure: 1e-6}, "PoCL": {target.figure: 4e-6}}
    )
    assert [row.cells() for row in found] == [
        ["a ^ b, 1,024, numpy in, numpy out, processor", "ahead of each", "2.00 us", "numpy", "1.00 us", "0.50", "no"],
        ["", "", "", "PoCL", "4.00 us", "2.00", "yes"],
    ]
    beside = "numpy 1.00 us (0.50); PoCL 4.00 us (2.00)"
    assert page.row(found) == [target.what, "ahead of each", "2.00 us", beside, "no"]


def test_what_has_no_figure_is_not_met_and_has_a_reason():
    found = results.Results(machine={"name": "here"}, missing={"wgpu": "crashed with SIGSEGV"})
    assert {row.met for row in results.table(found) if row.what} == {"not measured"}
    notes = results.not_measured(found)
    assert "wgpu: crashed with SIGSEGV" in notes
    assert any(
        note.startswith("naive elementwise u32 program, resident; ") for note in notes if note.endswith(": no GPU here")
    )


SOURCES = {
    "crashes": "import os\ndef start():\n    os.abort()\n",
    "raises": "def start():\n    raise OSError('no such device')\n",
    "hangs": "import time\ndef start():\n    time.sleep(60)\n",
    "absent": "import no_such_package\n",
    "is wrong": (
        "from kernel import Contender, Kernel, nothing\n"
        "def start():\n"
        "    return Contender('here', lambda w, a, b: Kernel(nothing, nothing, lambda: a, lambda: a))\n"
    ),
    "crashes later": (
        "import os\nfrom kernel import Contender, Kernel, nothing\n"
        "def start():\n"
        "    return Contender('here', lambda w, a, b: Kernel(nothing, nothing, os.abort, lambda: a ^ b))\n"
    ),
}


@pytest.mark.parametrize(
    ("source", "missing", "gaps", "measured"),
    [
        ("crashes", "crashed with SIGABRT", {}, []),
        ("raises", "OSError: no such device", {}, []),
        ("hangs", "said nothing for 2 s and was stopped", {}, []),
        ("absent", "No module named 'no_such_package'", {}, []),
        ("is wrong", None, {"xor whole 64": "other bytes than numpy's for xor over 64 elements"}, []),
        ("crashes later", None, {"xor round 64": "crashed with SIGABRT"}, ["xor whole 64"]),
    ],
)
def test_peer_that_fails_is_listed_and_the_run_goes_on(source, missing, gaps, measured, tmp_path, monkeypatch):
    (tmp_path / "peer.py").write_text(SOURCES[source])
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(table, "PATIENCE", 2)
    found = results.Results(machine={"name": "here"})
    wanted = ["xor whole 64"] if source == "is wrong" else ["xor round 64", "xor whole 64"]
    table.measure(contenders.Row("peer", "peer", ours=True), wanted, found, [], say=lambda *_, **__: None)
    assert found.missing.get("peer") == missing
    assert found.gaps.get("peer", {}) == gaps
    assert list(found.seconds.get("peer", {})) == measured


def test_right_answer_of_any_size_is_numpys():
    for workload, oracle in (("xor", lambda a, b: a ^ b), ("arx", kernel.arx)):
        a, b = kernel.inputs(kernel.BLOCK + 100)
        assert (kernel.answer(workload, a.size) == oracle(a, b)).all()
