"""NVIDIA's assembler of PTX, from the PyPI package nvidia-cuda-nvcc-cu12 or from the PATH."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable

# Every architecture from 7.5, what PTX is written for, to Blackwell.
ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100")
BATCH = 200  # entry points in one file


@functools.cache
def find() -> str | None:
    for place in sys.path:
        path = Path(place) / "nvidia" / "cuda_nvcc" / "bin" / "ptxas"
        if os.access(path, os.X_OK):
            return str(path)
    return shutil.which("ptxas")


def needed() -> str:
    """The assembler. Tests that need it fail without it, unless the environment says that it cannot be had."""
    found = find()
    if found is None and os.environ.get("VYRE_ALLOW_NO_PTXAS") == "1":
        pytest.skip("VYRE_ALLOW_NO_PTXAS=1, and there is no ptxas here")
    assert found is not None, (
        "there is no ptxas. Fix: run `.ci/setup venv`, which installs nvidia-cuda-nvcc-cu12, or set "
        "VYRE_ALLOW_NO_PTXAS=1 where NVIDIA has none for this machine."
    )
    return found


def problem(text: str, architecture: str) -> str:
    """What ptxas has to say against a text; "" for code that it assembles."""
    command = [needed(), f"-arch={architecture}", "-O1", "-o", os.devnull, "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    # Workgroups beyond what a GPU runs are refused when they are launched.
    rest = [line for line in said.splitlines() if ".minnctapersm and .maxntid will be ignored" not in line]
    return "\n".join(rest) if rest or done.returncode == 0 else f"ptxas ended with {done.returncode}"


def registers(text: str, architecture: str) -> int:
    """The registers that an invocation takes."""
    command = [needed(), f"-arch={architecture}", "-v", "-o", os.devnull, "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return int(re.search(r"Used (\d+) registers", done.stdout + done.stderr)[1])


def batches(texts: Iterable[str]) -> list[str]:
    """Many texts as few, each with many entry points: starting ptxas takes longer than most of them."""
    different = list(dict.fromkeys(texts))
    result = []
    for start in range(0, len(different), BATCH):
        head, parts, shared = "", [], ""
        for number, text in enumerate(different[start : start + BATCH]):
            found = re.fullmatch(r"(?s)(.*\.address_size 64\n)\n(\.extern [^\n]*\n)?(.*)", text)
            assert found, text
            head, shared = found[1], shared or found[2] or ""
            parts.append(found[3].replace(".entry main(", f".entry main{number}("))
        result.append("\n".join([head, shared, *parts]))
    return result
