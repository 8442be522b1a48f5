"""``kernel.explain()``: what a kernel became, on every device."""

import numpy as np
import pytest

import vyre
from conftest import refused
from html_reader import told


def turned(value, by):
    return value.rotl(by) + 1


@vyre.kernel(workgroup_size=32)
def mixed(a: vyre.In[vyre.u32], k: vyre.u64, out: vyre.Out[vyre.u64]):
    i = vyre.gid(0)
    tile = vyre.shared(vyre.u32, 32)
    stack = vyre.local(vyre.u32, 5)
    tile[vyre.lid(0)] = turned(a[i], 3)
    stack[a[i] % 5] = turned(a[i], 4)
    vyre.barrier()
    if i < len(out):
        out[i] = vyre.u64(tile[31 - vyre.lid(0)] + stack[i % 5]) * k


def test_it_tells_what_was_inlined_and_what_memory_is_used(target):
    found = mixed.explain(**target)
    assert found.kernel == "mixed"
    assert found.workgroup_size == (32, 1, 1)
    ((name, file, line, times),) = found.inlined
    assert (name, file, times) == ("turned", __file__, 2)
    assert line == turned.__code__.co_firstlineno
    assert found.operations == ("primitive.u64.mul",)
    assert (found.workgroup_bytes, found.private_bytes) == (128, 20)
    assert found.instructions["barriers"] == 1
    assert found.backend == target["backend"]
    if target["backend"] == "vulkan":
        device = vyre.devices()[target["device"]]
        assert (found.device, found.limits) == (device.name, dict(device.limits))
    assert found.notes == []


# Line from the decorator on, array, whether its index is compared with its length, how often. The workgroup's and the
# invocation's own arrays are indexed below their sizes, and out under the condition; nothing says how long `a` is.
CHECKS = [
    (5, "a", True, 1),
    (5, "tile", False, 1),
    (6, "a", True, 1),
    (6, "stack", False, 1),
    (9, "tile", False, 1),
    (9, "stack", False, 1),
    (9, "__params", False, 2),
    (9, "out", False, 1),
]


def test_it_tells_which_bounds_checks_are_kept():
    found = mixed.explain(backend="cpu")
    first = mixed.__wrapped__.__code__.co_firstlineno
    assert [(each.line - first, each.buffer, each.checked, each.count) for each in found.accesses] == CHECKS
    assert found.accesses[1].source == "tile[vyre.lid(0)] = turned(a[i], 3)"
    assert f"bounds checks: {sum(each.count for each in found.accesses if each.checked)} kept" in str(found)


@vyre.kernel
def fourfold(a: vyre.In[vyre.u32], c: vyre.InOut[vyre.u32]):
    at = 4 * vyre.gid(0)
    if vyre.logical_and(at + 3 < len(a), at + 3 < len(c)):
        for k in vyre.unroll(range(4)):
            c[at + k] = a[at + k] + 1


def test_one_condition_leaves_out_the_checks_of_neighbours(target):
    assert not any(each.checked for each in fourfold.explain(backend="cpu").accesses)
    for count in range(10):
        for room in (count, 6):
            a = np.arange(count, dtype=np.uint32)
            whole = min(count, room) // 4 * 4
            found = fourfold(a, np.full(room, 9, np.uint32), grid=8, **target)
            assert found.tolist() == [*range(1, whole + 1), *[9] * (room - whole)]


@vyre.kernel
def neighbours_of_out(a: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]):
    at = 4 * vyre.gid(0)
    if at + 3 < len(out):
        for k in vyre.unroll(range(4)):
            out[at + k] = a[at + k]


@vyre.kernel
def neighbours_of_both(a: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]):
    at = 4 * vyre.gid(0)
    if at + 3 < len(out) and at + 3 < len(a):
        for k in vyre.unroll(range(4)):
            out[at + k] = a[at + k]


@vyre.kernel
def neighbours_in_a_loop(a: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]):
    at = 4 * vyre.gid(0)
    if at + 3 < len(out) and at + 3 < len(a):
        for k in range(4):
            out[at + k] = a[at + k]


@pytest.mark.parametrize(
    ("kernel", "checked"),
    [
        (neighbours_of_out, {"a": True, "out": False}),
        (neighbours_of_both, {"a": False, "out": False}),
        (neighbours_in_a_loop, {"a": True, "out": True}),
    ],
)
def test_each_array_is_compared_by_itself_and_a_loop_keeps_its_checks(kernel, checked, target):
    """As the performance guide says."""
    assert {each.buffer: each.checked for each in kernel.explain(**target).accesses} == checked


def test_it_prints_and_draws_every_section():
    found = mixed.explain(backend="cpu")
    assert repr(found) == "<vyre.Explanation of mixed>"
    lines = str(found).splitlines()
    assert lines[0] == "mixed"
    assert [line.split("  ")[1].strip() for line in lines[1:6]] == [
        "workgroup size",
        "runs on",
        "instructions",
        "workgroup memory",
        "private memory",
    ]
    (form,) = told(found._repr_html_())
    (_, about), *rest = found._sections()
    assert form.facts == dict(about)
    assert [(caption, rows) for caption, _, rows in form.tables] == rest


def test_notes_are_shown():
    @vyre.kernel
    def racy(x: vyre.In[vyre.u32], total: vyre.InOut[vyre.u32]):
        i = vyre.gid(0)
        if i < len(x):
            total[0] += x[i]

    found = racy.explain(backend="cpu")
    assert [note.rule for note in found.notes] == ["N005"]
    assert "N005" in str(found)


def test_a_kernel_with_constants_is_explained_for_some():
    @vyre.kernel
    def scaled(x: vyre.In[vyre.u32], k: vyre.const, y: vyre.Out[vyre.u32]):
        i = vyre.gid(0)
        y[i] = x[i] * k

    with refused(
        vyre.ArgumentError, "kernel `scaled` has a program for each value of `k`", "write .specialize(k=...).explain()"
    ):
        scaled.explain()
    assert scaled.specialize(k=3).explain(backend="cpu").kernel == "scaled"
    assert (scaled(np.arange(4, dtype=np.uint32), 3, backend="cpu") == np.arange(4) * 3).all()
