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


def test_an_unknown_set_is_told_with_those_that_are_here():
    done = python("-c", SHOW, instructions="mmx")
    assert done.returncode == 1
    message = done.stderr.strip().splitlines()[-1].removeprefix("ImportError: ")
    assert message.startswith(
        "this processor has no instructions `mmx`, which the environment variable `VYRE_INSTRUCTIONS` names. "
        "Fix: use one of `baseline`"
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
