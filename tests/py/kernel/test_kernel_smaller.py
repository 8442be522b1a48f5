"""A kernel without a workgroup size runs the same invocations on a device with smaller workgroups.

No device of the tests takes fewer than 256 invocations, so one that takes 128 stands before the real one.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import vyre
from conftest import refused
from vyre import InOut, Out, _core, u32
from vyre.errors import CapabilityError

REFUSED = (
    "256 invocations a workgroup exceeds maxComputeWorkGroupInvocations of device `small`, which allows 128. "
    "Fix: use a smaller workgroup_size, or use another device."
)


def check_limit(program):
    if math.prod(program.workgroup_size) > 128:
        raise CapabilityError(REFUSED)


class OnSmallDevice:
    """A program on a device that takes 128 invocations a workgroup."""

    def __init__(self, program):
        self._program = program

    def __getattr__(self, name):
        return getattr(self._program, name)

    def __call__(self, *args, **kwargs):
        check_limit(self._program)
        return self._program(*args, **kwargs)


@pytest.fixture
def small(monkeypatch):
    """The workgroup size and the workgroups of each run on a device that takes 128 invocations a workgroup."""
    ran, run = [], _core._run

    def limited(program, inputs, workgroups, *rest):
        check_limit(program)
        ran.append((program.workgroup_size, workgroups))
        return run(program, inputs, workgroups, *rest)

    monkeypatch.setattr(_core, "_run", limited)
    return ran


# Every invocation counts, those beyond the grid included, so that another set of them gives other counts.
@vyre.kernel
def line(seen: InOut[u32]):
    seen.atomic_add(vyre.gid(0), vyre.gid(1) + 1)


@vyre.kernel
def plane(seen: InOut[u32, 2]):
    seen.atomic_add((vyre.gid(1), vyre.gid(0)), vyre.gid(0) + 1)


@vyre.kernel
def volume(seen: InOut[u32, 3]):
    seen.atomic_add((vyre.gid(2), vyre.gid(1), vyre.gid(0)), vyre.gid(2) + 1)


@pytest.mark.parametrize(
    ("kernel", "shape", "grid", "size", "ran"),
    [
        (line, (1000,), 300, (256, 1, 1), ((128, 1, 1), (4, 1, 1))),
        (plane, (40, 50), (17, 18), (16, 16, 1), ((16, 8, 1), (2, 4, 1))),
        (volume, (9, 10, 20), (9, 3, 5), (8, 8, 4), ((8, 8, 2), (2, 1, 4))),
    ],
)
def test_the_same_invocations_run(request, kernel, shape, grid, size, ran):
    # Another kernel of the function, because a second call of one stays in the core, past the small device.
    large = vyre.kernel(kernel.__wrapped__)(np.zeros(shape, np.uint32), grid=grid, backend="reference")
    assert large.any()
    runs = request.getfixturevalue("small")
    assert np.array_equal(kernel(np.zeros(shape, np.uint32), grid=grid, backend="reference"), large)
    assert runs == [ran]
    assert kernel.program.workgroup_size == size


def test_workgroups_count_those_of_the_program(small):
    seen = line(np.zeros(1000, np.uint32), workgroups=2, backend="reference")
    assert seen.tolist() == [1] * 512 + [0] * 488


def test_a_limit_by_the_name_that_cuda_has_for_it_is_one_too(small, monkeypatch):
    monkeypatch.setitem(globals(), "REFUSED", REFUSED.replace(REFUSED.split()[5], "the max threads per block"))
    assert line(np.zeros(300, np.uint32), backend="reference").all()
    assert small == [((128, 1, 1), (4, 1, 1))]


def test_calls_that_were_made_before_run_the_same_invocations(small):
    @vyre.kernel
    def counted(seen: InOut[u32]):
        seen.atomic_add(0, 1)

    assert [counted(np.zeros(3, np.uint32), backend="reference").tolist() for _ in range(3)] == [[3, 0, 0]] * 3
    assert small == [((128, 1, 1), (2, 1, 1))] * 3


def test_resident_arrays_run_the_same_invocations():
    kernel = vyre.kernel(line.__wrapped__)
    traced = kernel._traced({})
    traced.program = OnSmallDevice(traced.program)
    seen = vyre.array(np.zeros(1000, np.uint32), backend="cpu")
    for _ in range(2):
        kernel(seen, workgroups=2)
    assert seen.numpy().tolist() == [2] * 512 + [0] * 488


def test_a_given_workgroup_size_is_kept_and_ids_of_workgroups_by_expressions_keep_it(small):
    @vyre.kernel(workgroup_size=256)
    def given(out: Out[u32]):
        out[vyre.gid(0)] = 1

    @vyre.kernel
    def ids(out: Out[u32]):
        out[vyre.gid(0)] = vyre.Expr.workgroup_id(0)

    for kernel in (given, ids):
        with refused(CapabilityError, REFUSED):
            kernel(np.zeros(3, np.uint32), backend="reference")
