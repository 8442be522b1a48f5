"""The backends of wrong_backends.py have the fault they are named after and no other."""

from __future__ import annotations

import pytest

import vyre
import wrong_backends
from vyre import fuzz


def bytes_of(outputs):
    return {name: array.tobytes() for name, array in outputs.items()}


def test_a_program_that_is_written_anew_without_a_fault_gives_the_same_bytes():
    for seed in range(40):
        case = fuzz.generate(seed)
        inputs = case.inputs(arrays=True)
        right = vyre.run(case.program, inputs, case.grid, backend="reference")
        anew = wrong_backends.rewriting(wrong_backends.Rewriter, case.program, inputs, case.grid)
        assert bytes_of(anew) == bytes_of(right), f"seed {seed}"


@pytest.mark.parametrize("name", wrong_backends.BACKENDS)
def test_a_program_without_the_pattern_runs_rightly(name):
    program = vyre.parse(
        """vyre 1
workgroup_size 4 1 1
buffer out: read_write u32 binding 0 output

out[gid.x] = (gid.x * 3) + len(out)
"""
    )
    assert wrong_backends.BACKENDS[name](program, {"out": 4}, 1)["out"].tolist() == [4, 7, 10, 13]
