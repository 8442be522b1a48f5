"""The workgroup of a kernel that names no size has one invocation along each axis whose ids the kernel does not read.

A grid is rounded up to whole workgroups, so more of them would do the same work beside each other and race.
"""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from vyre import In, InOut, Out, const, u32


@vyre.kernel
def add_to_rows(x: InOut[u32, 2]):
    row = vyre.gid(0)
    if row < len(x):
        for k in range(x.shape[1]):
            x[row, k] += 1


@vyre.kernel
def count_rows(x: InOut[u32, 2], rows: InOut[u32]):
    if vyre.gid(0) < len(x):
        rows.atomic_add(0, 1)


@vyre.kernel
def count_rows_first(rows: InOut[u32], x: InOut[u32, 2]):
    if vyre.gid(0) < len(x):
        rows.atomic_add(0, 1)


@pytest.mark.parametrize("backend", vyre.backends())
def test_a_kernel_of_rows_visits_each_once(backend):
    made = add_to_rows(np.zeros((9, 4), np.uint32), grid=9, backend=backend)
    assert made.tolist() == [[1] * 4] * 9


def test_a_kernel_of_rows_has_no_race():
    assert add_to_rows.check(np.zeros((9, 4), np.uint32), grid=9).ok


@pytest.mark.parametrize("backend", vyre.backends())
def test_the_order_of_parameters_decides_no_count(backend):
    x, rows = np.zeros((9, 4), np.uint32), np.zeros(1, np.uint32)
    assert count_rows(x, rows.copy(), grid=9, backend=backend)[1].tolist() == [9]
    assert count_rows_first(rows.copy(), x, grid=9, backend=backend)[0].tolist() == [9]


def column_of(x):
    return vyre.gid(1)


@vyre.kernel
def by_helper(x: Out[u32, 2]):
    x[column_of(x), vyre.gid(0)] = 1


@vyre.kernel
def columns(x: Out[u32, 2]):
    for k in range(x.shape[1]):
        x[vyre.gid(1), k] = 1


@vyre.kernel
def depth(x: Out[u32, 3]):
    x[vyre.gid(2), 0, 0] = 1


@vyre.kernel
def first_and_last(x: Out[u32, 3]):
    x[vyre.gid(2), 0, vyre.gid(0)] = 1


@vyre.kernel
def last_two(x: Out[u32, 3]):
    x[vyre.gid(2), vyre.gid(1), 0] = 1


@vyre.kernel
def of_no_axis(x: Out[u32, 2]):
    x[0, 0] = 1


@vyre.kernel
def line_by_two_axes(line: InOut[u32], x: In[u32, 2]):
    line.atomic_max(0, x[vyre.gid(1), vyre.gid(0)])


@vyre.kernel
def steps_along_y(x: InOut[u32, 2]):
    for y in range(vyre.grid_size(1)):
        x[y, vyre.gid(0)] += 1


@pytest.mark.parametrize(
    ("kernel", "size"),
    [
        (add_to_rows, (256, 1, 1)),
        (by_helper, (16, 16, 1)),
        (columns, (1, 256, 1)),
        (depth, (1, 1, 64)),
        (first_and_last, (16, 1, 16)),
        (last_two, (1, 16, 16)),
        (of_no_axis, (256, 1, 1)),
        (line_by_two_axes, (256, 1, 1)),
        (steps_along_y, (256, 1, 1)),
    ],
)
def test_the_axes_that_are_read_have_the_invocations(kernel, size):
    assert kernel.program.workgroup_size == size


@pytest.mark.parametrize(("both", "size"), [(True, (16, 16, 1)), (False, (256, 1, 1))])
def test_a_branch_that_a_constant_leaves_out_reads_nothing(both, size):
    @vyre.kernel
    def chosen(x: Out[u32, 2], both: const):
        x[vyre.gid(1) if both else 0, vyre.gid(0)] = 1

    assert chosen.specialize(both=both).program.workgroup_size == size


def test_a_call_that_is_recorded_runs_the_same_invocations():
    recorded = vyre.trace(add_to_rows, np.zeros((9, 4), np.uint32), grid=9, invocation=(8, 0, 0))
    assert recorded.result.tolist() == [[1] * 4] * 9
