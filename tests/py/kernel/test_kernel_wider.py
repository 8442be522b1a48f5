"""A kernel of three axes without a workgroup size runs the same invocations in wide workgroups where x is long.

Every invocation counts, so that another set of them gives other counts. The expected counts are numpy's.
"""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from vyre import In, InOut, Out, _core, u32

USUAL, WIDE = (8, 8, 4), (32, 8, 1)


@pytest.fixture
def ran(monkeypatch):
    """The workgroup size and the workgroups of each run."""
    seen, run = [], _core._run

    def noted(program, inputs, workgroups, *rest):
        seen.append((program.workgroup_size, workgroups))
        return run(program, inputs, workgroups, *rest)

    monkeypatch.setattr(_core, "_run", noted)
    return seen


def volume(seen: InOut[u32, 3]):
    seen.atomic_add((vyre.gid(2), vyre.gid(1), vyre.gid(0)), vyre.gid(2) * 5 + vyre.gid(1) * 3 + vyre.gid(0) + 1)


def covered(shape, grid):
    """What `volume` adds to zeros of this shape in a grid, x first."""
    z, y, x = np.indices(shape, np.uint32)
    inside = (x < grid[0]) & (y < grid[1]) & (z < grid[2])
    return np.where(inside, z * 5 + y * 3 + x + 1, 0).astype(np.uint32)


@pytest.mark.parametrize(
    ("grid", "size", "counts"),
    [
        ((32, 8, 4), WIDE, (1, 1, 4)),
        ((64, 9, 5), WIDE, (2, 2, 8)),
        ((57, 1, 1), WIDE, (2, 1, 4)),
        ((33, 8, 4), USUAL, (5, 1, 1)),
        ((3, 30, 30), USUAL, (1, 4, 8)),
        ((4, 4, 4), USUAL, (1, 1, 1)),
        ((0, 4, 4), USUAL, (0, 1, 1)),
    ],
)
def test_the_same_invocations_run(ran, grid, size, counts):
    kernel = vyre.kernel(volume)
    shape = (40, 40, 80)
    for _ in range(2):
        seen = kernel(np.zeros(shape, np.uint32), grid=grid, backend="reference")
        assert np.array_equal(seen, covered(shape, grid))
    assert ran[0] == (size, counts)
    assert kernel.program.workgroup_size == USUAL


def test_resident_arrays_run_the_same_invocations_and_take_wide_workgroups():
    kernel = vyre.kernel(volume)
    shape, grid = (8, 8, 64), (57, 5, 3)
    seen = vyre.array(np.zeros(shape, np.uint32), backend="cpu")
    with vyre.profile() as profiled:
        for _ in range(3):
            kernel(seen, grid=grid)
    assert np.array_equal(seen.numpy(), 3 * covered(shape, grid))
    assert {event.workgroups for event in profiled.events if event.workgroups is not None} == {(2, 1, 4)}


def test_a_grid_from_data_runs_the_same_invocations():
    seen = vyre.zeros((8, 8, 64), backend="cpu")
    vyre.kernel(volume)(seen, grid=vyre.array([57, 5, 3], dtype=u32, backend="cpu"), at_most=(64, 8, 4))
    assert np.array_equal(seen.numpy(), covered((8, 8, 64), (57, 5, 3)))


def test_workgroups_that_are_given_count_those_of_the_program(ran):
    shape = (8, 8, 64)
    seen = vyre.kernel(volume)(np.zeros(shape, np.uint32), workgroups=(4, 1, 1), backend="reference")
    assert np.array_equal(seen, covered(shape, (32, 8, 4)))
    assert ran == [(USUAL, (4, 1, 1))]


def test_more_workgroups_along_z_than_every_device_takes_stay_usual(ran):
    kernel = vyre.kernel(volume)
    kernel(np.zeros((1, 1, 1), np.uint32), grid=(32, 1, 65532), backend="cpu")
    kernel(np.zeros((1, 1, 1), np.uint32), grid=(32, 1, 65536), backend="cpu")
    assert ran == [(WIDE, (1, 1, 65532)), (USUAL, (4, 1, 16384))]


def test_a_given_workgroup_size_is_kept(ran):
    vyre.kernel(workgroup_size=USUAL)(volume)(np.zeros((4, 8, 32), np.uint32), backend="reference")
    assert ran == [(USUAL, (4, 1, 1))]


def test_kernels_that_read_ids_of_workgroups_by_expressions_keep_their_workgroups(ran):
    @vyre.kernel
    def ids(out: Out[u32, 3]):
        out[vyre.gid(2), vyre.gid(1), vyre.gid(0)] = vyre.Expr.workgroup_id(0)

    made = ids(np.zeros((4, 8, 32), np.uint32), backend="reference")
    assert np.array_equal(made, np.indices((4, 8, 32), np.uint32)[2] // 8)
    assert ran == [(USUAL, (4, 1, 1))]


def test_grid_size_is_what_the_call_asked_for(ran):
    @vyre.kernel
    def asked(x: In[u32, 3], out: Out[u32, 3]):
        out[vyre.gid(2), vyre.gid(1), vyre.gid(0)] = (
            vyre.grid_size(0) * 10000 + vyre.grid_size(1) * 100 + vyre.grid_size(2)
        )

    made = asked(np.zeros((3, 5, 60), np.uint32), backend="reference")
    assert np.array_equal(made, np.full((3, 5, 60), 600503, np.uint32))
    assert ran == [(WIDE, (2, 1, 4))]


def test_a_device_with_small_workgroups_runs_the_same_invocations(monkeypatch):
    sizes, run = [], _core._run

    def limited(program, *rest):
        sizes.append(program.workgroup_size)
        if sizes[-1] != (32, 4, 1):
            raise vyre.CapabilityError("256 exceeds maxComputeWorkGroupInvocations. Fix: use another device.")
        return run(program, *rest)

    monkeypatch.setattr(_core, "_run", limited)
    shape = (8, 8, 32)
    seen = vyre.kernel(volume)(np.zeros(shape, np.uint32), grid=(32, 8, 3), backend="reference")
    assert np.array_equal(seen, covered(shape, (32, 8, 3)))
    assert sizes == [WIDE, (32, 4, 1)]
