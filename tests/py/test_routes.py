"""Which backend calls take that name none: by what was measured, what is here, and a first program's bytes.

The machines are lists of what their backends and devices would say, because none of them is this one.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import vyre
from vyre import _core, _remedies, _routes
from vyre._remedies import Machine, Vulkan, mend
from vyre._routes import MEASURED, ahead, choose
from vyre.commands import doctor

DEPENDENT = "a step of a graph that depends on the one before"
BENCH = Path(__file__).parents[2] / "bench/README.md"
NO_CUDA = "the CUDA driver (libcuda.so.1) was not found. Fix: install NVIDIA's driver."
NO_VULKAN = "no Vulkan driver was found. Fix: install one."


def device(backend, name, *, driver="NVIDIA 580", usable=True, default=True, reasons=(), index=0):
    kind = "software gpu" if "llvmpipe" in name else "discrete gpu"
    said = {"backend": backend, "name": name, "kind": kind, "usable": usable, "default": default, "index": index}
    return {**said, "driver": driver, "reasons": reasons, "default_for": "", "limits": {}, "probes": {}}


H200 = [device("vulkan", "NVIDIA H200"), device("cuda", "NVIDIA H200")]
LLVMPIPE = device("vulkan", "llvmpipe (LLVM 15)", driver="Mesa")
RADEON = device("vulkan", "AMD Radeon RX 7900 XTX (RADV NAVI31)", driver="Mesa")


def chosen(backends, devices, *, tried=lambda backend: "", **unavailable):
    return choose(backends, {name: [reason] for name, reason in unavailable.items()}, devices, tried)


def untried(backend):
    raise AssertionError(f"a program ran on {backend}")


def test_where_both_routes_work_it_is_the_one_that_measures_ahead():
    assert len(ahead("cuda")) > len(ahead("vulkan")) > 0
    tried = []
    found = chosen(["vulkan", "cuda", "cpu", "reference"], H200, tried=lambda backend: tried.append(backend) or "")
    assert (found.backend, tried) == ("cuda", ["cuda"])
    counts = len(ahead("cuda")), len(MEASURED), len(ahead("vulkan"))
    assert found.why == (
        "both routes reach NVIDIA H200, and CUDA was measured ahead in {} of {} rows on an NVIDIA H200 "
        "(a step of a graph that depends on the one before 0.954 us by CUDA, 2.43 by Vulkan; "
        "segmented sum 1.104 ms by CUDA, 2.176 by Vulkan; partition 0.755 ms by CUDA, 1.431 by Vulkan), "
        "the other in {} (a step of a graph that shares nothing)"
    ).format(*counts)


def test_the_choice_follows_the_table(monkeypatch):
    monkeypatch.setattr(_routes, "MEASURED", tuple(row._replace(cuda=row.vulkan, vulkan=row.cuda) for row in MEASURED))
    assert chosen(["vulkan", "cuda", "cpu", "reference"], H200).backend == "vulkan"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("a call and its wait", "the same on another host"),
        ("a call, not waited for", "a call, not waited for, after 15 others"),
        (
            "a step of a graph that depends on the one before",
            "a step of a graph that depends on the one before, of 100",
        ),
        ("a step of a graph that shares nothing", "a step of a graph of 32 that share nothing"),
        ("compact", "compact by a mask of u8"),
        ("partition", "partition by a mask of u8"),
        ("top 100", "top 100 of 2^28"),
        ("transpose", "transpose of 16,384 x 16,384 u32"),
        ("matmul of 1,024^3", "matmul of 1,024^3 u32"),
        ("segmented sum", "segmented sum, segments of 1,024"),
        ("searchsorted", "searchsorted of 2^26 in 2^28"),
        *((name, name) for name in ("sum of 2^28 u32", "argmax", "cumsum", "gather", "sort of 2^28 u32")),
        *((name, name) for name in ("sort of 2^27 pairs", "sort of 2^27 u64")),
        *((name, name) for name in ("histogram of 256 bins", "histogram of 65,536 bins")),
    ],
)
@pytest.mark.skipif(not BENCH.exists(), reason="the benchmarks are in the repository alone")
def test_the_figures_are_those_of_the_benchmarks(row, words):
    section = BENCH.read_text(encoding="utf-8").partition("## What the CUDA route reaches\n")[2].partition("\n## ")[0]
    (line,) = re.findall(rf"^\| {re.escape(words)} \|(.*)\|$", section, re.MULTILINE)
    cuda, vulkan = (cell.split() for cell in line.split("|")[:2])
    (measure,) = [each for each in MEASURED if each.what == row]
    assert (measure.cuda, measure.vulkan, measure.unit) == (float(cuda[0]), float(vulkan[0]), cuda[1])


def test_every_figure_is_compared():
    marks = test_the_figures_are_those_of_the_benchmarks.pytestmark
    (cases,) = [mark.args[1] for mark in marks if mark.name == "parametrize"]
    assert {row for row, _ in cases} == {each.what for each in MEASURED}


@pytest.mark.parametrize("wrong", ["it gave wrong bytes.", "device `NVIDIA H200` was lost. Fix: call again."])
def test_a_route_whose_first_program_fails_is_not_the_default(wrong):
    found = chosen(["vulkan", "cuda", "cpu", "reference"], H200, tried=lambda backend: wrong)
    problem = wrong.partition(".")[0]
    assert found == ("vulkan", f"CUDA reaches NVIDIA H200, but its first program failed ({problem})")
    alone = chosen(["cuda", "cpu", "reference"], H200[1:], tried=lambda backend: wrong, vulkan=NO_VULKAN)
    assert alone.backend == "cpu"


def test_in_a_container_without_a_vulkan_driver_it_is_cuda():
    found = chosen(["cuda", "cpu", "reference"], H200[1:], vulkan=NO_VULKAN)
    assert found == (
        "cuda",
        "it is the route to NVIDIA H200 that works, and needs no Vulkan driver (Vulkan: no Vulkan driver was found)",
    )
    # Software Vulkan stands behind the processor, and is no route to the GPU.
    software = chosen(["cuda", "cpu", "vulkan", "reference"], [LLVMPIPE, *H200[1:]])
    assert software.backend == "cuda"
    assert software.why.endswith(" (Vulkan: its only devices are software)")


def test_in_a_container_without_libcuda_it_is_vulkan():
    found = chosen(["vulkan", "cpu", "reference"], H200[:1], tried=untried, cuda=NO_CUDA)
    assert found == (
        "vulkan",
        "it is the route to NVIDIA H200 that works (CUDA: the CUDA driver (libcuda.so.1) was not found)",
    )


@pytest.mark.parametrize(
    ("backends", "devices"),
    [(["cpu", "reference"], []), (["cpu", "vulkan", "reference"], [LLVMPIPE])],
    ids=["nothing", "software"],
)
def test_with_neither_it_is_the_processor(backends, devices):
    found = chosen(backends, devices, tried=untried, cuda=NO_CUDA, **({} if devices else {"vulkan": NO_VULKAN}))
    assert found.backend == "cpu"
    why = "its only devices are software" if devices else "no Vulkan driver was found"
    no_cuda = "the CUDA driver (libcuda.so.1) was not found"
    assert found.why == f"no route to a GPU works here (Vulkan: {why}; CUDA: {no_cuda})"


def test_a_driver_that_lists_a_device_which_it_cannot_use_says_why():
    old = device("cuda", "NVIDIA GTX 1080", usable=False, reasons=("it has compute capability 6.1. Fix: use 7.5.",))
    found = chosen(["vulkan", "cpu", "reference"], [device("vulkan", "NVIDIA GTX 1080"), old], tried=untried)
    assert found.backend == "vulkan"
    assert found.why.endswith(" (CUDA: it has compute capability 6.1)")
    # An older driver leaves NVIDIA out of the name.
    unnamed = chosen(["vulkan", "cpu", "reference"], [device("vulkan", "GeForce GTX 1080"), old], tried=untried)
    assert unnamed.why.startswith("it is the route to GeForce GTX 1080 that works (CUDA: ")


def test_gpus_of_others_keep_vulkan():
    alone = chosen(["vulkan", "cpu", "reference"], [RADEON], tried=untried, cuda=NO_CUDA)
    assert alone == ("vulkan", f"{RADEON['name']} has no other route: CUDA is for NVIDIA's")
    # Beside an NVIDIA GPU too, where Vulkan takes the other one.
    beside = [RADEON, device("vulkan", "NVIDIA H200", default=False, index=1), H200[1]]
    found = chosen(["vulkan", "cuda", "cpu", "reference"], beside, tried=untried)
    assert found == ("vulkan", f"it is the route to {RADEON['name']}, which CUDA does not reach")


@pytest.mark.parametrize("name", ["NVIDIA GeForce RTX 3060", "GeForce RTX 3060", "NVIDIA GeForce RTX 3060 (NVK GA106)"])
def test_one_gpu_is_known_by_the_names_that_drivers_give_it(name):
    devices = [device("vulkan", name), device("cuda", "NVIDIA GeForce RTX 3060")]
    assert chosen(["vulkan", "cuda", "cpu", "reference"], devices).backend == "cuda"
    other = [device("vulkan", name), device("cuda", "NVIDIA GeForce RTX 306")]
    assert chosen(["vulkan", "cuda", "cpu", "reference"], other, tried=untried).backend == "vulkan"


def test_the_first_program_has_the_reference_s_bytes(target, monkeypatch):
    if "device" not in target or vyre.devices(target["backend"])[target["device"]].default:
        assert _routes.trial(target["backend"]) == ""
    monkeypatch.setattr(_core, "_run", lambda *args: {"x": np.zeros(1024, np.uint32)})
    assert _routes.trial(target["backend"]) == "it gave wrong bytes."

    def lost(*args):
        raise vyre.DeviceLostError("the device was lost. Fix: call again.")

    monkeypatch.setattr(_core, "_run", lost)
    assert _routes.trial(target["backend"]) == "the device was lost. Fix: call again."


def test_the_choice_is_made_once(monkeypatch):
    made = []
    monkeypatch.setattr(_routes, "_decided", [])
    monkeypatch.setattr(_core, "_available", lambda: ["vulkan", "cuda", "cpu", "reference"])
    monkeypatch.setattr(_core, "_unavailable", dict)
    monkeypatch.setattr(_core, "_devices", lambda: H200)
    monkeypatch.setattr(_routes, "trial", lambda backend: made.append(backend) or "")
    assert [_routes.best() for _ in range(3)] == ["cuda"] * 3
    assert list(vyre.backends()) == ["cuda", "vulkan", "cpu", "reference"]
    assert made == ["cuda"]
    monkeypatch.setattr(_core, "_available", lambda: ["vulkan", "cpu", "reference"])
    assert list(vyre.backends()) == ["vulkan", "cpu", "reference"], "it was lost since"


def test_a_graph_that_is_recorded_does_not_record_the_first_program(monkeypatch):
    x = vyre.array(np.arange(4, dtype=np.uint32), backend="cpu")
    program = vyre.parse(
        "vyre 1\nworkgroup_size 4 1 1\nbuffer x: read_write u32 binding 0\n\nx[gid.x] = x[gid.x] + 1\n"
    )
    with vyre.graph() as graph:
        program(x, workgroups=1)
        assert _routes._tried_apart("cpu") == ""
    graph.replay()
    assert x.numpy().tolist() == [1, 2, 3, 4]


def test_a_profile_does_not_have_the_first_program():
    found = []
    for first in (_routes.trial, _routes._tried_apart):
        with vyre.profile() as prof:
            assert first("cpu") == ""
        found.append(len(prof.events))
    assert found[0] > 0
    assert found[1] == 0


SILENT = """
import vyre
from vyre import _routes
assert not _routes._decided
x = vyre.array([1], dtype=vyre.u32, backend="cpu")
with vyre.default_device("reference"):
    vyre.empty(1)
assert not _routes._decided, "no default was needed"
assert vyre.empty(1).backend == vyre.backends()[0]
assert _routes._decided
print(vyre.backends()[0])
"""


def in_a_process(*command, **environment):
    kept = {name: text for name, text in os.environ.items() if name not in ("VYRE_BACKEND", "VYRE_DEVICE")}
    done = subprocess.run(
        [sys.executable, *command],
        env={**kept, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_is_looked_for_until_a_default_is_needed():
    assert in_a_process("-c", SILENT) == f"{vyre.backends()[0]}\n"


def test_doctor_says_which_route_is_the_default_and_why():
    for environment in ({}, {"VK_DRIVER_FILES": "/nonexistent/icd.json"}):
        said = in_a_process("-m", "vyre", "doctor", **environment)
        found = json.loads(in_a_process("-m", "vyre", "doctor", "--json", **environment))["default_backend"]
        assert f"\ndefault: {found['backend']}, because {found['why']}.\n" in said
        if found["backend"] == "cpu":
            assert found["why"].startswith("no route to a GPU works here (Vulkan: ")


@pytest.mark.parametrize("variables", [{"VYRE_BACKEND": "reference"}, {"VYRE_DEVICE": "0"}], ids=["backend", "device"])
def test_doctor_says_that_the_environment_chose(variables):
    if "VYRE_DEVICE" in variables and not vyre.devices():
        pytest.skip("no device here")
    found = json.loads(in_a_process("-m", "vyre", "doctor", "--json", **variables))["default_backend"]
    assert found["backend"] == variables.get("VYRE_BACKEND", vyre.devices()[0].backend)
    (given,) = (f"{name}={text}" for name, text in variables.items())
    best = _routes.best()
    assert found["why"].startswith(f"the environment says {given}; without it they would run on {best}, because ")


def test_doctor_names_the_way_to_the_other_route(monkeypatch):
    monkeypatch.setattr(_routes, "_decided", [_routes.Choice("cuda", "both routes reach NVIDIA H200")])
    monkeypatch.setattr(_core, "_available", lambda: ["vulkan", "cuda", "cpu", "reference"])
    for name in ("VYRE_BACKEND", "VYRE_DEVICE"):
        monkeypatch.delenv(name, raising=False)
    why = "both routes reach NVIDIA H200; VYRE_BACKEND=vulkan chooses the other route"
    assert doctor._default() == ("cuda", why)


@pytest.mark.parametrize("loader", [True, False])
def test_where_cuda_works_an_nvidia_machine_lacks_nothing(loader):
    row = next(each for each in _remedies.SYSTEMS if each.name == "Debian")
    machine = Machine(row, "Debian", True, False, True, ("nvidia",), (), "")
    vulkan = Vulkan(loader=loader, drivers=(), chosen=False, device=False, gpu=False)
    assert mend(machine, vulkan) is not None
    assert mend(machine, vulkan._replace(cuda=True)) is None
    # A GPU of another maker still wants its driver.
    assert mend(machine._replace(gpus=("amd", "nvidia")), vulkan._replace(cuda=True)) is not None
