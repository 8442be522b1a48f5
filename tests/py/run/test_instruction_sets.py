"""VYRE_INSTRUCTIONS chooses the vectors of the cpu backend, and every set of the processor gives the right bytes."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

FLAGS = {"sse41": "sse4_1", "avx2": "avx2", "avx512": "avx512vl"}
pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the sets are x86's")


def python(*arguments: str, instructions: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "VYRE_INSTRUCTIONS": instructions}
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False)


def has(instructions: str) -> bool:
    return f" {FLAGS[instructions]} " in Path("/proc/cpuinfo").read_text(encoding="utf-8").replace("\n", " ")


SHOW = "from vyre import _core; cpu = _core._devices('cpu')[0]; print(cpu['driver'], cpu['probes'])"


@pytest.mark.parametrize("instructions", FLAGS)
def test_the_variable_chooses_vectors_and_machine_code(instructions):
    if not has(instructions):
        pytest.skip(f"this processor has no {instructions}")
    done = python("-c", SHOW, instructions=instructions)
    assert done.stdout.startswith(f"vyre, {instructions}, "), done.stderr
    assert f"'machine_code': '{instructions}'" in done.stdout


def test_the_baseline_interprets():
    done = python("-c", SHOW, instructions="baseline")
    assert done.stdout.startswith("vyre, baseline, "), done.stderr
    assert "'machine_code': 'none: the vectors `baseline` were asked for'" in done.stdout


UNKNOWN = (
    "environment variable `VYRE_INSTRUCTIONS` must be one of baseline, sse41, avx2, avx512, got 'sse4.1'. "
    "Fix: write one of these; unset it for the best one (did you mean `sse41`?)."
)


def test_an_unknown_set_is_told_by_the_calls_that_need_the_processor():
    call = "import numpy as np, vyre; vyre.array(np.zeros(1, np.uint32), backend={!r}); print('made')"
    assert python("-c", call.format("reference"), instructions="sse4.1").stdout == "made\n"
    done = python("-c", call.format("cpu"), instructions="sse4.1")
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1] == f"vyre.errors.ArgumentError: {UNKNOWN}"


def test_the_doctor_tells_an_unknown_set_in_a_sentence():
    done = python("-m", "vyre", "doctor", instructions="sse4.1")
    assert done.returncode == 1
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[2] == f"cpu: programs are refused on the processor: {UNKNOWN}"
    assert f"cpu: {UNKNOWN}" in lines


LIST = """
import vyre
store = vyre.Node.store("out", vyre.Expr.gid_x(), vyre.Expr.u32(3))
program = vyre.Program([vyre.BufferDecl.output("out", 0, vyre.u32)], (64, 1, 1), [store])
print(vyre.lower(program, "asm"))
"""


@pytest.mark.parametrize("instructions", FLAGS)
def test_the_listing_is_of_the_set_that_the_variable_chooses(instructions):
    pytest.importorskip("capstone")
    if not has(instructions):
        pytest.skip(f"this processor has no {instructions}")
    done = python("-c", LIST, instructions=instructions)
    assert done.stdout.startswith(f"; {instructions}: "), done.stderr


def test_the_baseline_has_no_listing_of_its_own():
    done = python("-c", LIST, instructions="baseline")
    assert done.stderr.strip().splitlines()[-1] == (
        "vyre.errors.LoweringError: programs have no machine code here, because the environment says "
        'VYRE_INSTRUCTIONS=baseline, which interprets. Fix: write instructions="sse41", "avx2" or "avx512".'
    )


@pytest.mark.parametrize("instructions", FLAGS)
def test_random_programs_have_the_references_bytes(instructions):
    """The conformance cases run with every set in C++, CpuConformance.*."""
    if not has(instructions):
        pytest.skip(f"this processor has no {instructions}")
    done = python(
        "-m", "vyre", "fuzz", "--backend", "cpu", "--combinations", "--count", "20", instructions=instructions
    )
    assert done.returncode == 0, done.stdout + done.stderr
