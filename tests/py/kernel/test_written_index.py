"""A check reports an access out of range with the indices of the source, and the kernel of its Fix has no report."""

from __future__ import annotations

import numpy as np

import vyre
from vyre import In, Out, u32


@vyre.kernel
def shifted(a: In[u32, 2], out: Out[u32, 2]):
    x, y = vyre.gid(0), vyre.gid(1)
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = a[y, x + 5]


@vyre.kernel
def shifted_inside(a: In[u32, 2], out: Out[u32, 2]):
    x, y = vyre.gid(0), vyre.gid(1)
    if y < out.shape[0] and x < out.shape[1]:
        if y < a.shape[0] and x + 5 < a.shape[1]:
            out[y, x] = a[y, x + 5]


@vyre.kernel
def next_one(a: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    if i < len(out):
        out[i] = a[i + 1]


def test_an_index_out_of_range_on_an_axis_is_told_as_it_is_written():
    a = np.arange(32, dtype=np.uint32).reshape(4, 8)
    (report,) = shifted.check(a).reports
    first, *_, fix = str(report).splitlines()
    assert first == "out-of-bounds: `a`[y, x + 5] is out of range on one of its axes; seen 20 times."
    assert fix == (
        "  Fix: make the access only where `y < a.shape[0]` and `x + 5 < a.shape[1]`, or write `a.get(y, x + 5)` "
        "where zero is meant."
    )
    made = shifted_inside.check(a)
    assert made.ok
    assert np.array_equal(made.outputs["out"], np.pad(a, ((0, 0), (0, 5)))[:, 5:])


def test_an_index_of_one_axis_is_told_by_its_value():
    (report,) = next_one.check(np.arange(3, dtype=np.uint32)).reports
    first, *_, fix = str(report).splitlines()
    assert first == "out-of-bounds: `a`[3] is beyond the length 3; seen once."
    assert fix == "  Fix: make the access only where `i + 1 < a.shape[0]`, or write `a.get(i + 1)` where zero is meant."


@vyre.kernel
def two_accesses(a: In[u32], k: u32, out: Out[u32]):
    i = vyre.gid(0)
    if i < len(out):
        out[i] = a[i + k] + a[i + 1]


@vyre.kernel
def two_accesses_inside(a: In[u32], k: u32, out: Out[u32]):
    i = vyre.gid(0)
    if i < len(out) and i + k < a.shape[0] and i + 1 < a.shape[0]:
        out[i] = a[i + k] + a[i + 1]


def element(array, index):
    return array[index]


@vyre.kernel
def by_a_function(a: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    if i < len(out):
        out[i] = element(a, i + 3)


@vyre.kernel
def by_a_function_inside(a: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    if i < len(out) and i + 3 < len(a):
        out[i] = element(a, i + 3)


def in_a_procedure(kernel, *numbers):
    @vyre.procedure
    def called(given: In[u32]):
        out = vyre.scratch(u32, given.length)
        kernel(given, *numbers, out)
        return out

    return called


def fixes_of(kernel, *numbers):
    """The Fixes for accesses out of bounds: of a kernel's own check, and of a procedure's that calls it."""
    a = np.arange(8, dtype=np.uint32)
    checked = [kernel.check(a, *numbers), in_a_procedure(kernel, *numbers).check(a)]
    reports = [report for result in checked for report in result.reports if report.check == "out-of-bounds"]
    return [str(report).splitlines()[-1] for report in reports]


def test_the_fix_names_each_access_of_the_line_for_kernels_and_procedures():
    assert fixes_of(two_accesses, 5) == 2 * [
        "  Fix: make each access only where its index is in range (`i + k < a.shape[0]`, `i + 1 < a.shape[0]`), or "
        "write `a.get(...)` where zero is meant."
    ]
    assert fixes_of(two_accesses_inside, 5) == []


def test_the_fix_for_an_access_under_another_name_is_written_for_kernels_and_programs():
    assert fixes_of(by_a_function) == 2 * [
        "  Fix: make the access only where its index is less than the length of `a` (`len(a)` in a kernel, "
        "`Expr.buf_len('a')` in a Program)."
    ]
    assert fixes_of(by_a_function_inside) == []
